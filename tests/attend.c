/* src/kernel/attend.c against PyTorch, golden/attend, and against the chapters
 * before it; for each instruction set that this processor has. */
#define CHAPTER "attend"
#include "kernels.h"
#include "calls.h"

/* How far floats may be from floats. Measured, in parts of what is due or
 * of 1, if that is more: 9.7e-7 between a log_sum_exp and the book's,
 * 6.9e-7 between contexts; and from PyTorch's float64 no more than 4e-7. */
#define ATOL 2e-6

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

/* What the book's functions answer to a call, head by head. */
static void answer(const AttentionCall *call, float *context,
                   float *log_sum_exp)
{
    static Head h;
    const int n = call->n, m = call->m;
    for (int k = 0; k < call->texts * call->n_heads; k++) {
        weigh_head(call, k / call->n_heads, k % call->n_heads, &h);
        for (int i = 0; i < n; i++)
            *log_sum_exp++ =
                log_sum_of(m, h.scores + i * m, h.weights + i * m);
        for (int i = 0; i < n * m; i++)
            h.weights[i] *= h.keep_factor[i];
        matmul(n, call->d_v, m, (void *)h.weights, (void *)h.value,
               (void *)context);
        context += n * call->d_v;
    }
}

/* How far all kernels are from what is due. Where no row is, nothing may be
 * written. */
static void run_call(const AttentionCall *call, const float *context,
                     const float *log_sum_exp, Worst worst[2])
{
    const Results results = {"contexts",    call->context, call->texts,
                             call->n_heads, call->n,       call->d_v};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        const char *where = words_for(kernel, call);
        fill_results(&results, unset);
        kernel->attend(call);
        compare_results(&results, 0, context, where, &worst[0]);
        for (int i = 0;
             call->log_sum_exp && i < call->texts * call->n_heads * call->n;
             i++)
            worse(&worst[1], call->log_sum_exp[i], log_sum_exp[i], where);
    }
}

/* ---- attend_fast */

static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 300;
    static Worst worst[2];
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded(k);
        const AttentionCall call = any_call(&r, any_sizes(&r, 1 << 19));
        const int rows = call.texts * call.n_heads * call.n;
        float *context = guarded("an array", (size_t)(rows * call.d_v));
        float *log_sum_exp = guarded("an array", (size_t)rows);
        answer(&call, context, log_sum_exp);
        run_call(&call, context, log_sum_exp, worst);
        guarded_free();
    }
    report("context", &worst[0], ATOL);
    report("log_sum", &worst[1], ATOL);
}

/* A call of the set against PyTorch. */
static void golden_test(const char *set)
{
    static Worst worst[2];
    AttentionCall call = call_of_set(set);
    call.context =
        rows_by_head(call.n_heads, call.n, call.d_v,
                     guarded("context", golden_count(set, "context")));
    call.log_sum_exp = guarded("log_sum", golden_count(set, "log_sum"));
    run_call(&call, golden_floats(set, "context"),
             golden_floats(set, "log_sum"), worst);
    report("context", &worst[0], 1e-6);
    report("log_sum", &worst[1], 4e-7);
}

/* The same for any number of threads. */
static void threads_agree(void)
{
    const int threads[4] = {1, 2, 3, 7};
    for (int k = 0; k < 3; k++) {
        Random r = random_seeded(1500 + k);
        AttentionCall call;
        do
            call = any_sizes(&r, 1 << 21);
        while (work(&call) < 1 << 20 || call.n < 30);
        call = any_call(&r, call);
        const int heads = call.n_heads, n = call.n, d_v = call.d_v;
        const size_t count = (size_t)(call.texts * heads * n * d_v);
        float *first = guarded("an array", count),
              *context = guarded("context", count);
        call.context = rows_by_head(heads, n, d_v, context);
        for (const Kernel *kernel = NULL; (kernel = after(kernel));)
            for (int t = 0; t < 4; t++) {
                call.threads = threads[t];
                next_case();
                given("%s", words_for(kernel, &call));
                for (size_t i = 0; i < count; i++)
                    context[i] = unset;
                kernel->attend(&call);
                if (t == 0)
                    memcpy(first, context, count * sizeof *first);
                expect_list("context", count, context, first, EXACTLY);
            }
        guarded_free();
    }
}

/* N queries of one entry, each 1, with m keys of one and values of d_v. */
static AttentionCall asking(int n, int m, int d_v)
{
    const size_t values = (size_t)(m * d_v), contexts = (size_t)(n * d_v);
    AttentionCall call = {
        .texts = 1,
        .n_heads = 1,
        .n = n,
        .m = m,
        .d_k = 1,
        .d_v = d_v,
        .query = rows_by_head(1, n, 1, guarded("query", (size_t)n)),
        .key = rows_by_head(1, m, 1, guarded("key", (size_t)m)),
        .value = rows_by_head(1, m, d_v, guarded("value", values)),
        .context = rows_by_head(1, n, d_v, guarded("context", contexts)),
        .log_sum_exp = guarded("log_sum", (size_t)n)};
    for (int i = 0; i < n; i++)
        call.query.at[i] = 1;
    return call;
}

/* By each kernel, each query gets this. */
static void all_get(const AttentionCall *call, double due)
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        next_case();
        given("%s", words_for(kernel, call));
        for (int i = 0; i < call->n; i++)
            call->context.at[i] = unset;
        kernel->attend(call);
        for (int i = 0; i < call->n; i++)
            expect_near("context", call->context.at[i], due, 1e-6, 0);
    }
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

/* Only the first keys of very many are there. */
static void blocks_are_skipped(void)
{
    enum { SEEN = 130 };
    AttentionCall call = asking(SEEN, SEEN, 1);
    call.m = INT_MAX / 2;
    call.mask = mask_causal(0);
    tap_fill(SEEN, call.key.at, -1, 1);
    for (int j = 0; j < SEEN; j++)
        call.value.at[j] = 3;
    all_get(&call, 3);
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { M = 140 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    AttentionCall call = asking(64, M, 1);
    for (int j = 0; j < M; j++) {
        call.key.at[j] = 1;
        call.value.at[j] = (float)j;
    }
    for (int k = 0; k < 4; k++) {
        call.mask = mask_causal(first[k]);
        all_get(&call, k < 2 ? 69.5 : (double)NAN);
    }
}

/* A hidden key may be anything. */
static void hidden_keys(void)
{
    enum { N = 40, M = 170 };
    const float odd[3] = {NAN, INFINITY, -INFINITY};
    static float table[N][M];
    AttentionCall call = asking(N, M, 1);
    call.mask = mask_table(N, M, table);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < M; j++) {
            const bool is_seen = j >= 20 && j <= 150;
            call.key.at[j] = is_seen ? 1 : odd[k];
            call.value.at[j] = is_seen ? 5 : 0;
            for (int i = 0; i < N; i++)
                table[i][j] = is_seen;
        }
        all_get(&call, 5);
    }
}

/* A bias of the lowest floats hides a key beside others, but where a row
 * has no others, it is the same for all: the values' mean. */
static void lowest_bias(void)
{
    enum { N = 70, M = 150 };
    float scores[M];
    static float bias[N][M];
    AttentionCall call = asking(N, M, 1);
    call.bias = rows_by_head(1, N, M, bias[0]);
    tap_fill(M, call.key.at, -2, 2);
    tap_fill(M, call.value.at, -1, 1);
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
        kernel->attend(&call);
        for (int i = 0; i < N; i++) {
            const float log_sum = call.log_sum_exp[i];
            double sum;
            for (int j = 0; j < M; j++)
                scores[j] = call.key.at[j] + bias[i][j];
            next_case();
            given("query %d, its bias from %g to %g", i, bias[i][0],
                  bias[i][M - 1]);
            expect_near(kernel->name, call.context.at[i],
                        due_of(M, scores, call.value.at, &sum), 0, ATOL);
            if (i % 7 == 3 || i % 7 == 4)
                expect_near("log_sum", log_sum, sum, ATOL, 0);
            else
                expect_true("log_sum", i % 7 == 6 ? log_sum == -INFINITY
                                                  : isfinite(log_sum));
        }
    }
}

/* One query by each kernel, whose context and log-sum-exp are due. */
static void is_due(const AttentionCall *call, double context, double atol,
                   double log_sum_exp, double rtol)
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        next_case();
        given("%s, scale %g", kernel->name, (double)call->scale);
        kernel->attend(call);
        expect_near("context", *call->context.at, context, 0, atol);
        expect_near("log_sum", *call->log_sum_exp, log_sum_exp, rtol, 0);
    }
}

/* Products of some two million: their weights are as exact as those of
 * small ones, with any scale. */
static void high_scores(void)
{
    enum { M = 300 };
    const float scale[] = {1, 0.3f, -0.3f};
    float scores[M];
    AttentionCall call = asking(1, M, 1);
    tap_fill(M, call.value.at, -1, 1);
    for (int j = 0; j < M; j++)
        call.key.at[j] = 0x1p21f - 0.25f * (float)(j % 40);
    for (int k = 0; k < 3; k++) {
        double sum;
        call.scale = scale[k];
        for (int j = 0; j < M; j++)
            scores[j] = scale[k] * (call.key.at[j] - 0x1p21f);
        const double due = due_of(M, scores, call.value.at, &sum);
        is_due(&call, due, 5e-7, sum + scale[k] * 0x1p21, 2e-7);
    }
}

/* Products that no float holds, but a small scale makes scores of 3. */
static void small_scale(void)
{
    AttentionCall call = asking(1, 3, 1);
    double sum;
    call.scale = 1e-40f;
    *call.query.at = 100;
    memcpy(call.key.at, (float[]){3e38f, -3e38f, 1e38f}, 3 * sizeof(float));
    tap_fill(3, call.value.at, 1, 4);
    const double due = due_of(3, (float[]){3, -3, 1}, call.value.at, &sum);
    is_due(&call, due, 2e-5, sum, 2e-5);
}

/* Who is in a tile with others that see a value of NaN may get it, too. But
 * nobody else. */
static void odd_value(void)
{
    enum { N = 200, HEADS = 2, PLACE = 150, WIDEST = 48 };
    float was[HEADS * N];
    AttentionCall call = asking(HEADS * N, HEADS * N, 1);
    const float *context = call.context.at;
    call.n_heads = HEADS;
    call.n = call.m = N;
    call.mask = mask_causal(0);
    call.query.head_stride = call.key.head_stride = N;
    call.value.head_stride = call.context.head_stride = N;
    tap_fill(HEADS * N, call.key.at, -1, 1);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        tap_fill(HEADS * N, call.value.at, -1, 1);
        kernel->attend(&call);
        memcpy(was, context, sizeof was);
        call.value.at[PLACE] = NAN;
        kernel->attend(&call);
        for (int i = 0; i < HEADS * N; i++) {
            next_case();
            given("%s: head %d, query %d", kernel->name, i / N, i % N);
            if (i >= PLACE && i < N)
                expect_equal("context", context[i], NAN);
            else if (i < PLACE - WIDEST || i >= N)
                expect_equal("context", context[i], was[i]);
        }
    }
}

/* So many heads that an int cannot hold their number times itself. With one
 * key, a context is its value. */
static void many_heads(void)
{
    enum { HEADS = 65536 };
    AttentionCall call = asking(HEADS, HEADS, 1);
    float due[HEADS];
    tap_fill(HEADS, call.key.at, -1, 1);
    tap_fill(HEADS, call.value.at, -1, 1);
    call.n_heads = HEADS;
    call.n = call.m = 1;
    call.query.head_stride = call.key.head_stride = 1;
    call.value.head_stride = call.context.head_stride = 1;
    for (int sharing = 0; sharing <= 2; sharing++) {
        call.n_kv_heads = sharing ? HEADS / sharing : 0;
        for (int h = 0; h < HEADS; h++)
            due[h] = call.value.at[h / (sharing ? sharing : 1)];
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            kernel->attend(&call);
            next_case();
            given("%s: %d share a head of keys", kernel->name, sharing);
            expect_list("context", HEADS, call.context.at, due, EXACTLY);
        }
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
    expect_true("they fit", true);
}

static const Wrong wrong[] = {
    {"no texts",
     "attention_call_check: 0 texts, 6 heads, 4 queries, 5 keys of 2 "
     "entries and values of 3: at least 1 of each is needed",
     &small.texts, 0},
    {"-1 heads", NULL, &small.n_heads, -1},
    {"no queries", NULL, &small.n, 0},
    {"no keys", NULL, &small.m, 0},
    {"keys of no entries", NULL, &small.d_k, 0},
    {"values of no entries", NULL, &small.d_v, 0},
    {"more queries than an int counts",
     "attention_call_check: 2 texts of 6 heads with 178956971 queries: an "
     "int cannot count more than 2147483647 in all",
     &small.n, 178956971},
    {"more texts than an int counts", NULL, &small.texts, 1 << 30},
    {"too many keys",
     "attention_call_check: 2147482624 keys of 2 entries and values of 3: "
     "at most 2147482623 keys, and 1048576 entries, are needed",
     &small.m, INT_MAX - 1023},
    {"too long keys", NULL, &small.d_k, (1 << 20) + 1},
    {"too long values", NULL, &small.d_v, (1 << 20) + 1},
    {"6 heads that share 4 of keys",
     "attention_call_check: 6 heads share 4 of keys: a divisor of 6 is "
     "needed",
     &small.n_kv_heads, 4},
    {"-3 heads of keys", NULL, &small.n_kv_heads, -3},
    {"-1 threads",
     "attention_call_check: -1 threads: at least 1, or 0 for all, are "
     "needed",
     &small.threads, -1},
};

static void attend_with(int *size, int value)
{
    attend_fast(call_with(size, value));
}

static void refusals(void)
{
    const float table[4][6] = {{0}};
    StridedRows *const rows[4] = {&small.query, &small.key, &small.value,
                                  &small.context};
    const char *const role[4] = {"queries", "keys", "values", "contexts"};
    REFUSES_EACH("attend_fast", attend_with, wrong);
    for (int k = 0; k < 4; k++)
        TAP_REFUSES("attend_fast", tap_words("a call without %s", role[k]),
                    "query.at, key.at, value.at or context.at is NULL: "
                    "rows are needed for each",
                    attend_fast(call_without(rows[k])));
    REFUSES_SUCH("a mask of another size",
                 attend_fast(call_hidden(mask_table(4, 6, table))));
}

int main(void)
{
    EACH_SET("attend_fast", "*-query", golden_test(set));
    TAP("attend_fast: as the chapters before", any_calls());
    TAP("attend_fast: alike for any number of threads", threads_agree());
    TAP("attend_fast: what nobody sees is not read", blocks_are_skipped());
    TAP("attend_fast: the first and the last of ints", first_far_away());
    TAP("attend_fast: hidden keys are of no matter", hidden_keys());
    TAP("attend_fast: a bias of the lowest floats", lowest_bias());
    TAP("attend_fast: scores of millions", high_scores());
    TAP("attend_fast: large products, a small scale", small_scale());
    TAP("attend_fast: a value that is NaN", odd_value());
    TAP("attend_fast: 65,536 heads", many_heads());
    TAP("attention_call_check: what fits", call_fits());
    refusals();
    return tap_done();
}
