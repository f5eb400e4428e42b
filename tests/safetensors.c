/* Reading safetensors files, whole ones and damaged ones, and writing them,
 * in a temporary folder. */
#include "damaged.h"

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

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

static const char others[] = {1, 0, 1, -1, 63};

/* Every type and rank; keys, tensors and blanks in no usual order. */
static void begin_whole(void)
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
          "\"half\":{\"dtype\":\"BF16\",\"shape\":[1],"
          "\"data_offsets\":[111,113]},"
          "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[3],"
          "\"data_offsets\":[108,111]}} ");
    add(exact, sizeof exact);
    add(integers, sizeof integers);
    add(single, sizeof single);
    add(others, sizeof others);
    write_file();
}

#define SIZE_NAME "size/x 1"
enum { WRITABLE = 5, WHOLE = 7 };
static const Tensor whole[WHOLE] = {
    {"", "single", 'f', "F32", 3, {1, 2, 3, 1}, 6, (void *)single},
    {"", SIZE_NAME, 'd', "F64", 2, {2, 3, 1, 1}, 6, (void *)exact},
    {"", "none", 'f', "F32", 2, {4, 0, 1, 1}, 0, (void *)single},
    {"", "scalar", 'f', "F32", 0, {1, 1, 1, 1}, 1, (void *)(single + 6)},
    {"", "integers", 'i', "I64", 4, {2, 1, 2, 1}, 4, (void *)integers},
    {"", "mask", '?', "BOOL", 1, {3, 1, 1, 1}, 3, (void *)others},
    {"", "half", '?', "BF16", 1, {1, 1, 1, 1}, 2, (void *)(others + 3)},
};

static size_t bytes_in(const Tensor *t)
{
    return t->count * (t->type == '?' ? 1 : t->type == 'f' ? 4 : 8);
}

static void is_as(const Tensor *right, const Tensor *t)
{
    tap_true("path", t->path == path);
    tap_true("name", !strcmp(t->name, right->name));
    tap_true("type", t->type == right->type);
    tap_true("dtype", !strcmp(t->dtype_name, right->dtype_name));
    tap_near("rank", t->rank, right->rank, 0, 0);
    tap_near("count", (double)t->count, (double)right->count, 0, 0);
    tap_true("shape", !memcmp(t->shape, right->shape, sizeof t->shape));
    tap_true("entries", !memcmp(t->data, right->data, bytes_in(right)));
}

static void read_whole(void)
{
    begin_whole();
    Tensors all = tensors_read(path);
    tap_near("tensors", (double)all.count, WHOLE, 0, 0);
    for (int i = 0; i < WHOLE; i++)
        is_as(&whole[i], tensors_find(&all, whole[i].name));
    tensors_free(&all);
}

static void have_whole(void)
{
    begin_whole();
    Tensors all = tensors_read(path);
    for (int i = 0; i < WHOLE; i++)
        tap_near(whole[i].name, tensors_have(&all, whole[i].name), 1, 0, 0);
    const char *const other[] = {"",  "singl", "single ",
                                 "a", "z",     "__metadata__"};
    for (int i = 0; i < 6; i++)
        tap_near(other[i], tensors_have(&all, other[i]), 0, 0, 0);
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
                        "%c\"%d\":{\"dtype\":\"\",\"shape\":[],"
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
    refused("file_read: file: ends after 7 bytes where 8 are needed");
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
#define LESS                                                               \
    "check_place: file: tensor 'a' has data_offsets [24, 0]: the second "  \
    "must not be less"
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
    {"{\"a\\n\":{}}", "read_header: file: has the name 'a\\n': one without "
                      "escapes is needed"},
    {"{\"a\":{\"shape\":[3],\"data_offsets\":[0,24]}}", HALF},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", HALF},
    {OFFSETS("[24]"), HALF},
    {"{\"a\":{\"dtype\":\"F64\",\"dtype\":\"F32\"}}", KEY("dtype")},
    {"{\"a\":{\"shape\":[],\"shape\":[]}}", KEY("shape")},
    {OFFSETS("[0,24],\"data_offsets\":[0,24]"), KEY("data_offsets")},
    {"{\"a\":{\"size\":1}}", KEY("size")},
    {"{" A("7", "[2,3]", "[0,24]") "}", ODD("'7' at byte 14 where '\"'")},
    {"{" A("\"BF16\"", "[12]", "[24,0]") "}", LESS},
    {"{" A("\"BF16\"", "[12]", "[0,23]") "}",
     "check_places: file: has 24 bytes of data where its tensors have 23"},
    {"{" A("\"BF16\"", "[1,1,1,1,1]", "[0,24]") "}",
     "read_list: file: its JSON has more than 4 numbers at byte 38"},
    {SHAPE("[2147483648]"), ABOVE("2147483647 at byte 29")},
    {SHAPE("[99999999999999999999999]"), ABOVE("2147483647 at byte 29")},
    {OFFSETS("[1,25]"), ABOVE("24 at byte 52")},
    {SHAPE("[1,1,1,2,3]"),
     "read_list: file: its JSON has more than 4 numbers at byte 37"},
    {SHAPE("[2147483647,2147483647,2147483647,4]"),
     PLACE("[0, 24]", "158456324807167746302573281280")},
    {SHAPE("[2,4]"), PLACE("[0, 24]", "32")},
    {SHAPE("[5]"), PLACE("[0, 24]", "20")},
    {"{" A("\"F32\"", "[1073741824,1073741824,4]", "[24,0]") "}", LESS},
    {"{" A("\"F32\"", "[1073741824,1073741824,4]", "[0,0]") "}",
     PLACE("[0, 0]", "18446744073709551616")},
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
    const Tensor *half = tensors_find(&all, "half");
#define SAYS(words) "safetensors.c: " words
#define TYPE "entries: file: tensor 'integers' has dtype I64: "
    REFUSES("file.c: file_open: gone: cannot be read: No such file or "
            "directory",
            tensors_read("gone"));
    REFUSES("file.c: file_open: .: cannot be read: Is a directory",
            tensors_read("."));
    REFUSES(SAYS("tensors_find: file: has no tensor 'singl'"),
            tensors_find(&all, "singl"));
    REFUSES(SAYS(TYPE "F32 is needed"), tensor_floats(i));
    REFUSES(SAYS(TYPE "F64 is needed"), tensor_doubles(i));
    REFUSES(SAYS("entries: file: tensor 'single' has dtype F32: I64 is "
                 "needed"),
            tensor_integers(f));
    REFUSES(SAYS("entries: file: tensor 'half' has dtype BF16: F32 is "
                 "needed"),
            tensor_floats(half));
    REFUSES(NULL, tensor_doubles(half));
    REFUSES(NULL, tensor_integers(half));
    tensors_free(&all);
}

/* ---- Writing. */

/* More than is written at once. */
enum { MANY = 50000 };
static float many[MANY];

/* What writes asks here that all be flushed to the disk: has it been given
 * all, and is the old file still in its place? */
static bool flush_fails, flush_kills;
static int flushes;
static double flushed;
static size_t file_size_then;

static size_t size_of(const char *name)
{
    struct stat about;
    return stat(name, &about) ? 0 : (size_t)about.st_size;
}

int fsync(int fd)
{
    struct stat about;
    flushes++;
    flushed = fstat(fd, &about) ? 0 : (double)about.st_size;
    file_size_then = size_of(path);
    if (flush_kills)
        raise(SIGKILL);
    errno = EIO;
    return flush_fails ? -1 : 0;
}

/* How many files there are. */
static int files(void)
{
    DIR *all = opendir(".");
    int count = 0;
    for (const struct dirent *one; (one = readdir(all));)
        count += *one->d_name != '.';
    closedir(all);
    return count;
}

/* Tensors of every type and rank, in no order. */
static void write_whole(void)
{
    begin_whole(); /* whose place is taken */
    tensors_write(path, WRITABLE, whole);
    Tensors all = tensors_read(path);
    tap_near("tensors", (double)all.count, WRITABLE, 0, 0);
    for (int i = 0; i < WRITABLE; i++)
        is_as(&whole[i], tensors_find(&all, whole[i].name));
    tensors_free(&all);
    tensors_write(path, 0, whole);
    all = tensors_read(path);
    tap_near("none", (double)all.count, 0, 0, 0);
    tensors_free(&all);
    tap_near("files", files(), 1, 0, 0);
}

/* What does not count need not be there, not even a number of entries. */
static void write_less(void)
{
    tensors_write(path, 2,
                  (Tensor[]){{.name = "list",
                              .type = 'f',
                              .rank = 1,
                              .shape = {7},
                              .data = (void *)single},
                             {.name = "", .type = 'i', .rank = 4}});
    Tensors all = tensors_read(path);
    const Tensor *t = tensors_find(&all, "list");
    tap_near("count", (double)t->count, 7, 0, 0);
    tap_near("shape beyond the rank", t->shape[1], 1, 0, 0);
    tap_true("entries", !memcmp(t->data, single, sizeof single));
    tap_near("of no name", (double)tensors_find(&all, "")->count, 0, 0, 0);
    tensors_free(&all);
}

static void write_flushed(void)
{
    begin_whole();
    const size_t old = size_of(path);
    tensors_write(path, 1, whole);
    tap_near("flushes", flushes, 1, 0, 0);
    tap_near("flushed bytes", flushed, (double)size_of(path), 0, 0);
    tap_true("the old file was there till then",
             file_size_then == old && size_of(path) != old);
}

/* Into `file`, without what the header says about itself, and without the
 * blanks at its end. */
static void load(const char *name)
{
    FILE *from = fopen(name, "rb");
    uint64_t length = 0;
    if (!from || !fread(&length, sizeof length, 1, from) ||
        length + 1 > sizeof file || length % 8)
        REFUSE("%s: has no header of a multiple of 8 bytes", name);
    file_size = fread(file, 1, length, from);
    file[file_size] = '\0';
    char *text = (char *)file, *behind = strstr(text, "},\"");
    if (behind && !strncmp(text, "{\"__metadata__\":", 16)) {
        memmove(text + 1, behind + 2, strlen(behind + 2) + 1);
        file_size = strlen(text);
    }
    while (file[file_size - 1] == ' ')
        file_size--;
    file_size += fread(file + file_size, 1, sizeof file - file_size, from);
    fclose(from);
}

/* What Python's package has written, byte for byte, but for what the book's
 * own script says about itself. */
static char home[4096];
static glob_t found; /* from home on, whose name may have brackets */
static void write_as_python(void)
{
    static unsigned char right[sizeof file];
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = tap_words("%s/%s", home, found.gl_pathv[i]);
        if (size_of(name) >= sizeof file)
            continue;
        Tensors all = tensors_read(name);
        tensors_write(path, (int)all.count, all.tensor);
        tensors_free(&all);
        load(name);
        const size_t size = file_size;
        memcpy(right, file, size);
        load(path);
        tap_near("bytes", (double)file_size, (double)size, 0, 0);
        tap_true(name, !memcmp(file, right, size));
    }
    tap_true("golden files", found.gl_pathc > 0);
}

/* ---- What cannot be written leaves the file as it was. */

static Tensor wrong_tensor(const char *name, char type, int rank, int n,
                           int m)
{
    return (Tensor){.name = name,
                    .type = type,
                    .rank = rank,
                    .shape = {n, m, INT_MAX, INT_MAX},
                    .data = (void *)(n == 7 ? NULL : single)};
}

#define TYPES "'f', 'd' or 'i', and 0 to 4, are needed"
#define SIZES "sizes from 0 on that fit into memory are needed"
#define NAMES                                                              \
    "one of printable ASCII without quotes and backslashes is needed"
static void refuse_names(void)
{
    static const struct {
        const char *name, *words;
    } given[] = {
        {"a\"b", "a\"b': " NAMES},
        {"a\\", "a\\': " NAMES},
        {"\x1f", "\\x1f': " NAMES},
        {"\x7f", "\\x7f': " NAMES},
        {"\xc3\xa4", "\xc3\xa4': " NAMES},
        {"__metadata__", "__metadata__', which is no tensor's"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const Tensor t = wrong_tensor(given[i].name, 'f', 1, 1, 0);
        REFUSES(tap_words("safetensors.c: check_name: file: has the name "
                          "'%s",
                          given[i].words),
                tensors_write(path, 1, &t));
    }
}

static volatile int less = -1; /* which the compiler is not to know */
static void refuse_tensors(void)
{
    static const struct {
        const char *name, *words;
        int type, rank, n, m;
    } given[] = {
        {"a", "tensor 'a' has type '?' and rank 1: " TYPES, '?', 1, 1, 0},
        {"a", "tensor 'a' has type ' ' and rank 0: " TYPES, 0, 0, 1, 0},
        {"a", "tensor 'a' has type 'f' and rank 5: " TYPES, 'f', 5, 1, 0},
        {"a", "tensor 'a' has type 'f' and rank -1: " TYPES, 'f', -1, 1, 0},
        {"a", "tensor 'a' has the size -1: " SIZES, 'f', 2, 3, -1},
        {"a", "tensor 'a' has the size 2147483647: " SIZES, 'f', 4, 3, 3},
        {"a", "tensor 'a' has no data", 'f', 1, 7, 0},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const Tensor t =
            wrong_tensor(given[i].name, (char)given[i].type, given[i].rank,
                         given[i].n, given[i].m);
        REFUSES(tap_words("safetensors.c: check_given: file: %s",
                          given[i].words),
                tensors_write(path, 1, &t));
    }
    refuse_names();
    REFUSES("safetensors.c: check_names: file: has the tensor 'single' "
            "twice",
            tensors_write(path, 2, (Tensor[]){whole[0], whole[0]}));
    REFUSES("safetensors.c: in_order: file: -1 tensors: 0 or more are "
            "needed",
            tensors_write(path, less, whole));
}

/* In the child that asks for this, a file cannot be longer than 64
 * bytes. */
static const char *limited(const char *name)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    return name;
}

/* The part of the file that is asked for is on a full disk. */
static const char *full(const char *name)
{
    if (symlink("/dev/full", tap_words("%s.part", name)))
        REFUSE("%s: no link can be made", name);
    return name;
}

static const char *unflushed(const char *name)
{
    flush_fails = true;
    return name;
}

/* As someone who may not write here: root may everywhere. */
static const char *barred(const char *name)
{
    if (!getuid() && setuid(65534))
        REFUSE("%s: root must not be root here", name);
    return name;
}

#define CANNOT(name, why)                                                  \
    "file.c: check_written: " name ": cannot be written: " why
static void refuse_places(void)
{
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, whole));
    const Tensor large = {
        .name = "x", .type = 'f', .rank = 1, .shape = {MANY}, .data = many};
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, &large));
    if (!access("/dev/full", W_OK))
        REFUSES(CANNOT("file", "No space left on device"),
                tensors_write(full(path), 1, whole));
    REFUSES(CANNOT("file", "Input/output error"),
            tensors_write(unflushed(path), 1, whole));
    REFUSES(CANNOT("gone/file", "No such file or directory"),
            tensors_write("gone/file", 1, whole));
    REFUSES(CANNOT("file/x", "Not a directory"),
            tensors_write("file/x", 1, whole));
    mkdir("folder", 0700);
    REFUSES("file.c: file_begin: folder: is a link, a folder or a device: "
            "the name of a file is needed",
            tensors_write("folder", 1, whole));
    rmdir("folder");
    chmod(".", 0555);
    REFUSES(CANNOT("file", "Permission denied"),
            tensors_write(barred(path), 1, whole));
    chmod(".", 0777);
    chmod(path, 0444);
    REFUSES(CANNOT("file", "Permission denied"),
            tensors_write(barred(path), 1, whole));
    chmod(".", 0700);
    chmod(path, 0644);
}

static void refused_left_all(void)
{
    Tensors all = tensors_read(path);
    tap_near("tensors", (double)all.count, WHOLE, 0, 0);
    for (int i = 0; i < WHOLE; i++)
        is_as(&whole[i], tensors_find(&all, whole[i].name));
    tensors_free(&all);
    tap_near("files", files(), 1, 0, 0);
}

/* Killed at any byte of what it writes, or when all is written, a program
 * leaves the last file. Each holds one number, many times over. */
static void write_many(float x)
{
    const Tensor t = {
        .name = "x", .type = 'f', .rank = 1, .shape = {MANY}, .data = many};
    for (int i = 0; i < MANY; i++)
        many[i] = x;
    tensors_write(path, 1, &t);
}

enum { KILLS = 20 };
static void write_killed(void)
{
    write_many(1);
    const size_t size = size_of(path);
    for (size_t i = 0; i <= KILLS; i++) {
        const rlim_t most = size * i / KILLS;
        int status;
        const pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGXFSZ, SIG_DFL); /* which kills, as nothing else */
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
            flush_kills = true;
            write_many(2);
            _exit(0);
        }
        waitpid(child, &status, 0);
        tap_true("killed", WIFSIGNALED(status));
        tap_near("bytes written",
                 (double)size_of(tap_words("%s.part", path)), (double)most,
                 0, 0);
        Tensors all = tensors_read(path);
        const float *x = tensor_floats(tensors_find(&all, "x"));
        for (int k = 0; k < MANY; k++)
            if (x[k] != 1)
                tap_true("the last file", false);
        tensors_free(&all);
    }
    write_many(3);
    tap_near("files", files(), 1, 0, 0);
}

/* ---- Every damage of one kind. */

static void read_and_free(void)
{
    Tensors all = tensors_read(path);
    tensors_free(&all);
}

int main(void)
{
    if (!getcwd(home, sizeof home))
        REFUSE("the folder has no name of less than %zu bytes",
               sizeof home);
    glob("golden/*.safetensors", 0, NULL, &found);
    enter_folder();
    TAP(read_whole, "tensors_read: every type and rank");
    TAP(free_whole, "tensors_free: frees all, an empty tensor, too");
    TAP(have_whole, "tensors_have: what is there, and nothing else");
    TAP(read_few_and_many, "tensors_read: no tensors, and a thousand");
    refuse_starts();
    refuse_headers();
    refuse_others();
    TAP(write_whole, "tensors_write: every type and rank");
    TAP(write_less, "tensors_write: what does not count is not needed");
    TAP(write_flushed, "tensors_write: flushed, and then in its place");
    TAP(write_as_python, "tensors_write: as Python's package writes");
    begin_whole();
    refuse_tensors();
    refuse_places();
    TAP(refused_left_all, "tensors_write: what is refused leaves no trace");
    TAP_LARGE(write_killed, "tensors_write: killed, leaves a whole file");
    each_damage("tensors_read", begin_whole, read_and_free);
    leave_folder();
    return tap_done();
}
