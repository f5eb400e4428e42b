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
    const Tensor *scores = part("scores"), *spread = part("spread");
    tap_near("spread", score_spread((int)scores->count, floats(scores)),
             tensor_doubles(spread)[0], 1e-6, 1e-9);
}

static void scale_test(void)
{
    const Tensor *scores = part("scores"), *scaled = part("scaled");
    int n = scores->shape[0], m = scores->shape[1];
    float *got = room(scores->count);
    memcpy(got, scores->data, scores->count * sizeof *got);
    scale_scores(n, m, (int)tensor_integers(part("d_k"))[0], (void *)got);
    tap_close("scaled", scaled, got, 3e-7, 0);
}

static void largest_test(void)
{
    const Tensor *weights = part("weights"), *mean = part("mean");
    tap_near(
        "mean",
        mean_largest(weights->shape[0], weights->shape[1], floats(weights)),
        tensor_doubles(mean)[0], 1e-6, 0);
}

static void attention_to(double weight_rtol)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value"), *scores = part("scores");
    const Tensor *weights = part("weights"), *context = part("context");
    int n = query->shape[0], m = key->shape[0];
    float *got[3] = {room(scores->count), room(weights->count),
                     room(context->count)};
    attention(n, m, key->shape[1], value->shape[1], floats(query),
              floats(key), floats(value), (void *)got[0], (void *)got[1],
              (void *)got[2]);
    tap_close("scores", scores, got[0], SUM_RTOL, SUM_ATOL);
    tap_close("weights", weights, got[1], weight_rtol, WEIGHT_ATOL);
    tap_close("context", context, got[2], weight_rtol, SUM_ATOL);
}

static void attention_test(void)
{
    attention_to(WEIGHT_RTOL);
}

static void attention_loud_test(void)
{
    attention_to(LOUD_RTOL);
}

/* A list of all sizes, so that a function that takes one for another is
 * found out, whatever the golden sets are. */
static void attention_random_shapes(void)
{
    for (int round = 0; round < 40; round++) {
        int n = tap_int(1, 6), m = tap_int(1, 6);
        int d_k = tap_int(1, 6), d_v = tap_int(1, 6);
        float *query = room((size_t)(n * d_k)),
              *key = room((size_t)(m * d_k));
        float *value = room((size_t)(m * d_v));
        float *scores = room((size_t)(n * m)),
              *weights = room((size_t)(n * m));
        float *context = room((size_t)(n * d_v)), *one = room((size_t)d_v);
        float *some = room((size_t)m), *shares = room((size_t)m);
        tap_fill(n * d_k, query, -2, 2);
        tap_fill(m * d_k, key, -2, 2);
        tap_fill(m * d_v, value, -2, 2);
        attention(n, m, d_k, d_v, (void *)query, (void *)key, (void *)value,
                  (void *)scores, (void *)weights, (void *)context);
        /* A query at a time is the same, if its keys are divided before. */
        for (int k = 0; k < m * d_k; k++)
            key[k] /= sqrtf((float)d_k);
        for (int i = 0; i < n; i++) {
            float sum = 0;
            attend_one(m, d_k, d_v, query + i * d_k, (void *)key,
                       (void *)value, some, shares, one);
            for (int j = 0; j < m; j++) {
                sum += weights[i * m + j];
                tap_near("weights", weights[i * m + j], shares[j], 1e-5,
                         1e-6);
            }
            tap_near("sum of a row", sum, 1, 1e-6, 0);
            for (int k = 0; k < d_v; k++)
                tap_near("context", context[i * d_v + k], one[k], 1e-5,
                         2e-6);
        }
    }
}

static void nudge_test(void)
{
    const Tensor *weights = part("weights"), *nudged = part("nudged");
    float *got = room(weights->count);
    nudge((int)weights->count, floats(weights),
          (int)tensor_integers(part("j"))[0],
          *(const float *)floats(part("step")), got);
    tap_close("nudged", nudged, got, WEIGHT_RTOL, WEIGHT_ATOL);
}

int main(void)
{
    SETS("score_spread", spread_test, "spread_1", "spread_2", "spread_11",
         "spread_equal", "spread_shifted", "spread_far", "spread_10000");
    SETS("scale_scores", scale_test, "scale_1x1x1", "scale_2x3x5",
         "scale_4x3x2", "scale_3x7x4096", "scale_2x2x70000");
    SETS("mean_largest", largest_test, "largest_1x1", "largest_1x4",
         "largest_3x5", "largest_6x2");
    SETS("attention", attention_test, HEADS);
    SETS("attention", attention_loud_test, "head_loud", "head_deafening",
         "head_infinite");
    TAP(attention_random_shapes, "attention: as one query at a time");
    SETS("nudge", nudge_test, "nudge_1", "nudge_first", "nudge_second",
         "nudge_last", "nudge_not", "nudge_down", "nudge_winner", FAR("40"),
         FAR("100"), FAR("-20"), FAR("-100"), FAR("800"), FAR("-800"));
    return tap_done();
}
