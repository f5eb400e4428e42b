/*
# Asking, being found, giving {#qkv}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-qkv-pipeline}

*Cat likes fish.* Fish does not like cat. But compare words by the dot
product of their embeddings, and *cat* scores with *fish* what *fish* scores
with *cat*; it cannot be otherwise, since the factors of a product may be
swapped. In [](#softmax) each word used one list of numbers for three tasks:
to ask with, to be found by, and to be mixed from. In this chapter each task
gets a list of its own.

## Three roles {#qkv-roles}

A Chinese tutorial compares attention with looking something up [@ma2026].
You come with a *question*. On the shelf, every document has a *title*, and
you compare your question with the titles. What you take home is neither
question nor title but the *content*. Attention does the same with lists of
numbers:

- the **query** of a token says what the token is looking for,
- the **key** of a token says what it can be found by,
- the **value** of a token says what it gives to those who find it.

There is one difference. A library hands you the document that fits best.
Attention hands you some of everything, more of what fits better.

Where do three lists come from, if a token has only one embedding? A second
Chinese tutorial has a picture for it: the embedding is the ingredients, and
there are three recipes [@tokens2transformer]. A recipe is a table of
weights, a matrix. Multiplying the embedding by it makes a new list, each
entry of which is a blend of all the ingredients. With the embeddings as the
rows of $X$,

$$Q = X W_Q, \qquad K = X W_K, \qquad V = X W_V$$

The same three matrices serve every token of every sentence. They are among
the things that a model learns, its **parameters**. (Take care with a word
here. The entries of $W_Q$ are called weights in every book, and so are the
shares of [](#softmax). This book says *weight matrix* for the first and
*attention weights* for the second.)
*/

#include "attention.h"

/*
**Exercise 3.1** (★, 2 points): `project`. Queries, keys and values of `n`
tokens with `d` entries each. Queries and keys get `d_k` entries, since they
must meet in a dot product. Values may have another size, `d_v`.

::: hint
[](#dot-product) has a function for the product of two tables. Which of its
three sizes is summed over here?
:::
*/

void project(int n, int d, int d_k, int d_v, const float x[n][d],
             const float w_query[d][d_k], const float w_key[d][d_k],
             const float w_value[d][d_v], float query[n][d_k],
             float key[n][d_k], float value[n][d_v])
{
    matmul(n, d_k, d, x, w_query, query);
    matmul(n, d_k, d, x, w_key, key);
    matmul(n, d_v, d, x, w_value, value);
}

/*
## First on paper {#qkv-paper}

The tutorial with the recipes works an example in whole numbers, small
enough for paper: three tokens, four entries each, and matrices that make
three entries out of four.
*/

static const float paper[3][4] = {{1, 0, 1, 0}, {0, 2, 0, 2}, {1, 1, 1, 1}};
static const float paper_query[4][3] = {
    {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}};
static const float paper_key[4][3] = {
    {0, 0, 1}, {1, 1, 0}, {0, 1, 0}, {1, 1, 0}};
static const float paper_value[4][3] = {
    {0, 2, 0}, {0, 3, 0}, {1, 0, 3}, {1, 1, 0}};

static void show_paper(void)
{
    float query[3][3], key[3][3], value[3][3], turned[3][3], scores[3][3];
    float weights[3][3];
    project(3, 4, 3, 3, paper, paper_query, paper_key, paper_value, query,
            key, value);
    transpose(3, 3, key, turned);
    dot_scores(3, 3, 3, query, key, scores);
    softmax_rows(3, 3, scores, weights);

    const Table sheet[] = {
        {"X", 3, 4, paper[0]},         {"W_Q", 4, 3, paper_query[0]},
        {"W_K", 4, 3, paper_key[0]},   {"W_V", 4, 3, paper_value[0]},
        {"Q = X W_Q", 3, 3, query[0]}, {"K = X W_K", 3, 3, key[0]},
        {"V = X W_V", 3, 3, value[0]}, {"S = Q Kᵀ", 3, 3, scores[0]},
    };
    worksheet("worksheet", "Attention on paper, to be filled in", 8, sheet,
              4);
    worksheet("answers", "Attention on paper, filled in", 8, sheet, 8);

    print_matrix("X", 3, 4, paper);
    print_matrix("W_Q", 4, 3, paper_query);
    print_matrix("W_K", 4, 3, paper_key);
    print_matrix("W_V", 4, 3, paper_value);
    print_matrix("Q", 3, 3, query);
    print_matrix("K", 3, 3, key);
    print_matrix("V", 3, 3, value);
    print_matrix("K transposed", 3, 3, turned);
    print_matrix("S", 3, 3, scores);
    print_matrix("attention weights", 3, 3, weights);
}

/*
**Exercise 3.2** (by hand): Print the sheet, which takes a page of its own,
and fill in the empty tables before you read on.

::: worksheet
![A worksheet. The first entry of *Q* is the first row of *X* times the
first column of *W_Q*; the first of *S* is the first row of *Q* times the
first row of *K*](worksheet.svg){#fig-worksheet}
:::

This is what the program prints:

``` output
X (3, 4)
[[1.0000, 0.0000, 1.0000, 0.0000],
 [0.0000, 2.0000, 0.0000, 2.0000],
 [1.0000, 1.0000, 1.0000, 1.0000]]
W_Q (4, 3)
[[1.0000, 0.0000, 1.0000],
 [1.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 1.0000]]
W_K (4, 3)
[[0.0000, 0.0000, 1.0000],
 [1.0000, 1.0000, 0.0000],
 [0.0000, 1.0000, 0.0000],
 [1.0000, 1.0000, 0.0000]]
W_V (4, 3)
[[0.0000, 2.0000, 0.0000],
 [0.0000, 3.0000, 0.0000],
 [1.0000, 0.0000, 3.0000],
 [1.0000, 1.0000, 0.0000]]
```

``` output
Q (3, 3)
[[1.0000, 0.0000, 2.0000],
 [2.0000, 2.0000, 2.0000],
 [2.0000, 1.0000, 3.0000]]
K (3, 3)
[[0.0000, 1.0000, 1.0000],
 [4.0000, 4.0000, 0.0000],
 [2.0000, 3.0000, 1.0000]]
V (3, 3)
[[1.0000, 2.0000, 3.0000],
 [2.0000, 8.0000, 0.0000],
 [2.0000, 6.0000, 3.0000]]
```

``` output
K transposed (3, 3)
[[0.0000, 4.0000, 2.0000],
 [1.0000, 4.0000, 3.0000],
 [1.0000, 0.0000, 1.0000]]
S (3, 3)
[[ 2.0000,  4.0000,  4.0000],
 [ 4.0000, 16.0000, 12.0000],
 [ 4.0000, 12.0000, 10.0000]]
attention weights (3, 3)
[[0.0634, 0.4683, 0.4683],
 [0.0000, 0.9820, 0.0180],
 [0.0003, 0.8805, 0.1192]]
```

If you found the scores on both sides of the diagonal to be the same, you
made no mistake. It is an accident of these numbers, and the next example
does not share it.

::: aside
The tutorial has 2 where the second row of *S* has 12, the dot product of
$(2, 2, 2)$ and $(2, 3, 1)$ [@tokens2transformer]. It says that *Q*, *K* and
*V* have the shape of *X*; but *X* has four columns and they have three. And
it gives the matrix for the values, but not the values. They are *V* above.
:::

## One token asks

What a single query gets is worth a function: scores from the keys, shares
from the scores, a mixture of the values. It is what [](#softmax) did, with
three lists where there was one.

**Exercise 3.3** (★★, 3 points): `attend_one`. One query, `m` keys, `m`
values. The scores and the weights are results too, so that we can look at
them.

::: hint
Three steps: `dot` with each key, then two functions of [](#softmax).
:::

::: hint
A key and its value have the same row number. A key has `d_k` entries, a
value `d_v`.
:::
*/

void attend_one(int m, int d_k, int d_v, const float query[d_k],
                const float key[m][d_k], const float value[m][d_v],
                float scores[m], float weights[m], float context[d_v])
{
    for (int j = 0; j < m; j++)
        scores[j] = dot(d_k, query, key[j]);
    softmax(m, scores, weights);
    mix(m, d_v, weights, value, context);
}

/*
## Cat likes fish {#qkv-cat}

Matrices found by training are hard to read. So let us make some by hand,
for the sentence with which this chapter began and which the first tutorial
takes as its example [@ma2026]. The
embedding of a word will say three things about it: whether it is an animal,
a deed, something to eat.
*/

static const char *const words[3] = {"cat", "likes", "fish"};
static const float sentence[3][3] = {
    /* animal, deed, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish, which is an animal as well */
};

/*
The keys may be the embeddings themselves: a word is found by what it is.
The matrix for the queries has a row for each thing a word can be, and says
what such a word looks for. An animal looks for a deed, for what it does. A
deed looks for food. (In our small world, deeds are about food.) Food looks
for an animal, the one that eats it. *Fish* is two things, animal and food,
so its query is the sum of two rows: $(0, 4, 0) + (4, -4, -4)$ is $(4, 0,
-4)$. The first $-4$ takes back what it looks for as an animal, and the
second keeps it from finding itself. The size of the entries, 4, makes the
shares sharp. The values leave out the deed: what a word gives is whether it
is an animal, and whether it is food.
*/

static const float looks_for[3][3] = {
    /* animal, deed, food */
    {0, 4, 0},   /* an animal */
    {0, 0, 4},   /* a deed */
    {4, -4, -4}, /* food */
};
static const float found_by[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const float gives[3][2] = {
    /* animal, food */
    {1, 0}, /* an animal */
    {0, 0}, /* a deed */
    {0, 1}, /* food */
};

static void show_cat(void)
{
    float query[3][3], key[3][3], value[3][2], own[3][3];
    float scores[3][3], weights[3][3], context[3][2];
    dot_scores(3, 3, 3, sentence, sentence, own);
    project(3, 3, 3, 2, sentence, looks_for, found_by, gives, query, key,
            value);
    for (int i = 0; i < 3; i++)
        attend_one(3, 3, 2, query[i], key, value, scores[i], weights[i],
                   context[i]);
    print_matrix("embeddings with each other", 3, 3, own);
    print_matrix("queries", 3, 3, query);
    print_matrix("scores, queries with keys", 3, 3, scores);
    print_matrix("attention weights of cat, likes, fish", 3, 3, weights);
    print_matrix("context vectors of cat, likes, fish", 3, 2, context);
    heatmap("own", "Scores of embeddings with each other", 3, words, 3,
            words, own);
    heatmap("roles", "Scores of queries with keys", 3, words, 3, words,
            scores);
    follow("likes", "Likes asks, and is answered", 3, words, 1, 3, 3, 2,
           sentence[1], query[1], key, value, scores[1], weights[1],
           context[1]);
}

/*
::: question
Before you look: which word will each of the three words look at most?

*Cat* looks for a deed and finds *likes*; *likes* looks for food and finds
*fish*; *fish* finds *cat*. No word looks back at the one that looks at it.
:::

``` output
embeddings with each other (3, 3)
[[1.0000, 0.0000, 1.0000],
 [0.0000, 1.0000, 0.0000],
 [1.0000, 0.0000, 2.0000]]
queries (3, 3)
[[ 0.0000,  4.0000,  0.0000],
 [ 0.0000,  0.0000,  4.0000],
 [ 4.0000,  0.0000, -4.0000]]
scores, queries with keys (3, 3)
[[0.0000, 4.0000, 0.0000],
 [0.0000, 0.0000, 4.0000],
 [4.0000, 0.0000, 0.0000]]
attention weights of cat, likes, fish (3, 3)
[[0.0177, 0.9647, 0.0177],
 [0.0177, 0.0177, 0.9647],
 [0.9647, 0.0177, 0.0177]]
context vectors of cat, likes, fish (3, 2)
[[0.0353, 0.0177],
 [0.9823, 0.9647],
 [0.9823, 0.0177]]
```

![What becomes of *likes*. Its embedding becomes a query, a key and a value;
its query meets every key; the shares mix the values](likes.svg){#fig-likes}

*Likes* gives 0.9647 of its attention to *fish*, and *fish* gives next to
nothing back. Compare the scores: those of the embeddings mirror each other
across the diagonal, those of queries with keys do not.

![Scores of the embeddings with each other: the halves mirror each
other](own.svg){#fig-own}

![Scores of queries with keys: nothing mirrors anything, and each row means
something](roles.svg){#fig-roles}

The reason is plain once one looks at a single entry. The score of *likes*
with *fish* is the query of *likes* times the key of *fish*. The score of
*fish* with *likes* is the query of *fish* times the key of *likes*. These
are four different lists, and nothing makes the two products equal. Look at
the context vectors, too. That of *likes* is
0.9823 animal and 0.9647 food, though *likes* itself is neither; it has
taken in what is liked.

We have made these matrices so that the map means what we want it to mean.
In a language model nobody makes them. It is trained to predict the next
word of a text, and training changes the entries a little at a time, in the
direction of better predictions.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "roles");
    show_paper();
    show_cat();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

X = torch.tensor([[1., 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
W_Q = torch.tensor([[1., 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
W_K = torch.tensor([[0., 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
W_V = torch.tensor([[0., 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
print(Q)
print(K)
print(V)
print(Q @ K.T)

sentence = torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]])
looks_for = torch.tensor([[0., 4, 0], [0, 0, 4], [4, -4, -4]])
gives = torch.tensor([[1., 0], [0, 0], [0, 1]])
print(F.scaled_dot_product_attention(
    sentence @ looks_for, sentence, sentence @ gives, scale=1.0))
```

PyTorch prints `1.` where we print 1.0000; the numbers are the same. The
last call does all that `attend_one` does, for every query at once. Its
`scale=1.0` turns off a division that a later chapter is about.

Real matrices begin with numbers drawn at random, and training takes it from
there. To follow a tutorial number by number, one must draw the same ones.

## Further exercises

**Exercise 3.4** (★★, challenge, 3 points): `hand_weights`. Change
`looks_for` so that a deed asks for both who does it and what it is done to:
*likes* is to give *cat* and *fish* the same share, and hardly anything to
itself. What *cat* and *fish* ask must stay as it is.

::: hint
Which row says what a deed looks for?
:::

::: hint
*Cat* and *fish* have something in common.
:::

**Exercise 3.5** (by hand): In the worksheet, exchange the first two rows of
*X*, that is, the first two tokens. What happens to *Q*, and what to *S*?

## Solutions

::: {.solution exercise="3.2"}
::: worksheet
![The worksheet, filled in](answers.svg){#fig-answers}
:::
:::

::: {.solution exercise="3.4"}
Both are animals, so it is enough to look for an animal.
*/

void hand_weights(float w_query[3][3])
{
    memcpy(w_query, looks_for, sizeof looks_for);
    w_query[1][0] = 4; /* a deed looks for an animal, */
    w_query[1][2] = 0; /* and not for food in particular */
}

/*
:::

::: {.solution exercise="3.5"}
The first two rows of *Q* are exchanged, and so are those of *K* and *V*:
each token takes its lists along. In *S* the first two rows are exchanged
and the first two columns. Attention takes no notice of the order of the
words, which a later chapter will come back to.
:::
*/
