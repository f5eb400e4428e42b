/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"
#include "attention/07_self_attention.h"
#include "attention/01_dot_product.h"

/* A trace for the running set, of which all tables are due. */
static Trace due_trace(void)
{
    const int n = dim("x", 0);
    Trace t = one_head(n, n, dim("query", 1), dim("value", 1));
    t.query = due_as("t->query", "query", SUMS);
    t.key = due_as("t->key", "key", SUMS);
    t.value = due_as("t->value", "value", SUMS);
    t.scores = due_as("t->scores", "scores", SUMS);
    t.weights = due_as("t->weights", "weights", 1e-5, 1e-7);
    t.context = due_as("t->context", "context", SUMS);
    return t;
}

/* Drawn as PyTorch draws it, and multiplied. */
static void v1_test(void)
{
    const int64_t seed = *integers("seed");
    const int d_in = dim("x", 1);
    Random r = seeded(seed);
    Trace t = due_trace();
    random_fill(&r, d_in, t.d_k, due("w_query", EXACTLY));
    random_fill(&r, d_in, t.d_k, due("w_key", EXACTLY));
    random_fill(&r, d_in, t.d_v, due("w_value", EXACTLY));
    qkv_from_seed((uint64_t)seed, t.n, d_in, t.d_k, t.d_v, input("x"),
                  ROWS(t.d_k, t.query), ROWS(t.d_k, t.key),
                  ROWS(t.d_v, t.value));
    t.dropout_rate = 0.5; /* of another forward */
    attend_trace(&t);
    tap_near("rate", t.dropout_rate, 0, EXACTLY);
}

/* Draws of different kinds from one generator. */
static void mixed_test(void)
{
    Random r = seeded(123);
    random_fill(&r, 3, 5, due("first", EXACTLY));
    uniform_fill(&r, 2, 2, -3, 3, due("second", EXACTLY));
    linear_fill(&r, 4, 3, room(12), due("third", EXACTLY));
    random_fill(&r, 1, 700, due("fourth", EXACTLY));
}

static bool has_bias(void)
{
    return strstr(sets_now, "bias") != NULL;
}

/* The layer of the running set. */
static const Linear *layer(void)
{
    static Linear l;
    l = (Linear){.d_in = dim("x", 1), .d_out = dim("y", 1)};
    l.weight = input_as("l->weight", "weight");
    if (has_bias())
        l.bias = input_as("l->bias", "bias");
    else
        give("l->bias = NULL");
    return &l;
}

/* Version 2 of the running set, as PyTorch draws it. */
static Attention version_2(void)
{
    Random r = random_of_set();
    Attention a;
    self_attention_init(&a, &r, dim("x", 1), dim("query", 1),
                        dim("value", 1), has_bias());
    return a;
}

static void v2_test(void)
{
    static const char *const parameters[6] = {"query_weight", "query_bias",
                                              "key_weight",   "key_bias",
                                              "value_weight", "value_bias"};
    Attention a = version_2();
    Trace t = due_trace();
    self_attention_forward(&a, t.n, input("x"), &t);
    tap_true("no limit, no dropout",
             !a.context_length && a.dropout_rate <= 0);
    const float *here = a.memory;
    for (int i = 0; i < 6; i += a.query.bias ? 1 : 2) {
        agrees(parameters[i], here, EXACTLY);
        here += part(parameters[i])->count;
    }
    tap_true("no other parameter", here == a.memory + a.count);
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
    same_tables(&got, &expect, 0, 13, EXACTLY);
    attention_free(&a);
}

/* Exercise 7.5: another bias for the keys, the same weights. */
static void key_bias_does_nothing(void)
{
    Attention a = version_2();
    Trace t = one_head(dim("x", 0), dim("x", 0), a.d_k, a.d_v);
    tap_fill(a.d_k, a.key.bias, -2, 2);
    t.weights = due_as("t->weights", "weights", 2e-5, 1e-7);
    self_attention_forward(&a, t.n, input("x"), &t);
    attention_free(&a);
}

/* A matrix of version 1 against a weight of version 2, turned over. */
static void same_turned(const char *name, const Linear *l, const float *got)
{
    float *turned = room((size_t)(l->d_in * l->d_out));
    transpose(l->d_out, l->d_in, ROWS(l->d_in, l->weight),
              ROWS(l->d_out, turned));
    same_table(name, l->d_in, l->d_out, got, turned);
}

static void copy_test(void)
{
    const int d_k = dim("query", 1), d_v = dim("value", 1);
    float *query = result("query_weight"), *key = result("key_weight");
    float *value = result("value_weight");
    Attention from = {.d_x = dim("x", 1),
                      .d_y = dim("x", 1),
                      .n_heads = 1,
                      .d_k = d_k,
                      .d_v = d_v};
    attention_init(&from, &from);
    from.query.weight = input_as("from->query.weight", "query_weight");
    from.key.weight = input_as("from->key.weight", "key_weight");
    from.value.weight = input_as("from->value.weight", "value_weight");
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
    EACH("attend_trace", v1_test, "v1_*-x");
    EACH("linear_fill", mixed_test, "mixed-first");
    EACH_SET("linear_fill", "linear_*-x",
             linear_fill(random_given(), dim("x", 1), dim("y", 1),
                         due("weight", EXACTLY),
                         has_bias() ? due("bias", EXACTLY) : NULL));
    EACH_SET("linear_forward", "linear_*-x",
             linear_forward(layer(), dim("x", 0), input("x"),
                            due_as("out", "y", SUMS)));
    EACH("self_attention_forward", v2_test, "v2_*-x");
    TAP(roles_test, "attention_project: two inputs, two heads");
    EACH("self_attention_forward: another bias of the keys",
         key_bias_does_nothing, "v2_bias_lopsided-x");
    SETS("copy_v2_to_v1", copy_test, "v2_one", "v2_journey",
         "v2_journey_123", "v2_life", "v2_lopsided");
    EACH_SET("permute_tokens", "permute_*-x",
             permute_tokens(dim("x", 0), dim("x", 1), input_ints("order"),
                            input("x"), due("permuted", EXACTLY)));
    fit.d_y = fit.d_x;
    modules_refused();
    versions_refused();
    orders_refused();
    return tap_done();
}
