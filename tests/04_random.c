/* Chapter 4 against PyTorch: golden/04_random. Streams are equal to the
 * last bit; the long ones are compared by a checksum of their bytes. */
#define CHAPTER "04_random"
#include "streams.h"
#include "attention/04_random.h"
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

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
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
    REFUSES_SUCH("numbers from 2 to 1", uniform_fill(&r, 1, 1, 2, 1, x));
    REFUSES_SUCH("limits whose difference is infinite, -3e38 and 3e38",
                 uniform_fill(&r, 1, 1, -3e38f, 3e38f, x));
    REFUSES_SUCH("limits of which one is nan",
                 uniform_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
