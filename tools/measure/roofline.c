/* What this machine can do at most, which fast code is held against: floats
 * multiplied and added a second, for each instruction set, and bytes read
 * from memory a second. `make roofline`; --json for programs. */
#define _DEFAULT_SOURCE /* clock_gettime, sysconf */
#include <unistd.h>

#include "attention.h"

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void)
{
    return 1;
}
#endif

/* They answer how many products and sums, and how many bytes. */
typedef double Compute(int threads, long steps);
typedef double Read(int threads, size_t count, const float x[count]);

typedef struct {
    const char *name; /* as kernel_named knows it */
    Compute *compute;
    Read *read;
} Set;

Compute compute_at_most_plain, compute_at_most_avx2, compute_at_most_avx512;
Read read_at_most_plain, read_at_most_avx2, read_at_most_avx512;

static const Set sets[] = {
#ifdef __x86_64__
    {"AVX-512", compute_at_most_avx512, read_at_most_avx512},
    {"AVX2", compute_at_most_avx2, read_at_most_avx2},
#endif
    {"plain", compute_at_most_plain, read_at_most_plain},
};

enum { SETS = sizeof sets / sizeof *sets, RUNS = 60 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GFLOP/s, the most of several runs of some 5 ms: whatever else the machine
 * does makes a run slower, and none faster. */
static double peak(const Set *set, int threads)
{
    long steps = 20000;
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double from = seconds(), count = set->compute(threads, steps);
        const double took = seconds() - from;
        best = fmax(best, 1e-9 * count / took);
        steps = (long)fmax(1e4, (double)steps * 0.005 / took);
    }
    return best;
}

/* GB/s, the same. */
static double bandwidth(const Set *set, int threads, size_t count,
                        const float x[count])
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double from = seconds(), bytes = set->read(threads, count, x);
        best = fmax(best, 1e-9 * bytes / (seconds() - from));
    }
    return best;
}

/* So many floats that of the last cache they fill at least four. */
static size_t floats_beyond_caches(void)
{
    size_t bytes = (size_t)128 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0 && 4 * (size_t)cache > bytes)
        bytes = 4 * (size_t)cache;
#endif
    return bytes / sizeof(float);
}

/* The two forms: for people, and for programs. */
typedef struct {
    const char *begin, *set, *read, *between, *end;
} Form;

static const Form forms[] = {
    {"%s, %d processors\n",
     "%-8s %8.1f GFLOP/s on one thread, %8.1f on %d\n",
     "memory   %8.1f GB/s read by one thread, %7.1f by %d\n", "", ""},
    {"{\"machine\": \"%s\", \"processors\": %d, \"peak_gflops\": {",
     "\"%s\": {\"1\": %.2f, \"all\": %.2f, \"threads\": %d}",
     "}, \"bandwidth_gbs\": {\"1\": %.2f, \"all\": %.2f, \"threads\": %d}",
     ", ", "}\n"}};

static int roofline(int argc, char *argv[])
{
    const int is_json = argc == 2 && !strcmp(argv[1], "--json");
    if (argc > 1 && !is_json)
        REFUSE("'%s': nothing or --json is needed", argv[1]);
    const Form *form = &forms[is_json];
    const int threads = omp_get_max_threads();
    const Set *best = NULL;
    char name[256];
    processor_name(sizeof name, name);
    printf(form->begin, name, (int)sysconf(_SC_NPROCESSORS_ONLN));
    for (const Set *set = sets; set < sets + SETS; set++) {
        if (!kernel_named(set->name))
            continue;
        printf("%s", best ? form->between : "");
        printf(form->set, set->name, peak(set, 1), peak(set, threads),
               threads);
        best = best ? best : set;
    }
    const size_t count = floats_beyond_caches();
    float *x = new_zeroed_pages(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = 1;
    printf(form->read, bandwidth(best, 1, count, x),
           bandwidth(best, threads, count, x), threads);
    printf("%s", form->end);
    free(x);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(roofline, argc, argv);
}
