/*
# Cross-attention: one text asks another {#cross-attention}

![The way from words to attention. This chapter is about the shaded step, in
which keys and values may come from $m$ other
tokens](pipeline.svg){#fig-cross-attention-pipeline}

*Kannst du mir bitte helfen?* To make *can you help me* of that, begin with
*can*, which translates the first German word. Then comes *you*, for the
second. Then *help*, and the German for it is the very last word; then back
to the third, for *me*; and *bitte*, please, was there only to be polite. So
a translator's eye jumps about in one sentence while the hand writes
another. Attention was invented for translation [@bahdanau2014]. So far in
this book, a text has only looked at itself.
*/

#include "attention/08_cross_attention.h"
#include "attention/01_dot_product.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "support.h"

/*
## One text or two? {#cross-attention-joined}

How can one text look at another? The easiest way is to join them: make one
text of the German sentence and the English one, and let it attend to
itself. That is what a chat program does. Your question and its answer are
one text, one after the other, and a word of the answer may look at both. It
works because both sides are alike, with the same kind of tokens and the
same table of embeddings.

A translator has reasons not to. Five German words and four English ones
make nine, and nine words make $9 \cdot 9 = 81$ scores. The $5 \cdot 4 = 20$
in which a German word asks an English one are wasted, since the German
sentence was there first. The weights of an English word are split between
both texts, so each look at German leaves less for English. And the two
sides may not fit together. Where one of them is a picture or a sound, its
tokens have another width, and a table has only one.

So where both sides are alike, joining them is simplest. Where they aren't,
or where the waste matters, keep them apart.

## Queries from here, keys from there {#cross-attention-queries}

How do you keep them apart? Look again at `attention`
([](#scaling-attention)). It takes `n` queries and `m` keys, and nothing
says that they belong to one text. The formula doesn't change:

$$\underset{n \times d_k}{Q} =
    \underset{n \times d_x}{X} \; \underset{d_x \times d_k}{W_Q}, \qquad
\underset{m \times d_k}{K} =
    \underset{m \times d_y}{Y} \; \underset{d_y \times d_k}{W_K}, \qquad
\underset{m \times d_v}{V} =
    \underset{m \times d_y}{Y} \; \underset{d_y \times d_v}{W_V}$$

The queries come from the first input, $X$, which asks. Keys and values come
from the second input, $Y$, which answers. This is **cross-attention**.

$X$ is multiplied by $W_Q$ alone, and $Y$ by $W_K$ and $W_V$. So each input
may have a width of its own, $d_x$ and $d_y$, which is why an `Attention`
stores both ([](#self-attention)). Queries and keys must have the same
width, since they meet in a dot product.

**Exercise 8.1** (★★, 3 points): `cross_attention_forward`. Each of the `n`
tokens of `x` asks all `m` tokens of `y`. It refuses what
`attention_project` and `attend_trace` refuse: a trace that was made for
other sizes, and what only later chapters can compute (several heads, an
output layer).

::: hint
`self_attention_forward` of [](#self-attention) is made for one text. Where
does it rely on that?
:::

::: hint
The trace has `n` queries, `m` keys and `m` values.
:::

::: done
With this function, one text reads another. Let both be the same, and you
have [](#self-attention) again.
:::
*/

void cross_attention_forward(const Attention *a, int n, int m,
                             const float x[n][a->d_x],
                             const float y[m][a->d_y], Trace *t)
{
    attention_project(a, n, m, x, y, t);
    attend_trace(t);
}

/*
## Kannst du mir bitte helfen {#cross-attention-translation}

The Transformer was made for translation, and consists of the two halves of
[](#fig-transformer) [@vaswani2017]. The **encoder** reads the German
sentence, whose words look at each other, by self-attention.
The **decoder** writes the translation, a word at a time. Its words look at
each other too, and then they look at the encoder's words, by
cross-attention: the queries come from the decoder, the keys and values from
the encoder.

Good matrices for that come from long training. Ours are a dictionary that
we write by hand, as for *cat likes fish* in [](#qkv). The fact that each
word finds its counterpart will prove nothing. What the matrices can show is
where the numbers go, and that attention needs no rule for the order of
words.

The queries come from *can you help me*. (A real decoder doesn't know the
next English word yet, and asks with the word before it. Each of our English
words looks for its own counterpart.) An English word is a one-hot row, as
in [](#tokens). A German word is five numbers, one for each thing that it
may say: able, you, me, helps, and that it is a pronoun. In *kannst* two of
them are 1, since its ending says "you". In *bitte* none is.

*Kannst* and *du* both say "you", and *you* should look at *du* more. So the
matrix of the keys adds half a point to "you" and to "me" for each pronoun.
The key of *du* has $1 + 0.5$ for "you", and that of *kannst* has 1. The
queries have entries of 8 where [](#qkv) had 4, since the division by
$\sqrt{4}$ will halve the scores.
*/

static const char *const english[4] = {"can", "you", "help", "me"};
static const char *const german[5] = {"kannst", "du", "mir", "bitte",
                                      "helfen"};
static const float asks[4][4] = {
    {1, 0, 0, 0}, /* can */
    {0, 1, 0, 0}, /* you */
    {0, 0, 1, 0}, /* help */
    {0, 0, 0, 1}, /* me */
};
static const float answers[5][5] = {
    /* able, you, me, helps, pronoun */
    {1, 1, 0, 0, 0}, /* kannst */
    {0, 1, 0, 0, 1}, /* du */
    {0, 0, 1, 0, 1}, /* mir */
    {0, 0, 0, 0, 0}, /* bitte */
    {0, 0, 0, 1, 0}, /* helfen */
};
static const float looks_for[4][4] = {
    /* able, you, me, helps */
    {8, 0, 0, 0}, /* can */
    {0, 8, 0, 0}, /* you */
    {0, 0, 0, 8}, /* help */
    {0, 0, 8, 0}, /* me */
};
static const float found_by[5][4] = {
    /* able, you, me, helps */
    {1, 0, 0, 0},       /* able */
    {0, 1, 0, 0},       /* you */
    {0, 0, 1, 0},       /* me */
    {0, 0, 0, 1},       /* helps */
    {0, 0.5f, 0.5f, 0}, /* a pronoun: you or me */
};
static const float gives[5][2] = {
    /* verb, pronoun */
    {1, 0}, /* able */
    {0, 0}, /* you */
    {0, 0}, /* me */
    {1, 0}, /* helps */
    {0, 1}, /* pronoun */
};

/* folded: how this is printed */
static void show_translation(void)
{
    Attention cross,
        sizes = {.d_x = 4, .d_y = 5, .n_heads = 1, .d_k = 4, .d_v = 2};
    attention_init(&cross, &sizes);
    transpose(4, 4, looks_for, ROWS(4, cross.query.weight));
    transpose(5, 4, found_by, ROWS(5, cross.key.weight));
    transpose(5, 2, gives, ROWS(5, cross.value.weight));
    Trace t;
    trace_init_for(&t, &cross, 4, 5);
    cross_attention_forward(&cross, 4, 5, asks, answers, &t);
    print_matrix("weights of can, you, help, me", 4, 5, ROWS(5, t.weights));
    print_matrix("context vectors of can, you, help, me", 4, 2,
                 ROWS(2, t.context));
    figure_heatmap("translation", "What English words take of German ones",
                   4, english, 5, german, ROWS(5, t.weights));
    trace_free(&t);
    attention_free(&cross);
}

/*
``` output
weights of can, you, help, me (4, 5)
[[0.9317, 0.0171, 0.0171, 0.0171, 0.0171],
 [0.1168, 0.8631, 0.0158, 0.0021, 0.0021],
 [0.0171, 0.0171, 0.0171, 0.0171, 0.9317],
 [0.0024, 0.0179, 0.9749, 0.0024, 0.0024]]
context vectors of can, you, help, me (4, 2)
[[0.9488, 0.0341],
 [0.1189, 0.8789],
 [0.9488, 0.0341],
 [0.0048, 0.9928]]
```

![The strong cells show which word translates which. They aren't on a
diagonal, since German puts *helfen*
last](translation.svg){#fig-translation}

::: {.workbench args="stage=translation"}
:::

*Help* reaches over *mir* and *bitte* to the end of the sentence, and *me*
goes back to *mir*. A translation word by word, from left to right, stumbles
here. *You* gives 0.8631 of its attention to *du*, and 0.1168 to *kannst*,
which says "you" too. *Bitte* gets next to nothing from all four. And the
context vectors tell each English word what kind of word it has found: *can*
found a verb, *me* a pronoun. That one side has four words and the other
five was no obstacle.

::: question
Leave out *bitte*, so that only four German words answer. Which tables
become smaller?

Keys and values lose a row, and scores and weights a column. The context
vectors stay four rows of two: the German words are summed over, so their
number can't be seen in the result.
:::

## The same text twice {#cross-attention-twice}

If the second input is the first, this should be self-attention, to the last
bit. Here are the six words of [](#tokens), with the random matrices of
[](#self-attention-first):
*/

/* folded: how this is printed */
static void show_same_text(void)
{
    Attention cross;
    float query[6][2], key[6][2], value[6][4];
    float scores[6][6], weights[6][6], context[6][4];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    attention(6, 6, 2, 4, query, key, value, scores, weights, context);
    Random r = random_seeded(123);
    cross_attention_init(&cross, &r, 3, 3, 2, 4);
    Trace t;
    trace_init_for(&t, &cross, 6, 6);
    cross_attention_forward(&cross, 6, 6, life, life, &t);
    print_answer("all equal to self-attention",
                 largest_difference(6 * 4, t.context, context[0]) == 0);
    trace_free(&t);
    attention_free(&cross);
}

/*
``` output
all equal to self-attention: yes
```

Self-attention is cross-attention in which a text asks itself, and there is
no need for two formulas.

## Pictures and their captions {#cross-attention-pictures}

An input need not be a text. Stable Diffusion makes pictures from
descriptions, and works on the picture in many small steps. In each step,
every small square of the picture asks the words of the description
[@rombach2021]. The queries are made from the picture, keys and values from
the words. A square in the upper half may find *sky*, and take what *sky*
has to give. And a program that describes pictures may do the reverse:
the words of the description ask, and the squares of the picture answer.

Back to the translator. The decoder's words have the whole German sentence
to look at, since all of it has been read. But they also look at each other,
and there is a danger in that. A model that learns from finished
translations has the whole English sentence before it, and each word could
see those that come after it, which it should learn to find.
[](#causal-mask) hides them.

## In the tutorials {#cross-attention-tutorials}

### Six words and eight strangers {#cross-attention-strangers}

Raschka's article has the six words of [](#tokens) ask eight tokens of
another text [@raschka2024magazine]. The eight are random numbers, drawn
after the three matrices, so nothing relates these strangers to the words.
The article computes $X W$, with a $W$ that `torch.rand` fills row by row. A
layer holds $W^\top$, so `random_transposed` writes what it draws for row
`i` and column `j` to row `j` and column `i`. (One tutorial wants both
inputs to be equally wide; they needn't be, [A.26](#errata-26).)
*/

void random_transposed(Random *r, int d_in, int d_out,
                       float weight[d_out][d_in])
{
    for (int i = 0; i < d_in; i++)
        for (int j = 0; j < d_out; j++)
            weight[j][i] = random_float(r);
}

void cross_attention_init(Attention *a, Random *r, int d_x, int d_y,
                          int d_k, int d_v)
{
    const Attention sizes = {
        .d_x = d_x, .d_y = d_y, .n_heads = 1, .d_k = d_k, .d_v = d_v};
    attention_init(a, &sizes);
    random_transposed(r, d_x, d_k, ROWS(d_x, a->query.weight));
    random_transposed(r, d_y, d_k, ROWS(d_y, a->key.weight));
    random_transposed(r, d_y, d_v, ROWS(d_y, a->value.weight));
}

static Trace ask_strangers(float strangers[8][3])
{
    Attention cross;
    Random r = random_seeded(123);
    cross_attention_init(&cross, &r, 3, 3, 2, 4);
    random_fill(&r, 8, 3, strangers);
    Trace t;
    trace_init_for(&t, &cross, 6, 8);
    cross_attention_forward(&cross, 6, 8, life, strangers, &t);
    attention_free(&cross);
    return t;
}

/* folded: how this is printed */
static void show_strangers(void)
{
    const char *const word[6] = {"Life", "is",      "short",
                                 "eat",  "dessert", "first"};
    const char *const stranger[8] = {"1", "2", "3", "4",
                                     "5", "6", "7", "8"};
    float strangers[8][3];
    Trace t = ask_strangers(strangers);
    printf("first_input.shape: (%d, 3)\n", t.n);
    print_matrix("second input", 8, 3, strangers);
    print_matrix("values", 8, 4, ROWS(4, t.value));
    print_matrix("attention weights, a row for each word", 6, 8,
                 ROWS(8, t.weights));
    print_matrix("context vectors", 6, 4, ROWS(4, t.context));
    figure_heatmap("strangers", "What six words take of eight strangers", 6,
                   word, 8, stranger, ROWS(8, t.weights));
    trace_free(&t);
}

/*
``` output
first_input.shape: (6, 3)
second input (8, 3)
[[0.2745, 0.6584, 0.2775],
 [0.8573, 0.8993, 0.0390],
 [0.9268, 0.7388, 0.7179],
 [0.7058, 0.9156, 0.4340],
 [0.0772, 0.3565, 0.1479],
 [0.5331, 0.4066, 0.2318],
 [0.4545, 0.9737, 0.4606],
 [0.5159, 0.4220, 0.5786]]
```

``` output
values (8, 4)
[[0.3357, 0.7633, 0.5151, 0.8178],
 [0.2048, 0.9358, 0.6397, 0.9768],
 [0.7705, 1.2193, 1.0326, 1.5657],
 [0.5324, 1.1538, 0.8495, 1.3148],
 [0.1743, 0.3979, 0.2548, 0.4118],
 [0.2864, 0.5788, 0.4716, 0.7105],
 [0.5430, 1.1682, 0.8091, 1.2783],
 [0.5829, 0.7938, 0.6929, 1.0545]]
```

``` output
attention weights, a row for each word (6, 8)
[[0.1265, 0.1253, 0.1193, 0.1207, 0.1325, 0.1300, 0.1200, 0.1256],
 [0.1009, 0.1128, 0.1933, 0.1663, 0.0628, 0.0784, 0.1729, 0.1128],
 [0.1305, 0.1254, 0.1023, 0.1077, 0.1573, 0.1452, 0.1056, 0.1261],
 [0.1231, 0.1244, 0.1320, 0.1304, 0.1161, 0.1186, 0.1315, 0.1238],
 [0.1206, 0.1235, 0.1397, 0.1356, 0.1075, 0.1128, 0.1374, 0.1229],
 [0.1338, 0.1238, 0.0846, 0.0937, 0.1879, 0.1610, 0.0909, 0.1242]]
context vectors (6, 4)
[[0.4231, 0.8665, 0.6503, 1.0042],
 [0.4874, 0.9718, 0.7359, 1.1353],
 [0.4054, 0.8359, 0.6258, 0.9667],
 [0.4357, 0.8886, 0.6678, 1.0311],
 [0.4429, 0.9006, 0.6775, 1.0460],
 [0.3860, 0.8021, 0.5985, 0.9250]]
```

![Six words ask, eight strangers answer: the table of weights is not square,
and has no diagonal of words that meet
themselves](strangers.svg){#fig-strangers}

::: {.workbench args="stage=texts"}
:::

Neither strangers nor matrices have learned anything, so it means nothing
that *is* attends most to the third stranger. Only the signs mean anything.
The words have negative entries, the eight values have none, and the context
vectors have none either: they are mixtures of the strangers' values alone.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles");
    show_translation();
    show_same_text();
    show_strangers();
    return 0;
}

/*
The same in PyTorch, which has no separate function for cross-attention:
queries, keys and values may come from anywhere.

``` python
import torch
import torch.nn.functional as F

words = 'Life is short, eat dessert first'.replace(',', '').split()
ids = {word: i for i, word in enumerate(sorted(set(words)))}
torch.manual_seed(123)
embed = torch.nn.Embedding(50_000, 3)
first = embed(torch.tensor([ids[word] for word in words])).detach()

torch.manual_seed(123)
W_query, W_key, W_value = [torch.rand(3, d) for d in (2, 2, 4)]
second = torch.rand(8, 3)
print(second)
query, key, value = first @ W_query, second @ W_key, second @ W_value
print(torch.softmax(query @ key.T / 2**0.5, dim=-1))
print(F.scaled_dot_product_attention(query, key, value))
```

## Further exercises

**Exercise 8.2** (★, challenge, 2 points): `cross_attention_encode`. While
it translates, the decoder asks again for each word that it writes, and the
German sentence stays the same. Compute the keys and values of the sentence
that is asked, and leave them in the trace. The trace may be for any number
of queries. The function refuses what `attention_check(a, t->n, m, t)`
refuses.

::: hint
In [](#cross-attention-queries), `attention_project` runs three layers.
Which two of them does the German sentence need?
:::

::: done
What doesn't change needn't be computed twice. For a text that grows, the
same idea is the cache of [](#kv-cache).
:::

**Exercise 8.3** (★★, challenge, 3 points): `cross_attention_ask`. One token
asks, and is answered from the keys and values that are in the trace
already. The function doesn't get the second input, so it can't compute
anything from it again. Scores, weights and context are those that
`cross_attention_forward` gives for this token. It refuses a trace for more
than one query or with other sizes that don't fit, several heads, and an
output layer.

::: hint
What is left is the rest of what [](#cross-attention-queries) does. A trace
for one query has one row of queries, scores, weights and context. Its field
`m` says how many keys it has.
:::

::: hint
`ROWS(a->d_x, x)` is a table whose only row is `x`.
:::

::: done
A new word costs one row of queries, of scores and of what follows. The keys
and values are there already.
:::

**Exercise 8.4** (★★, challenge, 3 points): `hard_alignment`. Attention
spreads its weights. Which key does each query look at most? Write the
number of its column; if several weights are largest, the first of them. A
weight that is `nan` is never the largest, and a row that has nothing else
is refused. It takes any floats, not only shares, minus infinity included.

::: hint
[](#cross-attention-translation) has such weights. Comparisons with `nan`
are false, except `!=`. With which weight can the search begin, if the
first may be `nan` and another minus infinity?
:::

::: hint
With none. Remember the best *column* so far, and begin with -1, which is no
column.
:::

::: done
Read your list aloud, and it says which word translates which. The soft
weights know more, and can be trained.
:::

**Exercise 8.5** (by hand): Five tokens with three entries each ask nine
tokens with seven entries. Queries have two entries, values four. Give the
shapes of the three matrices, of queries, keys, values, scores and context.
Which of these six numbers, five, three, nine, seven, two and four, could
you change without changing another one?

## Solutions

::: {.solution exercise="8.2"}
*/

void cross_attention_encode(const Attention *a, int m,
                            const float y[m][a->d_y], Trace *t)
{
    attention_check(a, t->n, m, t);
    linear_forward(&a->key, m, y, ROWS(a->key.d_out, t->key));
    linear_forward(&a->value, m, y, ROWS(a->value.d_out, t->value));
}

/*
Without it, the keys and values of the whole German sentence are computed
anew for each English word. With it, each English word costs one row of
queries and one row of scores. The same can be done for self-attention,
where the text that is looked at grows with every word.
:::

::: {.solution exercise="8.3"}
*/

void cross_attention_ask(const Attention *a, const float x[a->d_x],
                         Trace *t)
{
    attention_check(a, 1, t->m, t);
    linear_forward(&a->query, 1, ROWS(a->d_x, x),
                   ROWS(a->query.d_out, t->query));
    attend_trace(t);
}

/*
The results are the same to the last bit. No query has anything to do with
another: each row of scores goes through softmax and the mixture on its own.
:::

::: {.solution exercise="8.4"}
*/

void hard_alignment(int n, int m, const float weights[n][m], int argmax[n])
{
    for (int i = 0; i < n; i++) {
        int best = -1; /* no number so far */
        for (int j = 0; j < m; j++)
            if (best < 0 ? !isnan(weights[i][j])
                         : weights[i][j] > weights[i][best])
                best = j;
        if (best < 0)
            REFUSE("row %d has no weight that is a number: one is needed",
                   i);
        argmax[i] = best;
    }
}

/*
For [](#fig-translation) it gives 0, 1, 4, 2. This answer is coarse. That
*you* looked at *kannst* as well is lost. And a small change of a score
hardly ever changes the answer, so training as in [](#self-attention) finds
no slope.
:::

::: {.solution exercise="8.5"}
$W_Q$ is $3 \times 2$, $W_K$ is $7 \times 2$, $W_V$ is $7 \times 4$. There
are five queries of two entries, nine keys of two, nine values of four; the
scores are $5 \times 9$, the context vectors $5 \times 4$. Each of the six
can be changed on its own. The numbers of tokens, five and nine, change no
matrix at all. The widths of the inputs, three and seven, and $d_k$ and
$d_v$, two and four, change the shapes of the matrices in which they occur.
:::
*/
