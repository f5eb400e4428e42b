/* Files that are read and written whole, and no chapter uses. All of it
 * comes from outside, so nothing in it is taken for granted; what is wrong
 * is refused, with the file's name. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* An open file, which the caller closes; how many of its bytes have not
 * been read yet; reads `size` of them into a block; or into a new one, with
 * a 0 after them, which the caller frees. */
FILE *file_open(const char *path);
size_t file_remaining(const char *path, FILE *file);
void file_fill(const char *path, FILE *file, size_t size, void *block);
void *file_read(const char *path, FILE *file, size_t size);

/* A whole file, with a 0 after it, which the caller frees. */
char *file_text(const char *path, size_t *size);

/* A file that grows as path.part, and takes the place of the old one when
 * all of it lies on the disk: wherever a program ends, what can be read is
 * the old file or the new one. The new one has the permissions of the old
 * one; another name of the old one (a hard link) keeps its content. A part
 * that a killed program has left is removed. A file that cannot be
 * written is refused, and so are a link, a folder, a pipe and a device, in
 * the place of the part, too. Of a new file that is refused or dropped,
 * nothing stays. */
typedef struct {
    const char *path;
    char *part;
    FILE *file;
} NewFile;

NewFile file_begin(const char *path);
void file_finish(NewFile *new);
void file_drop(NewFile *new);
