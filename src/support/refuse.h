/*
## Refusing: `refuse.c` {#header-refuse}
*/

#pragma once

#include <stddef.h>

/* Ends the program with exit status 2 and one line on standard error:
 * file.c: function: what is wrong, with the values, and what would be
 * right. Takes a printf format and its values, writes newlines and their
 * like, and bytes that are not UTF-8, as \x0a, and cuts what is longer
 * than 999 bytes; flushes standard output first. */
#define REFUSE(...) refuse(__FILE__, __func__, __VA_ARGS__)

/* Stands for the body of an exercise in the student edition; refuses. */
#define TODO(exercise)                                                     \
    REFUSE("exercise %s is still empty: write its body", exercise)

/* Refuses sizes that are not as they must be, each with the one that is
 * needed: of SIZES_CHECK("a trace of n, m", {t->n, n}, {t->m, m}) the line
 * is "a trace of n, m = 2, 3: 2, 4 are needed". */
#define SIZES_CHECK(what, ...)                                             \
    refuse_sizes(__FILE__, __func__, what,                                 \
                 sizeof((int[][2]){__VA_ARGS__}) / sizeof(int[2]),         \
                 (const int[][2]){__VA_ARGS__})

/* What these call. */
_Noreturn void refuse(const char *file, const char *function,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void refuse_sizes(const char *file, const char *function, const char *what,
                  size_t count, const int size[count][2]);
