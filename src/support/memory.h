/*
## Memory: `memory.c` {#header-memory}
*/

#pragma once

#include <stddef.h>
#include <stdint.h>

/* A block of floats as rows of d of them: ROWS(d, pointer)[i][k]. In C, the
 * width of a table is part of its type. The widths of a struct's tables are
 * known only when the program runs, so a struct has pointers to single
 * floats, and this casts one to a pointer to rows. The cast moves nothing.
 * What is const stays so, by __typeof__ of gcc and clang; uintptr_t keeps
 * gcc 12 from a warning that it does not. C cannot check that the block is
 * so long.
 * PyTorch: pointer.view(-1, d). */
#define ROWS(d, pointer)                                                   \
    ((__typeof__ (*(pointer))(*)[d])(uintptr_t)(pointer))

/* The same as tables of n such rows: TABLES(n, d, pointer)[h][i][k].
 * PyTorch: pointer.view(-1, n, d). */
#define TABLES(n, d, pointer)                                              \
    ((__typeof__ (*(pointer))(*)[n][d])(uintptr_t)(pointer))

/* Memory for n rows of m floats, to be freed by the caller. Refuses sizes
 * below 1, and what does not fit. */
void *new_table(int n, int m);

/* So many pieces of a size, filled with 0, to be freed by the caller.
 * Refuses what does not fit. */
void *new_list(size_t count, size_t size);

/* A copy of n numbers, the largest first and NaN last, to be freed by the
 * caller. Refuses what does not fit.
 * PyTorch: torch.sort(x, descending=True).values. */
float *new_sorted(int n, const float x[n]);

/* Memory for so many pieces of a size, which is a multiple of a power of 2
 * that is also how it is aligned, to be freed by the caller. Refuses what
 * does not fit. */
void *new_aligned(size_t count, size_t size);

/* So many bytes of zeros, to be freed by the caller, for what is read from
 * one end to the other: they begin at a multiple of 64, and where there are
 * many and the system is Linux, they are asked for in pages of 2 MiB, of
 * which it finds the next one sooner. All are in use at once. Refuses what
 * does not fit. */
void *new_zeroed_pages(size_t bytes);

/* A block of so many zeros, to be freed by the caller. Refuses what does
 * not fit. */
float *new_block(size_t count);

/* The next table of a block of which the first *count numbers are taken:
 * layers * rows * columns more, which are added to *count. NULL for a table
 * without entries; and where block is NULL, while it is found out how many
 * numbers new_block is to have. Refuses sizes below 0, and what does not
 * fit. */
float *next_table(float *block, size_t *count, int layers, int rows,
                  int columns);
