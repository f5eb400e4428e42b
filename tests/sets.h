/* Tests that run once for each of several golden sets.
 *
 * A set is the golden tensors SET-WHAT of the chapter; a test program
 * defines CHAPTER before it includes this. SETS("dot", test, "equal",
 * "opposite") makes two test points, "dot: equal" and "dot: opposite"; in
 * each, test asks for the tensors of its set with part("a"), part("b"). */
#ifndef SETS_H
#define SETS_H

#include "tap.h"

#include <fnmatch.h>

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

/* As SETS, for each set with a tensor of such a name: "mask_*-scores" makes
 * test points for "mask_1x1", "mask_6x6", ... */
static inline void sets_each(const char *function, void (*test)(void),
                             const char *names)
{
    int count = 0;
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count; i++) {
        const char *name = tap_golden.tensor[i].name;
        char set[150];
        if (fnmatch(names, name, 0))
            continue;
        const int end = (int)(strrchr(name, '-') - name);
        snprintf(set, sizeof set, "%.*s", end, name);
        sets_run(function, test, (const char *const[]){set, NULL});
        count++;
    }
    if (!count)
        REFUSE("no tensor of the chapter is named as %s: one is needed",
               names);
}

#define EACH(function, test, names) sets_each(function, test, names)

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

static inline Random seeded(int64_t seed)
{
    Random r;
    random_seed(&r, (uint64_t)seed);
    return r;
}

/* A tensor of the set that is given to a function: a test that fails tells
 * it, once. */
static inline const Tensor *told(const char *what)
{
    const Tensor *tensor = part(what);
    char start[100];
    snprintf(start, sizeof start, "\n%s (", what);
    if (!strstr(tap_told->text[GIVEN], start))
        tap_show(GIVEN, what, tensor, tensor->type, tensor->data);
    return tensor;
}

/* What a function of the set is given, in whatever shape it wants, be it the
 * answer of another function; integers and float64 numbers that it is given;
 * a size of its arrays; room for what the function hands out; and how near
 * that comes. */
static inline void *input(const char *what)
{
    const Tensor *tensor = told(what);
    return tensor->type == 'd' ? rounded(tensor) : floats(tensor);
}
static inline const int64_t *integers(const char *what)
{
    return tensor_integers(told(what));
}
static inline const double *doubles(const char *what)
{
    return tensor_doubles(told(what));
}
static inline int dim(const char *what, int k)
{
    return part(what)->shape[k];
}
static inline void *result(const char *what)
{
    return room_for(what, part(what)->count);
}
static inline void agrees(const char *what, const void *got, double rtol,
                          double atol)
{
    tap_close(what, part(what), got, rtol, atol);
}

#endif
