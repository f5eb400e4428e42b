/*
## Chapter 23, a language model {#header-language-model}
*/

#pragma once

#include "attention/20_optimizers.h"
#include "attention/22_gpt.h"
#include "attention/B_random.h"
#include "attention/gpt.h"

/* The ids of a passage of n bytes, and for each the byte after it. Refuses
 * a byte that is not below the vocabulary. */
void read_passage(int vocabulary, int n, const char text[n + 1], int ids[n],
                  int targets[n]);

/* The loss of a batch, and in grad_g its gradient by all parameters, both
 * as means over its tokens. grad_p is written over. Refuses a pass of
 * another size, and what gpt_forward, cross_entropy and gpt_backward
 * refuse.
 * PyTorch: loss = F.cross_entropy(logits, targets), zero_grad() and
 * loss.backward(). */
float gpt_gradient(const Gpt *g, int texts, int n, const int ids[texts][n],
                   const int targets[texts][n], GptPass *p, GptPass *grad_p,
                   Gpt *grad_g);

/* One step of AdamW, with the gradient's length held at 1; returns the loss
 * before it. Refuses what gpt_gradient refuses.
 * PyTorch: loss.backward(), clip_grad_norm_(parameters, 1) and
 * optimizer.step(). */
float learner_step(Learner *l, int texts, int n, const int ids[texts][n],
                   const int targets[texts][n]);

/* The mean loss of a model over a text, in passages as long as its context,
 * one after another; what is left at the end is left out. Refuses a text
 * that is not longer than the context, and a byte that is not below the
 * vocabulary. */
float gpt_loss(const Gpt *g, int bytes, const char text[bytes]);

/* Draws one of n: number i as often as shares[i] says, of what all shares
 * add up to. Refuses a share that is negative or not finite, and shares of
 * which all are 0.
 * PyTorch: torch.searchsorted(sums, z * sums[-1], right=True), with sums =
 * shares.double().cumsum(0) and z = torch.rand(1, dtype=torch.float64). */
int draw_token(Random *r, int n, const float shares[n]);

/* Puts minus infinity in place of all logits that are below the k-th
 * largest. Refuses a k that is not from 1 to n.
 * PyTorch: logits.masked_fill(logits < logits.topk(k)[0][-1], -torch.inf).
 */
void top_k(int n, int k, float logits[n]);

/* Puts 0 in place of all shares but the largest, of which it keeps as few
 * as add up to at least p, and those that are equal to the smallest of
 * them. Refuses a p that is not above 0 and at most 1.
 * Elsewhere: top-p, or nucleus sampling. Holtzman et al. 2020. */
void top_p(int n, float p, float shares[n]);

/* What comes next: the logits divided by the temperature, of which with a k
 * other than 0 the k largest are kept, their softmax, and what is drawn
 * from these shares. Both tables are written. Refuses a temperature that is
 * not above 0, or so low that a logit divided by it is no float; a k that
 * is not from 0 to n; and logits that are NaN. */
int next_token(Random *r, float temperature, int k, int n, float logits[n],
               float shares[n]);

/* Goes on with a text of which the first `begun` ids are there, up to n of
 * them. Refuses fewer than 1 that are there, or more than n; a text that is
 * longer than the context before its last token; ids that are no row; and
 * what next_token refuses.
 * PyTorch: model.generate(ids, do_sample=True, temperature=..., top_k=...),
 * of Hugging Face's transformers. */
void gpt_generate(const Gpt *g, Random *r, float temperature, int k,
                  int begun, int n, int ids[n]);

/* What a model writes after a beginning, n bytes in all, with a temperature
 * of 0.8 and seed 123. Where the context ends, it begins anew with the last
 * half of it. Newlines become bars, and what cannot be printed question
 * marks. Refuses a beginning that is empty or has a byte that is no
 * token. */
void gpt_sample(const Gpt *g, const char *beginning, int n,
                char text[n + 1]);
