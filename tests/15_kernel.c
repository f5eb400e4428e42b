/* Chapter 15 against PyTorch, golden/15_kernel, and against the chapters
 * before it. */
#define CHAPTER "15_kernel"
#include "products.h"
#include "attention/15_kernel.h"
#include "attention/01_dot_product.h"
#include "attention/14_flash.h"
#include "kernel/lanes.h"

#define ATOL 2e-6

/* The chapter's own functions, in the place of a kernel. */
static const Kernel *after(const Kernel *last)
{
    static const Kernel own = {.name = "here",
                               .matmul = matmul_strided,
                               .exp2 = exp2_fast,
                               .exp2_all = exp2_all};
    return last || tap_told->failed ? NULL : &own;
}

/* The book's own product and the fast ones, of odd sizes. */
static void
matmul_as(void (*multiplies)(int n, int m, int d, const float (*a)[d],
                             const float (*b)[m], float (*c)[m]),
          double tolerance)
{
    for (int s = 0; s < 40; s++) {
        next_case();
        Random r = random_seeded(1700 + s);
        const int n = any_size(&r, 60), m = any_size(&r, 130);
        const int d = any_size(&r, 60);
        float *a = guarded("a", (size_t)(n * d));
        float *b = guarded("b", (size_t)(d * m));
        float *c = guarded("c", (size_t)(n * m));
        float *due = guarded("an array", (size_t)(n * m));
        uniform_fill(&r, n, d, -1, 1, (void *)a);
        uniform_fill(&r, d, m, -1, 1, (void *)b);
        given_array("a", a, n, d);
        given_array("b", b, d, m);
        matmul(n, m, d, (void *)a, (void *)b, (void *)due);
        multiplies(n, m, d, (void *)a, (void *)b, (void *)c);
        expect_table("c", n, m, c, due, 0, tolerance);
        guarded_free();
    }
}

/* In matmul's order, and so equal, where there is no fused multiply-add. */
static void ordered_test(void)
{
#if defined __x86_64__ && !defined __FMA__
    matmul_as(matmul_ordered, 0);
#else
    matmul_as(matmul_ordered, ATOL);
#endif
}

static void matmul_test(void)
{
    matmul_as(matmul_fast, ATOL);
}

/* ---- Lanes */

/* A product of lanes, of which the first vectors count, against its sum. */
static void lanes_product(void)
{
    for (int s = 0; s < 24; s++) {
        const int n = 1 + 3 * s, d = 70 - 3 * s;
        const int vectors = s % 4 < 2 ? 1 : VECTORS;
        float *a = guarded("a", (size_t)(n * d));
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
        given("n = %d, vectors = %d, d = %d, %s factor", n, vectors, d,
              s % 2 ? "a" : "no");
        for (int i = 0; i < n; i++)
            for (int j = 0; j < vectors * LANES; j++) {
                double due = s % 2 ? was[i].at[j] * factor.at[j] : 0;
                for (int k = 0; k < d; k++)
                    due += (double)a[i * d + k] * (double)b[k].at[j];
                expect_near(tap_words("c[%d].at[%d]", i, j), c[i].at[j],
                            due, 0, 1e-5);
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
        given("%d vectors, scale %g", vectors, scale);
        for (int k = 0; k < vectors * LANES; k++) {
            double most = -INFINITY, due = 0;
            for (int j = 0; j < COLS; j++)
                most = fmax(most, was[j].at[k]);
            for (int j = 0; j < COLS; j++) {
                const double e = exp(scale * (was[j].at[k] - most));
                due += e;
                expect_near("exponential", x[j].at[k], e, 0, 1e-6);
            }
            expect_equal("largest", largest.at[k], most);
            expect_near("sum", sum.at[k], due, 1e-6, 0);
        }
    }
}

/* ---- attend_tiles */

/* The heads of the set, one after the other. */
static void tiles_test(const char *set)
{
    const int heads = dim(set, "query", 0) * dim(set, "query", 1);
    const int shared = dim(set, "query", 1) / dim(set, "key", 1);
    const int n = dim(set, "query", 2), m = dim(set, "key", 2);
    const int d_k = dim(set, "key", 3), d_v = dim(set, "value", 3);
    const float *query = input(set, "query"), *key = input(set, "key"),
                *value = input(set, "value");
    float *context = guarded("context", golden_count(set, "context")),
          *log_sum_exp = guarded("log_sum", golden_count(set, "log_sum"));
    for (int h = 0; h < heads; h++)
        attend_tiles(n, m, d_k, d_v, (const void *)(query + h * n * d_k),
                     (const void *)(key + h / shared * m * d_k),
                     (const void *)(value + h / shared * m * d_v),
                     (void *)(context + h * n * d_v), log_sum_exp + h * n);
    const double near = strcmp(set, "loud") ? 1e-6 : 1e-4;
    expect_close("context", context, golden(set, "context"), 0, near);
    expect_close("log_sum", log_sum_exp, golden(set, "log_sum"), 4e-7,
                 1e-6);
}

/* Sizes beside the ends of tiles and blocks, against flash_forward. */
static void tiles_as_flash(void)
{
    const int size[] = {1, 7, 31, 32, 33, 127, 128, 129, 260};
    for (int k = 0; k < 81; k++) {
        const int n = size[k / 9], m = size[k % 9], d_k = 1 + k % 7,
                  d_v = 1 + k % 5;
        float *query = guarded("query", (size_t)(n * d_k));
        float *key = guarded("key", (size_t)(m * d_k));
        float *value = guarded("value", (size_t)(m * d_v));
        float *got = guarded("context", (size_t)(n * d_v));
        float *sum = guarded("log_sum", (size_t)n);
        float *due = guarded("an array", (size_t)(n * d_v)),
              *due_sum = guarded("an array", (size_t)n);
        tap_fill(n * d_k, query, -2, 2);
        tap_fill(m * d_k, key, -2, 2);
        tap_fill(m * d_v, value, -1, 1);
        next_case();
        given("n = %d, m = %d, d_k = %d, d_v = %d", n, m, d_k, d_v);
        attend_tiles(n, m, d_k, d_v, (void *)query, (void *)key,
                     (void *)value, (void *)got, sum);
        flash_forward(n, m, d_k, d_v, mask_none(), (void *)query,
                      (void *)key, (void *)value, (void *)due, due_sum);
        expect_list("context", (n * d_v), got, due, 0, ATOL);
        expect_list("log_sum", n, sum, due_sum, 0, 4e-6);
        guarded_free();
    }
}

/* Scores of -1,000 and less, of which no exponential is a float. */
static void tiles_far_below(void)
{
    enum { N = 3, M = 140 };
    const float query[N][1] = {{1}, {2}, {4}};
    float(*key)[1] = guarded("key", M), (*value)[1] = guarded("value", M);
    float context[N][1], sum[N], due[N][1], due_sum[N];
    tap_fill(M, key[0], -1003, -1000);
    tap_fill(M, value[0], -1, 1);
    attend_tiles(N, M, 1, 1, query, key, value, context, sum);
    flash_forward(N, M, 1, 1, mask_none(), query, key, value, due, due_sum);
    expect_list("context", N, (float *)context, (float *)due, 0, ATOL);
    expect_list("log_sum", N, sum, due_sum, 1e-6, 0);
}

static void turn_test(void)
{
    for (int n = 1; n <= 9; n++)
        for (int m = 1; m <= 6; m++) {
            const int row = m + n % 3, to_row = n + m % 3;
            const size_t count = (size_t)((n - 1) * row + m);
            float *from = guarded("from", count);
            float *to = guarded("to", (size_t)(m * to_row));
            tap_fill((int)count, from, -1, 1);
            next_case();
            given("n = %d, m = %d, row = %d, to_row = %d", n, m, row,
                  to_row);
            transpose_scaled(n, m, 0.5f, from, row, to, to_row);
            for (int j = 0; j < m; j++)
                for (int i = 0; i < to_row; i++)
                    expect_equal(tap_words("to[%d][%d]", j, i),
                                 to[j * to_row + i],
                                 i < n ? 0.5f * from[i * row + j] : unset);
        }
}

int main(void)
{
    TAP("exp2_fast: as exp2", exp2_grid());
    TAP("exp2_fast: from -127 to -126", exp2_between());
    TAP("exp2_fast: whole numbers, low ones, and no numbers",
        exp2_limits());
    TAP("matmul_ordered: as matmul, digit for digit", ordered_test());
    TAP("matmul_fast: as matmul", matmul_test());
    TAP("matmul_strided: any tables, any start", multiply_test());
    TAP("matmul_strided: alike for any number of threads",
        multiply_threads());
    TAP("exp2_all: any sizes", exp2_all_test());
    TAP("matmul_lanes: any sizes", lanes_product());
    TAP("softmax_lanes: scores that are scaled", lanes_softmax());
    EACH_SET("attend_tiles", "all_*-query", tiles_test(set));
    TAP("attend_tiles: loud", tiles_test("loud"));
    TAP("attend_tiles: as flash_forward", tiles_as_flash());
    TAP("attend_tiles: scores far below 0", tiles_far_below());
    TAP("transpose_scaled: any sizes", turn_test());
    return tap_done();
}
