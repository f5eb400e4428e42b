/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "sets.h"

#define CASES(version)                                                     \
    version "_journey", version "_journey_123", version "_life",           \
        version "_one", version "_lopsided"
#define LINEARS                                                            \
    "linear_1x1x1", "linear_1x1x1_bias", "linear_4x3x2",                   \
        "linear_4x3x2_bias", "linear_2x5x7", "linear_2x5x7_bias",          \
        "linear_6x64x3", "linear_6x64x3_bias"

/* As in chapter 3. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 1e-5 /* of scores that are sums themselves */
#define WEIGHT_ATOL 1e-7

static void same_floats(const Tensor *expect, const float *got)
{
    tap_close("drawn numbers", expect, got, 0, 0);
}

static Random seeded(void)
{
    Random r;
    random_seed(&r, (uint64_t)tensor_integers(part("seed"))[0]);
    return r;
}

/* What a module has computed, against PyTorch. */
static void close_trace(const Trace *t)
{
    tap_close("query", part("query"), t->query, SUM_RTOL, SUM_ATOL);
    tap_close("key", part("key"), t->key, SUM_RTOL, SUM_ATOL);
    tap_close("value", part("value"), t->value, SUM_RTOL, SUM_ATOL);
    tap_close("scores", part("scores"), t->scores, SUM_RTOL, SUM_ATOL);
    tap_close("weights", part("weights"), t->weights, WEIGHT_RTOL,
              WEIGHT_ATOL);
    tap_close("context", part("context"), t->context, SUM_RTOL, SUM_ATOL);
}

/* A trace with room for the running set, which is as large as it says and
 * has guards behind its tables. */
static Trace roomy(void)
{
    const Tensor *query = part("query"), *value = part("value");
    const int n = query->shape[0];
    Trace t = {
        n,    n,   query->shape[1], value->shape[1], NULL, NULL, NULL, NULL,
        NULL, NULL};
    t.query = room(query->count);
    t.key = room(query->count);
    t.value = room(value->count);
    t.scores = room((size_t)(n * n));
    t.weights = room((size_t)(n * n));
    t.context = room(value->count);
    return t;
}

/* Every table has room for all its entries, and none lies in another. */
static void trace_test(void)
{
    enum { N = 37, M = 53, D_K = 29, D_V = 61 };
    const int sizes[6] = {N * D_K, M * D_K, M * D_V, N * M, N * M, N * D_V};
    Trace t;
    trace_init(&t, N, M, D_K, D_V);
    tap_true("sizes", t.n == N && t.m == M && t.d_k == D_K && t.d_v == D_V);
    float *const table[6] = {t.query,  t.key,     t.value,
                             t.scores, t.weights, t.context};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < sizes[i]; k++)
            table[i][k] = (float)(i * 10000 + k);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < sizes[i]; k++)
            tap_near("entry", table[i][k], i * 10000 + k, 0, 0);
    trace_must_fit(&t, N, M, D_K, D_V);
    trace_free(&t);
}

/* What is freed can be asked for again: 100 times a third of a megabyte does
 * not fit otherwise. */
static void trace_free_test(void)
{
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        Trace t;
        trace_init(&t, 500, 500, 600, 600);
        trace_free(&t);
        tap_true("freed", 1);
    }
}

static void v1_free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        SelfAttentionV1 a;
        self_v1_init(&a, &r, 300, 300, 300);
        self_v1_free(&a);
        tap_true("freed", 1);
    }
}

static void linear_free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        Linear l;
        linear_init(&l, &r, 1, 150000, 1); /* as much bias as weight */
        linear_free(&l);
        tap_true("freed", 1);
    }
}

static void v2_free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        SelfAttentionV2 a;
        self_v2_init(&a, &r, 300, 300, 300, 0);
        self_v2_free(&a);
        tap_true("freed", 1);
    }
}

static void trace_of_nothing(void)
{
    Trace t;
    trace_init(&t, 2, 0, 4, 5);
}

static void v1_of_nothing(void)
{
    Random r;
    SelfAttentionV1 a;
    random_seed(&r, 1);
    self_v1_init(&a, &r, 3, 2, 0);
}

static void linear_of_nothing(void)
{
    Random r;
    Linear l;
    random_seed(&r, 1);
    linear_init(&l, &r, 0, 3, 0);
}

static void v2_of_nothing(void)
{
    Random r;
    SelfAttentionV2 a;
    random_seed(&r, 1);
    self_v2_init(&a, &r, 3, 2, 0, 0);
}

static void trace_attention_test(void)
{
    const Tensor *query = part("query");
    Trace t = roomy();
    memcpy(t.query, rounded(query), query->count * sizeof(float));
    memcpy(t.key, rounded(part("key")), query->count * sizeof(float));
    memcpy(t.value, rounded(part("value")),
           part("value")->count * sizeof(float));
    trace_attention(&t);
    close_trace(&t);
}

static void misfit(int n, int m, int d_k, int d_v)
{
    Trace t = {2, 3, 4, 5, NULL, NULL, NULL, NULL, NULL, NULL};
    trace_must_fit(&t, n, m, d_k, d_v);
}

static void misfit_n(void)
{
    misfit(1, 3, 4, 5);
}

static void misfit_m(void)
{
    misfit(2, 2, 4, 5);
}

static void misfit_d_k(void)
{
    misfit(2, 3, 5, 5);
}

static void misfit_d_v(void)
{
    misfit(2, 3, 4, 4);
}

static void v1_init_test(void)
{
    const Tensor *w_query = part("w_query"), *w_value = part("w_value");
    SelfAttentionV1 a;
    Random r = seeded();
    self_v1_init(&a, &r, w_query->shape[0], w_query->shape[1],
                 w_value->shape[1]);
    tap_true("sizes", a.d_in == w_query->shape[0] &&
                          a.d_k == w_query->shape[1] &&
                          a.d_v == w_value->shape[1]);
    same_floats(w_query, a.w_query);
    same_floats(part("w_key"), a.w_key);
    same_floats(w_value, a.w_value);
    self_v1_free(&a);
}

static void v1_forward_test(void)
{
    const Tensor *x = part("x");
    Trace t = roomy();
    const SelfAttentionV1 a = {x->shape[1],
                               t.d_k,
                               t.d_v,
                               floats(part("w_query")),
                               floats(part("w_key")),
                               floats(part("w_value"))};
    self_v1_forward(&a, t.n, floats(x), &t);
    close_trace(&t);
}

/* Version 1 of d_in 2, d_k 3, d_v 4 on five tokens, with another trace. */
static void v1_with(int n, int m, int d_k, int d_v)
{
    static const float w[2][4], x[5][2];
    const SelfAttentionV1 a = {2, 3, 4, (void *)w, (void *)w, (void *)w};
    Trace t = {n, m, d_k, d_v, NULL, NULL, NULL, NULL, NULL, NULL};
    self_v1_forward(&a, 5, x, &t);
}

static void v1_n(void)
{
    v1_with(4, 5, 3, 4);
}

static void v1_m(void)
{
    v1_with(5, 6, 3, 4);
}

static void v1_d_k(void)
{
    v1_with(5, 5, 2, 4);
}

static void v1_d_v(void)
{
    v1_with(5, 5, 3, 3);
}

static Linear linear_of(const char *role)
{
    char name[40];
    snprintf(name, sizeof name, "%sweight", role);
    const Tensor *weight = part(name);
    Linear l = {weight->shape[1], weight->shape[0], floats(weight), NULL};
    snprintf(name, sizeof name, "%sbias", role);
    if (strstr(sets_now, "bias"))
        l.bias = floats(part(name));
    return l;
}

static void linear_init_test(void)
{
    const Linear like = linear_of("");
    Linear l;
    Random r = seeded();
    linear_init(&l, &r, like.d_in, like.d_out, like.bias != NULL);
    tap_true("sizes", l.d_in == like.d_in && l.d_out == like.d_out);
    tap_true("a bias or none", (l.bias != NULL) == (like.bias != NULL));
    same_floats(part("weight"), l.weight);
    if (like.bias && l.bias)
        same_floats(part("bias"), l.bias);
    linear_free(&l);
}

static void linear_forward_test(void)
{
    const Tensor *x = part("x"), *y = part("y");
    const Linear l = linear_of("");
    float *got = room(y->count);
    linear_forward(&l, x->shape[0], floats(x), (void *)got);
    tap_close("y", y, got, SUM_RTOL, SUM_ATOL);
}

static void v2_init_test(void)
{
    const Linear query = linear_of("query_"), value = linear_of("value_");
    SelfAttentionV2 a;
    Random r = seeded();
    self_v2_init(&a, &r, query.d_in, query.d_out, value.d_out,
                 query.bias != NULL);
    same_floats(part("query_weight"), a.query.weight);
    same_floats(part("key_weight"), a.key.weight);
    same_floats(part("value_weight"), a.value.weight);
    tap_true("a bias or none", (a.query.bias != NULL) == !!query.bias &&
                                   (a.key.bias != NULL) == !!query.bias &&
                                   (a.value.bias != NULL) == !!query.bias);
    if (query.bias && a.query.bias) {
        same_floats(part("query_bias"), a.query.bias);
        same_floats(part("key_bias"), a.key.bias);
        same_floats(part("value_bias"), a.value.bias);
    }
    self_v2_free(&a);
}

static void v2_forward_test(void)
{
    const Tensor *x = part("x");
    Trace t = roomy();
    const SelfAttentionV2 a = {linear_of("query_"), linear_of("key_"),
                               linear_of("value_")};
    self_v2_forward(&a, t.n, floats(x), &t);
    close_trace(&t);
}

/* As v1_with, for version 2. */
static void v2_with(int n, int m, int d_k, int d_v)
{
    static const float w[4][2], x[5][2];
    const Linear role = {2, 3, (void *)w, NULL};
    const SelfAttentionV2 a = {role, role, {2, 4, (void *)w, NULL}};
    Trace t = {n, m, d_k, d_v, NULL, NULL, NULL, NULL, NULL, NULL};
    self_v2_forward(&a, 5, x, &t);
}

static void v2_n(void)
{
    v2_with(4, 5, 3, 4);
}

static void v2_m(void)
{
    v2_with(5, 6, 3, 4);
}

static void v2_d_k(void)
{
    v2_with(5, 5, 2, 4);
}

static void v2_d_v(void)
{
    v2_with(5, 5, 3, 3);
}

/* Layers of 2 to 3 numbers, but for the sizes given. */
static void roles_with(int query_in, int key_in, int value_in, int key_out)
{
    const Linear query = {query_in, 3, NULL, NULL};
    const Linear key = {key_in, key_out, NULL, NULL};
    const Linear value = {value_in, 4, NULL, NULL};
    roles_must_fit(&query, &key, &value);
}

static void roles_fit(void)
{
    roles_with(2, 2, 2, 3);
    tap_true("they fit", 1);
}

static void roles_query(void)
{
    roles_with(1, 2, 2, 3);
}

static void roles_key(void)
{
    roles_with(2, 1, 2, 3);
}

static void roles_value(void)
{
    roles_with(2, 2, 1, 3);
}

static void roles_width(void)
{
    roles_with(2, 2, 2, 50);
}

static void v2_of_wide_keys(void)
{
    static const float w[50][2], x[5][2];
    const Linear role = {2, 3, (void *)w, NULL};
    const SelfAttentionV2 a = {role, {2, 50, (void *)w, NULL}, role};
    Trace t = {5, 5, 3, 3, NULL, NULL, NULL, NULL, NULL, NULL};
    self_v2_forward(&a, 5, x, &t);
}

static void copy_of_narrow_keys(void)
{
    static float memory[64];
    const Linear role = {2, 3, memory, NULL};
    const SelfAttentionV2 from = {role, {2, 2, memory, NULL}, role};
    SelfAttentionV1 to = {2, 3, 3, memory, memory, memory};
    copy_v2_to_v1(&from, &to);
}

/* The copy holds the same numbers, and computes what PyTorch computes. */
static void copy_test(void)
{
    const Tensor *x = part("x");
    Trace t = roomy();
    const SelfAttentionV2 from = {linear_of("query_"), linear_of("key_"),
                                  linear_of("value_")};
    const int d_in = from.query.d_in;
    SelfAttentionV1 to = {d_in,
                          t.d_k,
                          t.d_v,
                          room((size_t)(d_in * t.d_k)),
                          room((size_t)(d_in * t.d_k)),
                          room((size_t)(d_in * t.d_v))};
    copy_v2_to_v1(&from, &to);
    tap_true("the sizes stay",
             to.d_in == d_in && to.d_k == t.d_k && to.d_v == t.d_v);
    self_v1_forward(&to, t.n, floats(x), &t);
    close_trace(&t);
}

/* From a version 2 of d_in 2, d_k 3, d_v 4 to other sizes. */
static void copy_to(int d_in, int d_k, int d_v, int biased)
{
    static float memory[64];
    Linear l[3] = {
        {2, 3, memory, NULL}, {2, 3, memory, NULL}, {2, 4, memory, NULL}};
    if (biased >= 0)
        l[biased].bias = memory;
    const SelfAttentionV2 from = {l[0], l[1], l[2]};
    SelfAttentionV1 to = {d_in, d_k, d_v, memory, memory, memory};
    copy_v2_to_v1(&from, &to);
}

static void copy_d_in(void)
{
    copy_to(3, 3, 4, -1);
}

static void copy_d_k(void)
{
    copy_to(2, 4, 4, -1);
}

static void copy_d_v(void)
{
    copy_to(2, 3, 3, -1);
}

static void copy_query_bias(void)
{
    copy_to(2, 3, 4, 0);
}

static void copy_key_bias(void)
{
    copy_to(2, 3, 4, 1);
}

static void copy_value_bias(void)
{
    copy_to(2, 3, 4, 2);
}

static void permute_test(void)
{
    const Tensor *x = part("x"), *order = part("order");
    const Tensor *permuted = part("permuted");
    int n = x->shape[0], d = x->shape[1];
    int *rows = room((size_t)n);
    for (int i = 0; i < n; i++)
        rows[i] = (int)tensor_integers(order)[i];
    float *got = room(x->count);
    permute_tokens(n, d, rows, floats(x), (void *)got);
    same_floats(permuted, got);
}

static void permute_to(int a, int b, int c)
{
    const int order[3] = {a, b, c};
    const float x[3][1] = {{1}, {2}, {3}};
    float permuted[3][1];
    permute_tokens(3, 1, order, x, permuted);
}

static void permute_twice(void)
{
    permute_to(1, 2, 1);
}

static void permute_last_twice(void)
{
    permute_to(0, 2, 2);
}

static void permute_beyond(void)
{
    permute_to(0, 1, 3);
}

static void permute_below(void)
{
    permute_to(-1, 0, 1);
}

/* The same tokens in another order: the same context vectors in that order,
 * for every module and any order. */
static void order_does_not_matter(void)
{
    enum { N = 5, D = 4 };
    const int order[N] = {3, 0, 4, 2, 1};
    Random r;
    SelfAttentionV2 a;
    Trace t, turned;
    float x[N][D], moved[N][D];
    random_seed(&r, 42);
    self_v2_init(&a, &r, D, 3, 2, 1);
    trace_init(&t, N, N, 3, 2);
    trace_init(&turned, N, N, 3, 2);
    for (int round = 0; round < 20; round++) {
        tap_fill(N * D, (void *)x, -3, 3);
        embed(N, D, N, order, x, moved);
        self_v2_forward(&a, N, x, &t);
        self_v2_forward(&a, N, moved, &turned);
        const float(*context)[2] = t.context, (*other)[2] = turned.context;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++)
                tap_near("context", other[i][k], context[order[i]][k],
                         SUM_RTOL, SUM_ATOL);
    }
    trace_free(&t);
    trace_free(&turned);
    self_v2_free(&a);
}

/* Exercise 7.5: another bias for the keys, the same weights. */
static void key_bias_does_nothing(void)
{
    sets_now = "v2_bias_lopsided";
    const Tensor *x = part("x");
    Trace t = roomy();
    SelfAttentionV2 a = {linear_of("query_"), linear_of("key_"),
                         linear_of("value_")};
    float bias[3] = {2, -1, 0.5f};
    a.key.bias = bias;
    self_v2_forward(&a, t.n, floats(x), &t);
    tap_close("weights", part("weights"), t.weights, 2e-5, WEIGHT_ATOL);
}

int main(void)
{
    TAP(trace_test, "trace_init: sizes and room");
    TAP_LARGE(trace_free_test, "trace_free: the memory can be used again");
    SETS("trace_attention", trace_attention_test, CASES("v1"));
    tap_refuses(misfit_n, "trace_must_fit: other queries",
                "07_self_attention.c",
                "a trace of n, m, d_k, d_v = 2, 3, 4, 5: 1, 3, 4, 5 are "
                "needed");
    tap_refuses(misfit_m, "trace_must_fit: other keys",
                "07_self_attention.c",
                "a trace of n, m, d_k, d_v = 2, 3, 4, 5: 2, 2, 4, 5 are "
                "needed");
    tap_refuses(misfit_d_k, "trace_must_fit: wider keys",
                "07_self_attention.c",
                "a trace of n, m, d_k, d_v = 2, 3, 4, 5: 2, 3, 5, 5 are "
                "needed");
    tap_refuses(misfit_d_v, "trace_must_fit: narrower values",
                "07_self_attention.c",
                "a trace of n, m, d_k, d_v = 2, 3, 4, 5: 2, 3, 4, 4 are "
                "needed");

    SETS("self_v1_init", v1_init_test, CASES("v1"));
    TAP_LARGE(v1_free_test, "self_v1_free: the memory can be used again");
    SETS("self_v1_forward", v1_forward_test, CASES("v1"));
    tap_refuses(
        v1_n, "self_v1_forward: refuses another n", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 4, 5, 3, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v1_m, "self_v1_forward: refuses another m", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 6, 3, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v1_d_k, "self_v1_forward: refuses another d_k",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 2, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v1_d_v, "self_v1_forward: refuses another d_v",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 3, 3: 5, 5, 3, 4 are needed");

    SETS("linear_init", linear_init_test, LINEARS);
    TAP_LARGE(linear_free_test,
              "linear_free: the memory can be used again");
    SETS("linear_forward", linear_forward_test, LINEARS);

    SETS("self_v2_init", v2_init_test, CASES("v2"), CASES("v2_bias"));
    TAP_LARGE(v2_free_test, "self_v2_free: the memory can be used again");
    SETS("self_v2_forward", v2_forward_test, CASES("v2"), CASES("v2_bias"));
    tap_refuses(
        v2_n, "self_v2_forward: refuses another n", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 4, 5, 3, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v2_m, "self_v2_forward: refuses another m", "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 6, 3, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v2_d_k, "self_v2_forward: refuses another d_k",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 2, 4: 5, 5, 3, 4 are needed");
    tap_refuses(
        v2_d_v, "self_v2_forward: refuses another d_v",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 3, 3: 5, 5, 3, 4 are needed");
    TAP(roles_fit, "roles_must_fit: layers that fit");
    tap_refuses(
        roles_query, "roles_must_fit: refuses another input of queries",
        "07_self_attention.c",
        "layers from 1, 2, 2 to 3, 3, 4 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        roles_key, "roles_must_fit: refuses another input of keys",
        "07_self_attention.c",
        "layers from 2, 1, 2 to 3, 3, 4 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        roles_value, "roles_must_fit: refuses another input of values",
        "07_self_attention.c",
        "layers from 2, 2, 1 to 3, 3, 4 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        roles_width, "roles_must_fit: refuses wider keys",
        "07_self_attention.c",
        "layers from 2, 2, 2 to 3, 50, 4 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        v2_of_wide_keys, "self_v2_forward: refuses layers that do not fit",
        "07_self_attention.c",
        "layers from 2, 2, 2 to 3, 50, 3 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        copy_of_narrow_keys,
        "copy_v2_to_v1: refuses layers that do not fit",
        "07_self_attention.c",
        "layers from 2, 2, 2 to 3, 2, 3 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    TAP(order_does_not_matter, "self_v2_forward: tokens in another order");
    TAP(key_bias_does_nothing, "self_v2_forward: another bias of the keys");

    SETS("copy_v2_to_v1", copy_test, CASES("v2"));
    tap_refuses(copy_d_in, "copy_v2_to_v1: refuses another d_in",
                "07_self_attention.c",
                "sizes d_in, d_k, d_v = 3, 3, 4: 2, 3, 4 are needed");
    tap_refuses(copy_d_k, "copy_v2_to_v1: refuses another d_k",
                "07_self_attention.c",
                "sizes d_in, d_k, d_v = 2, 4, 4: 2, 3, 4 are needed");
    tap_refuses(copy_d_v, "copy_v2_to_v1: refuses another d_v",
                "07_self_attention.c",
                "sizes d_in, d_k, d_v = 2, 3, 3: 2, 3, 4 are needed");
    const char *const bias =
        "a version 2 with bias: one without is needed, "
        "since version 1 has no place for it";
    tap_refuses(copy_query_bias, "copy_v2_to_v1: refuses a bias of queries",
                "07_self_attention.c", bias);
    tap_refuses(copy_key_bias, "copy_v2_to_v1: refuses a bias of keys",
                "07_self_attention.c", bias);
    tap_refuses(copy_value_bias, "copy_v2_to_v1: refuses a bias of values",
                "07_self_attention.c", bias);

    SETS("permute_tokens", permute_test, "permute_one", "permute_backwards",
         "permute_cycle", "permute_some", "permute_nine");
    tap_refuses(permute_twice,
                "permute_tokens: refuses a row that is left out",
                "07_self_attention.c",
                "row 0 stands 0 times in the order: once is needed");
    tap_refuses(permute_last_twice,
                "permute_tokens: refuses the last row twice",
                "07_self_attention.c",
                "row 1 stands 0 times in the order: once is needed");
    tap_refuses(permute_beyond,
                "permute_tokens: refuses a row beyond the end",
                "07_self_attention.c",
                "row 2 stands 0 times in the order: once is needed");
    tap_refuses(permute_below,
                "permute_tokens: refuses a row before the first",
                "07_self_attention.c",
                "row 2 stands 0 times in the order: once is needed");
    const char *const file = "argument.c";
    tap_refuses(
        trace_of_nothing, "trace_init: refuses no keys", file,
        "a table of 0 times 4 numbers: at least 1 of each is needed");
    tap_refuses(
        v1_of_nothing, "self_v1_init: refuses no values", file,
        "a table of 3 times 0 numbers: at least 1 of each is needed");
    tap_refuses(
        linear_of_nothing, "linear_init: refuses no inputs", file,
        "a table of 3 times 0 numbers: at least 1 of each is needed");
    tap_refuses(
        v2_of_nothing, "self_v2_init: refuses no values", file,
        "a table of 0 times 3 numbers: at least 1 of each is needed");
    return tap_done();
}
