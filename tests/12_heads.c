/* Chapter 12 against PyTorch: golden/12_heads. */
#define CHAPTER "12_heads"
#include "streams.h"
#include "traces.h"

#define HEADS                                                              \
    "life_1", "life_4", "concat", "heads_1x1x1x1x1", "heads_2x3x4x2x3",    \
        "heads_3x5x4x3x2", "heads_5x7x6x2x1", "heads_2x4x3x5x4",           \
        "heads_2x9x3x4x2", "heads_loud"
#define WRAPPERS "wrapper_bare", "wrapper_biased"

/* As in tests/03_qkv.c, and a little more, since the scores are sums of
 * products of rounded sums; loud ones are some hundred. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 1e-5
#define WEIGHT_ATOL 1e-6
#define LOUD_RTOL 5e-5

/* The heads that the running set's seed gives; the tokens of "concat" are
 * drawn first. */
static Attention drawn(void)
{
    const Tensor *w_query = part("w_query"), *w_value = part("w_value");
    Random r;
    Attention a;
    random_seed(&r, (uint64_t)tensor_integers(part("seed"))[0]);
    for (int i = 0; !strcmp(sets_now, "concat") && i < 24; i++)
        random_float(&r);
    heads_init(&a, &r, w_query->shape[0], w_query->shape[1],
               w_query->shape[2], w_value->shape[2]);
    return a;
}

/* Each head's three matrices, to the last bit, as layers. */
static void init_test(void)
{
    const char *const what[3] = {"w_query", "w_key", "w_value"};
    Attention a = drawn();
    const Linear *const role[3] = {&a.query, &a.key, &a.value};
    for (int k = 0; k < 3; k++) {
        const Tensor *w = part(what[k]);
        const int d_in = w->shape[1], d_out = w->shape[2];
        float *turned = room(w->count / (size_t)w->shape[0]);
        for (int h = 0; h < w->shape[0]; h++) {
            const Linear l = head_layer(role[k], w->shape[0], h);
            tap_true("sizes", l.d_in == d_in && l.d_out == d_out);
            transpose(d_in, d_out, entry(w, h), (void *)turned);
            same(what[k], (size_t)(d_in * d_out), l.weight, turned);
        }
    }
    tap_true("no bias", !a.query.bias && !a.key.bias && !a.value.bias);
    attention_free(&a);
}

/* A batch, sentence after sentence: the table of all heads, and the scores
 * and weights of each. */
static void forward_test(void)
{
    const Tensor *x = part("x");
    const int n = x->shape[1];
    const double rtol =
        !strcmp(sets_now, "heads_loud") ? LOUD_RTOL : WEIGHT_RTOL;
    Attention a = drawn();
    Trace t = roomy(&a, n, n);
    for (int b = 0; b < x->shape[0]; b++) {
        heads_forward(&a, see_all(), NULL, n, n, entry(x, b), entry(x, b),
                      &t);
        close_entry("scores", b, t.scores, SUM_RTOL, 10 * SUM_ATOL);
        close_entry("weights", b, t.weights, rtol, WEIGHT_ATOL);
        close_entry("joined", b, t.joined, rtol, SUM_ATOL);
    }
    attention_free(&a);
}

/* What the heads' parts of a layer make of a text are its columns. */
static void head_layer_test(void)
{
    enum { H = 3, N = 4 };
    Attention a = any_attention(H, 0);
    float *x = any_text(N, a.d_x), *all = room((size_t)(N * H * a.d_k));
    float *part_of = room((size_t)(N * a.d_k));
    linear_forward(&a.query, N, (void *)x, (void *)all);
    for (int h = 0; h < H; h++) {
        const Linear l = head_layer(&a.query, H, h);
        linear_forward(&l, N, (void *)x, (void *)part_of);
        for (int i = 0; i < N; i++)
            same("columns", (size_t)a.d_k, part_of + i * a.d_k,
                 all + (i * H + h) * a.d_k);
    }
    attention_free(&a);
}

/* The wrapper of causal heads of a set, and the generator after them. */
static Attention wrapper(Random *r)
{
    Attention a;
    const Tensor *x = part("x");
    const int64_t *size = tensor_integers(part("sizes"));
    random_seed(r, (uint64_t)size[0]);
    causal_heads_init(&a, r, x->shape[2], (int)size[1], x->shape[1],
                      tensor_doubles(part("rate"))[0], (int)size[2],
                      size[3] != 0);
    return a;
}

/* Head after head, each the weight and the bias of its three layers. */
static void wrapper_init(void)
{
    Random r;
    Attention a = wrapper(&r);
    const Linear *const role[3] = {&a.query, &a.key, &a.value};
    const float *expect = tensor_floats(part("drawn"));
    tap_true("number of parameters", a.count == part("drawn")->count);
    for (int h = 0; h < a.n_heads; h++)
        for (int k = 0; k < 3; k++) {
            const Linear l = head_layer(role[k], a.n_heads, h);
            const size_t weights = (size_t)l.d_in * (size_t)l.d_out;
            same("weight", weights, l.weight, expect);
            expect += weights;
            if (l.bias)
                same("bias", (size_t)l.d_out, l.bias, expect);
            expect += l.bias ? l.d_out : 0;
        }
    tap_near("context length", a.context_length, part("x")->shape[1], 0, 0);
    tap_near("rate", a.p, tensor_doubles(part("rate"))[0], 0, 0);
    attention_free(&a);
}

/* A batch in evaluation, and its first sentence in training. */
static void wrapper_forward(void)
{
    const Tensor *x = part("x");
    const int n = x->shape[1];
    Random r;
    Attention a = wrapper(&r);
    Trace t = roomy(&a, n, n);
    for (int b = 0; b < 2; b++) {
        heads_forward(&a, see_past(0), NULL, n, n, entry(x, b), entry(x, b),
                      &t);
        close_entry("weights", b, t.weights, WEIGHT_RTOL, WEIGHT_ATOL);
        close_entry("weights", b, t.dropped, WEIGHT_RTOL, WEIGHT_ATOL);
        close_entry("evaluated", b, t.joined, SUM_RTOL, SUM_ATOL);
    }
    heads_forward(&a, see_past(0), &r, n, n, entry(x, 0), entry(x, 0), &t);
    close_entry("dropped", 0, t.dropped, WEIGHT_RTOL, WEIGHT_ATOL);
    close_entry("trained", 0, t.joined, SUM_RTOL, SUM_ATOL);
    tap_near("drawn next", random_float(&r),
             tensor_floats(part("following"))[0], 0, 0);
    attention_free(&a);
}

/* Head k of several, as an attention of its own. */
static Attention alone(const Attention *a, int k)
{
    Attention one = *a;
    one.n_heads = 1;
    one.d_out = 0;
    one.query = head_layer(&a->query, a->n_heads, k);
    one.key = head_layer(&a->key, a->n_heads, k);
    one.value = head_layer(&a->value, a->n_heads, k);
    one.out = (Linear){.d_in = a->d_v};
    return one;
}

/* Columns k * d_v to (k + 1) * d_v, and layer k of each stack, are what head
 * k computes alone, whatever stands beside it, with lots that are drawn one
 * head after the other. The shares of each word add up to one. */
static void alone_test(void)
{
    for (int round = 0; round < 60; round++) {
        const int n = tap_int(1, 6), m = tap_int(1, 6);
        Attention a = any_attention(tap_int(1, 5), round % 2);
        const int wide = a.n_heads * a.d_v;
        const size_t map = (size_t)(n * m);
        const Mask see = any_mask(round % 3, n, m);
        void *const x = any_text(n, a.d_x), *const y = any_text(m, a.d_y);
        Random *r = round % 4 ? lots() : NULL, again = *lots();
        Trace t = roomy(&a, n, m);
        heads_forward(&a, see, r, n, m, x, y, &t);
        tap_true("no output", !t.out || t.out[0] == 1e30f);
        for (int k = 0; k < a.n_heads; k++) {
            const Attention own = alone(&a, k);
            Trace one = roomy(&own, n, m);
            head_forward(&own, see, r ? &again : NULL, n, m, x, y, &one);
            same("scores", map, t.scores + (size_t)k * map, one.scores);
            same("dropped", map, t.dropped + (size_t)k * map, one.dropped);
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < m; j++)
                    sum += (double)t.weights[(k * n + i) * m + j];
                tap_near("row sum", sum, 1, 1e-6, 0);
                same("a head's columns", (size_t)a.d_v,
                     t.joined + i * wide + k * a.d_v,
                     one.context + i * a.d_v);
            }
        }
        attention_free(&a);
    }
}

/* One head of a trace is computed, and the others are left as they are. */
static void attend_head_test(void)
{
    enum { H = 3, N = 2, M = 4, D_K = 3, D_V = 2 };
    const Attention a = {.n_heads = H, .d_k = D_K, .d_v = D_V, .p = 0.4};
    for (int h = 0; h < H; h++) {
        Trace t = roomy(&a, N, M), expect = roomy(&a, N, M);
        Random r = *lots(), again = r;
        t.head_query = any_text(H * N, D_K);
        t.head_key = any_text(H * M, D_K);
        t.head_value = any_text(H * M, D_V);
        attend_head(&a, see_past(1), &r, h, &t);
        attend(N, M, D_K, D_V, see_past(1), a.p, &again,
               (void *)(t.head_query + h * N * D_K),
               (void *)(t.head_key + h * M * D_K),
               (void *)(t.head_value + h * M * D_V),
               (void *)(expect.scores + h * N * M),
               (void *)(expect.weights + h * N * M),
               (void *)(expect.kept + h * N * M),
               (void *)(expect.dropped + h * N * M),
               (void *)(expect.context + h * N * D_V));
        same("scores", H * N * M, t.scores, expect.scores);
        same("weights", H * N * M, t.weights, expect.weights);
        same("kept", H * N * M, t.kept, expect.kept);
        same("dropped", H * N * M, t.dropped, expect.dropped);
        same("context", H * N * D_V, t.context, expect.context);
    }
}

static void count_test(void)
{
    const Tensor *sizes = golden("12_heads/parameters-sizes");
    const Tensor *counts = golden("12_heads/parameters-counts");
    const int64_t *size = tensor_integers(sizes);
    for (int i = 0; i < sizes->shape[0]; i++, size += 4)
        same_bits("parameters",
                  count_parameters((int)size[0], (int)size[1], (int)size[2],
                                   (int)size[3]),
                  tensor_integers(counts)[i]);
}

/* 2^63 - 1 parameters fit, the product of these three; one more does not. */
enum { MANY_HEADS = 11777599, MANY_ROWS = 218934409, MANY_COLUMNS = 3577 };
static void count_most(void)
{
    tap_true("2^63 - 1",
             count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 1) ==
                 INT64_MAX);
}

static void fit_test(void)
{
    heads_forward(fitting(3, 4), WHERE_IT_FITS);
    tap_true("accepted", true);
}

static void refusals(void)
{
    Attention a;
    const Linear five = {.d_in = 2, .d_out = 5}, six = {2, 6, NULL, NULL};
    REFUSES("12_heads.c: head_layer: head -1 of 3 in a layer of 6 columns: "
            "one from 0 on of a number that divides the columns is needed",
            head_layer(&six, 3, -1));
    REFUSES("12_heads.c: head_layer: head 3 of 3 in a layer of 6 columns: "
            "one from 0 on of a number that divides the columns is needed",
            head_layer(&six, 3, 3));
    REFUSES("12_heads.c: head_layer: head 0 of 3 in a layer of 5 columns: "
            "one from 0 on of a number that divides the columns is needed",
            head_layer(&five, 3, 0));
    REFUSES(NULL, head_layer(&six, 0, 0));
    REFUSES(NULL, heads_init(&a, lots(), 0, 3, 2, 1));
    REFUSES(NULL, heads_init(&a, lots(), -1, 3, 2, 1));
    REFUSES(NULL, heads_init(&a, lots(), 2, 0, 2, 1));
    REFUSES(NULL, heads_init(&a, lots(), 65536, 1, 65536, 1));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, 5, 0, 0, 0));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, -1, 0, 2, 0));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, 5, 1.01, 2, 0));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, 5, NAN, 2, 0));
    REFUSES(
        "12_heads.c: attend_head: head 2 of 2: one from 0 to 1 is needed",
        attend_head(fitting(2, 0), see_all(), NULL, 2, &fit_trace));
    REFUSES(
        "12_heads.c: attend_head: head -1 of 2: one from 0 to 1 is needed",
        attend_head(fitting(2, 0), see_all(), NULL, -1, &fit_trace));
    REFUSES(NULL,
            attend_head(but_rate(NAN), see_all(), lots(), 0, &fit_trace));
    TAP(fit_test, "heads_forward: accepts what fits");
    REFUSES_WHAT_DOES_NOT_FIT(heads_forward);
    REFUSES("12_heads.c: count_parameters: -1 heads of sizes 3, 2, 1: "
            "sizes of at least 1 are needed",
            count_parameters(-1, 3, 2, 1));
    REFUSES(NULL, count_parameters(2, 0, 2, 1));
    REFUSES(NULL, count_parameters(2, 3, 0, 1));
    REFUSES(NULL, count_parameters(2, 3, 2, 0));
    REFUSES("12_heads.c: count_parameters: 11777599 heads of sizes "
            "218934409, 1788, 2: their parameters are more than an int64_t "
            "can count",
            count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 2));
    REFUSES(NULL, count_parameters(INT_MAX, INT_MAX, 1, 1));
}

int main(void)
{
    TAP(head_layer_test, "head_layer: some of the layer's columns");
    SETS("heads_init", init_test, HEADS);
    SETS("causal_heads_init", wrapper_init, WRAPPERS);
    TAP(attend_head_test, "attend_head: one head, and no other");
    SETS("heads_forward", forward_test, HEADS);
    SETS("heads_forward", wrapper_forward, WRAPPERS);
    TAP(alone_test, "heads_forward: each head as if it were alone");
    TAP(count_test, "count_parameters: eight sizes");
    TAP(count_most, "count_parameters: 2^63 - 1 parameters");
    refusals();
    return tap_done();
}
