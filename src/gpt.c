#include "attention/21_gpt.h"
#include "attention/19_flash_backward.h"
#include "attention/B_normals.h"
#include "support.h"

/* The memory of a model and of its pass, the numbers that it begins with,
 * and its attention through a cache. What all that is for stands in chapter
 * 21. */

static int norm_parts(Norm *l, int d, Part part[2])
{
    l->d = d;
    part[0] = (Part){&l->weight, 1, 1, d};
    part[1] = (Part){&l->bias, 1, 1, d};
    return 2;
}

static int linear_parts(Linear *l, int d_in, int d_out, Part part[2])
{
    *l = (Linear){.d_in = d_in, .d_out = d_out};
    part[0] = (Part){&l->weight, 1, d_out, d_in};
    part[1] = (Part){&l->bias, 1, 1, d_out};
    return 2;
}

enum { BLOCK_PARTS = ATTENTION_PARTS + 8 };

static int block_parts(const Gpt *g, GptBlock *b, Part part[BLOCK_PARTS])
{
    const int d = g->width;
    int n = norm_parts(&b->norm_1, d, part);
    b->attention = (Attention){.d_x = d,
                               .d_y = d,
                               .n_heads = g->n_heads,
                               .d_k = d / g->n_heads,
                               .d_v = d / g->n_heads,
                               .d_out = d,
                               .has_bias = 1,
                               .has_out_bias = 1,
                               .context_length = g->context};
    n += attention_parts(&b->attention, part + n);
    n += norm_parts(&b->norm_2, d, part + n);
    n += linear_parts(&b->up, d, 4 * d, part + n);
    return n + linear_parts(&b->down, 4 * d, d, part + n);
}

static void sizes_check(const Gpt *g)
{
    if (g->vocabulary < 1 || g->context < 1 || g->width < 1 ||
        g->n_heads < 1 || g->layers < 1 || g->width > INT_MAX / 4)
        REFUSE("vocabulary, context, width, n_heads, layers = "
               "%d, %d, %d, %d, %d: at least 1 of each, and a width that "
               "an int can count four times, are needed",
               g->vocabulary, g->context, g->width, g->n_heads, g->layers);
    if (g->width % g->n_heads)
        REFUSE("a width of %d for %d heads leaves %d over: a multiple is "
               "needed",
               g->width, g->n_heads, g->width % g->n_heads);
}

/* All parts of a model, for the caller to free; where g points, nothing is
 * yet. */
static Part *parts_of(Gpt *g, int *count)
{
    sizes_check(g);
    const size_t layers = (size_t)g->layers;
    Part *part = calloc(layers * BLOCK_PARTS + 5, sizeof *part);
    int n = 2;
    g->block = calloc(layers, sizeof *g->block);
    if (!part || !g->block)
        REFUSE("%d layers do not fit into memory: fewer are needed",
               g->layers);
    part[0] = (Part){&g->tokens, 1, g->vocabulary, g->width};
    part[1] = (Part){&g->places, 1, g->context, g->width};
    for (int l = 0; l < g->layers; l++)
        n += block_parts(g, &g->block[l], part + n);
    n += norm_parts(&g->last, g->width, part + n);
    g->output = (Linear){.d_in = g->width, .d_out = g->vocabulary};
    part[n++] = (Part){&g->output.weight, g->is_apart != 0, g->vocabulary,
                       g->width};
    *count = n;
    return part;
}

void gpt_init(Gpt *g)
{
    int n;
    Part *part = parts_of(g, &n);
    g->memory = new_block(n, part, &g->count);
    if (!g->is_apart)
        g->output.weight = g->tokens;
    free(part);
}

size_t gpt_count(const Gpt *g)
{
    Gpt sizes = *g;
    int n;
    Part *part = parts_of(&sizes, &n);
    const size_t count = block_count(n, part);
    free(part);
    free(sizes.block);
    return count;
}

void gpt_free(Gpt *g)
{
    free(g->block);
    free(g->memory);
    *g = (Gpt){0};
}

Gpt gpt_like(const Gpt *g)
{
    Gpt other = *g;
    gpt_init(&other);
    return other;
}

enum { PASS_PARTS = 7 };

static int pass_parts(BlockPass *b, int rows, int d, Part part[PASS_PARTS])
{
    const Part all[PASS_PARTS] = {
        {&b->normed_1, 1, rows, d},  {&b->between, 1, rows, d},
        {&b->normed_2, 1, rows, d},  {&b->wide, 1, rows, 4 * d},
        {&b->share, 1, rows, 4 * d}, {&b->active, 1, rows, 4 * d},
        {&b->after, 1, rows, d},
    };
    memcpy(part, all, sizeof all);
    return PASS_PARTS;
}

GptPass gpt_pass(const Gpt *g, int texts, int n)
{
    GptPass p = {.texts = texts,
                 .n = n,
                 .layers = g->layers,
                 .width = g->width,
                 .vocabulary = g->vocabulary};
    const size_t layers = (size_t)g->layers;
    if (texts < 1 || n < 1 || n > g->context)
        REFUSE("%d texts of %d tokens: at least 1 text, and of 1 to %d "
               "tokens, the context, are needed",
               texts, n, g->context);
    if (texts > INT_MAX / 4 / g->width / n)
        REFUSE("%d texts of %d tokens, with 4 times %d numbers each: at "
               "most %d numbers are needed",
               texts, n, g->width, INT_MAX);
    const int rows = texts * n, d = g->width;
    Part *part = calloc(layers * PASS_PARTS + 3, sizeof *part);
    p.block = calloc(layers, sizeof *p.block);
    if (!part || !p.block)
        REFUSE("%d layers do not fit into memory: fewer are needed",
               g->layers);
    int count = 0;
    part[count++] = (Part){&p.block[0].in, 1, rows, d};
    for (int l = 0; l < g->layers; l++)
        count += pass_parts(&p.block[l], rows, d, part + count);
    part[count++] = (Part){&p.normed, 1, rows, d};
    part[count++] = (Part){&p.logits, 1, rows, g->vocabulary};
    p.memory = new_block(count, part, &p.count);
    for (int l = 0; l < g->layers; l++) {
        if (l)
            p.block[l].in = p.block[l - 1].after;
        p.block[l].attention = (Trace){.texts = texts,
                                       .n = n,
                                       .m = n,
                                       .n_heads = g->n_heads,
                                       .d_k = d / g->n_heads,
                                       .d_v = d / g->n_heads,
                                       .d_out = d};
        trace_init(&p.block[l].attention);
    }
    free(part);
    return p;
}

void gpt_pass_free(GptPass *p)
{
    for (int l = 0; l < p->layers; l++)
        trace_free(&p->block[l].attention);
    free(p->block);
    free(p->memory);
    *p = (GptPass){0};
}

void gpt_pass_check(const Gpt *g, const Cache *cache, const GptPass *p)
{
    if (p->layers != g->layers || p->width != g->width ||
        p->vocabulary != g->vocabulary || !p->block)
        REFUSE("a pass for %d layers, a width of %d and %d tokens: "
               "gpt_pass makes one for %d, %d and %d",
               p->layers, p->width, p->vocabulary, g->layers, g->width,
               g->vocabulary);
    if (cache && p->texts != 1)
        REFUSE("%d texts, and a cache for one: 1 is needed", p->texts);
}

void gpt_gradient_check(const Gpt *g, const GptPass *p, const Gpt *grad_g,
                        const GptPass *grad_p)
{
    gpt_pass_check(g, NULL, grad_p);
    if (grad_p->texts != p->texts || grad_p->n != p->n)
        REFUSE("gradients of %d texts of %d tokens, of a pass of %d of %d: "
               "the same are needed",
               grad_p->texts, grad_p->n, p->texts, p->n);
    if (grad_g->vocabulary != g->vocabulary ||
        grad_g->context != g->context || grad_g->width != g->width ||
        grad_g->n_heads != g->n_heads || grad_g->layers != g->layers ||
        !grad_g->is_apart != !g->is_apart || grad_g->count != g->count)
        REFUSE("a gradient of another model, with %zu numbers, of one with "
               "%zu: gpt_like makes one",
               grad_g->count, g->count);
}

void gpt_pass_clear(GptPass *p)
{
    memset(p->memory, 0, p->count * sizeof *p->memory);
    for (int l = 0; l < p->layers; l++) {
        const Trace *t = &p->block[l].attention;
        memset(t->memory, 0, t->count * sizeof *t->memory);
    }
}

Cache *caches_for(const Gpt *g)
{
    const int d = g->width / g->n_heads;
    Cache *cache = calloc((size_t)g->layers, sizeof *cache);
    if (!cache)
        REFUSE("%d layers do not fit into memory: fewer are needed",
               g->layers);
    for (int l = 0; l < g->layers; l++) {
        cache[l] = (Cache){.n_key_heads = g->n_heads,
                           .d_k = d,
                           .d_v = d,
                           .room = g->context};
        cache_init(&cache[l]);
    }
    return cache;
}

void caches_free(const Gpt *g, Cache *cache)
{
    for (int l = 0; l < g->layers; l++)
        cache_free(&cache[l]);
    free(cache);
}

/* What a layer begins with: normal numbers for its weight. */
static void fill_layer(Random *r, float deviation, Linear *l)
{
    normal_fill(r, l->d_out, l->d_in, 0, deviation,
                ROWS(l->d_in, l->weight));
}

static void fill_norm(Norm *l)
{
    for (int k = 0; k < l->d; k++)
        l->weight[k] = 1;
}

void gpt_fill(Random *r, Gpt *g)
{
    const float deviation = 0.02f;
    const float adding = (float)(0.02 / sqrt(2 * g->layers));
    memset(g->memory, 0, g->count * sizeof *g->memory);
    normal_fill(r, g->vocabulary, g->width, 0, deviation,
                ROWS(g->width, g->tokens));
    normal_fill(r, g->context, g->width, 0, deviation,
                ROWS(g->width, g->places));
    for (int l = 0; l < g->layers; l++) {
        GptBlock *b = &g->block[l];
        fill_norm(&b->norm_1);
        fill_layer(r, deviation, &b->attention.query);
        fill_layer(r, deviation, &b->attention.key);
        fill_layer(r, deviation, &b->attention.value);
        fill_layer(r, adding, &b->attention.out);
        fill_norm(&b->norm_2);
        fill_layer(r, deviation, &b->up);
        fill_layer(r, adding, &b->down);
    }
    fill_norm(&g->last);
    if (g->is_apart)
        fill_layer(r, deviation, &g->output);
}

/* The last n tokens of a text; the cache holds those before. */
void attend_cached(const Attention *a, Cache *c, int n,
                   const float x[n][a->d_x], Trace *t)
{
    const int d = a->d_k, d_v = a->d_v, heads = a->n_heads;
    texts_check(a, 1, n, t);
    if (c->n_key_heads != heads || c->d_k != d || c->d_v != d_v)
        REFUSE("a cache of n_key_heads, d_k, d_v = %d, %d, %d: %d, %d, %d, "
               "those of the attention, are needed",
               c->n_key_heads, c->d_k, c->d_v, heads, d, d_v);
    linear_forward_fast(&a->query, n, x, ROWS(a->query.d_out, t->query));
    linear_forward_fast(&a->key, n, x, ROWS(a->key.d_out, t->key));
    linear_forward_fast(&a->value, n, x, ROWS(a->value.d_out, t->value));
    cache_append(c, n, rows_by_token(heads, n, d, t->key),
                 rows_by_token(heads, n, d_v, t->value));
    cache_attend_of(best_kernel())(c, heads, n,
                                   rows_by_token(heads, n, d, t->query), 0,
                                   rows_by_token(heads, n, d_v, t->joined));
    linear_forward_fast(&a->out, n, ROWS(a->out.d_in, t->joined),
                        ROWS(a->out.d_out, t->out));
}
