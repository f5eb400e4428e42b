/* Chapter 4 against PyTorch: golden/04_scaling. */
#define CHAPTER "04_scaling"
#include "golden.h"
#include "attention/04_scaling.h"
#include "attention/01_dot_product.h"
#include "attention/B_random.h"

/* A row in which one entry is no number has no largest; entries below 0
 * have one. */
static void largest_of_odd(void)
{
    const float below[2][3] = {{-4, -2, -3}, {-5, -6, -4}};
    for (int j = 0; j < 3; j++) {
        float weights[2][3] = {{1, 2, 3}, {3, 2, 1}};
        weights[1][j] = NAN;
        expect_equal("mean", mean_largest(2, 3, weights), NAN);
    }
    expect_equal("mean", mean_largest(2, 3, below), -3);
}

/* Of these three, the scores are some hundred, or thousand. */
static double share_rtol(const char *set)
{
    return strstr("head_deafening head_infinite", set) ? 3e-4 : 3e-6;
}

/* Shares near 0, from step to step; e^step is the odds' factor. */
static void nudge_small(void)
{
    const float weights[2] = {1e-30f, 1};
    float got[2];
    for (int step = -20; step <= 150; step += 10) {
        const double odds = (double)weights[0] * exp(step);
        next_case();
        given_array("weights", weights, 2);
        given("j = 0, step = %d", step);
        nudge_share(2, weights, 0, (float)step, got);
        expect_near("nudged[0]", got[0], odds / (1 + odds), 3e-6, 0);
        expect_near("nudged[1]", got[1], 1 / (1 + odds), 3e-6, 0);
    }
}

static void nudge_by_nan(void)
{
    float got[3];
    const float weights[3] = {0.5f, 0.5f, 0}, nan[3] = {NAN, NAN, NAN};
    given_array("weights", weights, 3);
    given("j = 2, step = nan");
    nudge_share(3, weights, 2, NAN, got);
    expect_list("nudged", 3, got, nan, EXACTLY);
}

static void random_test(void)
{
    float query[5][20], key[4][20], got[5][4], due[5][4];
    Random r = random_seeded(123);
    normal_fill(&r, 5, 20, 0, 1, query);
    normal_fill(&r, 4, 20, 0, 1, key);
    dot_scores(5, 4, 20, query, key, due);
    random_scores(5, 4, 20, got);
    expect_table("scores", 5, 4, got, due, EXACTLY);
    expect_true("some score", got[4][3] < 0 || got[4][3] > 0);
}

static void tests_of_scaling(void)
{
    EACH_SET("score_spread", "*-spread",
             expect_near("spread",
                         score_spread((int)golden_count(set, "scores"),
                                      input(set, "scores")),
                         golden_number(set, "spread"), 1e-6, 1e-9));
    EACH_SET("scale_scores", "*-scaled",
             scale_scores(SHAPE(set, "scores"),
                          (int)input_number(set, "d_k", "d_k"),
                          changed(set, "scores", "scaled", 3e-7, 0)));
    EACH_SET("mean_largest", "*-mean",
             expect_near(
                 "mean",
                 mean_largest(SHAPE(set, "weights"), input(set, "weights")),
                 golden_number(set, "mean"), 1e-6, 0));
    TAP("random_scores: of queries, then of keys", random_test());
    TAP("mean_largest: no numbers, and all below 0", largest_of_odd());
    TAP("mean_largest: a million rows",
        expect_near("mean",
                    mean_largest(1000000, 1,
                                 guarded_filled("weights", 1000000, 0.1f)),
                    0.1f, 1e-6, 0));
}

int main(void)
{
    float two[2];
    tests_of_scaling();
    EACH_SET("attention", "*-query",
             attention(dim(set, "query", 0), SHAPE(set, "key"),
                       dim(set, "value", 1), input(set, "query"),
                       input(set, "key"), input(set, "value"),
                       due(set, "scores", SUMS),
                       due(set, "weights", share_rtol(set), 1e-7),
                       due(set, "context", share_rtol(set), 1e-6)));
    EACH_SET("nudge_share", "*-nudged",
             nudge_share((int)golden_count(set, "weights"),
                         input(set, "weights"),
                         (int)input_number(set, "j", "j"),
                         (float)input_number(set, "step", "step"),
                         due(set, "nudged", SHARES)));
    TAP("nudge_share: shares near 0", nudge_small());
    TAP("nudge_share: no number makes none", nudge_by_nan());
    REFUSES(NULL, nudge_share(2, (float[2]){0.5f, 0.5f}, -1, 1, two));
    REFUSES(NULL, nudge_share(2, (float[2]){0.5f, 0.5f}, 2, 1, two));
    return tap_done();
}
