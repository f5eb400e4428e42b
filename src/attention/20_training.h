/*
## Chapter 20, a head that learns {#header-training}
*/

#pragma once

#include <stddef.h>

#include "attention/04_random.h"
#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"

/* A target that counts for nothing.
 * PyTorch: ignore_index=-100 of F.cross_entropy. */
enum { IGNORED = -100 };

/* How surprising the right answers are: the mean, over the rows whose
 * target is not IGNORED, of minus the logarithm of the share that softmax
 * of a row's logits gives to its target; NaN where all are IGNORED. Fills
 * the shares of all rows. Refuses a target that is none of the classes.
 * PyTorch: F.cross_entropy(logits, target). */
float cross_entropy(int n, int classes, const float logits[n][classes],
                    const int target[n], float shares[n][classes]);

/* loss = cross_entropy(logits): adds to the gradient of each logit its
 * share, less 1 for the target, divided by the number of targets that are
 * not IGNORED; and nothing in the rows of those that are.
 * PyTorch: the backward of F.cross_entropy. */
void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n],
                            float grad_logits[n][classes]);

/* From one number to another, by a part of the way. From one half on, the
 * rest of the way is taken back from the other number, so that 1 gives it.
 * PyTorch: torch.lerp(from, to, part). */
float lerp(float from, float to, float part);

/* How Adam moves parameters: how fast, how much its means keep, what is
 * added to the root, and how much of each parameter is taken away. */
typedef struct {
    double learning_rate;  /* PyTorch's lr */
    double beta_1, beta_2; /* of the mean, and of the mean square */
    double epsilon;
    double decay;   /* PyTorch's weight_decay */
    int is_coupled; /* decay goes into the gradient: Adam; else: AdamW */
} Adam;

/* Step number `step`, counted from 1, of n parameters: moves each, in
 * place, and with it the means of its gradients and of their squares, which
 * begin at 0. Refuses what adam_check refuses.
 * PyTorch: the step of torch.optim.AdamW, or torch.optim.Adam.
 * Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019. */
void adam_step(Adam adam, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n]);

/* Refuses a step below 1, a rate, an epsilon or a decay below 0, and a
 * beta_1 or beta_2 that is not from 0 to below 1. */
void adam_check(Adam adam, int step);

/* The length of a gradient as an arrow. Where it plus 1e-6 is more than
 * `most`, the gradient is multiplied, in place, by most / (length + 1e-6),
 * as in PyTorch: it becomes as long as `most`, but for very short ones. NaN
 * if an entry is. Refuses a most that is not above 0.
 * PyTorch: torch.nn.utils.clip_grad_norm_(parameters, most).
 * Pascanu et al. 2013. */
double clip_norm(double most, size_t n, float gradient[n]);

/* The rate of a step, counted from 0: rises to the largest in as many steps
 * as are to warm up, and falls along a cosine, to the least after all
 * steps. Refuses a step below 0, and other steps than 0 <= warm_up < steps.
 * PyTorch: SequentialLR of LinearLR and CosineAnnealingLR. */
double rate_at(int step, int warm_up, int steps, double largest,
               double least);

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
 * are looked up in one table, and to what is asked its place is added. The
 * attention's output layer gives the logits, one for each word. */
typedef struct {
    int vocabulary;      /* how many words there are */
    int context_length;  /* the most tokens of a text */
    Attention attention; /* its d_y is d_x or a multiple, d_out is
                          * vocabulary */
    float *tokens;       /* [vocabulary][d_x] */
    float *places;       /* [context_length][d_y] */
    float *memory;       /* the block with all parameters, in this order: */
    size_t count;        /* tokens, places, those of the attention */
} Model;

/* Makes a model with the sizes of another, or its gradient, the parameters
 * filled with 0; fills them with 0 again; frees it. The d_out of its
 * attention becomes the vocabulary. Refuses a vocabulary or context_length
 * below 1, a d_y that is no multiple of d_x, and what attention_init
 * refuses. */
void model_init(Model *m, const Model *sizes);
void model_clear(Model *m);
void model_free(Model *m);

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

/* Makes room, filled with 0, for so many texts of n tokens; gives it back.
 * Refuses texts or n below 1, and tables that do not fit. */
void pass_init(Pass *p, const Model *m, int texts, int n);
void pass_free(Pass *p);

/* Refuses a pass of other widths, or another vocabulary, than its
 * model, and one of them without tables. */
void pass_check(const Model *m, const Pass *p);

/* Refuses gradients of other sizes than the model and its pass have. */
void model_gradient_check(const Model *m, const Pass *p,
                          const Model *grad_m, const Pass *grad_p);

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

/* Makes a training for a model with the sizes of another, by batches of so
 * many texts of n tokens, all filled with 0; frees it. Refuses the sizes
 * that model_init refuses, and texts or n below 1. */
void training_init(Training *t, const Model *sizes, int texts, int n);
void training_free(Training *t);

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

/* Each number is a sentence of a small grammar, such as "the dogs near the
 * old cat _", and the verb that fits its subject is the target of the
 * blank, the last token; the others' are IGNORED. Those from
 * AGREEMENTS_TAUGHT on are for trying what was learned. Refuses a number
 * that is not from 0 to AGREEMENTS - 1. */
enum {
    AGREEMENTS = 960,
    AGREEMENTS_TAUGHT = 720,
    AGREEMENT_WORDS = 19,
    AGREEMENT_LENGTH = 7
};
void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH]);

/* The losses before step 1, 20, 40, ..., 100 of a training by PyTorch, in
 * float64: the one that chapter 20 shows first. */
extern const float pytorch_losses[6];

/* As adam_step, for plain descent: each parameter moves against its
 * velocity, which keeps a part of itself, its momentum, and begins at 0.
 * The decay goes into the gradient.
 * PyTorch: the step of torch.optim.SGD. */
void sgd_step(double rate, double momentum, double decay, size_t n,
              const float gradient[n], float velocity[n],
              float parameter[n]);
