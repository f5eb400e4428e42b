/*
# FlashAttention's way back, in tiles {#flash-backward}

![The way from words to attention. This chapter goes back through the shaded
steps without their tables](pipeline.svg){#fig-flash-backward-pipeline}

[](#backward) goes back along the trace, in which the forward pass has kept
four tables of $n \times m$ numbers for each head: the scores, the weights,
and two tables of dropout. Each of these tables has a row for each query and
a column for each key. The forward pass of [](#flash) keeps no such tables.
Of a query's scores and weights it leaves a single number, the query's
log-sum-exp. Is this number enough for the way back? And how much memory
would it save?
*/

#include "attention/19_flash_backward.h"
#include "attention/01_dot_product.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/11_causal_attention.h"
#include "attention/14_flash.h"
#include "attention/18_backward.h"
#include "attention/B_random.h"
#include "support.h"

/* folded: how this is printed */
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

With 8,192 tokens the four tables of one head take 1,024 MiB. A model may
have hundreds of heads, and the tables of all heads must be kept until the
way back has reached them. The log-sum-exps of a head take a thirty-second
of one MiB.

## Weights, made again {#flash-backward-again}

For the weights, the log-sum-exp $L$ is enough: [](#flash-log-sum) has found
that $w_j = e^{s_j - L}$. The score $s_j$ has to be computed again, from its
query and its key. That costs time. But for one weight no other key has to
be read, so each weight can be computed just when it is needed, and need not
be kept. Computing again what could have been kept is called
**recomputation**.

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

Back through softmax, the slope of score $j$ is $w_j (g_j - \sum_k w_k
g_k)$, where $g_k$ is the slope of weight $k$ ([](#backward-softmax)). The
sum is a mean over the whole row. But a square of the table
([](#flash-tiles)) holds only a part of the row. Must each query go through
all keys once more, only for this mean?

Look at what $g_k$ is. Weight $k$ is used in the mixture alone. For each
unit by which weight $k$ grows, entry $e$ of the context $c$ grows by entry
$e$ of value $k$, which is $v_{ke}$. And for each unit by which entry $e$ of
the context grows, the loss grows by the slope of this entry, which we call
$\gamma_e$. Added up over all entries, $g_k = \sum_e v_{ke}\, \gamma_e$. Put
this sum into the mean, and add up over the keys first:

$$\sum_{k=1}^{m} w_k\, g_k
  = \sum_{k=1}^{m} w_k \sum_{e=1}^{d_v} v_{ke}\, \gamma_e
  = \sum_{e=1}^{d_v} \gamma_e \sum_{k=1}^{m} w_k\, v_{ke}
  = \sum_{e=1}^{d_v} \gamma_e\, c_e$$

The last step holds because the values, mixed by their weights, are the
context: $\sum_k w_k v_{ke} = c_e$. So the mean is the dot product of a
context vector with its own gradient, however many keys there were
[@dao2022].

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
Here is the mean for *short* in *Life is short, eat dessert first*, computed
in both ways. As in [](#flash), the embeddings are the queries, keys and
values. The loss is the sum of the context's entries, so that each of these
has the slope 1:
*/

static const float ones[6][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1},
                                 {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};

/* folded: how this is printed */
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

So all of [](#backward-head) but dropout can be done for one square of the
table, of 32 queries and 32 keys, and mostly by the same functions. In the
inner loop below, four calls make the weights of the square again, and four
calls go back. `slopes_of_scores` is the step back through softmax:
*/

/* The slopes of weights, g, become those of scores, in place. */
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
        const int rows = n - i < SIDE ? n - i : SIDE;
        float mean[SIDE], memory[2][SIDE * SIDE];
        context_dot_grad(rows, d_v, log_sum_exp + i, context + i,
                         grad_context + i, mean);
        for (int j = 0; j < m && mask_shows_block(mask, i + rows - 1, j);
             j += SIDE) {
            const int cols = m - j < SIDE ? m - j : SIDE;
            float(*weights)[cols] = ROWS(cols, memory[0]);
            float(*g)[cols] = ROWS(cols, memory[1]);
            memset(memory[1], 0, sizeof memory[1]);
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
`mask_backward` is needed: a key that is hidden has the weight 0, and no
weight is `nan`.)

The squares need nothing from each other: what a query must know of its
other keys is in its log-sum-exp and its context, which are those of all
keys. A query's gradient is a sum over all keys, and the gradient of a key
or a value is a sum over all queries. Each square adds its part to these
sums, by `+=`. Here are the gradients for the six words, with the future
hidden, and with the same loss:

::: question
*Life* sees only itself. What is its row of `grad_query`?

The row is all 0. *Life* has one weight, which is 1 whatever its score is,
so its query changes nothing.
:::
*/

/* folded: how this is printed */
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
static void backward_by_tables(int n, int d, Mask mask, const float x[n][d],
                               const float slopes[n][d], float g[3][n][d])
{
    const Trace size = {.n = n, .m = n, .n_heads = 1, .d_k = d, .d_v = d};
    Trace t, grad_t;
    trace_init(&t, &size);
    trace_init(&grad_t, &size);
    memcpy(t.query, x, sizeof(float[n][d]));
    memcpy(t.key, x, sizeof(float[n][d]));
    memcpy(t.value, x, sizeof(float[n][d]));
    attend(mask, 0, NULL, &t);
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
    backward_by_tables(N, D, mask, x, slopes, due);
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

With this loss, each entry in a row of `grad_value` is the sum of the
weights that all words have given to this word. *Life*, which all six words
have seen, has the largest sum here. Now a hundred tokens, which are sixteen
squares. Their gradients are compared with those that the tables of
[](#backward) give:

``` output
100 tokens, as with tables to 1e-5: yes
the future hidden, as with tables to 1e-5: yes
```

The forward pass has two products, of queries with keys and of weights with
values. On the way back each of them becomes two. To compute the scores
again is one more, the fifth:
*/

/* folded: how this is printed */
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

Five products instead of four are a quarter more to compute. But a table
that is not kept is neither written to memory nor read from it. On a machine
that mostly waits for its memory, the way back takes less time although it
computes more [@dao2022].

## Who meets whom {#flash-backward-rounds}

In the forward pass, threads could share out the tiles of queries, because
each tile wrote only the contexts of its own queries. On the way back, a
square adds to the gradients of its queries and to those of its keys. Let
thread A take some queries and thread B the next ones. Then both add to the
gradients of the same keys. Adding is two steps, reading a number and
writing another:

| thread A | thread B | `grad_key` |
|:-------------|:-------------|--------:|
| reads 5 | | 5 |
| | reads 5 | 5 |
| writes 5 + 1 | | 6 |
| | writes 5 + 2 | 7 |

The result should be 8. What A has added is lost. It is lost only now and
then, depending on which thread comes when: such a mistake is called a
**race**. Nothing is refused, nothing crashes, and with one thread the
result is right. If the threads shared out the keys instead, they would race
for the gradients of the queries.

With enough heads, each thread can take a head of its own. Otherwise, cut
the keys of a head into parts, and the queries into as many parts, and work
in rounds, as a tournament does. In each round, every part of the keys is
combined with one part of the queries, and no two parts of the keys with the
same part of the queries. So in one round each gradient belongs to one
thread. After as many rounds as there are parts, every part of the keys has
been combined with every part of the queries.

**Exercise 19.3** (★★, 2 points): `query_part`. The part of the queries that
part `keys` of the keys is combined with in a round. Parts and rounds are
counted from 0. Any schedule will do in which no two parts of the keys get
the same part of the queries in a round, and each has had all of them in the
end.

::: hint
In round 0, part `k` of the keys may have part `k` of the queries. Which
part could it have in the next round, if all others do the same?
:::

::: hint
Behind the last part comes part 0 again.
:::

::: done
No locks, no copies, no races: which thread writes where is settled before
any of them begins.
:::
*/

int query_part(int parts, int keys, int round)
{
    const int next = keys + round;
    return next < parts ? next : next - parts;
}

/* folded: how this is printed */
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

The rounds have a second advantage. The last digits of a sum of floats
depend on the order of its terms ([](#kernel-order)). The rounds come one
after the other, and each gradient gets one part in each round. So its parts
are added in the same order by one thread or by twenty, and the sum has the
same digits.
*/

enum { TOKENS = 600, D = 16 };

/* flash_backward for x as queries, keys and values, in so many parts and by
 * so many threads. */
static void backward_in_rounds(int parts, int threads,
                               const float x[TOKENS][D],
                               const float context[TOKENS][D],
                               const float log_sum_exp[TOKENS],
                               const float grad_context[TOKENS][D],
                               float g[3][TOKENS][D])
{
    const int size = TOKENS / parts;
    for (int round = 0; round < parts; round++) {
#pragma omp parallel for num_threads(threads)
        for (int k = 0; k < parts; k++) {
            const int i = size * query_part(parts, k, round), j = size * k;
            flash_backward(size, size, D, D, mask_causal(i - j), x + i,
                           x + j, x + j, context + i, log_sum_exp + i,
                           grad_context + i, g[0] + i, g[1] + j, g[2] + j);
        }
    }
}

/*
The line with `omp parallel for` shares out the turns of the loop below it
among the threads. At the end of the loop each thread waits for all others,
and the round is over. Part `k` of the keys begins with key `j`, and the
part of the queries begins with query `i`. Query `i` may see the keys up to
its own position, which is `i - j` when counted from key `j` on. That number
is the offset of the mask. (Below 0, nothing is seen, and nothing is done.)
Each turn of the inner loop is one call of `flash_backward`, for one part of
the keys and one of the queries.

Here are 600 tokens in four parts, and so in four rounds, first with one
thread, then with three, and at last without parts:
*/

/* folded: how this is printed */
static void show_rounds_agree(void)
{
    static float x[TOKENS][D], grad_context[TOKENS][D], context[TOKENS][D];
    static float g[3][3][TOKENS][D];
    float log_sum_exp[TOKENS];
    Random r = random_seeded(123);
    normal_fill(&r, TOKENS, D, 0, 1, x);
    normal_fill(&r, TOKENS, D, 0, 1, grad_context);
    flash_forward(TOKENS, TOKENS, D, D, mask_causal(0), x, x, x, context,
                  log_sum_exp);
    backward_in_rounds(4, 1, x, context, log_sum_exp, grad_context, g[0]);
    backward_in_rounds(4, 3, x, context, log_sum_exp, grad_context, g[1]);
    flash_backward(TOKENS, TOKENS, D, D, mask_causal(0), x, x, x, context,
                   log_sum_exp, grad_context, g[2][0], g[2][1], g[2][2]);
    print_answer("600 tokens, the same digits with 3 threads",
                 !memcmp(g[0], g[1], sizeof g[0]));
    print_answer(
        "as without parts to 1e-5",
        largest_difference(3 * TOKENS * D, g[0][0][0], g[2][0][0]) < 1e-5f);
}

/*
``` output
600 tokens, the same digits with 3 threads: yes
as without parts to 1e-5: yes
```

Two files of the library use what this chapter has shown. Both may be
skipped:

- `src/kernel/backward.c` adds to the same gradients in the same rounds, but
  with the register tile of [](#kernel). Its lanes hold keys, not queries,
  since two of the three gradients belong to the keys: these two stay in the
  lanes while one tile of queries after the other is read.
- `src/layers.c` has `attention_forward_fast` and
  `attention_backward_fast`. A model learns from many texts at once. These
  functions do for all texts together what `attention_forward` and
  `attention_backward` do for one, linear layers included.

`make bench CASES=backward` measures how fast that is on your machine,
beside PyTorch's.

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
    show_rounds_agree();
    return 0;
}

/*
The same in PyTorch. Where its attention has gone forward in tiles, it goes
back in tiles, too:

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

Recomputation helps elsewhere, too. Of a model with many layers one may keep
what goes into each layer, and compute the rest again. But of all that a
model keeps, only the tables of attention grow with the square of the text's
length.

Now all slopes can be found, for texts of any length. [](#optimizers) uses
them to take steps.

## Further exercises

**Exercise 19.4** (★★, challenge, 3 points): `log_sum_exp_backward`. A loss
may depend on the log-sum-exp of a row, too. Given is `grad_log_sum_exp`,
the slope of each row's log-sum-exp. Add to `grad_scores` what follows for
the slopes of the scores. A row of nothing but minus infinity adds nothing.
Raise a score, as [](#backward-softmax) does.

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
score is $w_j$ times that of the log-sum-exp. (In a whole attention, with
$\mu$ for the mean and $G$ for the slope of the log-sum-exp, both
together are $w_j (g_j - \mu) + w_j G = w_j (g_j - (\mu - G))$: give
`slopes_of_scores` the mean less $G$.)
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
Yes. The slope of weight $k$ gets the factor, too:
$g_k = f_k \sum_e v_{ke} \gamma_e$. So
$\sum_k w_k g_k = \sum_e \gamma_e \sum_k w_k f_k v_{ke}$, and the inner sum
is $c_e$ again.
:::

::: {.solution exercise="19.6"}
There are $12 \cdot 12 = 144$ heads. The tables of one take 16 MiB, as the
first output of the chapter says, and $144 \cdot 16 = 2{,}304$ MiB in all.
The log-sum-exps of one are 1,024 numbers of 4 bytes, which is 4 KiB, and
$144 \cdot 4 = 576$ KiB in all, not quite six tenths of one MiB.
:::
*/
