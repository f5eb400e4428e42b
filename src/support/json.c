#include "support/json.h"
#include "support/file.h"
#include "support/json_reader.h"
#include "support.h"

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

size_t json_integer(Json *j, size_t most)
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

int json_whole_number(const char *path, const char *name)
{
    FILE *file = file_open(path);
    const size_t size = file_remaining(path, file);
    Json j = {.path = path, .text = file_read(path, file, size)};
    fclose(file);
    char quoted[100];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    j.at = j.text;
    j.end = j.text + size;
    int number = -1; /* none yet */
    while ((j.at = strstr(j.at, quoted))) {
        const int is_escaped = j.at > j.text && j.at[-1] == '\\';
        j.at += strlen(quoted);
        if (is_escaped || !json_accept(&j, ':')) /* words, and no name */
            continue;
        if (number >= 0)
            REFUSE("%s: has '%s' twice: once is needed", path, name);
        number = (int)json_integer(&j, INT_MAX);
        if (!json_accept(&j, ',') && !json_accept(&j, '}'))
            json_unexpected(&j, "',' or '}'");
    }
    if (number < 0)
        REFUSE("%s: has no '%s': a whole number is needed", path, name);
    free(j.text);
    return number;
}
