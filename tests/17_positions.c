/* Chapter 17 against PyTorch: golden/17_positions. */
#define CHAPTER "17_positions"
#include "sets.h"
#include "attention/17_positions.h"
#include "attention/01_dot_product.h"
#include "attention/07_self_attention.h"
#include "attention/13_multi_head.h"
#include "attention/kernel.h"

/* One table of a stack, to be changed in place. */
static void *copy_at(int place, const char *name, const float *stack, int k,
                     int n, int d)
{
    const size_t count = (size_t)n * (size_t)d;
    float *x = room_for(name, count);
    memcpy(x, stack + (size_t)k * count, count * sizeof *x);
    tap_give_array(place, name, 'f', 2, n, d, x);
    return x;
}
#define copy(name, stack, k, n, d)                                         \
    copy_at(__COUNTER__, name, stack, k, n, d)

/* The same table against one of a stack of answers. */
static void close_table(const char *name, const char *what, int k, int n,
                        int d, const float *got, double atol)
{
    const size_t count = (size_t)n * (size_t)d;
    const Tensor one = {.type = 'd',
                        .rank = 2,
                        .shape = {n, d},
                        .count = count,
                        .data =
                            (double *)doubles(what) + (size_t)k * count};
    tap_close(name, &one, got, 1e-5, atol);
}

static int first(void)
{
    return (int)*integers("first");
}

/* The first twenty rows and the last three, or all, where there are
 * fewer. */
static void sinusoids_test(void)
{
    const int n = (int)integers("size")[0], d = (int)integers("size")[1];
    const int end = dim("end", 0);
    float *got = room_for("position", (size_t)n * (size_t)d);
    give("n = %d, d = %d", n, d);
    sinusoids(n, d, (void *)got);
    close_table("position", "begin", 0, dim("begin", 0), d, got, 1e-6);
    close_table("last rows", "end", 0, end, d, got + (n - end) * d, 1e-6);
}

/* What is there is written over, not added to. */
static void sinusoids_twice(void)
{
    float got[3][4] = {{0}}, again[3][4];
    give("n = 3, d = 4, and position from a call before");
    sinusoids(3, 4, got);
    memcpy(again, got, sizeof got);
    sinusoids(3, 4, again);
    same_table("position", 3, 4, again, got);
}

/* How alike two places are depends on their distance alone. */
static void sinusoids_alike(void)
{
    enum { N = 400, D = 12 };
    float(*place)[D] = room(N * D);
    sinusoids(N, D, place);
    for (int k = 0; k < 50; k++) {
        const int apart = tap_int(0, 99), at = tap_int(0, N - 100);
        tap_near(tap_words("places %d and %d", at, at + apart),
                 dot(D, place[at], place[at + apart]),
                 dot(D, place[0], place[apart]), 0, 2e-6);
    }
}

static void add_test(void)
{
    const int n = dim("x", 1), d = dim("x", 2);
    for (int b = 0; b < dim("x", 0); b++) {
        next_case();
        give("n = %d, d = %d, length = %d, first = %d", n, d,
             dim("position", 0), first());
        float *x = copy("x", input("x"), b, n, d);
        add_positions(n, d, dim("position", 0), first(), input("position"),
                      (void *)x);
        close_table("x", "sum", b, n, d, x, 1e-7);
    }
}

static void rotate_as(Pairing pairing, const char *name, const char *what)
{
    const int n = dim("x", 2), d = dim("x", 3);
    for (int k = 0; k < dim("x", 0) * dim("x", 1); k++) {
        next_case();
        give("pairing = %s, n = %d, d = %d, first = %d", name, n, d,
             first());
        float *x = copy("x", floats(part("x")), k, n, d);
        rope(pairing, n, d, first(), (void *)x);
        close_table("x", what, k, n, d, x, 1e-6);
    }
}

static void halves_test(void)
{
    rotate_as(PAIRING_HALVES, "PAIRING_HALVES", "halves");
}

static void neighbours_test(void)
{
    rotate_as(PAIRING_NEIGHBOURS, "PAIRING_NEIGHBOURS", "neighbours");
}

/* A query and a key at any two places, and both moved along. */
static void rotate_moved(void)
{
    enum { D = 10 };
    for (int k = 0; k < 60; k++) {
        const Pairing pairing = k % 2 ? PAIRING_HALVES : PAIRING_NEIGHBOURS;
        const int from = tap_int(0, 50), to = tap_int(0, 50);
        const int far = tap_int(0, 10000);
        float query[2][D], key[2][D];
        tap_fill(D, query[0], -2, 2);
        tap_fill(D, key[0], -2, 2);
        memcpy(query[1], query[0], sizeof *query);
        memcpy(key[1], key[0], sizeof *key);
        next_case();
        give("pairing = %s",
             pairing ? "PAIRING_NEIGHBOURS" : "PAIRING_HALVES");
        give("query at %d and key at %d, or both %d places on", from, to,
             far);
        for (int i = 0; i < 2; i++) {
            rope(pairing, 1, D, from + i * far, query + i);
            rope(pairing, 1, D, to + i * far, key + i);
        }
        tap_near("score, moved along", dot(D, query[1], key[1]),
                 dot(D, query[0], key[0]), 0, 2e-5);
        tap_near("length", length(D, query[0]), length(D, query[1]), 0,
                 1e-5);
    }
}

/* A text in two pieces is turned as in one. */
static void rotate_cut(void)
{
    enum { N = 9, D = 6 };
    float whole[N][D], pieces[N][D];
    tap_fill(N * D, (void *)whole, -2, 2);
    memcpy(pieces, whole, sizeof whole);
    give("n = %d, d = %d, in one piece and cut after 4", N, D);
    rope(PAIRING_HALVES, N, D, 0, whole);
    rope(PAIRING_HALVES, 4, D, 0, pieces);
    rope(PAIRING_HALVES, N - 4, D, 4, pieces + 4);
    same_table("x", N, D, pieces, whole);
}

/* Its hands go the other way: place i, turned by m, is place i - m. */
static void rotate_sinusoids(void)
{
    enum { N = 30, D = 8 };
    float place[N][D], turned[1][D];
    sinusoids(N, D, place);
    for (int m = 0; m < N; m++) {
        memcpy(turned, place + N - 1, sizeof turned);
        rope(PAIRING_NEIGHBOURS, 1, D, m, turned);
        similar(tap_words("place %d, turned by %d", N - 1, m), D, turned[0],
                place[N - 1 - m], 0, 1e-6);
    }
}

static void slope_test(void)
{
    const int heads = dim("slopes", 0);
    float *got = result("slopes");
    for (int h = 0; h < heads; h++)
        got[h] = alibi_slope(heads, h);
    agrees("slopes", got, 1e-7, 0);
}

static void distances_test(void)
{
    const int heads = dim("scores", 0), n = dim("scores", 1);
    const int m = dim("scores", 2);
    for (int h = 0; h < heads; h++) {
        const float slope = (float)doubles("slopes")[h];
        next_case();
        give("n = %d, m = %d, first = %d, slope = %g", n, m, first(),
             (double)slope);
        float *scores = copy("scores", floats(part("scores")), h, n, m);
        add_alibi(n, m, first(), slope, (void *)scores);
        close_table("scores", "lowered", h, n, m, scores, 1e-6);
    }
}

/* What is hidden stays hidden, and nothing becomes a number that is
 * none. */
static void distances_hidden(void)
{
    float scores[2][3] = {{-INFINITY, 1, NAN}, {2, -INFINITY, 3}};
    const float right[2][3] = {{-INFINITY, 1, NAN}, {1, -INFINITY, 3}};
    give_table("scores", 2, 3, scores);
    give("first = 1, slope = 0.5");
    add_alibi(2, 3, 1, 0.5f, scores);
    same_table("scores", 2, 3, scores, right);
}

/* No place is so far that a sum with it would not fit. */
static void distances_far(void)
{
    float scores[2][2] = {{0}}, below[2][2] = {{0}};
    const float right[2][2] = {{-0x1p30f, -0x1p30f}, {-0x1p30f, -0x1p30f}};
    give("n = 2, m = 2, slope = 0.5, scores of 0");
    give("first = INT_MAX, and then INT_MIN");
    add_alibi(2, 2, INT_MAX, 0.5f, scores);
    same_table("scores", 2, 2, scores, right);
    add_alibi(2, 2, INT_MIN, 0.5f, below);
    same_table("scores", 2, 2, below, right);
}

/* All heads of all texts by the kernel, with distances for a bias. */
static void bias_test(void)
{
    const int texts = dim("query", 0), heads = dim("query", 1);
    const int n = dim("query", 2), m = dim("key", 2);
    float *bias = room((size_t)(heads * n * m));
    float *context = result("context");
    memset(bias, 0, (size_t)(heads * n * m) * sizeof *bias);
    for (int h = 0; h < heads; h++)
        add_alibi(n, m, first(), alibi_slope(heads, h),
                  (void *)(bias + h * n * m));
    tap_close("bias", part("bias"), bias, 1e-6, 1e-6);
    AttentionCall call = {.texts = texts,
                          .n_heads = heads,
                          .n = n,
                          .m = m,
                          .d_k = dim("key", 3),
                          .d_v = dim("value", 3)};
    call.query = rows_by_head(heads, n, call.d_k, floats(part("query")));
    call.key = rows_by_head(heads, m, call.d_k, floats(part("key")));
    call.value = rows_by_head(heads, m, call.d_v, floats(part("value")));
    call.context = rows_by_head(heads, n, call.d_v, context);
    call.bias = rows_by_head(heads, n, m, bias);
    call.bias.text_stride = 0; /* texts share it */
    attend_fast(&call);
    agrees("context", context, 1e-5, 2e-6);
}

static void reordered_test(void)
{
    const int64_t *size = integers("sizes");
    const int heads = (int)size[0], d_k = (int)size[1], d_in = (int)size[2];
    float *got = result("reordered");
    give("n_heads = %d, d_k = %d, d_in = %d", heads, d_k, d_in);
    halves_from_neighbours(heads, d_k, d_in, input("weight"), (void *)got);
    agrees("reordered", got, 0, 0);
}

/* The scores of all heads of a text, with weights for this pairing. */
static void scores_of(Pairing pairing, int b, int d_k, float *query_weight,
                      float *key_weight)
{
    const int heads = dim("scores", 1), n = dim("x", 1), d = dim("x", 2);
    const int all = heads * d_k;
    const float *x = (const float *)floats(part("x")) + b * n * d;
    float *side[2] = {room((size_t)(n * all)), room((size_t)(n * all))};
    float *head[2] = {room((size_t)(n * all)), room((size_t)(n * all))};
    float *scores = room((size_t)(n * n));
    for (int k = 0; k < 2; k++) {
        const Linear layer = {d, all, k ? key_weight : query_weight, NULL};
        linear_forward(&layer, n, (const void *)x, (void *)side[k]);
        split_heads(n, heads, d_k, (void *)side[k], (void *)head[k]);
    }
    for (int h = 0; h < heads; h++) {
        for (int k = 0; k < 2; k++)
            rope(pairing, n, d_k, first(), (void *)(head[k] + h * n * d_k));
        dot_scores(n, n, d_k, (void *)(head[0] + h * n * d_k),
                   (void *)(head[1] + h * n * d_k), (void *)scores);
        close_table("scores", "scores", b * heads + h, n, n, scores, 1e-5);
    }
}

static void as_neighbours(void)
{
    const int d_k = dim("query_weight", 0) / dim("scores", 1);
    for (int b = 0; b < dim("x", 0); b++)
        scores_of(PAIRING_NEIGHBOURS, b, d_k, input("query_weight"),
                  input("key_weight"));
}

static void as_halves(void)
{
    const int heads = dim("scores", 1), d_in = dim("x", 2);
    const int d_k = dim("query_weight", 0) / heads;
    float *query = result("query_weight"), *key = result("key_weight");
    halves_from_neighbours(heads, d_k, d_in, input("query_weight"),
                           (void *)query);
    halves_from_neighbours(heads, d_k, d_in, input("key_weight"),
                           (void *)key);
    for (int b = 0; b < dim("x", 0); b++)
        scores_of(PAIRING_HALVES, b, d_k, query, key);
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
    REFUSES_SUCH("a text from place -1 on",
                 rope(PAIRING_NEIGHBOURS, 4, 4, less, x));
    REFUSES_SUCH("a pairing that there is not",
                 rope((Pairing)odd, 4, 4, 0, x));
    REFUSES(
        "17_positions.c: add_positions: 4 places from -1 on, of a table of "
        "4: 0 to 3 have a row",
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
    EACH("sinusoids", sinusoids_test, "sinusoids_*-begin");
    TAP(sinusoids_twice, "sinusoids: what was there does not matter");
    TAP(sinusoids_alike, "sinusoids: the distance decides");
    EACH("add_positions", add_test, "added_*-sum");
    EACH("rope: halves", halves_test, "rotated_*-halves");
    EACH("rope: neighbours", neighbours_test, "rotated_*-neighbours");
    TAP(rotate_moved, "rope: the distance decides");
    TAP(rotate_cut, "rope: a text in pieces");
    TAP(rotate_sinusoids, "rope: what it makes of sinusoids");
    EACH("rope: scores", as_neighbours, "llama_*-scores");
    EACH("alibi_slope", slope_test, "*-slopes");
    EACH("add_alibi", distances_test, "*-lowered");
    TAP(distances_hidden, "add_alibi: what is hidden");
    TAP(distances_far, "add_alibi: the farthest places");
    EACH("add_alibi: as a bias", bias_test, "*-bias");
    EACH("halves_from_neighbours", reordered_test, "*-reordered");
    EACH("halves_from_neighbours: scores", as_halves, "llama_*-scores");
    refusals();
    return tap_done();
}
