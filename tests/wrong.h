/* Calls that are refused because one number that they get is wrong. */
#pragma once

#include "tap.h"

/* One such number, as "p.n = 2", and the line of the refusal, or NULL. */
#define WRONG(of, to, line_of)                                             \
    {                                                                      \
        .words = #of " = " #to, .line = line_of, .number = &of,            \
        .value = to                                                        \
    }

/* A test point for each of an array of them: the number gets its value, and
 * then the calls must refuse. */
#define REFUSES_WRONG(function, wrong, ...)                                \
    for (size_t w_ = 0; w_ < sizeof wrong / sizeof *wrong; w_++)           \
    TAP_REFUSES(function, wrong[w_].words, wrong[w_].line,                 \
                *wrong[w_].number = wrong[w_].value;                       \
                __VA_ARGS__)
