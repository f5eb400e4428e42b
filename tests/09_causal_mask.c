/* Chapter 9 against PyTorch: golden/09_causal_mask. */
#define CHAPTER "09_causal_mask"
#include "golden.h"
#include "attention/09_causal_mask.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"

static int first(const char *set)
{
    return (int)input_number(set, "first", "first");
}

/* A query sees all keys if `first` is beyond the text, and none if it is
 * before. */
static void far_away(void)
{
    static const int far[] = {INT_MIN, INT_MIN + 2, -1000,       -2,     1,
                              999,     1000,        INT_MAX - 2, INT_MAX};
    const float x[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    for (int k = 0; k < 9; k++) {
        const Mask mask = mask_causal(far[k]);
        float scores[3][4] = {{0}}, s[3][3], weights[3][3];
        next_case();
        given("n = 3, m = 4, first = %d", far[k]);
        apply_mask(3, 4, mask, scores);
        attention_weights(3, 3, 2, mask, x, x, s, weights);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) {
                const int64_t back = (int64_t)far[k] + i - j;
                expect_equal("scores", scores[i][j],
                             back >= 0 ? 0 : -INFINITY);
                if (j < 3) /* not a number where nothing is seen */
                    expect_true("weights",
                                isnan(weights[i][j]) == (back + j < 0));
            }
    }
}

/* As long as the text, or longer: what mask_scores leaves. */
static void long_window(void)
{
    static const int w[] = {4, 5, INT_MAX};
    for (int k = 0; k < 3; k++) {
        float near[4][4] = {{0}};
        next_case();
        given("n = 4, w = %d", w[k]);
        mask_window(4, w[k], near);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                expect_equal("near", near[i][j], j > i ? -INFINITY : 0);
    }
}

static void hide_no_number(void)
{
    const float mask[1][4] = {{0, 1, 0, 1}};
    const float due[4] = {NAN, NAN, NAN, 0.5f};
    float weights[1][4] = {{NAN, NAN, INFINITY, 0.5f}};
    mask_weights(1, 4, mask, weights);
    expect_list("weight", 4, weights[0], due, EXACTLY);
}

/* What a mask before the softmax leaves is right. */
static void mask_where_test(const char *set)
{
    void *scores = guarded_copy("scores", golden_count(set, "scores"),
                                input(set, "scores"));
    apply_mask(SHAPE(set, "mask"),
               mask_table(SHAPE(set, "mask"), input(set, "mask")), scores);
    softmax_rows(SHAPE(set, "mask"), scores, due(set, "right", SHARES));
}

static void weights_test(const char *set)
{
    const int n = dim(set, "query", 0), m = dim(set, "value", 0);
    void *weights = due(set, "weights", 1e-5, 1e-7);
    attention_weights(n, SHAPE(set, "key"), mask_causal(first(set)),
                      input(set, "query"), input(set, "key"),
                      due(set, "scores", SUMS), weights);
    matmul(n, dim(set, "value", 1), m, weights, input(set, "value"),
           due(set, "context", SUMS));
}

/* With a tolerance of 0, a rounding at gap 0 is enough. What it asks for
 * it gives back: 300 times a third of a megabyte does not fit otherwise. */
static void gap_of_many(void)
{
    enum { MANY = 30000 };
    float *many = guarded("visible", MANY);
    tap_fill(MANY, many, -1, 1);
    given("n = %d, tolerance = 0; called 300 times", MANY);
#ifndef __SANITIZE_ADDRESS__ /* which needs more, and finds it by itself */
    setrlimit(RLIMIT_AS, &(struct rlimit){64 << 20, 64 << 20});
#endif
    for (int i = 0; i < 300; i++)
        expect_equal("gap", find_gap(MANY, many, 0), 0);
}

/* A larger gap may do less harm. */
static void less_harm(void)
{
    const float visible[2] = {0, 0.5f}, mask[1][3] = {{1, 1, 0}};
    float right[2], off[2];
    softmax(2, visible, right);
    for (int k = 0; k < 2; k++) {
        const float scores[1][3] = {{0, 0.5f, 100.5f + (float)k}};
        float weights[1][3];
        softmax_rows(1, 3, scores, weights);
        mask_weights(1, 3, mask, weights);
        renormalize(1, 3, weights);
        off[k] = fabsf(weights[0][0] - right[0]);
    }
    expect_true("100 is off by more than 101", off[0] > off[1]);
}

static void masks_refused(void)
{
    const float table[2][3] = {{0}};
    const Mask wide = mask_table(2, 3, table);
    const Mask odd = {9, 0, 2, 3, table[0]},
               none = {MASK_TABLE, 0, 2, 3, NULL};
    float x[3][3] = {{0}};
    REFUSES(
        "09_causal_mask.c: mask_check: a mask of kind 2, 2 times 3, "
        "for 3 queries and 2 keys: MASK_NONE, MASK_CAUSAL, or a table of "
        "their size, is needed",
        mask_check(3, 2, wide));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 2 times 2",
                 apply_mask(2, 2, wide, ROWS(2, x[0])));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 1 times 3",
                 apply_mask(1, 3, wide, x));
    REFUSES_SUCH("a mask of kind 9", apply_mask(2, 3, odd, x));
    REFUSES_SUCH("a mask without its table", apply_mask(2, 3, none, x));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 3 times 3",
                 attention_weights(3, 3, 3, wide, x, x, x, x));
    REFUSES_SUCH("a window of 0 words", mask_window(3, 0, x));
    REFUSES_SUCH("a window of INT_MIN words", mask_window(3, INT_MIN, x));
}

static void gaps_refused(void)
{
    const float two[2] = {0, 0.5f};
    const float odd[3] = {INFINITY, -INFINITY, NAN};
    REFUSES_SUCH("a tolerance of -1", find_gap(2, two, -1));
    REFUSES_SUCH("a tolerance that is NaN", find_gap(2, two, NAN));
    for (int i = 0; i < 3; i++) {
        const float visible[2] = {0, odd[i]};
        REFUSES_SUCH(tap_words("a visible score of %g", (double)odd[i]),
                     find_gap(2, visible, 0.5f));
    }
}

static void tests_of_masks(void)
{
    EACH_SET("causal_mask", "mask_*-window",
             causal_mask(dim(set, "mask", 0), due(set, "mask", EXACTLY)));
    EACH_SET("mask_scores", "mask_*-window",
             mask_scores(dim(set, "scores", 0),
                         changed(set, "scores", "masked", EXACTLY)));
    EACH_SET("mask_causal", "mask_*-first",
             apply_mask(SHAPE(set, "scores"), mask_causal(first(set)),
                        changed(set, "scores", "masked", EXACTLY)),
             apply_mask(SHAPE(set, "scores"), mask_none(),
                        changed(set, "scores", "scores", EXACTLY)));
    EACH_SET("mask_table", "*-masked",
             apply_mask(SHAPE(set, "scores"),
                        mask_table(SHAPE(set, "mask"), input(set, "mask")),
                        changed(set, "scores", "masked", EXACTLY)));
    EACH_SET("apply_mask", "*-right", mask_where_test(set));
    EACH_SET("mask_window", "*-window",
             mask_window(dim(set, "scores", 0),
                         (int)input_number(set, "window", "w"),
                         changed(set, "scores", "near", EXACTLY)));
    TAP("mask_window: beyond the text", long_window());
    TAP("mask_causal: beyond the text", far_away());
}

/* The least of all numbers are rounded. */
static void renormalized(const char *set, const char *from)
{
    renormalize(SHAPE(set, from),
                changed_as(set, from, "renormalized", "weights", 3e-6,
                           FLT_TRUE_MIN));
}

static void tests_of_weights(void)
{
    EACH_SET("mask_weights", "*-hidden",
             mask_weights(SHAPE(set, "weights"), input(set, "mask"),
                          changed(set, "weights", "hidden", EXACTLY)));
    TAP("mask_weights: what is no number stays so", hide_no_number());
    EACH_SET("renormalize", "*-hidden", renormalized(set, "hidden"));
    TAP("renormalize: weights of either sign",
        renormalized("signed", "weights"));
    TAP("renormalize: uneven weights", renormalized("uneven", "weights"));
    EACH_SET("attention_weights", "*-query", weights_test(set));
}

int main(void)
{
    tests_of_masks();
    tests_of_weights();
    EACH_SET("find_gap", "gap_*-visible",
             *(int *)due(set, "gap", EXACTLY) = find_gap(
                 dim(set, "visible", 0), input(set, "visible"),
                 (float)input_number(set, "tolerance", "tolerance")));
    TAP_LARGE("find_gap: 0, and gives its memory back", gap_of_many());
    /* e^-104 is nearer to 0 than to the smallest float above 0. */
    TAP("find_gap: 104 for a tolerance that no share exceeds",
        expect_equal("of one 0", find_gap(1, (float[1]){0}, 9), 104));
    TAP("renormalize: a gap of 100, and of 101", less_harm());
    masks_refused();
    gaps_refused();
    return tap_done();
}
