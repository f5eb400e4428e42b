/*
## A program's arguments: `argument.c` {#header-argument}
*/

#pragma once

#include <stdint.h>

/* For a program that takes no arguments: refuses them. argc and argv are
 * those of main. */
void no_arguments(int argc, char *argv[]);

/* The whole number, or the number, that an argument's text says; `what` is
 * its name in a refusal. Refuse any other text, blanks in front included,
 * and whole numbers that are not from the least to the most. */
uint64_t parse_integer(const char *what, const char *text, uint64_t least,
                       uint64_t most);
float parse_float(const char *what, const char *text);
