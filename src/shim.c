#include "attention.h"
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in], const float g_out[n][l->d_out], Linear *g_l, float g_x[n][l->d_in])
{
    const int in = l->d_in, out = l->d_out;
    const View g = {g_out[0], out, 1}, turned = {g_out[0], 1, out};
    const View w = {l->weight, in, 1}, there = {g_l->weight, in, 1};
    best_kernel()->multiply(n, in, out, g, w, (View){g_x[0], in, 1}, g_x);
    best_kernel()->multiply(out, in, n, turned, (View){x[0], in, 1}, there, (void *)g_l->weight);
    for (int i = 0; l->bias && i < n; i++)
        for (int k = 0; k < out; k++)
            g_l->bias[k] += g_out[i][k];
}
void attention_forward_fast(const Attention *a, Mask see, int texts, int n, const float x[texts * n][a->d_x], Trace *t)
{
    const int rows = texts * n, h = a->n_heads, d = a->d_k;
    linear_forward_fast(&a->query, rows, x, (void *)t->query);
    linear_forward_fast(&a->key, rows, x, (void *)t->key);
    linear_forward_fast(&a->value, rows, x, (void *)t->value);
    const Job job = {.texts = texts, .n_heads = h, .n = n, .m = n, .d_k = d, .d_v = d, .see = see,
        .query = rows_by_token(h, n, d, t->query), .key = rows_by_token(h, n, d, t->key), .value = rows_by_token(h, n, d, t->value),
        .context = rows_by_token(h, n, d, t->joined), .log_sum = t->log_sum};
    best_kernel()->attend(&job);
    linear_forward_fast(&a->out, rows, (void *)t->joined, (void *)t->out);
}
static void one_head(int n, int d, int wide, const float *q, const float *k, const float *v, const float *o, const float *g_o,
                     const float *log_sum, float *g_q, float *g_k, float *g_v, float *p, float *g_p, float *part)
{
    const Kernel *best = best_kernel();
    const View none = {0}, turned_p = {p, 1, n}, turned_g = {g_p, 1, n}, plain_g = {g_p, n, 1};
    const float scale = 1 / sqrtf((float)d);
    best->multiply(n, n, d, (View){q, wide, 1}, (View){k, 1, wide}, none, (void *)p);
    best->multiply(n, n, d, (View){g_o, wide, 1}, (View){v, 1, wide}, none, (void *)g_p);
    for (int i = 0; i < n; i++) {
        float common = 0;
        for (int e = 0; e < d; e++)
            common += o[i * wide + e] * g_o[i * wide + e];
        for (int j = 0; j < n; j++) {
            p[i * n + j] = j > i ? 0 : exp2_fast(fmaxf(1.442695f * (p[i * n + j] * scale - log_sum[i]), -126));
            g_p[i * n + j] = scale * p[i * n + j] * (g_p[i * n + j] - common);
        }
    }
    best->multiply(n, d, n, plain_g, (View){k, wide, 1}, none, (void *)part);
    for (int i = 0; i < n * d; i++) g_q[i / d * wide + i % d] += part[i];
    best->multiply(n, d, n, turned_g, (View){q, wide, 1}, none, (void *)part);
    for (int i = 0; i < n * d; i++) g_k[i / d * wide + i % d] += part[i];
    best->multiply(n, d, n, turned_p, (View){g_o, wide, 1}, none, (void *)part);
    for (int i = 0; i < n * d; i++) g_v[i / d * wide + i % d] += part[i];
}
void attention_backward_fast(const Attention *a, Mask see, int texts, int n, const float x[texts * n][a->d_x], const Trace *t, Trace *g, Attention *g_a, float g_x[texts * n][a->d_x])
{
    const int rows = texts * n, h = a->n_heads, d = a->d_k, w = h * d;
    (void)see;
    float *p = new_table(n, n), *g_p = new_table(n, n), *part = new_table(n, d);
    linear_backward_fast(&a->out, rows, (void *)t->joined, (void *)g->out, &g_a->out, (void *)g->joined);
    for (int b = 0; b < texts; b++)
        for (int i = 0; i < h; i++) {
            const int at = b * n * w + i * d;
            one_head(n, d, w, t->query + at, t->key + at, t->value + at, t->joined + at, g->joined + at, t->log_sum + (b * h + i) * n,
                     g->query + at, g->key + at, g->value + at, p, g_p, part);
        }
    linear_backward_fast(&a->query, rows, x, (void *)g->query, &g_a->query, g_x);
    linear_backward_fast(&a->key, rows, x, (void *)g->key, &g_a->key, g_x);
    linear_backward_fast(&a->value, rows, x, (void *)g->value, &g_a->value, g_x);
    free(p); free(g_p); free(part);
}
