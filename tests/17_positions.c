/* Chapter 17 against PyTorch: golden/17_positions. */
#define CHAPTER "17_positions"
#include "golden.h"
#include "attention/17_positions.h"
#include "attention/01_dot_product.h"
#include "attention/07_self_attention.h"
#include "attention/13_multi_head.h"
#include "attention/kernel.h"
#include "attention/strided_rows.h"

/* One table of a stack, to be changed in place. */
static void *copy_at(int place, const char *name, const float *stack, int k,
                     int n, int d)
{
    const size_t count = (size_t)n * (size_t)d;
    float *x = guarded(name, count);
    memcpy(x, stack + (size_t)k * count, count * sizeof *x);
    tap_give_array(place, name, 'f', x, 2, (int[]){n, d});
    return x;
}
#define copy(name, stack, k, n, d)                                         \
    copy_at(__COUNTER__, name, stack, k, n, d)

/* The same table against one of a stack of answers. */
static void close_table(const char *set, const char *name, const char *what,
                        int k, int n, int d, const float *got, double atol)
{
    const size_t count = (size_t)n * (size_t)d;
    const Tensor one = {.type = 'd',
                        .rank = 2,
                        .shape = {n, d},
                        .count = count,
                        .data = (double *)golden_doubles(set, what) +
                                (size_t)k * count};
    expect_close(name, got, &one, 1e-5, atol);
}

static int first(const char *set)
{
    return (int)*golden_integers(set, "first");
}

/* The first twenty rows and the last three, or all, where there are
 * fewer. */
static void sinusoids_test(const char *set)
{
    const int n = (int)golden_integers(set, "size")[0],
              d = (int)golden_integers(set, "size")[1];
    const int end = dim(set, "end", 0);
    float *got = guarded("position", (size_t)n * (size_t)d);
    given("n = %d, d = %d", n, d);
    sinusoids(n, d, (void *)got);
    close_table(set, "position", "begin", 0, dim(set, "begin", 0), d, got,
                1e-6);
    close_table(set, "last rows", "end", 0, end, d, got + (n - end) * d,
                1e-6);
}

static void add_test(const char *set)
{
    const int n = dim(set, "x", 1), d = dim(set, "x", 2);
    for (int b = 0; b < dim(set, "x", 0); b++) {
        next_case();
        given("n = %d, d = %d, length = %d, first = %d", n, d,
              dim(set, "position", 0), first(set));
        float *x = copy("x", input(set, "x"), b, n, d);
        add_positions(n, d, dim(set, "position", 0), first(set),
                      input(set, "position"), (void *)x);
        close_table(set, "x", "sum", b, n, d, x, 1e-7);
    }
}

static void rotate_as(const char *set, Pairing pairing, const char *name,
                      const char *what)
{
    const int n = dim(set, "x", 2), d = dim(set, "x", 3);
    for (int k = 0; k < dim(set, "x", 0) * dim(set, "x", 1); k++) {
        next_case();
        given("pairing = %s, n = %d, d = %d, first = %d", name, n, d,
              first(set));
        float *x = copy("x", golden_floats(set, "x"), k, n, d);
        rope(pairing, n, d, first(set), (void *)x);
        close_table(set, "x", what, k, n, d, x, 1e-6);
    }
}

static void halves_test(const char *set)
{
    rotate_as(set, PAIRING_HALVES, "PAIRING_HALVES", "halves");
}

static void neighbours_test(const char *set)
{
    rotate_as(set, PAIRING_NEIGHBOURS, "PAIRING_NEIGHBOURS", "neighbours");
}

static void slope_test(const char *set)
{
    const int heads = dim(set, "slopes", 0);
    float *got = guarded("slopes", golden_count(set, "slopes"));
    for (int h = 0; h < heads; h++)
        got[h] = alibi_slope(heads, h);
    expect_close("slopes", got, golden(set, "slopes"), 1e-7, 0);
}

static void distances_test(const char *set)
{
    const int heads = dim(set, "scores", 0), n = dim(set, "scores", 1);
    const int m = dim(set, "scores", 2);
    for (int h = 0; h < heads; h++) {
        const float slope = (float)golden_doubles(set, "slopes")[h];
        next_case();
        given("n = %d, m = %d, first = %d, slope = %g", n, m, first(set),
              (double)slope);
        float *scores =
            copy("scores", golden_floats(set, "scores"), h, n, m);
        add_alibi(n, m, first(set), slope, (void *)scores);
        close_table(set, "scores", "lowered", h, n, m, scores, 1e-6);
    }
}

/* What is hidden stays hidden, and nothing becomes a number that is none;
 * no place is so far that a sum with it would not fit. */
static void distances_odd(void)
{
    static const struct {
        int first;
        float scores[2][2], due[2][2];
    } odd[] = {
        {0,
         {{-INFINITY, NAN}, {2, -INFINITY}},
         {{-INFINITY, NAN}, {1.5f, -INFINITY}}},
        {INT_MAX, {{0}}, {{-0x1p30f, -0x1p30f}, {-0x1p30f, -0x1p30f}}},
        {INT_MIN, {{0}}, {{-0x1p30f, -0x1p30f}, {-0x1p30f, -0x1p30f}}},
    };
    for (int k = 0; k < 3; k++) {
        float scores[2][2];
        memcpy(scores, odd[k].scores, sizeof scores);
        next_case();
        given("first = %d, slope = 0.5", odd[k].first);
        given_array("scores", odd[k].scores, 2, 2);
        add_alibi(2, 2, odd[k].first, 0.5f, scores);
        expect_table("scores", 2, 2, scores, odd[k].due, EXACTLY);
    }
}

/* All heads of all texts by the kernel, with distances for a bias, which
 * texts share. */
static void bias_test(const char *set)
{
    const int heads = dim(set, "query", 1), n = dim(set, "query", 2);
    const int m = dim(set, "key", 2), d_k = dim(set, "key", 3),
              d_v = dim(set, "value", 3);
    float *bias = guarded("bias", golden_count(set, "bias")),
          *context = guarded("context", golden_count(set, "context"));
    memset(bias, 0, golden(set, "bias")->count * sizeof *bias);
    for (int h = 0; h < heads; h++)
        add_alibi(n, m, first(set), alibi_slope(heads, h),
                  (void *)(bias + h * n * m));
    expect_close("bias", bias, golden(set, "bias"), 1e-6, 1e-6);
    attend_fast(&(AttentionCall){
        .texts = dim(set, "query", 0),
        .n_heads = heads,
        .n = n,
        .m = m,
        .d_k = d_k,
        .d_v = d_v,
        .query = rows_by_head(heads, n, d_k, input(set, "query")),
        .key = rows_by_head(heads, m, d_k, input(set, "key")),
        .value = rows_by_head(heads, m, d_v, input(set, "value")),
        .context = rows_by_head(heads, n, d_v, context),
        .bias = {bias, 0, n * m, m}});
    expect_close("context", context, golden(set, "context"), 1e-5, 2e-6);
}

static void reordered_test(const char *set)
{
    const int64_t *size = golden_integers(set, "sizes");
    const int heads = (int)size[0], d_k = (int)size[1], d_in = (int)size[2];
    float *got = guarded("reordered", golden_count(set, "reordered"));
    given("n_heads = %d, d_k = %d, d_in = %d", heads, d_k, d_in);
    halves_from_neighbours(heads, d_k, d_in, input(set, "weight"),
                           (void *)got);
    expect_close("reordered", got, golden(set, "reordered"), 0, 0);
}

/* The scores of all heads with the other weights and the other pairing are
 * those that the model was trained with. */
static void as_halves(const char *set)
{
    const int heads = dim(set, "scores", 1), n = dim(set, "x", 1),
              d = dim(set, "x", 2);
    const int all = dim(set, "query_weight", 0), d_k = all / heads;
    const float *x = golden_floats(set, "x");
    float *weight[2] = {
        guarded("query_weight", golden_count(set, "query_weight")),
        guarded("key_weight", golden_count(set, "key_weight"))};
    float *side = guarded("an array", (size_t)(n * all));
    float *head[2] = {guarded("an array", (size_t)(n * all)),
                      guarded("an array", (size_t)(n * all))};
    float *scores = guarded("an array", (size_t)(n * n));
    halves_from_neighbours(heads, d_k, d, input(set, "query_weight"),
                           (void *)weight[0]);
    halves_from_neighbours(heads, d_k, d, input(set, "key_weight"),
                           (void *)weight[1]);
    for (int b = 0; b < dim(set, "x", 0); b++) {
        for (int k = 0; k < 2; k++) {
            const Linear layer = {d, all, weight[k], NULL};
            linear_forward(&layer, n, (const void *)(x + b * n * d),
                           (void *)side);
            split_heads(n, heads, d_k, (void *)side, (void *)head[k]);
        }
        for (int h = 0; h < heads; h++) {
            float *query = head[0] + h * n * d_k,
                  *key = head[1] + h * n * d_k;
            rope(PAIRING_HALVES, n, d_k, first(set), (void *)query);
            rope(PAIRING_HALVES, n, d_k, first(set), (void *)key);
            dot_scores(n, n, d_k, (void *)query, (void *)key,
                       (void *)scores);
            close_table(set, "scores", "scores", b * heads + h, n, n,
                        scores, 1e-5);
        }
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
            "table of 4 "
            "has 0 to 3",
            add_positions(4, 4, 4, less, (const void *)y, x));
    REFUSES(NULL, add_positions(2, 4, 4, odd, (const void *)y, x));
    REFUSES(NULL, add_positions(4, 4, odd, none, (const void *)y, x));
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
    EACH_SET("rope: halves", "rotated_*-halves", halves_test(set));
    EACH_SET("rope: neighbours", "rotated_*-neighbours",
             neighbours_test(set));
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
