/* Appendix B against PyTorch: golden/B_normals, equal to the last bit. */
#define CHAPTER "B_normals"
#include "streams.h"
#include "attention/B_normals.h"

static void plain(Random *r, int n, float x[n])
{
    normal_fill(r, 1, n, 0, 1, (void *)x);
}

static void shifted(Random *r, int n, float x[n])
{
    normal_fill(r, n / 5, 5, 3, 0.25f, (void *)x);
}

static void shifted_few(Random *r, int n, float x[n])
{
    normal_fill(r, 1, n, -1, 2, (void *)x);
}

static void few_doubles(Random *r, int n, float x[n])
{
    normal_fill(r, 1, n, 0.1, 0.02, (void *)x);
}

/* Numbers are stretched and shifted with a single rounding, blocks and the
 * rest behind them alike. */
static void normal_rounded_once(void)
{
    enum { N = 1000 };
    float *plain = room(N), *got = room(N);
    Random r = seeded(42), same = r;
    normal_fill(&r, 1, N, 0, 1, (void *)plain);
    normal_fill(&same, 1, N, 3, 0.3f, (void *)got);
    for (int i = 0; i < N; i++)
        tap_near("value", got[i], fmaf(plain[i], 0.3f, 3), 0, 0);
    normal_fill(&r, 1, 17, 5, 0, (void *)got);
    for (int i = 0; i < 17; i++)
        tap_near("without a deviation", got[i], 5, 0, 0);
}

/* An odd count leaves a number, which waits while others are drawn, and is
 * forgotten with the seed. */
static void normal_kept(void)
{
    float *got = room(20);
    Random r;
    for (int k = 0; k < 2; k++) {
        r = random_seeded(2024);
        plain(&r, 3, got);
        agrees("a", got, EXACTLY);
    }
    random_fill(&r, 1, 2, due("b", EXACTLY));
    plain(&r, 20, due("c", EXACTLY));
    plain(&r, 1, due("d", EXACTLY));
    plain(&r, 2, due("e", EXACTLY));
}

static void double_test(void)
{
    int seeds, count = dim("values", 1);
    const int64_t *seed = all("seeds", &seeds);
    const double *value = doubles("values");
    for (int i = 0; i < seeds; i++) {
        Random r = seeded(seed[i]);
        for (int k = 0; k < count; k++)
            tap_near("draw", random_double(&r), *value++, 0, 0);
    }
}

static void embedding_large(void)
{
    float *got = room(150000);
    Random r = seeded(123);
    sets_now = "embedding";
    embedding_fill(&r, 50000, 3, (void *)got);
    agrees("first", got, 0, 0);
    same_bits("all of it", checksum(150000, got), integers("checksum")[0]);
}

#define NORMAL(mean, deviation)                                            \
    "B_normals.c: normal_fill: normal numbers around " mean                \
    " with deviation " deviation                                           \
    ": finite floats are needed, the second from 0 on"

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    SETS("random_double", double_test, "double");
    EACH_SET("normal_fill", "normal_*-values", each_seed("values", plain));
    EACH_SET("normal_fill", "normal-checksums", each_size(plain));
    EACH_SET("normal_fill", "shifted-values", each_seed("values", shifted),
             each_seed("few", shifted_few),
             each_seed("doubles", few_doubles));
    TAP(normal_rounded_once, "normal_fill: rounded once, deviation 0 too");
    EACH("normal_fill", normal_kept, "mixed-a");
    EACH_SET("embedding_fill", "embedding-table",
             embedding_fill((Random[]){seeded(123)}, 6, 3,
                            due("table", EXACTLY)));
    TAP_LARGE(embedding_large, "embedding_fill: 50,000 rows of 3");
    REFUSES(NORMAL("0", "-1"), normal_fill(&r, 1, 1, 0, -1, x));
    REFUSES(NORMAL("0", "inf"), normal_fill(&r, 1, 1, 0, INFINITY, x));
    REFUSES(NORMAL("nan", "1"), normal_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
