/* Chapter 13 against PyTorch: golden/13_multi_head. */
#define CHAPTER "13_multi_head"
#include "streams.h"
#include "traces.h"
#include "attention/13_multi_head.h"

/* The heads of the set and their columns, which are told. */
static int heads(void)
{
    give("n_heads = %d, head_dim = %d", dim("split", 0), dim("split", 2));
    return dim("split", 0);
}

/* The class of a set, and the generator after its layers are drawn. */
static Attention drawn(Random *r)
{
    const int64_t *setting = integers("settings");
    Attention a;
    *r = seeded(setting[0]);
    multi_head_init(&a, r, dim("x", 2), (int)setting[1], (int)setting[3],
                    (double)setting[5] / 1000, (int)setting[2],
                    (int)setting[4]);
    return a;
}

static void init_test(void)
{
    const int64_t *setting = integers("settings");
    const char *const name[4] = {"query", "key", "value", "out"};
    Random r;
    Attention a = drawn(&r);
    const Linear layer[4] = {a.query, a.key, a.value, a.out};
    for (int k = 0; k < 4; k++) {
        agrees(tap_words("%s_weight", name[k]), layer[k].weight, EXACTLY);
        tap_true("has a bias or has none",
                 !layer[k].bias == (k < 3 && !setting[4]));
        if (layer[k].bias)
            agrees(tap_words("%s_bias", name[k]), layer[k].bias, EXACTLY);
    }
    same_bits("context length", a.context_length, setting[3]);
    same_bits("heads", a.n_heads, setting[2]);
    tap_near("rate", a.dropout_rate, (double)setting[5] / 1000, EXACTLY);
    attention_free(&a);
}

/* Every table, for each entry of the batch. */
static void forward_batch(const Attention *a, Mask mask, Random *r,
                          const Tensor *y)
{
    const Tensor *x = part("x");
    const int n = x->shape[1], m = y->shape[1];
    for (int b = 0; b < x->shape[0]; b++) {
        Trace t = guarded_trace(a, n, m);
        tell_attention(a, mask);
        attention_forward(a, mask, r, n, m, told_entry("x", x, b),
                          told_entry("y", y, b), &t);
        close_tables("t->", &t, b);
        tap_near("rate", t.dropout_rate, r ? a->dropout_rate : 0, 0, 0);
    }
}

static void training_test(void)
{
    Random r;
    Attention a = drawn(&r);
    forward_batch(&a, mask_causal(0), &r, part("x"));
    attention_free(&a);
}

/* From one text to another, with all numbers given. */
static void given_test(void)
{
    Random r;
    Mask mask;
    Attention a = given(&mask, &r);
    forward_batch(&a, mask, &r, part("y"));
    draws_next(&r);
    attention_free(&a);
}

/* Draws like nn.MultiheadAttention, to the last bit. */
static Attention drawn_module(void)
{
    Random r = random_of_set();
    Attention a;
    multi_head_init_pytorch(&a, &r, dim("x", 2), 0.25,
                            (int)integers("seed")[1]);
    return a;
}

/* The weights of the three roles as PyTorch keeps them. */
static float *packed(const Attention *a)
{
    const size_t third = (size_t)a->d_x * (size_t)a->d_x;
    const Linear role[3] = {a->query, a->key, a->value};
    float *all = room(3 * third);
    for (size_t k = 0; k < 3; k++)
        memcpy(all + k * third, role[k].weight, third * sizeof(float));
    return all;
}

static void packed_test(void)
{
    Attention a = drawn_module();
    const Linear all[4] = {a.query, a.key, a.value, a.out};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < a.d_x; j++)
            tap_near("bias", all[k].bias[j], 0, EXACTLY);
    agrees("in_proj_weight", packed(&a), EXACTLY);
    agrees("out_proj_weight", a.out.weight, EXACTLY);
    same_bits("context length", a.context_length, 0);
    same_bits("heads", a.n_heads, integers("seed")[1]);
    tap_near("rate", a.dropout_rate, 0.25, EXACTLY);
    attention_free(&a);
}

/* With the biases of the set and its mask, for each entry of the batch. */
static void module_test(void)
{
    Attention a = drawn_module();
    const int n = dim("x", 1), d = a.d_x;
    const float *bias = input("bias");
    const Linear *const all[4] = {&a.query, &a.key, &a.value, &a.out};
    for (int k = 0; k < 4; k++)
        memcpy(all[k]->bias, bias + k * d, (size_t)d * sizeof(float));
    forward_batch(&a, mask_table(n, n, input("seen")), NULL, part("x"));
    attention_free(&a);
}

/* The module of the first Transformer's size: the fourth rows of its
 * weights, every 32nd column of its output. */
static void walk_test(void)
{
    enum { D_MODEL = 512, HEADS = 8, TOKENS = 20 };
    Random r = seeded(123);
    Attention a;
    float(*x)[D_MODEL] = room(TOKENS * D_MODEL);
    multi_head_init_pytorch(&a, &r, D_MODEL, 0, HEADS);
    random_fill(&r, TOKENS, D_MODEL, x);
    Trace t = guarded_trace(&a, TOKENS, TOKENS);
    attention_forward(&a, mask_none(), NULL, TOKENS, TOKENS, x, x, &t);
    same_bits("in_proj_weight", checksum(3 * D_MODEL * D_MODEL, packed(&a)),
              integers("packed")[0]);
    float *weights = due("weights", SUMS), *out = due("out", 1e-5, 1e-5);
    for (int k = 0; k < HEADS * TOKENS; k++)
        weights[k] =
            t.weights[(k / TOKENS * TOKENS + 3) * TOKENS + k % TOKENS];
    for (int k = 0; k < TOKENS * D_MODEL / 32; k++)
        out[k] = t.out[32 * k];
    attention_free(&a);
}

static void average_test(void)
{
    const int n = dim("x", 1), n_heads = dim("weights", 1);
    float *weights = rounded(part("weights"));
    float *average = room_for("average", (size_t)(n * n));
    for (int b = 0; b < dim("x", 0); b++) {
        const Tensor one = entry_of(part("weights"), b);
        next_case();
        told_entry("weights", part("weights"), b);
        average_weights(n, n, n_heads, (void *)weights, (void *)average);
        close_entry("average", "average", b, average, 1e-5, 1e-6);
        weights += one.count;
    }
}

/* Tables that are not square: 2 rows, 3 columns, 2 heads. */
static void average_wide(void)
{
    const float weights[2][2][3] = {{{0.5f, 0.25f, 0.25f}, {1, 0, 0}},
                                    {{0, 0.75f, 0.25f}, {0, 0.5f, 0.5f}}};
    const float right[2][3] = {{0.25f, 0.5f, 0.25f}, {0.5f, 0.25f, 0.25f}};
    float got[2][3];
    give_table("weights[0]", 2, 3, weights[0]);
    give_table("weights[1]", 2, 3, weights[1]);
    average_weights(2, 3, 2, weights, got);
    same_table("average", 2, 3, got, right);
}

static void refusals(void)
{
    Attention a;
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0, less = -1;
    static float one[1][1][1] = {{{1}}}, mean[1][1];
    REFUSES(
        "13_multi_head.c: multi_head_init: 8 columns for 3 heads leave 2 "
        "over: a divisor of 8 is needed",
        multi_head_init(&a, some_draws(), 3, 8, 6, 0, 3, 0));
    REFUSES(
        "13_multi_head.c: multi_head_init: 8 columns for 0 heads leave 8 "
        "over: a divisor of 8 is needed",
        multi_head_init(&a, some_draws(), 3, 8, 6, 0, 0, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 0, 6, 0, 0, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 8, -1, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, some_draws(), 3, 8, 6, 1.5, 2, 0));
    REFUSES(NULL, multi_head_init_pytorch(&a, some_draws(), 8, 0, 3));
    REFUSES_WHAT_DOES_NOT_FIT(attention_forward, WHERE_IT_FITS);
    REFUSES_SUCH("0 heads",
                 average_weights(1, 1, none, (const void *)one, mean));
    REFUSES_SUCH("-1 heads",
                 average_weights(1, 1, less, (const void *)one, mean));
}

int main(void)
{
    EACH_SET("split_heads", "*-split",
             split_heads(dim("x", 0), heads(), dim("split", 2), input("x"),
                         due("split", EXACTLY)));
    EACH_SET("merge_heads", "*-split",
             merge_heads(dim("x", 0), heads(), dim("split", 2),
                         input("split"), due("x", EXACTLY)));
    EACH("multi_head_init", init_test, "*-settings");
    EACH("attention_forward: in training", training_test, "*-settings");
    EACH("attention_forward", given_test, "*-sizes");
    EACH("attention_forward", module_test, "*-average");
    EACH("attention_forward: 20 tokens, 8 heads, 512 columns", walk_test,
         "walk-out");
    EACH("multi_head_init_pytorch", packed_test, "*-average");
    EACH("average_weights", average_test, "*-average");
    TAP(average_wide, "average_weights: tables that are not square");
    refusals();
    return tap_done();
}
