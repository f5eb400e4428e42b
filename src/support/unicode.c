#include "support/unicode.h"
#include "support/unicode_kinds.h"

/* The last run that begins no later than the character: halves what it may
 * be until one is left. The first run begins at 0. */
int unicode_kind(uint32_t character)
{
    int first = 0, beyond = sizeof unicode_run / sizeof *unicode_run;
    while (beyond - first > 1) {
        const int middle = (first + beyond) / 2;
        if (unicode_run[middle] >> 2 <= character)
            first = middle;
        else
            beyond = middle;
    }
    return unicode_run[first] & 3;
}
