/*
## The log of a long run: `trained.c` {#header-trained}
*/

#pragma once

#include "attention/gpt_training.h"

/* What a run writes down at some of its steps: the step, the loss on as
 * much of the text that it learns from as is held out, and that on the text
 * held out; the largest scores HEAD_BEFORE and HEAD_AFTER of its heads,
 * chapter 24; and what the model writes behind "The ". */
typedef struct {
    float step, loss, held_out, before, after;
    const char *sample;
} TrainedRow;

/* Of some passages, how many bytes of each stand word for word in the text
 * that was learned from: the mean, the most, and the longest such part. */
typedef struct {
    float mean, most;
    const char *longest;
} Copies;

/* What a run has kept of itself. */
enum { TRAINED_ROWS = 41, TRAINED_BACK = 5 };
typedef struct {
    GptTraining run; /* its sizes; `bytes` are those that it learns from */
    int held_out;    /* bytes */
    const char *on, *at; /* the machine, with threads, and the day */
    int seconds, tokens_per_second; /* in all; and of its steps alone */
    TrainedRow row[TRAINED_ROWS];
    int best;         /* the row with the least loss on text held out */
    float tables[2];  /* table_losses, on the same bytes as `loss` */
    Copies copied[2]; /* by ten passages held out; by the last samples */

    /* Of the best model, what chapter 24's head_scores finds: the losses of
     * passages that are read for the first time and for the second, and the
     * scores of all heads; and their weights one token back, two, and so
     * on, as heads_back finds them. */
    float loss[2];
    float (*heads)[4], (*back)[TRAINED_BACK]; /* of all heads */
    char *text; /* of the file, where the words stand */
} Trained;

/* Reads the log of a long run, such as src/data/trained.tsv, and frees it.
 * Refuses any other file, and says in which line it differs. */
Trained trained_read(const char *path);
void trained_free(Trained *t);
