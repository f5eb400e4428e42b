/*
# Self-attention: parameters and one function {#self-attention}

![The way from words to attention. This chapter puts the shaded steps into
one object](pipeline.svg){#fig-self-attention-pipeline}

The formula is complete, but tiresome to use. Three matrices have to be
drawn in the right order and handed on with their sizes, and all the results
have to be handed on as well. And we want to do things with an attention:
copy its matrices, and at last train them, so that *likes* looks at *fish*
without our help. So let us keep together what belongs together: the
parameters, and the one function that uses them.
*/

#include "attention/07_self_attention.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/03_qkv.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/B_random.h"
#include "attention/attention_object.h"
#include "support.h"

/*
## The first version {#self-attention-first}

In Python, parameters and their function form a **class**: its function
`__init__` makes the parameters, and its function `forward` uses them. In C
a class becomes a `struct`, with functions whose first argument points to
it. PyTorch calls such a class a **module**, and so do we. The names of a
module's functions end in `_init`, `_forward` and `_free`. Our module is
called **self-attention**, since the words ask the words of their own
sentence.

Raschka's book writes the class twice [@raschka2024book]. The first version
has three matrices as plain tables, drawn by `torch.rand`. We have written
both its steps: `qkv_from_seed` draws the matrices and multiplies by them
([](#random)), and `attention` is the formula. The second version keeps its
parameters in layers, as libraries do, and this book goes on with the
second. Later, we copy the parameters of the second version into the first,
to see that both compute the same.

`forward` computes six tables, and we may want to print any of them. So all
six are kept in a struct, the **trace** of a computation. Whoever calls
`forward` makes the trace.

::: {.header of="Trace" until="From chapter 11"}
:::

The trace has pointers to its tables. To hand one to a function, we write
`ROWS(d, pointer)`: the pointer, read as a table with rows of `d` floats. A
function whose name ends in `_check` refuses sizes that do not fit. With
queries, keys and values in the trace, only the formula is left:
*/

void attend_trace(Trace *t)
{
    /* It must have memory, one head, and no output layer. */
    trace_check(t, t->n, t->m, 1, t->d_k, t->d_v, 0);
    t->dropout_rate = 0; /* until chapter 11 */
    attention(t->n, t->m, t->d_k, t->d_v, ROWS(t->d_k, t->query),
              ROWS(t->d_k, t->key), ROWS(t->d_v, t->value),
              ROWS(t->m, t->scores), ROWS(t->m, t->weights),
              ROWS(t->d_v, t->context));
}

/*
One such attention, with its three matrices, is called a **head**. From seed
123, *Self-Attention, Retold* runs a head on the journey, with values of two
entries, and Raschka's article a head on *Life is short*, with values of
four [@selfattention2025; @raschka2024magazine].
*/

/* folded: how this is printed */
/* Blocks with the shapes of words of three entries, and of their trace. */
static void draw_shapes(const Trace *t)
{
    const FigureBlock x = {"x", t->n, 3, 1, "·"};
    const FigureBlock block[] = {x,
                                 {"W_query", 3, t->d_k, 1, "="},
                                 {"query", t->n, t->d_k, 1, NULL},
                                 x,
                                 {"W_key", 3, t->d_k, 1, "="},
                                 {"key", t->m, t->d_k, 1, NULL},
                                 x,
                                 {"W_value", 3, t->d_v, 1, "="},
                                 {"value", t->m, t->d_v, 1, NULL},
                                 {"query", t->n, t->d_k, 1, "·"},
                                 {"keyᵀ", t->d_k, t->m, 1, "="},
                                 {"scores", t->n, t->m, 1, "→"},
                                 {"weights", t->n, t->m, 1, NULL},
                                 {"weights", t->n, t->m, 1, "·"},
                                 {"value", t->m, t->d_v, 1, "="},
                                 {"context", t->n, t->d_v, 1, NULL}};
    figure_blocks("shapes", "The shapes of one head",
                  sizeof block / sizeof block[0], block);
}

static void show_v1(const char *label, const float x[6][3], int d_v)
{
    Trace t, sizes = {.n = 6, .m = 6, .n_heads = 1, .d_k = 2, .d_v = d_v};
    trace_init(&t, &sizes);
    qkv_from_seed(123, 6, 3, 2, d_v, x, ROWS(2, t.query), ROWS(2, t.key),
                  ROWS(d_v, t.value));
    attend_trace(&t);
    print_matrix(label, 6, d_v, ROWS(d_v, t.context));
    if (d_v == 4)
        draw_shapes(&t);
    trace_free(&t);
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

The second row is the context vector of *journey* from [](#scaling). In the
other sentence, the second row is the context vector of *is*:

``` output
version 1, seed 123, Life is short (6, 4)
[[-0.1564,  0.1028, -0.0763, -0.0764],
 [ 0.5313,  1.3607,  0.7891,  1.3110],
 [-0.3542, -0.1234, -0.2626, -0.3706],
 [ 0.0071,  0.3345,  0.0969,  0.1998],
 [ 0.1008,  0.4780,  0.2021,  0.3674],
 [-0.5296, -0.2799, -0.4107, -0.6006]]
```

(The article has [-0.2627]{.quoted} in the third row: the value lies halfway
between that and -0.2626, and the order in which a processor adds decides
[@raschka2024magazine].)

The next figure draws the tables of the whole computation as rectangles. Two
tables can be multiplied where the width of the left table is the height of
the right; that size is summed over and disappears.

![The shapes of one head, from six words of three entries to six context
vectors of four. Division and softmax change no
shape](shapes.svg){#fig-shapes}

## The second version {#self-attention-second}

A step of a model, with its parameters, is called a **layer**. PyTorch's
layer for "multiply by a matrix" is `nn.Linear`, the **linear layer**:

$$\underset{n \times d_{\text{out}}}{Y}
  = \underset{n \times d_{\text{in}}}{X}\;
    \underset{d_{\text{in}} \times d_{\text{out}}}{W^\top}
  + \underset{d_{\text{out}}}{b}$$

Its **parameters** stand in two tables. The **bias** $b$ is added to each
row, and may be left out. The **weight** $W$ is a matrix like ours with rows
and columns exchanged: it has a row for each *output*. The weight of
`nn.Linear(3, 2)` has two rows of three, `[d_out][d_in]`, where `w_query`
has three rows of two. So each entry of the result is the dot product of a
row of $X$ and a row of $W$, plus an entry of $b$.

::: {.header of="Linear"}
:::

**Exercise 7.1** (★★, 3 points): `linear_forward`. Each row of `x` with each
row of the weight, plus the bias, if there is one.

::: hint
Row with row, all pairs: [](#dot-product) has a function for that.
`ROWS(l->d_in, l->weight)` hands it the weight's rows.
:::

::: hint
`l->bias` is `NULL` where there is none.
:::

::: done
You have `nn.Linear`. Most parameters of a language model stand in such
layers.
:::
*/

void linear_forward(const Linear *l, int n, const float x[n][l->d_in],
                    float out[n][l->d_out])
{
    dot_scores(n, l->d_out, l->d_in, x, ROWS(l->d_in, l->weight), out);
    if (!l->bias)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l->d_out; j++)
            out[i][j] += l->bias[j];
}

/*
The second version of self-attention has three linear layers, one for each
role. Later chapters add settings to the struct, which are left out here and
0 until then:

::: {.header of="Attention" until="From chapter 11"}
:::

`self_attention_init` fills in the sizes, and `attention_init` allocates the
parameters. All parameters lie in one array, so that one loop over `memory`
reaches each of them. Then the layers draw their numbers, one after the
other. (Are three biases needed? We do without; and the bias of one layer
never changes a result, as an exercise will show.)
*/

void self_attention_init(Attention *a, Random *r, int d_in, int d_k,
                         int d_v, int has_bias)
{
    Attention sizes = {.n_heads = 1, .d_k = d_k, .d_v = d_v};
    sizes.d_x = sizes.d_y = d_in;
    sizes.has_bias = has_bias;
    attention_init(a, &sizes);
    linear_fill(r, d_in, d_k, ROWS(d_in, a->query.weight), a->query.bias);
    linear_fill(r, d_in, d_k, ROWS(d_in, a->key.weight), a->key.bias);
    linear_fill(r, d_in, d_v, ROWS(d_in, a->value.weight), a->value.bias);
}

/*
`forward` computes the three roles, and then the formula. The tokens that
ask, $x$, and those that are asked, $y$, are the same here; in the next
chapter they are not.
*/

void attention_project(const Attention *a, int n, int m,
                       const float x[n][a->d_x], const float y[m][a->d_y],
                       Trace *t)
{
    if (x[0] == y[0]) /* one table, so d_x and d_y must be equal */
        attention_widths_check(a);
    attention_check(a, n, m, t);
    linear_forward(&a->query, n, x, ROWS(a->query.d_out, t->query));
    linear_forward(&a->key, m, y, ROWS(a->key.d_out, t->key));
    linear_forward(&a->value, m, y, ROWS(a->value.d_out, t->value));
}

void self_attention_forward(const Attention *a, int n,
                            const float x[n][a->d_x], Trace *t)
{
    attention_project(a, n, n, x, x, t);
    attend_trace(t);
}

/* folded: how this is printed */
static void show_v2(void)
{
    Attention a;
    Random r = random_seeded(789);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    Trace t;
    trace_init_for(&t, &a, 6, 6);
    self_attention_forward(&a, 6, journey, &t);
    print_matrix("version 2, seed 789, no bias", 6, 2, ROWS(2, t.context));
    print_vector("attention weights of journey", 6, ROWS(6, t.weights)[1]);
    trace_free(&t);
    attention_free(&a);
}

/*
HackTricks runs the second version with the seed 789 and without bias
[@hacktricks].

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

The six rows are almost the same, since each word takes something like one
sixth of every word. The numbers that `nn.Linear` draws are small. Small
numbers make small scores, and small scores make even shares. Is that what
one wants?

## Why the range suits {#self-attention-range}

`torch.rand` draws from 0 to 1, whatever the size of the matrix. `nn.Linear`
draws from $-a$ to $a$, first the weight and then the bias, with
$a = 1/\sqrt{d_{\text{in}}}$.
*/

void linear_fill(Random *r, int d_in, int d_out, float weight[d_out][d_in],
                 float *bias)
{
    const float limit = (float)(1 / sqrt(d_in));
    uniform_fill(r, d_out, d_in, -limit, limit, weight);
    if (bias) /* a list is a table of one row */
        uniform_fill(r, 1, d_out, -limit, limit, ROWS(d_out, bias));
}

/*
An entry of a query is a sum of $d_{\text{in}}$ products. By the reasoning
of [](#scaling), the spread of such sums grows with the root of
$d_{\text{in}}$, as long as the numbers in the matrix keep their size. Here
the numbers shrink by the same root. [](#random-bell) has measured the
spread of numbers that are uniform between $-1$ and 1: 0.5782, nearly
$1/\sqrt{3}$. Between $-a$ and $a$ the spread is $a/\sqrt{3}$. Where
embeddings have the spread 1, each product has the spread $a/\sqrt{3}$, and
a sum of $d_{\text{in}}$ products has $\sqrt{d_{\text{in}}}$ times that.
Since $a$ is $1/\sqrt{d_{\text{in}}}$, the root cancels: the entries of
queries have the spread $1/\sqrt{3}$, whatever the width.

To see the difference, six random words attend to each other, with 64
entries for queries and keys. The same matrices serve for six other words,
and others again, fifty times in all.
*/

/* folded: how this is printed */
/* With matrices from rand or from nn.Linear: d_in, the spread of the
 * queries' entries, and the mean of the largest share. */
static void show_range(const char *label, int is_rand)
{
    enum { TIMES = 50, D_K = 64 };
    const int sizes[3] = {3, 64, 4096};
    float table[3][3] = {{0}};
    for (int k = 0; k < 3; k++) {
        const int d = sizes[k];
        Attention a;
        float(*x)[d] = new_table(6, d);
        Random r = random_seeded(123);
        self_attention_init(&a, &r, d, D_K, 1, 0);
        if (is_rand) {
            random_fill(&r, D_K, d, ROWS(d, a.query.weight));
            random_fill(&r, D_K, d, ROWS(d, a.key.weight));
        }
        Trace t;
        trace_init_for(&t, &a, 6, 6);
        table[k][0] = (float)d;
        for (int i = 0; i < TIMES; i++) {
            normal_fill(&r, 6, d, 0, 1, x);
            self_attention_forward(&a, 6, x, &t);
            table[k][1] += score_spread(6 * D_K, t.query) / TIMES;
            table[k][2] += mean_largest(6, 6, ROWS(6, t.weights)) / TIMES;
        }
        trace_free(&t);
        attention_free(&a);
        free(x);
    }
    print_matrix(label, 3, 3, table);
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

With `rand`, a wide model is saturated before it has learned anything. In a
wide model the entries of a query are large, with a spread of up to 35.3345.
And the numbers of `rand` lie around one half, so each entry of a query lies
around half the sum of the word's entries. The entries of a query lean to
one side, those of a key too, and the 64 products of a score do not cancel:
the division by $\sqrt{d_k}$ is not enough. With `nn.Linear` the spread is
near 0.58 for every width, and the largest of six shares lies between one
fifth and one quarter. Training begins with a model in which every word
counts.

## Copied across {#self-attention-order}

If both versions are one computation, the same numbers must give the same
result.

**Exercise 7.2** (★★, 3 points): `copy_v2_to_v1`. The weights of the three
layers, put into the three matrices of the first version. It refuses what
`version_1_check(from)` refuses: what the first version has no place for,
such as a bias.

::: hint
The second version has a row for each output, the first a column.
:::

::: hint
[](#dot-product) has a function that exchanges rows and columns. Its first
two sizes are those of the table it is given.
:::

::: done
Two classes that look different compute the same: with the same weights,
they give the same result.
:::
*/

void copy_v2_to_v1(const Attention *from,
                   float w_query[from->d_x][from->d_k],
                   float w_key[from->d_x][from->d_k],
                   float w_value[from->d_x][from->d_v])
{
    const int d_in = from->d_x, d_k = from->d_k, d_v = from->d_v;
    version_1_check(from);
    transpose(d_k, d_in, ROWS(d_in, from->query.weight), w_query);
    transpose(d_k, d_in, ROWS(d_in, from->key.weight), w_key);
    transpose(d_v, d_in, ROWS(d_in, from->value.weight), w_value);
}

/*
We copy the second version of seed 789 into a first version, and also let
the first version see the sentence backwards.

::: question
The words come in another order: *step one with starts journey Your*. What
happens to their context vectors?

The context vectors come in the new order too, and are otherwise the same.
:::
*/

/* What six words get from the first version with the second's weights. */
static void copied_forward(const Attention *a, const float x[6][3],
                           Trace *t)
{
    float w_query[3][2], w_key[3][2], w_value[3][2];
    copy_v2_to_v1(a, w_query, w_key, w_value);
    project_qkv(6, 3, 2, 2, x, w_query, w_key, w_value, ROWS(2, t->query),
                ROWS(2, t->key), ROWS(2, t->value));
    attend_trace(t);
}

/* folded: how this is printed */
static void show_copy(void)
{
    const int backwards[6] = {5, 4, 3, 2, 1, 0};
    Attention a;
    float x[6][3];
    Random r = random_seeded(789);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    Trace t, t2;
    trace_init_for(&t, &a, 6, 6);
    trace_init_for(&t2, &a, 6, 6);
    copied_forward(&a, journey, &t);
    self_attention_forward(&a, 6, journey, &t2);
    print_answer("version 1 and version 2 are equal",
                 !memcmp(t.context, t2.context, sizeof(float[6][2])));
    embed(6, 3, 6, backwards, journey, x);
    copied_forward(&a, x, &t);
    print_matrix("the sentence backwards", 6, 2, ROWS(2, t.context));
    trace_free(&t);
    trace_free(&t2);
    attention_free(&a);
}

/*
``` output
version 1 and version 2 are equal: yes
the sentence backwards (6, 2)
[[-0.0754,  0.0693],
 [-0.0763,  0.0679],
 [-0.0760,  0.0685],
 [-0.0749,  0.0702],
 [-0.0748,  0.0703],
 [-0.0739,  0.0713]]
```

Both versions are equal to the last bit. And the last table is the table of
version 2, read from below. Attention takes no notice of the order of words:
to attention, *dog bites man* and *man bites dog* are the same. So models
add a vector that depends on the word's position, a **positional encoding**,
to each embedding, before attention sees the embedding. [](#positions)
builds such vectors, and shows other ways.

## Trained, without calculus {#self-attention-training}

So far a seed has decided what each word looks at. What does it take to make
*likes* look at *fish*, as in [](#qkv), without making the matrices by hand?

First we need a number that says how far we are from that aim: a **loss**.
Let $w$ be the share that *likes* gives to *fish*; our loss is $-\ln(w)$.
The loss is 0 where the share is 1, and grows without end as the share goes
to 0.

Raise a parameter by a hundredth, lower the same parameter by a hundredth,
take the difference of the two losses, and divide by the two hundredths:
that is the parameter's slope. All slopes together are the **gradient**.
Then move each parameter against its slope, here by half the slope, so that
a steeper slope moves it farther. That is one step of training. As all
parameters lie in one array, a step is two loops: first all slopes, then all
moves. The gradient is an `Attention` too, with a slope where the other has
a parameter.
*/

/* Animal, deed, food: what cat, likes and fish are. */
static const float sentence[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 1}};

static float loss(const Attention *a, Trace *t)
{
    self_attention_forward(a, 3, sentence, t);
    return -logf(ROWS(3, t->weights)[1][2]);
}

/* How steeply the loss rises with a number of a, which is put back. */
static float slope(Attention *a, Trace *t, float *number)
{
    const float was = *number, step = 0.01f;
    *number = was + step;
    const float above = loss(a, t);
    *number = was - step;
    const float below = loss(a, t);
    *number = was;
    return (above - below) / (2 * step);
}

/* All slopes come first: when one parameter has moved, those of the others
 * are no longer what they were. */
static void train_once(Attention *a, Attention *gradient, Trace *t)
{
    for (size_t i = 0; i < a->count; i++)
        gradient->memory[i] = slope(a, t, &a->memory[i]);
    for (size_t i = 0; i < a->count; i++)
        a->memory[i] -= 0.5f * gradient->memory[i];
}

/* folded: how this is printed */
static void show_training(void)
{
    enum { ROUNDS = 5, STEPS = 20 };
    const char *const words[3] = {"cat", "likes", "fish"};
    Attention a, gradient;
    float losses[ROUNDS + 1], map[2][3][3];
    Random r = random_seeded(2024);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    attention_init(&gradient, &a); /* the same sizes, memory of its own */
    Trace t;
    trace_init_for(&t, &a, 3, 3);
    losses[0] = loss(&a, &t);
    memcpy(map[0], t.weights, sizeof map[0]);
    for (int i = 0; i < ROUNDS * STEPS; i++) {
        train_once(&a, &gradient, &t);
        if (i == 0)
            print_matrix("slopes, before the first step", 6, 3,
                         ROWS(3, gradient.memory));
        if (i % STEPS == STEPS - 1)
            losses[(i + 1) / STEPS] = loss(&a, &t);
    }
    memcpy(map[1], t.weights, sizeof map[1]);
    print_vector("loss, before and after every twenty steps", ROUNDS + 1,
                 losses);
    print_matrix("attention weights of cat, likes, fish, before", 3, 3,
                 map[0]);
    print_matrix("attention weights of cat, likes, fish, after", 3, 3,
                 map[1]);
    figure_maps("trained", "What each word takes of each", 2,
                (const char *const[]){"before training", "after"}, 3, words,
                3, words, map);
    trace_free(&t);
    attention_free(&a);
    attention_free(&gradient);
}

/*
We begin with the numbers of seed 2024:

``` output
slopes, before the first step (6, 3)
[[ 0.0000,  0.1441,  0.0000],
 [ 0.0000, -0.2357,  0.0000],
 [-0.1107,  0.1107, -0.1916],
 [ 0.1113, -0.1113,  0.1926],
 [ 0.0000,  0.0000,  0.0000],
 [ 0.0000,  0.0000,  0.0000]]
```

The first two rows belong to the weight for queries, the next two to the
weight for keys, the last two to the weight for values. The last two rows
are 0: the loss looks at shares, and values come after the shares, so
training will leave that layer as it was drawn. In the first two rows only
the column for a deed counts, since *likes* is nothing but a deed. In the
middle rows all columns count: the query of *likes* meets the keys of all
three words.

``` output
loss, before and after every twenty steps (6)
[1.2318, 0.0571, 0.0130, 0.0067, 0.0044, 0.0032]
attention weights of cat, likes, fish, before (3, 3)
[[0.3095, 0.3881, 0.3025],
 [0.2990, 0.4093, 0.2918],
 [0.2780, 0.4545, 0.2675]]
attention weights of cat, likes, fish, after (3, 3)
[[0.2995, 0.2973, 0.4032],
 [0.0030, 0.0002, 0.9968],
 [0.1726, 0.1054, 0.7220]]
```

![Before training, and after a hundred steps, each with colours to a scale
of its own. The middle row was asked for; the other two changed on the
way](trained.svg){#fig-trained}

Before, all three words looked at *likes* most. After a hundred steps,
*likes* gives 0.9968 of its attention to *fish*. But look at the other rows:
*cat* looks at *fish* now, and *fish* at itself. We asked for one thing, and
training found a way to it that made *fish* easy to find for everyone. A
model learns what its loss asks for. What the loss says nothing about may
change as well.

Each slope took two computations of the whole attention, in each step. With
billions of parameters that would never end. [](#backward) gets all slopes
from one computation and a second that runs backwards through the first.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles scores scale weights context");

    show_v1("version 1, seed 123, journey", journey, 2);
    show_v1("version 1, seed 123, Life is short", life, 4);
    show_v2();
    show_range("rand: d_in, spread of queries, largest share", 1);
    show_range("nn.Linear: d_in, spread of queries, largest share", 0);
    show_copy();
    show_training();
    return 0;
}

/*
The same in PyTorch. `nn.Linear` makes its parameters with
`requires_grad=True`, which has PyTorch note how results come about;
`backward` runs back along the notes and leaves the slopes; `step` is our
loop.

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
torch.manual_seed(2024)
roles = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
optimizer = torch.optim.SGD([role.weight for role in roles], lr=0.5)
losses = []
for step in range(101):
    query, key, value = [role(words) for role in roles]
    weights = F.softmax(query @ key.T / 2**0.5, dim=-1)
    loss = -weights[1, 2].log()
    losses += [loss.item()] if step % 20 == 0 else []
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(torch.tensor(losses))
print(weights)
```

One head is complete. What follows are variations. Queries may come from
another text than the keys; words may be hidden; several heads may work side
by side.

## Further exercises

**Exercise 7.3** (★★, challenge, 3 points): `permute_tokens`. Row `i` of the
result is row `order[i]` of `x`. It refuses an order that does not name each
row exactly once.

::: hint
[](#self-attention-order) shuffles a sentence. In an order that is right,
how often does each number from 0 to `n - 1` occur?
:::

::: done
Shuffle the words, and the results are shuffled along and otherwise the
same: attention knows of no order. A model has to be told.
:::

**Exercise 7.4** (by hand): How many parameters has a first version whose
tokens have three entries, with two entries for queries and keys, and four
for values? And a second version with bias?

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
$3 \cdot 2 + 3 \cdot 2 + 3 \cdot 4 = 24$. The biases make it
$24 + 2 + 2 + 4 = 32$.
:::

::: {.solution exercise="7.5"}
The bias of the keys. It adds the same list $b$ to every key, and so the
same number $q \cdot b$ to every score of a query. The differences between
the scores stay the same, and softmax sees nothing but these. The bias of
the queries adds $b \cdot k_j$ to the scores, another number for each key.
The bias of the values changes no weight, but is added to every context
vector, since the weights add up to one.
:::
*/
