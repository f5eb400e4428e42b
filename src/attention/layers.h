/*
## Layers by the kernel: `layers.c` {#header-layers}
*/

#pragma once

#include <stdint.h>

#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"

/* As linear_forward and linear_backward, but for rounding, and by the best
 * kernel's matmul. */
void linear_forward_fast(const Linear *l, int n, const float x[n][l->d_in],
                         float y[n][l->d_out]);
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float grad_out[n][l->d_out], Linear *grad_l,
                          float grad_x[n][l->d_in]);

/* Self-attention for so many texts of n tokens each, whose rows lie one
 * text after the other: for each of them what attention_forward does
 * without dropout, but for rounding, and by the best kernel. Fills the
 * tables of such a trace. Refuses what attention_texts_check and
 * attention_call_check refuse.
 * PyTorch: nn.MultiheadAttention(d_model, n_heads, batch_first=True),
 * called with need_weights=False. */
void attention_forward_fast(const Attention *a, Mask mask, int texts, int n,
                            const float x[(int64_t)texts * n][a->d_x],
                            Trace *t);

/* The same backwards, from t, which attention_forward_fast has filled, and
 * with its mask. In grad_t, of the same sizes, `out` is given, or without
 * an output layer `joined`; query, key, value and, with an output layer,
 * joined are written. Adds to the gradients of the parameters and of x.
 * Refuses what attention_texts_check refuses of t and of grad_t, and what
 * attention_call_check and attention_gradient_check refuse. */
void attention_backward_fast(const Attention *a, Mask mask, int texts,
                             int n,
                             const float x[(int64_t)texts * n][a->d_x],
                             const Trace *t, Trace *grad_t,
                             Attention *grad_a,
                             float grad_x[(int64_t)texts * n][a->d_x]);
