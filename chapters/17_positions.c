/*
# Positions and RoPE: where a word stands {#positions}

![The way from words to attention. At each of the three shaded steps, a
position can come in](pipeline.svg){#fig-positions-pipeline}

This part of the book ends with a model that writes. Attention alone cannot
be that model, for it does not know the order of its words.
[](#self-attention-order) has shuffled the words of a sentence. Their
context vectors were shuffled in the same way, and nothing else about them
changed. Attention sees a set: to it, *dog bites man* and *man bites dog*
are the same. What is missing is each word's **position**, its number in the
text. (Two of the tutorials leave positions out [@raschka2024magazine;
@tokens2transformer].) Four ways to tell attention the positions have been
in wide use. We build all four, and let each of them learn.
*/

#include "attention/17_positions.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/16_kv_cache.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"
#include "attention/kv_cache.h"
#include "support.h"

/*
## Twice the same word {#positions-set}

In *the dog bites the man*, the word *the* comes twice. A seed fills a table
of embeddings, as in [](#tokens), and each word picks its row of eight
entries. Ids follow the alphabet: the five words have the ids 3, 1, 0, 3 and
2. We want to see what positions do and nothing else. So there are no
layers: a word's vector is both its query and its key.
*/

enum { WORDS = 5, WIDE = 8, PLACED = 16 };

/* folded: how this is printed */
/* The words' vectors, and a table that the third section needs. */
static void fill_vectors(float x[WORDS][WIDE], float learned[PLACED][WIDE])
{
    const int ids[WORDS] = {3, 1, 0, 3, 2};
    float table[4][WIDE];
    Random r = random_seeded(123);
    embedding_fill(&r, 4, WIDE, table);
    embedding_fill(&r, PLACED, WIDE, learned);
    embed(WORDS, WIDE, 4, ids, table, x);
}

/* A map of weights; and are the rows of the two "the" the same, and their
 * columns? */
static void print_map(const char *label, const float map[WORDS][WORDS])
{
    float turned[WORDS][WORDS];
    transpose(WORDS, WORDS, map, turned);
    print_matrix(label, WORDS, WORDS, map);
    printf("rows of the and the are equal: %s, columns: %s\n",
           memcmp(map[0], map[3], sizeof map[0]) ? "no" : "yes",
           memcmp(turned[0], turned[3], sizeof turned[0]) ? "no" : "yes");
}

/* The map of words that have been told their positions, or have not. */
static void show_map(const char *label, const float x[WORDS][WIDE])
{
    float scores[WORDS][WORDS], map[WORDS][WORDS];
    attention_weights(WORDS, WORDS, WIDE, mask_none(), x, x, scores, map);
    print_map(label, map);
}

/*
::: question
Two rows of the map of weights will be equal. Which two? And what else will
be equal?

The rows of the two *the* are equal, because equal queries ask alike. Their
two columns are equal as well, because equal keys are found alike.
:::

``` output
weights, without positions (5, 5)
[[0.4917, 0.0101, 0.0049, 0.4917, 0.0016],
 [0.1206, 0.6018, 0.0664, 0.1206, 0.0906],
 [0.2144, 0.2414, 0.1783, 0.2144, 0.1515],
 [0.4917, 0.0101, 0.0049, 0.4917, 0.0016],
 [0.0298, 0.1396, 0.0642, 0.0298, 0.7366]]
rows of the and the are equal: yes, columns: yes
```

The rows are equal to the last bit. *Bites* takes 0.2414 of *dog* and 0.1515
of *man*, and it would take the same if the man bit the dog.

## The hands of a clock {#positions-sinusoids}

The first way is the **positional encoding** of the Transformer. Each
position has a vector, as long as a word's, which is added to the word's
vector. Which vector? The number of the position itself will not do: at
position 1,000 it would be far larger than any entry of a word. A clock has
solved the same problem. Its hands never grow longer. The fast hand tells
neighbours apart, and is soon back where it was; the slower hands tell the
rounds of the fast one apart.

The tip of a hand is two numbers: how far to the right it is, and how far
up. A hand of length 1 points upright at first, so its tip is 0 to the right
and 1 up. When it has turned clockwise by the angle $a$, its tip is
$\sin(a)$ to the right and $\cos(a)$ up. So a row of $d$ entries holds $d/2$
hands, two entries for each. From one position to the next, hand $k$ turns
by the angle $\omega_k$ [@vaswani2017]:

$$p_{i,2k} = \sin(i\,\omega_k), \qquad p_{i,2k+1} = \cos(i\,\omega_k),
  \qquad \omega_k = \frac{1}{10000^{2k/d}}$$

Angles are in radians, as C's functions take them: a full turn is $2\pi$.
With eight entries there are four hands. Their speeds are 1, 1/10, 1/100 and
1/1000 radians for each position.

**Exercise 17.1** (★★, 3 points): `sinusoids`. The rows of the positions 0
to `n - 1`. It refuses what `pairs_check(d)` refuses, an odd number of
entries.

::: hint
One loop over the hands, and in it one over the positions. Hand `k` fills
the columns `2 * k` and `2 * k + 1`.
:::

::: hint
Mind the division of integers: in C, `2 * k / d` is 0. Compute the angle as
a `double`.
:::

::: done
The first Transformer's positions, without a single parameter, for texts as
long as you like.
:::
*/

void pairs_check(int d)
{
    if (d % 2)
        REFUSE("rows of %d entries: an even number is needed, for pairs",
               d);
}

/* A float near 10,000 is exact to a thousandth, and an angle needs more. */
void sinusoids(int n, int d, float position[n][d])
{
    pairs_check(d);
    for (int k = 0; k < d / 2; k++) {
        const double speed = pow(10000, -2.0 * k / d);
        for (int i = 0; i < n; i++) {
            position[i][2 * k] = (float)sin(i * speed);
            position[i][2 * k + 1] = (float)cos(i * speed);
        }
    }
}

/*
Here each column is a position, and every two rows are a hand:
*/

enum { FAR = 1001 };

/* folded: how this is printed */
static void show_hands(const float position[FAR][WIDE])
{
    const int at[6] = {0, 1, 2, 10, 100, 1000};
    float few[6][WIDE], hands[WIDE][6], alike[2][6];
    embed(6, WIDE, FAR, at, position, few);
    transpose(6, WIDE, few, hands);
    print_matrix("positions 0, 1, 2, 10, 100 and 1000", WIDE, 6, hands);
    for (int i = 0; i < 6; i++) {
        alike[0][i] = dot(WIDE, position[0], position[i]);
        alike[1][i] = dot(WIDE, position[100], position[100 + i]);
    }
    print_vector("position 0 with the positions 0 to 5", 6, alike[0]);
    print_vector("position 100 with the positions 100 to 105", 6, alike[1]);
}

/*
``` output
positions 0, 1, 2, 10, 100 and 1000 (8, 6)
[[ 0.0000,  0.8415,  0.9093, -0.5440, -0.5064,  0.8269],
 [ 1.0000,  0.5403, -0.4161, -0.8391,  0.8623,  0.5624],
 [ 0.0000,  0.0998,  0.1987,  0.8415, -0.5440, -0.5064],
 [ 1.0000,  0.9950,  0.9801,  0.5403, -0.8391,  0.8623],
 [ 0.0000,  0.0100,  0.0200,  0.0998,  0.8415, -0.5440],
 [ 1.0000,  0.9999,  0.9998,  0.9950,  0.5403, -0.8391],
 [ 0.0000,  0.0010,  0.0020,  0.0100,  0.0998,  0.8415],
 [ 1.0000,  1.0000,  1.0000,  0.9999,  0.9950,  0.5403]]
position 0 with the positions 0 to 5 (6)
[4.0000, 3.5353, 2.5637, 1.9649, 2.2666, 3.1600]
position 100 with the positions 100 to 105 (6)
[4.0000, 3.5353, 2.5637, 1.9649, 2.2666, 3.1600]
```

Each hand is ten times as slow as the one above it: what the fastest hand
shows at position 1, the others show at the positions 10, 100 and 1000.

Why hands, and not any vectors that differ? Because of what happens $m$
positions later: each hand has turned by $m\,\omega_k$, wherever it was
before. Let the old angle be $a$ and the turn $b$. As

$$\sin(a + b) = \sin(a) \cos(b) + \cos(a) \sin(b)$$

and $\cos(a + b) = \cos(a) \cos(b) - \sin(a) \sin(b)$, the new tip is made
from the old tip with two factors, $\cos(b)$ and $\sin(b)$. These factors
are the same at all positions. So one layer for queries can turn the hands
back by three positions, wherever a query stands, and the key that is most
like the result is the one three positions back. And how alike two positions
are depends on their distance alone. The dot product of two hands of length
1 is the cosine of the angle between them ([](#dot-product-length)), and
that angle is $m\,\omega_k$ for any two positions $m$ apart. In the output,
the products are the same from position 0 on and from position 100 on.

![The fastest hand turns as a clock's. Beside each tip stands its dot
product with the tip at position 0](clock.svg){#fig-positions-clock}

A function adds these rows to a text's vectors, and it takes any table of
positions. As in [](#causal-mask), the vectors may be only a part of a text,
which begins at position `first`:
*/

void add_positions(int n, int d, int length, int first,
                   const float position[length][d], float x[n][d])
{
    if (first < 0 || first > length - n)
        REFUSE("%d positions from %d on: a table of %d has 0 to %d", n,
               first, length, length - 1);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < d; k++)
            x[i][k] += position[first + i][k];
}

/* folded: how this is printed */
static void show_added(const char *label, int length,
                       const float position[length][WIDE],
                       const float x[WORDS][WIDE])
{
    float placed[WORDS][WIDE];
    memcpy(placed, x, sizeof placed);
    add_positions(WORDS, WIDE, length, 0, position, placed);
    show_map(label, placed);
}

/*
``` output
weights, sinusoids added (5, 5)
[[0.3385, 0.0495, 0.0301, 0.5681, 0.0139],
 [0.0155, 0.7887, 0.0822, 0.0291, 0.0845],
 [0.0528, 0.4620, 0.2044, 0.0842, 0.1966],
 [0.1190, 0.0195, 0.0100, 0.8423, 0.0092],
 [0.0018, 0.0347, 0.0144, 0.0056, 0.9435]]
rows of the and the are equal: no, columns: no
```

## A table that learns {#positions-learned}

The second way leaves the vectors to training. **Learned positions** are a
table with a row for each position. The rows begin as random numbers, and
training finds better ones, as for any other parameter. GPT-2 has such a
table, with [1,024]{.cited} rows [@radford2019]. `add_positions` adds its
rows, too. Here the table is still as a seed has drawn it:

``` output
weights, a table's rows added (5, 5)
[[0.9641, 0.0001, 0.0002, 0.0356, 0.0000],
 [0.0032, 0.7853, 0.0499, 0.0705, 0.0911],
 [0.0081, 0.0356, 0.8933, 0.0088, 0.0541],
 [0.0264, 0.0008, 0.0001, 0.9726, 0.0000],
 [0.0009, 0.0503, 0.0420, 0.0015, 0.9054]]
rows of the and the are equal: no, columns: no
```

A position behind the last row has no vector, and `add_positions` refuses
it: such a model cannot read a longer text.

## Turned, not added {#positions-rotation}

In the map with sinusoids, the first *the* takes more of the second *the*
(0.5681) than of itself (0.3385), which nobody has asked for. If the word
$x$ stands at position $p$ and the word $y$ at position $q$, their score is

$$(x + p) \cdot (y + q) = x \cdot y + x \cdot q + p \cdot y + p \cdot q$$

The last term, $p \cdot q$, is fine: with hands it depends on the distance
alone. The two terms before it multiply a word with a position. They change
when the same two words stand at other positions, the same distance apart.

The third way, **rotary position embedding** or **RoPE**, adds nothing
[@su2021]. It takes the entries of a query in pairs. Each pair is an arrow
in a plane, and this arrow is *turned* by the angle $i\,\omega_k$, where $i$
is the query's position. The pairs of a key are turned in the same way, by
the key's position. Here arrows turn counterclockwise, the other way than
the hands of a clock, as is usual in mathematics: turned by $a$, the arrow
$(1, 0)$ becomes $(\cos(a), \sin(a))$, and $(0, 1)$ becomes $(-\sin(a),
\cos(a))$. Any arrow $(u, v)$ is $u$ times the first and $v$ times the
second. So it becomes

$$(u \cos(a) - v \sin(a), \;\; u \sin(a) + v \cos(a))$$

A turn changes no length. If a query is turned by $a$ and a key by $b$, the
angle between the two changes by $b - a$. That is $\omega_k$ times the
distance of their positions. By [](#dot-product-length) the dot product of
two arrows is both lengths times the cosine of the angle between them. So of
the two positions only their distance counts, with its sign: in each pair,
and in the score, the sum over all pairs. Values are not turned: what a word
gives does not depend on where it stands. (With several heads, each head
turns its own entries, and $d$ is its $d_k$.)

Which two entries are a pair? In the paper, a pair is two neighbours,
entries `2 * k` and `2 * k + 1`. Elsewhere, a pair is one entry from each
half, `k` and `d / 2 + k`.

::: {.header of="Pairing"}
:::

**Exercise 17.2** (★★, 3 points): `rope`. Turns pair `k` of row `i` by the
angle of hand `k` at the position `first + i`, and leaves the result where
the row was. It refuses an odd `d`, a `first` below 0, and a pairing that
there is not.

::: hint
The loops are those of `sinusoids`. Find the two columns of pair `k` first,
for either pairing.
:::

::: hint
Both new entries are made of both old ones. When the first has been
overwritten, it is too late for the second.
:::

::: done
This is the rotation of Llama, Mistral and most open models since, in both
of the forms in which you will meet it.
:::
*/

void rope(Pairing pairing, int n, int d, int first, float x[n][d])
{
    pairs_check(d);
    if (first < 0 ||
        (pairing != PAIRING_HALVES && pairing != PAIRING_NEIGHBOURS))
        REFUSE("position %d, pairing %d: from 0 on, and PAIRING_HALVES or "
               "PAIRING_NEIGHBOURS, are needed",
               first, (int)pairing);
    for (int k = 0; k < d / 2; k++) {
        const int a = pairing == PAIRING_HALVES ? k : 2 * k;
        const int b = pairing == PAIRING_HALVES ? d / 2 + k : 2 * k + 1;
        const double speed = pow(10000, -2.0 * k / d);
        for (int i = 0; i < n; i++) {
            const double angle = ((double)first + i) * speed;
            const float s = (float)sin(angle), c = (float)cos(angle);
            const float u = x[i][a], v = x[i][b];
            x[i][a] = u * c - v * s;
            x[i][b] = u * s + v * c;
        }
    }
}

/* folded: how this is printed */
/* The score of bites with dog, which stands right before it, at four
 * positions: of dog, with sinusoids, with rotation. */
static void show_moved(const float position[FAR][WIDE],
                       const float x[WORDS][WIDE])
{
    float table[4][3];
    for (int i = 0; i < 4; i++) {
        const int at = (const int[]){1, 11, 101, 999}[i];
        float added[2][WIDE], turned[2][WIDE];
        memcpy(added, x[1], sizeof added);
        memcpy(turned, x[1], sizeof turned);
        add_positions(2, WIDE, FAR, at, position, added);
        rope(PAIRING_NEIGHBOURS, 2, WIDE, at, turned);
        table[i][0] = (float)at;
        table[i][1] = dot(WIDE, added[1], added[0]);
        table[i][2] = dot(WIDE, turned[1], turned[0]);
    }
    print_matrix("position of dog, score of bites: added, turned", 4, 3,
                 table);
}

static void show_turned(const float x[WORDS][WIDE])
{
    float turned[WORDS][WIDE];
    memcpy(turned, x, sizeof turned);
    rope(PAIRING_NEIGHBOURS, WORDS, WIDE, 0, turned);
    show_map("weights, queries and keys turned", turned);
}

/*
``` output
position of dog, score of bites: added, turned (4, 3)
[[  1.0000,   7.7024,   1.8368],
 [ 11.0000,   6.0641,   1.8368],
 [101.0000,   9.2389,   1.8368],
 [999.0000,   1.3785,   1.8368]]
weights, queries and keys turned (5, 5)
[[0.8598, 0.0104, 0.0064, 0.1225, 0.0009],
 [0.0871, 0.7355, 0.0716, 0.0541, 0.0517],
 [0.1707, 0.2284, 0.1912, 0.2352, 0.1745],
 [0.1225, 0.0064, 0.0088, 0.8597, 0.0026],
 [0.0107, 0.0718, 0.0759, 0.0302, 0.8114]]
rows of the and the are equal: no, columns: no
```

With sinusoids added, the score of *bites* with *dog* changes as the two
words move through a text. With queries and keys turned, it stays the same.

## Two pairings {#positions-pairings}

The pairs decide which entries are turned fast and which slowly. Here is the
score of *bites* with *dog*, 0 to 5 positions apart:
*/

/* folded: how this is printed */
static void show_pairings(const float x[WORDS][WIDE])
{
    const char *const label[2] = {"halves", "neighbours"};
    for (int k = PAIRING_HALVES; k <= PAIRING_NEIGHBOURS; k++) {
        float scores[6];
        for (int i = 0; i < 6; i++) {
            float bites[1][WIDE];
            memcpy(bites, x[2], sizeof bites);
            rope((Pairing)k, 1, WIDE, i, bites);
            scores[i] = dot(WIDE, bites[0], x[1]);
        }
        print_vector(label[k], 6, scores);
    }
}

/*
``` output
halves (6)
[2.1908, 1.9061, 1.6067, 1.5881, 1.8736, 2.1930]
neighbours (6)
[2.1908, 1.8368, 1.4474, 1.4527, 1.9126, 2.4612]
```

Either pairing is right for a model that has been trained with it. With the
other one, the same model is wrong, and nothing says so: all shapes fit, the
scores look like scores, and at the distance 0 they are even the right ones.
Meta's files of Llama are for neighbours. The files that Hugging Face
publishes are for halves, with the rows of the weights for queries and keys
reordered to match [@transformers25199]. An exercise below reorders such a
weight.

## In a cache {#positions-cache}

The position of a token never changes. So a key is turned once, before it
goes into the cache of [](#kv-cache). A new token's query and key are turned
by the token's position in the whole text: `first` is how many tokens have
come before. Here the sentence is read in one go; then in two parts, where
*the man* is turned from position 3 on; and then, as a mistake, from 0 on,
as if the text began there:
*/

/* The next n words, turned from a position on, come into the cache and ask.
 * They are queries, keys and values themselves. */
static void next_words(KVCache *c, int n, int first, const float x[n][WIDE],
                       float context[n][WIDE])
{
    float turned[WORDS][WIDE];
    memcpy(turned, x, (size_t)n * sizeof *x);
    rope(PAIRING_NEIGHBOURS, n, WIDE, first, turned);
    const StridedRows keys = rows_by_head(1, n, WIDE, turned[0]);
    kv_cache_append(c, n, keys, rows_by_head(1, n, WIDE, x[0]));
    kv_cache_attend(c, 1, n, keys, rows_by_head(1, n, WIDE, context[0]));
}

/* folded: how this is printed */
/* What the last word gets, if the piece behind a cut is turned so. */
static void show_cut(const char *label, int cut, int first,
                     const float x[WORDS][WIDE])
{
    float context[WORDS][WIDE];
    KVCache c;
    const KVCache sizes = {
        .n_kv_heads = 1, .d_k = WIDE, .d_v = WIDE, .capacity = WORDS};
    kv_cache_init(&c, &sizes);
    if (cut)
        next_words(&c, cut, 0, x, context);
    next_words(&c, WORDS - cut, first, x + cut, context + cut);
    print_vector(label, WIDE, context[WORDS - 1]);
    kv_cache_free(&c);
}

/*
``` output
man, in one piece (8)
[ 0.0385, -0.9915, -0.0704,  0.5519,  1.2748,  1.2552,  1.0279, -0.2886]
man, cut, turned from 3 on (8)
[ 0.0385, -0.9915, -0.0704,  0.5519,  1.2748,  1.2552,  1.0279, -0.2886]
man, cut, turned from 0 on (8)
[ 0.0976, -1.0281,  0.0093,  0.3890,  1.1611,  1.2949,  0.9750, -0.2910]
```

The last result is wrong, and no check of shapes can find the mistake.

## Off the score {#positions-distance}

The fourth way changes neither queries nor keys. **ALiBi**, attention with
linear biases, changes the scores. From each score it takes away an amount
that grows with the distance between the query and the key [@press2022]:

$$s_{ij} - \lambda_h \, |i - j|, \qquad
  \lambda_h = 2^{-8 (h + 1) / H}$$

where $s_{ij}$ is a score, already divided by the root of $d_k$, and
$\lambda_h$ is the slope of head $h$ of $H$. The slopes are not trained.
They differ from head to head, so that some heads look near and some far.
(Keys before and behind the query lose alike. Only with a causal mask can
ALiBi tell *dog bites man* from *man bites dog*.)
*/

float alibi_slope(int n_heads, int head)
{
    if (head < 0 || head >= n_heads)
        REFUSE("head %d of %d: from 0 to %d is needed", head, n_heads,
               n_heads - 1);
    return (float)exp2(-8.0 * (head + 1) / n_heads);
}

/*
**Exercise 17.3** (★, 2 points): `add_alibi`. Takes the slope times the
distance from each score. Query `i` stands at position `first + i`, and key
`j` at position `j`, which may be before or behind the query's.

::: hint
A distance is never negative, and `fabs` is the function for that. In a
`double` there is room for any position: `(double)first`, and then the sum.
:::

::: done
One line in the inner loop, and attention prefers what is near, without a
single parameter.
:::
*/

void add_alibi(int n, int m, int first, float slope, float scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] -= slope * (float)fabs((double)first + i - j);
}

/* folded: how this is printed */
static void show_distances(const float x[WORDS][WIDE])
{
    float scores[WORDS][WORDS], map[WORDS][WORDS], slope[8];
    for (int h = 0; h < 8; h++)
        slope[h] = alibi_slope(8, h);
    print_vector("slopes of eight heads", 8, slope);
    dot_scores(WORDS, WORDS, WIDE, x, x, scores);
    scale_scores(WORDS, WORDS, WIDE, scores);
    add_alibi(WORDS, WORDS, 0, slope[0], scores);
    softmax_rows(WORDS, WORDS, scores, map);
    print_map("weights, distances taken off", map);
}

/*
``` output
slopes of eight heads (8)
[0.5000, 0.2500, 0.1250, 0.0625, 0.0312, 0.0156, 0.0078, 0.0039]
weights, distances taken off (5, 5)
[[0.8067, 0.0100, 0.0030, 0.1800, 0.0004],
 [0.0938, 0.7717, 0.0516, 0.0569, 0.0259],
 [0.1338, 0.2485, 0.3025, 0.2207, 0.0946],
 [0.1801, 0.0061, 0.0049, 0.8073, 0.0016],
 [0.0050, 0.0383, 0.0290, 0.0222, 0.9055]]
rows of the and the are equal: no, columns: no
```

All four ways have told the two *the* apart.

## Beyond what was trained {#positions-beyond}

What if a text is longer than those that a model was trained on? We let a
head learn one thing, to look at the word before. The loss is the mean of
$-\ln(w)$, where $w$ is the share that a word gives to the word before it.
Each of the four ways gets a head of its own. All four have a causal mask,
begin with the same numbers and see the same texts; ALiBi's slope is one
half. A step has two new texts of eight random words. There are only three
different words, since four entries have to hold word and position.
*/

typedef enum { SINUSOIDS, LEARNED, ROTATION, DISTANCE } Encoding;
enum { ENCODINGS = 4, KNOWN = 3, NARROW = 4, SHORT = 8, LONG = 32 };

typedef struct {
    Encoding encoding;
    Attention a;
    float word[KNOWN][NARROW], table[LONG][NARROW];
} Learner;

/* The shares that n words give each other, who see no future. */
static void weigh(const Learner *m, int n, const int ids[n], Trace *t)
{
    float x[LONG][NARROW], (*scores)[n] = ROWS(n, t->scores);
    embed(n, NARROW, KNOWN, ids, m->word, x);
    if (m->encoding == SINUSOIDS || m->encoding == LEARNED)
        add_positions(n, NARROW, LONG, 0, m->table, x);
    attention_project(&m->a, n, n, x, x, t);
    if (m->encoding == ROTATION) {
        rope(PAIRING_NEIGHBOURS, n, NARROW, 0, ROWS(NARROW, t->query));
        rope(PAIRING_NEIGHBOURS, n, NARROW, 0, ROWS(NARROW, t->key));
    }
    dot_scores(n, n, NARROW, ROWS(NARROW, t->query), ROWS(NARROW, t->key),
               scores);
    scale_scores(n, n, NARROW, scores);
    if (m->encoding == DISTANCE)
        add_alibi(n, n, 0, alibi_slope(8, 0), scores);
    mask_scores(n, scores);
    softmax_rows(n, n, scores, ROWS(n, t->weights));
}

static float loss(const Learner *m, int texts, const int ids[texts][SHORT],
                  Trace *t)
{
    float sum = 0;
    for (int b = 0; b < texts; b++) {
        weigh(m, SHORT, ids[b], t);
        for (int i = 1; i < SHORT; i++)
            sum -= logf(ROWS(SHORT, t->weights)[i][i - 1]);
    }
    return sum / (float)(texts * (SHORT - 1));
}

/*
The training is that of [](#self-attention-training). Each number of the
layers is raised a little and lowered a little, and so is each number of the
table of positions where positions are learned. After the training, 200
other texts of 32 words show what has been learned:
*/

enum { TEXTS = 2, STEPS = 400, TRIALS = 200, SPANS = 5 };

/* folded: how this is printed */
static void random_words(Random *r, int n, int ids[n])
{
    for (int i = 0; i < n; i++)
        ids[i] = (int)(random_u32(r) % KNOWN);
}

/* Where the numbers are that training may change; how many there are. */
static int parameters_of(Learner *m, float *number[])
{
    const int layers = (int)m->a.count;
    const int learned = m->encoding == LEARNED ? SHORT * NARROW : 0;
    for (int i = 0; i < layers + learned; i++)
        number[i] = i < layers ? m->a.memory + i : m->table[0] + i - layers;
    return layers + learned;
}

static float slope_of(Learner *m, const int ids[TEXTS][SHORT], Trace *t,
                      float *number)
{
    const float was = *number, step = 0.01f;
    *number = was + step;
    const float above = loss(m, TEXTS, ids, t);
    *number = was - step;
    const float below = loss(m, TEXTS, ids, t);
    *number = was;
    return (above - below) / (2 * step);
}

static void train(Random *r, Learner *m)
{
    float *number[100], gradient[100];
    const int count = parameters_of(m, number);
    Trace t;
    trace_init_for(&t, &m->a, SHORT, SHORT);
    for (int step = 0; step < STEPS; step++) {
        int ids[TEXTS][SHORT];
        for (int b = 0; b < TEXTS; b++)
            random_words(r, SHORT, ids[b]);
        for (int i = 0; i < count; i++)
            gradient[i] = slope_of(m, ids, &t, number[i]);
        for (int i = 0; i < count; i++)
            *number[i] -= 0.5f * gradient[i];
    }
    trace_free(&t);
}

static Learner learner_seeded(Random *r, Encoding encoding, uint64_t seed)
{
    Learner m = {.encoding = encoding};
    *r = random_seeded(seed);
    embedding_fill(r, KNOWN, NARROW, m.word);
    embedding_fill(r, LONG, NARROW, m.table);
    self_attention_init(&m.a, r, NARROW, NARROW, 1, 1);
    if (encoding == SINUSOIDS)
        sinusoids(LONG, NARROW, m.table);
    return m;
}

/* The mean share of the word before, at each position; and what the last
 * word takes of those so many positions back. */
static void mean_weights(Random *r, const Learner *m, float before[LONG],
                         float back[LONG])
{
    Trace t;
    trace_init_for(&t, &m->a, LONG, LONG);
    const float(*weights)[LONG] = ROWS(LONG, t.weights);
    for (int k = 0; k < TRIALS; k++) {
        int ids[LONG];
        random_words(r, LONG, ids);
        weigh(m, LONG, ids, &t);
        for (int i = 1; i < LONG; i++)
            before[i] += weights[i][i - 1] / TRIALS;
        for (int i = 0; i < LONG; i++)
            back[i] += weights[LONG - 1][LONG - 1 - i] / TRIALS;
    }
    trace_free(&t);
}

/* Means over spans of positions, in whole percent. */
static void show_spans(const char *label, const float before[LONG])
{
    const int span[SPANS + 1] = {1, 8, 14, 20, 26, 32};
    printf("%-9s", label);
    for (int k = 0; k < SPANS; k++) {
        float sum = 0;
        for (int i = span[k]; i < span[k + 1]; i++)
            sum += before[i];
        printf("%7.0f", 100 * (double)sum / (span[k + 1] - span[k]));
    }
    puts("");
}

static void show_beyond(int seed)
{
    const char *const row[ENCODINGS + 1] = {"even", "sinusoids", "learned",
                                            "rotation", "distance"};
    float before[ENCODINGS + 1][LONG] = {{0}},
                             back[ENCODINGS][LONG] = {{0}};
    printf("seed %d, percent for the word before, at positions\n", seed);
    puts("             1-7   8-13  14-19  20-25  26-31");
    for (int i = 1; i < LONG; i++)
        before[0][i] = 1 / (float)(i + 1);
    show_spans(row[0], before[0]);
    for (int k = 0; k < ENCODINGS; k++) {
        Random r;
        Learner m = learner_seeded(&r, (Encoding)k, (uint64_t)seed);
        train(&r, &m);
        mean_weights(&r, &m, before[k + 1], back[k]);
        show_spans(row[k + 1], before[k + 1]);
        attention_free(&m.a);
    }
    const int far[8] = {0, 1, 2, 7, 8, 14, 20, 26};
    int percent[8];
    float angle[8];
    for (int i = 0; i < 8; i++) {
        percent[i] = (int)roundf(100 * back[ROTATION][far[i]]);
        angle[i] = (float)fmod(far[i], 2 * acos(-1));
    }
    print_integers("rotation at 31: percent 0, 1, 2, 7, 8, 14, 20, 26 back",
                   8, percent);
    print_vector("angles of the fast hand, less whole rounds", 8, angle);
}

/*
``` output
seed 123, percent for the word before, at positions
             1-7   8-13  14-19  20-25  26-31
even          25      9      6      4      3
sinusoids     97     55     40     31     25
learned      100      1      0      9      2
rotation      98     80     39     24     22
distance      36     29     29     30     29
rotation at 31: percent 0, 1, 2, 7, 8, 14, 20, 26 back (8)
[ 0, 21,  0,  2,  3, 29, 35,  8]
angles of the fast hand, less whole rounds (8)
[0.0000, 1.0000, 2.0000, 0.7168, 1.7168, 1.4336, 1.1504, 0.8673]
```

The row *even* is for equal shares of all words that are seen. The first
column has the positions of the training: there three heads give nearly
everything to the word before, and the head with distances a third. The
other columns have positions that training has never reached. There each of
the four heads falls short in its own way.

*Sinusoids.* Beyond position 7 the slow hand comes to angles that training
has not shown. Perhaps that is why the share falls from 97 percent to 25.

*Learned.* The later positions have rows, but no text of the training has
used them. They are still as they were drawn, and say nothing.

*Rotation.* Four entries are two hands. Within eight positions the slow hand
hardly turns, so the head has learned to look for an angle of the fast hand:
that of one position back. But the fast hand is round after $2\pi$
positions, a little more than six. The last lines of the output show what
the word at position 31 gives to some words before it, and how far the fast
hand has turned in between. Those 14 and 20 back take 29 and 35 percent:
there the fast hand stands nearly as it does one back. (The word 7 back,
with 0.7168, was there in training, and the head has learned to avoid it. So
the most goes to angles a little above 1.) Large models have dozens of
hands, of which the slower ones tell the rounds apart.

*Distance.* This head has not become sharp. A slope cannot say "one back,
and no other". If all scores are equal, a word of a long text gives $1 -
e^{-0.5} = 0.3935$ to itself, as the last exercise shows, and $0.3935 \cdot
e^{-0.5} = 0.2387$ to the word before. The head has learned to do a little
better, and what it has learned holds at any length. In large models the
same was found [@press2022].

This was one small run. Here is another one, from seed 7:

``` output
seed 7, percent for the word before, at positions
             1-7   8-13  14-19  20-25  26-31
even          25      9      6      4      3
sinusoids     45     19     12      9      7
learned      100      1      0      1      0
rotation      99     81     38     22     21
distance      40     31     32     31     31
rotation at 31: percent 0, 1, 2, 7, 8, 14, 20, 26 back (8)
[ 0, 21,  0,  1,  3, 29, 38,  7]
angles of the fast hand, less whole rounds (8)
[0.0000, 1.0000, 2.0000, 0.7168, 1.7168, 1.4336, 1.1504, 0.8673]
```

This time the head with sinusoids has not learned even the first eight
positions. The other rows are much as before.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    float x[WORDS][WIDE], learned[PLACED][WIDE], position[FAR][WIDE];
    figure_pipeline("pipeline", "vectors roles scale");
    fill_vectors(x, learned);
    show_map("weights, without positions", x);
    sinusoids(FAR, WIDE, position);
    show_hands(position);
    show_added("weights, sinusoids added", FAR, position, x);
    show_added("weights, a table's rows added", PLACED, learned, x);
    show_moved(position, x);
    show_turned(x);
    show_pairings(x);
    show_cut("man, in one piece", 0, 0, x);
    show_cut("man, cut, turned from 3 on", 3, 3, x);
    show_cut("man, cut, turned from 0 on", 3, 0, x);
    show_distances(x);
    show_beyond(123);
    show_beyond(7);
    return 0;
}

/*
The same in PyTorch, with a pair of entries as one number of the type
`complex`. `polar` makes such a number from a length and an angle. To
multiply by one of length 1 is to turn, by the formula for $(u, v)$ above.

``` python
import torch

torch.manual_seed(123)
words, rows = torch.nn.Embedding(4, 8), torch.nn.Embedding(16, 8)
x = words(torch.tensor([3, 1, 0, 3, 2])).detach()
i = torch.arange(5.)
speed = 10000 ** (-torch.arange(0, 8, 2) / 8)
turn = torch.polar(torch.ones(5, 4), i[:, None] * speed)

def weights(x, bias=0):
    return torch.softmax(x @ x.T / 8**0.5 + bias, dim=-1)

print(weights(x))
print(weights(x + torch.stack([turn.imag, turn.real], dim=-1).flatten(1)))
print(weights(x + rows(i.long()).detach()))
pairs = torch.view_as_complex(x.view(5, 4, 2))
print(weights(torch.view_as_real(pairs * turn).flatten(1)))
print(weights(x, -0.5 * (i[:, None] - i).abs()))
```

To look one word back, a head with three small layers went through many
texts. The layers are $2 \cdot (4 \cdot 4 + 4) + 5 = 45$ numbers (the 5 are
a layer for values, which this loss does not use), and in each of 400 steps
each number was tried twice, on two texts: $400 \cdot 45 \cdot 2 \cdot 2 =
72{,}000$. A model of any use has millions of numbers. [](#backward) finds
the slopes of all of them at once, by one computation and a second one that
runs backwards through it.

## Further exercises

**Exercise 17.4** (★★, challenge, 3 points): `halves_from_neighbours`. The
weight of a layer for queries has `d_k` rows for each head. Reorder them, so
that `PAIRING_HALVES` gives the scores that `PAIRING_NEIGHBOURS` gave, if
the weight for keys is reordered, too. It refuses an odd `d_k`. (A bias is a
weight with one column.)

::: hint
[](#positions-pairings) says what has been done to the weights of Llama.
Entries `2 * k` and `2 * k + 1` of a head were a pair. Where would
`PAIRING_HALVES` look for them?
:::

::: hint
Whole rows move, and none leaves its head. `memcpy` copies one.
:::

::: done
This is what the scripts do that bring Llama's weights from one library to
another. If they forget it, nothing fails but the answers.
:::

**Exercise 17.5** (by hand): A row has eight entries. After how many
positions has its slowest hand gone once round? Do two positions so far
apart get the same row?

**Exercise 17.6** (by hand): In a long text, all scores are equal, until
distances are taken off with a slope of one half. How large is the share of
the nearest key?

## Solutions

::: {.solution exercise="17.4"}
Queries and keys have been reordered alike, and a dot product does not mind
in which order it adds.
*/

void halves_from_neighbours(int n_heads, int d_k, int d_in,
                            const float weight[n_heads * d_k][d_in],
                            float reordered[n_heads * d_k][d_in])
{
    pairs_check(d_k);
    for (int h = 0; h < n_heads; h++)
        for (int k = 0; k < d_k; k++) {
            const int from = k < d_k / 2 ? 2 * k : 2 * k - d_k + 1;
            memcpy(reordered[h * d_k + k], weight[h * d_k + from],
                   sizeof *weight);
        }
}

/*
:::

::: {.solution exercise="17.5"}
The slowest hand turns by 1/1000 for each position, so it is round after
$1000 \cdot 2 \pi$ positions, about $1000 \cdot 2 \cdot 3.1416 = 6283.2$.
The other hands are 10, 100 and 1000 times as fast, so they are round at the
same moment. But that moment lies between two positions. At the position
before it, the fastest hand is still about 0.2 radians short of a full turn,
and the others less. So the row of this position is much like that of
position 0, and not the same. No two rows are ever the same, as no whole
number of positions is a whole number of turns.
:::

::: {.solution exercise="17.6"}
Each position further back divides a share by $e^{1/2}$. With $r =
e^{-1/2}$, the shares are in proportion to 1, $r$, $r^2$ and so on. What is
the sum $1 + r + r^2 + \dots$? Multiplied by $1 - r$, it is $1 - r + r - r^2
+ r^2 - \dots$, where all but the 1 cancels. So the sum is $1 / (1 - r)$.
The nearest key is 1 of this sum, and its share is $1 - r$, which is $1 -
e^{-0.5} = 0.3935$.
:::
*/
