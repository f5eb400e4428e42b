/* Rows of floats that lie apart, and tables that are transposed on the way
 * to somewhere else: how chapter 15 gets its queries into lanes, and how
 * the cache of chapter 16 and the kernel find a token in a head of a text.
 * Nothing is computed here but addresses and a factor: both pages can be
 * read without. */
#include "attention/15_kernel.h"
#include "attention/16_kv_cache.h"
#include "support.h"

StridedRows rows_by_head(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t head = (ptrdiff_t)n * d;
    return (StridedRows){(float *)at, n_heads * head, head, d};
}

StridedRows rows_by_token(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t token = (ptrdiff_t)n_heads * d;
    return (StridedRows){(float *)at, n * token, d, token};
}

float *row_at(const StridedRows *rows, int text, int head, int i)
{
    return rows->at + text * rows->text_stride + head * rows->head_stride +
           i * rows->token_stride;
}

void transpose_scaled(int n, int m, float factor, const float *from,
                      ptrdiff_t row, float *to, ptrdiff_t to_row)
{
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int j = 0; j < m; j++) {
            const float *f = from + i * row + j;
            const float four[4] = {factor * f[0], factor * f[row],
                                   factor * f[2 * row],
                                   factor * f[3 * row]};
            memcpy(to + j * to_row + i, four, sizeof four);
        }
    for (; i < n; i++)
        for (int j = 0; j < m; j++)
            to[j * to_row + i] = factor * from[i * row + j];
}
