/* What `make bench` measures beside the book's own functions, and loops for
 * what is too short to be timed from Python. Compiled as the kernel is, for
 * the machine's instruction set, with a kernel of its own that takes one
 * tile of queries at a time. */
#define _DEFAULT_SOURCE /* clock_gettime */
#define TILES 1
#include "../../chapters/15_kernel.c"
#include "../../src/kernel/attend.c"

#ifdef _OPENMP
#include <omp.h>
#endif

static volatile float unused; /* makes a result one that is needed */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that a job takes, the mean of so many calls. */
double bench_calls(void (*work)(const AttentionCall *call),
                   const AttentionCall *call, int calls)
{
    const double from = seconds();
    for (int i = 0; i < calls; i++)
        work(call);
    return (seconds() - from) / calls;
}

static float cost_expf(int n, const float x[n])
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += expf(x[i]);
    return sum;
}

/* As the kernel uses it, side by side in lanes. */
static float cost_exp2_fast(int n, const float x[n])
{
    Lanes sum = {{0}};
    for (int i = 0; i + QUERIES <= n; i += QUERIES)
        for (int j = 0; j < QUERIES; j++)
            sum.at[j] += exp2_fast(x[i + j]);
    float all = 0;
    for (int j = 0; j < QUERIES; j++)
        all += sum.at[j];
    return all;
}

/* Seconds for each of n numbers, the mean of so many times. */
double bench_exponentials(int is_fast, int n, const float x[n], int times)
{
    const double from = seconds();
    for (int i = 0; i < times; i++)
        unused = is_fast ? cost_exp2_fast(n, x) : cost_expf(n, x);
    return (seconds() - from) / ((double)times * n);
}

/* Attention as one writes it first: plain loops, one query at a time. */
static void plain_query(const AttentionCall *call, const float *query,
                        const float *key, const float *value,
                        float *context)
{
    float weights[64], largest = -FLT_MAX, sum = 0;
    const float scale = 1 / sqrtf((float)call->d_k);
    for (int j = 0; j < call->m; j++) {
        weights[j] = 0;
        for (int k = 0; k < call->d_k; k++)
            weights[j] += query[k] * key[j * call->key.token_stride + k];
        weights[j] *= scale;
        largest = weights[j] > largest ? weights[j] : largest;
    }
    for (int j = 0; j < call->m; j++)
        sum += weights[j] = expf(weights[j] - largest);
    for (int k = 0; k < call->d_v; k++)
        context[k] = 0;
    for (int j = 0; j < call->m; j++)
        for (int k = 0; k < call->d_v; k++)
            context[k] +=
                weights[j] / sum * value[j * call->value.token_stride + k];
}

void bench_plain(const AttentionCall *call)
{
    if (call->m > 64 || call->mask.kind != MASK_NONE)
        REFUSE("%d keys and mask %d: at most 64, and none, are needed",
               call->m, call->mask.kind);
    for (int h = 0; h < call->texts * call->n_heads; h++) {
        const int text = h / call->n_heads, head = h % call->n_heads;
        for (int i = 0; i < call->n; i++)
            plain_query(call, row_at(&call->query, text, head, i),
                        row_at(&call->key, text, head, 0),
                        row_at(&call->value, text, head, 0),
                        row_at(&call->context, text, head, i));
    }
}

static float largest_of(int n, const float x[n])
{
    Lanes lane;
    int i = 0;
    for (int k = 0; k < QUERIES; k++)
        lane.at[k] = -FLT_MAX;
    for (; i + QUERIES <= n; i += QUERIES)
        for (int k = 0; k < QUERIES; k++)
            lane.at[k] = x[i + k] > lane.at[k] ? x[i + k] : lane.at[k];
    float largest = -FLT_MAX;
    for (; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (int k = 0; k < QUERIES; k++)
        largest = lane.at[k] > largest ? lane.at[k] : largest;
    return largest;
}

/* Softmax in place, by powers of 2, and as fast as the kernel's. */
static void weigh(int n, float x[n])
{
    const float largest = largest_of(n, x);
    Lanes lane = {{0}};
    float sum = 0;
    int i = 0;
    for (; i + QUERIES <= n; i += QUERIES)
        for (int k = 0; k < QUERIES; k++) {
            x[i + k] = exp2_fast(x[i + k] - largest);
            lane.at[k] += x[i + k];
        }
    for (; i < n; i++)
        sum += x[i] = exp2_fast(x[i] - largest);
    for (int k = 0; k < QUERIES; k++)
        sum += lane.at[k];
    for (i = 0; i < n; i++)
        x[i] *= 1 / sum;
}

/* Row k of the scores is query first + k's. */
static void weigh_rows(int first, int n, int m, Mask mask,
                       float scores[n][m])
{
    for (int k = 0; k < n; k++) {
        const int own =
            mask.kind == MASK_CAUSAL ? min_int(m, first + k + 1) : m;
        weigh(own, scores[k]);
        memset(&scores[k][0] + own, 0, (size_t)(m - own) * sizeof(float));
    }
}

/* A library's products: cblas_sgemm, cblas_sgemv. */
typedef struct {
    void (*gemm)(int order, int turn_a, int turn_b, int n, int m, int d,
                 float alpha, const float *a, int row_a, const float *b,
                 int row_b, float beta, float *c, int row_c);
    void (*gemv)(int order, int turn_a, int n, int m, float alpha,
                 const float *a, int row_a, const float *x, int step_x,
                 float beta, float *y, int step_y);
} Blas;

enum { BY_ROW = 101, AS_IT_IS = 111, TURNED = 112, SOME = 256 };

/* Scores, softmax, values of n queries of one head, from number i on, with
 * the m keys that the last of them sees. */
static void three_steps(const Blas *blas, const AttentionCall *call,
                        int text, int head, int i, int n, int m,
                        float *scores)
{
    const int d_k = call->d_k, d_v = call->d_v;
    const float scale = log2_e / sqrtf((float)d_k);
    const float *query = row_at(&call->query, text, head, i),
                *key = row_at(&call->key, text, head, 0),
                *value = row_at(&call->value, text, head, 0);
    float *context = row_at(&call->context, text, head, i);
    if (n == 1)
        blas->gemv(BY_ROW, AS_IT_IS, m, d_k, scale, key, d_k, query, 1, 0,
                   scores, 1);
    else
        blas->gemm(BY_ROW, AS_IT_IS, TURNED, n, m, d_k, scale, query, d_k,
                   key, d_k, 0, scores, m);
    weigh_rows(call->mask.first + i, n, m, call->mask, (void *)scores);
    if (n == 1)
        blas->gemv(BY_ROW, TURNED, m, d_v, 1, value, d_v, scores, 1, 0,
                   context, 1);
    else
        blas->gemm(BY_ROW, AS_IT_IS, AS_IT_IS, n, d_v, m, 1, scores, m,
                   value, d_v, 0, context, d_v);
}

/* All heads, shared among threads, each of which has a table of scores and
 * calls a library that itself uses one. Some rows at a time, so that their
 * scores stay in a cache, and a causal mask leaves keys out. */
void bench_three_steps(const Blas *blas, const AttentionCall *call,
                       float *tables)
{
    const size_t size = (size_t)call->n * (size_t)call->m;
#pragma omp parallel num_threads(call->threads) firstprivate(tables)
    {
#ifdef _OPENMP
        tables += (size_t)omp_get_thread_num() * size;
#endif
#pragma omp for schedule(dynamic) collapse(2)
        for (int t = 0; t < call->texts; t++)
            for (int h = 0; h < call->n_heads; h++)
                for (int i = 0; i < call->n; i += SOME) {
                    const int n = min_int(SOME, call->n - i);
                    const int seen = call->mask.kind == MASK_CAUSAL
                                         ? call->mask.first + i + n
                                         : call->m;
                    three_steps(blas, call, t, h, i, n, seen, tables);
                }
    }
    (void)size; /* without OpenMP there is one table */
}
