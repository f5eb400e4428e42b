/*
## Chapter 24, inside a trained model {#header-inside}
*/

#pragma once

#include "attention/gpt.h"
#include "attention/prose.h"

/* How much the tokens of a text look `back` tokens back: the mean of
 * weights[i][i - back] over the tokens from `from` to the last. Refuses a
 * `back` below 0, and a `from` that is not from `back` to below n.
 * PyTorch: weights.diagonal(-back)[from - back:].mean(). */
float weight_back(int n, const float weights[n][n], int from, int back);

/* The weight_back of every head, block after block, in a pass that
 * gpt_forward has filled: the mean over its texts. Refuses what weight_back
 * refuses.
 * PyTorch: the same of GPT2LMHeadModel's attentions, by Hugging Face's
 * transformers. */
void heads_back(const GptPass *p, int from, int back,
                float mean[p->layers * p->block->attention.n_heads]);

/* Exchanges the columns of the output layer that multiply the context of
 * head h with other columns. Zeros switch the head off, and a second call
 * switches it on again. Refuses a head that is not there, and an attention
 * without an output layer.
 * PyTorch: layer.weight[:, h * d_v:(h + 1) * d_v], which is swapped. */
void head_swap(Attention *a, int h, float columns[a->d_out][a->d_v]);

/* What is found of a head, from texts that stand twice: the mean weight on
 * the token before, and, in the second half of a text, on the token that
 * followed at the same point of the first half; and, with this head
 * switched off, the loss in the second half, and the largest HEAD_AFTER of
 * the other heads. */
enum {
    HEAD_BEFORE,
    HEAD_AFTER,
    HEAD_LOSS_OFF,
    HEAD_AFTER_OFF,
    HEAD_SCORES
};

/* Texts of n tokens, whose second half is the first again. head_weights
 * fills HEAD_BEFORE and HEAD_AFTER of each head, block after block, and
 * head_scores all four scores; the model has the same bits again in the
 * end. loss[0] is the mean loss of the tokens of the first halves, without
 * the first of each, and loss[1] that of the second halves. HEAD_AFTER_OFF
 * is 0 where there is no other head. Refuses two different halves, an n
 * that is odd, below 6 or above the context, texts below 1, ids that are no
 * row, losses that are not finite, and what does not fit.
 * Olsson et al. 2022: previous token heads, and prefix matching, of which
 * HEAD_AFTER counts the same point of the passage alone. */
void head_weights(const Gpt *g, int texts, int n, const int ids[texts][n],
                  float score[g->layers * g->n_heads][HEAD_SCORES],
                  float loss[2]);
void head_scores(Gpt *g, int texts, int n, const int ids[texts][n],
                 float score[g->layers * g->n_heads][HEAD_SCORES],
                 float loss[2]);
