/* float16, there and back, beside bfloat16, which chapter 16 teaches: the same
 * rounding to the nearest, and to an even last bit, but with an exponent of
 * five bits, whose end has to be looked after at both sides. The chapter's
 * store_row and load_row use it, and its table of five numbers comes from
 * here; cache.c's widen does the same in lanes. */
#include "attention/float16.h"
#include "support.h"

/* Below 2^-14, float16 has the multiples of 2^-24, and its bits say how many.
 * That is also how far apart floats are from 0.5 to 1. So adding 0.5 rounds
 * to such a multiple: 3 * 2^-24, or what is near it, becomes the third float
 * after 0.5, whose bits are 3 more than those of 0.5. Other numbers are
 * rounded as for bfloat16, once their exponent counts from float16's
 * zero. */
uint16_t to_float16(float x)
{
    const float small = fabsf(x) + 0.5f, half = 0.5f;
    uint32_t bits, units, zero;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&units, &small, sizeof units);
    memcpy(&zero, &half, sizeof zero);
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (isnan(x))
        return (uint16_t)(sign | 0x7e00);
    if (fabsf(x) < 0x1p-14f)
        return (uint16_t)(sign | (units - zero));
    if (fabsf(x) >= 65520)
        return (uint16_t)(sign | 0x7c00);
    bits -= 112u << 23;
    return (uint16_t)(sign | ((bits + 0xfff + (bits >> 13 & 1)) >> 13));
}

/* Fraction and exponent are moved to a float's places, 13 bits up. But a
 * float's exponent has 127 added, and float16's only 15. So 1.5, which is 2^0
 * and half of that, comes with the exponent 15, by which a float means
 * 1.5 * 2^-112. A factor of 2^112 sets that right, also for the multiples of
 * 2^-24. Only where float16's exponent is all ones, as in infinity and NaN,
 * the float's must be made so, too. */
float from_float16(uint16_t bits)
{
    uint32_t wide =
        (uint32_t)(bits & 0x8000) << 16 | (uint32_t)(bits & 0x7fff) << 13;
    float x;
    memcpy(&x, &wide, sizeof x);
    x *= 0x1p112f;
    memcpy(&wide, &x, sizeof wide);
    if ((bits & 0x7c00) == 0x7c00)
        wide |= 0x7f800000;
    memcpy(&x, &wide, sizeof x);
    return x;
}
