/* Chapter 10 against PyTorch: golden/10_dropout, to the last bit. */
#define CHAPTER "10_dropout"
#include "streams.h"
#include "traces.h"
#include "attention/10_dropout.h"

/* A generator with this seed, and the rate, as given to a function. */
static Random given_seed(int64_t seed, double p)
{
    next_case();
    give("r: random_seeded(%" PRId64 ")", seed);
    give("p = %.*g", strtod(tap_words("%g", p), NULL) == p ? 6 : 17, p);
    return seeded(seed);
}

/* Ten seeds, nine rates: the masks, and the number that is drawn next. */
static void masks_test(void)
{
    const Tensor *masks = golden("10_dropout/lots-masks");
    const float *next = tensor_floats(golden("10_dropout/lots-following"));
    int rates = golden("10_dropout/all-rates")->shape[0];
    const double *rate = tensor_doubles(golden("10_dropout/all-rates"));
    const int64_t *seed = all("seeds", &(int){0});
    float *mask = room_for("mask", entry_of(masks, 0).count);
    for (int i = 0; i < masks->shape[0]; i++) {
        const Tensor due = entry_of(masks, i);
        Random r = given_seed(seed[i / rates], rate[i % rates]);
        dropout_mask(&r, rate[i % rates], due.shape[0], due.shape[1],
                     (void *)mask);
        tap_close("mask", &due, mask, 0, 0);
        tap_near("drawn next", random_float(&r), next[i], 0, 0);
    }
}

static void sizes_test(void)
{
    const int64_t *sum =
        tensor_integers(golden("10_dropout/lots-checksums"));
    int seeds, sizes;
    const int64_t *seed = all("seeds", &seeds);
    const int64_t *size = all("sizes", &sizes);
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < sizes; k++) {
            const int m = (int)size[k];
            Random r = given_seed(seed[i], 0.1);
            float *mask = room_for("mask", (size_t)m);
            give("n = 1, m = %d", m);
            dropout_mask(&r, 0.1, 1, m, (void *)mask);
            same_sum("mask", (size_t)m, mask, *sum++);
        }
}

/* As == has it, but -0 is not 0. The sign of NaN is the machine's own. */
static void apply_test(void)
{
    const float *expect = floats(part("dropped"));
    const int m = dim("x", 1), count = dim("x", 0) * m;
    float *y = room_for("y", (size_t)count);
    dropout_apply(number("p", "rate"), dim("x", 0), m, input("mask"),
                  input("x"), (void *)y);
    tap_close("y", part("dropped"), y, 0, 0);
    for (int k = 0; k < count; k++)
        tap_true(
            tap_words("y[%d][%d] has the sign that is due", k / m, k % m),
            isnan(expect[k]) || signbit(y[k]) == signbit(expect[k]));
}

/* All but 0 keeps. */
static void odd_mask(void)
{
    const float mask[1][10] = {
        {1, 0, -0.0f, 0.5f, -1, 2, 1e-45f, INFINITY, -INFINITY, NAN}};
    float x[1][10], y[1][10];
    tap_fill(10, x[0], 1, 2);
    give("p = 0.75");
    give_table("mask", 1, 10, mask);
    give_table("x", 1, 10, x);
    dropout_apply(0.75, 1, 10, mask, x, y);
    for (int j = 0; j < 10; j++)
        x[0][j] = j == 1 || j == 2 ? 0 : 4 * x[0][j];
    same_table("y", 1, 10, y, x);
}

/* Mask and multiplication together, as nn.Dropout does both. */
static void module_test(void)
{
    const double rate[2] = {0.5, 0};
    float *mask = room(36), *y = room(36);
    Random r = seeded(123);
    for (int i = 0; i < 2; i++) {
        next_case();
        dropout_mask(&r, rate[i], 6, 6, (void *)mask);
        give("p = %g", rate[i]);
        give_table("mask", 6, 6, mask);
        dropout_apply(rate[i], 6, 6, (void *)mask, input("x"), (void *)y);
        tap_close("y", part(i == 0 ? "dropped" : "evaluated"), y, EXACTLY);
    }
}

static void sums_test(void)
{
    Random r = seeded(61);
    double got[3] = {unset, unset, unset};
    give("r: random_seeded(61)");
    mean_row_sum(&r, number("p", "rate"), dim("weights", 0),
                 dim("weights", 1), (int)number("draws", "draws"),
                 input("weights"), got);
    tap_compare("mean", part("mean"), 'd', got, 1e-6, 0);
}

static void refusals(void)
{
    const float weights[1][2] = {{0.25f, 0.75f}};
    float x[1][2];
    double mean[1];
    Random *const r = some_draws();
    REFUSES(
        "10_dropout.c: dropout_rate_check: a dropout rate of -0.1: from "
        "0 to 1 is needed",
        dropout_rate_check(-0.1));
    REFUSES(NULL, dropout_rate_check(NAN));
    REFUSES(NULL, dropout_rate_check(-5e-324));
    REFUSES(NULL, dropout_rate_check(1 + 0x1p-52));
    REFUSES_SUCH("a rate of 20", dropout_mask(r, 20, 1, 2, x));
    REFUSES_SUCH("a rate of -1",
                 dropout_apply(-1, 1, 2, weights, weights, x));
    for (int i = 0; i < 2; i++) {
        const double p = i ? 1.25 : -0.25;
        REFUSES_SUCH(tap_words("a rate of %g", p),
                     mean_row_sum(r, p, 1, 2, 3, weights, mean));
        REFUSES_SUCH(tap_words("%d dropouts", -i),
                     mean_row_sum(r, 0.5, 1, 2, -i, weights, mean));
    }
}

int main(void)
{
    TAP(masks_test,
        "dropout_mask: ten seeds, nine rates, and what is next");
    TAP(sizes_test, "dropout_mask: ten seeds, sizes from 1 to 10,000");
    EACH_SET("dropout_mask: draws at the threshold", "near-masks",
             each_near_rate(dropout_mask));
    TAP_OF("dropout_mask: no generator where nothing is drawn",
           drop_without_generator(dropout_mask));
    EACH("dropout_apply", apply_test, "*-mask");
    TAP(odd_mask, "dropout_apply: all but 0 keeps");
    SETS("dropout_apply: nn.Dropout of a table", module_test, "ones");
    EACH("mean_row_sum", sums_test, "sums_*-mean");
    refusals();
    return tap_done();
}
