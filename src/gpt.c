#include "attention.h"

/* The memory of a model and of its pass. What the tables are for stands in
 * chapter 21. */

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

static void gpt_must_fit(const Gpt *g)
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

void gpt_init(Gpt *g)
{
    gpt_must_fit(g);
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
    g->memory = new_block(n, part, &g->count);
    if (!g->is_apart)
        g->output.weight = g->tokens;
    free(part);
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
        {&b->normed_1, 1, rows, d}, {&b->between, 1, rows, d},
        {&b->normed_2, 1, rows, d}, {&b->wide, 1, rows, 4 * d},
        {&b->share, 1, rows, 4 * d}, {&b->active, 1, rows, 4 * d},
        {&b->after, 1, rows, d},
    };
    memcpy(part, all, sizeof all);
    return PASS_PARTS;
}

GptPass gpt_pass(const Gpt *g, int texts, int n)
{
    GptPass p = {.texts = texts, .n = n, .layers = g->layers};
    const size_t layers = (size_t)g->layers;
    if (texts < 1 || n < 1 || n > g->context || texts > INT_MAX / n)
        REFUSE("%d texts of %d tokens: at least 1 text, and of 1 to %d "
               "tokens, the context, are needed",
               texts, n, g->context);
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
        p.block[l].attention =
            trace_for(&g->block[l].attention, rows, rows);
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

void training_init(GptTraining *t, Random r, int bytes)
{
    Gpt *g = &t->model;
    t->count = (bytes - 1) / (g->context > 0 ? g->context : 1);
    if (t->texts < 1 || t->count < t->texts)
        REFUSE("%d bytes are %d pieces of %d and the one after: at least 1 "
               "batch of %d pieces, and at least 1 of them, are needed",
               bytes, t->count, g->context, t->texts);
    gpt_init(g);
    gpt_fill(&r, g);
    t->gradient = gpt_like(g);
    t->mean = gpt_like(g);
    t->square = gpt_like(g);
    t->pass = gpt_pass(g, t->texts, g->context);
    t->back = gpt_pass(g, t->texts, g->context);
    t->shares = new_table(t->texts * g->context, g->vocabulary);
    t->order = new_aligned((size_t)t->count, sizeof *t->order);
    t->next = t->count; /* so that an epoch begins */
    t->step = 0;
    t->random = r;
}

void training_free(GptTraining *t)
{
    gpt_free(&t->model);
    gpt_free(&t->gradient);
    gpt_free(&t->mean);
    gpt_free(&t->square);
    gpt_pass_free(&t->pass);
    gpt_pass_free(&t->back);
    free(t->shares);
    free(t->order);
    *t = (GptTraining){0};
}
