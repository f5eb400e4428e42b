/* Models for the tests of chapters 22 and 23, and of their files. Define
 * CHAPTER before including this. */
#pragma once

#include "golden.h"
#include "attention/23_language_model.h"
#include "attention/gpt.h"
#include "attention/gpt_training.h"

/* The model of a set, with its parameters. */
static inline Gpt golden_gpt(const char *set)
{
    const int64_t *size = golden_integers(set, "sizes");
    Gpt g = {.vocabulary = (int)size[0],
             .context_length = (int)size[1],
             .width = (int)size[2],
             .n_heads = (int)size[3],
             .layers = (int)size[4],
             .has_own_output = !size[5]};
    gpt_init(&g, &g);
    if (g.count != golden_count(set, "parameters"))
        REFUSE("%s has not %zu parameters", set, g.count);
    memcpy(g.memory, golden_floats(set, "parameters"),
           g.count * sizeof(float));
    return g;
}

/* Another small model, filled with numbers. */
static inline Gpt any_gpt(int layers, int has_own_output)
{
    Gpt g = {.vocabulary = 7,
             .context_length = 5,
             .width = 6,
             .n_heads = 2,
             .layers = layers,
             .has_own_output = has_own_output};
    gpt_init(&g, &g);
    tap_fill((int)g.count, g.memory, -1, 1);
    return g;
}

/* A small training on this text. */
static const char reading[] =
    "In the beginning was the word, and the word was hidden among others.";
static inline Gpt sizes_of_small(int has_own_output)
{
    return (Gpt){.vocabulary = 128,
                 .context_length = 8,
                 .width = 8,
                 .n_heads = 2,
                 .layers = 2,
                 .has_own_output = has_own_output};
}

static inline GptTraining small_of(int texts, int has_own_output)
{
    GptTraining t = {.model = sizes_of_small(has_own_output),
                     .texts = texts,
                     .adam = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0},
                     .random = random_seeded(5),
                     .bytes = (int)strlen(reading),
                     .text = reading};
    gpt_training_init(&t, &t);
    return t;
}

static inline GptTraining small(void)
{
    return small_of(3, 0);
}
