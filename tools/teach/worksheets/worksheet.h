/* What the worksheets of all chapters are written with: numbers are drawn,
 * tasks are told, and what is printed for tools/teach/worksheet is one line for
 * each thing, its kind first, with tabs between its parts:
 *
 *     sheet   3-7-1
 *     task    A query and three keys   The rows of _K_ are three keys.
 *     given   K   1 0 2;0 1 1
 *     ask     The scores of the query with the keys.
 *     step    sum of the exponentials   1.5032
 *     answer  2 1
 *
 * Rows of a table are parted by semicolons. Words are Typst's markup, those
 * of a step or an answer plain. The steps before an answer are for who
 * grades it. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "attention.h"

/* A whole number from low to high, and a table of them. */
int whole(Random *r, int low, int high);
void whole_fill(Random *r, int n, int m, int low, int high, float x[n][m]);

/* n shares in tenths, none of them 0, that add up to one. */
void tenths_fill(Random *r, int n, float shares[n]);

/* A place from 0 to below n. */
int place_below(Random *r, int n);

/* Is each number so far from where rounding turns that what was rounded
 * before, on the way, cannot turn it? */
bool is_clear(int digits, int n, const float x[n]);

/* Where the largest number is; -1 if another one is less than gap below. */
int clear_largest(int n, const float x[n], float gap);

/* The largest number less the smallest. */
float range(int n, const float x[n]);

/* Is there a row of nothing but 0, or one that stands twice? */
bool has_dull_rows(int n, int m, const float x[n][m]);

#define TOLD(words, values) __attribute__((format(printf, words, values)))

TOLD(2, 3) void task(const char *title, const char *format, ...);
void given(const char *name, int n, int m, const float x[n][m]);
TOLD(1, 2) void ask(const char *format, ...);
void step(const char *name, int n, const float x[n]);
TOLD(2, 3) void step_words(const char *name, const char *format, ...);
void answer(int digits, int n, const float x[n]);
void answer_rows(int digits, int n, int m, const float x[n][m]);
TOLD(1, 2) void answer_words(const char *format, ...);

/* The steps of a softmax of these scores: the exponentials of what is left
 * when the largest is taken away, their sum, and the weights. */
void softmax_steps(int n, const float scores[n]);

/* The tasks of a chapter, one sheet of them. */
void tasks_01(Random *r);
void tasks_02(Random *r);
void tasks_03(Random *r);
void tasks_04(Random *r);
void tasks_05(Random *r);
void tasks_06(Random *r);
void tasks_07(Random *r);
void tasks_08(Random *r);
void tasks_09(Random *r);
void tasks_10(Random *r);
void tasks_11(Random *r);
void tasks_12(Random *r);
void tasks_13(Random *r);
void tasks_14(Random *r);
