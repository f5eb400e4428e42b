#define _POSIX_C_SOURCE 200809L /* fileno, fsync */
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

void *file_read(const char *path, FILE *file, size_t size)
{
    char *block = malloc(size + 1);
    if (!block)
        REFUSE("%s: there is no memory for %zu bytes", path, size);
    const size_t got = fread(block, 1, size, file);
    if (ferror(file))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    if (got < size)
        REFUSE("%s: ends after %zu bytes where %zu are needed", path, got,
               size);
    block[size] = '\0';
    return block;
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

NewFile file_begin(const char *path)
{
    NewFile new = {path, malloc(strlen(path) + sizeof ".part"), NULL};
    check_written(new.part != NULL, &new);
    sprintf(new.part, "%s.part", path);
    struct stat there;
    if (!lstat(path, &there) && !S_ISREG(there.st_mode))
        REFUSE("%s: is a link, a folder or a device: the name of a file is "
               "needed",
               path);
    /* rename asks for the folder's permission alone, not for the file's. */
    FILE *old = fopen(path, "rb+");
    check_written(old || errno == ENOENT, &new);
    if (old)
        fclose(old);
    new.file = fopen(new.part, "wb");
    check_written(new.file != NULL, &new);
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
