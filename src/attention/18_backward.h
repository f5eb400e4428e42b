/*
## Chapter 18, what every number did {#header-backward}
*/

#pragma once

#include "attention/attention_object.h"

/* A name that begins with grad_ is the gradient of a loss by what the rest
 * names: for each entry, by how much the loss grows for each unit that the
 * entry grows. A gradient has the shape of its table, and that of an
 * Attention or of a Trace is another of the same sizes. A function named
 * _backward takes what its forward has taken and made, and the gradient of
 * what it has made; to the gradients of what it has taken it adds, so they
 * have to begin somewhere, with 0. What it writes without adding is said.
 */

/* product = a @ b. PyTorch: grad_a += grad_product @ b.T,
 * grad_b += a.T @ grad_product. */
void matmul_backward(int n, int m, int d, const float a[n][d],
                     const float b[d][m], const float grad_product[n][m],
                     float grad_a[n][d], float grad_b[d][m]);

/* scores = query @ key.T. PyTorch: grad_query += grad_scores @ key,
 * grad_key += grad_scores.T @ query. */
void dot_scores_backward(int n, int m, int d, const float query[n][d],
                         const float key[m][d],
                         const float grad_scores[n][m],
                         float grad_query[n][d], float grad_key[m][d]);

/* out = x @ weight.T + bias. To the weight's gradient that of all n rows is
 * added, and to the bias's, where there is one. Refuses what
 * linear_gradient_check refuses.
 * PyTorch: the backward of F.linear(x, weight, bias). */
void linear_backward(const Linear *l, int n, const float x[n][l->d_in],
                     const float grad_out[n][l->d_out], Linear *grad_l,
                     float grad_x[n][l->d_in]);

/* weights = softmax(scores): to grad_scores[j] adds weights[j] times what
 * grad_weights[j] differs from the mean of all, in which each counts by its
 * weight. A score of minus infinity gets 0, unless all are.
 * PyTorch: the backward of F.softmax(scores, dim=-1). */
void softmax_backward(int n, const float weights[n],
                      const float grad_weights[n], float grad_scores[n]);

/* Puts 0, in place, where the scores are minus infinity: they were put
 * there, whatever was there before.
 * PyTorch: the backward of scores.masked_fill(mask == 0, -torch.inf). */
void mask_backward(int n, int m, const float scores[n][m],
                   float grad_scores[n][m]);

/* x = embed(ids): row ids[i] of the table gets row i of grad_x, as often as
 * it was looked up. Refuses an id that is no row.
 * PyTorch: the backward of F.embedding(ids, table). */
void embed_backward(int n, int d, int rows, const int ids[n],
                    const float grad_x[n][d], float grad_table[rows][d]);

/* attend, of which the tables from scores to dropped are given, and the
 * rate at which it has dropped. Writes grad_dropped, grad_weights and
 * grad_scores, the last one as the gradient of the dot products with which
 * attend's scores begin; and adds to those of query, key and value. A query
 * that sees nothing does nothing with queries and keys, and leaves NaN in
 * grad_value. Refuses a rate that is not from 0 to 1.
 * PyTorch: the backward of F.scaled_dot_product_attention, but for a query
 * that sees nothing. */
void attend_backward(int n, int m, int d_k, int d_v, double rate,
                     const float query[n][d_k], const float key[m][d_k],
                     const float value[m][d_v], const float scores[n][m],
                     const float weights[n][m], const float keep_mask[n][m],
                     const float dropped[n][m],
                     const float grad_context[n][d_v],
                     float grad_dropped[n][m], float grad_weights[n][m],
                     float grad_scores[n][m], float grad_query[n][d_k],
                     float grad_key[m][d_k], float grad_value[m][d_v]);

/* attention_forward, which has filled t. In grad_t, of the same sizes,
 * `out` is given, or without an output layer `joined`; its other tables are
 * written, except keep_mask, which is left as it is. Adds to the gradients
 * of the parameters and of both texts, which may be one table, as x and y
 * may.
 * Refuses what attention_check refuses of t and of grad_t, and what
 * attention_gradient_check refuses.
 * PyTorch: what loss.backward() does with nn.MultiheadAttention. */
void attention_backward(const Attention *a, int n, int m,
                        const float x[n][a->d_x], const float y[m][a->d_y],
                        const Trace *t, Trace *grad_t, Attention *grad_a,
                        float grad_x[n][a->d_x], float grad_y[m][a->d_y]);

/* cosine(n, a, b), whose gradient is grad_cosine. Refuses a list of zeros.
 * PyTorch: the backward of F.cosine_similarity(a, b, dim=0). */
void cosine_backward(int n, const float a[n], const float b[n],
                     float grad_cosine, float grad_a[n], float grad_b[n]);
