/* Rows of floats that lie apart, head by head or token by token: how the cache
 * of chapter 16 and the kernel find a token in a head of a text. Nothing is
 * computed here but addresses, by the three strides that chapter 16's page
 * shows, which can be read without this file. What is in the rows, and
 * whether there are so many, only the caller knows. */
#include "attention/strided_rows.h"

/* Rows do not say whether they are only read. */
static float *address(const float *at)
{
    return (float *)(uintptr_t)at;
}

StridedRows rows_by_head(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t head = (ptrdiff_t)n * d;
    return (StridedRows){address(at), n_heads * head, head, d};
}

StridedRows rows_by_token(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t token = (ptrdiff_t)n_heads * d;
    return (StridedRows){address(at), n * token, d, token};
}

float *row_at(const StridedRows *rows, int text, int head, int i)
{
    return rows->at + text * rows->text_stride + head * rows->head_stride +
           i * rows->token_stride;
}
