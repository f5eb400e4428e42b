/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "sets.h"
#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"

/* How far a softmax may be off, and a sum of products. */
#define RTOL 3e-6
#define ATOL 1e-7
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6

static void (*softmax_now)(int n, const float scores[n], float weights[n]);
static void (*rows_now)(int n, int m, const float scores[n][m],
                        float weights[n][m]);

static void by_row(int n, int m, const float scores[n][m],
                   float weights[n][m])
{
    for (int i = 0; i < n; i++)
        softmax_now(m, scores[i], weights[i]);
}

/* A vector counts as a row. */
static void softmax_test(void)
{
    const Tensor *scores = told("scores");
    const int m = scores->shape[scores->rank - 1];
    float *got = result("weights");
    rows_now((int)scores->count / m, m, floats(scores), (void *)got);
    agrees("weights", got, RTOL, ATOL);
}

/* Many shares, to seven digits. A sum of floats knows fewer. */
static void long_row(void)
{
    enum { N = 250000 };
    const double step = 0x1p-18;
    float *scores = room(N), *got = room(N);
    for (int j = 0; j < N; j++)
        scores[j] = (float)(j * step);
    softmax_now(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("a share of 250,000 that rise", got[j],
                 exp(j * step) * expm1(step) / expm1(N * step), RTOL, 0);
    for (int j = 0; j < N; j++)
        scores[j] = j == 0;
    softmax_now(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("a share of 250,000 that are level", got[j],
                 exp(j == 0) / (exp(1) + N - 1), RTOL, 0);
}

static void naive_overflow(void)
{
    const float scores[3] = {1, 89, 88};
    float weights[3];
    softmax_naive(3, scores, weights);
    tap_near("infinity over infinity", weights[1], NAN, 0, 0);
}

/* From the words to the context vectors, as PyTorch's
 * scaled_dot_product_attention without its scale. */
static void rows_attention(void)
{
    int n = dim("query", 0), m = dim("key", 0), d = dim("key", 1);
    float *scores = result("weights"), *shares = result("weights");
    float *got = result("context");
    dot_scores(n, m, d, input("query"), input("key"), (void *)scores);
    softmax_rows(n, m, (void *)scores, (void *)shares);
    matmul(n, dim("value", 1), m, (void *)shares, input("value"),
           (void *)got);
    agrees("weights", shares, SUM_RTOL, SUM_ATOL);
    agrees("context", got, SUM_RTOL, SUM_ATOL);
}

static void mix_test(void)
{
    float *got = result("context");
    weighted_sum(dim("value", 0), dim("value", 1), input("weights"),
                 input("value"), got);
    agrees("context", got, SUM_RTOL, SUM_ATOL);
}

/* Of a list C passes a pointer, so that its size may be 0. (Clang's
 * -fsanitize=vla-bound objects all the same.) */
static float one[1];

int main(void)
{
    softmax_now = softmax_naive;
    rows_now = by_row;
    EACH("softmax_naive", softmax_test, "vector_*-scores");
    EACH("softmax_naive", softmax_test, "table_*-scores");
    SETS("softmax_naive", softmax_test, "rising", "falling", "zigzag");
    TAP(naive_overflow, "softmax_naive: overflows from 89 on");

    softmax_now = softmax;
    EACH("softmax", softmax_test, "*-scores");
    TAP(long_row, "softmax: 250,000 scores");
    REFUSES_SUCH("0 scores", softmax(0, one, one));

    softmax_now = softmax_online;
    EACH("softmax_online", softmax_test, "*-scores");
    TAP(long_row, "softmax_online: 250,000 scores");
    REFUSES_SUCH("0 scores", softmax_online(0, one, one));

    rows_now = softmax_rows;
    EACH("softmax_rows", softmax_test, "*-scores");
    EACH("softmax_rows: a whole attention", rows_attention, "*-query");
    EACH("weighted_sum", mix_test, "mix_*-value");
    return tap_done();
}
