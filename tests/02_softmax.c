/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "golden.h"
#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"

typedef void Softmax(int n, const float scores[n], float weights[n]);

/* The set's scores are rows of so many; a vector counts as a row. */
static int row_length(const char *set)
{
    const Tensor *scores = golden(set, "scores");
    return scores->shape[scores->rank - 1];
}

static void row_by_row(const char *set, Softmax *softmax_of_a_row)
{
    const int m = row_length(set), count = (int)golden_count(set, "scores");
    const float *scores = input(set, "scores");
    float *weights = due(set, "weights", SHARES);
    for (int i = 0; i < count; i += m)
        softmax_of_a_row(m, scores + i, weights + i);
}

/* Many shares, to seven digits. A sum of floats knows fewer. */
static void long_row(Softmax *softmax_of_a_row)
{
    enum { N = 250000 };
    const double step = 0x1p-18;
    float *scores = guarded("scores", N), *got = guarded("weights", N);
    const double sum[2] = {expm1(N * step) / expm1(step), exp(1) + N - 1};
    for (int is_level = 0; is_level < 2; is_level++) {
        for (int j = 0; j < N; j++)
            scores[j] = is_level ? j == 0 : (float)(j * step);
        softmax_of_a_row(N, scores, got);
        for (int j = 0; j < N; j++)
            expect_near(is_level ? "a level share" : "a share that rises",
                        got[j], exp(scores[j]) / sum[is_level], 3e-6, 0);
    }
}

/* From the words to the context vectors, as PyTorch's
 * scaled_dot_product_attention without its scale. */
static void whole_attention(const char *set)
{
    const int n = dim(set, "query", 0), m = dim(set, "key", 0);
    void *scores = guarded("scores", (size_t)(n * m));
    void *weights = due(set, "weights", SUMS);
    dot_scores(n, m, dim(set, "key", 1), input(set, "query"),
               input(set, "key"), scores);
    softmax_rows(n, m, scores, weights);
    matmul(n, dim(set, "value", 1), m, weights, input(set, "value"),
           due(set, "context", SUMS));
}

int main(void)
{
    /* Of a list C passes a pointer, so that its size may be 0. (Clang's
     * -fsanitize=vla-bound objects all the same.) */
    static float one[1], weights[3];
    static const char *const small[] = {"vector_*-scores", "table_*-scores",
                                        "rising-scores", "zigzag-scores"};
    for (int k = 0; k < 4; k++)
        EACH_SET("softmax_naive", small[k], row_by_row(set, softmax_naive));
    TAP("softmax_naive: overflows from 89 on",
        softmax_naive(3, (float[3]){1, 89, 88}, weights),
        expect_equal("infinity over infinity", weights[1], NAN));
    EACH_SET("softmax", "*-scores", row_by_row(set, softmax));
    TAP("softmax: 250,000 scores", long_row(softmax));
    REFUSES_SUCH("0 scores", softmax(0, one, one));
    EACH_SET("softmax_online", "*-scores", row_by_row(set, softmax_online));
    TAP("softmax_online: 250,000 scores", long_row(softmax_online));
    REFUSES_SUCH("0 scores", softmax_online(0, one, one));
    EACH_SET(
        "softmax_rows", "*-scores",
        softmax_rows((int)golden_count(set, "scores") / row_length(set),
                     row_length(set), input(set, "scores"),
                     due(set, "weights", SHARES)));
    EACH_SET("softmax_rows: a whole attention", "*-query",
             whole_attention(set));
    EACH_SET("weighted_sum", "mix_*-value",
             weighted_sum(SHAPE(set, "value"), input(set, "weights"),
                          input(set, "value"), due(set, "context", SUMS)));
    return tap_done();
}
