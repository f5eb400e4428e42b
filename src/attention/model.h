/*
## The memory of a model and of its training: `model.c` {#header-model}
*/

#pragma once

#include "attention/21_training.h"

/* Makes a model with the sizes of another, or its gradient, the parameters
 * filled with 0; fills them with 0 again; frees it. The d_out of its
 * attention becomes the vocabulary. Refuses a vocabulary or context_length
 * below 1, a d_y that is no multiple of d_x, and what attention_init
 * refuses. */
void model_init(Model *m, const Model *sizes);
void model_clear(Model *m);
void model_free(Model *m);

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

/* Makes a training for a model with the sizes of another, by batches of so
 * many texts of n tokens, all filled with 0; frees it. Refuses the sizes
 * that model_init refuses, and texts or n below 1. */
void training_init(Training *t, const Model *sizes, int texts, int n);
void training_free(Training *t);
