#include "attention/gpt.h"
#include "attention/05_tokens.h"
#include "attention/10_dropout.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"
#include "attention/kernel.h"
#include "attention/kv_cache.h"
#include "attention/layers.h"
#include "support.h"

/* The memory of a model, of its pass and of its caches; what a model begins
 * with; and what only calls the functions of earlier chapters. What all
 * that is for stands in chapter 22. */

static void norm_layout(Norm *l, int d, float *block, size_t *count)
{
    l->d = d;
    l->weight = next_table(block, count, 1, 1, d);
    l->bias = next_table(block, count, 1, 1, d);
}

/* Says where the tables of a model are in its block, and counts their
 * numbers. */
static void gpt_layout(Gpt *g)
{
    const int d = g->width;
    Attention sizes = {
        .n_heads = g->n_heads, .has_bias = 1, .has_out_bias = 1};
    sizes.d_x = sizes.d_y = sizes.d_out = d;
    sizes.d_k = sizes.d_v = d / g->n_heads;
    float *const at = g->memory;
    size_t *count = &g->count;
    *count = 0;
    g->tokens = next_table(at, count, 1, g->vocabulary, d);
    g->positions = next_table(at, count, 1, g->context_length, d);
    for (int l = 0; l < g->layers; l++) {
        GptBlock *b = &g->block[l];
        norm_layout(&b->norm_1, d, at, count);
        attention_layout(&b->attention, &sizes, at, count);
        norm_layout(&b->norm_2, d, at, count);
        b->up = linear_layout(d, 4 * d, 1, at, count);
        b->down = linear_layout(4 * d, d, 1, at, count);
    }
    norm_layout(&g->last, d, at, count);
    g->output = (Linear){.d_in = d, .d_out = g->vocabulary};
    g->output.weight = g->has_own_output
                           ? next_table(at, count, 1, g->vocabulary, d)
                           : g->tokens;
}

static void sizes_check(const Gpt *g)
{
    if (g->vocabulary < 1 || g->context_length < 1 || g->width < 1 ||
        g->n_heads < 1 || g->layers < 1 || g->width > INT_MAX / 4)
        REFUSE("vocabulary, context_length, width, n_heads, layers = "
               "%d, %d, %d, %d, %d: at least 1 of each, and a width that "
               "an int can count four times, are needed",
               g->vocabulary, g->context_length, g->width, g->n_heads,
               g->layers);
    if (g->width % g->n_heads)
        REFUSE("a width of %d for %d heads leaves %d over: a multiple is "
               "needed",
               g->width, g->n_heads, g->width % g->n_heads);
}

/* A model with the sizes of another, and no memory yet but for the list of
 * its blocks. */
static void set_sizes(Gpt *g, const Gpt *sizes)
{
    sizes_check(sizes);
    *g = *sizes;
    g->memory = NULL;
    g->block = new_list((size_t)g->layers, sizeof *g->block);
    gpt_layout(g);
}

void gpt_init(Gpt *g, const Gpt *sizes)
{
    set_sizes(g, sizes);
    g->memory = new_block(g->count);
    gpt_layout(g);
}

size_t gpt_count_parameters(const Gpt *sizes)
{
    Gpt g;
    set_sizes(&g, sizes);
    free(g.block);
    return g.count;
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

/* Says where the tables of a pass are in its block, and counts their
 * numbers. */
static void pass_layout(GptPass *p)
{
    const int rows = p->texts * p->n, d = p->width;
    float *const at = p->memory;
    size_t *count = &p->count;
    *count = 0;
    float *in = next_table(at, count, 1, rows, d);
    for (int l = 0; l < p->layers; l++) {
        GptBlockPass *b = &p->block[l];
        b->in = in;
        b->normed_1 = next_table(at, count, 1, rows, d);
        b->between = next_table(at, count, 1, rows, d);
        b->normed_2 = next_table(at, count, 1, rows, d);
        b->wide = next_table(at, count, 1, rows, 4 * d);
        b->share = next_table(at, count, 1, rows, 4 * d);
        b->active = next_table(at, count, 1, rows, 4 * d);
        b->after = in = next_table(at, count, 1, rows, d);
    }
    p->normed = next_table(at, count, 1, rows, d);
    p->logits = next_table(at, count, 1, rows, p->vocabulary);
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
    *p =
        (GptPass){texts, n, g->layers, g->width, g->vocabulary, .count = 0};
    p->block = new_list((size_t)g->layers, sizeof *p->block);
    pass_layout(p);
    p->memory = new_block(p->count);
    pass_layout(p);
    for (int l = 0; l < g->layers; l++)
        trace_init_texts(&p->block[l].attention, &g->block[l].attention,
                         texts, n);
}

void gpt_pass_init_plain(GptPass *p, const Gpt *g, int n)
{
    gpt_pass_init(p, g, 1, n);
    for (int l = 0; l < g->layers; l++) {
        trace_free(&p->block[l].attention);
        trace_init_for(&p->block[l].attention, &g->block[l].attention, n,
                       n);
    }
}

void gpt_pass_free(GptPass *p)
{
    for (int l = 0; l < p->layers; l++)
        trace_free(&p->block[l].attention);
    free(p->block);
    free(p->memory);
    free(p->keep);
    *p = (GptPass){0};
}

void gpt_pass_check(const Gpt *g, const KVCache *cache, const GptPass *p)
{
    SIZES_CHECK("a pass of layers, width, vocabulary",
                {p->layers, g->layers}, {p->width, g->width},
                {p->vocabulary, g->vocabulary});
    if (cache && p->texts != 1)
        REFUSE("%d texts, and a cache for one text: 1 text is needed",
               p->texts);
    if (cache && p->keep)
        REFUSE("a cache, and a pass with dropout of %g: one without is "
               "needed",
               p->block->rate);
}

void gpt_gradient_check(const Gpt *g, const GptPass *p, const Gpt *grad_g,
                        const GptPass *grad_p)
{
    gpt_pass_check(g, NULL, p);
    gpt_pass_check(g, NULL, grad_p);
    SIZES_CHECK("gradients of texts, n", {grad_p->texts, p->texts},
                {grad_p->n, p->n});
    SIZES_CHECK("a gradient of vocabulary, context_length, width, n_heads, "
                "layers, has_own_output",
                {grad_g->vocabulary, g->vocabulary},
                {grad_g->context_length, g->context_length},
                {grad_g->width, g->width}, {grad_g->n_heads, g->n_heads},
                {grad_g->layers, g->layers},
                {!!grad_g->has_own_output, !!g->has_own_output});
}

void gpt_pass_clear(GptPass *p)
{
    memset(p->memory, 0, p->count * sizeof *p->memory);
    for (int l = 0; l < p->layers; l++) {
        const Trace *t = &p->block[l].attention;
        memset(t->memory, 0, t->count * sizeof *t->memory);
    }
}

void gpt_pass_drop(GptPass *p, Random *r, double rate)
{
    const int rows = p->texts * p->n, d = p->width;
    dropout_rate_check(rate);
    if (!p->block)
        REFUSE("a pass without tables: gpt_pass_init makes room for them");
    if (!(rate > 0)) {
        free(p->keep);
        p->keep = NULL;
    } else if (!p->keep)
        p->keep = new_table(2 * p->layers, rows * d);
    size_t count = 0;
    for (int l = 0; l < p->layers; l++) {
        GptBlockPass *b = &p->block[l];
        float **const keep[2] = {&b->keep_1, &b->keep_2};
        b->rate = rate;
        for (int k = 0; k < 2; k++) {
            *keep[k] = next_table(p->keep, &count, 1, rows, d);
            if (*keep[k])
                dropout_mask(r, rate, rows, d, ROWS(d, *keep[k]));
        }
    }
}

void gpt_caches_init(KVCache *cache, const Gpt *g)
{
    const int d = g->width / g->n_heads;
    KVCache sizes = {.n_kv_heads = g->n_heads, .d_k = d, .d_v = d};
    sizes.capacity = g->context_length;
    for (int l = 0; l < g->layers; l++)
        kv_cache_init(&cache[l], &sizes);
}

void gpt_caches_free(KVCache *cache, const Gpt *g)
{
    for (int l = 0; l < g->layers; l++)
        kv_cache_free(&cache[l]);
}

void norm_gradient_check(const Norm *l, const Norm *grad_l)
{
    SIZES_CHECK("a gradient of d", {grad_l->d, l->d});
}

/* What a layer begins with: normal numbers for its weight. */
static void fill_layer(Random *r, double deviation, Linear *l)
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
    const double deviation = 0.02, adding = 0.02 / sqrt(2.0 * g->layers);
    gpt_clear(g);
    normal_fill(r, g->vocabulary, g->width, 0, deviation,
                ROWS(g->width, g->tokens));
    normal_fill(r, g->context_length, g->width, 0, deviation,
                ROWS(g->width, g->positions));
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
    if (g->has_own_output)
        fill_layer(r, deviation, &g->output);
}

void learner_init(Learner *l, const Gpt *sizes, int texts, Random *r)
{
    *l = (Learner){.adam = {3e-3, 0.9, 0.95, 1e-8, 0.1, 0}};
    gpt_init(&l->model, sizes);
    gpt_init(&l->gradient, sizes);
    gpt_init(&l->mean, sizes);
    gpt_init(&l->square, sizes);
    gpt_pass_init(&l->pass, &l->model, texts, sizes->context_length);
    gpt_pass_init(&l->grad_pass, &l->model, texts, sizes->context_length);
    gpt_fill(r, &l->model);
}

void learner_free(Learner *l)
{
    gpt_free(&l->model);
    gpt_free(&l->gradient);
    gpt_free(&l->mean);
    gpt_free(&l->square);
    gpt_pass_free(&l->pass);
    gpt_pass_free(&l->grad_pass);
}
