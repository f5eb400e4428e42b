/* The exponentials and products of a kernel: those of chapter 15's own
 * functions, and those of each instruction set. Who includes this says by
 * after() which kernels there are. */
#pragma once

#include "calls.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const Kernel *after(const Kernel *last);

/* ---- exp2_fast */

/* How far it is from exp2, in parts of what is due. */
static void exp2_off(const Kernel *kernel, float x, Worst *worst)
{
    const double off = kernel->exp2(x) / exp2(x) - 1;
    if (fabs(off) <= worst->off)
        return;
    worst->off = isnan(off) ? INFINITY : fabs(off);
    snprintf(worst->where, sizeof worst->where, "%s: of %.9g", kernel->name,
             x);
}

/* In steps of seven parts of 1024, so that each part comes, at some power;
 * and beside whole numbers and halves, where the whole number becomes
 * another one. Who is graded is another process, and each call takes
 * microseconds. */
static void exp2_grid(void)
{
    const int step = getenv("TAP_SMALL") ? 64 : 7;
    static Worst worst;
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        for (int k = -126 * 1024; k <= 127 * 1024; k += step)
            exp2_off(kernel, (float)k / 1024, &worst);
        for (int k = -251; k <= 253; k++) {
            const float x = (float)k / 2;
            exp2_off(kernel, nextafterf(x, INFINITY), &worst);
            exp2_off(kernel, nextafterf(x, -INFINITY), &worst);
        }
        report("exp2", &worst, 2e-7);
    }
}

/* From -127 to -126: 0 or the power, which has fewer digits there. */
static void exp2_between(void)
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (float x = -127; x < -126; x = nextafterf(x + 1e-4f, 0)) {
            const double got = kernel->exp2(x), due = exp2(x);
            expect(got == 0 || fabs(got - due) <= 2e-7 * due + 0x1p-149,
                   "exp2", "%s: of %.9g: %g", kernel->name, x, got);
        }
}

static void exp2_limits(void)
{
    const float low[] = {-INFINITY, -FLT_MAX, -1e9f,
                         -1000,     -128,     nextafterf(-127, -200)};
    const uint32_t odd[] = {0x7fc00000, 0xffc00000, 0x7fc00001,
                            0xffffffff, 0x7fffffff, 0x7fc12345};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        for (int k = 0; k < 6; k++) {
            float x;
            memcpy(&x, &odd[k], sizeof x);
            given("%s: %g, of bits %#x", kernel->name, x, (unsigned)odd[k]);
            expect_equal("exp2", kernel->exp2(x), NAN);
            expect_equal("exp2", kernel->exp2(low[k]), 0);
        }
        for (int k = -126; k <= 127; k++) {
            next_case();
            given("x = %d", k);
            expect_equal("exp2", kernel->exp2((float)k), ldexp(1, k));
        }
    }
}

/* ---- Products */

/* Any table, or one turned, with room between its entries. */
static StridedMatrix any_view(Random *r, const char *name, int n, int m)
{
    const int step = 1 + below(r, 3), turned = below(r, 2);
    const int beside = (turned ? n : m) * step + below(r, 5);
    const ptrdiff_t row = turned ? step : beside,
                    column = turned ? beside : step;
    float *x =
        guarded(name, (size_t)((n - 1) * row + (m - 1) * column + 1));
    for (ptrdiff_t k = 0; k <= (n - 1) * row + (m - 1) * column; k++)
        x[k] = NAN;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            uniform_fill(r, 1, 1, -1, 1,
                         (void *)(x + i * row + j * column));
    return (StridedMatrix){x, row, column};
}

/* How far a product is from its sum in float64, where 1 is the sum of what
 * is added, without signs. */
static void product_off(int m, int d, StridedMatrix a, StridedMatrix b,
                        StridedMatrix start, int place, float got,
                        Worst *worst, const char *where)
{
    const int i = place / m, j = place % m;
    double due =
        start.at ? start.at[i * start.row_stride + j * start.column_stride]
                 : 0;
    double size = fabs(due);
    for (int k = 0; k < d; k++) {
        const double x = a.at[i * a.row_stride + k * a.column_stride];
        const double y = b.at[k * b.row_stride + j * b.column_stride];
        due += x * y;
        size += fabs(x * y);
    }
    worse(worst, got / size, due / size, where);
}

/* start is NULL, one row, a table or the result itself; the first product
 * is large enough for threads. */
static void multiply_as(const Kernel *kernel, Worst *worst)
{
    for (int s = 0; s < 60; s++) {
        Random r = random_seeded(1600 + s);
        const int n = s ? any_size(&r, 60) : 113;
        const int m = s ? any_size(&r, 80) : 101;
        const int d = s ? any_size(&r, 80) : 101;
        const size_t count = (size_t)(n * m);
        float *c = guarded("c", count), *old = guarded("start", count);
        const StridedMatrix a = any_view(&r, "a", n, d);
        const StridedMatrix b = any_view(&r, "b", d, m);
        const StridedMatrix other = any_view(&r, "start", n, m);
        const StridedMatrix start[4] = {{NULL, 0, 0},
                                        {other.at, 0, other.column_stride},
                                        other,
                                        {old, m, 1}};
        uniform_fill(&r, n, m, -1, 1, (void *)old);
        memcpy(c, old, count * sizeof *c);
        kernel->matmul(n, m, d, a, b,
                       s % 4 < 3 ? start[s % 4] : (StridedMatrix){c, m, 1},
                       (void *)c);
        for (int k = 0; k < n * m; k += s ? 1 : 7)
            product_off(m, d, a, b, start[s % 4], k, c[k], worst,
                        tap_words("%s: n = %d, m = %d, d = %d, start %d",
                                  kernel->name, n, m, d, s % 4));
        guarded_free();
    }
}

static void multiply_test(void)
{
    static Worst worst;
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        multiply_as(kernel, &worst);
    report("c", &worst, 4e-7);
}

/* Where it is known how many threads there are, any number of them. */
static void multiply_threads(void)
{
    enum { N = 100, M = 129, D = 110 };
    float *a = guarded("a", N * D), *b = guarded("b", D * M), *c[4];
    tap_fill(N * D, a, -1, 1);
    tap_fill(D * M, b, -1, 1);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        for (int t = 0; t < 4; t++) {
#ifdef _OPENMP
            omp_set_num_threads((int[]){1, 2, 3, 7}[t]);
#endif
            c[t] = guarded("c", N * M);
            kernel->matmul(N, M, D, (StridedMatrix){a, D, 1},
                           (StridedMatrix){b, M, 1},
                           (StridedMatrix){NULL, 0, 0}, (void *)c[t]);
            expect_list("c", N * M, c[t], c[0], EXACTLY);
        }
}

/* Of each kernel, wherever a vector ends; and what lies behind stays. */
static void exp2_all_test(void)
{
    enum { LONGEST = 70 };
    const Kernel *kernel = NULL;
    float was[LONGEST], x[LONGEST + 1];
    while ((kernel = after(kernel)))
        for (int n = 1; n <= LONGEST; n++) {
            next_case();
            given("%s: n = %d", kernel->name, n);
            tap_fill(n, was, -140, 126);
            was[n / 2] = -INFINITY;
            memcpy(x, was, sizeof was);
            x[n] = 7;
            kernel->exp2_all(n, x);
            for (int i = 0; i < n; i++)
                expect_near(tap_words("x[%d]", i), x[i],
                            was[i] < -126 ? 0 : exp2((double)was[i]), 3e-7,
                            0x1p-126);
            expect_equal("what is behind", x[n], 7);
        }
}
