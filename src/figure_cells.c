#include "pen.h"

/* What lies between two panels. */
enum { PANEL_GAP = 20 };

/* Panels of one size, so many a row; the last row may have fewer. */
typedef struct {
    int a_row;
    double wide, high;
} Panels;

static double panel_left(const Panels *all, int k)
{
    return k % all->a_row * (all->wide + PANEL_GAP);
}

static double panel_top(const Panels *all, int k)
{
    return k / all->a_row * (all->high + PANEL_GAP);
}

static Picture begin_panels(const char *name, const char *title,
                            const Panels *all, int panels)
{
    const int rows = (panels + all->a_row - 1) / all->a_row;
    return pen_begin(name, title,
                     all->a_row * (all->wide + PANEL_GAP) - PANEL_GAP,
                     rows * (all->high + PANEL_GAP) - PANEL_GAP);
}

/* The letters of a map in pixels, and the cells: where the first lies, and
 * how far one is from the next. */
typedef struct {
    double font, left, top, wide, high;
} Cells;

static void must_be_shown(const char *name, int n, int m,
                          const float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (isinf(x[i][j]) && x[i][j] > 0)
                REFUSE("figure '%s' has an entry inf: finite numbers, -inf "
                       "and nan can be drawn",
                       name);
}

/* The largest of the finite entries, without its sign. */
static float largest_size(int n, int m, const float x[n][m])
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (isfinite(x[i][j]))
                largest = fmaxf(largest, fabsf(x[i][j]));
    return largest;
}

/* The cell at these left and top. One that is empty has no place between
 * the others, and one that is no number is a mistake to be seen. */
static void cell(Picture *p, const Cells *c, double left, double top,
                 float x, float largest)
{
    enum { GAP = 2 };
    const double wide = c->wide - GAP, high = c->high - GAP;
    const double middle = left + wide * 0.5;
    const double line = top + high * 0.5 + 0.36 * c->font;
    if (!isfinite(x)) {
        pen_frame(p, left + 0.5, top + 0.5, wide - 1, high - 1, "rule");
        pen_number(p, middle, line,
                   isnan(x) ? "middle strong c1" : "middle muted",
                   (double)x);
        return;
    }
    /* At most 0.55, so that ink stays readable on every cell. */
    const float shade = largest > 0 ? fabsf(x) / largest : 0;
    pen_box(p, left, top, wide, high, x < 0, 0.04 + 0.51 * (double)shade);
    pen_number(p, middle, line, "middle", (double)x);
}

/* The cells of a table with the words of its columns and rows. */
static void draw_cells(Picture *p, const Cells *c, int n,
                       const char *const row[n], int m,
                       const char *const column[m], const float x[n][m])
{
    const float largest = largest_size(n, m, x);
    pen_write(p, "<g font-size=\"%.0f\">\n", c->font);
    for (int j = 0; j < m; j++)
        pen_text(p, c->left + (j + 0.5) * c->wide - 1, c->top - 10,
                 "middle", column[j]);
    for (int i = 0; i < n; i++) {
        const double top = c->top + i * c->high;
        pen_text(p, c->left - 8, top + c->high * 0.5 - 1 + 0.36 * c->font,
                 "end", row[i]);
        for (int j = 0; j < m; j++)
            cell(p, c, c->left + j * c->wide, top, x[i][j], largest);
    }
    pen_write(p, "</g>\n");
}

void heatmap(const char *name, const char *title, int n,
             const char *const row[n], int m, const char *const column[m],
             const float x[n][m])
{
    if (!pen_wanted())
        return;
    must_be_shown(name, n, m, x);
    const Cells c = {14, pen_room(n, row) + 12, 30, 76, 38};
    Picture p =
        pen_begin(name, title, c.left + m * c.wide, c.top + n * c.high);
    for (int i = 0; i < n; i++)
        pen_row(&p, row[i], m, column, x[i]);
    pen_draw(&p);
    draw_cells(&p, &c, n, row, m, column, x);
    pen_end(&p);
}

/* How wide the widest entry is, as a multiple of the letters' size: digits
 * are all alike, a sign and a point are narrower. */
static double widest_entry(int n, int m, const float x[n][m])
{
    double widest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            char digits[PEN_DIGITS];
            const char *c = pen_digits(digits, (double)x[i][j]);
            double wide = 0;
            for (; *c; c++)
                wide += strchr("-.i", *c) ? 0.36 : 0.64;
            widest = fmax(widest, wide);
        }
    return widest;
}

/* What the sizes of maps are chosen by: the room that words need in letters
 * of 14 pixels, and the widest entry. */
typedef struct {
    double row, column, label, entry;
} Needs;

/* Cells with letters of this size: as wide as those of heatmap() where the
 * page has room for it, and as narrow as their words allow where not. */
static Cells cells_of(const Needs *needs, int m, int a_row, double font)
{
    const double page = (PAGE + PANEL_GAP) / a_row - PANEL_GAP;
    const double left = needs->row * font / 14 + 10;
    const double least =
        fmax(needs->entry * font + 4, needs->column * font / 14 + 2);
    const double share = floor((page - left) / m);
    return (Cells){font, left, 30 + font,
                   fmax(least, fmin(share, floor(5.4 * font))),
                   floor(2.75 * font)};
}

static double map_width(const Needs *needs, int m, const Cells *c)
{
    return fmax(c->left + m * c->wide, needs->label);
}

/* Two maps a row with letters as large as they can be; where these would be
 * smaller than 10 pixels, one. */
static Cells choose_cells(const Needs *needs, int panels, int m, int *a_row)
{
    Cells c = {0};
    for (*a_row = panels > 1 ? 2 : 1; *a_row > 0; --*a_row)
        for (int font = *a_row > 1 ? 12 : 14; font >= 10; font--) {
            c = cells_of(needs, m, *a_row, font);
            if (*a_row * (map_width(needs, m, &c) + PANEL_GAP) <=
                PAGE + PANEL_GAP)
                return c;
        }
    *a_row = 1;
    return c;
}

void maps(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const row[n],
          int m, const char *const column[m], const float x[panels][n][m])
{
    if (!pen_wanted())
        return;
    Needs needs = {pen_room(n, row), pen_room(m, column),
                   pen_strong_room(panels, panel), 0};
    for (int k = 0; k < panels; k++) {
        must_be_shown(name, n, m, x[k]);
        needs.entry = fmax(needs.entry, widest_entry(n, m, x[k]));
    }
    Panels all;
    const Cells c = choose_cells(&needs, panels, m, &all.a_row);
    all.wide = map_width(&needs, m, &c);
    all.high = c.top + n * c.high;
    Picture p = begin_panels(name, title, &all, panels);
    for (int k = 0; k < panels; k++) {
        pen_words(&p, panel[k]);
        pen_write(&p, ". ");
        for (int i = 0; i < n; i++)
            pen_row(&p, row[i], m, column, x[k][i]);
    }
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = panel_left(&all, k), top = panel_top(&all, k);
        const Cells own = {c.font, left + c.left, top + c.top, c.wide,
                           c.high};
        /* Above the cells, or further left where it is longer. */
        const double spare = all.wide - pen_strong_room(1, &panel[k]);
        pen_text(&p, left + fmin(c.left, spare), top + 14, "strong",
                 panel[k]);
        draw_cells(&p, &own, n, row, m, column, x[k]);
    }
    pen_end(&p);
}

static void must_be_zero_or_one(const char *name, int n, int m,
                                const float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i][j] != 0 && x[i][j] != 1)
                REFUSE("figure '%s' has an entry %g: 0 and 1 can be drawn",
                       name, (double)x[i][j]);
}

/* All side by side with squares as large as they can be; where these would
 * be smaller than 5 pixels, in several rows. */
static Panels choose_squares(int panels, int m, double label, double *side)
{
    enum { LARGEST = 24, LEAST = 5, LEAST_OF_ALL = 3 };
    const double page = (PAGE + PANEL_GAP) / panels - PANEL_GAP;
    Panels all = {panels, 0, 0};
    *side = fmin(LARGEST, floor((page - 2) / m));
    if (*side < LEAST || label > page) {
        *side = fmin(LARGEST * 0.5, floor((PAGE - 2) / m));
        *side = fmax(LEAST_OF_ALL, *side);
        const double wide = fmax(m * *side + 2, label) + PANEL_GAP;
        all.a_row = (int)fmax(1, floor((PAGE + PANEL_GAP) / wide));
    }
    all.wide = fmax(m * *side + 2, label);
    return all;
}

static void draw_squares(Picture *p, double left, double top, double side,
                         int n, int m, const float x[n][m])
{
    const double right = left + m * side + 1, bottom = top + n * side + 1;
    for (int i = 0; i <= n; i++)
        pen_line(p, left, top + i * side + 0.5, right, top + i * side + 0.5,
                 "rule", 1);
    for (int j = 0; j <= m; j++)
        pen_line(p, left + j * side + 0.5, top, left + j * side + 0.5,
                 bottom, "rule", 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i][j] == 1)
                pen_box(p, left + j * side + 1, top + i * side + 1,
                        side - 1, side - 1, 0, 0.7);
}

void grid(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, int m,
          const float x[panels][n][m])
{
    enum { LABEL_HIGH = 24 };
    if (!pen_wanted())
        return;
    for (int k = 0; k < panels; k++)
        must_be_zero_or_one(name, n, m, x[k]);
    double side;
    Panels all =
        choose_squares(panels, m, pen_strong_room(panels, panel), &side);
    all.high = LABEL_HIGH + n * side + 2;
    Picture p = begin_panels(name, title, &all, panels);
    for (int k = 0; k < panels; k++) {
        pen_words(&p, panel[k]);
        for (int i = 0; i < n; i++) {
            pen_write(&p, i ? ", " : ": ");
            for (int j = 0; j < m; j++)
                pen_write(&p, "%d", x[k][i][j] == 1);
        }
        pen_write(&p, ". ");
    }
    pen_draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = panel_left(&all, k), top = panel_top(&all, k);
        pen_text(&p, left, top + 14, "strong", panel[k]);
        draw_squares(&p, left, top + LABEL_HIGH, side, n, m, x[k]);
    }
    pen_end(&p);
}
