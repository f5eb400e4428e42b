/* What attend.c and backward.c share, and no page shows: scores must have
 * the same bits on the way back as on the way there. */
#pragma once

#include <math.h>

#include "attention/kernel.h"

enum { GAP = 16 }; /* numbers between the rows of copies */

/* A query times the scale would be rounded, and the error of a score would
 * grow with the score. A power of 2 rounds nothing. So the scale is split
 * into a power of 2, with the sign, by which queries are multiplied, and a
 * number from 1/2 to 1, by which the differences of their products are. A
 * bias is added to whole scores, so there queries are multiplied by the
 * whole scale. */
typedef struct {
    float of_queries, of_products;
} CallScale;

static inline CallScale call_scale(const AttentionCall *call)
{
    const float scale =
        call->scale ? call->scale : 1 / sqrtf((float)call->d_k);
    int power;
    const float of_products =
        call->bias.at ? 1 : frexpf(fabsf(scale), &power);
    return (CallScale){scale / of_products, of_products};
}

/* Where in a list of all queries, [texts][n_heads][n], a query is. */
static inline ptrdiff_t query_number(const AttentionCall *call, int text,
                                     int head, int i)
{
    return ((ptrdiff_t)text * call->n_heads + head) * call->n + i;
}

/* For each query of a call, [texts][n_heads][n], its largest product, and
 * the sum of the exponentials of its scores relative to that. */
typedef struct {
    float *largest, *sum;
} SoftmaxSums;

/* Computes the sums alone, of a call that attend_fast has computed. Its
 * log_sum_exp has been made of them, but there a large score leaves no
 * digits for the sum. */
void attend_sums(const AttentionCall *call, SoftmaxSums sums);
