/* The parameters of a model by their names in a file. Only gpt_file.c
 * includes this. */
#pragma once

#include "attention/21_training.h"
#include "attention/22_gpt.h"
#include "support/safetensors.h"

/* A table of a file, and where its numbers are in a model. */
typedef struct {
    char name[40];
    int rows, columns; /* of the file's table; of a list rows is 0 */
    int is_transposed; /* [in][out] there, [out][in] here */
    int count;         /* our tables, which stand there side by side */
    float *part[3];
} Param;

/* All of a model; `param` is to be freed. */
typedef struct {
    int count;
    Param *param;
} Params;

/* By GPT-2's names, under which a layer's table stands as [in][out], and
 * the roles' three side by side; and by those of chapter 21's PyTorch. */
Params gpt_params(const Gpt *g);
Params model_params(const Model *m);

/* Is there one of that name, with the prefix before its own? */
int params_have(const Params *all, const char *prefix, const char *name);

/* Into the model, from a file, which may have numbers of 16 bits; and from
 * the model into a file, with its number of heads as "n_head", and in
 * numbers of 16 bits if is_half. Both free `all.param`. Refuse tensors that
 * are missing or of other shapes; and numbers that are too large for
 * float16. */
void params_load(Params all, const Tensors *file, const char *prefix);
void params_write(Params all, int n_heads, int is_half, const char *path);
