/*
# What every number did {#backward}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

void dot_scores_backward(int n, int m, int d, const float query[n][d],
                         const float key[m][d], const float g_scores[n][m],
                         float g_query[n][d], float g_key[m][d])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < d; k++) {
                // scores[i][j] += query[i][k] * key[j][k];
                g_query[i][k] += g_scores[i][j] * key[j][k];
                g_key[j][k] += g_scores[i][j] * query[i][k];
            }
}

void matmul_backward(int n, int m, int d, const float a[n][d],
                     const float b[d][m], const float g_product[n][m],
                     float g_a[n][d], float g_b[d][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < d; k++) {
                // product[i][j] += a[i][k] * b[k][j];
                g_a[i][k] += g_product[i][j] * b[k][j];
                g_b[k][j] += g_product[i][j] * a[i][k];
            }
}

void linear_backward(const Linear *l, int n, const float x[n][l->d_in],
                     const float g_out[n][l->d_out], Linear *g_l,
                     float g_x[n][l->d_in])
{
    layer_gradient_must_fit(l, g_l);
    // dot_scores(n, l->d_out, l->d_in, x, (void *)l->weight, out);
    dot_scores_backward(n, l->d_out, l->d_in, x, (void *)l->weight, g_out,
                        g_x, (void *)g_l->weight);
    if (!l->bias)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l->d_out; j++) // out[i][j] += l->bias[j];
            g_l->bias[j] += g_out[i][j];
}

void softmax_backward(int n, const float weights[n],
                      const float g_weights[n], float g_scores[n])
{
    const float mean = dot(n, weights, g_weights);
    for (int j = 0; j < n; j++)
        g_scores[j] += weights[j] * (g_weights[j] - mean);
}

void mask_backward(int n, int m, const float scores[n][m],
                   float g_scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (scores[i][j] == -INFINITY)
                g_scores[i][j] = 0;
}

void attend_backward(int n, int m, int d_k, int d_v, double rate,
                     const float query[n][d_k], const float key[m][d_k],
                     const float value[m][d_v], const float scores[n][m],
                     const float weights[n][m], const float kept[n][m],
                     const float dropped[n][m],
                     const float g_context[n][d_v], float g_dropped[n][m],
                     float g_weights[n][m], float g_scores[n][m],
                     float g_query[n][d_k], float g_key[m][d_k],
                     float g_value[m][d_v])
{
    memset(g_dropped, 0, sizeof(float[n][m]));
    memset(g_scores, 0, sizeof(float[n][m]));
    // matmul(n, d_v, m, dropped, value, context);
    matmul_backward(n, d_v, m, dropped, value, g_context, g_dropped,
                    g_value);
    // dropout_apply(rate, n, m, kept, weights, dropped);
    dropout_apply(rate, n, m, kept, g_dropped, g_weights);
    // softmax_rows(n, m, scores, weights);
    for (int i = 0; i < n; i++)
        softmax_backward(m, weights[i], g_weights[i], g_scores[i]);
    // apply_mask(n, m, see, scores);
    mask_backward(n, m, scores, g_scores);
    // scale_scores(n, m, d_k, scores);
    scale_scores(n, m, d_k, g_scores);
    // dot_scores(n, m, d_k, query, key, scores);
    dot_scores_backward(n, m, d_k, query, key, g_scores, g_query, g_key);
}

/* Table number h of a stack. */
static void *table_of(float *stack, int h, int rows, int columns)
{
    return stack + (ptrdiff_t)h * rows * columns;
}

static void attend_head_backward(int h, const Trace *t, Trace *g)
{
    const int n = t->n, m = t->m, d_k = t->d_k, d_v = t->d_v;
    attend_backward(
        n, m, d_k, d_v, t->rate, table_of(t->head_query, h, n, d_k),
        table_of(t->head_key, h, m, d_k),
        table_of(t->head_value, h, m, d_v), table_of(t->scores, h, n, m),
        table_of(t->weights, h, n, m), table_of(t->kept, h, n, m),
        table_of(t->dropped, h, n, m), table_of(g->context, h, n, d_v),
        table_of(g->dropped, h, n, m), table_of(g->weights, h, n, m),
        table_of(g->scores, h, n, m), table_of(g->head_query, h, n, d_k),
        table_of(g->head_key, h, m, d_k),
        table_of(g->head_value, h, m, d_v));
}

void attention_backward(const Attention *a, int n, int m,
                        const float x[n][a->d_x], const float y[m][a->d_y],
                        const Trace *t, Trace *g, Attention *g_a,
                        float g_x[n][a->d_x], float g_y[m][a->d_y])
{
    const int heads = a->n_heads, d_k = a->d_k, d_v = a->d_v;
    attention_must_fit(a, n, m, t);
    attention_must_fit(a, n, m, g);
    gradient_must_fit(a, g_a);
    if (a->d_out) {
        memset(g->joined, 0, sizeof(float[n][heads * d_v]));
        linear_backward(&a->out, n, (void *)t->joined, (void *)g->out,
                        &g_a->out, (void *)g->joined);
    }
    split_heads(n, heads, d_v, (void *)g->joined, (void *)g->context);
    memset(g->head_query, 0, sizeof(float[heads][n][d_k]));
    memset(g->head_key, 0, sizeof(float[heads][m][d_k]));
    memset(g->head_value, 0, sizeof(float[heads][m][d_v]));
    for (int h = 0; h < heads; h++)
        attend_head_backward(h, t, g);
    merge_heads(n, heads, d_k, (void *)g->head_query, (void *)g->query);
    merge_heads(m, heads, d_k, (void *)g->head_key, (void *)g->key);
    merge_heads(m, heads, d_v, (void *)g->head_value, (void *)g->value);
    linear_backward(&a->query, n, x, (void *)g->query, &g_a->query, g_x);
    linear_backward(&a->key, m, y, (void *)g->key, &g_a->key, g_y);
    linear_backward(&a->value, m, y, (void *)g->value, &g_a->value, g_y);
}

void embed_backward(int n, int d, int rows, const int ids[n],
                    const float g_x[n][d], float g_table[rows][d])
{
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE(
                "id %d is no row of a table of %d: from 0 to %d is needed",
                ids[i], rows, rows - 1);
        for (int k = 0; k < d; k++) // x[i][k] = table[ids[i]][k];
            g_table[ids[i]][k] += g_x[i][k];
    }
}

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_backward(void)
{
    printf("backward\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
backward
```

## In PyTorch {#backward-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("backward")
```

## Everything together
*/

int main(void)
{
    show_backward();
    return 0;
}

/*
TO WRITE: what comes next.
*/
