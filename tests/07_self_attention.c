/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"

/* As in chapter 3. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 1e-5 /* of scores that are sums themselves */
#define WEIGHT_ATOL 1e-7

/* What a module has computed, against PyTorch. */
static void close_trace(const Trace *t)
{
    agrees("query", t->query, SUM_RTOL, SUM_ATOL);
    agrees("key", t->key, SUM_RTOL, SUM_ATOL);
    agrees("value", t->value, SUM_RTOL, SUM_ATOL);
    agrees("scores", t->scores, SUM_RTOL, SUM_ATOL);
    agrees("weights", t->weights, WEIGHT_RTOL, WEIGHT_ATOL);
    agrees("context", t->context, SUM_RTOL, SUM_ATOL);
}

/* A trace for the running set. */
static Trace space(void)
{
    const int n = dim("x", 0);
    return one_head(n, n, dim("query", 1), dim("value", 1));
}

/* Drawn as PyTorch draws it. */
static void v1_test(void)
{
    Random r = seeded(*integers("seed"));
    Trace t = space();
    SelfAttentionV1 a;
    self_v1_init(&a, &r, dim("x", 1), t.d_k, t.d_v);
    self_v1_forward(&a, t.n, input("x"), &t);
    close_trace(&t);
    agrees("w_query", a.w_query, 0, 0);
    agrees("w_key", a.w_key, 0, 0);
    agrees("w_value", a.w_value, 0, 0);
    self_v1_free(&a);
}

/* A hundred times a megabyte does not fit if it is not given back. */
static void v1_free_test(void)
{
    Random r = seeded(1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        SelfAttentionV1 a;
        self_v1_init(&a, &r, 300, 300, 300);
        self_v1_free(&a);
        self_v1_free(&a);
        tap_true("nothing is left", !a.w_query && !a.w_key && !a.w_value);
    }
}

/* Draws of different kinds from one generator. */
static void mixed_test(void)
{
    float *uniform = room(15), *weight = room(12), *bias = room(3);
    float *again = room(700);
    Random r = seeded(123);
    rand_fill(&r, 3, 5, (void *)uniform);
    agrees("first", uniform, 0, 0);
    uniform_fill(&r, 2, 2, -3, 3, (void *)uniform);
    agrees("second", uniform, 0, 0);
    linear_fill(&r, 4, 3, (void *)weight, bias);
    agrees("third", bias, 0, 0);
    rand_fill(&r, 1, 700, (void *)again);
    agrees("fourth", again, 0, 0);
}

static void linear_test(void)
{
    const bool has_bias = strstr(sets_now, "bias");
    Random r = seeded(*integers("seed"));
    float *y = result("y");
    const Linear l = {dim("x", 1), dim("y", 1), result("weight"),
                      has_bias ? result("bias") : NULL};
    linear_fill(&r, l.d_in, l.d_out, (void *)l.weight, l.bias);
    linear_forward(&l, dim("x", 0), input("x"), (void *)y);
    agrees("y", y, SUM_RTOL, SUM_ATOL);
    agrees("weight", l.weight, 0, 0);
    if (has_bias)
        agrees("bias", l.bias, 0, 0);
}

/* Version 2 of the running set, as PyTorch draws it. */
static Attention version_2(void)
{
    Random r = seeded(*integers("seed"));
    Attention a;
    self_attention_init(&a, &r, dim("x", 1), dim("query", 1),
                        dim("value", 1), strstr(sets_now, "bias") != NULL);
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
    tap_true("no limit, no dropout", !a.context_length && a.p <= 0);
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
    Trace got = roomy(&a, 3, 5), expect = roomy(&a, 3, 5);
    attention_roles(&a, 3, 5, (void *)x, (void *)y, &got);
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

/* A version 1 that has no matrices: who uses them crashes. */
static SelfAttentionV1 *version_1(int d_in, int d_k, int d_v)
{
    static SelfAttentionV1 a;
    a = (SelfAttentionV1){.d_in = d_in, .d_k = d_k, .d_v = d_v};
    return &a;
}

/* The copy holds the same numbers, and computes what PyTorch computes. */
static void copy_test(void)
{
    Attention from = version_2();
    Trace t = space();
    SelfAttentionV1 *to = version_1(from.d_x, t.d_k, t.d_v);
    to->w_query = result("query_weight");
    to->w_key = result("key_weight");
    to->w_value = result("value_weight");
    copy_v2_to_v1(&from, to);
    tap_true("the sizes stay",
             to->d_in == from.d_x && to->d_k == t.d_k && to->d_v == t.d_v);
    self_v1_forward(to, t.n, input("x"), &t);
    close_trace(&t);
    attention_free(&from);
}

static void permute_test(void)
{
    const int n = dim("x", 0);
    int *order = result("order");
    float *got = result("permuted");
    for (int i = 0; i < n; i++)
        order[i] = (int)integers("order")[i];
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

static void modules_refused(void)
{
    Random *const r = lots();
    SelfAttentionV1 *const v1 = version_1(3, 4, 2);
    REFUSES(NULL, self_v1_init(v1, r, 0, 2, 3));
    REFUSES(NULL, self_v1_init(v1, r, 3, -1, 2));
    REFUSES(NULL, self_v1_init(v1, r, 3, 2, 0));
    REFUSES(NULL, self_attention_init(&fit, r, 0, 3, 4, 0));
    REFUSES(NULL, self_attention_init(&fit, r, 2, 0, 4, 1));
    REFUSES(NULL, self_attention_init(&fit, r, 2, 3, 0, 0));
    for (int i = 0; i < 6; i++) {
        REFUSES(NULL, self_v1_forward(v1, 5, x,
                                      grown(i, sized(5, 5, 1, 4, 2, 0))));
        REFUSES(NULL,
                self_attention_forward(fitting(1, 0), 5, x,
                                       grown(i, sized(5, 5, 1, 4, 2, 0))));
    }
    REFUSES(NULL, self_attention_forward(crossing(), 5, x,
                                         sized(5, 5, 1, 4, 2, 0)));
    REFUSES(NULL, attention_roles(but(&fit.d_k, 9), 5, 6, x, x,
                                  sized(5, 6, 1, 9, 2, 0)));
    REFUSES(NULL, attend_trace(sized(5, 5, 2, 4, 2, 0)));
    REFUSES(NULL, attend_trace(sized(5, 5, 1, 4, 2, 6)));
}

/* What no version 1 has a place for. */
static void versions_refused(void)
{
    SelfAttentionV1 *const to = version_1(3, 4, 2);
    REFUSES("objects.c: versions_must_fit: a version 1 of d_in, d_k, d_v = "
            "2, 4, 2: 3, 4, 2 are needed",
            versions_must_fit(fitting(1, 0), version_1(2, 4, 2)));
    REFUSES(NULL, versions_must_fit(fitting(1, 0), version_1(3, 3, 2)));
    REFUSES(NULL, versions_must_fit(fitting(1, 0), version_1(3, 4, 1)));
    REFUSES("objects.c: versions_must_fit: a version 2 with a bias, 1 "
            "heads and 0 columns of output: none, 1 and 0 are needed, "
            "since version 1 has no place for more",
            versions_must_fit(biased(), to));
    REFUSES(NULL, versions_must_fit(fitting(2, 0), to));
    REFUSES(NULL, versions_must_fit(fitting(1, 6), to));
    REFUSES(NULL, versions_must_fit(crossing(), to));
    REFUSES(NULL, versions_must_fit(but(&fit.key.d_out, 2), to));
}

static void exercises_refused(void)
{
    SelfAttentionV1 *const to = version_1(3, 4, 2);
    REFUSES(NULL, copy_v2_to_v1(fitting(1, 0), version_1(3, 4, 1)));
    REFUSES(NULL, copy_v2_to_v1(biased(), to));

    float moved[4][3];
    REFUSES(NULL, permute_tokens(3, 3, (const int[]){0, 1, 3}, x, moved));
    REFUSES(NULL, permute_tokens(3, 3, (const int[]){1, 2, 1}, x, moved));
    REFUSES(NULL, permute_tokens(3, 3, (const int[]){-1, 0, 1}, x, moved));
    REFUSES(NULL,
            permute_tokens(4, 3, (const int[]){0, 1, 3, 3}, x, moved));
}

int main(void)
{
    EACH("self_v1_forward", v1_test, "v1_*-x");
    TAP_LARGE(v1_free_test, "self_v1_free: the memory can be used again");
    SETS("linear_fill", mixed_test, "mixed");
    EACH("linear_forward", linear_test, "linear_*-x");
    EACH("self_attention_forward", v2_test, "v2_*-x");
    TAP(roles_test, "attention_roles: two inputs, two heads");
    TAP(key_bias_does_nothing,
        "self_attention_forward: another bias of the keys");
    SETS("copy_v2_to_v1", copy_test, "v2_journey", "v2_journey_123",
         "v2_life", "v2_one", "v2_lopsided");
    EACH("permute_tokens", permute_test, "permute_*-x");
    fit.d_y = fit.d_x;
    modules_refused();
    versions_refused();
    exercises_refused();
    return tap_done();
}
