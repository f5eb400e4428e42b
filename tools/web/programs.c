/* All programs of the book as one: which of them runs is the name that it
 * is called by, as 02_softmax, or a chapter's number. The book's pages run
 * it, as one module of WebAssembly. */

#include "attention.h"

#define TAKES_NOTHING(name, number, run) int run(void);
#define TAKES_WORDS(name, number, run) int run(int argc, char **argv);
#include "programs.h"
#undef TAKES_NOTHING
#undef TAKES_WORDS

static int is_called(const char *called, const char *name,
                     const char *number)
{
    return !strcmp(called, name) || !strcmp(called, number);
}

int main(int argc, char *argv[])
{
    const char *called = argc ? argv[0] : "";

#define TAKES_NOTHING(name, number, run)                                   \
    if (is_called(called, name, number))                                   \
        return run();
#define TAKES_WORDS(name, number, run)                                     \
    if (is_called(called, name, number))                                   \
        return run(argc, argv);
#include "programs.h"

    REFUSE("there is no program '%s': 02_softmax is one", called);
}
