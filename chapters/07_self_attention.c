/*
# Parameters and one function {#self-attention}

![The way from words to attention. This chapter puts the shaded steps into
one object](pipeline.svg){#fig-self-attention-pipeline}

The formula is complete, but it is tiresome to use. Three matrices have to
be drawn in the right order and handed on with their sizes, and so have all
the results. A model has dozens of attentions, one after the other. And we
want to do things with them: copy one into another, let it see a sentence
backwards, and at last train one, so that *likes* looks at *fish* without
our making its matrices by hand.

So let us keep together what belongs together: the parameters, and the one
function that uses them. In Python that is a **class**, which has a function
`__init__` to make the parameters and one, `forward`, to use them. In C it
is a `struct`, and functions whose first argument points to it. We call it a
**module**, as PyTorch does. Its functions end in `_init`, `_forward` and
`_free`.
*/

#include "attention.h"

/*
## The first version {#self-attention-first}

Two of our tutorials write the class in the same way [@selfattention2025;
@raschka2024magazine]: three matrices, drawn by `torch.rand` in the order
query, key, value. The header calls it `SelfAttentionV1`; *self*, because
the words ask the words of their own sentence.

::: {.header of="SelfAttentionV1"}
:::

The type of a table in C has its width in it, and the widths are known only
when the program runs. So a struct holds a table as a `float *`, all its
entries row after row. To get at its rows we need a pointer of another type.
`float (*w)[6]`, read from the inside out, says that `w` points to rows of
six floats, so that `w[1]` is a row and `w[1][2]` an entry. The cast
`(void *)` turns the one pointer into the other, here in each call of a
function that takes a table. It moves nothing, and the width is our word: no
compiler checks it.

In `(SelfAttentionV1){.d_in = d_in}`, a struct is written down with some of
its fields. Those that are not named are 0.
*/

void self_v1_init(SelfAttentionV1 *a, Random *r, int d_in, int d_k, int d_v)
{
    *a = (SelfAttentionV1){.d_in = d_in, .d_k = d_k, .d_v = d_v};
    a->w_query = new_table(d_in, d_k);
    a->w_key = new_table(d_in, d_k);
    a->w_value = new_table(d_in, d_v);
    rand_fill(r, d_in, d_k, (void *)a->w_query);
    rand_fill(r, d_in, d_k, (void *)a->w_key);
    rand_fill(r, d_in, d_v, (void *)a->w_value);
}

void self_v1_free(SelfAttentionV1 *a)
{
    free(a->w_query);
    free(a->w_key);
    free(a->w_value);
    *a = (SelfAttentionV1){0};
}

/*
`forward` computes six tables: queries, keys, values, scores, attention
weights and context vectors. We may want to see any of them. They get a
struct of their own, the **trace** of a computation. Whoever calls `forward`
makes it, and may use it again.

::: {.header of="Trace"}
:::

Six of the tables are this chapter's. The others wait for the chapters that
the comments name. With a single head and no output, `query` is $n \times
d_k$, as you would expect, and `context` $n \times d_v$.

One fills in the sizes, as in `Trace t = {.n = 6, ...}`, with all others 0;
and `trace_init` makes room for the tables, in a single block of memory.
Since the types no longer say that a trace has the sizes that a module
needs, `trace_must_fit` has to check it. Neither has anything to do with
attention, and both are in `src/objects.c`. From queries, keys and values on
there is nothing new, only the formula, for the one head that we have.
*/

void attend_trace(Trace *t)
{
    if (t->n_heads != 1 || t->d_out != 0)
        REFUSE("a trace for %d heads and %d columns of output: 1 and 0 are "
               "needed",
               t->n_heads, t->d_out);
    t->rate = 0; /* until chapter 11 */
    attention(t->n, t->m, t->d_k, t->d_v, (void *)t->query, (void *)t->key,
              (void *)t->value, (void *)t->scores, (void *)t->weights,
              (void *)t->context);
}

/*
With that, the first version is complete. One such attention, with its three
matrices, is called a **head**.
*/

void self_v1_forward(const SelfAttentionV1 *a, int n,
                     const float x[n][a->d_in], Trace *t)
{
    trace_must_fit(t, n, n, 1, a->d_k, a->d_v, 0);
    project(n, a->d_in, a->d_k, a->d_v, x, (void *)a->w_query,
            (void *)a->w_key, (void *)a->w_value, (void *)t->query,
            (void *)t->key, (void *)t->value);
    attend_trace(t);
}

/*
One of the two tutorials runs it on the journey, with two outputs a word,
the other on *Life is short*, with four. Both take the seed 123.
*/

/* Blocks with the shapes that the module and its trace have. */
static void draw_shapes(const SelfAttentionV1 *a, const Trace *t)
{
    const Block x = {"x", t->n, a->d_in, 1, "·"};
    const Block block[] = {
        x,
        {"W_query", a->d_in, a->d_k, 1, "="},
        {"query", t->n, t->d_k, 1, NULL},
        x,
        {"W_key", a->d_in, a->d_k, 1, "="},
        {"key", t->m, t->d_k, 1, NULL},
        x,
        {"W_value", a->d_in, a->d_v, 1, "="},
        {"value", t->m, t->d_v, 1, NULL},
        {"query", t->n, t->d_k, 1, "·"},
        {"keyᵀ", t->d_k, t->m, 1, "="},
        {"scores", t->n, t->m, 1, "→"},
        {"weights", t->n, t->m, 1, NULL},
        {"weights", t->n, t->m, 1, "·"},
        {"value", t->m, t->d_v, 1, "="},
        {"context", t->n, t->d_v, 1, NULL},
    };
    blocks("shapes", "The shapes of one head",
           sizeof block / sizeof block[0], block);
}

static void show_v1(const char *label, const float x[6][3], int d_v)
{
    Random r;
    SelfAttentionV1 a;
    Trace t = {.n = 6, .m = 6, .n_heads = 1, .d_k = 2, .d_v = d_v};
    random_seed(&r, 123);
    self_v1_init(&a, &r, 3, 2, d_v);
    trace_init(&t);
    self_v1_forward(&a, 6, x, &t);
    print_matrix(label, 6, d_v, (void *)t.context);
    if (d_v == 4)
        draw_shapes(&a, &t);
    trace_free(&t);
    self_v1_free(&a);
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
*journey* is the second word. The other five are computed along with it. In
the second sentence, the second row is that of *is*:

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
-0.2626 and that number that it depends on the order in which a processor
adds.
:::

Since shapes are easily lost, here is the whole computation as blocks. Two
blocks can be multiplied where the width of the left one is the height of
the right one; that size is summed over and disappears.

![The shapes of one head, from six words of three entries to six context
vectors of four. Division and softmax change no
shape](shapes.svg){#fig-shapes}

## The second version {#self-attention-second}

PyTorch has a module for "multiply by a matrix", `nn.Linear`. [](#random)
drew its numbers; now we compute with it. It differs from a plain product in
two ways. It may have a bias, a list that is added to each result. And its
matrix, the **weight**, stands the other way round, with a row for each
output. With $x$ for the embedding of one token and $b$ for the bias, it
computes

$$x W^\top + b$$

::: {.header of="Linear"}
:::

**Exercise 7.1** (★★, 3 points): `linear_forward`. Each row of `x` with each
row of the weight, plus the bias, if there is one.

::: hint
Row with row, all pairs: [](#dot-product) has a function for that.
`(void *)l->weight` may be handed to it as it is.
:::

::: hint
`l->bias` is `NULL` where there is none.
:::
*/

void linear_forward(const Linear *l, int n, const float x[n][l->d_in],
                    float out[n][l->d_out])
{
    dot_scores(n, l->d_out, l->d_in, x, (void *)l->weight, out);
    if (!l->bias)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l->d_out; j++)
            out[i][j] += l->bias[j];
}

/*
The second version of self-attention is three of these, one for each role.
It is also the module with which this book goes on: whatever attention is
to learn in later chapters, to look at another text, to look back, to have
several heads, will be a setting of this one, or something that it is given
together with the text.

::: {.header of="Attention"}
:::

What the later chapters bring is 0 until then, and stays out of the way. As
with a trace, one fills in the sizes, and `attention_init` makes room for
the parameters. They lie in one block too, weight, bias, weight, bias, so
that whoever wants to do something with every parameter, no matter which,
will need one loop. (That is what training does. In this chapter it makes do
with the first version.)

Version 2 has one width for the input, and one head. Its three layers draw
their numbers one after the other.
*/

void self_attention_init(Attention *a, Random *r, int d_in, int d_k,
                         int d_v, int has_bias)
{
    *a = (Attention){.d_x = d_in,
                     .d_y = d_in,
                     .n_heads = 1,
                     .d_k = d_k,
                     .d_v = d_v,
                     .has_bias = has_bias};
    attention_init(a);
    linear_fill(r, d_in, d_k, (void *)a->query.weight, a->query.bias);
    linear_fill(r, d_in, d_k, (void *)a->key.weight, a->key.bias);
    linear_fill(r, d_in, d_v, (void *)a->value.weight, a->value.bias);
}

/*
The roles are one function, and `forward` is the roles and the formula. The
tokens that ask, $x$, and those that are asked, $y$, are the same here. They
need not stay so. `attention_must_fit` refuses a trace of other sizes, and
layers that somebody has changed so that they no longer fit together;
`widths_must_agree`, an attention whose $x$ and $y$ have different widths,
where both are to be one text. And `trace_for(&a, n, m)` makes a trace that
fits. It hands the struct over by value, which copies the pointers and not
the tables.
*/

void attention_roles(const Attention *a, int n, int m,
                     const float x[n][a->d_x], const float y[m][a->d_y],
                     Trace *t)
{
    if ((const void *)x == (const void *)y)
        widths_must_agree(a);
    attention_must_fit(a, n, m, t);
    linear_forward(&a->query, n, x, (void *)t->query);
    linear_forward(&a->key, m, y, (void *)t->key);
    linear_forward(&a->value, m, y, (void *)t->value);
}

void self_attention_forward(const Attention *a, int n,
                            const float x[n][a->d_x], Trace *t)
{
    attention_roles(a, n, n, x, x, t);
    attend_trace(t);
}

static void show_v2(const char *label, int has_bias)
{
    Random r;
    Attention a;
    random_seed(&r, 789);
    self_attention_init(&a, &r, 3, 2, 2, has_bias);
    Trace t = trace_for(&a, 6, 6);
    self_attention_forward(&a, 6, journey, &t);
    const float(*weights)[6] = (void *)t.weights;
    print_matrix(label, 6, 2, (void *)t.context);
    print_vector("attention weights of journey", 6, weights[1]);
    trace_free(&t);
    attention_free(&a);
}

/*
A German tutorial runs it with the seed 789 and without bias [@hacktricks].

``` output
version 2, seed 789, no bias (6, 2)
[[-0.0739,  0.0713],
 [-0.0748,  0.0703],
 [-0.0749,  0.0702],
 [-0.0760,  0.0685],
 [-0.0763,  0.0679],
 [-0.0754,  0.0693]]
attention weights of journey (6)
[0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477]
```

With bias, the numbers are entirely different. Something is added, but that
is not all: the biases are drawn in between, so that the second and the
third matrix are made of other draws.

``` output
version 2, seed 789, with bias (6, 2)
[[-0.3427, -0.2720],
 [-0.3439, -0.2692],
 [-0.3438, -0.2693],
 [-0.3417, -0.2728],
 [-0.3412, -0.2736],
 [-0.3426, -0.2714]]
attention weights of journey (6)
[0.1538, 0.1744, 0.1767, 0.1512, 0.2096, 0.1342]
```

In both tables, the six rows are almost the same. As the weights of
*journey* show, a word takes something like one sixth of each of the six,
and so all get much the same mixture. The numbers that `nn.Linear` draws are
small, which makes small scores, which make even shares. Is that what one
wants?

## Why the range suits {#self-attention-range}

`torch.rand` draws from 0 to 1, whatever the size of the matrix; `nn.Linear`
draws from $-1/\sqrt{d_{\text{in}}}$ to $1/\sqrt{d_{\text{in}}}$, a range
that shrinks as the matrix has more inputs. An entry of a query is a sum of
$d_{\text{in}}$ products. By the reasoning of [](#scaling), its spread grows
with the root of $d_{\text{in}}$, unless the numbers in the matrix shrink
with it. With `nn.Linear` they do.

To see the difference, we let six random words attend to each other, fifty
times, with 64 entries for queries and keys. We measure the spread of the
queries' entries, and the largest of six shares.
*/

enum { TIMES = 50, D_K = 64 };

/* Measures, with matrices from rand or from nn.Linear: d, the spread of the
 * queries' entries, and the mean of the largest share. */
static void measure(int d, int is_rand, float measured[3])
{
    Random r;
    Attention a;
    float(*x)[d] = (void *)new_table(6, d);
    random_seed(&r, 123);
    self_attention_init(&a, &r, d, D_K, 1, 0);
    if (is_rand) {
        rand_fill(&r, D_K, d, (void *)a.query.weight);
        rand_fill(&r, D_K, d, (void *)a.key.weight);
    }
    Trace t = trace_for(&a, 6, 6);
    measured[0] = (float)d;
    measured[1] = measured[2] = 0;
    for (int i = 0; i < TIMES; i++) {
        normal_fill(&r, 6, d, 0, 1, x);
        self_attention_forward(&a, 6, x, &t);
        measured[1] += score_spread(6 * D_K, t.query) / TIMES;
        measured[2] += mean_largest(6, 6, (void *)t.weights) / TIMES;
    }
    trace_free(&t);
    attention_free(&a);
    free(x);
}

static void show_ranges(void)
{
    const int sizes[3] = {3, 64, 4096};
    float table[2][3][3];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            measure(sizes[i], k == 0, table[k][i]);
    print_matrix("rand: d_in, spread of queries, largest share", 3, 3,
                 table[0]);
    print_matrix("nn.Linear: d_in, spread of queries, largest share", 3, 3,
                 table[1]);
}

/*
``` output
rand: d_in, spread of queries, largest share (3, 3)
[[   3.0000,    0.8937,    0.6685],
 [  64.0000,    4.2243,    0.9707],
 [4096.0000,   35.3345,    0.9999]]
nn.Linear: d_in, spread of queries, largest share (3, 3)
[[   3.0000,    0.5614,    0.2229],
 [  64.0000,    0.5801,    0.2457],
 [4096.0000,    0.5753,    0.2435]]
```

With `rand`, a wide model is saturated before it has learned anything. The
division by $\sqrt{d_k}$ does not help: it makes up for the size of queries
and keys only if their entries are of a moderate size, and that is for the
matrices to see to. With `nn.Linear` the spread is the same for every width,
and the largest of six shares stays near one quarter. Training begins with a
model that gives a hearing to every word.

::: aside
One tutorial says that the second version uses `nn.Linear` instead of random
values, to mark the matrices as parameters [@hacktricks]. But `nn.Linear`
begins with random values too, and the first version, in Python, has its
matrices marked as well. What is gained is the range.
:::

## Copied across {#self-attention-order}

If both versions are the same computation, they must give the same result
from the same numbers.

**Exercise 7.2** (★★, 3 points): `copy_v2_to_v1`. The weights of the three
layers, put into the three matrices of the first version. It refuses sizes
that differ, and what the first version has no place for: a bias, several
heads (`n_heads` other than 1), an output layer (`d_out` other than 0).

::: hint
Begin with `layers_must_fit(from)` and `widths_must_agree(from)`.
:::

::: hint
One has a row for each output, the other a column.
:::

::: hint
[](#dot-product) has a function that exchanges rows and columns. Its first
two sizes are those of the table it is given.
:::
*/

void copy_v2_to_v1(const Attention *from, SelfAttentionV1 *to)
{
    const int d_in = from->d_x, d_k = from->d_k, d_v = from->d_v;
    layers_must_fit(from);
    widths_must_agree(from);
    if (to->d_in != d_in || to->d_k != d_k || to->d_v != d_v)
        REFUSE("sizes d_in, d_k, d_v = %d, %d, %d: %d, %d, %d are needed",
               to->d_in, to->d_k, to->d_v, d_in, d_k, d_v);
    if (from->n_heads != 1 || from->d_out)
        REFUSE("a version 2 with %d heads and %d columns of output: 1 and "
               "0 are needed",
               from->n_heads, from->d_out);
    if (from->has_bias)
        REFUSE("a version 2 with bias: one without is needed, since "
               "version 1 has no place for it");
    transpose(d_k, d_in, (void *)from->query.weight, (void *)to->w_query);
    transpose(d_k, d_in, (void *)from->key.weight, (void *)to->w_key);
    transpose(d_v, d_in, (void *)from->value.weight, (void *)to->w_value);
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
    Attention v2;
    float x[6][3];
    random_seed(&r, 789);
    self_attention_init(&v2, &r, 3, 2, 2, 0);
    self_v1_init(&v1, &r, 3, 2, 2);
    copy_v2_to_v1(&v2, &v1);
    Trace t = trace_for(&v2, 6, 6);
    self_v1_forward(&v1, 6, journey, &t);
    print_matrix("version 1 with the numbers of version 2", 6, 2,
                 (void *)t.context);
    embed(6, 3, 6, backwards, journey, x);
    self_v1_forward(&v1, 6, x, &t);
    print_matrix("the sentence backwards", 6, 2, (void *)t.context);
    trace_free(&t);
    attention_free(&v2);
    self_v1_free(&v1);
}

/*
``` output
version 1 with the numbers of version 2 (6, 2)
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
*man bites dog* are the same to it. So before attention sees an embedding,
models add something to it that depends on the position.

## Trained, without calculus {#self-attention-training}

So far a seed has decided what each word looks at. What does it take to make
*likes* look at *fish*, as in [](#qkv), without making the matrices by hand?

We need a number that says how far we are from that. Take the share that
*likes* gives to *fish*, take its logarithm, which undoes the exponential,
and turn the sign. If the share is 1, this is 0. As the share goes to
nothing, it grows without end, so that a share of one thousandth is clearly
worse than one of one hundredth. A number of this kind is called a **loss**.

The loss depends on twelve numbers, six in the matrix for the queries and
six in that for the keys. Raise one of them by a hundredth, and then lower
it by a hundredth, and see how the loss differs. Divided by the two
hundredths, this is its **slope**: how fast the loss rises with this number.
With all twelve slopes in hand, move each number against its slope, and the
farther, the steeper it is: here, by half the slope. That is one step of
training.
*/

static const char *const words[3] = {"cat", "likes", "fish"};
static const float cat_likes_fish[3][3] = {
    /* animal, deed, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish */
};

static float loss(const SelfAttentionV1 *a, Trace *t)
{
    self_v1_forward(a, 3, cat_likes_fish, t);
    const float(*weights)[3] = (void *)t->weights;
    return -logf(weights[1][2]);
}

/* How steeply the loss rises with a number of a, which is put back. */
static float slope(SelfAttentionV1 *a, Trace *t, float *number)
{
    const float was = *number, step = 0.01f;
    *number = was + step;
    const float above = loss(a, t);
    *number = was - step;
    const float below = loss(a, t);
    *number = was;
    return (above - below) / (2 * step);
}

/* All slopes are taken before a number is moved: a slope holds for the
 * place where it was taken. */
static void train_once(SelfAttentionV1 *a, Trace *t)
{
    float *const matrix[2] = {a->w_query, a->w_key};
    float slopes[2][3 * 2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3 * 2; j++)
            slopes[i][j] = slope(a, t, &matrix[i][j]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3 * 2; j++)
            matrix[i][j] -= 0.5f * slopes[i][j];
}

static void show_training(void)
{
    enum { ROUNDS = 5, STEPS = 20 };
    Random r;
    SelfAttentionV1 a;
    Trace t = {.n = 3, .m = 3, .n_heads = 1, .d_k = 2, .d_v = 2};
    float losses[ROUNDS + 1], map[2][3][3];
    random_seed(&r, 123);
    self_v1_init(&a, &r, 3, 2, 2);
    trace_init(&t);
    losses[0] = loss(&a, &t);
    print_matrix("attention weights of cat, likes, fish, before", 3, 3,
                 (void *)t.weights);
    memcpy(map[0], t.weights, sizeof map[0]);
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < STEPS; j++)
            train_once(&a, &t);
        losses[i + 1] = loss(&a, &t);
    }
    print_vector("loss, before and after every twenty steps", ROUNDS + 1,
                 losses);
    print_matrix("attention weights of cat, likes, fish, after", 3, 3,
                 (void *)t.weights);
    memcpy(map[1], t.weights, sizeof map[1]);
    maps("trained", "What each word takes of each", 2,
         (const char *const[]){"before training", "after"}, 3, words, 3,
         words, map);
    trace_free(&t);
    self_v1_free(&a);
}

/*
``` output
attention weights of cat, likes, fish, before (3, 3)
[[0.2746, 0.3484, 0.3770],
 [0.2601, 0.3554, 0.3844],
 [0.2004, 0.3735, 0.4261]]
loss, before and after every twenty steps (6)
[0.9560, 0.0240, 0.0090, 0.0053, 0.0036, 0.0028]
attention weights of cat, likes, fish, after (3, 3)
[[0.1983, 0.1314, 0.6703],
 [0.0024, 0.0003, 0.9972],
 [0.0513, 0.0203, 0.9284]]
```

![Before training, and after a hundred steps. The middle row was asked
for; the other two changed on the way](trained.svg){#fig-trained}

After a hundred steps, *likes* gives 0.9972 of its attention to *fish*.
Nobody has told the twelve numbers how. But look at the other rows: *cat*
looks at *fish* now, and *fish* at itself. We asked for one thing, and got
it in the easiest way, by making *fish* easy to find for everyone. A model
learns what its loss asks for. What the loss says nothing about may change
as well.

Each of the twelve slopes took two computations of the whole attention, in
each step. For a model with billions of numbers that is out of the question.
There is a way to get all slopes from a single computation and a second one
that runs backwards through it, and training is then a matter of patience.

## Everything together
*/

int main(void)
{
    float x[6][3];
    life_is_short(x);
    pipeline("pipeline", "roles scores scale weights context");

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
The same in PyTorch, first version 2 on the journey, then the training.
`torch.autograd.grad` finds the slopes in the other way, by running
backwards, and arrives at the same losses.

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

This is one head, complete: words become vectors, vectors take on three
roles, and the roles make a mixture for each word, with parameters that can
be trained. What follows are variations. Queries may come from another text
than the keys; words may be hidden; several heads may work side by side.

## Further exercises

**Exercise 7.3** (★★, challenge, 3 points): `permute_tokens`. Row `i` of the
result is row `order[i]` of `x`. It refuses an order that does not name each
row exactly once.

::: hint
In an order that is right, how often does each number from 0 to `n - 1`
occur?
:::

**Exercise 7.4** (by hand): How many parameters has a first version with
three inputs, two entries for queries and keys, and four for values? And a
second version with bias?

**Exercise 7.5** (by hand): One of the three biases of the second version
changes nothing in the result, whatever its numbers are. Which one, and why?

## Solutions

::: {.solution exercise="7.3"}
`embed` does the copying. By itself it would refuse a number that is no row,
but not one that stands twice.
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
Three times 2, and again, and three times 4, which is two dozen. The biases
add 2, 2 and 4.
:::

::: {.solution exercise="7.5"}
That of the keys. It adds the same list $b$ to every key, and so the same
number $q \cdot b$ to every score of a query; and softmax sees differences
only. The bias of the queries adds $b \cdot k_j$ to the scores, another
number for each key. That of the values changes no weight, but it is added
to every context vector, since the weights add up to one.
:::
*/
