#include <ctype.h>
#include <stdarg.h>

#include "support/refuse.h"
#include "support/utf8.h"
#include "support.h"

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

void refuse_sizes(const char *file, const char *function, const char *what,
                  size_t count, const int size[count][2])
{
    char sizes[2][200] = {"", ""};
    size_t same = 0;
    while (same < count && size[same][0] == size[same][1])
        same++;
    if (same == count)
        return;
    for (size_t i = 0; i < 2 * count; i++)
        sprintf(strchr(sizes[i % 2], '\0'), i > 1 ? ", %d" : "%d",
                size[i / 2][i % 2]);
    refuse(file, function, "%s = %s: %s %s needed", what, sizes[0],
           sizes[1], count > 1 ? "are" : "is");
}
