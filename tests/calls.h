/* Random calls of the kernel, what is due of any call in float64, and rows
 * held against that. */
#pragma once

#include "golden.h"
#include "attention/kernel.h"
#include "attention/strided_rows.h"

/* for (const Kernel *k = NULL; (k = next_kernel(k));): the plain one, and
 * those that are compiled and run on this processor, the best last. */
static inline const Kernel *next_kernel(const Kernel *last)
{
    static const char *const name[3] = {"plain", "AVX2", "AVX-512"};
    int k = 0;
    while (last && strcmp(name[k++], last->name) != 0)
        ;
    while (k < 3 && !kernel_named(name[k]))
        k++;
    return k < 3 ? kernel_named(name[k]) : NULL;
}

/* ---- Rows, in any layout */

/* [texts][heads][n][d], of which any two may lie apart. */
typedef struct {
    const char *name;
    int texts, heads, n, d;
    StridedRows rows;
} Table;

static inline int below(Random *r, int n)
{
    return (int)(random_u32(r) % (unsigned)n);
}

static inline int rows_of(const Table *t)
{
    return t->texts * t->heads * t->n;
}

static inline float *row_of(const Table *t, int i)
{
    const int h = i / t->n;
    return row_at(&t->rows, h / t->heads, h % t->heads, i % t->n);
}

/* The floats from the first row to the end of the last. */
static inline size_t span_of(const Table *t)
{
    return (size_t)((t->texts - 1) * t->rows.text_stride +
                    (t->heads - 1) * t->rows.head_stride +
                    (t->n - 1) * t->rows.token_stride + t->d);
}

/* Room for rows that lie side by side or apart. All texts share theirs if
 * `shared` is 1, and all heads as well if it is 2. */
static inline Table any_rows(Random *r, const char *name, int texts,
                             int heads, int n, int d, int shared)
{
    const ptrdiff_t token = d + below(r, 4), head = n * token + below(r, 9);
    const StridedRows layout[3] = {rows_by_head(heads, n, d, NULL),
                                   rows_by_token(heads, n, d, NULL),
                                   {NULL, heads * head + 3, head, token}};
    Table t = {name, texts, heads, n, d, layout[below(r, 3)]};
    t.rows.text_stride *= shared < 1;
    t.rows.head_stride *= shared < 2;
    t.rows.at = guarded(name, span_of(&t));
    return t;
}

/* The same with numbers from -1 to 1, and NaN between rows. */
static inline Table any_numbers(Random *r, const char *name, int texts,
                                int heads, int n, int d, int shared)
{
    const Table t = any_rows(r, name, texts, heads, n, d, shared);
    for (size_t i = 0; i < span_of(&t); i++)
        t.rows.at[i] = NAN;
    for (int i = 0; i < rows_of(&t); i++)
        uniform_fill(r, 1, d, -1, 1, (void *)row_of(&t, i));
    return t;
}

/* Fills rows that gradients are added to; what lies between stays. */
static inline void fill_rows(const Table *t, float with)
{
    for (int i = 0; i < rows_of(t) * t->d; i++)
        row_of(t, i / t->d)[i % t->d] = with;
}

/* A copy as float64, row after row. */
static inline double *numbers_of(const Table *t)
{
    double *x = new_list((size_t)(rows_of(t) * t->d), sizeof *x);
    for (int i = 0; i < rows_of(t) * t->d; i++)
        x[i] = row_of(t, i / t->d)[i % t->d];
    return x;
}

/* The rows hold what is due, in addition to what they began with, up to
 * this part of it, or of 1; and between them nothing was written. Leaves
 * them unset, for the next call. */
static inline void expect_rows(const Table *t, const double *due,
                               double begun, double tolerance)
{
    size_t written = 0;
    for (int i = 0; i < rows_of(t) * t->d; i++) {
        float *x = row_of(t, i / t->d) + i % t->d;
        const double right = begun + due[i];
        expect(tap_is_near(*x, right, tolerance * fmax(1, fabs(right))),
               t->name, "row %d, entry %d: %.9g where %.9g is due",
               i / t->d, i % t->d, (double)*x, right);
        *x = unset;
    }
    for (size_t i = 0; i < span_of(t); i++)
        written += t->rows.at[i] != unset;
    expect(!written, t->name, "%zu numbers between rows", written);
}

/* ---- Random calls */

static inline int64_t work_of(const AttentionCall *call)
{
    return (int64_t)call->texts * call->n_heads * call->n * call->m *
           (call->d_k + call->d_v);
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

static inline Table contexts_of(const AttentionCall *call)
{
    return (Table){"context", call->texts, call->n_heads,
                   call->n,   call->d_v,   call->context};
}

/* Rows of a call of these sizes, with numbers, and room for its answers. */
static inline void give_rows(Random *r, AttentionCall *call)
{
    const int texts = call->texts, heads = call->n_heads, n = call->n,
              m = call->m, d_k = call->d_k, d_v = call->d_v;
    const int kv_heads = call->n_kv_heads ? call->n_kv_heads : heads;
    call->context = any_rows(r, "context", texts, heads, n, d_v, 0).rows;
    call->query = any_numbers(r, "query", texts, heads, n, d_k, 0).rows;
    call->key = any_numbers(r, "key", texts, kv_heads, m, d_k, 0).rows;
    call->value = any_numbers(r, "value", texts, kv_heads, m, d_v, 0).rows;
    call->log_sum_exp = guarded("log_sum_exp", (size_t)(texts * heads * n));
}

/* Any call of this much work at least and at most. */
static inline AttentionCall any_call(Random *r, int64_t least, int64_t most)
{
    AttentionCall call;
    do {
        const int shared = 1 + below(r, 3);
        call = (AttentionCall){.texts = 1 + below(r, 3),
                               .n_heads = shared * (1 + below(r, 3)),
                               .n_kv_heads = shared,
                               .n = any_size(r, 300),
                               .m = any_size(r, 300),
                               .d_k = any_size(r, 257),
                               .d_v = any_size(r, 257)};
    } while (work_of(&call) < least || work_of(&call) > most);
    const int texts = call.texts, heads = call.n_heads, n = call.n,
              m = call.m;
    if (heads == call.n_kv_heads)
        call.n_kv_heads = 0;
    give_rows(r, &call);
    call.mask = any_mask(r, n, m);
    if (below(r, 2))
        call.scale = (1 + 3 * random_float(r)) / sqrtf((float)call.d_k);
    if (!below(r, 3)) {
        const Table bias =
            any_numbers(r, "bias", texts, heads, n, m, below(r, 3));
        for (int i = 0; m > 2 && i < rows_of(&bias); i++)
            row_of(&bias, i)[below(r, m)] = -INFINITY;
        call.bias = bias.rows;
    }
    call.threads = below(r, 4);
    return call;
}

static inline void tell_call(const Kernel *kernel,
                             const AttentionCall *call)
{
    next_case();
    given("%s: texts = %d, n_heads = %d, n_kv_heads = %d, n = %d, m = %d, "
          "d_k = %d, d_v = %d",
          kernel->name, call->texts, call->n_heads, call->n_kv_heads,
          call->n, call->m, call->d_k, call->d_v);
    given("a mask of kind %d, first = %d, scale = %g, %s bias, threads = "
          "%d",
          call->mask.kind, call->mask.first, (double)call->scale,
          call->bias.at ? "a" : "no", call->threads);
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

/* ---- What is due, in float64 */

/* Which text, head, head of keys and token query number q of a call has. */
typedef struct {
    int text, head, kv_head, i;
} Place;
static inline Place place_of(const AttentionCall *call, int q)
{
    const int h = q / call->n, head = h % call->n_heads;
    const int kv_heads =
        call->n_kv_heads ? call->n_kv_heads : call->n_heads;
    return (Place){h / call->n_heads, head,
                   head / (call->n_heads / kv_heads), q % call->n};
}

static inline double scale_of(const AttentionCall *call)
{
    return call->scale != 0 ? (double)call->scale : 1 / sqrt(call->d_k);
}

static inline double dot_of(int d, const float a[d], const float b[d])
{
    double sum = 0;
    for (int k = 0; k < d; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

static inline bool sees(Mask mask, int i, int j)
{
    return mask.kind == MASK_CAUSAL  ? j <= (int64_t)mask.first + i
           : mask.kind == MASK_TABLE ? mask.table[i * mask.m + j] != 0
                                     : true;
}

/* The weights that a query gives; returns its log-sum-exp. */
static inline double weigh(const AttentionCall *call, Place p,
                           double *weights)
{
    const float *query = row_at(&call->query, p.text, p.head, p.i);
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < call->m; j++) {
        const float *key = row_at(&call->key, p.text, p.kv_head, j);
        weights[j] = scale_of(call) * dot_of(call->d_k, query, key);
        if (call->bias.at)
            weights[j] +=
                (double)row_at(&call->bias, p.text, p.head, p.i)[j];
        if (!sees(call->mask, p.i, j))
            weights[j] = -INFINITY;
        largest = fmax(largest, weights[j]);
    }
    for (int j = 0; j < call->m; j++) {
        weights[j] =
            weights[j] == -INFINITY ? 0 : exp(weights[j] - largest);
        sum += weights[j];
    }
    for (int j = 0; j < call->m; j++)
        weights[j] /= sum;
    return largest + log(sum);
}

/* A call's contexts, [texts][n_heads][n][d_v], to be freed by the caller,
 * and its log-sum-exps, if there is room for them. */
static inline double *due_contexts(const AttentionCall *call,
                                   double *log_sum_exp)
{
    const int queries = call->texts * call->n_heads * call->n;
    const int d_v = call->d_v;
    double *weights = new_list((size_t)call->m, sizeof *weights);
    double *context = new_list((size_t)(queries * d_v), sizeof *context);
    for (int q = 0; q < queries; q++) {
        const Place p = place_of(call, q);
        const double sum = weigh(call, p, weights);
        if (log_sum_exp)
            log_sum_exp[q] = sum;
        for (int k = 0; sum == -INFINITY && k < d_v; k++)
            context[q * d_v + k] = NAN;
        for (int j = 0; j < call->m; j++) {
            const float *value = row_at(&call->value, p.text, p.kv_head, j);
            for (int k = 0; sees(call->mask, p.i, j) && k < d_v; k++)
                context[q * d_v + k] += weights[j] * (double)value[k];
        }
    }
    free(weights);
    return context;
}
