/* Files that are made in a temporary folder, whole and damaged, and read
 * there. */
#pragma once

#include "tap.h"

static char folder[] = "/tmp/attention-XXXXXX";
static const char *const path = "file";
static unsigned char file[500000];
static size_t file_size;

static inline void enter_folder(void)
{
    if (!mkdtemp(folder) || chdir(folder))
        REFUSE("%s: no temporary folder can be made", folder);
}

/* The file must be all that is there. */
static inline void leave_folder(void)
{
    if (remove(path) || chdir("/") || rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
}

/* Over what is there: where a file is emptied first, some disks are waited
 * for each time. */
static inline void write_file(void)
{
    FILE *to = fopen(path, access(path, F_OK) ? "wb" : "r+b");
    if (!to || ftruncate(fileno(to), (off_t)file_size) ||
        fwrite(file, 1, file_size, to) != file_size || fclose(to))
        REFUSE("%s: cannot be written", path);
}

static inline void add(const void *bytes, size_t size)
{
    memcpy(file + file_size, bytes, size);
    file_size += size;
}

/* ---- Every damage of one kind: either the file is read and nothing said,
 * or it is refused in one line. */

static void (*begin_whole_file)(void), (*read_it)(void);
static int bit;

static inline void read_or_refused(const char *damage, size_t at)
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
        alarm(TAP_PATIENCE * tap_seconds);
        dup2(fileno(error), STDERR_FILENO);
        read_it();
        _exit(0);
    }
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    rewind(error);
    said[fread(said, 1, sizeof said - 1, error)] = '\0';
    snprintf(what, sizeof what, "%s %zu", damage, at);
    expect(status == 0 ? !*said
                       : status == 2 && tap_is_message(said, NULL) &&
                             !strchr(said, '\n')[1],
           what, "status %d, said '%s'", status, said);
}

static inline void each_truncation(void)
{
    begin_whole_file();
    while (file_size-- > 0)
        read_or_refused("first bytes alone:", file_size);
}

static inline void each_bit(void)
{
    begin_whole_file();
    for (size_t i = 0; i < file_size; i++) {
        file[i] ^= (unsigned char)(1 << bit);
        read_or_refused("byte", i);
        file[i] ^= (unsigned char)(1 << bit);
    }
}

/* All of them, as tests of the function that reads. */
static inline void each_damage(const char *function, void (*begins)(void),
                               void (*reads)(void))
{
    begin_whole_file = begins;
    read_it = reads;
    TAP_LARGE(tap_words("%s: every truncation of a file", function),
              each_truncation());
    for (bit = 0; bit < 8; bit++)
        TAP_LARGE(
            tap_words("%s: every byte with bit %d changed", function, bit),
            each_bit());
}
