/*
## A GPT by the kernel: `gpt_fast.c` {#header-gpt-fast}
*/

#pragma once

#include "attention/16_kv_cache.h"
#include "attention/22_gpt.h"

/* Each number x becomes 1 / (1 + e^-x), in place; where that is 2^-126 or
 * less, 0. PyTorch: torch.sigmoid. */
void sigmoid(int n, float x[n]);

/* Into what comes into the first block, of all texts: the embedding of each
 * token plus that of its position, which counts from `first` in each text.
 * Refuses ids that are no row, and more tokens than the context. */
void gpt_embed(const Gpt *g, int first, const int *ids, GptPass *p);

/* Back from there: adds to the gradients of tokens and positions, for texts
 * from their first token on. Refuses ids that are no row. */
void gpt_embed_backward(const Gpt *g, const int *ids, const GptPass *grad_p,
                        Gpt *grad_g);

/* What the last n tokens of a text get from each other and from those
 * before them, which the cache holds, and to which they are added. Fills of
 * t the tables of all heads side by side, joined and out. Refuses a cache
 * whose heads or widths are not the attention's, and what
 * attention_texts_check, kv_cache_append and kv_cache_attend refuse. */
void attend_cached(const Attention *a, KVCache *c, int n,
                   const float x[n][a->d_x], Trace *t);

/* gelu, with a fast power: a share of 2^-126 or less is 0. */
void gelu_fast(int n, const float x[n], float share[n], float out[n]);

/* gpt_forward_plain for many texts, and by the kernel: from the ids of all
 * texts to the logits of what comes next, row by row.
 * With a cache for each layer, one text, whose n tokens follow those that
 * the caches hold; with NULL, texts from their first token on, in which no
 * token sees its future. Fills p, but with caches of attention's traces
 * only the tables of all heads side by side, joined and out. Refuses what
 * gpt_pass_check refuses, ids that are no row, more tokens than the
 * context, and caches that do not fit.
 * PyTorch: GPT2LMHeadModel(...)(ids).logits, of Hugging Face's
 * transformers. */
void gpt_forward(const Gpt *g, KVCache *cache, const int *ids, GptPass *p);

/* The same backwards: from grad_p->logits, the gradient of a loss by the
 * logits, adds to the gradients of all parameters. All else in grad_p must
 * be 0 before it begins. With dropout, the tables `after` in grad_p are
 * left with the gradient of what the network adds, and not of the sum.
 * Refuses what gpt_gradient_check refuses, and ids that are no row.
 * PyTorch: loss.backward(). */
void gpt_backward(const Gpt *g, const int *ids, const GptPass *p,
                  GptPass *grad_p, Gpt *grad_g);

/* What is left of n entries, all that attention or the network of a block
 * adds, or of their gradient, by the mask keep_1 or keep_2: what
 * dropout_apply leaves, and with NULL as a mask all of them. Both tables
 * may be the same. PyTorch: F.dropout. */
void gpt_drop(const GptBlockPass *p, const float *keep, int n,
              const float x[n], float left[n]);
