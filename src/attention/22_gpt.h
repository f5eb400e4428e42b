/*
## Chapter 22, GPT {#header-gpt}
*/

#pragma once

#include <stddef.h>

#include "attention/04_random.h"
#include "attention/07_self_attention.h"
#include "attention/16_kv_cache.h"

/* Layer norm: what it stretches each entry by, and what it adds. The
 * numbers belong to the module that the layer is a part of. */
typedef struct {
    int d;
    float *weight, *bias; /* [d] */
} Norm;

/* For each row of x: its mean taken away, divided by the root of the mean
 * square of what is left plus 1e-5; then times the weight, plus the bias.
 * It computes in doubles, so rows may hold any finite floats; one that is
 * not finite makes its row NaN.
 * PyTorch: F.layer_norm(x, (d,), weight, bias), which squares floats, and
 * gives 0 or NaN for rows beyond 1e19. Ba et al. 2016. */
void norm_forward(const Norm *l, int n, const float x[n][l->d],
                  float y[n][l->d]);

/* Adds to the gradients of the weight, the bias and x, for the same rows.
 * Refuses what norm_gradient_check refuses.
 * PyTorch: the backward of F.layer_norm. */
void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float grad_out[n][l->d], Norm *grad_l,
                   float grad_x[n][l->d]);

/* Refuses a gradient of another size than its norm. */
void norm_gradient_check(const Norm *l, const Norm *grad_l);

/* Each number x becomes 1 / (1 + e^-x), in place; where that is 2^-126 or
 * less, 0. PyTorch: torch.sigmoid. */
void sigmoid(int n, float x[n]);

/* Each entry times a share from 0 to 1 that grows with it, in the form that
 * GPT-2 has: out = x * share, with share = 1 / (1 + e^-u) and
 * u = sqrt(8 / pi) * (x + 0.044715 * x^3). A share of 2^-126 or less is 0.
 * PyTorch: F.gelu(x, approximate="tanh"). Hendrycks and Gimpel 2016. */
void gelu(int n, const float x[n], float share[n], float out[n]);

/* From the shares that gelu has left; adds to grad_x. For an x that is
 * further than 1e19 from 0, NaN may be added, as in PyTorch: x^2 is no
 * float.
 * PyTorch: the backward of F.gelu(x, approximate="tanh"). */
void gelu_backward(int n, const float x[n], const float share[n],
                   const float grad_out[n], float grad_x[n]);

/*
The model:
*/

/* What is stacked: attention and a small network of two linear layers, each
 * behind a layer norm. Vaswani et al. 2017, section 3, with the norms in
 * front: Radford et al. 2019, section 2.3. */
typedef struct {
    Norm norm_1;
    Attention attention;
    Norm norm_2;
    Linear up, down; /* width to 4 * width, and back */
} GptBlock;

/* GPT-2: its sizes, and its parameters, which lie one behind the other in
 * one block of memory, in this order. A gradient, or an optimizer's
 * moments, is another Gpt of the same sizes. */
typedef struct {
    int vocabulary, context_length, width, n_heads, layers;
    int has_own_output; /* whether the output has a weight of its own */
    float *tokens;      /* [vocabulary][width] */
    float *positions;   /* [context_length][width] */
    GptBlock *block;    /* [layers] */
    Norm last;
    Linear output; /* width to vocabulary; its weight is tokens, or apart */
    float *memory;
    size_t count;
} Gpt;

/* Makes a model with the sizes of another, or its gradient or moments, the
 * parameters filled with 0; fills them with 0 again; frees it. Refuses
 * sizes below 1, a width that n_heads does not divide, and what does not
 * fit. */
void gpt_init(Gpt *g, const Gpt *sizes);
void gpt_clear(Gpt *g);
void gpt_free(Gpt *g);

/* How many parameters a model with these sizes has; asks for no memory.
 * Refuses what gpt_init refuses. */
size_t gpt_count_parameters(const Gpt *sizes);

/* What a block computes: the sum as it comes in, what attention makes of
 * it, the sum with that, what the network makes of it, and the sum that
 * goes out, which is what comes into the next block. Rows are those of all
 * texts, text by text. */
typedef struct {
    float *in, *normed_1; /* [rows][width] */
    Trace attention;
    float *between, *normed_2;    /* [rows][width] */
    float *wide, *share, *active; /* [rows][4 * width]: what `up` makes,
                                   * GELU's shares, and what GELU makes */
    float *after;                 /* [rows][width] */
    double rate;                  /* of dropout, in training */
    float *keep_1, *keep_2; /* [rows][width], its masks of what attention
                             * and the network add, or NULL for none */
} GptBlockPass;

/* What a model computes for some texts of n tokens each; its gradients have
 * the same type. */
typedef struct {
    int texts, n; /* so many texts of n tokens */
    int layers, width, vocabulary;
    GptBlockPass *block; /* [layers] */
    float *normed;       /* [rows][width], the last sum */
    float *logits;       /* [rows][vocabulary] */
    float *memory;       /* the block with all tables but attention's */
    size_t count;
    float *keep; /* the block with all dropout masks, or NULL */
} GptPass;

/* Makes a pass of a model for so many texts of n tokens, filled with 0;
 * frees it. Refuses sizes below 1, an n above the context, texts with more
 * tokens than an int can count 4 * width times, and what does not fit. */
void gpt_pass_init(GptPass *p, const Gpt *g, int texts, int n);
void gpt_pass_free(GptPass *p);

/* Refuses a pass that is not for this model, and with a cache several
 * texts, or dropout. */
void gpt_pass_check(const Gpt *g, const KVCache *cache, const GptPass *p);

/* Puts 0 into all tables of a pass. Its dropout masks stay. */
void gpt_pass_clear(GptPass *p);

/* Draws anew which entries are dropped of what each attention and each
 * network adds, block by block: from now on gpt_forward fills p with what
 * is left, and gpt_backward goes back from there. With a rate of 0 nothing
 * is drawn, and nothing is dropped any more. Refuses a rate that is not
 * from 0 to 1, and a pass without tables.
 * PyTorch: F.dropout(x, rate) of each x that is added, in this order; in
 * GPT2LMHeadModel, of Hugging Face's transformers, resid_pdrop, where
 * embd_pdrop and attn_pdrop are 0. */
void gpt_pass_drop(GptPass *p, Random *r, double rate);

/* What is left of n entries, all that attention or the network of a block
 * adds, or of their gradient, by the mask keep_1 or keep_2: what
 * dropout_apply leaves, and with NULL as a mask all of them. Both tables
 * may be the same. PyTorch: F.dropout. */
void gpt_drop(const GptBlockPass *p, const float *keep, int n,
              const float x[n], float left[n]);

/* Makes a cache for each layer, with room for the whole context; frees
 * them, while the model is there. */
void gpt_caches_init(KVCache *cache, const Gpt *g);
void gpt_caches_free(KVCache *cache, const Gpt *g);

/* The numbers that a model begins with: norms of weight 1, biases of 0, all
 * else normal with a deviation of 0.02, but for the layers `out` and
 * `down`, which add to the sum: theirs is divided by the root of 2 *
 * layers: Radford et al. 2019, section 2.3, which does not tell the 0.02;
 * that is initializer_range of Hugging Face's transformers. PyTorch:
 * normal_(0, 0.02) for each weight of tables and linear layers, in the
 * order of named_parameters(). */
void gpt_fill(Random *r, Gpt *g);

/* Into what comes into the first block, of all texts: the embedding of each
 * token plus that of its position, which counts from `first` in each text.
 * Refuses ids that are no row, and more tokens than the context. */
void gpt_embed(const Gpt *g, int first, const int *ids, GptPass *p);

/* Back from there: adds to the gradients of tokens and positions, for texts
 * from their first token on. Refuses ids that are no row. */
void gpt_embed_backward(const Gpt *g, const int *ids, const GptPass *grad_p,
                        Gpt *grad_g);

/* From the ids of all texts to the logits of what comes next, row by row.
 * With a cache for each layer, one text, whose n tokens follow those that
 * the caches hold; with NULL, texts from their first token on, in which no
 * token sees its future. Fills p, but with caches of attention's traces
 * only the tables of all heads side by side, joined and out. Refuses what
 * gpt_pass_check refuses, ids that are no row, more tokens than the
 * context, and caches that do not fit.
 * PyTorch: GPT2LMHeadModel(...)(ids).logits, of Hugging Face's
 * transformers. */
void gpt_forward(const Gpt *g, KVCache *cache, const int *ids, GptPass *p);

/* What the last n tokens of a text get from each other and from those
 * before them, which the cache holds, and to which they are added. Fills of
 * t the tables of all heads side by side, joined and out. Refuses a cache
 * whose heads or widths are not the attention's, and what
 * attention_texts_check, kv_cache_append and kv_cache_attend refuse. */
void attend_cached(const Attention *a, KVCache *c, int n,
                   const float x[n][a->d_x], Trace *t);

/* Refuses a pass that is not for this model, and gradients of other sizes
 * than the model and its pass have. */
void gpt_gradient_check(const Gpt *g, const GptPass *p, const Gpt *grad_g,
                        const GptPass *grad_p);

/* From grad_p->logits, the gradient of a loss by the logits, adds to the
 * gradients of all parameters. All else in grad_p must be 0 before it
 * begins. With dropout, the tables `after` in grad_p are left with the
 * gradient of what the network adds, and not of the sum. Refuses what
 * gpt_gradient_check refuses, and ids that are no row.
 * PyTorch: loss.backward(). */
void gpt_backward(const Gpt *g, const int *ids, const GptPass *p,
                  GptPass *grad_p, Gpt *grad_g);
