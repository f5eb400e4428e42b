/* Refusing: one line, status 2, after what was printed before. */
#include "tap.h"

#include <fcntl.h>

static void about(const char *text)
{
    REFUSE("'%s' is wrong", text);
}

/* Both go to one file here, as in a terminal or a log. */
static void prints_first(void)
{
    static char buffer[BUFSIZ];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    printf("before-");
    REFUSE("no luck");
}

/* What was printed is lost, since the disk is full, and then the program
 * refuses. */
static void loses_and_refuses(void)
{
    static char buffer[BUFSIZ];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    printf("before");
    REFUSE("no luck");
}

int main(void)
{
    static char endless[990], cut[1100] = "refuse.c: about: '";
    memset(endless, 'x', sizeof endless - 1);
    memset(cut + strlen(cut), 'x', sizeof endless - 1);
    strcat(cut, "' is w..."); /* a line of 1000 has no room for its end */

    REFUSES("file.c: function: 3 is wrong, four would be right",
            refuse("folder/file.c", "function",
                   "%d is wrong, %s would be right", 3, "four"));
    REFUSES("refuse.c: about: 'two\\x0alines, ä\\x09\\x7f' is wrong",
            about("two\nlines, ä\t\x7f"));
    REFUSES("refuse.c: about: '\\x85\\xff\u00a0\\xc2\\x9b😀\\xed\\xa0\\x80' "
            "is wrong",
            about("\x85\xff\u00a0\xc2\x9b😀\xed\xa0\x80"));
    REFUSES(cut, about(endless));
    REFUSES("before-refuse.c: prints_first: no luck", prints_first());
    REFUSES("refuse.c: loses_and_refuses: no luck", loses_and_refuses());
    return tap_done();
}
