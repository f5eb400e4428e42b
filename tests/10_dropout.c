/* Chapter 10 against PyTorch: golden/10_dropout, to the last bit. MCG31 is
 * in no PyTorch that golden data is made with; it is held against what
 * people have published, the rows of tests/documents.tsv. */
#define CHAPTER "10_dropout"
#include "streams.h"
#include "traces.h"

#define RATES                                                              \
    "rate_0", "rate_1", "rate_2", "rate_3", "rate_4", "rate_5", "rate_6",  \
        "rate_7", "rate_8"
#define ODD "odd_0", "odd_1", "odd_2", "odd_3", "odd_4"

/* Ten seeds, nine rates: the lots, and the number that is drawn next. */
static void lots_test(void)
{
    const Tensor *masks = golden("10_dropout/lots-masks");
    const Tensor *following = golden("10_dropout/lots-following");
    const double *rate = tensor_doubles(golden("10_dropout/all-rates"));
    const int all_of = masks->shape[0];
    const int n = masks->shape[1], m = masks->shape[2];
    int seeds;
    const int64_t *seed = all("seeds", &seeds);
    float *got = room(masks->count), *next = room(following->count);
    for (int i = 0; i < all_of; i++) {
        const int rates = all_of / seeds;
        Random r = seeded(seed[i / rates]);
        dropout_mask(&r, rate[i % rates], n, m, (void *)(got + i * n * m));
        next[i] = random_float(&r);
    }
    tap_close("lots", masks, got, 0, 0);
    tap_close("drawn next", following, next, 0, 0);
}

/* Rates at which one of 20 lots of the seed lies at the threshold, or below
 * it by the last bit: nothing but doubles tells these apart. */
static void near_test(void)
{
    const Tensor *masks = golden("10_dropout/near-masks");
    const double *rate = tensor_doubles(golden("10_dropout/near-rates"));
    const int n = masks->shape[1];
    float *got = room(masks->count);
    for (int i = 0; i < masks->shape[0]; i++) {
        Random r = seeded(65);
        dropout_mask(&r, rate[i], 1, n, (void *)(got + i * n));
    }
    tap_close("lots", masks, got, 0, 0);
}

static void without_generator(void)
{
    const float expect[2][6] = {{1, 1, 1, 1, 1, 1}, {0}};
    float mask[6];
    for (int p = 0; p <= 1; p++) {
        dropout_mask(NULL, p, 2, 3, (void *)mask);
        same("lot", 6, mask, expect[p]);
    }
}

static void sizes_test(void)
{
    const Tensor *sums = golden("10_dropout/lots-checksums");
    int seeds, sizes;
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *size = all("sizes", &sizes);
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < sizes; k++) {
            Random r = seeded(seed[i]);
            float *mask = room((size_t)size[k]);
            dropout_mask(&r, 0.1, 1, (int)size[k], (void *)mask);
            same_bits("checksum", checksum((size_t)size[k], mask),
                      tensor_integers(sums)[i * sizes + k]);
        }
}

/* A table of many rows has the lots of a single long one. */
static void rows_test(void)
{
    Random r = seeded(7), other = r;
    float *rows = room(36), *row = room(36);
    dropout_mask(&r, 0.3, 12, 3, (void *)rows);
    dropout_mask(&other, 0.3, 1, 36, (void *)row);
    same("lot", 36, rows, row);
}

/* As == has it, but -0 is not 0. The sign of NaN is the machine's own. */
static void same_floats(const char *what, size_t count, const float *got,
                        const float *expect)
{
    for (size_t k = 0; k < count; k++) {
        tap_near(what, got[k], expect[k], 0, 0);
        if (!isnan(expect[k]))
            same_bits("sign", signbit(got[k]) != 0,
                      signbit(expect[k]) != 0);
    }
}

static void apply_test(void)
{
    const Tensor *x = part("x"), *mask = part("mask");
    const Tensor *dropped = part("dropped");
    float *y = room(x->count);
    dropout_apply(tensor_doubles(part("rate"))[0], x->shape[0], x->shape[1],
                  floats(mask), floats(x), (void *)y);
    same_floats("dropped", x->count, y, tensor_floats(dropped));
}

/* All but 0 keeps. */
static void odd_mask(void)
{
    const float mask[1][10] = {
        {1, 0, -0.0f, 0.5f, -1, 2, 1e-45f, INFINITY, -INFINITY, NAN}};
    float x[1][10], y[1][10];
    tap_fill(10, x[0], 1, 2);
    dropout_apply(0.75, 1, 10, mask, x, y);
    for (int j = 0; j < 10; j++)
        tap_near("entry", y[0][j], j == 1 || j == 2 ? 0 : 4 * x[0][j], 0,
                 0);
}

/* Mask and multiplication together, as nn.Dropout does both. */
static void module_test(void)
{
    sets_now = "ones";
    const Tensor *x = part("x");
    float *mask = room(36), *y = room(36);
    Random r = seeded(123);
    dropout_mask(&r, 0.5, 6, 6, (void *)mask);
    dropout_apply(0.5, 6, 6, (void *)mask, floats(x), (void *)y);
    tap_close("training", part("dropped"), y, 0, 0);
    dropout_mask(&r, 0, 6, 6, (void *)mask);
    dropout_apply(0, 6, 6, (void *)mask, floats(x), (void *)y);
    tap_close("evaluation", part("evaluated"), y, 0, 0);
}

/* The mean of many dropouts is what there was before. */
static void mean_test(void)
{
    enum { MANY = 200000 };
    const double rates[3] = {0.1, 0.5, 0.8};
    for (int k = 0; k < 3; k++) {
        float *x = room(MANY), *y = room(MANY), *mask = room(MANY);
        Random r = seeded(5);
        double sum = 0;
        for (int j = 0; j < MANY; j++)
            x[j] = 0.25f;
        dropout_mask(&r, rates[k], 1, MANY, (void *)mask);
        dropout_apply(rates[k], 1, MANY, (void *)mask, (void *)x,
                      (void *)y);
        for (int j = 0; j < MANY; j++)
            sum += (double)y[j];
        tap_near("mean", sum / MANY, 0.25, 0, 0.005);
    }
}

/* The numbers of a row of documents.tsv: what that document prints. */
static int published(const char *place, int most, double x[most])
{
    static char line[4096];
    FILE *file = fopen("tests/documents.tsv", "r");
    int count = -1;
    while (file && count < 0 && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, place);
        if (!at || !(at = strchr(at, '\t')))
            continue;
        for (count = 0; *++at != '\t' && count < most;) {
            char *end;
            x[count] = strtod(at, &end);
            if (end > at) {
                at = end - 1;
                count++;
            }
        }
    }
    if (file)
        fclose(file);
    return count;
}

static void record(const char *place, int64_t seed, double p, int n, int m)
{
    Random r = seeded(seed);
    double expect[64];
    float *mask = room((size_t)(n * m));
    same_bits(place, published(place, 64, expect), n * m);
    dropout_mask_mcg31(&r, p, n, m, (void *)mask);
    for (int k = 0; k < n * m; k++)
        tap_near(place, mask[k], expect[k] != 0, 0, 0);
}

static void mcg31_test(void)
{
    record("dropout(example), the reader's", 123, 0.5, 6, 6);
    record("zeros(5).bernoulli_() on Linux", 0, 0.5, 5, 1);
    record("case C, 15 lots of 0.75", 314159, 0.25, 3, 5);
}

/* Ten numbers are drawn before, so that the seed is the eleventh draw. */
static void mcg31_sum(void)
{
    const char *place = "sum after dropout, older Mac";
    double expect[4], sum = 0;
    float x[1][10], mask[1][10], dropped[1][10];
    Random r = seeded(123);
    same_bits(place, published(place, 4, expect), 1);
    rand_fill(&r, 1, 10, x);
    dropout_mask_mcg31(&r, 0.5, 1, 10, mask);
    dropout_apply(0.5, 1, 10, mask, x, dropped);
    for (int j = 0; j < 10; j++)
        sum += (double)dropped[0][j];
    tap_near(place, sum, expect[0], 0, 5.1e-5);
}

/* Rates at which a lot lies at the threshold, or below it by the last bit.
 * From one half on, a double holds 1 minus a lot exactly. */
static void mcg31_near(void)
{
    enum { LOTS = 200 };
    const int64_t modulus = INT32_MAX, factor = 1132489760;
    const Random start = seeded(65);
    Random r = start;
    int64_t x = random_u32(&r) % modulus;
    for (int k = 0; k < LOTS; k++, x = x * factor % modulus) {
        const double lot = (double)x / (double)modulus;
        if (lot < 0.5)
            continue;
        for (int below = 0; below <= 1; below++) {
            float mask[1][LOTS];
            r = start;
            dropout_mask_mcg31(&r, 1 - lot - below * 0x1p-53, 1, k + 1,
                               mask);
            tap_near(below ? "below" : "at the threshold", mask[0][k],
                     below, 0, 0);
        }
    }
}

/* What it takes from the generator, if it draws at all; its seed of 0; its
 * shares. */
static void mcg31_draws(void)
{
    enum { MANY = 100000 };
    const double rates[4] = {0, 0.1, 0.6, 1};
    for (int k = 0; k < 4; k++) {
        const bool draws = k == 1 || k == 2;
        Random r = seeded(9), other = r;
        float *mask = room(MANY);
        double kept = 0;
        dropout_mask_mcg31(draws ? &r : NULL, rates[k], 1000, MANY / 1000,
                           (void *)mask);
        if (draws)
            random_u32(&other);
        same_bits("drawn next", random_u32(&r), random_u32(&other));
        for (int j = 0; j < MANY; j++)
            kept += (double)mask[j];
        tap_near("share", kept / MANY, 1 - rates[k], 0, draws ? 0.005 : 0);
    }
    Random r = seeded(1);
    float mask[1][2];
    r.state[0] = 0; /* the next draw will be 0, which counts as 1 */
    r.next = 0;
    dropout_mask_mcg31(&r, 0.5, 1, 2, mask);
    tap_near("first", mask[0][0], 1, 0, 0);
    tap_near("second", mask[0][1], 0, 0, 0);
}

static void sums_test(void)
{
    const Tensor *weights = part("weights"), *mean = part("mean");
    Random r = seeded(61);
    double got[3] = {1e30, 1e30, 1e30}; /* not to be added to */
    mean_row_sum(&r, tensor_doubles(part("rate"))[0], weights->shape[0],
                 weights->shape[1], (int)tensor_integers(part("draws"))[0],
                 floats(weights), got);
    for (int i = 0; i < weights->shape[0]; i++)
        tap_near("mean of row sums", got[i], tensor_doubles(mean)[i], 1e-9,
                 1e-12);
}

static void good_rates(void)
{
    const double rates[5] = {0, 1, 0.5, 5e-324, 1 - 0x1p-53};
    for (int k = 0; k < 5; k++)
        dropout_must_fit(rates[k]);
    tap_true("accepted", true);
}

static void refusals(void)
{
    const float weights[1][2] = {{0.25f, 0.75f}};
    float x[1][2];
    double mean[1];
    Random r = seeded(1);
#define AT "10_dropout.c: "
    REFUSES(AT "dropout_must_fit: a dropout rate of -0.1: from 0 to 1 is "
               "needed",
            dropout_must_fit(-0.1));
    REFUSES(AT "dropout_must_fit: a dropout rate of nan: from 0 to 1 is "
               "needed",
            dropout_must_fit(NAN));
    REFUSES(NULL, dropout_must_fit(1.5));
    REFUSES(NULL, dropout_must_fit(-5e-324));
    REFUSES(NULL, dropout_must_fit(1 + 0x1p-52));
    REFUSES(NULL, dropout_must_fit(-INFINITY));
    REFUSES(NULL, dropout_must_fit(INFINITY));
    REFUSES(NULL, dropout_mask(&r, 20, 1, 2, x));
    REFUSES(NULL, dropout_apply(-1, 1, 2, weights, weights, x));
    REFUSES(NULL, dropout_mask_mcg31(&r, NAN, 1, 2, x));
    REFUSES(NULL, mean_row_sum(&r, -0.25, 1, 2, 3, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, 1.25, 1, 2, 3, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, NAN, 1, 2, 3, weights, mean));
    REFUSES(AT "mean_row_sum: a mean of 0 dropouts: at least 1 is needed",
            mean_row_sum(&r, 0.5, 1, 2, 0, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, 0.5, 1, 2, -1, weights, mean));
}

int main(void)
{
    TAP(good_rates, "dropout_must_fit: accepts 0, 1 and between");
    TAP(lots_test, "dropout_mask: ten seeds, nine rates, and what is next");
    TAP(sizes_test, "dropout_mask: ten seeds, sizes from 1 to 10,000");
    TAP(rows_test, "dropout_mask: row by row");
    TAP(near_test, "dropout_mask: lots at the threshold");
    TAP(without_generator, "dropout_mask: no generator where nothing is "
                           "drawn");
    SETS("dropout_apply", apply_test, RATES, ODD);
    TAP(odd_mask, "dropout_apply: all but 0 keeps");
    TAP(module_test, "dropout_apply: as nn.Dropout on a table of ones");
    TAP(mean_test, "dropout_apply: the mean stays");
    TAP(mcg31_test, "dropout_mask_mcg31: the published lots");
    TAP(mcg31_sum, "dropout_mask_mcg31: the published sum");
    TAP(mcg31_near, "dropout_mask_mcg31: lots at the threshold");
    TAP(mcg31_draws, "dropout_mask_mcg31: what it draws");
    SETS("mean_row_sum", sums_test, "sums_5", "sums_1", "sums_10",
         "sums_once", "sums_often");
    refusals();
    return tap_done();
}
