/* Chapter 9 against PyTorch: golden/09_causal_mask. */
#define CHAPTER "09_causal_mask"
#include "sets.h"

#include <limits.h>

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

static int integer(const char *what)
{
    return (int)tensor_integers(part(what))[0];
}

/* The entries of an input, in an array that may be changed. */
static void *copy(const Tensor *input)
{
    float *x = room(input->count);
    memcpy(x, tensor_floats(input), input->count * sizeof *x);
    return x;
}

static void mask_test(void)
{
    const Tensor *mask = part("mask");
    float *got = room(mask->count);
    causal_mask(mask->shape[0], mask->shape[1], integer("first"),
                (void *)got);
    tap_close("mask", mask, got, 0, 0);
}

static void mask_scores_test(void)
{
    const Tensor *scores = part("scores");
    float *got = copy(scores);
    mask_scores(scores->shape[0], scores->shape[1], integer("first"),
                (void *)got);
    tap_close("scores", part("masked"), got, 0, 0);
}

static void mask_where_by_place(void)
{
    const Tensor *scores = part("scores");
    float *got = copy(scores);
    mask_where(scores->shape[0], scores->shape[1], floats(part("mask")),
               (void *)got);
    tap_close("scores", part("masked"), got, 0, 0);
}

static void mask_where_test(void)
{
    const Tensor *scores = part("scores");
    float *got = copy(scores);
    mask_where(scores->shape[0], scores->shape[1], floats(part("mask")),
               (void *)got);
    tap_close("scores", part("masked"), got, 0, 0);
    float *weights = room(scores->count);
    softmax_rows(scores->shape[0], scores->shape[1], (void *)got,
                 (void *)weights);
    tap_close("weights", part("right"), weights, WEIGHT_RTOL, WEIGHT_ATOL);
}

static void window_test(void)
{
    const Tensor *scores = part("scores");
    float *got = copy(scores);
    mask_window(scores->shape[0], scores->shape[1], integer("first"),
                integer("window"), (void *)got);
    tap_close("scores", part("near"), got, 0, 0);
}

static void hide_test(void)
{
    const Tensor *weights = part("weights");
    float *got = copy(weights);
    hide_weights(weights->shape[0], weights->shape[1], floats(part("mask")),
                 (void *)got);
    tap_close("weights", part("hidden"), got, 0, 0);
}

/* What is no number stays so, even where the mask has 0. */
static void hide_no_number(void)
{
    const float mask[1][4] = {{0, 1, 0, 1}};
    float weights[1][4] = {{NAN, NAN, INFINITY, 0.5f}};
    hide_weights(1, 4, mask, weights);
    for (int j = 0; j < 3; j++)
        tap_near("entry", weights[0][j], NAN, 0, 0);
    tap_near("entry", weights[0][3], 0.5, 0, 0);
}

static void renormalize_test(void)
{
    const Tensor *hidden = part("hidden");
    float *got = copy(hidden);
    renormalize(hidden->shape[0], hidden->shape[1], (void *)got);
    tap_close("shares", part("renormalized"), got, WEIGHT_RTOL,
              WEIGHT_ATOL);
}

static void renormalize_uneven(void)
{
    const Tensor *weights = part("weights");
    float *got = copy(weights);
    renormalize(weights->shape[0], weights->shape[1], (void *)got);
    tap_close("shares", part("renormalized"), got, WEIGHT_RTOL, 0);
}

/* The four rows of which renormalizing spoils three. */
static void gaps_test(void)
{
    const Tensor *scores = part("scores"), *mask = part("mask");
    float *got = room(scores->count), *masked = copy(scores);
    softmax_rows(4, 3, floats(scores), (void *)got);
    hide_weights(4, 3, floats(mask), (void *)got);
    renormalize(4, 3, (void *)got);
    tap_close("renormalized", part("renormalized"), got, WEIGHT_RTOL, 0);
    mask_where(4, 3, floats(mask), (void *)masked);
    softmax_rows(4, 3, (void *)masked, (void *)got);
    tap_close("right", part("right"), got, WEIGHT_RTOL, WEIGHT_ATOL);
}

static void attention_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value"), *scores = part("scores");
    const Tensor *weights = part("weights"), *context = part("context");
    float *got[3] = {room(scores->count), room(weights->count),
                     room(context->count)};
    masked_attention(query->shape[0], key->shape[0], key->shape[1],
                     value->shape[1], integer("first"), floats(query),
                     floats(key), floats(value), (void *)got[0],
                     (void *)got[1], (void *)got[2]);
    const bool loud = !strcmp(sets_now, "loud");
    tap_close("scores", scores, got[0], SUM_RTOL, loud ? 1e-5 : SUM_ATOL);
    tap_close("weights", weights, got[1], loud ? LOUD_RTOL : LONG_RTOL,
              WEIGHT_ATOL);
    tap_close("context", context, got[2], loud ? LOUD_RTOL : SUM_RTOL,
              loud ? 1e-5 : SUM_ATOL);
}

/* Properties, for random sizes. */
enum { MOST = 9 };
typedef struct {
    int n, m, d_k, d_v, first;
    float *query, *key, *value, *scores, *weights, *context;
} Head;

/* Every query sees a key at least. */
static Head random_head(void)
{
    Head h = {.n = tap_int(1, MOST),
              .m = tap_int(1, MOST),
              .d_k = tap_int(1, 5),
              .d_v = tap_int(1, 5),
              .first = tap_int(0, 3)};
    h.query = room((size_t)(h.n * h.d_k));
    h.key = room((size_t)(h.m * h.d_k));
    h.value = room((size_t)(h.m * h.d_v));
    h.scores = room((size_t)(h.n * h.m));
    h.weights = room((size_t)(h.n * h.m));
    h.context = room((size_t)(h.n * h.d_v));
    tap_fill(h.n * h.d_k, h.query, -2, 2);
    tap_fill(h.m * h.d_k, h.key, -2, 2);
    tap_fill(h.m * h.d_v, h.value, -2, 2);
    return h;
}

static void attend(Head *h)
{
    masked_attention(h->n, h->m, h->d_k, h->d_v, h->first, (void *)h->query,
                     (void *)h->key, (void *)h->value, (void *)h->scores,
                     (void *)h->weights, (void *)h->context);
}

/* Other keys and values from a place on leave the words before it alone, to
 * the last bit. */
static void blind_to_the_future(void)
{
    for (int round = 0; round < 100; round++) {
        Head h = random_head();
        attend(&h);
        float *before = room((size_t)(h.n * h.d_v));
        memcpy(before, h.context, (size_t)(h.n * h.d_v) * sizeof *before);
        const int j = tap_int(0, h.m - 1);
        tap_fill((h.m - j) * h.d_k, h.key + j * h.d_k, -9, 9);
        tap_fill((h.m - j) * h.d_v, h.value + j * h.d_v, -9, 9);
        h.key[j * h.d_k] = 3e38f;
        attend(&h);
        for (int i = 0; i < h.n && h.first + i < j; i++)
            for (int k = 0; k < h.d_v; k++)
                tap_near("context", h.context[i * h.d_v + k],
                         before[i * h.d_v + k], 0, 0);
    }
}

/* Exercise 9.5: the scores of later words are hidden, their values are not;
 * 0 times infinity is no number. */
static void values_are_not_hidden(void)
{
    for (int round = 0; round < 100; round++) {
        Head h = random_head();
        const int j = tap_int(0, h.m - 1), k = tap_int(0, h.d_v - 1);
        h.value[j * h.d_v + k] = round % 2 ? INFINITY : -INFINITY;
        attend(&h);
        for (int i = 0; i < h.n; i++)
            for (int l = 0; l < h.d_v; l++) {
                const float got = h.context[i * h.d_v + l];
                if (l != k)
                    tap_true("another entry", isfinite(got));
                else
                    tap_near("entry", got,
                             j <= h.first + i ? h.value[j * h.d_v + k]
                                              : NAN,
                             0, 0);
            }
    }
}

/* ... and a query sees its own place, and all before it. */
static void sees_itself(void)
{
    for (int round = 0; round < 100; round++) {
        Head h = random_head();
        attend(&h);
        for (int i = 0; i < h.n; i++) {
            double sum = 0;
            for (int j = 0; j < h.m; j++) {
                const float w = h.weights[i * h.m + j];
                tap_true("seen or not", (w > 0) == (j <= h.first + i));
                sum += (double)w;
            }
            tap_near("row sum", sum, 1, 1e-6, 0);
        }
    }
}

/* The words of a text that ends earlier, one text after the other. */
static void same_as_shorter_texts(void)
{
    for (int round = 0; round < 50; round++) {
        Head h = random_head();
        attend(&h);
        for (int i = 0; i < h.n; i++) {
            const int m = h.first + i < h.m ? h.first + i + 1 : h.m;
            float *alone[3] = {room((size_t)m), room((size_t)m),
                               room((size_t)h.d_v)};
            attention(1, m, h.d_k, h.d_v, (void *)(h.query + i * h.d_k),
                      (void *)h.key, (void *)h.value, (void *)alone[0],
                      (void *)alone[1], (void *)alone[2]);
            for (int k = 0; k < h.d_v; k++)
                tap_near("context", h.context[i * h.d_v + k], alone[2][k],
                         1e-6, 1e-6);
        }
    }
}

/* Within ten of 0, renormalizing is as good as minus infinity. */
static void both_ways(void)
{
    for (int round = 0; round < 200; round++) {
        const int n = tap_int(1, MOST), m = tap_int(1, MOST);
        const int first = tap_int(0, 3);
        float *scores = room((size_t)(n * m)),
              *mask = room((size_t)(n * m));
        float *got = room((size_t)(n * m)), *right = room((size_t)(n * m));
        tap_fill(n * m, scores, -10, 10);
        causal_mask(n, m, first, (void *)mask);
        softmax_rows(n, m, (void *)scores, (void *)got);
        hide_weights(n, m, (void *)mask, (void *)got);
        renormalize(n, m, (void *)got);
        mask_scores(n, m, first, (void *)scores);
        softmax_rows(n, m, (void *)scores, (void *)right);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < m; j++) {
                sum += (double)got[i * m + j];
                tap_near("weight", got[i * m + j], right[i * m + j], 1e-5,
                         1e-7);
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
        const int n = tap_int(1, MOST), m = tap_int(1, MOST);
        float *scores = room((size_t)(n * m));
        float *moved = room((size_t)(n * m));
        float *a = room((size_t)(n * m)), *b = room((size_t)(n * m));
        for (int i = 0; i < n; i++) {
            const float shift = tap_int(0, 1) ? 8 : -8;
            for (int j = 0; j < m; j++) {
                scores[i * m + j] = 0.25f * (float)tap_int(-100, 100);
                moved[i * m + j] = scores[i * m + j] + shift;
            }
        }
        mask_scores(n, m, 0, (void *)scores);
        mask_scores(n, m, 0, (void *)moved);
        softmax_rows(n, m, (void *)scores, (void *)a);
        softmax_rows(n, m, (void *)moved, (void *)b);
        for (int i = 0; i < n * m; i++)
            tap_near("weight", b[i], a[i], 0, 0);
    }
}

/* A window as long as the text is none; one word sees itself. */
static void window_from_one_to_all(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, MOST), m = tap_int(1, MOST);
        const int first = tap_int(-3, 3);
        float *scores = room((size_t)(n * m));
        float *a = room((size_t)(n * m)), *b = room((size_t)(n * m));
        tap_fill(n * m, scores, -5, 5);
        memcpy(a, scores, (size_t)(n * m) * sizeof *a);
        memcpy(b, scores, (size_t)(n * m) * sizeof *b);
        mask_scores(n, m, first, (void *)a);
        mask_window(n, m, first, round % 2 ? INT_MAX : n + m + 3,
                    (void *)b);
        for (int i = 0; i < n * m; i++)
            tap_near("all", b[i], a[i], 0, 0);
        memcpy(b, scores, (size_t)(n * m) * sizeof *b);
        mask_window(n, m, first, 1, (void *)b);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                tap_near("itself", b[i * m + j],
                         j == first + i ? (double)scores[i * m + j]
                                        : -INFINITY,
                         0, 0);
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

static void window_of(int w)
{
    float scores[1][1] = {{0}};
    mask_window(1, 1, 0, w, scores);
}
static void window_of_nothing(void)
{
    window_of(0);
}
static void window_of_less(void)
{
    window_of(-1);
}
static void window_of_least(void)
{
    window_of(INT_MIN);
}

static void gap_test(void)
{
    const Tensor *scores = part("visible"), *tolerance = part("tolerance");
    tap_near("gap",
             find_gap(scores->shape[0], floats(scores),
                      tensor_floats(tolerance)[0]),
             integer("gap"), 0, 0);
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

static const float two[2] = {0, 0.5f}, endless[2] = {0, INFINITY};
static const float bottomless[2] = {-INFINITY, 0}, none[2] = {0, NAN};
static void gap_below_0(void)
{
    find_gap(2, two, -1);
}
static void gap_no_number(void)
{
    find_gap(2, two, NAN);
}
static void gap_to_infinity(void)
{
    find_gap(2, endless, 0.5f);
}
static void gap_from_infinity(void)
{
    find_gap(2, bottomless, 0.5f);
}
static void gap_to_no_number(void)
{
    find_gap(2, none, 0.5f);
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
    SETS("mask_where", mask_where_by_place, MASKS);
    SETS("mask_where", mask_where_by_place, "odd");
    SETS("mask_where", mask_where_test, HIDINGS);
    SETS("masked_attention", attention_test, HEADS, "loud", "gap", "deep");
    TAP(blind_to_the_future,
        "masked_attention: later words change nothing");
    TAP(values_are_not_hidden,
        "masked_attention: a later value that is infinite");
    TAP(sees_itself, "masked_attention: itself and all before");
    TAP(same_as_shorter_texts, "masked_attention: as of shorter texts");
    SETS("mask_window", window_test, MASKS);
    TAP(window_from_one_to_all, "mask_window: from one word to all");
    tap_refuses(window_of_nothing, "mask_window: refuses a window of 0",
                "09_causal_mask.c",
                "a window of 0 words: at least 1 is needed");
    tap_refuses(window_of_less, "mask_window: refuses a window of -1",
                "09_causal_mask.c",
                "a window of -1 words: at least 1 is needed");
    tap_refuses(window_of_least, "mask_window: refuses the least window",
                "09_causal_mask.c",
                "a window of -2147483648 words: at least 1 is needed");
    TAP(window_far_away, "mask_window: places and windows without limits");
    SETS("find_gap", gap_test, GAPS);
    TAP(gap_of_nothing, "find_gap: from 0 on");
    TAP_LARGE(gap_free_test, "find_gap: gives its memory back");
    tap_refuses(gap_below_0, "find_gap: refuses a tolerance below 0",
                "09_causal_mask.c",
                "a tolerance of -1: 0 or more is needed");
    tap_refuses(gap_no_number, "find_gap: refuses a tolerance of NaN",
                "09_causal_mask.c",
                "a tolerance of nan: 0 or more is needed");
    tap_refuses(gap_to_infinity, "find_gap: refuses an endless score",
                "09_causal_mask.c",
                "visible score 1 is inf: a finite number is needed");
    tap_refuses(gap_from_infinity,
                "find_gap: refuses a score of minus infinity",
                "09_causal_mask.c",
                "visible score 0 is -inf: a finite number is needed");
    tap_refuses(gap_to_no_number, "find_gap: refuses a score of NaN",
                "09_causal_mask.c",
                "visible score 1 is nan: a finite number is needed");
    return tap_done();
}
