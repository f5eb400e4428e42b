#include "stages.h"

static void say_figure(const char *name)
{
    const char *folder = getenv("FIGURES");
    if (folder && *folder)
        printf("@figure %s.svg\n", name);
}

/* What the values are mixed with. */
static const Step *mixing(const Bench *b)
{
    const char *const last[] = {"dropped", "renormalized", "weights"};
    const Step *s = NULL;
    for (int k = 0; !s; k++)
        s = step_named(b, last[k]);
    return s;
}

/* ---- Maps */

static void draw_heatmap(const Bench *b, const char *name,
                         const char *title)
{
    const Step *s = mixing(b);
    figure_heatmap(name, title, s->n, b->list[s->rows].name, s->m,
                   b->list[s->columns].name, ROWS(s->m, s->x));
    say_figure(name);
}

/* Tables of words by words side by side, each with a label. */
static void draw_maps(const Bench *b, const char *name, const char *title,
                      int maps, const char *const label[maps],
                      const float *const table[maps])
{
    const Step *s = step_named(b, "scores");
    const size_t size = (size_t)s->n * (size_t)s->m;
    float *x = new_block((size_t)maps * size);
    for (int k = 0; k < maps; k++)
        memcpy(x + (size_t)k * size, table[k], size * sizeof *x);
    figure_maps(name, title, maps, label, s->n, b->list[s->rows].name, s->m,
                b->list[s->columns].name, TABLES(s->n, s->m, x));
    say_figure(name);
    free(x);
}

/* ---- The figures of each stage */

/* Bars of finite numbers; and stacks, if they grow in one direction. */
static void draw_shares(const Bench *b)
{
    static const char *const step[3] = {"score", "exponential", "share"};
    static const char *const id[3] = {"scores", "exponentials", "weights"};
    const Step *parts = step_named(b, "parts");
    float bars[3 * MOST_WORDS];
    int is_finite = 1, is_growing = 1;
    char title[100];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < b->n; j++) {
            bars[k * b->n + j] = step_named(b, id[k])->x[j];
            is_finite &= isfinite(bars[k * b->n + j]);
        }
    for (int k = 0; k < b->n * 3; k++)
        is_growing &= parts->x[k] >= 0;
    if (is_finite) {
        figure_bars("steps", "How scores become shares", 3, step, b->n,
                    b->list[WORDS].name, ROWS(b->n, bars));
        say_figure("steps");
    }
    if (is_growing) {
        snprintf(title, sizeof title, "The context vector of %s as a sum",
                 b->list[ASKING].name[0]);
        figure_stacks("mixture", title, b->n, b->list[WORDS].name, 3,
                      ROWS(3, parts->x));
        say_figure("mixture");
    }
}

static void draw_answer(const Bench *b)
{
    const Step *scores = step_named(b, "scores");
    const Step *key = step_named(b, "key"), *value = step_named(b, "value");
    const int i = b->asking;
    char title[100];
    snprintf(title, sizeof title, "%s asks, and is answered",
             b->list[WORDS].name[i]);
    if (*title >= 'a' && *title <= 'z')
        *title = (char)(*title - 'a' + 'A');
    figure_follow(
        "likes", title, b->n, b->list[WORDS].name, i, b->a.d_x, key->m,
        value->m, step_row(step_named(b, "embeddings"), 0, i),
        step_row(step_named(b, "query"), 0, i), ROWS(key->m, key->x),
        ROWS(value->m, value->x), step_row(scores, 0, i),
        step_row(step_named(b, "weights"), 0, i),
        step_row(step_named(b, "context"), 0, i));
    say_figure("likes");
}

/* The weights of all heads, as the values are mixed with them. */
static void draw_heads(const Bench *b)
{
    static const char *const numeral[] = {"no",    "one",   "two",
                                          "three", "four",  "five",
                                          "six",   "seven", "eight"};
    static const char *const label[MOST_HEADS] = {
        "head 1", "head 2", "head 3", "head 4",
        "head 5", "head 6", "head 7", "head 8"};
    const int heads = b->a.n_heads;
    const float *table[MOST_HEADS];
    char title[100];
    for (int h = 0; h < heads; h++)
        table[h] = step_row(mixing(b), h, 0);
    snprintf(title, sizeof title, "The attention weights of %s head%s%s",
             numeral[heads], heads > 1 ? "s" : "",
             step_named(b, "dropped") ? ", after dropout" : "");
    draw_maps(b, "maps", title, heads, label, table);
}

/* A heat map needs a name and a title alone, and maps side by side those of
 * their steps that are there. */
void workbench_draw(const Bench *b)
{
    enum { MOST_MAPS = 4 };
    static const struct {
        const char *stage, *name, *title;
        struct {
            const char *id, *label;
        } map[MOST_MAPS];
        void (*draw)(const Bench *b);
    } of[] = {{"roles",
               "roles",
               "Scores without roles and with them",
               {{"alike", "embeddings with each other"},
                {"scores", "queries with keys"}},
               draw_answer},
              {"mask",
               "maps",
               "Scores, and the shares that come of them",
               {{"scores", "scores"},
                {"weights", "weights"},
                {"hidden", "times the mask"},
                {"renormalized", "renormalized"}},
               NULL},
              {"dropout",
               "dropout",
               "Attention weights, and what dropout leaves",
               {{"weights", "weights"}, {"dropped", "after dropout"}},
               NULL},
              {.stage = "shares", .draw = draw_shares},
              {.stage = "scale",
               .name = "life",
               .title = "What each word takes of each"},
              {.stage = "texts",
               .name = "strangers",
               .title = "What the words of one text take of another"},
              {.stage = "translation",
               .name = "translation",
               .title = "What English words take of German ones"},
              {.stage = "heads", .draw = draw_heads},
              {.stage = "output", .draw = draw_heads},
              {.stage = "all", .draw = draw_heads}};
    int k = 0, maps = 0;
    while (strcmp(of[k].stage, b->stage->name) != 0)
        k++;
    const char *label[MOST_MAPS];
    const float *table[MOST_MAPS];
    for (int i = 0; i < MOST_MAPS && of[k].map[i].id; i++) {
        const Step *s = step_named(b, of[k].map[i].id);
        label[maps] = of[k].map[i].label;
        if (s)
            table[maps++] = s->x;
    }
    if (maps)
        draw_maps(b, of[k].name, of[k].title, maps, label, table);
    else if (of[k].name)
        draw_heatmap(b, of[k].name, of[k].title);
    if (of[k].draw)
        of[k].draw(b);
}
