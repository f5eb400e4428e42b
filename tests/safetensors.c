/* Reading safetensors files, whole ones and damaged ones, in a temporary
 * folder. */
#include "damaged.h"

/* ---- A file with tensors of every type and rank. */

/* Begins a file with this header, in which ' stands for ". */
static void begin(const char *header)
{
    const uint64_t length = strlen(header);
    file_size = 0;
    add(&length, sizeof length);
    add(header, length);
    for (size_t i = sizeof length; i < file_size; i++)
        file[i] = file[i] == '\'' ? '"' : file[i];
}

static const double exact[] = {0.1, -0.0, 5e-324, INFINITY, 1e308, -2};
static const int64_t integers[] = {-1, INT64_MIN, INT64_MAX, 1 << 24};
static const float single[] = {1.5f, -2.25f, 0, -0.0f, 1e-40f, 3e38f, 7};

static const uint16_t halves[] = {0x3e00, 0x8000, 0x7bff};
static const uint16_t brain[] = {0x3f80, 0xc2f7};
static const char others[] = {1, 0, 1};

/* Escapes, which stay as they are, and UTF-8 of each length. */
#define ODD_NAME                                                           \
    "\\\"\\\\\\u0000A\x7f\xc2\x80\u07ff\u0800\uffff\U00010000\U0010ffff"

/* Every type and rank; keys, tensors and blanks in no usual order, and one
 * tensor that begins at no multiple of its entries' size. */
static void begin_whole(void)
{
    begin(
        "{'single':{'dtype':'F32','shape':[1,2,3],'data_offsets':[80,104]}"
        ",\n '__metadata__': {'a': '\\'}\\u00e9\\\\', '': ''},\t"
        "'size/x 1' :{ 'shape' :[ 2 , 3 ] ,\r\n 'data_offsets':[0,48],"
        "'dtype':'F64'},'none':{'dtype':'F32','shape':[4,0],"
        "'data_offsets':[80,80]},'scalar':{'dtype':'F32','shape':[],"
        "'data_offsets':[104,108]},'integers':{'dtype':'I64',"
        "'shape':[2,1,2,1],'data_offsets':[48,80]},'" ODD_NAME
        "':{'dtype':'BF16','shape':[2],'data_offsets':[117,121]},"
        "'mask':{'dtype':'BOOL','shape':[3],'data_offsets':[114,117]},"
        "'halves':{'dtype':'F16','shape':[3],'data_offsets':[108,114]}} ");
    add(exact, sizeof exact);
    add(integers, sizeof integers);
    add(single, sizeof single);
    add(halves, sizeof halves);
    add(others, sizeof others);
    add(brain, sizeof brain);
    write_file();
}

#define SIZE_NAME "size/x 1"
enum { WHOLE = 8 };
static const Tensor whole[WHOLE] = {
    {"", "single", 'f', "F32", 3, {1, 2, 3, 1}, 6, (void *)single, NULL, 0},
    {"", SIZE_NAME, 'd', "F64", 2, {2, 3, 1, 1}, 6, (void *)exact, NULL, 0},
    {"", "none", 'f', "F32", 2, {4, 0, 1, 1}, 0, (void *)single, NULL, 0},
    {"",
     "scalar",
     'f',
     "F32",
     0,
     {1, 1, 1, 1},
     1,
     (void *)(single + 6),
     NULL,
     0},
    {"",
     "integers",
     'i',
     "I64",
     4,
     {2, 1, 2, 1},
     4,
     (void *)integers,
     NULL,
     0},
    {"", "halves", 'h', "F16", 1, {3, 1, 1, 1}, 3, (void *)halves, NULL, 0},
    {"", ODD_NAME, 'b', "BF16", 1, {2, 1, 1, 1}, 2, (void *)brain, NULL, 0},
    {"", "mask", '?', "BOOL", 1, {3, 1, 1, 1}, 3, (void *)others, NULL, 0},
};

/* Entry by entry, from the last to the first. */
static void opened_test(void)
{
    Tensors all = tensors_open(path);
    const Tensor *t = tensors_find(&all, "integers");
    int64_t one, two[2];
    expect_true("nothing is read yet", !t->data);
    for (int i = 3; i >= 0; i--) {
        tensor_entries(t, (size_t)i, 1, &one);
        expect_integer("entry", one, integers[i]);
    }
    tensor_entries(t, 1, 2, two);
    expect_true("two", !memcmp(two, integers + 1, sizeof two));
    tensors_free(&all);
}

static void is_as(const Tensor *right, const Tensor *t)
{
    const size_t size = tap_entry_size(right->type);
    expect_true("path", t->path == path);
    expect_true("name", !strcmp(t->name, right->name));
    expect_true("type", t->type == right->type);
    expect_true("dtype", !strcmp(t->dtype_name, right->dtype_name));
    expect_equal("rank", t->rank, right->rank);
    expect_equal("count", t->count, right->count);
    expect_true("shape", !memcmp(t->shape, right->shape, sizeof t->shape));
    expect_true("aligned", (uintptr_t)t->data % 8 == 0);
    expect_true("entries",
                !memcmp(t->data, right->data, right->count * size));
}

/* Are the file's tensors these, and no others? */
static void holds_whole(void)
{
    const char *const other[] = {"", "singl", "single ", "z",
                                 "__metadata__"};
    Tensors all = tensors_read(path);
    expect_equal("tensors", all.count, WHOLE);
    for (int i = 0; i < WHOLE; i++) {
        expect_true("it is there", tensors_have(&all, whole[i].name));
        is_as(&whole[i], tensors_find(&all, whole[i].name));
    }
    for (int i = 0; i < 5; i++)
        expect_true(other[i], !tensors_have(&all, other[i]));
    tensors_free(&all);
    expect_true("nothing is left",
                !all.tensor && !all.data && !all.text && !all.count);
}

/* ---- Damaged files. */

static void refused(const char *words)
{
    write_file();
    REFUSES(words, tensors_read(path));
}

static void refuse_starts(void)
{
    begin("{}");
    file_size = 7;
    refused("file: ends after 7 bytes where 8 are needed");
    begin("{}");
    file[0] = 3;
    refused("file: says its header has 3 bytes: 2 are left");
    memset(file, 255, 8);
    refused(
        "file: says its header has 18446744073709551615 bytes: 2 are left");
}

/* One tensor that is right for 24 bytes of data, and others. */
#define A(dtype, shape, offsets)                                           \
    "'a':{'dtype':'" dtype "','shape':" shape ",'data_offsets':" offsets "}"
#define RIGHT A("F32", "[2,3]", "[0,24]")
#define SHAPE(shape) "{" A("F32", shape, "[0,24]") "}"
#define OFFSETS(offsets) "{" A("F32", "[2,3]", offsets) "}"
#define B "'b':{'dtype':'F64','shape':[],'data_offsets':[16,24]}"

#define ODD(words) "file: its JSON has " words " is needed"
#define ABOVE(number) "file: its JSON has a number above " number
#define HAS "file: tensor 'a' has "
#define HALF HAS "not all of dtype, shape and two data_offsets"
#define KEY(key)                                                           \
    HAS "the key '" key                                                    \
        "': dtype, shape and data_offsets are needed, each once"
#define PLACE(offsets, bytes)                                              \
    HAS "data_offsets " offsets ": " bytes " bytes are needed"
#define DTYPE(its)                                                         \
    HAS "dtype '" its                                                      \
        "'; it must be one of safetensors' of whole bytes, such as F32"
#define LESS HAS "data_offsets [24, 0]: the second must not be less"
static const struct {
    const char *header, *words;
} wrong[] = {
    {"{" RIGHT "} {", ODD("'{' at byte 58 where its end")},
    {"{'__metadata__':{'a':1}}", ODD("'1' at byte 21 where '\"'")},
    {SHAPE("[2 3]"), ODD("'3' at byte 31 where ','")},
    {SHAPE("[2,03]"), ODD("'0' at byte 31 where a whole number")},
    {"{'__metadata__': null,'__metadata__':{}}",
     "file: has __metadata__ twice"},
    {"{" A("f32", "[6]", "[0,24]") "}", DTYPE("f32")},
    {"{" A("", "[0]", "[0,0]") "}", DTYPE("")},
    {"{" A("F4", "[2]", "[0,1]") "}", DTYPE("F4")},
    {"{'a':{'shape':[3],'data_offsets':[0,24]}}", HALF},
    {OFFSETS("[24]"), HALF},
    {"{'a':{'dtype':'F64','dtype':'F32'}}", KEY("dtype")},
    {OFFSETS("[0,24],'data_offsets':[0,24]"), KEY("data_offsets")},
    {"{" A("BF16", "[12]", "[24,0]") "}", LESS},
    {SHAPE("[2147483648]"), ABOVE("2147483647 at byte 29")},
    {"{" RIGHT ",'b':{'dtype':'BF16','shape':[1000, "
     "1000],'data_offsets':[24,2000024]}}",
     "file: is cut short: its header says 2000024 bytes of data, up to the "
     "end of tensor 'b', and 24 are there"},
    {OFFSETS("[9223372036854775784,9223372036854775808]"),
     ABOVE("9223372036854775807 at byte 70")},
    {SHAPE("[1,1,1,2,3]"),
     "file: its JSON has more than 4 numbers at byte 37"},
    {SHAPE("[2147483647,2147483647,2147483647,4]"),
     PLACE("[0, 24]", "158456324807167746302573281280")},
    {SHAPE("[2,4]"), PLACE("[0, 24]", "32")},
    {"{" A("F32", "[1073741824,1073741824,4]", "[0,0]") "}",
     PLACE("[0, 0]", "18446744073709551616")},
    {"{" A("F32", "[5]", "[0,20]") "}",
     "file: has 24 bytes of data where its tensors have 20"},
    {"{" RIGHT "," B "}", "file: tensor 'b' begins at byte 16 of the data "
                          "where byte 24 comes next"},
    {"{" RIGHT "," A("F32", "[0]", "[24,24]") "}",
     "file: has the tensor 'a' twice"},
};

/* Every type that safetensors has of whole bytes: 8 entries have as many
 * bytes as its name says bits, where 3 are there. */
static void refuse_types(void)
{
    const char *types = "U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ "
                        "F8_E5M2FNUZ I16 U16 F16 BF16 I32 U32 F32 F64 I64 "
                        "U64 C64 BOOL";
    char name[20];
    for (int n; sscanf(types, "%19s%n", name, &n) == 1; types += n) {
        const int bits = atoi(name + strcspn(name, "0123456789"));
        begin(tap_words("{" A("%s", "[8]", "[0,3]") "}", name));
        add("123", 3);
        write_file();
        TAP_REFUSES("tensors_read", tap_words("%s in 3 bytes", name),
                    tap_words(PLACE("[0, 3]", "%d"), bits ? bits : 8),
                    tensors_read(path));
    }
}

static void refuse_others(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(wrong[i].header);
        add((char[24]){0}, 24);
        refused(wrong[i].words);
    }
    begin_whole();
    Tensors all = tensors_read(path);
    const Tensor *f = tensors_find(&all, "single");
    const Tensor *i = tensors_find(&all, "integers");
#define TYPE "file: tensor 'integers' has dtype I64: "
    REFUSES("gone: cannot be read: No such file or directory",
            tensors_read("gone"));
    REFUSES("file: has no tensor 'singl'", tensors_find(&all, "singl"));
    REFUSES(TYPE "F32 is needed", tensor_floats(i));
    REFUSES(TYPE "F64 is needed", tensor_doubles(i));
    REFUSES("file: tensor 'single' has dtype F32: I64 is needed",
            tensor_integers(f));
    REFUSES("file: tensor 'mask' has dtype BOOL: F32 is needed",
            tensor_floats(tensors_find(&all, "mask")));
    tensors_free(&all);
}

static void read_and_free(void)
{
    Tensors all = tensors_read(path);
    tensors_free(&all);
}

int main(void)
{
    enter_folder();
    TAP("every type and rank", begin_whole(), holds_whole());
    TAP("tensors_open: entries one by one", opened_test());
    refuse_starts();
    refuse_types();
    refuse_others();
    DAMAGES("tensors_read", begin_whole(), read_and_free);
    leave_folder();
    return tap_done();
}
