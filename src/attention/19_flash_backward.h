/*
## Chapter 19, the way back, in tiles {#header-flash-backward}
*/

#pragma once

#include "attention/09_causal_mask.h"

/* From scores of n queries, divided and masked, and their log-sum-exps to
 * weights, in place. A query that sees nothing, whose log-sum-exp is minus
 * infinity, has weights of 0. */
void recompute_weights(int n, int m, const float log_sum_exp[n],
                       float x[n][m]);

/* For each query the mean of its weights' gradients, each counted by its
 * weight, with no weight at hand: the dot product of its context vector and
 * that one's gradient; 0 for a query that sees nothing.
 * PyTorch: (grad_context * context).sum(dim=-1). Dao et al. 2022, section
 * B.4. */
void context_dot_grad(int n, int d_v, const float log_sum_exp[n],
                      const float context[n][d_v],
                      const float grad_context[n][d_v], float mean[n]);

/* flash_forward, which has made context and log_sum_exp: attend_backward
 * without dropout and without tables, the weights being made again in
 * squares of 32 times 32. Adds to grad_query, grad_key and grad_value. A
 * query that sees nothing adds nothing, as in PyTorch, as long as its
 * grad_context is finite. Where scores are large, few digits are left for
 * the weights: with scores of 1,000 they are right to a ten thousandth.
 * Refuses what mask_check refuses.
 * PyTorch: the backward of F.scaled_dot_product_attention(query, key,
 * value, attn_mask=..., is_causal=...). Dao et al. 2022, algorithm 4. */
void flash_backward(int n, int m, int d_k, int d_v, Mask mask,
                    const float query[n][d_k], const float key[m][d_k],
                    const float value[m][d_v], const float context[n][d_v],
                    const float log_sum_exp[n],
                    const float grad_context[n][d_v],
                    float grad_query[n][d_k], float grad_key[m][d_k],
                    float grad_value[m][d_v]);

/* Which part of the queries a part of the keys meets in a round, where
 * there are so many parts of both, and as many rounds: no two meet the same
 * in one round, and in all rounds each meets all. Parts and rounds count
 * from 0. */
int query_part(int parts, int keys, int round);

/* log_sum_exp, the log-sum-exp of each row of scores: adds to the gradient
 * of each score its weight times the gradient of its row's log-sum-exp. A
 * row of nothing but minus infinity adds nothing.
 * PyTorch: the backward of torch.logsumexp(scores, dim=-1). */
void log_sum_exp_backward(int n, int m, const float scores[n][m],
                          const float log_sum_exp[n],
                          const float grad_log_sum_exp[n],
                          float grad_scores[n][m]);
