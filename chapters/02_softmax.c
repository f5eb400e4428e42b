/*
# Softmax: shares of a whole {#softmax}

![The way from words to attention. This chapter is about the two shaded
steps](pipeline.svg){#fig-softmax-pipeline}

A word's embedding is the same in every sentence. Say *shiny* of the sun or
of a shoe: the list of numbers does not change, though the meaning does. We
want a vector for *shiny* on which its sentence has left a mark. The plan is
to mix that vector from the vectors of all the words, with more of those
that go well with *shiny*.

[](#dot-product) ended with scores for this: 0.7842 for *Hello*, 1.3569 for
*shiny* itself, 1.2487 for *sun*. A mixture needs **weights**: shares of a
whole, none of them negative, that add up to one, larger where the score is
larger. The header declares the functions that we will write:
*/

#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"
#include "support.h"

/*
Words and embeddings are the same as before:
*/

static const char *const words[3] = {"Hello", "shiny", "sun"};
static const float embedding[3][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
};

/*
## What does not work

The first idea is to divide each score by the sum of all three. We try it on
the scores of *shiny*, and on the same scores with the sign of the last one
flipped:
*/

/* folded: how this is printed */
static void show_division(const char *label, const float scores[3])
{
    float shares[3], sum = scores[0] + scores[1] + scores[2];
    for (int j = 0; j < 3; j++)
        shares[j] = scores[j] / sum;
    print_vector(label, 3, scores);
    print_vector("divided by their sum", 3, shares);
}

/*
``` output
scores of shiny (3)
[0.7842, 1.3569, 1.2487]
divided by their sum (3)
[0.2313, 0.4003, 0.3684]
with the last sign flipped (3)
[ 0.7842,  1.3569, -1.2487]
divided by their sum (3)
[ 0.8788,  1.5205, -1.3993]
```

The first division looks right. The second shows that this was luck: all
scores were positive. A score may well be negative, and then one share is
152% of the whole and another less than nothing. Had the scores cancelled
each other, the sum would have been zero.

## The exponential {#softmax-exponential}

Every number must become positive, and the order must stay. The exponential
function $e^x$ is never zero and never negative, and it grows with $x$. So
take the exponential of each score first, and divide each exponential by the
sum of all. From $n$ scores come $n$ weights:

$$\underset{n}{w} = \operatorname{softmax}(\underset{n}{s}),
  \qquad w_j = \frac{e^{s_j}}{\sum_{k=1}^{n} e^{s_k}}$$

This function is **softmax**. A hard maximum would give the largest score
the whole and all others nothing; softmax is its softer relative. To divide
numbers by their sum, so that the new sum is 1, is **normalization**.
Numbers from 0 on that add up to 1 are also called a **probability
distribution**; nothing is left to chance here, so this book says shares.
*/

void softmax_naive(int n, const float scores[n], float weights[n])
{
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += expf(scores[j]);
    for (int j = 0; j < n; j++)
        weights[j] = expf(scores[j]) / sum;
}

/*
Again the scores of *shiny*:
*/

/* folded: how this is printed */
static void show_softmax(const char *label, const float scores[3],
                         const char *figure)
{
    const char *const steps[3] = {"score", "exponential", "share"};
    float x[3][3];
    for (int j = 0; j < 3; j++) {
        x[0][j] = scores[j];
        x[1][j] = expf(scores[j]);
    }
    softmax_naive(3, scores, x[2]);
    print_vector(label, 3, x[1]);
    print_value("their sum", x[1][0] + x[1][1] + x[1][2]);
    print_vector("divided by it: the weights", 3, x[2]);
    if (figure)
        figure_bars(figure, "How scores become shares", 3, steps, 3, words,
                    x);
}

/*
``` output
exponentials of the scores of shiny (3)
[2.1907, 3.8841, 3.4858]
their sum: 9.5606
divided by it: the weights (3)
[0.2291, 0.4063, 0.3646]
```

So to mix a vector for *shiny*, take 0.2291 of *Hello*, 0.4063 of *shiny*
itself and 0.3646 of *sun*. These shares are the **attention weights** of
*shiny*. (For a score, Raschka's article writes $\omega$, and for a weight
$\alpha$ [@raschka2024magazine].) And here is what had failed before:

``` output
exponentials with the sign flipped (3)
[2.1907, 3.8841, 0.2869]
their sum: 6.3617
divided by it: the weights (3)
[0.3444, 0.6106, 0.0451]
```

![Score, exponential, share, for the scores with the flipped sign. Each
panel has a scale of its own](steps.svg){#fig-steps}

::: {.workbench args="stage=shares score3=-1.2487"}
:::

The negative score gets the smallest share, but a positive one.

## What softmax sees {#softmax-differences}

Divide one share by another. Both have the same sum below the line, which
cancels:

$$\frac{w_j}{w_k} = \frac{e^{s_j}}{e^{s_k}} = e^{s_j - s_k}$$

Whoever knows these ratios, and that the shares add up to 1, knows all
shares. So softmax sees nothing of the scores but the *differences* between
them. Adding the same number to every score changes no difference, and so no
share: the scores 11 and 12 will get the same shares as 1 and 2.
*/

/* folded: how this is printed */
static void show_pair(const char *label, float low, float high)
{
    const float scores[2] = {low, high};
    float weights[2];
    softmax_naive(2, scores, weights);
    print_vector(label, 2, weights);
    print_value("    second divided by first", weights[1] / weights[0]);
}

static void show_differences(void)
{
    show_pair("weights for scores 1 and 2", 1, 2);
    show_pair("weights for scores 11 and 12", 11, 12);
    show_pair("weights for scores 2 and 4", 2, 4);
    show_pair("weights for scores 0.1 and 0.2", 0.1f, 0.2f);
    show_pair("weights for scores 3 and 3", 3, 3);
}

/*
``` output
weights for scores 1 and 2 (2)
[0.2689, 0.7311]
    second divided by first: 2.7183
weights for scores 11 and 12 (2)
[0.2689, 0.7311]
    second divided by first: 2.7183
weights for scores 2 and 4 (2)
[0.1192, 0.8808]
    second divided by first: 7.3891
weights for scores 0.1 and 0.2 (2)
[0.4750, 0.5250]
    second divided by first: 1.1052
weights for scores 3 and 3 (2)
[0.5000, 0.5000]
    second divided by first: 1.0000
```

The first two pairs differ by 1, and get the same shares, whose ratio is $e$
itself. In the first, third and fourth pair the second score is twice the
first, and each time the shares are different. The ratio of two shares
depends on how far apart their scores lie, and on nothing else. Equal scores
get equal shares, as the last pair shows: their difference is 0, and $e^0$
is 1. (HackTricks says that softmax amplifies differences; see
[A.7](#errata-7).)

## A trap {#softmax-trap}

The function above is right on paper and wrong on a machine.
*/

/* folded: how this is printed */
static void show_limits(void)
{
    const float large[3] = {87, 88, 89}, small[3] = {-200, -201, -202};
    float weights[3];
    puts("where floats end");
    print_value("e^88, in units of 10^38", expf(88) / 1e38f);
    print_value("the largest float, in the same units", FLT_MAX / 1e38f);
    print_value("e^89, as a float", expf(89));
    softmax_naive(3, large, weights);
    print_vector("naive weights for scores 87, 88, 89", 3, weights);
    softmax_naive(3, small, weights);
    print_vector("naive weights for scores -200, -201, -202", 3, weights);
}

/*
``` output
where floats end
e^88, in units of 10^38: 1.6516
the largest float, in the same units: 3.4028
e^89, as a float: inf
naive weights for scores 87, 88, 89 (3)
[0.0000, 0.0000,    nan]
naive weights for scores -200, -201, -202 (3)
[nan, nan, nan]
```

The largest float is 3.4028 times $10^{38}$; $e^{89}$ lies beyond and
becomes infinity, `inf`. Divided by infinity, the first two exponentials
give 0, and infinity divided by infinity is `nan`, "not a number", as is
whatever is computed from it. The scores below zero fail at the other end:
their exponentials round to 0, and 0 divided by 0 is `nan` again.

Are there such scores? The score of a word with itself is the sum of its
squared entries. In PyTorch's untrained embeddings ([](#tokens)) these
squares are 1 on average, so the score is about the number of entries: a
hundred entries give a score of about a hundred, and a hundred entries are
few.

The way out is the property we have just seen. Since only differences count,
we may subtract the largest score from all scores. Then the largest
exponential is $e^0 = 1$, and nothing overflows. The sum lies between 1 and
`n` and is never 0.

There is one more danger. A float has seven digits: adding 1 to a float of
many millions leaves the float as it was. So the sum is a `double`, which
has sixteen digits.

**Exercise 2.1** (★★, 3 points): `softmax`. Shares that add up to one, for
scores of any size and, with a `double` for the sum, lists of any length. It
refuses a list without scores.

::: hint
Three passes over the list: find the largest score, add up the exponentials
of the differences, divide.
:::

::: hint
The exponentials fit into `weights`. Writing them there while adding them up
saves computing them twice.
:::

::: done
These are attention weights. Try three scores of your own:
`make -s run-02 ARGS="1 2 3"`.
:::
*/

void softmax(int n, const float scores[n], float weights[n])
{
    if (n < 1)
        REFUSE("softmax of %d scores: at least 1 is needed", n);
    float largest = scores[0];
    double sum = 0;
    for (int j = 1; j < n; j++)
        if (scores[j] > largest)
            largest = scores[j];
    for (int j = 0; j < n; j++) {
        weights[j] = expf(scores[j] - largest);
        sum += weights[j];
    }
    for (int j = 0; j < n; j++)
        weights[j] /= sum;
}

/*
The program takes scores of your own. These broke the naive version:

``` {.output args="87 88 89"}
weights (3)
[0.0900, 0.2447, 0.6652]
```

``` {.output args="-200 -201 -202"}
weights (3)
[0.6652, 0.2447, 0.0900]
```

Minus infinity is a score too, with which [](#causal-mask) will hide words:
$e^{-\infty}$ is 0, exactly. That word gets nothing, and the others share
the whole.

``` {.output args="1 -inf 2"}
weights (3)
[0.2689, 0.0000, 0.7311]
```

When every score is minus infinity, or one is plus infinity, infinity is
subtracted from infinity. There is no right answer, and every weight is
`nan`, as in PyTorch:

``` {.output args="-inf -inf"}
weights (2)
[nan, nan]
```

A word that is no number is refused:

``` {.output args="1 two" status=2}
argument.c: parse_float: a score is 'two': a number such as 1.5 or -inf is needed
```

## A mixture {#softmax-mixture}

Now the weights can do their work. Multiply the embedding of each word by
its weight, and add up the results. This **weighted sum** is the **context
vector** of *shiny*: a vector like an embedding, with something of every
word in it. With $x_j$ for the $d$ numbers of word $j$,

$$\underset{d}{c} = \sum_{j=1}^{n} w_j\, \underset{d}{x_j},
  \qquad\text{entry by entry}\quad c_k = \sum_{j=1}^{n} w_j\, x_{jk}$$

**Exercise 2.2** (★★, 3 points): `weighted_sum`. The sum of `n` rows of `d`
entries, each multiplied by its weight. The table of rows is called `value`,
for it holds what each token contributes. Here that is its embedding.

::: hint
`context[k]` needs row after row to be added to it. What must it hold before
the first?
:::

::: hint
In `value[j][k]`, `j` picks the row, and with it the weight; `k` picks the
entry.
:::

::: done
The sum is a context vector. With `dot`, `softmax` and `weighted_sum` you
have attention for one query.
:::
*/

void weighted_sum(int n, int d, const float weights[n],
                  const float value[n][d], float context[d])
{
    for (int k = 0; k < d; k++)
        context[k] = 0;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < d; k++)
            context[k] += weights[j] * value[j][k];
}

/*
Here is what each word contributes, and the sum:
*/

/* folded: how this is printed */
static void show_mixture(const float scores[3])
{
    float weights[3], part[3][3], context[3];
    softmax(3, scores, weights);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            part[j][k] = weights[j] * embedding[j][k];
    weighted_sum(3, 3, weights, embedding, context);
    print_vector("weights of shiny", 3, weights);
    print_matrix("what Hello, shiny, sun contribute", 3, 3, part);
    print_vector("context vector of shiny", 3, context);
    figure_stacks("mixture", "The context vector of shiny as a sum", 3,
                  words, 3, part);
}

/*
``` output
weights of shiny (3)
[0.2291, 0.4063, 0.3646]
what Hello, shiny, sun contribute (3, 3)
[[0.0779, 0.0504, 0.1237],
 [0.2153, 0.1381, 0.3981],
 [0.1057, 0.1969, 0.3391]]
context vector of shiny (3)
[0.3990, 0.3854, 0.8610]
```

![Each entry of the context vector, put together from what the three words
contribute](mixture.svg){#fig-mixture}

::: {.workbench args="stage=shares"}
:::

HackTricks arrives at [0.3992, 0.3858, 0.8610]{.quoted} [@hacktricks], by
two slips of the pen ([A.1](#errata-1)).

Since no weight is negative and all add up to one, each entry of the mixture
lies between the smallest and the largest of the words' entries there
[@raschka2024magazine].

## A whole sentence {#softmax-sentence}

The tokens of a text in their order are a **sequence**. Our second one,
*Your journey starts with one step*, is that of Raschka's book
[@raschka2024book], and many have taken it from there:
*/

static const char *const sentence[6] = {"Your", "journey", "starts",
                                        "with", "one",     "step"};
const float journey[6][3] = {
    {0.43f, 0.15f, 0.89f}, /* Your */
    {0.55f, 0.87f, 0.66f}, /* journey */
    {0.57f, 0.85f, 0.64f}, /* starts */
    {0.22f, 0.58f, 0.33f}, /* with */
    {0.77f, 0.25f, 0.10f}, /* one */
    {0.05f, 0.80f, 0.55f}, /* step */
};

/*
Every word asks every word, and each row of scores becomes a row of weights:
*/

void softmax_rows(int n, int m, const float scores[n][m],
                  float weights[n][m])
{
    for (int i = 0; i < n; i++)
        softmax(m, scores[i], weights[i]);
}

/*
To mix for six words we could call `weighted_sum` six times. But entry $k$
of the context vector of word $i$ is $\sum_j w_{ij} x_{jk}$. That is row $i$
of the weights times column $k$ of the embeddings, an entry of a matrix
product ([](#dot-product-tables)). Let $A$ have a row of weights for each of
$n$ words that ask, $X$ the embedding of each of $m$ words that are asked,
and $Z$ the context vectors:

$$\underset{n \times m}{A} =
    \operatorname{softmax}(\underset{n \times m}{S}), \qquad
  \underset{n \times d}{Z} =
    \underset{n \times m}{A}\;\; \underset{m \times d}{X}$$

Softmax goes row by row. Here a text asks itself, so $m$ is $n$, and the
whole of attention is three lines:
*/

static void attend_all(int n, int d, const float x[n][d],
                       float scores[n][n], float weights[n][n],
                       float context[n][d])
{
    dot_scores(n, n, d, x, x, scores);
    softmax_rows(n, n, scores, weights);
    matmul(n, d, n, weights, x, context);
}

/* folded: how this is printed */
static void print_row_sums(const char *label, const float weights[6][6])
{
    float sums[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sums[i] += weights[i][j];
    print_vector(label, 6, sums);
}

static void show_sentence(void)
{
    float scores[6][6], weights[6][6], context[6][3];
    attend_all(6, 3, journey, scores, weights, context);
    print_matrix("scores", 6, 6, scores);
    print_matrix("attention weights", 6, 6, weights);
    print_row_sums("row sums", weights);
    print_matrix("context vectors", 6, 3, context);
    figure_heatmap("weights", "How much each row takes of each column", 6,
                   sentence, 6, sentence, weights);
}

/*
``` output
scores (6, 6)
[[0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310],
 [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865],
 [0.9422, 1.4754, 1.4570, 0.8296, 0.7154, 1.0605],
 [0.4753, 0.8434, 0.8296, 0.4937, 0.3474, 0.6565],
 [0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935],
 [0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450]]
```

::: question
The scores mirror each other across the diagonal, as they did in
[](#dot-product). Will the weights?

No. Each row is divided by a sum of its own. *Journey* takes 0.1082 of
*one*, but *one* takes 0.1958 of *journey*.
:::

``` output
attention weights (6, 6)
[[0.2098, 0.2006, 0.1981, 0.1242, 0.1220, 0.1452],
 [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581],
 [0.1390, 0.2369, 0.2326, 0.1242, 0.1108, 0.1565],
 [0.1435, 0.2074, 0.2046, 0.1462, 0.1263, 0.1720],
 [0.1526, 0.1958, 0.1975, 0.1367, 0.1879, 0.1295],
 [0.1385, 0.2184, 0.2128, 0.1420, 0.0988, 0.1896]]
```

``` output
row sums (6)
[1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000]
```

![A row for each word that asks, a column for each word that is asked. Each
row adds up to one](weights.svg){#fig-weights}

The shares are rather even, for the scores lie close together, and softmax
sees only their differences. These are the mixtures:

``` output
context vectors (6, 3)
[[0.4421, 0.5931, 0.5790],
 [0.4419, 0.6515, 0.5683],
 [0.4431, 0.6496, 0.5671],
 [0.4304, 0.6298, 0.5510],
 [0.4671, 0.5910, 0.5266],
 [0.4177, 0.6503, 0.5645]]
```

The second row is *journey* with its sentence mixed in: 0.4419, 0.6515,
0.5683, where its embedding was 0.55, 0.87, 0.66. Since these embeddings are
invented, the numbers say nothing about English. They show the mechanism,
and the mechanism is complete.

::: milestone
This is attention. Language models add to it: the vectors that are compared
and mixed are made from the embeddings by numbers found in training; the
scores are scaled, and some are masked; and several such computations run
side by side. The chapters up to [](#multi-head) are about these additions.
:::

## Rows, not columns {#softmax-rows}

An easy mistake is to take softmax down the columns. Each *row* must add up
to one, since a row belongs to the word that asks. In PyTorch, `dim` says
over which index to sum. For a table, `dim=1`, the second index, and
`dim=-1`, the last, make each row add up to one. A list has one index, so
Raschka's article says `dim=0` for the scores of a single word
[@raschka2024magazine]. For a table, `dim=0` makes each column add up to
one:
*/

static void softmax_columns(const float scores[6][6], float weights[6][6])
{
    float columns[6][6], shares[6][6];
    transpose(6, 6, scores, columns);
    softmax_rows(6, 6, columns, shares);
    transpose(6, 6, shares, weights);
}

/* folded: how this is printed */
static void show_wrong_axis(void)
{
    float scores[6][6], weights[6][6];
    dot_scores(6, 6, 3, journey, journey, scores);
    softmax_columns(scores, weights);
    print_row_sums("row sums if each column adds up to one", weights);
}

/*
``` output
row sums if each column adds up to one (6)
[0.9220, 1.2970, 1.2788, 0.7974, 0.7540, 0.9508]
```

The table still looks like weights, but *journey* would be made of 1.2970
words and *one* of 0.7540. The row sums tell the mistake at a glance.

## Everything together

With arguments, the program shares out the scores it is given; without, it
goes through the chapter.
*/

/* folded: how this is printed */
static void show_own_scores(int n, char *const argument[n])
{
    enum { MOST = 16 };
    float scores[MOST], weights[MOST];
    if (n > MOST)
        REFUSE("%d scores are given: at most %d fit", n, MOST);
    for (int j = 0; j < n; j++)
        scores[j] = parse_float("a score", argument[j]);
    softmax(n, scores, weights);
    print_vector("weights", n, weights);
}

static void show_chapter(void)
{
    float scores[1][3];
    /* A pointer to one row is a table of one row. */
    dot_scores(1, 3, 3, &embedding[1], embedding, scores);
    const float flipped[3] = {scores[0][0], scores[0][1], -scores[0][2]};

    figure_pipeline("pipeline", "weights context");
    show_division("scores of shiny", scores[0]);
    show_division("with the last sign flipped", flipped);
    show_softmax("exponentials of the scores of shiny", scores[0], NULL);
    show_softmax("exponentials with the sign flipped", flipped, "steps");
    show_differences();
    show_limits();
    show_mixture(scores[0]);
    show_sentence();
    show_wrong_axis();
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        show_own_scores(argc - 1, argv + 1);
    else
        show_chapter();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch

embedding = torch.tensor([[0.34, 0.22, 0.54],   # Hello
                          [0.53, 0.34, 0.98],   # shiny
                          [0.29, 0.54, 0.93]])  # sun
weights = torch.softmax(embedding[1] @ embedding.T, dim=0)
print(weights)
print(weights @ embedding)

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
weights = torch.softmax(journey @ journey.T, dim=1)
print(weights)
print(weights @ journey)
print(torch.softmax(journey @ journey.T, dim=0).sum(dim=1))
```

So far, what a word asks with, what it is found by and what it contributes
are one and the same list of numbers. In the next chapter each of these
three tasks gets a list of its own.

## Further exercises

**Exercise 2.3** (★★★, challenge, 4 points): `softmax_online`. Finding the
largest score and adding up the exponentials takes two passes over the
scores. One is enough [@milakov2018]. Keep the largest score *so far*, and,
as a `double`, a sum of exponentials that is right for it; when a larger
score turns up, make the sum right again. The result is that of `softmax`
for all scores, infinite ones and `nan` included, and so is the refusal.

::: hint
[](#softmax-trap) subtracts the largest score. The sum so far is $\sum
e^{s_j - m}$ with the old maximum $m$. By which factor must the sum be
multiplied to hold for a new maximum?
:::

::: hint
What if the first scores are minus infinity? Subtracting them from each
other gives `nan`; look at that case by itself.
:::

::: done
One pass instead of two: with this step [](#flash) does without the table of
scores.
:::

**Exercise 2.4** (by hand): The scores 0, 0 and $-\infty$: what are the
weights? Check your answer with `make run-02 ARGS="0 0 -inf"`.

**Exercise 2.5** (by hand): Three scores are equal. Show that the context
vector is then the mean of the three rows.

## Solutions

::: {.solution exercise="2.3"}
The factor is $e^{m - m'}$ for a new maximum $m'$. As long as every score
was minus infinity there is nothing to add, and the sum stays 0.
*/

void softmax_online(int n, const float scores[n], float weights[n])
{
    if (n < 1)
        REFUSE("softmax_online of %d scores: at least 1 is needed", n);
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) {
        if (scores[j] > largest) {
            sum *= exp(largest - scores[j]);
            largest = scores[j];
        }
        if (scores[j] != -INFINITY)
            sum += exp(scores[j] - largest);
    }
    for (int j = 0; j < n; j++)
        weights[j] = (float)(exp(scores[j] - largest) / sum);
}

/*
The sum is multiplied whenever the maximum rises, and each factor is
rounded. Since the factors are doubles, many roundings do no harm. The first
score above minus infinity finds a sum of 0 and multiplies it by
$e^{-\infty}$, which is 0 as well: no harm done.
:::

::: {.solution exercise="2.4"}
One half, one half and nothing: $e^0$ is 1 twice, $e^{-\infty}$ is 0, and
the sum is 2.
:::

::: {.solution exercise="2.5"}
Equal scores have equal exponentials, so each weight is one third, and a sum
of thirds is the mean.
:::
*/
