/*
## A model in a file: `gpt_file.c` {#header-gpt-file}
*/

#pragma once

#include "attention/21_training.h"
#include "attention/22_gpt.h"
#include "attention/gpt_training.h"

/* Reads a model, from a file or by an index from several, row by row, by
 * the names of GPT-2's parameters, such as "wte.weight"
 * and "h.0.attn.c_attn.weight", with "transformer." before them or without.
 * As in GPT-2's own files, a layer's table is [in][out], and those of the
 * three roles are side by side. Numbers may be F32, F16 or BF16. The shapes
 * of the tables tell the sizes; "lm_head.weight" is an output of its own.
 * The number of heads is "n_head" in the file if gpt_save wrote it, and
 * config.json is ignored; otherwise config.json in the same folder has it.
 * Refuses a config.json that asks for another model: a "model_type" other
 * than "gpt2", another activation than chapter 22's GELU, an epsilon other
 * than 1e-5, other factors in attention, and cross-attention. All other
 * keys pass, its sizes among them, and a missing key asks for nothing.
 * Refuses what tensors_open refuses, a config.json that
 * is no JSON, has no whole number "n_head" or has one of these keys twice,
 * tables that are missing or of other shapes, heads that do not divide the
 * width, and a tensor that is no part of the model. It passes over the
 * masks "h.0.attn.bias" and "h.0.attn.masked_bias", and names without a
 * dot.
 * PyTorch: GPT2LMHeadModel.from_pretrained, of Hugging Face's
 * transformers. */
void gpt_load(Gpt *g, const char *path);

/* Writes a model so that gpt_load reads it; in numbers of 16 bits, each
 * rounded to the nearest float16. Refuse what tensors_write refuses, and in
 * 16 bits a number that is not below 65520 in size.
 * PyTorch: save_pretrained, and model.half() before it. */
void gpt_save(const Gpt *g, const char *path);
void gpt_save_half(const Gpt *g, const char *path);

/* Writes a model of chapter 21, in numbers of 16 bits as above, and reads
 * it. Its tensors are named after the variables of that page's PyTorch:
 * "token.weight", "position.weight", and "query", "key", "value" and "out"
 * with ".weight", and with ".bias" where there is one; "n_head" is the
 * number of heads. Refuse what tensors_read, tensors_write and model_init
 * refuse, a number that is not below 65520 in size, tensors that are
 * missing, too many or of other shapes, and heads that do not divide the
 * widths of queries and values. */
void model_save_half(const Model *m, const char *path);
void model_load(Model *m, const char *path);
