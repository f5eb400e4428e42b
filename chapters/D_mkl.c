/*
# Dropout with MKL: two tables from one seed {#mkl}

[](#dropout) draws its masks as PyTorch draws them today. On Intel's
processors PyTorch used to draw other masks from the same seed, and some
results in notebooks and forums were made with those. This appendix tells
why there are two, and draws the older masks as well. If your numbers have
always agreed with the tutorials', you may skip it.
*/

#include "attention/D_mkl.h"
#include "attention/10_dropout.h"
#include "support.h"

/*
## What readers saw {#mkl-readers}

In [2024]{.cited} a reader of Raschka's book [@raschka2024book] ran its
notebook, unchanged, with the seed that the notebook names. All numbers
agreed as far as the first dropout. For a table of ones, a rate of one half
and the seed 123, the notebook has the first of the two tables below. The
reader got the second [@llms57].
*/

/* folded: how this is printed */
static void show_tables(void)
{
    float keep_mask[2][6][6], ones[6][6], dropped[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            ones[i][j] = 1;
    Random r = random_seeded(123);
    dropout_mask(&r, 0.5, 6, 6, keep_mask[0]);
    r = random_seeded(123);
    dropout_mask_mcg31(&r, 0.5, 6, 6, keep_mask[1]);
    dropout_apply(0.5, 6, 6, keep_mask[0], ones, dropped);
    print_matrix("dropout of ones", 6, 6, dropped);
    dropout_apply(0.5, 6, 6, keep_mask[1], ones, dropped);
    print_matrix("dropout of ones, MCG31", 6, 6, dropped);
    figure_grid("survivors", "Which of 36 entries survive", 2,
                (const char *const[]){"today", "MCG31"}, 6, 6, keep_mask);
}

/*
``` output
dropout of ones (6, 6)
[[2.0000, 2.0000, 0.0000, 2.0000, 2.0000, 0.0000],
 [0.0000, 0.0000, 0.0000, 2.0000, 0.0000, 2.0000],
 [2.0000, 2.0000, 2.0000, 2.0000, 0.0000, 2.0000],
 [0.0000, 2.0000, 2.0000, 0.0000, 0.0000, 2.0000],
 [0.0000, 2.0000, 0.0000, 2.0000, 0.0000, 2.0000],
 [0.0000, 2.0000, 2.0000, 2.0000, 2.0000, 0.0000]]
dropout of ones, MCG31 (6, 6)
[[2.0000, 2.0000, 2.0000, 2.0000, 2.0000, 2.0000],
 [0.0000, 2.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 2.0000, 0.0000, 2.0000, 0.0000],
 [2.0000, 2.0000, 0.0000, 0.0000, 0.0000, 2.0000],
 [2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 2.0000],
 [0.0000, 2.0000, 0.0000, 0.0000, 0.0000, 0.0000]]
```

![The dropout mask of seed 123, as PyTorch draws it today and as MCG31 drew
it. What is filled survives](survivors.svg){#fig-survivors}

Others had seen such differences before. The results of one program had
differed between a Mac and Linux [@pytorch15714], and between an older Mac
with a processor by Intel and a newer Mac without [@pytorch84030]. The
numbers of `torch.rand` agreed; only dropout differed.

Dropout needs a random number for each entry of large tables, and in
[2018]{.cited} PyTorch's dropout was made much faster with a library of
Intel's, MKL [@pytorch7171]. MKL has generators of its own, and PyTorch
called MKL on Intel's processors only. There, up to version [2.6]{.cited},
dropout took its random numbers from a generator called MCG31, while
`torch.rand` went on with the Mersenne Twister of [](#random). Each table
began MCG31 anew, in one of two thousand million states. In a long run two
tables got the same beginning, and so the same mask. Therefore PyTorch gave
MCG31 up [@pytorch146174].

## The other generator {#mkl-generator}

MCG31 is a small generator [@intelmcg31]. Its state is one number from 1 to
$2^{31} - 2$, and the next state is

$$x_{k+1} = 1132489760 \cdot x_k \bmod (2^{31} - 1)$$

The first state is a single draw of the Mersenne Twister, of which the
remainder is taken in the same way; a 0, which would stay 0 for ever,
becomes a 1. The random numbers are the states, the first included, divided
by $2^{31} - 1$. MKL divides floats, and rounds $1 - p$ to a float as well.
*/

void dropout_mask_mcg31(Random *r, double p, int n, int m, float mask[n][m])
{
    dropout_rate_check(p);
    const uint64_t modulus = (UINT64_C(1) << 31) - 1;
    const int is_drawn = p > 0 && p < 1;
    const float limit = (float)(1 - p);
    uint64_t x = is_drawn ? random_u32(r) % modulus : 0;
    if (x == 0)
        x = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const float draw = (float)x / (float)modulus;
            mask[i][j] = is_drawn ? draw < limit : p == 0;
            x = 1132489760 * x % modulus;
        }
}

/*
## Is it the right one? {#mkl-asked}

Today's PyTorch no longer calls MKL, but we can. Python's `pip install mkl`
brings the library itself, for processors of Intel's kind; PyTorch called
its functions `vslNewStream` and `viRngBernoulli`. `golden/generate.py`
calls them too, and keeps the answers beside the code: for ten seeds and
five rates, eighteen thousand draws each; for first draws with which MCG31
cannot begin; and for rates so near to a draw that the last digit of a float
decides. The function above agrees with all answers, and `make test`
compares them again. (Where a draw lies halfway between two floats, MKL
rounds one way on one processor and the other way on another. Such draws are
left out.)

The function also agrees with what people have published: with the reader's
36 draws, and with three more reports. The first report has five draws of
seed 0 with a rate of one half, on a Mac and on Linux [@pytorch15714]. The
second has fifteen draws of seed 314159, of which three quarters are to be
kept [@pytorch94388]. The third draws ten numbers from seed 123 with
`torch.rand`, applies a dropout of one half and prints the sum, on both Macs
[@pytorch84030]. Each time the older Mac, or Linux, had the numbers of
MCG31.
*/

/* folded: how this is printed */
static void print_sum(const char *label,
                      void draw(Random *r, double p, int n, int m,
                                float mask[n][m]))
{
    float x[1][10], keep_mask[1][10], dropped[1][10], sum = 0;
    Random r = random_seeded(123);
    random_fill(&r, 1, 10, x);
    draw(&r, 0.5, 1, 10, keep_mask);
    dropout_apply(0.5, 1, 10, keep_mask, x, dropped);
    for (int j = 0; j < 10; j++)
        sum += dropped[0][j];
    print_value(label, sum);
}

static void show_reports(void)
{
    float few[1][5], more[3][5];
    Random r = random_seeded(0);
    dropout_mask(&r, 0.5, 1, 5, few);
    print_vector("seed 0", 5, few[0]);
    r = random_seeded(0);
    dropout_mask_mcg31(&r, 0.5, 1, 5, few);
    print_vector("seed 0, MCG31", 5, few[0]);
    r = random_seeded(314159);
    dropout_mask_mcg31(&r, 0.25, 3, 5, more);
    print_matrix("seed 314159, MCG31", 3, 5, more);
    print_sum("sum of ten after dropout", dropout_mask);
    print_sum("the same, MCG31", dropout_mask_mcg31);
}

/*
``` output
seed 0 (5)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000]
seed 0, MCG31 (5)
[1.0000, 0.0000, 0.0000, 1.0000, 1.0000]
seed 314159, MCG31 (3, 5)
[[1.0000, 0.0000, 0.0000, 1.0000, 1.0000],
 [0.0000, 1.0000, 1.0000, 1.0000, 1.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 1.0000]]
sum of ten after dropout: 2.4471
the same, MCG31: 1.8894
```

So if a tutorial's dropout is not yours, try the other function.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_tables();
    show_reports();
    return 0;
}
