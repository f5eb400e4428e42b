/*
## Chapter 19, the way back, in tiles {#header-flash-backward}
*/

#pragma once

#include <stdint.h>

#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/15_kernel.h"

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

/* A call that attend_fast has computed, backwards, as flash_backward does
 * one head's: from grad_context it adds to grad_query, grad_key and
 * grad_value, of which the heads that share keys add to the same rows. The
 * call has its context and its log_sum_exp as attend_fast has left them.
 * Rows of gradients must not overlap. A bias and factors `keep_factor` are
 * taken into account, and get no gradient; where a bias leaves a query only
 * scores below -1e38, it is not to be used. What is added does not depend
 * on the number of threads. This one is compiled for what every processor
 * of its kind has.
 * Refuses what attention_call_check refuses, a log_sum_exp that is NULL,
 * and rows whose at is NULL.
 * PyTorch: the backward of F.scaled_dot_product_attention(query, key,
 * value, attn_mask=..., is_causal=..., scale=..., enable_gqa=True). Dao
 * 2023, algorithm 2. */
void attend_fast_backward(const AttentionCall *call,
                          StridedRows grad_context, StridedRows grad_query,
                          StridedRows grad_key, StridedRows grad_value);

/* attend_fast_backward as it was compiled for the instruction set of a
 * kernel, one from best_kernel or kernel_named. It does and refuses the
 * same. */
typedef void AttendFastBackward(const AttentionCall *call,
                                StridedRows grad_context,
                                StridedRows grad_query,
                                StridedRows grad_key,
                                StridedRows grad_value);
AttendFastBackward *attend_fast_backward_of(const Kernel *kernel);

/* Refuses what attention_call_check refuses, a log_sum_exp that is NULL,
 * and rows whose at is NULL. */
void attention_call_gradients_check(const AttentionCall *call,
                                    StridedRows grad_context,
                                    StridedRows grad_query,
                                    StridedRows grad_key,
                                    StridedRows grad_value);

/* As linear_backward, but for rounding, and by the best kernel's
 * matmul. */
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float grad_out[n][l->d_out], Linear *grad_l,
                          float grad_x[n][l->d_in]);

/* Makes a trace for so many texts of n tokens each, without tables of
 * scores. Refuses texts below 1, and what trace_init refuses. */
void trace_init_texts(Trace *t, const Attention *a, int texts, int n);

/* Refuses layers without numbers, or without the sizes or the biases of
 * their attention; two widths; more tokens than the context length; no
 * text; and a trace that is not for this attention and these texts. */
void attention_texts_check(const Attention *a, int texts, int n,
                           const Trace *t);

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

/* log_sum_exp, the log-sum-exp of each row of scores: adds to the gradient
 * of each score its weight times the gradient of its row's log-sum-exp. A
 * row of nothing but minus infinity adds nothing.
 * PyTorch: the backward of torch.logsumexp(scores, dim=-1). */
void log_sum_exp_backward(int n, int m, const float scores[n][m],
                          const float log_sum_exp[n],
                          const float grad_log_sum_exp[n],
                          float grad_scores[n][m]);
