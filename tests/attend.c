/* src/kernel/attend.c against PyTorch, golden/attend, and against the chapters
 * before it; for each instruction set that this processor has. */
#define CHAPTER "attend"
#include "kernels.h"
#include "calls.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/06_scaling.h"
#include "attention/11_causal_attention.h"

/* How far floats may be from floats. Measured, in parts of what is due or
 * of 1, if that is more: 9.7e-7 between a log_sum_exp and the book's,
 * 6.9e-7 between contexts; and from PyTorch's float64 no more than 4e-7. */
#define ATOL 2e-6

/* ---- What the book's functions answer */

typedef struct {
    float scores[MOST * MOST], weights[MOST * MOST];
    float query[MOST * WIDE], key[MOST * WIDE], value[MOST * WIDE];
    float context[MOST * WIDE], log_sum_exp[MOST];
} Answer;

/* The largest score less the logarithm of its weight. */
static float log_sum_of(int m, const float scores[m],
                        const float weights[m])
{
    int best = 0;
    for (int j = 1; j < m; j++)
        if (scores[j] > scores[best])
            best = j;
    return scores[best] == -INFINITY
               ? -INFINITY
               : (float)(scores[best] - log(weights[best]));
}

static void answer_head(const AttentionCall *call, int text, int head,
                        Answer *a)
{
    const int n = call->n, m = call->m, count = n * m;
    const int shared =
        call->n_kv_heads ? head / (call->n_heads / call->n_kv_heads) : head;
    gather(&call->query, text, head, n, call->d_k, a->query);
    gather(&call->key, text, shared, m, call->d_k, a->key);
    gather(&call->value, text, shared, m, call->d_v, a->value);
    dot_scores(n, m, call->d_k, (void *)a->query, (void *)a->key,
               (void *)a->scores);
    if (call->scale == 0)
        scale_scores(n, m, call->d_k, (void *)a->scores);
    for (int k = 0; call->scale != 0 && k < count; k++)
        a->scores[k] *= call->scale;
    for (int k = 0; call->bias.at && k < count; k++)
        a->scores[k] += row_at(&call->bias, text, head, k / m)[k % m];
    apply_mask(n, m, call->mask, (void *)a->scores);
    softmax_rows(n, m, (void *)a->scores, (void *)a->weights);
    for (int i = 0; call->log_sum_exp && i < n; i++)
        a->log_sum_exp[i] =
            log_sum_of(m, a->scores + i * m, a->weights + i * m);
    for (int k = 0; call->keep_factor.at && k < count; k++)
        a->weights[k] *=
            row_at(&call->keep_factor, text, head, k / m)[k % m];
    matmul(n, call->d_v, m, (void *)a->weights, (void *)a->value,
           (void *)a->context);
}

/* What is due of a call: of all heads, one after the other. */
typedef struct {
    double *context, *log_sum_exp;
} Due;

static Due answer(const AttentionCall *call)
{
    static Answer a;
    const int heads = call->texts * call->n_heads, n = call->n;
    const int entries = n * call->d_v;
    Due due = {malloc((size_t)(heads * entries) * sizeof(double)),
               malloc((size_t)(heads * n) * sizeof(double))};
    for (int h = 0; h < heads; h++) {
        answer_head(call, h / call->n_heads, h % call->n_heads, &a);
        for (int k = 0; k < entries; k++)
            due.context[h * entries + k] = a.context[k];
        for (int i = 0; call->log_sum_exp && i < n; i++)
            due.log_sum_exp[h * n + i] = a.log_sum_exp[i];
    }
    return due;
}

/* ---- How far a kernel is from it */

/* Runs a call, held against what is due. Where no row is, nothing may be
 * written. */
static void run_call(const Kernel *kernel, AttentionCall call, Due due,
                     Worst *context, Worst *log_sum_exp)
{
    const int heads = call.n_heads, rows = call.texts * heads * call.n;
    float *at = call.context.at;
    float *end =
        row_at(&call.context, call.texts - 1, heads - 1, call.n - 1) +
        call.d_v;
    const char *where = words_for(kernel, &call);
    ptrdiff_t between = end - at - rows * call.d_v;
    while (at < end)
        *at++ = unset;
    kernel->attend(&call);
    for (int i = 0, k = 0; i < rows; i++) {
        const int h = i / call.n;
        const float *row =
            row_at(&call.context, h / heads, h % heads, i % call.n);
        for (int j = 0; j < call.d_v; j++)
            worse(context, row[j], due.context[k++], where);
        if (call.log_sum_exp)
            worse(log_sum_exp, call.log_sum_exp[i], due.log_sum_exp[i],
                  where);
    }
    for (at = call.context.at; at < end; at++)
        between -= *at == unset;
    tap_report(between == 0, "contexts", "written between rows: %s", where);
}

/* ---- attend_fast */

static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 300;
    static Worst context, log_sum_exp;
    for (int k = 0; k < calls; k++) {
        Random r = seeded(k);
        const AttentionCall call = any_call(&r, any_sizes(&r, 1 << 19));
        const Due due = answer(&call);
        for (const Kernel *kernel = NULL; (kernel = after(kernel));)
            run_call(kernel, call, due, &context, &log_sum_exp);
        free(due.context);
        free(due.log_sum_exp);
        close_rooms();
    }
    report("context", &context, ATOL);
    report("log_sum", &log_sum_exp, ATOL);
}

/* The same for any number of threads. */
static void threads_agree(void)
{
    const int threads[4] = {1, 2, 3, 7};
    for (int k = 0; k < 3; k++) {
        Random r = seeded(1500 + k);
        AttentionCall call;
        do
            call = any_sizes(&r, 1 << 21);
        while (work(&call) < 1 << 20 || call.n < 30);
        call = any_call(&r, call);
        const int count = call.texts * call.n_heads * call.n * call.d_v;
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            float *context[4];
            for (int t = 0; t < 4; t++) {
                context[t] = room_for("context", (size_t)count);
                call.context = rows_by_head(call.n_heads, call.n, call.d_v,
                                            context[t]);
                call.threads = threads[t];
                kernel->attend(&call);
                tap_report(!memcmp(context[0], context[t],
                                   (size_t)count * sizeof(float)),
                           "context", "not as with one thread: %s",
                           words_for(kernel, &call));
            }
        }
        close_rooms();
    }
}

/* A call of the set, of heads [texts][n_heads][n][d], held against
 * PyTorch. */
static void golden_call(AttentionCall call)
{
    static Worst context, log_sum_exp;
    call = of_set(call);
    call.context =
        rows_by_head(call.n_heads, call.n, call.d_v, result("context"));
    call.log_sum_exp = result("log_sum");
    const Due due = {(double *)doubles("context"),
                     (double *)doubles("log_sum")};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        run_call(kernel, call, due, &context, &log_sum_exp);
    report("context", &context, 1e-6);
    report("log_sum", &log_sum_exp, 4e-7);
}

static void all_test(void)
{
    golden_call((AttentionCall){.threads = 0});
}

static void scaled_test(void)
{
    golden_call((AttentionCall){.scale = (float)number("scale", "scale")});
}

static void past_test(void)
{
    golden_call((AttentionCall){
        .mask = mask_causal((int)number("first", "first"))});
}

static void table_test(void)
{
    golden_call((AttentionCall){
        .mask = mask_table(dim("mask", 0), dim("mask", 1), input("mask"))});
}

static void bias_test(void)
{
    const ptrdiff_t m = dim("bias", 1);
    golden_call((AttentionCall){.bias = {input("bias"), 0, 0, m}});
}

/* Chapter 11's attend draws draws of its own. */
static void as_dropout(void)
{
    enum { N = 60, M = 150, D = 7 };
    Random r = seeded(1520);
    float *query = room_for("query", N * D), *key = room_for("key", M * D);
    float *value = room_for("value", M * D), *got = room_for("got", N * D);
    random_fill(&r, N, D, (void *)query);
    random_fill(&r, M, D, (void *)key);
    random_fill(&r, M, D, (void *)value);
    Trace t = one_head(N, M, D, D);
    attend(N, M, D, D, mask_causal(M - N), 0.5, &r, (void *)query,
           (void *)key, (void *)value, (void *)t.scores, (void *)t.weights,
           (void *)t.keep_mask, (void *)t.dropped, (void *)t.context);
    for (int k = 0; k < N * M; k++)
        t.keep_mask[k] /= 1 - 0.5f;
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        kernel->attend(&(AttentionCall){
            .texts = 1,
            .n_heads = 1,
            .n = N,
            .m = M,
            .d_k = D,
            .d_v = D,
            .mask = mask_causal(M - N),
            .query = rows_by_head(1, N, D, query),
            .key = rows_by_head(1, M, D, key),
            .value = rows_by_head(1, M, D, value),
            .keep_factor = rows_by_head(1, N, M, t.keep_mask),
            .context = rows_by_head(1, N, D, got)});
        similar(kernel->name, N * D, got, t.context, 0, ATOL);
    }
}

/* N queries of one entry, each 1, with m keys of one and values of d_v. */
static AttentionCall asking(int n, int m, int d_v, const float *key,
                            const float *value, float *context,
                            float *log_sum_exp)
{
    float *query = room_for("query", (size_t)n);
    for (int i = 0; i < n; i++)
        query[i] = 1;
    return (AttentionCall){.texts = 1,
                           .n_heads = 1,
                           .n = n,
                           .m = m,
                           .d_k = 1,
                           .d_v = d_v,
                           .query = rows_by_head(1, n, 1, query),
                           .key = rows_by_head(1, m, 1, key),
                           .value = rows_by_head(1, m, d_v, value),
                           .context = rows_by_head(1, n, d_v, context),
                           .log_sum_exp = log_sum_exp};
}
static void ask(const Kernel *kernel, int n, int m, Mask mask,
                const float *key, const float *value, float *context,
                float *log_sum_exp)
{
    AttentionCall call = asking(n, m, 1, key, value, context, log_sum_exp);
    call.mask = mask;
    kernel->attend(&call);
}

/* What a query is due that gives such scores to values of one entry. */
static double due_of(int m, const float scores[m], const float value[m],
                     double *log_sum_exp)
{
    double largest = -INFINITY, sum = 0, mixture = 0;
    for (int j = 0; j < m; j++)
        largest = fmax(largest, scores[j]);
    for (int j = 0; j < m; j++) {
        const double weight = exp(scores[j] - largest);
        sum += weight;
        mixture += weight * value[j];
    }
    *log_sum_exp = largest + log(sum);
    return mixture / sum;
}

/* Scores 10,000 apart, high and low ones, the largest in any place: all get
 * its value. */
static void far_apart(void)
{
    enum { N = 3, M = 300 };
    float *key = room_for("key", M), *value = room_for("value", M);
    float *context = room_for("context", N);
    float *log_sum_exp = room_for("log_sum", N);
    const int places[] = {0, 1, 127, 128, 200, 256, M - 1};
    for (int j = 0; j < M; j++)
        value[j] = (float)j;
    for (int k = 0; k < 14; k++) {
        const int place = places[k % 7];
        const float largest = k < 7 ? 1e4f : -1e4f;
        next_case();
        give("of %d the largest, %g, at %d", M, largest, place);
        for (int j = 0; j < M; j++)
            key[j] = largest - 1e4f * (float)(j == place ? 0 : 1 + j % 2);
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            ask(kernel, N, M, mask_none(), key, value, context,
                log_sum_exp);
            for (int i = 0; i < N; i++) {
                tap_near(kernel->name, context[i], place, 3e-7, 0);
                tap_near("log_sum", log_sum_exp[i], largest, 3e-7, 0);
            }
        }
    }
}

/* Only the first keys of very many are there. */
static void blocks_are_skipped(void)
{
    enum { SEEN = 130 };
    float *key = room_for("key", SEEN), *value = room_for("value", SEEN);
    float *context = room_for("context", SEEN);
    tap_fill(SEEN, key, -1, 1);
    for (int j = 0; j < SEEN; j++)
        value[j] = 3;
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        ask(kernel, SEEN, INT_MAX / 2, mask_causal(0), key, value, context,
            NULL);
        for (int i = 0; i < SEEN; i++)
            tap_near(kernel->name, context[i], 3, 1e-6, 0);
    }
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { N = 64, M = 140 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    float *key = room_for("key", M), *value = room_for("value", M);
    float *context = room_for("context", N);
    for (int j = 0; j < M; j++) {
        key[j] = 1;
        value[j] = (float)j;
    }
    for (int k = 0; k < 4; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            next_case();
            give("n = %d, m = %d, first = %d", N, M, first[k]);
            ask(kernel, N, M, mask_causal(first[k]), key, value, context,
                NULL);
            for (int i = 0; i < N; i++)
                tap_near(kernel->name, context[i], k < 2 ? 69.5 : NAN, 1e-6,
                         0);
        }
}

/* A hidden key may be anything. */
static void hidden_keys(void)
{
    enum { N = 40, M = 170 };
    const float odd[3] = {NAN, INFINITY, -INFINITY};
    float *key = room_for("key", M), *value = room_for("value", M);
    float *context = room_for("context", N);
    for (int k = 0; k < 3; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            for (int j = 0; j < M; j++) {
                key[j] = j < 20 || j > 150 ? odd[k] : 1;
                value[j] = j < 20 || j > 150 ? 0 : 5;
            }
            float table[N][M];
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    table[i][j] = j >= 20 && j <= 150;
            ask(kernel, N, M, mask_table(N, M, table), key, value, context,
                NULL);
            for (int i = 0; i < N; i++)
                tap_near(kernel->name, context[i], 5, 1e-6, 0);
        }
}

/* A bias of the lowest floats hides a key beside others, but where a row
 * has no others, it is the same for all: the values' mean. */
static void lowest_bias(void)
{
    enum { N = 70, M = 150 };
    float *key = room_for("key", M), *value = room_for("value", M);
    float *context = room_for("context", N), scores[M];
    float *log_sum_exp = room_for("log_sum", N), bias[N][M];
    tap_fill(M, key, -2, 2);
    tap_fill(M, value, -1, 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            const float low = (i / 7 + j / 5) % 2 ? -3e38f : -FLT_MAX;
            const float row[7] = {-FLT_MAX,
                                  -3e38f,
                                  -FLT_MAX / 2,
                                  j % 3 ? low : 0.5f,
                                  j < 130 ? low : 0.5f,
                                  j % 3 ? -INFINITY : -FLT_MAX,
                                  -INFINITY};
            bias[i][j] = row[i % 7];
        }
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        AttentionCall call =
            asking(N, M, 1, key, value, context, log_sum_exp);
        call.bias = rows_by_head(1, N, M, bias[0]);
        kernel->attend(&call);
        for (int i = 0; i < N; i++) {
            double sum;
            for (int j = 0; j < M; j++)
                scores[j] = key[j] + bias[i][j];
            next_case();
            give("query %d, its bias from %g to %g", i, bias[i][0],
                 bias[i][M - 1]);
            tap_near(kernel->name, context[i],
                     due_of(M, scores, value, &sum), 0, ATOL);
            if (i % 7 == 3 || i % 7 == 4)
                tap_near("log_sum", log_sum_exp[i], sum, ATOL, 0);
            else
                tap_true("log_sum", i % 7 == 6 ? log_sum_exp[i] == -INFINITY
                                               : isfinite(log_sum_exp[i]));
        }
    }
}

/* Products of some two million: their weights are as exact as those of
 * small ones, with any scale. */
static void high_scores(void)
{
    enum { M = 300 };
    const float scale[] = {1, 0.3f, -0.3f};
    float *key = room_for("key", M), *value = room_for("value", M);
    float context, log_sum_exp, scores[M];
    AttentionCall call =
        asking(1, M, 1, key, value, &context, &log_sum_exp);
    tap_fill(M, value, -1, 1);
    for (int j = 0; j < M; j++)
        key[j] = 0x1p21f - 0.25f * (float)(j % 40);
    for (int k = 0; k < 3; k++) {
        double sum;
        call.scale = scale[k];
        for (int j = 0; j < M; j++)
            scores[j] = scale[k] * (key[j] - 0x1p21f);
        const double due = due_of(M, scores, value, &sum);
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            next_case();
            give("%s, scale %g", kernel->name, (double)scale[k]);
            kernel->attend(&call);
            tap_near("context", context, due, 0, 5e-7);
            tap_near("log_sum", log_sum_exp, sum + scale[k] * 0x1p21, 2e-7,
                     0);
        }
    }
}

/* Products that no float holds, but a small scale makes scores of 3. */
static void small_scale(void)
{
    const float key[3] = {3e38f, -3e38f, 1e38f}, value[3] = {1, 2, 4};
    const float scores[3] = {3, -3, 1};
    float context, log_sum_exp;
    double sum;
    const double due = due_of(3, scores, value, &sum);
    AttentionCall call =
        asking(1, 3, 1, key, value, &context, &log_sum_exp);
    call.scale = 1e-40f;
    call.query = rows_by_head(1, 1, 1, (float[]){100});
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        kernel->attend(&call);
        tap_near(kernel->name, context, due, 2e-5, 0);
        tap_near("log_sum", log_sum_exp, sum, 2e-5, 0);
    }
}

/* Each block's largest score is a little larger than the last one's. */
static void rising_scores(void)
{
    enum { N = 700, M = 6 * 128 + 50 };
    float *key = room_for("key", M), *value = room_for("value", M);
    float *context = room_for("context", N), scores[M];
    float *log_sum_exp = room_for("log_sum", N);
    static double due[N], due_sum[N];
    AttentionCall call = asking(N, M, 1, key, value, context, log_sum_exp);
    tap_fill(M, key, -2, 0);
    tap_fill(M, value, -1, 1);
    tap_fill(N, call.query.at, 0.5, 1.5);
    for (int j = 0; j < M; j++)
        key[j] = j % 128 == 100 ? 0.3f * (float)(j / 128)
                                : key[j] + 0.3f * (float)(j / 128);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < M; j++)
            scores[j] = call.query.at[i] * key[j];
        due[i] = due_of(M, scores, value, due_sum + i);
    }
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (call.threads = 1; call.threads < 4; call.threads++) {
            kernel->attend(&call);
            next_case();
            give("%s, %d threads", kernel->name, call.threads);
            for (int i = 0; i < N; i++) {
                tap_near("context", context[i], due[i], 0, 2e-7);
                tap_near("log_sum", log_sum_exp[i], due_sum[i], 4e-7, 0);
            }
        }
}

/* Of the queries from one to another, all contexts and the log_sum_exp are
 * NaN; those of others are what they were. */
static void only_these(const AttentionCall *call, int from, int to,
                       const float *was, const float *sum_was)
{
    const int d_v = call->d_v;
    const float *context = call->context.at;
    for (int i = 0; i < call->n; i++) {
        const bool is_odd = i >= from && i <= to;
        give("query %d", i);
        tap_near("log_sum", call->log_sum_exp[i], is_odd ? NAN : sum_was[i],
                 0, 0);
        for (int k = i * d_v; k < (i + 1) * d_v; k++)
            tap_near("context", context[k], is_odd ? NAN : was[k], 0, 0);
        next_case();
    }
}

/* One score is NaN or infinite, by its bias; or those of a key are, with
 * all that see it. */
static void odd_scores(void)
{
    enum { N = 260, D = 5 };
    const float odd[2] = {NAN, INFINITY};
    const int place[5] = {0, 31, 127, 128, N - 1};
    static float bias[N][N];
    float *key = room_for("key", N), *value = room_for("value", N * D);
    float *context = room_for("context", N * D);
    float *log_sum_exp = room_for("log_sum", N);
    float *was = room(N * D), *sum_was = room(N);
    AttentionCall call = asking(N, N, D, key, value, context, log_sum_exp);
    tap_fill(N, key, -1, 1);
    tap_fill(N * D, value, -1, 1);
    call.bias = rows_by_head(1, N, N, bias[0]);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (int k = 0; k < 20; k++) {
            const int i = place[k / 2 % 5], j = place[k / 2 * 3 % 5];
            float *x = k < 10 ? &bias[i][j] : &key[j];
            const float old = *x;
            call.mask = k < 10 ? mask_none() : mask_causal(0);
            kernel->attend(&call);
            memcpy(was, context, N * D * sizeof *was);
            memcpy(sum_was, log_sum_exp, N * sizeof *sum_was);
            *x = odd[k % 2];
            kernel->attend(&call);
            *x = old;
            next_case();
            give("%s: %g for key %d", kernel->name, odd[k % 2], j);
            only_these(&call, k < 10 ? i : j, k < 10 ? i : N - 1, was,
                       sum_was);
        }
}

/* Who is in a tile with others that see a value of NaN may get it, too. But
 * nobody else. */
static void odd_value(void)
{
    enum { N = 200, HEADS = 2, PLACE = 150, WIDEST = 48 };
    float *key = room_for("key", HEADS * N);
    float *value = room_for("value", HEADS * N);
    float *context = room_for("context", HEADS * N), was[HEADS * N];
    AttentionCall call = asking(HEADS * N, N, 1, key, value, context, NULL);
    call.n_heads = HEADS;
    call.n = N;
    call.mask = mask_causal(0);
    tap_fill(HEADS * N, key, -1, 1);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        tap_fill(HEADS * N, value, -1, 1);
        call.query.head_stride = call.key.head_stride =
            call.value.head_stride = call.context.head_stride = N;
        kernel->attend(&call);
        memcpy(was, context, sizeof was);
        value[PLACE] = NAN;
        kernel->attend(&call);
        for (int i = 0; i < HEADS * N; i++) {
            next_case();
            give("%s: head %d, query %d", kernel->name, i / N, i % N);
            if (i >= PLACE && i < N)
                tap_near("context", context[i], NAN, 0, 0);
            else if (i < PLACE - WIDEST || i >= N)
                tap_near("context", context[i], was[i], 0, 0);
        }
    }
}

/* Heads side by side, so that from token to token it is 4 KiB. */
static void side_by_side(void)
{
    enum { TEXTS = 2, HEADS = 16, N = 40, M = 140, D = 64 };
    const char *const name[4] = {"query", "key", "value", "context"};
    const int n[4] = {N, M, M, N};
    StridedRows rows[2][4];
    for (int k = 0; k < 4; k++) {
        const size_t count = (size_t)(TEXTS * HEADS * n[k] * D);
        rows[0][k] = rows_by_head(HEADS, n[k], D, room_for(name[k], count));
        rows[1][k] =
            rows_by_token(HEADS, n[k], D, room_for(name[k], count));
        tap_fill((int)count, rows[0][k].at, -1, 1);
        for (int i = 0; i < TEXTS * HEADS * n[k]; i++)
            memcpy(row_at(&rows[1][k], i / n[k] / HEADS, i / n[k] % HEADS,
                          i % n[k]),
                   rows[0][k].at + i * D, D * sizeof(float));
    }
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        for (int k = 0; k < 2; k++)
            kernel->attend(&(AttentionCall){.texts = TEXTS,
                                            .n_heads = HEADS,
                                            .n = N,
                                            .m = M,
                                            .d_k = D,
                                            .d_v = D,
                                            .mask = mask_causal(M - N),
                                            .query = rows[k][0],
                                            .key = rows[k][1],
                                            .value = rows[k][2],
                                            .context = rows[k][3]});
        for (int i = 0; i < TEXTS * HEADS * N; i++)
            same(kernel->name, D,
                 row_at(&rows[1][3], i / N / HEADS, i / N % HEADS, i % N),
                 rows[0][3].at + i * D);
    }
}

/* So many heads that an int cannot hold their number times itself. With one
 * key, a context is its value. */
static void many_heads(void)
{
    enum { HEADS = 65536 };
    float *key = room_for("key", HEADS), *value = room_for("value", HEADS);
    float *context = room_for("context", HEADS);
    tap_fill(HEADS, key, -1, 1);
    tap_fill(HEADS, value, -1, 1);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (int sharing = 0; sharing <= 2; sharing++) {
            kernel->attend(&(AttentionCall){
                .texts = 1,
                .n_heads = HEADS,
                .n_kv_heads = sharing ? HEADS / sharing : 0,
                .n = 1,
                .m = 1,
                .d_k = 1,
                .d_v = 1,
                .query = rows_by_head(HEADS, 1, 1, key),
                .key = rows_by_head(HEADS, 1, 1, key),
                .value = rows_by_head(HEADS, 1, 1, value),
                .context = rows_by_head(HEADS, 1, 1, context)});
            float due[HEADS];
            for (int h = 0; h < HEADS; h++)
                due[h] = value[h / (sharing ? sharing : 1)];
            next_case();
            give("%s: %d share a head of keys", kernel->name, sharing);
            same(kernel->name, HEADS, context, due);
        }
}

/* ---- What is refused */

/* A call that fits; for the child of REFUSES one of its sizes is
 * another. */
static AttentionCall small = {.texts = 2,
                              .n_heads = 6,
                              .n_kv_heads = 3,
                              .n = 4,
                              .m = 5,
                              .d_k = 2,
                              .d_v = 3};
static const AttentionCall *call_with(int *size, int value)
{
    static float x[1000];
    small.query = small.key = small.value = small.context =
        (StridedRows){x, 0, 0, 3};
    *size = value;
    return &small;
}
static const AttentionCall *call_without(StridedRows *rows)
{
    call_with(&small.n, 4);
    rows->at = NULL;
    return &small;
}
static const AttentionCall *call_hidden(Mask mask)
{
    small.mask = mask;
    return call_with(&small.n, 4);
}

static void call_fits(void)
{
    attention_call_check(call_with(&small.n, 4));
    attention_call_check(call_with(&small.n_kv_heads, 0));
    attention_call_check(call_with(&small.n_kv_heads, 1));
    attention_call_check(call_hidden(mask_causal(INT_MIN)));
    small.mask = mask_none();
    attention_call_check(call_with(&small.n, INT_MAX / 12));
    small.texts = small.n_heads = small.n_kv_heads = 1;
    attention_call_check(call_with(&small.n, INT_MAX));
    small.n = 1;
    attention_call_check(call_with(&small.n_heads, INT_MAX));
    small.n_heads = 1;
    attention_call_check(call_with(&small.texts, INT_MAX));
    small.m = INT_MAX - 1024;
    small.d_k = small.d_v = 1 << 20;
    attention_call_check(call_with(&small.threads, INT_MAX));
    tap_true("they fit", true);
}

#define REFUSES_JOB(line, call)                                            \
    do {                                                                   \
        REFUSES("call.c: attention_call_check: " line, attend_fast(call)); \
        REFUSES("call.c: attention_call_check: " line,                     \
                attention_call_check(call));                               \
    } while (0)
#define SIZES(line) line ": at least 1 of each is needed"
#define NOT_THERE                                                          \
    "query.at, key.at, value.at or context.at is NULL: rows are needed "   \
    "for each"

static void refusals(void)
{
    const float table[4][6] = {{0}};
    REFUSES_JOB(SIZES("0 texts, 6 heads, 4 queries, 5 keys of 2 entries "
                      "and values of 3"),
                call_with(&small.texts, 0));
    REFUSES_JOB(SIZES("2 texts, -1 heads, 4 queries, 5 keys of 2 entries "
                      "and values of 3"),
                call_with(&small.n_heads, -1));
    REFUSES_JOB(SIZES("2 texts, 6 heads, 0 queries, 5 keys of 2 entries "
                      "and values of 3"),
                call_with(&small.n, 0));
    REFUSES_JOB(SIZES("2 texts, 6 heads, 4 queries, 0 keys of 2 entries "
                      "and values of 3"),
                call_with(&small.m, 0));
    REFUSES_JOB(SIZES("2 texts, 6 heads, 4 queries, 5 keys of 0 entries "
                      "and values of 3"),
                call_with(&small.d_k, 0));
    REFUSES_JOB(SIZES("2 texts, 6 heads, 4 queries, 5 keys of 2 entries "
                      "and values of 0"),
                call_with(&small.d_v, 0));
    REFUSES_JOB("2 texts of 6 heads with 178956971 queries: an int cannot "
                "count more than 2147483647 in all",
                call_with(&small.n, 178956971));
    REFUSES_JOB("1073741824 texts of 6 heads with 4 queries: an int cannot "
                "count more than 2147483647 in all",
                call_with(&small.texts, 1 << 30));
    REFUSES_JOB("2147483647 keys of 2 entries and values of 3: at most "
                "2147482623 keys, and 1048576 entries, are needed",
                call_with(&small.m, INT_MAX));
    REFUSES_JOB("5 keys of 1048577 entries and values of 3: at most "
                "2147482623 keys, and 1048576 entries, are needed",
                call_with(&small.d_k, (1 << 20) + 1));
    REFUSES_JOB("5 keys of 2 entries and values of 1048577: at most "
                "2147482623 keys, and 1048576 entries, are needed",
                call_with(&small.d_v, (1 << 20) + 1));
    REFUSES_JOB("6 heads share 4 of keys: a divisor of 6 is needed",
                call_with(&small.n_kv_heads, 4));
    REFUSES_JOB("6 heads share -3 of keys: a divisor of 6 is needed",
                call_with(&small.n_kv_heads, -3));
    REFUSES_JOB("-1 threads: at least 1, or 0 for all, are needed",
                call_with(&small.threads, -1));
    REFUSES_JOB(NOT_THERE, call_without(&small.query));
    REFUSES_JOB(NOT_THERE, call_without(&small.key));
    REFUSES_JOB(NOT_THERE, call_without(&small.value));
    REFUSES_JOB(NOT_THERE, call_without(&small.context));
    REFUSES_SUCH("a mask of another size",
                 attend_fast(call_hidden(mask_table(4, 6, table))));
    REFUSES_SUCH("a mask of another size", attention_call_check(call_hidden(
                                               mask_table(4, 6, table))));
}

int main(void)
{
    EACH("attend_fast", all_test, "all_*-query");
    SETS("attend_fast", all_test, "loud");
    SETS("attend_fast", scaled_test, "scaled");
    EACH("attend_fast", past_test, "past_*-query");
    SETS("attend_fast", table_test, "table");
    SETS("attend_fast", bias_test, "bias");
    TAP(any_calls, "attend_fast: as the chapters before");
    TAP(threads_agree, "attend_fast: alike for any number of threads");
    TAP(as_dropout, "attend_fast: with draws, as attend");
    TAP(far_apart, "attend_fast: scores far apart");
    TAP(blocks_are_skipped, "attend_fast: what nobody sees is not read");
    TAP(first_far_away, "attend_fast: the first and the last of ints");
    TAP(hidden_keys, "attend_fast: hidden keys are of no matter");
    TAP(lowest_bias, "attend_fast: a bias of the lowest floats");
    TAP(high_scores, "attend_fast: scores of millions");
    TAP(small_scale, "attend_fast: large products, a small scale");
    TAP(rising_scores, "attend_fast: scores that rise from block to block");
    TAP(odd_scores, "attend_fast: scores that are NaN or infinite");
    TAP(odd_value, "attend_fast: a value that is NaN");
    TAP(side_by_side, "attend_fast: heads side by side, 4 KiB apart");
    TAP(many_heads, "attend_fast: 65,536 heads");
    TAP(call_fits, "attention_call_check: what fits");
    refusals();
    return tap_done();
}
