#include <stdarg.h>

#include "pen.h"

/* A style sheet in each picture gives it colours for light and dark pages;
 * the same names stand in every picture, so that they can share a page. */
#define LIGHT                                                              \
    "--ink:#1b1f24;--muted:#57606c;--rule:#b9c0ca;--c0:#2f6fb5;"           \
    "--c1:#c2571a;--c2:#3a7d44;--c3:#8250a8;--c4:#a1760b;--c5:#147d86"
static const char style[] =
    "<style>\n"
    ".figure{font:14px system-ui,sans-serif;" LIGHT "}\n"
    "@media(prefers-color-scheme:dark){.figure{--ink:#e8eaed;"
    "--muted:#a9b2be;--rule:#4a535f;--c0:#6aa9e9;--c1:#f0995c;--c2:#7cc48a;"
    "--c3:#c39ae0;--c4:#d9b24a;--c5:#5cc3cc}}\n"
    "@media print{.figure{" LIGHT "}}\n"
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

/* Between two pictures there is no file, and the pen is lifted. */
static struct {
    FILE *file;
    char path[600];
} pen;

/* Half a picture is removed. */
static void must_work(int works)
{
    const int reason = errno;
    if (works)
        return;
    if (pen.file)
        remove(pen.path);
    REFUSE("figure %s cannot be written: %s", pen.path, strerror(reason));
}

int pen_wanted(void)
{
    const char *folder = getenv("FIGURES");
    return folder && *folder;
}

int pen_draws(PenKind kind, const char *name, int n, const float x[n])
{
    static const char *const words[] = {
        "finite numbers", "finite numbers from 0 on", "0 and 1"};
    for (int i = 0; i < n && pen_wanted(); i++) {
        const int is_good[] = {isfinite(x[i]), isfinite(x[i]) && x[i] >= 0,
                               x[i] == 0 || x[i] == 1};
        if (!is_good[kind])
            REFUSE("figure '%s' has an entry %g: only %s can be drawn",
                   name, (double)x[i], words[kind]);
    }
    return pen_wanted();
}

void pen_begin(const char *name, const char *title, double width,
               double height)
{
    const int size = snprintf(pen.path, sizeof pen.path, "%s/%s.svg",
                              getenv("FIGURES"), name);
    errno = ENAMETOOLONG;
    must_work(size < (int)sizeof pen.path);
    pen.file = fopen(pen.path, "w");
    must_work(pen.file != NULL);
    pen_svg("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" "
            "role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" aria-labelledby=\"%s-title %s-desc\">\n"
            "<title id=\"%s-title\">",
            width, height, width, height, name, name, name);
    pen_say("%s", title);
    pen_svg("</title>\n<desc id=\"%s-desc\">", name);
}

void pen_draw(void)
{
    pen_svg("</desc>\n%s", style);
}

void pen_end(void)
{
    pen_svg("</svg>\n");
    must_work(fclose(pen.file) == 0);
    pen.file = NULL;
}

void pen_svg(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (pen.file)
        must_work(vfprintf(pen.file, format, values) >= 0);
    va_end(values);
}

void pen_say(const char *format, ...)
{
    char words[1000];
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(words, sizeof words, format, values);
    va_end(values);
    errno = EMSGSIZE;
    must_work(!pen.file || size < (int)sizeof words);
    for (const char *c = words; *c; c++)
        if (*c == '<')
            pen_svg("&lt;");
        else if (*c == '&')
            pen_svg("&amp;");
        else
            pen_svg("%c", *c);
}

/* No sign before what rounds to 0. */
const char *pen_number(int decimals, double value)
{
    static char digits[60];
    snprintf(digits, sizeof digits, "%.*f", decimals, value);
    return digits + (*digits == '-' && strtod(digits, NULL) == 0);
}

void pen_row(const char *row, int m, const char *const column[m],
             const float x[m])
{
    for (int j = 0; j < m; j++)
        pen_say("%s%s %s %s", j ? "" : row, j ? "," : ":", column[j],
                pen_number(4, (double)x[j]));
    pen_say(". ");
}

void pen_open_text(double x, double y, const char *class)
{
    pen_svg("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
}

void pen_value(double x, double y, const char *class, double value)
{
    pen_text(x, y, class, "%s", pen_number(4, value));
}

void pen_box(double x, double y, double width, double height, int colour,
             double opacity)
{
    pen_svg("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"c%d\" fill-opacity=\"%.2f\"/>\n",
            x, y, width, height, colour % COLOURS, opacity);
}

void pen_frame(double x, double y, double width, double height,
               const char *class)
{
    pen_svg("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"%s\"/>\n",
            x, y, width, height, class);
}

void pen_line(double x1, double y1, double x2, double y2, const char *class,
              double width)
{
    pen_svg("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
            "class=\"%s\" stroke-width=\"%.1f\"/>\n",
            x1, y1, x2, y2, class, width);
}

double pen_legend(double x, int n, const char *const word[n], PenSign *sign)
{
    for (int i = 0; i < n; i++) {
        sign(x + 7, 11, i);
        pen_text(x + 20, 16, "", "%s", word[i]);
        x += 44 + pen_room(1, &word[i]);
    }
    return x - 24;
}

double pen_step(double span, int most)
{
    const double power = pow(10, floor(log10(span / most)));
    for (int times = 1; times < 10; times = times * 5 / 2)
        if (span <= most * times * power)
            return times * power;
    return 10 * power;
}

int pen_decimals(double step)
{
    return (int)fmax(0, -floor(log10(step) + 1e-9));
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

Range pen_range(int n, int every, const float x[n])
{
    Range range = {0, 0};
    for (int i = 0; i < n; i += every) {
        range.low = fmin(range.low, (double)x[i]);
        range.high = fmax(range.high, (double)x[i]);
    }
    return range;
}

double pen_largest(int n, const float x[n])
{
    const Range range = pen_range(n, 1, x);
    return fmax(-range.low, range.high);
}
