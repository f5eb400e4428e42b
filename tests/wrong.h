/* Calls that are refused because one number in them is wrong. */
#pragma once

#include "tap.h"

/* What is wrong, in words; the line of the refusal, or its end, or NULL;
 * and which number has which value instead. */
typedef struct {
    const char *words, *line;
    int *size, value;
} Wrong;

/* A test point for each: `call` makes all that the function needs, changes
 * the number, and calls it. */
static inline void refuses_each(const char *function,
                                void (*call)(int *size, int value),
                                size_t count, const Wrong wrong[count])
{
    for (size_t i = 0; i < count; i++)
        TAP_REFUSES(function, wrong[i].words, wrong[i].line,
                    call(wrong[i].size, wrong[i].value));
}
#define REFUSES_EACH(function, call, wrong)                                \
    refuses_each(function, call, sizeof wrong / sizeof *wrong, wrong)
