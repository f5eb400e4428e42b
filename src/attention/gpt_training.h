/*
## What a GPT learns from: `gpt_training.c` {#header-gpt-training}
*/

#pragma once

#include "attention/20_optimizers.h"
#include "attention/B_random.h"
#include "attention/gpt.h"
#include "attention/gpt_fast.h"

/* A training of a GPT: the model, and the means that Adam keeps; its
 * settings; memory for a batch, in parts of equally many texts; and where
 * it stands. */
enum { GPT_PARTS = 4 };
typedef struct {
    Gpt model, mean, square;
    int texts; /* of a batch, each as long as the model's context */
    Adam adam;
    Random random; /* draws where the passages of a batch begin */
    int bytes;
    const char *text; /* [bytes], which stays its owner's */
    int steps;        /* of a whole run; 0 without one */
    int repeats;      /* k: each k-th text repeats itself; 0: none does */
    double dropout;   /* the rate, of what is added in the blocks */

    /* What gpt_training_init sets: */
    int parts; /* as many as divide the texts, at most GPT_PARTS */
    GptPass pass[GPT_PARTS], grad_pass[GPT_PARTS];
    Gpt gradient[GPT_PARTS];
    int step; /* how many steps have been done */
} GptTraining;

/* Makes a training with the sizes, the settings and the text of another:
 * gpt_fill fills the model with numbers from `random`, which then draws the
 * passages; frees it. The text is to stay in memory until then. Refuses
 * what gpt_init and gpt_pass_init refuse, texts below 1, a text that is not
 * longer than the context, and a rate of dropout that is not from 0 to
 * 1. */
void gpt_training_init(GptTraining *t, const GptTraining *sizes);
void gpt_training_free(GptTraining *t);

/* The next batch: passages of the text, as long as the context, each from
 * any byte on, and for each byte the one that comes after it; ids and
 * targets are [texts][context]. With `repeats` k above 0, each k-th
 * text is its first 16 to 64 bytes again and again, if it is longer than
 * that. Refuses a byte that is not below the vocabulary.
 * PyTorch: torch.randint(bytes - context, (texts,)) says where they begin,
 * number for number; with `repeats`, torch.randint(bytes - context, (1,))
 * for each, and torch.randint(16, 65, (1,)) after those that repeat. */
void gpt_training_batch(GptTraining *t, int *ids, int *targets);

/* The loss of a whole batch, and in gradient[0] its gradient: the means of
 * what gpt_gradient, chapter 23, gives for each part, which are those of
 * the whole batch, as no target of gpt_training_batch is IGNORED. They are
 * added up in one order, so that they have the same bits with any number of
 * threads.
 * With `dropout`, gpt_pass_drop draws what part k drops from the seed
 * GPT_PARTS * step + k, whatever the seed of the run is; so a second call
 * before the next step drops the same. Refuses a rate of dropout that is
 * not from 0 to 1, and a training of INT_MAX steps, which cannot count
 * another. */
float gpt_training_gradient(GptTraining *t, const int *ids,
                            const int *targets);

/* learner_step, of chapter 23, in parts: one step of AdamW, with the
 * gradient's length held at 1. Returns the loss before it. */
float gpt_training_step(GptTraining *t, const int *ids, const int *targets);

/* gpt_loss, of chapter 23, in parts of equally many passages: what is left
 * at the end of a part is left out. Refuses a text that is not longer than
 * GPT_PARTS contexts, and what gpt_loss refuses. */
float gpt_training_loss(const Gpt *g, int bytes, const char *text);
