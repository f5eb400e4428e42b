/*
# Two lists, one number {#dot-product}

![The way from words to attention, and today's step on
it](pipeline.svg){#fig-dot-product-pipeline}

A program cannot ask what a word means. It can compare numbers. So a
language model begins by putting a list of numbers in place of each word,
and this book begins with the question that follows: given two such lists,
how well do they go together? The answer is to be a single number.
Everything called attention is built on it.

Take three words, *Hello shiny sun*. Before anything else a text is cut into
pieces, and a piece is called a **token**. Real models often cut inside
words; here a token is a word. The list of numbers that stands for a token
is its **embedding**, because it gives the token a place in a space: two
numbers are a point on paper, three a point in a room, and more work just
the same. The three embeddings below are those of a German tutorial on
attention [@hacktricks]. They are invented. In a trained model they are
found by training, which moves words that are used alike to places that are
near each other; nobody could say what a single entry means, there or here.

The functions that this chapter will write are announced in the header
`attention.h`. There is no need to read them closely; each comes up in its
turn.
*/

#include "attention.h"

/*
And these are the three embeddings, a row for each token:
*/

static const char *const words[3] = {"Hello", "shiny", "sun"};
static const float embedding[3][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
};

/*
The numbers are of type `float`, as they are in PyTorch unless one asks for
something else: 32 bits, some seven decimal digits.

## Multiply, then add

Write two lists one below the other and multiply what stands in the same
place. Where both numbers are large and have the same sign, the product is
large. Where their signs differ, it is negative. Where one of them is near
zero, the other hardly matters. So each product says how far the two lists
agree in one place.
*/

void multiply(int n, const float a[n], const float b[n], float product[n])
{
    for (int k = 0; k < n; k++)
        product[k] = a[k] * b[k];
}

/*
In C the type of a parameter may mention the parameters before it:
`const float a[n]` tells reader and compiler that `a` has `n` entries. Every
function of this book states its shapes in this way: sizes first, then the
inputs, which are `const`, and what the function writes comes last.

We wanted one number, not a list, and there is an obvious way to let every
place have its say: add the products up. The result is called the **dot
product** of the two lists, after the dot it is written with:

$$a \cdot b = \sum_{k} a_k b_k$$

**Exercise 1.1** (★, 2 points): `dot`. The sum of the products. For two
lists without entries there is nothing to add, and the answer is 0.

::: hint
A sum needs a variable to grow in. What is it before the first product?
:::

::: hint
The list of products itself is not needed: add each as it is made.
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
Two short lists, small enough to follow in the head:
*/

static void show_one_number(void)
{
    const float a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
    float product[3];
    multiply(3, a, b, product);
    print_vector("a times b, place by place", 3, product);
    print_value("a . b", dot(3, a, b));
}

/*
``` output
a times b, place by place (3)
[ 4.0000, 10.0000, 18.0000]
a . b: 32.0000
```

A Chinese tutorial prints these two results as if they were the same
[@tokens2transformer]: it gives 32 for NumPy's `np.multiply(a, b)` and 32
for `a @ b`. Only the second is right. `np.multiply` stops after the first
step and returns the list; `@` goes on and adds.

`print_vector` and `print_value` come from the folder `src`, which holds
what this book needs but does not teach. They print four decimals, in the
brackets that PyTorch uses, so that what you see here can be laid beside
what you see there.

## What the number means

Lists with two entries can be drawn as arrows, and then the dot product is
something to look at. Choose one arrow, `a`, and let light fall at a right
angle onto its line. Every other arrow throws a **shadow** on that line. The
dot product with `a` is the length of the shadow times the length of `a`,
and it is negative where the shadow falls to the other side.

![Four arrows. The thick lines are the shadows on the line of *a*; the
number at a tip is the dot product with *a*](arrows.svg){#fig-arrows}

The length of a list is found by Pythagoras, and Pythagoras is a dot product
too, that of the list with itself: $|a| = \sqrt{a \cdot a}$.
*/

float length(int n, const float a[n])
{
    return sqrtf(dot(n, a, a));
}

static void show_shadows(void)
{
    const char *const names[4] = {"a", "along", "across", "against"};
    const float x[4][2] = {{4, 1}, {3, 2}, {-0.5f, 2}, {-2, 1}};
    const float a_length = length(2, x[0]);
    puts("dot product with a, and shadow on a");
    for (int i = 1; i < 4; i++) {
        print_value(names[i], dot(2, x[i], x[0]));
        print_value("    shadow", dot(2, x[i], x[0]) / a_length);
    }
    print_value("length of a", a_length);
    arrows("arrows", "Four arrows and their shadows on the first", 4, names,
           x);
}

/*
``` output
dot product with a, and shadow on a
along: 14.0000
    shadow: 3.3955
across: 0.0000
    shadow: 0.0000
against: -7.0000
    shadow: -1.6977
length of a: 4.1231
```

The arrow *along* points roughly where `a` points: its dot product is large.
*Across* is at a right angle, throws no shadow, and gets 0. *Against* points
away and gets a negative number. This is why the dot product serves as a
measure of **alignment**.

Is it always so? Multiply out the square of the distance between the tips,
place by place: $(b_k - a_k)^2 = a_k^2 + b_k^2 - 2 a_k b_k$. Summed over all
places, this is

$$|b - a|^2 = |a|^2 + |b|^2 - 2\, a \cdot b$$

so the dot product depends on nothing but three lengths, and lengths do not
change when the whole drawing is turned. Turn it until `a` lies along the
first axis. Then `a` is $(|a|, 0)$, its dot product with any $b$ is $|a|\,
b_1$, and $b_1$ is the shadow. Nothing in this needs the lists to have only
two entries, and from here on they have three.

## The scores of *shiny*

Now the words. How well does *shiny* go with each word of its sentence,
itself included? For every word there are three products, one a place, and
their sum:
*/

static void show_shiny(void)
{
    const float *shiny = embedding[1];
    float product[3][3], scores[3];
    for (int j = 0; j < 3; j++) {
        multiply(3, shiny, embedding[j], product[j]);
        scores[j] = dot(3, shiny, embedding[j]);
    }
    print_matrix("shiny times Hello, shiny, sun", 3, 3, product);
    print_vector("scores of shiny", 3, scores);
}

/*
``` output
shiny times Hello, shiny, sun (3, 3)
[[0.1802, 0.0748, 0.5292],
 [0.2809, 0.1156, 0.9604],
 [0.1537, 0.1836, 0.9114]]
scores of shiny (3)
[0.7842, 1.3569, 1.2487]
```

Each row of the table adds up to one score. Most of every score comes from
the last column, since all three words have their largest entry there. A dot
product that is used in this way, to decide how much one token matters to
another, is called an **attention score**. The token that asks, here
*shiny*, is the **query**; a token that it is compared with is a **key**.
For now every word plays both parts.

## All against all

If every word asks, there are as many rows of scores as words.

::: question
Three words give nine scores. Which of them must be equal? And will each
word go best with itself?

Swapping the two lists changes no product, so the score of *Hello* with
*sun* is the score of *sun* with *Hello*: the table is its own mirror image.
But a word need not go best with itself. Look at the row of *Hello*.
:::

**Exercise 1.2** (★★, 3 points): `dot_scores`. Score `i`, `j` is the dot
product of query `i` with key `j`. There may be more keys than queries, or
fewer.

::: hint
`query[i]` is row `i` of the table: a list of `d` entries, ready for `dot`.
:::

::: hint
Two loops, and one call in the middle.
:::
*/

void dot_scores(int n, int m, int d, const float query[n][d],
                const float key[m][d], float scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] = dot(d, query[i], key[j]);
}

static void show_all_scores(void)
{
    float scores[3][3];
    dot_scores(3, 3, 3, embedding, embedding, scores);
    print_matrix("scores", 3, 3, scores);
    heatmap("scores", "The dot product of every word with every word", 3,
            words, 3, words, scores);
}

/*
``` output
scores (3, 3)
[[0.4556, 0.7842, 0.7196],
 [0.7842, 1.3569, 1.2487],
 [0.7196, 1.2487, 1.2406]]
```

![The scores as a map. It is its own mirror image across the
diagonal](scores.svg){#fig-scores}

*Hello* scores 0.4556 with itself and 0.7842 with *shiny*, although no list
could be more like *Hello* than *Hello*. We will come back to that. It is no
fact about greetings: the embeddings are invented, and a map made from
invented numbers says nothing about language. It says how dot products
behave.

## The same, in one stroke

Books write all of these scores as a product of two tables. In the **matrix
product** $AB$, entry $(i, j)$ is the dot product of row $i$ of $A$ with
*column* $j$ of $B$, so the rows of $A$ must be as long as the columns of
$B$.
*/

void matmul(int n, int d, int m, const float a[n][d], const float b[d][m],
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

/*
Our keys stand in rows, though, and a score takes row with row. What the
formula needs is the table of keys with rows and columns exchanged. That is
its **transpose**, written $K^\top$:
*/

void transpose(int n, int m, const float a[n][m], float turned[m][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            turned[j][i] = a[i][j];
}

/*
With $Q$ for the queries and $K$ for the keys, the scores are $QK^\top$.
This is the first piece of the formula that the whole book is about
[@vaswani2017], and `dot_scores` computes it without exchanging anything.
*/

static void show_matrix_products(void)
{
    const float a[2][2] = {{1, 2}, {3, 4}}, b[2][2] = {{5, 6}, {7, 8}};
    float product[2][2], turned[3][3], scores[3][3];
    matmul(2, 2, 2, a, b, product);
    print_matrix("A", 2, 2, a);
    print_matrix("B", 2, 2, b);
    print_matrix("A times B", 2, 2, product);
    transpose(3, 3, embedding, turned);
    matmul(3, 3, 3, embedding, turned, scores);
    print_matrix("embeddings", 3, 3, embedding);
    print_matrix("transposed", 3, 3, turned);
    print_matrix("embeddings times transposed", 3, 3, scores);
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

In the first corner, row $(1, 2)$ meets column $(5, 7)$ and gives 19. Had
row met row, $(5, 6)$ would have given another number; mistaking the two is
the commonest slip of all. The words, once more:

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

## Length counts

Why does *Hello* go better with *shiny* than with itself? Because a dot
product is shadow times length, and *shiny* is long. To compare directions
alone, divide both lengths out. What remains is the **cosine** of the angle
between the lists, 1 when they point the same way, 0 at a right angle and
$-1$ when they are opposed:

$$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$

A list of zeros has no direction, and no answer would be right for it. A
function of this book that cannot do what it was asked says so and ends the
program; `REFUSE`, which does this, takes a message as `printf` does.
*/

float cosine(int n, const float a[n], const float b[n])
{
    const float a_length = length(n, a), b_length = length(n, b);
    if (a_length == 0 || b_length == 0)
        REFUSE("the %s vector has length 0 and so no direction: both need "
               "a length above 0",
               a_length == 0 ? "first" : "second");
    return dot(n, a, b) / (a_length * b_length);
}

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

Now *Hello* goes best with itself, and we see that it hardly differs from
the other two in direction. So is the cosine the better measure? Attention
uses the dot product all the same, for three reasons. It costs less: no
roots, no divisions. Length can be put to use: a token with a long list is a
token that speaks up. And before long, the lists that meet will no longer be
embeddings but lists computed from them, by numbers that training sets;
where length is in the way, training can take it out.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "scores");
    show_one_number();
    show_shadows();
    show_shiny();
    show_all_scores();
    show_matrix_products();
    show_cosines();
    return 0;
}

/*
The same in PyTorch, for those who know it or come from it. What it prints
is compared with what our program prints whenever this book's reference
numbers are made. A *tensor* is its word for a list or table of any number
of dimensions.

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

Three words now have a score for each other. A score answers "how alike?".
To make something out of the three words we must know "how much of each?",
and that is [](#softmax).

## Further exercises

**Exercise 1.3** (★★, challenge, 3 points): `cosine_scores`. The cosine of
every query with every key.

::: hint
Everything it needs is in this chapter, the refusal too.
:::

**Exercise 1.4** (by hand): Find a list of two entries, not both 0, whose
dot product with $(4, 1)$ is 0, and a second one. What have all such lists
in common in [](#fig-arrows)?

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
them. They are the arrows at a right angle to *a*, the ones without a
shadow; *across*, which is $(-0.5, 2)$, is one.
:::

::: {.solution exercise="1.5"}
Five scores change: those of *sun* with the other words double, in its row
and in its column, and that of *sun* with itself is multiplied by four. No
cosine changes: the direction stayed.
:::
*/
