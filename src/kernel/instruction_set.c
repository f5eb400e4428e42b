/* The kernel, compiled once more for an instruction set: chapter 15, and
 * what src/kernel makes of it, in one piece, of which others see one
 * Kernel. The Makefile compiles it for each set with -DSET=avx2, say, and
 * the compiler's flag for that set. */
#include "kernel/instruction_set.h"

#include "../../chapters/15_kernel.c"
#include "attend.c"
#include "backward.c"
#include "cache.c"

const Kernel OF_SET(kernel) = {
    OF_SET(NAME),         LANES,          attend_fast, attend_fast_backward,
    kv_cache_attend_fast, matmul_strided, exp2_fast,   exp2_all};
