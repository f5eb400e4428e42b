/*
## A transposed copy: `transpose_scaled.c` {#header-transpose-scaled}
*/

#pragma once

#include <stddef.h>

/* to[j][i] = factor * from[i][j] for n rows of m floats, where the rows of
 * both are so many floats apart. PyTorch: factor * x.T. */
void transpose_scaled(int n, int m, float factor, const float *from,
                      ptrdiff_t row, float *to, ptrdiff_t to_row);
