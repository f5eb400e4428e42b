/*
## Chapter 11, a batch {#header-causal-attention}
*/

#pragma once

#include "attention/09_causal_mask.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"

/* One head, complete: from the queries, keys and values of a trace to its
 * context vectors. The scores and weights are those of attention_weights;
 * `keep_mask` says which weights dropout of rate p keeps, and `dropped` is
 * what it makes of them, with which the values are mixed. If r is NULL, as
 * in evaluation, nothing is dropped. A value is not hidden, only mixed with
 * weight 0: where one is not finite, that entry of the contexts that must
 * not see it is NaN. Refuses a trace for several heads, with an output, or
 * without tables, what mask_check refuses and, with r, a rate that is not
 * from 0 to 1.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=..., dropout_p=p). */
void attend(Mask mask, double p, Random *r, Trace *t);

/* One head for a causal mask, with dropout; its layers are drawn in the
 * order query, key, value. Refuses a rate that is not from 0 to 1, a
 * context length below 0 (0: any), and what attention_init refuses.
 * Raschka 2024, section 3.5: CausalAttention(d_in, d_out, context_length,
 * p, has_bias). */
void causal_attention_init(Attention *a, Random *r, int d_in, int head_dim,
                           int context_length, double p, int has_bias);

/* One head and no output layer, from n tokens x and m tokens y that may be
 * the same to context vectors. In training r draws for the dropout; in
 * evaluation r is NULL. Fills the tables from query to context, and those
 * of dropout. Refuses what attention_check and mask_check refuse, several
 * heads, an output layer, two widths if x is y and, with r, a rate that is
 * not from 0 to 1.
 * Raschka 2024, section 3.5: CausalAttention, with mask_causal(0) and y =
 * x. */
void head_forward(const Attention *a, Mask mask, Random *r, int n, int m,
                  const float x[n][a->d_x], const float y[m][a->d_y],
                  Trace *t);

/* All sentences of a batch, one after the other, each into a trace of its
 * own, and none seeing its future. Fills what head_forward fills. Refuses
 * what attention_check and mask_check refuse, several heads, an output
 * layer, two widths and, with r, a rate that is not from 0 to 1.
 * PyTorch: the class called with a tensor of three dimensions, whose
 * dropout masks come from one stream as ours do. */
void causal_attention_batch(const Attention *a, Random *r, int batch, int n,
                            const float x[batch][n][a->d_x],
                            Trace trace[batch]);

/* Hides, in place, the keys that are no words from every query.
 * PyTorch: mask * ~key_padding_mask. */
void mask_padding(int n, int m, const int is_word[m], float mask[n][m]);
