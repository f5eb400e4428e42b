/*
# FlashAttention: attention without its table {#flash}

![The way from words to attention. This chapter takes the shaded steps
together, without dropout](pipeline.svg){#fig-flash-pipeline}

Each attention so far has written down a score for every query and every
key, and a weight for each score. The pages printed these tables. But a
model needs the context vectors alone. What does it cost to keep the tables?
Let one head have queries, keys, values and contexts of 64 entries. A
mebibyte, MiB, is 1,024 times 1,024 bytes, and 1,024 mebibytes are a
gibibyte, GiB.
*/

#include "attention/14_flash.h"
#include "attention/01_dot_product.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/B_random.h"
#include "support.h"

/* folded: how this is printed */
static void show_sizes(void)
{
    enum { TEXTS = 5 };
    const double tokens[TEXTS] = {6, 1024, 4096, 16384, 65536};
    const double mebibytes = sizeof(float) / (1024.0 * 1024);
    float table[TEXTS][4];
    for (int i = 0; i < TEXTS; i++) {
        const double n = tokens[i];
        table[i][0] = (float)n;
        table[i][1] = (float)(4 * n * 64 * mebibytes);
        table[i][2] = (float)(2 * n * n * mebibytes);
        table[i][3] = (float)(2 * n * mebibytes);
    }
    print_matrix("tokens; MiB in and out, of scores and weights, of a row "
                 "of these",
                 TEXTS, 4, table);
}

/*
``` output
tokens; MiB in and out, of scores and weights, of a row of these (5, 4)
[[    6.0000,     0.0059,     0.0003,     0.0000],
 [ 1024.0000,     1.0000,     8.0000,     0.0078],
 [ 4096.0000,     4.0000,   128.0000,     0.0312],
 [16384.0000,    16.0000,  2048.0000,     0.1250],
 [65536.0000,    64.0000, 32768.0000,     0.5000]]
```

Input and output grow with the number of tokens; scores and weights grow
with the square of that number. For 65,536 tokens, scores and weights take
32 GiB, more than most machines have.

Nobody needs all scores at once. `attend_one` of [](#qkv) computed one row,
and for 65,536 keys a row of scores and a row of weights take half a MiB.
Query by query, attention fits everywhere. But each query then fetches all
keys and values again, and a processor computes faster than memory hands it
numbers. So a processor keeps the numbers it has read last in a small memory
of its own, a **cache**. Numbers in the cache need not be fetched. Let 32
queries go over the keys together: then each key is fetched once for 32
queries. But their rows of scores and weights are written and read again,
and should be in the cache as well. For 65,536 keys they take 32 times half
a MiB, which is 16 MiB, and a cache holds one or two.

So attention has to do without the rows of scores. Can softmax?

## Key by key {#flash-key}

Softmax ([](#softmax)) needs the largest score before it takes the first
exponential, and the sum of all exponentials before it knows the first
share. So each score is read more than once, and the row has to be kept.

A challenge of [](#softmax) found the largest score and the sum in a single
pass: take the largest score *so far* for the largest, and when a larger
score comes, mend the sum by a factor [@milakov2018]. The shares needed a
second pass. The second pass can go as well, for the same factor mends the
mixture [@rabe2021]. A query takes its keys one after the other. After $j$
keys, it remembers three things:

- $m_j$, the largest score so far,
- $l_j$, the sum of the exponentials $e^{s_k - m_j}$ of all scores $s_k$ so
far,
- $c_j$, the mixture: the sum of the values so far, each times its
exponential.

Before the first key, $m_0$ is $-\infty$, and both sums are 0. The next key
has the score $s$ and the value $v$. Then

$$\begin{aligned}
m_{j+1} &= \max(m_j, s), \qquad f = e^{m_j - m_{j+1}} \\
l_{j+1} &= f\, l_j + e^{s - m_{j+1}} \\
\underset{d_v}{c_{j+1}} &= f\, \underset{d_v}{c_j}
  + e^{s - m_{j+1}} \underset{d_v}{v}
\end{aligned}$$

As long as the largest score stays the largest, the factor $f$ is 1. For the
first key $f$ is $e^{-\infty} = 0$, and there is nothing to mend.

Are the sums right after the next key? Say that $l_j$ and $c_j$ are right
for the first $j$ keys: sums of $e^{s_k - m_j}$, and of $e^{s_k - m_j} v_k$.
The factor turns each of these exponentials into

$$f\, e^{s_k - m_j} = e^{m_j - m_{j+1}}\, e^{s_k - m_j}
  = e^{s_k - m_{j+1}}$$

the exponential for the new largest score. The new key adds its own term,
and both sums are right for $j + 1$ keys. The empty sums before the first
key were right, so the sums are right after every key, and after the last.
Then $l$ is the sum by which softmax divides, and $c / l$ is the context
vector. Such a computation is an **online softmax**, with a **running
maximum** and a **running sum**:

::: {.header of="OnlineSoftmax"}
:::
*/

void online_softmax_init(int d_v, OnlineSoftmax *s, float mixture[d_v])
{
    *s = (OnlineSoftmax){.largest = -INFINITY, .sum = 0};
    for (int k = 0; k < d_v; k++)
        mixture[k] = 0;
}

void online_softmax_rescale(float largest, int d_v, OnlineSoftmax *s,
                            float mixture[d_v])
{
    const float f = expf(s->largest - largest);
    s->largest = largest;
    s->sum *= f;
    for (int k = 0; k < d_v; k++)
        mixture[k] *= f;
}

/*
The sum is a `double`, since it takes a term of every key, however many
there are. The mixture stays in floats, as all tables do.

**Exercise 14.1** (★★, 3 points): `online_softmax_add`. The next key comes:
bring `s` and the mixture up to date, as the formulas say.
`online_softmax_rescale` multiplies by the factor. A key whose score is
minus infinity is hidden: nothing changes, whatever its value is.

::: hint
Raise the largest score first, if the new one is larger. What remains is the
key's own term, for the sum and for each entry of the mixture.
:::

::: hint
What would minus infinity less minus infinity be, if a hidden key came
first?
:::

::: done
Attention no longer needs its table: however long the text, a query keeps a
maximum, a sum and a mixture.
:::
*/

void online_softmax_add(int d_v, float score, const float value[d_v],
                        OnlineSoftmax *s, float mixture[d_v])
{
    if (score == -INFINITY)
        return;
    if (score > s->largest)
        online_softmax_rescale(score, d_v, s, mixture);
    const float power = expf(score - s->largest);
    s->sum += power;
    for (int k = 0; k < d_v; k++)
        mixture[k] += power * value[k];
}

/*
After the last key, the mixture is divided. The function returns the
logarithm of the sum of all $e^{s_k}$, which is `sum` times $e^{m}$ for the
largest score $m$. [A section below](#flash-log-sum) will use it.
*/

float online_softmax_finish(int d_v, const OnlineSoftmax *s,
                            float mixture[d_v])
{
    for (int k = 0; k < d_v; k++)
        mixture[k] = (float)(mixture[k] / s->sum);
    return (float)(s->largest + log(s->sum));
}

/*
In *Life is short, eat dessert first*, *short* asks six keys. To keep the
example small, the embeddings themselves are queries, keys and values.

::: question
Six scores, and the largest is not the first. Can the running sum become
smaller on the way?

It can: a factor of 0.1 turns 4 into 0.4, and the new key adds 1. Here, the
third key raises the maximum: the factor $e^{0.2392 - 0.6465}$ is about two
thirds. It takes a third of 1.5557 away, and the new key adds 1, so the sum
grows.
:::
*/

/* folded: how this is printed */
static void show_key_by_key(void)
{
    float scores[1][6], weights[1][6], context[1][3], so_far[6][3],
        mixture[3];
    attention(1, 6, 3, 3, life + 2, life, life, scores, weights, context);
    OnlineSoftmax s;
    online_softmax_init(3, &s, mixture);
    for (int j = 0; j < 6; j++) {
        online_softmax_add(3, scores[0][j], life[j], &s, mixture);
        so_far[j][0] = scores[0][j];
        so_far[j][1] = s.largest;
        so_far[j][2] = (float)s.sum;
    }
    print_matrix("score; largest so far; sum so far", 6, 3, so_far);
    online_softmax_finish(3, &s, mixture);
    print_vector("context vector of short, key by key", 3, mixture);
    print_vector("context vector of short, by attention", 3, context[0]);
}

/*
``` output
score; largest so far; sum so far (6, 3)
[[ 0.2392,  0.2392,  1.0000],
 [-0.3483,  0.2392,  1.5557],
 [ 0.6465,  0.6465,  2.0352],
 [-0.4692,  0.6465,  2.3629],
 [-0.4959,  0.6465,  2.6819],
 [ 0.6142,  0.6465,  3.6501]]
context vector of short, key by key (3)
[-0.2340,  0.3202, -0.5321]
context vector of short, by attention (3)
[-0.2340,  0.3202, -0.5321]
```

## A block of keys {#flash-block}

A new maximum costs an exponential and a pass over the mixture. Where the
scores grow from key to key, every key brings a new maximum. So take a
**block of keys** at a time: look for the largest score of the block,
rescale once, and then let the keys add their terms.

**Exercise 14.2** (★★, 2 points): `online_softmax_add_block`. What
`online_softmax_add` does, for `n` keys at once, of which some or all may be
hidden. Raise the largest score once at most. (Raising it more often gives
the same result but for rounding, so no test can tell.)

::: hint
Two passes over the scores: one for the largest, one for the terms.
:::

::: done
Blocks also make attention fast: [](#kernel) computes the scores of a whole
block at once.
:::
*/

void online_softmax_add_block(int n, int d_v, const float scores[n],
                              const float value[n][d_v], OnlineSoftmax *s,
                              float mixture[d_v])
{
    float largest = s->largest;
    for (int j = 0; j < n; j++)
        if (scores[j] > largest)
            largest = scores[j];
    if (largest > s->largest)
        online_softmax_rescale(largest, d_v, s, mixture);
    for (int j = 0; j < n; j++)
        online_softmax_add(d_v, scores[j], value[j], s, mixture);
}

/*
## Tiles {#flash-tiles}

A block needs its scores, so there is a table again. But that table is
small, and the next block overwrites it. Now a few queries, a **tile** of
queries, can share a block of keys while the block is in the cache. The
scores of a tile with a block are a **square** of 32 rows and 32 columns in
the whole table of scores. `dot_scores`, `scale_scores` and the masks of
[](#causal-mask) work on a square as on the whole table. Only the causal
mask needs to know where in the whole table the square lies:

![The whole table for 12 queries and keys, with tiles and blocks of 4
instead of 32. Hidden scores have a dash. Three squares are coloured: above
the diagonal, on it, and below it](mask.svg){#fig-flash-mask}

The first row of a square is query `i`, and its first column is key `j`.
With the `first` of its causal mask ([](#causal-mask-see)), query `i` has
the position `first + i`, and sees the keys up to key `first + i`. Counted
from the square's first key, that is column `first + i - j`. The number is
called the square's **offset**. `mask_causal` of the offset hides in a
square what the causal mask hides in the table. In the figure, `first` is 0:

| square | `i` | `j` | offset | what the square's queries see |
|:--------------|---:|---:|----:|:------------------------------|
| above the diagonal | 0 | 4 | $0 - 4$ | nothing: all keys come later |
| on the diagonal | 4 | 4 | 0 | the first sees one key, the next two, ... |
| below the diagonal | 8 | 4 | 4 | all keys |
*/

/* folded: how this is drawn */
static void draw_mask(void)
{
    enum { N = 12, SIDE = 4 };
    const char *const row[N] = {"i = 0", "", "",      "", "i = 4", "",
                                "",      "", "i = 8", "", "",      ""};
    const char *const column[N] = {"", "", "", "", "j=4", "",
                                   "", "", "", "", "",    ""};
    const char *cell[N][N];
    int part[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            cell[i][j] = j > i ? "–" : "";
            part[i][j] = j / SIDE == 1 ? i / SIDE : -1;
        }
    const FigureLayout layout = {
        "queries down, keys across", N, N, row, column, cell[0], part[0]};
    figure_layout("mask", "Three squares of a causal mask", 1, &layout);
}

/* unfolded */

enum { TILE = 32, BLOCK = 32 }; /* queries in a tile, keys in a block */

/* Hides, in the square whose first row is query i and whose first column
 * is key j, what must not be seen. */
void mask_square(Mask mask, int i, int j, int rows, int cols,
                 float scores[rows][cols])
{
    const int64_t offset = (int64_t)mask.first + i - j;
    if (mask.kind == MASK_CAUSAL && offset < cols)
        apply_mask(rows, cols,
                   mask_causal(offset > -rows ? (int)offset : -rows),
                   scores);
    else if (mask.kind == MASK_TABLE)
        for (int k = 0; k < rows; k++) {
            const float *row =
                mask.table + (size_t)(i + k) * (size_t)mask.m;
            apply_mask(1, cols, mask_table(1, cols, ROWS(cols, row + j)),
                       scores + k);
        }
}

/*
From the offset `cols` on (and at `cols - 1`), nothing has to be hidden,
hence the first comparison. At the offset `-rows` and below, everything is
hidden, so `-rows` stands for all of these offsets, hence the second
comparison. (It keeps the number small enough for an `int`.) A mask that is
a table is applied row by row, as its rows are longer than the square's.

Squares above the diagonal need not be computed at all:
*/

/* May the queries up to number `last` see any of the keys from j on? */
int mask_shows_block(Mask mask, int last, int j)
{
    return mask.kind != MASK_CAUSAL || j <= (int64_t)mask.first + last;
}

/* The context vectors of a tile, whose first query is number i. `query`,
 * `context` and `log_sum_exp` point to the tile's own rows. */
static void attend_tile(int i, int rows, int m, int d_k, int d_v, Mask mask,
                        const float query[rows][d_k],
                        const float key[m][d_k], const float value[m][d_v],
                        float context[rows][d_v], float log_sum_exp[rows])
{
    float square[TILE * BLOCK];
    OnlineSoftmax state[TILE];
    for (int k = 0; k < rows; k++)
        online_softmax_init(d_v, &state[k], context[k]);
    for (int j = 0; j < m && mask_shows_block(mask, i + rows - 1, j);
         j += BLOCK) {
        const int cols = m - j < BLOCK ? m - j : BLOCK;
        float(*scores)[cols] =
            ROWS(cols, square); /* the last may be narrow */
        dot_scores(rows, cols, d_k, query, key + j, scores);
        scale_scores(rows, cols, d_k, scores);
        mask_square(mask, i, j, rows, cols, scores);
        for (int k = 0; k < rows; k++)
            online_softmax_add_block(cols, d_v, scores[k], value + j,
                                     &state[k], context[k]);
    }
    for (int k = 0; k < rows; k++)
        log_sum_exp[k] = online_softmax_finish(d_v, &state[k], context[k]);
}

/*
The mixtures are kept in the array of the context vectors. With all queries
cut into tiles, the whole is **FlashAttention** [@dao2022]. Here the outer
loop goes over the tiles, as in its second version [@dao2023]; in the first
version the outer loop went over the blocks.
*/

void flash_forward(int n, int m, int d_k, int d_v, Mask mask,
                   const float query[n][d_k], const float key[m][d_k],
                   const float value[m][d_v], float context[n][d_v],
                   float log_sum_exp[n])
{
    mask_check(n, m, mask);
    for (int i = 0; i < n; i += TILE)
        attend_tile(i, n - i < TILE ? n - i : TILE, m, d_k, d_v, mask,
                    query + i, key, value, context + i, log_sum_exp + i);
}

/*
Six words fill no tile. A hundred random tokens fill three, and a fourth in
part:
*/

/* folded: how this is printed */
static void show_agreement(const char *what, int n, int d, Mask mask,
                           const float x[n][d])
{
    float scores[n][n], weights[n][n], with[n][d], without[n][d];
    float log_sum_exp[n];
    attention_weights(n, n, d, mask, x, x, scores, weights);
    matmul(n, d, n, weights, x, with);
    flash_forward(n, n, d, d, mask, x, x, x, without, log_sum_exp);
    printf("%s, ", what);
    print_answer("as with tables to 2 millionths",
                 largest_difference(n * d, with[0], without[0]) < 2e-6f);
}

static void show_flash(void)
{
    enum { N = 100, D = 16 };
    static float x[N][D];
    float context[6][3], log_sum_exp[6];
    Random r = random_seeded(123);
    normal_fill(&r, N, D, 0, 1, x);
    show_agreement("100 tokens", N, D, mask_none(), x);
    show_agreement("the future hidden", N, D, mask_causal(0), x);
    flash_forward(6, 6, 3, 3, mask_none(), life, life, life, context,
                  log_sum_exp);
    print_matrix("context vectors of Life is short", 6, 3, context);
    print_vector("logarithms of the sums", 6, log_sum_exp);
    flash_forward(6, 6, 3, 3, mask_causal(0), life, life, life, context,
                  log_sum_exp);
    print_matrix("the same, the future hidden", 6, 3, context);
    print_vector("logarithms of these sums", 6, log_sum_exp);
}

/*
``` output
100 tokens, as with tables to 2 millionths: yes
the future hidden, as with tables to 2 millionths: yes
context vectors of Life is short (6, 3)
[[-0.1556,  0.3073, -0.2447],
 [-0.0370,  1.2817,  0.2470],
 [-0.2340,  0.3202, -0.5321],
 [-0.2024,  0.2726,  0.1444],
 [-0.2497,  0.5312,  0.0973],
 [-0.7276,  0.5876, -0.9173]]
logarithms of the sums (6)
[1.7545, 2.6783, 1.9413, 1.7477, 1.9558, 2.7141]
the same, the future hidden (6, 3)
[[ 0.3374, -0.1778, -0.3035],
 [ 0.1916,  1.7350,  0.4337],
 [ 0.2752,  0.2484, -0.5106],
 [ 0.0676,  0.1875,  0.1808],
 [-0.0929,  0.5033,  0.3479],
 [-0.7276,  0.5876, -0.9173]]
logarithms of these sums (6)
[0.1372, 2.3143, 1.3571, 1.3531, 1.8020, 2.7141]
```

With a causal mask, which squares of the table are computed? Those in which
the last query of the tile sees at least one key of the block. Each other
square saves 1,024 dot products and the reading of 32 keys and values:
*/

/* folded: how this is printed */
static void show_squares(void)
{
    enum { SQUARES = 8 };
    const char *const panel[2] = {"all seen", "the future hidden"};
    const Mask mask[2] = {mask_none(), mask_causal(0)};
    float square[2][SQUARES][SQUARES];
    int count[2] = {0, 0};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < SQUARES; i++)
            for (int j = 0; j < SQUARES; j++) {
                const int last = (i + 1) * TILE - 1;
                const int is_seen =
                    mask_shows_block(mask[p], last, j * BLOCK);
                count[p] += is_seen;
                square[p][i][j] = (float)is_seen;
            }
    print_integers("256 queries and keys: squares, and those left out", 2,
                   (int[]){count[0], count[0] - count[1]});
    figure_grid("squares", "Squares of the table that are computed", 2,
                panel, SQUARES, SQUARES, square);
}

/*
``` output
256 queries and keys: squares, and those left out (2)
[64, 28]
```

![Squares that are computed. A row is a tile of 32 queries, a column is a
block of 32 keys](squares.svg){#fig-flash-pieces}

The cache has to hold a square of scores, a block of keys and values, and
the queries and mixtures of the tile, which are as large as such a block.
None of these depends on the length of the text:
*/

/* folded: how this is printed */
static void show_memory(void)
{
    print_integers("bytes: scores of a square, a block's keys and values",
                   2,
                   (int[]){TILE * BLOCK * (int)sizeof(float),
                           2 * BLOCK * 64 * (int)sizeof(float)});
}

/*
``` output
bytes: scores of a square, a block's keys and values (2)
[ 4096, 16384]
```

Without a mask, nothing is saved in computation: each score takes its dot
product and its exponential as before, and a few factors are added. What is
saved is memory, and no time. [](#kernel) is about time.

`flash_forward` has no dropout, since dropout draws a number for each
weight, and [](#dropout) keeps the result in a table. `attention_forward` of
[](#multi-head) goes on filling its tables, for these pages, and for
training.

## The logarithm of the sum {#flash-log-sum}

`flash_forward` also computes a number for each query, $L = m + \ln l$.
Since

$$e^L = e^m\, l = e^m \sum_k e^{s_k - m} = \sum_k e^{s_k}$$

$L$ is $\ln \sum_k e^{s_k}$, the **log-sum-exp** of the query's scores. $L$
replaces the row of weights, which was not kept. To get a weight later,
compute its score again:

$$w_k = \frac{e^{s_k}}{\sum_j e^{s_j}} = e^{s_k - L}$$
*/

/* folded: how this is printed */
static void show_weights_again(void)
{
    float context[6][3], log_sum_exp[6], scores[1][6], weights[1][6],
        again[6];
    flash_forward(6, 6, 3, 3, mask_none(), life, life, life, context,
                  log_sum_exp);
    attention_weights(1, 6, 3, mask_none(), life + 2, life, scores,
                      weights);
    for (int j = 0; j < 6; j++)
        again[j] = expf(scores[0][j] - log_sum_exp[2]);
    print_vector("weights of short, by softmax", 6, weights[0]);
    print_vector("weights of short, from scores and log-sum-exp", 6, again);
}

/*
``` output
weights of short, by softmax (6)
[0.1823, 0.1013, 0.2740, 0.0898, 0.0874, 0.2652]
weights of short, from scores and log-sum-exp (6)
[0.1823, 0.1013, 0.2740, 0.0898, 0.0874, 0.2652]
```

(A float has some seven digits. Where the score and $L$ are in the
thousands, three of these digits stand behind the point. So $s - L$ may be
off by a thousandth, and $e^{s - L}$ by a thousandth of itself, as $e^x$ is
nearly $1 + x$.)

The log-sum-exp has a second use. Say that one core takes the first half of
the keys, and another core the second half. Each core gets a context vector,
mixed from the values of its own half, and a log-sum-exp. The two context
vectors and the two log-sum-exps are enough to make the context vector for
all keys, which is a challenge below.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "scores scale mask weights context");
    show_sizes();
    draw_mask();
    show_key_by_key();
    show_flash();
    show_squares();
    show_memory();
    show_weights_again();
    return 0;
}

/*
The same in PyTorch. `F.scaled_dot_product_attention` chooses by itself
whether it works by tiles. The function that it then calls can be called by
name, and gives the log-sum-exp, too:

``` python
import torch
import torch.nn.functional as F

words = "Life is short eat dessert first".split()
ids = torch.tensor([sorted(words).index(w) for w in words])
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(ids).detach()

tiles = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
context, log_sum = tiles(x[None, None], x[None, None], x[None, None])
print(context[0, 0])
print(log_sum[0, 0])
context, log_sum = tiles(x[None, None], x[None, None], x[None, None],
                         is_causal=True)
print(context[0, 0])
print(log_sum[0, 0])
print(F.softmax(x @ x.T / 3**0.5, dim=-1)[2])

q, k, v = [torch.rand(1, 2, 300, 64) for _ in range(3)]
scores = q @ k.mT / 8
context, log_sum = tiles(q, k, v)
assert torch.allclose(context, F.softmax(scores, dim=-1) @ v, atol=1e-6)
assert torch.allclose(log_sum, torch.logsumexp(scores, dim=-1), atol=1e-5)
```

`x[None, None]` is a batch of one text with one head.

## Further exercises

**Exercise 14.3** (★★, challenge, 3 points): `merge_contexts`. A query has a
context vector from one half of the keys, and another from the other half,
each with its log-sum-exp. Replace the first context vector by that for all
keys, and return the log-sum-exp of all keys. A half in which the query sees
nothing has minus infinity for its log-sum-exp and `nan` for its context
vector, and adds nothing; two such halves leave minus infinity and `nan`. A
log-sum-exp that is `nan` comes with a context vector of `nan`, and both
results are `nan`.

::: hint
With $L$ of [](#flash-log-sum), $e^{L}$ times the context vector is the sum
of $e^{s_k} v_k$ over one half. So a half is like a single key. What is its
score, and what its value?
:::

::: hint
Start with an `OnlineSoftmax` whose largest score is $L$ and whose sum is 1,
and with the first context vector as its mixture.
:::

::: done
The keys can be divided among several cores, or several machines, and the
results merged at the end.
:::

**Exercise 14.4** (by hand): The keys of a query have the scores 1, 3, 2.
What are the running maximum and the running sum after each key?

**Exercise 14.5** (by hand): In which order of keys is the largest score
raised most often, and in which order least?

## Solutions

::: {.solution exercise="14.3"}
A half counts as one key, whose score is the half's log-sum-exp and whose
value is its context vector. The online softmax starts as if that key of the
first half had been added:
*/

float merge_contexts(int d_v, float context[d_v], float log_sum_exp,
                     const float other[d_v], float other_log_sum_exp)
{
    OnlineSoftmax s = {.largest = log_sum_exp, .sum = 1};
    if (log_sum_exp == -INFINITY)
        online_softmax_init(d_v, &s, context);
    online_softmax_add(d_v, other_log_sum_exp, other, &s, context);
    return online_softmax_finish(d_v, &s, context);
}

/*
:::

::: {.solution exercise="14.4"}
The maximum is 1, 3, 3. The sum is 1; then $e^{1-3} + 1 = 1.135$; then
$e^{-2} + 1 + e^{-1} = 1.503$.
:::

::: {.solution exercise="14.5"}
Most often when the scores grow from key to key: then every key raises the
largest. Least often when the largest comes first.
:::
*/
