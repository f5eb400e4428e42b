/* Tests that run once for each of several golden sets.
 *
 * A set is the golden tensors SET-WHAT of the chapter; a test program
 * defines CHAPTER before it includes this. SETS("dot", test, "equal",
 * "opposite") makes two test points, "dot: equal" and "dot: opposite"; in
 * each, test asks for the tensors of its set with part("a"), part("b"). */
#pragma once

#include "tap.h"
#include "attention/04_random.h"

#include <fnmatch.h>

static const char *sets_now; /* the set of the running test */

static inline const Tensor *part(const char *what)
{
    char name[200];
    snprintf(name, sizeof name, "%s/%.150s-%s", CHAPTER, sets_now, what);
    return golden(name);
}

static inline void sets_run(const char *function, void (*test)(void),
                            const char *const sets[])
{
    for (; *sets; sets++) {
        char name[200];
        snprintf(name, sizeof name, "%.40s: %.150s", function, *sets);
        sets_now = *sets;
        TAP(test, name);
    }
}

#define SETS(function, test, ...)                                          \
    sets_run(function, test, (const char *const[]){__VA_ARGS__, NULL})

/* A set by its name, and how many numbers its tensors have together. */
typedef struct {
    char name[150];
    size_t size;
} SetOf;

static inline SetOf sets_of(const char *tensor)
{
    SetOf set = {.size = 0};
    const int end = (int)(strrchr(tensor, '-') - tensor);
    snprintf(set.name, sizeof set.name, "%.*s", end, tensor);
    for (size_t i = 0; i < tap_golden.count; i++)
        if (strrchr(tap_golden.tensor[i].name, '-') ==
                tap_golden.tensor[i].name + end &&
            !strncmp(tap_golden.tensor[i].name, tensor, (size_t)end))
            set.size += tap_golden.tensor[i].count;
    return set;
}

/* As SETS, for each set with a tensor of such a name: "mask_*-scores" makes
 * test points for "mask_1x1", "mask_6x6", ..., the small ones first, since
 * of a small one that fails all is shown. */
static inline void sets_each(const char *function, void (*test)(void),
                             const char *names)
{
    enum { MOST = 100 };
    static SetOf set[MOST];
    int count = 0;
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count && count < MOST; i++) {
        if (fnmatch(names, tap_golden.tensor[i].name, 0))
            continue;
        const SetOf next = sets_of(tap_golden.tensor[i].name);
        int k = count++;
        for (; k > 0 && set[k - 1].size > next.size; k--)
            set[k] = set[k - 1];
        set[k] = next;
    }
    if (!count || count == MOST)
        REFUSE("%d tensors of the chapter are named as %s: from 1 to %d "
               "are needed",
               count, names, MOST - 1);
    for (int k = 0; k < count; k++)
        sets_run(function, test, (const char *const[]){set[k].name, NULL});
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
    return random_seeded((uint64_t)seed);
}

/* A tensor of the set that is given to a function, by the name that the
 * function has for it: a test that fails tells it, once, in the order in
 * which the test's text asks for such things. */
static inline const Tensor *tell_given(int place, const char *name,
                                       const char *what)
{
    const Tensor *tensor = part(what);
    Tensor named = *tensor;
    named.name = name;
    tap_give(place, NULL, &named);
    return tensor;
}
#define told_as(name, what) tell_given(__COUNTER__, name, what)
#define told(what) told_as(what, what)

/* A number of the set that is given: "p = 0.5". */
static inline double tell_number(int place, const char *name,
                                 const char *what)
{
    const Tensor *t = part(what);
    const double x = tap_entry(t->type, t->data, 0);
    tap_give(place, tap_words("%s = %.9g", name, x), NULL);
    return x;
}
#define number(name, what) tell_number(__COUNTER__, name, what)

/* The generator with the set's seed. */
static inline Random random_of_set(void)
{
    const int64_t seed = *tensor_integers(part("seed"));
    give("r: random_seeded(%" PRId64 ")", seed);
    return seeded(seed);
}

/* What a function of the set is given, in whatever shape it wants, be it
 * the answer of another function; a size of its arrays; room for what the
 * function hands out; and how near that comes. */
static inline void *entries(const Tensor *tensor)
{
    return tensor->type == 'd' ? rounded(tensor) : floats(tensor);
}
#define input_as(name, what) entries(told_as(name, what))
#define input(what) input_as(what, what)
static inline const int64_t *integers(const char *what)
{
    return tensor_integers(part(what));
}
/* Whole numbers of the set, as ints. */
static inline int *ints_of(const char *what)
{
    const Tensor *tensor = part(what);
    int *x = room_for(what, tensor->count);
    for (size_t i = 0; i < tensor->count; i++)
        x[i] = (int)tensor_integers(tensor)[i];
    return x;
}
static inline const double *doubles(const char *what)
{
    return tensor_doubles(part(what));
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

/* So many entries against others; and equal to the last bit. */
static inline void similar(const char *what, size_t count,
                           const float got[count],
                           const float expect[count], double rtol,
                           double atol)
{
    const Tensor right = {.type = 'f',
                          .rank = 1,
                          .shape = {(int)count},
                          .count = count,
                          .data = (void *)expect};
    tap_compare(what, &right, 'f', got, rtol, atol);
}
static inline void same_table(const char *what, int n, int m,
                              const void *got, const void *expect)
{
    const Tensor right = {.type = 'f',
                          .rank = 2,
                          .shape = {n, m},
                          .count = (size_t)n * (size_t)m,
                          .data = (void *)expect};
    tap_compare(what, &right, 'f', got, 0, 0);
}
#define same(what, count, got, expect)                                     \
    similar(what, count, got, expect, 0, 0)
