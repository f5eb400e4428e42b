/*
# Several attentions side by side {#heads}

![The way from words to attention. This chapter is about the shaded
step](pipeline.svg){#fig-heads-pipeline}

*Cat likes fish.* In [](#qkv) we let the verb look for something to eat, and
it found *fish*. But liking takes two, one who likes and one who is liked,
and a verb that knows only one of them knows half the story. So let it ask
for both. In this chapter one attention fails at that, and two succeed. Mask
and dropout rest meanwhile, but for one example of the mask; they would be
the same in each.
*/

#include "attention.h"

/*
## One question for two things {#heads-question}

We keep what [](#qkv) said of the three words: whether each is an animal, a
deed, something to eat. That is what they are found by, and so the table
below holds the keys. As a value, a word gives two of the three, animal and
food.
*/

static const float keys[3][3] = {
    /* animal, deed, food */
    {1, 0, 0}, /* cat */
    {0, 1, 0}, /* likes */
    {1, 0, 1}, /* fish, which is an animal as well */
};
static const float values[3][2] = {
    /* animal, food */
    {1, 0}, /* cat */
    {0, 0}, /* likes */
    {1, 1}, /* fish */
};

static void ask(const char *question, const float query[3])
{
    float scores[3], weights[3], context[2];
    attend_one(3, 3, 2, query, keys, values, scores, weights, context);
    print_vector(question, 3, scores);
    print_vector("    shares of cat, likes, fish", 3, weights);
    print_vector("    comes back: animal, food", 2, context);
}

/*
Who likes? An animal, but nothing to eat: $(4, 0, -4)$. What is liked?
Something to eat: $(0, 0, 4)$. A token has a single query, so to ask both we
add the two up: $(4, 0, 0)$.
*/

static void show_questions(void)
{
    const float both[3] = {4, 0, 0};
    const float who[3] = {4, 0, -4}, what[3] = {0, 0, 4};
    ask("both at once, scores", both);
    ask("who likes? scores", who);
    ask("what is liked? scores", what);
}

/*
``` output
both at once, scores (3)
[4.0000, 0.0000, 4.0000]
    shares of cat, likes, fish (3)
[0.4955, 0.0091, 0.4955]
    comes back: animal, food (2)
[0.9909, 0.4955]
```

The sum of the questions works, in a way: *cat* and *fish* get equal shares,
and *likes* next to nothing. But look at what comes back. It is half of
*cat* plus half of *fish*, an animal that is half food. Had the fish liked
the cat, the halves would have been the same, and so would their sum.

Would longer values help? Let them say which word it is, and one half of
*cat* and one half of *fish* come back. Now we know the two, but still not
who likes and who is liked. Entry $k$ of what comes back is
$\sum_j w_j v_{jk}$, and the shares $w_j$ are the same for every $k$. A row
of shares answers one question.

Now let the two questions be asked one by one:

``` output
who likes? scores (3)
[4.0000, 0.0000, 0.0000]
    shares of cat, likes, fish (3)
[0.9647, 0.0177, 0.0177]
    comes back: animal, food (2)
[0.9823, 0.0177]
what is liked? scores (3)
[0.0000, 0.0000, 4.0000]
    shares of cat, likes, fish (3)
[0.0177, 0.0177, 0.9647]
    comes back: animal, food (2)
[0.9823, 0.9647]
```

Each has an answer of its own. Write one behind the other, (0.9823, 0.0177,
0.9823, 0.9647), and nothing is lost: the first two entries say who likes,
an animal that is no food, and the last two say what is liked.

## Heads {#heads-side}

That is the whole idea. Several heads look at the same words, each with its
own queries, keys and values, and so each with its own shares. Their results
are written side by side, which is called **concatenation**: the row of a
token begins with its row from the first head, goes on with its row from the
second, and so on. With $Z_h$ for the result of head $h$, and $H$ heads,

$$Z_h = \operatorname{softmax}\left(
    \frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h, \qquad
Z = \operatorname{Concat}(Z_1, Z_2, \dots, Z_H)$$

In an `Attention` the heads lie one after the other: the first `d_k` rows of
the queries' weight belong to the first head (in C, to head 0), the next to
the second, and so with keys and values. So a head's part of a layer is a
layer too, whose numbers stay where they are.
*/

Linear head_layer(const Linear *l, int n_heads, int h)
{
    if (h < 0 || h >= n_heads || l->d_out % n_heads)
        REFUSE("head %d of %d in a layer of %d columns: one from 0 on of a "
               "number that divides the columns is needed",
               h, n_heads, l->d_out);
    const int d_out = l->d_out / n_heads, first = h * d_out;
    return (Linear){.d_in = l->d_in,
                    .d_out = d_out,
                    .weight = l->weight + (size_t)first * (size_t)l->d_in,
                    .bias = l->bias ? l->bias + first : NULL};
}

/*
The heads draw their matrices one after the other, so that no two are alike.
If they were, training would move them alike as well, and they would remain
copies of each other. There are two tutorials' ways to draw: by `torch.rand`
as in [](#cross-attention), and by `nn.Linear` as in
[](#causal-attention).
*/

void heads_init(Attention *a, Random *r, int n_heads, int d_in, int d_k,
                int d_v)
{
    *a = (Attention){.d_x = d_in,
                     .d_y = d_in,
                     .n_heads = n_heads,
                     .d_k = d_k,
                     .d_v = d_v};
    attention_init(a);
    const Linear *const role[3] = {&a->query, &a->key, &a->value};
    for (int h = 0; h < n_heads; h++)
        for (int k = 0; k < 3; k++) {
            const Linear l = head_layer(role[k], n_heads, h);
            rand_turned(r, l.d_in, l.d_out, (void *)l.weight);
        }
}

void causal_heads_init(Attention *a, Random *r, int d_in, int head_dim,
                       int context_length, double p, int n_heads,
                       int has_bias)
{
    dropout_must_fit(p);
    *a = (Attention){.d_x = d_in,
                     .d_y = d_in,
                     .n_heads = n_heads,
                     .d_k = head_dim,
                     .d_v = head_dim,
                     .has_bias = has_bias,
                     .context_length = context_length,
                     .p = p};
    attention_init(a);
    const Linear *const role[3] = {&a->query, &a->key, &a->value};
    for (int h = 0; h < n_heads; h++)
        for (int k = 0; k < 3; k++) {
            const Linear l = head_layer(role[k], n_heads, h);
            linear_fill(r, d_in, head_dim, (void *)l.weight, l.bias);
        }
}

/*
A trace has tables for the heads' own queries, keys and values, and for what
each of them computes from these. They are stacks: the table of head 0,
below it that of head 1, and so on. `float (*query)[n][d_k]` points to
tables of `n` rows, as `float (*w)[6]` in [](#self-attention) pointed to
rows, and so `query[h]` is the table of head `h`.
*/

void attend_head(const Attention *a, Mask see, Random *r, int h, Trace *t)
{
    attention_must_fit(a, t->n, t->m, t);
    if (h < 0 || h >= t->n_heads)
        REFUSE("head %d of %d: one from 0 to %d is needed", h, t->n_heads,
               t->n_heads - 1);
    t->rate = r ? a->p : 0;
    const int n = t->n, m = t->m, d_k = t->d_k, d_v = t->d_v;
    float(*query)[n][d_k] = (void *)t->head_query;
    float(*key)[m][d_k] = (void *)t->head_key;
    float(*value)[m][d_v] = (void *)t->head_value;
    float(*scores)[n][m] = (void *)t->scores;
    float(*weights)[n][m] = (void *)t->weights;
    float(*kept)[n][m] = (void *)t->kept;
    float(*dropped)[n][m] = (void *)t->dropped;
    float(*context)[n][d_v] = (void *)t->context;
    attend(n, m, d_k, d_v, see, a->p, r, query[h], key[h], value[h],
           scores[h], weights[h], kept[h], dropped[h], context[h]);
}

/*
**Exercise 12.1** (★★, 3 points): `heads_forward`. Every head computes its
queries, keys and values and its attention, one after the other, and
`joined` receives their results side by side: the first `d_v` columns are
those of the first head. It refuses an output layer (`d_out`), and what
`attention_roles` of [](#self-attention) refuses.

::: hint
Begin as `attention_roles` does. Then there are, for each head, three layers
to be applied (`head_layer`), the attention (`attend_head`), and the columns
to be copied. Pointers to stacks are made as in `attend_head`.
:::

::: hint
At which column of `joined` do the columns of head `h` begin?
:::

::: hint
A row of a head is `d_v` floats in one piece, but the rows of one head do
not lie in one piece in `joined`. `memcpy` copies row by row.
:::
*/

void heads_forward(const Attention *a, Mask see, Random *r, int n, int m,
                   const float x[n][a->d_x], const float y[m][a->d_y],
                   Trace *t)
{
    if ((const void *)x == (const void *)y)
        widths_must_agree(a);
    attention_must_fit(a, n, m, t);
    if (a->d_out)
        REFUSE("an output layer to %d columns: none is needed, for heads "
               "side by side",
               a->d_out);
    const int heads = a->n_heads, d_k = a->d_k, d_v = a->d_v;
    float(*query)[n][d_k] = (void *)t->head_query;
    float(*key)[m][d_k] = (void *)t->head_key;
    float(*value)[m][d_v] = (void *)t->head_value;
    float(*context)[n][d_v] = (void *)t->context;
    float(*joined)[heads * d_v] = (void *)t->joined;
    for (int h = 0; h < heads; h++) {
        const Linear w_query = head_layer(&a->query, heads, h);
        const Linear w_key = head_layer(&a->key, heads, h);
        const Linear w_value = head_layer(&a->value, heads, h);
        linear_forward(&w_query, n, x, query[h]);
        linear_forward(&w_key, m, y, key[h]);
        linear_forward(&w_value, m, y, value[h]);
        attend_head(a, see, r, h, t);
        for (int i = 0; i < n; i++)
            memcpy(&joined[i][h * d_v], context[h][i],
                   sizeof context[h][i]);
    }
}

/*
## Four heads {#heads-four}

The author of *Life is short, eat dessert first* begins with a single head
whose values have one entry, and then puts four of that kind side by side,
both times from seed 123 [@raschka2024magazine].
*/

enum { WORDS = 6, D_IN = 3, HEADS = 4, D_K = 2, D_V = 1 };
static const char *const sentence[WORDS] = {"Life", "is",      "short",
                                            "eat",  "dessert", "first"};

/* The heads of the tutorial, as many as asked for, from seed 123, and their
 * trace of its sentence. */
static Trace tutorial_heads(int n_heads, Attention *a)
{
    Random r;
    random_seed(&r, 123);
    heads_init(a, &r, n_heads, D_IN, D_K, D_V);
    Trace t = trace_for(a, WORDS, WORDS);
    heads_forward(a, see_all(), NULL, WORDS, WORDS, life, life, &t);
    return t;
}

static void show_tutorial(void)
{
    const char *const label[2] = {"one head", "four heads, side by side"};
    for (int k = 0; k < 2; k++) {
        const int heads = k ? HEADS : 1;
        Attention a;
        Trace t = tutorial_heads(heads, &a);
        print_matrix(label[k], WORDS, heads * D_V, (void *)t.joined);
        trace_free(&t);
        attention_free(&a);
    }
}

/*
``` output
one head (6, 1)
[[-0.0185],
 [ 0.4003],
 [-0.1103],
 [ 0.0668],
 [ 0.1180],
 [-0.1827]]
```

::: question
Four heads from the same seed give a table of four columns. Will the column
above be one of them, and if so, which?

The first. The matrices of the first head are made from the first draws, and
these do not know how many heads will follow.
:::

``` output
four heads, side by side (6, 4)
[[-0.0185,  0.0170,  0.1999, -0.0860],
 [ 0.4003,  1.7137,  1.3981,  1.0497],
 [-0.1103, -0.1609,  0.0079, -0.2416],
 [ 0.0668,  0.3534,  0.2322,  0.1008],
 [ 0.1180,  0.6949,  0.3157,  0.2807],
 [-0.1827, -0.2060, -0.2393, -0.3167]]
```

::: aside
In the tutorial's program, the remark "reduce d_out_v from 4 to 1, because
we have 4 heads" stands a step too early, beside a line that still says 4
[@raschka2024magazine]. With 1, the program prints what it is shown to
print. And its `block_size`, the 3 columns of the table where its
6 rows are meant, is never used.
:::

The book that this author went on to write has the same wrapper around heads
like those of [](#causal-attention), and runs two of them on *Your journey
starts with one step* [@raschka2024book]:
*/

static void show_causal_heads(void)
{
    Random r;
    Attention a;
    random_seed(&r, 123);
    causal_heads_init(&a, &r, D_IN, 2, WORDS, 0, 2, 0);
    Trace t = trace_for(&a, WORDS, WORDS);
    heads_forward(&a, see_past(0), NULL, WORDS, WORDS, journey, journey,
                  &t);
    print_matrix("two causal heads, side by side", WORDS, 4,
                 (void *)t.joined);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
two causal heads, side by side (6, 4)
[[-0.4519,  0.2216,  0.4772,  0.1063],
 [-0.5874,  0.0058,  0.5891,  0.3257],
 [-0.6300, -0.0632,  0.6202,  0.3860],
 [-0.5675, -0.0843,  0.5478,  0.3589],
 [-0.5526, -0.0981,  0.5321,  0.3428],
 [-0.5299, -0.1081,  0.5077,  0.3493]]
```

The first two columns are the table of the single causal head, again because
it was the first to draw.

## A map for each head {#heads-maps}

Did the four heads look at the same words? Here are their shares, and then,
for each head, which word every word looks at most.
*/

static int most_seen(int m, const float weights[m])
{
    int most = 0;
    for (int j = 1; j < m; j++)
        if (weights[j] > weights[most])
            most = j;
    return most;
}

static void show_maps(const Trace *t)
{
    const char *const label[HEADS] = {"head 1", "head 2", "head 3",
                                      "head 4"};
    const float(*map)[WORDS][WORDS] = (void *)t->weights;
    for (int h = 0; h < HEADS; h++)
        print_matrix(label[h], WORDS, WORDS, map[h]);
    maps("maps", "The attention weights of four heads", HEADS, label, WORDS,
         sentence, WORDS, sentence, map);

    printf("where each word looks most\n      ");
    for (int i = 0; i < WORDS; i++)
        printf("%9s", sentence[i]);
    for (int k = 0; k < HEADS; k++) {
        printf("\n%s", label[k]);
        for (int i = 0; i < WORDS; i++)
            printf("%9s", sentence[most_seen(WORDS, map[k][i])]);
    }
    printf("\n");
}

/*
``` output
head 1 (6, 6)
[[0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831],
 [0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229],
 [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.1793, 0.1463],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.1231],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
head 2 (6, 6)
[[0.1655, 0.0994, 0.1839, 0.1649, 0.1567, 0.2296],
 [0.0168, 0.9199, 0.0079, 0.0195, 0.0335, 0.0024],
 [0.1407, 0.0307, 0.1930, 0.1394, 0.1199, 0.3764],
 [0.1655, 0.2516, 0.1492, 0.1613, 0.1629, 0.1095],
 [0.1315, 0.4189, 0.1036, 0.1329, 0.1497, 0.0634],
 [0.1264, 0.0175, 0.1899, 0.1241, 0.1014, 0.4407]]
```

``` output
head 3 (6, 6)
[[0.1680, 0.1601, 0.1712, 0.1641, 0.1635, 0.1732],
 [0.0625, 0.6475, 0.0358, 0.0970, 0.1344, 0.0227],
 [0.1748, 0.0975, 0.2085, 0.1464, 0.1368, 0.2360],
 [0.1653, 0.1677, 0.1595, 0.1759, 0.1741, 0.1576],
 [0.1600, 0.1997, 0.1490, 0.1726, 0.1767, 0.1420],
 [0.1606, 0.0293, 0.2580, 0.1029, 0.0832, 0.3660]]
head 4 (6, 6)
[[0.1646, 0.1190, 0.1682, 0.1804, 0.1724, 0.1954],
 [0.0421, 0.8700, 0.0342, 0.0180, 0.0273, 0.0084],
 [0.1500, 0.0477, 0.1594, 0.2090, 0.1756, 0.2583],
 [0.1630, 0.2251, 0.1620, 0.1475, 0.1565, 0.1459],
 [0.1541, 0.3343, 0.1466, 0.1237, 0.1381, 0.1032],
 [0.1346, 0.0213, 0.1448, 0.2328, 0.1721, 0.2944]]
```

``` output
where each word looks most
           Life       is    short      eat  dessert    first
head 1    short       is    short       is       is    short
head 2    first       is    first       is       is    first
head 3    first       is    first      eat       is    first
head 4    first       is    first       is       is    first
```

They did not. *First*, the last row of each table, looks most at *short* in
the first head, with a share of 0.3102, and at itself in the others, with
0.4407 in the second. *Eat* looks at *is* in three of the heads, and in the
third at itself.

![The attention weights of four heads, each with colours to a scale of its
own. Each row adds up to one, and no two maps are the
same](maps.svg){#fig-heads-maps}

In fairness, nobody has told these heads what to look for. All entries of
their matrices are positive, and *is* is the only word whose three entries
are positive too; so it has large queries and large keys in every head, and
looks at itself. That says nothing about English. What the maps show is that
heads *can* differ. Training gives them a reason to.

## What it costs {#heads-cost}

Could one head do the same, if it were larger? The tutorial asks this too,
since a single head with values of four entries gives a table of the same
size. Let us count. Parameters are the entries of the matrices. Of the work
we count the multiplications, those that make queries, keys and values,
those of the scores, and those of the mixtures, and apart from them the
exponentials. The divisions go with these.
*/

static void show_cost(const char *label, int n_heads, int d_k, int d_v)
{
    Attention a = {.d_x = D_IN,
                   .d_y = D_IN,
                   .n_heads = n_heads,
                   .d_k = d_k,
                   .d_v = d_v};
    attention_init(&a);
    const int project = WORDS * D_IN * (d_k + d_k + d_v);
    const int scores = WORDS * WORDS * d_k, mix = WORDS * WORDS * d_v;
    printf("%s\n    parameters: %zu\n", label, a.count);
    printf("    multiplications: %d\n", n_heads * (project + scores + mix));
    printf("    exponentials: %d\n", n_heads * WORDS * WORDS);
    attention_free(&a);
}

static void show_costs(void)
{
    show_cost("one head, d_k = 2, d_v = 4", 1, 2, 4);
    show_cost("four heads, d_k = 2, d_v = 1", 4, 2, 1);
    show_cost("one head, d_k = 8, d_v = 4", 1, 8, 4);
}

/*
``` output
one head, d_k = 2, d_v = 4
    parameters: 24
    multiplications: 360
    exponentials: 36
four heads, d_k = 2, d_v = 1
    parameters: 60
    multiplications: 792
    exponentials: 144
one head, d_k = 8, d_v = 4
    parameters: 60
    multiplications: 792
    exponentials: 36
```

The four heads have 60 parameters where the single one has 24, and need more
than twice as many multiplications. So much for one way to compare. The
other is to spend the same on both: a single head with queries and keys of 8
entries has 60 parameters too, and exactly as many multiplications.

It can even have the *same* parameters. In an `Attention`, the matrices of
four heads already lie one below the other. Say that they belong to one head
with queries and keys of 8 entries, and they do. What does this wide head
compute?
*/

static void show_wide(const Attention *a, const Trace *t)
{
    Attention one = *a; /* the same numbers, otherwise understood */
    float first[HEADS][WORDS], half[WORDS] = {0};
    one.n_heads = 1;
    one.d_k = HEADS * D_K;
    one.d_v = HEADS * D_V;
    one.memory = NULL; /* it remains a's */
    Trace wide = trace_for(&one, WORDS, WORDS);
    self_attention_forward(&one, WORDS, life, &wide);
    const float(*of_head)[WORDS][WORDS] = (void *)t->scores;
    for (int h = 0; h < HEADS; h++)
        for (int j = 0; j < WORDS; j++) {
            first[h][j] = of_head[h][WORDS - 1][j];
            half[j] += first[h][j] / 2;
        }
    const int last = (WORDS - 1) * WORDS;
    print_matrix("scores of first, a row for each head", HEADS, WORDS,
                 first);
    print_vector("half of their sum", WORDS, half);
    print_vector("scores of first in the wide head", WORDS,
                 wide.scores + last);
    print_vector("their shares", WORDS, wide.weights + last);
    trace_free(&wide);
}

static void show_heads(void)
{
    Attention a;
    Trace t = tutorial_heads(HEADS, &a);
    show_maps(&t);
    show_costs();
    show_wide(&a, &t);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
scores of first, a row for each head (4, 6)
[[ 0.3072, -1.7704,  0.7594, -0.2481, -0.6587,  0.6551],
 [ 0.0403, -1.9390,  0.4473,  0.0224, -0.1795,  1.2895],
 [ 0.1974, -1.5045,  0.6718, -0.2476, -0.4594,  1.0214],
 [-0.1093, -1.9534, -0.0360,  0.4390,  0.1368,  0.6736]]
half of their sum (6)
[ 0.2178, -3.5836,  0.9213, -0.0171, -0.5804,  1.8198]
scores of first in the wide head (6)
[ 0.2178, -3.5837,  0.9213, -0.0171, -0.5804,  1.8198]
their shares (6)
[0.1081, 0.0024, 0.2185, 0.0855, 0.0487, 0.5367]
```

It adds up the scores of the four. The dot product of two long lists is the
sum of the dot products of their pieces, and only the division differs:
$\sqrt{8}$ is twice $\sqrt{2}$, hence the half. (The one digit in which the
two lists differ is a rounding. The sums are added up in another order.)

So the wide head does what the verb did at the beginning of this chapter. It
adds its questions up *before* softmax, and one set of shares has to do for
all of them. The first head's liking for *short* has been outvoted. Four
heads keep four sets of shares. That is what they buy, and all that they
cost in addition is exponentials, 144 where there were 36.

## And the time? {#heads-time}

One often reads that several heads are faster. The tutorial says that they
*can* be more efficient, since each is computed independently of the others,
which suits machines with many processors [@raschka2024magazine]. But so are
the rows of one wide head, and the multiplications are the same in number.
The paper that introduced heads claims no more than that: the cost is
similar to that of one head of full width [@vaswani2017]. To see what it is
on your machine, try `make run-12 ARGS=time`. It measures a sentence of 256
tokens, whose heads are 128 entries wide together, cut into more and more
heads.
*/

static double milliseconds(int n_heads, int n, int d_model)
{
    Random r;
    Attention a;
    const int width = d_model / n_heads;
    float(*x)[d_model] = (void *)new_table(n, d_model);
    random_seed(&r, 123);
    heads_init(&a, &r, n_heads, d_model, width, width);
    uniform_fill(&r, n, d_model, -1, 1, x);
    Trace t = trace_for(&a, n, n);

    double best = INFINITY;
    for (int round = 0; round < 5; round++) {
        const clock_t start = clock();
        heads_forward(&a, see_all(), NULL, n, n, x, x, &t);
        best = fmin(best, (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    trace_free(&t);
    attention_free(&a);
    free(x);
    return 1000 * best;
}

static void measure(void)
{
    enum { TOKENS = 256, WIDTH = 128 };
    puts("milliseconds, the best of five, for so many heads");
    for (int n_heads = 1; n_heads <= 16; n_heads *= 2)
        printf("%2d: %.1f\n", n_heads,
               milliseconds(n_heads, TOKENS, WIDTH));
}

/*
## As wide as a token {#heads-width}

How many heads do real models have? The first Transformer had 8, for tokens
of [512]{.cited} entries [@vaswani2017]. Llama 2 with seven billion
parameters has [32]{.cited} [@raschka2024magazine]. The heads are made so
narrow that side by side they are as wide as a token. With $d_{model}$
entries in a token and $H$ heads,

$$d_k = d_v = \frac{d_{model}}{H}$$

The tutorial with the recipes has a small example, three tokens, $d_{model}
= 8$ and $H = 2$, so that a head is 4 entries wide [@tokens2transformer]. It
names the shapes and leaves it at that. We compute it, with tokens and
matrices from seed 123:
*/

static void show_concat(void)
{
    Random r;
    Attention a;
    float x[3][8];
    random_seed(&r, 123);
    rand_fill(&r, 3, 8, x);
    heads_init(&a, &r, 2, 8, 4, 4);
    Trace t = trace_for(&a, 3, 3);
    heads_forward(&a, see_all(), NULL, 3, 3, x, x, &t);
    print_matrix("Z_1", 3, 4, (void *)t.context);
    print_matrix("Z_2", 3, 4, (void *)(t.context + 3 * 4));
    print_matrix("Concat(Z_1, Z_2)", 3, 8, (void *)t.joined);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
Z_1 (3, 4)
[[2.8689, 2.4998, 2.7151, 2.9364],
 [2.8735, 2.5055, 2.7218, 2.9454],
 [2.9513, 2.6058, 2.8363, 3.1047]]
Z_2 (3, 4)
[[2.6545, 1.8844, 2.3565, 1.7997],
 [2.6189, 1.8558, 2.3231, 1.7799],
 [2.7352, 1.9506, 2.4339, 1.8462]]
Concat(Z_1, Z_2) (3, 8)
[[2.8689, 2.4998, 2.7151, 2.9364, 2.6545, 1.8844, 2.3565, 1.7997],
 [2.8735, 2.5055, 2.7218, 2.9454, 2.6189, 1.8558, 2.3231, 1.7799],
 [2.9513, 2.6058, 2.8363, 3.1047, 2.7352, 1.9506, 2.4339, 1.8462]]
```

The result has the size of the three tokens that went in. That is by design,
and we shall need it.

::: aside
If you read on there [@tokens2transformer]: the number of heads is called
$k$, $H$ and $h$ in turn, and the concatenation is said to lie in
$\mathbb{R}^{n \times (H, d_k)}$ where the product $H d_k$ is meant. Of its
table of $n$ rows and [64]{.cited} columns it says that it is the attention
matrix. It is the result of one head; the attention matrix, our map, is
$n \times n$. And where it has a head compute $Z = A W_O$, the values are
meant, $Z = A V$. A matrix $W_O$ comes later, behind the concatenation.
:::

## Everything together
*/

int main(int argc, char *argv[])
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "time") != 0))
        REFUSE("the last argument is '%s': 'time' and no other, or none is "
               "needed",
               argv[argc - 1]);
    if (argc == 2) {
        measure();
        return 0;
    }
    pipeline("pipeline", "heads");
    show_questions();
    show_tutorial();
    show_causal_heads();
    show_heads();
    show_concat();
    return 0;
}

/*
``` {.output args="tmie" status=2}
12_heads.c: main: the last argument is 'tmie': 'time' and no other, or none is needed
```

The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

torch.manual_seed(123)
embed = torch.nn.Embedding(50_000, 3)
x = embed(torch.tensor([0, 4, 5, 2, 1, 3])).detach()

def head(d_in, d_k, d_v):
    query, key, value = [x @ torch.rand(d_in, d) for d in (d_k, d_k, d_v)]
    return F.scaled_dot_product_attention(query, key, value)

torch.manual_seed(123)
print(head(3, 2, 1))
torch.manual_seed(123)
print(torch.cat([head(3, 2, 1) for _ in range(4)], dim=-1))

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
torch.manual_seed(123)
print(torch.cat([F.scaled_dot_product_attention(
    *[torch.nn.Linear(3, 2, bias=False)(journey) for _ in range(3)],
    is_causal=True) for _ in range(2)], dim=-1))
```

`torch.cat` with `dim=-1` writes tables side by side; with `dim=0` it would
write them one below the other.

(All this holds for cross-attention too, and with any mask. `heads_forward`
takes two texts, and each head has its own queries from one of them, and its
own keys and values from the other.)

Two things are not as they should be. Each head multiplies by small matrices
of its own, which makes twelve products for four heads. Our loops do not
care, but the libraries that others compute with prefer few large products
to many small ones. And the heads stand side by
side without knowing of each other: no entry of the result depends on two of
them. We shall mend both.

## Further exercises

**Exercise 12.2** (★, challenge, 2 points): `count_parameters`. The number
of parameters of `n_heads` heads from their sizes alone. It refuses sizes
below 1, and more parameters than an `int64_t` can count.

::: hint
Three matrices for each head. Which of them have `d_k` columns?
:::

::: hint
A large model has more parameters than an `int` can count.
:::

**Exercise 12.3** (by hand): A token has [4,096]{.cited} entries in Llama 2
with seven billion parameters, and its [32]{.cited} heads
[@raschka2024magazine], side by side, are as wide as a token. How many
entries wide is a head? Would the heads have more parameters if there were
twice as many of them?

**Exercise 12.4** (by hand): Exchange the first two of the four heads of the
tutorial. What becomes of the table of four columns?

## Solutions

::: {.solution exercise="12.2"}
*/

int64_t count_parameters(int n_heads, int d_in, int d_k, int d_v)
{
    if (n_heads < 1 || d_in < 1 || d_k < 1 || d_v < 1)
        REFUSE("%d heads of sizes %d, %d, %d: sizes of at least 1 are "
               "needed",
               n_heads, d_in, d_k, d_v);
    const int64_t columns = 2 * (int64_t)d_k + d_v;
    if (columns > INT64_MAX / n_heads / d_in)
        REFUSE("%d heads of sizes %d, %d, %d: their parameters are more "
               "than an int64_t can count",
               n_heads, d_in, d_k, d_v);
    return columns * n_heads * d_in;
}

/*
:::

::: {.solution exercise="12.3"}
In powers of two it is $2^{12} / 2^5 = 2^7$ entries wide. And no: with twice
as many heads, each is half as wide.
:::

::: {.solution exercise="12.4"}
Its first two columns are exchanged, and nothing else happens. It matters
only to what comes after, if that treats the columns differently.
:::
*/
