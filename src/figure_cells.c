#include "pen.h"

/* What lies between two panels, and the page's width that each has. */
enum { PANEL_GAP = 20 };

static double page_of(int a_row)
{
    return (PAGE + PANEL_GAP) / a_row - PANEL_GAP;
}

/* The letters of a map in pixels, and the cells: where the first lies, and
 * how far one is from the next. */
typedef struct {
    double font, left, top, wide, high;
} Cells;

/* The cell at these left and top. One that is empty has no place between
 * the others, and one that is no number is a mistake to be seen. */
static void cell(const Cells *c, double left, double top, double x,
                 double largest)
{
    enum { GAP = 2 };
    const double wide = c->wide - GAP, high = c->high - GAP;
    /* At most 0.55, so that ink stays readable on every cell. */
    const double shade = largest > 0 ? fabs(x) / largest : 0;
    if (isfinite(x))
        pen_box(left, top, wide, high, x < 0, 0.04 + 0.51 * shade);
    else
        pen_frame(left + 0.5, top + 0.5, wide - 1, high - 1, "rule");
    pen_value(left + wide * 0.5, top + high * 0.5 + 0.36 * c->font,
              isfinite(x) ? "middle"
              : isnan(x)  ? "middle strong c1"
                          : "middle muted",
              x);
}

/* The cells of a table with the words of its columns and rows. */
static void draw_cells(const Cells *c, int n, const char *const row[n],
                       int m, const char *const column[m],
                       const float x[n][m])
{
    const double largest = pen_largest(n * m, x[0]);
    pen_svg("<g font-size=\"%.0f\">\n", c->font);
    for (int j = 0; j < m; j++)
        pen_text(c->left + (j + 0.5) * c->wide - 1, c->top - 10, "middle",
                 "%s", column[j]);
    for (int i = 0; i < n; i++) {
        const double top = c->top + i * c->high;
        pen_text(c->left - 8, top + c->high * 0.5 - 1 + 0.36 * c->font,
                 "end", "%s", row[i]);
        for (int j = 0; j < m; j++)
            cell(c, c->left + j * c->wide, top, (double)x[i][j], largest);
    }
    pen_svg("</g>\n");
}

void heatmap(const char *name, const char *title, int n,
             const char *const row[n], int m, const char *const column[m],
             const float x[n][m])
{
    if (!pen_wanted())
        return;
    pen_must_be(PEN_CELLS, name, n * m, x[0]);
    const Cells c = {14, pen_room(n, row) + 12, 30, 76, 38};
    pen_begin(name, title, c.left + m * c.wide, c.top + n * c.high);
    for (int i = 0; i < n; i++)
        pen_row(row[i], m, column, x[i]);
    pen_draw();
    draw_cells(&c, n, row, m, column, x);
    pen_end();
}

/* How wide the widest entry is, as a multiple of the letters' size: digits
 * are all alike, a sign and a point are narrower. */
static double widest_entry(int n, const float x[n])
{
    double widest = 0;
    for (int i = 0; i < n; i++) {
        double wide = 0;
        for (const char *c = pen_number(4, (double)x[i]); *c; c++)
            wide += strchr("-.i", *c) ? 0.36 : 0.64;
        widest = fmax(widest, wide);
    }
    return widest;
}

/* As many maps a row as wanted, with letters as large as they can be; where
 * these would be smaller than 10 pixels, one. Cells are as wide as those of
 * heatmap() where the page has room for it, and as narrow as the room for
 * their words and entries allows where not. */
static Cells choose_cells(int m, double row, double column, double entry,
                          double label, int *a_row)
{
    Cells c = {0};
    for (;; *a_row = 1)
        for (int font = 12; font >= 10; font--) {
            const double left = row * font / 14 + 10;
            const double room = floor((page_of(*a_row) - left) / m);
            const double least =
                fmax(entry * font + 4, column * font / 14 + 2);
            c = (Cells){font, left, 30 + font,
                        fmax(least, fmin(room, floor(5.4 * font))),
                        floor(2.75 * font)};
            if (fmax(left + m * c.wide, label) <= page_of(*a_row) ||
                (*a_row == 1 && font == 10))
                return c;
        }
}

void maps(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const row[n],
          int m, const char *const column[m], const float x[panels][n][m])
{
    if (!pen_wanted())
        return;
    pen_must_be(PEN_CELLS, name, panels * n * m, x[0][0]);
    const double label = pen_strong_room(panels, panel);
    int a_row = panels > 1 ? 2 : 1;
    const Cells c =
        choose_cells(m, pen_room(n, row), pen_room(m, column),
                     widest_entry(panels * n * m, x[0][0]), label, &a_row);
    const double wide = fmax(c.left + m * c.wide, label) + PANEL_GAP;
    const double high = c.top + n * c.high + PANEL_GAP;
    pen_begin(name, title, a_row * wide - PANEL_GAP,
              (panels + a_row - 1) / a_row * high - PANEL_GAP);
    for (int k = 0; k < panels; k++) {
        pen_say("%s. ", panel[k]);
        for (int i = 0; i < n; i++)
            pen_row(row[i], m, column, x[k][i]);
    }
    pen_draw();
    for (int k = 0; k < panels; k++) {
        const double left = k % a_row * wide, top = k / a_row * high;
        /* Above the cells, or further left where it is longer. */
        const double spare =
            wide - PANEL_GAP - pen_strong_room(1, &panel[k]);
        Cells own = c;
        own.left += left;
        own.top += top;
        pen_text(left + fmin(c.left, spare), top + 14, "strong", "%s",
                 panel[k]);
        draw_cells(&own, n, row, m, column, x[k]);
    }
    pen_end();
}

void grid(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, int m,
          const float x[panels][n][m])
{
    enum { LARGEST = 24, LEAST = 3, TOP = 24 };
    if (!pen_wanted())
        return;
    pen_must_be(PEN_BITS, name, panels * n * m, x[0][0]);
    const double room = floor((page_of(panels) - 2) / m);
    const double side = fmax(LEAST, fmin(LARGEST, room));
    const double label = pen_strong_room(panels, panel);
    const double wide = fmax(m * side + 2, label) + PANEL_GAP;
    pen_begin(name, title, panels * wide - PANEL_GAP, TOP + n * side + 2);
    for (int k = 0; k < panels; k++) {
        for (int i = 0; i < n; i++) {
            pen_say("%s%s", i ? "" : panel[k], i ? ", " : ": ");
            for (int j = 0; j < m; j++)
                pen_say("%d", x[k][i][j] == 1);
        }
        pen_say(". ");
    }
    pen_draw();
    for (int k = 0; k < panels; k++) {
        pen_text(k * wide, 14, "strong", "%s", panel[k]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                const double left = k * wide + j * side + 1;
                const double top = TOP + i * side + 1;
                pen_frame(left - 0.5, top - 0.5, side, side, "rule");
                if (x[k][i][j] == 1)
                    pen_box(left, top, side - 1, side - 1, 0, 0.7);
            }
    }
    pen_end();
}
