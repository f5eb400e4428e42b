#include <stdarg.h>

#include "attention.h"

void refuse(const char *file, int line, const char *format, ...)
{
    /* What was printed before belongs before the message, even where both
     * go to one file. */
    fflush(stdout);
    fprintf(stderr, "%s:%d: ", file, line);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(2);
}
