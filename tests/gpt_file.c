/* src/gpt_file.c: the files of models, chapter 22's golden one among
 * them. */
#define CHAPTER "22_gpt"
#include "streams.h"
#include "gpts.h"
#include "attention/gpt_file.h"
#include "attention/agreement.h"
#include "attention/float16.h"
#include "attention/model.h"

/* Where the test may write: a folder that main makes and removes. */
static char own_folder[] = "/tmp/gpt-XXXXXX";

static const char *own_file(const char *name)
{
    static char path[8][200];
    static int next;
    char *it = path[next++ % 8];
    snprintf(it, 200, "%s/%s", own_folder, name);
    return it;
}

static void make_own_folder(void)
{
    if (!mkdtemp(own_folder))
        REFUSE("%s: no folder can be made", own_folder);
}

/* With the file of that name, where a refused child has left it. */
static void remove_own_folder(const char *file)
{
    remove(own_file(file));
    if (rmdir(own_folder))
        REFUSE("%s: cannot be removed", own_folder);
}

/* ---- Models */

static const char *model_file(void)
{
    return own_file("model.safetensors");
}

/* What is read again has the same sizes and numbers. */
static void reads_again(const Gpt *g)
{
    Gpt again;
    gpt_load(&again, model_file());
    expect_list("parameters", g->count, again.memory, g->memory, EXACTLY);
    expect_integer("parameters", (int64_t)again.count, (int64_t)g->count);
    expect_integer("heads", again.n_heads, g->n_heads);
    expect_integer("apart", again.has_own_output, g->has_own_output);
    gpt_free(&again);
    remove(model_file());
}

static void save_test(const char *set)
{
    Gpt g = golden_gpt(set),
        smallest = {1, 1, 1, 1, 1, .has_own_output = 0};
    gpt_save(&g, model_file());
    reads_again(&g);
    gpt_init(&smallest, &smallest);
    gpt_save(&smallest, model_file());
    reads_again(&smallest);
    gpt_free(&smallest);
    gpt_free(&g);
}

/* Each number of 16 bits is the nearest of its kind. */
static void half_test(const char *set)
{
    Gpt g = golden_gpt(set);
    g.memory[1] = 65519;
    g.memory[2] = -1e-7f;
    gpt_save_half(&g, model_file());
    Tensors file = tensors_read(model_file());
    expect_integer("type", tensors_find(&file, "wte.weight")->type, 'h');
    tensors_free(&file);
    for (size_t i = 0; i < g.count; i++)
        g.memory[i] = from_float16(to_float16(g.memory[i]));
    reads_again(&g);
    gpt_free(&g);
}

/* As others write it: the first half of each float's bits, here. */
static void bfloat16_test(const char *set)
{
    Gpt g = golden_gpt(set);
    for (size_t i = 0; i < g.count; i++)
        g.memory[i] = from_bfloat16(to_bfloat16(g.memory[i]));
    gpt_save(&g, model_file());
    Tensors file = tensors_read(model_file());
    for (Tensor *t = file.tensor; t < file.tensor + file.count; t++) {
        for (size_t k = 0; t->type == 'f' && k < t->count; k++)
            ((uint16_t *)t->data)[k] = ((uint16_t *)t->data)[2 * k + 1];
        t->type = t->type == 'f' ? 'b' : t->type;
    }
    tensors_write(model_file(), (int)file.count, file.tensor);
    tensors_free(&file);
    reads_again(&g);
    gpt_free(&g);
}

/* Chapter 21's kind, with the bias of its output alone, of all layers, or
 * none: each number the nearest float16. */
static void model_test(void)
{
    for (int biases = 0; biases < 3; biases++) {
        Model m = {.vocabulary = 7, .context_length = 5}, again;
        m.attention = (Attention){
            .d_x = 3, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 1};
        m.attention.has_out_bias = biases > 0;
        m.attention.has_bias = biases > 1;
        model_init(&m, &m);
        tap_fill((int)m.count, m.memory, -1, 1);
        model_save_half(&m, model_file());
        model_load(&again, model_file());
        for (size_t i = 0; i < m.count; i++)
            m.memory[i] = from_float16(to_float16(m.memory[i]));
        expect_list("parameters", m.count, again.memory, m.memory, EXACTLY);
        expect_integer("parameters", (int64_t)again.count,
                       (int64_t)m.count);
        expect_integer("vocabulary", again.vocabulary, 7);
        expect_integer("context", again.context_length, 5);
        expect_integer("heads", again.attention.n_heads, 2);
        expect_integer("d_k", again.attention.d_k, 2);
        expect_integer("d_v", again.attention.d_v, 1);
        model_free(&again);
        model_free(&m);
    }
    remove(model_file());
}

/* The mean loss of a model in src/models, on texts that it has not seen. */
static double loss_of(const char *model, int texts, int n)
{
    Model m;
    Pass p;
    Random r = random_seeded(77);
    model_load(&m, model);
    pass_init(&p, &m, texts, n);
    for (int k = 0; k < texts * n; k += n)
        if (n == REPEATED_LENGTH)
            repeated_text(&r, p.ids + k, (int(*)[2])p.key_ids + k,
                          p.targets + k);
        else
            agreement_text(AGREEMENTS_TAUGHT + k / n, p.ids + k,
                           p.targets + k);
    if (n == AGREEMENT_LENGTH)
        memcpy(p.key_ids, p.ids, (size_t)(texts * n) * sizeof *p.ids);
    model_forward(&m, mask_causal(0), &p);
    const float loss =
        cross_entropy(texts * n, m.vocabulary, ROWS(m.vocabulary, p.logits),
                      p.targets, ROWS(m.vocabulary, p.shares));
    pass_free(&p);
    model_free(&m);
    return (double)loss;
}

/* One wrong verb alone would be a loss of log 2. */
static void learned_test(void)
{
    enum { SENTENCES = AGREEMENTS - AGREEMENTS_TAUGHT };
    expect_true("all verbs",
                loss_of("src/models/verbs.safetensors", SENTENCES,
                        AGREEMENT_LENGTH) < log(2) / SENTENCES);
    expect_true("nearly no loss", loss_of("src/models/repeated.safetensors",
                                          50, REPEATED_LENGTH) < 0.02);
}

/* Of a model with heads of so many; with the bias of the keys alone, which
 * no model of ours has; with this number. */
static void load_model(int heads, bool has_more, float number)
{
    Model m = {.vocabulary = 2, .context_length = 1};
    m.attention =
        (Attention){.d_x = 1, .d_y = 1, .n_heads = 1, .d_k = 3, .d_v = 2};
    model_init(&m, &m);
    m.attention.n_heads = heads;
    m.attention.key.bias = has_more ? m.tokens : NULL;
    m.tokens[1] = number;
    model_save_half(&m, model_file());
    model_load(&m, model_file());
}

static void refused_models(void)
{
    TAP_REFUSES(
        "model_save_half", "a number that is too large",
        "'token.weight' has -65520: a number below 65520 is needed, "
        "which a float16 can hold",
        load_model(1, false, -65520));
    for (int heads = 0; heads < 4; heads += heads ? 1 : 2)
        TAP_REFUSES("model_load", tap_words("%d heads", heads),
                    tap_words("model_load: %s: %d heads for queries of 3 "
                              "and values of 2: a divisor of both is "
                              "needed",
                              model_file(), heads),
                    load_model(heads, false, 0));
    TAP_REFUSES("model_load", "a file of another model", "'token.weight'",
                model_load(&(Model){0}, "src/models/language.safetensors"));
    TAP_REFUSES("model_load", "a tensor too many",
                tap_words("%s: 8 tensors: 7 are needed", model_file()),
                load_model(1, true, 0));
}

/* ---- The golden model, as PyTorch has written it, or nearly */

static Tensor list[64];
static int listed;

/* Its tensors but one, by their names behind a prefix. */
static void list_golden(const char *prefix, const char *lost)
{
    listed = 0;
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (strchr(t->name, '-') || !strcmp(t->name, lost))
            continue;
        char *name = guarded("an array", 100);
        snprintf(name, 400, "%s%s", prefix, t->name);
        list[listed] = *t;
        list[listed++].name = name;
    }
}

/* An output of its own: its table of tokens, but the last number so many
 * times as large. */
static void list_output(int times)
{
    Tensor output = *golden("", "wte.weight");
    float *x = guarded("an array", output.count);
    memcpy(x, output.data, output.count * sizeof *x);
    x[output.count - 1] *= (float)times;
    output.name = "lm_head.weight";
    output.data = x;
    list[listed++] = output;
}

static Gpt load_list(const char *config)
{
    Gpt g;
    tensors_write(model_file(), listed, list);
    if (config) {
        FILE *file = fopen(own_file("config.json"), "w");
        fprintf(file, "{\"n_head\": 2, %s}", config);
        fclose(file);
    }
    gpt_load(&g, model_file());
    expect_integer("heads", g.n_heads, 2);
    return g;
}

/* As others lay it out: with "transformer." in front, an output apart,
 * masks, and the number of heads in config.json. */
static void prefix_test(void)
{
    const Tensor *tokens = golden("", "wte.weight");
    const char *const set = "gpt_tied";
    list_golden("transformer.", "n_head");
    list_output(1);
    list[listed++] = (Tensor){.name = "transformer.h.0.attn.bias",
                              .type = 'f',
                              .rank = 4,
                              .shape = {1, 1, 2, 2},
                              .data = (float[4]){1, 0, 1, 1}};
    list[listed++] = (Tensor){.name = "transformer.h.7.attn.masked_bias",
                              .type = 'f',
                              .data = (float[1]){-1e4f}};
    Gpt g = load_list("\"n_layer\": 2");
    expect_true("apart", g.output.weight != g.tokens);
    expect_list("output", tokens->count, g.output.weight,
                tensor_as_floats(tokens), EXACTLY);
    expect_list("parameters", golden(set, "parameters")->count, g.memory,
                golden_floats(set, "parameters"), EXACTLY);
    gpt_free(&g);
}

/* With an output so many times as large, or without one. */
static void load_configured(const char *said, int own_output)
{
    list_golden("", "n_head");
    if (own_output)
        list_output(own_output);
    Gpt g = load_list(said);
    gpt_free(&g);
}

/* What changes no logits. */
static void harmless_test(void)
{
    load_configured(
        "\"task_specific_params\":{\"a\":{\"n_head\":99,\"n_layer\":7}},"
        "\"attn_pdrop\":0.1,\"architectures\":[\"GPT2LMHeadModel\"],"
        "\"reorder_and_upcast_attn\":true,\"n_ctx\":1024,\"summary_"
        "activation\":null,\"n_inner\":null,\"layer_norm_epsilon\":1e-05,"
        "\"activation_function\":\"gelu_new\",\"model_type\":\"gpt2\","
        "\"scale_attn_weights\":true,\"add_cross_attention\":false,"
        "\"scale_attn_by_inverse_layer_idx\":false,\"hidden_size\":12",
        0);
    load_configured(
        "\"n_inner\":48,\"layer_norm_epsilon\":0.00001,\"n_layer\":2.0,"
        "\"activation_function\":\"gelu_pytorch_tanh\",\"n_positions\":8",
        0);
    load_configured("\"layer_norm_epsilon\":9.999999747378752e-06", 0);
    for (int own_output = 0; own_output <= 1; own_output++)
        load_configured("\"tie_word_embeddings\":true", own_output);
    for (int own_output = 1; own_output <= 2; own_output++)
        load_configured("\"tie_word_embeddings\":false", own_output);
}

/* What asks for another model; and what this one has. */
static const struct {
    const char *name, *value, *has;
    int own_output;
} asked[] = {
    {"model_type", "\"imagegpt\"", "\"gpt2\"", 0},
    {"activation_function", "\"gelu\"", "\"gelu_new\"", 0},
    {"layer_norm_epsilon", "0.1", "1e-05", 0},
    {"scale_attn_weights", "false", "true", 0},
    {"scale_attn_by_inverse_layer_idx", "true", "false", 0},
    {"add_cross_attention", "true", "false", 0},
    {"tie_word_embeddings", "false", "true", 0},
    {"tie_word_embeddings", "true", "false", 2},
    {"vocab_size", "50257", "20", 0},
    {"n_positions", "9", "8", 0},
    {"max_position_embeddings", "7", "8", 0},
    {"n_embd", "768", "12", 0},
    {"hidden_size", "null", "12", 0},
    {"n_layer", "7", "2", 0},
    {"num_hidden_layers", "2.5", "2", 0},
    {"num_attention_heads", "12", "2", 0},
    {"n_inner", "12", "48", 0},
};

static void refused_configs(void)
{
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *name = asked[i].name, *value = asked[i].value;
        TAP_REFUSES("gpt_load", tap_words("%s %s", name, value),
                    tap_words("%s: %s is %s; this model has %s",
                              own_file("config.json"), name, value,
                              asked[i].has),
                    load_configured(tap_words("\"%s\": %s", name, value),
                                    asked[i].own_output));
    }
    remove(own_file("config.json"));
}

/* What is wrong with a file: a tensor is lost, is of other sizes, or is one
 * too many; and how the line ends that refuses it. */
static const struct {
    const char *what, *name;
    int rows, columns; /* with 0 columns, it is lost */
    const char *line;
} wrong[] = {
    {"no", "n_head", 0, 0,
     ": the number of heads is needed in one of them"},
    {"no", "h.1.mlp.c_proj.bias", 0, 0,
     "has no tensor 'h.1.mlp.c_proj.bias'"},
    {"a turned", "h.0.mlp.c_fc.weight", 48, 12,
     ": [12, 48], of 2, is needed"},
    {"a narrow", "h.0.mlp.c_fc.weight", 12, 47,
     "'h.0.mlp.c_fc.weight' is [12, 47], of 2 dimensions: [12, 48], of 2, "
     "is needed"},
    {"an empty", "wte.weight", 0, 12,
     "'wte.weight' is [0, 12], of 2 dimensions: at least [1, 1], of 2, is "
     "needed"},
    {"an empty", "wpe.weight", 0, 12, ": at least [1, 1], of 2, is needed"},
    {"a further", "h.2.ln_1.bias", 0, 1, "has no tensor 'h.2.ln_1.weight'"},
    {"a further", "h.99999999999.ln_1.bias", 0, 1, NULL},
    {"a further", "h.1.ln_1.scale", 0, 1, NULL},
    {"a further", "mean.h.2.ln_1.bias", 0, 1, NULL},
};

static void load_wrong(size_t i)
{
    const char *name = wrong[i].name;
    int k = 0;
    list_golden("", wrong[i].columns ? "" : name);
    while (k < listed && strcmp(list[k].name, name))
        k++;
    if (k == listed && wrong[i].columns)
        list[listed++] = (Tensor){.name = name, .type = 'f', .rank = 1};
    list[k].shape[0] = wrong[i].rows;
    list[k].shape[1] = wrong[i].columns;
    load_list(NULL);
}

static void load_integers(void)
{
    static int64_t x[12];
    list_golden("", "ln_f.bias");
    list[listed++] = (Tensor){.name = "ln_f.bias",
                              .type = 'i',
                              .rank = 1,
                              .shape = {12},
                              .data = x};
    load_list(NULL);
}

/* A file of a model whose tensor "n_head" has so many numbers, the first of
 * them this one. */
static void load_heads(int count, int64_t number)
{
    const char *path = own_file("model.safetensors");
    Gpt g = any_gpt(1, 0);
    gpt_save(&g, path);
    Tensors file = tensors_read(path);
    Tensor *heads = file.tensor;
    while (strcmp(heads->name, "n_head"))
        heads++;
    *(int64_t *)heads->data = number;
    heads->rank = 1;
    heads->shape[0] = count;
    heads->count = (size_t)count;
    tensors_write(path, (int)file.count, file.tensor);
    gpt_load(&(Gpt){0}, path);
}

static void refused_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        TAP_REFUSES(
            "gpt_load", tap_words("%s %s", wrong[i].what, wrong[i].name),
            wrong[i].line
                ? wrong[i].line
                : tap_words("'%s' is no tensor of a GPT-2 of 2 layers: a "
                            "file without it is needed",
                            wrong[i].name),
            load_wrong(i));
    TAP_REFUSES("gpt_load", "whole numbers",
                "'ln_f.bias' has dtype I64: F32 is needed",
                load_integers());
    TAP_REFUSES("gpt_load", "heads, of which there is no number", NULL,
                load_heads(0, 0));
    TAP_REFUSES("gpt_load", "no heads", NULL, load_heads(1, 0));
    TAP_REFUSES("gpt_load", "four heads for a width of six", NULL,
                load_heads(1, 4));
    TAP_REFUSES("gpt_load", "four thousand million heads and two", NULL,
                load_heads(1, 4294967298));
}

int main(void)
{
    make_own_folder();
    EACH_SET("gpt_save", "gpt_*-sizes", save_test(set));
    EACH_SET("gpt_save_half", "gpt_*-sizes", half_test(set));
    EACH_SET("gpt_load", "gpt_*-sizes", bfloat16_test(set));
    TAP("model_save_half: written and read again", model_test());
    TAP("model_load: the models in src/models", learned_test());
    refused_models();
    TAP("gpt_load: names behind a prefix, an output apart", prefix_test());
    refused_configs();
    refused_files();
    TAP("gpt_load: what changes no logits in config.json", harmless_test());
    remove(own_file("config.json"));
    remove_own_folder("model.safetensors");
    return tap_done();
}
