/* Chapter 22 against PyTorch: golden/22_gpt. */
#define CHAPTER "22_gpt"
#include "streams.h"
#include "gpts.h"
#include "attention/22_gpt.h"
#include "attention/13_multi_head.h"
#include "attention/kernel.h"
#include "attention/20_optimizers.h"
#include "attention/gpt_file.h"

static Norm norm_of_set(void)
{
    return (Norm){dim("weight", 0), input("weight"), input("bias")};
}

static void norm_forward_test(void)
{
    const Norm l = norm_of_set();
    float *out = result("out");
    norm_forward(&l, dim("x", 0), input("x"), (void *)out);
    agrees("out", out, 1e-5, 2e-5);
}

/* What is there already stays, and the gradient is added to it. */
static float *begun(const char *what, float begin)
{
    float *x = result(what);
    for (size_t i = 0; i < part(what)->count; i++)
        x[i] = begin;
    return x;
}

static void less(size_t count, float *x, float begin)
{
    for (size_t i = 0; i < count; i++)
        x[i] -= begin;
}

static void norm_backward_test(void)
{
    const Norm l = norm_of_set();
    Norm g = {l.d, begun("g_weight", 2), begun("g_bias", -3)};
    float *grad_x = begun("g_x", 4);
    norm_backward(&l, dim("x", 0), input("x"), input("g_out"), &g,
                  (void *)grad_x);
    less((size_t)l.d, g.weight, 2);
    less((size_t)l.d, g.bias, -3);
    less(part("x")->count, grad_x, 4);
    agrees("g_weight", g.weight, 1e-5, 2e-5);
    agrees("g_bias", g.bias, 1e-5, 2e-6);
    agrees("g_x", grad_x, 1e-5, 2e-5);
}

static void gelu_test(void)
{
    const int n = (int)part("x")->count;
    float *out = result("gelu"), *share = room((size_t)n);
    gelu(n, input("x"), share, out);
    agrees("gelu", out, 1e-5, 5e-7);
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
        tap_near("gelu", out[i], i < 3 ? 0 : x[i], 0, 0);
    for (int i = 0; i < 4; i++)
        tap_near("slope", grad_x[i], i < 2 ? 0 : 1, 0, 0);
}

static void gelu_backward_test(void)
{
    const int n = (int)part("x")->count;
    float *out = room((size_t)n), *share = room((size_t)n);
    float *grad_x = begun("g_x", 2), *x = input("x");
    gelu(n, x, share, out);
    gelu_backward(n, x, share, input("g_out"), grad_x);
    less((size_t)n, grad_x, 2);
    agrees("g_x", grad_x, 1e-5, 1e-6);
}

/* Far from 0 it is 0, or 1. */
static void sigmoid_test(void)
{
    const float x[8] = {-FLT_MAX, -87.5f, -80, -1, 0, 2, 80, FLT_MAX};
    float got[8];
    memcpy(got, x, sizeof x);
    sigmoid(8, got);
    for (int i = 0; i < 8; i++)
        tap_near("sigmoid", got[i],
                 x[i] < -87 ? 0 : 1 / (1 + exp(-(double)x[i])), 1e-6, 0);
}

static void fill_test(void)
{
    Random r = random_of_set();
    Gpt g = sized();
    gpt_fill(&r, &g);
    agrees("parameters", g.memory, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
    gpt_free(&g);
}

/* A table of all layers' traces, or of their passes; in the tests' own
 * names, those of the golden sets. */
typedef struct {
    const char *name;
    size_t at;
    int wide; /* in widths */
} OfLayer;
#define OF_LAYER(name, field, wide)                                        \
    {                                                                      \
        name, offsetof(GptBlockPass, field), wide                          \
    }

static void layers_agree(const Gpt *g, const GptPass *p)
{
    const OfLayer all[] = {
        OF_LAYER("normed_1", normed_1, 1),
        OF_LAYER("query", attention.query, 1),
        OF_LAYER("key", attention.key, 1),
        OF_LAYER("value", attention.value, 1),
        OF_LAYER("joined", attention.joined, 1),
        OF_LAYER("attended", attention.out, 1),
        OF_LAYER("between", between, 1),
        OF_LAYER("normed_2", normed_2, 1),
        OF_LAYER("up", wide, 4),
        OF_LAYER("active", active, 4),
        OF_LAYER("after", after, 1),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int count = p->texts * p->n * g->width * all[i].wide;
        float *got = result(all[i].name);
        for (int l = 0; l < g->layers; l++)
            memcpy(got + l * count,
                   *(float **)((char *)&p->block[l] + all[i].at),
                   (size_t)count * sizeof *got);
        agrees(all[i].name, got, 1e-5, 1e-5);
    }
}

static void forward_test(void)
{
    Gpt g = given();
    GptPass p;
    gpt_pass_init(&p, &g, dim("ids", 0), dim("ids", 1));
    gpt_forward(&g, NULL, ints_of("ids"), &p);
    agrees("begin", p.block[0].in, 1e-6, 1e-6);
    layers_agree(&g, &p);
    agrees("last", p.normed, 1e-5, 1e-5);
    agrees("logits", p.logits, 1e-5, 2e-5);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* In any two pieces, through caches. */
static void cached_test(void)
{
    Gpt g = given();
    const int n = dim("ids", 1), size = g.vocabulary;
    const int *ids = ints_of("ids");
    float(*logits)[n][size] = result("logits");
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
        agrees("logits", logits, 1e-5, 2e-5);
    }
    gpt_free(&g);
}

/* The gradient of the mean loss, twice: it is added to what is there. */
static void backward_test(void)
{
    Gpt g = given(), grad_g;
    gpt_init(&grad_g, &g);
    const int texts = dim("ids", 0), n = dim("ids", 1), rows = texts * n;
    const int *ids = ints_of("ids"), *targets = ints_of("targets");
    GptPass p, grad_p;
    gpt_pass_init(&p, &g, texts, n);
    gpt_pass_init(&grad_p, &g, texts, n);
    float *shares = room((size_t)(rows * g.vocabulary));
    gpt_forward(&g, NULL, ids, &p);
    const float loss = cross_entropy(rows, g.vocabulary, (void *)p.logits,
                                     targets, (void *)shares);
    agrees("loss", &loss, 1e-5, 0);
    for (int twice = 0; twice < 2; twice++) {
        gpt_pass_clear(&grad_p);
        cross_entropy_backward(rows, g.vocabulary, (void *)shares, targets,
                               (void *)grad_p.logits);
        gpt_backward(&g, ids, &p, &grad_p, &grad_g);
        if (!twice)
            agrees("gradient", grad_g.memory, 1e-5, 1e-6);
    }
    for (size_t i = 0; i < g.count; i++)
        grad_g.memory[i] /= 2;
    agrees("gradient", grad_g.memory, 1e-5, 1e-6);
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&g);
    gpt_free(&grad_g);
}

/* Tokens and places, of two texts; and with places from `first` on. */
static void embed_test(void)
{
    Gpt g = given();
    const int texts = dim("ids", 0), n = dim("ids", 1), d = g.width;
    const int *ids = ints_of("ids");
    GptPass p, later;
    gpt_pass_init(&p, &g, texts, n);
    gpt_embed(&g, 0, ids, &p);
    agrees("begin", p.block[0].in, 1e-6, 1e-6);
    gpt_pass_init(&later, &g, 1, 2);
    gpt_embed(&g, 3, ids + 3, &later);
    same("begin, from 3 on", (size_t)(2 * d), later.block[0].in,
         p.block[0].in + 3 * d);
    gpt_pass_free(&later);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* What comes back is added to the rows that were looked up. */
static void embed_backward_test(void)
{
    enum { D = 2, TEXTS = 2, N = 2 };
    const int ids[TEXTS * N] = {1, 0, 1, 1};
    const float places[3 * D] = {6, 7, 10, 11, 4, 4};
    const float back[TEXTS * N * D] = {1, 1, 3, 4, 1, 2, 3, 3};
    const float tokens[3 * D] = {3, 4, 5, 6, 0, 0};
    Gpt g;
    GptPass p;
    gpt_init(&g, &(Gpt){.vocabulary = 3,
                        .context_length = 3,
                        .width = D,
                        .n_heads = 1,
                        .layers = 1});
    gpt_pass_init(&p, &g, TEXTS, N);
    memcpy(p.block[0].in, back, sizeof back);
    for (int j = 0; j < 3 * D; j++)
        g.places[j] = 4;
    gpt_embed_backward(&g, ids, &p, &g);
    same("tokens", 3 * D, g.tokens, tokens);
    same("places", 3 * D, g.places, places);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* The golden file itself is a model's. */
static void load_test(void)
{
    sets_now = "gpt_tied";
    Gpt g;
    gpt_load(&g, "golden/22_gpt.safetensors");
    const int64_t *size = integers("sizes");
    const int got[5] = {g.vocabulary, g.context_length, g.width, g.n_heads,
                        g.layers};
    for (int i = 0; i < 5; i++)
        same_bits("sizes", got[i], size[i]);
    tap_true("tied", g.output.weight == g.tokens);
    agrees("parameters", g.memory, 0, 0);
    for (size_t i = 0; i < tap_golden.count; i++)
        if (!strchr(tap_golden.tensor[i].name, '-'))
            golden(tap_words("%s/%s", CHAPTER, tap_golden.tensor[i].name));
    gpt_free(&g);
}

/* Written and read again. */
static void save_test(void)
{
    Gpt g = given();
    const char *path = own_file("model.safetensors");
    gpt_save(&g, path);
    Gpt again;
    gpt_load(&again, path);
    same("parameters", g.count, again.memory, g.memory);
    same_bits("heads", again.n_heads, g.n_heads);
    same_bits("apart", again.has_own_output, g.has_own_output);
    gpt_free(&again);
    gpt_free(&g);
    remove(path);
}

/* What PyTorch has written, as others lay it out: with "transformer." in
 * front, an output apart, masks, and the number of heads in config.json. */
static void prefix_test(void)
{
    const char *path = own_file("model.safetensors");
    const char *config = own_file("config.json");
    Tensor tensor[64];
    int count = 0;
    sets_now = "gpt_tied";
    for (size_t i = 0; i < tap_golden.count; i++)
        if (strchr(tap_golden.tensor[i].name, '.')) {
            tensor[count] = tap_golden.tensor[i];
            tensor[count++].name =
                tap_words("transformer.%s", tap_golden.tensor[i].name);
            char *name = room(100);
            tensor[count - 1].name = strcpy(name, tensor[count - 1].name);
        }
    tensor[count] = *golden("22_gpt/wte.weight");
    tensor[count++].name = "lm_head.weight";
    tensor[count++] = (Tensor){.name = "transformer.h.0.attn.bias",
                               .type = 'f',
                               .rank = 4,
                               .shape = {1, 1, 2, 2},
                               .data = (float[4]){1, 0, 1, 1}};
    tensor[count++] = (Tensor){.name = "transformer.h.1.attn.masked_bias",
                               .type = 'f',
                               .data = (float[1]){-1e4f}};
    tensors_write(path, count, tensor);
    FILE *file = fopen(config, "w");
    fprintf(file, "{\"n_layer\": 7, \"n_head\": 2}");
    fclose(file);
    Gpt g;
    gpt_load(&g, path);
    same_bits("heads", g.n_heads, 2);
    tap_true("apart", g.output.weight != g.tokens);
    same("output", golden("22_gpt/wte.weight")->count, g.output.weight,
         floats(golden("22_gpt/wte.weight")));
    same("parameters", part("parameters")->count, g.memory,
         floats(part("parameters")));
    gpt_free(&g);
    remove(config);
    remove(path);
}

static void init_test(void)
{
    for (int apart = 0; apart < 2; apart++) {
        Gpt g = any_gpt(3, apart);
        const int d = 6, block = 12 * d * d + 13 * d;
        same_bits("count", (int64_t)g.count,
                  7 * d + 5 * d + 3 * block + 2 * d + apart * 7 * d);
        tap_true("tokens come first", g.tokens == g.memory);
        tap_true("then places", g.places == g.tokens + 7 * d);
        tap_true("then blocks",
                 g.block[0].norm_1.weight == g.places + 5 * d);
        tap_true("the output is tied, or apart",
                 (g.output.weight == g.tokens) == !apart);
        Gpt other;
        gpt_init(&other, &g);
        tap_true("has room of its own", other.memory != g.memory &&
                                            other.block != g.block &&
                                            other.count == g.count);
        for (size_t i = 0; i < other.count; i++)
            tap_near("begins with 0", other.memory[i], 0, 0, 0);
        gpt_clear(&g);
        for (size_t i = 0; i < g.count; i++)
            tap_near("is 0 again", g.memory[i], 0, 0, 0);
        gpt_free(&other);
        tap_true("is empty", !other.memory && !other.block);
        gpt_free(&g);
    }
}

static void pass_test(void)
{
    Gpt g = any_gpt(2, 0);
    GptPass p;
    gpt_pass_init(&p, &g, 2, 4);
    tap_true("a block begins where the one before has ended",
             p.block[1].in == p.block[0].after);
    tap_fill((int)p.count, p.memory, -1, 1);
    const Trace *t = &p.block[1].attention;
    tap_fill((int)t->count, t->memory, -1, 1);
    gpt_pass_clear(&p);
    for (size_t i = 0; i < p.count; i++)
        tap_near("the pass", p.memory[i], 0, 0, 0);
    for (size_t i = 0; i < t->count; i++)
        tap_near("its attention", t->memory[i], 0, 0, 0);
    gpt_pass_free(&p);
    tap_true("is empty", !p.memory && !p.block);
    gpt_free(&g);
}

static void caches_test(void)
{
    Gpt g = any_gpt(2, 0);
    KVCache cache[4];
    gpt_caches_init(cache, &g);
    for (int l = 0; l < 2; l++) {
        same_bits("heads", cache[l].n_kv_heads, 2);
        same_bits("entries", cache[l].d_k, 3);
        same_bits("room", cache[l].capacity, 5);
        same_bits("count", cache[l].count, 0);
    }
    gpt_caches_free(cache, &g);
    gpt_free(&g);
}

/* Token by token, against all at once without a cache. */
static void cached_as_whole(const Attention *a, KVCache *cache)
{
    const int wide = a->d_out ? 6 : a->n_heads * a->d_v;
    float(*x)[6] = room(5 * 6), *out = room_for("out", (size_t)(5 * wide));
    tap_fill(5 * 6, x[0], -2, 2);
    Trace whole, one;
    trace_init_for(&whole, a, 5, 5);
    trace_init_texts(&one, a, 1, 1);
    attention_forward(a, mask_causal(0), NULL, 5, 5, x, x, &whole);
    for (int i = 0; i < 5; i++) {
        attend_cached(a, cache, 1, x + i, &one);
        memcpy(out + i * wide, a->d_out ? one.out : one.joined,
               (size_t)wide * sizeof *out);
    }
    similar("out", 5 * wide, out, a->d_out ? whole.out : whole.joined, 1e-5,
            1e-5);
    trace_free(&whole);
    trace_free(&one);
}

static void attend_cached_test(void)
{
    Gpt g = any_gpt(1, 0);
    KVCache cache[4];
    gpt_caches_init(cache, &g);
    cached_as_whole(&g.block[0].attention, cache);
    gpt_caches_free(cache, &g);
    gpt_free(&g);
}

static void attend_wide(int d_out)
{
    Attention a = {.d_x = 6, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 4};
    a.d_out = d_out;
    a.has_out_bias = d_out > 0;
    KVCache cache;
    attention_init(&a, &a);
    tap_fill((int)a.count, a.memory, -1, 1);
    kv_cache_init(
        &cache,
        &(KVCache){.n_kv_heads = 2, .d_k = 2, .d_v = 4, .capacity = 5});
    cached_as_whole(&a, &cache);
    kv_cache_free(&cache);
    attention_free(&a);
}

static void attend_wide_test(void)
{
    attend_wide(6);
    attend_wide(0); /* the heads side by side alone */
}

/* A cache of such heads and widths, where 2 heads, 2 and 4 are needed. */
static void attend_cached_with(int heads, int d_k, int d_v)
{
    Attention a = {
        .d_x = 6, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 4, .d_out = 6};
    KVCache cache;
    attention_init(&a, &a);
    kv_cache_init(&cache, &(KVCache){.n_kv_heads = heads,
                                     .d_k = d_k,
                                     .d_v = d_v,
                                     .capacity = 5});
    Trace one;
    trace_init_texts(&one, &a, 1, 1);
    attend_cached(&a, &cache, 1, (float[1][6]){{0}}, &one);
}

/* A model of one layer, and a pass for one of two, or for two texts. */
static void forward_with(int layers, int texts, int has_cache)
{
    Gpt g = any_gpt(1, 0), other = any_gpt(layers, 0);
    GptPass p;
    KVCache cache[1];
    gpt_pass_init(&p, &other, texts, 2);
    gpt_caches_init(cache, &g);
    gpt_forward(&g, has_cache ? cache : NULL, (int[4]){0}, &p);
}

/* What is otherwise in a file of the golden model: a tensor is lost, has
 * its sizes turned over or has no rows, or there is one more; and how the
 * line ends that refuses it. */
typedef struct {
    const char *lost, *turned, *empty, *more;
    const char *words, *line;
} Otherwise;

static int is(const char *name, const char *wanted)
{
    return wanted && !strcmp(name, wanted);
}

static void load_otherwise(const Otherwise *o)
{
    const char *path = own_file("model.safetensors");
    Tensor tensor[64];
    int count = 0;
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (strchr(t->name, '-') || is(t->name, o->lost))
            continue;
        tensor[count] = *t;
        if (is(t->name, o->turned)) {
            tensor[count].shape[0] = t->shape[1];
            tensor[count].shape[1] = t->shape[0];
        }
        if (is(t->name, o->empty))
            tensor[count].shape[0] = 0;
        count++;
    }
    if (o->more)
        tensor[count++] = (Tensor){.name = o->more, .type = 'f', .rank = 1};
    tensors_write(path, count, tensor);
    gpt_load(&(Gpt){0}, path);
}

static const Otherwise otherwise[] = {
    {.lost = "n_head",
     .words = "no number of heads",
     .line = ": the number of heads is needed in one of them"},
    {.lost = "h.1.mlp.c_proj.bias",
     .words = "a table that is missing",
     .line = "has no tensor 'h.1.mlp.c_proj.bias'"},
    {.lost = "h.1.ln_1.weight",
     .words = "a layer without its first table",
     .line = "has no tensor 'h.1.ln_1.weight'"},
    {.lost = "h.0.ln_1.weight",
     .words = "the first layer without it",
     .line = "has no tensor 'h.0.ln_1.weight'"},
    {.more = "h.2.ln_1.bias",
     .words = "a bias of one layer more",
     .line = "has no tensor 'h.2.ln_1.weight'"},
    {.more = "h.99999999999.ln_1.bias",
     .words = "a bias of far more layers",
     .line = "'h.99999999999.ln_1.bias' is no tensor of a GPT-2 of 2 "
             "layers: a file without it is needed"},
    {.turned = "h.0.mlp.c_fc.weight",
     .words = "a table that is turned over",
     .line = "'h.0.mlp.c_fc.weight' is [48, 12], of 2 dimensions: [12, "
             "48], of 2, is needed"},
    {.empty = "wte.weight",
     .words = "no tokens",
     .line = "'wte.weight' is [0, 12], of 2 dimensions: at least [1, 1], "
             "of 2, is needed"},
    {.empty = "wpe.weight",
     .words = "no places",
     .line = "'wpe.weight' is [0, 12], of 2 dimensions: at least [1, 1], "
             "of 2, is needed"},
#define IS_NO                                                              \
    "' is no tensor of a GPT-2 of 2 layers: a file without it is needed"
    {.more = "score.weight",
     .words = "a table of another model",
     .line = "'score.weight" IS_NO},
    {.more = "h.1.ln_1.scale",
     .words = "a table that no norm has",
     .line = "'h.1.ln_1.scale" IS_NO},
    {.more = "h.1.mlp.bias",
     .words = "a mask where no attention is",
     .line = "'h.1.mlp.bias" IS_NO},
    {.more = "transformer.ln_f.bias",
     .words = "a name behind a prefix",
     .line = "'transformer.ln_f.bias" IS_NO},
    {.more = "mean.h.2.ln_1.bias",
     .words = "a mean of no parameter",
     .line = "'mean.h.2.ln_1.bias" IS_NO},
};

static void refuse_models(void)
{
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++)
        TAP_REFUSES("gpt_load", otherwise[i].words, otherwise[i].line,
                    load_otherwise(&otherwise[i]));
}

/* Gradients that are those of another model or another pass. */
static void backward_with(Gpt *grad_g, int layers, int texts)
{
    Gpt g = any_gpt(2, 0), other = any_gpt(layers, 0);
    GptPass p, grad_p;
    gpt_pass_init(&p, &g, 2, 3);
    gpt_pass_init(&grad_p, &other, texts, 3);
    gpt_backward(&g, (int[6]){0}, &p, &grad_p, grad_g);
}

static void refusals(void)
{
    static float x[3] = {0.5f, -1, 2};
    Norm l = {3, x, x}, grad_l = {2, x, x};
    REFUSES("gpt.c: norm_gradient_check: a gradient of 2 entries, where "
            "the layer has 3: as many are needed",
            norm_gradient_check(&l, &grad_l));
    REFUSES(NULL,
            norm_backward(&l, 1, (void *)x, (void *)x, &grad_l, (void *)x));
    REFUSES(NULL, gpt_init(&(Gpt){0}, wrong(0, 1, 2, 1, 1)));
    REFUSES(NULL, gpt_init(&(Gpt){0}, wrong(2, 0, 2, 1, 1)));
    REFUSES(NULL, gpt_init(&(Gpt){0}, wrong(2, 1, 0, 1, 1)));
    REFUSES(NULL, gpt_init(&(Gpt){0}, wrong(2, 1, 2, 0, 1)));
    REFUSES(NULL, gpt_init(&(Gpt){0}, wrong(2, 1, 2, 1, 0)));
    REFUSES("gpt.c: sizes_check: a width of 8 for 3 heads leaves 2 over: "
            "a multiple is needed",
            gpt_init(&(Gpt){0}, wrong(2, 1, 8, 3, 1)));
    Gpt g = any_gpt(1, 0);
    REFUSES(NULL, gpt_pass_init(&(GptPass){0}, &g, 0, 1));
    REFUSES(NULL, gpt_pass_init(&(GptPass){0}, &g, 1, 0));
    REFUSES(NULL, gpt_pass_init(&(GptPass){0}, &g, 1, 6));
    REFUSES(
        "gpt.c: gpt_pass_init: 512 texts of 1024 tokens, with 4 times 1024 "
        "numbers each: at most 2147483647 numbers are needed",
        gpt_pass_init(
            &(GptPass){0},
            &(Gpt){.width = 1024, .context_length = 1024, .layers = 1}, 512,
            1024));
    gpt_free(&g);
    TAP_REFUSES("gpt_pass_check", "a pass of two layers for one", NULL,
                forward_with(2, 1, 0));
    TAP_REFUSES("gpt_pass_check", "two texts and a cache", NULL,
                forward_with(1, 2, 1));
    TAP_REFUSES("attend_cached", "a cache of another number of heads",
                "gpt.c: attend_cached: a cache of n_kv_heads, d_k, d_v = "
                "1, 2, 4: 2, 2, 4, those of the attention, are needed",
                attend_cached_with(1, 2, 4));
    TAP_REFUSES("attend_cached", "a cache of wider keys", NULL,
                attend_cached_with(2, 3, 4));
    TAP_REFUSES("attend_cached", "a cache of wider values", NULL,
                attend_cached_with(2, 2, 5));
    refuse_models();
    Gpt two = any_gpt(2, 0), one = any_gpt(1, 0), apart = any_gpt(2, 1);
    TAP_REFUSES("gpt_gradient_check", "a gradient of one layer for two",
                NULL, backward_with(&one, 2, 2));
    TAP_REFUSES("gpt_gradient_check", "an output apart for a tied one",
                NULL, backward_with(&apart, 2, 2));
    TAP_REFUSES("gpt_gradient_check", "the pass of one layer for two", NULL,
                backward_with(&two, 1, 2));
    TAP_REFUSES("gpt_gradient_check", "the pass of one text for two", NULL,
                backward_with(&two, 2, 1));
    gpt_free(&two);
    gpt_free(&one);
    gpt_free(&apart);
}

int main(void)
{
    if (!mkdtemp(own_folder))
        REFUSE("%s: no folder can be made", own_folder);
    EACH("norm_forward", norm_forward_test, "norm_*-out");
    EACH("norm_backward", norm_backward_test, "norm_*-out");
    EACH("gelu", gelu_test, "gelu_*-gelu");
    TAP(far_test, "gelu: far from 0");
    TAP(far_test, "gelu_backward: far from 0");
    TAP(sigmoid_test, "sigmoid: near 0, and far from it");
    EACH("gelu_backward", gelu_backward_test, "gelu_*-gelu");
    EACH("gpt_fill", fill_test, "drawn*-parameters");
    EACH("gpt_forward", forward_test, "gpt_*-ids");
    EACH("gpt_forward: in pieces", cached_test, "gpt_*-ids");
    EACH("gpt_backward", backward_test, "gpt_*-gradient");
    EACH("gpt_embed", embed_test, "gpt_*-ids");
    TAP(embed_backward_test, "gpt_embed_backward: adds to what is there");
    TAP(load_test, "gpt_load: what PyTorch has written");
    TAP(prefix_test, "gpt_load: names behind a prefix, an output apart");
    EACH("gpt_save", save_test, "gpt_*-sizes");
    TAP(init_test, "gpt_init: where all parameters lie");
    TAP(init_test, "gpt_init: room of its own");
    TAP(init_test, "gpt_clear: everything is 0");
    TAP(init_test, "gpt_free: nothing is left");
    TAP(pass_test, "gpt_pass_init: a block begins where another ends");
    TAP(pass_test, "gpt_pass_clear: everything is 0");
    TAP(pass_test, "gpt_pass_free: nothing is left");
    TAP(caches_test, "gpt_caches_init: one for each layer");
    TAP(caches_test, "gpt_caches_free: of all layers");
    TAP(attend_cached_test, "attend_cached: token by token");
    TAP(attend_wide_test, "attend_cached: values wider than keys");
    refusals();
    remove(own_file("model.safetensors"));
    if (rmdir(own_folder))
        REFUSE("%s: cannot be removed", own_folder);
    return tap_done();
}
