/* What the printing functions print: the page depends on every character. */
#include "tap.h"

/* Makes standard output a file of its own, for the rest of the test. */
static void catch_output(FILE *file)
{
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
}

static void prints(const char *expect, FILE *file)
{
    char got[1024];
    fflush(stdout);
    rewind(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    tap_report(!strcmp(got, expect), "what is printed",
               "  got: %s\n  expect: %s\n", got, expect);
    fclose(file);
}

static void test_vector(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    print_vector("mixed", 4, (float[4]){1.5f, -0.25f, 100, 0.00004f});
    print_vector("one", 1, (float[1]){0.22910725f});
    prints("mixed (4)\n[  1.5000,  -0.2500, 100.0000,   0.0000]\n"
           "one (1)\n[0.2291]\n",
           file);
}

static void test_vector_limits(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    print_vector("odd", 4, (float[4]){NAN, -NAN, INFINITY, -INFINITY});
    print_vector("large", 2, (float[2]){1e10f, -1});
    prints("odd (4)\n[ nan,  nan,  inf, -inf]\n"
           "large (2)\n[10000000000.0000,          -1.0000]\n",
           file);
}

static void test_matrix(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    print_matrix("table", 2, 3, (float[2][3]){{1, 2, 3}, {-4, 50, 6}});
    print_matrix("row", 1, 2, (float[1][2]){{1, 2}});
    prints("table (2, 3)\n[[ 1.0000,  2.0000,  3.0000],\n"
           " [-4.0000, 50.0000,  6.0000]]\n"
           "row (1, 2)\n[[1.0000, 2.0000]]\n",
           file);
}

static void test_value(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    print_value("it", -1.23456f);
    print_value("no number", -NAN);
    prints("it: -1.2346\nno number: nan\n", file);
}

static void test_integers(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    print_integers("ids", 3, (int[]){7, -10, 123});
    prints("ids (3)\n[  7, -10, 123]\n", file);
}

static void test_digits(void)
{
    FILE *file = tmpfile();
    catch_output(file);
    setenv("DIGITS", "9", 1);
    print_value("nine", 0.1f);
    setenv("DIGITS", "0", 1);
    print_value("none", 2.5f);
    setenv("DIGITS", "", 1);
    print_value("as always", 0.5f);
    prints("nine: 0.100000001\nnone: 2\nas always: 0.5000\n", file);
}

static void refused_word(void)
{
    setenv("DIGITS", "four", 1);
    print_value("it", 1);
}

static void refused_number(void)
{
    setenv("DIGITS", "18", 1);
    print_value("it", 1);
}

static void refused_sign(void)
{
    setenv("DIGITS", "-1", 1);
    print_value("it", 1);
}

int main(void)
{
    unsetenv("DIGITS");
    TAP(test_vector, "print_vector: aligned, four decimals, shape");
    TAP(test_vector_limits, "print_vector: nan, infinities, no e-notation");
    TAP(test_matrix, "print_matrix: aligned over all rows");
    TAP(test_value, "print_value: name and value");
    TAP(test_integers, "print_integers: aligned, without decimals");
    TAP(test_digits, "DIGITS: more decimals, none, empty");
    tap_refuses(refused_word, "DIGITS: refuses a word", "print.c",
                "DIGITS is 'four': a number from 0 to 17 is needed");
    tap_refuses(refused_number, "DIGITS: refuses 18", "print.c",
                "DIGITS is '18': a number from 0 to 17 is needed");
    tap_refuses(refused_sign, "DIGITS: refuses -1", "print.c",
                "DIGITS is '-1': a number from 0 to 17 is needed");
    return tap_done();
}
