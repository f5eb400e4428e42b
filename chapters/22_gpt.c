/*
# The GPT Transformer: blocks that add {#gpt}

![The way from words to attention. All of it is one step of a model, and is
taken again and again](pipeline.svg){#fig-gpt-pipeline}

We have an attention that learns ([](#training)), and one that is fast
([](#flash-backward)). What is still missing is depth. One attention looks
once: it finds the token before, or the subject of a verb. To find *the verb
of the clause before this one*, one attention has to find the clause, and
another one the verb in it. So attentions must be stacked.

The one idea of this chapter is what they are stacked on. Each token has a
list of numbers, from the first step to the last. Nothing ever replaces it.
Each part of the model reads the list, and **adds** what it has found. At
the end, what comes next is read from the sum. That is all there is to GPT-2
[@radford2019]. Here it is built, and the tests check all of it against
PyTorch; [](#language-model) will train it on this book.
*/

#include "attention/22_gpt.h"
#include "attention/06_scaling.h"
#include "attention/kernel.h"
#include "attention/20_optimizers.h"
#include "support.h"

/*
## The block {#gpt-block}

[](#multi-head-residual) has added what attention finds to what the token
was: a residual connection. A **block** does so twice. First attention
carries something over from other tokens. Then a small network works on each
token by itself: a linear layer to four times the width, a function that
bends, and a linear layer back. (Without the bend, two linear layers would
be one: $xAB$ is the product of $x$ with the one matrix $AB$. Attention
fetches what other tokens have; the network is where a model keeps what it
knows besides.)

::: {.header of="GptBlock GptBlockPass"}
:::

A `GptBlockPass` is to a block what a trace is to an attention. Attention
and the network both read the sum through a layer norm, and between its
linear layers the network bends by `gelu`: the next two sections have both.
The sum itself is changed by `add` alone. (`linear_forward_fast` and
`attention_forward_fast` are those of [](#self-attention) and
[](#multi-head) by the kernel, for all texts of a batch at once; they are in
`src/kernel/layers.c`, and may be skipped.)
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
Where a text is written token by token, its last tokens ask the cache of
[](#kv-cache) instead. `attend_cached`, in `src/gpt.c`, does so; it may be
skipped, since it only calls other functions one after the other.

::: question
What does a block do whose layers `out` and `down` hold nothing but 0?

Nothing. Both parts add 0, and the sum goes through unchanged. So a block
that has found nothing need not repeat what is there.
:::

On the way back, a sum hands its gradient on to both that were added,
unchanged: if the sum grows by a little, it does not matter which of the two
has grown. So the slope of the loss reaches the first block past all others,
however many there are; each block adds its own part to this slope.
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
::: {.header of="Norm"}
:::

**Exercise 22.1** (★★, 3 points): `norm_forward`. Each row with its mean
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

Three rows, one result. Now backwards. Let $z$ be the normed row, before
weight and bias, and $g_k$ the slope of the loss by $z_k$: that of the
output, times the weight. (The weight's own slope is that of the output
times $z_k$, and the bias has that of the output.) Raise $x_j$ by a small
$s$. Three things happen.

- $z_j$ gains $r s$.
- The mean gains $s / d$. So each entry of $z$ loses $r s / d$.
- The sum of the squares grows by $2 (x_j - \mu)\, s$, nearly, and their
  mean by $2 (x_j - \mu)\, s / d$. As $x_j - \mu$ is $z_j / r$, and what
  stands under the root is $1 / r^2$, the latter becomes $1 + 2 r z_j s / d$
  times as large, and the root nearly $1 + r z_j s / d$ times: the square of
  this number is the one above, plus a term with $s^2$. Each $z_k$ is
  divided by it, and loses $z_k\, r z_j s / d$.

(That the mean moves changes each square, but not their sum: the differences
from the mean add up to 0.) Each change times the slope of its entry, and
all added up:

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
    norm_gradient_check(l, grad_l);
    for (int i = 0; i < n; i++) {
        double moved = 0, stretched = 0;
        measure_row(d, x[i], &mean, &scale);
        for (int k = 0; k < d; k++) {
            const float z = (x[i][k] - mean) * scale;
            const float g = grad_out[i][k] * l->weight[k];
            grad_l->weight[k] += grad_out[i][k] * z;
            grad_l->bias[k] += grad_out[i][k];
            moved += (double)g;
            stretched += (double)(g * z);
        }
        for (int k = 0; k < d; k++) {
            const float z = (x[i][k] - mean) * scale;
            const float g = grad_out[i][k] * l->weight[k];
            grad_x[i][k] += scale * (g - (float)(moved / d) -
                                     z * (float)(stretched / d));
        }
    }
}

/*
## GELU {#gpt-gelu}

The function that bends: **GELU** multiplies each number by a share that
grows with it [@hendrycks2016]. Far above 0 the share is 1, and the number
passes; far below it is 0. GPT-2's share is the softmax of two scores, $u$
and 0, which is $e^u / (e^u + 1) = 1 / (1 + e^{-u})$ and is called the
**sigmoid** of $u$. With $u = \sqrt{8/\pi}\,(x + 0.044715\, x^3)$, where the
root is 1.5957691, the share comes close to the share of normal numbers
([](#tokens-normal)) that lie below $x$. (Books write it with $\tanh$; that
is the same number. PyTorch's default is the share of normal numbers itself,
which differs in the fourth decimal: `approximate="tanh"` asks for this
one.) `sigmoid`, in `src/gpt.c`, takes all shares of a list at once, with
the fast powers of [](#kernel-exp2); how it does so may be skipped.
*/

void gelu(int n, const float x[n], float share[n], float out[n])
{
    for (int i = 0; i < n; i++)
        share[i] = 1.5957691f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
    sigmoid(n, share);
    for (int i = 0; i < n; i++)
        out[i] = x[i] * share[i];
}

/*
**Exercise 22.2** (★★, 3 points): `gelu_backward`. The gradient by `x`,
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
$\sqrt{8/\pi}\,(1 + 3 \cdot 0.044715\, x^2)\, s$. This is how far `u`
grows, not yet the loss; `grad_out` brings the loss in.
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

Before the first block, a token is looked up in a table, and its place in
another ([](#tokens), [](#positions)). After the last one, and a last norm,
its list must become one logit for each token that may come next. That is a
linear layer, and its weight has a row for each token, as the table of
embeddings has. So GPT-2 takes the same table for both: **tied weights**
[@press2017]. The logit of a token is how well the sum goes together with
its embedding.

::: {.header of="Gpt"}
:::

All parameters lie in one piece of memory, and a gradient is another `Gpt`.
With `output.weight` and `tokens` at one place, nothing has to be done for
the tie: each adds its gradient to what is there, and `+=` is enough. Nor is
anything handed from one block to the next: the `in` of the next block
points to the `after` of this one. They are one table, and their gradients
are one, too. (All gradients are 0 at first.) `gpt_embed` and
`gpt_embed_backward`, in `src/gpt.c`, look up tokens and places, as
[](#training-model) did, and may be skipped.
*/

void gpt_forward(const Gpt *g, KVCache *cache, const int *ids, GptPass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    gpt_pass_check(g, cache, p);
    gpt_embed(g, cache ? (int)cache->count : 0, ids, p);
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
    gpt_gradient_check(g, p, grad_g, grad_p);
    linear_backward_fast(&g->output, rows, ROWS(d, p->normed),
                         ROWS(g->output.d_out, grad_p->logits),
                         &grad_g->output, ROWS(d, grad_p->normed));
    norm_backward(&g->last, rows, ROWS(d, p->block[top].after),
                  ROWS(d, grad_p->normed), &grad_g->last,
                  ROWS(d, grad_p->block[top].after));
    for (int l = top; l >= 0; l--)
        block_backward(&g->block[l], p->texts, p->n, &p->block[l],
                       &grad_p->block[l], &grad_g->block[l]);
    gpt_embed_backward(g, ids, grad_p, grad_g);
}

/*
Here is the tie at work: a small model with six tokens, of which it has seen
three. The text is the tokens 0, 1 and 2, and the right answers are 1, 2 and
3. Below is the gradient of each token's first entry. In the first two rows
the tables are apart: as looked up, and as output. In the third they are
one:
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

The third row is the sum of the other two, but for a last digit that was
rounded. And the last two tokens, which stand nowhere in the text and are no
answer either, have a gradient all the same: the model has given each a
share, and is told to give less.

The smallest of OpenAI's GPT-2 models has this very shape [@radford2019].
Its tokens are pieces of words, and its sizes are these:
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

## How it begins {#gpt-begin}

GPT-2's weights are drawn from normal numbers with a deviation of 0.02,
biases are 0, norms begin with weight 1. With one exception: the weights of
the layers that add to the sum, attention's `out` and the network's `down`,
are divided by $\sqrt{2 \cdot \text{layers}}$.

(`gpt_fill`, in `src/gpt.c`, draws them in the order of PyTorch's
`named_parameters()`. It is a list of layers, and may be skipped.)

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

![The spread of the sum at the beginning and after every other of twelve
blocks, with the numbers that a model begins
with](spread.svg){#fig-gpt-spread}

Divided, the sum grows by a quarter on its way through twelve blocks; not
divided, to almost four times its size, and what the token was is drowned.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline",
                    "words vectors roles scores scale mask weights "
                    "context heads");
    show_norm();
    show_gelu();
    show_tied();
    show_gpt2();
    show_spread();
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
```

Here is a model, and the way back through it to every parameter. What it
lacks is a text to read, and a way from its logits to words:
[](#language-model).

## Further exercises

**Exercise 22.3** (by hand): Where are the 124,439,808 parameters of GPT-2
([](#gpt-model))? How many has a block, and how many are there besides?

**Exercise 22.4** (by hand): A text of three tokens has been read, of a
vocabulary of 50,257, and nothing is tied. How many rows of the table of
embeddings have a gradient other than 0? And if the table is tied?

## Solutions

::: {.solution exercise="22.3"}
A block has two norms of a weight and a bias, each of 768; four layers in
attention, of $768 \cdot 768$ and 768; and two in the network, of
$4 \cdot 768 \cdot 768$, with $4 \cdot 768 = 3{,}072$ and 768 biases:
$12 \cdot 768 \cdot 768 + 13 \cdot 768 = 7{,}087{,}872$. Twelve of these,
the tables of tokens and of places, and the last norm:
$12 \cdot 7{,}087{,}872 + 50{,}257 \cdot 768 + 1{,}024 \cdot 768 +
2 \cdot 768 = 124{,}439{,}808$. Almost a third is the table of tokens.
:::

::: {.solution exercise="22.4"}
At most three, those that were looked up. If the table is tied, all 50,257:
each token got a share of what comes next, and its row is told to take less,
or, for the right one, more.
:::
*/
