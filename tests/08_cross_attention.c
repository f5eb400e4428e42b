/* Chapter 8 against PyTorch: golden/08_cross_attention. */
#define CHAPTER "08_cross_attention"
#include "traces.h"

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
#define WEIGHT_ATOL 1e-7
/* Scores made by several sums in a row, and shares of such scores. */
#define LONG_RTOL 1e-5
#define LOUD_RTOL 3e-4 /* scores of some hundred */

/* The layer of a matrix, which it holds turned over. */
static Linear turned(const char *name)
{
    const Tensor *w = part(name);
    const int d_in = w->shape[0], d_out = w->shape[1];
    float *weight = room(w->count);
    transpose(d_in, d_out, floats(w), (void *)weight);
    return (Linear){d_in, d_out, weight, NULL};
}

/* An attention with the matrices of the running set. */
static Attention object(void)
{
    Attention a = {.n_heads = 1,
                   .query = turned("w_query"),
                   .key = turned("w_key"),
                   .value = turned("w_value")};
    a.d_x = a.query.d_in;
    a.d_y = a.key.d_in;
    a.d_k = a.query.d_out;
    a.d_v = a.out.d_in = a.value.d_out;
    return a;
}

/* Of its own class, which has widths of its own for keys and values,
 * PyTorch gives weights and context alone. */
static void forward_test(void)
{
    const Attention a = object();
    const int n = dim("x_1", 0), m = dim("x_2", 0);
    Trace t = roomy(&a, n, m);
    cross_attention_forward(&a, n, m, input("x_1"), input("x_2"), &t);
    const bool is_loud = !strcmp(sets_now, "loud");
    const double atol = is_loud ? 1e-5 : SUM_ATOL;
    if (strncmp(sets_now, "module", 6) != 0) {
        agrees("query", t.query, SUM_RTOL, atol);
        agrees("key", t.key, SUM_RTOL, atol);
        agrees("value", t.value, SUM_RTOL, atol);
        agrees("scores", t.scores, SUM_RTOL, atol);
    }
    agrees("weights", t.weights, is_loud ? LOUD_RTOL : LONG_RTOL,
           is_loud ? 1e-6 : WEIGHT_ATOL);
    agrees("context", t.context, is_loud ? LOUD_RTOL : SUM_RTOL,
           is_loud ? 1e-4 : SUM_ATOL);
}

static void same_layer(const Linear *l, const Linear *expect)
{
    same("weight", (size_t)(expect->d_in * expect->d_out), l->weight,
         expect->weight);
    tap_true("no bias", !l->bias);
}

static void init_test(void)
{
    const Attention like = object();
    Random r;
    Attention a;
    float after[1][3];
    random_seed(&r, (uint64_t)*integers("seed"));
    cross_attention_init(&a, &r, like.d_x, like.d_y, like.d_k, like.d_v);
    rand_fill(&r, 1, 3, after);
    agrees("next", after[0], 0, 0);
    tap_true("widths", a.d_x == like.d_x && a.d_y == like.d_y);
    attention_must_fit(&a, 2, 3, sized(2, 3, 1, like.d_k, like.d_v, 0));
    same_layer(&a.query, &like.query);
    same_layer(&a.key, &like.key);
    same_layer(&a.value, &like.value);
    attention_free(&a);
}

/* What rand_fill draws, turned over. */
static void turned_test(void)
{
    for (int round = 0; round < 20; round++) {
        const int d_in = tap_int(1, 7), d_out = tap_int(1, 7);
        const size_t count = (size_t)(d_in * d_out);
        float *w = room(count), *expect = room(count), *got = room(count);
        Random r;
        random_seed(&r, (uint64_t)round);
        rand_fill(&r, d_in, d_out, (void *)w);
        transpose(d_in, d_out, (void *)w, (void *)expect);
        random_seed(&r, (uint64_t)round);
        rand_turned(&r, d_in, d_out, (void *)got);
        same("number", count, got, expect);
    }
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
        Attention a;
        random_seed(&r, (uint64_t)round);
        self_v1_init(&one, &r, d, d_k, d_v);
        random_seed(&r, (uint64_t)round);
        cross_attention_init(&a, &r, d, d, d_k, d_v);
        Trace t = roomy(&a, n, n), own = roomy(&a, n, n);
        self_v1_forward(&one, n, (void *)x, &own);
        cross_attention_forward(&a, n, n, (void *)x, (void *)x, &t);
        same("context", (size_t)(n * d_v), t.context, own.context);
        self_v1_free(&one);
        attention_free(&a);
    }
}

/* Tokens of the second input in another order, row j being row
 * (j + shift) % m: the weights in that order, and the same context. */
static void order_does_not_matter(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 12), m = tap_int(1, 12);
        const int d_1 = tap_int(1, 6), d_2 = tap_int(1, 6);
        const int shift = tap_int(0, m - 1);
        float x[12][6], y[12 * 6], shifted[12 * 6];
        tap_fill(n * d_1, (void *)x, -2, 2);
        tap_fill(m * d_2, y, -2, 2);
        for (int j = 0; j < m; j++)
            memcpy(shifted + (j + shift) % m * d_2, y + j * d_2,
                   (size_t)d_2 * sizeof *y);
        Random r;
        Attention c;
        random_seed(&r, (uint64_t)round);
        cross_attention_init(&c, &r, d_1, d_2, tap_int(1, 6),
                             tap_int(1, 6));
        Trace a = roomy(&c, n, m), b = roomy(&c, n, m);
        cross_attention_forward(&c, n, m, (void *)x, (void *)y, &a);
        cross_attention_forward(&c, n, m, (void *)x, (void *)shifted, &b);
        for (int i = 0; i < n * m; i++)
            tap_near("weight", b.weights[i / m * m + (i % m + shift) % m],
                     a.weights[i], 1e-5, 1e-7);
        for (int i = 0; i < n * c.d_v; i++)
            tap_near("context", b.context[i], a.context[i], 1e-5, 1e-5);
        attention_free(&c);
    }
}

/* Keys and values alone, in a trace for 1, 2 and 5 queries; nothing else of
 * the trace is touched. */
static void encode_test(void)
{
    const Attention a = object();
    const int m = dim("x_2", 0), queries[3] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        const int n = queries[i];
        Trace t = roomy(&a, n, m);
        encode_once(&a, m, input("x_2"), &t);
        agrees("key", t.key, SUM_RTOL, SUM_ATOL);
        agrees("value", t.value, SUM_RTOL, SUM_ATOL);
        tap_near("query", t.query[n * a.d_k - 1], 1e30f, 0, 0);
        tap_near("scores", t.scores[n * m - 1], 1e30f, 0, 0);
        tap_near("weights", t.weights[0], 1e30f, 0, 0);
        tap_near("context", t.context[0], 1e30f, 0, 0);
    }
}

/* One query at a time, from PyTorch's keys and values, which stay what they
 * are. Each has its row of the tables for all. */
static void ask_test(void)
{
    const Attention a = object();
    const int n = dim("x_1", 0), m = dim("x_2", 0);
    const Tensor *key = part("key"), *value = part("value");
    const float *k = rounded(key), *v = rounded(value);
    Trace t = roomy(&a, n, m), row = t;
    t.key = row.key = rounded(key);
    t.value = row.value = rounded(value);
    row.n = 1;
    for (int i = 0; i < n; i++) {
        row.query = t.query + i * a.d_k;
        row.scores = t.scores + i * m;
        row.weights = t.weights + i * m;
        row.context = t.context + i * a.d_v;
        ask_encoded(&a, (float *)input("x_1") + i * a.d_x, &row);
    }
    agrees("query", t.query, SUM_RTOL, SUM_ATOL);
    agrees("scores", t.scores, SUM_RTOL, SUM_ATOL);
    agrees("weights", t.weights, LONG_RTOL, WEIGHT_ATOL);
    agrees("context", t.context, SUM_RTOL, SUM_ATOL);
    same("keys, untouched", key->count, t.key, k);
    same("values, untouched", value->count, t.value, v);
}

static void alignment_test(void)
{
    const int n = dim("shares", 0);
    int *got = result("place");
    hard_alignment(n, dim("shares", 1), input("shares"), got);
    for (int i = 0; i < n; i++)
        tap_near("place", got[i], (double)integers("place")[i], 0, 0);
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

/* From 2 and 3 numbers to 4 and 5; two such heads. */
static Attention a,
    heads = {.d_x = 2, .d_y = 3, .n_heads = 2, .d_k = 4, .d_v = 5};
static const float x_1[2][2], x_2[3][3];

static void refusals(void)
{
    Random r;
    Attention none;
    random_seed(&r, 1);
    REFUSES(NULL, cross_attention_init(&none, &r, 0, 3, 4, 5));
    REFUSES(NULL, cross_attention_init(&none, &r, 2, 0, 4, 5));
    REFUSES(NULL, cross_attention_init(&none, &r, 2, 3, -1, 5));
    REFUSES(NULL, cross_attention_init(&none, &r, 2, 3, 4, 0));

    cross_attention_init(&a, &r, 2, 3, 4, 5);
    attention_init(&heads);
    Trace two = trace_for(&heads, 2, 3), one = trace_for(&heads, 1, 3);
    for (int i = 0; i < 6; i++) {
        REFUSES(NULL,
                cross_attention_forward(&a, 2, 3, x_1, x_2,
                                        grown(i, sized(2, 3, 1, 4, 5, 0))));
        if (i != 0) /* any number of queries will do */
            REFUSES(NULL, encode_once(&a, 3, x_2,
                                      grown(i, sized(1, 3, 1, 4, 5, 0))));
        if (i != 1) /* and of keys */
            REFUSES(NULL, ask_encoded(&a, x_1[0],
                                      grown(i, sized(1, 3, 1, 4, 5, 0))));
    }
    REFUSES(NULL, cross_attention_forward(&heads, 2, 3, x_1, x_2, &two));
    REFUSES(NULL, ask_encoded(&heads, x_1[0], &one));
    trace_free(&two);
    trace_free(&one);
    attention_free(&heads);
    attention_free(&a);

    const float first[2][2] = {{NAN, NAN}, {0, 1}};
    const float last[2][2] = {{0, 1}, {NAN, NAN}};
    int place[2];
    REFUSES("08_cross_attention.c: hard_alignment: row 1 has no weight "
            "that is a number: one is needed",
            hard_alignment(2, 2, last, place));
    REFUSES(NULL, hard_alignment(2, 2, first, place));
}

int main(void)
{
    TAP(turned_test, "rand_turned: what rand_fill draws");
    SETS("cross_attention_init", init_test, INITS);
    SETS("cross_attention_forward", forward_test, CROSSES, "loud", MODULES);
    TAP(same_as_self, "cross_attention_forward: one input twice");
    TAP(order_does_not_matter,
        "cross_attention_forward: the second input in any order");
    SETS("encode_once", encode_test, CROSSES);
    SETS("ask_encoded", ask_test, CROSSES);
    SETS("hard_alignment", alignment_test, ALIGNMENTS);
    TAP(alignment_of_odd_rows,
        "hard_alignment: ties, and NaN among others");
    refusals();
    return tap_done();
}
