/*
# A language model {#language-model}

![The way from words to attention. A language model goes this whole way for
each token that it writes](pipeline.svg){#fig-language-model-pipeline}

We have a GPT ([](#gpt)), which makes logits from the ids of a text, and
goes back from the slopes of these logits to the gradient of every
parameter. We have a loss and a step ([](#optimizers), [](#training)). What
is missing is a text to learn from, and a way from logits to a text.

The one idea of this chapter is that a text is its own teacher. For each
token of a text, the right answer is the token that comes next. So nobody
has to write down answers, and any text will do: a model that gives shares
to what comes next, and is trained on a text in this way, is a **language
model**. To write, it draws from its shares, appends what was drawn, and
reads again. Here a model reads this book and writes, and at the end the
same program opens the weights of GPT-2.
*/

#include "attention/23_language_model.h"
#include "attention/02_softmax.h"
#include "attention/13_multi_head.h"
#include "attention/16_kv_cache.h"
#include "attention/20_optimizers.h"
#include "attention/B_normals.h"
#include "attention/gpt_file.h"
#include "attention/long_run.h"
#include "support.h"

/*
## Reading: the next token {#language-model-reading}

What does the model read? The prose of this book, as you do, without code
and output. A token is a byte. All are ASCII, and so the vocabulary has 128
tokens: no words, no grammar, not even that letters make words. Every tenth
paragraph is held out ([](#training-repeated)). As long as the loss on these
falls along with the loss on the rest, the model learns something about the
language. Where it stops falling, the model begins to learn the training
text by heart, which [](#dropout) has called overfitting.

The text is cut into pieces as long as the context. A batch is some pieces,
in the order that PyTorch's `DataLoader(shuffle=True)` would draw, and for
each byte the target is the byte after it.

Texts have nothing to do with each other until their gradients are added up.
So a batch goes in parts, each thread takes some, and the loss and the
gradient of all are the means of theirs. `gpt_training_batch` and
`gpt_training_gradient`, in `src/gpt_training.c`, do all that. They may be
skipped: what they do for one text is `gpt_forward`, `cross_entropy`,
`cross_entropy_backward` and `gpt_backward`, in this order. One step:
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
This is the step of [](#training-step); only the model is larger.
`gpt_training_gradient` sets the gradients to 0 first. Each part of a batch
has a gradient of its own, and the mean of all is written into the first
one, `t->gradient[0]`, which is what `t->gradient->memory` means. (The decay
is for biases and norms, too; others spare them.) The tests hold ten losses,
and the first gradient, against PyTorch's.

## Writing: temperature and top-k {#language-model-writing}

The logits of the last token, through softmax, are shares for what comes
next. To take the largest each time would always write the same. So the next
token is drawn, each as often as its share says. Two settings make that
bolder or more careful. Logits are divided by a **temperature** first: below
1, what is large gains; above 1, all become more alike. And with **top-k**,
all but the `k` largest are hidden.

**Exercise 23.1** (★★, 3 points): `top_k`. Minus infinity in place of all
logits below the `k`-th largest. Those that are equal to it stay, be they
more than `k`. It refuses a `k` that is not from 1 to `n`.

::: hint
Where is the limit? The largest of all; then the largest of those below it;
and so on, until so many have been found. How many are equal to each counts.
:::

::: hint
A loop that looks for the largest below `limit`, counts how often it is
there, and makes it the new `limit`, until the count has reached `k`. A
first limit of infinity would pass over an infinite logit. Every comparison
with NaN is false: begin with `NAN`, and ask `!(logits[i] >= limit)`.
:::

::: done
A model gives a little to everything, and a thousand times a little is much:
this takes the tail away.
:::
*/

void top_k(int n, int k, float logits[n])
{
    if (k < 1 || k > n)
        REFUSE("the %d largest of %d: from 1 to %d are needed", k, n, n);
    float limit = NAN; /* x >= NAN is false for each x: all are below */
    for (int found = 0; found < k && limit != -INFINITY;) {
        float next = -INFINITY; /* the largest below the limit */
        for (int i = 0; i < n; i++)
            if (!(logits[i] >= limit) && logits[i] > next)
                next = logits[i];
        for (int i = 0; i < n; i++)
            found += logits[i] == next;
        limit = next;
    }
    for (int i = 0; i < n; i++)
        if (logits[i] < limit)
            logits[i] = -INFINITY;
}

/*
To draw one of several by their shares, PyTorch lets each of them wait for a
random time, the shorter the larger its share, and takes the one that comes
first. If $z$ is random from 0 to 1, $-\ln(1 - z)$ divided by the share is
such a time (it is an exponential waiting time, as that of a bus that comes
whenever it likes), and the smallest of these belongs to each as often as
its share says. That can be proved; here ten thousand draws will show it. So
one draw takes a random number for each token. (The code looks for the
largest inverse, `shares[i] / wait`, so that a share of 0 is never drawn.)
*/

int sample_token(Random *r, int n, const float shares[n])
{
    int best = -1;
    float most = 0;
    for (int i = 0; i < n; i++) {
        const float wait = (float)-log1p(-random_double(r));
        if (!(shares[i] >= 0 && shares[i] <= FLT_MAX))
            REFUSE("share %d is %g: one from 0 on, and finite, is needed",
                   i, (double)shares[i]);
        if (shares[i] / wait > most) {
            most = shares[i] / wait;
            best = i;
        }
    }
    if (best < 0)
        REFUSE("%d shares, and none above 0: one is needed", n);
    return best;
}

int next_token(Random *r, float temperature, int k, int n, float logits[n],
               float shares[n])
{
    if (!(temperature > 0))
        REFUSE("a temperature of %g: one above 0 is needed",
               (double)temperature);
    for (int i = 0; i < n; i++)
        logits[i] /= temperature;
    if (k)
        top_k(n, k, logits);
    softmax(n, logits, shares);
    return sample_token(r, n, shares);
}

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

The same. With a temperature close to 0 the logits are far apart, the
largest has nearly all of the share, and it is drawn each time. With a `k`
of 1 only the largest is left. So both always take the largest.
:::

To write is to do so again and again. At first the whole beginning goes
through the model, and then each token that has been drawn, by itself: the
cache has the rest ([](#kv-cache)). So `from` and `till` are the beginning
and the end of what is new.
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
`gpt_sample` has a model go on behind *The* and a space, at a temperature of
0.8 and always with the same random numbers, so that two models can be
compared. A bar stands for the end of a paragraph, and a question mark for a
byte that cannot be printed:
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
context of 32 reads three hundred batches of eight pieces:
*/

enum { STEPS = 300 };

/* What the model writes, as far as its context reaches. */
static void show_sample(const char *label, const Gpt *g)
{
    char *text = new_list((size_t)g->context_length + 1, 1);
    gpt_sample(g, g->context_length, text);
    printf("%s: %s\n", label, text);
    free(text);
}

static void show_small(void)
{
    enum { TEXTS = 8, CONTEXT = 32 };
    Gpt model = {.vocabulary = 128, .context_length = CONTEXT, .width = 40};
    model.n_heads = model.layers = 2;
    GptTraining t, sizes = {.model = model, .texts = TEXTS, .steps = STEPS};
    sizes.adam = (Adam){0, 0.9, 0.95, 1e-8, 0.1, 0};
    sizes.random = random_seeded(123);
    sizes.bytes = prose_length;
    sizes.text = prose;
    int ids[TEXTS * CONTEXT], targets[TEXTS * CONTEXT];
    float losses[4], held[4];
    gpt_training_init(&t, &sizes);
    print_integers(
        "parameters, bytes to learn from, held out", 3,
        (int[]){(int)t.model.count, prose_length, held_out_length});
    print_value("ln(128)", logf(128));
    show_sample("before", &t.model);
    for (int step = 0; step < STEPS; step++) {
        t.adam.learning_rate = rate_at(step, STEPS / 10, STEPS, 3e-3, 3e-4);
        gpt_training_batch(&t, ids, targets);
        const float loss = gpt_training_step(&t, ids, targets);
        if (step % 100 == 0 || step == STEPS - 1) {
            losses[(step + 1) / 100] = loss;
            held[(step + 1) / 100] =
                gpt_loss(&t.model, held_out, 4000, &t.pass[0], t.shares[0]);
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
[ 45920, 195684,  21067]
ln(128): 4.8520
before: The ?{$",r?yT`R}F?g(|V?7).nyy?MT
loss at steps 1, 101, 201, 300 (4)
[4.86, 2.77, 2.56, 2.48]
on text held out (4)
[4.86, 2.88, 2.65, 2.60]
after: The wira rs The is pithes. thand
```

A model that knows nothing gives each of 128 bytes the same share, and
$\ln(128)$ is where its loss begins. After three hundred steps it knows
which letters are frequent, that there are blanks, and what often follows a
*t*. That is no language yet. (Each loss is that of one batch, and some
batches are harder. They have two decimals here: each step builds on the one
before, and after some hundreds of them another processor, which adds up in
another order, differs from the third decimal on.)

## The long run {#language-model-run}

How long until a model writes language? With `make train`, a model twenty
times as large reads more and longer pieces in each step. Its program,
`tools/measure/train.c`, takes the step from above again and again. Its
listing may be skipped: what else stands there prints how far the run is,
and saves that now and then. Ctrl-C saves and ends it, and `make train`
again goes on, to the last bit. (The file holds the means of Adam, too, the
generator's state, and the order in which the pieces come. Such a
**checkpoint** is written whole or not at all.) At the end it writes into
`src/trained.h` what this page shows; so after a run of your own, `make`
says that the numbers on this page come from another run. The run that this
page shows had these sizes, and took so long:
*/

/* The loss, on the text itself, of tables that know how often each byte
 * comes, and how often each comes behind each. */
static void show_tables(void)
{
    static int single[128], pair[128][128];
    double losses[2] = {0};
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (int i = 0; i + 1 < prose_length; i++) {
        single[(int)prose[i]]++;
        pair[(int)prose[i]][(int)prose[i + 1]]++;
    }
    for (int i = 0; i + 1 < prose_length; i++) {
        const int was = prose[i], is = prose[i + 1];
        losses[0] -= log((double)single[is] / prose_length);
        losses[1] -= log((double)pair[was][is] / single[was]);
    }
    print_vector("loss of a table of bytes, and of pairs of bytes", 2,
                 (float[]){(float)(losses[0] / prose_length),
                           (float)(losses[1] / prose_length)});
}

/* What the long run has written down of itself. */
static void show_run(void)
{
    const Gpt *g = &trained_run.model;
    print_integers("steps, pieces, context, width, heads, blocks", 6,
                   (int[]){trained_run.steps, trained_run.texts,
                           g->context_length, g->width, g->n_heads,
                           g->layers});
    print_integers("parameters, seconds, tokens a second", 3,
                   (int[]){(int)gpt_count_parameters(g), trained_seconds,
                           trained_tokens_per_second});
    printf("on %s, %s\n", trained_on, trained_at);
}

/* And at some of its steps. */
static void show_run_steps(void)
{
    const int n = trained_count;
    const char *at[n];
    char label[n][16];
    float losses[2][n];
    for (int i = 0; i < n; i++) {
        const float *row = trained_losses[i];
        snprintf(label[i], sizeof *label, "%.0f", row[0]);
        at[i] = label[i];
        losses[0][i] = row[1];
        losses[1][i] = row[2];
    }
    print_matrix("step, loss on text read, on text held out", n, 3,
                 trained_losses);
    printf("what it writes at some of these steps\n");
    for (int i = 0; i < n; i += i < 4 ? 2 : 3)
        printf("%s: %.60s\n     %.66s\n", at[i], trained_samples[i],
               trained_samples[i] + 60);
    figure_curves("losses", "The loss, step by step",
                  (const char *const[]){"on text read", "on text held out"},
                  n, at, losses);
}

/*
``` output
steps, pieces, context, width, heads, blocks (6)
[500,  16, 128, 160,   5,   3]
parameters, seconds, tokens a second (3)
[969120,    139,   8848]
on AMD EPYC, 2 threads, 2026-11-22
```

(The seconds are those of the whole run, in which losses are measured and
samples written, too. The tokens a second are those of the steps alone.)

``` output
step, loss on text read, on text held out (11, 3)
[[  1.0000,   4.7624,   4.7672],
 [ 50.0000,   2.5047,   2.5482],
 [100.0000,   2.4379,   2.4860],
 [150.0000,   2.3913,   2.4449],
 [200.0000,   2.3278,   2.4017],
 [250.0000,   2.1939,   2.2704],
 [300.0000,   1.9654,   2.0559],
 [350.0000,   1.7960,   1.8975],
 [400.0000,   1.6718,   1.7984],
 [450.0000,   1.5931,   1.7265],
 [500.0000,   1.5489,   1.6927]]
what it writes at some of these steps
1: The q{$".r?y!VR}F?g((V?7).nH??MT?i}Z?L?a|?L.**Yi???(<?E??^Y"
     ?)'1Y?????C#y??}?[??&<BB???l`1"Q?s{?xO?sjU|Y?$???23U\?.u?Q7?G}aE?k
100: The wis ors The is l thes. thand ithe, are ts is co oralulof
      its w ass ry che the n s s a " ts the san atholeneyos. ma ithas s
200: The wis bonyThe is lof an. thand it t, arer * is an oralind 
     t withanus ricerent f n is lad"A s the saneat oleney s. ma ithas k
350: The with row of it lis any the hast tabargr. *Hide what is* 
     tike way sloy gish to no of the the lowser and is seas. Ting *as k
500: The side row the see scores. What les, and the is of a liste
     p with a sloper. The ra is lasch sum besides to andom funt its see
```

![The loss on what was read, and on as much text held
out](losses.svg){#fig-language-model-losses}

Why does one's own first model write gibberish? Look at the loss. Without
any model, a table of how often each byte comes would have a loss of 3.10 on
this text, and a table of which byte follows which 2.38:

``` output
loss of a table of bytes, and of pairs of bytes (2)
[3.0974, 2.3798]
```

At first the loss falls to about that of the table of pairs. As long as it
stays there, the model writes hardly any words but the shortest. Then the
loss falls on: letters become words, and at the end most of what it writes
are words of this book, in an order that says nothing. (Samples are drawn at
a temperature of 0.8, each with the same random numbers; a bar is the end of
a paragraph.)

Has it learned by heart? In all it has read
$500 \cdot 16 \cdot 128 = 1{,}024{,}000$ bytes, each paragraph five times.
After a hundred steps the two losses are $2.4860 - 2.4379 = 0.0481$ apart,
at the end, $1.6927 - 1.5489 = 0.1438$. The gap has grown. By so much the
model does better on text that it has read than on text of the same kind
that it has not. It is little still.

`make train` leaves the model in `build/gpt.safetensors`. The model goes on
with what it is given, byte by byte, here with *The* and a space:

``` sh
make -s run-23 ARGS="--write 80 build/gpt.safetensors 84 104 101 32"
```

## GPT-2 itself {#language-model-gpt2}

GPT-2's 124,439,808 parameters ([](#gpt-model)) are public. They are two
files, of half a gigabyte and of a kilobyte:

``` sh
from=https://huggingface.co/openai-community/gpt2/resolve/main
curl -LO $from/model.safetensors
curl -LO $from/config.json
make -s run-23 ARGS="model.safetensors 464 3290"
```

The program takes the sizes from the tables' shapes, only the number of
heads from `config.json`, and prints the logits of what comes next. The ids
of a text, here of two words, are made by a tokenizer, such as OpenAI's
`tiktoken`. With `--map` and the numbers of a layer and a head in front of
the file, it prints the weights of that head.

If you write such a reader yourself and its logits are garbage, the numbers
stand in the wrong places: in this layout a layer's table is `[in][out]`,
turned over against `nn.Linear`, and queries, keys and values are one table
of three parts. One cannot see that in the logits. So compare the sum after
each block with PyTorch's, from the first block on: the first table that
differs names the layer. The tests do just this, with a small model of that
layout, made by PyTorch, and each table of each block.

## Everything together

Without arguments, the program prints what this page shows. With a model's
file and ids, of GPT-2 or of what was trained, it prints the logits of what
comes next; with `--write` it goes on with the text.
*/

/* The weights of head h, by chapter 13's attention, which keeps them. */
static void show_map(const Attention *a, int n, const float x[n][a->d_x],
                     int h)
{
    Trace t;
    trace_init_for(&t, a, n, n);
    attention_forward(a, mask_causal(0), NULL, n, n, x, x, &t);
    print_matrix("attention weights", n, n, TABLES(n, n, t.weights)[h]);
    trace_free(&t);
}

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
 * in front of these --map and the numbers of a layer and a head, or --write
 * and how many tokens more. */
static void show_next(int count, char *const word[count])
{
    const int is_map = !strcmp(word[0], "--map");
    const int writes = !strcmp(word[0], "--write");
    const int at = is_map ? 3 : writes ? 2 : 0;
    if (count < at + 2)
        REFUSE("'%s' is given: [--map LAYER HEAD or --write TOKENS] FILE "
               "ID ... are needed",
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
    GptPass p;
    gpt_pass_init(&p, &g, 1, n);
    gpt_forward(&g, NULL, ids, &p);
    if (writes)
        show_written(&g, n, n + more, ids);
    else if (is_map) {
        const int l = (int)parse_integer("the layer", word[1], 0,
                                         (uint64_t)g.layers - 1);
        const int h = (int)parse_integer("the head", word[2], 0,
                                         (uint64_t)g.n_heads - 1);
        show_map(&g.block[l].attention, n,
                 ROWS(g.width, p.block[l].normed_1), h);
    } else
        print_vector("logits of the next token", g.vocabulary,
                     p.logits + (size_t)(n - 1) * (size_t)g.vocabulary);
    gpt_pass_free(&p);
    gpt_free(&g);
    free(ids);
}

static void show_chapter(void)
{
    figure_pipeline("pipeline",
                    "words vectors roles scores scale mask weights "
                    "context heads");
    show_draws();
    show_settings();
    show_small();
    show_run();
    show_run_steps();
    show_tables();
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

## The end

You began with two lists of numbers and one product. What reads and writes
here is made of nothing else: of products, of shares, and of slopes that say
how all of it should be a little different. Each number on the way is one
that PyTorch gives as well.

Models that people talk with are larger by five or six powers of ten, and
differ in parts. Their tokens are pieces of words. They rotate queries and
keys instead of adding a table of places ([](#positions)), let heads share
keys ([](#kv-cache-groups)), divide by the spread without taking the mean
away, multiply two layers in the network, of which only one is bent, and
often keep many networks, of which each token takes a few. They read
trillions of tokens on thousands of processors, in numbers of 16 bits and
fewer. And after that they are trained again, on answers that people have
found good. None of this is in the book. But where you meet it, it stands in
a block, on a sum, beside an attention, and you know how to find out what it
does: give it small numbers, try each of them a little larger, and compare.

## Further exercises

**Exercise 23.2** (★★, challenge, 3 points): `top_p`. Another way to cut off
the tail, known as *top-p*: keep the largest shares, as few as add up to at
least `p`, as they are, and put 0 in place of the others. Those that are
equal to the smallest that stays, stay, too. It refuses a `p` that is not
above 0 and at most 1.

::: hint
`top_k` in [](#language-model-writing) counts what it has found. Here it is
added up, in a `double`.
:::

::: done
Where the model is sure, one token is left; where it is not, many: the cut
goes by what it knows.
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
    float limit = INFINITY;
    for (double sum = 0; sum < (double)p && limit > 0;) {
        float next = 0;
        for (int i = 0; i < n; i++)
            if (shares[i] < limit && shares[i] > next)
                next = shares[i];
        for (int i = 0; i < n; i++)
            sum += shares[i] == next ? (double)next : 0;
        limit = next;
    }
    for (int i = 0; i < n; i++)
        if (shares[i] < limit)
            shares[i] = 0;
}

/*
:::

::: {.solution exercise="23.3"}
A share is an exponential divided by the sum of all, and in the fraction of
two shares that sum cancels. What is left is $e$ to the power of the
difference of the logits. The difference is 1; divided by the temperature it
is 1, 2 and one half. So the factors are $e$, $e^2$ and $\sqrt{e}$:
$0.5630 / 0.2071 = 2.72$, $0.8292 / 0.1122 = 7.39$ and
$0.3745 / 0.2272 = 1.65$. (Top-k does not change the factor of two that
stay.)
:::
*/
