/*
## What was measured: `measured.c` {#header-measured}

`make bench` measures this book's functions beside others'. One run is kept
in `src/data/measured.tsv`, so that pages can show it, and one of fewer
cases in `src/data/batches.tsv`. A program reads a file when it first asks
for a number.
*/

#pragma once

/* What was measured with so many threads, or for 0 with the most: "ms";
 * "GFLOP/s", billions of floating-point operations a second; "GB/s",
 * billions of bytes; "fraction", of what the machine did "at most" in the
 * same turns; "error", the largest difference from float64; "MB", millions
 * of bytes in use beside inputs and outputs. NaN where one does not apply.
 * `what` is such as "1x12x1024x64 causal": texts, heads, tokens, d; library
 * is "attention-in-c", "pytorch", "onnxruntime", ... The machine's own
 * limits are "peak" by "any", its widest instruction set, or by "AVX-512",
 * "AVX2" or "plain"; and "read" by "memory". Refuses what was not
 * measured, and a file that is not such a table. */
float measured(const char *quantity, const char *what, const char *library,
               int threads);

/* Asks this file from now on, and no longer src/data/measured.tsv. The path
 * must stay. */
void measured_in(const char *path);

/* The machine on which it was measured. */
const char *measured_on(void);
