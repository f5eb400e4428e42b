/* Where gradients begin, and what was added to them. */
#pragma once

#include "tap.h"

/* So many numbers, all of them this one, or 0. */
static inline float *begun(const char *name, size_t count, float with)
{
    float *x = room_for(name, count);
    for (size_t i = 0; i < count; i++)
        x[i] = with;
    return x;
}
static inline float *zeros(const char *name, size_t count)
{
    return begun(name, count, 0);
}

/* Leaves what was added to what they began with. */
static inline float *less(size_t count, float x[count], float with)
{
    for (size_t i = 0; i < count; i++)
        x[i] -= with;
    return x;
}
