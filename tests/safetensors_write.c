/* Writing safetensors files, and what cannot be written, in a temporary
 * folder. */
#include "whole.h"

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

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
    holds_whole(WRITABLE);
    tensors_write(path, 0, whole);
    holds_whole(0);
    expect_equal("files", files(), 1);
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
    expect_equal("count", (double)t->count, 7);
    expect_equal("shape beyond the rank", t->shape[1], 1);
    expect_true("entries", !memcmp(t->data, single, sizeof single));
    expect_equal("of no name", (double)tensors_find(&all, "")->count, 0);
    tensors_free(&all);
}

/* As someone else, where root may do everything. */
static const char *barred(const char *name)
{
    if (!getuid() && setuid(65534))
        REFUSE("%s: root must not be root here", name);
    return name;
}

/* The new file has the old one's permissions and owner, whatever the umask
 * is, or else those that the umask leaves. The old one's other names keep
 * what they had, even one that stands where the part is made. */
static void write_kept(void)
{
    static const mode_t old[] = {0600, 0664, 04755, 0};
    static const mode_t new[] = {0600, 0664, 0755, 0640};
    const uid_t owner = getuid() ? getuid() : 65534;
    const mode_t usual = umask(027);
    for (int i = 0; i < 4; i++) {
        struct stat about;
        begin_whole();
        expect_true("another name", !link(path, "file.part"));
        expect_true("and one more",
                    old[i] ? !link(path, "other") : !rename(path, "other"));
        expect_true("owner", !chown("other", owner, (gid_t)-1));
        expect_true("mode", !chmod("other", old[i]));
        tensors_write(path, 1, whole);
        expect_true("written", !stat(path, &about));
        expect_equal("permissions", about.st_mode & 07777, new[i]);
        expect_equal("owner", about.st_uid, old[i] ? owner : getuid());
        expect_equal("bytes", (double)size_of("other"), (double)file_size);
        remove(path);
        remove("other");
    }
    umask(usual);
}

/* Someone else's file, of a group that the new file can have, too; and of
 * one that it cannot have: then its group may do no more than all may. */
static void write_of_group(void)
{
    static const char *const name[] = {"other", "file"};
    const gid_t group[] = {getgid(), 54321};
    struct stat about;
    for (int i = 0; i < 2; i++) {
        begin_whole();
        expect_true("group", !chown(path, 0, group[i]));
        expect_true("mode", !chmod(path, 0676) && !rename(path, name[i]));
    }
    chmod(".", 0777);
    barred(path);
    for (int i = 0; i < 2; i++) {
        tensors_write(name[i], 1, whole);
        expect_true("written", !stat(name[i], &about));
        expect_equal("permissions", about.st_mode,
                     S_IFREG | (i ? 0666 : 0676));
    }
    remove("other");
}

static void write_flushed(void)
{
    begin_whole();
    const size_t old = size_of(path);
    tensors_write(path, 1, whole);
    expect_equal("flushes", flushes, 1);
    expect_equal("flushed bytes", flushed, (double)size_of(path));
    expect_true("the old file was there till then",
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
        expect_equal("bytes", (double)file_size, (double)size);
        expect_true(name, !memcmp(file, right, size));
    }
    expect_true("golden files", found.gl_pathc > 0);
}

/* ---- What cannot be written leaves the file as it was. */

#define TYPES "'f', 'd', 'i', 'b' or 'h', and 0 to 4, are needed"
#define SIZES "sizes from 0 on that fit into memory are needed"
#define NAMES                                                              \
    "one of printable ASCII without quotes and backslashes is needed"
#define NAMED(words) "check_name: file: has the name '" words
#define GIVEN(words) "check_given: file: tensor 'a' has " words
static void refuse_tensors(void)
{
    static const struct {
        const char *name, *words;
        int type, rank, n, m;
    } given[] = {
        {"a\"b", NAMED("a\"b': " NAMES), 'f', 1, 1, 0},
        {"a\\", NAMED("a\\': " NAMES), 'f', 1, 1, 0},
        {"\x1f", NAMED("\\x1f': " NAMES), 'f', 1, 1, 0},
        {"__metadata__", NAMED("__metadata__', which is no tensor's"), 'f',
         1, 1, 0},
        {"a", GIVEN("type '?' and rank 1: " TYPES), '?', 1, 1, 0},
        {"a", GIVEN("type ' ' and rank 0: " TYPES), 0, 0, 1, 0},
        {"a", GIVEN("type 'f' and rank 5: " TYPES), 'f', 5, 1, 0},
        {"a", GIVEN("type 'f' and rank -1: " TYPES), 'f', -1, 1, 0},
        {"a", GIVEN("the size -1: " SIZES), 'f', 2, 3, -1},
        {"a", GIVEN("the size 2147483647: " SIZES), 'f', 4, 3, 3},
        {"a", GIVEN("no data"), 'f', 1, 7, 0},
    };
    static volatile int less = -1; /* which the compiler is not to know */
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const Tensor t = {
            .name = given[i].name,
            .type = (char)given[i].type,
            .rank = given[i].rank,
            .shape = {given[i].n, given[i].m, INT_MAX, INT_MAX},
            .data = (void *)(given[i].n == 7 ? NULL : single)};
        REFUSES(tap_words("safetensors.c: %s", given[i].words),
                tensors_write(path, 1, &t));
    }
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
    signal(SIGXFSZ, SIG_IGN); /* as run_program does */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    return name;
}

static const char *unflushed(const char *name)
{
    flush_fails = true;
    return name;
}

#define CANNOT(name, why)                                                  \
    "file.c: check_written: " name ": cannot be written: " why
static void refuse_disks(void)
{
    const Tensor large = {
        .name = "x", .type = 'f', .rank = 1, .shape = {MANY}, .data = many};
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, whole));
    REFUSES(CANNOT("file", "File too large"),
            tensors_write(limited(path), 1, &large));
    TAP_REFUSES("tensors_write", "what is not on the disk",
                tap_words(CANNOT("file", "%s"), strerror(EIO)),
                tensors_write(unflushed(path), 1, whole));
}

#define NO_FILE(name)                                                      \
    "file.c: is_file: " name ": is a link, a folder, a pipe or a device; " \
    "it must be an ordinary file, or not exist"
static void refuse_parts(void)
{
    static const char *const what[] = {"a link", "a link to nothing",
                                       "a folder", "a pipe"};
    static const char part[] = "file.part";
    struct stat about;
    for (int i = 0; i < 4; i++) {
        if (i == 2   ? mkdir(part, 0700)
            : i == 3 ? mkfifo(part, 0700)
                     : symlink(i ? "gone" : path, part))
            REFUSE("%s: cannot be made", part);
        TAP_REFUSES("tensors_write", tap_words("%s as its part", what[i]),
                    NO_FILE("file.part"), tensors_write(path, 1, whole));
        if (lstat(part, &about) || S_ISREG(about.st_mode) || remove(part))
            REFUSE("%s: is not as it was", part);
    }
}

static void refuse_places(void)
{
    REFUSES(CANNOT("gone/file", "No such file or directory"),
            tensors_write("gone/file", 1, whole));
    REFUSES(CANNOT("file/x", "Not a directory"),
            tensors_write("file/x", 1, whole));
    mkdir("folder", 0700);
    REFUSES(NO_FILE("folder"), tensors_write("folder", 1, whole));
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
            signal(SIGXFSZ, SIG_DFL); /* which kills */
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
            flush_kills = true;
            write_many(2);
            _exit(0);
        }
        waitpid(child, &status, 0);
        expect_true("killed", WIFSIGNALED(status));
        expect_equal("bytes written",
                     (double)size_of(tap_words("%s.part", path)),
                     (double)most);
        Tensors all = tensors_read(path);
        const float *x = tensor_floats(tensors_find(&all, "x"));
        for (int k = 0; k < MANY; k++)
            if (x[k] != 1)
                expect_true("the last file", false);
        tensors_free(&all);
    }
    write_many(3);
    expect_equal("files", files(), 1);
}

int main(void)
{
    if (!getcwd(home, sizeof home))
        REFUSE("the folder has no name of less than %zu bytes",
               sizeof home);
    glob("golden/*.safetensors", 0, NULL, &found);
    enter_folder();
    TAP("tensors_write: every type and rank", write_whole());
    TAP("tensors_write: what does not count is not needed", write_less());
    TAP("tensors_write: permissions, owner, other names stay",
        write_kept());
    if (!getuid())
        TAP("tensors_write: permissions of another group",
            write_of_group());
    TAP("tensors_write: flushed, and then in its place", write_flushed());
    TAP("tensors_write: as Python's package writes", write_as_python());
    begin_whole();
    refuse_tensors();
    refuse_disks();
    refuse_parts();
    refuse_places();
    TAP("tensors_write: what is refused leaves no trace",
        holds_whole(WHOLE), expect_equal("files", files(), 1));
    TAP_LARGE("tensors_write: killed, leaves a whole file", write_killed());
    leave_folder();
    return tap_done();
}
