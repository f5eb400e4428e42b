/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "golden.h"
#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"

typedef void Softmax(int n, const float scores[n], float weights[n]);

/* The set's rows and their length; a vector counts as a row. */
static int length_of_rows(const char *set)
{
    const Tensor *scores = golden(set, "scores");
    return scores->shape[scores->rank - 1];
}
static int rows(const char *set)
{
    return (int)golden(set, "scores")->count / length_of_rows(set);
}

static void rows_by(const char *set, Softmax *softmax_of_a_row,
                    const float *scores, float *weights)
{
    const int m = length_of_rows(set);
    for (int i = 0; i < rows(set) * m; i += m)
        softmax_of_a_row(m, scores + i, weights + i);
}

/* Many shares, to seven digits. A sum of floats knows fewer. */
static void long_row(Softmax *softmax_of_a_row)
{
    enum { N = 250000 };
    const double step = 0x1p-18;
    float *scores = guarded("an array", N), *got = guarded("an array", N);
    for (int j = 0; j < N; j++)
        scores[j] = (float)(j * step);
    softmax_of_a_row(N, scores, got);
    for (int j = 0; j < N; j++)
        expect_near("a share of 250,000 that rise", got[j],
                    exp(j * step) * expm1(step) / expm1(N * step), 3e-6, 0);
    for (int j = 0; j < N; j++)
        scores[j] = j == 0;
    softmax_of_a_row(N, scores, got);
    for (int j = 0; j < N; j++)
        expect_near("a share of 250,000 that are level", got[j],
                    exp(j == 0) / (exp(1) + N - 1), 3e-6, 0);
}

static void naive_overflow(void)
{
    const float scores[3] = {1, 89, 88};
    float weights[3];
    softmax_naive(3, scores, weights);
    expect_equal("infinity over infinity", weights[1], NAN);
}

/* From the words to the context vectors, as PyTorch's
 * scaled_dot_product_attention without its scale. */
static void attention_by(const char *set, int n, int m, int d,
                         void *weights, void *context)
{
    float *scores = guarded("weights", golden_count(set, "weights"));
    dot_scores(n, m, d, input(set, "query"), input(set, "key"),
               (void *)scores);
    softmax_rows(n, m, (void *)scores, weights);
    matmul(n, dim(set, "value", 1), m, weights, input(set, "value"),
           context);
}

int main(void)
{
    /* Of a list C passes a pointer, so that its size may be 0. (Clang's
     * -fsanitize=vla-bound objects all the same.) */
    static float one[1];
    static const char *const small[] = {"vector_*-scores", "table_*-scores",
                                        "rising-scores", "falling-scores",
                                        "zigzag-scores"};
    for (int k = 0; k < 5; k++)
        EACH_SET("softmax_naive", small[k],
                 rows_by(set, softmax_naive, input(set, "scores"),
                         due(set, "weights", SHARES)));
    TAP("softmax_naive: overflows from 89 on", naive_overflow());
    EACH_SET("softmax", "*-scores",
             rows_by(set, softmax, input(set, "scores"),
                     due(set, "weights", SHARES)));
    TAP("softmax: 250,000 scores", long_row(softmax));
    REFUSES_SUCH("0 scores", softmax(0, one, one));
    EACH_SET("softmax_online", "*-scores",
             rows_by(set, softmax_online, input(set, "scores"),
                     due(set, "weights", SHARES)));
    TAP("softmax_online: 250,000 scores", long_row(softmax_online));
    REFUSES_SUCH("0 scores", softmax_online(0, one, one));
    EACH_SET("softmax_rows", "*-scores",
             softmax_rows(rows(set), length_of_rows(set),
                          input(set, "scores"),
                          due(set, "weights", SHARES)));
    EACH_SET("softmax_rows: a whole attention", "*-query",
             attention_by(set, dim(set, "query", 0), dim(set, "key", 0),
                          dim(set, "key", 1), due(set, "weights", SUMS),
                          due(set, "context", SUMS)));
    EACH_SET("weighted_sum", "mix_*-value",
             weighted_sum(dim(set, "value", 0), dim(set, "value", 1),
                          input(set, "weights"), input(set, "value"),
                          due(set, "context", SUMS)));
    return tap_done();
}
