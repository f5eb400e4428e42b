/* Attention for every call: chapter 15's register tile and its softmax, with
 * what its page leaves out. Many texts and heads, masks, a bias, tasks for
 * threads, of tiles that share a block of keys while it is in the cache.
 * Compiled once for each instruction set; dispatch.c chooses. It serves
 * chapter 15, which shows its speed, and the model of 22 and 23. */
#include "attention/kernel.h"
#include "attention/strided_rows.h"
#include "kernel/attend.h"
#include "kernel/lanes.h"
#include "support/machine.h"
#include "support.h"

#ifndef TILES    /* tools/measure/bench.c tries another number */
#define TILES 16 /* that meet a block, one after the other */
#endif
enum { SMALL = 64 }; /* rows of lanes for which the stack has room */

typedef struct {
    int text, head, i, rows; /* whose queries, from which on, how many */
    int key_head;            /* whose keys and values they meet */
    int vectors;             /* how many vectors hold the queries */
    int end;                 /* the key after the last that they see */
    float scale;             /* of_products, of the call */
    const SoftmaxSums *sums; /* wanted instead of contexts, or NULL */
    Lanes *query, *context;  /* [d_k], [d_v] */
    Lanes largest, sum;
} Tile;

/* The tile whose first query is i, with memory for it. */
static Tile tile_init(const AttentionCall *call, const SoftmaxSums *sums,
                      int text, int head, int i, int rows, Lanes *memory)
{
    const int heads_per_kv_head =
        call->n_kv_heads ? call->n_heads / call->n_kv_heads : 1;
    const int64_t seen = (int64_t)call->mask.first + i + rows;
    const CallScale scale = call_scale(call);
    Tile t = {
        .text = text, .head = head, .i = i, .rows = rows, .sums = sums};
    t.key_head = head / heads_per_kv_head;
    t.vectors = rows <= LANES ? 1 : VECTORS;
    t.end = call->m;
    t.scale = scale.of_products;
    t.query = memory;
    t.context = memory + call->d_k;
    if (call->mask.kind == MASK_CAUSAL && seen < call->m)
        t.end = seen < 0 ? 0 : (int)seen;
    for (int k = 0; k < QUERIES; k++)
        t.largest.at[k] = -FLT_MAX;
    memset(memory, 0, (size_t)(call->d_k + call->d_v) * sizeof *memory);
    transpose_scaled(rows, call->d_k, scale.of_queries,
                     row_at(&call->query, text, head, i),
                     call->query.token_stride, (float *)t.query, QUERIES);
    return t;
}

/* What a table says about a block, whose rows are queries: in the lanes these
 * are columns. */
static void apply_table(enum TableUse use, const StridedRows *table,
                        const Tile *t, int j, int cols, Lanes x[cols])
{
    Lanes y[BLOCK] = {{{0}}};
    transpose_scaled(t->rows, cols, 1,
                     row_at(table, t->text, t->head, t->i) + j,
                     table->token_stride, (float *)y, QUERIES);
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < QUERIES; i++)
            x[k].at[i] = use == ADDS       ? x[k].at[i] + y[k].at[i]
                         : y[k].at[i] != 0 ? x[k].at[i]
                                           : -INFINITY;
}

/* Scores that the mask hides become minus infinity. */
static void mask_block(Mask mask, const Tile *t, int j, int cols,
                       Lanes scores[cols])
{
    const int64_t first = (int64_t)mask.first + t->i - j;
    const int offset = first < -QUERIES ? -QUERIES
                       : first > cols   ? cols
                                        : (int)first;
    if (mask.kind == MASK_TABLE) { /* which all texts and heads share */
        const StridedRows table = rows_by_head(1, 0, mask.m, mask.table);
        apply_table(HIDES, &table, t, j, cols, scores);
    }
    if (mask.kind == MASK_CAUSAL && offset < cols - 1)
        for (int k = 0; k < cols; k++)
            for (int i = 0; i < QUERIES; i++)
                scores[k].at[i] =
                    k > offset + i ? -INFINITY : scores[k].at[i];
}

/* A tile meets the keys and values from number j on. */
static void tile_meets_block(const AttentionCall *call, Tile *t, int j,
                             StridedMatrix key, StridedMatrix value,
                             Lanes *scores)
{
    const int cols = min_int(BLOCK, t->end - j);
    const StridedMatrix transposed = {value.at, value.column_stride,
                                      value.row_stride};
    Lanes shrink;
    matmul_lanes(cols, t->vectors, call->d_k, key, t->query, NULL, scores);
    if (call->bias.at)
        apply_table(ADDS, &call->bias, t, j, cols, scores);
    mask_block(call->mask, t, j, cols, scores);
    softmax_lanes(t->vectors, cols, t->scale, scores, &t->largest, &t->sum,
                  &shrink);
    if (t->sums)
        return;
    matmul_lanes(call->d_v, t->vectors, cols, transposed, scores, &shrink,
                 t->context);
}

static void tile_store_sums(const AttentionCall *call, const Tile *t)
{
    const ptrdiff_t at = query_number(call, t->text, t->head, t->i);
    for (int i = 0; i < t->rows; i++) {
        t->sums->largest[at + i] = t->largest.at[i];
        t->sums->sum[at + i] = t->sum.at[i];
    }
}

/* Divides by the sums. The log-sum-exp is the scale times the largest
 * product, plus the logarithm of the sum. */
static void tile_finish(const AttentionCall *call, Tile *t)
{
    const ptrdiff_t at = query_number(call, t->text, t->head, t->i);
    for (int i = 0; call->log_sum_exp && i < t->rows; i++)
        call->log_sum_exp[at + i] = t->scale * t->largest.at[i] +
                                    0.693147181f * log2f(t->sum.at[i]);
    for (int i = 0; i < QUERIES; i++)
        t->sum.at[i] = 1 / t->sum.at[i];
    for (int k = 0; k < call->d_v; k++)
        for (int i = 0; i < QUERIES; i++)
            t->context[k].at[i] *= t->sum.at[i];
    transpose_scaled(call->d_v, t->rows, 1, (float *)t->context, QUERIES,
                     row_at(&call->context, t->text, t->head, t->i),
                     call->context.token_stride);
}

/* In a cache, addresses that are a power of two apart compete for the same
 * few places, and so do the tokens of 32 heads with 128 entries: hence
 * copies. */

/* The rows of a head from number j on. With room for it, a copy, whose rows
 * are GAP more than their length apart, unless they lie side by side. */
static StridedMatrix block_rows(const StridedRows *rows, const Tile *t,
                                int j, int d, float *copy)
{
    const StridedMatrix from = {row_at(rows, t->text, t->key_head, j),
                                rows->token_stride, 1};
    if (!copy || from.row_stride == d)
        return from;
    for (int i = 0; i < min_int(BLOCK, t->end - j); i++)
        memcpy(copy + i * (d + GAP), from_row(from, i).at,
               (size_t)d * sizeof *copy);
    return (StridedMatrix){copy, d + GAP, 1};
}

/* Asks for a share of the keys and values from number j on. */
static void prefetch_block(const AttentionCall *call, const Tile *t, int j)
{
    enum { SHARE = BLOCK / TILES };
    const int from = j + t->i / QUERIES % TILES * SHARE;
    for (int i = from; i < min_int(from + SHARE, call->m); i++) {
        const float *key = row_at(&call->key, t->text, t->key_head, i);
        const float *value = row_at(&call->value, t->text, t->key_head, i);
        for (int k = 0; k < call->d_k; k += 16)
            __builtin_prefetch(key + k, 0, 2);
        for (int k = 0; k < call->d_v; k += 16)
            __builtin_prefetch(value + k, 0, 2);
    }
}

/* The tiles from first to last meet all keys that the last one sees. copy:
 * room for a block of keys and one of values, or NULL. */
static void add_all_blocks(const AttentionCall *call, Tile *first,
                           Tile *last, float *copy, Lanes *scores)
{
    float *value_copy = copy ? copy + BLOCK * (call->d_k + GAP) : NULL;
    for (int j = 0; j < last->end; j += BLOCK) {
        const StridedMatrix key =
            block_rows(&call->key, last, j, call->d_k, copy);
        const StridedMatrix value = /* with sums, no tile looks at it */
            last->sums
                ? key
                : block_rows(&call->value, last, j, call->d_v, value_copy);
        for (Tile *t = first; t <= last; t++)
            if (j < t->end) {
                prefetch_block(call, t, j + BLOCK);
                tile_meets_block(call, t, j, key, value, scores);
            }
    }
}

/* A task is what a thread takes: up to TILES tiles of a head, which share its
 * blocks. This is what task number `task` of head h gets, at most `task_rows`
 * queries. */
static void attend_task(const AttentionCall *call, const SoftmaxSums *sums,
                        int task_rows, int task, int h)
{
    const int text = h / call->n_heads, head = h % call->n_heads;
    const int from = task * task_rows;
    const int rows = min_int(task_rows, call->n - from);
    const int count = (rows + QUERIES - 1) / QUERIES;
    const int copied =
        count > 1 ? BLOCK * (call->d_k + call->d_v + 2 * GAP) : 0;
    const int need = min_int(BLOCK, call->m) +
                     count * (call->d_k + call->d_v) +
                     (copied + QUERIES - 1) / QUERIES;
    Lanes small[SMALL];
    Lanes *large =
        need > SMALL ? new_aligned((size_t)need, sizeof *large) : NULL;
    Lanes *scores = large ? large : small,
          *at = scores + min_int(BLOCK, call->m);
    Tile tile[TILES], *last = tile + count - 1;
    for (int i = 0; i < rows; i += QUERIES, at += call->d_k + call->d_v)
        tile[i / QUERIES] = tile_init(call, sums, text, head, from + i,
                                      min_int(rows - i, QUERIES), at);
    add_all_blocks(call, tile, last, copied ? (float *)at : NULL, scores);
    for (Tile *t = tile; t <= last; t++)
        if (sums)
            tile_store_sums(call, t);
        else
            tile_finish(call, t);
    free(large);
}

/* Tasks are made smaller where there are few queries, so that there are
 * eight for each thread. Under a causal mask the last task sees most keys,
 * and is begun first. */
static void attend_tasks(const AttentionCall *call, const SoftmaxSums *sums)
{
    const int heads = call->texts * call->n_heads;
    int threads = threads_for((double)heads * call->n * call->m *
                                  (call->d_k + call->d_v),
                              call->threads);
    const int64_t queries_per_task =
        (int64_t)heads * call->n / (8 * threads);
    const int task_rows =
        threads > 1 && queries_per_task < TILES * QUERIES
            ? (int)(queries_per_task / QUERIES + 1) * QUERIES
            : TILES * QUERIES;
    const int tasks = (call->n - 1) / task_rows + 1;
    threads = min_int(threads, heads * tasks);
    if (threads == 1) /* too little work to pay for threads */
        for (int i = 0; i < heads * tasks; i++)
            attend_task(call, sums, task_rows, i % tasks, i / tasks);
    else {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int i = 0; i < heads * tasks; i++)
            attend_task(call, sums, task_rows, tasks - 1 - i / heads,
                        i % heads);
    }
}

void attend_fast(const AttentionCall *call)
{
    attention_call_check(call);
    attend_tasks(call, NULL);
}

void attend_sums(const AttentionCall *call, SoftmaxSums sums)
{
    attend_tasks(call, &sums);
}
