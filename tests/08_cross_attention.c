/* Chapter 8 against PyTorch: golden/08_cross_attention. */
#define CHAPTER "08_cross_attention"
#include "sets.h"

/* The two entries of each batch have the same matrices. */
#define BATCHES                                                            \
    "1x1x1x1x1x1_a", "1x1x1x1x1x1_b", "1x4x2x3x5x6_a", "1x4x2x3x5x6_b",    \
        "4x1x3x2x6x5_a", "4x1x3x2x6x5_b", "2x5x3x4x6x7_a",                 \
        "2x5x3x4x6x7_b", "5x3x7x2x4x6_a", "5x3x7x2x4x6_b",                 \
        "3x9x5x8x2x4_a", "3x9x5x8x2x4_b"
#define CROSSES "strangers", "same", BATCHES
#define MODULES "module_3x5x4x6", "module_6x2x3x2"
#define INITS "init_3x3x2x4", "init_2x5x3x4", "init_6x1x4x3"
#define ALIGNMENTS                                                         \
    "alignment_1x1", "alignment_1x7", "alignment_5x4", "alignment_4x9",    \
        "alignment_far"

#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7
/* Scores made by several sums in a row, and shares of such scores. */
#define LONG_RTOL 1e-5
#define LOUD_RTOL 3e-4 /* scores of some hundred */

/* An object with the matrices of the running set. */
static CrossAttention object(void)
{
    const Tensor *w_query = part("w_query"), *w_key = part("w_key");
    const Tensor *w_value = part("w_value");
    return (CrossAttention){w_query->shape[0], w_key->shape[0],
                            w_query->shape[1], w_value->shape[1],
                            floats(w_query),   floats(w_key),
                            floats(w_value)};
}

/* A trace in guarded arrays. */
static Trace space(int n, int m, int d_k, int d_v)
{
    return (Trace){n,
                   m,
                   d_k,
                   d_v,
                   room((size_t)(n * d_k)),
                   room((size_t)(m * d_k)),
                   room((size_t)(m * d_v)),
                   room((size_t)(n * m)),
                   room((size_t)(n * m)),
                   room((size_t)(n * d_v))};
}

static void forward_test(void)
{
    CrossAttention c = object();
    const Tensor *x_1 = part("x_1"), *x_2 = part("x_2");
    int n = x_1->shape[0], m = x_2->shape[0];
    Trace t = space(n, m, c.d_k, c.d_v);
    cross_attention_forward(&c, n, m, floats(x_1), floats(x_2), &t);
    tap_close("query", part("query"), t.query, SUM_RTOL, SUM_ATOL);
    tap_close("key", part("key"), t.key, SUM_RTOL, SUM_ATOL);
    tap_close("value", part("value"), t.value, SUM_RTOL, SUM_ATOL);
    tap_close("scores", part("scores"), t.scores, SUM_RTOL, SUM_ATOL);
    tap_close("weights", part("weights"), t.weights, LONG_RTOL,
              WEIGHT_ATOL);
    tap_close("context", part("context"), t.context, SUM_RTOL, SUM_ATOL);
}

static void loud_test(void)
{
    CrossAttention c = object();
    const Tensor *x_1 = part("x_1"), *x_2 = part("x_2");
    int n = x_1->shape[0], m = x_2->shape[0];
    Trace t = space(n, m, c.d_k, c.d_v);
    cross_attention_forward(&c, n, m, floats(x_1), floats(x_2), &t);
    tap_close("query", part("query"), t.query, SUM_RTOL, 1e-5);
    tap_close("key", part("key"), t.key, SUM_RTOL, 1e-5);
    tap_close("value", part("value"), t.value, SUM_RTOL, 1e-5);
    tap_close("scores", part("scores"), t.scores, SUM_RTOL, 1e-5);
    tap_close("weights", part("weights"), t.weights, LOUD_RTOL, 1e-6);
    tap_close("context", part("context"), t.context, LOUD_RTOL, 1e-4);
}

/* PyTorch's own class, which has widths of its own for keys and values. */
static void module_test(void)
{
    CrossAttention c = object();
    const Tensor *x_1 = part("x_1"), *x_2 = part("x_2");
    int n = x_1->shape[0], m = x_2->shape[0];
    Trace t = space(n, m, c.d_k, c.d_v);
    cross_attention_forward(&c, n, m, floats(x_1), floats(x_2), &t);
    tap_close("weights", part("weights"), t.weights, LONG_RTOL,
              WEIGHT_ATOL);
    tap_close("context", part("context"), t.context, SUM_RTOL, SUM_ATOL);
}

static void init_test(void)
{
    const Tensor *w_query = part("w_query"), *w_key = part("w_key");
    const Tensor *w_value = part("w_value"), *next = part("next");
    Random r;
    CrossAttention c;
    float after[1][3];
    random_seed(&r, (uint64_t)tensor_integers(part("seed"))[0]);
    cross_attention_init(&c, &r, w_query->shape[0], w_key->shape[0],
                         w_query->shape[1], w_value->shape[1]);
    rand_fill(&r, 1, 3, after);
    tap_true("sizes",
             c.d_1 == w_query->shape[0] && c.d_2 == w_key->shape[0] &&
                 c.d_k == w_key->shape[1] && c.d_v == w_value->shape[1]);
    tap_close("w_query", w_query, c.w_query, 0, 0);
    tap_close("w_key", w_key, c.w_key, 0, 0);
    tap_close("w_value", w_value, c.w_value, 0, 0);
    tap_close("what the stream has next", next, after, 0, 0);
    cross_attention_free(&c);
}

/* What is freed can be asked for again: 300 times a third of a megabyte does
 * not fit otherwise. */
static void free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(64);
    for (int i = 0; i < 300; i++) {
        CrossAttention c;
        cross_attention_init(&c, &r, 300, 300, 300, 300);
        cross_attention_free(&c);
        tap_true("freed", 1);
    }
}

/* Sizes of which one is below 1. */
static void init_with(int d_1, int d_2, int d_k, int d_v)
{
    Random r;
    CrossAttention c;
    random_seed(&r, 1);
    cross_attention_init(&c, &r, d_1, d_2, d_k, d_v);
}

static void init_d_1(void)
{
    init_with(0, 3, 4, 5);
}
static void init_d_2(void)
{
    init_with(2, 0, 4, 5);
}
static void init_d_k(void)
{
    init_with(2, 3, -1, 5);
}
static void init_d_v(void)
{
    init_with(2, 3, 4, 0);
}

/* With one input twice: self-attention, bit for bit. */
static void same_as_self(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 7), d = tap_int(1, 5);
        const int d_k = tap_int(1, 6), d_v = tap_int(1, 6);
        float *x = room((size_t)(n * d));
        tap_fill(n * d, x, -2, 2);
        Random r;
        SelfAttentionV1 one;
        CrossAttention c;
        random_seed(&r, (uint64_t)round);
        self_v1_init(&one, &r, d, d_k, d_v);
        random_seed(&r, (uint64_t)round);
        cross_attention_init(&c, &r, d, d, d_k, d_v);
        Trace t = space(n, n, d_k, d_v), own = space(n, n, d_k, d_v);
        self_v1_forward(&one, n, (void *)x, &own);
        cross_attention_forward(&c, n, n, (void *)x, (void *)x, &t);
        for (int i = 0; i < n * d_v; i++)
            tap_near("context", ((float *)t.context)[i],
                     ((float *)own.context)[i], 0, 0);
        self_v1_free(&one);
        cross_attention_free(&c);
    }
}

/* Row j of a table comes to row (j + shift) % m of the other. */
static void *turned(int m, int d, int shift, const float *x)
{
    float *y = room((size_t)(m * d));
    for (int j = 0; j < m; j++)
        memcpy(y + (j + shift) % m * d, x + j * d, (size_t)d * sizeof *x);
    return y;
}

static void same_mixture(int count, const void *got, const void *expect)
{
    const float *a = got, *b = expect;
    for (int i = 0; i < count; i++)
        tap_near("context", a[i], b[i], 1e-5, 1e-5);
}

/* Keys and values in another order, each key with its value: the weights in
 * that order, and the same context. */
static void pairs_in_any_order(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 12), m = tap_int(1, 12);
        const int d_k = tap_int(1, 6), d_v = tap_int(1, 6);
        const int shift = tap_int(0, m - 1);
        Trace a = space(n, m, d_k, d_v), b = space(n, m, d_k, d_v);
        tap_fill(n * d_k, a.query, -2, 2);
        tap_fill(m * d_k, a.key, -2, 2);
        tap_fill(m * d_v, a.value, -2, 2);
        attention(n, m, d_k, d_v, a.query, a.key, a.value, a.scores,
                  a.weights, a.context);
        attention(n, m, d_k, d_v, a.query, turned(m, d_k, shift, a.key),
                  turned(m, d_v, shift, a.value), b.scores, b.weights,
                  b.context);
        const float *weights = a.weights, *moved = b.weights;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                tap_near("weight", moved[i * m + (j + shift) % m],
                         weights[i * m + j], 1e-5, 1e-7);
        same_mixture(n * d_v, b.context, a.context);
    }
}

/* Tokens of the second input in another order: the same context. */
static void order_does_not_matter(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 12), m = tap_int(1, 12);
        const int d_1 = tap_int(1, 6), d_2 = tap_int(1, 6);
        const int d_k = tap_int(1, 6), d_v = tap_int(1, 6);
        float *x_1 = room((size_t)(n * d_1));
        float *x_2 = room((size_t)(m * d_2));
        tap_fill(n * d_1, x_1, -2, 2);
        tap_fill(m * d_2, x_2, -2, 2);
        Random r;
        CrossAttention c;
        random_seed(&r, (uint64_t)round);
        cross_attention_init(&c, &r, d_1, d_2, d_k, d_v);
        Trace a = space(n, m, d_k, d_v), b = space(n, m, d_k, d_v);
        cross_attention_forward(&c, n, m, (void *)x_1, (void *)x_2, &a);
        cross_attention_forward(&c, n, m, (void *)x_1,
                                turned(m, d_2, tap_int(0, m - 1), x_2), &b);
        same_mixture(n * d_v, b.context, a.context);
        cross_attention_free(&c);
    }
}

/* A trace for n queries, m keys, in a world of 2, 3, 4 and 5. */
static void refused(int n, int m, int d_k, int d_v, int which)
{
    static const float x_1[2][2], x_2[3][3];
    Random r;
    CrossAttention c;
    random_seed(&r, 1);
    cross_attention_init(&c, &r, 2, 3, 4, 5);
    Trace t = space(n, m, d_k, d_v);
    if (which == 0)
        cross_attention_forward(&c, 2, 3, x_1, x_2, &t);
    else if (which == 1)
        encode_once(&c, 3, x_2, &t);
    else
        ask_encoded(&c, x_1[0], &t);
}

static void forward_n(void)
{
    refused(3, 3, 4, 5, 0);
}
static void forward_m(void)
{
    refused(2, 2, 4, 5, 0);
}
static void forward_d_k(void)
{
    refused(2, 3, 5, 5, 0);
}
static void forward_d_v(void)
{
    refused(2, 3, 4, 4, 0);
}
static void encode_m(void)
{
    refused(1, 4, 4, 5, 1);
}
static void encode_d_k(void)
{
    refused(1, 3, 3, 5, 1);
}
static void encode_d_v(void)
{
    refused(1, 3, 4, 3, 1);
}
static void ask_many(void)
{
    refused(2, 3, 4, 5, 2);
}
static void ask_d_k(void)
{
    refused(1, 3, 3, 5, 2);
}
static void ask_d_v(void)
{
    refused(1, 3, 4, 6, 2);
}

/* Keys and values alone, in a trace for 1, 2 and 5 queries; nothing else of
 * the trace is touched. */
static void encode_test(void)
{
    CrossAttention c = object();
    const Tensor *x_2 = part("x_2");
    const int m = x_2->shape[0], queries[3] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        const int n = queries[i];
        Trace t = space(n, m, c.d_k, c.d_v);
        encode_once(&c, m, floats(x_2), &t);
        tap_close("key", part("key"), t.key, SUM_RTOL, SUM_ATOL);
        tap_close("value", part("value"), t.value, SUM_RTOL, SUM_ATOL);
        const float *query = t.query, *scores = t.scores;
        const float *weights = t.weights, *context = t.context;
        tap_near("query, untouched", query[n * c.d_k - 1], 1e30f, 0, 0);
        tap_near("scores, untouched", scores[n * m - 1], 1e30f, 0, 0);
        tap_near("weights, untouched", weights[0], 1e30f, 0, 0);
        tap_near("context, untouched", context[0], 1e30f, 0, 0);
    }
}

static void same_entries(const char *what, int n, const void *got,
                         const void *expect)
{
    const float *a = got, *b = expect;
    for (int i = 0; i < n; i++)
        tap_near(what, a[i], b[i], 0, 0);
}

/* One query at a time, from PyTorch's keys and values; the keys and values
 * stay what they are. */
static void ask_test(void)
{
    CrossAttention c = object();
    const Tensor *x_1 = part("x_1"), *key = part("key");
    const Tensor *value = part("value");
    const int n = x_1->shape[0], m = key->shape[0];
    float *k = rounded(key), *v = rounded(value), *x = floats(x_1);
    float *got[4] = {room((size_t)(n * c.d_k)), room((size_t)(n * m)),
                     room((size_t)(n * m)), room((size_t)(n * c.d_v))};
    Trace t = space(1, m, c.d_k, c.d_v);
    memcpy(t.key, k, key->count * sizeof *k);
    memcpy(t.value, v, value->count * sizeof *v);
    for (int i = 0; i < n; i++) {
        ask_encoded(&c, x + i * c.d_1, &t);
        memcpy(got[0] + i * c.d_k, t.query, (size_t)c.d_k * sizeof *k);
        memcpy(got[1] + i * m, t.scores, (size_t)m * sizeof *k);
        memcpy(got[2] + i * m, t.weights, (size_t)m * sizeof *k);
        memcpy(got[3] + i * c.d_v, t.context, (size_t)c.d_v * sizeof *k);
    }
    tap_close("query", part("query"), got[0], SUM_RTOL, SUM_ATOL);
    tap_close("scores", part("scores"), got[1], SUM_RTOL, SUM_ATOL);
    tap_close("weights", part("weights"), got[2], LONG_RTOL, WEIGHT_ATOL);
    tap_close("context", part("context"), got[3], SUM_RTOL, SUM_ATOL);
    same_entries("keys, untouched", (int)key->count, t.key, k);
    same_entries("values, untouched", (int)value->count, t.value, v);
}

static void alignment_test(void)
{
    const Tensor *shares = part("shares"), *place = part("place");
    int n = shares->shape[0], m = shares->shape[1];
    int *got = room((size_t)n);
    hard_alignment(n, m, floats(shares), got);
    for (int i = 0; i < n; i++)
        tap_near("place", got[i], (double)tensor_integers(place)[i], 0, 0);
}

static void alignment_of_odd_rows(void)
{
    enum { ROWS = 10 };
    const float rows[ROWS][3] = {
        {0.5f, 0.5f, 0},
        {0, 0.5f, 0.5f},
        {NAN, 0.25f, 0.75f},
        {0.75f, NAN, 0.25f},
        {-3, -1, -2},
        {0.2f, 0.3f, NAN},
        {NAN, -20, -30},
        {NAN, -INFINITY, -INFINITY},
        {-INFINITY, NAN, -FLT_MAX},
        {NAN, NAN, INFINITY},
    };
    const int expect[ROWS] = {0, 1, 2, 0, 1, 1, 1, 1, 2, 2};
    int got[ROWS];
    hard_alignment(ROWS, 3, rows, got);
    for (int i = 0; i < ROWS; i++)
        tap_near("place", got[i], expect[i], 0, 0);
}

static void alignment_of_no_first_number(void)
{
    const float rows[2][2] = {{NAN, NAN}, {0, 1}};
    int got[2];
    hard_alignment(2, 2, rows, got);
}

static void alignment_of_no_number(void)
{
    const float rows[2][2] = {{0, 1}, {NAN, NAN}};
    int got[2];
    hard_alignment(2, 2, rows, got);
}

int main(void)
{
    SETS("cross_attention_init", init_test, INITS);
    const char *const file = "argument.c";
    tap_refuses(
        init_d_1, "cross_attention_init: refuses a first width of 0", file,
        "a table of 0 times 4 numbers: at least 1 of each is needed");
    tap_refuses(
        init_d_2, "cross_attention_init: refuses a second width of 0", file,
        "a table of 0 times 4 numbers: at least 1 of each is needed");
    tap_refuses(
        init_d_k, "cross_attention_init: refuses a d_k of -1", file,
        "a table of 2 times -1 numbers: at least 1 of each is needed");
    tap_refuses(
        init_d_v, "cross_attention_init: refuses a d_v of 0", file,
        "a table of 3 times 0 numbers: at least 1 of each is needed");
    TAP_LARGE(free_test,
              "cross_attention_free: the memory can be used again");
    TAP(pairs_in_any_order, "attention: keys and values in any order");
    SETS("cross_attention_forward", forward_test, CROSSES);
    SETS("cross_attention_forward", loud_test, "loud");
    SETS("cross_attention_forward", module_test, MODULES);
    TAP(same_as_self, "cross_attention_forward: one input twice");
    TAP(order_does_not_matter,
        "cross_attention_forward: the second input in any order");
    tap_refuses(
        forward_n, "cross_attention_forward: refuses another n",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 3, 3, 4, 5: 2, 3, 4, 5 are needed");
    tap_refuses(
        forward_m, "cross_attention_forward: refuses another m",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 2, 2, 4, 5: 2, 3, 4, 5 are needed");
    tap_refuses(
        forward_d_k, "cross_attention_forward: refuses another d_k",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 2, 3, 5, 5: 2, 3, 4, 5 are needed");
    tap_refuses(
        forward_d_v, "cross_attention_forward: refuses another d_v",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 2, 3, 4, 4: 2, 3, 4, 5 are needed");
    SETS("encode_once", encode_test, CROSSES);
    tap_refuses(
        encode_m, "encode_once: refuses another m", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 1, 4, 4, 5: 1, 3, 4, 5 are needed");
    tap_refuses(
        encode_d_k, "encode_once: refuses another d_k",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 1, 3, 3, 5: 1, 3, 4, 5 are needed");
    tap_refuses(
        encode_d_v, "encode_once: refuses another d_v",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 1, 3, 4, 3: 1, 3, 4, 5 are needed");
    SETS("ask_encoded", ask_test, CROSSES);
    tap_refuses(
        ask_many, "ask_encoded: refuses a trace of two queries",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 2, 3, 4, 5: 1, 3, 4, 5 are needed");
    tap_refuses(
        ask_d_k, "ask_encoded: refuses another d_k", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 1, 3, 3, 5: 1, 3, 4, 5 are needed");
    tap_refuses(
        ask_d_v, "ask_encoded: refuses another d_v", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 1, 3, 4, 6: 1, 3, 4, 5 are needed");
    SETS("hard_alignment", alignment_test, ALIGNMENTS);
    TAP(alignment_of_odd_rows,
        "hard_alignment: ties, and NaN among others");
    tap_refuses(alignment_of_no_first_number,
                "hard_alignment: refuses a first row without a number",
                "08_cross_attention.c",
                "row 0 has no weight that is a number: one is needed");
    tap_refuses(alignment_of_no_number,
                "hard_alignment: refuses a row without a number",
                "08_cross_attention.c",
                "row 1 has no weight that is a number: one is needed");
    return tap_done();
}
