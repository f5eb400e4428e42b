#include <ctype.h>
#include <stdarg.h>

#include "support/pen.h"

/* A style sheet in each picture gives it colours for light and dark pages;
 * the same names stand in every picture, so that they can share a page. On
 * a page, its colour scheme holds; alone, the system's. What does not know
 * light-dark() has the light ones. */
// clang-format off
#define TINTS(T)                                                           \
    T("ink", "#1b1f24", "#e8eaed") T("muted", "#57606c", "#a9b2be")        \
    T("rule", "#b9c0ca", "#4a535f") T("c0", "#2f6fb5", "#6aa9e9")          \
    T("c1", "#b85014", "#f08a52") T("c2", "#3a7d44", "#7cc48a")            \
    T("c3", "#8250a8", "#c39ae0") T("c4", "#948f00", "#c6bf3a")            \
    T("c5", "#0b8577", "#38c4b4") T("c6", "#c23b78", "#f08ab5")            \
    T("c7", "#6b727c", "#a9b1bb")
#define LIGHT(name, light, dark) "--" name ":" light ";"
#define BOTH(name, light, dark)                                            \
    "--" name ":light-dark(" light "," dark ");"
#define COLOUR(k)                                                          \
    ".figure .c" k "{fill:var(--c" k ")}.figure .s" k "{stroke:var(--c" k  \
    ")}\n"
static const char style[] =
    "<style>\n"
    ".figure{font:14px system-ui,sans-serif;" TINTS(LIGHT) "}\n"
    "@supports(color:light-dark(#000,#fff)){.figure{" TINTS(BOTH) "}}\n"
    ".figure:root{color-scheme:light dark}\n"
    "@media print{.figure{color-scheme:light}}\n"
    ".figure text{fill:var(--ink)}.figure .muted{fill:var(--muted)}\n"
    ".figure .small{font-size:12px}.figure .tiny{font-size:10.5px}"
    ".figure .strong{font-weight:600}.figure .index{font-size:.75em}\n"
    /* What stands on lines has a rim in the colour of the page. */
    ".figure .rim{paint-order:stroke;stroke:var(--paper,Canvas);"
    "stroke-width:4}\n"
    ".figure .end{text-anchor:end}.figure .middle{text-anchor:middle}\n"
    ".figure .rule{stroke:var(--rule);fill:none}\n"
    ".figure .edge{stroke:var(--muted);fill:none}\n"
    ".figure .dash{stroke:var(--muted);stroke-dasharray:4 4}\n"
    COLOUR("0") COLOUR("1") COLOUR("2") COLOUR("3")
    COLOUR("4") COLOUR("5") COLOUR("6") COLOUR("7")
    ".figure.panels{width:var(--w);height:var(--h);min-width:0;"
    "max-width:none}\n"
    "@media screen and (max-width:46em){"
    ".figure.panels{width:var(--narrow-w);height:var(--narrow-h)}"
    ".figure .panel{transform:var(--narrow)}}\n"
    /* A phone shrinks pictures to two thirds, and the least letters to no
     * less than 9 pixels. */
    "@media screen and (max-width:33em){.figure:not(.panels) .small"
    "{font-size:14px}.figure .index{font-size:.9em}}\n"
    "</style>\n";
// clang-format on

const char *const pen_stroke[COLOURS] = {"s0", "s1", "s2", "s3",
                                         "s4", "s5", "s6", "s7"};

/* Between two pictures there is no file, and the pen is lifted. Panels lie
 * so far apart, so many a row on a page and on a phone. */
static struct {
    FILE *file;
    char path[600];
    int is_drawing;
    double step_x, step_y;
    int a_row[2];
} pen;

/* Half a picture is removed. */
static void check_written(int works)
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

int pen_accepts(PenKind kind, const char *name, int n, const float x[n])
{
    static const char *const words[] = {"finite numbers",
                                        "finite numbers, -inf and nan",
                                        "finite numbers from 0 on",
                                        "finite numbers from 0 on and nan",
                                        "0 and 1",
                                        "finite numbers above 0",
                                        "finite numbers above 0 and nan"};
    for (int i = 0; i < n && pen_wanted(); i++) {
        const int is_part = isfinite(x[i]) && x[i] >= 0;
        const int is_good[] = {isfinite(x[i]),
                               x[i] != INFINITY,
                               is_part,
                               is_part || isnan(x[i]),
                               x[i] == 0 || x[i] == 1,
                               is_part && x[i] > 0,
                               isnan(x[i]) || (is_part && x[i] > 0)};
        if (!is_good[kind])
            REFUSE("figure '%s' has an entry %g: only %s can be drawn",
                   name, (double)x[i], words[kind]);
    }
    return pen_wanted();
}

static void open_picture(const char *name)
{
    const int size = snprintf(pen.path, sizeof pen.path, "%s/%s.svg",
                              getenv("FIGURES"), name);
    errno = ENAMETOOLONG;
    check_written(size < (int)sizeof pen.path);
    pen.file = fopen(pen.path, "w");
    check_written(pen.file != NULL);
    pen.is_drawing = 0;
    pen_svg("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" ");
}

static void say_title(const char *name, const char *title, double width,
                      double height)
{
    pen_svg("width=\"%.0f\" height=\"%.0f\" "
            "aria-labelledby=\"%s-title %s-desc\">\n"
            "<title id=\"%s-title\">",
            width, height, name, name, name);
    pen_say("%s", title);
    pen_svg("</title>\n<desc id=\"%s-desc\">", name);
}

void pen_begin(const char *name, const char *title, double width,
               double height)
{
    open_picture(name);
    pen_svg("class=\"figure\" viewBox=\"0 0 %.0f %.0f\" ", width, height);
    say_title(name, title, width, height);
}

/* Without a viewBox nothing is shrunk. Rows are as equal as can be. */
void pen_begin_panels(const char *name, const char *title, int n,
                      double width, double height)
{
    enum { GAP = 14 };
    static const int screen[2] = {700, 328};
    double wide[2], high[2];
    pen.step_x = width + GAP;
    pen.step_y = height + GAP;
    for (int s = 0; s < 2; s++) {
        const int fit = (int)fmax(1, (screen[s] + GAP) / pen.step_x);
        const int rows = (n + fit - 1) / fit;
        pen.a_row[s] = (n + rows - 1) / rows;
        wide[s] = pen.a_row[s] * pen.step_x - GAP;
        high[s] = rows * pen.step_y - GAP;
    }
    open_picture(name);
    pen_svg("class=\"figure panels\" style=\"--w:%.0fpx;--h:%.0fpx;"
            "--narrow-w:%.0fpx;--narrow-h:%.0fpx\" ",
            wide[0], high[0], wide[1], high[1]);
    say_title(name, title, wide[0], high[0]);
}

void pen_open_panel(int k)
{
    const int wide = pen.a_row[0], narrow = pen.a_row[1];
    pen_svg("<g class=\"panel\" transform=\"translate(%.0f %.0f)\" "
            "style=\"--narrow:translate(%.0fpx,%.0fpx)\">\n",
            k % wide * pen.step_x, k / wide * pen.step_y,
            k % narrow * pen.step_x, k / narrow * pen.step_y);
}

void pen_draw(void)
{
    pen_svg("</desc>\n%s", style);
    pen.is_drawing = 1;
}

void pen_end(void)
{
    pen_svg("</svg>\n");
    check_written(fclose(pen.file) == 0);
    pen.file = NULL;
}

void pen_svg(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (pen.file)
        check_written(vfprintf(pen.file, format, values) >= 0);
    va_end(values);
}

/* How many letters behind this sign of the words stand below the line. */
static int index_size(const char *words, const char *sign)
{
    const int has_one =
        sign > words && isalpha((unsigned char)sign[-1]) &&
        (sign - 1 == words || !isalnum((unsigned char)sign[-2]));
    int size = 0;
    while (*sign == '_' && has_one &&
           isalnum((unsigned char)sign[1 + size]))
        size++;
    return size;
}

/* An index lowers the line for all that comes behind it; so that goes into
 * a part of its own, which is raised. */
static void say(const char *words)
{
    for (const char *c = words; *c; c++) {
        const int size = pen.is_drawing ? index_size(words, c) : 0;
        if (size > 0) {
            pen_svg("<tspan class=\"index\" dy=\"4\">%.*s</tspan>", size,
                    c + 1);
            pen_svg("<tspan dy=\"-4\">");
            say(c + 1 + size);
            pen_svg("</tspan>");
            return;
        }
        if (*c == '<')
            pen_svg("&lt;");
        else if (*c == '&')
            pen_svg("&amp;");
        else
            pen_svg("%c", *c);
    }
}

void pen_say(const char *format, ...)
{
    char words[1000];
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(words, sizeof words, format, values);
    va_end(values);
    errno = EMSGSIZE;
    check_written(!pen.file || size < (int)sizeof words);
    say(words);
}

/* No sign before what rounds to 0, nor before nan. */
static char digits[60];
const char *pen_number(int decimals, double value)
{
    snprintf(digits, sizeof digits, "%.*f", decimals, value);
    return digits + (*digits == '-' && !(fabs(strtod(digits, NULL)) > 0));
}

const char *pen_short(double value)
{
    const char *number = pen_number(4, value);
    char *end = digits + strlen(digits);
    while (strchr(number, '.') && (end[-1] == '0' || end[-1] == '.'))
        *--end = '\0';
    return number;
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

/* 8 pixels a letter are ample, and 12 for the widest. A letter may have
 * several bytes: those after its first begin with the bits 10. */
double pen_room(int n, const char *const word[n])
{
    double widest = 0;
    for (int i = 0; i < n; i++) {
        double wide = 0;
        for (const char *c = word[i]; *c; c++)
            wide += strchr("mwMW", *c) ? 12 : (*c & 0xc0) != 0x80 ? 8 : 0;
        widest = fmax(widest, wide);
    }
    return widest;
}

Range pen_range(int n, const float x[n])
{
    Range range = {0, 0};
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        range.low = fmin(range.low, (double)x[i]);
        range.high = fmax(range.high, (double)x[i]);
    }
    return range;
}

double pen_largest(int n, const float x[n])
{
    const Range range = pen_range(n, x);
    return fmax(-range.low, range.high);
}
