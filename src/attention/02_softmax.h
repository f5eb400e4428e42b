/*
## Chapter 2, shares {#header-softmax}
*/

#pragma once

/* Softmax as the formula has it: e^score divided by the sum of all of them.
 * For show only: where e^score or the sum exceeds the largest float, or all
 * come to nothing, weights become 0 or NaN. From 89 up and -104 down, that
 * happens to a single score. */
void softmax_naive(int n, const float scores[n], float weights[n]);

/* Softmax: shares from 0 to 1 that add up to one, whatever the size of the
 * scores. A score of -infinity gets 0; if all are -infinity, or one is
 * +infinity or NaN, every share is NaN. Refuses n < 1.
 * PyTorch: F.softmax(scores, dim=-1), alike in every case but the last. */
void softmax(int n, const float scores[n], float weights[n]);

/* The mixture of n rows by their weights:
 * context[k] = sum over j of weights[j] * value[j][k].
 * PyTorch: weights @ value. For many rows of weights at once: matmul. */
void weighted_sum(int n, int d, const float weights[n],
                  const float value[n][d], float context[d]);

/* Softmax of each row of a table.
 * PyTorch: F.softmax(scores, dim=-1). */
void softmax_rows(int n, int m, const float scores[n][m],
                  float weights[n][m]);

/* The embeddings of "Your journey starts with one step", which several
 * tutorials use. Raschka 2024, section 3.3. */
extern const float journey[6][3];

/* Softmax that finds maximum and sum in one pass over the scores; a second
 * writes the shares. Agrees with softmax, NaN included. Refuses n < 1.
 * Milakov and Gimelshein 2018, algorithm 3. */
void softmax_online(int n, const float scores[n], float weights[n]);
