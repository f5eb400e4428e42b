/*
## Appendix B, a seed {#header-random}
*/

#pragma once

#include <stdint.h>

/* The Mersenne Twister as PyTorch keeps it for a CPU, with the second of a
 * pair of normal numbers, which waits for the next call. */
enum { RANDOM_STATE = 624 };
typedef struct {
    uint32_t state[RANDOM_STATE];
    int next; /* the number of the state that comes next */
    int has_spare;
    double spare;
} Random;

/* A generator at the beginning of the stream of a seed, of which the lower
 * 32 bits count.
 * PyTorch: torch.manual_seed(seed). Matsumoto and Nishimura 1998. */
Random random_seeded(uint64_t seed);

/* Makes the next 624 numbers of the state from the last, in place.
 * Matsumoto and Nishimura 1998, section 2. */
void random_twist(uint32_t state[RANDOM_STATE]);

/* The next 32 bits; or 64, of which the first draw is the upper half.
 * PyTorch: at::mt19937, and random64() of its CPU generator. */
uint32_t random_u32(Random *r);
uint64_t random_u64(Random *r);

/* A number from 0 to below 1: the lower 24 bits of a draw, divided by 2^24.
 * PyTorch: torch.rand(1), to the last bit. */
float random_float(Random *r);

/* A table of such numbers, row by row.
 * PyTorch: torch.rand(n, m), to the last bit. */
void random_fill(Random *r, int n, int m, float x[n][m]);

/* A table of numbers from low to below high. Refuses low above high, and
 * limits that are not finite or whose difference as a float is not.
 * PyTorch: x.uniform_(low, high), to the last bit. */
void uniform_fill(Random *r, int n, int m, float low, float high,
                  float x[n][m]);

/* A number from 0 to below 1 with 53 binary digits.
 * PyTorch: torch.rand(1, dtype=torch.float64), to the last bit. */
double random_double(Random *r);

/* A table of normal numbers with this mean and standard deviation, used as
 * doubles for fewer than 16 numbers, and as floats for more. Refuses a
 * deviation below 0, and what no float can hold.
 * PyTorch: x.normal_(mean, deviation), to the last bit, on x86 with AVX2.
 * Box and Muller 1958. */
void normal_fill(Random *r, int n, int m, double mean, double deviation,
                 float x[n][m]);

/* The table that an embedding begins with: mean 0, deviation 1.
 * PyTorch: nn.Embedding(rows, d).weight. */
void embedding_fill(Random *r, int rows, int d, float table[rows][d]);

/* Queries, keys and values of n tokens of d entries, by three matrices that
 * are drawn in this order from a seed, each on the stack.
 * PyTorch: x @ torch.rand(d, d_k), x @ torch.rand(d, d_k) and
 * x @ torch.rand(d, d_v). */
void qkv_from_seed(uint64_t seed, int n, int d, int d_k, int d_v,
                   const float x[n][d], float query[n][d_k],
                   float key[n][d_k], float value[n][d_v]);

/* Another seed with the same stream. */
uint64_t seed_collision(uint64_t seed);
