/*
## The parameters of an attention: `attention_object.c` {#header-object}
*/

#pragma once

#include "attention/trace.h"

/* A layer from d_in to d_out numbers, whose tables are the next of a block,
 * as next_table finds them; without has_bias it has no bias. */
Linear linear_layout(int d_in, int d_out, int has_bias, float *block,
                     size_t *count);

/* Makes an attention with the sizes and settings of another, or its
 * gradient, the parameters filled with 0; frees it, and those that the
 * other inits of chapters 7 to 13 have made. Refuses d_x, d_y, n_heads, d_k
 * or d_v below 1, a d_out or context_length below 0, and sizes whose
 * parameters do not fit. */
void attention_init(Attention *a, const Attention *sizes);
void attention_free(Attention *a);

/* For an attention whose parameters lie in the block of a larger model:
 * sets its sizes and settings to those of another, which may be the same
 * one, and its tables to the next of the block, as next_table does. It has
 * no memory of its own, and nothing to be freed. Refuses the sizes that
 * attention_init refuses. */
void attention_layout(Attention *a, const Attention *sizes, float *block,
                      size_t *count);

/* Refuses layers without numbers, or without the sizes or the biases of
 * their attention. */
void attention_layers_check(const Attention *a);

/* Refuses a d_y other than d_x, for functions in which x is y. */
void attention_widths_check(const Attention *a);

/* Refuses layers without numbers, or without the sizes or the biases of
 * their attention; more tokens than the context length; and a trace that is
 * not for this attention, n and m. */
void attention_check(const Attention *a, int n, int m, const Trace *t);

/* Refuses layers without numbers, or without the sizes or the biases of
 * their attention; two widths; more tokens than the context length; no
 * text; and a trace that is not for this attention and these texts. */
void attention_texts_check(const Attention *a, int texts, int n,
                           const Trace *t);

/* Refuses layers without numbers, and what three plain matrices have no
 * place for: texts of two widths, a bias, several heads, and an output
 * layer. */
void version_1_check(const Attention *from);

/* Refuse a gradient that has other sizes than its layer or its attention,
 * or no numbers, or a bias where there is none, or none where there is
 * one. */
void linear_gradient_check(const Linear *l, const Linear *grad_l);
void attention_gradient_check(const Attention *a, const Attention *grad_a);
