/* A table copied with rows and columns exchanged, times a factor: how queries
 * get into the lanes of chapter 15, a query to a lane, and contexts out of
 * them. Four rows at a time, so that what is written side by side is
 * written at once. The chapter's page can be read without this file: every
 * entry goes where a transposed table has it. */
#include "attention/transpose_scaled.h"
#include "support.h"

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
