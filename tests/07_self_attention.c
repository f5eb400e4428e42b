/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"
#include "attention/07_self_attention.h"
#include "attention/01_dot_product.h"

/* A trace for the running set, of which all tables are due. */
static Trace due_trace(const char *set)
{
    const int n = dim(set, "x", 0);
    Trace t = one_head(n, n, dim(set, "query", 1), dim(set, "value", 1));
    t.query = due_as(set, "query", "t->query", SUMS);
    t.key = due_as(set, "key", "t->key", SUMS);
    t.value = due_as(set, "value", "t->value", SUMS);
    t.scores = due_as(set, "scores", "t->scores", SUMS);
    t.weights = due_as(set, "weights", "t->weights", 1e-5, 1e-7);
    t.context = due_as(set, "context", "t->context", SUMS);
    return t;
}

/* Drawn as PyTorch draws it, and multiplied. */
static void v1_test(const char *set)
{
    const int64_t seed = *golden_integers(set, "seed");
    const int d_in = dim(set, "x", 1);
    Random r = random_seeded(seed);
    Trace t = due_trace(set);
    random_fill(&r, d_in, t.d_k, due(set, "w_query", EXACTLY));
    random_fill(&r, d_in, t.d_k, due(set, "w_key", EXACTLY));
    random_fill(&r, d_in, t.d_v, due(set, "w_value", EXACTLY));
    qkv_from_seed((uint64_t)seed, t.n, d_in, t.d_k, t.d_v, input(set, "x"),
                  ROWS(t.d_k, t.query), ROWS(t.d_k, t.key),
                  ROWS(t.d_v, t.value));
    t.dropout_rate = 0.5; /* of another forward */
    attend_trace(&t);
    expect_equal("rate", t.dropout_rate, 0);
}

/* Draws of different kinds from one generator. */
static void mixed_test(const char *set)
{
    Random r = random_seeded(123);
    random_fill(&r, 3, 5, due(set, "first", EXACTLY));
    uniform_fill(&r, 2, 2, -3, 3, due(set, "second", EXACTLY));
    linear_fill(&r, 4, 3, guarded("an array", 12),
                due(set, "third", EXACTLY));
    random_fill(&r, 1, 700, due(set, "fourth", EXACTLY));
}

static bool has_bias(const char *set)
{
    return strstr(set, "bias") != NULL;
}

/* The layer of the running set. */
static const Linear *layer(const char *set)
{
    static Linear l;
    l = (Linear){.d_in = dim(set, "x", 1), .d_out = dim(set, "y", 1)};
    l.weight = input_as(set, "weight", "l->weight");
    if (has_bias(set))
        l.bias = input_as(set, "bias", "l->bias");
    else
        given("l->bias = NULL");
    return &l;
}

/* Version 2 of the running set, as PyTorch draws it. */
static Attention version_2(const char *set)
{
    Random r = input_random(set);
    Attention a;
    self_attention_init(&a, &r, dim(set, "x", 1), dim(set, "query", 1),
                        dim(set, "value", 1), has_bias(set));
    return a;
}

static void v2_test(const char *set)
{
    static const char *const parameters[6] = {"query_weight", "query_bias",
                                              "key_weight",   "key_bias",
                                              "value_weight", "value_bias"};
    Attention a = version_2(set);
    Trace t = due_trace(set);
    self_attention_forward(&a, t.n, input(set, "x"), &t);
    expect_true("no limit, no dropout",
                !a.context_length && a.dropout_rate <= 0);
    const float *here = a.memory;
    for (int i = 0; i < 6; i += a.query.bias ? 1 : 2) {
        expect_close(parameters[i], here, golden(set, parameters[i]),
                     EXACTLY);
        here += golden(set, parameters[i])->count;
    }
    expect_true("no other parameter", here == a.memory + a.count);
    attention_free(&a);
}

/* Two inputs of other lengths and widths, several heads: each layer by
 * itself, and nothing else is written. */
static void roles_test(void)
{
    Attention a = any_attention(2, 2);
    const float *x = any_text(3, a.d_x), *y = any_text(5, a.d_y);
    Trace got = guarded_trace(&a, 3, 5), expect = guarded_trace(&a, 3, 5);
    attention_project(&a, 3, 5, (void *)x, (void *)y, &got);
    linear_forward(&a.query, 3, (void *)x, (void *)expect.query);
    linear_forward(&a.key, 5, (void *)y, (void *)expect.key);
    linear_forward(&a.value, 5, (void *)y, (void *)expect.value);
    expect_same_tables(&got, &expect, 0, 13, EXACTLY);
    attention_free(&a);
}

/* Exercise 7.5: another bias for the keys, the same weights. */
static void key_bias_does_nothing(const char *set)
{
    Attention a = version_2(set);
    Trace t = one_head(dim(set, "x", 0), dim(set, "x", 0), a.d_k, a.d_v);
    tap_fill(a.d_k, a.key.bias, -2, 2);
    t.weights = due_as(set, "weights", "t->weights", 2e-5, 1e-7);
    self_attention_forward(&a, t.n, input(set, "x"), &t);
    attention_free(&a);
}

/* A matrix of version 1 against a weight of version 2, turned over. */
static void same_turned(const char *name, const Linear *l, const float *got)
{
    float *turned = guarded("an array", (size_t)(l->d_in * l->d_out));
    transpose(l->d_out, l->d_in, ROWS(l->d_in, l->weight),
              ROWS(l->d_out, turned));
    expect_table(name, l->d_in, l->d_out, got, turned, EXACTLY);
}

static void copy_test(const char *set)
{
    const int d_k = dim(set, "query", 1), d_v = dim(set, "value", 1);
    float *query =
              guarded("query_weight", golden_count(set, "query_weight")),
          *key = guarded("key_weight", golden_count(set, "key_weight"));
    float *value =
        guarded("value_weight", golden_count(set, "value_weight"));
    Attention from = {.d_x = dim(set, "x", 1),
                      .d_y = dim(set, "x", 1),
                      .n_heads = 1,
                      .d_k = d_k,
                      .d_v = d_v};
    attention_init(&from, &from);
    from.query.weight = input_as(set, "query_weight", "from->query.weight");
    from.key.weight = input_as(set, "key_weight", "from->key.weight");
    from.value.weight = input_as(set, "value_weight", "from->value.weight");
    copy_v2_to_v1(&from, ROWS(d_k, query), ROWS(d_k, key),
                  ROWS(d_v, value));
    same_turned("w_query", &from.query, query);
    same_turned("w_key", &from.key, key);
    same_turned("w_value", &from.value, value);
    attention_free(&from);
}

/* ---- What is refused. Each call has a child of its own, which may change
 * what it likes. A head that fits goes from 3 numbers to 4 and 2. */

static const float x[5][3];

/* What no version 1 has a place for. */
static const char *const odd[5] = {"a bias", "two heads", "an output layer",
                                   "keys from tokens of another width",
                                   "layers that do not fit"};
static const Attention *odd_one(int i)
{
    fit.has_bias = i == 0;
    fit.d_y = i == 3 ? 2 : 3;
    return i == 4 ? but(&fit.key.d_out, 2)
                  : fitting(i == 1 ? 2 : 1, i == 2 ? 6 : 0);
}

static void versions_refused(void)
{
    float w[3 * 4];
    REFUSES(
        "attention_object.c: version_1_check: an attention with a bias, 1 "
        "heads and 0 columns of output: none, 1 and 0 are needed, "
        "since version 1 has no place for more",
        version_1_check(odd_one(0)));
    for (int i = 0; i < 5; i++) {
        REFUSES_SUCH(odd[i], version_1_check(odd_one(i)));
        REFUSES_SUCH(odd[i], copy_v2_to_v1(odd_one(i), ROWS(4, w),
                                           ROWS(4, w), ROWS(2, w)));
    }
}

/* A trace of 5 tokens with tables, for these heads. */
static Trace *whole(int n_heads, int d_out)
{
    Trace *t = sized(5, 5, n_heads, 4, 2, d_out);
    trace_init(t, t);
    return t;
}

static void modules_refused(void)
{
    Random *const r = some_draws();
    REFUSES(NULL, self_attention_init(&fit, r, 0, 3, 4, 0));
    REFUSES(NULL, self_attention_init(&fit, r, 2, 0, 4, 1));
    REFUSES(NULL, self_attention_init(&fit, r, 2, 3, 0, 0));
    for (int i = 0; i < 6; i++)
        REFUSES_SUCH(one_more(i), self_attention_forward(
                                      fitting(1, 0), 5, x,
                                      wrong_trace(i, 5, 5, 1, 4, 2, 0)));
    for (int i = 1; i < 4; i++)
        REFUSES_SUCH(odd[i], self_attention_forward(
                                 odd_one(i), 5, x,
                                 whole(i == 1 ? 2 : 1, i == 2 ? 6 : 0)));
    REFUSES_SUCH("layers that do not fit",
                 attention_project(but(&fit.d_k, 9), 5, 6, x, x,
                                   sized(5, 6, 1, 9, 2, 0)));
    REFUSES_SUCH("a trace of two heads", attend_trace(whole(2, 0)));
    REFUSES_SUCH("a trace with an output", attend_trace(whole(1, 6)));
}

static void orders_refused(void)
{
    static const int order[4][4] = {
        {0, 1, 3}, {1, 2, 1}, {-1, 0, 1}, {0, 1, 3, 3}};
    float moved[4][3];
    for (int i = 0; i < 4; i++) {
        const int n = i < 3 ? 3 : 4, *o = order[i];
        const char *last = n == 4 ? tap_words(", %d", o[3]) : "";
        REFUSES_SUCH(tap_words("the order {%d, %d, %d%s} of %d rows", o[0],
                               o[1], o[2], last, n),
                     permute_tokens(n, 3, o, x, moved));
    }
}

int main(void)
{
    EACH_SET("attend_trace", "v1_*-x", v1_test(set));
    EACH_SET("linear_fill", "mixed-first", mixed_test(set));
    EACH_SET("linear_fill", "linear_*-x",
             linear_fill((Random[]){input_random(set)}, dim(set, "x", 1),
                         dim(set, "y", 1), due(set, "weight", EXACTLY),
                         has_bias(set) ? due(set, "bias", EXACTLY) : NULL));
    EACH_SET("linear_forward", "linear_*-x",
             linear_forward(layer(set), dim(set, "x", 0), input(set, "x"),
                            due_as(set, "y", "out", SUMS)));
    EACH_SET("self_attention_forward", "v2_*-x", v2_test(set));
    TAP("attention_project: two inputs, two heads", roles_test());
    EACH_SET("self_attention_forward: another bias of the keys",
             "v2_bias_lopsided-x", key_bias_does_nothing(set));
    TAP("copy_v2_to_v1: v2_one", copy_test("v2_one"));
    TAP("copy_v2_to_v1: v2_journey", copy_test("v2_journey"));
    TAP("copy_v2_to_v1: v2_journey_123", copy_test("v2_journey_123"));
    TAP("copy_v2_to_v1: v2_life", copy_test("v2_life"));
    TAP("copy_v2_to_v1: v2_lopsided", copy_test("v2_lopsided"));
    EACH_SET("permute_tokens", "permute_*-x",
             permute_tokens(dim(set, "x", 0), dim(set, "x", 1),
                            input_ints(set, "order", "order"),
                            input(set, "x"),
                            due(set, "permuted", EXACTLY)));
    fit.d_y = fit.d_x;
    modules_refused();
    versions_refused();
    orders_refused();
    return tap_done();
}
