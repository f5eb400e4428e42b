/*
## Numbers in float16: `float16.c` {#header-float16}
*/

#pragma once

#include <stdint.h>

/* The nearest number in 16 bits, as to_bfloat16 finds it.
 * PyTorch: x.half(), to the last bit, but for the bits of a NaN, which are
 * not always the same there. */
uint16_t to_float16(float x);

/* The number that these 16 bits are; but where a program has told its
 * processor to take floats below 2^-126 for 0, one below 2^-14 is 0.
 * PyTorch: bits.view(torch.float16).float(). */
float from_float16(uint16_t bits);
