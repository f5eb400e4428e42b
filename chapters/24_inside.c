/*
# Inside a trained model {#inside}

![The way from words to attention. This chapter looks at the shaded
step](pipeline.svg){#fig-inside-pipeline}

[](#language-model) has trained a model of 15 heads, five in each of three
blocks. What do these heads do?

A table of weights shows what a head looks at, as in [](#self-attention).
But what one sees in a few tables may be chance. And a head that looks at
something may still be of no use to the model.

The one idea of this chapter is to ask two things of every head, and to ask
them with numbers. What does it look at? A score says so: the mean of some
of its weights. Does the model need it? The loss says so: we switch the head
off, and see how much worse the model predicts.
*/

#include "attention/24_inside.h"
#include "attention/09_causal_mask.h"
#include "attention/13_multi_head.h"
#include "attention/20_optimizers.h"
#include "attention/21_training.h"
#include "attention/gpt_fast.h"
#include "attention/gpt_file.h"
#include "attention/prose.h"
#include "attention/trained.h"
#include "support.h"

/*
## A text that stands twice {#inside-scores}

[](#training-repeated) has told of two kinds of head that work together. A
**previous-token head** looks at the token before. An **induction head**
looks at the token that came after the same token the last time. If *b*
followed *a* then, *b* may follow *a* again.
Chapter 21 gave the model's keys the token before, so that one head was
enough. Does a model of several blocks find both heads by itself?

To find such heads we need texts in which we know what followed earlier. The
simplest ones are a passage, and the same passage again. Take *a b c d a b c
d*, and count its tokens from 0. The second *b* is token 5. The first *b* is
token 1, and token 2 followed it. So an induction head looks from token 5 at
token 2, which is three tokens back. From every token of the second half it
looks three tokens back: the passage has four tokens, and four less one is
three.

![The weights of two heads. A row is a token that looks, and a column a
token that is looked at. In the first half, where there is nothing to find,
the second head has equal weights](heads.svg){#fig-inside-heads}

In the table of weights, each of these heads fills a diagonal: the weights
one token back, or three tokens back. The mean weight on its diagonal is the
head's score: for one token back over all tokens but the first, and for what
followed over the second half. A head that looks at nothing else has the
score 1. (This score is not one of those from which softmax makes weights.)

**Exercise 24.1** (★, 2 points): `weight_back`. The mean weight on the token
that is `back` tokens back, over the tokens from token `from` to the last
one. `weight_back` refuses a `back` below 0, a `from` below `back`, where no
token is so far back, and a `from` that is not below `n`.

::: hint
Row `i` of the table has the weights of token `i`. The token that is `back`
tokens back has the index `i - back`.
:::

::: done
One function finds both kinds of head: one looks one token back, and the
other as far as the passage is long, less one.
:::
*/

float weight_back(int n, const float weights[n][n], int from, int back)
{
    if (back < 0 || from < back || from >= n)
        REFUSE("from token %d on, %d back, of %d tokens: 0 <= back <= from "
               "< %d is needed",
               from, back, n, n);
    float sum = 0;
    for (int i = from; i < n; i++)
        sum += weights[i][i - back];
    return sum / (float)(n - from);
}

enum { SHORT = 8, LONG = 128 };

/* folded: how this is printed */
/* The weights of three heads: equal ones; the token before alone; and in
 * the second half what followed the first time. */
static void ideal_weights(int n, float weights[3][n][n])
{
    memset(weights, 0, sizeof(float[3][n][n]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            weights[0][i][j] = 1 / (float)(i + 1);
    memcpy(weights[1][0], weights[0][0], sizeof weights[1][0]);
    for (int i = 1; i < n; i++)
        weights[1][i][i - 1] = 1;
    memcpy(weights[2], weights[0], sizeof(float[n / 2][n]));
    for (int i = n / 2; i < n; i++)
        weights[2][i][i - (n / 2 - 1)] = 1;
}

/* Their scores, in a short text and in a long one. */
static void show_scores(void)
{
    static float weights[3][SHORT][SHORT], longer[3][LONG][LONG];
    static const char *const letter[SHORT] = {"a", "b", "c", "d",
                                              "a", "b", "c", "d"};
    float scores[3][2];
    ideal_weights(SHORT, weights);
    ideal_weights(LONG, longer);
    for (int h = 0; h < 3; h++) {
        scores[h][HEAD_BEFORE] = weight_back(SHORT, weights[h], 1, 1);
        scores[h][HEAD_AFTER] =
            weight_back(SHORT, weights[h], SHORT / 2, SHORT / 2 - 1);
    }
    print_matrix("equal weights, token before, induction: both scores", 3,
                 2, scores);
    print_vector(
        "equal weights in a text of 128", 2,
        (float[]){weight_back(LONG, longer[0], 1, 1),
                  weight_back(LONG, longer[0], LONG / 2, LONG / 2 - 1)});
    figure_maps("heads",
                "A head for the token before, and an induction head", 2,
                (const char *const[]){"the token before", "what followed"},
                SHORT, letter, SHORT, letter, weights + 1);
}

/*
``` output
equal weights, token before, induction: both scores (3, 2)
[[0.2454, 0.1586],
 [1.0000, 0.0000],
 [0.1548, 1.0000]]
equal weights in a text of 128 (2)
[0.0349, 0.0108]
```

Each row is a head, with its score for the token before, and then its score
for what followed the first time. The second and the third row are the two
heads of the figure: each has 1 in the score by which it is to be found.
(The third has $(1/2 + 1/3 + 1/4) / 7 = 0.1548$ for the token before, from
its first half.) The first row is a head with equal weights, with which any
other head is to be compared. Its scores depend on the length: in a text of
128 tokens they are 0.0349 and 0.0108.

In prose, most letters stand several times in a passage, and only one of
them is at the same point of it. So a head that goes by a single letter has
to share its weight among all that has followed this letter, and has a low
score for what followed.

Each of our texts is a passage of the prose held out, which the model has
not learned by heart, and the same passage again. A model whose tokens are
not bytes gets random tokens, and the same again:
*/

/* folded: how this is drawn */
void draw_twice(Random *r, int vocabulary, int texts, int n,
                int ids[texts][n])
{
    const int half = n / 2, is_bytes = vocabulary == 128;
    const PlainText *source = is_bytes ? held_out() : NULL;
    if (texts < 1 || n < 6 || n % 2)
        REFUSE("%d texts of %d tokens: at least 1, and an even number from "
               "6 on, are needed",
               texts, n);
    if (is_bytes && half > source->length)
        REFUSE("texts of %d tokens: at most %d, twice the text held out, "
               "are needed",
               n, 2 * source->length);
    for (int t = 0; t < texts; t++) {
        const int from =
            is_bytes ? random_below(r, source->length - half + 1) : 0;
        for (int i = 0; i < half; i++)
            ids[t][i] = ids[t][i + half] =
                is_bytes ? source->bytes[from + i]
                         : random_below(r, vocabulary);
    }
}

/*
The weights of a head are not in the pass that `gpt_forward` has filled,
since fast attention never holds their whole table ([](#flash)). But the
pass has the queries and the keys of all heads. `split_heads` gives each
head its part of them ([](#multi-head)), and `masked_weights` makes the
weights ([](#causal-mask)). Then `heads_back` takes one score of all heads,
the mean over all texts:
*/

/* The weights of all heads of a block, in one of the texts. */
static void text_weights(const Trace *t, int n, int text,
                         float weights[t->n_heads][n][n])
{
    const int heads = t->n_heads, d = t->d_k, first = text * n;
    const float(*query)[heads * d] = ROWS(heads * d, t->query);
    const float(*key)[heads * d] = ROWS(heads * d, t->key);
    float *own_query = new_table(heads * n, d);
    float *own_key = new_table(heads * n, d), *products = new_table(n, n);
    split_heads(n, heads, d, query + first, TABLES(n, d, own_query));
    split_heads(n, heads, d, key + first, TABLES(n, d, own_key));
    for (int h = 0; h < heads; h++)
        masked_weights(n, n, d, mask_causal(0), TABLES(n, d, own_query)[h],
                       TABLES(n, d, own_key)[h], ROWS(n, products),
                       weights[h]);
    free(own_query);
    free(own_key);
    free(products);
}

void heads_back(const GptPass *p, int from, int back,
                float mean[p->layers * p->block->attention.n_heads])
{
    const int n = p->n;
    for (int l = 0; l < p->layers; l++) {
        const Trace *t = &p->block[l].attention;
        float *weights = new_table(t->n_heads * n, n);
        memset(mean, 0, (size_t)t->n_heads * sizeof *mean);
        for (int k = 0; k < p->texts; k++) {
            text_weights(t, n, k, TABLES(n, n, weights));
            for (int h = 0; h < t->n_heads; h++)
                mean[h] +=
                    weight_back(n, TABLES(n, n, weights)[h], from, back) /
                    (float)p->texts;
        }
        mean += t->n_heads;
        free(weights);
    }
}

/*
## Switched off {#inside-off}

A block adds what its attention makes to the sum of each token ([](#gpt)). A
head reaches that sum only through the output layer of the attention. This
layer multiplies the contexts of all heads, side by side: the first `d_v`
columns of its weight multiply the context of head 0, the next `d_v` columns
that of head 1. If there are zeros in a head's columns, nothing comes of its
context, and the model runs as if the head were not there. To take a part
away and to measure again is called **ablation**.

**Exercise 24.2** (★★, 3 points): `head_swap`. Exchange the columns of head
`h` in the weight of the output layer with other columns that the caller
gives. So a first call with zeros switches the head off and keeps its
columns, and a second call switches it on again. `head_swap` refuses a head
that is not there, and an attention without an output layer.

::: hint
The weight of the output layer has `d_out` rows, and `out.d_in` columns, as
many as all contexts have entries: `ROWS(a->out.d_in, a->out.weight)`. The
columns of head `h` begin at `h * a->d_v`.
:::

::: done
A head is off, and on again to the last bit. Such an ablation is the control
that a picture of weights lacks.
:::
*/

void head_swap(Attention *a, int h, float columns[a->d_out][a->d_v])
{
    if (h < 0 || h >= a->n_heads || !a->d_out)
        REFUSE("head %d of %d, with an output layer of %d entries: a head "
               "from 0 to %d, and at least 1 entry, are needed",
               h, a->n_heads, a->d_out, a->n_heads - 1);
    float(*weight)[a->out.d_in] = ROWS(a->out.d_in, a->out.weight);
    for (int i = 0; i < a->d_out; i++)
        for (int k = 0; k < a->d_v; k++) {
            float *in_layer = &weight[i][h * a->d_v + k];
            const float kept = *in_layer;
            *in_layer = columns[i][k];
            columns[i][k] = kept;
        }
}

/*
Which loss is to be measured? An induction head helps most in the second
half, where the whole passage has stood before. So the targets are the
tokens of the second half, but not the first of them, since nothing in the
text says that the passage will begin again. The same tokens in the first
half are for comparison. Their loss is that of a first reading, and the
difference of both losses is the gain, if any, from the second reading:
*/

/* The mean losses of the first halves and of the second ones: of all tokens
 * but the first of a half, from those before them. */
static void half_losses(const GptPass *p, const int *ids, float loss[2])
{
    const int half = p->n / 2, size = p->vocabulary;
    const float(*logits)[size] = ROWS(size, p->logits);
    float *shares = new_table(half, size);
    loss[0] = loss[1] = 0;
    for (int i = 0; i < 2 * p->texts; i++)
        loss[i % 2] +=
            cross_entropy(half - 1, size, logits + i * half,
                          ids + i * half + 1, ROWS(size, shares)) /
            (float)p->texts;
    free(shares);
}

static void twice_check(int texts, int n, const int ids[texts][n])
{
    if (n < 6 || n % 2)
        REFUSE("texts of %d tokens: an even number from 6 on is needed", n);
    for (int t = 0; t < texts; t++)
        for (int i = 0; i < n / 2; i++)
            if (ids[t][i] != ids[t][i + n / 2])
                REFUSE("text %d has %d at token %d and %d at token %d: the "
                       "same is needed",
                       t, ids[t][i], i, ids[t][i + n / 2], i + n / 2);
}

/*
Two functions put this together. `head_weights` finds both scores of each
head, and both losses. `head_scores` calls it once for the model as it is,
and once more for each head, without that head:
*/

void head_weights(const Gpt *g, int texts, int n, const int ids[texts][n],
                  float score[g->layers * g->n_heads][HEAD_SCORES],
                  float loss[2])
{
    const int all = g->layers * g->n_heads, half = n / 2;
    float before[all], after[all];
    GptPass p;
    twice_check(texts, n, ids);
    gpt_pass_init(&p, g, texts, n);
    gpt_forward(g, NULL, *ids, &p);
    heads_back(&p, 1, 1, before);
    heads_back(&p, half, half - 1, after);
    for (int i = 0; i < all; i++) {
        score[i][HEAD_BEFORE] = before[i];
        score[i][HEAD_AFTER] = after[i];
    }
    half_losses(&p, *ids, loss);
    gpt_pass_free(&p);
    if (!isfinite(loss[0] + loss[1]))
        REFUSE("losses of %g and %g: a model with finite ones is needed",
               (double)loss[0], (double)loss[1]);
}

void head_scores(Gpt *g, int texts, int n, const int ids[texts][n],
                 float score[g->layers * g->n_heads][HEAD_SCORES],
                 float loss[2])
{
    const int heads = g->n_heads, all = g->layers * heads;
    const int d_v = g->block->attention.d_v;
    float(*columns)[d_v] = new_list((size_t)g->width, sizeof *columns);
    float off[all][HEAD_SCORES], loss_off[2];
    head_weights(g, texts, n, ids, score, loss);
    for (int i = 0; i < all; i++) {
        Attention *a = &g->block[i / heads].attention;
        head_swap(a, i % heads, columns);
        head_weights(g, texts, n, ids, off, loss_off);
        head_swap(a, i % heads, columns);
        score[i][HEAD_LOSS_OFF] = loss_off[1];
        score[i][HEAD_AFTER_OFF] = 0;
        for (int k = 0; k < all; k++)
            if (k != i)
                score[i][HEAD_AFTER_OFF] =
                    fmaxf(score[i][HEAD_AFTER_OFF], off[k][HEAD_AFTER]);
    }
    free(columns);
}

/*
## The heads of the long run {#inside-run}

Here is the model that the long run of [](#language-model-run) has kept,
with the least loss on the text held out. `make train` has measured its
heads, in sixteen passages of 64 bytes, each twice:
*/

/* folded: how this is printed */
/* The scores of all heads, as a table. */
static void show_heads(int layers, int heads, const float loss[2],
                       const float score[layers * heads][HEAD_SCORES])
{
    static const char *const column[HEAD_SCORES] = {
        "before", "followed", "loss off", "followed off"};
    const int all = layers * heads;
    char(*word)[40] = new_list((size_t)all, sizeof *word);
    const char **row = new_list((size_t)all, sizeof *row);
    for (int i = 0; i < all; i++) {
        snprintf(word[i], sizeof word[i], "block %d head %d", i / heads,
                 i % heads);
        row[i] = word[i];
    }
    print_vector("loss of the first half, and of the second", 2, loss);
    print_measure_table("heads", "weights and losses", all, row,
                        HEAD_SCORES, column, score);
    free(row);
    free(word);
}

static void show_trained(const char *run, const Trained *t)
{
    printf("%s, after step %.0f\n", run, (double)t->row[t->best].step);
    show_heads(t->run.model.layers, t->run.model.n_heads, t->loss,
               t->heads);
}

/*
``` output
long run, after step 2200
loss of the first half, and of the second (2)
[1.4671, 1.5487]
heads, in weights and losses
                  before  followed  loss off  followed off
  block 0 head 0  0.107   0.000250      1.78       0.00607
  block 0 head 1  0.406   0.000336      1.84       0.00525
  block 0 head 2  0.0464  0.000535      1.57       0.00571
  block 0 head 3  0.643   0.000235      2.22       0.00329
  block 0 head 4  0.0529  0.000505      1.59       0.00620
  block 1 head 0  0.0821  0.00118       1.56       0.00600
  block 1 head 1  0.0858  0.00200       1.55       0.00532
  block 1 head 2  0.101   0.00106       1.55       0.00562
  block 1 head 3  0.0764  0.00192       1.56       0.00542
  block 1 head 4  0.0913  0.00206       1.55       0.00553
  block 2 head 0  0.0718  0.00272       1.56       0.00556
  block 2 head 1  0.0489  0.00450       1.55       0.00556
  block 2 head 2  0.0605  0.00237       1.60       0.00556
  block 2 head 3  0.0640  0.00411       1.55       0.00556
  block 2 head 4  0.0816  0.00556       1.55       0.00450
```

The first two columns are the scores. The third is the loss of the second
reading with this head switched off. The fourth, for later, is the best
score for what followed of any other head then.

Head 3 of block 0 has 0.643 of its weight on the token before, where equal
weights have 0.0349. And the model needs this head: without it the loss
rises from 1.5487 to 2.22, more than without any other. This is a
previous-token head. Head 1 of block 0 does the same in part.

There is no induction head: no score for what followed comes up to the
0.0108 of equal weights. And the losses show no gain from the second
reading: its loss is 1.5487, and is not even as small as that of the first,
1.4671. (Both are larger than the 1.3062 of [](#language-model-run), which
is the loss on all of the prose held out. Why the second reading is the
worse one, these numbers do not say.)

Whichever one head of blocks 1 and 2 is off, the loss is at most 1.60. (The
model may still need them together.)

What do the other heads of block 0 do? `weight_back` can ask for two tokens
back, or three, as well:
*/

/* folded: how this is printed */
/* Block 0, head by head: the weights on 1 to 5 tokens back. */
static void show_back(const Trained *t)
{
    print_matrix("block 0: weights on 1, 2, 3, 4, 5 tokens back",
                 t->run.model.n_heads, TRAINED_BACK, t->back);
}

/*
``` output
block 0: weights on 1, 2, 3, 4, 5 tokens back (5, 5)
[[0.1070, 0.4448, 0.2676, 0.0335, 0.0063],
 [0.4064, 0.2668, 0.0407, 0.0076, 0.0057],
 [0.0464, 0.0777, 0.1846, 0.2379, 0.1269],
 [0.6431, 0.1524, 0.0080, 0.0019, 0.0026],
 [0.0529, 0.1846, 0.3147, 0.1891, 0.0492]]
```

Each row is a head. Head 0 looks two tokens back, with 0.4448 of its weight.
Head 4 looks three back, and head 2 four back, both less sharply. Heads 3
and 1 look at the token before. So the five heads have shared out the last
four tokens among themselves. In the column of losses, the further back a
head looks, the less its absence costs, from 2.22 and 1.84 for one token
back to 1.78, 1.59 and 1.57 for two, three and four.

## A text that repeats itself {#inside-repeats}

Why has no induction head formed? Perhaps the prose gives no reason for one.
If a phrase seldom comes again within the 128 bytes of a context, a head
that expects it again is seldom right, and training makes something else of
that head.

If that is the reason, other texts should bring the head about. A second run
learns from the same prose, but of every second passage of a batch only the
first 16 to 64 bytes are kept, and repeated to its end. The number of bytes
is drawn anew for each, so that no fixed distance helps. The model has the
same sizes, and begins with the same numbers. The run is shorter, 1,600
steps, so its learning rate falls sooner. As in the long run, the model is
kept that is best on the prose held out, which has no such repeats. The
command `make train-repeats` makes this run, and leaves the model in
`build/gpt-repeats.safetensors`. Its heads, in the same sixteen texts:
*/

/* folded: how this is printed */
static void show_repeats(const Trained *t)
{
    const char *sample = t->row[t->best].sample;
    show_trained("with repeats", t);
    show_back(t);
    printf("what it writes\n  %.64s\n  %.64s\n", sample, sample + 64);
}

/*
``` output
with repeats, after step 1560
loss of the first half, and of the second (2)
[1.5668, 0.5129]
heads, in weights and losses
                  before  followed  loss off  followed off
  block 0 head 0  0.788   0.000105     2.82         0.0174
  block 0 head 1  0.0741  0.000392     1.64         0.154
  block 0 head 2  0.0371  0.0105       0.596        0.464
  block 0 head 3  0.0385  0.00976      0.529        0.466
  block 0 head 4  0.0952  0.00206      0.557        0.457
  block 1 head 0  0.0294  0.239        0.586        0.472
  block 1 head 1  0.0462  0.0997       0.508        0.472
  block 1 head 2  0.0287  0.472        1.21         0.239
  block 1 head 3  0.0507  0.0423       0.511        0.472
  block 1 head 4  0.0559  0.0353       0.494        0.472
  block 2 head 0  0.0339  0.0658       0.508        0.472
  block 2 head 1  0.0221  0.194        0.613        0.472
  block 2 head 2  0.0455  0.0154       0.534        0.472
  block 2 head 3  0.0341  0.0172       0.513        0.472
  block 2 head 4  0.0342  0.179        0.573        0.472
```

Now the second reading has a loss of 0.5129, and the first one of 1.5668.
Head 2 of block 1 has 0.472 of its weight on what followed the first time,
where equal weights have 0.0108. Without this head the loss of the second
reading is 1.21. So it is an induction head. The texts reward such a head,
but nobody has told the model where to look. So texts with repeats are
enough to bring it about; that the prose alone has too few of them fits
this, but nobody has counted them. (Head 0 of block 1, with 0.239, does the
same in part. Some heads, taken away alone, are not missed: without head 4
of block 1 the loss is a little less, 0.494.)

The previous-token head of this model is head 0 of block 0. The last column
says what happens without it: the largest score for what followed falls from
0.472 to 0.0174. That is what [](#training-repeated) has said: the
previous-token head writes into the sum of each token what came before it,
and the induction head, one block later, finds a token by that. (The column
agrees with this account, and does not prove it: without the previous-token
head the loss, 2.82, is above even the 1.5668 of a first reading, so much
else fails, too.)

Without head 1 of block 0 the largest score for what followed is 0.154, and
the loss 1.64. What does head 1 do?

``` output
block 0: weights on 1, 2, 3, 4, 5 tokens back (5, 5)
[[0.7879, 0.0945, 0.0027, 0.0012, 0.0024],
 [0.0741, 0.5343, 0.2481, 0.0212, 0.0050],
 [0.0371, 0.0325, 0.0314, 0.0300, 0.0279],
 [0.0385, 0.0343, 0.0337, 0.0311, 0.0299],
 [0.0952, 0.2089, 0.2135, 0.0935, 0.0374]]
what it writes
  The spreads before products. With the same run, and on the sprea
  ds and on the spreads, a spread spreads onces spread in that kno
```

Head 1, in the second row, looks two tokens back. How can that help an
induction head? Take a passage with *a b c*, which begins again and is now
at *a b*. The token *c* of the first reading has from head 0 that *b* came
before it, and from head 1 that *a* came two tokens before. The last *b* has
from head 0 that *a* came before it. So the query of this *b* can ask for a
key with *b* one token back and *a* two tokens back. That fits only where
*a* and *b* have stood together, while single letters have stood in many
other words. (That the score falls without head 1 agrees with that, and does
not prove it.)

The first reading of this model is worse than that of the long run, 1.5668
beside 1.4671: it has taken fewer steps, with half as much plain prose in
each. And when it writes, it repeats itself, as its texts have done.

In which order do the two heads form? Both runs have written down, at some
of their steps, the best of each score that any head has:
*/

/* folded: how this is printed */
/* The largest scores of all heads, step by step, of both runs. */
static void show_steps(const Trained *run, const Trained *repeating)
{
    enum { SHOWN = 9 };
    const char *at[SHOWN];
    char label[SHOWN][16];
    float table[SHOWN][5], scores[2][SHOWN];
    for (int i = 0; i < SHOWN; i++) {
        const TrainedRow *plain = &run->row[2 * i],
                         *repeats = &repeating->row[5 * i];
        const float row[5] = {plain->step, plain->before, plain->after,
                              repeats->before, repeats->after};
        memcpy(table[i], row, sizeof row);
        snprintf(label[i], sizeof *label, "%.0f", (double)plain->step);
        at[i] = label[i];
        scores[0][i] = repeats->before;
        scores[1][i] = repeats->after;
    }
    print_matrix("step; both scores: long run; with repeats", SHOWN, 5,
                 table);
    figure_curves(
        "steps",
        "The largest scores of all heads, with texts that repeat "
        "themselves",
        (const char *const[]){"the token before", "what followed"}, SHOWN,
        at, scores);
}

/*
``` output
step; both scores: long run; with repeats (9, 5)
[[   1.0000,    0.0353,    0.0109,    0.0353,    0.0109],
 [ 200.0000,    0.0464,    0.0117,    0.0528,    0.0136],
 [ 400.0000,    0.2730,    0.0092,    0.4227,    0.0274],
 [ 600.0000,    0.5315,    0.0137,    0.6306,    0.0702],
 [ 800.0000,    0.6026,    0.0111,    0.7421,    0.2324],
 [1000.0000,    0.6098,    0.0094,    0.7832,    0.3863],
 [1200.0000,    0.6132,    0.0067,    0.7870,    0.4453],
 [1400.0000,    0.6321,    0.0053,    0.7876,    0.4736],
 [1600.0000,    0.6368,    0.0061,    0.7902,    0.4787]]
```

![The largest scores of all heads, in the run with texts that repeat
themselves](steps.svg){#fig-inside-steps}

Each row has the step, both scores of the long run, and both of the run with
repeats. In both runs a previous-token head forms, and most of its score is
there by step 600. An induction head forms with repeats only, and later: at
step 600 its score is 0.0702, and most of the rise comes between step 600
and step 1,000. The order fits what was found without the previous-token
head: then the score for what followed is almost gone.

## GPT-2's heads {#inside-gpt2}

GPT-2 ([](#gpt-model)) has 12 blocks of 12 heads, $12 \cdot 12 = 144$ in
all. With its file ([](#language-model-gpt2)), the same table takes one
command:

``` sh
make -s run-24 ARGS="model.safetensors"
```

There are two texts. Each is 64 random tokens, and the same tokens again. In
the first half nothing helps to predict them, and in the second nothing but
the first half does. (Nearly all of the 64 are different, so a single token
is enough to go by.) The program runs the model once as it is, and once for
each of its heads, so the table takes a minute or more. Compare its first
column with the 0.0349 of equal weights, and its second with their 0.0108.
The file's `config.json` must lie beside it.

(GPT-2's file does not come with this book. The tests compare the table of a
small random model of the same layout with PyTorch's.)

## Everything together

Without arguments, the program prints what this page shows. With the file of
a model, it prints the table of all its heads. With `--map` and the numbers
of a block and a head in front of the file, and ids behind it, it prints the
weights of that head for a text of these ids. Here the text is *abcab*, and
the head is the induction head of the second run:

``` sh
make -s run-24 ARGS="--map 1 2 build/gpt-repeats.safetensors 97 98 99 97 98"
```
*/

/* folded: how this is printed */
/* The table of all heads of a model: from sixteen texts, or from two where
 * tokens are not bytes, for such a model may be large. */
static void show_file(const char *path)
{
    Gpt g;
    gpt_load(&g, path);
    if (g.context_length < 6)
        REFUSE("%s: a context of %d: at least 6 is needed", path,
               g.context_length);
    const int texts = g.vocabulary == 128 ? 16 : 2;
    const int n =
        (g.context_length < LONG ? g.context_length : LONG) / 2 * 2;
    float(*score)[HEAD_SCORES] =
        new_list((size_t)g.layers * (size_t)g.n_heads, sizeof *score);
    int(*ids)[n] = new_list((size_t)texts, sizeof *ids);
    float loss[2];
    Random r = random_seeded(123);
    draw_twice(&r, g.vocabulary, texts, n, ids);
    head_scores(&g, texts, n, ids, score, loss);
    show_heads(g.layers, g.n_heads, loss, score);
    free(score);
    free(ids);
    gpt_free(&g);
}

/* A model's file, --map and the numbers of a block and a head in front of
 * it, and the ids of a text behind it: the weights of the head. */
static void show_map(int count, char *const word[count])
{
    if (count < 5 || strcmp(word[0], "--map"))
        REFUSE("'%s' is given: FILE, or --map BLOCK HEAD FILE ID ..., are "
               "needed",
               word[count - 1]);
    Gpt g;
    GptPass p;
    gpt_load(&g, word[3]);
    const int n = count - 4;
    const int l =
        (int)parse_integer("the block", word[1], 0, (uint64_t)g.layers - 1);
    const int h =
        (int)parse_integer("the head", word[2], 0, (uint64_t)g.n_heads - 1);
    int *ids = new_aligned((size_t)n, sizeof *ids);
    for (int i = 0; i < n; i++)
        ids[i] = (int)parse_integer("an id", word[4 + i], 0,
                                    (uint64_t)g.vocabulary - 1);
    gpt_pass_init(&p, &g, 1, n);
    gpt_forward(&g, NULL, ids, &p);
    float *weights = new_table(g.n_heads * n, n);
    text_weights(&p.block[l].attention, n, 0, TABLES(n, n, weights));
    print_matrix("attention weights", n, n, TABLES(n, n, weights)[h]);
    gpt_pass_free(&p);
    gpt_free(&g);
    free(ids);
    free(weights);
}

static void show_chapter(void)
{
    Trained run = trained_read("src/data/trained.tsv");
    Trained repeating = trained_read("src/data/trained-repeats.tsv");
    figure_pipeline("pipeline", "weights");
    show_scores();
    show_trained("long run", &run);
    show_back(&run);
    show_repeats(&repeating);
    show_steps(&run, &repeating);
    trained_free(&run);
    trained_free(&repeating);
}

int main(int argc, char *argv[])
{
    if (argc > 2)
        show_map(argc - 1, argv + 1);
    else if (argc == 2)
        show_file(argv[1]);
    else
        show_chapter();
    return 0;
}

/*
In PyTorch, both scores of equal weights, and a head that is switched off:

``` python
import torch

weights = torch.ones(128, 128).tril()
weights /= weights.sum(dim=-1, keepdim=True)
print(torch.stack([weights.diagonal(-1).mean(),
                   weights.diagonal(-63)[1:].mean()]))

out = torch.nn.Linear(6, 6)  # the output layer of 3 heads of 2 entries
with torch.no_grad():
    out.weight[:, 2:4] = 0  # head 1 is off
```

## The end

You began with two lists of numbers and one product. What reads and writes
here is made of little else: of products, of shares, and of slopes that say
how to change them. Each function on the way gives what PyTorch gives.

Models that people talk with are larger than that of the long run by five or
six powers of ten, and differ in parts. Their tokens are parts of words.
They rotate queries and keys instead of adding a table of positions
([](#positions)), and let heads share keys ([](#kv-cache-groups)). Many keep
several networks in each block, of which each token takes a few (mixture of
experts). Whatever you meet there, you know how to find out what it does:
give it small numbers, try each of them a little larger, switch it off, and
compare.

## Further exercises

**Exercise 24.3** (by hand): A text of eight tokens is a passage of four,
twice. A head looks only at token 0. What are its two scores? And how does
the 0.1586 of equal weights come about?

## Solutions

::: {.solution exercise="24.3"}
For the token before, the mean is over tokens 1 to 7. The token before token
1 is token 0, on which the head has the weight 1. The others look at token 0
as well, which is not the one before them. So the score is $1 / 7 = 0.1429$,
less than the 0.2454 of equal weights. What followed is three tokens back,
from tokens 4 to 7: these are tokens 1 to 4. None is token 0, and the score
is 0.

With equal weights, token 4 has five tokens to look at, and the weight of
each is $1/5$; token 7 has eight, and the weight of each is $1/8$. The mean
is $(1/5 + 1/6 + 1/7 + 1/8) / 4 = 0.1586$.
:::
*/
