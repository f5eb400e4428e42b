/* Reading safetensors files, whole ones and damaged ones, in a temporary
 * folder. */
#include "whole.h"

static void have_whole(void)
{
    const char *const other[] = {"",  "singl", "single ",
                                 "a", "z",     "__metadata__"};
    begin_whole();
    Tensors all = tensors_read(path);
    for (int i = 0; i < WHOLE; i++)
        expect_equal(whole[i].name, tensors_have(&all, whole[i].name), 1);
    for (int i = 0; i < 6; i++)
        expect_equal(other[i], tensors_have(&all, other[i]), 0);
    tensors_free(&all);
}

/* No tensors, and as many as a header can hold, in its shortest words. */
static void read_few_and_many(void)
{
    begin("{}");
    write_file();
    Tensors all = tensors_read(path);
    expect_equal("tensors", (double)all.count, 0);
    tensors_free(&all);

    static char header[70000];
    int end = 0;
    for (int i = 0; i < 1000; i++)
        end += snprintf(header + end, sizeof header - (size_t)end,
                        "%c\"%d\":{\"dtype\":\"F4\",\"shape\":[0],"
                        "\"data_offsets\":[0,0]}",
                        i ? ',' : '{', i);
    strcpy(header + end, "}");
    begin(header);
    write_file();
    all = tensors_read(path);
    expect_equal("tensors", (double)all.count, 1000);
    expect_true("one of them", tensors_find(&all, "999")->count == 0);
    tensors_free(&all);
}

/* What others write: names with escapes, for characters of each length in
 * UTF-8; null as metadata; and escapes in the format's own words. */
static void read_escapes(void)
{
    static const struct {
        const char *written, *name;
    } as[] = {{"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
              {"\\u0041\\u007F\\u0080\\u07ff\\u0800\\uffff",
               "A\x7f\xc2\x80\u07ff\u0800\uffff"},
              {"\\ud800\\udc00\\uDBFF\\uDFFFx", "\U00010000\U0010ffffx"},
              {"\u00e9\u20ac\U0001f600", "\u00e9\u20ac\U0001f600"}};
    for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
        begin(tap_words("{\"__metadata__\": null, \"%s\":{\"dtype\":"
                        "\"F\\u00332\",\"shape\":[1],\"data_\\u006ff"
                        "fsets\":[0,4]}}",
                        as[i].written));
        add(single, 4);
        write_file();
        Tensors all = tensors_read(path);
        expect_equal("number",
                     (double)*tensor_floats(tensors_find(&all, as[i].name)),
                     (double)*single);
        tensors_free(&all);
    }
}

/* ---- Damaged files. */

/* By a line that begins with the file of C. */
static void refused(const char *words)
{
    char line[300];
    const char *of = !strncmp(words, "json_", 5)   ? "json"
                     : !strncmp(words, "file_", 5) ? "file"
                                                   : "safetensors";
    snprintf(line, sizeof line, "%s.c: %s", of, words);
    write_file();
    REFUSES(line, tensors_read(path));
}

static void refuse_starts(void)
{
    begin("{}");
    file_size = 7;
    refused("file_fill: file: ends after 7 bytes where 8 are needed");
    begin("{}");
    file[0] = 3;
    refused("tensors_read: file: says its header has 3 bytes: 2 are left");
    memset(file, 255, 8);
    refused("tensors_read: file: says its header has 18446744073709551615 "
            "bytes: 2 are left");
}

/* One tensor that is right for 24 bytes of data, and others. */
#define A(dtype, shape, offsets)                                           \
    "\"a\":{\"dtype\":" dtype ",\"shape\":" shape                          \
    ",\"data_offsets\":" offsets "}"
#define RIGHT A("\"F32\"", "[2,3]", "[0,24]")
#define SHAPE(shape) "{" A("\"F32\"", shape, "[0,24]") "}"
#define OFFSETS(offsets) "{" A("\"F32\"", "[2,3]", offsets) "}"
#define B "\"b\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[16,24]}"

#define ODD(words) "json_unexpected: file: its JSON has " words " is needed"
#define ABOVE(number)                                                      \
    "json_integer: file: its JSON has a number above " number
#define HALF                                                               \
    "read_tensor: file: tensor 'a' has not all of dtype, shape and two "   \
    "data_offsets"
#define KEY(key)                                                           \
    "read_tensor: file: tensor 'a' has the key '" key                      \
    "': dtype, shape and data_offsets are needed, each once"
#define PLACE(offsets, bytes)                                              \
    "check_place: file: tensor 'a' has data_offsets " offsets ": " bytes   \
    " bytes are needed"
#define DTYPE(its)                                                         \
    "read_tensor: file: tensor 'a' has dtype '" its                        \
    "'; it must be one of safetensors', such as F32"
#define LESS                                                               \
    "check_place: file: tensor 'a' has data_offsets [24, 0]: the second "  \
    "must not be less"
static const struct {
    const char *header, *words;
} wrong[] = {
    {"", ODD("nothing at byte 0 where '{'")},
    {"{" RIGHT, ODD("nothing at byte 56 where ',' or '}'")},
    {"{" RIGHT "} {", ODD("'{' at byte 58 where its end")},
    {"{\"a\tb\"", ODD("0x09 at byte 3 where '\"'")},
    {"{\"a\\x\"", ODD("'x' at byte 4 where an escape")},
    {"{\"a\\u12\"", ODD("'u' at byte 4 where an escape")},
    {"{\"__metadata__\":{\"a\":1}}", ODD("'1' at byte 21 where '\"'")},
    {SHAPE("[2 3]"), ODD("'3' at byte 31 where ','")},
    {SHAPE("[2,03]"), ODD("'0' at byte 31 where a whole number")},
    {"{\"\\u00", ODD("'u' at byte 3 where an escape")},
    {"{\"\xe0\x9f\xbf\"", ODD("0xe0 at byte 2 where UTF-8")},
    {"{\"\xf0\x8f\xbf\xbf\"", ODD("0xf0 at byte 2 where UTF-8")},
    {"{\"\xf4\x90\x80\x80\"", ODD("0xf4 at byte 2 where UTF-8")},
    {"{\"\xed\xa0\x80\"", ODD("0xed at byte 2 where UTF-8")},
    {"{\"\xe2\x82\"", ODD("0xe2 at byte 2 where UTF-8")},
    {"{\"a\\ud800xudc00\"",
     ODD("'u' at byte 4 where a whole surrogate pair")},
    {"{\"\\ud800\\ud800\"",
     ODD("'u' at byte 3 where a whole surrogate pair")},
    {"{\"\\udc00\\ud800\"",
     ODD("'u' at byte 3 where a whole surrogate pair")},
    {"{\"__metadata__\":{\"a\":\"\\udfff\"}}",
     ODD("'u' at byte 23 where a whole surrogate pair")},
    {"{\"__metadata__\":null,\"__metadata__\":{}}",
     "read_header: file: has __metadata__ twice"},
    {"{\"__metadata__\":{\"\":\"\\u0000\"},\"a\\u0000b\":{}}",
     "read_header: file: has a name with \\u0000 after 'a', where a string "
     "of C ends"},
    {"{" A("\"f32\"", "[6]", "[0,24]") "}", DTYPE("f32")},
    {"{" A("\"\"", "[0]", "[0,0]") "}", DTYPE("")},
    {"{" A("\"F32\\u0000\"", "[6]", "[0,24]") "}", DTYPE("F32\\xc0\\x80")},
    {"{" A("\"F6_E2M3\"", "[3]", "[0,3]") "}",
     "check_place: file: tensor 'a' of F6_E2M3 has 18 bits; it must have "
     "whole bytes"},
    {"{\"a\":{\"shape\":[3],\"data_offsets\":[0,24]}}", HALF},
    {OFFSETS("[24]"), HALF},
    {"{\"a\":{\"dtype\":\"F64\",\"dtype\":\"F32\"}}", KEY("dtype")},
    {OFFSETS("[0,24],\"data_offsets\":[0,24]"), KEY("data_offsets")},
    {"{" A("\"BF16\"", "[12]", "[24,0]") "}", LESS},
    {SHAPE("[2147483648]"), ABOVE("2147483647 at byte 29")},
    {"{" RIGHT ",\"b\":{\"dtype\":\"BF16\",\"shape\":[1000, 1000],"
     "\"data_offsets\":[24,2000024]}}",
     "check_places: file: is cut short: its header says 2000024 bytes of "
     "data, up to the end of tensor 'b', and 24 are there"},
    {OFFSETS("[9223372036854775784,9223372036854775808]"),
     ABOVE("9223372036854775807 at byte 70")},
    {SHAPE("[1,1,1,2,3]"),
     "read_list: file: its JSON has more than 4 numbers at byte 37"},
    {SHAPE("[2147483647,2147483647,2147483647,4]"),
     PLACE("[0, 24]", "158456324807167746302573281280")},
    {SHAPE("[2,4]"), PLACE("[0, 24]", "32")},
    {"{" A("\"F32\"", "[1073741824,1073741824,4]", "[0,0]") "}",
     PLACE("[0, 0]", "18446744073709551616")},
    {"{" A("\"F32\"", "[5]", "[0,20]") "}",
     "check_places: file: has 24 bytes of data where its tensors have 20"},
    {"{" RIGHT "," B "}", "check_places: file: tensor 'b' begins at byte "
                          "16 of the data where byte 24 comes next"},
    {"{" RIGHT "," A("\"F32\"", "[0]", "[24,24]") "}",
     "check_names: file: has the tensor 'a' twice"},
};

/* Every type that safetensors has, with its bits: the bytes of 8 entries. */
static void refuse_types(void)
{
    static const struct {
        const char *dtype;
        int bits;
    } type[] = {{"BOOL", 8},        {"U8", 8},          {"I8", 8},
                {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8},
                {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F4", 4},
                {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"I16", 16},
                {"U16", 16},        {"F16", 16},        {"BF16", 16},
                {"I32", 32},        {"U32", 32},        {"F32", 32},
                {"F64", 64},        {"I64", 64},        {"U64", 64},
                {"C64", 64}};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const char *dtype = type[i].dtype;
        begin(tap_words("{" A("\"%s\"", "[8]", "[0,3]") "}", dtype));
        add("123", 3);
        write_file();
        TAP_REFUSES("tensors_read", tap_words("%s in 3 bytes", dtype),
                    tap_words(PLACE("[0, 3]", "%d"), type[i].bits),
                    tensors_read(path));
    }
}

static void refuse_headers(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(wrong[i].header);
        add((char[24]){0}, 24);
        refused(wrong[i].words);
    }
}

static void refuse_others(void)
{
    begin_whole();
    Tensors all = tensors_read(path);
    const Tensor *f = tensors_find(&all, "single");
    const Tensor *i = tensors_find(&all, "integers");
    const Tensor *b = tensors_find(&all, "brain");
    const Tensor *mask = tensors_find(&all, "mask");
#define SAYS(words) "safetensors.c: " words
#define TYPE "entries: file: tensor 'integers' has dtype I64: "
    REFUSES("file.c: file_open: gone: cannot be read: No such file or "
            "directory",
            tensors_read("gone"));
    REFUSES(SAYS("tensors_find: file: has no tensor 'singl'"),
            tensors_find(&all, "singl"));
    REFUSES(SAYS(TYPE "F32 is needed"), tensor_floats(i));
    REFUSES(SAYS(TYPE "F64 is needed"), tensor_doubles(i));
    REFUSES(SAYS("entries: file: tensor 'single' has dtype F32: I64 is "
                 "needed"),
            tensor_integers(f));
    REFUSES(SAYS("entries: file: tensor 'mask' has dtype BOOL: F32 is "
                 "needed"),
            tensor_floats(mask));
    REFUSES(SAYS("entries: file: tensor 'brain' has dtype BF16: F16 is "
                 "needed"),
            tensor_halves(b));
    REFUSES(SAYS("entries: file: tensor 'single' has dtype F32: F16 is "
                 "needed"),
            tensor_halves(f));
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
    TAP("tensors_read: every type and rank", begin_whole(),
        holds_whole(WHOLE));
    TAP("tensors_free: frees all, an empty tensor, too", begin_whole(),
        holds_whole(WHOLE));
    TAP("tensors_have: what is there, and nothing else", have_whole());
    TAP("tensors_read: no tensors, and a thousand", read_few_and_many());
    TAP("tensors_read: names with escapes, as UTF-8", read_escapes());
    refuse_starts();
    refuse_types();
    refuse_headers();
    refuse_others();
    each_damage("tensors_read", begin_whole, read_and_free);
    leave_folder();
    return tap_done();
}
