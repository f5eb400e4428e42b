#include "pen.h"

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
    ".figure .small{font-size:12px}.figure .tiny{font-size:11px}"
    ".figure .strong{font-weight:600}\n"
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
void pen_words(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc(*text, file);
}

int pen_wanted(void)
{
    const char *folder = getenv("FIGURES");
    return folder && *folder;
}

void pen_begin(Picture *p, const char *name, const char *title,
               double width, double height)
{
    const char *folder = getenv("FIGURES");
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
    pen_words(p->file, title);
    fprintf(p->file, "</title>\n<desc id=\"%s-desc\">", name);
}

void pen_draw(Picture *p)
{
    fprintf(p->file, "</desc>\n%s", style);
}

void pen_end(Picture *p)
{
    errno = 0;
    fputs("</svg>\n", p->file);
    int failed = fflush(p->file) || ferror(p->file), why = errno;
    if (fclose(p->file) && !failed)
        failed = 1, why = errno;
    if (!failed && rename(p->part, p->path) == 0)
        return;
    if (!failed)
        why = errno;
    remove(p->part);
    REFUSE("figure %s cannot be written: %s", p->path,
           why ? strerror(why) : "the device reports an error");
}

void pen_text(Picture *p, double x, double y, const char *class,
              const char *words)
{
    fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y,
            class);
    pen_words(p->file, words);
    fputs("</text>\n", p->file);
}

void pen_number(Picture *p, double x, double y, const char *class,
                double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, isnan(value) ? "nan" : "%.4f", value);
    pen_text(p, x, y, class, strcmp(digits, "-0.0000") ? digits : "0.0000");
}

void pen_box(Picture *p, double x, double y, double width, double height,
             int colour, double opacity)
{
    fprintf(p->file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"c%d\" fill-opacity=\"%.2f\"/>\n",
            x, y, width, height, colour, opacity);
}

void pen_frame(Picture *p, double x, double y, double width, double height)
{
    fprintf(p->file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "class=\"rule\"/>\n",
            x + 0.5, y + 0.5, width, height);
}

void pen_line(Picture *p, double x1, double y1, double x2, double y2,
              const char *class, double width)
{
    fprintf(p->file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
            "class=\"%s\" stroke-width=\"%.1f\"/>\n",
            x1, y1, x2, y2, class, width);
}

double pen_room(int n, const char *const word[n])
{
    int longest = 0;
    for (int i = 0; i < n; i++) {
        int letters = 0;
        for (const char *c = word[i]; *c; c++)
            letters += (*c & 0xc0) != 0x80;
        if (letters > longest)
            longest = letters;
    }
    return 8.0 * longest;
}

void pen_must_be_finite(const char *name, int n, const float x[n])
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            REFUSE(
                "figure '%s' has an entry %g: only finite numbers can be "
                "drawn",
                name, (double)x[i]);
}

void pen_must_have_colours(const char *name, int n, const char *what)
{
    if (n > COLOURS)
        REFUSE("figure '%s' has %d %s: colours for %d exist", name, n, what,
               COLOURS);
}

void pen_describe(Picture *p, const char *row, int m,
                  const char *const column[m], const float x[m])
{
    pen_words(p->file, row);
    for (int j = 0; j < m; j++) {
        fputs(j ? ", " : ": ", p->file);
        pen_words(p->file, column[j]);
        fprintf(p->file, " %.4f", (double)x[j]);
    }
    fputs(". ", p->file);
}
