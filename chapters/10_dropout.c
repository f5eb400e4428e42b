/*
# Dropout: drop at random, keep the mean {#dropout}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-dropout-pipeline}

Here is advice that sounds like sabotage. While a model learns, throw away
half of its attention weights. Choose them at random, and choose anew at
every step. The model that comes out may be better for it.

What could it be good for? Suppose that in the training texts, *dessert*
happens to follow *eat* every time. Then the model can put all its attention
on *eat*, be right every time, and never learn what else there is to go by.
It will fail on the first text in which *eat* is followed by something else.
To be right on what one has learned from and wrong on what is new is called
**overfitting**. A team that leans on one member has the same problem, and a
cure: send somebody home each day, drawn by lot. **Dropout** does that to
numbers [@srivastava2014]. No weight can be relied on, so the model must not
depend on any single one.

Our weights have learned nothing, so this chapter can't show that dropout
helps, only what it does to the numbers. [](#language-model-dropout) trains
a model with it and without, though what is dropped there is a part of what
each layer adds, and not attention weights. It helps a model that reads the
same book again and again. A model with enough to read needs it less, and
some large ones are trained without it, PaLM for one [@chowdhery2022].
*/

#include "attention/10_dropout.h"
#include "attention/02_softmax.h"
#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"
#include "support.h"

/*
## A draw for each weight {#dropout-lots}

Every attention weight is crossed out with the same probability $p$, the
dropout **rate**, and stays with probability $1 - p$. A rate below 0 or
above 1 is refused. (Comparisons with `nan` are false, so `!` before
them refuses `nan`, too.)
*/

void dropout_rate_check(double p)
{
    if (!(p >= 0 && p <= 1))
        REFUSE("a dropout rate of %g: from 0 to 1 is needed", p);
}

/*
We draw a number, at least 0 and below 1, for each entry of the table, and
keep the entry if the number is below $1 - p$. To drop the same entries as
PyTorch, we go row by row, and draw doubles, as PyTorch does.
`random_double(r)` of [](#random-normals) makes a double from two of the
generator's draws. Where there is nothing to decide, because $p$ is 0 or 1,
nothing is drawn.

**Exercise 10.1** (★★, 3 points): `dropout_mask`. A table of 1 for what is
kept and 0 for what is dropped. It refuses what `dropout_rate_check`
refuses. If `p` is 0 or 1, `r` may be `NULL`.

::: hint
Call `dropout_rate_check(p)` first.
:::

::: hint
A comparison in C is 1 or 0, which is what the table holds.
:::

::: hint
If `p` is 0 or 1, what does the whole table hold?
:::

::: done
The bits are those of today's PyTorch: from its seed, you drop exactly the
entries that it drops.
:::
*/

void dropout_mask(Random *r, double p, int n, int m, float mask[n][m])
{
    dropout_rate_check(p);
    const int is_drawn = p > 0 && p < 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mask[i][j] = is_drawn ? random_double(r) < 1 - p : p == 0;
}

/* folded: how this is printed */
static void print_row_sums(const char *label, const float x[6][6])
{
    float sums[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sums[i] += x[i][j];
    print_vector(label, 6, sums);
}

static void show_sixths(void)
{
    float keep_mask[6][6], left[6][6];
    Random r = random_seeded(123);
    dropout_mask(&r, 0.5, 6, 6, keep_mask);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            left[i][j] = keep_mask[i][j] / 6;
    print_matrix("kept, seed 123", 6, 6, keep_mask);
    print_row_sums("row sums of what is left", left);
}

/*
Take the plainest weights there are: six words, each of which gives every
word one sixth. We drop half of them.

``` output
kept, seed 123 (6, 6)
[[1.0000, 1.0000, 0.0000, 1.0000, 1.0000, 0.0000],
 [0.0000, 0.0000, 0.0000, 1.0000, 0.0000, 1.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 1.0000, 0.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 0.0000, 1.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 1.0000, 1.0000, 1.0000, 0.0000]]
row sums of what is left (6)
[0.6667, 0.3333, 0.8333, 0.5000, 0.5000, 0.6667]
```

Each row had the sum 1, and now the sums are around one half. So a context
vector is half of what it was, on average, and whatever comes after
attention would be trained on such vectors. Then training is over, nothing
is dropped any more, and it gets vectors twice as large.

## Keep the mean {#dropout-mean}

So the survivors are made larger: they are divided by $1 - p$. A weight $a$
becomes $a / (1 - p)$ with probability $1 - p$, and 0 with probability $p$.
Out of many draws, a fraction $1 - p$ gives $a / (1 - p)$, and a fraction
$p$ gives 0. So the mean of all draws comes close to

$$(1 - p) \cdot \frac{a}{1 - p} + p \cdot 0 = a$$

The single weight is wrong each time. On average it is right. From a
table of weights $A$ and the mask $M$, dropout makes a table $D$, where
$\odot$ multiplies entry by entry:

$$\underset{n \times m}{D} = \frac{1}{1 - p}\;
  \underset{n \times m}{M} \odot \underset{n \times m}{A}$$

The authors of dropout left the survivors unchanged, and multiplied
everything by $1 - p$ when the trained model was used and nothing was
dropped. Today the division is done in training, which is called
**inverted dropout**: a model in use then needs no factor.

**Exercise 10.2** (★★, 3 points): `dropout_apply`. What is kept is
multiplied by $1/(1 - p)$, and what is dropped by 0. To get PyTorch's bits,
round $1 - p$ to a float, divide 1 by it, and multiply the entry by that. An
entry of the mask other than 0 means: keep. It refuses what
`dropout_rate_check` refuses.

::: hint
`1 / (float)(1 - p)` is a division of floats.
:::

::: hint
Multiply by 0, rather than write a 0. What is 0 times infinity? Here a fault
should stay visible.
:::

::: done
On average nothing has changed. So a model trained with dropout is used
without it.
:::
*/

void dropout_apply(double p, int n, int m, const float mask[n][m],
                   const float x[n][m], float y[n][m])
{
    dropout_rate_check(p);
    const float scale = 1 / (float)(1 - p);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][j] * (mask[i][j] != 0 ? scale : 0);
}

/* folded: how this is printed */
static void show_survivors(void)
{
    float keep_mask[6][6], sixths[6][6], dropped[6][6];
    Random r = random_seeded(123);
    dropout_mask(&r, 0.5, 6, 6, keep_mask);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sixths[i][j] = 1 / 6.0f;
    dropout_apply(0.5, 6, 6, keep_mask, sixths, dropped);
    print_row_sums("row sums after dropout of sixths", dropped);
}

/*
::: question
With a rate of one half, can a row of six equal weights still have the sum
1, once the survivors are doubled?

Only if exactly three of the six survive, since each survivor becomes one
third. Four survivors make four thirds, two make two thirds.
:::

The six rows of one sixth again, with the same mask:


``` output
row sums after dropout of sixths (6)
[1.3333, 0.6667, 1.6667, 1.0000, 1.0000, 1.3333]
```

The rows don't add up to one any more: dropout keeps the mean, not the sum
of each draw. People have reported such sums as a bug [@pytorch42929], but
the sums are right.

Why not divide each row by its sum, as in [](#causal-mask)? Then the
survivors would share what the others have lost, and the mean would change.
Take two words with the weights one quarter and three quarters, and a rate
of one half. Four cases are equally likely. In three of them something
survives. If both survive, the first keeps its quarter. If the first
survives alone, it gets everything, which is 1; if the second survives
alone, the first gets 0. The mean of the three results is five twelfths, far
more than a quarter. And in the fourth there is nothing to divide by.

Divided by $1 - p$, the means of both words come out right:
*/

/* Two weights, averaged over many dropouts. */
static void mean_of(int draws, const float weights[1][2], float mean[2])
{
    float keep_mask[1][2], dropped[1][2];
    double sum[2] = {0};
    Random r = random_seeded(123);
    for (int draw = 0; draw < draws; draw++) {
        dropout_mask(&r, 0.5, 1, 2, keep_mask);
        dropout_apply(0.5, 1, 2, keep_mask, weights, dropped);
        for (int j = 0; j < 2; j++)
            sum[j] += (double)dropped[0][j];
    }
    for (int j = 0; j < 2; j++)
        mean[j] = (float)(sum[j] / draws);
}

/* folded: how this is printed */
static void show_mean(void)
{
    const float weights[1][2] = {{0.25f, 0.75f}};
    float mean[2];
    print_vector("weights of two words", 2, weights[0]);
    mean_of(1, weights, mean);
    print_vector("after one dropout", 2, mean);
    mean_of(100, weights, mean);
    print_vector("mean of 100 dropouts", 2, mean);
    mean_of(10000, weights, mean);
    print_vector("mean of 10000 dropouts", 2, mean);
}

/*
``` output
weights of two words (2)
[0.2500, 0.7500]
after one dropout (2)
[0.5000, 1.5000]
mean of 100 dropouts (2)
[0.2650, 0.8700]
mean of 10000 dropouts (2)
[0.2503, 0.7443]
```

One dropout doubles a weight or takes it away, and this one has doubled
both. The mean of a hundred still has 0.8700 for the second weight; the mean
of ten thousand comes within a hundredth of 0.7500.

## On attention weights {#dropout-weights}

In attention, dropout comes after softmax and before the mixture. The
weights that dropout leaves mix the values:

$$\underset{n \times d_v}{Z} =
  \underset{n \times m}{D}\; \underset{m \times d_v}{V}$$

Before softmax, dropout would not do. If dropped scores became 0, their
weights would not be 0. If they became minus infinity, the weights would be
0, but softmax would share anew among the survivors, which changes the mean.

## The rate {#dropout-rate}

One half is a large rate: a word that sees only one or two words often loses
all its weights. Here are different rates, applied to 10,000 weights, each
of them 1: the share that is dropped, the factor of the others, and the mean
of all.
*/

/* folded: how this is printed */
static void show_rates(void)
{
    enum { MANY = 10000 };
    const double rates[5] = {0, 0.1, 0.2, 0.5, 1};
    float(*x)[1][MANY] = new_table(3, MANY), table[5][4];
    for (int j = 0; j < MANY; j++)
        x[0][0][j] = 1;
    for (int k = 0; k < 5; k++) {
        double kept = 0, sum = 0;
        Random r = random_seeded(123);
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

static void show_all_dropped(void)
{
    const float x[1][4] = {{1, -1, INFINITY, NAN}};
    float keep_mask[1][4], y[1][4];
    dropout_mask(NULL, 1, 1, 4, keep_mask);
    dropout_apply(1, 1, 4, keep_mask, x, y);
    print_vector("numbers", 4, x[0]);
    print_vector("all of them dropped", 4, y[0]);
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

At a rate of one half, one mistake doesn't show: $p$ and $1 - p$ are the
same number, so a factor of $1/p$ looks right [@llms431]. A rate of 0 drops
nothing. A rate of 1 loses the mean: nothing survives, and there is nothing
to multiply by the infinite factor.

What is dropped is multiplied by 0. For some numbers that is not the same as
writing a 0:

``` output
numbers (4)
[ 1.0000, -1.0000,     inf,     nan]
all of them dropped (4)
[ 0.0000, -0.0000,     nan,     nan]
```

A negative zero counts as equal to 0. But infinity times 0 is `nan`, and
`nan` times 0 is `nan`, and that is good: a fault that dropout hid in every
second run would be hard to find.

## Only in training {#dropout-evaluation}

When a model is in use, in **evaluation**, it drops nothing. Since the mean
was kept in training, there is nothing to make up for. If the same text gets
different context vectors each time, dropout may have been left on.

In PyTorch, `F.dropout(x, p)` is a function, which drops unless it is told
`training=False`. `nn.Dropout(p)` is a module like `nn.Linear`, and
remembers whether it is being trained: `model.train()` and `model.eval()`
tell all modules of a model. In evaluation, `nn.Dropout` returns its input
unchanged. `mask.bernoulli_(q)` draws the mask alone: it fills a tensor with
ones and zeros, a 1 with probability $q$. The underscore is PyTorch's sign
for a function that changes its tensor in place.

(An older PyTorch, on an Intel processor, drops other entries from the same
seed: [](#mkl) says why.)

Every step of attention is there now. The next chapter puts them together,
and runs them on more than one sentence.

## In the tutorials {#dropout-tutorials}

Raschka's book shows dropout on the table of *Your journey starts with one
step*, with linear layers from seed 789 and the future hidden
[@raschka2024book]. The dropout mask is that of seed 123 again:
*/

/* folded: how this is printed */
static void causal_weights(float weights[6][6])
{
    Attention a;
    Random r = random_seeded(789);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    Trace t;
    trace_init_for(&t, &a, 6, 6);
    attention_project(&a, 6, 6, journey, journey, &t);
    attention_weights(6, 6, 2, mask_causal(0), ROWS(2, t.query),
                      ROWS(2, t.key), ROWS(6, t.scores), weights);
    print_matrix("causal attention weights", 6, 6, weights);
    trace_free(&t);
    attention_free(&a);
}

static void show_attention(void)
{
    float weights[6][6], keep_mask[6][6], dropped[6][6];
    causal_weights(weights);
    Random r = random_seeded(123);
    dropout_mask(&r, 0.5, 6, 6, keep_mask);
    dropout_apply(0.5, 6, 6, keep_mask, weights, dropped);
    print_matrix("after dropout", 6, 6, dropped);
    print_row_sums("row sums after dropout", dropped);
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

::: {.workbench args="stage=dropout"}
:::

Weights of the future have an entry in the dropout mask too; they are 0
before and after. In the first row, *Your* sees only itself: its one weight
survives and is doubled. *Journey* loses both of its weights, and its
context vector will be all zeros, this time.

The book takes a rate of one half so that there is something to see, and
HackTricks calls [10]{.cited} to [20%]{.cited} usual. HackTricks mentions
the zeros, but not the factor [@hacktricks]: [A.9](#errata-9).
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "dropout");
    show_sixths();
    show_survivors();
    show_mean();
    show_rates();
    show_all_dropped();
    show_attention();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(123)
print(torch.empty(6, 6).bernoulli_(0.5))
print(F.dropout(torch.tensor([1., -1, torch.inf, torch.nan]), 1.0))

torch.manual_seed(789)
query, key = [torch.nn.Linear(3, 2, bias=False)(journey) for _ in range(2)]
future = torch.ones(6, 6).triu(1).bool()
scores = (query @ key.T / 2**0.5).masked_fill(future, -torch.inf)
weights = F.softmax(scores, dim=-1).detach()
dropout = torch.nn.Dropout(0.5)
print(dropout.eval()(weights))
torch.manual_seed(123)
print(dropout.train()(weights))
```


## Further exercises

**Exercise 10.3** (★★, challenge, 3 points): `mean_row_sum`. Compute, for a
table of weights, the mean of each row's sum over many dropouts. Each
dropout draws for the whole table, row by row, and begins where the one
before stopped. `mean_row_sum` allocates no table for the mask. It refuses
fewer than one dropout, and what `dropout_rate_check` refuses.

::: hint
[](#dropout-mean) does many dropouts. A mask is drawn entry by entry, so a
mask may have a single entry.
:::

::: hint
Which of the three loops, over dropouts, rows and columns, is the outermost?
:::

::: done
The mean comes close to what it was, unless $p$ is 1, though a single draw
rarely does.
:::

**Exercise 10.4** (by hand): Two words have the weights one quarter and
three quarters, and the rate is one half. Write down the four possible
masks, what happens to the weights, and the row sums. Then take the mean
of each.

## Solutions

::: {.solution exercise="10.3"}
*/

void mean_row_sum(Random *r, double p, int n, int m, int draws,
                  const float weights[n][m], double mean[n])
{
    if (draws < 1)
        REFUSE("a mean of %d dropouts: at least 1 is needed", draws);
    for (int i = 0; i < n; i++)
        mean[i] = 0;
    for (int draw = 0; draw < draws; draw++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                const float weight[1][1] = {{weights[i][j]}};
                float keep_mask[1][1], dropped[1][1];
                dropout_mask(r, p, 1, 1, keep_mask);
                dropout_apply(p, 1, 1, keep_mask, weight, dropped);
                mean[i] += (double)dropped[0][0] / draws;
            }
}

/*
:::

::: {.solution exercise="10.4"}
Both kept: one half and three halves, together 2. The first alone: one half
and 0. The second alone: 0 and three halves. None: 0 and 0. In two of the
four cases the first weight is one half, and in the others 0: a mean of one
quarter, the weight itself. The second is three halves in two of them: a
mean of three quarters. The mean of the sums 2, one half, three halves and 0
is 1.
:::
*/
