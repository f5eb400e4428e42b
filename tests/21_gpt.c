/* Chapter 21 against PyTorch: golden/21_gpt. */
#define CHAPTER "21_gpt"
#include "streams.h"

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
    float *g_x = begun("g_x", 4);
    norm_backward(&l, dim("x", 0), input("x"), input("g_out"), &g,
                  (void *)g_x);
    less((size_t)l.d, g.weight, 2);
    less((size_t)l.d, g.bias, -3);
    less(part("x")->count, g_x, 4);
    agrees("g_weight", g.weight, 1e-5, 2e-5);
    agrees("g_bias", g.bias, 1e-5, 2e-6);
    agrees("g_x", g_x, 1e-5, 2e-5);
}

static void gelu_test(void)
{
    const int n = (int)part("x")->count;
    float *out = result("gelu"), *share = room((size_t)n);
    gelu(n, input("x"), share, out);
    agrees("gelu", out, 1e-5, 5e-7);
}

static void gelu_backward_test(void)
{
    const int n = (int)part("x")->count;
    float *out = room((size_t)n), *share = room((size_t)n);
    float *g_x = begun("g_x", 2), *x = input("x");
    gelu(n, x, share, out);
    gelu_backward(n, x, share, input("g_out"), g_x);
    less((size_t)n, g_x, 2);
    agrees("g_x", g_x, 1e-5, 1e-6);
}

static void draw_test(void)
{
    const int times = dim("drawn", 0), rows = dim("drawn", 1);
    const int n = dim("shares", 1);
    const float(*shares)[n] = input("shares");
    Random r = random_of_set();
    int *drawn = room_for("drawn", part("drawn")->count);
    for (int i = 0; i < times * rows; i++)
        drawn[i] = draw_one(&r, n, shares[i % rows]);
    agrees("drawn", drawn, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
}

static void order_test(void)
{
    const int epochs = dim("orders", 0), n = dim("orders", 1);
    Random r = random_of_set();
    int *orders = room_for("orders", part("orders")->count);
    for (int i = 0; i < epochs; i++)
        epoch_order(&r, n, orders + i * n);
    agrees("orders", orders, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
}

static void mass_test(void)
{
    const int n = (int)part("shares")->count;
    float *shares = result("massed");
    memcpy(shares, input("shares"), (size_t)n * sizeof *shares);
    keep_mass(n, (float)number("p", "p"), shares);
    agrees("massed", shares, 0, 0);
}

/* Which of some logits stay. */
static void stay(int n, int k, const float logits[n], const float right[n])
{
    float got[8];
    next_case();
    memcpy(got, logits, (size_t)n * sizeof *got);
    give_list("logits, before", n, logits);
    give("k = %d", k);
    keep_largest(n, k, got);
    same("logits", (size_t)n, got, right);
}

static void keep_test(void)
{
    const float no = -INFINITY;
    const float x[5] = {0.5f, 2, -1, 2, 1};
    stay(5, 5, x, x);
    stay(5, 4, x, (const float[]){0.5f, 2, no, 2, 1});
    stay(5, 3, x, (const float[]){no, 2, no, 2, 1});
    stay(5, 2, x, (const float[]){no, 2, no, 2, no});
    stay(5, 1, x, (const float[]){no, 2, no, 2, no});
    stay(3, 2, (const float[]){-5, -3, -4}, (const float[]){no, -3, -4});
    stay(3, 2, (const float[]){no, -3, no}, (const float[]){no, -3, no});
    stay(1, 1, (const float[]){7}, (const float[]){7});
}

/* The model of a set: its sizes, and room for its numbers. */
static Gpt sized(void)
{
    const int64_t *size = integers("sizes");
    Gpt g = {.vocabulary = (int)size[0],
             .context = (int)size[1],
             .width = (int)size[2],
             .n_heads = (int)size[3],
             .layers = (int)size[4],
             .is_apart = !size[5]};
    gpt_init(&g);
    if (g.count != part("parameters")->count)
        REFUSE("%s has not %zu parameters", sets_now, g.count);
    return g;
}

static Gpt given(void)
{
    Gpt g = sized();
    memcpy(g.memory, floats(part("parameters")), g.count * sizeof(float));
    return g;
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

static const int *ids_of(const char *what)
{
    const Tensor *t = part(what);
    int *ids = room_for(what, t->count);
    for (size_t i = 0; i < t->count; i++)
        ids[i] = (int)tensor_integers(t)[i];
    return ids;
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
        name, offsetof(BlockPass, field), wide                             \
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
    GptPass p = gpt_pass(&g, dim("ids", 0), dim("ids", 1));
    gpt_forward(&g, NULL, ids_of("ids"), &p);
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
    const int *ids = ids_of("ids");
    float(*logits)[n][size] = result("logits");
    for (int cut = 1; cut < n; cut++) {
        for (int text = 0; text < 2; text++) {
            Cache *cache = caches_for(&g);
            for (int from = 0, till; from < n; from = till) {
                till = from ? n : cut;
                GptPass p = gpt_pass(&g, 1, till - from);
                gpt_forward(&g, cache, ids + text * n + from, &p);
                memcpy(logits[text][from], p.logits,
                       (size_t)((till - from) * size) * sizeof(float));
                gpt_pass_free(&p);
            }
            caches_free(&g, cache);
        }
        agrees("logits", logits, 1e-5, 2e-5);
    }
    gpt_free(&g);
}

/* The gradient of the mean loss, twice: it is added to what is there. */
static void backward_test(void)
{
    Gpt g = given(), g_g = gpt_like(&g);
    const int texts = dim("ids", 0), n = dim("ids", 1), rows = texts * n;
    const int *ids = ids_of("ids"), *targets = ids_of("targets");
    GptPass p = gpt_pass(&g, texts, n), g_p = gpt_pass(&g, texts, n);
    float *shares = room((size_t)(rows * g.vocabulary));
    gpt_forward(&g, NULL, ids, &p);
    const float loss = cross_entropy(rows, g.vocabulary, (void *)p.logits,
                                     targets, (void *)shares);
    agrees("loss", &loss, 1e-5, 0);
    for (int twice = 0; twice < 2; twice++) {
        gpt_pass_clear(&g_p);
        cross_entropy_backward(rows, g.vocabulary, (void *)shares, targets,
                               (void *)g_p.logits);
        gpt_backward(&g, ids, &p, &g_p, &g_g);
        if (!twice)
            agrees("gradient", g_g.memory, 1e-5, 1e-6);
    }
    for (size_t i = 0; i < g.count; i++)
        g_g.memory[i] /= 2;
    agrees("gradient", g_g.memory, 1e-5, 1e-6);
    gpt_pass_free(&p);
    gpt_pass_free(&g_p);
    gpt_free(&g);
    gpt_free(&g_g);
}

/* The tokens themselves, number for number. */
static void write_test(void)
{
    Gpt g = given();
    const int n = dim("ids", 0), begun = dim("begin", 0);
    int *ids = room_for("ids", (size_t)n);
    Random r = random_of_set();
    memcpy(ids, ids_of("begin"), (size_t)begun * sizeof *ids);
    gpt_write(&g, &r, (float)number("temperature", "temperature"),
              (int)integers("top_k")[0], begun, n, ids);
    agrees("ids", ids, 0, 0);
    gpt_free(&g);
}

/* Ten steps: the losses. */
static void step_test(void)
{
    const int batches = dim("ids", 0), texts = dim("ids", 1);
    const int rows = texts * dim("ids", 2);
    const int *ids = ids_of("ids"), *targets = ids_of("targets");
    float losses[10];
    GptTraining t = {.texts = texts,
                     .how = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0}};
    const int64_t *size = integers("sizes");
    t.model = (Gpt){.vocabulary = (int)size[0],
                    .context = (int)size[1],
                    .width = (int)size[2],
                    .n_heads = (int)size[3],
                    .layers = (int)size[4]};
    gpt_training_init(&t, seeded(1), 1000);
    memcpy(t.model.memory, floats(part("parameters")),
           t.model.count * sizeof(float));
    for (int i = 0; i < batches; i++)
        losses[i] = gpt_training_step(&t, ids + i * rows, targets + i * rows);
    agrees("losses", losses, 1e-5, 0);
    gpt_training_free(&t);
}

/* Where the test may write. */
static const char *own_file(const char *name)
{
    static char path[8][200];
    static int next;
    char *it = path[next++ % 8];
    static char folder[100];
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/gpt-XXXXXX");
        if (!mkdtemp(folder))
            REFUSE("%s: no folder can be made", folder);
    }
    snprintf(it, 200, "%s/%s", folder, name);
    return it;
}

static void own_files_end(const char *path)
{
    char folder[200];
    snprintf(folder, sizeof folder, "%s", path);
    remove(path);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
}

/* The golden file itself is a model's. */
static void load_test(void)
{
    sets_now = "gpt_tied";
    Gpt g = gpt_load("golden/21_gpt.safetensors");
    const int64_t *size = integers("sizes");
    const int got[5] = {g.vocabulary, g.context, g.width, g.n_heads,
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
    Gpt again = gpt_load(path);
    same("parameters", g.count, again.memory, g.memory);
    same_bits("heads", again.n_heads, g.n_heads);
    same_bits("apart", again.is_apart, g.is_apart);
    gpt_free(&again);
    gpt_free(&g);
    own_files_end(path);
}

/* What PyTorch has written, as others lay it out: with "transformer." before
 * the names, an output apart, and the number of heads in config.json. */
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
    tensor[count] = *golden("21_gpt/wte.weight");
    tensor[count++].name = "lm_head.weight";
    tensors_write(path, count, tensor);
    FILE *file = fopen(config, "w");
    fprintf(file, "{\"n_layer\": 7, \"n_head\": 2}");
    fclose(file);
    Gpt g = gpt_load(path);
    same_bits("heads", g.n_heads, 2);
    tap_true("apart", g.output.weight != g.tokens);
    same("output", golden("21_gpt/wte.weight")->count, g.output.weight,
         floats(golden("21_gpt/wte.weight")));
    same("parameters", part("parameters")->count, g.memory,
         floats(part("parameters")));
    gpt_free(&g);
    remove(config);
    own_files_end(path);
}

/* A small training on this text. */
static const char reading[] =
    "In the beginning was the word, and the word was hidden among others.";
static GptTraining small(void)
{
    GptTraining t = {.model = {.vocabulary = 128,
                               .context = 8,
                               .width = 8,
                               .n_heads = 2,
                               .layers = 2},
                     .texts = 3,
                     .how = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0}};
    gpt_training_init(&t, seeded(5), (int)strlen(reading));
    return t;
}

static void go_on(GptTraining *t, int steps)
{
    int ids[24], targets[24];
    for (int i = 0; i < steps; i++) {
        gpt_training_batch(t, reading, ids, targets);
        gpt_training_step(t, ids, targets);
    }
}

/* Interrupted after 4 steps, in the middle of an epoch, and gone on with
 * for 5 more. */
static void resume_test(void)
{
    const char *path = own_file("training.safetensors");
    GptTraining whole = small(), first = small();
    go_on(&whole, 9);
    go_on(&first, 4);
    gpt_training_save(&first, path);
    gpt_training_free(&first);
    GptTraining second = small();
    go_on(&second, 1); /* whatever it was before */
    gpt_training_load(&second, path);
    same_bits("step", second.step, 4);
    go_on(&second, 5);
    same("parameters", whole.model.count, second.model.memory,
         whole.model.memory);
    same("means", whole.model.count, second.mean.memory, whole.mean.memory);
    same("squares", whole.model.count, second.square.memory,
         whole.square.memory);
    same_bits("steps", second.step, whole.step);
    same_bits("stream", random_u32(&second.random),
              random_u32(&whole.random));
    Gpt g = gpt_load(path); /* which is a model, too */
    same_bits("layers", g.layers, 2);
    gpt_free(&g);
    gpt_training_free(&whole);
    gpt_training_free(&second);
    own_files_end(path);
}

int main(void)
{
    EACH("norm_forward", norm_forward_test, "norm_*-out");
    EACH("norm_backward", norm_backward_test, "norm_*-out");
    EACH("gelu", gelu_test, "gelu_*-gelu");
    EACH("gelu_backward", gelu_backward_test, "gelu_*-gelu");
    EACH("draw_one", draw_test, "draws_*-drawn");
    EACH("epoch_order", order_test, "orders_*-orders");
    EACH("keep_mass", mass_test, "mass_*-massed");
    TAP(keep_test, "keep_largest: which stay");
    EACH("gpt_fill", fill_test, "drawn*-parameters");
    EACH("gpt_forward", forward_test, "gpt_*-ids");
    EACH("gpt_forward: in pieces", cached_test, "gpt_*-ids");
    EACH("gpt_backward", backward_test, "gpt_*-gradient");
    EACH("gpt_write", write_test, "written_*-ids");
    EACH("gpt_training_step", step_test, "steps-losses");
    TAP(load_test, "gpt_load: what PyTorch has written");
    TAP(prefix_test, "gpt_load: names behind a prefix, an output apart");
    EACH("gpt_save", save_test, "gpt_*-sizes");
    TAP(resume_test, "gpt_training_load: goes on to the last bit");
    return tap_done();
}
