/* The pen: what all drawings share, and no chapter uses. Only the files
 * figure_*.c include it. There is one pen, which draws one picture at a time,
 * from pen_begin to pen_end. Outside of these it is lifted and leaves no
 * line, so that a layout can be gone through for its size alone.
 *
 * A drawing function first asks pen_wanted() or pen_accepts(), then refuses
 * what else it cannot draw, and only then begins: so nothing is refused
 * where nothing would be drawn, and no refusal leaves half a picture. */
#pragma once

#include "support.h"

/* Pictures are at most this wide where they can be: then a phone, which
 * shrinks them to two thirds at most, shows them whole. The style sheet has
 * the classes c0 to c7 for areas, s0 to s7 for lines; pen_box begins again
 * after the last. */
enum { PAGE = 500, COLOURS = 8 };
extern const char *const pen_stroke[COLOURS];

/* Does FIGURES name a folder? Where it does, pen_accepts refuses entries
 * that are not of this kind. */
int pen_wanted(void);
typedef enum {
    PEN_FINITE,
    PEN_CELLS,  /* or minus infinity or nan */
    PEN_PARTS,  /* from 0 on */
    PEN_POINTS, /* from 0 on or nan */
    PEN_BITS,
    PEN_POSITIVE, /* above 0 */
    PEN_FACTORS   /* above 0 or nan */
} PenKind;
int pen_accepts(PenKind kind, const char *name, int n, const float x[n]);

/* Opens a picture and writes all that pictures share, up to the beginning
 * of its description in words. After these pen_draw begins the drawing, and
 * pen_end ends it. */
void pen_begin(const char *name, const char *title, double width,
               double height);
void pen_draw(void);
void pen_end(void);

/* The same for a picture of n panels of one size, as many a row as fit a
 * page, or else the screen of a phone, which does not shrink them. From
 * pen_open_panel to "</g>", 0, 0 is panel k's corner. */
void pen_begin_panels(const char *name, const char *title, int n,
                      double width, double height);
void pen_open_panel(int k);

/* Writes SVG as it stands; or words, whose signs are no SVG. In a drawing,
 * the letters behind a single letter and _ stand below the line: W_Q. */
void pen_svg(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pen_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number with so many decimals; or with four, or as few as say the same.
 * The next call overwrites it. */
const char *pen_number(int decimals, double value);
const char *pen_short(double value);

/* One row of a table in words: "shiny: Hello 0.7842, shiny 1.3569. " */
void pen_row(const char *row, int m, const char *const column[m],
             const float x[m]);

/* Words, a number with four decimals, a filled box, a frame one pixel wide
 * and a line. */
void pen_open_text(double x, double y, const char *class);
#define pen_text(x, y, class, ...)                                         \
    do {                                                                   \
        pen_open_text(x, y, class);                                        \
        pen_say(__VA_ARGS__);                                              \
        pen_svg("</text>\n");                                              \
    } while (0)
void pen_value(double x, double y, const char *class, double value);
void pen_box(double x, double y, double width, double height, int colour,
             double opacity);
void pen_frame(double x, double y, double width, double height,
               const char *class);
void pen_line(double x1, double y1, double x2, double y2, const char *class,
              double width);

/* The signs of n words, each a box or another of that colour around (x, y),
 * named beside each other from x on. Returns where they end. */
typedef void PenSign(double x, double y, int colour);
double pen_legend(double x, int n, const char *const word[n],
                  PenSign *sign);
enum { LEGEND_HIGH = 26 };

/* A round distance between marks on an axis of this span, of which at most
 * so many fit; and the decimals that they need. */
double pen_step(double span, int most);
int pen_decimals(double step);

/* Room for the longest of n words, in pixels; strong ones need a tenth
 * more. */
double pen_room(int n, const char *const word[n]);

/* The range of 0 and those of n entries that are finite; and the largest of
 * n without its sign. */
typedef struct {
    double low, high;
} Range;
Range pen_range(int n, const float x[n]);
double pen_largest(int n, const float x[n]);
