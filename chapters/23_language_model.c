/*
# A language model {#language-model}

![The way from words to attention. A language model goes all the way
for each token it writes](pipeline.svg){#fig-language-model-pipeline}

You have built a GPT ([](#gpt)). It turns the ids of a text into logits, and
it can carry the slopes of a loss all the way back to every parameter. What
it has never had is something to read.

Where do the right answers come from? So far each task came with them: which
animal, which door. Nobody has to write any for a text. The right answer to
*The cat likes* is whatever comes next, and the text has it, one token
further on. So every text is its own teacher, at every token. A model that
gives each token of its vocabulary a share, the probability that it comes
next, is a **language model**.

By the end of this chapter, yours will have read Shakespeare's plays, five
million characters, and will write scenes of its own.
*/

#include "attention/23_language_model.h"
#include "attention/02_softmax.h"
#include "attention/13_multi_head.h"
#include "attention/20_optimizers.h"
#include "attention/21_training.h"
#include "attention/B_random.h"
#include "attention/gpt.h"
#include "attention/gpt_fast.h"
#include "attention/gpt_file.h"
#include "attention/prose.h"
#include "attention/trained.h"
#include "support.h"

#include <ctype.h>

/*
## One token further on {#language-model-reading}

Begin with the text at hand, the prose of this book. A token is a byte, and
all bytes here are ASCII, so the vocabulary has 128 tokens. Nobody tells the
model what a word is, or that there are words.

A passage is as long as the model's context. The targets are the same
passage, shifted by one:
*/

void read_passage(int vocabulary, int n, const char text[n + 1], int ids[n],
                  int targets[n])
{
    for (int i = 0; i <= n; i++) {
        const int id = (unsigned char)text[i];
        if (id >= vocabulary)
            REFUSE("the byte %d, of a vocabulary of %d: one below %d is "
                   "needed",
                   id, vocabulary, vocabulary);
        if (i < n)
            ids[i] = id;
        if (i > 0)
            targets[i - 1] = id;
    }
}

/*
One passage of 32 bytes asks 32 questions at once: what follows the first
byte, what follows the first two, and so on. The mask sees to it that no row
peeks at its answer ([](#causal-mask)).

## The step {#language-model-step}

Learning is the loop that you know: forwards, the loss, backwards, a step.
What is new is only that the texts of a batch go through `gpt_forward` and
`gpt_backward` together.

**Exercise 23.1** (★★, 3 points): `gpt_gradient`. From the ids of a batch
and its targets: return the loss, the mean over all its tokens, and put its
gradient with respect to every parameter into `grad_g`. Whatever `grad_g`
and `grad_p` held before is overwritten. `gpt_gradient` refuses a pass whose
sizes don't match the batch's.

::: hint
All rows of all texts are one table of `texts * n` rows for `cross_entropy`,
and `*ids` is the list of all ids.
:::

::: hint
In this order: `gpt_forward` (NULL for no cache), `cross_entropy`, 0 into
both gradients with `gpt_pass_clear` and `gpt_clear`,
`cross_entropy_backward` into the gradient of the logits, and
`gpt_backward`.
:::

::: done
One call asks every parameter: if you had been a little larger, would the
text have been less of a surprise?
:::
*/

float gpt_gradient(const Gpt *g, int texts, int n, const int ids[texts][n],
                   const int targets[texts][n], GptPass *p, GptPass *grad_p,
                   Gpt *grad_g)
{
    const int rows = texts * n, size = g->vocabulary;
    SIZES_CHECK("a pass of texts, n", {p->texts, texts}, {p->n, n});
    float *shares = new_table(rows, size);
    gpt_forward(g, NULL, *ids, p);
    const float loss = cross_entropy(rows, size, ROWS(size, p->logits),
                                     *targets, ROWS(size, shares));
    gpt_pass_clear(grad_p);
    gpt_clear(grad_g);
    cross_entropy_backward(rows, size, ROWS(size, shares), *targets,
                           ROWS(size, grad_p->logits));
    gpt_backward(g, *ids, p, grad_p, grad_g);
    free(shares);
    return loss;
}

/*
A learner is a model with everything it needs to learn: its gradient, Adam's
two means, memory for a batch, and the number of its steps:

::: {.header of="Learner"}
:::

**Exercise 23.2** (★★, 3 points): `learner_step`. One step of learning, from
a batch: its gradient, clipped to a length of 1 ([](#optimizers)), and a
step of Adam. The first step has the number 1. Return the loss, which is
that of the model before the step.

::: hint
The `memory` of a `Gpt` is one list of its `count` parameters.
:::

::: done
What is called the **pretraining** of a large model is this step, at another
size, over and over.
:::
*/

float learner_step(Learner *l, int texts, int n, const int ids[texts][n],
                   const int targets[texts][n])
{
    const size_t count = l->model.count;
    const float loss = gpt_gradient(&l->model, texts, n, ids, targets,
                                    &l->pass, &l->grad_pass, &l->gradient);
    clip_norm(1, count, l->gradient.memory);
    adam_step(l->adam, ++l->step, count, l->gradient.memory, l->mean.memory,
              l->square.memory, l->model.memory);
    return loss;
}

/*
How good is a model? Its loss on text that it has never read tells you.
Every tenth paragraph of the book is held out for that. The text is cut into
passages, and the loss is the mean over all of them:
*/

float gpt_loss(const Gpt *g, int bytes, const char text[bytes])
{
    const int n = g->context_length, size = g->vocabulary;
    int ids[n], targets[n], count = 0;
    double sum = 0;
    GptPass p;
    if (bytes <= n)
        REFUSE("%d bytes: more than the context of %d are needed", bytes,
               n);
    gpt_pass_init(&p, g, 1, n);
    float *shares = new_table(n, size);
    for (int from = 0; from + n < bytes; from += n, count++) {
        read_passage(size, n, text + from, ids, targets);
        gpt_forward(g, NULL, ids, &p);
        sum += (double)cross_entropy(n, size, ROWS(size, p.logits), targets,
                                     ROWS(size, shares));
    }
    free(shares);
    gpt_pass_free(&p);
    return (float)(sum / count);
}

/*
## Writing {#language-model-writing}

To write, a model needs two more things: a way to choose the next token by
the shares, and a loop.

Always choosing the token with the largest share is **greedy decoding**, and
a model that writes this way always writes the same. To get something new
each time, the token is drawn, each as often as its share says. Lay the
shares end to end along a line, and point at it blindly: the longer a share,
the likelier you are to hit it.

**Exercise 23.3** (★★, 3 points): `draw_token`. Draw one of `n` tokens by
its share. The shares need not add up to 1. `random_double` gives a number
from 0 to below 1; multiplied by the length of the whole line, it is where
you point. Add the shares up in a `double`, in order, and return the first
index where the sum is above that point. A share of 0 is never drawn.
`draw_token` refuses a share that is negative or not finite, and shares that
are all 0.

::: hint
Two loops: one for the length of the line, and one that walks along it.
:::

::: done
This is where the shares of a language model become text.
:::
*/

int draw_token(Random *r, int n, const float shares[n])
{
    double whole = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        if (!(shares[i] >= 0 && shares[i] <= FLT_MAX))
            REFUSE("share %d is %g: a finite one, at least 0, is needed", i,
                   (double)shares[i]);
        whole += (double)shares[i];
    }
    if (!(whole > 0))
        REFUSE("%d shares, and none above 0: one is needed", n);
    const double point = random_double(r) * whole;
    int i = 0;
    while ((sum += (double)shares[i]) <= point)
        i++;
    return i;
}

/*
Two settings change the shares before the draw. The logits are divided by a
**temperature**: below 1 it sharpens the shares, so that the largest grows,
and above 1 it flattens them. And **top-k** hides all but the `k`
largest logits. To thousands of tokens that don't fit, a model tends to give
a little too much each, and together they would be drawn too often.

**Exercise 23.4** (★★, 3 points): `top_k`. Put minus infinity in place of
all logits below the `k`-th largest. Logits that are equal to the `k`-th
largest stay, even if more than `k` are left. `top_k` refuses a `k` below 1
or above `n`.

::: hint
`new_sorted(n, logits)` is a copy with the largest first. Where in it is
the `k`-th largest?
:::

::: hint
With that logit as the limit, one loop over `logits` does the rest. The copy
is yours to free.
:::

::: done
Minus infinity becomes a share of 0 in the softmax, as it did for the
future: a mask once more, over words instead of time.
:::
*/

void top_k(int n, int k, float logits[n])
{
    if (k < 1 || k > n)
        REFUSE("the %d largest of %d: from 1 to %d are needed", k, n, n);
    float *sorted = new_sorted(n, logits);
    const float limit = sorted[k - 1];
    for (int i = 0; i < n; i++)
        if (logits[i] < limit)
            logits[i] = -INFINITY;
    free(sorted);
}

int next_token(Random *r, float temperature, int k, int n, float logits[n],
               float shares[n])
{
    if (!(temperature > 0))
        REFUSE("a temperature of %g: one above 0 is needed",
               (double)temperature);
    for (int i = 0; i < n; i++) {
        if (isfinite(logits[i]) && !isfinite(logits[i] / temperature))
            REFUSE("the temperature %g is too low: logit %d, %g, divided "
                   "by it overflows a float",
                   (double)temperature, i, (double)logits[i]);
        logits[i] /= temperature;
    }
    if (k)
        top_k(n, k, logits);
    softmax(n, logits, shares);
    return draw_token(r, n, shares);
}

/* folded: how this is printed */
/* How often each of five is drawn, in ten thousand draws. */
static void show_draws(void)
{
    const float shares[5] = {0.5f, 0.25f, 0.125f, 0.125f, 0};
    int count[5] = {0};
    Random r = random_seeded(123);
    for (int i = 0; i < 10000; i++)
        count[draw_token(&r, 5, shares)]++;
    print_integers("10000 draws by 1/2, 1/4, 1/8, 1/8, 0", 5, count);
}

static void show_settings(void)
{
    const float logits[5] = {2, 1, 0.5f, 0, -1};
    const float temperature[4] = {1, 0.5f, 2, 1};
    float table[4][5], own[5];
    Random r = random_seeded(123);
    for (int i = 0; i < 4; i++) {
        memcpy(own, logits, sizeof own);
        next_token(&r, temperature[i], i == 3 ? 2 : 0, 5, own, table[i]);
    }
    print_matrix("shares: as they are, colder, hotter, the 2 largest", 4, 5,
                 table);
}

/*
``` output
10000 draws by 1/2, 1/4, 1/8, 1/8, 0 (5)
[4994, 2515, 1208, 1283,    0]
shares: as they are, colder, hotter, the 2 largest (4, 5)
[[0.5630, 0.2071, 0.1256, 0.0762, 0.0280],
 [0.8292, 0.1122, 0.0413, 0.0152, 0.0021],
 [0.3745, 0.2272, 0.1769, 0.1378, 0.0836],
 [0.7311, 0.2689, 0.0000, 0.0000, 0.0000]]
```

::: question
What is written with a temperature close to 0? And what with top-k, if `k`
is 1?

Both write the same, unless two logits are equal. With a temperature close
to 0 the logits are far apart, and the largest has nearly the whole share,
so it is drawn each time. With a `k` of 1 only the largest is left.
:::

The loop is short. The beginning of the text goes through the model whole.
After that, only the token that was drawn last has to, since a cache holds
the keys and values of all others ([](#kv-cache)).

**Exercise 23.5** (★★★, 4 points): `gpt_generate`. The first `begun` of the
`n` ids are given, and `n` is at most the context; write the others. With a
`k` of 0, nothing is hidden. `gpt_generate` refuses a `begun` below 1 or
above `n`.

::: hint
`KVCache cache[g->layers]` has a cache for each layer; `gpt_caches_init`
makes them, and `gpt_caches_free` frees them. The tokens that have not been
read yet are `ids[from]` to `ids[till - 1]`: at first those that were given,
later one at a time.
:::

::: hint
A pass for them is made by `gpt_pass_init(&p, g, 1, till - from)`. With a
cache, `gpt_forward` knows how many tokens came before. Only the last row of
logits is needed, for `next_token`.
:::

::: hint
What is drawn becomes `ids[till]`. Then `from` is `till`, and `till` one
more.
:::

::: done
Reading a text, predicting one token, appending it, reading on: programs
that talk write like this.
:::
*/

void gpt_generate(const Gpt *g, Random *r, float temperature, int k,
                  int begun, int n, int ids[n])
{
    const int size = g->vocabulary;
    if (begun < 1 || begun > n)
        REFUSE("%d of %d tokens are given: from 1 to %d are needed", begun,
               n, n);
    KVCache *cache = new_aligned((size_t)g->layers, sizeof *cache);
    gpt_caches_init(cache, g);
    float *shares = new_table(1, size);
    for (int from = 0, till = begun; till < n; from = till++) {
        GptPass p;
        gpt_pass_init(&p, g, 1, till - from);
        gpt_forward(g, cache, ids + from, &p);
        float(*logits)[size] = ROWS(size, p.logits);
        ids[till] = next_token(r, temperature, k, size,
                               logits[till - from - 1], shares);
        gpt_pass_free(&p);
    }
    gpt_caches_free(cache, g);
    free(cache);
    free(shares);
}

/*
A text longer than the context has to lose its beginning: when the context
is full, the model starts afresh from the second half of what it saw.
`gpt_sample` continues a beginning in this way, at a temperature of 0.8 and
with nothing hidden. Its random numbers are the same each time, so that two
models can be compared. Newlines become bars, and what cannot be printed
becomes a question mark.
*/

/* folded: how this is printed */
void gpt_sample(const Gpt *g, const char *beginning, int n,
                char text[n + 1])
{
    const int context = g->context_length;
    int *ids = new_aligned((size_t)n + 1, sizeof *ids), begun = 0;
    Random r = random_seeded(123);
    for (; begun < n && beginning[begun]; begun++)
        ids[begun] = (unsigned char)beginning[begun];
    for (int from = 0; begun < n;) {
        if (begun - from > context)
            from = begun - (context + 1) / 2;
        const int till = n - from <= context ? n : from + context + 1;
        gpt_generate(g, &r, 0.8f, 0, begun - from, till - from, ids + from);
        begun = till;
    }
    for (int i = 0; i < n; i++)
        text[i] = (char)(ids[i] == '\n'    ? '|'
                         : isprint(ids[i]) ? ids[i]
                                           : '?');
    text[n] = 0;
    free(ids);
}

/*
We have everything. A model with two blocks, a width of 40 and a context of
32 reads the book, eight passages at a time, each starting at a random byte:
*/

enum { TEXTS = 8, CONTEXT = 32, STEPS = 300 };

static float read_on(Learner *l, Random *r, int step)
{
    int ids[TEXTS][CONTEXT], targets[TEXTS][CONTEXT];
    for (int i = 0; i < TEXTS; i++) {
        const int from = random_below(r, prose()->length - CONTEXT);
        read_passage(128, CONTEXT, prose()->bytes + from, ids[i],
                     targets[i]);
    }
    l->adam.learning_rate = rate_at(step, STEPS / 10, STEPS, 3e-3, 3e-4);
    return learner_step(l, TEXTS, CONTEXT, ids, targets);
}

/* folded: how this is printed */
static void show_small(void)
{
    Gpt sizes = {.vocabulary = 128, .context_length = CONTEXT, .width = 40};
    sizes.n_heads = sizes.layers = 2;
    Random r = random_seeded(123);
    Learner l;
    float losses[4], held[4];
    char text[CONTEXT + 1];
    learner_init(&l, &sizes, TEXTS, &r);
    print_integers(
        "parameters, bytes to learn from, held out", 3,
        (int[]){(int)l.model.count, prose()->length, held_out()->length});
    print_value("ln(128)", logf(128));
    for (int step = 0; step < STEPS; step++) {
        const float loss = read_on(&l, &r, step);
        if (step % 100 == 0 || step == STEPS - 1) {
            losses[(step + 1) / 100] = loss;
            held[(step + 1) / 100] =
                gpt_loss(&l.model, 4000, held_out()->bytes);
        }
    }
    /* More decimals would not be the same on every processor. */
    print_rounded("loss at steps 1, 101, 201, 300", 2, 4, losses);
    print_rounded("on text held out", 2, 4, held);
    gpt_sample(&l.model, "The ", CONTEXT, text);
    printf("after: %s\n", text);
    learner_free(&l);
}

/*
``` output
parameters, bytes to learn from, held out (3)
[ 45920, 208110,  23578]
ln(128): 4.8520
loss at steps 1, 101, 201, 300 (4)
[4.85, 3.02, 2.72, 2.57]
on text held out (4)
[4.86, 2.78, 2.59, 2.55]
after: The iar nd ouat be loligengeinth
```

A model that knows nothing gives each of the 128 bytes the same share, so
its loss is $\ln(128)$, and that is where it begins. Three hundred steps
later it has read $300 \cdot 8 \cdot 32 = 76800$ bytes. By the look of it,
it knows which letters are frequent, and how often there is a space. That
isn't English yet. (The losses have two decimals here: each step builds on
the one before, and after some hundreds of steps, another processor gets
another third one.)

## Shakespeare {#language-model-run}

What does it take to get to English? A bigger model, more text, and
patience: less than half an hour, on the two threads of the machine below.
The text is one that everybody knows, the plays of Shakespeare. They're in
the public domain, and `make train` fetches them first. (`make train
TEXT=FILE` reads any other text, as long as it is ASCII.)

Nothing changes but the settings (`src/long_run.c` has them) and the speed.
A batch is divided into four parts, which are split among the threads:
`gpt_training_step`, in `src/gpt_training.c`, calls your `gpt_gradient` for
each part, takes the mean of what comes back, and goes on as `learner_step`
does. Ctrl-C ends a run and saves a **checkpoint**, everything that learning
needs to continue, and the same command resumes from it, bit for bit. When
all steps are done, `src/data/trained.tsv` has the log that this page shows:
*/

/* folded: how this is printed */
/* What a long run has written down of itself. */
static void show_run(const Trained *t)
{
    const Gpt *g = &t->run.model;
    print_integers("bytes to learn from, held out", 2,
                   (int[]){t->run.bytes, t->held_out});
    print_integers("steps, texts, context, width, heads, blocks", 6,
                   (int[]){t->run.steps, t->run.texts, g->context_length,
                           g->width, g->n_heads, g->layers});
    print_integers("parameters, seconds, tokens a second", 3,
                   (int[]){(int)gpt_count_parameters(g), t->seconds,
                           t->tokens_per_second});
    printf("on %s, %s\n", t->on, t->at);
}

/* A row of a table: the step, both losses, and the perplexity. */
static void fill_row(const TrainedRow *row, float filled[4])
{
    filled[0] = row->step;
    filled[1] = row->loss;
    filled[2] = row->held_out;
    filled[3] = expf(row->held_out);
}

/* unfolded */

enum { SHOWN = 11 };

/* folded: how this is printed */
/* Two curves of the numbers in two columns of a table, by its first. */
static void draw_losses(const char *name, const char *title,
                        const char *const curve[2], const int column[2],
                        const float table[SHOWN][4])
{
    char word[SHOWN][12];
    const char *at[SHOWN];
    float y[2][SHOWN];
    for (int i = 0; i < SHOWN; i++) {
        snprintf(word[i], sizeof word[i], "%.0f", (double)table[i][0]);
        at[i] = word[i];
        for (int k = 0; k < 2; k++)
            y[k][i] = table[i][column[k]];
    }
    figure_curves(name, title, curve, SHOWN, at, y);
}

static void show_steps(const Trained *t)
{
    float table[SHOWN][4];
    show_run(t);
    for (int i = 0; i < SHOWN; i++)
        fill_row(&t->row[4 * i], table[i]);
    print_matrix("step, loss on text read, held out, perplexity", SHOWN, 4,
                 table);
    draw_losses("losses", "The loss on Shakespeare's plays, step by step",
                (const char *const[]){"on text read", "on text held out"},
                (int[]){1, 2}, table);
}

/*
``` output
bytes to learn from, held out (2)
[4896660,   60000]
steps, texts, context, width, heads, blocks (6)
[14000,    16,   128,   160,     5,     3]
parameters, seconds, tokens a second (3)
[969120,   1541,  19925]
on AMD EPYC, 2 threads, 2026-11-29
step, loss on text read, held out, perplexity (11, 4)
[[    1.0000,     4.9151,     4.9160,   136.4593],
 [ 1400.0000,     1.8913,     1.8759,     6.5265],
 [ 2800.0000,     1.6842,     1.6691,     5.3075],
 [ 4200.0000,     1.6034,     1.6018,     4.9620],
 [ 5600.0000,     1.5476,     1.5387,     4.6586],
 [ 7000.0000,     1.5098,     1.5005,     4.4840],
 [ 8400.0000,     1.4654,     1.4603,     4.3073],
 [ 9800.0000,     1.4204,     1.4343,     4.1966],
 [11200.0000,     1.3806,     1.3925,     4.0248],
 [12600.0000,     1.3525,     1.3670,     3.9234],
 [14000.0000,     1.3374,     1.3561,     3.8810]]
```

(The seconds are those of the whole run, and the tokens a second those of
its steps alone.) Both losses are measured on 60000 bytes: the first on the
beginning of the text that is read, the second on the end of the plays,
which is held out, and which is the end of *Timon of Athens*. Both fall
together to the last step, though by then the model has seen each byte
$14000 \cdot 16 \cdot 128 / 4896660 = 5.86$ times on average: it has hardly
begun to learn Shakespeare by heart. The last column is the **perplexity**,
$e$ to the power of the loss held out. The model hesitates as if it had to
choose among that many equally likely bytes: 136.4593 after its first step,
more than the 128 there are, since it has guessed wrong with some
confidence; and 3.8810 at the end.

How good is that? nanoGPT, where many people start, reads an excerpt of the
plays of about a megabyte. Its author reports a loss on text held out of
[1.88]{.cited} after some three minutes on a laptop's processor, and of
[1.4697]{.cited} at best, on a GPU, by a model that is ten times as large as
ours [@karpathy2022]. Ours reached 1.3561, but its text is more than four
times as long, and different lines are held out. So these figures say only
that we are in the right place.

![The loss on text read, and on text held
out](losses.svg){#fig-language-model-losses}
*/

/* folded: how this is printed */
static void show_samples(const Trained *t)
{
    puts("what it writes after so many steps");
    for (int i = 0; i < 5; i++) {
        const TrainedRow *row =
            &t->row[(const int[]){0, 1, 2, 8, TRAINED_ROWS - 1}[i]];
        printf("%.0f: %.60s\n", (double)row->step, row->sample);
    }
}

/*
``` output
what it writes after so many steps
1: The -?I?7AKFy?f????2],M??OV1F4w>??M?2||??PQclddG?u"6s??&?#}l
350: The lar menet teal ming.||INUSind bed Endenouss, w, we ganti
700: The hat in my the cione eng of me she and prothe welr,|Hady,
2800: The fame morows and she doth loss of a last.||RODERIL ANDROW
14000: The fame of war a desert special disgnance.|For him unbolttl
```

At first noise; after 350 steps, words of the right length, of which a few
exist; after 2,800, something like a line and a speaker. (Bars stand for
ends of lines.) And this is what the final model writes after *HAMLET:*
*/

/* folded: how this is printed */
/* What `make train` has had its model write at the end. */
static void show_writing(void)
{
    const PlainText written = plain_text("src/data/written.txt", 1);
    printf("%s", written.bytes);
    free(written.bytes);
}

/*
``` output
HAMLET:
And so way a desert to pluck of a man,
The duke's gentle very self sick, I have been the
slippery of the passion of a cap well.

DUKE VINCENTIO:
I have no more than he shall die; but it is an
oath of thy beams, and yet melting itself;
But if now I am not to real this from.
And that you have been these things on the
season's health: who are they want the stranger
To earthly dread them: fallen heart of us
That you aare a loathed treasure that in my fat.

QUEEN MARGARET:
The very shouts of your wrong, thou point'st my love.

SPEED:
What, a boy, and even I will in my companion,
I could not put mo
```

Nobody told it what a word is, that a play has speakers, that their names
are in capitals before a colon, or that verse comes in lines. All of that it
learned from one question, asked over and over: which byte comes next? (That
the four people here are from four different plays, it hasn't noticed.)
Heard through a wall, this is Shakespeare. Read it for its sense and there
is next to none. A million parameters have learned how he sounds, and not
what he says. (A smaller model writes [in your
browser](#workbench){state="stage=language&write=40&temperature=0.8"}.)

What does attention add? A model without it sees one byte and its position.
The best it can know is how often each byte follows that one. Here are the
losses of two tables that were counted in all of the text read: one of how
frequent each byte is, and one of how often each follows each. Both are
measured on the same first 60000 bytes:
*/

/* folded: how this is printed */
static void show_tables(const Trained *t)
{
    print_vector("loss of a table of bytes, and of pairs", 2, t->tables);
}

/*
``` output
loss of a table of bytes, and of pairs (2)
[3.2939, 2.4802]
```

Below the loss of pairs, whatever the model gains it gains by looking
further back than one byte, and only attention can do that. In the table
above, all rows but the first are below it.

## By heart? {#language-model-copies}

Does the model write, or does it recite? For the last ten samples of the
log, each as long as the context, it has the longest part of each that
occurs in the plays, letter for letter. (`longest_copy`, in
`src/long_run.c`, finds it.)
*/

/* folded: how this is printed */
static void show_copies(const Trained *t)
{
    const Copies *of = t->copied;
    print_matrix(
        "longest copy, in held-out text and in samples: mean, most", 2, 2,
        (float[2][2]){{of[0].mean, of[0].most}, {of[1].mean, of[1].most}});
    printf("the longest of a sample: \"%s\"\n", of[1].longest);
}

/*
``` output
longest copy, in held-out text and in samples: mean, most (2, 2)
[[15.8000, 21.0000],
 [16.2000, 20.0000]]
the longest of a sample: "ish||KING RICHARD II"
```

The first row is the baseline. Take ten passages that were held out. Nobody
copied them, and yet the longest part that each shares with the text read
has 15.8 bytes on average, since Shakespeare repeats himself, as everyone
does. The second row is that of ten samples, and it is hardly different. The
longest of these copies is the end of a line and the name of a king. These
samples don't recite.

## Less to read {#language-model-dropout}

This model had enough to read, and didn't recite. What happens to the same
model if it reads only this book, which is a twentieth as long, and reads it
again and again?
*/

/* folded: how this is printed */
static void show_book(const Trained *plain, const Trained *dropout)
{
    float table[SHOWN][4], best[4];
    show_run(plain);
    for (int i = 0; i < SHOWN; i++) {
        fill_row(&plain->row[4 * i], table[i]);
        table[i][3] = dropout->row[4 * i].held_out;
    }
    print_matrix("step, loss on text read, held out, held out with dropout",
                 SHOWN, 4, table);
    fill_row(&plain->row[plain->best], best);
    print_vector("the best step without dropout", 3, best);
    draw_losses("book", "The loss on this book's prose",
                (const char *const[]){"on text read", "on text held out"},
                (int[]){1, 2}, table);
    draw_losses("dropout", "The loss on text held out",
                (const char *const[]){"without dropout", "with dropout"},
                (int[]){2, 3}, table);
}

/*
``` output
bytes to learn from, held out (2)
[208110,  23578]
steps, texts, context, width, heads, blocks (6)
[4000,   16,  128,  160,    5,    3]
parameters, seconds, tokens a second (3)
[969120,    518,  17505]
on AMD EPYC, 2 threads, 2026-11-29
step, loss on text read, held out, held out with dropout (11, 4)
[[   1.0000,    4.9100,    4.9094,    4.9098],
 [ 400.0000,    1.9282,    1.9822,    2.0381],
 [ 800.0000,    1.4114,    1.4984,    1.5271],
 [1200.0000,    1.2736,    1.4082,    1.4306],
 [1600.0000,    1.1900,    1.3650,    1.3819],
 [2000.0000,    1.0925,    1.3353,    1.3338],
 [2400.0000,    0.9927,    1.3258,    1.3046],
 [2800.0000,    0.8856,    1.3463,    1.2855],
 [3200.0000,    0.7523,    1.4122,    1.2706],
 [3600.0000,    0.6811,    1.4694,    1.2619],
 [4000.0000,    0.6475,    1.4980,    1.2592]]
the best step without dropout (3)
[2200.0000,    1.0494,    1.3164]
```

![The loss on this book's prose, without
dropout](book.svg){#fig-language-model-book}

![The loss on what is held out of it, in both
runs](dropout.svg){#fig-language-model-dropout}

At first both losses fall together. Then they part. The loss on text read
falls to the end of the run, 0.6475, while the loss on text held out is
lowest at step 2,200, 1.3164, and rises to 1.4980. The model has begun to
learn the book by heart, which [](#dropout) called overfitting. There
are two remedies. One is to stop where the loss on text held out is lowest,
which is called **early stopping**: a run keeps the model of its best step.
The other is dropout. In each step, a fifth of what attention and the
network of each block add to the stream is dropped. (Our fast attention
never holds a table of weights, so it has none to drop.) Now the loss on
text held out is 1.2592 at the end: in this run, dropout has helped. Where
the two losses don't part, as with the plays, there is nothing for it to
cure.

## Your own model

To write with a model that you have trained:

``` sh
make -s write TEXT="ROMEO:"
```

Without arguments, the program prints what this page shows. With the file of
a model and ids, it prints the logits of the next token.
*/

/* folded: how this is printed */
/* A model's file, and the ids of a text: the logits of what comes next. */
static void show_next(int count, char *const word[count])
{
    Gpt g;
    GptPass p;
    if (count < 2)
        REFUSE(
            "'%s' is given: FILE ID ..., or --write BYTES FILE TEXT, are "
            "needed",
            word[count - 1]);
    gpt_load(&g, word[0]);
    const int n = count - 1, size = g.vocabulary;
    int *ids = new_aligned((size_t)n, sizeof *ids);
    for (int i = 0; i < n; i++)
        ids[i] =
            (int)parse_integer("an id", word[1 + i], 0, (uint64_t)size - 1);
    gpt_pass_init(&p, &g, 1, n);
    gpt_forward(&g, NULL, ids, &p);
    print_vector("logits of the next token", size,
                 p.logits + (size_t)(n - 1) * (size_t)size);
    gpt_pass_free(&p);
    gpt_free(&g);
    free(ids);
}

static void show_chapter(void)
{
    Trained plays = trained_read("src/data/trained.tsv");
    Trained book = trained_read("src/data/trained-book.tsv");
    Trained dropout = trained_read("src/data/trained-dropout.tsv");
    figure_pipeline("pipeline", "words vectors roles scores scale mask "
                                "weights context heads");
    show_draws();
    show_settings();
    show_small();
    show_steps(&plays);
    show_samples(&plays);
    show_writing();
    show_tables(&plays);
    show_copies(&plays);
    show_book(&book, &dropout);
    trained_free(&plays);
    trained_free(&book);
    trained_free(&dropout);
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        show_next(argc - 1, argv + 1);
    else
        show_chapter();
    return 0;
}

/*
The same settings in PyTorch:

``` python
import torch
import torch.nn.functional as F

logits = torch.tensor([2, 1, 0.5, 0, -1])
limit = logits.topk(2)[0][-1]
kept = logits.masked_fill(logits < limit, -torch.inf)
settings = [logits, logits / 0.5, logits / 2, kept]
print(F.softmax(torch.stack(settings), dim=-1))
```

## Further exercises

**Exercise 23.6** (★★, challenge, 3 points): `top_p`. Another way to drop
the small shares, known as *top-p*: keep the largest shares, the fewest that
add up to at least `p`, and put 0 in place of the others. Shares that are
equal to the smallest one kept are kept, too. (They need not add up to 1:
the draw asks only for proportions.) `top_p` refuses a `p` that is not
above 0 and at most 1.

::: hint
Add up what `new_sorted` returns, as in [](#language-model-writing), in a
`double`.
:::

::: done
Where the model is sure, one token is left, and where it is not, many: the
cut adapts to the shares.
:::

**Exercise 23.7** (by hand): In [](#language-model-writing), the logits of
the first two tokens are 2 and 1. What is the first share divided by the
second, as they are, with a temperature of 0.5, and with one of 2? Find the
three factors without a softmax, and try them on the output.

## Solutions

::: {.solution exercise="23.6"}
*/

void top_p(int n, float p, float shares[n])
{
    if (!(p > 0 && p <= 1))
        REFUSE("p = %g: a probability above 0, and at most 1, is needed",
               (double)p);
    float *sorted = new_sorted(n, shares), limit = 0;
    double sum = 0;
    for (int i = 0; i < n && sum < (double)p; i++) {
        limit = sorted[i];
        sum += (double)limit;
    }
    for (int i = 0; i < n; i++)
        if (shares[i] < limit)
            shares[i] = 0;
    free(sorted);
}

/*
:::

::: {.solution exercise="23.7"}
A share is an exponential divided by the sum of all exponentials. In the
fraction of two shares that sum cancels. What is left is $e$ to the power of
the difference of the two logits. Their difference is 1. Divided by the
temperature, it is 1, 2 and one half. So the factors are $e$, $e^2$ and
$\sqrt{e}$: $0.5630 / 0.2071 = 2.72$, $0.8292 / 0.1122 = 7.39$ and $0.3745 /
0.2272 = 1.65$. (Top-k does not change the factor between two shares that
stay.)
:::
*/
