#include "pen.h"

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
    pen_line(p, x0, y0, x1 - 10 * ux, y1 - 10 * uy, stroke, 2.5);
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
    pen_line(p, at_x(plane, (double)x[0]), at_y(plane, (double)x[1]),
             at_x(plane, sx), at_y(plane, sy), "dash", 1.5);
    fputs("<g stroke-opacity=\"0.45\" stroke-linecap=\"round\">", p->file);
    pen_line(p, at_x(plane, 0), at_y(plane, 0), at_x(plane, sx),
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
    const double unit = fmin(WIDE / ((double)high[0] - (double)low[0]),
                             HIGH / ((double)high[1] - (double)low[1]));
    const double spare = WIDE - unit * ((double)high[0] - (double)low[0]);
    return (Plane){100 + spare * 0.5, 36, unit, (double)low[0],
                   (double)high[1]};
}

void arrows(const char *name, const char *title, int n,
            const char *const word[n], const float x[n][2])
{
    if (!pen_wanted())
        return;
    pen_must_have_colours(name, n, "arrows");
    for (int i = 0; i < n; i++)
        pen_must_be_finite(name, 2, x[i]);
    if (!(product(x[0], x[0]) > 0))
        REFUSE("figure '%s' begins with an arrow of length 0: shadows need "
               "a direction to fall on",
               name);
    Picture p;
    pen_begin(&p, name, title, 600, 300);
    for (int i = 0; i < n; i++) {
        pen_words(p.file, word[i]);
        fprintf(p.file, " (%.4f, %.4f)", (double)x[i][0], (double)x[i][1]);
        if (i > 0)
            fprintf(p.file, ", with the first %.4f", product(x[i], x[0]));
        fputs(". ", p.file);
    }
    pen_draw(&p);
    const Plane plane = plane_around(n, x);
    pen_line(&p, 20, at_y(&plane, 0), 580, at_y(&plane, 0), "rule", 1);
    pen_line(&p, at_x(&plane, 0), 8, at_x(&plane, 0), 292, "rule", 1);
    for (int i = 1; i < n; i++)
        shadow(&p, &plane, x[0], x[i], i);
    for (int i = 0; i < n; i++) {
        char words[200];
        arrow(&p, &plane, (double)x[i][0], (double)x[i][1], i);
        snprintf(words, sizeof words, i ? "%s: %.4f" : "%s", word[i],
                 product(x[i], x[0]));
        pen_text(&p, at_x(&plane, (double)x[i][0]),
                 at_y(&plane, (double)x[i][1]) + (x[i][1] < 0 ? 20 : -10),
                 x[i][0] < 0 ? "middle" : "", words);
    }
    pen_end(&p);
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
    if (!pen_wanted())
        return;
    enum { LEFT = 15, WIDE = 108, HIGH = 44, STEP_X = 123, STEP_Y = 62 };
    must_be_stages(lit);
    Picture p;
    pen_begin(&p, name, "Where we are on the way from words to attention",
              LEFT + STAGES_A_ROW * STEP_X, STEP_Y + HIGH);
    fputs("In order: ", p.file);
    for (int i = 0; i < STAGES; i++)
        fprintf(p.file, "%s%s%s", i ? ", then " : "", stage[i].words,
                is_listed(stage[i].name, lit) ? " (this chapter)" : "");
    pen_draw(&p);
    for (int i = 0; i < STAGES; i++) {
        const double x = LEFT + i % STAGES_A_ROW * STEP_X;
        const double y = i / STAGES_A_ROW * STEP_Y;
        const int is_lit = is_listed(stage[i].name, lit);
        if (is_lit)
            pen_box(&p, x, y, WIDE, HIGH, 0, 0.3);
        pen_frame(&p, x, y, WIDE - 1, HIGH - 1);
        const int is_long = strlen(stage[i].words) > 14;
        char class[40];
        snprintf(class, sizeof class, "middle %s %s",
                 is_long ? "tiny" : "small", is_lit ? "strong" : "muted");
        pen_text(&p, x + WIDE * 0.5, y + 18, class, stage[i].words);
        fprintf(p.file,
                "<text x=\"%.1f\" y=\"%.1f\" class=\"middle small muted\">"
                "%s</text>\n",
                x + WIDE * 0.5, y + 34, stage[i].shape);
        if (i > 0)
            pen_text(&p, x - 7.5, y + 26, "middle muted", "›");
    }
    pen_end(&p);
}

/* Is this the first place at which the id stands? */
static int is_first(const int ids[], int i)
{
    for (int k = 0; k < i; k++)
        if (ids[k] == ids[i])
            return 0;
    return 1;
}

/* How many of the ids are smaller, counting each once: the place of a row
 * among those that are picked. */
static int place_of(int n, const int ids[n], int id)
{
    int place = 0;
    for (int i = 0; i < n; i++)
        place += ids[i] < id && is_first(ids, i);
    return place;
}

void lookup(const char *name, const char *title, int n,
            const char *const word[n], const int ids[n], int rows, int d,
            const float x[n][d])
{
    if (!pen_wanted())
        return;
    enum { HIGH = 30, STEP = 36, WIDE = 76, GAP = 120 };
    const double left = pen_room(n, word) + 34, table = left + GAP + 60;
    for (int i = 0; i < n; i++) {
        pen_must_be_finite(name, d, x[i]);
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE("figure '%s' has the id %d: from 0 to %d is needed",
                   name, ids[i], rows - 1);
    }
    Picture p;
    pen_begin(&p, name, title, table + d * WIDE + 2, (n + 1) * STEP);
    for (int i = 0; i < n; i++) {
        pen_words(p.file, word[i]);
        fprintf(p.file, " picks row %d: ", ids[i]);
        for (int k = 0; k < d; k++)
            fprintf(p.file, "%.4f%s", (double)x[i][k],
                    k + 1 < d ? ", " : ". ");
    }
    pen_draw(&p);
    for (int i = 0; i < n; i++) {
        const double from = i * STEP + HIGH * 0.5;
        const int place = place_of(n, ids, ids[i]);
        const double to = place * STEP + HIGH * 0.5;
        pen_text(&p, left - 30, from + 5, "end", word[i]);
        pen_line(&p, left - 20, from, table - 60, to, "rule", 1.5);
        if (!is_first(ids, i))
            continue; /* its row is there already */
        char row[40];
        snprintf(row, sizeof row, "row %d", ids[i]);
        pen_text(&p, table - 8, to + 5, "end muted small", row);
        for (int k = 0; k < d; k++) {
            pen_box(&p, table + k * WIDE, place * STEP, WIDE - 2, HIGH, 0,
                    0.3);
            pen_number(&p, table + (k + 0.5) * WIDE - 1, to + 5,
                       "middle small", (double)x[i][k]);
        }
    }
    const int picked = place_of(n, ids, rows), more = rows - picked;
    char words[60];
    snprintf(words, sizeof words, "and %d other row%s", more,
             more == 1 ? "" : "s");
    if (more > 0)
        pen_text(&p, table, picked * STEP + 20, "muted small", words);
    pen_end(&p);
}

enum { CELL_WIDE = 38, CELL_HIGH = 30, SHEET_WIDE = 600, SHEET_GAP = 26 };

static double table_width(const Table *table)
{
    return fmax(table->m * CELL_WIDE, pen_room(1, &table->label));
}

/* One table with its label above; the entries are left out where a reader is
 * to write them. */
static void draw_table(Picture *p, const Table *table, double left,
                       double top, int filled)
{
    pen_text(p, left, top + 14, "strong", table->label);
    for (int i = 0; i < table->n; i++)
        for (int j = 0; j < table->m; j++) {
            const double x = left + j * CELL_WIDE;
            const double y = top + 24 + i * CELL_HIGH;
            char digits[40];
            pen_frame(p, x, y, CELL_WIDE, CELL_HIGH);
            snprintf(digits, sizeof digits, "%g",
                     (double)table->x[i * table->m + j]);
            if (filled)
                pen_text(p, x + CELL_WIDE * 0.5, y + CELL_HIGH * 0.5 + 5,
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
    if (!pen_wanted())
        return;
    Picture p;
    pen_begin(&p, name, title, SHEET_WIDE,
              place_tables(NULL, count, table, filled));
    for (int k = 0; k < count; k++) {
        pen_words(p.file, table[k].label);
        fprintf(p.file, ", %d rows of %d, %s. ", table[k].n, table[k].m,
                k < filled ? "given" : "empty");
    }
    pen_draw(&p);
    place_tables(&p, count, table, filled);
    pen_end(&p);
}

void bits(const char *name, const char *title, uint32_t x, int kept)
{
    if (!pen_wanted())
        return;
    enum { BIT = 18, BITS = 32 };
    if (kept < 1 || kept > BITS)
        REFUSE("figure '%s' keeps %d bits: from 1 to %d can be kept", name,
               kept, BITS);
    const uint64_t whole = UINT64_C(1) << kept, part = x & (whole - 1);
    char words[120];
    snprintf(words, sizeof words, "%" PRIu64 " of %" PRIu64 ": %.4f", part,
             whole, (double)part / (double)whole);
    Picture p;
    pen_begin(&p, name, title, BITS * BIT + 2, 60);
    fprintf(p.file, "The number %" PRIu32 " in binary: ", x);
    for (int i = BITS - 1; i >= 0; i--)
        fprintf(p.file, "%d", (int)(x >> i & 1));
    fprintf(p.file, ". The lower %d bits are kept: %s.", kept, words);
    pen_draw(&p);
    for (int i = 0; i < BITS; i++) {
        const int bit = BITS - 1 - i;
        const double left = 1 + i * BIT;
        if (bit < kept)
            pen_box(&p, left, 4, BIT - 2, 26, 0, 0.3);
        pen_text(&p, left + (BIT - 2) * 0.5, 22,
                 bit < kept ? "middle small" : "middle small muted",
                 x >> bit & 1 ? "1" : "0");
    }
    pen_text(&p, BITS * BIT, 52, "end", words);
    pen_end(&p);
}

/* How blocks are sized: as they are, so many pixels a row or column, while
 * all are small; by the roots of their sizes where one is large. */
typedef struct {
    double unit;
    int by_root;
} Scale;

enum {
    CELLS = 12,
    SHEET = 600,
    SIGN = 34,
    LINE = 52,
    MARGIN = 6,
    SMALLEST = 4 /* pixels for a row; wider sheets scroll */
};

static double drawn(const Scale *s, int size)
{
    return s->unit * (s->by_root ? sqrt(size) : size);
}

/* A block with its label above it and its shape below needs this width. */
static double block_width(const Scale *s, const Block *block)
{
    char shape[40];
    snprintf(shape, sizeof shape, "%d x %d", block->n, block->m);
    const char *const words[2] = {block->label, shape};
    return fmax(drawn(s, block->m), pen_room(2, words) * 0.95);
}

static void must_be_blocks(const char *name, int count,
                           const Block block[count])
{
    for (int k = 0; k < count; k++) {
        const Block *b = &block[k];
        if (b->n < 1 || b->m < 1 || b->parts < 1 || b->m % b->parts)
            REFUSE("figure '%s' has a block of %d times %d in %d parts: "
                   "sizes from 1 on, and parts of equal width are needed",
                   name, b->n, b->m, b->parts);
    }
}

static void draw_block(Picture *p, const Scale *s, const Block *block,
                       double x, double y, double width, double height)
{
    const double wide = drawn(s, block->m), high = drawn(s, block->n);
    const double left = x + (width - wide) * 0.5;
    const double top = y + (height - high) * 0.5;
    char shape[40];
    for (int i = 0; i < block->parts; i++)
        pen_box(p, left + wide * i / block->parts, top, wide / block->parts,
                high, i % COLOURS, 0.3);
    pen_frame(p, left - 0.5, top - 0.5, wide, high);
    for (int i = 1; !s->by_root && i < block->n; i++)
        pen_line(p, left, top + i * s->unit, left + wide, top + i * s->unit,
                 "rule", 0.7);
    for (int j = 1; !s->by_root && j < block->m; j++)
        pen_line(p, left + j * s->unit, top, left + j * s->unit, top + high,
                 "rule", 0.7);
    snprintf(shape, sizeof shape, "%d × %d", block->n, block->m);
    pen_text(p, x + width * 0.5, top - 8, "middle small strong",
             block->label);
    pen_text(p, x + width * 0.5, top + high + 16, "middle small muted",
             shape);
}

/* Places the blocks in lines, each as high as its highest block. Draws
 * nothing without a picture; returns the height, and the width through its
 * last argument. */
static double place_blocks(Picture *p, const Scale *s, int count,
                           const Block block[count], double *widest)
{
    double top = 0;
    *widest = 0;
    for (int k = 0; k < count;) {
        double x = MARGIN, high = 0;
        int last = k;
        while (last + 1 < count && block[last].after)
            last++;
        for (int i = k; i <= last; i++)
            high = fmax(high, drawn(s, block[i].n));
        for (int i = k; i <= last; i++) {
            const double width = block_width(s, &block[i]);
            if (p)
                draw_block(p, s, &block[i], x, top + 24, width, high);
            x += width;
            if (p && i < last)
                pen_text(p, x + SIGN * 0.5, top + 24 + high * 0.5 + 5,
                         "middle strong", block[i].after);
            x += i < last ? SIGN : 0;
        }
        *widest = fmax(*widest, x);
        top += high + LINE;
        k = last + 1;
    }
    return top;
}

void blocks(const char *name, const char *title, int count,
            const Block block[count])
{
    if (!pen_wanted())
        return;
    must_be_blocks(name, count, block);
    Scale s = {18, 0};
    double width, height;
    for (int k = 0; k < count; k++)
        s.by_root |= block[k].n > CELLS || block[k].m > CELLS;
    height = place_blocks(NULL, &s, count, block, &width);
    for (; width > SHEET && s.unit > SMALLEST; s.unit *= 0.95)
        height = place_blocks(NULL, &s, count, block, &width);
    Picture p;
    pen_begin(&p, name, title, fmax(width, 200) + MARGIN, height);
    for (int k = 0; k < count; k++) {
        pen_words(p.file, block[k].label);
        fprintf(p.file, ", %d rows of %d", block[k].n, block[k].m);
        if (block[k].parts > 1)
            fprintf(p.file, " in %d parts", block[k].parts);
        fputs(block[k].after ? ", " : ". ", p.file);
    }
    pen_draw(&p);
    place_blocks(&p, &s, count, block, &width);
    pen_end(&p);
}
