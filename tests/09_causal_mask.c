/* Chapter 9 against PyTorch: golden/09_causal_mask. */
#define CHAPTER "09_causal_mask"
#include "traces.h"

#define MASKS                                                              \
    "mask_1x1_0", "mask_6x6_0", "mask_2x5_0", "mask_2x5_3", "mask_4x2_-2", \
        "mask_4x2_0", "mask_5x3_1", "mask_3x7_-1", "mask_3x4_-9",          \
        "mask_3x4_9", "mask_7x7_0", "mask_4x9_5"
#define HIDINGS                                                            \
    "any_1x1", "any_1x6", "any_5x1", "any_4x7", "any_7x4", "any_5x5",      \
        "empty", "journey", "gaps", "graded"
/* The two entries of each batch have the same sizes. */
#define HEADS                                                              \
    "head_1x1x1x1_0_a", "head_1x1x1x1_0_b", "head_6x6x2x4_0_a",            \
        "head_6x6x2x4_0_b", "head_5x5x3x2_0_a", "head_5x5x3x2_0_b",        \
        "head_2x7x3x4_0_a", "head_2x7x3x4_0_b", "head_2x7x3x4_5_a",        \
        "head_2x7x3x4_5_b", "head_7x2x4x3_0_a", "head_7x2x4x3_0_b",        \
        "head_6x3x2x5_-3_a", "head_6x3x2x5_-3_b", "head_3x5x6x2_1_a",      \
        "head_3x5x6x2_1_b", "head_4x6x5x3_-1_a", "head_4x6x5x3_-1_b",      \
        "head_3x4x2x5_9_a", "head_3x4x2x5_9_b", "head_2x3x4x5_-7_a",       \
        "head_2x3x4x5_-7_b"
#define GAPS                                                               \
    "gap_half_0", "gap_half_1", "gap_half_2", "gap_half_3", "gap_half_4",  \
        "gap_shifted", "gap_one", "gap_endless", "gap_three", "gap_four",  \
        "gap_small_first", "gap_small_middle", "gap_small_last"

#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7
#define LONG_RTOL 1e-5 /* shares of scores that are sums */
#define LOUD_RTOL 3e-4 /* scores of some hundred */

#define SHAPE(what) dim(what, 0), dim(what, 1)

/* The entries of an input, in an array that may be changed. */
static void *copy(const char *what)
{
    float *x = result(what);
    return memcpy(x, input(what), part(what)->count * sizeof *x);
}

static void mask_test(void)
{
    float *got = result("mask");
    causal_mask(SHAPE("mask"), (int)*integers("first"), (void *)got);
    agrees("mask", got, 0, 0);
}

static void mask_scores_test(void)
{
    float *got = copy("scores");
    mask_scores(SHAPE("scores"), (int)*integers("first"), (void *)got);
    agrees("masked", got, 0, 0);
}

static void mask_where_test(void)
{
    float *got = copy("scores");
    mask_where(SHAPE("scores"), input("mask"), (void *)got);
    agrees("masked", got, 0, 0);
}

static void mask_where_shares(void)
{
    float *got = copy("scores"), *weights = result("scores");
    mask_where(SHAPE("scores"), input("mask"), (void *)got);
    agrees("masked", got, 0, 0);
    softmax_rows(SHAPE("scores"), (void *)got, (void *)weights);
    tap_close("weights", part("right"), weights, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* What a mask leaves of the running set's scores. */
static float *seen(Mask see)
{
    float *got = copy("scores");
    apply_mask(SHAPE("scores"), see, (void *)got);
    return got;
}

static void see_all_test(void)
{
    agrees("scores", seen(see_all()), 0, 0);
}

static void see_past_test(void)
{
    agrees("masked", seen(see_past((int)*integers("first"))), 0, 0);
}

static void see_where_test(void)
{
    const Mask see = see_where(SHAPE("mask"), input("mask"));
    agrees("masked", seen(see), 0, 0);
}

/* Where they mean the same, the three kinds of masks do the same. */
static void three_kinds(void)
{
    static const float ones[2][3] = {{1, 1, 1}, {1, 1, 1}};
    const Mask see[3] = {see_all(), see_past(2), see_where(2, 3, ones)};
    for (int k = 0; k < 3; k++) {
        const float expect[6] = {0, 1, 2, 3, 4, 5};
        float *scores = room(6);
        memcpy(scores, expect, sizeof expect);
        apply_mask(2, 3, see[k], (void *)scores);
        same("score", 6, scores, expect);
    }
}

static void window_test(void)
{
    float *got = copy("scores");
    mask_window(SHAPE("scores"), (int)*integers("first"),
                (int)*integers("window"), (void *)got);
    agrees("near", got, 0, 0);
}

static void hide_test(void)
{
    float *got = copy("weights");
    hide_weights(SHAPE("weights"), input("mask"), (void *)got);
    agrees("hidden", got, 0, 0);
}

/* What is no number stays so, even where the mask has 0. */
static void hide_no_number(void)
{
    const float mask[1][4] = {{0, 1, 0, 1}};
    const float expect[4] = {NAN, NAN, NAN, 0.5f};
    float weights[1][4] = {{NAN, NAN, INFINITY, 0.5f}};
    hide_weights(1, 4, mask, weights);
    same("weight", 4, weights[0], expect);
}

static void renormalize_test(void)
{
    float *got = copy("hidden");
    renormalize(SHAPE("hidden"), (void *)got);
    tap_close("shares", part("renormalized"), got, WEIGHT_RTOL,
              WEIGHT_ATOL);
}

static void renormalize_uneven(void)
{
    float *got = copy("weights");
    renormalize(SHAPE("weights"), (void *)got);
    tap_close("shares", part("renormalized"), got, WEIGHT_RTOL, 0);
}

/* The four rows of which renormalizing spoils three. */
static void gaps_test(void)
{
    float *got = result("scores"), *masked = copy("scores");
    softmax_rows(4, 3, input("scores"), (void *)got);
    hide_weights(4, 3, input("mask"), (void *)got);
    renormalize(4, 3, (void *)got);
    agrees("renormalized", got, WEIGHT_RTOL, 0);
    mask_where(4, 3, input("mask"), (void *)masked);
    softmax_rows(4, 3, (void *)masked, (void *)got);
    agrees("right", got, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* From the queries, keys and values of a trace, all the rest. */
static void masked_attention(Trace *t, Mask see)
{
    masked_weights(t->n, t->m, t->d_k, see, (void *)t->query,
                   (void *)t->key, (void *)t->scores, (void *)t->weights);
    matmul(t->n, t->d_v, t->m, (void *)t->weights, (void *)t->value,
           (void *)t->context);
}

/* The future hidden by its place, and by a table. */
static void weights_test(void)
{
    const int n = dim("query", 0), m = dim("value", 0);
    const Attention like = {
        .n_heads = 1, .d_k = dim("query", 1), .d_v = dim("value", 1)};
    Trace t = roomy(&like, n, m);
    const bool loud = !strcmp(sets_now, "loud");
    t.query = copy("query");
    t.key = copy("key");
    t.value = copy("value");
    masked_attention(&t, see_past((int)*integers("first")));
    agrees("scores", t.scores, SUM_RTOL, loud ? 1e-5 : SUM_ATOL);
    agrees("weights", t.weights, loud ? LOUD_RTOL : LONG_RTOL, WEIGHT_ATOL);
    agrees("context", t.context, loud ? LOUD_RTOL : SUM_RTOL,
           loud ? 1e-5 : SUM_ATOL);
    float *mask = room((size_t)(n * m)), *scores = t.scores;
    float *weights = t.weights;
    causal_mask(n, m, (int)*integers("first"), (void *)mask);
    t.scores = room((size_t)(n * m));
    t.weights = room((size_t)(n * m));
    masked_attention(&t, see_where(n, m, (void *)mask));
    same("scores, by a table", (size_t)(n * m), t.scores, scores);
    same("weights, by a table", (size_t)(n * m), t.weights, weights);
}

/* Properties, for random sizes. */
enum { MOST = 9 };

static Trace random_head(void)
{
    const Attention like = {
        .n_heads = 1, .d_k = tap_int(1, 5), .d_v = tap_int(1, 5)};
    Trace t = roomy(&like, tap_int(1, MOST), tap_int(1, MOST));
    tap_fill(t.n * t.d_k, t.query, -2, 2);
    tap_fill(t.m * t.d_k, t.key, -2, 2);
    tap_fill(t.m * t.d_v, t.value, -2, 2);
    return t;
}

static void sees_all(void)
{
    for (int round = 0; round < 50; round++) {
        Trace t = random_head(), expect = t;
        const size_t count = (size_t)(t.n * t.m);
        expect.scores = room(count);
        expect.weights = room(count);
        masked_attention(&t, see_all());
        attend_trace(&expect);
        same("scores", count, t.scores, expect.scores);
        same("weights", count, t.weights, expect.weights);
    }
}

/* Other keys and values from a place on leave the words before it alone, to
 * the last bit. */
static void blind_to_the_future(void)
{
    for (int round = 0; round < 100; round++) {
        Trace t = random_head(), other = t;
        const int j = tap_int(0, t.m - 1), first = tap_int(0, 3);
        masked_attention(&t, see_past(first));
        other.context = room((size_t)(t.n * t.d_v));
        tap_fill((t.m - j) * t.d_k, t.key + j * t.d_k, -9, 9);
        tap_fill((t.m - j) * t.d_v, t.value + j * t.d_v, -9, 9);
        t.key[j * t.d_k] = 3e38f;
        masked_attention(&other, see_past(first));
        for (int i = 0; i < t.n && first + i < j; i++)
            same("context", (size_t)t.d_v, other.context + i * t.d_v,
                 t.context + i * t.d_v);
    }
}

/* Exercise 9.5: the scores of later words are hidden, their values are not;
 * 0 times infinity is no number. */
static void values_are_not_hidden(void)
{
    for (int round = 0; round < 100; round++) {
        Trace t = random_head();
        const int j = tap_int(0, t.m - 1), k = tap_int(0, t.d_v - 1);
        const int first = tap_int(0, 3);
        const float endless = round % 2 ? INFINITY : -INFINITY;
        t.value[j * t.d_v + k] = endless;
        masked_attention(&t, see_past(first));
        for (int i = 0; i < t.n * t.d_v; i++)
            if (i % t.d_v != k)
                tap_true("another entry", isfinite(t.context[i]));
            else
                tap_near("entry", t.context[i],
                         j <= first + i / t.d_v ? endless : NAN, 0, 0);
    }
}

/* A query sees its own place and all before it, like the last word of a
 * text that ends there. */
static void same_as_shorter_texts(void)
{
    for (int round = 0; round < 100; round++) {
        Trace t = random_head();
        const int first = tap_int(0, 3);
        masked_attention(&t, see_past(first));
        for (int i = 0; i < t.n; i++) {
            const int seen = first + i < t.m ? first + i + 1 : t.m;
            const float *weight = t.weights + i * t.m;
            float scores[MOST], weights[MOST], alone[5];
            double sum = 0;
            attention(1, seen, t.d_k, t.d_v, (void *)(t.query + i * t.d_k),
                      (void *)t.key, (void *)t.value, (void *)scores,
                      (void *)weights, (void *)alone);
            for (int j = 0; j < t.m; j++) {
                tap_true("seen or not", (weight[j] > 0) == (j < seen));
                sum += (double)weight[j];
            }
            tap_near("row sum", sum, 1, 1e-6, 0);
            for (int k = 0; k < t.d_v; k++)
                tap_near("context", t.context[i * t.d_v + k], alone[k],
                         1e-6, 1e-6);
        }
    }
}

/* Within ten of 0, renormalizing is as good as minus infinity. */
static void both_ways(void)
{
    for (int round = 0; round < 200; round++) {
        const Trace t = random_head();
        const int n = t.n, m = t.m, first = tap_int(0, 3);
        float *mask = room((size_t)(n * m));
        tap_fill(n * m, t.scores, -10, 10);
        causal_mask(n, m, first, (void *)mask);
        softmax_rows(n, m, (void *)t.scores, (void *)t.dropped);
        hide_weights(n, m, (void *)mask, (void *)t.dropped);
        renormalize(n, m, (void *)t.dropped);
        mask_scores(n, m, first, (void *)t.scores);
        softmax_rows(n, m, (void *)t.scores, (void *)t.weights);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = i * m; j < (i + 1) * m; j++) {
                sum += (double)t.dropped[j];
                tap_near("weight", t.dropped[j], t.weights[j], 1e-5, 1e-7);
            }
            tap_near("row sum", sum, 1, 1e-6, 0);
        }
    }
}

/* Eight more or less for all scores of a row changes no bit of the weights:
 * the scores are quarters, which a float holds exactly. */
static void eight_more(void)
{
    for (int round = 0; round < 200; round++) {
        const int m = tap_int(1, MOST), first = tap_int(0, m);
        float scores[2][MOST], weights[2][MOST];
        for (int j = 0; j < m; j++) {
            scores[0][j] = 0.25f * (float)tap_int(-100, 100);
            scores[1][j] = scores[0][j] + (round % 2 ? 8 : -8);
        }
        for (int k = 0; k < 2; k++) {
            mask_scores(1, m, first, (void *)scores[k]);
            softmax(m, scores[k], weights[k]);
        }
        same("weight", (size_t)m, weights[1], weights[0]);
    }
}

/* A window as long as the text is none; one word sees itself. */
static void window_from_one_to_all(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, MOST), m = tap_int(1, MOST);
        const int first = tap_int(-3, 3), count = n * m;
        float a[MOST * MOST], b[MOST * MOST], one[MOST * MOST];
        tap_fill(count, a, -5, 5);
        memcpy(b, a, sizeof a);
        memcpy(one, a, sizeof a);
        mask_window(n, m, first, 1, (void *)one);
        for (int i = 0; i < count; i++)
            tap_near("itself", one[i],
                     i % m == first + i / m ? a[i] : -INFINITY, 0, 0);
        mask_scores(n, m, first, (void *)a);
        mask_window(n, m, first, round % 2 ? INT_MAX : n + m + 3,
                    (void *)b);
        same("all", (size_t)count, b, a);
    }
}

/* Places and windows as large as an int can be. */
static void window_far_away(void)
{
    const int far[6] = {INT_MIN, INT_MIN + 1, -1, 1, INT_MAX - 1, INT_MAX};
    for (int k = 0; k < 36; k++) {
        const int first = far[k / 6], w = far[k % 6];
        if (w < 1)
            continue;
        float scores[3][4] = {{0}};
        mask_window(3, 4, first, w, scores);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) {
                const int64_t back = (int64_t)first + i - j;
                tap_near("score", scores[i][j],
                         back >= 0 && back < w ? 0 : -INFINITY, 0, 0);
            }
    }
}

static void gap_test(void)
{
    const float *tolerance = input("tolerance");
    const int gap =
        find_gap(dim("visible", 0), input("visible"), *tolerance);
    tap_near("gap", gap, (double)*integers("gap"), 0, 0);
}

/* With a tolerance of 0, a rounding at gap 0 is enough. */
static void gap_of_nothing(void)
{
    float many[200];
    tap_fill(200, many, -1, 1);
    tap_near("gap", find_gap(200, many, 0), 0, 0, 0);
    const float three[3] = {0, 0.5f, 0.1f};
    tap_near("gap", find_gap(3, three, 0), 0, 0, 0);
}

/* What it asks for it gives back: 300 times a third of a megabyte does not
 * fit otherwise. */
static void gap_free_test(void)
{
    enum { MANY = 30000 };
    float *many = room(MANY);
    tap_fill(MANY, many, -1, 1);
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
#define AT "09_causal_mask.c: "
    REFUSES(AT "apply_mask: a mask of 2 times 3 for scores of 3 times 2: "
               "one of their size is needed",
            apply_mask(3, 2, see_where(2, 3, table), x));
    REFUSES(NULL, apply_mask(2, 2, see_where(2, 3, table), x));
    REFUSES(NULL, apply_mask(3, 3, see_where(2, 3, table), square));
    REFUSES(NULL, masked_weights(3, 3, 2, see_where(2, 3, table), x, x,
                                 square, square));
    REFUSES(AT "mask_window: a window of 0 words: at least 1 is needed",
            mask_window(3, 2, 0, 0, x));
    REFUSES(NULL, mask_window(3, 2, 0, -1, x));
    REFUSES(NULL, mask_window(3, 2, 0, INT_MIN, x));
    REFUSES(AT "find_gap: a tolerance of -1: 0 or more is needed",
            find_gap(2, two, -1));
    REFUSES(NULL, find_gap(2, two, NAN));
    REFUSES(AT "find_gap: visible score 1 is inf: a finite number is "
               "needed",
            find_gap(2, endless, 0.5f));
    REFUSES(NULL, find_gap(2, bottomless, 0.5f));
    REFUSES(NULL, find_gap(2, none, 0.5f));
}

int main(void)
{
    SETS("causal_mask", mask_test, MASKS);
    SETS("hide_weights", hide_test, HIDINGS);
    TAP(hide_no_number, "hide_weights: what is no number stays so");
    SETS("renormalize", renormalize_test, HIDINGS);
    SETS("renormalize", renormalize_uneven, "uneven", "signed");
    SETS("renormalize", gaps_test, "gaps");
    TAP(both_ways, "renormalize: as minus infinity, within ten of 0");
    SETS("mask_scores", mask_scores_test, MASKS);
    TAP(eight_more, "mask_scores: eight more for all scores of a row");
    SETS("mask_where", mask_where_test, MASKS, "odd");
    SETS("mask_where", mask_where_shares, HIDINGS);
    SETS("see_all", see_all_test, "mask_4x9_5", "odd");
    SETS("see_past", see_past_test, MASKS);
    SETS("see_where", see_where_test, MASKS, "odd");
    TAP(three_kinds, "apply_mask: three masks that hide nothing");
    SETS("masked_weights", weights_test, HEADS, "loud", "gap", "deep");
    TAP(sees_all, "masked_weights: without a mask, those of attention");
    TAP(blind_to_the_future, "masked_weights: later words change nothing");
    TAP(values_are_not_hidden,
        "masked_weights: a later value that is infinite");
    TAP(same_as_shorter_texts,
        "masked_weights: itself and all before, as in shorter texts");
    SETS("mask_window", window_test, MASKS);
    TAP(window_from_one_to_all, "mask_window: from one word to all");
    TAP(window_far_away, "mask_window: places and windows without limits");
    SETS("find_gap", gap_test, GAPS);
    TAP(gap_of_nothing, "find_gap: from 0 on");
    TAP_LARGE(gap_free_test, "find_gap: gives its memory back");
    refusals();
    return tap_done();
}
