/*
# PyTorch's random numbers, bit for bit {#random}

You can understand attention without this appendix. It is for the moment
when a tutorial prints 0.4306 ([](#scaling-tutorials)), your program prints
something else, and you cannot tell whether you have made a mistake.

The tutorial's matrices were random, and so were yours. But a computer
throws no dice. It calculates numbers that merely look random, starting from
a single one, the **random seed**, or **seed** for short. A seed is a whole
sequence: after `torch.manual_seed(123)`, every number that PyTorch will
draw on a CPU is settled, and so is the order. So if we build the same
generator, we get the tutorial's own matrices, and from there on we can
compare digit by digit.

That is what this appendix does, for `torch.rand`, for `uniform_` and for
`torch.randn`, down to the last bit of what PyTorch draws on an x86
processor with the vector instructions AVX2. (On others, some normal numbers
differ in their last digits.)
*/

#include "attention/B_random.h"
#include "attention/01_dot_product.h"
#include "support.h"

/*
## A large state, stirred {#random-twister}

PyTorch's generator for the CPU is the Mersenne Twister [@matsumoto1998]. It
keeps 624 numbers of 32 bits each, its **state**, and the index of the one
to hand out next. (`has_spare` and `spare` come into use with the normal
numbers.)

::: {.header of="Random"}
:::

The seed is the first of the 624. Each of the others is made from the one
before it, so even a small seed fills them all:
*/

Random random_seeded(uint64_t seed)
{
    Random r = {.next = RANDOM_STATE}; /* so the first draw will twist */
    r.state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < RANDOM_STATE; i++) {
        uint32_t before = r.state[i - 1];
        r.state[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    return r;
}

/*
`{.next = RANDOM_STATE}` sets one field of a struct and leaves the rest 0.
`^` is exclusive or, `|` is or, `>>` shifts the bits to the right. A
`uint32_t` is an unsigned number of 32 bits, and whatever a sum or a product
carries beyond them is lost. The seed is cut down to its lower 32 bits in
the same way. The constants, here and below, are those of the Twister's
authors.

These first 624 numbers are never handed out. Before the first draw, and
whenever all 624 have been used up, the state is stirred, or *twisted*, into
624 new ones. Call the numbers of the state $x_0, x_1, \dots$ A new $x_i$
takes three steps:

1. Join the top bit of $x_i$ to the other bits of $x_{i+1}$. Call the
   result $y$, and its last bit $b$.
2. Shift $y$ to the right by one bit, so that $b$ drops out.
3. Combine the shifted $y$ with $x_{i+397}$ by exclusive or, and, if $b$ is
   1, with the constant $c$, `0x9908b0df`, as well.

As a formula, with $\oplus$ for exclusive or, $\gg$ for the shift, and
$x_i'$ for the new $x_i$:

$$x_i' = x_{i+397} \oplus (y \gg 1) \oplus b\,c$$

![How number 1 of the state is renewed, for seed 123. Here $b$ is 1: the
shifted $y$, the constant and number $1 + 397$, combined by exclusive or,
are the new number](twist.svg){#fig-twist}

If $i + 1$ or $i + 397$ runs past the last number, carry on from $x_0$,
which is new by then.

**Exercise B.1** (★★★, 4 points): `random_twist`. It changes the state in
place, from the first number to the last.

::: hint
A bit is taken out of a number by `&`, with a number that has just this bit.
`0x80000000u` has the topmost, `0x7fffffffu` all others.
:::

::: hint
`% RANDOM_STATE` leads from past the last number back to the first.
:::

::: hint
By the time the last numbers are made, the first are already new. That is as
it should be.
:::

::: done
These are PyTorch's own bits, from its seed: so no file of random numbers
has to come with this book.
:::
*/

void random_twist(uint32_t state[RANDOM_STATE])
{
    for (int i = 0; i < RANDOM_STATE; i++) {
        uint32_t next = state[(i + 1) % RANDOM_STATE];
        uint32_t y = (state[i] & 0x80000000u) | (next & 0x7fffffffu);
        state[i] = state[(i + 397) % RANDOM_STATE] ^ (y >> 1);
        if (y & 1)
            state[i] ^= 0x9908b0dfu;
    }
}

/*
Even the new numbers aren't handed out as they are. A few shifts and masks
first spread the bits of each one, which is called tempering:
*/

uint32_t random_u32(Random *r)
{
    if (r->next == RANDOM_STATE) {
        random_twist(r->state);
        r->next = 0;
    }
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* Two draws make 64 bits; the first draw is the upper half. */
uint64_t random_u64(Random *r)
{
    uint64_t upper = random_u32(r);
    return upper << 32 | random_u32(r);
}

static void show_integers(void)
{
    Random r = random_seeded(123);
    printf("the first draws from seed 123\n");
    for (int i = 0; i < 4; i++)
        printf("%" PRIu32 "\n", random_u32(&r));
}

/*
``` output
the first draws from seed 123
2991312382
3062119789
1228959102
1840268610
```

PyTorch draws these four too. It doesn't show them, though: `torch.rand`
prints fractions.

## From bits to floats

How do you turn 32 bits into a number from 0 to just below 1? Dividing by
$2^{32}$ is the obvious answer, and it goes wrong at the top. A float has 24
binary digits, so most of those quotients would be rounded, and the largest
would be rounded up to 1, which must not occur. PyTorch keeps only the lower
24 bits. Divided by $2^{24}$, the result is exactly a float.
*/

float random_float(Random *r)
{
    return (float)(random_u32(r) & 0xffffff) * 0x1p-24f;
}

/*
(`0x1p-24f` is how C writes $2^{-24}$, and `0xffffff` is 24 ones in binary.)

![The first draw from seed 123. The shaded bits are
kept](bits.svg){#fig-bits}

A table is filled row by row, each entry by the next draw. So three matrices
from one seed come out right only if they are drawn in the right order.
`qkv_from_seed` draws the three of [](#qkv), in the tutorials' order, and
multiplies the words by each:
*/

void random_fill(Random *r, int n, int m, float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = random_float(r);
}

static void random_role(Random *r, int n, int d, int m, const float x[n][d],
                        float out[n][m])
{
    float w[d][m];
    random_fill(r, d, m, w);
    matmul(n, m, d, x, w, out);
}

void qkv_from_seed(uint64_t seed, int n, int d, int d_k, int d_v,
                   const float x[n][d], float query[n][d_k],
                   float key[n][d_k], float value[n][d_v])
{
    Random r = random_seeded(seed);
    random_role(&r, n, d, d_k, x, query);
    random_role(&r, n, d, d_k, x, key);
    random_role(&r, n, d, d_v, x, value);
}

/* folded: how this is printed */
static void show_floats(void)
{
    float x[1][6];
    Random r = random_seeded(123);
    random_fill(&r, 1, 6, x);
    print_vector("torch.rand(6)", 6, x[0]);
}

/*
``` output
torch.rand(6) (6)
[0.2961, 0.5166, 0.2517, 0.6886, 0.0740, 0.8665]
```

You'll meet these six again: they are the entries of `W_query` in
[](#scaling-tutorials).

::: question
Each of the three matrices there has 3 times 2 entries. If a tutorial drew
`w_value` first, and then the other two, which of the three would be the
same?

None. Each matrix would be made of different draws. The order of the draws
matters as much as the seed.
:::

## Any range {#random-range}

Numbers that fall evenly between two limits are called **uniform**. The
limits needn't be 0 and 1: [](#self-attention-range) needs others. Stretch a
number $u$ between 0 and 1 and shift it, and it becomes $u \cdot
(\text{high} - \text{low}) + \text{low}$.

For the same bits we must round where PyTorch rounds. It takes the
difference of the limits as a float, but it multiplies and adds in a single
step, with one rounding at the end. C's `fmaf`, for "fused multiply and
add", does the same.

**Exercise B.2** (★★, 3 points): `uniform_fill`. It fills a table row by
row; `random_float` gives each $u$. If rounding makes a number equal to
`high`, PyTorch replaces that number by `low`, since `high` itself is not
meant to occur. The function refuses limits in the wrong order, and limits
that are not finite or whose difference, as a float, is not.

::: hint
`fmaf(a, b, c)` gives `a * b + c`, rounded once.
:::

::: hint
Draw the numbers in order, with `random_float`.
:::

::: done
This is PyTorch's `uniform_`, to the last bit. The layers of
[](#self-attention) begin with numbers that your own function draws.
:::
*/

void uniform_fill(Random *r, int n, int m, float low, float high,
                  float x[n][m])
{
    if (!(low <= high) || !isfinite(high - low))
        REFUSE("numbers from %g to %g: finite limits with a finite "
               "difference, the lower one first, are needed",
               (double)low, (double)high);
    const float width = high - low;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            x[i][j] = fmaf(random_float(r), width, low);
            if (x[i][j] == high)
                x[i][j] = low;
        }
}

/* folded: how this is printed */
static void show_range(void)
{
    float x[1][4];
    Random r = random_seeded(789);
    uniform_fill(&r, 1, 4, -1, 1, x);
    print_vector("from -1 to 1, seed 789", 4, x[0]);
}

/*
``` output
from -1 to 1, seed 789 (4)
[ 0.5474,  0.7912,  0.8865, -0.2915]
```

## The shape of a bell {#random-bell}

Embeddings aren't uniform. PyTorch draws them, as `torch.randn` does, from
the **normal distribution**: most numbers lie near zero, and fewer and fewer
farther out, on both sides and without a limit. How often a number near $x$
is drawn is proportional to $e^{-x^2/2}$, a curve in the shape of a bell:

![How often each number occurs, among 100,000 uniform ones from $-1$ to 1
and among 100,000 normal ones; each panel is scaled to its tallest
bar](bell.svg){#fig-bell}

The numbers of the bell have the mean 0 and the standard deviation 1, which
is the root of the mean of their squares ([](#scaling-spread)). If you want
another deviation, multiply by it.

How do you get a bell out of numbers that fall evenly? Box and Muller make
two normal numbers at a time, and the trick is to think of darts [@box1958].
A dart hits $x$ to the right of the middle of the board and $y$ above it.
Let $x$ and $y$ be two normal numbers that know nothing of each other. The
share of darts in an upright strip near $x$ is proportional to
$e^{-x^2/2}$. Of the darts in that strip, the share near $y$ is
proportional to $e^{-y^2/2}$. A share of a share is a product, so around the
point $(x, y)$ the darts lie as densely as

$$e^{-x^2/2} \cdot e^{-y^2/2} = e^{-(x^2 + y^2)/2} = e^{-r^2/2}$$

where $r$ is the distance of the point from the middle, by Pythagoras.
Nothing but that distance is left in the formula. So the cloud of darts is
round, no direction is special, and the direction of a dart is an angle that
is uniform over the full circle.

That settles the angle. What about the distance? Here is a claim: the share
of darts farther out than $r$ is $e^{-r^2/2}$ once more. For $r = 0$ it says
1, all darts, which is right. For any other $r$, look at a thin ring, from
the distance $r$ to $r + w$, and count its darts twice.

First by the claim. Farther out than $r + w$ lies the share

$$e^{-(r + w)^2/2} = e^{-r^2/2} \cdot e^{-rw} \cdot e^{-w^2/2}
    \approx e^{-r^2/2} (1 - rw)$$

since $e^{-s}$ is close to $1 - s$ for a small $s$, and $e^{-w^2/2}$ is
closer still to 1: $w^2$ is tiny even beside $w$. The ring holds the
difference of the two shares, $e^{-r^2/2} - e^{-r^2/2}(1 - rw)$, which is
$e^{-r^2/2}\, r w$.

Then by the density. The ring has the circumference $2\pi r$ and the width
$w$, so its area is about $2\pi r w$, and its darts are as dense as
$e^{-r^2/2}$. Area times density is proportional to $e^{-r^2/2}\, r w$. The
two counts agree for every ring, up to one common factor; and since all
rings together hold all darts, by either count, that factor is 1.

Now test it. Let two normal numbers be a dart, throw 50,000 darts, and
count. (The numbers are made by what follows from the claim, but neighbours
in the list come from different pairs, so this isn't circular.)
*/

/* folded: how this is printed */
/* The share of n darts that lie farther from the middle than r. */
static float farther(int n, const float dart[n][2], float r)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += length(2, dart[i]) > r;
    return (float)count / (float)n;
}

static void show_bell(void)
{
    enum { MANY = 100000, DARTS = 50000 };
    const char *const panel[2] = {"uniform", "normal"};
    float(*x)[MANY] = new_table(2, MANY), table[3][3];
    Random r = random_seeded(123);
    uniform_fill(&r, 1, MANY, -1, 1, x);
    normal_fill(&r, 1, MANY, 0, 1, x + 1);
    figure_histograms("bell", "100,000 numbers each", 2, panel, MANY, x);
    puts("standard deviations of 100,000 numbers");
    print_value("uniform", length(MANY, x[0]) / sqrtf(MANY));
    print_value("normal", length(MANY, x[1]) / sqrtf(MANY));
    for (int i = 0; i < 3; i++) {
        const float far = (float)(i + 1);
        table[i][0] = far;
        table[i][1] = farther(DARTS, ROWS(2, x[1]), far);
        table[i][2] = expf(-far * far / 2);
    }
    print_matrix("r, share of darts beyond r, e^(-r^2/2)", 3, 3, table);
    free(x);
}

/*
``` output
standard deviations of 100,000 numbers
uniform: 0.5782
normal: 1.0026
r, share of darts beyond r, e^(-r^2/2) (3, 3)
[[1.0000, 0.6080, 0.6065],
 [2.0000, 0.1378, 0.1353],
 [3.0000, 0.0116, 0.0111]]
```

Up to random error, the claim holds.

Now give each dart a number $u$ of its own, the share of all darts that lie
farther out. Sort the darts from the outside in: for the first tenth of them
$u$ is below one tenth, for the next tenth it is between one tenth and two
tenths, and so on. So $u$ is uniform, and a uniform number is something we
can draw. Call the draw $u_1$ and solve $u_1 = e^{-r^2/2}$ for the distance,
with the natural logarithm $\ln$, which undoes the exponential. A second
uniform number, $u_2$, gives the angle, from 0 to $2\pi$ for a full circle:

$$r = \sqrt{-2 \ln(u_1)}, \qquad \varphi = 2\pi u_2, \qquad
  x = r \cos(\varphi), \qquad y = r \sin(\varphi)$$

Two uniform numbers have become two normal ones.

## torch.randn, for few numbers {#random-normals}

For fewer than 16 numbers PyTorch does what the formula says. It draws the
angle first, then the distance, both as `double`, which has 53 binary
digits. Our uniform numbers may be 0, which has no logarithm, and never
reach 1, so $1 - u$ takes the place of $u$: it is as uniform, and never 0.
Normal numbers come in pairs, and if you ask for an odd count, the second of
the last pair waits for your next call, in `spare`.
*/

static const double two_pi = 6.283185307179586;

double random_double(Random *r)
{
    return (double)(random_u64(r) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

/* One normal number: half of a fresh pair, or what the last one left. */
static double one_normal(Random *r)
{
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    const double angle = two_pi * random_double(r);
    const double distance = sqrt(-2 * log1p(-random_double(r)));
    r->spare = distance * sin(angle);
    r->has_spare = 1;
    return distance * cos(angle);
}

/*
(`log1p(-u)` is the logarithm of $1 - u$, without the digits that the
subtraction would lose.)
*/

/* folded: how this is printed */
static void show_few(void)
{
    float x[1][6];
    Random r = random_seeded(123);
    normal_fill(&r, 1, 6, 0, 1, x);
    print_vector("torch.randn(6)", 6, x[0]);
}

/*
``` output
torch.randn(6) (6)
[-0.1115,  0.1204, -0.3696, -0.2404, -1.1969,  0.2093]
```

## torch.randn, for many {#random-groups}

From 16 numbers on speed counts, and PyTorch works on groups of 16 floats:
eight become distances, eight become angles, and together they make 16
normal numbers. The C library's `logf`, `sinf` and `cosf` take one number at
a time. So PyTorch's vector code brings its own three, adapted from an old
library [@moshier1989], which use polynomials. Near 0, the three functions
almost are polynomials, which we take on trust here:

$$\begin{aligned}
  \ln(1 + x) &\approx x - \frac{x^2}{2} + \frac{x^3}{3} - \dots \\
  \sin(x) &\approx x - \frac{x^3}{3!} + \frac{x^5}{5!} - \dots \\
  \cos(x) &\approx 1 - \frac{x^2}{2!} + \frac{x^4}{4!} - \dots
\end{aligned}$$

where $3! = 1 \cdot 2 \cdot 3$, and so on. Look for $1/3$, $-1/4$ and $1/5$
in the tables of coefficients below, or for $-1/3!$ and $1/5!$: you'll find
each of them, a little off. These small changes keep the error small over a
whole range instead of at one point. To get the same bits we need the same
coefficients and the same roundings, and most of PyTorch's steps are a
multiplication and an addition with one rounding, `fmaf` again. A polynomial
is computed from the inside out, as $(c_0 x + c_1) x + c_2$ and so on:
*/

static float polynomial(int n, const float c[n], float x)
{
    float y = c[0];
    for (int i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

/*
**The logarithm.** `frexpf` splits a float into $m \cdot 2^e$, with $m$ from
one half to 1. The logarithm is then $\ln(m) + e \cdot \ln(2)$, and if $m$
is near 1, the series gives $\ln(m)$ for $x = m - 1$. If $m$ is small,
double it and take 1 from $e$: with $0.3 = 0.6 / 2$, $m$ would be 0.6, and
with $0.3 = 1.2 / 4$ it is 1.2, so that $x$ is 0.2. The table has the
coefficients down to that of $x^3$; the terms $-x^2/2$ and $x$ are added at
the end. $\ln(2)$ comes in two parts: 0.693359375 has so few binary digits
that its product with $e$ is exact, and the other constant is the small
rest.
*/

static float log_of(float u)
{
    static const float c[9] = {
        7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
        -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
        2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    int e;
    const float m = frexpf(u, &e);
    const int is_small = m < 0.707106781186547524f; /* the root of 1/2 */
    e -= is_small;
    const float x = is_small ? (m - 1) + m : m - 1;
    const float square = x * x;
    float y =
        fmaf(polynomial(9, c, x) * x, square, (float)e * -2.12194440e-4f);
    y = fmaf(square, -0.5f, y);
    return fmaf((float)e, 0.693359375f, x + y);
}

/*
**Sine and cosine.** The polynomials need an angle near 0. So we subtract
quarters of a circle, until the rest is at most an eighth of a circle from
0. The code counts in eighths, a quarter being two: multiply the angle by
$4/\pi$, cut off the fraction, and round up to an even number, which is what
`+ 1` and `& ~1` do. An eighth is split into three constants, as $\ln(2)$
was into two. For the rest, one polynomial gives the sine $y$ and one the
cosine $z$. Turning back by the subtracted quarters swaps them, and changes
signs (four quarters are as good as none):

| quarters | sine | cosine |
|:---------|-----:|-------:|
| 0 | $y$ | $z$ |
| 1 | $z$ | $-y$ |
| 2 | $-y$ | $-z$ |
| 3 | $-z$ | $y$ |
*/

static void sine_and_cosine(float angle, float *sine, float *cosine)
{
    static const float s[3] = {-1.9515295891e-4f, 8.3321608736e-3f,
                               -1.6666654611e-1f};
    static const float c[3] = {2.443315711809948e-5f,
                               -1.388731625493765e-3f,
                               4.166664568298827e-2f};
    const int eighth = ((int)(angle * 1.27323954473516f) + 1) & ~1;
    float x = fmaf((float)eighth, -0.78515625f, angle);
    x = fmaf((float)eighth, -2.4187564849853515625e-4f, x);
    x = fmaf((float)eighth, -3.77489497744594108e-8f, x);
    const float square = x * x;
    const float y = fmaf(polynomial(3, s, square) * square, x, x);
    const float z =
        fmaf(polynomial(3, c, square) * square, square, -(square * 0.5f)) +
        1;
    const int is_swapped = eighth & 2; /* one or three quarters */
    *sine = is_swapped ? z : y;
    *cosine = is_swapped ? y : z;
    if (eighth & 4)
        *sine = -*sine;
    if (!((eighth - 2) & 4)) /* one or two quarters */
        *cosine = -*cosine;
}

/* Eight distances and eight angles become sixteen normal numbers. */
static void normal_group(float x[16], float mean, float deviation)
{
    for (int j = 0; j < 8; j++) {
        float sine, cosine;
        const float distance = sqrtf(-2 * log_of(1 - x[j]));
        sine_and_cosine((float)two_pi * x[j + 8], &sine, &cosine);
        x[j] = fmaf(distance * cosine, deviation, mean);
        x[j + 8] = fmaf(distance * sine, deviation, mean);
    }
}

/*
What if the count is no multiple of 16? The last numbers fill no group. So
PyTorch draws 16 more and makes a group of the *last* 16 entries, some of
which had their normal numbers already. Of 18 entries, only the first two
keep theirs:

![How 18 entries are filled. The numbers count the draws; cells without
colour are uniform](groups.svg){#fig-groups}
*/

void normal_fill(Random *r, int n, int m, double mean, double deviation,
                 float x[n][m])
{
    const size_t count = (size_t)n * (size_t)m;
    const float mean_f = (float)mean, deviation_f = (float)deviation;
    float *flat = x[0];
    if (!(deviation >= 0) || !isfinite(deviation_f) || !isfinite(mean_f))
        REFUSE("normal numbers around %g with deviation %g: finite floats "
               "are needed, the second not negative",
               mean, deviation);
    if (count < 16) {
        for (size_t i = 0; i < count; i++)
            flat[i] = (float)fma(one_normal(r), deviation, mean);
        return;
    }
    random_fill(r, n, m, x);
    for (size_t i = 0; i + 16 <= count; i += 16)
        normal_group(flat + i, mean_f, deviation_f);
    if (count % 16) {
        random_fill(r, 1, 16, ROWS(16, flat + count - 16));
        normal_group(flat + count - 16, mean_f, deviation_f);
    }
}

void embedding_fill(Random *r, int rows, int d, float table[rows][d])
{
    normal_fill(r, rows, d, 0, 1, table);
}

static void show_many(void)
{
    float x[6][3];
    Random r = random_seeded(123);
    normal_fill(&r, 6, 3, 0, 1, x);
    print_matrix("torch.randn(6, 3)", 6, 3, x);
}

/*
``` output
torch.randn(6, 3) (6, 3)
[[ 0.3374, -0.1778, -0.1690],
 [ 0.9178,  1.5810,  1.3010],
 [ 1.2753, -0.2010, -0.1606],
 [-0.4015,  0.9666, -1.1481],
 [-1.1589,  0.3255, -0.6315],
 [-2.8400, -0.7849, -1.4096]]
```

The seed is that of the six numbers above, and not one of them is here: six
are made in the first way, eighteen in the second. The first two are also
the first two of *Life* in [](#tokens-sentence), where many more were drawn
from the same seed; the third differs, because here the last sixteen of
eighteen were drawn again. If your embeddings differ from a tutorial's
though the seed is right, ask how many numbers were drawn at once.

Without AVX2, PyTorch's plain code calls the C library and differs in the
last digits of a float. Our groups of 16 are the same everywhere; for fewer
than 16 numbers, we call the C library too.

One case is left. On Intel's processors PyTorch used to leave dropout to
Intel's library MKL, which has a generator of its own, so one seed has two
answers. [](#mkl) draws the older one.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_integers();
    show_floats();
    show_range();
    show_bell();
    show_few();
    show_many();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch

torch.manual_seed(123)
print(torch.rand(6))
torch.manual_seed(789)
print(torch.empty(4).uniform_(-1, 1))
torch.manual_seed(123)
print(torch.randn(6))
torch.manual_seed(123)
print(torch.randn(6, 3))
```

## Further exercises

**Exercise B.3** (★, challenge, 2 points): `seed_collision`. For any seed,
another one that gives the same numbers.

::: hint
Which bits of the seed does `random_seeded` use?
:::

::: done
Two seeds, one sequence. If you repeat a run with other seeds, you should
know which seeds really differ.
:::

**Exercise B.4** (by hand): `torch.rand` can give the number 0. Can it give
1? What is the largest number that it can give?

## Solutions

::: {.solution exercise="B.3"}
Any change above the lower 32 bits will do, for instance in the topmost.
*/

uint64_t seed_collision(uint64_t seed)
{
    const uint64_t top = UINT64_C(1) << 63;
    return seed ^ top;
}

/*
:::

::: {.solution exercise="B.4"}
No: 24 ones in binary, divided by $2^{24}$, are $1 - 2^{-24}$. That is the
largest, and the next float above it is 1.
:::
*/
