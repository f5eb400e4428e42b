/* src/gpt_file.c: the files of models, chapter 22's golden one among them. */
#define CHAPTER "22_gpt"
#include "streams.h"
#include "gpts.h"
#include "attention/gpt_file.h"
#include "attention/agreement.h"
#include "attention/float16.h"
#include "attention/model.h"

/* ---- Models */

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

/* Reads a model from a file with numbers of 16 bits: each is the nearest of
 * its kind. */
static void read_short(const Gpt *g, const char *path,
                       uint16_t (*to)(float), float (*from)(uint16_t))
{
    Gpt again;
    gpt_load(&again, path);
    same_bits("parameters", (int64_t)again.count, (int64_t)g->count);
    for (size_t i = 0; i < g->count; i++) {
        const float right = from(to(g->memory[i]));
        if (again.memory[i] != right || i < 3)
            tap_near("number", (double)again.memory[i], (double)right, 0,
                     0);
    }
    gpt_free(&again);
    remove(path);
}

static void half_test(void)
{
    Gpt g = given();
    const char *path = own_file("model.safetensors");
    g.memory[1] = 65519;
    g.memory[2] = -1e-7f;
    gpt_save_half(&g, path);
    Tensors file = tensors_read(path);
    tap_near("bytes of a number", tensors_find(&file, "wte.weight")->type,
             'h', 0, 0);
    tensors_free(&file);
    read_short(&g, path, to_float16, from_float16);
    gpt_free(&g);
}

/* As others write it. */
static void bfloat16_test(void)
{
    Gpt g = given();
    const char *path = own_file("model.safetensors");
    g.memory[1] = 3e38f;
    gpt_save(&g, path);
    Tensors file = tensors_read(path);
    for (Tensor *t = file.tensor; t < file.tensor + file.count; t++)
        for (size_t k = 0; t->type != 'i' && k < t->count; k++) {
            const float x = ((float *)t->data)[k];
            ((uint16_t *)t->data)[k] = to_bfloat16(x);
            t->type = 'b';
        }
    tensors_write(path, (int)file.count, file.tensor);
    tensors_free(&file);
    read_short(&g, path, to_bfloat16, from_bfloat16);
    gpt_free(&g);
}

static void half_refused(void)
{
    Gpt g = {1, 1, 1, 1, 1, .has_own_output = 0};
    gpt_init(&g, &g);
    g.memory[0] = -65520;
    gpt_save_half(&g, own_file("model.safetensors"));
}

/* Chapter 21's kind, of two heads, with the bias of its output alone, of all
 * layers, or none: each number the nearest float16. */
static void model_test(void)
{
    const char *path = own_file("model.safetensors");
    for (int biases = 0; biases < 3; biases++) {
        Model m = {.vocabulary = 7, .context_length = 5}, again;
        m.attention = (Attention){
            .d_x = 3, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 1};
        m.attention.has_out_bias = biases > 0;
        m.attention.has_bias = biases > 1;
        model_init(&m, &m);
        tap_fill((int)m.count, m.memory, -1, 1);
        model_save_half(&m, path);
        model_load(&again, path);
        const Attention *a = &m.attention, *b = &again.attention;
        same_bits("parameters", (int64_t)again.count, (int64_t)m.count);
        same_bits("vocabulary", again.vocabulary, 7);
        same_bits("context", again.context_length, 5);
        same_bits("heads", b->n_heads, a->n_heads);
        same_bits("d_k", b->d_k, a->d_k);
        same_bits("d_v", b->d_v, a->d_v);
        for (size_t i = 0; i < m.count; i++)
            tap_near("number", (double)again.memory[i],
                     (double)from_float16(to_float16(m.memory[i])), 0, 0);
        model_free(&again);
        model_free(&m);
    }
    remove(path);
}

/* The answers of the model in src/models are right, in all sentences that it
 * was not taught. */
static void verbs_test(void)
{
    enum { N = AGREEMENT_LENGTH, FIRST = AGREEMENTS_TAUGHT };
    Model m;
    Pass p;
    model_load(&m, "src/models/verbs.safetensors");
    pass_init(&p, &m, AGREEMENTS - FIRST, N);
    for (int k = 0; k < p.texts; k++)
        agreement_text(FIRST + k, p.ids + k * N, p.targets + k * N);
    memcpy(p.key_ids, p.ids, (size_t)(p.texts * N) * sizeof *p.ids);
    model_forward(&m, mask_causal(0), &p);
    for (int k = 0; k < p.texts; k++) {
        const float *logits = p.logits + (k * N + N - 1) * m.vocabulary;
        const int right = p.targets[k * N + N - 1];
        for (int j = 0; j < m.vocabulary; j++)
            tap_true("the right verb is the largest",
                     j == right || logits[j] < logits[right]);
    }
    pass_free(&p);
    model_free(&m);
}

/* And the other one goes on with a text as it began. */
static void repeated_model_test(void)
{
    enum { N = REPEATED_LENGTH, TEXTS = 50 };
    Model m;
    Pass p;
    Random r = seeded(77);
    model_load(&m, "src/models/repeated.safetensors");
    pass_init(&p, &m, TEXTS, N);
    for (int k = 0; k < TEXTS; k++)
        repeated_text(&r, p.ids + k * N, (int(*)[2])p.key_ids + k * N,
                      p.targets + k * N);
    model_forward(&m, mask_causal(0), &p);
    const float loss =
        cross_entropy(TEXTS * N, m.vocabulary, ROWS(m.vocabulary, p.logits),
                      p.targets, ROWS(m.vocabulary, p.shares));
    tap_true("nearly no loss", loss < 0.02f);
    pass_free(&p);
    model_free(&m);
}

static Model odd_model(void)
{
    Model m = {.vocabulary = 2, .context_length = 1};
    m.attention =
        (Attention){.d_x = 1, .d_y = 1, .n_heads = 1, .d_k = 3, .d_v = 2};
    model_init(&m, &m);
    return m;
}

static void model_with_heads(int heads)
{
    Model m = odd_model();
    m.attention.n_heads = heads;
    model_save_half(&m, own_file("model.safetensors"));
    model_load(&m, own_file("model.safetensors"));
}

/* The bias of the keys alone, which no model of ours has. */
static void model_with_more(void)
{
    Model m = odd_model();
    m.attention.key.bias = m.tokens;
    model_save_half(&m, own_file("model.safetensors"));
    model_load(&m, own_file("model.safetensors"));
}

static void model_too_large(void)
{
    Model m = odd_model();
    m.tokens[1] = 65520;
    model_save_half(&m, own_file("model.safetensors"));
}

/* One of everything. */
static void smallest_test(void)
{
    Gpt g = {1, 1, 1, 1, 1, .has_own_output = 0}, again;
    const char *path = own_file("model.safetensors");
    gpt_init(&g, &g);
    gpt_save(&g, path);
    gpt_load(&again, path);
    same_bits("parameters", (int64_t)again.count, 1 + 1 + 25 + 2);
    gpt_free(&g);
    gpt_free(&again);
    remove(path);
}

/* The tensors of the golden model, but one, by their names behind a
 * prefix. */
static int tensors_of_model(Tensor tensor[64], const char *prefix,
                            const char *lost)
{
    int count = 0;
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (strchr(t->name, '-') || !strcmp(t->name, lost))
            continue;
        char *name = room(100);
        snprintf(name, 400, "%s%s", prefix, t->name);
        tensor[count] = *t;
        tensor[count++].name = name;
    }
    return count;
}

/* What PyTorch has written, as others lay it out: with "transformer." in
 * front, an output apart, masks, and the number of heads in config.json. */
static void prefix_test(void)
{
    const char *path = own_file("model.safetensors");
    const char *config = own_file("config.json");
    const Tensor *tokens = golden("22_gpt/wte.weight");
    Tensor tensor[64];
    sets_now = "gpt_tied";
    int count = tensors_of_model(tensor, "transformer.", "n_head");
    tensor[count] = *tokens;
    tensor[count++].name = "lm_head.weight";
    tensor[count++] = (Tensor){.name = "transformer.h.0.attn.bias",
                               .type = 'f',
                               .rank = 4,
                               .shape = {1, 1, 2, 2},
                               .data = (float[4]){1, 0, 1, 1}};
    tensor[count++] = (Tensor){.name = "transformer.h.7.attn.masked_bias",
                               .type = 'f',
                               .data = (float[1]){-1e4f}};
    tensors_write(path, count, tensor);
    FILE *file = fopen(config, "w");
    fprintf(file, "{\"n_layer\": 2, \"n_head\": 2}");
    fclose(file);
    Gpt g;
    gpt_load(&g, path);
    same_bits("heads", g.n_heads, 2);
    tap_true("apart", g.output.weight != g.tokens);
    same("output", tokens->count, g.output.weight, floats(tokens));
    same("parameters", part("parameters")->count, g.memory,
         floats(part("parameters")));
    gpt_free(&g);
    remove(config);
    remove(path);
}

/* The golden model, whose config.json says that it has two heads, and this.
 * It has an output of its own: its table of tokens, but the last number so
 * many times as large. */
static void load_configured(const char *said, int own_output)
{
    Tensor tensor[64], output = *golden("22_gpt/wte.weight");
    int count = tensors_of_model(tensor, "", "n_head");
    float *x = room(output.count);
    memcpy(x, output.data, output.count * sizeof *x);
    x[output.count - 1] *= (float)own_output;
    output.name = "lm_head.weight";
    output.data = x;
    if (own_output)
        tensor[count++] = output;
    tensors_write(own_file("model.safetensors"), count, tensor);
    FILE *file = fopen(own_file("config.json"), "w");
    fprintf(file, "{\"n_head\": 2, %s}", said);
    fclose(file);
    Gpt g;
    gpt_load(&g, own_file("model.safetensors"));
    same_bits("heads", g.n_heads, 2);
    gpt_free(&g);
}

/* What changes no logits. */
static void harmless_test(void)
{
    static const char *const said[] = {
        "\"task_specific_params\":{\"a\":{\"n_head\":99,\"n_layer\":7}}",
        "\"attn_pdrop\":0.1,\"architectures\":[\"GPT2LMHeadModel\"],"
        "\"reorder_and_upcast_attn\":true,\"n_ctx\":1024,\"summary_"
        "activation\":null",
        "\"n_inner\":null,\"layer_norm_epsilon\":1e-05,"
        "\"activation_function\":\"gelu_new\",\"model_type\":\"gpt2\"",
        "\"scale_attn_weights\":true,\"add_cross_attention\":false,"
        "\"scale_attn_by_inverse_layer_idx\":false",
        "\"n_inner\":48,\"layer_norm_epsilon\":0.00001,\"n_layer\":2.0,"
        "\"activation_function\":\"gelu_pytorch_tanh\",\"n_positions\":8",
        "\"hidden_size\":12,\"layer_norm_epsilon\":9.999999747378752e-06"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        load_configured(said[i], 0);
    load_configured("\"tie_word_embeddings\":true", 0);
    for (int own_output = 1; own_output <= 2; own_output++)
        load_configured("\"tie_word_embeddings\":false", own_output);
    load_configured("\"tie_word_embeddings\":true", 1);
    remove(own_file("config.json"));
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

/* ---- What is refused of a model's file */

/* What is otherwise in a file of the golden model: a tensor is lost, has
 * its sizes turned over, no rows or a column less, or there is one more;
 * and how the line ends that refuses it, where that does not follow. */
enum { LOST, TURNED, EMPTY, MORE, NARROW };
static const struct {
    int how;
    const char *name, *line;
} otherwise[] = {
    {LOST, "n_head", ": the number of heads is needed in one of them"},
    {LOST, "h.1.mlp.c_proj.bias", NULL},
    {TURNED, "h.0.mlp.c_fc.weight",
     "'h.0.mlp.c_fc.weight' is [48, 12], of 2 dimensions: [12, 48], of 2, "
     "is needed"},
    {NARROW, "h.0.mlp.c_fc.weight",
     "'h.0.mlp.c_fc.weight' is [12, 47], of 2 dimensions: [12, 48], of 2, "
     "is needed"},
    {EMPTY, "wte.weight",
     "'wte.weight' is [0, 12], of 2 dimensions: at least [1, 1], of 2, is "
     "needed"},
    {EMPTY, "wpe.weight",
     "'wpe.weight' is [0, 12], of 2 dimensions: at least [1, 1], of 2, is "
     "needed"},
    {MORE, "h.2.ln_1.bias", "has no tensor 'h.2.ln_1.weight'"},
    {MORE, "h.99999999999.ln_1.bias", NULL},
    {MORE, "score.weight", NULL},
    {MORE, "a.b", NULL}, /* the first by its name */
    {MORE, ".bias", NULL},
    {MORE, "h.1.ln_1.scale", NULL},
    {MORE, "mean.h.2.ln_1.bias", NULL},
};

static void load_otherwise(int how, const char *name)
{
    const char *path = own_file("model.safetensors");
    Tensor tensor[64];
    int count = tensors_of_model(tensor, "", how == LOST ? name : "");
    for (Tensor *t = tensor; t < tensor + count; t++) {
        const int rows = t->shape[0], columns = t->shape[1];
        if (strcmp(t->name, name))
            continue;
        t->shape[0] = how == EMPTY ? 0 : how == TURNED ? columns : rows;
        t->shape[1] = how == TURNED ? rows : columns - (how == NARROW);
    }
    if (how == MORE)
        tensor[count++] = (Tensor){.name = name, .type = 'f', .rank = 1};
    tensors_write(path, count, tensor);
    gpt_load(&(Gpt){0}, path);
}

static void refused_files(void)
{
    static const char *const words[5] = {
        "a file without %s", "%s turned over", "%s without rows",
        "a file with %s", "%s with a column less"};
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++) {
        const int how = otherwise[i].how;
        const char *name = otherwise[i].name, *line = otherwise[i].line;
        if (!line)
            line = how == LOST
                       ? tap_words("has no tensor '%s'", name)
                       : tap_words("'%s' is no tensor of a GPT-2 of 2 "
                                   "layers: a file without it is needed",
                                   name);
        char what[100];
        snprintf(what, sizeof what, words[how], name);
        TAP_REFUSES("gpt_load", what, line, load_otherwise(how, name));
    }
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

int main(void)
{
    make_own_folder();
    EACH("gpt_save", save_test, "gpt_*-sizes");
    EACH("gpt_save_half", half_test, "gpt_*-sizes");
    EACH("gpt_load", bfloat16_test, "gpt_*-sizes");
    TAP_REFUSES("gpt_save_half", "a number that is too large",
                "'wte.weight' has -65520: a number below 65520 is needed, "
                "which a float16 can hold",
                half_refused());
    TAP(model_test, "model_save_half: written and read again");
    TAP(verbs_test, "model_load: the model of sentences");
    TAP(repeated_model_test, "model_load: the model of repeated texts");
    for (int heads = 0; heads < 4; heads += heads ? 1 : 2)
        TAP_REFUSES("model_load", tap_words("%d heads", heads),
                    tap_words("model_load: %s: %d heads for queries of 3 "
                              "and values of 2: a divisor of both is "
                              "needed",
                              own_file("model.safetensors"), heads),
                    model_with_heads(heads));
    TAP_REFUSES("model_load", "a file of another model", "'token.weight'",
                model_load(&(Model){0}, "src/models/language.safetensors"));
    TAP_REFUSES("model_load", "a tensor too many",
                tap_words("%s: 8 tensors: 7 are needed",
                          own_file("model.safetensors")),
                model_with_more());
    TAP_REFUSES("model_save_half", "a number that is too large",
                "'token.weight' has 65520: a number below 65520 is needed, "
                "which a float16 can hold",
                model_too_large());
    TAP(smallest_test, "gpt_save: one of everything");
    TAP(prefix_test, "gpt_load: names behind a prefix, an output apart");
    TAP(harmless_test, "gpt_load: what changes no logits in config.json");
    TAP_REFUSES("gpt_load", "heads, of which there is no number", NULL,
                load_heads(0, 0));
    TAP_REFUSES("gpt_load", "no heads", NULL, load_heads(1, 0));
    TAP_REFUSES("gpt_load", "four heads for a width of six", NULL,
                load_heads(1, 4));
    TAP_REFUSES("gpt_load", "four thousand million heads and two", NULL,
                load_heads(1, 4294967298));
    refused_files();
    refused_configs();
    remove_own_folder("model.safetensors");
    return tap_done();
}
