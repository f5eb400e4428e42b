/*
## The tables of a trace: `trace.c` {#header-trace}
*/

#pragma once

#include "attention/07_self_attention.h"

/* Makes a trace with the sizes of another, its tables filled with 0; frees
 * it. `Trace sizes = {.n = 6, .m = 6}` writes down a struct with some of
 * its fields; the others are 0. Refuses n, m, n_heads, d_k or d_v below 1,
 * a d_out or texts below 0, texts with more tokens than an int can count,
 * and sizes whose tables do not fit. */
void trace_init(Trace *t, const Trace *sizes);
void trace_free(Trace *t);

/* Makes a trace of an attention, for n tokens that ask m tokens. Refuses n
 * or m below 1, and tables that do not fit. */
void trace_init_for(Trace *t, const Attention *a, int n, int m);

/* Makes a trace for so many texts of n tokens each, without tables of
 * scores. Refuses texts below 1, and what trace_init refuses. */
void trace_init_texts(Trace *t, const Attention *a, int texts, int n);

/* Refuses n_heads, d_k or d_v below 1, and more columns of all heads than
 * an int can count. */
void heads_check(int n_heads, int d_k, int d_v);

/* Refuses a trace of other sizes, one whose `texts` is not 0, and one
 * without memory. */
void trace_check(const Trace *t, int n, int m, int n_heads, int d_k,
                 int d_v, int d_out);
