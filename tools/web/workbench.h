/* The workbench: one attention, of which every number can be changed and
 * every result asked how it was made. It computes with the book's functions
 * alone. Each file calls only files that stand before it here:
 * workbench_stages.c says what each chapter begins with, and
 * workbench_compute.c computes; workbench_say.c has the lines in which
 * workbench_explain.c explains, and workbench_figures.c draws;
 * workbench.c reads the settings and prints. */

#pragma once

#include "attention.h"

/* What a page has room for. A table of TABLE_ROWS times 3 normal numbers is filled
 * in whole blocks, so it begins as that of 50,000 rows in chapter 5 does. */
enum { MOST_WORDS = 12, MOST_HEADS = 8, MOST_SIZE = 8, MOST_OUT = 16 };
enum { TABLE_ROWS = 32 };

/* ---- Settings */

typedef enum {
    KEY_WORDS,
    KEY_OTHERS,
    KEY_WORD,
    KEY_SCORES, /* score1, score2, ... */
    KEY_SEED,
    KEY_HEADS,
    KEY_D_K,
    KEY_D_V,
    KEY_D_OUT,
    KEY_SCALE,
    KEY_P,
    KEY_HIDE,
    KEY_DROPOUT_SEED,
    KEY_MASK,
    KEY_WINDOW,
    KEYS
} Key;

enum { SCALE_ROOT = 0 }; /* any other number is the divisor itself */
enum { SEE_ALL, SEE_CAUSAL, SEE_WINDOW };
enum { HIDE_SCORES, HIDE_WEIGHTS };

/* ---- Tables */

typedef enum {
    EMBEDDINGS,
    OTHERS,
    ALIKE,
    W_QUERY,
    W_KEY,
    W_VALUE,
    QUERY,
    KEY,
    VALUE,
    SCORES,
    SCALED,
    MASK,
    MASKED,
    EXPONENTIALS,
    WEIGHTS,
    HIDDEN,
    RENORMALIZED,
    KEPT,
    DROPPED,
    PARTS,
    CONTEXT,
    JOINED,
    W_OUT,
    B_OUT,
    OUT,
    TABLES
} TableId;

/* What a table has a row or a column for. */
typedef enum {
    PER_ONE,   /* there is a single one */
    PER_ASKER, /* the word that asks, where it is a single one */
    PER_HEAD,
    PER_WORD,  /* that asks */
    PER_OTHER, /* word that is asked */
    PER_X,     /* entry of an embedding */
    PER_Y,     /* entry of an embedding of the second text */
    PER_K,     /* entry of a query or key */
    PER_V,     /* entry of a value */
    PER_ALL_V, /* entry of all heads' values, side by side */
    PER_OUT,   /* entry of the output */
    PERS
} Per;

/* ---- Stages */

typedef enum { BY_HAND, BY_RAND, BY_LINEAR, BY_NONE } Draw;

/* A text, and the numbers of the words that have some written by hand. The
 * rows of others are drawn: as chapter 5 does, or, of strangers, after the
 * matrices. */
typedef struct {
    const char *words;
    int d; /* entries of an embedding */
    int is_strange;
    int chapter; /* that has the hand-made numbers */
    int known;
    const char *const *word;
    const float *row; /* [known][d] */
} Text;

typedef struct {
    const char *name;
    const char *settings; /* its keys, each with a blank before and after */
    Text text[2];         /* the second one without words: asks itself */
    const char *word;     /* the one that asks or is followed, or NULL */
    Draw draw;            /* where the matrices come from */
    const float *by_hand[3];
    double number[KEYS];     /* defaults */
    const char *names[PERS]; /* of entries, where they mean something */
} Stage;

const Stage *bench_stage(const char *name);
const char *bench_stage_name(int i);

/* ---- The bench */

typedef struct {
    const Stage *stage;
    const char *words[2];    /* the texts, as given */
    const char *word;        /* as given, or NULL */
    double number[KEYS];     /* the values of the other settings */
    float score[MOST_WORDS]; /* NAN: as computed */

    int texts; /* 1: the text asks itself */
    int n, m;  /* words that ask, words that are asked */
    int asking;
    Word text[2][WORDS_MAX];
    const char *name[2][WORDS_MAX];
    int id[2][WORDS_MAX];       /* in the vocabulary */
    int is_known[2][WORDS_MAX]; /* its numbers were written by hand */
    double divisor;             /* of the scores */

    Attention a; /* without an output layer, which is */
    Linear out;
    Trace t;
    float *x[TABLES]; /* where each table is: in these, or in the block */
    float *memory;
} Bench;

/* The shape of a table on this bench: how many, and what for. */
typedef struct {
    Per heads, rows, columns;
    int h, n, m;
} Shape;

/* A table's name, and what its printed label says. */
typedef struct {
    const char *id, *label;
    Per heads, rows, columns;
} Kind;
extern const Kind bench_kind[TABLES];

int bench_has(const Bench *b, TableId id);
Shape bench_shape(const Bench *b, TableId id);
int bench_whole(const Bench *b, Key key);

/* Row i of a table, of head h if each head has one; NULL if there is no such
 * table. */
const float *bench_row(const Bench *b, TableId id, int h, int i);

/* The table softmax is taken of; that which the values are mixed with. */
TableId bench_before_softmax(const Bench *b);
TableId bench_mixing(const Bench *b);

/* The list whose names rows or columns bear, or "numbers"; and the names
 * of a text's words for the figures. */
const char *bench_list(const Bench *b, Per per);
const char *const *bench_others(const Bench *b);

/* From settings to tables. bench_embed fills text k's rows; strangers go
 * on with r. */
void bench_set(Bench *b);
void bench_words(Bench *b);
void bench_embed(Bench *b, int k, Random *r);
void bench_compute(Bench *b);
void bench_free(Bench *b);
