/*
# Shares of a whole {#softmax}

![The way from words to attention, and today's two steps on
it](pipeline.svg){#fig-softmax-pipeline}

[](#dot-product) ended with three scores for *shiny*: 0.7842 for *Hello*,
1.3569 for itself, 1.2487 for *sun*. Now we want to build something out of
the three words, and for that we need to know how much of each to take. What
we are after are **weights**: three shares of a whole, none of them
negative, that add up to one, and larger where the score is larger.

The header announces what we will write on the way:
*/

#include "attention.h"

/*
The words and their embeddings are still these:
*/

static const char *const words[3] = {"Hello", "shiny", "sun"};
static const float embedding[3][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
};

/*
## What does not work

The first idea is to divide each score by the sum of all three.
*/

static void show_simple_shares(const char *label, const float scores[3])
{
    float shares[3], sum = 0;
    for (int j = 0; j < 3; j++)
        sum += scores[j];
    for (int j = 0; j < 3; j++)
        shares[j] = scores[j] / sum;
    print_vector(label, 3, shares);
}

static void show_division(const float scores[3])
{
    const float turned[3] = {scores[0], scores[1], -scores[2]};
    show_simple_shares("scores over their sum", scores);
    show_simple_shares("the same with the sign of sun turned", turned);
}

/*
``` output
scores over their sum (3)
[0.2313, 0.4003, 0.3684]
the same with the sign of sun turned (3)
[ 0.8788,  1.5205, -1.3993]
```

The first line looks right. The second shows that this was luck: all scores
were positive. A score is a dot product and may well be negative, and then
one share is 152% of the whole and another less than nothing. Had the scores
cancelled each other, we would have divided by zero.

## The exponential

We need to turn any number into a positive one without disturbing the order.
The exponential function $e^x$ does exactly this. It is never zero and never
negative, and it grows with $x$. So let us take the exponential of each
score first, and divide by the sum of those:

$$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_k e^{s_k}}$$

This is **softmax**. The name is half a joke: the maximum of three numbers
would give everything to the largest, and this gives it merely the most.
*/

void softmax_naive(int n, const float scores[n], float weights[n])
{
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += expf(scores[j]);
    for (int j = 0; j < n; j++)
        weights[j] = expf(scores[j]) / sum;
}

static void show_three_steps(const float scores[3])
{
    const char *const steps[3] = {"score", "exponential", "share"};
    float x[3][3];
    for (int j = 0; j < 3; j++) {
        x[0][j] = scores[j];
        x[1][j] = expf(scores[j]);
    }
    softmax_naive(3, scores, x[2]);
    print_vector("scores of shiny", 3, x[0]);
    print_vector("exponentials", 3, x[1]);
    print_vector("weights of shiny", 3, x[2]);
    print_value("score of shiny over score of Hello", x[0][1] / x[0][0]);
    print_value("weight of shiny over weight of Hello", x[2][1] / x[2][0]);
    bars("steps", "How the scores of shiny become shares", 3, steps, 3,
         words, x);
}

/*
``` output
scores of shiny (3)
[0.7842, 1.3569, 1.2487]
exponentials (3)
[2.1907, 3.8841, 3.4858]
weights of shiny (3)
[0.2291, 0.4063, 0.3646]
score of shiny over score of Hello: 1.7303
weight of shiny over weight of Hello: 1.7730
```

![Score, exponential, share. Each panel has a scale of its own; the shares
add up to one](steps.svg){#fig-steps}

To build something for *shiny*, take 0.2291 of *Hello*, 0.4063 of *shiny*
itself and 0.3646 of *sun*. These shares are the **attention weights** of
*shiny*.

Softmax has one property that the rest of the book leans on. Add the same
number $c$ to every score: since $e^{s+c} = e^s e^c$, the factor $e^c$
stands above and below the line, and cancels. *Softmax sees differences
only.*

From this follows something that is often told wrong, that softmax amplifies
differences [@hacktricks]. In our example it does, a little: of the scores,
the largest is 1.7303 times the smallest, and of the weights 1.7730 times.
But this is no property of softmax. What counts is how far apart two scores
lie, and one being twice the other says nothing about that:
*/

static void show_pair(const char *label, float low, float high)
{
    const float scores[2] = {low, high};
    float weights[2];
    softmax_naive(2, scores, weights);
    print_vector(label, 2, weights);
    print_value("    second over first", weights[1] / weights[0]);
}

static void show_differences(void)
{
    show_pair("weights for scores 1 and 2", 1, 2);
    show_pair("for 11 and 12", 11, 12);
    show_pair("for 0.1 and 0.2", 0.1f, 0.2f);
    show_pair("for 10 and 20", 10, 20);
}

/*
``` output
weights for scores 1 and 2 (2)
[0.2689, 0.7311]
    second over first: 2.7183
for 11 and 12 (2)
[0.2689, 0.7311]
    second over first: 2.7183
for 0.1 and 0.2 (2)
[0.4750, 0.5250]
    second over first: 1.1052
for 10 and 20 (2)
[0.0000, 1.0000]
    second over first: 22026.4668
```

The first two pairs lie one apart, and get the same shares. In three of the
pairs one score is twice the other; of the shares it is 2.7183 times, 1.1052
times, or some twenty thousand times as large. (The first of these numbers is
$e$ itself. Why?) And a share shown as 0.0000 is small, not zero: no
exponential is zero.

## A trap

The function above is right on paper and wrong on a machine.
*/

static void show_overflow(void)
{
    const float large[3] = {87, 88, 89};
    float weights[3];
    puts("at the end of the floats");
    print_value("e^88, in units of 10^38", expf(88) / 1e38f);
    print_value("the largest float, in the same units", FLT_MAX / 1e38f);
    print_value("e^89, as a float", expf(89));
    softmax_naive(3, large, weights);
    print_vector("naive weights for scores 87, 88, 89", 3, weights);
    softmax(3, large, weights);
    print_vector("weights for scores 87, 88, 89", 3, weights);
}

/*
``` output
at the end of the floats
e^88, in units of 10^38: 1.6516
the largest float, in the same units: 3.4028
e^89, as a float: inf
naive weights for scores 87, 88, 89 (3)
[0.0000, 0.0000,    nan]
weights for scores 87, 88, 89 (3)
[0.0900, 0.2447, 0.6652]
```

The largest float is 3.4028 times $10^{38}$; $e^{89}$ lies beyond and
becomes infinity, `inf`. Divided by infinity, the first two exponentials
give 0, and infinity over infinity is `nan`, "not a number". It spreads:
whatever is computed from `nan` is `nan` as well. And a score of 89 is
nothing unusual once a dot product adds up a few hundred products.

The last line of the output shows what the shares should be.

The way out is the property we have just seen. If only differences count, we
may subtract the same number from all scores, and the best number to
subtract is the largest score. Then the largest exponent is 0, its
exponential is 1, every other is smaller, and the sum lies between 1 and
`n`. Nothing can overflow any more, and on paper nothing has changed.

**Exercise 2.1** (★★, 3 points): `softmax`. Shares that add up to one for
scores of any size. It refuses a list without scores, since nothing can be
shared among nobody.

::: hint
Three passes over the list: find the largest score, add up the exponentials
of the differences, divide.
:::

::: hint
The exponentials fit into `weights`. Writing them there while adding them up
saves computing them twice.
:::
*/

void softmax(int n, const float scores[n], float weights[n])
{
    if (n < 1)
        REFUSE("softmax of %d scores: at least 1 is needed", n);
    float largest = scores[0], sum = 0;
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
The program takes scores of your own. Try scores that broke the simple
version, equal scores, a single one:

``` {.output args="1000 1001 1002"}
weights (3)
[0.0900, 0.2447, 0.6652]
```

Infinity can be a score too, and minus infinity is a useful one:
$e^{-\infty}$ is 0, exactly, so its owner gets nothing and the others share
the whole.

``` {.output args="1 -inf 2"}
weights (3)
[0.2689, 0.0000, 0.7311]
```

When every score is minus infinity, there is nobody left to share the whole.
The difference $-\infty - (-\infty)$ has no value, so every weight is `nan`,
as it is in PyTorch. And what is no number at all is refused:

``` {.output args="1 two" status=2}
02_softmax.c:541: score 2 is 'two': a number such as 1.5 or -inf is needed
```

## A mixture

Now the weights can do their work. Take each word's embedding as often as
its weight says and add everything up, entry by entry. The result is the
**context vector** of *shiny*: a list of the same form as an embedding, with
something of every word in it.

$$c_k = \sum_j w_j\, x_{jk}$$

**Exercise 2.2** (★★, 3 points): `mix`. The sum of `n` rows of `d` entries,
each multiplied by its weight. The rows are called `value`: what a token
contributes. Here that is its embedding.

::: hint
`context[k]` needs row after row to be added to it. What must it hold before
the first?
:::

::: hint
Two loops. Only one order of the indices of `value` fits its shape.
:::
*/

void mix(int n, int d, const float weights[n], const float value[n][d],
         float context[d])
{
    for (int k = 0; k < d; k++)
        context[k] = 0;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < d; k++)
            context[k] += weights[j] * value[j][k];
}

/*
To see what each word adds, we print the three multiples before they are
summed:
*/

static void show_mixture(const char *label, const char *figure,
                         const float weights[3])
{
    float part[3][3], context[3];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            part[j][k] = weights[j] * embedding[j][k];
    mix(3, 3, weights, embedding, context);
    print_vector(label, 3, weights);
    print_matrix("what Hello, shiny, sun add", 3, 3, part);
    print_vector("context vector of shiny", 3, context);
    if (figure)
        stacks(figure,
               "The context vector of shiny as a sum of three words", 3,
               words, 3, part);
}

static void show_context(const float scores[3])
{
    const float rounded[3] = {0.2291f, 0.4064f, 0.3645f};
    float weights[3];
    softmax(3, scores, weights);
    show_mixture("weights", "mixture", weights);
    show_mixture("weights rounded on the way", NULL, rounded);
}

/*
``` output
weights (3)
[0.2291, 0.4063, 0.3646]
what Hello, shiny, sun add (3, 3)
[[0.0779, 0.0504, 0.1237],
 [0.2153, 0.1381, 0.3981],
 [0.1057, 0.1969, 0.3391]]
context vector of shiny (3)
[0.3990, 0.3854, 0.8610]
```

![Each entry of the context vector, put together from what the three words
add](mixture.svg){#fig-mixture}

The tutorial that these words come from works the same example by hand, and
arrives at [0.3992, 0.3858, 0.8610]{.quoted} [@hacktricks]. It rounds the
weights to four digits before it multiplies, to 0.2291, 0.4064 and 0.3645.
Does that explain the difference?

``` output
weights rounded on the way (3)
[0.2291, 0.4064, 0.3645]
what Hello, shiny, sun add (3, 3)
[[0.0779, 0.0504, 0.1237],
 [0.2154, 0.1382, 0.3983],
 [0.1057, 0.1968, 0.3390]]
context vector of shiny (3)
[0.3990, 0.3854, 0.8610]
```

No: the sums come out the same to four decimals. What explains it is two
slips in the multiplication. The first entry of *shiny*, 0.2154, was written
down as [0.2156]{.quoted}, and the second of *sun*, 0.1968, as
[0.1972]{.quoted}. It is of no consequence, except for a reader who tries to
get the same numbers.

## A whole sentence

Everything is in place. A second sentence, *Your journey starts with one
step*, comes with embeddings that several tutorials share since they were
made for a book [@raschka2024book]. Every word asks every word; each row of
scores becomes a row of weights; each row of weights mixes the six
embeddings into a context vector.
*/

static const char *const sentence[6] = {"Your", "journey", "starts",
                                        "with", "one",     "step"};
static const float journey[6][3] = {
    {0.43f, 0.15f, 0.89f}, /* Your */
    {0.55f, 0.87f, 0.66f}, /* journey */
    {0.57f, 0.85f, 0.64f}, /* starts */
    {0.22f, 0.58f, 0.33f}, /* with */
    {0.77f, 0.25f, 0.10f}, /* one */
    {0.05f, 0.80f, 0.55f}, /* step */
};

void softmax_rows(int n, int m, const float scores[n][m],
                  float weights[n][m])
{
    for (int i = 0; i < n; i++)
        softmax(m, scores[i], weights[i]);
}

/*
To mix for six words we could call `mix` six times. Look at what it
computes: entry $k$ of word $i$ is $\sum_j w_{ij} x_{jk}$, row $i$ of the
weights times column $k$ of the embeddings. That is the matrix product of
[](#dot-product) under another name, $C = WX$. So the whole of attention is
three lines:
*/

static void show_sentence(void)
{
    float scores[6][6], weights[6][6], context[6][3], row_sums[6] = {0};
    dot_scores(6, 6, 3, journey, journey, scores);
    softmax_rows(6, 6, scores, weights);
    matmul(6, 6, 3, weights, journey, context);

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            row_sums[i] += weights[i][j];
    print_matrix("scores", 6, 6, scores);
    print_matrix("attention weights", 6, 6, weights);
    print_vector("row sums", 6, row_sums);
    print_matrix("context vectors", 6, 3, context);
    heatmap("weights", "How much each row takes of each column", 6, sentence,
            6, sentence, weights);
}

/*
::: question
The scores of a sentence with itself form a table that is its own mirror
image. Will the weights?

No. Each row was divided by a sum of its own. *One* gives *journey* a larger
share than *journey* gives *one*.
:::

``` output
scores (6, 6)
[[0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310],
 [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865],
 [0.9422, 1.4754, 1.4570, 0.8296, 0.7154, 1.0605],
 [0.4753, 0.8434, 0.8296, 0.4937, 0.3474, 0.6565],
 [0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935],
 [0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450]]
```

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

The weights are rather even. No wonder: the scores lie close together, and
softmax sees only their differences. What comes out of it:

``` output
context vectors (6, 3)
[[0.4421, 0.5931, 0.5790],
 [0.4419, 0.6515, 0.5683],
 [0.4431, 0.6496, 0.5671],
 [0.4304, 0.6298, 0.5510],
 [0.4671, 0.5910, 0.5266],
 [0.4177, 0.6503, 0.5645]]
```

The second row is the word *journey* with its sentence mixed in:
0.4419, 0.6515, 0.5683, where its embedding was 0.55, 0.87, 0.66.

::: milestone
You have written attention. What large language models compute is this, with
three things added: the scores compare not the embeddings themselves but
lists made from them by trained numbers; they are scaled; and several such
computations run side by side. The rest of this book adds them one at a
time.
:::

As before: the embeddings are invented, so the map above tells us nothing
about English.

## Rows, not columns

The commonest mistake in writing this down is to take softmax along the
wrong axis. Each *row* must be shared out, since a row is the question of
one word. If the columns are shared out instead, the result still looks like
a table of weights:
*/

static void show_wrong_axis(void)
{
    float scores[6][6], turned[6][6], weights[6][6], row_sums[6] = {0};
    dot_scores(6, 6, 3, journey, journey, scores);
    transpose(6, 6, scores, turned);
    softmax_rows(6, 6, turned, weights);
    transpose(6, 6, weights, turned);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            row_sums[i] += turned[i][j];
    print_vector("row sums if columns are shared out", 6, row_sums);
}

/*
``` output
row sums if columns are shared out (6)
[0.9220, 1.2970, 1.2788, 0.7974, 0.7540, 0.9508]
```

*Journey* would be made of too much and *one* of too little. A glance at the
row sums tells the two apart, which is why we print them.

## Everything together

With arguments, the program shares out the scores it was given, which is
what we used above. Without, it runs through the chapter.
*/

static void show_own_scores(int n, char *const argument[n])
{
    enum { MOST = 16 };
    float scores[MOST], weights[MOST];
    if (n > MOST)
        REFUSE("%d scores are given: at most %d fit", n, MOST);
    for (int j = 0; j < n; j++) {
        char *end;
        scores[j] = strtof(argument[j], &end);
        if (end == argument[j] || *end)
            REFUSE("score %d is '%s': a number such as 1.5 or -inf is "
                   "needed",
                   j + 1, argument[j]);
    }
    softmax(n, scores, weights);
    print_vector("weights", n, weights);
}

int main(int argc, char *argv[])
{
    float scores[1][3];
    if (argc > 1) {
        show_own_scores(argc - 1, argv + 1);
        return 0;
    }
    pipeline("pipeline", "weights context");
    /* A pointer to one row is a table of one row. */
    dot_scores(1, 3, 3, &embedding[1], embedding, scores);
    show_division(scores[0]);
    show_three_steps(scores[0]);
    show_differences();
    show_overflow();
    show_context(scores[0]);
    show_sentence();
    show_wrong_axis();
    return 0;
}

/*
The same in PyTorch. `dim=-1` means the last dimension, that is, along the
row; `dim=0` would be the mistake above.

``` python
import torch

embedding = torch.tensor([[0.34, 0.22, 0.54],   # Hello
                          [0.53, 0.34, 0.98],   # shiny
                          [0.29, 0.54, 0.93]])  # sun
weights = torch.softmax(embedding[1] @ embedding.T, dim=-1)
print(weights)
print(weights @ embedding)

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
weights = torch.softmax(journey @ journey.T, dim=-1)
print(weights)
print(weights @ journey)
```

Until now a word is compared as it stands, and a word that asks, a word that
is found and a word that is taken are the same list of numbers. Those are
three different tasks. The next step gives each its own list.

## Further exercises

**Exercise 2.3** (★★★, challenge, 4 points): `softmax_online`. Finding the
largest score and adding up the exponentials takes two passes over the
scores. One is enough [@milakov2018]. Keep the largest score *so far*, and a
sum of exponentials that is right for it; when a larger score turns up, make
the sum right again.

::: hint
The sum so far is $\sum e^{s_j - m}$ with the old maximum $m$. By which
factor must it be multiplied to hold for a new one?
:::

::: hint
What if the first scores are minus infinity? Their difference has no value;
look at that case by itself.
:::

**Exercise 2.4** (by hand): The scores 0, 0 and $-\infty$: what are the
weights? Check your answer with `make run-02 ARGS="0 0 -inf"`.

**Exercise 2.5** (by hand): Three scores are equal. Show that the context
vector is then the mean of the three rows.

## Solutions

::: {.solution exercise="2.3"}
The factor is $e^{m - m'}$ for a new maximum $m'$. As long as every score
was minus infinity there is no sum worth keeping: it is 0, and stays so.
*/

void softmax_online(int n, const float scores[n], float weights[n])
{
    if (n < 1)
        REFUSE("softmax_online of %d scores: at least 1 is needed", n);
    float largest = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) {
        if (scores[j] > largest) {
            sum *= expf(largest - scores[j]);
            largest = scores[j];
        }
        if (scores[j] != -INFINITY)
            sum += expf(scores[j] - largest);
    }
    for (int j = 0; j < n; j++)
        weights[j] = expf(scores[j] - largest) / sum;
}

/*
The first score that is larger than minus infinity multiplies the sum by
$e^{-\infty}$, which is 0 times 0: no harm done. This trick, with the
mixture carried along in the same pass, is what makes attention fast on
large inputs.
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
