/*
## Chapter 14, one pass {#header-flash}
*/

#pragma once

#include "attention/09_causal_mask.h"

/* What a query remembers of its keys so far: the largest score, and the sum
 * of e to the power of each score minus the largest. Beside it goes the
 * mixture of the values by these exponentials, [d_v]. */
typedef struct {
    float largest;
    double sum;
} OnlineSoftmax;

/* Before the first key. */
void online_softmax_init(int d_v, OnlineSoftmax *s, float mixture[d_v]);

/* After the last key: divides the mixture, which becomes the context
 * vector, and returns the log-sum-exp of all scores. If no key was seen,
 * these are NaN and minus infinity; if a score was NaN or +infinity, all is
 * NaN. PyTorch: torch.logsumexp(scores, dim=-1), which is +infinity in the
 * last case. */
float online_softmax_finish(int d_v, const OnlineSoftmax *s,
                            float mixture[d_v]);

/* A score is larger than all before: what was summed becomes relative to
 * it. If none was before, the sum and the mixture are still 0, and stay so.
 */
void online_softmax_rescale(float largest, int d_v, OnlineSoftmax *s,
                            float mixture[d_v]);

/* Adds a key, with its score and its value. Minus infinity hides a key, and
 * its value is not looked at.
 * Milakov and Gimelshein 2018, algorithm 3; Rabe and Staats 2021. */
void online_softmax_add(int d_v, float score, const float value[d_v],
                        OnlineSoftmax *s, float mixture[d_v]);

/* The same for a block of n keys; n may be 0. */
void online_softmax_add_block(int n, int d_v, const float scores[n],
                              const float value[n][d_v], OnlineSoftmax *s,
                              float mixture[d_v]);

/* Puts minus infinity where the mask hides a key, in place, in the square
 * of a table of scores whose first row is query i and whose first column is
 * key j. */
void mask_square(Mask mask, int i, int j, int rows, int cols,
                 float scores[rows][cols]);

/* May the queries up to number `last` see any of the keys from j on? */
int mask_shows_block(Mask mask, int last, int j);

/* What n queries get from the m keys that they may see, and the log-sum-exp
 * of each query's scores, with a table of 32 times 32 scores, for any n and
 * m. As attention_weights and matmul, but that the value of a hidden key
 * does not matter, whatever it is, and that values are added up before they
 * are divided, so that those near FLT_MAX may become infinite. Keys and
 * values of which all are hidden from 32 queries by mask_causal may be left
 * unread.
 * Refuses what mask_check refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=...), which answers 0 to a query that sees nothing.
 * Dao et al. 2022; Dao 2023, algorithm 1. */
void flash_forward(int n, int m, int d_k, int d_v, Mask mask,
                   const float query[n][d_k], const float key[m][d_k],
                   const float value[m][d_v], float context[n][d_v],
                   float log_sum_exp[n]);

/* From a query's context vector of some keys, and that of others, each with
 * its log-sum-exp: replaces the first by the context vector of all these
 * keys, and returns their log-sum-exp. Keys with minus infinity for their
 * log-sum-exp add nothing; two of these leave NaN and minus infinity. A
 * log-sum-exp that is NaN, with a context vector of NaN, leaves NaN; none
 * may be +infinity, which flash_forward never gives.
 * Dao et al. 2022, section 3.1, the decomposition of softmax. */
float merge_contexts(int d_v, float context[d_v], float log_sum_exp,
                     const float other[d_v], float other_log_sum_exp);
