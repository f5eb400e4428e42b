/* GPTs for the tests of chapters 22 to 24, of src/gpt*.c and of training.
 * Define CHAPTER before including this, where there are golden sets. */
#pragma once

#include "golden.h"
#include "attention/23_language_model.h"
#include "attention/gpt.h"
#include "attention/gpt_training.h"

/* The model of a set, with its parameters. */
static inline Gpt golden_gpt(const char *set)
{
    const int *size = golden_ints(set, "sizes");
    Gpt g = {.vocabulary = size[0],
             .context_length = size[1],
             .width = size[2],
             .n_heads = size[3],
             .layers = size[4],
             .has_own_output = !size[5]};
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
    Gpt g = {.vocabulary = 7,
             .context_length = 5,
             .width = 6,
             .n_heads = 2,
             .layers = layers};
    gpt_init(&g, &g);
    tap_fill((int)g.count, g.memory, -1, 1);
    return g;
}

/* A small training on this text. */
static const char reading[] =
    "In the beginning was the word, and the word was hidden among others.";
static const Gpt small_sizes = {.vocabulary = 128,
                                .context_length = 8,
                                .width = 8,
                                .n_heads = 2,
                                .layers = 2};
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
