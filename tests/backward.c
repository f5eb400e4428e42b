/* src/kernel/backward.c against PyTorch's autograd, golden/backward, and
 * against float64; for each instruction set that this processor has. */
#define CHAPTER "backward"
#include "calls.h"
#include "attention/19_flash_backward.h"

/* How far floats may be from float64, in parts of what is due or of 1, if
 * that is more. */
#define ATOL 5e-6

/* A call, the gradient of its context, and where its gradients are added:
 * of query, key and value. */
typedef struct {
    AttentionCall call;
    Table grad_context, grad[3];
} Backward;

/* Room for the gradients of a call that has all else, in any layout. */
static Backward backward_of(Random *r, const AttentionCall *call)
{
    Backward b = {*call, any_numbers(r, table_of(call, CONTEXT)), {{0}}};
    for (int role = QUERY; role <= VALUE; role++)
        b.grad[role] = any_rows(r, table_of(call, role));
    return b;
}

/* A kernel's call, and back; gradients begin with a number. */
static void go(const Kernel *kernel, const Backward *b, float begun)
{
    tell_call(kernel, &b->call);
    for (int i = 0; i < 3; i++)
        fill_rows(&b->grad[i], begun);
    kernel->attend(&b->call);
    kernel->attend_backward(&b->call, b->grad_context.rows, b->grad[0].rows,
                            b->grad[1].rows, b->grad[2].rows);
}

static void expect_due(const Backward *b, const Due *due, float begun,
                       double of_query, double of_others)
{
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        go(k, b, begun);
        for (int i = 0; i < 3; i++)
            expect_rows(&b->grad[i], due->grad[i], (double)begun,
                        i ? of_others : of_query);
    }
}

static void expect_exact(const Backward *b, float begun, double of_query,
                         double of_others)
{
    const Due due = due_of(&b->call, &b->grad_context);
    expect_due(b, &due, begun, of_query, of_others);
}

/* Their sums are of up to 300 numbers, in float: 1.5e-5 was measured. */
static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 200;
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded(19000 + (uint64_t)k);
        const AttentionCall call = any_call(&r, 0, 1 << 19);
        const Backward b = backward_of(&r, &call);
        expect_exact(&b, (float)(k % 3), 2e-5, 2e-5);
        guarded_free();
    }
}

/* A call of the set against PyTorch. */
static void golden_test(const char *set)
{
    Random r = random_seeded(1);
    AttentionCall call = call_of_set(set);
    const int heads = call.n_heads, n = call.n, d_v = call.d_v;
    const Due due = {.grad = {(double *)golden_doubles(set, "g_query"),
                              (double *)golden_doubles(set, "g_key"),
                              (double *)golden_doubles(set, "g_value")}};
    call.context =
        rows_by_head(heads, n, d_v,
                     guarded("an array", golden(set, "g_context")->count));
    call.log_sum_exp =
        guarded("an array", (size_t)(call.texts * heads * n));
    Backward b = backward_of(&r, &call);
    b.grad_context.rows =
        rows_by_head(heads, n, d_v, input(set, "g_context"));
    expect_due(&b, &due, 0, ATOL, ATOL);
}

/* A call of one text, whose heads share their keys. */
static Backward one_text(Random *r, int heads, int n, int m, int d_k,
                         int d_v)
{
    AttentionCall call = {.texts = 1,
                          .n_heads = heads,
                          .n_kv_heads = 1,
                          .n = n,
                          .m = m,
                          .d_k = d_k,
                          .d_v = d_v};
    give_rows(r, &call);
    return backward_of(r, &call);
}

/* Texts of several parts, and of more of queries or of keys, where the last
 * part is one token: for any number of threads the same, to the bit. */
static void parts_agree(void)
{
    const int threads[3] = {1, 2, 5};
    const int n[4] = {1100, 90, 1537, 700}, m[4] = {1700, 1537, 90, 700};
    for (int k = 0; k < 4; k++) {
        Random r = random_seeded((uint64_t)k);
        Backward b = one_text(&r, 2, n[k], m[k], 5, 3);
        if (k % 2)
            b.call.mask = mask_causal(m[k] - n[k]);
        const Due due = due_of(&b.call, &b.grad_context);
        const double *first[3];
        for (const Kernel *kernel = NULL; (kernel = next_kernel(kernel));) {
            for (int run = 0; run < 3; run++) {
                b.call.threads = threads[run];
                go(kernel, &b, 0);
                for (int i = 0; i < 3; i++) {
                    if (!run)
                        first[i] = numbers_of(&b.grad[i]);
                    expect_rows(&b.grad[i], run ? first[i] : due.grad[i], 0,
                                run ? 0 : ATOL);
                }
            }
        }
        guarded_free();
    }
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { M = 160 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    Random r = random_seeded(2);
    Backward b = one_text(&r, 1, 70, M, 3, 3);
    for (int k = 0; k < 4; k++) {
        b.call.mask = mask_causal(first[k]);
        expect_exact(&b, 0, ATOL, ATOL);
    }
}

/* ---- Large scores. They are exact, as floats and as doubles: so all that
 * is off comes of what is made of them. */

enum { N = 70, M = 90, D = 16, HEADS = 2 };

/* Multiples of a step, a power of 2. */
static void multiply_and_round(Table t, float by, float step)
{
    for (int i = 0; i < rows_of(&t) * t.d; i++) {
        float *x = row_of(&t, i / t.d) + i % t.d;
        *x = step * rintf(by * *x);
    }
}

/* All scores lie near one number, because of the last entry of queries and
 * keys, or of a bias in its place. They are multiples of the step. In
 * grad_query, what rounding leaves of a sum of slopes is multiplied by the
 * large entry of the keys. */
static void scores_near(float level, float step, Mask mask, bool by_bias)
{
    Random r = random_seeded(3);
    Backward b = one_text(&r, HEADS, N, M, D, 5);
    AttentionCall *call = &b.call;
    float *bias = guarded("bias", M);
    call->mask = mask;
    call->scale = 0.25f;
    multiply_and_round(table_of(call, QUERY), 8, 0.125f);
    multiply_and_round(table_of(call, KEY), 4, 32 * step);
    for (int i = 0; i < HEADS * N; i++)
        row_at(&call->query, 0, i / N, i % N)[D - 1] = 1;
    for (int j = 0; j < M; j++) {
        bias[j] = level;
        row_at(&call->key, 0, 0, j)[D - 1] = 4 * level;
    }
    if (by_bias) {
        call->bias.at = bias;
        call->d_k = b.grad[0].d = b.grad[1].d = D - 1;
    }
    expect_exact(&b, 0, by_bias ? 4e-6 : 1.2e-6 * fabs((double)level),
                 4e-6);
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
    for (int k = 0; k < 24; k++)
        scores_near(level[k / 6], k < 18 ? 1 / 256.f : 1 / 8.f,
                    mask[k / 2 % 3], k % 2);
}

/* The lowest of floats, added to each score, hides no key from a query that
 * has no other: all keys weigh the same. */
static void lowest_bias(void)
{
    Random r = random_seeded(4);
    Backward b = one_text(&r, HEADS, N, M, D, 5);
    b.call.bias.at = guarded("bias", M);
    for (int j = 0; j < M; j++)
        b.call.bias.at[j] = -FLT_MAX;
    expect_exact(&b, 0, ATOL, ATOL);
}

/* ---- What is refused */

/* A call that fits, with its gradients, without one of these. */
static void refusals(void)
{
    static const char *const words[4] = {"no grad_context", "no grad_query",
                                         "no grad_key", "no grad_value"};
    Random r = random_seeded(5);
    Backward b = one_text(&r, 2, 3, 4, 2, 2);
    StridedRows *const grad[4] = {&b.grad_context.rows, &b.grad[0].rows,
                                  &b.grad[1].rows, &b.grad[2].rows};
    for (int i = 0; i < 4; i++)
        TAP_REFUSES(
            "attend_fast_backward", words[i],
            "attention_call_gradients_check: grad_context.at, "
            "grad_query.at, grad_key.at or grad_value.at is NULL: rows are "
            "needed for each",
            grad[i]->at = NULL;
            attend_fast_backward(&b.call, *grad[0], *grad[1], *grad[2],
                                 *grad[3]));
    TAP_REFUSES("attend_fast_backward", "no log_sum_exp",
                "attention_call_gradients_check: log_sum_exp is NULL: the "
                "one that attend_fast has filled is needed",
                b.call.log_sum_exp = NULL;
                attend_fast_backward(&b.call, *grad[0], *grad[1], *grad[2],
                                     *grad[3]));
    TAP_REFUSES("attend_fast_backward", "a call of no heads", NULL,
                b.call.n_heads = 0;
                attend_fast_backward(&b.call, *grad[0], *grad[1], *grad[2],
                                     *grad[3]));
}

int main(void)
{
    EACH_SET("attend_fast_backward", "job_*-query", golden_test(set));
    TAP("attend_fast_backward: any call, as float64", any_calls());
    TAP("attend_fast_backward: parts, by any threads", parts_agree());
    TAP("attend_fast_backward: the first and the last of ints",
        first_far_away());
    TAP("attend_fast_backward: large scores", large_scores());
    TAP("attend_fast_backward: the lowest bias", lowest_bias());
    refusals();
    return tap_done();
}
