/*
# Softmax: shares of a whole {#softmax}

[](#dot-product) left *shiny* with a score for every word of its sentence,
and otherwise as it was: the same three numbers beside *sun* and beside
*shoe*. By the end of this chapter there will be two vectors for *shiny*,
one for each sentence, and each will have moved towards its neighbour.

The way to move a vector towards others is to mix it with them. A plain
average won't do, because it gives *Hello* as much of a say as *sun*. The
scores know better: 0.7842 for *Hello*, 1.3569 for *shiny* itself, 1.2487
for *sun*. What we need are three numbers that work as a recipe, so much of
this word and so much of that. They are called **attention weights**. They
are shares of a whole: none is negative, they add up to 1, and a larger
score gets a larger share. (Our numbers are invented, so don't expect much
of them yet.)
*/

#include "attention/02_softmax.h"
#include "attention/01_dot_product.h"
#include "support.h"

static const char *const words[4] = {"Hello", "shiny", "sun", "shoe"};
static const float embedding[4][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
    {0.81f, 0.12f, 0.35f}, /* shoe */
};

/*
## Dividing by the sum

The obvious thing is to divide each score by the sum of all three:
*/

static void divide_by_sum(const float scores[3], float shares[3])
{
    const float sum = scores[0] + scores[1] + scores[2];
    for (int j = 0; j < 3; j++)
        shares[j] = scores[j] / sum;
}

/*
Let's see what that does to the scores of *shiny*, and to the same scores
with a minus before the last one:
*/

static void show_divisions(void)
{
    float shares[3];
    divide_by_sum((float[]){0.7842f, 1.3569f, 1.2487f}, shares);
    print_vector("scores of shiny divided by their sum", 3, shares);
    divide_by_sum((float[]){0.7842f, 1.3569f, -1.2487f}, shares);
    print_vector("with a minus before the last", 3, shares);
}

/*
``` output
scores of shiny divided by their sum (3)
[0.2313, 0.4003, 0.3684]
with a minus before the last (3)
[ 0.8788,  1.5205, -1.3993]
```

The first row looks fine. That was luck: all three scores happened to be
positive. In the second row one word gets 152% of the attention and another
gets less than nothing. Dot products can easily be negative, and where they
cancel out, we would divide by zero.

## Why the exponential {#softmax-exponential}

So first turn every score into a positive number, in a way that keeps their
order, and then divide. Squares won't do, since they take $-2$ for 2. But
there are many functions that are positive and grow. Which one should it be?

Think of what must not matter. If all scores go up by 10, no word has gained
on any other, so no share should change. Call the function $f$. When all
scores go up together, two shares keep their ratio only if both of their
$f(s)$ grow by the same factor. So a step up multiplies $f$ by the same
number wherever it starts. For a step of 1, call that number $a$. Ten steps
multiply by $a^{10}$, and half a step by $\sqrt{a}$, because two of them
must make $a$; the same goes for every fraction, and since $f$ always grows,
its values at the fractions pin down all the others. So $f(s)$ is $a^s$ up
to a constant factor, and the division takes that factor out. It's an
exponential function, and no other will do.

The base doesn't matter: since $a^s = e^{s \ln a}$, another base is the
same as stretching the scores first. We take $e$, because formulas to come
are simplest with it. So take $e$ to the power of each score, and *then*
divide by the sum:

$$\underset{n}{w} = \operatorname{softmax}(\underset{n}{s}),
  \qquad w_j = \frac{e^{s_j}}{\sum_{k=1}^{n} e^{s_k}}$$

This function is **softmax**. A hard maximum would give everything to the
largest score; softmax is its gentler relative, which leaves something for
everyone. (To divide numbers by their sum, so that the new sum is 1, is
called **normalization**, and numbers that are not negative and add up to 1
are a **probability distribution**, though nothing here is left to chance.)
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
First the scores of *shiny*, then the ones that broke our first attempt:
*/

/* folded: how this is printed */
static void show_softmax(const char *which, const float scores[3],
                         float steps[3][3])
{
    char label[80];
    for (int j = 0; j < 3; j++) {
        steps[0][j] = scores[j];
        steps[1][j] = expf(scores[j]);
    }
    softmax_naive(3, scores, steps[2]);
    snprintf(label, sizeof label, "exponentials%s", which);
    print_vector(label, 3, steps[1]);
    snprintf(label, sizeof label, "weights%s", which);
    print_vector(label, 3, steps[2]);
}

static void show_shiny(void)
{
    float scores[3], steps[3][3];
    dot_scores(1, 3, 3, &embedding[1], embedding, &scores);
    show_softmax(" of the scores of shiny", scores, steps);
    scores[2] = -scores[2];
    show_softmax(" with a minus before the last", scores, steps);
    figure_bars("steps", "How scores become shares", 3,
                (const char *const[]){"score", "exponential", "share"}, 3,
                words, steps);
}

/*
``` output
exponentials of the scores of shiny (3)
[2.1907, 3.8841, 3.4858]
weights of the scores of shiny (3)
[0.2291, 0.4063, 0.3646]
exponentials with a minus before the last (3)
[2.1907, 3.8841, 0.2869]
weights with a minus before the last (3)
[0.3444, 0.6106, 0.0451]
```

Read the weights as a recipe: for *shiny* in this sentence, take 0.2291
of *Hello*, 0.4063 of *shiny* and 0.3646 of *sun*. In the last row, the
negative score gets the smallest share, but still a share.

![Score, exponential, share, for the scores with the minus. Each panel has a
scale of its own](steps.svg){#fig-steps}

::: {.workbench args="stage=shares score3=-1.2487"}
:::

## Only differences count {#softmax-differences}

Divide one share by another, and the sum cancels:

$$\frac{w_j}{w_k} = \frac{e^{s_j}}{e^{s_k}} = e^{s_j - s_k}$$

The ratio of two shares depends on how far apart their scores are, and on
nothing else. And since the shares also add up to 1, these ratios fix all of
them. You'll often read that softmax "amplifies" large scores. Does it?

::: question
The scores 1 and 2 get the shares 0.2689 and 0.7311. What do the scores 11
and 12 get? And the scores 0.1 and 0.2, of which the second is also twice
the first?

The scores 11 and 12 get the same shares as 1 and 2, since they are as far
apart. The scores 0.1 and 0.2 are so close together that they get almost
equal shares.
:::
*/

/* folded: how this is printed */
static void show_naive(const char *label, int n, const float scores[n])
{
    float weights[n];
    softmax_naive(n, scores, weights);
    print_vector(label, n, weights);
}

/* unfolded */
static void show_differences(void)
{
    show_naive("weights for scores 1 and 2", 2, (float[]){1, 2});
    show_naive("weights for scores 11 and 12", 2, (float[]){11, 12});
    show_naive("weights for scores 2 and 4", 2, (float[]){2, 4});
    show_naive("weights for scores 0.1 and 0.2", 2, (float[]){0.1f, 0.2f});
}

/*
``` output
weights for scores 1 and 2 (2)
[0.2689, 0.7311]
weights for scores 11 and 12 (2)
[0.2689, 0.7311]
weights for scores 2 and 4 (2)
[0.1192, 0.8808]
weights for scores 0.1 and 0.2 (2)
[0.4750, 0.5250]
```

In three of these pairs one score is twice the other, and each time the
shares are different. So softmax doesn't amplify large scores. It can't even
see that they are large, only how far apart they are. [](#scaling) is about
keeping that distance under control.

## A trap {#softmax-trap}

The function above is right on paper and wrong on a machine:
*/

/* folded: how this is printed */
static void show_limits(void)
{
    puts("where floats end");
    print_value("e^88, in units of 10^38", expf(88) / 1e38f);
    print_value("the largest float, in the same units", FLT_MAX / 1e38f);
    print_value("e^89, as a float", expf(89));
    show_naive("naive weights for scores 87, 88, 89", 3,
               (float[]){87, 88, 89});
    show_naive("naive weights for scores -200, -201, -202", 3,
               (float[]){-200, -201, -202});
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

The largest float is 3.4028 times $10^{38}$. $e^{89}$ is beyond, so it
becomes `inf`. Anything finite divided by infinity is 0, and infinity
divided by infinity is `nan`, "not a number", and so is whatever you compute
from a `nan`. At the other end it's no better: all
three exponentials round to zero, and 0 divided by 0 is `nan` again.

Are there scores of 89? A word's score with itself is the sum of its squared
entries. If these are 1 on average, as they are in PyTorch's untrained
embeddings, a hundred entries score about a hundred, and the embeddings of
real models have hundreds or thousands.

Here is where the differences pay off. Adding the same number to every score
changes no share, so *subtract the largest score from all of them*. The
largest exponential is now $e^0 = 1$. Nothing can overflow, and the sum is
at least 1, so nothing is divided by zero. PyTorch's softmax does the same.

One danger is left. A float has about seven digits, so adding 1 to a float
of many millions leaves it unchanged. That's why the sum in your function
should be a `double`, with its sixteen digits. (The sums of `dot` have fewer
terms, and are floats, as in PyTorch.)

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
Here are the scores that broke the first version, given to the program as
arguments:

``` {.output args="87 88 89"}
weights (3)
[0.0900, 0.2447, 0.6652]
```

``` {.output args="-200 -201 -202"}
weights (3)
[0.6652, 0.2447, 0.0900]
```

A score of minus infinity is legal, and since $e^{-\infty}$ is 0, it gets a
share of exactly 0. In [](#causal-mask) that turns out to be the cleanest
way to hide a word.

``` {.output args="1 -inf 2"}
weights (3)
[0.2689, 0.0000, 0.7311]
```

If every score is minus infinity, there is nothing to share out, and no
right answer. We don't refuse that, but do as PyTorch does, and every weight
is `nan`:

``` {.output args="-inf -inf"}
weights (2)
[nan, nan]
```

What isn't a number at all is refused:

``` {.output args="1 two" status=2}
argument.c: parse_float: a score is 'two': a number such as 1.5 or -inf is needed
```

## Mixing {#softmax-mixture}

Now use the weights. Multiply the vector of each word by the word's weight,
and add up. With $x_j$ for the $d$ numbers of word $j$,

$$\underset{d}{c} = \sum_{j=1}^{n} w_j\, \underset{d}{x_j},
  \qquad\text{entry by entry}\quad c_k = \sum_{j=1}^{n} w_j\, x_{jk}$$

This **weighted sum** is the **context vector**: a list of numbers like an
embedding, but one that belongs to this word *in this sentence*.

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
Scores, softmax, a weighted sum: this is what *shiny* becomes in a sentence
of three words.
*/

static void shiny_among(const float sentence[3][3], float weights[3],
                        float context[3])
{
    float scores[3];
    for (int j = 0; j < 3; j++)
        scores[j] = dot(3, embedding[1], sentence[j]);
    softmax(3, scores, weights);
    weighted_sum(3, 3, weights, sentence, context);
}

/*
Has it moved? The distance between two lists is the length of their
difference:
*/

static float distance(const float a[3], const float b[3])
{
    float difference[3];
    for (int k = 0; k < 3; k++)
        difference[k] = a[k] - b[k];
    return length(3, difference);
}

/*
And now the two sentences:
*/

/* folded: how this is printed */
static void show_both_sentences(void)
{
    const float *const shiny = embedding[1], *const sun = embedding[2],
                       *const shoe = embedding[3];
    float with_shoe[3][3], weights[3], x[5][3];
    memcpy(with_shoe, embedding, sizeof with_shoe);
    memcpy(with_shoe[2], shoe, sizeof with_shoe[2]);
    shiny_among(embedding, weights, x[1]);
    print_vector("weights of shiny in Hello shiny sun", 3, weights);
    print_vector("context vector of shiny", 3, x[1]);
    shiny_among(with_shoe, weights, x[3]);
    print_vector("weights of shiny in Hello shiny shoe", 3, weights);
    print_vector("context vector of shiny there", 3, x[3]);
    print_vector("from shiny to sun, before and after", 2,
                 (float[]){distance(sun, shiny), distance(sun, x[1])});
    print_vector("from shiny to shoe, before and after", 2,
                 (float[]){distance(shoe, shiny), distance(shoe, x[3])});

    memcpy(x[0], sun, sizeof x[0]);
    memcpy(x[2], shiny, sizeof x[2]);
    memcpy(x[4], shoe, sizeof x[4]);
    figure_heatmap("shiny", "One word in two sentences", 5,
                   (const char *const[]){"sun", "shiny beside sun", "shiny",
                                         "shiny beside shoe", "shoe"},
                   3, (const char *const[]){"1", "2", "3"}, x);
}

/*
``` output
weights of shiny in Hello shiny sun (3)
[0.2291, 0.4063, 0.3646]
context vector of shiny (3)
[0.3990, 0.3854, 0.8610]
weights of shiny in Hello shiny shoe (3)
[0.2630, 0.4663, 0.2707]
context vector of shiny there (3)
[0.5558, 0.2489, 0.6937]
from shiny to sun, before and after (2)
[0.3164, 0.2013]
from shiny to shoe, before and after (2)
[0.7237, 0.4465]
```

There it is: one word, two sentences, two vectors. Beside *sun*, *shiny* is
0.2013 from *sun*, where it began 0.3164 away. Beside *shoe*, it is 0.4465
from *shoe*, where it began 0.7237 away.

![Read from top to bottom: *shiny* as it was in the middle, its two context
vectors above and below, and beyond them the words it has moved
towards](shiny.svg){#fig-shiny}

Any mixture would have moved *shiny* a little, even a plain average. What
the weights add is that some words move it more than others, and with these
numbers they hardly do: *Hello* weighs nearly as much as *shoe*. Nothing has
been trained yet, so a greeting counts as much as the thing that is shiny.
(Since no weight is negative and all add up to 1, a mixture lies between its
extremes: each of its entries is between the smallest and the largest of the
words' entries [@raschka2024magazine].)

## All words at once {#softmax-all}

The tokens of a text in their order are a **sequence**. All the words of a
sequence have scores, so all of them can be mixed at once.
Softmax works on each row of the table of scores:
*/

void softmax_rows(int n, int m, const float scores[n][m],
                  float weights[n][m])
{
    for (int i = 0; i < n; i++)
        softmax(m, scores[i], weights[i]);
}

/*
To mix, we could call `weighted_sum` for every word. But entry $k$ of the
context vector of word $i$ is $\sum_j w_{ij} x_{jk}$, row $i$ of the weights
times column $k$ of the embeddings. That is an entry of a matrix product
([](#dot-product-tables)). With $A$ for the weights, a row for each of $n$
words that look, $X$ for the embeddings of the $m$ words they look at, and
$Z$ for the context vectors:

$$\underset{n \times m}{A} =
    \operatorname{softmax}(\underset{n \times m}{S}), \qquad
  \underset{n \times d}{Z} =
    \underset{n \times m}{A}\;\; \underset{m \times d}{X}$$

Here a text looks at itself, so $m$ is $n$, and all of attention is three
lines:
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
static void show_all(void)
{
    float scores[3][3], weights[3][3], context[3][3];
    attend_all(3, 3, embedding, scores, weights, context);
    print_matrix("weights of Hello, shiny, sun", 3, 3, weights);
    print_matrix("context vectors of Hello, shiny, sun", 3, 3, context);
}

/*
``` output
weights of Hello, shiny, sun (3, 3)
[[0.2709, 0.3763, 0.3528],
 [0.2291, 0.4063, 0.3646],
 [0.2283, 0.3874, 0.3843]]
context vectors of Hello, shiny, sun (3, 3)
[[0.3939, 0.3780, 0.8432],
 [0.3990, 0.3854, 0.8610],
 [0.3944, 0.3895, 0.8604]]
```

::: milestone
This is attention: `dot_scores`, `softmax_rows`, `matmul`. Language models
scale it, mask it, train it, and run many copies of it side by side, and the
chapters up to [](#multi-head) do so one step at a time.
:::

## Rows, not columns {#softmax-rows}

Each *row* of weights must add up to one, because a row belongs to the word
that looks. The most common mistake is to take softmax down the columns:
*/

static void softmax_columns(int n, const float scores[n][n],
                            float weights[n][n])
{
    float columns[n][n], shares[n][n];
    transpose(n, n, scores, columns);
    softmax_rows(n, n, columns, shares);
    transpose(n, n, shares, weights);
}

/* folded: how this is printed */
static void show_wrong_axis(void)
{
    float scores[3][3], weights[3][3], sums[3];
    dot_scores(3, 3, 3, embedding, embedding, scores);
    softmax_columns(3, scores, weights);
    for (int i = 0; i < 3; i++)
        sums[i] = weights[i][0] + weights[i][1] + weights[i][2];
    print_vector("row sums if each column adds up to one", 3, sums);
}

/*
``` output
row sums if each column adds up to one (3)
[0.7283, 1.1700, 1.1017]
```

The table would still look like weights, but *Hello* would be made of less
than one word and *shiny* of more. The row sums give it away.
The same in PyTorch, where `dim` says along which index to sum: `dim=-1`,
the last, makes each row of a table add up to one, and `dim=0` each column.

``` python
import torch

embedding = torch.tensor([[0.34, 0.22, 0.54],   # Hello
                          [0.53, 0.34, 0.98],   # shiny
                          [0.29, 0.54, 0.93]])  # sun
weights = torch.softmax(embedding[1] @ embedding.T, dim=-1)
print(weights)
print(weights @ embedding)
weights = torch.softmax(embedding @ embedding.T, dim=-1)
print(weights)
print(weights @ embedding)
print(torch.softmax(embedding @ embedding.T, dim=0).sum(dim=1))
```

Who decided that *sun* matters to *shiny*? The embeddings did. Two vectors
that point the same way score high, whether that is useful or not, and a
verb that is looking for its object would be out of luck: a verb is not like
its object. [](#qkv) lets words say what they are looking for.

## In the tutorials {#softmax-tutorials}

HackTricks goes through *Hello shiny sun* step by step [@hacktricks]. These
are its steps: each word's vector times its weight, and their sum.
*/

/* folded: how this is printed */
static void show_mixture(void)
{
    float weights[3], part[3][3], context[3];
    shiny_among(embedding, weights, context);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            part[j][k] = weights[j] * embedding[j][k];
    print_matrix("what Hello, shiny, sun contribute", 3, 3, part);
    figure_stacks("mixture", "The context vector of shiny as a sum", 3,
                  words, 3, part);
}

/*
``` output
what Hello, shiny, sun contribute (3, 3)
[[0.0779, 0.0504, 0.1237],
 [0.2153, 0.1381, 0.3981],
 [0.1057, 0.1969, 0.3391]]
```

![Each entry of the context vector, put together from what the three words
contribute](mixture.svg){#fig-mixture}

::: {.workbench args="stage=shares"}
:::

The tutorial arrives at [0.3992, 0.3858, 0.8610]{.quoted}, by two slips of
the pen ([A.1](#errata-1)). It also says that softmax amplifies differences
([A.7](#errata-7)).

### Your journey starts with one step {#softmax-sentence}

This sentence is from Raschka's book [@raschka2024book], and many have taken
it from there. His article writes $\omega$ for a score and $\alpha$ for a
weight [@raschka2024magazine]. Its six vectors are invented, too:
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

static void show_sentence(void)
{
    float scores[6][6], weights[6][6], context[6][3];
    attend_all(6, 3, journey, scores, weights, context);
    print_matrix("scores", 6, 6, scores);
    print_matrix("attention weights", 6, 6, weights);
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
The scores are their own mirror image across the diagonal, as in
[](#dot-product). Will the weights be?

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

![A row for each word that looks, a column for each word it looks at. Each
row adds up to one](weights.svg){#fig-weights}

``` output
context vectors (6, 3)
[[0.4421, 0.5931, 0.5790],
 [0.4419, 0.6515, 0.5683],
 [0.4431, 0.6496, 0.5671],
 [0.4304, 0.6298, 0.5510],
 [0.4671, 0.5910, 0.5266],
 [0.4177, 0.6503, 0.5645]]
```

The shares are rather even, because the scores are close together.
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

int main(int argc, char *argv[])
{
    if (argc > 1) {
        show_own_scores(argc - 1, argv + 1);
        return 0;
    }
    show_divisions();
    show_shiny();
    show_differences();
    show_limits();
    show_both_sentences();
    show_all();
    show_wrong_axis();
    show_mixture();
    show_sentence();
    return 0;
}

/*
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
One pass instead of two. With this step [](#flash) meets each score once,
and never has to keep a table of them.
:::

**Exercise 2.4** (by hand): The scores 0, 0 and $-\infty$: what are the
weights? Check your answer with `make run-02 ARGS="0 0 -inf"`.

**Exercise 2.5** (by hand): Three scores are equal. Show that the context
vector is then the mean of the three rows.

## Solutions

::: {.solution exercise="2.3"}
The factor is $e^{m - m'}$ for a new maximum $m'$. While every score so far
is minus infinity, there is nothing to add, and the sum stays 0.
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
