/*
## A long run: `long_run.c` {#header-long-run}
*/

#pragma once

#include "attention/gpt_training.h"
#include "attention/prose.h"

/* The sizes of the run that chapter 23 tells of: its model, the texts of a
 * batch, and its steps. */
extern const GptTraining gpt_long_run;

/* Makes a training with these sizes of another, on the book's prose and
 * from seed 123. Refuses what gpt_init refuses, texts below 1, and more of
 * them than the prose has. */
void gpt_training_init_prose(GptTraining *t, const GptTraining *sizes);

/* Draws the next batch, as gpt_training_batch does, and sets the rate for a
 * step with it, which rises to 0.004 in the first tenth of all steps and
 * falls to a tenth of that. */
void gpt_run_batch(GptTraining *t, int *ids, int *targets);

/* The loss of the model as it is, on as many bytes of a text as are held
 * out: of held_out(), or of prose(), which it learns from. Refuses what
 * gpt_loss refuses. Writes into t->shares[0]. */
float gpt_run_loss(const GptTraining *t, const PlainText *text);
