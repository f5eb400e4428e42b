/* The arrays of a test, with guards around them, its golden data and its
 * random numbers. Part of tap.h. */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

#ifndef CHAPTER
#define CHAPTER "" /* no golden data */
#endif

enum {
    TAP_ARRAYS = 4096,
    TAP_GUARD = 4096 /* floats before and behind each array */
};

static Tensors tap_golden; /* the chapter's golden data */
static bool *tap_is_read;  /* shared: whether a test has read each */

/* The arrays that the running test has asked for. */
typedef struct {
    Tensor tensor;
    char name[60];
    void *block;          /* with the guards */
    size_t size;          /* of its entries, in bytes */
    const void *original; /* of which they are a copy, or NULL */
    const Tensor *due;    /* what the test's end finds in it, or NULL */
    double rtol, atol;
    int place; /* in the test's text, of what is due */
} TapArray;
static TapArray tap_array[TAP_ARRAYS];
static int tap_arrays;

/* Before and behind each array that a function under test sees lie entries
 * that are no number, and whose bits differ from place to place. A function
 * that reads on gets a wrong result, not a lucky one. One that writes on is
 * found out when the test ends, instead of destroying the heap, even where
 * it writes what it has read: arithmetic changes a signaling NaN's bits,
 * but leaves those of TAP_BEYOND. */

/* Writes the guard that begins here; or says whether it is still whole. */
static inline bool tap_guard(float *place, bool is_new)
{
    bool is_whole = true;
    for (float *x = place; x < place + TAP_GUARD; x++) {
        const uint32_t bits =
            0x7f800001 + (uint32_t)((uintptr_t)x / 4 % TAP_BEYOND);
        if (is_new)
            memcpy(x, &bits, sizeof bits);
        else
            is_whole &= !memcmp(x, &bits, sizeof bits);
    }
    return is_whole;
}

/* Room for so many bytes, as long as the test runs. */
static inline TapArray *tap_reserve(const char *name, size_t size)
{
    float *x = malloc(size + 2 * TAP_GUARD * sizeof *x);
    if (!x || tap_arrays == TAP_ARRAYS)
        REFUSE("a test asks for more than %d arrays, or for too large ones",
               TAP_ARRAYS);
    tap_guard(x, true);
    tap_guard(x + TAP_GUARD + size / sizeof *x, true);
    TapArray *array = &tap_array[tap_arrays++];
    *array = (TapArray){.block = x, .size = size};
    snprintf(array->name, sizeof array->name, "%s", name);
    array->tensor.name = array->name;
    array->tensor.data = x + TAP_GUARD;
    return array;
}

/* For who grades (tools/teach/grader/judge.c): the array in which this lies,
 * with its guards, and its bytes; NULL where it lies in none. */
extern char *tap_block_of(const void *at, size_t *size);
char *tap_block_of(const void *at, size_t *size)
{
    for (int k = tap_arrays - 1; k >= 0; k--) {
        char *block = tap_array[k].block;
        *size = tap_array[k].size + 2 * TAP_GUARD * sizeof(float);
        if ((uintptr_t)at - (uintptr_t)block < *size)
            return block;
    }
    return NULL;
}

/* Room for count floats or ints between guards, as long as the test runs:
 * filled with a number; unset; or a copy of others. */
static inline void *guarded_filled(const char *name, size_t count,
                                   float with)
{
    Tensor *t = &tap_reserve(name, count * sizeof(float))->tensor;
    float *x = t->data;
    t->count = count;
    for (size_t i = 0; i < count; i++)
        x[i] = with;
    return x;
}
#define guarded(name, count) guarded_filled(name, count, unset)
#define guarded_copy(name, count, of)                                      \
    memcpy(guarded(name, count), of, (count) * sizeof(float))

/* Zeros that a test's child shares with its parent. */
static inline void *tap_shared(size_t size)
{
    void *x = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED)
        REFUSE("no memory can be shared with the tests");
    return x;
}

/* Reads the chapter's golden data, once for all tests. */
static inline void tap_read_golden(void)
{
    const char *path = "golden/" CHAPTER ".safetensors";
    if (!*CHAPTER || tap_golden.path)
        return;
    if (access(path, R_OK))
        REFUSE("%s: is missing: copy it from the book, or let `make "
               "golden` make it with PyTorch",
               path);
    tap_golden = tensors_read(path);
    tap_is_read = tap_shared(tap_golden.count * sizeof *tap_is_read);
}

/* The golden tensor SET-WHAT of the chapter as it is in the file; of no set,
 * "", the tensor WHAT. */
static inline const Tensor *tap_find(const char *set, const char *what)
{
    char name[200];
    snprintf(name, sizeof name, *set ? "%s-%s" : "%s%s", set, what);
    return tensors_find(&tap_golden, name);
}

/* A copy of it between guards; its name is WHAT. */
static inline const Tensor *golden(const char *set, const char *what)
{
    const Tensor *original = tap_find(set, what);
    const size_t size = original->count * tap_entry_size(original->type);
    TapArray *copy = tap_reserve(what, size);
    void *data = copy->tensor.data;
    tap_is_read[original - tap_golden.tensor] = true;
    copy->original = original->data;
    copy->tensor = *original;
    copy->tensor.name = copy->name;
    copy->tensor.data = memcpy(data, original->data, size);
    return &copy->tensor;
}

/* Random numbers for properties: the same in every run. */
static unsigned short tap_state[3] = {1, 2, 3};
static inline int tap_int(int low, int high) /* both included */
{
    return low + (int)(erand48(tap_state) * (high - low + 1));
}
static inline void tap_fill(int n, float x[n], float low, float high)
{
    for (int i = 0; i < n; i++)
        x[i] = low + (high - low) * (float)erand48(tap_state);
}

/* Is what is due in the arrays? In the order of the test's text. */
static inline void tap_check_due(void)
{
    for (TapArray *next = NULL;; next->due = NULL, next = NULL) {
        for (TapArray *a = tap_array; a < tap_array + tap_arrays; a++)
            if (a->due && (!next || a->place < next->place))
                next = a;
        if (!next)
            return;
        expect_close(next->name, next->tensor.data, next->due, next->rtol,
                     next->atol);
    }
}

/* Is what lies around the arrays as it was, and are golden ones? Tells the
 * first that is not. */
static inline void tap_check_guards(void)
{
    for (TapArray *a = tap_array; a < tap_array + tap_arrays; a++) {
        const char *wrong = NULL;
        float *data = a->tensor.data;
        if (a->original && memcmp(data, a->original, a->size) != 0)
            wrong = "the function has changed its input";
        if (!tap_guard(data + a->size / sizeof *data, false))
            wrong = "something was written beyond its end";
        if (!tap_guard(data - TAP_GUARD, false))
            wrong = "something was written in front of it";
        if (!wrong)
            continue;
        tap_told->failed++;
        tap_wrong("%s (size %zu): %s", a->name, a->tensor.count, wrong);
        return;
    }
}

/* Ends a case of a test that makes many arrays: what is due is compared,
 * guards are looked at, and the arrays are freed. */
static inline void guarded_free(void)
{
    tap_check_due();
    tap_check_guards();
    while (tap_arrays)
        free(tap_array[--tap_arrays].block);
}
