/* Chapter 10 against PyTorch: golden/10_dropout, to the last bit. */
#define CHAPTER "10_dropout"
#include "streams.h"
#include "attention/10_dropout.h"

static void masks_test(void)
{
    const Tensor *masks = golden("lots", "masks");
    const float *next = golden_floats("lots", "following");
    const int rates = dim("all", "rates", 0);
    const double *rate = golden_doubles("all", "rates");
    const int64_t *seed = golden_integers("all", "seeds");
    float *mask = guarded("mask", tensor_entry(masks, 0).count);
    for (int i = 0; i < masks->shape[0]; i++) {
        const Tensor due = tensor_entry(masks, i);
        const double p = rate[i % rates];
        Random r = random_seeded((uint64_t)seed[i / rates]);
        next_case();
        given("r: seed %" PRId64 ", p = %.17g", seed[i / rates], p);
        dropout_mask(&r, p, due.shape[0], due.shape[1], (void *)mask);
        expect_close("mask", mask, &due, EXACTLY);
        expect_equal("drawn next", random_float(&r), next[i]);
    }
}

static void no_draws(void)
{
    const float due[2][6] = {{1, 1, 1, 1, 1, 1}, {0}};
    float mask[2][3];
    for (int p = 0; p <= 1; p++) {
        next_case();
        given("r = NULL, p = %d", p);
        dropout_mask(NULL, p, 2, 3, mask);
        expect_table("mask", 2, 3, mask, due[p], EXACTLY);
    }
}

static void drop_a_tenth(Random *r, int n, float mask[n])
{
    dropout_mask(r, 0.1, 1, n, (void *)mask);
}

/* As == has it, but -0 is not 0. The sign of NaN is the machine's own. */
static void apply_test(const char *set)
{
    const int n = dim(set, "x", 0), m = dim(set, "x", 1);
    const float *right = golden_floats(set, "dropped");
    float *y = due_as(set, "dropped", "y", EXACTLY);
    dropout_apply(input_number(set, "rate", "p"), n, m, input(set, "mask"),
                  input(set, "x"), (void *)y);
    for (int k = 0; k < n * m; k++)
        expect_true(tap_words("the sign of y[%d][%d]", k / m, k % m),
                    isnan(right[k]) || signbit(y[k]) == signbit(right[k]));
}

static void odd_mask(void)
{
    const float mask[1][10] = {
        {1, 0, -0.0f, 0.5f, -1, 2, 1e-45f, INFINITY, -INFINITY, NAN}};
    float x[1][10], y[1][10];
    tap_fill(10, x[0], 1, 2);
    given("p = 0.75");
    given_array("mask", mask, 1, 10);
    given_array("x", x, 1, 10);
    dropout_apply(0.75, 1, 10, mask, x, y);
    for (int j = 0; j < 10; j++)
        x[0][j] = j == 1 || j == 2 ? 0 : 4 * x[0][j];
    expect_table("y", 1, 10, y, x, EXACTLY);
}

/* Mask and multiplication together, as nn.Dropout does both. */
static void module_test(const char *answer, double p)
{
    float(*mask)[6] = guarded("mask", 36);
    Random r = random_seeded(123);
    dropout_mask(&r, p, 6, 6, mask);
    given("p = %g", p);
    given_array("mask", *mask, 6, 6);
    dropout_apply(p, 6, 6, mask, input("ones", "x"),
                  due_as("ones", answer, "y", EXACTLY));
}

static void sums_test(const char *set)
{
    Random r = random_seeded(61);
    double got[3] = {unset, unset, unset};
    given("r: random_seeded(61)");
    mean_row_sum(&r, input_number(set, "rate", "p"), SHAPE(set, "weights"),
                 (int)input_number(set, "draws", "draws"),
                 input(set, "weights"), got);
    for (int k = 0; k < 3; k++)
        expect_near(tap_words("mean[%d]", k), got[k],
                    golden_doubles(set, "mean")[k], 1e-6, 0);
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
    REFUSES_SUCH("a rate of 1.25",
                 mean_row_sum(r, 1.25, 1, 2, 3, weights, mean));
    for (int n = -1; n <= 0; n++)
        REFUSES_SUCH(tap_words("%d dropouts", n),
                     mean_row_sum(r, 0.5, 1, 2, n, weights, mean));
}

int main(void)
{
    TAP("dropout_mask: ten seeds, nine rates, and what is next",
        masks_test());
    TAP("dropout_mask: ten seeds, sizes from 1 to 10,000",
        expect_long_streams("lots", drop_a_tenth));
    TAP("dropout_mask: draws at the threshold",
        expect_masks_at_threshold("near", dropout_mask));
    TAP("dropout_mask: no generator where nothing is drawn", no_draws());
    EACH_SET("dropout_apply", "*-mask", apply_test(set));
    TAP("dropout_apply: all but 0 keeps", odd_mask());
    TAP("dropout_apply: nn.Dropout of ones", module_test("dropped", 0.5));
    TAP("dropout_apply: nn.Dropout that drops nothing",
        module_test("evaluated", 0));
    EACH_SET("mean_row_sum", "sums_*-mean", sums_test(set));
    refusals();
    return tap_done();
}
