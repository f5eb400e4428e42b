#include <ctype.h>
#include <stdarg.h>

#include "attention.h"

void refuse(const char *file, const char *function, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    char line[1000];
    va_list values;
    va_start(values, format);
    if (vsnprintf(line, sizeof line, format, values) >= (int)sizeof line)
        strcpy(line + sizeof line - 4, "...");
    va_end(values);
    /* What was printed before belongs before the message, even where both
     * go to one file. */
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", slash ? slash + 1 : file, function);
    /* Whatever is in the values, the message is one line. */
    for (const char *c = line; *c; c++)
        fprintf(stderr, iscntrl((unsigned char)*c) ? "\\x%02x" : "%c", *c);
    fputc('\n', stderr);
    exit(2);
}
