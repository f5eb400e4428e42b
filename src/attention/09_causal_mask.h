/*
## Chapter 9, hiding {#header-causal-mask}
*/

#pragma once

/* The mask of what the words of one text may see: 1 for a word itself and
 * the words before it, 0 for its future.
 * PyTorch: torch.tril(torch.ones(n, n)). */
void causal_mask(int n, float mask[n][n]);

/* Multiplies the weights by a mask, in place.
 * PyTorch: weights * mask. */
void mask_weights(int n, int m, const float mask[n][m],
                  float weights[n][m]);

/* Divides each row by its sum, in place. A row of zeros becomes NaN.
 * PyTorch: weights / weights.sum(dim=-1, keepdim=True). */
void renormalize(int n, int m, float weights[n][m]);

/* Puts minus infinity for the future of each of n words, in place, whatever
 * was there before. Vaswani et al. 2017, section 3.2.3. PyTorch:
 * scores.masked_fill(torch.ones(n, n).tril() == 0, -torch.inf). */
void mask_scores(int n, float scores[n][n]);

/* Which keys a query may see: all; those up to its own position, which is
 * first + i for query i; or those for which a table has another entry than
 * 0. With first = 0, query i and key i have the same position; with first =
 * m - n, the last query and the last key have. With a negative first, some
 * queries see nothing. The table stays its owner's.
 * PyTorch: attn_mask=None, is_causal=True (first = 0), attn_mask=table !=
 * 0, of F.scaled_dot_product_attention. */
typedef struct {
    enum { MASK_NONE, MASK_CAUSAL, MASK_TABLE } kind;
    int first;          /* of MASK_CAUSAL: the position of query 0 */
    int n, m;           /* of MASK_TABLE */
    const float *table; /* float [n][m], of MASK_TABLE */
} Mask;

Mask mask_none(void);
Mask mask_causal(int first);
Mask mask_table(int n, int m, const float table[n][m]);

/* Refuses a table of other sizes than n and m, or none where one is needed,
 * and a kind of mask that there is not. */
void mask_check(int n, int m, Mask mask);

/* Puts minus infinity where the mask hides a key, in place. Refuses what
 * mask_check refuses.
 * PyTorch: scores.masked_fill(mask == 0, -torch.inf). */
void apply_mask(int n, int m, Mask mask, float scores[n][m]);

/* Attention up to its weights, of what may be seen: the scores, divided by
 * the root of d_k and masked, and their softmax by rows. A query that may
 * see no key gets weights of NaN, as from softmax; PyTorch's attention
 * answers 0 to such a query. Refuses what mask_check refuses.
 * Vaswani et al. 2017, equation 1 and section 3.2.3. */
void attention_weights(int n, int m, int d_k, Mask mask,
                       const float query[n][d_k], const float key[m][d_k],
                       float scores[n][m], float weights[n][m]);

/* As mask_scores, but a word sees only itself and the w - 1 words before
 * it. Refuses w < 1. Beltagy et al. 2020, section 3.1, on one side. */
void mask_window(int n, int w, float scores[n][n]);

/* The smallest whole number g from 0 on for which a hidden score, g above
 * the largest of n visible ones, spoils renormalizing: some weight is NaN,
 * or differs by more than the tolerance from that of softmax over the
 * visible scores alone. Refuses a tolerance below 0 or NaN, and a visible
 * score that is not finite. */
int find_gap(int n, const float visible[n], float tolerance);
