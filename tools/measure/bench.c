/* What tools/measure/bench calls: the book's functions, for tables that lie
 * side by side; what it measures beside them; loops for what is too short
 * to be timed from Python; and what this machine can do at most. Compiled
 * as the kernel is, once for each instruction set, with a kernel of its own
 * that takes one tile of queries at a time. */
#include "attention.h"
#define TILES 1
#include "../../chapters/15_kernel.c"
#include "../../src/kernel/attend.c"

/* Enough sums that no product waits for the one before it, and few enough
 * that all of them, and two factors, stay in registers. */
enum { SUMS = REGISTERS == 32 ? 16 : 12 };

static volatile float unused; /* makes a result one that is needed */

static float total(Vector sum[SUMS])
{
    for (int i = 1; i < SUMS; i++)
        sum[0] += sum[i];
    return sum[0][0];
}

static APART float multiply_and_add(size_t steps, float factor, float more)
{
    Vector sum[SUMS], x = {0}, y = {0};
    x += factor;
    y += more;
    for (int i = 0; i < SUMS; i++)
        sum[i] = (float)i - y; /* of equal ones one would be computed */
    for (size_t k = 0; k < steps; k++)
        for (int i = 0; i < SUMS; i++)
            sum[i] = sum[i] * x + y;
    return total(sum);
}

static APART float add_up(size_t count, const float x[count])
{
    const Vector *at = (const void *)x;
    Vector sum[SUMS] = {{0}};
    const size_t steps = count / (SUMS * LANES);
    for (size_t k = 0; k < steps; k++, at += SUMS)
        for (int i = 0; i < SUMS; i++)
            sum[i] += at[i];
    return total(sum);
}

/* Multiplies and adds `count` times in registers on each thread, and returns
 * the number of products and sums; or reads x, which begins at a multiple of
 * 64 bytes, each thread a part of its own, and returns the number of bytes.
 * A remainder that does not fill all sums is left out. */
double compute_at_most(int threads, size_t count, const float *x)
{
    float sum = 0;
    (void)x;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += multiply_and_add(count, 0.999f, 1e-3f);
    unused = sum;
    return 2. * (double)count * SUMS * LANES * threads;
}

double read_at_most(int threads, size_t count, const float *x)
{
    const size_t part = count / (size_t)threads / 16 * 16;
    float sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += add_up(part, x + (size_t)i * part);
    unused = sum;
    return (double)(sizeof *x * part) * threads;
}

/* ---- Calls. */

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

void bench_attend(const Kernel *kernel, int calls, const Tables *t)
{
    const AttentionCall call = call_of(t);
    for (int i = 0; i < calls; i++)
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

/* A cache, in a format, with all keys and values of one text; and its answer
 * to one query of each head. */
KVCache *bench_cache(const Tables *t, Format format)
{
    KVCache *c = malloc(sizeof *c);
    kv_cache_init(c, &(KVCache){.n_kv_heads = t->kv_heads,
                                .d_k = t->d,
                                .d_v = t->d,
                                .capacity = t->m,
                                .format = format});
    kv_cache_append(c, t->m, rows_by_head(t->kv_heads, t->m, t->d, t->key),
                    rows_by_head(t->kv_heads, t->m, t->d, t->value));
    return c;
}

void bench_cache_attend(const Kernel *kernel, const KVCache *c,
                        const Tables *t)
{
    kernel->kv_cache_attend(
        c, t->heads, 1, rows_by_head(t->heads, 1, t->d, t->query),
        t->threads, rows_by_head(t->heads, 1, t->d, t->context));
}

void bench_multiply(const Kernel *kernel, int n, int m, int d,
                    const float a[n][d], const float b[d][m], float c[n][m])
{
    kernel->matmul(n, m, d, (StridedMatrix){(float *)a, d, 1},
                   (StridedMatrix){(float *)b, m, 1},
                   (StridedMatrix){NULL, 0, 0}, c);
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
    gpt_run_init(&training, &gpt_long_run, prose());
    gpt_save(&training.model, path);
    *texts = training.texts;
    *context = training.model.context_length;
}

/* The loss of its next batch, which is drawn, and the rate of the step. */
float bench_train_step(int *ids, int *targets, double *rate)
{
    gpt_run_batch(&training, ids, targets);
    *rate = training.adam.learning_rate;
    return gpt_training_step(&training, ids, targets);
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
