/* Streams of random numbers, for ten seeds and a dozen sizes: the golden
 * sets all-seeds and all-sizes. Define CHAPTER before including this. */
#pragma once

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
    tap_report(got == expect, what, "%" PRId64 " where %" PRId64 " is due",
               got, expect);
}

/* The checksum of many numbers, of which the first have been compared. */
static inline void same_sum(const char *what, size_t count,
                            const float x[count], int64_t expect)
{
    tap_report(checksum(count, x) == expect, what,
               "of its %zu numbers some are not those of PyTorch", count);
}

static inline const int64_t *all(const char *what, int *count)
{
    char name[60];
    snprintf(name, sizeof name, "%s/all-%s", CHAPTER, what);
    const Tensor *tensor = golden(name);
    *count = tensor->shape[0];
    return tensor_integers(tensor);
}

/* What fills a list with numbers of the stream. */
typedef void Fill(Random *r, int n, float x[n]);

/* The golden lists of that name, one for each seed. */
static inline void each_seed(const char *what, Fill *fill)
{
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    const int size = (int)part(what)->count / seeds;
    float *got = result(what);
    for (int i = 0; i < seeds; i++) {
        Random r = seeded(seed[i]);
        fill(&r, size, got + i * size);
    }
    agrees(what, got, 0, 0);
}

/* The checksums of longer ones, for each seed and each size. */
static inline void each_size(Fill *fill)
{
    int seeds, sizes;
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *size = all("sizes", &sizes);
    const int64_t *sum = tensor_integers(part("checksums"));
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < sizes; k++) {
            Random r = seeded(seed[i]);
            float *x = room((size_t)size[k]);
            fill(&r, (int)size[k], x);
            same_sum(tap_words("x, of seed %" PRId64, seed[i]),
                     (size_t)size[k], x, *sum++);
        }
}

/* What draws the masks of dropout. */
typedef void Drop(Random *r, double p, int n, int m, float mask[n][m]);

/* Rates at which one of the draws of the seed lies at the threshold, or off
 * it by the last bit, or so near that it takes doubles to tell these
 * apart. */
static inline void each_near_rate(Drop *drop)
{
    const Tensor *masks = part("masks");
    const int n = masks->shape[1];
    float *got = result("masks");
    for (int i = 0; i < masks->shape[0]; i++) {
        Random r = seeded(65);
        drop(&r, doubles("rates")[i], 1, n, (void *)(got + i * n));
    }
    agrees("masks", got, 0, 0);
}

/* Where nothing is drawn, as at these rates, no generator is needed. */
static inline void drop_without_generator(Drop *drop)
{
    const float expect[2][6] = {{1, 1, 1, 1, 1, 1}, {0}};
    float mask[2][3];
    for (int p = 0; p <= 1; p++) {
        next_case();
        give("r = NULL, p = %d", p);
        drop(NULL, p, 2, 3, mask);
        same_table("mask", 2, 3, mask, expect[p]);
    }
}
