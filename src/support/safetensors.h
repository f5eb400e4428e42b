/*
## Numbers in files: `safetensors.c` {#header-safetensors}
*/

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A named array of numbers, such as a matrix of weights. */
typedef struct {
    const char *path; /* of its file, as given to tensors_read */
    const char *name;
    char type; /* 'f' F32, float; 'd' F64, double; 'i' I64, int64_t; 'h'
                * F16 and 'b' BF16, uint16_t, the bits of a float16 and of a
                * bfloat16; or '?', any other, which has no numbers here */
    const char *dtype_name; /* as its file says it, such as "BOOL" */
    int rank;               /* number of dimensions, 0 to 4 */
    int shape[4];           /* 1 beyond the rank */
    size_t count;           /* number of entries; of '?', of bytes */
    void *data;             /* count entries in C order, or NULL */
    FILE *from;             /* an open file, and where they begin in it */
    size_t at;
} Tensor;

/* All tensors of a file, or of several that belong together. */
typedef struct Tensors {
    const char *path;
    size_t count;
    Tensor *tensor; /* in the order of their names */
    char *text;     /* the header, where the names stand */
    void *data;     /* the entries of all, or NULL */
    FILE *from;     /* while they are still to be read */
    int parts;
    struct Tensors *part; /* several files, with paths to be freed */
} Tensors;

/* Reads a safetensors file of tensors of up to four dimensions; what its
 * metadata says is passed over. Names are UTF-8, and JSON's escapes stay in
 * them as they are written. The data are aligned, even where the file packs
 * them closer. Refuses any other file, naming it and the fault; a dtype
 * that safetensors does not have, or whose entries are no whole bytes; a
 * name that comes twice; and any key of a tensor but dtype, shape and
 * data_offsets. What it allocates is at most a few times the size of the
 * file. Python: safetensors.torch.load_file. */
Tensors tensors_read(const char *path);

/* The same without the entries, of which tensor_entries reads `count` from
 * number `first` on, so that a large file need not fit into memory beside
 * what is made of it. Where there is no such file, but one with
 * ".index.json" after its name, as large models have, the files of its
 * "weight_map" are opened together. Refuses what tensors_read refuses, an
 * index without a "weight_map", a file in another folder, and tensors that
 * the index and the files do not both have. */
Tensors tensors_open(const char *path);
void tensor_entries(const Tensor *t, size_t first, size_t count,
                    void *entries);

/* Is there a tensor of that name? Python: name in tensors. */
int tensors_have(const Tensors *file, const char *name);

/* The tensor of that name. Refuses a name that is not there.
 * Python: tensors[name]. */
const Tensor *tensors_find(const Tensors *file, const char *name);

/* Frees all tensors of the file. */
void tensors_free(Tensors *file);

/* The entries of a tensor of type 'f', 'd' and 'i'. Refuse a tensor of
 * another type. */
const float *tensor_floats(const Tensor *t);
const double *tensor_doubles(const Tensor *t);
const int64_t *tensor_integers(const Tensor *t);

/* Writes a safetensors file of so many tensors, of which it looks at name,
 * type, rank, shape and data. Wherever the program ends, or the machine,
 * there is the old file or the whole new one, with the old one's
 * permissions. It grows as path.part: a program that is killed leaves that
 * file, and the next one removes it. Two must not write one file at a time.
 * Refuses the type '?', names that come twice, that are not printable ASCII
 * or that JSON would write with a backslash, a path or path.part that is a
 * link, a folder, a pipe or a device, and what the system refuses, such as
 * a full disk: then the old file stays.
 * Python: safetensors.torch.save_file. */
void tensors_write(const char *path, int count, const Tensor tensor[count]);
