/* What `make bench` has measured. */
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

int main(void)
{
    TAP(finds_test, "measured: every row");
    TAP_OF("measured: with 0, the most threads",
           tap_true("all", measured("GB/s", "read", "memory", 0) >
                               measured("GB/s", "read", "memory", 1)));
    REFUSES("measured.c: measured: 'ms' of 'peak' by 'nobody' on 1 "
            "threads: what `make bench` has measured is needed",
            measured("ms", "peak", "nobody", 1));
    return tap_done();
}
