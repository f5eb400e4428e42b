/* What roofline.c measures: compiled once for each instruction set, and its
 * public functions renamed. */
#include "kernel/lanes.h"
#include "support.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* So many sums that no product waits for the one before it, and so few that
 * all of them, and two factors, stay in registers. */
enum { SUMS = REGISTERS == 32 ? 16 : 12 };

static volatile float unused; /* makes a result one that is needed */

static float total(const Vector sum[SUMS])
{
    float all = 0;
    for (int i = 0; i < SUMS; i++)
        for (int j = 0; j < LANES; j++)
            all += sum[i][j];
    return all;
}

static APART float multiply_and_add(long steps, float factor, float more)
{
    Vector sum[SUMS], x = {0}, y = {0};
    x += factor;
    y += more;
    for (int i = 0; i < SUMS; i++)
        sum[i] = (float)i - y; /* of equal ones one would be computed */
    for (long k = 0; k < steps; k++)
        for (int i = 0; i < SUMS; i++)
            sum[i] = sum[i] * x + y;
    return total(sum);
}

static APART float add_up(size_t count, const float x[count])
{
    const Vector *at = (const void *)x;
    Vector sum[SUMS] = {{0}};
    const size_t steps = count / (SUMS * LANES);
    for (size_t k = 0; k < steps; k++, at += SUMS)
        for (int i = 0; i < SUMS; i++)
            sum[i] += at[i];
    return total(sum);
}

/* Multiplies and adds in registers, on so many threads; returns how many
 * products and sums. */
double compute_at_most(int threads, long steps)
{
    (void)threads; /* without OpenMP there is one */
    float sum = 0;
    int count = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum, count)
    {
        sum = multiply_and_add(steps, 0.999f, 1e-3f);
        count = 1;
    }
    unused = sum;
    return 2. * (double)steps * SUMS * LANES * count;
}

/* Reads x, which begins at a multiple of 64 bytes, each thread a part of its
 * own; returns how many bytes. What does not fill all sums is left out. */
double read_at_most(int threads, size_t count, const float x[count])
{
    const size_t part = count / (size_t)threads / 16 * 16;
    float sum = 0;
    size_t read = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum, read)
    {
        size_t from = 0;
#ifdef _OPENMP
        from = (size_t)omp_get_thread_num() * part;
#endif
        sum = add_up(part, x + from);
        read = part;
    }
    unused = sum;
    return (double)(sizeof *x * read);
}
