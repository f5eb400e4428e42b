#include "attention/parameters.h"
#include "attention/float16.h"
#include "support.h"

static void add_param(Params *all, const char *block, const char *layer,
                      const char *end, Param p)
{
    snprintf(p.name, sizeof p.name, "%s%s.%s", block, layer, end);
    all->param[all->count++] = p;
}

/* A table, or with 0 rows a list, that stands in the file as in memory. */
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

Params gpt_params(const Gpt *g)
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

Params model_params(const Model *m)
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

/* Entry i of a tensor, whose type is 'h', 'b' or 'f'. */
static float number_at(const Tensor *t, ptrdiff_t i)
{
    const uint16_t *bits = t->data;
    return t->type == 'h'   ? from_float16(bits[i])
           : t->type == 'b' ? from_bfloat16(bits[i])
                            : ((const float *)t->data)[i];
}

static void param_load(const Param *p, const Tensor *t)
{
    ptrdiff_t next = 0;
    if (!strchr("hb", t->type))
        tensor_floats(t); /* refuses any other type */
    for (int i = 0; i < p->rows || i == 0; i++)
        for (int j = 0; j < p->columns; j++)
            *param_entry(p, i, j) = number_at(t, next++);
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

int params_have(const Params *all, const char *prefix, const char *name)
{
    char full[80];
    for (int i = 0; i < all->count; i++) {
        full_name(prefix, all->param[i].name, full);
        if (!strcmp(full, name))
            return 1;
    }
    return 0;
}

void params_load(Params all, const Tensors *file, const char *prefix)
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

void params_write(Params all, int n_heads, int is_half, const char *path)
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
