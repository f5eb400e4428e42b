/*
# Scaling: divide by the spread {#scaling}

In [](#qkv) *likes* was looking for food, with the query $(0, 0, 4)$. Let it
ask again, more quietly, with $(0, 0, 1)$. Now write that query and every
key four times over, one copy after another, and then sixteen times, so that
each list has 48 entries instead of 3. Nothing new is said. Nobody would
expect *likes* to be any surer.
*/

#include "attention/04_scaling.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/03_qkv.h"
#include "attention/B_random.h"
#include "support.h"

static void show_copies(const char *label, int copies)
{
    float query[48], key[3][48], scores[3], weights[3];
    for (int k = 0; k < 3 * copies; k++) {
        query[k] = k % 3 == 2 ? 1 : 0;
        for (int j = 0; j < 3; j++)
            key[j][k] = k % 3 == j ? 1 : 0;
    }
    for (int j = 0; j < 3; j++)
        scores[j] = dot(3 * copies, query, key[j]);
    softmax(3, scores, weights);
    print_vector(label, 3, weights);
}

static void show_longer(void)
{
    show_copies("likes looks at cat, likes, fish, by one copy", 1);
    show_copies("by four copies", 4);
    show_copies("by sixteen copies", 16);
}

/*
``` output
likes looks at cat, likes, fish, by one copy (3)
[0.2119, 0.2119, 0.5761]
by four copies (3)
[0.0177, 0.0177, 0.9647]
by sixteen copies (3)
[0.0000, 0.0000, 1.0000]
```

With sixteen copies, *cat* gets nothing any more. The lists have become
longer, so their dot product has become larger, so softmax is surer, for no
reason at all. Real models have lists of a hundred entries and more. If
their attention shouldn't depend on how long a list is, the scores have to
be made smaller again. The question is by how much.

## How scores grow {#scaling-spread}

A dot product adds up $d$ products. How large does the sum get? Our copies
are the extreme: all products say the same, so sixteen copies make a score
sixteen times as large. But ordinary entries are positive and negative, and
then much of the sum cancels.

Suppose the entries of queries and keys are random numbers with mean 0, and
that they are **independent**: knowing one tells you nothing about another.
How far they lie from 0 is measured by the **standard deviation**, or
*spread*: the square root of the mean of their squares. (Where the mean
isn't 0, subtract it first.) Let the spread be 1.

For independent numbers, the mean of a product is the product of the means:
whatever the first factor is, the second has the same mean. So a single
product $p = qk$ has the mean $0 \cdot 0 = 0$. And since $q^2$ and $k^2$
have the mean 1, $p^2 = q^2 k^2$ has the mean $1 \cdot 1 = 1$. The product
has the spread 1, as $q$ and $k$ had. Now add two such products, and square
the sum:

$$(p_1 + p_2)^2 = p_1^2 + 2\, p_1 p_2 + p_2^2$$

Each of the two squares has the mean 1. The mean of $p_1 p_2$ is $0 \cdot
0$: that is where things cancel. So the square of the sum has the mean 2,
with a third product it has the mean 3, and with $d$ products it has the
mean $d$. The spread of a score is the square root of that, $\sqrt{d}$.

The first Transformer had queries and keys of [64]{.cited} entries
[@vaswani2017]. Its scores would typically be about $\sqrt{64} = 8$ away
from 0. Don't believe it, measure it.

**Exercise 4.1** (★, 2 points): `score_spread`. Take the mean of `n` scores.
Square the difference of each score from that mean, and take the mean of
these squares. The square root of the second mean is the spread. Add up in
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
The experiment needs tables whose size is known only when the program runs.
`new_table(n, d)` asks for the memory of one, and refuses if there is none.
Read `float(*query)[d]` from the inside out: `query` points to rows of `d`
floats, so `query[1]` is a row and `query[1][2]` an entry. `normal_fill`
draws numbers with mean 0 and spread 1. They are PyTorch's own ([](#random)
tells how they are made). A *seed* is the number that a random sequence
starts from, and ours is 123.
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

/*
A hundred random queries meet a hundred random keys, with 2, 64 and 4,096
entries in each.
*/

/* folded: how this is printed */
static void show_spread(void)
{
    enum { MANY = 100, ALL = 10000 };
    const int sizes[3] = {2, 64, 4096};
    const char *const panel[3] = {"d = 2", "d = 64", "d = 4096"};
    float(*scores)[ALL] = new_table(3, ALL), table[3][3];
    for (int i = 0; i < 3; i++) {
        /* ROWS(d, p) reads what p points to as rows of d floats. */
        random_scores(MANY, MANY, sizes[i], ROWS(MANY, scores[i]));
        table[i][0] = (float)sizes[i];
        table[i][1] = score_spread(ALL, scores[i]);
        table[i][2] = sqrtf((float)sizes[i]);
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

The measured spread is the root of $d$, up to random error.

![How often each score occurs, for 2, 64 and 4,096 entries. From left to
right all have the same scale; each is as high as its most frequent
score](spread.svg){#fig-spread}

## Dividing by the root {#scaling-root}

Softmax turns a difference of $s$ between two scores into a ratio of $e^s$
between their shares ([](#softmax)). A difference of ten is a ratio of more
than twenty thousand, and with a spread of 64, few scores are as close
together as ten. Most often one word gets nearly everything, before anything
has been learned.

The cure, called **scaling**, is to divide every score by the spread it
would have. Since $d$ is the size of queries and keys, we write it $d_k$:
*/

void scale_scores(int n, int m, int d_k, float scores[n][m])
{
    const float root = sqrtf((float)d_k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] /= root;
}

/*
To see whether it works, look at the largest share that each query gives,
and take the mean over all queries:
*/

float mean_largest(int n, int m, const float weights[n][m])
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float largest = weights[i][0];
        for (int j = 1; j < m; j++) /* a nan, once seen, is kept */
            if (weights[i][j] > largest || isnan(weights[i][j]))
                largest = weights[i][j];
        sum += (double)largest;
    }
    return (float)(sum / n);
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
A hundred random queries look at six random keys.

::: question
If the scores are divided by $\sqrt{d}$, what becomes of the largest share
as $d$ grows?

It stays much the same, since the spread of the scores does.
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
random error](largest.svg){#fig-largest}

We have assumed a spread of 1, means of 0 and independence, and nothing says
that a *trained* model keeps to that. The matrices that [](#self-attention)
begins with give queries and keys a spread of about $1/\sqrt{3}$, so that
each product, and each divided score, has the spread $1/\sqrt{3} \cdot
1/\sqrt{3} = 1/3$ rather than 1; training then moves them wherever it needs
them. And our copies at the start, which are anything but independent, are
only half cured: sixteen copies make the score 16 times and the root of $d$
4 times as large, so the divided score is still 4 times as large. Dividing
by the root makes a fair start for any $d$. It says nothing about where
training ends.

## What is so bad about one winner {#scaling-saturated}

The winner may be the wrong word, and then training should correct it.
Training works in small steps: change a number a little, see how the result
changes, move the number the better way. The change of the result divided by
the change of the number is called a **slope**. Where the slope is 0,
training sees nothing, and nothing moves.

So how much does a share change with its score? Raise the score of a word
whose share is $w$ by a small $s$. Its exponential becomes $e^s$ times as
large, which is nearly $1 + s$ times: $e^{0.01} = 1.01005$. That exponential
was $w$ of the sum of all, so the sum becomes $1 + ws$ times as large. The
share becomes $w (1 + s) / (1 + ws)$, and what it has gained is

$$\frac{w (1 + s)}{1 + ws} - w = \frac{w (1 - w)\, s}{1 + ws}$$

The denominator is nearly 1, so the slope of a share is $w (1 - w)$. For
a share of one half it's $1/2 \cdot 1/2 = 1/4$, and no share has more. For a
share of 0 it's 0, and for a share of 1 it's 0 as well. What if another
score is raised, one whose share is $v$? Then only the sum grows, the share
falls to $w / (1 + vs)$, and by the same calculation its slope is $-wv$.

A softmax that gives everything to one word is called **saturated**. One
share is 1 and all others are 0, so of $w$ and $v$ at least one is 0: nudge
any score, and nothing happens. To measure it, lower and raise a score a
little, and divide:
*/

static float share_slope(const float scores[6], int j)
{
    const float step = 0.01f;
    float nudged[6], below[6], above[6];
    memcpy(nudged, scores, sizeof nudged);
    nudged[j] = scores[j] - step;
    softmax(6, nudged, below);
    nudged[j] = scores[j] + step;
    softmax(6, nudged, above);
    return (above[j] - below[j]) / (2 * step);
}

static void show_slope(const char *label, const float scores[6])
{
    float weights[6];
    softmax(6, scores, weights);
    print_vector(label, 6, scores);
    print_vector("    their shares", 6, weights);
    print_value("    slope of the second share", share_slope(scores, 1));
}

/*
One of our queries with 4,096 entries, and its second score:
*/

static void show_saturated(void)
{
    enum { MANY = 100 };
    float scores[MANY][6];
    random_scores(MANY, 6, 4096, scores);
    show_slope("scores as they are", scores[1]);
    scale_scores(MANY, 6, 4096, scores);
    show_slope("scores divided by the root of d", scores[1]);
}

/*
``` output
scores as they are (6)
[ 15.7734,  38.7360,  50.5837,  24.7266,  -9.8397, -72.4756]
    their shares (6)
[0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000]
    slope of the second share: 0.0000
scores divided by the root of d (6)
[ 0.2465,  0.6052,  0.7904,  0.3864, -0.1537, -1.1324]
    their shares (6)
[0.1606, 0.2299, 0.2767, 0.1847, 0.1076, 0.0404]
    slope of the second share: 0.1771
```

Undivided, the second score is some twelve below the third, so its share
is a few millionths, and so is its slope. The last is some
123 below, and $e^{-123}$ is less than the smallest number above 0 that a
float can hold. Divided by 64, the scores are close together, and the slope
is 0.1771.

But training can't move a score directly. It moves an entry of a matrix,
which moves the query, which moves the score, which moves the share. Along
such a path the slopes are multiplied, which is called the **chain rule**:
if the score moves 3 times as fast as the entry, and the share 0.1771 times
as fast as the score, then the share moves $3 \cdot 0.1771$ times as fast as
the entry. So $w (1 - w)$ or $-wv$ is a factor in every slope that softmax
passes back. In a saturated softmax all of these are 0 or next to nothing,
however good the rest of the model is. (The slopes of a model together are
its **gradient**, and this is called a **vanishing gradient**.)

Dividing by 64 is itself such a factor: the score moves 64 times more slowly
than it would have. But small slopes can be made up for by a large step, if
all are equally small. The trouble is slopes of wildly different size: no
step makes up for a few millionths and for $e^{-123}$ in the same row.

## Attention {#scaling-attention}

With the division, the formula is complete. It was published as **scaled
dot-product attention** [@vaswani2017]:

$$\operatorname{attention}(Q, K, V)
  = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

Or in steps, with the shape of each table below its letter:

$$\underset{n \times m}{S}
  = \frac{1}{\sqrt{d_k}}\; \underset{n \times d_k}{Q}\;
    \underset{d_k \times m}{K^\top}, \qquad
  \underset{n \times m}{A} = \operatorname{softmax}(S), \qquad
  \underset{n \times d_v}{Z}
  = \underset{n \times m}{A}\; \underset{m \times d_v}{V}$$

Each of $n$ queries meets each of $m$ keys, which gives a row of scores for
each query and a column for each key. Division and softmax change no shape.
The product with $V$ sums over the keys and leaves a row for each query.
Where a text looks at itself, $n$ and $m$ are both its number of tokens, so
the map of weights is square, whatever $d_k$ and $d_v$ are.

**Exercise 4.2** (★★, 3 points): `attention`. `n` queries ask `m` keys, and
each gets a mixture of the `m` values. `scores` should hold the divided
scores.

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
## Why dot products at all {#scaling-additive}

The first attention did without them. It was **additive** [@bahdanau2014]:
multiply query and key, each by its own matrix, add the results, squeeze
every entry into the range from $-1$ to 1, and add the entries up, each
times a learned number. For large $d_k$ this worked better than dot products
that were not divided, which is how the square root came into the formula
[@vaswani2017].

Why not keep it? Because the sum and the squeezing have to be done anew for
every query with every key. All dot products together are one product of two
matrices, and for those, libraries and processors have been built.

The same in PyTorch, where `F.scaled_dot_product_attention` is your
`attention` in a single call:

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
print(F.softmax(query[1] @ key.T, dim=-1))
```

You can compute attention at any width now, without a softmax that
saturates at the start. What
you can't do yet is use it on words of your own: up to now, all vectors were
typed in or drawn at random. [](#tokens) gets them from a text.

## In the tutorials {#scaling-tutorials}

Ma Yumin [@ma2026] and *Self-Attention, Retold* [@selfattention2025] both
retell a chapter of Raschka's book [@raschka2024book]. They take the six
words of [](#softmax-sentence), draw three matrices from the seed 123, one
after another, and let the second word, *journey*, look. `qkv_from_seed`
does the same ([](#random)). Since *journey* is the second word, they call
its embedding `x_2` and its query `query_2`, but Python counts from 0, as C
does, and so `query_2` is `query[1]`.
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

In the tutorials' Python, each matrix is `torch.nn.Parameter(torch.rand(3,
2), requires_grad=False)`. `nn.Parameter` says that training may change its
entries. For training, PyTorch keeps a record of how each result came about,
and then prints `grad_fn=...` or `requires_grad=True` beside the numbers;
`requires_grad=False` turns the record off. All of the numbers above are the
tutorials' own. They mean nothing: random matrices look for nothing in
particular.

Shares and mixture follow, with the division and without it:
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
    attend_one(6, 2, 2, query[1], key, value, scores[1], weights[1],
               context[1]);
    print_vector("softmax of the scores of journey", 6, weights[1]);
    print_vector("mixture of the values", 2, context[1]);
}

/*
``` output
attention weights of journey (6)
[0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]
context vector of journey (2)
[0.3061, 0.8210]
softmax of the scores of journey (6)
[0.1401, 0.2507, 0.2406, 0.1157, 0.0687, 0.1842]
mixture of the values (2)
[0.3157, 0.8430]
```

Ma writes the formula as $\operatorname{softmax}(QK^\top)V$ and prints
0.3061 and 0.8210: the program divides, and the formula has lost the root
([A.30](#errata-30)).
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_longer();
    show_spread();
    show_winner();
    show_saturated();
    show_queries();
    show_journey();
    return 0;
}

/*
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
By $2 \sqrt{d_k}$, if both have the mean 0: each product has the standard
deviation 2, and so their sum has twice what it had.
:::
*/
