/*
# Divide by the spread {#scaling}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-scaling-pipeline}

[](#random) stopped halfway through two tutorials, at the six scores that
*journey* gets from the words of its sentence. All that is missing is known
from [](#softmax): make shares of the scores, mix the values. One of the two
tutorials even has the formula, $\operatorname{softmax}(QK^\top)V$
[@ma2026].
*/

#include "attention.h"

/*
We draw what they draw, and follow it. The table `journey`, with the six
words' embeddings, is that of [](#softmax).
*/

/* The queries, keys and values that both tutorials make, from seed 123. */
static void project_journey(float query[6][2], float key[6][2],
                            float value[6][2])
{
    Random r;
    float w_query[3][2], w_key[3][2], w_value[3][2];
    random_seed(&r, 123);
    rand_fill(&r, 3, 2, w_query);
    rand_fill(&r, 3, 2, w_key);
    rand_fill(&r, 3, 2, w_value);
    project(6, 3, 2, 2, journey, w_query, w_key, w_value, query, key,
            value);
}

static void show_formula(void)
{
    float query[6][2], key[6][2], value[6][2];
    float scores[6], weights[6], context[2];
    project_journey(query, key, value);
    attend_one(6, 2, 2, query[1], key, value, scores, weights, context);
    print_vector("scores of journey", 6, scores);
    print_vector("their softmax", 6, weights);
    print_vector("mixture of the values", 2, context);
}

/*
``` output
scores of journey (6)
[1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]
their softmax (6)
[0.1401, 0.2507, 0.2406, 0.1157, 0.0687, 0.1842]
mixture of the values (2)
[0.3157, 0.8430]
```

But this is not what the tutorial prints. Its shares begin with 0.1500 where
ours begin with 0.1401, and its result with 0.3061 where ours begins with
0.3157. Both programs do one thing more than the formula says: before
softmax, they divide the scores by a number. Which number, and why?

## Scores grow with the number of entries {#scaling-spread}

A dot product adds up $d$ products. How large does the sum become, when $d$
is large? Suppose that the entries of queries and keys are random numbers
with mean 0 and standard deviation 1, as those of [](#tokens) are.

Take a single product $p = q k$ first. For each value of $q$, the key is as
often negative as positive, so the products cancel, and their mean is 0. The
square is $q^2 k^2$. Whatever $q$ is, $k^2$ has the mean 1, so that the mean
of $q^2 k^2$ is that of $q^2$, which is 1 as well. So a product has mean 0
and standard deviation 1, as its factors had.

Now the sum of two products:

$$(p_1 + p_2)^2 = p_1^2 + 2 p_1 p_2 + p_2^2$$

In the middle stands a product of two numbers again, as often negative as
positive, and its mean is 0. What is left has the mean $1 + 1$. With each
further product comes another 1. The square of a score has the mean $d$, and
the standard deviation of scores is the root of that, $\sqrt{d}$.

In the Transformer as it was published, queries and keys have
[64]{.cited} entries [@vaswani2017], which makes scores of plus or minus
$\sqrt{64} = 8$. Were there 4,096 of them, scores of plus or minus
$\sqrt{4096} = 64$ would be nothing unusual. To see whether it is so, we
draw a hundred queries and a hundred keys, compare all with all, and take
the standard deviation, for short the **spread**, of the 10,000 scores.

**Exercise 6.1** (★, 2 points): `score_spread`. Take the mean of `n`
scores. Take what each of them differs from the mean, squared, and the mean
of these squares. The spread is its root. (In [](#tokens) the mean was 0,
and only the squares were left to speak of.)

::: hint
Two passes: the mean first, then the squares of the differences from it.
:::

::: hint
A float keeps some seven digits, and a sum of 10,000 squares needs them all.
Add up in `double`.
:::
*/

float score_spread(int n, const float scores[n])
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += (double)scores[i];
    const double mean = sum / n;
    for (int i = 0; i < n; i++) {
        const double difference = (double)scores[i] - mean;
        squares += difference * difference;
    }
    return (float)sqrt(squares / n);
}

/* The scores of n random queries with m random keys of d entries. */
static void random_scores(int n, int m, int d, float scores[n][m])
{
    Random r;
    float(*query)[d] = (void *)new_table(n, d);
    float(*key)[d] = (void *)new_table(m, d);
    random_seed(&r, 123);
    normal_fill(&r, n, d, 0, 1, query);
    normal_fill(&r, m, d, 0, 1, key);
    dot_scores(n, m, d, query, key, scores);
    free(query);
    free(key);
}

/* `scores[i]`, a list of 10,000, is handed on as a table of 100 times 100:
 * the numbers lie in memory in the same order. */
static void show_spread(void)
{
    enum { MANY = 100, ALL = 10000 };
    const int sizes[3] = {2, 64, 4096};
    const char *const panel[3] = {"d = 2", "d = 64", "d = 4096"};
    float(*scores)[ALL] = (void *)new_table(3, ALL), table[3][3];
    for (int i = 0; i < 3; i++) {
        const float d = (float)sizes[i];
        random_scores(MANY, MANY, sizes[i], (void *)scores[i]);
        table[i][0] = d;
        table[i][1] = score_spread(ALL, scores[i]);
        table[i][2] = sqrtf(d);
    }
    print_matrix("d, spread of the scores, root of d", 3, 3, table);
    histograms("spread", "10,000 scores each", 3, panel, ALL, scores);
    free(scores);
}

/*
``` output
d, spread of the scores, root of d (3, 3)
[[   2.0000,    1.4618,    1.4142],
 [  64.0000,    8.1159,    8.0000],
 [4096.0000,   63.5529,   64.0000]]
```

The measured spread is what the calculation says, give or take what a sample
of this size leaves to chance.

![How often which score occurs, for 2, 64 and 4,096 entries, all above the
same scale; each panel is as high as its most frequent score. The scores
spread out](spread.svg){#fig-spread}

## One winner

[](#softmax) found that softmax sees nothing but differences between scores,
and turns a difference of $s$ into a ratio of $e^s$. A difference of ten is
a ratio of more than twenty thousand. With a spread of 64, few scores lie as
close together as that. So one word gets everything and the others get
nothing, and this before anything has been learned. Let a hundred random
queries ask six random keys. The mean of the largest share that each of them
gives will tell how far it goes:
*/

float mean_largest(int n, int m, const float weights[n][m])
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float largest = weights[i][0];
        for (int j = 1; j < m; j++)
            if (weights[i][j] > largest || isnan(weights[i][j]))
                largest = weights[i][j];
        sum += (double)largest;
    }
    return (float)(sum / n);
}

/*
The remedy suggests itself. If the scores have the spread $\sqrt{d}$, divide
them by $\sqrt{d}$, and they have the spread 1, whatever $d$ is. Since it is
the size of the queries and keys that counts, it is written $d_k$:
*/

void scale_scores(int n, int m, int d_k, float scores[n][m])
{
    const float root = sqrtf((float)d_k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] /= root;
}

static void show_winner(void)
{
    enum { MANY = 100, SIZES = 6 };
    const int sizes[SIZES] = {4, 16, 64, 256, 1024, 4096};
    const char *const at[SIZES] = {"d = 4", "16",   "64",
                                   "256",   "1024", "4096"};
    const char *const curve[2] = {"as they are", "divided"};
    float scores[MANY][6], weights[MANY][6], largest[2][SIZES];
    for (int i = 0; i < SIZES; i++) {
        random_scores(MANY, 6, sizes[i], scores);
        softmax_rows(MANY, 6, scores, weights);
        largest[0][i] = mean_largest(MANY, 6, weights);
        scale_scores(MANY, 6, sizes[i], scores);
        softmax_rows(MANY, 6, scores, weights);
        largest[1][i] = mean_largest(MANY, 6, weights);
    }
    print_integers("d", SIZES, sizes);
    print_vector("largest share, from scores as they are", SIZES,
                 largest[0]);
    print_vector("largest share, from scores divided by the root of d",
                 SIZES, largest[1]);
    curves("largest", "The largest of six shares, against d", curve, SIZES,
           at, largest);
}

/*
::: question
Six equal shares would be one sixth each. What will the largest share be, as
$d$ grows, if the scores are divided by $\sqrt{d}$?

Neither one sixth nor one, but much the same for every $d$: the scores keep
the same spread.
:::

``` output
d (6)
[   4,   16,   64,  256, 1024, 4096]
largest share, from scores as they are (6)
[0.6391, 0.7630, 0.8906, 0.9474, 0.9749, 0.9688]
largest share, from scores divided by the root of d (6)
[0.4482, 0.3904, 0.4274, 0.4536, 0.4318, 0.4092]
```

![The largest share of six. From scores as they are, it comes close to one
as $d$ grows; from divided scores it stays where it is. The wiggles are
chance](largest.svg){#fig-largest}

## A winner does not answer {#scaling-saturated}

Why is one winner bad? Suppose it is the wrong one. Training improves a
model by small steps: it finds out how the result changes if a number is
changed a little, and moves the number in the better direction. So let us
nudge a score. Take the second query of the last experiment, with 4,096
entries, and raise its second score by 1. Without the division, softmax is
given that 1. With the division it is given the 64th part of it, but it is
in a better position to notice.
*/

static void show_nudge(const char *label, const float scores[6], float step)
{
    float nudged[6], weights[6];
    memcpy(nudged, scores, sizeof nudged);
    nudged[1] += step;
    print_vector(label, 6, scores);
    softmax(6, scores, weights);
    print_vector("    their shares", 6, weights);
    softmax(6, nudged, weights);
    print_vector("    their shares after the nudge", 6, weights);
}

static void show_nudges(void)
{
    enum { MANY = 100 };
    float scores[MANY][6];
    random_scores(MANY, 6, 4096, scores);
    show_nudge("scores as they are", scores[1], 1);
    scale_scores(MANY, 6, 4096, scores);
    show_nudge("scores divided by the root of d", scores[1], 1 / 64.0f);
}

/*
``` output
scores as they are (6)
[ 15.7734,  38.7360,  50.5837,  24.7266,  -9.8397, -72.4756]
    their shares (6)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000]
    their shares after the nudge (6)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000]
scores divided by the root of d (6)
[ 0.2465,  0.6052,  0.7904,  0.3864, -0.1537, -1.1324]
    their shares (6)
[0.1606, 0.2299, 0.2767, 0.1847, 0.1076, 0.0404]
    their shares after the nudge (6)
[0.1600, 0.2327, 0.2757, 0.1841, 0.1072, 0.0403]
```

Without the division, the second score lies some twelve below the third. As
far as softmax is concerned, it might not be there: four decimals show no
change of any share. Training finds no direction that is better. After the
division, the nudge arrives at softmax 64 times smaller, and every share
moves. When softmax gives everything to one and takes no notice of the
others, it is called **saturated**.

::: aside
The division is explained in other ways, too. It is said to turn scores into
shares; but that is done by softmax, and the divided scores add up to
anything [@tokens2transformer]. It is said to bring vectors to about the
same length; but what it brings to the same spread are scores
[@raschka2024magazine]. And the root is said to be that of the embedding's
size; but it is that of $d_k$, the size of queries and keys
[@selfattention2025].
:::

## Attention {#scaling-attention}

With that, we have the formula as it was published [@vaswani2017]:

$$\operatorname{attention}(Q, K, V)
  = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

**Exercise 6.2** (★★, 3 points): `attention`. `n` queries ask `m` keys, and
each gets a mixture of the `m` values. `scores` are to be the divided ones.

::: hint
One call for each step of the formula: the product $QK^\top$, the division,
softmax, the product with $V$. You have all four functions.
:::

::: hint
There are four sizes, and all may be different. Which of them is summed over
in each of the two products?
:::
*/

void attention(int n, int m, int d_k, int d_v, const float query[n][d_k],
               const float key[m][d_k], const float value[m][d_v],
               float scores[n][m], float weights[n][m],
               float context[n][d_v])
{
    dot_scores(n, m, d_k, query, key, scores);
    scale_scores(n, m, d_k, scores);
    softmax_rows(n, m, scores, weights);
    matmul(n, d_v, m, weights, value, context);
}

/*
Everything else in this book will be measured against this function. It
hands out scores and weights as well as the context vectors, so that we can
look at them.

## The tutorials, to their end {#scaling-tutorials}

Now the numbers of *journey* come out as the tutorial has them [@ma2026].
(The other has lost its pictures, and with them these numbers.)
*/

static void show_journey(void)
{
    float query[6][2], key[6][2], value[6][2];
    float scores[6][6], weights[6][6], context[6][2];
    project_journey(query, key, value);
    attention(6, 6, 2, 2, query, key, value, scores, weights, context);
    print_vector("attention weights of journey", 6, weights[1]);
    print_vector("context vector of journey", 2, context[1]);
}

/*
``` output
attention weights of journey (6)
[0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]
context vector of journey (2)
[0.3061, 0.8210]
```

*Life is short, eat dessert first* was left in [](#tokens) as six vectors.
Its author draws matrices for it from seed 123, of the same sizes as above
for queries and keys, so that these two are the matrices of [](#random). But
his values have four entries where queries and keys have two
[@raschka2024magazine]. Queries and keys must have the same size, since they
meet in a dot product. The size of the values is free, and it is the size of
the result. He follows the second word, *is*.
*/

static const char *const words[6] = {"Life", "is",      "short",
                                     "eat",  "dessert", "first"};

static void show_life(void)
{
    Random r;
    float w_query[3][2], w_key[3][2], w_value[3][4];
    float query[6][2], key[6][2], value[6][4], unscaled[6][6];
    float scores[6][6], weights[6][6], context[6][4];
    random_seed(&r, 123);
    rand_fill(&r, 3, 2, w_query);
    rand_fill(&r, 3, 2, w_key);
    rand_fill(&r, 3, 4, w_value);
    project(6, 3, 2, 4, life, w_query, w_key, w_value, query, key, value);
    dot_scores(6, 6, 2, query, key, unscaled);
    attention(6, 6, 2, 4, query, key, value, scores, weights, context);

    print_vector("query of is", 2, query[1]);
    print_vector("key of is", 2, key[1]);
    print_vector("value of is", 4, value[1]);
    print_matrix("keys", 6, 2, key);
    print_matrix("values", 6, 4, value);
    print_vector("scores of is", 6, unscaled[1]);
    print_value("is with dessert, the fifth word", unscaled[1][4]);
    print_vector("attention weights of is", 6, weights[1]);
    print_vector("context vector of is", 4, context[1]);
    print_matrix("attention weights of all six", 6, 6, weights);
    heatmap("life", "What each word takes of each", 6, words, 6, words,
            weights);
}

/*
``` output
query of is (2)
[0.5667, 1.8269]
key of is (2)
[0.5295, 1.7355]
value of is (4)
[0.6612, 1.8972, 1.0963, 1.8106]
keys (6, 2)
[[-0.0823, -0.3031],
 [ 0.5295,  1.7355],
 [-0.2991, -0.7295],
 [ 0.1420,  0.2291],
 [ 0.1920,  0.6467],
 [-0.4788, -0.5835]]
values (6, 4)
[[-0.2546, -0.2608, -0.1544, -0.2801],
 [ 0.6612,  1.8972,  1.0963,  1.8106],
 [-0.8598, -0.6161, -0.5940, -0.9455],
 [ 0.5932,  0.0981,  0.2741,  0.4151],
 [ 0.5605,  0.5645,  0.3676,  0.6429],
 [-1.2107, -0.4929, -1.0081, -1.4031]]
```

``` output
scores of is (6)
[-0.6004,  3.4707, -1.5023,  0.4991,  1.2903, -1.3374]
is with dessert, the fifth word: 1.2903
attention weights of is (6)
[0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229]
context vector of is (4)
[0.5313, 1.3607, 0.7891, 1.3110]
```

And the other words?

``` output
attention weights of all six (6, 6)
[[0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831],
 [0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229],
 [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.1793, 0.1463],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.1231],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
```

![What each word, a row, takes of each. *Is*, *eat* and *dessert* look at
*is* most, the other three look at it least. The vectors and matrices are
random, so this says nothing about English](life.svg){#fig-life}

::: aside
For the 1.2903 of *is* with *dessert* the author writes $\omega_{2,4}$, and
`keys[4]` in the program. The query is counted from 1 there and the key from
0; counted alike, it is $\omega_{2,5}$. This book counts from 1 in prose
("the second word") and from 0 in C.
:::

Last, the whole numbers of [](#qkv), whose scores went into softmax as they
were. Their author writes down the division, but divides by 1 and does not
say why [@tokens2transformer]. Queries and keys have three entries there, so
it is $\sqrt{3}$. The matrix *A* of the shares and the result *Z* are not in
the tutorial, except as names.
*/

static const float paper_query[3][3] = {{1, 0, 2}, {2, 2, 2}, {2, 1, 3}};
static const float paper_key[3][3] = {{0, 1, 1}, {4, 4, 0}, {2, 3, 1}};
static const float paper_value[3][3] = {{1, 2, 3}, {2, 8, 0}, {2, 6, 3}};

static void show_paper(void)
{
    float scores[3][3], weights[3][3], context[3][3];
    attention(3, 3, 3, 3, paper_query, paper_key, paper_value, scores,
              weights, context);
    print_matrix("S divided by the root of 3", 3, 3, scores);
    print_matrix("A", 3, 3, weights);
    print_matrix("Z", 3, 3, context);
}

/*
``` output
S divided by the root of 3 (3, 3)
[[1.1547, 2.3094, 2.3094],
 [2.3094, 9.2376, 6.9282],
 [2.3094, 6.9282, 5.7735]]
A (3, 3)
[[0.1361, 0.4319, 0.4319],
 [0.0009, 0.9088, 0.0903],
 [0.0074, 0.7547, 0.2378]]
Z (3, 3)
[[1.8639, 6.3194, 1.7042],
 [1.9991, 7.8141, 0.2735],
 [1.9926, 7.4796, 0.7359]]
```

Compare the shares with those of [](#qkv): 0.9088 where there was 0.9820,
0.7547 where there was 0.8805. The order is the same, and the winner less
alone.

## Why dot products at all {#scaling-additive}

The first attention compared queries and keys in another way
[@bahdanau2014]. It multiplied each by a matrix of its own, added the two
results, squeezed every entry of the sum into the range from $-1$ to 1, and
added these up, each multiplied by a number that was learned. This is called
**additive** attention. Its scores stay small however many entries there
are, and it needs no division. Without the division, it did better than dot
products where $d_k$ was large; that is how the root came into the formula
[@vaswani2017].

Then why not keep it? Because of the work. The sum and the squeezing have to
be done anew for each query with each key. A dot product is done anew as
well, but it is nothing but multiplications and additions, and all dot
products together are one product of two matrices. No other computation has
had so much care spent on it, in programs and in processors.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "scale");
    show_formula();
    show_spread();
    show_winner();
    show_nudges();
    show_journey();
    show_life();
    show_paper();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

rows = []
for d in 2, 64, 4096:
    torch.manual_seed(123)
    q, k = torch.randn(100, d), torch.randn(100, d)
    rows.append([d, (q @ k.T).std(correction=0), d**0.5])
print(torch.tensor(rows))

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(123)
W_query, W_key, W_value = [torch.rand(3, 2) for _ in range(3)]
query, key, value = journey @ W_query, journey @ W_key, journey @ W_value
print(F.softmax(query[1] @ key.T / 2**0.5, dim=-1))
print(F.scaled_dot_product_attention(query, key, value)[1])
```

`F.scaled_dot_product_attention` is our `attention`, in a single call and,
on some machines, with every trick there is.

The formula is complete. To use it, one has to carry three matrices, their
sizes and their results from function to function, and the next step is to
give them a home.

## Further exercises

**Exercise 6.3** (★★, challenge, 3 points): `nudge`. From the *shares*
alone: what do they become when score `j` is raised by `step`? The scores
themselves are not given.

::: hint
What happens to the exponential of score `j`, and what to all the others?
:::

::: hint
The shares add up to 1. What do they add up to when one of them has been
multiplied by $e^{\text{step}}$?
:::

**Exercise 6.4** (by hand): Two scores lie 4 apart, and $d_k$ is 16. How
many times as large as the smaller share is the larger, without the division
and with it? To check, let `make run-02` print the shares of two scores that
lie that far apart, and divide one by the other.

**Exercise 6.5** (by hand): The entries of the queries have standard
deviation 2, those of the keys 1. By what should the scores be divided?

## Solutions

::: {.solution exercise="6.3"}
Each share is its exponential divided by the sum of all. The exponential of
score `j` grows by the factor $e^{\text{step}}$, and the others stay; so
multiply share `j` by that factor, and divide all by their new sum. A double
can hold $e^{700}$, but not much more. Nor need it: beyond 700, up or down,
no step makes a difference that shares of type float would show.
*/

void nudge(int n, const float weights[n], int j, float step,
           float nudged[n])
{
    /* copysignf: the size of the one with the sign of the other */
    const float held = fabsf(step) > 700 ? copysignf(700, step) : step;
    const double factor = exp((double)held);
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += (double)weights[k] * (k == j ? factor : 1);
    for (int k = 0; k < n; k++)
        nudged[k] =
            (float)((double)weights[k] * (k == j ? factor : 1) / sum);
}

/*
Subtract the old share `j` from the new one. What is left, with $w$ for the
old one and $f$ for the factor, is

$$\frac{w f}{1 + w (f - 1)} - w = \frac{w (1 - w) (f - 1)}{1 + w (f - 1)}$$

This is nothing if $w$ is 0, and nothing if $w$ is 1: what we have seen of
the saturated softmax, as a formula.
:::

::: {.solution exercise="6.4"}
Without, $e^4$ times; with, $e$ times, since 4 divided by the root of 16
is 1.
:::

::: {.solution exercise="6.5"}
By $2 \sqrt{d_k}$: each product has twice the deviation, and so has the sum.
:::
*/
