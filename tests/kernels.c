/* src/kernel/kernels.c: which kernels are there; and what each has of chapter
 * 15's functions. */
#include "kernels.h"
#include "products.h"
#include "kernel/lanes.h"
#include "support/machine.h"

/* Without any of these, a kernel must not be found. */
static bool could_run(int k)
{
#ifdef __x86_64__
    const bool avx2 = __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi");
    return k == 2 ||
           (avx2 && (k == 1 || (__builtin_cpu_supports("avx512f") &&
                                __builtin_cpu_supports("avx512bw"))));
#else
    return k == 2;
#endif
}

/* Those that are here. */
static const char *kernel_now;
static void kernel_test(void)
{
    const Kernel *kernel = kernel_named(kernel_now);
    const int lanes[3] = {16, 8, LANES};
    for (int k = 0; k < 3; k++)
        if (!strcmp(kernel_name[k], kernel_now)) {
            expect_equal("lanes", kernel->lanes, lanes[k]);
            expect_true("name", !strcmp(kernel->name, kernel_now));
        }
}

/* What is not there, and the first that is. */
static void other_names(void)
{
    int first = 0;
    while (!kernel_named(kernel_name[first]))
        first++;
    expect_true("the best",
                best_kernel() == kernel_named(kernel_name[first]));
    expect_true("AVX", !kernel_named("AVX"));
    expect_true("no name", !kernel_named(""));
    for (int k = 0; k < 3; k++)
        expect_true(kernel_name[k],
                    could_run(k) || !kernel_named(kernel_name[k]));
    expect_true("plain", kernel_named("plain"));
}

static void each_kernel(void)
{
    for (int k = 0; k < 3; k++) {
        const char *name = tap_words("kernel_named: %s", kernel_name[k]);
        kernel_now = kernel_name[k];
        if (kernel_named(kernel_now))
            TAP(name, kernel_test());
        else
            tap_skip(name, "it is not compiled, or not for this processor");
    }
}

static void threads_test(void)
{
    const int64_t worth = 1 << 20;
    expect_equal("little", threads_for(worth - 1, 5), 1);
    expect_equal("nothing", threads_for(0, 0), 1);
#ifdef _OPENMP
    expect_equal("asked for", threads_for(worth, 5), 5);
    expect_equal("all", threads_for(1e30, 0), omp_get_max_threads());
    int within = 0;
#pragma omp parallel num_threads(2) reduction(+ : within)
    within += threads_for(worth, 5);
    expect_equal("by each of two", within, 2);
#else
    expect_equal("none", threads_for(worth, 5), 1);
#endif
}

int main(void)
{
    each_kernel();
    TAP("best_kernel: the first that is there", other_names());
    TAP("exp2_fast: as exp2", exp2_grid());
    TAP("exp2_fast: from -127 to -126", exp2_between());
    TAP("exp2_fast: whole numbers, low ones, and no numbers",
        exp2_limits());
    TAP("matmul_strided: any tables, any start", multiply_test());
    TAP("matmul_strided: alike for any number of threads",
        multiply_threads());
    TAP("exp2_all: any sizes", exp2_all_test());
    TAP("threads_for: who does little has one", threads_test());
    return tap_done();
}
