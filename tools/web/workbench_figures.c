#include "workbench_say.h"

static const char *const numerals[] = {
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight"};

static const float *table_of(const Bench *b, TableId id)
{
    return bench_row(b, id, 0, 0);
}

static int is_drawing(void)
{
    const char *folder = getenv("FIGURES");
    return folder && *folder;
}

static void say_figure(const char *name)
{
    if (is_drawing())
        printf("@figure %s.svg\n", name);
}

/* Room for so many panels, and each of them. */
static float *panels_for(const Bench *b, int panels)
{
    return new_table(panels * b->n, b->m);
}

static float *panel_of(const Bench *b, float *panels, int k)
{
    return panels + k * b->n * b->m;
}

static void fill_panel(const Bench *b, float *panels, int k, TableId id,
                       int h)
{
    memcpy(panel_of(b, panels, k), bench_row(b, id, h, 0),
           (size_t)b->n * (size_t)b->m * sizeof(float));
}

static void draw_maps(const Bench *b, const char *name, const char *title,
                      int panels, const char *const panel[panels],
                      const float *x)
{
    figure_maps(name, title, panels, panel, b->n, b->name[0], b->m,
                bench_others(b), (const void *)x);
    say_figure(name);
}

static void draw_heatmap(const Bench *b, const char *name,
                         const char *title)
{
    figure_heatmap(name, title, b->n, b->name[0], b->m, bench_others(b),
                   (const void *)table_of(b, bench_mixing(b)));
    say_figure(name);
}

/* The weights of all heads, as the values are mixed with them. */
static void draw_head_maps(const Bench *b, const char *title,
                           const char *before)
{
    char label[MOST_HEADS][100];
    const char *panel[MOST_HEADS];
    float *x = panels_for(b, MOST_HEADS);
    for (int h = 0; h < b->a.n_heads; h++) {
        snprintf(label[h], sizeof label[h], "%shead %d", before, h + 1);
        panel[h] = label[h];
        fill_panel(b, x, h, bench_mixing(b), h);
    }
    draw_maps(b, "maps", title, b->a.n_heads, panel, x);
    free(x);
}

/* ---- The figures of each stage */

/* Bars of finite numbers; and stacks, if they grow in one direction. */
static void draw_shares(const Bench *b)
{
    static const char *const step[3] = {"score", "exponential", "share"};
    static const TableId of[3] = {SCORES, EXPONENTIALS, WEIGHTS};
    float x[3 * MOST_WORDS];
    int is_finite = 1, is_growing = 1;
    char title[100];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < b->n; j++) {
            x[k * b->n + j] = table_of(b, of[k])[j];
            is_finite &= isfinite(x[k * b->n + j]);
        }
    for (int k = 0; k < b->n * 3; k++)
        is_growing &= table_of(b, PARTS)[k] >= 0;
    if (is_finite) {
        figure_bars("steps", "How scores become shares", 3, step, b->n,
                    b->name[0], (const void *)x);
        say_figure("steps");
    }
    if (is_growing) {
        snprintf(title, sizeof title, "The context vector of %s as a sum",
                 b->name[0][b->asking]);
        figure_stacks("mixture", title, b->n, b->name[0], 3,
                      (const void *)table_of(b, PARTS));
        say_figure("mixture");
    }
}

static void draw_roles(const Bench *b)
{
    static const char *const panel[2] = {"embeddings with each other",
                                         "queries with keys"};
    const int i = b->asking;
    char title[100];
    float *x = panels_for(b, 2);
    fill_panel(b, x, 0, ALIKE, 0);
    fill_panel(b, x, 1, SCORES, 0);
    draw_maps(b, "roles", "Scores without roles and with them", 2, panel,
              x);
    snprintf(title, sizeof title, "%s asks, and is answered",
             b->name[0][i]);
    if (*title >= 'a' && *title <= 'z')
        *title = (char)(*title - 'a' + 'A');
    figure_follow("likes", title, b->n, b->name[0], i, b->a.d_x, b->a.d_k,
                  b->a.d_v, bench_row(b, EMBEDDINGS, 0, i),
                  bench_row(b, QUERY, 0, i), (const void *)table_of(b, KEY),
                  (const void *)table_of(b, VALUE),
                  bench_row(b, SCORES, 0, i), bench_row(b, WEIGHTS, 0, i),
                  bench_row(b, CONTEXT, 0, i));
    say_figure("likes");
    free(x);
}

static void draw_scale(const Bench *b)
{
    draw_heatmap(b, "life", "What each word takes of each");
}

static void draw_texts(const Bench *b)
{
    const int is_own = b->n == 6 && b->m == 8 && b->texts == 2;
    draw_heatmap(b, "strangers",
                 is_own ? "What six words take of eight strangers"
                        : "What the words of one text take of another");
}

static void draw_translation(const Bench *b)
{
    draw_heatmap(b, "translation",
                 "What English words take of German ones");
}

/* Both ways, whichever the tables go. */
static void draw_mask(const Bench *b)
{
    static const char *const panel[4] = {
        "scores", "times the mask", "renormalized", "from minus infinity"};
    const int n = b->n, m = b->m;
    const float(*mask)[m] = (const void *)table_of(b, MASK);
    const float(*scaled)[m] = (const void *)table_of(b, SCALED);
    float *x = panels_for(b, 4);
    float(*masked)[m] = (void *)new_table(n, m);
    float(*hidden)[m] = (void *)panel_of(b, x, 1);
    fill_panel(b, x, 0, SCORES, 0);
    softmax_rows(n, m, scaled, hidden);
    mask_weights(n, m, mask, hidden);
    memcpy(panel_of(b, x, 2), hidden, (size_t)n * sizeof *hidden);
    renormalize(n, m, (void *)panel_of(b, x, 2));
    memcpy(masked, scaled, (size_t)n * sizeof *masked);
    mask_scores_table(n, m, mask, masked);
    softmax_rows(n, m, (const void *)masked, (void *)panel_of(b, x, 3));
    draw_maps(b, "maps", "Two ways to hide the future", 4, panel, x);
    free(masked);
    free(x);
}

static void draw_dropout(const Bench *b)
{
    static const char *const panel[2] = {"weights", "after dropout"};
    float *x = panels_for(b, 2);
    fill_panel(b, x, 0, WEIGHTS, 0);
    fill_panel(b, x, 1, bench_mixing(b), 0);
    draw_maps(b, "dropout", "Attention weights, and what dropout leaves", 2,
              panel, x);
    free(x);
}

static void draw_heads(const Bench *b)
{
    char title[100];
    snprintf(title, sizeof title, "The attention weights of %s head%s%s",
             numerals[b->a.n_heads], b->a.n_heads > 1 ? "s" : "",
             bench_has(b, DROPPED) ? ", after dropout" : "");
    draw_head_maps(b, title, "");
}

static void draw_output(const Bench *b)
{
    char title[100], before[80];
    snprintf(title, sizeof title,
             "What each word may see, and takes, in %s head%s",
             numerals[b->a.n_heads], b->a.n_heads > 1 ? "s" : "");
    snprintf(before, sizeof before, "%s%s%s, ", b->name[0][0],
             b->n > 1 ? " " : "", b->n > 1 ? b->name[0][1] : "");
    draw_head_maps(b, title, before);
}

void bench_draw(const Bench *b)
{
    static const struct {
        const char *stage;
        void (*draw)(const Bench *b);
    } of[] = {{"shares", draw_shares},
              {"roles", draw_roles},
              {"scale", draw_scale},
              {"texts", draw_texts},
              {"translation", draw_translation},
              {"mask", draw_mask},
              {"dropout", draw_dropout},
              {"heads", draw_heads},
              {"output", draw_output},
              {"all", draw_heads}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].stage, b->stage->name) == 0)
            of[i].draw(b);
}
