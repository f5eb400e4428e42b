#include <stdarg.h>

#include "attention.h"

void refuse(const char *file, const char *function, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    /* What was printed before belongs before the message, even where both
     * go to one file. */
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", slash ? slash + 1 : file, function);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(2);
}
