/* Writing safetensors files, and what cannot be written, in a temporary
 * folder. */
#include "damaged.h"

#include <sys/stat.h>

/* Every type and rank, in no order. What does not count need not be there:
 * not a number of entries, a size beyond the rank, nor data of none. */
static float single[] = {1.5f, -2.25f, 0, -0.0f, 1e-40f, 3e38f, 7};
static double exact[] = {0.1, -0.0, 5e-324, INFINITY, 1e308, -2};
static int64_t integers[] = {-1, INT64_MIN, INT64_MAX, 1 << 24};
static uint16_t bits[] = {0x3e00, 0x8000, 0x7bff};
enum { GIVEN_TENSORS = 7 };
static const Tensor given[GIVEN_TENSORS] = {
    {"", "f", 'f', NULL, 3, {1, 2, 3}, 0, single, NULL, 0},
    {"", "d/x 1", 'd', NULL, 2, {2, 3}, 0, exact, NULL, 0},
    {"", "", 'f', NULL, 2, {4, 0}, 0, NULL, NULL, 0},
    {"", "scalar", 'f', NULL, 0, {0}, 0, single + 6, NULL, 0},
    {"", "i", 'i', NULL, 4, {2, 1, 2, 1}, 0, integers, NULL, 0},
    {"", "half", 'h', NULL, 1, {3, 9}, 0, bits, NULL, 0},
    {"", "brain", 'b', NULL, 1, {2}, 0, bits, NULL, 0},
};

/* Are these tensors, the first n of them, all that the file has? */
static void holds(int n)
{
    Tensors all = tensors_read(path);
    expect_equal("tensors", all.count, n);
    for (int i = 0; i < n; i++) {
        const Tensor *t = tensors_find(&all, given[i].name);
        const size_t size = t->count * tap_entry_size(t->type);
        expect_true("type", t->type == given[i].type);
        expect_equal("rank", t->rank, given[i].rank);
        for (int k = 0; k < t->rank; k++)
            expect_equal("shape", t->shape[k], given[i].shape[k]);
        expect_true("entries",
                    !size || !memcmp(t->data, given[i].data, size));
    }
    tensors_free(&all);
}

static size_t size_of(const char *name)
{
    struct stat about;
    return stat(name, &about) ? 0 : (size_t)about.st_size;
}

/* What writes asks here that all be flushed to the disk: has it been given
 * all, and is the old file still in its place? */
static bool flush_fails, flush_kills;
static int flushes;
static size_t flushed, size_then;
int fsync(int fd)
{
    struct stat about;
    flushes++;
    flushed = fstat(fd, &about) ? 0 : (size_t)about.st_size;
    size_then = size_of(path);
    if (flush_kills)
        raise(SIGKILL);
    errno = EIO;
    return flush_fails ? -1 : 0;
}

static void write_given(void)
{
    write_text("whose place is taken");
    tensors_write(path, GIVEN_TENSORS, given);
    expect_equal("flushes", flushes, 1);
    expect_equal("flushed bytes", flushed, size_of(path));
    expect_equal("the old file was there till then", size_then, file_size);
    holds(GIVEN_TENSORS);
    tensors_write(path, 0, given);
    holds(0);
}

/* The new file has the old one's permissions, whatever the umask is, or else
 * those that the umask leaves. The old one's other names keep what they had,
 * even one that stands where the part is made. */
static void write_kept(void)
{
    static const mode_t old[] = {0600, 0664, 0}, new[] = {0600, 0664, 0640};
    const mode_t usual = umask(027);
    for (int i = 0; i < 3; i++) {
        struct stat about;
        write_text("old");
        expect_true("another name", !link(path, "file.part"));
        expect_true("and one more",
                    old[i] ? !link(path, "other") : !rename(path, "other"));
        expect_true("mode", !chmod("other", old[i]));
        tensors_write(path, 1, given);
        expect_true("written", !stat(path, &about));
        expect_equal("permissions", about.st_mode & 07777, new[i]);
        expect_equal("bytes", size_of("other"), 3);
        remove(path);
        remove("other");
    }
    umask(usual);
}

/* The header, as safetensors 0.8.0 of Python has written it for these. */
static void write_as_python(void)
{
    static const char *const entry[7][4] = {
        {"i", "I64", "2,1,2,1", "0,32"},  {"d/x 1", "F64", "2,3", "32,80"},
        {"", "F32", "4,0", "80,80"},      {"f", "F32", "1,2,3", "80,104"},
        {"scalar", "F32", "", "104,108"}, {"brain", "BF16", "2", "108,112"},
        {"half", "F16", "3", "112,118"}};
    char due[1000] = "{", got[1000] = "";
    for (int k = 0; k < 7; k++)
        sprintf(strchr(due, '\0'),
                "\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                "\"data_offsets\":[%s]}%s",
                entry[k][0], entry[k][1], entry[k][2], entry[k][3],
                k < 6 ? "," : "}   ");
    uint64_t length = 0;
    tensors_write(path, GIVEN_TENSORS, given);
    FILE *from = fopen(path, "rb");
    expect_true("length", fread(&length, sizeof length, 1, from) &&
                              length == strlen(due) &&
                              fread(got, length, 1, from));
    expect(!strcmp(got, due), "the header", "%s", got);
    fclose(from);
}

/* ---- What cannot be written leaves the file as it was. */

#define TYPES "'f', 'd', 'i', 'b' or 'h', and 0 to 4, are needed"
#define SIZES "sizes from 0 on that fit into memory are needed"
#define NAMES                                                              \
    "one of printable ASCII without quotes and backslashes is needed"
#define NAMED(words) "file: has the name '" words
#define GIVEN(words) "file: tensor 'a' has " words
static void refuse_tensors(void)
{
    static const struct {
        const char *words;
        Tensor tensor;
    } wrong[] = {
        {NAMED("a\"b': " NAMES), {.name = "a\"b", .type = 'i'}},
        {NAMED("a\\': " NAMES), {.name = "a\\", .type = 'i'}},
        {NAMED("\\x1f': " NAMES), {.name = "\x1f", .type = 'i'}},
        {NAMED("__metadata__', which is no tensor's"),
         {.name = "__metadata__", .type = 'i'}},
        {GIVEN("type '?' and rank 1: " TYPES), {.type = '?', .rank = 1}},
        {GIVEN("type ' ' and rank 0: " TYPES), {.type = '\0'}},
        {GIVEN("type 'f' and rank 5: " TYPES), {.type = 'f', .rank = 5}},
        {GIVEN("type 'f' and rank -1: " TYPES), {.type = 'f', .rank = -1}},
        {GIVEN("the size -1: " SIZES),
         {.type = 'f', .rank = 2, .shape = {3, -1}}},
        {GIVEN("the size 2147483647: " SIZES),
         {.type = 'f', .rank = 4, .shape = {3, 3, INT_MAX, INT_MAX}}},
    };
    static volatile int less = -1; /* which the compiler is not to know */
    const Tensor none = {.name = "a", .type = 'f', .rank = 1, .shape = {7}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Tensor t = wrong[i].tensor;
        t.name = t.name ? t.name : "a";
        t.data = single;
        REFUSES(wrong[i].words, tensors_write(path, 1, &t));
    }
    REFUSES(GIVEN("no data"), tensors_write(path, 1, &none));
    REFUSES("file: has the tensor 'f' twice",
            tensors_write(path, 2, (Tensor[]){given[0], given[0]}));
    REFUSES("file: -1 tensors: 0 or more are needed",
            tensors_write(path, less, given));
}

/* In the child that asks for this, a file cannot be longer than 64
 * bytes. */
static const char *limited(const char *name)
{
    signal(SIGXFSZ, SIG_IGN); /* as run_program does */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    return name;
}

#define CANNOT(name, why) name ": cannot be written: " why
#define NO_FILE(name)                                                      \
    name ": is a link, a folder, a pipe or a device; "                     \
         "it must be an ordinary file, or not exist"
static void refuse_places(void)
{
    static float many[50000]; /* more than is written at once */
    const Tensor large = {"", "x", 'f', NULL, 1, {50000}, 0, many, NULL, 0};
    struct stat about;
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, given));
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, &large));
    TAP_REFUSES("tensors_write", "what is not on the disk",
                tap_words(CANNOT("file", "%s"), strerror(EIO)),
                flush_fails = true;
                tensors_write(path, 1, given));
    REFUSES(CANNOT("gone/file", "No such file or directory"),
            tensors_write("gone/file", 1, given));
    if (symlink("gone", "file.part") || mkdir("folder", 0700))
        REFUSE("%s: nothing can be made there", folder);
    REFUSES(NO_FILE("file.part"), tensors_write(path, 1, given));
    if (lstat("file.part", &about) || S_ISREG(about.st_mode))
        REFUSE("%s/file.part: is not as it was", folder);
    REFUSES(NO_FILE("folder"), tensors_write("folder", 1, given));
    remove("file.part");
    rmdir("folder");
    chmod(path, 0444);
    if (getuid()) /* root may write it */
        REFUSES(CANNOT("file", "Permission denied"),
                tensors_write(path, 1, given));
    chmod(path, 0644);
}

/* Killed at any byte of what it writes, or when all is written, a program
 * leaves the last file. */
static void write_killed(void)
{
    tensors_write(path, GIVEN_TENSORS, given);
    const size_t size = size_of(path);
    for (size_t most = 0; most <= size; most += size / 19) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGXFSZ, SIG_DFL); /* which kills */
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
            flush_kills = true;
            tensors_write(path, GIVEN_TENSORS - 1, given);
            _exit(0);
        }
        waitpid(child, &status, 0);
        expect_true("killed", WIFSIGNALED(status));
        holds(GIVEN_TENSORS);
    }
    expect_true("a part was left", size_of("file.part") > 0);
    tensors_write(path, 1, given);
    holds(1);
}

int main(void)
{
    enter_folder();
    TAP("tensors_write: every type and rank, flushed", write_given());
    TAP("tensors_write: permissions, and other names stay", write_kept());
    TAP("tensors_write: as Python's package writes", write_as_python());
    tensors_write(path, GIVEN_TENSORS, given);
    refuse_tensors();
    refuse_places();
    TAP("tensors_write: what is refused leaves no trace",
        holds(GIVEN_TENSORS);
        expect_true("no part is left", access("file.part", F_OK)));
    TAP("tensors_write: killed, leaves a whole file", write_killed());
    leave_folder();
    return tap_done();
}
