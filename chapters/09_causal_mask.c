/*
# The causal mask: hiding the future {#causal-mask}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-causal-mask-pipeline}

*Life is short, eat ...* You have guessed the next word, or tried to. A
language model does that all the time. It is **autoregressive**: it writes a
text word by word, each from the words that are there already. It learns to
do so from sentences that are finished, and a single one gives it several
lessons:

- Life $\Rightarrow$ is
- Life is $\Rightarrow$ short
- Life is short $\Rightarrow$ eat
- Life is short, eat $\Rightarrow$ dessert
- Life is short, eat dessert $\Rightarrow$ first

The guess is made from a context vector, that of the last word so far.
Self-attention has a context vector for every word, so one pass through the
whole sentence could make all five guesses at once. But it would cheat. The
context vector of *Life* contains something of its neighbour *is*, the very
answer. A model that can look up every answer learns only to look it up. So
a context vector may be made from the word itself and the words before it,
and from no others. That is **causal attention**, also called masked
attention, and what hides the future is a **causal mask**. With it, each row
of the result is made from its own past, and can predict what comes next.
*/

#include "attention/09_causal_mask.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/B_random.h"
#include "support.h"

/*
We use the queries, keys and values that [](#tokens-tutorials) made for this
sentence, from `qkv_from_seed`.

## Cross out, and share again {#causal-mask-renormalized}

We have the weights, so the first idea is to cross out those that aren't
allowed. Multiply the table by a **mask**, a table of ones and zeros: 1
where a query may look, 0 where the key lies in its future. A word meets
itself on the **diagonal**, and its future lies to the right of it: word `i`
may see the words from 0 to `i`.
*/

void causal_mask(int n, float mask[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            mask[i][j] = j <= i;
}

void mask_weights(int n, int m, const float mask[n][m], float weights[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            weights[i][j] *= mask[i][j];
}

/*
The weights that are left in a row no longer add up to one. To divide them
by their sum, so that they do, is called **renormalization**. With $A$ for
the weights, $M$ for the mask and $R$ for the result, all three of shape $n
\times m$:

$$R_{ij} = \frac{A_{ij} M_{ij}}{\sum_{k=1}^{m} A_{ik} M_{ik}}$$

**Exercise 9.1** (★, 2 points): `renormalize`. Divide each row by its sum. A
row of zeros becomes `nan`.

::: hint
Complete the sum of a row before you divide its first entry.
:::

::: done
Each row adds up to one again. The next section gets there in one step.
:::
*/

void renormalize(int n, int m, float weights[n][m])
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < m; j++)
            sum += weights[i][j];
        for (int j = 0; j < m; j++)
            weights[i][j] /= sum;
    }
}

/*
Raschka's article goes this way first [@raschka2024magazine]. The weights
are made from the scores divided by $\sqrt{2}$:
*/

/* folded: how this is printed */
static void show_renormalizing(float maps_of[4][6][6])
{
    float query[6][2], key[6][2], value[6][4], row_sums[6] = {0};
    float scores[6][6], weights[6][6], mask[6][6];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    dot_scores(6, 6, 2, query, key, scores);
    print_matrix("scores", 6, 6, scores);
    memcpy(maps_of[0], scores, sizeof scores);
    scale_scores(6, 6, 2, scores);
    softmax_rows(6, 6, scores, weights);
    print_matrix("attention weights", 6, 6, weights);

    causal_mask(6, mask);
    print_matrix("mask", 6, 6, mask);
    mask_weights(6, 6, mask, weights);
    print_matrix("weights times the mask", 6, 6, weights);
    memcpy(maps_of[1], weights, sizeof weights);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            row_sums[i] += weights[i][j];
    print_vector("row sums", 6, row_sums);
    renormalize(6, 6, weights);
    print_matrix("renormalized", 6, 6, weights);
    memcpy(maps_of[2], weights, sizeof weights);
}

/*
``` output
scores (6, 6)
[[ 0.0613, -0.3491,  0.1443, -0.0437, -0.1303,  0.1076],
 [-0.6004,  3.4707, -1.5023,  0.4991,  1.2903, -1.3374],
 [ 0.2432, -1.3934,  0.5869, -0.1851, -0.5191,  0.4730],
 [-0.0794,  0.4487, -0.1807,  0.0518,  0.1677, -0.1197],
 [-0.1510,  0.8626, -0.3597,  0.1112,  0.3216, -0.2787],
 [ 0.4344, -2.5037,  1.0740, -0.3509, -0.9315,  0.9265]]
attention weights (6, 6)
[[0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831],
 [0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229],
 [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.1793, 0.1463],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.1231],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
```

*Life* gives 0.1326 of its attention to *is*, the word it should guess. Now
the mask:

``` output
mask (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [1.0000, 1.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [1.0000, 1.0000, 1.0000, 0.0000, 0.0000, 0.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 0.0000, 0.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 0.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000]]
weights times the mask (6, 6)
[[0.1772, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0386, 0.6870, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.1965, 0.0618, 0.2506, 0.0000, 0.0000, 0.0000],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.0000, 0.0000],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.0000],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
row sums (6)
[0.1772, 0.7256, 0.5089, 0.6744, 0.8769, 1.0000]
```

What *Life* keeps is 0.1772. The last word, *first*, has no future in this
sentence, and keeps everything. Divided by the row sums:

``` output
renormalized (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0532, 0.9468, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.3862, 0.1214, 0.4924, 0.0000, 0.0000, 0.0000],
 [0.2232, 0.3242, 0.2078, 0.2449, 0.0000, 0.0000],
 [0.1536, 0.3145, 0.1325, 0.1849, 0.2145, 0.0000],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
```

But softmax has divided by a sum that contains the exponentials of the
future. Has the future left a trace? Write $a$ for the sum of the
exponentials that a word may see, and $b$ for the sum of the hidden
exponentials. Before the mask, a weight is $e^{s_j} / (a + b)$. Those that
are left add up to $a / (a + b)$. Divide one by that sum:

$$\frac{e^{s_j} / (a + b)}{a / (a + b)} = \frac{e^{s_j}}{a}$$

The future cancels, on paper. What is left is the softmax of the scores that
may be seen, as if there had been no others.

## Minus infinity {#causal-mask-infinity}

There is a shorter way. We want the softmax of the visible scores. So let
the hidden scores, the **upper triangle** of the table, add nothing to the
sum in the first place. A score of **minus infinity** adds nothing, as
we saw in [](#softmax): its exponential is exactly 0.

**Exercise 9.2** (★★, 3 points): `mask_scores`. Minus infinity for every
word in the future of word `i`, whatever was there before.

::: hint
`causal_mask` tells these entries from the others. In C, minus infinity is
`-INFINITY`.
:::

::: hint
What is 0 times infinity? So don't multiply.
:::

::: done
GPT and models like it are trained with the same scores hidden: no word sees
what it should predict.
:::
*/

void mask_scores(int n, float scores[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            scores[i][j] = -INFINITY;
}

/* folded: how this is printed */
static void show_minus_infinity(float maps_of[4][6][6])
{
    const char *const map[4] = {"scores", "times the mask", "renormalized",
                                "from minus infinity"};
    const char *const words[6] = {"Life", "is",      "short",
                                  "eat",  "dessert", "first"};
    float query[6][2], key[6][2], value[6][4], scores[6][6];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    dot_scores(6, 6, 2, query, key, scores);
    mask_scores(6, scores);
    print_matrix("scores, the future hidden", 6, 6, scores);
    scale_scores(6, 6, 2, scores);
    softmax_rows(6, 6, scores, maps_of[3]);
    print_matrix("their attention weights", 6, 6, maps_of[3]);
    figure_maps("maps", "Two ways to hide the future", 4, map, 6, words, 6,
                words, maps_of);
}

/*
``` output
scores, the future hidden (6, 6)
[[ 0.0613,    -inf,    -inf,    -inf,    -inf,    -inf],
 [-0.6004,  3.4707,    -inf,    -inf,    -inf,    -inf],
 [ 0.2432, -1.3934,  0.5869,    -inf,    -inf,    -inf],
 [-0.0794,  0.4487, -0.1807,  0.0518,    -inf,    -inf],
 [-0.1510,  0.8626, -0.3597,  0.1112,  0.3216,    -inf],
 [ 0.4344, -2.5037,  1.0740, -0.3509, -0.9315,  0.9265]]
their attention weights (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0532, 0.9468, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.3862, 0.1214, 0.4924, 0.0000, 0.0000, 0.0000],
 [0.2232, 0.3242, 0.2078, 0.2449, 0.0000, 0.0000],
 [0.1536, 0.3145, 0.1325, 0.1849, 0.2145, 0.0000],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
```

The weights are those of the first way, without the table of the mask and
without the second division. (The division by $\sqrt{d_k}$ comes after the
mask here, as in the article. Minus infinity divided by a number is minus
infinity, so the order is a matter of taste.)

![Scores; weights times the mask; renormalized; and from minus infinity. The
last two are the same map. Each has its own scale of colours, and orange is
below 0](maps.svg){#fig-maps}

::: {.workbench args="stage=mask"}
:::

(One tutorial lets a token see only those before its position. Then *Life*
would have nothing to look at, [A.8](#errata-8).)

## Equal on paper {#causal-mask-paper}

Here are both ways side by side, for one row:
*/

static void from_all(int m, const float scores[1][m],
                     const float mask[1][m], float weights[1][m])
{
    softmax_rows(1, m, scores, weights);
    mask_weights(1, m, mask, weights);
    renormalize(1, m, weights);
}

static void from_visible(int m, float scores[1][m], const float mask[1][m],
                         float weights[1][m])
{
    for (int j = 0; j < m; j++)
        if (mask[0][j] == 0)
            scores[0][j] = -INFINITY;
    softmax_rows(1, m, scores, weights);
}

/*
Take two words that may be seen, with the scores 0 and 0.5, and a third word
that is hidden. The score of the hidden word should not matter. We raise
that score step by step.

::: question
Somewhere between 10 and 105 one of the two ways breaks down. Which one, and
what will it answer in the end?

Renormalizing. Softmax gives the hidden word nearly everything, and leaves
the visible words less and less, in the end 0. And 0 divided by 0 isn't a
number.
:::
*/

/* folded: how this is printed */
static void show_gaps(void)
{
    enum { GAPS = 8 };
    const float hidden[GAPS] = {10, 50, 87, 100, 102, 103, 104, 105};
    const float mask[1][3] = {{1, 1, 0}};
    const char *const at[GAPS] = {"10",  "50",  "87",  "100",
                                  "102", "103", "104", "105"};
    const char *const curve[2] = {"renormalized", "minus infinity"};
    float table[GAPS][5], first_share[2][GAPS];
    for (int i = 0; i < GAPS; i++) {
        float scores[1][3] = {{0, 0.5f, hidden[i]}}, weights[1][3];
        from_all(3, scores, mask, weights);
        table[i][0] = hidden[i];
        memcpy(&table[i][1], weights[0], 2 * sizeof(float));
        from_visible(3, scores, mask, weights);
        memcpy(&table[i][3], weights[0], 2 * sizeof(float));
        first_share[0][i] = table[i][1];
        first_share[1][i] = table[i][3];
    }
    print_matrix("hidden score; renormalized; from minus infinity", GAPS, 5,
                 table);
    figure_curves("gaps", "The first share, against the hidden score",
                  curve, GAPS, at, first_share);
}

/*
``` output
hidden score; renormalized; from minus infinity (8, 5)
[[ 10.0000,   0.3775,   0.6225,   0.3775,   0.6225],
 [ 50.0000,   0.3775,   0.6225,   0.3775,   0.6225],
 [ 87.0000,   0.3775,   0.6225,   0.3775,   0.6225],
 [100.0000,   0.3803,   0.6197,   0.3775,   0.6225],
 [102.0000,   0.4000,   0.6000,   0.3775,   0.6225],
 [103.0000,   0.3333,   0.6667,   0.3775,   0.6225],
 [104.0000,   0.0000,   1.0000,   0.3775,   0.6225],
 [105.0000,      nan,      nan,   0.3775,   0.6225]]
```

At 100 the second digit is wrong, at 103 the second share is twice the
first, and at 105 there is no answer. Near 0, floats are the multiples of
the smallest float above 0, one after another, with nothing between them. At
103, the weights of the two visible words are once and twice that smallest
float, so all their digits are lost. At 104 the first is 0 and the second is
the smallest float; at 105 both are 0. No division brings the lost digits
back. Minus infinity is right in every row, since that way never looks at
the hidden score. (A gap of 100 is rare. But that scores have a spread near
1 holds for independent random numbers, [](#scaling-spread). Those of a
trained model may be larger.)

![The share of the first visible word, against the hidden score (not evenly
spaced), which should not matter. Renormalized, the share is wrong from
100 on, is 0 at 104, and at 105 there is none](gaps.svg){#fig-gaps}

## What a query may see {#causal-mask-see}

So far each query asked the words of its own sentence. In general a query
may see all keys, as before; or the keys up to its own position; or those
for which a table has an entry other than 0. A `Mask` is one of the three.

::: {.header of="Mask"}
:::

Query `i` has the **position** `first + i` in its text. For a whole sentence
`first` is 0, as in the `mask_causal(0)` that you will meet most often.
[](#causal-mask-nothing) has others.
*/

Mask mask_none(void)
{
    return (Mask){.kind = MASK_NONE};
}

Mask mask_causal(int first)
{
    return (Mask){.kind = MASK_CAUSAL, .first = first};
}

Mask mask_table(int n, int m, const float table[n][m])
{
    return (Mask){.kind = MASK_TABLE, .n = n, .m = m, .table = table[0]};
}

void mask_check(int n, int m, Mask mask)
{
    if (mask.kind == MASK_NONE || mask.kind == MASK_CAUSAL)
        return;
    if (mask.kind != MASK_TABLE || !mask.table || mask.n != n ||
        mask.m != m)
        REFUSE(
            "a mask of kind %d, %d times %d, for %d queries and %d keys: "
            "MASK_NONE, MASK_CAUSAL, or a table of their size, is needed",
            (int)mask.kind, mask.n, mask.m, n, m);
}

static int sees(Mask mask, int i, int j)
{
    if (mask.kind == MASK_CAUSAL)
        return j - i <= mask.first; /* first + i may overflow */
    return mask.kind == MASK_NONE || ROWS(mask.m, mask.table)[i][j] != 0;
}

void apply_mask(int n, int m, Mask mask, float scores[n][m])
{
    mask_check(n, m, mask);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (!sees(mask, i, j))
                scores[i][j] = -INFINITY;
}

/*
The next function is `attention` plus one line, `apply_mask`, and minus the
mixture: the next chapter will do something to the weights before the values
are mixed.
*/

void attention_weights(int n, int m, int d_k, Mask mask,
                       const float query[n][d_k], const float key[m][d_k],
                       float scores[n][m], float weights[n][m])
{
    dot_scores(n, m, d_k, query, key, scores);
    scale_scores(n, m, d_k, scores);
    apply_mask(n, m, mask, scores);
    softmax_rows(n, m, scores, weights);
}

/*
Is the future really hidden? Then *short* must get the same context vector
from a sentence that ends there:
*/

/* folded: how this is printed */
static void show_masked_attention(void)
{
    float query[6][2], key[6][2], value[6][4];
    float scores[6][6], weights[6][6], context[6][4];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    print_vector("value of Life", 4, value[0]);
    attention_weights(6, 6, 2, mask_causal(0), query, key, scores, weights);
    matmul(6, 4, 6, weights, value, context);
    print_matrix("context vectors, the future hidden", 6, 4, context);
    attention(1, 3, 2, 4, query + 2, key, value, ROWS(3, scores[0]),
              ROWS(3, weights[0]), context);
    print_vector("context vector of short in Life is short", 4, context[0]);
}

static void show_backwards(void)
{
    const int backwards[6] = {5, 4, 3, 2, 1, 0};
    float x[6][3], query[6][2], key[6][2], value[6][4];
    float scores[6][6], weights[6][6], context[6][4];
    embed(6, 3, 6, backwards, life, x);
    qkv_from_seed(123, 6, 3, 2, 4, x, query, key, value);
    attention_weights(6, 6, 2, mask_causal(0), query, key, scores, weights);
    matmul(6, 4, 6, weights, value, context);
    print_vector("context vector of Life, as the last word", 4, context[5]);
}

/*
``` output
value of Life (4)
[-0.2546, -0.2608, -0.1544, -0.2801]
context vectors, the future hidden (6, 4)
[[-0.2546, -0.2608, -0.1544, -0.2801],
 [ 0.6124,  1.7823,  1.0298,  1.6994],
 [-0.4415, -0.1738, -0.2191, -0.3539],
 [ 0.1242,  0.4529,  0.2647,  0.4297],
 [ 0.2848,  0.6142,  0.3719,  0.6158],
 [-0.5296, -0.2799, -0.4107, -0.6006]]
context vector of short in Life is short (4)
[-0.4415, -0.1738, -0.2191, -0.3539]
```

The context vector of *short* is the third row of the table. *Life* sees
only itself, and its context vector is its value. For the same reason each
row of the table is what the last word gets in the text that ends there,
from *Life* to the whole sentence. The first five are what the five guesses
are made from, and one computation gives them all.

::: question
Without a mask, attention didn't know the order of words
([](#self-attention)). Does it now? Turn the sentence around, so that *Life*
is its last word. Will *Life* have the context vector that it had?

No. *Life* sees six words then, where it saw one. Its context vector is the
one that [](#self-attention-first) printed, without a mask.
:::

``` output
context vector of Life, as the last word (4)
[-0.1564,  0.1028, -0.0763, -0.0764]
```

Which words a word may see depends on its position. Among the words that it
sees, the order still changes nothing.

## Why not a large negative number? {#causal-mask-filled}

A well-known textbook uses minus one million instead [@zhang2021], and the
published program of GPT-2 subtracts ten billion [@radford2019]. That works
wherever a word sees something with a score far above the number, and no
weight ever becomes `nan`. But any finite number still counts as a score.
Take three words, all of them hidden:
*/

/* folded: how this is printed */
static void show_all_hidden(void)
{
    const float fill[2] = {-1e6f, -INFINITY};
    float scores[2][3], weights[2][3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            scores[i][j] = fill[i];
    softmax_rows(2, 3, scores, weights);
    print_matrix("all hidden, by a million below 0, by minus infinity", 2,
                 3, weights);
}

/*
``` output
all hidden, by a million below 0, by minus infinity (2, 3)
[[0.3333, 0.3333, 0.3333],
 [   nan,    nan,    nan]]
```

With minus one million, each hidden word gets a third, which looks like a
result. (And minus infinity must be written over the score. Multiplying
minus infinity by ones and zeros, and adding the product to the scores, will
not do, since 0 times infinity is no number, [A.2](#errata-2).)

## Nothing left to see {#causal-mask-nothing}

Where every score of a row is minus infinity, softmax has nothing to share
out, and its answer is `nan`. In a whole sentence no such row occurs, since
every word sees itself. But `first` need not be 0. Later, a few new words
will ask a text that has been read before ([](#kv-cache)), so there are
fewer queries than keys. Let two words ask five keys. And, in case somebody
swaps the two sizes, let four ask two, with a negative `first`:
*/

/* folded: how this is printed */
static void see_from(int first, int n, int m, float seen[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            seen[i][j] = sees(mask_causal(first), i, j);
}

static void show_places(void)
{
    const char *const panel[2] = {"first = 0", "first = 5 - 2"};
    float seen[2][2][5], before[4][2];
    see_from(0, 2, 5, seen[0]);
    see_from(5 - 2, 2, 5, seen[1]);
    see_from(2 - 4, 4, 2, before);
    print_matrix("two queries, five keys, first = 0", 2, 5, seen[0]);
    print_matrix("two queries, five keys, first = 5 - 2", 2, 5, seen[1]);
    print_matrix("four queries, two keys, first = 2 - 4", 4, 2, before);
    figure_grid("places", "Two places for two queries among five keys", 2,
                panel, 2, 5, seen);

    float query[6][2], key[6][2], value[6][4], scores[4][2], weights[4][2];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    attention_weights(4, 2, 2, mask_causal(2 - 4), query, key, scores,
                      weights);
    print_matrix("their weights", 4, 2, weights);
}

/*
``` output
two queries, five keys, first = 0 (2, 5)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [1.0000, 1.0000, 0.0000, 0.0000, 0.0000]]
two queries, five keys, first = 5 - 2 (2, 5)
[[1.0000, 1.0000, 1.0000, 1.0000, 0.0000],
 [1.0000, 1.0000, 1.0000, 1.0000, 1.0000]]
four queries, two keys, first = 2 - 4 (4, 2)
[[0.0000, 0.0000],
 [0.0000, 0.0000],
 [1.0000, 0.0000],
 [1.0000, 1.0000]]
```

![What two queries may see of five keys, filled: at the beginning of the
text, and at its end](places.svg){#fig-places}

In the first mask the two words are the first of the text, in the second the
last. The second mask is right for a model that has read three words and
adds two. PyTorch's `is_causal=True` means the first mask, even where there
are fewer queries than keys. The second mask has `first = m - n`. By that
rule, four queries over two keys start at $2 - 4$, before the first key, and
two of them have nothing to see. Here are the weights with which the first
four words of our sentence look at the first two through that mask:

``` output
their weights (4, 2)
[[   nan,    nan],
 [   nan,    nan],
 [1.0000, 0.0000],
 [0.4077, 0.5923]]
```

What is the mixture of nothing? PyTorch so far has two answers: `F.softmax`
gives `nan`, and `F.scaled_dot_product_attention` gives 0, so that a row
that nobody will use does no harm. (The last lines of the Python below show
both, and name the version.) Our answer is `nan`: if you use such a row by
mistake, you should notice.

## Everything together
*/

int main(int argc, char *argv[])
{
    float maps_of[4][6][6];
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "mask");
    show_renormalizing(maps_of);
    show_minus_infinity(maps_of);
    show_gaps();
    show_masked_attention();
    show_backwards();
    show_all_hidden();
    show_places();
    return 0;
}

/*
The same in PyTorch, both ways. `torch.tril` keeps the lower triangle of a
table, the diagonal with it. `masked_fill` writes where a Boolean table
is true, such as `mask == 0`. (The tutorials also have `torch.triu(...,
diagonal=1)`, the upper triangle without the diagonal, and `mask.bool()`,
another Boolean table.)

``` python
import torch
import torch.nn.functional as F

words = 'Life is short, eat dessert first'.replace(',', '').split()
ids = {word: i for i, word in enumerate(sorted(set(words)))}
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(
    torch.tensor([ids[word] for word in words])).detach()
torch.manual_seed(123)
query, key, value = [x @ torch.rand(3, d) for d in (2, 2, 4)]
scores = query @ key.T
print(scores)
mask = torch.tril(torch.ones(6, 6))
print(mask)
weights = F.softmax(scores / 2**0.5, dim=-1) * mask
print(weights)
print(weights / weights.sum(dim=-1, keepdim=True))
hidden = scores.masked_fill(mask == 0, -torch.inf)
print(hidden)
print(F.softmax(hidden / 2**0.5, dim=-1))
print(F.scaled_dot_product_attention(query, key, value, is_causal=True))
seen = torch.zeros(6, 6).bool()  # true where a key may be seen: nowhere
# So it is in PyTorch 2.13; later versions may answer otherwise.
assert F.softmax(scores.masked_fill(~seen, -torch.inf), -1).isnan().all()
assert (F.scaled_dot_product_attention(
    query, key, value, attn_mask=seen) == 0).all()
```

A model that sees only the past can still learn its texts by heart. To
counter that, [](#dropout) crosses out weights, too, but at random.

## Further exercises

**Exercise 9.3** (★★, challenge, 3 points): `mask_window`. In a long text,
most words are far away. So let each word see only itself and the `w - 1`
words before it, and give all others minus infinity [@beltagy2020].
`mask_window` refuses a window of less than one word.

::: hint
`mask_scores` hides what comes after a word. What is now hidden before it?
:::

::: done
With a window, a word needs the last `w` keys, however long the text has
become. [](#kv-cache) keeps only these.
:::

**Exercise 9.4** (★★★, challenge, 4 points): `find_gap`. At which gap does
renormalizing first go wrong? Given are `n` visible scores and a tolerance.
Return the smallest whole number $g$, from 0 on, for which a hidden score,
$g$ above the largest visible one, spoils the result: some weight is `nan`,
or differs by more than the tolerance from what softmax gives for the
visible scores alone. It refuses a tolerance that is negative or no number,
and visible scores that are not finite. Free what you allocate.

::: hint
[](#causal-mask-paper) tries some gaps. Try one after the other. Halving the
range, as you look up a word in a dictionary, needs a result that stays
wrong once it is wrong. Does this one stay wrong? Print the differences for
gaps near 100.
:::

::: hint
All `n + 1` scores need room, which `new_table` gives. Softmax sees only
differences. If the hidden score is 0, where are the others?
:::

::: hint
`!(difference <= tolerance)` is true for `nan`, too.
:::

::: done
Small scores never reveal that renormalizing goes wrong. You have measured
where it starts.
:::

**Exercise 9.5** (by hand): In *Life is short eat dessert first*, the value
of the last word is infinite in one entry, by some accident. The future is
hidden by minus infinity, as it should be. What happens to the context
vectors of the words before?

**Exercise 9.6** (by hand): A table of weights has six rows and columns, and
somebody renormalizes by dividing each row by the *number* of words that it
may see. Is that ever right?

## Solutions

::: {.solution exercise="9.3"}
*/

void mask_window(int n, int w, float scores[n][n])
{
    if (w < 1)
        REFUSE("a window of %d words: at least 1 is needed", w);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j > i || i - j >= w)
                scores[i][j] = -INFINITY;
}

/*
What a word cannot see directly may still reach it. The words that it sees
have seen others, and a model has many layers of attention, one after
another.
:::

::: {.solution exercise="9.4"}
*/

int find_gap(int n, const float visible[n], float tolerance)
{
    float largest = -INFINITY;
    if (!(tolerance >= 0))
        REFUSE("a tolerance of %g: 0 or more is needed", (double)tolerance);
    for (int j = 0; j < n; j++) {
        if (!isfinite(visible[j]))
            REFUSE("visible score %d is %g: a finite number is needed", j,
                   (double)visible[j]);
        largest = fmaxf(largest, visible[j]);
    }
    float(*x)[n + 1] = new_table(3, n + 1);
    float *right = x[0], *scores = x[1], *weights = x[2];
    softmax(n, visible, right);
    int g = -1, spoiled = 0;
    while (!spoiled) {
        g++;
        for (int j = 0; j < n; j++)
            scores[j] = visible[j] - largest - (float)g;
        scores[n] = 0;
        softmax(n + 1, scores, weights);
        weights[n] = 0;
        renormalize(1, n + 1, x + 2);
        for (int j = 0; j < n; j++)
            spoiled |= !(fabsf(weights[j] - right[j]) <= tolerance);
    }
    free(x);
    return g;
}

/*
It always ends: $e^{-104}$ is nearer to 0 than to the smallest float above
0. So at a gap of 104 at the latest every visible weight is 0, and the
result is `nan`. (The table in [](#causal-mask-paper) counts from the
smaller of its two scores, where it takes 105.) Halving the range would not
do. For those two scores, the next larger gap does less harm than 100.
:::

::: {.solution exercise="9.5"}
Their weight for the last word is 0, exactly; and 0 times infinity isn't a
number. So that entry becomes `nan` in all of them. The mask hides scores.
It cannot hide a value that is not finite.
:::

::: {.solution exercise="9.6"}
Only where the weights that are left add up to just that number. Shares of a
whole never add up to more than one. So the number must be one: the word
sees a single word, and gave that word its whole attention before the mask,
too. Of six rows, that can be so in the first at most, and only by rounding:
on paper, softmax leaves no finite score without a share.
:::
*/
