/* Chapter 3 against PyTorch: golden/03_qkv. */
#define CHAPTER "03_qkv"
#include "sets.h"
#include "attention/03_qkv.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"

/* Each query of the set asks by itself; loud scores are some thousand. */
static void attend_test(void)
{
    const int m = dim("key", 0), d_k = dim("key", 1), d_v = dim("value", 1);
    const int n = (int)part("query")->count / d_k;
    const double rtol = strcmp(sets_now, "one_loud") ? 3e-6 : 3e-4;
    const float(*query)[d_k] = input("query");
    float(*scores)[m] = due("scores", SUMS);
    float(*weights)[m] = due("weights", rtol, 1e-7);
    float(*context)[d_v] = due("context", rtol, 1e-6);
    for (int i = 0; i < n; i++)
        attend_one(m, d_k, d_v, query[i], input("key"), input("value"),
                   scores[i], weights[i], context[i]);
}

/* The verb shares its attention between the two animals, the others ask as
 * with the matrix of the chapter, which is the golden one. */
static void hand_test(void)
{
    sets_now = "cat";
    const float(*words)[3] = input("x");
    const double *weights = doubles("weights");
    float w_query[3][3], query[3][3], scores[3][3], got[3][3];
    example_w_query(w_query);
    matmul(3, 3, 3, words, w_query, query);
    dot_scores(3, 3, 3, query, words, scores);
    softmax_rows(3, 3, scores, got);
    for (int j = 0; j < 3; j++) {
        tap_near("cat", got[0][j], weights[j], SUMS);
        tap_near("fish", got[2][j], weights[6 + j], SUMS);
    }
    tap_near("likes: cat and fish", got[1][0], got[1][2], SUMS);
    tap_report(got[1][1] < 0.05f, "likes: to itself",
               "%.6g where less than 0.05 is due", (double)got[1][1]);
}

static void paper_test(void)
{
    const float due[3][3][3] = {{{1, 0, 2}, {2, 2, 2}, {2, 1, 3}},
                                {{0, 1, 1}, {4, 4, 0}, {2, 3, 1}},
                                {{1, 2, 3}, {2, 8, 0}, {2, 6, 3}}};
    float got[3][3][3];
    project_paper(got[0], got[1], got[2]);
    same_table("query, key, value", 9, 3, got, due);
    tap_near("a word", paper[1][3], 2, EXACTLY);
}

int main(void)
{
    EACH_SET("project_qkv", "*-x",
             project_qkv(dim("x", 0), dim("x", 1), dim("query", 1),
                         dim("value", 1), input("x"), input("w_query"),
                         input("w_key"), input("w_value"),
                         due("query", SUMS), due("key", SUMS),
                         due("value", SUMS)));
    EACH("attend_one", attend_test, "*-key");
    TAP(paper_test, "project_paper: whole numbers, by hand");
    TAP(hand_test, "example_w_query: likes asks for both animals");
    return tap_done();
}
