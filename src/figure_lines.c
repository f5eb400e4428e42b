#include "pen.h"

/* The support library stands below the chapters and uses none of them, so
 * that a figure can be drawn while a chapter is still being written. */
static double product(const float a[2], const float b[2])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1];
}

static const char *const stroke[COLOURS] = {"s0", "s1", "s2",
                                            "s3", "s4", "s5"};

/* Where the origin of the plane lies in the picture, and how many pixels 1
 * is long; in the plane y grows upwards. */
typedef struct {
    double x, y, unit;
} Plane;

/* A line with a head from the origin to (x, y). */
static void arrow(const Plane *o, const float x[2], int colour)
{
    const double wide = (double)x[0] * o->unit;
    const double high = -(double)x[1] * o->unit, size = hypot(wide, high);
    if (size == 0)
        return; /* an arrow without a direction has no head */
    const double ux = wide / size, uy = high / size;
    const double x1 = o->x + wide, y1 = o->y + high;
    pen_line(o->x, o->y, x1 - 10 * ux, y1 - 10 * uy, stroke[colour], 2.5);
    pen_svg("<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" "
            "class=\"c%d\"/>\n",
            x1, y1, x1 - 13 * ux + 5 * uy, y1 - 13 * uy - 5 * ux,
            x1 - 13 * ux - 5 * uy, y1 - 13 * uy + 5 * ux, colour);
}

/* The shadow of an arrow on the line of the first. */
static void shadow(const Plane *o, const float first[2], const float x[2],
                   int colour)
{
    const double share = product(x, first) / product(first, first);
    const double end_x = o->x + share * (double)first[0] * o->unit;
    const double end_y = o->y - share * (double)first[1] * o->unit;
    pen_line(o->x + (double)x[0] * o->unit, o->y - (double)x[1] * o->unit,
             end_x, end_y, "dash", 1.5);
    pen_svg("<g stroke-opacity=\"0.45\" stroke-linecap=\"round\">");
    pen_line(o->x, o->y, end_x, end_y, stroke[colour], 9);
    pen_svg("</g>\n");
}

/* A plane that holds the origin and all n points. */
static Plane plane_around(int n, const float x[n][2])
{
    enum { LEFT = 100, TOP = 36, WIDE = 400, HIGH = 230 };
    const Range across = pen_range(2 * n, 2, x[0]);
    const Range up = pen_range(2 * n - 1, 2, x[0] + 1);
    const double wide = across.high - across.low;
    const double unit = fmin(WIDE / wide, HIGH / (up.high - up.low));
    return (Plane){LEFT + (WIDE - unit * wide) * 0.5 - across.low * unit,
                   TOP + up.high * unit, unit};
}

void arrows(const char *name, const char *title, int n,
            const char *const word[n], const float x[n][2])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, n, "arrows");
    pen_must_be(PEN_FINITE, name, 2 * n, x[0]);
    if (!(product(x[0], x[0]) > 0))
        REFUSE("figure '%s' begins with an arrow of length 0: shadows need "
               "a direction to fall on",
               name);
    pen_begin(name, title, 600, 300);
    for (int i = 0; i < n; i++) {
        pen_say("%s (%.4f, %.4f)", word[i], (double)x[i][0],
                (double)x[i][1]);
        if (i > 0)
            pen_say(", with the first %.4f", product(x[i], x[0]));
        pen_say(". ");
    }
    pen_draw();
    const Plane o = plane_around(n, x);
    pen_line(20, o.y, 580, o.y, "rule", 1);
    pen_line(o.x, 8, o.x, 292, "rule", 1);
    for (int i = 1; i < n; i++)
        shadow(&o, x[0], x[i], i);
    for (int i = 0; i < n; i++) {
        arrow(&o, x[i], i);
        pen_text(o.x + (double)x[i][0] * o.unit,
                 o.y - (double)x[i][1] * o.unit + (x[i][1] < 0 ? 20 : -10),
                 x[i][0] < 0 ? "middle" : "", i ? "%s: %.4f" : "%s",
                 word[i], product(x[i], x[0]));
    }
    pen_end();
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

static double chart_y(const Chart *c, double y)
{
    return c->bottom - (y - c->low) * c->unit;
}

/* The values at place i: those of the higher half above their points, the
 * others below. Where they would cover each other or leave the chart below,
 * they give way upwards, and where they would leave it above, downwards. */
static void values(const Chart *c, int i, int count, int n,
                   const float y[count][n])
{
    enum { LINE = 13 };
    int order[COLOURS];
    double at[COLOURS];
    /* The highest first, of equal ones the first. */
    for (int k = 0; k < count; k++) {
        int r = k;
        for (; r > 0 && y[order[r - 1]][i] < y[k][i]; r--)
            order[r] = order[r - 1];
        order[r] = k;
    }
    for (int r = count - 1; r >= 0; r--) {
        const double away = 2 * r < count ? -LINE : LINE;
        const double most =
            r + 1 < count ? at[r + 1] - LINE : c->bottom - 4;
        at[r] = fmin(most, chart_y(c, (double)y[order[r]][i]) + away);
    }
    for (int r = 0; r < count; r++) {
        char class[] = "middle small c0";
        class[sizeof class - 2] = (char)('0' + order[r]);
        at[r] = fmax(at[r], r ? at[r - 1] + LINE : c->top - 18);
        pen_value(chart_x(c, i), at[r] + 4, class, (double)y[order[r]][i]);
    }
}

/* Curves are told apart by the shapes of their points as well. */
static void point(double x, double y, int colour)
{
    static const char *const shape[COLOURS] = {
        "m-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z",
        "m-4,-4h8v8h-8z",
        "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
        "m0,-5l5.5,9h-11z",
        "m0,5l5.5,-9h-11z",
        "m-1.5,-5.5h3v4h4v3h-4v4h-3v-4h-4v-3h4z"};
    pen_svg("<path d=\"M%.1f,%.1f%s\" class=\"c%d\"/>\n", x, y,
            shape[colour], colour);
}

static void curve_of(const Chart *c, int colour, int n, const float y[n])
{
    pen_svg("<polyline class=\"s%d\" fill=\"none\" stroke-width=\"2\" "
            "points=\"",
            colour);
    for (int i = 0; i < n; i++)
        pen_svg("%s%.1f,%.1f", i ? " " : "", chart_x(c, i),
                chart_y(c, (double)y[i]));
    pen_svg("\"/>\n");
    for (int i = 0; i < n; i++)
        point(chart_x(c, i), chart_y(c, (double)y[i]), colour);
}

/* Lines across the chart at round values. */
static void value_axis(const Chart *c, double right, double mark)
{
    const double high = c->low + CHART_HIGH / c->unit + 1e-9 * mark;
    for (double k = ceil(c->low / mark); k * mark <= high; k++) {
        const double y = chart_y(c, k * mark);
        pen_line(c->left, y, right, y, "rule", 0.6);
        pen_text(c->left - 8, y + 4, "end small muted", "%s",
                 pen_number(pen_decimals(mark), k * mark));
    }
}

/* How many letters the longest number of a range has. */
static double letters(const Range *all, int decimals)
{
    const double low = strlen(pen_number(decimals, all->low));
    return fmax(low, strlen(pen_number(decimals, all->high)));
}

/* A chart that holds all values, and n places with room for their words and
 * values, no wider than the page where these allow it. Values that are all
 * alike, and 0, need some height as well. */
static Chart chart_around(int count, int n, const char *const at[n],
                          const float y[count][n], double *mark)
{
    const Range all = pen_range(count * n, 1, y[0]);
    const double span = all.high > all.low ? all.high - all.low : 1;
    *mark = pen_step(span, 5);
    const double left = 12 + 8 * letters(&all, pen_decimals(*mark));
    const double room = fmax(7.6 * letters(&all, 4), pen_room(n, at)) + 10;
    return (Chart){.left = left,
                   .step = fmax(room, fmin(160, (PAGE - left) / n)),
                   .unit = CHART_HIGH / span,
                   .low = all.low};
}

void curves(const char *name, const char *title, int count,
            const char *const curve[count], int n, const char *const at[n],
            const float y[count][n])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, count, "curves");
    pen_must_be(PEN_FINITE, name, count * n, y[0]);
    double mark;
    Chart c = chart_around(count, n, at, y, &mark);
    const double right = c.left + n * c.step;
    c.top = 26 + LEGEND_HIGH;
    c.bottom = c.top + CHART_HIGH;
    pen_begin(name, title,
              fmax(right, pen_legend(c.left, count, curve, point)),
              c.bottom + 30);
    for (int k = 0; k < count; k++)
        pen_row(curve[k], n, at, y[k]);
    pen_draw();
    pen_legend(c.left, count, curve, point);
    value_axis(&c, right, mark);
    for (int i = 0; i < n; i++)
        pen_text(chart_x(&c, i), c.bottom + 24, "middle", "%s", at[i]);
    for (int k = 0; k < count; k++)
        curve_of(&c, k, n, y[k]);
    for (int i = 0; i < n; i++)
        values(&c, i, count, n, y);
    pen_end();
}
