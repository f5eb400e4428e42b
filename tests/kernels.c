/* src/kernel/kernels.c: which kernels are there; and what each has of chapter
 * 15's functions, held against those that the chapter's own tests try. */
#include "calls.h"
#include "kernel/lanes.h"
#include "support/machine.h"

#ifdef _OPENMP
#include <omp.h>
#endif

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

/* What runs here is found by its name, and nothing else is; the best is that
 * with the most lanes. */
static void names_test(void)
{
    static const char *const name[3] = {"AVX-512", "AVX2", "plain"};
    const int lanes[3] = {16, 8, LANES};
    const Kernel *best = NULL;
    for (int k = 0; k < 3; k++) {
        const Kernel *kernel = kernel_named(name[k]);
        tap_true(name[k], !kernel || could_run(k));
        if (!kernel)
            continue;
        tap_near("lanes", kernel->lanes, lanes[k], 0, 0);
        tap_true("name", !strcmp(kernel->name, name[k]));
        best = best ? best : kernel;
    }
    tap_true("the best", best && best_kernel() == best);
    tap_true("plain", kernel_named("plain"));
    tap_true("AVX", !kernel_named("AVX"));
    tap_true("no name", !kernel_named(""));
}

/* All powers, and those that become 0, an infinity or NaN. */
static void exp2_test(void)
{
    const int step = getenv("TAP_SMALL") ? 997 : 101;
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        float x[70] = {NAN, -INFINITY, -FLT_MAX, -127, -126.5f, 127};
        for (int i = -128 * 1024; i <= 127 * 1024; i += step) {
            const float at = (float)i / 1024;
            tap_near(tap_words("%s: of %.9g", k->name, (double)at),
                     k->exp2(at), exp2_fast(at), 2e-7, 0x1p-126);
        }
        for (int n = 1; n <= 70; n++) {
            float *all = room_for("x", (size_t)n);
            if (n > 6)
                x[n - 1] = (float)(3 * n - 140) + 0.3f;
            memcpy(all, x, (size_t)n * sizeof *all);
            k->exp2_all(n, all);
            for (int i = 0; i < n; i++)
                tap_near(tap_words("%s: entry %d of %d", k->name, i, n),
                         all[i], exp2_fast(x[i]), 2e-7, 0x1p-126);
        }
    }
}

/* Rows and columns, side by side or apart, of sizes beside where tiles end;
 * from nothing, from a row, and from what the result holds; by any number of
 * threads the same. */
static void matmul_test(void)
{
    const int size[] = {1, 5, 17, 32, 49, 129};
    for (int s = 0; s < 108; s++) {
        Random r = random_seeded((uint64_t)s);
        const int n = size[s % 6], m = size[s / 6 % 6], d = size[5 - s % 5];
        const int step = 1 + s % 2;
        const StridedMatrix row = {room_for("row", (size_t)m), 0, 1};
        StridedMatrix a = {NULL, d * step + 1, step}, b = {NULL, 1, d + 2};
        a.at = room_for("a", (size_t)(n * (d * step + 1)));
        b.at = room_for("b", (size_t)(m * (d + 2)));
        uniform_fill(&r, n, d * step + 1, -1, 1, (void *)a.at);
        uniform_fill(&r, m, d + 2, -1, 1, (void *)b.at);
        uniform_fill(&r, 1, m, -1, 1, (void *)row.at);
        const size_t count = (size_t)(n * m);
        float *due = room_for("due", count), *c = room_for("c", count);
        const StridedMatrix from[3] = {{NULL, 0, 0}, row, {c, m, 1}};
        for (size_t i = 0; i < count; i++)
            due[i] = 0.5f;
        matmul_strided(n, m, d, a, b,
                       s % 3 < 2 ? from[s % 3] : (StridedMatrix){due, m, 1},
                       (void *)due);
        for (const Kernel *k = NULL; (k = next_kernel(k));) {
            float *first = room_for("first", count);
            for (int threads = 1; threads <= 3; threads += 2) {
#ifdef _OPENMP
                omp_set_num_threads(threads);
#endif
                for (size_t i = 0; i < count; i++)
                    c[i] = 0.5f;
                next_case();
                give("%s: n = %d, m = %d, d = %d, start %d, %d threads",
                     k->name, n, m, d, s % 3, threads);
                k->matmul(n, m, d, a, b, from[s % 3], (void *)c);
                similar("c", count, c, due, 0, 4e-6);
                if (threads > 1)
                    same("c", count, c, first);
                memcpy(first, c, count * sizeof *c);
            }
        }
        close_rooms();
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
    TAP(names_test, "kernel_named: what runs here");
    TAP(names_test, "best_kernel: the first that is there");
    TAP(exp2_test, "exp2_fast: as chapter 15's");
    TAP(exp2_test, "exp2_all: as chapter 15's");
    TAP(matmul_test, "matmul_strided: as chapter 15's");
    TAP(threads_test, "threads_for: who does little has one");
    return tap_done();
}
