/* Tests against golden data, golden/CHAPTER.safetensors; a program defines
 * CHAPTER before it includes this.
 *
 * A set is the chapter's tensors SET-WHAT, such as "1x1-query" and
 * "1x1-scores", and is named by SET. Most tests run once for each set:
 *
 *     static void dot_scores_test(const char *set)
 *     {
 *         const int n = dim(set, "query", 0), m = dim(set, "key", 0);
 *         float *scores = guarded("scores", n * m);
 *         dot_scores(n, m, dim(set, "key", 1), input(set, "query"),
 *                    input(set, "key"), scores);
 *         expect_close("scores", scores, golden(set, "scores"), SUMS);
 *     }
 *
 *     EACH_SET("dot_scores", "*-scores", dot_scores_test(set));
 *
 * makes a test point, "dot_scores: 1x1", for each set with a tensor
 * "scores". A test that is one call may stand there itself, since
 * due(set, "scores", SUMS) is an array that is compared with the set's
 * "scores" when the test ends:
 *
 *     EACH_SET("dot_scores", "*-scores",
 *              dot_scores(dim(set, "query", 0), dim(set, "key", 0),
 *                         dim(set, "key", 1), input(set, "query"),
 *                         input(set, "key"), due(set, "scores", SUMS)));
 *
 * input() is golden() for what a function is given: a test that fails tells
 * it. Both are copies between guards. */
#pragma once

#include "tap.h"
#include "attention/04_random.h"

#include <fnmatch.h>

/* How near floats come to PyTorch's float64: sums of products; the shares
 * of a softmax, off by as much of themselves as the scores are off; and
 * what is not rounded. */
#define SUMS 1e-5, 1e-6
#define SHARES 3e-6, 1e-7
#define EXACTLY 0, 0

/* ---- Which sets. */

typedef struct {
    char name[100];
    size_t size; /* numbers in all of its tensors */
} GoldenSet;

typedef struct {
    int count;
    GoldenSet set[100];
} GoldenSets;

static inline size_t golden_set_size(const char *set)
{
    const size_t length = strlen(set);
    size_t size = 0;
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (!strncmp(t->name, set, length) &&
            strrchr(t->name, '-') == t->name + length)
            size += t->count;
    }
    return size;
}

/* The sets with a tensor of such a name, of "mask_*-scores" those are
 * "mask_1x1", "mask_6x6", ...: the small ones first, since of a small one
 * that fails all is shown. */
static inline GoldenSets golden_sets(const char *tensors)
{
    enum { MOST = sizeof((GoldenSets *)0)->set / sizeof(GoldenSet) };
    GoldenSets all = {.count = 0};
    tap_read_golden();
    for (size_t i = 0; i < tap_golden.count && all.count < MOST; i++) {
        const char *name = tap_golden.tensor[i].name;
        GoldenSet found;
        if (fnmatch(tensors, name, 0))
            continue;
        snprintf(found.name, sizeof found.name, "%.*s",
                 (int)(strrchr(name, '-') - name), name);
        found.size = golden_set_size(found.name);
        int k = all.count++;
        for (; k > 0 && all.set[k - 1].size > found.size; k--)
            all.set[k] = all.set[k - 1];
        all.set[k] = found;
    }
    if (!all.count || all.count == MOST)
        REFUSE("%d tensors of the chapter are named as %s: from 1 to %d "
               "are needed",
               all.count, tensors, MOST - 1);
    return all;
}

/* A test point for each set with such a tensor. */
#define EACH_SET(function, tensors, ...)                                   \
    do {                                                                   \
        const GoldenSets sets_ = golden_sets(tensors);                     \
        for (int set_ = 0; set_ < sets_.count; set_++) {                   \
            const char *const set = sets_.set[set_].name;                  \
            TAP(tap_words("%.80s: %s", function, set), __VA_ARGS__);       \
        }                                                                  \
    } while (0)

/* ---- What is in a set. */

static inline int dim(const char *set, const char *what, int k)
{
    return tap_find(set, what)->shape[k];
}

/* The rows and columns of a table, as two arguments. */
#define SHAPE(set, what) dim(set, what, 0), dim(set, what, 1)

static inline size_t golden_count(const char *set, const char *what)
{
    return tap_find(set, what)->count;
}

/* A tensor as floats, which may be rounded from float64. */
static inline void *tensor_as_floats(const Tensor *t)
{
    if (t->type == 'f')
        return t->data;
    float *x = guarded(t->name, t->count);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (float)tensor_doubles(t)[i];
    return x;
}

static inline int *tensor_as_ints(const Tensor *t)
{
    int *x = guarded(t->name, t->count);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (int)tensor_integers(t)[i];
    return x;
}

/* A tensor's entries: as floats; as ints; as they are in the file. */
static inline void *golden_floats(const char *set, const char *what)
{
    return tensor_as_floats(golden(set, what));
}
static inline int *golden_ints(const char *set, const char *what)
{
    return tensor_as_ints(golden(set, what));
}
static inline const double *golden_doubles(const char *set,
                                           const char *what)
{
    return tensor_doubles(golden(set, what));
}
static inline const int64_t *golden_integers(const char *set,
                                             const char *what)
{
    return tensor_integers(golden(set, what));
}

/* The first entry of a tensor. */
static inline double golden_number(const char *set, const char *what)
{
    return tap_entry(golden(set, what), 0);
}

/* Entry b of a batch, whose first dimension is the batch. */
static inline Tensor tensor_entry(const Tensor *batch, int b)
{
    Tensor one = *batch;
    one.count /= (size_t)one.shape[0];
    one.data = (char *)one.data +
               (size_t)b * one.count * (one.type == 'f' ? 4 : 8);
    one.rank--;
    memmove(one.shape, one.shape + 1, 3 * sizeof *one.shape);
    return one;
}

/* Floats against entry b of a batch of the set. */
static inline void expect_entry(const char *name, const float *got,
                                const char *set, const char *what, int b,
                                double rtol, double atol)
{
    const Tensor one = tensor_entry(golden(set, what), b);
    expect_close(name, got, &one, rtol, atol);
}

/* ---- What a function is given of a set: told, where the test fails, by
 * the name that the function has for it. */

static inline const Tensor *tap_input(int place, const Tensor *t,
                                      const char *name)
{
    Tensor named = *t;
    named.name = name;
    tap_give(place, NULL, &named);
    return t;
}
#define input_tensor(set, what, name)                                      \
    tap_input(__COUNTER__, golden(set, what), name)
#define input_as(set, what, name)                                          \
    tensor_as_floats(input_tensor(set, what, name))
#define input(set, what) input_as(set, what, what)
#define input_ints(set, what, name)                                        \
    tensor_as_ints(input_tensor(set, what, name))

/* Entry b of a batch, as floats. */
static inline void *tap_input_entry(int place, const char *set,
                                    const char *what, const char *name,
                                    int b)
{
    Tensor one = tensor_entry(golden(set, what), b);
    one.name = name;
    tap_give(place, NULL, &one);
    return tensor_as_floats(&one);
}
#define input_entry_as(set, what, name, b)                                 \
    tap_input_entry(__COUNTER__, set, what, name, b)
#define input_entry(set, what, b) input_entry_as(set, what, what, b)

/* A number: "p = 0.5". */
static inline double tap_input_number(int place, const char *set,
                                      const char *what, const char *name)
{
    const double x = golden_number(set, what);
    tap_give(place, tap_words("%s = %.9g", name, x), NULL);
    return x;
}
#define input_number(set, what, name)                                      \
    tap_input_number(__COUNTER__, set, what, name)

/* A generator with the set's seed. */
static inline Random input_random(const char *set)
{
    const int64_t seed = golden_integers(set, "seed")[0];
    given("r: random_seeded(%" PRId64 ")", seed);
    return random_seeded((uint64_t)seed);
}

/* ---- What is due of a call. */

/* An array that must be as this tensor when the test ends. */
static inline void *tap_due(int place, const Tensor *due, void *array,
                            double rtol, double atol)
{
    int k = tap_arrays - 1;
    while (tap_array[k].tensor.data != array)
        k--;
    tap_array[k].due = due;
    tap_array[k].rtol = rtol;
    tap_array[k].atol = atol;
    tap_array[k].place = place;
    return array;
}

/* An array for what a function hands out by this name. */
#define due_as(set, what, name, ...)                                       \
    tap_due(__COUNTER__, golden(set, what),                                \
            guarded(name, golden_count(set, what)), __VA_ARGS__)
#define due(set, what, ...) due_as(set, what, what, __VA_ARGS__)

/* Of a function that changes what it is given, `from` into `what`. */
#define changed_as(set, from, what, name, ...)                             \
    tap_due(__COUNTER__, golden(set, what),                                \
            guarded_copy(name, golden_count(set, from),                    \
                         input_as(set, from, name)),                       \
            __VA_ARGS__)
#define changed(set, from, what, ...)                                      \
    changed_as(set, from, what, from, __VA_ARGS__)

/* ---- Gradients, to which a function adds. */

/* As many numbers as the set's tensor has, all of them `start`. */
static inline void *gradient_for(const char *set, const char *what,
                                 float start)
{
    if (start != 0)
        given("gradients hold %g everywhere", (double)start);
    return guarded_filled(what, golden_count(set, what), start);
}

static inline float *subtract(size_t count, float x[count], float start)
{
    for (size_t i = 0; i < count; i++)
        x[i] -= start;
    return x;
}

/* What was added to `start` is the set's tensor. */
static inline void expect_added(const char *what, float *got,
                                const char *set, float start, double rtol,
                                double atol)
{
    const Tensor *added = golden(set, what);
    expect_close(what, subtract(added->count, got, start), added, rtol,
                 atol);
}
