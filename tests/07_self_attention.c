/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"
#include "attention/07_self_attention.h"
#include "attention/01_dot_product.h"

/* A trace for the set, of which all tables are due. */
static Trace due_trace(const char *set)
{
    const int n = dim(set, "x", 0), d_k = dim(set, "query", 1);
    Trace t = *sized(n, n, 1, d_k, dim(set, "value", 1), 0);
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
    const uint64_t seed = (uint64_t)golden_number(set, "seed");
    const int d_in = dim(set, "x", 1);
    Random r = random_seeded(seed);
    Trace t = due_trace(set);
    random_fill(&r, d_in, t.d_k, due(set, "w_query", EXACTLY));
    random_fill(&r, d_in, t.d_k, due(set, "w_key", EXACTLY));
    random_fill(&r, d_in, t.d_v, due(set, "w_value", EXACTLY));
    qkv_from_seed(seed, t.n, d_in, t.d_k, t.d_v, input(set, "x"),
                  (void *)t.query, (void *)t.key, (void *)t.value);
    t.dropout_rate = 0.5; /* of another forward */
    attend_trace(&t);
    expect_equal("rate", t.dropout_rate, 0);
}

static void mixed_test(void)
{
    Random r = random_seeded(123);
    random_fill(&r, 3, 5, due("mixed", "first", EXACTLY));
    uniform_fill(&r, 2, 2, -3, 3, due("mixed", "second", EXACTLY));
    linear_fill(&r, 4, 3, guarded("weight", 12),
                due("mixed", "third", EXACTLY));
    random_fill(&r, 1, 700, due("mixed", "fourth", EXACTLY));
}

static void linear_test(const char *set)
{
    Linear l = {dim(set, "x", 1), dim(set, "y", 1),
                input_as(set, "weight", "l->weight"), NULL};
    if (strstr(set, "bias"))
        l.bias = input_as(set, "bias", "l->bias");
    else
        given("l->bias = NULL");
    linear_forward(&l, dim(set, "x", 0), input(set, "x"),
                   due_as(set, "y", "out", SUMS));
}

/* Version 2 of the set, as PyTorch draws it. */
static Attention version_2(const char *set)
{
    Random r = input_random(set);
    Attention a;
    self_attention_init(&a, &r, dim(set, "x", 1), dim(set, "query", 1),
                        dim(set, "value", 1), strstr(set, "bias") != NULL);
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
        here += golden_count(set, parameters[i]);
    }
    expect_true("no other parameter", here == a.memory + a.count);
    attention_free(&a);
}

/* Each matrix of version 1 is a weight of version 2, turned over. */
static void copy_test(const char *set)
{
    static const char *const name[3] = {"query_weight", "key_weight",
                                        "value_weight"};
    const int d_in = dim(set, "x", 1);
    const int d_k = dim(set, "query", 1), d_v = dim(set, "value", 1);
    Attention from = {
        .d_x = d_in, .d_y = d_in, .n_heads = 1, .d_k = d_k, .d_v = d_v};
    Linear *const layer[3] = {&from.query, &from.key, &from.value};
    void *matrix[3];
    attention_init(&from, &from);
    for (int k = 0; k < 3; k++) {
        matrix[k] = guarded(name[k], golden_count(set, name[k]));
        layer[k]->weight =
            input_as(set, name[k], tap_words("from->%s", name[k]));
    }
    copy_v2_to_v1(&from, matrix[0], matrix[1], matrix[2]);
    for (int k = 0; k < 3; k++) {
        const int d_out = layer[k]->d_out;
        void *turned = guarded("turned", (size_t)(d_in * d_out));
        transpose(d_out, d_in, ROWS(d_in, layer[k]->weight), turned);
        expect_table(name[k], d_in, d_out, matrix[k], turned, EXACTLY);
    }
    attention_free(&from);
}

/* Two words look at three others. */
static void project_test(void)
{
    const float x[2][2] = {{1, 2}, {3, -4}};
    const float y[3][2] = {{5, 6}, {-7, 8}, {9, 10}};
    float query[2][3], key[3][3];
    Attention a = {.d_x = 2, .d_y = 2, .n_heads = 1, .d_k = 3, .d_v = 1};
    Trace t;
    attention_init(&a, &a);
    tap_fill((int)a.count, a.memory, -1, 1);
    trace_init_for(&t, &a, 2, 3);
    attention_project(&a, 2, 3, x, y, &t);
    linear_forward(&a.query, 2, x, query);
    linear_forward(&a.key, 3, y, key);
    expect_table("queries", 2, 3, (void *)t.query, query, EXACTLY);
    expect_table("keys", 3, 3, (void *)t.key, key, EXACTLY);
    trace_free(&t);
    attention_free(&a);
}

/* An attention from one text to itself, with one number changed. */
static const Wrong odd[] = {
    {"two heads", NULL, &fit.n_heads, 2},
    {"an output layer", NULL, &fit.d_out, 6},
    {"keys from tokens of another width", NULL, &fit.d_y, 2},
    {"layers that do not fit", NULL, &fit.key.d_out, 2},
};
static const Wrong odd_trace[] = {
    {"a trace for 6 queries", NULL, &fit_trace.n, 6},
    {"a trace for 6 keys", NULL, &fit_trace.m, 6},
    {"a trace for wider values", NULL, &fit_trace.d_v, 3},
};

static void modules_refused(void)
{
    fit.d_y = fit.d_x;
    fit_keys = 5;
    REFUSES(NULL, self_attention_init(&fit, some_draws(), 0, 3, 4, 0));
    REFUSES_WRONG("self_attention_forward", odd, fit_but(w),
                  self_attention_forward(&fit, 5, fit_x, &fit_trace));
    REFUSES_WRONG("self_attention_forward", odd_trace, fit_but(w),
                  self_attention_forward(&fit, 5, fit_x, &fit_trace));
    REFUSES_WRONG("attend_trace", misfit_head, fit_but(w),
                  attend_trace(&fit_trace));
    REFUSES_WRONG("copy_v2_to_v1", odd, fit_but(w),
                  copy_v2_to_v1(&fit, fit_x, fit_x, fit_x));
    fit.has_bias = 1;
    fitting(1, 0);
    REFUSES_SUCH("a bias", copy_v2_to_v1(&fit, fit_x, fit_x, fit_x));
    REFUSES("attention_object.c: version_1_check: an attention with a "
            "bias, 1 heads and 0 columns of output: none, 1 and 0 are "
            "needed, since version 1 has no place for more",
            version_1_check(&fit));
    fit_but(&misfit[0]);
    REFUSES_SUCH("layers that do not fit",
                 attention_project(&fit, 5, 5, fit_x, fit_x, &fit_trace));
}

static void orders_refused(void)
{
    float moved[4][3];
    REFUSES(NULL, permute_tokens(3, 3, (int[]){0, 1, 3}, fit_x, moved));
    REFUSES(NULL, permute_tokens(3, 3, (int[]){1, 2, 1}, fit_x, moved));
    REFUSES(NULL, permute_tokens(3, 3, (int[]){-1, 1, 2}, fit_x, moved));
    REFUSES(NULL, permute_tokens(4, 3, (int[]){0, 1, 3, 3}, fit_x, moved));
}

int main(void)
{
    EACH_SET("attend_trace", "v1_*-x", v1_test(set));
    TAP("linear_fill: among other draws", mixed_test());
    EACH_SET("linear_fill", "linear_*-x",
             linear_fill((Random[]){input_random(set)}, dim(set, "x", 1),
                         dim(set, "y", 1), due(set, "weight", EXACTLY),
                         strstr(set, "bias") ? due(set, "bias", EXACTLY)
                                             : NULL));
    EACH_SET("linear_forward", "linear_*-x", linear_test(set));
    EACH_SET("self_attention_forward", "v2_*-x", v2_test(set));
    TAP("attention_project: two texts", project_test());
    TAP("copy_v2_to_v1: one word", copy_test("v2_one"));
    TAP("copy_v2_to_v1: seed 123", copy_test("v2_journey_123"));
    TAP("copy_v2_to_v1: d_k is not d_v", copy_test("v2_lopsided"));
    EACH_SET(
        "permute_tokens", "permute_*-x",
        permute_tokens(SHAPE(set, "x"), input_ints(set, "order", "order"),
                       input(set, "x"), due(set, "permuted", EXACTLY)));
    modules_refused();
    orders_refused();
    return tap_done();
}
