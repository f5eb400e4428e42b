/*
# The KV cache: one token at a time {#kv-cache}

![The way from words to attention. This chapter takes the shaded steps for
one word at a time](pipeline.svg){#fig-kv-pipeline}

A model that writes makes one token at a time. It reads the text so far,
guesses the next token from the last token's context vector
([](#language-model-writing) will do so), and appends it. Then it begins
again, with a text that is longer by one token. How much of that work is
new?
*/

#include "attention/16_kv_cache.h"
#include "attention/01_dot_product.h"
#include "attention/05_tokens.h"
#include "attention/14_flash.h"
#include "attention/B_random.h"
#include "attention/float16.h"
#include "attention/kv_cache.h"
#include "attention/measured.h"
#include "support.h"

/* folded: how this is printed */
static void show_work(void)
{
    print_integers("queries of 4,096 tokens, and new ones", 2,
                   (int[]){4096 * 4097 / 2, 4096});
}

/*
``` output
queries of 4,096 tokens, and new ones (2)
[8390656,    4096]
```

Without anything kept, all tokens so far ask at each step, so the first
number is 1 + 2 + ... + 4,096. Most of these queries have been asked before,
of the same keys, and got the same answer. A new token needs an answer to
its own query alone. The keys and values that it asks were made when their
tokens came. So keep them: that is the **key-value cache**. With the cache,
each of the 4,096 tokens asks once. (With the cache, 1 + 2 + ... + 4,096 is
the number of *scores*: token number $t$ has one query, which asks $t$
keys.)

::: question
Why are the queries not kept?

Nobody asks with them again. A token asks once, when it is new. From then on
it is only asked, and answers with its key and its value.
:::

## Why nothing changes {#kv-cache-exact}

With a causal mask ([](#causal-mask)), a token's context vector is made from
its own query and from the keys and values up to its own position. Each key
and each value is made from its own token alone. So no later token changes a
key, a value or a context vector that was there before it, and what is kept
is what would be computed again. (Models stack attention in several
**layers**: the context vectors of one layer are the tokens of the next. So
the keys of a second layer do not change either.)

So it does not matter how a text comes: token by token, as when a model
writes; all at once, as a question does; or some tokens at a time. This is
kept for one text and one layer:

::: {.header of="KVCache"}
:::

The rows of a head stand one behind the other, so that they can be read in
order. `window` and `format` wait for [](#kv-cache-window) and
[](#kv-cache-half): where they are 0, all is kept, as floats.

Keys, values, queries and contexts that come and go may lie head by head or
token by token:

![Six rows in memory, from left to right, of two heads and three tokens: h1
t0 is head 1's row for token 0](rows.svg){#fig-kv-rows}

Three **strides** say how rows lie: how many floats are between the first
numbers of two texts, of two heads, and of two tokens. `rows_by_head` and
`rows_by_token` fill them in, and `row_at` finds a row.

::: {.header of="StridedRows"}
:::

In the cache, numbers may have four bytes or two. So the distance to a row
is counted in bytes, which is what a `char *` is for:
*/

void *kv_cache_row(const KVCache *c, void *rows, int padded_d, int head,
                   int row)
{
    const ptrdiff_t bytes = c->format == FORMAT_FLOAT32 ? 4 : 2;
    return (char *)rows +
           ((ptrdiff_t)head * c->capacity + row) * padded_d * bytes;
}

/* folded: how this is drawn */
/* Where row_at finds rows of one float, of two heads and three tokens. */
static void draw_rows(void)
{
    static const char *const row[6] = {"h0 t0", "h0 t1", "h0 t2",
                                       "h1 t0", "h1 t1", "h1 t2"};
    const float memory[6] = {0};
    const StridedRows rows[2] = {rows_by_head(2, 3, 1, memory),
                                 rows_by_token(2, 3, 1, memory)};
    const char *cell[2][6];
    int part[2][6];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 6; i++) {
            const ptrdiff_t at = row_at(&rows[k], 0, i / 3, i % 3) - memory;
            cell[k][at] = row[i];
            part[k][at] = i / 3;
        }
    figure_layout(
        "rows", "Rows by head, and by token", 2,
        (FigureLayout[]){{"by head", 1, 6, NULL, NULL, cell[0], part[0]},
                         {"by token", 1, 6, NULL, NULL, cell[1], part[1]}});
}

/*
**Exercise 16.1** (★★, 3 points): `kv_cache_append`. Keep the keys and
values of the next `n` tokens, for each head of keys.
`kv_cache_append_check`, in `src/kv_cache.c`, refuses first what
cannot be taken. Token `t` of the text stands in row `t % capacity`, and
`count` grows by `n`. Without a window no row is overwritten, and the row is
`t`. With a window, new tokens take the rows of the oldest, and `first`
becomes the first token whose row has not been taken.

::: hint
`store_row` writes the `d_k` numbers of a row, behind which there are zeros
from `kv_cache_init`, and `kv_cache_row` says where. What is left is two
loops: in which row does token `i` of the new ones stand, and where do its
key and value of head `h` begin?
:::

::: hint
The new ones are row `row_at(&key, 0, h, i)`, and for values alike. The row
in which they are kept has to do with how many came before: `c->count + i`.
:::

::: hint
The last `capacity` tokens are there, or all, if there are fewer.
:::

::: done
Keys and values are computed once and kept: a new word costs one row.
:::
*/

void kv_cache_append(KVCache *c, int n, StridedRows key, StridedRows value)
{
    kv_cache_append_check(c, n, key, value);
    for (int h = 0; h < c->n_kv_heads; h++)
        for (int i = 0; i < n; i++) {
            const int row = (int)((c->count + i) % c->capacity);
            store_row(c->format, c->d_k, row_at(&key, 0, h, i),
                      kv_cache_row(c, c->key, c->padded_d_k, h, row));
            store_row(c->format, c->d_v, row_at(&value, 0, h, i),
                      kv_cache_row(c, c->value, c->padded_d_v, h, row));
        }
    c->count += n;
    if (c->first < c->count - c->capacity)
        c->first = c->count - c->capacity;
}

/*
(`store_row` and `load_row` follow in [](#kv-cache-half). For floats, they
copy.)

Then the last `n` tokens ask. Each meets the tokens up to itself, one after
the other, as in [](#flash): no table is needed, and the order does not
matter. (`n_heads` may be a multiple of the heads of keys, for
[](#kv-cache-groups).)
*/

/* A token's key and value in a head of keys, as floats. */
static void load_token(const KVCache *c, int head, int64_t token,
                       float key[c->d_k], float value[c->d_v])
{
    const int row = (int)(token % c->capacity);
    load_row(c->format, c->d_k,
             kv_cache_row(c, c->key, c->padded_d_k, head, row), key);
    load_row(c->format, c->d_v,
             kv_cache_row(c, c->value, c->padded_d_v, head, row), value);
}

void kv_cache_attend(const KVCache *c, int n_heads, int n,
                     StridedRows query, StridedRows context)
{
    kv_cache_attend_check(c, n_heads, n, query, context);
    float *key = new_table(1, c->d_k + c->d_v), *value = key + c->d_k;
    for (int h = 0; h < n_heads; h++)
        for (int i = 0; i < n; i++) {
            const int64_t own = c->count - n + i;
            const int64_t from = c->window ? own - c->window + 1 : 0;
            const float *q = row_at(&query, 0, h, i);
            float *mixture = row_at(&context, 0, h, i);
            OnlineSoftmax s;
            online_softmax_init(c->d_v, &s, mixture);
            for (int64_t t = from > 0 ? from : 0; t <= own; t++) {
                load_token(c, h / (n_heads / c->n_kv_heads), t, key, value);
                online_softmax_add(
                    c->d_v, dot(c->d_k, q, key) / sqrtf((float)c->d_k),
                    value, &s, mixture);
            }
            online_softmax_finish(c->d_v, &s, mixture);
        }
    free(key);
}

/*
*Life is short, eat dessert first*, whose words are queries, keys and
values, can come in 32 ways: after each word but the last there is a cut, or
none. All ways must give what `flash_forward` gives for the whole text at
once, the future hidden:
*/

/* folded: how this is printed */
/* Appends n words of Life is short, and asks for them. */
static void append_and_attend(KVCache *c, int n, float context[6][3])
{
    const int from = (int)c->count;
    const StridedRows words = rows_by_head(1, n, 3, life[from]);
    kv_cache_append(c, n, words, words);
    kv_cache_attend(c, 1, n, words, rows_by_head(1, n, 3, context[from]));
}

static void show_cuts(void)
{
    float context[6][3], whole[6][3], log_sum_exp[6];
    const KVCache sizes = {
        .n_kv_heads = 1, .d_k = 3, .d_v = 3, .capacity = 6};
    int alike = 0;
    flash_forward(6, 6, 3, 3, mask_causal(0), life, life, life, whole,
                  log_sum_exp);
    for (int cuts = 0; cuts < 32; cuts++) {
        KVCache c;
        kv_cache_init(&c, &sizes);
        for (int i = 0, begun = 0; i < 6; i++)
            if (i == 5 || cuts >> i & 1) {
                append_and_attend(&c, i + 1 - begun, context);
                begun = i + 1;
            }
        alike += largest_difference(18, context[0], whole[0]) < 1e-6f;
        kv_cache_free(&c);
    }
    print_integers("ways to cut, and those that agree to 1e-6", 2,
                   (int[]){32, alike});
    print_matrix("context vectors, word by word", 6, 3, context);
}

/*
``` output
ways to cut, and those that agree to 1e-6 (2)
[32, 32]
context vectors, word by word (6, 3)
[[ 0.3374, -0.1778, -0.3035],
 [ 0.1916,  1.7350,  0.4337],
 [ 0.2752,  0.2484, -0.5106],
 [ 0.0676,  0.1875,  0.1808],
 [-0.0929,  0.5033,  0.3479],
 [-0.7276,  0.5876, -0.9173]]
```

## What a token costs {#kv-cache-pace}

One query meets each key once. Each number of a key is read for one
multiplication and one addition, and so is each number of a value: two FLOPs
for four bytes, half an operation a byte. In [](#fig-kernel-roofline) half
an operation is far on the left, where the memory is the limit. Here is one
token in 32 heads, with 4,096 keys of 128 entries in each, on one core of
the machine that [](#kernel) names. These are $2 \cdot 32 \cdot 4{,}096
\cdot 128 \cdot 4 = 134{,}217{,}728$ bytes, too many for the processor's
caches, so a token costs the time in which memory hands over all of them:
*/

/* folded: how this is printed */
static void show_cost(void)
{
    const char *const what = "decode 32x4096x128";
    const char *const library[4] = {"attention-in-c", "pytorch",
                                    "onnxruntime", "openblas"};
    const char *const name[5] = {"this book's kernel", "PyTorch",
                                 "ONNX Runtime", "OpenBLAS", "at best"};
    float ms[4], speed[5];
    for (int i = 0; i < 4; i++) {
        ms[i] = measured("ms", what, library[i], 1);
        speed[i] = measured("GB/s", what, library[i], 1);
    }
    speed[4] = measured("GB/s", "read", "memory", 1);
    print_measures("time for a token", "ms", 4, name, ms);
    print_measures("speed of reading", "GB/s", 5, name, speed);
}

/*
``` output
time for a token, in ms
  this book's kernel   5.36
  PyTorch             25.3
  ONNX Runtime         6.57
  OpenBLAS            14.7
speed of reading, in GB/s
  this book's kernel  25.0
  PyTorch              5.31
  ONNX Runtime        20.4
  OpenBLAS             9.13
  at best             26.1
```

OpenBLAS has only products, to which we add softmax. *At best* is how fast
bytes can come from memory. This page's `kv_cache_attend` was not measured:
it copies each key for each head, and waits for its own sums.

The kernel's `kv_cache_attend_fast`, in `src/kernel/cache.c`, computes the
same, so its code may be skipped. It works in one of two ways.

**Few tokens ask**, as when a model writes. Queries are too few to fill the
lanes, so the lanes hold the entries of a row: a key's entries are
multiplied with the query's, lane by lane. Rows are filled up with zeros to
a multiple of 16, so that vectors fit. Tokens are taken in **splits** of
1,024, so that few scores wait at a time: the keys of a split are read one
behind the other, then its values, since memory is fastest when it is read
in order. If several tokens ask at once, or heads share keys
([](#kv-cache-groups)), up to 32 queries share what is read.

Threads share the splits. From each split, each query gets a largest score,
a sum and a mixture, as if there were no other keys. Afterwards these are
merged. Let *first* ask the six words in two splits of three:
*/

/* folded: how this is printed */
static void show_splits(void)
{
    OnlineSoftmax s[2];
    float x[3][5] = {{0}}, context[3];
    for (int k = 0; k < 2; k++) {
        online_softmax_init(3, &s[k], &x[k][2]);
        for (int j = 3 * k; j < 3 * k + 3; j++)
            online_softmax_add(3, dot(3, life[5], life[j]) / sqrtf(3),
                               life[j], &s[k], &x[k][2]);
        x[k][0] = s[k].largest;
        x[k][1] = (float)s[k].sum;
    }
    x[2][0] = fmaxf(x[0][0], x[1][0]);
    for (int k = 0; k < 2; k++)
        for (int i = 1; i < 5; i++)
            x[2][i] += expf(x[k][0] - x[2][0]) * x[k][i];
    for (int i = 0; i < 3; i++)
        context[i] = x[2][2 + i] / x[2][1];
    print_matrix("largest, sum, mixture: two splits, then merged", 3, 5, x);
    print_vector("context vector of first", 3, context);
}

/*
``` output
largest, sum, mixture: two splits, then merged (3, 5)
[[ 0.6142,  2.1972,  0.5647,  1.1323, -0.8357],
 [ 2.2500,  1.1626, -1.2674,  0.7140, -1.2963],
 [ 2.2500,  1.5906, -1.1573,  0.9346, -1.4591]]
context vector of first (3)
[-0.7276,  0.5876, -0.9173]
```

The first two rows are the splits. Let $M$ be the larger of the two largest
scores. A split whose largest score is $m$ has its sum and its mixture
multiplied by $e^{m - M}$, as in [](#flash-key): the first split by
$e^{0.6142 - 2.2500}$, the second by 1. Then sums and mixtures are added,
and the mixture is divided by the sum.

**Many tokens ask**, 32 or more (64 with a window or 16 bits), as in a
question. Then queries fill the lanes, and the tiles of [](#kernel) are
faster.

## Fewer keys {#kv-cache-groups}

How large is a cache? A model with 32 layers, each with 32 heads of 128
entries, keeps for each token 32 times 32 keys and as many values:
*/

/* folded: how this is printed */
/* What 32 layers keep of so many tokens, in GiB. */
static float cache_gibibytes(int key_heads, int tokens, Format format)
{
    KVCache c = {.capacity = tokens, .format = format};
    c.n_kv_heads = key_heads;
    c.d_k = c.d_v = 128;
    return 32 * (float)kv_cache_bytes(&c) / (1 << 30);
}

static void show_sizes(void)
{
    const char *const what[3] = {"decode 32x4096x128",
                                 "decode 32x4096x128 on 8 of keys",
                                 "decode 32x4096x128 on 1 of keys"};
    const char *const name[3] = {"32 heads of keys", "8", "1"};
    const int heads[3] = {32, 8, 1};
    float gib[3], ms[3];
    for (int i = 0; i < 3; i++) {
        gib[i] = cache_gibibytes(heads[i], 4096, FORMAT_FLOAT32);
        ms[i] = measured("ms", what[i], "attention-in-c", 1);
    }
    print_measures("what 4,096 tokens take", "GiB", 3, name, gib);
    print_measures("time for a token in a layer", "ms", 3, name, ms);
}

/*
``` output
what 4,096 tokens take, in GiB
  32 heads of keys  4.00
  8                 1.00
  1                 0.125
time for a token in a layer, in ms
  32 heads of keys  5.36
  8                 3.83
  1                 1.34
```

Four gibibytes for one text, all of which the 4,096th token reads. There are
three ways to have less. The first is to let several heads share their keys
and values. If all heads share one head of keys, that is **multi-query
attention** [@shazeer2019]; if each group of a few neighbours shares one,
**grouped-query attention** [@ainslie2023]. If four heads share a key, the
cache is a quarter as large, since a key is kept and read once for all four.
The time shrinks less: the arithmetic stays the same.

Shared keys are not the same attention. A model has to be trained with them,
from the start or for some while more, and then little is lost
[@ainslie2023].
*/

/* folded: how this is printed */
static void show_groups(void)
{
    float query[4][3], key[2][6][3], value[2][6][3], context[4][3];
    KVCache c;
    Random r = random_seeded(123);
    random_fill(&r, 4, 3, query);
    random_fill(&r, 12, 3, key[0]);
    random_fill(&r, 12, 3, value[0]);
    kv_cache_init(
        &c, &(KVCache){.n_kv_heads = 2, .d_k = 3, .d_v = 3, .capacity = 6});
    kv_cache_append(&c, 6, rows_by_head(2, 6, 3, key[0][0]),
                    rows_by_head(2, 6, 3, value[0][0]));
    kv_cache_attend(&c, 4, 1, rows_by_head(4, 1, 3, query[0]),
                    rows_by_head(4, 1, 3, context[0]));
    print_matrix("one token, four heads, two of keys", 4, 3, context);
    float alone[4][3], log_sum_exp;
    for (int h = 0; h < 4; h++)
        flash_forward(1, 6, 3, 3, mask_none(), query + h, key[h / 2],
                      value[h / 2], alone + h, &log_sum_exp);
    printf("head h by itself, with the keys of h / 2: %s\n",
           largest_difference(12, context[0], alone[0]) < 1e-6f
               ? "the same"
               : "another");
    kv_cache_free(&c);
}

/*
``` output
one token, four heads, two of keys (4, 3)
[[0.5962, 0.5120, 0.3501],
 [0.6154, 0.5042, 0.3505],
 [0.4649, 0.6128, 0.4503],
 [0.4767, 0.6288, 0.4340]]
head h by itself, with the keys of h / 2: the same
```

The first two heads share the first head of keys, the other two the second.

## A ring {#kv-cache-window}

The second way is not to look back for ever. With a **sliding window** a
token sees the last $w$ tokens, itself included [@beltagy2020; @jiang2023].
When $w$ tokens have come after a key, nobody sees that key any more, and
the newest token can take its row. So $w$ rows are enough, however long the
text becomes. The rows are a **ring buffer**: after the last comes the
first.
*/

/* folded: how this is printed */
static void draw_window(void)
{
    enum { N = 8, W = 4 };
    const char *const panel[2] = {"all before", "the last four"};
    float seen[2][N][N], scores[N][N] = {{0}};
    causal_mask(N, seen[0]);
    mask_window(N, W, scores);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            seen[1][i][j] = scores[i][j] == 0;
    figure_grid("window", "Which tokens a token sees", 2, panel, N, N,
                seen);
}

/* Which word a row holds; a row of zeros holds none, and is -1. */
static int word_in_row(const KVCache *c, int row)
{
    float key[3];
    load_row(c->format, 3, kv_cache_row(c, c->key, c->padded_d_k, 0, row),
             key);
    int word = 5;
    while (word >= 0 && memcmp(key, life[word], sizeof key))
        word--;
    return word;
}

/* unfolded */

/* The rows after each of the last three words: what each row holds, which
 * has come last, and which will be overwritten. */
enum { W = 4 }; /* rows of the ring */
/* folded: how this is printed */
static void draw_ring(const int held[3][W])
{
    static const char *const text[6] = {"Life", "is",      "short",
                                        "eat",  "dessert", "first"};
    static const char *const label[3] = {"after eat", "after dessert",
                                         "after first"};
    static const char *const row[W] = {"row 0", "row 1", "row 2", "row 3"};
    const char *cell[3][2 * W];
    int part[3][2 * W];
    FigureLayout panel[3];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < W; i++) {
            const int word = held[k][i];
            const int mark = word == k + 3 ? 0 : word == k ? 1 : -1;
            cell[k][2 * i] = word < 0 ? "" : text[word];
            cell[k][2 * i + 1] = mark < 0 ? "" : mark ? "next" : "new";
            part[k][2 * i] = part[k][2 * i + 1] = mark;
        }
        panel[k] =
            (FigureLayout){label[k], W, 2, row, NULL, cell[k], part[k]};
    }
    figure_layout("ring", "A ring, before and after it turns", 3, panel);
}

static void show_ring(void)
{
    const KVCache sizes = {
        .n_kv_heads = 1, .d_k = 3, .d_v = 3, .capacity = W, .window = W};
    float context[6][3], log_sum_exp, in_order[3];
    int held[6][W];
    KVCache c;
    kv_cache_init(&c, &sizes);
    for (int i = 0; i < 6; i++) {
        append_and_attend(&c, 1, context);
        for (int row = 0; row < W; row++)
            held[i][row] = word_in_row(&c, row);
    }
    kv_cache_free(&c);
    draw_ring((const int(*)[W])held + 3);
    print_integers("which word each row holds, counted from 0", W, held[5]);
    print_vector("context vector of first, by the ring", 3, context[5]);
    flash_forward(1, W, 3, 3, mask_none(), life + 5, life + 2, life + 2,
                  &in_order, &log_sum_exp);
    print_vector("context vector of first, by words in order", 3, in_order);
}

/*
``` output
which word each row holds, counted from 0 (4)
[4, 5, 2, 3]
context vector of first, by the ring (3)
[-0.8950,  0.5150, -1.1015]
context vector of first, by words in order (3)
[-0.8950,  0.5150, -1.1015]
```

![Which tokens a token sees, a row for each: all up to its own position, or
the last four](window.svg){#fig-kv-window}

![The four rows of the ring before and after it turns: the row that has just
been written is *new*, the one that will be overwritten is
*next*](ring.svg){#fig-kv-ring}

*dessert* and *first* have taken the rows of *Life* and *is*.
`kv_cache_attend` finds word `t` in row `t % capacity`. (Where a token's
position matters, the position has been worked into its key before the key
is kept: [](#positions).)

A word that nobody sees any more is not lost: the tokens that saw it have
mixed its value into their context vectors.

When several tokens come at once, the first of them looks further back than
the last: `n` tokens need room for $w + n - 1$. If there is less,
`kv_cache_append` has overwritten what the first would see, and
`kv_cache_attend` refuses. So of a long question, at most `capacity - w + 1`
tokens may come at a time.

## Half of the bytes {#kv-cache-half}

The third way is to keep each number in 16 bits. A float has 32: one for the
sign, eight for the exponent, and 23 for the fraction ([](#kernel-exp2)).
**bfloat16** is the upper half of a float: the same exponent, with seven
bits of fraction. It reaches as far as a float, in coarser steps.

To cut the lower half off would always err towards zero. Better is the
nearer of the two neighbours. Of two that are equally near, take the one
whose last bit is 0, so that ties go up as often as down. How? Read the 32
bits as a whole number, in which the last bit that stays counts `0x10000`.
Add `0x7fff`, one less than half of `0x10000`. If the lower 16 bits are
above `0x8000`, the sum carries, and the number goes up. Add 1 more if the
last bit that stays is 1: then a tie carries, too. (The very largest floats
become infinite, as they should.)

**Exercise 16.2** (★★, 3 points): `to_bfloat16`. The upper half of a float,
rounded. Where all bits of the exponent are 1, a fraction of 0 means
infinity, and any other fraction means `nan`. So the fraction of a `nan`
must not become 0, and no carry may run into its exponent.

::: hint
`memcpy` gives the bits as a `uint32_t`. The last bit that stays is
`bits >> 16 & 1`.
:::

::: hint
A fraction is not 0 if its highest bit, `0x40` of the upper half, is set.
:::

::: done
The cache is half as large, and half as many bytes are read for each word.
:::
*/

uint16_t to_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/*
**float16** [@ieee754] has five bits for the exponent and ten for the
fraction. Its steps are finer, but 65,504 is its largest number, and from
65,520 on, halfway to what would be the next, all becomes infinite. Below
$2^{-14}$ the exponent has come to its end, and all numbers are multiples of
$2^{-24}$. A float's exponent has 127 added ([](#kernel-exp2)), and
float16's has 15. So in float16, $1.5 = 2^0 \cdot (1 + 512 / 1{,}024)$ has
the exponent 15 and the fraction 512. `src/float16.c` has the
rounding and the way back. That file may be skipped: it rounds as bfloat16
does, at another bit, with care at the exponent's two ends. The way back
from bfloat16 is to append 16 zeros.
*/

float from_bfloat16(uint16_t bits)
{
    const uint32_t all = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &all, sizeof x);
    return x;
}

/*
So a row is written in its format, and read as floats:
*/

void store_row(Format format, int d, const float x[d], void *row)
{
    uint16_t *halves = row;
    if (format == FORMAT_FLOAT32)
        memcpy(row, x, (size_t)d * sizeof *x);
    for (int k = 0; format == FORMAT_BFLOAT16 && k < d; k++)
        halves[k] = to_bfloat16(x[k]);
    for (int k = 0; format == FORMAT_FLOAT16 && k < d; k++)
        halves[k] = to_float16(x[k]);
}

void load_row(Format format, int d, const void *row, float x[d])
{
    const uint16_t *halves = row;
    if (format == FORMAT_FLOAT32)
        memcpy(x, row, (size_t)d * sizeof *x);
    for (int k = 0; format == FORMAT_BFLOAT16 && k < d; k++)
        x[k] = from_bfloat16(halves[k]);
    for (int k = 0; format == FORMAT_FLOAT16 && k < d; k++)
        x[k] = from_float16(halves[k]);
}

/* folded: how this is printed */
static void show_numbers(void)
{
    enum { N = 5 };
    const float x[N] = {2.f / 3, 257, 259, 65504, 65520};
    float bfloat[N], half[N];
    for (int i = 0; i < N; i++) {
        bfloat[i] = from_bfloat16(to_bfloat16(x[i]));
        half[i] = from_float16(to_float16(x[i]));
    }
    print_vector("five numbers", N, x);
    print_vector("in bfloat16", N, bfloat);
    print_vector("in float16", N, half);
    const int bits = to_float16(1.5f);
    print_integers("1.5 in float16: exponent, fraction, of", 3,
                   (int[]){bits >> 10, bits & 1023, 1024});
    print_value("log2 of float16's smallest", log2f(from_float16(1)));
}

/* What a hundred random tokens get, with keys and values in this format. */
static void attend_in_format(Format format, float context[100][16])
{
    static float x[100][16];
    Random r = random_seeded(123);
    normal_fill(&r, 100, 16, 0, 1, x);
    KVCache c, sizes = {.n_kv_heads = 1, .capacity = 100};
    sizes.d_k = sizes.d_v = 16;
    sizes.format = format;
    const StridedRows rows = rows_by_head(1, 100, 16, x[0]);
    kv_cache_init(&c, &sizes);
    kv_cache_append(&c, 100, rows, rows);
    kv_cache_attend(&c, 1, 100, rows, rows_by_head(1, 100, 16, context[0]));
    kv_cache_free(&c);
}

static void show_errors(void)
{
    static float x[3][100][16];
    for (int f = 0; f < 3; f++)
        attend_in_format((Format)f, x[f]);
    const float error[2] = {
        largest_difference(1600, x[0][0], x[FORMAT_BFLOAT16][0]),
        largest_difference(1600, x[0][0], x[FORMAT_FLOAT16][0])};
    print_vector("largest errors: bfloat16, float16", 2, error);
    const char *const decode = "decode 32x4096x128";
    print_measures(
        "time for a token", "ms", 3,
        (const char *[]){"as floats", "in bfloat16", "in float16"},
        (float[]){measured("ms", decode, "attention-in-c", 1),
                  measured("ms", decode, "attention-in-c bfloat16", 1),
                  measured("ms", decode, "attention-in-c float16", 1)});
    const float gib[1][4] = {{cache_gibibytes(32, 4096, FORMAT_FLOAT32),
                              cache_gibibytes(8, 4096, FORMAT_FLOAT32),
                              cache_gibibytes(8, 1024, FORMAT_FLOAT32),
                              cache_gibibytes(8, 1024, FORMAT_BFLOAT16)}};
    figure_bars(
        "sizes", "What a cache takes, in GiB", 1, (const char *[]){"GiB"},
        4, (const char *[]){"32 heads", "8 heads", "+ window", "+ 16 bits"},
        gib);
}

/*
``` output
five numbers (5)
[    0.6667,   257.0000,   259.0000, 65504.0000, 65520.0000]
in bfloat16 (5)
[    0.6680,   256.0000,   260.0000, 65536.0000, 65536.0000]
in float16 (5)
[    0.6665,   257.0000,   259.0000, 65504.0000,        inf]
1.5 in float16: exponent, fraction, of (3)
[  15,  512, 1024]
log2 of float16's smallest: -24.0000
largest errors: bfloat16, float16 (2)
[0.0086, 0.0011]
time for a token, in ms
  as floats    5.36
  in bfloat16  3.25
  in float16   4.79
```

The errors are those of a hundred random tokens. Keys and values are rounded
when kept; queries, sums and contexts remain floats. The fraction of
bfloat16 has three bits fewer than float16's, and its errors are about eight
times as large. The times are those of [the token of above](#kv-cache-pace):
bytes come in half of the time, but it takes time to widen them to floats,
and more for float16.

Fewer keys, a window and 16 bits can be had together:

![What a cache of 4,096 tokens takes in 32 layers: with 32 heads of keys;
with 8; of these the last 1,024 tokens only; and these in 16
bits](sizes.svg){#fig-kv-sizes}

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "roles scores scale mask weights context");
    show_work();
    draw_rows();
    show_cuts();
    show_cost();
    show_splits();
    show_sizes();
    show_groups();
    draw_window();
    show_ring();
    show_numbers();
    show_errors();
    return 0;
}

/*
The same in PyTorch, which leaves the cache to its callers. With
`enable_gqa`, neighbouring heads share their keys:

``` python
import torch
import torch.nn.functional as F

words = "Life is short eat dessert first".split()
ids = torch.tensor([sorted(words).index(w) for w in words])
torch.manual_seed(123)
x = torch.nn.Embedding(50_000, 3)(ids).detach()
attend = F.scaled_dot_product_attention

kept, contexts = x[:0], []
for word in x:
    kept = torch.cat([kept, word[None]])
    contexts.append(attend(word[None], kept, kept)[0])
print(torch.stack(contexts))

torch.manual_seed(123)
q, k, v = torch.rand(4, 1, 3), torch.rand(2, 6, 3), torch.rand(2, 6, 3)
print(attend(q[None], k[None], v[None], enable_gqa=True)[0, :, 0])
print(attend(x[5:], x[2:], x[2:])[0])
numbers = torch.tensor([2 / 3, 257, 259, 65504, 65520])
print(numbers.bfloat16().float())
print(numbers.half().float())
```

## Further exercises

**Exercise 16.3** (★★, challenge, 3 points): `kv_cache_truncate`. A small
model may guess several tokens ahead. The large model is asked about all of
them at once, so that the cache is read only once, and keeps those that it
would have written [@leviathan2023]. The rest must be taken back: the last
`n` tokens, as if they had not come. `kv_cache_truncate` refuses an `n`
below 0, an `n` above the number of tokens, and an `n` so large that the
next token would look back to a token whose row has been taken.

::: hint
Rows are taken anew in [](#kv-cache-window). Here none is to be changed. But
`first` is still the first token that is there, unless that has been taken
back itself.
:::

::: hint
The next token will have the number `count - n`. Which is the first that it
sees, with a window and without? Does it see any besides itself?
:::

::: done
A wrong guess costs nothing to take back: so a small model may guess ahead
for a large one.
:::

**Exercise 16.4** (by hand): A model has 32 layers and 8 heads of keys, of
128 entries, in bfloat16. How many bytes does it keep for a token?

**Exercise 16.5** (by hand): 257 became smaller in bfloat16, and 259 larger.
Why has neither become the number between them?

## Solutions

::: {.solution exercise="16.3"}
*/

void kv_cache_truncate(KVCache *c, int n)
{
    const int64_t left = c->count - n;
    const int64_t back = c->window ? left - c->window + 1 : 0;
    const int64_t from = back > 0 ? back : 0;
    if (n < 0 || left < 0 || (from < left && from < c->first))
        REFUSE("%d of %" PRId64 " tokens are to be taken back, and the "
               "first that is there is number %" PRId64 ": at least 0, "
               "and no more than it can do without, are needed",
               n, c->count, c->first);
    c->count = left;
    if (c->first > left)
        c->first = left;
}

/*
:::

::: {.solution exercise="16.4"}
A key and a value of 128 entries of two bytes, for each of 8 heads in 32
layers: $2 \cdot 128 \cdot 2 \cdot 8 \cdot 32 = 131{,}072$.
:::

::: {.solution exercise="16.5"}
Between them is $257 + 1 = 258$, a number of bfloat16. Such numbers are 2
apart there. So both 257 and 259 are halfway between two neighbours, and get
the one whose last bit is 0. The number between them is a neighbour of both,
and its last bit is 1.
:::
*/
