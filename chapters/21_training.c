/*
# Training a head: induction {#training}

![The way from words to attention. What has parameters, the shaded steps, is
trained here](pipeline.svg){#fig-training-pipeline}

We have the way through an attention and back ([](#multi-head),
[](#backward)), and since [](#optimizers) also a loss for answers in words
and an optimizer. Two things are missing: a model that holds all parameters
together, and a task from which the model can learn something.

The idea of this chapter is one that [](#self-attention-training) has
already used: a head learns what its loss asks for. Here the loss asks for
the right word, and the head has to find out where to look for that word.
Without attention, our model can solve neither of the two tasks of this
chapter. To show that, each task is learned a second time, and only the
choice where to look is taken away: all weights are equal. Such a second
training is called a **control**. And a training with a mistake in its mask,
a leak, shows what a loss looks like that is too good to be true.
*/

#include "attention/21_training.h"
#include "attention/05_tokens.h"
#include "attention/13_multi_head.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/agreement.h"
#include "attention/model.h"
#include "attention/pytorch.h"
#include "support.h"

/*
## The model {#training-model}

The model is an attention whose output layer ([](#multi-head-output)) is as
wide as the vocabulary, so that the results are the logits. Before the
attention come two tables, of embeddings ([](#tokens-vectors)) and of
positions ([](#positions)). Both tables are trained.

::: {.header of="Model"}
:::

The attention has two inputs, as in [](#cross-attention). Queries are made
from `x`, keys and values from `y`. A row of `x` is the embedding of a word,
and nothing else: in both tasks, what a word looks for does not depend on
the word's own position. A row of `y` has the position added, since in the
second task a query must tell the first noun from the second. And a row of
`y` may be wider ([](#cross-attention-pictures)). In the first task it holds
two embeddings side by side, that of the word itself and that of the word
before it.

A pass holds a batch, and all that is computed from it. The caller writes
the batch's three lists: the ids, the ids for the keys, and the targets. The
pass has a trace for each text. The logits of all texts are in one table, so
that the loss is a mean over all targets. (In the function, `embed` reads a
row of `y` with two embeddings as two rows with one embedding each.) The
gradients are in another pass.

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
          ROWS(d, m->tokens), ROWS(d, y[0][0]));
    for (int k = 0; k < p->texts; k++) {
        add_positions(n, wide, m->context_length, 0,
                      ROWS(wide, m->positions), y[k]);
        attention_forward(a, mask, NULL, n, n, x[k], y[k], &p->trace[k]);
    }
}

/*
On the way back, a position's row gets the gradients of all texts. The table
of embeddings was used twice, for `x` and for `y`, so it gets the gradients
of both.
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
        const float *grad_position = grad_y[k][0];
        for (int i = 0; i < n * wide; i++)
            grad_m->positions[i] += grad_position[i];
    }
    embed_backward(all, d, m->vocabulary, p->ids, grad_x[0],
                   ROWS(d, grad_m->tokens));
    embed_backward(all * (wide / d), d, m->vocabulary, p->key_ids,
                   ROWS(d, grad_y[0][0]), ROWS(d, grad_m->tokens));
}

/*
## A step {#training-step}

The loss of a batch is the cross-entropy of its logits. On the way back, the
slopes of the logits come first. (The functions that make memory for all
tables, such as `model_init`, are in `src/model.c`. They compute nothing,
and may be skipped.) A `Training` holds the model, its gradient, Adam's
means and the passes:

::: {.header of="Training"}
:::
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

/*
A step puts these two together. Gradients are *added* to what is there
([](#backward)), so they must be set to 0 before each step, which PyTorch
calls `zero_grad`. After that, the gradient is clipped to the length 1, and
Adam moves the parameters. All parameters lie in one block of memory, the
gradient lies in another block of the same layout, and so do Adam's two
means. So clipping and Adam go through a model as through a list.
*/

float training_step(Training *t, Adam adam, Mask mask)
{
    const size_t count = t->model.count;
    const float loss = training_loss(t, mask);
    model_clear(&t->gradient);
    training_gradient(t);
    clip_norm(1, count, t->gradient.memory);
    adam_step(adam, ++t->step, count, t->gradient.memory, t->mean.memory,
              t->square.memory, t->model.memory);
    return loss;
}

/*
## Induction: what came after it the last time {#training-repeated}

In the first task a text repeats itself, and the model has to tell the word
that comes next. The words of a text are drawn in random order. For that we
need a random whole number below a given number. As in PyTorch, it is what
remains when 32 random bits are divided by the given number, or 64 bits
where that number is large:
*/

int random_below(Random *r, int range)
{
    if (range < 1)
        REFUSE("range = %d: at least 1 is needed", range);
    const uint64_t draw = range < 1 << 28 ? random_u32(r) : random_u64(r);
    return (int)(draw % (uint64_t)range);
}

/*
To put the entries of a list into random order is to **shuffle** them. The
first entry is exchanged with any entry of the list, itself among them. The
second is exchanged with any entry from the second on, and so on. Since
entries are exchanged, none is lost.

**Exercise 21.1** (★, 2 points): `shuffle`. The numbers 0 to `n - 1` in
random order, from the first entry on. For the last entry there is no
choice, and no draw.

::: hint
First each entry `i` gets the number `i`. Then entry `i` is exchanged with
entry `i + random_below(r, n - i)`.
:::

::: done
Each order is almost equally likely (32 bits are no multiple of every
range). In this way PyTorch's `DataLoader` shuffles, too, draw for draw.
:::
*/

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

/*
A text has 16 words. After 4 to 8 words, all different, it begins again from
its first word. A key has two ids, that of its word and that of the word
before it. So a query can look for the key whose second id is the query's
own word: the first id of that key is the word that came next the last time,
and that is the answer. The first word has no word before it. There the
second id is 16, the number of a seventeenth word that no text has. As long
as the text has not begun again, no one can know the next word, so these
targets are ignored.

**Exercise 21.2** (★★, 3 points): `repeated_text`. First the period is
drawn, which is the number of different words; then the order of all 16
words, of which the first so many are used. `ids` are the words of the text.
Of the two `key_ids` of a word, the first is its own id, and the second the
id of the word before it. `target` is the next word, and `IGNORED` in the
first period.

::: hint
The period `4 + random_below(r, 5)` is a number from 4 to 8, and `shuffle`
fills a list with the words 0 to 15 in random order.
:::

::: hint
Word `i` of the text is word `i % period` of that order, and the next word
is word `(i + 1) % period`.
:::

::: done
The answer stands in the text, at a distance that differs from text to text:
only looking back can find it.
:::
*/

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

enum { TEXTS = 16, WIDTH = 16, STEPS = 100, WARM_UP = 10 };
enum { POINTS = 6, SHOWN = 4 }; /* steps and sentences that are shown */

/* Sentences; equal weights; a leak; all words asked; gradients added up. */
enum { VERBS = 1, EQUAL = 2, LEAKY = 4, ASKS_ALL = 8, ADDS_UP = 16 };

/* folded: how this is printed */
/* The number of a step that is shown: the first, and every twentieth. */
static int step_at(int point)
{
    return point ? STEPS / (POINTS - 1) * point : 1;
}

static double rate_of_step(int step)
{
    return rate_at(step, WARM_UP, STEPS, 0.02, 0);
}

/* Fills a pass with repeated texts, or with sentences: those from a number
 * on, or for -1 some of those that are taught. */
static void fill_batch(int way, Random *r, int number, Pass *p)
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
        memcpy(p->key_ids, p->ids, sizeof(int[TEXTS][n]));
}

static Mask mask_of(int way)
{
    return mask_causal(way & LEAKY ? 1 : 0);
}

/* A training, with its model drawn from seed 123. */
static void begin_training(int way, Random *r, Training *t)
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
static float careless_step(Training *t, Adam adam)
{
    const size_t count = t->model.count;
    const float loss = training_loss(t, mask_causal(0));
    training_gradient(t);
    clip_norm(1, count, t->gradient.memory);
    adam_step(adam, ++t->step, count, t->gradient.memory, t->mean.memory,
              t->square.memory, t->model.memory);
    return loss;
}

/* A hundred steps; prints the losses of some. Where gradients add up, two
 * decimals: more would not be the same on every processor. */
static void run_steps(int way, Random *r, Training *t, const char *label,
                      float losses[POINTS])
{
    for (int step = 0, k = 0; step < STEPS; step++) {
        const Adam adam = {rate_of_step(step), 0.9, 0.999, 1e-8, 0.01, 0};
        fill_batch(way, r, -1, &t->pass);
        const float loss = way & ADDS_UP
                               ? careless_step(t, adam)
                               : training_step(t, adam, mask_of(way));
        if (step + 1 == step_at(k))
            losses[k++] = loss;
    }
    print_rounded(label, way & ADDS_UP ? 2 : 4, POINTS, losses);
}

/* Counts an answer, and whether its word has the largest share. */
static void count_right(int words, const float shares[words], int target,
                        int count[2])
{
    int best = 0;
    for (int j = 1; j < words; j++)
        best = shares[j] > shares[best] ? j : best;
    count[0] += best == target;
    count[1]++;
}

/* The loss of texts held out, and the part of right answers: of all, and of
 * sentences with a singular and a plural noun. */
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
        fill_batch(way, &r, from, &t->pass);
        const float loss = training_loss(t, mask_of(way));
        for (int i = 0; i < TEXTS * t->pass.n; i++) {
            if (t->pass.targets[i] == IGNORED)
                continue;
            count_right(words, shares[i], t->pass.targets[i], count[0]);
            if (agreement_nouns_differ(from + i / t->pass.n))
                count_right(words, shares[i], t->pass.targets[i], count[1]);
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
    printf("\nwhat keys say:");
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
    pytorch_losses(both[1]);
    figure_curves("losses", "The loss of some steps", curve, POINTS, at,
                  both);
}

static void show_repeated(void)
{
    Random r;
    Training t;
    float losses[POINTS], pytorch[POINTS];
    show_text();
    begin_training(0, &r, &t);
    run_steps(0, &r, &t, "losses of step 1, 20, 40, 60, 80, 100", losses);
    pytorch_losses(pytorch);
    print_vector("the same in PyTorch", POINTS, pytorch);
    draw_losses(losses);
    show_held_out(0, &t, "texts held out: loss, right answers");
    training_free(&t);
    begin_training(EQUAL, &r, &t);
    run_steps(EQUAL, &r, &t, "losses with equal weights", losses);
    show_held_out(EQUAL, &t, "texts held out, with equal weights");
    training_free(&t);
}

/*
``` output
a text:         f  i  h  a  p  f  i  h  a  p  f  i  h  a  p  f
what keys say: -f fi ih ha ap pf fi ih ha ap pf fi ih ha ap pf
right answers:  .  .  .  .  .  i  h  a  p  f  i  h  a  p  f  i
```

Here words are letters, `-` is the word before the first, and a dot is a
target that is ignored. The second line shows each key's two words, the word
before in front. The answer is what came after the same word the last time,
and the distance differs from text to text. But a query, say *f*, can look
for the key that says "before me came *f*", and take its value, "I am *i*".
A head that does so is an **induction head**. In models that stack
attentions, a first attention tells each word which word came before it, and
a second one looks for that; both form by themselves [@olsson2022], as
[](#inside) will show. Does a head in our model learn to do it?

::: question
The losses below begin at 2.8311. Why there?

All parameters were drawn between $-0.25$ and $0.25$, so at first 17 words
have nearly the same share, and the loss is near $\ln(17)$: $e^{2.8332} =
17.00$.
:::

The model has one head and a width of 16. Its mask is the causal one,
`mask_causal(0)`, so no word sees a later one. A batch has 16 texts. There
are 100 steps, with the rates of [](#optimizers-schedule) and with the
defaults of PyTorch's `AdamW` for the other numbers.

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

At step 60 the head has found out where to look. The last numbers are from
texts that are **held out**: the training has never used them. (Here they
are new texts, drawn from another seed.) All answers are right. PyTorch's
losses, with the same model and the same texts, are the same in all digits
that are shown. (They were computed as `double`, and are kept in a table of
the program.)

And with equal weights? The control begins with queries and keys of 0. Then
all scores are 0, and all weights are equal. They stay equal: a score is a
product of a query and a key, so the slope of the query has the key as a
factor, and the slope of the key has the query. Both factors are 0, and no
step changes them. The other parameters are trained as before. The model
comes to prefer the words of a text a little, but cannot say which of them
comes next.

## A leak: too good to be true {#training-leak}

Now the loss asks for every word, also in the first period, where no one can
know it. So no honest model can have a loss near 0, and a loss that is too
small must come from a leak. The first run is honest. In the second run the
mask has a mistake: with `mask_causal(1)` each word sees one word too many,
the next one.
*/

/* folded: how this is printed */
/* Does the answer before the last word change with the last word? */
static void show_change(int way, Training *t)
{
    enum { LAST = REPEATED_LENGTH - 1, WORDS = REPEATED_WORDS };
    float(*logits)[WORDS] = ROWS(WORDS, t->pass.logits), before[WORDS];
    Random r = random_seeded(456);
    fill_batch(way, &r, -1, &t->pass);
    training_loss(t, mask_of(way));
    memcpy(before, logits[LAST - 1], sizeof before);
    int *const last = &t->pass.ids[LAST];
    *last = t->pass.key_ids[2 * LAST] = (*last + 1) % (WORDS - 1);
    training_loss(t, mask_of(way));
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
        begin_training(way[k], &r, &t);
        run_steps(way[k], &r, &t, label[k], losses);
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

The first run learns slowly, and however long it went on, its loss would
stay high. The first four words of a text are all different. So the second
word is one of 15 that are left, the third one of 14, and the fourth one of
13, each equally likely. The loss is a mean over the 16 words of a text. A
model that does not see the next word cannot have a smaller loss than
$(\ln(15) + \ln(14) + \ln(13)) / 16$, which is 0.4945.

The loss of the second run is far below this bound. Its query finds the key
of the next word, and the value there is the answer. The leak is there in
texts held out as well, so their loss does not reveal it. A loss that is too
good to be true raises the suspicion. The test of
[](#causal-attention-sentences) proves it: another word changes an answer
before that word.

## Agreement: the verb and its subject {#training-verbs}

The second task is a little English. There are 960 sentences. Each has two
nouns, singular or plural, an adjective before one of them, a preposition,
and a blank for the verb. The verb has to fit the first noun, whatever the
second noun is. (Linguists have tested larger models in this way
[@linzen2016].)

`agreement_text`, in `src/agreement.c`, makes a sentence from its number,
and the verb that fits. The function does nothing but choose words by that
number, and may be skipped.
*/

/* folded: how this is printed */
static void show_sentences(const int number[SHOWN])
{
    puts("sentences held out, and their verbs");
    for (int k = 0; k < SHOWN; k++) {
        int ids[AGREEMENT_LENGTH], target[AGREEMENT_LENGTH];
        agreement_text(number[k], ids, target);
        for (int i = 0; i < AGREEMENT_LENGTH; i++)
            printf("%s ", agreement_word[ids[i]]);
        printf("(%s)\n", agreement_word[target[AGREEMENT_LENGTH - 1]]);
    }
}

/* What the blanks of these sentences look at. */
static void show_looks(const int number[SHOWN], Training *t,
                       const char *label)
{
    enum { N = AGREEMENT_LENGTH };
    float looks[SHOWN][N];
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
    float losses[POINTS];
    Random r;
    Training t;
    show_sentences(number);
    begin_training(VERBS, &r, &t);
    show_looks(number, &t, "what their blanks look at, before training");
    run_steps(VERBS, &r, &t, "losses of step 1, 20, 40, 60, 80, 100",
              losses);
    show_looks(number, &t, "what their blanks look at, after");
    show_held_out(VERBS, &t, "held out: loss, right, where nouns differ");
    training_free(&t);
    begin_training(VERBS | EQUAL, &r, &t);
    run_steps(VERBS | EQUAL, &r, &t, "losses with equal weights", losses);
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

A sentence's number says how the sentence is made. From number 720 on, the
second noun is the fourth after the first, counted round in the list dog,
cat, bird, mouse, child. The training draws numbers below 720. So it has
never seen *dog* before *child* in a sentence, nor *cat* before *dog*.

![What the blank looks at in four sentences held out, before training and
after](looks.svg){#fig-training-looks}

With equal weights three of four answers are right, and of the sentences in
which one noun is singular and the other plural, one of two. The model can
only count singular and plural nouns: if there is one of each, it guesses.
Why not, since each value has its position added? The model gets the sum of
all values. In this sum, what the positions add is the same in every
sentence, and what the words add is the same in any order. With attention
all answers are right, and the picture shows how. The blank looks at the
subject, past the other noun, whether the subject is the second or the third
word. Nothing in the training names the subject. The loss has only asked for
the verb. [Try other sentences](#workbench){state="stage=verbs"}, or switch
the head off.

## Gradients that are never 0 again {#training-careless}

A last run learns the sentences again, with attention, but it never sets the
gradients to 0:
*/

/* folded: how this is printed */
static void show_careless(void)
{
    Random r;
    Training t;
    float losses[POINTS];
    begin_training(VERBS | ADDS_UP, &r, &t);
    run_steps(VERBS | ADDS_UP, &r, &t, "losses, gradients never 0 again",
              losses);
    training_free(&t);
}

/*
``` output
losses, gradients never 0 again (6)
[2.94, 0.84, 0.61, 0.21, 0.00, 0.01]
```

At step 60 the loss is far above that of the run with attention above, and
at the end it is small, too. How can that be? In each step, the new gradient
is added to what the gradient's table still holds from the steps before, and
this sum is clipped to the length 1. So the parameters move by a mixture of
new and old gradients, which often points the right way, too. A parameter
that has gone too far gets slopes of the other sign, and these wear the old
sum down. That is why this mistake can stay in a program for long: nothing
stops, and the training is merely worse than it could be.

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "vectors roles heads");
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
token, position, query, key, value, out, bias = model = [
    torch.nn.Parameter(torch.empty(size).uniform_(-0.25, 0.25)) for size in
    [(17, 16), (16, 32), (16, 16), (16, 32), (16, 32), (17, 16), (17,)]]
adam = torch.optim.AdamW(model)
losses = []
for step in range(100):
    texts = [repeated() for _ in range(16)]
    ids, asked, target = map(torch.stack, zip(*texts))
    x, y = token[ids], token[asked].flatten(-2) + position
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

One attention has learned to look back for what it needs. But one attention
looks only once. A language model stacks many attentions, with other layers
between them, so that one attention can use what another has found:
[](#gpt).

## Further exercises

**Exercise 21.3** (by hand): The loss of the blanks at step 20 is 0.7065,
close to $\ln(2)$. What does the model know by then, and what not?

## Solutions

::: {.solution exercise="21.3"}
$e^{-0.7065} = 0.4934$: the right word has a share of about one half. The
model has learned that only two of the 19 words ever fill the blank, each
equally often. It does not know yet which of the two fits a sentence.
:::
*/
