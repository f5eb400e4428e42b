/* Chapter 22 against PyTorch: golden/22_gpt. */
#define CHAPTER "22_gpt"
#include "gpts.h"
#include "attention/22_gpt.h"
#include "attention/20_optimizers.h"
#include "attention/gpt_file.h"
#include "attention/kv_cache.h"

/* How near a norm, its slopes and the logits come. */
#define NEAR 1e-5, 2e-5

static void norm_backward_test(const char *set, float start)
{
    const Norm l = {dim(set, "weight", 0), input(set, "weight"), NULL};
    Norm g = {l.d, added(set, "g_weight", start, NEAR),
              added(set, "g_bias", start, 1e-5, 2e-6)};
    norm_backward(&l, dim(set, "x", 0), input(set, "x"),
                  input(set, "g_out"), &g, added(set, "g_x", start, NEAR));
}

/* Slopes are the smaller, the further a row is spread: they are compared
 * times the row's spread. */
static void norm_large_test(const char *set)
{
    const Norm l = {dim(set, "weight", 0), input(set, "weight"), NULL};
    const float spread[3] = {1e30f, 2e38f, 1};
    Norm g = {l.d, added(set, "g_weight", 0, NEAR),
              added(set, "g_bias", 0, 1e-5, 2e-6)};
    float *grad_x = guarded_filled("g_x", golden_count(set, "g_x"), 0);
    norm_backward(&l, 3, input(set, "x"), input(set, "g_out"), &g,
                  (void *)grad_x);
    for (int i = 0; i < 12; i++) {
        const double by = spread[i / 4];
        expect_near(tap_words("g_x[%d], times %g", i, by), grad_x[i] * by,
                    golden_doubles(set, "g_x")[i] * by, NEAR);
    }
}

/* Far from 0 the share and the slope are 0, or 1. */
static void far_test(void)
{
    const float x[6] = {-FLT_MAX, -1e19f, -1e12f, 1e12f, 1e19f, FLT_MAX};
    const float ones[4] = {1, 1, 1, 1};
    float share[6], out[6], grad_x[4] = {0};
    for (int is_fast = 0; is_fast < 2; is_fast++) {
        (is_fast ? gelu_fast : gelu)(6, x, share, out);
        for (int i = 0; i < 6; i++)
            expect_equal("gelu", out[i], i < 3 ? 0 : x[i]);
    }
    gelu_backward(4, x + 1, share + 1, ones, grad_x);
    for (int i = 0; i < 4; i++)
        expect_equal("slope", grad_x[i], i < 2 ? 0 : 1);
}

static void gelu_fast_test(const char *set)
{
    const int count = (int)golden_count(set, "x");
    gelu_fast(count, input(set, "x"), guarded("share", (size_t)count),
              due(set, "gelu", 1e-5, 5e-7));
}

static void gelu_test(const char *set, float start)
{
    const int count = (int)golden_count(set, "x");
    float *share = guarded("share", (size_t)count), *x = input(set, "x");
    gelu(count, x, share, due(set, "gelu", 1e-5, 5e-7));
    gelu_backward(count, x, share, input(set, "g_out"),
                  added(set, "g_x", start, 1e-5, 1e-6));
}

/* Far from 0 it is 0, or 1. */
static void sigmoid_test(void)
{
    enum { N = 16 };
    const float x[N] = {-FLT_MAX, -87.5f,   -87.34f,   -87.33f,
                        -87.2f,   -87.01f,  -87,       -80,
                        -1,       0,        2,         80,
                        FLT_MAX,  INFINITY, -INFINITY, NAN};
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
    Gpt g = golden_gpt(set);
    tap_fill((int)g.count, g.memory, 1, 2);
    gpt_fill(&r, &g);
    expect_close("parameters", g.memory, golden(set, "parameters"),
                 EXACTLY);
    expect_next_draw(set, &r);
    gpt_free(&g);
}

/* The tables of all layers, by the names of the golden sets. */
static void expect_layers(const char *set, const Gpt *g, const GptPass *p)
{
    static const char *const name[11] = {
        "normed_1", "query",    "key", "value",  "joined", "attended",
        "between",  "normed_2", "up",  "active", "after"};
    for (int l = 0; l < g->layers; l++) {
        const GptBlockPass *b = &p->block[l];
        const Trace *t = &b->attention;
        const float *const table[11] = {
            b->normed_1, t->query,    t->key,  t->value,  t->joined, t->out,
            b->between,  b->normed_2, b->wide, b->active, b->after};
        for (int i = 0; i < 11; i++)
            expect_entry(tap_words("%s of layer %d", name[i], l), table[i],
                         set, name[i], l, 1e-5, 1e-5);
    }
}

/* What a pass drops, where a set says so. */
static void drop(const char *set, GptPass *p)
{
    if (strcmp(set, "dropped"))
        return;
    Random r = input_random(set);
    gpt_pass_drop(p, &r, golden_number(set, "rate"));
    expect_next_draw(set, &r);
}

/* What one text makes goes among what all texts make. */
static void gather(int text, const Gpt *g, const GptPass *one, GptPass *all)
{
    const size_t rows = (size_t)one->n, d = (size_t)g->width;
    for (int l = 0; l < g->layers; l++) {
        const GptBlockPass *from = &one->block[l];
        GptBlockPass *to = &all->block[l];
        const struct {
            float *to, *from;
            size_t wide;
        } table[12] = {{to->in, from->in, 1},
                       {to->normed_1, from->normed_1, 1},
                       {to->attention.query, from->attention.query, 1},
                       {to->attention.key, from->attention.key, 1},
                       {to->attention.value, from->attention.value, 1},
                       {to->attention.joined, from->attention.joined, 1},
                       {to->attention.out, from->attention.out, 1},
                       {to->between, from->between, 1},
                       {to->normed_2, from->normed_2, 1},
                       {to->wide, from->wide, 4},
                       {to->active, from->active, 4},
                       {to->after, from->after, 1}};
        for (int i = 0; i < 12; i++)
            memcpy(table[i].to + (size_t)text * rows * d * table[i].wide,
                   table[i].from, rows * d * table[i].wide * sizeof(float));
    }
    memcpy(all->normed + (size_t)text * rows * d, one->normed,
           rows * d * sizeof(float));
    memcpy(all->logits + (size_t)text * rows * (size_t)g->vocabulary,
           one->logits, rows * (size_t)g->vocabulary * sizeof(float));
}

/* From what the first block gets, block by block, text by text. */
static void block_test(const char *set)
{
    Gpt g = golden_gpt(set);
    GptPass p = golden_pass(set, &g), one;
    const float *begin = input(set, "begin");
    const int size = p.n * g.width;
    gpt_pass_init_plain(&one, &g, p.n);
    for (int text = 0; text < p.texts; text++) {
        memcpy(one.block->in, begin + text * size,
               (size_t)size * sizeof *begin);
        for (int l = 0; l < g.layers; l++)
            block_forward(&g.block[l], p.n, &one.block[l]);
        gather(text, &g, &one, &p);
    }
    expect_layers(set, &g, &p);
    gpt_pass_free(&one);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* A pass for more tokens than there are, or for two texts. */
static void wrong_pass_test(int texts, int n)
{
    static const int ids[3] = {0};
    Gpt g = golden_gpt("gpt_tied");
    GptPass p;
    gpt_pass_init(&p, &g, texts, n);
    gpt_forward_plain(&g, 2, ids, &p);
}

static void wrong_gradient_test(void)
{
    static const int ids[2] = {0};
    Gpt g = golden_gpt("gpt_tied");
    GptPass p, grad_p;
    gpt_pass_init_plain(&p, &g, 2);
    gpt_pass_init_plain(&grad_p, &g, 3);
    gpt_backward_plain(&g, 2, ids, &p, &grad_p, &g);
}

static void plain_forward_test(const char *set)
{
    Gpt g = golden_gpt(set);
    GptPass p = golden_pass(set, &g), one;
    gpt_pass_init_plain(&one, &g, p.n);
    for (int text = 0; text < p.texts; text++) {
        gpt_forward_plain(&g, p.n, golden_ints(set, "ids") + text * p.n,
                          &one);
        gather(text, &g, &one, &p);
    }
    expect_close("begin", p.block[0].in, golden(set, "begin"), 1e-6, 1e-6);
    expect_layers(set, &g, &p);
    expect_close("last", p.normed, golden(set, "last"), 1e-5, 1e-5);
    expect_close("logits", p.logits, golden(set, "logits"), NEAR);
    gpt_pass_free(&one);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* The gradient of the mean loss, of one text after another. */
static void plain_backward_test(const char *set, float start)
{
    Gpt g = golden_gpt(set), grad_g;
    GptPass p, grad_p;
    const int texts = dim(set, "ids", 0), n = dim(set, "ids", 1);
    const int v = g.vocabulary;
    float *shares = guarded("shares", (size_t)(n * v));
    gpt_init(&grad_g, &g);
    for (size_t i = 0; i < g.count; i++)
        grad_g.memory[i] = start;
    gpt_pass_init_plain(&p, &g, n);
    gpt_pass_init_plain(&grad_p, &g, n);
    for (int text = 0; text < texts; text++) {
        const int *ids = golden_ints(set, "ids") + text * n;
        const int *targets = golden_ints(set, "targets") + text * n;
        gpt_forward_plain(&g, n, ids, &p);
        cross_entropy(n, v, (void *)p.logits, targets, (void *)shares);
        gpt_pass_clear(&grad_p);
        cross_entropy_backward(n, v, (void *)shares, targets,
                               (void *)grad_p.logits);
        for (int i = 0; i < n * v; i++)
            grad_p.logits[i] /= (float)texts;
        gpt_backward_plain(&g, n, ids, &p, &grad_p, &grad_g);
    }
    expect_close("gradient", subtract(g.count, grad_g.memory, start),
                 golden(set, "gradient"), 1e-5, 1e-6);
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&g);
    gpt_free(&grad_g);
}

static void forward_test(const char *set)
{
    Gpt g = golden_gpt(set);
    GptPass p = golden_pass(set, &g);
    drop(set, &p);
    gpt_forward(&g, NULL, golden_ints(set, "ids"), &p);
    expect_close("begin", p.block[0].in, golden(set, "begin"), 1e-6, 1e-6);
    expect_layers(set, &g, &p);
    expect_close("last", p.normed, golden(set, "last"), 1e-5, 1e-5);
    expect_close("logits", p.logits, golden(set, "logits"), NEAR);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* In any two pieces, through caches. */
static void cached_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const int n = dim(set, "ids", 1), size = g.vocabulary;
    const int *ids = golden_ints(set, "ids");
    float *logits = guarded("logits", golden_count(set, "logits"));
    for (int cut = 1; cut < n; cut++) {
        for (int text = 0; text < 2; text++) {
            KVCache cache[4];
            gpt_caches_init(cache, &g);
            for (int from = 0, till; from < n; from = till) {
                till = from ? n : cut;
                GptPass p;
                gpt_pass_init(&p, &g, 1, till - from);
                gpt_forward(&g, cache, ids + text * n + from, &p);
                memcpy(logits + (text * n + from) * size, p.logits,
                       (size_t)((till - from) * size) * sizeof(float));
                gpt_pass_free(&p);
            }
            gpt_caches_free(cache, &g);
        }
        expect_close("logits", logits, golden(set, "logits"), NEAR);
    }
    gpt_free(&g);
}

/* The gradient of the mean loss. */
static void backward_test(const char *set, float start)
{
    Gpt g = golden_gpt(set), grad_g;
    GptPass p = golden_pass(set, &g), grad_p = golden_pass(set, &g);
    const int rows = p.texts * p.n, *ids = golden_ints(set, "ids");
    const int *targets = golden_ints(set, "targets");
    float *shares = guarded("shares", (size_t)(rows * g.vocabulary));
    gpt_init(&grad_g, &g);
    drop(set, &p);
    gpt_forward(&g, NULL, ids, &p);
    const float loss = cross_entropy(rows, g.vocabulary, (void *)p.logits,
                                     targets, (void *)shares);
    expect_close("loss", &loss, golden(set, "loss"), 1e-5, 0);
    cross_entropy_backward(rows, g.vocabulary, (void *)shares, targets,
                           (void *)grad_p.logits);
    for (size_t i = 0; i < g.count; i++)
        grad_g.memory[i] = start;
    gpt_backward(&g, ids, &p, &grad_p, &grad_g);
    expect_close("gradient", subtract(g.count, grad_g.memory, start),
                 golden(set, "gradient"), 1e-5, 1e-6);
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&g);
    gpt_free(&grad_g);
}

/* The golden file itself is a model's. */
static void load_test(void)
{
    const char *const set = "gpt_tied";
    Gpt g;
    gpt_load(&g, "golden/22_gpt.safetensors");
    expect_integer("parameters", (int64_t)g.count,
                   (int64_t)golden_count(set, "parameters"));
    expect_true("tied", g.output.weight == g.tokens);
    expect_close("parameters", g.memory, golden(set, "parameters"),
                 EXACTLY);
    for (size_t i = 0; i < tap_golden.count; i++)
        if (!strchr(tap_golden.tensor[i].name, '-'))
            golden("", tap_golden.tensor[i].name);
    gpt_free(&g);
}

int main(void)
{
    static float x[3] = {0.5f, -1, 2};
    Norm l = {3, x, x}, grad_l = {2, x, x};
    EACH_SET("norm_forward", "norm_*-out",
             norm_forward(&(Norm){dim(set, "weight", 0),
                                  input(set, "weight"), input(set, "bias")},
                          dim(set, "x", 0), input(set, "x"),
                          due(set, "out", NEAR)));
    ADDS("norm_backward", "norm_*-out", "norm_5x3", norm_backward_test);
    TAP("norm_backward: norm_large", norm_large_test("norm_large"));
    EACH_SET("gelu", "gelu_*-gelu", gelu_test(set, 0));
    EACH_SET("gelu_fast", "gelu_*-gelu", gelu_fast_test(set));
    ADDS("gelu_backward", "gelu_*-gelu", "gelu_small", gelu_test);
    TAP("gelu_backward: far from 0", far_test());
    EACH_SET("block_forward", "gpt_*-ids", block_test(set));
    EACH_SET("gpt_forward_plain", "gpt_*-ids", plain_forward_test(set));
    ADDS("block_backward", "gpt_*-gradient", "gpt_tied",
         plain_backward_test);
    TAP("sigmoid: near 0, and far from it", sigmoid_test());
    EACH_SET("gpt_fill", "drawn*-parameters", fill_test(set));
    EACH_SET("gpt_forward", "gpt_*-ids", forward_test(set));
    TAP("gpt_embed: gpt_tied", forward_test("gpt_tied"));
    EACH_SET("gpt_pass_drop", "dropped-ids", forward_test(set));
    EACH_SET("gpt_pass_drop: and back", "dropped-ids",
             backward_test(set, 0));
    EACH_SET("gpt_forward: in pieces", "gpt_*-ids", cached_test(set));
    ADDS("gpt_backward", "gpt_*-gradient", "gpt_tied", backward_test);
    TAP("gpt_embed_backward: adds to what is there",
        backward_test("gpt_tied", 1));
    TAP("gpt_load: what PyTorch has written", load_test());
    TAP_REFUSES("gpt_forward_plain", "a pass of three tokens for two", NULL,
                wrong_pass_test(1, 3));
    TAP_REFUSES("gpt_backward_plain", "a gradient of three tokens",
                "gpt.c: gpt_gradient_check: gradients of texts, n = 1, 3: "
                "1, 2 are needed",
                wrong_gradient_test());
    TAP_REFUSES("gpt_forward_plain", "a pass of two texts", NULL,
                wrong_pass_test(2, 2));
    REFUSES("gpt.c: norm_gradient_check: a gradient of d = 2: 3 is needed",
            norm_gradient_check(&l, &grad_l));
    REFUSES(NULL,
            norm_backward(&l, 1, (void *)x, (void *)x, &grad_l, (void *)x));
    return tap_done();
}
