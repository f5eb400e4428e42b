#include "attention/long_run.h"
#include "attention/20_optimizers.h"
#include "support.h"

/* The long run of chapter 23: its sizes, how it begins, and its losses. The
 * run itself is a program, tools/measure/train.c. */

const GptTraining gpt_long_run = {.steps = 4000,
                                  .texts = 16,
                                  .model = {.vocabulary = 128,
                                            .context_length = 128,
                                            .width = 160,
                                            .n_heads = 5,
                                            .layers = 3}};

void gpt_training_init_prose(GptTraining *t, const GptTraining *sizes)
{
    GptTraining own = *sizes;
    own.adam = (Adam){0, 0.9, 0.95, 1e-8, 0.1, 0};
    own.bytes = prose()->length;
    own.text = prose()->bytes;
    own.random = random_seeded(123);
    gpt_training_init(t, &own);
}

void gpt_run_batch(GptTraining *t, int *ids, int *targets)
{
    t->adam.learning_rate =
        rate_at(t->step, t->steps / 10, t->steps, 4e-3, 4e-4);
    gpt_training_batch(t, ids, targets);
}

float gpt_run_loss(const GptTraining *t, const PlainText *text)
{
    GptPass p;
    gpt_pass_init(&p, &t->model, 1, t->model.context_length);
    const float loss = gpt_loss(&t->model, text->bytes, held_out()->length,
                                &p, t->shares[0]);
    gpt_pass_free(&p);
    return loss;
}
