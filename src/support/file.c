#define _POSIX_C_SOURCE 200809L /* fchmod, fileno, fsync */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/file.h"
#include "support.h"

FILE *file_open(const char *path)
{
    FILE *file = fopen(path, "rb");
    /* A folder can be opened, but has no bytes. */
    if (!file || (getc(file) == EOF && ferror(file)))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    rewind(file);
    return file;
}

size_t file_remaining(const char *path, FILE *file)
{
    const long here = ftell(file);
    const long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    if (here < 0 || end < here || fseek(file, here, SEEK_SET))
        REFUSE("%s: has no size: an ordinary file is needed", path);
    return (size_t)(end - here);
}

void file_fill(const char *path, FILE *file, size_t size, void *block)
{
    const size_t got = fread(block, 1, size, file);
    if (ferror(file))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    if (got < size)
        REFUSE("%s: ends after %zu bytes where %zu are needed", path, got,
               size);
}

void *file_read(const char *path, FILE *file, size_t size)
{
    char *block = malloc(size + 1);
    if (!block)
        REFUSE("%s: there is no memory for %zu bytes", path, size);
    file_fill(path, file, size, block);
    block[size] = '\0';
    return block;
}

char *file_text(const char *path, size_t *size)
{
    FILE *file = file_open(path);
    *size = file_remaining(path, file);
    char *text = file_read(path, file, *size);
    fclose(file);
    return text;
}

/* A part that could not be opened was not made here, and is not removed. */
void file_drop(NewFile *new)
{
    if (new->file) {
        fclose(new->file);
        remove(new->part);
    }
    free(new->part);
    *new = (NewFile){0};
}

static void check_written(bool works, NewFile *new)
{
    const char *path = new->path, *why = strerror(errno);
    if (works)
        return;
    file_drop(new);
    REFUSE("%s: cannot be written: %s", path, why);
}

/* Is there a file of that name? Refuses all else that has it. */
static bool is_file(const char *name, struct stat *about)
{
    if (lstat(name, about))
        return false;
    if (!S_ISREG(about->st_mode))
        REFUSE("%s: is a link, a folder, a pipe or a device; it must be an "
               "ordinary file, or not exist",
               name);
    return true;
}

/* Nothing is written into what someone else has put at the part's name: a
 * part that was left there is removed, and made anew. */
NewFile file_begin(const char *path)
{
    NewFile new = {path, new_list(strlen(path) + sizeof ".part", 1), NULL};
    sprintf(new.part, "%s.part", path);
    struct stat old, left;
    const bool is_old = is_file(path, &old);
    /* rename asks for the folder's permission alone, not for the file's. */
    FILE *file = fopen(path, "rb+");
    check_written(file || errno == ENOENT, &new);
    if (file)
        fclose(file);
    check_written(!is_file(new.part, &left) || !unlink(new.part), &new);
    const int fd = open(new.part, O_WRONLY | O_CREAT | O_EXCL,
                        is_old ? S_IRUSR | S_IWUSR : 0666);
    new.file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (fd >= 0 && !new.file)
        unlink(new.part);
    check_written(new.file, &new);
#ifndef __wasi__ /* a page, whose files have no permissions */
    check_written(!is_old || !fchmod(fd, old.st_mode & 0777), &new);
#endif
    return new;
}

/* When all of it lies on the disk, closing has nothing left to lose. */
void file_finish(NewFile *new)
{
    check_written(!ferror(new->file) && !fflush(new->file) &&
                      !fsync(fileno(new->file)) &&
                      !rename(new->part, new->path),
                  new);
    fclose(new->file);
    free(new->part);
    *new = (NewFile){0};
}
