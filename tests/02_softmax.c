/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "sets.h"
#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"

typedef void Softmax(int n, const float scores[n], float weights[n]);

/* The set's rows and their length; a vector counts as a row. */
static int length_of_rows(void)
{
    const Tensor *scores = part("scores");
    return scores->shape[scores->rank - 1];
}
static int rows(void)
{
    return (int)part("scores")->count / length_of_rows();
}

static void rows_by(Softmax *softmax_of_a_row, const float *scores,
                    float *weights)
{
    const int m = length_of_rows();
    for (int i = 0; i < rows() * m; i += m)
        softmax_of_a_row(m, scores + i, weights + i);
}

/* Many shares, to seven digits. A sum of floats knows fewer. */
static void long_row(Softmax *softmax_of_a_row)
{
    enum { N = 250000 };
    const double step = 0x1p-18;
    float *scores = room(N), *got = room(N);
    for (int j = 0; j < N; j++)
        scores[j] = (float)(j * step);
    softmax_of_a_row(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("a share of 250,000 that rise", got[j],
                 exp(j * step) * expm1(step) / expm1(N * step), 3e-6, 0);
    for (int j = 0; j < N; j++)
        scores[j] = j == 0;
    softmax_of_a_row(N, scores, got);
    for (int j = 0; j < N; j++)
        tap_near("a share of 250,000 that are level", got[j],
                 exp(j == 0) / (exp(1) + N - 1), 3e-6, 0);
}

static void naive_overflow(void)
{
    const float scores[3] = {1, 89, 88};
    float weights[3];
    softmax_naive(3, scores, weights);
    tap_near("infinity over infinity", weights[1], NAN, EXACTLY);
}

/* From the words to the context vectors, as PyTorch's
 * scaled_dot_product_attention without its scale. */
static void attention_by(int n, int m, int d, void *weights, void *context)
{
    float *scores = result("weights");
    dot_scores(n, m, d, input("query"), input("key"), (void *)scores);
    softmax_rows(n, m, (void *)scores, weights);
    matmul(n, dim("value", 1), m, weights, input("value"), context);
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
                 rows_by(softmax_naive, input("scores"),
                         due("weights", SHARES)));
    TAP(naive_overflow, "softmax_naive: overflows from 89 on");
    EACH_SET("softmax", "*-scores",
             rows_by(softmax, input("scores"), due("weights", SHARES)));
    TAP_OF("softmax: 250,000 scores", long_row(softmax));
    REFUSES_SUCH("0 scores", softmax(0, one, one));
    EACH_SET(
        "softmax_online", "*-scores",
        rows_by(softmax_online, input("scores"), due("weights", SHARES)));
    TAP_OF("softmax_online: 250,000 scores", long_row(softmax_online));
    REFUSES_SUCH("0 scores", softmax_online(0, one, one));
    EACH_SET("softmax_rows", "*-scores",
             softmax_rows(rows(), length_of_rows(), input("scores"),
                          due("weights", SHARES)));
    EACH_SET("softmax_rows: a whole attention", "*-query",
             attention_by(dim("query", 0), dim("key", 0), dim("key", 1),
                          due("weights", SUMS), due("context", SUMS)));
    EACH_SET("weighted_sum", "mix_*-value",
             weighted_sum(dim("value", 0), dim("value", 1),
                          input("weights"), input("value"),
                          due("context", SUMS)));
    return tap_done();
}
