#include "attention/15_kernel.h"
#include "support.h"

#ifdef _OPENMP
#include <omp.h>
#endif

StridedRows rows_by_head(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t head = (ptrdiff_t)n * d;
    return (StridedRows){(float *)at, n_heads * head, head, d};
}

StridedRows rows_by_token(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t token = (ptrdiff_t)n_heads * d;
    return (StridedRows){(float *)at, n * token, d, token};
}

float *row_at(const StridedRows *rows, int text, int head, int i)
{
    return rows->at + text * rows->text_stride + head * rows->head_stride +
           i * rows->token_stride;
}

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

int threads_for(double products, int wanted)
{
#ifdef _OPENMP
    if (products >= 1 << 20 && !omp_in_parallel())
        return wanted ? wanted : omp_get_max_threads();
#endif
    (void)products;
    (void)wanted;
    return 1;
}

void attention_call_check(const AttentionCall *call)
{
    const int key_heads =
        call->n_kv_heads ? call->n_kv_heads : call->n_heads;
    if (call->texts < 1 || call->n_heads < 1 || call->n < 1 ||
        call->m < 1 || call->d_k < 1 || call->d_v < 1)
        REFUSE("%d texts, %d heads, %d queries, %d keys of %d entries and "
               "values of %d: at least 1 of each is needed",
               call->texts, call->n_heads, call->n, call->m, call->d_k,
               call->d_v);
    if ((double)call->texts * call->n_heads * call->n > INT_MAX)
        REFUSE("%d texts of %d heads with %d queries: an int cannot count "
               "more than %d in all",
               call->texts, call->n_heads, call->n, INT_MAX);
    if (call->m > INT_MAX - 1024 || call->d_k > 1 << 20 ||
        call->d_v > 1 << 20)
        REFUSE(
            "%d keys of %d entries and values of %d: at most %d keys, and "
            "%d entries, are needed",
            call->m, call->d_k, call->d_v, INT_MAX - 1024, 1 << 20);
    if (key_heads < 1 || call->n_heads % key_heads)
        REFUSE("%d heads share %d of keys: a divisor of %d is needed",
               call->n_heads, key_heads, call->n_heads);
    if (call->threads < 0)
        REFUSE("%d threads: at least 1, or 0 for all, are needed",
               call->threads);
    if (!call->query.at || !call->key.at || !call->value.at ||
        !call->context.at)
        REFUSE("query.at, key.at, value.at or context.at is NULL: rows are "
               "needed for each");
    mask_check(call->n, call->m, call->mask);
}

/* What the Makefile calls chapter 15's functions where it compiles it for
 * an instruction set. */
#define COMPILED_FOR(SET)                                                  \
    __typeof__(attend_fast) attend_fast_##SET;                             \
    __typeof__(matmul_strided) matmul_strided_##SET;                       \
    __typeof__(exp2_fast) exp2_fast_##SET;                                 \
    __typeof__(exp2_all) exp2_all_##SET;
#define KERNEL(NAME, LANES, SET)                                           \
    {                                                                      \
        NAME, LANES, attend_fast_##SET, matmul_strided_##SET,              \
            exp2_fast_##SET, exp2_all_##SET                                \
    }

#ifdef HAS_avx512
COMPILED_FOR(avx512)
#endif
#ifdef HAS_avx2
COMPILED_FOR(avx2)
#endif

/* The last one always runs. */
static const Kernel kernels[] = {
#ifdef HAS_avx512
    KERNEL("AVX-512", 16, avx512),
#endif
#ifdef HAS_avx2
    KERNEL("AVX2", 8, avx2),
#endif
    {"plain", LANES, attend_fast, matmul_strided, exp2_fast, exp2_all},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static int runs_here(int k)
{
#if defined HAS_avx2 || defined HAS_avx512
    const int has_avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (!strcmp(kernels[k].name, "AVX2"))
        return has_avx2;
    if (!strcmp(kernels[k].name, "AVX-512"))
        return has_avx2 && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return k == KERNELS - 1;
}

const Kernel *best_kernel(void)
{
    int k = 0;
    while (!runs_here(k))
        k++;
    return &kernels[k];
}

const Kernel *kernel_named(const char *name)
{
    for (int k = 0; k < KERNELS; k++)
        if (!strcmp(kernels[k].name, name) && runs_here(k))
            return &kernels[k];
    return NULL;
}
