#include "attention/measured.h"
#include "support.h"
#include "measured.h"

const char measured_on[] = MEASURED_ON;

float measured(const char *quantity, const char *what, const char *library,
               int threads)
{
    static const char *const name[] = {"ms", "GFLOP/s",  "GB/s",
                                       "MB", "fraction", "error"};
    const size_t none = sizeof rows / sizeof *rows;
    size_t found = none, q = 0;
    while (q < 6 && strcmp(name[q], quantity))
        q++;
    for (size_t i = 0; i < none; i++)
        if (!strcmp(rows[i].what, what) &&
            !strcmp(rows[i].library, library) &&
            (threads
                 ? rows[i].threads == threads
                 : found == none || rows[i].threads > rows[found].threads))
            found = i;
    if (found == none || q == 6)
        REFUSE("'%s' of '%s' by '%s' on %d threads: what `make bench` has "
               "measured is needed",
               quantity, what, library, threads);
    return rows[found].x[q];
}
