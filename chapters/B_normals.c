/*
# torch.randn: normal numbers, to the last bit {#normals}

[](#tokens-normal) shows how two uniform numbers become two normal numbers,
by way of a dart's distance and its angle. Here the same is done so that the
numbers are PyTorch's to the last bit. The chapters call `normal_fill`,
`embedding_fill` and `random_double`, and need nothing else of this
appendix.
*/

#include "attention/B_normals.h"
#include "support.h"

/*
## Few numbers

For fewer than 16 numbers, PyTorch draws the angle first, then the distance,
both as `double`, which has room for 53 binary digits. Our uniform numbers
may be 0 and never reach 1. Since $\ln(0)$ has no value, $1 - u$ takes the
place of $u$. Normal numbers come in pairs; if an odd number of them is
wanted, the second of the last pair is kept for the next call.
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
(`log1p(-u)` is the logarithm of $1 - u$, without the loss of digits that
the subtraction would bring.)

## Many numbers

From 16 numbers on, speed counts, and PyTorch works on groups of 16 floats.
Eight of them become distances and eight angles, which make 16 normal
numbers. The functions `logf`, `sinf` and `cosf` of the C library take one
number at a time. So PyTorch's vector code has functions of its own, from a
library of the nineteen-eighties [@moshier1989], which compute with
polynomials. Near 0, the three functions are almost polynomials:

$$\begin{aligned}
  \ln(1 + x) &\approx x - \frac{x^2}{2} + \frac{x^3}{3} - \dots \\
  \sin(x) &\approx x - \frac{x^3}{3!} + \frac{x^5}{5!} - \dots \\
  \cos(x) &\approx 1 - \frac{x^2}{2!} + \frac{x^4}{4!} - \dots
\end{aligned}$$

where $3! = 1 \cdot 2 \cdot 3$, and so on. In the tables of coefficients
below you can find $1/3$, $-1/4$ and $1/5$, or $-1/3!$ and $1/5!$, each a
little off. These changes keep the error small over a whole range. To get
the same bits, we need the same coefficients, and must round where PyTorch
rounds. Most of PyTorch's steps are a multiplication and an addition with
one rounding at the end, `fmaf`, as in [](#random). A polynomial is computed
from the inside out, as $(c_0 x + c_1) x + c_2$ and so on:
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
one half to 1. The logarithm is $\ln(m) + e \cdot \ln(2)$. The series above
gives $\ln(m)$ for $x = m - 1$, if $m$ is near 1. So where $m$ is small,
double $m$ and take 1 from $e$: for $0.3 = 0.6 / 2$, $m$ would be 0.6, and
with $0.3 = 1.2 / 4$ it is 1.2, so that $x$ is 0.2. The table has the
coefficients down to that of $x^3$; the terms $-x^2/2$ and $x$ are added at
the end. The second summand is added in two steps, since $\ln(2)$ is split:
0.693359375 has so few binary digits that its product with $e$ is exact, and
the other constant is the small rest.
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
**Sine and cosine.** The polynomials need an angle near 0. So some quarters
of a circle are subtracted, until the rest lies within an eighth of a circle
of 0. The code counts a quarter as two eighths; `& ~1` makes the count even.
An eighth is split into three constants, as $\ln(2)$ was into two. For the
rest, one polynomial gives the sine $y$ and one the cosine $z$. Turning back
by the subtracted quarters exchanges them, with signs:

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
    if (!((eighth - 2) & 4))
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
One rule is left. If the count is no multiple of 16, the last numbers fill
no group. PyTorch then draws 16 more numbers, and makes a group of the
*last* 16 entries, most of which had their normal numbers already. Of 18
entries, only the first two keep theirs:

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
               "are needed, the second from 0 on",
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

/*
## Everything together
*/

/* folded: how this is printed */
/* Four rows of 18 cells: all drawn; 16 made normal; 16 drawn again; those
 * made normal. */
static void draw_groups(void)
{
    enum { N_ROWS = 4, COUNT = 18, GROUP = 16, KEPT = COUNT - GROUP };
    static char text[N_ROWS][COUNT][12];
    const char *const row[N_ROWS] = {"drawn", "normal", "drawn", "normal"};
    const char *cell[N_ROWS][COUNT];
    const int n_normal[N_ROWS] = {0, GROUP, KEPT, COUNT};
    int part[N_ROWS][COUNT];
    for (int i = 0; i < N_ROWS; i++)
        for (int j = 0; j < COUNT; j++) {
            const int is_new = i >= 2 && j >= KEPT;
            snprintf(text[i][j], sizeof *text[i], "%d",
                     j + 1 + (is_new ? GROUP : 0));
            cell[i][j] = text[i][j];
            part[i][j] = j < n_normal[i] ? is_new : -1;
        }
    const FigureLayout layout = {"18 entries, in four steps",
                                 N_ROWS,
                                 COUNT,
                                 row,
                                 NULL,
                                 cell[0],
                                 part[0]};
    figure_layout("groups", "Filling 18 entries with normal numbers", 1,
                  &layout);
}

static void show_normals(void)
{
    float few[1][6], many[6][3];
    Random r = random_seeded(123);
    normal_fill(&r, 1, 6, 0, 1, few);
    print_vector("torch.randn(6)", 6, few[0]);
    r = random_seeded(123);
    normal_fill(&r, 6, 3, 0, 1, many);
    print_matrix("torch.randn(6, 3)", 6, 3, many);
}

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    draw_groups();
    show_normals();
    return 0;
}

/*
``` output
torch.randn(6) (6)
[-0.1115,  0.1204, -0.3696, -0.2404, -1.1969,  0.2093]
torch.randn(6, 3) (6, 3)
[[ 0.3374, -0.1778, -0.1690],
 [ 0.9178,  1.5810,  1.3010],
 [ 1.2753, -0.2010, -0.1606],
 [-0.4015,  0.9666, -1.1481],
 [-1.1589,  0.3255, -0.6315],
 [-2.8400, -0.7849, -1.4096]]
```

The first six of eighteen numbers are not the six numbers of before, though
the seed is the same: six are made in the first way, eighteen in the second.

Our numbers are PyTorch's on x86 processors with the vector instructions
AVX2. Elsewhere PyTorch's plain code calls the C library and differs in the
last digits of a float. Our groups of 16 are the same everywhere; for fewer
than 16 numbers, we call the C library too.
*/
