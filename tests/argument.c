/* What programs accept as their arguments. */
#include "tap.h"

static void test_whole(void)
{
    errno = ERANGE; /* from something before */
    expect_true("0", parse_integer("N", "0", 0, 5) == 0);
    expect_true("no octal", parse_integer("N", "010", 0, 10) == 10);
    expect_true("the most", parse_integer("N", "5", 0, 5) == 5);
    expect_true("64 bits", parse_integer("N", "18446744073709551615", 0,
                                         UINT64_MAX) == UINT64_MAX);
}

static void test_real(void)
{
    errno = ERANGE;
    expect_equal("decimals", parse_float("X", "-1.25"), -1.25);
    expect_equal("exponent", parse_float("X", "1e3"), 1000);
    expect_equal("infinity", parse_float("X", "-inf"), -INFINITY);
}

static void test_none(void)
{
    no_arguments(1, (char *[]){"program"});
    expect_true("it goes on", true);
}

static const char *const no_integer[] = {"18446744073709551616", "-1", " 1",
                                         "1.5", ""};
static const char *const no_float[] = {"two", " 2", "\n2", "1e40", ""};

int main(void)
{
    TAP("parse_integer: from the least to the most", test_whole());
    TAP("parse_float: decimals, exponents, infinities", test_real());
    TAP("no_arguments: none is given", test_none());
    REFUSES("argument.c: no_arguments: 'two' is given: this program takes "
            "no arguments",
            no_arguments(2, (char *[]){"program", "two"}));
    REFUSES("argument.c: parse_integer: N is '0': a whole number from 1 to "
            "9 is needed",
            parse_integer("N", "0", 1, 9));
    for (size_t i = 0; i < sizeof no_integer / sizeof *no_integer; i++)
        REFUSES_SUCH(tap_words("'%s'", no_integer[i]),
                     parse_integer("N", no_integer[i], 0, UINT64_MAX));
    REFUSES_SUCH("more than the most", parse_integer("N", "10", 1, 9));
    REFUSES("argument.c: parse_float: X is '2\\x0a': a number such as 1.5 "
            "or -inf is needed",
            parse_float("X", "2\n"));
    for (size_t i = 0; i < sizeof no_float / sizeof *no_float; i++)
        REFUSES_SUCH(tap_words("case %zu of no number", i),
                     parse_float("X", no_float[i]));
    return tap_done();
}
