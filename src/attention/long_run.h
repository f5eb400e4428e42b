/*
## A long run: `long_run.c`, `trained.c` {#header-long-run}
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

/* The loss of the model as it is, on as many bytes of a text as are held
 * out: of `held_out`, or of `prose`, which it learns from. Refuses what
 * gpt_loss refuses. Writes into t->shares[0]. */
float gpt_run_loss(const GptTraining *t, const char *text);

/* What the run has kept in src/trained.h: its sizes; the machine, with
 * threads, and the day; how many seconds it took in all, and how many
 * tokens it learned from in a second of its steps. Then so many rows: a
 * step, the loss on as much of the text that it learns from as is held out,
 * and that on the text held out; and what the model writes after that step.
 */
extern const GptTraining trained_run;
extern const char trained_on[], trained_at[];
extern const int trained_seconds, trained_tokens_per_second, trained_count;
extern const float trained_losses[][3];
extern const char *const trained_samples[];
