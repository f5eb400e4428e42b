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
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in], const float g_out[n][l->d_out], Linear *g_l, float g_x[n][l->d_in])
{
    linear_backward(l, n, x, g_out, g_l, g_x);
}
void attention_backward_fast(const Attention *a, Mask see, int texts, int n, const float x[texts * n][a->d_x], const Trace *t, Trace *g, Attention *g_a, float g_x[texts * n][a->d_x])
{
    const int rows = texts * n;
    (void)see;
    Attention b = *a, c = *g_a;
    b.context_length = c.context_length = 0;
    attention_backward(&b, rows, rows, x, x, t, g, &c, g_x, g_x);
}
float cross_entropy(int n, int classes, const float logits[n][classes], const int target[n], float shares[n][classes])
{
    double sum = 0;
    softmax_rows(n, classes, logits, shares);
    for (int i = 0; i < n; i++)
        sum -= log(shares[i][target[i]]);
    return (float)(sum / n);
}
void cross_entropy_backward(int n, int classes, const float shares[n][classes], const int target[n], float g_logits[n][classes])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < classes; k++)
            g_logits[i][k] += (shares[i][k] - (k == target[i])) / n;
}
void adam_step(Adam how, int step, size_t n, const float gradient[n], float mean[n], float square[n], float parameter[n])
{
    const double c1 = 1 - pow(how.beta_1, step), c2 = sqrt(1 - pow(how.beta_2, step));
    for (size_t i = 0; i < n; i++) {
        parameter[i] *= (float)(1 - how.rate * how.decay);
        mean[i] += (float)(1 - how.beta_1) * (gradient[i] - mean[i]);
        square[i] = (float)how.beta_2 * square[i] + (float)(1 - how.beta_2) * gradient[i] * gradient[i];
        parameter[i] -= (float)(how.rate / c1) * mean[i] / (sqrtf(square[i]) / (float)c2 + (float)how.epsilon);
    }
}
double clip_norm(double most, size_t n, float gradient[n])
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)gradient[i] * gradient[i];
    const double norm = sqrt(sum), f = most / (norm + 1e-6);
    if (f < 1) for (size_t i = 0; i < n; i++) gradient[i] *= (float)f;
    return norm;
}
double rate_at(int step, int warm_up, int steps, double largest, double least)
{
    if (step < warm_up) return largest * (step + 1) / warm_up;
    return least + (largest - least) * (1 + cos(3.14159265358979 * (step - warm_up) / (steps - warm_up))) / 2;
}
void shuffle(Random *r, int n, int order[n])
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = 0; i < n - 1; i++) {
        const int other = i + (int)(random_u32(r) % (uint32_t)(n - i));
        const int was = order[i];
        order[i] = order[other];
        order[other] = was;
    }
}
