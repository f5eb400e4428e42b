/* Chapter 15 against PyTorch, golden/15_kernel, and against the chapters
 * before it. */
#define CHAPTER "15_kernel"
#include "calls.h"
#include "attention/15_kernel.h"
#include "attention/01_dot_product.h"
#include "attention/14_flash.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define ATOL 2e-6

/* Whole powers are exact. Below -126, where a float has fewer digits, 0
 * will do as well. */
static void expect_exp2(float x)
{
    const double got = (double)exp2_fast(x);
    const double due = x < -127 ? 0 : exp2((double)x);
    const double tolerance = x < -126         ? 2e-7 * due + 0x1p-149
                             : x == floorf(x) ? 0
                                              : 2e-7 * due;
    expect(tap_is_near(got, due, tolerance) || (x < -126 && got == 0),
           "exp2_fast", "of %.9g: %.9g where %.9g is due", (double)x, got,
           due);
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
        float was[70];
        tap_fill(n, was, -140, 126);
        was[n / 2] = -INFINITY;
        float *x = guarded_copy("x", (size_t)n, was);
        exp2_all(n, x);
        for (int i = 0; i < n; i++)
            expect_near(tap_words("x[%d] of %d", i, n), (double)x[i],
                        was[i] < -126 ? 0 : exp2((double)was[i]), 3e-7,
                        0x1p-126);
    }
}

typedef void Multiply(int n, int m, int d, const float a[n][d],
                      const float b[d][m], float c[n][m]);

/* The book's own product and a fast one, of odd sizes. */
static void expect_matmul(Multiply *multiply, double tolerance)
{
    for (int s = 0; s < 40; s++) {
        Random r = random_seeded(1700 + (uint64_t)s);
        const int n = any_size(&r, 60), m = any_size(&r, 130);
        const int d = any_size(&r, 60);
        void *a = guarded("a", (size_t)(n * d));
        void *b = guarded("b", (size_t)(d * m));
        void *c = guarded("c", (size_t)(n * m));
        void *due = guarded("an array", (size_t)(n * m));
        uniform_fill(&r, n, d, -1, 1, a);
        uniform_fill(&r, d, m, -1, 1, b);
        next_case();
        given_array("a", a, n, d);
        given_array("b", b, d, m);
        matmul(n, m, d, a, b, due);
        multiply(n, m, d, a, b, c);
        expect_table("c", n, m, c, due, 0, tolerance);
        guarded_free();
    }
}

/* In matmul's order, and so equal, where there is no fused multiply-add. */
#if defined __x86_64__ && !defined __FMA__
#define ORDERED 0
#else
#define ORDERED ATOL
#endif

/* Any table, or one turned, with room between its entries. */
static StridedMatrix any_view(Random *r, const char *name, int n, int m)
{
    const StridedRows x =
        any_numbers(r, (Table){name, 1, n, m, 1, {0}}).rows;
    return (StridedMatrix){x.at, x.head_stride, x.token_stride};
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
        float *old = guarded("start", (size_t)(n * m));
        const StridedMatrix a = any_view(&r, "a", n, d);
        const StridedMatrix b = any_view(&r, "b", d, m);
        const StridedMatrix other = any_view(&r, "start", n, m);
        const StridedMatrix start[4] = {{NULL, 0, 0},
                                        {other.at, 0, other.column_stride},
                                        other,
                                        {old, m, 1}};
        uniform_fill(&r, n, m, -1, 1, (void *)old);
        float *c = guarded_copy("c", (size_t)(n * m), old);
        next_case();
        given("n = %d, m = %d, d = %d, start %d", n, m, d, s % 4);
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
            expect_near(tap_words("c[%d][%d]", i / m, i % m), (double)c[i],
                        due, 0, 4e-7 * size);
        }
        guarded_free();
    }
}

static void any_threads(void)
{
    enum { N = 100, M = 129, D = 110 };
    float *a = guarded("a", N * D), *b = guarded("b", D * M), *c[4];
    tap_fill(N * D, a, -1, 1);
    tap_fill(D * M, b, -1, 1);
    for (int t = 0; t < 4; t++) {
#ifdef _OPENMP
        omp_set_num_threads((int[]){1, 2, 3, 7}[t]);
#endif
        c[t] = guarded("c", N * M);
        matmul_strided(N, M, D, (StridedMatrix){a, D, 1},
                       (StridedMatrix){b, M, 1},
                       (StridedMatrix){NULL, 0, 0}, (void *)c[t]);
        expect_list("c", N * M, c[t], c[0], EXACTLY);
    }
}

static void tiles_test(const char *set)
{
    const AttentionCall c = call_of_set(set);
    const double near = strcmp(set, "loud") ? 1e-6 : 1e-4;
    float *context = due(set, "context", 0, near);
    float *log_sum_exp = due(set, "log_sum", 4e-7, 1e-6);
    for (int h = 0; h < c.texts * c.n_heads; h++) {
        const int kv_head = h / (c.n_heads / c.n_kv_heads);
        attend_tiles(
            c.n, c.m, c.d_k, c.d_v, (void *)row_at(&c.query, 0, h, 0),
            (void *)row_at(&c.key, 0, kv_head, 0),
            (void *)row_at(&c.value, 0, kv_head, 0),
            (void *)(context + h * c.n * c.d_v), log_sum_exp + h * c.n);
    }
}

static void as_flash(int n, int m, int d_k, int d_v, float low, float high)
{
    const bool is_far = low < -2;
    void *query = guarded("query", (size_t)(n * d_k));
    void *key = guarded("key", (size_t)(m * d_k));
    void *value = guarded("value", (size_t)(m * d_v));
    void *context = guarded("context", (size_t)(n * d_v));
    void *due = guarded("an array", (size_t)(n * d_v));
    float *sum = guarded("log_sum", (size_t)n);
    float *due_sum = guarded("an array", (size_t)n);
    tap_fill(n * d_k, query, is_far ? 1 : -2, is_far ? 4 : 2);
    tap_fill(m * d_k, key, low, high);
    tap_fill(m * d_v, value, -1, 1);
    next_case();
    given("n = %d, m = %d, d_k = %d, d_v = %d", n, m, d_k, d_v);
    attend_tiles(n, m, d_k, d_v, query, key, value, context, sum);
    flash_forward(n, m, d_k, d_v, mask_none(), query, key, value, due,
                  due_sum);
    expect_list("context", (n * d_v), context, due, 0, ATOL);
    expect_list("log_sum", n, sum, due_sum, is_far ? 1e-6 : 0,
                is_far ? 0 : 4e-6);
    guarded_free();
}

/* Sizes beside the ends of tiles and blocks. */
static void tiles_as_flash(void)
{
    const int size[] = {1, 7, 31, 32, 33, 127, 128, 129, 260};
    for (int k = 0; k < 81; k++)
        as_flash(size[k / 9], size[k % 9], 1 + k % 7, 1 + k % 5, -2, 2);
}

int main(void)
{
    TAP("exp2_fast: as exp2", exp2_grid());
    TAP("exp2_fast: from -127 to -126",
        for (float x = -127; x < -126; x = nextafterf(x + 1e-4f, 0))
            expect_exp2(x));
    TAP("exp2_fast: low numbers, and no numbers", exp2_ends());
    TAP("matmul_ordered: as matmul, digit for digit",
        expect_matmul(matmul_ordered, ORDERED));
    TAP("matmul_fast: as matmul", expect_matmul(matmul_fast, ATOL));
    TAP("matmul_strided: any tables, any start", strided_test());
    TAP("matmul_strided: alike for any number of threads", any_threads());
    TAP("exp2_all: any sizes", exp2_all_test());
    EACH_SET("attend_tiles", "all_*-query", tiles_test(set));
    TAP("attend_tiles: loud", tiles_test("loud"));
    TAP("attend_tiles: as flash_forward", tiles_as_flash());
    /* Of scores of -1,000 and less no exponential is a float. */
    TAP("attend_tiles: scores far below 0",
        as_flash(3, 140, 1, 1, -1003, -1000));
    return tap_done();
}
