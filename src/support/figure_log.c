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

/* The axis that holds the y of all lines, or the x. */
static Axis axis_for(int is_y, int count, const Line line[count])
{
    Axis a = {.is_binary = 1, .first = -140, .last = -140};
    double low = INFINITY, high = 0;
    int power;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < line[k].n; i++) {
            const double x = (double)(is_y ? line[k].y : line[k].x)[i];
            low = fmin(low, x);
            high = fmax(high, x);
            if (x < 1 || frexp(x, &power) != 0.5)
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
static void lay(Axis *a, double from, double to, double room)
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
    int count;
    const Line *line;
    Axis x, y;
    double left, right, label[COLOURS];
} Plot;

enum { LABEL_HIGH = 18, LEADER = 20, TOP = 34, BOTTOM = TOP + 264 };

static Point point_at(const Plot *p, int k, int i)
{
    return (Point){place(&p->x, (double)p->line[k].x[i]),
                   place(&p->y, (double)p->line[k].y[i])};
}

/* The point that a label is about: the last of its line. */
static Point end_of(const Plot *p, int k)
{
    return point_at(p, k, p->line[k].n - 1);
}

static int is_above(Point a, int i, Point b, int k)
{
    return a.y < b.y || (!(a.y > b.y) && i < k);
}

/* Labels are as high as their lines end, but give way to each other by
 * halves until all have room. */
static void place_labels(Plot *p)
{
    for (int k = 0; k < p->count; k++)
        p->label[k] = end_of(p, k).y;
    for (int times = 0; times < 1000; times++)
        for (int i = 0; i < p->count; i++)
            for (int k = 0; k < p->count; k++) {
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
    double wide = 0;
    for (int k = 0; k < p->count; k++) /* 10 more for capitals */
        wide = fmax(wide, pen_room(1, &p->line[k].label) + 10);
    p->x = axis_for(0, p->count, p->line);
    p->y = axis_for(1, p->count, p->line);
    const double left = 12 + 9 * longest_word(&p->y);
    p->right = fmax(PAGE, left + LEAST + LEADER + wide);
    p->left = p->right - wide;
    lay(&p->x, left, p->left - LEADER, 12 + 9 * longest_word(&p->x));
    lay(&p->y, BOTTOM, TOP, 22);
}

/* Four decimals, or as many as a small number needs. */
static const char *number(float x)
{
    return x < 0.001f ? pen_number(pen_decimals((double)x) + 1, (double)x)
                      : pen_short((double)x);
}

static void say_lines(const Plot *p, const char *x, const char *y)
{
    pen_say(
        "%s for %s; on both axes, equal factors are equally far apart. ", y,
        x);
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->line[k].n; i++) {
            pen_say("%s%s", i ? ", " : p->line[k].label, i ? "" : ": ");
            pen_say("%s for ", number(p->line[k].y[i]));
            pen_say("%s%s", number(p->line[k].x[i]),
                    i < p->line[k].n - 1 ? "" : ". ");
        }
}

static void draw_axes(const Plot *p, const char *x, const char *y)
{
    for (int i = p->x.first; i <= p->x.last; i++) {
        const double at = place(&p->x, mark(&p->x, i));
        if (!is_named(&p->x, i))
            continue;
        pen_line(at, TOP, at, BOTTOM, "rule", 0.6);
        pen_text(at, BOTTOM + 18, "middle small muted", "%s",
                 word_of(&p->x, i));
    }
    for (int i = p->y.first; i <= p->y.last; i++) {
        const double at = place(&p->y, mark(&p->y, i));
        if (!is_named(&p->y, i))
            continue;
        pen_line(p->x.from, at, p->x.to, at, "rule", 0.6);
        pen_text(p->x.from - 8, at + 4, "end small muted", "%s",
                 word_of(&p->y, i));
    }
    pen_line(p->x.from, BOTTOM, p->x.to, BOTTOM, "edge", 1);
    pen_line(p->x.from, TOP, p->x.from, BOTTOM, "edge", 1);
    pen_text(0, 16, "", "%s", y);
    pen_text((p->x.from + p->x.to) / 2, BOTTOM + 40, "middle", "%s", x);
}

static void draw_line(const Plot *p, int k)
{
    static const char *const stroke[COLOURS] = {"s0", "s1", "s2", "s3",
                                                "s4", "s5", "s6", "s7"};
    const double size = p->line[k].n > 1 ? 3 : 5;
    const Point end = end_of(p, k);
    for (int i = 0; i < p->line[k].n; i++) {
        const Point at = point_at(p, k, i);
        const Point from = point_at(p, k, i > 0 ? i - 1 : 0);
        if (i > 0)
            pen_line(from.x, from.y, at.x, at.y, stroke[k], 2);
        pen_svg("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\" "
                "class=\"c%d\"/>\n",
                at.x, at.y, size, k);
    }
    pen_line(end.x, end.y, p->left - 4, p->label[k], stroke[k], 1);
    pen_text(p->left, p->label[k] + 5, "rim", "%s", p->line[k].label);
}

void figure_log_log(const char *name, const char *title, const char *x,
                    const char *y, int count, const Line line[count])
{
    Plot p = {.count = count, .line = line};
    if (pen_wanted() && (count < 1 || count > COLOURS))
        REFUSE("figure '%s' has %d lines: 1 to %d can be drawn", name,
               count, COLOURS);
    for (int k = 0; k < count && pen_wanted(); k++) {
        if (line[k].n < 1)
            REFUSE("figure '%s' has a line '%s' of %d points: each needs "
                   "at least 1",
                   name, line[k].label, line[k].n);
        pen_accepts(PEN_POSITIVE, name, line[k].n, line[k].x);
        pen_accepts(PEN_POSITIVE, name, line[k].n, line[k].y);
    }
    if (!pen_wanted())
        return;
    measure(&p);
    place_labels(&p);
    pen_begin(name, title, p.right, BOTTOM + 50);
    say_lines(&p, x, y);
    pen_draw();
    draw_axes(&p, x, y);
    for (int k = 0; k < count; k++)
        draw_line(&p, k);
    pen_end();
}
