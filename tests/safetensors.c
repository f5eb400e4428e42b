/* Reading safetensors files, whole ones and damaged ones, which are made
 * here in a temporary folder. */
#include "tap.h"

static const char *const path = "file";
static unsigned char file[100000];
static size_t file_size;

static void write_file(void)
{
    FILE *to = fopen(path, "wb");
    if (!to || fwrite(file, 1, file_size, to) != file_size || fclose(to))
        REFUSE("%s: cannot be written", path);
}

static void add(const void *bytes, size_t size)
{
    memcpy(file + file_size, bytes, size);
    file_size += size;
}

static void begin(const char *header)
{
    const uint64_t length = strlen(header);
    file_size = 0;
    add(&length, sizeof length);
    add(header, length);
}

/* ---- Whole files. */

static const double exact[] = {0.1, -0.0, 5e-324, INFINITY, 1e308, -2};
static const int64_t integers[] = {-1, INT64_MIN, INT64_MAX, 1 << 24};
static const float single[] = {1.5f, -2.25f, 0, -0.0f, 1e-40f, 3e38f, 7};

/* Every type and rank; keys, tensors and blanks in no usual order. */
static void begin_whole(void)
{
    begin("{\"single\":{\"dtype\":\"F32\",\"shape\":[1,2,3],"
          "\"data_offsets\":[80,104]},\n"
          " \"__metadata__\": {\"a\": \"\\\"}\\u00e9\\\\\", \"\": \"\"},"
          "\t\"gr\xc3\xb6\xc3\x9f\x65/x 1\" :{ \"shape\" :[ 2 , 3 ] ,\r\n"
          " \"data_offsets\":[0,48],\"dtype\":\"F64\"},"
          "\"none\":{\"dtype\":\"F32\",\"shape\":[4,0],"
          "\"data_offsets\":[80,80]},"
          "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],"
          "\"data_offsets\":[104,108]},"
          "\"integers\":{\"dtype\":\"I64\",\"shape\":[2,1,2,1],"
          "\"data_offsets\":[48,80]}} ");
    add(exact, sizeof exact);
    add(integers, sizeof integers);
    add(single, sizeof single);
    write_file();
}

static const struct {
    Tensor right;
    const void *entries;
} whole[] = {
    {{"", "single", 'f', 3, {1, 2, 3, 1}, 6, NULL}, single},
    {{"", "gr\xc3\xb6\xc3\x9f\x65/x 1", 'd', 2, {2, 3, 1, 1}, 6, NULL},
     exact},
    {{"", "none", 'f', 2, {4, 0, 1, 1}, 0, NULL}, single},
    {{"", "scalar", 'f', 0, {1, 1, 1, 1}, 1, NULL}, single + 6},
    {{"", "integers", 'i', 4, {2, 1, 2, 1}, 4, NULL}, integers},
};

static void read_whole(void)
{
    begin_whole();
    Tensors all = tensors_read(path);
    tap_near("tensors", (double)all.count, 5, 0, 0);
    for (int i = 0; i < 5; i++) {
        const Tensor *right = &whole[i].right;
        const Tensor *t = tensors_find(&all, right->name);
        tap_true("path", t->path == path);
        tap_true("name", !strcmp(t->name, right->name));
        tap_true("type", t->type == right->type);
        tap_near("rank", t->rank, right->rank, 0, 0);
        tap_near("count", (double)t->count, (double)right->count, 0, 0);
        tap_true("shape", !memcmp(t->shape, right->shape, sizeof t->shape));
        tap_true("entries",
                 !memcmp(t->data, whole[i].entries,
                         right->count * (right->type == 'f' ? 4 : 8)));
    }
    tensors_free(&all);
}

static void free_whole(void)
{
    begin_whole();
    Tensors all = tensors_read(path);
    tensors_free(&all);
    tap_true("nothing is left",
             !all.tensor && !all.data && !all.text && !all.count);
}

/* No tensors, and as many as a header can hold, in its shortest words. */
static void read_few_and_many(void)
{
    begin("{}");
    write_file();
    Tensors all = tensors_read(path);
    tap_near("tensors", (double)all.count, 0, 0, 0);
    tensors_free(&all);

    static char header[70000];
    int end = 0;
    for (int i = 0; i < 1000; i++)
        end += snprintf(header + end, sizeof header - (size_t)end,
                        "%c\"%d\":{\"dtype\":\"F32\",\"shape\":[0],"
                        "\"data_offsets\":[0,0]}",
                        i ? ',' : '{', i);
    strcpy(header + end, "}");
    begin(header);
    write_file();
    all = tensors_read(path);
    tap_near("tensors", (double)all.count, 1000, 0, 0);
    tap_true("one of them", tensors_find(&all, "999")->count == 0);
    tensors_free(&all);
}

/* ---- Damaged files. */

/* By a line that begins with the file of C. */
static void refused(const char *words)
{
    char line[300];
    snprintf(line, sizeof line, "safetensors.c: %s", words);
    write_file();
    REFUSES(line, tensors_read(path));
}

static void refuse_starts(void)
{
    begin("{}");
    file_size = 7;
    refused("read_bytes: file: ends after 7 bytes where 8 are needed");
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

#define ODD(words) "unexpected: file: its header has " words " is needed"
#define ABOVE(number)                                                      \
    "read_number: file: its header has a number above " number
#define HALF                                                               \
    "read_tensor: file: tensor 'a' has not all of dtype, shape and two "   \
    "data_offsets"
#define KEY(key)                                                           \
    "read_tensor: file: tensor 'a' has the key '" key                      \
    "': dtype, shape and data_offsets are needed, each once"
#define PLACE(offsets, bytes)                                              \
    "check_place: file: tensor 'a' has data_offsets " offsets ": " bytes   \
    " bytes are needed"
static const struct {
    const char *header, *words;
} wrong[] = {
    {"", ODD("nothing at byte 0 where '{'")},
    {" {}", ODD("' ' at byte 0 where '{'")},
    {"{" RIGHT, ODD("nothing at byte 56 where ','")},
    {"{" RIGHT ",}", ODD("'}' at byte 57 where '\"'")},
    {"{" RIGHT "} {", ODD("'{' at byte 58 where its end")},
    {"{a", ODD("'a' at byte 1 where '\"'")},
    {"{\"a", ODD("nothing at byte 3 where '\"'")},
    {"{\"a\tb\"", ODD("0x09 at byte 3 where '\"'")},
    {"{\"a\\x\"", ODD("'x' at byte 4 where an escape")},
    {"{\"a\\u12\"", ODD("'u' at byte 4 where an escape")},
    {"{\"a\"}", ODD("'}' at byte 4 where ':'")},
    {"{\"__metadata__\":{\"a\":1}}", ODD("'1' at byte 21 where '\"'")},
    {SHAPE("[2,3"), ODD("'\"' at byte 33 where a whole number")},
    {SHAPE("[2 3]"), ODD("'3' at byte 31 where ','")},
    {SHAPE("[-2,3]"), ODD("'-' at byte 29 where a whole number")},
    {SHAPE("[2,03]"), ODD("'0' at byte 31 where a whole number")},
    {SHAPE("[2.0,3]"), ODD("'.' at byte 30 where ','")},
    {"{\"a\\n\"",
     "next_name: file: has the name 'a\\n': one without escapes is needed"},
    {"{\"a\":{\"shape\":[3],\"data_offsets\":[0,24]}}", HALF},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", HALF},
    {OFFSETS("[24]"), HALF},
    {"{\"a\":{\"dtype\":\"F64\",\"dtype\":\"F32\"}}", KEY("dtype")},
    {"{\"a\":{\"shape\":[],\"shape\":[]}}", KEY("shape")},
    {OFFSETS("[0,24],\"data_offsets\":[0,24]"), KEY("data_offsets")},
    {"{\"a\":{\"size\":1}}", KEY("size")},
    {"{" A("\"BF16\"", "[2,3]", "[0,24]") "}",
     "read_type: file: has the dtype 'BF16': F32, F64 or I64 is needed"},
    {SHAPE("[2147483648]"), ABOVE("2147483647 at byte 29")},
    {SHAPE("[99999999999999999999999]"), ABOVE("2147483647 at byte 29")},
    {OFFSETS("[1,25]"), ABOVE("24 at byte 52")},
    {SHAPE("[1,1,1,2,3]"),
     "read_list: file: its header has more than 4 numbers at byte 37"},
    {SHAPE("[2147483647,2147483647,2147483647,4]"),
     PLACE("[0, 24]", "158456324807167746302573281280")},
    {SHAPE("[2,4]"), PLACE("[0, 24]", "32")},
    {SHAPE("[5]"), PLACE("[0, 24]", "20")},
    {"{" A("\"F32\"", "[1073741824,1073741824,4]", "[24,0]") "}",
     PLACE("[24, 0]", "18446744073709551616")},
    {"{" A("\"F32\"", "[1]", "[2,6]") "}",
     "check_place: file: tensor 'a' begins at byte 2 of the data: a "
     "multiple of 4 is needed"},
    {"{" A("\"F32\"", "[5]", "[4,24]") "}",
     "check_places: file: tensor 'a' begins at byte 4 of the data where "
     "byte 0 comes next"},
    {"{" A("\"F32\"", "[5]", "[0,20]") "}",
     "check_places: file: has 24 bytes of data where its tensors have 20"},
    {"{" RIGHT "," B "}", "check_places: file: tensor 'b' begins at byte "
                          "16 of the data where byte 24 comes next"},
    {"{" RIGHT "," A("\"F32\"", "[0]", "[24,24]") "}",
     "check_names: file: has the tensor 'a' twice"},
};

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
#define SAYS(words) "safetensors.c: " words
#define TYPE "entries: file: tensor 'integers' has type 'i': "
    REFUSES(SAYS("tensors_read: gone: cannot be opened: No such file or "
                 "directory"),
            tensors_read("gone"));
    REFUSES(SAYS("read_bytes: .: cannot be read: Is a directory"),
            tensors_read("."));
    REFUSES(SAYS("tensors_find: file: has no tensor 'singl'"),
            tensors_find(&all, "singl"));
    REFUSES(SAYS(TYPE "'f' is needed"), tensor_floats(i));
    REFUSES(SAYS(TYPE "'d' is needed"), tensor_doubles(i));
    REFUSES(SAYS("entries: file: tensor 'single' has type 'f': 'i' is "
                 "needed"),
            tensor_integers(f));
    tensors_free(&all);
}

/* ---- Every damage of one kind: either the file is read and nothing said,
 * or it is refused in one line. */

static void leave(void)
{
    _exit(2);
}

static void read_or_refused(const char *damage, size_t at)
{
    char what[64], said[1024] = "";
    int status;
    static FILE *error;
    if (!error)
        error = tmpfile();
    rewind(error);
    if (ftruncate(fileno(error), 0))
        REFUSE("no temporary file can be emptied");
    write_file();
    const pid_t child = fork();
    if (child == 0) {
        /* Leaves before a sanitizer looks for what a refusal has not freed:
         * it would take seconds in all. */
        atexit(leave);
        dup2(fileno(error), STDERR_FILENO);
        Tensors all = tensors_read(path);
        tensors_free(&all);
        _exit(0);
    }
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    rewind(error);
    said[fread(said, 1, sizeof said - 1, error)] = '\0';
    snprintf(what, sizeof what, "%s %zu", damage, at);
    tap_report(status == 0 ? !*said
                           : status == 2 && tap_is_message(said, NULL) &&
                                 !strchr(said, '\n')[1],
               what, "status %d, said '%s'", status, said);
}

static void each_truncation(void)
{
    begin_whole();
    while (file_size-- > 0)
        read_or_refused("first bytes alone:", file_size);
}

static int bit;

static void each_bit(void)
{
    begin_whole();
    for (size_t i = 0; i < file_size; i++) {
        file[i] ^= (unsigned char)(1 << bit);
        read_or_refused("byte", i);
        file[i] ^= (unsigned char)(1 << bit);
    }
}

int main(void)
{
    char folder[] = "/tmp/safetensors-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        REFUSE("%s: no temporary folder can be made", folder);

    TAP(read_whole, "tensors_read: every type and rank");
    TAP(free_whole, "tensors_free: frees all, an empty tensor, too");
    TAP(read_few_and_many, "tensors_read: no tensors, and a thousand");
    refuse_starts();
    refuse_headers();
    refuse_others();
    TAP_LARGE(each_truncation, "tensors_read: every truncation of a file");
    for (bit = 0; bit < 8; bit++) {
        char name[64];
        snprintf(name, sizeof name,
                 "tensors_read: every byte with bit %d changed", bit);
        TAP_LARGE(each_bit, name);
    }

    if (remove(path) || chdir("/") || rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
    return tap_done();
}
