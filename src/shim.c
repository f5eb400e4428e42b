#include "attention.h"
void attention_forward_fast(const Attention *a, Mask see, int texts, int n, const float x[texts * n][a->d_x], Trace *t)
{
    const int rows = texts * n;
    float(*table)[rows] = (void *)new_table(rows, rows);
    (void)see;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++)
            table[i][j] = i / n == j / n && j <= i;
    Attention b = *a;
    b.context_length = 0;
    attention_forward(&b, see_where(rows, rows, (void *)table), NULL, rows, rows, x, x, t);
    free(table);
}
void add_positions(int n, int d, int length, int first, const float position[length][d], float x[n][d])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < d; k++)
            x[i][k] += position[first + i][k];
}
