/* What the printing functions print: the page depends on every
 * character. */
#include "tap.h"

/* Makes standard output a file of its own, for the rest of the test. */
static FILE *file;
static void catch_output(void)
{
    file = tmpfile();
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
}

static void is_printed(const char *expect)
{
    char got[1024];
    fflush(stdout);
    rewind(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    expect(!strcmp(got, expect), "what is printed",
           "'%s' where '%s' is due", got, expect);
    fclose(file);
}

/* A test point: the calls print this. */
#define PRINTS(name, expect, ...)                                          \
    TAP(name, catch_output(), __VA_ARGS__, is_printed(expect))

static void tables(void)
{
    const char *const row[] = {"three", "one"};
    const char *const column[] = {"us", "it", "both"};
    PRINTS(
        "print_vector: aligned, nan, infinities",
        "odd (4)\n[ nan,  nan,  inf, -inf]\n"
        "large (2)\n[10000000000.0000,          -1.0000]\n",
        print_vector("odd", 4, (float[]){NAN, -NAN, INFINITY, -INFINITY}),
        print_vector("large", 2, (float[]){1e10f, -1}));
    PRINTS(
        "print_matrix: aligned over all rows",
        "few (2, 2)\n[[    nan,     nan],\n [    nan, 10.0000]]\n"
        "list (2, 1)\n[[10.0000],\n [ 1.0000]]\n",
        print_matrix("few", 2, 2, (float[2][2]){{NAN, -NAN}, {-NAN, 10}}),
        print_matrix("list", 2, 1, (float[2][1]){{10}, {1}}));
    PRINTS(
        "print_whole: without decimals",
        "some (2, 3)\n[[ 1, -2,  3],\n [30,  0,  4]]\n",
        print_whole("some", 2, 3, (float[2][3]){{1, -2, 3}, {30, 0, 4}}));
    PRINTS("print_integers: aligned, without decimals",
           "ids (3)\n[-100,    7,   12]\ntwo (2)\n[ 1, 10]\n",
           print_integers("ids", 3, (int[]){-100, 7, 12}),
           print_integers("two", 2, (int[]){1, 10}));
    PRINTS("print_measures: three digits, whatever DIGITS says",
           "b, in it\n  us     10.0\n  it       nan\n  both     inf\n"
           "c, in it\n  us    0.0145\n  it  114\nd, in it\n    1.00\n",
           setenv("DIGITS", "9", 1),
           print_measures("b", "it", 3, column,
                          (float[]){9.996f, -NAN, INFINITY}),
           print_measures("c", "it", 2, column, (float[]){0.0145f, 114}),
           print_measures("d", "it", 1, (const char *[]){""}, (float[]){1}),
           unsetenv("DIGITS"));
    PRINTS(
        "print_measure_table: a name for each row and column",
        "time, in ms\n            us      it       both\n"
        "  three   2.50  114     5190\n  one    10.0    21.9      0.0145\n",
        print_measure_table("time", "ms", 2, row, 3, column,
                            (float[2][3]){{2.5043f, 114.38f, 5187},
                                          {10.04f, 21.93f, 0.0145f}}));
    TAP("three_digits: rounded",
        expect_near("up", three_digits(0.014496f), 0.0145, 0, 1e-8),
        expect_equal("a large one", three_digits(5187), 5190));
    PRINTS("print_rounded: other decimals than four",
           "two (3)\n[ 1.55, -0.25, 10.00]\nas asked (1)\n[0.125]\n",
           print_rounded("two", 2, 3, (float[]){1.555f, -0.25f, 10}),
           setenv("DIGITS", "3", 1),
           print_rounded("as asked", 2, 1, (float[]){0.125f}));
    PRINTS("print_answer: yes or no",
           "one is one: yes\n7 is no answer but: yes\none is two: no\n",
           print_answer("one is one", 1),
           print_answer("7 is no answer but", 7),
           print_answer("one is two", 0));
    PRINTS("print_value: name and value, with DIGITS or without",
           "it: -1.2346\nno number: nan\nnine: 0.100000001\nnone: 2\n"
           "as always: 0.5000\n",
           print_value("it", -1.23456f), print_value("no number", -NAN),
           setenv("DIGITS", "9", 1), print_value("nine", 0.1f),
           setenv("DIGITS", "0", 1), print_value("none", 2.5f),
           setenv("DIGITS", "", 1), print_value("as always", 0.5f));
}

static void test_difference(void)
{
    const float a[4] = {1, -2, 3, NAN}, b[4] = {1.5f, 2, 2, 1};
    expect_equal("one entry", largest_difference(1, a, b), 0.5);
    expect_equal("three", largest_difference(3, a, b), 4);
    expect_equal("the other way", largest_difference(3, b, a), 4);
    expect_true("NaN", largest_difference(4, a, b) == INFINITY);
    expect_true("... in the second",
                largest_difference(4, b, a) == INFINITY);
    expect_equal("none", largest_difference(3, a, a), 0);
}

static int with_digits(const char *text)
{
    setenv("DIGITS", text, 1);
    return decimals(4);
}

int main(void)
{
    unsetenv("DIGITS");
    tables();
    TAP("largest_difference: without sign, and of NaN", test_difference());
    TAP("decimals: as usual, or as DIGITS says",
        expect_equal("usually", decimals(2), 2),
        expect_equal("nothing is asked for", with_digits(""), 4),
        expect_equal("nine are", with_digits("9"), 9));
    REFUSES(NULL, print_whole("some", 1, 1, (float[1][1]){{0.5f}}));
    REFUSES("argument.c: parse_integer: DIGITS is '+4': a whole number "
            "from 0 to 17 is needed",
            with_digits("+4"));
    REFUSES(NULL, with_digits("18"));
    return tap_done();
}
