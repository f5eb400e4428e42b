/*
## Appendix C, one sheet {#header-sheet}
*/

#pragma once

/* The context vector of "journey" in "Your journey starts with one step",
 * under the attentions of the book: in row i the first size[i] numbers.
 * PyTorch: the calls that the chapters show. */
enum { SHEET_ROWS = 13, SHEET_WIDE = 4 };
void sheet_rows(int size[SHEET_ROWS], float x[SHEET_ROWS][SHEET_WIDE]);
