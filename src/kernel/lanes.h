/*
## Lanes: `kernel/lanes.h` {#header-lanes}

What chapter 15 shares with `attend.c`, `backward.c` and `cache.c`: the
registers of one instruction set, and the functions that work on them. All
of these are compiled together, once for each instruction set, and what
stands here depends on the set. So `attention.h` leaves this header out: a
program calls `best_kernel` instead.
*/

#pragma once

#include "attention/15_kernel.h"

/* The floats in the widest register, and how many such registers there are,
 * for the instruction set that is compiled for. */
#if defined __AVX512F__
#define LANES 16
#elif defined __AVX__
#define LANES 8
#else
#define LANES 4
#endif
#if defined __AVX512F__ || defined __aarch64__
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

/* A function that is put where it is used, so that what is known there is
 * known to it; and one that is not. */
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))

/* The smaller one. */
static INLINE int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* The vectors of a register tile, its queries, a query to a lane, and its
 * rows: as many as leave registers for a row of b and an entry of a. And
 * how many keys a tile meets at a time. */
enum {
    VECTORS = LANES == 16 ? 2 : 3,
    QUERIES = VECTORS * LANES,
    TILE_ROWS = (REGISTERS - VECTORS - 1) / VECTORS / 4 * 4,
    BLOCK = 128
};

/* By it a power of e is computed as one of 2: e^x = 2^(x log2(e)). */
static const float log2_e = 1.44269504f;

/* What a table does to scores: it hides those where it has 0, or adds. */
enum TableUse { HIDES, ADDS };

/* What a register holds. */
typedef float __attribute__((vector_size(LANES * 4))) Vector;

/* A row of a register tile: QUERIES floats, or VECTORS vectors. */
typedef union {
    float at[QUERIES];
    Vector vector[VECTORS];
} Lanes;

/* The first columns of a table of d rows, at most QUERIES, put into lanes;
 * a column that is missing is 0. Where the entries of a column lie side by
 * side, they are transposed together. */
static inline void lanes_load(int d, int columns, StridedMatrix from,
                              Lanes to[d])
{
    for (int k = 0; k < d; k++)
        to[k] = (Lanes){{0}};
    if (from.row_stride == 1)
        transpose_scaled(columns, d, 1, from.at, from.column_stride,
                         to[0].at, QUERIES);
    else
        for (int k = 0; k < d; k++)
            for (int l = 0; l < columns; l++)
                to[k].at[l] =
                    from.at[k * from.row_stride + l * from.column_stride];
}

/* Rows of lanes, of which so many columns count, stored from row i and
 * column j on in a table of rows of m, plus what `start` has there. */
static inline void lanes_store(int i, int j, int rows, int columns,
                               const Lanes from[rows], StridedMatrix start,
                               int m, float to[][m])
{
    for (int k = 0; k < rows; k++)
        for (int l = 0; l < columns; l++)
            to[i + k][j + l] =
                from[k].at[l] +
                (start.at ? start.at[(i + k) * start.row_stride +
                                     (j + l) * start.column_stride]
                          : 0);
}

/* c = a times b, or with a factor c * factor + a times b, lane by lane, for
 * a of [n][d]. Of each row of b and c only the first vectors * LANES
 * numbers count, where `vectors` is 1 or VECTORS. Rows lie as
 * new_aligned(n, sizeof(Lanes)) has them. */
void matmul_lanes(int n, int vectors, int d, StridedMatrix a,
                  const Lanes b[d], const Lanes *factor, Lanes c[n]);

/* Online softmax, lane by lane. Products, which lack the scale, become the
 * exponentials of their scores relative to the largest so far; `largest`
 * and `sum` are brought up to date; and `shrink` is the factor for what was
 * mixed before. Before the first block, `largest` is -FLT_MAX and `sum` 0.
 * Milakov and Gimelshein 2018, algorithm 3. */
void softmax_lanes(int vectors, int cols, float scale, Lanes scores[cols],
                   Lanes *largest, Lanes *sum, Lanes *shrink);
