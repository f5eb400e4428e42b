/*
## The book's own words: `prose.c` {#header-prose}
*/

#pragma once

/* The book's prose, paragraphs as lines, in ASCII, without every tenth
 * paragraph; and those, which are held out. What `make prose` has found. */
extern const char prose[], held_out[];
extern const int prose_length, held_out_length;
