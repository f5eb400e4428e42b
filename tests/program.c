/* How a program begins and ends. */
#include "tap.h"

#include <fcntl.h>

/* From here on, what is printed goes to a full disk. */
static void fill_disk(void)
{
    static char buffer[BUFSIZ];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static int prints(int argc, char *argv[])
{
    (void)argc;
    printf("%s", argv[0]);
    return 3;
}

static int prints_on_full_disk(int argc, char *argv[])
{
    fill_disk();
    return prints(argc, argv);
}

/* The disk has room again, and some of the output is lost. */
static int loses_some(int argc, char *argv[])
{
    fill_disk();
    prints(argc, argv);
    fflush(stdout);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    return 0;
}

/* What prints nothing needs nothing to print to. */
static int prints_nothing(int argc, char *argv[])
{
    (void)argv;
    close(STDOUT_FILENO);
    return argc;
}

/* A file cannot be longer than a byte. */
static int grows(int argc, char *argv[])
{
    FILE *file = tmpfile();
    (void)argc;
    (void)argv;
    setvbuf(file, NULL, _IONBF, 0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1});
    fputs("two", file);
    return errno == EFBIG;
}

static char *words[] = {"words", NULL};

static void test_status(void)
{
    expect_equal("the status", run_program(prints, 1, words), 3);
    expect_equal("argc", run_program(prints_nothing, 7, words), 7);
}

static void test_limit(void)
{
    expect_equal("an error, no signal", run_program(grows, 1, words), 1);
}

static void test_silent(void)
{
    close(STDOUT_FILENO);
    output_check();
    expect_true("it goes on", true);
}

int main(void)
{
    TAP("run_program: the program's own status", test_status());
    TAP("run_program: a file beyond ulimit -f", test_limit());
    TAP("output_check: nothing printed, nothing lost", test_silent());
    REFUSES("program.c: output_check: standard output cannot be written: "
            "No space left on device",
            run_program(prints_on_full_disk, 1, words));
    REFUSES("program.c: output_check: standard output cannot be written: "
            "some of it is lost",
            run_program(loses_some, 1, words));
    return tap_done();
}
