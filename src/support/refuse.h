/*
## Refusing: `refuse.c` {#header-refuse}
*/

#pragma once

/* Ends the program with exit status 2 and one line on standard error:
 * file.c: function: what is wrong, with the values, and what would be
 * right. Takes a printf format and its values, writes newlines and their
 * like, and bytes that are not UTF-8, as \x0a, and cuts what is longer
 * than 999 bytes; flushes standard output first. */
#define REFUSE(...) refuse(__FILE__, __func__, __VA_ARGS__)

/* Stands for the body of an exercise in the student edition; refuses. */
#define TODO(exercise)                                                     \
    REFUSE("exercise %s is still empty: write its body", exercise)

/* What REFUSE calls. */
_Noreturn void refuse(const char *file, const char *function,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
