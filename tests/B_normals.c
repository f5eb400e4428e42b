/* Appendix B against PyTorch: golden/B_normals, equal to the last bit. */
#define CHAPTER "B_normals"
#include "streams.h"

static void normal_test(void)
{
    const int sizes[4] = {15, 16, 17, 33};
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    for (int k = 0; k < 4; k++) {
        char name[60];
        snprintf(name, sizeof name, "B_normals/normal_%d-values", sizes[k]);
        const Tensor *values = golden(name);
        float *got = room(values->count);
        for (int i = 0; i < seeds; i++) {
            Random r;
            random_seed(&r, (uint64_t)seed[i]);
            normal_fill(&r, 1, sizes[k], 0, 1,
                        (void *)(got + i * sizes[k]));
        }
        tap_close("values", values, got, 0, 0);
    }
}

static void normal_sizes(void)
{
    const Tensor *sums = golden("B_normals/normal-checksums");
    int seeds, sizes;
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *size = all("sizes", &sizes);
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < sizes; k++) {
            Random r;
            float *x = room((size_t)size[k]);
            random_seed(&r, (uint64_t)seed[i]);
            normal_fill(&r, 1, (int)size[k], 0, 1, (void *)x);
            same_bits("checksum", checksum((size_t)size[k], x),
                      tensor_integers(sums)[i * sizes + k]);
        }
}

static void normal_shifted(void)
{
    const Tensor *values = golden("B_normals/shifted-values");
    const Tensor *few = golden("B_normals/shifted-few");
    float *got[2] = {room(values->count), room(few->count)};
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        normal_fill(&r, 8, 5, 3, 0.25f, (void *)(got[0] + i * 40));
        random_seed(&r, (uint64_t)seed[i]);
        normal_fill(&r, 1, 5, -1, 2, (void *)(got[1] + i * 5));
    }
    tap_close("from 16 on", values, got[0], 0, 0);
    tap_close("below 16", few, got[1], 0, 0);
}

/* Numbers are stretched and shifted with a single rounding, blocks and the
 * rest behind them alike. */
static void normal_rounded_once(void)
{
    enum { N = 1000 };
    float *plain = room(N), *got = room(N);
    Random r;
    random_seed(&r, 42);
    normal_fill(&r, 1, N, 0, 1, (void *)plain);
    random_seed(&r, 42);
    normal_fill(&r, 1, N, 3, 0.3f, (void *)got);
    for (int i = 0; i < N; i++)
        tap_near("value", got[i], fmaf(plain[i], 0.3f, 3), 0, 0);
}

static void normal_without_spread(void)
{
    float *got = room(17);
    Random r;
    random_seed(&r, 42);
    normal_fill(&r, 1, 17, 5, 0, (void *)got);
    for (int i = 0; i < 17; i++)
        tap_near("value", got[i], 5, 0, 0);
}

/* An odd count leaves a number, which waits while others are drawn. */
static void normal_kept(void)
{
    const Tensor *a = golden("B_normals/mixed-a");
    const Tensor *b = golden("B_normals/mixed-b");
    const Tensor *c = golden("B_normals/mixed-c");
    const Tensor *d = golden("B_normals/mixed-d");
    const Tensor *e = golden("B_normals/mixed-e");
    float *got = room(28);
    Random r;
    random_seed(&r, 2024);
    normal_fill(&r, 1, 3, 0, 1, (void *)got);
    tap_close("three", a, got, 0, 0);
    rand_fill(&r, 1, 2, (void *)got);
    tap_close("two even ones", b, got, 0, 0);
    normal_fill(&r, 4, 5, 0, 1, (void *)got);
    tap_close("twenty", c, got, 0, 0);
    normal_fill(&r, 1, 1, 0, 1, (void *)got);
    tap_close("the kept one", d, got, 0, 0);
    normal_fill(&r, 1, 2, 0, 1, (void *)got);
    tap_close("two new ones", e, got, 0, 0);
    random_seed(&r, 2024);
    normal_fill(&r, 1, 3, 0, 1, (void *)got);
    random_seed(&r, 2024);
    normal_fill(&r, 1, 3, 0, 1, (void *)got);
    tap_close("a seed forgets the kept one", a, got, 0, 0);
}

static void double_test(void)
{
    const Tensor *values = golden("B_normals/double-values");
    int seeds, count = values->shape[1];
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        for (int k = 0; k < count; k++)
            tap_near("draw", random_double(&r),
                     tensor_doubles(values)[i * count + k], 0, 0);
    }
}

static void embedding_small(void)
{
    const Tensor *table = golden("B_normals/embedding-table");
    float *got = room(18);
    Random r;
    random_seed(&r, 123);
    embedding_fill(&r, 6, 3, (void *)got);
    tap_close("table", table, got, 0, 0);
}

static void embedding_large(void)
{
    const Tensor *first = golden("B_normals/embedding-first");
    const Tensor *sum = golden("B_normals/embedding-checksum");
    float *got = room(150000);
    Random r;
    random_seed(&r, 123);
    embedding_fill(&r, 50000, 3, (void *)got);
    tap_close("first rows", first, got, 0, 0);
    same_bits("all of it", checksum(150000, got), tensor_integers(sum)[0]);
}

static void deviation_below_0(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    normal_fill(&r, 1, 1, 0, -1, x);
}

static void deviation_endless(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    normal_fill(&r, 1, 1, 0, INFINITY, x);
}

static void mean_of_nan(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    normal_fill(&r, 1, 1, NAN, 1, x);
}

int main(void)
{
    const char *file = "B_normals.c";
    TAP(double_test, "random_double: ten seeds");
    TAP(normal_test, "normal_fill: ten seeds, 15, 16, 17 and 33 numbers");
    TAP(normal_sizes, "normal_fill: ten seeds, sizes from 1 to 10,000");
    TAP(normal_shifted, "normal_fill: other means and deviations");
    TAP(normal_rounded_once, "normal_fill: deviation 0.3, rounded once");
    TAP(normal_without_spread, "normal_fill: deviation 0");
    TAP(normal_kept, "normal_fill: what an odd count leaves");
    TAP(embedding_small, "embedding_fill: 6 rows of 3");
    TAP_LARGE(embedding_large, "embedding_fill: 50,000 rows of 3");
    tap_refuses(deviation_below_0, "normal_fill: refuses -1", file,
                "normal numbers around 0 with deviation -1: finite numbers "
                "are needed, the second from 0 on");
    tap_refuses(
        deviation_endless, "normal_fill: refuses infinity", file,
        "normal numbers around 0 with deviation inf: finite numbers "
        "are needed, the second from 0 on");
    tap_refuses(
        mean_of_nan, "normal_fill: refuses nan", file,
        "normal numbers around nan with deviation 1: finite numbers "
        "are needed, the second from 0 on");
    return tap_done();
}
