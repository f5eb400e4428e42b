/* Chapter 6 against PyTorch: golden/06_scaling. */
#define CHAPTER "06_scaling"
#include "sets.h"
#include "attention/06_scaling.h"
#include "attention/01_dot_product.h"
#include "attention/B_normals.h"

/* As in chapter 3. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7

static void spread_test(void)
{
    float got = score_spread((int)part("scores")->count, input("scores"));
    agrees("spread", &got, 1e-6, 1e-9);
}

static void scale_test(void)
{
    const float *got = input("scores");
    float *scaled = room_for("scores", part("scaled")->count);
    memcpy(scaled, got, part("scaled")->count * sizeof *got);
    scale_scores(dim("scores", 0), dim("scores", 1),
                 (int)number("d_k", "d_k"), (void *)scaled);
    tap_close("scores", part("scaled"), scaled, 3e-7, 0);
}

static void largest_test(void)
{
    float got = mean_largest(dim("weights", 0), dim("weights", 1),
                             input("weights"));
    agrees("mean", &got, 1e-6, 0);
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

/* Entries below 0 have a largest, too. */
static void largest_below_zero(void)
{
    const float weights[2][3] = {{-4, -2, -3}, {-5, -6, -4}};
    tap_near("mean", mean_largest(2, 3, weights), -3, 0, 0);
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
static const char loud[] = "head_loud head_deafening head_infinite";

static void attention_test(void)
{
    const double rtol = strstr(loud, sets_now) ? 3e-4 : WEIGHT_RTOL;
    float *scores = result("scores"), *weights = result("weights");
    float *context = result("context");
    attention(dim("query", 0), dim("key", 0), dim("key", 1),
              dim("value", 1), input("query"), input("key"), input("value"),
              (void *)scores, (void *)weights, (void *)context);
    agrees("scores", scores, SUM_RTOL, SUM_ATOL);
    agrees("weights", weights, rtol, WEIGHT_ATOL);
    agrees("context", context, rtol, SUM_ATOL);
}

static void nudge_test(void)
{
    float *got = result("nudged");
    nudge_share((int)part("weights")->count, input("weights"),
                (int)number("j", "j"), (float)number("step", "step"), got);
    agrees("nudged", got, WEIGHT_RTOL, WEIGHT_ATOL);
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
        tap_near("nudged[0]", got[0], odds / (1 + odds), WEIGHT_RTOL, 0);
        tap_near("nudged[1]", got[1], 1 / (1 + odds), WEIGHT_RTOL, 0);
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
    tap_near("difference", largest_difference(20, got[0], due[0]), 0, 0, 0);
    tap_true("some score", got[4][3] < 0 || got[4][3] > 0);
}

int main(void)
{
    EACH("score_spread", spread_test, "*-spread");
    EACH("scale_scores", scale_test, "*-scaled");
    EACH("mean_largest", largest_test, "*-mean");
    TAP(random_test, "random_scores: of queries, then of keys");
    TAP(largest_of_nan, "mean_largest: no number has no largest");
    TAP(largest_below_zero, "mean_largest: all entries below 0");
    TAP(largest_of_many, "mean_largest: a million rows");
    EACH("attention", attention_test, "*-query");
    EACH("nudge_share", nudge_test, "*-nudged");
    TAP(nudge_small, "nudge_share: shares near 0");
    TAP(nudge_by_nan, "nudge_share: no number makes none");
    return tap_done();
}
