/* Chapter 6 against PyTorch: golden/06_scaling. */
#define CHAPTER "06_scaling"
#include "sets.h"

#define HEADS                                                              \
    "head_1x1x1x1", "head_2x3x4x5", "head_5x4x3x2", "head_7x2x9x4",        \
        "head_3x6x1x2", "head_4x1x5x3", "head_4x5x64x3", "head_12x17x9x5", \
        "head_journey", "head_paper"

#define FAR(step) "nudge_far_" step, "nudge_only_" step, "nudge_none_" step

/* As in chapter 3. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7
#define LOUD_RTOL 3e-4 /* scores of some hundred, or thousand */

static void spread_test(void)
{
    tap_near("spread",
             score_spread((int)part("scores")->count, input("scores")),
             doubles("spread")[0], 1e-6, 1e-9);
}

static void scale_test(void)
{
    float *got = input("scores"), *scaled = result("scaled");
    memcpy(scaled, got, part("scaled")->count * sizeof *got);
    scale_scores(dim("scores", 0), dim("scores", 1),
                 (int)integers("d_k")[0], (void *)scaled);
    agrees("scaled", scaled, 3e-7, 0);
}

static void largest_test(void)
{
    tap_near("mean",
             mean_largest(dim("weights", 0), dim("weights", 1),
                          input("weights")),
             doubles("mean")[0], 1e-6, 0);
}

/* A row in which one entry is no number has no largest. */
static void largest_of_nan(void)
{
    for (int j = 0; j < 3; j++) {
        float weights[2][3] = {{1, 2, 3}, {3, 2, 1}};
        weights[1][j] = NAN;
        tap_near("mean", mean_largest(2, 3, weights), NAN, 0, 0);
    }
}

static void largest_of_many(void)
{
    enum { N = 1000000 };
    float *weights = room(N);
    for (int i = 0; i < N; i++)
        weights[i] = 0.1f;
    tap_near("mean", mean_largest(N, 1, (void *)weights), 0.1f, 1e-6, 0);
}

static double weight_rtol;
static void attention_test(void)
{
    float *scores = result("scores"), *weights = result("weights");
    float *context = result("context");
    attention(dim("query", 0), dim("key", 0), dim("key", 1),
              dim("value", 1), input("query"), input("key"), input("value"),
              (void *)scores, (void *)weights, (void *)context);
    agrees("scores", scores, SUM_RTOL, SUM_ATOL);
    agrees("weights", weights, weight_rtol, WEIGHT_ATOL);
    agrees("context", context, weight_rtol, SUM_ATOL);
}

static void nudge_test(void)
{
    float *got = result("nudged");
    nudge((int)part("weights")->count, input("weights"),
          (int)integers("j")[0], *(float *)input("step"), got);
    agrees("nudged", got, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* Shares near 0, from step to step; e^step is the odds' factor. */
static void nudge_small(void)
{
    const float weights[2] = {1e-30f, 1};
    float got[2];
    for (int step = -20; step <= 150; step += 10) {
        const double odds = (double)weights[0] * exp(step);
        nudge(2, weights, 0, (float)step, got);
        tap_near("share", got[0], odds / (1 + odds), WEIGHT_RTOL, 0);
        tap_near("other", got[1], 1 / (1 + odds), WEIGHT_RTOL, 0);
    }
}

static void nudge_by_nan(void)
{
    float got[3];
    nudge(3, (float[]){0.5f, 0.5f, 0}, 2, NAN, got);
    for (int k = 0; k < 3; k++)
        tap_near("share", got[k], NAN, 0, 0);
}

int main(void)
{
    SETS("score_spread", spread_test, "spread_1", "spread_2", "spread_11",
         "spread_equal", "spread_shifted", "spread_far", "spread_10000");
    SETS("scale_scores", scale_test, "scale_1x1x1", "scale_2x3x5",
         "scale_4x3x2", "scale_3x7x4096", "scale_2x2x70000");
    SETS("mean_largest", largest_test, "largest_1x1", "largest_1x4",
         "largest_3x5", "largest_6x2");
    TAP(largest_of_nan, "mean_largest: no number has no largest");
    TAP(largest_of_many, "mean_largest: a million rows");
    weight_rtol = WEIGHT_RTOL;
    SETS("attention", attention_test, HEADS);
    weight_rtol = LOUD_RTOL;
    SETS("attention", attention_test, "head_loud", "head_deafening",
         "head_infinite");
    SETS("nudge", nudge_test, "nudge_1", "nudge_first", "nudge_second",
         "nudge_last", "nudge_not", "nudge_down", "nudge_winner", FAR("40"),
         FAR("100"), FAR("-20"), FAR("-100"), FAR("800"), FAR("-800"));
    TAP(nudge_small, "nudge: shares near 0");
    TAP(nudge_by_nan, "nudge: no number makes none");
    return tap_done();
}
