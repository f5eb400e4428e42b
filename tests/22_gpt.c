/* Chapter 22 against PyTorch: golden/22_gpt. */
#define CHAPTER "22_gpt"
#include "streams.h"
#include "gpts.h"
#include "attention/22_gpt.h"
#include "attention/13_multi_head.h"
#include "attention/20_optimizers.h"
#include "attention/gpt_file.h"
#include "attention/attention_object.h"
#include "attention/kv_cache.h"

static Norm norm_of_set(const char *set)
{
    return (Norm){dim(set, "weight", 0), input(set, "weight"),
                  input(set, "bias")};
}

static void norm_forward_test(const char *set)
{
    const Norm l = norm_of_set(set);
    float *out = guarded("out", golden_count(set, "out"));
    norm_forward(&l, dim(set, "x", 0), input(set, "x"), (void *)out);
    expect_close("out", out, golden(set, "out"), 1e-5, 2e-5);
}

static void norm_backward_test(const char *set, float start)
{
    const Norm l = norm_of_set(set);
    Norm g = {l.d, gradient_for(set, "g_weight", start),
              gradient_for(set, "g_bias", start)};
    float *grad_x = gradient_for(set, "g_x", start);
    norm_backward(&l, dim(set, "x", 0), input(set, "x"),
                  input(set, "g_out"), &g, (void *)grad_x);
    expect_added("g_weight", g.weight, set, start, 1e-5, 2e-5);
    expect_added("g_bias", g.bias, set, start, 1e-5, 2e-6);
    expect_added("g_x", grad_x, set, start, 1e-5, 2e-5);
}

/* Slopes are the smaller, the further a row is spread: they are compared
 * times the row's spread. */
static void norm_large_test(const char *set, float start)
{
    const Norm l = norm_of_set(set);
    const float spread[3] = {1e30f, 2e38f, 1};
    Norm g = {l.d, gradient_for(set, "g_weight", start),
              gradient_for(set, "g_bias", start)};
    float *grad_x = gradient_for(set, "g_x", start);
    norm_backward(&l, 3, input(set, "x"), input(set, "g_out"), &g,
                  (void *)grad_x);
    expect_added("g_weight", g.weight, set, start, 1e-5, 2e-5);
    for (int i = 0; i < 12; i++)
        expect_near(tap_words("g_x[%d], times %g", i, spread[i / 4]),
                    (double)grad_x[i] * spread[i / 4],
                    golden_doubles(set, "g_x")[i] * spread[i / 4], 1e-5,
                    2e-5);
}

/* Far from 0 the share and the slope are 0, or 1. */
static void far_test(void)
{
    const float x[6] = {-FLT_MAX, -1e19f, -1e12f, 1e12f, 1e19f, FLT_MAX};
    const float ones[4] = {1, 1, 1, 1};
    float share[6], out[6], grad_x[4] = {0};
    gelu(6, x, share, out);
    gelu_backward(4, x + 1, share + 1, ones, grad_x);
    for (int i = 0; i < 6; i++)
        expect_equal("gelu", out[i], i < 3 ? 0 : x[i]);
    for (int i = 0; i < 4; i++)
        expect_equal("slope", grad_x[i], i < 2 ? 0 : 1);
}

static void gelu_backward_test(const char *set, float start)
{
    const size_t count = golden(set, "x")->count;
    float *out = guarded("an array", count),
          *share = guarded("an array", count), *x = input(set, "x");
    float *grad_x = gradient_for(set, "g_x", start);
    gelu((int)count, x, share, out);
    expect_close("gelu", out, golden(set, "gelu"), 1e-5, 5e-7);
    gelu_backward((int)count, x, share, input(set, "g_out"), grad_x);
    expect_added("g_x", grad_x, set, start, 1e-5, 1e-6);
}

/* Far from 0 it is 0, or 1. */
static void sigmoid_test(void)
{
    const float x[] = {-FLT_MAX, -87.5f,   -87.34f,   -87.33f,
                       -87.2f,   -87.01f,  -87,       -80,
                       -1,       0,        2,         80,
                       FLT_MAX,  INFINITY, -INFINITY, NAN};
    enum { N = sizeof x / sizeof *x };
    float got[N];
    memcpy(got, x, sizeof x);
    sigmoid(N, got);
    for (int i = 0; i < N; i++) {
        const double due = 1 / (1 + exp(-(double)x[i]));
        expect_near("sigmoid", got[i], due < 0x1p-126 ? 0 : due,
                    x[i] < -80 ? 1e-5 : 1e-6, 0);
    }
}

static void fill_test(const char *set)
{
    Random r = input_random(set);
    Gpt g = sized(set);
    tap_fill((int)g.count, g.memory, 1, 2);
    gpt_fill(&r, &g);
    expect_close("parameters", g.memory, golden(set, "parameters"), 0, 0);
    const float next = random_float(&r);
    expect_close("following", &next, golden(set, "following"), 0, 0);
    gpt_free(&g);
}

/* The tables of all layers, by the names of the golden sets. */
static void layers_agree(const char *set, const Gpt *g, const GptPass *p)
{
    static const char *const name[11] = {
        "normed_1", "query",    "key", "value",  "joined", "attended",
        "between",  "normed_2", "up",  "active", "after"};
    for (int i = 0; i < 11; i++) {
        const size_t count =
            golden(set, name[i])->count / (size_t)g->layers;
        float *got = guarded(name[i], golden_count(set, name[i]));
        for (int l = 0; l < g->layers; l++) {
            const GptBlockPass *b = &p->block[l];
            const Trace *t = &b->attention;
            const float *const table[11] = {
                b->normed_1, t->query,  t->key,     t->value,
                t->joined,   t->out,    b->between, b->normed_2,
                b->wide,     b->active, b->after};
            memcpy(got + (size_t)l * count, table[i], count * sizeof *got);
        }
        expect_close(name[i], got, golden(set, name[i]), 1e-5, 1e-5);
    }
}

/* What a pass drops, where a set says so. */
static void drop(const char *set, GptPass *p)
{
    if (strcmp(set, "dropped"))
        return;
    Random r = input_random(set);
    gpt_pass_drop(p, &r, *golden_doubles(set, "rate"));
    const float next = random_float(&r);
    expect_close("following", &next, golden(set, "following"), 0, 0);
}

static void forward_test(const char *set)
{
    Gpt g = golden_gpt(set);
    GptPass p;
    gpt_pass_init(&p, &g, dim(set, "ids", 0), dim(set, "ids", 1));
    drop(set, &p);
    gpt_forward(&g, NULL, golden_ints(set, "ids"), &p);
    expect_close("begin", p.block[0].in, golden(set, "begin"), 1e-6, 1e-6);
    layers_agree(set, &g, &p);
    expect_close("last", p.normed, golden(set, "last"), 1e-5, 1e-5);
    expect_close("logits", p.logits, golden(set, "logits"), 1e-5, 2e-5);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* In any two pieces, through caches. */
static void cached_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const int n = dim(set, "ids", 1), size = g.vocabulary;
    const int *ids = golden_ints(set, "ids");
    float(*logits)[n][size] =
        guarded("logits", golden_count(set, "logits"));
    for (int cut = 1; cut < n; cut++) {
        for (int text = 0; text < 2; text++) {
            KVCache cache[4];
            gpt_caches_init(cache, &g);
            for (int from = 0, till; from < n; from = till) {
                till = from ? n : cut;
                GptPass p;
                gpt_pass_init(&p, &g, 1, till - from);
                gpt_forward(&g, cache, ids + text * n + from, &p);
                memcpy(logits[text][from], p.logits,
                       (size_t)((till - from) * size) * sizeof(float));
                gpt_pass_free(&p);
            }
            gpt_caches_free(cache, &g);
        }
        expect_close("logits", logits, golden(set, "logits"), 1e-5, 2e-5);
    }
    gpt_free(&g);
}

/* The gradient of the mean loss. */
static void backward_test(const char *set, float start)
{
    Gpt g = golden_gpt(set), grad_g;
    const int texts = dim(set, "ids", 0), n = dim(set, "ids", 1),
              rows = texts * n;
    const int *ids = golden_ints(set, "ids"),
              *targets = golden_ints(set, "targets");
    float *shares = guarded("an array", (size_t)(rows * g.vocabulary));
    GptPass p, grad_p;
    gpt_init(&grad_g, &g);
    gpt_pass_init(&p, &g, texts, n);
    gpt_pass_init(&grad_p, &g, texts, n);
    drop(set, &p);
    gpt_forward(&g, NULL, ids, &p);
    const float loss = cross_entropy(rows, g.vocabulary, (void *)p.logits,
                                     targets, (void *)shares);
    expect_close("loss", &loss, golden(set, "loss"), 1e-5, 0);
    cross_entropy_backward(rows, g.vocabulary, (void *)shares, targets,
                           (void *)grad_p.logits);
    memcpy(grad_g.memory, gradient_for(set, "gradient", start),
           g.count * sizeof(float));
    gpt_backward(&g, ids, &p, &grad_p, &grad_g);
    expect_added("gradient", grad_g.memory, set, start, 1e-5, 1e-6);
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&g);
    gpt_free(&grad_g);
}

/* Of each of the four masks of a pass of two blocks, as it is drawn at this
 * rate: what it leaves. Returns how many entries are dropped. */
static int dropped_by(GptPass *p, double rate)
{
    enum { N = 5 * 6 };
    int dropped = 0;
    for (int k = 0; k < 4; k++) {
        const GptBlockPass *b = &p->block[k / 2];
        const float *keep = k % 2 ? b->keep_2 : b->keep_1;
        float x[N], left[N];
        tap_fill(N, x, 1, 2);
        gpt_drop(b, keep, N, x, left);
        for (int i = 0; i < N; i++) {
            const int keeps = !keep || keep[i] != 0;
            expect_near("left", left[i],
                        keeps ? (double)x[i] / (1 - rate) : 0, 1e-6, 0);
            dropped += !keeps;
        }
        gpt_drop(b, keep, N, x, x);
        expect_list("in place", N, x, left, EXACTLY);
    }
    return dropped;
}

static void drop_test(void)
{
    Gpt g = any_gpt(2, 0);
    GptPass p;
    Random r = random_seeded(5);
    gpt_pass_init(&p, &g, 1, 5);
    expect_equal("none without dropout", dropped_by(&p, 0), 0);
    gpt_pass_drop(&p, &r, 0.25);
    const int few = dropped_by(&p, 0.25);
    expect_true("a quarter", few > 15 && few < 45);
    gpt_pass_clear(&p);
    expect_equal("the same masks", dropped_by(&p, 0.25), few);
    gpt_pass_drop(&p, &r, 0.75);
    const int many = dropped_by(&p, 0.75);
    expect_true("three quarters, drawn anew", many > 75 && many < 105);
    Random before = r;
    gpt_pass_drop(&p, &r, 1);
    expect_equal("all", dropped_by(&p, 1), 4 * 30);
    gpt_pass_drop(&p, &r, 0);
    expect_equal("none again", dropped_by(&p, 0), 0);
    expect_true("no mask is left", !p.keep && !p.block->keep_1);
    expect_integer("nothing was drawn", random_u32(&r),
                   random_u32(&before));
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* The golden file itself is a model's. */
static void load_test(void)
{
    const char *const set = "gpt_tied";
    Gpt g;
    gpt_load(&g, "golden/22_gpt.safetensors");
    const int64_t *size = golden_integers(set, "sizes");
    const int got[5] = {g.vocabulary, g.context_length, g.width, g.n_heads,
                        g.layers};
    for (int i = 0; i < 5; i++)
        expect_integer("sizes", got[i], size[i]);
    expect_true("tied", g.output.weight == g.tokens);
    expect_close("parameters", g.memory, golden(set, "parameters"), 0, 0);
    for (size_t i = 0; i < tap_golden.count; i++)
        if (!strchr(tap_golden.tensor[i].name, '-'))
            golden("", tap_golden.tensor[i].name);
    gpt_free(&g);
}

/* Models, passes and caches: what they begin with, and have to
 * themselves. */
static void memory_test(void)
{
    for (int apart = 0; apart < 2; apart++) {
        Gpt g = any_gpt(3, apart), other;
        const int d = 6, block = 12 * d * d + 13 * d;
        gpt_init(&other, &g);
        expect_integer("parameters", (int64_t)g.count,
                       7 * d + 5 * d + 3 * block + 2 * d + apart * 7 * d);
        expect_list("begins with 0", g.count, other.memory,
                    guarded_filled("nothing", g.count, 0), EXACTLY);
        expect_true("has room of its own",
                    other.memory != g.memory && other.block != g.block);
        gpt_clear(&g);
        expect_list("is 0 again", g.count, g.memory, other.memory, EXACTLY);
        gpt_free(&g);
        gpt_free(&other);
        gpt_free(&other);
        expect_true("is empty", !other.memory && !other.block);
    }
}

static void pass_test(void)
{
    Gpt g = any_gpt(2, 0);
    GptPass p;
    KVCache cache[2];
    gpt_pass_init(&p, &g, 2, 4);
    expect_true("a block begins where the one before has ended",
                p.block[1].in == p.block[0].after);
    const Trace *const t[2] = {&p.block[0].attention,
                               &p.block[1].attention};
    tap_fill((int)p.count, p.memory, -1, 1);
    for (int l = 0; l < 2; l++)
        tap_fill((int)t[l]->count, t[l]->memory, -1, 1);
    gpt_pass_clear(&p);
    expect_list("the pass", p.count, p.memory,
                guarded_filled("nothing", p.count, 0), EXACTLY);
    for (int l = 0; l < 2; l++)
        expect_list("its attention", t[l]->count, t[l]->memory,
                    guarded_filled("nothing", t[l]->count, 0), EXACTLY);
    gpt_pass_free(&p);
    expect_true("is empty", !p.memory && !p.block);
    gpt_caches_init(cache, &g);
    for (int l = 0; l < 2; l++)
        expect_true("a cache of 2 heads, 3 entries and room for 5",
                    cache[l].n_kv_heads == 2 && cache[l].d_k == 3 &&
                        cache[l].d_v == 3 && cache[l].capacity == 5);
    gpt_caches_free(cache, &g);
    expect_true("nothing is left", !cache[0].key && !cache[1].key);
    gpt_free(&g);
}

/* Token by token, against all at once without a cache: values wider than
 * keys, with an output layer or the heads side by side alone. */
static void attend_cached_test(void)
{
    for (int d_out = 0; d_out <= 6; d_out += 6) {
        Attention a = {
            .d_x = 6, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 4};
        a.d_out = d_out;
        a.has_out_bias = d_out > 0;
        KVCache cache = {
            .n_kv_heads = 2, .d_k = 2, .d_v = 4, .capacity = 5};
        Trace whole, one;
        float(*x)[6] = guarded("an array", 5 * 6);
        const int wide = d_out ? d_out : 8;
        attention_init(&a, &a);
        kv_cache_init(&cache, &cache);
        trace_init_for(&whole, &a, 5, 5);
        trace_init_texts(&one, &a, 1, 1);
        tap_fill((int)a.count, a.memory, -1, 1);
        tap_fill(5 * 6, x[0], -2, 2);
        attention_forward(&a, mask_causal(0), NULL, 5, 5, x, x, &whole);
        for (int i = 0; i < 5; i++) {
            attend_cached(&a, &cache, 1, x + i, &one);
            expect_list(
                tap_words("row %d", i), wide, d_out ? one.out : one.joined,
                (d_out ? whole.out : whole.joined) + i * wide, 1e-5, 1e-5);
        }
        trace_free(&whole);
        trace_free(&one);
        kv_cache_free(&cache);
        attention_free(&a);
    }
}

/* ---- What is refused */

/* A cache of such heads and widths, where 2 heads, 2 and 4 are needed. */
static void attend_cached_with(int heads, int d_k, int d_v)
{
    Attention a = {
        .d_x = 6, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 4, .d_out = 6};
    KVCache c = {
        .n_kv_heads = heads, .d_k = d_k, .d_v = d_v, .capacity = 5};
    Trace one;
    attention_init(&a, &a);
    kv_cache_init(&c, &c);
    trace_init_texts(&one, &a, 1, 1);
    attend_cached(&a, &c, 1, (float[1][6]){{0}}, &one);
}

/* A model and its gradient, with a pass for each, of which one size is
 * changed by hand. For the child of REFUSES. */
static struct {
    Gpt g, grad_g;
    GptPass p, grad_p;
} changed;

static void change(int *size, int value)
{
    changed.g = any_gpt(2, 0);
    changed.grad_g = any_gpt(2, 0);
    gpt_pass_init(&changed.p, &changed.g, 2, 3);
    gpt_pass_init(&changed.grad_p, &changed.g, 2, 3);
    *size = value;
}

static void forward_with(int *size, int value)
{
    change(size, value);
    gpt_forward(&changed.g, NULL, (int[6]){0}, &changed.p);
}

static void cached_with(int *size, int value)
{
    KVCache cache[2];
    change(size, value);
    gpt_caches_init(cache, &changed.g);
    gpt_forward(&changed.g, cache, (int[6]){0}, &changed.p);
}

static void drop_at(double rate)
{
    Random r = random_seeded(1);
    change(&changed.p.texts, 2);
    gpt_pass_drop(&changed.p, &r, rate);
}

static void cached_with_dropout(void)
{
    KVCache cache[2];
    Random r = random_seeded(1);
    change(&changed.p.texts, 2);
    gpt_caches_init(cache, &changed.g);
    gpt_pass_init(&changed.p, &changed.g, 1, 3);
    gpt_pass_drop(&changed.p, &r, 0.25);
    gpt_forward(&changed.g, cache, (int[3]){0}, &changed.p);
}

static void pass_with(int *size, int value)
{
    change(size, value);
    gpt_pass_init(&(GptPass){0}, &changed.g, changed.p.texts, changed.p.n);
}

static void init_with(int *size, int value)
{
    change(size, value);
    gpt_init(&(Gpt){0}, &changed.g);
}

static void backward_with(int *size, int value)
{
    change(size, value);
    gpt_backward(&changed.g, (int[6]){0}, &changed.p, &changed.grad_p,
                 &changed.grad_g);
}

static const Wrong wrong_forward[] = {
    {"a pass of one layer for two", NULL, &changed.p.layers, 1},
    {"a pass of a wider model", NULL, &changed.p.width, 8},
    {"a pass for more tokens", NULL, &changed.p.vocabulary, 8},
};
static const Wrong wrong_cached[] = {
    {"two texts and a cache", NULL, &changed.p.texts, 2},
};
static const Wrong wrong_backward[] = {
    {"a pass of one layer for two", NULL, &changed.p.layers, 1},
    {"a gradient's pass of one layer", NULL, &changed.grad_p.layers, 1},
    {"a gradient's pass of one text", NULL, &changed.grad_p.texts, 1},
    {"a gradient's pass of shorter texts", NULL, &changed.grad_p.n, 2},
    {"a gradient for more tokens", NULL, &changed.grad_g.vocabulary, 8},
    {"a gradient for longer texts", NULL, &changed.grad_g.context_length,
     6},
    {"a gradient of a wider model", NULL, &changed.grad_g.width, 8},
    {"a gradient of more heads", NULL, &changed.grad_g.n_heads, 3},
    {"a gradient of one layer", NULL, &changed.grad_g.layers, 1},
    {"an output apart", NULL, &changed.grad_g.has_own_output, 1},
};
static const Wrong wrong_pass[] = {
    {"no texts", NULL, &changed.p.texts, 0},
    {"texts of no tokens", NULL, &changed.p.n, 0},
    {"texts longer than the context", NULL, &changed.p.n, 6},
    {"more numbers than an int counts",
     "gpt.c: gpt_pass_init: 33554432 texts of 3 tokens, with 4 times 6 "
     "numbers each: at most 2147483647 numbers are needed",
     &changed.p.texts, 1 << 25},
};
static const Wrong wrong_init[] = {
    {"no vocabulary", NULL, &changed.g.vocabulary, 0},
    {"no context", NULL, &changed.g.context_length, 0},
    {"no width", NULL, &changed.g.width, 0},
    {"a width too large", NULL, &changed.g.width, 1 << 29},
    {"no heads", NULL, &changed.g.n_heads, 0},
    {"no layers", NULL, &changed.g.layers, 0},
    {"heads that do not divide the width",
     "gpt.c: sizes_check: a width of 6 for 4 heads leaves 2 over: a "
     "multiple is needed",
     &changed.g.n_heads, 4},
};

static void refusals(void)
{
    static float x[3] = {0.5f, -1, 2};
    static const int of_cache[3][3] = {{1, 2, 4}, {2, 3, 4}, {2, 2, 5}};
    Norm l = {3, x, x}, grad_l = {2, x, x};
    REFUSES("gpt.c: norm_gradient_check: a gradient of 2 entries, where "
            "the layer has 3: as many are needed",
            norm_gradient_check(&l, &grad_l));
    REFUSES(NULL,
            norm_backward(&l, 1, (void *)x, (void *)x, &grad_l, (void *)x));
    for (int k = 0; k < 3; k++) {
        const double rate[3] = {-0.1, 1.1, (double)NAN};
        TAP_REFUSES("gpt_pass_drop", tap_words("a rate of %g", rate[k]),
                    tap_words("dropout_rate_check: a dropout rate of %g: "
                              "from 0 to 1 is needed",
                              rate[k]),
                    drop_at(rate[k]));
    }
    REFUSES("gpt.c: gpt_pass_drop: a pass without tables: gpt_pass_init "
            "makes room for them",
            gpt_pass_drop(&(GptPass){0}, NULL, 0.5));
    TAP_REFUSES(
        "gpt_pass_check", "a cache and a pass with dropout",
        "gpt.c: gpt_pass_check: a cache, and a pass with dropout of "
        "0.25: one without is needed",
        cached_with_dropout());
    REFUSES_EACH("gpt_init", init_with, wrong_init);
    REFUSES_EACH("gpt_pass_init", pass_with, wrong_pass);
    REFUSES_EACH("gpt_pass_check", forward_with, wrong_forward);
    REFUSES_EACH("gpt_pass_check", cached_with, wrong_cached);
    REFUSES_EACH("gpt_gradient_check", backward_with, wrong_backward);
    for (int k = 0; k < 3; k++) {
        const int *s = of_cache[k];
        TAP_REFUSES("attend_cached",
                    tap_words("a cache of %d heads, keys of %d and values "
                              "of %d",
                              s[0], s[1], s[2]),
                    k ? NULL
                      : "gpt.c: attend_cached: a cache of n_kv_heads, d_k, "
                        "d_v = 1, 2, 4: 2, 2, 4, those of the attention, "
                        "are needed",
                    attend_cached_with(s[0], s[1], s[2]));
    }
}

int main(void)
{
    EACH_SET("norm_forward", "norm_*-out", norm_forward_test(set));
    EACH_SET("norm_backward", "norm_*-out", norm_backward_test(set, 0));
    TAP("norm_backward: adds to what is there",
        norm_backward_test("norm_5x3", 1));
    TAP("norm_backward: norm_large", norm_large_test("norm_large", 0));
    EACH_SET("gelu_backward", "gelu_*-gelu", gelu_backward_test(set, 0));
    TAP("gelu_backward: adds to what is there",
        gelu_backward_test("gelu_small", 1));
    TAP("gelu_backward: far from 0", far_test());
    TAP("sigmoid: near 0, and far from it", sigmoid_test());
    EACH_SET("gpt_fill", "drawn*-parameters", fill_test(set));
    EACH_SET("gpt_forward", "gpt_*-ids", forward_test(set));
    TAP("gpt_embed: gpt_tied", forward_test("gpt_tied"));
    EACH_SET("gpt_pass_drop", "dropped-ids", forward_test(set));
    EACH_SET("gpt_pass_drop: and back", "dropped-ids",
             backward_test(set, 0));
    TAP("gpt_drop: each mask, at each rate", drop_test());
    EACH_SET("gpt_forward: in pieces", "gpt_*-ids", cached_test(set));
    EACH_SET("gpt_backward", "gpt_*-gradient", backward_test(set, 0));
    TAP("gpt_backward: adds to what is there",
        backward_test("gpt_tied", 1));
    TAP("gpt_embed_backward: adds to what is there",
        backward_test("gpt_tied", 1));
    TAP("gpt_load: what PyTorch has written", load_test());
    TAP("gpt_init: zeros, in room of its own", memory_test());
    TAP("gpt_clear: zeros again", memory_test());
    TAP("gpt_free: nothing is left", memory_test());
    TAP("gpt_pass_init: a block begins where another ends", pass_test());
    TAP("gpt_pass_clear: zeros again", pass_test());
    TAP("gpt_pass_free: nothing is left", pass_test());
    TAP("gpt_caches_init: one for each layer", pass_test());
    TAP("gpt_caches_free: nothing is left", pass_test());
    TAP("attend_cached: token by token", attend_cached_test());
    refusals();
    return tap_done();
}
