/* Inside a trained model: each of its tables, for a text that is typed, and
 * how each number of them was made, back to the characters. It computes
 * with the book's functions alone. inside_steps.c makes a list of steps of
 * the model, and takes them; inside_explain.c explains; inside_draw.c draws
 * for the printed page; inside.c reads the settings and prints. */

#pragma once

#include "page_say.h"
#include "attention.h"

/* ---- Steps. Each fills a table from those of earlier steps. */

typedef enum {
    PARAMETER, /* nothing: training has found it */
    ROW_OF,    /* of a table, the rows of a list of ids */
    BESIDE,    /* the rows of two tables, side by side */
    SUM,       /* of two tables */
    NORM,
    LINEAR,
    SCORES, /* head by head, divided and masked */
    WEIGHTS,
    CONTEXT, /* of all heads, side by side */
    GELU,
    SHARES, /* of the tokens that may come next */
    BEST    /* those with the largest shares, of the last row alone */
} Made;

/* A table: what makes it, and of which others; a parameter that belongs to
 * a step is among these. `heads` is 0 where heads have no tables of their
 * own. */
typedef struct {
    Made made;
    char id[24];
    char label[60];
    int heads, n, m;
    const char *rows, *columns; /* lists of names, or "numbers" */
    int from[3];
    const void *layer; /* Norm or Linear */
    const int *ids;    /* [n], of ROW_OF and BEST */
    float *x;          /* [heads][n][m] */
} Step;

/* Chapter 23's kind of model; and chapter 21's two, of one head, whose texts
 * are letters that come again, and sentences with a blank for the verb. */
typedef enum { LANGUAGE, REPEATED, VERBS, STAGES } Stage;

enum { MOST_TOKENS = 128, MOST_LAYERS = 4, MOST_HEADS = 8, NAME = 12 };
enum { MOST_KNOWN = 128 }; /* of tokens that there are */
enum { MOST_STEPS = 20 + 32 * MOST_LAYERS, BEST_COUNT = 10 };

typedef struct {
    /* Settings. */
    Stage stage;
    const char *words;
    int write, top_k;
    uint64_t seed;
    double temperature;
    const char *draw; /* "" for nothing */
    int is_short;     /* for a reader at a terminal, not for a page */
    int is_off[MOST_LAYERS][MOST_HEADS];
    float *columns[MOST_LAYERS][MOST_HEADS]; /* that a head has exchanged */
    int block, head; /* of which the weights are shown */
    Mask mask;
    int is_cached;

    Gpt g;         /* of a model of chapter 21, what it has of these */
    Model m;       /* chapter 21's, or nothing */
    GptBlock only; /* the block of a model of chapter 21 */
    int given, n;  /* tokens that were typed, and all */
    int ids[MOST_TOKENS], places[MOST_TOKENS], before[MOST_TOKENS];
    char name[MOST_TOKENS][NAME];      /* of each token of the text */
    char vocabulary[MOST_KNOWN][NAME]; /* of each token that there is */
    int best[BEST_COUNT];              /* ids */
    Step step[MOST_STEPS];
    int steps;
    int weights[MOST_LAYERS], logits, next; /* steps */
} Inside;

/* Reads the model of a stage from a file. Refuses one that is too large, or
 * of another kind. */
void inside_load(Inside *in, const char *path);

/* From settings and a model to steps, and to their tables. Refuses a text of
 * other characters or words than the model has, one that is too long, and a
 * sentence without a blank at its end. */
void inside_begin(Inside *in);
void inside_compute(Inside *in);

/* Switches on the heads that are off, and off again. */
void inside_switch(Inside *in);

/* Draws STAGE-DRAW.svg for the printed page: what the last token looks at in
 * the head that is shown, or what may come next; with all heads, and without
 * those that are off, which `off` names. The tables stay as they are. */
void inside_draw(Inside *in, const char *stage, const char *off);

void inside_free(Inside *in);

/* The mean loss of the tokens that were typed, each from those before. */
float inside_loss(const Inside *in);

/* Row i of a step's table, of head h where each has one. */
const float *inside_row(const Step *s, int h, int i);

/* An entry of a step's table; with an i or j of ALL a column or a row, and
 * with a j of SOME these entries of a row. */
enum { ALL = -1, SOME = -2, TOLD = 8 };
typedef struct {
    int step, h, i, j;
    int count, some[TOLD];
} Place;

/* Prints how an entry was made; adds to the places that it came from, of
 * which there are then *count. */
enum { MOST_PLACES = 1000 };
void inside_explain(const Inside *in, Place p, int *count,
                    Place place[MOST_PLACES]);
