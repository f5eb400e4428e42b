/*
# A head that learns {#training}

![The way from words to attention. What has parameters, the shaded steps,
is trained here](pipeline.svg){#fig-training-pipeline}

[](#backward) says of every parameter, in one go, by how much a loss grows
with it. With that, a step of training is cheap. Three things are missing: a
loss for answers in words, how far to go in a step, and something to learn.
The idea of this chapter is one that [](#self-attention-training) has met: a
head learns what its loss asks for. Here the loss asks for the right word,
and where to look for it the head has to find out.
*/

#include "attention/20_training.h"
#include "attention/02_softmax.h"
#include "attention/05_tokens.h"
#include "attention/13_multi_head.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "support.h"

/*
## What is asked for {#training-loss}

The last layer of our model gives a number for each word that it knows: the
**logits**. Softmax makes shares of them, and the share of the right word
should be 1. So let the loss be minus the logarithm of that share, and its
mean over all answers of a batch: the **cross-entropy**. With the logits $z$
of an answer whose right word is $t$:

$$-\ln \frac{e^{z_t}}{\sum_j e^{z_j}} = \ln \sum_j e^{z_j} - z_t$$

The right side has no share in it. That matters, for a share may be so small
that a float holds 0, whose logarithm is minus infinity. The logarithm of
the sum is that of [](#flash-log-sum), where the largest logit is taken out
first.
*/

static double log_sum_exp(int n, const float x[n])
{
    double largest = (double)x[0], sum = 0;
    for (int j = 1; j < n; j++)
        largest = fmax(largest, (double)x[j]);
    for (int j = 0; j < n; j++)
        sum += exp((double)x[j] - largest);
    return largest + log(sum);
}

/*
Not every place of a text has an answer worth asking for. A target that is
`IGNORED` adds nothing to the sum, and does not count when the mean is
taken.
*/

float cross_entropy(int n, int classes, const float logits[n][classes],
                    const int target[n], float shares[n][classes])
{
    int count = 0;
    double sum = 0;
    softmax_rows(n, classes, logits, shares);
    for (int i = 0; i < n; i++) {
        if (target[i] == IGNORED)
            continue;
        if (target[i] < 0 || target[i] >= classes)
            REFUSE("target %d is %d: 0 to %d, or IGNORED, is needed", i,
                   target[i], classes - 1);
        sum +=
            log_sum_exp(classes, logits[i]) - (double)logits[i][target[i]];
        count++;
    }
    return (float)(sum / count);
}

/*
How does the loss change with a logit? Raise $z_j$ by a small $s$, and the
sum of all exponentials becomes nearly $1 + p_j s$ times as large, where
$p_j$ is the share of word $j$ ([](#backward-softmax)). So its logarithm
grows by $p_j s$, nearly. If $j$ is the right word, $s$ is also taken away.
The slope is the share, and for the right word the share minus 1: a wrong
word is pushed down by as much as it was believed, the right one up by what
it lacks.

**Exercise 20.1** (★★, 3 points): `cross_entropy_backward`. To what stands
in `grad_logits`, add the slope of each logit. The loss is a mean over the
targets that are not `IGNORED`, and rows of those that are get nothing.

::: hint
The loss divides by the number of targets that are not `IGNORED`. How large
is the part of one row in it?
:::

::: hint
First count these targets. Then each of their rows has its shares, of which
one is less by 1.
:::

::: done
With this line all learning of a language model begins: each word's share,
less 1 for the right one.
:::
*/

void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n],
                            float grad_logits[n][classes])
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += target[i] != IGNORED;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < classes && target[i] != IGNORED; j++)
            grad_logits[i][j] +=
                (shares[i][j] - (float)(j == target[i])) / (float)count;
}

static void show_slopes(void)
{
    const float logits[1][4] = {{2, 1, 0, -1}};
    const int second = 1;
    float shares[1][4], losses[4], slopes[1][4] = {{0}}, tried[4];
    for (int j = 0; j < 4; j++)
        losses[j] = cross_entropy(1, 4, logits, &j, shares);
    print_vector("shares for the logits 2, 1, 0, -1", 4, shares[0]);
    print_vector("loss if the first is right, the second, ...", 4, losses);
    cross_entropy_backward(1, 4, shares, &second, slopes);
    print_vector("slopes if the second is right", 4, slopes[0]);
    for (int j = 0; j < 4; j++) {
        float moved[1][4];
        memcpy(moved, logits, sizeof moved);
        moved[0][j] = logits[0][j] + 0.01f;
        const float above = cross_entropy(1, 4, moved, &second, shares);
        moved[0][j] = logits[0][j] - 0.01f;
        tried[j] =
            (above - cross_entropy(1, 4, moved, &second, shares)) / 0.02f;
    }
    print_vector("the same, by trying", 4, tried);
}

static void show_ignored(void)
{
    const float far[1][2] = {{0, 200}};
    const float logits[3][4] = {{2, 1, 0, -1}, {0, 0, 0, 5}, {2, 1, 0, -1}};
    const int target[3] = {1, IGNORED, 0}, none = IGNORED, first = 0;
    float shares[3][4], slopes[3][4] = {{0}}, share[1][2];
    softmax(2, far[0], share[0]);
    print_value("of logits 0 and 200, the logarithm of the first's share",
                logf(share[0][0]));
    print_value("cross_entropy, if the first is right",
                cross_entropy(1, 2, far, &first, share));
    print_value("loss of three answers, the second ignored",
                cross_entropy(3, 4, logits, target, shares));
    cross_entropy_backward(3, 4, shares, target, slopes);
    print_matrix("its slopes", 3, 4, slopes);
    print_value("loss of nothing",
                cross_entropy(1, 4, logits, &none, shares));
}

/*
``` output
shares for the logits 2, 1, 0, -1 (4)
[0.6439, 0.2369, 0.0871, 0.0321]
loss if the first is right, the second, ... (4)
[0.4402, 1.4402, 2.4402, 3.4402]
slopes if the second is right (4)
[ 0.6439, -0.7631,  0.0871,  0.0321]
the same, by trying (4)
[ 0.6439, -0.7631,  0.0871,  0.0321]
of logits 0 and 200, the logarithm of the first's share: -inf
cross_entropy, if the first is right: 200.0000
loss of three answers, the second ignored: 0.9402
its slopes (3, 4)
[[ 0.3220, -0.3816,  0.0436,  0.0160],
 [ 0.0000,  0.0000,  0.0000,  0.0000],
 [-0.1780,  0.1184,  0.0436,  0.0160]]
loss of nothing: nan
```

Slopes of one answer add up to 0: what one word gains, others lose. The loss
of three answers, one of them ignored, is the mean of two; divided by 3, it
would be less the more is ignored. If all are ignored, the mean is 0 divided
by 0, `nan`, as in PyTorch, and all slopes are 0.

## How far to go {#training-step}

[](#self-attention-training) has moved each parameter by its slope times one
number, the **learning rate**. That is **gradient descent**. But slopes can
differ by a factor of thousands between parameters: a rate that is right for
one makes another leap or stand still. And the gradient of a batch is that
of its texts; the next batch wants something else.

**Adam** answers both [@kingma2015]. For each parameter it keeps two running
means, $m$ of its slopes and $v$ of their squares. In each step $m$ keeps
the part $\beta_1$ of what it was, nine tenths for instance, and takes the
rest from the new slope; $v$ does so with $\beta_2$. In step $s$, counted
from 1, the parameter moves by

$$-\text{rate} \cdot
  \frac{m / (1 - \beta_1^s)}{\sqrt{v / (1 - \beta_2^s)} + \epsilon}$$

In $m$, slopes that go up and down cancel, and steady ones give the step its
**momentum**. The division takes their size out: if a slope stays the same,
$\sqrt{v}$ is its size, and the parameter moves by the rate. Both means
begin at 0 and are too small at first, since the part $\beta^s$ of them is
still that 0; dividing by $1 - \beta^s$ makes up for it. The small
$\epsilon$ keeps 0 from being divided by 0.

Each step also takes away a small part of every parameter, so that what the
loss never asks for fades: the **weight decay**. At first it was added to
the slope. But there it is divided by $\sqrt{v}$, too, and where slopes are
large, little decays. **AdamW** takes it from the parameter
[@loshchilov2019].

::: {.header of="Adam"}
:::

**Exercise 20.2** (★★★, 4 points): `adam_step`. One loop over all
parameters. It refuses what `adam_check` refuses. As in PyTorch, what is
the same for all parameters is worked out as `double` and rounded to `float`
before the loop; in the loop, all is `float`.

::: hint
Four things, in this order: the decay; the mean of the slopes; the mean of
the squares; the move. Coupled, the decay adds `decay` times the parameter
to the slope; else the parameter becomes `1 - learning_rate * decay` times
as large.
:::

::: hint
PyTorch has `mean` move towards the slope by `lerp`, by `1 - beta_1` of the
way; `lerp` stands above the function. `pow(beta_1, step)` is $\beta_1^s$.
:::

::: hint
It divides the rate by $1 - \beta_1^s$, and the root of `square[i]` by the
root of $1 - \beta_2^s$. Epsilon is added after that.
:::

::: done
By this loop, or one much like it, nearly every model was trained that you
have heard of.
:::
*/

float lerp(float from, float to, float part)
{
    return part < 0.5f ? from + part * (to - from)
                       : to - (1 - part) * (to - from);
}

void adam_step(Adam adam, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n])
{
    const float new_1 = (float)(1 - adam.beta_1);
    const float old_2 = (float)adam.beta_2,
                new_2 = (float)(1 - adam.beta_2);
    const float keep = (float)(1 - adam.learning_rate * adam.decay);
    const float rate =
        (float)(adam.learning_rate / (1 - pow(adam.beta_1, step)));
    const float root = (float)sqrt(1 - pow(adam.beta_2, step));
    adam_check(adam, step);
    for (size_t i = 0; i < n; i++) {
        float slope = gradient[i];
        if (adam.is_coupled)
            slope += (float)adam.decay * parameter[i];
        else
            parameter[i] *= keep;
        mean[i] = lerp(mean[i], slope, new_1);
        square[i] = old_2 * square[i] + new_2 * slope * slope;
        parameter[i] -= rate * mean[i] /
                        (sqrtf(square[i]) / root + (float)adam.epsilon);
    }
}

static void show_adam(void)
{
    const Adam adam = {0.1, 0.9, 0.999, 1e-8, 0, 0};
    const float slopes[3] = {100, 1, 0.01f};
    float mean[3] = {0}, square[3] = {0}, moved[3] = {0}, plain[3];
    for (int i = 0; i < 3; i++)
        plain[i] = -0.1f * slopes[i];
    adam_step(adam, 1, 3, slopes, mean, square, moved);
    print_vector("descent, by slopes of 100, 1 and 1/100", 3, plain);
    print_vector("Adam, by the same", 3, moved);
    memset(mean, 0, sizeof mean);
    memset(square, 0, sizeof square);
    memset(moved, 0, sizeof moved);
    for (int step = 1; step <= 10; step++)
        adam_step(adam, step, 2, (float[]){1, step % 2 ? 1 : -1}, mean,
                  square, moved);
    print_vector("Adam in ten steps, by 1; by 1 and -1 in turn", 2, moved);
}

/*
``` output
descent, by slopes of 100, 1 and 1/100 (3)
[-10.0000,  -0.1000,  -0.0010]
Adam, by the same (3)
[-0.1000, -0.1000, -0.1000]
Adam in ten steps, by 1; by 1 and -1 in turn (2)
[-1.0000, -0.1545]
```

Descent moves the first parameter ten thousand times as far as the third,
Adam moves all by the rate; and of slopes that go up and down, little
remains.

Two cautions are left. An odd batch may have a gradient that is much longer
than others. **Clipping** shortens it and keeps its
direction [@pascanu2013].
*/

double clip_norm(double most, size_t n, float gradient[n])
{
    double sum = 0;
    if (!(most > 0))
        REFUSE("a length of at most %g: more than 0 is needed", most);
    for (size_t i = 0; i < n; i++)
        sum += (double)gradient[i] * (double)gradient[i];
    /* With 1e-6, as in PyTorch. A nan comes through, and is seen. */
    const float factor = (float)(most / (sqrt(sum) + 1e-6));
    for (size_t i = 0; i < n && !(factor >= 1); i++)
        gradient[i] *= factor;
    return sqrt(sum);
}

/*
And the rate changes. At first, when Adam's means know little, it is small:
the **warm-up**. Then it falls along half a wave of the cosine, and the
model comes to rest.

**Exercise 20.3** (★★, 3 points): `rate_at`. Step 0 is the first. With $w$
steps to warm up, step $i$ of these has $(i + 1) / (w + 1)$ of the largest
rate, and step $w$ has the largest. When the part $u$ of the way from there
to step `steps` is done, the rate is $(1 + \cos \pi u) / 2$ of the way up
from the least to the largest; from `steps` on, it is the least. It refuses
a step below 0, a `warm_up` below 0, and one that is not below `steps`.

::: hint
$u$ is 0 at step `warm_up` and 1 at step `steps`. In C, one whole number
divided by another leaves no fraction.
:::

::: done
The same curve stands in the training of most language models; its ends
differ.
:::
*/

double rate_at(int step, int warm_up, int steps, double largest,
               double least)
{
    const double pi = 3.14159265358979323846;
    if (step < 0 || warm_up < 0 || warm_up >= steps)
        REFUSE("step, warm_up, steps = %d, %d, %d: a step and a warm_up "
               "from 0 on, and more steps than warm_up, are needed",
               step, warm_up, steps);
    if (step < warm_up)
        return largest * (step + 1) / (warm_up + 1);
    if (step >= steps)
        return least;
    const double done = (double)(step - warm_up) / (steps - warm_up);
    return least + (largest - least) * (1 + cos(pi * done)) / 2;
}

enum { TEXTS = 16, WIDTH = 16, STEPS = 100, WARM_UP = 10 };
enum { POINTS = 6, SHOWN = 4 }; /* steps and sentences that are shown */

/* Sentences; equal weights; a leak; all words asked; gradients added up. */
enum { VERBS = 1, EQUAL = 2, LEAKY = 4, ASKS_ALL = 8, ADDS_UP = 16 };

/* The number of a step that is shown: the first, and every twentieth. */
static int show_step(int point)
{
    return point ? STEPS / (POINTS - 1) * point : 1;
}

static double show_rate(int step)
{
    return rate_at(step, WARM_UP, STEPS, 0.02, 0);
}

static void show_rates(void)
{
    float rates[POINTS];
    for (int k = 0; k < POINTS; k++)
        rates[k] = (float)show_rate(show_step(k) - 1);
    print_vector("rate of step 1, 20, 40, 60, 80, 100", POINTS, rates);
}

/*
``` output
rate of step 1, 20, 40, 60, 80, 100 (6)
[0.0018, 0.0195, 0.0153, 0.0086, 0.0026, 0.0000]
```

## The model, and a step {#training-model}

The model is an attention whose output layer ([](#multi-head-output)) is as
wide as the vocabulary: its results are the logits. In front of it stand a
table of embeddings ([](#tokens-vectors)) and one of places
([](#positions)). Both are trained.

::: {.header of="Model"}
:::

A token asks with its embedding. What is asked knows its place, too, which
the second task needs, and may be wider ([](#cross-attention-pictures)):
several embeddings side by side.

A pass holds a batch, whose three lists the caller writes, and what comes on
the way: a trace for each text, and the logits of all in one table, so that
the mean of the loss is over all targets. Another pass has the gradients.

::: {.header of="Pass"}
:::
*/

void model_forward(const Model *m, Mask mask, Pass *p)
{
    pass_check(m, p);
    const Attention *a = &m->attention;
    const int n = p->n, all = p->texts * n, d = a->d_x, wide = a->d_y;
    float(*x)[n][d] = TABLES(n, d, p->x),
    (*y)[n][wide] = TABLES(n, wide, p->y);
    embed(all, d, m->vocabulary, p->ids, ROWS(d, m->tokens), x[0]);
    embed(all * (wide / d), d, m->vocabulary, p->key_ids,
          ROWS(d, m->tokens), ROWS(d, y));
    for (int k = 0; k < p->texts; k++) {
        add_positions(n, wide, m->context_length, 0, ROWS(wide, m->places),
                      y[k]);
        attention_forward(a, mask, NULL, n, n, x[k], y[k], &p->trace[k]);
    }
}

/*
On the way back, a place gets the gradients of all texts, and the table of
embeddings, which was looked into twice, gets both.
*/

void model_backward(const Model *m, const Pass *p, Pass *grad_p,
                    Model *grad_m)
{
    pass_check(m, p);
    model_gradient_check(m, p, grad_m, grad_p);
    const Attention *a = &m->attention;
    const int n = p->n, all = p->texts * n, d = a->d_x, wide = a->d_y;
    float(*x)[n][d] = TABLES(n, d, p->x),
    (*y)[n][wide] = TABLES(n, wide, p->y);
    float(*grad_x)[n][d] = TABLES(n, d, grad_p->x),
    (*grad_y)[n][wide] = TABLES(n, wide, grad_p->y);
    memset(grad_x, 0, sizeof(float[all][d]));
    memset(grad_y, 0, sizeof(float[all][wide]));
    for (int k = 0; k < p->texts; k++) {
        attention_backward(a, n, n, x[k], y[k], &p->trace[k],
                           &grad_p->trace[k], &grad_m->attention, grad_x[k],
                           grad_y[k]);
        const float *grad_place = grad_y[k][0]; /* of y[k] += place */
        for (int i = 0; i < n * wide; i++)
            grad_m->places[i] += grad_place[i];
    }
    embed_backward(all, d, m->vocabulary, p->ids, grad_x[0],
                   ROWS(d, grad_m->tokens));
    embed_backward(all * (wide / d), d, m->vocabulary, p->key_ids,
                   ROWS(d, grad_y), ROWS(d, grad_m->tokens));
}

/*
Gradients are *added* to what is there ([](#backward)), so before each step
they must become 0 again, which PyTorch calls `zero_grad`. All parameters
lie in one block, and the gradient and Adam's means in others like it, so
that an optimizer is one loop.
*/

float training_loss(Training *t, Mask mask)
{
    const int rows = t->pass.texts * t->pass.n, words = t->model.vocabulary;
    model_forward(&t->model, mask, &t->pass);
    return cross_entropy(rows, words, ROWS(words, t->pass.logits),
                         t->pass.targets, ROWS(words, t->pass.shares));
}

void training_gradient(Training *t)
{
    const int rows = t->pass.texts * t->pass.n, words = t->model.vocabulary;
    memset(t->grad_pass.logits, 0, sizeof(float[rows][words]));
    cross_entropy_backward(rows, words, ROWS(words, t->pass.shares),
                           t->pass.targets,
                           ROWS(words, t->grad_pass.logits));
    model_backward(&t->model, &t->pass, &t->grad_pass, &t->gradient);
}

static void move(Training *t, Adam adam)
{
    const size_t count = t->model.count;
    clip_norm(1, count, t->gradient.memory);
    adam_step(adam, ++t->step, count, t->gradient.memory, t->mean.memory,
              t->square.memory, t->model.memory);
}

float training_step(Training *t, Adam adam, Mask mask)
{
    const float loss = training_loss(t, mask);
    model_clear(&t->gradient);
    training_gradient(t);
    move(t, adam);
    return loss;
}

/*
## What came after it the last time {#training-repeated}

The first task: a text repeats itself, and each word is to tell the next
one. `shuffle` puts words into random order: each place gets one of those
that are left, and `random_below` says which.
*/

int random_below(Random *r, int range)
{
    if (range < 1)
        REFUSE("range = %d: at least 1 is needed", range);
    const uint64_t draw = range < 1 << 28 ? random_u32(r) : random_u64(r);
    return (int)(draw % (uint64_t)range);
}

void shuffle(Random *r, int n, int order[n])
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = 0; i < n - 1; i++) {
        const int j = i + random_below(r, n - i), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
}

/* A key has two ids: its word's, and that of the one before. */
void repeated_text(Random *r, int ids[REPEATED_LENGTH],
                   int key_ids[REPEATED_LENGTH][2],
                   int target[REPEATED_LENGTH])
{
    int order[REPEATED_WORDS - 1];
    const int period = 4 + random_below(r, 5);
    shuffle(r, REPEATED_WORDS - 1, order);
    for (int i = 0; i < REPEATED_LENGTH; i++) {
        ids[i] = key_ids[i][0] = order[i % period];
        key_ids[i][1] = i ? ids[i - 1] : REPEATED_WORDS - 1;
        target[i] = i < period ? IGNORED : order[(i + 1) % period];
    }
}

/* Fills a pass with texts; with sentences from a number on, or, for -1,
 * with some of those that are taught. */
static void show_batch(int way, Random *r, int number, Pass *p)
{
    const int n = p->n;
    for (int k = 0; k < TEXTS; k++) {
        int *ids = p->ids + k * n, *target = p->targets + k * n;
        if (!(way & VERBS))
            repeated_text(r, ids, (int(*)[2])p->key_ids + k * n, target);
        else
            agreement_text(number < 0 ? random_below(r, AGREEMENTS_TAUGHT)
                                      : number + k,
                           ids, target);
        for (int i = 0; i < n && way & ASKS_ALL; i++)
            if (target[i] == IGNORED)
                target[i] = ids[i + 1];
    }
    if (way & VERBS)
        memcpy(p->key_ids, p->ids, (size_t)(TEXTS * n) * sizeof *p->ids);
}

static Mask show_mask(int way)
{
    return mask_causal(way & LEAKY ? 1 : 0);
}

/* A training, with its model drawn from seed 123. */
static void show_begin(int way, Random *r, Training *t)
{
    const int verbs = way & VERBS;
    Model *m = &t->model;
    Attention a = {.n_heads = 1, .has_out_bias = 1};
    a.d_x = a.d_k = a.d_v = WIDTH;
    a.d_y = verbs ? WIDTH : 2 * WIDTH;
    Model sizes = {.attention = a};
    sizes.vocabulary = verbs ? AGREEMENT_WORDS : REPEATED_WORDS;
    sizes.context_length = verbs ? AGREEMENT_LENGTH : REPEATED_LENGTH;
    training_init(t, &sizes, TEXTS, sizes.context_length);
    *r = random_seeded(123);
    uniform_fill(r, 1, (int)m->count, -0.25f, 0.25f,
                 ROWS((int)m->count, m->memory));
    if (way & EQUAL) {
        const size_t row = (size_t)WIDTH * sizeof(float);
        memset(m->attention.query.weight, 0, row * (size_t)WIDTH);
        memset(m->attention.key.weight, 0, row * (size_t)m->attention.d_y);
    }
}

/* One step, without setting the gradient to 0. */
static float show_careless_step(Training *t, Adam adam)
{
    const float loss = training_loss(t, mask_causal(0));
    training_gradient(t);
    move(t, adam);
    return loss;
}

/* A hundred steps; prints the losses of some. Where gradients add up, two
 * decimals: more would not be the same on every processor. */
static void show_steps(int way, Random *r, Training *t, const char *label,
                       float losses[POINTS])
{
    for (int step = 0, k = 0; step < STEPS; step++) {
        const Adam adam = {show_rate(step), 0.9, 0.999, 1e-8, 0.01, 0};
        show_batch(way, r, -1, &t->pass);
        const float loss = way & ADDS_UP
                               ? show_careless_step(t, adam)
                               : training_step(t, adam, show_mask(way));
        if (step + 1 == show_step(k))
            losses[k++] = loss;
    }
    print_rounded(label, way & ADDS_UP ? 2 : 4, POINTS, losses);
}

/* Counts an answer, and whether its word has the largest share. */
static void show_answer(int words, const float shares[words], int target,
                        int count[2])
{
    int best = 0;
    for (int j = 1; j < words; j++)
        best = shares[j] > shares[best] ? j : best;
    count[0] += best == target;
    count[1]++;
}

/* What the number of a sentence chooses. */
typedef struct {
    int noun;          /* the first of the two, one of 5 */
    int is_many;       /* whether it is more than one */
    int other_is_many; /* whether the second noun is */
    int preposition;   /* one of 3 */
    int adjective;     /* one of 2 */
    int at_first;      /* whether that stands before the first noun */
    int between; /* how many stand between the two in their list, 0 to 3 */
} Agreement;

/* Its choices, each by what those before leave of the number. */
static Agreement agreement_of(int number);

/* Of texts that are held out, the loss, and how many answers are right: of
 * all, and of sentences whose nouns differ, one and many. */
static void show_held_out(int way, Training *t, const char *label)
{
    enum { BATCHES = (AGREEMENTS - AGREEMENTS_TAUGHT) / TEXTS };
    const int words = t->model.vocabulary;
    const float(*shares)[words] = ROWS(words, t->pass.shares);
    int count[2][2] = {{0}};
    float held[3] = {0};
    Random r = random_seeded(456);
    for (int k = 0; k < BATCHES; k++) {
        const int from = AGREEMENTS_TAUGHT + k * TEXTS;
        const int before = count[0][1];
        show_batch(way, &r, from, &t->pass);
        const float loss = training_loss(t, show_mask(way));
        for (int i = 0; i < TEXTS * t->pass.n; i++) {
            const Agreement of = agreement_of(from + i / t->pass.n);
            if (t->pass.targets[i] == IGNORED)
                continue;
            show_answer(words, shares[i], t->pass.targets[i], count[0]);
            if (of.is_many != of.other_is_many)
                show_answer(words, shares[i], t->pass.targets[i], count[1]);
        }
        held[0] += loss * (float)(count[0][1] - before);
    }
    held[0] /= (float)count[0][1];
    for (int k = 0; k < 2; k++)
        held[1 + k] = (float)count[k][0] / (float)count[k][1];
    print_vector(label, way & VERBS ? 3 : 2, held);
}

static void show_text(void)
{
    enum { N = REPEATED_LENGTH };
    int ids[N], key_ids[N][2], target[N];
    Random r = random_seeded(456);
    repeated_text(&r, ids, key_ids, target);
    printf("a text:       ");
    for (int i = 0; i < N; i++)
        printf("  %c", 'a' + ids[i]);
    printf("\nwhat is asked:");
    for (int i = 0; i < N; i++)
        printf(" %c%c", i ? 'a' + key_ids[i][1] : '-', 'a' + key_ids[i][0]);
    printf("\nright answers:");
    for (int i = 0; i < N; i++)
        printf("  %c", target[i] == IGNORED ? '.' : 'a' + target[i]);
    puts("");
}

static void draw_losses(const float losses[POINTS])
{
    const char *const curve[2] = {"this book", "PyTorch"};
    const char *const at[POINTS] = {"1", "20", "40", "60", "80", "100"};
    float both[2][POINTS];
    memcpy(both[0], losses, sizeof both[0]);
    memcpy(both[1], pytorch_losses, sizeof both[1]);
    figure_curves("losses", "The loss of some steps", curve, POINTS, at,
                  both);
}

static void show_repeated(void)
{
    Random r;
    Training t;
    float losses[POINTS];
    show_text();
    show_begin(0, &r, &t);
    show_steps(0, &r, &t, "losses of step 1, 20, 40, 60, 80, 100", losses);
    print_vector("the same in PyTorch", POINTS, pytorch_losses);
    draw_losses(losses);
    show_held_out(0, &t, "texts held out: loss, right answers");
    training_free(&t);
    show_begin(EQUAL, &r, &t);
    show_steps(EQUAL, &r, &t, "losses with equal weights", losses);
    show_held_out(EQUAL, &t, "texts held out, with equal weights");
    training_free(&t);
}

/*
``` output
a text:         f  i  h  a  p  f  i  h  a  p  f  i  h  a  p  f
what is asked: -f fi ih ha ap pf fi ih ha ap pf fi ih ha ap pf
right answers:  .  .  .  .  .  i  h  a  p  f  i  h  a  p  f  i
```

After 4 to 8 different words of 16 the text begins again; a seventeenth,
`-`, stands before it. In the first round nobody can know what comes, so
these targets are ignored. Afterwards the answer is what came after the word
the last time, in each text at another distance. But whoever is asked brings
along the word before it: so a query can look for the key that says "before
me came *f*", and take its value, "I am *i*". A head that does this is an
**induction head**; where models stack attention, one tells each word who
came before it, the next one asks, and both form by themselves
[@olsson2022]. Does ours?

::: question
The losses below begin at 2.8311. Why there?

All parameters were drawn between $-0.25$ and $0.25$, and 17 words have
nearly the same share. $e^{2.8332} = 17.00$.
:::

A batch has 16 texts, and 100 steps are made, with the rates above, and
PyTorch's defaults for the rest.

``` output
losses of step 1, 20, 40, 60, 80, 100 (6)
[2.8311, 2.7003, 1.2406, 0.0214, 0.0072, 0.0064]
the same in PyTorch (6)
[2.8311, 2.7003, 1.2406, 0.0214, 0.0072, 0.0064]
texts held out: loss, right answers (2)
[0.0055, 1.0000]
losses with equal weights (6)
[2.8312, 2.7083, 2.6453, 2.4898, 2.5374, 2.5593]
texts held out, with equal weights (2)
[2.5512, 0.1099]
```

![The losses of this book's training and of PyTorch's, at six
steps](losses.svg){#fig-training-losses}

At step 60 the head has found out. Of texts that it was not trained on, that
were **held out**, all answers are right. PyTorch's losses, of the same
model and texts, are these to a hundred-thousandth of them in ten steps, and
a ten-thousandth in all. (They are computed as `double`. PyTorch's own
floats stray as far as ours.)

And without attention? We begin with queries and keys of 0. Then all weights
are equal, and so they stay: a score is a product, and while one factor is
0, the other has no slope. The rest trains as before, and comes to prefer
the words of a text a little.

## Too good to be true {#training-leak}

First we ask for every word, also where nobody can know it. Then comes the
mistake: the mask shows one place too many, `mask_causal(1)`:
*/

/* Does the answer before the last word change with the last word? */
static void show_change(int way, Training *t)
{
    enum { LAST = REPEATED_LENGTH - 1, WORDS = REPEATED_WORDS };
    float(*logits)[WORDS] = ROWS(WORDS, t->pass.logits), before[WORDS];
    Random r = random_seeded(456);
    show_batch(way, &r, -1, &t->pass);
    training_loss(t, show_mask(way));
    memcpy(before, logits[LAST - 1], sizeof before);
    int *const last = &t->pass.ids[LAST];
    *last = t->pass.key_ids[2 * LAST] = (*last + 1) % (WORDS - 1);
    training_loss(t, show_mask(way));
    print_answer("another last word changes the answer before it",
                 memcmp(before, logits[LAST - 1], sizeof before));
}

static void show_leak(void)
{
    const int way[2] = {ASKS_ALL, ASKS_ALL | LEAKY};
    const char *const label[2] = {"losses, all words asked for",
                                  "losses, one word too many seen"};
    for (int k = 0; k < 2; k++) {
        Random r;
        Training t;
        float losses[POINTS];
        show_begin(way[k], &r, &t);
        show_steps(way[k], &r, &t, label[k], losses);
        show_held_out(way[k], &t, "held out: loss, right answers");
        show_change(way[k], &t);
        training_free(&t);
    }
    print_value("no honest loss is below",
                (logf(15) + logf(14) + logf(13)) / REPEATED_LENGTH);
}

/*
``` output
losses, all words asked for (6)
[2.8292, 2.7689, 2.7537, 2.4663, 2.1536, 2.1243]
held out: loss, right answers (2)
[2.0591, 0.5773]
another last word changes the answer before it: no
losses, one word too many seen (6)
[2.8297, 2.4420, 0.1735, 0.0109, 0.0020, 0.0017]
held out: loss, right answers (2)
[0.0020, 1.0000]
another last word changes the answer before it: yes
no honest loss is below: 0.4945
```

The first run learns slowly, and its loss must stay high. Of a text's first
four words, which differ, three are asked for, one of 15, 14 and 13 that are
left. Who does not see them has a loss of $(\ln(15) + \ln(14) + \ln(13)) /
16$ at least, 0.4945.

The second run is far below. It reads the answer in the key of the next
word; and as it does so in texts held out as well, they do not give it away.
A loss too good to be true is how one notices. The test of
[](#causal-attention-sentences) is how one knows: another word changes an
answer before it.

## The verb and its subject {#training-verbs}

The second task is a little English. 960 sentences have two nouns, each one
or many, an adjective with one of them, a preposition, and a blank for the
verb, which is to fit the first noun, whatever the second is. (Linguists
have tested larger models in this way [@linzen2016].)
*/

/* One of so many; what is left of the number chooses what comes next. */
static int choose(int *number, int among)
{
    const int choice = *number % among;
    *number /= among;
    return choice;
}

static Agreement agreement_of(int number)
{
    Agreement of;
    if (number < 0 || number >= AGREEMENTS)
        REFUSE("sentence %d: 0 to %d is needed", number, AGREEMENTS - 1);
    of.noun = choose(&number, 5);
    of.is_many = choose(&number, 2);
    of.other_is_many = choose(&number, 2);
    of.preposition = choose(&number, 3);
    of.adjective = choose(&number, 2);
    of.at_first = choose(&number, 2);
    of.between = choose(&number, 4);
    return of;
}

void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH])
{
    enum { THE, NOUN, ADJECTIVE = 11, PREPOSITION = 13, BLANK = 16, VERB };
    const Agreement of = agreement_of(number);
    const int second = (of.noun + 1 + of.between) % 5;
    const int subject = NOUN + 2 * of.noun + of.is_many;
    const int other = NOUN + 2 * second + of.other_is_many;
    const int near = PREPOSITION + of.preposition;
    const int old = ADJECTIVE + of.adjective;
    const int text[2][AGREEMENT_LENGTH] = {
        {THE, subject, near, THE, old, other, BLANK},
        {THE, old, subject, near, THE, other, BLANK}};
    for (int i = 0; i < AGREEMENT_LENGTH; i++) {
        ids[i] = text[of.at_first][i];
        target[i] = ids[i] == BLANK ? VERB + of.is_many : IGNORED;
    }
}

static void show_sentences(const int number[SHOWN],
                           const char *sentence[SHOWN][AGREEMENT_LENGTH])
{
    static const char *const word[AGREEMENT_WORDS] = {
        "the",    "dog",    "dogs",  "cat",      "cats", "bird",  "birds",
        "mouse",  "mice",   "child", "children", "old",  "small", "near",
        "behind", "beside", "_",     "sleeps",   "sleep"};
    puts("sentences held out, and their verbs");
    for (int k = 0; k < SHOWN; k++) {
        int ids[AGREEMENT_LENGTH], target[AGREEMENT_LENGTH];
        agreement_text(number[k], ids, target);
        for (int i = 0; i < AGREEMENT_LENGTH; i++)
            printf("%s ", sentence[k][i] = word[ids[i]]);
        printf("(%s)\n", word[target[AGREEMENT_LENGTH - 1]]);
    }
}

/* What the blanks of these sentences look at. */
static void show_looks(const int number[SHOWN], Training *t,
                       const char *label,
                       float looks[SHOWN][AGREEMENT_LENGTH])
{
    enum { N = AGREEMENT_LENGTH };
    for (int k = 0; k < TEXTS; k++)
        agreement_text(number[k % SHOWN], t->pass.ids + k * N,
                       t->pass.targets + k * N);
    memcpy(t->pass.key_ids, t->pass.ids, sizeof(int[TEXTS][N]));
    training_loss(t, mask_causal(0));
    for (int k = 0; k < SHOWN; k++)
        memcpy(looks[k], t->pass.trace[k].weights + (N - 1) * N,
               sizeof looks[k]);
    print_matrix(label, SHOWN, N, looks);
}

static void show_agreement(void)
{
    const int number[SHOWN] = {725, 811, 888, 914};
    const char *const panel[2] = {"before training", "after"};
    const char *sentence[SHOWN][AGREEMENT_LENGTH];
    float looks[2][SHOWN][AGREEMENT_LENGTH], losses[POINTS];
    Random r;
    Training t;
    show_sentences(number, sentence);
    show_begin(VERBS, &r, &t);
    show_looks(number, &t, "what their blanks look at, before training",
               looks[0]);
    show_steps(VERBS, &r, &t, "losses of step 1, 20, 40, 60, 80, 100",
               losses);
    show_looks(number, &t, "what their blanks look at, after", looks[1]);
    figure_word_maps("looks", "What the blank looks at", 2, panel, SHOWN,
                     AGREEMENT_LENGTH, sentence, looks);
    show_held_out(VERBS, &t, "held out: loss, right, where nouns differ");
    training_free(&t);
    show_begin(VERBS | EQUAL, &r, &t);
    show_steps(VERBS | EQUAL, &r, &t, "losses with equal weights", losses);
    show_held_out(VERBS | EQUAL, &t, "held out, with equal weights");
    training_free(&t);
}

/*
``` output
sentences held out, and their verbs
the dogs near the old child _ (sleep)
the cat behind the small dogs _ (sleeps)
the old mice beside the bird _ (sleep)
the small child near the mice _ (sleeps)
what their blanks look at, before training (4, 7)
[[0.1392, 0.1442, 0.1426, 0.1412, 0.1439, 0.1433, 0.1457],
 [0.1393, 0.1445, 0.1435, 0.1413, 0.1428, 0.1428, 0.1458],
 [0.1392, 0.1452, 0.1430, 0.1431, 0.1410, 0.1427, 0.1457],
 [0.1393, 0.1441, 0.1433, 0.1432, 0.1411, 0.1432, 0.1458]]
losses of step 1, 20, 40, 60, 80, 100 (6)
[2.9354, 0.7065, 0.5943, 0.0239, 0.0023, 0.0024]
what their blanks look at, after (4, 7)
[[0.0000, 1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 0.9999, 0.0000, 0.0000, 0.0000, 0.0000],
 [0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000, 0.0000]]
held out: loss, right, where nouns differ (3)
[0.0022, 1.0000, 1.0000]
losses with equal weights (6)
[2.9354, 0.7099, 0.6551, 0.5832, 0.4929, 0.5308]
held out, with equal weights (3)
[0.5050, 0.7500, 0.5000]
```

A sentence's number says how it is made. From 720 on, the second noun is the
fourth after the first, counted round in the list dog, cat, bird, mouse,
child. Training draws numbers below 720, so it has never seen *dog* before
*child* in a sentence, nor *cat* before *dog*.

![What the blank looks at in four sentences held out, before training and
after](looks.svg){#fig-training-looks}

With equal weights three of four answers are right, and where the nouns
differ, one of two: the model counts, and cannot tell which noun came first.
With attention all are right, and the picture shows how. The blank looks at
the subject, whether it stands second or third, past the other noun. Nobody
has said so. The loss has only asked for the verb.

A last run forgets to set gradients to 0:
*/

static void show_careless(void)
{
    Random r;
    Training t;
    float losses[POINTS];
    show_begin(VERBS | ADDS_UP, &r, &t);
    show_steps(VERBS | ADDS_UP, &r, &t, "losses, gradients never 0 again",
               losses);
    training_free(&t);
}

/*
``` output
losses, gradients never 0 again (6)
[2.94, 0.84, 0.61, 0.21, 0.00, 0.01]
```

At step 60 it lags far behind the run above, and still it arrives, since the
sum of all gradients so far often points the right way. That is why this
mistake lives long: no program stops, and training is merely worse than it
could be.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "vectors roles heads");
    show_slopes();
    show_ignored();
    show_adam();
    show_rates();
    show_repeated();
    show_leak();
    show_agreement();
    show_careless();
    return 0;
}

/*
The same in PyTorch, the first run:

``` python
import math, torch
import torch.nn.functional as F

def repeated():
    period = 4 + torch.randint(5, (1,))
    text = torch.randperm(16)[torch.arange(17) % period]
    before = torch.cat([torch.tensor([16]), text[:-2]])
    target = text[1:].where(torch.arange(16) >= period, -100)
    return text[:-1], torch.stack([text[:-1], before], -1), target

torch.manual_seed(123)
token, place, query, key, value, out, bias = model = [
    torch.nn.Parameter(torch.empty(size).uniform_(-0.25, 0.25)) for size in
    [(17, 16), (16, 32), (16, 16), (16, 32), (16, 32), (17, 16), (17,)]]
adam = torch.optim.AdamW(model)
losses = []
for step in range(100):
    texts = [repeated() for _ in range(16)]
    ids, asked, target = map(torch.stack, zip(*texts))
    x, y = token[ids], token[asked].flatten(-2) + place
    z = F.scaled_dot_product_attention(
        x @ query.T, y @ key.T, y @ value.T, is_causal=True) @ out.T + bias
    loss = F.cross_entropy(z.flatten(0, 1), target.flatten())
    adam.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model, 1)
    wave = (1 + math.cos(math.pi * (step - 10) / 90)) / 2
    adam.param_groups[0]["lr"] = 0.02 * min((step + 1) / 11, wave)
    adam.step()
    losses += [loss.item()] if step == 0 or step % 20 == 19 else []
print(torch.tensor(losses))
```

One attention has learned to look back for what it needs. A language model
stacks many, with other layers between them, and asks for the next word of
any text: [](#gpt).

## Further exercises

**Exercise 20.4** (★★, challenge, 3 points): `sgd_step`. Gradient descent as
[](#training-step) has it, with decay and momentum: PyTorch's `SGD`. The
slope is the gradient plus `decay` times the parameter. The velocity becomes
`momentum` times what it was, plus the slope, and the parameter moves
against it by the rate.

::: hint
One loop of three lines, in the order of the text. Here nothing is a mean:
the new slope is added as a whole.
:::

::: done
With momentum and decay 0 this is the loop of chapter 7, and the ancestor of
all optimizers.
:::

**Exercise 20.5** (by hand): The loss of the blanks at step 20 is 0.7065,
close to $\ln(2)$. What does the model know by then, and what not?

**Exercise 20.6** (by hand): In [](#training-step), three slopes had the
same first step. See from the formula why it could not be otherwise. Leave
$\epsilon$ out.

## Solutions

::: {.solution exercise="20.4"}
PyTorch's velocity begins with the first slope. Beginning at 0 and adding it
is the same.
*/

void sgd_step(double rate, double momentum, double decay, size_t n,
              const float gradient[n], float velocity[n],
              float parameter[n])
{
    for (size_t i = 0; i < n; i++) {
        const float slope = gradient[i] + (float)decay * parameter[i];
        velocity[i] = (float)momentum * velocity[i] + slope;
        parameter[i] -= (float)rate * velocity[i];
    }
}

/*
:::

::: {.solution exercise="20.5"}
$e^{-0.7065} = 0.4934$: the right word has about one half. Of the 19 words,
the model has learned that only two ever fill the blank, and that they do so
equally often. Which of the two it is, it guesses.
:::

::: {.solution exercise="20.6"}
If the slope is $g$, then after one step $m$ is $(1 - \beta_1)\, g$, and
divided by $1 - \beta_1$ it is $g$. In the same way $v$ becomes $g^2$, whose
root is the size of $g$. What remains of the fraction is 1 or $-1$: every
parameter moves by the rate, against its slope.
:::
*/
