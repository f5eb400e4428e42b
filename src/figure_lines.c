#include <limits.h>

#include "pen.h"

/* The support library stands below the chapters and uses none of them, so
 * that a figure can be drawn while a chapter is still being written. */
static double product(const float a[2], const float b[2])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1];
}

/* Where the plane lies in the picture: x to the right, y upwards. */
typedef struct {
    double left, top, unit, low_x, high_y;
} Plane;

static double at_x(const Plane *plane, double x)
{
    return plane->left + (x - plane->low_x) * plane->unit;
}

static double at_y(const Plane *plane, double y)
{
    return plane->top + (plane->high_y - y) * plane->unit;
}

/* A line with a head from the origin to (x, y). */
static void arrow(Picture *p, const Plane *plane, double x, double y,
                  int colour)
{
    char stroke[] = "s0";
    stroke[1] = (char)('0' + colour);
    const double x0 = at_x(plane, 0), y0 = at_y(plane, 0);
    const double x1 = at_x(plane, x), y1 = at_y(plane, y);
    const double size = hypot(x1 - x0, y1 - y0);
    if (size == 0)
        return; /* an arrow without a direction has no head */
    const double ux = (x1 - x0) / size, uy = (y1 - y0) / size;
    pen_line(p, x0, y0, x1 - 10 * ux, y1 - 10 * uy, stroke, 2.5);
    pen_write(p,
              "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" "
              "class=\"c%d\"/>\n",
              x1, y1, x1 - 13 * ux + 5 * uy, y1 - 13 * uy - 5 * ux,
              x1 - 13 * ux - 5 * uy, y1 - 13 * uy + 5 * ux, colour);
}

/* The shadow of an arrow on the line of the first. */
static void shadow(Picture *p, const Plane *plane, const float first[2],
                   const float x[2], int colour)
{
    char stroke[] = "s0";
    stroke[1] = (char)('0' + colour);
    const double share = product(x, first) / product(first, first);
    const double sx = share * (double)first[0];
    const double sy = share * (double)first[1];
    pen_line(p, at_x(plane, (double)x[0]), at_y(plane, (double)x[1]),
             at_x(plane, sx), at_y(plane, sy), "dash", 1.5);
    pen_write(p, "<g stroke-opacity=\"0.45\" stroke-linecap=\"round\">");
    pen_line(p, at_x(plane, 0), at_y(plane, 0), at_x(plane, sx),
             at_y(plane, sy), stroke, 9);
    pen_write(p, "</g>\n");
}

/* A plane that holds the origin and all n points. */
static Plane plane_around(int n, const float x[n][2])
{
    enum { WIDE = 400, HIGH = 230 };
    float low[2] = {0, 0}, high[2] = {0, 0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], x[i][k]);
            high[k] = fmaxf(high[k], x[i][k]);
        }
    const double unit = fmin(WIDE / (double)(high[0] - low[0]),
                             HIGH / (double)(high[1] - low[1]));
    const double spare = WIDE - unit * (double)(high[0] - low[0]);
    return (Plane){100 + spare * 0.5, 36, unit, (double)low[0],
                   (double)high[1]};
}

void arrows(const char *name, const char *title, int n,
            const char *const word[n], const float x[n][2])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, n, "arrows");
    for (int i = 0; i < n; i++)
        pen_must_be_finite(name, 2, x[i]);
    if (!(product(x[0], x[0]) > 0))
        REFUSE("figure '%s' begins with an arrow of length 0: shadows need "
               "a direction to fall on",
               name);
    Picture p = pen_begin(name, title, 600, 300);
    for (int i = 0; i < n; i++) {
        pen_words(&p, word[i]);
        pen_write(&p, " (%.4f, %.4f)", (double)x[i][0], (double)x[i][1]);
        if (i > 0)
            pen_write(&p, ", with the first %.4f", product(x[i], x[0]));
        pen_write(&p, ". ");
    }
    pen_draw(&p);
    const Plane plane = plane_around(n, x);
    pen_line(&p, 20, at_y(&plane, 0), 580, at_y(&plane, 0), "rule", 1);
    pen_line(&p, at_x(&plane, 0), 8, at_x(&plane, 0), 292, "rule", 1);
    for (int i = 1; i < n; i++)
        shadow(&p, &plane, x[0], x[i], i);
    for (int i = 0; i < n; i++) {
        char words[200];
        arrow(&p, &plane, (double)x[i][0], (double)x[i][1], i);
        snprintf(words, sizeof words, i ? "%s: %.4f" : "%s", word[i],
                 product(x[i], x[0]));
        pen_text(&p, at_x(&plane, (double)x[i][0]),
                 at_y(&plane, (double)x[i][1]) + (x[i][1] < 0 ? 20 : -10),
                 x[i][0] < 0 ? "middle" : "", words);
    }
    pen_end(&p);
}

/* Where curves lie in their picture: place i at left + (i + 0.5) * step,
 * and the value `low` at the bottom. */
typedef struct {
    double left, step, top, bottom, unit, low;
} Chart;
enum { CHART_HIGH = 230 };

static double chart_x(const Chart *c, int i)
{
    return c->left + (i + 0.5) * c->step;
}

static double chart_y(const Chart *c, float y)
{
    return c->bottom - ((double)y - c->low) * c->unit;
}

/* A value at its point: the middle of its line of text, and half of its
 * width and height. */
typedef struct {
    double x, y, wide, high;
} Label;

static int overlap(const Label *a, const Label *b)
{
    return fabs(a->x - b->x) < a->wide + b->wide &&
           fabs(a->y - b->y) < a->high + b->high;
}

/* Does the curve's piece from place i to the next go through the label? It
 * does if, above or below the label's width, it is ever as high. */
static int is_crossed(const Chart *c, const Label *label, int i, float y0,
                      float y1)
{
    const double x0 = chart_x(c, i), x1 = chart_x(c, i + 1);
    const double from = fmax(x0, label->x - label->wide);
    const double to = fmin(x1, label->x + label->wide);
    if (from >= to)
        return 0;
    const double slope = (chart_y(c, y1) - chart_y(c, y0)) / (x1 - x0);
    const double a = chart_y(c, y0) + (from - x0) * slope;
    const double b = chart_y(c, y0) + (to - x0) * slope;
    return fmin(a, b) < label->y + label->high &&
           fmax(a, b) > label->y - label->high;
}

/* How bad this place is for a label at place i: what lies under it. */
static int faults(const Chart *c, const Label *label, int i, int count,
                  int n, const float y[count][n])
{
    int sum = 0;
    /* Outside of the chart are the legend and the words of both axes. */
    if (label->y < c->top - 18 || label->y > c->bottom - 4 ||
        label->x - label->wide < c->left ||
        label->x + label->wide > c->left + n * c->step)
        sum += 300;
    for (int k = 0; k < count; k++) {
        const Label point = {chart_x(c, i), chart_y(c, y[k][i]), 4, 4};
        sum += 20 * overlap(label, &point);
        if (i > 0)
            sum += 10 * is_crossed(c, label, i - 1, y[k][i - 1], y[k][i]);
        if (i + 1 < n)
            sum += 10 * is_crossed(c, label, i, y[k][i], y[k][i + 1]);
    }
    return sum;
}

/* Half of what a value takes in small letters. */
static double half_room(float x)
{
    char digits[PEN_DIGITS];
    return 3.8 * (double)strlen(pen_digits(digits, (double)x));
}

/* The best place for the value at a point: above or below it, as wanted if
 * that is no worse, beside the curves rather than on them, and never on one
 * of the labels that are there. */
static Label place_label(const Chart *c, int i, int k, int above, int count,
                         int n, const float y[count][n],
                         const Label placed[2 * COLOURS])
{
    const double half = half_room(y[k][i]);
    Label best = {0};
    int least = INT_MAX;
    for (int far = 0; far < 4; far++)
        for (int side = 0; side < 6; side++) {
            const int up = side % 2 == 0 ? above : !above;
            const int shift = side / 2 == 2 ? -1 : side / 2;
            const double away = (up ? -1 : 1) * (13 + 13 * far);
            const Label label = {chart_x(c, i) + shift * half,
                                 chart_y(c, y[k][i]) + away, half, 6};
            int bad = faults(c, &label, i, count, n, y) + 8 * far +
                      2 * (shift != 0) + 4 * (side % 2);
            for (int other = 0; other < 2 * COLOURS; other++)
                bad += 1000 * overlap(&label, &placed[other]);
            if (bad < least) {
                least = bad;
                best = label;
            }
        }
    return best;
}

/* How many curves are higher at place i; of equal ones the first counts as
 * higher. */
static int rank_of(int i, int k, int count, int n, const float y[count][n])
{
    int rank = 0;
    for (int other = 0; other < count; other++)
        rank +=
            y[other][i] > y[k][i] || (y[other][i] == y[k][i] && other < k);
    return rank;
}

/* The values at all points, place by place, the highest curve first. Only
 * labels of the same place and the one before can be in the way. */
static void values(Picture *p, const Chart *c, int count, int n,
                   const float y[count][n])
{
    Label placed[2 * COLOURS];
    for (int k = 0; k < 2 * COLOURS; k++)
        placed[k] = (Label){-1e9, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        Label *here = placed + i % 2 * COLOURS;
        for (int k = 0; k < COLOURS; k++)
            here[k].x = -1e9;
        for (int rank = 0; rank < count; rank++)
            for (int k = 0; k < count; k++) {
                if (rank_of(i, k, count, n, y) != rank)
                    continue;
                const int above = 2 * rank < count;
                char class[] = "middle small c0";
                class[sizeof class - 2] = (char)('0' + k);
                here[rank] =
                    place_label(c, i, k, above, count, n, y, placed);
                pen_number(p, here[rank].x, here[rank].y + 4, class,
                           (double)y[k][i]);
            }
    }
}

/* Curves are told apart by the shapes of their points as well. */
static void point(Picture *p, double x, double y, int colour)
{
    static const char *const shape[COLOURS] = {
        "m-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z",
        "m-4,-4h8v8h-8z",
        "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
        "m0,-5l5.5,9h-11z",
        "m0,5l5.5,-9h-11z",
        "m-1.5,-5.5h3v4h4v3h-4v4h-3v-4h-4v-3h4z"};
    pen_write(p, "<path d=\"M%.1f,%.1f%s\" class=\"c%d\"/>\n", x, y,
              shape[colour], colour);
}

static void curve_of(Picture *p, const Chart *c, int colour, int n,
                     const float y[n])
{
    pen_write(p,
              "<polyline class=\"s%d\" fill=\"none\" "
              "stroke-width=\"2\" points=\"",
              colour);
    for (int i = 0; i < n; i++)
        pen_write(p, "%s%.1f,%.1f", i ? " " : "", chart_x(c, i),
                  chart_y(c, y[i]));
    pen_write(p, "\"/>\n");
    for (int i = 0; i < n; i++)
        point(p, chart_x(c, i), chart_y(c, y[i]), colour);
}

/* Lines across the chart at round values; + 0.0 makes -0 a 0. */
static void value_axis(Picture *p, const Chart *c, double right,
                       double mark)
{
    const double high = c->low + CHART_HIGH / c->unit + 1e-9 * mark;
    for (double k = ceil(c->low / mark) + 0.0; k * mark <= high; k++) {
        char digits[PEN_DIGITS];
        const double y = c->bottom - (k * mark - c->low) * c->unit;
        pen_line(p, c->left, y, right, y, "rule", 0.6);
        pen_text(p, c->left - 8, y + 4, "end small muted",
                 pen_mark(digits, mark, k * mark));
    }
}

/* A chart that holds all values with n places side by side, under a legend.
 * Values that are all alike, and 0, need some height as well. */
static Chart chart_around(int count, int n, const char *const at[n],
                          const float y[count][n], double *mark)
{
    float low = 0, high = y[0][0];
    double wide = 22;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++) {
            low = fminf(low, y[k][i]);
            high = fmaxf(high, y[k][i]);
            wide = fmax(wide, half_room(y[k][i]));
        }
    const double span = high > low ? (double)high - (double)low : 1;
    char least[PEN_DIGITS], most[PEN_DIGITS];
    *mark = pen_step(span, 5);
    const double left =
        12 + 8 * fmax(strlen(pen_mark(least, *mark, (double)low)),
                      strlen(pen_mark(most, *mark, (double)high)));
    const double step = fmax(2 * wide + 10, pen_room(n, at) + 10);
    return (Chart){.left = left,
                   .step = fmax(step, fmin(160, (PAGE - left) / n)),
                   .unit = CHART_HIGH / span,
                   .low = (double)low};
}

void curves(const char *name, const char *title, int count,
            const char *const curve[count], int n, const char *const at[n],
            const float y[count][n])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, count, "curves");
    for (int k = 0; k < count; k++)
        pen_must_be_finite(name, n, y[k]);
    double mark;
    Chart c = chart_around(count, n, at, y, &mark);
    const double right = c.left + n * c.step;
    c.top = 26 + pen_legend(NULL, c.left, right, count, curve, point);
    c.bottom = c.top + CHART_HIGH;
    Picture p = pen_begin(name, title, right, c.bottom + 30);
    for (int k = 0; k < count; k++)
        pen_row(&p, curve[k], n, at, y[k]);
    pen_draw(&p);
    pen_legend(&p, c.left, right, count, curve, point);
    value_axis(&p, &c, right, mark);
    for (int i = 0; i < n; i++)
        pen_text(&p, chart_x(&c, i), c.bottom + 24, "middle", at[i]);
    for (int k = 0; k < count; k++)
        curve_of(&p, &c, k, n, y[k]);
    values(&p, &c, count, n, y);
    pen_end(&p);
}
