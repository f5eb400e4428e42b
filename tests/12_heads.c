/* Chapter 12 against PyTorch: golden/12_heads. */
#define CHAPTER "12_heads"
#include "streams.h"
#include "traces.h"

/* A little more than in tests/03_qkv.c, since the scores are sums of
 * products of rounded sums; loud ones are some hundred. */
#define RTOL 1e-5
#define ATOL 1e-6
#define LOUD_RTOL 5e-5

/* The heads that the running set's seed gives; the tokens of "concat" are
 * drawn first. */
static Attention drawn(void)
{
    Random r = seeded(integers("seed")[0]);
    Attention a;
    for (int i = 0; !strcmp(sets_now, "concat") && i < 24; i++)
        random_float(&r);
    heads_init(&a, &r, dim("w_query", 0), dim("w_query", 1),
               dim("w_query", 2), dim("w_value", 2));
    return a;
}

/* Each head's three matrices, to the last bit, as layers. */
static void init_test(void)
{
    const char *const what[3] = {"w_query", "w_key", "w_value"};
    Attention a = drawn();
    const Linear *const role[3] = {&a.query, &a.key, &a.value};
    for (int k = 0; k < 3; k++) {
        float *turned = result(what[k]), *next = turned;
        for (int h = 0; h < a.n_heads; h++) {
            const Linear l = head_layer(role[k], a.n_heads, h);
            transpose(l.d_out, l.d_in, (void *)l.weight, (void *)next);
            next += l.d_in * l.d_out;
        }
        agrees(what[k], turned, 0, 0);
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
    const double rtol = !strcmp(sets_now, "heads_loud") ? LOUD_RTOL : RTOL;
    Attention a = drawn();
    Trace t = roomy(&a, n, n);
    for (int b = 0; b < x->shape[0]; b++) {
        heads_forward(&a, see_all(), NULL, n, n, entry(x, b), entry(x, b),
                      &t);
        close_entry("scores", b, t.scores, RTOL, 10 * ATOL);
        close_entry("weights", b, t.weights, rtol, ATOL);
        close_entry("joined", b, t.joined, rtol, ATOL);
    }
    attention_free(&a);
}

/* The wrapper of causal heads of a set, and the generator after them. */
static Attention wrapper(Random *r)
{
    Attention a;
    const int64_t *size = integers("sizes");
    *r = seeded(size[0]);
    causal_heads_init(&a, r, dim("x", 2), (int)size[1], dim("x", 1),
                      doubles("rate")[0], (int)size[2], size[3] != 0);
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
    tap_near("context length", a.context_length, dim("x", 1), 0, 0);
    tap_near("rate", a.p, doubles("rate")[0], 0, 0);
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
        close_entry("weights", b, t.weights, RTOL, ATOL);
        close_entry("weights", b, t.dropped, RTOL, ATOL);
        close_entry("evaluated", b, t.joined, RTOL, ATOL);
    }
    heads_forward(&a, see_past(0), &r, n, n, entry(x, 0), entry(x, 0), &t);
    close_entry("dropped", 0, t.dropped, RTOL, ATOL);
    close_entry("trained", 0, t.joined, RTOL, ATOL);
    draws_next(&r);
    attention_free(&a);
}

/* Head k of several, as an attention of its own. */
static Attention alone(const Attention *a, int k)
{
    Attention one = *a;
    one.n_heads = 1;
    one.query = head_layer(&a->query, a->n_heads, k);
    one.key = head_layer(&a->key, a->n_heads, k);
    one.value = head_layer(&a->value, a->n_heads, k);
    return one;
}

/* What head k has computed beside others, and alone. */
static void same_head(Trace *t, int k, Trace *one)
{
    const int width = t->d_v;
    float **all[13], **own[13];
    size_t count[13];
    tables(t, all, count);
    tables(one, own, count);
    for (int i = 6; i < 11; i++) /* from the scores to the context */
        similar(table_name[i], count[i], *all[i] + (size_t)k * count[i],
                *own[i], RTOL, ATOL);
    for (int i = 0; i < t->n; i++)
        similar("columns of joined", (size_t)width,
                t->joined + (i * t->n_heads + k) * width,
                one->context + i * width, RTOL, ATOL);
}

/* Each head computes what it does alone, with lots that are drawn one head
 * after the other: from one text to another, with any mask. */
static void alone_test(void)
{
    enum { N = 4, M = 7, D_X = 5, D_Y = 6 };
    const float table[N][M] = {{1, 0, 0, 1, 0, 1, 1},
                               {0, 1},
                               {0, 0, 0, 0, 0, 1, 1},
                               {1, 1, 1, 1, 1, 1, 1}};
    const Mask see[3] = {see_all(), see_past(2), see_where(N, M, table)};
    void *const x = any_text(N, D_X), *const y = any_text(M, D_Y);
    Attention a = {.d_x = D_X,
                   .d_y = D_Y,
                   .n_heads = 3,
                   .d_k = 2,
                   .d_v = 8,
                   .has_bias = 1,
                   .p = 0.3};
    attention_init(&a);
    tap_fill((int)a.count, a.memory, -1, 1);
    for (int k = 0; k < 3; k++) {
        Random r = *lots(), again = r;
        Trace t = roomy(&a, N, M);
        heads_forward(&a, see[k], &r, N, M, x, y, &t);
        tap_near("rate", t.rate, a.p, 0, 0);
        for (int h = 0; h < 3; h++) {
            const Attention own = alone(&a, h);
            Trace one = roomy(&own, N, M);
            head_forward(&own, see[k], &again, N, M, x, y, &one);
            same_head(&t, h, &one);
        }
        attend_head(&a, see[k], NULL, 0, &t);
        tap_near("rate in evaluation", t.rate, 0, 0, 0);
    }
    attention_free(&a);
}

/* 2^63 - 1 parameters fit, the product of these three; one more does not. */
enum { MANY_HEADS = 11777599, MANY_ROWS = 218934409, MANY_COLUMNS = 3577 };

static void count_test(void)
{
    const int64_t(*size)[4] = (const void *)integers("sizes");
    for (int i = 0; i < dim("sizes", 0); i++)
        same_bits("parameters",
                  count_parameters((int)size[i][0], (int)size[i][1],
                                   (int)size[i][2], (int)size[i][3]),
                  integers("counts")[i]);
    same_bits("2^63 - 1 parameters",
              count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 1),
              INT64_MAX);
}

static void refusals(void)
{
    Attention a;
    const Linear five = {.d_in = 2, .d_out = 5}, six = {2, 6, NULL, NULL};
    REFUSES("12_heads.c: head_layer: head -1 of 3 in a layer of 6 columns: "
            "one from 0 on of a number that divides the columns is needed",
            head_layer(&six, 3, -1));
    REFUSES(NULL, head_layer(&six, 3, 3));
    REFUSES(NULL, head_layer(&five, 3, 0));
    REFUSES(NULL, heads_init(&a, lots(), 0, 3, 2, 1));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, -1, 0, 2, 0));
    REFUSES(NULL, causal_heads_init(&a, lots(), 3, 2, 5, 1.01, 2, 0));
    REFUSES(
        "12_heads.c: attend_head: head 2 of 2: one from 0 to 1 is needed",
        attend_head(fitting(2, 0), see_all(), NULL, 2, &fit_trace));
    REFUSES(NULL,
            attend_head(fitting(2, 0), see_all(), NULL, -1, &fit_trace));
    REFUSES(NULL, attend_head(but(&fit.n_heads, 2), see_all(), NULL, 0,
                              &fit_trace));
    REFUSES(NULL, heads_forward(fitting(1, 3), WHERE_IT_FITS));
    REFUSES(NULL, heads_forward(fitting(1, 0), see_all(), NULL, 5, 6, fit_x,
                                fit_x, &fit_trace));
    REFUSES_WHAT_DOES_NOT_FIT(heads_forward);
    REFUSES(NULL, count_parameters(-1, 3, 2, 1));
    REFUSES(NULL, count_parameters(2, 0, 2, 1));
    REFUSES(NULL, count_parameters(2, 3, 0, 1));
    REFUSES(NULL, count_parameters(2, 3, 2, 0));
    REFUSES(NULL,
            count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 2));
    REFUSES(NULL, count_parameters(INT_MAX, INT_MAX, 1, 1));
}

int main(void)
{
    EACH("heads_init", init_test, "*-joined");
    EACH("causal_heads_init", wrapper_init, "*-drawn");
    EACH("heads_forward", forward_test, "*-joined");
    EACH("heads_forward", wrapper_forward, "*-drawn");
    TAP(alone_test, "heads_forward: each head as if it were alone");
    SETS("count_parameters", count_test, "parameters");
    refusals();
    return tap_done();
}
