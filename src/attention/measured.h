/*
## What was measured: `measured.c` {#header-measured}

`make bench` measures this book's functions beside others'. One run is kept
in `src/measured.h`, so that pages can show it.
*/

#pragma once

/* How long something took, in milliseconds, and what that is in billions of
 * floating-point operations or of bytes a second, as a fraction of what the
 * machine did "at most" in the same turns; the largest difference from
 * float64; and millions of bytes in use beside inputs and outputs. NaN
 * where it does not apply. */
typedef struct {
    const char *what; /* "1x12x1024x64 causal": texts, heads, tokens, d */
    const char
        *library; /* "attention-in-c", "pytorch", "onnxruntime", ... */
    int threads;
    float ms, gflops, gbs, mb, fraction, error;
} Measured;

/* What was measured with so many threads, or for 0 with the most. The
 * machine's own limits are "peak" by "any", its widest instruction set, or
 * by "AVX-512", "AVX2" or "plain"; and "read" by "memory". Refuses what was
 * not measured. */
const Measured *measured(const char *what, const char *library,
                         int threads);

/* The machine on which it was, the day, and the libraries' versions. */
extern const char measured_on[], measured_at[], measured_with[];
