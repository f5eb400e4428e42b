/* A file of safetensors with tensors of every type and rank. */
#pragma once

#include "damaged.h"

static inline void begin(const char *header)
{
    const uint64_t length = strlen(header);
    file_size = 0;
    add(&length, sizeof length);
    add(header, length);
}

static const double exact[] = {0.1, -0.0, 5e-324, INFINITY, 1e308, -2};
static const int64_t integers[] = {-1, INT64_MIN, INT64_MAX, 1 << 24};
static const float single[] = {1.5f, -2.25f, 0, -0.0f, 1e-40f, 3e38f, 7};

static const uint16_t halves[] = {0x3e00, 0x8000, 0x7bff};
static const uint16_t brain[] = {0x3f80, 0xc2f7};
static const char others[] = {1, 0, 1};

/* Every type and rank; keys, tensors and blanks in no usual order, and one
 * tensor that begins at no multiple of its entries' size. */
static inline void begin_whole(void)
{
    begin("{\"single\":{\"dtype\":\"F32\",\"shape\":[1,2,3],"
          "\"data_offsets\":[80,104]},\n"
          " \"__metadata__\": {\"a\": \"\\\"}\\u00e9\\\\\", \"\": \"\"},"
          "\t\"size/x 1\" :{ \"shape\" :[ 2 , 3 ] ,\r\n"
          " \"data_offsets\":[0,48],\"dtype\":\"F64\"},"
          "\"none\":{\"dtype\":\"F32\",\"shape\":[4,0],"
          "\"data_offsets\":[80,80]},"
          "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],"
          "\"data_offsets\":[104,108]},"
          "\"integers\":{\"dtype\":\"I64\",\"shape\":[2,1,2,1],"
          "\"data_offsets\":[48,80]},"
          "\"brain\":{\"dtype\":\"BF16\",\"shape\":[2],"
          "\"data_offsets\":[117,121]},"
          "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[3],"
          "\"data_offsets\":[114,117]},"
          "\"halves\":{\"dtype\":\"F16\",\"shape\":[3],"
          "\"data_offsets\":[108,114]}} ");
    add(exact, sizeof exact);
    add(integers, sizeof integers);
    add(single, sizeof single);
    add(halves, sizeof halves);
    add(others, sizeof others);
    add(brain, sizeof brain);
    write_file();
}

#define SIZE_NAME "size/x 1"
enum { WRITABLE = 7, WHOLE = 8 };
static const Tensor whole[WHOLE] = {
    {"", "single", 'f', "F32", 3, {1, 2, 3, 1}, 6, (void *)single},
    {"", SIZE_NAME, 'd', "F64", 2, {2, 3, 1, 1}, 6, (void *)exact},
    {"", "none", 'f', "F32", 2, {4, 0, 1, 1}, 0, (void *)single},
    {"", "scalar", 'f', "F32", 0, {1, 1, 1, 1}, 1, (void *)(single + 6)},
    {"", "integers", 'i', "I64", 4, {2, 1, 2, 1}, 4, (void *)integers},
    {"", "halves", 'h', "F16", 1, {3, 1, 1, 1}, 3, (void *)halves},
    {"", "brain", 'b', "BF16", 1, {2, 1, 1, 1}, 2, (void *)brain},
    {"", "mask", '?', "BOOL", 1, {3, 1, 1, 1}, 3, (void *)others},
};

static inline size_t bytes_in(const Tensor *t)
{
    return t->count * (t->type == '?'                     ? 1
                       : t->type == 'h' || t->type == 'b' ? 2
                       : t->type == 'f'                   ? 4
                                                          : 8);
}

static inline void is_as(const Tensor *right, const Tensor *t)
{
    expect_true("path", t->path == path);
    expect_true("name", !strcmp(t->name, right->name));
    expect_true("type", t->type == right->type);
    expect_true("dtype", !strcmp(t->dtype_name, right->dtype_name));
    expect_equal("rank", t->rank, right->rank);
    expect_equal("count", (double)t->count, (double)right->count);
    expect_true("shape", !memcmp(t->shape, right->shape, sizeof t->shape));
    expect_true("aligned", (uintptr_t)t->data % 8 == 0);
    expect_true("entries", !memcmp(t->data, right->data, bytes_in(right)));
}

/* Are the file's tensors the first n of these, and no others? */
static inline void holds_whole(int n)
{
    Tensors all = tensors_read(path);
    expect_equal("tensors", (double)all.count, n);
    for (int i = 0; i < n; i++)
        is_as(&whole[i], tensors_find(&all, whole[i].name));
    tensors_free(&all);
    expect_true("nothing is left",
                !all.tensor && !all.data && !all.text && !all.count);
}
