/*
# The way back, in tiles {#flash-backward}

![The way from words to attention. This chapter goes back through the shaded
steps without their tables](pipeline.svg){#fig-flash-backward-pipeline}

[](#backward) goes back along the trace. It reads the weights of each head,
which the trace has kept for that, with the scores they came from and two
tables of dropout's: four times $n \times m$ numbers. [](#flash) does
without such tables. But what is there then to go back along? Each query has
been left with a single number, its log-sum-exp. How much would be saved if
that were enough?
*/

#include "attention/19_flash_backward.h"
#include "attention/01_dot_product.h"
#include "attention/05_tokens.h"
#include "attention/06_scaling.h"
#include "attention/11_causal_attention.h"
#include "attention/14_flash.h"
#include "attention/18_backward.h"
#include "attention/B_normals.h"
#include "support.h"

static void show_sizes(void)
{
    enum { SIZES = 3, LINES = 3 };
    const char *const label[LINES] = {"four tables", "what goes in and out",
                                      "log-sum-exps"};
    const float mebibytes = sizeof(float) / (1024.0f * 1024);
    float table[SIZES][3], tokens[SIZES], y[LINES][SIZES];
    for (int i = 0; i < SIZES; i++) {
        const float n = tokens[i] = (float)(1024 << 3 * i);
        y[0][i] = 4 * n * n * mebibytes;
        y[1][i] = 4 * n * 64 * mebibytes;
        y[2][i] = n * mebibytes;
        memcpy(table[i], (float[]){n, y[0][i], y[2][i]}, sizeof table[i]);
    }
    print_matrix("tokens; MiB of a head's four tables, of its log-sum-exps",
                 SIZES, 3, table);
    figure_log_log("memory", "What one head keeps for the way back",
                   "tokens", "MiB", LINES, label, SIZES, tokens, y);
}

/*
``` output
tokens; MiB of a head's four tables, of its log-sum-exps (3, 3)
[[ 1024.0000,    16.0000,     0.0039],
 [ 8192.0000,  1024.0000,     0.0312],
 [65536.0000, 65536.0000,     0.2500]]
```

![What one head keeps for the way back. What goes in and out, queries, keys,
values and contexts of 64 entries, is there in any case; both axes grow by
factors](memory.svg){#fig-flash-backward-memory}

With 8,192 tokens the tables of one head take 1,024 MiB. A model may have
hundreds of heads, and all their tables have to wait until the way back
comes to them. The log-sum-exps take a thirty-second of one MiB.

## Weights, made again {#flash-backward-again}

For the weights it is enough, as [](#flash-log-sum) has found: with $L$ for
the log-sum-exp, $w_j = e^{s_j - L}$. The score $s_j$ has to be computed
again, from its query and its key. That costs time, but it takes no other
key. So a weight can be made just when it is wanted, and forgotten. To make
again what one could have kept is called **recomputation**.

**Exercise 19.1** (★, 2 points): `recompute_weights`. Scores, already
divided and masked, become weights, in place. A query that has seen nothing
has the log-sum-exp $-\infty$, and its weights are to be 0.

::: hint
Row `i` has one log-sum-exp for all of its scores: `log_sum_exp[i]`.
:::

::: hint
Where nothing was seen, what would minus infinity less minus infinity be?
:::

::: done
No maximum, no sum, no division: one number has kept what softmax had found
out about the whole row.
:::
*/

void recompute_weights(int n, int m, const float log_sum_exp[n],
                       float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = log_sum_exp[i] == -INFINITY
                          ? 0
                          : expf(x[i][j] - log_sum_exp[i]);
}

/*
## A row's mean, without the row {#flash-backward-mean}

Back through softmax, the slope of score $j$ is
$w_j (g_j - \sum_k w_k g_k)$, where $g_k$ is the slope of weight $k$
([](#backward-softmax)). The sum goes over the whole row, and a square of
the row does not know it. Must all keys be met once more, only for a mean?

Look at what $g_k$ is. Weight $k$ is used in the mixture alone. For each
unit that it grows, entry $i$ of the context $c$ grows by entry $i$ of value
$k$, which is $v_{ki}$; and for each unit of that entry, the loss grows by
its slope, which we call $\gamma_i$. With all entries, $g_k = \sum_i
v_{ki}\, \gamma_i$. Put this into the mean, and add up over the keys first:

$$\sum_{k=1}^{m} w_k\, g_k
  = \sum_{k=1}^{m} w_k \sum_{i=1}^{d_v} v_{ki}\, \gamma_i
  = \sum_{i=1}^{d_v} \gamma_i \sum_{k=1}^{m} w_k\, v_{ki}
  = \sum_{i=1}^{d_v} \gamma_i\, c_i$$

since the values, mixed by their weights, are the context. So the mean is
the dot product of a context vector with its own gradient, however many keys
there were [@dao2022].

**Exercise 19.2** (★, 2 points): `context_dot_grad`. The mean for each
query, by its context vector. A query that has seen nothing has no context
vector but `nan`, and its mean is to be 0.

::: hint
Both lists have `d_v` entries: `context[i]` and `grad_context[i]`.
:::

::: hint
Which queries have seen nothing is said by their log-sum-exp, as in the
exercise before.
:::

::: done
A sum over thousands of keys has become one over the entries of a single
vector, and it is exact.
:::
*/

void context_dot_grad(int n, int d_v, const float log_sum_exp[n],
                      const float context[n][d_v],
                      const float grad_context[n][d_v], float mean[n])
{
    for (int i = 0; i < n; i++)
        mean[i] = log_sum_exp[i] == -INFINITY
                      ? 0
                      : dot(d_v, grad_context[i], context[i]);
}

/*
For *short* in *Life is short, eat dessert first*, with embeddings for
queries, keys and values as in [](#flash), and with a loss that is just the
sum of the context's entries, so that each of these has the slope 1:
*/

static const float ones[6][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1},
                                 {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};

static void show_mean(void)
{
    float context[6][3], log_sum_exp[6], weights[1][6], g[1][6], mean;
    flash_forward(6, 6, 3, 3, mask_none(), life, life, life, context,
                  log_sum_exp);
    dot_scores(1, 6, 3, life + 2, life, weights);
    scale_scores(1, 6, 3, weights);
    recompute_weights(1, 6, log_sum_exp + 2, weights);
    dot_scores(1, 6, 3, ones, life, g);
    context_dot_grad(1, 3, log_sum_exp + 2, context + 2, ones, &mean);
    print_vector("weights of short, made again", 6, weights[0]);
    print_vector("their slopes", 6, g[0]);
    print_vector("their mean, by the weights and by the context", 2,
                 (float[]){dot(6, weights[0], g[0]), mean});
}

/*
``` output
weights of short, made again (6)
[0.1823, 0.1013, 0.2740, 0.0898, 0.0874, 0.2652]
their slopes (6)
[-0.1439,  2.5700, -0.8283,  0.1683,  0.4209, -1.9039]
their mean, by the weights and by the context (2)
[-0.4459, -0.4459]
```

## A square of the table {#flash-backward-tiles}

So the whole of [](#backward-head) can be done for a square of the table, of
32 queries and 32 keys, and by the same functions. Four of the lines below
make the weights again, and four go back. `slopes_of_scores` is softmax's
step:
*/

static void slopes_of_scores(int n, int m, const float weights[n][m],
                             const float mean[n], float g[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            g[i][j] = weights[i][j] * (g[i][j] - mean[i]);
}

enum { SIDE = 32 }; /* queries and keys of a square, at most */

void flash_backward(int n, int m, int d_k, int d_v, Mask mask,
                    const float query[n][d_k], const float key[m][d_k],
                    const float value[m][d_v], const float context[n][d_v],
                    const float log_sum_exp[n],
                    const float grad_context[n][d_v],
                    float grad_query[n][d_k], float grad_key[m][d_k],
                    float grad_value[m][d_v])
{
    mask_check(n, m, mask);
    for (int i = 0; i < n; i += SIDE) {
        const int rows = min_int(SIDE, n - i);
        float mean[SIDE], memory[2][SIDE * SIDE];
        context_dot_grad(rows, d_v, log_sum_exp + i, context + i,
                         grad_context + i, mean);
        for (int j = 0; j < m && mask_shows_block(mask, i + rows - 1, j);
             j += SIDE) {
            const int cols = min_int(SIDE, m - j);
            float(*weights)[cols] = ROWS(cols, memory[0]);
            float(*g)[cols] = memset(memory[1], 0, sizeof memory[1]);
            dot_scores(rows, cols, d_k, query + i, key + j, weights);
            scale_scores(rows, cols, d_k, weights);
            mask_square(mask, i, j, rows, cols, weights);
            recompute_weights(rows, cols, log_sum_exp + i, weights);
            matmul_backward(rows, d_v, cols, weights, value + j,
                            grad_context + i, g, grad_value + j);
            slopes_of_scores(rows, cols, weights, mean, g);
            scale_scores(rows, cols, d_k, g);
            dot_scores_backward(rows, cols, d_k, query + i, key + j, g,
                                grad_query + i, grad_key + j);
        }
    }
}

/*
(`mask_square` and `mask_shows_block` are those of [](#flash-tiles). No
`mask_backward` is needed: what is hidden has the weight 0, and no weight is
`nan`.)

Nothing connects the squares but `+=`. A query's gradient is a sum over all
keys, that of a key or a value one over all queries, and each square adds
its own share. Here are six words, the future hidden, and the same
loss:

::: question
*Life* sees only itself. What is its row of `grad_query`?

All 0. Its one weight is 1, whatever its score, so its query changes
nothing.
:::
*/

static void show_words(void)
{
    float context[6][3], log_sum_exp[6];
    float grad_query[6][3] = {{0}}, grad_key[6][3] = {{0}},
          grad_value[6][3] = {{0}};
    flash_forward(6, 6, 3, 3, mask_causal(0), life, life, life, context,
                  log_sum_exp);
    flash_backward(6, 6, 3, 3, mask_causal(0), life, life, life, context,
                   log_sum_exp, ones, grad_query, grad_key, grad_value);
    print_matrix("grad_query of Life is short, the future hidden", 6, 3,
                 grad_query);
    print_matrix("grad_key", 6, 3, grad_key);
    print_matrix("grad_value", 6, 3, grad_value);
}

/* The slopes of queries, keys and values by the tables of chapter 18. */
static void show_by_tables(int n, int d, Mask mask, const float x[n][d],
                           const float slopes[n][d], float g[3][n][d])
{
    const Trace size = {.n = n, .m = n, .n_heads = 1, .d_k = d, .d_v = d};
    Trace t, grad_t;
    trace_init(&t, &size);
    trace_init(&grad_t, &size);
    attend(n, n, d, d, mask, 0, NULL, x, x, x, ROWS(n, t.scores),
           ROWS(n, t.weights), ROWS(n, t.keep_mask), ROWS(n, t.dropped),
           ROWS(d, t.context));
    attend_backward(n, n, d, d, 0, x, x, x, ROWS(n, t.scores),
                    ROWS(n, t.weights), ROWS(n, t.keep_mask),
                    ROWS(n, t.dropped), slopes, ROWS(n, grad_t.dropped),
                    ROWS(n, grad_t.weights), ROWS(n, grad_t.scores), g[0],
                    g[1], g[2]);
    trace_free(&t);
    trace_free(&grad_t);
}

/* The same by tables and without, for 100 tokens. */
static void show_agreement(const char *what, Mask mask)
{
    enum { N = 100, D = 16 };
    static float x[N][D], slopes[N][D], context[N][D];
    static float due[3][N][D], g[3][N][D];
    float log_sum_exp[N];
    Random r = random_seeded(123);
    normal_fill(&r, N, D, 0, 1, x);
    normal_fill(&r, N, D, 0, 1, slopes);
    memset(due, 0, sizeof due);
    memset(g, 0, sizeof g);
    show_by_tables(N, D, mask, x, slopes, due);
    flash_forward(N, N, D, D, mask, x, x, x, context, log_sum_exp);
    flash_backward(N, N, D, D, mask, x, x, x, context, log_sum_exp, slopes,
                   g[0], g[1], g[2]);
    printf("%s, ", what);
    print_answer("as with tables to 1e-5",
                 largest_difference(3 * N * D, g[0][0], due[0][0]) < 1e-5f);
}

/*
``` output
grad_query of Life is short, the future hidden (6, 3)
[[ 0.0000,  0.0000,  0.0000],
 [-0.0176,  0.2315,  0.0892],
 [-0.0261,  0.5320,  0.3854],
 [ 0.0025,  0.5314,  0.2220],
 [ 0.0529,  0.5727,  0.1628],
 [ 0.3744,  0.1221,  0.5506]]
grad_key (6, 3)
[[-0.0121, -0.1807, -0.1729],
 [-0.3427,  0.3169, -0.0804],
 [-0.0035,  0.0423,  0.0694],
 [ 0.0281,  0.0151, -0.1330],
 [-0.0362,  0.0209, -0.1161],
 [ 0.3664, -0.2146,  0.4331]]
grad_value (6, 3)
[[1.8183, 1.8183, 1.8183],
 [1.6708, 1.6708, 1.6708],
 [0.8759, 0.8759, 0.8759],
 [0.6616, 0.6616, 0.6616],
 [0.3447, 0.3447, 0.3447],
 [0.6287, 0.6287, 0.6287]]
```

With this loss, a row of `grad_value` is what all words have taken of a
value. *Life*, which all six have seen, comes first. A hundred tokens are
sixteen squares, held here against the tables of [](#backward):

``` output
100 tokens, as with tables to 1e-5: yes
the future hidden, as with tables to 1e-5: yes
```

The forward has two products, of queries with keys and of weights with
values. On the way back each has become two. To make the scores again is one
more, the fifth:
*/

static void show_products(void)
{
    const FigureBlock block[] = {
        {"query", 5, 3, 1, "·"},       {"keyᵀ", 3, 4, 1, "="},
        {"scores", 5, 4, 1, NULL},     {"grad_context", 5, 2, 1, "·"},
        {"valueᵀ", 2, 4, 1, "="},      {"grad_weights", 5, 4, 1, NULL},
        {"weightsᵀ", 4, 5, 1, "·"},    {"grad_context", 5, 2, 1, "="},
        {"grad_value", 4, 2, 1, NULL}, {"grad_scoresᵀ", 4, 5, 1, "·"},
        {"query", 5, 3, 1, "="},       {"grad_key", 4, 3, 1, NULL},
        {"grad_scores", 5, 4, 1, "·"}, {"key", 4, 3, 1, "="},
        {"grad_query", 5, 3, 1, NULL}};
    print_integers("products: forward, back with tables, back without", 3,
                   (int[]){2, 4, 5});
    figure_blocks("products", "Five products on the way back",
                  sizeof block / sizeof *block, block);
}

/*
``` output
products: forward, back with tables, back without (3)
[2, 4, 5]
```

![Five products on the way back. What is 5 × 4 here is never there as a
whole, only square by square](products.svg){#fig-flash-backward-products}

That is a quarter more to compute. But what is not kept is neither written
nor fetched again, and where memory is what a machine waits for, the way
back is even sooner done [@dao2022].

## Who meets whom {#flash-backward-rounds}

In the forward, threads had it easy: each strip of queries wrote contexts of
its own. Now both sides of a meeting are added to. Let one thread take some
queries and another the next ones, and both add to the same keys. To add is
to read a number and to write another:

| thread A | thread B | `grad_key` |
|:-------------|:-------------|--------:|
| reads 5 | | 5 |
| | reads 5 | 5 |
| writes 5 + 1 | | 6 |
| | writes 5 + 2 | 7 |

It should be 8. What A has added is lost, now and then, depending on who
comes when: a **race**. Nothing is refused, nothing crashes, and with one
thread all is right. If the threads shared out the keys instead, they would
race for the queries.

A head for each thread would do, where there are heads enough. Where there
are not, cut the head's keys into parts, and its queries into as many, and
hold a tournament. In each round every part of the keys meets one of the
queries, and no two the same. After as many rounds as there are parts, all
have met all, and nobody was ever asked to two places.

**Exercise 19.3** (★★, 2 points): `query_part`. The part of the queries that
part `keys` of the keys meets in a round. Parts and rounds are counted from
0. Any schedule will do in which no two meet the same part in a round, and
each has met all of them in the end.

::: hint
In round 0, part `k` of the keys may meet part `k` of the queries. Who is
free for it in the next round, if all others want the same?
:::

::: hint
Behind the last part comes part 0 again.
:::

::: done
No locks, no copies, no races: who writes where has been settled before
anybody begins.
:::
*/

int query_part(int parts, int keys, int round)
{
    const int next = keys + round;
    return next < parts ? next : next - parts;
}

static void show_rounds(void)
{
    enum { PARTS = 4 };
    const char *const label[PARTS] = {"round 0", "round 1", "round 2",
                                      "round 3"};
    float met[PARTS][PARTS][PARTS] = {{{0}}};
    for (int round = 0; round < PARTS; round++) {
        int queries[PARTS];
        for (int k = 0; k < PARTS; k++) {
            queries[k] = query_part(PARTS, k, round);
            met[round][k][queries[k]] = 1;
        }
        print_integers(label[round], PARTS, queries);
    }
    figure_grid("rounds", "Which keys meet which queries, round by round",
                PARTS, label, PARTS, PARTS, met);
}

/*
``` output
round 0 (4)
[0, 1, 2, 3]
round 1 (4)
[1, 2, 3, 0]
round 2 (4)
[2, 3, 0, 1]
round 3 (4)
[3, 0, 1, 2]
```

![Four rounds. A row is a part of the keys, a column a part of the queries;
no row and no column has two](rounds.svg){#fig-flash-backward-rounds}

Sums of floats depend on their order, too ([](#kernel-order)). Rounds come
one after the other, and how many there are depends on the sizes alone. So
each number gets what it gets in the same order, from one thread or from
twenty, and has the same digits.
*/

typedef struct BackwardTask BackwardTask; /* a call, and its gradients */
typedef struct Workspace Workspace;       /* one thread's buffers */

static Workspace *new_workspace(const AttentionCall *call);

/* In a head, part `keys` of the keys meets a part of the queries. */
static void add_part(const BackwardTask *task, Workspace *work,
                     int64_t head, int keys, int queries);

static void add_all_parts(const BackwardTask *task,
                          const AttentionCall *call, int64_t heads,
                          int parts, int threads)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        Workspace *work = new_workspace(call);
        for (int round = 0; round < parts; round++) {
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < heads * parts; i++)
                add_part(task, work, i / parts, (int)(i % parts),
                         query_part(parts, (int)(i % parts), round));
        }
        free(work);
    }
}

/*
Behind `omp parallel`, each thread runs all that stands in the braces, with
a workspace of its own. `omp for` shares out the turns of the loop, and at
its end each thread waits for all others: the round is over.

`attend_fast_backward` takes a call that `attend_fast` has computed, and
where the gradients lie. `attend_fast_backward_of(best_kernel())` is the
same for the processor at hand. Here it goes back through a head of 600
tokens, in two parts and so in two rounds:
*/

/* A head of 600 tokens, there and back in so many threads. */
static void show_back(int threads, float x[600][16], float slopes[600][16],
                      float context[600][16], float log_sum_exp[600],
                      float g[3][600][16])
{
    const StridedRows rows = rows_by_head(1, 600, 16, x[0]);
    AttentionCall call = {.texts = 1, .n_heads = 1, .n = 600, .m = 600};
    call.d_k = call.d_v = 16;
    call.mask = mask_causal(0);
    call.query = call.key = call.value = rows;
    call.context = rows_by_head(1, 600, 16, context[0]);
    call.log_sum_exp = log_sum_exp;
    call.threads = threads;
    memset(g, 0, sizeof(float[3][600][16]));
    best_kernel()->attend(&call);
    attend_fast_backward_of(best_kernel())(
        &call, rows_by_head(1, 600, 16, slopes[0]),
        rows_by_head(1, 600, 16, g[0][0]),
        rows_by_head(1, 600, 16, g[1][0]),
        rows_by_head(1, 600, 16, g[2][0]));
}

static void show_fast(void)
{
    static float x[600][16], slopes[600][16], context[600][16];
    static float g[3][600][16], other[3][600][16];
    float log_sum_exp[600];
    Random r = random_seeded(123);
    normal_fill(&r, 600, 16, 0, 1, x);
    normal_fill(&r, 600, 16, 0, 1, slopes);
    show_back(1, x, slopes, context, log_sum_exp, g);
    show_back(3, x, slopes, context, log_sum_exp, other);
    print_answer("600 tokens, the same digits with 3 threads",
                 !memcmp(g, other, sizeof g));
    memset(other, 0, sizeof other);
    flash_backward(600, 600, 16, 16, mask_causal(0), x, x, x, context,
                   log_sum_exp, slopes, other[0], other[1], other[2]);
    print_answer("as flash_backward to 1e-5",
                 largest_difference(3 * 600 * 16, g[0][0], other[0][0]) <
                     1e-5f);
}

/*
``` output
600 tokens, the same digits with 3 threads: yes
as flash_backward to 1e-5: yes
```

`make bench CASES=backward` measures how fast that is on your machine,
beside PyTorch's.

## Keys in the lanes {#flash-backward-lanes}

What a part of the keys does with a part of the queries is all five
products, now through the register tile of [](#kernel-tile): row `i` of `c`
is the sum, over `k`, of the number `a[i][k]` times row `k` of `b`, and the
rows of `b` and `c` lie in lanes. What is to lie there? In the kernel it was
queries, so that softmax went along them. Of softmax, though, only two
numbers are left for each query. What counts now is who is added to, and of
the three gradients two belong to the keys. So *keys* lie in the lanes, with
their values and both gradients, and stay there while tile after tile of
queries comes along. For the scores, `b[k]` is entry `k` of all the keys,
`a[i][k]` entry `k` of query `i`, and `c[i]` all scores of that query:

| product | `a[i][k]` | row `b[k]` | row `c[i]` |
|:---------|:-----------------|:----------------|:------------------|
| scores | `query[i][k]` | keys, entry `k` | query `i` |
| `grad_weights` | `grad_context[i][k]` | values, entry `k` | query `i` |
| `grad_value` | `grad_context[k][i]` | weights of `k` | entry `i` |
| `grad_key` | `query[k][i]` | slopes, query `k` | entry `i` |
| `grad_query` | query `i`, key `k` | entries of `k` | entries of `i` |

Queries and `grad_context` are read as they lie, or transposed, which is the
same table with its two strides exchanged. Only `grad_query` has entries in
its lanes. It is a sum over keys, and a block has few of them. So the slopes
of some blocks are saved first, and their sum is made in one go, without
leaving the registers in between.
*/

typedef float Columns[COLUMNS];

typedef struct {
    int first, count;               /* which keys of their head */
    Columns *key, *value;           /* [d_k], [d_v] */
    Columns *grad_key, *grad_value; /* [d_k], [d_v] */
} KeyBlock;

typedef struct {
    int text, head, first, count;      /* whose queries, and which */
    StridedMatrix query, grad_context; /* [count][d_k], [count][d_v] */
    const float *log_sum_exp, *mean;   /* [count] */
    Columns *weights, *g;              /* [count], of a block */
} QueryTile;

/* Scores that a query may not see become minus infinity. */
static void mask_queries(const AttentionCall *call, const QueryTile *q,
                         int i, const KeyBlock *b);

/* slopes_of_scores, and the slopes are saved. */
static void softmax_slopes(const AttentionCall *call, const QueryTile *q,
                           int i, const KeyBlock *b, Columns *saved);

/* The queries from number i of a tile on meet a block of keys. */
static void block_backward(const AttentionCall *call, const QueryTile *q,
                           int i, const KeyBlock *b, Columns *saved)
{
    const int d_k = call->d_k, d_v = call->d_v;
    const int rows = q->count - i, keys = b->count;
    const StridedMatrix query = from_row(q->query, i);
    const StridedMatrix query_columns = {query.at, 1, query.row_stride};
    const StridedMatrix grad_context = from_row(q->grad_context, i);
    const StridedMatrix grad_context_columns = {grad_context.at, 1,
                                                grad_context.row_stride};
    matmul_columns(rows, keys, d_k, query, b->key, 0, q->weights);
    mask_queries(call, q, i, b);
    exp2_columns(rows, keys, q->log_sum_exp + i, q->weights);
    matmul_columns(rows, keys, d_v, grad_context, b->value, 0, q->g);
    softmax_slopes(call, q, i, b, saved);
    matmul_columns(d_v, keys, rows, grad_context_columns, q->weights, 1,
                   b->grad_value);
    matmul_columns(d_k, keys, rows, query_columns, q->g, 1, b->grad_key);
}

/*
`matmul_columns` is the register tile for rows of `COLUMNS` numbers, which
fill its lanes; with a 1, the product is added to what is there.
`exp2_columns` takes the power of 2 of what each number is above its row's
log-sum-exp; as in the kernel, both have been multiplied by $\log_2 e$. The
fifth product, masks, copies of rows and transposed keys stand [at the
end](#flash-backward-rest).

## Many texts at once {#flash-backward-texts}

A model learns from many texts at once. `attention_forward_fast` and
`attention_backward_fast`, [at the end of the
page](#flash-backward-attention), do for all of them together what
`attention_forward` and `attention_backward` do for one. Their trace has
room for many texts, and none for tables:
*/

static void show_traces(void)
{
    enum { N = 256 };
    const Attention a = {.n_heads = 8, .d_k = 64, .d_v = 64};
    Trace with, without;
    trace_init_for(&with, &a, N, N);
    trace_init_texts(&without, &a, 1, N);
    print_integers(
        "numbers in a trace of 256 tokens, 8 heads: with tables, "
        "without",
        2, (int[]){(int)with.count, (int)without.count});
    trace_free(&with);
    trace_free(&without);
}

/*
``` output
numbers in a trace of 256 tokens, 8 heads: with tables, without (2)
[3145728,  526336]
```

With as few tokens as these, tables take most of the room. The more tokens
there are, the more do they: with twice as many, what is kept doubles, and
tables grow to four times their size.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "scores scale mask weights context");
    show_sizes();
    show_mean();
    show_words();
    show_agreement("100 tokens", mask_none());
    show_agreement("the future hidden", mask_causal(0));
    show_products();
    show_rounds();
    show_fast();
    show_traces();
    return 0;
}

/*
The same in PyTorch, whose attention, where it has gone there in tiles, goes
back in this way, too:

``` python
import torch
import torch.nn.functional as F

words = "Life is short eat dessert first".split()
ids = torch.tensor([sorted(words).index(w) for w in words])
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(ids).detach()

weights = F.softmax(x @ x.T / 3**0.5, dim=-1)
print(weights[2])
print(x.sum(dim=-1))
context = F.scaled_dot_product_attention(x, x, x)
print(torch.stack([weights[2] @ x.sum(dim=-1), context[2].sum()]))

roles = [x.clone().requires_grad_() for _ in range(3)]
F.scaled_dot_product_attention(*roles, is_causal=True).sum().backward()
for role in roles:
    print(role.grad)
```

Recomputation helps elsewhere, too: of a model with many layers one may keep
what goes into each and make the rest again. But nothing else in it grows
with the square of the text.

Now all slopes can be had, of texts of any length, and fast. [](#optimizers)
takes the steps.

## Further exercises

**Exercise 19.4** (★★, challenge, 3 points): `log_sum_exp_backward`. The
log-sum-exp of a row is a number that a loss may look at, too. Go from
`grad_log_sum_exp`, the slope of each row's, to the slopes of its scores, to
which you add. A row of nothing but minus infinity adds nothing. What
[](#backward-softmax) does with a raised score leads there.

::: hint
Raise score $j$ by a small $s$. By which factor does the sum of all
exponentials grow, and so by how much its logarithm?
:::

::: hint
The answer is an old acquaintance: from 0 to 1, and those of a row add up to
1.
:::

::: done
The slope of a log-sum-exp is the row of weights. So softmax itself is a
gradient, that of the log-sum-exp.
:::

**Exercise 19.5** (by hand): In [](#flash-backward-mean) nothing was
dropped. With dropout, weight $k$ is multiplied by a factor $f_k$ before it
mixes, and $c = \sum_k w_k f_k v_k$. Is the mean of the weights' slopes
still the dot product of $c$ with its gradient?

**Exercise 19.6** (by hand): A model has twelve layers of twelve heads with
64 entries, and reads 1,024 tokens. How many MiB are the four tables of all
heads, and how many their log-sum-exps?

## Solutions

::: {.solution exercise="19.4"}
The sum of exponentials becomes $1 + w_j s$ times as large, and its
logarithm grows by $\ln(1 + w_j s)$, nearly $w_j s$. So the slope of the
score is $w_j$ times that of the log-sum-exp. (In the backward of a whole
attention, it would be added to $w_j (g_j - \sum_k w_k g_k)$: whoever wants
both takes the slope of the log-sum-exp from the mean.)
*/

void log_sum_exp_backward(int n, int m, const float scores[n][m],
                          const float log_sum_exp[n],
                          const float grad_log_sum_exp[n],
                          float grad_scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (log_sum_exp[i] != -INFINITY)
                grad_scores[i][j] += grad_log_sum_exp[i] *
                                     expf(scores[i][j] - log_sum_exp[i]);
}

/*
:::

::: {.solution exercise="19.5"}
Yes. The slope of weight $k$ gets the factor, too: $g_k = f_k \sum_e v_{ke}
h_e$. So $\sum_k w_k g_k = \sum_e h_e \sum_k w_k f_k v_{ke}$, and the inner
sum is $c_e$ again.
:::

::: {.solution exercise="19.6"}
There are $12 \cdot 12 = 144$ heads. The tables of one take 16 MiB, as the
first output of the chapter says, and $144 \cdot 16 = 2{,}304$ MiB in all.
The log-sum-exps of one are 1,024 numbers of 4 bytes, which is 4 KiB, and
$144 \cdot 4 = 576$ KiB in all, not quite six tenths of one MiB.
:::

## The rest of the program {#flash-backward-rest}

All threads read one `BackwardTask`, and each has a `Workspace` of its own,
asked for at once.
*/

enum {
    TILE = 64, /* queries that meet a block of keys at a time */
    BLOCKS = 144 / COLUMNS, /* blocks that a tile meets in a row */
    GAP = 16                /* between the rows of copies */
};

struct BackwardTask {
    const AttentionCall *call;
    StridedRows grad_context, grad_query, grad_key, grad_value;
    float scale;
    int key_heads, size; /* heads of keys in a text; tokens in a part */
    float *log_sum_exp,
        *mean; /* [texts][n_heads][n], the first in base 2 */
};

struct Workspace {
    int text, key_head, first, count; /* whose keys, and which */
    KeyBlock block[BLOCKS];
    Columns *entries;         /* [rows of d_k][count]: a key in each */
    Columns *weights, *g;     /* [TILE] */
    Columns (*saved)[BLOCKS]; /* [TILE] */
    Columns *grad_query;      /* [rows of d_k][TILE] */
    float *copies;
};

static const float log2_e = 1.44269504f;

/* In how many rows of columns d entries lie. */
static int column_rows(int d)
{
    return (d + COLUMNS - 1) / COLUMNS;
}

static Workspace *new_workspace(const AttentionCall *call)
{
    const int d_k = call->d_k, d_v = call->d_v, deep = 2 * (d_k + d_v);
    const int copied = TILE * (d_k + d_v + 2 * GAP);
    const int own = column_rows(sizeof(Workspace) / sizeof(float));
    Columns *at =
        new_aligned((size_t)(own + BLOCKS * deep + (2 + BLOCKS) * TILE +
                             column_rows(d_k) * (BLOCKS * COLUMNS + TILE) +
                             column_rows(copied)),
                    sizeof *at);
    Workspace *work = (Workspace *)at;
    at += own;
    for (int i = 0; i < BLOCKS; i++, at += deep)
        work->block[i] = (KeyBlock){.key = at,
                                    .value = at + d_k,
                                    .grad_key = at + d_k + d_v,
                                    .grad_value = at + 2 * d_k + d_v};
    work->weights = at;
    work->g = work->weights + TILE;
    work->saved = (Columns(*)[BLOCKS])(work->g + TILE);
    work->grad_query = (Columns *)(work->saved + TILE);
    work->entries = work->grad_query + column_rows(d_k) * TILE;
    work->copies =
        (float *)(work->entries + column_rows(d_k) * BLOCKS * COLUMNS);
    return work;
}

/*
Tables that hide scores, are added to them or multiply weights have a row
for each query, and so have scores and weights. Under a causal mask, the
query in row `k` sees the columns up to `offset + k`.
*/

static void apply_table(char how, const StridedRows *table,
                        const QueryTile *q, int i, const KeyBlock *b,
                        Columns *x)
{
    for (int k = 0; i + k < q->count; k++) {
        const float *y =
            row_at(table, q->text, q->head, q->first + i + k) + b->first;
        for (int l = 0; l < b->count; l++)
            x[k][l] = how == '*'   ? x[k][l] * y[l]
                      : how == '+' ? x[k][l] + log2_e * y[l]
                      : y[l] != 0  ? x[k][l]
                                   : -INFINITY;
    }
}

static void mask_queries(const AttentionCall *call, const QueryTile *q,
                         int i, const KeyBlock *b)
{
    const StridedRows table = {(float *)call->mask.table, 0, 0,
                               call->mask.m};
    const int64_t offset =
        (int64_t)call->mask.first + q->first + i - b->first;
    if (call->bias.at)
        apply_table('+', &call->bias, q, i, b, q->weights);
    if (call->mask.kind == MASK_TABLE)
        apply_table('0', &table, q, i, b, q->weights);
    if (call->mask.kind == MASK_CAUSAL)
        for (int k = 0; i + k < q->count && offset + k < b->count - 1; k++)
            for (int l = 0; l < COLUMNS; l++)
                q->weights[k][l] =
                    l > offset + k ? -INFINITY : q->weights[k][l];
}

static void softmax_slopes(const AttentionCall *call, const QueryTile *q,
                           int i, const KeyBlock *b, Columns *saved)
{
    if (call->keep_factor.at)
        apply_table('*', &call->keep_factor, q, i, b, q->g);
    for (int k = 0; i + k < q->count; k++) {
        const float mean = q->mean[i + k];
        for (int l = 0; l < COLUMNS; l++)
            saved[k * BLOCKS][l] = q->g[k][l] =
                q->weights[k][l] * (q->g[k][l] - mean);
    }
    if (call->keep_factor.at)
        apply_table('*', &call->keep_factor, q, i, b, q->weights);
}

/*
A tile of queries is copied, for the reason that [](#kernel-threads) gives:
addresses a power of two apart get in each other's way in a cache.
*/

/* Copies of n rows from number i on. */
static StridedMatrix copy_rows(const StridedRows *rows, int text, int head,
                               int i, int n, int d, float *to)
{
    for (int k = 0; k < n; k++)
        memcpy(to + k * (d + GAP), row_at(rows, text, head, i + k),
               (size_t)d * sizeof *to);
    return (StridedMatrix){to, d + GAP, 1};
}

static QueryTile load_queries(const BackwardTask *task,
                              const Workspace *work, int head, int first,
                              int count)
{
    const AttentionCall *call = task->call;
    const ptrdiff_t number = (ptrdiff_t)work->text * call->n_heads + head;
    const ptrdiff_t at = number * call->n + first;
    return (QueryTile){
        .text = work->text,
        .head = head,
        .first = first,
        .count = count,
        .query = copy_rows(&call->query, work->text, head, first, count,
                           call->d_k, work->copies),
        .grad_context =
            copy_rows(&task->grad_context, work->text, head, first, count,
                      call->d_v, work->copies + TILE * (call->d_k + GAP)),
        .log_sum_exp = task->log_sum_exp + at,
        .mean = task->mean + at,
        .weights = work->weights,
        .g = work->g};
}

/* How many of n queries, from number i on, come before the first that sees
 * anything of the keys from number j on. */
static int blind_queries(Mask mask, int i, int n, int j)
{
    const int64_t before = (int64_t)j - mask.first - i;
    return mask.kind != MASK_CAUSAL || before < 0 ? 0
           : before < n                           ? (int)before
                                                  : n;
}

/*
Then the tile meets all blocks of the workspace that it may see, and the
saved slopes go through the fifth product.
*/

/* Adds what the queries of a tile have got. */
static void add_grad_query(const BackwardTask *task, const Workspace *work,
                           const QueryTile *q)
{
    const int d_k = task->call->d_k;
    for (int i = 0; i < q->count; i++) {
        float *to =
            row_at(&task->grad_query, q->text, q->head, q->first + i);
        const Columns *g = work->grad_query + i;
        for (int k = 0; k < d_k; k += COLUMNS, g += TILE)
            for (int l = 0; l < min_int(COLUMNS, d_k - k); l++)
                to[k + l] += (*g)[l];
    }
}

static void tile_backward(const BackwardTask *task, const Workspace *work,
                          const QueryTile *q)
{
    const int d_k = task->call->d_k;
    int keys = 0;
    for (int i = 0; keys < work->count; i++) {
        const KeyBlock *b = &work->block[i];
        const int before =
            blind_queries(task->call->mask, q->first, q->count, b->first);
        if (before == q->count)
            break;
        for (int k = 0; k < before; k++)
            memset(work->saved[k][i], 0, sizeof(Columns));
        block_backward(task->call, q, before, b, &work->saved[before][i]);
        keys += b->count;
    }
    const StridedMatrix g = {work->saved[0][0], BLOCKS * COLUMNS, 1};
    for (int k = 0; k < column_rows(d_k); k++)
        matmul_columns(q->count, min_int(COLUMNS, d_k - k * COLUMNS), keys,
                       g, work->entries + k * work->count, 0,
                       work->grad_query + k * TILE);
    add_grad_query(task, work, q);
}

/*
Keys are transposed, so that each is a column; the scale goes into them, and
$\log_2 e$. For the fifth product they are rows, with the scale alone. Their
gradients begin with 0, and when all queries of a part have come by, they
are transposed back and added.
*/

static void load_keys(const BackwardTask *task, Workspace *work, int first,
                      int count)
{
    const AttentionCall *call = task->call;
    const int d_k = call->d_k, d_v = call->d_v;
    const float *key =
        row_at(&call->key, work->text, work->key_head, first);
    const float *value =
        row_at(&call->value, work->text, work->key_head, first);
    work->first = first;
    work->count = count;
    for (int j = 0; j < count; j += COLUMNS) {
        KeyBlock *b = &work->block[j / COLUMNS];
        b->first = first + j;
        b->count = min_int(COLUMNS, count - j);
        memset(b->key, 0, (size_t)(2 * (d_k + d_v)) * sizeof *b->key);
        transpose_scaled(b->count, d_k, log2_e * task->scale,
                         key + j * call->key.token_stride,
                         call->key.token_stride, b->key[0], COLUMNS);
        transpose_scaled(b->count, d_v, 1,
                         value + j * call->value.token_stride,
                         call->value.token_stride, b->value[0], COLUMNS);
    }
    for (int k = 0; k < column_rows(d_k); k++)
        for (int j = 0; j < count; j++) {
            const float *from =
                key + j * call->key.token_stride + k * COLUMNS;
            Columns *to = work->entries + k * count + j;
            for (int l = 0; l < min_int(COLUMNS, d_k - k * COLUMNS); l++)
                (*to)[l] = task->scale * from[l];
        }
}

/* Adds to the rows of a block's keys what stands in its columns. */
static void add_transposed(const Workspace *work, const KeyBlock *b, int d,
                           float factor, const Columns g[d],
                           const StridedRows *rows)
{
    transpose_scaled(d, b->count, factor, g[0], COLUMNS, work->copies, d);
    for (int j = 0; j < b->count; j++) {
        const float *from = work->copies + j * d;
        float *to = row_at(rows, work->text, work->key_head, b->first + j);
        for (int k = 0; k < d; k++)
            to[k] += from[k];
    }
}

static void add_grad_keys(const BackwardTask *task, const Workspace *work)
{
    const AttentionCall *call = task->call;
    for (int i = 0; i < column_rows(work->count); i++) {
        const KeyBlock *b = &work->block[i];
        add_transposed(work, b, call->d_k, task->scale, b->grad_key,
                       &task->grad_key);
        add_transposed(work, b, call->d_v, 1, b->grad_value,
                       &task->grad_value);
    }
}

static void add_part(const BackwardTask *task, Workspace *work,
                     int64_t head, int keys, int queries)
{
    const AttentionCall *call = task->call;
    const int sharing = call->n_heads / task->key_heads;
    const int i = queries * task->size,
              n = min_int(task->size, call->n - i);
    const int m = min_int(task->size, call->m - keys * task->size);
    work->text = (int)(head / task->key_heads);
    work->key_head = (int)(head % task->key_heads);
    for (int j = 0; j < m; j += BLOCKS * COLUMNS) {
        const int first = keys * task->size + j;
        const int before = blind_queries(call->mask, i, n, first);
        if (before >= n)
            break;
        load_keys(task, work, first, min_int(BLOCKS * COLUMNS, m - j));
        for (int h = 0; h < sharing; h++)
            for (int k = before; k < n; k += TILE) {
                const QueryTile q =
                    load_queries(task, work, work->key_head * sharing + h,
                                 i + k, min_int(TILE, n - k));
                tile_backward(task, work, &q);
            }
        add_grad_keys(task, work);
    }
}

/*
Before the first round, each query gets its two numbers.
*/

/* A dot product whose sums do not wait for each other. */
static float dot_in_lanes(int d, const float a[d], const float b[d])
{
    float sum[16] = {0};
    int k = 0;
    for (; k + 16 <= d; k += 16)
        for (int l = 0; l < 16; l++)
            sum[l] += a[k + l] * b[k + l];
    for (; k < d; k++)
        sum[0] += a[k] * b[k];
    for (int l = 1; l < 16; l++)
        sum[0] += sum[l];
    return sum[0];
}

/* What each query of a head needs once: recompute_weights and
 * context_dot_grad. */
static void prepare_head(const BackwardTask *task, int h)
{
    const AttentionCall *call = task->call;
    const int text = h / call->n_heads, head = h % call->n_heads;
    for (int i = 0; i < call->n; i++) {
        const ptrdiff_t at = (ptrdiff_t)h * call->n + i;
        const int is_blind = call->log_sum_exp[at] == -INFINITY;
        task->log_sum_exp[at] =
            is_blind ? INFINITY : log2_e * call->log_sum_exp[at];
        task->mean[at] =
            is_blind
                ? 0
                : dot_in_lanes(call->d_v,
                               row_at(&task->grad_context, text, head, i),
                               row_at(&call->context, text, head, i));
    }
}

static void prepare_queries(BackwardTask *task, int threads)
{
    const AttentionCall *call = task->call;
    const int heads = call->texts * call->n_heads;
    const size_t count = (size_t)heads * (size_t)call->n;
    task->log_sum_exp = new_aligned(count, 2 * sizeof *task->log_sum_exp);
    task->mean = task->log_sum_exp + count;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int h = 0; h < heads; h++)
        prepare_head(task, h);
}

/* The tokens of a part: by the shape alone, and not by the threads, so that
 * what is added comes in the same order with any number of them. */
static int size_of_part(int64_t heads, int tokens)
{
    int size = 2048;
    while (size > 512 && heads * ((tokens - 1) / size + 1) < 8)
        size /= 2;
    return size;
}

void attend_fast_backward(const AttentionCall *call,
                          StridedRows grad_context, StridedRows grad_query,
                          StridedRows grad_key, StridedRows grad_value)
{
    const int tokens = call->n > call->m ? call->n : call->m;
    attention_call_gradients_check(call, grad_context, grad_query, grad_key,
                                   grad_value);
    BackwardTask task = {.call = call,
                         .grad_context = grad_context,
                         .grad_query = grad_query,
                         .grad_key = grad_key,
                         .grad_value = grad_value};
    task.scale = call->scale ? call->scale : 1 / sqrtf((float)call->d_k);
    task.key_heads = call->n_kv_heads ? call->n_kv_heads : call->n_heads;
    const int64_t heads = (int64_t)call->texts * task.key_heads;
    task.size = size_of_part(heads, tokens);
    const int threads =
        threads_for((double)call->texts * call->n_heads * call->n *
                        call->m * (call->d_k + call->d_v),
                    call->threads);
    prepare_queries(&task, threads);
    add_all_parts(&task, call, heads, (tokens - 1) / task.size + 1,
                  threads);
    free(task.log_sum_exp);
}

/*
## Whole attentions {#flash-backward-attention}

The two gradients of a linear layer are products, and `start` is what is
there already. That of the weight is a sum over all rows, which come some at
a time, so that they stay in a cache.
*/

void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float grad_out[n][l->d_out], Linear *grad_l,
                          float grad_x[n][l->d_in])
{
    enum { SOME = 256 };
    const int d_in = l->d_in, d_out = l->d_out;
    linear_gradient_check(l, grad_l);
    best_kernel()->matmul(n, d_in, d_out,
                          (StridedMatrix){grad_out[0], d_out, 1},
                          (StridedMatrix){l->weight, d_in, 1},
                          (StridedMatrix){grad_x[0], d_in, 1}, grad_x);
    for (int i = 0; i < n; i += SOME)
        best_kernel()->matmul(d_out, d_in, min_int(SOME, n - i),
                              (StridedMatrix){grad_out[i], 1, d_out},
                              (StridedMatrix){x[i], d_in, 1},
                              (StridedMatrix){grad_l->weight, d_in, 1},
                              ROWS(d_in, grad_l->weight));
    for (int i = 0; l->bias && i < n; i++)
        for (int j = 0; j < d_out; j++)
            grad_l->bias[j] += grad_out[i][j];
}

/*
Of an attention, the heads lie side by side in each token's row, as the
layers make and want them, so that nothing is split or merged:
*/

static StridedRows heads_of(const Attention *a, int n, int d,
                            const float *at)
{
    return rows_by_token(a->n_heads, n, d, at);
}

static AttentionCall call_of(const Attention *a, Mask mask, int texts,
                             int n, const Trace *t)
{
    return (AttentionCall){.texts = texts,
                           .n_heads = a->n_heads,
                           .n = n,
                           .m = n,
                           .d_k = a->d_k,
                           .d_v = a->d_v,
                           .mask = mask,
                           .query = heads_of(a, n, a->d_k, t->query),
                           .key = heads_of(a, n, a->d_k, t->key),
                           .value = heads_of(a, n, a->d_v, t->value),
                           .context = heads_of(a, n, a->d_v, t->joined),
                           .log_sum_exp = t->log_sum_exp};
}

void attention_forward_fast(const Attention *a, Mask mask, int texts, int n,
                            const float x[(int64_t)texts * n][a->d_x],
                            Trace *t)
{
    attention_texts_check(a, texts, n, t);
    const int rows = texts * n; /* which such a trace can count */
    const AttentionCall call = call_of(a, mask, texts, n, t);
    attention_call_check(&call);
    linear_forward_fast(&a->query, rows, x, ROWS(a->query.d_out, t->query));
    linear_forward_fast(&a->key, rows, x, ROWS(a->key.d_out, t->key));
    linear_forward_fast(&a->value, rows, x, ROWS(a->value.d_out, t->value));
    best_kernel()->attend(&call);
    if (a->d_out)
        linear_forward_fast(&a->out, rows, ROWS(a->out.d_in, t->joined),
                            ROWS(a->out.d_out, t->out));
}

void attention_backward_fast(const Attention *a, Mask mask, int texts,
                             int n,
                             const float x[(int64_t)texts * n][a->d_x],
                             const Trace *t, Trace *grad_t,
                             Attention *grad_a,
                             float grad_x[(int64_t)texts * n][a->d_x])
{
    const size_t keys = sizeof(float[a->n_heads * a->d_k]);
    const size_t values = sizeof(float[a->n_heads * a->d_v]);
    attention_texts_check(a, texts, n, t);
    attention_texts_check(a, texts, n, grad_t);
    attention_gradient_check(a, grad_a);
    const int rows = texts * n;
    const AttentionCall call = call_of(a, mask, texts, n, t);
    attention_call_check(&call);
    if (a->d_out) {
        memset(grad_t->joined, 0, (size_t)rows * values);
        linear_backward_fast(&a->out, rows, ROWS(a->out.d_in, t->joined),
                             ROWS(a->out.d_out, grad_t->out), &grad_a->out,
                             ROWS(a->out.d_in, grad_t->joined));
    }
    memset(grad_t->query, 0, (size_t)rows * keys);
    memset(grad_t->key, 0, (size_t)rows * keys);
    memset(grad_t->value, 0, (size_t)rows * values);
    attend_fast_backward_of(best_kernel())(
        &call, heads_of(a, n, a->d_v, grad_t->joined),
        heads_of(a, n, a->d_k, grad_t->query),
        heads_of(a, n, a->d_k, grad_t->key),
        heads_of(a, n, a->d_v, grad_t->value));
    linear_backward_fast(&a->query, rows, x,
                         ROWS(a->query.d_out, grad_t->query),
                         &grad_a->query, grad_x);
    linear_backward_fast(&a->key, rows, x, ROWS(a->key.d_out, grad_t->key),
                         &grad_a->key, grad_x);
    linear_backward_fast(&a->value, rows, x,
                         ROWS(a->value.d_out, grad_t->value),
                         &grad_a->value, grad_x);
}
