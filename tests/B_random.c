/* Appendix B against PyTorch: golden/B_random. Streams are equal to the
 * last bit; the long ones are compared by a checksum of their bytes. */
#define CHAPTER "B_random"
#include "streams.h"
#include "attention/B_random.h"
#include "attention/01_dot_product.h"

static uint64_t two_halves(Random *r)
{
    const uint64_t upper = random_u32(r);
    return upper << 32 | random_u32(r);
}

/* The golden bits, 64 at a time or in halves. */
static void bits_test(uint64_t draw(Random *r))
{
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *bits = golden_integers("bits", "values");
    for (int i = 0; i < dim("all", "seeds", 0); i++) {
        Random r = random_seeded((uint64_t)seed[i]);
        for (int k = 0; k < dim("bits", "values", 1); k++)
            expect_integer(tap_words("63 bits of draw %d of seed %" PRId64,
                                     k, seed[i]),
                           (int64_t)(draw(&r) & INT64_MAX), *bits++);
    }
}

/* PyTorch's own states: that of seed 123, and after each of two twists. */
static void twist_test(void)
{
    const int64_t *due = golden_integers("twist", "states");
    uint32_t state[RANDOM_STATE];
    for (int i = 0; i < RANDOM_STATE; i++)
        state[i] = (uint32_t)due[i];
    for (int k = 1; k < 3; k++) {
        random_twist(state);
        for (int i = 0; i < RANDOM_STATE; i++)
            expect_integer(tap_words("state[%d] after %d twists", i, k),
                           state[i], due[k * RANDOM_STATE + i]);
    }
}

static void floats_each(Random *r, int n, float x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = random_float(r);
}

static void one_row(Random *r, int n, float x[n])
{
    random_fill(r, 1, n, (void *)x);
}

static void uniform_test(void)
{
    const float(*range)[2] = golden_floats("all", "ranges");
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *sum = golden_integers("uniform", "checksums");
    const float *first = golden_floats("uniform", "values");
    const int count = dim("uniform", "values", 2);
    for (int i = 0; i < dim("all", "seeds", 0); i++)
        for (int k = 0; k < dim("all", "ranges", 0); k++, first += count) {
            Random r = random_seeded((uint64_t)seed[i]);
            const float low = range[k][0], high = range[k][1];
            float(*x)[100] = guarded("x", 100 * 100);
            next_case();
            given("r: random_seeded(%" PRId64 ")", seed[i]);
            given("low = %.9g, high = %.9g", (double)low, (double)high);
            uniform_fill(&r, 100, 100, low, high, x);
            expect_table("x", 1, count, x, first, EXACTLY);
            expect_checksum("x (100, 100)", 10000, *x, *sum++);
        }
}

/* In a range of four steps, an eighth of the draws round to the upper end.
 * They become the lower one, and no further number is drawn for them. */
static void high_is_low(void)
{
    Random r = random_seeded(1), same = r;
    float *x = guarded("x", 1000);
    uniform_fill(&r, 1, 1000, 1, 1 + 4 * FLT_EPSILON, (void *)x);
    for (int i = 0; i < 1000; i++) {
        const float share = random_float(&same);
        if (share > 0.88f)
            expect_equal("upper end", x[i], 1);
        else if (share > 0.63f && share < 0.87f)
            expect_equal("below it", x[i], 1 + 3 * FLT_EPSILON);
    }
    expect_integer("the draw that follows", random_u32(&r),
                   random_u32(&same));
    uniform_fill(&r, 1, 5, -2, -2, (void *)x);
    for (int i = 0; i < 5; i++)
        expect_equal("limits that are equal", x[i], -2);
}

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

static void journey_test(const char *set)
{
    void *query = due(set, "query", SUMS), *key = due(set, "key", SUMS);
    Random r = random_seeded(123);
    random_fill(&r, 3, 2, due(set, "w_query", EXACTLY));
    random_fill(&r, 3, 2, due(set, "w_key", EXACTLY));
    random_fill(&r, 3, 2, due(set, "w_value", EXACTLY));
    qkv_from_seed(123, 6, 3, 2, 2, input(set, "x"), query, key,
                  due(set, "value", SUMS));
    dot_scores(6, 6, 2, query, key, due(set, "scores", SUMS));
}

static uint64_t collides(uint64_t seed)
{
    uint64_t found = seed_collision(seed);
    expect(found != seed, "another seed", "%" PRIu64 " comes back as it is",
           found);
    Random r = random_seeded(seed), other = random_seeded(found);
    for (int k = 0; k < 700; k++)
        expect_integer("draw", random_u32(&other), random_u32(&r));
    return found;
}

/* What is found is a seed like any, for which another must be found. */
static void collision_test(void)
{
    const int64_t *seed = golden_integers("all", "seeds");
    for (int i = 0; i < dim("all", "seeds", 0); i++)
        collides(collides((uint64_t)seed[i]));
    collides(UINT64_MAX);
}

#define NORMAL(mean, deviation)                                            \
    "B_random.c: normal_fill: normal numbers around " mean                 \
    " with deviation " deviation                                           \
    ": finite floats are needed, the second not negative"

static void tests_of_uniform(void)
{
    TAP("random_u64: ten seeds", bits_test(random_u64));
    TAP("random_twist: two twists", twist_test());
    TAP("random_u32: two halves of 64 bits", bits_test(two_halves));
    TAP("random_float: ten seeds",
        expect_streams("rand", "values", floats_each));
    TAP("random_fill: ten seeds, sizes from 1 to 10,000",
        expect_streams("rand", "values", one_row),
        expect_long_streams("rand", one_row));
    TAP("uniform_fill: ten seeds, and ranges", uniform_test());
    TAP("uniform_fill: the upper end becomes the lower", high_is_low());
    TAP("qkv_from_seed: to the scores", journey_test("journey"));
    TAP("seed_collision: another seed, the same stream", collision_test());
}

static void tests_of_normal(void)
{
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
}

static void refusals(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    REFUSES_SUCH("numbers from 2 to 1", uniform_fill(&r, 1, 1, 2, 1, x));
    REFUSES_SUCH("limits whose difference is infinite, -3e38 and 3e38",
                 uniform_fill(&r, 1, 1, -3e38f, 3e38f, x));
    REFUSES_SUCH("limits of which one is nan",
                 uniform_fill(&r, 1, 1, NAN, 1, x));
    REFUSES(NORMAL("0", "-1"), normal_fill(&r, 1, 1, 0, -1, x));
    REFUSES(NORMAL("0", "inf"), normal_fill(&r, 1, 1, 0, INFINITY, x));
    REFUSES(NORMAL("nan", "1"), normal_fill(&r, 1, 1, NAN, 1, x));
}

int main(void)
{
    tests_of_uniform();
    tests_of_normal();
    refusals();
    return tap_done();
}
