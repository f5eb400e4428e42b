/*
# Query, key, value: asking, being found, giving {#qkv}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-qkv-pipeline}

*Cat likes fish.* Fish does not like cat. But compare words by the dot
product of their embeddings, and the score of *cat* with *fish* equals that
of *fish* with *cat*, since the factors of a product may be swapped. In
[](#softmax) each word used one list of numbers for three tasks: to ask
with, to be found by, and to be mixed from. In this chapter each task gets a
list of its own.

## Three roles {#qkv-roles}

Words seldom look for words like themselves. *From Tokens to the
Transformer* begins with *I eat bread on the table* [@tokens2transformer].
There *eat* has to find who eats, *I*, and what is eaten, *bread* rather
than *table*; and *bread* has to find the *table* that the bread lies on.
What a word looks for is not what the word is.

Ma Yumin compares attention with looking something up [@ma2026]. You come
with a *question*. On the shelf, every document has a *title*, and you
compare your question with the titles. What you take home is neither
question nor title but the *content*. Attention does the same with lists of
numbers:

- the **query** of a token says what the token is looking for,
- the **key** of a token says what it can be found by,
- the **value** of a token says what it gives to those who find it.

There is one difference. A library hands you the document that fits best.
Attention hands you some of everything, more of what fits better.

Where do three lists come from, if a token has only one embedding? *From
Tokens to the Transformer* has a picture for that: the embedding is the
ingredients, and there are three recipes. A recipe is a **weight matrix**.
The product of the embedding and a weight matrix is a new list, the
embedding's **projection**. Each entry of the projection is a blend of all
the ingredients. With the embeddings of $n$ tokens as the rows of $X$,

$$\underset{n \times d_k}{Q} =
    \underset{n \times d}{X}\;\; \underset{d \times d_k}{W_Q}, \qquad
  \underset{n \times d_k}{K} =
    \underset{n \times d}{X}\;\; \underset{d \times d_k}{W_K}, \qquad
  \underset{n \times d_v}{V} =
    \underset{n \times d}{X}\;\; \underset{d \times d_v}{W_V}$$

Queries and keys have the same size, $d_k$ ($k$ for key), since a query and
a key must meet in a dot product. Values may have another size, $d_v$.

The same three matrices serve every token of every sentence
([A.5](#errata-5)). Their entries are **parameters** of the model, or
**trainable weights**: training finds them, and afterwards, when the model
is in use, they stay as they are. Attention is one step of a model, which
has many such steps. Each step has three matrices of its own. (The word
*weights* has two meanings: the entries of $W_Q$ are called weights, and so
are the shares of [](#softmax). This book says *weight matrix* for the first
and *attention weights* for the second.)
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
The same word now plays three parts. These three matrices are what a model
learns.
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
## First on paper {#qkv-paper}

*From Tokens to the Transformer* has an example in whole numbers, small
enough for paper: three tokens of four entries, and matrices that make three
entries out of four.
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
Scores, shares and mixture are those of [](#softmax), with three tables
where there was one:

$$\underset{n \times n}{S} =
    \underset{n \times d_k}{Q}\;\; \underset{d_k \times n}{K^\top}, \qquad
  \underset{n \times n}{A} = \operatorname{softmax}(S), \qquad
  \underset{n \times d_v}{Z} =
    \underset{n \times n}{A}\;\; \underset{n \times d_v}{V}$$

**Exercise 3.2** (by hand): Print the sheet, which takes a page of its own,
and fill in the empty tables before you read on (the next screen has the
answers), *A* to two decimals and *Z* to one. For *A*, subtract the largest
score of a row from all of them, as [](#softmax) does. Besides $e^0 = 1$,
these exponentials will be needed:

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
    print_matrix("X", 3, 4, paper);
    print_matrix("W_Q", 4, 3, paper_query);
    print_matrix("W_K", 4, 3, paper_key);
    print_matrix("W_V", 4, 3, paper_value);
    print_matrix("Q", 3, 3, query);
    print_matrix("K", 3, 3, key);
    print_matrix("V", 3, 3, value);
    print_matrix("K transposed", 3, 3, turned);
    print_matrix("S", 3, 3, scores);
    print_matrix("A", 3, 3, weights);
    print_matrix("Z", 3, 3, context);
}

/*
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

If you found the scores on both sides of the diagonal to be the same, you
made no mistake. It is an accident of these numbers, and the next example
does not share it. (In *From Tokens to the Transformer*, the 12 has lost a
digit: [A.13](#errata-13).) The second token finds itself, and its row of
*Z* is nearly its own value. The first token gives the other two equal
shares, and its row of *Z* is nearly the mean of their values.

## One token asks

What a single query gets is worth a function: scores from the keys, shares
from the scores, a mixture of the values.

**Exercise 3.3** (★★, 3 points): `attend_one`. One query, `m` keys, `m`
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
word, and the keys of all words before.
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

Matrices found by training are hard to read. So let us make some by hand,
for the sentence with which this chapter began, Ma Yumin's example
[@ma2026]. The embedding of a word will say three things about it: whether
it is an animal, a deed, something to eat.
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
-4)$. In the row for food, the first $-4$ cancels the 4 of the row for an
animal, so that *fish* looks for no deed. The second $-4$ keeps *fish* from
finding itself: the score of *fish*, an animal and food, with itself is $4 -
4 = 0$. The size of the entries, 4, makes the shares sharp. The values leave
out the deed: a word gives whether it is an animal, and whether it is food.
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

/* folded: how this is printed */
static void show_cat(void)
{
    const char *const panels[2] = {"embeddings with each other",
                                   "queries with keys"};
    float query[3][3], key[3][3], value[3][2];
    float scores[2][3][3], weights[3][3], context[3][2];
    dot_scores(3, 3, 3, sentence, sentence, scores[0]);
    project_qkv(3, 3, 3, 2, sentence, looks_for, found_by, gives, query,
                key, value);
    for (int i = 0; i < 3; i++)
        attend_one(3, 3, 2, query[i], key, value, scores[1][i], weights[i],
                   context[i]);
    print_matrix("embeddings with each other", 3, 3, scores[0]);
    print_matrix("queries", 3, 3, query);
    print_matrix("scores, queries with keys", 3, 3, scores[1]);
    print_matrix("attention weights of cat, likes, fish", 3, 3, weights);
    print_matrix("context vectors of cat, likes, fish", 3, 2, context);
    figure_maps("roles", "Scores without roles and with them", 2, panels, 3,
                words, 3, words, scores);
    figure_follow("likes", "Likes asks, and is answered", 3, words, 1, 3, 3,
                  2, sentence[1], query[1], key, value, scores[1][1],
                  weights[1], context[1]);
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
```

![Without roles, the halves mirror each other. With them, nothing mirrors
anything, and each row means something. Each map has colours to a scale of
its own](roles.svg){#fig-roles}

The score of *likes* with *fish* is the query of *likes* times the key of
*fish*. The score of *fish* with *likes* is the query of *fish* times the
key of *likes*. These are four different lists, and nothing makes the two
products equal. (The score of *cat* with *fish* is 0: an animal asks for a
deed, and only a deed asks for food.)

Each row of scores becomes a row of shares, and these mix the values:

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

Now follow one word through all three roles. *Likes* asks for food, by the
query $(0, 0, 4)$. Among the three keys, the key of *fish* scores 4, and
*fish* gets 0.9647 of the whole. So *likes* takes home little but the value
of *fish*: 0.9647 food, and 0.9823 animal, of which *cat* adds 0.0177 (all
rounded). *Likes* itself is neither animal nor food. It has taken in what is
liked, but not who likes. One query can find both, but mixes them into one
list. To keep them apart, as *eat* should in [](#qkv-roles), a word needs
several queries, as in [](#heads).

![What becomes of *likes*. Its embedding becomes a query, a key and a value;
its query meets every key; the shares mix the values, more of the darker
ones](likes.svg){#fig-likes}

::: {.workbench args="stage=roles"}
:::

## What values are for {#qkv-values}

*Cat* took home next to nothing, 0.0353 and 0.0177. *Cat* finds *likes*, as
it should, but a deed gives nothing: the value of *likes* is $(0, 0)$. Keys
decide who is found, values decide what comes back. To see the difference,
change the values alone, and let every word give its whole embedding:
*/

/* folded: how this is printed */
static void show_other_values(void)
{
    float query[3][3], scores[3], weights[3], context[3];
    matmul(3, 3, 3, sentence, looks_for, query);
    attend_one(3, 3, 3, query[0], sentence, sentence, scores, weights,
               context);
    print_vector("attention weights of cat, as before", 3, weights);
    print_vector("context vector of cat: animal, deed, food", 3, context);
}

/*
``` output
attention weights of cat, as before (3)
[0.0177, 0.9647, 0.0177]
context vector of cat: animal, deed, food (3)
[0.0353, 0.9647, 0.0177]
```

The shares are the same, and the result is another: now *cat* knows that it
does something. What helps to find a word need not be what one wants to know
of that word. With one matrix for the keys and another for the values,
training can choose both.

We have made these matrices so that the map means what we want it to mean.
In a language model nobody makes them. The model is trained to predict the
next word of a text, and training changes the entries a little at a time, in
the direction of better predictions.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles");
    show_paper();
    show_cat();
    show_other_values();
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
A = torch.softmax(Q @ K.T, dim=-1)
for table in Q, K, V, Q @ K.T, A, A @ V:
    print(table)

sentence = torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]])
looks_for = torch.tensor([[0., 4, 0], [0, 0, 4], [4, -4, -4]])
gives = torch.tensor([[1., 0], [0, 0], [0, 1]])
print(F.scaled_dot_product_attention(
    sentence @ looks_for, sentence, sentence @ gives, scale=1.0))
print(F.scaled_dot_product_attention(
    sentence @ looks_for, sentence, sentence, scale=1.0)[0])
```

`F.scaled_dot_product_attention` does what `attend_one` does, for all
queries at once; `scale=1.0` turns off a division that [](#scaling) is
about.

Real matrices begin with numbers drawn at random, which training improves.
To follow a tutorial number by number, one must draw the same random
numbers.

## Further exercises

**Exercise 3.4** (★★, challenge, 3 points): `example_w_query`. Fill
`w_query` with a table like `looks_for`, but one in which a deed asks for
both who does it and what it is done to: *likes* is to give *cat* and *fish*
the same share, and hardly anything to itself, less than one twentieth. What
*cat* and *fish* ask must stay as it is.

::: hint
In [](#qkv-cat), which row says what a deed looks for?
:::

::: hint
*Cat* and *fish* have something in common.
:::

::: done
You have trained by hand: an entry of a matrix moved, and words looked
elsewhere. Training does that to all of them at once.
:::

**Exercise 3.5** (by hand): In the worksheet, exchange the first two rows of
*X*, that is, the first two tokens. What happens to *Q*, and what to *S*?

## Solutions

::: {.solution exercise="3.2"}
![The worksheet, filled in](answers.svg){#fig-answers}
:::

::: {.solution exercise="3.4"}
Both are animals, so it is enough to look for an animal.
*/

void example_w_query(float w_query[3][3])
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
and the first two columns, so each pair of tokens keeps its score. Attention
takes no notice of the order of the words; [](#self-attention) comes back to
that.
:::
*/
