/* What reads JSON shares, and no chapter uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A text that is being read. A 0 stands behind it. */
typedef struct {
    const char *path;
    char *text, *end;
    char *at; /* what comes next */
} Json;

/* A whole file, whose `text` is to be freed. */
Json json_read(const char *path);

/* Refuses what comes next, as something else is needed. */
_Noreturn void json_unexpected(const Json *j, const char *needed);

/* After blanks: steps over the character if it comes next; steps over it,
 * or refuses; refuses anything but the end. */
bool json_accept(Json *j, char c);
void json_expect(Json *j, char c);
void json_end(Json *j);

/* A string in UTF-8, with its escapes as they are written. */
char *json_string(Json *j);

/* The same string with the characters that its escapes stand for: `u` with
 * four digits for one of 16 bits, two of them for a surrogate pair. Refuses
 * half of a pair, and the character 0, which would end the string. */
char *json_unescape(const Json *j, char *string);

/* Steps over a null if it comes next. */
bool json_null(Json *j);

/* The next name in braces and its colon, after so many others; NULL where
 * there is none. */
char *json_name(Json *j, int others);

/* Steps to the next item of a list, after so many others; false where there
 * is none. */
bool json_item(Json *j, int others);

/* Steps over any value, which ends before `end`, and returns it as it is
 * written; but braces as {...} and a list as [...]. Refuses more than 100
 * braces and lists in each other. */
const char *json_value(Json *j, char **end);

/* A whole number from 0 to the most. */
size_t json_integer(Json *j, size_t most);

/* The values that a file in JSON has by these names, in its outermost
 * braces: as they are written, a string with its quotes, braces as {...}
 * and a list as [...]; NULL where there is none. Refuses a file that is no
 * JSON or more than 100 braces and lists deep, and one of the names twice.
 * What the values lie in is returned, to be freed. */
char *json_values(const char *path, int count,
                  const char *const name[count], const char *value[count]);

/* A value found so as a whole number from 0 to INT_MAX. Refuses NULL and
 * any other value. */
int json_whole_number(const char *path, const char *name,
                      const char *value);
