/* The workbench: one attention, of which every number can be changed and
 * every result asked how it was made. It computes with the book's functions
 * alone. workbench.c reads the settings and prints; workbench_stages.c says
 * what each chapter begins with; workbench_compute.c computes;
 * workbench_figures.c draws; workbench_explain.c explains, in the lines of
 * workbench_say.c. */

#pragma once

#include "attention.h"

/* What a page has room for. A table of ROWS times 3 normal numbers is filled
 * in whole blocks, so it begins as that of 50,000 rows in chapter 5 does. */
enum { MOST_WORDS = 12, MOST_HEADS = 8, MOST_SIZE = 8, MOST_OUT = 16 };
enum { ROWS = 32 };

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

typedef struct Bench Bench;

typedef struct {
    const char *name;
    const char *settings; /* its keys, each with a blank before and after */
    Text text[2];         /* the second one without words: asks itself */
    const char *word;     /* the one that asks or is followed, or NULL */
    Draw draw;            /* where the matrices come from */
    const float *by_hand[3];
    double number[KEYS];     /* defaults */
    const char *names[PERS]; /* of entries, where they mean something */
    void (*figures)(const Bench *b);
} Stage;

const Stage *bench_stage(const char *name);
const char *bench_stage_name(int i);

/* ---- The bench */

struct Bench {
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
};

/* The shape of a table on this bench: how many, and what for. */
typedef struct {
    Per heads, rows, columns;
    int h, n, m;
} Shape;

/* An entry; or, where one of the numbers is -1, all of them. */
typedef struct {
    TableId id;
    int h, i, j;
} Cell;

/* A table's name, what its printed label says, and who explains an entry. */
typedef struct {
    const char *id, *label;
    Per heads, rows, columns;
    void (*explain)(const Bench *b, Cell c);
} Kind;
extern const Kind bench_kind[TABLES];

int bench_has(const Bench *b, TableId id);
Shape bench_shape(const Bench *b, TableId id);
int bench_size(const Bench *b, Per per);
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

/* What an explanation is made of. The word that asks in row i, and that which
 * is asked in column j; entry [h][i][j] of a table. */
const char *bench_asks(const Bench *b, int i);
const char *bench_asked(const Bench *b, int j);
float bench_entry(const Bench *b, TableId id, int h, int i, int j);

/* " in head 2", where there are several; "entry 2", or "entry 2 (deed)"
 * where entries have names, and these names, or NULL. */
const char *bench_in_head(const Bench *b, int h);
const char *bench_entry_name(const Bench *b, Per per, int k);
const char *const *bench_meanings(const Bench *b, Per per);

/* A list of numbers that lie so far apart; a row and a column of a table. */
typedef struct {
    const float *first;
    int step;
} List;
List bench_row_of(const Bench *b, TableId id, int h, int i);
List bench_column_of(const Bench *b, TableId id, int h, int j);

/* A number with as many decimals as print.c shows, and without a sign where
 * it rounds to 0; its value as shown; and "+ 0.5000" or "- 0.5000". */
const char *bench_say(double x);
double bench_shown(double x);
const char *bench_add(double x);

/* Prints how an entry was made; notes cells as a source of it. */
void bench_explain(const Bench *b, Cell c);
void bench_from(TableId id, int h, int i, int j);

/* Notes where what is shown gives another result: in the end it is said that
 * more is used. */
void bench_remark(double shown, double result);

/* Print a line: the sum of x; a product; a quotient. */
void bench_sum(int n, const float x[n], double sum);
void bench_product(float a, float c);
void bench_quotient(double a, double c, float result);

/* Prints the products of two lists, one a line, each with its mark and name
 * unless the names are NULL, and the bias unless that is NULL; then the sum
 * of all. */
void bench_products(int n, List x, List y, const char *mark,
                    const char *const name[n], const float *bias);

/* Says that number `before` + 1 was drawn from the seed, between -limit and
 * limit, or between 0 and 1 if the limit is 0. */
void bench_drawn(const Bench *b, int before, double limit);

/* What the figures of a stage are, and @figure for each. */
void bench_draw_shares(const Bench *b);
void bench_draw_roles(const Bench *b);
void bench_draw_scale(const Bench *b);
void bench_draw_texts(const Bench *b);
void bench_draw_translation(const Bench *b);
void bench_draw_mask(const Bench *b);
void bench_draw_dropout(const Bench *b);
void bench_draw_heads(const Bench *b);
void bench_draw_output(const Bench *b);
