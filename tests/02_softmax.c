/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "sets.h"

/* Small scores, which no way of computing a softmax overflows or underflows
 * on; and the scores that tell the ways apart. */
#define VECTORS                                                            \
    "vector_1", "vector_2", "vector_3", "vector_5", "vector_17",           \
        "vector_1000"
#define TABLES                                                             \
    "table_1x5", "table_3x5", "table_5x3", "table_17x7", "table_4x1",      \
        "table_2x4099"
#define HARD_TABLES                                                        \
    "equal", "hundreds", "ten_thousands", "overflow", "underflow",         \
        "masked", "masked_row", "infinite", "no_number"
#define HARD_VECTORS "rising", "falling", "zigzag"
#define MIXTURES                                                           \
    "mix_1x1", "mix_1x4", "mix_4x1", "mix_3x5", "mix_5x3", "mix_17x64"
#define ATTENTIONS "hello", "journey", "lopsided"

/* How far a softmax may be off, and a sum of products. */
#define RTOL 3e-6
#define ATOL 1e-7
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6

static void (*softmax_now)(int n, const float scores[n], float weights[n]);

/* Softmax of each row; a vector counts as one. */
static void each_row(void)
{
    const int m = dim("scores", part("scores")->rank - 1);
    const size_t count = part("scores")->count;
    float *scores = input("scores"), *got = room(count);
    for (size_t i = 0; i < count; i += (size_t)m)
        softmax_now(m, scores + i, got + i);
    agrees("weights", got, RTOL, ATOL);
}

/* A million shares, to seven digits. A sum of floats knows fewer. */
static void long_row(void)
{
    enum { N = 1000000 };
    const double step = 0x1p-20;
    float *scores = room(N), *got = room(N);
    for (int j = 0; j < N; j++)
        scores[j] = (float)(j * step);
    softmax_now(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("share of a row that rises", got[j],
                 exp(j * step) * expm1(step) / expm1(N * step), RTOL, 0);
    for (int j = 0; j < N; j++)
        scores[j] = j == 0;
    softmax_now(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("share of a row that is level", got[j],
                 exp(j == 0) / (exp(1) + N - 1), RTOL, 0);
}

static void naive_overflow(void)
{
    const float scores[3] = {1, 89, 88};
    float weights[3];
    softmax_naive(3, scores, weights);
    tap_near("infinity over infinity", weights[1], NAN, 0, 0);
}

/* Scores that are turned round, and shifted by what float can add to them
 * without an error: the same shares, turned round. */
static void softmax_shifted(void)
{
    float scores[30], shifted[30], expect[30], got[30];
    for (int round = 0; round < 200; round++) {
        int n = tap_int(1, 30), turn = tap_int(0, n - 1);
        for (int j = 0; j < n; j++) {
            scores[j] = (float)tap_int(-32, 32) / 8;
            shifted[(j + turn) % n] = scores[j] + (turn % 2 ? 8 : -8);
        }
        softmax(n, scores, expect);
        softmax(n, shifted, got);
        for (int j = 0; j < n; j++)
            tap_near("weight", got[(j + turn) % n], expect[j], RTOL, ATOL);
    }
}

static void rows_test(void)
{
    float *got = result("weights");
    softmax_rows(dim("scores", 0), dim("scores", 1), input("scores"),
                 (void *)got);
    agrees("weights", got, RTOL, ATOL);
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
    mix(dim("value", 0), dim("value", 1), rounded(part("weights")),
        input("value"), got);
    agrees("context", got, SUM_RTOL, SUM_ATOL);
}

/* Of a list C passes a pointer, so that its size may be 0. (Clang's
 * -fsanitize=vla-bound objects all the same.) */
static float one[1];

int main(void)
{
    softmax_now = softmax_naive;
    SETS("softmax_naive", each_row, VECTORS, TABLES, HARD_VECTORS);
    TAP(naive_overflow, "softmax_naive: overflows from 89 on");

    softmax_now = softmax;
    SETS("softmax", each_row, VECTORS, TABLES, HARD_VECTORS, HARD_TABLES);
    TAP(long_row, "softmax: a million scores");
    TAP(softmax_shifted, "softmax: sees differences only, in any order");
    REFUSES("02_softmax.c: softmax: softmax of 0 scores: at least 1 is "
            "needed",
            softmax(0, one, one));

    SETS("softmax_rows", rows_test, TABLES, HARD_TABLES);

    SETS("mix", mix_test, MIXTURES);
    SETS("softmax_rows: a whole attention", rows_attention, ATTENTIONS);

    softmax_now = softmax_online;
    SETS("softmax_online", each_row, VECTORS, TABLES, HARD_VECTORS,
         HARD_TABLES);
    TAP(long_row, "softmax_online: a million scores");
    REFUSES("02_softmax.c: softmax_online: softmax_online of 0 scores: at "
            "least 1 is needed",
            softmax_online(0, one, one));
    return tap_done();
}
