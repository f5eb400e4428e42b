/*
## Chapter 15, the kernel {#header-kernel}
*/

#pragma once

#include <stddef.h>

#include "attention/transpose_scaled.h"

/* The product of a and b, [n][d] and [d][m], as matmul's, in the order in
 * which all that is read lies in memory. PyTorch: a @ b. */
void matmul_ordered(int n, int m, int d, const float a[n][d],
                    const float b[d][m], float c[n][m]);

/* A table somewhere in memory: entry [i][k] is
 * at[i * row_stride + k * column_stride]. */
typedef struct {
    const float *at;
    ptrdiff_t row_stride, column_stride;
} StridedMatrix;

/* The rows from i on. */
static inline StridedMatrix from_row(StridedMatrix a, int i)
{
    return (StridedMatrix){a.at + i * a.row_stride, a.row_stride,
                           a.column_stride};
}

/* The columns from j on. */
static inline StridedMatrix from_column(StridedMatrix a, int j)
{
    return (StridedMatrix){a.at + j * a.column_stride, a.row_stride,
                           a.column_stride};
}

/* c = start + a times b, where a is [n][d], b is [d][m], and start, which
 * may be c itself, is [n][m]; with at NULL it is all zeros.
 * PyTorch: torch.addmm(start, a, b). */
void matmul_strided(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                    StridedMatrix start, float c[n][m]);

/* As matmul, but for rounding, by matmul_strided. PyTorch: a @ b. */
void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m]);

/* 2 to the power of x: for x from -126 to 127, off by 2 of ten million
 * parts at most, and exact for whole numbers; 0 from -127 down and for
 * minus infinity, and between one or the other; NaN for NaN. Above 127 it
 * is not to be used. C: exp2f(x). */
float exp2_fast(float x);

/* x[i] = 2 to the power of x[i], by exp2_fast. PyTorch: torch.exp2(x). */
void exp2_all(int n, float x[n]);

/* What n queries get from m keys and their values, without a mask, and the
 * log-sum-exp of each query's scores: as flash_forward, but for rounding.
 * Scores must lie within FLT_MAX / 4 of 0, or NaN may come out.
 * PyTorch: F.scaled_dot_product_attention(query, key, value).
 * Dao 2023, algorithm 1. */
void attend_tiles(int n, int m, int d_k, int d_v, const float query[n][d_k],
                  const float key[m][d_k], const float value[m][d_v],
                  float context[n][d_v], float log_sum_exp[n]);
