/*
# The headers {#reference}

Every function of the book is declared in the header with the name of its
file, which is a chapter's or one of `src/`: what it computes, the shapes,
what it refuses, and what it is called elsewhere. Types stand in the header
of the chapter that teaches them. This file names the headers in reading
order. Those of `support/`, which no chapter teaches, come last.

Sizes come before the tables that have them: of a product the rows, the
columns, and what is summed over. Inputs are `const`, outputs
come last and must not overlap the inputs, and the caller owns all memory.
A module that a function works on, and a generator that fills a table, come
before everything else. A struct that owns memory has one lifecycle.
`x_init(&x, ...)` makes it, filled with 0 or with what a generator draws.
Many sizes are given as a struct, of which only the sizes are read: so
`x_init(&gradient, &x)` makes the gradient of `x`. `x_clear(&x)` fills a
gradient with 0 again. `x_free(&x)` gives the memory back, and may be called
twice. A copy of the struct is not a copy of the memory, and only one of
them is to be freed. A shape that a type can say is not repeated in words.
Sizes are at least 1: C has no type for a smaller table. Of a list only a
pointer is passed, and a function that says what it does with an empty one
may be given one. `F` is PyTorch's `torch.nn.functional`.
*/

#pragma once

#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/03_qkv.h"
#include "attention/04_scaling.h"
#include "attention/05_tokens.h"
#include "attention/06_learning.h"
#include "attention/07_self_attention.h"
#include "attention/trace.h"
#include "attention/attention_object.h"
#include "attention/08_cross_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/10_dropout.h"
#include "attention/11_causal_attention.h"
#include "attention/12_heads.h"
#include "attention/13_multi_head.h"
#include "attention/14_flash.h"
#include "attention/15_kernel.h"
#include "attention/transpose_scaled.h"
#include "attention/measured.h"
#include "attention/16_kv_cache.h"
#include "attention/strided_rows.h"
#include "attention/kv_cache.h"
#include "attention/float16.h"
#include "attention/17_positions.h"
#include "attention/18_backward.h"
#include "attention/19_flash_backward.h"
#include "attention/kernel.h"
#include "attention/layers.h"
#include "attention/20_optimizers.h"
#include "attention/adam_check.h"
#include "attention/21_training.h"
#include "attention/model.h"
#include "attention/agreement.h"
#include "attention/22_gpt.h"
#include "attention/gpt.h"
#include "attention/gpt_fast.h"
#include "attention/gpt_training.h"
#include "attention/gpt_file.h"
#include "attention/gpt2_tokens.h"
#include "attention/23_language_model.h"
#include "attention/prose.h"
#include "attention/long_run.h"
#include "attention/trained.h"
#include "attention/pytorch.h"
#include "attention/24_inside.h"
#include "attention/25_gpt2.h"
#include "attention/B_random.h"
#include "attention/C_sheet.h"
#include "attention/D_mkl.h"

#include "support.h"
#include "support/safetensors.h"
#include "support/machine.h"
