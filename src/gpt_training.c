#include "attention/gpt_training.h"
#include "attention/10_dropout.h"
#include "attention/21_training.h"
#include "support.h"

/* The memory of a training, the passages of text that it learns from, and
 * what a batch teaches, in parts and threads. The step itself is chapter
 * 23's. */

static void part_init(GptTraining *t, int k)
{
    const int texts = t->texts / t->parts, n = t->model.context_length;
    gpt_pass_init(&t->pass[k], &t->model, texts, n);
    gpt_pass_init(&t->grad_pass[k], &t->model, texts, n);
    t->shares[k] = new_table(texts * n, t->model.vocabulary);
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
        free(t->shares[k]);
        gpt_free(&t->gradient[k]);
    }
    *t = (GptTraining){0};
}

/* A passage of text, and what comes after each of its bytes. */
static void read_passage(const Gpt *g, const char *text, int *ids,
                         int *targets)
{
    for (int i = 0; i < g->context_length; i++) {
        ids[i] = (unsigned char)text[i];
        targets[i] = (unsigned char)text[i + 1];
        if (ids[i] >= g->vocabulary || targets[i] >= g->vocabulary)
            REFUSE(
                "the bytes %d and %d, of a vocabulary of %d: those below "
                "%d are needed",
                ids[i], targets[i], g->vocabulary, g->vocabulary);
    }
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
        read_passage(&t->model, t->text + from, ids, targets);
        if (t->repeats && i % 2)
            repeat_passage(16 + random_below(&t->random, 49), n, ids,
                           targets);
    }
}

float gpt_part_gradient(GptTraining *t, int part, const int *ids,
                        const int *targets)
{
    GptPass *p = &t->pass[part], *grad_p = &t->grad_pass[part];
    const int rows = p->texts * p->n, size = t->model.vocabulary;
    float(*shares)[size] = ROWS(size, t->shares[part]);
    gpt_forward(&t->model, NULL, ids, p);
    const float loss =
        cross_entropy(rows, size, ROWS(size, p->logits), targets, shares);

    gpt_pass_clear(grad_p);
    gpt_clear(&t->gradient[part]);
    cross_entropy_backward(rows, size, shares, targets,
                           ROWS(size, grad_p->logits));
    gpt_backward(&t->model, ids, p, grad_p, &t->gradient[part]);
    return loss;
}

float gpt_training_gradient(GptTraining *t, const int *ids,
                            const int *targets)
{
    const int rows = t->texts / t->parts * t->model.context_length;
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
        losses[k] =
            gpt_part_gradient(t, k, ids + k * rows, targets + k * rows);
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

float gpt_loss(const Gpt *g, const char *text, int bytes, GptPass *p,
               float *shares)
{
    const int n = p->n, rows = p->texts * n, size = g->vocabulary;
    if (n != g->context_length || bytes <= rows)
        REFUSE("%d bytes, and a pass of %d texts of %d: texts of %d, the "
               "context, and a byte more than they have, are needed",
               bytes, p->texts, n, g->context_length);
    if (p->keep)
        REFUSE("a pass with dropout of %g: one without is needed",
               p->block->rate);
    int *ids = new_aligned(2 * (size_t)rows, sizeof *ids);
    int *targets = ids + rows, count = 0;
    double sum = 0;
    for (int i = 0; i + rows < bytes; i += rows, count++) {
        for (int k = 0; k < rows; k += n)
            read_passage(g, text + i + k, ids + k, targets + k);
        gpt_forward(g, NULL, ids, p);
        sum += (double)cross_entropy(rows, size, ROWS(size, p->logits),
                                     targets, ROWS(size, shares));
    }
    free(ids);
    return (float)(sum / count);
}
