/*
# A seed is a whole sequence {#random}

![The way from words to attention. This chapter is about where the matrices
of the shaded step come from](pipeline.svg){#fig-random-pipeline}

In [](#qkv) we made matrices by hand. Nobody does that for a model with
billions of entries. Its matrices begin with random numbers, and training
improves them from there. That is a difficulty for a book. A tutorial says
"you should see 0.4306", you draw random numbers of your own, and see
something else. Unless your random numbers are the tutorial's.

They can be. A computer draws nothing by chance. It computes numbers that
merely look so, and begins from a single number, the **seed**. From the same
seed come the same numbers, all of them, in the same order. After
`torch.manual_seed(123)`, every number that PyTorch will draw is fixed, as
long as the same draws are made in the same order. In this chapter we build
the generator that PyTorch uses on a CPU, the **Mersenne Twister**
[@matsumoto1998], so that a seed here is the same seed there.
*/

#include "attention.h"

/*
## A large state, stirred

The generator keeps 624 numbers of 32 bits each, its **state**. The seed is
the first. Each further one is made from the one before, so that a small
seed fills all of them:
*/

void random_seed(Random *r, uint64_t seed)
{
    r->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < RANDOM_STATE; i++) {
        uint32_t before = r->state[i - 1];
        r->state[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    r->next = RANDOM_STATE; /* so the first draw will twist */
    r->has_kept = 0;
}

/*
`^` is exclusive or, `>>` shifts bits to the right, and the sum and product
are cut off at 32 bits, as C does with `uint32_t`. The constants here and
below were found by the authors of the generator, by search and proof; there
is no seeing why it is these.

The state that the seed has made is never handed out. First, and again
whenever all 624 numbers have been used up, it is stirred, or **twisted**,
into 624 new ones. For each number, its top bit is joined to the other bits
of the next number. The result is shifted to the right by one bit, and if
the bit that drops out was 1, combined by exclusive or with the constant
`0x9908b0df`. The new number is the exclusive or of that and of the number
397 places further on. Behind the last place the first comes again.

**Exercise 4.1** (★★★, 4 points): `random_twist`. It changes the state in
place, from the first number to the last.

::: hint
`y & 0x80000000u` is the top bit of `y`, and `y & 0x7fffffffu` the others.
:::

::: hint
`% RANDOM_STATE` leads from behind the last place back to the first.
:::

::: hint
By the time the last numbers are made, the first are already new, and it is
the new ones that are used. That is as it should be.
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
A number of the state is not handed out as it is. A few shifts and masks
spread its bits, which is called tempering:
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

/* Two draws make 64 bits, the first of them the upper half. */
uint64_t random_u64(Random *r)
{
    uint64_t upper = random_u32(r);
    return upper << 32 | random_u32(r);
}

static void show_integers(void)
{
    Random r;
    random_seed(&r, 123);
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

A seed may be larger than 32 bits, but look again at `random_seed`: it uses
the lower 32 and drops the rest. So two seeds that differ by $2^{32}$ are
one and the same:
*/

static void show_same_seed(void)
{
    const uint64_t seeds[2] = {5, 4294967301};
    puts("two seeds, and the first draw from each");
    for (int i = 0; i < 2; i++) {
        Random r;
        random_seed(&r, seeds[i]);
        printf("%" PRIu64 ": %" PRIu32 "\n", seeds[i], random_u32(&r));
    }
}

/*
``` output
two seeds, and the first draw from each
5: 953453411
4294967301: 953453411
```

## From bits to floats

`torch.rand` gives numbers from 0 to just below 1, not integers of 32 bits.
The obvious way to get there is to divide by $2^{32}$. But a float has room
for 24 binary digits only, so most of those quotients would have to be
rounded, and the largest would be rounded up to 1, which is not meant to
occur. PyTorch keeps the lower 24 bits, and drops the rest; divided by
$2^{24}$, every one of those is exactly a float.
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

Now to the question why we do all this. These are PyTorch's first random
numbers from seed 123, and ours:
*/

void rand_fill(Random *r, int n, int m, float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = random_float(r);
}

static void show_floats(void)
{
    Random r;
    float x[1][6];
    random_seed(&r, 123);
    uint32_t first = random_u32(&r);
    bits("bits", "The first draw from seed 123, bit by bit", first);
    random_seed(&r, 123);
    rand_fill(&r, 1, 6, x);
    print_vector("torch.rand(6)", 6, x[0]);
}

/*
``` output
torch.rand(6) (6)
[0.2961, 0.5166, 0.2517, 0.6886, 0.0740, 0.8665]
```

## Any range

For numbers between other limits, stretch and shift: the number $u$ between
0 and 1 becomes $u \cdot (\text{high} - \text{low}) + \text{low}$. To agree
with PyTorch to the last bit, we must round where it rounds. It takes the
difference of the limits as a float, but multiplies and adds in a single
step, with one rounding at the end. C has a function for that, `fmaf`, for
"fused multiply and add".

Numbers that are spread evenly between two limits are called **uniform**.

**Exercise 4.2** (★★, 3 points): `uniform_fill`. If the result is `high`,
through rounding, PyTorch replaces it by `low`, since `high` itself is not
meant to occur. It refuses limits in the wrong order, and limits that are
not finite or whose difference is not.

::: hint
`fmaf(a, b, c)` gives `a * b + c`, rounded once.
:::

::: hint
Draw the numbers in order, with `random_float`.
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

static void show_range(void)
{
    Random r;
    float x[1][4];
    random_seed(&r, 789);
    uniform_fill(&r, 1, 4, -1, 1, x);
    print_vector("from -1 to 1, seed 789", 4, x[0]);
}

/*
``` output
from -1 to 1, seed 789 (4)
[ 0.5474,  0.7912,  0.8865, -0.2915]
```
*/

/*
## The numbers of the tutorials {#random-tutorials}

Everything is ready to follow two Chinese tutorials [@selfattention2025;
@ma2026], which both retell a chapter of a book [@raschka2024book]. They
take the six words of [](#softmax), draw three matrices from seed 123 with
`torch.rand`, three rows and two columns each, and let the second word,
*journey*, ask.
*/

static void show_journey(void)
{
    Random r;
    float w_query[3][2], w_key[3][2], w_value[3][2];
    float query[6][2], key[6][2], value[6][2], turned[2][6], scores[6][6];
    random_seed(&r, 123);
    rand_fill(&r, 3, 2, w_query);
    rand_fill(&r, 3, 2, w_key);
    rand_fill(&r, 3, 2, w_value);
    project(6, 3, 2, 2, journey, w_query, w_key, w_value, query, key,
            value);
    transpose(6, 2, key, turned);
    dot_scores(6, 6, 2, query, key, scores);

    print_vector("x_2, the embedding of journey", 3, journey[1]);
    print_matrix("W_query", 3, 2, w_query);
    print_matrix("W_key", 3, 2, w_key);
    print_matrix("W_value", 3, 2, w_value);
    print_vector("query_2", 2, query[1]);
    print_matrix("queries", 6, 2, query);
    print_matrix("keys", 6, 2, key);
    print_matrix("keys transposed", 2, 6, turned);
    print_matrix("values", 6, 2, value);
    print_value("query_2 . key_2", scores[1][1]);
    print_vector("scores of journey", 6, scores[1]);
}

/*
::: question
The three matrices have 18 entries together, all drawn one after the other
from one seed. If a tutorial drew W_value first, and then the other two,
which of the three would be the same?

None. Each would be made of other draws. The order of the draws is part of
the recipe as much as the seed.
:::

``` output
x_2, the embedding of journey (3)
[0.5500, 0.8700, 0.6600]
W_query (3, 2)
[[0.2961, 0.5166],
 [0.2517, 0.6886],
 [0.0740, 0.8665]]
W_key (3, 2)
[[0.1366, 0.1025],
 [0.1841, 0.7264],
 [0.3153, 0.6871]]
W_value (3, 2)
[[0.0756, 0.1966],
 [0.3164, 0.4017],
 [0.1186, 0.8274]]
```

``` output
query_2 (2)
[0.4306, 1.4551]
queries (6, 2)
[[0.2309, 1.0966],
 [0.4306, 1.4551],
 [0.4300, 1.4343],
 [0.2355, 0.7990],
 [0.2983, 0.6565],
 [0.2568, 1.0533]]
keys (6, 2)
[[0.3669, 0.7646],
 [0.4433, 1.1419],
 [0.4361, 1.1156],
 [0.2408, 0.6706],
 [0.1827, 0.3292],
 [0.3275, 0.9642]]
keys transposed (2, 6)
[[0.3669, 0.4433, 0.4361, 0.2408, 0.1827, 0.3275],
 [0.7646, 1.1419, 1.1156, 0.6706, 0.3292, 0.9642]]
```

``` output
values (6, 2)
[[0.1855, 0.8812],
 [0.3951, 1.0037],
 [0.3879, 0.9831],
 [0.2393, 0.5493],
 [0.1492, 0.3346],
 [0.3221, 0.7863]]
query_2 . key_2: 1.8524
```

``` output
scores of journey (6)
[1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]
```

The tutorials print 0.4306 and 1.4551 for the query, 1.8524 for the score of
*journey* with itself, and the six scores above. What the tutorials do next
needs one more idea, and comes after it.

As for meaning, there is none. Random matrices ask for nothing in
particular.

::: aside
In one of the two, the score 1.8524 is called $w_{2,2}$, as if it were a
weight [@ma2026]. It is a score, for which the author of the book that both
retell writes $\omega_{2,2}$, with an omega [@raschka2024magazine]. The
product of two tables is written with a star there, $Q * K^\top$, which in
PyTorch would multiply entry by entry, and fail, since the shapes differ.
:::

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "roles");
    show_integers();
    show_same_seed();
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
typed them in.

## Further exercises

**Exercise 4.3** (★, challenge, 2 points): `seed_collision`. For any seed,
another one that gives the same numbers.

::: hint
Which bits of the seed does `random_seed` use?
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
