/* src/gpt_file.c: the files of models, chapter 22's golden one among them,
 * and of trainings. */
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

/* Written and read again. */
static void save_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const char *path = own_file("model.safetensors");
    gpt_save(&g, path);
    Gpt again;
    gpt_load(&again, path);
    expect_list("parameters", g.count, again.memory, g.memory, EXACTLY);
    expect_integer("heads", again.n_heads, g.n_heads);
    expect_integer("apart", again.has_own_output, g.has_own_output);
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
    expect_integer("parameters", (int64_t)again.count, (int64_t)g->count);
    for (size_t i = 0; i < g->count; i++) {
        const float right = from(to(g->memory[i]));
        if (again.memory[i] != right || i < 3)
            expect_equal("number", (double)again.memory[i], (double)right);
    }
    gpt_free(&again);
    remove(path);
}

static void half_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const char *path = own_file("model.safetensors");
    g.memory[1] = 65519;
    g.memory[2] = -1e-7f;
    gpt_save_half(&g, path);
    Tensors file = tensors_read(path);
    expect_equal("bytes of a number",
                 tensors_find(&file, "wte.weight")->type, 'h');
    tensors_free(&file);
    read_short(&g, path, to_float16, from_float16);
    gpt_free(&g);
}

/* As others write it. */
static void bfloat16_test(const char *set)
{
    Gpt g = golden_gpt(set);
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
        expect_integer("parameters", (int64_t)again.count,
                       (int64_t)m.count);
        expect_integer("vocabulary", again.vocabulary, 7);
        expect_integer("context", again.context_length, 5);
        expect_integer("heads", b->n_heads, a->n_heads);
        expect_integer("d_k", b->d_k, a->d_k);
        expect_integer("d_v", b->d_v, a->d_v);
        for (size_t i = 0; i < m.count; i++)
            expect_equal("number", (double)again.memory[i],
                         (double)from_float16(to_float16(m.memory[i])));
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
            expect_true("the right verb is the largest",
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
    Random r = random_seeded(77);
    model_load(&m, "src/models/repeated.safetensors");
    pass_init(&p, &m, TEXTS, N);
    for (int k = 0; k < TEXTS; k++)
        repeated_text(&r, p.ids + k * N, (int(*)[2])p.key_ids + k * N,
                      p.targets + k * N);
    model_forward(&m, mask_causal(0), &p);
    const float loss =
        cross_entropy(TEXTS * N, m.vocabulary, ROWS(m.vocabulary, p.logits),
                      p.targets, ROWS(m.vocabulary, p.shares));
    expect_true("nearly no loss", loss < 0.02f);
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
    expect_integer("parameters", (int64_t)again.count, 1 + 1 + 25 + 2);
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
        char *name = guarded("an array", 100);
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
    const Tensor *tokens = golden("", "wte.weight");
    Tensor tensor[64];
    const char *const set = "gpt_tied";
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
    expect_integer("heads", g.n_heads, 2);
    expect_true("apart", g.output.weight != g.tokens);
    expect_list("output", tokens->count, g.output.weight,
                tensor_as_floats(tokens), EXACTLY);
    expect_list("parameters", golden(set, "parameters")->count, g.memory,
                golden_floats(set, "parameters"), EXACTLY);
    gpt_free(&g);
    remove(config);
    remove(path);
}

/* The golden model, whose config.json says that it has two heads, and this.
 * It has an output of its own: its table of tokens, but the last number so
 * many times as large. */
static void load_configured(const char *said, int own_output)
{
    Tensor tensor[64], output = *golden("", "wte.weight");
    int count = tensors_of_model(tensor, "", "n_head");
    float *x = guarded("an array", output.count);
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
    expect_integer("heads", g.n_heads, 2);
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

/* ---- Trainings */

/* What is read stands where the first was left, whatever it was before. */
static GptTraining read_again(const GptTraining *first, const char *path)
{
    GptTraining second = small_of(3, first->model.has_own_output);
    go_on(&second, 5);
    gpt_training_add_notes(&second, 1);
    gpt_training_load(&second, path);
    expect_integer("step", second.step, 3);
    expect_integer("notes", second.noted, 3);
    expect_equal("the last of them", second.notes[2], 7);
    expect_true("the state",
                !memcmp(second.random.state, first->random.state,
                        sizeof first->random.state));
    return second;
}

/* A state of which all numbers have been drawn: the next draw makes it
 * anew. */
static void used_up_test(void)
{
    const char *path = own_file("training.safetensors");
    GptTraining first = small_of(3, 0), second = small_of(3, 0);
    first.random.next = RANDOM_STATE;
    gpt_training_save(&first, path);
    gpt_training_load(&second, path);
    expect_integer("next", second.random.next, RANDOM_STATE);
    expect_integer("stream", random_u32(&second.random),
                   random_u32(&first.random));
    gpt_training_free(&first);
    gpt_training_free(&second);
    remove(path);
}

/* Interrupted after 3 steps, and gone on with for 6 more. */
static void resume(int has_own_output)
{
    const char *path = own_file("training.safetensors");
    GptTraining whole = small_of(3, has_own_output),
                first = small_of(3, has_own_output);
    go_on(&whole, 9);
    go_on(&first, 3);
    first.random.has_spare = 1; /* half of a pair of normal numbers */
    first.random.spare = 0.5;
    first.random.state[RANDOM_STATE - 1]++; /* which none of them draws */
    first.random.state[RANDOM_STATE - 2] = UINT32_MAX; /* nor this one */
    gpt_training_add_notes(&first, 3)[2] = 7;
    gpt_training_save(&first, path);
    GptTraining second = read_again(&first, path);
    go_on(&second, 6);
    expect_list("parameters", whole.model.count, second.model.memory,
                whole.model.memory, EXACTLY);
    expect_list("means", whole.model.count, second.mean.memory,
                whole.mean.memory, EXACTLY);
    expect_list("squares", whole.model.count, second.square.memory,
                whole.square.memory, EXACTLY);
    expect_integer("steps", second.step, whole.step);
    expect_integer("has_spare", second.random.has_spare, 1);
    expect_equal("spare", second.random.spare, 0.5);
    expect_integer("stream", random_u32(&second.random),
                   random_u32(&whole.random));
    Gpt g;
    gpt_load(&g, path); /* which is a model, too */
    expect_integer("layers", g.layers, 2);
    expect_integer("heads", g.n_heads, 2);
    expect_integer("apart", g.has_own_output, has_own_output);
    gpt_free(&g);
    gpt_training_free(&whole);
    gpt_training_free(&first);
    gpt_training_free(&second);
    remove(path);
}

static void resume_test(void)
{
    resume(0);
    resume(1);
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

/* ---- What is refused of a training's */

/* What a training must have in common with the one that it goes on with:
 * in another one, a size or a setting has this value; or the text begins
 * with "Hn". */
static GptTraining other;
static const struct {
    const char *words;
    int *size;
    double *setting, value;
} in_common[] = {
    {"vocabulary is 128: 129", &other.model.vocabulary, NULL, 129},
    {"context is 8: 4", &other.model.context_length, NULL, 4},
    {"width is 8: 16", &other.model.width, NULL, 16},
    {"n_heads is 2: 4", &other.model.n_heads, NULL, 4},
    {"layers is 2: 1", &other.model.layers, NULL, 1},
    {"has_own_output is 0: 1", &other.model.has_own_output, NULL, 1},
    {"texts is 3: 2", &other.texts, NULL, 2},
    {"bytes of text is 68: 67", &other.bytes, NULL, 67},
    {"checksum of the text is 3948898965: 1324445238", NULL, NULL, 0},
    {"beta_1 is 0.9: 0.8", NULL, &other.adam.beta_1, 0.8},
    {"beta_2 is 0.95: 0.9501", NULL, &other.adam.beta_2, 0.9501},
    {"epsilon is 1e-08: 1e-09", NULL, &other.adam.epsilon, 1e-9},
    {"decay is 0.1: 0", NULL, &other.adam.decay, 0},
    {"is_coupled is 0: 1", &other.adam.is_coupled, NULL, 1},
    {"repeats is 0: 1", &other.repeats, NULL, 1},
    {"dropout is 0: 0.1", NULL, &other.dropout, 0.1},
};

static const char *training_file(void)
{
    return own_file("training.safetensors");
}

static void load_into(int *size, double *setting, double value)
{
    static char text[sizeof reading];
    GptTraining t = small();
    gpt_training_save(&t, training_file());
    strcpy(text, reading);
    other = (GptTraining){.model = sizes_of_small(0),
                          .texts = t.texts,
                          .adam = t.adam,
                          .random = random_seeded(5),
                          .bytes = t.bytes,
                          .text = text};
    if (size)
        *size = (int)value;
    else if (setting)
        *setting = value;
    else
        text[0] ^= 1;
    gpt_training_init(&other, &other);
    gpt_training_load(&other, training_file());
}

/* A training's file in which a tensor has so many numbers, the first of
 * them this one, or the one at a place is another; or there is one tensor
 * more. */
static void load_changed(const char *name, int count, int place,
                         double number)
{
    GptTraining t = small();
    gpt_training_save(&t, training_file());
    Tensors file = tensors_read(training_file());
    Tensor *all = calloc(file.count + 1, sizeof *all), *it = all;
    memcpy(all, file.tensor, file.count * sizeof *all);
    while (it < all + file.count && strcmp(it->name, name))
        it++;
    if (it == all + file.count)
        *it = (Tensor){.name = name, .type = 'f', .rank = 1};
    else if (it->type == 'd')
        ((double *)it->data)[place] = number;
    else
        ((int64_t *)it->data)[place] = (int64_t)number;
    if (count >= 0) {
        it->rank = 1;
        it->shape[0] = count;
        it->count = (size_t)count;
    }
    file.count += it == all + file.count;
    tensors_write(training_file(), (int)file.count, all);
    gpt_training_load(&t, training_file());
    gpt_load(&(Gpt){0}, training_file());
}

static const struct {
    const char *function, *words, *line, *tensor;
    int count, place;
    double number;
} changed[] = {
    {"gpt_training_load", "a mean of no parameter",
     "'mean.h.2.ln_1.bias' is no tensor of a GPT-2 of 2 layers: a file "
     "without it is needed",
     "mean.h.2.ln_1.bias", 0, 0, 0},
    {"gpt_training_load", "kept numbers, of which there is none", NULL,
     "training.kept", 0, 0, 0},
    {"gpt_training_load", "more steps than an int counts",
     "a training at step 2147483648: at most 2147483647 is needed",
     "training.stands", -1, RANDOM_STATE + 2, 2147483648},
    {"gpt_training_load", "more random numbers than a state has",
     "a training at random number 625: at most 624 is needed",
     "training.stands", -1, RANDOM_STATE, 625},
    {"gpt_load", "heads, of which there is no number", NULL, "n_head", 0, 0,
     0},
    {"gpt_load", "four thousand million heads and two", NULL, "n_head", 1,
     0, 4294967298.0},
    {"gpt_load", "no heads", NULL, "n_head", 1, 0, 0},
    {"gpt_load", "three heads for a width of eight", NULL, "n_head", 1, 0,
     3},
};

static void refused_trainings(void)
{
    for (size_t k = 0; k < sizeof in_common / sizeof *in_common; k++)
        TAP_REFUSES("gpt_training_load", in_common[k].words,
                    tap_words("%s: a training whose %s is needed",
                              training_file(), in_common[k].words),
                    load_into(in_common[k].size, in_common[k].setting,
                              in_common[k].value));
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++)
        TAP_REFUSES(changed[k].function, changed[k].words, changed[k].line,
                    load_changed(changed[k].tensor, changed[k].count,
                                 changed[k].place, changed[k].number));
}

int main(void)
{
    make_own_folder();
    EACH_SET("gpt_save", "gpt_*-sizes", save_test(set));
    EACH_SET("gpt_save_half", "gpt_*-sizes", half_test(set));
    EACH_SET("gpt_load", "gpt_*-sizes", bfloat16_test(set));
    TAP_REFUSES("gpt_save_half", "a number that is too large",
                "'wte.weight' has -65520: a number below 65520 is needed, "
                "which a float16 can hold",
                half_refused());
    TAP("model_save_half: written and read again", model_test());
    TAP("model_load: the model of sentences", verbs_test());
    TAP("model_load: the model of repeated texts", repeated_model_test());
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
    TAP("gpt_save: one of everything", smallest_test());
    TAP("gpt_load: names behind a prefix, an output apart", prefix_test());
    TAP("gpt_load: what changes no logits in config.json", harmless_test());
    TAP("gpt_training_save: all that it needs", resume_test());
    TAP("gpt_training_load: goes on to the last bit", resume_test());
    TAP("gpt_training_load: a state that is used up", used_up_test());
    refused_files();
    refused_configs();
    refused_trainings();
    remove(own_file("model.safetensors"));
    remove_own_folder("training.safetensors");
    return tap_done();
}
