/* Chapter 3 against PyTorch: golden/03_qkv. */
#define CHAPTER "03_qkv"
#include "sets.h"

#define HEADS                                                              \
    "paper", "cat", "head_1x1x1x1", "head_2x3x4x5", "head_5x4x3x2",        \
        "head_7x6x2x9"
#define ONES "one_1x1x1", "one_1x2x3", "one_4x3x2", "one_3x5x7", "one_9x2x4"

/* How far a sum of products may be off; and a softmax of such sums, whose
 * shares are off by as much of themselves as the scores are off. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7
#define LOUD_RTOL 3e-4 /* scores of some thousand */

static void project_test(void)
{
    float *query = result("query"), *key = result("key");
    float *value = result("value");
    project(dim("x", 0), dim("x", 1), dim("query", 1), dim("value", 1),
            input("x"), input("w_query"), input("w_key"), input("w_value"),
            (void *)query, (void *)key, (void *)value);
    agrees("query", query, SUM_RTOL, SUM_ATOL);
    agrees("key", key, SUM_RTOL, SUM_ATOL);
    agrees("value", value, SUM_RTOL, SUM_ATOL);
}

/* Each of n queries of the set asks by itself. */
static double weight_rtol = WEIGHT_RTOL;
static void ask(int n, int d_k, const float *query, const float *key,
                const float *value, double context_rtol)
{
    int m = dim("key", 0), d_v = dim("value", 1);
    float *scores = result("scores"), *weights = result("weights");
    float *context = result("context");
    for (int i = 0; i < n; i++)
        attend_one(m, d_k, d_v, query + i * d_k, (const void *)key,
                   (const void *)value, scores + i * m, weights + i * m,
                   context + i * d_v);
    agrees("scores", scores, SUM_RTOL, SUM_ATOL);
    agrees("weights", weights, weight_rtol, WEIGHT_ATOL);
    agrees("context", context, context_rtol, SUM_ATOL);
}

static void one_test(void)
{
    ask(1, dim("key", 1), input("query"), input("key"), input("value"),
        weight_rtol);
}

/* The rows of a whole head, from PyTorch's queries. */
static void head_test(void)
{
    ask(dim("query", 0), dim("key", 1), rounded(part("query")),
        rounded(part("key")), rounded(part("value")), SUM_RTOL);
}

/* The verb shares its attention between the two animals, the others ask as
 * with the matrix of the chapter, which is the golden one. */
static void hand_test(void)
{
    sets_now = "cat";
    const float(*words)[3] = input("x");
    const double *weights = doubles("weights");
    float w_query[3][3], query[3][3], scores[3][3], got[3][3];
    hand_weights(w_query);
    matmul(3, 3, 3, words, w_query, query);
    dot_scores(3, 3, 3, query, words, scores);
    softmax_rows(3, 3, scores, got);
    for (int j = 0; j < 3; j++) {
        tap_near("cat", got[0][j], weights[j], 1e-5, 1e-6);
        tap_near("fish", got[2][j], weights[6 + j], 1e-5, 1e-6);
    }
    tap_near("likes: cat and fish", got[1][0], got[1][2], 1e-5, 1e-6);
    tap_true("likes: hardly anything to itself", got[1][1] < 0.05f);
}

int main(void)
{
    SETS("project", project_test, HEADS);
    SETS("attend_one", one_test, ONES);
    SETS("attend_one", head_test, HEADS);
    weight_rtol = LOUD_RTOL;
    SETS("attend_one", one_test, "one_loud");
    TAP(hand_test, "hand_weights: likes asks for both animals");
    return tap_done();
}
