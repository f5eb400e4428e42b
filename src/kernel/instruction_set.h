/* What instruction_set.c calls the functions that it compiles once more: in
 * the compilation for AVX2, attend_fast is attend_fast_avx2, and static. So
 * calls among them stay within the set, and other files call the plain ones.
 * Each function of chapter 15, attend.c, backward.c and cache.c that is not
 * static has its two lines here; of one that lacks them, the linker says
 * that it is defined twice. */
#pragma once

#include "attention/kernel.h"
#include "kernel/attend.h"
#include "kernel/lanes.h"

#define JOINED(name, set) name##_##set
#define JOIN(name, set) JOINED(name, set)
#define OF_SET(name) JOIN(name, SET)

/* What kernel_named knows the sets by. */
#define NAME_avx2 "AVX2"
#define NAME_avx512 "AVX-512"

/* After a static declaration, a definition without `static` is static. */
#define STATIC(function)                                                   \
    static __attribute__((unused)) __typeof__(function) OF_SET(function)

/* chapters/15_kernel.c */
STATIC(matmul_ordered);
STATIC(matmul_lanes);
STATIC(matmul_strided);
STATIC(matmul_fast);
STATIC(exp2_fast);
STATIC(exp2_all);
STATIC(softmax_lanes);
STATIC(attend_tiles);
static __attribute__((unused)) int OF_SET(main)(int argc, char *argv[]);
/* attend.c, backward.c, cache.c */
STATIC(attend_fast);
STATIC(attend_sums);
STATIC(attend_fast_backward);
STATIC(kv_cache_attend_fast);

#define matmul_ordered OF_SET(matmul_ordered)
#define matmul_lanes OF_SET(matmul_lanes)
#define matmul_strided OF_SET(matmul_strided)
#define matmul_fast OF_SET(matmul_fast)
#define exp2_fast OF_SET(exp2_fast)
#define exp2_all OF_SET(exp2_all)
#define softmax_lanes OF_SET(softmax_lanes)
#define attend_tiles OF_SET(attend_tiles)
#define main OF_SET(main)
#define attend_fast OF_SET(attend_fast)
#define attend_sums OF_SET(attend_sums)
#define attend_fast_backward OF_SET(attend_fast_backward)
#define kv_cache_attend_fast OF_SET(kv_cache_attend_fast)
