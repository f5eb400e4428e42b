#include "attention/gpt_file.h"
#include "attention/16_kv_cache.h"
#include "attention/float16.h"
#include "attention/model.h"
#include "support.h"
#include "support/json.h"
#include "support/safetensors.h"

/* ---- The parameters of a model by their names in a file. */

/* A table of a file, and where its numbers are in a model. */
typedef struct {
    char name[40];
    int rows, columns; /* of the file's table; of a list rows is 0 */
    int is_transposed; /* [in][out] there, [out][in] here */
    int count;         /* our tables, side by side in the file's */
    float *part[3];
} Param;

/* All of a model; free `param` after use. */
typedef struct {
    int count;
    Param *param;
} Params;

static void add_param(Params *all, const char *block, const char *layer,
                      const char *end, Param p)
{
    snprintf(p.name, sizeof p.name, "%s%s.%s", block, layer, end);
    all->param[all->count++] = p;
}

/* A table, or with 0 rows a list, the same in the file as in memory. */
static void add_plain(Params *all, const char *block, const char *layer,
                      const char *end, int rows, int columns, float *x)
{
    add_param(all, block, layer, end,
              (Param){"", rows, columns, 0, 1, {x}});
}

static void add_norm(Params *all, const char *block, const char *name,
                     const Norm *l)
{
    add_plain(all, block, name, "weight", 0, l->d, l->weight);
    add_plain(all, block, name, "bias", 0, l->d, l->bias);
}

static void add_layers(Params *all, const char *block, const char *name,
                       int count, const Linear layer[count])
{
    const int columns = count * layer->d_out;
    Param weight = {"", layer->d_in, columns, 1, count, {NULL}};
    Param bias = {"", 0, columns, 0, count, {NULL}};
    for (int k = 0; k < count; k++) {
        weight.part[k] = layer[k].weight;
        bias.part[k] = layer[k].bias;
    }
    add_param(all, block, name, "weight", weight);
    add_param(all, block, name, "bias", bias);
}

/* All of a model, by GPT-2's names: there a layer's table is [in][out], and
 * those of query, key and value are side by side. */
static Params gpt_params(const Gpt *g)
{
    const int d = g->width;
    Params all = {0,
                  new_list(12 * (size_t)g->layers + 5, sizeof *all.param)};
    add_plain(&all, "", "wte", "weight", g->vocabulary, d, g->tokens);
    add_plain(&all, "", "wpe", "weight", g->context_length, d,
              g->positions);
    for (int l = 0; l < g->layers; l++) {
        const GptBlock *b = &g->block[l];
        const Attention *a = &b->attention;
        char h[16];
        snprintf(h, sizeof h, "h.%d.", l);
        add_norm(&all, h, "ln_1", &b->norm_1);
        add_layers(&all, h, "attn.c_attn", 3,
                   (const Linear[]){a->query, a->key, a->value});
        add_layers(&all, h, "attn.c_proj", 1, &a->out);
        add_norm(&all, h, "ln_2", &b->norm_2);
        add_layers(&all, h, "mlp.c_fc", 1, &b->up);
        add_layers(&all, h, "mlp.c_proj", 1, &b->down);
    }
    add_norm(&all, "", "ln_f", &g->last);
    if (g->has_own_output)
        add_plain(&all, "", "lm_head", "weight", g->vocabulary, d,
                  g->output.weight);
    return all;
}

/* By those of chapter 21's PyTorch. */
static Params model_params(const Model *m)
{
    const Attention *a = &m->attention;
    const Linear *const layer[4] = {&a->query, &a->key, &a->value, &a->out};
    static const char *const name[4] = {"query", "key", "value", "out"};
    Params all = {0, new_list(10, sizeof *all.param)};
    add_plain(&all, "", "token", "weight", m->vocabulary, a->d_x,
              m->tokens);
    add_plain(&all, "", "position", "weight", m->context_length, a->d_y,
              m->positions);
    for (int k = 0; k < 4; k++) {
        const Linear *l = layer[k];
        add_plain(&all, "", name[k], "weight", l->d_out, l->d_in,
                  l->weight);
        if (l->bias)
            add_plain(&all, "", name[k], "bias", 0, l->d_out, l->bias);
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

/* Entry i of a row, whose type is 'h', 'b' or 'f'. */
static float number_at(char type, const void *row, int i)
{
    const uint16_t *bits = row;
    return type == 'h'   ? from_float16(bits[i])
           : type == 'b' ? from_bfloat16(bits[i])
                         : ((const float *)row)[i];
}

static void param_load(const Param *p, const Tensor *t)
{
    const size_t columns = (size_t)p->columns;
    float *row = new_block(columns);
    if (!strchr("hb", t->type))
        tensor_floats(t); /* refuses any other type */
    for (int i = 0; i < p->rows || i == 0; i++) {
        tensor_entries(t, (size_t)i * columns, columns, row);
        for (int j = 0; j < p->columns; j++)
            *param_entry(p, i, j) = number_at(t->type, row, j);
    }
    free(row);
}

static void param_save(const Param *p, float *file)
{
    for (int i = 0; i < p->rows || i == 0; i++)
        for (int j = 0; j < p->columns; j++)
            *file++ = *param_entry(p, i, j);
}

/* A file's name for it: lm_head alone never has "transformer." before
 * it. */
static void full_name(const char *prefix, const char *name, char full[80])
{
    const int is_bare =
        !strncmp(name, "lm_head", 7) && !strcmp(prefix, "transformer.");
    snprintf(full, 80, "%s%s", is_bare ? "" : prefix, name);
}

/* Is there one of that name, with the prefix before its own? */
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

/* Into the model, from a file, which may have numbers of 16 bits; frees
 * `all.param`. Refuses tensors that are missing or of other shapes. */
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
        param_load(p, t);
    }
    free(all.param);
}

/* A tensor for a file, whose numbers are to be freed: in 16 bits, in the
 * place of those in 32, if it is_half. */
static Tensor param_tensor(const Param *p, int is_half)
{
    const int rows = p->rows ? p->rows : 1;
    const size_t count = (size_t)rows * (size_t)p->columns;
    float *x = new_block(count);
    uint16_t *bits = (void *)x;
    param_save(p, x);
    for (size_t k = 0; is_half && k < count; k++) {
        if (!(fabsf(x[k]) < 65520))
            REFUSE("'%s' has %g: a number below 65520 is needed, which a "
                   "float16 can hold",
                   p->name, (double)x[k]);
        bits[k] = to_float16(x[k]);
    }
    return (Tensor){.name = p->name,
                    .type = is_half ? 'h' : 'f',
                    .rank = p->rows ? 2 : 1,
                    .shape = {p->rows ? rows : p->columns, p->columns},
                    .data = x};
}

/* From the model into a file, with its number of heads as "n_head", and in
 * numbers of 16 bits if is_half; frees `all.param`. */
static void params_write(Params all, int n_heads, int is_half,
                         const char *path)
{
    int64_t heads = n_heads;
    Tensor *tensor = new_list((size_t)all.count + 1, sizeof *tensor);
    for (int i = 0; i < all.count; i++)
        tensor[i] = param_tensor(&all.param[i], is_half);
    tensor[all.count] =
        (Tensor){.name = "n_head", .type = 'i', .data = &heads};
    tensors_write(path, all.count + 1, tensor);
    for (int i = 0; i < all.count; i++)
        free(tensor[i].data);
    free(tensor);
    free(all.param);
}

/* ---- The config.json beside a model's file. */

/* A key that config.json may have, and the values under which it describes
 * our GPT, the usual one first. All other keys change no logits, say what
 * the tensors' shapes tell, or come with tensors that are refused. (Chapter
 * 22's GELU has five names.) */
static const struct {
    const char *name, *value[6];
} key[] = {{"n_head", {NULL}},
           {"model_type", {"\"gpt2\""}},
           {"activation_function",
            {"\"gelu_new\"", "\"gelu_fast\"", "\"gelu_accurate\"",
             "\"gelu_python_tanh\"", "\"gelu_pytorch_tanh\""}},
           {"layer_norm_epsilon", {"1e-05"}},
           {"scale_attn_weights", {"true"}},
           {"scale_attn_by_inverse_layer_idx", {"false"}},
           {"add_cross_attention", {"false"}}};
enum { KEYS = sizeof key / sizeof *key };

/* Refuses a value under which the model is another one. A number may be
 * written in other ways, and is compared as a float. */
static void check_value(const char *path, int k, const char *value)
{
    const char *const *ours = key[k].value, *usual = *ours;
    while (*ours && strcmp(value, *ours))
        ours++;
    if (!*ours && (!strchr("0123456789", *usual) ||
                   strtof(value, NULL) != strtof(usual, NULL)))
        REFUSE("%s: %s is %s; this model has %s", path, key[k].name, value,
               usual);
}

/* Its number of heads. Refuses a file that cannot be read, is no JSON, has
 * no whole number "n_head", or asks for another model, as gpt_load says. */
static int config_heads(const char *model_path)
{
    const char *slash = strrchr(model_path, '/'), *name[KEYS], *value[KEYS];
    const int folder = slash ? (int)(slash + 1 - model_path) : 0;
    char path[1000];
    if (snprintf(path, sizeof path, "%.*sconfig.json", folder,
                 model_path) >= (int)sizeof path)
        REFUSE("%s: its path must have fewer than %zu bytes", model_path,
               sizeof path);
    FILE *config = fopen(path, "rb");
    if (!config)
        REFUSE("%s: it has no 'n_head', and %s: %s: the number of heads is "
               "needed in one of them",
               model_path, path, strerror(errno));
    fclose(config);
    for (int k = 0; k < KEYS; k++)
        name[k] = key[k].name;
    char *text = json_values(path, KEYS, name, value);
    const int heads = json_whole_number(path, "n_head", *value);
    for (int k = 1; k < KEYS; k++)
        if (value[k])
            check_value(path, k, value[k]);
    free(text);
    return heads;
}

/* ---- Files. */

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

/* The number of heads, which is a tensor of its own. */
static int find_heads(const Tensors *file)
{
    const Tensor *t = tensors_find(file, "n_head");
    int64_t heads;
    tensor_integers(t); /* refuses any other type */
    if (t->count != 1)
        REFUSE("%s: 'n_head' has %zu numbers: 1 is needed", file->path,
               t->count);
    tensor_entries(t, 0, 1, &heads);
    if (heads < 0 || heads > INT_MAX)
        REFUSE("%s: 'n_head' is %" PRId64 ": from 0 to %d is needed",
               file->path, heads, INT_MAX);
    return (int)heads;
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

/* A table from which a model has its sizes. */
static const Tensor *find_table(const Tensors *file, const char *prefix,
                                const char *end)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s", prefix, end);
    const Tensor *t = tensors_find(file, name);
    if (t->rank != 2 || t->shape[0] < 1 || t->shape[1] < 1)
        REFUSE("%s: '%s' is [%d, %d], of %d dimensions: at least [1, 1], "
               "of 2, is needed",
               file->path, name, t->shape[0], t->shape[1], t->rank);
    return t;
}

void gpt_load(Gpt *g, const char *path)
{
    Tensors all = tensors_open(path), *file = &all;
    const char *prefix =
        tensors_have(file, "transformer.wte.weight") ? "transformer." : "";
    const Tensor *tokens = find_table(file, prefix, "wte.weight");
    const Tensor *positions = find_table(file, prefix, "wpe.weight");
    const Gpt sizes = {
        .vocabulary = tokens->shape[0],
        .context_length = positions->shape[0],
        .width = tokens->shape[1],
        .n_heads = tensors_have(file, "n_head") ? find_heads(file)
                                                : config_heads(path),
        .layers = count_layers(file, prefix),
        .has_own_output = tensors_have(file, "lm_head.weight")};
    if (sizes.n_heads < 1 || sizes.width % sizes.n_heads)
        REFUSE("%s: %d heads for a width of %d: a divisor of %d is needed",
               path, sizes.n_heads, sizes.width, sizes.width);
    gpt_init(g, &sizes);
    params_load(gpt_params(g), file, prefix);
    check_no_other(g, file, prefix);
    tensors_free(file);
}

void gpt_save(const Gpt *g, const char *path)
{
    params_write(gpt_params(g), g->n_heads, 0, path);
}

void gpt_save_half(const Gpt *g, const char *path)
{
    params_write(gpt_params(g), g->n_heads, 1, path);
}

void model_save_half(const Model *m, const char *path)
{
    params_write(model_params(m), m->attention.n_heads, 1, path);
}

void model_load(Model *m, const char *path)
{
    Tensors file = tensors_open(path);
    const Tensor *tokens = find_table(&file, "", "token.weight");
    const Tensor *positions = find_table(&file, "", "position.weight");
    const int heads = find_heads(&file);
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
