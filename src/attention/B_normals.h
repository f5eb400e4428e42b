/*
## Appendix B, normal numbers {#header-normals}
*/

#pragma once

#include "attention/04_random.h"

/* A number from 0 to below 1 with 53 binary digits.
 * PyTorch: torch.rand(1, dtype=torch.float64), to the last bit. */
double random_double(Random *r);

/* A table of normal numbers with this mean and standard deviation, used as
 * doubles for fewer than 16 numbers, and as floats for more. Refuses a
 * deviation below 0, and what no float can hold.
 * PyTorch: x.normal_(mean, deviation), to the last bit, on x86 with AVX2.
 * Box and Muller 1958. */
void normal_fill(Random *r, int n, int m, double mean, double deviation,
                 float x[n][m]);

/* The table that an embedding begins with: mean 0, deviation 1.
 * PyTorch: nn.Embedding(rows, d).weight. */
void embedding_fill(Random *r, int rows, int d, float table[rows][d]);
