/*
# Heads: several attentions side by side {#heads}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-heads-pipeline}

*Cat likes fish.* In [](#qkv) we let the verb look for something to eat, and
it found *fish*. But liking takes two, one who likes and one who is liked,
and the verb has found only one of them. So let the verb ask for both. In
this chapter one attention fails at that, and two succeed.
*/

#include "attention/12_heads.h"
#include "attention/02_softmax.h"
#include "attention/03_qkv.h"
#include "attention/05_tokens.h"
#include "attention/08_cross_attention.h"
#include "attention/10_dropout.h"
#include "attention/11_causal_attention.h"
#include "support.h"

/*
## One question for two things {#heads-question}

The keys are the words themselves, with the three entries of [](#qkv-cat),
and the values leave out the action.
*/

static const float keys[3][3] = {
    /* animal, action, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish, which is an animal as well */
};
static const float values[3][2] = {
    /* animal, food */
    {1, 0}, /* cat */
    {0, 0}, /* likes */
    {1, 1}, /* fish */
};

/*
Who likes? An animal, but nothing to eat: $(4, 0, -4)$. What is liked?
Something to eat: $(0, 0, 4)$. A token has a single query, so to ask both
questions we add the two queries: $(4, 0, 0)$. (We leave the division
out, as [](#qkv) did.)
*/

/* folded: how this is printed */
static void show_question(const char *question, const float query[3])
{
    float scores[3], weights[3], context[2];
    attend_one(3, 3, 2, query, keys, values, scores, weights, context);
    print_vector(question, 3, scores);
    print_vector("    shares of cat, likes, fish", 3, weights);
    print_vector("    comes back: animal, food", 2, context);
}

static void show_questions(void)
{
    show_question("both at once, scores", (float[3]){4, 0, 0});
    show_question("who likes? scores", (float[3]){4, 0, -4});
    show_question("what is liked? scores", (float[3]){0, 0, 4});
}

/*
``` output
both at once, scores (3)
[4.0000, 0.0000, 4.0000]
    shares of cat, likes, fish (3)
[0.4955, 0.0091, 0.4955]
    comes back: animal, food (2)
[0.9909, 0.4955]
```

The sum of the questions half works: *cat* and *fish* get equal shares,
and *likes* next to nothing. But look at the mixture that comes back: half
of *cat* plus half of *fish* is an animal that is half food.

Would longer values help? Give each word a column of its own, 1 for that
word and 0 for all others. Then (0.4955, 0.0091, 0.4955) comes back: we see
the two words, but nothing in it says which of them likes. (You could make
the two shares unequal on purpose, and read the larger as the one that
likes. But then what is liked counts for less in the whole mixture.) Every
entry of a mixture is made with the same shares, and a row of shares answers
one question.

Now ask the two questions one by one:

``` output
who likes? scores (3)
[4.0000, 0.0000, 0.0000]
    shares of cat, likes, fish (3)
[0.9647, 0.0177, 0.0177]
    comes back: animal, food (2)
[0.9823, 0.0177]
what is liked? scores (3)
[0.0000, 0.0000, 4.0000]
    shares of cat, likes, fish (3)
[0.0177, 0.0177, 0.9647]
    comes back: animal, food (2)
[0.9823, 0.9647]
```

Each question has an answer of its own. Write one answer after the other,
(0.9823, 0.0177, 0.9823, 0.9647), and nothing is lost: the first two entries
say who likes, an animal that is no food, and the last two say what is
liked.

## Heads {#heads-side}

Several **heads** look at the same words, each with its own queries, keys
and values, and so each with its own shares. Their results are written side
by side, which is called **concatenation**. (With one more matrix, in
[](#multi-head), the whole is called multi-head attention.) With $Z_h$ for
the result of head $h$, and $H$ heads,

$$\underset{n \times d_v}{Z_h} = \operatorname{softmax}\left(
    \frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h, \qquad
\underset{n \times H d_v}{Z} =
    \operatorname{Concat}(Z_1, Z_2, \dots, Z_H)$$

In an `Attention` the heads' matrices lie one after another. A layer holds
$W^\top$ ([](#self-attention-linear)), so what are columns of $W$ on paper
are rows in memory: the first `d_k` rows of the queries' weight belong to
the first head (in C, to head 0), the next `d_k` rows to the second head.
The weights for keys and values are divided in the same way. The rows of one
head form a smaller layer, and three such layers form an attention with one
head. `attention_head` makes such an attention, and copies no number:
*/

static Linear rows_of(const Linear *l, int first, int count)
{
    return (Linear){.d_in = l->d_in,
                    .d_out = count,
                    .weight = l->weight + (size_t)first * (size_t)l->d_in,
                    .bias = l->bias ? l->bias + first : NULL};
}

Attention attention_head(const Attention *a, int h)
{
    if (h < 0 || h >= a->n_heads)
        REFUSE("head %d of %d: one from 0 to %d is needed", h, a->n_heads,
               a->n_heads - 1);
    attention_layers_check(a);
    Attention head = *a;
    head.n_heads = 1;
    head.d_out = head.has_out_bias = 0; /* these two are chapter 13's */
    head.out = (Linear){0};
    head.query = rows_of(&a->query, h * a->d_k, a->d_k);
    head.key = rows_of(&a->key, h * a->d_k, a->d_k);
    head.value = rows_of(&a->value, h * a->d_v, a->d_v);
    head.memory = NULL; /* the numbers remain a's */
    head.count = 0;
    return head;
}

/*
The heads draw their matrices one after another, so no two heads are alike.
Two equal heads would ask the same, and one would be wasted.
*/

void heads_init(Attention *a, Random *r, int n_heads, int d_in, int d_k,
                int d_v)
{
    Attention sizes = {.n_heads = n_heads, .d_k = d_k, .d_v = d_v};
    sizes.d_x = sizes.d_y = d_in;
    attention_init(a, &sizes);
    for (int h = 0; h < n_heads; h++) {
        const Attention head = attention_head(a, h);
        random_transposed(r, d_in, d_k, ROWS(d_in, head.query.weight));
        random_transposed(r, d_in, d_k, ROWS(d_in, head.key.weight));
        random_transposed(r, d_in, d_v, ROWS(d_in, head.value.weight));
    }
}

/*
`head_forward` of [](#causal-attention) computes one head, into a trace of
its own. What is left is to write the results side by side.

**Exercise 12.1** (★★, 3 points): `heads_forward`. Every head computes its
attention, one after another, each in its own trace, and `joined` receives
the context vectors side by side: the first `d_v` columns are those of the
first head. It refuses an attention with an output layer (`d_out` other than
0); `attention_head` and `head_forward` refuse the rest.

::: hint
`head_forward` wants the address of an attention. So keep what
`attention_head` returns in a variable, and pass the variable's address.
:::

::: hint
`t[h].context` points to `n` rows of `d_v` numbers, one row after
another. At which column of `joined` do those of head `h` begin?
:::

::: done
Each head looks for something different, and needs nothing from another.
:::
*/

void heads_forward(const Attention *a, Mask mask, Random *r, int n, int m,
                   const float x[n][a->d_x], const float y[m][a->d_y],
                   Trace t[a->n_heads],
                   float joined[n][a->n_heads * a->d_v])
{
    if (a->d_out)
        REFUSE("an output layer to %d columns: none is needed, for heads "
               "side by side",
               a->d_out);
    for (int h = 0; h < a->n_heads; h++) {
        const Attention head = attention_head(a, h);
        head_forward(&head, mask, r, n, m, x, y, &t[h]);
        const float(*context)[a->d_v] = ROWS(a->d_v, t[h].context);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < a->d_v; k++)
                joined[i][h * a->d_v + k] = context[i][k];
    }
}

/*
Heads work for two texts as well, and with any mask.

## Four heads {#heads-four}

Raschka's article begins with a single head whose values have one entry, and
then puts four of that kind side by side, both times from seed 123, for
*Life is short, eat dessert first* [@raschka2024magazine].
*/

enum { WORDS = 6, D_IN = 3, HEADS = 4, D_K = 2, D_V = 1 };

/* A trace for each head, for n tokens that ask n. */
static void traces_for(const Attention *a, int n, Trace t[])
{
    const Attention head = attention_head(a, 0);
    for (int h = 0; h < a->n_heads; h++)
        trace_init_for(&t[h], &head, n, n);
}

/* folded: how this is printed */
static void run_heads(const char *label, int n_heads, Attention *a,
                      Trace t[n_heads])
{
    float joined[WORDS][HEADS * D_V];
    Random r = random_seeded(123);
    heads_init(a, &r, n_heads, D_IN, D_K, D_V);
    traces_for(a, WORDS, t);
    heads_forward(a, mask_none(), NULL, WORDS, WORDS, life, life, t,
                  ROWS(a->n_heads * a->d_v, joined[0]));
    print_matrix(label, WORDS, n_heads * D_V,
                 ROWS(n_heads * D_V, joined[0]));
}

static void show_one_head(void)
{
    Attention a;
    Trace t;
    run_heads("one head", 1, &a, &t);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
one head (6, 1)
[[-0.0185],
 [ 0.4003],
 [-0.1103],
 [ 0.0668],
 [ 0.1180],
 [-0.1827]]
```

::: question
Four heads from the same seed give a table of four columns. Will the column
above be one of them, and if so, which?

The first. The first head's matrices are made from the first draws, however
many heads follow.
:::

``` output
four heads, side by side (6, 4)
[[-0.0185,  0.0170,  0.1999, -0.0860],
 [ 0.4003,  1.7137,  1.3981,  1.0497],
 [-0.1103, -0.1609,  0.0079, -0.2416],
 [ 0.0668,  0.3534,  0.2322,  0.1008],
 [ 0.1180,  0.6949,  0.3157,  0.2807],
 [-0.1827, -0.2060, -0.2393, -0.3167]]
```

## A map for each head {#heads-maps}

Did the four heads look at the same words? Here are the weights of the first
two heads, and then, for each of the four, the word that each word looks at
most, which `hard_alignment` of [](#cross-attention) finds.
*/

/* folded: how this is printed */
static void show_maps(const Trace t[HEADS])
{
    const char *const word[WORDS] = {"Life", "is",      "short",
                                     "eat",  "dessert", "first"};
    const char *const label[2] = {"head 1", "head 2"};
    float map[2][WORDS][WORDS];
    for (int h = 0; h < 2; h++) {
        memcpy(map[h], t[h].weights, sizeof map[h]);
        print_matrix(label[h], WORDS, WORDS, map[h]);
    }
    figure_maps("maps", "The attention weights of two heads", 2, label,
                WORDS, word, WORDS, word, map);

    printf("where each word looks most\n      ");
    for (int i = 0; i < WORDS; i++)
        printf("%9s", word[i]);
    for (int h = 0; h < HEADS; h++) {
        int argmax[WORDS];
        hard_alignment(WORDS, WORDS, ROWS(WORDS, t[h].weights), argmax);
        printf("\nhead %d", h + 1);
        for (int i = 0; i < WORDS; i++)
            printf("%9s", word[argmax[i]]);
    }
    printf("\n");
}

/*
``` output
head 1 (6, 6)
[[0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831],
 [0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229],
 [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.1793, 0.1463],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.1231],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
head 2 (6, 6)
[[0.1655, 0.0994, 0.1839, 0.1649, 0.1567, 0.2296],
 [0.0168, 0.9199, 0.0079, 0.0195, 0.0335, 0.0024],
 [0.1407, 0.0307, 0.1930, 0.1394, 0.1199, 0.3764],
 [0.1655, 0.2516, 0.1492, 0.1613, 0.1629, 0.1095],
 [0.1315, 0.4189, 0.1036, 0.1329, 0.1497, 0.0634],
 [0.1264, 0.0175, 0.1899, 0.1241, 0.1014, 0.4407]]
```

``` output
where each word looks most
           Life       is    short      eat  dessert    first
head 1    short       is    short       is       is    short
head 2    first       is    first       is       is    first
head 3    first       is    first      eat       is    first
head 4    first       is    first       is       is    first
```

Not all heads look at the same words. The word *first*, the last row of each
table, looks most at *short* in head 1, with a share of 0.3102, and at
itself in the other heads, with a share of 0.4407 in head 2. *Eat* looks at
*is* in three heads, and at itself in head 3.

![The attention weights of the first two heads, each with colours to a scale
of its own. Each row adds up to one, and the two maps
differ](maps.svg){#fig-heads-maps}

::: {.workbench args="stage=heads"}
:::

These heads have learned nothing. All entries of their matrices are
positive, and of the six embeddings ([](#tokens)) that of *is* alone has
three positive entries. So *is* has large queries and large keys in every
head, and looks at itself. What the maps show is that heads *can* differ.
Training gives them a reason to.

## What it costs {#heads-cost}

Could one larger head do the same? A single head with values of four entries
gives a table of the same size. Let us count the parameters, the
multiplications (for the roles, the scores and the mixtures) and the
exponentials.
*/

static int multiplications(int n, int d, int n_heads, int d_k, int d_v)
{
    const int roles = n * d * (d_k + d_k + d_v);
    const int scores = n * n * d_k, mixtures = n * n * d_v;
    return n_heads * (roles + scores + mixtures);
}

/* folded: how this is printed */
static void show_cost(const char *label, int n_heads, int d_k, int d_v)
{
    printf("%s\n    parameters: %d\n", label,
           n_heads * D_IN * (d_k + d_k + d_v));
    printf("    multiplications: %d\n",
           multiplications(WORDS, D_IN, n_heads, d_k, d_v));
    printf("    exponentials: %d\n", n_heads * WORDS * WORDS);
}

static void show_costs(void)
{
    show_cost("one head, d_k = 2, d_v = 4", 1, 2, 4);
    show_cost("four heads, d_k = 2, d_v = 1", 4, 2, 1);
    show_cost("one head, d_k = 8, d_v = 4", 1, 8, 4);
}

/*
``` output
one head, d_k = 2, d_v = 4
    parameters: 24
    multiplications: 360
    exponentials: 36
four heads, d_k = 2, d_v = 1
    parameters: 60
    multiplications: 792
    exponentials: 144
one head, d_k = 8, d_v = 4
    parameters: 60
    multiplications: 792
    exponentials: 36
```

The four heads have 60 parameters where the first single head has 24, and
need more than twice as many multiplications: they are not cheaper than that
head, whatever a tutorial says ([A.29](#errata-29)). But a single head may
also spend as much as the four. With queries and keys of 8 entries, a single
head has 60 parameters too, and as many multiplications.

The wide head can even have the *same* parameters. The matrices of the four
heads lie one after another, and can be read as the matrices of one head
with queries and keys of 8 entries.
*/

static Attention one_wide_head(const Attention *heads)
{
    Attention wide = *heads; /* the same numbers, read differently */
    wide.n_heads = 1;
    wide.d_k = heads->n_heads * heads->d_k;
    wide.d_v = heads->n_heads * heads->d_v;
    return wide;
}

/* folded: how this is printed */
static void show_wide(const Attention *a, const Trace t[HEADS])
{
    enum { LAST = (WORDS - 1) * WORDS }; /* the row of first */
    const Attention wide = one_wide_head(a);
    float first[HEADS][WORDS], half[WORDS] = {0};
    Trace of_wide;
    trace_init_for(&of_wide, &wide, WORDS, WORDS);
    self_attention_forward(&wide, WORDS, life, &of_wide);
    for (int h = 0; h < HEADS; h++)
        for (int j = 0; j < WORDS; j++) {
            first[h][j] = t[h].scores[LAST + j];
            half[j] += first[h][j] / 2;
        }
    print_matrix("scores of first, a row for each head", HEADS, WORDS,
                 first);
    print_vector("half of their sum", WORDS, half);
    print_vector("scores of first in the wide head", WORDS,
                 of_wide.scores + LAST);
    print_vector("their shares", WORDS, of_wide.weights + LAST);
    trace_free(&of_wide);
}

static void show_four_heads(void)
{
    Attention a;
    Trace t[HEADS];
    run_heads("four heads, side by side", HEADS, &a, t);
    show_maps(t);
    show_costs();
    show_wide(&a, t);
    for (int h = 0; h < HEADS; h++)
        trace_free(&t[h]);
    attention_free(&a);
}

/*
``` output
scores of first, a row for each head (4, 6)
[[ 0.3072, -1.7704,  0.7594, -0.2481, -0.6587,  0.6551],
 [ 0.0403, -1.9390,  0.4473,  0.0224, -0.1795,  1.2895],
 [ 0.1974, -1.5045,  0.6718, -0.2476, -0.4594,  1.0214],
 [-0.1093, -1.9534, -0.0360,  0.4390,  0.1368,  0.6736]]
half of their sum (6)
[ 0.2178, -3.5836,  0.9213, -0.0171, -0.5804,  1.8198]
scores of first in the wide head (6)
[ 0.2178, -3.5837,  0.9213, -0.0171, -0.5804,  1.8198]
their shares (6)
[0.1081, 0.0024, 0.2185, 0.0855, 0.0487, 0.5367]
```

(These scores are divided already.) The wide head adds up the scores of the
four heads, because the dot product of two long lists is the sum of the dot
products of their sections. Only the division differs: $\sqrt{8}$ is twice
$\sqrt{2}$, hence the half. (The one digit in which the two lists differ is
rounding error: the sums are added up in another order.)

At the beginning of this chapter we added up the queries of the verb, and so
its scores. The wide head, too, adds up scores *before* softmax, and one set
of shares has to answer all questions. Head 1 preferred *short*; in the sum,
*first* wins. Four heads keep four sets of shares. Their price is more
scores, 144 where there were 36, each of which is stored, divided, and made
a share.

## Heads that look back {#heads-causal}

Raschka's book puts two causal heads like that of [](#causal-attention) side
by side, initialized as linear layers are, for *Your journey starts with one
step* [@raschka2024book]. Only the draws and the settings are new:
*/

void causal_heads_init(Attention *a, Random *r, int d_in, int head_dim,
                       int context_length, double p, int n_heads,
                       int has_bias)
{
    dropout_rate_check(p);
    Attention sizes = {.n_heads = n_heads, .has_bias = has_bias};
    sizes.d_x = sizes.d_y = d_in;
    sizes.d_k = sizes.d_v = head_dim;
    sizes.context_length = context_length;
    sizes.dropout_rate = p;
    attention_init(a, &sizes);
    for (int h = 0; h < n_heads; h++) {
        const Attention one = attention_head(a, h);
        const Linear *const role[3] = {&one.query, &one.key, &one.value};
        for (int k = 0; k < 3; k++)
            linear_fill(r, d_in, head_dim, ROWS(d_in, role[k]->weight),
                        role[k]->bias);
    }
}

/* folded: how this is printed */
static void show_causal_heads(void)
{
    Attention a;
    Trace t[2];
    float joined[WORDS][4];
    Random r = random_seeded(123);
    causal_heads_init(&a, &r, D_IN, 2, WORDS, 0, 2, 0);
    traces_for(&a, WORDS, t);
    heads_forward(&a, mask_causal(0), NULL, WORDS, WORDS, journey, journey,
                  t, joined);
    print_matrix("two causal heads, side by side", WORDS, 4, joined);
    trace_free(&t[0]);
    trace_free(&t[1]);
    attention_free(&a);
}

/*
``` output
two causal heads, side by side (6, 4)
[[-0.4519,  0.2216,  0.4772,  0.1063],
 [-0.5874,  0.0058,  0.5891,  0.3257],
 [-0.6300, -0.0632,  0.6202,  0.3860],
 [-0.5675, -0.0843,  0.5478,  0.3589],
 [-0.5526, -0.0981,  0.5321,  0.3428],
 [-0.5299, -0.1081,  0.5077,  0.3493]]
```

The first two columns are the table of the single head in
[](#causal-attention), again because the first head draws first.

## As wide as a token {#heads-width}

How many heads do real models have? The first Transformer had 8, for tokens
of [512]{.cited} entries [@vaswani2017]. Llama 2 with seven billion
parameters has [32]{.cited} [@raschka2024magazine]. Side by side, all heads
together are as wide as a token. With $d_{model}$ entries in a token and $H$
heads,

$$d_k = d_v = \frac{d_{model}}{H}$$

*From Tokens to the Transformer* has a small example, three tokens,
$d_{model} = 8$ and $H = 2$, so that a head is 4 entries wide
[@tokens2transformer]. Side by side, the results of its two heads have 8
entries for each token, as many as a token has. PyTorch's module for several
heads, in [](#multi-head), is always as wide as its tokens.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "heads");
    show_questions();
    show_one_head();
    show_four_heads();
    show_causal_heads();
    return 0;
}

/*
The same in PyTorch. The heads are in an `nn.ModuleList`, in which PyTorch
finds the parameters of each. In a plain Python list PyTorch would not find
them, and training would leave them as they are.

``` python
import torch
import torch.nn.functional as F

class Head(torch.nn.Module):
    def __init__(self, d_in, d_k, d_v):
        super().__init__()
        self.w = torch.nn.ParameterList(
            [torch.rand(d_in, d) for d in (d_k, d_k, d_v)])

    def forward(self, x):
        return F.scaled_dot_product_attention(*[x @ w for w in self.w])

torch.manual_seed(123)
embed = torch.nn.Embedding(50_000, 3)
x = embed(torch.tensor([0, 4, 5, 2, 1, 3])).detach()
for n_heads in 1, 4:
    torch.manual_seed(123)
    heads = torch.nn.ModuleList([Head(3, 2, 1) for _ in range(n_heads)])
    print(torch.cat([head(x) for head in heads], dim=-1).detach())
```

`torch.cat` with `dim=-1` writes tables side by side; with `dim=0` it would
write them one below the other.

Two flaws remain. Each head multiplies by small matrices of its
own, which makes twelve products for four heads, where three would do. And
no entry of the result depends on two heads. The next chapter fixes both.

## Further exercises

**Exercise 12.2** (★, challenge, 2 points): `count_parameters`. The number
of parameters of `n_heads` heads without biases, from their sizes alone. It
refuses sizes below 1, and more parameters than an `int64_t` can count.

::: hint
[](#heads-cost) counts the parameters of four heads, each with three
matrices. Which of the three make `d_k` entries?
:::

::: hint
A large model has more parameters than an `int` can count.
:::

::: done
Now you can check what is said of a model: its number of parameters is a sum
of such counts.
:::

**Exercise 12.3** (by hand): A token has [4,096]{.cited} entries in Llama 2
with seven billion parameters, and its [32]{.cited} heads
[@raschka2024magazine], side by side, are as wide as a token. How many
entries wide is a head? Would the heads have more parameters if there were
twice as many of them?

**Exercise 12.4** (by hand): Exchange the first two of the four heads of
[](#heads-four). What becomes of the table of four columns?

## Solutions

::: {.solution exercise="12.2"}
*/

int64_t count_parameters(int n_heads, int d_in, int d_k, int d_v)
{
    if (n_heads < 1 || d_in < 1 || d_k < 1 || d_v < 1)
        REFUSE("%d heads of sizes %d, %d, %d: sizes of at least 1 are "
               "needed",
               n_heads, d_in, d_k, d_v);
    const int64_t columns = 2 * (int64_t)d_k + d_v;
    if (columns > INT64_MAX / n_heads / d_in)
        REFUSE("%d heads of sizes %d, %d, %d: their parameters are more "
               "than an int64_t can count",
               n_heads, d_in, d_k, d_v);
    return columns * n_heads * d_in;
}

/*
:::

::: {.solution exercise="12.3"}
$4{,}096 / 32 = 128$ entries. And no: with twice as many heads, each is half
as wide.
:::

::: {.solution exercise="12.4"}
Its first two columns are exchanged, and nothing else happens.
:::
*/
