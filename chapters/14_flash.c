/*
# Attention without its table {#flash}

![The way from words to attention. This chapter takes the shaded steps in
one](pipeline.svg){#fig-flash-pipeline}

Each attention so far has written down a score for every query and every
key, and a weight for each score. The pages printed them, so it was good to
have them. But the result is a context vector for each query, and in the
course of its computation each score is read once and each weight is read
once. What does it cost to keep them?
*/

#include "attention.h"

static float mebibytes(double count)
{
    return (float)(count * sizeof(float) / (1024 * 1024));
}

static void show_tables(void)
{
    enum { TEXTS = 5 };
    const double tokens[TEXTS] = {6, 1024, 4096, 16384, 65536};
    float table[TEXTS][3];
    for (int i = 0; i < TEXTS; i++) {
        const double n = tokens[i];
        table[i][0] = (float)n;
        table[i][1] = mebibytes(4 * n * 64);
        table[i][2] = mebibytes(2 * n * n);
    }
    print_matrix("tokens; MiB of query, key, value, context; of scores and "
                 "weights",
                 TEXTS, 3, table);
}

/*
``` output
tokens; MiB of query, key, value, context; of scores and weights (5, 3)
[[    6.0000,     0.0059,     0.0003],
 [ 1024.0000,     1.0000,     8.0000],
 [ 4096.0000,     4.0000,   128.0000],
 [16384.0000,    16.0000,  2048.0000],
 [65536.0000,    64.0000, 32768.0000]]
```

A mebibyte, MiB, is 1,024 times 1,024 bytes. These are the tables of a
single head of 64 entries. What goes in and comes out grows with the number
of tokens, scores and weights with its square: 16 times for a text of four
times the length. A chapter of a novel has 16,384 tokens, and its scores and
weights need 2 GiB, head by head, layer by layer. At 65,536 they need 32
GiB, and most machines give up.

## Key by key {#flash-key}

Why do the scores have to be kept at all? Softmax ([](#softmax)) wants the
largest of them before it takes the first exponential, and the sum of all
exponentials before it knows the first share. So the last score must be
known before the first value can be mixed.

A challenge of [](#softmax) was a way around half of this: guess that the
largest score *so far* will remain the largest, and where the guess was
wrong, mend the sum by a factor [@milakov2018]. The same factor mends the
mixture [@rabe2021]. So let a query meet its keys one after the other, and
remember three things when it has met $j$ of them: $m_j$, the largest score
so far; $l_j$, the sum of the exponentials, each taken of a score less
$m_j$; and $c_j$, the values mixed with these exponentials, and not yet
divided by anything. The next key has the score $s$ and the value $v$:

$$m_{j+1} = \max(m_j, s), \qquad l_{j+1} = f\, l_j + e^{s - m_{j+1}}, \qquad
  \underset{d_v}{c_{j+1}} = f\, \underset{d_v}{c_j}
  + e^{s - m_{j+1}} \underset{d_v}{v}$$

with the factor $f = e^{m_j - m_{j+1}}$, which is 1 as long as the largest
score stays the largest.

Nothing is lost by that. Say that $l_j$ and $c_j$ are right for the keys
that were met: sums of $e^{s_k - m_j}$, and of $e^{s_k - m_j} v_k$. The
factor turns each of these exponentials into

$$f\, e^{s_k - m_j} = e^{m_j - m_{j+1}}\, e^{s_k - m_j}
  = e^{s_k - m_{j+1}}$$

which is what it would be had $m_{j+1}$ been the largest from the beginning.
The new key adds its own term, and both sums are right again. They were
right before the first key, when they were empty, and 0. So after the last
key $l$ is the sum by which softmax divides, and $c / l$ is the context
vector. This is the **online softmax**, with its **running maximum** and its
**running sum**:

::: {.header of="Running"}
:::
*/

void running_begin(int d_v, Running *r, float mixture[d_v])
{
    *r = (Running){.largest = -INFINITY, .sum = 0};
    for (int k = 0; k < d_v; k++)
        mixture[k] = 0;
}

/*
**Exercise 14.1** (★★, 3 points): `meet_key`. What the formulas say. A key
whose score is minus infinity is hidden, and nothing happens.

::: hint
`expf(r->largest - largest)` with the old maximum and the new one is the
factor for what was there, also for the first key: $e^{-\infty}$ is 0.
:::

::: hint
What would minus infinity less minus infinity be, if a hidden key came
first?
:::
*/

void meet_key(int d_v, float score, const float value[d_v], Running *r,
              float mixture[d_v])
{
    if (score == -INFINITY)
        return;
    const float largest = score > r->largest ? score : r->largest;
    const float shrink = expf(r->largest - largest);
    const float share = expf(score - largest);
    r->largest = largest;
    r->sum = r->sum * shrink + share;
    for (int k = 0; k < d_v; k++)
        mixture[k] = mixture[k] * shrink + share * value[k];
}

/*
After the last key, the mixture is divided. The logarithm of the whole sum,
$m + \ln l$, is handed back; we shall need it.
*/

float running_end(int d_v, const Running *r, float mixture[d_v])
{
    for (int k = 0; k < d_v; k++)
        mixture[k] = (float)(mixture[k] / r->sum);
    return (float)(r->largest + log(r->sum));
}

/*
The sentence is *Life is short, eat dessert first*, with the queries, keys
and values of [](#scaling). This is what *short* meets:
*/

static void project_life(float query[6][2], float key[6][2],
                         float value[6][4])
{
    Random r;
    float w_query[3][2], w_key[3][2], w_value[3][4];
    random_seed(&r, 123);
    rand_fill(&r, 3, 2, w_query);
    rand_fill(&r, 3, 2, w_key);
    rand_fill(&r, 3, 4, w_value);
    project(6, 3, 2, 4, life, w_query, w_key, w_value, query, key, value);
}

static void show_meetings(void)
{
    float query[6][2], key[6][2], value[6][4];
    float scores[1][6], weights[1][6], context[1][4], met[6][3], mixture[4];
    project_life(query, key, value);
    attention(1, 6, 2, 4, query + 2, key, value, scores, weights, context);
    Running r;
    running_begin(4, &r, mixture);
    for (int j = 0; j < 6; j++) {
        meet_key(4, scores[0][j], value[j], &r, mixture);
        memcpy(met[j], (float[]){scores[0][j], r.largest, (float)r.sum},
               sizeof met[j]);
    }
    print_matrix("score; largest so far; sum so far", 6, 3, met);
    running_end(4, &r, mixture);
    print_vector("context vector of short, key by key", 4, mixture);
    print_vector("context vector of short, by attention", 4, context[0]);
}

/*
::: question
Which of the six keys make the sum smaller than it was?

None of the keys itself, as each adds something. But a key with a new
largest score first multiplies the sum by less than 1.
:::

``` output
score; largest so far; sum so far (6, 3)
[[ 0.1720,  0.1720,  1.0000],
 [-0.9853,  0.1720,  1.3143],
 [ 0.4150,  0.4150,  2.0308],
 [-0.1309,  0.4150,  2.6102],
 [-0.3671,  0.4150,  3.0676],
 [ 0.3345,  0.4150,  3.9903]]
context vector of short, key by key (4)
[-0.3542, -0.1234, -0.2626, -0.3706]
context vector of short, by attention (4)
[-0.3542, -0.1234, -0.2626, -0.3706]
```

## A block of keys {#flash-block}

A key with a new largest score costs a pass over the mixture, and even where
the largest score stays, every key multiplies all of the mixture by 1. So
meet the keys a block at a time: the largest score of the block first, then
one factor for what was there, then all keys of the block.

**Exercise 14.2** (★★★, 4 points): `meet_keys`. The same for `n` keys at
once: the sum and the mixture are multiplied once. The result is that of
`meet_key` for each of them, but for rounding. Where all scores are minus
infinity, nothing happens.

::: hint
Three steps: the largest of the old maximum and all scores; the factor; the
keys.
:::

::: hint
If the largest is still minus infinity, nothing has been seen so far, and
there is nothing to do. Where it is not, the exponential of a hidden score
is 0 by itself.
:::
*/

void meet_keys(int n, int d_v, const float scores[n],
               const float value[n][d_v], Running *r, float mixture[d_v])
{
    float largest = r->largest;
    for (int j = 0; j < n; j++)
        if (scores[j] > largest || isnan(scores[j]))
            largest = scores[j];
    if (largest == -INFINITY)
        return;
    const float shrink = expf(r->largest - largest);
    r->largest = largest;
    r->sum *= shrink;
    for (int k = 0; k < d_v; k++)
        mixture[k] *= shrink;
    for (int j = 0; j < n; j++) {
        const float share = expf(scores[j] - largest);
        r->sum += share;
        for (int k = 0; k < d_v; k++)
            mixture[k] += share * value[j][k];
    }
}

/*
A block needs its scores, so there is a table again. But it is as large as a
block, however long the text, and the next block writes over it.

## Tiles {#flash-tiles}

Keys and values have to come from memory for each query that meets them. So
let a few queries, a **tile** of them, meet a block together, while it is at
hand. What they need are `dot_scores`, `scale_scores` and a mask, for a
small piece of the table:
*/

enum { TILE = 32, BLOCK = 32 }; /* queries that meet as many keys */

/* Hides what the queries from number i on must not see of the keys from
 * number j on. */
static void mask_tile(Mask see, int i, int j, int rows, int cols,
                      float scores[rows][cols])
{
    if (see.kind == MASK_CAUSAL)
        mask_scores(rows, cols, see.first + i - j, scores);
    for (int k = 0; k < rows && see.kind == MASK_TABLE; k++)
        mask_where(1, cols,
                   (const void *)(see.table + (i + k) * (size_t)see.m + j),
                   scores + k);
}

/*
In the tile, query `i` is the first, and key `j`. `mask_scores` wants to
know which key stands where the first query stands, counted from the first
key it is given, and that is `first + i - j`.

With a causal mask, most pieces beyond the diagonal have nothing to be seen.
Nobody has to compute them in order to hide them:
*/

/* Do any of the queries up to number `last` see the keys from j on? */
static int is_seen(Mask see, int last, int j)
{
    return see.kind != MASK_CAUSAL || j <= (int64_t)see.first + last;
}

/* What the queries from number i on get; what the caller hands over begins
 * with theirs. */
static void attend_tile(int i, int rows, int m, int d_k, int d_v, Mask see,
                        const float query[rows][d_k],
                        const float key[m][d_k], const float value[m][d_v],
                        float context[rows][d_v], float log_sum[rows])
{
    float memory[TILE * BLOCK];
    Running running[TILE];
    for (int k = 0; k < rows; k++)
        running_begin(d_v, &running[k], context[k]);
    for (int j = 0; j < m && is_seen(see, i + rows - 1, j); j += BLOCK) {
        const int cols = m - j < BLOCK ? m - j : BLOCK;
        float(*scores)[cols] = (void *)memory;
        dot_scores(rows, cols, d_k, query, key + j, scores);
        scale_scores(rows, cols, d_k, scores);
        mask_tile(see, i, j, rows, cols, scores);
        for (int k = 0; k < rows; k++)
            meet_keys(cols, d_v, scores[k], value + j, &running[k],
                      context[k]);
    }
    for (int k = 0; k < rows; k++)
        log_sum[k] = running_end(d_v, &running[k], context[k]);
}

/*
The mixtures stand where the context vectors will be. All queries are cut
into tiles, and that is **FlashAttention** [@dao2022], as far as its idea
goes:
*/

void flash_forward(int n, int m, int d_k, int d_v, Mask see,
                   const float query[n][d_k], const float key[m][d_k],
                   const float value[m][d_v], float context[n][d_v],
                   float log_sum[n])
{
    if (see.kind != MASK_NONE && see.kind != MASK_CAUSAL &&
        (see.kind != MASK_TABLE || !see.table || see.n != n || see.m != m))
        REFUSE(
            "a mask of kind %d, %d times %d, for %d queries and %d keys: "
            "one of kind 0 or 1, or a table of their size, is needed",
            (int)see.kind, see.n, see.m, n, m);
    for (int i = 0; i < n; i += TILE)
        attend_tile(i, n - i < TILE ? n - i : TILE, m, d_k, d_v, see,
                    query + i, key, value, context + i, log_sum + i);
}

/*
The tests compare it with `attention` and `masked_weights` and with PyTorch,
for texts that fill no tile, one tile, or several and a bit. Here are the
six words, once with everything seen and once with the future hidden:
*/

static void show_flash(void)
{
    float query[6][2], key[6][2], value[6][4], context[6][4], log_sum[6];
    project_life(query, key, value);
    flash_forward(6, 6, 2, 4, see_all(), query, key, value, context,
                  log_sum);
    print_matrix("context vectors", 6, 4, context);
    print_vector("logarithms of the sums", 6, log_sum);
    flash_forward(6, 6, 2, 4, see_past(0), query, key, value, context,
                  log_sum);
    print_matrix("context vectors, the future hidden", 6, 4, context);
    print_vector("logarithms of the sums, the future hidden", 6, log_sum);
}

/*
``` output
context vectors (6, 4)
[[-0.1564,  0.1028, -0.0763, -0.0764],
 [ 0.5313,  1.3607,  0.7891,  1.3110],
 [-0.3542, -0.1234, -0.2626, -0.3706],
 [ 0.0071,  0.3345,  0.0969,  0.1998],
 [ 0.1008,  0.4780,  0.2021,  0.3674],
 [-0.5296, -0.2799, -0.4107, -0.6006]]
logarithms of the sums (6)
[1.7738, 2.8296, 1.7988, 1.8375, 1.8980, 1.9301]
```

``` output
context vectors, the future hidden (6, 4)
[[-0.2546, -0.2608, -0.1544, -0.2801],
 [ 0.6124,  1.7823,  1.0298,  1.6994],
 [-0.4415, -0.1738, -0.2191, -0.3539],
 [ 0.1242,  0.4529,  0.2647,  0.4297],
 [ 0.2848,  0.6142,  0.3719,  0.6158],
 [-0.5296, -0.2799, -0.4107, -0.6006]]
logarithms of the sums, the future hidden (6)
[0.0434, 2.5088, 1.1234, 1.4436, 1.7667, 1.9301]
```

These are the tables of [](#scaling) and [](#causal-mask). And this is what
is computed of the table of 256 queries and 256 keys, in pieces of 32 times
32:
*/

static void draw_pieces(void)
{
    enum { PIECES = 8 };
    const char *const panel[2] = {"all seen", "the future hidden"};
    const Mask see[2] = {see_all(), see_past(0)};
    float piece[2][PIECES][PIECES];
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < PIECES; i++)
            for (int j = 0; j < PIECES; j++)
                piece[p][i][j] =
                    is_seen(see[p], (i + 1) * TILE - 1, j * BLOCK);
    grid("pieces", "Pieces of the table that are computed", 2, panel,
         PIECES, PIECES, piece);
}

/*
![Pieces that are computed. With a causal mask nearly half are left
out](pieces.svg){#fig-flash-pieces}

(A value that no query of a tile may see is not even read there. In
[](#causal-mask) it was mixed with the weight 0, so that an infinite one
spoiled rows that must not see it. Now it may or may not, depending on where
the tiles end.)

## What it remembers {#flash-memory}

The scores of a piece, and a maximum and a sum for each query of a tile.
That is all, for a text of any length:
*/

static void show_memory(void)
{
    enum { TEXTS = 4 };
    const char *const curve[2] = {"scores and weights", "tile by tile"};
    const char *const at[TEXTS] = {"1,024", "2,048", "3,072", "4,096"};
    const float piece = mebibytes(TILE * BLOCK + TILE * 3);
    float grows[2][TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        const double n = 1024 * (i + 1);
        grows[0][i] = mebibytes(2 * n * n);
        grows[1][i] = piece;
    }
    print_matrix("MiB for 1,024 to 4,096 tokens: with the table, by tiles",
                 2, TEXTS, grows);
    print_integers("tokens whose scores and weights fill 16 GiB", 1,
                   (int[]){(int)sqrt(16.0 * 1024 * 1024 * 1024 /
                                     (2 * sizeof(float)))});
    curves("memory", "MiB that attention remembers, by tokens", curve,
           TEXTS, at, grows);
}

/*
``` output
MiB for 1,024 to 4,096 tokens: with the table, by tiles (2, 4)
[[  8.0000,  32.0000,  72.0000, 128.0000],
 [  0.0043,   0.0043,   0.0043,   0.0043]]
tokens whose scores and weights fill 16 GiB (1)
[46340]
```

![What attention has to remember beyond what goes in and comes
out](memory.svg){#fig-flash-memory}

What is computed has not become less: each score takes its dot product and
its exponential as before. A processor computes faster than memory can hand
it numbers, though, and a piece of 4 KiB stays where it is near. How fast
that makes it, and what else has to be done, is the next chapter's.

## The logarithm of the sum {#flash-log-sum}

`flash_forward` hands back a number for each query, $L = m + \ln l$. It is
the **log-sum-exp** of the query's scores, $\ln \sum_k e^{s_k}$, and it is
as good as the row of weights that nobody has kept:

$$w_k = \frac{e^{s_k}}{\sum_j e^{s_j}} = e^{s_k - L}$$

Whoever needs a weight later computes its score again, and takes this
exponential. Training will ([](#self-attention-training) asked how the
result changes with the parameters), and it costs less than to keep them.
*/

static void show_weights_again(void)
{
    float query[6][2], key[6][2], value[6][4], context[6][4], log_sum[6];
    float scores[6][6], weights[6][6], again[6];
    project_life(query, key, value);
    flash_forward(6, 6, 2, 4, see_all(), query, key, value, context,
                  log_sum);
    masked_weights(6, 6, 2, see_all(), query, key, scores, weights);
    for (int j = 0; j < 6; j++)
        again[j] = expf(scores[2][j] - log_sum[2]);
    print_vector("weights of short, by softmax", 6, weights[2]);
    print_vector("weights of short, from scores and log-sum-exp", 6, again);
}

/*
``` output
weights of short, by softmax (6)
[0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312]
weights of short, from scores and log-sum-exp (6)
[0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312]
```

It does more. Let somebody else work on half of the keys, in another thread
or on another machine. Two context vectors come back, each a mixture of its
own half, and two log-sum-exps. They are enough to make the one vector of
all keys, which is a challenge below.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "scores scale mask weights context");
    show_tables();
    show_meetings();
    show_flash();
    draw_pieces();
    show_memory();
    show_weights_again();
    return 0;
}

/*
The same in PyTorch. `F.scaled_dot_product_attention` chooses by itself
whether it works by tiles; what it calls then can be called by name, and
hands back the log-sum-exp, too:

``` python
import torch
import torch.nn.functional as F

words = "Life is short eat dessert first".split()
ids = torch.tensor([sorted(words).index(w) for w in words])
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(ids).detach()
torch.manual_seed(123)
query, key = x @ torch.rand(3, 2), x @ torch.rand(3, 2)
value = x @ torch.rand(3, 4)

scores = query @ key.T / 2**0.5
print(F.scaled_dot_product_attention(query, key, value))
print(torch.logsumexp(scores, dim=-1))
print(F.scaled_dot_product_attention(query, key, value, is_causal=True))
hidden = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf)
print(torch.logsumexp(hidden, dim=-1))
print(F.softmax(scores, dim=-1)[2])

q, k, v = [torch.rand(1, 2, 300, 64) for _ in range(3)]
tiles = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
context, log_sum = tiles(q, k, v)
scores = q @ k.mT / 8
assert torch.allclose(context, F.softmax(scores, dim=-1) @ v, atol=1e-6)
assert torch.allclose(log_sum, torch.logsumexp(scores, dim=-1), atol=1e-5)
```

Our tiles are clear, and they are slow: a few lines of C that a processor
takes one number at a time.

## Further exercises

**Exercise 14.3** (★★, challenge, 3 points): `join_parts`. What a query has
got from one part of the keys and what it has got from the rest, each with
its log-sum-exp, made into what it gets from all of them, in place of the
first. A part in which it saw nothing has minus infinity for a log-sum-exp
and `nan` for a context vector, and adds nothing.

::: hint
By which share of the whole must each part be multiplied? The sum of the
whole is $e^{L_a} + e^{L_b}$.
:::

::: hint
$e^{L_a}$ may be infinite as a float. Subtract the larger of the two first,
as `softmax` does.
:::

**Exercise 14.4** (by hand): A query meets keys with the scores 1, 3, 2.
What are the running maximum and the running sum after each of them?

**Exercise 14.5** (by hand): In which order of keys does the largest score
change most often, and in which order least?

## Solutions

::: {.solution exercise="14.3"}
The two log-sum-exps are scores of the two parts: their softmax is how much
of each is wanted, and their log-sum-exp is that of the whole. So the parts
are met like keys, with the context vectors for values.
*/

float join_parts(int d_v, float context[d_v], float log_sum,
                 const float other[d_v], float other_log_sum)
{
    Running r;
    float mixture[d_v];
    running_begin(d_v, &r, mixture);
    meet_key(d_v, log_sum, context, &r, mixture);
    meet_key(d_v, other_log_sum, other, &r, mixture);
    memcpy(context, mixture, sizeof mixture);
    return running_end(d_v, &r, context);
}

/*
:::

::: {.solution exercise="14.4"}
The maximum is 1, 3, 3. The sum is 1; then $e^{1-3} + 1$; then
$e^{-2} + 1 + e^{-1}$.
:::

::: {.solution exercise="14.5"}
Most often when the scores grow from key to key: it changes with every one.
Least when the largest comes first.
:::
*/
