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
    float *plain = guarded("an array", N), *got = guarded("an array", N);
    Random r = random_seeded(42), same = r;
    normal_fill(&r, 1, N, 0, 1, (void *)plain);
    normal_fill(&same, 1, N, 3, 0.3f, (void *)got);
    for (int i = 0; i < N; i++)
        expect_equal("value", got[i], fmaf(plain[i], 0.3f, 3));
    normal_fill(&r, 1, 17, 5, 0, (void *)got);
    for (int i = 0; i < 17; i++)
        expect_equal("without a deviation", got[i], 5);
}

/* An odd count leaves a number, which waits while others are drawn, and is
 * forgotten with the seed. */
static void normal_kept(const char *set)
{
    float *got = guarded("an array", 20);
    Random r;
    for (int k = 0; k < 2; k++) {
        r = random_seeded(2024);
        plain(&r, 3, got);
        expect_close("a", got, golden(set, "a"), EXACTLY);
    }
    random_fill(&r, 1, 2, due(set, "b", EXACTLY));
    plain(&r, 20, due(set, "c", EXACTLY));
    plain(&r, 1, due(set, "d", EXACTLY));
    plain(&r, 2, due(set, "e", EXACTLY));
}

static void double_test(const char *set)
{
    const int seeds = dim("all", "seeds", 0), count = dim(set, "values", 1);
    const int64_t *seed = golden_integers("all", "seeds");
    const double *value = golden_doubles(set, "values");
    for (int i = 0; i < seeds; i++) {
        Random r = random_seeded(seed[i]);
        for (int k = 0; k < count; k++)
            expect_equal("draw", random_double(&r), *value++);
    }
}

static void embedding_large(void)
{
    float *got = guarded("an array", 150000);
    Random r = random_seeded(123);
    const char *const set = "embedding";
    embedding_fill(&r, 50000, 3, (void *)got);
    expect_close("first", got, golden(set, "first"), 0, 0);
    expect_integer("all of it", checksum(150000, got),
                   golden_integers(set, "checksum")[0]);
}

#define NORMAL(mean, deviation)                                            \
    "B_normals.c: normal_fill: normal numbers around " mean                \
    " with deviation " deviation                                           \
    ": finite floats are needed, the second from 0 on"

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    TAP("random_double: double", double_test("double"));
    EACH_SET("normal_fill", "normal_*-values",
             expect_streams(set, "values", plain));
    EACH_SET("normal_fill", "normal-checksums",
             expect_long_streams(set, plain));
    EACH_SET("normal_fill", "shifted-values",
             expect_streams(set, "values", shifted),
             expect_streams(set, "few", shifted_few),
             expect_streams(set, "doubles", few_doubles));
    TAP("normal_fill: rounded once, deviation 0 too",
        normal_rounded_once());
    EACH_SET("normal_fill", "mixed-a", normal_kept(set));
    EACH_SET("embedding_fill", "embedding-table",
             embedding_fill((Random[]){random_seeded(123)}, 6, 3,
                            due(set, "table", EXACTLY)));
    TAP_LARGE("embedding_fill: 50,000 rows of 3", embedding_large());
    REFUSES(NORMAL("0", "-1"), normal_fill(&r, 1, 1, 0, -1, x));
    REFUSES(NORMAL("0", "inf"), normal_fill(&r, 1, 1, 0, INFINITY, x));
    REFUSES(NORMAL("nan", "1"), normal_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
