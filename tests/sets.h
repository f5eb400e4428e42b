/* Tests that run once for each of several golden sets.
 *
 * A set is the golden tensors SET-WHAT of the chapter; a test program
 * defines CHAPTER before it includes this. Where all that a test does is a
 * call, this is the test:
 *
 *     EACH_SET("matmul", "*-turned",
 *              matmul(dim("query", 0), dim("key", 0), dim("query", 1),
 *                     input("query"), input("turned"),
 *                     due("scores", SUMS)));
 *
 * makes a test point for each set that has a tensor "turned", such as
 * "matmul: 1x1"; in each, input("query") is the set's tensor "query", and
 * what the call writes for due("scores") is compared with its "scores".
 * EACH calls a function for each set, and SETS for those that it names. */
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

/* ---- Which sets. */

static inline const char *sets_title(const char *function)
{
    return tap_words("%.80s: %.110s", function, sets_now);
}

#define SETS(function, test, ...)                                          \
    for (const char *const *set =                                          \
             (const char *const[]){__VA_ARGS__, NULL};                     \
         (sets_now = *set) != NULL; set++)                                 \
    TAP(test, sets_title(function))

/* A set by its name, and how many numbers its tensors have together. */
typedef struct {
    char name[150];
    size_t size;
} SetOf;
static SetOf sets_found[100];
static int sets_count, sets_next;

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

/* Finds the sets with a tensor of such a name: of "mask_*-scores" those are
 * "mask_1x1", "mask_6x6", ..., the small ones first, since of a small one
 * that fails all is shown. */
static inline void sets_find(const char *names)
{
    enum { MOST = sizeof sets_found / sizeof *sets_found };
    tap_read_golden();
    sets_count = sets_next = 0;
    for (size_t i = 0; i < tap_golden.count && sets_count < MOST; i++) {
        if (fnmatch(names, tap_golden.tensor[i].name, 0))
            continue;
        const SetOf found = sets_of(tap_golden.tensor[i].name);
        int k = sets_count++;
        for (; k > 0 && sets_found[k - 1].size > found.size; k--)
            sets_found[k] = sets_found[k - 1];
        sets_found[k] = found;
    }
    if (!sets_count || sets_count == MOST)
        REFUSE("%d tensors of the chapter are named as %s: from 1 to %d "
               "are needed",
               sets_count, names, MOST - 1);
}

static inline bool sets_go_on(void)
{
    if (sets_next < sets_count)
        sets_now = sets_found[sets_next].name;
    return sets_next++ < sets_count;
}

#define EACH_SET(function, names, ...)                                     \
    for (sets_find(names); sets_go_on();)                                  \
    TAP_OF(sets_title(function), __VA_ARGS__, compare_due())
#define SETS_OF(function, call, set)  for (sets_now = set; sets_now; sets_now = NULL) TAP_OF(sets_title(function), call)
#define EACH(function, test, names) EACH_SET(function, names, test())

/* ---- What a function of the set is given. */

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
static inline Random *random_given(void)
{
    static Random r;
    r = random_of_set();
    return &r;
}

/* An input in whatever shape a function wants, be it the answer of another
 * function; a size of its arrays; room for what the function hands out; and
 * how near that comes. */
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
static inline int *tell_ints(int place, const char *name, const char *what)
{
    tell_given(place, name, what);
    return ints_of(what);
}
#define input_ints_as(name, what) tell_ints(__COUNTER__, name, what)
#define input_ints(what) input_ints_as(what, what)
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

/* ---- What is due of a call. */

static struct {
    int place; /* in the test's text, as of what is given */
    char name[60];
    const Tensor *tensor;
    const void *got;
    double rtol, atol;
} sets_due[12];
static int sets_dues;

/* Room for what a function hands out by this name; it is compared, when the
 * test ends, with this tensor of the set. */
static inline void *tell_due(int place, const char *name, const char *what,
                             double rtol, double atol, void *got)
{
    int k = sets_dues++;
    if (sets_dues > (int)(sizeof sets_due / sizeof *sets_due))
        REFUSE("a call of a test hands out more than %d arrays", k);
    for (; k > 0 && sets_due[k - 1].place > place; k--)
        sets_due[k] = sets_due[k - 1];
    sets_due[k].place = place;
    snprintf(sets_due[k].name, sizeof sets_due[k].name, "%s", name);
    sets_due[k].tensor = part(what);
    sets_due[k].got = got;
    sets_due[k].rtol = rtol;
    sets_due[k].atol = atol;
    return got;
}
#define due_as(name, what, ...)                                            \
    tell_due(__COUNTER__, name, what, __VA_ARGS__,                         \
             room_for(what, part(what)->count))
#define due(what, ...) due_as(what, what, __VA_ARGS__)

/* Of a function that changes what it is given, "scores" into "masked". */
static inline void *a_copy(const char *name, const Tensor *tensor)
{
    float *x = room_for(name, tensor->count);
    return memcpy(x, floats(tensor), tensor->count * sizeof *x);
}
#define changed_as(name, from, what, ...)                                  \
    tell_due(__COUNTER__, name, what, __VA_ARGS__,                         \
             a_copy(name, told_as(name, from)))
#define changed(from, what, ...) changed_as(from, from, what, __VA_ARGS__)

/* Of a number that is returned. */
static inline void returns(double got, const char *what, double rtol,
                           double atol)
{
    const float x = (float)got;
    agrees(what, &x, rtol, atol);
}

/* How near that is: sums of products; the shares of a softmax, off by as
 * much of themselves as the scores are off; and what is not rounded. */
#define SUMS 1e-5, 1e-6
#define SHARES 3e-6, 1e-7
#define EXACTLY 0, 0

static inline void compare_due(void)
{
    for (int k = 0; k < sets_dues; k++)
        tap_close(sets_due[k].name, sets_due[k].tensor, sets_due[k].got,
                  sets_due[k].rtol, sets_due[k].atol);
}

/* ---- Arrays against others. */

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
