#include "support/pen.h"

/* The support library stands below the chapters and uses none of them, so
 * that a figure can be drawn while a chapter is still being written. */
static double product(const float a[2], const float b[2])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1];
}

typedef struct {
    double x, y;
} Point;

/* Where the origin of the plane lies in the picture, how many pixels 1 is
 * long, and where the picture ends; in the plane y grows upwards. */
typedef struct {
    Point origin;
    double unit, bottom;
} Plane;

/* Where so many times x lies in the picture. */
static Point place_of(const Plane *p, double times, const float x[2])
{
    return (Point){p->origin.x + times * (double)x[0] * p->unit,
                   p->origin.y - times * (double)x[1] * p->unit};
}

/* A line with a head. */
static void arrow(Point from, Point to, int colour)
{
    const double size = hypot(to.x - from.x, to.y - from.y);
    const double ux = (to.x - from.x) / size, uy = (to.y - from.y) / size;
    pen_line(from.x, from.y, to.x - 10 * ux, to.y - 10 * uy,
             pen_stroke[colour % COLOURS], 2.5);
    pen_svg("<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" "
            "class=\"c%d\"/>\n",
            to.x, to.y, to.x - 13 * ux + 5 * uy, to.y - 13 * uy - 5 * ux,
            to.x - 13 * ux - 5 * uy, to.y - 13 * uy + 5 * ux,
            colour % COLOURS);
}

/* How long x's shadow on the line of the first is, in lengths of it. */
static double share_of(const float first[2], const float x[2])
{
    return product(x, first) / product(first, first);
}

/* The shadow of an arrow on the line of the first. */
static void shadow(const Plane *p, const float first[2], const float x[2],
                   int colour)
{
    const Point tip = place_of(p, 1, x);
    const Point end = place_of(p, share_of(first, x), first);
    pen_line(tip.x, tip.y, end.x, end.y, "dash", 1.5);
    pen_svg("<g stroke-opacity=\"0.45\" stroke-linecap=\"round\">");
    pen_line(p->origin.x, p->origin.y, end.x, end.y,
             pen_stroke[colour % COLOURS], 9);
    pen_svg("</g>\n");
}

/* A plane that holds the origin, all n points and their shadows' ends, as
 * far as these are below. */
static Plane plane_around(int n, const float x[n][2])
{
    enum { LEFT = 60, TOP = 36, WIDE = 340, HIGH = 210 };
    const Range across = pen_range(2 * n, 2, x[0]);
    Range up = pen_range(2 * n - 1, 2, x[0] + 1);
    for (int i = 1; i < n; i++)
        up.low = fmin(up.low, share_of(x[0], x[i]) * (double)x[0][1]);
    const double wide = across.high - across.low;
    const double unit = fmin(WIDE / wide, HIGH / (up.high - up.low));
    return (Plane){{LEFT + (WIDE - unit * wide) * 0.5 - across.low * unit,
                    TOP + up.high * unit},
                   unit,
                   TOP + (up.high - up.low) * unit + 26};
}

void figure_arrows(const char *name, const char *title, int n,
                   const char *const word[n], const float x[n][2])
{
    if (!pen_accepts(PEN_FINITE, name, 2 * n, x[0]))
        return;
    for (int i = 0; i < n; i++)
        if (!(product(x[i], x[i]) > 0))
            REFUSE("figure '%s' has an arrow of length 0: each needs a "
                   "direction",
                   name);
    const Plane p = plane_around(n, x);
    pen_begin(name, title, PAGE, p.bottom);
    for (int i = 0; i < n; i++) {
        pen_say("%s (%.4f, %.4f)", word[i], (double)x[i][0],
                (double)x[i][1]);
        if (i > 0)
            pen_say(", with the first %.4f", product(x[i], x[0]));
        pen_say(". ");
    }
    pen_draw();
    pen_line(0, p.origin.y, PAGE, p.origin.y, "rule", 1);
    pen_line(p.origin.x, 8, p.origin.x, p.bottom, "rule", 1);
    for (int i = 1; i < n; i++)
        shadow(&p, x[0], x[i], i);
    for (int i = 0; i < n; i++) {
        const Point tip = place_of(&p, 1, x[i]);
        arrow(p.origin, tip, i);
        pen_text(tip.x, tip.y + (x[i][1] < 0 ? 20 : -10),
                 x[i][0] < 0 ? "middle rim" : "rim", i ? "%s: %.4f" : "%s",
                 word[i], product(x[i], x[0]));
    }
    pen_end();
}

/* Where curves lie in their picture: place i at left + (i + 0.5) * step. */
typedef struct {
    double left, step, unit;
} Chart;
enum {
    CHART_HIGH = 230,
    CHART_TOP = 26 + LEGEND_HIGH,
    CHART_BOTTOM = CHART_TOP + CHART_HIGH,
    VALUE_HIGH = 13
};

static double chart_x(const Chart *c, int i)
{
    return c->left + (i + 0.5) * c->step;
}

static double chart_y(const Chart *c, double y)
{
    return CHART_BOTTOM - y * c->unit;
}

/* The value of curve k at place i stands above its point where the other
 * curve is lower, else below; it is left out where it is the one before.
 * One that is not there is said on the axis. */
static void value(const Chart *c, int k, int i, int n, const float y[2][n])
{
    static const char *const small[] = {"middle small rim c0",
                                        "middle small rim c1"};
    static const char *const strong[] = {"middle strong c0",
                                         "middle strong c1"};
    const double x = chart_x(c, i), own = (double)y[k][i];
    const double other = (double)y[!k][i];
    const double before = i > 0 ? (double)y[k][i - 1] : -1;
    const int is_above = k == 0 ? !(own < other) : !(own <= other);
    const double step = is_above ? -VALUE_HIGH : VALUE_HIGH;
    if (isnan(own) && !isnan(before))
        pen_text(x, CHART_BOTTOM - 8 - 16 * k, strong[k], "nan");
    else if (!isnan(own) && round(own * 1e4) != round(before * 1e4))
        pen_value(x, chart_y(c, own) + step + 4, small[k], own);
}

/* Curves are told apart by the shapes of their points as well. */
static void point(double x, double y, int colour)
{
    static const char *const shape[2] = {
        "m-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z", "m-4,-4h8v8h-8z"};
    pen_svg("<path d=\"M%.1f,%.1f%s\" class=\"c%d\"/>\n", x, y,
            shape[colour], colour);
}

static void curve_of(const Chart *c, int colour, int n, const float y[n])
{
    for (int i = 0; i < n; i++) {
        if (isnan(y[i]))
            continue;
        const double high = chart_y(c, (double)y[i]);
        if (i > 0 && !isnan(y[i - 1]))
            pen_line(chart_x(c, i - 1), chart_y(c, (double)y[i - 1]),
                     chart_x(c, i), high, pen_stroke[colour], 2);
        point(chart_x(c, i), high, colour);
    }
}

void figure_curves(const char *name, const char *title,
                   const char *const curve[2], int n,
                   const char *const at[n], const float y[2][n])
{
    enum { VALUE_WIDE = 46 };
    if (!pen_accepts(PEN_POINTS, name, 2 * n, y[0]))
        return;
    const double largest = pen_largest(2 * n, y[0]);
    const double span = largest > 0 ? largest : 1, mark = pen_step(span, 5);
    const int decimals = pen_decimals(mark);
    const double left = 12 + 8.0 * strlen(pen_number(decimals, span));
    const double room = fmax(VALUE_WIDE, pen_room(n, at)) + 6;
    const Chart c = {left, fmax(room, (PAGE - left) / n),
                     CHART_HIGH / span};
    const double right = left + n * c.step;
    pen_begin(name, title, fmax(right, pen_legend(left, 2, curve, point)),
              CHART_BOTTOM + 46);
    for (int k = 0; k < 2; k++)
        pen_row(curve[k], n, at, y[k]);
    pen_draw();
    pen_legend(left, 2, curve, point);
    /* Lines across the chart at round values. */
    for (int k = 0; k * mark <= span + 1e-9 * mark; k++) {
        const double high = chart_y(&c, k * mark);
        pen_line(left, high, right, high, "rule", 0.6);
        pen_text(left - 8, high + 4, "end small muted", "%s",
                 pen_number(decimals, k * mark));
    }
    for (int i = 0; i < n; i++)
        pen_text(chart_x(&c, i), CHART_BOTTOM + 40, "middle", "%s", at[i]);
    for (int k = 0; k < 2; k++)
        curve_of(&c, k, n, y[k]);
    for (int i = 0; i < 2 * n; i++)
        value(&c, i / n, i % n, n, y);
    pen_end();
}
