/* Appendix D against Intel's MKL: golden/D_mkl, to the last bit. */
#define CHAPTER "D_mkl"
#include "streams.h"
#include "attention/D_mkl.h"

/* A generator whose next draw is x: the shifts and masks that it ends with,
 * undone. What a shift moves by some bits, it gets right in as many more
 * each time that it is repeated. */
static Random about_to_draw(uint32_t x)
{
    Random r = random_seeded(0);
    x ^= x >> 18;
    x ^= (x << 15) & 0xefc60000u;
    uint32_t y = x;
    for (int k = 0; k < 4; k++)
        y = x ^ ((y << 7) & 0x9d2c5680u);
    uint32_t z = y;
    for (int k = 0; k < 2; k++)
        z = y ^ (z >> 11);
    r.state[0] = z;
    r.next = 0;
    return r;
}

static void masks_test(void)
{
    const Tensor *masks = golden("lots", "masks");
    const int n = masks->shape[1], m = masks->shape[2];
    const int rates = dim("all", "rates", 0);
    const double *rate = golden_doubles("all", "rates");
    const int64_t *seed = golden_integers("all", "seeds");
    const int64_t *sum = golden_integers("lots", "checksums");
    float *got = due("lots", "masks", EXACTLY);
    float *next = due("lots", "following", EXACTLY);
    float *many = guarded("many", 18000);
    for (int i = 0; i < masks->shape[0]; i++) {
        const double p = rate[i % rates];
        Random r = random_seeded((uint64_t)seed[i / rates]), again = r;
        dropout_mask_mcg31(&r, p, n, m, (void *)(got + i * n * m));
        next[i / rates] = random_float(&r);
        dropout_mask_mcg31(&again, p, 120, 150, (void *)many);
        expect_checksum("18,000 draws", 18000, many, sum[i]);
    }
}

/* First draws that are 0 and other multiples of 2^31 - 1, and others. */
static void first_test(void)
{
    const int64_t *draw = golden_integers("first", "draws");
    const int n = dim("first", "masks", 1);
    float *got = due("first", "masks", EXACTLY);
    for (int i = 0; i < dim("first", "masks", 0); i++) {
        Random r = about_to_draw((uint32_t)draw[i]), same = r;
        expect_integer("the next draw", random_u32(&same), draw[i]);
        dropout_mask_mcg31(&r, 0.5, 1, n, (void *)(got + i * n));
    }
}

int main(void)
{
    float mask[1][2];
    TAP("dropout_mask_mcg31: ten seeds, five rates, 900,000 draws",
        masks_test());
    TAP("dropout_mask_mcg31: 6 by 6, a half",
        dropout_mask_mcg31((Random[]){random_seeded(123)}, 0.5, 6, 6,
                           due("reader", "mask", EXACTLY)));
    EACH_SET("dropout_mask_mcg31", "shape_*-mask",
             dropout_mask_mcg31((Random[]){random_seeded(42)}, 0.3,
                                SHAPE(set, "mask"),
                                due(set, "mask", EXACTLY)));
    TAP("dropout_mask_mcg31: what MCG31 begins with", first_test());
    TAP("dropout_mask_mcg31: draws at the threshold",
        expect_masks_at_threshold("near", dropout_mask_mcg31));
    TAP("dropout_mask_mcg31: no generator where nothing is drawn",
        dropout_mask_mcg31(NULL, 0, 1, 2, mask),
        expect_equal("kept", mask[0][1], 1),
        dropout_mask_mcg31(NULL, 1, 1, 2, mask),
        expect_equal("dropped", mask[0][1], 0));
    REFUSES(NULL, dropout_mask_mcg31(some_draws(), NAN, 1, 2, mask));
    REFUSES(NULL, dropout_mask_mcg31(some_draws(), -0.5, 1, 2, mask));
    return tap_done();
}
