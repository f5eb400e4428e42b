#include "attention/gpt_file.h"
#include "attention/16_kv_cache.h"
#include "attention/float16.h"
#include "attention/model.h"
#include "support.h"
#include "support/safetensors.h"
#include "support/json.h"

/* A model in a file, by GPT-2's names. There a layer's table stands as
 * [in][out], and the roles' three side by side. */

/* A table of a file, and where its numbers are in a model. */
typedef struct {
    char name[40];
    int rows, columns; /* of the file's table; of a list rows is 0 */
    int is_transposed; /* [in][out] there, [out][in] here */
    int count;         /* our tables, which stand there side by side */
    float *part[3];
} Param;

typedef struct {
    int count;
    Param *param;
} Params;

static void add_param(Params *all, const char *layer, const char *table,
                      Param p)
{
    snprintf(p.name, sizeof p.name, "%s.%s", layer, table);
    all->param[all->count++] = p;
}

static void add_norm(Params *all, const char *name, const Norm *l)
{
    add_param(all, name, "weight", (Param){"", 0, l->d, 0, 1, {l->weight}});
    add_param(all, name, "bias", (Param){"", 0, l->d, 0, 1, {l->bias}});
}

static void add_layers(Params *all, const char *name, int count,
                       const Linear layer[count])
{
    const int columns = count * layer->d_out;
    Param weight = {"", layer->d_in, columns, 1, count, {NULL}};
    Param bias = {"", 0, columns, 0, count, {NULL}};
    for (int k = 0; k < count; k++) {
        weight.part[k] = layer[k].weight;
        bias.part[k] = layer[k].bias;
    }
    add_param(all, name, "weight", weight);
    add_param(all, name, "bias", bias);
}

static void add_block(Params *all, int l, const GptBlock *b)
{
    const Attention *a = &b->attention;
    const char *const end[6] = {"ln_1", "attn.c_attn", "attn.c_proj",
                                "ln_2", "mlp.c_fc",    "mlp.c_proj"};
    char name[6][32];
    for (int k = 0; k < 6; k++)
        snprintf(name[k], sizeof name[k], "h.%d.%s", l, end[k]);
    add_norm(all, name[0], &b->norm_1);
    add_layers(all, name[1], 3,
               (const Linear[]){a->query, a->key, a->value});
    add_layers(all, name[2], 1, &a->out);
    add_norm(all, name[3], &b->norm_2);
    add_layers(all, name[4], 1, &b->up);
    add_layers(all, name[5], 1, &b->down);
}

static Params gpt_params(const Gpt *g)
{
    const int d = g->width;
    const Param tokens = {"", g->vocabulary, d, 0, 1, {g->tokens}};
    const Param positions = {"", g->context_length, d, 0,
                             1,  {g->positions}};
    const Param output = {"", g->vocabulary, d, 0, 1, {g->output.weight}};
    Params all = {0,
                  new_list(12 * (size_t)g->layers + 5, sizeof *all.param)};
    add_param(&all, "wte", "weight", tokens);
    add_param(&all, "wpe", "weight", positions);
    for (int l = 0; l < g->layers; l++)
        add_block(&all, l, &g->block[l]);
    add_norm(&all, "ln_f", &g->last);
    if (g->has_own_output)
        add_param(&all, "lm_head", "weight", output);
    return all;
}

static Params model_params(const Model *m)
{
    const Attention *a = &m->attention;
    const Linear *const layer[4] = {&a->query, &a->key, &a->value, &a->out};
    static const char *const name[4] = {"query", "key", "value", "out"};
    const Param tokens = {"", m->vocabulary, a->d_x, 0, 1, {m->tokens}};
    const Param positions = {"", m->context_length, a->d_y, 0,
                             1,  {m->positions}};
    Params all = {0, new_list(10, sizeof *all.param)};
    add_param(&all, "token", "weight", tokens);
    add_param(&all, "position", "weight", positions);
    for (int k = 0; k < 4; k++) {
        const Linear *l = layer[k];
        add_param(&all, name[k], "weight",
                  (Param){"", l->d_out, l->d_in, 0, 1, {l->weight}});
        if (l->bias)
            add_param(&all, name[k], "bias",
                      (Param){"", 0, l->d_out, 0, 1, {l->bias}});
    }
    return all;
}

/* The model's number for entry [i][j] of the file's table. */
static float *param_entry(const Param *p, ptrdiff_t i, ptrdiff_t j)
{
    const ptrdiff_t columns = p->columns / p->count, k = j % columns;
    return p->part[j / columns] +
           (p->is_transposed ? k * p->rows + i : i * columns + k);
}

static void param_load(const Param *p, const float *file)
{
    for (int i = 0; i < p->rows || i == 0; i++)
        for (int j = 0; j < p->columns; j++)
            *param_entry(p, i, j) = *file++;
}

static void param_save(const Param *p, float *file)
{
    for (int i = 0; i < p->rows || i == 0; i++)
        for (int j = 0; j < p->columns; j++)
            *file++ = *param_entry(p, i, j);
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

static int params_have(const Params *all, const char *prefix,
                       const char *name)
{
    char full[80];
    for (int i = 0; i < all->count; i++) {
        full_name(prefix, all->param[i].name, full);
        if (!strcmp(full, name))
            return 1;
    }
    return 0;
}

/* Refuses what is no part of the model. Beside it a file may have masks,
 * and names without a dot, which no parameter of PyTorch's GPT-2 has. */
static void check_no_other(const Gpt *g, const Tensors *file,
                           const char *prefix)
{
    Params all = gpt_params(g);
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->tensor[i].name;
        if (strchr(name, '.') && !is_mask(prefix, name) &&
            !params_have(&all, prefix, name))
            REFUSE("%s: '%s' is no tensor of a GPT-2 of %d layers: a file "
                   "without it is needed",
                   file->path, name, g->layers);
    }
    free(all.param);
}

/* The numbers of a tensor of 16 bits as floats, to be freed. */
static float *new_floats(const Tensor *t)
{
    const int is_bfloat16 = t->type == 'b';
    const uint16_t *bits = is_bfloat16 ? t->data : tensor_halves(t);
    float *x = new_list(t->count, sizeof *x);
    for (size_t i = 0; i < t->count; i++)
        x[i] = is_bfloat16 ? from_bfloat16(bits[i]) : from_float16(bits[i]);
    return x;
}

/* Into the model, from the file. Frees the list. */
static void params_load(Params all, const Tensors *file, const char *prefix)
{
    for (int i = 0; i < all.count; i++) {
        const Param *p = &all.param[i];
        char name[80];
        full_name(prefix, p->name, name);
        const Tensor *t = tensors_find(file, name);
        const int rank = p->rows ? 2 : 1;
        const int rows = p->rows ? p->rows : p->columns;
        if (t->rank != rank || t->shape[0] != rows ||
            (rank == 2 && t->shape[1] != p->columns))
            REFUSE("%s: '%s' is [%d, %d], of %d dimensions: [%d, %d], of "
                   "%d, is needed",
                   file->path, name, t->shape[0], t->shape[1], t->rank,
                   rows, rank == 2 ? p->columns : 1, rank);
        const int is_short = t->type == 'h' || t->type == 'b';
        float *own = is_short ? new_floats(t) : NULL;
        param_load(p, own ? own : tensor_floats(t));
        free(own);
    }
    free(all.param);
}

/* A tensor of which there must be so many numbers. */
static const Tensor *find_counted(const Tensors *file, const char *name,
                                  int count)
{
    const Tensor *t = tensors_find(file, name);
    if (t->count != (size_t)count)
        REFUSE("%s: '%s' has %zu numbers: %d are needed", file->path, name,
               t->count, count);
    return t;
}

/* Its whole numbers, which must be from 0 to the most. */
static const int64_t *find_integers(const Tensors *file, const char *name,
                                    int count, int64_t most)
{
    const int64_t *x = tensor_integers(find_counted(file, name, count));
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

/* A key that config.json may have, and the values under which it describes
 * our GPT, the usual one first, or what of the model says that one. All
 * other keys change no logits, or come with tensors that are refused.
 * (Chapter 22's GELU has five names; hidden_size and the like are second
 * names.) */
enum { VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS, INNER, TIED, NOTHING };
static const struct {
    const char *name;
    int says;
    const char *value[6];
} config_key[] = {{"n_head", HEADS, {NULL}},
                  {"model_type", NOTHING, {"\"gpt2\""}},
                  {"activation_function",
                   NOTHING,
                   {"\"gelu_new\"", "\"gelu_fast\"", "\"gelu_accurate\"",
                    "\"gelu_python_tanh\"", "\"gelu_pytorch_tanh\""}},
                  {"layer_norm_epsilon", NOTHING, {"1e-05"}},
                  {"scale_attn_weights", NOTHING, {"true"}},
                  {"scale_attn_by_inverse_layer_idx", NOTHING, {"false"}},
                  {"add_cross_attention", NOTHING, {"false"}},
                  {"tie_word_embeddings", TIED, {NULL}},
                  {"vocab_size", VOCABULARY, {NULL}},
                  {"n_positions", CONTEXT, {NULL}},
                  {"max_position_embeddings", CONTEXT, {NULL}},
                  {"n_embd", WIDTH, {NULL}},
                  {"hidden_size", WIDTH, {NULL}},
                  {"n_layer", LAYERS, {NULL}},
                  {"num_hidden_layers", LAYERS, {NULL}},
                  {"num_attention_heads", HEADS, {NULL}},
                  {"n_inner", INNER, {"null"}}};
enum { SETTINGS = sizeof config_key / sizeof *config_key };

/* What config.json has, beside a file that lacks the number of heads. */
typedef struct {
    char path[1000], *text;
    const char *value[SETTINGS]; /* in the text, or NULL */
} Config;

static void config_read(Config *c, const Tensors *file)
{
    const char *slash = strrchr(file->path, '/'), *name[SETTINGS];
    const int folder = slash ? (int)(slash + 1 - file->path) : 0;
    if (snprintf(c->path, sizeof c->path, "%.*sconfig.json", folder,
                 file->path) >= (int)sizeof c->path)
        REFUSE("%s: its path must have fewer than %zu bytes", file->path,
               sizeof c->path);
    FILE *config = fopen(c->path, "rb");
    if (!config)
        REFUSE("%s: it has no 'n_head', and %s: %s: the number of heads is "
               "needed in one of them",
               file->path, c->path, strerror(errno));
    fclose(config);
    for (int k = 0; k < SETTINGS; k++)
        name[k] = config_key[k].name;
    c->text = json_values(c->path, SETTINGS, name, c->value);
}

/* Numbers may be written in other ways, and are compared as floats. */
static void setting_check(const Config *c, int k, const char *usual,
                          const char *other)
{
    const char *value = c->value[k];
    int is_ours = !strcmp(value, usual) || (other && !strcmp(value, other));
    for (int i = 0; config_key[k].value[i]; i++)
        is_ours |= !strcmp(value, config_key[k].value[i]);
    if (!is_ours && (!strchr("0123456789", *usual) ||
                     strtof(value, NULL) != strtof(usual, NULL)))
        REFUSE("%s: %s is %s; this model has %s", c->path,
               config_key[k].name, value, usual);
}

static void config_check(const Gpt *g, const Config *c)
{
    const int size[TIED] = {g->vocabulary, g->context_length, g->width,
                            g->layers,     g->n_heads,        4 * g->width};
    char usual[NOTHING][12];
    for (int k = 0; k < TIED; k++)
        snprintf(usual[k], sizeof usual[k], "%d", size[k]);
    strcpy(usual[TIED], g->has_own_output ? "false" : "true");
    const int is_equal =
        !memcmp(g->tokens, g->output.weight,
                (size_t)g->vocabulary * sizeof(float[g->width]));
    for (int k = 0; k < SETTINGS; k++) {
        const int says = config_key[k].says;
        if (c->value[k])
            setting_check(
                c, k, says == NOTHING ? *config_key[k].value : usual[says],
                says == TIED && is_equal ? "true" : NULL);
    }
}

/* A table from which a model has its sizes. */
static const Tensor *find_table(const Tensors *file, const char *prefix,
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

void gpt_load(Gpt *g, const char *path)
{
    Tensors all = tensors_read(path), *file = &all;
    const char *prefix =
        tensors_have(file, "transformer.wte.weight") ? "transformer." : "";
    const Tensor *tokens = find_table(file, prefix, "wte.weight");
    const Tensor *positions = find_table(file, prefix, "wpe.weight");
    const int has_heads = tensors_have(file, "n_head");
    Config config = {.text = NULL};
    if (!has_heads)
        config_read(&config, file);
    const Gpt sizes = {
        .vocabulary = tokens->shape[0],
        .context_length = positions->shape[0],
        .width = tokens->shape[1],
        .n_heads =
            has_heads
                ? (int)find_integers(file, "n_head", 1, INT_MAX)[0]
                : json_whole_number(config.path, "n_head", *config.value),
        .layers = count_layers(file, prefix),
        .has_own_output = tensors_have(file, "lm_head.weight")};
    if (sizes.n_heads < 1 || sizes.width % sizes.n_heads)
        REFUSE("%s: %d heads for a width of %d: a divisor of %d is needed",
               path, sizes.n_heads, sizes.width, sizes.width);
    gpt_init(g, &sizes);
    params_load(gpt_params(g), file, prefix);
    check_no_other(g, file, prefix);
    if (!has_heads)
        config_check(g, &config);
    free(config.text);
    tensors_free(file);
}

/* Tensors that are to be written into one file, with copies of their names
 * and numbers, each name behind its numbers. */
typedef struct {
    int count;
    Tensor *tensor;
} TensorList;

/* The numbers are those of a list, or 0 with NULL; returns where they are. */
static void *add_tensor(TensorList *all, const char *prefix,
                        const char *name, char type, int rank,
                        const int *shape, const void *list)
{
    Tensor t = {.type = type, .rank = rank, .count = 1};
    for (int k = 0; k < rank; k++) {
        t.shape[k] = shape[k];
        t.count *= (size_t)shape[k];
    }
    const size_t letters = strlen(prefix) + strlen(name) + 1;
    const size_t bytes =
        t.count * (type == 'f' ? sizeof(float) : sizeof(double));
    char *numbers = new_list(bytes + letters, 1);
    if (list)
        memcpy(numbers, list, bytes);
    snprintf(numbers + bytes, letters, "%s%s", prefix, name);
    t.data = numbers;
    t.name = numbers + bytes;
    all->tensor = realloc(all->tensor, (size_t)(all->count + 1) * sizeof t);
    if (!all->tensor)
        REFUSE("'%s' does not fit into memory: less is needed", t.name);
    all->tensor[all->count++] = t;
    return numbers;
}

/* From the model, into the file's tensors. Frees the list of the model's. */
static void params_save(Params all, TensorList *to, const char *prefix)
{
    for (int i = 0; i < all.count; i++) {
        const Param *p = &all.param[i];
        const int shape[2] = {p->rows ? p->rows : p->columns, p->columns};
        param_save(p, add_tensor(to, prefix, p->name, 'f', p->rows ? 2 : 1,
                                 shape, NULL));
    }
    free(all.param);
}

static void add_heads(TensorList *all, int n_heads)
{
    add_tensor(all, "", "n_head", 'i', 0, NULL, &(int64_t){n_heads});
}

/* Makes the float tensors float16, each in its own place. */
static void halve(TensorList *all)
{
    for (int i = 0; i < all->count; i++) {
        Tensor *t = &all->tensor[i];
        if (t->type != 'f')
            continue;
        const float *x = t->data;
        uint16_t *bits = t->data;
        for (size_t k = 0; k < t->count; k++) {
            if (!(fabsf(x[k]) < 65520))
                REFUSE("'%s' has %g: a number below 65520 is needed, which "
                       "a float16 can hold",
                       t->name, (double)x[k]);
            bits[k] = to_float16(x[k]);
        }
        t->type = 'h';
    }
}

static void write_tensors(TensorList *all, const char *path)
{
    tensors_write(path, all->count, all->tensor);
    for (int i = 0; i < all->count; i++)
        free(all->tensor[i].data);
    free(all->tensor);
    *all = (TensorList){0};
}

/* All that is in a model's file. */
static TensorList gpt_tensors(const Gpt *g)
{
    TensorList all = {0};
    params_save(gpt_params(g), &all, "");
    add_heads(&all, g->n_heads);
    return all;
}

void gpt_save(const Gpt *g, const char *path)
{
    TensorList all = gpt_tensors(g);
    write_tensors(&all, path);
}

void gpt_save_half(const Gpt *g, const char *path)
{
    TensorList all = gpt_tensors(g);
    halve(&all);
    write_tensors(&all, path);
}

void model_save_half(const Model *m, const char *path)
{
    TensorList all = {0};
    params_save(model_params(m), &all, "");
    add_heads(&all, m->attention.n_heads);
    halve(&all);
    write_tensors(&all, path);
}

void model_load(Model *m, const char *path)
{
    Tensors file = tensors_read(path);
    const Tensor *tokens = find_table(&file, "", "token.weight");
    const Tensor *positions = find_table(&file, "", "position.weight");
    const int heads = (int)find_integers(&file, "n_head", 1, INT_MAX)[0];
    const int wide = find_table(&file, "", "query.weight")->shape[0];
    const int value = find_table(&file, "", "value.weight")->shape[0];
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
    const Params all = model_params(m);
    if (file.count != (size_t)all.count + 1)
        REFUSE("%s: %zu tensors: %d are needed", path, file.count,
               all.count + 1);
    params_load(all, &file, "");
    tensors_free(&file);
}
