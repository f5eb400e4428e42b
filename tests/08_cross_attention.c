/* Chapter 8 against PyTorch: golden/08_cross_attention. */
#define CHAPTER "08_cross_attention"
#include "traces.h"
#include "attention/08_cross_attention.h"
#include "attention/01_dot_product.h"

static float *due_table(const char *set, const char *what)
{
    return due_as(set, what, tap_words("t->%s", what), 1e-5,
                  strcmp(what, "weights") ? 1e-6 : 1e-7);
}

/* The layer of a matrix, which it holds turned over, and which is given. */
static Linear turned(const char *set, const char *matrix, const char *name)
{
    const int d_in = dim(set, matrix, 0), d_out = dim(set, matrix, 1);
    void *weight = guarded(name, golden_count(set, matrix));
    transpose(d_in, d_out, golden_floats(set, matrix), weight);
    given_array(name, weight, d_out, d_in);
    return (Linear){d_in, d_out, weight, NULL};
}

static Attention given_matrices(const char *set)
{
    Attention a = {.n_heads = 1,
                   .query = turned(set, "w_query", "a->query.weight"),
                   .key = turned(set, "w_key", "a->key.weight"),
                   .value = turned(set, "w_value", "a->value.weight")};
    a.d_x = a.query.d_in;
    a.d_y = a.key.d_in;
    a.d_k = a.query.d_out;
    a.d_v = a.out.d_in = a.value.d_out;
    return a;
}

static void forward_test(const char *set)
{
    const Attention a = given_matrices(set);
    const int n = dim(set, "x_1", 0), m = dim(set, "x_2", 0);
    Trace t = guarded_trace(&a, n, m);
    t.query = due_table(set, "query");
    t.key = due_table(set, "key");
    t.value = due_table(set, "value");
    t.scores = due_table(set, "scores");
    t.weights = due_table(set, "weights");
    t.context = due_table(set, "context");
    cross_attention_forward(&a, n, m, input_as(set, "x_1", "x"),
                            input_as(set, "x_2", "y"), &t);
}

static void init_test(const char *set)
{
    const Attention like = given_matrices(set);
    Random r = input_random(set);
    Attention a;
    cross_attention_init(&a, &r, like.d_x, like.d_y, like.d_k, like.d_v);
    random_fill(&r, 1, 3, due(set, "next", EXACTLY));
    expect_true("widths", a.d_x == like.d_x && a.d_y == like.d_y);
    attention_check(&a, 2, 3, sized(2, 3, 1, like.d_k, like.d_v, 0));
    expect_table("query", like.d_k, like.d_x, a.query.weight,
                 like.query.weight, EXACTLY);
    expect_table("key", like.d_k, like.d_y, a.key.weight, like.key.weight,
                 EXACTLY);
    expect_table("value", like.d_v, like.d_y, a.value.weight,
                 like.value.weight, EXACTLY);
    expect_true("no bias", !a.query.bias && !a.key.bias && !a.value.bias);
    expect_true("no dropout, no limit",
                a.dropout_rate == 0 && !a.context_length);
    attention_free(&a);
}

/* Keys and values alone, in a trace for 1, 3 and 5 queries; nothing else of
 * the trace is touched. */
static void encode_test(const char *set)
{
    const int m = dim(set, "x_2", 0);
    for (int n = 1; n <= 5; n += 2) {
        const Attention a = given_matrices(set);
        Trace t = guarded_trace(&a, n, m);
        given("t->n = %d", n);
        t.key = due_table(set, "key");
        t.value = due_table(set, "value");
        cross_attention_encode(&a, m, input_as(set, "x_2", "y"), &t);
        expect_equal("t->query", t.query[n * a.d_k - 1], unset);
        expect_equal("t->scores", t.scores[n * m - 1], unset);
        expect_equal("t->weights", t.weights[0], unset);
        expect_equal("t->context", t.context[0], unset);
        next_case();
    }
}

/* One query at a time, from PyTorch's keys and values, which stay what they
 * are. Each has its row of the tables for all. */
static void ask_test(const char *set)
{
    const Attention a = given_matrices(set);
    const int n = dim(set, "x_1", 0), m = dim(set, "x_2", 0);
    const float *x = input_as(set, "x_1", "x, one row at a time");
    float *query = due_table(set, "query");
    float *scores = due_table(set, "scores");
    float *weights = due_table(set, "weights");
    float *context = due_table(set, "context");
    Trace row = guarded_trace(&a, 1, m);
    row.key = input_as(set, "key", "t->key");
    row.value = input_as(set, "value", "t->value");
    for (int i = 0; i < n; i++) {
        row.query = query + i * a.d_k;
        row.scores = scores + i * m;
        row.weights = weights + i * m;
        row.context = context + i * a.d_v;
        cross_attention_ask(&a, x + i * a.d_x, &row);
    }
}

static void alignment_with_nan(void)
{
    enum { N_ROWS = 8 };
    const float rows[N_ROWS][3] = {
        {NAN, 0.25f, 0.75f},         {0.75f, NAN, 0.25f},
        {0.2f, 0.3f, NAN},           {NAN, -20, -30},
        {NAN, -INFINITY, -INFINITY}, {-INFINITY, NAN, -FLT_MAX},
        {NAN, NAN, INFINITY},        {-INFINITY, -INFINITY, -INFINITY},
    };
    const int due[N_ROWS] = {2, 0, 1, 1, 1, 2, 2, 0};
    int got[N_ROWS];
    given_array("weights", rows, N_ROWS, 3);
    hard_alignment(N_ROWS, 3, rows, got);
    for (int i = 0; i < N_ROWS; i++)
        expect_equal(tap_words("place[%d]", i), got[i], due[i]);
}

static void forward(const Wrong *w)
{
    fit_but(w);
    cross_attention_forward(&fit, 5, 6, fit_x, fit_y, &fit_trace);
}

/* Any number of queries will do. */
static void encode(const Wrong *w)
{
    fit_but(w);
    cross_attention_encode(&fit, 6, fit_y, &fit_trace);
}

/* Any number of keys will do, and one query. */
static void ask(const Wrong *w)
{
    fit_but(w);
    fit_trace.n = w->number == &fit_trace.n ? w->value : 1;
    cross_attention_ask(&fit, fit_x, &fit_trace);
}

static void refusals(void)
{
    const float nan[2][2][2] = {{{NAN, NAN}, {0, 1}}, {{0, 1}, {NAN, NAN}}};
    int place[2];
    REFUSES(NULL, cross_attention_init(&fit, some_draws(), 0, 3, 4, 5));
    REFUSES_WRONG("cross_attention_forward", misfit_head, forward(w));
    REFUSES_WRONG("cross_attention_forward", misfit, forward(w));
    REFUSES_WRONG("cross_attention_forward", misfit_lengths, forward(w));
    REFUSES_WRONG("cross_attention_encode", misfit, encode(w));
    TAP_REFUSES("cross_attention_encode", "a trace for 5 keys, not 6", NULL,
                encode(&misfit_lengths[0]));
    REFUSES_WRONG("cross_attention_ask", misfit_head, ask(w));
    REFUSES_WRONG("cross_attention_ask", misfit, ask(w));
    TAP_REFUSES("cross_attention_ask", "a trace for two queries", NULL,
                ask(&(Wrong){.number = &fit_trace.n, .value = 2}));
    REFUSES_SUCH("a first row of NaN", hard_alignment(2, 2, nan[0], place));
    REFUSES_SUCH("a last row of NaN", hard_alignment(2, 2, nan[1], place));
}

/* As the layer has it, which holds the matrix turned over. */
static void turned_test(const char *set)
{
    const int d_in = dim(set, "w_query", 0), d_out = dim(set, "w_query", 1);
    void *weight = guarded("weight", golden_count(set, "w_query"));
    Random r = input_random(set);
    random_transposed(&r, d_in, d_out, weight);
    transpose(d_out, d_in, weight, due(set, "w_query", EXACTLY));
}

int main(void)
{
    EACH_SET("random_transposed", "init_*-seed", turned_test(set));
    EACH_SET("cross_attention_init", "init_*-seed", init_test(set));
    EACH_SET("cross_attention_forward", "*-x_1", forward_test(set));
    EACH_SET("cross_attention_encode", "*-key", encode_test(set));
    EACH_SET("cross_attention_ask", "*-key", ask_test(set));
    EACH_SET("hard_alignment", "alignment_*-place",
             hard_alignment(SHAPE(set, "shares"),
                            input_as(set, "shares", "weights"),
                            due(set, "place", EXACTLY)));
    TAP("hard_alignment: NaN and infinities", alignment_with_nan());
    refusals();
    return tap_done();
}
