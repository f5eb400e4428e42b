/*
## Chapter 1, alignment {#header-dot-product}
*/

#pragma once

/* Multiplies two lists entry by entry: product[k] = a[k] * b[k].
 * PyTorch: a * b. NumPy: np.multiply(a, b). */
void multiply_entries(int n, const float a[n], const float b[n],
                      float product[n]);

/* The dot product, the sum of a[k] * b[k]; 0 for n = 0. Like other
 * products of vectors and tables in this book, it is added up as a float:
 * of a million terms, the fifth digit may be wrong.
 * PyTorch: torch.dot(a, b), a @ b. */
float dot(int n, const float a[n], const float b[n]);

/* The length of a list as an arrow, root of its dot product with itself,
 * whose squares must be numbers that a float can hold.
 * PyTorch: torch.linalg.vector_norm(a). */
float length(int n, const float a[n]);

/* All dot products of n queries with m keys of d entries each:
 * scores[i][j] = dot(query[i], key[j]).
 * PyTorch: query @ key.T. Vaswani et al. 2017, in equation 1. */
void dot_scores(int n, int m, int d, const float query[n][d],
                const float key[m][d], float scores[n][m]);

/* The matrix product: entry [i][j] is row i of a times column j of b.
 * PyTorch: a @ b, torch.matmul(a, b). */
void matmul(int n, int m, int d, const float a[n][d], const float b[d][m],
            float product[n][m]);

/* Exchanges rows and columns: transposed[j][i] = a[i][j].
 * PyTorch: a.T. */
void transpose(int n, int m, const float a[n][m], float transposed[m][n]);

/* The cosine of the angle between two lists, -1 to 1 but for rounding.
 * Refuses a list of zeros.
 * PyTorch: F.cosine_similarity(a, b, dim=0), which takes a length below
 * 1e-8 for 1e-8, and answers 0 where a length is beyond a float. */
float cosine(int n, const float a[n], const float b[n]);

/* The cosines of n queries with m keys of d entries each.
 * Refuses what cosine refuses.
 * PyTorch: F.normalize(query) @ F.normalize(key).T. */
void cosine_scores(int n, int m, int d, const float query[n][d],
                   const float key[m][d], float scores[n][m]);
