/*
## Chapter 7, one object {#header-self-attention}
*/

#pragma once

#include <stddef.h>

#include "attention/B_random.h"
#include "support/memory.h"

/* What an attention computes: the pages print it, and training reads it.
 * A table is a `float *`, a pointer to its entries, row after row. C wants
 * to know the width of a struct's member when it compiles, and the width of
 * a table is known only when the program runs. The tables lie one
 * after another in one array. Each forward says which of them it fills. */
typedef struct {
    int n, m;       /* tokens that look, and tokens that they look at */
    int d_k, d_v;   /* entries of queries and keys, and of values */
    float *query;   /* [n][d_k] */
    float *key;     /* [m][d_k] */
    float *value;   /* [m][d_v] */
    float *scores;  /* [n][m], divided by the root of d_k */
    float *weights; /* [n][m] */
    float *context; /* [n][d_v] */
    float *memory;  /* the array with all tables */
    size_t count;   /* how many numbers it holds */

    /* From chapter 8 on. Chapter 9 masks the scores. From chapter 12 on,
     * scores, weights and contexts are of all heads, one after another, and
     * queries, keys and values have their heads side by side. */
    int n_heads; /* 1 for one head */
    int d_out;   /* columns of `out`, chapter 13; 0: there are none */

    /* From chapter 11 on: */
    double dropout_rate; /* 0 if nothing was to be dropped */
    float *keep_mask;    /* [n_heads][n][m], 1 where dropout keeps */
    float *dropped;      /* [n_heads][n][m], weights after dropout */

    /* From chapter 13 on, query, key and value head by head, the contexts
     * of all heads side by side, and what the output layer makes of it: */
    float *head_query; /* [n_heads][n][d_k] */
    float *head_key;   /* [n_heads][m][d_k] */
    float *head_value; /* [n_heads][m][d_v] */
    float *joined;     /* [n][n_heads * d_v] */
    float *out;        /* [n][d_out], or NULL */

    /* From chapter 19 on, and 0 until then: with texts above 0, so many
     * texts of n tokens that ask and m that are asked, for functions that
     * do without tables. Then query, key, value, joined and out have the
     * rows of all texts, one text after the other; the log-sum-exps take
     * the place of scores and weights; and all other tables are NULL. */
    int texts;
    float *log_sum_exp; /* [texts][n_heads][n] */
} Trace;

/* Computes scores, weights and context from the queries, keys and values of
 * a trace: attention. Refuses a trace for several heads, with an output, or
 * without tables. */
void attend_trace(Trace *t);

/*
All that follows has linear layers instead of plain matrices:
*/

/* A linear layer: a matrix with a row for each output, and a bias. The
 * numbers belong to the module that the layer is a part of. */
typedef struct {
    int d_in, d_out;
    float *weight; /* [d_out][d_in] */
    float *bias;   /* [d_out], or NULL */
} Linear;

/* The numbers that a linear layer begins with: its weight, then, unless it
 * is NULL, its bias of d_out entries.
 * PyTorch: nn.Linear(d_in, d_out, bias=...), to the last bit. */
void linear_fill(Random *r, int d_in, int d_out, float weight[d_out][d_in],
                 float *bias);

/* For each row of x: its dot product with each row of the weight, plus the
 * bias if there is one. PyTorch: F.linear(x, weight, bias). */
void linear_forward(const Linear *l, int n, const float x[n][l->d_in],
                    float out[n][l->d_out]);

/* An attention: its sizes and settings, and its parameters, which lie one
 * after another in one array, in the order of the layers, each weight
 * before its bias. */
typedef struct {
    int d_x;       /* entries of a token */
    int d_k, d_v;  /* entries of queries and keys, and of values */
    int has_bias;  /* whether these three have a bias: */
    Linear query;  /* d_x to d_k */
    Linear key;    /* d_x to d_k */
    Linear value;  /* d_x to d_v */
    float *memory; /* the array with all parameters */
    size_t count;  /* how many there are */

    /* From chapter 8 on. The layers are from d_x or d_y to n_heads times
     * d_k or d_v. */
    int d_y;     /* entries of a token that is looked at; here d_x */
    int n_heads; /* 1 for one head */

    /* From chapter 11 on, and 0 until then: */
    int context_length; /* the most tokens of a text; 0: any number */
    double dropout_rate;

    /* From chapter 13 on, and 0 until then: */
    int d_out;        /* columns of the result of `out`; 0: no such layer */
    int has_out_bias; /* whether it has a bias */
    Linear out;       /* n_heads * d_v to d_out */
} Attention;

/*
And what it computes:
*/

/* The queries of n tokens x, and the keys and values of m tokens y, those
 * of all heads side by side. Refuses what attention_check refuses, and two
 * widths if x is y.
 * PyTorch: query(x), key(y), value(y), three times nn.Linear. */
void attention_project(const Attention *a, int n, int m,
                       const float x[n][a->d_x], const float y[m][a->d_y],
                       Trace *t);

/* One head for self-attention, with three layers that are drawn in the
 * order query, key, value. Refuses what attention_init refuses.
 * Raschka 2024, section 3.4: SelfAttention_v2(d_in, d_out, qkv_bias). */
void self_attention_init(Attention *a, Random *r, int d_in, int d_k,
                         int d_v, int has_bias);

/* Every one of n tokens attends to all, with one head and no output layer.
 * Fills the tables from query to context. Refuses what attention_check
 * refuses, several heads, an output layer, and two widths.
 * Raschka 2024, section 3.4: SelfAttention_v2. */
void self_attention_forward(const Attention *a, int n,
                            const float x[n][a->d_x], Trace *t);

/* The weights of the layers as matrices for project_qkv, which with these
 * and attention computes the same. Refuses what version_1_check refuses.
 * Raschka 2024, section 3.4: from SelfAttention_v2 to SelfAttention_v1. */
void copy_v2_to_v1(const Attention *from,
                   float w_query[from->d_x][from->d_k],
                   float w_key[from->d_x][from->d_k],
                   float w_value[from->d_x][from->d_v]);

/* Row i of permuted is row order[i] of x. Refuses an order that does not
 * name each row once. PyTorch: x[order]. */
void permute_tokens(int n, int d, const int order[n], const float x[n][d],
                    float permuted[n][d]);
