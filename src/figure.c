#include <errno.h>

#include "attention.h"

/* Pictures are drawn in pixels of a page some 600 wide. A style sheet in each
 * gives it colours for light and dark pages; the same names stand in every
 * picture, so that several can share a page. */
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
    ".figure .small{font-size:12px}.figure .strong{font-weight:600}\n"
    ".figure .end{text-anchor:end}.figure .middle{text-anchor:middle}\n"
    ".figure .rule{stroke:var(--rule);fill:none}\n"
    ".figure .dash{stroke:var(--muted);stroke-dasharray:4 4}\n"
    ".figure .c0{fill:var(--c0)}.figure .c1{fill:var(--c1)}"
    ".figure .c2{fill:var(--c2)}.figure .c3{fill:var(--c3)}"
    ".figure .c4{fill:var(--c4)}.figure .c5{fill:var(--c5)}\n"
    ".figure .s0{stroke:var(--c0)}.figure .s1{stroke:var(--c1)}"
    ".figure .s2{stroke:var(--c2)}.figure .s3{stroke:var(--c3)}"
    ".figure .s4{stroke:var(--c4)}.figure .s5{stroke:var(--c5)}\n"
    "</style>\n";
enum { COLOURS = 6 };

/* A picture being written: to a file of its own that takes the final name
 * when it is whole, so that half a picture never has a picture's name. */
typedef struct {
    FILE *file;
    char path[600], part[610];
} Picture;

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc(*text, file);
}

/* Is a picture wanted? Then opens it and writes all that pictures share,
 * up to the beginning of its description in words. */
static int begin(Picture *p, const char *name, const char *title,
                 double width, double height)
{
    const char *folder = getenv("FIGURES");
    if (!folder || !*folder)
        return 0;
    int size = snprintf(p->path, sizeof p->path, "%s/%s.svg", folder, name);
    if (size < 0 || size >= (int)sizeof p->path)
        REFUSE("FIGURES and figure '%s' make a path of %d characters: at "
               "most %zu fit",
               name, size, sizeof p->path - 1);
    snprintf(p->part, sizeof p->part, "%s.part", p->path);
    p->file = fopen(p->part, "w");
    if (!p->file)
        REFUSE("figure %s cannot be written: %s", p->part, strerror(errno));
    fprintf(p->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" "
            "role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" aria-labelledby=\"%s-title %s-desc\">\n"
            "<title id=\"%s-title\">",
            width, height, width, height, name, name, name);
    put_text(p->file, title);
    fprintf(p->file, "</title>\n<desc id=\"%s-desc\">", name);
    return 1;
}

/* Ends the description; the drawing follows. */
static void draw(Picture *p)
{
    fprintf(p->file, "</desc>\n%s", style);
}

static void end(Picture *p)
{
    fputs("</svg>\n", p->file);
    int failed = ferror(p->file);
    failed |= fclose(p->file);
    if (!failed && rename(p->part, p->path) == 0)
        return;
    const char *why = strerror(errno);
    remove(p->part);
    REFUSE("figure %s cannot be written: %s", p->path, why);
}

static void text(Picture *p, double x, double y, const char *class,
                 const char *words)
{
    fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y,
            class);
    put_text(p->file, words);
    fputs("</text>\n", p->file);
}

static void number(Picture *p, double x, double y, const char *class,
                   double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.4f", value);
    text(p, x, y, class, strcmp(digits, "-0.0000") ? digits : "0.0000");
}

static void box(Picture *p, double x, double y, double width, double height,
                int colour, double opacity)
{
    fprintf(p->file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"c%d\" fill-opacity=\"%.2f\"/>\n",
            x, y, width, height, colour, opacity);
}

static void line(Picture *p, double x1, double y1, double x2, double y2,
                 const char *class, double width)
{
    fprintf(p->file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
            "class=\"%s\" stroke-width=\"%.1f\"/>\n",
            x1, y1, x2, y2, class, width);
}

/* Room for the longest of n words, in pixels: 8 a letter is ample. */
static double room(int n, const char *const word[n])
{
    size_t longest = 0;
    for (int i = 0; i < n; i++)
        if (strlen(word[i]) > longest)
            longest = strlen(word[i]);
    return 8.0 * (double)longest;
}

static void must_be_finite(const char *name, int n, const float x[n])
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            REFUSE(
                "figure '%s' has an entry %g: only finite numbers can be "
                "drawn",
                name, (double)x[i]);
}

static void must_have_colours(const char *name, int n)
{
    if (n > COLOURS)
        REFUSE("figure '%s' has %d words: colours for %d exist", name, n,
               COLOURS);
}

static float largest_size(int n, int m, const float x[n][m])
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            largest = fmaxf(largest, fabsf(x[i][j]));
    return largest;
}

/* One row of a table in words: "shiny: Hello 0.7842, shiny 1.3569. " */
static void describe_row(Picture *p, const char *row, int m,
                         const char *const column[m], const float x[m])
{
    put_text(p->file, row);
    for (int j = 0; j < m; j++) {
        fputs(j ? ", " : ": ", p->file);
        put_text(p->file, column[j]);
        fprintf(p->file, " %.4f", (double)x[j]);
    }
    fputs(". ", p->file);
}

void heatmap(const char *name, const char *title, int n,
             const char *const row[n], int m, const char *const column[m],
             const float x[n][m])
{
    enum { WIDTH = 76, HEIGHT = 38, GAP = 2, TOP = 30 };
    const double left = room(n, row) + 12;
    for (int i = 0; i < n; i++)
        must_be_finite(name, m, x[i]);
    Picture p;
    if (!begin(&p, name, title, left + m * WIDTH, TOP + n * HEIGHT))
        return;
    for (int i = 0; i < n; i++)
        describe_row(&p, row[i], m, column, x[i]);
    draw(&p);
    const float largest = largest_size(n, m, x);
    for (int j = 0; j < m; j++)
        text(&p, left + (j + 0.5) * WIDTH, TOP - 10, "middle", column[j]);
    for (int i = 0; i < n; i++) {
        const double y = TOP + i * HEIGHT;
        text(&p, left - 10, y + HEIGHT * 0.5 + 5, "end", row[i]);
        for (int j = 0; j < m; j++) {
            /* At most 0.55, so that ink stays readable on every cell. */
            float shade = largest > 0 ? fabsf(x[i][j]) / largest : 0;
            box(&p, left + j * WIDTH, y, WIDTH - GAP, HEIGHT - GAP,
                x[i][j] < 0, 0.04 + 0.51 * (double)shade);
            number(&p, left + (j + 0.5) * WIDTH - 1, y + HEIGHT * 0.5 + 4,
                   "middle", (double)x[i][j]);
        }
    }
    end(&p);
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
    const double unit = high > low ? HEIGHT / (double)(high - low) : 0;
    const double zero = TOP + (double)high * unit;
    for (int i = 0; i < n; i++) {
        const double size = fabs((double)x[i]) * unit;
        const double middle = left + (i + 0.5) * bar;
        const int up = x[i] >= 0;
        box(p, middle - bar * 0.36, up ? zero - size : zero, bar * 0.72,
            size, up ? 0 : 1, 0.7);
        number(p, middle, up ? zero - size - 6 : zero + size + 15,
               "middle small", (double)x[i]);
        text(p, middle, TOP + HEIGHT + 22, "middle", word[i]);
    }
    line(p, left, zero, left + n * bar, zero, "rule", 1.5);
}

void bars(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const word[n],
          const float x[panels][n])
{
    enum { GAP = 24 };
    const double bar = fmax(56, room(n, word) / n + 8);
    const double wide = n * bar;
    for (int k = 0; k < panels; k++)
        must_be_finite(name, n, x[k]);
    Picture p;
    if (!begin(&p, name, title, panels * (wide + GAP) - GAP, 256))
        return;
    for (int k = 0; k < panels; k++)
        describe_row(&p, panel[k], n, word, x[k]);
    draw(&p);
    for (int k = 0; k < panels; k++) {
        const double left = k * (wide + GAP);
        text(&p, left + wide * 0.5, 16, "middle strong", panel[k]);
        panel_of_bars(&p, left, bar, n, word, x[k]);
    }
    end(&p);
}

/* The colours of the words, named above the stacks. */
static void legend(Picture *p, int n, const char *const word[n])
{
    double x = 76;
    for (int i = 0; i < n; i++) {
        box(p, x, 4, 14, 14, i, 0.55);
        text(p, x + 20, 16, "", word[i]);
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
    text(p, STACK_LEFT - 12, y + STACK_HIGH * 0.65, "end muted", entry);
    for (int i = 0; i < n; i++) {
        const double wide = unit * (double)part[i][k];
        box(p, x, y, wide, STACK_HIGH, i, 0.55);
        /* A number that is wider than its part stands above it. */
        number(p, x + wide * 0.5, wide < 44 ? y - 4 : y + STACK_HIGH * 0.65,
               "middle small", (double)part[i][k]);
        x += wide;
        sum += (double)part[i][k];
    }
    number(p, x + 10, y + STACK_HIGH * 0.65, "strong", sum);
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
    enum { STEP = 54, TOP = 44 };
    must_have_colours(name, n);
    const float largest = largest_sum(name, n, d, part);
    Picture p;
    if (!begin(&p, name, title, STACK_LEFT + STACK_WIDE + 90,
               TOP + d * STEP))
        return;
    for (int k = 0; k < d; k++) {
        fprintf(p.file, "Entry %d is the sum of", k);
        for (int i = 0; i < n; i++) {
            fprintf(p.file, "%s %.4f from ", i ? "," : "",
                    (double)part[i][k]);
            put_text(p.file, word[i]);
        }
        fputs(". ", p.file);
    }
    draw(&p);
    legend(&p, n, word);
    const double unit = largest > 0 ? STACK_WIDE / (double)largest : 0;
    for (int k = 0; k < d; k++)
        stack(&p, TOP + k * STEP, unit, n, d, k, part);
    end(&p);
}

/* The support library stands below the chapters and uses none of them, so
 * that a figure can be drawn while a chapter is still being written. */
static double product(const float a[2], const float b[2])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1];
}

/* Where the plane lies in the picture: x to the right, y upwards. */
typedef struct {
    double left, top, unit, low_x, high_y;
} Plane;

static double at_x(const Plane *plane, double x)
{
    return plane->left + (x - plane->low_x) * plane->unit;
}

static double at_y(const Plane *plane, double y)
{
    return plane->top + (plane->high_y - y) * plane->unit;
}

/* A line with a head from the origin to (x, y). */
static void arrow(Picture *p, const Plane *plane, double x, double y,
                  int colour)
{
    char stroke[] = "s0";
    stroke[1] = (char)('0' + colour);
    const double x0 = at_x(plane, 0), y0 = at_y(plane, 0);
    const double x1 = at_x(plane, x), y1 = at_y(plane, y);
    const double size = hypot(x1 - x0, y1 - y0);
    if (size == 0)
        return; /* an arrow without a direction has no head */
    const double ux = (x1 - x0) / size, uy = (y1 - y0) / size;
    line(p, x0, y0, x1 - 10 * ux, y1 - 10 * uy, stroke, 2.5);
    fprintf(p->file,
            "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" "
            "class=\"c%d\"/>\n",
            x1, y1, x1 - 13 * ux + 5 * uy, y1 - 13 * uy - 5 * ux,
            x1 - 13 * ux - 5 * uy, y1 - 13 * uy + 5 * ux, colour);
}

/* The shadow of an arrow on the line of the first. */
static void shadow(Picture *p, const Plane *plane, const float first[2],
                   const float x[2], int colour)
{
    char stroke[] = "s0";
    stroke[1] = (char)('0' + colour);
    const double share = product(x, first) / product(first, first);
    const double sx = share * (double)first[0];
    const double sy = share * (double)first[1];
    line(p, at_x(plane, (double)x[0]), at_y(plane, (double)x[1]),
         at_x(plane, sx), at_y(plane, sy), "dash", 1.5);
    fputs("<g stroke-opacity=\"0.45\" stroke-linecap=\"round\">", p->file);
    line(p, at_x(plane, 0), at_y(plane, 0), at_x(plane, sx),
         at_y(plane, sy), stroke, 9);
    fputs("</g>\n", p->file);
}

/* A plane that holds the origin and all n points. */
static Plane plane_around(int n, const float x[n][2])
{
    enum { WIDE = 400, HIGH = 230 };
    float low[2] = {0, 0}, high[2] = {0, 0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], x[i][k]);
            high[k] = fmaxf(high[k], x[i][k]);
        }
    const double unit = fmin(WIDE / (double)(high[0] - low[0]),
                             HIGH / (double)(high[1] - low[1]));
    const double spare = WIDE - unit * (double)(high[0] - low[0]);
    return (Plane){100 + spare * 0.5, 36, unit, (double)low[0],
                   (double)high[1]};
}

void arrows(const char *name, const char *title, int n,
            const char *const word[n], const float x[n][2])
{
    must_have_colours(name, n);
    for (int i = 0; i < n; i++)
        must_be_finite(name, 2, x[i]);
    if (!(product(x[0], x[0]) > 0))
        REFUSE("figure '%s' begins with an arrow of length 0: shadows need "
               "a direction to fall on",
               name);
    Picture p;
    if (!begin(&p, name, title, 600, 300))
        return;
    for (int i = 0; i < n; i++) {
        put_text(p.file, word[i]);
        fprintf(p.file, " (%.4f, %.4f)", (double)x[i][0], (double)x[i][1]);
        if (i > 0)
            fprintf(p.file, ", with the first %.4f", product(x[i], x[0]));
        fputs(". ", p.file);
    }
    draw(&p);
    const Plane plane = plane_around(n, x);
    line(&p, 20, at_y(&plane, 0), 580, at_y(&plane, 0), "rule", 1);
    line(&p, at_x(&plane, 0), 8, at_x(&plane, 0), 292, "rule", 1);
    for (int i = 1; i < n; i++)
        shadow(&p, &plane, x[0], x[i], i);
    for (int i = 0; i < n; i++) {
        char words[200];
        arrow(&p, &plane, (double)x[i][0], (double)x[i][1], i);
        snprintf(words, sizeof words, i ? "%s: %.4f" : "%s", word[i],
                 product(x[i], x[0]));
        text(&p, at_x(&plane, (double)x[i][0]),
             at_y(&plane, (double)x[i][1]) + (x[i][1] < 0 ? 20 : -10),
             x[i][0] < 0 ? "middle" : "", words);
    }
    end(&p);
}

/* The stages of attention. Words and shapes are ready for SVG. */
static const struct {
    const char *name, *words, *shape;
} stage[] = {
    {"words", "words", "n"},
    {"vectors", "vectors", "n × d"},
    {"roles", "query, key, value",
     "n × d<tspan dy=\"3\" font-size=\"9\">k</tspan>"},
    {"scores", "scores", "n × m"},
    {"scale", "scaled", "n × m"},
    {"mask", "masked", "n × m"},
    {"weights", "weights", "n × m"},
    {"dropout", "dropped out", "n × m"},
    {"context", "context",
     "n × d<tspan dy=\"3\" font-size=\"9\">v</tspan>"},
    {"heads", "heads joined",
     "n × d<tspan dy=\"3\" font-size=\"9\">out</tspan>"},
};
enum { STAGES = sizeof stage / sizeof stage[0], STAGES_A_ROW = 5 };

/* Is the word one of those in the list, which blanks separate? */
static int is_listed(const char *word, const char *list)
{
    const size_t size = strlen(word);
    for (; *list; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == size && !strncmp(list, word, size))
            return 1;
    return 0;
}

static void must_be_stages(const char *lit)
{
    int known = 0, words = 0;
    char all[200] = "";
    for (int i = 0; i < STAGES; i++) {
        known += is_listed(stage[i].name, lit);
        strcat(strcat(all, " "), stage[i].name);
    }
    for (const char *c = lit; *c; c++)
        words += *c != ' ' && (c == lit || c[-1] == ' ');
    if (words == 0 || words != known)
        REFUSE("stages '%s': each once, one or more of%s are needed", lit,
               all);
}

void pipeline(const char *name, const char *lit)
{
    enum { LEFT = 15, WIDE = 108, HIGH = 44, STEP_X = 123, STEP_Y = 62 };
    must_be_stages(lit);
    Picture p;
    if (!begin(&p, name, "Where we are on the way from words to attention",
               LEFT + STAGES_A_ROW * STEP_X, STEP_Y + HIGH))
        return;
    fputs("In order: ", p.file);
    for (int i = 0; i < STAGES; i++)
        fprintf(p.file, "%s%s%s", i ? ", then " : "", stage[i].words,
                is_listed(stage[i].name, lit) ? " (this chapter)" : "");
    draw(&p);
    for (int i = 0; i < STAGES; i++) {
        const double x = LEFT + i % STAGES_A_ROW * STEP_X;
        const double y = i / STAGES_A_ROW * STEP_Y;
        const int is_lit = is_listed(stage[i].name, lit);
        if (is_lit)
            box(&p, x, y, WIDE, HIGH, 0, 0.3);
        fprintf(p.file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                "class=\"rule\"/>\n",
                x + 0.5, y + 0.5, WIDE - 1, HIGH - 1);
        text(&p, x + WIDE * 0.5, y + 18,
             is_lit ? "middle small strong" : "middle small muted",
             stage[i].words);
        fprintf(p.file,
                "<text x=\"%.1f\" y=\"%.1f\" class=\"middle small muted\">"
                "%s</text>\n",
                x + WIDE * 0.5, y + 34, stage[i].shape);
        if (i > 0)
            text(&p, x - 7.5, y + 26, "middle muted", "›");
    }
    end(&p);
}

/* How many of the ids are smaller, counting each once: the place of a row
 * among those that are picked. */
static int place_of(int n, const int ids[n], int id)
{
    int place = 0;
    for (int i = 0; i < n; i++) {
        int is_new = ids[i] < id;
        for (int k = 0; k < i; k++)
            is_new &= ids[k] != ids[i];
        place += is_new;
    }
    return place;
}

void lookup(const char *name, const char *title, int n,
            const char *const word[n], const int ids[n], int rows, int d,
            const float x[n][d])
{
    enum { HIGH = 30, STEP = 36, WIDE = 76, GAP = 120 };
    const double left = room(n, word) + 34, table = left + GAP + 60;
    for (int i = 0; i < n; i++)
        must_be_finite(name, d, x[i]);
    Picture p;
    if (!begin(&p, name, title, table + d * WIDE + 2, (n + 1) * STEP))
        return;
    for (int i = 0; i < n; i++) {
        put_text(p.file, word[i]);
        fprintf(p.file, " picks row %d: ", ids[i]);
        for (int k = 0; k < d; k++)
            fprintf(p.file, "%.4f%s", (double)x[i][k],
                    k + 1 < d ? ", " : ". ");
    }
    draw(&p);
    for (int i = 0; i < n; i++) {
        char row[40];
        const double from = i * STEP + HIGH * 0.5;
        const int place = place_of(n, ids, ids[i]);
        const double to = place * STEP + HIGH * 0.5;
        text(&p, left - 30, from + 5, "end", word[i]);
        line(&p, left - 20, from, table - 60, to, "rule", 1.5);
        snprintf(row, sizeof row, "row %d", ids[i]);
        text(&p, table - 8, to + 5, "end muted small", row);
        for (int k = 0; k < d; k++) {
            box(&p, table + k * WIDE, place * STEP, WIDE - 2, HIGH, 0, 0.3);
            number(&p, table + (k + 0.5) * WIDE - 1, to + 5, "middle small",
                   (double)x[i][k]);
        }
    }
    char more[60];
    snprintf(more, sizeof more, "and %d other rows",
             rows - place_of(n, ids, rows));
    text(&p, table, n * STEP + 20, "muted small", more);
    end(&p);
}

enum { CELL_WIDE = 38, CELL_HIGH = 30, SHEET_WIDE = 600, SHEET_GAP = 26 };

static double table_width(const Table *table)
{
    return fmax(table->m * CELL_WIDE, room(1, &table->label));
}

/* One table with its label above; the entries are left out where a reader is
 * to write them. */
static void draw_table(Picture *p, const Table *table, double left,
                       double top, int filled)
{
    text(p, left, top + 14, "strong", table->label);
    for (int i = 0; i < table->n; i++)
        for (int j = 0; j < table->m; j++) {
            const double x = left + j * CELL_WIDE;
            const double y = top + 24 + i * CELL_HIGH;
            char digits[40];
            fprintf(
                p->file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                "class=\"rule\"/>\n",
                x + 0.5, y + 0.5, CELL_WIDE, CELL_HIGH);
            snprintf(digits, sizeof digits, "%g",
                     (double)table->x[i * table->m + j]);
            if (filled)
                text(p, x + CELL_WIDE * 0.5, y + CELL_HIGH * 0.5 + 5,
                     "middle", digits);
        }
}

/* Places the tables in rows, as words are placed in lines. Draws nothing
 * without a picture; returns the height that they need. */
static double place_tables(Picture *p, int count, const Table table[count],
                           int filled)
{
    double left = 1, top = 0, high = 0;
    for (int k = 0; k < count; k++) {
        if (left > 1 && left + table_width(&table[k]) > SHEET_WIDE) {
            left = 1;
            top += high + SHEET_GAP;
            high = 0;
        }
        if (p)
            draw_table(p, &table[k], left, top, k < filled);
        left += table_width(&table[k]) + SHEET_GAP;
        high = fmax(high, 24 + table[k].n * CELL_HIGH);
    }
    return top + high + 2;
}

void worksheet(const char *name, const char *title, int count,
               const Table table[count], int filled)
{
    Picture p;
    if (!begin(&p, name, title, SHEET_WIDE,
               place_tables(NULL, count, table, filled)))
        return;
    for (int k = 0; k < count; k++) {
        put_text(p.file, table[k].label);
        fprintf(p.file, ", %d rows of %d, %s. ", table[k].n, table[k].m,
                k < filled ? "given" : "empty");
    }
    draw(&p);
    place_tables(&p, count, table, filled);
    end(&p);
}

void bits(const char *name, const char *title, uint32_t x, int kept)
{
    enum { BIT = 18, BITS = 32 };
    if (kept < 1 || kept > BITS)
        REFUSE("figure '%s' keeps %d bits: from 1 to %d can be kept", name,
               kept, BITS);
    const uint64_t whole = UINT64_C(1) << kept, part = x & (whole - 1);
    char words[120];
    snprintf(words, sizeof words, "%" PRIu64 " of %" PRIu64 ": %.4f", part,
             whole, (double)part / (double)whole);
    Picture p;
    if (!begin(&p, name, title, BITS * BIT + 2, 60))
        return;
    fprintf(p.file, "The number %" PRIu32 " in binary: ", x);
    for (int i = BITS - 1; i >= 0; i--)
        fprintf(p.file, "%d", (int)(x >> i & 1));
    fprintf(p.file, ". The lower %d bits are kept: %s.", kept, words);
    draw(&p);
    for (int i = 0; i < BITS; i++) {
        const int bit = BITS - 1 - i;
        const double left = 1 + i * BIT;
        if (bit < kept)
            box(&p, left, 4, BIT - 2, 26, 0, 0.3);
        text(&p, left + (BIT - 2) * 0.5, 22,
             bit < kept ? "middle small" : "middle small muted",
             x >> bit & 1 ? "1" : "0");
    }
    text(&p, BITS * BIT, 52, "end", words);
    end(&p);
}
