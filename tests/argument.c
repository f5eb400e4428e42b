/* What programs accept as their arguments. */
#include "tap.h"

static void test_whole(void)
{
    tap_true("0", whole_number("N", "0", 0, 5) == 0);
    tap_true("the most", whole_number("N", "5", 0, 5) == 5);
    tap_true("64 bits", whole_number("N", "18446744073709551615", 0,
                                     UINT64_MAX) == UINT64_MAX);
}

static void test_real(void)
{
    tap_near("decimals", real_number("X", "-1.25"), -1.25, 0, 0);
    tap_near("exponent", real_number("X", "1e3"), 1000, 0, 0);
    tap_near("infinity", real_number("X", "-inf"), -INFINITY, 0, 0);
}

static void test_table(void)
{
    float(*x)[3] = (void *)new_table(2, 3);
    x[1][2] = 7;
    tap_near("the last entry", x[1][2], 7, 0, 0);
    free(x);
}

static void too_small(void)
{
    whole_number("N", "0", 1, 9);
}
static void too_large(void)
{
    whole_number("N", "10", 1, 9);
}
static void too_long(void)
{
    whole_number("N", "18446744073709551616", 0, UINT64_MAX);
}
static void negative(void)
{
    whole_number("N", "-1", 0, UINT64_MAX);
}
static void decimal(void)
{
    whole_number("N", "1.5", 0, 9);
}
static void empty(void)
{
    whole_number("N", "", 0, 9);
}
static void word(void)
{
    real_number("X", "two");
}
static void beyond(void)
{
    real_number("X", "1e40");
}

static void more(void)
{
    real_number("X", "2x");
}
static void nothing(void)
{
    real_number("X", "");
}

static void no_rows(void)
{
    new_table(0, 3);
}
static void no_columns(void)
{
    new_table(2, -1);
}

#define WHOLE(value, least, most)                                          \
    "N is '" value "': a whole number from " least " to " most " is "      \
    "needed"
#define REAL(value)                                                        \
    "X is '" value "': a number such as 1.5 or -inf is needed"

int main(void)
{
    const char *file = "argument.c";
    TAP(test_whole, "whole_number: from the least to the most");
    TAP(test_real, "real_number: decimals, exponents, infinities");
    TAP(test_table, "new_table: room for every entry");
    tap_refuses(too_small, "whole_number: refuses less", file,
                WHOLE("0", "1", "9"));
    tap_refuses(too_large, "whole_number: refuses more", file,
                WHOLE("10", "1", "9"));
    tap_refuses(too_long, "whole_number: refuses 65 bits", file,
                WHOLE("18446744073709551616", "0", "18446744073709551615"));
    tap_refuses(negative, "whole_number: refuses a sign", file,
                WHOLE("-1", "0", "18446744073709551615"));
    tap_refuses(decimal, "whole_number: refuses decimals", file,
                WHOLE("1.5", "0", "9"));
    tap_refuses(empty, "whole_number: refuses nothing", file,
                WHOLE("", "0", "9"));
    tap_refuses(word, "real_number: refuses a word", file, REAL("two"));
    tap_refuses(more, "real_number: refuses more than a number", file,
                REAL("2x"));
    tap_refuses(beyond, "real_number: refuses what no float holds", file,
                REAL("1e40"));
    tap_refuses(nothing, "real_number: refuses nothing", file, REAL(""));
    tap_refuses(
        no_rows, "new_table: refuses no rows", file,
        "a table of 0 times 3 numbers: at least 1 of each is needed");
    tap_refuses(
        no_columns, "new_table: refuses less than nothing", file,
        "a table of 2 times -1 numbers: at least 1 of each is needed");
    return tap_done();
}
