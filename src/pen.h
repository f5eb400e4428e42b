/* The pen: what all drawings share, and no chapter uses. Only the files
 * figure*.c include it.
 *
 * A drawing function first asks pen_wanted(), then refuses what it cannot
 * draw, and only then begins: so nothing is refused where nothing would be
 * drawn, and a refusal leaves no half-written picture behind. */
#ifndef PEN_H
#define PEN_H

#include "attention.h"

/* A picture being written: to a file of its own that takes the final name
 * when it is whole, so that half a picture never has a picture's name. */
typedef struct {
    FILE *file;
    int failure; /* errno of the first write that failed, or 0 */
    char path[600], part[610];
} Picture;

/* Pictures are at most as wide as the page where they can be: then their
 * letters are as large as they say. */
enum { PAGE = 640 };

/* The style sheet of pen_begin has the classes c0 to c5 for areas, s0 to s5
 * for lines. */
enum { COLOURS = 6 };

/* Does FIGURES name a folder? */
int pen_wanted(void);

/* Opens a picture and writes all that pictures share, up to the beginning
 * of its description in words. After these pen_draw begins the drawing, and
 * pen_end gives the whole its name. */
Picture pen_begin(const char *name, const char *title, double width,
                  double height);
void pen_draw(Picture *p);
void pen_end(Picture *p);

/* Writes SVG as it stands; or words, whose signs are no SVG. */
void pen_write(Picture *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pen_words(Picture *p, const char *words);

/* A number with four decimals, written to `digits` or a word of its own. */
enum { PEN_DIGITS = 60 };
const char *pen_digits(char digits[PEN_DIGITS], double value);

/* One row of a table in words: "shiny: Hello 0.7842, shiny 1.3569. " */
void pen_row(Picture *p, const char *row, int m,
             const char *const column[m], const float x[m]);

/* Words, a number with four decimals, a filled box, a frame one pixel wide
 * and a line. */
void pen_text(Picture *p, double x, double y, const char *class,
              const char *words);
void pen_number(Picture *p, double x, double y, const char *class,
                double value);
void pen_box(Picture *p, double x, double y, double width, double height,
             int colour, double opacity);
void pen_frame(Picture *p, double x, double y, double width, double height,
               const char *class);
void pen_line(Picture *p, double x1, double y1, double x2, double y2,
              const char *class, double width);

/* The signs of n words, each a box or another of that colour around (x, y),
 * named beside each other in as many rows as they need. Returns the height;
 * draws nothing without a picture. */
typedef void PenSign(Picture *p, double x, double y, int colour);
double pen_legend(Picture *p, double left, double right, int n,
                  const char *const word[n], PenSign *sign);

/* A round distance between marks on an axis of this span, of which at most
 * so many fit; and the words of the mark at a value. */
double pen_step(double span, int most);
const char *pen_mark(char digits[PEN_DIGITS], double step, double value);

/* Room for the longest of n words, in pixels; and where they are strong. */
double pen_room(int n, const char *const word[n]);
double pen_strong_room(int n, const char *const word[n]);

/* Refuse entries that are not finite, and more words, or whatever they are,
 * than there are colours. */
void pen_must_be_finite(const char *name, int n, const float x[n]);
void pen_must_have_colours(const char *name, int n, const char *what);

#endif
