/* What `make bench` has measured, and that its numbers fit each other. */
#include "tap.h"

#include "attention/measured.h"
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
        if (operations(rows[i].what) > 0 &&
            strcmp(rows[i].library, "at most"))
            tap_near(rows[i].what, rows[i].gflops * rows[i].ms * 1e6,
                     operations(rows[i].what), 1e-3, 0);
}

/* Of the machine's limit as it was in the same turns; where none took part,
 * as it stands first of all, that of the widest vectors. */
static float limit(const Measured *row)
{
    const Measured *most = NULL;
    for (int i = 0; i < ROWS && strcmp(row->library, "at most"); i++)
        if (!strcmp(rows[i].library, "at most") &&
            !strcmp(rows[i].what, row->what) &&
            rows[i].threads == row->threads)
            most = &rows[i];
    if (!most)
        most = isnan(row->gflops)
                   ? measured("read", "memory", row->threads)
                   : measured("peak", rows[0].library, row->threads);
    return isnan(row->gflops) ? most->gbs : most->gflops;
}

static void fractions_test(void)
{
    for (int i = 0; i < ROWS; i++)
        if (!isnan(rows[i].fraction))
            tap_near(
                rows[i].what, rows[i].fraction,
                (isnan(rows[i].gflops) ? rows[i].gbs : rows[i].gflops) /
                    limit(&rows[i]),
                1e-3, 0);
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
    TAP(fractions_test, "measured: fractions are those of the limit");
    TAP(errors_test, "measured: errors are those of rounding");
    REFUSES("measured.c: measured: 'peak' by 'nobody' on 1 threads: what "
            "`make bench` has measured is needed",
            measured("peak", "nobody", 1));
    REFUSES(NULL, measured("pea", rows[0].library, 1));
    REFUSES(NULL, measured("peak", rows[0].library, 77777));
    return tap_done();
}
