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

/* The words of a line, in a box around a height; where the line ends, which
 * they are about, and the tip of a thin line from there to them. Behind the
 * axis they are in a column. */
typedef struct {
    double left, right, y;
    int side;
    Point end, tip;
    double wide;
    int is_behind, is_placed;
} Label;

typedef struct {
    int count;
    const Line *line;
    Axis x, y;
    double right; /* where the picture ends */
    Label label[COLOURS];
} Plot;

enum { RIGHT, MIDDLE, LEFT };
enum {
    LABEL_HIGH = 18,
    GAP = 9,
    LEADER = 20,
    TOP = 34,
    HIGH = 264,
    BOTTOM = TOP + HIGH
};

static Point point_at(const Plot *p, int k, int i)
{
    return (Point){place(&p->x, (double)p->line[k].x[i]),
                   place(&p->y, (double)p->line[k].y[i])};
}

/* Labels in the column are as high as their lines end, but give way to each
 * other by halves until all have room. */
static void place_column(Plot *p)
{
    for (int times = 0; times < 1000; times++)
        for (int i = 0; i < p->count; i++)
            for (int k = 0; k < p->count; k++) {
                Label *a = &p->label[i], *b = &p->label[k];
                const int is_above = a->end.y < b->end.y ||
                                     (!(a->end.y > b->end.y) && i < k);
                const double lack = fmax(0, LABEL_HIGH - (b->y - a->y));
                if (!is_above || !a->is_behind || !b->is_behind)
                    continue;
                a->y = fmax(TOP, a->y - lack / 2);
                b->y = fmin(BOTTOM, b->y + lack / 2);
            }
}

/* Does a line from one point to the other come near? */
static int is_met(const Label *label, Point a, Point b)
{
    enum { PARTS = 100, NEAR = 5 };
    for (int i = 0; i <= PARTS; i++) {
        const double x = a.x + (b.x - a.x) * i / PARTS;
        const double y = a.y + (b.y - a.y) * i / PARTS;
        if (x > label->left - NEAR && x < label->right + NEAR &&
            fabs(y - label->y) < LABEL_HIGH * 0.5 + NEAR)
            return 1;
    }
    return 0;
}

/* On which side of a line from a to b is c? */
static double turn_of(Point a, Point b, Point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int is_crossed(const Label *label, Point a, Point b)
{
    const Point end = label->end, tip = label->tip;
    return turn_of(a, b, end) * turn_of(a, b, tip) < 0 &&
           turn_of(end, tip, a) * turn_of(end, tip, b) < 0;
}

static int is_apart(const Label *a, const Label *b)
{
    return a->left > b->right + GAP || b->left > a->right + GAP ||
           fabs(a->y - b->y) >= LABEL_HIGH;
}

/* Does the label cover nothing and, to be strict, does no line lie between
 * it and its own? */
static int is_free(const Plot *p, const Label *label, int is_strict)
{
    const double middle = (TOP + BOTTOM) * 0.5;
    if (label->left < p->x.from || label->right > p->right ||
        fabs(label->y - middle) > (HIGH - LABEL_HIGH) * 0.5)
        return 0;
    for (int k = 0; k < p->count; k++) {
        if (p->label[k].is_placed && !is_apart(label, &p->label[k]))
            return 0;
        for (int i = 0; i < p->line[k].n; i++) {
            const Point from = point_at(p, k, i > 0 ? i - 1 : 0);
            const Point to = point_at(p, k, i);
            if (is_met(label, from, to) ||
                (is_strict && is_crossed(label, from, to)))
                return 0;
        }
    }
    return 1;
}

/* The label at a side of its line's end, and so much lower. */
static Label label_at(const Plot *p, Label label, int side, double lower)
{
    const Point end = label.end;
    const double middle = end.x - label.wide / 2;
    const double left[] = {
        end.x + GAP, fmax(p->x.from, fmin(p->right - label.wide, middle)),
        end.x - GAP - label.wide};
    const double high = LABEL_HIGH * 0.5;
    label.side = side;
    label.left = left[side];
    label.right = left[side] + label.wide;
    label.y = end.y + lower;
    label.tip = (Point){end.x + (1 - side) * (GAP - 4), label.y};
    if (side == MIDDLE)
        label.tip.y -= lower > 0 ? high : -high;
    return label;
}

/* The first free place: right of the end, left, below, above, then the same
 * ever lower and higher. */
static Label free_place(const Plot *p, Label label, int is_strict)
{
    for (int lower = 0; lower < HIGH; lower += 3)
        for (int k = 0; k < 6; k++) {
            /* The middle has to be lower to be as near. */
            const int side = (int[]){RIGHT, LEFT, MIDDLE}[k / 2];
            const int by = lower + (side == MIDDLE ? LABEL_HIGH : 0);
            const Label next = label_at(p, label, side, k % 2 ? -by : by);
            if (is_free(p, &next, is_strict))
                return next;
        }
    return is_strict ? free_place(p, label, 0)
                     : label_at(p, label, RIGHT, 0);
}

/* A line that goes on to the end of the axis has its label behind that. */
static void place_labels(Plot *p)
{
    for (int k = 0; k < p->count; k++) {
        Label *label = &p->label[k];
        const double left = p->x.to + LEADER;
        label->end = point_at(p, k, p->line[k].n - 1);
        label->left = left;
        label->right = left + label->wide;
        label->y = label->end.y;
        label->side = RIGHT;
        label->is_placed = label->is_behind;
    }
    place_column(p);
    for (int k = 0; k < p->count; k++)
        p->label[k].tip = (Point){p->x.to + LEADER - 4, p->label[k].y};
    for (int k = 0; k < p->count; k++)
        if (!p->label[k].is_behind) {
            p->label[k] = free_place(p, p->label[k], 1);
            p->label[k].is_placed = 1;
        }
}

static void measure(Plot *p)
{
    enum { LEAST = 280, EDGE = 24 };
    double largest = 0, behind = EDGE;
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->line[k].n; i++)
            largest = fmax(largest, (double)p->line[k].x[i]);
    for (int k = 0; k < p->count; k++) {
        const Line *line = &p->line[k];
        Label *label = &p->label[k];
        label->wide = pen_room(1, &line->label) + 10; /* capitals */
        label->is_behind =
            line->n > 1 && !((double)line->x[line->n - 1] < largest);
        if (label->is_behind)
            behind = fmax(behind, LEADER + label->wide);
    }
    p->x = axis_for(0, p->count, p->line);
    p->y = axis_for(1, p->count, p->line);
    const double left = 12 + 9 * longest_word(&p->y);
    p->right = fmax(PAGE, left + LEAST + behind);
    lay(&p->x, left, p->right - behind, 12 + 9 * longest_word(&p->x));
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
    const Label *label = &p->label[k];
    const double size = p->line[k].n > 1 ? 3 : 5;
    for (int i = 0; i < p->line[k].n; i++) {
        const Point at = point_at(p, k, i);
        const Point from = point_at(p, k, i > 0 ? i - 1 : 0);
        if (i > 0)
            pen_line(from.x, from.y, at.x, at.y, stroke[k], 2);
        pen_svg("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\" "
                "class=\"c%d\"/>\n",
                at.x, at.y, size, k);
    }
    if (label->is_behind || fabs(label->y - label->end.y) > LABEL_HIGH)
        pen_line(label->end.x, label->end.y, label->tip.x, label->tip.y,
                 stroke[k], 1);
}

static void draw_label(const Label *label, const char *word)
{
    static const char *const side[] = {"rim", "middle rim", "end rim"};
    pen_text(label->left + label->side * label->wide / 2, label->y + 5,
             side[label->side], "%s", word);
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
    for (int k = 0; k < count; k++)
        draw_label(&p.label[k], line[k].label);
    pen_end();
}
