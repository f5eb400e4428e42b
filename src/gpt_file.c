#include "attention/gpt_file.h"
#include "attention/16_kv_cache.h"
#include "attention/gpt_config.h"
#include "attention/model.h"
#include "attention/parameters.h"
#include "support.h"

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
    const int64_t *heads = tensor_integers(t);
    if (t->count != 1 || *heads < 0 || *heads > INT_MAX)
        REFUSE("%s: 'n_head' has %zu numbers, of which the first is "
               "%" PRId64 ": 1, from 0 to %d, is needed",
               file->path, t->count, t->count ? *heads : 0, INT_MAX);
    return (int)*heads;
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
    Tensors all = tensors_read(path), *file = &all;
    const char *prefix =
        tensors_have(file, "transformer.wte.weight") ? "transformer." : "";
    const Tensor *tokens = find_table(file, prefix, "wte.weight");
    const Tensor *positions = find_table(file, prefix, "wpe.weight");
    const Gpt sizes = {
        .vocabulary = tokens->shape[0],
        .context_length = positions->shape[0],
        .width = tokens->shape[1],
        .n_heads = tensors_have(file, "n_head") ? find_heads(file)
                                                : gpt_config_heads(path),
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
    Tensors file = tensors_read(path);
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
