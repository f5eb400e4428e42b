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
            tap_near("lanes", kernel->lanes, lanes[k], 0, 0);
            tap_true("name", !strcmp(kernel->name, kernel_now));
        }
}

/* What is not there, and the first that is. */
static void other_names(void)
{
    int first = 0;
    while (!kernel_named(kernel_name[first]))
        first++;
    tap_true("the best", best_kernel() == kernel_named(kernel_name[first]));
    tap_true("AVX", !kernel_named("AVX"));
    tap_true("no name", !kernel_named(""));
    for (int k = 0; k < 3; k++)
        tap_true(kernel_name[k],
                 could_run(k) || !kernel_named(kernel_name[k]));
    tap_true("plain", kernel_named("plain"));
}

static void each_kernel(void)
{
    for (int k = 0; k < 3; k++) {
        const char *name = tap_words("kernel_named: %s", kernel_name[k]);
        kernel_now = kernel_name[k];
        if (kernel_named(kernel_now))
            TAP(kernel_test, name);
        else
            tap_skip(name, "it is not compiled, or not for this processor");
    }
}

static void threads_test(void)
{
    const int64_t worth = 1 << 20;
    tap_near("little", threads_for(worth - 1, 5), 1, 0, 0);
    tap_near("nothing", threads_for(0, 0), 1, 0, 0);
#ifdef _OPENMP
    tap_near("asked for", threads_for(worth, 5), 5, 0, 0);
    tap_near("all", threads_for(1e30, 0), omp_get_max_threads(), 0, 0);
    int within = 0;
#pragma omp parallel num_threads(2) reduction(+ : within)
    within += threads_for(worth, 5);
    tap_near("by each of two", within, 2, 0, 0);
#else
    tap_near("none", threads_for(worth, 5), 1, 0, 0);
#endif
}

int main(void)
{
    each_kernel();
    TAP(other_names, "best_kernel: the first that is there");
    TAP(exp2_grid, "exp2_fast: as exp2");
    TAP(exp2_between, "exp2_fast: from -127 to -126");
    TAP(exp2_limits, "exp2_fast: whole numbers, low ones, and no numbers");
    TAP(multiply_test, "matmul_strided: any tables, any start");
    TAP(multiply_threads,
        "matmul_strided: alike for any number of threads");
    TAP(exp2_all_test, "exp2_all: any sizes");
    TAP(threads_test, "threads_for: who does little has one");
    return tap_done();
}
