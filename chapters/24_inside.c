/*
# Inside a trained model {#inside}

![The way from words to attention. This chapter looks at the shaded
step](pipeline.svg){#fig-inside-pipeline}

You have a model that writes like Shakespeare, and no idea how. A million
numbers came out of a loop, and nobody chose any of them. Fifteen heads are
in there, five in each of three blocks. What are they doing?

We'll find out in two ways, and need both. Look at what a head looks at: its
attention weights, averaged over many texts, give a score. But a head may
look at something, and the rest of the model may not care. So switch the
head off, and measure how much worse the model gets.
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
## The same passage twice {#inside-scores}

We know what to look for. In [](#training-repeated) two kinds of head worked
together. A **previous-token head** looks at the token before. An
**induction head** looks at what came after the same token the last time it
occurred: if *b* followed *a* then, *b* may follow *a* again. There we did
the first one's work by hand: each key also got the token before it, so one
head of the second kind was enough. Does a model of several blocks find both
by itself?

To find such heads we need texts in which we know what followed earlier. The
simplest ones are a passage, and the same passage again. Take *a b c d a b c
d*, and count its tokens from 0. The second *b* is token 5. The first *b* is
token 1, and token 2 followed it. So an induction head looks from token 5 at
token 2, which is three tokens back. From every token of the second half it
looks three tokens back: the passage has four tokens, and four minus one is
three.

![The weights of two heads. A row is a token that looks, and a column a
token that is looked at. In the first half, where there is nothing to find,
the second head has equal weights](heads.svg){#fig-inside-heads}

In the table of weights, each of these heads fills a diagonal: the weights
one token back, or three tokens back. The mean weight on its diagonal is the
head's score: for one token back over all tokens but the first, and for what
followed over the second half. A head that looks at nothing else has the
score 1. (This score is not one of those from which softmax makes weights.)

**Exercise 24.1** (★, 2 points): `weight_back`. Return the mean weight on
the token `back` tokens back, over the tokens from `from` onward.
`weight_back` refuses a `back` below 0, a `from` below `back`, where no
token is that far back, and a `from` that is not below `n`.

::: hint
Row `i` of the table has the weights of token `i`. The token that is `back`
tokens back has the index `i - back`.
:::

::: done
One function finds both kinds of head. One looks one token back; the other,
one token fewer than the passage has.
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
heads of the figure: each has the score 1 on its own test. (The third has
$(1/2 + 1/3 + 1/4) / 7 = 0.1548$ for the token before, from its first half.)
The first row is a head with equal weights, the baseline for all others. Its
scores depend on the length: in a text of 128 tokens they are 0.0349 and
0.0108.

Could a head get a high score by the last letter alone? A passage has most
letters several times. Such a head finds all earlier occurrences of the last
letter, and only one of them is the right place. So it spreads its weight,
and its score for what followed is low.

Each of our texts is a passage of the held-out text, and the same passage
again; `draw_twice`, in `src/prose.c`, draws them. (For a model whose tokens
aren't bytes, such as GPT-2, the program draws random tokens, and repeats
them.)

The weights of a head are not in the pass that `gpt_forward` has filled,
since fast attention never holds their whole table ([](#flash)). But the
pass has the queries and the keys of all heads. `split_heads` gives each
head its part of them ([](#multi-head)), and `attention_weights` makes the
weights ([](#causal-mask)). Then `heads_back` computes one score for every
head, the mean over all texts:
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
        attention_weights(
            n, n, d, mask_causal(0), TABLES(n, d, own_query)[h],
            TABLES(n, d, own_key)[h], ROWS(n, products), weights[h]);
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
that of head 1. With zeros in a head's columns, its context adds nothing. To
take a part away and measure again is called **ablation**. (This is the
harshest kind. Later parts may count on what a head always adds, whatever
the text; a milder kind puts the head's average in its place.)

**Exercise 24.2** (★★, 3 points): `head_swap`. Exchange the columns of head
`h` in the weight of the output layer with those in `columns`, a table of
`d_out` rows and `d_v` columns, in place. Calling it once with zeros
switches the head off and keeps its columns; calling it again switches the
head on. `head_swap` refuses a head that is not there, and an attention
without an output layer, whose `d_out` is 0.

::: hint
The weight of the output layer has `d_out` rows, and `out.d_in` columns, as
many as all contexts have entries: `ROWS(a->out.d_in, a->out.weight)`. The
columns of head `h` begin at `h * a->d_v`.
:::

::: done
A picture of weights can't tell you whether the rest of the model needs a
head. This can.
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
Which loss should we measure? An induction head helps most in the second
half, where the passage has been read before. So we take the loss of the
second half's tokens, except its first, since nothing in the text says that
the passage will begin again. For comparison we also take that of the same
tokens in the first half, the loss of a first reading:
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
head, and both losses. `head_scores` calls it once for the whole model,
and once more for each head, without that head. It also keeps the highest
score on what followed that any other head has then:
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

Here is the model that the long run of [](#language-model-run) has saved,
the one with the lowest loss on held-out text. `make train` has measured its
heads, in sixteen passages of 64 bytes, each twice:
*/

/* folded: how this is printed */
/* All heads of a run, as printed maps and drawn ones: one of their scores,
 * and how much the loss of the second reading rises without each. */
static void show_trained(const char *name, const char *title, int score,
                         const Trained *t)
{
    enum { BLOCKS = 3, HEADS = 5 };
    static const char *const block[BLOCKS] = {"block 0", "block 1",
                                              "block 2"};
    static const char *const head[HEADS] = {"head 0", "head 1", "head 2",
                                            "head 3", "head 4"};
    static const char *const looks[2] = {"weight on the token before",
                                         "weight on what followed"};
    float map[3][BLOCKS][HEADS];
    SIZES_CHECK("a log of blocks, heads", {t->run.model.layers, BLOCKS},
                {t->run.model.n_heads, HEADS});
    for (int i = 0; i < BLOCKS * HEADS; i++) {
        map[0][i / HEADS][i % HEADS] = t->heads[i][score];
        map[1][i / HEADS][i % HEADS] =
            t->heads[i][HEAD_LOSS_OFF] - t->loss[1];
        map[2][i / HEADS][i % HEADS] = t->heads[i][HEAD_AFTER_OFF];
    }
    print_vector("loss of the first half, and of the second", 2, t->loss);
    print_matrix(looks[score], BLOCKS, HEADS, map[0]);
    print_matrix("rise of the second half's loss without it", BLOCKS, HEADS,
                 map[1]);
    if (score == HEAD_AFTER)
        print_matrix("most weight on what followed, without the head",
                     BLOCKS, HEADS, map[2]);
    else
        print_value("most weight on what followed", t->row[t->best].after);
    figure_maps(
        name, title, 2,
        (const char *const[]){looks[score], "rise of the loss without it"},
        BLOCKS, block, HEADS, head, map);
}

/*
``` output
loss of the first half, and of the second (2)
[1.4087, 1.5092]
weight on the token before (3, 5)
[[0.0460, 0.1210, 0.1765, 0.0356, 0.2809],
 [0.0506, 0.3458, 0.1259, 0.1849, 0.3014],
 [0.2390, 0.3007, 0.1698, 0.3393, 0.2221]]
rise of the second half's loss without it (3, 5)
[[ 0.0082,  0.0915,  0.0609,  0.2456,  0.2862],
 [-0.0145,  0.2589,  0.0232,  0.0185,  0.1334],
 [ 0.0492,  0.0353,  0.0475,  0.0807,  0.0783]]
most weight on what followed: 0.0111
```

![Two maps of the same heads: how much each looks at the token before, and
how much the loss of the second reading rises without
it](run.svg){#fig-inside-run}

A row is a block, and a column a head. With all heads, the loss of the
second reading is 1.5092.

The two maps agree only in part, which is the reason for having both. Head 1
of block 1 looks more at the token before than any other head, with 0.3458
of its weight, ten times as much as equal weights have, and without it the
loss rises by 0.2589. Head 1 of block 2 has 0.3007 there, nearly as much,
and without it the loss rises by 0.0353. None of them is a sharp
previous-token head.

Then there is head 3 of block 0. It puts 0.0356 of its weight on the token
before, where equal weights would put 0.0349, so our score sees nothing in
it. And yet the loss without it is 0.2456 higher. It may look at all letters
alike, or at capitals wherever they are, or later parts may rely on what it
always adds: a mean over positions can't tell. That is what a score is, an
answer to one question. (Without head 0 of block 1 the loss is even 0.0145
lower. From sixteen passages, a difference as small as that may be chance.)

There is no induction head. No head has more than 0.0111 on what followed,
where equal weights have 0.0108. The losses agree: the second reading of a
passage is no better than the first. Its loss is 1.5092, and the first's is
1.4087. (Why the second reading is even worse, these numbers don't say.)

What do the other heads of block 0 do? `weight_back` can ask for two tokens
back, or three, as well:
*/

/* folded: how this is printed */
/* Block 0, head by head: the weights on 1 to 5 tokens back. */
static void show_back(const Trained *t)
{
    static float weights[3][LONG][LONG];
    float equal[TRAINED_BACK];
    ideal_weights(LONG, weights);
    for (int k = 0; k < TRAINED_BACK; k++)
        equal[k] = weight_back(LONG, weights[0], k + 1, k + 1);
    print_matrix("block 0: weights on 1, 2, 3, 4, 5 tokens back",
                 t->run.model.n_heads, TRAINED_BACK, t->back);
    print_vector("equal weights", TRAINED_BACK, equal);
}

/*
``` output
block 0: weights on 1, 2, 3, 4, 5 tokens back (5, 5)
[[0.0460, 0.0433, 0.0413, 0.0392, 0.0374],
 [0.1210, 0.1052, 0.0905, 0.0774, 0.0658],
 [0.1765, 0.1713, 0.1470, 0.1053, 0.0672],
 [0.0356, 0.0322, 0.0298, 0.0279, 0.0264],
 [0.2809, 0.2045, 0.1065, 0.0472, 0.0223]]
equal weights (5)
[0.0349, 0.0312, 0.0288, 0.0270, 0.0256]
```

Each row is a head. The weights of head 4 fall off quickly, and those of
head 1 slowly. Head 2 is a window: it has nearly the same weight on the last
three, and then less and less. Head 0 is nearly flat, and head 3 almost the
same as equal weights.

## A text that repeats itself {#inside-repeats}

Why is there no induction head? Here is a guess: Shakespeare gives no reason
for one. If a phrase rarely recurs within the 128 bytes of a context, a head
that expects it again is rarely right.

A guess calls for an experiment: change that, and nothing else. Two runs
have the same sizes, begin with the same numbers and take 1,600 steps. One
reads the plays as they are, and is the **control**. The other reads
passages of the same plays, but every second one is replaced by its own
first bytes, over and over. How many bytes, from 16 to 64, is drawn anew
each time, so that no fixed distance helps. (`make train-short` and `make
train-repeats` make these runs.) The two models, on the same sixteen texts:
*/

/* folded: how this is printed */
/* Its losses of a first and a second reading, and its largest scores. */
static void show_most(const char *label, const Trained *t)
{
    const TrainedRow *best = &t->row[t->best];
    print_vector(
        label, 4,
        (float[]){t->loss[0], t->loss[1], best->before, best->after});
}

/*
``` output
control: losses of both halves, most before, most followed (4)
[1.6741, 1.7290, 0.9235, 0.0194]
with repeats (4)
[1.9172, 0.3766, 0.9191, 0.5828]
```

In each list, the third number is the most weight that any head has on the
token before: 0.9235 and 0.9191. Both models have a sharp previous-token
head. For that the plays are enough. (In the long run no head became as
sharp, with the same plays. Its learning rate fell more slowly; whether that
is the reason, one run can't say.) But the fourth number, the most weight on
what followed, is 0.0194 in the control and 0.5828 with repeats. Nobody told
that model where to look. Texts that reward such a head were enough, and the
plays alone, in as many steps, were not. (How rarely phrases recur in the
plays, we haven't counted.) Here are its heads, one by one. The third table
has the most weight that any *other* head has on what followed, while the
head is off:
*/

/* folded: how this is printed */
static void show_repeats(const Trained *t)
{
    show_trained("repeating", "The heads of the model whose texts repeat",
                 HEAD_AFTER, t);
    show_back(t);
}

/*
``` output
loss of the first half, and of the second (2)
[1.9172, 0.3766]
weight on what followed (3, 5)
[[0.0001, 0.0081, 0.0080, 0.0000, 0.0147],
 [0.4539, 0.5464, 0.4471, 0.4898, 0.5828],
 [0.1159, 0.0205, 0.0072, 0.0518, 0.0161]]
rise of the second half's loss without it (3, 5)
[[ 1.3812,  0.1333,  0.0116,  2.2149,  0.0581],
 [ 0.1209,  0.3120,  0.0997,  0.2427,  0.4843],
 [ 0.0126, -0.0161,  0.0226,  0.0045, -0.0094]]
most weight on what followed, without the head (3, 5)
[[0.1635, 0.5671, 0.5838, 0.0270, 0.5811],
 [0.5828, 0.5828, 0.5828, 0.5828, 0.5464],
 [0.5828, 0.5828, 0.5828, 0.5828, 0.5828]]
```

![The heads of the model with repeats: how much each looks at what followed,
and how much the loss of the second reading rises without
it](repeating.svg){#fig-inside-repeating}

Look at block 1: all five of its heads are induction heads, with 0.4471 to
0.5828 of their weight on what followed the first time. The second reading
has become easy: its loss is 0.3766, where the first has 1.9172.

Five heads look at one place, and so the model can lose any one of them and
keep most of what it gained. Without head 4 of block 1, which matters most,
the loss rises by 0.4843; without head 2, by 0.0997. An ablation of one head
says what the others can't make up for, and no more.

There is only one previous-token head, head 3 of block 0. Without it the
loss rises by 2.2149, and the highest score on what followed falls
from 0.5828 to 0.0270. That is what [](#training-repeated) said. The
previous-token head writes into the stream of each token what came before
it, and the induction heads, one block later, find a token by that. (The
table agrees with this account, and does not prove it: a loss of $0.3766 +
2.2149 = 2.5915$ is above even that of a first reading, so much else fails,
too.)

Without head 0 of block 0 the loss rises by 1.3812. What does that head do?

``` output
block 0: weights on 1, 2, 3, 4, 5 tokens back (5, 5)
[[0.0871, 0.5683, 0.2054, 0.0165, 0.0048],
 [0.0502, 0.0409, 0.0415, 0.0405, 0.0377],
 [0.0442, 0.0420, 0.0403, 0.0377, 0.0348],
 [0.9191, 0.0317, 0.0004, 0.0002, 0.0015],
 [0.0319, 0.0264, 0.0243, 0.0217, 0.0207]]
equal weights (5)
[0.0349, 0.0312, 0.0288, 0.0270, 0.0256]
```

Head 0, in the first row, looks two tokens back. How could that help an
induction head? Take a passage with *a b c*, which begins again and is now
at *a b*. The first *c* may carry two notes: from head 3, that *b* was one
token back, and from head 0, that *a* was two tokens back. The last *b*
knows from head 3 that *a* was one token back. So its query can ask for a
key with *b* one token back and *a* two tokens back. Only a token after *a
b* has such a key, while single letters occur in many words. (Without head 0
the score falls to 0.1635. That fits, but so would other explanations.) You
can watch two such heads at work in [the
workbench](#workbench){state="stage=language"}, on a smaller model that has
read the plays, too: type a text, and switch heads off.

The repeats have their price. The first reading of this model has a higher
loss than the control's, 1.9172 against 1.6741: half of its texts were
repeats. And this is how the two write:
*/

/* folded: how this is printed */
static void show_sample(const char *label, const Trained *t)
{
    const char *sample = t->row[t->best].sample;
    printf("%s\n  %.64s\n  %.64s\n", label, sample, sample + 64);
}

/*
``` output
what the control writes
  The hath nother changed everent,|And a mannion's well an furing 
  two an and broad not.||LORNALBOT:|Where thinks as the new of fau
what the model with repeats writes
  The gan not was can she gan shim.||DOEEN NORY:|Now it an how it 
  syrue I that nhe is the now behere.||PARTIS as as the man not I 
```

In which order do the two kinds of head form? The log has the highest value
of each score over all heads, at some of the steps:
*/

/* folded: how this is printed */
/* The largest scores of all heads, step by step. */
static void show_steps(const Trained *repeating)
{
    enum { SHOWN = 9 };
    const char *at[SHOWN];
    char label[SHOWN][16];
    float table[SHOWN][3], scores[2][SHOWN];
    for (int i = 0; i < SHOWN; i++) {
        const TrainedRow *row = &repeating->row[5 * i];
        memcpy(table[i], (float[]){row->step, row->before, row->after},
               sizeof table[i]);
        snprintf(label[i], sizeof *label, "%.0f", (double)row->step);
        at[i] = label[i];
        scores[0][i] = row->before;
        scores[1][i] = row->after;
    }
    print_matrix("step, the token before, what followed", SHOWN, 3, table);
    figure_curves(
        "steps", "The largest scores of all heads, with repeats",
        (const char *const[]){"the token before", "what followed"}, SHOWN,
        at, scores);
}

/*
``` output
step, the token before, what followed (9, 3)
[[   1.0000,    0.0353,    0.0109],
 [ 200.0000,    0.0567,    0.0206],
 [ 400.0000,    0.5781,    0.0379],
 [ 600.0000,    0.8166,    0.0988],
 [ 800.0000,    0.9138,    0.3981],
 [1000.0000,    0.9299,    0.5098],
 [1200.0000,    0.9250,    0.5669],
 [1400.0000,    0.9207,    0.5855],
 [1600.0000,    0.9191,    0.5828]]
```

![The largest scores of all heads, in the run with texts that repeat
themselves](steps.svg){#fig-inside-steps}

First the previous-token head, then the induction heads: at step 600 the
former is at 0.8166, and the latter are at 0.0988. They rise between step
600 and step 1,000. An induction head has nothing to find a token by until
another head has written it there, so this explanation predicts the order.
(It is one run.)

## Everything together

Without arguments, the program prints what this page shows. With the file of
a model, it prints a table of all its heads, on passages of this book or of
a text whose file comes next, such as `build/gpt.held-out.txt`: each head's
weight on the token before, its weight on what followed, the loss of the
second half without it, and the most weight on what followed that any other
head has then. With `--map` and the numbers of a block and a head in front
of the file, and ids after it, it prints the weights of that head for a
text of these ids. Here the text is *abcab*, and the head is one of the
induction heads:

``` sh
make -s run-24 ARGS="--map 1 2 build/gpt-repeats.safetensors 97 98 99 97 98"
```
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

/* The table of all heads of a model: from sixteen passages of a text, or of
 * this book; or from two of random tokens where they are not bytes, for
 * such a model may be large. */
static void show_file(const char *path, const char *text)
{
    Gpt g;
    PlainText source = {0, NULL};
    gpt_load(&g, path);
    if (text)
        source = plain_text(text, 64);
    else if (g.vocabulary == 128)
        source = *held_out();
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
    draw_twice(&r, g.vocabulary, source.bytes ? &source : NULL, texts, n,
               ids);
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
        REFUSE(
            "'%s' is given: FILE, FILE TEXT, or --map BLOCK HEAD FILE ID "
            "..., are needed",
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
    Trained control = trained_read("src/data/trained-short.tsv");
    Trained repeating = trained_read("src/data/trained-repeats.tsv");
    figure_pipeline("pipeline", "weights");
    show_scores();
    show_trained("run", "The heads of the model that reads Shakespeare",
                 HEAD_BEFORE, &run);
    show_back(&run);
    show_most("control: losses of both halves, most before, most followed",
              &control);
    show_most("with repeats", &repeating);
    show_repeats(&repeating);
    show_sample("what the control writes", &control);
    show_sample("what the model with repeats writes", &repeating);
    show_steps(&repeating);
    trained_free(&run);
    trained_free(&control);
    trained_free(&repeating);
}

int main(int argc, char *argv[])
{
    if (argc > 1 && !strncmp(argv[1], "--", 2))
        show_map(argc - 1, argv + 1);
    else if (argc == 2 || argc == 3)
        show_file(argv[1], argv[2]);
    else if (argc > 3)
        REFUSE(
            "'%s' is given: FILE, FILE TEXT, or --map BLOCK HEAD FILE ID "
            "..., are needed",
            argv[3]);
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
