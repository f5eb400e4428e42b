/* The arrays of a test, with guards around them, and its golden data. Part
 * of tap.h. */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "tell.h"

#ifndef CHAPTER
#define CHAPTER "" /* no golden data */
#endif

enum { TAP_ROOMS = 4096 };
enum { TAP_GUARD = 4096 }; /* floats before and behind each array */

static Tensors tap_golden; /* the chapter's golden data */
static bool *tap_is_read;  /* shared: whether a test has read each */

/* The arrays that the running test has asked for. */
static struct {
    Tensor tensor;
    void *block;          /* with the guards */
    size_t size;          /* of its entries, in bytes */
    const void *original; /* of which they are a copy, or NULL */
} tap_room[TAP_ROOMS];
static int tap_rooms;

/* Before and behind each array that a function under test sees lie entries
 * that are no number, and whose bits differ from place to place. A function
 * that reads on gets a wrong result, not a lucky one. One that writes on is
 * found out when the test ends, instead of destroying the heap, even where
 * it writes what it has read: arithmetic changes a signaling NaN's bits,
 * but leaves those of TAP_BEYOND. */

/* Writes the guard that begins here; or says whether it is still whole. */
static inline bool guard(float *place, bool is_new)
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

/* Room for so many bytes, as long as the test runs; returns its number. */
static inline int tap_reserve(size_t size)
{
    float *x = malloc(size + 2 * TAP_GUARD * sizeof *x);
    if (!x || tap_rooms == TAP_ROOMS)
        REFUSE("a test asks for more than %d arrays, or for too large ones",
               TAP_ROOMS);
    guard(x, true);
    tap_room[tap_rooms].block = x;
    x += TAP_GUARD;
    guard(x + size / sizeof *x, true);
    tap_room[tap_rooms].tensor.data = x;
    tap_room[tap_rooms].size = size;
    return tap_rooms++;
}

/* For who grades (tools/teach/grader/judge.c): the room in which this lies, with
 * its guards, and its bytes; NULL where it lies in none. */
extern char *tap_block_of(const void *at, size_t *size);
char *tap_block_of(const void *at, size_t *size)
{
    for (int k = tap_rooms - 1; k >= 0; k--) {
        char *block = tap_room[k].block;
        *size = tap_room[k].size + 2 * TAP_GUARD * sizeof(float);
        if ((uintptr_t)at - (uintptr_t)block < *size)
            return block;
    }
    return NULL;
}

/* Room for count entries of a result. */
static inline void *room_for(const char *name, size_t count)
{
    Tensor *new = &tap_room[tap_reserve(count * sizeof(float))].tensor;
    float *x = new->data;
    new->name = name;
    new->count = count;
    for (size_t i = 0; i < count; i++)
        x[i] = unset;
    return x;
}
#define room(count) room_for("an array", count)

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
        REFUSE(
            "%s: is missing: copy it from the book, or let `make golden` "
            "make it with PyTorch",
            path);
    tap_golden = tensors_read(path);
    tap_is_read = tap_shared(tap_golden.count * sizeof *tap_is_read);
}

/* A copy of a golden tensor, by the names of the chapter and its own, such
 * as "02_softmax/hello-query". */
static inline const Tensor *golden(const char *name)
{
    const size_t chapter = strlen(CHAPTER "/");
    if (strncmp(name, CHAPTER "/", chapter) != 0)
        REFUSE("golden data %s: only %s is read here", name, CHAPTER);
    const Tensor *original = tensors_find(&tap_golden, name + chapter);
    tap_is_read[original - tap_golden.tensor] = true;
    const size_t size = original->count * (original->type == 'f' ? 4 : 8);
    const int k = tap_reserve(size);
    Tensor *copy = &tap_room[k].tensor;
    void *data = copy->data;
    tap_room[k].original = original->data;
    *copy = *original;
    copy->data = memcpy(data, original->data, size);
    return copy;
}

/* Random numbers for properties: the same on every machine and every
 * run. */
static uint64_t tap_state = 88172645463325252u;
static inline uint64_t tap_bits(void)
{
    tap_state ^= tap_state << 13;
    tap_state ^= tap_state >> 7;
    return tap_state ^= tap_state << 17;
}
static inline int tap_int(int low, int high) /* both included */
{
    return low + (int)(tap_bits() % (uint64_t)(high - low + 1));
}
static inline void tap_fill(int n, float x[n], float low, float high)
{
    for (int i = 0; i < n; i++)
        x[i] = low + (high - low) * (float)(tap_bits() >> 40) * 0x1p-24f;
}

/* When the test ends: is what lies around its arrays as it was, and so are
 * golden ones? Tells the first that is not. */
static inline void tap_check_rooms(void)
{
    for (int k = 0; k < tap_rooms; k++) {
        const Tensor *t = &tap_room[k].tensor;
        const void *original = tap_room[k].original;
        const char *name = original ? strrchr(t->name, '-') : NULL;
        const char *wrong = NULL;
        const size_t size = tap_room[k].size;
        float *data = t->data;
        if (original && memcmp(data, original, size) != 0)
            wrong = "the function has changed its input";
        if (!guard(data + size / sizeof *data, false))
            wrong = "something was written beyond its end";
        if (!guard(data - TAP_GUARD, false))
            wrong = "something was written in front of it";
        if (!wrong)
            continue;
        tap_told->wrong++;
        tap_tell(WRONG, "\n%s (size %zu): %s", name ? name + 1 : t->name,
                 t->count, wrong);
        return;
    }
}
