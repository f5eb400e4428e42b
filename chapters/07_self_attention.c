/*
# Parameters and one function {#self-attention}

![The way from words to attention. This chapter puts the shaded steps into
one object](pipeline.svg){#fig-self-attention-pipeline}

To compute one attention, [](#scaling) handed three matrices, three lists of
vectors and four sizes from function to function, and needed to know the
order in which the matrices are drawn. A model has dozens of attentions, one
after the other. It is time to keep together what belongs together.

PyTorch does it with a class: parameters, made once by a function
`__init__`, and a function `forward` that uses them. In C, that is a struct
and functions whose first argument points to it. We shall call such a thing
a **module**, as PyTorch does. For each, there is a function that ends in
`_init` and draws the parameters, one that ends in `_forward`, and one that
ends in `_free`.
*/

#include "attention.h"

/*
## The first version

Two of our tutorials write the class in the same way [@selfattention2025;
@raschka2024magazine]: three matrices, drawn by `torch.rand` in the order
query, key, value. The header calls it `SelfAttentionV1`; *self*, because
the words ask the words of their own sentence.
*/

void self_v1_init(SelfAttentionV1 *a, Random *r, int d_in, int d_k, int d_v)
{
    a->d_in = d_in;
    a->d_k = d_k;
    a->d_v = d_v;
    a->w_query = new_table(d_in, d_k);
    a->w_key = new_table(d_in, d_k);
    a->w_value = new_table(d_in, d_v);
    rand_fill(r, d_in, d_k, a->w_query);
    rand_fill(r, d_in, d_k, a->w_key);
    rand_fill(r, d_in, d_v, a->w_value);
}

void self_v1_free(SelfAttentionV1 *a)
{
    free(a->w_query);
    free(a->w_key);
    free(a->w_value);
}

/*
The matrices are `void *` in the struct, since the type of a table in C has
its width in it, and the widths are known only when the program runs. A
`void *` becomes a table where it is handed to a function that takes one.

`forward` computes six tables: queries, keys, values, scores, weights and
context vectors. We want to see all of them, and so will training. They get
a struct of their own, the **trace** of a computation. Whoever calls
`forward` makes it, and may use it again.
*/

void trace_init(Trace *t, int n, int m, int d_k, int d_v)
{
    t->n = n;
    t->m = m;
    t->d_k = d_k;
    t->d_v = d_v;
    t->query = new_table(n, d_k);
    t->key = new_table(m, d_k);
    t->value = new_table(m, d_v);
    t->scores = new_table(n, m);
    t->weights = new_table(n, m);
    t->context = new_table(n, d_v);
}

void trace_free(Trace *t)
{
    free(t->query);
    free(t->key);
    free(t->value);
    free(t->scores);
    free(t->weights);
    free(t->context);
}

/*
The types no longer say that a trace has the right sizes for a module. So a
function has to check it:
*/

void trace_must_fit(const Trace *t, int n, int m, int d_k, int d_v)
{
    if (t->n != n || t->m != m || t->d_k != d_k || t->d_v != d_v)
        REFUSE("a trace of n, m, d_k, d_v = %d, %d, %d, %d: %d, %d, %d, %d "
               "are needed",
               t->n, t->m, t->d_k, t->d_v, n, m, d_k, d_v);
}

void trace_attention(Trace *t)
{
    attention(t->n, t->m, t->d_k, t->d_v, t->query, t->key, t->value,
              t->scores, t->weights, t->context);
}

/* ... and with that, the first version is complete. */
void self_v1_forward(const SelfAttentionV1 *a, int n,
                     const float x[n][a->d_in], Trace *t)
{
    trace_must_fit(t, n, n, a->d_k, a->d_v);
    project(n, a->d_in, a->d_k, a->d_v, x, a->w_query, a->w_key, a->w_value,
            t->query, t->key, t->value);
    trace_attention(t);
}

/*
One of the two runs it on the journey, with two outputs for each word, the
other on *Life is short*, with four. Both take the seed 123.
*/

static const float journey[6][3] = {
    {0.43f, 0.15f, 0.89f}, /* Your */
    {0.55f, 0.87f, 0.66f}, /* journey */
    {0.57f, 0.85f, 0.64f}, /* starts */
    {0.22f, 0.58f, 0.33f}, /* with */
    {0.77f, 0.25f, 0.10f}, /* one */
    {0.05f, 0.80f, 0.55f}, /* step */
};

static void show_v1(const char *label, const float x[6][3], int d_v)
{
    Random r;
    SelfAttentionV1 a;
    Trace t;
    random_seed(&r, 123);
    self_v1_init(&a, &r, 3, 2, d_v);
    trace_init(&t, 6, 6, 2, d_v);
    self_v1_forward(&a, 6, x, &t);
    print_matrix(label, 6, d_v, t.context);
    trace_free(&t);
    self_v1_free(&a);
}

static void show_shapes(void)
{
    const Block block[] = {
        {"x", 6, 3, 1, "·"},        {"W_query", 3, 2, 1, "="},
        {"query", 6, 2, 1, NULL},   {"x", 6, 3, 1, "·"},
        {"W_key", 3, 2, 1, "="},    {"key", 6, 2, 1, NULL},
        {"x", 6, 3, 1, "·"},        {"W_value", 3, 4, 1, "="},
        {"value", 6, 4, 1, NULL},   {"query", 6, 2, 1, "·"},
        {"keyᵀ", 2, 6, 1, "="},     {"scores", 6, 6, 1, NULL},
        {"weights", 6, 6, 1, "·"},  {"value", 6, 4, 1, "="},
        {"context", 6, 4, 1, NULL},
    };
    blocks("shapes", "The shapes of one head",
           sizeof block / sizeof block[0], block);
}

/*
``` output
version 1, seed 123, journey (6, 2)
[[0.2996, 0.8053],
 [0.3061, 0.8210],
 [0.3058, 0.8203],
 [0.2948, 0.7939],
 [0.2927, 0.7891],
 [0.2990, 0.8040]]
```

The second row is the context vector of *journey* from [](#scaling), and
*journey* is the second word; the other five come along for nothing. The
same holds for *is* in the second sentence:

``` output
version 1, seed 123, Life is short (6, 4)
[[-0.1564,  0.1028, -0.0763, -0.0764],
 [ 0.5313,  1.3607,  0.7891,  1.3110],
 [-0.3542, -0.1234, -0.2626, -0.3706],
 [ 0.0071,  0.3345,  0.0969,  0.1998],
 [ 0.1008,  0.4780,  0.2021,  0.3674],
 [-0.5296, -0.2799, -0.4107, -0.6006]]
```

::: aside
The author's own page has [-0.2627]{.quoted} in the third row
[@raschka2024magazine]. The value lies so close to the middle between
-0.2626 and that number that the order in which a processor adds  decides.
:::

Since shapes are easily lost, here is the whole computation as blocks. A
product of two blocks fits where the width of the left one is the height of
the right one.

![The shapes of one attention, from six words of three entries to six
context vectors of four](shapes.svg){#fig-shapes}

## The second version

PyTorch has a module for "multiply by a matrix", `nn.Linear`. [](#random)
drew its numbers; now we compute with it. It differs from a plain product in
two ways. It may have a bias, a list that is added to each result. And its
matrix stands the other way round, one *row* for each output, as if to say:
this row is what this output looks for.

$$y = x W^\top + b$$
*/

void linear_init(Linear *l, Random *r, int d_in, int d_out, int has_bias)
{
    l->d_in = d_in;
    l->d_out = d_out;
    l->weight = new_table(d_out, d_in);
    l->bias = has_bias ? new_table(1, d_out) : NULL;
    linear_fill(r, d_in, d_out, l->weight, l->bias);
}

void linear_free(Linear *l)
{
    free(l->weight);
    free(l->bias);
}

/*
**Exercise 7.1** (★★, 3 points): `linear_forward`. Each row of `x` with each
row of the weight, plus the bias, if there is one.

::: hint
Row with row, all pairs: [](#dot-product) has a function for that.
`l->weight` may be handed to it as it is.
:::

::: hint
`l->bias` is `NULL` where there is none.
:::
*/

void linear_forward(const Linear *l, int n, const float x[n][l->d_in],
                    float y[n][l->d_out])
{
    dot_scores(n, l->d_out, l->d_in, x, l->weight, y);
    if (!l->bias)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l->d_out; j++)
            y[i][j] += l->bias[j];
}

/*
The second version of self-attention is three of these:
*/

void self_v2_init(SelfAttentionV2 *a, Random *r, int d_in, int d_k, int d_v,
                  int has_bias)
{
    linear_init(&a->query, r, d_in, d_k, has_bias);
    linear_init(&a->key, r, d_in, d_k, has_bias);
    linear_init(&a->value, r, d_in, d_v, has_bias);
}

void self_v2_free(SelfAttentionV2 *a)
{
    linear_free(&a->query);
    linear_free(&a->key);
    linear_free(&a->value);
}

void self_v2_forward(const SelfAttentionV2 *a, int n,
                     const float x[n][a->query.d_in], Trace *t)
{
    trace_must_fit(t, n, n, a->query.d_out, a->value.d_out);
    linear_forward(&a->query, n, x, t->query);
    linear_forward(&a->key, n, x, t->key);
    linear_forward(&a->value, n, x, t->value);
    trace_attention(t);
}

static void show_v2(const char *label, int has_bias)
{
    Random r;
    SelfAttentionV2 a;
    Trace t;
    random_seed(&r, 789);
    self_v2_init(&a, &r, 3, 2, 2, has_bias);
    trace_init(&t, 6, 6, 2, 2);
    self_v2_forward(&a, 6, journey, &t);
    print_matrix(label, 6, 2, t.context);
    trace_free(&t);
    self_v2_free(&a);
}

/*
A German tutorial runs it with the seed 789 and without bias [@hacktricks].
With bias, the numbers are entirely different: not only because something is
added, but because the biases are drawn in between, so that the second and
the third matrix are made of other draws.

``` output
version 2, seed 789, no bias (6, 2)
[[-0.0739,  0.0713],
 [-0.0748,  0.0703],
 [-0.0749,  0.0702],
 [-0.0760,  0.0685],
 [-0.0763,  0.0679],
 [-0.0754,  0.0693]]
```

``` output
version 2, seed 789, with bias (6, 2)
[[-0.3427, -0.2720],
 [-0.3439, -0.2692],
 [-0.3438, -0.2693],
 [-0.3417, -0.2728],
 [-0.3412, -0.2736],
 [-0.3426, -0.2714]]
```

::: aside
One tutorial says that the second version uses `nn.Linear` instead of random
values, in order to mark the matrices as parameters [@hacktricks]. But
`nn.Linear` begins with random values too, and the `nn.Parameter` of the
first version is a mark that says the same. Another shows the three lines
with `nn.Linear` as if they could stand in the first class
[@selfattention2025]; there, `x @ self.W_key` would multiply by a module,
and PyTorch refuses. What is gained is the range of the numbers.
:::

## Why the range suits

`torch.rand` draws from 0 to 1, `nn.Linear` from
$-1/\sqrt{d_{in}}$ to $1/\sqrt{d_{in}}$. Let the input have $d$ entries of
spread 1. An entry of a query is a sum of $d$ products. With numbers from 0
to 1, whose squares have the mean $\frac13$, its spread is $\sqrt{d/3}$,
which grows with $d$; that of a score grows like $d$. With `nn.Linear`'s
numbers, the mean of the squares is $\frac{1}{3d}$, and the $d$ cancels: the
spread of an entry is $\sqrt{1/3}$ for any width.

[](#scaling) divided by $\sqrt{d_k}$ on the assumption that queries and keys
have entries of a moderate size. It is the matrices that must see to it. We
let six random words attend to each other, fifty times, with 64 entries for
queries and keys, and take the mean of the largest share:
*/

enum { TIMES = 50, D_K = 64 };

static float largest_v1(int d)
{
    Random r;
    SelfAttentionV1 a;
    Trace t;
    float(*x)[d] = (void *)new_table(6, d), sum = 0;
    random_seed(&r, 123);
    self_v1_init(&a, &r, d, D_K, 1);
    trace_init(&t, 6, 6, D_K, 1);
    for (int i = 0; i < TIMES; i++) {
        normal_fill(&r, 6, d, 0, 1, x);
        self_v1_forward(&a, 6, x, &t);
        sum += mean_largest(6, 6, t.weights);
    }
    trace_free(&t);
    self_v1_free(&a);
    free(x);
    return sum / TIMES;
}

static float largest_v2(int d)
{
    Random r;
    SelfAttentionV2 a;
    Trace t;
    float(*x)[d] = (void *)new_table(6, d), sum = 0;
    random_seed(&r, 123);
    self_v2_init(&a, &r, d, D_K, 1, 0);
    trace_init(&t, 6, 6, D_K, 1);
    for (int i = 0; i < TIMES; i++) {
        normal_fill(&r, 6, d, 0, 1, x);
        self_v2_forward(&a, 6, x, &t);
        sum += mean_largest(6, 6, t.weights);
    }
    trace_free(&t);
    self_v2_free(&a);
    free(x);
    return sum / TIMES;
}

static void show_ranges(void)
{
    const int sizes[3] = {3, 64, 4096};
    float table[3][3];
    for (int i = 0; i < 3; i++) {
        table[i][0] = (float)sizes[i];
        table[i][1] = largest_v1(sizes[i]);
        table[i][2] = largest_v2(sizes[i]);
    }
    print_matrix("d, largest share with rand, with nn.Linear", 3, 3, table);
}

/*
``` output
d, largest share with rand, with nn.Linear (3, 3)
[[   3.0000,    0.7145,    0.2229],
 [  64.0000,    0.9732,    0.2457],
 [4096.0000,    1.0000,    0.2435]]
```

With `rand`, a wide model would be saturated before it had learned anything,
division or no division. With `nn.Linear`, the largest of six shares stays
near one quarter, for a width of 3 as for one of 4,096.

## Copied across

If both versions are the same computation, they must give the same result
from the same numbers.

**Exercise 7.2** (★★, 3 points): `copy_v2_to_v1`. The three weights of one
version, put into the matrices of the other. It refuses sizes that differ,
and a bias, for which the first version has no place.

::: hint
One has a row for each output, the other a column.
:::

::: hint
[](#dot-product) has a function that exchanges rows and columns. Its first
two sizes are those of the table it is given.
:::
*/

void copy_v2_to_v1(const SelfAttentionV2 *from, SelfAttentionV1 *to)
{
    const int d_in = from->query.d_in, d_k = from->query.d_out;
    const int d_v = from->value.d_out;
    if (to->d_in != d_in || to->d_k != d_k || to->d_v != d_v)
        REFUSE("sizes d_in, d_k, d_v = %d, %d, %d: %d, %d, %d are needed",
               to->d_in, to->d_k, to->d_v, d_in, d_k, d_v);
    if (from->query.bias || from->key.bias || from->value.bias)
        REFUSE("a version 2 with bias: one without is needed, since "
               "version 1 has no place for it");
    transpose(d_k, d_in, from->query.weight, to->w_query);
    transpose(d_k, d_in, from->key.weight, to->w_key);
    transpose(d_v, d_in, from->value.weight, to->w_value);
}

/*
We copy the second version of seed 789 into a first version, and while we
are at it, also let it see the sentence backwards. (`embed` of [](#tokens)
picks rows by number; it can put them into another order as well.)

::: question
The words come in another order: *step one with starts journey Your*. What
happens to their context vectors?

They come in the other order too, and are otherwise the same.
:::
*/

static void show_copy(void)
{
    const int backwards[6] = {5, 4, 3, 2, 1, 0};
    Random r;
    SelfAttentionV1 v1;
    SelfAttentionV2 v2;
    Trace t;
    float x[6][3];
    random_seed(&r, 789);
    self_v2_init(&v2, &r, 3, 2, 2, 0);
    self_v1_init(&v1, &r, 3, 2, 2);
    copy_v2_to_v1(&v2, &v1);
    trace_init(&t, 6, 6, 2, 2);
    self_v1_forward(&v1, 6, journey, &t);
    print_matrix("version 1 with the weights of version 2", 6, 2,
                 t.context);
    embed(6, 3, 6, backwards, journey, x);
    self_v1_forward(&v1, 6, x, &t);
    print_matrix("the sentence backwards", 6, 2, t.context);
    trace_free(&t);
    self_v2_free(&v2);
    self_v1_free(&v1);
}

/*
``` output
version 1 with the weights of version 2 (6, 2)
[[-0.0739,  0.0713],
 [-0.0748,  0.0703],
 [-0.0749,  0.0702],
 [-0.0760,  0.0685],
 [-0.0763,  0.0679],
 [-0.0754,  0.0693]]
```

``` output
the sentence backwards (6, 2)
[[-0.0754,  0.0693],
 [-0.0763,  0.0679],
 [-0.0760,  0.0685],
 [-0.0749,  0.0702],
 [-0.0748,  0.0703],
 [-0.0739,  0.0713]]
```

The first table is that of version 2 without bias, to the last digit. The
second is the first read from below. Attention takes no notice of the order
of words: each gets the same mixture wherever it stands. *Dog bites man* and
*man bites dog* are the same to it. Models therefore add to each embedding
something that depends on the position, before attention sees it. A later
chapter does that.

## Trained, without calculus

So far a seed has decided what each word looks at. What does it take to make
*likes* look at *fish*, as in [](#qkv), without making the matrices by hand?

We need a number that says how far we are from it. Take the share that
*likes* gives to *fish*, and its logarithm with the sign turned. That is 0
if the share is 1, and the larger, the smaller the share is. Such a number
is called a **loss**.

The loss depends on twelve weights, six in the matrix for the queries and
six in that for the keys. Raise one of them by a hundredth, lower it by a
hundredth, and see how the loss differs: this gives its **slope**, how much
the loss would change if the weight were raised by one. Then move each
weight a little in the direction in which the loss falls. That is all, again
and again.
*/

static const float cat_likes_fish[3][3] = {
    /* animal, deed, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish */
};

static float loss(const SelfAttentionV1 *a, Trace *t)
{
    self_v1_forward(a, 3, cat_likes_fish, t);
    const float(*weights)[3] = t->weights;
    return -logf(weights[1][2]);
}

/* How steeply the loss rises with one weight, which stays as it was. */
static float slope(const SelfAttentionV1 *a, Trace *t, float *weight)
{
    const float was = *weight, step = 0.01f;
    *weight = was + step;
    const float above = loss(a, t);
    *weight = was - step;
    const float below = loss(a, t);
    *weight = was;
    return (above - below) / (2 * step);
}

static void train_once(const SelfAttentionV1 *a, Trace *t)
{
    float slopes[2][6], *const weight[2] = {a->w_query, a->w_key};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 6; j++)
            slopes[i][j] = slope(a, t, &weight[i][j]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 6; j++)
            weight[i][j] -= 0.5f * slopes[i][j];
}

static void show_training(void)
{
    enum { ROUNDS = 5, STEPS = 20 };
    Random r;
    SelfAttentionV1 a;
    Trace t;
    float losses[ROUNDS + 1];
    random_seed(&r, 123);
    self_v1_init(&a, &r, 3, 2, 2);
    trace_init(&t, 3, 3, 2, 2);
    losses[0] = loss(&a, &t);
    print_matrix("weights of cat, likes, fish, before", 3, 3, t.weights);
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < STEPS; j++)
            train_once(&a, &t);
        losses[i + 1] = loss(&a, &t);
    }
    print_vector("loss, before and after every twenty steps", ROUNDS + 1,
                 losses);
    print_matrix("weights of cat, likes, fish, after", 3, 3, t.weights);
    trace_free(&t);
    self_v1_free(&a);
}

/*
``` output
weights of cat, likes, fish, before (3, 3)
[[0.2746, 0.3484, 0.3770],
 [0.2601, 0.3554, 0.3844],
 [0.2004, 0.3735, 0.4261]]
loss, before and after every twenty steps (6)
[0.9560, 0.0240, 0.0090, 0.0053, 0.0036, 0.0028]
weights of cat, likes, fish, after (3, 3)
[[0.1983, 0.1314, 0.6703],
 [0.0024, 0.0003, 0.9972],
 [0.0513, 0.0203, 0.9284]]
```

After a hundred steps *likes* gives 0.9972 of its attention to *fish*.
Nobody has told the weights how. But look at the other rows: now *fish*
looks at itself, and so does *cat* look at *fish*. We have asked for one
thing only, and got it in the easiest way, which was to make *fish* easy to
find for everyone. A model learns what its loss asks for, and nothing else.

Each slope took two computations of the whole attention, so one step takes
24. For a model with billions of weights that is out of the question. There
is a way to get all slopes from one computation and a second one that runs
backwards through it, and training is then a matter of patience.

## Everything together
*/

int main(void)
{
    float x[6][3];
    life_is_short(x);
    pipeline("pipeline", "roles scores scale weights context");
    show_shapes();
    show_v1("version 1, seed 123, journey", journey, 2);
    show_v1("version 1, seed 123, Life is short", x, 4);
    show_v2("version 2, seed 789, no bias", 0);
    show_v2("version 2, seed 789, with bias", 1);
    show_ranges();
    show_copy();
    show_training();
    return 0;
}

/*
The same in PyTorch, first version 2 on the journey, then the training. Here
PyTorch finds the slopes by its own way, `backward()`, and arrives at the
same losses.

``` python
import torch
import torch.nn.functional as F

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(789)
roles = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
print(F.scaled_dot_product_attention(*[role(journey) for role in roles]))

words = torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]])
torch.manual_seed(123)
W = [torch.rand(3, 2, requires_grad=True) for _ in range(2)]
losses = []
for step in range(101):
    scores = (words @ W[0]) @ (words @ W[1]).T / 2**0.5
    loss = -F.log_softmax(scores, dim=-1)[1, 2]
    losses += [loss.item()] if step % 20 == 0 else []
    for w, slope in zip(W, torch.autograd.grad(loss, W)):
        w.data -= 0.5 * slope
print(torch.tensor(losses))
print(F.softmax(scores, dim=-1))
```

This is one head, complete: words to vectors, vectors to roles, roles to a
mixture for each word, with parameters that can be trained. What follows are
variations. Queries may come from another text than the keys; words may be
hidden; several heads may work side by side.

## Further exercises

**Exercise 7.3** (★★, challenge, 3 points): `permute_tokens`. Row `i` of the
result is row `order[i]` of `x`. It refuses an order in which a row is
missing, which is one in which another stands twice.

::: hint
In an order that is right, how often does each number from 0 to `n - 1`
occur?
:::

**Exercise 7.4** (by hand): How many parameters has a first version with
three inputs, two entries for queries and keys, and four for values? And a
second version with bias?

**Exercise 7.5** (by hand): One of the three biases of the second version
can never change an attention weight, whatever its numbers are. Which one,
and why?

## Solutions

::: {.solution exercise="7.3"}
A number that is no row at all would be found by `embed`, too; one that
stands twice would not.
*/

void permute_tokens(int n, int d, const int order[n], const float x[n][d],
                    float permuted[n][d])
{
    for (int row = 0; row < n; row++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            count += order[i] == row;
        if (count != 1)
            REFUSE("row %d stands %d times in the order: once is needed",
                   row, count);
    }
    embed(n, d, n, order, x, permuted);
}

/*
:::

::: {.solution exercise="7.4"}
Three times 2, and again, and three times 4: 24. The biases add 2, 2 and 4:
32.
:::

::: {.solution exercise="7.5"}
That of the keys. It adds the same list $b$ to every key, and so the same
number $q \cdot b$ to every score of a query; and softmax sees differences
only. That of the queries adds $b \cdot k_j$, which is another number for
each key. That of the values does not touch the weights at all, but it
is added to every context vector, since the weights add up to one. So of the
three it is the bias of the keys that does nothing.
:::
*/
