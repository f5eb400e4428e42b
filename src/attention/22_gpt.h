/*
## Chapter 22, GPT {#header-gpt}
*/

#pragma once

#include <stddef.h>

#include "attention/07_self_attention.h"
#include "attention/16_kv_cache.h"

/* Layer norm: the scale and the shift that it has learned for each entry.
 * The numbers belong to the module that the layer is a part of. */
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

/* Each entry times a share from 0 to 1 that grows with it, in the form that
 * GPT-2 has: out = x * share, with share = 1 / (1 + e^-u) and
 * u = sqrt(8 / pi) * (x + 0.044715 * x^3).
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
 * after a layer norm. Vaswani et al. 2017, section 3, with the norms in
 * front: Radford et al. 2019, section 2.3. */
typedef struct {
    Norm norm_1;
    Attention attention;
    Norm norm_2;
    Linear up, down; /* width to 4 * width, and back */
} GptBlock;

/* GPT-2: its sizes, and its parameters, which lie one after another in one
 * block of memory, in this order. A gradient, or an optimizer's
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

/* What a block computes: the stream as it comes in, what attention makes of
 * it, their sum, what the network makes of that, and the stream as it goes
 * out, which is what comes into the next block. Rows are those of all
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
    int texts, n;
    int layers, width, vocabulary;
    GptBlockPass *block; /* [layers] */
    float *normed;       /* [rows][width], after the last norm */
    float *logits;       /* [rows][vocabulary] */
    float *memory;       /* the block with all tables but attention's */
    size_t count;
    float *keep; /* the block with all dropout masks, or NULL */
} GptPass;

/* A block, for one text of n tokens in which no token sees its future: from
 * `in` to `after`, with every table of p filled on the way. The pass is one
 * of gpt_pass_init_plain. Refuses what attention_forward refuses.
 * PyTorch: GPT2Block(...)(x), of Hugging Face's transformers. */
void block_forward(const GptBlock *b, int n, GptBlockPass *p);

/* From grad_p->after, the gradient of a loss by what the block has made,
 * adds to the gradients of all its parameters, and to grad_p->in. Its other
 * tables must be 0 before it begins. Refuses what the ways back refuse that
 * it calls.
 * PyTorch: loss.backward(). */
void block_backward(const GptBlock *b, int n, const GptBlockPass *p,
                    GptBlockPass *grad_p, GptBlock *grad_b);

/* From the ids of one text to the logits of what comes next, row by row, in
 * a pass of gpt_pass_init_plain for n tokens. Refuses a pass for more texts
 * or other tokens, ids that are no row, and what block_forward refuses.
 * PyTorch: GPT2LMHeadModel(...)(ids).logits, of Hugging Face's
 * transformers. */
void gpt_forward_plain(const Gpt *g, int n, const int ids[n], GptPass *p);

/* From grad_p->logits, the gradient of a loss by the logits, adds to the
 * gradients of all parameters. All else in grad_p must be 0 before it
 * begins. Refuses ids that are no row, and what block_backward refuses.
 * PyTorch: loss.backward(). */
void gpt_backward_plain(const Gpt *g, int n, const int ids[n],
                        const GptPass *p, GptPass *grad_p, Gpt *grad_g);
