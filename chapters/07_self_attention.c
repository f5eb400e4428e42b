/*
# Self-attention: parameters and one function {#self-attention}

The head of [](#learning) was an array of 20 numbers, and you had to
remember that $W_K$ begins at number 8 and $W_V$ at number 16. That was one
head. The smallest GPT-2 has [144]{.cited} of them [@radford2019], and other
code needs each head's results: the page prints them, training reads them.
So put together what belongs together: the parameters of an attention in one
object, its results in another, and one function between the two.

What you get begins with the same numbers as three linear layers in PyTorch,
bit for bit, and learns as the head of [](#learning) did.
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
## A linear layer {#self-attention-linear}

A stage of a model, together with its parameters, is called a **layer**. The
most common one multiplies by a matrix and adds a list of numbers, the
**bias**, to every row. PyTorch calls it `nn.Linear`, everybody else calls
it a **linear layer**:

$$\underset{n \times d_{\text{out}}}{Y}
  = \underset{n \times d_{\text{in}}}{X}\;
    \underset{d_{\text{in}} \times d_{\text{out}}}{W^\top}
  + \underset{d_{\text{out}}}{b}$$

Note the $W^\top$. PyTorch keeps the matrix with a row for each *output*, so
that an entry of the result is the dot product of two rows, one of $X$ and
one of $W$. We do the same, so that weights from PyTorch fit as they are.

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
You have `nn.Linear`. Most parameters of a language model are in such
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
What numbers does a layer begin with? PyTorch draws them evenly between $-a$
and $a$, with $a = 1/\sqrt{d_{\text{in}}}$, first the weight and then the
bias (why that range, [](#self-attention-range) will show):
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
## One object {#self-attention-object}

Three linear layers, one for each role, are an attention. Because the words
of a text look at the words of the same text, it is called
**self-attention**. PyTorch calls such an object, parameters and the
functions that use them, a **module**. In our C, the names of these
functions end in `_init`, `_forward` and `_free`.

::: {.header of="Attention" until="From chapter 8"}
:::

All parameters are in one array, `memory`, as in [](#learning), and for the
same reason: a single loop reaches them all. `attention_init` takes the
sizes from another `Attention`, which needs no memory itself, and asks for
the memory (`src/attention/attention_object.c` has it). Then the layers draw
their numbers, one after another:
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
What the head computes goes into a second object, the **trace**, which the
caller makes. A struct in C can't hold tables whose width is known only when
the program runs, so the tables of a trace are plain pointers, and
`ROWS(d, pointer)` says how wide they are.

::: {.header of="Trace" until="From chapter 8"}
:::

With queries, keys and values in the trace, the formula is one call.
(Functions whose names end in `_check` refuse sizes that don't fit.)
*/

void attend_trace(Trace *t)
{
    /* It must have memory, and one head (more come in chapter 12). */
    trace_check(t, t->n, t->m, 1, t->d_k, t->d_v, 0);
    t->dropout_rate = 0; /* nothing is left out by chance; see chapter 10 */
    attention(t->n, t->m, t->d_k, t->d_v, ROWS(t->d_k, t->query),
              ROWS(t->d_k, t->key), ROWS(t->d_v, t->value),
              ROWS(t->m, t->scores), ROWS(t->m, t->weights),
              ROWS(t->d_v, t->context));
}

/*
And this is the whole of self-attention. It projects, and it attends. (The
function that projects lets the words that look, `x`, be other words than
those they look at, `y`, because [](#cross-attention) will have two texts.
Here they are the same table, so it checks that both are as wide.)
*/

void attention_project(const Attention *a, int n, int m,
                       const float x[n][a->d_x], const float y[m][a->d_y],
                       Trace *t)
{
    if (x[0] == y[0]) /* one address: one table, with one width */
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

/*
Try it on *cat likes fish*, with the numbers that PyTorch draws for the seed
2024:
*/

/* Animal, action, food: what cat, likes and fish are. */
static const float sentence[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 1}};

static void show_sentence(const char *label, const float x[3][3])
{
    Attention a;
    Trace t;
    Random r = random_seeded(2024);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    trace_init_for(&t, &a, 3, 3);
    self_attention_forward(&a, 3, x, &t);
    print_matrix(label, 3, 2, ROWS(2, t.context));
    trace_free(&t);
    attention_free(&a);
}

/*
## It doesn't know the order {#self-attention-order}

Before you train it, here is something it can't learn. Give it the words
backwards, *fish likes cat*:
*/

/* folded: how this is printed */
static void show_order(void)
{
    float backwards[3][3];
    embed(3, 3, 3, (const int[]){2, 1, 0}, sentence, backwards);
    show_sentence("context vectors of cat likes fish", sentence);
    show_sentence("context vectors of fish likes cat", backwards);
}

/*
``` output
context vectors of cat likes fish (3, 2)
[[ 0.0099, -0.0117],
 [ 0.0177, -0.0192],
 [ 0.0334, -0.0359]]
context vectors of fish likes cat (3, 2)
[[ 0.0334, -0.0359],
 [ 0.0177, -0.0192],
 [ 0.0099, -0.0117]]
```

The second table is the first, read from the bottom up. Each word gets what
it got before. To attention, *dog bites man* and *man bites dog* are the
same three words, and no training will change that, because no parameter has
anything to do with where a word stands. So models add a vector for the
position to every embedding, a **positional encoding**, before attention
sees it. [](#positions) has four ways to do that.

## It learns {#self-attention-training}

In [](#qkv) you made *likes* find *fish* by hand. Now let the object find
out. Let $w$ be the attention that *likes* gives to *fish*. As a loss, take
$-\ln(w)$: it is 0 where $w$ is 1, and grows without end as $w$ goes to 0.
(A square would do as well here, but chapters to come train language models,
and those use $-\ln$ of a share.) The two loops are those of
[](#learning-steps). This time they run over an object's memory:
*/

static float loss(const Attention *a, Trace *t)
{
    self_attention_forward(a, 3, sentence, t);
    return -logf(ROWS(3, t->weights)[1][2]);
}

/* All slopes come first: when one parameter has moved, those of the others
 * are no longer what they were. */
static void train_once(Attention *a, Attention *gradient, Trace *t)
{
    const float nudge = 0.01f;
    for (size_t i = 0; i < a->count; i++) {
        const float was = a->memory[i];
        a->memory[i] = was + nudge;
        const float above = loss(a, t);
        a->memory[i] = was - nudge;
        const float below = loss(a, t);
        a->memory[i] = was;
        gradient->memory[i] = (above - below) / (2 * nudge);
    }
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
The gradient is an `Attention` too, with a slope where the other has a
parameter. We begin with the numbers of the seed 2024:

``` output
slopes, before the first step (6, 3)
[[ 0.0000,  0.1441,  0.0000],
 [ 0.0000, -0.2357,  0.0000],
 [-0.1107,  0.1107, -0.1916],
 [ 0.1113, -0.1113,  0.1926],
 [ 0.0000,  0.0000,  0.0000],
 [ 0.0000,  0.0000,  0.0000]]
```

The first two rows are the weight for the queries, the next two that for the
keys, the last two that for the values. The loss looks at attention weights,
and values come after those, so the last two rows are 0. In the first two
rows only the column of an action counts (a column here, since the layers
keep a row for each output): *likes* is nothing but an action, as
[](#learning-why) has explained.

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

After a hundred steps, *likes* gives 0.9968 of its attention to *fish*. But
*cat* looks at *fish* now as well, and *fish* at itself. We asked for one
thing, and training made *fish* easy to find for everyone.

## Where the numbers begin {#self-attention-range}

Why does a layer draw from $-1/\sqrt{d_{\text{in}}}$ to
$1/\sqrt{d_{\text{in}}}$? An entry of a query is a sum of $d_{\text{in}}$
products, and by [](#scaling-spread) the spread of such a sum grows with the
root of $d_{\text{in}}$. The range shrinks by the same root. Numbers drawn
evenly between $-a$ and $a$ have the spread $a/\sqrt{3}$ ([](#random-bell)
measures it). So where words have the spread 1, a sum of $d_{\text{in}}$
products has the spread $\sqrt{d_{\text{in}}} \cdot a/\sqrt{3}$, and since
$a$ is $1/\sqrt{d_{\text{in}}}$, that is $1/\sqrt{3}$, whatever the width.

To see what it's good for, compare it with numbers drawn from 0 to 1 at
every width, as `torch.rand` gives them. Six random words attend to each
other, with 64 entries for queries and keys, fifty times over. The last
column is the largest share that each word gives, averaged over all of them.
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

With `rand`, a wide model is saturated before it has learned anything. Its
queries have a spread of up to 35.3345. And since the numbers of the matrix
lie around one half, every entry of a query is about half the sum of the
word's numbers, and so nearly all have the same sign. The 64 products of a
score don't cancel then, and the division by $\sqrt{d_k}$ isn't enough. With
`nn.Linear`'s range the spread is near 0.58 at every width, and the largest
of six shares lies between one fifth and one quarter. Training begins with a
model in which every word counts.

The same in PyTorch. `backward` gets the slopes by calculus, and `step` is
our loop.

``` python
import torch
import torch.nn.functional as F

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

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(789)
roles = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
print(F.scaled_dot_product_attention(*[role(journey) for role in roles]))
```

You can make as many heads as you like now, and train each. Up to here, a
text has looked at itself. What if the words it looks at are in another
language?

## In the tutorials {#self-attention-tutorials}

Raschka's book writes self-attention twice [@raschka2024book], and the
tutorials follow it.

### Version 1 {#self-attention-first}

The first version has three plain tables, drawn by `torch.rand`, and
`qkv_from_seed` draws them. *Self-Attention, Retold* runs it on the journey
with values of two entries, and Raschka's article on *Life is short* with
values of four [@selfattention2025; @raschka2024magazine], both from the
seed 123.
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

![The shapes of one head, from six words of three entries to six context
vectors of four. Two tables can be multiplied where the width of the left is
the height of the right; that size is summed over and
disappears](shapes.svg){#fig-shapes}

### Version 2 {#self-attention-second}

The second version has linear layers, and is the one of this chapter.
HackTricks runs it with the seed 789 and without bias [@hacktricks].
*/

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

The six rows are nearly the same, since no word takes much more of one word
than of another.

### From the second to the first {#self-attention-copied}

If both versions do the same computation, the same numbers must give the
same result.

**Exercise 7.2** (★★, 3 points): `copy_v2_to_v1`. The weights of the three
layers, put into the three matrices of the first version. It refuses
anything the first version has no place for, such as a bias;
`version_1_check(from)` does that.

::: hint
The second version has a row for each output, the first a column.
:::

::: hint
[](#dot-product) has a function that exchanges rows and columns. Its first
two sizes are those of the table it is given.
:::

::: done
Two versions that look different compute the same: with the same weights,
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
    Attention a;
    Random r = random_seeded(789);
    self_attention_init(&a, &r, 3, 2, 2, 0);
    Trace t, t2;
    trace_init_for(&t, &a, 6, 6);
    trace_init_for(&t2, &a, 6, 6);
    copied_forward(&a, journey, &t);
    self_attention_forward(&a, 6, journey, &t2);
    print_answer("version 1 and version 2 are equal",
                 !memcmp(t.context, t2.context, sizeof(float[6][2])));
    trace_free(&t);
    trace_free(&t2);
    attention_free(&a);
}

/*
``` output
version 1 and version 2 are equal: yes
```
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_order();
    show_training();
    show_range("rand: d_in, spread of queries, largest share", 1);
    show_range("nn.Linear: d_in, spread of queries, largest share", 0);
    show_v1("version 1, seed 123, journey", journey, 2);
    show_v1("version 1, seed 123, Life is short", life, 4);
    show_v2();
    show_copy();
    return 0;
}

/*
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

**Exercise 7.4** (by hand): How many parameters does version 1 have, if its
tokens have three entries, its queries and keys two, and its values four?
And version 2, with bias?

**Exercise 7.5** (by hand): One of the three biases of the second version
changes nothing in the result, whatever its numbers are. Which one, and why?

## Solutions

::: {.solution exercise="7.3"}
`embed` does the copying. By itself it would refuse a number that is no row,
but not a repeated one.
*/

void permute_tokens(int n, int d, const int order[n], const float x[n][d],
                    float permuted[n][d])
{
    for (int row = 0; row < n; row++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            count += order[i] == row;
        if (count != 1)
            REFUSE("row %d is in the order %d times; it must be there once",
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
the queries adds $b \cdot k_j$ to the scores, a different number for each
key.
The bias of the values changes no weight, but is added to every context
vector, since the weights add up to one.
:::
*/
