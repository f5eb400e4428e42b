/*
## Chapter 4, the scale {#header-scaling}
*/

#pragma once

/* The spread of n scores, their standard deviation: the root of the mean
 * square of what they differ from their mean.
 * PyTorch: torch.std(scores, correction=0). */
float score_spread(int n, const float scores[n]);

/* The scores of n queries with m keys of d entries, all normal numbers from
 * seed 123, the queries first. */
void random_scores(int n, int m, int d, float scores[n][m]);

/* Divides the scores by the root of d_k, in place.
 * PyTorch: scores / d_k**0.5. Vaswani et al. 2017, in equation 1. */
void scale_scores(int n, int m, int d_k, float scores[n][m]);

/* The largest entry of each row, and the mean of these; NaN if one is NaN.
 * PyTorch: weights.max(dim=-1).values.mean(). */
float mean_largest(int n, int m, const float weights[n][m]);

/* What n queries get from m keys and their values: the scores, divided by
 * the root of d_k, their softmax by rows, and the mixtures of the values.
 * PyTorch: F.scaled_dot_product_attention(query, key, value).
 * Vaswani et al. 2017, equation 1. */
void attention(int n, int m, int d_k, int d_v, const float query[n][d_k],
               const float key[m][d_k], const float value[m][d_v],
               float scores[n][m], float weights[n][m],
               float context[n][d_v]);

/* What n shares become when the score behind share j is raised by step; NaN
 * if the step is NaN. Refuses a j that is not from 0 to n - 1.
 * PyTorch: F.softmax(log(weights) + step * F.one_hot(j, n), dim=-1). */
void nudge_share(int n, const float weights[n], int j, float step,
                 float nudged[n]);
