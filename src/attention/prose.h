/*
## The book's own words: `prose.c` {#header-prose}
*/

#pragma once

/* A text in ASCII, of so many bytes, which a 0 follows. */
typedef struct {
    int length;
    char *bytes;
} PlainText;

/* The book's prose, paragraphs as lines, without every tenth paragraph; and
 * those, which are held out: src/data/prose.txt and src/data/held_out.txt,
 * as `make prose` has written them. Each is read when it is first asked
 * for, and stays in memory. They refuse a text that isn't ASCII, less than
 * 20,000 bytes held out, and prose that is shorter than that. */
const PlainText *prose(void);
const PlainText *held_out(void);
