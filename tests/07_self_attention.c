/* Chapter 7 against PyTorch: golden/07_self_attention. */
#define CHAPTER "07_self_attention"
#include "traces.h"

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

static Random seeded(void)
{
    Random r;
    random_seed(&r, (uint64_t)*integers("seed"));
    return r;
}

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
    const Tensor *query = part("query");
    const Attention like = {.n_heads = 1,
                            .d_k = query->shape[1],
                            .d_v = part("value")->shape[1]};
    return roomy(&like, query->shape[0], query->shape[0]);
}

/* A layer of the running set, whose arrays begin with this name. */
static Linear layer(const char *role)
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

/* Version 2, put together by hand from the layers of the running set. */
static Attention version_2(void)
{
    Attention a = {.n_heads = 1,
                   .query = layer("query_"),
                   .key = layer("key_"),
                   .value = layer("value_")};
    a.d_x = a.d_y = a.query.d_in;
    a.d_k = a.query.d_out;
    a.d_v = a.out.d_in = a.value.d_out;
    return a;
}

/* A version 1 that has no matrices: who uses them crashes. */
static SelfAttentionV1 *version_1(int d_in, int d_k, int d_v)
{
    static SelfAttentionV1 a;
    a = (SelfAttentionV1){.d_in = d_in, .d_k = d_k, .d_v = d_v};
    return &a;
}

static void attend_trace_test(void)
{
    Trace t = space();
    t.query = rounded(part("query"));
    t.key = rounded(part("key"));
    t.value = rounded(part("value"));
    attend_trace(&t);
    close_trace(&t);
}

/* ---- Version 1. */

static void v1_init_test(void)
{
    const Tensor *query = part("w_query"), *value = part("w_value");
    SelfAttentionV1 a;
    Random r = seeded();
    self_v1_init(&a, &r, query->shape[0], query->shape[1], value->shape[1]);
    tap_true("sizes", a.d_in == query->shape[0] &&
                          a.d_k == query->shape[1] &&
                          a.d_v == value->shape[1]);
    tap_true("one block, in order",
             a.w_query == a.memory && a.w_key == a.memory + query->count &&
                 a.w_value == a.memory + 2 * query->count &&
                 a.count == 2 * query->count + value->count);
    agrees("w_query", a.w_query, 0, 0);
    agrees("w_key", a.w_key, 0, 0);
    agrees("w_value", a.w_value, 0, 0);
    self_v1_free(&a);
}

/* A hundred times a megabyte does not fit if it is not given back. */
static void v1_free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        SelfAttentionV1 a;
        self_v1_init(&a, &r, 300, 300, 300);
        self_v1_free(&a);
        self_v1_free(&a);
        tap_true("nothing is left", !a.memory && !a.w_query && !a.count);
    }
}

static void v1_forward_test(void)
{
    Trace t = space();
    SelfAttentionV1 *a = version_1(dim("x", 1), t.d_k, t.d_v);
    a->w_query = input("w_query");
    a->w_key = input("w_key");
    a->w_value = input("w_value");
    self_v1_forward(a, t.n, input("x"), &t);
    close_trace(&t);
}

/* ---- Linear layers. */

static void linear_fill_test(void)
{
    const Linear like = layer("");
    float *weight = room((size_t)(like.d_in * like.d_out));
    float *bias = like.bias ? room((size_t)like.d_out) : NULL;
    Random r = seeded();
    linear_fill(&r, like.d_in, like.d_out, (void *)weight, bias);
    agrees("weight", weight, 0, 0);
    if (bias)
        agrees("bias", bias, 0, 0);
}

static void linear_forward_test(void)
{
    const Linear l = layer("");
    float *y = result("y");
    linear_forward(&l, dim("x", 0), input("x"), (void *)y);
    agrees("y", y, SUM_RTOL, SUM_ATOL);
}

/* ---- Attentions. */

/* The golden arrays of an attention's parameters, in their order. */
static const char *const parameters[6] = {"query_weight", "query_bias",
                                          "key_weight",   "key_bias",
                                          "value_weight", "value_bias"};

/* Nothing is drawn for an attention that gets its numbers otherwise. */
static void from_given_numbers(void)
{
    sets_now = "v2_bias_lopsided";
    Attention a = version_2();
    Trace t = space();
    a.has_bias = 1;
    attention_init(&a);
    float *here = a.memory;
    for (int i = 0; i < 6; i++) {
        const Tensor *array = part(parameters[i]);
        memcpy(here, floats(array), array->count * sizeof *here);
        here += array->count;
    }
    self_attention_forward(&a, t.n, input("x"), &t);
    close_trace(&t);
    attention_free(&a);
}

static void v2_init_test(void)
{
    const Attention like = version_2();
    const int step = like.query.bias ? 1 : 2;
    Attention a;
    Random r = seeded();
    self_attention_init(&a, &r, like.d_x, like.d_k, like.d_v, step == 1);
    attention_must_fit(&a, 2, 3, sized(2, 3, 1, like.d_k, like.d_v, 0));
    tap_true("widths", a.d_x == like.d_x && a.d_y == like.d_y);
    tap_true("no limit, no dropout", !a.context_length && a.p <= 0);
    const float *here = a.memory;
    for (int i = 0; i < 6; i += step) {
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
    enum { N = 3, M = 5, D_X = 4, D_Y = 2 };
    float x[N][D_X], y[M][D_Y], expect[M][8];
    Attention a = {.d_x = D_X,
                   .d_y = D_Y,
                   .n_heads = 2,
                   .d_k = 3,
                   .d_v = 4,
                   .d_out = 2,
                   .has_bias = 1};
    attention_init(&a);
    tap_fill((int)a.count, a.memory, -2, 2);
    tap_fill(N * D_X, (void *)x, -2, 2);
    tap_fill(M * D_Y, (void *)y, -2, 2);
    Trace t = roomy(&a, N, M);
    attention_roles(&a, N, M, x, y, &t);
    linear_forward(&a.query, N, x, (void *)expect);
    same("query", N * 2 * 3, t.query, (void *)expect);
    linear_forward(&a.key, M, y, (void *)expect);
    same("key", M * 2 * 3, t.key, (void *)expect);
    linear_forward(&a.value, M, y, (void *)expect);
    same("value", M * 2 * 4, t.value, (void *)expect);
    const float *const rest[] = {
        t.head_query, t.head_key, t.head_value, t.scores, t.weights,
        t.kept,       t.dropped,  t.context,    t.joined, t.out};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        tap_near("untouched", rest[i][0], 1e30f, 0, 0);
    attention_free(&a);
}

static void v2_forward_test(void)
{
    const Attention a = version_2();
    Trace t = space();
    self_attention_forward(&a, t.n, input("x"), &t);
    close_trace(&t);
}

/* The same tokens in another order: the same context vectors in that order,
 * for every module and any order. */
static void order_does_not_matter(void)
{
    enum { N = 5, D = 4 };
    const int order[N] = {3, 0, 4, 2, 1};
    Random r;
    Attention a;
    float x[N][D], moved[N][D];
    random_seed(&r, 42);
    self_attention_init(&a, &r, D, 3, 2, 1);
    Trace t = roomy(&a, N, N), turned = roomy(&a, N, N);
    for (int round = 0; round < 20; round++) {
        tap_fill(N * D, (void *)x, -3, 3);
        embed(N, D, N, order, x, moved);
        self_attention_forward(&a, N, x, &t);
        self_attention_forward(&a, N, moved, &turned);
        for (int i = 0; i < N * 2; i++)
            tap_near("context", turned.context[i],
                     t.context[order[i / 2] * 2 + i % 2], SUM_RTOL,
                     SUM_ATOL);
    }
    attention_free(&a);
}

/* Exercise 7.5: another bias for the keys, the same weights. */
static void key_bias_does_nothing(void)
{
    sets_now = "v2_bias_lopsided";
    Attention a = version_2();
    Trace t = space();
    float bias[3] = {2, -1, 0.5f};
    a.key.bias = bias;
    self_attention_forward(&a, t.n, input("x"), &t);
    agrees("weights", t.weights, 2e-5, WEIGHT_ATOL);
}

/* ---- Exercises. */

/* The copy holds the same numbers, and computes what PyTorch computes. */
static void copy_test(void)
{
    const Attention from = version_2();
    Trace t = space();
    SelfAttentionV1 *to = version_1(from.d_x, t.d_k, t.d_v);
    to->w_query = room((size_t)(from.d_x * t.d_k));
    to->w_key = room((size_t)(from.d_x * t.d_k));
    to->w_value = room((size_t)(from.d_x * t.d_v));
    copy_v2_to_v1(&from, to);
    tap_true("the sizes stay",
             to->d_in == from.d_x && to->d_k == t.d_k && to->d_v == t.d_v);
    self_v1_forward(to, t.n, input("x"), &t);
    close_trace(&t);
}

static void permute_test(void)
{
    const Tensor *x = part("x"), *order = part("order");
    const int n = x->shape[0];
    int *rows = room((size_t)n);
    for (int i = 0; i < n; i++)
        rows[i] = (int)tensor_integers(order)[i];
    float *got = room(x->count);
    permute_tokens(n, x->shape[1], rows, floats(x), (void *)got);
    agrees("permuted", got, 0, 0);
}

/* ---- What is refused. Each call has a child of its own, which may change
 * what it likes. */

/* A head from 2 numbers to 3 and 4; two such heads; one with an output. */
static Attention head = {
    .d_x = 2, .d_y = 2, .n_heads = 1, .d_k = 3, .d_v = 4};
static Attention heads = {
    .d_x = 2, .d_y = 2, .n_heads = 2, .d_k = 3, .d_v = 4};
static Attention mixing = {
    .d_x = 2, .d_y = 2, .n_heads = 1, .d_k = 3, .d_v = 4, .d_out = 6};
static Attention none;
static Trace two, out;
static Random r;
static const float x[5][2];

/* The head, of which one size is another, and a trace that would fit it. */
static Trace its_trace;
static Attention *with(int *size, int other)
{
    *size = other;
    its_trace = *sized(5, 5, head.n_heads, head.d_k, head.d_v, head.d_out);
    return &head;
}

static Attention *biased(Linear *l)
{
    static float bias[4];
    l->bias = bias;
    return &head;
}

/* A head whose keys and values come from wider tokens. */
static Attention *crossing(void)
{
    head.d_y = head.key.d_in = head.value.d_in = 5;
    return &head;
}

#define AT "07_self_attention.c: "

static void v1_refused(void)
{
    SelfAttentionV1 *const a = version_1(2, 3, 4);
    REFUSES(AT "self_v1_init: d_in, d_k, d_v = 0, 2, 3: at least 1 of each "
               "is needed",
            self_v1_init(a, &r, 0, 2, 3));
    REFUSES(NULL, self_v1_init(a, &r, 3, -1, 2));
    REFUSES(NULL, self_v1_init(a, &r, 3, 2, 0));
    REFUSES(NULL, self_v1_init(a, &r, INT_MAX, INT_MAX, INT_MAX));
    for (int i = 0; i < 6; i++)
        REFUSES(NULL, self_v1_forward(a, 5, x,
                                      grown(i, sized(5, 5, 1, 3, 4, 0))));
}

static void v2_refused(void)
{
    Attention *const a = &head;
    REFUSES(NULL, self_attention_init(&none, &r, 0, 3, 4, 0));
    REFUSES(NULL, self_attention_init(&none, &r, 2, 0, 4, 1));
    REFUSES(NULL, self_attention_init(&none, &r, 2, 3, 0, 0));

    /* Sizes that were changed behind the layers' backs: nothing is written,
     * although the trace would have room for it. */
    int *const size[4] = {&a->n_heads, &a->d_k, &a->d_v, &a->d_out};
    for (int i = 0; i < 4; i++)
        REFUSES(NULL,
                attention_roles(with(size[i], 40), 5, 5, x, x, &its_trace));
    for (int i = 0; i < 6; i++) {
        REFUSES(NULL, attention_roles(a, 5, 5, x, x,
                                      grown(i, sized(5, 5, 1, 3, 4, 0))));
        REFUSES(NULL, self_attention_forward(
                          a, 5, x, grown(i, sized(5, 5, 1, 3, 4, 0))));
    }
    REFUSES(NULL, self_attention_forward(&heads, 5, x, &two));
    REFUSES(NULL, self_attention_forward(crossing(), 5, x,
                                         sized(5, 5, 1, 3, 4, 0)));
    REFUSES(NULL, self_attention_forward(&mixing, 5, x, &out));
    REFUSES(AT "attend_trace: a trace for 2 heads and 0 columns of "
               "output: 1 and 0 are needed",
            attend_trace(&two));
    REFUSES(NULL, attend_trace(&out));
}

static void exercises_refused(void)
{
    SelfAttentionV1 *const to = version_1(2, 3, 4);
    REFUSES(AT "copy_v2_to_v1: sizes d_in, d_k, d_v = 3, 3, 4: 2, 3, 4 are "
               "needed",
            copy_v2_to_v1(&head, version_1(3, 3, 4)));
    REFUSES(NULL, copy_v2_to_v1(&head, version_1(2, 4, 4)));
    REFUSES(NULL, copy_v2_to_v1(&head, version_1(2, 3, 3)));
    REFUSES(AT "copy_v2_to_v1: a version 2 with bias: one without is "
               "needed, since version 1 has no place for it",
            copy_v2_to_v1(biased(&head.query), to));
    REFUSES(NULL, copy_v2_to_v1(biased(&head.key), to));
    REFUSES(NULL, copy_v2_to_v1(biased(&head.value), to));
    REFUSES(NULL, copy_v2_to_v1(crossing(), to));
    REFUSES(AT "copy_v2_to_v1: a version 2 with 2 heads and 0 columns of "
               "output: 1 and 0 are needed",
            copy_v2_to_v1(&heads, to));
    REFUSES(NULL, copy_v2_to_v1(&mixing, to));
    REFUSES(NULL, copy_v2_to_v1(with(&head.key.d_out, 2), to));

    float moved[4][2];
    REFUSES(AT "permute_tokens: row 2 stands 0 times in the order: once is "
               "needed",
            permute_tokens(3, 2, (const int[]){0, 1, 3}, x, moved));
    REFUSES(NULL, permute_tokens(3, 2, (const int[]){1, 2, 1}, x, moved));
    REFUSES(NULL, permute_tokens(3, 2, (const int[]){0, 2, 2}, x, moved));
    REFUSES(NULL, permute_tokens(3, 2, (const int[]){-1, 0, 1}, x, moved));
    REFUSES(NULL,
            permute_tokens(4, 2, (const int[]){0, 1, 3, 3}, x, moved));
}

int main(void)
{
    SETS("attend_trace", attend_trace_test, CASES("v1"));
    SETS("self_v1_init", v1_init_test, CASES("v1"));
    TAP_LARGE(v1_free_test, "self_v1_free: the memory can be used again");
    SETS("self_v1_forward", v1_forward_test, CASES("v1"));
    SETS("linear_fill", linear_fill_test, LINEARS);
    SETS("linear_forward", linear_forward_test, LINEARS);
    TAP(from_given_numbers, "attention_init: numbers from elsewhere");
    SETS("self_attention_init", v2_init_test, CASES("v2"),
         CASES("v2_bias"));
    TAP(roles_test, "attention_roles: two inputs, two heads");
    SETS("self_attention_forward", v2_forward_test, CASES("v2"),
         CASES("v2_bias"));
    TAP(order_does_not_matter,
        "self_attention_forward: tokens in another order");
    TAP(key_bias_does_nothing,
        "self_attention_forward: another bias of the keys");
    SETS("copy_v2_to_v1", copy_test, CASES("v2"));
    SETS("permute_tokens", permute_test, "permute_one", "permute_backwards",
         "permute_cycle", "permute_some", "permute_nine");

    random_seed(&r, 1);
    attention_init(&head);
    attention_init(&heads);
    attention_init(&mixing);
    two = trace_for(&heads, 5, 5);
    out = trace_for(&mixing, 5, 5);
    v1_refused();
    v2_refused();
    exercises_refused();
    trace_free(&two);
    trace_free(&out);
    attention_free(&head);
    attention_free(&heads);
    attention_free(&mixing);
    return tap_done();
}
