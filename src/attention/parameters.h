/* The parameters of a model by their names in a file, and the tensors of a
 * file that is to be written. Only gpt_file.c includes this. */
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

/* Tensors that are to be written into one file, with copies of their names
 * and numbers, each name behind its numbers. */
typedef struct {
    int count;
    Tensor *tensor;
} TensorList;

/* Into the model, from a file, which may have numbers of 16 bits; and from
 * the model into a list. Both free `all.param`. Refuses tensors that are
 * missing or of other shapes. */
void params_load(Params all, const Tensors *file, const char *prefix);
void params_save(Params all, TensorList *to, const char *prefix);

/* Adds a tensor with these numbers, or 0 with NULL; returns where they
 * are. */
void *tensor_list_add(TensorList *all, const char *prefix, const char *name,
                      char type, int rank, const int *shape,
                      const void *numbers);

/* Makes all floats float16, and refuses those that are too large for that;
 * writes all into a file, and frees the list. */
void tensor_list_halve(TensorList *all);
void tensor_list_write(TensorList *all, const char *path);
