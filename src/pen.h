/* What all pictures share: the files figure.c and diagram.c draw with this. */
#ifndef PEN_H
#define PEN_H

#include "attention.h"

enum { COLOURS = 6 };

/* A picture being written: to a file of its own that takes the final name
 * when it is whole, so that half a picture never has a picture's name. */
typedef struct {
    FILE *file;
    char path[600], part[610];
} Picture;

/* Is a picture wanted? */
int pen_wanted(void);

/* Opens a picture and writes all that pictures share, up to the beginning of
 * its description in words. Whoever calls has checked what is to be drawn. */
void pen_begin(Picture *p, const char *name, const char *title,
               double width, double height);

/* Ends the description; the drawing follows. */
void pen_draw(Picture *p);
void pen_end(Picture *p);

/* Words as SVG takes them; one row of a table in words. */
void pen_words(FILE *file, const char *text);
void pen_describe(Picture *p, const char *row, int m,
                  const char *const column[m], const float x[m]);

void pen_text(Picture *p, double x, double y, const char *class,
              const char *words);
void pen_number(Picture *p, double x, double y, const char *class,
                double value);
void pen_box(Picture *p, double x, double y, double width, double height,
             int colour, double opacity);
void pen_frame(Picture *p, double x, double y, double width, double height);
void pen_line(Picture *p, double x1, double y1, double x2, double y2,
              const char *class, double width);

/* Room for the longest of n words, in pixels: 8 a letter is ample. Bytes
 * that go on with a letter do not count. */
double pen_room(int n, const char *const word[n]);

/* Refuse what cannot be drawn. */
void pen_must_be_finite(const char *name, int n, const float x[n]);
void pen_must_have_colours(const char *name, int n, const char *what);

#endif
