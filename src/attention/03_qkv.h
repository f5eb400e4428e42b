/*
## Chapter 3, three roles {#header-qkv}
*/

#pragma once

/* Queries, keys and values of n tokens of d entries: x times each matrix.
 * PyTorch: x @ w_query, x @ w_key, x @ w_value. */
void project_qkv(int n, int d, int d_k, int d_v, const float x[n][d],
                 const float w_query[d][d_k], const float w_key[d][d_k],
                 const float w_value[d][d_v], float query[n][d_k],
                 float key[n][d_k], float value[n][d_v]);

/* What one query gets from m keys and their values: its scores, their
 * softmax, and the mixture of the values. Not scaled.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, scale=1.0). */
void attend_one(int m, int d_k, int d_v, const float query[d_k],
                const float key[m][d_k], const float value[m][d_v],
                float scores[m], float weights[m], float context[d_v]);

/* Three words of four entries, for attention on paper; and their queries,
 * keys and values, by matrices of whole numbers. */
extern const float paper[3][4];
void project_paper(float query[3][3], float key[3][3], float value[3][3]);

/* A matrix for the queries of "cat likes fish" with which the verb asks for
 * cat and fish alike, and the others ask as before. */
void example_w_query(float w_query[3][3]);
