/*
## A long run: `long_run.c` {#header-long-run}
*/

#pragma once

#include "attention/gpt_training.h"
#include "attention/prose.h"

/* The sizes of the run that chapter 23 tells of: its model, the texts of a
 * batch, and its steps. */
extern const GptTraining gpt_long_run;

/* Makes a training with these sizes of another, on this text, with the
 * settings of the long run and from seed 123. Refuses what gpt_init
 * refuses, texts below 1, and a text that is not longer than the
 * context. */
void gpt_run_init(GptTraining *t, const GptTraining *sizes,
                  const PlainText *text);

/* Draws the next batch, as gpt_training_batch does, and sets the rate for a
 * step with it, which rises to 0.004 in the first tenth of all steps and
 * falls to 0.0001. */
void gpt_run_batch(GptTraining *t, int *ids, int *targets);

/* How many bytes the longest part of a text has that stands in a source
 * byte for byte, and in *first where in the text it begins; of several, the
 * first. 0 and 0 where no byte does.
 * Python: difflib's SequenceMatcher.find_longest_match. */
int longest_copy(int n, const char text[n], int m, const char source[m],
                 int *first);

/* The losses of two tables on the first n bytes of a text: of one that
 * knows how often each byte occurs in the text, and of one that knows how
 * often each follows each. Refuses an n that is not from 2 to below the
 * text's length; the text must be ASCII. */
void table_losses(const PlainText *text, int n, float loss[2]);
