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

static void read_and_free(void)
{
    Npy array = npy_read("golden/03_qkv/paper-x.npy");
    tap_near("entries", (double)array.count, 12, 0, 0);
    npy_free(&array);
    tap_true("nothing is left", !array.data);
}

int main(void)
{
    tap_refuses(refuse_plainly, "refuse: message and status", "refuse.c",
                "3 is wrong, four would be right");
    tap_refuses(exercise, "refuse: an empty exercise", "refuse.c",
                "exercise 9.9 is still empty: write its body");
    TAP(test_order, "refuse: after what was printed before");
    TAP(read_and_free, "npy_free: frees the entries");
    return tap_done();
}
