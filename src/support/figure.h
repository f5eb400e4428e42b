/*
## Drawing: `figure_*.c` {#header-figure}

Each function writes `name.svg` into the folder that the environment's
`FIGURES` names. Where it names none, nothing is drawn, and nothing refused.
Every drawing has its `title` and a description in words for those who
cannot see it, and follows the reader's light or dark theme. There are eight
colours, which repeat. In its words, what follows a single letter and `_` is
an index: `W_Q`. Panels stand as many a row as the screen has room for. A
folder or file that cannot be written is refused, and so are a path of 600
bytes or more and words of 1,000 or more; nothing half-written is left
behind.
*/

#pragma once

/* A table as coloured cells with their values: the stronger the colour, the
 * larger; orange is negative. Minus infinity and nan are hidden: cells
 * without colour that say so. The words name the rows and the columns.
 * Refuses infinity. */
void figure_heatmap(const char *name, const char *title, int n,
                    const char *const row[n], int m,
                    const char *const column[m], const float x[n][m]);

/* Heatmaps of one shape as panels, each with its label above and to a scale
 * of its own. Refuses infinity. */
void figure_maps(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n,
                 const char *const row[n], int m,
                 const char *const column[m], const float x[panels][n][m]);

/* Masks of one shape as panels: squares that are filled for 1 and empty for
 * 0. Refuses any other entry. */
void figure_grid(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n, int m,
                 const float x[panels][n][m]);

/* A table as it lies in memory: n rows of m cells with a word in each, ""
 * for none; the colour of each cell, from 0 on, or -1 for a pale one; and
 * words before the rows and above the columns, or NULL. */
typedef struct {
    const char *label;
    int n, m;
    const char *const *row, *const *column, *const *cell;
    const int *colour;
} FigureLayout;

/* Such tables as panels, with cells as wide as the longest word of all. */
void figure_layout(const char *name, const char *title, int panels,
                   const FigureLayout panel[panels]);

/* Panels of n bars, each panel to a scale of its own. Refuses an entry that
 * is not finite. */
void figure_bars(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n,
                 const char *const word[n], const float x[panels][n]);

/* Distributions of n numbers, one below the other, on one axis for all with
 * 0 in its middle, so that spreads can be compared. Each has 61 bins, which
 * reach as far as 0 and its own numbers, and bars as high as its own
 * largest bin. No bin with a number in it is less than a pixel wide or
 * high. Refuses an entry that is not finite. */
void figure_histograms(const char *name, const char *title, int panels,
                       const char *const panel[panels], int n,
                       const float x[panels][n]);

/* Two curves through the values at n places, on an axis from 0 to the
 * largest. A value stands at its point, but where it is the one before; nan
 * has no point, and is said on the axis. Refuses an entry that is negative
 * or infinite. */
void figure_curves(const char *name, const char *title,
                   const char *const curve[2], int n,
                   const char *const at[n], const float y[2][n]);

/* A bar for each of d entries, put together from the parts that n words add
 * to it, with the sum beside it. Refuses a part that is negative or not
 * finite. */
void figure_stacks(const char *name, const char *title, int n,
                   const char *const word[n], int d,
                   const float part[n][d]);

/* What attention makes of word i of n, whose embedding is x: its query, its
 * key and its value; then for each key the score with the query and the
 * share, and what the shares mix of the values, the context. Whole numbers
 * stand without their zeros. Refuses an entry that is not finite, and a
 * word that is not there. */
void figure_follow(const char *name, const char *title, int n,
                   const char *const word[n], int i, int d, int d_k,
                   int d_v, const float x[d], const float query[d_k],
                   const float key[n][d_k], const float value[n][d_v],
                   const float scores[n], const float weights[n],
                   const float context[d_v]);

/* The stages of attention from words to output; those that `lit` names,
 * with one blank between two, are shaded. Refuses no name, a name that is
 * no stage, and one that comes twice. */
void figure_pipeline(const char *name, const char *lit);

/* The residual stream of a token in a GPT of so many blocks, from its
 * embedding to its logits, and what reads it and adds to it. Refuses
 * blocks below 1. */
void figure_stream(const char *name, const char *title, int blocks);

/* Lines through the values at n places, on two axes on which equal factors
 * are equally far apart; nan is no point, and a line of one point is a dot.
 * Marks are powers of two where all numbers of an axis are; else powers of
 * ten, or 1, 2 and 5 times these where there is room. Labels stand behind
 * the axes, each as high as its line ends, or nearly. Refuses no line, more
 * than eight, a line without points, and a number that is not finite or not
 * above 0. */
void figure_log_log(const char *name, const char *title, const char *across,
                    const char *up, int lines,
                    const char *const line[lines], int n, const float x[n],
                    const float y[lines][n]);

/* A matrix as a rectangle: its label, its rows and columns, in how many
 * parts of equal width its columns are coloured, and the sign after it,
 * or NULL where a line ends. */
typedef struct {
    const char *label;
    int n, m, parts;
    const char *after;
} FigureBlock;

/* Matrices in proportion to their shapes, in lines like an equation. All
 * share one scale: sides are as the numbers of rows and columns, and the
 * cells are seen; or, where one of these is above 8, as their square roots,
 * so that 20 × 512 can stand beside 512 × 512. Where some have parts, those
 * without are pale. Refuses parts that do not divide the columns. */
void figure_blocks(const char *name, const char *title, int count,
                   const FigureBlock block[count]);
