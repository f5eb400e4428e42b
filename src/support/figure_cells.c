#include "support/pen.h"

/* The letters of a table in pixels, and the cells: where the first lies, and
 * how far one is from the next. */
typedef struct {
    double font, left, top, wide, high;
} Cells;

/* A cell with its value. What is hidden has a frame alone. */
static void draw_cell(double left, double top, double wide, double high,
                      double line, double largest, double x)
{
    const double middle = left + wide * 0.5;
    if (!isfinite(x)) {
        pen_frame(left + 0.5, top + 0.5, wide - 1, high - 1, "rule");
        pen_text(middle, line, "middle muted", "%s",
                 isnan(x) ? "nan" : "-∞");
        return;
    }
    /* At most 0.55, so that ink stays readable on every cell. */
    pen_box(left, top, wide, high, x < 0, 0.04 + 0.51 * fabs(x) / largest);
    pen_value(middle, line, "middle", x);
}

/* So wide that no word and no value lies on the next, and the last is not
 * cut off. */
static void widen(Cells *c, int m, const char *const column[m], int values,
                  const float x[values])
{
    for (int k = 0; k < values; k++)
        c->wide =
            fmax(c->wide, strlen(pen_number(4, x[k])) * 0.55 * c->font + 6);
    for (int j = 0; j < m; j++) {
        const double room = pen_room(1, &column[j]);
        const double next = pen_room(1, &column[j + 1 < m ? j + 1 : j]);
        c->wide = fmax(c->wide, (room + next) / 2 * c->font / 14 + 2);
    }
}

/* The cells of a table with the words of its columns and rows. */
static void draw_cells(const Cells *c, int n, const char *const row[n],
                       int m, const char *const column[m],
                       const float x[n][m])
{
    enum { GAP = 2 };
    const double largest = fmax(pen_largest(n * m, x[0]), FLT_MIN);
    pen_svg("<g font-size=\"%.0f\">\n", c->font);
    for (int j = 0; j < m; j++)
        pen_text(c->left + (j + 0.5) * c->wide - 1, c->top - 10, "middle",
                 "%s", column[j]);
    for (int i = 0; i < n; i++) {
        const double top = c->top + i * c->high;
        const double line = top + c->high * 0.5 - 1 + 0.36 * c->font;
        pen_text(c->left - 8, line, "end", "%s", row[i]);
        for (int j = 0; j < m; j++)
            draw_cell(c->left + j * c->wide, top, c->wide - GAP,
                      c->high - GAP, line, largest, (double)x[i][j]);
    }
    pen_svg("</g>\n");
}

void figure_heatmap(const char *name, const char *title, int n,
                    const char *const row[n], int m,
                    const char *const column[m], const float x[n][m])
{
    if (!pen_accepts(PEN_CELLS, name, n * m, x[0]))
        return;
    Cells c = {14, pen_room(n, row) + 12, 30, 70, 38};
    /* More than six columns fit with smaller letters. */
    if (m > 6)
        c = (Cells){12, pen_room(n, row) * 12 / 14 + 10, 28, 52, 33};
    widen(&c, m, column, n * m, x[0]);
    pen_begin(name, title, c.left + m * c.wide, c.top + n * c.high);
    for (int i = 0; i < n; i++)
        pen_row(row[i], m, column, x[i]);
    pen_draw();
    draw_cells(&c, n, row, m, column, x);
    pen_end();
}

void figure_maps(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n,
                 const char *const row[n], int m,
                 const char *const column[m], const float x[panels][n][m])
{
    if (!pen_accepts(PEN_CELLS, name, panels * n * m, x[0][0]))
        return;
    Cells c = {12, pen_room(n, row) * 12 / 14 + 10, 42, 64, 33};
    /* Two of six columns fit a page with smaller letters. */
    if (m > 4)
        c = (Cells){11, pen_room(n, row) * 11 / 14 + 8, 40, 46, 29};
    widen(&c, m, column, panels * n * m, x[0][0]);
    const double label = 1.1 * pen_room(panels, panel);
    pen_begin_panels(name, title, panels, c.left + fmax(m * c.wide, label),
                     c.top + n * c.high);
    for (int k = 0; k < panels; k++) {
        pen_say("%s. ", panel[k]);
        for (int i = 0; i < n; i++)
            pen_row(row[i], m, column, x[k][i]);
    }
    pen_draw();
    for (int k = 0; k < panels; k++) {
        pen_open_panel(k);
        pen_text(c.left, c.top - 16 - c.font, "strong", "%s", panel[k]);
        draw_cells(&c, n, row, m, column, x[k]);
        pen_svg("</g>\n");
    }
    pen_end();
}

void figure_grid(const char *name, const char *title, int panels,
                 const char *const panel[panels], int n, int m,
                 const float x[panels][n][m])
{
    enum { SIDE = 24 };
    if (!pen_accepts(PEN_BITS, name, panels * n * m, x[0][0]))
        return;
    const double label = 1.1 * pen_room(panels, panel);
    pen_begin_panels(name, title, panels, fmax(m * SIDE + 2, label),
                     (n + 1) * SIDE + 2);
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
        pen_open_panel(k);
        pen_text(0, 14, "strong", "%s", panel[k]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                const double left = j * SIDE + 1;
                const double top = (i + 1) * SIDE + 1;
                pen_frame(left - 0.5, top - 0.5, SIDE, SIDE, "rule");
                if (x[k][i][j] == 1)
                    pen_box(left, top, SIDE - 1, SIDE - 1, 0, 0.7);
            }
        pen_svg("</g>\n");
    }
    pen_end();
}

/* The cells of a layout, with room for its words. */
static Cells layout_cells(int panels, const FigureLayout panel[panels])
{
    Cells r = {14, 0, 28, 0, 28};
    for (int k = 0; k < panels; k++) {
        const FigureLayout *p = panel + k;
        r.wide = fmax(r.wide, pen_room(p->n * p->m, p->cell) + 8);
        if (p->row)
            r.left = fmax(r.left, pen_room(p->n, p->row) + 10);
        if (p->column) {
            r.top = 50;
            r.wide = fmax(r.wide, pen_room(p->m, p->column) + 4);
        }
    }
    return r;
}

static void say_names(const char *label, int n, const char *const name[n])
{
    pen_say("%s: ", label);
    for (int i = 0; i < n; i++)
        pen_say("%s%s", *name[i] ? name[i] : "blank",
                i + 1 < n ? ", " : ". ");
}

/* A table in words: where the colour changes, it is named. */
static void say_layout(const FigureLayout *p)
{
    pen_say("%s. ", p->label);
    if (p->column)
        say_names("Columns", p->m, p->column);
    for (int i = 0; i < p->n; i++) {
        if (p->row && *p->row[i])
            pen_say("%s: ", p->row[i]);
        for (int j = 0; j < p->m; j++) {
            const int c = i * p->m + j, colour = p->colour[c];
            if (j == 0 || colour != p->colour[c - 1])
                pen_say(colour < 0 ? "(pale) " : "(colour %d) ",
                        colour + 1);
            pen_say("%s%s", *p->cell[c] ? p->cell[c] : "blank",
                    j + 1 < p->m ? ", " : ". ");
        }
    }
}

static void draw_layout(const Cells *r, const FigureLayout *p)
{
    pen_text(0, 14, "strong", "%s", p->label);
    for (int j = 0; p->column && j < p->m; j++)
        pen_text(r->left + (j + 0.5) * r->wide, r->top - 8, "middle muted",
                 "%s", p->column[j]);
    for (int c = 0; c < p->n * p->m; c++) {
        const double left = r->left + c % p->m * r->wide;
        const double top = r->top + c / p->m * r->high;
        if (p->row && c % p->m == 0)
            pen_text(r->left - 8, top + 19, "end muted", "%s",
                     p->row[c / p->m]);
        pen_frame(left + 0.5, top + 0.5, r->wide, r->high, "rule");
        if (p->colour[c] >= 0)
            pen_box(left + 1, top + 1, r->wide - 1, r->high - 1,
                    p->colour[c], 0.4);
        pen_text(left + r->wide / 2, top + 19, "middle", "%s", p->cell[c]);
    }
}

void figure_layout(const char *name, const char *title, int panels,
                   const FigureLayout panel[panels])
{
    if (!pen_wanted())
        return;
    const Cells r = layout_cells(panels, panel);
    double wide = 0, high = 0;
    for (int k = 0; k < panels; k++) {
        const FigureLayout *p = panel + k;
        wide = fmax(wide, fmax(r.left + p->m * r.wide + 1,
                               1.1 * pen_room(1, &p->label)));
        high = fmax(high, r.top + p->n * r.high + 1);
    }
    pen_begin_panels(name, title, panels, wide, high);
    for (int k = 0; k < panels; k++)
        say_layout(panel + k);
    pen_draw();
    for (int k = 0; k < panels; k++) {
        pen_open_panel(k);
        draw_layout(&r, panel + k);
        pen_svg("</g>\n");
    }
    pen_end();
}
