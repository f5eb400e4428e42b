/* Chapter 8 against PyTorch: golden/08_cross_attention. */
#define CHAPTER "08_cross_attention"
#include "traces.h"
#include "attention/08_cross_attention.h"
#include "attention/01_dot_product.h"

/* A table of a trace that is due; of the set "loud" scores are some
 * hundred. */
static float *due_table(const char *set, const char *what)
{
    const bool is_loud = !strcmp(set, "loud");
    const bool is_share = !strcmp(what, "weights");
    const bool is_mixed = is_share || !strcmp(what, "context");
    const char *name = tap_words("t->%s", what);
    return is_mixed && is_loud
               ? due_as(set, what, name, 3e-4, is_share ? 1e-6 : 1e-4)
               : due_as(set, what, name, 1e-5,
                        is_share  ? 1e-7
                        : is_loud ? 1e-5
                                  : 1e-6);
}

/* The layer of a matrix, which it holds turned over. As `given` it is told
 * by this name. */
static Linear turned(const char *set, const char *name, const char *given)
{
    const Tensor *w = golden(set, name);
    const int d_in = w->shape[0], d_out = w->shape[1];
    float *weight = guarded("an array", w->count);
    transpose(d_in, d_out, tensor_as_floats(w), (void *)weight);
    if (given)
        given_array(given, weight, d_out, d_in);
    return (Linear){d_in, d_out, weight, NULL};
}

/* An attention with the matrices of the running set. */
static Attention object(const char *set)
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

/* Of its own class, which has widths of its own for keys and values,
 * PyTorch gives weights and context alone. */
static void forward_test(const char *set)
{
    const Attention a = object(set);
    const int n = dim(set, "x_1", 0), m = dim(set, "x_2", 0);
    Trace t = guarded_trace(&a, n, m);
    if (strncmp(set, "module", 6) != 0) {
        t.query = due_table(set, "query");
        t.key = due_table(set, "key");
        t.value = due_table(set, "value");
        t.scores = due_table(set, "scores");
    }
    t.weights = due_table(set, "weights");
    t.context = due_table(set, "context");
    cross_attention_forward(&a, n, m, input_as(set, "x_1", "x"),
                            input_as(set, "x_2", "y"), &t);
}

/* As the layer has it, which holds the matrix turned over. */
static void turned_test(const char *set)
{
    const Linear like = turned(set, "w_query", NULL);
    float *got = guarded("w_query", golden_count(set, "w_query"));
    random_transposed((Random[]){input_random(set)}, like.d_in, like.d_out,
                      (void *)got);
    expect_list("weight", golden(set, "w_query")->count, got, like.weight,
                EXACTLY);
}

static void init_test(const char *set)
{
    const Attention like = object(set);
    next_case(); /* its matrices are drawn, not given */
    Random r = input_random(set);
    Attention a;
    cross_attention_init(&a, &r, like.d_x, like.d_y, like.d_k, like.d_v);
    random_fill(&r, 1, 3, due(set, "next", EXACTLY));
    expect_true("widths", a.d_x == like.d_x && a.d_y == like.d_y);
    attention_check(&a, 2, 3, sized(2, 3, 1, like.d_k, like.d_v, 0));
    const Linear got[3] = {a.query, a.key, a.value};
    const Linear expect[3] = {like.query, like.key, like.value};
    for (int k = 0; k < 3; k++) {
        expect_table("a weight", expect[k].d_out, expect[k].d_in,
                     got[k].weight, expect[k].weight, EXACTLY);
        expect_true("no bias", !got[k].bias);
    }
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
        const Attention a = object(set);
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
    const Attention a = object(set);
    const int n = dim(set, "x_1", 0), m = dim(set, "x_2", 0);
    const Tensor *key = input_tensor(set, "key", "t->key");
    const Tensor *value = input_tensor(set, "value", "t->value");
    const float *x = input_as(set, "x_1", "x, one row at a time");
    const float *k = tensor_as_floats(key), *v = tensor_as_floats(value);
    float *query = due_table(set, "query"),
          *scores = due_table(set, "scores");
    float *weights = due_table(set, "weights"),
          *context = due_table(set, "context");
    Trace row = guarded_trace(&a, 1, m);
    row.key = tensor_as_floats(key);
    row.value = tensor_as_floats(value);
    for (int i = 0; i < n; i++) {
        row.query = query + i * a.d_k;
        row.scores = scores + i * m;
        row.weights = weights + i * m;
        row.context = context + i * a.d_v;
        cross_attention_ask(&a, x + i * a.d_x, &row);
    }
    expect_list("keys, untouched", key->count, row.key, k, EXACTLY);
    expect_list("values, untouched", value->count, row.value, v, EXACTLY);
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
    const int expect[N_ROWS] = {2, 0, 1, 1, 1, 2, 2, 0};
    int got[N_ROWS];
    given_array("weights", rows, N_ROWS, 3);
    hard_alignment(N_ROWS, 3, rows, got);
    for (int i = 0; i < N_ROWS; i++)
        expect_equal(tap_words("place[%d]", i), got[i], expect[i]);
}

/* What does not fit, with a trace for one query. */
static const Attention *misfitting_one(int i)
{
    const Attention *a = misfitting(i);
    fit_trace.n = 1;
    return a;
}

static void misfits_refused(void)
{
    const void *const x = fit_x, *const y = fit_y;
    for (int i = 0; i < 4; i++) {
        if (i < 3)
            REFUSES_SUCH(misfit[i],
                         cross_attention_forward(misfitting(i), 5, 6, x, y,
                                                 &fit_trace));
        if (i > 1)
            REFUSES_SUCH(misfit[i], cross_attention_encode(misfitting(i), 6,
                                                           y, &fit_trace));
        REFUSES_SUCH(misfit[i],
                     cross_attention_ask(misfitting_one(i), x, &fit_trace));
    }
    for (int i = 0; i < 6; i++) {
        REFUSES_SUCH(one_more(i), cross_attention_forward(
                                      fitting(1, 0), 3, 5, x, y,
                                      wrong_trace(i, 3, 5, 1, 4, 2, 0)));
        if (i != 0) /* any number of queries will do */
            REFUSES_SUCH(
                one_more(i),
                cross_attention_encode(fitting(1, 0), 5, y,
                                       wrong_trace(i, 1, 5, 1, 4, 2, 0)));
        if (i != 1) /* and of keys */
            REFUSES_SUCH(
                one_more(i),
                cross_attention_ask(fitting(1, 0), x,
                                    wrong_trace(i, 1, 5, 1, 4, 2, 0)));
    }
}

static void refusals(void)
{
    Random *const r = some_draws();
    const float nan[2][2][2] = {{{NAN, NAN}, {0, 1}}, {{0, 1}, {NAN, NAN}}};
    int place[2];
    REFUSES(NULL, cross_attention_init(&fit, r, 0, 3, 4, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 0, 4, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 3, -1, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 3, 4, 0));
    misfits_refused();
    REFUSES_SUCH("a first row of NaN", hard_alignment(2, 2, nan[0], place));
    REFUSES_SUCH("a last row of NaN", hard_alignment(2, 2, nan[1], place));
}

int main(void)
{
    EACH_SET("random_transposed", "init_*-seed", turned_test(set));
    EACH_SET("cross_attention_init", "init_*-seed", init_test(set));
    EACH_SET("cross_attention_forward", "*-x_1", forward_test(set));
    EACH_SET("cross_attention_encode", "*-key", encode_test(set));
    EACH_SET("cross_attention_ask", "*-key", ask_test(set));
    EACH_SET("hard_alignment", "alignment_*-place",
             hard_alignment(dim(set, "shares", 0), dim(set, "shares", 1),
                            input_as(set, "shares", "weights"),
                            due(set, "place", EXACTLY)));
    TAP("hard_alignment: NaN and infinities", alignment_with_nan());
    refusals();
    return tap_done();
}
