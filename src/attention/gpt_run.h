/*
## A long run: `gpt_run.c`, `trained.c` {#header-trained}
*/

#pragma once

#include "attention/21_gpt.h"
#include "attention/gpt_training.h"
#include "attention/prose.h"

/* The sizes of the run that chapter 21 tells of: its model, the texts of a
 * batch, and its steps. */
extern const GptTraining gpt_long_run;

/* Makes a training with these sizes of another, on the book's prose and
 * from seed 123. Refuses what gpt_init refuses, texts below 1, and more of
 * them than the prose has. */
void gpt_training_init_prose(GptTraining *t, const GptTraining *sizes);

/* Its next batch and step, at a rate that rises to 0.004 in the first tenth
 * of all steps and falls to a tenth of that. Returns the loss. Refuses what
 * rate_at refuses, and a byte that is not below the vocabulary. */
float gpt_run_step(GptTraining *t);

/* The loss of the model as it is, on as many bytes of a text as are held
 * out: of `held_out`, or of `prose`, which it learns from. Refuses what
 * gpt_loss refuses. Writes into t->shares[0]. */
float gpt_run_loss(const GptTraining *t, const char *text);

/* Takes all steps, or what is left of them where the file at path has some.
 * It says on standard error how far it is, and saves itself there after the
 * first step, each tenth of the way, when Ctrl-C ends it, and at the end.
 * When all are done, it writes src/trained.h, or another log. Refuses,
 * before the first step, steps below 1, one path for both, files that it
 * cannot read or write, a training that gpt_run has not saved or that is of
 * other sizes, and one that has done more than sizes->steps. Refuses losses
 * that are not finite, when they come. */
void gpt_run(const GptTraining *sizes, const char *path,
             const char *log_path);

/* What a model writes behind "The ", n bytes in all, with a temperature of
 * 0.8 and seed 123. Ends of paragraphs become bars, and what cannot be
 * printed question marks. Refuses more bytes than the context and one, and
 * a vocabulary without those of "The ". */
void gpt_sample(const Gpt *g, int n, char text[n + 1]);

/* What it has kept in src/trained.h: its sizes; the machine, with threads,
 * and the day; how many seconds it took in all, and how many tokens it
 * learned from in a second of its steps. Then so many rows: a step, the
 * loss on as much of the text that it learns from as is held out, and that
 * on the text held out; and what the model writes after that step. */
extern const GptTraining trained_run;
extern const char trained_on[], trained_at[];
extern const int trained_seconds, trained_tokens_per_second, trained_count;
extern const float trained_losses[][3];
extern const char *const trained_samples[];
