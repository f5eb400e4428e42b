#include "support/json.h"
#include "support/file.h"
#include "support/utf8.h"
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

/* Steps over an escape, with its backslash next. */
static void skip_escape(Json *j)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *letter = ++j->at;
    if (!*letter || !strchr("\"\\/bfnrtu", *letter) ||
        (*letter == 'u' && strspn(letter + 1, digits) < 4))
        json_unexpected(j, "an escape");
    j->at += *letter == 'u' ? 5 : 1;
}

char *json_string(Json *j)
{
    json_expect(j, '"');
    char *const string = j->at;
    while (*j->at != '"') {
        const int length = utf8_length(j->at);
        if ((unsigned char)*j->at < ' ')
            json_unexpected(j, "'\"'");
        if (!length)
            json_unexpected(j, "UTF-8");
        if (*j->at == '\\')
            skip_escape(j);
        else
            j->at += length;
    }
    *j->at++ = '\0';
    return string;
}

/* The number of four hexadecimal digits. */
static uint32_t hexadecimal(const char *digits)
{
    char four[5] = "";
    memcpy(four, digits, 4);
    return (uint32_t)strtoul(four, NULL, 16);
}

/* Is it of the first half of a surrogate pair, or of the second? */
static bool is_half(uint32_t c, int half)
{
    return c >> 10 == (half == 1 ? 0xd800 >> 10 : 0xdc00 >> 10);
}

/* The character of \uXXXX, or of two of them that are a surrogate pair;
 * steps over it. */
static uint32_t escaped_character(const Json *j, const char **from)
{
    const char *next = *from + 6;
    const uint32_t c = hexadecimal(*from + 2);
    const uint32_t low =
        !strncmp(next, "\\u", 2) ? hexadecimal(next + 2) : 0;
    const bool is_pair = is_half(c, 1) && is_half(low, 2);
    if (c == 0 || (!is_pair && (is_half(c, 1) || is_half(c, 2))))
        REFUSE("%s: its JSON has \\u%04x where a character is needed",
               j->path, c);
    *from = next + (is_pair ? 6 : 0);
    return is_pair ? 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff) : c;
}

/* What is written in place of an escape is shorter than it. */
char *json_unescape(const Json *j, char *string)
{
    static const char letters[] = "bfnrt", stand_for[] = "\b\f\n\r\t";
    char *to = string;
    for (const char *from = string; *from;) {
        if (*from != '\\') {
            *to++ = *from++;
        } else if (from[1] == 'u') {
            to += utf8_write(escaped_character(j, &from), to);
        } else {
            const char *letter = strchr(letters, from[1]);
            *to++ = letter ? stand_for[letter - letters] : from[1];
            from += 2;
        }
    }
    *to = '\0';
    return string;
}

bool json_null(Json *j)
{
    skip_blanks(j);
    if (strncmp(j->at, "null", 4))
        return false;
    j->at += 4;
    return true;
}

char *json_name(Json *j, int others)
{
    if (others == 0)
        json_expect(j, '{');
    if (json_accept(j, '}'))
        return NULL;
    if (others > 0 && !json_accept(j, ','))
        json_unexpected(j, "',' or '}'");
    char *name = json_string(j);
    json_expect(j, ':');
    return name;
}

bool json_item(Json *j, int others)
{
    if (others == 0)
        json_expect(j, '[');
    if (json_accept(j, ']'))
        return false;
    if (others > 0 && !json_accept(j, ','))
        json_unexpected(j, "',' or ']'");
    return true;
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

/* Steps over digits, of which there must be one. */
static void skip_digits(Json *j)
{
    const size_t digits = strspn(j->at, "0123456789");
    if (digits == 0)
        json_unexpected(j, "a digit");
    j->at += digits;
}

static void skip_number(Json *j)
{
    j->at += *j->at == '-';
    if (*j->at == '0') /* and JSON allows no digit after it */
        j->at++;
    else
        skip_digits(j);
    if (*j->at == '.') {
        j->at++;
        skip_digits(j);
    }
    if (*j->at == 'e' || *j->at == 'E') {
        j->at++;
        j->at += *j->at == '-' || *j->at == '+';
        skip_digits(j);
    }
}

/* Steps over a number, or a word: JSON's own, and those that Python
 * writes. */
static void skip_plain(Json *j)
{
    static const char *const word[] = {"true", "false",    "null",
                                       "NaN",  "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (!strncmp(j->at, word[i], strlen(word[i]))) {
            j->at += strlen(word[i]);
            return;
        }
    if (!*j->at || !strchr("-0123456789", *j->at))
        json_unexpected(j, "a value");
    skip_number(j);
}

/* How deep lists and braces may be nested: each level takes room on the
 * stack. */
enum { DEEPEST = 100 };

static void skip_value(Json *j, int depth)
{
    skip_blanks(j);
    if (depth == DEEPEST && (*j->at == '[' || *j->at == '{'))
        REFUSE("%s: its JSON is nested %d deep at byte %td; at most %d are "
               "read",
               j->path, depth + 1, j->at - j->text, DEEPEST);
    if (*j->at == '"')
        json_string(j);
    else if (*j->at == '{')
        for (int others = 0; json_name(j, others); others = 1)
            skip_value(j, depth + 1);
    else if (*j->at == '[')
        for (int others = 0; json_item(j, others); others = 1)
            skip_value(j, depth + 1);
    else
        skip_plain(j);
}

/* What comes after the value has not been overwritten yet. A string gets
 * back its last quote, which json_string took away. */
const char *json_value(Json *j, char **end)
{
    skip_blanks(j);
    char *value = j->at;
    skip_value(j, 0);
    if (*value == '"')
        j->at[-1] = '"';
    *end = j->at;
    return *value == '{' ? "{...}" : *value == '[' ? "[...]" : value;
}

Json json_read(const char *path)
{
    size_t size;
    Json j = {.path = path, .text = file_text(path, &size)};
    j.at = j.text;
    j.end = j.text + size;
    return j;
}

char *json_values(const char *path, int count,
                  const char *const name[count], const char *value[count])
{
    Json j = json_read(path);
    char *found, *end = j.text;
    for (int i = 0; i < count; i++)
        value[i] = NULL;
    for (int others = 0; (found = json_name(&j, others)); others = 1) {
        *end = '\0'; /* of the value before, whose comma has been read */
        const char *next = json_value(&j, &end);
        for (int i = 0; i < count; i++) {
            if (strcmp(name[i], found))
                continue;
            if (value[i])
                REFUSE("%s: has '%s' twice", path, found);
            value[i] = next;
        }
    }
    *end = '\0';
    json_end(&j);
    return j.text;
}

int json_whole_number(const char *path, const char *name, const char *value)
{
    if (!value)
        REFUSE("%s: has no '%s': a whole number is needed", path, name);
    const size_t digits = strspn(value, "0123456789");
    const unsigned long long number = strtoull(value, NULL, 10);
    if (value[digits] || number > INT_MAX)
        REFUSE("%s: %s is %s; it must be a whole number from 0 to %d", path,
               name, value, INT_MAX);
    return (int)number;
}
