/* What `make bench` has measured, and that its numbers fit each other. */
#include "tap.h"

#include "measured.h"

enum { ROWS = sizeof rows / sizeof *rows };

/* A row that stands there twice would be found once. */
static void finds_test(void)
{
    for (int i = 0; i < ROWS; i++) {
        const Measured *row = &rows[i];
        const Measured *it =
            measured(row->what, row->library, row->threads);
        tap_true(row->what, it->threads == row->threads &&
                                !memcmp(&it->ms, &row->ms, sizeof it->ms) &&
                                !strcmp(it->library, row->library));
    }
}

static void most_threads_test(void)
{
    const Measured *all = measured("read", "memory", 0);
    tap_true("all", all->threads > 1);
    tap_true("one", measured("read", "memory", 1)->threads == 1);
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
        if (operations(rows[i].what) > 0)
            tap_near(rows[i].what, rows[i].gflops * rows[i].ms * 1e6,
                     operations(rows[i].what), 1e-3, 0);
}

/* The machine's limits stand first, those of its widest vectors foremost. */
static void fractions_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].fraction == rows[i].fraction) {
            const int n = rows[i].threads;
            const double part =
                isnan(rows[i].gflops)
                    ? rows[i].gbs / measured("read", "memory", n)->gbs
                    : rows[i].gflops /
                          measured("peak", rows[0].library, n)->gflops;
            tap_near(rows[i].what, rows[i].fraction, part, 1e-3, 0);
        }
}

static void errors_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].library, "attention-in-c") &&
            strncmp(rows[i].what, "product", 7) && !isnan(rows[i].error))
            tap_true(rows[i].what, rows[i].error < 1e-5f);
}

int main(void)
{
    TAP(finds_test, "measured: every row");
    TAP(most_threads_test, "measured: with 0, the most threads");
    TAP(rates_test, "measured: operations, time and rate belong together");
    TAP(fractions_test, "measured: fractions are those of the peak");
    TAP(errors_test, "measured: errors are those of rounding");
    REFUSES("measured.c: measured: 'peak' by 'nobody' on 1 threads: what "
            "`make bench` has measured is needed",
            measured("peak", "nobody", 1));
    REFUSES(NULL, measured("pea", rows[0].library, 1));
    REFUSES(NULL, measured("peak", rows[0].library, 77777));
    return tap_done();
}
