/* What tools/measure/bench calls: the book's functions, for tables that lie
 * side by side; what it measures beside them; and loops for what is too
 * short to be timed from Python. Compiled as the kernel is, for the
 * machine's instruction set, with a kernel of its own that takes one tile of
 * queries at a time. */
#include "roofline.c"
#define TILES 1
#include "../../chapters/15_kernel.c"
#include "../../src/kernel/attend.c"
#include "attention/06_scaling.h"

/* Queries [texts][heads][n][d], keys and values [texts][kv_heads][m][d];
 * contexts are as queries. */
typedef struct {
    int texts, heads, kv_heads, n, m, d, is_causal, threads;
    const float *query, *key, *value;
    float *context, *log_sum_exp;
} Tables;

static AttentionCall call_of(const Tables *t)
{
    return (AttentionCall){
        .texts = t->texts,
        .n_heads = t->heads,
        .n_kv_heads = t->kv_heads,
        .n = t->n,
        .m = t->m,
        .d_k = t->d,
        .d_v = t->d,
        .mask = t->is_causal ? mask_causal(0) : mask_none(),
        .query = rows_by_head(t->heads, t->n, t->d, t->query),
        .key = rows_by_head(t->kv_heads, t->m, t->d, t->key),
        .value = rows_by_head(t->kv_heads, t->m, t->d, t->value),
        .context = rows_by_head(t->heads, t->n, t->d, t->context),
        .log_sum_exp = t->log_sum_exp,
        .threads = t->threads};
}

void bench_attend(const Kernel *kernel, const Tables *t)
{
    const AttentionCall call = call_of(t);
    kernel->attend(&call);
}

void bench_one_tile(const Tables *t)
{
    const AttentionCall call = call_of(t);
    attend_fast(&call);
}

/* The gradients are those of queries, keys and values, one after another;
 * the call has been computed. */
void bench_backward(const Kernel *kernel, const Tables *t,
                    const float *grad_context, float *gradients)
{
    const AttentionCall call = call_of(t);
    const size_t size =
        (size_t)t->texts * (size_t)t->heads * (size_t)t->n * (size_t)t->d;
    StridedRows rows[3];
    memset(gradients, 0, 3 * size * sizeof *gradients);
    for (int k = 0; k < 3; k++)
        rows[k] = rows_by_head(t->heads, t->n, t->d,
                               gradients + (size_t)k * size);
    kernel->attend_backward(
        &call, rows_by_head(t->heads, t->n, t->d, grad_context), rows[0],
        rows[1], rows[2]);
}

/* A cache, in a format, with all keys and values of one text; it is cleared
 * and filled once more; and its answer to one query of each head. */
KVCache *bench_cache(const Tables *t, Format format)
{
    KVCache *c = malloc(sizeof *c);
    kv_cache_init(c, &(KVCache){.n_kv_heads = t->kv_heads,
                                .d_k = t->d,
                                .d_v = t->d,
                                .capacity = t->m,
                                .format = format});
    return c;
}

void bench_append(KVCache *c, const Tables *t)
{
    kv_cache_truncate(c, (int)c->count);
    kv_cache_append(c, t->m, rows_by_head(t->kv_heads, t->m, t->d, t->key),
                    rows_by_head(t->kv_heads, t->m, t->d, t->value));
}

void bench_cache_attend(const Kernel *kernel, const KVCache *c,
                        const Tables *t)
{
    kernel->kv_cache_attend(
        c, t->heads, 1, rows_by_head(t->heads, 1, t->d, t->query),
        t->threads, rows_by_head(t->heads, 1, t->d, t->context));
}

void bench_multiply(const Kernel *kernel, int n, const float a[n][n],
                    const float b[n][n], float c[n][n])
{
    kernel->matmul(n, n, n, (StridedMatrix){(float *)a, n, 1},
                   (StridedMatrix){(float *)b, n, 1},
                   (StridedMatrix){NULL, 0, 0}, c);
}

/* Attention as chapter 6 writes it, head by head; scores and weights are
 * the tables' own. */
void bench_plain(const Tables *t)
{
    float table[2][64][64];
    const size_t size = (size_t)t->n * (size_t)t->d;
    for (size_t h = 0; h < (size_t)t->texts * (size_t)t->heads; h++)
        attention(t->n, t->n, t->d, t->d, ROWS(t->d, t->query + h * size),
                  ROWS(t->d, t->key + h * size),
                  ROWS(t->d, t->value + h * size), (void *)table[0],
                  (void *)table[1], ROWS(t->d, t->context + h * size));
}

/* Many calls; without a kernel, of plain loops. */
void bench_calls(const Kernel *kernel, int calls, const Tables *t)
{
    const AttentionCall call = call_of(t);
    for (int i = 0; i < calls; i++)
        if (kernel)
            kernel->attend(&call);
        else
            bench_plain(t);
}

/* So many times all of n numbers; exp2_fast is as the kernel uses it, side
 * by side in lanes. */
void bench_exponentials(int is_fast, int times, int n, const float x[n])
{
    for (int i = 0; i < times; i++) {
        float sum = 0;
        if (is_fast) {
#pragma omp simd reduction(+ : sum)
            for (int k = 0; k < n; k++)
                sum += exp2_fast(x[k]);
        } else
            for (int k = 0; k < n; k++)
                sum += expf(x[k]);
        unused = sum;
    }
}

/* Chapter 23's long run begins: its model, in a file. */
static GptTraining training;

void bench_train_begin(const char *path, int *texts, int *context)
{
    gpt_training_init_prose(&training, &gpt_long_run);
    gpt_save(&training.model, path);
    *texts = training.texts;
    *context = training.model.context_length;
}

/* The loss of its next batch, which is drawn, and the rate of the step. */
float bench_train_step(int *ids, int *targets, double *rate)
{
    GptTraining *t = &training;
    *rate = rate_at(t->step, t->steps / 10, t->steps, 4e-3, 4e-4);
    t->adam.learning_rate = *rate;
    gpt_training_batch(t, ids, targets);
    return gpt_training_step(t, ids, targets);
}

/* Softmax in place, by powers of 2, and as fast as the kernel's. */
static void softmax_fast(int n, float x[n])
{
    float largest = -FLT_MAX, sum = 0;
#pragma omp simd reduction(max : largest)
    for (int i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] = exp2_fast(x[i] - largest);
    for (int i = 0; i < n; i++)
        x[i] *= 1 / sum;
}

/* A library's products, cblas_sgemm and cblas_sgemv, with softmax between
 * them: n queries of one head, from number i on, with the m keys that the
 * last of them sees. */
typedef void Gemm(int order, int turn_a, int turn_b, int n, int m, int d,
                  float alpha, const float *a, int row_a, const float *b,
                  int row_b, float beta, float *c, int row_c);
typedef void Gemv(int order, int turn_a, int n, int m, float alpha,
                  const float *a, int row_a, const float *x, int step_x,
                  float beta, float *y, int step_y);
enum { BY_ROW = 101, AS_IT_IS = 111, TURNED = 112, SOME = 256 };

static void three_steps(Gemm *gemm, Gemv *gemv, const Tables *t,
                        size_t head, int i, int n, int m, float *scores)
{
    const int d = t->d;
    const size_t query_row = head * (size_t)t->n + (size_t)i,
                 key_row = head * (size_t)t->m;
    const float scale = log2_e / sqrtf((float)d);
    const float *query = t->query + query_row * (size_t)d,
                *key = t->key + key_row * (size_t)d,
                *value = t->value + key_row * (size_t)d;
    float *context = t->context + query_row * (size_t)d;
    if (n == 1)
        gemv(BY_ROW, AS_IT_IS, m, d, scale, key, d, query, 1, 0, scores, 1);
    else
        gemm(BY_ROW, AS_IT_IS, TURNED, n, m, d, scale, query, d, key, d, 0,
             scores, m);
    for (int k = 0; k < n; k++) {
        float *row = scores + (size_t)k * (size_t)m;
        const int seen = t->is_causal ? min_int(m, i + k + 1) : m;
        softmax_fast(seen, row);
        memset(row + seen, 0, (size_t)(m - seen) * sizeof *row);
    }
    if (n == 1)
        gemv(BY_ROW, TURNED, m, d, 1, value, d, scores, 1, 0, context, 1);
    else
        gemm(BY_ROW, AS_IT_IS, AS_IT_IS, n, d, m, 1, scores, m, value, d, 0,
             context, d);
}

/* All heads, shared among threads, each of which calls a library that itself
 * uses one. Some rows at a time, so that their scores stay in a cache, and a
 * causal mask leaves keys out. */
void bench_blas(Gemm *gemm, Gemv *gemv, const Tables *t)
{
#pragma omp parallel num_threads(t->threads)
    {
        float *scores = new_list(SOME * (size_t)t->m, sizeof *scores);
#pragma omp for schedule(dynamic) collapse(2)
        for (int h = 0; h < t->texts * t->heads; h++)
            for (int i = 0; i < t->n; i += SOME) {
                const int n = min_int(SOME, t->n - i);
                three_steps(gemm, gemv, t, (size_t)h, i, n,
                            t->is_causal ? i + n : t->m, scores);
            }
        free(scores);
    }
}
