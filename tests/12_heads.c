/* Chapter 12 against PyTorch: golden/12_heads. */
#define CHAPTER "12_heads"
#include "traces.h"
#include "attention/12_heads.h"
#include "attention/01_dot_product.h"
#include "attention/11_causal_attention.h"

/* The heads that the set's seed gives; the tokens of "concat" are drawn
 * first. */
static Attention drawn(const char *set)
{
    Random r = input_random(set);
    Attention a;
    for (int i = 0; !strcmp(set, "concat") && i < 24; i++)
        random_float(&r);
    heads_init(&a, &r, SHAPE(set, "w_query"), dim(set, "w_query", 2),
               dim(set, "w_value", 2));
    return a;
}

/* Layer k of head h: for the queries, the keys, the values. */
static Linear role_of(const Attention *a, int h, int k)
{
    const Attention head = attention_head(a, h);
    return k == 0 ? head.query : k == 1 ? head.key : head.value;
}

/* Each head's three matrices, to the last bit, as layers. */
static void init_test(const char *set)
{
    const char *const what[3] = {"w_query", "w_key", "w_value"};
    Attention a = drawn(set);
    for (int k = 0; k < 3; k++) {
        float *turned = due(set, what[k], EXACTLY);
        for (int h = 0; h < a.n_heads; h++) {
            const Linear l = role_of(&a, h, k);
            transpose(l.d_out, l.d_in, (void *)l.weight, (void *)turned);
            turned += l.d_in * l.d_out;
        }
    }
    expect_true("no bias", !a.query.bias && !a.key.bias && !a.value.bias);
    expect_true("no dropout, no limit",
                a.dropout_rate == 0 && !a.context_length);
    attention_free(&a);
}

/* A trace for all heads, and one for each, whose tables from the scores to
 * the context are parts of those for all. */
static Trace traces_of_heads(const Attention *a, int n, int m, Trace t[])
{
    Trace all = guarded_trace(a, n, m);
    TraceTable of_all[TRACE_TABLES], own[TRACE_TABLES];
    trace_tables(&all, of_all);
    for (int h = 0; h < a->n_heads; h++) {
        const Attention head = attention_head(a, h);
        t[h] = guarded_trace(&head, n, m);
        trace_tables(&t[h], own);
        for (int i = 6; i < 11; i++)
            *own[i].at = *of_all[i].at + (size_t)h * own[i].count;
    }
    return all;
}

/* What every head makes of a text. */
static Trace forward(const Attention *a, Mask mask, Random *r, int n,
                     const void *x)
{
    Trace t[9];
    const Trace all = traces_of_heads(a, n, n, t);
    heads_forward(a, mask, r, n, n, x, x, t, (void *)all.joined);
    return all;
}

/* A batch, sentence after sentence: the table of all heads, and the scores
 * and weights of each. */
static void forward_test(const char *set)
{
    const double rtol = strcmp(set, "heads_loud") ? 1e-5 : 5e-5;
    Attention a = drawn(set);
    for (int b = 0; b < dim(set, "x", 0); b++) {
        given_attention(&a, mask_none());
        const Trace t = forward(&a, mask_none(), NULL, dim(set, "x", 1),
                                input_entry(set, "x", b));
        expect_entry("scores", t.scores, set, "scores", b, 1e-5, 1e-5);
        expect_entry("weights", t.weights, set, "weights", b, rtol, 1e-6);
        expect_entry("joined", t.joined, set, "joined", b, rtol, 1e-6);
    }
    attention_free(&a);
}

/* The wrapper of causal heads of a set, and the generator after them. */
static Attention wrapper(const char *set, Random *r)
{
    Attention a;
    const int64_t *size = golden_integers(set, "sizes");
    *r = random_seeded((uint64_t)size[0]);
    causal_heads_init(&a, r, dim(set, "x", 2), (int)size[1],
                      dim(set, "x", 1), golden_number(set, "rate"),
                      (int)size[2], size[3] != 0);
    return a;
}

/* Head after head, each the weight and the bias of its three layers. */
static void wrapper_init(const char *set)
{
    Random r;
    Attention a = wrapper(set, &r);
    const float *due = golden_floats(set, "drawn");
    expect_true("parameters", a.count == golden_count(set, "drawn"));
    for (int h = 0; h < a.n_heads; h++)
        for (int k = 0; k < 3; k++) {
            const Linear l = role_of(&a, h, k);
            expect_table("weight", l.d_out, l.d_in, l.weight, due, EXACTLY);
            due += l.d_in * l.d_out;
            if (l.bias)
                expect_list("bias", l.d_out, l.bias, due, EXACTLY);
            due += l.bias ? l.d_out : 0;
        }
    expect_equal("context length", a.context_length, dim(set, "x", 1));
    expect_equal("rate", a.dropout_rate, golden_number(set, "rate"));
    attention_free(&a);
}

/* A batch in evaluation, and its first sentence in training. */
static void wrapper_forward(const char *set)
{
    Random r;
    Attention a = wrapper(set, &r);
    for (int b = 0; b < 3; b++) {
        const bool trains = b == 2;
        given_attention(&a, mask_causal(0));
        if (trains)
            given("r: after the heads are drawn");
        const Trace t =
            forward(&a, mask_causal(0), trains ? &r : NULL,
                    dim(set, "x", 1), input_entry(set, "x", b % 2));
        expect_entry("weights", t.weights, set, "weights", b % 2, SUMS);
        expect_entry("dropped", t.dropped, set,
                     trains ? "dropped" : "weights", b % 2, SUMS);
        expect_entry("joined", t.joined, set,
                     trains ? "trained" : "evaluated", b % 2, SUMS);
    }
    expect_next_draw(set, &r);
    attention_free(&a);
}

/* Which rows are a head's, wrapper_init shows. */
static void head_test(void)
{
    Attention a = any_attention(3, 4);
    const Attention head = attention_head(&a, 1);
    expect_true("nothing to free", !head.memory && !head.count);
    expect_true("one head, no output", head.n_heads == 1 && !head.d_out);
    attention_free(&a);
}

/* Each head computes what it does alone, with draws that are drawn one head
 * after another: from one text to another, with any mask. */
static void alone_test(void)
{
    enum { N = 4, M = 7 };
    const float table[N][M] = {{1, 0, 0, 1, 0, 1, 1},
                               {0, 1},
                               {0, 0, 0, 0, 0, 1, 1},
                               {1, 1, 1, 1, 1, 1, 1}};
    const Mask mask[3] = {mask_none(), mask_causal(2),
                          mask_table(N, M, table)};
    for (int k = 0; k < 9; k++) {
        Attention a = any_attention(3, 0);
        void *x = guarded("x", (size_t)(N * a.d_x));
        void *y = guarded("y", (size_t)(M * a.d_y));
        tap_fill(N * a.d_x, x, -2, 2);
        tap_fill(M * a.d_y, y, -2, 2);
        Random r = *some_draws(), again = r;
        Trace t[3], all = traces_of_heads(&a, N, M, t);
        heads_forward(&a, mask[k % 3], &r, N, M, x, y, t,
                      (void *)all.joined);
        for (int h = 0; h < 3; h++) {
            const Attention own = attention_head(&a, h);
            Trace one = guarded_trace(&own, N, M);
            head_forward(&own, mask[k % 3], &again, N, M, x, y, &one);
            expect_equal("rate", t[h].dropout_rate, a.dropout_rate);
            expect_list("dropped", N * M, t[h].dropped, one.dropped, SUMS);
            for (int i = 0; i < N; i++)
                expect_list("columns of joined", a.d_v,
                            all.joined + (i * 3 + h) * a.d_v,
                            one.context + i * a.d_v, SUMS);
        }
        attention_free(&a);
    }
}

/* 2^63 - 1 parameters fit, the product of these three; values of one more
 * column do not. */
enum { MANY_HEADS = 11777599, MANY_ROWS = 218934409, MANY_COLUMNS = 3577 };

static void count_test(void)
{
    const int64_t *counts = golden_integers("parameters", "counts");
    const int *of = golden_ints("parameters", "sizes");
    for (int i = 0; i < dim("parameters", "counts", 0); i++, of += 4)
        expect_integer(
            tap_words("%d heads of d_in = %d, d_k = %d, d_v = %d", of[0],
                      of[1], of[2], of[3]),
            count_parameters(of[0], of[1], of[2], of[3]), counts[i]);
    expect_integer("of ones", count_parameters(1, 1, 1, 1), 3);
    expect_integer(
        "the most",
        count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 1),
        INT64_MAX);
}

static void misfit_forward(const Wrong *w)
{
    float joined[5][2];
    const Mask mask = fit_but(w);
    fit_trace.d_out = 0;
    heads_forward(&fit, mask, NULL, 5, 6, fit_x, fit_y, &fit_trace, joined);
}

static void refusals(void)
{
    static const Wrong odd[] = {
        {"an output layer", NULL, &fit.d_out, 3},
        {"keys from tokens of another width", NULL, &fit.key.d_in, 3}};
    Attention a;
    REFUSES("12_heads.c: attention_head: head 2 of 2: one from 0 to 1 is "
            "needed",
            attention_head(fitting(2, 0), 2));
    REFUSES_SUCH("head -1", attention_head(fitting(2, 0), -1));
    TAP_REFUSES("attention_head", "layers that do not fit", NULL,
                fit_but(&misfit[0]), attention_head(&fit, 0));
    REFUSES(NULL, heads_init(&a, some_draws(), 0, 3, 2, 1));
    REFUSES(NULL, causal_heads_init(&a, some_draws(), 3, 2, 5, 1.01, 2, 0));
    REFUSES_WRONG("heads_forward", misfit, misfit_forward(w));
    REFUSES_WRONG("heads_forward", misfit_lengths, misfit_forward(w));
    REFUSES_WRONG("heads_forward", misfit_mask, misfit_forward(w));
    REFUSES_WRONG("heads_forward", odd, misfit_forward(w));
}

static void counts_refused(void)
{
    REFUSES(NULL, count_parameters(0, 3, 2, 1));
    REFUSES(NULL, count_parameters(-1, -3, 2, 1));
    REFUSES(NULL, count_parameters(2, 0, 2, 1));
    REFUSES(NULL, count_parameters(2, 3, 0, 1));
    REFUSES(NULL, count_parameters(2, 3, 2, 0));
    REFUSES(NULL,
            count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 2));
    REFUSES(NULL, count_parameters(INT_MAX, INT_MAX, 1, 1));
    REFUSES(NULL, count_parameters(INT_MAX, 1, INT_MAX, INT_MAX));
}

int main(void)
{
    TAP("attention_head: one head, without memory of its own", head_test());
    EACH_SET("heads_init", "*-joined", init_test(set));
    EACH_SET("causal_heads_init", "*-drawn", wrapper_init(set));
    EACH_SET("heads_forward", "*-joined", forward_test(set));
    EACH_SET("heads_forward", "*-drawn", wrapper_forward(set));
    TAP("heads_forward: each head as if it were alone", alone_test());
    TAP("count_parameters: up to all that fit", count_test());
    refusals();
    counts_refused();
    return tap_done();
}
