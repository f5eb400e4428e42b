/* The kernels that are here, for tests that try each. */
#pragma once

#include "tap.h"
#include "attention/kernel.h"

/* The best first. Which of them are here, and run, the library knows. */
static const char *const kernel_name[3] = {"AVX-512", "AVX2", "plain"};

/* The plain one, and those that are here after another, the best last.
 * None, once something is wrong: so what is told is the same on all
 * machines. */
static inline const Kernel *after(const Kernel *last)
{
    for (int k = 2; k >= 0 && !tap_told->failed; k--) {
        const Kernel *kernel = kernel_named(kernel_name[k]);
        if (kernel && !last)
            return kernel;
        if (kernel == last)
            last = NULL;
    }
    return NULL;
}
