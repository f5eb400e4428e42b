/*
## The log of a long run: `trained.c` {#header-trained}
*/

#pragma once

#include "attention/gpt_training.h"

/* What a run writes down at some of its steps: the step, the loss on as
 * much of the text that it learns from as is held out, and that on the text
 * held out; the largest scores HEAD_BEFORE and HEAD_AFTER of its heads,
 * chapter 24; and what the model writes. */
typedef struct {
    float step, loss, held_out, before, after;
    const char *sample;
} TrainedRow;

/* What a run has kept of itself: its sizes; the machine, with threads, and
 * the day; how many seconds it took in all, and how many tokens it learned
 * from in a second of its steps; its rows, and which has the least loss on
 * the text held out. Of the model after that step, what chapter 24's
 * head_scores finds: the losses of passages that are read for the first
 * time and for the second, and the scores of all heads; and their weights
 * one token back, two, and so on, as heads_back finds them. */
enum { TRAINED_ROWS = 41, TRAINED_HEADS = 15, TRAINED_BACK = 5 };
typedef struct {
    GptTraining run;
    const char *on, *at;
    int seconds, tokens_per_second;
    TrainedRow row[TRAINED_ROWS];
    int best;
    float loss[2];
    float heads[TRAINED_HEADS][4], back[TRAINED_HEADS][TRAINED_BACK];
    char *text; /* of the file, where the words stand */
} Trained;

/* Reads the log of a run of gpt_long_run's model, such as the long run's,
 * src/data/trained.tsv; the same with dropout's, trained-dropout.tsv; and
 * that of a shorter one in which every second text repeats itself,
 * trained-repeats.tsv. trained_free frees it. Refuses any other file, and
 * says in which line it differs. */
Trained trained_read(const char *path);
void trained_free(Trained *t);
