/*
# A language model {#language-model}

![The way from words to attention. A language model goes this whole way for
each token that it writes](pipeline.svg){#fig-language-model-pipeline}

We have a GPT ([](#gpt)), which makes logits from the ids of a text, and
goes back from the slopes of these logits to the gradient of every
parameter. We have a loss and a step ([](#optimizers), [](#training)). What
is missing is a text to learn from, and a way from logits to a text.

A text is its own teacher. For each
token of a text, the right answer is the token that comes next. So nobody
has to write down answers, and any text will do. A model that gives each
token a share for coming next, and that is trained on a text in this way, is
a **language model**. To write, the model draws a token by these shares,
appends the token to the text, and reads the text again. Here a model reads
this book and writes, and at the end the same program opens the weights of
GPT-2.
*/

#include "attention/23_language_model.h"
#include "attention/02_softmax.h"
#include "attention/13_multi_head.h"
#include "attention/20_optimizers.h"
#include "attention/B_random.h"
#include "attention/gpt_file.h"
#include "attention/long_run.h"
#include "attention/trained.h"
#include "support.h"

/*
## Reading: the next token {#language-model-reading}

The model reads the prose of this book, as you do, without the code and the
output. A token is a byte. All bytes of the text are ASCII, so the
vocabulary has 128 tokens. The model is told nothing of words or of grammar.
Every tenth paragraph is held out ([](#training-repeated)). As long as the
loss on these paragraphs falls along with the loss on the others, the model
learns something about the language. When it no longer falls, the model
begins to learn the text by heart, which [](#dropout) has called
overfitting.

The texts of a batch are passages of the book, as long as the context. Each
passage begins at a random byte, drawn as PyTorch's `torch.randint` draws.
For each byte of a passage, the target is the byte after it.

The texts of a batch do not depend on each other until their gradients are
added up. So a batch is divided into equal parts, and the threads share them
out. The loss and the gradient of the batch are the means over its parts.
`gpt_training_batch` and `gpt_training_gradient`, in `src/gpt_training.c`,
do all of this. What they do for one text is
`gpt_forward`, `cross_entropy`, `cross_entropy_backward` and `gpt_backward`,
in this order. One step, as in [](#training-step):
*/

float gpt_training_step(GptTraining *t, const int *ids, const int *targets)
{
    const size_t count = t->model.count;
    const float loss = gpt_training_gradient(t, ids, targets);
    clip_norm(1, count, t->gradient->memory);
    adam_step(t->adam, ++t->step, count, t->gradient->memory,
              t->mean.memory, t->square.memory, t->model.memory);
    return loss;
}

/*
`gpt_training_gradient` sets the gradients to 0 first. Each part of a batch
has a gradient of its own. The mean of these is written into the first one,
`t->gradient[0]`, and `t->gradient->memory` is its list of numbers. The
tests compare ten losses, and the first gradient, with PyTorch's.

## Writing: temperature and top-k {#language-model-writing}

Softmax turns the logits of the last token into shares for the token that
comes next. A model that always took the token with the largest share would
write the same text each time. So the next token is drawn, each token as
often as its share says. Two settings change the shares before the draw. The
logits are divided by a **temperature**. A temperature below 1 makes large
shares larger, and one above 1 makes the shares more alike. And **top-k**
hides all logits but the `k` largest.

**Exercise 23.1** (★★, 3 points): `top_k`. Put minus infinity in place of
all logits below the `k`-th largest. Logits that are equal to the `k`-th
largest stay, even if they are more than `k`. `top_k` refuses a `k` that is
not from 1 to `n`.

::: hint
`new_sorted(n, logits)` is a copy with the largest first. Where in it is
the `k`-th largest?
:::

::: hint
With that logit as the limit, one loop over `logits` does the rest. The copy
is yours to free.
:::

::: done
A model gives a small share to every token, and thousands of small shares
are much together: top-k takes them away.
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

/*
How is one of several tokens drawn by their shares? PyTorch holds a race.
Each token gets a random waiting time, which tends to be shorter the larger
the token's share is, and the token with the shortest time is drawn. If $z$
is a random number from 0 to 1, the waiting time is $-\ln(1 - z)$ divided by
the share $w$. Why is each token first as often as its share says? The
waiting time is longer than $t$ if $-\ln(1 - z) > wt$, which is $1 - z <
e^{-wt}$, and that happens with the probability $e^{-wt}$. In a short time
$s$ the probability is multiplied by $e^{-ws}$, nearly $1 - ws$. So in any
moment in which no token has come yet, token $i$ comes with the probability
$w_i s$, in proportion to its share. Below, ten thousand draws show it. (One
draw takes a random number for each token. The code looks for the largest
inverse time, `shares[i] / wait`, so that a share of 0 is never drawn.)
*/

int sample_token(Random *r, int n, const float shares[n])
{
    int best = -1, power;
    float largest = 0, most = 0;
    for (int i = 0; i < n; i++) {
        if (!(shares[i] >= 0 && shares[i] <= FLT_MAX))
            REFUSE("share %d is %g: one from 0 on, and finite, is needed",
                   i, (double)shares[i]);
        largest = fmaxf(largest, shares[i]);
    }
    if (largest == 0)
        REFUSE("%d shares, and none above 0: one is needed", n);
    frexpf(largest, &power); /* so that no quotient overflows, or is 0 */
    for (int i = 0; i < n; i++) {
        const float wait = (float)-log1p(-random_double(r));
        const float share = ldexpf(shares[i], -power);
        if (share / wait > most) {
            most = share / wait;
            best = i;
        }
    }
    return best;
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
    return sample_token(r, n, shares);
}

/* folded: how this is printed */
/* How often each of five is drawn, in ten thousand draws. */
static void show_draws(void)
{
    const float shares[5] = {0.5f, 0.25f, 0.125f, 0.125f, 0};
    int count[5] = {0};
    Random r = random_seeded(123);
    for (int i = 0; i < 10000; i++)
        count[sample_token(&r, 5, shares)]++;
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
[5034, 2434, 1286, 1246,    0]
shares: as they are, colder, hotter, the 2 largest (4, 5)
[[0.5630, 0.2071, 0.1256, 0.0762, 0.0280],
 [0.8292, 0.1122, 0.0413, 0.0152, 0.0021],
 [0.3745, 0.2272, 0.1769, 0.1378, 0.0836],
 [0.7311, 0.2689, 0.0000, 0.0000, 0.0000]]
```

::: question
What is written with a temperature close to 0? And what with top-k, if `k`
is 1?

Both write the same. With a temperature close to 0 the logits are far apart,
and the largest has nearly the whole share, so it is drawn each time. With a
`k` of 1 only the largest is left.
:::

To write a text is to draw the next token again and again. First the whole
beginning of the text goes through the model. After that, only the token
that was drawn last goes through it, since the cache holds the keys and
values of the others ([](#kv-cache)). The tokens from `from` to before
`till` go through the model, and the token drawn becomes `ids[till]`:
*/

void gpt_generate(const Gpt *g, Random *r, float temperature, int k,
                  int begun, int n, int ids[n])
{
    const int size = g->vocabulary;
    if (begun < 1 || begun > n)
        REFUSE("%d tokens, of which %d are there: from 1 to %d that are "
               "there are needed",
               n, begun, n);
    KVCache *cache = new_aligned((size_t)g->layers, sizeof *cache);
    gpt_caches_init(cache, g);
    float *shares = new_table(1, size);
    for (int from = 0, till = begun; till < n; from = till++) {
        GptPass p;
        gpt_pass_init(&p, g, 1, till - from);
        const size_t last = (size_t)(till - from - 1) * (size_t)size;
        gpt_forward(g, cache, ids + from, &p);
        ids[till] =
            next_token(r, temperature, k, size, p.logits + last, shares);
        gpt_pass_free(&p);
    }
    gpt_caches_free(cache, g);
    free(cache);
    free(shares);
}

/*
`gpt_sample` lets a model go on behind *The* and a space, at a temperature
of 0.8. The random numbers are the same each time, so that two models can be
compared. A text of bytes may hold bytes that cannot be printed; each of
them is shown as a question mark. And the end of a paragraph is shown as a
bar:
*/

void gpt_sample(const Gpt *g, int n, char text[n + 1])
{
    int *ids = new_aligned((size_t)n, sizeof *ids);
    for (int i = 0; i < 4 && i < n; i++)
        ids[i] = "The "[i];
    Random r = random_seeded(123);
    gpt_generate(g, &r, 0.8f, 0, n < 4 ? n : 4, n, ids);
    for (int i = 0; i < n; i++)
        text[i] = (char)(ids[i] == '\n'                 ? '|'
                         : ids[i] < ' ' || ids[i] > '~' ? '?'
                                                        : ids[i]);
    text[n] = 0;
    free(ids);
}

/*
Now everything is there. A model with two blocks, a width of 40 and a
context of 32 takes three hundred steps, with eight passages in each batch:
*/

/* folded: how this is printed */
/* What the model writes, as far as its context reaches. */
static void show_sample(const char *label, const Gpt *g)
{
    char text[g->context_length + 1];
    gpt_sample(g, g->context_length, text);
    printf("%s: %s\n", label, text);
}

static void show_small(void)
{
    enum { TEXTS = 8, CONTEXT = 32, STEPS = 300 };
    Gpt model = {.vocabulary = 128, .context_length = CONTEXT, .width = 40};
    model.n_heads = model.layers = 2;
    GptTraining t, sizes = {.model = model, .texts = TEXTS};
    int ids[TEXTS * CONTEXT], targets[TEXTS * CONTEXT];
    float losses[4], held[4];
    gpt_training_init_prose(&t, &sizes);
    print_integers(
        "parameters, bytes to learn from, held out", 3,
        (int[]){(int)t.model.count, prose()->length, held_out()->length});
    print_value("ln(128)", logf(128));
    show_sample("before", &t.model);
    for (int step = 0; step < STEPS; step++) {
        t.adam.learning_rate = rate_at(step, STEPS / 10, STEPS, 3e-3, 3e-4);
        gpt_training_batch(&t, ids, targets);
        const float loss = gpt_training_step(&t, ids, targets);
        if (step % 100 == 0 || step == STEPS - 1) {
            losses[(step + 1) / 100] = loss;
            held[(step + 1) / 100] = gpt_loss(
                &t.model, held_out()->bytes, 4000, &t.pass[0], t.shares[0]);
        }
    }
    /* More decimals would not be the same on every processor. */
    print_rounded("loss at steps 1, 101, 201, 300", 2, 4, losses);
    print_rounded("on text held out", 2, 4, held);
    show_sample("after", &t.model);
    gpt_training_free(&t);
}

/*
``` output
parameters, bytes to learn from, held out (3)
[ 45920, 208110,  23578]
ln(128): 4.8520
before: The ?{$",r?yT`R}F?g(|V?7).nyy?MT
loss at steps 1, 101, 201, 300 (4)
[4.85, 3.02, 2.72, 2.57]
on text held out (4)
[4.86, 2.78, 2.59, 2.55]
after: The wor ors The is pes an. thand
```

A model that knows nothing gives each of the 128 bytes the same share, so
its loss is $\ln(128)$. The first loss is that of the model before its first
step, and it is close to $\ln(128)$. After three hundred steps the model
knows which letters are frequent, that there are blanks, and what often
follows a *t*. That is no language yet. (Each loss in the first list is the
loss of one batch, and some batches are harder than others. The losses have
only two decimals here. Each step builds on the step before, and another
processor adds numbers up in another order: after some hundreds of steps,
the third decimal differs.)

## The long run {#language-model-run}

How long until a model writes language? With `make train`, a model twenty
times as large reads more and longer passages in each step, and takes 4,000
steps. Its program, `tools/measure/train.c`, repeats the step from above,
and may be skipped. Ctrl-C saves and ends the run, and `make train` goes on
with it, to the last bit. (The file also holds Adam's means and the state of
the generator. Such a **checkpoint** is written whole or not at all.) At the
end, the program writes into `src/data/trained.tsv` what this page shows.
The run of this page, without dropout, had these sizes, and took so long:
*/

/* folded: how this is printed */
/* What a long run has written down of itself. */
static void show_run(const Trained *t)
{
    const Gpt *g = &t->run.model;
    print_integers("steps, texts, context, width, heads, blocks", 6,
                   (int[]){t->run.steps, t->run.texts, g->context_length,
                           g->width, g->n_heads, g->layers});
    print_value("rate of dropout", (float)t->run.dropout);
    print_integers("parameters, seconds, tokens a second", 3,
                   (int[]){(int)gpt_count_parameters(g), t->seconds,
                           t->tokens_per_second});
    printf("on %s, %s\n", t->on, t->at);
}

/* A row of a table: the step, and both losses. */
static void fill_row(const TrainedRow *row, float filled[3])
{
    filled[0] = row->step;
    filled[1] = row->loss;
    filled[2] = row->held_out;
}

/* unfolded */

enum { SHOWN = 11 };
static const char *const shown_at[SHOWN] = {"1",    "400",  "800",  "1200",
                                            "1600", "2000", "2400", "2800",
                                            "3200", "3600", "4000"};

/* folded: how this is printed */
/* A run, and its losses at these steps. */
static void show_losses(const Trained *t, float losses[2][SHOWN])
{
    float table[SHOWN][3], best[1][3];
    show_run(t);
    for (int i = 0; i < SHOWN; i++) {
        fill_row(&t->row[4 * i], table[i]);
        losses[0][i] = table[i][1];
        losses[1][i] = table[i][2];
    }
    print_matrix("step, loss on text read, on text held out", SHOWN, 3,
                 table);
    fill_row(&t->row[t->best], *best);
    print_matrix("the step with the least loss on text held out", 1, 3,
                 best);
}

static void show_steps(const Trained *t)
{
    float losses[2][SHOWN];
    show_losses(t, losses);
    figure_curves("losses", "The loss, step by step",
                  (const char *const[]){"on text read", "on text held out"},
                  SHOWN, shown_at, losses);
    printf("what it writes at some of these steps\n");
    for (int i = 0; i < 6; i++) {
        const TrainedRow *row =
            &t->row[(const int[]){0, 2, 4, 8, t->best, 40}[i]];
        printf("%.0f: %.60s\n      %.66s\n", (double)row->step, row->sample,
               row->sample + 60);
    }
}

/*
``` output
steps, texts, context, width, heads, blocks (6)
[4000,   16,  128,  160,    5,    3]
rate of dropout: 0.0000
parameters, seconds, tokens a second (3)
[969120,    252,  38526]
on AMD EPYC, 2 threads, 2026-11-27
```

(The seconds are those of the whole run, the tokens a second those of the
steps alone.)

``` output
step, loss on text read, on text held out (11, 3)
[[   1.0000,    4.9100,    4.9094],
 [ 400.0000,    2.0030,    2.0661],
 [ 800.0000,    1.4323,    1.5083],
 [1200.0000,    1.2617,    1.3959],
 [1600.0000,    1.1704,    1.3537],
 [2000.0000,    1.0672,    1.3187],
 [2400.0000,    0.9722,    1.3180],
 [2800.0000,    0.8701,    1.3435],
 [3200.0000,    0.7385,    1.4084],
 [3600.0000,    0.6548,    1.4941],
 [4000.0000,    0.6025,    1.5780]]
the step with the least loss on text held out (1, 3)
[[2200.0000,    1.0264,    1.3062]]
```

Each loss is measured after its step: the loss at step 1 is that of a model
that has taken one step. The loss on text read is taken over the first bytes
of that text, as many as are held out.

![The loss on what was read, and on as much text held
out](losses.svg){#fig-language-model-losses}

``` output
what it writes at some of these steps
1: The q{$".r?y!VR}F?gp ~?7).nH??MT?i}Z?L?a|?L.**Yi???(<?7??^Y"
      ?)'1Y?????C#y??}?[??&<BB???l`1"Q?s{?xO?sjU|Y?$???23U\?.u?Q7?G}aE?k
200: The sre bes ind is pro an. Thand ithe, are ts is an ora ind 
      t wie te sloveris the n s sla "Qus the sanis toleney s. dinthean k
400: The scon rows, and proch. The andies a a brow is a what is a
       ino mun slos grunt fin the suct sumbe sares toly seas. The thas k
800: The sloper's of 1 grows, which has that has with and at is a
       mask that right a lost for the the sloss is to has. Scaline answe
2200: The query's key's keys and the keys the ration, and the ids 
      the book shows well. The queries sums as into one sentence in an h
4000: The six words, first sees nothing, and add up to its own isi
      ng of the score. The mean of a word x is - ln(1 + s/w).  and an ex
```

The samples are all drawn at a temperature of 0.8 and with the same random
numbers; asterisks stand around words in italics, as in the source of this
book.

When does attention begin to matter? A model without attention sees one byte
and its position, and then the best that it can know is how often each byte
comes behind that byte. The loss of such a table of pairs, on the same
bytes, can be computed, and that of a table that knows only how often each
byte comes:
*/

/* folded: how this is printed */
/* Two tables know how often each byte comes, and how often each comes
 * behind each. Their losses, on the same bytes as the loss on text read. */
static void show_tables(const Trained *t)
{
    static int single[128], pair[128][128];
    double losses[2] = {0};
    float step[2][3];
    int below = 1;
    for (int i = 0; i + 1 < prose()->length; i++) {
        single[(int)prose()->bytes[i]]++;
        pair[(int)prose()->bytes[i]][(int)prose()->bytes[i + 1]]++;
    }
    for (int i = 0; i + 1 < held_out()->length; i++) {
        const int was = prose()->bytes[i], is = prose()->bytes[i + 1];
        losses[0] -= log((double)single[is] / prose()->length);
        losses[1] -= log((double)pair[was][is] / single[was]);
    }
    for (int k = 0; k < 2; k++)
        losses[k] /= held_out()->length - 1;
    print_vector("loss of a table of bytes, and of pairs of bytes", 2,
                 (float[]){(float)losses[0], (float)losses[1]});
    while (!((double)t->row[below].loss < losses[1]))
        below++;
    for (int i = 0; i < 2; i++)
        fill_row(&t->row[below - 1 + i], step[i]);
    print_matrix("the last step above that of pairs, and the next", 2, 3,
                 step);
}

/*
``` output
loss of a table of bytes, and of pairs of bytes (2)
[3.1305, 2.3928]
the last step above that of pairs, and the next (2, 3)
[[200.0000,   2.4203,   2.4401],
 [300.0000,   2.2817,   2.3227]]
```

At first the loss falls to about that of the table of pairs: at step 200 it
is 2.4203. Until then, the model writes hardly any words but the shortest.
To fall below it, a model must look at more than one byte, and only
attention can do that. At step 300 the loss is 2.2817, below the 2.3928 of
the pairs: attention is at work.

## By heart? {#language-model-copies}

Both losses fall together at first. Then they part. The loss on text read
falls to the end of the run. The loss on text held out is least after step
2,200, and rises from there on. So at first the model learns something about
the language of this book, and later it learns the text by heart: after step
2,200 the losses are $1.3062 - 1.0264 = 0.2798$ apart, and at the end
$1.5780 - 0.6025 = 0.9755$.

To end a training where the loss on text held out is least is called **early
stopping**. The program goes on, so that this page can show what comes
after, but it keeps the model of the best step. `make train` leaves this
model in `build/gpt.safetensors`. (Its 1.3062 is a little too good: the step
was chosen by this very loss.)

How much of what a model writes stands in the text word for word? For each
byte of a sample and each byte of the text, the next function counts how far
both agree from there on. A copy that is longer than the longest so far also
agrees in the byte at `longest` from its start. `memchr` finds the next such
byte of the text read, and the copy begins so many bytes in front of it:
*/

int longest_copy(int n, const char text[n], int m, const char source[m],
                 int *first)
{
    int longest = 0;
    *first = 0;
    for (int i = 0; i + longest < n; i++)
        for (int j = 0; i + longest < n && j + longest < m; j++) {
            const char *next =
                memchr(source + j + longest, text[i + longest],
                       (size_t)(m - j - longest));
            if (!next)
                break;
            j = (int)(next - source) - longest;
            int k = 0;
            while (i + k < n && j + k < m && text[i + k] == source[j + k])
                k++;
            if (k > longest) {
                longest = k;
                *first = i;
            }
        }
    return longest;
}

/* folded: how this is printed */
/* Byte i of text k: of ten passages of the text held out, and of ten
 * samples each from four parts of a run; paragraphs end with bars. */
static char byte_of_text(const Trained *t, int k, int i)
{
    const char c =
        k < 10 ? held_out()->bytes[2000 * k + i] : t->row[k - 9].sample[i];
    return c == '\n' ? '|' : c;
}

/* The longest copies that they have from the text read. */
static void show_copies(const Trained *t)
{
    const int n = t->run.model.context_length;
    float bytes[5][2] = {{0}};
    char text[n], longest[n];
    int first, most = 0;
    for (int k = 0; k < 50; k++) {
        for (int i = 0; i < n; i++)
            text[i] = byte_of_text(t, k, i);
        const int copied =
            longest_copy(n, text, prose()->length, prose()->bytes, &first);
        bytes[k / 10][0] += (float)copied / 10;
        bytes[k / 10][1] = fmaxf(bytes[k / 10][1], (float)copied);
        if (k >= 10 && copied > most) {
            most = copied;
            memcpy(longest, text + first, (size_t)most);
        }
    }
    print_matrix("longest copy, in bytes: mean of ten texts, and most", 5,
                 2, bytes);
    printf("the longest of a sample: \"%.*s\"\n", most, longest);
}

/*
``` output
longest copy, in bytes: mean of ten texts, and most (5, 2)
[[18.6000, 28.0000],
 [12.1000, 15.0000],
 [16.9000, 27.0000],
 [19.6000, 41.0000],
 [20.3000, 36.0000]]
the longest of a sample: " (chapter 14, "FlashAttention: attention "
```

The first row is the measure: ten passages of the text held out. No one has
copied them from the text read, but they share phrases with it all the same,
since a book repeats itself. The other rows are samples, from the first
quarter of the run to the last. In the first quarter the samples share less
with the text than the book shares with itself. In the last quarter the mean
of 20.3 bytes is hardly more than the 18.6 of the first row, and the longest
copy of all, 41 bytes, is a third of a sample of 128. So even the last
model, whose share for the right byte of the text read is about $e^{-0.6025}
= 0.55$, does not write the text down word for word. Each byte of a sample
is drawn, and one byte that is not the next of the text is enough to leave
the passage.

The model of the best step goes on with what it is given, byte by byte, here
with *The* and a space:

``` sh
make -s run-23 ARGS="--write 80 build/gpt.safetensors 84 104 101 32"
```

## With dropout {#language-model-dropout}

[](#dropout) has named a remedy against learning by heart: numbers are
dropped at random, so that a model depends on no single one. Those were
attention weights. Our fast attention never holds a table of weights
([](#flash)), and cannot drop them. But a GPT has other numbers to drop:
what the attention and the network of each block add to the sum
([](#gpt-block)). The rate is 0.2: in each step, about a fifth of these
entries become 0, and the others are divided by 0.8. (`gpt_pass_drop`, in
`src/gpt.c`, draws the masks, and may be skipped.) The command `make
train-dropout` makes the long run again, with the same passages in the same
order:
*/

/* folded: how this is printed */
static void show_dropout(const Trained *plain, const Trained *dropout)
{
    enum { LATER = 2 };
    float losses[2][SHOWN], later[2][SHOWN - LATER];
    show_losses(dropout, losses);
    for (int i = LATER; i < SHOWN; i++)
        later[0][i - LATER] = plain->row[4 * i].held_out;
    memcpy(later[1], losses[1] + LATER, sizeof later[1]);
    figure_curves("dropout", "The loss on text held out",
                  (const char *const[]){"without dropout", "with dropout"},
                  SHOWN - LATER, shown_at + LATER, later);
    show_copies(dropout);
}

/*
``` output
steps, texts, context, width, heads, blocks (6)
[4000,   16,  128,  160,    5,    3]
rate of dropout: 0.2000
parameters, seconds, tokens a second (3)
[969120,    509,  18731]
on Intel(R) Xeon(R) Processor, 2 threads, 2026-11-27
```

(This is another machine, so the seconds do not say what dropout costs.)

``` output
step, loss on text read, on text held out (11, 3)
[[   1.0000,    4.9104,    4.9098],
 [ 400.0000,    2.0946,    2.1472],
 [ 800.0000,    1.4659,    1.5444],
 [1200.0000,    1.3131,    1.4303],
 [1600.0000,    1.2470,    1.3803],
 [2000.0000,    1.1785,    1.3334],
 [2400.0000,    1.1231,    1.3069],
 [2800.0000,    1.0809,    1.2955],
 [3200.0000,    1.0249,    1.2738],
 [3600.0000,    0.9920,    1.2623],
 [4000.0000,    0.9739,    1.2592]]
the step with the least loss on text held out (1, 3)
[[4000.0000,    0.9739,    1.2592]]
```

![The loss on text held out, in both runs, from step 800
on](dropout.svg){#fig-language-model-dropout}

The losses are measured without dropout, as a model in use drops nothing
([](#dropout-evaluation)). The loss on text held out is first larger than
without dropout, and smaller from step 2,400 on. At the end it is 1.2592,
less than the 1.3062 of the best step without dropout: in this run, dropout
has helped. (The last step is the best, so more steps might help.)

Has the model learned less by heart? Take steps with about the same loss on
text read: with dropout step 4,000, with 0.9739, and without it step 2,400,
with 0.9722. On text held out, the losses are 1.2592 and 1.3180. So more of
what was learned with dropout holds for other text.

``` output
longest copy, in bytes: mean of ten texts, and most (5, 2)
[[18.6000, 28.0000],
 [13.1000, 18.0000],
 [17.6000, 21.0000],
 [20.8000, 27.0000],
 [20.7000, 22.0000]]
the longest of a sample: " value: asking, being found"
```

On the average, the samples copy a little more than before; the longest copy
is shorter.

## GPT-2 itself {#language-model-gpt2}

GPT-2's 124,439,808 parameters ([](#gpt-model)) are public, and so is its
vocabulary. Its tokens are bytes and pieces of words, 50,257 of them, and
the rules by which a text is cut into them are a file, too. Fetch the four
files, half a gigabyte in all, and type a beginning:

``` sh
from=https://huggingface.co/openai-community/gpt2/resolve/main
for file in model.safetensors config.json vocab.json merges.txt; do
  curl -LO $from/$file
done
make -s gpt2 DIR=. TEXT="A shiny shoe is"
```

The program shows the tokens of your text with their ids, the five tokens
that are likeliest to come next, with their shares, and then it writes:
`TOKENS=40` says how many tokens, and `TEMPERATURE=0.8` and `TOP_K=40` are
the settings of [](#language-model-writing). It takes the model's sizes from
the shapes of the tables, and the number of heads from `config.json`. What
its heads look at, [](#inside) finds out.

If you write such a reader yourself and its logits are garbage, some table
was read in the wrong layout. In this file the table of a layer is
`[in][out]`, the transpose of `nn.Linear`'s, and the layers for queries,
keys and values are one table of three parts. The logits do not show which
table is wrong. So compare the sum after each block with PyTorch's, from the
first block on: the first sum that differs names the block. The tests do
just that, for each table of each block, with a small model of this layout
that PyTorch has made.

## Everything together

Without arguments, the program prints what this page shows. With the file of
a model and ids, it prints the logits of the next token. With `--write` and
a number in front of the file, it goes on with the text for so many tokens.
*/

/* folded: how this is printed */
/* The ids of a text, and so many more that the model writes: bytes as they
 * are, other tokens as numbers. */
static void show_written(const Gpt *g, int begun, int n, int ids[n])
{
    Random r = random_seeded(123);
    gpt_generate(g, &r, 0.8f, 0, begun, n, ids);
    for (int i = 0; i < n; i++)
        printf(g->vocabulary == 128 ? "%c" : "%d ", ids[i]);
    puts("");
}

/* A model's file, and the ids of a text: the logits of what comes next; or
 * with --write and how many tokens more in front, the text that goes on. */
static void show_next(int count, char *const word[count])
{
    const int writes = !strcmp(word[0], "--write");
    const int at = writes ? 2 : 0;
    if (count < at + 2)
        REFUSE("'%s' is given: [--write TOKENS] FILE ID ... are needed",
               word[count - 1]);
    Gpt g;
    gpt_load(&g, word[at]);
    const int n = count - at - 1;
    const uint64_t length = (uint64_t)g.context_length;
    const int more =
        writes ? (int)parse_integer("TOKENS", word[1], 1, length) : 0;
    int *ids = new_aligned((size_t)(n + more), sizeof *ids);
    for (int i = 0; i < n; i++)
        ids[i] = (int)parse_integer("an id", word[at + 1 + i], 0,
                                    (uint64_t)g.vocabulary - 1);
    if (writes)
        show_written(&g, n, n + more, ids);
    else {
        GptPass p;
        gpt_pass_init(&p, &g, 1, n);
        gpt_forward(&g, NULL, ids, &p);
        print_vector("logits of the next token", g.vocabulary,
                     p.logits + (size_t)(n - 1) * (size_t)g.vocabulary);
        gpt_pass_free(&p);
    }
    gpt_free(&g);
    free(ids);
}

static void show_chapter(void)
{
    Trained plain = trained_read("src/data/trained.tsv");
    Trained dropout = trained_read("src/data/trained-dropout.tsv");
    figure_pipeline("pipeline", "words vectors roles scores scale mask "
                                "weights context heads");
    show_draws();
    show_settings();
    show_small();
    show_steps(&plain);
    show_tables(&plain);
    show_copies(&plain);
    show_dropout(&plain, &dropout);
    trained_free(&plain);
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
The settings in PyTorch:

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

**Exercise 23.2** (★★, challenge, 3 points): `top_p`. Another way to take
away the small shares, known as *top-p*: keep the largest shares, as few as
add up to at least `p`, and put 0 in place of the others. Shares that are
equal to the smallest one that stays, stay, too. (The others need not add up
to 1: the race asks only for proportions.) `top_p` refuses a `p` that is not
above 0 and at most 1.

::: hint
Add up what `new_sorted` returns, as in [](#language-model-writing), in a
`double`.
:::

::: done
Where the model is sure, one token is left, and where it is not, many: the
cut adapts to the shares.
:::

**Exercise 23.3** (by hand): In [](#language-model-writing), the logits of
the first two tokens are 2 and 1. What is the first share divided by the
second, as they are, with a temperature of 0.5, and with one of 2? Find the
three factors without a softmax, and try them on the output.

## Solutions

::: {.solution exercise="23.2"}
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

::: {.solution exercise="23.3"}
A share is an exponential divided by the sum of all exponentials. In the
fraction of two shares that sum cancels. What is left is $e$ to the power of
the difference of the two logits. Their difference is 1. Divided by the
temperature, it is 1, 2 and one half. So the factors are $e$, $e^2$ and
$\sqrt{e}$: $0.5630 / 0.2071 = 2.72$, $0.8292 / 0.1122 = 7.39$ and $0.3745 /
0.2272 = 1.65$. (Top-k does not change the factor between two shares that
stay.)
:::
*/
