/* What the workbench and the look inside a trained model share: a text goes
 * through a list of steps, each of which fills a table with the book's own
 * functions, and any entry of any table can be asked how it was made.
 *   steps.c    the steps, and how they are taken
 *   explain.c  how an entry was made, with the lines of say.c
 *   stages.c   reads the settings, and prints what a page reads
 * workbench.c has the chapters' attentions, whose numbers are drawn or
 * written by hand, and inside.c the models that have learned. */

#pragma once

#include "attention.h"

/* What a page has room for. */
enum { MOST_WORDS = 12, MOST_SIZE = 8, MOST_OUT = 16 };
enum { MOST_TOKENS = 128, MOST_LAYERS = 4, MOST_HEADS = 8 };
enum { MOST_STEPS = 160, BEST_COUNT = 10 };

/* ---- Settings */

typedef enum {
    KEY_WORDS,
    KEY_OTHERS,
    KEY_WORD,
    KEY_WRITE,
    KEY_TEMPERATURE,
    KEY_TOP_K,
    KEY_SCORES, /* score1, score2, ... */
    KEY_SEED,
    KEY_HEADS,
    KEY_D_K,
    KEY_D_V,
    KEY_D_OUT,
    KEY_SCALE,
    KEY_HEAD, /* that is shown */
    KEY_P,
    KEY_HIDE,
    KEY_DROPOUT_SEED,
    KEY_MASK,
    KEY_WINDOW,
    KEY_OFF,
    KEYS
} Key;

enum { SCALE_ROOT = 0 }; /* any other number is the divisor itself */
enum { SEE_ALL, SEE_CAUSAL, SEE_WINDOW, SEE_NEXT };
enum { HIDE_SCORES, HIDE_WEIGHTS };

/* ---- Stages: what one can begin with */

typedef enum { BY_HAND, BY_RAND, BY_LINEAR, BY_NONE, BY_TRAINING } Draw;

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

/* Lists of names, for rows and columns. Where entries of embeddings,
 * queries and values mean nothing, their lists are empty. */
typedef enum {
    NUMBERS,
    WORDS,
    OTHERS,
    ASKING, /* the word that asks, where it is a single one */
    OF_X,
    OF_Y,
    OF_K,
    OF_V,
    TOKENS, /* all that there are */
    BEST,
    LAST,
    HEADS,
    LISTS
} ListId;

typedef struct {
    int n;
    const char *name[MOST_TOKENS];
} List;

typedef struct {
    const char *name;
    const char *settings; /* its keys, each with a blank before and after */
    Text text[2];         /* the second one without words: asks itself */
    const char *word;     /* the one that asks or is followed, or NULL */
    Draw draw;            /* where the matrices come from */
    const float *by_hand[3];
    double number[KEYS];      /* defaults, where they are not the usual */
    const List *names[LISTS]; /* of entries, where they mean something */
} Stage;

/* ---- Steps */

typedef enum {
    PARAMETER, /* drawn, written by hand, or found by training */
    ROW_OF,    /* of a table, the rows of a list of ids */
    BESIDE,    /* the rows of two tables, side by side */
    SUM,       /* of two tables */
    NORM,
    LINEAR,
    ALIKE, /* scores without roles */
    SCORES,
    SCALED,
    MASK, /* 1 for what may be seen */
    MASKED,
    EXPONENTIALS,
    WEIGHTS,
    HIDDEN, /* weights times the mask */
    RENORMALIZED,
    KEPT, /* by dropout: 1, or 0 */
    DROPPED,
    PARTS, /* what each word adds to a mixture */
    CONTEXT,
    JOINED, /* the heads' contexts, side by side */
    GELU,
    SHARES, /* of the tokens that may come next */
    LIKELY, /* those with the largest shares, of the last row alone */
    MAKERS
} Made;

typedef struct Bench Bench;
typedef struct Step Step;

/* An entry of a step's table; with an i or j of ALL a column or a row, and
 * with a j of SOME these entries of a row. */
enum { ALL = -1, SOME = -2, TOLD = 16 };
typedef struct {
    int step, h, i, j;
    int count, some[TOLD];
} Place;

/* A table: what makes it, and of which others; a parameter that belongs to
 * a step is among these. `heads` is 0 where heads have no tables of their
 * own. */
struct Step {
    Made made;
    char id[24], label[60];
    int heads, n, m;
    ListId rows, columns;
    int from[3];
    float *x; /* [heads][n][m] */
    int is_own;
    int first;         /* row of from[0] that row 0 is made of */
    int *ids;          /* [n] of ROW_OF, [m] of LIKELY */
    int is_turned;     /* a matrix that is written x W */
    int into;          /* the step that a parameter belongs to, or 0 */
    int drawn, apart;  /* the stream's number with which a parameter begins,
                       * and how far apart those of two heads are */
    double limit;      /* of what was drawn; 0: from 0 to 1 */
    const int *is_off; /* [heads], of an output layer */
    /* What one program alone has: the steps of a model, and how an
     * embedding came about. */
    void (*take)(Bench *b, const Step *s);
    void (*explain)(const Bench *b, const Step *s, Place p);
};

/* ---- A workbench as it is set, and its tables */

struct Bench {
    const Stage *stage;
    const char *given[KEYS]; /* texts, as given, or NULL */
    double number[KEYS];     /* the values of all other settings */
    float score[MOST_WORDS]; /* NAN: as computed */
    int most;                /* of the words or tokens of a text */
    const char *unit;        /* "words" or "characters" */

    int texts;  /* 1: the text asks itself */
    int n, m;   /* words that ask, words that are asked */
    int asking; /* the word that does, where it is a single one */
    List list[LISTS];
    double divisor; /* of the scores */
    Random dropping;
    Step step[MOST_STEPS];
    int steps;
    int mask, weights[MOST_LAYERS]; /* steps */
    int drawn;                      /* how many numbers, so far */
    Attention a;
    float *output; /* parameters of an output layer of its own */

    /* Of words with drawn numbers. */
    Word word[2][WORDS_MAX];
    int id[2][WORDS_MAX];       /* in the vocabulary */
    int is_known[2][WORDS_MAX]; /* its numbers were written by hand */

    /* Of a model that has learned: chapter 23's kind; or chapter 21's,
     * whose only block looks like one of these. */
    Gpt g;
    Model model;
    GptBlock only;
    int ids[MOST_TOKENS], places[MOST_TOKENS], before[MOST_TOKENS];
    int typed;               /* tokens, without those that were written */
    Word token[MOST_TOKENS]; /* names of all that there are */
    Word head_name[MOST_LAYERS * MOST_HEADS];
    int best[BEST_COUNT]; /* ids */
    int block, head;      /* of which the weights are shown */
    int is_off[MOST_LAYERS][MOST_HEADS];
    float *columns[MOST_LAYERS][MOST_HEADS]; /* that a head exchanged */
    int logits, next;                        /* steps */
};

int whole_setting(const Bench *b, Key key);
int mask_sees(const Bench *b, int i, int j);

/* The step of that name, or NULL; row i of its table, of head h where each
 * has one. */
const Step *step_named(const Bench *b, const char *id);
float *step_row(const Step *s, int h, int i);

/* Add a step, to a block or with -1 to the whole, and return its index: any
 * one; a table of the shape of step a, made of it and of step c; a layer
 * with its parameters, which has several heads unless `heads` is 0; and all
 * that attention does, from words x and y to the contexts of all heads, side
 * by side if that is asked for. */
int step_add(Bench *b, int block, const char *id, const char *label,
             Step s);
int step_add_like(Bench *b, int block, const char *id, const char *label,
                  Made made, int a, int c);
int step_add_norm(Bench *b, int block, const char *id, const char *label,
                  int x, const Norm *l);
int step_add_linear(Bench *b, int block, const char *id, const char *label,
                    int x, const Linear *l, Step s);
int step_add_heads(Bench *b, int block, int x, int y, const Attention *a,
                   int is_joined);
int step_add_weights(Bench *b, int block, int scores);

/* Fills the tables of all steps. */
void steps_take(Bench *b);

/* Prints how an entry was made; adds to the places that it came from, of
 * which there are then *count. */
enum { MOST_PLACES = 1000 };
void step_explain(const Bench *b, Place p, int *count,
                  Place place[MOST_PLACES]);

/* "entry 2", or "entry 2 (deed)" where entries have names. */
const char *entry_name(const Bench *b, ListId list, int k);

/* ---- Numbers in an explanation */

/* A number with as many decimals as print.c shows, and without a sign where
 * it rounds to 0; and "+ 0.5000" or "- 0.5000". */
const char *say(double x);
const char *say_added(double x);

/* Print a line: the sum of x; a product, and behind it, unless that is NULL,
 * a name; a quotient. */
void say_sum(int n, const float x[n], double sum);
void say_product(float a, float c, const char *name);
void say_quotient(double a, double c, float result);

/* ---- A program: its stages, and what only it does. `begin` goes from
 * settings to steps, `note` prints notes, `draw` what is behind the tables,
 * `end` gives back what is not the steps'. */
typedef struct {
    int stages;
    const Stage *stage; /* the first unless another is given */
    void (*begin)(Bench *b);
    void (*note)(const Bench *b);
    void (*draw)(const Bench *b);
    void (*end)(Bench *b);
} Program;

extern const Program program; /* workbench.c has one, inside.c the other */

/* Figures of a stage. */
void workbench_draw(const Bench *b);
