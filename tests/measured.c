/* What `make bench` has measured, and that its numbers fit each other. */
#include "tap.h"

#include "attention/measured.h"
#include "measured.h"

enum { ROWS = sizeof rows / sizeof *rows };
enum { MS, GFLOPS, GBS, MB, FRACTION, ERROR };

/* A row that stands there twice would be found once. */
static void finds_test(void)
{
    static const char *const name[] = {"ms", "GFLOP/s",  "GB/s",
                                       "MB", "fraction", "error"};
    for (int i = 0; i < ROWS; i++)
        for (int q = MS; q <= ERROR; q++) {
            const float x = measured(name[q], rows[i].what, rows[i].library,
                                     rows[i].threads);
            tap_true(rows[i].what, !memcmp(&x, &rows[i].x[q], sizeof x));
        }
}

static void most_threads_test(void)
{
    tap_true("all", measured("GB/s", "read", "memory", 0) >
                        measured("GB/s", "read", "memory", 1));
}

/* What a case computes, by its name; 0 for those of another form. */
static double operations(const char *what)
{
    int texts, heads, n, d, length = 0;
    const char *shape = what + strcspn(what, "0123456789");
    if (sscanf(shape, "%dx%dx%dx%d%n", &texts, &heads, &n, &d, &length) !=
        4)
        return sscanf(what, "product %dx%dx%d", &n, &heads, &d) == 3
                   ? 2.0 * n * heads * d
                   : 0;
    return (strstr(what, "causal") ? 2.0 : 4.0) * texts * heads * n * n * d;
}

static void rates_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (operations(rows[i].what) > 0 &&
            strcmp(rows[i].library, "at most"))
            tap_near(rows[i].what, rows[i].x[GFLOPS] * rows[i].x[MS] * 1e6,
                     operations(rows[i].what), 1e-3, 0);
}

/* Of the machine's limit as it was in the same turns; where none took part,
 * as it stands first of all, that of the widest vectors. */
static float limit(int row)
{
    const int threads = rows[row].threads;
    const int q = isnan(rows[row].x[GFLOPS]) ? GBS : GFLOPS;
    for (int i = ROWS; i-- > 0 && strcmp(rows[row].library, "at most");)
        if (!strcmp(rows[i].library, "at most") &&
            !strcmp(rows[i].what, rows[row].what) &&
            rows[i].threads == threads)
            return rows[i].x[q];
    return q == GBS ? measured("GB/s", "read", "memory", threads)
                    : measured("GFLOP/s", "peak", rows[0].library, threads);
}

static void fractions_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (!isnan(rows[i].x[FRACTION]))
            tap_near(rows[i].what, rows[i].x[FRACTION],
                     (isnan(rows[i].x[GFLOPS]) ? rows[i].x[GBS]
                                               : rows[i].x[GFLOPS]) /
                         limit(i),
                     1e-3, 0);
}

static void errors_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].library, "attention-in-c") &&
            strncmp(rows[i].what, "product", 7) && !isnan(rows[i].x[ERROR]))
            tap_true(rows[i].what, rows[i].x[ERROR] < 1e-5f);
}

int main(void)
{
    TAP(finds_test, "measured: every row");
    TAP(most_threads_test, "measured: with 0, the most threads");
    TAP(rates_test, "measured: operations, time and rate belong together");
    TAP(fractions_test, "measured: fractions are those of the limit");
    TAP(errors_test, "measured: errors are those of rounding");
    REFUSES("measured.c: measured: 'ms' of 'peak' by 'nobody' on 1 "
            "threads: what `make bench` has measured is needed",
            measured("ms", "peak", "nobody", 1));
    REFUSES(NULL, measured("ms", "pea", rows[0].library, 1));
    REFUSES(NULL, measured("ms", "peak", rows[0].library, 77777));
    REFUSES(NULL, measured("s", "peak", rows[0].library, 1));
    return tap_done();
}
