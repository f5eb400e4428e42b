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
    return last || tap_told->wrong ? NULL : &own;
}

/* The book's own product and the fast ones, of odd sizes. */
static void
matmul_as(void (*multiplies)(int n, int m, int d, const float (*a)[d],
                             const float (*b)[m], float (*c)[m]),
          double tolerance)
{
    for (int s = 0; s < 40; s++) {
        next_case();
        Random r = seeded(1700 + s);
        const int n = any_size(&r, 60), m = any_size(&r, 130);
        const int d = any_size(&r, 60);
        float *a = room_for("a", (size_t)(n * d));
        float *b = room_for("b", (size_t)(d * m));
        float *c = room_for("c", (size_t)(n * m));
        float *due = room((size_t)(n * m));
        uniform_fill(&r, n, d, -1, 1, (void *)a);
        uniform_fill(&r, d, m, -1, 1, (void *)b);
        give_table("a", n, d, a);
        give_table("b", d, m, b);
        matmul(n, m, d, (void *)a, (void *)b, (void *)due);
        multiplies(n, m, d, (void *)a, (void *)b, (void *)c);
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

/* Sizes beside the ends of tiles and blocks, against flash_forward. */
static void tiles_as_flash(void)
{
    const int size[] = {1, 7, 31, 32, 33, 127, 128, 129, 260};
    for (int k = 0; k < 81; k++) {
        const int n = size[k / 9], m = size[k % 9], d_k = 1 + k % 7,
                  d_v = 1 + k % 5;
        float *query = room_for("query", (size_t)(n * d_k));
        float *key = room_for("key", (size_t)(m * d_k));
        float *value = room_for("value", (size_t)(m * d_v));
        float *got = room_for("context", (size_t)(n * d_v));
        float *sum = room_for("log_sum", (size_t)n);
        float *due = room((size_t)(n * d_v)), *due_sum = room((size_t)n);
        tap_fill(n * d_k, query, -2, 2);
        tap_fill(m * d_k, key, -2, 2);
        tap_fill(m * d_v, value, -1, 1);
        next_case();
        give("n = %d, m = %d, d_k = %d, d_v = %d", n, m, d_k, d_v);
        attend_tiles(n, m, d_k, d_v, (void *)query, (void *)key,
                     (void *)value, (void *)got, sum);
        flash_forward(n, m, d_k, d_v, mask_none(), (void *)query,
                      (void *)key, (void *)value, (void *)due, due_sum);
        similar("context", (size_t)(n * d_v), got, due, 0, ATOL);
        similar("log_sum", (size_t)n, sum, due_sum, 0, 4e-6);
        close_rooms();
    }
}

/* Scores of -1,000 and less, of which no exponential is a float. */
static void tiles_far_below(void)
{
    enum { N = 3, M = 140 };
    const float query[N][1] = {{1}, {2}, {4}};
    float(*key)[1] = room_for("key", M), (*value)[1] = room_for("value", M);
    float context[N][1], sum[N], due[N][1], due_sum[N];
    tap_fill(M, key[0], -1003, -1000);
    tap_fill(M, value[0], -1, 1);
    attend_tiles(N, M, 1, 1, query, key, value, context, sum);
    flash_forward(N, M, 1, 1, mask_none(), query, key, value, due, due_sum);
    similar("context", N, (float *)context, (float *)due, 0, ATOL);
    similar("log_sum", N, sum, due_sum, 1e-6, 0);
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
    TAP(exp2_limits, "exp2_fast: whole numbers, low ones, and no numbers");
    TAP(ordered_test, "matmul_ordered: as matmul, digit for digit");
    TAP(matmul_test, "matmul_fast: as matmul");
    TAP(multiply_test, "matmul_strided: any tables, any start");
    TAP(multiply_threads,
        "matmul_strided: alike for any number of threads");
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
