/* Streams of random numbers, for ten seeds and a dozen sizes: the golden
 * sets all-seeds and all-sizes. Define CHAPTER before including this. */
#pragma once

#include "golden.h"

/* FNV-1a, as in golden/generate.py, as a signed number. */
static inline int64_t checksum(size_t count, const float x[count])
{
    const unsigned char *bytes = (const void *)x;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count * sizeof *x; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (int64_t)sum;
}

/* The checksum of many numbers, of which the first have been compared. */
static inline void expect_checksum(const char *what, size_t count,
                                   const float x[count], int64_t due)
{
    expect(checksum(count, x) == due, what,
           "of its %zu numbers some are not those of PyTorch", count);
}

/* A function that fills a list with numbers of a stream. */
typedef void Fill(Random *r, int n, float x[n]);

/* Fills the set's lists, one for each seed. */
static inline void expect_streams(const char *set, const char *what,
                                  Fill *fill)
{
    const Tensor *due = golden(set, what);
    const int seeds = dim("all", "seeds", 0), n = (int)due->count / seeds;
    const int64_t *seed = golden_integers("all", "seeds");
    float *got = guarded(what, due->count);
    for (int i = 0; i < seeds; i++) {
        Random r = random_seeded((uint64_t)seed[i]);
        fill(&r, n, got + i * n);
    }
    expect_close(what, got, due, EXACTLY);
}

/* Longer ones, whose checksums the set has, for each seed and size. */
static inline void expect_long_streams(const char *set, Fill *fill)
{
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *size = golden_integers("all", "sizes");
    const int64_t *sum = golden_integers(set, "checksums");
    for (int i = 0; i < dim("all", "seeds", 0); i++)
        for (int k = 0; k < dim("all", "sizes", 0); k++) {
            Random r = random_seeded((uint64_t)seed[i]);
            float *x = guarded("x", (size_t)size[k]);
            fill(&r, (int)size[k], x);
            expect_checksum(tap_words("x, of seed %" PRId64, seed[i]),
                            (size_t)size[k], x, *sum++);
        }
}

/* ---- The masks of dropout. */

typedef void Drop(Random *r, double p, int n, int m, float mask[n][m]);

/* Rates at which one of the draws of the seed lies at the threshold, or off
 * it by the last bit, or so near that it takes doubles to tell these
 * apart. */
static inline void expect_masks_at_threshold(const char *set, Drop *drop)
{
    const Tensor *masks = golden(set, "masks");
    const int n = masks->shape[1];
    float *got = guarded("masks", masks->count);
    for (int i = 0; i < masks->shape[0]; i++) {
        Random r = random_seeded(65);
        drop(&r, golden_doubles(set, "rates")[i], 1, n,
             (void *)(got + i * n));
    }
    expect_close("masks", got, masks, EXACTLY);
}
