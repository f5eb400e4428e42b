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
static void bits_test(const char *set, uint64_t draw(Random *r))
{
    const int seeds = dim("all", "seeds", 0), draws = dim(set, "values", 1);
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *bits = tensor_integers(golden(set, "values"));
    for (int i = 0; i < seeds; i++) {
        Random r = random_seeded(seed[i]);
        for (int k = 0; k < draws; k++)
            expect_integer(tap_words("63 bits of draw %d of seed %" PRId64,
                                     k, seed[i]),
                           (int64_t)(draw(&r) & INT64_MAX), *bits++);
    }
}

/* Number after number of PyTorch's own state. */
static void same_state(const char *when, const uint32_t state[RANDOM_STATE],
                       const int64_t expect[RANDOM_STATE])
{
    for (int i = 0; i < RANDOM_STATE; i++)
        expect_integer(tap_words("state[%d] %s", i, when), state[i],
                       expect[i]);
}

/* The state that a seed makes, and what two twists make of it. */
static void twist_test(const char *set)
{
    const int64_t(*states)[RANDOM_STATE] =
        (const void *)tensor_integers(golden(set, "states"));
    uint32_t state[RANDOM_STATE];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < RANDOM_STATE; i++)
            state[i] = (uint32_t)states[k][i];
        random_twist(state);
        same_state("after a twist", state, states[k + 1]);
    }
}

static void seed_test(const char *set)
{
    const Random r = random_seeded(123);
    same_state("of seed 123", r.state,
               tensor_integers(golden(set, "states")));
    expect_integer("nothing is left over", r.next, RANDOM_STATE);
    expect_integer("nothing is kept", r.has_spare, 0);
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

static void uniform_test(const char *set)
{
    const Tensor *ranges = golden("all", "ranges");
    const float(*range)[2] = tensor_as_floats(ranges);
    const int seeds = dim("all", "seeds", 0), size = dim(set, "values", 2);
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *sum = tensor_integers(golden(set, "checksums"));
    const float *first = tensor_floats(golden(set, "values"));
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < ranges->shape[0]; k++) {
            Random r = random_seeded(seed[i]);
            float *x = guarded("an array", 10000);
            next_case();
            given("r: random_seeded(%" PRId64 ")", seed[i]);
            given("low = %.9g, high = %.9g", (double)range[k][0],
                  (double)range[k][1]);
            uniform_fill(&r, 100, 100, range[k][0], range[k][1], (void *)x);
            expect_table("x", 1, size, x, first, EXACTLY);
            expect_checksum("x (100, 100)", 10000, x, *sum++);
            first += size;
        }
}

/* In a range of four steps, an eighth of the draws round to the upper end.
 * They become the lower one, and no further number is drawn for them. */
static void uniform_high_is_low(void)
{
    Random r = random_seeded(1), same = r;
    float *x = guarded("an array", 1000);
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

/* From a seed alone to the scores of the six words. */
static void journey_test(const char *set)
{
    float(*query)[2] = due(set, "query", SUMS),
    (*key)[2] = due(set, "key", SUMS);
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
    const int seeds = dim("all", "seeds", 0);
    const int64_t *seed = golden_integers("all", "seeds");
    for (int i = 0; i < seeds; i++)
        collides(collides((uint64_t)seed[i]));
    collides(UINT64_MAX);
}

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    EACH_SET("random_u64", "bits-values", bits_test(set, random_u64));
    TAP("random_seeded: twist", seed_test("twist"));
    TAP("random_twist: twist", twist_test("twist"));
    EACH_SET("random_u32", "bits-values", bits_test(set, two_halves));
    EACH_SET("random_float", "rand-values",
             expect_streams(set, "values", floats_each));
    EACH_SET("random_fill", "rand-values",
             expect_streams(set, "values", one_row),
             expect_long_streams(set, one_row));
    TAP("uniform_fill: uniform", uniform_test("uniform"));
    TAP("uniform_fill: the upper end becomes the lower",
        uniform_high_is_low());
    EACH_SET("qkv_from_seed", "journey-x", journey_test(set));
    TAP("seed_collision: another seed, the same stream", collision_test());
    REFUSES_SUCH("numbers from 2 to 1", uniform_fill(&r, 1, 1, 2, 1, x));
    REFUSES_SUCH("limits whose difference is infinite, -3e38 and 3e38",
                 uniform_fill(&r, 1, 1, -3e38f, 3e38f, x));
    REFUSES_SUCH("limits of which one is nan",
                 uniform_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
