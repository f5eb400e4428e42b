/*
# One sheet: formulas, shapes and code {#sheet}

All of attention on one sheet, for a text of $n$ tokens with $d$ entries and
$H$ heads, each $d_k = d / H$ wide, as large models have them. PyTorch's
tables have one dimension more, in front, for the batch; `.mT` transposes
the last two.

| step | formula | shape | C | PyTorch |
|:--|:---|:--|:---|:---|
| roles | $Q = X W_Q$, $K$, $V$ | $n, d$ | `linear_forward` | `nn.Linear` |
| split | $Q_h, \dots$ | $H, n, d_k$ | `split_heads` | `view`, `transpose` |
| scores | $S = Q_h K_h^\top$ | $H, n, n$ | `dot_scores` | `q @ k.mT` |
| scale | $S / \sqrt{d_k}$ | $H, n, n$ | `scale_scores` | `/ d_k**0.5` |
| mask | $-\infty$ ahead | $H, n, n$ | `mask_scores` | `masked_fill` |
| shares | $A$, softmax of $S$ | $H, n, n$ | `softmax_rows` | `F.softmax` |
| dropout | drop, scale up | $H, n, n$ | `dropout_apply` | `F.dropout` |
| mixture | $Z_h = A V_h$ | $H, n, d_k$ | `matmul` | `a @ v` |
| merge | $Z = [Z_1 \dots]$ | $n, d$ | `merge_heads` | `transpose`, `view` |
| output | $Z W_O + b$ | $n, d$ | `linear_forward` | `nn.Linear` |

The same way back, where $G$ with a letter is the gradient of that table,
and $Y$ is what went out; in PyTorch, `loss.backward()` takes all of these
steps ([](#backward)).

| step | to | what is added | C |
|:--|:--|:---|:---|
| output | $G_Z$ | $G_Y W_O^\top$ | `linear_backward` |
| its weight | $G_{W_O}$ | $Z^\top G_Y$ | `linear_backward` |
| merge | $G_{Z_h}$ | $G_Z$, cut apart | `split_heads` |
| shares | $G_A$ | $G_{Z_h} V_h^\top$ | `matmul_backward` |
| values | $G_{V_h}$ | $A^\top G_{Z_h}$ | `matmul_backward` |
| dropout | $G_A$ | drop, scale up | `dropout_apply` |
| softmax | $G_S$ | $a_j (g_j - \sum_k a_k g_k)$ | `softmax_backward` |
| mask | $G_S$ | 0 ahead | `mask_backward` |
| scale | $G_S$ | $G_S / \sqrt{d_k}$ | `scale_scores` |
| queries | $G_{Q_h}$ | $G_S K_h$ | `dot_scores_backward` |
| keys | $G_{K_h}$ | $G_S^\top Q_h$ | `dot_scores_backward` |
| split | $G_Q$ | side by side | `merge_heads` |
| roles | $G_X$ | $G_Q W_Q^\top$ | `linear_backward` |

And what stands around attention in a model that learns to write, with a
vocabulary of $v$ tokens, whose embeddings are the rows of $E$
([](#optimizers), [](#gpt), [](#language-model)):

| step | formula | shape | C | PyTorch |
|:--|:---|:--|:---|:---|
| places | $X + P$ | $n, d$ | `add_positions` | `nn.Embedding` |
| norm | mean 0, spread 1 | $n, d$ | `norm_forward` | `nn.LayerNorm` |
| first sum | $X$ + attention | $n, d$ | `block_forward` | `x + a` |
| network | $\operatorname{GELU}(X W_1) W_2$ | $n, d$ | `gelu` | `F.gelu` |
| second sum | $X$ + network | $n, d$ | `block_forward` | `x + f` |
| logits | $X E^\top$ | $n, v$ | `linear_forward` | `nn.Linear` |
| loss | mean of $-\ln$ share | 1 | `cross_entropy` | `F.cross_entropy` |
| clipping | length at most 1 | all | `clip_norm` | `clip_grad_norm_` |
| step | against the slope | all | `adam_step` | `optim.AdamW` |
| next token | draw by the shares | 1 | `next_token` | `torch.multinomial` |

## What becomes of a word {#sheet-journey}

We send the word *journey* through the attentions of this book; what sizes
and seeds they have is said [below](#sheet-code). Here is the context vector
that it gets from each. None of them was trained, so that
the numbers say nothing about journeys. But if you build one of these in
another language, or in another library, this is what should come out.

``` output
embeddings alone (3)
[0.4419, 0.6515, 0.5683]
three matrices, not divided (2)
[0.3157, 0.8430]
three matrices (2)
[0.3061, 0.8210]
the future hidden, renormalized (2)
[0.3116, 0.9549]
the future hidden by minus infinity (2)
[0.3116, 0.9549]
linear layers, seed 789 (2)
[-0.0748,  0.0703]
```

``` output
linear layers with a bias (2)
[-0.3439, -0.2692]
asking Life is short (2)
[0.4019, 0.7613]
causal, in use (2)
[-0.5874,  0.0058]
causal, in training, half dropped (2)
[-0.4368,  0.2142]
four heads side by side (4)
[0.3421, 1.0198, 1.0823, 0.8398]
two causal heads, mixed (2)
[0.2943, 0.3897]
nn.MultiheadAttention(3, 3) (3)
[ 0.0489, -0.3441, -0.2121]
```

Two of the rows are equal, as [](#causal-mask) said they would be.

## How each is made {#sheet-code}
*/

#include "attention/C_sheet.h"
#include "attention.h"

enum { N = 6, D = 3, WORD = 1 }; /* journey is the second of six words */

/* Copies the row of the word in a table of so many columns. */
static int take_row(int size, const float table[N][size], float x[size])
{
    memcpy(x, table[WORD], sizeof *table);
    return size;
}

/*
First the embeddings alone, each word compared with each ([](#softmax)); and
the three matrices of seed 123 without the division, with it ([](#scaling)),
and with the future hidden, by renormalizing and by minus infinity
([](#causal-mask)):
*/

static int plain(float x[D])
{
    float scores[N][N], weights[N][N], context[N][D];
    dot_scores(N, N, D, journey, journey, scores);
    softmax_rows(N, N, scores, weights);
    matmul(N, D, N, weights, journey, context);
    return take_row(D, context, x);
}

static void three_matrices(float x[4][SHEET_WIDE])
{
    float query[N][2], key[N][2], value[N][2], mask[N][N];
    float scores[N][N], weights[N][N], context[N][2];
    qkv_from_seed(123, N, D, 2, 2, journey, query, key, value);
    dot_scores(N, N, 2, query, key, scores);
    softmax_rows(N, N, scores, weights);
    matmul(N, 2, N, weights, value, context);
    take_row(2, context, x[0]);
    attention(N, N, 2, 2, query, key, value, scores, weights, context);
    take_row(2, context, x[1]);
    causal_mask(N, mask);
    mask_weights(N, N, mask, weights);
    renormalize(N, N, weights);
    matmul(N, 2, N, weights, value, context);
    take_row(2, context, x[2]);
    attention_weights(N, N, 2, mask_causal(0), query, key, scores, weights);
    matmul(N, 2, N, weights, value, context);
    take_row(2, context, x[3]);
}

/*
All others are ways to make an `Attention`, and to call it; all but the two
of seed 789 begin with seed 123. First linear layers of seed 789, without a
bias and with one ([](#self-attention)); then *journey* as one of six words
that ask the six of *Life is short* ([](#cross-attention)):
*/

/* What `a` makes of the word when it asks the words y. Frees a. */
static int ask_and_free(Attention *a, Mask mask, Random *r,
                        const float y[N][D], float x[SHEET_WIDE])
{
    Trace t;
    trace_init_for(&t, a, N, N);
    attention_forward(a, mask, r, N, N, journey, y, &t);
    const int size = a->d_out ? a->d_out : a->n_heads * a->d_v;
    take_row(size, ROWS(size, a->d_out ? t.out : t.joined), x);
    trace_free(&t);
    attention_free(a);
    return size;
}

static int linear_layers(int has_bias, float x[SHEET_WIDE])
{
    Attention a;
    Random r = random_seeded(789);
    self_attention_init(&a, &r, D, 2, 2, has_bias);
    return ask_and_free(&a, mask_none(), NULL, journey, x);
}

static int crossed(float x[SHEET_WIDE])
{
    Attention a;
    Random r = random_seeded(123);
    cross_attention_init(&a, &r, D, D, 2, 2);
    return ask_and_free(&a, mask_none(), NULL, life, x);
}

/*
The causal attention, in use, and in training with half of the weights
dropped ([](#causal-attention)):
*/

static int causal(double rate, float x[SHEET_WIDE])
{
    Attention a;
    Random r = random_seeded(123);
    causal_attention_init(&a, &r, D, 2, N, rate, 0);
    return ask_and_free(&a, mask_causal(0), rate > 0 ? &r : NULL, journey,
                        x);
}

/*
And several heads: four, whose queries and keys have two entries and their
values one, side by side ([](#heads)); two causal heads of one entry, mixed,
and PyTorch's own module, with three heads of one entry ([](#multi-head)).
*/

static void heads(int size[3], float x[3][SHEET_WIDE])
{
    Attention a[3];
    Random r[3] = {random_seeded(123), random_seeded(123),
                   random_seeded(123)};
    heads_init(&a[0], &r[0], 4, D, 2, 1);
    multi_head_init(&a[1], &r[1], D, 2, N, 0, 2, 0);
    multi_head_init_pytorch(&a[2], &r[2], D, 0, 3);
    for (int i = 0; i < 3; i++)
        size[i] = ask_and_free(&a[i], i == 1 ? mask_causal(0) : mask_none(),
                               NULL, journey, x[i]);
}

/*
All of them, in the order of the chapters:
*/

void sheet_rows(int size[SHEET_ROWS], float x[SHEET_ROWS][SHEET_WIDE])
{
    size[0] = plain(x[0]);
    three_matrices(&x[1]);
    size[1] = size[2] = size[3] = size[4] = 2;
    size[5] = linear_layers(0, x[5]);
    size[6] = linear_layers(1, x[6]);
    size[7] = crossed(x[7]);
    size[8] = causal(0, x[8]);
    size[9] = causal(0.5, x[9]);
    heads(&size[10], &x[10]);
}

int main(int argc, char *argv[])
{
    const char *const name[SHEET_ROWS] = {
        "embeddings alone",
        "three matrices, not divided",
        "three matrices",
        "the future hidden, renormalized",
        "the future hidden by minus infinity",
        "linear layers, seed 789",
        "linear layers with a bias",
        "asking Life is short",
        "causal, in use",
        "causal, in training, half dropped",
        "four heads side by side",
        "two causal heads, mixed",
        "nn.MultiheadAttention(3, 3)"};
    int size[SHEET_ROWS];
    float x[SHEET_ROWS][SHEET_WIDE];
    no_arguments(argc, argv);
    sheet_rows(size, x);
    for (int i = 0; i < SHEET_ROWS; i++)
        print_vector(name[i], size[i], x[i]);
    return 0;
}
