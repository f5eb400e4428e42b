#include "bench.h"

static const char *numeral(int n)
{
    static const char *const numerals[] = {"no",    "one",   "two",
                                           "three", "four",  "five",
                                           "six",   "seven", "eight"};
    return numerals[n];
}

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
        s = bench_step(b, last[k]);
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

/* Tables of words by words as panels: of one head each. */
typedef struct {
    const char *label;
    const float *x;
} Panel;

static void draw_maps(const Bench *b, const char *name, const char *title,
                      int panels, const Panel panel[panels])
{
    const Step *s = bench_step(b, "scores");
    const size_t size = (size_t)s->n * (size_t)s->m;
    const char *label[MOST_HEADS];
    float *x = new_block((size_t)panels * size);
    for (int k = 0; k < panels; k++) {
        label[k] = panel[k].label;
        memcpy(x + (size_t)k * size, panel[k].x, size * sizeof *x);
    }
    figure_maps(name, title, panels, label, s->n, b->list[s->rows].name,
                s->m, b->list[s->columns].name, TABLES(s->n, s->m, x));
    say_figure(name);
    free(x);
}

/* The weights of all heads, as the values are mixed with them. */
static void draw_head_maps(const Bench *b, const char *title,
                           const char *before)
{
    char label[MOST_HEADS][100];
    Panel panel[MOST_HEADS];
    for (int h = 0; h < b->a.n_heads; h++) {
        snprintf(label[h], sizeof label[h], "%shead %d", before, h + 1);
        panel[h] = (Panel){label[h], bench_row(mixing(b), h, 0)};
    }
    draw_maps(b, "maps", title, b->a.n_heads, panel);
}

/* ---- The figures of each stage */

/* Bars of finite numbers; and stacks, if they grow in one direction. */
static void draw_shares(const Bench *b)
{
    static const char *const step[3] = {"score", "exponential", "share"};
    static const char *const id[3] = {"scores", "exponentials", "weights"};
    const Step *parts = bench_step(b, "parts");
    float x[3][MOST_WORDS], bars[3 * MOST_WORDS];
    int is_finite = 1, is_growing = 1;
    char title[100];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < b->n; j++) {
            x[k][j] = bench_step(b, id[k])->x[j];
            bars[k * b->n + j] = x[k][j];
            is_finite &= isfinite(x[k][j]);
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

static void draw_roles(const Bench *b)
{
    const Step *scores = bench_step(b, "scores");
    const Step *key = bench_step(b, "key"), *value = bench_step(b, "value");
    const int i = b->asking;
    const Panel panel[2] = {
        {"embeddings with each other", bench_step(b, "alike")->x},
        {"queries with keys", scores->x}};
    char title[100];
    draw_maps(b, "roles", "Scores without roles and with them", 2, panel);
    snprintf(title, sizeof title, "%s asks, and is answered",
             b->list[WORDS].name[i]);
    if (*title >= 'a' && *title <= 'z')
        *title = (char)(*title - 'a' + 'A');
    figure_follow(
        "likes", title, b->n, b->list[WORDS].name, i, b->a.d_x, key->m,
        value->m, bench_row(bench_step(b, "embeddings"), 0, i),
        bench_row(bench_step(b, "query"), 0, i), ROWS(key->m, key->x),
        ROWS(value->m, value->x), bench_row(scores, 0, i),
        bench_row(bench_step(b, "weights"), 0, i),
        bench_row(bench_step(b, "context"), 0, i));
    say_figure("likes");
}

static void draw_texts(const Bench *b)
{
    const int is_own = b->n == 6 && b->m == 8 && b->texts == 2;
    draw_heatmap(b, "strangers",
                 is_own ? "What six words take of eight strangers"
                        : "What the words of one text take of another");
}

/* Both ways to hide, whichever the tables go. */
static void draw_mask(const Bench *b)
{
    const Step *scores = bench_step(b, "scores");
    const Step *scaled = bench_step(b, "scaled");
    const Step *mask = bench_step(b, "mask");
    const int n = scores->n, m = scores->m;
    const size_t size = (size_t)n * (size_t)m;
    const float *given = scaled ? scaled->x : scores->x;
    float *x = new_block(4 * size), *masked = x + 3 * size;
    memcpy(masked, given, size * sizeof *x);
    softmax_rows(n, m, ROWS(m, given), ROWS(m, x));
    if (mask) {
        mask_weights(n, m, ROWS(m, mask->x), ROWS(m, x));
        mask_scores_table(n, m, ROWS(m, mask->x), ROWS(m, masked));
    }
    memcpy(x + size, x, size * sizeof *x);
    renormalize(n, m, ROWS(m, x + size));
    softmax_rows(n, m, ROWS(m, masked), ROWS(m, x + 2 * size));
    const Panel panel[4] = {{"scores", scores->x},
                            {"times the mask", x},
                            {"renormalized", x + size},
                            {"from minus infinity", x + 2 * size}};
    draw_maps(b, "maps", "Two ways to hide the future", 4, panel);
    free(x);
}

static void draw_dropout(const Bench *b)
{
    const Panel panel[2] = {{"weights", bench_step(b, "weights")->x},
                            {"after dropout", mixing(b)->x}};
    draw_maps(b, "dropout", "Attention weights, and what dropout leaves", 2,
              panel);
}

static void draw_heads(const Bench *b)
{
    char title[100];
    snprintf(title, sizeof title, "The attention weights of %s head%s%s",
             numeral(b->a.n_heads), b->a.n_heads > 1 ? "s" : "",
             bench_step(b, "dropped") ? ", after dropout" : "");
    draw_head_maps(b, title, "");
}

static void draw_output(const Bench *b)
{
    const List *words = &b->list[WORDS];
    char title[100], before[80];
    snprintf(title, sizeof title,
             "What each word may see, and takes, in %s head%s",
             numeral(b->a.n_heads), b->a.n_heads > 1 ? "s" : "");
    snprintf(before, sizeof before, "%s%s%s, ", words->name[0],
             b->n > 1 ? " " : "", b->n > 1 ? words->name[1] : "");
    draw_head_maps(b, title, before);
}

/* A heat map needs a name and a title alone. */
void workbench_draw(const Bench *b)
{
    static const struct {
        const char *stage, *name, *title;
        void (*draw)(const Bench *b);
    } of[] = {{.stage = "shares", .draw = draw_shares},
              {.stage = "roles", .draw = draw_roles},
              {"scale", "life", "What each word takes of each", NULL},
              {.stage = "texts", .draw = draw_texts},
              {"translation", "translation",
               "What English words take of German ones", NULL},
              {.stage = "mask", .draw = draw_mask},
              {.stage = "dropout", .draw = draw_dropout},
              {.stage = "heads", .draw = draw_heads},
              {.stage = "output", .draw = draw_output},
              {.stage = "all", .draw = draw_heads}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].stage, b->stage->name) != 0)
            continue;
        else if (of[i].draw)
            of[i].draw(b);
        else
            draw_heatmap(b, of[i].name, of[i].title);
}
