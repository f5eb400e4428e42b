/* Where gradients begin, and what was added to them. Define CHAPTER before
 * including this. */
#pragma once

#include "sets.h"

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

/* What a set's gradients begin with: what is there is added to. */
static float already;

/* A gradient of the size of the set's answer. */
static inline void *begins(const char *what)
{
    if (already != 0)
        give("gradients hold %g everywhere", (double)already);
    return begun(what, part(what)->count, already);
}

/* What was added to it. */
static inline void adds_up(const char *what, float *got, double rtol,
                           double atol)
{
    agrees(what, less(part(what)->count, got, already), rtol, atol);
}

/* The test of a set once more, with something there. */
static inline void adds(const char *function, void (*test)(void),
                        const char *set)
{
    already = 1;
    sets_now = set;
    TAP(test, tap_words("%s: adds to what is there", function));
    already = 0;
}
