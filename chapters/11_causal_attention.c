/*
# Causal attention: a batch is a loop {#causal-attention}

![The way from words to attention. This chapter puts the shaded steps
together](pipeline.svg){#fig-causal-attention-pipeline}

We have now written every step of attention: queries, keys and values,
scores, their division, the mask, softmax, dropout, the mixture. Each has
been shown alone, on one sentence. A model does all of them in one go, and
for many sentences at a time, a **batch**.

Why not one sentence after another? Because a large model has far more
parameters than a sentence has numbers, and each must be moved before it can
be used. Having brought a row of $W_Q$ near for one sentence, a processor
may as well use it for fifteen more. That is why programs for PyTorch are
written for batches. In PyTorch this looks like a great change, since tables
become arrays with three dimensions. In C a batch is a loop around what we
have, and the parameters stay outside it.
*/

#include "attention/11_causal_attention.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/10_dropout.h"
#include "attention/measured.h"
#include "support.h"

/*
## The steps, in order

A trace of [](#self-attention) has room for all tables from queries to
context vectors, and for two more: `keep_mask` says which weights dropout
keeps, and `dropped` has the weights after dropout.

Given queries, keys and values, the order of the rest matters in two places.
The mask comes before softmax, so that the weights that are left add up to
one ([](#causal-mask)). Dropout comes after softmax, so that the survivors
don't share what was dropped ([](#dropout)). The weights after dropout mix
the values. With $p$ for the rate,

$$\underset{n \times d_v}{\text{context}} =
  \operatorname{dropout}_p\left(\operatorname{softmax}\left(
  \operatorname{mask}\left(
  \underset{n \times m}{\frac{Q K^\top}{\sqrt{d_k}}}\right)\right)\right)
  \underset{m \times d_v}{V}$$

Dropout needs random numbers, and only while the model is trained. So the
function takes a generator, and drops nothing if the generator is `NULL`.

**Exercise 11.1** (★★, 3 points): `attend`. A trace of one head has its
queries, keys and values. Fill the other five tables: scores, masked as
`mask` says; weights; the mask of dropout; the weights after dropout;
context vectors. If `r` is `NULL`, nothing is dropped, whatever `p` is. The
trace's `dropout_rate` becomes the rate that was used, so that a reader of
`dropped` knows the factor. `attend` refuses what `trace_check` and
`attention_weights` refuse and, with `r`, what `dropout_rate_check` refuses.

::: hint
All steps are functions of earlier chapters. Scores, division, mask and
softmax are one function of [](#causal-mask).
:::

::: hint
A rate of 0 keeps everything, and draws nothing from the generator.
`attend_trace` of [](#self-attention) shows how to check the trace.
:::

::: hint
`weights` stays as softmax has made it. What is the left factor of the last
product?
:::

::: done
Scores, mask, softmax, dropout, mixture: the order in which GPT-2 does it.
:::
*/

void attend(Mask mask, double p, Random *r, Trace *t)
{
    const int n = t->n, m = t->m;
    trace_check(t, n, m, 1, t->d_k, t->d_v, 0);
    float(*weights)[m] = ROWS(m, t->weights);
    float(*keep_mask)[m] = ROWS(m, t->keep_mask);
    float(*dropped)[m] = ROWS(m, t->dropped);
    const double rate = t->dropout_rate = r ? p : 0;
    attention_weights(n, m, t->d_k, mask, ROWS(t->d_k, t->query),
                      ROWS(t->d_k, t->key), ROWS(m, t->scores), weights);
    dropout_mask(r, rate, n, m, keep_mask);
    dropout_apply(rate, n, m, keep_mask, weights, dropped);
    matmul(n, t->d_v, m, dropped, ROWS(t->d_v, t->value),
           ROWS(t->d_v, t->context));
}

/*
All that comes after queries, keys and values is one function now.

## One object {#causal-attention-object}

An `Attention` has two more settings: the rate, and the **context length**,
the most tokens that a sentence may have. Our functions need no such limit,
but a model that was trained on sentences up to that length has never seen
longer ones. A context length of 0 means no limit.

This chapter follows a Python class of Raschka's book, `CausalAttention`.
There, as in most models, values are as wide as queries and keys. We call
that width `head_dim`, and set both `d_k` and `d_v` to it. (The class calls
it `d_out`. The `d_out` of an `Attention` is the width of its output layer,
which it gets in [](#multi-head); until then it is 0.)
*/

void causal_attention_init(Attention *a, Random *r, int d_in, int head_dim,
                           int context_length, double p, int has_bias)
{
    dropout_rate_check(p);
    if (context_length < 0)
        REFUSE("a context length of %d: 0, for any, or more is needed",
               context_length);
    self_attention_init(a, r, d_in, head_dim, head_dim, has_bias);
    a->context_length = context_length;
    a->dropout_rate = p;
}

/*
**Exercise 11.2** (★, 2 points): `head_forward`. `n` tokens supply queries,
`m` supply keys and values: from their embeddings it computes the context
vectors of one head. It refuses several heads, an output layer, more tokens
than the context length, and a trace that was made for other sizes.

::: hint
`attention_project` fills queries, keys and values, and refuses what doesn't
fit. What does `attend` refuse?
:::

::: done
You have the tutorials' `CausalAttention`, with the same numbers from the
same seed.
:::
*/

void head_forward(const Attention *a, Mask mask, Random *r, int n, int m,
                  const float x[n][a->d_x], const float y[m][a->d_y],
                  Trace *t)
{
    attention_project(a, n, m, x, y, t);
    attend(mask, a->dropout_rate, r, t);
}

/*
And a batch is the loop that the title promises. The `Attention` is outside
the loop, so that all sentences meet the same parameters. Each turn has its
own sentence and trace. The generator, if there is one, is handed from one
sentence to the next.
*/

void causal_attention_batch(const Attention *a, Random *r, int batch, int n,
                            const float x[batch][n][a->d_x],
                            Trace trace[batch])
{
    for (int b = 0; b < batch; b++)
        head_forward(a, mask_causal(0), r, n, n, x[b], x[b], &trace[b]);
}

/* folded: how this is drawn */
static void draw_batch(void)
{
    const FigureBlock block[] = {{"Your journey ...", 6, 3, 1, "·"},
                                 {"W_Q", 3, 2, 1, "="},
                                 {"its queries", 6, 2, 1, NULL},
                                 {"Life is short ...", 6, 3, 1, "·"},
                                 {"W_Q", 3, 2, 1, "="},
                                 {"its queries", 6, 2, 1, NULL}};
    figure_blocks("batch", "Two sentences, one set of parameters", 6,
                  block);
}

/*
![Two sentences, one set of parameters: the same $W_Q$ makes the queries of
both](batch.svg){#fig-batch}

## What a batch gains {#causal-attention-gain}

The loop shows what a batch computes, and it isn't any faster: each turn
walks through all parameters again. How much is there to gain? Take a layer
of the size that large models have, $4096 \times 4096$ weights or 67 MB, and
sixteen sentences of six tokens. Let them go through it in turn, six rows at
a time, and then at once, as one table of 96 rows, with the fast product of
[](#kernel) on one core. The sums are the same. Such times differ from
machine to machine and from day to day, so these were **recorded** on one
machine (`make bench CASES=batch` measures them on yours):
*/

/* folded: how this is printed */
static void show_gain(void)
{
    enum { SENTENCES = 16, TOKENS = 6, WIDE = 4096 };
    const char *const what = "batch 16x6x4096";
    const float bytes = (float)sizeof(float[WIDE][WIDE]);
    printf("%d times %d weights, %.0f MB; rows: %d in turn, %d at once\n",
           WIDE, WIDE, 1e-6 * bytes, TOKENS, SENTENCES * TOKENS);
    measured_in("src/data/batches.tsv");
    printf("recorded on %s\n", measured_on());
    print_vector(
        "milliseconds: a sentence, sixteen at once; to read the weights", 3,
        (float[3]){measured("ms", what, "attention-in-c in turn", 1) /
                       SENTENCES,
                   measured("ms", what, "attention-in-c at once", 1),
                   1e-6f * bytes / measured("GB/s", "read", "memory", 1)});
}

/*
``` output
4096 times 4096 weights, 67 MB; rows: 6 in turn, 96 at once
recorded on AMD EPYC, 2 processors
milliseconds: a sentence, sixteen at once; to read the weights (3)
[17.6794, 50.6650,  3.2696]
```

Sixteen sentences at once take less than three times as long as one. A
single sentence pays for moving all 67 MB, and uses them for six rows only.
To read them takes 3.2696 milliseconds, and our product rearranges them,
too, each time it is called. At once, the price is paid a single time, for
96 rows.

## Two sentences {#causal-attention-sentences}

HackTricks shows this class in Python, from Raschka's book, and runs it on a
batch: *Your journey starts with one step*, twice [@hacktricks;
@raschka2024book]. The rate is 0, there is no bias, and the context length
is the length of the sentence. We run it with these settings, and then with
a rate of one half.
*/

enum { BATCH = 2, N = 6, D_IN = 3, HEAD_DIM = 2 };

/* A way to compute a batch: the right one, or the mistaken one below. */
typedef void Batch(const Attention *a, Random *r, int batch, int n,
                   const float x[batch][n][a->d_x], Trace trace[batch]);

/* The class from seed 123, run on a batch by either of them. */
static void run_class(Batch *forward, double p,
                      const float x[BATCH][N][D_IN],
                      float context[BATCH][N][HEAD_DIM])
{
    Attention a;
    Trace t[BATCH];
    Random r = random_seeded(123);
    causal_attention_init(&a, &r, D_IN, HEAD_DIM, N, p, 0);
    for (int b = 0; b < BATCH; b++)
        trace_init_for(&t[b], &a, N, N);
    forward(&a, &r, BATCH, N, x, t);
    for (int b = 0; b < BATCH; b++) {
        memcpy(context[b], t[b].context, sizeof context[b]);
        trace_free(&t[b]);
    }
    attention_free(&a);
}

/* folded: how this is printed */
static void show_class(const float same[BATCH][N][D_IN])
{
    const char *const label[2] = {"context_vecs.shape",
                                  "with a dropout rate of one half"};
    float context[BATCH][N][HEAD_DIM];
    printf("batch.shape: (%d, %d, %d)\n", BATCH, N, D_IN);
    for (int k = 0; k < 2; k++) {
        run_class(causal_attention_batch, k * 0.5, same, context);
        printf("%s: (%d, %d, %d)\n", label[k], BATCH, N, HEAD_DIM);
        print_matrix("first sentence", N, HEAD_DIM, context[0]);
        print_matrix("second sentence", N, HEAD_DIM, context[1]);
    }
}

/*
::: question
The two sentences are the same. Will their context vectors be the same, too?
And with a dropout of one half?

Without dropout they are: the same parameters, the same words. With dropout
they are not: the second sentence's mask is made of later draws.
:::

``` output
batch.shape: (2, 6, 3)
context_vecs.shape: (2, 6, 2)
first sentence (6, 2)
[[-0.4519,  0.2216],
 [-0.5874,  0.0058],
 [-0.6300, -0.0632],
 [-0.5675, -0.0843],
 [-0.5526, -0.0981],
 [-0.5299, -0.1081]]
second sentence (6, 2)
[[-0.4519,  0.2216],
 [-0.5874,  0.0058],
 [-0.6300, -0.0632],
 [-0.5675, -0.0843],
 [-0.5526, -0.0981],
 [-0.5299, -0.1081]]
```

The shapes say: two sentences of six tokens, with three entries on the way
in, and two on the way out. With a rate of one half:

``` output
with a dropout rate of one half: (2, 6, 2)
first sentence (6, 2)
[[-0.9038,  0.4432],
 [-0.4368,  0.2142],
 [-0.4849, -0.1341],
 [-0.5834,  0.0081],
 [-0.6219, -0.0526],
 [-0.1417, -0.0505]]
second sentence (6, 2)
[[ 0.0000,  0.0000],
 [-1.1749,  0.0116],
 [-0.7733,  0.0073],
 [-0.9140, -0.2769],
 [-0.7679, -0.0735],
 [-0.6749, -0.0984]]
```

In the second sentence, the context vector of *Your* is zero. *Your* sees
only itself, and that weight was dropped. In the first sentence the weight
is kept and doubled. PyTorch draws the masks of the whole batch at once. To
get its numbers, it is enough to hand the generator from sentence to
sentence.

Does the mask leak? Here is a test for any such program: change each word in
turn, and see which rows move. We change one, and put zeros in place of
*one*, the fifth of the six words.
*/

/* folded: how this is printed */
static void show_leak(const float same[BATCH][N][D_IN])
{
    float changed[BATCH][N][D_IN], moved[N];
    float before[BATCH][N][HEAD_DIM], after[BATCH][N][HEAD_DIM];
    memcpy(changed, same, sizeof changed);
    memset(changed[0][4], 0, sizeof changed[0][4]);
    run_class(causal_attention_batch, 0, same, before);
    run_class(causal_attention_batch, 0, changed, after);
    for (int i = 0; i < N; i++)
        moved[i] = largest_difference(HEAD_DIM, before[0][i], after[0][i]);
    print_vector("how far each row moves when the fifth word changes", N,
                 moved);
}

/*
``` output
how far each row moves when the fifth word changes (6)
[0.0000, 0.0000, 0.0000, 0.0000, 0.1006, 0.0765]
```

The first four rows do not move at all. The fifth and the sixth row move,
since these words see the fifth.

## Equal sentences hide mistakes {#causal-attention-mistake}

Two equal sentences are convenient to look at, and a bad test. Here is the
loop with a 0 where `b` should be, so that it computes the first sentence
again and again. How far off is its result for two equal sentences? And if
the second is *Life is short, eat dessert first*?
*/

static void mistaken_batch(const Attention *a, Random *r, int batch, int n,
                           const float x[batch][n][a->d_x],
                           Trace trace[batch])
{
    for (int b = 0; b < batch; b++)
        head_forward(a, mask_causal(0), r, n, n, x[0], x[0], &trace[b]);
}

/* folded: how this is printed */
static void show_mistake(const float same[BATCH][N][D_IN])
{
    float different[BATCH][N][D_IN], errors[2];
    float wrong[BATCH][N][HEAD_DIM], right[BATCH][N][HEAD_DIM];
    memcpy(different, same, sizeof different);
    for (int k = 0; k < 2; k++) {
        run_class(mistaken_batch, 0, different, wrong);
        run_class(causal_attention_batch, 0, different, right);
        errors[k] = largest_difference(BATCH * N * HEAD_DIM, wrong[0][0],
                                       right[0][0]);
        memcpy(different[1], life, sizeof life);
    }
    print_vector("largest error, equal sentences and different ones", 2,
                 errors);
    print_answer("the first sentence comes out the same in both batches",
                 !memcmp(wrong[0], right[0], sizeof right[0]));
    print_matrix("the right result for the second, when different", N,
                 HEAD_DIM, right[1]);
}

/*
``` output
largest error, equal sentences and different ones (2)
[0.0000, 0.7045]
the first sentence comes out the same in both batches: yes
the right result for the second, when different (6, 2)
[[-0.0387, -0.0747],
 [-0.5033, -0.4115],
 [-0.2284, -0.3644],
 [-0.1874, -0.1532],
 [-0.1420, -0.1001],
 [ 0.1746, -0.3157]]
```

With equal sentences there is nothing to see, and without dropout no test
would fail, even if the answers came back in the wrong order. So the tests
of this chapter use different sentences.

## Sentences of different length {#causal-attention-padding}

Sentences in a loop may have different lengths, since each call of
`head_forward` has an `n` of its own. But an array must be rectangular. So
in PyTorch, and for our `causal_attention_batch`, shorter sentences are
filled up with tokens that mean nothing, **padding**. No word should attend
to padding. Zeros for padding are not enough: without a bias, a token of
zeros has a key of zeros and the score 0, and since $e^0$ is 1, it gets a
weight like any word.

Take the first four words of *Your journey* and two rows of zeros. How far
are the context vectors of these four words from those without padding? The
padding comes after the words, or before them, and is first seen and then
hidden.
*/

enum { WORDS = 4 };

/* The words are rows `start` to `start` + 3 of the padded sentence. */
static void make_mask(int is_causal, int is_hidden, int start,
                      float mask[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            mask[i][j] = (!is_causal || j <= i) &&
                         (!is_hidden || (j >= start && j < start + WORDS));
}

static float padding_error(const Attention *a, int is_causal, int is_hidden,
                           int start)
{
    float padded[N][D_IN] = {{0}}, mask[N][N];
    Trace t, right;
    trace_init_for(&t, a, N, N);
    trace_init_for(&right, a, WORDS, WORDS);
    memcpy(padded[start], journey, WORDS * sizeof *journey);
    make_mask(is_causal, is_hidden, start, mask);
    head_forward(a, mask_table(N, N, mask), NULL, N, N, padded, padded, &t);
    head_forward(a, is_causal ? mask_causal(0) : mask_none(), NULL, WORDS,
                 WORDS, journey, journey, &right);
    const float error = largest_difference(
        WORDS * HEAD_DIM, t.context + start * HEAD_DIM, right.context);
    trace_free(&t);
    trace_free(&right);
    return error;
}

/* folded: how this is printed */
static void show_padding(void)
{
    const char *const label[4] = {
        "all seen, padding after: while it is seen, when it is hidden",
        "all seen, padding before", "causal, padding after",
        "causal, padding before"};
    Attention a;
    Random r = random_seeded(123);
    causal_attention_init(&a, &r, D_IN, HEAD_DIM, N, 0, 0);
    for (int k = 0; k < 4; k++) {
        float error[2];
        for (int is_hidden = 0; is_hidden < 2; is_hidden++)
            error[is_hidden] =
                padding_error(&a, k / 2, is_hidden, 2 * (k % 2));
        print_vector(label[k], 2, error);
    }
    attention_free(&a);
}

/*
``` output
all seen, padding after: while it is seen, when it is hidden (2)
[0.1819, 0.0000]
all seen, padding before (2)
[0.1819, 0.0000]
causal, padding after (2)
[0.0000, 0.0000]
causal, padding before (2)
[0.2784, 0.0000]
```

(Without the causal mask, before and after are alike, since order does not
matter then.) One of the four cases is right while the padding is seen: with
the causal mask, a word sees nothing that comes after it, so padding after
the words changes nothing. So a language model can be trained with padding
at the end and without masking it, if the loss ignores what the padding
itself predicts. In the other three cases the scores of the padding must be
set to minus infinity, as those of the future are. `mask_table` does this,
with a table whose columns are 0 where the padding is.

The context vectors of the padding itself are of no use. With the causal
mask, padding in front sees only padding, which is hidden, and its rows are
`nan`. The next layer gives them the weight 0, but 0 times `nan` is `nan`,
and every word would become `nan`. So such rows must be set to 0 first, or
ignored where no layer follows.

## Everything together
*/

int main(int argc, char *argv[])
{
    float same[BATCH][N][D_IN];
    no_arguments(argc, argv);
    memcpy(same[0], journey, sizeof journey);
    memcpy(same[1], journey, sizeof journey);
    figure_pipeline("pipeline",
                    "roles scores scale mask weights dropout context");
    show_gain();
    show_class(same);
    show_leak(same);
    show_mistake(same);
    draw_batch();
    show_padding();
    return 0;
}

/*
The same in PyTorch, with the class in our words:

``` python
import torch
from torch import nn
import torch.nn.functional as F

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, p, bias=False):
        super().__init__()
        self.query = nn.Linear(d_in, d_out, bias)
        self.key = nn.Linear(d_in, d_out, bias)
        self.value = nn.Linear(d_in, d_out, bias)
        self.dropout = nn.Dropout(p)
        future = torch.ones(context_length, context_length).triu(1).bool()
        self.register_buffer('future', future)

    def forward(self, x):
        n = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        scores.masked_fill_(self.future[:n, :n], -torch.inf)
        weights = F.softmax(scores / self.key.out_features**0.5, dim=-1)
        return self.dropout(weights) @ self.value(x)

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
batch = torch.stack([journey, journey])
for p in 0.0, 0.5:
    torch.manual_seed(123)
    contexts = CausalAttention(3, 2, context_length=6, p=p)(batch)
    for context in contexts:
        print(context)
assert contexts.shape == (2, 6, 2)
```

`torch.stack` makes one tensor of several, with a new dimension in front,
and the shape (2, 6, 2) is batch, tokens, entries. `register_buffer` keeps
the mask's table with the module, and training leaves the table alone. Our
`mask_causal` needs no table. `@` multiplies the matrices of the last two
dimensions, sentence by sentence, which is the loop. `transpose(1, 2)`
exchanges rows and columns of each sentence, counting the dimensions from 0.
And `F.scaled_dot_product_attention` with `is_causal=True` and `dropout_p`
computes the context vectors of our `attend`.

So far a word asks one question. Some words need the answers to two:
[](#heads).

## Further exercises

**Exercise 11.3** (★★, challenge, 3 points): `mask_padding`. Some of `m`
keys are words, and the others padding, for which `is_word[j]` is 0. Hide
the padding in a mask that may hide other things already, in place.

::: hint
[](#causal-attention-padding) pads a sentence. A column of the mask belongs
to a key.
:::

::: done
Sentences of different lengths can share a table now. PyTorch's
`key_padding_mask` is such a list, with the opposite meaning.
:::

**Exercise 11.4** (by hand): A batch has sentences of 3, 6 and 1 tokens,
padded to the longest. How many scores does PyTorch compute for it, how many
does a loop with lengths of its own compute, and how many of the latter does
the causal mask leave?

**Exercise 11.5** (by hand): The future is hidden, and somebody puts the
dropout before softmax, and sets the dropped scores to minus infinity. What
are the row sums then, and what happens to the first row?

## Solutions

::: {.solution exercise="11.3"}
*/

void mask_padding(int n, int m, const int is_word[m], float mask[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (!is_word[j])
                mask[i][j] = 0;
}

/*
`mask_table` then does the rest. PyTorch's `key_padding_mask` is true for
padding, and false for words.
:::

::: {.solution exercise="11.4"}
PyTorch computes $3 \cdot 6 \cdot 6 = 108$, the loop $3 \cdot 3 + 6 \cdot 6
+ 1 \cdot 1 = 46$. Of these, the causal mask leaves $1 + 2 + 3$ in the first
sentence, $1 + 2 + 3 + 4 + 5 + 6$ in the second, and 1 in the last:
$6 + 21 + 1 = 28$.
:::

::: {.solution exercise="11.5"}
The row sums are 1, because softmax comes last, so that the survivors share
what the dropped ones have lost. But a row that loses all its scores has
nothing left, and is `nan`. The first row has only one score, and loses it
most easily.
:::
*/
