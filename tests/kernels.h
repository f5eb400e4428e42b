/* The kernels that are here, for tests that try each. */
#pragma once

#include "tap.h"
#include "attention/kernel.h"

/* for (const Kernel *k = NULL; (k = next_kernel(k));): the plain one, and
 * those that are compiled and run on this processor, the best last. */
static inline const Kernel *next_kernel(const Kernel *last)
{
    static const char *const name[3] = {"plain", "AVX2", "AVX-512"};
    int k = 0;
    while (last && strcmp(name[k++], last->name) != 0)
        ;
    while (k < 3 && !kernel_named(name[k]))
        k++;
    return k < 3 ? kernel_named(name[k]) : NULL;
}
