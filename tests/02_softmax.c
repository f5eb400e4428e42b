/* Chapter 2 against PyTorch: golden/02_softmax. */
#define CHAPTER "02_softmax"
#include "sets.h"

/* Small scores, which no way of computing a softmax overflows or underflows
 * on; and the scores that tell the ways apart. */
#define VECTORS                                                            \
    "vector_1", "vector_2", "vector_3", "vector_5", "vector_17",           \
        "vector_1000"
#define TABLES                                                             \
    "table_1x5", "table_3x5", "table_5x3", "table_17x7", "table_4x1",      \
        "table_2x4099"
#define HARD_TABLES                                                        \
    "equal", "hundreds", "ten_thousands", "overflow", "underflow",         \
        "masked", "masked_row", "infinite", "no_number"
#define HARD_VECTORS "rising", "falling", "zigzag"
#define MIXTURES                                                           \
    "mix_1x1", "mix_1x4", "mix_4x1", "mix_3x5", "mix_5x3", "mix_17x64"
#define ATTENTIONS "hello", "journey", "lopsided"

/* How far a softmax may be off, and a sum of products. */
#define RTOL 3e-6
#define ATOL 1e-7
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6

typedef void Softmax(int n, const float scores[n], float weights[n]);

/* Softmax of each row; a vector counts as one. */
static void each_row(Softmax *function)
{
    const Tensor *scores = part("scores"), *weights = part("weights");
    int m = scores->shape[scores->rank - 1];
    float *got = room(weights->count);
    for (size_t i = 0; i < scores->count; i += (size_t)m)
        function(m, (float *)floats(scores) + i, got + i);
    tap_close("weights", weights, got, RTOL, ATOL);
}

static void naive_test(void)
{
    each_row(softmax_naive);
}

static void naive_overflow(void)
{
    const float scores[3] = {1, 89, 88};
    float weights[3];
    softmax_naive(3, scores, weights);
    tap_near("infinity over infinity", weights[1], NAN, 0, 0);
}

static void softmax_test(void)
{
    each_row(softmax);
}

static void online_test(void)
{
    each_row(softmax_online);
}

static void leaves_scores(Softmax *function)
{
    const float before[3] = {3, 1, 2};
    float scores[3] = {3, 1, 2}, weights[3];
    function(3, scores, weights);
    for (int j = 0; j < 3; j++)
        tap_near("score", scores[j], before[j], 0, 0);
}

static void softmax_leaves_scores(void)
{
    leaves_scores(softmax);
}

static void online_leaves_scores(void)
{
    leaves_scores(softmax_online);
}

static void softmax_shares(void)
{
    float scores[50], weights[50];
    for (int round = 0; round < 200; round++) {
        int n = tap_int(1, 50);
        double sum = 0;
        tap_fill(n, scores, -20, 20);
        softmax(n, scores, weights);
        for (int j = 0; j < n; j++) {
            sum += weights[j];
            tap_true("a weight is from 0 to 1",
                     weights[j] >= 0 && weights[j] <= 1);
            tap_true("the larger score has the larger weight",
                     scores[j] >= scores[0] ? weights[j] >= weights[0]
                                            : weights[j] <= weights[0]);
        }
        tap_near("sum of the weights", sum, 1, 0, 3e-6);
    }
}

/* Eighths can be added to in float without an error. */
static void softmax_shifted(void)
{
    float scores[30], shifted[30], expect[30], got[30];
    for (int round = 0; round < 200; round++) {
        int n = tap_int(1, 30), shift = tap_int(0, 1) ? 8 : -8;
        for (int j = 0; j < n; j++) {
            scores[j] = (float)tap_int(-32, 32) / 8;
            shifted[j] = scores[j] + (float)shift;
        }
        softmax(n, scores, expect);
        softmax(n, shifted, got);
        for (int j = 0; j < n; j++)
            tap_near("weight", got[j], expect[j], RTOL, ATOL);
    }
}

static void softmax_permuted(void)
{
    float scores[30], permuted[30], expect[30], got[30];
    for (int round = 0; round < 200; round++) {
        int n = tap_int(1, 30), from[30];
        tap_fill(n, scores, -5, 5);
        for (int j = 0; j < n; j++) {
            int k = tap_int(0, j);
            from[j] = j;
            from[j] = from[k];
            from[k] = j;
        }
        for (int j = 0; j < n; j++)
            permuted[j] = scores[from[j]];
        softmax(n, scores, expect);
        softmax(n, permuted, got);
        for (int j = 0; j < n; j++)
            tap_near("weight", got[j], expect[from[j]], RTOL, ATOL);
    }
}

/* Of a list C passes a pointer, so that its size may be 0. (Clang's
 * -fsanitize=vla-bound objects all the same.) */
static void softmax_of_nothing(void)
{
    const float scores[1] = {0};
    float weights[1];
    softmax(0, scores, weights);
}

static void rows_test(void)
{
    const Tensor *scores = part("scores"), *weights = part("weights");
    float *got = room(weights->count);
    softmax_rows(scores->shape[0], scores->shape[1], floats(scores),
                 (void *)got);
    tap_close("weights", weights, got, RTOL, ATOL);
}

/* From the words to the context vectors, as PyTorch's
 * scaled_dot_product_attention without its scale. */
static void rows_attention(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value"), *context = part("context");
    const Tensor *weights = part("weights");
    int n = query->shape[0], m = key->shape[0], d = key->shape[1];
    float *scores = room(weights->count), *shares = room(weights->count);
    float *got = room(context->count);
    dot_scores(n, m, d, floats(query), floats(key), (void *)scores);
    softmax_rows(n, m, (const void *)scores, (void *)shares);
    matmul(n, value->shape[1], m, (const void *)shares, floats(value),
           (void *)got);
    tap_close("weights", weights, shares, SUM_RTOL, SUM_ATOL);
    tap_close("context", context, got, SUM_RTOL, SUM_ATOL);
}

static void mix_test(void)
{
    const Tensor *weights = part("weights"), *value = part("value");
    const Tensor *context = part("context");
    float *got = room(context->count), *shares = rounded(weights);
    mix(value->shape[0], value->shape[1], shares, floats(value), got);
    tap_close("context", context, got, SUM_RTOL, SUM_ATOL);
}

static void mix_each_row(void)
{
    const Tensor *weights = part("weights"), *value = part("value");
    const Tensor *context = part("context");
    int n = weights->shape[0], m = value->shape[0], d = value->shape[1];
    float *shares = rounded(weights), *got = room(context->count);
    for (int i = 0; i < n; i++)
        mix(m, d, shares + i * m, floats(value), got + i * d);
    tap_close("context", context, got, SUM_RTOL, SUM_ATOL);
}

static void mix_one_row(void)
{
    float weights[20], value[20 * 30], context[30];
    for (int round = 0; round < 100; round++) {
        int n = tap_int(1, 20), d = tap_int(1, 30), j = tap_int(0, n - 1);
        tap_fill(n * d, value, -4, 4);
        memset(weights, 0, sizeof weights);
        weights[j] = 1;
        mix(n, d, weights, (const void *)value, context);
        for (int k = 0; k < d; k++)
            tap_near("context", context[k], value[j * d + k], 0, 0);
    }
}

static void online_as_softmax(void)
{
    float scores[40], expect[40], got[40];
    for (int round = 0; round < 200; round++) {
        int n = tap_int(1, 40), hidden = tap_int(0, 4);
        tap_fill(n, scores, -30, 30);
        for (int j = 0; j < n && j < hidden; j++)
            scores[j] = -INFINITY;
        softmax(n, scores, expect);
        softmax_online(n, scores, got);
        for (int j = 0; j < n; j++)
            tap_near("weight", got[j], expect[j], RTOL, ATOL);
    }
}

static void online_of_nothing(void)
{
    const float scores[1] = {0};
    float weights[1];
    softmax_online(0, scores, weights);
}

int main(void)
{
    const char *const file = "02_softmax.c";

    SETS("softmax_naive", naive_test, VECTORS, TABLES, HARD_VECTORS);
    TAP(naive_overflow, "softmax_naive: overflows from 89 on");

    SETS("softmax", softmax_test, VECTORS, TABLES, HARD_VECTORS,
         HARD_TABLES);
    TAP(softmax_shares, "softmax: shares of one whole, in order");
    TAP(softmax_shifted, "softmax: sees differences only");
    TAP(softmax_permuted, "softmax: the order of the scores is kept");
    TAP(softmax_leaves_scores, "softmax: leaves the scores alone");
    tap_refuses(softmax_of_nothing, "softmax: refuses no scores", file,
                "softmax of 0 scores: at least 1 is needed");

    SETS("softmax_rows", rows_test, TABLES, HARD_TABLES);

    SETS("mix", mix_test, MIXTURES);
    SETS("mix", mix_each_row, ATTENTIONS);
    TAP(mix_one_row, "mix: a single row");
    SETS("softmax_rows: a whole attention", rows_attention, ATTENTIONS);

    SETS("softmax_online", online_test, VECTORS, TABLES, HARD_VECTORS,
         HARD_TABLES);
    TAP(online_leaves_scores, "softmax_online: leaves the scores alone");
    TAP(online_as_softmax, "softmax_online: agrees with softmax");
    tap_refuses(online_of_nothing, "softmax_online: refuses no scores",
                file, "softmax_online of 0 scores: at least 1 is needed");
    return tap_done();
}
