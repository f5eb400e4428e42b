/*
# Random numbers: a seed is a whole sequence {#random}

![The way from words to attention. This chapter is about where the matrices
of the shaded step come from](pipeline.svg){#fig-random-pipeline}

In [](#qkv) we made matrices by hand. Nobody does that for a model with
billions of entries. Its matrices begin with random numbers, and training
improves them from there. For a reader who follows a tutorial, that is an
obstacle. The tutorial says 0.4306, you draw random numbers of your own, see
something else, and cannot tell whether you have made a mistake.

The way out is to draw the tutorial's own random numbers. A computer draws
nothing by chance. It computes numbers that merely look random, and begins
from a single number, the **random seed**, or **seed** for short. From the
same seed come the same numbers, in the same order. After
`torch.manual_seed(123)`, every number that PyTorch will draw is fixed. In
this chapter we build the generator that PyTorch uses on a CPU, the Mersenne
Twister [@matsumoto1998]. Then a seed gives the same numbers here as there.

Nothing later in the book depends on how the bits are stirred. If you are
after attention alone, take it for granted that `random_seeded`,
`random_fill` (from 0 to 1) and `uniform_fill` (between any limits) do what
PyTorch does, and go on to [](#random-tutorials).
*/

#include "attention/04_random.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "support.h"

/*
## A large state, stirred

The generator keeps 624 numbers of 32 bits each, its **state**, and the
index of the next one to be handed out. ([](#normals) uses `has_spare` and
`spare`.)

::: {.header of="Random"}
:::

The seed is the first number. Each further number is made from the number
before, so that a small seed fills all of them:
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
`{.next = RANDOM_STATE}` sets one field of a struct, and all others to 0;
`RANDOM_STATE` is 624. `^` is exclusive or, `|` is or, `>>` shifts bits to
the right. A `u` behind a constant makes it unsigned. A `uint32_t` is an
unsigned number of 32 bits; sums and products lose all higher bits. The
seed, too, keeps only its lower 32 bits. The constants here and below were
found by search, and tested; no formula gives them.

These first 624 numbers are never handed out. Before the first draw, and
again whenever all 624 numbers have been used up, the state is stirred, or
*twisted*, into 624 new numbers. Call the numbers of the state $x_0, x_1,
\dots$ The new $x_i$ is made in three steps:

1. Put the top bit of $x_i$ before the lower 31 bits of $x_{i+1}$. Call the
   result $y$, and its last bit $b$.
2. Shift $y$ to the right by one bit, so that $b$ drops out.
3. Combine the shifted $y$ by exclusive or with $x_{i+397}$, and, if $b$ is
   1, with the constant $c$, `0x9908b0df`, too.

In the formula, $\oplus$ is exclusive or, $\gg$ is the shift, and $x_i'$ is
the new $x_i$:

$$x_i' = x_{i+397} \oplus (y \gg 1) \oplus b\,c$$

![How number 1 of the state becomes new, for seed 123. Here $b$ is 1:
exclusive or of the shifted $y$, the constant and number 398 is the new
number](twist.svg){#fig-twist}

Where $i + 1$ or $i + 397$ runs past the last number, count on from $x_0$,
which is new by then.

**Exercise 4.1** (★★★, 4 points): `random_twist`. It changes the state in
place, from the first number to the last.

::: hint
A bit is taken out of a number by `&`, with a number that has just this bit.
`0x80000000u` has the topmost, `0x7fffffffu` all others.
:::

::: hint
`% RANDOM_STATE` leads from behind the last number back to the first.
:::

::: hint
By the time the last numbers are made, the first are already new, and it is
the new ones that are used. That is as it should be.
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

/* folded: how this is drawn */
/* A row of the figure: the first and last eight bits of x. The topmost
 * `joined` bits are one number's, the rest another's; -1 is pale. */
static void fill_twist_row(uint32_t x, int joined, int first, int rest,
                           const char *cell[17], int part[17])
{
    for (int j = 0; j < 17; j++) {
        const int bit = j < 8 ? 31 - j : 16 - j;
        cell[j] = j == 8 ? "…" : x >> bit & 1 ? "1" : "0";
        part[j] = j < joined ? first : rest;
    }
}

static void draw_twist(void)
{
    enum { N_ROWS = 7, COLUMNS = 17 };
    const char *const row[N_ROWS] = {
        "number 1",   "number 2",   "y",           "y >> 1",
        "0x9908b0df", "number 398", "new number 1"};
    const char *cell[N_ROWS][COLUMNS];
    int part[N_ROWS][COLUMNS];
    Random r = random_seeded(123);
    const uint32_t x = r.state[1], next = r.state[2];
    const uint32_t y = (x & 0x80000000u) | (next & 0x7fffffffu);
    fill_twist_row(x, 1, 0, -1, cell[0], part[0]);
    fill_twist_row(next, 1, -1, 1, cell[1], part[1]);
    fill_twist_row(y, 1, 0, 1, cell[2], part[2]);
    fill_twist_row(y >> 1, 1, -1, 1, cell[3], part[3]);
    part[3][1] = 0; /* the top bit has moved by one */
    fill_twist_row(y & 1 ? 0x9908b0dfu : 0, 0, 2, 2, cell[4], part[4]);
    fill_twist_row(r.state[398], 0, 3, 3, cell[5], part[5]);
    random_twist(r.state);
    fill_twist_row(r.state[1], 0, -1, -1, cell[6], part[6]);
    const FigureLayout layout = {"the first 8 and the last 8 of 32 bits",
                                 N_ROWS,
                                 COLUMNS,
                                 row,
                                 NULL,
                                 cell[0],
                                 part[0]};
    figure_layout("twist", "A twist from seed 123, bit by bit", 1, &layout);
}

/*
The new numbers are not handed out as they are, either. A few shifts and
masks first spread the bits of a number, which is called tempering:
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

/* Two draws make 64 bits, the first of them the upper half, for the doubles
 * of appendix B. */
uint64_t random_u64(Random *r)
{
    uint64_t upper = random_u32(r);
    return upper << 32 | random_u32(r);
}

/* folded: how this is printed */
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

## From bits to floats

`torch.rand` gives numbers from 0 to just below 1, not integers of 32 bits.
The obvious way to get there is to divide by $2^{32}$. But a float has room
for 24 binary digits only, so most of those quotients would have to be
rounded. The largest would be rounded up to 1, which is not meant to occur.
So PyTorch keeps the lower 24 bits and drops the rest. A number of 24 bits,
divided by $2^{24}$, is exactly a float.
*/

float random_float(Random *r)
{
    return (float)(random_u32(r) & 0xffffff) * 0x1p-24f;
}

/*
(`0x1p-24f` is C's way of writing $2^{-24}$. `0xffffff` is 24 ones in
binary.)

![The first draw from seed 123. The shaded bits are
kept](bits.svg){#fig-bits}

A table is filled row by row, each entry with the next draw:
*/

void random_fill(Random *r, int n, int m, float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = random_float(r);
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
These are the first random numbers that PyTorch gives for seed 123:

``` output
torch.rand(6) (6)
[0.2961, 0.5166, 0.2517, 0.6886, 0.0740, 0.8665]
```

## Any range

Numbers that are spread evenly between two limits are called **uniform**.
The limits need not be 0 and 1: [](#self-attention-range) needs others.
Stretch and shift a number $u$ between 0 and 1: it becomes $u \cdot
(\text{high} - \text{low}) + \text{low}$.

To agree with PyTorch to the last bit, we must also round where it rounds.
PyTorch takes the difference of the limits as a float, but multiplies and
adds in a single step, with one rounding at the end. C's `fmaf`, for "fused
multiply and add", does the same.

**Exercise 4.2** (★★, 3 points): `uniform_fill`. It fills a table row by
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

## The numbers of the tutorials {#random-tutorials}

Everything is ready to follow Ma Yumin [@ma2026] and *Self-Attention,
Retold* [@selfattention2025], which both retell a chapter of Raschka's book
[@raschka2024book]. They take the six words of [](#softmax) and draw three
matrices from seed 123, one after the other. Our `random_role` draws a
matrix, multiplies by it and forgets it. `qkv_from_seed` does so three
times:
*/

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

/*
::: question
Each of the three matrices has 3 times 2 entries. If a tutorial drew
`w_value` first, and then the other two, which of the three would be the
same?

None. Each matrix would be made of other draws. The order of the draws
matters as much as the seed.
:::

In the tutorials' Python, each matrix is made by
`torch.nn.Parameter(torch.rand(3, 2), requires_grad=False)`. `nn.Parameter`
says that its entries are parameters, numbers that training may change. For
training, PyTorch keeps a record of how each result came about. Beside the
numbers, it then prints `grad_fn=...` or `requires_grad=True`. Nothing is
trained here, so `requires_grad=False` turns the record off and keeps the
print clean. (Another such note, `dtype=...`, names the type of the numbers
where it is not the usual one.)

With these matrices, the six words $X$ become queries, keys and values:

$$\underset{6 \times 2}{Q}
    = \underset{6 \times 3}{X}\;\underset{3 \times 2}{W_Q}, \qquad
  \underset{6 \times 2}{K}
    = \underset{6 \times 3}{X}\;\underset{3 \times 2}{W_K}, \qquad
  \underset{6 \times 2}{V}
    = \underset{6 \times 3}{X}\;\underset{3 \times 2}{W_V}$$

Then the second word, *journey*, asks. Its query $q$ meets all six keys,
which gives six scores:

$$\underset{1 \times 6}{s}
    = \underset{1 \times 2}{q}\;\underset{2 \times 6}{K^\top}$$

Since *journey* is the second word, the tutorials call its embedding `x_2`
and its query `query_2`. But Python counts from 0, as C does, and in their
programs the same embedding is `inputs[1]`. So `query_2` is `query[1]`.
*/

/* folded: how this is printed */
static void show_journey(void)
{
    float query[6][2], key[6][2], value[6][2], turned[2][6], scores[6][6];
    float w_query[3][2]; /* drawn once more, to be seen */
    Random r = random_seeded(123);
    random_fill(&r, 3, 2, w_query);
    qkv_from_seed(123, 6, 3, 2, 2, journey, query, key, value);
    transpose(6, 2, key, turned);
    dot_scores(6, 6, 2, query, key, scores);

    print_vector("x_2, the embedding of journey", 3, journey[1]);
    print_matrix("W_query", 3, 2, w_query);
    print_vector("query_2", 2, query[1]);
    print_matrix("queries", 6, 2, query);
    printf("keys.shape: (%zu, %zu)\n", sizeof key / sizeof *key,
           sizeof *key / sizeof **key);
    printf("values.shape: (%zu, %zu)\n", sizeof value / sizeof *value,
           sizeof *value / sizeof **value);
    print_value("query_2 . key_2", scores[1][1]);
    print_matrix("keys transposed", 2, 6, turned);
    print_vector("scores of journey", 6, scores[1]);
}

/*
``` output
x_2, the embedding of journey (3)
[0.5500, 0.8700, 0.6600]
W_query (3, 2)
[[0.2961, 0.5166],
 [0.2517, 0.6886],
 [0.0740, 0.8665]]
query_2 (2)
[0.4306, 1.4551]
queries (6, 2)
[[0.2309, 1.0966],
 [0.4306, 1.4551],
 [0.4300, 1.4343],
 [0.2355, 0.7990],
 [0.2983, 0.6565],
 [0.2568, 1.0533]]
```

``` output
keys.shape: (6, 2)
values.shape: (6, 2)
query_2 . key_2: 1.8524
keys transposed (2, 6)
[[0.3669, 0.4433, 0.4361, 0.2408, 0.1827, 0.3275],
 [0.7646, 1.1419, 1.1156, 0.6706, 0.3292, 0.9642]]
scores of journey (6)
[1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]
```

All of these are the tutorials' own numbers, from the query, 0.4306 and
1.4551, to the score of *journey* with itself, 1.8524. The numbers mean
nothing: random matrices ask for nothing in particular.

Softmax, known from [](#softmax), could now make shares of the scores. But
the tutorials first divide the scores by a number. Which number, and why, is
the idea of [](#scaling), which begins at these six scores.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles");
    draw_twist();
    show_integers();
    show_floats();
    show_range();
    show_journey();
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

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(123)
W_query, W_key, W_value = [torch.rand(3, 2) for _ in range(3)]
query_2, keys = journey[1] @ W_query, journey @ W_key
print(W_query)
print(query_2)
print(keys.T)
print(query_2 @ keys.T)
```

What is still missing is a way from words to embeddings. So far we have
typed the embeddings in.

## Further exercises

**Exercise 4.3** (★, challenge, 2 points): `seed_collision`. For any seed,
another one that gives the same numbers.

::: hint
Which bits of the seed does `random_seeded` use?
:::

::: done
Two seeds, one sequence. To repeat a run with other seeds, one should know
which seeds really differ.
:::

**Exercise 4.4** (by hand): `torch.rand` can give the number 0. Can it give
1? What is the largest number that it can give?

## Solutions

::: {.solution exercise="4.3"}
Any change above the lower 32 bits will do, for instance in the topmost.
*/

uint64_t seed_collision(uint64_t seed)
{
    const uint64_t top = UINT64_C(1) << 63;
    return seed ^ top;
}

/*
:::

::: {.solution exercise="4.4"}
No: 24 ones in binary, divided by $2^{24}$, are $1 - 2^{-24}$. That is the
largest, and the next float above it is 1.
:::
*/
