/*
# The GPT Transformer: blocks that add {#gpt}

![The way from words to attention. All of it is one step of a model, and is
taken again and again](pipeline.svg){#fig-gpt-pipeline}

We have an attention that learns ([](#training)), and one that is fast
([](#flash-backward)). What is still missing is depth. One attention looks
once: it finds the token before, or the subject of a verb. To find *the verb
of the clause before this one*, a first attention has to find the clause,
and a second one the verb in that clause. So attentions must be stacked.

The one idea of this chapter is how attentions are stacked. Each token has a
list of numbers, from the first part of the model to the last. No part ever
replaces this list. Each part reads the list, and **adds** to it what the
part has found. So the list is a sum, and at the end the model reads from
this sum which token comes next. GPT-2 [@radford2019] is nothing more. Here
we build it, and the tests check all of it against PyTorch.
[](#language-model) will train such a model on this book.
*/

#include "attention/22_gpt.h"
#include "attention/04_scaling.h"
#include "attention/20_optimizers.h"
#include "attention/gpt.h"
#include "attention/layers.h"
#include "support.h"

/*
## The block {#gpt-block}

[](#multi-head-residual) has added the result of attention to the token's
own list. Such an addition is a residual connection. A **block** has two of
them. First attention brings something from other tokens. Then a small
network works on each token by itself: a linear layer to four times the
width, a function whose graph is bent, and a linear layer back to the width.
(The bend is needed. Without it, the two linear layers would be a single
one: $xAB$ is the product of $x$ with the one matrix $AB$.)

::: {.header of="GptBlock GptBlockPass"}
:::

A `GptBlockPass` holds all that a block computes, as a trace does for an
attention. Attention and the network do not read the sum itself. They read
it through a layer norm, which is the subject of the next section. The bent
function between the two linear layers is `gelu`, which the section after
that explains. Only `add` changes the sum. Before each addition stands a
call of `gpt_drop`, in `src/gpt.c`, which may be skipped. While a model is
trained with dropout ([](#language-model-dropout)), the pass holds two
masks, `keep_1` for attention and `keep_2` for the network, and `gpt_drop`
applies them, as [](#dropout) has done to weights. Otherwise there are no
masks, and all entries stay. (`linear_forward_fast` and
`attention_forward_fast` compute what `linear_forward` and
`attention_forward` compute, but with the kernel, and for all texts of a
batch at once. They are in `src/layers.c`, and may be skipped.)
*/

static void add(int n, const float x[n], const float y[n], float sum[n])
{
    for (int i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

static void block_forward(const GptBlock *b, int texts, int n,
                          KVCache *cache, GptBlockPass *p)
{
    const int d = b->norm_1.d, rows = texts * n, size = rows * d;
    norm_forward(&b->norm_1, rows, ROWS(d, p->in), ROWS(d, p->normed_1));
    if (cache)
        attend_cached(&b->attention, cache, rows, ROWS(d, p->normed_1),
                      &p->attention);
    else
        attention_forward_fast(&b->attention, mask_causal(0), texts, n,
                               ROWS(d, p->normed_1), &p->attention);
    gpt_drop(p, p->keep_1, size, p->attention.out, p->attention.out);
    add(size, p->in, p->attention.out, p->between);

    norm_forward(&b->norm_2, rows, ROWS(d, p->between),
                 ROWS(d, p->normed_2));
    linear_forward_fast(&b->up, rows, ROWS(d, p->normed_2),
                        ROWS(4 * d, p->wide));
    gelu(4 * size, p->wide, p->share, p->active);
    linear_forward_fast(&b->down, rows, ROWS(4 * d, p->active),
                        ROWS(d, p->after));
    gpt_drop(p, p->keep_2, size, p->after, p->after);
    add(size, p->after, p->between, p->after);
}

/*
When a model writes a text token by token, the keys and values of earlier
tokens are in the cache of [](#kv-cache). Then `attend_cached`, in
`src/gpt.c`, is called instead. It only calls other functions one after the
other, and may be skipped.

::: question
What does a block do whose layers `out` and `down` hold nothing but 0?

Nothing. Attention and the network both add 0, and the sum leaves the block
as it came. So a block that has found nothing need not repeat what is there.
:::

On the way back, both terms of a sum get the gradient of the sum, unchanged:
if one term grows by a unit, the sum grows by a unit. So the slope of the
loss by the sum is handed back past all blocks to the first one, however
many there are, and each block only adds its own part to this slope. With
dropout, a term has gone through the mask before the addition: some of its
entries became 0, the others were multiplied by a factor. Their slopes,
before the mask, are 0 as well, or multiplied by the same factor. So
`gpt_drop` does with the term's gradient what it has done with the term. The
sum that goes past the block is not dropped, so it is added first. (All
tables of `grad_p` are 0 at first. The `in` of a block is the `after` of the
block before it.)
*/

static void block_backward(const GptBlock *b, int texts, int n,
                           const GptBlockPass *p, GptBlockPass *grad_p,
                           GptBlock *grad_b)
{
    const int d = b->norm_1.d, rows = texts * n, size = rows * d;
    /* after = between + down(gelu(up(normed_2))) */
    add(size, grad_p->between, grad_p->after, grad_p->between);
    gpt_drop(p, p->keep_2, size, grad_p->after, grad_p->after);
    linear_backward_fast(&b->down, rows, ROWS(4 * d, p->active),
                         ROWS(d, grad_p->after), &grad_b->down,
                         ROWS(4 * d, grad_p->active));
    gelu_backward(4 * size, p->wide, p->share, grad_p->active,
                  grad_p->wide);
    linear_backward_fast(&b->up, rows, ROWS(d, p->normed_2),
                         ROWS(4 * d, grad_p->wide), &grad_b->up,
                         ROWS(d, grad_p->normed_2));
    norm_backward(&b->norm_2, rows, ROWS(d, p->between),
                  ROWS(d, grad_p->normed_2), &grad_b->norm_2,
                  ROWS(d, grad_p->between));

    /* between = in + attention(normed_1) */
    add(size, grad_p->in, grad_p->between, grad_p->in);
    gpt_drop(p, p->keep_1, size, grad_p->between, grad_p->attention.out);
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

A sum to which every part adds grows from block to block, and in training
from step to step. A layer that reads the sum would have to cope with small
numbers as well as with large ones. **Layer norm** takes the size away
[@ba2016]. The mean $\mu$ of a row is subtracted from each entry, and then
each entry is divided by the row's spread $\sigma$. So every row has mean 0
and spread 1, whatever it was before. After that, each entry is multiplied
by a weight and gets a bias added, and both are learned:

$$\underset{n \times d}{Y}: \quad
  y_k = \frac{x_k - \mu}{\sqrt{\sigma^2 + 10^{-5}}}\, w_k + b_k$$

Here $\sigma^2$ is the mean of the squares $(x_k - \mu)^2$. The $10^{-5}$ is
there for a row of equal numbers, whose $\sigma$ is 0: without it, the row
would be divided by 0. The row's **scale**, $r$, is 1 divided by the root.
*/

static void measure_row(int d, const float x[d], double *mean, double *r)
{
    double sum = 0, squares = 0;
    for (int k = 0; k < d; k++)
        sum += (double)x[k];
    *mean = sum / d;
    for (int k = 0; k < d; k++)
        squares += (x[k] - *mean) * (x[k] - *mean);
    *r = 1 / sqrt(squares / d + 1e-5);
}

/*
::: {.header of="Norm"}
:::

**Exercise 22.1** (★★, 3 points): `norm_forward`. From each entry take away
the mean of its row, and multiply by the row's scale; `measure_row` finds
both. Then multiply by the entry's weight, and add its bias.

::: hint
`measure_row(l->d, x[i], &mean, &r)` for each row `i`, then one line for
each entry.
:::

::: done
However large the sum has become, each part of the model reads numbers of
the same size.
:::
*/

void norm_forward(const Norm *l, int n, const float x[n][l->d],
                  float y[n][l->d])
{
    double mean, r;
    for (int i = 0; i < n; i++) {
        measure_row(l->d, x[i], &mean, &r);
        for (int k = 0; k < l->d; k++)
            y[i][k] =
                (float)((x[i][k] - mean) * r * l->weight[k] + l->bias[k]);
    }
}

/* folded: how this is printed */
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

The three rows have the same result. Now the way back. Let $z$ be the normed
row, before weight and bias: $z_k = (x_k - \mu)\, r$. Let $g_k$ be the slope
of the loss by $z_k$, which is the slope of output $k$ times weight $k$.
(The slope of the weight is the slope of the output times $z_k$, and the
slope of the bias is that of the output.) Raise $x_j$ by a small $s$. Three
things happen.

- $z_j$ gains $r s$, since $x_j$ has gained $s$.
- The mean gains $s / d$. So each entry of $z$ loses $r s / d$.
- The spread grows. The square $(x_j - \mu)^2$ grows by nearly
  $2 (x_j - \mu)\, s$, so $\sigma^2$, the mean of the squares, grows by
  $2 (x_j - \mu)\, s / d$. By which factor does the number under the root
  grow? That number is $1 / r^2$, and $x_j - \mu$ is $z_j / r$. So the
  number grows by $2 z_j s / (r d)$, which is $2 r z_j s / d$ times
  itself. If a number becomes $1 + 2u$ times as large, with a small $u$,
  its root becomes nearly $1 + u$ times as large, since $(1 + u)^2 = 1 +
  2u + u^2$. So the root becomes $1 + r z_j s / d$ times as large. Each
  $z_k$ is divided by the root, and loses $z_k\, r z_j s / d$.

(The mean moves, too, and changes each square, but not the sum of the
squares: the differences from the mean add up to 0.) Now each change is
multiplied by the slope of its entry, and all of them are added up:

$$r s \Big( g_j - \frac{1}{d} \sum_{k=1}^{d} g_k
  - z_j\, \frac{1}{d} \sum_{k=1}^{d} g_k z_k \Big)$$

So the slope of $x_j$ is $r$ times the bracket: $g_j$, less the mean of all
slopes, less $z_j$ times the mean of the products of slopes and entries. The
output above has shown what the two means are for. If all entries grow by
the same amount, nothing may happen, and the first mean sees to that. If the
row is stretched, nothing may happen either, and the second mean sees to
that.
*/

void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float grad_out[n][l->d], Norm *grad_l,
                   float grad_x[n][l->d])
{
    const int d = l->d;
    double mean, r;
    norm_gradient_check(l, grad_l);
    for (int i = 0; i < n; i++) {
        double moved = 0, stretched = 0;
        measure_row(d, x[i], &mean, &r);
        for (int k = 0; k < d; k++) {
            const double z = (x[i][k] - mean) * r;
            const double g = (double)grad_out[i][k] * l->weight[k];
            grad_l->weight[k] += (float)(grad_out[i][k] * z);
            grad_l->bias[k] += grad_out[i][k];
            moved += g;
            stretched += g * z;
        }
        for (int k = 0; k < d; k++) {
            const double z = (x[i][k] - mean) * r;
            const double g = (double)grad_out[i][k] * l->weight[k];
            grad_x[i][k] += (float)(r * (g - (moved + z * stretched) / d));
        }
    }
}

/*
## GELU {#gpt-gelu}

The bent function of GPT-2 is **GELU** [@hendrycks2016]. It multiplies each
number $x$ by a share that grows with $x$. Far above 0 the share is 1, and
the number passes. Far below 0 the share is 0, and nothing passes. The share
is the softmax of two scores, $u$ and 0. Of these, $u$ gets $e^u / (e^u + 1)
= 1 / (1 + e^{-u})$, which is called the **sigmoid** of $u$. Here $u =
\sqrt{8/\pi}\,(x + 0.044715\, x^3)$, and the root is 1.5957691. Why this
$u$? With it, the share is close to the share of all normal numbers
([](#random-bell)) that lie below $x$: the root makes both rise equally
fast at 0, and 0.044715 was found by trying. (Books write the same share as
$(1 + \tanh(u/2))/2$. PyTorch's default is the share of normal numbers
itself, which differs in the fourth decimal; `approximate="tanh"` asks for
the one here.) `sigmoid`, in `src/gpt.c`, computes all shares of a list at
once, with the fast powers of [](#kernel-exp2). How it does so may be
skipped.
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
**Exercise 22.2** (★★, 3 points): `gelu_backward`. Add the gradient of `x`
to `grad_x`, from the shares that `gelu` has left.

::: hint
`out = x * share`. If `x` grows a little, `out` grows in two ways: by
`share` times as much, and by `x` times what `share` grows.
:::

::: hint
The share is a softmax of two scores. If $u$ grows, the share grows by share
times (1 minus share) times as much, by the formula of
[](#backward-softmax).
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
        const float u_by_x = 1.5957691f * (1 + 3 * 0.044715f * x[i] * x[i]);
        const float share_by_x = share[i] * (1 - share[i]) * u_by_x;
        grad_x[i] += grad_out[i] * (share[i] + x[i] * share_by_x);
    }
}

/* folded: how this is printed */
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

Before the first block, the embedding of each token and the row of its
position are looked up in two tables and added ([](#tokens),
[](#positions)). After the last block comes one more norm, and then each
token's list must become logits, one for each token that may come next. A
linear layer does that. Its weight has a row for each token of the
vocabulary, as the table of embeddings has. So GPT-2 uses one table as both:
**tied weights** [@press2017]. The logit of a token is then the dot product
of the last norm's result and the token's embedding.

::: {.header of="Gpt"}
:::

All parameters lie in one block of memory, and a gradient is another `Gpt`.
The pointers `output.weight` and `tokens` point to the same table. So on the
way back nothing special has to be done for tied weights: the output layer
and the embedding both add their gradients to this table, with `+=`. In the
same way, the pointer `in` of a block points to the table `after` of the
block before it, and so nothing has to be copied from one block to the next.
`gpt_embed` and `gpt_embed_backward`, in `src/gpt.c`, look up tokens and
positions as [](#training-model) did, and may be skipped.
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
A small model shows what tied weights do to the gradient. It knows six
tokens. Its text is the tokens 0, 1 and 2, and the right answers are 1, 2
and 3. The output has a column for each token, with the gradient of the
first entry of its embedding. In the first two rows the model has two
tables: the first row is for the table of embeddings, the second for the
output's weight. In the third row the two are one table:
*/

/* folded: how this is printed */
static void table_gradients(Gpt *g, float *by_input, float *by_output)
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
    table_gradients(&apart, table[0], table[1]);
    table_gradients(&g, table[2], table[2]);
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

The third row is the sum of the other two, but for last digits that were
rounded. The tokens 4 and 5 are neither in the text nor among the answers,
and still they have a gradient: the model has given each of them a share,
and the loss asks for less.

The smallest of OpenAI's GPT-2 models is such a model [@radford2019]. Its
tokens are parts of words, and its sizes are these:
*/

/* folded: how this is printed */
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

GPT-2's weights begin as normal numbers with a spread of 0.02, its biases as
0, and the weights of its norms as 1. There is one exception. The layers
that add to the sum are attention's `out` and the network's `down`, and
their weights are divided by $\sqrt{2 \cdot \text{layers}}$.

(`gpt_fill`, in `src/gpt.c`, draws the weights in the order of PyTorch's
`named_parameters()`. It only goes through the layers, and may be skipped.)

What is the division for? There are $2 \cdot \text{layers}$ additions to the
sum. At first, what is added is random and independent. The spread of a sum
of independent numbers grows with the root of how many there are
([](#scaling)), and the division takes this root out again. Here is the
spread of the sum in a model of twelve blocks, without and with the
division:
*/

/* folded: how this is printed */
/* The spread of the sum as it comes in, and after every other block. */
static void block_spreads(const Gpt *g, float spread[g->layers / 2 + 1])
{
    const int n = g->context_length;
    int ids[n];
    GptPass p;
    gpt_pass_init(&p, g, 1, n);
    for (int i = 0; i < n; i++)
        ids[i] = i;
    gpt_forward(g, NULL, ids, &p);
    spread[0] = score_spread(n * g->width, p.block[0].in);
    for (int l = 1; l < g->layers; l += 2)
        spread[l / 2 + 1] = score_spread(n * g->width, p.block[l].after);
    gpt_pass_free(&p);
}

/* Takes the division back. */
static void undo_division(Gpt *g)
{
    for (int l = 0; l < g->layers; l++) {
        const Linear *const layer[2] = {&g->block[l].attention.out,
                                        &g->block[l].down};
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < layer[k]->d_in * layer[k]->d_out; i++)
                layer[k]->weight[i] *= sqrtf(2 * (float)g->layers);
    }
}

static void show_spread(void)
{
    enum { DEPTH = 12, TOKENS = 32 };
    const char *const at[] = {"0", "2", "4", "6", "8", "10", "12"};
    const char *const curve[2] = {"not divided", "divided"};
    Gpt g;
    float spread[2][DEPTH / 2 + 1];
    Gpt sizes = {.width = 64, .n_heads = 4, .layers = DEPTH};
    sizes.vocabulary = sizes.context_length = TOKENS;
    gpt_init(&g, &sizes);
    Random r = random_seeded(123);
    gpt_fill(&r, &g);
    block_spreads(&g, spread[1]);
    undo_division(&g);
    block_spreads(&g, spread[0]);
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

![The spread of the sum in a model before training: at the beginning, and
after every other of twelve blocks](spread.svg){#fig-gpt-spread}

With the division, the spread grows by a quarter on the way through twelve
blocks. Without it, the spread grows to almost four times its size, and the
token's own embedding is only a small part of the sum.

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

We have a model, and the way back through it to every parameter. What the
model lacks is a text to read, and a way from its logits to words:
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
attention, of $768 \cdot 768$ and 768; and two in the network, of $4 \cdot
768 \cdot 768$, with $4 \cdot 768 = 3{,}072$ and 768 biases: $12 \cdot 768
\cdot 768 + 13 \cdot 768 = 7{,}087{,}872$. Twelve of these, the tables of
tokens and of positions, and the last norm: $12 \cdot 7{,}087{,}872 +
50{,}257 \cdot 768 + 1{,}024 \cdot 768 + 2 \cdot 768 = 124{,}439{,}808$.
Almost a third is the table of tokens.
:::

::: {.solution exercise="22.4"}
At most three rows have one, those that were looked up. If the table is
tied, all 50,257 rows have one: each token was given a share of what comes
next, and the loss asks for less of a wrong token and for more of the right
one.
:::
*/
