/* Gradients, to which functions add. Define CHAPTER before including
 * this. */
#pragma once

#include "golden.h"

/* An array of numbers `start`, to which a function adds the set's tensor:
 * compared when the test ends, as due() does it. */
#define added(set, what, start, ...)                                       \
    tap_added(__COUNTER__, set, what, start, __VA_ARGS__)

static inline void *tap_added(int place, const char *set, const char *what,
                              float start, double rtol, double atol)
{
    const Tensor *added = golden(set, what);
    Tensor *sum = &tap_array[tap_reserve(added->count * 8)].tensor;
    double *due = sum->data;
    for (size_t i = 0; i < added->count; i++)
        due[i] = tap_entry(added, i) + (double)start;
    *sum = *added;
    sum->type = 'd';
    sum->data = due;
    return tap_due(place, sum, gradient_for(set, what, start),
                   start != 0 ? 0 : rtol, atol);
}
