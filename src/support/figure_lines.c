#include "support/pen.h"

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
