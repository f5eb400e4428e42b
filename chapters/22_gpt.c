/*
# The GPT Transformer: blocks that add {#gpt}

A treasure hunt. There are six doors, and on each hangs a note with the
number of a door. You start at door 3 and must follow two notes. So you
look at door 3, where the note says 5, go to door 5, and read 1. You have
looked twice, and you couldn't have chosen the second look before the first:
where to look was written on the first note.

An attention layer chooses all the places it will look at before it has
fetched anything from them. Language is full of such hunts: to find *the
verb of the clause before this one*, find the clause, then its verb. So
attention layers are stacked, the second reading what the first has found. A
stack of them, with small networks in between, is what this chapter builds,
and what GPT-2 is [@radford2019]. At the end we'll send two models on the
hunt, one that looks once and one that looks twice.
*/

#include "attention/22_gpt.h"
#include "attention/01_dot_product.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/13_multi_head.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/20_optimizers.h"
#include "attention/gpt.h"
#include "support.h"

/*
## The stream {#gpt-stream}

How should one attention layer hand its result to the next? The obvious way
is to replace: what comes out of the first goes into the second. Then
everything the second might need would have to pass through the first, and a
part that has nothing to say would still have to repeat what it was told.

GPT-2 does it another way. Every token has one list of numbers, from the
first part of the model to the last. Each part reads the list and *adds* to
it what it has found. So the list is a sum, which is called the **residual
stream**, and each addition is a residual connection like the one in
[](#multi-head-residual).

![The stream of a token, from its embedding to its logits. Each branch reads
it through a norm and adds its result](stream.svg){#fig-gpt-stream}

The parts that add are of two kinds. Attention brings something from other
tokens. A **feed-forward network**, also called **MLP**, works on each token
on its own: a linear layer that makes it four times as wide, something
nonlinear, and a linear layer back. One of each makes a **block**, and a GPT
is a stack of blocks. We begin with the two small parts that a block needs
besides attention.

## Layer norm {#gpt-norm}

A sum to which every part adds tends to grow from block to block, as we'll
see in [](#gpt-depth). A layer that read it directly would have to
cope with small numbers as well as with large ones. **Layer norm** takes
that difference away [@ba2016]. The mean $\mu$ of a row is subtracted from
each entry, and then each entry is divided by the row's spread $\sigma$. Now
every row has mean 0 and spread 1, or nearly so, whatever it was before.
After that, each entry is multiplied by a weight, and a bias is added. Both
are learned:

$$\underset{n \times d}{Y}: \quad
  y_k = \frac{x_k - \mu}{\sqrt{\sigma^2 + 10^{-5}}}\, w_k + b_k$$

Here $\sigma^2$ is the mean of the squares $(x_k - \mu)^2$. The $10^{-5}$ is
there for a row of equal numbers, whose $\sigma$ is 0. The row's **scale**,
$r$, is 1 divided by that root.

A norm comes before each part of a block, and none is put on the stream
itself until the end: this is called **pre-norm**. The first Transformer put
the stream itself through a norm after each addition [@vaswani2017]. On the
way back we'll see why GPT-2 doesn't.
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

**Exercise 22.1** (★★, 3 points): `norm_forward`. Subtract from each
entry the mean of its row, and multiply by the row's scale; `measure_row`
finds both. Then multiply by the entry's weight, and add its bias.

::: hint
`measure_row(l->d, x[i], &mean, &r)` for each row `i`, then one line for
each entry.
:::

::: done
However large the sum has become, each part of the model reads rows of
spread 1, times weights it has learned.
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
    print_matrix("layer norm of a row, of it plus 100, of it times 10", 3,
                 4, out);
}

/*
``` output
layer norm of a row, of it plus 100, of it times 10 (3, 4)
[[-1.0690, -0.5345,  0.0000,  1.6036],
 [-1.0690, -0.5345,  0.0000,  1.6036],
 [-1.0690, -0.5345,  0.0000,  1.6036]]
```

The row was 1, 2, 3, 6; then the same with 100 added to each entry; then ten
times the first. All three come out the same. Now the way back, which other
books call the **backward pass**. Let $z$ be the normed row: $z_k = (x_k -
\mu)\, r$. Let $g_k$ be the slope of the loss with respect to $z_k$, which
is the slope of output $k$ times weight $k$. (The slope of the weight is the
slope of the output times $z_k$, and the slope of the bias is that of the
output.) Raise $x_j$ by a small $s$. Three things happen.

- $z_j$ gains $r s$, since $x_j$ has gained $s$.
- The mean gains $s / d$. So each entry of $z$ loses $r s / d$.
- The spread changes. The square $(x_j - \mu)^2$ grows by nearly $2 (x_j -
  \mu)\, s$, and $x_j - \mu$ is $z_j / r$. So the mean of the squares
  grows by $2 z_j s / (r d)$. The number under the root, $1 / r^2$,
  becomes $(1 / r^2)(1 + 2 r z_j s / d)$. If a number becomes
  $1 + 2u$ times as large, with a small $u$, its root becomes nearly $1 +
  u$ times as large, since $(1 + u)^2 = 1 + 2u + u^2$. So the root becomes
  $1 + r z_j s / d$ times as large. Each $z_k$ is divided by the root, so
  it loses $z_k\, r z_j s / d$.

(The mean moves, too, and changes each square, but not the sum of the
squares: the differences from the mean add up to 0.) Now each change is
multiplied by the slope of its entry, and all of them are added up:

$$r s \Big( g_j - \frac{1}{d} \sum_{k=1}^{d} g_k
  - z_j\, \frac{1}{d} \sum_{k=1}^{d} g_k z_k \Big)$$

So the slope of $x_j$ is $r$ times the bracket: $g_j$, less the mean of all
slopes, less $z_j$ times the mean of the products of slopes and entries.

Two checks before we trust the bracket. Add the same amount to every entry
of the row: the norm's output must not change, so the slopes of the row must
add up to 0. They do: $g_j$ less the mean of all adds up to 0, and so do the
$z_j$. Now stretch the row about its mean, so that each $x_j$ moves in
proportion to its $z_j$. Again the output must not change, so the slopes
times the $z_j$ must add up to 0. They do, because the mean of the $z_j^2$
is 1 (apart from the $10^{-5}$). The first mean in the bracket is there for
the first check, and the second for the second. If you ever forget the
bracket, remember what it has to be blind to.
*/

void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float grad_out[n][l->d], Norm *grad_l,
                   float grad_x[n][l->d])
{
    const int d = l->d;
    double mean, r, z[d], g[d];
    norm_gradient_check(l, grad_l);
    for (int i = 0; i < n; i++) {
        double moved = 0, stretched = 0;
        measure_row(d, x[i], &mean, &r);
        for (int k = 0; k < d; k++) {
            z[k] = (x[i][k] - mean) * r;
            g[k] = (double)grad_out[i][k] * l->weight[k];
            grad_l->weight[k] += (float)(grad_out[i][k] * z[k]);
            grad_l->bias[k] += grad_out[i][k];
            moved += g[k];
            stretched += g[k] * z[k];
        }
        for (int k = 0; k < d; k++)
            grad_x[i][k] +=
                (float)(r * (g[k] - (moved + z[k] * stretched) / d));
    }
}

/*
## GELU {#gpt-gelu}

The two linear layers of the network would be a single one if nothing came
between them: $xAB$ is $x$ times the one matrix $AB$, and biases don't
change that. So a nonlinear function has to come between them, and in GPT-2
it is **GELU** [@hendrycks2016]. It multiplies each number $x$ by a share
that grows with $x$. Far above 0 the share is 1, and the number passes. Far
below 0 the share is 0, and nothing passes.

The share is the softmax of two scores: one is 0, and the other, $u$, is a
steeper function of $x$. The share of $u$ is $e^u / (e^u + 1) = 1 / (1 +
e^{-u})$, which is called the **sigmoid** of $u$. Here
$u = \sqrt{8/\pi}\,(x + 0.044715\, x^3)$, and the root is 1.5957691. With
this $u$, the share is close to the probability that a normal random number
([](#random-bell)) is below $x$. (PyTorch's default is that probability
itself, which differs in the fourth decimal; `approximate="tanh"` asks for
the one here.)

**Exercise 22.2** (★, 2 points): `gelu`. Compute each entry's share, which
the way back will need, and its product with the share.

::: hint
`expf(-u)` may be infinite. What is 1 divided by that?
:::

::: done
This is what keeps the network's two layers from being one.
:::
*/

void gelu(int n, const float x[n], float share[n], float out[n])
{
    for (int i = 0; i < n; i++) {
        float u = 1.5957691f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        share[i] = 1 / (1 + expf(-u));
        out[i] = x[i] * share[i];
    }
}

/*
**Exercise 22.3** (★★, 3 points): `gelu_backward`. Add the gradient of `x`
to `grad_x`, from the shares that `gelu` has stored.

::: hint
`out = x * share`. If `x` grows a little, `out` grows in two ways: by
`share` times that much, plus `x` times the growth of `share`.
:::

::: hint
The share is a softmax of two scores. If $u$ grows a little, the share grows
by `share * (1 - share)` times that much, by the formula of
[](#backward-softmax).
:::

::: hint
If $x$ grows by a small $s$, $x^3$ grows by nearly $3 x^2 s$. So $u$ grows
by $\sqrt{8/\pi}\,(1 + 3 \cdot 0.044715\, x^2)\, s$. Multiply by
`grad_out` at the end to get to the loss.
:::

::: done
With this, you have the way back through every part of a block.
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

## The block {#gpt-block}

Now put the parts together. What a block computes is kept in a struct, a
pass, as a trace keeps what an attention computes. (`rate` and the two masks
are for dropout, in the fast version alone.)

::: {.header of="GptBlock GptBlockPass"}
:::
*/

static void add(int n, const float x[n], const float y[n], float sum[n])
{
    for (int i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

/*
**Exercise 22.4** (★★★, 4 points): `block_forward`. One text of `n` tokens,
whose stream comes in as `in` and leaves as `after`. Attention reads the
stream through the first norm, no token sees its future, and what it finds
is added: that is `between`. The network reads *that* through the second
norm, and its result is added, too.

::: hint
[](#multi-head) has `attention_forward`. Its mask is `mask_causal(0)`, both
texts are `normed_1`, and `NULL` in place of a generator drops nothing. It
leaves its result in `p->attention.out`.
:::

::: hint
The network goes from `normed_2` by `up` to `wide`, by `gelu` to `active`,
and by `down` to `after`, to which you then add `between`.
:::

::: done
You have written the block of GPT-2. The rest of the model is two tables, a
norm and a product.
:::
*/

void block_forward(const GptBlock *b, int n, GptBlockPass *p)
{
    const int d = b->norm_1.d;
    norm_forward(&b->norm_1, n, ROWS(d, p->in), ROWS(d, p->normed_1));
    attention_forward(&b->attention, mask_causal(0), NULL, n, n,
                      ROWS(d, p->normed_1), ROWS(d, p->normed_1),
                      &p->attention);
    add(n * d, p->in, p->attention.out, p->between);

    norm_forward(&b->norm_2, n, ROWS(d, p->between), ROWS(d, p->normed_2));
    linear_forward(&b->up, n, ROWS(d, p->normed_2), ROWS(4 * d, p->wide));
    gelu(n * 4 * d, p->wide, p->share, p->active);
    linear_forward(&b->down, n, ROWS(4 * d, p->active), ROWS(d, p->after));
    add(n * d, p->between, p->after, p->after);
}

/*
::: question
What does a block do if its layers `out` and `down` are all zeros?

Nothing. Attention and the network both add 0, and the stream leaves the
block as it came.
:::

On the way back, both terms of a sum get the gradient of the sum, unchanged:
if one term grows by a unit, the sum grows by a unit. So the slope of the
loss with respect to the stream is handed back past all blocks to the first
one, however many there are, and each block adds its own part to it. That is
another reason to add, and a reason to put no norm on the stream: a norm
after each addition would change the slope each time.

**Exercise 22.5** (★★★, 4 points): `block_backward`. From the gradient of
`after` to the gradients of all parameters and of `in`. All tables of
`grad_p` but `after` are 0 at first.

::: hint
Go through `block_forward` from its last line to its first, and for each
line call the function that goes back through it: `linear_backward`,
`gelu_backward`, `norm_backward`, `attention_backward`. They add to the
gradients they are given.
:::

::: hint
`between` goes past the network, and through it. So its gradient is that of
`after`, plus what comes back through the second norm. `in` is used twice in
the same way. `attention_backward` wants the gradient of `between` in
`grad_p->attention.out`, and the same table for both gradients of its texts,
which were both `normed_1`.
:::

::: done
Once one block works, they all do: a loop goes back through the stack.
:::
*/

void block_backward(const GptBlock *b, int n, const GptBlockPass *p,
                    GptBlockPass *grad_p, GptBlock *grad_b)
{
    const int d = b->norm_1.d;
    /* after = between + down(gelu(up(normed_2))) */
    add(n * d, grad_p->between, grad_p->after, grad_p->between);
    linear_backward(&b->down, n, ROWS(4 * d, p->active),
                    ROWS(d, grad_p->after), &grad_b->down,
                    ROWS(4 * d, grad_p->active));
    gelu_backward(n * 4 * d, p->wide, p->share, grad_p->active,
                  grad_p->wide);
    linear_backward(&b->up, n, ROWS(d, p->normed_2),
                    ROWS(4 * d, grad_p->wide), &grad_b->up,
                    ROWS(d, grad_p->normed_2));
    norm_backward(&b->norm_2, n, ROWS(d, p->between),
                  ROWS(d, grad_p->normed_2), &grad_b->norm_2,
                  ROWS(d, grad_p->between));

    /* between = in + attention(normed_1) */
    add(n * d, grad_p->in, grad_p->between, grad_p->in);
    memcpy(grad_p->attention.out, grad_p->between,
           (size_t)(n * d) * sizeof(float));
    attention_backward(
        &b->attention, n, n, ROWS(d, p->normed_1), ROWS(d, p->normed_1),
        &p->attention, &grad_p->attention, &grad_b->attention,
        ROWS(d, grad_p->normed_1), ROWS(d, grad_p->normed_1));
    norm_backward(&b->norm_1, n, ROWS(d, p->in), ROWS(d, grad_p->normed_1),
                  &grad_b->norm_1, ROWS(d, grad_p->in));
}

/*
## The model {#gpt-model}

Before the first block, the embedding of each token and the row of its
position are looked up in two tables and added ([](#tokens),
[](#positions)). After the last block comes one more norm, and then each
token's list must become logits, one for each token that may come next. A
linear layer without a bias does that. Its weight has a row for each token
of the vocabulary, as the table of embeddings has. So GPT-2 uses one table
as both: **weight tying** [@press2017].

::: {.header of="Gpt GptPass"}
:::

(`gpt_init`, in `src/gpt.c`, makes a model. It lets `output.weight` point to
the table `tokens`, and the `in` of each block to the `after` of the one
before, so nothing is copied between them.)

**Exercise 22.6** (★★, 3 points): `gpt_forward_plain`. The whole model, for
one text: from the ids of its `n` tokens to the logits of what comes next,
row by row, in `p->logits`. `gpt_forward_plain` refuses a pass that has not
been made for one text of `n` tokens: `SIZES_CHECK("a pass of texts, n",
{p->texts, 1}, {p->n, n})` does that.

::: hint
`embed` ([](#tokens)) and `add_positions` ([](#positions)) fill the `in` of
the first block. Positions are numbered from 0.
:::

::: hint
Then a loop over the blocks; the last norm, from the last block's `after` to
`p->normed`; and `output`.
:::

::: done
Ids go in and logits come out: that is a whole GPT.
:::
*/

void gpt_forward_plain(const Gpt *g, int n, const int ids[n], GptPass *p)
{
    const int d = g->width, top = g->layers - 1;
    float(*x)[d] = ROWS(d, p->block[0].in);
    SIZES_CHECK("a pass of texts, n", {p->texts, 1}, {p->n, n});
    embed(n, d, g->vocabulary, ids, ROWS(d, g->tokens), x);
    add_positions(n, d, g->context_length, 0, ROWS(d, g->positions), x);
    for (int l = 0; l < g->layers; l++)
        block_forward(&g->block[l], n, &p->block[l]);
    norm_forward(&g->last, n, ROWS(d, p->block[top].after),
                 ROWS(d, p->normed));
    linear_forward(&g->output, n, ROWS(d, p->normed),
                   ROWS(g->output.d_out, p->logits));
}

/*
The way back is the same list from the end. Tied weights need nothing
special: the output and the embedding both *add* their gradients to the one
table.
*/

void gpt_backward_plain(const Gpt *g, int n, const int ids[n],
                        const GptPass *p, GptPass *grad_p, Gpt *grad_g)
{
    const int d = g->width, top = g->layers - 1;
    gpt_gradient_check(g, p, grad_g, grad_p);
    linear_backward(&g->output, n, ROWS(d, p->normed),
                    ROWS(g->output.d_out, grad_p->logits), &grad_g->output,
                    ROWS(d, grad_p->normed));
    norm_backward(&g->last, n, ROWS(d, p->block[top].after),
                  ROWS(d, grad_p->normed), &grad_g->last,
                  ROWS(d, grad_p->block[top].after));
    for (int l = top; l >= 0; l--)
        block_backward(&g->block[l], n, &p->block[l], &grad_p->block[l],
                       &grad_g->block[l]);
    embed_backward(n, d, g->vocabulary, ids, ROWS(d, grad_p->block[0].in),
                   ROWS(d, grad_g->tokens));
    add(n * d, grad_g->positions, grad_p->block[0].in, grad_g->positions);
}

/*
Later chapters call `gpt_forward` and `gpt_backward`, in `src/gpt_fast.c`,
which compute the same with the kernel of [](#kernel), for many texts at
once; a test checks both kinds against PyTorch.

The smallest of OpenAI's GPT-2 models is such a model [@radford2019]. Its
tokens are parts of words, and these are its sizes. 
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

## One look or two {#gpt-depth}

Back to the hunt. A text of twelve tokens gives the six notes and then asks
six questions. Token 0 is the note on door 0, token 1 the note on door 1,
and so on. Each question is the number of a door, and the answer is where
the notes lead from there. Only answers count in the loss:
*/

enum { DOORS = 6, TOKENS = 2 * DOORS };

static void hunt(Random *r, int notes, int ids[TOKENS], int target[TOKENS])
{
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (int)(random_u32(r) % DOORS);
        target[i] = i < DOORS ? IGNORED : ids[i];
        for (int k = 0; k < notes && i >= DOORS; k++)
            target[i] = ids[target[i]];
    }
}

/*
Training is the loop of [](#training), through your blocks: forwards, the
loss, backwards, and a step of Adam, here after every 16 texts, 400 times,
with a learning rate that falls from 0.01 to 0.001. The models have one head
and a width of 16, and answer the questions of 200 new texts. (They begin
with larger numbers than GPT-2, to need fewer steps.)
*/

/* folded: how this is trained */
enum { HUNTER_WIDTH = 16, TEXTS = 16, STEPS = 400 };

/* Sizes of a model, and how long it trains. */
typedef struct {
    int width, heads, blocks, steps;
} Hunting;

typedef struct {
    Gpt model, gradient, mean, square;
    GptPass pass, grad_pass;
} Hunter;

static void hunter_step(Hunter *h, Random *r, int notes, int step,
                        int steps)
{
    int ids[TOKENS], target[TOKENS];
    float shares[TOKENS][DOORS];
    gpt_clear(&h->gradient);
    for (int text = 0; text < TEXTS; text++) {
        hunt(r, notes, ids, target);
        gpt_forward_plain(&h->model, TOKENS, ids, &h->pass);
        cross_entropy(TOKENS, DOORS, ROWS(DOORS, h->pass.logits), target,
                      shares);
        gpt_pass_clear(&h->grad_pass);
        cross_entropy_backward(TOKENS, DOORS, shares, target,
                               ROWS(DOORS, h->grad_pass.logits));
        gpt_backward_plain(&h->model, TOKENS, ids, &h->pass, &h->grad_pass,
                           &h->gradient);
    }
    const double rate = rate_at(step, steps / 10, steps, 0.01, 0.001);
    const Adam adam = {rate, 0.9, 0.99, 1e-8, 0, 0};
    for (size_t i = 0; i < h->gradient.count; i++)
        h->gradient.memory[i] /= TEXTS;
    adam_step(adam, step + 1, h->model.count, h->gradient.memory,
              h->mean.memory, h->square.memory, h->model.memory);
}

/* The share of right answers to the questions of 200 new texts. */
static float right_answers(Hunter *h, int notes)
{
    int ids[TOKENS], target[TOKENS], right = 0;
    Random r = random_seeded(999);
    for (int text = 0; text < 200; text++) {
        hunt(&r, notes, ids, target);
        gpt_forward_plain(&h->model, TOKENS, ids, &h->pass);
        for (int i = DOORS; i < TOKENS; i++) {
            const float *logit = ROWS(DOORS, h->pass.logits)[i];
            int best = 0;
            for (int k = 1; k < DOORS; k++)
                best = logit[k] > logit[best] ? k : best;
            right += best == target[i];
        }
    }
    return (float)right / (200 * DOORS);
}

static void hunter_init(Hunter *h, Hunting of)
{
    Gpt *const each[4] = {&h->model, &h->gradient, &h->mean, &h->square};
    Gpt sizes = {.vocabulary = DOORS, .width = of.width};
    sizes.context_length = TOKENS;
    sizes.n_heads = of.heads;
    sizes.layers = of.blocks;
    for (int i = 0; i < 4; i++)
        gpt_init(each[i], &sizes);
    gpt_pass_init_plain(&h->pass, &h->model, TOKENS);
    gpt_pass_init_plain(&h->grad_pass, &h->model, TOKENS);
}

static void hunter_free(Hunter *h)
{
    Gpt *const each[4] = {&h->model, &h->gradient, &h->mean, &h->square};
    gpt_pass_free(&h->pass);
    gpt_pass_free(&h->grad_pass);
    for (int i = 0; i < 4; i++)
        gpt_free(each[i]);
}

static void hunter_train(Hunter *h, Hunting of, int notes)
{
    Random r = random_seeded(123);
    hunter_init(h, of);
    gpt_fill(&r, &h->model);
    for (size_t i = 0; i < h->model.count; i++)
        if (h->model.memory[i] != 1) /* the norms' weights stay */
            h->model.memory[i] *= 12.5f;
    for (int step = 0; step < of.steps; step++)
        hunter_step(h, &r, notes, step, of.steps);
}

/* How often it is right to stay at the door in question, and to name the
 * door that most notes name, in the same texts. */
static void without_notes(float right[2])
{
    int ids[TOKENS], target[TOKENS], count[2] = {0};
    Random r = random_seeded(999);
    for (int text = 0; text < 200; text++) {
        int named[DOORS] = {0}, most = 0;
        hunt(&r, 2, ids, target);
        for (int i = 0; i < DOORS; i++)
            named[ids[i]]++;
        for (int i = 1; i < DOORS; i++)
            most = named[i] > named[most] ? i : most;
        for (int i = DOORS; i < TOKENS; i++) {
            count[0] += target[i] == ids[i];
            count[1] += target[i] == most;
        }
    }
    for (int k = 0; k < 2; k++)
        right[k] = (float)count[k] / (200 * DOORS);
}

/* folded: how this is printed */
static void show_hunt(const char *label, Hunting of, int notes, Hunter *h)
{
    hunter_train(h, of, notes);
    print_value(label, right_answers(h, notes));
}

static void show_hunts(Hunter *two_blocks)
{
    const Hunting narrow = {HUNTER_WIDTH, 1, 1, STEPS};
    Hunter h[4];
    float right[2];
    puts("right answers");
    show_hunt("one block, one note", narrow, 1, &h[0]);
    show_hunt("one block, two notes", narrow, 2, &h[1]);
    show_hunt("two blocks, two notes", (Hunting){HUNTER_WIDTH, 1, 2, STEPS},
              2, two_blocks);
    without_notes(right);
    print_vector("stay at the door; name the door most named", 2, right);
    show_hunt("one block, twice as wide, eight heads",
              (Hunting){2 * HUNTER_WIDTH, 8, 1, STEPS}, 2, &h[2]);
    show_hunt("the same, four times as long",
              (Hunting){2 * HUNTER_WIDTH, 8, 1, 4 * STEPS}, 2, &h[3]);
    for (int k = 0; k < 4; k++)
        hunter_free(&h[k]);
}

/*
``` output
right answers
one block, one note: 1.0000
one block, two notes: 0.4508
two blocks, two notes: 0.9850
stay at the door; name the door most named (2)
[0.2950, 0.3683]
one block, twice as wide, eight heads: 0.5042
the same, four times as long: 0.9858
```

One block follows one note without a mistake. With two notes, 0.4508 of its
answers are right. That sounds like half a success, but always answer with
the door that most notes name, and you are right in 0.3683 of the cases
anyway. (Stay at the door you are asked about, and it's 0.2950.) A second
block brings it to 0.9850.

Is it only that two blocks have more parameters? A single block twice as
wide, with eight heads, has more than the two together, and after the same
400 steps it is at 0.5042. Yet train it four times as long, and it gets
there, too: 0.9858. Eight heads are enough to read all six notes at once,
and the network after them may look the answer up. With sixty doors there
would be sixty notes to read, and two looks would still be two. So here,
depth isn't what makes the hunt possible. It makes it cheap. (One run each.)

And you can watch the two looks. In this chapter's first hunt, a 5 hangs on
door 3, and a 1 on door 5. The question about door 3 has these weights on
the six notes, in the first block and in the second:
*/

/* folded: how this is printed */
static void show_looks(Hunter *h)
{
    static const int ids[TOKENS] = {4, 2, 0, 5, 3, 1, 3, 0, 1, 2, 4, 5};
    float looks[1][2][DOORS];
    gpt_forward_plain(&h->model, TOKENS, ids, &h->pass);
    for (int l = 0; l < 2; l++)
        memcpy(looks[0][l],
               h->pass.block[l].attention.weights + DOORS * TOKENS,
               sizeof looks[0][l]);
    print_matrix("asked about door 3: weights on notes 0 to 5", 2, DOORS,
                 looks[0]);
    print_vector("logits of doors 0 to 5", DOORS,
                 ROWS(DOORS, h->pass.logits)[DOORS]);
    figure_maps("looks", "What the question about door 3 looks at", 1,
                (const char *const[]){"weights on the notes, door by door"},
                2, (const char *const[]){"first block", "second block"},
                DOORS,
                (const char *const[]){"0: 4", "1: 2", "2: 0", "3: 5",
                                      "4: 3", "5: 1"},
                looks);
}

/*
``` output
asked about door 3: weights on notes 0 to 5 (2, 6)
[[0.0019, 0.0208, 0.0068, 0.7895, 0.1644, 0.0134],
 [0.0000, 0.0000, 0.0015, 0.0001, 0.0002, 0.9959]]
logits of doors 0 to 5 (6)
[-0.4939,  5.4806, -0.0318,  0.5782, -1.6693,  1.0647]
```

![What the question about door 3 looks at: a row is a block, and a column a
note, with its door in front](looks.svg){#fig-gpt-looks}

The first block looks at the note on door 3, with 0.7895 of its weight, and
the second at the note on door 5, with 0.9959. The largest logit, 5.4806, is
that of door 1, where you end. Nobody told the second block to look where
the note points that the first one has read.
*/

/*
And what has each block done? The question above showed how to switch one
off: with 0 in the layers that add, the stream passes it untouched. To see
how far each block moves the stream, compare lengths, averaged over the
tokens of this hunt:
*/

/* folded: how this is printed */
/* Puts 0 where the block adds to the stream. */
static void switch_off(GptBlock *b)
{
    const Linear *const adding[2] = {&b->attention.out, &b->down};
    for (int k = 0; k < 2; k++) {
        const size_t size = sizeof(float) * (size_t)adding[k]->d_out;
        memset(adding[k]->weight, 0, size * (size_t)adding[k]->d_in);
        memset(adding[k]->bias, 0, size);
    }
}

/* The length of the rows of a pass, the root of the mean of its squares. */
static float rows_length(const float *table)
{
    return length(TOKENS * HUNTER_WIDTH, table) / sqrtf(TOKENS);
}

static void show_blocks(Hunter *h)
{
    float moved[2][4], added[TOKENS * HUNTER_WIDTH], right[2];
    for (int l = 0; l < 2; l++) {
        const GptBlockPass *p = &h->pass.block[l];
        for (int i = 0; i < TOKENS * HUNTER_WIDTH; i++)
            added[i] = p->after[i] - p->between[i];
        moved[l][0] = rows_length(p->in);
        moved[l][1] = rows_length(p->attention.out);
        moved[l][2] = rows_length(added);
        moved[l][3] = rows_length(p->after);
    }
    memcpy(h->mean.memory, h->model.memory, h->mean.count * sizeof(float));
    for (int l = 0; l < 2; l++) {
        switch_off(&h->model.block[l]);
        right[l] = right_answers(h, 2);
        memcpy(h->model.memory, h->mean.memory,
               h->mean.count * sizeof(float));
    }
    print_matrix("lengths: in, by attention, by the network, after", 2, 4,
                 moved);
    print_vector("right answers without block 1, without block 2", 2,
                 right);
}

/*
``` output
lengths: in, by attention, by the network, after (2, 4)
[[ 1.6116,  4.7879,  4.1848,  7.3597],
 [ 7.3597, 10.0251,  4.5113, 12.9326]]
right answers without block 1, without block 2 (2)
[0.2692, 0.3058]
```

Most of what leaves the stream has been added on the way: it is 1.6116 long
at first, and 12.9326 at the end. With either block switched off, the model
gives fewer right answers than if it named the door that most notes name.
That fits what the weights show: without the first block, the second has
nothing to go by, and without the second, nothing is done with what the
first has found. (That is no proof: the last norm learned with both in
place.) [](#inside) does the same with the heads of a language model.

## Initialization {#gpt-begin}

As in Hugging Face's GPT-2, weights begin as normal numbers with a spread of
0.02, biases as 0, and the weights of norms as 1. Only the layers that add
to the stream, `out` and `down`, get weights divided by $\sqrt{2 \cdot
\text{layers}}$ [@radford2019]. The spread of a sum of $2 \cdot
\text{layers}$ independent additions grows with this root
([](#scaling-spread)), and the division takes it out again.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    Hunter hunter;
    figure_stream("stream", "The residual stream of a token", 2);
    show_norm();
    show_gelu();
    show_gpt2();
    show_hunts(&hunter);
    show_looks(&hunter);
    show_blocks(&hunter);
    hunter_free(&hunter);
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

You have built a GPT, with the way back through each of its blocks. What it
lacks is something to read. [](#language-model) gives it a text, and
lets it write.

## Further exercises

**Exercise 22.7** (by hand): Where are the 124,439,808 parameters of GPT-2
([](#gpt-model))? How many does a block have, and how many lie outside the
blocks?

## Solutions

::: {.solution exercise="22.7"}
A block has two norms of a weight and a bias, each of 768; four layers in
attention, of $768 \cdot 768$ and 768; and two in the network, of $4 \cdot
768 \cdot 768$, with $4 \cdot 768 = 3{,}072$ and 768 biases: $12 \cdot 768
\cdot 768 + 13 \cdot 768 = 7{,}087{,}872$. Twelve of these, the tables of
tokens and of positions, and the last norm: $12 \cdot 7{,}087{,}872 +
50{,}257 \cdot 768 + 1{,}024 \cdot 768 + 2 \cdot 768 = 124{,}439{,}808$.
Outside the blocks lie $50{,}257 \cdot 768 + 1{,}026 \cdot 768 =
39{,}385{,}344$, almost a third, and nearly all of them are the table of
tokens.
:::
*/
