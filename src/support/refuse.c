#define _POSIX_C_SOURCE 200809L /* SIGXFSZ */
#include <ctype.h>
#include <stdarg.h>

#include "support/refuse.h"
#include "support/utf8.h"
#include "support.h"

#ifndef __wasi__ /* a page, which has no signals */
#include <signal.h>
#endif

/* The C library may hold back what a program prints until the program ends.
 * That a disk is full may be known only then. */
static void check_printed(void)
{
    errno = 0;
    if (ferror(stdout) | fflush(stdout))
        REFUSE("standard output cannot be written: %s",
               errno ? strerror(errno) : "some of it is lost");
}

/* Is called before main. A file that grows beyond what `ulimit -f` allows
 * is refused like a full disk; the signal would end the program without a
 * word, and is ignored by what this program starts as well. */
static __attribute__((constructor)) void watch_output(void)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
    atexit(check_printed);
}

/* How many bytes that begin there are shown as they are: those of one
 * character, or 0 where a control character begins, or no UTF-8, from which
 * a terminal may take orders. */
static int shown(const char *c)
{
    const int length = utf8_length(c);
    const int is_control =
        iscntrl((unsigned char)*c) ||
        (length == 2 && *c == '\xc2' && (unsigned char)c[1] < 0xa0);
    return is_control ? 0 : length;
}

void refuse(const char *file, const char *function, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    char line[1000], said[4 * sizeof line] = "";
    va_list values;
    va_start(values, format);
    if (vsnprintf(line, sizeof line, format, values) >= (int)sizeof line)
        strcpy(line + sizeof line - 4, "...");
    va_end(values);
    /* What was printed before belongs before the message, even where both
     * go to one file. */
    fflush(stdout);
    /* Whatever is in the values, the message is one line, and said at once:
     * another thread may refuse as well. */
    char *to = said;
    for (const char *c = line; *c;) {
        const int n = shown(c);
        to += n ? sprintf(to, "%.*s", n, c)
                : sprintf(to, "\\x%02x", (unsigned char)*c);
        c += n ? n : 1;
    }
    fprintf(stderr, "%s: %s: %s\n", slash ? slash + 1 : file, function,
            said);
    /* The program ends here, with memory that its callers have not freed:
     * exit would have a sanitizer look for it, and whether a caller's
     * pointer is still found is up to the compiler's use of registers. */
    _Exit(2);
}
