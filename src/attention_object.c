#include "attention/attention_object.h"
#include "support.h"

/* The memory of an attention, and whether its layers, its gradient and its
 * trace fit it. Chapters 7 to 13 say what the tables are for; the header, in
 * this order, what the functions refuse. */

Linear linear_layout(int d_in, int d_out, int has_bias, float *block,
                     size_t *count)
{
    Linear l = {.d_in = d_in, .d_out = d_out};
    l.weight = next_table(block, count, 1, d_out, d_in);
    l.bias = next_table(block, count, has_bias != 0, 1, d_out);
    return l;
}

void attention_layout(Attention *a, const Attention *sizes, float *block,
                      size_t *count)
{
    *a = *sizes;
    a->memory = NULL;
    a->count = 0;
    heads_check(a->n_heads, a->d_k, a->d_v);
    if (a->d_x < 1 || a->d_y < 1 || a->d_out < 0 || a->context_length < 0)
        REFUSE("d_x, d_y, d_out, context_length = %d, %d, %d, %d: at least "
               "1, 1, 0 and 0 are needed",
               a->d_x, a->d_y, a->d_out, a->context_length);
    const int keys = a->n_heads * a->d_k, values = a->n_heads * a->d_v;
    const int has_bias = a->has_bias;
    a->query = linear_layout(a->d_x, keys, has_bias, block, count);
    a->key = linear_layout(a->d_y, keys, has_bias, block, count);
    a->value = linear_layout(a->d_y, values, has_bias, block, count);
    a->out = linear_layout(values, a->d_out, a->has_out_bias, block, count);
}

void attention_init(Attention *a, const Attention *sizes)
{
    size_t count = 0, all = 0;
    attention_layout(a, sizes, NULL, &count);
    float *const memory = new_block(count);
    attention_layout(a, a, memory, &all);
    a->memory = memory;
    a->count = count;
}

void attention_free(Attention *a)
{
    free(a->memory);
    *a = (Attention){0};
}

static void layer_check(const char *name, const Linear *l, int d_in,
                        int d_out, int has_bias)
{
    if (l->d_in != d_in || l->d_out != d_out)
        REFUSE("the layer for %s is from %d to %d numbers: from %d to %d "
               "is needed",
               name, l->d_in, l->d_out, d_in, d_out);
    if (!l->weight || !l->bias != !has_bias)
        REFUSE("the layer for %s has %s weight and %s bias: a weight and "
               "%s bias are needed",
               name, l->weight ? "a" : "no", l->bias ? "a" : "no",
               has_bias ? "a" : "no");
}

void attention_layers_check(const Attention *a)
{
    heads_check(a->n_heads, a->d_k, a->d_v);
    const int keys = a->n_heads * a->d_k, values = a->n_heads * a->d_v;
    layer_check("the query", &a->query, a->d_x, keys, a->has_bias);
    layer_check("the key", &a->key, a->d_y, keys, a->has_bias);
    layer_check("the value", &a->value, a->d_y, values, a->has_bias);
    if (a->d_out)
        layer_check("the output", &a->out, values, a->d_out,
                    a->has_out_bias);
}

void attention_widths_check(const Attention *a)
{
    if (a->d_x != a->d_y)
        REFUSE("d_x, d_y = %d, %d: equal ones are needed, where one text "
               "asks itself",
               a->d_x, a->d_y);
}

void version_1_check(const Attention *from)
{
    attention_layers_check(from);
    attention_widths_check(from);
    if (from->has_bias || from->n_heads != 1 || from->d_out)
        REFUSE("an attention with %s bias, %d heads and %d columns of "
               "output: none, 1 and 0 are needed, since version 1 has no "
               "place for more",
               from->has_bias ? "a" : "no", from->n_heads, from->d_out);
}

void attention_check(const Attention *a, int n, int m, const Trace *t)
{
    const int most = n > m ? n : m;
    attention_layers_check(a);
    if (a->context_length && most > a->context_length)
        REFUSE("a text of %d tokens: at most %d, the context length, fit",
               most, a->context_length);
    trace_check(t, n, m, a->n_heads, a->d_k, a->d_v, a->d_out);
}

void attention_texts_check(const Attention *a, int texts, int n,
                           const Trace *t)
{
    Trace one = *t; /* but for its texts */
    one.texts = 0;
    attention_widths_check(a);
    attention_check(a, n, n, &one);
    if (texts < 1 || t->texts != texts)
        REFUSE("%d texts, and a trace of %d: at least 1, and the same, are "
               "needed",
               texts, t->texts);
}

void linear_gradient_check(const Linear *l, const Linear *grad_l)
{
    SIZES_CHECK("a gradient of d_in, d_out", {grad_l->d_in, l->d_in},
                {grad_l->d_out, l->d_out});
    if (!grad_l->weight || !grad_l->bias != !l->bias)
        REFUSE("a gradient with %s weight and %s bias, of a layer with %s "
               "bias: a weight, and the same of the bias, are needed",
               grad_l->weight ? "a" : "no", grad_l->bias ? "a" : "no",
               l->bias ? "a" : "no");
}

void attention_gradient_check(const Attention *a, const Attention *grad_a)
{
    SIZES_CHECK("a gradient of d_x, d_y, n_heads, d_k, d_v, d_out",
                {grad_a->d_x, a->d_x}, {grad_a->d_y, a->d_y},
                {grad_a->n_heads, a->n_heads}, {grad_a->d_k, a->d_k},
                {grad_a->d_v, a->d_v}, {grad_a->d_out, a->d_out});
    linear_gradient_check(&a->query, &grad_a->query);
    linear_gradient_check(&a->key, &grad_a->key);
    linear_gradient_check(&a->value, &grad_a->value);
    if (a->d_out)
        linear_gradient_check(&a->out, &grad_a->out);
}
