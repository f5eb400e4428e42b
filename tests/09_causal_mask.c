/* Chapter 9 against PyTorch: golden/09_causal_mask. */
#define CHAPTER "09_causal_mask"
#include "traces.h"
#include "attention/09_causal_mask.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"

#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7

#define SHAPE(what) dim(what, 0), dim(what, 1)

/* What a function is given, by this name, to be changed in place. */
static void *copy_at(int place, const char *name, const char *what)
{
    const Tensor *tensor = tell_given(place, name, what);
    float *x = room_for(name, tensor->count);
    return memcpy(x, floats(tensor), tensor->count * sizeof *x);
}
#define copy_as(name, what) copy_at(__COUNTER__, name, what)
#define copy(what) copy_as(what, what)

static int first(void)
{
    return (int)number("first", "first");
}

static void mask_test(void)
{
    float *got = result("mask");
    causal_mask(SHAPE("mask"), first(), (void *)got);
    agrees("mask", got, 0, 0);
}

static void mask_scores_test(void)
{
    float *got = copy("scores");
    mask_scores(SHAPE("scores"), first(), (void *)got);
    tap_close("scores", part("masked"), got, 0, 0);
}

/* What a mask leaves of the running set's scores. */
static float *seen(Mask mask)
{
    float *got = copy("scores");
    apply_mask(SHAPE("scores"), mask, (void *)got);
    return got;
}

static void see_past_test(void)
{
    tap_close("scores", part("masked"), seen(mask_causal(first())), 0, 0);
    agrees("scores", seen(mask_none()), 0, 0);
}

static void see_where_test(void)
{
    const Mask mask = mask_table(SHAPE("mask"), input("mask"));
    tap_close("scores", part("masked"), seen(mask), 0, 0);
}

static void window_test(void)
{
    float *got = copy("scores");
    mask_window(SHAPE("scores"), first(), (int)number("w", "window"),
                (void *)got);
    tap_close("scores", part("near"), got, 0, 0);
}

/* Places and windows that lie beyond the text. */
static void window_far_away(void)
{
    const int far[] = {-1000, -2, 1, 999, 1000};
    for (int k = 0; k < 15; k++) {
        const int from = far[k / 3], w = far[2 + k % 3];
        float scores[3][4] = {{0}};
        next_case();
        give("n = 3, m = 4, first = %d, w = %d", from, w);
        mask_window(3, 4, from, w, scores);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) {
                const int back = from + i - j;
                tap_near(tap_words("scores[%d][%d]", i, j), scores[i][j],
                         back >= 0 && back < w ? 0 : -INFINITY, 0, 0);
            }
    }
}

static void hide_test(void)
{
    float *got = copy("weights");
    mask_weights(SHAPE("weights"), input("mask"), (void *)got);
    tap_close("weights", part("hidden"), got, 0, 0);
}

/* What is no number stays so, even where the mask has 0. */
static void hide_no_number(void)
{
    const float mask[1][4] = {{0, 1, 0, 1}};
    const float expect[4] = {NAN, NAN, NAN, 0.5f};
    float weights[1][4] = {{NAN, NAN, INFINITY, 0.5f}};
    mask_weights(1, 4, mask, weights);
    same("weight", 4, weights[0], expect);
}

/* The least of all numbers are rounded. */
static void renormalized(const char *what)
{
    float *got = copy_as("weights", what);
    renormalize(SHAPE(what), (void *)got);
    tap_close("weights", part("renormalized"), got, WEIGHT_RTOL,
              FLT_TRUE_MIN);
}

static void renormalize_test(void)
{
    renormalized("hidden");
}

static void renormalize_uneven(void)
{
    renormalized("weights");
}

/* What a mask before the softmax leaves is right. */
static void mask_where_test(void)
{
    float *scores = copy("scores"), *got = result("right");
    mask_scores_table(SHAPE("mask"), input("mask"), (void *)scores);
    softmax_rows(SHAPE("mask"), (void *)scores, (void *)got);
    agrees("right", got, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* Loud are scores of some hundred. */
static void weights_test(void)
{
    const int n = dim("query", 0), m = dim("value", 0);
    const int d_k = dim("query", 1), d_v = dim("value", 1);
    const bool is_loud = !strcmp(sets_now, "loud");
    const double rtol = is_loud ? 3e-4 : 1e-5;
    const double atol = is_loud ? 1e-5 : 1e-6;
    Trace t = one_head(n, m, d_k, d_v);
    masked_weights(n, m, d_k, mask_causal(first()), input("query"),
                   input("key"), (void *)t.scores, (void *)t.weights);
    matmul(n, d_v, m, (void *)t.weights, input("value"), (void *)t.context);
    agrees("scores", t.scores, 1e-5, atol);
    agrees("weights", t.weights, rtol, 1e-7);
    agrees("context", t.context, rtol, atol);
}

/* Exercise 9.5: the scores of later words are hidden, their values are
 * not; 0 times infinity is no number. */
static void values_are_not_hidden(void)
{
    const float one[2][1] = {{1}, {1}}, value[2][1] = {{1}, {INFINITY}};
    const float expect[2] = {NAN, INFINITY};
    float scores[2][2], weights[2][2], context[2][1];
    masked_weights(2, 2, 1, mask_causal(0), one, one, scores, weights);
    matmul(2, 1, 2, weights, value, context);
    same("context", 2, (void *)context, expect);
}

static void gap_test(void)
{
    const int gap = find_gap(dim("visible", 0), input("visible"),
                             (float)number("tolerance", "tolerance"));
    agrees("gap", &gap, 0, 0);
}

/* With a tolerance of 0, a rounding at gap 0 is enough. What it asks for
 * it gives back: 300 times a third of a megabyte does not fit otherwise. */
static void gap_of_many(void)
{
    enum { MANY = 30000 };
    float *many = room(MANY);
    tap_fill(MANY, many, -1, 1);
    give("n = %d, tolerance = 0; called 300 times", MANY);
    tap_limit_memory(64);
    for (int i = 0; i < 300; i++)
        tap_near("gap", find_gap(MANY, many, 0), 0, 0, 0);
}

static void refusals(void)
{
    const float table[2][3] = {{0}};
    const float two[2] = {0, 0.5f}, endless[2] = {0, INFINITY};
    const float bottomless[2] = {-INFINITY, 0}, none[2] = {0, NAN};
    float x[3][2] = {{0}}, square[3][3];
    REFUSES(
        "09_causal_mask.c: mask_check: a mask of kind 2, 2 times 3, "
        "for 3 queries and 2 keys: MASK_NONE, MASK_CAUSAL, or a table of "
        "their size, is needed",
        mask_check(3, 2, mask_table(2, 3, table)));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 3 times 2",
                 apply_mask(3, 2, mask_table(2, 3, table), x));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 1 times 3",
                 apply_mask(1, 3, mask_table(2, 3, table), x));
    Mask odd = mask_table(2, 3, table);
    odd.kind = 9;
    REFUSES_SUCH("a mask of kind 9", apply_mask(2, 3, odd, x));
    REFUSES_SUCH("a mask without its table",
                 apply_mask(2, 2, (Mask){MASK_TABLE, 0, 2, 2, NULL}, x));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 2 times 2",
                 apply_mask(2, 2, mask_table(2, 3, table), x));
    REFUSES_SUCH("a mask of 2 times 3 for scores of 3 times 3",
                 masked_weights(3, 3, 2, mask_table(2, 3, table), x, x,
                                square, square));
    REFUSES_SUCH("a window of 0 words", mask_window(3, 2, 0, 0, x));
    REFUSES_SUCH("a window of INT_MIN words",
                 mask_window(3, 2, 0, INT_MIN, x));
    REFUSES_SUCH("a tolerance of -1", find_gap(2, two, -1));
    REFUSES_SUCH("a tolerance that is NaN", find_gap(2, two, NAN));
    REFUSES_SUCH("a visible score of infinity", find_gap(2, endless, 0.5f));
    REFUSES_SUCH("a visible score of minus infinity",
                 find_gap(2, bottomless, 0.5f));
    REFUSES_SUCH("a visible score that is NaN", find_gap(2, none, 0.5f));
}

int main(void)
{
    EACH("causal_mask", mask_test, "mask_*-first");
    EACH("mask_weights", hide_test, "*-hidden");
    TAP(hide_no_number, "mask_weights: what is no number stays so");
    EACH("renormalize", renormalize_test, "*-hidden");
    SETS("renormalize", renormalize_uneven, "uneven", "signed");
    EACH("mask_scores", mask_scores_test, "mask_*-first");
    EACH("mask_causal", see_past_test, "mask_*-first");
    EACH("mask_table", see_where_test, "*-masked");
    EACH("mask_scores_table", mask_where_test, "*-right");
    EACH("masked_weights", weights_test, "*-query");
    TAP(values_are_not_hidden,
        "masked_weights: a later value that is infinite");
    EACH("mask_window", window_test, "*-window");
    TAP(window_far_away, "mask_window: places and windows beyond the text");
    EACH("find_gap", gap_test, "gap_*-visible");
    TAP_LARGE(gap_of_many, "find_gap: 0, and gives its memory back");
    refusals();
    return tap_done();
}
