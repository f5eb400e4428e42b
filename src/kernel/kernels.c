/* Which compilation of the kernel this processor can run. attend.c,
 * backward.c, cache.c and chapter 15 are compiled for AVX-512, for AVX2 and
 * for what every processor of its kind has, which on ARM is NEON; the
 * Makefile gives their functions the set's name (attend_fast_avx2). It
 * serves chapter 15's page, where one sentence says what it does. */
#include "attention/kernel.h"
#include "kernel/lanes.h"
#include "support.h"

#define COMPILED_FOR(SET)                                                  \
    __typeof__(attend_fast) attend_fast_##SET;                             \
    __typeof__(attend_fast_backward) attend_fast_backward_##SET;           \
    __typeof__(kv_cache_attend_fast) kv_cache_attend_fast_##SET;           \
    __typeof__(matmul_strided) matmul_strided_##SET;                       \
    __typeof__(exp2_fast) exp2_fast_##SET;                                 \
    __typeof__(exp2_all) exp2_all_##SET;
#define KERNEL(NAME, LANES, SET)                                           \
    {                                                                      \
        NAME, LANES, attend_fast##SET, attend_fast_backward##SET,          \
            kv_cache_attend_fast##SET, matmul_strided##SET,                \
            exp2_fast##SET, exp2_all##SET                                  \
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
    KERNEL("AVX-512", 16, _avx512),
#endif
#ifdef HAS_avx2
    KERNEL("AVX2", 8, _avx2),
#endif
    KERNEL("plain", LANES, ),
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
