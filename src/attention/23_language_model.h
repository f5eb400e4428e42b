/*
## Chapter 23, a language model {#header-language-model}
*/

#pragma once

#include "attention/22_gpt.h"
#include "attention/B_random.h"
#include "attention/gpt_training.h"

/* One step of AdamW, with the gradient's length held at 1; returns the loss
 * before it. PyTorch: loss.backward(), clip_grad_norm_(parameters, 1) and
 * optimizer.step(). */
float gpt_training_step(GptTraining *t, const int *ids, const int *targets);

/* Draws one of n: number i as often as shares[i] says, of what all shares
 * add up to. Refuses a share that is negative or not finite, and shares of
 * which all are 0.
 * PyTorch: torch.multinomial(shares, 1), number for number, unless a share
 * is so large or so small that share / wait overflows or becomes 0. */
int sample_token(Random *r, int n, const float shares[n]);

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

/* Goes on with a text of which so many ids are there, up to n of them.
 * Refuses fewer than 1 that are there, or more than n; a text that is
 * longer than the context before its last token; ids that are no row; and
 * what next_token refuses.
 * PyTorch: model.generate(ids, do_sample=True, temperature=..., top_k=...),
 * of Hugging Face's transformers. */
void gpt_generate(const Gpt *g, Random *r, float temperature, int k,
                  int begun, int n, int ids[n]);

/* What a model writes behind "The ", n bytes in all, with a temperature of
 * 0.8 and seed 123. Ends of paragraphs become bars, and what cannot be
 * printed question marks. Refuses more bytes than the context and one, and
 * a vocabulary without those of "The ". */
void gpt_sample(const Gpt *g, int n, char text[n + 1]);

/* How many bytes the longest part of a text has that stands in a source
 * byte for byte, and in *first where in the text it begins; of several, the
 * first. 0 and 0 where no byte does.
 * Python: difflib's SequenceMatcher.find_longest_match. */
int longest_copy(int n, const char text[n], int m, const char source[m],
                 int *first);
