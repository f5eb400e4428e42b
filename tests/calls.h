/* Random calls of the kernel, what is due of any call in float64, and rows
 * held against that. */
#pragma once

#include "golden.h"
#include "attention/kernel.h"
#include "attention/kv_cache.h"
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

/* Room for rows of these sizes, side by side or apart. */
static inline Table any_rows(Random *r, Table t)
{
    const int heads = t.heads, n = t.n, d = t.d;
    const ptrdiff_t token = d + below(r, 4), head = n * token + below(r, 9);
    const StridedRows layout[3] = {rows_by_head(heads, n, d, NULL),
                                   rows_by_token(heads, n, d, NULL),
                                   {NULL, heads * head + 3, head, token}};
    t.rows = layout[below(r, 3)];
    t.rows.at = guarded(t.name, span_of(&t));
    return t;
}

/* The same with numbers from -1 to 1, and NaN between rows. */
static inline Table any_numbers(Random *r, Table sizes)
{
    const Table t = any_rows(r, sizes);
    for (size_t i = 0; i < span_of(&t); i++)
        t.rows.at[i] = NAN;
    for (int i = 0; i < rows_of(&t); i++)
        uniform_fill(r, 1, t.d, -1, 1, (void *)row_of(&t, i));
    return t;
}

/* Fills rows that gradients are added to; what lies between stays. */
static inline void fill_rows(const Table *t, float with)
{
    for (int i = 0; i < rows_of(t) * t->d; i++)
        row_of(t, i / t->d)[i % t->d] = with;
}

/* Zeros, as long as the test runs; and a table's entries, row after row. */
static inline double *doubles(int count)
{
    const size_t size = (size_t)count * sizeof(double);
    return memset(tap_reserve("an array", size)->tensor.data, 0, size);
}
static inline double *numbers_of(const Table *t)
{
    double *x = doubles(rows_of(t) * t->d);
    for (int i = 0; i < rows_of(t) * t->d; i++)
        x[i] = row_of(t, i / t->d)[i % t->d];
    return x;
}

/* Each entry must be what it began with and what is due, together, to so
 * many parts of that, or of 1 if that is more; and between rows nothing was
 * written. Unsets the rows, for the next call. */
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

/* The tables of a call: what each is of, with its sizes. */
enum { QUERY, KEY, VALUE, CONTEXT };
static inline Table table_of(const AttentionCall *call, int role)
{
    static const char *const name[4] = {"query", "key", "value", "context"};
    const StridedRows rows[4] = {call->query, call->key, call->value,
                                 call->context};
    const bool is_key = role == KEY || role == VALUE;
    const bool shares = is_key && call->n_kv_heads;
    return (Table){name[role],
                   call->texts,
                   shares ? call->n_kv_heads : call->n_heads,
                   is_key ? call->m : call->n,
                   role < VALUE ? call->d_k : call->d_v,
                   rows[role]};
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

/* Room for the answers of a call of these sizes; and its rows, too. */
static inline void give_room(Random *r, AttentionCall *call)
{
    const Table contexts = table_of(call, CONTEXT);
    call->context = any_rows(r, contexts).rows;
    call->log_sum_exp = guarded("log_sum_exp", (size_t)rows_of(&contexts));
}
static inline void give_rows(Random *r, AttentionCall *call)
{
    call->query = any_numbers(r, table_of(call, QUERY)).rows;
    call->key = any_numbers(r, table_of(call, KEY)).rows;
    call->value = any_numbers(r, table_of(call, VALUE)).rows;
    give_room(r, call);
}

/* A bias that texts may share, or texts and heads, with minus infinity
 * here and there. */
static inline StridedRows any_bias(Random *r, const AttentionCall *call)
{
    const int shared = below(r, 3), n = call->n, m = call->m;
    const int texts = shared ? 1 : call->texts;
    const int heads = shared > 1 ? 1 : call->n_heads;
    Table bias = any_numbers(r, (Table){"bias", texts, heads, n, m, {0}});
    for (int i = 0; m > 2 && i < rows_of(&bias); i++)
        row_of(&bias, i)[below(r, m)] = -INFINITY;
    bias.rows.text_stride *= shared < 1;
    bias.rows.head_stride *= shared < 2;
    return bias.rows;
}

/* A call of these sizes, which has no rows yet. */
static inline AttentionCall call_sized(int texts, int n_heads,
                                       int n_kv_heads, int n, int m,
                                       int d_k, int d_v)
{
    return (AttentionCall){.texts = texts,
                           .n_heads = n_heads,
                           .n_kv_heads = n_kv_heads,
                           .n = n,
                           .m = m,
                           .d_k = d_k,
                           .d_v = d_v};
}

/* Any call of this much work at most. */
static inline AttentionCall any_call(Random *r, int64_t most)
{
    AttentionCall call;
    int64_t work;
    do {
        const int shared = 1 + below(r, 3);
        call = (AttentionCall){.texts = 1 + below(r, 3),
                               .n_heads = shared * (1 + below(r, 3)),
                               .n_kv_heads = shared,
                               .n = any_size(r, 300),
                               .m = any_size(r, 300),
                               .d_k = any_size(r, 257),
                               .d_v = any_size(r, 257)};
        work = (int64_t)call.texts * call.n_heads * call.n * call.m *
               (call.d_k + call.d_v);
    } while (work > most);
    if (call.n_heads == call.n_kv_heads)
        call.n_kv_heads = 0;
    give_rows(r, &call);
    call.mask = any_mask(r, call.n, call.m);
    if (below(r, 2))
        call.scale = (1 + 3 * random_float(r)) / sqrtf((float)call.d_k);
    if (!below(r, 3))
        call.bias = any_bias(r, &call);
    call.threads = below(r, 4);
    return call;
}

static inline void tell_call(const Kernel *kernel,
                             const AttentionCall *call)
{
    next_case();
    given("%s: n_heads, n_kv_heads = %d, %d; n, m, d_k, d_v = %d, %d, %d, "
          "%d; mask %d from %d, scale = %g, %s bias",
          kernel->name, call->n_heads, call->n_kv_heads, call->n, call->m,
          call->d_k, call->d_v, call->mask.kind, call->mask.first,
          (double)call->scale, call->bias.at ? "a" : "no");
}

/* The call of the set, of heads [texts][n_heads][n][d]: what its name says
 * is given, too. */
static inline AttentionCall call_of_set(const char *set)
{
    AttentionCall call = call_sized(
        dim(set, "query", 0), dim(set, "query", 1), dim(set, "key", 1),
        dim(set, "query", 2), dim(set, "key", 2), dim(set, "key", 3),
        dim(set, "value", 3));
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

/* A cache for the keys and values of a call. */
static inline KVCache cache_for(const AttentionCall *call, int window,
                                int capacity, Format format)
{
    KVCache c = {.n_kv_heads = call->n_kv_heads,
                 .d_k = call->d_k,
                 .d_v = call->d_v,
                 .capacity = capacity,
                 .window = window,
                 .format = format};
    kv_cache_init(&c, &c);
    return c;
}

/* ---- What is due, in float64 */

/* What is due of a call, row after row, as long as the test runs; NULL where
 * that is not looked at. */
enum { OF_CONTEXT, OF_SUMS, OF_QUERY, OF_KEY, OF_VALUE, OUTPUTS };
typedef struct {
    double *out[OUTPUTS];
} Due;

static inline double dot_of(int d, const double a[d], const double b[d])
{
    double sum = 0;
    for (int k = 0; k < d; k++)
        sum += a[k] * b[k];
    return sum;
}

/* By 0, nothing is added: a hidden value may even be NaN. */
static inline void add_times(int d, double by, const double x[d],
                             double sum[d])
{
    for (int k = 0; by != 0 && k < d; k++)
        sum[k] += by * x[k];
}

static inline bool sees(Mask mask, int i, int j)
{
    return mask.kind == MASK_CAUSAL  ? j <= (int64_t)mask.first + i
           : mask.kind == MASK_TABLE ? mask.table[i * mask.m + j] != 0
                                     : true;
}

/* The scores of head h's query i, still without bias and mask, become its
 * weights: 0 for all keys, where it sees none. Returns the log-sum-exp. */
static inline double weigh(const AttentionCall *call, int h, int i,
                           double *x)
{
    const int heads = call->n_heads, m = call->m;
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < m; j++) {
        if (call->bias.at)
            x[j] += row_at(&call->bias, h / heads, h % heads, i)[j];
        if (!sees(call->mask, i, j))
            x[j] = -INFINITY;
        largest = fmax(largest, x[j]);
    }
    for (int j = 0; j < m; j++)
        sum += x[j] = x[j] == -INFINITY ? 0 : exp(x[j] - largest);
    for (int j = 0; j < m; j++)
        x[j] /= sum == 0 ? 1 : sum;
    return largest + log(sum);
}

/* A call in float64. */
typedef struct {
    const AttentionCall *call;
    double scale, *query, *key, *value, *grad_context, *weights, *slope;
} Exact;

/* The context of query q, whose head's keys begin with number `from`; NaN
 * where it sees none. */
static inline void attend_exactly(const Exact *x, int q, int from,
                                  const Due *due)
{
    const AttentionCall *call = x->call;
    const int m = call->m, d_k = call->d_k, d_v = call->d_v;
    double *context = due->out[OF_CONTEXT] + q * d_v;
    for (int j = 0; j < m; j++)
        x->weights[j] = x->scale * dot_of(d_k, x->query + q * d_k,
                                          x->key + (from + j) * d_k);
    const double sum = weigh(call, q / call->n, q % call->n, x->weights);
    due->out[OF_SUMS][q] = sum;
    for (int k = 0; sum == -INFINITY && k < d_v; k++)
        context[k] = NAN;
    for (int j = 0; j < m; j++)
        add_times(d_v, x->weights[j], x->value + (from + j) * d_v, context);
}

/* Adds the gradients that come of its weights. */
static inline void add_gradients(const Exact *x, int q, int from,
                                 const Due *due)
{
    const int m = x->call->m, d_k = x->call->d_k, d_v = x->call->d_v;
    const double *g = x->grad_context + q * d_v;
    double mean = 0;
    for (int j = 0; j < m; j++) {
        x->slope[j] = dot_of(d_v, g, x->value + (from + j) * d_v);
        mean += x->weights[j] * x->slope[j];
    }
    for (int j = 0, i = from; j < m; j++, i++) {
        const double w = x->weights[j],
                     by = x->scale * w * (x->slope[j] - mean);
        add_times(d_k, by, x->key + i * d_k, due->out[OF_QUERY] + q * d_k);
        add_times(d_k, by, x->query + q * d_k, due->out[OF_KEY] + i * d_k);
        add_times(d_v, w, g, due->out[OF_VALUE] + i * d_v);
    }
}

/* What is due of a call; its gradients, if that of its contexts is
 * given. */
static inline Due due_of(const AttentionCall *call, const Table *grad)
{
    const Table query = table_of(call, QUERY), key = table_of(call, KEY),
                value = table_of(call, VALUE);
    const int queries = rows_of(&query), keys = rows_of(&key);
    const int d_k = call->d_k, d_v = call->d_v;
    const Exact x = {call,
                     call->scale != 0 ? (double)call->scale : 1 / sqrt(d_k),
                     numbers_of(&query),
                     numbers_of(&key),
                     numbers_of(&value),
                     grad ? numbers_of(grad) : NULL,
                     doubles(call->m),
                     doubles(call->m)};
    Due due = {{doubles(queries * d_v), doubles(queries)}};
    if (grad) {
        due.out[OF_QUERY] = doubles(queries * d_k);
        due.out[OF_KEY] = doubles(keys * d_k);
        due.out[OF_VALUE] = doubles(keys * d_v);
    }
    for (int q = 0; q < queries; q++) {
        const int shared = query.heads / key.heads;
        const int from = q / call->n / shared * call->m;
        attend_exactly(&x, q, from, &due);
        if (grad)
            add_gradients(&x, q, from, &due);
    }
    return due;
}

/* ---- Calls, and back */

/* A call, the gradient of its context, and all that comes out of it. */
typedef struct {
    AttentionCall call;
    Table grad_context, out[OUTPUTS];
} Job;

/* Of a call that has all else, room for the gradients in any layout. */
static inline Job job_of(Random *r, const AttentionCall *call)
{
    const Table context = table_of(call, CONTEXT);
    Job job = {*call, any_numbers(r, context), {context, context}};
    job.out[OF_SUMS].name = "log_sum_exp";
    job.out[OF_SUMS].d = 1;
    job.out[OF_SUMS].rows =
        rows_by_head(call->n_heads, call->n, 1, call->log_sum_exp);
    for (int role = QUERY; role <= VALUE; role++) {
        Table gradient = table_of(call, role);
        gradient.name =
            (const char *[]){"grad_query", "grad_key", "grad_value"}[role];
        job.out[OF_QUERY + role] = any_rows(r, gradient);
    }
    return job;
}

/* One of a single text, whose heads share their keys. */
static inline Job one_text(Random *r, int heads, int n, int m, int d_k,
                           int d_v)
{
    AttentionCall call = call_sized(1, heads, 1, n, m, d_k, d_v);
    give_rows(r, &call);
    return job_of(r, &call);
}

/* A kernel's call, and back where this is asked for, to gradients that begin
 * with a number. */
static inline void run_job(const Kernel *k, const Job *job, bool is_back,
                           float begun)
{
    tell_call(k, &job->call);
    k->attend(&job->call);
    for (int i = OF_QUERY; i < OUTPUTS; i++)
        fill_rows(&job->out[i], begun);
    if (is_back)
        k->attend_backward(&job->call, job->grad_context.rows,
                           job->out[OF_QUERY].rows, job->out[OF_KEY].rows,
                           job->out[OF_VALUE].rows);
}

/* What came out: each output has its own tolerance, as in expect_rows. */
static inline void expect_outputs(const Job *job, const Due *due,
                                  float begun,
                                  const double tolerance[OUTPUTS])
{
    for (int i = 0; i < OUTPUTS; i++)
        if (due->out[i])
            expect_rows(&job->out[i], due->out[i],
                        i < OF_QUERY ? 0 : (double)begun, tolerance[i]);
}

/* Each kernel's. */
static inline void expect_due(const Job *job, const Due *due, float begun,
                              const double tolerance[OUTPUTS])
{
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        run_job(k, job, due->out[OF_QUERY], begun);
        expect_outputs(job, due, begun, tolerance);
    }
}

/* Gradients are sums of up to 300 numbers, in float: 1.5e-5 was measured.
 * Of contexts no more than 4e-7 was. The way back needs log-sum-exps: only
 * forward, calls go without. */
static inline void any_calls(bool is_back)
{
    const double any[OUTPUTS] = {1e-6, 1e-6, 2e-5, 2e-5, 2e-5};
    const int calls = getenv("TAP_SMALL") ? 20 : is_back ? 200 : 300;
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded((uint64_t)k);
        const AttentionCall call = any_call(&r, 1 << 19);
        Job job = job_of(&r, &call);
        Due due = due_of(&call, is_back ? &job.grad_context : NULL);
        if (!is_back && k % 3 == 0) {
            job.call.log_sum_exp = NULL;
            due.out[OF_SUMS] = NULL;
        }
        expect_due(&job, &due, (float)(k % 2), any);
        guarded_free();
    }
}
