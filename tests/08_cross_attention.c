/* Chapter 8 against PyTorch: golden/08_cross_attention. */
#define CHAPTER "08_cross_attention"
#include "traces.h"
#include "attention/08_cross_attention.h"
#include "attention/01_dot_product.h"

#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6

/* Sums; and shares of scores, which are sums of sums. Loud are scores of
 * some hundred. */
static bool is_loud(void)
{
    return !strcmp(sets_now, "loud");
}

static void close_sum(const char *what, const float *got)
{
    tap_close(tap_words("t->%s", what), part(what), got, SUM_RTOL,
              is_loud() ? 1e-5 : SUM_ATOL);
}

static void close_shares(const Trace *t)
{
    const double rtol = is_loud() ? 3e-4 : 1e-5;
    tap_close("t->weights", part("weights"), t->weights, rtol,
              is_loud() ? 1e-6 : 1e-7);
    tap_close("t->context", part("context"), t->context, rtol,
              is_loud() ? 1e-4 : SUM_ATOL);
}

/* The layer of a matrix, which it holds turned over. As `given` it is told
 * by this name. */
static Linear turned(const char *name, const char *given)
{
    const Tensor *w = part(name);
    const int d_in = w->shape[0], d_out = w->shape[1];
    float *weight = room(w->count);
    transpose(d_in, d_out, floats(w), (void *)weight);
    if (given)
        give_table(given, d_out, d_in, weight);
    return (Linear){d_in, d_out, weight, NULL};
}

/* An attention with the matrices of the running set. */
static Attention object(void)
{
    Attention a = {.n_heads = 1,
                   .query = turned("w_query", "a->query.weight"),
                   .key = turned("w_key", "a->key.weight"),
                   .value = turned("w_value", "a->value.weight")};
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
    Trace t = guarded_trace(&a, n, m);
    cross_attention_forward(&a, n, m, input_as("x", "x_1"),
                            input_as("y", "x_2"), &t);
    if (strncmp(sets_now, "module", 6) != 0) {
        close_sum("query", t.query);
        close_sum("key", t.key);
        close_sum("value", t.value);
        close_sum("scores", t.scores);
    }
    close_shares(&t);
}

static void turned_test(void)
{
    Random r = random_of_set();
    const Linear like = turned("w_query", NULL);
    float *got = result("w_query");
    random_transposed(&r, like.d_in, like.d_out, (void *)got);
    same("weight", part("w_query")->count, got, like.weight);
}

static void init_test(void)
{
    const Attention like = object();
    next_case(); /* its matrices are drawn, not given */
    Random r = random_of_set();
    Attention a;
    float after[1][3];
    cross_attention_init(&a, &r, like.d_x, like.d_y, like.d_k, like.d_v);
    random_fill(&r, 1, 3, after);
    agrees("next", after[0], 0, 0);
    tap_true("widths", a.d_x == like.d_x && a.d_y == like.d_y);
    attention_check(&a, 2, 3, sized(2, 3, 1, like.d_k, like.d_v, 0));
    same("query", part("w_query")->count, a.query.weight,
         like.query.weight);
    same("key", part("w_key")->count, a.key.weight, like.key.weight);
    same("value", part("w_value")->count, a.value.weight,
         like.value.weight);
    tap_true("no bias", !a.query.bias && !a.key.bias && !a.value.bias);
    tap_true("no dropout, no limit",
             a.dropout_rate == 0 && !a.context_length);
    attention_free(&a);
}

/* Keys and values alone, in a trace for 1, 3 and 5 queries; nothing else of
 * the trace is touched. */
static void encode_test(void)
{
    const int m = dim("x_2", 0);
    for (int n = 1; n <= 5; n += 2) {
        const Attention a = object();
        Trace t = guarded_trace(&a, n, m);
        give("t->n = %d", n);
        cross_attention_encode(&a, m, input_as("y", "x_2"), &t);
        close_sum("key", t.key);
        close_sum("value", t.value);
        tap_near("t->query", t.query[n * a.d_k - 1], unset, 0, 0);
        tap_near("t->scores", t.scores[n * m - 1], unset, 0, 0);
        tap_near("t->weights", t.weights[0], unset, 0, 0);
        tap_near("t->context", t.context[0], unset, 0, 0);
        next_case();
    }
}

/* One query at a time, from PyTorch's keys and values, which stay what they
 * are. Each has its row of the tables for all. */
static void ask_test(void)
{
    const Attention a = object();
    const int n = dim("x_1", 0), m = dim("x_2", 0);
    const Tensor *key = told_as("t->key", "key");
    const Tensor *value = told_as("t->value", "value");
    const float *x = input_as("x, one row at a time", "x_1");
    const float *k = rounded(key), *v = rounded(value);
    Trace t = guarded_trace(&a, n, m), row = t;
    t.key = row.key = rounded(key);
    t.value = row.value = rounded(value);
    row.n = 1;
    for (int i = 0; i < n; i++) {
        row.query = t.query + i * a.d_k;
        row.scores = t.scores + i * m;
        row.weights = t.weights + i * m;
        row.context = t.context + i * a.d_v;
        cross_attention_ask(&a, x + i * a.d_x, &row);
    }
    close_sum("query", t.query);
    close_sum("scores", t.scores);
    close_shares(&t);
    same("keys, untouched", key->count, t.key, k);
    same("values, untouched", value->count, t.value, v);
}

static void alignment_test(void)
{
    int *got = result("place");
    hard_alignment(dim("shares", 0), dim("shares", 1),
                   input_as("weights", "shares"), got);
    agrees("place", got, 0, 0);
}

static void alignment_with_nan(void)
{
    enum { ROWS = 8 };
    const float rows[ROWS][3] = {
        {NAN, 0.25f, 0.75f},         {0.75f, NAN, 0.25f},
        {0.2f, 0.3f, NAN},           {NAN, -20, -30},
        {NAN, -INFINITY, -INFINITY}, {-INFINITY, NAN, -FLT_MAX},
        {NAN, NAN, INFINITY},        {-INFINITY, -INFINITY, -INFINITY},
    };
    const int expect[ROWS] = {2, 0, 1, 1, 1, 2, 2, 0};
    int got[ROWS];
    give_table("weights", ROWS, 3, rows);
    hard_alignment(ROWS, 3, rows, got);
    for (int i = 0; i < ROWS; i++)
        tap_near(tap_words("place[%d]", i), got[i], expect[i], 0, 0);
}

/* The attention, after its trace has become one for one query. */
static const Attention *for_one(const Attention *a)
{
    fit_trace.n = 1;
    return a;
}

static void refusals(void)
{
    const void *const x = fit_x, *const y = fit_y;
    Random *const r = some_draws();
    REFUSES(NULL, cross_attention_init(&fit, r, 0, 3, 4, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 0, 4, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 3, -1, 5));
    REFUSES(NULL, cross_attention_init(&fit, r, 2, 3, 4, 0));
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
    REFUSES_SUCH("two heads", cross_attention_forward(fitting(2, 0), 5, 6,
                                                      x, y, &fit_trace));
    REFUSES_SUCH(
        "an output layer",
        cross_attention_forward(fitting(1, 3), 5, 6, x, y, &fit_trace));
    REFUSES_SUCH(NARROW, cross_attention_forward(but(&fit.key.d_out, 9), 5,
                                                 6, x, y, &fit_trace));
    REFUSES_SUCH(NARROW, cross_attention_encode(but(&fit.key.d_out, 9), 6,
                                                y, &fit_trace));
    REFUSES_SUCH(SHORT, cross_attention_encode(but(&fit.context_length, 5),
                                               6, y, &fit_trace));
    REFUSES_SUCH("two heads", cross_attention_ask(for_one(fitting(2, 0)), x,
                                                  &fit_trace));
    REFUSES_SUCH(
        "an output layer",
        cross_attention_ask(for_one(fitting(1, 3)), x, &fit_trace));
    REFUSES_SUCH(NARROW,
                 cross_attention_ask(for_one(but(&fit.key.d_out, 9)), x,
                                     &fit_trace));
    REFUSES_SUCH(SHORT,
                 cross_attention_ask(for_one(but(&fit.context_length, 5)),
                                     x, &fit_trace));

    const float first[2][2] = {{NAN, NAN}, {0, 1}};
    const float last[2][2] = {{0, 1}, {NAN, NAN}};
    int place[2];
    REFUSES_SUCH("a last row of NaN", hard_alignment(2, 2, last, place));
    REFUSES_SUCH("a first row of NaN", hard_alignment(2, 2, first, place));
}

int main(void)
{
    EACH("random_transposed", turned_test, "init_*-seed");
    EACH("cross_attention_init", init_test, "init_*-seed");
    EACH("cross_attention_forward", forward_test, "*-x_1");
    EACH("cross_attention_encode", encode_test, "*-key");
    EACH("cross_attention_ask", ask_test, "*-key");
    EACH("hard_alignment", alignment_test, "alignment_*-place");
    TAP(alignment_with_nan, "hard_alignment: NaN and infinities");
    refusals();
    return tap_done();
}
