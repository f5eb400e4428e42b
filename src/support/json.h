/*
## Settings beside a model: `json.c` {#header-json}
*/

#pragma once

/* The whole number, from 0 to INT_MAX, that a file in JSON has by that
 * name, such as "n_head" in a model's config.json. Names in inner braces
 * are others. Refuses a file that is no JSON or more than 100 braces and
 * lists deep, and one that has no such name, or has it twice or with
 * another value.
 * Python: json.load(file)[name]. */
int json_whole_number(const char *path, const char *name);
