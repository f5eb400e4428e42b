/*
## Texts to read: `prose.c` {#header-prose}
*/

#pragma once

#include "attention/B_random.h"

/* A text in ASCII, of so many bytes, which a 0 follows. */
typedef struct {
    int length;
    char *bytes;
} PlainText;

/* Reads a file, which the caller frees. Refuses a text that isn't ASCII,
 * and one of less than so many bytes. */
PlainText plain_text(const char *path, int least);

/* The book's prose, paragraphs as lines, without every tenth paragraph; and
 * those, which are held out: src/data/prose.txt and src/data/held_out.txt,
 * as `make prose` has written them. Each is read when it is first asked
 * for, and stays in memory. They refuse what plain_text refuses, less than
 * 20,000 bytes held out, and prose that is shorter than that. */
const PlainText *prose(void);
const PlainText *held_out(void);

/* Draws texts of n tokens whose second half is the first again: passages of
 * the source, or with NULL random tokens. Refuses texts below 1, an n that
 * is odd or below 6, and passages longer than the source. */
void draw_twice(Random *r, int vocabulary, const PlainText *source,
                int texts, int n, int ids[texts][n]);
