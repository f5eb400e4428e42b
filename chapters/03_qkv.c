/*
# Query, key, value: asking, being found, giving {#qkv}

*Cat likes fish.* Fish does not like cat. But compare the words by the dot
product of their embeddings, and *cat* scores with *fish* exactly what
*fish* scores with *cat*, because the factors of a product may be swapped.
Whatever else attention can do by now, it can't tell the eater from the
eaten.

The trouble is that in [](#softmax) a word has a single list of numbers, and
does three jobs with it: it looks with it, it's found by it, and it's mixed
into others with it. In this chapter every job gets a list of its own, and
at the end *likes* will find *fish*.

## Three roles {#qkv-roles}

Think of a library. You come with a *question*. Each book on the shelf has a
*title*, and you compare your question with the titles. What you take home
is neither the question nor the title but the *content* [@ma2026]. Attention
does the same with lists of numbers:

- the **query** of a token says what it is looking for,
- the **key** of a token says what it can be found by,
- the **value** of a token says what it gives to those who find it.

The picture breaks in one place. A library hands you the book that fits
best. Attention hands you some of everything, and more of what fits better.

Where do three lists come from, if a word has one embedding? From three
tables of numbers. Multiply the embedding by a table, and every entry of the
new list is a blend of all the entries of the old one. Such a table is a
**weight matrix**, and the new list is the embedding's **projection**. With
the embeddings of $n$ tokens as the rows of $X$,

$$\underset{n \times d_k}{Q} =
    \underset{n \times d}{X}\;\; \underset{d \times d_k}{W_Q}, \qquad
  \underset{n \times d_k}{K} =
    \underset{n \times d}{X}\;\; \underset{d \times d_k}{W_K}, \qquad
  \underset{n \times d_v}{V} =
    \underset{n \times d}{X}\;\; \underset{d \times d_v}{W_V}$$

Queries and keys have the same size, $d_k$, since they meet in a dot
product. Values may have another, $d_v$.

The same three matrices serve every word of every sentence. Their entries
are **parameters** of the model, or **trainable weights**: training finds
them, and from then on they stay fixed. (So *weights* means two things in
this field. This book says *weight matrix* for the parameters, and
*attention weights* for the shares that softmax makes.)
*/

#include "attention/03_qkv.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "support.h"

/*
**Exercise 3.1** (★, 2 points): `project_qkv`. Queries, keys and values of
`n` tokens with `d` entries each.

::: hint
[](#dot-product) has a function for the product of two tables. Which of its
three sizes is summed over here?
:::

::: done
The same word now plays three parts. These three matrices are among what a
model learns.
:::
*/

void project_qkv(int n, int d, int d_k, int d_v, const float x[n][d],
                 const float w_query[d][d_k], const float w_key[d][d_k],
                 const float w_value[d][d_v], float query[n][d_k],
                 float key[n][d_k], float value[n][d_v])
{
    matmul(n, d_k, d, x, w_query, query);
    matmul(n, d_k, d, x, w_key, key);
    matmul(n, d_v, d, x, w_value, value);
}

/*
Once there are queries, keys and values, everything is as before: scores
from a query and the keys, shares from the scores, a mixture of the values.

**Exercise 3.2** (★★, 3 points): `attend_one`. One query, `m` keys, `m`
values. The scores and the weights are results too, so that we can look at
them.

::: hint
Which functions of [](#dot-product) and [](#softmax) take one query, one row
of scores, one row of weights?
:::

::: hint
A key and its value have the same row number. A key has `d_k` entries, a
value `d_v`.
:::

::: done
A model that writes word by word needs just this: the query of the newest
word, and the keys and values of all words so far.
:::
*/

void attend_one(int m, int d_k, int d_v, const float query[d_k],
                const float key[m][d_k], const float value[m][d_v],
                float scores[m], float weights[m], float context[d_v])
{
    for (int j = 0; j < m; j++)
        scores[j] = dot(d_k, query, key[j]);
    softmax(m, scores, weights);
    weighted_sum(m, d_v, weights, value, context);
}

/*
## Cat likes fish {#qkv-cat}

Matrices found by training are hard to read, so let's make some by hand. The
embedding of a word will say three things about it: whether it's an animal,
whether it's an action, and whether it's food. So each matrix has three
rows, one for each of these. Its columns say what the word is found as, what
it looks for, or what it gives.
*/

static const char *const words[3] = {"cat", "likes", "fish"};
static const float sentence[3][3] = {
    /* animal, action, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish, which is an animal as well */
};

/*
Start with the keys. A word can be found as one of three things: as somebody
who acts, as an action, or as food that gets eaten. An animal acts. Food
gets eaten, and what gets eaten doesn't act, hence the $-1$.
*/

static const float found_as[3][3] = {
    /* acts, action, eaten */
    {1, 0, 0},  /* an animal */
    {0, 1, 0},  /* an action */
    {-1, 0, 1}, /* food */
};

/*
*Fish* is animal and food, so its key is the sum of two rows: $(1, 0, 0) +
(-1, 0, 1) = (0, 0, 1)$. *Fish* is an animal, and yet it can't be found as
somebody who acts. That is what a key is for: a word's key need not say all
that the word is.

The queries say what a word looks for. Their columns are those of the keys,
since the two meet entry by entry. An animal looks for the action, an action
for what gets eaten, and food for the one who acts. (The $-4$ cancels
the 4 that *fish* gets for being an animal: it shouldn't look for an
action.) The size of the
entries, 4, makes the shares sharp.
*/

static const float looks_for[3][3] = {
    /* acts, action, eaten */
    {0, 4, 0},  /* an animal */
    {0, 0, 4},  /* an action */
    {4, -4, 0}, /* food */
};

/*
And the values leave out the action: a word gives whether it's an animal,
and whether it's food.
*/

static const float gives[3][2] = {
    /* animal, food */
    {1, 0}, /* an animal */
    {0, 0}, /* an action */
    {0, 1}, /* food */
};

/*
::: question
Before you look: which word will each of the three words look at most?

*Cat* looks for an action and finds *likes*. *Likes* looks for what gets
eaten and finds *fish*. *Fish* looks for the one who acts and finds *cat*.
No word looks back at the one that looks at it.
:::
*/

/* What the three words ask, what they are found by, and what each gets. */
static void cat_likes_fish(float query[3][3], float key[3][3],
                           float value[3][2], float scores[3][3],
                           float weights[3][3], float context[3][2])
{
    project_qkv(3, 3, 3, 2, sentence, looks_for, found_as, gives, query,
                key, value);
    for (int i = 0; i < 3; i++)
        attend_one(3, 3, 2, query[i], key, value, scores[i], weights[i],
                   context[i]);
}

static void show_cat(void)
{
    float alike[3][3], query[3][3], key[3][3], value[3][2], scores[3][3];
    float weights[3][3], context[3][2];
    dot_scores(3, 3, 3, sentence, sentence, alike);
    cat_likes_fish(query, key, value, scores, weights, context);
    print_whole("embeddings with each other", 3, 3, alike);
    print_whole("queries", 3, 3, query);
    print_whole("keys", 3, 3, key);
    print_whole("values", 3, 2, value);
    print_whole("scores, queries with keys", 3, 3, scores);
    print_matrix("attention weights of cat, likes, fish", 3, 3, weights);
    print_matrix("context vectors of cat, likes, fish", 3, 2, context);
}

/*
``` output
embeddings with each other (3, 3)
[[1, 0, 1],
 [0, 1, 0],
 [1, 0, 2]]
queries (3, 3)
[[0, 4, 0],
 [0, 0, 4],
 [4, 0, 0]]
keys (3, 3)
[[1, 0, 0],
 [0, 1, 0],
 [0, 0, 1]]
values (3, 2)
[[1, 0],
 [0, 0],
 [1, 1]]
scores, queries with keys (3, 3)
[[0, 4, 0],
 [0, 0, 4],
 [4, 0, 0]]
```

The score of *likes* with *fish* is the query of *likes* times the key of
*fish*. The score of *fish* with *likes* is the query of *fish* times the
key of *likes*. These are four different lists, and nothing makes the two
products equal: 4 one way, 0 the other.
*/

/* folded: how this is drawn */
static void draw_cat(void)
{
    const char *const panels[2] = {"embeddings with each other",
                                   "queries with keys"};
    float query[3][3], key[3][3], value[3][2], weights[3][3];
    float scores[2][3][3], context[3][2];
    cat_likes_fish(query, key, value, scores[1], weights, context);
    dot_scores(3, 3, 3, sentence, sentence, scores[0]);
    figure_maps("roles", "Scores without roles and with them", 2, panels, 3,
                words, 3, words, scores);
    figure_follow("likes", "Likes asks, and is answered", 3, words, 1, 3, 3,
                  2, sentence[1], query[1], key, value, scores[1][1],
                  weights[1], context[1]);
}

/*
![Without roles, the halves mirror each other. With them, each row means
something. Each map has colours to a scale of its
own](roles.svg){#fig-roles}

Each row of scores becomes a row of shares, and the shares mix the values:

``` output
attention weights of cat, likes, fish (3, 3)
[[0.0177, 0.9647, 0.0177],
 [0.0177, 0.0177, 0.9647],
 [0.9647, 0.0177, 0.0177]]
context vectors of cat, likes, fish (3, 2)
[[0.0353, 0.0177],
 [0.9823, 0.9647],
 [0.9823, 0.0177]]
```

Follow one word through all three roles. *Likes* asks with $(0, 0, 4)$.
Among the keys only that of *fish* fits, with a score of 4, and *fish* gets
0.9647 of the whole. The value of *fish* is $(1, 1)$, animal and food. So
*likes* takes home 0.9647 of both, and 0.0177 of an animal from *cat*, which
makes 0.9823 animal (added before rounding). The verb, which is neither
animal nor food, has found its object. It now knows what is liked, though
not by whom. For that it will need a second query ([](#heads)).

![What becomes of *likes*. Its embedding becomes a query, a key and a value;
its query meets every key; the shares mix the values, more of the darker
ones](likes.svg){#fig-likes}

::: {.workbench args="stage=roles"}
:::

## Why not one matrix for both {#qkv-two}

Do queries and keys really need a matrix each? Take `looks_for` for both,
and see who finds whom:
*/

/* folded: how this is printed */
static void show_one_matrix(void)
{
    float query[3][3], scores[3][3];
    matmul(3, 3, 3, sentence, looks_for, query);
    dot_scores(3, 3, 3, query, query, scores);
    print_whole("scores, queries with queries", 3, 3, scores);
}

/*
``` output
scores, queries with queries (3, 3)
[[16,  0,  0],
 [ 0, 16,  0],
 [ 0,  0, 16]]
```

Everybody finds only themselves. And no other matrix can give us what we
want. With one for both, the score of two words is the same in both
directions. *Cat* should score more with *likes* than with *fish*; *fish*,
more with *cat* than with *likes*; *likes*, more with *fish* than with
*cat*. Read that as a chain, turning a pair around where one ends and the
next begins:

$$\text{cat, likes} > \text{cat, fish} = \text{fish, cat} >
  \text{fish, likes} = \text{likes, fish} > \text{likes, cat}$$

Its last score is the first one turned around, and can't be smaller than
itself. It takes two matrices to make looking and being found two different
things.

## What values are for {#qkv-values}

*Cat* found *likes*, as it should, and took home next to nothing, 0.0353 and
0.0177. The reason is that an action gives nothing: the value of *likes* is
$(0, 0)$. Keys decide who is found, values decide what comes back. Change
the values alone, and let every word give its whole embedding:
*/

/* folded: how this is printed */
static void show_other_values(void)
{
    float query[3][3], key[3][3], scores[3], weights[3], context[3];
    matmul(3, 3, 3, sentence, looks_for, query);
    matmul(3, 3, 3, sentence, found_as, key);
    attend_one(3, 3, 3, query[0], key, sentence, scores, weights, context);
    print_vector("attention weights of cat, as before", 3, weights);
    print_vector("context vector of cat: animal, action, food", 3, context);
}

/*
``` output
attention weights of cat, as before (3)
[0.0177, 0.9647, 0.0177]
context vector of cat: animal, action, food (3)
[0.0353, 0.9647, 0.0177]
```

The shares are the same and the result is different: now *cat* knows that it
does something. What helps to find a word need not be what you want to know
about it.

The same in PyTorch, whose function for all of this is
`F.scaled_dot_product_attention` (`scale=1.0` turns off a division, which
[](#scaling) is about):

``` python
import torch
import torch.nn.functional as F

sentence = torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]])
looks_for = torch.tensor([[0., 4, 0], [0, 0, 4], [4, -4, 0]])
found_as = torch.tensor([[1., 0, 0], [0, 1, 0], [-1, 0, 1]])
gives = torch.tensor([[1., 0], [0, 0], [0, 1]])
query, key = sentence @ looks_for, sentence @ found_as
print(query @ key.T)
print(F.scaled_dot_product_attention(
    query, key, sentence @ gives, scale=1.0))
print(F.scaled_dot_product_attention(
    query, key, sentence, scale=1.0)[0])

X = torch.tensor([[1., 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
W_Q = torch.tensor([[1., 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
W_K = torch.tensor([[0., 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
W_V = torch.tensor([[0., 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
A = torch.softmax(Q @ K.T, dim=-1)
for table in Q, K, V, Q @ K.T, A, A @ V:
    print(table)
```

We made these matrices by hand, so that the map means what we want it to
mean. Nobody does that for a language model. In [](#learning) a program will
find such matrices on its own. Before that, there is a question that short
lists don't raise. Our queries and keys have three entries, and those of
real models often have a hundred. What happens to the scores when the lists
get longer?

## In the tutorials {#qkv-paper}

*From Tokens to the Transformer* begins with *I eat bread on the table*,
where *eat* looks for *I* and for *bread* [@tokens2transformer], and has an
example small enough for paper: three tokens of four entries, and matrices
that turn four entries into three.
*/

const float paper[3][4] = {{1, 0, 1, 0}, {0, 2, 0, 2}, {1, 1, 1, 1}};
static const float paper_query[4][3] = {
    {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}};
static const float paper_key[4][3] = {
    {0, 0, 1}, {1, 1, 0}, {0, 1, 0}, {1, 1, 0}};
static const float paper_value[4][3] = {
    {0, 2, 0}, {0, 3, 0}, {1, 0, 3}, {1, 1, 0}};

void project_paper(float query[3][3], float key[3][3], float value[3][3])
{
    project_qkv(3, 4, 3, 3, paper, paper_query, paper_key, paper_value,
                query, key, value);
}

/*
**Exercise 3.3** (by hand): Do a whole attention with a pencil. Print this
sheet and fill in its empty tables, *A* to two decimals and *Z* to one. For
*A*, subtract the largest score of a row from all of them, as [](#softmax)
does. Besides $e^0 = 1$, you'll need these exponentials:

``` output
exponentials of -2, -4, -8, -12 (4)
[0.1353, 0.0183, 0.0003, 0.0000]
```

![A worksheet. The first entry of *Q* is the first row of *X* times the
first column of $W_Q$; the first of *S* is the first row of *Q* times the
first row of *K*](worksheet.svg){#fig-worksheet}
*/

/* folded: how this is printed */
static void show_paper(void)
{
    float query[3][3], key[3][3], value[3][3], turned[3][3];
    float scores[3][3], weights[3][3], context[3][3];
    project_paper(query, key, value);
    transpose(3, 3, key, turned);
    dot_scores(3, 3, 3, query, key, scores);
    softmax_rows(3, 3, scores, weights);
    matmul(3, 3, 3, weights, value, context);

    print_vector("exponentials of -2, -4, -8, -12", 4,
                 (float[4]){expf(-2), expf(-4), expf(-8), expf(-12)});
    print_whole("X", 3, 4, paper);
    print_whole("W_Q", 4, 3, paper_query);
    print_whole("W_K", 4, 3, paper_key);
    print_whole("W_V", 4, 3, paper_value);
    print_whole("Q", 3, 3, query);
    print_whole("K", 3, 3, key);
    print_whole("V", 3, 3, value);
    print_whole("K transposed", 3, 3, turned);
    print_whole("S", 3, 3, scores);
    print_matrix("A", 3, 3, weights);
    print_matrix("Z", 3, 3, context);
}

/*
This is what the program prints:

``` output
X (3, 4)
[[1, 0, 1, 0],
 [0, 2, 0, 2],
 [1, 1, 1, 1]]
W_Q (4, 3)
[[1, 0, 1],
 [1, 0, 0],
 [0, 0, 1],
 [0, 1, 1]]
W_K (4, 3)
[[0, 0, 1],
 [1, 1, 0],
 [0, 1, 0],
 [1, 1, 0]]
W_V (4, 3)
[[0, 2, 0],
 [0, 3, 0],
 [1, 0, 3],
 [1, 1, 0]]
```

``` output
Q (3, 3)
[[1, 0, 2],
 [2, 2, 2],
 [2, 1, 3]]
K (3, 3)
[[0, 1, 1],
 [4, 4, 0],
 [2, 3, 1]]
V (3, 3)
[[1, 2, 3],
 [2, 8, 0],
 [2, 6, 3]]
```

``` output
K transposed (3, 3)
[[0, 4, 2],
 [1, 4, 3],
 [1, 0, 1]]
S (3, 3)
[[ 2,  4,  4],
 [ 4, 16, 12],
 [ 4, 12, 10]]
```

``` output
A (3, 3)
[[0.0634, 0.4683, 0.4683],
 [0.0000, 0.9820, 0.0180],
 [0.0003, 0.8805, 0.1192]]
Z (3, 3)
[[1.9366, 6.6831, 1.5951],
 [2.0000, 7.9640, 0.0540],
 [1.9997, 7.7599, 0.3584]]
```

These scores are their own mirror image, which is an accident of these
numbers. (In the article, the 12 has lost a digit: [A.13](#errata-13).) The
second token finds itself, and its row of *Z* is nearly its own value. The
first gives the other two equal shares, and its row of *Z* is nearly the
mean of their values.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_cat();
    draw_cat();
    show_one_matrix();
    show_other_values();
    show_paper();
    return 0;
}

/*
## Further exercises

**Exercise 3.4** (★★, challenge, 3 points): `example_w_query`. Fill
`w_query` with a table like `looks_for`, but one in which an action asks for
both who does it and what it is done to: *likes* should give *cat* and
*fish* the same share, and hardly anything to itself, less than one
twentieth. What *cat* and *fish* ask must stay as it is.

::: hint
In [](#qkv-cat), which row says what an action looks for?
:::

::: hint
A query may ask for two things at once.
:::

::: done
You have trained by hand: an entry of a matrix moved, and words looked
elsewhere. Training does that to all of them at once.
:::

**Exercise 3.5** (by hand): In the worksheet, swap the first two rows of
*X*, that is, the first two tokens. What happens to *Q*, and what to *S*?

## Solutions

::: {.solution exercise="3.3"}
![The worksheet, filled in](answers.svg){#fig-answers}
:::

::: {.solution exercise="3.4"}
*Likes* keeps asking for what is eaten, and asks for who acts as well.
*/

void example_w_query(float w_query[3][3])
{
    memcpy(w_query, looks_for, sizeof looks_for);
    w_query[1][0] = 4; /* an action looks for whoever acts, too */
}

/*
:::

::: {.solution exercise="3.5"}
The first two rows of *Q* are exchanged, and so are those of *K* and *V*:
each token takes its lists along. In *S* the first two rows are exchanged
and the first two columns, so each pair of tokens keeps its score. Attention
takes no notice of the order of the words; [](#self-attention) comes back to
that.
:::
*/
