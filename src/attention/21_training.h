/*
## Chapter 21, training a head {#header-training}
*/

#pragma once

#include <stddef.h>

#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/20_optimizers.h"
#include "attention/B_random.h"

/* A random whole number from 0 to below range. Refuses a range below 1.
 * PyTorch: torch.randint(range, (1,)). */
int random_below(Random *r, int range);

/* The numbers 0 to n - 1 in random order.
 * PyTorch: torch.randperm(n), for an n below 214,748,364, 2^32 / 20; from
 * there on PyTorch draws 64 bits for each number. Durstenfeld 1964. */
void shuffle(Random *r, int n, int order[n]);

/*
The model that learns, and what it learns from:
*/

/* A model of one attention: the tokens that ask and those that are asked
 * are looked up in one table, and to what is asked its position is added.
 * The attention's output layer gives the logits, one for each word. */
typedef struct {
    int vocabulary;      /* how many words there are */
    int context_length;  /* the most tokens of a text */
    Attention attention; /* its d_y is d_x or a multiple, d_out is
                          * vocabulary */
    float *tokens;       /* [vocabulary][d_x] */
    float *positions;    /* [context_length][d_y] */
    float *memory;       /* the block with all parameters, in this order: */
    size_t count;        /* tokens, positions, those of the attention */
} Model;

/* A batch, whose three lists the caller writes, and what a model computes
 * for it; in another of the same sizes, the gradients of all that. */
typedef struct {
    int texts, n;
    int d_x, d_y, vocabulary; /* of the model that it is for */
    int *ids;                 /* [texts][n], who asks */
    int *key_ids;  /* [texts][n][d_y / d_x], whose keys they meet */
    int *targets;  /* [texts][n], the right answers, or IGNORED */
    float *x;      /* [texts][n][d_x], what asks */
    float *y;      /* [texts][n][d_y], what is asked */
    float *logits; /* [texts][n][vocabulary] */
    float *shares; /* [texts][n][vocabulary] */
    Trace *trace;  /* [texts], whose `out` are rows of logits, and not in
                    * their own blocks */
    float *memory; /* x, y, logits and shares */
    size_t count;
} Pass;

/* From a batch to its logits. Refuses what pass_check and mask_check
 * refuse, ids that are no word, and more tokens than the context length. */
void model_forward(const Model *m, Mask mask, Pass *p);

/* model_forward, which has filled p. In grad_p, of the same sizes, the
 * logits are given; x, y and what attention_backward writes are written.
 * Adds to the gradients of the parameters. Refuses what pass_check and
 * model_gradient_check refuse, and ids that are no word. */
void model_backward(const Model *m, const Pass *p, Pass *grad_p,
                    Model *grad_m);

/* A model in training: its gradient and Adam's means have its type. */
typedef struct {
    Model model, gradient, mean, square;
    Pass pass, grad_pass;
    int step; /* how many have been done */
} Training;

/* What the model answers to the batch of its pass; returns the mean loss of
 * all targets. Refuses what mask_check refuses, ids and targets that are no
 * word, and more tokens than the context length. */
float training_loss(Training *t, Mask mask);

/* The gradient of that loss, added to what is there. Refuses ids that are
 * no word. */
void training_gradient(Training *t);

/* One step: the gradient of training_loss, clipped to the length 1, and
 * Adam. Returns the loss before it. Refuses what mask_check and adam_check
 * refuse, ids and targets that are no word, and more tokens than the
 * context length. */
float training_step(Training *t, Adam adam, Mask mask);

/* Draws a text that repeats itself: 4 to 8 different words of 16, again and
 * again. Each is asked with the one before it; before the first is a word
 * of its own, number 16. The target of a word is the next one; in the first
 * round, where nobody can know it, IGNORED. */
enum { REPEATED_WORDS = 17, REPEATED_LENGTH = 16 };
void repeated_text(Random *r, int ids[REPEATED_LENGTH],
                   int key_ids[REPEATED_LENGTH][2],
                   int target[REPEATED_LENGTH]);
