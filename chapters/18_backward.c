/*
# Backpropagation: what every number did {#backward}

![The way from words to attention. This chapter goes back through every
shaded step](pipeline.svg){#fig-backward-pipeline}

In [](#self-attention-training) a head learned where to look. Each step of
that training computed the whole attention twice for each of the head's
parameters. The module of [](#multi-head-walk), with $d_{model} = 512$, has
$4 \cdot (512 \cdot 512 + 512) = 1{,}050{,}624$ parameters. Nobody will
compute that module two million times to move its parameters once.

Trying begins at the front, with a parameter, and asks what this parameter
does to the loss. Let us begin at the back. The loss is made from a few
numbers, and how the loss changes with these is easily said. These numbers
are made from others by the operation before, the others from others again,
and so on back to the parameters. If each answer can be made from the
answers nearer to the loss, then one way back through the computation finds
the slopes of all parameters. The computation from the parameters to the
loss is called the **forward pass**, the way back the **backward pass**, and
the method **backpropagation**.
*/

#include "attention/18_backward.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/04_scaling.h"
#include "attention/09_causal_mask.h"
#include "attention/10_dropout.h"
#include "attention/13_multi_head.h"
#include "support.h"

/*
## Two rules {#backward-rules}

The **slope** of a number says by how much the loss grows for each unit by
which the number grows, if the number grows a little. The slope of
`scores[j]` is called `grad_scores[j]`, short for gradient: the gradient of
a table is a table of the same shape, with `grad_` before its name.

Let the loss grow by 3 for each unit of a score, and let this score grow by
2 for each unit of an entry of the query. Then the loss grows by $3 \cdot 2
= 6$ for each unit of that entry. Along a way, slopes are multiplied. This
rule is the **chain rule**.

But the same query has a score with another key, too. Let this second score
grow by 4 for each unit of the same entry, and let the loss grow by $-1$ for
each unit of the second score. So there are two ways from the entry to the
loss. What the entry does to the loss along each way adds up: $3 \cdot 2 +
(-1) \cdot 4 = 2$.

There are no other rules. What remains is to ask of each operation by how
much its results grow with what it was given.

## Back through softmax {#backward-softmax}

We start where [](#self-attention-training) has stopped: with *cat likes
fish*, the numbers of seed 2024, and the loss $-\ln(w)$, where $w$ is the
share that *likes* gives to *fish*. What was computed last comes first on
the way back, so we begin with the logarithm. If $w$ grows by a small $s$,
it becomes $1 + s/w$ times as large, and its logarithm grows by $\ln(1 +
s/w)$, nearly $s/w$. So the loss falls by $1/w$ for
each unit of this share: the slope of the share is $-1/w$. The loss does not
depend on the other shares, so their slopes are 0.

Next comes the softmax. Raise score $j$ by a small $s$. As
[](#scaling-saturated) has found, the exponential of score $j$ becomes
nearly $1 + s$ times as large, and the sum of all exponentials nearly $1 +
w_j s$ times. So every share is divided by $1 + w_j s$. That is nearly to
multiply it by $1 - w_j s$, since $(1 + w_j s)(1 - w_j s) = 1 - w_j^2 s^2$
is nearly 1. Without terms in $s^2$, share $j$ and any other share $k$
become

$$w_j (1 + s)(1 - w_j s) = w_j + w_j s - w_j w_j s, \qquad
  w_k (1 - w_j s) = w_k - w_k w_j s$$

So share $j$ gains $w_j s$, and each share $k$, share $j$ too, loses $w_k
w_j s$. Now the two rules. Let $g_k$ be the slope of share $k$. Each change
is multiplied by the slope of its share, and all of them add up:

$$\underbrace{w_j s\, g_j}_{\text{gained}}
  - \underbrace{\sum_{k=1}^{m} w_k w_j s\, g_k}_{\text{lost}}
  = w_j \Big( g_j - \sum_{k=1}^{m} w_k g_k \Big)\, s$$

So the slope of score $j$ is $w_j (g_j - \sum_k w_k g_k)$. The sum is the
mean of the slopes of all shares, in which each slope counts by its share.
This mean is the same for all scores of the row. Where $g_j$ lies above the
mean, the loss rises with score $j$, and training will lower the score.
Where $g_j$ lies below the mean, training will raise the score. If all $g_k$
are equal, all slopes are 0: what one word gains, others lose, and the loss
stays the same.

**Exercise 18.1** (★★, 3 points): `softmax_backward`. To the slope of each
score of a row, add $w_j (g_j - \sum_k w_k g_k)$.

::: hint
The sum over $k$ is needed before the first score gets its slope. A function
of [](#dot-product) computes such a sum in one call.
:::

::: hint
`grad_scores` holds something already, and what is new is added to it: `+=`.
:::

::: done
This is the hardest line of attention's way back. All others are products,
sums and moves.
:::
*/

void softmax_backward(int n, const float weights[n],
                      const float grad_weights[n], float grad_scores[n])
{
    const float mean = dot(n, weights, grad_weights);
    for (int j = 0; j < n; j++)
        grad_scores[j] += weights[j] * (grad_weights[j] - mean);
}

static const float sentence[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 1}};

/* folded: how this is printed */
/* The loss of chapter 7, from the scores on. */
static double loss_of_scores(const Attention *a, Trace *t)
{
    float(*weights)[3] = ROWS(3, t->weights);
    softmax_rows(a->n_heads * t->n, t->m, ROWS(t->m, t->scores), weights);
    return (double)-logf(weights[1][2]);
}

/* The same, from the parameters on. */
static double loss_of_head(const Attention *a, Trace *t)
{
    self_attention_forward(a, 3, sentence, t);
    return loss_of_scores(a, t);
}

/* How steeply a loss rises with a number, by trying. */
static double slope_of(double (*loss)(const Attention *a, Trace *t),
                       const Attention *a, Trace *t, float *number,
                       float step)
{
    const float was = *number;
    *number = was + step;
    const double above = loss(a, t);
    *number = was - step;
    const double below = loss(a, t);
    *number = was;
    return (above - below) / (2 * (double)step);
}

/* The gradients of the weights and of the scores, those of likes alone. */
static void show_likes(const Attention *a, Trace *t, Trace *grad_t)
{
    float(*weights)[3] = ROWS(3, t->weights), tried[3];
    float(*grad_weights)[3] = ROWS(3, grad_t->weights);
    float(*grad_scores)[3] = ROWS(3, grad_t->scores);
    for (int j = 0; j < 3; j++)
        tried[j] =
            (float)slope_of(loss_of_scores, a, t, &t->scores[3 + j], 0.01f);
    loss_of_head(a, t);
    grad_weights[1][2] = -1 / weights[1][2];
    softmax_backward(3, weights[1], grad_weights[1], grad_scores[1]);
    print_vector("weights of likes", 3, weights[1]);
    print_vector("grad_weights", 3, grad_weights[1]);
    print_vector("grad_scores", 3, grad_scores[1]);
    print_vector("grad_scores, by trying", 3, tried);
}

/*
``` output
weights of likes (3)
[0.2990, 0.4093, 0.2918]
grad_weights (3)
[ 0.0000,  0.0000, -3.4274]
grad_scores (3)
[ 0.2990,  0.4093, -0.7082]
grad_scores, by trying (3)
[ 0.2990,  0.4093, -0.7082]
```

Only the slope of *fish*'s share is not 0, so the mean is $w \cdot (-1/w) =
-1$. For the other words the slope of the score is $w_j (0 + 1)$, the share
itself. For *fish* the slope is $w (-1/w + 1)$, the share less 1. So the
loss falls when the score of *fish* rises, and it rises with any other
score. The three slopes add up to 0, since raising all scores alike changes
no share.

## Back through products {#backward-products}

One step further back, the scores were divided by $\sqrt{d_k}$. For each
unit by which the undivided score grows, the divided score grows by
$1/\sqrt{d_k}$. So on the way back the slope is divided by the same root:
`scale_scores` is its own way back.

The undivided score is a sum of terms `query[i][k] * key[j][k]`. If one
factor of a term grows by a unit, the term grows by the other factor. Below,
a function does that for all terms, and another one for `matmul`, whose
second table stands the other way round. A comment shows the line of the
forward pass that the lines below it go back through:
*/

void dot_scores_backward(int n, int m, int d, const float query[n][d],
                         const float key[m][d],
                         const float grad_scores[n][m],
                         float grad_query[n][d], float grad_key[m][d])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < d; k++) {
                // scores[i][j] += query[i][k] * key[j][k];
                grad_query[i][k] += grad_scores[i][j] * key[j][k];
                grad_key[j][k] += grad_scores[i][j] * query[i][k];
            }
}

void matmul_backward(int n, int m, int d, const float a[n][d],
                     const float b[d][m], const float grad_product[n][m],
                     float grad_a[n][d], float grad_b[d][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < d; k++) {
                // product[i][j] += a[i][k] * b[k][j];
                grad_a[i][k] += grad_product[i][j] * b[k][j];
                grad_b[k][j] += grad_product[i][j] * a[i][k];
            }
}

/*
An entry of a query is a factor in the scores of all keys, and an entry of a
key in the scores of all queries. By the second rule, what the entry does in
each of these scores adds up. So both lines have `+=`. The functions of this
chapter add to the gradients of inputs and parameters, which the caller sets
to 0 first. Only tables in between are overwritten. Written with tables, the
gradient of each factor is a product too, of the gradient of the result and
the other factor:

$$\underset{n \times d_k}{G_Q} = \underset{n \times m}{G_S}\;
  \underset{m \times d_k}{K} \qquad
  \underset{m \times d_k}{G_K} = \underset{m \times n}{G_S^\top}\;
  \underset{n \times d_k}{Q}$$
*/

/* folded: how this is drawn */
static void draw_products(void)
{
    const FigureBlock block[] = {
        {"query", 5, 3, 1, "·"},        {"keyᵀ", 3, 4, 1, "="},
        {"scores", 5, 4, 1, NULL},      {"grad_scores", 5, 4, 1, "·"},
        {"key", 4, 3, 1, "="},          {"grad_query", 5, 3, 1, NULL},
        {"grad_scoresᵀ", 4, 5, 1, "·"}, {"query", 5, 3, 1, "="},
        {"grad_key", 4, 3, 1, NULL}};
    figure_blocks("products", "One product forward, two back", 9, block);
}

/*
![One product forward, two on the way back. Where all sizes differ, there is
only one way in which they fit](products.svg){#fig-backward-products}

## Back through a layer {#backward-linear}

A linear layer is such a product, of the rows of `x` with the rows of the
weight. Then the layer adds the same bias to each of the $n$ rows.

**Exercise 18.2** (★★, 3 points): `linear_backward`. The gradient of a layer
is a `Linear`, too. First of all, `linear_gradient_check(l, grad_l)` refuses
one of other sizes. Then the gradients of `x`, of the weight and, if the
layer has one, of the bias get what comes from `grad_out`.

::: hint
`linear_forward` calls `dot_scores`. Call what undoes it, with `x` for the
queries and the weight for the keys: `ROWS(l->d_in, grad_l->weight)`
receives the keys' part.
:::

::: hint
If `bias[j]` grows by a unit, what do the $n$ entries of column `j` do? Each
of them is a way to the loss.
:::

::: done
With this, every layer of a model can learn. The gradient of a bias is the
sum over all rows that it was added to.
:::
*/

void linear_backward(const Linear *l, int n, const float x[n][l->d_in],
                     const float grad_out[n][l->d_out], Linear *grad_l,
                     float grad_x[n][l->d_in])
{
    linear_gradient_check(l, grad_l);
    // dot_scores(n, l->d_out, l->d_in, x, ROWS(l->d_in, l->weight), out);
    dot_scores_backward(n, l->d_out, l->d_in, x, ROWS(l->d_in, l->weight),
                        grad_out, grad_x, ROWS(l->d_in, grad_l->weight));
    if (!l->bias)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l->d_out; j++) // out[i][j] += l->bias[j];
            grad_l->bias[j] += grad_out[i][j];
}

/*
These were all operations between the parameters and the loss of *cat likes
fish*. Here is the whole way back:
*/

/* folded: how this is printed */
/* The way back of chapter 7's head, from the slopes of its scores. */
static void show_way_back(const Attention *a, const Trace *t, Trace *grad_t,
                          Attention *grad_a)
{
    float grad_x[3][3] = {{0}};
    scale_scores(3, 3, t->d_k, ROWS(3, grad_t->scores));
    dot_scores_backward(3, 3, t->d_k, ROWS(t->d_k, t->query),
                        ROWS(t->d_k, t->key), ROWS(3, grad_t->scores),
                        ROWS(t->d_k, grad_t->query),
                        ROWS(t->d_k, grad_t->key));
    linear_backward(&a->query, 3, sentence,
                    ROWS(a->query.d_out, grad_t->query), &grad_a->query,
                    grad_x);
    linear_backward(&a->key, 3, sentence, ROWS(a->key.d_out, grad_t->key),
                    &grad_a->key, grad_x);
    print_matrix("slopes of the weight for queries", 2, 3,
                 ROWS(3, grad_a->query.weight));
    print_matrix("slopes of the weight for keys", 2, 3,
                 ROWS(3, grad_a->key.weight));
    print_matrix("slopes of the words' own numbers", 3, 3, grad_x);
    print_integers("computations by trying; and now, there and back", 2,
                   (int[]){2 * (int)a->count, 2});
}

/*
``` output
slopes of the weight for queries (2, 3)
[[ 0.0000,  0.1441,  0.0000],
 [ 0.0000, -0.2357,  0.0000]]
slopes of the weight for keys (2, 3)
[[-0.1107,  0.1107, -0.1916],
 [ 0.1113, -0.1113,  0.1926]]
slopes of the words' own numbers (3, 3)
[[-0.0500,  0.0439, -0.0073],
 [ 0.0404,  0.2059,  0.1095],
 [ 0.1185, -0.1040,  0.0173]]
computations by trying; and now, there and back (2)
[36,  2]
```

These are the slopes of [](#self-attention-training), number for number.
(The weight for values is not on the way to this loss, so its slopes are 0.)
There the slopes took 36 computations of the loss. Here they took one, and
one way back. The words' own numbers have slopes now, too: each word has a
query and a key, and what the word does by each has been added up.

## Back through a head {#backward-head}

What else is there in a head? The mixture is a product, of weights and
values. Dropout has multiplied each weight by 0 or by $1/(1 - p)$. The slope
of the weight gets the same factor, so `dropout_apply` is called again, with
the keep mask that the trace has kept. And the causal mask has replaced
scores by minus infinity. A score that was replaced does nothing to the
loss, so its slope is 0:
*/

void mask_backward(int n, int m, const float scores[n][m],
                   float grad_scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (scores[i][j] == -INFINITY)
                grad_scores[i][j] = 0;
}

/*
::: question
A hidden key has the weight 0, and the weight is a factor of its score's
slope. Is `mask_backward` needed at all?

If a query sees at least one key, `mask_backward` finds zeros already. But a
query that sees nothing has weights of `nan`. Without `mask_backward`, the
slopes of its scores would be `nan` too, and after them the slopes of the
parameters for queries and keys. (The parameters for values get slopes of
`nan` in any case: weights of `nan` are factors there.)
:::

The way back through `attend` is `attend`, with its calls written out, read
from the last line to the first. It needs no mask and no random numbers: the
scores and the keep mask show what both have done. Most parameters of
`attend` come again with `grad_`. The scores and dropped weights are used
for nothing else, so the function itself sets their gradients to 0 first,
and `dropout_apply` overwrites that of the weights. Mask and scale have
changed the scores in place, and their ways back change `grad_scores` in
place.
*/

void attend_backward(int n, int m, int d_k, int d_v, double rate,
                     const float query[n][d_k], const float key[m][d_k],
                     const float value[m][d_v], const float scores[n][m],
                     const float weights[n][m], const float keep_mask[n][m],
                     const float dropped[n][m],
                     const float grad_context[n][d_v],
                     float grad_dropped[n][m], float grad_weights[n][m],
                     float grad_scores[n][m], float grad_query[n][d_k],
                     float grad_key[m][d_k], float grad_value[m][d_v])
{
    memset(grad_dropped, 0, sizeof(float[n][m]));
    memset(grad_scores, 0, sizeof(float[n][m]));
    // matmul(n, d_v, m, dropped, value, context);
    matmul_backward(n, d_v, m, dropped, value, grad_context, grad_dropped,
                    grad_value);
    // dropout_apply(rate, n, m, keep_mask, weights, dropped);
    dropout_apply(rate, n, m, keep_mask, grad_dropped, grad_weights);
    // softmax_rows(n, m, scores, weights);
    for (int i = 0; i < n; i++)
        softmax_backward(m, weights[i], grad_weights[i], grad_scores[i]);
    // apply_mask(n, m, mask, scores);
    mask_backward(n, m, scores, grad_scores);
    // scale_scores(n, m, d_k, scores);
    scale_scores(n, m, d_k, grad_scores);
    // dot_scores(n, m, d_k, query, key, scores);
    dot_scores_backward(n, m, d_k, query, key, grad_scores, grad_query,
                        grad_key);
}

/*
## Back through attention {#backward-attention}

`split_heads` and `merge_heads` only move numbers, and a slope moves with
its number. So on the way back, `split_heads` moves the slopes of what was
merged, and `merge_heads` the slopes of what was split. The gradient of a
trace is a `Trace`, and the gradient of an attention an `Attention`. In
self-attention, where the texts `x` and `y` are the same, `grad_x` and
`grad_y` are one table. Into it goes what a token did as a query, as a key
and as a value.
*/

/* Head h: attend_head, backwards. */
static void attend_head_backward(int h, const Trace *t, Trace *grad_t)
{
    const int n = t->n, m = t->m, d_k = t->d_k, d_v = t->d_v;
    attend_backward(
        n, m, d_k, d_v, t->dropout_rate, TABLES(n, d_k, t->head_query)[h],
        TABLES(m, d_k, t->head_key)[h], TABLES(m, d_v, t->head_value)[h],
        TABLES(n, m, t->scores)[h], TABLES(n, m, t->weights)[h],
        TABLES(n, m, t->keep_mask)[h], TABLES(n, m, t->dropped)[h],
        TABLES(n, d_v, grad_t->context)[h],
        TABLES(n, m, grad_t->dropped)[h], TABLES(n, m, grad_t->weights)[h],
        TABLES(n, m, grad_t->scores)[h],
        TABLES(n, d_k, grad_t->head_query)[h],
        TABLES(m, d_k, grad_t->head_key)[h],
        TABLES(m, d_v, grad_t->head_value)[h]);
}

void attention_backward(const Attention *a, int n, int m,
                        const float x[n][a->d_x], const float y[m][a->d_y],
                        const Trace *t, Trace *grad_t, Attention *grad_a,
                        float grad_x[n][a->d_x], float grad_y[m][a->d_y])
{
    const int heads = a->n_heads, d_k = a->d_k, d_v = a->d_v;
    attention_check(a, n, m, t);
    attention_check(a, n, m, grad_t);
    attention_gradient_check(a, grad_a);
    if (a->d_out) { // linear_forward(&a->out, n, joined, out);
        memset(grad_t->joined, 0, sizeof(float[n][heads * d_v]));
        linear_backward(&a->out, n, ROWS(a->out.d_in, t->joined),
                        ROWS(a->out.d_out, grad_t->out), &grad_a->out,
                        ROWS(a->out.d_in, grad_t->joined));
    }
    // merge_heads(n, heads, d_v, context, joined);
    split_heads(n, heads, d_v, ROWS(heads * d_v, grad_t->joined),
                TABLES(n, d_v, grad_t->context));
    memset(grad_t->head_query, 0, sizeof(float[heads][n][d_k]));
    memset(grad_t->head_key, 0, sizeof(float[heads][m][d_k]));
    memset(grad_t->head_value, 0, sizeof(float[heads][m][d_v]));
    for (int h = 0; h < heads; h++) // attend_head(a, mask, r, h, t);
        attend_head_backward(h, t, grad_t);
    // split_heads(n, heads, d_k, query, head_query), and the other two
    merge_heads(n, heads, d_k, TABLES(n, d_k, grad_t->head_query),
                ROWS(heads * d_k, grad_t->query));
    merge_heads(m, heads, d_k, TABLES(m, d_k, grad_t->head_key),
                ROWS(heads * d_k, grad_t->key));
    merge_heads(m, heads, d_v, TABLES(m, d_v, grad_t->head_value),
                ROWS(heads * d_v, grad_t->value));
    // attention_project(a, n, m, x, y, t);
    linear_backward(&a->query, n, x, ROWS(a->query.d_out, grad_t->query),
                    &grad_a->query, grad_x);
    linear_backward(&a->key, m, y, ROWS(a->key.d_out, grad_t->key),
                    &grad_a->key, grad_y);
    linear_backward(&a->value, m, y, ROWS(a->value.d_out, grad_t->value),
                    &grad_a->value, grad_y);
}

/*
## Down to the words {#backward-embedding}

Before the attention, each word's row was copied from the table of
embeddings. If the row grows by a unit, so does each copy. So the slope of
each copy is added to its row, as often as the word stands in the text.

**Exercise 18.3** (★, 2 points): `embed_backward`. Row `i` of `x` was a copy
of row `ids[i]` of the table. It refuses an id that is no row, as `embed`
does.

::: hint
Which row of `grad_table` does `grad_x[i]` belong to? If the same id comes
twice, that row already has something from the first time.
:::

::: done
A word learns from each place where it stands. A word that does not come
learns nothing, however large the table.
:::
*/

void embed_backward(int n, int d, int rows, const int ids[n],
                    const float grad_x[n][d], float grad_table[rows][d])
{
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE("id %d for a table of %d: from 0 to %d is needed",
                   ids[i], rows, rows - 1);
        for (int k = 0; k < d; k++) // x[i][k] = table[ids[i]][k];
            grad_table[ids[i]][k] += grad_x[i][k];
    }
}

/* folded: how this is printed */
static void show_embedding(void)
{
    const int ids[3] = {0, 2, 0};
    const float grad_x[3][2] = {{1, 2}, {10, 20}, {100, 200}};
    float grad_table[3][2] = {{0}};
    embed_backward(3, 2, 3, ids, grad_x, grad_table);
    print_matrix("slopes of words 0, 2 and 0", 3, 2, grad_x);
    print_matrix("slopes of the table", 3, 2, grad_table);
}

/*
``` output
slopes of words 0, 2 and 0 (3, 2)
[[  1.0000,   2.0000],
 [ 10.0000,  20.0000],
 [100.0000, 200.0000]]
slopes of the table (3, 2)
[[101.0000, 202.0000],
 [  0.0000,   0.0000],
 [ 10.0000,  20.0000]]
```

## Tried, to be sure {#backward-checked}

A model whose backward pass has a mistake may still learn, only worse. So
one compares each slope with the slope that trying finds. This comparison is
called **gradient checking**. We check the module of
[](#multi-head-pytorch), with two heads and the future hidden, first without
dropout and then with it. The loss is the sum of all outputs, so the slope
of each output is 1.
*/

enum { TOKENS = 3, D_MODEL = 8 };
static float tokens[TOKENS][D_MODEL]; /* drawn after the module */

/* folded: how this is printed */
static double sum_of_output(const Attention *a, Trace *t)
{
    double sum = 0;
    Random r = random_seeded(123); /* the same draws each time */
    attention_forward(a, mask_causal(0), &r, TOKENS, TOKENS, tokens, tokens,
                      t);
    for (int k = 0; k < TOKENS * D_MODEL; k++)
        sum += (double)t->out[k];
    return sum;
}

/* How many of these numbers have the slope that trying finds. */
static int agreements(const Attention *a, Trace *t, size_t count,
                      float *number, const float *slope)
{
    int alike = 0;
    for (size_t k = 0; k < count; k++)
        alike += fabs(slope_of(sum_of_output, a, t, &number[k], 0.01f) -
                      (double)slope[k]) < 0.00002;
    return alike;
}

/* The gradient of that sum is added to what is there. */
static void sum_of_output_backward(const Attention *a, Trace *t,
                                   Attention *grad_a,
                                   float grad_x[TOKENS][D_MODEL])
{
    Trace grad_t;
    trace_init_for(&grad_t, a, TOKENS, TOKENS);
    for (int k = 0; k < TOKENS * D_MODEL; k++)
        grad_t.out[k] = 1;
    sum_of_output(a, t);
    attention_backward(a, TOKENS, TOKENS, tokens, tokens, t, &grad_t,
                       grad_a, grad_x, grad_x);
    trace_free(&grad_t);
}

static void show_checked(const char *label, const Attention *a, Trace *t)
{
    const size_t size = TOKENS * D_MODEL;
    float grad_x[TOKENS][D_MODEL] = {{0}};
    Attention grad_a;
    attention_init(&grad_a, a);
    sum_of_output_backward(a, t, &grad_a, grad_x);
    const int alike = agreements(a, t, a->count, a->memory, grad_a.memory) +
                      agreements(a, t, size, tokens[0], grad_x[0]);
    print_integers(label, 2, (int[]){(int)(a->count + size), alike});
    attention_free(&grad_a);
}

static void show_twice(const Attention *a, Trace *t)
{
    float grad_x[TOKENS][D_MODEL] = {{0}};
    Attention grad_a;
    attention_init(&grad_a, a);
    sum_of_output_backward(a, t, &grad_a, grad_x);
    print_vector("slopes of the first row for values", D_MODEL,
                 grad_a.value.weight);
    sum_of_output_backward(a, t, &grad_a, grad_x);
    print_vector("after a second backward pass", D_MODEL,
                 grad_a.value.weight);
    attention_free(&grad_a);
}

static void show_module(void)
{
    Attention a;
    Random r = random_seeded(123);
    multi_head_init_pytorch(&a, &r, D_MODEL, 0, 2);
    random_fill(&r, TOKENS, D_MODEL, tokens);
    Trace t;
    trace_init_for(&t, &a, TOKENS, TOKENS);
    show_checked("numbers, and those on whose slope both agree", &a, &t);
    show_twice(&a, &t);
    a.dropout_rate = 0.5;
    show_checked("with dropout, numbers and those that agree", &a, &t);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
numbers, and those on whose slope both agree (2)
[312, 312]
slopes of the first row for values (8)
[-1.3957, -1.1176, -1.1407, -0.6028, -1.1782, -0.9132, -0.6089, -0.9838]
after a second backward pass (8)
[-2.7914, -2.2352, -2.2814, -1.2055, -2.3565, -1.8265, -1.2178, -1.9676]
with dropout, numbers and those that agree (2)
[312, 312]
```

All $4 \cdot (8 \cdot 8 + 8) + 3 \cdot 8 = 312$ slopes agree, those of the
parameters and those of the tokens, without dropout and with it. A second
backward pass, here without dropout, doubles the slopes, since the backward
pass adds to what is there. PyTorch's does the same, so that the gradients
of several texts can add up before a step. But then the gradients must be
set to 0 before the next step, in PyTorch by `optimizer.zero_grad()`.
Without that call, the parameters move by the slopes of all steps so far.

By how much should one move a number to try its slope? Here the slopes of
*cat likes fish* are tried with ten sizes of the move, from 1 down to a
billionth: once up and down, as in [](#self-attention-training), and once
upwards only.
*/

/* folded: how this is printed */
/* By how much tried slopes are off, in millionths of what all slopes come
 * to: tried up and down, and upwards only. */
static void slope_errors(const Attention *a, Trace *t,
                         const Attention *grad_a, float step,
                         float *both_ways, float *upwards)
{
    double off[2] = {0}, all = 0;
    const double here = loss_of_head(a, t);
    for (size_t i = 0; i < a->count; i++) {
        float *number = &a->memory[i];
        const double slope = (double)grad_a->memory[i], was = *number;
        off[0] += fabs(slope_of(loss_of_head, a, t, number, step) - slope);
        *number += step;
        off[1] += fabs((loss_of_head(a, t) - here) / (double)step - slope);
        *number = (float)was;
        all += fabs(slope);
    }
    *both_ways = (float)ceil(1e6 * off[0] / all);
    *upwards = (float)ceil(1e6 * off[1] / all);
}

static void show_steps(const Attention *a, Trace *t,
                       const Attention *grad_a)
{
    enum { STEPS = 10 };
    const float step[STEPS] = {
        0.000000001f, 0.00000001f, 0.0000001f, 0.000001f, 0.00001f,
        0.0001f,      0.001f,      0.01f,      0.1f,      1};
    float error[2][STEPS];
    int slopes = 0, found = 0;
    for (int i = 0; i < STEPS; i++)
        slope_errors(a, t, grad_a, step[i], &error[0][i], &error[1][i]);
    for (size_t i = 0; i < a->count; i++) {
        slopes += grad_a->memory[i] != 0;
        found += slope_of(loss_of_head, a, t, &a->memory[i], step[0]) != 0;
    }
    print_integers("slopes that are not 0, and those a billionth finds", 2,
                   (int[]){slopes, found});
    figure_log_log("steps", "How wrong a tried slope is", "step",
                   "error, in millionths of the slopes", 2,
                   (const char *[]){"up and down", "upwards only"}, STEPS,
                   step, error);
}

/*
![How wrong slopes are that were tried, by the size of the step. At the top,
the error is as large as the slopes](steps.svg){#fig-backward-steps}

``` output
slopes that are not 0, and those a billionth finds (2)
[8, 0]
```

On the right of the picture, the steps are too large. The loss is not a
straight line, and over a large step it bends away from its slope. Trying up
and down helps: a bend that lifts the loss after a step up lifts it after a
step down, too, and cancels in the difference of the two losses. On the
left, the steps are too small. The two losses agree in nearly all digits
that a float has, and their difference is only in the last digits, which are
rounded. With a billionth, all slopes that are found are 0. The best step
lies in between, here at a hundredth. The backward pass needs no such step.

## Everything together
*/

/* folded: how this is printed */
/* The head of chapter 7, from seed 2024. */
static void show_head(void)
{
    Attention a, grad_a;
    Random r = random_seeded(2024);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    attention_init(&grad_a, &a);
    Trace t, grad_t;
    trace_init_for(&t, &a, 3, 3);
    trace_init_for(&grad_t, &a, 3, 3);
    loss_of_head(&a, &t);
    show_likes(&a, &t, &grad_t);
    show_way_back(&a, &t, &grad_t, &grad_a);
    show_embedding();
    show_module();
    show_steps(&a, &t, &grad_a);
    trace_free(&t);
    trace_free(&grad_t);
    attention_free(&a);
    attention_free(&grad_a);
}

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline(
        "pipeline",
        "vectors roles scores scale mask weights dropout context heads");
    draw_products();
    show_head();
    return 0;
}

/*
The same in PyTorch, whose `backward` does all of this. It keeps the
gradients of parameters, in `.grad`, and those of other tables only where
`retain_grad` asks for it.

``` python
import torch
import torch.nn.functional as F

words = torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]])
torch.manual_seed(2024)
roles = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
query, key, value = [role(words) for role in roles]
scores = query @ key.T / 2**0.5
weights = F.softmax(scores, dim=-1)
scores.retain_grad(), weights.retain_grad()
(-weights[1, 2].log()).backward()
for table in weights.grad[1], scores.grad[1]:
    print(table)
for role in roles[:2]:
    print(role.weight.grad)

torch.manual_seed(123)
mha = torch.nn.MultiheadAttention(8, 2)
x = torch.rand(3, 8)
hidden = ~torch.ones(3, 3).tril().bool()
for _ in range(2):
    mha(x, x, x, attn_mask=hidden)[0].sum().backward()
    print(mha.in_proj_weight.grad[16])  # the first row for values
```

## What it costs {#backward-cost}

Each product of the forward pass has become two products on the way back. So
a step of training costs about as much as $1 + 2 = 3$ computations of the
attention, however many parameters there are. With the slopes, a loss and an
optimizer can make a model better: [](#optimizers).

The way back also costs memory. It reads the trace, with the weights of all
heads, $n \times m$ each. For long texts these tables do not fit into
memory. [](#flash-backward) does not keep them: it makes the weights again
on the way back, tile by tile.

## Further exercises

**Exercise 18.4** (★★★, challenge, 4 points): `cosine_backward`. From
`grad_cosine`, the slope of the cosine of two lists, to the slopes of all
their entries, which are added to `grad_a` and `grad_b`. [](#backward-rules)
is all that is needed. It refuses a list of zeros, as `cosine` does.

::: hint
Raise `a[k]` by a small $s$. By how much does the dot product grow? By how
much the square of the length, if $s^2$ counts for nothing? A root grows by
half the part by which its square does, as in $1.01 \cdot 1.01 = 1.0201$.
:::

::: hint
If a length becomes $1 + u$ times as large, what is divided by it becomes
$1 - u$ times as large.
:::

::: hint
A check: make `a` longer, and the cosine stays. So the slopes of `a`, times
the entries of `a`, must add up to 0.
:::

::: done
You have derived a backward pass of your own, and it is as exact as
PyTorch's. Any other operation goes the same way.
:::

**Exercise 18.5** (by hand): A row has the shares 1/2, 1/4 and 1/4, and
their slopes are 4, 0 and $-4$. What are the slopes of the scores? The
second share's slope is 0. Why is that of its score not?

**Exercise 18.6** (by hand): The layer for keys has a bias. Show that its
gradient is 0, whatever the loss is.

## Solutions

::: {.solution exercise="18.4"}
The cosine $c$ is the dot product divided by both lengths. If $a_k$ grows by
$s$, the dot product grows by $b_k s$, and $c$ gains $b_k s/(|a| |b|)$. The
square of the length of $a$ grows by $2 a_k s$: it becomes $1 + 2 a_k
s/|a|^2$ times as large, and the length $1 + a_k s/|a|^2$ times. The cosine
is divided by that, and loses $c\, a_k s/|a|^2$. So for each unit of $a_k$
it grows by $b_k / (|a| |b|) - c\, a_k / |a|^2$.
*/

void cosine_backward(int n, const float a[n], const float b[n],
                     float grad_cosine, float grad_a[n], float grad_b[n])
{
    const float c = cosine(n, a, b);
    const float of_a = length(n, a), of_b = length(n, b);
    for (int k = 0; k < n; k++) {
        grad_a[k] += grad_cosine * (b[k] / of_b - c * a[k] / of_a) / of_a;
        grad_b[k] += grad_cosine * (a[k] / of_a - c * b[k] / of_b) / of_b;
    }
}

/*
:::

::: {.solution exercise="18.5"}
The mean is $4/2 + 0/4 - 4/4 = 1$. So the slopes of the scores are $(4 -
1)/2 = 1.5$, $(0 - 1)/4 = -0.25$ and $(-4 - 1)/4 = -1.25$, which add up to
0. When the second score is raised, the second share grows, and that changes
nothing in the loss. But the other two shares shrink. The first is larger,
so it shrinks more, and the loss falls.
:::

::: {.solution exercise="18.6"}
The bias is added to every key, so its gradient is the sum of the gradients
of all keys. The gradient of key $j$ is $\sum_i g_{ij} q_i$, where $g_{ij}$
is the slope of the score of query $i$ and key $j$, and $q_i$ is a query. In
the sum over all keys, query $i$ is multiplied by $\sum_j g_{ij}$. These are
the slopes of a row of scores, which add up to 0. So the gradient of the
bias is 0. An exercise of [](#self-attention) has found the same from the
front: this bias changes no result.
:::
*/
