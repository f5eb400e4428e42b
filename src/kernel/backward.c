/* attend.c backwards: chapter 19's flash_backward for every call. Keys lie in
 * the lanes, with their values and both of their gradients, and tile after
 * tile of queries comes along; threads meet in chapter 19's rounds, each
 * with a workspace of its own. Compiled once for each instruction set. It
 * serves the training of chapters 22 and 23. */
#include "attention/19_flash_backward.h"
#include "attention/kernel.h"
#include "attention/strided_rows.h"
#include "kernel/attend.h"
#include "kernel/lanes.h"
#include "support/machine.h"
#include "support.h"

enum {
    COLUMNS = QUERIES,     /* keys in the lanes */
    TILE = 64,             /* queries that meet a block of keys at a time */
    BLOCKS = 144 / COLUMNS /* blocks that a tile meets in a row */
};
typedef float Columns[COLUMNS];

typedef struct {
    int first, count;               /* which keys of their head */
    Columns *key, *value;           /* [d_k], [d_v] */
    Columns *grad_key, *grad_value; /* [d_k], [d_v] */
} KeyBlock;

typedef struct {
    int text, head, first, count;          /* whose queries, and which */
    StridedMatrix query, grad_context;     /* [count][d_k], [count][d_v] */
    const float *largest, *log_sum, *mean; /* [count] */
    Columns *weights, *g;                  /* [count], of a block */
} QueryTile;

/* A call, and its gradients: all threads read it. */
typedef struct {
    const AttentionCall *call;
    StridedRows grad_context, grad_query, grad_key, grad_value;
    CallScale scale;
    /* What queries are multiplied by, or keys instead, which are copied
     * less often: as long as nothing overflows, a power of 2 gives the same
     * products on either side. With a bias it is no power of 2. */
    float of_queries, of_keys;
    int key_heads, size; /* heads of keys in a text; tokens in a part */
    int has_sums;        /* whether attend_sums has made them */
    /* [texts][n_heads][n]: each query's largest product, the logarithm of
     * its sum, in base 2, and its context_dot_grad. Without attend_sums the
     * first two stand for the log-sum-exp alone. */
    float *largest, *log_sum, *mean;
} BackwardTask;

/* One thread's buffers. */
typedef struct {
    int text, key_head, first, count; /* whose keys, and which */
    KeyBlock block[BLOCKS];
    Columns *entries;         /* [rows of d_k][count]: a key in each */
    Columns *weights, *g;     /* [TILE] */
    Columns (*saved)[BLOCKS]; /* [TILE] */
    Columns *grad_query;      /* [rows of d_k][TILE] */
    float *copies;
} Workspace;

/* matmul_lanes for rows of columns, of which the first `cols` count; with
 * `adds`, the product is added to what is there. */
static void matmul_columns(int n, int cols, int d, StridedMatrix a,
                           const Columns b[d], int adds, Columns c[n])
{
    Lanes ones;
    for (int k = 0; k < COLUMNS; k++)
        ones.at[k] = 1;
    matmul_lanes(n, cols <= LANES ? 1 : VECTORS, d, a, (const Lanes *)b,
                 adds ? &ones : NULL, (Lanes *)c);
}

/* Products of n queries become the logarithms of weights, in base 2. The
 * largest is subtracted before anything is multiplied, and so rounded: of two
 * large numbers that are rounded first, the difference would be little else
 * than what rounding has made of them. */
static INLINE void log_weights(int lanes, int n, float scale,
                               const float largest[n],
                               const float log_sum[n], Columns x[n])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < lanes; k++)
            x[i][k] = scale * (x[i][k] - largest[i]) - log_sum[i];
}

static void weights_of_products(int n, int cols, float scale,
                                const float largest[n],
                                const float log_sum[n], Columns x[n])
{
    if (cols > LANES) {
        log_weights(COLUMNS, n, log2_e * scale, largest, log_sum, x);
        exp2_all(n * COLUMNS, (float *)x);
        return;
    }
    log_weights(LANES, n, log2_e * scale, largest, log_sum, x);
    for (int i = 0; i < n; i++)
        exp2_all(LANES, x[i]);
}

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

/* Tables that hide scores or are added to them have a row for each query, and
 * so have scores. */
static void apply_table_to_columns(enum TableUse use,
                                   const StridedRows *table,
                                   const QueryTile *q, int i,
                                   const KeyBlock *b)
{
    Columns *x = q->weights;
    for (int k = 0; i + k < q->count; k++) {
        const float *y =
            row_at(table, q->text, q->head, q->first + i + k) + b->first;
        for (int l = 0; l < b->count; l++)
            x[k][l] = use == ADDS ? x[k][l] + y[l]
                      : y[l] != 0 ? x[k][l]
                                  : -INFINITY;
    }
}

/* Scores that a query may not see become minus infinity. Under a causal mask,
 * the query in row k sees the columns up to offset + k. */
static void mask_queries(const AttentionCall *call, const QueryTile *q,
                         int i, const KeyBlock *b)
{
    const int64_t offset =
        (int64_t)call->mask.first + q->first + i - b->first;
    if (call->bias.at)
        apply_table_to_columns(ADDS, &call->bias, q, i, b);
    if (call->mask.kind == MASK_TABLE) { /* which all heads share */
        const StridedRows table =
            rows_by_head(1, 0, call->mask.m, call->mask.table);
        apply_table_to_columns(HIDES, &table, q, i, b);
    }
    if (call->mask.kind == MASK_CAUSAL)
        for (int k = 0; i + k < q->count && offset + k < b->count - 1; k++)
            for (int l = 0; l < COLUMNS; l++)
                q->weights[k][l] =
                    l > offset + k ? -INFINITY : q->weights[k][l];
}

/* Chapter 19's slopes_of_scores, and the slopes are saved: grad_query is a sum
 * over keys, of which a block has few, and is made of some blocks' slopes in
 * one go. */
static void softmax_slopes(const QueryTile *q, int i, Columns *saved)
{
    for (int k = 0; i + k < q->count; k++) {
        const float mean = q->mean[i + k];
        for (int l = 0; l < COLUMNS; l++)
            saved[k * BLOCKS][l] = q->g[k][l] =
                q->weights[k][l] * (q->g[k][l] - mean);
    }
}

/* Copies of n rows from number i on, times a factor. */
static StridedMatrix copy_rows(const StridedRows *rows, int text, int head,
                               int i, int n, int d, float factor, float *to)
{
    for (int k = 0; k < n; k++) {
        const float *from = row_at(rows, text, head, i + k);
        if (factor == 1)
            memcpy(to + k * (d + GAP), from, (size_t)d * sizeof *to);
        else
            for (int l = 0; l < d; l++)
                to[k * (d + GAP) + l] = factor * from[l];
    }
    return (StridedMatrix){to, d + GAP, 1};
}

/* A tile, whose rows are copied for the reason that attend.c gives. Scores
 * must come out as they did there, to the bit. */
static QueryTile load_queries(const BackwardTask *task,
                              const Workspace *work, int head, int first,
                              int count)
{
    const AttentionCall *call = task->call;
    const ptrdiff_t at = query_number(call, work->text, head, first);
    return (QueryTile){
        .text = work->text,
        .head = head,
        .first = first,
        .count = count,
        .query = copy_rows(&call->query, work->text, head, first, count,
                           call->d_k, task->of_queries, work->copies),
        .grad_context = copy_rows(&task->grad_context, work->text, head,
                                  first, count, call->d_v, 1,
                                  work->copies + TILE * (call->d_k + GAP)),
        .largest = task->largest + at,
        .log_sum = task->log_sum + at,
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

/* The queries from number i of a tile on meet a block of keys. */
static void block_backward(const BackwardTask *task, const QueryTile *q,
                           int i, const KeyBlock *b, Columns *saved)
{
    const AttentionCall *call = task->call;
    const int d_k = call->d_k, d_v = call->d_v;
    const int rows = q->count - i, keys = b->count;
    const StridedMatrix query = from_row(q->query, i);
    const StridedMatrix query_columns = {query.at, 1, query.row_stride};
    const StridedMatrix grad_context = from_row(q->grad_context, i);
    const StridedMatrix grad_context_columns = {grad_context.at, 1,
                                                grad_context.row_stride};
    matmul_columns(rows, keys, d_k, query, b->key, 0, q->weights);
    mask_queries(call, q, i, b);
    weights_of_products(rows, keys, task->scale.of_products, q->largest + i,
                        q->log_sum + i, q->weights);
    matmul_columns(rows, keys, d_v, grad_context, b->value, 0, q->g);
    softmax_slopes(q, i, saved);
    matmul_columns(d_v, keys, rows, grad_context_columns, q->weights, 1,
                   b->grad_value);
    matmul_columns(d_k, keys, rows, query_columns, q->g, 1, b->grad_key);
}

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

/* A tile meets all blocks of the workspace that it may see, and the saved
 * slopes go through the fifth product. */
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
        block_backward(task, q, before, b, &work->saved[before][i]);
        keys += b->count;
    }
    const StridedMatrix g = {work->saved[0][0], BLOCKS * COLUMNS, 1};
    for (int k = 0; k < column_rows(d_k); k++)
        matmul_columns(q->count, min_int(COLUMNS, d_k - k * COLUMNS), keys,
                       g, work->entries + k * work->count, 0,
                       work->grad_query + k * TILE);
    add_grad_query(task, work, q);
}

/* Keys are transposed, so that each is a column. For the fifth product they
 * are rows, with the scale. Their gradients begin with 0. */
static void load_keys(const BackwardTask *task, Workspace *work, int first,
                      int count)
{
    const AttentionCall *call = task->call;
    const int d_k = call->d_k, d_v = call->d_v;
    const float scale = task->scale.of_queries * task->scale.of_products;
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
        transpose_scaled(b->count, d_k, task->of_keys,
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
                (*to)[l] = scale * from[l];
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
        add_transposed(work, b, call->d_k,
                       task->of_keys * task->scale.of_products, b->grad_key,
                       &task->grad_key);
        add_transposed(work, b, call->d_v, 1, b->grad_value,
                       &task->grad_value);
    }
}

/* In a head, part `keys` of the keys meets a part of the queries. */
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

/* context_dot_grad, by the product that makes the gradients of weights, as if
 * contexts were values; of LANES times LANES dot products the diagonal is
 * taken. So where one value has all the weight, its gradient minus the mean
 * is 0 to the bit, however large the key that it is multiplied by. */
static void mean_gradients(int n, int d, StridedMatrix context,
                           StridedMatrix grad_context, float mean[n])
{
    Lanes *lanes = new_aligned((size_t)(d + LANES), sizeof *lanes);
    Lanes *dots = lanes + d;
    for (int i = 0; i < n; i += LANES) {
        const int rows = min_int(LANES, n - i);
        transpose_scaled(rows, d, 1, from_row(context, i).at,
                         context.row_stride, lanes->at, QUERIES);
        matmul_lanes(rows, 1, d, from_row(grad_context, i), lanes, NULL,
                     dots);
        for (int k = 0; k < rows; k++)
            mean[i + k] = dots[k].at[k];
    }
    free(lanes);
}

/* The rows of a head. */
static StridedMatrix rows_of_head(const StridedRows *rows, int text,
                                  int head)
{
    return (StridedMatrix){row_at(rows, text, head, 0), rows->token_stride,
                           1};
}

/* What each query of a head needs once: the sums of its softmax, for which
 * a small log-sum-exp is enough, and context_dot_grad. */
static void prepare_head(const BackwardTask *task, int h)
{
    const AttentionCall *call = task->call;
    const int text = h / call->n_heads, head = h % call->n_heads;
    const ptrdiff_t from = query_number(call, text, head, 0);
    const float *log_sum_exp = call->log_sum_exp + from;
    float *largest = task->largest + from, *log_sum = task->log_sum + from;
    mean_gradients(
        call->n, call->d_v, rows_of_head(&call->context, text, head),
        rows_of_head(&task->grad_context, text, head), task->mean + from);
    for (int i = 0; i < call->n; i++) {
        const float scale = task->scale.of_products;
        if (task->has_sums)
            log_sum[i] = log2f(log_sum[i]); /* which held the sum */
        else {
            largest[i] = log_sum_exp[i] / scale;
            log_sum[i] = log2_e * (float)((double)log_sum_exp[i] -
                                          (double)scale * largest[i]);
        }
        if (log_sum_exp[i] == -INFINITY) {
            largest[i] = INFINITY;
            log_sum[i] = task->mean[from + i] = 0;
        }
    }
}

/* A float near 256 may be off by 0.0000153, and every weight that is made
 * from such a log-sum-exp is off by at least as many parts of itself. */
static int has_large_scores(const AttentionCall *call, size_t queries)
{
    for (size_t i = 0; i < queries; i++)
        if (fabsf(call->log_sum_exp[i]) >= 256 &&
            call->log_sum_exp[i] != -INFINITY)
            return 1;
    return 0;
}

/* Before the first round, each query gets its three numbers. */
static void prepare_queries(BackwardTask *task, int threads)
{
    const AttentionCall *call = task->call;
    const int heads = call->texts * call->n_heads;
    const size_t count = (size_t)heads * (size_t)call->n;
    task->largest = new_aligned(count, 3 * sizeof *task->largest);
    task->log_sum = task->largest + count;
    task->mean = task->log_sum + count;
    task->has_sums = has_large_scores(call, count);
    if (task->has_sums)
        attend_sums(call, (SoftmaxSums){task->largest, task->log_sum});
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
    task.scale = call_scale(call);
    task.of_queries = call->bias.at ? task.scale.of_queries : 1;
    task.of_keys = call->bias.at ? 1 : task.scale.of_queries;
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
    free(task.largest);
}
