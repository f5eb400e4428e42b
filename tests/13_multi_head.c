/* Chapter 13 against PyTorch: golden/13_multi_head. */
#define CHAPTER "13_multi_head"
#include "streams.h"
#include "traces.h"

#define SPLITS "split_1x1x1", "split_3x2x4", "split_5x3x2", "split_2x4x3"
#define CLASSES                                                            \
    "tutorial", "sentences", "class_1x1x1x1", "class_4x6x3x5",             \
        "class_5x6x2x7", "class_3x12x4x3", "class_8x8x1x4", "class_loud",  \
        "dropped_half", "dropped_tenth"
#define MODULES                                                            \
    "module_all", "module_causal", "module_opposite", "module_1x1x1",      \
        "module_6x3x5", "module_12x2x7", "module_12x4x3"
#define GIVEN                                                              \
    "given_all", "given_past", "given_where", "given_bare_out",            \
        "given_bare_roles", "given_side_by_side", "given_module"

#define WEIGHT_RTOL 1e-5
#define WEIGHT_ATOL 1e-6

static void split_test(void)
{
    const Tensor *x = part("x"), *split = part("split");
    float *got = room(split->count);
    split_heads(x->shape[0], split->shape[0], split->shape[2], floats(x),
                (void *)got);
    tap_close("split", split, got, 0, 0);
}

static void merge_test(void)
{
    const Tensor *x = part("x"), *split = part("split");
    float *got = room(x->count);
    merge_heads(x->shape[0], split->shape[0], split->shape[2],
                floats(split), (void *)got);
    tap_close("merged", x, got, 0, 0);
}

/* There and back, and back and there, over random shapes. */
static void round_trip(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 7), n_heads = tap_int(1, 5);
        const int size = tap_int(1, 5), all = n * n_heads * size;
        float *x = any_text(all, 1), *y = room((size_t)all);
        float *z = room((size_t)all);
        split_heads(n, n_heads, size, (void *)x, (void *)y);
        merge_heads(n, n_heads, size, (void *)y, (void *)z);
        same("split, merged", (size_t)all, z, x);
        merge_heads(n, n_heads, size, (void *)x, (void *)y);
        split_heads(n, n_heads, size, (void *)y, (void *)z);
        same("merged, split", (size_t)all, z, x);
    }
}

/* The class of a set, and the generator after its layers are drawn. */
static Attention drawn(Random *r)
{
    const int64_t *setting = tensor_integers(part("settings"));
    Attention a;
    random_seed(r, (uint64_t)setting[0]);
    multi_head_init(&a, r, part("x")->shape[2], (int)setting[1],
                    (int)setting[3], (double)setting[5] / 1000,
                    (int)setting[2], (int)setting[4]);
    return a;
}

static void init_test(void)
{
    const int64_t *setting = tensor_integers(part("settings"));
    const char *const name[4] = {"query", "key", "value", "out"};
    Random r;
    Attention a = drawn(&r);
    const Linear *const layer[4] = {&a.query, &a.key, &a.value, &a.out};
    for (int k = 0; k < 4; k++) {
        char weight[20], bias[20];
        snprintf(weight, sizeof weight, "%s_weight", name[k]);
        snprintf(bias, sizeof bias, "%s_bias", name[k]);
        tap_close(weight, part(weight), layer[k]->weight, 0, 0);
        tap_true("has a bias or has none",
                 !layer[k]->bias == (k < 3 && !setting[4]));
        if (layer[k]->bias)
            tap_close(bias, part(bias), layer[k]->bias, 0, 0);
    }
    same_bits("context length", a.context_length, setting[3]);
    same_bits("heads", a.n_heads, setting[2]);
    tap_near("rate", a.p, (double)setting[5] / 1000, 0, 0);
    attention_free(&a);
}

/* Every table, for each entry of the batch. */
static void forward_batch(const Attention *a, Mask see, Random *r,
                          const Tensor *y)
{
    const Tensor *x = part("x");
    const int n = x->shape[1], m = y->shape[1];
    for (int b = 0; b < x->shape[0]; b++) {
        Trace t = roomy(a, n, m);
        attention_forward(a, see, r, n, m, entry(x, b), entry(y, b), &t);
        close_tables(&t, b);
    }
}

static void training_test(void)
{
    Random r;
    Attention a = drawn(&r);
    forward_batch(&a, see_past(0), &r, part("x"));
    attention_free(&a);
}

/* Evaluation drops nothing, whatever the rate, and is the same to the last
 * bit as training at a rate of 0, which draws nothing. */
static void evaluation_test(void)
{
    const int n = part("x")->shape[1];
    void *const x = floats(part("x"));
    Random r, before;
    Attention a = drawn(&r);
    Trace t = trace_for(&a, n, n), zero = trace_for(&a, n, n);
    before = r;
    attention_forward(&a, see_past(0), NULL, n, n, x, x, &t);
    for (int i = 0; i < a.n_heads * n * n; i++)
        tap_near("kept", t.kept[i], 1, 0, 0);
    a.p = 0;
    attention_forward(&a, see_past(0), &r, n, n, x, x, &zero);
    same("trace", t.count, t.memory, zero.memory);
    tap_true("draws nothing", random_u32(&r) == random_u32(&before));
    trace_free(&t);
    trace_free(&zero);
    attention_free(&a);
}

/* From one text to another, with all numbers given. */
static void given_test(void)
{
    Random r = given_lots();
    Attention a = given();
    forward_batch(&a, given_mask(), &r, part("y"));
    tap_near("drawn next", random_float(&r),
             tensor_floats(part("following"))[0], 0, 0);
    attention_free(&a);
}

/* Draws like nn.MultiheadAttention, to the last bit. */
static Attention drawn_module(void)
{
    const int64_t *seed = tensor_integers(part("seed"));
    Random r;
    Attention a;
    random_seed(&r, (uint64_t)seed[0]);
    multi_head_init_packed(&a, &r, part("x")->shape[2], 0, (int)seed[1]);
    return a;
}

/* The weights of the three roles as PyTorch keeps them. */
static float *packed(const Attention *a)
{
    const size_t third = (size_t)a->d_x * (size_t)a->d_x;
    float *all = room(3 * third);
    memcpy(all, a->query.weight, third * sizeof(float));
    memcpy(all + third, a->key.weight, third * sizeof(float));
    memcpy(all + 2 * third, a->value.weight, third * sizeof(float));
    return all;
}

static void packed_test(void)
{
    Attention a = drawn_module();
    const Linear *const all[4] = {&a.query, &a.key, &a.value, &a.out};
    tap_close("in_proj_weight", part("in_proj_weight"), packed(&a), 0, 0);
    tap_close("out_proj_weight", part("out_proj_weight"), a.out.weight, 0,
              0);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < a.d_x; j++)
            tap_near("bias", all[k]->bias[j], 0, 0, 0);
    attention_free(&a);
}

/* The rate is the one asked for, and the context length any. */
static void packed_settings(void)
{
    Attention a;
    multi_head_init_packed(&a, lots(), 8, 0.25, 2);
    same_bits("context length", a.context_length, 0);
    same_bits("heads", a.n_heads, 2);
    tap_near("rate", a.p, 0.25, 0, 0);
    attention_free(&a);
}

/* With the biases of the set and its mask, for each entry of the batch. */
static void module_test(void)
{
    Attention a = drawn_module();
    const int n = part("x")->shape[1], d = a.d_x;
    const float *bias = tensor_floats(part("bias"));
    const Linear *const all[4] = {&a.query, &a.key, &a.value, &a.out};
    for (int k = 0; k < 4; k++)
        memcpy(all[k]->bias, bias + k * d, (size_t)d * sizeof(float));
    forward_batch(&a, see_where(n, n, floats(part("seen"))), NULL,
                  part("x"));
    attention_free(&a);
}

/* The module of the first Transformer's size. */
static void walk_test(void)
{
    enum { D_MODEL = 512, HEADS = 8, TOKENS = 20 };
    sets_now = "walk";
    Random r;
    Attention a;
    float(*x)[D_MODEL] = room(TOKENS * D_MODEL);
    random_seed(&r, 123);
    multi_head_init_packed(&a, &r, D_MODEL, 0, HEADS);
    rand_fill(&r, TOKENS, D_MODEL, x);
    Trace t = roomy(&a, TOKENS, TOKENS);
    attention_forward(&a, see_all(), NULL, TOKENS, TOKENS, x, x, &t);
    same_bits("in_proj_weight", checksum(3 * D_MODEL * D_MODEL, packed(&a)),
              tensor_integers(part("packed"))[0]);
    float got_maps[HEADS][TOKENS], got[TOKENS][D_MODEL / 32];
    for (int k = 0; k < HEADS; k++)
        memcpy(got_maps[k], t.weights + (k * TOKENS + 3) * TOKENS,
               sizeof got_maps[k]);
    for (int i = 0; i < TOKENS; i++)
        for (int k = 0; k < D_MODEL / 32; k++)
            got[i][k] = t.out[i * D_MODEL + 32 * k];
    tap_close("fourth rows of the weights", part("weights"), got_maps, 1e-5,
              1e-6);
    tap_close("every 32nd column", part("out"), got, 1e-5, 1e-5);
    attention_free(&a);
}

/* Random sizes, lots and masks: the three roles, the heads of chapter 12,
 * one after the other, which see the same by a table, and the output layer,
 * to the last bit. One head that is not mixed is chapter 11's, too. */
static void loop_test(void)
{
    for (int round = 0; round < 80; round++) {
        const bool is_one = round % 4 == 0;
        const int n = tap_int(1, 6), m = tap_int(1, 6);
        Attention a = any_attention(is_one ? 1 : tap_int(1, 4),
                                    is_one ? 0 : tap_int(0, 5));
        const Mask see = any_mask(round % 3, n, m);
        void *const x = any_text(n, a.d_x), *const y = any_text(m, a.d_y);
        Trace t = trace_for(&a, n, m), loop = trace_for(&a, n, m);
        Trace one = roomy(&a, n, m);
        attention_forward(&a, see, lots(), n, m, x, y, &t);
        attention_roles(&a, n, m, x, y, &loop);
        heads_forward(&a, as_table(see, n, m), lots(), n, m, x, y, &loop);
        if (a.d_out)
            linear_forward(&a.out, n, (void *)loop.joined,
                           (void *)loop.out);
        same("trace", t.count, t.memory, loop.memory);
        if (is_one) {
            head_forward(&a, see, lots(), n, m, x, y, &one);
            same("dropped", (size_t)(n * m), t.dropped, one.dropped);
            same("context", (size_t)(n * a.d_v), t.context, one.context);
        }
        trace_free(&t);
        trace_free(&loop);
        attention_free(&a);
    }
}

/* A token changes; the rows of those before it do not, to the last bit,
 * and its own does. */
static void future_test(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 6), changed = tap_int(0, n - 1);
        Attention a = any_attention(tap_int(1, 4), tap_int(1, 5));
        const size_t row = (size_t)a.d_out, from = (size_t)changed * row;
        float *x = any_text(n, a.d_x), *y = any_text(n, a.d_y);
        Trace t = roomy(&a, n, n), after = roomy(&a, n, n);
        attention_forward(&a, see_past(0), NULL, n, n, (void *)x, (void *)y,
                          &t);
        for (int k = 0; k < a.d_y; k++)
            y[changed * a.d_y + k] += 1;
        attention_forward(&a, see_past(0), NULL, n, n, (void *)x, (void *)y,
                          &after);
        same("rows before", from, after.out, t.out);
        tap_true("its own row", memcmp(after.out + from, t.out + from,
                                       row * sizeof(float)));
        attention_free(&a);
    }
}

static void average_test(void)
{
    const Tensor *average = part("average"), *weights = part("weights");
    const int batch = average->shape[0], n = average->shape[1];
    const int n_heads = weights->shape[1];
    float *x = rounded(weights), *got = room(average->count);
    for (int b = 0; b < batch; b++)
        average_weights(n, n, n_heads,
                        (const void *)(x + b * n_heads * n * n),
                        (void *)(got + b * n * n));
    tap_close("average", average, got, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* Tables that are not square: 2 rows, 3 columns, 2 heads. */
static void average_wide(void)
{
    const float weights[2][2][3] = {{{0.5f, 0.25f, 0.25f}, {1, 0, 0}},
                                    {{0, 0.75f, 0.25f}, {0, 0.5f, 0.5f}}};
    const float right[6] = {0.25f, 0.5f, 0.25f, 0.5f, 0.25f, 0.25f};
    float got[2][3];
    average_weights(2, 3, 2, weights, got);
    same("mean", 6, (void *)got, right);
}

static void fit_test(void)
{
    attention_forward(fitting(3, 4), WHERE_IT_FITS);
    tap_true("accepted", true);
}

static void refusals(void)
{
    Attention a;
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0, less = -1;
    static float one[1][1][1] = {{{1}}}, mean[1][1];
    REFUSES("13_multi_head.c: make_room: 8 columns for 3 heads leave 2 "
            "over: a divisor of 8 is needed",
            multi_head_init(&a, lots(), 3, 8, 6, 0, 3, 0));
    REFUSES("13_multi_head.c: make_room: 8 columns for 0 heads leave 8 "
            "over: a divisor of 8 is needed",
            multi_head_init(&a, lots(), 3, 8, 6, 0, 0, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 8, 6, 0, -2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 0, 6, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 0, 6, 0, 0, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, -8, 6, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 0, 8, 6, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 8, -1, 0, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 8, 6, 1.5, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 8, 6, -0.5, 2, 0));
    REFUSES(NULL, multi_head_init(&a, lots(), 3, 8, 6, NAN, 2, 0));
    REFUSES(NULL, multi_head_init_packed(&a, lots(), 8, 0, 3));
    REFUSES(NULL, multi_head_init_packed(&a, lots(), 0, 0, 1));
    REFUSES(NULL, multi_head_init_packed(&a, lots(), 8, 1.5, 2));
    TAP(fit_test, "attention_forward: accepts what fits");
    REFUSES_WHAT_DOES_NOT_FIT(attention_forward);
    REFUSES("13_multi_head.c: average_weights: the mean of 0 heads: at "
            "least 1 is needed",
            average_weights(1, 1, none, (const void *)one, mean));
    REFUSES("13_multi_head.c: average_weights: the mean of -1 heads: at "
            "least 1 is needed",
            average_weights(1, 1, less, (const void *)one, mean));
}

int main(void)
{
    SETS("split_heads", split_test, SPLITS);
    SETS("merge_heads", merge_test, SPLITS);
    TAP(round_trip, "split_heads: and merge_heads, there and back");
    SETS("multi_head_init", init_test, CLASSES);
    SETS("attention_forward: in training", training_test, CLASSES);
    SETS("attention_forward: in evaluation", evaluation_test, CLASSES);
    SETS("attention_forward", given_test, GIVEN);
    SETS("attention_forward", module_test, MODULES);
    TAP(walk_test, "attention_forward: 20 tokens, 8 heads, 512 columns");
    TAP(loop_test, "attention_forward: as one head after the other");
    TAP(future_test, "attention_forward: no row depends on the future");
    SETS("multi_head_init_packed", packed_test, MODULES);
    TAP(packed_settings, "multi_head_init_packed: rate and length");
    SETS("average_weights", average_test, MODULES);
    TAP(average_wide, "average_weights: tables that are not square");
    refusals();
    return tap_done();
}
