/* Refusing: one line, status 2, after what was printed before. */
#include "tap.h"

static void about(const char *text)
{
    REFUSE("'%s' is wrong", text);
}

static void exercise(void)
{
    TODO("9.9");
}

/* Both go to one file here, as in a terminal or a log. */
static void prints_first(void)
{
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
    printf("before-");
    REFUSE("no luck");
}

int main(void)
{
    static char endless[2000], cut[1100] = "refuse.c: about: '";
    memset(endless, 'x', sizeof endless - 1);
    memset(cut + strlen(cut), 'x', 995);
    strcat(cut, "...");

    REFUSES("file.c: function: 3 is wrong, four would be right",
            refuse("folder/file.c", "function",
                   "%d is wrong, %s would be right", 3, "four"));
    REFUSES("refuse.c: about: 'two\\x0alines, ä\\x09\\x7f' is wrong",
            about("two\nlines, ä\t\x7f"));
    REFUSES("refuse.c: exercise: exercise 9.9 is still empty: write its "
            "body",
            exercise());
    REFUSES(cut, about(endless));
    REFUSES("before-refuse.c: prints_first: no luck", prints_first());
    return tap_done();
}
