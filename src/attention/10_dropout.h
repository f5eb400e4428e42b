/*
## Chapter 10, dropout {#header-dropout}
*/

#pragma once

#include "attention/B_random.h"

/* Refuses a dropout rate that is not from 0 to 1, and NaN. PyTorch's
 * F.dropout refuses the same. */
void dropout_rate_check(double p);

/* Which entries a dropout of rate p keeps (1) and drops (0), drawn row by
 * row. Draws nothing if p is 0 or 1; r may be NULL where nothing is drawn.
 * Refuses a rate that is not from 0 to 1. PyTorch: mask.bernoulli_(1 - p),
 * to the last bit, except version 2.6 and before on Intel's processors. */
void dropout_mask(Random *r, double p, int n, int m, float mask[n][m]);

/* Inverted dropout: x times 1 / (1 - p) where the mask is not 0, and times
 * 0 elsewhere, so that infinity becomes NaN. Refuses a rate that is not
 * from 0 to 1.
 * PyTorch: F.dropout(x, p), to the last bit. Srivastava et al. 2014. */
void dropout_apply(double p, int n, int m, const float mask[n][m],
                   const float x[n][m], float y[n][m]);

/* The mean of each row's sum over many dropouts of a table of weights, each
 * with a mask of its own, drawn one after the other. Refuses a rate that is
 * not from 0 to 1, and draws < 1.
 * PyTorch: the mean of F.dropout(weights, p).sum(dim=-1). */
void mean_row_sum(Random *r, double p, int n, int m, int draws,
                  const float weights[n][m], double mean[n]);
