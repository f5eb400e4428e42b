#include "pen.h"

/* One panel of bars(): its zero line lies so that all bars fit. */
static void panel_of_bars(Picture *p, double left, double bar, int n,
                          const char *const word[n], const float x[n])
{
    enum { TOP = 56, HEIGHT = 170 };
    float low = 0, high = 0;
    for (int i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    const double unit = high > low ? HEIGHT / (double)(high - low) : 0;
    const double zero = TOP + (double)high * unit;
    for (int i = 0; i < n; i++) {
        const double size = fabs((double)x[i]) * unit;
        const double middle = left + (i + 0.5) * bar;
        const int up = x[i] >= 0;
        pen_box(p, middle - bar * 0.36, up ? zero - size : zero, bar * 0.72,
                size, up ? 0 : 1, 0.7);
        pen_number(p, middle, up ? zero - size - 6 : zero + size + 15,
                   "middle small", (double)x[i]);
        pen_text(p, middle, TOP + HEIGHT + 22, "middle", word[i]);
    }
    pen_line(p, left, zero, left + n * bar, zero, "rule", 1.5);
}

void bars(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const word[n],
          const float x[panels][n])
{
    enum { GAP = 24 };
    if (!pen_wanted())
        return;
    const double bar = fmax(56, pen_room(n, word) / n + 8);
    const double wide = n * bar;
    for (int k = 0; k < panels; k++)
        pen_must_be_finite(name, n, x[k]);
    Picture p = pen_begin(name, title, panels * (wide + GAP) - GAP, 256);
    for (int k = 0; k < panels; k++)
        pen_row(&p, panel[k], n, word, x[k]);
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = k * (wide + GAP);
        pen_text(&p, left + wide * 0.5, 16, "middle strong", panel[k]);
        panel_of_bars(&p, left, bar, n, word, x[k]);
    }
    pen_end(&p);
}

enum { STACK_LEFT = 76, STACK_WIDE = 430, STACK_HIGH = 32 };
enum { STACKS_WIDE = STACK_LEFT + STACK_WIDE + 90 };

/* Entry k of every part, one behind the other, and their sum. */
static void stack(Picture *p, double y, double unit, int n, int d, int k,
                  const float part[n][d])
{
    double x = STACK_LEFT, sum = 0;
    char entry[40];
    snprintf(entry, sizeof entry, "entry %d", k);
    pen_text(p, STACK_LEFT - 12, y + STACK_HIGH * 0.65, "end muted", entry);
    for (int i = 0; i < n; i++) {
        const double wide = unit * (double)part[i][k];
        pen_box(p, x, y, wide, STACK_HIGH, i, 0.55);
        /* A number that is wider than its part stands above it. */
        pen_number(p, x + wide * 0.5,
                   wide < 44 ? y - 4 : y + STACK_HIGH * 0.65,
                   "middle small", (double)part[i][k]);
        x += wide;
        sum += (double)part[i][k];
    }
    pen_number(p, x + 10, y + STACK_HIGH * 0.65, "strong", sum);
}

/* The largest sum of a column; refuses what cannot be stacked. */
static float largest_sum(const char *name, int n, int d,
                         const float part[n][d])
{
    float largest = 0;
    for (int k = 0; k < d; k++) {
        float sum = 0;
        for (int i = 0; i < n; i++) {
            if (!(part[i][k] >= 0 && isfinite(part[i][k])))
                REFUSE(
                    "figure '%s' has a part %g: only finite parts from 0 "
                    "on can be stacked",
                    name, (double)part[i][k]);
            sum += part[i][k];
        }
        largest = fmaxf(largest, sum);
    }
    return largest;
}

/* What a legend shows of a part. */
static void small_box(Picture *p, double x, double y, int colour)
{
    pen_box(p, x - 7, y - 7, 14, 14, colour, 0.55);
}

void stacks(const char *name, const char *title, int n,
            const char *const word[n], int d, const float part[n][d])
{
    enum { STEP = 54 };
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, n, "words");
    const float largest = largest_sum(name, n, d, part);
    const double top =
        18 + pen_legend(NULL, STACK_LEFT, STACKS_WIDE, n, word, small_box);
    Picture p = pen_begin(name, title, STACKS_WIDE, top + d * STEP);
    for (int k = 0; k < d; k++) {
        pen_write(&p, "Entry %d is the sum of", k);
        for (int i = 0; i < n; i++) {
            pen_write(&p, "%s %.4f from ", i ? "," : "",
                      (double)part[i][k]);
            pen_words(&p, word[i]);
        }
        pen_write(&p, ". ");
    }
    pen_draw(&p);
    pen_legend(&p, STACK_LEFT, STACKS_WIDE, n, word, small_box);
    const double unit = largest > 0 ? STACK_WIDE / (double)largest : 0;
    for (int k = 0; k < d; k++)
        stack(&p, top + k * STEP, unit, n, d, k, part);
    pen_end(&p);
}

/* Bins of a histogram, an odd number, so that 0 lies within the middle one;
 * and the places of the panels in their picture. */
enum {
    BINS = 61,
    HALF_AXIS = 300,
    BINS_HIGH = 62,
    BINS_TOP = 24,
    BINS_STEP = BINS_TOP + BINS_HIGH + 10
};

/* The largest of n numbers, without its sign. */
static float largest_of(int n, const float x[n])
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    return largest;
}

static void count_bins(double largest, int n, const float x[n],
                       int count[BINS])
{
    memset(count, 0, BINS * sizeof count[0]);
    for (int i = 0; i < n; i++) {
        /* From -1 to 1; the ends belong to the outermost bins. */
        const double part = largest > 0 ? (double)x[i] / largest : 0;
        const double bin = floor((part + 1) * 0.5 * BINS);
        count[(int)fmin(BINS - 1, bin)]++;
    }
}

/* The bins of one panel are narrow where its numbers are close to 0, as the
 * axis is that of the panel that reaches furthest. One narrower or lower
 * than a pixel is drawn as a pixel; all in one group, which as a whole is
 * made paler, so that those that now overlap are no darker. */
static void panel_of_bins(Picture *p, double top, double unit,
                          double largest, int n, const float x[n])
{
    int count[BINS], most = 0;
    count_bins(largest, n, x, count);
    for (int b = 0; b < BINS; b++)
        most = count[b] > most ? count[b] : most;
    const double step = 2 * largest * unit / BINS;
    /* A gap between wide ones; no pale seam between narrow ones. */
    const double wide = fmax(1, step > 4 ? step - 0.5 : step + 0.2);
    pen_write(p, "<g opacity=\"0.7\">\n");
    for (int b = 0; b < BINS; b++) {
        const double middle = PAGE * 0.5 + (b - BINS / 2) * step;
        const double high = fmax(1, BINS_HIGH * (double)count[b] / most);
        if (count[b])
            pen_box(p, middle - wide * 0.5, top + BINS_HIGH - high, wide,
                    high, 0, 1);
    }
    pen_write(p, "</g>\n");
    pen_line(p, PAGE * 0.5 - HALF_AXIS, top + BINS_HIGH,
             PAGE * 0.5 + HALF_AXIS, top + BINS_HIGH, "rule", 1);
}

/* Lines through all panels at round numbers, which stand below. */
static void common_axis(Picture *p, double bottom, double unit,
                        double furthest)
{
    const double step = pen_step(2 * furthest, 6);
    const int most = (int)floor(furthest / step + 1e-9);
    for (int k = -most; k <= most; k++) {
        char digits[PEN_DIGITS];
        const double x = PAGE * 0.5 + k * step * unit;
        pen_line(p, x, BINS_TOP, x, bottom + 5, "rule", 0.6);
        pen_text(p, x, bottom + 20, "middle small muted",
                 pen_mark(digits, step, k * step));
    }
}

/* How far from 0 numbers lie, in hundredths of the axis. */
static void describe_spread(Picture *p, double furthest, int n,
                            const float x[n])
{
    int within[101] = {0}, half = 0, all = 0;
    for (int i = 0; i < n; i++)
        within[(int)ceil(fabs((double)x[i]) / furthest * 100)]++;
    for (int k = 0, sum = 0; k <= 100; k++) {
        if (2 * sum < n)
            half = k;
        if (within[k])
            all = k;
        sum += within[k];
    }
    pen_write(p,
              ": %d numbers, half of them within %d percent of the axis on "
              "either side of 0, all within %d percent. ",
              n, half, all);
}

void histograms(const char *name, const char *title, int panels,
                const char *const panel[panels], int n,
                const float x[panels][n])
{
    if (!pen_wanted())
        return;
    float furthest = 0;
    for (int k = 0; k < panels; k++) {
        pen_must_be_finite(name, n, x[k]);
        furthest = fmaxf(furthest, largest_of(n, x[k]));
    }
    /* Nothing but zeros: any axis will do. */
    furthest = furthest > 0 ? furthest : 1;
    const double unit = HALF_AXIS / (double)furthest;
    const double bottom = panels * BINS_STEP - 10;
    Picture p = pen_begin(name, title, PAGE, bottom + 26);
    for (int k = 0; k < panels; k++) {
        pen_words(&p, panel[k]);
        describe_spread(&p, (double)furthest, n, x[k]);
    }
    pen_draw(&p);
    common_axis(&p, bottom, unit, (double)furthest);
    for (int k = 0; k < panels; k++) {
        const double top = k * BINS_STEP + BINS_TOP;
        pen_text(&p, PAGE * 0.5 - HALF_AXIS, top - 8, "strong", panel[k]);
        panel_of_bins(&p, top, unit, (double)largest_of(n, x[k]), n, x[k]);
    }
    pen_end(&p);
}
