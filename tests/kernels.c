/* src/kernel/dispatch.c: which kernels are there; and what each has of
 * chapter 15's functions, held against those that the chapter's own tests
 * try. */
#include "calls.h"
#include "kernel/lanes.h"
#include "support/machine.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* What runs here is found by its name, and nothing else is; the best is
 * that with the most lanes. */
static void names_test(void)
{
    const Kernel *best = NULL;
    for (const Kernel *k = NULL; (k = next_kernel(k)); best = k)
        expect_equal("lanes", k->lanes,
                     !strcmp(k->name, "AVX-512") ? 16
                     : !strcmp(k->name, "AVX2")  ? 8
                                                 : LANES);
    expect_true("the best", best && best_kernel() == best);
    expect_true("plain", kernel_named("plain"));
    expect_true("AVX", !kernel_named("AVX"));
    expect_true("no name", !kernel_named(""));
}

static void exp2_test(void)
{
    for (const Kernel *k = NULL; (k = next_kernel(k));)
        for (int n = 1; n <= 70; n++) {
            float was[70];
            tap_fill(n, was, -140, 126);
            was[n / 2] = n % 3 ? -INFINITY : NAN;
            float *x = guarded_copy("x", (size_t)n, was);
            k->exp2_all(n, x);
            for (int i = 0; i < n; i++)
                expect_near(tap_words("%s: x[%d] of %d", k->name, i, n),
                            x[i], exp2(was[i]), 2e-7, 0x1p-126);
        }
}

/* Rows that lie apart times columns, from nothing, from one row for all,
 * and from what the result holds. */
static void matmul_test(void)
{
    for (int s = 0; s < 60; s++) {
        Random r = random_seeded((uint64_t)s);
        const int n = any_size(&r, 130), m = any_size(&r, 130);
        const int d = any_size(&r, 130);
        const size_t count = (size_t)(n * m);
        const Table a = any_numbers(&r, (Table){"a", 1, 1, n, d, {0}});
        const Table b = any_numbers(&r, (Table){"b", 1, 1, m, d, {0}});
        const Table row = any_numbers(&r, (Table){"row", 1, 1, 1, m, {0}});
        float *due = guarded_filled("due", count, 0.5f);
        const StridedMatrix rows = {a.rows.at, a.rows.token_stride, 1};
        const StridedMatrix columns = {b.rows.at, 1, b.rows.token_stride};
        StridedMatrix start[3] = {
            {NULL, 0, 0}, {row.rows.at, 0, 1}, {due, m, 1}};
        matmul_strided(n, m, d, rows, columns, start[s % 3], (void *)due);
        for (const Kernel *k = NULL; (k = next_kernel(k));) {
            float *c = guarded_filled("c", count, 0.5f);
            start[2].at = c;
            k->matmul(n, m, d, rows, columns, start[s % 3], (void *)c);
            next_case();
            given("%s: n = %d, m = %d, d = %d, start %d", k->name, n, m, d,
                  s % 3);
            expect_list("c", (int)count, c, due, 0, 4e-6);
        }
        guarded_free();
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
    TAP("kernel_named: what runs here", names_test());
    TAP("exp2_all: each length", exp2_test());
    TAP("matmul_strided: as chapter 15's", matmul_test());
    TAP("threads_for: who does little has one", threads_test());
    return tap_done();
}
