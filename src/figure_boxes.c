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

/* The stages that are listed, with blanks between, as bits. */
static unsigned stages_of(const char *lit)
{
    unsigned stages = 0;
    int is_wrong = 0;
    char word[20], all[200] = "";
    const char *rest = lit;
    for (int size; sscanf(rest, "%19s%n", word, &size) == 1; rest += size) {
        int i = STAGES - 1;
        while (i >= 0 && strcmp(stage[i].name, word))
            i--;
        is_wrong |= i < 0 || stages >> i & 1;
        stages |= i < 0 ? 0 : 1u << i;
    }
    for (int i = 0; i < STAGES; i++)
        strcat(strcat(all, " "), stage[i].name);
    if (is_wrong || !stages)
        REFUSE("stages '%s': each once, one or more of%s are needed", lit,
               all);
    return stages;
}

void pipeline(const char *name, const char *lit)
{
    enum { LEFT = 15, WIDE = 108, HIGH = 44, STEP_X = 123, STEP_Y = 62 };
    if (!pen_wanted())
        return;
    const unsigned stages = stages_of(lit);
    pen_begin(name, "Where we are on the way from words to attention",
              LEFT + STAGES_A_ROW * STEP_X, STEP_Y + HIGH);
    for (int i = 0; i < STAGES; i++)
        pen_say("%s%s%s", i ? ", then " : "In order: ", stage[i].words,
                stages >> i & 1 ? " (this chapter)" : "");
    pen_draw();
    for (int i = 0; i < STAGES; i++) {
        const double x = LEFT + i % STAGES_A_ROW * STEP_X;
        const double y = i / STAGES_A_ROW * STEP_Y;
        const int is_lit = stages >> i & 1;
        /* The longest words would not fit their box in bold. */
        const int is_long = strlen(stage[i].words) > 14;
        if (is_lit)
            pen_box(x, y, WIDE, HIGH, 0, 0.3);
        pen_frame(x + 0.5, y + 0.5, WIDE - 1, HIGH - 1, "rule");
        pen_text(x + WIDE * 0.5, y + 18,
                 !is_lit   ? "middle small muted"
                 : is_long ? "middle tiny strong"
                           : "middle small strong",
                 "%s", stage[i].words);
        pen_open_text(x + WIDE * 0.5, y + 34, "middle small muted");
        pen_svg("%s</text>\n", stage[i].shape);
        if (i > 0)
            pen_text(x - 7.5, y + 26, "middle muted", "›");
    }
    pen_end();
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
static void table_row(double left, double top, int id, int d,
                      const float x[d])
{
    const double line = top + ROW_HIGH * 0.5 + 5;
    pen_text(left - 8, line, "end muted small", "row %d", id);
    for (int k = 0; k < d; k++) {
        const double at = left + k * ENTRY_WIDE;
        pen_box(at, top, ENTRY_WIDE - 2, ROW_HIGH, 0, 0.3);
        pen_value(at + ENTRY_WIDE * 0.5 - 1, line, "middle small",
                  (double)x[k]);
    }
}

void lookup(const char *name, const char *title, int n,
            const char *const word[n], const int ids[n], int rows, int d,
            const float x[n][d])
{
    if (!pen_wanted())
        return;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE("figure '%s' looks up row %d: the table has rows 0 to "
                   "%d",
                   name, ids[i], rows - 1);
    pen_must_be(PEN_FINITE, name, n * d, x[0]);
    const double left = pen_room(n, word) + 34, table = left + 180;
    const int picked = place_of(n, ids, rows), others = rows - picked;
    pen_begin(name, title, table + d * ENTRY_WIDE + 2,
              fmax(n, picked + 1) * ROW_STEP);
    for (int i = 0; i < n; i++) {
        pen_say("%s picks row %d", word[i], ids[i]);
        for (int k = 0; k < d; k++)
            pen_say("%s%.4f", k ? ", " : ": ", (double)x[i][k]);
        pen_say(". ");
    }
    pen_draw();
    for (int i = 0; i < n; i++) {
        const double from = i * ROW_STEP, middle = ROW_HIGH * 0.5;
        const double to = place_of(n, ids, ids[i]) * ROW_STEP;
        pen_text(left - 30, from + middle + 5, "end", "%s", word[i]);
        pen_line(left - 20, from + middle, table - 60, to + middle, "rule",
                 1.5);
        /* Two words may pick the same row, which stands there once. */
        if (place_of(i, ids, rows) < place_of(i + 1, ids, rows))
            table_row(table, to, ids[i], d, x[i]);
    }
    if (others > 0)
        pen_text(table, picked * ROW_STEP + 20, "muted small",
                 "and %d other row%s", others, others == 1 ? "" : "s");
    pen_end();
}

enum { CELL_WIDE = 38, CELL_HIGH = 30, SHEET_WIDE = 600, SHEET_GAP = 26 };

/* One table with its label above; the entries are left out where a reader
 * is to write them. */
static void draw_table(const Table *t, double left, double top, int filled)
{
    pen_text(left, top + 14, "strong", "%s", t->label);
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->m; j++) {
            const double x = left + j * CELL_WIDE;
            const double y = top + 24 + i * CELL_HIGH;
            pen_frame(x + 0.5, y + 0.5, CELL_WIDE, CELL_HIGH, "rule");
            if (filled)
                pen_text(x + CELL_WIDE * 0.5, y + CELL_HIGH * 0.5 + 5,
                         "middle", "%g", (double)t->x[i * t->m + j]);
        }
}

/* Places the tables in rows, as words are placed in lines. Returns the
 * height that they need. */
static double place_tables(int count, const Table table[count], int filled)
{
    double left = 1, top = 0, high = 0;
    for (int k = 0; k < count; k++) {
        const double wide =
            fmax(table[k].m * CELL_WIDE, pen_room(1, &table[k].label));
        if (left > 1 && left + wide > SHEET_WIDE) {
            left = 1;
            top += high + SHEET_GAP;
            high = 0;
        }
        draw_table(&table[k], left, top, k < filled);
        left += wide + SHEET_GAP;
        high = fmax(high, 24 + table[k].n * CELL_HIGH);
    }
    return top + high + 2;
}

void worksheet(const char *name, const char *title, int count,
               const Table table[count], int filled)
{
    if (!pen_wanted())
        return;
    pen_begin(name, title, SHEET_WIDE, place_tables(count, table, filled));
    for (int k = 0; k < count; k++)
        pen_say("%s, %d rows of %d, %s. ", table[k].label, table[k].n,
                table[k].m, k < filled ? "given" : "empty");
    pen_draw();
    place_tables(count, table, filled);
    pen_end();
}

void bits(const char *name, const char *title, uint32_t x)
{
    enum { BIT = 18, BITS = 32, KEPT = 24, WHOLE = 1 << KEPT };
    if (!pen_wanted())
        return;
    char words[60];
    const int part = (int)(x % WHOLE);
    snprintf(words, sizeof words, "%d of %d: %.4f", part, WHOLE,
             (double)part / WHOLE);
    pen_begin(name, title, BITS * BIT + 2, 60);
    pen_say("The number %" PRIu32 " in binary: ", x);
    for (int bit = BITS - 1; bit >= 0; bit--)
        pen_say("%d", (int)(x >> bit & 1));
    pen_say(". The lower %d bits are kept: %s.", KEPT, words);
    pen_draw();
    for (int bit = BITS - 1; bit >= 0; bit--) {
        const double left = 1 + (BITS - 1 - bit) * BIT;
        if (bit < KEPT)
            pen_box(left, 4, BIT - 2, 26, 0, 0.3);
        pen_text(left + (BIT - 2) * 0.5, 22,
                 bit < KEPT ? "middle small" : "middle small muted", "%d",
                 (int)(x >> bit & 1));
    }
    pen_text(BITS * BIT, 52, "end", "%s", words);
    pen_end();
}

/* Blocks of a drawing share one scale: a side of n entries is n units long,
 * or root n where sides differ too much for that. */
typedef struct {
    double unit;
    int is_root;
    int has_parts; /* then a block without parts is pale */
} Scale;
enum { ROOT_ABOVE = 32, SIGN = 36, BLOCKS_HIGH = 200, BLOCK_WORDS = 24 };

typedef struct {
    double wide, high;
} Size;

static double side(const Scale *s, int n)
{
    return s->unit * (s->is_root ? sqrt(n) : n);
}

/* Room for the block, the word above it and the shape below it. */
static double block_room(const Scale *s, const Block *b)
{
    const double shape = 8.0 * snprintf(NULL, 0, "%d x %d", b->n, b->m);
    return fmax(side(s, b->m), fmax(pen_strong_room(1, &b->label), shape));
}

static void draw_block(const Scale *s, const Block *b, double middle,
                       double axis)
{
    enum { CELLS = 12, LEAST = 4 };
    const double wide = side(s, b->m), high = side(s, b->n);
    const double left = middle - wide * 0.5, top = axis - high * 0.5;
    pen_text(middle, top - 8, "middle strong", "%s", b->label);
    pen_text(middle, top + high + 17, "middle small muted", "%d × %d", b->n,
             b->m);
    for (int k = 0; k < b->parts; k++)
        pen_box(left + k * wide / b->parts, top, wide / b->parts, high,
                k % COLOURS, s->has_parts && b->parts == 1 ? 0.06 : 0.4);
    /* Lines closer to each other would be all that is seen. */
    const int is_open = b->n <= CELLS && b->m <= CELLS &&
                        fmin(wide / b->m, high / b->n) >= LEAST;
    for (int i = 1; is_open && i < b->n; i++)
        pen_line(left, top + i * high / b->n, left + wide,
                 top + i * high / b->n, "edge", 0.5);
    for (int j = 1; is_open && j < b->m; j++)
        pen_line(left + j * wide / b->m, top, left + j * wide / b->m,
                 top + high, "edge", 0.5);
    pen_frame(left, top, wide, high, "edge");
}

/* The height of the line that begins with the first block. */
static double line_high(const Scale *s, int count, const Block block[count])
{
    double high = 0;
    for (int k = 0; k < count && (k == 0 || block[k - 1].after); k++)
        high = fmax(high, side(s, block[k].n));
    return high;
}

/* Places the blocks and signs of a line side by side with their middles at
 * one height, and the lines one below the other. Returns what room they
 * need. */
static Size place_blocks(const Scale *s, int count,
                         const Block block[count])
{
    enum { GAP = 18 };
    Size all = {0, -GAP};
    double x = 1, axis = 0;
    for (int k = 0; k < count; k++) {
        if (k == 0 || !block[k - 1].after) {
            const double high = line_high(s, count - k, block + k);
            axis = all.high + GAP + BLOCK_WORDS + high * 0.5;
            all.high += GAP + high + 2 * BLOCK_WORDS;
            x = 1;
        }
        const double room = block_room(s, &block[k]);
        draw_block(s, &block[k], x + room * 0.5, axis);
        x += room;
        if (block[k].after) {
            pen_svg("<g font-size=\"22\">");
            pen_text(x + SIGN * 0.5, axis + 8, "middle strong", "%s",
                     block[k].after);
            pen_svg("</g>\n");
            x += SIGN;
        }
        all.wide = fmax(all.wide, x + 1);
    }
    return all;
}

/* The largest scale with which the lines fit the page; where words alone
 * are too wide for it, blocks that can still be seen. */
static Scale choose_scale(int count, const Block block[count])
{
    int longest = 1, has_parts = 0;
    for (int k = 0; k < count; k++) {
        has_parts |= block[k].parts > 1;
        longest = (int)fmax(longest, fmax(block[k].n, block[k].m));
    }
    Scale s = {1, longest > ROOT_ABOVE, has_parts};
    const double sides = side(&s, longest);
    s.unit = fmin(24, BLOCKS_HIGH / sides);
    while (place_blocks(&s, count, block).wide > PAGE &&
           s.unit * sides > 40)
        s.unit *= 0.98;
    return s;
}

void blocks(const char *name, const char *title, int count,
            const Block block[count])
{
    if (!pen_wanted())
        return;
    for (int k = 0; k < count; k++) {
        const Block *b = &block[k];
        if (b->n < 1 || b->m < 1 || b->parts < 1 || b->m % b->parts)
            REFUSE("figure '%s' has a block '%s' of %d × %d in %d parts: "
                   "at least 1 of each and parts of equal width are needed",
                   name, b->label, b->n, b->m, b->parts);
    }
    const Scale scale = choose_scale(count, block);
    const Size all = place_blocks(&scale, count, block);
    pen_begin(name, title, all.wide, all.high);
    for (int k = 0; k < count; k++) {
        const Block *b = &block[k];
        pen_say("%s, %d by %d", b->label, b->n, b->m);
        if (b->parts > 1)
            pen_say(" in %d parts", b->parts);
        if (b->after)
            pen_say(" %s ", b->after);
        else
            pen_say(". ");
    }
    if (scale.is_root)
        pen_say("Sides are as the square roots of the numbers.");
    pen_draw();
    place_blocks(&scale, count, block);
    pen_end();
}
