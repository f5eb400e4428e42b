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
    int seeds, draws = dim("values", 1);
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *bits = tensor_integers(part("values"));
    for (int i = 0; i < seeds; i++) {
        Random r = seeded(seed[i]);
        for (int k = 0; k < draws; k++)
            same_bits(tap_words("63 bits of draw %d of seed %" PRId64, k,
                                seed[i]),
                      (int64_t)(draw(&r) & INT64_MAX), *bits++);
    }
}

/* Number after number of PyTorch's own state. */
static void same_state(const char *when, const uint32_t state[RANDOM_STATE],
                       const int64_t expect[RANDOM_STATE])
{
    for (int i = 0; i < RANDOM_STATE; i++)
        same_bits(tap_words("state[%d] %s", i, when), state[i], expect[i]);
}

/* The state that a seed makes, and what two twists make of it. */
static void twist_test(void)
{
    const int64_t(*states)[RANDOM_STATE] =
        (const void *)tensor_integers(part("states"));
    uint32_t state[RANDOM_STATE];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < RANDOM_STATE; i++)
            state[i] = (uint32_t)states[k][i];
        random_twist(state);
        same_state("after a twist", state, states[k + 1]);
    }
}

static void seed_test(void)
{
    const Random r = random_seeded(123);
    same_state("of seed 123", r.state, tensor_integers(part("states")));
    same_bits("nothing is left over", r.next, RANDOM_STATE);
    same_bits("nothing is kept", r.has_spare, 0);
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
    const Tensor *ranges = golden("04_random/all-ranges");
    const float(*range)[2] = floats(ranges);
    int seeds, size = dim("values", 2);
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *sum = tensor_integers(part("checksums"));
    const float *first = tensor_floats(part("values"));
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < ranges->shape[0]; k++) {
            Random r = seeded(seed[i]);
            float *x = room(10000);
            next_case();
            give("r: random_seeded(%" PRId64 ")", seed[i]);
            give("low = %.9g, high = %.9g", (double)range[k][0],
                 (double)range[k][1]);
            uniform_fill(&r, 100, 100, range[k][0], range[k][1], (void *)x);
            same_table("x", 1, size, x, first);
            same_sum("x (100, 100)", 10000, x, *sum++);
            first += size;
        }
}

/* In a range of four steps, an eighth of the draws round to the upper end.
 * They become the lower one, and no further number is drawn for them. */
static void uniform_high_is_low(void)
{
    Random r = seeded(1), same = r;
    float *x = room(1000);
    uniform_fill(&r, 1, 1000, 1, 1 + 4 * FLT_EPSILON, (void *)x);
    for (int i = 0; i < 1000; i++) {
        const float share = random_float(&same);
        if (share > 0.88f)
            tap_near("upper end", x[i], 1, 0, 0);
        else if (share > 0.63f && share < 0.87f)
            tap_near("below it", x[i], 1 + 3 * FLT_EPSILON, 0, 0);
    }
    same_bits("the draw that follows", random_u32(&r), random_u32(&same));
    uniform_fill(&r, 1, 5, -2, -2, (void *)x);
    for (int i = 0; i < 5; i++)
        tap_near("limits that are equal", x[i], -2, 0, 0);
}

/* From a seed alone to the scores of the six words. */
static void journey_test(void)
{
    float(*query)[2] = due("query", SUMS), (*key)[2] = due("key", SUMS);
    Random r = seeded(123);
    random_fill(&r, 3, 2, due("w_query", EXACTLY));
    random_fill(&r, 3, 2, due("w_key", EXACTLY));
    random_fill(&r, 3, 2, due("w_value", EXACTLY));
    qkv_from_seed(123, 6, 3, 2, 2, input("x"), query, key,
                  due("value", SUMS));
    dot_scores(6, 6, 2, query, key, due("scores", SUMS));
}

static uint64_t collides(uint64_t seed)
{
    uint64_t found = seed_collision(seed);
    tap_report(found != seed, "another seed",
               "%" PRIu64 " comes back as it is", found);
    Random r = random_seeded(seed), other = random_seeded(found);
    for (int k = 0; k < 700; k++)
        same_bits("draw", random_u32(&other), random_u32(&r));
    return found;
}

/* What is found is a seed like any, for which another must be found. */
static void collision_test(void)
{
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++)
        collides(collides((uint64_t)seed[i]));
    collides(UINT64_MAX);
}

int main(void)
{
    Random r = {.next = RANDOM_STATE};
    float x[1][1];
    EACH_SET("random_u64", "bits-values", bits_test(random_u64));
    SETS("random_seeded", seed_test, "twist");
    SETS("random_twist", twist_test, "twist");
    EACH_SET("random_u32", "bits-values", bits_test(two_halves));
    EACH_SET("random_float", "rand-values",
             each_seed("values", floats_each));
    EACH_SET("random_fill", "rand-values", each_seed("values", one_row),
             each_size(one_row));
    SETS("uniform_fill", uniform_test, "uniform");
    TAP(uniform_high_is_low,
        "uniform_fill: the upper end becomes the lower");
    EACH("qkv_from_seed", journey_test, "journey-x");
    TAP(collision_test, "seed_collision: another seed, the same stream");
    REFUSES_SUCH("numbers from 2 to 1", uniform_fill(&r, 1, 1, 2, 1, x));
    REFUSES_SUCH("limits whose difference is infinite, -3e38 and 3e38",
                 uniform_fill(&r, 1, 1, -3e38f, 3e38f, x));
    REFUSES_SUCH("limits of which one is nan",
                 uniform_fill(&r, 1, 1, NAN, 1, x));
    return tap_done();
}
