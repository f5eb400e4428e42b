/* How a program begins and ends: its arguments, what it prints, one line and
 * status 2 where it refuses (refuse.c). */
#include "tap.h"

#include <fcntl.h>

/* ---- Arguments */

static void test_integer(void)
{
    errno = ERANGE; /* from something before */
    expect_true("0", parse_integer("N", "0", 0, 5) == 0);
    expect_true("no octal", parse_integer("N", "010", 0, 10) == 10);
    expect_true("the most", parse_integer("N", "5", 0, 5) == 5);
    expect_true("64 bits", parse_integer("N", "18446744073709551615", 0,
                                         UINT64_MAX) == UINT64_MAX);
}

static void test_float(void)
{
    errno = ERANGE;
    expect_equal("decimals", parse_float("X", "-1.25"), -1.25);
    expect_equal("exponent", parse_float("X", "1e3"), 1000);
    expect_equal("infinity", parse_float("X", "-inf"), -INFINITY);
}

static void refuse_arguments(void)
{
    static const char *const integer[] = {"18446744073709551616", "-1",
                                          " 1", "1.5", ""};
    static const char *const number[] = {"two", " 2", "\n2", "1e40", ""};
    REFUSES("'two' is given: this program takes no arguments",
            no_arguments(2, (char *[]){"program", "two"}));
    REFUSES("N is '0': a whole number from 1 to 9 is needed",
            parse_integer("N", "0", 1, 9));
    REFUSES_SUCH("more than the most", parse_integer("N", "10", 1, 9));
    REFUSES("X is '2\\x0a': a number such as 1.5 or -inf is needed",
            parse_float("X", "2\n"));
    for (int i = 0; i < 5; i++) {
        REFUSES_SUCH(tap_words("'%s'", integer[i]),
                     parse_integer("N", integer[i], 0, UINT64_MAX));
        REFUSES_SUCH(tap_words("case %d of no number", i),
                     parse_float("X", number[i]));
    }
}

/* ---- Refusing */

static void about(const char *text)
{
    REFUSE("'%s' is wrong", text);
}

/* From here on, what is printed goes to another file, a full disk, say. */
static void print_to(const char *path)
{
    static char buffer[BUFSIZ];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (path)
        dup2(open(path, O_WRONLY), STDOUT_FILENO);
}

/* Both go to one file here, as in a terminal or a log; or what was printed
 * is lost, as the disk is full. */
static void prints_and_refuses(const char *path)
{
    print_to(path);
    printf("before-");
    REFUSE("no luck");
}

static void refuse_in_words(void)
{
    static char endless[990], cut[1100] = "program.c: about: '";
    memset(endless, 'x', sizeof endless - 1);
    strcat(strcat(cut, endless), "' is w..."); /* of 1000 bytes */
    REFUSES("3 is wrong, four would be right",
            refuse("folder/file.c", "function",
                   "%d is wrong, %s would be right", 3, "four"));
    REFUSES("program.c: about: 'two\\x0alines, ä\\x09\\x7f' is wrong",
            about("two\nlines, ä\t\x7f"));
    REFUSES("program.c: about: "
            "'\\x85\\xff\u00a0\\xc2\\x9b😀\\xed\\xa0\\x80' is wrong",
            about("\x85\xff\u00a0\xc2\x9b😀\xed\xa0\x80"));
    REFUSES(cut, about(endless));
    REFUSES("before-program.c: prints_and_refuses: no luck",
            prints_and_refuses(NULL));
    REFUSES("program.c: prints_and_refuses: no luck",
            prints_and_refuses("/dev/full"));
}

/* ---- What is printed */

static int prints(int argc, char *argv[])
{
    (void)argc;
    printf("%s", argv[0]);
    return 3;
}

static int prints_on_full_disk(int argc, char *argv[])
{
    print_to("/dev/full");
    return prints(argc, argv);
}

/* The disk has room again, and some of the output is lost. */
static int loses_some(int argc, char *argv[])
{
    prints_on_full_disk(argc, argv);
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

static void test_program(void)
{
    expect_equal("the status", run_program(prints, 1, words), 3);
    expect_equal("argc", run_program(prints_nothing, 7, words), 7);
    expect_equal("beyond ulimit -f, an error and no signal",
                 run_program(grows, 1, words), 1);
}

int main(void)
{
    TAP("parse_integer: from the least to the most", test_integer());
    TAP("parse_float: decimals, exponents, infinities", test_float());
    TAP("no_arguments: none is given",
        no_arguments(1, (char *[]){"program"});
        expect_true("it goes on", true));
    refuse_arguments();
    refuse_in_words();
    TAP("run_program: status, arguments, a limit", test_program());
    REFUSES("program.c: output_check: standard output cannot be written: "
            "No space left on device",
            run_program(prints_on_full_disk, 1, words));
    REFUSES("program.c: output_check: standard output cannot be written: "
            "some of it is lost",
            run_program(loses_some, 1, words));
    return tap_done();
}
