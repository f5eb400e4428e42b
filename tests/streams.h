/* Streams of random numbers, for ten seeds and a dozen sizes: the golden sets
 * all-seeds and all-sizes. Define CHAPTER before including this. */
#ifndef STREAMS_H
#define STREAMS_H

#include "sets.h"

/* FNV-1a, as in golden/generate.py, as a signed number. */
static inline int64_t checksum(size_t count, const float x[count])
{
    const unsigned char *bytes = (const void *)x;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count * sizeof *x; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (int64_t)sum;
}

static inline void same_bits(const char *what, int64_t got, int64_t expect)
{
    tap_report(got == expect, what,
               "  got: %" PRId64 "\n  expect: %" PRId64 "\n", got, expect);
}

static inline const int64_t *all(const char *what, int *count)
{
    char name[60];
    snprintf(name, sizeof name, "%s/all-%s", CHAPTER, what);
    const Tensor *tensor = golden(name);
    *count = tensor->shape[0];
    return tensor_integers(tensor);
}

#endif
