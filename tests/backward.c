/* src/kernel/backward.c against PyTorch's autograd, golden/backward, and
 * against chapters 18 and 19; for each instruction set that this processor
 * has. */
#define CHAPTER "backward"
#include "kernels.h"
#include "calls.h"
#include "attention/18_backward.h"
#include "attention/19_flash_backward.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

static const char *const slope_name[3] = {"g_query", "g_key", "g_value"};

/* ---- Any call: by the tables of chapter 18. */

/* The gradients of a head, which are added to what is there. */
static void undo_head(const AttentionCall *call, Head *h,
                      const float *grad_context, float *grad[3])
{
    static float dropped[MOST * MOST], grad_weights[MOST * MOST],
        grad_scores[MOST * MOST];
    const int n = call->n, m = call->m;
    for (int k = 0; k < n * m; k++) {
        if (isnan(h->weights[k])) /* of a query that sees nothing */
            h->weights[k] = 0;
        dropped[k] = h->weights[k] * h->keep_factor[k];
        grad_weights[k] = grad_scores[k] = 0;
    }
    matmul_backward(n, call->d_v, m, (void *)dropped, (void *)h->value,
                    (const void *)grad_context, (void *)grad_weights,
                    (void *)grad[2]);
    for (int k = 0; k < n * m; k++)
        grad_weights[k] *= h->keep_factor[k];
    for (int i = 0; i < n * m; i += m)
        softmax_backward(m, h->weights + i, grad_weights + i,
                         grad_scores + i);
    for (int k = 0; k < n * m; k++)
        grad_scores[k] *= scale_of(call);
    dot_scores_backward(n, m, call->d_k, (void *)h->query, (void *)h->key,
                        (void *)grad_scores, (void *)grad[0],
                        (void *)grad[1]);
}

/* What is due: the gradients of all heads, and of the heads of keys. */
static void answer(const AttentionCall *call,
                   const StridedRows *grad_context, float *due[3])
{
    static Head head;
    static float g[MOST * WIDE];
    const int heads = call->n_heads, key_heads = key_heads_of(call);
    for (int h = 0; h < call->texts * heads; h++) {
        const int key_head = h / (heads / key_heads);
        float *grad[3] = {due[0] + h * call->n * call->d_k,
                          due[1] + key_head * call->m * call->d_k,
                          due[2] + key_head * call->m * call->d_v};
        weigh_head(call, h / heads, h % heads, &head);
        gather(grad_context, h / heads, h % heads, call->n, call->d_v, g);
        undo_head(call, &head, g, grad);
    }
}

/* Where a call's three gradients go. */
static Results slope_of(const AttentionCall *call, int i, StridedRows rows)
{
    return (Results){
        slope_name[i],         rows,
        call->texts,           i ? key_heads_of(call) : call->n_heads,
        i ? call->m : call->n, i < 2 ? call->d_k : call->d_v};
}

static size_t size_of(const Results *x)
{
    return (size_t)(x->texts * x->heads * x->n * x->d);
}

/* A call there and back by each kernel, where gradients begin with a
 * number, held against what is due. */
static void run_back(const AttentionCall *call, StridedRows grad_context,
                     const Results slope[3], float *due[3], float with,
                     Worst worst[3])
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        const char *where = words_for(kernel, call);
        for (int i = 0; i < 3; i++)
            fill_results(&slope[i], with);
        kernel->attend(call);
        kernel->attend_backward(call, grad_context, slope[0].rows,
                                slope[1].rows, slope[2].rows);
        for (int i = 0; i < 3; i++)
            compare_results(&slope[i], with, due[i], where, &worst[i]);
    }
}

/* Their sums are of up to 300 numbers, in float: 9.1e-6 was measured. */
static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 200;
    static Worst worst[3];
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded(19000 + k);
        AttentionCall call = any_call(&r, any_sizes(&r, 1 << 19));
        const int texts = call.texts, heads = call.n_heads;
        call.log_sum_exp =
            guarded("log_sum", (size_t)(texts * heads * call.n));
        const StridedRows grad_context = filled(
            &r, "g_context", texts, heads, call.n, call.d_v, 0, numbers);
        Results slope[3];
        float *due[3];
        for (int i = 0; i < 3; i++) {
            const Results x = slope_of(&call, i, (StridedRows){0});
            const int size[4] = {texts, x.heads, x.n, x.d};
            slope[i] = slope_of(&call, i, any_rows(&r, x.name, size, 0));
            due[i] = guarded_filled("due", size_of(&x), 0);
        }
        answer(&call, &grad_context, due);
        run_back(&call, grad_context, slope, due, (float)(k % 3), worst);
        guarded_free();
    }
    for (int i = 0; i < 3; i++)
        report(slope_name[i], &worst[i], 2e-5);
}

/* A call of the set against PyTorch. */
static void golden_test(const char *set)
{
    static Worst worst[3];
    AttentionCall call = call_of_set(set);
    const int heads = call.n_heads, n = call.n, d_v = call.d_v;
    const StridedRows grad_context =
        rows_by_head(heads, n, d_v, input(set, "g_context"));
    call.context =
        rows_by_head(heads, n, d_v,
                     guarded("an array", golden(set, "g_context")->count));
    call.log_sum_exp =
        guarded("an array", (size_t)(call.texts * heads * n));
    Results slope[3];
    float *due[3];
    for (int i = 0; i < 3; i++) {
        const Results x = slope_of(&call, i, (StridedRows){0});
        slope[i] = slope_of(
            &call, i,
            rows_by_head(x.heads, x.n, x.d,
                         guarded(x.name, golden_count(set, x.name))));
        due[i] = golden_floats(set, x.name);
    }
    run_back(&call, grad_context, slope, due, 0, worst);
    for (int i = 0; i < 3; i++)
        report(slope_name[i], &worst[i], ATOL);
}

/* A call of one text whose heads lie side by side, with its own numbers,
 * and its gradients. */
typedef struct {
    AttentionCall call;
    StridedRows grad_context;
    Results slope[3];
} There;

static StridedRows any_tokens(const char *name, int heads, int n, int d)
{
    float *x = guarded(name, (size_t)(heads * n * d));
    tap_fill(heads * n * d, x, -1, 1);
    return rows_by_token(heads, n, d, x);
}

static There there(int heads, int n, int m, int d_k, int d_v, Mask mask)
{
    There t = {
        .call = {.texts = 1,
                 .n_heads = heads,
                 .n_kv_heads = 1,
                 .n = n,
                 .m = m,
                 .d_k = d_k,
                 .d_v = d_v,
                 .mask = mask,
                 .query = any_tokens("query", heads, n, d_k),
                 .key = any_tokens("key", 1, m, d_k),
                 .value = any_tokens("value", 1, m, d_v),
                 .context = any_tokens("context", heads, n, d_v),
                 .log_sum_exp = guarded("an array", (size_t)(heads * n))},
        .grad_context = any_tokens("g_context", heads, n, d_v)};
    for (int i = 0; i < 3; i++) {
        const Results x = slope_of(&t.call, i, (StridedRows){0});
        t.slope[i] =
            slope_of(&t.call, i, any_tokens(x.name, x.heads, x.n, x.d));
    }
    return t;
}

/* There and back; the gradients begin with 0. */
static void go(const Kernel *kernel, const There *t)
{
    for (int i = 0; i < 3; i++)
        fill_results(&t->slope[i], 0);
    kernel->attend(&t->call);
    kernel->attend_backward(&t->call, t->grad_context, t->slope[0].rows,
                            t->slope[1].rows, t->slope[2].rows);
}

/* What the gradients are, to be compared with those of another run. */
static void keep(const There *t, float *was[3])
{
    for (int i = 0; i < 3; i++) {
        const size_t count = size_of(&t->slope[i]);
        was[i] = guarded("an array", count);
        memcpy(was[i], t->slope[i].rows.at, count * sizeof(float));
    }
}

static void near_to(const There *t, float *due[3], double atol)
{
    for (int i = 0; i < 3; i++)
        expect_list(slope_name[i], size_of(&t->slope[i]),
                    t->slope[i].rows.at, due[i], 0, atol);
}

/* Texts of several parts, for any number of threads the same. */
static void threads_agree(void)
{
    const int threads[4] = {1, 2, 3, 5};
    const int n[3] = {1100, 90, 700}, m[3] = {1700, 1300, 700};
    for (int k = 0; k < 3; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            There t = there(2, n[k], m[k], 5, 3,
                            k ? mask_causal(m[k] - n[k]) : mask_none());
            float *was[3];
            for (int run = 0; run < 4; run++) {
                t.call.threads = threads[run];
                next_case();
                given("%s", words_for(kernel, &t.call));
                go(kernel, &t);
                if (run == 0)
                    keep(&t, was);
                near_to(&t, was, 0);
            }
            guarded_free();
        }
}

/* One head of some parts, against the plain function. */
static void parts_of(const Kernel *kernel, int n, int m, Mask mask)
{
    enum { D_K = 3, D_V = 2 };
    const There t = there(1, n, m, D_K, D_V, mask);
    const AttentionCall *call = &t.call;
    float *due[3];
    for (int i = 0; i < 3; i++)
        due[i] = guarded_filled("due", size_of(&t.slope[i]), 0);
    next_case();
    given("%s", words_for(kernel, call));
    go(kernel, &t);
    flash_backward(n, m, D_K, D_V, mask, (void *)call->query.at,
                   (void *)call->key.at, (void *)call->value.at,
                   (void *)call->context.at, call->log_sum_exp,
                   (void *)t.grad_context.at, (void *)due[0],
                   (void *)due[1], (void *)due[2]);
    near_to(&t, due, ATOL);
    guarded_free();
}

/* With as many parts of both, and with more of the one or the other, where
 * the last part is one token. */
static void parts_agree(void)
{
    const int n[3] = {1200, 90, 1537}, m[3] = {1500, 1537, 90};
    for (int k = 0; k < 3; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            parts_of(kernel, n[k], m[k], mask_none());
            parts_of(kernel, n[k], m[k], mask_causal(m[k] - n[k]));
        }
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { M = 160 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        There t = there(1, 70, M, 3, 3, mask_none());
        float *all[3], *none[3];
        go(kernel, &t);
        keep(&t, all);
        for (int i = 0; i < 3; i++)
            none[i] = guarded_filled("nothing", size_of(&t.slope[i]), 0);
        for (int k = 0; k < 4; k++) {
            t.call.mask = mask_causal(first[k]);
            next_case();
            given("%s", words_for(kernel, &t.call));
            go(kernel, &t);
            near_to(&t, k < 2 ? all : none, 0);
        }
    }
}

/* ---- Large scores. They are exact, as floats and as doubles: so all that
 * is off comes of what is made of them. */

enum { N = 70, M = 90, D = 16, D_V = 5, HEADS = 2 };

/* Multiples of a step, a power of 2. */
static void round_to(float step, int n, float x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = step * rintf(x[i]);
}

/* All scores lie near one number, because of the last entry of queries and
 * keys, or of a bias in its place. They are multiples of the step. */
static There with_scores_near(float level, float step, Mask mask,
                              bool by_bias)
{
    There t = there(HEADS, N, M, D, D_V, mask);
    float *bias = guarded("bias", M);
    for (int i = 0; i < HEADS * N * D; i++)
        t.call.query.at[i] *= 8;
    round_to(0.125f, HEADS * N * D, t.call.query.at);
    for (int i = 0; i < M * D; i++)
        t.call.key.at[i] *= 4;
    round_to(32 * step, M * D, t.call.key.at);
    for (int i = 0; i < HEADS * N; i++)
        t.call.query.at[i * D + D - 1] = 1;
    for (int j = 0; j < M; j++) {
        bias[j] = level;
        t.call.key.at[j * D + D - 1] = 4 * level;
    }
    t.call.scale = 0.25f;
    if (by_bias) {
        t.call.bias.at = bias;
        t.call.d_k = t.slope[0].d = t.slope[1].d = D - 1;
    }
    return t;
}

static bool is_seen(Mask mask, int i, int j)
{
    return mask.kind == MASK_CAUSAL  ? j <= mask.first + i
           : mask.kind == MASK_TABLE ? mask.table[i * mask.m + j] != 0
                                     : true;
}

/* One query's gradients, in float64. */
static void exact_query(const There *t, int head, int i,
                        double grad_query[D], double grad_key[M][D],
                        double grad_value[M][D_V])
{
    const AttentionCall *call = &t->call;
    const float *query = row_at(&call->query, 0, head, i);
    const float *grad_context = row_at(&t->grad_context, 0, head, i);
    double weight[M], g[M], largest = -INFINITY, sum = 0, mean = 0;
    for (int j = 0; j < M; j++) {
        weight[j] = g[j] = 0;
        for (int k = 0; k < D; k++)
            weight[j] += 0.25 * query[k] * row_at(&call->key, 0, 0, j)[k];
        for (int k = 0; k < D_V; k++)
            g[j] +=
                (double)grad_context[k] * row_at(&call->value, 0, 0, j)[k];
        if (is_seen(call->mask, i, j))
            largest = fmax(largest, weight[j]);
    }
    for (int j = 0; j < M; j++) {
        weight[j] =
            is_seen(call->mask, i, j) ? exp(weight[j] - largest) : 0;
        sum += weight[j];
        mean += weight[j] * g[j];
    }
    for (int j = 0; j < M; j++) {
        const double slope = 0.25 * weight[j] * (g[j] - mean / sum) / sum;
        for (int k = 0; k < D; k++) {
            grad_query[k] += slope * row_at(&call->key, 0, 0, j)[k];
            grad_key[j][k] += slope * query[k];
        }
        for (int k = 0; k < D_V; k++)
            grad_value[j][k] += weight[j] / sum * grad_context[k];
    }
}

/* The largest difference between a gradient and what is due. A bias takes
 * the place of the last entry of D, which then does not count. */
static double furthest(const Results *x, int width, const double *due)
{
    double off = 0;
    for (int h = 0; h < x->heads; h++)
        for (int i = 0; i < x->n; i++, due += width)
            for (int k = 0; k < x->d; k++) {
                const double by =
                    fabs(row_at(&x->rows, 0, h, i)[k] - due[k]);
                off = by <= off ? off : by;
            }
    return off;
}

/* In grad_query, what rounding leaves of a sum of slopes is multiplied by the
 * large entry of the keys. */
static void large_scores_of(float level, float step, Mask mask,
                            bool by_bias)
{
    static double due[3][HEADS * N * D];
    const There t = with_scores_near(level, step, mask, by_bias);
    memset(due, 0, sizeof due);
    for (int i = 0; i < HEADS * N; i++)
        exact_query(&t, i / N, i % N, due[0] + i * D, (void *)due[1],
                    (void *)due[2]);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        go(kernel, &t);
        for (int i = 0; i < 3; i++) {
            const double off =
                furthest(&t.slope[i], i < 2 ? D : D_V, due[i]);
            const double atol =
                i == 0 && !by_bias ? 1.2e-6 * fabsf(level) : 4e-6;
            next_case();
            given("%s, scores near %g", words_for(kernel, &t.call), level);
            expect(off <= atol, slope_name[i],
                   "off by %.3g, of which %.3g is allowed", off, atol);
        }
    }
    guarded_free();
}

/* Of 24 binary digits of a score near 10,000, some 10 are left for what
 * differs between keys. */
static void large_scores(void)
{
    static float window[N][M];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            window[i][j] = j <= i + M - N && j > i + M - N - 7;
    const Mask mask[3] = {mask_none(), mask_causal(M - N),
                          mask_table(N, M, window)};
    const float level[4] = {100, -1000, 10000, 1e6f};
    const float step[4] = {1 / 256.f, 1 / 256.f, 1 / 256.f, 1 / 8.f};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            for (int by_bias = 0; by_bias < 2; by_bias++)
                large_scores_of(level[i], step[i], mask[k], by_bias);
}

/* The lowest of floats, added to each score, hides no key from a query that
 * has no other: all keys weigh the same, as with a bias of 0 where keys
 * are 0. */
static void lowest_bias(void)
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        There t = there(HEADS, N, M, D, D_V, mask_none());
        float *bias = guarded_filled("bias", M, 0), *due[3];
        t.call.bias.at = bias;
        memset(t.call.key.at, 0, M * D * sizeof(float));
        go(kernel, &t);
        keep(&t, due);
        for (int j = 0; j < M; j++)
            bias[j] = -FLT_MAX;
        next_case();
        given("%s", words_for(kernel, &t.call));
        go(kernel, &t);
        near_to(&t, due, ATOL);
        guarded_free();
    }
}

/* A query that sees one key gives all of its weight to it, and nothing that
 * it could change. */
static void one_key(void)
{
    const float score[5] = {300, 1e4f, 3e6f, 1e9f, -7e8f};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (int k = 0; k < 5; k++)
            for (int d = 1; d <= 3; d++) {
                There t = there(1, 1, 1, d, 2, mask_none());
                t.call.query.at[0] = 1;
                t.call.key.at[0] = score[k] * sqrtf((float)d);
                next_case();
                given("%s, a score of %g", words_for(kernel, &t.call),
                      (double)score[k]);
                go(kernel, &t);
                float *due[3] = {guarded_filled("0", (size_t)d, 0),
                                 guarded_filled("0", (size_t)d, 0),
                                 t.grad_context.at};
                near_to(&t, due, 0);
                guarded_free();
            }
}

/* ---- What is refused. */

/* A call that fits, with its gradients; for the child of REFUSES one of
 * their rows is not there, or there are no heads. */
static float numbers_of_call[100];
static AttentionCall small = {.texts = 1,
                              .n_heads = 2,
                              .n = 3,
                              .m = 4,
                              .d_k = 2,
                              .d_v = 2,
                              .log_sum_exp = numbers_of_call};
static StridedRows gradient[4];

static void check(void (*function)(const AttentionCall *, StridedRows,
                                   StridedRows, StridedRows, StridedRows),
                  int without, int heads)
{
    const StridedRows rows = {numbers_of_call, 0, 0, 2};
    small.query = small.key = small.value = small.context = rows;
    small.n_heads = heads;
    for (int i = 0; i < 4; i++)
        gradient[i] = i == without ? (StridedRows){0} : rows;
    if (without == 4)
        small.log_sum_exp = NULL;
    function(&small, gradient[0], gradient[1], gradient[2], gradient[3]);
}

static void refused_calls(void)
{
    static const char *const words[5] = {"no g_context", "no g_query",
                                         "no g_key", "no g_value",
                                         "no log_sum_exp"};
    for (int i = 0; i < 5; i++)
        TAP_REFUSES(
            "attend_fast_backward", words[i],
            i < 4 ? "attention_call_gradients_check: grad_context.at, "
                    "grad_query.at, grad_key.at or grad_value.at is NULL: "
                    "rows are needed for each"
                  : "attention_call_gradients_check: log_sum_exp is NULL: "
                    "the one that attend_fast has filled is needed",
            check(attend_fast_backward, i, 2));
    TAP_REFUSES("attend_fast_backward", "a call of no heads", NULL,
                check(attend_fast_backward, -1, 0));
}

static void call_fits(void)
{
    check(attention_call_gradients_check, -1, 2);
    expect_true("it fits", true);
}

int main(void)
{
    EACH_SET("attend_fast_backward", "job_*-query", golden_test(set));
    TAP("attend_fast_backward: as chapter 18's tables", any_calls());
    TAP("attend_fast_backward: alike for any number of threads",
        threads_agree());
    TAP("attend_fast_backward: parts, as flash_backward", parts_agree());
    TAP("attend_fast_backward: the first and the last of ints",
        first_far_away());
    TAP("attend_fast_backward: large scores", large_scores());
    TAP("attend_fast_backward: the lowest bias", lowest_bias());
    TAP("attend_fast_backward: a large score, of one key", one_key());
    TAP("attention_call_gradients_check: what fits", call_fits());
    refused_calls();
    return tap_done();
}
