/*
## Chapter 17, where a word stands {#header-positions}
*/

#pragma once

/* Refuses an odd d, whose last entry would be in no pair. */
void pairs_check(int d);

/* The sinusoidal encoding of the positions 0 to n - 1: entries 2 k and
 * 2 k + 1 of position i are sine and cosine of i / 10000^(2 k / d), an
 * angle that is computed as a double. Refuses an odd d.
 * Vaswani et al. 2017, section 3.5. */
void sinusoids(int n, int d, float position[n][d]);

/* Adds to token i of n the row for its position, first + i, in place.
 * Refuses a first below 0, and positions for which there is no row.
 * PyTorch: x + F.embedding(torch.arange(first, first + n), position). */
void add_positions(int n, int d, int length, int first,
                   const float position[length][d], float x[n][d]);

/* Which entries of a row rotate together: entries k and d / 2 + k, as for
 * the weights of Llama that Hugging Face publishes, or entries 2 k and
 * 2 k + 1, as in the paper and for Meta's own. */
typedef enum { PAIRING_HALVES, PAIRING_NEIGHBOURS } Pairing;

/* Turns pair k of row i by the angle (first + i) / 10000^(2 k / d), in
 * place. Of a head, one calls it for the queries and for the keys. Refuses
 * an odd d, a first below 0, and a pairing that there is not.
 * Su et al. 2021, equation 34. PyTorch: x * torch.polar(1, angle), of
 * complex numbers, for neighbours. Here the angle is a double; in float32,
 * as models' code mostly has it, one at position 10,000 is off by up to
 * 0.0008 for d = 128. */
void rope(Pairing pairing, int n, int d, int first, float x[n][d]);

/* By how much a score falls with each position between its query and its
 * key: 2 to the power of -8 (head + 1) / n_heads. Refuses a head that is
 * not there. Press et al. 2022, section 3; their code does this for powers
 * of 2, and for other numbers of heads mixes the slopes of the two nearest.
 */
float alibi_slope(int n_heads, int head);

/* Takes from each score slope times how far its key, at position j, lies
 * from its query, at position first + i, in place, whichever comes first in
 * the text. A table of zeros becomes the bias of an AttentionCall.
 * Press et al. 2022, ALiBi. PyTorch: attn_mask=-slope * distance, of
 * F.scaled_dot_product_attention. */
void add_alibi(int n, int m, int first, float slope, float scores[n][m]);

/* From the weight of a layer for queries or keys, one that gives the same
 * scores with PAIRING_HALVES as it did with PAIRING_NEIGHBOURS: entries 2 k
 * and 2 k + 1 of each head become entries k and d_k / 2 + k. Refuses an odd
 * d_k.
 * PyTorch: weight.view(n_heads, d_k // 2, 2, -1).transpose(1, 2). */
void halves_from_neighbours(int n_heads, int d_k, int d_in,
                            const float weight[n_heads * d_k][d_in],
                            float reordered[n_heads * d_k][d_in]);
