/*
# A head that learns {#training}

![The way from words to attention. This chapter trains all that has
parameters](pipeline.svg){#fig-training-pipeline}

[](#backward) has told us, for every parameter of an attention and in one
go, by how much a loss grows with it. So a step of training is cheap now.
What to ask for, how far to go in a step, and whether all that ends in
anything that one could call having learned: this chapter finds out, with
one head and two tasks that nothing but attention can do. The idea behind
all of it is one that [](#self-attention-training) has met already: **a
model learns what its loss asks for**, and nothing else.
*/

#include "attention.h"

/*
## What is asked for {#training-loss}

Our models will answer with a word. The output layer gives a number for each
word that there is, its **logits**; softmax makes shares of them, and the
share of the right word should be 1. As in chapter 7, the loss is minus the
logarithm of that share, here averaged over all answers of a batch. It is
called **cross-entropy**. With the logits $z$ of one answer and the right
word $t$:

$$-\ln \frac{e^{z_t}}{\sum_j e^{z_j}} = \ln \sum_j e^{z_j} - z_t$$

The right side never needs the share. That is lucky, since a share can come
out as 0 where $z_t$ is far below the others, and its logarithm would be
minus infinity. What has to be taken instead, the logarithm of a sum of
exponentials, we know from [](#flash): take the largest number out, so that
no exponential is too large.
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
Not every place in a text has an answer that is worth asking for. A target
that is `IGNORED` counts for nothing: it adds nothing to the sum, and nothing
to what the sum is divided by.
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
And how does the loss change with a logit? Raise $z_j$ by a little, say
0.01. Then $e^{z_j}$ grows by the factor $e^{0.01} = 1.01005$, which is by a
hundredth of itself, or so. Of the whole sum, $e^{z_j}$ is the share $p_j$;
so the sum grows by the factor $1 + 0.01\,p_j$, and its logarithm by
$0.01\,p_j$, with the same rule read backwards. The slope is $p_j$. The
right word's logit is also taken away, which makes its slope $p_t - 1$. In
words: every wrong word is pushed down by as much as it was believed, and
the right one up by what it lacks.

**Exercise 20.1** (★★, 3 points): `cross_entropy_backward`. The slopes of
`cross_entropy` with respect to all logits, added to what stands in
`g_logits`. The loss is a mean.

::: hint
First count the targets that are not `IGNORED`: each answer's slopes are
divided by that number.
:::

::: hint
In the row of an answer, `shares[i][j]`, less 1 where `j` is the target. In
the row of an `IGNORED` target, nothing is added.
:::

::: done
This is where all learning of a language model begins: share minus one for
the right word, and the share for each other.
:::
*/

void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n], float g_logits[n][classes])
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += target[i] != IGNORED;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < classes && target[i] != IGNORED; j++)
            g_logits[i][j] +=
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
```

The farther the right word is from the top, the larger is the loss. Slopes
of an answer add up to 0: what one word gains, others lose.

``` output
of logits 0 and 200, the logarithm of the first's share:
```

The loss of three answers is the mean of two, and the slopes of these two
are halved. If all are ignored, it is 0 divided by 0; PyTorch gives the same
`nan`, and slopes of 0, so no step goes astray by it.

## How far to go {#training-step}

Chapter 7 moved every parameter by its slope times one number, the **rate**.
That is called **gradient descent**. What is hard is to find a rate. In one
model slopes may differ by a factor of thousands, and a rate that is right
for one parameter makes another one jump across the valley or stand still.
And the gradient of a batch is that of its few texts only; the next batch
says something else.

**Adam** has a remedy for both [@kingma2015]. It keeps two running means for
each parameter: that of its slopes, $m$, and that of their squares, $v$.
Each step keeps $\beta_1$ of the one, nine tenths for instance, and puts the
new slope in for the rest; with $\beta_2$ the other. Then it moves the
parameter by

$$-\text{rate} \cdot
  \frac{m / (1 - \beta_1^s)}{\sqrt{v / (1 - \beta_2^s)} + \epsilon}$$

Slopes that go up and down cancel each other in $m$. The division makes the
step independent of the slopes' size: if a slope stays the same, $m$ and
$\sqrt{v}$ are alike, and the parameter moves by the rate, be the slope large
or small. Both means begin at 0, and so are too small at first. After $s$
steps, what they have been given adds up to $1 - \beta^s$ (of the zero in the
beginning, $\beta^s$ is left), and dividing by it puts that right. Epsilon,
a hundred-millionth, keeps 0 from being divided by 0.

Each step also takes a small part of every parameter away, the **weight
decay**, so that what the loss does not ask for fades. Adam once had it as a
part of the slope; but then it is divided by $\sqrt{v}$ as well, and
parameters with large slopes decay less than others. **AdamW** takes it from
the parameter itself [@loshchilov2019].

::: {.header of="Adam"}
:::

**Exercise 20.2** (★★★, 4 points): `adam_step`. One loop over all parameters.
It refuses a step below 1. What does not depend on the parameter is computed
as `double`, before the loop, and rounded to `float`: that is how PyTorch
does it.

::: hint
In this order: the decay, either into the slope, or out of the parameter,
which becomes $1 - \text{rate} \cdot \text{decay}$ times as large; the mean
of the slopes; that of their squares; the move.
:::

::: hint
PyTorch moves the first mean by $(1 - \beta_1)(\text{slope} - m)$. It divides
`sqrtf(square[i])` by $\sqrt{1 - \beta_2^s}$, and only then adds epsilon;
and the rate is divided by $1 - \beta_1^s$ in front of the loop. `pow` is C's
$\beta^s$.
:::

::: done
Nearly all models that you have heard of were trained by this loop.
:::
*/

void adam_step(Adam how, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n])
{
    const float new_1 = (float)(1 - how.beta_1);
    const float old_2 = (float)how.beta_2, new_2 = (float)(1 - how.beta_2);
    const float keep = (float)(1 - how.rate * how.decay);
    const float rate = (float)(how.rate / (1 - pow(how.beta_1, step)));
    const float root = (float)sqrt(1 - pow(how.beta_2, step));
    if (step < 1)
        REFUSE("step %d: 1 or more is needed", step);
    for (size_t i = 0; i < n; i++) {
        float slope = gradient[i];
        if (how.is_coupled)
            slope += (float)how.decay * parameter[i];
        else
            parameter[i] *= keep;
        mean[i] += new_1 * (slope - mean[i]);
        square[i] = old_2 * square[i] + new_2 * slope * slope;
        parameter[i] -=
            rate * mean[i] / (sqrtf(square[i]) / root + (float)how.epsilon);
    }
}

static void show_adam(void)
{
    const Adam how = {0.1, 0.9, 0.999, 1e-8, 0, 0};
    const float slopes[3] = {100, 1, 0.01f};
    float mean[3] = {0}, square[3] = {0}, moved[3] = {0}, plain[3];
    for (int i = 0; i < 3; i++)
        plain[i] = -0.1f * slopes[i];
    adam_step(how, 1, 3, slopes, mean, square, moved);
    print_vector("slopes 100, 1, 0.01: moved by descent", 3, plain);
    print_vector("moved by Adam", 3, moved);
    memset(mean, 0, sizeof mean);
    memset(square, 0, sizeof square);
    memset(moved, 0, sizeof moved);
    for (int step = 1; step <= 10; step++)
        adam_step(how, step, 2, (float[]){1, step % 2 ? 1 : -1}, mean,
                  square, moved);
    print_vector("ten steps: always 1; now 1, now -1", 2, moved);
}

/*
``` output
slopes 100, 1, 0.01: moved by descent (3)
```

Two more things belong to a step, and both are caution. A batch with odd
texts may have a gradient far longer than others, as an arrow. **Clipping**
makes it shorter, and leaves its direction [@pascanu2013].
*/

double clip_norm(double most, size_t n, float gradient[n])
{
    double sum = 0;
    if (!(most > 0))
        REFUSE("a length of at most %g: more than 0 is needed", most);
    for (size_t i = 0; i < n; i++)
        sum += (double)gradient[i] * (double)gradient[i];
    const float factor = (float)(most / (sqrt(sum) + 1e-6));
    for (size_t i = 0; i < n && !(factor >= 1); i++)
        gradient[i] *= factor;
    return sqrt(sum);
}

/*
And the rate need not be the same all the time. At first, when Adam's means
know little, it **warms up** in equal steps; then it falls along half a
cosine, so that in the end the model comes to rest.

**Exercise 20.3** (★★, 2 points): `rate_at`. With $w$ steps to warm up, step
$i$, counted from 0, has the rate
$\text{largest} \cdot (i + 1) / (w + 1)$; from step $w$ on, which has the
largest, the cosine goes from 1 to $-1$, and reaches it at step `steps`, with
the least rate. It stays there. Refused are a step below 0, `warm_up` below
0, and a `warm_up` that is not less than `steps`.

::: hint
How much of the way from `warm_up` to `steps` is done at this step, from 0
to 1? The cosine of that times $\pi$ goes from 1 to $-1$.
:::

::: hint
$(1 + \cos) / 2$ goes from 1 to 0: by so much of the difference between
`largest` and `least` is the rate above `least`.
:::

::: done
The same curve is in the training of most language models; only its two ends
differ.
:::
*/

double rate_at(int step, int warm_up, int steps, double largest,
               double least)
{
    const double pi = 3.14159265358979323846;
    if (step < 0 || warm_up < 0 || warm_up >= steps)
        REFUSE("step %d, %d of %d to warm up: a step from 0 on, and fewer "
               "to warm up than there are, are needed",
               step, warm_up, steps);
    if (step < warm_up)
        return largest * (step + 1) / (warm_up + 1);
    if (step >= steps)
        return least;
    const double done = (double)(step - warm_up) / (steps - warm_up);
    return least + (largest - least) * (1 + cos(pi * done)) / 2;
}

enum { TEXTS = 16, WIDTH = 16, STEPS = 100, WARM_UP = 10, POINTS = 6 };

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
    print_vector("rate of step 1, 20, 40, ..., 100", POINTS, rates);
}

/*
``` output
rate of step 1, 20, 40, ..., 100 (11)
```

## A model to train {#training-model}

The model is an attention between two things we know. In front, a table of
embeddings ([](#tokens-vectors)) and a learned table of places
([](#positions)). Behind, the output layer of [](#multi-head-output), which
is as wide as the vocabulary, so that its results are the logits.

::: {.header of="Model"}
:::

Tokens ask with their own embedding. What is *asked* may be wider, as
in [](#cross-attention-width): several embeddings side by side, which a
batch names by their ids. One of our tasks will need that.

::: {.header of="Batch"}
:::
*/

void model_forward(const Model *m, Mask see, const Batch *b, Pass *p)
{
    const Attention *a = &m->attention;
    const int n = b->n, all = b->texts * n, d = a->d_x, wide = a->d_y;
    float(*x)[n][d] = (void *)p->x, (*y)[n][wide] = (void *)p->y;
    batch_must_fit(b, p);
    embed(all, d, m->words, b->ids, (void *)m->token, x[0]);
    embed(all * (wide / d), d, m->words, b->asked, (void *)m->token,
          (void *)y);
    for (int k = 0; k < b->texts; k++) {
        add_positions(n, wide, m->length, 0, (void *)m->place, y[k]);
        attention_forward(a, see, NULL, n, n, x[k], y[k], &p->trace[k]);
    }
}

/*
(A `Pass` holds what comes on the way, with a trace for each text, and
another one the gradients of all that. Room for these is made in
`src/model.c`.) The way back has a line for each line of the way there, from
the last to the first. What was added to the places of one text after the
other, gets the gradients of all; and the one table of embeddings, which was
looked into twice, gets both.
*/

void model_backward(const Model *m, const Batch *b, const Pass *p, Pass *g,
                    Model *g_m)
{
    const Attention *a = &m->attention;
    const int n = b->n, all = b->texts * n, d = a->d_x, wide = a->d_y;
    float(*x)[n][d] = (void *)p->x, (*y)[n][wide] = (void *)p->y;
    float(*g_x)[n][d] = (void *)g->x, (*g_y)[n][wide] = (void *)g->y;
    batch_must_fit(b, p);
    batch_must_fit(b, g);
    memset(g_x, 0, sizeof(float[all][d]));
    memset(g_y, 0, sizeof(float[all][wide]));
    for (int k = 0; k < b->texts; k++) {
        attention_backward(a, n, n, x[k], y[k], &p->trace[k], &g->trace[k],
                           &g_m->attention, g_x[k], g_y[k]);
        for (int i = 0; i < n * wide; i++) // y[k] += place
            g_m->place[i] += g_y[k][0][i];
    }
    embed_backward(all, d, m->words, b->ids, g_x[0], (void *)g_m->token);
    embed_backward(all * (wide / d), d, m->words, b->asked, (void *)g_y,
                   (void *)g_m->token);
}

/*
So this is training. Gradients are *added* to what is there
([](#backward)). Between two steps they have to become 0 again; PyTorch calls
that `zero_grad`, and [we will see](#training-verbs) what comes of forgetting
it. A gradient and Adam's means have as many numbers as the model, and are
`Model`s, too. Parameters lie in one block, so each step is one loop.
*/

float training_loss(Training *t, Mask see, const Batch *b)
{
    model_forward(&t->model, see, b, &t->pass);
    return cross_entropy(b->texts * b->n, t->model.words,
                         (void *)t->pass.logits, b->target,
                         (void *)t->pass.shares);
}

void training_gradient(Training *t, const Batch *b)
{
    const int rows = b->texts * b->n, words = t->model.words;
    memset(t->g.logits, 0, sizeof(float[rows][words]));
    cross_entropy_backward(rows, words, (void *)t->pass.shares, b->target,
                           (void *)t->g.logits);
    model_backward(&t->model, b, &t->pass, &t->g, &t->gradient);
}

float training_step(Training *t, Adam how, Mask see, const Batch *b)
{
    const size_t count = t->model.count;
    float *gradient = t->gradient.memory;
    const float loss = training_loss(t, see, b);
    memset(gradient, 0, count * sizeof(float));
    training_gradient(t, b);
    clip_norm(1, count, gradient);
    adam_step(how, ++t->steps, count, gradient, t->mean.memory,
              t->square.memory, t->model.memory);
    return loss;
}

/*
## What came after it the last time {#training-repeated}

The first task: a text repeats itself, and each word is to tell the next one.
The texts come from the seed. `random_below` takes the rest of a draw
divided by a range, `torch.randint`; `shuffle` exchanges each entry with one
that is drawn from those behind it and itself, `torch.randperm`.
*/

int random_below(Random *r, int range)
{
    if (range < 1)
        REFUSE("a number below %d: 1 or more is needed", range);
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

/* What is asked at a place: its word, and the one before. */
void draw_repeated(Random *r, int ids[REPEATED_LENGTH],
                   int asked[REPEATED_LENGTH][2],
                   int target[REPEATED_LENGTH])
{
    int order[REPEATED_WORDS - 1];
    const int period = 4 + random_below(r, 5);
    shuffle(r, REPEATED_WORDS - 1, order);
    for (int i = 0; i < REPEATED_LENGTH; i++) {
        ids[i] = asked[i][0] = order[i % period];
        asked[i][1] = i ? ids[i - 1] : REPEATED_WORDS - 1;
        target[i] = i < period ? IGNORED : order[(i + 1) % period];
    }
}

/* A sentence of the other task, further below. */
void draw_agreement(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH])
{
    enum { THE, NOUN, ADJECTIVE = 11, PREPOSITION = 13, BLANK = 16, VERB };
    const int choices[7] = {5, 2, 2, 3, 2, 2, 4};
    int choice[7];
    if (number < 0 || number >= AGREEMENTS)
        REFUSE("sentence %d: 0 to %d is needed", number, AGREEMENTS - 1);
    for (int k = 0; k < 7; number /= choices[k++])
        choice[k] = number % choices[k];
    const int second = (choice[0] + 1 + choice[6]) % 5;
    const int subject = NOUN + 2 * choice[0] + choice[1];
    const int other = NOUN + 2 * second + choice[2];
    const int near = PREPOSITION + choice[3], old = ADJECTIVE + choice[4];
    const int text[2][AGREEMENT_LENGTH] = {
        {THE, subject, near, THE, old, other, BLANK},
        {THE, old, subject, near, THE, other, BLANK}};
    for (int i = 0; i < AGREEMENT_LENGTH; i++) {
        ids[i] = text[choice[5]][i];
        target[i] = ids[i] == BLANK ? VERB + choice[1] : IGNORED;
    }
}

/* How a training is done: of sentences, with equal weights, seeing one word
 * too many, with no target ignored, with gradients that are never 0 again.
 * And room for the three lists of a batch. */
enum { VERBS = 1, EQUAL = 2, LEAKY = 4, ASKS_ALL = 8, ADDS_UP = 16 };
typedef int Lists[3][TEXTS * REPEATED_LENGTH * 2];

/* The next texts; of sentences those from a number on, or, for -1, drawn
 * from those that are taught. */
static Batch show_batch(int way, Random *r, int number, Lists l)
{
    const int n = way & VERBS ? AGREEMENT_LENGTH : REPEATED_LENGTH;
    for (int k = 0; k < TEXTS; k++) {
        int *ids = l[0] + k * n, *target = l[2] + k * n;
        if (!(way & VERBS))
            draw_repeated(r, ids, (void *)(l[1] + k * n * 2), target);
        else if (number < 0)
            draw_agreement(random_below(r, AGREEMENTS_TAUGHT), ids, target);
        else
            draw_agreement(number + k, ids, target);
        for (int i = 0; i < n && way & ASKS_ALL; i++)
            if (target[i] == IGNORED)
                target[i] = ids[i + 1];
    }
    return (Batch){TEXTS, n, l[0], way & VERBS ? l[0] : l[1], l[2]};
}

static Mask show_mask(int way)
{
    return see_past(way & LEAKY ? 1 : 0);
}

/* A training, with its model drawn from seed 123. */
static void show_begin(int way, Random *r, Training *t)
{
    const int verbs = way & VERBS;
    Model *m = &t->model;
    *m = (Model){.words = verbs ? AGREEMENT_WORDS : REPEATED_WORDS,
                 .length = verbs ? AGREEMENT_LENGTH : REPEATED_LENGTH,
                 .attention = {.d_x = WIDTH,
                               .d_y = verbs ? WIDTH : 2 * WIDTH,
                               .n_heads = 1,
                               .d_k = WIDTH,
                               .d_v = WIDTH,
                               .has_out_bias = 1}};
    training_init(t, TEXTS, m->length);
    random_seed(r, 123);
    uniform_fill(r, 1, (int)m->count, -0.25f, 0.25f, (void *)m->memory);
    if (way & EQUAL) {
        const size_t row = (size_t)WIDTH * sizeof(float);
        memset(m->attention.query.weight, 0, row * (size_t)WIDTH);
        memset(m->attention.key.weight, 0, row * (size_t)m->attention.d_y);
    }
}

/* One step, without setting the gradient to 0. */
static float show_careless_step(Training *t, Adam how, const Batch *b)
{
    const float loss = training_loss(t, see_past(0), b);
    training_gradient(t, b);
    clip_norm(1, t->model.count, t->gradient.memory);
    adam_step(how, ++t->steps, t->model.count, t->gradient.memory,
              t->mean.memory, t->square.memory, t->model.memory);
    return loss;
}

/* A hundred steps; prints the losses of some. */
static void show_steps(int way, Random *r, Training *t, const char *label,
                       float losses[POINTS])
{
    Lists l;
    for (int step = 0, k = 0; step < STEPS; step++) {
        const Batch b = show_batch(way, r, -1, l);
        const Adam how = {show_rate(step), 0.9, 0.999, 1e-8, 0.01, 0};
        const float loss = way & ADDS_UP
                               ? show_careless_step(t, how, &b)
                               : training_step(t, how, show_mask(way), &b);
        if (step + 1 == show_step(k))
            losses[k++] = loss;
    }
    print_vector(label, POINTS, losses);
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

/* Of texts that are not trained on, the loss, and how many answers are right:
 * of all, and of sentences whose nouns differ, one and many. */
static void show_held_out(int way, Training *t, const char *label)
{
    enum { BATCHES = (AGREEMENTS - AGREEMENTS_TAUGHT) / TEXTS };
    const int words = t->model.words;
    const float(*shares)[words] = (void *)t->pass.shares;
    int count[2][2] = {{0}};
    float held[3] = {0};
    Random r;
    Lists l;
    random_seed(&r, 456);
    for (int k = 0; k < BATCHES; k++) {
        const int from = AGREEMENTS_TAUGHT + k * TEXTS;
        const Batch b = show_batch(way, &r, from, l);
        held[0] += training_loss(t, show_mask(way), &b) / BATCHES;
        for (int i = 0; i < TEXTS * b.n; i++) {
            const int number = from + i / b.n;
            if (l[2][i] == IGNORED)
                continue;
            show_answer(words, shares[i], l[2][i], count[0]);
            if (number / 5 % 2 != number / 10 % 2)
                show_answer(words, shares[i], l[2][i], count[1]);
        }
    }
    for (int k = 0; k < 2; k++)
        held[1 + k] = (float)count[k][0] / (float)count[k][1];
    print_vector(label, way & VERBS ? 3 : 2, held);
}

static void show_text(void)
{
    enum { N = REPEATED_LENGTH };
    Random r;
    int ids[N], asked[N][2], target[N];
    random_seed(&r, 456);
    draw_repeated(&r, ids, asked, target);
    printf("a text:       ");
    for (int i = 0; i < N; i++)
        printf("  %c", 'a' + ids[i]);
    printf("\nwhat is asked:");
    for (int i = 0; i < N; i++)
        printf(" %c%c", i ? 'a' + asked[i][1] : '-', 'a' + asked[i][0]);
    printf("\nright answers:");
    for (int i = 0; i < N; i++)
        printf("  %c", target[i] == IGNORED ? '.' : 'a' + target[i]);
    puts("");
}

static void draw_losses(const float losses[POINTS])
{
    const char *const curve[2] = {"this book", "PyTorch"};
    const char *at[POINTS];
    char step[POINTS][8];
    float both[2][POINTS];
    memcpy(both[0], losses, sizeof both[0]);
    memcpy(both[1], pytorch_losses, sizeof both[1]);
    for (int k = 0; k < POINTS; k++) {
        snprintf(step[k], sizeof step[k], "%d", show_step(k));
        at[k] = step[k];
    }
    curves("losses", "The loss of some steps", curve, POINTS, at, both);
}

static void show_repeated(void)
{
    Random r;
    Training t;
    float losses[POINTS];
    show_text();
    show_begin(0, &r, &t);
    show_steps(0, &r, &t, "losses of step 1, 20, 40, ..., 100", losses);
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
TEXT

``` output
a text, with what is asked, and the answers
```

``` output
losses of step 1, 20, 40, ..., 100 (11)
```

![Losses](losses.svg){#fig-training-losses}

## Too good to be true {#training-leak}

*/

/* Does the answer before the last word change with the last word? */
static void show_change(int way, Training *t)
{
    const int last = REPEATED_LENGTH - 1, words = t->model.words;
    float(*logits)[words] = (void *)t->pass.logits, before[words];
    Random r;
    Lists l;
    random_seed(&r, 456);
    const Batch b = show_batch(way, &r, -1, l);
    training_loss(t, show_mask(way), &b);
    memcpy(before, logits[last - 1], sizeof before);
    l[0][last] = l[1][2 * last] = (l[0][last] + 1) % (words - 1);
    training_loss(t, show_mask(way), &b);
    printf("another last word changes the answer before it: %s\n",
           memcmp(before, logits[last - 1], sizeof before) ? "yes" : "no");
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
        show_change(way[k], &t);
        training_free(&t);
    }
    print_value("no honest loss is below",
                (logf(15) + logf(14) + logf(13)) / REPEATED_LENGTH);
}

/*
``` output
every word asked for, the future hidden (11)
```

## The verb and its subject {#training-verbs}

*/

enum { SHOWN = 4 };

/* Four sentences that are held out, and their words. */
static const int shown[SHOWN] = {725, 811, 888, 914};

static void show_sentences(const char *sentence[SHOWN][AGREEMENT_LENGTH])
{
    static const char *const word[AGREEMENT_WORDS] = {
        "the",    "dog",    "dogs",  "cat",      "cats", "bird",  "birds",
        "mouse",  "mice",   "child", "children", "old",  "small", "near",
        "behind", "beside", "_",     "sleeps",   "sleep"};
    puts("sentences held out, and their verbs");
    for (int k = 0; k < SHOWN; k++) {
        int ids[AGREEMENT_LENGTH], target[AGREEMENT_LENGTH];
        draw_agreement(shown[k], ids, target);
        for (int i = 0; i < AGREEMENT_LENGTH; i++)
            printf("%s ", sentence[k][i] = word[ids[i]]);
        printf("(%s)\n", word[target[AGREEMENT_LENGTH - 1]]);
    }
}

/* What the blanks of these sentences look at. */
static void show_looks(Training *t, const char *label,
                       float looks[SHOWN][AGREEMENT_LENGTH])
{
    enum { N = AGREEMENT_LENGTH };
    Lists l;
    for (int k = 0; k < TEXTS; k++)
        draw_agreement(shown[k % SHOWN], l[0] + k * N, l[2] + k * N);
    training_loss(t, see_past(0), &(Batch){TEXTS, N, l[0], l[0], l[2]});
    for (int k = 0; k < SHOWN; k++)
        memcpy(looks[k], t->pass.trace[k].weights + (N - 1) * N,
               sizeof looks[k]);
    print_matrix(label, SHOWN, N, looks);
}

static void show_agreement(void)
{
    const char *const panel[2] = {"before training", "after"};
    const char *sentence[SHOWN][AGREEMENT_LENGTH];
    float looks[2][SHOWN][AGREEMENT_LENGTH], losses[POINTS];
    Random r;
    Training t;
    show_sentences(sentence);
    show_begin(VERBS, &r, &t);
    show_looks(&t, "what their blanks look at, before training", looks[0]);
    show_steps(VERBS, &r, &t, "losses of step 1, 20, 40, ..., 100", losses);
    show_looks(&t, "what their blanks look at, after", looks[1]);
    word_maps("looks", "What the blank looks at", 2, panel, SHOWN,
              AGREEMENT_LENGTH, sentence, looks);
    show_held_out(VERBS, &t, "held out: loss, right, where nouns differ");
    training_free(&t);
    show_begin(VERBS | EQUAL, &r, &t);
    show_steps(VERBS | EQUAL, &r, &t, "losses with equal weights", losses);
    show_held_out(VERBS | EQUAL, &t, "held out, with equal weights");
    training_free(&t);
}

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
sentences that are held out
```

![Looks](looks.svg){#fig-training-looks}

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "vectors roles heads");
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
The same in PyTorch:

``` python
print("TO DO")
```

## Further exercises

**Exercise 20.4** (★★, challenge, 3 points): `sgd_step`.

## Solutions

::: {.solution exercise="20.4"}
TO DO
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
*/
