#include "attention/gpt_fast.h"
#include "attention/05_tokens.h"
#include "attention/10_dropout.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/attention_object.h"
#include "attention/gpt.h"
#include "attention/kernel.h"
#include "attention/kv_cache.h"
#include "attention/layers.h"
#include "support.h"

/* The model of chapter 22 for many texts, by the kernel; with caches, for
 * the tokens of one text that follow those in them. */

void gpt_embed(const Gpt *g, int first, const int *ids, GptPass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    float(*x)[d] = ROWS(d, p->block[0].in);
    embed(rows, d, g->vocabulary, ids, ROWS(d, g->tokens), x);
    for (int i = 0; i < rows; i += p->n)
        add_positions(p->n, d, g->context_length, first,
                      ROWS(d, g->positions), x + i);
}

void gpt_embed_backward(const Gpt *g, const int *ids, const GptPass *grad_p,
                        Gpt *grad_g)
{
    const int rows = grad_p->texts * grad_p->n, d = g->width;
    const float(*grad_x)[d] = ROWS(d, grad_p->block[0].in);
    float(*grad_position)[d] = ROWS(d, grad_g->positions);
    embed_backward(rows, d, g->vocabulary, ids, grad_x,
                   ROWS(d, grad_g->tokens));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < d; j++)
            grad_position[i % grad_p->n][j] += grad_x[i][j];
}

void gpt_drop(const GptBlockPass *p, const float *keep, int n,
              const float x[n], float left[n])
{
    if (keep)
        dropout_apply(p->rate, 1, n, ROWS(n, keep), ROWS(n, x),
                      ROWS(n, left));
    else if (left != x)
        memcpy(left, x, (size_t)n * sizeof *left);
}

/* Powers of 2 hold from -126 to 127; -log2(e) turns e^-x into one. */
void sigmoid(int n, float x[n])
{
    for (int i = 0; i < n; i++) {
        const float power = -1.442695f * x[i];
        x[i] = power > 126 ? 126 : power;
    }
    best_kernel()->exp2_all(n, x);
    for (int i = 0; i < n; i++)
        x[i] = x[i] >= 0x1p126f ? 0 : 1 / (1 + x[i]);
}

void attend_cached(const Attention *a, KVCache *c, int n,
                   const float x[n][a->d_x], Trace *t)
{
    const int d = a->d_k, d_v = a->d_v, heads = a->n_heads;
    attention_texts_check(a, 1, n, t);
    SIZES_CHECK("a cache of n_kv_heads, d_k, d_v", {c->n_kv_heads, heads},
                {c->d_k, d}, {c->d_v, d_v});
    linear_forward_fast(&a->query, n, x, ROWS(a->query.d_out, t->query));
    linear_forward_fast(&a->key, n, x, ROWS(a->key.d_out, t->key));
    linear_forward_fast(&a->value, n, x, ROWS(a->value.d_out, t->value));
    kv_cache_append(c, n, rows_by_token(heads, n, d, t->key),
                    rows_by_token(heads, n, d_v, t->value));
    best_kernel()->kv_cache_attend(c, heads, n,
                                   rows_by_token(heads, n, d, t->query), 0,
                                   rows_by_token(heads, n, d_v, t->joined));
    if (a->d_out)
        linear_forward_fast(&a->out, n, ROWS(a->out.d_in, t->joined),
                            ROWS(a->out.d_out, t->out));
}

void gelu_fast(int n, const float x[n], float share[n], float out[n])
{
    for (int i = 0; i < n; i++)
        share[i] = 1.5957691f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
    sigmoid(n, share);
    for (int i = 0; i < n; i++)
        out[i] = x[i] * share[i];
}

static void add(int n, const float x[n], const float y[n], float sum[n])
{
    for (int i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

static void fast_block_forward(const GptBlock *b, int texts, int n,
                               KVCache *cache, GptBlockPass *p)
{
    const int d = b->norm_1.d, rows = texts * n, size = rows * d;
    norm_forward(&b->norm_1, rows, ROWS(d, p->in), ROWS(d, p->normed_1));
    if (cache)
        attend_cached(&b->attention, cache, rows, ROWS(d, p->normed_1),
                      &p->attention);
    else
        attention_forward_fast(&b->attention, mask_causal(0), texts, n,
                               ROWS(d, p->normed_1), &p->attention);
    gpt_drop(p, p->keep_1, size, p->attention.out, p->attention.out);
    add(size, p->in, p->attention.out, p->between);

    norm_forward(&b->norm_2, rows, ROWS(d, p->between),
                 ROWS(d, p->normed_2));
    linear_forward_fast(&b->up, rows, ROWS(d, p->normed_2),
                        ROWS(4 * d, p->wide));
    gelu_fast(4 * size, p->wide, p->share, p->active);
    linear_forward_fast(&b->down, rows, ROWS(4 * d, p->active),
                        ROWS(d, p->after));
    gpt_drop(p, p->keep_2, size, p->after, p->after);
    add(size, p->after, p->between, p->after);
}

static void fast_block_backward(const GptBlock *b, int texts, int n,
                                const GptBlockPass *p, GptBlockPass *grad_p,
                                GptBlock *grad_b)
{
    const int d = b->norm_1.d, rows = texts * n, size = rows * d;
    /* after = between + down(gelu(up(normed_2))) */
    add(size, grad_p->between, grad_p->after, grad_p->between);
    gpt_drop(p, p->keep_2, size, grad_p->after, grad_p->after);
    linear_backward_fast(&b->down, rows, ROWS(4 * d, p->active),
                         ROWS(d, grad_p->after), &grad_b->down,
                         ROWS(4 * d, grad_p->active));
    gelu_backward(4 * size, p->wide, p->share, grad_p->active,
                  grad_p->wide);
    linear_backward_fast(&b->up, rows, ROWS(d, p->normed_2),
                         ROWS(4 * d, grad_p->wide), &grad_b->up,
                         ROWS(d, grad_p->normed_2));
    norm_backward(&b->norm_2, rows, ROWS(d, p->between),
                  ROWS(d, grad_p->normed_2), &grad_b->norm_2,
                  ROWS(d, grad_p->between));

    /* between = in + attention(normed_1) */
    add(size, grad_p->in, grad_p->between, grad_p->in);
    gpt_drop(p, p->keep_1, size, grad_p->between, grad_p->attention.out);
    attention_backward_fast(&b->attention, mask_causal(0), texts, n,
                            ROWS(d, p->normed_1), &p->attention,
                            &grad_p->attention, &grad_b->attention,
                            ROWS(d, grad_p->normed_1));
    norm_backward(&b->norm_1, rows, ROWS(d, p->in),
                  ROWS(d, grad_p->normed_1), &grad_b->norm_1,
                  ROWS(d, grad_p->in));
}

void gpt_forward(const Gpt *g, KVCache *cache, const int *ids, GptPass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    gpt_pass_check(g, cache, p);
    gpt_embed(g, cache ? (int)cache->count : 0, ids, p);
    for (int l = 0; l < g->layers; l++)
        fast_block_forward(&g->block[l], p->texts, p->n,
                           cache ? &cache[l] : NULL, &p->block[l]);
    norm_forward(&g->last, rows, ROWS(d, p->block[g->layers - 1].after),
                 ROWS(d, p->normed));
    linear_forward_fast(&g->output, rows, ROWS(d, p->normed),
                        ROWS(g->output.d_out, p->logits));
}

void gpt_backward(const Gpt *g, const int *ids, const GptPass *p,
                  GptPass *grad_p, Gpt *grad_g)
{
    const int rows = p->texts * p->n, d = g->width, top = g->layers - 1;
    gpt_gradient_check(g, p, grad_g, grad_p);
    linear_backward_fast(&g->output, rows, ROWS(d, p->normed),
                         ROWS(g->output.d_out, grad_p->logits),
                         &grad_g->output, ROWS(d, grad_p->normed));
    norm_backward(&g->last, rows, ROWS(d, p->block[top].after),
                  ROWS(d, grad_p->normed), &grad_g->last,
                  ROWS(d, grad_p->block[top].after));
    for (int l = top; l >= 0; l--)
        fast_block_backward(&g->block[l], p->texts, p->n, &p->block[l],
                            &grad_p->block[l], &grad_g->block[l]);
    gpt_embed_backward(g, ids, grad_p, grad_g);
}
