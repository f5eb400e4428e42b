/* What programs accept as their arguments. */
#include "tap.h"

static void test_whole(void)
{
    errno = ERANGE; /* from something before */
    tap_true("0", whole_number("N", "0", 0, 5) == 0);
    tap_true("no octal", whole_number("N", "010", 0, 10) == 10);
    tap_true("the most", whole_number("N", "5", 0, 5) == 5);
    tap_true("64 bits", whole_number("N", "18446744073709551615", 0,
                                     UINT64_MAX) == UINT64_MAX);
}

static void test_real(void)
{
    errno = ERANGE;
    tap_near("decimals", real_number("X", "-1.25"), -1.25, 0, 0);
    tap_near("exponent", real_number("X", "1e3"), 1000, 0, 0);
    tap_near("infinity", real_number("X", "-inf"), -INFINITY, 0, 0);
}

int main(void)
{
    TAP(test_whole, "whole_number: from the least to the most");
    TAP(test_real, "real_number: decimals, exponents, infinities");
    REFUSES("argument.c: no_arguments: 'two' is given: this program takes "
            "no arguments",
            no_arguments(2, (char *[]){"program", "two"}));
    REFUSES("argument.c: whole_number: N is '0': a whole number from 1 to "
            "9 is needed",
            whole_number("N", "0", 1, 9));
    REFUSES(NULL, whole_number("N", "10", 1, 9));
    REFUSES(NULL, whole_number("N", "18446744073709551616", 0, UINT64_MAX));
    REFUSES(NULL, whole_number("N", "-1", 0, UINT64_MAX));
    REFUSES(NULL, whole_number("N", " 1", 0, 9));
    REFUSES(NULL, whole_number("N", "1.5", 0, 9));
    REFUSES(NULL, whole_number("N", "", 0, 9));
    REFUSES("argument.c: real_number: X is '2\\x0a': a number such as 1.5 "
            "or -inf is needed",
            real_number("X", "2\n"));
    REFUSES(NULL, real_number("X", "two"));
    REFUSES(NULL, real_number("X", " 2"));
    REFUSES(NULL, real_number("X", "\n2"));
    REFUSES(NULL, real_number("X", "1e40"));
    REFUSES(NULL, real_number("X", ""));
    return tap_done();
}
