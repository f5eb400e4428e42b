/* Chapter 6 against PyTorch: golden/06_scaling. */
#define CHAPTER "06_scaling"
#include "sets.h"
#include "attention/06_scaling.h"
#include "attention/01_dot_product.h"
#include "attention/B_normals.h"

/* A row in which one entry is no number has no largest; entries below 0
 * have one. */
static void largest_of_odd(void)
{
    const float below[2][3] = {{-4, -2, -3}, {-5, -6, -4}};
    for (int j = 0; j < 3; j++) {
        float weights[2][3] = {{1, 2, 3}, {3, 2, 1}};
        weights[1][j] = NAN;
        tap_near("mean", mean_largest(2, 3, weights), NAN, EXACTLY);
    }
    tap_near("mean", mean_largest(2, 3, below), -3, EXACTLY);
}

static void largest_of_many(void)
{
    enum { N = 1000000 };
    float *weights = room(N);
    for (int i = 0; i < N; i++)
        weights[i] = 0.1f;
    tap_near("mean", mean_largest(N, 1, (void *)weights), 0.1f, 1e-6, 0);
}

/* Of these three, the scores are some hundred, or thousand. */
static double share_rtol(void)
{
    const char *const loud = "head_loud head_deafening head_infinite";
    return strstr(loud, sets_now) ? 3e-4 : 3e-6;
}

/* Shares near 0, from step to step; e^step is the odds' factor. */
static void nudge_small(void)
{
    const float weights[2] = {1e-30f, 1};
    float got[2];
    for (int step = -20; step <= 150; step += 10) {
        const double odds = (double)weights[0] * exp(step);
        next_case();
        give_list("weights", 2, weights);
        give("j = 0, step = %d", step);
        nudge_share(2, weights, 0, (float)step, got);
        tap_near("nudged[0]", got[0], odds / (1 + odds), 3e-6, 0);
        tap_near("nudged[1]", got[1], 1 / (1 + odds), 3e-6, 0);
    }
}

static void nudge_by_nan(void)
{
    float got[3];
    const float weights[3] = {0.5f, 0.5f, 0}, nan[3] = {NAN, NAN, NAN};
    give_list("weights", 3, weights);
    give("j = 2, step = nan");
    nudge_share(3, weights, 2, NAN, got);
    same("nudged", 3, got, nan);
}

static void random_test(void)
{
    float query[5][20], key[4][20], got[5][4], due[5][4];
    Random r = seeded(123);
    normal_fill(&r, 5, 20, 0, 1, query);
    normal_fill(&r, 4, 20, 0, 1, key);
    dot_scores(5, 4, 20, query, key, due);
    random_scores(5, 4, 20, got);
    same_table("scores", 5, 4, got, due);
    tap_true("some score", got[4][3] < 0 || got[4][3] > 0);
}

static void tests_of_scaling(void)
{
    EACH_SET(
        "score_spread", "*-spread",
        returns(score_spread((int)part("scores")->count, input("scores")),
                "spread", 1e-6, 1e-9));
    EACH_SET("scale_scores", "*-scaled",
             scale_scores(dim("scores", 0), dim("scores", 1),
                          (int)number("d_k", "d_k"),
                          changed("scores", "scaled", 3e-7, 0)));
    EACH_SET("mean_largest", "*-mean",
             returns(mean_largest(dim("weights", 0), dim("weights", 1),
                                  input("weights")),
                     "mean", 1e-6, 0));
    TAP(random_test, "random_scores: of queries, then of keys");
    TAP(largest_of_odd, "mean_largest: no numbers, and all below 0");
    TAP(largest_of_many, "mean_largest: a million rows");
}

int main(void)
{
    float two[2];
    tests_of_scaling();
    EACH_SET("attention", "*-query",
             attention(dim("query", 0), dim("key", 0), dim("key", 1),
                       dim("value", 1), input("query"), input("key"),
                       input("value"), due("scores", SUMS),
                       due("weights", share_rtol(), 1e-7),
                       due("context", share_rtol(), 1e-6)));
    EACH_SET("nudge_share", "*-nudged",
             nudge_share((int)part("weights")->count, input("weights"),
                         (int)number("j", "j"),
                         (float)number("step", "step"),
                         due("nudged", SHARES)));
    TAP(nudge_small, "nudge_share: shares near 0");
    TAP(nudge_by_nan, "nudge_share: no number makes none");
    REFUSES(NULL, nudge_share(2, (float[2]){0.5f, 0.5f}, -1, 1, two));
    REFUSES(NULL, nudge_share(2, (float[2]){0.5f, 0.5f}, 2, 1, two));
    return tap_done();
}
