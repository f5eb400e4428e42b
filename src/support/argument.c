#include "support/argument.h"
#include "support.h"

void no_arguments(int argc, char *argv[])
{
    if (argc > 1)
        REFUSE("'%s' is given: this program takes no arguments", argv[1]);
}

uint64_t parse_integer(const char *what, const char *text, uint64_t least,
                       uint64_t most)
{
    char *end;
    errno = 0;
    const uint64_t x = strtoull(text, &end, 10);
    /* strtoull would take a sign and blanks, and turn -1 into a large
     * one. */
    const int is_digit = *text >= '0' && *text <= '9';
    if (!is_digit || *end || errno || x < least || x > most)
        REFUSE("%s is '%s': a whole number from %" PRIu64 " to %" PRIu64
               " is needed",
               what, text, least, most);
    return x;
}

float parse_float(const char *what, const char *text)
{
    char *end;
    errno = 0;
    const float x = strtof(text, &end);
    /* strtof would take blanks in front. */
    if (end == text || *end || strchr(" \t\n\v\f\r", *text) ||
        (errno == ERANGE && isinf(x)))
        REFUSE("%s is '%s': a number such as 1.5 or -inf is needed", what,
               text);
    return x;
}
