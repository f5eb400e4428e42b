/* What this machine can do at most, which fast code is held against: floats
 * multiplied and added a second, and bytes read from memory a second. It is
 * compiled once for each instruction set: as a program, which make roofline
 * runs, and as part of what tools/measure/bench loads. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
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

static APART float multiply_and_add(size_t steps, float factor, float more)
{
    Vector sum[SUMS], x = {0}, y = {0};
    x += factor;
    y += more;
    for (int i = 0; i < SUMS; i++)
        sum[i] = (float)i - y; /* of equal ones one would be computed */
    for (size_t k = 0; k < steps; k++)
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

/* Multiplies and adds in registers, on so many threads, so many times; or
 * reads x, which begins at a multiple of 64 bytes, each thread a part of its
 * own. They return how many products and sums that is, or how many bytes;
 * what does not fill all sums is left out. */
typedef double Work(int threads, size_t count, const float *x);

double compute_at_most(int threads, size_t count, const float *x)
{
    float sum = 0;
    (void)x;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += multiply_and_add(count, 0.999f, 1e-3f);
    unused = sum;
    return 2. * (double)count * SUMS * LANES * threads;
}

double read_at_most(int threads, size_t count, const float *x)
{
    const size_t part = count / (size_t)threads / 16 * 16;
    float sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < threads; i++)
        sum += add_up(part, x + (size_t)i * part);
    unused = sum;
    return (double)(sizeof *x * part) * threads;
}

/* Billions of them a second: the most of several runs, since whatever else
 * the machine does makes a run slower, and none faster. */
double peak(Work *work, int threads, size_t count, const float *x)
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        const double done = work(threads, count, x);
        clock_gettime(CLOCK_MONOTONIC, &to);
        best = fmax(best, done / (1e9 * difftime(to.tv_sec, from.tv_sec) +
                                  (double)(to.tv_nsec - from.tv_nsec)));
    }
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
    const size_t steps = 1000000; /* some milliseconds */
    const size_t far = 1 << 26;   /* floats, more than caches hold */
    if (!kernel_named(name))
        return 0;
    float *x = new_zeroed_pages(far * sizeof *x);
    memset(x, 1, far * sizeof *x);
    printf("%-8s %8.1f GFLOP/s on one thread, %8.1f on %d; ", name,
           peak(compute_at_most, 1, steps, x),
           peak(compute_at_most, threads, steps, x), threads);
    printf("memory %6.1f GB/s read by one thread, %6.1f by %d\n",
           peak(read_at_most, 1, far, x),
           peak(read_at_most, threads, far, x), threads);
    free(x);
    return 0;
}
#endif
