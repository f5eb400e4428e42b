/* Chapter 14 against PyTorch: golden/14_flash. */
#define CHAPTER "14_flash"
#include "golden.h"
#include "attention/14_flash.h"

#define ATOL 2e-6

static void nothing_met(void)
{
    float mixture[3] = {5, NAN, -7};
    OnlineSoftmax r = {7, 8};
    online_softmax_init(3, &r, mixture);
    expect_list("mixture", 3, mixture, ((float[3]){0}), EXACTLY);
    expect_equal("log-sum-exp", online_softmax_finish(3, &r, mixture),
                 -INFINITY);
    expect_list("mixture", 3, mixture, ((float[]){NAN, NAN, NAN}), EXACTLY);
}

/* The row of scores key by key, or in the blocks of the set: after each,
 * against PyTorch's answer for as many keys. */
static void row_test(const char *set, bool is_cut)
{
    const int d_v = dim(set, "value", 1);
    const float *scores = input(set, "scores");
    const float(*value)[d_v] = input(set, "value");
    const int n = dim(set, is_cut ? "cuts" : "scores", 0);
    float *mixture = guarded("mixture", (size_t)d_v);
    OnlineSoftmax r;
    online_softmax_init(d_v, &r, mixture);
    for (int k = 0, from = 0, till; k < n; k++, from = till) {
        till = is_cut ? (int)golden_integers(set, "cuts")[k] : k + 1;
        if (is_cut)
            online_softmax_add_block(till - from, d_v, scores + from,
                                     value + from, &r, mixture);
        else
            online_softmax_add(d_v, scores[k], value[k], &r, mixture);
        if (till == 0)
            continue;
        float *context = guarded_copy("context", (size_t)d_v, mixture);
        expect_near(tap_words("log-sum-exp after key %d", till - 1),
                    online_softmax_finish(d_v, &r, context),
                    golden_doubles(set, "log_sums")[till - 1], 2e-7, ATOL);
        expect_entry(tap_words("context after key %d", till - 1), context,
                     set, "contexts", till - 1, 0, ATOL);
    }
}

static void flash(const char *set, Mask mask)
{
    flash_forward(
        dim(set, "query", 0), dim(set, "key", 0), dim(set, "key", 1),
        dim(set, "value", 1), mask, input(set, "query"), input(set, "key"),
        input(set, "value"),
        due(set, "context", 0, strncmp(set, "loud", 4) ? ATOL : 1e-5),
        due(set, "log_sum", 3e-7, ATOL));
}

/* Only the first block of very many is there; queries that see no other do
 * not read on. */
static void far_blocks(void)
{
    enum { SEEN = 32 };
    void *key = guarded("key", SEEN), *context = guarded("context", SEEN);
    void *value = guarded_filled("value", SEEN, 3);
    tap_fill(SEEN, key, -1, 1);
    flash_forward(SEEN, INT_MAX / 2, 1, 1, mask_causal(0), key, key, value,
                  context, guarded("log_sum_exp", SEEN));
    expect_list("context", SEEN, context, value, 0, ATOL);
}

static void first_far_away(void)
{
    enum { N = 64, M = 40 };
    const int first[4] = {INT_MAX, INT_MAX - 40, INT_MIN, INT_MIN + 40};
    static float x[N][1], value[M][1], context[N][1];
    float log_sum_exp[N];
    for (int j = 0; j < M; j++)
        value[j][0] = (float)j;
    for (int k = 0; k < 4; k++) {
        next_case();
        given("n = %d, m = %d, first = %d", N, M, first[k]);
        flash_forward(N, M, 1, 1, mask_causal(first[k]), x, x, value,
                      context, log_sum_exp);
        for (int i = 0; i < N; i++)
            expect_near(tap_words("context[%d]", i), context[i][0],
                        k < 2 ? 19.5 : NAN, 1e-6, 0);
    }
}

static void join_test(const char *set)
{
    const float joined = merge_contexts(
        4, changed(set, "context", "joined", 0, ATOL),
        (float)input_number(set, "log_sum", "log_sum"), input(set, "other"),
        (float)input_number(set, "other_log_sum", "other_log_sum"));
    expect_near("the log-sum-exp", joined,
                golden_number(set, "joined_log_sum"), 3e-7, ATOL);
}

/* By the logarithm of 2, so that halves are left. */
static void what_was_summed_is_halved(void)
{
    float mixture[2] = {2, -4};
    OnlineSoftmax r = {3, 5};
    online_softmax_rescale(3.69314718f, 2, &r, mixture);
    expect_near("largest", r.largest, 3.69314718, 1e-7, 0);
    expect_near("sum", r.sum, 2.5, 3e-7, 0);
    expect_list("mixture", 2, mixture, ((float[]){1, -2}), 3e-7, 0);
}

int main(void)
{
    float x[3][2] = {{0}}, out[3][2], log_sum_exp[3];
    TAP("online_softmax_init: nothing has been met", nothing_met());
    TAP("online_softmax_rescale: halves", what_was_summed_is_halved());
    EACH_SET("online_softmax_add", "row_*-scores", row_test(set, false));
    EACH_SET("online_softmax_add_block", "row_*-scores",
             row_test(set, true));
    EACH_SET(
        "flash_forward", "*past*-query",
        flash(set, mask_causal((int)input_number(set, "first", "first"))));
    EACH_SET("flash_forward", "*all*-query", flash(set, mask_none()));
    EACH_SET(
        "flash_forward", "table_*-query",
        flash(set, mask_table(SHAPE(set, "mask"), input(set, "mask"))));
    TAP_LARGE("flash_forward: what nobody sees is not read", far_blocks());
    TAP("flash_forward: the first and the last of ints", first_far_away());
    EACH_SET("merge_contexts", "parts_*-other", join_test(set));
    REFUSES_SUCH("a mask of 2 times 3 for 3 queries and 2 keys",
                 flash_forward(3, 2, 2, 2, mask_table(2, 3, (void *)x), x,
                               x, x, out, log_sum_exp));
    return tap_done();
}
