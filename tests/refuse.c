/* Refusing: one line, status 2, after what was printed before. */
#include "tap.h"

static void refuse_plainly(void)
{
    REFUSE("%d is wrong, %s would be right", 3, "four");
}

static void exercise(void)
{
    TODO("9.9");
}

/* Runs a refusal that has printed something before, with standard output and
 * error in one file, as a terminal or a log has them. */
static void test_order(void)
{
    FILE *file = tmpfile();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(file), STDOUT_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        puts("printed before");
        REFUSE("no luck");
    }
    int status;
    char text[200];
    waitpid(child, &status, 0);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    tap_near("status", WEXITSTATUS(status), 2, 0, 0);
    tap_true("what was printed comes first",
             !strncmp(text, "printed before\nrefuse.c: test_order: no luck\n", 45));
}

int main(void)
{
    tap_refuses(refuse_plainly, "refuse: message and status", "refuse.c",
                "3 is wrong, four would be right");
    tap_refuses(exercise, "refuse: an empty exercise", "refuse.c",
                "exercise 9.9 is still empty: write its body");
    TAP(test_order, "refuse: after what was printed before");
    return tap_done();
}
