#include "pen.h"

/* What the colour scale ends at: the largest of the finite entries. */
static float largest_size(int n, int m, const float x[n][m])
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (isfinite(x[i][j]))
                largest = fmaxf(largest, fabsf(x[i][j]));
    return largest;
}

/* How a table is laid out: cells, the words around it, and text. */
typedef struct {
    double wide, high, left;
    const char *cell, *column, *row; /* classes of text */
} Layout;

enum { GAP = 2, ABOVE = 30 }; /* between cells; for the columns' words */

/* One cell: an entry that is minus infinity stays empty, and what is no
 * number is as strong as can be. */
static void draw_cell(Picture *p, const Layout *l, double x, double y,
                      float entry, float largest)
{
    const double middle = x + l->wide * 0.5 - GAP * 0.5;
    const double base = y + l->high * 0.5 + 4;
    if (isinf(entry)) {
        pen_frame(p, x, y, l->wide - GAP - 1, l->high - GAP - 1);
        pen_text(p, middle, base, "middle small muted", "-inf");
        return;
    }
    /* At most 0.55, so that ink stays readable on every cell. */
    float shade = isnan(entry)  ? 1
                  : largest > 0 ? fabsf(entry) / largest
                                : 0;
    pen_box(p, x, y, l->wide - GAP, l->high - GAP,
            isnan(entry) || entry < 0, 0.04 + 0.51 * (double)shade);
    pen_number(p, middle, base, l->cell, (double)entry);
}

/* A table with its words, its cells beginning at (x, y). */
static void draw_map(Picture *p, const Layout *l, double x, double y, int n,
                     const char *const row[n], int m,
                     const char *const column[m], const float entry[n][m])
{
    const float largest = largest_size(n, m, entry);
    for (int j = 0; j < m; j++)
        pen_text(p, x + (j + 0.5) * l->wide, y - 10, l->column, column[j]);
    for (int i = 0; i < n; i++) {
        const double top = y + i * l->high;
        pen_text(p, x - 10, top + l->high * 0.5 + 4, l->row, row[i]);
        for (int j = 0; j < m; j++)
            draw_cell(p, l, x + j * l->wide, top, entry[i][j], largest);
    }
}

static void must_be_drawable(const char *name, int n, int m,
                             const float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i][j] == INFINITY)
                REFUSE("figure '%s' has an entry inf: finite numbers, -inf "
                       "and nan can be drawn",
                       name);
}

void heatmap(const char *name, const char *title, int n,
             const char *const row[n], int m, const char *const column[m],
             const float x[n][m])
{
    if (!pen_wanted())
        return;
    const Layout l = {76,       38,       pen_room(n, row) + 12,
                      "middle", "middle", "end"};
    must_be_drawable(name, n, m, x);
    Picture p;
    pen_begin(&p, name, title, l.left + m * l.wide, ABOVE + n * l.high);
    for (int i = 0; i < n; i++)
        pen_describe(&p, row[i], m, column, x[i]);
    pen_draw(&p);
    draw_map(&p, &l, l.left, ABOVE, n, row, m, column, x);
    pen_end(&p);
}

void maps(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const row[n],
          int m, const char *const column[m], const float x[panels][n][m])
{
    if (!pen_wanted())
        return;
    enum { BETWEEN = 26, LABEL = 26, NARROW = 6 };
    /* Two side by side, unless that makes cells too narrow for a number. */
    const int across = panels > 1 && m <= NARROW ? 2 : 1;
    const Layout l = {across == 2 ? 46 : 62,
                      30,
                      pen_room(n, row) * 0.9 + 12,
                      "middle tiny",
                      "middle small",
                      "end small"};
    const double wide = l.left + m * l.wide + BETWEEN;
    const double high = LABEL + ABOVE + n * l.high + BETWEEN;
    for (int k = 0; k < panels; k++)
        must_be_drawable(name, n, m, x[k]);
    Picture p;
    pen_begin(&p, name, title, across * wide - BETWEEN,
              (panels + across - 1) / across * high - BETWEEN);
    for (int k = 0; k < panels; k++) {
        pen_words(p.file, panel[k]);
        fputs(". ", p.file);
        for (int i = 0; i < n; i++)
            pen_describe(&p, row[i], m, column, x[k][i]);
    }
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = k % across * wide + l.left;
        const double top = k / across * high + LABEL;
        pen_text(&p, left, top - 8, "strong", panel[k]);
        draw_map(&p, &l, left, top + ABOVE, n, row, m, column, x[k]);
    }
    pen_end(&p);
}

void grid(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, int m,
          const float x[panels][n][m])
{
    if (!pen_wanted())
        return;
    enum { CELL = 26, LABEL = 28, BETWEEN = 40 };
    for (int k = 0; k < panels; k++)
        for (int i = 0; i < n * m; i++)
            if (x[k][i / m][i % m] != 0 && x[k][i / m][i % m] != 1)
                REFUSE("figure '%s' has an entry %g: 0 or 1 is needed",
                       name, (double)x[k][i / m][i % m]);
    const double wide = fmax(m * CELL, pen_room(panels, panel)) + BETWEEN;
    Picture p;
    pen_begin(&p, name, title, panels * wide - BETWEEN, LABEL + n * CELL);
    for (int k = 0; k < panels; k++) {
        pen_words(p.file, panel[k]);
        for (int i = 0; i < n; i++) {
            fputs(i ? ", " : ": ", p.file);
            for (int j = 0; j < m; j++)
                fputc(x[k][i][j] != 0 ? '1' : '0', p.file);
        }
        fputs(". ", p.file);
    }
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        pen_text(&p, k * wide, 16, "strong", panel[k]);
        for (int i = 0; i < n * m; i++) {
            const double left = k * wide + i % m * CELL;
            const double top = LABEL + i / m * CELL;
            if (x[k][i / m][i % m] != 0)
                pen_box(&p, left, top, CELL - GAP, CELL - GAP, 0, 0.55);
            else
                pen_frame(&p, left, top, CELL - GAP - 1, CELL - GAP - 1);
        }
    }
    pen_end(&p);
}

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
    const double unit =
        high > low ? HEIGHT / ((double)high - (double)low) : 0;
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
    if (!pen_wanted())
        return;
    enum { SPACE = 24 };
    const double bar = fmax(56, pen_room(n, word) / n + 8);
    const double wide = n * bar;
    for (int k = 0; k < panels; k++)
        pen_must_be_finite(name, n, x[k]);
    Picture p;
    pen_begin(&p, name, title, panels * (wide + SPACE) - SPACE, 256);
    for (int k = 0; k < panels; k++)
        pen_describe(&p, panel[k], n, word, x[k]);
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = k * (wide + SPACE);
        pen_text(&p, left + wide * 0.5, 16, "middle strong", panel[k]);
        panel_of_bars(&p, left, bar, n, word, x[k]);
    }
    pen_end(&p);
}

/* The colours of the words, named above the stacks. */
static void legend(Picture *p, int n, const char *const word[n])
{
    double x = 76;
    for (int i = 0; i < n; i++) {
        pen_box(p, x, 4, 14, 14, i, 0.55);
        pen_text(p, x + 20, 16, "", word[i]);
        x += 44 + 8.0 * (double)strlen(word[i]);
    }
}

enum { STACK_LEFT = 76, STACK_WIDE = 430, STACK_HIGH = 32 };

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

void stacks(const char *name, const char *title, int n,
            const char *const word[n], int d, const float part[n][d])
{
    if (!pen_wanted())
        return;
    enum { STEP = 54, TOP = 44 };
    pen_must_have_colours(name, n, "words");
    const float largest = largest_sum(name, n, d, part);
    Picture p;
    pen_begin(&p, name, title, STACK_LEFT + STACK_WIDE + 90,
              TOP + d * STEP);
    for (int k = 0; k < d; k++) {
        fprintf(p.file, "Entry %d is the sum of", k);
        for (int i = 0; i < n; i++) {
            fprintf(p.file, "%s %.4f from ", i ? "," : "",
                    (double)part[i][k]);
            pen_words(p.file, word[i]);
        }
        fputs(". ", p.file);
    }
    pen_draw(&p);
    legend(&p, n, word);
    const double unit = largest > 0 ? STACK_WIDE / (double)largest : 0;
    for (int k = 0; k < d; k++)
        stack(&p, TOP + k * STEP, unit, n, d, k, part);
    pen_end(&p);
}

/* The step of a scale: 1, 2 or 5 times a power of ten, so that some four
 * steps cover the range. */
static double round_step(double range)
{
    const double power = pow(10, floor(log10(range / 4)));
    const double times = range / 4 / power;
    return power * (times < 1.5   ? 1
                    : times < 3.5 ? 2
                    : times < 7.5 ? 5
                                  : 10);
}

static void tick_words(char words[20], double at, double step)
{
    snprintf(words, 20, "%g", fabs(at) < step * 1e-6 ? 0 : at);
}

enum { BINS = 101, PLOT_WIDE = 560, PLOT_HIGH = 90, PLOT_LEFT = 20 };

/* How many of the numbers lie in each bin from -limit to limit. */
static int fill_bins(int bin[BINS], int n, const float x[n], double limit)
{
    int most = 1;
    memset(bin, 0, BINS * sizeof *bin);
    for (int i = 0; i < n; i++) {
        const double at = ((double)x[i] / limit + 1) * 0.5 * BINS;
        const int k = at < BINS ? (int)at : BINS - 1;
        if (++bin[k] > most)
            most = bin[k];
    }
    return most;
}

void histograms(const char *name, const char *title, int panels,
                const char *const panel[panels], int n,
                const float x[panels][n])
{
    if (!pen_wanted())
        return;
    enum { STEP = PLOT_HIGH + 22 };
    const double bar = (double)PLOT_WIDE / BINS;
    for (int k = 0; k < panels; k++)
        pen_must_be_finite(name, n, x[k]);
    const double limit = fmax((double)largest_size(panels, n, x), 1e-30);
    const int digits = limit < 10 ? 4 : 0;
    Picture p;
    pen_begin(&p, name, title, PLOT_WIDE + 2 * PLOT_LEFT,
              panels * STEP + 20);
    for (int k = 0; k < panels; k++) {
        float low = x[k][0], high = x[k][0];
        for (int i = 1; i < n; i++) {
            low = fminf(low, x[k][i]);
            high = fmaxf(high, x[k][i]);
        }
        pen_words(p.file, panel[k]);
        fprintf(p.file, ": %d numbers from %.*f to %.*f. ", n, digits,
                (double)low, digits, (double)high);
    }
    pen_draw(&p);
    const double unit = PLOT_WIDE * 0.5 / limit,
                 middle = PLOT_LEFT + PLOT_WIDE * 0.5;
    for (int k = 0; k < panels; k++) {
        int bin[BINS];
        const int most = fill_bins(bin, n, x[k], limit);
        const double base = (k + 1) * STEP - 8;
        pen_text(&p, PLOT_LEFT, base - PLOT_HIGH + 14, "strong", panel[k]);
        for (int i = 0; i < BINS; i++) {
            const double high = PLOT_HIGH * (double)bin[i] / most;
            if (bin[i] > 0) /* even a single number is seen */
                pen_box(&p, middle + (i - BINS * 0.5) * bar,
                        base - fmax(high, 1), bar, fmax(high, 1), 0, 0.7);
        }
        pen_line(&p, PLOT_LEFT, base, PLOT_LEFT + PLOT_WIDE, base, "rule",
                 1);
    }
    const double step = round_step(2 * limit), low = ceil(-limit / step);
    for (int i = 0; (low + i) * step <= limit; i++) {
        char words[20];
        tick_words(words, (low + i) * step, step);
        pen_text(&p, middle + (low + i) * step * unit, panels * STEP + 14,
                 "middle small muted", words);
    }
    pen_end(&p);
}

/* Where the numbers of curves lie. */
typedef struct {
    double left, top, step, low, unit, high;
} Axes;

static double height_of(const Axes *a, double y)
{
    return a->top + a->high - (y - a->low) * a->unit;
}

/* The vertical scale. */
static void draw_scale(Picture *p, const Axes *a, double top_value,
                       double right)
{
    const double step = round_step(top_value - a->low);
    for (double at = ceil(a->low / step) * step; at <= top_value * 1.0001;
         at += step) {
        char words[20];
        tick_words(words, at, step);
        pen_line(p, a->left - 26, height_of(a, at), a->left - 20,
                 height_of(a, at), "rule", 1);
        pen_text(p, a->left - 32, height_of(a, at) + 4, "end small muted",
                 words);
    }
    pen_line(p, a->left - 20, a->top - 6, a->left - 20, a->top + a->high,
             "rule", 1);
    pen_line(p, a->left - 20, height_of(a, 0), right, height_of(a, 0),
             "rule", 1);
}

/* One curve: its name behind the last point; the value at each point stands
 * above it, or below it where another curve lies higher. */
static void draw_curve(Picture *p, const Axes *a, int count, int n,
                       const float y[count][n], int k, const char *curve)
{
    char stroke[] = "s0";
    stroke[1] = (char)('0' + k);
    for (int i = 0; i < n; i++) {
        const double x = a->left + i * a->step;
        const double here = height_of(a, (double)y[k][i]);
        int is_top = 1;
        for (int other = 0; other < count; other++)
            is_top &= y[other][i] <= y[k][i];
        if (i > 0)
            pen_line(p, x - a->step, height_of(a, (double)y[k][i - 1]), x,
                     here, stroke, 2);
        fprintf(p->file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" "
                "class=\"c%d\"/>\n",
                x, here, k);
        pen_number(p, x, is_top ? here - 10 : here + 20, "middle small",
                   (double)y[k][i]);
    }
    /* As many names lie above this one as curves end above it. */
    double name = height_of(a, (double)y[k][n - 1]) + 4;
    for (int other = 0; other < count; other++) {
        const double its = height_of(a, (double)y[other][n - 1]) + 4;
        if (its < name || (its == name && other < k))
            name = fmax(name, its + 14);
    }
    pen_text(p, a->left + (n - 1) * a->step + 28, name, "small strong",
             curve);
}

void curves(const char *name, const char *title, int count,
            const char *const curve[count], int n, const char *const at[n],
            const float y[count][n])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, count, "curves");
    float low = 0, high = 0;
    for (int k = 0; k < count; k++) {
        pen_must_be_finite(name, n, y[k]);
        for (int i = 0; i < n; i++) {
            low = fminf(low, y[k][i]);
            high = fmaxf(high, y[k][i]);
        }
    }
    /* Up to a round number, which can be written beside the scale. */
    const double least = high > low ? ((double)high - (double)low) : 1;
    const double step = round_step(least);
    const double range =
        ceil((double)high / step - 1e-6) * step - (double)low;
    const Axes a = {66,          26,          n > 1 ? 430.0 / (n - 1) : 0,
                    (double)low, 200 / range, 200};
    Picture p;
    pen_begin(&p, name, title, a.left + 458 + pen_room(count, curve),
              a.top + a.high + 36);
    for (int k = 0; k < count; k++)
        pen_describe(&p, curve[k], n, at, y[k]);
    pen_draw(&p);
    draw_scale(&p, &a, a.low + range, a.left + 450);
    for (int i = 0; i < n; i++)
        pen_text(&p, a.left + i * a.step, a.top + a.high + 28,
                 "middle small", at[i]);
    for (int k = 0; k < count; k++)
        draw_curve(&p, &a, count, n, y, k, curve[k]);
    pen_end(&p);
}
