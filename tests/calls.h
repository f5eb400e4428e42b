/* Any calls of a kernel, and how far what it answers is from what is due.
 * Define CHAPTER before including this. */
#pragma once

#include "traces.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/04_random.h"
#include "attention/09_causal_mask.h"
#include "attention/10_dropout.h"
#include "attention/kernel.h"
#include "attention/strided_rows.h"

/* ---- Any call */

enum { MOST = 300, WIDE = 257 };

static inline int below(Random *r, int n)
{
    return (int)(random_u32(r) % (unsigned)n);
}

/* Mostly small, or beside where a tile or a block ends. */
static inline int any_size(Random *r, int most)
{
    static const int edge[] = {4,  8,  12,  16,  24,  32, 48,
                               64, 72, 128, 144, 192, 256};
    const int size =
        below(r, 2)
            ? edge[below(r, sizeof edge / sizeof *edge)] + below(r, 3) - 1
            : 1 + below(r, 2 << below(r, 9));
    return size < most ? size : most;
}

/* Rows with nothing between them, or with numbers there that are none. All
 * texts share theirs, or all heads as well. */
static inline StridedRows any_rows(Random *r, const char *name,
                                   const int size[4], int shared)
{
    const int texts = size[0], heads = size[1], n = size[2], d = size[3];
    const ptrdiff_t token = d + below(r, 4), head = n * token + below(r, 9);
    const StridedRows layout[3] = {rows_by_head(heads, n, d, NULL),
                                   rows_by_token(heads, n, d, NULL),
                                   {NULL, heads * head + 3, head, token}};
    StridedRows rows = layout[below(r, 3)];
    rows.text_stride *= shared < 1;
    rows.head_stride *= shared < 2;
    const ptrdiff_t count = (texts - 1) * rows.text_stride +
                            (heads - 1) * rows.head_stride +
                            (n - 1) * rows.token_stride + d;
    rows.at = guarded(name, (size_t)count);
    return rows;
}

/* The rows of a role, and what fills one of them. */
typedef void (*Fill)(Random *r, int d, float row[d]);
static inline StridedRows filled(Random *r, const char *name, int texts,
                                 int heads, int n, int d, int shared,
                                 Fill fill)
{
    const StridedRows rows =
        any_rows(r, name, (const int[]){texts, heads, n, d}, shared);
    float *end = row_at(&rows, texts - 1, heads - 1, n - 1) + d;
    for (float *x = rows.at; x < end; x++)
        *x = NAN;
    for (int h = 0; h < texts * heads; h++)
        for (int i = 0; i < n; i++)
            fill(r, d, row_at(&rows, h / heads, h % heads, i));
    return rows;
}
static inline void numbers(Random *r, int d, float row[d])
{
    uniform_fill(r, 1, d, -1, 1, (void *)row);
}
static inline void added(Random *r, int d, float row[d])
{
    uniform_fill(r, 1, d, -2, 2, (void *)row);
    if (d > 2)
        row[below(r, d)] = -INFINITY;
}
static inline void mask_row(Random *r, int d, float row[d])
{
    dropout_mask(r, 0.25, 1, d, (void *)row);
    for (int k = 0; k < d; k++)
        row[k] *= 1 / 0.75f;
}

static inline Mask any_mask(Random *r, int n, int m)
{
    const int kind = below(r, 6), place = below(r, 2 * (n + m)) - n - m;
    const int dense = 1 + below(r, 4);
    if (kind == 0)
        return mask_none();
    if (kind < 5)
        return mask_causal(kind == 1 ? 0 : kind == 2 ? m - n : place);
    float *table = guarded("table", (size_t)(n * m));
    for (int i = 0; i < n; i++) {
        const bool is_empty = !below(r, 5);
        for (int j = 0; j < m; j++)
            table[i * m + j] =
                is_empty || below(r, dense) ? 0 : (float)(1 - 2 * (j % 2));
    }
    return mask_table(n, m, (const void *)table);
}

static inline int64_t work(const AttentionCall *call)
{
    return (int64_t)call->texts * call->n_heads * call->n * call->m *
           (call->d_k + call->d_v);
}

/* Any sizes, so small that the book's loops soon have them. */
static inline AttentionCall any_sizes(Random *r, int most)
{
    AttentionCall call;
    do {
        const int shared = 1 + below(r, 3);
        call = (AttentionCall){.texts = 1 + below(r, 3),
                               .n_heads = shared * (1 + below(r, 3)),
                               .n_kv_heads = shared,
                               .n = any_size(r, MOST),
                               .m = any_size(r, MOST),
                               .d_k = any_size(r, WIDE),
                               .d_v = any_size(r, WIDE)};
    } while (work(&call) > most);
    if (call.n_heads == call.n_kv_heads)
        call.n_kv_heads = 0;
    return call;
}

/* Any rows for these sizes, and all else. */
static inline AttentionCall any_call(Random *r, AttentionCall call)
{
    const int texts = call.texts, heads = call.n_heads, n = call.n,
              m = call.m;
    const int key_heads = call.n_kv_heads ? call.n_kv_heads : heads;
    call.context =
        any_rows(r, "context", (const int[]){texts, heads, n, call.d_v}, 0);
    call.query = filled(r, "query", texts, heads, n, call.d_k, 0, numbers);
    call.key = filled(r, "key", texts, key_heads, m, call.d_k, 0, numbers);
    call.value =
        filled(r, "value", texts, key_heads, m, call.d_v, 0, numbers);
    call.mask = any_mask(r, n, m);
    call.scale = below(r, 2)
                     ? 0
                     : (1 + 3 * random_float(r)) / sqrtf((float)call.d_k);
    if (!below(r, 3))
        call.bias =
            filled(r, "bias", texts, heads, n, m, below(r, 3), added);
    if (!below(r, 3))
        call.keep_factor =
            filled(r, "kept", texts, heads, n, m, below(r, 3), mask_row);
    if (below(r, 3))
        call.log_sum_exp = guarded("log_sum", (size_t)(texts * heads * n));
    call.threads = below(r, 4);
    return call;
}

static inline const char *words_for(const Kernel *kernel,
                                    const AttentionCall *call)
{
    static char text[300];
    snprintf(
        text, sizeof text,
        "%s: texts = %d, n_heads = %d, n_kv_heads = %d, n = %d, m = %d, "
        "d_k = %d, d_v = %d, a mask of kind %d, first = %d, scale = "
        "%g, %s bias, %s kept, threads = %d",
        kernel->name, call->texts, call->n_heads, call->n_kv_heads, call->n,
        call->m, call->d_k, call->d_v, call->mask.kind, call->mask.first,
        call->scale, call->bias.at ? "a" : "no",
        call->keep_factor.at ? "with" : "without", call->threads);
    return text;
}

typedef struct {
    double off;
    char where[400];
} Worst;

static inline void worse(Worst *worst, double got, double due,
                         const char *where)
{
    double off = fabs(got - due) / (fabs(due) > 1 ? fabs(due) : 1);
    if (!isfinite(off))
        off = tap_is_near(got, due, 0) ? 0 : INFINITY;
    if (off > worst->off) {
        worst->off = off;
        snprintf(worst->where, sizeof worst->where,
                 "%s: %.9g where %.9g is due", where, got, due);
    }
}

static inline void report(const char *what, const Worst *worst,
                          double tolerance)
{
    expect(worst->off <= tolerance, what, "%.3g apart, in %s", worst->off,
           worst->where);
}

/* The call of the set, of heads [texts][n_heads][n][d]: what its name says
 * is given, too. */
static inline AttentionCall call_of_set(const char *set)
{
    AttentionCall call = {.texts = dim(set, "query", 0),
                          .n_heads = dim(set, "query", 1),
                          .n_kv_heads = dim(set, "key", 1),
                          .n = dim(set, "query", 2),
                          .m = dim(set, "key", 2),
                          .d_k = dim(set, "key", 3),
                          .d_v = dim(set, "value", 3)};
    const int heads = call.n_heads, key_heads = call.n_kv_heads;
    call.query = rows_by_head(heads, call.n, call.d_k, input(set, "query"));
    call.key = rows_by_head(key_heads, call.m, call.d_k, input(set, "key"));
    call.value =
        rows_by_head(key_heads, call.m, call.d_v, input(set, "value"));
    if (strstr(set, "scaled"))
        call.scale = (float)input_number(set, "scale", "scale");
    if (strstr(set, "past"))
        call.mask = mask_causal((int)input_number(set, "first", "first"));
    if (strstr(set, "table"))
        call.mask = mask_table(call.n, call.m, input(set, "mask"));
    if (strstr(set, "bias"))
        call.bias =
            (StridedRows){input(set, "bias"), 0, 0, dim(set, "bias", 1)};
    return call;
}

/* ---- What the book's functions answer */

typedef struct {
    float query[MOST * WIDE], key[MOST * WIDE], value[MOST * WIDE];
    float scores[MOST * MOST], weights[MOST * MOST];
    float keep_factor[MOST * MOST];
} Head;

static inline int key_heads_of(const AttentionCall *call)
{
    return call->n_kv_heads ? call->n_kv_heads : call->n_heads;
}

static inline float scale_of(const AttentionCall *call)
{
    return call->scale != 0 ? call->scale : 1 / sqrtf((float)call->d_k);
}

static inline void gather(const StridedRows *rows, int text, int head,
                          int n, int d, float *to)
{
    for (int i = 0; i < n; i++)
        memcpy(to + i * d, row_at(rows, text, head, i),
               (size_t)d * sizeof *to);
}

/* What a head of a call is given, its scores and its weights. */
static inline void weigh_head(const AttentionCall *call, int text, int head,
                              Head *h)
{
    const int n = call->n, m = call->m;
    const int key_head = head / (call->n_heads / key_heads_of(call));
    gather(&call->query, text, head, n, call->d_k, h->query);
    gather(&call->key, text, key_head, m, call->d_k, h->key);
    gather(&call->value, text, key_head, m, call->d_v, h->value);
    dot_scores(n, m, call->d_k, (void *)h->query, (void *)h->key,
               (void *)h->scores);
    for (int k = 0; k < n * m; k++) {
        h->scores[k] *= scale_of(call);
        h->keep_factor[k] = 1;
        if (call->bias.at)
            h->scores[k] += row_at(&call->bias, text, head, k / m)[k % m];
        if (call->keep_factor.at)
            h->keep_factor[k] =
                row_at(&call->keep_factor, text, head, k / m)[k % m];
    }
    apply_mask(n, m, call->mask, (void *)h->scores);
    softmax_rows(n, m, (void *)h->scores, (void *)h->weights);
}

/* ---- Rows that a kernel fills */

typedef struct {
    const char *name;
    StridedRows rows;
    int texts, heads, n, d;
} Results;

static inline float *result_row(const Results *x, int i)
{
    const int h = i / x->n;
    return row_at(&x->rows, h / x->heads, h % x->heads, i % x->n);
}

/* Fills them with a number; what lies between them is unset. */
static inline void fill_results(const Results *x, float with)
{
    const int rows = x->texts * x->heads * x->n;
    const float *end = result_row(x, rows - 1) + x->d;
    for (float *at = x->rows.at; at < end; at++)
        *at = unset;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < x->d; k++)
            result_row(x, i)[k] = with;
}

/* They began with a number, to which what is due was added; nothing is
 * written between them. */
static inline void compare_results(const Results *x, float with,
                                   const float *due, const char *where,
                                   Worst *worst)
{
    const int rows = x->texts * x->heads * x->n;
    const float *end = result_row(x, rows - 1) + x->d;
    ptrdiff_t between = end - x->rows.at - (ptrdiff_t)rows * x->d;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < x->d; k++)
            worse(worst, result_row(x, i)[k], (double)with + *due++, where);
    for (const float *at = x->rows.at; at < end; at++)
        between -= *at == unset;
    expect(between == 0, x->name, "written between rows: %s", where);
}
