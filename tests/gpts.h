/* Models for the tests of chapters 22 and 23, and of their files. Define
 * CHAPTER before including this. */
#pragma once

#include "golden.h"
#include "attention/23_language_model.h"
#include "attention/gpt.h"
#include "attention/gpt_training.h"

/* The sizes of models stand in the order of Gpt: vocabulary, context_length,
 * width, n_heads and layers. */

/* The model of a set, with its parameters. */
static inline Gpt golden_gpt(const char *set)
{
    const int *size = golden_ints(set, "sizes");
    Gpt g = {size[0], size[1], size[2],
             size[3], size[4], .has_own_output = !size[5]};
    gpt_init(&g, &g);
    golden_parameters(set, g.count, g.memory);
    return g;
}

/* A pass of it, for the set's texts. */
static inline GptPass golden_pass(const char *set, const Gpt *g)
{
    GptPass p;
    gpt_pass_init(&p, g, SHAPE(set, "ids"));
    return p;
}

/* Another small model, filled with numbers. */
static inline Gpt any_gpt(int layers)
{
    Gpt g = {7, 5, 6, 2, layers, .has_own_output = 0};
    gpt_init(&g, &g);
    tap_fill((int)g.count, g.memory, -1, 1);
    return g;
}

/* A small training on this text. */
static const char reading[] =
    "In the beginning was the word, and the word was hidden among others.";
static const Gpt small_sizes = {128, 8, 8, 2, 2, .has_own_output = 0};
static inline GptTraining small(int texts)
{
    GptTraining t = {.model = small_sizes,
                     .texts = texts,
                     .adam = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0},
                     .random = random_seeded(5),
                     .bytes = (int)strlen(reading),
                     .text = reading};
    gpt_training_init(&t, &t);
    return t;
}
