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
 * "scores". due(set, "scores", SUMS) is an array that is compared with the
 * set's "scores" when the test ends, so that one call may be a whole test.
 *
 * input() is what a function is given, as floats: a test that fails tells
 * it. golden() is any tensor. Both are copies between guards. */
#pragma once

#include "tap.h"
#include "attention/B_random.h"

#include <fnmatch.h>

/* How near floats come to PyTorch's float64: sums of products; the shares
 * of a softmax, off by as much of themselves as the scores are off; and
 * what is not rounded. */
#define SUMS 1e-5, 1e-6
#define SHARES 3e-6, 1e-7
#define EXACTLY 0, 0

/* ---- Which sets. */

/* How many numbers all tensors of this one's set have. */
static inline size_t set_size(const Tensor *one)
{
    const size_t length = (size_t)(strrchr(one->name, '-') - one->name);
    size_t size = 0;
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (!strncmp(t->name, one->name, length) &&
            strrchr(t->name, '-') == t->name + length)
            size += t->count;
    }
    return size;
}

/* Of the tensors that are named so, as "mask_*-scores", the one after the
 * last, or the first: that of the smallest set, since of a small one that
 * fails all is shown. */
static inline const Tensor *next_named(const char *names,
                                       const Tensor *last)
{
    const Tensor *next = NULL;
    tap_read_golden();
    const size_t done = last ? set_size(last) : 0;
    for (size_t i = 0; i < tap_golden.count; i++) {
        const Tensor *t = &tap_golden.tensor[i];
        if (fnmatch(names, t->name, 0))
            continue;
        const size_t size = set_size(t);
        if ((!last || size > done || (size == done && t > last)) &&
            (!next || size < set_size(next)))
            next = t;
    }
    if (!next && !last)
        REFUSE("no tensor of the chapter is named as %s: one is needed",
               names);
    return next;
}

/* A test point for each set, SET-WHAT without -WHAT, with such a tensor. */
#define EACH_SET(function, names, ...)                                     \
    for (const Tensor *t_ = next_named(names, NULL); t_;                   \
         t_ = next_named(names, t_)) {                                     \
        char set[100];                                                     \
        snprintf(set, sizeof set, "%s", t_->name);                         \
        *strrchr(set, '-') = '\0';                                         \
        TAP(tap_words("%.80s: %s", function, set), __VA_ARGS__);           \
    }

/* ---- What is in a set. */

#define dim(set, what, k) tap_find(set, what)->shape[k]

/* The rows and columns of a table, as two arguments. */
#define SHAPE(set, what) dim(set, what, 0), dim(set, what, 1)
#define golden_count(set, what) tap_find(set, what)->count

/* The last array, which has got its numbers: as in one of golden ones, a
 * function that is tested must not change them. */
static inline void *tap_kept(void)
{
    TapArray *array = &tap_array[tap_arrays - 1];
    array->original =
        guarded_copy("a copy", array->tensor.count, array->tensor.data);
    return array->tensor.data;
}

/* A tensor as floats, which may be rounded from float64; or as ints. */
static inline void *tensor_as_floats(const Tensor *t)
{
    if (t->type == 'f')
        return t->data;
    float *x = guarded(t->name, t->count);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (float)tensor_doubles(t)[i];
    return tap_kept();
}
static inline int *tensor_as_ints(const Tensor *t)
{
    int *x = guarded(t->name, t->count);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (int)tensor_integers(t)[i];
    return tap_kept();
}

/* A tensor's entries: as floats; as ints; as they are in the file; the
 * first alone. */
#define golden_floats(set, what) tensor_as_floats(golden(set, what))
#define golden_ints(set, what) tensor_as_ints(golden(set, what))
#define golden_doubles(set, what) tensor_doubles(golden(set, what))
#define golden_integers(set, what) tensor_integers(golden(set, what))
#define golden_number(set, what) tap_entry(golden(set, what), 0)

/* Copies a set's parameters to the memory of a model of so many. */
static inline void golden_parameters(const char *set, size_t count,
                                     float x[count])
{
    if (count != golden_count(set, "parameters"))
        REFUSE("%s has not %zu parameters", set, count);
    memcpy(x, golden_floats(set, "parameters"), count * sizeof *x);
}

/* Entry b of a batch, whose first dimension is the batch. */
static inline Tensor tensor_entry(const Tensor *batch, int b)
{
    Tensor one = *batch;
    one.count /= (size_t)one.shape[0];
    one.data =
        (char *)one.data + (size_t)b * one.count * tap_entry_size(one.type);
    one.rank--;
    memmove(one.shape, one.shape + 1, 3 * sizeof *one.shape);
    return one;
}

/* Floats or ints against entry b of a batch of the set. */
static inline void expect_entry(const char *name, const void *got,
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
    tap_give_array(place, named);
    return t;
}
#define input_as(set, what, name)                                          \
    tensor_as_floats(tap_input(__COUNTER__, golden(set, what), name))
#define input(set, what) input_as(set, what, what)
#define input_ints(set, what, name)                                        \
    tensor_as_ints(tap_input(__COUNTER__, golden(set, what), name))
#define input_entry(set, what, b) /* of a batch */                         \
    tensor_as_floats(                                                      \
        tap_input(__COUNTER__,                                             \
                  (Tensor[]){tensor_entry(golden(set, what), b)}, what))

/* A number: "p = 0.5". */
static inline double tap_input_number(int place, const char *name, double x)
{
    tap_give(place, tap_words("%s = %.9g", name, x));
    return x;
}
#define input_number(set, what, name)                                      \
    tap_input_number(__COUNTER__, name, golden_number(set, what))

/* A generator with the set's seed. */
static inline Random input_random(const char *set)
{
    const int64_t seed = golden_integers(set, "seed")[0];
    given("r: random_seeded(%" PRId64 ")", seed);
    return random_seeded((uint64_t)seed);
}

/* A generator of any seed, for what is refused. */
#define some_draws() ((Random[]){random_seeded(1)})

/* The generator stands where PyTorch's does. */
static inline void expect_next_draw(const char *set, Random *r)
{
    const float next = random_float(r);
    expect_close("following", &next, golden(set, "following"), EXACTLY);
}

/* ---- What is due of a call. */

/* An array that must be as this tensor when the test ends. */
static inline void *tap_due(int place, const Tensor *due, void *array,
                            double rtol, double atol)
{
    TapArray *a = &tap_array[tap_arrays - 1];
    while (a->tensor.data != array)
        a--;
    a->due = due;
    a->rtol = rtol;
    a->atol = atol;
    a->place = place;
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

/* An array of numbers `start`, to which a function adds the set's tensor:
 * compared when the test ends, as due() does it. */
#define added(set, what, start, ...)                                       \
    tap_added(__COUNTER__, set, what, start, __VA_ARGS__)
static inline void *tap_added(int place, const char *set, const char *what,
                              float start, double rtol, double atol)
{
    const Tensor *added = golden(set, what);
    Tensor *sum = &tap_reserve(what, added->count * 8)->tensor;
    double *due = sum->data;
    for (size_t i = 0; i < added->count; i++)
        due[i] = tap_entry(added, i) + (double)start;
    *sum = *added;
    sum->type = 'd';
    sum->data = due;
    if (start != 0)
        given("gradients hold %g everywhere", (double)start);
    return tap_due(place, sum, guarded_filled(what, added->count, start),
                   start != 0 ? 0 : rtol, atol);
}

/* A test of each set, and one of a set whose gradients begin with 1. */
#define ADDS(function, names, one, test)                                   \
    EACH_SET(function, names, test(set, 0));                               \
    TAP(function ": adds to what is there", test(one, 1))

/* What was added to an array of numbers `start`. */
static inline float *subtract(size_t count, float x[count], float start)
{
    for (size_t i = 0; i < count; i++)
        x[i] -= start;
    return x;
}
