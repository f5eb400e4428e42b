/*
## A GPT's memory, and its smaller steps: `gpt.c` {#header-gpt-memory}
*/

#pragma once

#include "attention/16_kv_cache.h"
#include "attention/20_optimizers.h"
#include "attention/22_gpt.h"
#include "attention/B_random.h"

/* Makes a model with the sizes of another, or its gradient or moments, the
 * parameters filled with 0; fills them with 0 again; frees it. Refuses
 * sizes below 1, a width that n_heads does not divide, and what does not
 * fit. */
void gpt_init(Gpt *g, const Gpt *sizes);
void gpt_clear(Gpt *g);
void gpt_free(Gpt *g);

/* How many parameters a model with these sizes has; asks for no memory.
 * Refuses what gpt_init refuses. */
size_t gpt_count_parameters(const Gpt *sizes);

/* The numbers that a model begins with: norms of weight 1, biases of 0, all
 * else normal with a deviation of 0.02, but for the layers `out` and
 * `down`, which add to the sum: theirs is divided by the root of 2 *
 * layers: Radford et al. 2019, section 2.3, which does not tell the 0.02;
 * that is initializer_range of Hugging Face's transformers. PyTorch:
 * normal_(0, 0.02) for each weight of tables and linear layers, in the
 * order of named_parameters(). */
void gpt_fill(Random *r, Gpt *g);

/* Makes a pass of a model for so many texts of n tokens, filled with 0;
 * frees it. Refuses sizes below 1, an n above the context, texts with more
 * tokens than an int can count 4 * width times, and what does not fit. */
void gpt_pass_init(GptPass *p, const Gpt *g, int texts, int n);
void gpt_pass_free(GptPass *p);

/* The same for one text of n tokens, with the tables of scores and weights
 * that block_forward fills. */
void gpt_pass_init_plain(GptPass *p, const Gpt *g, int n);

/* Puts 0 into all tables of a pass. Its dropout masks stay. */
void gpt_pass_clear(GptPass *p);

/* Refuses a pass that is not for this model, and with a cache several
 * texts, or dropout. */
void gpt_pass_check(const Gpt *g, const KVCache *cache, const GptPass *p);

/* Refuses a pass that is not for this model, and gradients of other sizes
 * than the model and its pass have. */
void gpt_gradient_check(const Gpt *g, const GptPass *p, const Gpt *grad_g,
                        const GptPass *grad_p);

/* Draws anew which entries are dropped of what each attention and each
 * network adds, block by block: from now on gpt_forward fills p with what
 * is left, and gpt_backward goes back from there. With a rate of 0 nothing
 * is drawn, and nothing is dropped any more. Refuses a rate that is not
 * from 0 to 1, and a pass without tables.
 * PyTorch: F.dropout(x, rate) of each x that is added, in this order; in
 * GPT2LMHeadModel, of Hugging Face's transformers, resid_pdrop, where
 * embd_pdrop and attn_pdrop are 0. */
void gpt_pass_drop(GptPass *p, Random *r, double rate);

/* Makes a cache for each layer, with room for the whole context; frees
 * them, while the model is there. */
void gpt_caches_init(KVCache *cache, const Gpt *g);
void gpt_caches_free(KVCache *cache, const Gpt *g);

/* Refuses a gradient of another size than its norm. */
void norm_gradient_check(const Norm *l, const Norm *grad_l);

/* A model that learns: with its gradient, the means that Adam keeps, memory
 * for a batch of texts as long as its context, and how many steps it has
 * taken. learner_init fills the model with what gpt_fill draws; it refuses
 * what gpt_init and gpt_pass_init refuse. */
typedef struct {
    Gpt model, gradient, mean, square;
    GptPass pass, grad_pass;
    Adam adam;
    int step;
} Learner;
void learner_init(Learner *l, const Gpt *sizes, int texts, Random *r);
void learner_free(Learner *l);
