/* What this machine can do at most, which fast code is held against: floats
 * multiplied and added a second, and bytes read from memory a second. It is
 * compiled once for each instruction set: as a program, which make roofline
 * runs, and as part of what tools/measure/bench loads. */
#define _DEFAULT_SOURCE /* clock_gettime, sysconf */
#include <unistd.h>

#include "attention.h"
#include "kernel/lanes.h"

/* So many sums that no product waits for the one before it, and so few that
 * all of them, and two factors, stay in registers. */
enum { SUMS = REGISTERS == 32 ? 16 : 12, RUNS = 60 };

static volatile float unused; /* makes a result one that is needed */

static float total(Vector sum[SUMS])
{
    for (int i = 1; i < SUMS; i++)
        sum[0] += sum[i];
    return sum[0][0];
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
    float sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += multiply_and_add(steps, 0.999f, 1e-3f);
    unused = sum;
    return 2. * (double)steps * SUMS * LANES * threads;
}

/* Reads x, which begins at a multiple of 64 bytes, each thread a part of its
 * own; returns how many bytes. What does not fill all sums is left out. */
double read_at_most(int threads, size_t count, const float x[count])
{
    const size_t part = count / (size_t)threads / 16 * 16;
    float sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += add_up(part, x + (size_t)i * part);
    unused = sum;
    return (double)(sizeof *x * part) * threads;
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GFLOP/s, and GB/s from more memory than the caches hold: the most of
 * several runs, since whatever else the machine does makes a run slower, and
 * none faster. Those that compute take some 5 ms. */
double peak_speed(int threads)
{
    long steps = 20000;
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double from = seconds();
        const double count = compute_at_most(threads, steps);
        const double took = seconds() - from;
        best = fmax(best, 1e-9 * count / took);
        steps = (long)fmax(1e4, (double)steps * 0.005 / took);
    }
    return best;
}

double peak_bandwidth(int threads)
{
    size_t count = (size_t)32 << 20;
    double best = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE); /* in bytes */
    if (cache > 0 && (size_t)cache > count)
        count = (size_t)cache;
#endif
    float *x = new_zeroed_pages(count * sizeof *x);
    memset(x, 1, count * sizeof *x);
    for (int run = 0; run < RUNS; run++) {
        const double from = seconds();
        const double bytes = read_at_most(threads, count, x);
        best = fmax(best, 1e-9 * bytes / (seconds() - from));
    }
    free(x);
    return best;
}

#ifdef ROOFLINE
/* Says nothing where the processor lacks the instruction set. */
int main(void)
{
    const char *name = LANES == 16  ? "AVX-512"
                       : LANES == 8 ? "AVX2"
                                    : "plain";
    const int threads = threads_for(1 << 20, 0);
    if (!kernel_named(name))
        return 0;
    printf("%-8s %8.1f GFLOP/s on one thread, %8.1f on %d; ", name,
           peak_speed(1), peak_speed(threads), threads);
    printf("memory %6.1f GB/s read by one thread, %6.1f by %d\n",
           peak_bandwidth(1), peak_bandwidth(threads), threads);
    return 0;
}
#endif
