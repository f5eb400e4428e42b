/* What reads and writes files shares, and no chapter uses: a file's bytes,
 * and text in JSON. All of it comes from outside, so nothing in it is taken
 * for granted; what is wrong is refused, with the file's name. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

#include "attention.h"

/* A file, which is to be closed; how many bytes of it are still to be read;
 * and so many of them, with a 0 behind, to be freed. */
FILE *file_open(const char *path);
size_t file_rest(const char *path, FILE *file);
void *file_bytes(const char *path, FILE *file, size_t size);

/* A file that grows as path.part, and takes the place of the old one when
 * all of it lies on the disk: wherever a program ends, what can be read is
 * the old file or the new one. A file that cannot be written, a link, a
 * folder and a device are refused. Of a new file that is refused or dropped,
 * nothing stays. */
typedef struct {
    const char *path;
    char *part;
    FILE *file;
} NewFile;

NewFile file_begin(const char *path);
void file_finish(NewFile *new);
void file_drop(NewFile *new);

/* A text that is being read. A 0 stands behind it. */
typedef struct {
    const char *path;
    char *text, *end;
    char *at; /* what comes next */
} Json;

/* Refuses what comes next, as something else is needed. */
_Noreturn void json_unexpected(const Json *j, const char *needed);

/* After blanks: steps over the character if it comes next; steps over it,
 * or refuses; refuses anything but the end. */
bool json_accept(Json *j, char c);
void json_expect(Json *j, char c);
void json_end(Json *j);

/* A string as it is written, escapes and all. */
char *json_string(Json *j);

/* The next name in braces and its colon, after so many others; NULL where
 * there is none. */
char *json_name(Json *j, int others);

/* A whole number from 0 to the most. */
size_t json_whole(Json *j, size_t most);

#endif
