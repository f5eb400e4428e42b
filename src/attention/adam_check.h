/*
## What Adam refuses: `adam_check.c` {#header-adam-check}
*/

#pragma once

#include "attention/20_optimizers.h"

/* Refuses a step below 1, a rate, an epsilon or a decay below 0, and a
 * beta_1 or beta_2 that is not from 0 to below 1. */
void adam_check(Adam adam, int step);
