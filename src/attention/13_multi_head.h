/*
## Chapter 13, one projection {#header-multi-head}
*/

#pragma once

#include "attention/09_causal_mask.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"

/* Cuts columns into heads: split[h][i][k] = x[i][h * head_dim + k].
 * PyTorch: x.view(n, n_heads, head_dim).transpose(0, 1). */
void split_heads(int n, int n_heads, int head_dim,
                 const float x[n][n_heads * head_dim],
                 float split[n_heads][n][head_dim]);

/* Undoes split_heads.
 * PyTorch: split.transpose(0, 1).contiguous().view(n, -1). */
void merge_heads(int n, int n_heads, int head_dim,
                 const float split[n_heads][n][head_dim],
                 float x[n][n_heads * head_dim]);

/* Several heads and an output layer with a bias; the four layers are drawn
 * in the order query, key, value, out. Refuses a d_out that n_heads does
 * not divide, a context length below 0 (0: any), a rate that is not from 0
 * to 1, and what attention_init refuses.
 * Raschka 2024, section 3.6: MultiHeadAttention(d_in, d_out,
 * context_length, p, n_heads, has_bias). */
void multi_head_init(Attention *a, Random *r, int d_in, int d_out,
                     int context_length, double p, int n_heads,
                     int has_bias);

/* Draws in another order and from other ranges, and sets each bias to 0.
 * Refuses a d_model that n_heads does not divide, a rate that is not from 0
 * to 1, and what attention_init refuses.
 * PyTorch: nn.MultiheadAttention(d_model, n_heads, dropout=p). */
void multi_head_init_pytorch(Attention *a, Random *r, int d_model, double p,
                             int n_heads);

/* Attention, complete: from n tokens x and m tokens y that may be the same
 * to `joined`, and to `out` if there is an output layer; any number of
 * heads, any mask. With r, as in training, weights are dropped, head after
 * head; r NULL drops none. Fills every table of the trace. Refuses what
 * attention_check and mask_check refuse, two widths if x is y and, with r,
 * a rate that is not from 0 to 1.
 * PyTorch: nn.MultiheadAttention()(x, y, y, attn_mask=...), in which 1
 * means hidden. Raschka 2024, section 3.6. Vaswani et al. 2017, section
 * 3.2.2. */
void attention_forward(const Attention *a, Mask mask, Random *r, int n,
                       int m, const float x[n][a->d_x],
                       const float y[m][a->d_y], Trace *t);

/* The mean of the weights of all heads. Refuses n_heads < 1.
 * PyTorch: nn.MultiheadAttention()(x, x, x)[1]. */
void average_weights(int n, int m, int n_heads,
                     const float weights[n_heads][n][m],
                     float average[n][m]);
