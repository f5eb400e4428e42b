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
static void rounded_once(void)
{
    enum { N = 1000 };
    float *plain = guarded("plain", N), *got = guarded("x", N);
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
static void normal_kept(void)
{
    float *a = guarded("a", 3);
    Random r;
    for (int k = 0; k < 2; k++) {
        r = random_seeded(2024);
        plain(&r, 3, a);
        expect_close("a", a, golden("mixed", "a"), EXACTLY);
    }
    random_fill(&r, 1, 2, due("mixed", "b", EXACTLY));
    plain(&r, 20, due("mixed", "c", EXACTLY));
    plain(&r, 1, due("mixed", "d", EXACTLY));
    plain(&r, 2, due("mixed", "e", EXACTLY));
}

static void double_test(void)
{
    const int64_t *seed = golden_integers("all", "seeds");
    const double *value = golden_doubles("double", "values");
    for (int i = 0; i < dim("all", "seeds", 0); i++) {
        Random r = random_seeded((uint64_t)seed[i]);
        for (int k = 0; k < dim("double", "values", 1); k++)
            expect_equal("draw", random_double(&r), *value++);
    }
}

static void embedding_large(void)
{
    float *got = guarded("first", 150000);
    Random r = random_seeded(123);
    embedding_fill(&r, 50000, 3, (void *)got);
    expect_close("first", got, golden("embedding", "first"), EXACTLY);
    expect_integer("all of it", checksum(150000, got),
                   golden_integers("embedding", "checksum")[0]);
}

#define NORMAL(mean, deviation)                                            \
    "B_normals.c: normal_fill: normal numbers around " mean                \
    " with deviation " deviation                                           \
    ": finite floats are needed, the second from 0 on"

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    TAP("random_double: ten seeds", double_test());
    EACH_SET("normal_fill", "normal_*-values",
             expect_streams(set, "values", plain));
    TAP("normal_fill: sizes from 1 to 10,000",
        expect_long_streams("normal", plain));
    TAP("normal_fill: around other numbers",
        expect_streams("shifted", "values", shifted),
        expect_streams("shifted", "few", shifted_few),
        expect_streams("shifted", "doubles", few_doubles));
    TAP("normal_fill: rounded once, deviation 0 too", rounded_once());
    TAP("normal_fill: among other draws", normal_kept());
    TAP("embedding_fill: 6 rows of 3",
        embedding_fill((Random[]){random_seeded(123)}, 6, 3,
                       due("embedding", "table", EXACTLY)));
    TAP_LARGE("embedding_fill: 50,000 rows of 3", embedding_large());
    REFUSES(NORMAL("0", "-1"), normal_fill(&r, 1, 1, 0, -1, x));
    REFUSES(NORMAL("0", "inf"), normal_fill(&r, 1, 1, 0, INFINITY, x));
    REFUSES(NORMAL("nan", "1"), normal_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
