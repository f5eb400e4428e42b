#include "pen.h"

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
    if (!pen_wanted())
        return;
    must_be_stages(lit);
    Picture p =
        pen_begin(name, "Where we are on the way from words to attention",
                  LEFT + STAGES_A_ROW * STEP_X, STEP_Y + HIGH);
    pen_write(&p, "In order: ");
    for (int i = 0; i < STAGES; i++)
        pen_write(&p, "%s%s%s", i ? ", then " : "", stage[i].words,
                  is_listed(stage[i].name, lit) ? " (this chapter)" : "");
    pen_draw(&p);
    for (int i = 0; i < STAGES; i++) {
        const double x = LEFT + i % STAGES_A_ROW * STEP_X;
        const double y = i / STAGES_A_ROW * STEP_Y;
        const int is_lit = is_listed(stage[i].name, lit);
        if (is_lit)
            pen_box(&p, x, y, WIDE, HIGH, 0, 0.3);
        pen_frame(&p, x + 0.5, y + 0.5, WIDE - 1, HIGH - 1, "rule");
        /* The longest words would not fit their box in bold. */
        const int is_long = strlen(stage[i].words) > 14;
        pen_text(&p, x + WIDE * 0.5, y + 18,
                 !is_lit   ? "middle small muted"
                 : is_long ? "middle tiny strong"
                           : "middle small strong",
                 stage[i].words);
        pen_write(
            &p,
            "<text x=\"%.1f\" y=\"%.1f\" class=\"middle small muted\">"
            "%s</text>\n",
            x + WIDE * 0.5, y + 34, stage[i].shape);
        if (i > 0)
            pen_text(&p, x - 7.5, y + 26, "middle muted", "›");
    }
    pen_end(&p);
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

enum { ROW_HIGH = 30, ROW_STEP = 36, ENTRY_WIDE = 76 };

/* A row of the table: its number, and its entries. */
static void table_row(Picture *p, double left, double top, int id, int d,
                      const float x[d])
{
    const double middle = top + ROW_HIGH * 0.5 + 5;
    char row[40];
    snprintf(row, sizeof row, "row %d", id);
    pen_text(p, left - 8, middle, "end muted small", row);
    for (int k = 0; k < d; k++) {
        pen_box(p, left + k * ENTRY_WIDE, top, ENTRY_WIDE - 2, ROW_HIGH, 0,
                0.3);
        pen_number(p, left + (k + 0.5) * ENTRY_WIDE - 1, middle,
                   "middle small", (double)x[k]);
    }
}

/* How many rows the picture leaves out; nothing where it shows them all. */
static void other_rows(Picture *p, double left, double y, int others)
{
    char words[60];
    snprintf(words, sizeof words, "and %d other row%s", others,
             others == 1 ? "" : "s");
    if (others > 0)
        pen_text(p, left, y, "muted small", words);
}

static void must_be_rows(const char *name, int n, const int ids[n],
                         int rows)
{
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE("figure '%s' looks up row %d: the table has rows 0 to "
                   "%d",
                   name, ids[i], rows - 1);
}

void lookup(const char *name, const char *title, int n,
            const char *const word[n], const int ids[n], int rows, int d,
            const float x[n][d])
{
    if (!pen_wanted())
        return;
    must_be_rows(name, n, ids, rows);
    for (int i = 0; i < n; i++)
        pen_must_be_finite(name, d, x[i]);
    const double left = pen_room(n, word) + 34, table = left + 180;
    const int picked = place_of(n, ids, rows);
    Picture p = pen_begin(name, title, table + d * ENTRY_WIDE + 2,
                          fmax(n, picked + 1) * ROW_STEP);
    for (int i = 0; i < n; i++) {
        pen_words(&p, word[i]);
        pen_write(&p, " picks row %d: ", ids[i]);
        for (int k = 0; k < d; k++)
            pen_write(&p, "%.4f%s", (double)x[i][k],
                      k + 1 < d ? ", " : ". ");
    }
    pen_draw(&p);
    for (int i = 0, drawn = 0; i < n; i++) {
        const double from = i * ROW_STEP, middle = ROW_HIGH * 0.5;
        const double to = place_of(n, ids, ids[i]) * ROW_STEP;
        pen_text(&p, left - 30, from + middle + 5, "end", word[i]);
        pen_line(&p, left - 20, from + middle, table - 60, to + middle,
                 "rule", 1.5);
        /* Two words may pick the same row, which stands there once. */
        if (drawn < place_of(i + 1, ids, rows))
            table_row(&p, table, to, ids[i], d, x[i]);
        drawn = place_of(i + 1, ids, rows);
    }
    other_rows(&p, table, picked * ROW_STEP + 20, rows - picked);
    pen_end(&p);
}

enum { CELL_WIDE = 38, CELL_HIGH = 30, SHEET_WIDE = 600, SHEET_GAP = 26 };

static double table_width(const Table *table)
{
    return fmax(table->m * CELL_WIDE, pen_room(1, &table->label));
}

/* One table with its label above; the entries are left out where a reader
 * is to write them. */
static void draw_table(Picture *p, const Table *table, double left,
                       double top, int filled)
{
    pen_text(p, left, top + 14, "strong", table->label);
    for (int i = 0; i < table->n; i++)
        for (int j = 0; j < table->m; j++) {
            const double x = left + j * CELL_WIDE;
            const double y = top + 24 + i * CELL_HIGH;
            char digits[40];
            pen_frame(p, x + 0.5, y + 0.5, CELL_WIDE, CELL_HIGH, "rule");
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
    Picture p = pen_begin(name, title, SHEET_WIDE,
                          place_tables(NULL, count, table, filled));
    for (int k = 0; k < count; k++) {
        pen_words(&p, table[k].label);
        pen_write(&p, ", %d rows of %d, %s. ", table[k].n, table[k].m,
                  k < filled ? "given" : "empty");
    }
    pen_draw(&p);
    place_tables(&p, count, table, filled);
    pen_end(&p);
}

void bits(const char *name, const char *title, uint32_t x, int kept)
{
    enum { BIT = 18, BITS = 32 };
    if (!pen_wanted())
        return;
    if (kept < 1 || kept > BITS)
        REFUSE("figure '%s' keeps %d bits: from 1 to %d can be kept", name,
               kept, BITS);
    const uint64_t whole = UINT64_C(1) << kept, part = x & (whole - 1);
    char words[120];
    snprintf(words, sizeof words, "%" PRIu64 " of %" PRIu64 ": %.4f", part,
             whole, (double)part / (double)whole);
    Picture p = pen_begin(name, title, BITS * BIT + 2, 60);
    pen_write(&p, "The number %" PRIu32 " in binary: ", x);
    for (int i = BITS - 1; i >= 0; i--)
        pen_write(&p, "%d", (int)(x >> i & 1));
    pen_write(&p, ". The lower %d bits are kept: %s.", kept, words);
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

/* Blocks of a drawing share one scale: a side of n entries is n units long,
 * or root n where sides differ too much for that. */
typedef struct {
    double unit;
    int is_root;
    int has_parts; /* then a block without parts is pale */
} Scale;
enum { ROOT_ABOVE = 32, SIGN = 36, BLOCKS_HIGH = 200, BLOCK_WORDS = 24 };

static double side(const Scale *s, int n)
{
    return s->unit * (s->is_root ? sqrt(n) : n);
}

static void shape_of(const Block *b, size_t size, char words[size])
{
    snprintf(words, size, "%d × %d", b->n, b->m);
}

/* Room for the block and the words above and below it. */
static double block_room(const Scale *s, const Block *b)
{
    char shape[40];
    const char *words = shape;
    shape_of(b, sizeof shape, shape);
    return fmax(side(s, b->m),
                fmax(pen_strong_room(1, &b->label), pen_room(1, &words)));
}

static void must_be_blocks(const char *name, int count,
                           const Block block[count])
{
    for (int k = 0; k < count; k++) {
        const Block *b = &block[k];
        if (b->n < 1 || b->m < 1 || b->parts < 1 || b->m % b->parts)
            REFUSE("figure '%s' has a block '%s' of %d × %d in %d parts: "
                   "at least 1 of each and parts of equal width are needed",
                   name, b->label, b->n, b->m, b->parts);
    }
}

static void draw_block(Picture *p, const Scale *s, const Block *b,
                       double middle, double axis)
{
    enum { CELLS = 12, LEAST = 4 };
    const double wide = side(s, b->m), high = side(s, b->n);
    const double left = middle - wide * 0.5, top = axis - high * 0.5;
    char shape[40];
    shape_of(b, sizeof shape, shape);
    pen_text(p, middle, top - 8, "middle strong", b->label);
    pen_text(p, middle, top + high + 17, "middle small muted", shape);
    for (int k = 0; k < b->parts; k++)
        pen_box(p, left + k * wide / b->parts, top, wide / b->parts, high,
                k % COLOURS, s->has_parts && b->parts == 1 ? 0.06 : 0.4);
    /* Lines closer to each other would be all that is seen. */
    const double cell = fmin(wide / b->m, high / b->n);
    if (b->n <= CELLS && b->m <= CELLS && cell >= LEAST) {
        for (int i = 1; i < b->n; i++)
            pen_line(p, left, top + i * high / b->n, left + wide,
                     top + i * high / b->n, "edge", 0.5);
        for (int j = 1; j < b->m; j++)
            pen_line(p, left + j * wide / b->m, top, left + j * wide / b->m,
                     top + high, "edge", 0.5);
    }
    pen_frame(p, left, top, wide, high, "edge");
}

/* The blocks and signs up to the end of a line, side by side with their
 * middles at one height. Returns the block after them; says what room they
 * need; draws nothing without a picture. */
static int line_of_blocks(Picture *p, const Scale *s, int count,
                          const Block block[count], int k, double top,
                          double *wide, double *high)
{
    *high = 0;
    for (int i = k; i < count && (i == k || block[i - 1].after); i++)
        *high = fmax(*high, side(s, block[i].n));
    const double axis = top + BLOCK_WORDS + *high * 0.5;
    double x = 1;
    for (int is_open = 1; k < count && is_open; k++) {
        const double room = block_room(s, &block[k]);
        if (p)
            draw_block(p, s, &block[k], x + room * 0.5, axis);
        x += room;
        is_open = block[k].after != NULL;
        if (p && is_open) {
            pen_write(p, "<g font-size=\"22\">");
            pen_text(p, x + SIGN * 0.5, axis + 8, "middle strong",
                     block[k].after);
            pen_write(p, "</g>\n");
        }
        x += is_open ? SIGN : 0;
    }
    *wide = x + 1;
    *high += 2 * BLOCK_WORDS;
    return k;
}

/* All lines, one below the other. */
static void all_blocks(Picture *p, const Scale *s, int count,
                       const Block block[count], double *wide, double *high)
{
    enum { GAP = 18 };
    double top = 0;
    *wide = 0;
    for (int k = 0; k < count;) {
        double line_wide, line_high;
        k = line_of_blocks(p, s, count, block, k, top, &line_wide,
                           &line_high);
        *wide = fmax(*wide, line_wide);
        *high = top + line_high;
        top = *high + GAP;
    }
}

/* The largest scale with which the lines fit the page; where words alone
 * are too wide for it, blocks that can still be seen. */
static Scale choose_scale(int count, const Block block[count])
{
    int longest = 1, has_parts = 0;
    for (int k = 0; k < count; k++) {
        has_parts |= block[k].parts > 1;
        longest = block[k].n > longest ? block[k].n : longest;
        longest = block[k].m > longest ? block[k].m : longest;
    }
    Scale s = {1, longest > ROOT_ABOVE, has_parts};
    const double sides = side(&s, longest);
    double wide = 0, high;
    s.unit = fmin(24, BLOCKS_HIGH / sides);
    for (all_blocks(NULL, &s, count, block, &wide, &high);
         wide > PAGE && s.unit * sides > 40;
         all_blocks(NULL, &s, count, block, &wide, &high))
        s.unit *= 0.98;
    return s;
}

void blocks(const char *name, const char *title, int count,
            const Block block[count])
{
    if (!pen_wanted())
        return;
    must_be_blocks(name, count, block);
    const Scale scale = choose_scale(count, block);
    double wide, high;
    all_blocks(NULL, &scale, count, block, &wide, &high);
    Picture p = pen_begin(name, title, wide, high);
    for (int k = 0; k < count; k++) {
        const Block *b = &block[k];
        pen_words(&p, b->label);
        pen_write(&p, ", %d by %d", b->n, b->m);
        if (b->parts > 1)
            pen_write(&p, " in %d parts", b->parts);
        pen_write(&p, b->after ? " " : ". ");
        if (b->after) {
            pen_words(&p, b->after);
            pen_write(&p, " ");
        }
    }
    if (scale.is_root)
        pen_write(&p, "Sides are as the square roots of the numbers.");
    pen_draw(&p);
    all_blocks(&p, &scale, count, block, &wide, &high);
    pen_end(&p);
}
