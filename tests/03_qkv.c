/* Chapter 3 against PyTorch: golden/03_qkv. */
#define CHAPTER "03_qkv"
#include "golden.h"
#include "attention/03_qkv.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"

/* Each query of the set asks by itself. */
static void attend_test(const char *set)
{
    const int m = dim(set, "key", 0), d_k = dim(set, "key", 1);
    const int n = (int)golden_count(set, "query") / d_k;
    const int d_v = dim(set, "value", 1);
    const float(*query)[d_k] = input(set, "query");
    float(*scores)[m] = due(set, "scores", SUMS);
    float(*weights)[m] = due(set, "weights", SHARES);
    float(*context)[d_v] = due(set, "context", 3e-6, 1e-6);
    for (int i = 0; i < n; i++)
        attend_one(m, d_k, d_v, query[i], input(set, "key"),
                   input(set, "value"), scores[i], weights[i], context[i]);
}

/* The verb shares its attention between cat and fish, the others ask as
 * with the matrix of the chapter, which is the golden one. */
static void hand_test(void)
{
    const float(*words)[3] = input("cat", "x");
    const double *weights = golden_doubles("cat", "weights");
    float w_query[3][3], query[3][3], key[3][3], scores[3][3], got[3][3];
    example_w_query(w_query);
    matmul(3, 3, 3, words, w_query, query);
    matmul(3, 3, 3, words, input("cat", "w_key"), key);
    dot_scores(3, 3, 3, query, key, scores);
    softmax_rows(3, 3, scores, got);
    for (int j = 0; j < 3; j++) {
        expect_near("cat", got[0][j], weights[j], SUMS);
        expect_near("fish", got[2][j], weights[6 + j], SUMS);
    }
    expect_near("likes: cat and fish", got[1][0], got[1][2], SUMS);
    expect(got[1][1] < 0.05f, "likes: to itself",
           "%.6g where less than 0.05 is due", (double)got[1][1]);
}

static void paper_test(void)
{
    const float due[3][3][3] = {{{1, 0, 2}, {2, 2, 2}, {2, 1, 3}},
                                {{0, 1, 1}, {4, 4, 0}, {2, 3, 1}},
                                {{1, 2, 3}, {2, 8, 0}, {2, 6, 3}}};
    float got[3][3][3];
    project_paper(got[0], got[1], got[2]);
    expect_table("query, key, value", 9, 3, got, due, EXACTLY);
    expect_equal("a word", paper[1][3], 2);
}

int main(void)
{
    EACH_SET("project_qkv", "*-x",
             project_qkv(SHAPE(set, "x"), dim(set, "query", 1),
                         dim(set, "value", 1), input(set, "x"),
                         input(set, "w_query"), input(set, "w_key"),
                         input(set, "w_value"), due(set, "query", SUMS),
                         due(set, "key", SUMS), due(set, "value", SUMS)));
    EACH_SET("attend_one", "*-key", attend_test(set));
    TAP("project_paper: whole numbers, by hand", paper_test());
    TAP("example_w_query: likes asks for cat and fish", hand_test());
    return tap_done();
}
