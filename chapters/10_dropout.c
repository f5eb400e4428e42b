/*
# Drop at random, keep the mean {#dropout}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-dropout-pipeline}

[](#causal-mask) took away from each word what it must not see. What it may
see is divided into shares that add up to one, and nothing keeps softmax
from giving nearly all of it to one word. That is a danger while a model
learns. Suppose that in the texts it is trained on, *dessert* happens to
follow *eat* every time. It can give all its attention to *eat*, be right
every time, and never learn what else there is to go by. It has learned its
texts by heart, and will fail with the next one. This is **overfitting**.

A good way to keep a team from leaning on a single member is to send
somebody home each day, by lot. **Dropout** does that to numbers
[@srivastava2014]. While the model is trained, and only then, some of the
attention weights are crossed out, chosen at random, and chosen anew each
time. Whatever is to be learned must be learned in a way that survives the
loss of any one of them.

Our weights come from a seed and have learned nothing, so there is nothing
here that dropout could improve. What it does to the numbers can be seen all
the same.
*/

#include "attention.h"

/*
Every attention weight is crossed out with the same probability $p$, the
**rate**, and stays with probability $1 - p$. A rate is a number from 0 to
1, and what is outside is refused. So is `nan`, with which a comparison like
these is false:
*/

void dropout_must_fit(double p)
{
    if (!(p >= 0 && p <= 1))
        REFUSE("a dropout rate of %g: from 0 to 1 is needed", p);
}

/*
## A lot for each

We draw a number from 0 to below 1 for each entry, and keep the entry if the
number is below $1 - p$. To drop the same entries as PyTorch, three things
must be as they are there. It draws row by row; drawn by columns, the same
lots would fall on other entries. It draws a double, `random_double` of
[](#normals), a number from 0 to below 1 like that of `random_float`, but
with more digits, for which it takes two of the generator's draws. And if
there is nothing to decide, because $p$ is 0 or 1, it draws nothing at all,
so that the numbers drawn next are those that would have come anyway.

**Exercise 10.1** (★★, 3 points): `dropout_mask`. A table of 1 for what is
kept and 0 for what is dropped.

::: hint
`dropout_must_fit(p)` first.
:::

::: hint
A comparison in C is 1 or 0, which is what the table holds.
:::

::: hint
If `p` is 0 or 1, what does the whole table hold?
:::
*/

void dropout_mask(Random *r, double p, int n, int m, float mask[n][m])
{
    dropout_must_fit(p);
    const int is_drawn = p > 0 && p < 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mask[i][j] = is_drawn ? random_double(r) < 1 - p : p == 0;
}

/*
Now the weights. Take the plainest there are: six words, each of which gives
every word one sixth. We drop half of them and look at what is left.
*/

static void row_sums(const char *label, const float x[6][6])
{
    float sums[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sums[i] += x[i][j];
    print_vector(label, 6, sums);
}

static void show_crossed_out(void)
{
    Random r;
    float kept[6][6], weights[6][6];
    random_seed(&r, 123);
    dropout_mask(&r, 0.5, 6, 6, kept);
    print_matrix("kept, seed 123", 6, 6, kept);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            weights[i][j] = kept[i][j] / 6;
    row_sums("row sums of the weights that are left", weights);
}

/*
``` output
kept, seed 123 (6, 6)
[[1.0000, 1.0000, 0.0000, 1.0000, 1.0000, 0.0000],
 [0.0000, 0.0000, 0.0000, 1.0000, 0.0000, 1.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 1.0000, 0.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 0.0000, 1.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 1.0000, 1.0000, 1.0000, 0.0000]]
row sums of the weights that are left (6)
[0.6667, 0.3333, 0.8333, 0.5000, 0.5000, 0.6667]
```

Each row had the sum 1, and now the sums lie around one half. That is what
one expects, and it is no good. A mixture
with half of the weights is a context vector of half the size, on the
average. The steps that come after would
be trained on vectors of that length. And when training is over, and nothing
is dropped any more, they would be given vectors twice as long as any they
have seen.

## Keep the mean {#dropout-mean}

There are two ways out. The authors of dropout multiplied by $1 - p$
afterwards, when the trained model is used. What is done today is the
reverse: divide by $1 - p$ while training, so that nobody needs to think of
it later. This is **inverted dropout**. A weight $w$ becomes
$w / (1 - p)$ with probability $1 - p$, and 0 with probability $p$. In many
draws, a part $1 - p$ of them gives the one and a part $p$ the other, so
that the mean of all draws comes close to

$$(1 - p) \cdot \frac{w}{1 - p} + p \cdot 0 = w$$

The single weight is wrong each time. On the average it is right.

**Exercise 10.2** (★★, 3 points): `dropout_apply`. What is kept is
multiplied by $1/(1 - p)$, and what is dropped by 0. To get PyTorch's bits,
round $1 - p$ to a float before dividing 1 by it, and multiply.

::: hint
`1 / (float)(1 - p)` is a division of floats.
:::

::: hint
Multiply by 0 even though the result seems clear. What is 0 times infinity?
:::
*/

void dropout_apply(double p, int n, int m, const float mask[n][m],
                   const float x[n][m], float y[n][m])
{
    dropout_must_fit(p);
    const float scale = 1 / (float)(1 - p);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][j] * (mask[i][j] != 0 ? scale : 0);
}

/*
To see it, we take the six rows of one sixth again, with the same seed and
so the same lots; and before them a table of ones, whose dropout shows the
mask and the factor at the same time.

::: question
With a rate of one half, can a row that is left with scaled weights still
have the sum 1?

It can, and only if exactly three of its six weights survive: each of them
is then one third. Four survivors make four thirds, two make two thirds.
:::
*/

static void fill(float x[6][6], float value)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            x[i][j] = value;
}

static void show_scaled(void)
{
    Random r;
    float kept[6][6], ones[6][6], sixths[6][6], dropped[6][6];
    fill(ones, 1);
    fill(sixths, 1 / 6.0f);
    random_seed(&r, 123);
    dropout_mask(&r, 0.5, 6, 6, kept);
    dropout_apply(0.5, 6, 6, kept, ones, dropped);
    print_matrix("dropout of ones", 6, 6, dropped);
    dropout_apply(0.5, 6, 6, kept, sixths, dropped);
    row_sums("row sums of sixths after dropout", dropped);
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
row sums of sixths after dropout (6)
[1.3333, 0.6667, 1.6667, 1.0000, 1.0000, 1.3333]
```

The sums go from 0.6667 to 1.6667. They are no longer one, and nothing makes
them one again: it is the mean that is kept, not the sum of each draw. (One
could divide each row by its sum, as in [](#causal-mask). But then the
survivors would share what the others have lost, and a row that has lost
everything would be `nan`.)

::: aside
That dropout sets some attention weights to zero is the usual description
[@hacktricks], and half of it. The other half, the division, tends to
surprise. People have reported as a fault that the rows of their weights
did not add up to one any more [@pytorch42929], and there is nothing to
mend.
:::

And the mean, is it really kept? We need weights that are not all the same.
The tutorials' own are those of *Your journey starts with one step*, with
linear layers from seed 789 and the future hidden:
*/

static void causal_weights(float weights[6][6])
{
    Random r;
    Attention a;
    random_seed(&r, 789);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    Trace t = trace_for(&a, 6, 6);
    attention_roles(&a, 6, 6, journey, journey, &t);
    masked_weights(6, 6, 2, see_past(0), (void *)t.query, (void *)t.key,
                   (void *)t.scores, weights);
    trace_free(&t);
    attention_free(&a);
}

/* The mean of what many dropouts make of six weights. */
static void mean_of(int draws, const float weights[1][6], float mean[6])
{
    Random r;
    float kept[1][6], dropped[1][6];
    double sum[6] = {0};
    random_seed(&r, 123);
    for (int draw = 0; draw < draws; draw++) {
        dropout_mask(&r, 0.5, 1, 6, kept);
        dropout_apply(0.5, 1, 6, kept, weights, dropped);
        for (int j = 0; j < 6; j++)
            sum[j] += (double)dropped[0][j];
    }
    for (int j = 0; j < 6; j++)
        mean[j] = (float)(sum[j] / draws);
}

static void show_mean(void)
{
    float weights[6][6], mean[6];
    causal_weights(weights);
    print_vector("weights of step", 6, weights[5]);
    mean_of(1, &weights[5], mean);
    print_vector("after one dropout", 6, mean);
    mean_of(100, &weights[5], mean);
    print_vector("mean of 100 dropouts", 6, mean);
    mean_of(10000, &weights[5], mean);
    print_vector("mean of 10000 dropouts", 6, mean);
}

/*
``` output
weights of step (6)
[0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529]
after one dropout (6)
[0.3869, 0.3327, 0.0000, 0.3084, 0.3331, 0.0000]
mean of 100 dropouts (6)
[0.1586, 0.1796, 0.1932, 0.1789, 0.1799, 0.1743]
mean of 10000 dropouts (6)
[0.1945, 0.1654, 0.1652, 0.1550, 0.1631, 0.1525]
```

One dropout doubles a weight or takes it away. The mean of a hundred is off
by a hundredth or three, that of ten thousand by a few thousandths at most.

## On attention weights {#dropout-weights}

This is where dropout comes in an attention: after softmax, before the
mixture. The book from which the tutorials take their programs shows the
whole table [@raschka2024book].
*/

static void show_attention(void)
{
    Random r;
    float weights[6][6], kept[6][6], dropped[6][6];
    causal_weights(weights);
    random_seed(&r, 123);
    dropout_mask(&r, 0.5, 6, 6, kept);
    dropout_apply(0.5, 6, 6, kept, weights, dropped);
    print_matrix("causal attention weights", 6, 6, weights);
    print_matrix("after dropout", 6, 6, dropped);
    row_sums("row sums after dropout", dropped);
}

/*
``` output
causal attention weights (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.5517, 0.4483, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.3800, 0.3097, 0.3103, 0.0000, 0.0000, 0.0000],
 [0.2758, 0.2460, 0.2462, 0.2319, 0.0000, 0.0000],
 [0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0.0000],
 [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529]]
after dropout (6, 6)
[[2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.7599, 0.6194, 0.6206, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.4921, 0.4925, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.3966, 0.0000, 0.3775, 0.0000, 0.0000],
 [0.0000, 0.3327, 0.3331, 0.3084, 0.3331, 0.0000]]
row sums after dropout (6)
[2.0000, 0.0000, 2.0000, 0.9846, 0.7741, 1.3073]
```

A lot is drawn for the hidden places too; they are 0 before and after. Look
at the first two rows. *Your* sees only itself, and is lucky: its one weight
survives and is doubled. *Journey* loses both of its weights, and its
context vector will be all zeros, this time. With a rate of one half such
things happen often. Usual rates lie between [10]{.cited} and
[20%]{.cited} [@hacktricks], and the book takes one half so that there is
something to see.

## The rate {#dropout-rate}

Here is what different rates do to 10,000 ones: the share that is dropped,
the factor of the others, and the mean of all.
*/

static void show_rates(void)
{
    enum { MANY = 10000 };
    const double rates[5] = {0, 0.1, 0.2, 0.5, 1};
    float(*x)[1][MANY] = (void *)new_table(3, MANY), table[5][4];
    for (int j = 0; j < MANY; j++)
        x[0][0][j] = 1;
    for (int k = 0; k < 5; k++) {
        Random r;
        double kept = 0, sum = 0;
        random_seed(&r, 123);
        dropout_mask(&r, rates[k], 1, MANY, x[1]);
        dropout_apply(rates[k], 1, MANY, x[1], x[0], x[2]);
        for (int j = 0; j < MANY; j++) {
            kept += (double)x[1][0][j];
            sum += (double)x[2][0][j];
        }
        table[k][0] = (float)rates[k];
        table[k][1] = (float)(1 - kept / MANY);
        table[k][2] = 1 / (float)(1 - rates[k]);
        table[k][3] = (float)(sum / MANY);
    }
    print_matrix("rate, share dropped, factor, mean", 5, 4, table);
    free(x);
}

/*
``` output
rate, share dropped, factor, mean (5, 4)
[[0.0000, 0.0000, 1.0000, 1.0000],
 [0.1000, 0.1029, 1.1111, 0.9968],
 [0.2000, 0.1995, 1.2500, 1.0006],
 [0.5000, 0.5006, 2.0000, 0.9988],
 [1.0000, 1.0000,    inf, 0.0000]]
```

The first rate is no dropout, and it is also what one asks for when the
model is in use, or **evaluated**, as one says. PyTorch's modules know
whether they are being trained: `model.train()` and `model.eval()` switch,
and `nn.Dropout` does nothing in an evaluation. A dropout that is left on by
mistake is easily found out: the same question gets another answer each
time. The last rate is the one for which the mean is lost. Nothing survives,
and there is nothing to multiply by the infinite factor.

::: aside
One half is a bad example. The book said at first that with a
rate of 0.5 the survivors are scaled by $1/0.5$, which is right. A reader
tried the rate 0.1 and expected the factor $1/0.1$, which is ten, but saw
1.1111 [@llms431]. For one half, $p$ and $1 - p$ are
the same number, and a formula that confuses them is right. The book's
notebook has the formula with $1 - p$ by now.
:::

## Zero times infinity

`dropout_apply` multiplies by 0 what it drops. With most numbers one might
as well write a 0. These are the others:
*/

static void show_special(void)
{
    const float x[1][4] = {{1, -1, INFINITY, NAN}};
    const float dropped[1][4] = {{0}};
    float y[1][4];
    print_vector("numbers", 4, x[0]);
    dropout_apply(0.5, 1, 4, dropped, x, y);
    print_vector("all of them dropped", 4, y[0]);
}

/*
``` output
numbers (4)
[ 1.0000, -1.0000,     inf,     nan]
all of them dropped (4)
[ 0.0000, -0.0000,     nan,     nan]
```

A negative number becomes a negative zero, which counts as equal to 0. But
infinity times 0 is not a number, and what is not a number stays so. Dropout
does not cure a calculation that has overflowed. That is as it should be: a
fault that disappears in one run of two is the hardest to find.

## Two tables from one seed

(Skip this section if your numbers have always been the same as somebody
else's.) In [2024]{.cited} a reader of the book ran its notebook, unchanged,
with the seed that it names. All numbers agreed, the random matrices among
them, as far as the first dropout. For the table of ones, the book has what
we have. The reader got another one [@llms57]. It was not the first time.
The results of one program had differed between a Mac and Linux
[@pytorch15714], and between two Macs, an older one with a processor by
Intel and a newer one without [@pytorch84030]. What `torch.rand` gave did
not differ. Only dropout did.

The reason lies in PyTorch's past. Dropout needs a random number for each
entry of large tables, and in [2018]{.cited} somebody made it much faster
with a library of Intel's, MKL [@pytorch7171]. That library has generators
of its own, and it was used on Intel's processors only. On these, dropout
took its lots from one generator, and everything else came from another. So
it was up to version [2.6]{.cited} of PyTorch. Then it was found that the
second generator repeats itself too soon, and PyTorch gave it up
[@pytorch146174].

That generator, MCG31, is as small as they get. Its state is one number from
1 to $2^{31} - 2$. The next is the state times 1,132,489,760, divided by
$2^{31} - 1$, of which the remainder is taken. It begins with a single draw
from the Mersenne Twister, and hands out each state, divided by
$2^{31} - 1$, the first one included:
*/

void dropout_mask_mcg31(Random *r, double p, int n, int m, float mask[n][m])
{
    dropout_must_fit(p);
    const uint64_t modulus = (UINT64_C(1) << 31) - 1;
    const uint64_t factor = 1132489760;
    const int is_drawn = p > 0 && p < 1;
    uint64_t x = is_drawn ? random_u32(r) % modulus : 0;
    if (x == 0) /* would stay 0 for ever */
        x = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            mask[i][j] = (double)x / (double)modulus < 1 - p;
            x = x * factor % modulus;
        }
}

/*
With it we get what the reader saw, entry by entry, first for the table of
ones, and then for the attention weights:
*/

static void show_streams(void)
{
    Random r;
    float kept[2][6][6], ones[6][6], weights[6][6], dropped[6][6];
    fill(ones, 1);
    causal_weights(weights);
    random_seed(&r, 123);
    dropout_mask(&r, 0.5, 6, 6, kept[0]);
    random_seed(&r, 123);
    dropout_mask_mcg31(&r, 0.5, 6, 6, kept[1]);
    dropout_apply(0.5, 6, 6, kept[1], ones, dropped);
    print_matrix("dropout of ones, MCG31", 6, 6, dropped);
    dropout_apply(0.5, 6, 6, kept[1], weights, dropped);
    print_matrix("dropout of the attention weights, MCG31", 6, 6, dropped);
    grid("survivors", "Which of 36 entries survive", 2,
         (const char *const[]){"today", "MCG31"}, 6, 6, kept);
}

/*
``` output
dropout of ones, MCG31 (6, 6)
[[2.0000, 2.0000, 2.0000, 2.0000, 2.0000, 2.0000],
 [0.0000, 2.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 2.0000, 0.0000, 2.0000, 0.0000],
 [2.0000, 2.0000, 0.0000, 0.0000, 0.0000, 2.0000],
 [2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 2.0000],
 [0.0000, 2.0000, 0.0000, 0.0000, 0.0000, 0.0000]]
dropout of the attention weights, MCG31 (6, 6)
[[2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.8966, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 0.6206, 0.0000, 0.0000, 0.0000],
 [0.5517, 0.4921, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.4350, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.3327, 0.0000, 0.0000, 0.0000, 0.0000]]
```

![The 36 lots of seed 123, as PyTorch draws them today and as MCG31 drew
them. What is filled survives](survivors.svg){#fig-survivors}

MKL does not show its source, and today's PyTorch no longer calls it. So we
cannot ask it, as we ask PyTorch for everything else in this book. What we
can do is hold the function against what people have published: the reader's
36 lots, and three more reports. The first has the first five lots of seed 0
with a rate of one half, on a Mac and on Linux. The second has 15 lots of
seed 314159, of which three quarters are to be kept [@pytorch94388]. The
third draws ten numbers from seed 123 with `torch.rand`, drops half of them,
and adds up the rest, on both of the Macs.
*/

static void show_reports(void)
{
    Random r;
    float few[1][5], more[1][15], x[1][10], kept[1][10], dropped[1][10];
    float sums[2] = {0};
    random_seed(&r, 0);
    dropout_mask(&r, 0.5, 1, 5, few);
    print_vector("seed 0", 5, few[0]);
    random_seed(&r, 0);
    dropout_mask_mcg31(&r, 0.5, 1, 5, few);
    print_vector("seed 0, MCG31", 5, few[0]);
    random_seed(&r, 314159);
    dropout_mask_mcg31(&r, 0.25, 1, 15, more);
    print_vector("seed 314159, MCG31", 5, more[0]);
    print_vector("and on", 5, more[0] + 5);
    print_vector("and on", 5, more[0] + 10);
    for (int k = 0; k < 2; k++) {
        random_seed(&r, 123);
        rand_fill(&r, 1, 10, x);
        if (k == 0)
            dropout_mask(&r, 0.5, 1, 10, kept);
        else
            dropout_mask_mcg31(&r, 0.5, 1, 10, kept);
        dropout_apply(0.5, 1, 10, kept, x, dropped);
        for (int j = 0; j < 10; j++)
            sums[k] += dropped[0][j];
    }
    print_vector("sums of ten after dropout, the second by MCG31", 2, sums);
}

/*
``` output
seed 0 (5)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000]
seed 0, MCG31 (5)
[1.0000, 0.0000, 0.0000, 1.0000, 1.0000]
seed 314159, MCG31 (5)
[1.0000, 0.0000, 0.0000, 1.0000, 1.0000]
and on (5)
[0.0000, 1.0000, 1.0000, 1.0000, 1.0000]
and on (5)
[1.0000, 1.0000, 1.0000, 1.0000, 1.0000]
sums of ten after dropout, the second by MCG31 (2)
[2.4471, 1.8894]
```

The reports have the same lots. They have the sum 2.4471 from the newer Mac,
and 1.8894 from the older one. And the table of attention weights has its
zeros where the book's author saw them on Linux [@pytorch121595]. If a
tutorial's dropout is not yours, try the other stream.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "dropout");
    show_crossed_out();
    show_scaled();
    show_mean();
    show_attention();
    show_rates();
    show_special();
    show_streams();
    show_reports();
    return 0;
}

/*
The same in PyTorch, from version [2.7]{.cited} on, or with a processor that
is not Intel's [@pytorch146174]:

``` python
import torch
import torch.nn.functional as F

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
dropout = torch.nn.Dropout(0.5)
torch.manual_seed(123)
print(dropout(torch.ones(6, 6)))

torch.manual_seed(789)
query, key = [torch.nn.Linear(3, 2, bias=False)(journey) for _ in range(2)]
future = torch.ones(6, 6).triu(1).bool()
scores = (query @ key.T / 2**0.5).masked_fill(future, -torch.inf)
weights = F.softmax(scores, dim=-1).detach()
torch.manual_seed(123)
print(dropout(weights))
dropout.eval()
print(dropout(torch.tensor([1., -1, torch.inf, torch.nan])))
torch.manual_seed(0)
print(torch.zeros(5).bernoulli_(0.5))
```

`F.dropout` is the function, `nn.Dropout` the module that knows whether it
is being trained, and `bernoulli_` draws the mask: 1 with the probability
that it is given.

Every step of a head is there now: roles, scores, scale, mask, weights,
dropout, mixture. They have to be put together, and to work for more than
one sentence.

## Further exercises

**Exercise 10.3** (★★, challenge, 3 points): `mean_row_sum`. For a table of
weights: the mean of each row's sum over many dropouts. Each dropout is a
mask for the whole table, drawn after the one before. There is no memory for
a mask, and none is needed. It refuses fewer than one dropout, and what
`dropout_must_fit` refuses.

::: hint
A mask is drawn entry by entry. So is a mask of a single entry.
:::

::: hint
Which of the three loops, over dropouts, rows and columns, is the outermost?
:::

**Exercise 10.4** (by hand): Two words have the weights one quarter and
three quarters, and the rate is one half. Write down the four masks that are
possible, what becomes of the weights, and the row sums. Then take the mean
of each.

## Solutions

::: {.solution exercise="10.3"}
*/

void mean_row_sum(Random *r, double p, int n, int m, int draws,
                  const float weights[n][m], double mean[n])
{
    dropout_must_fit(p);
    if (draws < 1)
        REFUSE("a mean of %d dropouts: at least 1 is needed", draws);
    for (int i = 0; i < n; i++)
        mean[i] = 0;
    for (int draw = 0; draw < draws; draw++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                const float weight[1][1] = {{weights[i][j]}};
                float kept[1][1], dropped[1][1];
                dropout_mask(r, p, 1, 1, kept);
                dropout_apply(p, 1, 1, kept, weight, dropped);
                mean[i] += (double)dropped[0][0] / draws;
            }
}

/*
:::

::: {.solution exercise="10.4"}
Both kept: one half and three halves, together 2. The first alone: one half
and 0. The second alone: 0 and three halves. None: 0 and 0. Over the four,
the first weight adds up to one half and one half, which makes a mean of one
quarter, as it was; the second, to two times three halves, which makes three
quarters. The mean of the sums 2, one half, three halves and 0 is 1.
:::
*/
