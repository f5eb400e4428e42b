/* A file in a temporary folder that is made whole and damaged, and read
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

/* Over what is there: where a file is emptied first, some systems wait for
 * the disk each time. */
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

static inline void write_text(const char *text)
{
    file_size = 0;
    add(text, strlen(text));
    write_file();
}

/* The damaged file is read, and nothing said; or it is refused in one
 * line. */
static inline void read_or_refused(void (*reads)(void), const char *damage,
                                   size_t at)
{
    write_file();
    if (tap_fork()) {
        reads();
        _exit(0);
    }
    const int status = tap_wait();
    const char *said = tap_told->printed;
    expect(status == 0
               ? !*said
               : WIFEXITED(status) && WEXITSTATUS(status) == 2 &&
                     tap_is_message(said, NULL) && !strchr(said, '\n')[1],
           tap_words("%s %zu", damage, at), "status %d, said '%s'", status,
           said);
}

static inline void each_damage(void (*reads)(void), int bit)
{
    for (size_t i = 0; i < file_size && bit < 8; i++) {
        file[i] ^= (unsigned char)(1 << bit);
        read_or_refused(reads, "byte", i);
        file[i] ^= (unsigned char)(1 << bit);
    }
    while (bit == 8 && file_size-- > 0)
        read_or_refused(reads, "first bytes alone:", file_size);
}

/* Tests of the function that reads, one for each bit of the file that begins
 * makes: it is changed, in every byte; and one of every truncation. */
#define DAMAGES(function, begins, reads)                                   \
    for (int bit = 0; bit <= 8; bit++)                                     \
    TAP_LARGE(tap_words(function ": damage %d", bit), begins,              \
              each_damage(reads, bit))
