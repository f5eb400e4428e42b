#include "attention/gpt_training.h"
#include "attention/10_dropout.h"
#include "attention/21_training.h"
#include "attention/23_language_model.h"
#include "support.h"

/* Chapter 23's learning in parts and threads, for a long run: its memory,
 * the passages of text that it reads, what a batch teaches, and a step. */

static void part_init(GptTraining *t, int k)
{
    const int texts = t->texts / t->parts, n = t->model.context_length;
    gpt_pass_init(&t->pass[k], &t->model, texts, n);
    gpt_pass_init(&t->grad_pass[k], &t->model, texts, n);
    gpt_init(&t->gradient[k], &t->model);
}

void gpt_training_init(GptTraining *t, const GptTraining *sizes)
{
    const Gpt model = sizes->model; /* for sizes may be t */
    const int texts = sizes->texts;
    if (texts < 1 || sizes->bytes <= model.context_length)
        REFUSE("%d texts of %d bytes and the one after, from %d bytes: at "
               "least 1 text, and more bytes than it has, are needed",
               texts, model.context_length, sizes->bytes);
    dropout_rate_check(sizes->dropout);
    GptTraining own = {.texts = texts,
                       .steps = sizes->steps,
                       .repeats = sizes->repeats,
                       .dropout = sizes->dropout};
    own.adam = sizes->adam;
    own.random = sizes->random;
    own.bytes = sizes->bytes;
    own.text = sizes->text;
    *t = own;
    gpt_init(&t->model, &model);
    gpt_init(&t->mean, &t->model);
    gpt_init(&t->square, &t->model);
    gpt_fill(&t->random, &t->model);
    for (t->parts = GPT_PARTS; texts % t->parts; t->parts--)
        ;
    for (int k = 0; k < t->parts; k++)
        part_init(t, k);
}

void gpt_training_free(GptTraining *t)
{
    gpt_free(&t->model);
    gpt_free(&t->mean);
    gpt_free(&t->square);
    for (int k = 0; k < t->parts; k++) {
        gpt_pass_free(&t->pass[k]);
        gpt_pass_free(&t->grad_pass[k]);
        gpt_free(&t->gradient[k]);
    }
    *t = (GptTraining){0};
}

/* The first so many bytes of a passage, again and again. */
static void repeat_passage(int length, int n, int *ids, int *targets)
{
    for (int i = length; i <= n; i++) {
        targets[i - 1] = ids[i % length];
        if (i < n)
            ids[i] = ids[i % length];
    }
}

void gpt_training_batch(GptTraining *t, int *ids, int *targets)
{
    const int n = t->model.context_length;
    for (int i = 0; i < t->texts; i++, ids += n, targets += n) {
        const int from = random_below(&t->random, t->bytes - n);
        read_passage(t->model.vocabulary, n, t->text + from, ids, targets);
        if (t->repeats && (i + 1) % t->repeats == 0)
            repeat_passage(16 + random_below(&t->random, 49), n, ids,
                           targets);
    }
}

float gpt_training_gradient(GptTraining *t, const int *ids,
                            const int *targets)
{
    const int texts = t->texts / t->parts, n = t->model.context_length;
    float losses[GPT_PARTS], sum = 0;
    float *const mean = t->gradient->memory;
    dropout_rate_check(t->dropout);
    if (t->step == INT_MAX)
        REFUSE("the training has done %d steps, the most that an int can "
               "count",
               t->step);
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < t->parts; k++) {
        /* By seeds of its own, so that the passages stay the same. */
        Random r =
            random_seeded((uint64_t)t->step * GPT_PARTS + (uint64_t)k);
        gpt_pass_drop(&t->pass[k], &r, t->dropout);
        const int from = k * texts * n;
        losses[k] =
            gpt_gradient(&t->model, texts, n, (const void *)(ids + from),
                         (const void *)(targets + from), &t->pass[k],
                         &t->grad_pass[k], &t->gradient[k]);
    }
#pragma omp parallel for
    for (size_t i = 0; i < t->model.count; i++) {
        float slopes = 0;
        for (int k = 0; k < t->parts; k++)
            slopes += t->gradient[k].memory[i];
        mean[i] = slopes / (float)t->parts;
    }
    for (int k = 0; k < t->parts; k++)
        sum += losses[k];
    return sum / (float)t->parts;
}

float gpt_training_step(GptTraining *t, const int *ids, const int *targets)
{
    const size_t count = t->model.count;
    const float loss = gpt_training_gradient(t, ids, targets);
    clip_norm(1, count, t->gradient->memory);
    adam_step(t->adam, ++t->step, count, t->gradient->memory,
              t->mean.memory, t->square.memory, t->model.memory);
    return loss;
}

float gpt_training_loss(const Gpt *g, int bytes, const char *text)
{
    const int n = g->context_length, part = (bytes - 1) / GPT_PARTS / n * n;
    float losses[GPT_PARTS], sum = 0;
    if (part < 1)
        REFUSE("%d bytes: more than %d, parts as long as the context, are "
               "needed",
               bytes, GPT_PARTS * n);
#pragma omp parallel for
    for (int k = 0; k < GPT_PARTS; k++)
        losses[k] = gpt_loss(g, part + 1, text + k * part);
    for (int k = 0; k < GPT_PARTS; k++)
        sum += losses[k];
    return sum / GPT_PARTS;
}
