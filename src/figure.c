#include <stdarg.h>

#include "pen.h"

/* A style sheet in each picture gives it colours for light and dark pages;
 * the same names stand in every picture, so that they can share a page. */
static const char style[] =
    "<style>\n"
    ".figure{font:14px system-ui,sans-serif;--ink:#1b1f24;--muted:#57606c;"
    "--rule:#b9c0ca;--c0:#2f6fb5;--c1:#c2571a;--c2:#3a7d44;--c3:#8250a8;"
    "--c4:#a1760b;--c5:#147d86}\n"
    "@media(prefers-color-scheme:dark){.figure{--ink:#e8eaed;"
    "--muted:#a9b2be;--rule:#4a535f;--c0:#6aa9e9;--c1:#f0995c;--c2:#7cc48a;"
    "--c3:#c39ae0;--c4:#d9b24a;--c5:#5cc3cc}}\n"
    "@media print{.figure{--ink:#1b1f24;--muted:#57606c;--rule:#b9c0ca;"
    "--c0:#2f6fb5;--c1:#c2571a;--c2:#3a7d44;--c3:#8250a8;--c4:#a1760b;"
    "--c5:#147d86}}\n"
    ".figure text{fill:var(--ink)}.figure .muted{fill:var(--muted)}\n"
    ".figure .small{font-size:12px}.figure .tiny{font-size:11px}.figure "
    ".strong{font-weight:600}\n"
    ".figure .end{text-anchor:end}.figure .middle{text-anchor:middle}\n"
    ".figure .rule{stroke:var(--rule);fill:none}\n"
    ".figure .edge{stroke:var(--muted);fill:none}\n"
    ".figure .dash{stroke:var(--muted);stroke-dasharray:4 4}\n"
    ".figure .c0{fill:var(--c0)}.figure .c1{fill:var(--c1)}"
    ".figure .c2{fill:var(--c2)}.figure .c3{fill:var(--c3)}"
    ".figure .c4{fill:var(--c4)}.figure .c5{fill:var(--c5)}\n"
    ".figure .s0{stroke:var(--c0)}.figure .s1{stroke:var(--c1)}"
    ".figure .s2{stroke:var(--c2)}.figure .s3{stroke:var(--c3)}"
    ".figure .s4{stroke:var(--c4)}.figure .s5{stroke:var(--c5)}\n"
    "</style>\n";

int pen_wanted(void)
{
    const char *folder = getenv("FIGURES");
    return folder && *folder;
}

Picture pen_begin(const char *name, const char *title, double width,
                  double height)
{
    Picture p = {.failure = 0};
    int size = snprintf(p.path, sizeof p.path, "%s/%s.svg",
                        getenv("FIGURES"), name);
    if (size < 0 || size >= (int)sizeof p.path)
        REFUSE("FIGURES and figure '%s' make a path of %d characters: at "
               "most %zu fit",
               name, size, sizeof p.path - 1);
    snprintf(p.part, sizeof p.part, "%s.part", p.path);
    p.file = fopen(p.part, "w");
    if (!p.file)
        REFUSE("figure %s cannot be written: %s", p.part, strerror(errno));
    pen_write(&p,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" "
              "role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
              "height=\"%.0f\" aria-labelledby=\"%s-title %s-desc\">\n"
              "<title id=\"%s-title\">",
              width, height, width, height, name, name, name);
    pen_words(&p, title);
    pen_write(&p, "</title>\n<desc id=\"%s-desc\">", name);
    return p;
}

void pen_draw(Picture *p)
{
    pen_write(p, "</desc>\n%s", style);
}

/* The first call that fails knows the reason: later ones, which fail as
 * well or do not, may leave another in errno. */
static void must_work(Picture *p, int works)
{
    if (!works && !p->failure)
        p->failure = errno;
}

void pen_end(Picture *p)
{
    pen_write(p, "</svg>\n");
    must_work(p, fclose(p->file) == 0);
    if (!p->failure)
        must_work(p, rename(p->part, p->path) == 0);
    if (!p->failure)
        return;
    remove(p->part);
    REFUSE("figure %s cannot be written: %s", p->path,
           strerror(p->failure));
}

void pen_write(Picture *p, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    must_work(p, vfprintf(p->file, format, values) >= 0);
    va_end(values);
}

void pen_words(Picture *p, const char *words)
{
    for (; *words; words++)
        if (*words == '<')
            pen_write(p, "&lt;");
        else if (*words == '&')
            pen_write(p, "&amp;");
        else
            pen_write(p, "%c", *words);
}

/* No sign before what rounds to 0, or is no number. */
const char *pen_digits(char digits[PEN_DIGITS], double value)
{
    snprintf(digits, PEN_DIGITS, "%.4f", value);
    if (isnan(value))
        return "nan";
    return strcmp(digits, "-0.0000") ? digits : "0.0000";
}

void pen_row(Picture *p, const char *row, int m,
             const char *const column[m], const float x[m])
{
    char digits[PEN_DIGITS];
    pen_words(p, row);
    for (int j = 0; j < m; j++) {
        pen_write(p, j ? ", " : ": ");
        pen_words(p, column[j]);
        pen_write(p, " %s", pen_digits(digits, (double)x[j]));
    }
    pen_write(p, ". ");
}

void pen_text(Picture *p, double x, double y, const char *class,
              const char *words)
{
    pen_write(p, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    pen_words(p, words);
    pen_write(p, "</text>\n");
}

void pen_number(Picture *p, double x, double y, const char *class,
                double value)
{
    char digits[PEN_DIGITS];
    pen_text(p, x, y, class, pen_digits(digits, value));
}

void pen_box(Picture *p, double x, double y, double width, double height,
             int colour, double opacity)
{
    pen_write(p,
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
              "height=\"%.1f\" class=\"c%d\" fill-opacity=\"%.2f\"/>\n",
              x, y, width, height, colour, opacity);
}

void pen_frame(Picture *p, double x, double y, double width, double height,
               const char *class)
{
    pen_write(p,
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
              "height=\"%.1f\" class=\"%s\"/>\n",
              x, y, width, height, class);
}

void pen_line(Picture *p, double x1, double y1, double x2, double y2,
              const char *class, double width)
{
    pen_write(p,
              "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
              "class=\"%s\" stroke-width=\"%.1f\"/>\n",
              x1, y1, x2, y2, class, width);
}

double pen_legend(Picture *p, double left, double right, int n,
                  const char *const word[n], PenSign *sign)
{
    enum { ROW = 26 };
    double x = left, y = 0;
    for (int i = 0; i < n; i++) {
        const double wide = 44 + pen_room(1, &word[i]);
        if (x > left && x + wide - 24 > right) {
            x = left;
            y += ROW;
        }
        if (p) {
            sign(p, x + 7, y + 11, i);
            pen_text(p, x + 20, y + 16, "", word[i]);
        }
        x += wide;
    }
    return y + ROW;
}

double pen_step(double span, int most)
{
    const double power = pow(10, floor(log10(span / most)));
    for (int times = 1; times < 10; times = times * 5 / 2)
        if (span <= most * times * power)
            return times * power;
    return 10 * power;
}

const char *pen_mark(char digits[PEN_DIGITS], double step, double value)
{
    const double decimals = -floor(log10(step) + 1e-9);
    snprintf(digits, PEN_DIGITS, "%.*f", (int)fmax(0, decimals), value);
    return digits;
}

/* 8 pixels a letter are ample. A letter may have several bytes: those after
 * its first begin with the bits 10. */
double pen_room(int n, const char *const word[n])
{
    int longest = 0;
    for (int i = 0; i < n; i++) {
        int letters = 0;
        for (const char *c = word[i]; *c; c++)
            letters += (*c & 0xc0) != 0x80;
        longest = letters > longest ? letters : longest;
    }
    return 8.0 * longest;
}

double pen_strong_room(int n, const char *const word[n])
{
    return 1.1 * pen_room(n, word);
}

void pen_must_be_finite(const char *name, int n, const float x[n])
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            REFUSE("figure '%s' has an entry %g: only finite numbers can "
                   "be drawn",
                   name, (double)x[i]);
}

void pen_must_have_colours(const char *name, int n, const char *what)
{
    if (n > COLOURS)
        REFUSE("figure '%s' has %d %s: colours for %d exist", name, n, what,
               COLOURS);
}
