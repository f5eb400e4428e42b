/*
## Chapter 12, several heads {#header-heads}
*/

#pragma once

#include <stdint.h>

#include "attention/09_causal_mask.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"

/* Head h of an attention, as an attention of one head without an output
 * layer: its rows of each weight and bias, which stay where they are, so
 * there is nothing to free. Refuses an h that is not there, and what
 * attention_layers_check refuses.
 * PyTorch: heads[h], of an nn.ModuleList. */
Attention attention_head(const Attention *a, int h);

/* Several heads and no output layer. The heads are drawn one after the
 * other, each by torch.rand as in cross_attention_init. Refuses what
 * attention_init refuses.
 * Raschka 2024, magazine: MultiHeadAttentionWrapper(d_in, d_k, d_v,
 * n_heads). */
void heads_init(Attention *a, Random *r, int n_heads, int d_in, int d_k,
                int d_v);

/* The same with heads that are drawn as in causal_attention_init. Refuses a
 * rate that is not from 0 to 1, a context length below 0 (0: any), and what
 * attention_init refuses.
 * Raschka 2024, section 3.6: MultiHeadAttentionWrapper(d_in, d_out,
 * context_length, p, n_heads, has_bias). */
void causal_heads_init(Attention *a, Random *r, int d_in, int head_dim,
                       int context_length, double p, int n_heads,
                       int has_bias);

/* Every head for itself, one after the other, each in its trace; their
 * context vectors, side by side, head 0 first, are `joined`. Refuses what
 * attention_check and mask_check refuse, an output layer, two widths if x
 * is y and, with r, a rate that is not from 0 to 1. With r, the masks of a
 * text are drawn head by head; PyTorch draws those of a head for all texts
 * of a batch, before the next head's.
 * PyTorch: torch.cat([head(x) for head in heads], dim=-1). */
void heads_forward(const Attention *a, Mask mask, Random *r, int n, int m,
                   const float x[n][a->d_x], const float y[m][a->d_y],
                   Trace t[a->n_heads],
                   float joined[n][a->n_heads * a->d_v]);

/* How many parameters heads of these sizes have. Refuses a size below 1,
 * and sizes whose parameters no int64_t can count.
 * PyTorch: sum(p.numel() for p in heads.parameters()). */
int64_t count_parameters(int n_heads, int d_in, int d_k, int d_v);
