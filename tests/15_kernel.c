/* Chapter 15 against PyTorch, golden/15_kernel, and against the chapters
 * before it. */
#define CHAPTER "15_kernel"
#include "calls.h"
#include "attention/15_kernel.h"
#include "attention/01_dot_product.h"
#include "attention/14_flash.h"
#include "kernel/lanes.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define ATOL 2e-6

/* ---- exp2_fast */

/* Whole powers are exact. Below -126, where a float has fewer digits, 0 will
 * do as well. */
static void expect_exp2(float x)
{
    const double got = (double)exp2_fast(x);
    const double due = x < -127 ? 0 : exp2((double)x);
    const double tolerance = x < -126         ? 2e-7 * due + 0x1p-149
                             : x == floorf(x) ? 0
                                              : 2e-7 * due;
    tap_report(tap_is_near(got, due, tolerance) || (x < -126 && got == 0),
               "exp2_fast", "of %.9g: %.9g where %.9g is due", (double)x,
               got, due);
}

/* In steps of seven parts of 1024, so that each part comes, at some power;
 * and beside whole numbers and halves, where the whole number becomes
 * another one. Who is graded is another process, and each call takes
 * microseconds. */
static void exp2_grid(void)
{
    const int step = getenv("TAP_SMALL") ? 64 : 7;
    for (int k = -126 * 1024; k <= 127 * 1024; k += step)
        expect_exp2((float)k / 1024);
    for (int k = -251; k <= 253; k++) {
        const float x = (float)k / 2;
        expect_exp2(x);
        expect_exp2(nextafterf(x, -INFINITY));
        expect_exp2(nextafterf(x, INFINITY));
    }
    expect_exp2(127);
}

static void exp2_between(void)
{
    for (float x = -127; x < -126; x = nextafterf(x + 1e-4f, 0))
        expect_exp2(x);
}

static void exp2_ends(void)
{
    const float low[] = {-INFINITY, -FLT_MAX, -1e9f,
                         -1000,     -128,     nextafterf(-127, -200)};
    const uint32_t odd[] = {0x7fc00000, 0xffc00000, 0x7fc00001,
                            0xffffffff, 0x7fffffff, 0x7fc12345};
    for (int k = 0; k < 6; k++) {
        float x;
        memcpy(&x, &odd[k], sizeof x);
        expect_exp2(x);
        expect_exp2(low[k]);
    }
}

/* Wherever a vector ends. */
static void exp2_all_test(void)
{
    for (int n = 1; n <= 70; n++) {
        float was[70], *x = room_for("x", (size_t)n);
        tap_fill(n, was, -140, 126);
        was[n / 2] = -INFINITY;
        memcpy(x, was, (size_t)n * sizeof *x);
        exp2_all(n, x);
        for (int i = 0; i < n; i++)
            tap_near(tap_words("x[%d] of %d", i, n), (double)x[i],
                     was[i] < -126 ? 0 : exp2((double)was[i]), 3e-7,
                     0x1p-126);
    }
}

/* ---- Products */

/* The book's own product and a fast one, of odd sizes. */
static void
expect_matmul(void (*multiply)(int n, int m, int d, const float (*a)[d],
                               const float (*b)[m], float (*c)[m]),
              double tolerance)
{
    for (int s = 0; s < 40; s++) {
        Random r = random_seeded(1700 + (uint64_t)s);
        const int n = any_size(&r, 60), m = any_size(&r, 130);
        const int d = any_size(&r, 60);
        float *a = room_for("a", (size_t)(n * d));
        float *b = room_for("b", (size_t)(d * m));
        float *c = room_for("c", (size_t)(n * m));
        float *due = room((size_t)(n * m));
        uniform_fill(&r, n, d, -1, 1, (void *)a);
        uniform_fill(&r, d, m, -1, 1, (void *)b);
        next_case();
        give_table("a", n, d, a);
        give_table("b", d, m, b);
        matmul(n, m, d, (void *)a, (void *)b, (void *)due);
        multiply(n, m, d, (void *)a, (void *)b, (void *)c);
        const Tensor right = {.type = 'f',
                              .rank = 2,
                              .shape = {n, m},
                              .count = (size_t)(n * m),
                              .data = due};
        tap_compare("c", &right, 'f', c, 0, tolerance);
        close_rooms();
    }
}

/* In matmul's order, and so equal, where there is no fused multiply-add. */
static void ordered_test(void)
{
#if defined __x86_64__ && !defined __FMA__
    expect_matmul(matmul_ordered, 0);
#else
    expect_matmul(matmul_ordered, ATOL);
#endif
}

static void fast_test(void)
{
    expect_matmul(matmul_fast, ATOL);
}

/* Any table, or one turned, with room between its entries. */
static StridedMatrix any_view(Random *r, const char *name, int n, int m)
{
    const int step = 1 + below(r, 3), turned = below(r, 2);
    const int beside = (turned ? n : m) * step + below(r, 5);
    const ptrdiff_t row = turned ? step : beside,
                    column = turned ? beside : step;
    const size_t count = (size_t)((n - 1) * row + (m - 1) * column + 1);
    float *x = room_for(name, count);
    for (size_t k = 0; k < count; k++)
        x[k] = NAN;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i * row + j * column] = 2 * random_float(r) - 1;
    return (StridedMatrix){x, row, column};
}

static double entry(StridedMatrix a, int i, int j)
{
    return a.at ? (double)a.at[i * a.row_stride + j * a.column_stride] : 0;
}

/* start is NULL, one row, a table or the result itself; the first product
 * is large enough for threads. What is allowed is in parts of the sum of
 * what is added, without signs. */
static void strided_test(void)
{
    for (int s = 0; s < 60; s++) {
        Random r = random_seeded(1600 + (uint64_t)s);
        const int n = s ? any_size(&r, 60) : 113;
        const int m = s ? any_size(&r, 80) : 101;
        const int d = s ? any_size(&r, 80) : 101;
        float *c = room_for("c", (size_t)(n * m));
        float *old = room_for("start", (size_t)(n * m));
        const StridedMatrix a = any_view(&r, "a", n, d);
        const StridedMatrix b = any_view(&r, "b", d, m);
        const StridedMatrix other = any_view(&r, "start", n, m);
        const StridedMatrix start[4] = {{NULL, 0, 0},
                                        {other.at, 0, other.column_stride},
                                        other,
                                        {old, m, 1}};
        uniform_fill(&r, n, m, -1, 1, (void *)old);
        memcpy(c, old, (size_t)(n * m) * sizeof *c);
        next_case();
        give("n = %d, m = %d, d = %d, start %d", n, m, d, s % 4);
        matmul_strided(n, m, d, a, b,
                       s % 4 < 3 ? start[s % 4] : (StridedMatrix){c, m, 1},
                       (void *)c);
        for (int i = 0; i < n * m; i += s ? 1 : 7) {
            double due = entry(start[s % 4], i / m, i % m);
            double size = fabs(due);
            for (int k = 0; k < d; k++) {
                const double x = entry(a, i / m, k) * entry(b, k, i % m);
                due += x;
                size += fabs(x);
            }
            tap_near(tap_words("c[%d][%d]", i / m, i % m), (double)c[i],
                     due, 0, 4e-7 * size);
        }
        close_rooms();
    }
}

/* With any number of threads, to the bit. */
static void strided_threads(void)
{
    enum { N = 100, M = 129, D = 110 };
    float *a = room_for("a", N * D), *b = room_for("b", D * M), *c[4];
    tap_fill(N * D, a, -1, 1);
    tap_fill(D * M, b, -1, 1);
    for (int t = 0; t < 4; t++) {
#ifdef _OPENMP
        omp_set_num_threads((int[]){1, 2, 3, 7}[t]);
#endif
        c[t] = room_for("c", N * M);
        matmul_strided(N, M, D, (StridedMatrix){a, D, 1},
                       (StridedMatrix){b, M, 1},
                       (StridedMatrix){NULL, 0, 0}, (void *)c[t]);
        same("c", N * M, c[t], c[0]);
    }
}

/* ---- Lanes */

/* A product of lanes, of which the first vectors count, against its sum. */
static void lanes_product(void)
{
    for (int s = 0; s < 24; s++) {
        const int n = 1 + 3 * s, d = 70 - 3 * s;
        const int vectors = s % 4 < 2 ? 1 : VECTORS;
        float *a = room_for("a", (size_t)(n * d));
        Lanes *b = new_aligned((size_t)d, sizeof *b), factor;
        Lanes *c = new_aligned((size_t)n, sizeof *c), was[70];
        tap_fill(n * d, a, -1, 1);
        tap_fill(d * QUERIES, b[0].at, -1, 1);
        tap_fill(n * QUERIES, c[0].at, -1, 1);
        tap_fill(QUERIES, factor.at, -1, 1);
        memcpy(was, c, (size_t)n * sizeof *c);
        matmul_lanes(n, vectors, d, (StridedMatrix){a, d, 1}, b,
                     s % 2 ? &factor : NULL, c);
        next_case();
        give("n = %d, vectors = %d, d = %d, %s factor", n, vectors, d,
             s % 2 ? "a" : "no");
        for (int i = 0; i < n; i++)
            for (int j = 0; j < vectors * LANES; j++) {
                double due = s % 2 ? was[i].at[j] * factor.at[j] : 0;
                for (int k = 0; k < d; k++)
                    due += (double)a[i * d + k] * (double)b[k].at[j];
                tap_near(tap_words("c[%d].at[%d]", i, j), c[i].at[j], due,
                         0, 1e-5);
            }
        free(b);
        free(c);
    }
}

/* A block of scores in each lane, against their sums in float64. */
static void lanes_softmax(void)
{
    enum { COLS = 9 };
    for (int vectors = 1; vectors <= VECTORS; vectors += VECTORS - 1) {
        const double scale = vectors == 1 ? 0.3f : 2;
        Lanes x[COLS], was[COLS], largest, sum = {{0}}, shrink;
        tap_fill(COLS * QUERIES, x[0].at, -4, 4);
        memcpy(was, x, sizeof was);
        for (int k = 0; k < QUERIES; k++)
            largest.at[k] = -FLT_MAX;
        softmax_lanes(vectors, COLS, (float)scale, x, &largest, &sum,
                      &shrink);
        next_case();
        give("%d vectors, scale %g", vectors, scale);
        for (int k = 0; k < vectors * LANES; k++) {
            double most = -INFINITY, due = 0;
            for (int j = 0; j < COLS; j++)
                most = fmax(most, was[j].at[k]);
            for (int j = 0; j < COLS; j++) {
                const double e = exp(scale * (was[j].at[k] - most));
                due += e;
                tap_near("exponential", x[j].at[k], e, 0, 1e-6);
            }
            tap_near("largest", largest.at[k], most, 0, 0);
            tap_near("sum", sum.at[k], due, 1e-6, 0);
        }
    }
}

/* ---- attend_tiles */

/* The heads of the set, one after the other. */
static void tiles_test(void)
{
    const int heads = dim("query", 0) * dim("query", 1);
    const int shared = dim("query", 1) / dim("key", 1);
    const int n = dim("query", 2), m = dim("key", 2);
    const int d_k = dim("key", 3), d_v = dim("value", 3);
    const float *query = input("query"), *key = input("key"),
                *value = input("value");
    float *context = result("context"), *log_sum_exp = result("log_sum");
    for (int h = 0; h < heads; h++)
        attend_tiles(n, m, d_k, d_v, (const void *)(query + h * n * d_k),
                     (const void *)(key + h / shared * m * d_k),
                     (const void *)(value + h / shared * m * d_v),
                     (void *)(context + h * n * d_v), log_sum_exp + h * n);
    const double near = strcmp(sets_now, "loud") ? 1e-6 : 1e-4;
    agrees("context", context, 0, near);
    agrees("log_sum", log_sum_exp, 4e-7, 1e-6);
}

/* Against flash_forward, keys from one number to another. */
static void as_flash(int n, int m, int d_k, int d_v, float low, float high)
{
    const bool is_far = low < -2;
    float *query = room_for("query", (size_t)(n * d_k));
    float *key = room_for("key", (size_t)(m * d_k));
    float *value = room_for("value", (size_t)(m * d_v));
    float *context = room_for("context", (size_t)(n * d_v));
    float *sum = room_for("log_sum", (size_t)n);
    float *due = room((size_t)(n * d_v)), *due_sum = room((size_t)n);
    tap_fill(n * d_k, query, is_far ? 1 : -2, is_far ? 4 : 2);
    tap_fill(m * d_k, key, low, high);
    tap_fill(m * d_v, value, -1, 1);
    next_case();
    give("n = %d, m = %d, d_k = %d, d_v = %d", n, m, d_k, d_v);
    attend_tiles(n, m, d_k, d_v, (void *)query, (void *)key, (void *)value,
                 (void *)context, sum);
    flash_forward(n, m, d_k, d_v, mask_none(), (void *)query, (void *)key,
                  (void *)value, (void *)due, due_sum);
    similar("context", (size_t)(n * d_v), context, due, 0, ATOL);
    similar("log_sum", (size_t)n, sum, due_sum, is_far ? 1e-6 : 0,
            is_far ? 0 : 4e-6);
    close_rooms();
}

/* Sizes beside the ends of tiles and blocks. */
static void tiles_as_flash(void)
{
    const int size[] = {1, 7, 31, 32, 33, 127, 128, 129, 260};
    for (int k = 0; k < 81; k++)
        as_flash(size[k / 9], size[k % 9], 1 + k % 7, 1 + k % 5, -2, 2);
}

/* Scores of -1,000 and less, of which no exponential is a float. */
static void tiles_far_below(void)
{
    as_flash(3, 140, 1, 1, -1003, -1000);
}

static void turn_test(void)
{
    for (int n = 1; n <= 9; n++)
        for (int m = 1; m <= 6; m++) {
            const int row = m + n % 3, to_row = n + m % 3;
            const size_t count = (size_t)((n - 1) * row + m);
            float *from = room_for("from", count);
            float *to = room_for("to", (size_t)(m * to_row));
            tap_fill((int)count, from, -1, 1);
            next_case();
            give("n = %d, m = %d, row = %d, to_row = %d", n, m, row,
                 to_row);
            transpose_scaled(n, m, 0.5f, from, row, to, to_row);
            for (int j = 0; j < m; j++)
                for (int i = 0; i < to_row; i++)
                    tap_near(
                        tap_words("to[%d][%d]", j, i), to[j * to_row + i],
                        i < n ? 0.5f * from[i * row + j] : unset, 0, 0);
        }
}

int main(void)
{
    TAP(exp2_grid, "exp2_fast: as exp2");
    TAP(exp2_between, "exp2_fast: from -127 to -126");
    TAP(exp2_ends, "exp2_fast: low numbers, and no numbers");
    TAP(ordered_test, "matmul_ordered: as matmul, digit for digit");
    TAP(fast_test, "matmul_fast: as matmul");
    TAP(strided_test, "matmul_strided: any tables, any start");
    TAP(strided_threads, "matmul_strided: alike for any number of threads");
    TAP(exp2_all_test, "exp2_all: any sizes");
    TAP(lanes_product, "matmul_lanes: any sizes");
    TAP(lanes_softmax, "softmax_lanes: scores that are scaled");
    EACH("attend_tiles", tiles_test, "all_*-query");
    SETS("attend_tiles", tiles_test, "loud");
    TAP(tiles_as_flash, "attend_tiles: as flash_forward");
    TAP(tiles_far_below, "attend_tiles: scores far below 0");
    TAP(turn_test, "transpose_scaled: any sizes");
    return tap_done();
}
