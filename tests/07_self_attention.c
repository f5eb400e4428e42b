/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"
#include "attention/07_self_attention.h"
#include "attention/01_dot_product.h"

/* As in chapter 3. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 1e-5 /* of scores that are sums themselves */
#define WEIGHT_ATOL 1e-7

/* What a module has computed, against PyTorch. */
static void close_trace(const Trace *t)
{
    tap_close("t->query", part("query"), t->query, SUM_RTOL, SUM_ATOL);
    tap_close("t->key", part("key"), t->key, SUM_RTOL, SUM_ATOL);
    tap_close("t->value", part("value"), t->value, SUM_RTOL, SUM_ATOL);
    tap_close("t->scores", part("scores"), t->scores, SUM_RTOL, SUM_ATOL);
    tap_close("t->weights", part("weights"), t->weights, WEIGHT_RTOL,
              WEIGHT_ATOL);
    tap_close("t->context", part("context"), t->context, SUM_RTOL,
              SUM_ATOL);
}

/* A trace for the running set. */
static Trace space(void)
{
    const int n = dim("x", 0);
    return one_head(n, n, dim("query", 1), dim("value", 1));
}

/* Drawn as PyTorch draws it, and multiplied. */
static void v1_test(void)
{
    const char *const names[3] = {"w_query", "w_key", "w_value"};
    const int64_t seed = *tensor_integers(part("seed"));
    const int d_in = dim("x", 1);
    Random r = seeded(seed);
    Trace t = space();
    for (int k = 0; k < 3; k++) {
        const int columns = k < 2 ? t.d_k : t.d_v;
        float *w = room((size_t)(d_in * columns));
        random_fill(&r, d_in, columns, ROWS(columns, w));
        agrees(names[k], w, 0, 0);
    }
    qkv_from_seed((uint64_t)seed, t.n, d_in, t.d_k, t.d_v, input("x"),
                  ROWS(t.d_k, t.query), ROWS(t.d_k, t.key),
                  ROWS(t.d_v, t.value));
    t.dropout_rate = 0.5; /* of another forward */
    attend_trace(&t);
    close_trace(&t);
    tap_near("rate", t.dropout_rate, 0, 0, 0);
}

/* Draws of different kinds from one generator. */
static void mixed_test(void)
{
    float *uniform = room(15), *weight = room(12), *bias = room(3);
    float *again = room(700);
    Random r = seeded(123);
    random_fill(&r, 3, 5, (void *)uniform);
    agrees("first", uniform, 0, 0);
    uniform_fill(&r, 2, 2, -3, 3, (void *)uniform);
    agrees("second", uniform, 0, 0);
    linear_fill(&r, 4, 3, (void *)weight, bias);
    agrees("third", bias, 0, 0);
    random_fill(&r, 1, 700, (void *)again);
    agrees("fourth", again, 0, 0);
}

static bool has_bias(void)
{
    return strstr(sets_now, "bias") != NULL;
}

static void fill_test(void)
{
    Random r = random_of_set();
    float *weight = result("weight");
    float *bias = has_bias() ? result("bias") : NULL;
    linear_fill(&r, dim("x", 1), dim("y", 1), (void *)weight, bias);
    agrees("weight", weight, 0, 0);
    if (bias)
        agrees("bias", bias, 0, 0);
}

static void linear_test(void)
{
    float *out = room_for("out", part("y")->count);
    Linear l = {.d_in = dim("x", 1), .d_out = dim("y", 1)};
    l.weight = input_as("l->weight", "weight");
    if (has_bias())
        l.bias = input_as("l->bias", "bias");
    else
        give("l->bias = NULL");
    linear_forward(&l, dim("x", 0), input("x"), (void *)out);
    tap_close("out", part("y"), out, SUM_RTOL, SUM_ATOL);
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
    Trace t = space();
    self_attention_forward(&a, t.n, input("x"), &t);
    close_trace(&t);
    tap_true("no limit, no dropout",
             !a.context_length && a.dropout_rate <= 0);
    const float *here = a.memory;
    for (int i = 0; i < 6; i += a.query.bias ? 1 : 2) {
        agrees(parameters[i], here, 0, 0);
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
    float *table[2][13];
    size_t count[13];
    tables(&got, table[0], count);
    tables(&expect, table[1], count);
    for (int i = 0; i < 13; i++)
        same(table_name[i], count[i], table[0][i], table[1][i]);
    attention_free(&a);
}

/* Exercise 7.5: another bias for the keys, the same weights. */
static void key_bias_does_nothing(void)
{
    sets_now = "v2_bias_lopsided";
    Attention a = version_2();
    Trace t = space();
    tap_fill(a.d_k, a.key.bias, -2, 2);
    self_attention_forward(&a, t.n, input("x"), &t);
    agrees("weights", t.weights, 2e-5, WEIGHT_ATOL);
    attention_free(&a);
}

/* A matrix of version 1 against a weight of version 2, turned over. */
static void close_turned(const char *name, const Tensor *weight,
                         const float *got)
{
    const int d_out = weight->shape[0], d_in = weight->shape[1];
    Tensor right = *weight;
    right.shape[0] = d_in;
    right.shape[1] = d_out;
    right.data = room(weight->count);
    transpose(d_out, d_in, weight->data, right.data);
    tap_close(name, &right, got, 0, 0);
}

static void copy_test(void)
{
    Attention from = {.d_x = dim("x", 1),
                      .d_y = dim("x", 1),
                      .n_heads = 1,
                      .d_k = dim("query", 1),
                      .d_v = dim("value", 1)};
    const Tensor *query = told_as("from->query.weight", "query_weight");
    const Tensor *key = told_as("from->key.weight", "key_weight");
    const Tensor *value = told_as("from->value.weight", "value_weight");
    float *to[3] = {room_for("w_query", query->count),
                    room_for("w_key", key->count),
                    room_for("w_value", value->count)};
    attention_init(&from, &from);
    from.query.weight = floats(query);
    from.key.weight = floats(key);
    from.value.weight = floats(value);
    copy_v2_to_v1(&from, ROWS(from.d_k, to[0]), ROWS(from.d_k, to[1]),
                  ROWS(from.d_v, to[2]));
    close_turned("w_query", query, to[0]);
    close_turned("w_key", key, to[1]);
    close_turned("w_value", value, to[2]);
    attention_free(&from);
}

static void permute_test(void)
{
    const int n = dim("x", 0);
    const int64_t *given_order = tensor_integers(told("order"));
    int *order = result("order");
    float *got = result("permuted");
    for (int i = 0; i < n; i++)
        order[i] = (int)given_order[i];
    permute_tokens(n, dim("x", 1), order, input("x"), (void *)got);
    agrees("permuted", got, 0, 0);
}

/* ---- What is refused. Each call has a child of its own, which may change
 * what it likes. A head that fits goes from 3 numbers to 4 and 2. */

static const float x[5][3];

static const Attention *biased(void)
{
    fit.has_bias = 1;
    return fitting(1, 0);
}

/* A head whose keys and values come from narrower tokens. */
static const Attention *crossing(void)
{
    fit.d_y = 2;
    return fitting(1, 0);
}

/* A trace of 5 tokens for these heads, with tables. */
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
    REFUSES_SUCH("two heads",
                 self_attention_forward(fitting(2, 0), 5, x, whole(2, 0)));
    REFUSES_SUCH("an output layer",
                 self_attention_forward(fitting(1, 6), 5, x, whole(1, 6)));
    REFUSES_SUCH("keys from tokens of another width",
                 self_attention_forward(crossing(), 5, x, whole(1, 0)));
    REFUSES_SUCH("layers that do not fit",
                 attention_project(but(&fit.d_k, 9), 5, 6, x, x,
                                   sized(5, 6, 1, 9, 2, 0)));
    REFUSES_SUCH("a trace of two heads", attend_trace(whole(2, 0)));
    REFUSES_SUCH("a trace with an output", attend_trace(whole(1, 6)));
}

/* What no version 1 has a place for. */
static void versions_refused(void)
{
    REFUSES("objects.c: version_1_check: an attention with a bias, 1 "
            "heads and 0 columns of output: none, 1 and 0 are needed, "
            "since version 1 has no place for more",
            version_1_check(biased()));
    REFUSES_SUCH("two heads", version_1_check(fitting(2, 0)));
    REFUSES_SUCH("an output layer", version_1_check(fitting(1, 6)));
    REFUSES_SUCH("keys from tokens of another width",
                 version_1_check(crossing()));
    REFUSES_SUCH("layers that do not fit",
                 version_1_check(but(&fit.key.d_out, 2)));
}

static void copy_of(int i)
{
    const Attention *from = i == 0   ? biased()
                            : i == 1 ? fitting(2, 0)
                            : i == 2 ? fitting(1, 6)
                            : i == 3 ? but(&fit.key.d_out, 2)
                                     : crossing();
    float w[3][3 * 4];
    copy_v2_to_v1(from, ROWS(from->d_k, w[0]), ROWS(from->d_k, w[1]),
                  ROWS(from->d_v, w[2]));
}

static void exercises_refused(void)
{
    static const char *const what[5] = {
        "a bias", "two heads", "an output layer", "layers that do not fit",
        "keys from tokens of another width"};
    for (int i = 0; i < 5; i++)
        TAP_REFUSES("copy_v2_to_v1", what[i], NULL, copy_of(i));

    float moved[4][3];
    static const int order[4][4] = {
        {0, 1, 3}, {1, 2, 1}, {-1, 0, 1}, {0, 1, 3, 3}};
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
    SETS("linear_fill", mixed_test, "mixed");
    EACH("linear_fill", fill_test, "linear_*-x");
    EACH("linear_forward", linear_test, "linear_*-x");
    EACH("self_attention_forward", v2_test, "v2_*-x");
    TAP(roles_test, "attention_project: two inputs, two heads");
    TAP(key_bias_does_nothing,
        "self_attention_forward: another bias of the keys");
    SETS("copy_v2_to_v1", copy_test, "v2_one", "v2_journey",
         "v2_journey_123", "v2_life", "v2_lopsided");
    EACH("permute_tokens", permute_test, "permute_*-x");
    fit.d_y = fit.d_x;
    modules_refused();
    versions_refused();
    exercises_refused();
    return tap_done();
}
