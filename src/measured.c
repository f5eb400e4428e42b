#include "attention/measured.h"
#include "support.h"
#include "measured.h"

const char measured_on[] = MEASURED_ON, measured_at[] = MEASURED_AT,
           measured_with[] = MEASURED_WITH;

const Measured *measured(const char *what, const char *library, int threads)
{
    const Measured *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].what, what) &&
            !strcmp(rows[i].library, library) &&
            (threads ? rows[i].threads == threads
                     : !found || rows[i].threads > found->threads))
            found = &rows[i];
    if (!found)
        REFUSE("'%s' by '%s' on %d threads: what `make bench` has measured "
               "is needed",
               what, library, threads);
    return found;
}
