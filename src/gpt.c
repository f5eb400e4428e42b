#include "attention/21_gpt.h"
#include "attention/19_flash_backward.h"
#include "attention/B_normals.h"
#include "support.h"

/* The memory of a model, of its pass and of its caches. What all that is
 * for stands in chapter 21. */

static int norm_parts(Norm *l, int d, BlockPart part[2])
{
    l->d = d;
    part[0] = (BlockPart){&l->weight, 1, 1, d};
    part[1] = (BlockPart){&l->bias, 1, 1, d};
    return 2;
}

static int linear_parts(Linear *l, int d_in, int d_out, BlockPart part[2])
{
    *l = (Linear){.d_in = d_in, .d_out = d_out};
    part[0] = (BlockPart){&l->weight, 1, d_out, d_in};
    part[1] = (BlockPart){&l->bias, 1, 1, d_out};
    return 2;
}

enum { BLOCK_PARTS = ATTENTION_PARTS + 8 };

static int block_parts(const Gpt *g, GptBlock *b,
                       BlockPart part[BLOCK_PARTS])
{
    const int d = g->width;
    const Attention sizes = {.d_x = d,
                             .d_y = d,
                             .n_heads = g->n_heads,
                             .d_k = d / g->n_heads,
                             .d_v = d / g->n_heads,
                             .d_out = d,
                             .has_bias = 1,
                             .has_out_bias = 1,
                             .context_length = g->context_length};
    int n = norm_parts(&b->norm_1, d, part);
    n += attention_parts(&b->attention, &sizes, part + n);
    n += norm_parts(&b->norm_2, d, part + n);
    n += linear_parts(&b->up, d, 4 * d, part + n);
    return n + linear_parts(&b->down, 4 * d, d, part + n);
}

static void sizes_check(const Gpt *g)
{
    if (g->vocabulary < 1 || g->context_length < 1 || g->width < 1 ||
        g->n_heads < 1 || g->layers < 1 || g->width > INT_MAX / 4)
        REFUSE("vocabulary, context, width, n_heads, layers = "
               "%d, %d, %d, %d, %d: at least 1 of each, and a width that "
               "an int can count four times, are needed",
               g->vocabulary, g->context_length, g->width, g->n_heads,
               g->layers);
    if (g->width % g->n_heads)
        REFUSE("a width of %d for %d heads leaves %d over: a multiple is "
               "needed",
               g->width, g->n_heads, g->width % g->n_heads);
}

/* All parts of a model with the sizes of another, for the caller to free;
 * where g points, nothing is yet. */
static BlockPart *parts_of(Gpt *g, const Gpt *sizes, int *count)
{
    sizes_check(sizes);
    *g = (Gpt){.vocabulary = sizes->vocabulary,
               .context_length = sizes->context_length,
               .width = sizes->width,
               .n_heads = sizes->n_heads,
               .layers = sizes->layers,
               .has_own_output = sizes->has_own_output};
    const size_t layers = (size_t)g->layers;
    BlockPart *part = calloc(layers * BLOCK_PARTS + 5, sizeof *part);
    int n = 2;
    g->block = calloc(layers, sizeof *g->block);
    if (!part || !g->block)
        REFUSE("%d layers do not fit into memory: fewer are needed",
               g->layers);
    part[0] = (BlockPart){&g->tokens, 1, g->vocabulary, g->width};
    part[1] = (BlockPart){&g->places, 1, g->context_length, g->width};
    for (int l = 0; l < g->layers; l++)
        n += block_parts(g, &g->block[l], part + n);
    n += norm_parts(&g->last, g->width, part + n);
    g->output = (Linear){.d_in = g->width, .d_out = g->vocabulary};
    part[n++] = (BlockPart){&g->output.weight, g->has_own_output != 0,
                            g->vocabulary, g->width};
    *count = n;
    return part;
}

void gpt_init(Gpt *g, const Gpt *sizes)
{
    int n;
    BlockPart *part = parts_of(g, sizes, &n);
    g->memory = new_block(n, part, &g->count);
    if (!g->has_own_output)
        g->output.weight = g->tokens;
    free(part);
}

size_t gpt_count(const Gpt *sizes)
{
    Gpt g;
    int n;
    BlockPart *part = parts_of(&g, sizes, &n);
    const size_t count = block_count(n, part);
    free(part);
    free(g.block);
    return count;
}

void gpt_clear(Gpt *g)
{
    memset(g->memory, 0, g->count * sizeof *g->memory);
}

void gpt_free(Gpt *g)
{
    free(g->block);
    free(g->memory);
    *g = (Gpt){0};
}

enum { PASS_PARTS = 7 };

static int pass_parts(BlockPass *b, int rows, int d,
                      BlockPart part[PASS_PARTS])
{
    const BlockPart all[PASS_PARTS] = {
        {&b->normed_1, 1, rows, d},  {&b->between, 1, rows, d},
        {&b->normed_2, 1, rows, d},  {&b->wide, 1, rows, 4 * d},
        {&b->share, 1, rows, 4 * d}, {&b->active, 1, rows, 4 * d},
        {&b->after, 1, rows, d},
    };
    memcpy(part, all, sizeof all);
    return PASS_PARTS;
}

/* The tables of all blocks, and their attention's traces. */
static void init_blocks(GptPass *p, const Gpt *g)
{
    const int rows = p->texts * p->n, d = g->width;
    const size_t layers = (size_t)g->layers;
    BlockPart *part = calloc(layers * PASS_PARTS + 3, sizeof *part);
    p->block = calloc(layers, sizeof *p->block);
    if (!part || !p->block)
        REFUSE("%d layers do not fit into memory: fewer are needed",
               g->layers);
    int count = 0;
    part[count++] = (BlockPart){&p->block[0].in, 1, rows, d};
    for (int l = 0; l < g->layers; l++)
        count += pass_parts(&p->block[l], rows, d, part + count);
    part[count++] = (BlockPart){&p->normed, 1, rows, d};
    part[count++] = (BlockPart){&p->logits, 1, rows, g->vocabulary};
    p->memory = new_block(count, part, &p->count);
    free(part);
    for (int l = 0; l < g->layers; l++) {
        if (l)
            p->block[l].in = p->block[l - 1].after;
        trace_init_texts(&p->block[l].attention, &g->block[l].attention,
                         p->texts, p->n);
    }
}

void gpt_pass_init(GptPass *p, const Gpt *g, int texts, int n)
{
    if (texts < 1 || n < 1 || n > g->context_length)
        REFUSE("%d texts of %d tokens: at least 1 text, and of 1 to %d "
               "tokens, the context, are needed",
               texts, n, g->context_length);
    if (texts > INT_MAX / 4 / g->width / n)
        REFUSE("%d texts of %d tokens, with 4 times %d numbers each: at "
               "most %d numbers are needed",
               texts, n, g->width, INT_MAX);
    *p = (GptPass){.texts = texts,
                   .n = n,
                   .layers = g->layers,
                   .width = g->width,
                   .vocabulary = g->vocabulary};
    init_blocks(p, g);
}

void gpt_pass_free(GptPass *p)
{
    for (int l = 0; l < p->layers; l++)
        trace_free(&p->block[l].attention);
    free(p->block);
    free(p->memory);
    *p = (GptPass){0};
}

void gpt_pass_check(const Gpt *g, const KVCache *cache, const GptPass *p)
{
    if (p->layers != g->layers || p->width != g->width ||
        p->vocabulary != g->vocabulary || !p->block)
        REFUSE("a pass for %d layers, a width of %d and %d tokens: "
               "gpt_pass_init makes one for %d, %d and %d",
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
        grad_g->context_length != g->context_length ||
        grad_g->width != g->width || grad_g->n_heads != g->n_heads ||
        grad_g->layers != g->layers ||
        !grad_g->has_own_output != !g->has_own_output ||
        grad_g->count != g->count)
        REFUSE("a gradient of another model, with %zu numbers, of one with "
               "%zu: gpt_init makes one",
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

void caches_init(const Gpt *g, KVCache cache[g->layers])
{
    const int d = g->width / g->n_heads;
    for (int l = 0; l < g->layers; l++)
        kv_cache_init(&cache[l], &(KVCache){.n_kv_heads = g->n_heads,
                                            .d_k = d,
                                            .d_v = d,
                                            .capacity = g->context_length});
}

void caches_free(const Gpt *g, KVCache cache[g->layers])
{
    for (int l = 0; l < g->layers; l++)
        kv_cache_free(&cache[l]);
}
