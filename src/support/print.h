/*
## Printing: `print.c` {#header-print}

Numbers have four decimals, or as many as the environment's `DIGITS` says,
from 0 to 17; another value of `DIGITS` is refused. They are aligned to the
widest and stand in PyTorch's brackets.
*/

#pragma once

/* How many decimals to print: usually so many, else what DIGITS says. */
int decimals(int usual);

/* Prints "label (n)" and below it the list in brackets. */
void print_vector(const char *label, int n, const float x[n]);

/* As print_vector, with so many decimals instead of four. */
void print_rounded(const char *label, int digits, int n, const float x[n]);

/* Prints "label (n, m)" and below it the table in brackets. */
void print_matrix(const char *label, int n, int m, const float x[n][m]);

/* As print_matrix, for whole numbers: without decimals. Refuses others. */
void print_whole(const char *label, int n, int m, const float x[n][m]);

/* Prints "label (n)" and below it the whole numbers in brackets. */
void print_integers(const char *label, int n, const int x[n]);

/* What was measured: "label, in unit" and below it a line for each name,
 * with its value to three significant digits, whatever DIGITS says: more
 * would be chance. */
void print_measures(const char *label, const char *unit, int n,
                    const char *const name[n], const float x[n]);

/* The same as a table of n rows and m columns. */
void print_measure_table(const char *label, const char *unit, int n,
                         const char *const row[n], int m,
                         const char *const column[m], const float x[n][m]);

/* x to three significant digits: for a figure of what was measured. */
float three_digits(float x);

/* Prints "name: value". */
void print_value(const char *name, float x);

/* "what: yes", or "what: no". */
void print_answer(const char *what, int is_yes);

/* The largest difference of two lists of n entries, or of tables with so
 * many, without its sign; infinity if an entry is NaN. */
float largest_difference(int n, const float *a, const float *b);
