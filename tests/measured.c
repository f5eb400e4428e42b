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

int main(void)
{
    TAP(finds_test, "measured: every row");
    TAP_OF("measured: with 0, the most threads",
           tap_true("all", measured("GB/s", "read", "memory", 0) >
                               measured("GB/s", "read", "memory", 1)));
    TAP(rates_test, "measured: operations, time and rate belong together");
    REFUSES("measured.c: measured: 'ms' of 'peak' by 'nobody' on 1 "
            "threads: what `make bench` has measured is needed",
            measured("ms", "peak", "nobody", 1));
    return tap_done();
}
