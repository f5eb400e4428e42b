/* What programs accept as their arguments. */
#include "tap.h"

static void test_whole(void)
{
    errno = ERANGE; /* from something before */
    tap_true("0", parse_integer("N", "0", 0, 5) == 0);
    tap_true("no octal", parse_integer("N", "010", 0, 10) == 10);
    tap_true("the most", parse_integer("N", "5", 0, 5) == 5);
    tap_true("64 bits", parse_integer("N", "18446744073709551615", 0,
                                      UINT64_MAX) == UINT64_MAX);
}

static void test_real(void)
{
    errno = ERANGE;
    tap_near("decimals", parse_float("X", "-1.25"), -1.25, 0, 0);
    tap_near("exponent", parse_float("X", "1e3"), 1000, 0, 0);
    tap_near("infinity", parse_float("X", "-inf"), -INFINITY, 0, 0);
}

int main(void)
{
    TAP(test_whole, "parse_integer: from the least to the most");
    TAP(test_real, "parse_float: decimals, exponents, infinities");
    REFUSES("argument.c: no_arguments: 'two' is given: this program takes "
            "no arguments",
            no_arguments(2, (char *[]){"program", "two"}));
    REFUSES("argument.c: parse_integer: N is '0': a whole number from 1 to "
            "9 is needed",
            parse_integer("N", "0", 1, 9));
    REFUSES(NULL, parse_integer("N", "10", 1, 9));
    REFUSES(NULL,
            parse_integer("N", "18446744073709551616", 0, UINT64_MAX));
    REFUSES(NULL, parse_integer("N", "-1", 0, UINT64_MAX));
    REFUSES(NULL, parse_integer("N", " 1", 0, 9));
    REFUSES(NULL, parse_integer("N", "1.5", 0, 9));
    REFUSES(NULL, parse_integer("N", "", 0, 9));
    REFUSES("argument.c: parse_float: X is '2\\x0a': a number such as 1.5 "
            "or -inf is needed",
            parse_float("X", "2\n"));
    REFUSES(NULL, parse_float("X", "two"));
    REFUSES(NULL, parse_float("X", " 2"));
    REFUSES(NULL, parse_float("X", "\n2"));
    REFUSES(NULL, parse_float("X", "1e40"));
    REFUSES(NULL, parse_float("X", ""));
    return tap_done();
}
