#include "support/pen.h"

/* An axis on which equal factors are equally far apart, from mark `first`
 * to mark `last`, and from one pixel to another. Marks are powers of two,
 * or 1, 2 and 5 times powers of ten; every `step`-th is named. */
typedef struct {
    int is_binary, first, last, step;
    double from, to;
} Axis;

static double mark(const Axis *a, int i)
{
    static const double times[3] = {1, 2, 5};
    const int tens = (int)floor(i / 3.0);
    return a->is_binary ? ldexp(1, i) : times[i - 3 * tens] * pow(10, tens);
}

static double place(const Axis *a, double value)
{
    const double low = log(mark(a, a->first));
    const double share = (log(value) - low) / (log(mark(a, a->last)) - low);
    return a->from + share * (a->to - a->from);
}

static const char *word_of(const Axis *a, int i)
{
    return pen_number(pen_decimals(mark(a, i)), mark(a, i));
}

static double longest_word(const Axis *a)
{
    return fmax(strlen(word_of(a, a->first)), strlen(word_of(a, a->last)));
}

/* The axis that holds all of n numbers but nan. */
static Axis axis_for(int n, const float x[n])
{
    Axis a = {.is_binary = 1, .first = -140, .last = -140};
    double low = INFINITY, high = 0;
    int power;
    for (int i = 0; i < n; i++) {
        low = fmin(low, (double)x[i]);
        high = fmax(high, (double)x[i]);
        if (x[i] < 1 || (!isnan(x[i]) && frexpf(x[i], &power) != 0.5f))
            a.is_binary = 0;
    }
    /* The float 0.1 is a little more than the mark 0.1. */
    while (mark(&a, a.first + 1) < low * (1 + 1e-6))
        a.first++;
    while (mark(&a, a.last) < high * (1 - 1e-6))
        a.last++;
    if (a.first == a.last) {
        a.first--;
        a.last++;
    }
    return a;
}

static int is_named(const Axis *a, int i)
{
    return (a->is_binary ? i - a->first : i) % a->step == 0;
}

/* Lays the axis between two pixels, and names as many of its marks as have
 * room: all, or powers of ten or two. */
static void place_axis(Axis *a, double from, double to, double room)
{
    const double high = mark(a, a->last), low = mark(a, a->first);
    const double factor = pow(high / low, room / fabs(to - from));
    a->from = from;
    a->to = to;
    a->step = 1;
    if (a->is_binary)
        a->step = (int)fmax(1, ceil(log(factor) / log(2) - 1e-9));
    else if (factor > 2)
        a->step = 3 * (int)ceil(log10(factor) - 1e-9);
}

typedef struct {
    double x, y;
} Point;

/* The lines, their axes, and the column of labels behind these: from where
 * to where it goes, and how high each label stands. */
typedef struct {
    int lines, n;
    const char *const *line;
    const float *x, *y; /* [n], [lines][n] */
    Axis across, up;
    double left, right, label[COLOURS];
} Plot;

enum { LABEL_HIGH = 18, LEADER = 20, TOP = 34, BOTTOM = TOP + 264 };

static int has_point(const Plot *p, int k, int i)
{
    return !isnan(p->y[k * p->n + i]);
}

static Point point_at(const Plot *p, int k, int i)
{
    return (Point){place(&p->across, (double)p->x[i]),
                   place(&p->up, (double)p->y[k * p->n + i])};
}

/* The point that a label is about: the last of its line. */
static Point end_of(const Plot *p, int k)
{
    int i = p->n - 1;
    while (!has_point(p, k, i))
        i--;
    return point_at(p, k, i);
}

static int is_above(Point a, int i, Point b, int k)
{
    return a.y < b.y || (!(a.y > b.y) && i < k);
}

/* Labels are as high as their lines end, but give way to each other by
 * halves until all have room. */
static void place_labels(Plot *p)
{
    for (int k = 0; k < p->lines; k++)
        p->label[k] = end_of(p, k).y;
    for (int times = 0; times < 1000; times++)
        for (int i = 0; i < p->lines; i++)
            for (int k = 0; k < p->lines; k++) {
                double *a = &p->label[i], *b = &p->label[k];
                const double lack = fmax(0, LABEL_HIGH - (*b - *a));
                if (!is_above(end_of(p, i), i, end_of(p, k), k))
                    continue;
                *a = fmax(TOP, *a - lack / 2);
                *b = fmin(BOTTOM, *b + lack / 2);
            }
}

static void measure(Plot *p)
{
    enum { LEAST = 280 };
    const double wide = pen_room(p->lines, p->line) + 10; /* for capitals */
    p->across = axis_for(p->n, p->x);
    p->up = axis_for(p->lines * p->n, p->y);
    const double left = 12 + 9 * longest_word(&p->up);
    p->right = fmax(PAGE, left + LEAST + LEADER + wide);
    p->left = p->right - wide;
    place_axis(&p->across, left, p->left - LEADER,
               12 + 9 * longest_word(&p->across));
    place_axis(&p->up, BOTTOM, TOP, 22);
}

/* Four decimals, or as many as a small number needs. */
static const char *number(float x)
{
    return x < 0.001f ? pen_number(pen_decimals((double)x) + 1, (double)x)
                      : pen_short((double)x);
}

static void say_lines(const Plot *p, const char *across, const char *up)
{
    pen_say(
        "%s for %s; on both axes, equal factors are equally far apart. ",
        up, across);
    for (int k = 0; k < p->lines; k++) {
        const char *before = ": ";
        pen_say("%s", p->line[k]);
        for (int i = 0; i < p->n; i++) {
            if (!has_point(p, k, i))
                continue;
            pen_say("%s%s for ", before, number(p->y[k * p->n + i]));
            pen_say("%s", number(p->x[i]));
            before = ", ";
        }
        pen_say(". ");
    }
}

static void draw_axes(const Plot *p, const char *across, const char *up)
{
    const Axis *x = &p->across, *y = &p->up;
    for (int i = x->first; i <= x->last; i++)
        if (is_named(x, i)) {
            const double at = place(x, mark(x, i));
            pen_line(at, TOP, at, BOTTOM, "rule", 0.6);
            pen_text(at, BOTTOM + 18, "middle small muted", "%s",
                     word_of(x, i));
        }
    for (int i = y->first; i <= y->last; i++)
        if (is_named(y, i)) {
            const double at = place(y, mark(y, i));
            pen_line(x->from, at, x->to, at, "rule", 0.6);
            pen_text(x->from - 8, at + 4, "end small muted", "%s",
                     word_of(y, i));
        }
    pen_line(x->from, BOTTOM, x->to, BOTTOM, "edge", 1);
    pen_line(x->from, TOP, x->from, BOTTOM, "edge", 1);
    pen_text(0, 16, "", "%s", up);
    pen_text((x->from + x->to) / 2, BOTTOM + 40, "middle", "%s", across);
}

static void draw_line(const Plot *p, int k)
{
    int points = 0, before = -1;
    for (int i = 0; i < p->n; i++)
        points += has_point(p, k, i);
    for (int i = 0; i < p->n; i++) {
        const Point at = point_at(p, k, i);
        if (!has_point(p, k, i))
            continue;
        if (before >= 0) {
            const Point from = point_at(p, k, before);
            pen_line(from.x, from.y, at.x, at.y, pen_stroke[k], 2);
        }
        pen_svg("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" "
                "class=\"c%d\"/>\n",
                at.x, at.y, points > 1 ? 3 : 5, k);
        before = i;
    }
    const Point end = end_of(p, k);
    pen_line(end.x, end.y, p->left - 4, p->label[k], pen_stroke[k], 1);
    pen_text(p->left, p->label[k] + 5, "rim", "%s", p->line[k]);
}

void figure_log_log(const char *name, const char *title, const char *across,
                    const char *up, int lines,
                    const char *const line[lines], int n, const float x[n],
                    const float y[lines][n])
{
    if (pen_wanted() && (lines < 1 || lines > COLOURS))
        REFUSE("figure '%s' has %d lines: 1 to %d can be drawn", name,
               lines, COLOURS);
    if (!pen_accepts(PEN_POSITIVE, name, n, x) ||
        !pen_accepts(PEN_FACTORS, name, lines * n, y[0]))
        return;
    Plot p = {.lines = lines, .n = n, .line = line, .x = x, .y = y[0]};
    for (int k = 0; k < lines; k++) {
        int i = 0;
        while (i < n && !has_point(&p, k, i))
            i++;
        if (i == n)
            REFUSE("figure '%s' has a line '%s' without points: each needs "
                   "at least 1",
                   name, line[k]);
    }
    measure(&p);
    place_labels(&p);
    pen_begin(name, title, p.right, BOTTOM + 50);
    say_lines(&p, across, up);
    pen_draw();
    draw_axes(&p, across, up);
    for (int k = 0; k < lines; k++)
        draw_line(&p, k);
    pen_end();
}
