#define _POSIX_C_SOURCE 200809L /* fileno, fsync */
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"

/* ---- The bytes of a file. */

FILE *file_open(const char *path)
{
    FILE *file = fopen(path, "rb");
    /* A folder can be opened, but has no bytes. */
    if (!file || (getc(file) == EOF && ferror(file)))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    rewind(file);
    return file;
}

size_t file_rest(const char *path, FILE *file)
{
    const long here = ftell(file);
    const long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    if (here < 0 || end < here || fseek(file, here, SEEK_SET))
        REFUSE("%s: has no size: an ordinary file is needed", path);
    return (size_t)(end - here);
}

void *file_bytes(const char *path, FILE *file, size_t size)
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
}

static void must_work(bool works, NewFile *new)
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
    must_work(new.part != NULL, &new);
    sprintf(new.part, "%s.part", path);
    struct stat there;
    if (!lstat(path, &there) && !S_ISREG(there.st_mode))
        REFUSE("%s: is a link, a folder or a device: the name of a file is "
               "needed",
               path);
    /* rename asks for the folder's permission alone, not for the file's. */
    FILE *old = fopen(path, "rb+");
    must_work(old || errno == ENOENT, &new);
    if (old)
        fclose(old);
    new.file = fopen(new.part, "wb");
    must_work(new.file != NULL, &new);
    return new;
}

/* When all of it lies on the disk, closing has nothing left to lose. */
void file_finish(NewFile *new)
{
    must_work(!ferror(new->file) && !fflush(new->file) &&
                  !fsync(fileno(new->file)) &&
                  !rename(new->part, new->path),
              new);
    fclose(new->file);
    free(new->part);
}

/* ---- Words and numbers in JSON. */

void json_unexpected(const Json *j, const char *needed)
{
    const unsigned char c = (unsigned char)*j->at;
    char found[8] = "nothing";
    if (j->at < j->end)
        snprintf(found, sizeof found,
                 c < ' ' || c > '~' ? "0x%02x" : "'%c'", c);
    REFUSE("%s: its JSON has %s at byte %td where %s is needed", j->path,
           found, j->at - j->text, needed);
}

static void skip_blanks(Json *j)
{
    j->at += strspn(j->at, " \t\r\n");
}

bool json_accept(Json *j, char c)
{
    skip_blanks(j);
    if (*j->at != c)
        return false;
    j->at++;
    return true;
}

void json_expect(Json *j, char c)
{
    if (!json_accept(j, c))
        json_unexpected(j, (char[]){'\'', c, '\'', '\0'});
}

void json_end(Json *j)
{
    skip_blanks(j);
    if (j->at != j->end)
        json_unexpected(j, "its end");
}

/* Steps over a character of a string, or an escape. */
static void step(Json *j)
{
    if ((unsigned char)*j->at < ' ')
        json_unexpected(j, "'\"'");
    if (*j->at++ != '\\')
        return;
    if (*j->at == 'u' && strspn(j->at + 1, "0123456789abcdefABCDEF") >= 4)
        j->at += 5;
    else if (*j->at && strchr("\"\\/bfnrt", *j->at))
        j->at++;
    else
        json_unexpected(j, "an escape");
}

char *json_string(Json *j)
{
    json_expect(j, '"');
    char *string = j->at;
    while (*j->at != '"')
        step(j);
    *j->at++ = '\0';
    return string;
}

char *json_name(Json *j, int others)
{
    if (others == 0)
        json_expect(j, '{');
    if (json_accept(j, '}'))
        return NULL;
    if (others > 0)
        json_expect(j, ',');
    char *name = json_string(j);
    json_expect(j, ':');
    return name;
}

size_t json_whole(Json *j, size_t most)
{
    skip_blanks(j);
    const size_t digits = strspn(j->at, "0123456789");
    if (digits == 0 || (digits > 1 && *j->at == '0'))
        json_unexpected(j, "a whole number");
    char *end; /* what no integer can hold becomes the largest one */
    const unsigned long long value = strtoull(j->at, &end, 10);
    if (value > most)
        REFUSE("%s: its JSON has a number above %zu at byte %td", j->path,
               most, j->at - j->text);
    j->at = end;
    return (size_t)value;
}

/* ---- Settings beside a model. */

/* Steps over true, false, null, or any number. */
static void skip_word(Json *j)
{
    const size_t length = strspn(j->at, "+-.0123456789"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "abcdefghijklmnopqrstuvwxyz");
    if (length == 0)
        json_unexpected(j, "a value");
    j->at += length;
}

/* Steps over a value, whatever it is. */
static void skip(Json *j, int depth)
{
    if (depth > 100)
        REFUSE("%s: its JSON has more than 100 brackets in each other at "
               "byte %td",
               j->path, j->at - j->text);
    skip_blanks(j);
    if (*j->at == '"')
        json_string(j);
    else if (*j->at == '{')
        for (int n = 0; json_name(j, n); n++)
            skip(j, depth + 1);
    else if (json_accept(j, '['))
        for (int n = 0; !json_accept(j, ']'); n++) {
            if (n > 0)
                json_expect(j, ',');
            skip(j, depth + 1);
        }
    else
        skip_word(j);
}

int json_whole_number(const char *path, const char *name)
{
    FILE *file = file_open(path);
    const size_t size = file_rest(path, file);
    char *text = file_bytes(path, file, size);
    fclose(file);
    Json j = {path, text, text + size, text};
    int number = -1; /* none yet */
    const char *key;
    for (int n = 0; (key = json_name(&j, n)); n++)
        if (strcmp(key, name) != 0)
            skip(&j, 0);
        else if (number >= 0)
            REFUSE("%s: has '%s' twice", path, name);
        else
            number = (int)json_whole(&j, INT_MAX);
    json_end(&j);
    if (number < 0)
        REFUSE("%s: has no '%s'", path, name);
    free(text);
    return number;
}
