/* Chapter 13 against PyTorch: golden/13_multi_head. */
#define CHAPTER "13_multi_head"
#include "streams.h"
#include "traces.h"
#include "attention/05_tokens.h"
#include "attention/12_heads.h"
#include "attention/13_multi_head.h"

/* The heads of the set, which are told. */
static int heads(const char *set)
{
    given("n_heads = %d, head_dim = %d", dim(set, "split", 0),
          dim(set, "split", 2));
    return dim(set, "split", 0);
}

/* The class of a set, and the generator after its layers are drawn. */
static Attention drawn(const char *set, Random *r)
{
    const int64_t *setting = golden_integers(set, "settings");
    Attention a;
    *r = random_seeded((uint64_t)setting[0]);
    multi_head_init(&a, r, dim(set, "x", 2), (int)setting[1],
                    (int)setting[3], (double)setting[5] / 1000,
                    (int)setting[2], (int)setting[4]);
    return a;
}

static void init_test(const char *set)
{
    const int64_t *setting = golden_integers(set, "settings");
    const char *const name[4] = {"query", "key", "value", "out"};
    Random r;
    Attention a = drawn(set, &r);
    const Linear layer[4] = {a.query, a.key, a.value, a.out};
    for (int k = 0; k < 4; k++) {
        const char *weight = tap_words("%s_weight", name[k]);
        const char *bias = tap_words("%s_bias", name[k]);
        expect_close(weight, layer[k].weight, golden(set, weight), EXACTLY);
        expect_true("has a bias or has none",
                    !layer[k].bias == (k < 3 && !setting[4]));
        if (layer[k].bias)
            expect_close(bias, layer[k].bias, golden(set, bias), EXACTLY);
    }
    expect_integer("context length", a.context_length, setting[3]);
    expect_integer("heads", a.n_heads, setting[2]);
    expect_equal("rate", a.dropout_rate, (double)setting[5] / 1000);
    attention_free(&a);
}

/* Two heads one by one, and by one projection. */
static void loop_test(void)
{
    enum { N = 6, HEADS = 2, WIDTH = 4, ALL = HEADS * WIDTH };
    Attention a;
    Trace t[HEADS], all;
    float joined[N][ALL];
    heads_init(&a, some_draws(), HEADS, 3, WIDTH, WIDTH);
    const Attention head = attention_head(&a, 0);
    for (int h = 0; h < HEADS; h++)
        trace_init_for(&t[h], &head, N, N);
    trace_init_for(&all, &a, N, N);
    heads_forward(&a, mask_none(), NULL, N, N, life, life, t, joined);
    attention_forward(&a, mask_none(), NULL, N, N, life, life, &all);
    for (int i = 0; i < N * ALL; i++)
        expect_equal("joined", all.joined[i], joined[i / ALL][i % ALL]);
    for (int h = 0; h < HEADS; h++)
        trace_free(&t[h]);
    trace_free(&all);
    attention_free(&a);
}

static void forward_batch(const char *set, const Attention *a, Mask mask,
                          Random *r, const char *y)
{
    const int n = dim(set, "x", 1), m = dim(set, y, 1);
    for (int b = 0; b < dim(set, "x", 0); b++) {
        Trace t = guarded_trace(a, n, m);
        given_attention(a, mask);
        attention_forward(a, mask, r, n, m, input_entry(set, "x", b),
                          input_entry(set, y, b), &t);
        expect_golden_tables("t->", &t, set, b);
        expect_equal("rate", t.dropout_rate, r ? a->dropout_rate : 0);
    }
}

static void training_test(const char *set)
{
    Random r;
    Attention a = drawn(set, &r);
    forward_batch(set, &a, mask_causal(0), &r, "x");
    attention_free(&a);
}

/* From one text to another, with all numbers given. */
static void given_test(const char *set)
{
    Random r;
    Mask mask;
    Attention a = golden_attention(set, &mask, &r);
    forward_batch(set, &a, mask, &r, "y");
    expect_next_draw(set, &r);
    attention_free(&a);
}

/* Draws like nn.MultiheadAttention, to the last bit. */
static Attention drawn_module(const char *set)
{
    Random r = input_random(set);
    Attention a;
    multi_head_init_pytorch(&a, &r, dim(set, "x", 2), 0.25,
                            (int)golden_integers(set, "seed")[1]);
    return a;
}

/* The weights of the three roles as PyTorch keeps them. */
static float *packed(const Attention *a)
{
    const size_t third = (size_t)a->d_x * (size_t)a->d_x;
    const Linear role[3] = {a->query, a->key, a->value};
    float *all = guarded("in_proj_weight", 3 * third);
    for (size_t k = 0; k < 3; k++)
        memcpy(all + k * third, role[k].weight, third * sizeof(float));
    return all;
}

static void packed_test(const char *set)
{
    Attention a = drawn_module(set);
    const Linear all[4] = {a.query, a.key, a.value, a.out};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < a.d_x; j++)
            expect_equal("bias", all[k].bias[j], 0);
    expect_close("in_proj_weight", packed(&a),
                 golden(set, "in_proj_weight"), EXACTLY);
    expect_close("out_proj_weight", a.out.weight,
                 golden(set, "out_proj_weight"), EXACTLY);
    expect_integer("context length", a.context_length, 0);
    expect_integer("heads", a.n_heads, golden_integers(set, "seed")[1]);
    expect_equal("rate", a.dropout_rate, 0.25);
    attention_free(&a);
}

/* With the biases of the set and its mask, for each entry of the batch. */
static void module_test(const char *set)
{
    Attention a = drawn_module(set);
    const int n = dim(set, "x", 1), d = a.d_x;
    const float *bias = input(set, "bias");
    const Linear *const all[4] = {&a.query, &a.key, &a.value, &a.out};
    for (int k = 0; k < 4; k++)
        memcpy(all[k]->bias, bias + k * d, (size_t)d * sizeof(float));
    forward_batch(set, &a, mask_table(n, n, input(set, "seen")), NULL, "x");
    attention_free(&a);
}

/* The module of the first Transformer's size: the fourth rows of its
 * weights, every 32nd column of its output. */
static void walk_test(const char *set)
{
    enum { D_MODEL = 512, HEADS = 8, TOKENS = 20 };
    Random r = random_seeded(123);
    Attention a;
    void *x = guarded("x", TOKENS * D_MODEL);
    multi_head_init_pytorch(&a, &r, D_MODEL, 0, HEADS);
    random_fill(&r, TOKENS, D_MODEL, x);
    Trace t = guarded_trace(&a, TOKENS, TOKENS);
    attention_forward(&a, mask_none(), NULL, TOKENS, TOKENS, x, x, &t);
    expect_integer("in_proj_weight",
                   checksum(3 * D_MODEL * D_MODEL, packed(&a)),
                   golden_integers(set, "packed")[0]);
    float *weights = due(set, "weights", SUMS);
    float *out = due(set, "out", 1e-5, 1e-5);
    for (int k = 0; k < HEADS * TOKENS; k++)
        weights[k] =
            t.weights[(k / TOKENS * TOKENS + 3) * TOKENS + k % TOKENS];
    for (int k = 0; k < TOKENS * D_MODEL / 32; k++)
        out[k] = t.out[32 * k];
    attention_free(&a);
}

static void average_test(const char *set)
{
    const int n = dim(set, "x", 1);
    void *average = guarded("average", (size_t)(n * n));
    for (int b = 0; b < dim(set, "x", 0); b++) {
        next_case();
        average_weights(n, n, dim(set, "weights", 1),
                        input_entry(set, "weights", b), average);
        expect_entry("average", average, set, "average", b, 1e-5, 1e-6);
    }
}

static void average_wide(void)
{
    const float weights[2][2][3] = {{{0.5f, 0.25f, 0.25f}, {1, 0, 0}},
                                    {{0, 0.75f, 0.25f}, {0, 0.5f, 0.5f}}};
    const float right[2][3] = {{0.25f, 0.5f, 0.25f}, {0.5f, 0.25f, 0.25f}};
    float got[2][3];
    given_array("weights[0]", weights[0], 2, 3);
    given_array("weights[1]", weights[1], 2, 3);
    average_weights(2, 3, 2, weights, got);
    expect_table("average", 2, 3, got, right, EXACTLY);
}

static void forward(Mask see)
{
    attention_forward(&fit, see, NULL, 5, 6, fit_x, fit_y, &fit_trace);
}

static void refusals(void)
{
    Attention a;
    static const float one[1][1][1] = {{{1}}};
    float mean[1][1];
    REFUSES(
        "13_multi_head.c: multi_head_init: 8 columns for 3 heads leave 2 "
        "over: a divisor of 8 is needed",
        multi_head_init(&a, some_draws(), 3, 8, 6, 0, 3, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 8, 6, 0, 0, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 8, -1, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 8, 6, 1.5, 2, 0));
    REFUSES(NULL, multi_head_init_pytorch(&a, some_draws(), 8, 0, 3));
    REFUSES_WRONG("attention_forward", misfit, forward(fit_but(w)));
    REFUSES_WRONG("attention_forward", misfit_lengths, forward(fit_but(w)));
    REFUSES_WRONG("attention_forward", misfit_mask, forward(fit_but(w)));
    /* volatile, or else the compiler sees what is wrong and warns. */
    for (volatile int heads = -1; heads < 1; heads++)
        REFUSES_SUCH(tap_words("%d heads", heads),
                     average_weights(1, 1, heads, one, mean));
}

int main(void)
{
    EACH_SET("split_heads", "*-split",
             split_heads(dim(set, "x", 0), heads(set), dim(set, "split", 2),
                         input(set, "x"), due(set, "split", EXACTLY)));
    EACH_SET("merge_heads", "*-split",
             merge_heads(dim(set, "x", 0), heads(set), dim(set, "split", 2),
                         input(set, "split"), due(set, "x", EXACTLY)));
    EACH_SET("multi_head_init", "*-settings", init_test(set));
    EACH_SET("attention_forward: in training", "*-settings",
             training_test(set));
    EACH_SET("attention_forward", "*-sizes", given_test(set));
    EACH_SET("attention_forward", "*-average", module_test(set));
    EACH_SET("attention_forward: 20 tokens, 8 heads, 512 columns",
             "walk-out", walk_test(set));
    TAP("attention_forward: the bits of heads_forward", loop_test());
    EACH_SET("multi_head_init_pytorch", "*-average", packed_test(set));
    EACH_SET("average_weights", "*-average", average_test(set));
    TAP("average_weights: tables that are not square", average_wide());
    refusals();
    return tap_done();
}
