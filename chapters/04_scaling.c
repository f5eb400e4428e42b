/*
# Scaling: divide by the spread {#scaling}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-scaling-pipeline}

Random matrices give *journey* six scores for the words of its sentence
([](#scaling-tutorials) prints them). What is missing is known from
[](#softmax): make shares of the scores, mix the values. Ma Yumin writes it
as $\operatorname{softmax}(QK^\top)V$ [@ma2026]. Let us do just that.
*/

#include "attention/04_scaling.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/03_qkv.h"
#include "attention/B_random.h"
#include "support.h"

/* folded: how this is printed */
static void show_formula(void)
{
    float query[6][2], key[6][2], value[6][2];
    float scores[6], weights[6], context[2];
    qkv_from_seed(123, 6, 3, 2, 2, journey, query, key, value);
    attend_one(6, 2, 2, query[1], key, value, scores, weights, context);
    print_vector("softmax of the scores of journey", 6, weights);
    print_vector("mixture of the values", 2, context);
}

/*
``` output
softmax of the scores of journey (6)
[0.1401, 0.2507, 0.2406, 0.1157, 0.0687, 0.1842]
mixture of the values (2)
[0.3157, 0.8430]
```

But Ma's page has 0.3061 where we get 0.3157. The page's program does one
thing more than its formula says ([A.30](#errata-30)): before softmax, it
divides the scores by a number. The division is called **scaling**. Which
number, and why?

## Scores grow with the number of entries {#scaling-spread}

A dot product adds up $d$ products. How large does the sum become? How
widely numbers are spread is told by their **standard deviation**: the root
of the mean of the squares of what they differ from their mean. Say that the
entries of queries and keys are random numbers with mean 0 and standard
deviation 1, like those of [](#random-bell), and **independent**: knowing
one tells nothing about another. Then the mean of a product $qk$ is the
product of the means. In all pairs with one certain $q$, the $k$ have the
same mean as everywhere, since $q$ tells nothing about them. So the products
have $q$ times that mean. The mean over all $q$ is then the mean of $q$
times the mean of $k$.

Take a single product $p = qk$. Its mean is $0 \cdot 0 = 0$. The squares
$q^2$ and $k^2$ have the mean 1 and are independent, too, so the mean of
$q^2 k^2$ is $1 \cdot 1 = 1$. So $p$ has mean 0 and standard deviation 1, as
$q$ and $k$ had. Now take the sum of two products:

$$(p_1 + p_2)^2 = p_1^2 + 2\, p_1 p_2 + p_2^2$$

The products $p_1$ and $p_2$ are made of different entries, so they are
independent as well, and the mean of $p_1 p_2$ is $0 \cdot 0$. The squares
have the mean 1 each, so the square of the sum has the mean $1 + 1$. Each
further product adds another 1. So the mean of a score's square is $d$.
Scores have the mean 0, so their standard deviation is $\sqrt{d}$.

In the Transformer as it was published, queries and keys have [64]{.cited}
entries [@vaswani2017]. Scores then lie some $\sqrt{64} = 8$ on either side
of 0, and with 4,096 entries some 64. To test the calculation, we let a
hundred random queries ask a hundred random keys, and take the standard
deviation, for short the **spread**, of the 10,000 scores.

**Exercise 4.1** (★, 2 points): `score_spread`. Take the mean of `n` scores.
Square the difference of each score from that mean, and take the mean of
these squares. The root of the second mean is the spread. Add up in
`double`: a float keeps some seven digits, and a sum of 10,000 squares needs
more.

::: hint
The mean has to be known before the first difference. How often must one go
through the scores?
:::

::: done
Measure before you mend: this number says when softmax is about to give
everything to one word.
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

/*
For the experiments we need tables whose size is known only when the program
runs. `new_table(n, d)` asks for memory for one, and refuses if there is
none. `float(*query)[d]`, read from the inside out, says that `query` points
to rows of `d` floats. So `query[1]` is a row, and `query[1][2]` an entry.
*/

void random_scores(int n, int m, int d, float scores[n][m])
{
    float(*query)[d] = new_table(n, d);
    float(*key)[d] = new_table(m, d);
    Random r = random_seeded(123);
    normal_fill(&r, n, d, 0, 1, query);
    normal_fill(&r, m, d, 0, 1, key);
    dot_scores(n, m, d, query, key, scores);
    free(query);
    free(key);
}

/* folded: how this is printed */
/* `scores[i]`, a list of 10,000, is handed on as a table of 100 times 100:
 * the numbers lie in memory in the same order. */
static void show_spread(void)
{
    enum { MANY = 100, ALL = 10000 };
    const int sizes[3] = {2, 64, 4096};
    const char *const panel[3] = {"d = 2", "d = 64", "d = 4096"};
    float(*scores)[ALL] = new_table(3, ALL), table[3][3];
    for (int i = 0; i < 3; i++) {
        const float d = (float)sizes[i];
        random_scores(MANY, MANY, sizes[i], ROWS(MANY, scores[i]));
        table[i][0] = d;
        table[i][1] = score_spread(ALL, scores[i]);
        table[i][2] = sqrtf(d);
    }
    print_matrix("d, spread of the scores, root of d", 3, 3, table);
    figure_histograms("spread", "10,000 scores each", 3, panel, ALL,
                      scores);
    free(scores);
}

/*
``` output
d, spread of the scores, root of d (3, 3)
[[   2.0000,    1.4618,    1.4142],
 [  64.0000,    8.1159,    8.0000],
 [4096.0000,   63.5529,   64.0000]]
```

The measured spread is what the calculation says, give or take chance.

![How often each score occurs, for 2, 64 and 4,096 entries. From left to
right all have the same scale; each is as high as its most frequent
score](spread.svg){#fig-spread}

## One winner

Softmax turns a difference of $s$ between scores into a ratio of $e^s$
between shares ([](#softmax)). A difference of ten becomes a ratio of more
than twenty thousand, and with a spread of 64, few scores lie as close
together as ten. One word gets everything, the others nothing, before
anything has been learned. The measure is the largest share that a query
gives, and its mean over all queries:
*/

float mean_largest(int n, int m, const float weights[n][m])
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float largest = weights[i][0];
        for (int j = 1; j < m; j++) /* no number is larger than nan */
            if (weights[i][j] > largest || isnan(weights[i][j]))
                largest = weights[i][j];
        sum += (double)largest;
    }
    return (float)(sum / n);
}

/*
If the scores have the spread $\sqrt{d}$, divide them by $\sqrt{d}$, and
they have the spread 1, whatever $d$ is. Since $d$ is the size of the
queries and keys, we write it $d_k$:
*/

void scale_scores(int n, int m, int d_k, float scores[n][m])
{
    const float root = sqrtf((float)d_k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] /= root;
}

/* folded: how this is printed */
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
    figure_curves("largest", "The largest of six shares, against d", curve,
                  SIZES, at, largest);
}

/*
A hundred random queries ask six random keys.

::: question
What becomes of the largest share, as $d$ grows, if the scores are divided
by $\sqrt{d}$?

The largest share stays much the same, since the spread of the scores does.
:::

``` output
d (6)
[   4,   16,   64,  256, 1024, 4096]
largest share, from scores as they are (6)
[0.6391, 0.7630, 0.8906, 0.9474, 0.9749, 0.9688]
largest share, from scores divided by the root of d (6)
[0.4482, 0.3904, 0.4274, 0.4536, 0.4318, 0.4092]
```

![The largest share of six, with the division and without. The wiggles are
chance](largest.svg){#fig-largest}

## Why one winner is bad {#scaling-saturated}

The one winner may be the wrong word. Training improves a model by small
steps: it changes a number a little, sees how the result changes, and moves
the number the better way. The change of the result divided by the change of
the number is a **slope**; the slopes for all numbers of a model are its
**gradient**.

So raise the score of a word, whose share is $w$, by a small $s$. The word's
exponential becomes $e^s$ times as large, which is nearly $1 + s$ times. The
exponential was $w$ times the sum of all exponentials, so the sum grows by
$ws$ times itself. The new share is the old one times $1 + s$, divided by $1
+ ws$, and the word gains

$$\frac{w (1 + s)}{1 + ws} - w = \frac{w (1 - w)\, s}{1 + ws}$$

The denominator is almost 1, so the slope of a share is $w (1 - w)$. The
slope is $1/2 \cdot 1/2 = 1/4$ for a share of one half, and less for every
other. For a share of 0 or of 1 the slope is 0: nudging the score does
nothing. A softmax that gives everything to one word is called
**saturated**.

Training often asks for the *logarithm* of a share, $\ln w$, as in
[](#self-attention-training). The logarithm is 0 for a share of 1 and falls
without end as the share goes to 0. How fast does $\ln w$ change? A
logarithm turns factors into terms. So the factor $(1 + s)/(1 + ws)$ adds
$\ln(1 + s) - \ln(1 + ws)$ to $\ln w$. For a small $x$, $\ln(1 + x)$ is
almost $x$, so the logarithm grows by $s - ws = (1 - w)\, s$. The slope is
$1 - w$. For a share near 0 it is nearly 1, where the share's own slope is
nearly 0. To measure both slopes, the program lowers and raises a score a
little, and divides the change of the share, or of its logarithm, by that of
the score:
*/

/* How fast the share of word j rises with its score, and how fast the
 * share's logarithm does. */
static void share_slopes(const float scores[6], int j, float slopes[2])
{
    const float step = 1 / 64.0f;
    float nudged[6], below[6], above[6];
    memcpy(nudged, scores, sizeof nudged);
    nudged[j] = scores[j] - step;
    softmax(6, nudged, below);
    nudged[j] = scores[j] + step;
    softmax(6, nudged, above);
    const double ratio = (double)above[j] / (double)below[j];
    slopes[0] = (above[j] - below[j]) / (2 * step);
    slopes[1] = (float)log(ratio) / (2 * step);
}

/* folded: how this is printed */
static void show_slopes(const char *label, const float scores[6])
{
    float weights[6], slopes[2];
    softmax(6, scores, weights);
    share_slopes(scores, 1, slopes);
    print_vector(label, 6, scores);
    print_vector("    their shares", 6, weights);
    print_value("    slope of the second share", slopes[0]);
    print_value("    slope of its logarithm", slopes[1]);
}

static void show_saturated(void)
{
    enum { MANY = 100 };
    float scores[MANY][6];
    random_scores(MANY, 6, 4096, scores);
    show_slopes("scores as they are", scores[1]);
    scale_scores(MANY, 6, 4096, scores);
    show_slopes("scores divided by the root of d", scores[1]);
}

/*
One of our queries with 4,096 entries, and the slopes for its second score:

``` output
scores as they are (6)
[ 15.7734,  38.7360,  50.5837,  24.7266,  -9.8397, -72.4756]
    their shares (6)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000]
    slope of the second share: 0.0000
    slope of its logarithm: 1.0000
scores divided by the root of d (6)
[ 0.2465,  0.6052,  0.7904,  0.3864, -0.1537, -1.1324]
    their shares (6)
[0.1606, 0.2299, 0.2767, 0.1847, 0.1076, 0.0404]
    slope of the second share: 0.1771
    slope of its logarithm: 0.7701
```

As they are, the second score lies some twelve below the third, and the
second share has next to no slope. The share's logarithm has the full slope
of 1. Where training asks for the logarithm of this very share, the word can
still overtake a wrong winner.

But inside a model no logarithm follows the softmax of an attention. What
follows is a mixture. Take one entry of the mixture. Our word's value has
$v$ there. If the other words shared out the whole among themselves, their
mixture would have $o$ there. So the mixture of all has $wv + (1 - w)\, o$,
which is $o + w (v - o)$. When our score is raised, $o$ stays the same,
since the other words keep their proportions. The share $w$ has the slope $w
(1 - w)$, so the mixture has the slope $w (1 - w) (v - o)$. Every slope that
reaches the query and the key through this score has the factor $w (1 - w)$.
Where one word has everything, the factor is 0 for every score, and all
these slopes are 0: a **vanishing gradient**. With the division, the factor
is 0.1771. (For the undivided score, the slope is 64 times smaller, but not
0; larger steps make up for that.) [](#backward-softmax) has all slopes of a
softmax in one line.

## Attention {#scaling-attention}

With the division, the formula is as it was published, under the name of
**scaled dot-product attention** [@vaswani2017]:

$$\operatorname{attention}(Q, K, V)
  = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

Or in steps, with the shape of each table below its letter:

$$\underset{n \times m}{S}
  = \frac{1}{\sqrt{d_k}}\; \underset{n \times d_k}{Q}\;
    \underset{d_k \times m}{K^\top}, \qquad
  \underset{n \times m}{A} = \operatorname{softmax}(S)$$

$$\underset{n \times d_v}{Z}
  = \underset{n \times m}{A}\; \underset{m \times d_v}{V}$$

Each of $n$ queries is compared with each of $m$ keys: a row of scores for
each query, a column for each key. Softmax works row by row, and changes no
shape. The product with $V$ sums over the keys, and leaves a row for each
query. Where a text asks itself, $n$ and $m$ are both its number of tokens,
and the map of weights is square, whatever $d_k$ and $d_v$ are.

**Exercise 4.2** (★★, 3 points): `attention`. `n` queries ask `m` keys, and
each gets a mixture of the `m` values. `scores` are to be the divided ones.

::: hint
One call for each step of the formula: the product $QK^\top$, the division,
softmax, the product with $V$. They are `dot_scores`, `scale_scores`,
`softmax_rows` and `matmul`.
:::

::: hint
There are four sizes, and all may be different. Which of them is summed over
in each of the two products?
:::

::: done
You have the whole formula of *Attention Is All You Need*. The chapters to
come make it wider, safer or faster.
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
## In the tutorials {#scaling-tutorials}

Everything is ready to follow Ma Yumin [@ma2026] and *Self-Attention,
Retold* [@selfattention2025], which both retell a chapter of Raschka's book
[@raschka2024book]. They take the six words of [](#softmax) and draw three
matrices from seed 123, one after the other. `qkv_from_seed`
([](#random)) does so, and multiplies the words by each.

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
static void show_queries(void)
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

Divided and mixed, the numbers of *journey* are those of Ma Yumin and of the
program of *Self-Attention, Retold*, too:
*/

/* folded: how this is printed */
static void show_journey(void)
{
    float query[6][2], key[6][2], value[6][2];
    float scores[6][6], weights[6][6], context[6][2];
    qkv_from_seed(123, 6, 3, 2, 2, journey, query, key, value);
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

## Why dot products at all {#scaling-additive}

The first attention was **additive** [@bahdanau2014]. It multiplied query
and key by a matrix each, added the results, squeezed every entry into the
range from $-1$ to 1, and added these entries up, each times a learned
number. For large $d_k$ additive attention did better than dot products that
were not divided, and so the root came into the formula [@vaswani2017].

Why not keep additive attention? The sum and the squeezing have to be done
anew for each query with each key. All dot products together are one product
of two matrices, for which libraries and processors are built.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "scale");
    show_formula();
    show_spread();
    show_winner();
    show_saturated();
    show_queries();
    show_journey();
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

`F.scaled_dot_product_attention` is our `attention` in a single call.

The embeddings were typed in so far, as in the chapters before. The next
chapter gets them from the words of a sentence.

## Further exercises

**Exercise 4.3** (★★, challenge, 3 points): `nudge_share`. Given are the
*shares*, without the scores. What do all shares become when score `j` is
raised by `step`? A share of 0 stays 0. The step may have any size, up or
down, even one whose exponential no `double` can hold; if it is `nan`, so is
every share. `nudge_share` refuses a `j` that is not from 0 to `n - 1`.

::: hint
[](#scaling-saturated) raises the score of one word. What happens to the
exponential of score `j`, and what to all the others?
:::

::: hint
The shares add up to 1. What do they add up to when one of them has been
multiplied by $e^{\text{step}}$?
:::

::: hint
From which step on can a float no longer show a difference?
:::

::: done
Training asks how far a share moves when its score does. Where one share has
nearly all, the answer is: hardly at all.
:::

**Exercise 4.4** (by hand): Two scores lie 4 apart, and $d_k$ is 16. By
what factor is the larger share larger, without the division and with it?

**Exercise 4.5** (by hand): The entries of the queries have standard
deviation 2, those of the keys 1. By what should the scores be divided?

## Solutions

::: {.solution exercise="4.3"}
Each share is its exponential divided by the sum of all. The exponential of
score `j` grows by the factor $e^{\text{step}}$, and the others stay; so
multiply share `j` by that factor, and divide all by their new sum. A double
can hold $e^{700}$, but not much more. It need not: steps beyond 700, up or
down, give the same floats as 700.
*/

void nudge_share(int n, const float weights[n], int j, float step,
                 float nudged[n])
{
    if (j < 0 || j >= n)
        REFUSE("j is %d; it must be from 0 to %d", j, n - 1);
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
This is the calculation of [](#scaling-saturated), where $1 + s$ stood for
the factor $e^s$.
:::

::: {.solution exercise="4.4"}
Without, by $e^4 = 54.6$; with, by $e^1 = 2.72$, since 4 divided by the
root of 16 is 1.
:::

::: {.solution exercise="4.5"}
By $2 \sqrt{d_k}$, if both have the mean 0: each product has the deviation
2, and so their sum has twice the deviation.
:::
*/
