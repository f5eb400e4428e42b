/*
# The dot product: two lists, one number {#dot-product}

*Shiny sun. Shiny shoe.* You have read one word twice and understood two
different things: the first glows by itself, the second has been polished.
Nobody told you to look at the word beside it. You looked, and it was the
right word to look at.

A program meant to understand words needs to do the same. It has to look
at a word's neighbours and decide which of them matter, and how much. That
is what **attention** does, and it comes down to one small calculation on
two lists of numbers, which you will write in this chapter.

Why lists of numbers? Because a program can't ask what a word means, but it
can compare numbers. So a language model cuts a text into pieces, called
**tokens**, and puts a list of numbers in place of each token. In this book
a token is a word; real models often cut inside words as well. The list that
belongs to a token is its **embedding**. Two numbers are a point on paper,
three are a point in a room, and hundreds are a point in a space that nobody
can draw but everybody can calculate in. Such a list is also called a
**vector**, and PyTorch, the library that most models are written in, calls
lists and tables of numbers **tensors**.
*/

#include "attention/01_dot_product.h"
#include "support.h"

/*
Here are four words, a row of three numbers for each:
*/

static const char *const words[4] = {"Hello", "shiny", "sun", "shoe"};
static const float embedding[4][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
    {0.81f, 0.12f, 0.35f}, /* shoe */
};

/*
These numbers are invented, so they tell us nothing about English. A model
finds its embeddings by training, which moves words that are used in similar
ways close together. Don't look for the meaning of a single number, then. In
trained embeddings it is the *directions* that mean something: the way from
*man* to *woman* is about the way from *king* to *queen* [@mikolov2013].

## Multiply, then add {#dot-product-sum}

Write two lists one below the other, and multiply each entry by the one
below it. A product is large where both lists have a lot of something, and
small where one of them has little. It's negative where one list has
something and the other its opposite, and positive again where both have the
opposite.
*/

void multiply_entries(int n, const float a[n], const float b[n],
                      float product[n])
{
    for (int k = 0; k < n; k++)
        product[k] = a[k] * b[k];
}

/*
In C, the type of a parameter may use the parameters before it. `const float
a[n]` is a pointer, as always, but it tells you that `a` has `n` entries.
All functions in this book declare their shapes this way: sizes first, then
the inputs, which are `const`, then what the function writes.

We wanted one number. Add the products up, and you have the **dot product**:

$$\underset{n}{a} \cdot \underset{n}{b} = \sum_{k=1}^{n} a_k b_k$$

The $n$ below each letter is a reminder that both are lists of $n$ entries.
(Formulas count from 1, as people do. C counts from 0.)

Now it's your turn. An exercise asks for a function, and its solution comes
right after it, because the book goes on with that function. Cover it, or
make a copy of the book in which it's missing ([](#how-to-read)).

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
Try it on two lists that are short enough to check in your head:
*/

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

In the output, the number in brackets after a name is its shape: `(3)` is a
list of three entries, and `(3, 2)` will be a table of three rows and two
columns.

## What the number means {#dot-product-shadow}

With two entries, a list can be drawn as an arrow, and then the dot product
is something you can see. Take one arrow, $a = (4, 1)$, and let light fall
at a right angle onto its line. Every other arrow casts a **shadow** there.
The dot product with $a$ is the length of the shadow times the length of
$a$. Where the shadow falls backwards, away from where $a$ points, it counts
as negative.

![Four arrows. The thick lines are shadows on the line of $a$, and dashed
lines lead from the tips to them; the numbers are the dot products with
$a$](arrows.svg){#fig-arrows}

The length of a list, here and from now on, is the length of its arrow. By
the theorem of Pythagoras it is the square root of the list's dot product
with itself, $|a| = \sqrt{a \cdot a}$:
*/

float length(int n, const float a[n])
{
    return sqrtf(dot(n, a, a));
}

/*
Don't take the shadow on trust. Measure it another way, by angles: an arrow,
its shadow and the dashed line make a right triangle, so the shadow is the
arrow's length times the cosine of the angle between the two arrows.
*/

static float shadow(const float x[2], const float a[2])
{
    const float angle = atan2f(x[1], x[0]) - atan2f(a[1], a[0]);
    return length(2, x) * cosf(angle);
}

/* folded: how this is printed */
static void show_shadow(const char *name, float x, float y)
{
    const float a[2] = {4, 1}, arrow[2] = {x, y};
    const float measured = shadow(arrow, a);
    print_vector(
        name, 3,
        (float[3]){dot(2, arrow, a), measured, measured * length(2, a)});
}

static void show_shadows(void)
{
    puts("dot product with a, shadow, and shadow times the length of a");
    show_shadow("along", 3, 2);
    show_shadow("across", -0.5f, 2);
    show_shadow("against", -2, 1);
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

The first number and the last are the same in each row. *Along* points
roughly where $a$ points and gets a large number. *Across* is at a right
angle, casts no shadow and gets 0. *Against* points away and gets a negative
number. So the dot product is a measure of **alignment**: it says how well
two arrows point the same way, and, as we'll see, how long they are.

Is that so for all arrows, and for lists that nobody can draw? Add up $(b_k
- a_k)^2 = a_k^2 + b_k^2 - 2 a_k b_k$ over all entries:

$$|b - a|^2 = |a|^2 + |b|^2 - 2\, a \cdot b$$

Solve that for the dot product:

$$a \cdot b = \frac{|a|^2 + |b|^2 - |b - a|^2}{2}$$

The list $b - a$ is the arrow from the tip of $a$ to the tip of $b$. So the
dot product depends on three lengths and on nothing else, and lengths don't
change when you turn the paper. Turn it until $a$ lies along the first axis.
Now $a$ is $(|a|, 0)$ and $b$ is some $(s, t)$, where $s$ is the shadow, and
their dot product, which hasn't changed, is $|a|\, s + 0\, t$. Longer lists
are no different: two arrows lie in a plane, whatever the space around them,
and a plane can be laid on the paper.

## Which words matter to *shiny*? {#dot-product-scores}

Back to the words. In *Hello shiny sun*, how well does *shiny* go with each
word of its sentence, itself included? And in *Hello shiny shoe*?
*/

static void show_shiny(const char *label, int last)
{
    const float *shiny = embedding[1];
    print_vector(label, 3,
                 (float[3]){dot(3, shiny, embedding[0]),
                            dot(3, shiny, embedding[1]),
                            dot(3, shiny, embedding[last])});
}

static void show_both_sentences(void)
{
    show_shiny("scores of shiny in Hello shiny sun", 2);
    show_shiny("scores of shiny in Hello shiny shoe", 3);
}

/*
``` output
scores of shiny in Hello shiny sun (3)
[0.7842, 1.3569, 1.2487]
scores of shiny in Hello shiny shoe (3)
[0.7842, 1.3569, 0.8131]
```

A dot product that decides how much one token matters to another is an
**attention score**, also called **unnormalized score**. The vector of
the token that looks, here *shiny*, is called its **query**, and each vector
it is compared with is a **key**. For now every word's embedding plays both
parts.

But why should a word that points the same way be a word that matters? No
law says so. It's a decision, and what makes it a good one is that the
vectors aren't given. Training chooses them, so it can turn them until the
words that matter to each other are the ones that point the same way. In
[](#learning) you can watch that happen. The dot product is
what training has to work with: one number, cheap to compute, that changes
smoothly when a vector turns.

## All against all

If every word looks at every word, there is a row of scores for each. The
function takes its sizes in this order: the rows of the result, its columns,
then the number of terms in each sum, so `n` queries, `m` keys and `d`
entries in each. (`const float key[m][d]` is a pointer to rows. Since it
knows `d`, the compiler knows how far one row is from the next.)

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
Every word has met every word. Attention begins with this table.
:::
*/

void dot_scores(int n, int m, int d, const float query[n][d],
                const float key[m][d], float scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] = dot(d, query[i], key[j]);
}

/*
::: question
Four words give sixteen scores. Which of them must be equal? And will each
word go best with itself?

Swapping the two lists changes no product, so *Hello* with *sun* scores what
*sun* scores with *Hello*, and the table is its own mirror image across the
diagonal. But a word need not go best with itself: all four go best with
*shiny*.
:::
*/

/* folded: how this is printed */
static void show_all_scores(void)
{
    float scores[4][4];
    dot_scores(4, 4, 3, embedding, embedding, scores);
    print_matrix("scores", 4, 4, scores);
    figure_heatmap("scores",
                   "The dot product of every word with every word", 4,
                   words, 4, words, scores);
}

/*
``` output
scores (4, 4)
[[0.4556, 0.7842, 0.7196, 0.4908],
 [0.7842, 1.3569, 1.2487, 0.8131],
 [0.7196, 1.2487, 1.2406, 0.6252],
 [0.4908, 0.8131, 0.6252, 0.7930]]
```

![The scores as a map: the stronger the colour, the larger the
score](scores.svg){#fig-scores}

*Hello* scores 0.4556 with itself and 0.7842 with *shiny*. Does it have more
in common with *shiny* than with itself?

## Length counts {#dot-product-length}

It doesn't. The two words point in nearly the same direction, and *shiny* is
the longer arrow. Its shadow on the line of *Hello* reaches beyond *Hello*.

To compare directions alone, divide by both lengths. What is left is the
cosine of the angle: 1 when two lists point the same way, 0 at a right
angle, $-1$ when they are opposed. As a measure it's called **cosine
similarity**:

$$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$

A list of zeros has no direction, and any answer would be wrong. A function
in this book that can't do what it was asked says so and ends the program,
by `REFUSE`, which takes a message as `printf` does.
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

static void show_cosines(void)
{
    float lengths[4], cosines[4];
    for (int j = 0; j < 4; j++) {
        lengths[j] = length(3, embedding[j]);
        cosines[j] = cosine(3, embedding[0], embedding[j]);
    }
    print_vector("lengths of Hello, shiny, sun, shoe", 4, lengths);
    print_vector("cosines of Hello", 4, cosines);
}

/*
``` output
lengths of Hello, shiny, sun, shoe (4)
[0.6750, 1.1649, 1.1138, 0.8905]
cosines of Hello (4)
[1.0000, 0.9974, 0.9572, 0.8165]
```

By direction, *Hello* goes best with itself, and with *shiny* almost as
well. Attention uses the dot product all the same. It's cheaper, with no
roots and no divisions. And length can carry meaning: double a key, and
every score with it doubles. The cosine would not notice.

## The same as a product of tables {#dot-product-tables}

A table of numbers is a **matrix**, and papers write all these scores as a
single product of two. In the **matrix product** $AB$, entry $(i, j)$ is the
dot product of row $i$ of $A$ with *column* $j$ of $B$. So a row of $A$ must
have as many entries as a column of $B$; call that number $d$:

$$\underset{n \times m}{P} =
  \underset{n \times d}{A}\;\; \underset{d \times m}{B}$$
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

/*
Our keys are rows, though, and a score takes a row with a row. So swap the
rows and columns of the keys first. The result is the **transpose**,
written $K^\top$:
*/

void transpose(int n, int m, const float a[n][m], float transposed[m][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            transposed[j][i] = a[i][j];
}

/*
With $Q$ for the queries and $K$ for the keys, all scores are

$$\underset{n \times m}{S} =
  \underset{n \times d}{Q}\;\; \underset{d \times m}{K^\top}$$

Our words, their keys transposed, and the product:
*/

static void show_scores_as_product(void)
{
    float transposed[3][4], scores[4][4];
    transpose(4, 3, embedding, transposed);
    matmul(4, 4, 3, embedding, transposed, scores);
    print_matrix("embeddings", 4, 3, embedding);
    print_matrix("transposed", 3, 4, transposed);
    print_matrix("embeddings times transposed", 4, 4, scores);
}

/*
``` output
embeddings (4, 3)
[[0.3400, 0.2200, 0.5400],
 [0.5300, 0.3400, 0.9800],
 [0.2900, 0.5400, 0.9300],
 [0.8100, 0.1200, 0.3500]]
transposed (3, 4)
[[0.3400, 0.5300, 0.2900, 0.8100],
 [0.2200, 0.3400, 0.5400, 0.1200],
 [0.5400, 0.9800, 0.9300, 0.3500]]
embeddings times transposed (4, 4)
[[0.4556, 0.7842, 0.7196, 0.4908],
 [0.7842, 1.3569, 1.2487, 0.8131],
 [0.7196, 1.2487, 1.2406, 0.6252],
 [0.4908, 0.8131, 0.6252, 0.7930]]
```

It's the same table. `dot_scores` computes $QK^\top$ without swapping
anything. You
have seen the first piece of the formula that this book is about
[@vaswani2017]:

$$\operatorname{attention}(Q, K, V) =
  \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$

Softmax is the next chapter, $V$ the one after it, and the square root comes
in [](#scaling).

The same in PyTorch, where `@` is the dot product of two lists and the
product of two tables:

``` python
import torch
import torch.nn.functional as F

a, b = torch.tensor([1., 2., 3.]), torch.tensor([4., 5., 6.])
print(a * b)

embedding = torch.tensor([[0.34, 0.22, 0.54],   # Hello
                          [0.53, 0.34, 0.98],   # shiny
                          [0.29, 0.54, 0.93],   # sun
                          [0.81, 0.12, 0.35]])  # shoe
print(embedding[1] @ embedding[:3].T)
print(embedding @ embedding.T)
print(F.cosine_similarity(embedding[0], embedding))
```

Every word has a score with every other now, and with our invented numbers
*sun* scores more with *shiny* than *shoe* does: 1.2487 to 0.8131. But the
scores are only numbers in a table. They don't change *shiny* yet. In
[](#softmax) they will.

## In the tutorials {#dot-product-tutorials}

The vectors of *Hello*, *shiny* and *sun* are from the worked example of
HackTricks [@hacktricks]; *shoe* is ours. *From Tokens to the Transformer*
[@tokens2transformer] introduces NumPy, Python's library for arrays, with
the lists of [](#dot-product-sum) and the two tables below. `np.multiply(a,
b)` makes the list of products and `a @ b` the number, though the article
prints the number for both ([A.12](#errata-12)).
*/

/* folded: how this is printed */
static void show_numpy(void)
{
    const float a[2][2] = {{1, 2}, {3, 4}}, b[2][2] = {{5, 6}, {7, 8}};
    float product[2][2];
    matmul(2, 2, 2, a, b, product);
    print_whole("A", 2, 2, a);
    print_whole("B", 2, 2, b);
    print_whole("A times B", 2, 2, product);
}

/*
``` output
A (2, 2)
[[1, 2],
 [3, 4]]
B (2, 2)
[[5, 6],
 [7, 8]]
A times B (2, 2)
[[19, 22],
 [43, 50]]
```

At the top left, row $(1, 2)$ has met column $(5, 7)$, and
$1 \cdot 5 + 2 \cdot 7$ is 19.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_one_number();
    show_shadows();
    show_both_sentences();
    show_all_scores();
    show_cosines();
    show_scores_as_product();
    show_numpy();
    return 0;
}

/*
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
dot product with $a = (4, 1)$ is 0, and a second one. What do all such lists
have in common in [](#fig-arrows)?

**Exercise 1.5** (by hand): Double every entry of *sun*. Which of the
sixteen scores change, and which of the sixteen cosines?

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
Seven scores change: those of *sun* with the other words double, in its row
and in its column, and that of *sun* with itself is multiplied by four. No
cosine changes, since the direction is the same.
:::
*/
