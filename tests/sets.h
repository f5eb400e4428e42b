/* Tests that run once for each of several golden sets.
 *
 * A set is the golden tensors SET-WHAT of the chapter; a test program
 * defines CHAPTER before it includes this. SETS("dot", test, "equal",
 * "opposite") makes two test points, "dot: equal" and "dot: opposite"; in
 * each, test asks for the tensors of its set with part("a"), part("b"). */
#ifndef SETS_H
#define SETS_H

#include "tap.h"

static const char *sets_now; /* the set of the running test */

static inline const Tensor *part(const char *what)
{
    char name[200];
    snprintf(name, sizeof name, "%s/%s-%s", CHAPTER, sets_now, what);
    return golden(name);
}

static inline void sets_run(const char *function, void (*test)(void),
                            const char *const sets[])
{
    for (; *sets; sets++) {
        char name[200];
        snprintf(name, sizeof name, "%s: %s", function, *sets);
        sets_now = *sets;
        TAP(test, name);
    }
}

#define SETS(function, test, ...)                                          \
    sets_run(function, test, (const char *const[]){__VA_ARGS__, NULL})

/* The entries of an input, of whatever shape the function wants. */
static inline void *floats(const Tensor *input)
{
    tensor_floats(input);
    return input->data;
}

/* The entries of a float64 answer as an input for another function. */
static inline void *rounded(const Tensor *answer)
{
    float *x = room(answer->count);
    for (size_t i = 0; i < answer->count; i++)
        x[i] = (float)tensor_doubles(answer)[i];
    return x;
}

#endif
