/*
# A model that has read this book {#gpt}

![The way from words to attention. All of it is one step of a model, and is
taken again and again](pipeline.svg){#fig-gpt-pipeline}

An attention that learns is there ([](#training)), and it is fast. What is
still missing is depth. One attention looks once: it finds the token before,
or the subject of a verb. To read *the verb of the clause before this one*
takes a look at what others have found, and so attentions must be stacked.

The one idea of this chapter is what they are stacked on. Each token has a
list of numbers, from the first step to the last. Nothing ever replaces it.
Each part of the model reads the list, and **adds** what it has found. At
the end, what comes next is read from the sum. That is all there is to GPT-2
[@radford2019]; here it is built, checked against PyTorch, and trained on
this book.
*/

#include "attention/21_gpt.h"
#include "attention/02_softmax.h"
#include "attention/05_tokens.h"
#include "attention/06_scaling.h"
#include "attention/13_multi_head.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/kernel.h"
#include "attention/20_training.h"
#include "attention/gpt_training.h"
#include "attention/prose.h"
#include "attention/gpt_file.h"
#include "attention/gpt_run.h"
#include "attention/B_normals.h"
#include "support.h"

/*
## The block {#gpt-block}

[](#multi-head-residual) has added what attention finds to what the token
was: a residual connection. A **block** does so twice. First attention
carries something over from other tokens. Then a small network works on each
token by itself: a linear layer to four times the width, a function that
bends, and a linear layer back. (Without the bend, two linear layers would
be one, as two matrix products are. Attention fetches what other tokens
have; the network is where a model keeps what it knows besides.)

::: {.header of="GptBlock GptBlockPass"}
:::

A `GptBlockPass` is to a block what a trace is to an attention. Both
parts read the sum through a layer norm, which comes next, and neither
changes it but by `add`:
*/

static void add(int n, const float x[n], const float y[n], float sum[n])
{
    for (int i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

static void block_forward(const GptBlock *b, int texts, int n,
                          KVCache *cache, GptBlockPass *p)
{
    const int rows = texts * n, d = b->norm_1.d;
    norm_forward(&b->norm_1, rows, ROWS(d, p->in), ROWS(d, p->normed_1));
    if (cache)
        attend_cached(&b->attention, cache, rows, ROWS(d, p->normed_1),
                      &p->attention);
    else
        attention_forward_fast(&b->attention, mask_causal(0), texts, n,
                               ROWS(d, p->normed_1), &p->attention);
    add(rows * d, p->in, p->attention.out, p->between);

    norm_forward(&b->norm_2, rows, ROWS(d, p->between),
                 ROWS(d, p->normed_2));
    linear_forward_fast(&b->up, rows, ROWS(d, p->normed_2),
                        ROWS(4 * d, p->wide));
    gelu(rows * 4 * d, p->wide, p->share, p->active);
    linear_forward_fast(&b->down, rows, ROWS(4 * d, p->active),
                        ROWS(d, p->after));
    add(rows * d, p->after, p->between, p->after);
}

/*
`attention_forward_fast` is [](#flash-backward)'s, for all texts of a batch
at once. Where a text is written token by token, its last tokens ask the
cache of [](#kv-cache) instead:
*/

void attend_cached(const Attention *a, KVCache *c, int n,
                   const float x[n][a->d_x], Trace *t)
{
    const int d = a->d_k, d_v = a->d_v, heads = a->n_heads;
    attention_texts_check(a, 1, n, t);
    if (c->n_kv_heads != heads || c->d_k != d || c->d_v != d_v)
        REFUSE("a cache of n_kv_heads, d_k, d_v = %d, %d, %d: %d, %d, %d, "
               "those of the attention, are needed",
               c->n_kv_heads, c->d_k, c->d_v, heads, d, d_v);
    linear_forward_fast(&a->query, n, x, ROWS(a->query.d_out, t->query));
    linear_forward_fast(&a->key, n, x, ROWS(a->key.d_out, t->key));
    linear_forward_fast(&a->value, n, x, ROWS(a->value.d_out, t->value));
    kv_cache_append(c, n, rows_by_token(heads, n, d, t->key),
                    rows_by_token(heads, n, d_v, t->value));
    best_kernel()->kv_cache_attend(c, heads, n,
                                   rows_by_token(heads, n, d, t->query), 0,
                                   rows_by_token(heads, n, d_v, t->joined));
    if (a->d_out)
        linear_forward_fast(&a->out, n, ROWS(a->out.d_in, t->joined),
                            ROWS(a->out.d_out, t->out));
}

/*
On the way back, a sum hands its gradient on to both that were added,
unchanged: if the sum grows by a little, it does not matter which of the two
has grown. So the slope of the loss reaches the first block past all others,
however many there are, and what these do to it is only added.
*/

static void block_backward(const GptBlock *b, int texts, int n,
                           const GptBlockPass *p, GptBlockPass *grad_p,
                           GptBlock *grad_b)
{
    const int rows = texts * n, d = b->norm_1.d;
    /* after = between + down(gelu(up(normed_2))) */
    add(rows * d, grad_p->between, grad_p->after, grad_p->between);
    linear_backward_fast(&b->down, rows, ROWS(4 * d, p->active),
                         ROWS(d, grad_p->after), &grad_b->down,
                         ROWS(4 * d, grad_p->active));
    gelu_backward(rows * 4 * d, p->wide, p->share, grad_p->active,
                  grad_p->wide);
    linear_backward_fast(&b->up, rows, ROWS(d, p->normed_2),
                         ROWS(4 * d, grad_p->wide), &grad_b->up,
                         ROWS(d, grad_p->normed_2));
    norm_backward(&b->norm_2, rows, ROWS(d, p->between),
                  ROWS(d, grad_p->normed_2), &grad_b->norm_2,
                  ROWS(d, grad_p->between));

    /* between = in + attention(normed_1) */
    add(rows * d, grad_p->in, grad_p->between, grad_p->in);
    add(rows * d, grad_p->attention.out, grad_p->between,
        grad_p->attention.out);
    attention_backward_fast(&b->attention, mask_causal(0), texts, n,
                            ROWS(d, p->normed_1), &p->attention,
                            &grad_p->attention, &grad_b->attention,
                            ROWS(d, grad_p->normed_1));
    norm_backward(&b->norm_1, rows, ROWS(d, p->in),
                  ROWS(d, grad_p->normed_1), &grad_b->norm_1,
                  ROWS(d, grad_p->in));
}

/*
## Layer norm {#gpt-norm}

A sum to which all add grows, and a layer that reads it would have to cope
with small numbers today and large ones tomorrow. **Layer norm** takes that
away [@ba2016]: each row has its mean $\mu$ subtracted and is divided by its
spread, so that it has mean 0 and spread 1, whatever it was; then each entry
is stretched by a weight and moved by a bias, which are learned:

$$\underset{n \times d}{Y}: \quad
  y_k = \frac{x_k - \mu}{\sqrt{\sigma^2 + 10^{-5}}}\, w_k + b_k$$

Here $\sigma^2$ is the mean square of what the entries differ from their
mean, and the $10^{-5}$ keeps a row of equal numbers from being divided by
0. The row's **scale**, $r$, is 1 divided by that root.
*/

/* A row's mean, and 1 divided by its spread. */
static void measure_row(int d, const float x[d], float *mean, float *scale)
{
    double sum = 0, squares = 0;
    for (int k = 0; k < d; k++)
        sum += (double)x[k];
    *mean = (float)(sum / d);
    for (int k = 0; k < d; k++)
        squares += (double)((x[k] - *mean) * (x[k] - *mean));
    *scale = (float)(1 / sqrt(squares / d + 1e-5));
}

/*
**Exercise 21.1** (★★, 3 points): `norm_forward`. Each row with its mean
taken away, multiplied by its scale, which `measure_row` finds; then times
the weight, plus the bias.

::: hint
`measure_row(l->d, x[i], &mean, &scale)` for each row `i`, then one line for
each entry.
:::

::: done
Whatever the sum has grown to, each part of the model reads numbers of the
same size.
:::
*/

void norm_forward(const Norm *l, int n, const float x[n][l->d],
                  float out[n][l->d])
{
    float mean, scale;
    for (int i = 0; i < n; i++) {
        measure_row(l->d, x[i], &mean, &scale);
        for (int k = 0; k < l->d; k++)
            out[i][k] =
                (x[i][k] - mean) * scale * l->weight[k] + l->bias[k];
    }
}

static void show_norm(void)
{
    float x[3][4] = {{1, 2, 3, 6}, {101, 102, 103, 106}, {10, 20, 30, 60}};
    float out[3][4];
    const Norm plain = {4, (float[]){1, 1, 1, 1}, (float[]){0, 0, 0, 0}};
    norm_forward(&plain, 3, x, out);
    print_matrix("a row, the same moved, and stretched, normed", 3, 4, out);
}

/*
``` output
a row, the same moved, and stretched, normed (3, 4)
[[-1.0690, -0.5345,  0.0000,  1.6036],
 [-1.0690, -0.5345,  0.0000,  1.6036],
 [-1.0690, -0.5345,  0.0000,  1.6036]]
```

Three rows, one result. Now backwards. Let $z$ be the normed row,
before weight and bias, and $g_k$ the slope of the loss by $z_k$. Raise
$x_j$ by a small $s$. Three things happen.

- $z_j$ gains $r s$.
- The mean gains $s / d$. So each entry of $z$ loses $r s / d$.
- The sum of the squares grows by $2 (x_j - \mu)\, s$, nearly, and their
  mean by $2 (x_j - \mu)\, s / d$. As $x_j - \mu$ is $z_j / r$, and
  what stands under the root is $1 / r^2$, this becomes
  $1 + 2 r z_j s / d$ times as large, and the root
  $1 + r z_j s / d$ times. Each $z_k$ is divided by it, and loses
  $z_k\, r z_j s / d$.

(That the mean moves does not change the squares: what the entries differ
from it adds up to 0.) Each change times the slope of its entry, and all
added up:

$$r s \Big( g_j - \frac{1}{d} \sum_{k=1}^{d} g_k
  - z_j\, \frac{1}{d} \sum_{k=1}^{d} g_k z_k \Big)$$

So the slope of $x_j$ is $r$ times what stands in the brackets: $g_j$, less
the mean of all slopes, less $z_j$ times the mean of slopes times
entries. The first mean makes sure that nothing happens if all entries
grow alike, the second that nothing happens if the row is stretched, as the
output has shown.
*/

void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float grad_out[n][l->d], Norm *grad_l,
                   float grad_x[n][l->d])
{
    const int d = l->d;
    float mean, scale;
    if (grad_l->d != d)
        REFUSE("a gradient of %d entries, where the layer has %d: as many "
               "are needed",
               grad_l->d, d);
    for (int i = 0; i < n; i++) {
        double moved = 0, stretched = 0;
        measure_row(d, x[i], &mean, &scale);
        for (int k = 0; k < d; k++) {
            const float normed = (x[i][k] - mean) * scale;
            const float grad_normed = grad_out[i][k] * l->weight[k];
            grad_l->weight[k] += grad_out[i][k] * normed;
            grad_l->bias[k] += grad_out[i][k];
            moved += (double)grad_normed;
            stretched += (double)(grad_normed * normed);
        }
        moved /= d;
        stretched /= d;
        for (int k = 0; k < d; k++) {
            const float normed = (x[i][k] - mean) * scale;
            const float grad_normed = grad_out[i][k] * l->weight[k];
            grad_x[i][k] += scale * (grad_normed - (float)moved -
                                     normed * (float)stretched);
        }
    }
}

/*
## GELU {#gpt-gelu}

The function that bends: **GELU** multiplies each number by a share that
grows with it [@hendrycks2016]. Far above 0 the share is 1, and the number
passes; far below it is 0. GPT-2's share is the softmax of two scores, $u$
and 0, which is $e^u / (e^u + 1) = 1 / (1 + e^{-u})$. With $u =
\sqrt{8/\pi}\,(x + 0.044715\, x^3)$, where the root is 1.5957691, it comes
close to the share of normal numbers ([](#tokens-normal)) that lie below
$x$. (Books write it with $\tanh$; that is the same number. PyTorch's
default is that other share, which differs in the fourth digit:
`approximate="tanh"` asks for this one.)
*/

void gelu(int n, const float x[n], float share[n], float out[n])
{
    for (int i = 0; i < n; i++) {
        const float u =
            1.5957691f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        share[i] = u < -87 ? 126 : -1.442695f * u;
    }
    best_kernel()->exp2_all(n, share);
    for (int i = 0; i < n; i++) {
        share[i] = share[i] >= 0x1p126f ? 0 : 1 / (1 + share[i]);
        out[i] = x[i] * share[i];
    }
}

/*
(The number in front of $u$ is the logarithm that turns powers of $e$ into
powers of 2, for [](#kernel-exp2); `powers` takes a whole table of them. A
share of $2^{-126}$ or less becomes 0; the lowest float times such a share
would be far from 0.)

**Exercise 21.2** (★★, 3 points): `gelu_backward`. The gradient by `x`,
added to `grad_x`, from the shares that `gelu` has left.

::: hint
`out = x * share`: if `x` grows a little, `out` grows by `share` times that;
and `share` grows, too, which `out` feels `x` times.
:::

::: hint
A softmax of two: if $u$ grows, the share grows by share times
(1 minus share) times that. It is [](#backward)'s formula for two scores.
:::

::: hint
If $x$ grows by a small $s$, $x^3$ becomes $x^3 + 3 x^2 s$, and terms with
$s^2$ that count for nothing. So $u$ grows by
$\sqrt{8/\pi}\,(1 + 3 \cdot 0.044715\, x^2)\, s$.
:::

::: done
With this, you have the way back through every part of GPT-2.
:::
*/

void gelu_backward(int n, const float x[n], const float share[n],
                   const float grad_out[n], float grad_x[n])
{
    for (int i = 0; i < n; i++) {
        const float grad_u = 1.5957691f * (1 + 3 * 0.044715f * x[i] * x[i]);
        const float grad_share = share[i] * (1 - share[i]) * grad_u;
        grad_x[i] += grad_out[i] * (share[i] + x[i] * grad_share);
    }
}

static void show_gelu(void)
{
    const float x[7] = {-3, -2, -1, 0, 1, 2, 3};
    float table[3][7] = {{0}};
    const float ones[7] = {1, 1, 1, 1, 1, 1, 1};
    gelu(7, x, table[0], table[1]);
    gelu_backward(7, x, table[0], ones, table[2]);
    print_vector("shares of -3 to 3", 7, table[0]);
    print_matrix("GELU, and its slopes", 2, 7, &table[1]);
}

/*
``` output
shares of -3 to 3 (7)
[0.0012, 0.0227, 0.1588, 0.5000, 0.8412, 0.9773, 0.9988]
GELU, and its slopes (2, 7)
[[-0.0036, -0.0454, -0.1588,  0.0000,  0.8412,  1.9546,  2.9964],
 [-0.0116, -0.0861, -0.0830,  0.5000,  1.0830,  1.0861,  1.0116]]
```

## The model {#gpt-model}

Below the blocks, a token is looked up in a table, and its place in another
([](#tokens), [](#positions)). Above them, after a last norm, its list must
become one logit for each token that may come next. That is a linear layer,
and its weight has a row for each token, as the table of embeddings has. So
GPT-2 takes the same table for both: **tied weights** [@press2017]. The
logit of a token is how well the sum goes together with its embedding.

::: {.header of="Gpt"}
:::

All parameters lie in one piece of memory, and a gradient is another `Gpt`.
With `output.weight` and `tokens` at one place, nothing has to be done for
the tie: each adds its gradient to what is there, and `+=` is enough. Nor is
anything handed from one block to the next: what is `in` there is this one's
`after`, the same table, on the way back as well. (All gradients are 0 at
first.)
*/

void gpt_forward(const Gpt *g, KVCache *cache, const int *ids, GptPass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    const int first = cache ? (int)cache->count : 0;
    gpt_pass_check(g, cache, p);
    float(*x)[d] = ROWS(d, p->block[0].in);
    embed(rows, d, g->vocabulary, ids, ROWS(d, g->tokens), x);
    for (int i = 0; i < rows; i += p->n)
        add_positions(p->n, d, g->context_length, first, ROWS(d, g->places),
                      x + i);
    for (int l = 0; l < g->layers; l++)
        block_forward(&g->block[l], p->texts, p->n,
                      cache ? &cache[l] : NULL, &p->block[l]);
    norm_forward(&g->last, rows, ROWS(d, p->block[g->layers - 1].after),
                 ROWS(d, p->normed));
    linear_forward_fast(&g->output, rows, ROWS(d, p->normed),
                        ROWS(g->output.d_out, p->logits));
}

void gpt_backward(const Gpt *g, const int *ids, const GptPass *p,
                  GptPass *grad_p, Gpt *grad_g)
{
    const int rows = p->texts * p->n, d = g->width, top = g->layers - 1;
    gpt_pass_check(g, NULL, p);
    gpt_gradient_check(g, p, grad_g, grad_p);
    const float(*grad_x)[d] = ROWS(d, grad_p->block[0].in);
    linear_backward_fast(&g->output, rows, ROWS(d, p->normed),
                         ROWS(g->output.d_out, grad_p->logits),
                         &grad_g->output, ROWS(d, grad_p->normed));
    norm_backward(&g->last, rows, ROWS(d, p->block[top].after),
                  ROWS(d, grad_p->normed), &grad_g->last,
                  ROWS(d, grad_p->block[top].after));
    for (int l = top; l >= 0; l--)
        block_backward(&g->block[l], p->texts, p->n, &p->block[l],
                       &grad_p->block[l], &grad_g->block[l]);
    embed_backward(rows, d, g->vocabulary, ids, grad_x,
                   ROWS(d, grad_g->tokens));
    for (int i = 0; i < rows; i++) {
        float *grad_place = grad_g->places + i % p->n * d;
        add(d, grad_place, grad_x[i], grad_place);
    }
}

/*
Here is the tie at work: a small model with six tokens, of which it has seen
three. The gradient of each token's first entry, if the two tables are
apart, as looked up and as output, and if they are one:
*/

static void show_tied_gradient(Gpt *g, float *by_input, float *by_output)
{
    const int ids[3] = {0, 1, 2}, targets[3] = {1, 2, 3};
    Gpt grad_g;
    gpt_init(&grad_g, g);
    GptPass p, grad_p;
    gpt_pass_init(&p, g, 1, 3);
    gpt_pass_init(&grad_p, g, 1, 3);
    float shares[3][6];
    gpt_forward(g, NULL, ids, &p);
    cross_entropy(3, 6, ROWS(6, p.logits), targets, shares);
    cross_entropy_backward(3, 6, shares, targets, ROWS(6, grad_p.logits));
    gpt_backward(g, ids, &p, &grad_p, &grad_g);
    for (int i = 0; i < 6; i++) {
        by_input[i] = grad_g.tokens[i * 4];
        by_output[i] = grad_g.output.weight[i * 4];
    }
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&grad_g);
}

static void show_tied(void)
{
    Gpt sizes = {.vocabulary = 6, .context_length = 3, .width = 4};
    sizes.n_heads = 2;
    sizes.layers = 1;
    Gpt g, apart;
    float table[3][6];
    gpt_init(&g, &sizes);
    sizes.has_own_output = 1;
    gpt_init(&apart, &sizes);
    Random r = random_seeded(123);
    gpt_fill(&r, &g);
    memcpy(apart.memory, g.memory, g.count * sizeof *g.memory);
    memcpy(apart.output.weight, g.tokens, sizeof(float[6][4]));
    show_tied_gradient(&apart, table[0], table[1]);
    show_tied_gradient(&g, table[2], table[2]);
    print_matrix("gradient: looked up, output, tied", 3, 6, table);
    gpt_free(&g);
    gpt_free(&apart);
}

/*
``` output
gradient: looked up, output, tied (3, 6)
[[ 0.0976, -0.1000, -0.3993,  0.0000,  0.0000,  0.0000],
 [-0.0064, -0.1983,  0.2458, -0.0247, -0.0079, -0.0086],
 [ 0.0912, -0.2982, -0.1534, -0.0247, -0.0079, -0.0086]]
```

The third row is the sum of the other two. And the last two tokens, which
stand nowhere in the text and are no answer either, have a gradient all the
same: the model has given each a share, and is told to give less.

## How it begins {#gpt-begin}

GPT-2's weights are drawn from normal numbers with a deviation of 0.02,
biases are 0, norms begin with weight 1. With one exception: the weights of
the layers that add to the sum, attention's `out` and the network's `down`,
are divided by $\sqrt{2 \cdot \text{layers}}$:
*/

/* What a layer begins with: normal numbers for its weight. */
static void fill_layer(Random *r, float deviation, Linear *l)
{
    normal_fill(r, l->d_out, l->d_in, 0, deviation,
                ROWS(l->d_in, l->weight));
}

static void fill_norm(Norm *l)
{
    for (int k = 0; k < l->d; k++)
        l->weight[k] = 1;
}

void gpt_fill(Random *r, Gpt *g)
{
    const float deviation = 0.02f;
    const float adding = (float)(0.02 / sqrt(2 * g->layers));
    gpt_clear(g);
    normal_fill(r, g->vocabulary, g->width, 0, deviation,
                ROWS(g->width, g->tokens));
    normal_fill(r, g->context_length, g->width, 0, deviation,
                ROWS(g->width, g->places));
    for (int l = 0; l < g->layers; l++) {
        GptBlock *b = &g->block[l];
        fill_norm(&b->norm_1);
        fill_layer(r, deviation, &b->attention.query);
        fill_layer(r, deviation, &b->attention.key);
        fill_layer(r, deviation, &b->attention.value);
        fill_layer(r, adding, &b->attention.out);
        fill_norm(&b->norm_2);
        fill_layer(r, deviation, &b->up);
        fill_layer(r, adding, &b->down);
    }
    fill_norm(&g->last);
    if (g->has_own_output)
        fill_layer(r, deviation, &g->output);
}

/*
Readers of such code often ask what the division is for.
There are $2 \cdot \text{layers}$ additions, and what is added is random and
independent at first. The spread of a sum of independent numbers grows with
the root of how many there are ([](#scaling)), and this root is taken out
again. Here is the spread of the sum in a model of twelve blocks, without
and with the division:
*/

enum { DEPTH = 12, WIDTH = 64, TOKENS = 32 };

/* The spread of the sum as it comes in, and after every other block. */
static void show_spread_of(const Gpt *g, float spread[DEPTH / 2 + 1])
{
    int ids[TOKENS];
    GptPass p;
    gpt_pass_init(&p, g, 1, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        ids[i] = i;
    gpt_forward(g, NULL, ids, &p);
    spread[0] = score_spread(TOKENS * WIDTH, p.block[0].in);
    for (int l = 1; l < DEPTH; l += 2)
        spread[l / 2 + 1] = score_spread(TOKENS * WIDTH, p.block[l].after);
    gpt_pass_free(&p);
}

/* Takes the division back. */
static void show_undivided(Gpt *g)
{
    for (int l = 0; l < DEPTH; l++) {
        const Linear *const layer[2] = {&g->block[l].attention.out,
                                        &g->block[l].down};
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < layer[k]->d_in * layer[k]->d_out; i++)
                layer[k]->weight[i] *= sqrtf(2 * DEPTH);
    }
}

static void show_spread(void)
{
    const char *const at[] = {"0", "2", "4", "6", "8", "10", "12"};
    const char *const curve[2] = {"not divided", "divided"};
    Gpt g;
    float spread[2][DEPTH / 2 + 1];
    Gpt sizes = {.width = WIDTH, .n_heads = 4, .layers = DEPTH};
    sizes.vocabulary = sizes.context_length = TOKENS;
    gpt_init(&g, &sizes);
    Random r = random_seeded(123);
    gpt_fill(&r, &g);
    show_spread_of(&g, spread[1]);
    show_undivided(&g);
    show_spread_of(&g, spread[0]);
    print_matrix("spread after every other block: not divided, divided", 2,
                 DEPTH / 2 + 1, spread);
    figure_curves("spread", "The spread of the sum, block by block", curve,
                  DEPTH / 2 + 1, at, spread);
    gpt_free(&g);
}

/*
``` output
spread after every other block: not divided, divided (2, 7)
[[0.0286, 0.0485, 0.0655, 0.0809, 0.0943, 0.0979, 0.1053],
 [0.0286, 0.0298, 0.0310, 0.0323, 0.0338, 0.0345, 0.0356]]
```

![The spread of the sum after each of twelve blocks, with the numbers that a
model begins with](spread.svg){#fig-gpt-spread}

Divided, the sum grows by a quarter on its way through twelve blocks; not
divided, to almost four times its size, and what the token was is drowned.

## Reading {#gpt-training}

What does it read? The prose of this book, as you do, without code and
output. A token is a byte. All are ASCII, and so the vocabulary has 128
tokens: no words, no grammar, not even that letters make words. Every tenth
paragraph is held out ([](#training-repeated)). As long as the loss on these
falls along with the other, it learns something about the language; where it
stops falling, the model begins to learn the training text by heart, which
[](#dropout) has called overfitting.

The text is cut into pieces as long as the context. A batch is some pieces,
in the order that PyTorch's `DataLoader(shuffle=True)` would draw
(`gpt_training_batch`). PyTorch draws a seed of its own for each epoch:
*/

void epoch_order(Random *r, int n, int order[n])
{
    random_u64(r); /* for its workers, of which we have none */
    Random own = random_seeded(random_u64(r) & INT64_MAX);
    shuffle(&own, n, order);
}

/*
And what some texts teach:
*/

float gpt_part_gradient(GptTraining *t, int part, const int *ids,
                        const int *targets)
{
    GptPass *p = &t->pass[part], *grad_p = &t->grad_pass[part];
    const int rows = p->texts * p->n, size = t->model.vocabulary;
    float(*shares)[size] = ROWS(size, t->shares[part]);
    gpt_forward(&t->model, NULL, ids, p);
    const float loss =
        cross_entropy(rows, size, ROWS(size, p->logits), targets, shares);

    gpt_pass_clear(grad_p);
    gpt_clear(&t->gradient[part]);
    cross_entropy_backward(rows, size, shares, targets,
                           ROWS(size, grad_p->logits));
    gpt_backward(&t->model, ids, p, grad_p, &t->gradient[part]);
    return loss;
}

/*
Texts have nothing to do with each other until their gradients are added up.
So a batch goes in parts, each thread takes some, and the loss and the
gradient of all are the means of theirs (`gpt_training_gradient`). One step:
*/

float gpt_training_step(GptTraining *t, const int *ids, const int *targets)
{
    const float loss = gpt_training_gradient(t, ids, targets);
    const size_t count = t->model.count;
    clip_norm(1, count, t->gradient->memory);
    adam_step(t->adam, ++t->step, count, t->gradient->memory,
              t->mean.memory, t->square.memory, t->model.memory);
    return loss;
}

/*
All of it is [](#training)'s; only the model is larger. (The decay is for
biases and norms, too; others spare them.) Ten losses, and the first
gradient, are held against PyTorch's in the tests.

## Writing {#gpt-writing}

The logits of the last token, through softmax, are shares for what comes
next. Taking the largest each time soon goes in circles. So the next token
is drawn, each as often as its share says. Two settings make that bolder or
more careful. Logits are divided by a **temperature** first: below 1, what
is large gains; above 1, all become more alike. And with **top-k**, all but
the `k` largest are hidden.

**Exercise 21.3** (★★, 3 points): `top_k`. Minus infinity in place of
all logits below the `k`-th largest. Those that are equal to it stay, be
they more than `k`.

::: hint
Where is the limit? The largest of all; then the largest of those below it;
and so on, until so many have been found. How many are equal to each counts.
:::

::: hint
A loop that looks for the largest below `limit`, counts how often it is
there, and makes it the new `limit`, until the count has reached `k`. A
first limit of infinity would pass over an infinite logit. Every comparison
with NaN is false: begin with `NAN`, and ask `!(logits[i] >= limit)`.
:::

::: done
A model gives a little to everything, and a thousand times a little is much:
this takes the tail away.
:::
*/

void top_k(int n, int k, float logits[n])
{
    if (k < 1 || k > n)
        REFUSE("the %d largest of %d: from 1 to %d are needed", k, n, n);
    float limit = NAN; /* x >= NAN is false for each x: all are below */
    for (int found = 0; found < k && limit != -INFINITY;) {
        float next = -INFINITY; /* the largest below the limit */
        for (int i = 0; i < n; i++)
            if (!(logits[i] >= limit) && logits[i] > next)
                next = logits[i];
        for (int i = 0; i < n; i++)
            found += logits[i] == next;
        limit = next;
    }
    for (int i = 0; i < n; i++)
        if (logits[i] < limit)
            logits[i] = -INFINITY;
}

/*
To draw one of several by their shares, PyTorch lets each of them wait for a
random time, the shorter the larger its share, and takes the one that comes
first. If $z$ is random from 0 to 1, $-\ln(1 - z)$ divided by the share is
such a time (it is an exponential waiting time, as that of a bus that comes
whenever it likes), and the smallest of these belongs to each as often as
its share says. So one draw takes a random number for each token:
*/

int sample_token(Random *r, int n, const float shares[n])
{
    int best = -1;
    float most = 0;
    for (int i = 0; i < n; i++) {
        const float wait = (float)-log1p(-random_double(r));
        if (!(shares[i] >= 0 && shares[i] <= FLT_MAX))
            REFUSE("share %d is %g: one from 0 on, and finite, is needed",
                   i, (double)shares[i]);
        if (shares[i] / wait > most) {
            most = shares[i] / wait;
            best = i;
        }
    }
    if (best < 0)
        REFUSE("%d shares, and none above 0: one is needed", n);
    return best;
}

int next_token(Random *r, float temperature, int k, int n, float logits[n],
               float shares[n])
{
    if (!(temperature > 0))
        REFUSE("a temperature of %g: one above 0 is needed",
               (double)temperature);
    for (int i = 0; i < n; i++)
        logits[i] /= temperature;
    if (k)
        top_k(n, k, logits);
    softmax(n, logits, shares);
    return sample_token(r, n, shares);
}

/* How often each of five is drawn, in ten thousand draws. */
static void show_draws(void)
{
    const float shares[5] = {0.5f, 0.25f, 0.125f, 0.125f, 0};
    int count[5] = {0};
    Random r = random_seeded(123);
    for (int i = 0; i < 10000; i++)
        count[sample_token(&r, 5, shares)]++;
    print_integers("10000 draws by 1/2, 1/4, 1/8, 1/8, 0", 5, count);
}

static void show_settings(void)
{
    const float logits[5] = {2, 1, 0.5f, 0, -1};
    const float temperature[4] = {1, 0.5f, 2, 1};
    float table[4][5], own[5];
    Random r = random_seeded(123);
    for (int i = 0; i < 4; i++) {
        memcpy(own, logits, sizeof own);
        next_token(&r, temperature[i], i == 3 ? 2 : 0, 5, own, table[i]);
    }
    print_matrix("shares: as they are, colder, hotter, the 2 largest", 4, 5,
                 table);
}

/*
``` output
10000 draws by 1/2, 1/4, 1/8, 1/8, 0 (5)
[5034, 2434, 1286, 1246,    0]
shares: as they are, colder, hotter, the 2 largest (4, 5)
[[0.5630, 0.2071, 0.1256, 0.0762, 0.0280],
 [0.8292, 0.1122, 0.0413, 0.0152, 0.0021],
 [0.3745, 0.2272, 0.1769, 0.1378, 0.0836],
 [0.7311, 0.2689, 0.0000, 0.0000, 0.0000]]
```

To write is to do so again and again. At first the whole beginning goes
through the model, and then each token that has been drawn, by itself: the
cache has the rest ([](#kv-cache)).
*/

void gpt_generate(const Gpt *g, Random *r, float temperature, int k,
                  int begun, int n, int ids[n])
{
    const int size = g->vocabulary;
    if (begun < 1 || begun > n)
        REFUSE("%d tokens, of which %d are there: from 1 to %d that are "
               "there are needed",
               n, begun, n);
    KVCache *cache = new_aligned((size_t)g->layers, sizeof *cache);
    gpt_caches_init(cache, g);
    float *shares = new_table(1, size);
    for (int from = 0, till = begun; till < n; from = till++) {
        GptPass p;
        gpt_pass_init(&p, g, 1, till - from);
        const size_t last = (size_t)(till - from - 1) * (size_t)size;
        gpt_forward(g, cache, ids + from, &p);
        ids[till] =
            next_token(r, temperature, k, size, p.logits + last, shares);
        gpt_pass_free(&p);
    }
    gpt_caches_free(cache, g);
    free(cache);
    free(shares);
}

/*
Now everything is there. A model with two blocks, a width of 40 and a
context of 32 reads three hundred batches of eight pieces:
*/

enum { STEPS = 300 };

/* What the model writes, as far as its context reaches. */
static void show_sample(const char *label, const Gpt *g)
{
    char *text = new_list((size_t)g->context_length + 1, 1);
    gpt_sample(g, g->context_length, text);
    printf("%s: %s\n", label, text);
    free(text);
}

static void show_small(void)
{
    enum { TEXTS = 8, CONTEXT = 32 };
    Gpt model = {.vocabulary = 128, .context_length = CONTEXT, .width = 40};
    model.n_heads = model.layers = 2;
    GptTraining t, sizes = {.model = model, .texts = TEXTS, .steps = STEPS};
    sizes.adam = (Adam){0, 0.9, 0.95, 1e-8, 0.1, 0};
    sizes.random = random_seeded(123);
    sizes.bytes = prose_length;
    sizes.text = prose;
    int ids[TEXTS * CONTEXT], targets[TEXTS * CONTEXT];
    float losses[4], held[4];
    gpt_training_init(&t, &sizes);
    print_integers(
        "parameters, bytes to learn from, held out", 3,
        (int[]){(int)t.model.count, prose_length, held_out_length});
    print_value("ln(128)", logf(128));
    show_sample("before", &t.model);
    for (int step = 0; step < STEPS; step++) {
        t.adam.learning_rate = rate_at(step, STEPS / 10, STEPS, 3e-3, 3e-4);
        gpt_training_batch(&t, ids, targets);
        const float loss = gpt_training_step(&t, ids, targets);
        if (step % 100 == 0 || step == STEPS - 1) {
            losses[(step + 1) / 100] = loss;
            held[(step + 1) / 100] =
                gpt_loss(&t.model, held_out, 4000, &t.pass[0], t.shares[0]);
        }
    }
    /* More decimals would not be the same on every processor. */
    print_rounded("loss at steps 1, 101, 201, 300", 2, 4, losses);
    print_rounded("on text held out", 2, 4, held);
    show_sample("after", &t.model);
    gpt_training_free(&t);
}

/*
``` output
parameters, bytes to learn from, held out (3)
[ 45920, 195684,  21067]
ln(128): 4.8520
before: The ?{$",r?yT`R}F?g(|V?7).nyy?MT
loss at steps 1, 101, 201, 300 (4)
[4.86, 2.77, 2.56, 2.48]
on text held out (4)
[4.86, 2.88, 2.65, 2.60]
after: The wira rs The is pithes. thand
```

A model that knows nothing gives each of 128 bytes the same share, and
$\ln(128)$ is where its loss begins. After three hundred steps it knows
which letters are frequent, that there are blanks, and what often follows a
*t*. That is no language yet. (Each loss is that of one batch, and some
batches are harder. They have two decimals here: each step builds on the one
before, and after some hundreds of them another processor, which adds up in
another order, differs in the fifth or sixth.)

## The long run {#gpt-run}

How long until it is? `make train` has a model read that is twenty times as
large, in more and longer pieces. It prints where it stands, and saves now
and then. Ctrl-C saves and ends it, and `make train` again goes on, to the
last bit. (The file holds the means of Adam, too, the generator's state, and
the order in which the pieces come. Such a **checkpoint** is written whole
or not at all.) At the end it writes into `src/trained.h` what this page
shows; so after a run of your own, `make` says that the page tells of
another one. This was one of them:
*/

/* The loss, on the text itself, of tables that know how often each byte
 * comes, and how often each comes behind each. */
static void show_tables(void)
{
    static int single[128], pair[128][128];
    double losses[2] = {0};
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (int i = 0; i + 1 < prose_length; i++) {
        single[(int)prose[i]]++;
        pair[(int)prose[i]][(int)prose[i + 1]]++;
    }
    for (int i = 0; i + 1 < prose_length; i++) {
        const int was = prose[i], is = prose[i + 1];
        losses[0] -= log((double)single[is] / prose_length);
        losses[1] -= log((double)pair[was][is] / single[was]);
    }
    print_vector("loss of a table of bytes, and of pairs of bytes", 2,
                 (float[]){(float)(losses[0] / prose_length),
                           (float)(losses[1] / prose_length)});
}

/* What the long run has written down of itself. */
static void show_run(void)
{
    const Gpt *g = &trained_run.model;
    print_integers("steps, pieces, context, width, heads, blocks", 6,
                   (int[]){trained_run.steps, trained_run.texts,
                           g->context_length, g->width, g->n_heads,
                           g->layers});
    print_integers("parameters, seconds, tokens a second", 3,
                   (int[]){(int)gpt_count_parameters(g), trained_seconds,
                           trained_tokens_per_second});
    printf("on %s, %s\n", trained_on, trained_at);
}

/* And at some of its steps. */
static void show_run_steps(void)
{
    const int n = trained_count;
    const char *at[n];
    char label[n][16];
    float losses[2][n];
    for (int i = 0; i < n; i++) {
        const float *row = trained_losses[i];
        snprintf(label[i], sizeof *label, "%.0f", row[0]);
        at[i] = label[i];
        losses[0][i] = row[1];
        losses[1][i] = row[2];
    }
    print_matrix("step, loss on text read, on text held out", n, 3,
                 trained_losses);
    printf("what it writes at some of these steps\n");
    for (int i = 0; i < n; i += i < 4 ? 2 : 3)
        printf("%s: %.60s\n     %.66s\n", at[i], trained_samples[i],
               trained_samples[i] + 60);
    figure_curves("losses", "The loss, step by step",
                  (const char *const[]){"on text read", "on text held out"},
                  n, at, losses);
}

/*
``` output
steps, pieces, context, width, heads, blocks (6)
[500,  16, 128, 160,   5,   3]
parameters, seconds, tokens a second (3)
[969120,    139,   8848]
on AMD EPYC, 2 threads, 2026-11-22
```

``` output
step, loss on text read, on text held out (11, 3)
[[  1.0000,   4.7624,   4.7672],
 [ 50.0000,   2.5047,   2.5482],
 [100.0000,   2.4379,   2.4860],
 [150.0000,   2.3913,   2.4449],
 [200.0000,   2.3278,   2.4017],
 [250.0000,   2.1939,   2.2704],
 [300.0000,   1.9654,   2.0559],
 [350.0000,   1.7960,   1.8975],
 [400.0000,   1.6718,   1.7984],
 [450.0000,   1.5931,   1.7265],
 [500.0000,   1.5489,   1.6927]]
what it writes at some of these steps
1: The q{$".r?y!VR}F?g((V?7).nH??MT?i}Z?L?a|?L.**Yi???(<?E??^Y"
     ?)'1Y?????C#y??}?[??&<BB???l`1"Q?s{?xO?sjU|Y?$???23U\?.u?Q7?G}aE?k
100: The wis ors The is l thes. thand ithe, are ts is co oralulof
      its w ass ry che the n s s a " ts the san atholeneyos. ma ithas s
200: The wis bonyThe is lof an. thand it t, arer * is an oralind 
     t withanus ricerent f n is lad"A s the saneat oleney s. ma ithas k
350: The with row of it lis any the hast tabargr. *Hide what is* 
     tike way sloy gish to no of the the lowser and is seas. Ting *as k
500: The side row the see scores. What les, and the is of a liste
     p with a sloper. The ra is lasch sum besides to andom funt its see
```

![The loss on what was read, and on as much text held
out](losses.svg){#fig-gpt-losses}

Why does one's own first model write gibberish? Look at the loss. Without
any model, a table of how often each byte comes would have a loss of 3.10 on
this text, and a table of which byte follows which 2.38:

``` output
loss of a table of bytes, and of pairs of bytes (2)
[3.0974, 2.3798]
```

For some hundred steps the model stands where pairs take it, and as long as
it does, there cannot be words. Then the loss falls on. Attention has begun
to find what stands before, letters become words, and at the end most of
what it writes are words of this book, in an order that says nothing.
(Samples are drawn at a temperature of 0.8, each with the same random
numbers; a bar is the end of a paragraph.)

Has it learned by heart? In all it has read
$500 \cdot 16 \cdot 128 = 1{,}024{,}000$ bytes, each paragraph five times.
After a hundred steps the two losses are $2.4860 - 2.4379 = 0.0481$ apart,
as no two texts are equally hard; at the end,
$1.6927 - 1.5489 = 0.1438$. What has come to it is what the model knows of
this text, and not of its language. It is little still.

The model is kept, in `build/gpt.safetensors`. It goes on with what it is
given, byte by byte, here with *The* and a blank:

``` sh
make -s run-21 ARGS="--write 80 build/gpt.safetensors 84 104 101 32"
```

## GPT-2 itself {#gpt-gpt2}

The smallest of OpenAI's GPT-2 models has this very shape [@radford2019].
What makes it what it is are these sizes. A token is a piece of a word:
*/

static void show_gpt2(void)
{
    Gpt g = {.vocabulary = 50257, .context_length = 1024, .width = 768};
    g.n_heads = g.layers = 12;
    print_integers("GPT-2: tokens, context, width, heads, blocks", 5,
                   (int[]){g.vocabulary, g.context_length, g.width,
                           g.n_heads, g.layers});
    print_integers("parameters", 1, (int[]){(int)gpt_count_parameters(&g)});
}

/*
``` output
GPT-2: tokens, context, width, heads, blocks (5)
[50257,  1024,   768,    12,    12]
parameters (1)
[124439808]
```

Its numbers are public. They are two files, of half a gigabyte and of a
kilobyte:

``` sh
from=https://huggingface.co/openai-community/gpt2/resolve/main
curl -LO $from/model.safetensors
curl -LO $from/config.json
make -s run-21 ARGS="model.safetensors 464 3290"
```

The program takes the sizes from the tables' shapes, only the number of
heads from `config.json`, and prints the logits of what comes next. The ids
of a text are made by a tokenizer, such as OpenAI's `tiktoken`. With `--map`
and the numbers of a layer and a head in front of the file, it prints the
weights of that head. In many of them each token looks at the one before, or
at the first one of all.

If what comes out is garbage, the numbers stand in the wrong places: in this
layout a layer's table is `[in][out]`, turned over against `nn.Linear`, and
queries, keys and values are one table of three parts. One cannot see that
in the logits. So compare block by block, from below: the first table that
differs names the layer. The tests do just this, with a small model of that
layout, made by PyTorch, and each table of each block.
*/

/*
## Everything together

With `train`, a file for the training and one for its log, the program makes
the long run, or goes on with it; six numbers behind these are sizes of your
own (`make train SIZES="200 8 64 64 2 2"`). With a model's file and ids, it
reads GPT-2, or what was trained, and writes.
*/

/* The long run, or one of other sizes. */
static void show_training(const char *path, const char *log, int count,
                          char *const size[count])
{
    GptTraining run = gpt_long_run;
    Gpt *g = &run.model;
    int *const of[6] = {&run.steps, &run.texts,  &g->context_length,
                        &g->width,  &g->n_heads, &g->layers};
    const char *const name[6] = {"steps",     "pieces", "the context",
                                 "the width", "heads",  "blocks"};
    for (int i = 0; i < count; i++)
        *of[i] = (int)parse_integer(name[i], size[i], 1, 1 << 20);
    gpt_run(&run, path, log);
}

/* The weights of head h, by chapter 13's attention, which keeps them. */
static void show_map(const Attention *a, int n, const float x[n][a->d_x],
                     int h)
{
    Trace t;
    trace_init_for(&t, a, n, n);
    attention_forward(a, mask_causal(0), NULL, n, n, x, x, &t);
    print_matrix("attention weights", n, n, TABLES(n, n, t.weights)[h]);
    trace_free(&t);
}

/* The ids of a text, and so many more that the model writes: bytes as they
 * are, other tokens as numbers. */
static void show_written(const Gpt *g, int begun, int n, int ids[n])
{
    Random r = random_seeded(123);
    gpt_generate(g, &r, 0.8f, 0, begun, n, ids);
    for (int i = 0; i < n; i++)
        printf(g->vocabulary == 128 ? "%c" : "%d ", ids[i]);
    puts("");
}

/* A model's file, and the ids of a text: the logits of what comes next; or
 * in front of these --map and the numbers of a layer and a head, or --write
 * and how many tokens more. */
static void show_next(int count, char *const word[count])
{
    const int is_map = !strcmp(word[0], "--map");
    const int writes = !strcmp(word[0], "--write");
    const int at = is_map ? 3 : writes ? 2 : 0;
    if (count < at + 2)
        REFUSE("%d arguments: [--map LAYER HEAD or --write TOKENS] FILE "
               "ID ... are needed",
               count);
    Gpt g;
    gpt_load(&g, word[at]);
    const int n = count - at - 1;
    const uint64_t length = (uint64_t)g.context_length;
    const int more =
        writes ? (int)parse_integer("TOKENS", word[1], 1, length) : 0;
    int *ids = new_aligned((size_t)(n + more), sizeof *ids);
    for (int i = 0; i < n; i++)
        ids[i] = (int)parse_integer("an id", word[at + 1 + i], 0,
                                    (uint64_t)g.vocabulary - 1);
    GptPass p;
    gpt_pass_init(&p, &g, 1, n);
    gpt_forward(&g, NULL, ids, &p);
    if (writes)
        show_written(&g, n, n + more, ids);
    else if (is_map) {
        const int l = (int)parse_integer("the layer", word[1], 0,
                                         (uint64_t)g.layers - 1);
        const int h = (int)parse_integer("the head", word[2], 0,
                                         (uint64_t)g.n_heads - 1);
        show_map(&g.block[l].attention, n,
                 ROWS(g.width, p.block[l].normed_1), h);
    } else
        print_vector("logits of the next token", g.vocabulary,
                     p.logits + (size_t)(n - 1) * (size_t)g.vocabulary);
    gpt_pass_free(&p);
    gpt_free(&g);
    free(ids);
}

static void show_chapter(void)
{
    figure_pipeline("pipeline",
                    "words vectors roles scores scale mask weights "
                    "context heads");
    show_norm();
    show_gelu();
    show_tied();
    show_spread();
    show_draws();
    show_settings();
    show_small();
    show_run();
    show_run_steps();
    show_tables();
    show_gpt2();
}

int main(int argc, char *argv[])
{
    if ((argc == 4 || argc == 10) && !strcmp(argv[1], "train"))
        show_training(argv[2], argv[3], argc - 4, argv + 4);
    else if (argc > 1)
        show_next(argc - 1, argv + 1);
    else
        show_chapter();
    return 0;
}

/*
The parts in PyTorch:

``` python
import torch
import torch.nn.functional as F

x = torch.tensor([[1., 2, 3, 6], [101, 102, 103, 106], [10, 20, 30, 60]])
print(F.layer_norm(x, (4,)))

x = torch.arange(-3., 4, requires_grad=True)
y = F.gelu(x, approximate="tanh")
y.sum().backward()
print(torch.stack([y, x.grad]).detach())

logits = torch.tensor([2, 1, 0.5, 0, -1])
limit = logits.topk(2)[0][-1]
kept = logits.masked_fill(logits < limit, -torch.inf)
settings = [logits, logits / 0.5, logits / 2, kept]
print(F.softmax(torch.stack(settings), dim=-1))
```

## The end

You began with two lists of numbers and one product. What reads and writes
here is made of nothing else: of products, of shares, and of slopes that say
how all of it should be a little different. Each number on the way is one
that PyTorch gives as well.

Models that people talk with are larger by five or six powers of ten, and
differ in parts. Their tokens are pieces of words. They rotate queries and
keys instead of adding a table of places ([](#positions)), let heads share
keys ([](#kv-cache-groups)), divide by the spread without taking the mean
away, multiply two layers in the network instead of bending one, and often
keep many networks, of which each token takes a few. They read trillions of
tokens on thousands of processors, in numbers of 16 bits and fewer. And
after that they are trained again, on answers that people have found good.
None of this is in the book. But where you meet it, it stands in a block, on
a sum, beside an attention, and you know how to find out what it does: give
it small numbers, try each of them a little larger, and compare.

## Further exercises

**Exercise 21.4** (★★, challenge, 3 points): `top_p`. Another way to cut
off the tail, known as *top-p*: of some shares the largest, as few as add up
to at least `p`, stay as they are; 0 takes the place of the others. Those
that are equal to the smallest that stays, stay, too. It refuses a `p` that
is not above 0 and at most 1.

::: hint
`top_k` in [](#gpt-writing) counts what it has found. Here it is
added up, in a `double`.
:::

::: done
Where the model is sure, one token is left; where it is not, many: the cut
goes by what it knows.
:::

**Exercise 21.5** (by hand): Where are the 124,439,808 parameters of GPT-2
([](#gpt-gpt2))? How many has a block, and how many are there besides?

**Exercise 21.6** (by hand): A text of three tokens has been read, of a
vocabulary of 50,257, and nothing is tied. How many rows of the table of
embeddings have a gradient other than 0? And if the table is tied?

## Solutions

::: {.solution exercise="21.4"}
*/

void top_p(int n, float p, float shares[n])
{
    if (!(p > 0 && p <= 1))
        REFUSE("p = %g: a probability above 0, and at most 1, is needed",
               (double)p);
    float limit = INFINITY;
    for (double sum = 0; sum < (double)p && limit > 0;) {
        float next = 0;
        for (int i = 0; i < n; i++)
            if (shares[i] < limit && shares[i] > next)
                next = shares[i];
        for (int i = 0; i < n; i++)
            sum += shares[i] == next ? (double)next : 0;
        limit = next;
    }
    for (int i = 0; i < n; i++)
        if (shares[i] < limit)
            shares[i] = 0;
}

/*
:::

::: {.solution exercise="21.5"}
A block has two norms of a weight and a bias, each of 768; four layers in
attention, of $768 \cdot 768$ and 768; and two in the network, of
$4 \cdot 768 \cdot 768$, with $4 \cdot 768 = 3{,}072$ and 768 biases:
$12 \cdot 768 \cdot 768 + 13 \cdot 768 = 7{,}087{,}872$. Twelve of these,
the tables of tokens and of places, and the last norm:
$12 \cdot 7{,}087{,}872 + 50{,}257 \cdot 768 + 1{,}024 \cdot 768 +
2 \cdot 768 = 124{,}439{,}808$. Almost a third is the table of tokens.
:::

::: {.solution exercise="21.6"}
At most three, those that were looked up. If the table is tied, all 50,257:
each token got a share of what comes next, and its row is told to take less,
or, for the right one, more.
:::
*/
