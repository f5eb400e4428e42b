/*
# SIMD and threads: the same, fast {#kernel}

![The way from words to attention. This chapter makes the shaded steps
fast](pipeline.svg){#fig-kernel-pipeline}

`flash_forward` needs little memory. Does it need little time? Work of this
kind is counted in floating-point operations, **FLOPs**. A score is a sum of
$d_k$ products: for each, one multiplication and one addition. Mixing a
value takes as many for each of its $d_v$ entries. So a head with $n$
queries and $m$ keys takes $2nmd_k + 2nmd_v$ operations. Speed is the number
of operations in a second.
*/

#include "attention/15_kernel.h"
#include "attention/01_dot_product.h"
#include "attention/05_tokens.h"
#include "attention/14_flash.h"
#include "attention/measured.h"
#include "kernel/lanes.h"
#include "support/machine.h"
#include "support.h"

/* folded: how this is printed */
/* Billions of operations a second, on one thread. */
static float speed_of(const char *what, const char *library)
{
    return three_digits(measured("GFLOP/s", what, library, 1));
}

static void show_beginning(void)
{
    const char *const name[3] = {"attention, with tables", "flash_forward",
                                 "peak"};
    printf("measured on %s\n", measured_on());
    print_measures(
        "1024 queries and keys", "GFLOP/s", 3, name,
        (float[]){speed_of("step attention 1024x64", "attention"),
                  speed_of("step attention 1024x64", "flash_forward"),
                  speed_of("peak", "any")});
}

/*
``` output
measured on AMD EPYC, 2 processors
1024 queries and keys, in GFLOP/s
  attention, with tables    2.50
  flash_forward             2.22
  peak                    114
```

A GFLOP/s is a billion operations in a second, here on one core, with
queries and keys of 64 entries. These measures are kept with the book, so
that a program prints the same wherever it runs. `make bench` measures
*your* machine.

The **peak** is what the core can do at most, measured by a loop that only
multiplies and adds. `attention` and `flash_forward` reach less than a
twentieth of the peak. `flash_forward` is the slower one: it computes as
many dot products and exponentials ([](#flash-tiles)), and for each key
there are a function call and two comparisons more. It saves memory, but not
even `attention` with its tables waits for memory, as
[](#fig-kernel-roofline) will show. Both wait for `dot`, in which each
addition needs the one before.

A function in which a program spends nearly all of its time is called a
**kernel**. Ours is made of this page, and stands in `src/kernel`.

## What a core can do {#kernel-core}

A processor has several **cores**, each of which works by itself. A core
computes in **registers**, of which there are 16 or 32. A register holds 4,
8 or 16 floats, its **lanes**, and an instruction does the same in all lanes
at once. One instruction, the **fused multiply-add**, takes three registers
$a$, $b$ and $c$ and makes $ab + c$ of them. That takes about four steps of
the processor's clock. Meanwhile the core can begin other multiply-adds, one
or two with every step, unless they wait for the result. So the peak is the
number of lanes, times 2 operations, times the multiply-adds that begin in a
step, times the steps in a second. Where two begin with each step and each
takes four steps, $2 \cdot 4 = 8$ sums must be under way.

## In which order {#kernel-order}

The compiler may not change the order of `dot`'s additions: a sum of floats
in another order may have other last digits. But a product of matrices has
many sums, and none of them has to be finished before the next begins.

**Exercise 15.1** (★, 2 points): `matmul_ordered`. What `matmul` does, in
another order: take the entries of a row of `a` one by one, and add to the
whole row of the result what each entry contributes.

::: hint
`a[i][k]` belongs to row `k` of `b`. Which loop has to be the innermost?
:::

::: hint
The result is a sum: it has to begin with zeros.
:::

::: done
As many multiplications, and yet faster: the order in which memory is read
counts.
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
into lanes by itself. But a row of `c` does not fit into the registers. So
each multiply-add has to load numbers of `b` and `c`, and to store those of
`c`.

## A tile that stays in registers {#kernel-tile}

So compute as many entries of the result at a time as the registers have
room for, through all of `k`, before the next ones. These entries are called
a **register tile**. Their sums stay in registers, a row of `b` is loaded
once for all rows of the register tile, and an entry of `a` once for all
lanes. Vectors are types that gcc and clang know beyond the standard:

::: {.header of="Vector Lanes"}
:::

`LANES` is how many floats a register has. `+` and `*` work on a `Vector`
lane by lane, and a float beside a `Vector` stands for a vector of equals.
`Lanes` is a row of `VECTORS` vectors. A `union` gives the same bytes two
names: `vector` is for multiplying, and `at` for single floats.

Of 16 registers, three hold a row of `b` (`VECTORS`), one an entry of `a`,
and twelve hold four rows of sums (`TILE_ROWS`). Of 32 registers of 16
lanes, two hold a row of `b`, and there are twelve rows of sums.

What is to be in the lanes? Not the entries of a query: they would have to
be added up across. But *queries* can lie side by side, one to a lane, as
many as a row of vectors has lanes: `QUERIES` is `VECTORS` times `LANES`,
such as $3 \cdot 4 = 12$.

![Six queries, a to f, of 3 entries, before and after they are put into
lanes. A row of the second table is a register of 4 lanes, and three are
one `Lanes`. Where no query is, there are
zeros](lanes.svg){#fig-kernel-lanes}

All of attention's products then have the queries as their columns:

$$\underset{m \times n}{S^\top} = \underset{m \times d_k}{K}\,
  \underset{d_k \times n}{Q^\top} \qquad
  \underset{d_v \times n}{C^\top} = \underset{d_v \times m}{V^\top}\,
  \underset{m \times n}{W^\top}$$

| product | `a[i][k]` | `b[k]` in lanes | `c[i]` in lanes |
|:--------|:----------------|:-----------------|:------------------|
| scores | entry `k`, key `i` | entry `k` of queries | scores, key `i` |
| mixtures | entry `i`, value `k` | weights, key `k` | contexts, entry `i` |

A row of scores belongs to one key, and has its scores with all these
queries. So softmax, too, stays within each lane, and the weights lie as the
second product wants them. Only queries and contexts are transposed, once,
by `transpose_scaled`. Keys are read as they lie. Values are read as a
transposed table, but stay where they are. A **stride** is how far it is
from one entry to the next: the row stride down a column, the column stride
along a row. Whoever exchanges the two strides sees the table transposed:

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
                factor ? factor->vector[j] * c[i].vector[j] : (Vector){0};
    for (int k = 0; k < d; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < vectors; j++)
                sum[i][j] += a.at[i * a.row_stride + k * a.column_stride] *
                             b[k].vector[j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            c[i].vector[j] = sum[i][j];
}

/*
`factor` is for mixtures, which shrink when a larger score comes. `INLINE`
makes the compiler put the body where the function is called. There `rows`
and `vectors` are numbers that the compiler knows, so it writes the loops
over them out, and each `sum[i][j]` becomes a register.

A whole result is done in register tiles of `TILE_ROWS` rows. The rows that
are left over are done four at a time, then one by one. (`vectors` is 1
where a text's last queries fill only one vector.)
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

/* APART: not put into its callers, where the registers would run out. */
APART void matmul_lanes(int n, int vectors, int d, StridedMatrix a,
                        const Lanes b[d], const Lanes *factor, Lanes c[n])
{
    if (vectors == 1)
        matmul_tiles(n, 1, d, a, b, factor, c);
    else
        matmul_tiles(n, VECTORS, d, a, b, factor, c);
}

/*
These make any product of two tables, added to a third table, `start`.
`QUERIES` columns of `b` at a time are copied into lanes. With these, eight
register tiles of rows at a time are computed and copied out. (`#pragma`
shares the loop among cores.)
*/

void matmul_strided(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                    StridedMatrix start, float c[n][m])
{
#pragma omp parallel for num_threads(threads_for((double)n *m *d, 0))
    for (int j = 0; j < m; j += QUERIES) {
        const int columns = min_int(m - j, QUERIES);
        Lanes *lanes = new_aligned((size_t)d, sizeof *lanes);
        Lanes sum[8 * TILE_ROWS];
        lanes_load(d, columns, from_column(b, j), lanes);
        for (int i = 0; i < n; i += 8 * TILE_ROWS) {
            const int rows = min_int(n - i, 8 * TILE_ROWS);
            matmul_lanes(rows, VECTORS, d, from_row(a, i), lanes, NULL,
                         sum);
            lanes_store(i, j, rows, columns, sum, start, m, c);
        }
        free(lanes);
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
With strides, one kernel takes tables that lie either way.
:::
*/

void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m])
{
    matmul_strided(n, m, d, (StridedMatrix){a[0], d, 1},
                   (StridedMatrix){b[0], m, 1}, (StridedMatrix){NULL, 0, 0},
                   c);
}

/* folded: how this is printed */
static void show_product(void)
{
    const char *const what = "step product 512x512x512";
    const char *const name[4] = {"matmul", "matmul_ordered", "matmul_fast",
                                 "with wider registers"};
    print_measures("a product of 512 times 512 numbers", "GFLOP/s", 4, name,
                   (float[]){speed_of(what, "matmul"),
                             speed_of(what, "matmul_ordered"),
                             speed_of(what, "matmul_strided plain"),
                             speed_of(what, "matmul_strided")});
}

/*
``` output
a product of 512 times 512 numbers, in GFLOP/s
  matmul                 1.09
  matmul_ordered        14.7
  matmul_fast           24.6
  with wider registers  86.6
```

The last two rows are one function, compiled twice: for every processor of
this kind, and for the widest registers that this one has
([](#kernel-sets)).

## The exponential {#kernel-exp2}

Each score takes an exponential. The C library's `expf` computes one at a
time. Ours is to work in lanes, without branch or table.

Take powers of 2, since $e^y = 2^{y \log_2 e}$. Split $x = y \log_2 e$ into
the nearest whole number $w$ and a rest $f$ from $-\frac12$ to $\frac12$.
Then $2^x = 2^w 2^f$. For $x = 2.3$ these are 2 and 0.3, and $2^{2.3} = 2^2
\cdot 2^{0.3}$.

For $2^f$ a polynomial of degree 5 will do. These coefficients, from the
highest power down, make the largest error least: `1.32647261e-3f`,
`9.67150275e-3f`, `5.55072501e-2f`, `2.40222439e-1f`, `6.93147004e-1f`, 1.

$2^w$ is put together from bits. Of a float's 32 bits, the first is its
sign, the next 8 are the exponent of 2 with 127 added, and the last 23 are
the digits behind the point. For $2^w$ the exponent is $w$, and these digits
are all 0.

To round $x$ to $w$, add $2^{23}$ and half of that, which C writes as
`0x1.8p23f`. Floats from $2^{23}$ to $2^{24}$ have no room behind the point,
so the sum is rounded to a whole number. (Without the half, a negative $x$
would lead below $2^{23}$.) Take the same away again, and $w$ is left. If
127 more is added, the last bits of the sum, the last of which counts ones,
are those of $w + 127$. A shift by 23 puts them where the exponent is, and
pushes the others out.

**Exercise 15.3** (★★★, 3 points): `exp2_fast`. $2^x$ for $x$ from $-126$ to
127, off by at most 2 of ten million; 0 from $-127$ down, also for
$-\infty$; from $-127$ to $-126$, 0 or $2^x$. `nan` stays `nan`.

::: hint
With `far` as `0x1.8p23f + 127`, `x + far` is the rounded sum. `memcpy` has
its bits as a `uint32_t`; shifted, they are those of the float $2^w$.
:::

::: hint
Where $x$ is held at $-127$, the exponent's bits are all 0, and so is the
float. A hidden key needs no case of its own.
:::

::: done
Without branch or table, all lanes at once take an exponential.
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

/* folded: how this is printed */
static void show_exponential(void)
{
    float furthest = 0;
    for (float x = -126; x < 127; x += 0.01f)
        furthest = fmaxf(furthest,
                         (float)fabs(exp2_fast(x) / exp2((double)x) - 1));
    print_vector(
        "w, f, 2 to the power of each, the product of these", 5,
        (float[]){2, 0.3f, exp2_fast(2), exp2_fast(0.3f), exp2_fast(2.3f)});
    print_measures(
        "an exponential", "nanoseconds", 2,
        (const char *[]){"expf", "exp2_fast"},
        (float[]){1e6f * measured("ms", "step exponential", "expf", 1),
                  1e6f *
                      measured("ms", "step exponential", "exp2_fast", 1)});
    print_answer("off by at most 2 of 10 million", furthest <= 2e-7f);
}

/*
``` output
w, f, 2 to the power of each, the product of these (5)
[2.0000, 0.3000, 4.0000, 1.2311, 4.9246]
an exponential, in nanoseconds
  expf       3.82
  exp2_fast  0.145
off by at most 2 of 10 million: yes
```

## A tile of queries meets a block of keys {#kernel-meet}

Every query of a tile has a lane, in which stands the state of its online
softmax ([](#flash)): the largest score so far, the sum, and the mixture.
When a tile meets a block of up to 128 keys (`BLOCK`), the first product
makes a row of scores for each key, and softmax goes down the rows:

| row | query 0 | query 1 | what happens in each lane |
|:----------|:--------|:--------|:---------------------------------------|
| `largest` | $a$ | $b$ | rises to the largest score, if that is larger |
| each key | $x$ | $y$ | become $e^{x - a}$ and $e^{y - b}$ |
| `sum` | $l$ | $r$ | shrinks as `largest` rises; then all $e$ are added |

Scores are not divided by $\sqrt{d_k}$ here: the queries already were.

`softmax_lanes` is `online_softmax_add_block` without the values. It
multiplies the scores by `s`, which is $\log_2 e$, for the powers of 2. (The
sum is a float. A block's 128 terms are added up by themselves first, so
that small terms are not lost in a large sum.)
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
    const float s = log2_e * scale;
    if (vectors == 1)
        softmax_in(LANES, cols, s, scores, largest, sum, shrink);
    else
        softmax_in(QUERIES, cols, s, scores, largest, sum, shrink);
}

/*
So a tile meets a block in three calls. The last one's `factor` is `shrink`:
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

/* folded: how this is printed */
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
[challenge](#kernel-exercises).

## Many tiles, threads and processors {#kernel-sets}

`src/kernel/attend.c` makes a library of this page. That file may be
skipped: it manages texts and heads, and masks and dropout, which change
scores or weights between the three calls above. Blocks of which a mask
hides all are left out, as in [](#flash-tiles). Two things in it are for
speed.

The first is that tiles share blocks. A block of 128 keys and values with 64
entries is $128 \cdot 2 \cdot 64 \cdot 4 = 65{,}536$ bytes, and fits into a
core's second, larger cache. So up to 16 tiles of a head are a **task**:
while a block is in the cache, the task's tiles meet it one after the other.

Tasks do not wait for each other. So each core can have a **thread**, which
takes a task, and when that is done, the next that no other thread has
taken. Which thread computes a tile changes no digit of it.
*/

/* folded: how this is printed */
static void show_tiles(void)
{
    const char *const what = "step tiles 32768x64";
    const char *const name[3] = {"a task is 1 tile", "a task is 16 tiles",
                                 "the same, on 2 threads"};
    print_measures(
        "32768 queries and keys", "GFLOP/s", 3, name,
        (float[]){speed_of(what, "1 tile"),
                  speed_of(what, "attention-in-c"),
                  measured("GFLOP/s", what, "attention-in-c", 2)});
}

/*
``` output
32768 queries and keys, in GFLOP/s
  a task is 1 tile         53.0
  a task is 16 tiles       90.9
  the same, on 2 threads  181
```

The second is a gap between rows. Memory comes into a cache in **lines** of
64 bytes, and a cache has **sets** of lines, such as 64 sets of 8 lines. A
line's number in memory, modulo 64, is its set. With 32 heads of 128
entries, a head's rows may be $32 \cdot 128 \cdot 4 = 16{,}384$ bytes apart,
or $16{,}384 / 64 = 256$ lines. So all rows begin in the same set. The
second product goes down 128 rows again and again, and only 8 lines can
stay. So a task copies its block into a workspace. A copied row is 8 lines
long, so rows would begin in 8 sets; with 16 unused floats behind each, a
line more, they begin in all sets:
*/

/* folded: how this is drawn */
static void draw_gaps(void)
{
    enum { KINDS = 3, N_ROWS = 9 };
    const char *const kind[KINDS] = {"32 heads", "copied", "with gaps"};
    const int apart[KINDS] = {32 * 128, 128, 128 + 16}; /* floats */
    char set[KINDS * N_ROWS][4];
    const char *cell[KINDS * N_ROWS];
    int part[KINDS * N_ROWS];
    for (int i = 0; i < KINDS * N_ROWS; i++) {
        const int at = i % N_ROWS * apart[i / N_ROWS] * 4 / 64 % 64;
        snprintf(set[i], sizeof *set, "%d", at);
        cell[i] = set[i];
        part[i] = at == 0 ? 1 : -1;
    }
    figure_layout("gaps", "The set of the cache in which a row begins", 1,
                  &(FigureLayout){"sets of rows 0 to 8", KINDS, N_ROWS,
                                  kind, NULL, cell, part});
}

/*
![The set in which each row begins. Set 0 is
shaded](gaps.svg){#fig-kernel-gaps}

Registers are a matter of the **instruction set**, and a program that uses a
register that its processor lacks is killed. So the Makefile compiles this
file and the kernel for AVX-512 (16 lanes), for AVX2 (8), and for what every
processor of its kind has (4), which on ARM is NEON. `best_kernel` looks up
what the processor has.

## Measured {#kernel-measured}

Attention, step by step, on one core:
*/

/* folded: how this is printed */
static void show_steps(void)
{
    const char *const what = "step attention 1024x64";
    const char *const step[4] = {"tables", "flash_forward", "attend_fast",
                                 "wider"};
    const float x[1][4] = {{speed_of(what, "attention"),
                            speed_of(what, "flash_forward"),
                            speed_of(what, "attend_fast plain"),
                            speed_of(what, "attend_fast")}};
    print_measures("attention, 1024 queries and keys of 64", "GFLOP/s", 4,
                   step, x[0]);
    figure_bars("steps", "Billions of operations a second on one core", 1,
                (const char *[]){"GFLOP/s"}, 4, step, x);
}

/*
``` output
attention, 1024 queries and keys of 64, in GFLOP/s
  tables          2.50
  flash_forward   2.22
  attend_fast    24.0
  wider          88.9
```

![Billions of operations a second: attention, step by
step](steps.svg){#fig-kernel-steps}

And beside PyTorch, ONNX Runtime and OpenBLAS, each by its fastest way that
we know, on one core. (To OpenBLAS's products we add softmax. PyTorch uses
Intel's MKL, which may fare better on Intel's processors.) They took turns,
and each row is held against a peak that was measured in the same turns.
Before each row stand texts, heads, tokens and entries.
*/

enum { LIBRARIES = 4 };
static const char *const library[LIBRARIES] = {"attention-in-c", "pytorch",
                                               "onnxruntime", "openblas"};
static const char *const name[LIBRARIES] = {"this book", "PyTorch", "ONNX",
                                            "OpenBLAS"};

/* folded: how this is printed */
static void show_shapes(void)
{
    enum { SHAPES = 8 };
    static const char *const shape[SHAPES] = {
        "1x12x256x64 full",    "1x12x256x64 causal",  "1x12x1024x64 full",
        "1x12x1024x64 causal", "1x8x4096x64 full",    "1x8x4096x64 causal",
        "1x32x2048x128 full",  "1x32x2048x128 causal"};
    float x[SHAPES][LIBRARIES], error[3];
    for (int i = 0; i < SHAPES; i++)
        for (int k = 0; k < LIBRARIES; k++)
            x[i][k] = 100 * measured("fraction", shape[i], library[k], 1);
    print_measure_table("speed", "percent of the peak", SHAPES, shape,
                        LIBRARIES, name, x);
    for (int i = 0; i < 3; i++)
        error[i] = 1e6f * measured("error", shape[2 * i], library[0], 1);
    print_measures("for a score", "nanoseconds", 2,
                   (const char *[]){"products", "exponential"},
                   (float[]){4 * 64 / measured("GFLOP/s", "peak", "any", 1),
                             1e6f * measured("ms", "step exponential",
                                             "exp2_fast", 1)});
    print_measures("contexts off from those by doubles", "millionths", 3,
                   (const char *[]){shape[0], shape[2], shape[4]}, error);
}

/*
``` output
speed, in percent of the peak
                        this book  PyTorch   ONNX  OpenBLAS
  1x12x256x64 full          66.9     50.3   53.6      58.2
  1x12x256x64 causal        55.5     29.6   29.4      32.8
  1x12x1024x64 full         81.5     63.3   72.6      67.1
  1x12x1024x64 causal       71.8     33.5   32.4      47.9
  1x8x4096x64 full          84.6     58.4   65.2      55.3
  1x8x4096x64 causal        78.0     50.7   47.7      61.7
  1x32x2048x128 full        85.4     57.9   70.2      69.3
  1x32x2048x128 causal      79.1     43.4   53.7      57.4
```

With a causal mask, half of the operations are counted, but squares on the
diagonal are computed whole. And each score takes an exponential, which is
not counted. A score's $4d$ operations, for $d = 64$, would take this long
at the peak, and its exponential takes this long:

``` output
for a score, in nanoseconds
  products     2.24
  exponential  0.145
```

The contexts, beside those computed in doubles:

``` output
contexts off from those by doubles, in millionths
  1x12x256x64 full   0.586
  1x12x1024x64 full  0.375
  1x8x4096x64 full   0.428
```

A machine has a second limit, its **bandwidth**: how many bytes a second
come from memory. Work that does few operations with each byte waits for
bytes.

Attention over $n$ tokens does $4n^2d$ operations. It has to read and write
queries, keys, values and contexts at least, which are $16nd$ bytes: $\frac
n4$ operations a byte. Tables of scores and weights, written and read, are
$16n^2$ bytes more. A single query does $4nd$ operations with the $8nd$
bytes of keys and values: half an operation a byte. The bandwidth times the
operations a byte is one limit, and the peak is the other. Together they
look like a roof:
*/

/* folded: how this is printed */
static void show_roofline(void)
{
    const float peak = measured("GFLOP/s", "peak", "any", 1);
    const float read = measured("GB/s", "read", "memory", 1);
    const char *const label[6] = {"at most",      "one query",
                                  "256 tokens",   "1,024 tokens",
                                  "4,096 tokens", "1,024, with tables"};
    /* Three points of the roof, and five of attention. */
    const float x[8] = {0.25f, peak / read, 2048, 0.5f,
                        64,    256,         1024, 1024 * 64 / (4 * 1088.f)};
    const float y[8] = {
        0.25f * read,
        peak,
        peak,
        0.5f * measured("GB/s", "decode 32x4096x128", "attention-in-c", 1),
        speed_of("1x12x256x64 full", "attention-in-c"),
        speed_of("1x12x1024x64 full", "attention-in-c"),
        speed_of("1x8x4096x64 full", "attention-in-c"),
        speed_of("step attention 1024x64", "attention")};
    float plot[6][8];
    print_vector("operations a byte: left, where the roof bends, right", 3,
                 x);
    print_measures("the roof there", "GFLOP/s", 3,
                   (const char *[]){"left", "at the bend", "right"}, y);
    print_measures("bandwidth of one core", "GB/s", 1,
                   (const char *[]){"read"}, (float[]){read});
    print_vector("a byte: one query, 256, 1024, 4096, 1024 with tables", 5,
                 x + 3);
    print_measures("attention there", "GFLOP/s", 5, label + 1, y + 3);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 6; k++)
            plot[k][i] =
                k == (i < 3 ? 0 : i - 2) ? three_digits(y[i]) : NAN;
    figure_log_log("roofline",
                   "The roof of a machine, and attention under it",
                   "operations per byte", "GFLOP/s", 6, label, 8, x, plot);
}

/*
``` output
operations a byte: left, where the roof bends, right (3)
[   0.2500,    4.3773, 2048.0000]
the roof there, in GFLOP/s
  left           6.53
  at the bend  114
  right        114
bandwidth of one core, in GB/s
  read  26.1
a byte: one query, 256, 1024, 4096, 1024 with tables (5)
[   0.5000,   64.0000,  256.0000, 1024.0000,   15.0588]
attention there, in GFLOP/s
  one query           12.5
  256 tokens          74.6
  1,024 tokens        91.0
  4,096 tokens        93.0
  1,024, with tables   2.50
```

![The roof of one core. On the left the memory is the limit, on the right
the core; both axes grow by factors. The dots are attention without a
mask](roofline.svg){#fig-kernel-roofline}

The dot with tables is right of the bend, too: `attention` waits for its own
sums, not for memory. A single query is the dot on the left, and the matter
of [](#kv-cache). How does time grow with the text?
*/

/* folded: how this is printed */
static void show_growth(void)
{
    enum { SIZES = 7 };
    const char *const tokens[SIZES] = {"128 tokens", "256",  "512", "1024",
                                       "2048",       "4096", "8192"};
    float size[SIZES], x[LIBRARIES][SIZES];
    float ms[SIZES][LIBRARIES], speed[SIZES][LIBRARIES];
    for (int i = 0; i < SIZES; i++) {
        char what[32];
        snprintf(what, sizeof what, "1x8x%dx64 full", 128 << i);
        size[i] = (float)(128 << i);
        for (int k = 0; k < LIBRARIES; k++) {
            ms[i][k] = measured("ms", what, library[k], 1);
            speed[i][k] = speed_of(what, library[k]);
            x[k][i] = speed[i][k];
        }
    }
    print_measure_table("time", "ms", SIZES, tokens, LIBRARIES, name, ms);
    print_measure_table("speed", "GFLOP/s", SIZES, tokens, LIBRARIES, name,
                        speed);
    figure_log_log("growth",
                   "Speed for 8 heads against the number of tokens",
                   "tokens", "GFLOP/s", LIBRARIES, name, SIZES, size, x);
    print_measures(
        "memory for 65536 tokens", "MB", 2,
        (const char *[]){"attend_fast", "a table of scores"},
        (float[]){measured("MB", "long 1x1x65536x64 causal", library[0], 2),
                  4 * 65536.f * 65536 / 1e6f});
}

/*
``` output
time, in ms
              this book  PyTorch     ONNX  OpenBLAS
  128 tokens       0.441    0.724    0.623     0.656
  256              1.80     2.47     2.21      2.15
  512              6.51     9.16     8.04      7.93
  1024            25.1     34.2     30.1      31.0
  2048            98.1    133      107       121
  4096           369      535      479       565
  8192          1630     1930     1960      2290
speed, in GFLOP/s
              this book  PyTorch   ONNX  OpenBLAS
  128 tokens      76.1     46.4   53.9      51.2
  256             74.4     54.3   60.7      62.4
  512             82.4     58.6   66.8      67.7
  1024            85.4     62.9   71.3      69.3
  2048            87.5     64.4   79.9      71.2
  4096            93.0     64.2   71.7      60.8
  8192            84.5     71.2   70.0      60.0
```

![Eight heads with 64 entries, no mask, one core. Twice as many tokens are
four times as many operations, and take three to five times as
long](growth.svg){#fig-kernel-growth}

The memory that attention takes on two threads, besides inputs and outputs,
and that of one table of scores:

``` output
memory for 65536 tokens, in MB
  attend_fast            6.23
  a table of scores  17200
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
    draw_gaps();
    show_steps();
    show_shapes();
    show_roofline();
    show_growth();
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
blocks of up to `BLOCK` keys, by `tile_add_block`; then its mixtures are
divided. The log-sum-exp is the largest score plus $\ln l = \ln 2 \cdot
\log_2 l$.

::: hint
`transpose_scaled` puts queries into lanes, a query to a lane, and can
divide them by $\sqrt{d_k}$ on the way. Lanes without a query hold zeros.
`new_aligned` asks for memory that fits `Lanes`.
:::

::: hint
Before the first block there are no scores yet: which `largest` is below all
scores, and what are the sum and the mixture?
:::

::: hint
The contexts lie as the queries did, a context to a lane. Transpose them
back.
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
For each `k` the register tile loads $v$ vectors and $r$ entries for $rv$
multiply-adds, so $\frac1r + \frac1v$ for each. There have to be $rv$
registers for the sums, $v$ for `b` and one for `a`. With $v = 3$ and $r =
4$ these are all 16, and the loads are a little more than a half. $v = 2$
and $r = 6$ load two thirds, and $v = 1$ always more than 1.
:::

::: {.solution exercise="15.6"}
`held + far - far` is `held` for real numbers. So $f$ becomes 0 at best, and
every answer a power of 2 with a whole exponent.
:::
*/
