#include "support/pen.h"

enum { BARS_TOP = 56, BARS_HIGH = 170 };

/* The bars of a panel: their zero line lies so that all fit, and below them
 * there is room for the values of those that hang. */
static void bars_of(double bar, int n, const char *const word[n],
                    const float x[n])
{
    enum { VALUE_HIGH = 16 };
    const Range all = pen_range(n, x);
    const double high = BARS_HIGH - (all.low < 0 ? VALUE_HIGH : 0);
    const double unit =
        all.high > all.low ? high / (all.high - all.low) : 0;
    const double zero = BARS_TOP + all.high * unit;
    for (int i = 0; i < n; i++) {
        const double size = fabs((double)x[i]) * unit;
        const double middle = (i + 0.5) * bar;
        const int up = x[i] >= 0;
        pen_box(middle - bar * 0.36, up ? zero - size : zero, bar * 0.72,
                size, !up, 0.7);
        pen_text(middle, up ? zero - size - 6 : zero + size + 15,
                 "middle small", "%s", pen_short((double)x[i]));
        pen_text(middle, BARS_TOP + BARS_HIGH + 22, "middle", "%s",
                 word[i]);
    }
    pen_line(0, zero, n * bar, zero, "rule", 1.5);
}

void figure_bars(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n,
                 const char *const word[n], const float x[panels][n])
{
    if (!pen_accepts(PEN_FINITE, name, panels * n, x[0]))
        return;
    const double bar = fmax(52, pen_room(n, word) + 8);
    const double wide = fmax(n * bar, 1.1 * pen_room(panels, panel));
    pen_begin_panels(name, title, panels, wide, BARS_TOP + BARS_HIGH + 30);
    for (int k = 0; k < panels; k++)
        pen_row(panel[k], n, word, x[k]);
    pen_draw();
    for (int k = 0; k < panels; k++) {
        pen_open_panel(k);
        pen_text(n * bar * 0.5, 16, "middle strong", "%s", panel[k]);
        bars_of(bar, n, word, x[k]);
        pen_svg("</g>\n");
    }
    pen_end();
}

enum {
    STACK_LEFT = 76,
    STACK_WIDE = PAGE - STACK_LEFT - 80,
    STACK_HIGH = 32
};

/* What a legend shows of a part. */
static void small_box(double x, double y, int colour)
{
    pen_box(x - 7, y - 7, 14, 14, colour, 0.5);
}

/* The sum of entry k. */
static double sum_of(int n, int d, int k, const float part[n][d])
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)part[i][k];
    return sum;
}

/* Entry k of every part, one behind the other, and their sum. */
static void stack(double y, double unit, int n, int d, int k,
                  const float part[n][d])
{
    const double line = y + STACK_HIGH * 0.65;
    double x = STACK_LEFT;
    pen_text(x - 12, line, "end muted", "entry %d", k + 1);
    for (int i = 0; i < n; i++) {
        const double wide = unit * (double)part[i][k];
        pen_box(x, y, wide, STACK_HIGH, i, 0.5);
        /* A number that is wider than its part stands above it. */
        pen_value(x + wide * 0.5, wide < 44 ? y - 4 : line, "middle small",
                  (double)part[i][k]);
        x += wide;
    }
    pen_value(x + 10, line, "strong", sum_of(n, d, k, part));
}

void figure_stacks(const char *name, const char *title, int n,
                   const char *const word[n], int d, const float part[n][d])
{
    enum { STEP = 54, TOP = 18 + LEGEND_HIGH };
    if (!pen_accepts(PEN_PARTS, name, n * d, part[0]))
        return;
    double largest = 0;
    for (int k = 0; k < d; k++)
        largest = fmax(largest, sum_of(n, d, k, part));
    const double unit = largest > 0 ? STACK_WIDE / largest : 0;
    const double legend = pen_legend(STACK_LEFT, n, word, small_box);
    pen_begin(name, title, fmax(PAGE, legend), TOP + d * STEP);
    for (int k = 0; k < d; k++) {
        pen_say("Entry %d is the sum of", k);
        for (int i = 0; i < n; i++)
            pen_say("%s %.4f from %s", i ? "," : "", (double)part[i][k],
                    word[i]);
        pen_say(". ");
    }
    pen_draw();
    pen_legend(STACK_LEFT, n, word, small_box);
    for (int k = 0; k < d; k++)
        stack(TOP + k * STEP, unit, n, d, k, part);
    pen_end();
}

/* Bins of a histogram, and the places of the panels in their picture. */
enum {
    BINS = 61,
    HALF_AXIS = 235,
    BINS_HIGH = 62,
    BINS_TOP = 24,
    BINS_STEP = BINS_TOP + BINS_HIGH + 10
};

/* The bins of one panel are narrow where its numbers are close together,
 * as the axis is that of the panel that reaches furthest. One narrower or
 * lower than a pixel is drawn as a pixel; all in one group, which as a
 * whole is made paler, so that those that now overlap are no darker. */
static void panel_of_bins(double bottom, double unit, int n,
                          const float x[n])
{
    const Range all = pen_range(n, x);
    const double size = (all.high - all.low) / BINS, step = size * unit;
    int count[BINS] = {0}, most = 0;
    for (int i = 0; i < n; i++) {
        /* The largest belongs to the last bin. */
        const double above = (double)x[i] - all.low;
        const int b = size > 0 ? (int)fmin(BINS - 1, above / size) : 0;
        count[b]++;
        most = count[b] > most ? count[b] : most;
    }
    /* Crisp and a trace too wide: no pale seam between neighbours. */
    const double wide = fmax(1, step + 0.1);
    pen_svg("<g opacity=\"0.7\" shape-rendering=\"crispEdges\">\n");
    for (int b = 0; b < BINS; b++) {
        const double middle =
            PAGE * 0.5 + all.low * unit + (b + 0.5) * step;
        const double high = fmax(1, BINS_HIGH * (double)count[b] / most);
        if (count[b])
            pen_box(middle - wide * 0.5, bottom - high, wide, high, 0, 1);
    }
    pen_svg("</g>\n");
    pen_line(PAGE * 0.5 - HALF_AXIS, bottom, PAGE * 0.5 + HALF_AXIS, bottom,
             "rule", 1);
}

/* Lines through all panels at round numbers, which stand below. */
static void common_axis(double bottom, double unit, double furthest)
{
    const double step = pen_step(2 * furthest, 6);
    const int most = (int)floor(furthest / step + 1e-9);
    for (int k = -most; k <= most; k++) {
        const double x = PAGE * 0.5 + k * step * unit;
        pen_line(x, BINS_TOP, x, bottom + 5, "rule", 0.6);
        pen_text(x, bottom + 20, "middle small muted", "%s",
                 pen_number(pen_decimals(step), k * step));
    }
}

/* Within how many hundredths of the axis so many of the numbers lie. */
static int hundredths(int count, double furthest, int n, const float x[n])
{
    for (int k = 0;; k++) {
        int within = 0;
        for (int i = 0; i < n; i++)
            within += 100 * fabs((double)x[i]) <= k * furthest;
        if (within >= count)
            return k;
    }
}

void figure_histograms(const char *name, const char *title, int panels,
                       const char *const panel[panels], int n,
                       const float x[panels][n])
{
    if (!pen_accepts(PEN_FINITE, name, panels * n, x[0]))
        return;
    double furthest = pen_largest(panels * n, x[0]);
    /* Nothing but zeros: any axis will do. */
    furthest = furthest > 0 ? furthest : 1;
    const double unit = HALF_AXIS / furthest;
    const double bottom = panels * BINS_STEP - 10;
    pen_begin(name, title, PAGE, bottom + 26);
    for (int k = 0; k < panels; k++)
        pen_say("%s: %d numbers, half of them within %d percent of the "
                "axis on either side of 0, all within %d percent. ",
                panel[k], n, hundredths((n + 1) / 2, furthest, n, x[k]),
                hundredths(n, furthest, n, x[k]));
    pen_draw();
    common_axis(bottom, unit, furthest);
    for (int k = 0; k < panels; k++) {
        const double top = k * BINS_STEP + BINS_TOP;
        pen_text(PAGE * 0.5 - HALF_AXIS, top - 8, "strong rim", "%s",
                 panel[k]);
        panel_of_bins(top + BINS_HIGH, unit, n, x[k]);
    }
    pen_end();
}
