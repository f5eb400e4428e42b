/*
# Multi-head attention: one projection for all heads {#multi-head}

![The way from words to attention. This chapter is about the two shaded
steps](pipeline.svg){#fig-multi-head-pipeline}

Two heads have read *cat likes fish*. One asked who likes, and found the
cat. The other asked what is liked, and found the fish. Their answers lie
side by side, and that is where [](#heads) stopped: nothing in the program
has put the two together. No number in its result says that somebody here
has found a meal.

Besides, four heads took twelve small products, where three larger ones
would do. This chapter begins with those. Then it adds one matrix that reads
all heads at once, and the cat gets its fish.
*/

#include "attention/13_multi_head.h"
#include "attention/02_softmax.h"
#include "attention/05_tokens.h"
#include "attention/10_dropout.h"
#include "attention/11_causal_attention.h"
#include "attention/12_heads.h"
#include "support.h"

/*
## One matrix {#multi-head-matrix}

Entry $c$ of a row of $X W$ is that row of $X$ times column $c$ of $W$. No
other column of $W$ is needed. So if the matrices of two heads stand side by
side, their products stand side by side, too:

$$\underset{n \times d}{X} \;
\underset{d \times 2 d_k}{[W_1 \; W_2]} =
\underset{n \times 2 d_k}{[X W_1 \;\; X W_2]}$$

One large matrix makes the queries of all heads, one the keys, one the
values: three products, however many heads there are.
*/

/* folded: how this is drawn */
static void draw_columns(void)
{
    const FigureBlock product[] = {{"X", 6, 3, 1, "·"},
                                   {"W, of two heads", 3, 8, 2, "="},
                                   {"X W", 6, 8, 2, NULL}};
    figure_blocks("columns", "One product for two heads", 3, product);
}

/*
![One product for two heads. The columns of a colour belong to one
head](columns.svg){#fig-columns}

In [](#heads), matrices side by side made one wide head, which added up the
scores of the four heads. The difference is a cut. The wide head computed
scores from whole rows; now every row is cut into the columns of its heads
*before* there are any scores. So where are the numbers of a head, and how
do you get at them?

## View and transpose {#multi-head-view}

Let the three digits of each number say where it belongs: 213 is sentence 2,
token 1, column 3. Sentence 2 of a batch has three tokens with four columns
each, two columns for each of two heads. In memory, its numbers lie one
after another:

![The queries of one sentence in memory. A colour is a
head](memory.svg){#fig-memory}

To read four columns as two heads times two entries, no number has to move.
A cast in C gives the same memory another type. `float(*query)[d]` points to
rows of `d` floats ([](#scaling-spread)), and `const
float(*view)[n_heads][head_dim]` points to tables of `n_heads` rows, a table
for each token. `view[i][h]` has the entries of token `i` for head `h`.
PyTorch calls such a second reading of the same memory a **view**; others
say **reshaping**.

In the view, the token comes before the head. A head's attention wants all
tokens of that head together. So the head must come before the token: the
two dimensions are transposed, and numbers move.

![The view, the split, and a view of the same memory that only looks right.
Rows are named by head and token](view.svg){#fig-view}

**Exercise 13.1** (★★, 3 points): `split_heads`. Head `h` gets `head_dim`
columns of every token, those from `h * head_dim` on.

::: hint
`TABLES(n_heads, head_dim, x[0])` is the view: it casts as `ROWS` does, to
tables. Which part of `split` should get `view[i][h]`?
:::

::: hint
The `head_dim` entries of a token and a head lie side by side before and
after, so `memcpy` can copy them.
:::

::: done
Nothing was computed, only moved: one wide product serves all heads.
:::
*/

void split_heads(int n, int n_heads, int head_dim,
                 const float x[n][n_heads * head_dim],
                 float split[n_heads][n][head_dim])
{
    const float(*view)[n_heads][head_dim] = TABLES(n_heads, head_dim, x[0]);
    for (int h = 0; h < n_heads; h++)
        for (int i = 0; i < n; i++)
            memcpy(split[h][i], view[i][h], sizeof split[h][i]);
}

enum { HEADS = 2, TOKENS = 3 };

/* folded: how this is printed */
/* The numbers as they lie in memory, under three types, and the split. */
static void draw_view(void)
{
    enum { WIDTH = HEADS * 2, ALL = TOKENS * WIDTH, LONG = HEADS * TOKENS };
    static char text[ALL][12];
    const char *const token[TOKENS] = {"token 1", "token 2", "token 3"};
    const char *const row[LONG] = {"1, 1", "1, 2", "1, 3",
                                   "2, 1", "2, 2", "2, 3"};
    const char *cell[ALL], *moved[ALL];
    int head[ALL], moved_head[ALL];
    for (int c = 0; c < ALL; c++) {
        const int i = c / WIDTH, h = c / 2 % HEADS, k = c % 2;
        const int to = (h * TOKENS + i) * 2 + k;
        snprintf(text[c], sizeof text[c], "%d", 211 + 10 * i + c % WIDTH);
        cell[c] = moved[to] = text[c];
        head[c] = moved_head[to] = h;
    }
    const FigureLayout memory = {
        "one after the other", 1, ALL, NULL, NULL, cell, head};
    const FigureLayout panel[3] = {
        {"view", TOKENS, WIDTH, token, NULL, cell, head},
        {"split", LONG, 2, row, NULL, moved, moved_head},
        {"wrong view", LONG, 2, row, NULL, cell, head}};
    figure_layout("memory", "A sentence's numbers in memory", 1, &memory);
    figure_layout("view", "View, split, and a wrong view", 3, panel);
}

static void show_view(void)
{
    float x[TOKENS][HEADS * 2], split[HEADS][TOKENS][2];
    for (int i = 0; i < TOKENS; i++)
        for (int c = 0; c < HEADS * 2; c++)
            x[i][c] = (float)(211 + 10 * i + c);
    split_heads(TOKENS, HEADS, 2, x, split);
    const float(*wrong)[TOKENS][2] = TABLES(TOKENS, 2, x[0]);
    print_matrix("sentence 2", TOKENS, HEADS * 2, x);
    print_matrix("sentence 2, head 1", TOKENS, 2, split[0]);
    print_matrix("sentence 2, head 2", TOKENS, 2, split[1]);
    print_matrix("a view that only looks right", TOKENS, 2, wrong[0]);
}

/*
``` output
sentence 2 (3, 4)
[[211.0000, 212.0000, 213.0000, 214.0000],
 [221.0000, 222.0000, 223.0000, 224.0000],
 [231.0000, 232.0000, 233.0000, 234.0000]]
sentence 2, head 1 (3, 2)
[[211.0000, 212.0000],
 [221.0000, 222.0000],
 [231.0000, 232.0000]]
sentence 2, head 2 (3, 2)
[[213.0000, 214.0000],
 [223.0000, 224.0000],
 [233.0000, 234.0000]]
a view that only looks right (3, 2)
[[211.0000, 212.0000],
 [213.0000, 214.0000],
 [221.0000, 222.0000]]
```

The first head has the first two columns of every token. The last table
leaves out the transposition, and declares the memory to be heads, tokens
and entries right away. Its shape is right and its contents are wrong: the
second row should be token 2, and is the other half of token 1. No check of
shapes finds that, and the program runs on.

In PyTorch the two steps are `x.view(b, n, n_heads, head_dim)` and
`.transpose(1, 2)`. Dimensions are counted from 0, and the first is the
batch. In PyTorch even `transpose` moves nothing: PyTorch notes how far
apart in memory the neighbours along each dimension lie, here 4 for tokens
and 2 for heads, and exchanges these two distances. Our functions have no
dimension for the batch, which is a loop of the caller, as in
[](#causal-attention).

When the heads are done, their results are put side by side again. The merge
takes the same steps in reverse. (PyTorch writes `.transpose(1,
2).contiguous().view(b, n, d_out)`. Here `contiguous` moves the numbers,
which `transpose` has not moved, into the order in which the view will read
them.)

**Exercise 13.2** (★★, 3 points): `merge_heads`. It undoes `split_heads`.

::: hint
Source and destination of `memcpy` change places. The rest is as in
`split_heads`.
:::

::: done
What was split and merged again is the same, bit for bit. One more matrix is
missing.
:::
*/

void merge_heads(int n, int n_heads, int head_dim,
                 const float split[n_heads][n][head_dim],
                 float x[n][n_heads * head_dim])
{
    float(*view)[n_heads][head_dim] = TABLES(n_heads, head_dim, x[0]);
    for (int h = 0; h < n_heads; h++)
        for (int i = 0; i < n; i++)
            memcpy(view[i][h], split[h][i], sizeof split[h][i]);
}

/*
## Who likes what {#multi-head-output}

Side by side, each head's results stay in the head's own columns. The
Transformer multiplies the merged table by one more matrix, the **output
projection** $W_O$, so that each column of the product may take something
from every head. The whole is **multi-head attention**, here with a bias $b$
that the paper does not have [@vaswani2017]:

$$\underset{n \times d_{out}}{\operatorname{MultiHead}(X)} =
    \underset{n \times H d_v}{\operatorname{Concat}(Z_1, \dots, Z_H)} \;
    \underset{H d_v \times d_{out}}{W_O} + b$$

In C that is three products for all heads and three splits, then each head's
attention, then the merge and the fourth product. A trace has room for that:
`head_query`, `head_key` and `head_value` are for the splits, `joined` for
the merged table, `out` for the last product. `split_heads` fills one table
after another, first the queries of the first head (head 0 in C), then those
of the second. `TABLES(n, d_k, t->head_query)[h]` is the table of head `h`.
`attend` of [](#causal-attention) takes the trace of a single head, so here
is one, whose tables are those of head `h` in the large trace. No number is
copied:
*/

static Trace head_view(const Trace *t, int h)
{
    const int n = t->n, m = t->m, d_k = t->d_k, d_v = t->d_v;
    Trace head = *t;
    head.n_heads = 1;
    head.d_out = 0;
    head.query = TABLES(n, d_k, t->head_query)[h][0];
    head.key = TABLES(m, d_k, t->head_key)[h][0];
    head.value = TABLES(m, d_v, t->head_value)[h][0];
    head.scores = TABLES(n, m, t->scores)[h][0];
    head.weights = TABLES(n, m, t->weights)[h][0];
    head.keep_mask = TABLES(n, m, t->keep_mask)[h][0];
    head.dropped = TABLES(n, m, t->dropped)[h][0];
    head.context = TABLES(n, d_v, t->context)[h][0];
    return head;
}

/*
The whole:
*/

void attention_forward(const Attention *a, Mask mask, Random *r, int n,
                       int m, const float x[n][a->d_x],
                       const float y[m][a->d_y], Trace *t)
{
    const int heads = a->n_heads, d_k = a->d_k, d_v = a->d_v;
    attention_project(a, n, m, x, y, t);
    t->dropout_rate = r ? a->dropout_rate : 0;
    split_heads(n, heads, d_k, ROWS(heads * d_k, t->query),
                TABLES(n, d_k, t->head_query));
    split_heads(m, heads, d_k, ROWS(heads * d_k, t->key),
                TABLES(m, d_k, t->head_key));
    split_heads(m, heads, d_v, ROWS(heads * d_v, t->value),
                TABLES(m, d_v, t->head_value));
    for (int h = 0; h < heads; h++) {
        Trace head = head_view(t, h);
        attend(mask, a->dropout_rate, r, &head);
    }
    merge_heads(n, heads, d_v, TABLES(n, d_v, t->context),
                ROWS(heads * d_v, t->joined));
    if (a->d_out)
        linear_forward(&a->out, n, ROWS(a->out.d_in, t->joined),
                       ROWS(a->out.d_out, t->out));
}

/*
`attention_forward` serves every attention of this book: a single head is
split and merged without harm, each head obeys whatever mask is given, and
without an output layer the merged table is the result. From here on we use
only this function. (It gives the bits that `heads_forward` of [](#heads)
gives; the tests of this chapter compare them.) The *projection* is split,
not the token: each column of $W_Q$ has a number for each entry of the
token, so every head sees every entry ([A.4](#errata-4)).

Now the cat. The words of its sentence have the entries of
[](#heads-question) and one more, *meal*, which is 0 in all of them: nobody
is eating yet. The two heads ask the same questions as there, who likes, and
what is liked. (The division by $\sqrt{3}$ is back, so 7 replaces 4.) Only
$W_O$ is new. It writes to *meal*: plus *animal* of the first head, minus
its *food*, plus *food* of the second head, and a bias of -1, so that one of
the two is not enough.
*/

enum { WORDS = 6, D_IN = 3, ENTRIES = 4 };

/* animal, action, food, meal */
static const float sentence[3][3][ENTRIES] = {
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 1, 0}}, /* cat likes fish */
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}, /* cat likes dog */
    {{0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 1, 0}}, /* bread likes fish */
};

/* folded: how this is printed */
/* The two heads; `sharp` is 7, or larger for larger scores. */
static void cat_init(Attention *a, float sharp)
{
    Attention sizes = {.n_heads = HEADS, .has_out_bias = 1};
    sizes.d_x = sizes.d_y = sizes.d_out = ENTRIES;
    sizes.d_k = 3;
    sizes.d_v = 2;
    attention_init(a, &sizes);
    float(*query)[ENTRIES] = ROWS(ENTRIES, a->query.weight);
    float(*key)[ENTRIES] = ROWS(ENTRIES, a->key.weight);
    float(*value)[ENTRIES] = ROWS(ENTRIES, a->value.weight);
    float(*out)[HEADS * 2] = ROWS(HEADS * 2, a->out.weight);
    query[0][1] = sharp;  /* who likes? an animal, */
    query[2][1] = -sharp; /* and no food */
    query[5][1] = sharp;  /* what is liked? food */
    for (int h = 0; h < HEADS; h++) {
        for (int k = 0; k < 3; k++)
            key[3 * h + k][k] = 1;
        value[2 * h][0] = value[2 * h + 1][2] = 1; /* animal, food */
    }
    out[3][0] = 1;  /* the first head's animal */
    out[3][1] = -1; /* and its food */
    out[3][3] = 1;  /* the second head's food */
    a->out.bias[3] = -1;
}

/* The row of *likes*: what the heads answer, and what comes of it. */
static void read_likes(const Attention *a, const float x[3][ENTRIES],
                       float joined[HEADS * 2], float out[ENTRIES])
{
    Trace t;
    trace_init_for(&t, a, 3, 3);
    attention_forward(a, mask_none(), NULL, 3, 3, x, x, &t);
    memcpy(joined, t.joined + HEADS * 2, HEADS * 2 * sizeof *joined);
    memcpy(out, t.out + ENTRIES, ENTRIES * sizeof *out);
    trace_free(&t);
}

static void show_cat(void)
{
    Attention a;
    float joined[3][HEADS * 2], out[3][ENTRIES];
    cat_init(&a, 7);
    for (int i = 0; i < 3; i++)
        read_likes(&a, sentence[i], joined[i], out[i]);
    print_matrix("likes: animal, food; animal, food", 3, 4, joined);
    print_matrix("likes: animal, action, food, meal", 3, 4, out);
    attention_free(&a);
}

/*
``` output
likes: animal, food; animal, food (3, 4)
[[0.9830, 0.0170, 0.9830, 0.9660],
 [0.9913, 0.0000, 0.6667, 0.0000],
 [0.4956, 0.5044, 0.4956, 0.9913]]
likes: animal, action, food, meal (3, 4)
[[ 0.0000,  0.0000,  0.0000,  0.9321],
 [ 0.0000,  0.0000,  0.0000, -0.0087],
 [ 0.0000,  0.0000,  0.0000, -0.0174]]
```

A row is what *likes* gets in a sentence: *cat likes fish*, *cat likes dog*,
*bread likes fish*. In the first table every number belongs to one head, and
none of them says *meal*: *cat likes dog* has 0.9913 for an animal that
likes, and *bread likes fish* has 0.9913 for food. After $W_O$, *cat likes
fish* has 0.9321 in *meal*, and the other two are near 0, since each has
only half of it. That one number comes from both heads. (*Fish likes cat*
would have it, too. Nothing here knows the order of words, until
[](#positions).)

## Added to what was there {#multi-head-residual}

What attention has made is as wide as the token, four entries, and that is
no accident. A Transformer doesn't put it in the token's place. It *adds* it
to the token, and the next layer works on the sum. The addition is called a
**residual connection**. What does it do for *likes*?
*/

/* folded: how this is printed */
/* How fast the action and the meal of *likes* grow with its action, in what
 * attention makes and in the sum. */
static void slopes_of(float sharp, float slopes[2][2])
{
    const float s = 1.0f / 1024;
    float joined[HEADS * 2], out[2][ENTRIES], sum[2][ENTRIES];
    Attention a;
    cat_init(&a, sharp);
    for (int up = 0; up < 2; up++) {
        float x[3][ENTRIES];
        memcpy(x, sentence[0], sizeof x);
        x[1][1] += up ? s : -s;
        read_likes(&a, x, joined, out[up]);
        for (int k = 0; k < ENTRIES; k++)
            sum[up][k] = x[1][k] + out[up][k];
    }
    for (int k = 0; k < 2; k++) {
        const int e = 1 + 2 * k; /* action, meal */
        slopes[0][k] = (out[1][e] - out[0][e]) / (2 * s);
        slopes[1][k] = (sum[1][e] - sum[0][e]) / (2 * s);
    }
    attention_free(&a);
}

static void show_residual(void)
{
    Attention a;
    float joined[HEADS * 2], row[3][ENTRIES], slopes[2][2];
    cat_init(&a, 7);
    memcpy(row[0], sentence[0][1], sizeof row[0]);
    read_likes(&a, sentence[0], joined, row[1]);
    for (int k = 0; k < ENTRIES; k++)
        row[2][k] = row[0][k] + row[1][k];
    print_matrix("likes; what is added; the sum", 3, ENTRIES, row);
    slopes_of(7, slopes);
    print_matrix("slopes by action: of attention, of the sum", 2, 2,
                 slopes);
    slopes_of(70, slopes);
    print_matrix("the same, saturated", 2, 2, slopes);
    attention_free(&a);
}

/*
``` output
likes; what is added; the sum (3, 4)
[[0.0000, 1.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 0.0000, 0.9321],
 [0.0000, 1.0000, 0.0000, 0.9321]]
slopes by action: of attention, of the sum (2, 2)
[[0.0000, 0.2651],
 [1.0000, 0.2651]]
the same, saturated (2, 2)
[[0.0000, 0.0000],
 [1.0000, 0.0000]]
```

*Likes* comes in as an action, and leaves as an action with a note: there is
a meal here. If attention's row took its place, the action would be gone,
since these values don't carry it. And where there is no meal, next to
nothing is added, -0.0087 for *cat likes dog*, and the word stays as it was.
(We look at *likes* alone. The nouns have no question, see all words alike,
and get a number that means nothing.)

The slopes matter for training. Earlier layers have made this token, and to
change them, training must know how the result depends on it. The slopes are
numerical gradients ([](#learning)): move the *action* of *likes* up and
down by a small $s$, and divide the difference of the two results by $2s$.
The first column is the result's *action*, the second its *meal*. The first
row of each table is attention alone, where a change of *action* moves
nothing but *meal*. With queries ten times as large, softmax is saturated
([](#scaling-saturated)), and a change of *action* moves nothing at all, so
nothing tells the earlier layers what to change. The second row is the sum.
There a change of *action* still moves *action*, by 1.0000, whatever softmax
does.

Two tables that are added must be equally wide. So $W_O$ makes rows as wide
as the tokens, and GPT has one width from the first layer to the last.

::: milestone
This is the attention of language models: several heads, mixed, and with a
causal mask they look back.
:::

## What it still lacks {#multi-head-beyond}

Our attention is slow. A trace has room for every score, $n \times m$ scores
for each head, and one product is computed after the other, where a
processor could do many at a time. And its numbers are ours or random. The
four layers of an attention with $d_{model} = 512$ have more than a million
numbers that training has to find. Speed comes first, since training needs
it: [](#flash) computes the same result and never has all scores at once.
[](#backward) finds for all numbers at once in which direction they should
move, and [](#training) shows what trained heads look at. [](#sheet) has all
of attention on one sheet.

## In the tutorials {#multi-head-tutorials}

Raschka's book puts the whole into one class, which HackTricks borrows
[@raschka2024book; @hacktricks]: three linear layers with or without a bias,
a fourth layer for the output that always has a bias, the causal mask,
dropout. All heads together are as wide as the output, so each head is
$d_{out} / H$ wide. The layers draw their numbers in this order:
*/

void multi_head_init(Attention *a, Random *r, int d_in, int d_out,
                     int context_length, double p, int n_heads,
                     int has_bias)
{
    const int over = n_heads < 1 ? d_out : d_out % n_heads;
    dropout_rate_check(p);
    if (n_heads < 1 || over)
        REFUSE("%d columns for %d heads leave %d over: a divisor of %d is "
               "needed",
               d_out, n_heads, over, d_out);
    Attention sizes = {.n_heads = n_heads, .d_out = d_out};
    sizes.d_x = sizes.d_y = d_in;
    sizes.d_k = sizes.d_v = d_out / n_heads;
    sizes.has_bias = has_bias;
    sizes.has_out_bias = 1;
    sizes.context_length = context_length;
    sizes.dropout_rate = p;
    attention_init(a, &sizes);
    linear_fill(r, d_in, d_out, ROWS(d_in, a->query.weight), a->query.bias);
    linear_fill(r, d_in, d_out, ROWS(d_in, a->key.weight), a->key.bias);
    linear_fill(r, d_in, d_out, ROWS(d_in, a->value.weight), a->value.bias);
    linear_fill(r, d_out, d_out, ROWS(d_out, a->out.weight), a->out.bias);
}

/*
### The numbers of the class {#multi-head-class}

HackTricks takes *Your journey starts with one step* twice as a batch, and
heads of a single entry: two columns for two heads, from seed 123. Here is
the output for either sentence:
*/

/* The class from seed 123 with d_out columns, applied to x. */
static Trace class_of(int d_out, const float x[WORDS][D_IN])
{
    Attention a;
    Random r = random_seeded(123);
    multi_head_init(&a, &r, D_IN, d_out, WORDS, 0, HEADS, 0);
    Trace t;
    trace_init_for(&t, &a, WORDS, WORDS);
    attention_forward(&a, mask_causal(0), NULL, WORDS, WORDS, x, x, &t);
    attention_free(&a);
    return t;
}

/* folded: how this is printed */
static void show_narrow(void)
{
    Trace t = class_of(2, journey);
    print_matrix("output for Your journey", WORDS, 2, ROWS(2, t.out));
    trace_free(&t);
}

/*
``` output
output for Your journey (6, 2)
[[0.3190, 0.4858],
 [0.2943, 0.3897],
 [0.2856, 0.3593],
 [0.2693, 0.3873],
 [0.2639, 0.3928],
 [0.2575, 0.4028]]
```

To see more, take heads of four entries, so that $\sqrt{d_k}$ is not 1:
*/

/* folded: how this is printed */
static void show_wider(void)
{
    enum { D_OUT = 8 };
    const char *const label[HEADS] = {"Your journey, head 1",
                                      "Your journey, head 2"};
    const char *const words[WORDS] = {"Your", "journey", "starts",
                                      "with", "one",     "step"};
    Trace of_journey = class_of(D_OUT, journey);
    const float(*weights)[WORDS][WORDS] =
        TABLES(WORDS, WORDS, of_journey.weights);
    for (int h = 0; h < HEADS; h++)
        print_matrix(label[h], WORDS, WORDS, weights[h]);
    figure_maps("maps", "What each word may see, and takes, in two heads",
                HEADS, label, WORDS, words, WORDS, words, weights);
    trace_free(&of_journey);
}

/*
::: question
The first word of a sentence sees nothing but itself. On which of the four
layers does its row of the output depend?

On the layers for the values and for the output. The word's only weight is
1, whatever its query and its key are.
:::

``` output
Your journey, head 1 (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.5246, 0.4754, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.3548, 0.3225, 0.3227, 0.0000, 0.0000, 0.0000],
 [0.2608, 0.2402, 0.2402, 0.2587, 0.0000, 0.0000],
 [0.1980, 0.1963, 0.1964, 0.2053, 0.2040, 0.0000],
 [0.1761, 0.1567, 0.1567, 0.1728, 0.1661, 0.1717]]
Your journey, head 2 (6, 6)
[[1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.4806, 0.5194, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.3172, 0.3420, 0.3408, 0.0000, 0.0000, 0.0000],
 [0.2470, 0.2586, 0.2580, 0.2364, 0.0000, 0.0000],
 [0.2049, 0.2069, 0.2067, 0.1886, 0.1929, 0.0000],
 [0.1648, 0.1772, 0.1767, 0.1593, 0.1567, 0.1654]]
```

![The weights of both heads for *Your journey starts with one step*. The
future is pale: no word sees it](maps.svg){#fig-multi-head-maps}

::: {.workbench args="stage=output"}
:::

### PyTorch's own {#multi-head-pytorch}

PyTorch has multi-head attention in a module, `nn.MultiheadAttention`, whose
tokens have $d_{model}$ entries, on the way in and on the way out. The
module packs three matrices into one table, `in_proj_weight`: the rows for
the queries, below them the rows for the keys, then those for the values. So
a single product makes all three. The module draws the output projection
first and the packed table after it, and sets every bias to 0.

The packed table is drawn between $-a$ and $a$ with $a = \sqrt{6 / (3
d_{model} + d_{model})}$. Where does $a$ come from? A sum of $d_{in}$
products keeps the spread of its input if the matrix has the spread
$1/\sqrt{d_{in}}$ ([](#scaling-spread)). Training also computes sums of
$d_{out}$ products ([](#backward)), for which $1/\sqrt{d_{out}}$ would be
right. You can't have both. Glorot and Bengio put the mean of the two sizes,
$(d_{in} + d_{out})/2$, under the root: the spread $\sqrt{2 / (d_{in} +
d_{out})}$ [@glorot2010]. Uniform numbers between $-a$ and $a$ have the
spread $a/\sqrt{3}$, so $a$ is $\sqrt{3}$ times that, $\sqrt{6 / (d_{in} +
d_{out})}$. The packed table has $d_{in} = d_{model}$ columns and $d_{out} =
3 d_{model}$ rows.
*/

void multi_head_init_pytorch(Attention *a, Random *r, int d_model, double p,
                             int n_heads)
{
    Random copy = *r; /* what it draws is all replaced below */
    multi_head_init(a, &copy, d_model, d_model, 0, p, n_heads, 1);
    linear_fill(r, d_model, d_model, ROWS(d_model, a->out.weight),
                a->out.bias);
    const float limit = (float)sqrt(6.0 / (4.0 * d_model));
    Linear *const packed[3] = {&a->query, &a->key, &a->value};
    for (int k = 0; k < 3; k++) {
        uniform_fill(r, d_model, d_model, -limit, limit,
                     ROWS(d_model, packed[k]->weight));
        memset(packed[k]->bias, 0, (size_t)d_model * sizeof(float));
    }
    memset(a->out.bias, 0, (size_t)d_model * sizeof(float));
}

/*
Then there is the mask. In the mask of `nn.MultiheadAttention`, a table of
truth values, *true* means *hidden*. In the mask of
`F.scaled_dot_product_attention`, *true* means *seen*. Neither function
complains about the other's mask. Here is the right mask, which hides the
future, and then its opposite, with the sizes of the small example in
[](#heads-width): three tokens of 8 entries and two heads.
*/

enum { D_MODEL = 8 };

/* The module from seed 123, and n tokens drawn after it. */
static void module_from_123(Attention *a, int n_heads, int n, int d_model,
                            float x[n][d_model])
{
    Random r = random_seeded(123);
    multi_head_init_pytorch(a, &r, d_model, 0, n_heads);
    random_fill(&r, n, d_model, x);
}

/* folded: how this is printed */
static void show_opposite(const Attention *a,
                          const float x[TOKENS][D_MODEL], Trace *t)
{
    float mask[TOKENS][TOKENS];
    for (int i = 0; i < TOKENS; i++)
        for (int j = 0; j < TOKENS; j++)
            mask[i][j] = j > i;
    attention_forward(a, mask_table(TOKENS, TOKENS, mask), NULL, TOKENS,
                      TOKENS, x, x, t);
    print_matrix("head 1 with the opposite mask", TOKENS, TOKENS,
                 ROWS(TOKENS, t->weights));
}

static void show_module(void)
{
    const char *const label[HEADS] = {"weights of head 1",
                                      "weights of head 2"};
    Attention a;
    float x[TOKENS][D_MODEL];
    module_from_123(&a, HEADS, TOKENS, D_MODEL, x);
    Trace t;
    trace_init_for(&t, &a, TOKENS, TOKENS);
    print_vector("in_proj_weight, first row", D_MODEL, a.query.weight);
    print_vector("out_proj.weight, first row", D_MODEL, a.out.weight);

    attention_forward(&a, mask_causal(0), NULL, TOKENS, TOKENS, x, x, &t);
    for (int h = 0; h < HEADS; h++)
        print_matrix(label[h], TOKENS, TOKENS,
                     TABLES(TOKENS, TOKENS, t.weights)[h]);
    printf("Z_1 and Z_2: (%d, %d)\n", t.n, t.d_v);
    printf("Z_1 and Z_2 side by side: (%d, %d)\n", t.n, HEADS * t.d_v);
    for (int i = 0; i < TOKENS; i++)
        print_vector("output", D_MODEL, t.out + i * D_MODEL);
    show_opposite(&a, x, &t);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
in_proj_weight, first row (8)
[-0.3066, -0.3491,  0.1798,  0.0097,  0.1775, -0.4231, -0.0258,  0.3054]
out_proj.weight, first row (8)
[-0.1442,  0.0117, -0.1756,  0.1333, -0.3012,  0.2592, -0.2570, -0.2811]
weights of head 1 (3, 3)
[[1.0000, 0.0000, 0.0000],
 [0.5472, 0.4528, 0.0000],
 [0.3739, 0.3089, 0.3172]]
weights of head 2 (3, 3)
[[1.0000, 0.0000, 0.0000],
 [0.4854, 0.5146, 0.0000],
 [0.3084, 0.3613, 0.3304]]
Z_1 and Z_2: (3, 4)
Z_1 and Z_2 side by side: (3, 8)
output (8)
[-0.0886, -0.0061,  0.2132,  0.1815, -0.2849, -0.1181, -0.2855, -0.0601]
output (8)
[-0.0136,  0.0125,  0.1221,  0.1055, -0.2017, -0.0756, -0.1781, -0.0419]
output (8)
[-0.0040,  0.0228,  0.0943,  0.0670, -0.1555, -0.0337, -0.2222, -0.1028]
head 1 with the opposite mask (3, 3)
[[0.0000, 0.5003, 0.4997],
 [0.0000, 0.0000, 1.0000],
 [   nan,    nan,    nan]]
```

With the opposite mask a token sees the future and nothing else. The last
token has no future, and its row is `nan`, which you may notice. A mask
that hides padding is worse: its opposite shows the padding and nothing
else. Where every sentence has some, no row is `nan`, and nobody notices.

Another mistake is just as silent. Without `batch_first=True`,
`nn.MultiheadAttention` treats the *second* dimension as the batch. A batch
of two sentences with six words, of shape (2, 6, 3) as in the tutorials,
counts as six sentences with two words each, and words of different
sentences attend to each other.

### A walk through the shapes {#multi-head-walk}

*From Tokens to the Transformer* ends with a walk through all the shapes,
for the sizes of the first Transformer, $d_{model} = 512$ and 8 heads, and a
text of 20 tokens [@tokens2transformer]. Our walk has PyTorch's matrices
from seed 123, and 20 random tokens that are drawn after them. There is no
mask.
*/

/* folded: how this is printed */
static void print_walk(const Attention *a, const Trace *t)
{
    const int n = t->n, heads = t->n_heads, all = a->query.d_out;
    puts("the walk");
    printf("X:                (%d, %d)\n", n, a->d_x);
    printf("W_Q, W_K, W_V:    (%d, %d)\n", a->d_x, all);
    printf("Q, K, V:          (%d, %d)\n", n, all);
    printf("viewed as heads:  (%d, %d, %d)\n", n, heads, t->d_k);
    printf("transposed:       (%d, %d, %d)\n", heads, n, t->d_k);
    printf("scores, weights:  (%d, %d, %d)\n", heads, n, t->m);
    printf("Z_h of each head: (%d, %d, %d)\n", heads, n, t->d_v);
    printf("merged, Z:        (%d, %d)\n", n, heads * t->d_v);
    printf("W_O:              (%d, %d)\n", a->out.d_in, a->out.d_out);
    printf("output:           (%d, %d)\n", n, t->d_out);
}

static void draw_walk(int n, int d_model, int n_heads)
{
    const int size = d_model / n_heads;
    const FigureBlock walk[] = {{"X", n, d_model, 1, "·"},
                                {"W_Q", d_model, d_model, n_heads, "="},
                                {"Q", n, d_model, n_heads, NULL},
                                {"a head's Q_h", n, size, 1, "·"},
                                {"K_hᵀ", size, n, 1, "="},
                                {"scores", n, n, 1, NULL},
                                {"weights", n, n, 1, "·"},
                                {"V_h", n, size, 1, "="},
                                {"Z_h", n, size, 1, NULL},
                                {"merged, Z", n, d_model, n_heads, "·"},
                                {"W_O", d_model, d_model, 1, "="},
                                {"output", n, d_model, 1, NULL}};
    figure_blocks("walk", "The walk of shapes", sizeof walk / sizeof *walk,
                  walk);
}

static void show_walk(void)
{
    const int n = 20, d_model = 512;
    Attention a;
    float(*x)[d_model] = new_table(n, d_model);
    module_from_123(&a, 8, n, d_model, x);
    Trace t;
    trace_init_for(&t, &a, n, n);
    attention_forward(&a, mask_none(), NULL, n, n, x, x, &t);
    print_walk(&a, &t);
    draw_walk(n, d_model, a.n_heads);
    print_vector("output, where it begins", 6, t.out);
    free(x);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
the walk
X:                (20, 512)
W_Q, W_K, W_V:    (512, 512)
Q, K, V:          (20, 512)
viewed as heads:  (20, 8, 64)
transposed:       (8, 20, 64)
scores, weights:  (8, 20, 20)
Z_h of each head: (8, 20, 64)
merged, Z:        (20, 512)
W_O:              (512, 512)
output:           (20, 512)
output, where it begins (6)
[ 0.0322,  0.1422,  0.0694,  0.5309,  0.1698, -0.4712]
```

![The walk. A side is as long as the root of its number of rows or columns.
In the tables with stripes, each stripe is a head](walk.svg){#fig-walk}
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles heads");
    draw_columns();
    draw_view();
    show_view();
    show_cat();
    show_residual();
    show_narrow();
    show_wider();
    show_module();
    show_walk();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

torch.manual_seed(123)
mha = torch.nn.MultiheadAttention(8, 2)
x = torch.rand(3, 8)
seen = torch.ones(3, 3).tril().bool()
print(mha.in_proj_weight[0])
print(mha.out_proj.weight[0])

y, weights = mha(x, x, x, attn_mask=~seen, average_attn_weights=False)
for table in *weights, *y:
    print(table)
print(mha(x, x, x, attn_mask=seen, average_attn_weights=False)[1][0])

q, k, v = F.linear(x, mha.in_proj_weight).chunk(3, dim=-1)
q, k, v = [table.view(3, 2, 4).transpose(0, 1) for table in (q, k, v)]
z = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
assert torch.allclose(
    mha.out_proj(z.transpose(0, 1).reshape(3, 8)), y, atol=1e-6)

batch = torch.rand(2, 6, 8)  # two sentences, six words
assert mha(batch, batch, batch)[1].shape == (6, 2, 2)
mha.batch_first = True
assert mha(batch, batch, batch)[1].shape == (2, 6, 6)
```

`~` turns a mask into its opposite. The last lines do by hand what the
module does, and show by its shapes who attends to whom in a batch.

## Further exercises

**Exercise 13.3** (★, challenge, 2 points): `average_weights`. If not told
otherwise, `nn.MultiheadAttention` returns a single table of weights, the
mean of those of all heads. `average_weights` computes this mean, and
refuses fewer than one head.

::: hint
The tables are those of [](#multi-head-pytorch). One entry of the result
belongs to one pair of words. Over which index are weights added up?
:::

::: done
Pictures of attention often show this mean. Look at the heads as well: a
mean hides what each of them does.
:::

**Exercise 13.4** (by hand): How many parameters does
`nn.MultiheadAttention(8, 2)` have, biases included? And
`nn.MultiheadAttention(8, 4)`?

**Exercise 13.5** (by hand): Someone splits 8 columns for 2 heads by taking
every other column for the first head and the rest for the second. Is that a
mistake? When does it matter?

## Solutions

::: {.solution exercise="13.3"}
Its rows add up to one, too: the rows of all heads together add up to
`n_heads`, and are divided by that number.
*/

void average_weights(int n, int m, int n_heads,
                     const float weights[n_heads][n][m],
                     float average[n][m])
{
    if (n_heads < 1)
        REFUSE("the mean of %d heads: at least 1 is needed", n_heads);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int h = 0; h < n_heads; h++)
                sum += weights[h][i][j];
            average[i][j] = sum / (float)n_heads;
        }
}

/*
:::

::: {.solution exercise="13.4"}
Four layers of $8 \cdot 8$ weights and 8 biases each, $4 \cdot (8 \cdot 8 +
8) = 288$ in all, and as many for any number of heads. To have more heads is
to cut the same matrices more finely.
:::

::: {.solution exercise="13.5"}
With matrices of your own it is no mistake, since a column means nothing
before training, and training works with any order, as long as merging is
the way back. With matrices that someone else has trained, or with PyTorch's
numbers from a seed, the heads would get each other's columns, and every
shape would be right.
:::
*/
