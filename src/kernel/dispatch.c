/* Which compilation of the kernel this processor can run: the one for
 * AVX-512, for AVX2, or the plain one, for what every processor of its kind
 * has, which on ARM is NEON. The first two are instruction_set.c's, and
 * each exports one Kernel; the plain one is chapter 15, attend.c,
 * backward.c and cache.c as they stand. The Makefile says which of them the
 * compiler can make. */
#include "attention/kernel.h"
#include "kernel/lanes.h"
#include "support.h"

static const Kernel kernel_plain = {"plain",
                                    LANES,
                                    attend_fast,
                                    attend_fast_backward,
                                    kv_cache_attend_fast,
                                    matmul_strided,
                                    exp2_fast,
                                    exp2_all};

#if defined HAS_avx2 || defined HAS_avx512
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#endif

#ifdef HAS_avx512
extern const Kernel kernel_avx512;

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

#ifdef HAS_avx2
extern const Kernel kernel_avx2;
#endif

enum { KERNELS_MOST = 3 };

/* Those that this processor can run, the one with the most lanes first;
 * returns how many. */
static int kernels_here(const Kernel *kernel[KERNELS_MOST])
{
    int n = 0;
#ifdef HAS_avx512
    if (has_avx512())
        kernel[n++] = &kernel_avx512;
#endif
#ifdef HAS_avx2
    if (has_avx2())
        kernel[n++] = &kernel_avx2;
#endif
    kernel[n++] = &kernel_plain;
    return n;
}

const Kernel *best_kernel(void)
{
    const Kernel *kernel[KERNELS_MOST];
    kernels_here(kernel);
    return kernel[0];
}

const Kernel *kernel_named(const char *name)
{
    const Kernel *kernel[KERNELS_MOST];
    const int n = kernels_here(kernel);
    for (int k = 0; k < n; k++)
        if (!strcmp(kernel[k]->name, name))
            return kernel[k];
    return NULL;
}
