/*
## Appendix D, MKL's dropout {#header-mkl}
*/

#pragma once

#include "attention/B_random.h"

/* As dropout_mask, but drawn from Intel MKL's generator MCG31, which begins
 * with one draw of r. PyTorch up to 2.6, on Intel's processors.
 * MKL: vslNewStream with VSL_BRNG_MCG31, and viRngBernoulli, except for a p
 * that falls on a draw halfway between two floats, where MKL's own answer
 * depends on the processor. */
void dropout_mask_mcg31(Random *r, double p, int n, int m,
                        float mask[n][m]);
