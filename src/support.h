/*
## What every chapter uses: `support.h` {#header-support}

The C library, and how a program begins and ends, refuses, reads its
arguments, asks for memory, prints and draws.
*/

#pragma once

#if defined __FAST_MATH__ || __FINITE_MATH_ONLY__ + 0
#error "-ffast-math knows no infinity, by which masks hide keys: omit it"
#endif

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/refuse.h"
#include "support/program.h"
#include "support/argument.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/figure.h"
