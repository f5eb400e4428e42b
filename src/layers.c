/* Linear layers and whole attentions by the best kernel: what chapters 7, 13
 * and 18 do for one text, for many at once. The heads lie side by side in
 * each token's row, as the layers make and want them, so that nothing is
 * split or merged. It serves chapters 22 and 23, whose model is made of
 * these. */
#include "attention/layers.h"
#include "attention/attention_object.h"
#include "attention/kernel.h"
#include "attention/strided_rows.h"
#include "support.h"
#include "support/machine.h"

/* One row: each weight is needed once, so nothing is gained by putting them
 * in another order first. */
static void linear_forward_row(const Linear *l, const float x[l->d_in],
                               float y[l->d_out])
{
    const int d_in = l->d_in;
    const float(*weight)[d_in] = ROWS(d_in, l->weight);
#pragma omp parallel for num_threads(threads_for((double)l->d_out *d_in, 0))
    for (int j = 0; j < l->d_out; j++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < d_in; k++)
            sum += weight[j][k] * x[k];
        y[j] = l->bias ? sum + l->bias[j] : sum;
    }
}

void linear_forward_fast(const Linear *l, int n, const float x[n][l->d_in],
                         float y[n][l->d_out])
{
    if (n == 1) {
        linear_forward_row(l, *x, *y);
        return;
    }
    best_kernel()->matmul(n, l->d_out, l->d_in,
                          (StridedMatrix){x[0], l->d_in, 1},
                          (StridedMatrix){l->weight, 1, l->d_in},
                          (StridedMatrix){l->bias, 0, 1}, y);
}

/* The two gradients of a linear layer are products, and `start` is what is
 * there already. That of the weight is a sum over all rows, which come some
 * at a time, so that they stay in a cache. */
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float grad_out[n][l->d_out], Linear *grad_l,
                          float grad_x[n][l->d_in])
{
    enum { ROWS_AT_ONCE = 256 };
    const int d_in = l->d_in, d_out = l->d_out;
    linear_gradient_check(l, grad_l);
    best_kernel()->matmul(n, d_in, d_out,
                          (StridedMatrix){grad_out[0], d_out, 1},
                          (StridedMatrix){l->weight, d_in, 1},
                          (StridedMatrix){grad_x[0], d_in, 1}, grad_x);
    for (int i = 0; i < n; i += ROWS_AT_ONCE)
        best_kernel()->matmul(d_out, d_in,
                              n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE,
                              (StridedMatrix){grad_out[i], 1, d_out},
                              (StridedMatrix){x[i], d_in, 1},
                              (StridedMatrix){grad_l->weight, d_in, 1},
                              ROWS(d_in, grad_l->weight));
    for (int i = 0; l->bias && i < n; i++)
        for (int j = 0; j < d_out; j++)
            grad_l->bias[j] += grad_out[i][j];
}

static StridedRows heads_of(const Attention *a, int n, int d,
                            const float *at)
{
    return rows_by_token(a->n_heads, n, d, at);
}

static AttentionCall call_of(const Attention *a, Mask mask, int texts,
                             int n, const Trace *t)
{
    return (AttentionCall){.texts = texts,
                           .n_heads = a->n_heads,
                           .n = n,
                           .m = n,
                           .d_k = a->d_k,
                           .d_v = a->d_v,
                           .mask = mask,
                           .query = heads_of(a, n, a->d_k, t->query),
                           .key = heads_of(a, n, a->d_k, t->key),
                           .value = heads_of(a, n, a->d_v, t->value),
                           .context = heads_of(a, n, a->d_v, t->joined),
                           .log_sum_exp = t->log_sum_exp};
}

void attention_forward_fast(const Attention *a, Mask mask, int texts, int n,
                            const float x[(int64_t)texts * n][a->d_x],
                            Trace *t)
{
    attention_texts_check(a, texts, n, t);
    const int rows = texts * n; /* which such a trace can count */
    const AttentionCall call = call_of(a, mask, texts, n, t);
    linear_forward_fast(&a->query, rows, x, ROWS(a->query.d_out, t->query));
    linear_forward_fast(&a->key, rows, x, ROWS(a->key.d_out, t->key));
    linear_forward_fast(&a->value, rows, x, ROWS(a->value.d_out, t->value));
    best_kernel()->attend(&call);
    if (a->d_out)
        linear_forward_fast(&a->out, rows, ROWS(a->out.d_in, t->joined),
                            ROWS(a->out.d_out, t->out));
}

void attention_backward_fast(const Attention *a, Mask mask, int texts,
                             int n,
                             const float x[(int64_t)texts * n][a->d_x],
                             const Trace *t, Trace *grad_t,
                             Attention *grad_a,
                             float grad_x[(int64_t)texts * n][a->d_x])
{
    const size_t keys = sizeof(float[a->n_heads * a->d_k]);
    const size_t values = sizeof(float[a->n_heads * a->d_v]);
    attention_texts_check(a, texts, n, t);
    attention_texts_check(a, texts, n, grad_t);
    attention_gradient_check(a, grad_a);
    const int rows = texts * n;
    const AttentionCall call = call_of(a, mask, texts, n, t);
    attention_call_check(&call);
    if (a->d_out) {
        memset(grad_t->joined, 0, (size_t)rows * values);
        linear_backward_fast(&a->out, rows, ROWS(a->out.d_in, t->joined),
                             ROWS(a->out.d_out, grad_t->out), &grad_a->out,
                             ROWS(a->out.d_in, grad_t->joined));
    }
    memset(grad_t->query, 0, (size_t)rows * keys);
    memset(grad_t->key, 0, (size_t)rows * keys);
    memset(grad_t->value, 0, (size_t)rows * values);
    best_kernel()->attend_backward(&call,
                                   heads_of(a, n, a->d_v, grad_t->joined),
                                   heads_of(a, n, a->d_k, grad_t->query),
                                   heads_of(a, n, a->d_k, grad_t->key),
                                   heads_of(a, n, a->d_v, grad_t->value));
    linear_backward_fast(&a->query, rows, x,
                         ROWS(a->query.d_out, grad_t->query),
                         &grad_a->query, grad_x);
    linear_backward_fast(&a->key, rows, x, ROWS(a->key.d_out, grad_t->key),
                         &grad_a->key, grad_x);
    linear_backward_fast(&a->value, rows, x,
                         ROWS(a->value.d_out, grad_t->value),
                         &grad_a->value, grad_x);
}
