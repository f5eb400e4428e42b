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
    int repeats;      /* whether every second text repeats itself */
    double dropout;   /* the rate, of what is added in the blocks */

    /* What gpt_training_init sets: */
    int parts; /* as many as divide the texts, at most GPT_PARTS */
    GptPass pass[GPT_PARTS], grad_pass[GPT_PARTS];
    float *shares[GPT_PARTS]; /* [rows][vocabulary] */
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
 * targets are [texts][context]. With `repeats`, every second text, from
 * the second on, is its first 16 to 64 bytes again and again, if it is
 * longer than that. Refuses a byte that is not below the vocabulary.
 * PyTorch: torch.randint(bytes - context, (texts,)) says where they begin,
 * number for number; with `repeats`, torch.randint(bytes - context, (1,))
 * for each, and torch.randint(16, 65, (1,)) after every second one. */
void gpt_training_batch(GptTraining *t, int *ids, int *targets);

/* The loss of one part of a batch, and in gradient[part] the gradient that
 * its texts alone give, with the dropout that pass[part] has. ids and
 * targets are the part's rows.
 * PyTorch: loss = F.cross_entropy(logits, targets) and loss.backward(). */
float gpt_part_gradient(GptTraining *t, int part, const int *ids,
                        const int *targets);

/* The loss of a whole batch, and in gradient[0] that of all: the means of
 * all parts', which are those of F.cross_entropy over the whole batch, as
 * no target of gpt_training_batch is IGNORED. They are added up in one
 * order, so that they have the same bits with any number of threads.
 * With `dropout`, gpt_pass_drop draws what part k drops from the seed
 * GPT_PARTS * step + k, whatever the seed of the run is; so a second call
 * before the next step drops the same. Refuses a rate of dropout that is
 * not from 0 to 1, and a training of INT_MAX steps, which cannot count
 * another. */
float gpt_training_gradient(GptTraining *t, const int *ids,
                            const int *targets);

/* The mean loss of a model over a text, in passages as long as its context,
 * one behind the other, what is left at the end left out; p is for so many
 * passages at a time.
 * Refuses a pass of other lengths than the context or with dropout, a text
 * that is not longer than its texts, and a byte that is not below the
 * vocabulary. */
float gpt_loss(const Gpt *g, const char *text, int bytes, GptPass *p,
               float *shares);
