#include "support/pen.h"

enum { CELL_HIGH = 28, ROW = 34, BESIDE = 36, ROLE_TOP = 88, TOP = 156 };

/* How wide a cell must be for each of n numbers. */
static double cell_for(int n, const float x[n])
{
    double wide = 28;
    for (int i = 0; i < n; i++)
        wide = fmax(wide, 10 + 8.0 * strlen(pen_short((double)x[i])));
    return wide;
}

/* A row of n cells around a middle. */
static void vector(double middle, double top, double cell, int colour,
                   double shade, int n, const float x[n])
{
    for (int k = 0; k < n; k++) {
        const double left = middle + (k - n * 0.5) * cell;
        pen_box(left, top, cell - 2, CELL_HIGH, colour, shade);
        pen_text(left + cell * 0.5 - 1, top + 19, "middle small", "%s",
                 pen_short((double)x[k]));
    }
}

/* What becomes of the word, below a line from it. */
static void role(const char *words, double from, double middle, double cell,
                 int colour, int n, const float x[n])
{
    pen_line(from, 4 + CELL_HIGH, middle, ROLE_TOP - 18, "edge", 1);
    pen_text(middle, ROLE_TOP - 6, "middle strong", "%s", words);
    vector(middle, ROLE_TOP, cell, colour, 0.45, n, x);
}

/* The middles of the columns, and how wide cells are: those of the context,
 * and all others. */
typedef struct {
    double words, key, score, share, value, wide, cell, mixed;
} Columns;

static void table_row(const Columns *c, double top, const char *word,
                      int is_own, int d_k, const float key[d_k], int d_v,
                      const float value[d_v], float score, float weight)
{
    const double shade = 0.1 + 0.45 * (double)weight, line = top + 19;
    pen_text(c->words, line, is_own ? "end strong" : "end", "%s", word);
    vector(c->key, top, c->cell, 1, is_own ? 0.45 : 0.15, d_k, key);
    pen_value(c->score, line, "middle small", (double)score);
    pen_box(c->share - 28, top, 56, CELL_HIGH, 0, shade);
    pen_value(c->share, line, "middle small", (double)weight);
    vector(c->value, top, c->cell, 2, shade, d_v, value);
}

/* Words end where the query above them ends. */
static Columns columns_for(double cell, double mixed, double room, int d_k,
                           int d_v)
{
    Columns c = {.cell = cell, .mixed = mixed};
    c.words = fmax(room, d_k * cell);
    c.key = c.words + 12 + d_k * cell * 0.5;
    c.score = c.key + d_k * cell * 0.5 + BESIDE;
    c.share = c.score + 2 * BESIDE;
    c.wide = d_v * fmax(cell, mixed);
    c.value = c.share + BESIDE + c.wide * 0.5;
    return c;
}

static void headings(const Columns *c)
{
    pen_text(c->key, TOP - 8, "middle small muted", "keys");
    pen_text(c->score, TOP - 8, "middle small muted", "query · key");
    pen_text(c->share, TOP - 8, "middle small muted", "share");
    pen_text(c->value, TOP - 8, "middle small muted", "values");
}

static void say_numbers(const char *words, int n, const float x[n])
{
    pen_say("%s:", words);
    for (int j = 0; j < n; j++)
        pen_say(" %s", pen_short((double)x[j]));
    pen_say(". ");
}

void figure_follow(const char *name, const char *title, int n,
                   const char *const word[n], int i, int d, int d_k,
                   int d_v, const float x[d], const float query[d_k],
                   const float key[n][d_k], const float value[n][d_v],
                   const float scores[n], const float weights[n],
                   const float context[d_v])
{
    if (!pen_wanted())
        return;
    if (i < 0 || i >= n)
        REFUSE("figure '%s' follows word %d: 0 to %d can be drawn", name, i,
               n - 1);
    const struct {
        const char *words;
        int n;
        const float *x;
    } all[] = {{word[i], d, x},           {"query", d_k, query},
               {"keys", n * d_k, key[0]}, {"values", n * d_v, value[0]},
               {"scores", n, scores},     {"shares", n, weights},
               {"context", d_v, context}};
    enum { ALL = sizeof all / sizeof *all, LIKE_X = 4 };
    double cell = 0;
    for (int k = 0; k < ALL; k++) {
        pen_accepts(PEN_FINITE, name, all[k].n, all[k].x);
        cell = fmax(cell, k < LIKE_X ? cell_for(all[k].n, all[k].x) : 0);
    }
    const Columns c = columns_for(cell, cell_for(d_v, context),
                                  1.1 * pen_room(n, word), d_k, d_v);
    const double end = c.value + c.wide * 0.5, bottom = TOP + n * ROW;
    pen_begin(name, title, end, bottom + ROW + 6);
    for (int k = 0; k < ALL; k++)
        say_numbers(all[k].words, all[k].n, all[k].x);
    pen_draw();
    vector(c.score, 4, cell, 7, 0.3, d, x);
    pen_text(c.score - d * cell * 0.5 - 8, 23, "end strong", "%s", word[i]);
    role("query", c.score, c.words - d_k * cell * 0.5, cell, 0, d_k, query);
    role("key", c.score, c.key, cell, 1, d_k, key[i]);
    role("value", c.score, c.value, cell, 2, d_v, value[i]);
    headings(&c);
    for (int j = 0; j < n; j++)
        table_row(&c, TOP + j * ROW, word[j], j == i, d_k, key[j], d_v,
                  value[j], scores[j], weights[j]);
    pen_line(end - c.wide, bottom, end, bottom, "edge", 1);
    pen_text(end - c.wide - 10, bottom + 25, "end strong", "context");
    vector(c.value, bottom + 6, c.mixed, 2, 0.45, d_v, context);
    pen_end();
}
