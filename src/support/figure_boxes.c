#include "support/pen.h"

/* The stages of attention. */
static const struct {
    const char *name, *words, *shape;
} stage[] = {
    {"words", "words", "n"},
    {"vectors", "vectors", "n × d"},
    {"roles", "query, key, value", "n × d_k, d_v"},
    {"scores", "scores", "n × m"},
    {"scale", "scaled", "n × m"},
    {"mask", "masked", "n × m"},
    {"weights", "weights", "n × m"},
    {"dropout", "dropped out", "n × m"},
    {"context", "context", "n × d_v"},
    {"heads", "heads joined", "n × H d_v"},
};
enum { STAGES = sizeof stage / sizeof stage[0] };

/* Is each of the listed words a stage, and none there twice? No name of a
 * stage is part of another's. */
static void check_stages(const char *lit)
{
    char all[200] = "";
    size_t known = 0;
    for (int i = 0; i < STAGES; i++) {
        if (strstr(lit, stage[i].name))
            known += strlen(stage[i].name) + 1;
        strcat(strcat(all, " "), stage[i].name);
    }
    if (known != strlen(lit) + 1)
        REFUSE("stages '%s': each once, one or more of%s are needed", lit,
               all);
}

void figure_pipeline(const char *name, const char *lit)
{
    enum { WIDE = 100, HIGH = 40 };
    static const char *const class[2][2] = {
        {"middle small muted", "middle small"},
        {"middle tiny muted", "middle tiny"}};
    if (!pen_wanted())
        return;
    check_stages(lit);
    pen_begin_panels(name,
                     "Where we are on the way from words to attention",
                     STAGES, WIDE, HIGH);
    for (int i = 0; i < STAGES; i++)
        pen_say("%s%s%s", i ? ", then " : "In order: ", stage[i].words,
                strstr(lit, stage[i].name) ? " (this chapter)" : "");
    pen_draw();
    for (int i = 0; i < STAGES; i++) {
        const int is_lit = strstr(lit, stage[i].name) != NULL;
        const int is_long = strlen(stage[i].words) > 14;
        pen_open_panel(i);
        if (is_lit)
            pen_box(0, 0, WIDE, HIGH, 0, 0.4);
        pen_frame(0.5, 0.5, WIDE - 1, HIGH - 1, is_lit ? "edge" : "rule");
        pen_text(WIDE * 0.5, 16, class[is_long][is_lit], "%s",
                 stage[i].words);
        pen_text(WIDE * 0.5, 32, class[0][is_lit], "%s", stage[i].shape);
        /* Behind the last of a row there is no room for a sign. */
        if (i + 1 < STAGES)
            pen_text(WIDE + 7, 25, "middle muted", "›");
        pen_svg("</g>\n");
    }
    pen_end();
}

/* What the blocks of a drawing share: the longest side, of which those of
 * others are parts; the room they need; and whether any has parts, as then
 * one without them is pale. */
typedef struct {
    int longest, has_parts;
    double wide, high;
} Layout;

/* Up to 8 entries with their cells; beyond, three in a line. */
static int has_cells(const Layout *l)
{
    return l->longest <= 8;
}

static double side(const Layout *l, int n)
{
    return has_cells(l) ? 18 * n : 138 * sqrt((double)n / l->longest);
}

static void draw_block(const Layout *l, const FigureBlock *b, double middle,
                       double axis)
{
    const double wide = side(l, b->m), high = side(l, b->n);
    const double left = middle - wide * 0.5, top = axis - high * 0.5;
    pen_text(middle, top - 8, "middle strong", "%s", b->label);
    pen_text(middle, top + high + 17, "middle small muted", "%d × %d", b->n,
             b->m);
    for (int k = 0; k < b->parts; k++) {
        const double x = left + k * wide / b->parts;
        pen_box(x, top, wide / b->parts, high, k,
                l->has_parts && b->parts == 1 ? 0.06 : 0.45);
        if (k > 0)
            pen_line(x, top, x, top + high, "edge", 1);
    }
    for (int i = 1; has_cells(l) && i < b->n; i++)
        pen_line(left, top + side(l, i), left + wide, top + side(l, i),
                 "edge", 0.5);
    for (int j = 1; has_cells(l) && j < b->m; j++)
        pen_line(left + side(l, j), top, left + side(l, j), top + high,
                 "edge", 0.5);
    pen_frame(left, top, wide, high, "edge");
}

/* The height of the line that begins with the first block. */
static double line_high(const Layout *l, int count,
                        const FigureBlock block[count])
{
    double high = 0;
    for (int k = 0; k < count && (k == 0 || block[k - 1].after); k++)
        high = fmax(high, side(l, block[k].n));
    return high;
}

/* Places the blocks and signs of a line side by side with their middles at
 * one height, and the lines one below the other. */
static void place_blocks(Layout *l, int count,
                         const FigureBlock block[count])
{
    enum { GAP = 18, WORDS = 24, SIGN = 36 };
    double x = 1, axis = 0;
    l->high = -GAP;
    for (int k = 0; k < count; k++) {
        const FigureBlock *b = &block[k];
        if (k == 0 || !block[k - 1].after) {
            const double high = line_high(l, count - k, b);
            axis = l->high + GAP + WORDS + high * 0.5;
            l->high += GAP + high + 2 * WORDS;
            x = 1;
        }
        const double shape = 8.0 * snprintf(NULL, 0, "%d x %d", b->n, b->m);
        const double room =
            fmax(side(l, b->m), fmax(1.1 * pen_room(1, &b->label), shape));
        draw_block(l, b, x + room * 0.5, axis);
        x += room;
        if (b->after) {
            pen_svg("<g font-size=\"22\">");
            pen_text(x + SIGN * 0.5, axis + 8, "middle strong", "%s",
                     b->after);
            pen_svg("</g>\n");
            x += SIGN;
        }
        l->wide = fmax(l->wide, x + 1);
    }
}

void figure_blocks(const char *name, const char *title, int count,
                   const FigureBlock block[count])
{
    if (!pen_wanted())
        return;
    Layout layout = {0};
    for (int k = 0; k < count; k++) {
        const FigureBlock *b = &block[k];
        if (b->parts < 1 || b->m % b->parts)
            REFUSE("figure '%s' has a block '%s' with %d columns in %d "
                   "parts: parts of equal width are needed",
                   name, b->label, b->m, b->parts);
        layout.has_parts |= b->parts > 1;
        layout.longest = (int)fmax(layout.longest, fmax(b->n, b->m));
    }
    place_blocks(&layout, count, block);
    pen_begin(name, title, layout.wide, layout.high);
    for (int k = 0; k < count; k++) {
        const FigureBlock *b = &block[k];
        pen_say("%s, %d by %d", b->label, b->n, b->m);
        if (b->parts > 1)
            pen_say(" in %d parts", b->parts);
        pen_say("%s%s ", b->after ? " " : ".", b->after ? b->after : "");
    }
    if (!has_cells(&layout))
        pen_say("Sides are as the square roots of the numbers.");
    pen_draw();
    place_blocks(&layout, count, block);
    pen_end();
}

/* A part of a block: it leaves the stream, goes through a norm and the
 * part, and comes back to be added. */
static void draw_branch(double top, const char *part)
{
    enum { STREAM = 60, BOX = 90, HIGH = 26, BACK = 44 };
    const double middle = top + HIGH * 0.5, plus = middle + BACK;
    const char *const word[2] = {"norm", part};
    for (int k = 0; k < 2; k++) {
        const double x = STREAM + 40 + k * (BOX + 30);
        pen_line(k ? x - 30 : STREAM, middle, x, middle, "edge", 1);
        pen_box(x, top, BOX, HIGH, 0, k ? 0.4 : 0.1);
        pen_frame(x, top, BOX, HIGH, "edge");
        pen_text(x + BOX * 0.5, middle + 4, "middle small", "%s", word[k]);
    }
    const double end = STREAM + 70 + 1.5 * BOX + 0.5;
    pen_line(end, top + HIGH, end, plus, "edge", 1);
    pen_line(end, plus, STREAM + 9, plus, "edge", 1);
    pen_text(STREAM + 1, plus + 6, "middle strong", "+");
}

void figure_stream(const char *name, const char *title, int blocks)
{
    enum { STREAM = 60, BRANCH = 84, TOP = 36, WORDS = 70 };
    const char *const part[2] = {"attention", "network"};
    const double end = TOP + 2 * BRANCH * blocks;
    if (!pen_wanted())
        return;
    if (blocks < 1)
        REFUSE("figure '%s' has %d blocks: at least 1 is needed", name,
               blocks);
    pen_begin(name, title, 320, end + WORDS);
    pen_say("From top to bottom: the embedding of a token and of its "
            "position. Then, %d times: a norm and attention, which is "
            "added; a norm and the network, which is added. Then a norm, "
            "and logits.",
            blocks);
    pen_draw();
    pen_text(STREAM, 16, "middle small", "token + position");
    for (int i = 0; i < 2 * blocks; i++) {
        const double top = TOP + i * BRANCH;
        pen_line(STREAM, i ? top - 18 : 24, STREAM, top + 47, "edge", 3);
        draw_branch(top, part[i % 2]);
        if (i % 2 == 0)
            pen_text(STREAM - 20, top + BRANCH - 6, "middle tiny muted",
                     "block");
    }
    pen_line(STREAM, end - 18, STREAM, end - 2, "edge", 3);
    pen_line(STREAM, end + 24, STREAM, end + 38, "edge", 3);
    pen_box(STREAM - 45, end - 2, 90, 26, 0, 0.1);
    pen_frame(STREAM - 45, end - 2, 90, 26, "edge");
    pen_text(STREAM, end + 15, "middle small", "norm");
    pen_text(STREAM, end + 54, "middle small", "logits");
    pen_end();
}
