/* Chapter 4 against PyTorch: golden/04_random. Streams are equal to the last
 * bit; the long ones are compared by a checksum of their bytes. */
#define CHAPTER "04_random"
#include "streams.h"

#define LAYERS "linear_1x1", "linear_3x2", "linear_2x5", "linear_64x7"

static void u64_test(void)
{
    const Tensor *bits_of = golden("04_random/bits-values");
    int seeds, draws = bits_of->shape[1];
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        for (int k = 0; k < draws; k++)
            same_bits("63 bits", (int64_t)(random_u64(&r) & INT64_MAX),
                      tensor_integers(bits_of)[i * draws + k]);
    }
}

static void u32_test(void)
{
    const Tensor *bits_of = golden("04_random/bits-values");
    int seeds, draws = bits_of->shape[1];
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        for (int k = 0; k < draws; k++) {
            int64_t both = tensor_integers(bits_of)[i * draws + k];
            same_bits("upper half", random_u32(&r) & INT32_MAX, both >> 32);
            same_bits("lower half", random_u32(&r), both & UINT32_MAX);
        }
    }
}

/* A seed fills the state; a twist by hand, and the draws follow: all that
 * this state gives, and the first of the next. */
static void twist_test(void)
{
    const Tensor *bits_of = golden("04_random/bits-values");
    int seeds, draws = bits_of->shape[1];
    const int64_t *seed = all("seeds", &seeds);
    tap_true("enough draws for a whole state", 2 * draws > RANDOM_STATE);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        random_twist(r.state);
        r.next = 0;
        for (int k = 0; k < draws; k++)
            same_bits("63 bits", (int64_t)(random_u64(&r) & INT64_MAX),
                      tensor_integers(bits_of)[i * draws + k]);
    }
}

static void seed_test(void)
{
    Random r, again;
    random_seed(&r, 123);
    again = r;
    again.has_kept = 1;
    again.next = 5;
    memset(again.state, 1, sizeof again.state);
    random_seed(&again, 123);
    tap_true("the state is filled anew",
             !memcmp(r.state, again.state, sizeof r.state));
    same_bits("nothing is left over", again.next, RANDOM_STATE);
    same_bits("nothing is kept", again.has_kept, 0);
    same_bits("the first of the state is the seed", r.state[0], 123);
}

static void float_test(void)
{
    const Tensor *values = golden("04_random/rand-values");
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    for (int i = 0; i < seeds; i++) {
        Random r;
        random_seed(&r, (uint64_t)seed[i]);
        for (int k = 0; k < values->shape[1]; k++)
            tap_near("draw", random_float(&r),
                     tensor_floats(values)[i * values->shape[1] + k], 0, 0);
    }
}

static void rand_test(void)
{
    const Tensor *sums = golden("04_random/rand-checksums");
    int seeds, sizes;
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *size = all("sizes", &sizes);
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < sizes; k++) {
            Random r;
            float *x = room((size_t)size[k]);
            random_seed(&r, (uint64_t)seed[i]);
            rand_fill(&r, 1, (int)size[k], (void *)x);
            same_bits("checksum", checksum((size_t)size[k], x),
                      tensor_integers(sums)[i * sizes + k]);
        }
}

static void uniform_test(void)
{
    const Tensor *values = golden("04_random/uniform-values");
    const Tensor *sums = golden("04_random/uniform-checksums");
    const Tensor *ranges = golden("04_random/all-ranges");
    int seeds, count = ranges->shape[0], size = values->shape[2];
    const int64_t *seed = all("seeds", &seeds);
    const float(*range)[2] = floats(ranges);
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < count; k++) {
            Random r;
            float *x = room(10000);
            random_seed(&r, (uint64_t)seed[i]);
            uniform_fill(&r, 100, 100, range[k][0], range[k][1], (void *)x);
            for (int j = 0; j < size; j++)
                tap_near("value", x[j],
                         tensor_floats(values)[(i * count + k) * size + j],
                         0, 0);
            same_bits("checksum", checksum(10000, x),
                      tensor_integers(sums)[i * count + k]);
        }
}

/* In a range of two floats, half of the draws round to the upper end, which
 * is not meant to occur. */
static void uniform_never_high(void)
{
    Random r;
    float *x = room(1000), low = 1, high = nextafterf(1, 2);
    random_seed(&r, 1);
    uniform_fill(&r, 1, 1000, low, high, (void *)x);
    for (int i = 0; i < 1000; i++)
        tap_near("value", x[i], 1, 0, 0);
}

/* In a range of four steps, an eighth of the draws round to the upper end.
 * They become the lower one, and no further number is drawn for them. */
static void uniform_high_is_low(void)
{
    Random r, same;
    float *x = room(1000);
    random_seed(&r, 1);
    random_seed(&same, 1);
    uniform_fill(&r, 1, 1000, 1, 1 + 4 * FLT_EPSILON, (void *)x);
    for (int i = 0; i < 1000; i++) {
        const float share = random_float(&same);
        if (share > 0.88f)
            tap_near("upper end", x[i], 1, 0, 0);
        else if (share > 0.63f && share < 0.87f)
            tap_near("below it", x[i], 1 + 3 * FLT_EPSILON, 0, 0);
    }
    same_bits("the draw that follows", random_u32(&r), random_u32(&same));
}

static void uniform_no_range(void)
{
    Random r;
    float *x = room(5);
    random_seed(&r, 1);
    uniform_fill(&r, 1, 5, -2, -2, (void *)x);
    for (int i = 0; i < 5; i++)
        tap_near("value", x[i], -2, 0, 0);
}

static void linear_test(void)
{
    const Tensor *weight = part("weight"), *bias = part("bias");
    const Tensor *alone = part("alone");
    int d_out = weight->shape[0], d_in = weight->shape[1];
    float *got[3] = {room(weight->count), room(bias->count),
                     room(alone->count)};
    Random r, same;
    random_seed(&r, 789);
    random_seed(&same, 789);
    linear_fill(&r, d_in, d_out, (void *)got[0], got[1]);
    linear_fill(&r, d_in, d_out, (void *)got[2], NULL);
    tap_close("weight", weight, got[0], 0, 0);
    tap_close("bias", bias, got[1], 0, 0);
    tap_close("the next one, without a bias", alone, got[2], 0, 0);
    for (int k = 0; k < d_out * (d_in + 1 + d_in); k++)
        random_u32(&same);
    same_bits("the draw that follows", random_u32(&r), random_u32(&same));
}

/* Draws of different kinds from one generator. */
static void mixed_test(void)
{
    const Tensor *first = golden("04_random/mixed-first");
    const Tensor *second = golden("04_random/mixed-second");
    const Tensor *third = golden("04_random/mixed-third");
    const Tensor *fourth = golden("04_random/mixed-fourth");
    float *got[5] = {room(15), room(4), room(12), room(3), room(700)};
    Random r;
    random_seed(&r, 123);
    rand_fill(&r, 3, 5, (void *)got[0]);
    uniform_fill(&r, 2, 2, -3, 3, (void *)got[1]);
    linear_fill(&r, 4, 3, (void *)got[2], got[3]);
    rand_fill(&r, 1, 700, (void *)got[4]);
    tap_close("rand", first, got[0], 0, 0);
    tap_close("uniform", second, got[1], 0, 0);
    tap_close("bias of linear", third, got[3], 0, 0);
    tap_close("rand again", fourth, got[4], 0, 0);
}

/* From a seed alone to the scores of the six words. */
static void journey_test(void)
{
    sets_now = "journey";
    const Tensor *x = part("x"), *scores = part("scores");
    const Tensor *w[3] = {part("w_query"), part("w_key"), part("w_value")};
    float(*got)[2] = room(6), *query = room(12), *key = room(12);
    float *value = room(12), *s = room(36);
    Random r;
    random_seed(&r, 123);
    for (int k = 0; k < 3; k++) {
        rand_fill(&r, 3, 2, got);
        tap_close("matrix", w[k], got, 0, 0);
    }
    project(6, 3, 2, 2, floats(x), floats(w[0]), floats(w[1]), floats(w[2]),
            (void *)query, (void *)key, (void *)value);
    dot_scores(6, 6, 2, (void *)query, (void *)key, (void *)s);
    tap_close("query", part("query"), query, 1e-5, 1e-6);
    tap_close("key", part("key"), key, 1e-5, 1e-6);
    tap_close("value", part("value"), value, 1e-5, 1e-6);
    tap_close("scores", scores, s, 1e-5, 1e-6);
}

static uint64_t collides(uint64_t seed)
{
    Random r, other;
    uint64_t found = seed_collision(seed);
    tap_true("another seed", found != seed);
    random_seed(&r, seed);
    random_seed(&other, found);
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

static void range_turned(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    uniform_fill(&r, 1, 1, 2, 1, x);
}

static void range_endless(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    uniform_fill(&r, 1, 1, -3e38f, 3e38f, x);
}

static void range_of_nan(void)
{
    Random r;
    float x[1][1];
    random_seed(&r, 1);
    uniform_fill(&r, 1, 1, NAN, 1, x);
}

int main(void)
{
    const char *file = "04_random.c";
    TAP(seed_test, "random_seed: begins anew");
    TAP(twist_test, "random_twist: then the stream, beyond a second twist");
    TAP(u32_test, "random_u32: ten seeds");
    TAP(u64_test, "random_u64: ten seeds");
    TAP(float_test, "random_float: ten seeds");
    TAP(rand_test, "rand_fill: ten seeds, sizes from 1 to 10,000");
    TAP(uniform_test, "uniform_fill: ten seeds, four ranges");
    TAP(uniform_never_high, "uniform_fill: the upper end does not occur");
    TAP(uniform_high_is_low,
        "uniform_fill: the upper end becomes the lower");
    TAP(uniform_no_range, "uniform_fill: limits that are equal");
    SETS("linear_fill", linear_test, LAYERS);
    TAP(mixed_test, "rand_fill: kinds mixed on one generator");
    TAP(journey_test, "rand_fill: from seed 123 to the scores of journey");
    TAP(collision_test, "seed_collision: another seed, the same stream");
    tap_refuses(range_turned, "uniform_fill: refuses low above high", file,
                "numbers from 2 to 1: finite limits with a finite "
                "difference, the lower one first, are needed");
    tap_refuses(range_endless, "uniform_fill: refuses too wide a range",
                file,
                "numbers from -3e+38 to 3e+38: finite limits with a finite "
                "difference, the lower one first, are needed");
    tap_refuses(
        range_of_nan, "uniform_fill: refuses nan", file,
        "numbers from nan to 1: finite limits with a finite difference, "
        "the lower one first, are needed");
    return tap_done();
}
