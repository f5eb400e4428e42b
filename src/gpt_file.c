#include "attention/gpt_file.h"
#include "attention/16_kv_cache.h"
#include "attention/float16.h"
#include "attention/model.h"
#include "support.h"
#include "support/safetensors.h"
#include "support/json.h"
#include "support/json_reader.h"

/* A model in a file, by GPT-2's names. There a layer's table stands as
 * [in][out], and the roles' three side by side. */

typedef struct {
    char name[40];
    int rows, columns; /* of the file's table; of a list rows is 0 */
    int is_turned;     /* [in][out] there, [out][in] here */
    int count;         /* our tables, which stand there side by side */
    float *part[3];
} Named;

typedef struct {
    int count;
    Named *of;
} Names;

static void add(Names *all, const char *layer, const char *table, Named e)
{
    snprintf(e.name, sizeof e.name, "%s.%s", layer, table);
    all->of[all->count++] = e;
}

static void name_norm(Names *all, const char *name, const Norm *l)
{
    add(all, name, "weight", (Named){"", 0, l->d, 0, 1, {l->weight}});
    add(all, name, "bias", (Named){"", 0, l->d, 0, 1, {l->bias}});
}

static void name_layers(Names *all, const char *name, int count,
                        const Linear layer[count])
{
    const int columns = count * layer->d_out;
    Named weight = {"", layer->d_in, columns, 1, count, {NULL}};
    Named bias = {"", 0, columns, 0, count, {NULL}};
    for (int k = 0; k < count; k++) {
        weight.part[k] = layer[k].weight;
        bias.part[k] = layer[k].bias;
    }
    add(all, name, "weight", weight);
    add(all, name, "bias", bias);
}

static void name_block(Names *all, int l, const GptBlock *b)
{
    const Attention *a = &b->attention;
    const char *const end[6] = {"ln_1", "attn.c_attn", "attn.c_proj",
                                "ln_2", "mlp.c_fc",    "mlp.c_proj"};
    char name[6][32];
    for (int k = 0; k < 6; k++)
        snprintf(name[k], sizeof name[k], "h.%d.%s", l, end[k]);
    name_norm(all, name[0], &b->norm_1);
    name_layers(all, name[1], 3,
                (const Linear[]){a->query, a->key, a->value});
    name_layers(all, name[2], 1, &a->out);
    name_norm(all, name[3], &b->norm_2);
    name_layers(all, name[4], 1, &b->up);
    name_layers(all, name[5], 1, &b->down);
}

static Names names_of(const Gpt *g)
{
    const int d = g->width;
    const Named tokens = {"", g->vocabulary, d, 0, 1, {g->tokens}};
    const Named positions = {"", g->context_length, d, 0,
                             1,  {g->positions}};
    const Named output = {"", g->vocabulary, d, 0, 1, {g->output.weight}};
    Names all = {0, new_list(12 * (size_t)g->layers + 5, sizeof *all.of)};
    add(&all, "wte", "weight", tokens);
    add(&all, "wpe", "weight", positions);
    for (int l = 0; l < g->layers; l++)
        name_block(&all, l, &g->block[l]);
    name_norm(&all, "ln_f", &g->last);
    if (g->has_own_output)
        add(&all, "lm_head", "weight", output);
    return all;
}

static Names names_of_model(const Model *m)
{
    const Attention *a = &m->attention;
    const Linear *const layer[4] = {&a->query, &a->key, &a->value, &a->out};
    static const char *const name[4] = {"query", "key", "value", "out"};
    const Named tokens = {"", m->vocabulary, a->d_x, 0, 1, {m->tokens}};
    const Named positions = {"", m->context_length, a->d_y, 0,
                             1,  {m->positions}};
    Names all = {0, new_list(10, sizeof *all.of)};
    add(&all, "token", "weight", tokens);
    add(&all, "position", "weight", positions);
    for (int k = 0; k < 4; k++) {
        const Linear *l = layer[k];
        add(&all, name[k], "weight",
            (Named){"", l->d_out, l->d_in, 0, 1, {l->weight}});
        if (l->bias)
            add(&all, name[k], "bias",
                (Named){"", 0, l->d_out, 0, 1, {l->bias}});
    }
    return all;
}

/* From the model into the file's table, or back. */
static void copy(const Named *e, int is_back, float *file)
{
    const ptrdiff_t rows = e->rows ? e->rows : 1, columns = e->columns;
    const ptrdiff_t wide = columns / e->count;
    for (ptrdiff_t k = 0; k < e->count; k++)
        for (ptrdiff_t i = 0; i < rows; i++)
            for (ptrdiff_t j = 0; j < wide; j++) {
                float *there = file + i * columns + k * wide + j;
                float *here = e->part[k] +
                              (e->is_turned ? j * rows + i : i * wide + j);
                *(is_back ? here : there) = *(is_back ? there : here);
            }
}

/* A file's name for it: lm_head alone never stands behind
 * "transformer.". */
static void full_name(const char *prefix, const char *name, char full[80])
{
    const int is_bare =
        !strncmp(name, "lm_head", 7) && !strcmp(prefix, "transformer.");
    snprintf(full, 80, "%s%s", is_bare ? "" : prefix, name);
}

/* The mask of a block, which GPT-2's files keep beside its parameters. */
static int is_mask(const char *prefix, const char *name)
{
    const size_t before = strlen(prefix);
    int end = 0;
    if (strncmp(name, prefix, before))
        return 0;
    sscanf(name + before, "h.%*d.attn.%n", &end);
    const char *last = name + before + end;
    return end && (!strcmp(last, "bias") || !strcmp(last, "masked_bias"));
}

static int is_in(const Names *all, const char *prefix, const char *name)
{
    char full[80];
    for (int i = 0; i < all->count; i++) {
        full_name(prefix, all->of[i].name, full);
        if (!strcmp(full, name))
            return 1;
    }
    return 0;
}

/* Refuses what is no part of the model. Beside it a file may have masks,
 * what gpt_training_save adds, and names without a dot, which no parameter
 * of PyTorch's GPT-2 has. */
static void nothing_else(const Gpt *g, const Tensors *file,
                         const char *prefix)
{
    Names all = names_of(g);
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->tensor[i].name;
        if (strchr(name, '.') && strncmp(name, "training.", 9) &&
            !is_mask(prefix, name) && !is_in(&all, prefix, name) &&
            !is_in(&all, "mean.", name) && !is_in(&all, "square.", name))
            REFUSE("%s: '%s' is no tensor of a GPT-2 of %d layers: a file "
                   "without it is needed",
                   file->path, name, g->layers);
    }
    free(all.of);
}

/* The numbers of a tensor of 16 bits as floats, to be freed. */
static float *floats_of(const Tensor *t)
{
    const int is_bfloat16 = t->type == 'b';
    const uint16_t *bits = is_bfloat16 ? t->data : tensor_halves(t);
    float *x = new_list(t->count, sizeof *x);
    for (size_t i = 0; i < t->count; i++)
        x[i] = is_bfloat16 ? from_bfloat16(bits[i]) : from_float16(bits[i]);
    return x;
}

/* Frees the names. */
static void take(Names all, const Tensors *file, const char *prefix)
{
    for (int i = 0; i < all.count; i++) {
        const Named *e = &all.of[i];
        char name[80];
        full_name(prefix, e->name, name);
        const Tensor *t = tensors_find(file, name);
        const int rank = e->rows ? 2 : 1;
        const int rows = e->rows ? e->rows : e->columns;
        if (t->rank != rank || t->shape[0] != rows ||
            (rank == 2 && t->shape[1] != e->columns))
            REFUSE("%s: '%s' is [%d, %d], of %d dimensions: [%d, %d], of "
                   "%d, is needed",
                   file->path, name, t->shape[0], t->shape[1], t->rank,
                   rows, rank == 2 ? e->columns : 1, rank);
        const int is_short = t->type == 'h' || t->type == 'b';
        float *own = is_short ? floats_of(t) : NULL;
        copy(e, 1, own ? own : (float *)tensor_floats(t));
        free(own);
    }
    free(all.of);
}

/* A tensor of which there must be so many numbers. */
static const Tensor *counted(const Tensors *file, const char *name,
                             int count)
{
    const Tensor *t = tensors_find(file, name);
    if (t->count != (size_t)count)
        REFUSE("%s: '%s' has %zu numbers: %d are needed", file->path, name,
               t->count, count);
    return t;
}

/* Its whole numbers, which must be from 0 to the most. */
static const int64_t *whole(const Tensors *file, const char *name,
                            int count, int64_t most)
{
    const int64_t *x = tensor_integers(counted(file, name, count));
    for (int i = 0; i < count; i++)
        if (x[i] < 0 || x[i] > most)
            REFUSE("%s: number %d of '%s' is %" PRId64
                   ": from 0 to %" PRId64 " is needed",
                   file->path, i, name, x[i], most);
    return x;
}

/* One more than the highest layer in a tensor's name, masks left out.
 * Refuses a file in which a layer below that has no first norm: one name
 * with a large number would make the program ask for that many layers. */
static int count_layers(const Tensors *file, const char *prefix)
{
    char name[80];
    int layers = 1;
    for (size_t i = 0; i < file->count; i++) {
        const char *its = file->tensor[i].name;
        int l = 0, end = 0;
        if (!strncmp(its, prefix, strlen(prefix)) && !is_mask(prefix, its))
            sscanf(its + strlen(prefix), "h.%9d.%n", &l, &end);
        layers = !end || l < layers ? layers : l + 1;
    }
    for (int l = 0; l < layers; l++) {
        snprintf(name, sizeof name, "%sh.%d.ln_1.weight", prefix, l);
        tensors_find(file, name);
    }
    return layers;
}

/* The path of config.json beside a file that lacks the number of heads. */
static void config_path(const Tensors *file, size_t size, char path[size])
{
    const char *slash = strrchr(file->path, '/');
    const int folder = slash ? (int)(slash + 1 - file->path) : 0;
    if (snprintf(path, size, "%.*sconfig.json", folder, file->path) >=
        (int)size)
        REFUSE("%s: its path must have fewer than %zu bytes", file->path,
               size);
    FILE *config = fopen(path, "rb");
    if (!config)
        REFUSE("%s: it has no 'n_head', and %s: %s: the number of heads is "
               "needed in one of them",
               file->path, path, strerror(errno));
    fclose(config);
}

/* A key that config.json may have, and the values under which it describes
 * our GPT, the usual one first; NULL ends the list. */
typedef struct {
    const char *name, *value[6];
} Setting;
enum { SETTINGS = 16, SIZES = 6 };

/* All other keys change no logits, or come with tensors that are refused.
 * (Chapter 22's GELU has five names; hidden_size and the like are second
 * names.) */
static void settings_of(const Gpt *g, char size[SIZES][12],
                        Setting setting[SETTINGS])
{
    const int sizes[SIZES] = {g->vocabulary, g->context_length,
                              g->width,      g->layers,
                              g->n_heads,    4 * g->width};
    for (int k = 0; k < SIZES; k++)
        snprintf(size[k], sizeof size[k], "%d", sizes[k]);
    const char *tied = g->has_own_output ? "false" : "true";
    const int is_equal =
        !memcmp(g->tokens, g->output.weight,
                (size_t)g->vocabulary * sizeof(float[g->width]));
    const Setting all[SETTINGS] = {
        {"model_type", {"\"gpt2\""}},
        {"activation_function",
         {"\"gelu_new\"", "\"gelu_fast\"", "\"gelu_accurate\"",
          "\"gelu_python_tanh\"", "\"gelu_pytorch_tanh\""}},
        {"layer_norm_epsilon", {"1e-05"}},
        {"scale_attn_weights", {"true"}},
        {"scale_attn_by_inverse_layer_idx", {"false"}},
        {"add_cross_attention", {"false"}},
        {"tie_word_embeddings", {tied, is_equal ? "true" : NULL}},
        {"vocab_size", {size[0]}},
        {"n_positions", {size[1]}},
        {"max_position_embeddings", {size[1]}},
        {"n_embd", {size[2]}},
        {"hidden_size", {size[2]}},
        {"n_layer", {size[3]}},
        {"num_hidden_layers", {size[3]}},
        {"num_attention_heads", {size[4]}},
        {"n_inner", {size[5], "null"}}};
    memcpy(setting, all, sizeof all);
}

/* Numbers may be written in other ways, and are compared as floats. */
static void setting_check(const char *path, const Setting *s,
                          const char *value)
{
    const char *usual = s->value[0];
    for (int k = 0; s->value[k]; k++)
        if (!strcmp(value, s->value[k]))
            return;
    if (!strchr("0123456789", *usual) ||
        strtof(value, NULL) != strtof(usual, NULL))
        REFUSE("%s: %s is %s; this model has %s", path, s->name, value,
               usual);
}

static void config_check(const Gpt *g, const char *path)
{
    char size[SIZES][12];
    Setting setting[SETTINGS];
    const char *name[SETTINGS], *value[SETTINGS];
    settings_of(g, size, setting);
    for (int k = 0; k < SETTINGS; k++)
        name[k] = setting[k].name;
    char *text = json_values(path, SETTINGS, name, value);
    for (int k = 0; k < SETTINGS; k++)
        if (value[k])
            setting_check(path, &setting[k], value[k]);
    free(text);
}

/* A table from which a model has its sizes. */
static const Tensor *table_of(const Tensors *file, const char *prefix,
                              const char *end)
{
    char name[80];
    full_name(prefix, end, name);
    const Tensor *t = tensors_find(file, name);
    if (t->rank != 2 || t->shape[0] < 1 || t->shape[1] < 1)
        REFUSE("%s: '%s' is [%d, %d], of %d dimensions: at least [1, 1], "
               "of 2, is needed",
               file->path, name, t->shape[0], t->shape[1], t->rank);
    return t;
}

static void init_from(Gpt *g, const Tensors *file)
{
    const char *prefix =
        tensors_have(file, "transformer.wte.weight") ? "transformer." : "";
    const Tensor *tokens = table_of(file, prefix, "wte.weight");
    const Tensor *positions = table_of(file, prefix, "wpe.weight");
    const int has_heads = tensors_have(file, "n_head");
    char config[1000];
    if (!has_heads)
        config_path(file, sizeof config, config);
    const Gpt sizes = {
        .vocabulary = tokens->shape[0],
        .context_length = positions->shape[0],
        .width = tokens->shape[1],
        .n_heads = has_heads ? (int)whole(file, "n_head", 1, INT_MAX)[0]
                             : json_whole_number(config, "n_head"),
        .layers = count_layers(file, prefix),
        .has_own_output = tensors_have(file, "lm_head.weight")};
    if (sizes.n_heads < 1 || sizes.width % sizes.n_heads)
        REFUSE("%s: %d heads for a width of %d: a divisor of %d is needed",
               file->path, sizes.n_heads, sizes.width, sizes.width);
    gpt_init(g, &sizes);
    take(names_of(g), file, prefix);
    nothing_else(g, file, prefix);
    if (!has_heads)
        config_check(g, config);
}

void gpt_load(Gpt *g, const char *path)
{
    Tensors file = tensors_read(path);
    init_from(g, &file);
    tensors_free(&file);
}

/* Tensors that are to be written into one file, with copies of their names
 * and numbers. */
typedef struct {
    int count;
    Tensor *tensor;
} Saving;

static void save(Saving *s, const char *name, char type, int rank,
                 const int *shape, const void *data)
{
    const size_t size = type == 'f' ? sizeof(float) : sizeof(double);
    Tensor t = {.type = type, .rank = rank, .count = 1};
    char *copied = new_list(strlen(name) + 1, 1);
    for (int k = 0; k < 4; k++)
        t.shape[k] = k < rank ? shape[k] : 1;
    for (int k = 0; k < rank; k++)
        t.count *= (size_t)shape[k];
    t.data = new_list(t.count, size);
    s->tensor = realloc(s->tensor, (size_t)(s->count + 1) * sizeof t);
    if (!s->tensor)
        REFUSE("'%s' does not fit into memory: less is needed", name);
    if (data)
        memcpy(t.data, data, t.count * size);
    t.name = strcpy(copied, name);
    s->tensor[s->count++] = t;
}

/* Frees the names. */
static void save_all(Saving *s, const char *prefix, Names all)
{
    for (int i = 0; i < all.count; i++) {
        const Named *e = &all.of[i];
        const int shape[2] = {e->rows ? e->rows : e->columns, e->columns};
        char name[80];
        snprintf(name, sizeof name, "%s%s", prefix, e->name);
        save(s, name, 'f', e->rows ? 2 : 1, shape, NULL);
        copy(e, 0, s->tensor[s->count - 1].data);
    }
    free(all.of);
}

/* Makes the float tensors float16. */
static void halve(Saving *s)
{
    for (int i = 0; i < s->count; i++) {
        Tensor *t = &s->tensor[i];
        if (t->type != 'f')
            continue;
        const float *x = t->data;
        uint16_t *bits = new_list(t->count, sizeof *bits);
        for (size_t k = 0; k < t->count; k++) {
            if (!(fabsf(x[k]) < 65520))
                REFUSE("'%s' has %g: a number below 65520 is needed, which "
                       "a float16 can hold",
                       t->name, (double)x[k]);
            bits[k] = to_float16(x[k]);
        }
        free(t->data);
        t->data = bits;
        t->type = 'h';
    }
}

static void write_saved(Saving *s, const char *path)
{
    tensors_write(path, s->count, s->tensor);
    for (int i = 0; i < s->count; i++) {
        free((char *)s->tensor[i].name);
        free(s->tensor[i].data);
    }
    free(s->tensor);
    *s = (Saving){0};
}

/* All that is in a model's file. */
static Saving saving_of(const Gpt *g)
{
    Saving s = {0};
    const int64_t heads = g->n_heads;
    save_all(&s, "", names_of(g));
    save(&s, "n_head", 'i', 0, NULL, &heads);
    return s;
}

void gpt_save(const Gpt *g, const char *path)
{
    Saving s = saving_of(g);
    write_saved(&s, path);
}

void gpt_save_half(const Gpt *g, const char *path)
{
    Saving s = saving_of(g);
    halve(&s);
    write_saved(&s, path);
}

void model_save_half(const Model *m, const char *path)
{
    Saving s = {0};
    const int64_t heads = m->attention.n_heads;
    save_all(&s, "", names_of_model(m));
    save(&s, "n_head", 'i', 0, NULL, &heads);
    halve(&s);
    write_saved(&s, path);
}

void model_load(Model *m, const char *path)
{
    Tensors file = tensors_read(path);
    const Tensor *tokens = table_of(&file, "", "token.weight");
    const Tensor *positions = table_of(&file, "", "position.weight");
    const int heads = (int)whole(&file, "n_head", 1, INT_MAX)[0];
    const int wide = table_of(&file, "", "query.weight")->shape[0];
    const int value = table_of(&file, "", "value.weight")->shape[0];
    if (heads < 1 || wide % heads || value % heads)
        REFUSE("%s: %d heads for queries of %d and values of %d: a divisor "
               "of both is needed",
               path, heads, wide, value);
    Model sizes = {.vocabulary = tokens->shape[0],
                   .context_length = positions->shape[0],
                   .attention = {.d_x = tokens->shape[1],
                                 .d_y = positions->shape[1],
                                 .n_heads = heads,
                                 .d_k = wide / heads,
                                 .d_v = value / heads}};
    sizes.attention.has_bias = tensors_have(&file, "query.bias");
    sizes.attention.has_out_bias = tensors_have(&file, "out.bias");
    model_init(m, &sizes);
    const Names all = names_of_model(m);
    if (file.count != (size_t)all.count + 1)
        REFUSE("%s: %zu tensors: %d are needed", path, file.count,
               all.count + 1);
    take(all, &file, "");
    tensors_free(&file);
}

/* Where a training stands: the state of its generator, and how many steps
 * have been done. */
enum { STANDS = RANDOM_STATE + 3 };

/* What must be the same where a training goes on: its sizes, with a number
 * for the text that it learns from, and how Adam is set, but for its rate,
 * which each step has anew. */
enum { SAME = 16 };
static const char *const same_name[SAME] = {
    "vocabulary", "context",       "width",
    "n_heads",    "layers",        "has_own_output",
    "texts",      "bytes of text", "checksum of the text",
    "beta_1",     "beta_2",        "epsilon",
    "decay",      "is_coupled",    "repeats",
    "dropout"};

/* Two texts have two checksums, most probably. */
static uint32_t checksum(int bytes, const char text[bytes])
{
    uint32_t sum = 0;
    for (int i = 0; i < bytes; i++)
        sum = sum * 31 + (unsigned char)text[i];
    return sum;
}

static void same_of(const GptTraining *t, double same[SAME])
{
    const Gpt *g = &t->model;
    const Adam *how = &t->adam;
    const double all[SAME] = {
        g->vocabulary, g->context_length, g->width,
        g->n_heads,    g->layers,         !!g->has_own_output,
        t->texts,      t->bytes,          checksum(t->bytes, t->text),
        how->beta_1,   how->beta_2,       how->epsilon,
        how->decay,    how->is_coupled,   !!t->repeats,
        t->dropout};
    memcpy(same, all, sizeof all);
}

static void check_same(const Tensors *file, const GptTraining *t)
{
    double same[SAME];
    same_of(t, same);
    const double *there =
        tensor_doubles(counted(file, "training.same", SAME));
    for (int i = 0; i < SAME; i++)
        if (there[i] != same[i])
            REFUSE("%s: a training whose %s is %.10g: %.10g is needed",
                   file->path, same_name[i], there[i], same[i]);
}

void gpt_training_save(const GptTraining *t, const char *path)
{
    Saving s = {0};
    int64_t stands[STANDS], heads = t->model.n_heads;
    const double spare = t->random.has_spare ? t->random.spare : 0;
    double same[SAME];
    same_of(t, same);
    for (int i = 0; i < RANDOM_STATE; i++)
        stands[i] = t->random.state[i];
    stands[RANDOM_STATE] = t->random.next;
    stands[RANDOM_STATE + 1] = t->random.has_spare;
    stands[RANDOM_STATE + 2] = t->step;
    save_all(&s, "", names_of(&t->model));
    save_all(&s, "mean.", names_of(&t->mean));
    save_all(&s, "square.", names_of(&t->square));
    save(&s, "n_head", 'i', 0, NULL, &heads);
    save(&s, "training.same", 'd', 1, (int[]){SAME}, same);
    save(&s, "training.stands", 'i', 1, (int[]){STANDS}, stands);
    save(&s, "training.kept", 'd', 0, NULL, &spare);
    if (t->noted)
        save(&s, "training.notes", 'd', 1, &t->noted, t->notes);
    write_saved(&s, path);
}

/* Where the training stands. */
static const int64_t *stands_of(const Tensors *file)
{
    static const char *const what[] = {"random number", "step"};
    const int at[] = {RANDOM_STATE, RANDOM_STATE + 2};
    const int most[] = {RANDOM_STATE, INT_MAX};
    const int64_t *stands =
        whole(file, "training.stands", STANDS, UINT32_MAX);
    for (int i = 0; i < 2; i++)
        if (stands[at[i]] > most[i])
            REFUSE("%s: a training at %s %" PRId64 ": at most %d is needed",
                   file->path, what[i], stands[at[i]], most[i]);
    return stands;
}

void gpt_training_load(GptTraining *t, const char *path)
{
    Tensors file = tensors_read(path);
    check_same(&file, t);
    const int64_t *stands = stands_of(&file);
    take(names_of(&t->model), &file, "");
    take(names_of(&t->mean), &file, "mean.");
    take(names_of(&t->square), &file, "square.");
    nothing_else(&t->model, &file, "");
    for (int i = 0; i < RANDOM_STATE; i++)
        t->random.state[i] = (uint32_t)stands[i];
    t->random.next = (int)stands[RANDOM_STATE];
    t->random.has_spare = (int)stands[RANDOM_STATE + 1];
    t->random.spare = tensor_doubles(counted(&file, "training.kept", 1))[0];
    t->step = (int)stands[RANDOM_STATE + 2];
    t->noted = 0;
    if (tensors_have(&file, "training.notes")) {
        const Tensor *notes = tensors_find(&file, "training.notes");
        const size_t size = notes->count * sizeof *t->notes;
        const double *numbers = tensor_doubles(notes);
        if (size)
            memcpy(gpt_training_note(t, (int)notes->count), numbers, size);
    }
    tensors_free(&file);
}
