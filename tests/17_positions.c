/* Chapter 17 against PyTorch: golden/17_positions. */
#define CHAPTER "17_positions"
#include "calls.h"
#include "attention/17_positions.h"
#include "attention/01_dot_product.h"
#include "attention/07_self_attention.h"
#include "attention/13_multi_head.h"

static int first(const char *set)
{
    return (int)input_number(set, "first", "first");
}

/* The first twenty rows and the last three, or all, where there are
 * fewer. */
static void sinusoids_test(const char *set)
{
    const int *size = golden_ints(set, "size"), n = size[0], d = size[1];
    float *got = guarded("position", (size_t)(n * d));
    given("n = %d, d = %d", n, d);
    sinusoids(n, d, (void *)got);
    expect_close("position", got, golden(set, "begin"), 1e-5, 1e-6);
    expect_close("last rows", got + (n - dim(set, "end", 0)) * d,
                 golden(set, "end"), 1e-5, 1e-6);
}

static void add_test(const char *set)
{
    const int n = dim(set, "x", 1), d = dim(set, "x", 2);
    float *x = changed(set, "x", "sum", 1e-5, 1e-7);
    for (int b = 0; b < dim(set, "x", 0); b++)
        add_positions(n, d, dim(set, "position", 0), first(set),
                      input(set, "position"), (void *)(x + b * n * d));
}

static void rotate_test(const char *set, Pairing pairing, const char *what)
{
    const int n = dim(set, "x", 2), d = dim(set, "x", 3);
    float *x = changed(set, "x", what, 1e-5, 1e-6);
    given("pairing = %s", what);
    for (int k = 0; k < dim(set, "x", 0) * dim(set, "x", 1); k++)
        rope(pairing, n, d, first(set), (void *)(x + k * n * d));
}

static void slope_test(const char *set)
{
    float *slopes = due(set, "slopes", 1e-7, 0);
    for (int h = 0; h < dim(set, "slopes", 0); h++)
        slopes[h] = alibi_slope(dim(set, "slopes", 0), h);
}

static void distances_test(const char *set)
{
    const int n = dim(set, "scores", 1), m = dim(set, "scores", 2);
    const float *slope = input(set, "slopes");
    float *scores = changed(set, "scores", "lowered", 1e-5, 1e-6);
    for (int h = 0; h < dim(set, "scores", 0); h++)
        add_alibi(n, m, first(set), slope[h], (void *)(scores + h * n * m));
}

/* What is hidden stays hidden, and nothing becomes a number that is none;
 * no place is so far that a sum with it would not fit. */
static void distances_odd(void)
{
    const float due[2][2] = {{-INFINITY, NAN}, {1.5f, -INFINITY}};
    const float lowest[2][2] = {{-0x1p30f, -0x1p30f}, {-0x1p30f, -0x1p30f}};
    const int far[2] = {INT_MAX, INT_MIN};
    float scores[2][2] = {{-INFINITY, NAN}, {2, -INFINITY}};
    given("first = 0, slope = 0.5");
    given_array("scores", scores, 2, 2);
    add_alibi(2, 2, 0, 0.5f, scores);
    expect_table("scores", 2, 2, scores, due, EXACTLY);
    for (int k = 0; k < 2; k++) {
        memset(scores, 0, sizeof scores);
        next_case();
        given("first = %d, slope = 0.5, scores of 0", far[k]);
        add_alibi(2, 2, far[k], 0.5f, scores);
        expect_table("scores", 2, 2, scores, lowest, EXACTLY);
    }
}

/* All heads of all texts by the kernel, with distances for a bias, which
 * texts share. */
static void bias_test(const char *set)
{
    AttentionCall call = call_of_set(set);
    const int heads = call.n_heads, n = call.n, m = call.m;
    float *bias = added(set, "bias", 0, 1e-6, 1e-6);
    for (int h = 0; h < heads; h++)
        add_alibi(n, m, first(set), alibi_slope(heads, h),
                  (void *)(bias + h * n * m));
    call.bias = (StridedRows){bias, 0, n * m, m};
    call.context =
        rows_by_head(heads, n, call.d_v, due(set, "context", 1e-5, 2e-6));
    attend_fast(&call);
}

static void reordered_test(const char *set)
{
    const int *size = golden_ints(set, "sizes");
    const int heads = size[0], d_k = size[1], d_in = size[2];
    given("n_heads = %d, d_k = %d, d_in = %d", heads, d_k, d_in);
    halves_from_neighbours(heads, d_k, d_in, input(set, "weight"),
                           due(set, "reordered", EXACTLY));
}

/* The scores of all heads with the other weights and the other pairing are
 * those that the model was trained with. */
static void as_halves(const char *set)
{
    const int heads = dim(set, "scores", 1), n = dim(set, "x", 1),
              d = dim(set, "x", 2);
    const int wide = dim(set, "query_weight", 0), d_k = wide / heads;
    const char *const name[2] = {"query_weight", "key_weight"};
    float *scores = due(set, "scores", 1e-5, 1e-5), *head[2];
    for (int b = 0; b < dim(set, "x", 0); b++) {
        for (int k = 0; k < 2; k++) {
            void *weight = guarded(name[k], (size_t)(wide * d));
            void *rows = guarded("rows", (size_t)(n * wide));
            head[k] = guarded("heads", (size_t)(n * wide));
            halves_from_neighbours(heads, d_k, d, input(set, name[k]),
                                   weight);
            const Linear layer = {d, wide, weight, NULL};
            linear_forward(&layer, n, input_entry(set, "x", b), rows);
            split_heads(n, heads, d_k, rows, (void *)head[k]);
            for (int h = 0; h < heads; h++)
                rope(PAIRING_HALVES, n, d_k, first(set),
                     (void *)(head[k] + h * n * d_k));
        }
        for (int h = 0; h < heads; h++, scores += n * n)
            dot_scores(n, n, d_k, (void *)(head[0] + h * n * d_k),
                       (void *)(head[1] + h * n * d_k), (void *)scores);
    }
}

static void refusals(void)
{
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int odd = 3, less = -1, none = 0;
    static float x[4][4], y[4][4], odd_x[4][3];
    REFUSES("17_positions.c: pairs_check: rows of 3 entries: an even "
            "number is needed, for pairs",
            pairs_check(odd));
    REFUSES_SUCH("an odd number of entries", sinusoids(4, odd, odd_x));
    REFUSES_SUCH("an odd number of entries",
                 rope(PAIRING_HALVES, 4, odd, 0, odd_x));
    REFUSES_SUCH("a text from position -1 on",
                 rope(PAIRING_NEIGHBOURS, 4, 4, less, x));
    REFUSES_SUCH("a pairing that there is not",
                 rope((Pairing)odd, 4, 4, 0, x));
    REFUSES("17_positions.c: add_positions: 4 positions from -1 on: a "
            "table of 4 has 0 to 3",
            add_positions(4, 4, 4, less, (const void *)y, x));
    REFUSES(NULL, add_positions(2, 4, 4, odd, (const void *)y, x));
    REFUSES(NULL, add_positions(2, 4, 4, INT_MAX, (const void *)y, x));
    REFUSES("17_positions.c: alibi_slope: head 3 of 3: from 0 to 2 is "
            "needed",
            alibi_slope(odd, odd));
    REFUSES(NULL, alibi_slope(8, less));
    REFUSES(NULL, alibi_slope(none, 0));
    REFUSES_SUCH("an odd head",
                 halves_from_neighbours(1, odd, 4, (const void *)y, x));
}

int main(void)
{
    EACH_SET("sinusoids", "sinusoids_*-begin", sinusoids_test(set));
    EACH_SET("add_positions", "added_*-sum", add_test(set));
    EACH_SET("rope: halves", "rotated_*-halves",
             rotate_test(set, PAIRING_HALVES, "halves"));
    EACH_SET("rope: neighbours", "rotated_*-neighbours",
             rotate_test(set, PAIRING_NEIGHBOURS, "neighbours"));
    EACH_SET("alibi_slope", "*-slopes", slope_test(set));
    EACH_SET("add_alibi", "*-lowered", distances_test(set));
    TAP("add_alibi: what is hidden, and the farthest places",
        distances_odd());
    EACH_SET("add_alibi: as a bias", "*-bias", bias_test(set));
    EACH_SET("halves_from_neighbours", "*-reordered", reordered_test(set));
    EACH_SET("halves_from_neighbours: scores", "llama_*-scores",
             as_halves(set));
    refusals();
    return tap_done();
}
