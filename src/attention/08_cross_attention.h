/*
## Chapter 8, two texts {#header-cross-attention}
*/

#pragma once

#include "attention/B_random.h"
#include "attention/attention_object.h"

/* Fills the weight of a linear layer so that it computes x @ W with the
 * W that is drawn: random_fill, turned over.
 * PyTorch: torch.rand(d_in, d_out).T. */
void random_transposed(Random *r, int d_in, int d_out,
                       float weight[d_out][d_in]);

/* One head from one text to another, which may be of different width; its
 * three layers are drawn in the order query, key, value by torch.rand, and
 * have no bias.
 * Refuses what attention_init refuses.
 * Raschka 2024, magazine: CrossAttention, for d_x = d_y. */
void cross_attention_init(Attention *a, Random *r, int d_x, int d_y,
                          int d_k, int d_v);

/* Every one of n tokens of the first input attends to all m tokens of the
 * second, with one head and no output layer. Fills the tables from query to
 * context. Refuses what attention_check refuses, several heads, an output
 * layer, and two widths if x is y.
 * PyTorch: F.scaled_dot_product_attention(query(x), key(y), value(y)). */
void cross_attention_forward(const Attention *a, int n, int m,
                             const float x[n][a->d_x],
                             const float y[m][a->d_y], Trace *t);

/* The keys and values of the second input alone, into a trace that may be
 * for any number of queries. Refuses what attention_check refuses.
 * Elsewhere: the encoder's part of a cross-attention cache. */
void cross_attention_encode(const Attention *a, int m,
                            const float y[m][a->d_y], Trace *t);

/* What one token of the first input gets from the keys and values that are
 * in the trace. Refuses what attention_check refuses for one query, several
 * heads, and an output layer. */
void cross_attention_ask(const Attention *a, const float x[a->d_x],
                         Trace *t);

/* For each query the number of the key with the largest weight, the first
 * of several. NaN is never the largest, and a row that has nothing else is
 * refused. PyTorch: torch.argmax(weights, dim=-1), but for NaN. */
void hard_alignment(int n, int m, const float weights[n][m], int argmax[n]);
