/*
## Appendix C, one sheet {#header-sheet}
*/

#pragma once

/* The context vector of one word under one variant of attention. */
typedef struct {
    const char *name;
    int size; /* how many entries of x are used */
    float x[4];
} SheetRow;

/* That of "journey" in "Your journey starts with one step", under the
 * attentions of the book. PyTorch: the calls that the chapters show. */
enum { SHEET_ROWS = 13 };
void sheet_rows(SheetRow table[SHEET_ROWS]);
