/* src/gpt_file.c: the files of models, chapter 22's golden one among
 * them. */
#define CHAPTER "22_gpt"
#include "damaged.h"
#include "gpts.h"
#include "attention/gpt_file.h"
#include "attention/float16.h"
#include "attention/model.h"

/* ---- Models */

/* What is read again has the same sizes and numbers. */
static void reads_again(const Gpt *g)
{
    Gpt again;
    gpt_load(&again, path);
    expect_integer("parameters", (int64_t)again.count, (int64_t)g->count);
    expect_list("parameters", again.count, again.memory, g->memory,
                EXACTLY);
    expect_integer("heads", again.n_heads, g->n_heads);
    expect_integer("apart", again.has_own_output, g->has_own_output);
    gpt_free(&again);
}

static void save_test(const char *set)
{
    Gpt g = golden_gpt(set),
        smallest = {1, 1, 1, 1, 1, .has_own_output = 0};
    gpt_save(&g, path);
    reads_again(&g);
    gpt_init(&smallest, &smallest);
    gpt_save(&smallest, path);
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
    gpt_save_half(&g, path);
    Tensors all = tensors_read(path);
    expect_integer("type", tensors_find(&all, "wte.weight")->type, 'h');
    tensors_free(&all);
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
    gpt_save(&g, path);
    Tensors all = tensors_read(path);
    for (Tensor *t = all.tensor; t < all.tensor + all.count; t++) {
        for (size_t k = 0; t->type == 'f' && k < t->count; k++)
            ((uint16_t *)t->data)[k] = ((uint16_t *)t->data)[2 * k + 1];
        t->type = t->type == 'f' ? 'b' : t->type;
    }
    tensors_write(path, (int)all.count, all.tensor);
    tensors_free(&all);
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
        model_save_half(&m, path);
        model_load(&again, path);
        for (size_t i = 0; i < m.count; i++)
            m.memory[i] = from_float16(to_float16(m.memory[i]));
        expect_integer("parameters", (int64_t)again.count,
                       (int64_t)m.count);
        expect_list("parameters", again.count, again.memory, m.memory,
                    EXACTLY);
        const Attention *a = &again.attention;
        expect_true("sizes", again.vocabulary == 7 && a->n_heads == 2 &&
                                 again.context_length == 5 && a->d_k == 2 &&
                                 a->d_v == 1);
        model_free(&again);
        model_free(&m);
    }
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
    model_save_half(&m, path);
    model_load(&m, path);
}

static void refused_models(void)
{
    TAP_REFUSES("model_save_half", "a number that is too large",
                "'token.weight' has -65520: a number below 65520 is "
                "needed, which a float16 can hold",
                load_model(1, false, -65520));
    for (int heads = 0; heads < 4; heads += heads ? 1 : 2)
        TAP_REFUSES("model_load", tap_words("%d heads", heads),
                    tap_words("%d heads for queries of 3 and values of 2: "
                              "a divisor of both is needed",
                              heads),
                    load_model(heads, false, 0));
    TAP_REFUSES("model_load", "a tensor too many",
                "file: 8 tensors: 7 are needed", load_model(1, true, 0));
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

/* Of the list, with this in config.json beside "n_head". */
static Gpt load_list(const char *config)
{
    Gpt g;
    tensors_write(path, listed, list);
    if (config) {
        FILE *to = fopen("config.json", "w");
        fprintf(to, "{\"n_head\": 2, %s}", config);
        fclose(to);
    }
    gpt_load(&g, path);
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
    list[listed] = *tokens;
    list[listed++].name = "lm_head.weight";
    list[listed++] = TAP_ARRAY("transformer.h.0.attn.bias", 'f',
                               ((float[4]){1, 0, 1, 1}), 1, 1, 2, 2);
    list[listed++] = tap_array_of("transformer.h.7.attn.masked_bias", 'f',
                                  (float[1]){-1e4f}, 0, NULL);
    Gpt g = load_list("\"n_layer\": 2");
    expect_true("apart", g.output.weight != g.tokens);
    expect_list("output", tokens->count, g.output.weight,
                tensor_as_floats(tokens), EXACTLY);
    expect_list("parameters", golden(set, "parameters")->count, g.memory,
                golden_floats(set, "parameters"), EXACTLY);
    gpt_free(&g);
}

static void load_configured(const char *said)
{
    list_golden("", "n_head");
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
        "\"scale_attn_by_inverse_layer_idx\":false,\"hidden_size\":12");
    load_configured(
        "\"n_inner\":48,\"layer_norm_epsilon\":0.00001,\"n_layer\":2.0,"
        "\"activation_function\":\"gelu_pytorch_tanh\",\"n_positions\":8");
    load_configured("\"layer_norm_epsilon\":9.999999747378752e-06");
}

/* What asks for another model; and what this one has. */
static const struct {
    const char *name, *value, *has;
} asked[] = {
    {"model_type", "\"imagegpt\"", "\"gpt2\""},
    {"activation_function", "\"gelu\"", "\"gelu_new\""},
    {"layer_norm_epsilon", "0.1", "1e-05"},
    {"scale_attn_weights", "false", "true"},
    {"scale_attn_by_inverse_layer_idx", "true", "false"},
    {"add_cross_attention", "true", "false"},
};

/* Of a model in another folder, it is the one there. */
static void folder_test(void)
{
    Gpt g;
    load_configured("\"n_layer\": 2");
    expect_true("left", !chdir("/"));
    gpt_load(&g, tap_words("%s/%s", folder, path));
    expect_integer("heads", g.n_heads, 2);
    gpt_free(&g);
}

/* What a file has instead of the golden model's tensor of that name, or
 * beside all of its: a tensor of such a type, rank and shape, whose first
 * number is this one. Without a type, it is lost. */
#define WIDE "h.0.mlp.c_fc.weight"
#define NO_TENSOR "is no tensor of a GPT-2 of 2 layers: a file without it "
static const struct {
    const char *words, *line, *name;
    int type, rank, rows, columns;
    int64_t number;
} wrong[] = {
    {"no number of heads", ": the number of heads is needed in one of them",
     "n_head", 0, 0, 0, 0, 0},
    {"no last bias", "has no tensor 'h.1.mlp.c_proj.bias'",
     "h.1.mlp.c_proj.bias", 0, 0, 0, 0, 0},
    {"a narrow table",
     "'" WIDE "' is [12, 47], of 2 dimensions: [12, 48], of 2, is needed",
     WIDE, 'f', 2, 12, 47, 0},
    {"no tokens",
     "'wte.weight' is [0, 12], of 2 dimensions: at least [1, 1], of 2, is "
     "needed",
     "wte.weight", 'f', 2, 0, 12, 0},
    {"no positions", ": at least [1, 1], of 2, is needed", "wpe.weight",
     'f', 2, 0, 12, 0},
    {"a further layer", "has no tensor 'h.2.ln_1.weight'", "h.2.ln_1.bias",
     'f', 1, 0, 0, 0},
    {"a layer that no int counts",
     "'h.99999999999.ln_1.bias' " NO_TENSOR "is needed",
     "h.99999999999.ln_1.bias", 'f', 1, 0, 0, 0},
    {"another prefix", "'mean.h.2.ln_1.bias' " NO_TENSOR "is needed",
     "mean.h.2.ln_1.bias", 'f', 1, 0, 0, 0},
    {"a mask of no block", "'.bias' " NO_TENSOR "is needed", ".bias", 'f',
     1, 12, 0, 0},
    {"whole numbers", "'ln_f.bias' has dtype I64: F32 is needed",
     "ln_f.bias", 'i', 1, 12, 0, 0},
    {"heads, of which there is no number",
     "'n_head' has 0 numbers: 1 is needed", "n_head", 'i', 1, 0, 0, 0},
    {"heads that are no whole number",
     "'n_head' has dtype F32: I64 is needed", "n_head", 'f', 0, 0, 0, 0},
    {"no heads", "0 heads for a width of 12: a divisor of 12 is needed",
     "n_head", 'i', 0, 0, 0, 0},
    {"four thousand million heads and two",
     "'n_head' is 4294967298: from 0 to 2147483647 is needed", "n_head",
     'i', 0, 0, 0, 4294967298},
};

static void load_wrong(size_t i)
{
    static int64_t numbers[48 * 12];
    *numbers = wrong[i].number;
    list_golden("", wrong[i].name);
    if (wrong[i].type)
        list[listed++] =
            tap_array_of(wrong[i].name, (char)wrong[i].type, numbers,
                         (size_t)wrong[i].rank,
                         (int[]){wrong[i].rows, wrong[i].columns});
    load_list(NULL);
}

/* ---- A model in two files, by an index */

static const char *const parts[2] = {"one", "two"};

/* The tensors of a model in turn, and an index: of all but the last, and
 * with one more. */
static void write_parts(const Gpt *g, const char *lost, const char *more)
{
    gpt_save(g, path);
    Tensors all = tensors_read(path);
    for (size_t k = 0; k < 2; k++) {
        Tensor *of = new_list(all.count, sizeof *of);
        int count = 0;
        for (size_t i = k; i < all.count; i += 2)
            of[count++] = all.tensor[i];
        tensors_write(parts[k], count, of);
        free(of);
    }
    FILE *index = fopen("file.index.json", "w");
    fprintf(index, "{\"metadata\": {\"total_size\": 7}, \"weight_map\": {");
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.tensor[i].name, lost) != 0)
            fprintf(index, "%s\"%s\": \"%s\"", i ? ", " : "",
                    all.tensor[i].name, parts[i % 2]);
    fprintf(index, "%s}}", more);
    fclose(index);
    remove(path);
    tensors_free(&all);
}

static void remove_parts(void)
{
    remove("one");
    remove("two");
    remove("file.index.json");
    write_text("");
}

static void parts_test(void)
{
    Gpt g = golden_gpt("gpt_apart");
    write_parts(&g, "", "");
    reads_again(&g);
    if (symlink(".", "folder"))
        REFUSE("folder: cannot be made");
    Gpt there;
    gpt_load(&there, "folder/file");
    expect_integer("heads", there.n_heads, g.n_heads);
    gpt_free(&there);
    remove("folder");
    remove_parts();
    gpt_free(&g);
}

static void load_parts(const char *lost, const char *more)
{
    Gpt g = golden_gpt("gpt_apart"), again;
    write_parts(&g, lost, more);
    gpt_load(&again, path);
}

static void load_index(const char *text)
{
    write_text(text);
    rename(path, "file.index.json");
    Gpt g;
    gpt_load(&g, path);
}

static void refused_parts(void)
{
    TAP_REFUSES("tensors_open", "an index that lacks one",
                "file.index.json: names 29 tensors where its files have 30",
                load_parts("wte.weight", ""));
    TAP_REFUSES("tensors_open", "an index with one more",
                "file: has no tensor 'x.y'",
                load_parts("", ", \"x.y\": \"one\""));
    TAP_REFUSES("tensors_open", "an index that begins with another",
                "file: has no tensor 'a'",
                load_index("{\"weight_map\": {\"a\": \"one\"}}"));
    TAP_REFUSES("tensors_open", "another folder",
                "file.index.json: '../one': a file in the same folder is "
                "needed",
                load_index("{\"weight_map\": {\"a\": \"../one\"}}"));
    TAP_REFUSES("tensors_open", "no weight_map",
                "file.index.json: a \"weight_map\" of names and files is "
                "needed",
                load_index("{\"metadata\": {}}"));
    TAP_REFUSES("tensors_open", "two of them", NULL,
                load_index("{\"weight_map\": {}, \"weight_map\": {}}"));
    TAP_REFUSES("tensors_open", "a file that is not there",
                "none: cannot be read: No such file or directory",
                load_index("{\"weight_map\": {\"a\": \"none\"}}"));
    remove_parts();
}

static void refused_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        TAP_REFUSES("gpt_load", wrong[i].words, wrong[i].line,
                    load_wrong(i));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *name = asked[i].name, *value = asked[i].value;
        TAP_REFUSES("gpt_load", tap_words("%s %s", name, value),
                    tap_words("config.json: %s is %s; this model has %s",
                              name, value, asked[i].has),
                    load_configured(tap_words("\"%s\": %s", name, value)));
    }
}

int main(void)
{
    TAP_REFUSES("model_load", "a file of another model", "'token.weight'",
                model_load(&(Model){0}, "src/models/language.safetensors"));
    tap_read_golden();
    enter_folder();
    EACH_SET("gpt_save", "gpt_*-sizes", save_test(set));
    EACH_SET("gpt_save_half", "gpt_*-sizes", half_test(set));
    EACH_SET("gpt_load", "gpt_*-sizes", bfloat16_test(set));
    TAP("model_save_half: written and read again", model_test());
    refused_models();
    refused_files();
    TAP("gpt_load: names behind a prefix, an output apart", prefix_test());
    TAP("gpt_load: what changes no logits in config.json", harmless_test());
    TAP("gpt_load: a config.json in another folder", folder_test());
    TAP("gpt_load: two files, by an index", parts_test());
    refused_parts();
    remove("config.json");
    leave_folder();
    return tap_done();
}
