/*
# The dot product: two lists, one number {#dot-product}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-dot-product-pipeline}

A program cannot ask what a word means. It can compare numbers. So a
language model begins by putting a list of numbers in place of each word,
and this book begins with the question that follows: given two such lists,
how well do they go together? The answer is to be a single number.
Everything called attention is built on that number.

Take three words, *Hello shiny sun*. First, a text is cut into pieces called
**tokens**. Real models often cut inside words; here a token is a word. The
list of numbers that stands for a token is its **embedding**. It gives the
token a place in a space: two numbers are a point on paper, three are a
point in a room, and more work just the same. A list of numbers is also
called a **vector**; PyTorch says **tensor**, for lists and for tables of
any number of dimensions.

The embeddings below are invented, by HackTricks [@hacktricks]. Those of a
model are found by training, which moves words that are used alike to places
near each other. Does each entry stand for a feature of the word, such as
its gender? In invented embeddings an entry may, as in [](#qkv). In trained
embeddings a feature is rather a direction: the way from *man* to *woman* is
about the same as the way from *king* to *queen* [@mikolov2013]. What a
single entry of a trained embedding means, mostly nobody could say.

The header `attention/01_dot_product.h` declares the functions of this
chapter.
*/

#include "attention/01_dot_product.h"
#include "support.h"

/*
And these are the embeddings, a row for each token. The numbers are of type
`float`, as mostly in PyTorch: 32 bits, about seven decimal digits.
*/

static const char *const words[3] = {"Hello", "shiny", "sun"};
static const float embedding[3][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
};

/*
## Multiply, then add {#dot-product-sum}

Write two lists one below the other and multiply each entry by the one below
it. Where both entries are large and have the same sign, their product is
large. Where their signs differ, the product is negative. Each product says
how strongly the two lists agree in one entry.
*/

void multiply_entries(int n, const float a[n], const float b[n],
                      float product[n])
{
    for (int k = 0; k < n; k++)
        product[k] = a[k] * b[k];
}

/*
In C a parameter's type may mention those before it: `const float a[n]`
tells the reader that `a` has `n` entries; to the compiler it is a pointer,
as always. Every function of this book states its shapes so: sizes first,
then inputs, which are `const`, and last what it writes.

We wanted one number, so add the products up. The sum is called the **dot
product**, after the dot in its formula. Below each list stands how many
entries the list has:

$$\underset{n}{a} \cdot \underset{n}{b} = \sum_{k=1}^{n} a_k b_k$$

(Formulas and prose count from 1, "the first word", and C counts from 0.)

The function is an exercise. The page shows its solution. In a student's
copy ([](#how-to-read)) the function's body is empty, and the book's
solution is shown once yours is right.

**Exercise 1.1** (★, 2 points): `dot`. The sum of the products. For two
lists without entries there is nothing to add, and the answer is 0.

::: hint
A sum needs a variable to grow in. What is it before the first product?
:::

::: hint
The list of products itself is not needed: add each as it is made.
:::

::: done
Any two words can be compared now. In this book and in language models,
every score of attention begins as this sum.
:::
*/

float dot(int n, const float a[n], const float b[n])
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/*
Two lists short enough to check in your head, $(1, 2, 3)$ and $(4, 5, 6)$:
*/

/* folded: how this is printed */
static void show_one_number(void)
{
    const float a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
    float product[3];
    multiply_entries(3, a, b, product);
    print_vector("products of a and b", 3, product);
    print_value("a . b", dot(3, a, b));
}

/*
``` output
products of a and b (3)
[ 4.0000, 10.0000, 18.0000]
a . b: 32.0000
```

In NumPy, Python's library for arrays, `np.multiply(a, b)` makes the list
and `a @ b` the number ([A.12](#errata-12), an entry of the appendix for
those who come from a tutorial).

In the output, a shape stands behind each name: `(3)` is a list of three
entries, and `(3, 2)` will be a table of three rows and two columns.

## What the number means {#dot-product-shadow}

Lists with two entries can be drawn as arrows, and then the dot product is
something to look at. Choose one arrow, $a = (4, 1)$, and let light fall at
a right angle onto its line. Every other arrow casts a **shadow** there. The
dot product with $a$ is the length of the shadow times the length of $a$;
where the shadow falls on the far side, the product is negative.

![Four arrows. The thick lines are shadows on the line of $a$, and dashed
lines lead from the tips to them; the numbers are the dot products with
$a$](arrows.svg){#fig-arrows}

By the length of a list we mean that of its arrow, not the number of its
entries. The theorem of Pythagoras gives that length, by the dot product of
the list with itself: $|a| = \sqrt{a \cdot a}$.
*/

float length(int n, const float a[n])
{
    return sqrtf(dot(n, a, a));
}

/*
Let us measure the shadows by their angles. An arrow, its shadow and the
dashed line make a right triangle, so the shadow is the arrow's length times
the cosine of the angle between the two arrows. (Beyond a right angle, the
cosine is negative, and so is the shadow. `atan2f` gives the angle of an
arrow with the first axis.)
*/

static float shadow(const float x[2], const float a[2])
{
    const float angle = atan2f(x[1], x[0]) - atan2f(a[1], a[0]);
    return length(2, x) * cosf(angle);
}

/* folded: how this is printed */
static void show_shadows(void)
{
    const char *const names[4] = {"a", "along", "across", "against"};
    const float x[4][2] = {{4, 1}, {3, 2}, {-0.5f, 2}, {-2, 1}};
    puts("dot product with a, shadow, and shadow times the length of a");
    for (int i = 1; i < 4; i++) {
        const float measured = shadow(x[i], x[0]);
        print_vector(names[i], 3,
                     (float[3]){dot(2, x[i], x[0]), measured,
                                measured * length(2, x[0])});
    }
}

/*
``` output
dot product with a, shadow, and shadow times the length of a
along (3)
[14.0000,  3.3955, 14.0000]
across (3)
[0.0000, 0.0000, 0.0000]
against (3)
[-7.0000, -1.6977, -7.0000]
```

The first number and the last agree. *Along* points roughly where $a$
points, and its dot product is large. *Across* is at a right angle, casts no
shadow, and gets 0. *Against* points away and gets a negative number. So the
dot product is a measure of **alignment**.

Does the dot product always agree with shadow times length? Add up
$(b_k - a_k)^2 = a_k^2 + b_k^2 - 2 a_k b_k$ over all entries:

$$|b - a|^2 = |a|^2 + |b|^2 - 2\, a \cdot b$$

Here $b - a$, the list of the differences, is the arrow from the tip of $a$
to the tip of $b$. So the dot product follows from three lengths, and
lengths do not change when the drawing is turned. Turn it until $a$ lies
along the first axis. Then $a$ is $(|a|, 0)$, and $b$ is some $(s, t)$, of
which $s$ is the shadow. The dot product is $|a|\, s + 0\, t$. Longer lists
are no different: two arrows, in whatever space, lie in a plane, which can
be laid on the paper.

## The scores of *shiny* {#dot-product-scores}

Now the words. How well does *shiny* go with each word of its sentence,
itself included?
*/

/* folded: how this is printed */
static void show_shiny(void)
{
    const float *shiny = embedding[1];
    float product[3][3], scores[3];
    for (int j = 0; j < 3; j++) {
        multiply_entries(3, shiny, embedding[j], product[j]);
        scores[j] = dot(3, shiny, embedding[j]);
    }
    print_matrix("products of shiny with each word, a word a row", 3, 3,
                 product);
    print_vector("scores of shiny", 3, scores);
}

/*
``` output
products of shiny with each word, a word a row (3, 3)
[[0.1802, 0.0748, 0.5292],
 [0.2809, 0.1156, 0.9604],
 [0.1537, 0.1836, 0.9114]]
scores of shiny (3)
[0.7842, 1.3569, 1.2487]
```

Each row adds up to one score. Most of it comes from the last column, where
all three words have their largest entry. A dot product that is to decide
how much one token matters to another is an **attention score**, elsewhere
also **unnormalized score** or **unnormalized attention weight**.
The vector of the token that asks, here *shiny*, is called the **query**,
and a vector that it is compared with a **key**. For now every word's
embedding plays both parts.

## All against all

If every word asks, there are as many rows of scores as words. Sizes come in
this order: the rows of the result, its columns, then the length of the
sums. Here they are `n` queries, `m` keys, and `d` entries in each. (`const
float key[m][d]` is a pointer to rows; with `d`, the compiler knows how far
one row is from the next.)

**Exercise 1.2** (★★, 3 points): `dot_scores`. Score `i`, `j` is the dot
product of query `i` with key `j`. There may be more keys than queries, or
fewer.

::: hint
Each score is made like every other. How many are there, and which two lists
does score `i`, `j` take?
:::

::: hint
`query[i]` is row `i` of the table: a list of `d` entries, ready for `dot`.
:::

::: done
All are compared with all. Attention begins with this table.
:::
*/

void dot_scores(int n, int m, int d, const float query[n][d],
                const float key[m][d], float scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] = dot(d, query[i], key[j]);
}

/* folded: how this is printed */
static void show_all_scores(void)
{
    float scores[3][3];
    dot_scores(3, 3, 3, embedding, embedding, scores);
    print_matrix("scores", 3, 3, scores);
    figure_heatmap("scores",
                   "The dot product of every word with every word", 3,
                   words, 3, words, scores);
}

/*
::: question
Three words give nine scores. Which of them must be equal? And will each
word go best with itself?

Swapping the two lists changes no product, so *Hello* with *sun* scores what
*sun* scores with *Hello*: what is below the diagonal mirrors what is above.
But a word need not go best with itself, as the first row shows.
:::

``` output
scores (3, 3)
[[0.4556, 0.7842, 0.7196],
 [0.7842, 1.3569, 1.2487],
 [0.7196, 1.2487, 1.2406]]
```

![The scores as a map: the stronger the colour, the larger the
score](scores.svg){#fig-scores}

*Hello* scores 0.4556 with itself and 0.7842 with *shiny*. We will come back
to that.

## The same as a product of tables {#dot-product-tables}

A table of numbers is called a **matrix**, and papers write all scores as a
product of two. In the **matrix product** of $A$ and $B$, entry $(i, j)$ is
the dot product of row $i$ of $A$ with *column* $j$ of $B$. So a row of $A$
must have as many entries as a column of $B$, here $d$:

$$\underset{n \times m}{P} =
  \underset{n \times d}{A}\;\; \underset{d \times m}{B}$$

PyTorch writes `A @ B` or `torch.matmul(A, B)`.
*/

void matmul(int n, int m, int d, const float a[n][d], const float b[d][m],
            float product[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int k = 0; k < d; k++)
                sum += a[i][k] * b[k][j];
            product[i][j] = sum;
        }
}

/* folded: how this is printed */
static void show_matrix_product(void)
{
    const float a[2][2] = {{1, 2}, {3, 4}}, b[2][2] = {{5, 6}, {7, 8}};
    float product[2][2];
    matmul(2, 2, 2, a, b, product);
    print_matrix("A", 2, 2, a);
    print_matrix("B", 2, 2, b);
    print_matrix("A times B", 2, 2, product);
}

/*
``` output
A (2, 2)
[[1.0000, 2.0000],
 [3.0000, 4.0000]]
B (2, 2)
[[5.0000, 6.0000],
 [7.0000, 8.0000]]
A times B (2, 2)
[[19.0000, 22.0000],
 [43.0000, 50.0000]]
```

At the top left, row $(1, 2)$ has met column $(5, 7)$, and
$1 \cdot 5 + 2 \cdot 7$ is 19.

Our keys stand in rows, though, and a score takes row with row. So first,
rows and columns of the keys are exchanged. The result is the **transpose**,
written $K^\top$:
*/

void transpose(int n, int m, const float a[n][m], float transposed[m][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            transposed[j][i] = a[i][j];
}

/*
With $Q$ for the queries and $K$ for the keys, the scores are

$$\underset{n \times m}{S} =
  \underset{n \times d}{Q}\;\; \underset{d \times m}{K^\top}$$

Once more the words, with the same scores as before:
*/

/* folded: how this is printed */
static void show_scores_as_product(void)
{
    float transposed[3][3], scores[3][3];
    transpose(3, 3, embedding, transposed);
    matmul(3, 3, 3, embedding, transposed, scores);
    print_matrix("embeddings", 3, 3, embedding);
    print_matrix("transposed", 3, 3, transposed);
    print_matrix("embeddings times transposed", 3, 3, scores);
}

/*
``` output
embeddings (3, 3)
[[0.3400, 0.2200, 0.5400],
 [0.5300, 0.3400, 0.9800],
 [0.2900, 0.5400, 0.9300]]
transposed (3, 3)
[[0.3400, 0.5300, 0.2900],
 [0.2200, 0.3400, 0.5400],
 [0.5400, 0.9800, 0.9300]]
embeddings times transposed (3, 3)
[[0.4556, 0.7842, 0.7196],
 [0.7842, 1.3569, 1.2487],
 [0.7196, 1.2487, 1.2406]]
```

`dot_scores` computes $QK^\top$ too, without exchanging anything. The
product $QK^\top$ is the beginning of the formula that the whole book is
about [@vaswani2017],

$$\operatorname{attention}(Q, K, V) =
  \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$

of which the other parts will come in their time.

## Length counts {#dot-product-length}

Why does *Hello* go better with *shiny* than with itself? The two point in
nearly the same direction, and *shiny* is the longer arrow. So its shadow on
the line of *Hello* is longer than *Hello* itself.

To compare directions alone, take both lengths out. What is left is the
cosine of the angle, 1 when two lists point the same way, 0 at a right
angle, and $-1$ when they are opposed; as a measure it is called **cosine
similarity**:

$$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$

A list of zeros has no direction, and no answer would be right for it. A
function that cannot do what it was asked says so and ends the program, by
`REFUSE`, which takes a message as `printf` does.
*/

float cosine(int n, const float a[n], const float b[n])
{
    /* The square of a float may be beyond what a float can hold. */
    double ab = 0, aa = 0, bb = 0;
    for (int k = 0; k < n; k++) {
        ab += (double)a[k] * b[k];
        aa += (double)a[k] * a[k];
        bb += (double)b[k] * b[k];
    }
    if (aa == 0 || bb == 0)
        REFUSE("the %s vector has length 0 and so no direction: both need "
               "a length above 0",
               aa == 0 ? "first" : "second");
    return (float)(ab / sqrt(aa * bb));
}

/* folded: how this is printed */
static void show_cosines(void)
{
    float lengths[3], cosines[3];
    for (int j = 0; j < 3; j++) {
        lengths[j] = length(3, embedding[j]);
        cosines[j] = cosine(3, embedding[0], embedding[j]);
    }
    print_vector("lengths", 3, lengths);
    print_vector("cosines of Hello", 3, cosines);
}

/*
``` output
lengths (3)
[0.6750, 1.1649, 1.1138]
cosines of Hello (3)
[1.0000, 0.9974, 0.9572]
```

Now *Hello* goes best with itself, and differs little from the other two in
direction. Attention uses the dot product all the same. The dot product
costs less, with no roots and no divisions. And length can carry meaning.
Double a key, and all its scores double. With the cosine, nothing would
change.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "scores");
    show_one_number();
    show_shadows();
    show_shiny();
    show_all_scores();
    show_matrix_product();
    show_scores_as_product();
    show_cosines();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

a, b = torch.tensor([1., 2., 3.]), torch.tensor([4., 5., 6.])
print(a * b)

embedding = torch.tensor([[0.34, 0.22, 0.54],   # Hello
                          [0.53, 0.34, 0.98],   # shiny
                          [0.29, 0.54, 0.93]])  # sun
print(embedding[1] * embedding)
print(embedding[1] @ embedding.T)
print(embedding @ embedding.T)
print(F.cosine_similarity(embedding[0], embedding))
```

Every word now has a score with every other. A score can be any number, and
by itself does nothing. [](#softmax) turns scores into shares: how much of
each word?

## Further exercises

**Exercise 1.3** (★★, challenge, 3 points): `cosine_scores`. The cosine of
every query with every key. A list of zeros is refused here as well.

::: hint
[](#dot-product-length) has it for one pair. Its refusal comes along.
:::

::: done
Programs that look for similar texts often rank them by this table, in which
the lengths of the arrows no longer count.
:::

**Exercise 1.4** (by hand): Find a list of two entries, not both 0, whose
dot product with $a = (4, 1)$ is 0, and a second one. What have all such
lists in common in [](#fig-arrows)?

**Exercise 1.5** (by hand): Double every entry of *sun*. Which of the nine
scores change, and which of the nine cosines?

## Solutions

::: {.solution exercise="1.3"}
*/

void cosine_scores(int n, int m, int d, const float query[n][d],
                   const float key[m][d], float scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] = cosine(d, query[i], key[j]);
}

/*
:::

::: {.solution exercise="1.4"}
$4 x + 1 y = 0$ holds for $(1, -4)$, for $(-1, 4)$ and for every multiple of
them but (0, 0). They are the arrows at a right angle to $a$, the ones
without a shadow; *across*, which is $(-0.5, 2)$, is one.
:::

::: {.solution exercise="1.5"}
Five scores change: those of *sun* with the other words double, in its row
and in its column, and that of *sun* with itself is multiplied by four. No
cosine changes, since the direction is the same.
:::
*/
