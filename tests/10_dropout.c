/* Chapter 10 against PyTorch: golden/10_dropout, to the last bit. */
#define CHAPTER "10_dropout"
#include "streams.h"
#include "traces.h"

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
    float mask[2][3];
    for (int p = 0; p <= 1; p++) {
        dropout_mask(NULL, p, 2, 3, mask);
        same("lot", 6, (void *)mask, expect[p]);
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
            same_bits(tap_words("checksum of the first %d", (int)size[k]),
                      checksum((size_t)size[k], mask),
                      tensor_integers(sums)[i * sizes + k]);
        }
}

/* As == has it, but -0 is not 0. The sign of NaN is the machine's own. */
static void apply_test(void)
{
    const size_t count = part("x")->count;
    const float *expect = input("dropped");
    float *y = result("x");
    dropout_apply(*doubles("rate"), dim("x", 0), dim("x", 1), input("mask"),
                  input("x"), (void *)y);
    agrees("dropped", y, 0, 0);
    for (size_t k = 0; k < count; k++)
        tap_true("the sign of an entry",
                 isnan(expect[k]) || signbit(y[k]) == signbit(expect[k]));
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
    const double rate[2] = {0.5, 0};
    float *mask = room(36), *y = room(36);
    Random r = seeded(123);
    for (int i = 0; i < 2; i++) {
        dropout_mask(&r, rate[i], 6, 6, (void *)mask);
        dropout_apply(rate[i], 6, 6, (void *)mask, input("x"), (void *)y);
        agrees(i == 0 ? "dropped" : "evaluated", y, 0, 0);
    }
}

static void sums_test(void)
{
    const int n = dim("weights", 0);
    Random r = seeded(61);
    double got[3] = {unset, unset, unset};
    mean_row_sum(&r, *doubles("rate"), n, dim("weights", 1),
                 (int)*integers("draws"), input("weights"), got);
    tap_compare("mean", part("mean"), 'd', got, 1e-6, 0);
}

static void refusals(void)
{
    const float weights[1][2] = {{0.25f, 0.75f}};
    float x[1][2];
    double mean[1];
    Random r = seeded(1);
    REFUSES("10_dropout.c: dropout_must_fit: a dropout rate of -0.1: from "
            "0 to 1 is needed",
            dropout_must_fit(-0.1));
    REFUSES(NULL, dropout_must_fit(NAN));
    REFUSES(NULL, dropout_must_fit(-5e-324));
    REFUSES(NULL, dropout_must_fit(1 + 0x1p-52));
    REFUSES(NULL, dropout_mask(&r, 20, 1, 2, x));
    REFUSES(NULL, dropout_apply(-1, 1, 2, weights, weights, x));
    REFUSES(NULL, mean_row_sum(&r, -0.25, 1, 2, 3, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, 1.25, 1, 2, 3, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, 0.5, 1, 2, 0, weights, mean));
    REFUSES(NULL, mean_row_sum(&r, 0.5, 1, 2, -1, weights, mean));
}

int main(void)
{
    TAP(lots_test, "dropout_mask: ten seeds, nine rates, and what is next");
    TAP(sizes_test, "dropout_mask: ten seeds, sizes from 1 to 10,000");
    TAP(near_test, "dropout_mask: lots at the threshold");
    TAP(without_generator, "dropout_mask: no generator where nothing is "
                           "drawn");
    EACH("dropout_apply", apply_test, "*-mask");
    TAP(odd_mask, "dropout_apply: all but 0 keeps");
    TAP(module_test, "dropout_apply: as nn.Dropout on a table of ones");
    EACH("mean_row_sum", sums_test, "sums_*-mean");
    refusals();
    return tap_done();
}
