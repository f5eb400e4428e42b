/*
# SIMD and threads: the same, fast {#kernel}

![The way from words to attention. This chapter makes the shaded steps
fast](pipeline.svg){#fig-kernel-pipeline}

`flash_forward` needs little memory. Does it need little time? Work of this
kind is counted in floating-point operations, **FLOPs**. A score is a sum of
$d_k$ products, each a multiplication and an addition, and mixing a value
takes as much for each of its $d_v$ entries. So a head with $n$ queries and
$m$ keys takes $2nmd_k + 2nmd_v$ of them, and how many a program does in a
second tells how well it uses its machine.
*/

#include "attention/15_kernel.h"
#include "attention/01_dot_product.h"
#include "attention/05_tokens.h"
#include "attention/14_flash.h"
#include "attention/measured.h"
#include "kernel/lanes.h"
#include "support/machine.h"
#include "support.h"

/* Billions of operations a second, on one thread. */
static float show_speed(const char *what, const char *library)
{
    return measured("GFLOP/s", what, library, 1);
}

static void show_beginning(void)
{
    printf("measured on %s\n", measured_on);
    print_vector(
        "GFLOP/s: attention, flash_forward, at most", 3,
        (float[]){show_speed("step attention 1024x64", "attention"),
                  show_speed("step attention 1024x64", "flash_forward"),
                  show_speed("peak", "any")});
}

/*
``` output
measured on AMD EPYC, 2 processors
GFLOP/s: attention, flash_forward, at most (3)
[  2.5043,   2.2200, 114.3800]
```

A GFLOP/s is a billion of them in a second, here on one core, with 1,024
queries and keys of 64 entries. These figures are kept with the book, so
that a program prints the same wherever it runs. `make bench` measured them,
and measures *your* machine.

The last figure is the **peak**, what the core can do at most, measured by a
loop that does nothing but multiply and add. The first two are less than a
twentieth of it, and `flash_forward` is even the slower one. Both take their
scores by `dot`, whose additions wait for each other; as long as that takes
the time, less memory does not help.

This chapter goes most of the way, in C and without assembler. A function in
which a program spends nearly all of its time is called a **kernel**. Ours
is made of this page, and stands in `src/kernel`.

## What a core can do {#kernel-core}

A processor has several **cores**, each of which runs a program of its own.
A core computes in **registers**, of which there are 16 or 32. Each holds
not one float but a vector of 4, 8 or 16, its **lanes**, and an instruction
does the same with all lanes at once. One instruction, the **fused
multiply-add**, takes three vectors $a$, $b$ and $c$ and makes $ab + c$ of
them. That takes about four steps of the processor's clock. Meanwhile others
can begin, one or two with every step, unless they wait for the result. So
the peak is the number of lanes, times 2 operations, times those that begin
in a step, times the steps in a second. Where two begin with each step and
take four steps, eight sums must be under way.

A core is fast, then, if all lanes have work, if there are always sums to go
on with that do not wait for each other, and if what is multiplied is in
registers already.

## In which order {#kernel-order}

`dot` has one sum, and each addition waits for the one before. The compiler
may not change that: sums of floats in another order have other last digits.
But a product of matrices has many sums, and nothing says that one must be
finished before the next begins.

**Exercise 15.1** (★, 2 points): `matmul_ordered`. What `matmul` does, in
another order: take the entries of a row of `a` one by one, and add to the
whole row of the result what each of them contributes. Then all that is read
and written lies side by side.

::: hint
`a[i][k]` belongs to row `k` of `b`. Which loop has to be the innermost?
:::

::: hint
The result is a sum: it has to begin with zeros.
:::

::: done
Not one multiplication less, and yet faster: it counts in which order memory
is read.
:::
*/

void matmul_ordered(int n, int m, int d, const float a[n][d],
                    const float b[d][m], float c[n][m])
{
    memset(c, 0, (size_t)n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < d; k++)
            for (int j = 0; j < m; j++)
                c[i][j] += a[i][k] * b[k][j];
}

/*
The sums along `j` do not wait for each other, and the compiler puts them
into lanes by itself. But for each multiply-add there are two loads and a
store, since a row of `c` does not fit into the registers.

## A tile that stays in registers {#kernel-tile}

So compute a small part of the result at a time, as many rows and lanes as
there are registers, through all of `k`, before the next part. The sums stay
where they are, a vector of `b` is loaded once for all rows, and an entry of
`a` once for all lanes. Such a part is called a register tile. It is written
with vectors as types, which gcc and clang know beyond the standard:

::: {.header of="Vector Lanes"}
:::

`LANES` is how many floats a register has: 4, 8 or 16. `+` and `*` work on a
`Vector` lane by lane, and a float beside one stands for a vector of equals.
A `union` is one piece of memory under two names: `part` is `Lanes` as
vectors, to be multiplied, and `at` as single floats, `QUERIES` of them.

With 16 registers of 8 lanes, three hold a row of `b` (`VECTORS`), one an
entry of `a`, and twelve hold four rows of sums (`TILE_ROWS`). With 32 of 16
lanes, two hold a row of `b`, and there are twelve rows of sums.

What is to be in the lanes? Not the entries of a query, which would have to
be added up across. But *queries* can lie side by side, `QUERIES` of them,
one to a lane. All of attention's products then have the queries as their
columns:

$$\underset{m \times n}{S^\top} = \underset{m \times d_k}{K}\,
  \underset{d_k \times n}{Q^\top} \qquad
  \underset{d_v \times n}{C^\top} = \underset{d_v \times m}{V^\top}\,
  \underset{m \times n}{W^\top}$$

| product | `a[i][k]` | `b[k]` in lanes | `c[i]` in lanes |
|:--------|:----------------|:-----------------|:------------------|
| scores | entry `k`, key `i` | entry `k` of queries | scores, key `i` |
| mixtures | entry `i`, value `k` | weights, key `k` | contexts, entry `i` |

Each row of scores belongs to one key and has its scores with all queries of
the tile. So softmax, too, stays within each lane, and the weights lie as
the second product wants them. Only queries and contexts are transposed,
once. Keys are read as they lie. Values are to be read down their columns. A
**stride** is how far it is from one entry to the next, down a column or
along a row. So the table of values is looked at with its two strides
exchanged, and nothing is copied:

::: {.header of="StridedMatrix"}
:::
*/

/* c[i] = factor * c[i] + the sum of a[i][k] * b[k] for all k. */
static INLINE void register_tile(int rows, int vectors, int d,
                                 StridedMatrix a, const Lanes b[d],
                                 const Lanes *factor, Lanes c[rows])
{
    Vector sum[TILE_ROWS][VECTORS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            sum[i][j] =
                factor ? factor->part[j] * c[i].part[j] : (Vector){0};
    for (int k = 0; k < d; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < vectors; j++)
                sum[i][j] += a.at[i * a.row_stride + k * a.column_stride] *
                             b[k].part[j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            c[i].part[j] = sum[i][j];
}

/*
`factor` is for mixtures, which shrink when a larger score is met. `INLINE`
makes the compiler put the body where the function is called. There `rows`
and `vectors` are numbers that it knows, so it writes the loops over them
out, and each `sum[i][j]` becomes a register. What is left over of the rows
is done four at a time, then one by one. (`vectors` is 1 where the last
queries of a text fill only one vector. This page passes `VECTORS`.)
*/

static INLINE void matmul_tiles(int n, int vectors, int d, StridedMatrix a,
                                const Lanes b[d], const Lanes *factor,
                                Lanes c[n])
{
    int i = 0;
    for (; i + TILE_ROWS <= n; i += TILE_ROWS)
        register_tile(TILE_ROWS, vectors, d, from_row(a, i), b, factor,
                      c + i);
    for (; i + 4 <= n; i += 4)
        register_tile(4, vectors, d, from_row(a, i), b, factor, c + i);
    for (; i < n; i++)
        register_tile(1, vectors, d, from_row(a, i), b, factor, c + i);
}

/* APART, as among other code the registers would not suffice. */
APART void matmul_lanes(int n, int vectors, int d, StridedMatrix a,
                        const Lanes b[d], const Lanes *factor, Lanes c[n])
{
    if (vectors == 1)
        matmul_tiles(n, 1, d, a, b, factor, c);
    else
        matmul_tiles(n, VECTORS, d, a, b, factor, c);
}

/*
Any product of two tables can be made of this, plus a third table, `start`.
`QUERIES` columns of `b` are copied into lanes, and zeros where columns are
missing. If the entries of a column lie side by side, `transpose_scaled`
copies them, with rows and columns exchanged and times a factor, here 1; if
not, they are fetched one by one. Then eight register tiles of rows at a
time are computed, and copied out with `start` added. (The line with
`#pragma` shares the loop among several cores, where there is work enough.)
*/

void matmul_strided(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                    StridedMatrix start, float c[n][m])
{
#pragma omp parallel for num_threads(threads_for((double)n *m *d, 0))
    for (int j = 0; j < m; j += QUERIES) {
        const int end = min_int(m, j + QUERIES);
        Lanes *columns = new_aligned((size_t)d, sizeof *columns);
        Lanes sum[8 * TILE_ROWS];
        memset(columns, 0, (size_t)d * sizeof *columns);
        if (b.row_stride == 1)
            transpose_scaled(end - j, d, 1, b.at + j * b.column_stride,
                             b.column_stride, columns[0].at, QUERIES);
        else
            for (int k = 0; k < d; k++)
                for (int l = j; l < end; l++)
                    columns[k].at[l - j] =
                        b.at[k * b.row_stride + l * b.column_stride];
        for (int i = 0; i < n; i++) {
            const int row = i % (8 * TILE_ROWS);
            if (row == 0)
                matmul_lanes(min_int(n - i, 8 * TILE_ROWS), VECTORS, d,
                             from_row(a, i), columns, NULL, sum);
            for (int l = j; l < end; l++)
                c[i][l] = sum[row].at[l - j] +
                          (start.at ? start.at[i * start.row_stride +
                                               l * start.column_stride]
                                    : 0);
        }
        free(columns);
    }
}

/*
**Exercise 15.2** (★, 2 points): `matmul_fast`. What `matmul` does, by
`matmul_strided`.

::: hint
How far is it in a table from an entry to the one below it, and how far to
the one beside it?
:::

::: hint
The product begins with zeros: `{NULL, 0, 0}` counts as a table of them.
:::

::: done
Every product of this book can go this way now; with strides, one kernel
takes tables that lie either way.
:::
*/

void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m])
{
    matmul_strided(n, m, d, (StridedMatrix){a[0], d, 1},
                   (StridedMatrix){b[0], m, 1}, (StridedMatrix){NULL, 0, 0},
                   c);
}

static void show_product(void)
{
    const char *const what = "step product 512x512x512";
    const float x[4] = {show_speed(what, "matmul"),
                        show_speed(what, "matmul_ordered"),
                        show_speed(what, "matmul_strided plain"),
                        show_speed(what, "matmul_strided")};
    print_vector("GFLOP/s: matmul, ordered, fast, with wider registers", 4,
                 x);
}

/*
``` output
GFLOP/s: matmul, ordered, fast, with wider registers (4)
[ 1.0925, 14.7120, 24.6060, 86.5650]
```

The third figure is that of a program that runs on every processor of this
kind. The last is compiled for the widest registers that this one has;
[below](#kernel-sets) is how.

## The exponential {#kernel-exp2}

Each score takes an exponential. The C library's `expf` computes one at a
time. Ours is to work in lanes, without branch or table.

Take powers of 2, since $e^y = 2^{y \log_2 e}$. Split $x = y \log_2 e$ into
the nearest whole number $w$ and a rest $f$ from $-\frac12$ to $\frac12$, so
that $2^x = 2^w 2^f$. For $2.3$ these are 2 and 0.3, and $2^{2.3} = 2^2
\cdot 2^{0.3}$. For $2^f$ a polynomial of degree 5 will do. These numbers,
from the highest power down, make the largest error least: `1.32647261e-3f`,
`9.67150275e-3f`, `5.55072501e-2f`, `2.40222439e-1f`, `6.93147004e-1f`, 1.
And $2^w$ is put together from bits: of a float's 32 bits, the first is its
sign, the next 8 are the exponent of 2 with 127 added, and the last 23 are
the digits behind the point, here all 0.

To split, add $2^{23}$ and half of that, which C writes as `0x1.8p23f`.
Floats from $2^{23}$ to $2^{24}$ have no room behind the point, so the sum
is rounded to a whole number, also for a negative $x$; and taking the same
away again leaves $w$. If 127 more is added, the last bits of the sum are
just those of $w + 127$, and a shift by 23 puts them where the exponent is.

**Exercise 15.3** (★★★, 3 points): `exp2_fast`. $2^x$ for $x$ from $-126$ to
127, off by at most 2 of ten million; 0 from $-127$ down, also for
$-\infty$; between these, 0 or $2^x$. `nan` stays `nan`.

::: hint
With `far` as `0x1.8p23f + 127`, `x + far` is the rounded sum. `memcpy` has
its bits as a `uint32_t`; shifted, they are those of the float $2^w$.
:::

::: hint
Where $x$ is held at $-127$, the exponent's bits are all 0, and so is the
float. A hidden key needs no case of its own.
:::

::: done
No branch and no table: so it runs in all lanes at once, where `expf` takes
one number at a time.
:::
*/

inline float exp2_fast(float x)
{
    const float far = 0x1.8p23f + 127, held = x < -127 ? -127 : x;
    const float whole = held + far, f = held - (whole - far);
    float y = 1.32647261e-3f * f + 9.67150275e-3f, power;
    y = (y * f + 5.55072501e-2f) * f + 2.40222439e-1f;
    y = (y * f + 6.93147004e-1f) * f + 1;
    uint32_t bits;
    memcpy(&bits, &whole, sizeof bits);
    bits <<= 23;
    memcpy(&power, &bits, sizeof power);
    return y * power;
}

void exp2_all(int n, float x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = exp2_fast(x[i]);
}

static float show_nanoseconds(const char *library)
{
    return 1e6f * measured("ms", "step exponential", library, 1);
}

static void show_exponential(void)
{
    float furthest = 0;
    for (float x = -126; x < 127; x += 0.01f) {
        const double right = exp2((double)x);
        furthest = fmaxf(furthest, (float)fabs(exp2_fast(x) / right - 1));
    }
    print_vector(
        "w, f, 2 to the power of each, the product of these", 5,
        (float[]){2, 0.3f, exp2_fast(2), exp2_fast(0.3f), exp2_fast(2.3f)});
    print_vector(
        "nanoseconds: expf, exp2_fast", 2,
        (float[]){show_nanoseconds("expf"), show_nanoseconds("exp2_fast")});
    print_answer("off by less than 3 of 10 million", furthest < 3e-7f);
}

/*
``` output
w, f, 2 to the power of each, the product of these (5)
[2.0000, 0.3000, 4.0000, 1.2311, 4.9246]
nanoseconds: expf, exp2_fast (2)
[3.8233, 0.1450]
off by less than 3 of 10 million: yes
```

## A tile of queries meets a block of keys {#kernel-meet}

The rest is [](#flash), in each lane. Every query of a tile has a lane, and
in its lane the three things of an online softmax: the largest score so far,
the sum, and the mixture. Let the tile meet a block of keys. The first
product makes a row of scores for each key, and softmax goes down the rows:

| row | query 0 | query 1 | what happens in each lane |
|:----------|:--------|:--------|:---------------------------------------|
| `largest` | $a$ | $b$ | rises to the largest score, if that is larger |
| key 0 | $s_0$ | $t_0$ | become $e^{s_0 - a}$ and $e^{t_0 - b}$ |
| key 1 | $s_1$ | $t_1$ | become $e^{s_1 - a}$ and $e^{t_1 - b}$ |
| `sum` | $l$ | $r$ | shrinks as `largest` rises; then all $e$ are added |

Scores are not divided by $\sqrt{d_k}$ here: the queries have been, when
they were put into their lanes.

`softmax_lanes` is `online_softmax_add_block` without the values. It
multiplies the scores by `s`: a scale, here 1, times $\log_2 e$, for the
powers of 2. (The sum is a float. A block's 128 terms are added up by
themselves first, so that small ones are not lost in a large sum.)
*/

static INLINE void softmax_in(int lanes, int cols, float s,
                              Lanes scores[cols], Lanes *largest,
                              Lanes *sum, Lanes *shrink)
{
    Lanes most = *largest, own = {{0}};
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < lanes; i++)
            most.at[i] =
                scores[k].at[i] > most.at[i] ? scores[k].at[i] : most.at[i];
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < lanes; i++) {
            scores[k].at[i] = exp2_fast(s * (scores[k].at[i] - most.at[i]));
            own.at[i] += scores[k].at[i];
        }
    for (int i = 0; i < lanes; i++) {
        shrink->at[i] = exp2_fast(s * (largest->at[i] - most.at[i]));
        sum->at[i] = sum->at[i] * shrink->at[i] + own.at[i];
    }
    *largest = most;
}

void softmax_lanes(int vectors, int cols, float scale, Lanes scores[cols],
                   Lanes *largest, Lanes *sum, Lanes *shrink)
{
    if (vectors == 1)
        softmax_in(LANES, cols, log2_e * scale, scores, largest, sum,
                   shrink);
    else
        softmax_in(QUERIES, cols, log2_e * scale, scores, largest, sum,
                   shrink);
}

/*
The mixture's turn comes with the second product, whose `factor` is
`shrink`. So a tile meets a block of up to 128 keys (`BLOCK`) in three
calls:
*/

static inline void tile_add_block(int cols, int d_k, int d_v,
                                  const float key[cols][d_k],
                                  const float value[cols][d_v],
                                  const Lanes query[d_k], Lanes *largest,
                                  Lanes *sum, Lanes mixture[d_v])
{
    const StridedMatrix keys = {key[0], d_k, 1};
    const StridedMatrix transposed = {value[0], 1, d_v};
    Lanes scores[BLOCK], shrink;
    matmul_lanes(cols, VECTORS, d_k, keys, query, NULL, scores);
    softmax_lanes(VECTORS, cols, 1, scores, largest, sum, &shrink);
    matmul_lanes(d_v, VECTORS, cols, transposed, scores, &shrink, mixture);
}

/*
The six words of *Life is short, eat dessert first* are one tile and one
block. In the end, mixtures are divided by sums:
*/

static void show_tile(void)
{
    Lanes query[3] = {{{0}}}, mixture[3] = {{{0}}}, largest, sum = {{0}};
    float context[6][3], log_sum_exp[6], due[6][3], due_sum[6];
    for (int i = 0; i < QUERIES; i++)
        largest.at[i] = -FLT_MAX;
    transpose_scaled(6, 3, 1 / sqrtf(3), life[0], 3, query[0].at, QUERIES);
    tile_add_block(6, 3, 3, life, life, query, &largest, &sum, mixture);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++)
            context[i][k] = mixture[k].at[i] / sum.at[i];
        log_sum_exp[i] = largest.at[i] + logf(sum.at[i]);
    }
    flash_forward(6, 6, 3, 3, mask_none(), life, life, life, due, due_sum);
    print_matrix("context vectors of Life is short", 6, 3, context);
    print_vector("log-sum-exps", 6, log_sum_exp);
    print_answer("as flash_forward to 1e-6",
                 largest_difference(18, context[0], due[0]) < 1e-6f &&
                     largest_difference(6, log_sum_exp, due_sum) < 1e-6f);
}

/*
``` output
context vectors of Life is short (6, 3)
[[-0.1556,  0.3073, -0.2447],
 [-0.0370,  1.2817,  0.2470],
 [-0.2340,  0.3202, -0.5321],
 [-0.2024,  0.2726,  0.1444],
 [-0.2497,  0.5312,  0.0973],
 [-0.7276,  0.5876, -0.9173]]
log-sum-exps (6)
[1.7545, 2.6783, 1.9413, 1.7477, 1.9558, 2.7141]
as flash_forward to 1e-6: yes
```

For longer texts that is a loop: `attend_tiles`, a
[challenge](#kernel-exercises) at the end.

## Many tiles, threads and processors {#kernel-sets}

`src/kernel/attend.c` makes a library of this page, by its `matmul_lanes`
and `softmax_lanes`. Whoever is after the idea may skip that file:

- `attend_fast` takes many texts and heads, masks, numbers that are added to
  scores, and dropout. These change scores or weights between the calls
  above. Blocks of which a mask hides all are left out, as in
  [](#flash-tiles).
- A block of 128 keys and values with 64 entries is 64 KiB, and fits into a
  core's second, larger cache. So up to 16 tiles meet a block, one after the
  other, while it is there, and the processor is told to fetch the next one.
- Tiles do not wait for each other. So each core can compute its own, as a
  **thread**. Which thread computes a tile changes nothing in it, and so not
  a digit.

*/

static void show_tiles(void)
{
    const char *const what = "step tiles 32768x64";
    print_vector("GFLOP/s: 1 tile a block, 16 tiles, 16 tiles on 2 threads",
                 3,
                 (float[]){show_speed(what, "1 tile"),
                           show_speed(what, "attention-in-c"),
                           measured("GFLOP/s", what, "attention-in-c", 2)});
}

/*
``` output
GFLOP/s: 1 tile a block, 16 tiles, 16 tiles on 2 threads (3)
[ 52.9940,  90.8530, 181.3100]
```

This is one head with 32,768 queries and keys of 64 entries.

Registers are a matter of the **instruction set**, and a program that uses
one that its processor lacks is killed. So the Makefile compiles this file
and the kernel several times: for AVX-512, for AVX2, and for what every
processor of its kind has, which on ARM is NEON. When a program asks for
`best_kernel`, the kernel looks up what the processor has.

## Measured {#kernel-measured}

What is gained, step by step, all on one core:
*/

static void show_steps(void)
{
    enum { STEPS = 8 };
    const char *const attend = "step attention 1024x64";
    const char *const product = "step product 512x512x512";
    const char *const step[STEPS] = {"matmul",
                                     "matmul_ordered",
                                     "matmul_strided plain",
                                     "matmul_strided",
                                     "attention",
                                     "flash_forward",
                                     "attend_fast plain",
                                     "attend_fast"};
    const char *const words[STEPS] = {"by dot", "ordered", "tiles",
                                      "wider",  "tables",  "flash",
                                      "kernel", "wider"};
    float x[1][STEPS];
    for (int i = 0; i < STEPS; i++)
        x[0][i] = show_speed(i < 4 ? product : attend, step[i]);
    print_vector("GFLOP/s of each step", STEPS, x[0]);
    figure_bars("steps", "Billions of operations a second on one core", 1,
                (const char *[]){"GFLOP/s"}, STEPS, words, x);
}

/*
``` output
GFLOP/s of each step (8)
[ 1.0925, 14.7120, 24.6060, 86.5650,  2.5043,  2.2200, 23.9980, 88.9070]
```

The first four are a product of 512 times 512 numbers: by `dot`, in order,
by register tiles, and by these with the widest registers. The others are
attention for 1,024 queries and keys with 64 entries: with tables
([](#scaling)), without ([](#flash)), by `attend_fast`, and by that with the
widest registers.

![Billions of operations a second: a product, and attention, step by
step](steps.svg){#fig-kernel-steps}

And beside what people use instead: PyTorch, ONNX Runtime and OpenBLAS, each
by its fastest way that we know, one core each. (OpenBLAS has only products:
the softmax is ours. PyTorch uses Intel's MKL, which may fare better on
Intel's processors.) They took turns, and each row is held against a peak
that was measured in the same turns. In front are texts, heads, tokens and
entries.
*/

static void show_shapes(void)
{
    enum { SHAPES = 4, LIBRARIES = 4 };
    const char *const shape[SHAPES] = {"1x12x256x64", "1x12x1024x64",
                                       "1x8x4096x64", "1x32x2048x128"};
    const char *const library[LIBRARIES] = {"attention-in-c", "pytorch",
                                            "onnxruntime", "openblas"};
    puts("of the peak: this book, PyTorch, ONNX Runtime, OpenBLAS");
    for (int i = 0; i < 2 * SHAPES; i++) {
        char what[32];
        float x[LIBRARIES];
        snprintf(what, sizeof what, "%s %s", shape[i / 2],
                 i % 2 ? "causal" : "full");
        for (int k = 0; k < LIBRARIES; k++)
            x[k] = measured("fraction", what, library[k], 1);
        print_vector(what, LIBRARIES, x);
    }
}

/*
``` output
of the peak: this book, PyTorch, ONNX Runtime, OpenBLAS
1x12x256x64 full (4)
[0.6688, 0.5026, 0.5364, 0.5820]
1x12x256x64 causal (4)
[0.5551, 0.2960, 0.2944, 0.3283]
1x12x1024x64 full (4)
[0.8149, 0.6327, 0.7264, 0.6714]
1x12x1024x64 causal (4)
[0.7178, 0.3347, 0.3244, 0.4793]
1x8x4096x64 full (4)
[0.8455, 0.5838, 0.6518, 0.5529]
1x8x4096x64 causal (4)
[0.7801, 0.5071, 0.4772, 0.6170]
1x32x2048x128 full (4)
[0.8541, 0.5788, 0.7021, 0.6928]
1x32x2048x128 causal (4)
[0.7910, 0.4336, 0.5369, 0.5739]
```

With a causal mask, half of the operations count, but tiles on the diagonal
are computed whole. Nor can a core that takes an exponential for each score
reach 1. Here are the nanoseconds that the $4d$ operations of a score would
take at the peak, and those of its exponential:
*/

static void show_missing(void)
{
    const char *const what[3] = {"1x12x256x64 full", "1x12x1024x64 full",
                                 "1x8x4096x64 full"};
    float error[3];
    for (int i = 0; i < 3; i++)
        error[i] = 1e6f * measured("error", what[i], "attention-in-c", 1);
    print_vector("nanoseconds for a score: products, exponential", 2,
                 (float[]){4 * 64 / show_speed("peak", "any"),
                           show_nanoseconds("exp2_fast")});
    print_vector("contexts off from doubles, in millionths, 256 to 4096", 3,
                 error);
}

/*
``` output
nanoseconds for a score: products, exponential (2)
[2.2382, 0.1450]
contexts off from doubles, in millionths, 256 to 4096 (3)
[0.5865, 0.3750, 0.4277]
```

Nor does all work reach the peak, however well it is written. A machine has
a second limit, its **bandwidth**: how many bytes a second come from memory.
Work that does few operations with each byte waits for bytes. Attention over
$n$ tokens does $4n^2d$ operations, and what it reads and writes at least,
queries, keys, values and contexts, are $16nd$ bytes: $\frac n4$ operations
a byte. With tables of scores and weights, written and read, these are
$16n^2$ more. A single query does $4nd$ operations with the $8nd$ bytes of
keys and values: half an operation a byte. Both limits together look like a
roof:
*/

static void show_roofline(void)
{
    const float peak = show_speed("peak", "any");
    const float read = measured("GB/s", "read", "memory", 1);
    const float edge[3] = {0.25f, peak / read, 2048};
    const float roof[3] = {0.25f * read, peak, peak};
    const char *const label[6] = {"at most",      "one query",
                                  "256 tokens",   "1,024 tokens",
                                  "4,096 tokens", "1,024, with tables"};
    const float x[5] = {0.5f, 64, 256, 1024, 1024 * 64 / (4 * 1088.f)};
    float at[8], plot[6][8];
    const float y[5] = {
        0.5f * measured("GB/s", "decode 32x4096x128", "attention-in-c", 1),
        show_speed("1x12x256x64 full", "attention-in-c"),
        show_speed("1x12x1024x64 full", "attention-in-c"),
        show_speed("1x8x4096x64 full", "attention-in-c"),
        show_speed("step attention 1024x64", "attention")};
    print_vector("operations a byte: left, where the roof bends, right", 3,
                 edge);
    print_vector("GFLOP/s at most there", 3, roof);
    print_value("GB/s read by one core", read);
    print_vector("a byte: one query, 256, 1024, 4096, 1024 with tables", 5,
                 x);
    print_vector("and their GFLOP/s", 5, y);
    for (int i = 0; i < 8; i++) {
        at[i] = i < 3 ? edge[i] : x[i - 3];
        for (int k = 0; k < 6; k++)
            plot[k][i] = NAN;
        plot[i < 3 ? 0 : i - 2][i] = i < 3 ? roof[i] : y[i - 3];
    }
    figure_log_log("roofline",
                   "The roof of a machine, and attention under it",
                   "operations per byte", "GFLOP/s", 6, label, 8, at, plot);
}

/*
``` output
operations a byte: left, where the roof bends, right (3)
[   0.2500,    4.3773, 2048.0000]
GFLOP/s at most there (3)
[  6.5325, 114.3800, 114.3800]
GB/s read by one core: 26.1300
a byte: one query, 256, 1024, 4096, 1024 with tables (5)
[   0.5000,   64.0000,  256.0000, 1024.0000,   15.0588]
and their GFLOP/s (5)
[12.5215, 74.6010, 91.0030, 93.0220,  2.5043]
```

![The roof of one core. On the left, where bytes are used little, it is the
memory's, on the right the core's; both axes grow by factors. The dots are
attention without a mask](roofline.svg){#fig-kernel-roofline}

Long texts leave the memory far behind. The dot with tables is right of the
bend, too: it waits for its own sums, not for memory. A single query is the
dot on the left, and the matter of [](#kv-cache). And how does time grow
with the text?
*/

static void show_growth(void)
{
    enum { SIZES = 7, LIBRARIES = 4 };
    const char *const library[LIBRARIES] = {"attention-in-c", "pytorch",
                                            "onnxruntime", "openblas"};
    const char *const label[LIBRARIES] = {"this book", "PyTorch", "ONNX",
                                          "OpenBLAS"};
    float x[LIBRARIES + 1][SIZES], ms[LIBRARIES + 1][SIZES];
    float table[SIZES][LIBRARIES + 1];
    for (int i = 0; i < SIZES; i++) {
        char what[32];
        snprintf(what, sizeof what, "1x8x%dx64 full", 128 << i);
        x[0][i] = ms[0][i] = (float)(128 << i);
        for (int k = 0; k < LIBRARIES; k++) {
            x[k + 1][i] = show_speed(what, library[k]);
            ms[k + 1][i] = measured("ms", what, library[k], 1);
        }
    }
    transpose(LIBRARIES + 1, SIZES, ms, table);
    print_matrix("tokens; ms: this book, PyTorch, ONNX Runtime, OpenBLAS",
                 SIZES, LIBRARIES + 1, table);
    transpose(LIBRARIES + 1, SIZES, x, table);
    print_matrix("tokens; GFLOP/s: the same", SIZES, LIBRARIES + 1, table);
    figure_log_log(
        "growth", "Speed for 8 heads against the number of tokens",
        "tokens", "GFLOP/s", LIBRARIES, label, SIZES, x[0], x + 1);
}

/*
``` output
tokens; ms: this book, PyTorch, ONNX Runtime, OpenBLAS (7, 5)
[[ 128.0000,    0.4407,    0.7237,    0.6228,    0.6558],
 [ 256.0000,    1.8043,    2.4718,    2.2123,    2.1519],
 [ 512.0000,    6.5124,    9.1583,    8.0398,    7.9253],
 [1024.0000,   25.1390,   34.1500,   30.1070,   30.9790],
 [2048.0000,   98.1320,  133.2900,  107.4400,  120.5700],
 [4096.0000,  369.3700,  534.9300,  479.1600,  564.8900],
 [8192.0000, 1626.1000, 1930.5000, 1964.3000, 2288.8999]]
tokens; GFLOP/s: the same (7, 5)
[[ 128.0000,   76.1420,   46.3680,   53.8760,   51.1680],
 [ 256.0000,   74.3880,   54.2990,   60.6700,   62.3710],
 [ 512.0000,   82.4390,   58.6210,   66.7770,   67.7420],
 [1024.0000,   85.4230,   62.8840,   71.3290,   69.3200],
 [2048.0000,   87.5350,   64.4440,   79.9480,   71.2420],
 [4096.0000,   93.0220,   64.2320,   71.7080,   60.8260],
 [8192.0000,   84.5200,   71.1930,   69.9690,   60.0470]]
```

![Eight heads with 64 entries, no mask, one core. Twice as many tokens are
four times as many operations, and take three to five times as long, for
everybody](growth.svg){#fig-kernel-growth}

And here is the memory that attention takes on two threads, besides its
inputs and outputs:
*/

static void show_memory(void)
{
    const char *const what = "long 1x1x65536x64 causal";
    const float tokens = 65536;
    print_vector("MB for 65536 tokens: attend_fast, a table of scores", 2,
                 (float[]){measured("MB", what, "attention-in-c", 2),
                           4 * tokens * tokens / 1e6f});
}

/*
``` output
MB for 65536 tokens: attend_fast, a table of scores (2)
[    6.2300, 17179.8691]
```

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "scores scale mask weights context");
    show_beginning();
    show_product();
    show_exponential();
    show_tile();
    show_tiles();
    show_steps();
    show_shapes();
    show_missing();
    show_roofline();
    show_growth();
    show_memory();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

words = "Life is short eat dessert first".split()
ids = torch.tensor([sorted(words).index(w) for w in words])
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(ids).detach()
print(F.scaled_dot_product_attention(x, x, x))
print(torch.logsumexp(x @ x.T / 3**0.5, dim=-1))
```

## Further exercises {#kernel-exercises}

**Exercise 15.4** (★★★, challenge, 4 points): `attend_tiles`. Attention for
one head, without a mask: each tile of up to `QUERIES` queries meets all
blocks of up to `BLOCK` keys, by `tile_add_block`; then comes the division.
The log-sum-exp is the largest score plus $\ln l = \ln 2 \cdot \log_2 l$.

::: hint
`transpose_scaled` puts queries into lanes, a query to a lane, and can
divide them by $\sqrt{d_k}$ on the way. Lanes without a query hold zeros.
`new_aligned` asks for memory that fits `Lanes`.
:::

::: hint
Before the first block, nothing has been met: which `largest` is below all
scores, and what are the sum and the mixture?
:::

::: hint
The contexts lie as the queries did, a context to a lane. They are
transposed back.
:::

::: done
The heart of every fast attention: tiles stay where they are, and blocks
come by. `make bench CASES="step attention"` measures yours.
:::

**Exercise 15.5** (by hand): A register tile of $r$ rows and $v$ vectors
loads how many vectors and entries for each multiply-add? Which shapes of up
to 3 vectors that fit into 16 registers load least?

**Exercise 15.6** (by hand): `-ffast-math` allows the compiler to reckon
with floats as with real numbers. What becomes of `exp2_fast`?

## Solutions

::: {.solution exercise="15.4"}
*/

void attend_tiles(int n, int m, int d_k, int d_v, const float query[n][d_k],
                  const float key[m][d_k], const float value[m][d_v],
                  float context[n][d_v], float log_sum_exp[n])
{
    const size_t entries = (size_t)d_k + (size_t)d_v;
    Lanes *columns = new_aligned(entries, sizeof *columns);
    for (int i = 0; i < n; i += QUERIES) {
        const int rows = min_int(QUERIES, n - i);
        Lanes largest, sum = {{0}};
        for (int k = 0; k < QUERIES; k++)
            largest.at[k] = -FLT_MAX;
        memset(columns, 0, entries * sizeof *columns);
        transpose_scaled(rows, d_k, 1 / sqrtf((float)d_k), query[i], d_k,
                         columns[0].at, QUERIES);
        for (int j = 0; j < m; j += BLOCK)
            tile_add_block(min_int(BLOCK, m - j), d_k, d_v, key + j,
                           value + j, columns, &largest, &sum,
                           columns + d_k);
        for (int k = d_k; k < d_k + d_v; k++)
            for (int l = 0; l < QUERIES; l++)
                columns[k].at[l] /= sum.at[l];
        transpose_scaled(d_v, rows, 1, columns[d_k].at, QUERIES, context[i],
                         d_v);
        for (int l = 0; l < rows; l++)
            log_sum_exp[i + l] =
                largest.at[l] + 0.693147181f * log2f(sum.at[l]);
    }
    free(columns);
}

/*
:::

::: {.solution exercise="15.5"}
For each step of $k$ it loads $v$ vectors and $r$ entries for $rv$
multiply-adds, so $\frac1r + \frac1v$ each. There have to be $rv$ registers
for the sums, $v$ for `b` and one for `a`. With $v = 3$ and $r = 4$ these
are all 16, and it is a little more than a half. $v = 2$ and $r = 6$ take
two thirds, and $v = 1$ always more than 1. (With 32 registers, 3 vectors
load less, too. But loads are then not what is waited for, and at the end of
a short text a register tile of 2 leaves fewer lanes empty.)
:::

::: {.solution exercise="15.6"}
`held + far - far` is `held` for real numbers. So $f$ becomes 0 at best, and
every answer a power of 2 with a whole exponent.
:::
*/
