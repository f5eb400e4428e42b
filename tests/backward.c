/* src/kernel/backward.c against PyTorch's autograd, golden/backward, and
 * against float64; attend.c holds more of it. */
#define CHAPTER "backward"
#include "calls.h"

#define ATOL 5e-6

static void golden_test(const char *set)
{
    Random r = random_seeded(1);
    AttentionCall call = call_of_set(set);
    give_room(&r, &call);
    Job job = job_of(&r, &call);
    const Due due = {{NULL, NULL, (double *)golden_doubles(set, "g_query"),
                      (double *)golden_doubles(set, "g_key"),
                      (double *)golden_doubles(set, "g_value")}};
    job.grad_context.rows = rows_by_head(call.n_heads, call.n, call.d_v,
                                         input(set, "g_context"));
    expect_due(&job, &due, 0, (double[OUTPUTS]){0, 0, ATOL, ATOL, ATOL});
}

/* ---- Large scores. They are exact, as floats and as doubles: so any error
 * comes from what is computed from them. */

enum { N = 70, M = 90, D = 16, HEADS = 2 };

/* Multiples of a step, a power of 2. */
static void multiply_and_round(Table t, float by, float step)
{
    for (int i = 0; i < rows_of(&t) * t.d; i++) {
        float *x = row_of(&t, i / t.d) + i % t.d;
        *x = step * rintf(by * *x);
    }
}

/* The scores of the queries in [from, till) lie near one number, because of
 * the last entry of queries and keys, or of a bias in its place; all others
 * near 0. They are multiples of the step. In grad_query, what rounding
 * leaves of a sum of slopes is multiplied by the large entry of the keys. */
static void scores_near(float level, float step, Mask mask, bool by_bias,
                        int from, int till)
{
    Random r = random_seeded(3);
    Job job = one_text(&r, HEADS, N, M, D, 5);
    AttentionCall *call = &job.call;
    float *bias = guarded("bias", M);
    call->mask = mask;
    call->scale = 0.25f;
    multiply_and_round(table_of(call, QUERY), 8, 0.125f);
    multiply_and_round(table_of(call, KEY), 4, 32 * step);
    for (int i = 0; i < HEADS * N; i++)
        row_at(&call->query, 0, i / N, i % N)[D - 1] =
            i >= from && i < till;
    for (int j = 0; j < M; j++) {
        bias[j] = level;
        row_at(&call->key, 0, 0, j)[D - 1] = 4 * level;
    }
    if (by_bias) {
        call->bias.at = bias;
        call->d_k = job.out[OF_QUERY].d = job.out[OF_KEY].d = D - 1;
    }
    Due due = due_of(call, &job.grad_context);
    due.out[OF_CONTEXT] = due.out[OF_SUMS] = NULL;
    expect_due(&job, &due, 0,
               (double[OUTPUTS]){
                   0, 0, by_bias ? 4e-6 : 1.2e-6 * fabs((double)level),
                   4e-6, 4e-6});
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
                    mask[k / 2 % 3], k % 2, 0, HEADS * N);
    for (int i = 0; i < HEADS * N; i += HEADS * N - 1)
        scores_near(level[3], 1 / 8.f, *mask, false, i, i + 1);
}

/* A call that fits, with its gradients, without one of these. */
static void refusals(void)
{
    static const char *const words[4] = {"no grad_context", "no grad_query",
                                         "no grad_key", "no grad_value"};
    Random r = random_seeded(5);
    Job job = one_text(&r, 2, 3, 4, 2, 2);
    StridedRows *const grad[4] = {
        &job.grad_context.rows, &job.out[OF_QUERY].rows,
        &job.out[OF_KEY].rows, &job.out[OF_VALUE].rows};
    for (int i = 0; i < 4; i++)
        TAP_REFUSES(
            "attend_fast_backward", words[i],
            "attention_call_gradients_check: grad_context.at, "
            "grad_query.at, grad_key.at or grad_value.at is NULL: rows are "
            "needed for each",
            grad[i]->at = NULL;
            attend_fast_backward(&job.call, *grad[0], *grad[1], *grad[2],
                                 *grad[3]));
    TAP_REFUSES("attend_fast_backward", "no log_sum_exp",
                "attention_call_gradients_check: log_sum_exp is NULL: the "
                "one that attend_fast has filled is needed",
                job.call.log_sum_exp = NULL;
                attend_fast_backward(&job.call, *grad[0], *grad[1],
                                     *grad[2], *grad[3]));
    TAP_REFUSES("attend_fast_backward", "a call of no heads", NULL,
                job.call.n_heads = 0;
                attend_fast_backward(&job.call, *grad[0], *grad[1],
                                     *grad[2], *grad[3]));
}

int main(void)
{
    EACH_SET("attend_fast_backward", "job_*-query", golden_test(set));
    TAP("attend_fast_backward: any call, as float64", any_calls(true));
    TAP("attend_fast_backward: large scores", large_scores());
    refusals();
    return tap_done();
}
