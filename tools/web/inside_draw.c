#include "inside.h"

/* A picture, with all heads and, where some are off, once more without
 * them. */
enum { LONGEST_LINE = 9, LIKELY = 3 };
typedef struct {
    const char *name;
    int panels;
    const char *panel[2];
} Picture;

/* What the last token looks at in the head that is shown: the tokens of the
 * text, each with its weight, in lines of equal length. (Of a text of 11,
 * each line has one.) */
static void draw_looks(const Inside *in, const Picture *p,
                       const float weights[2 * MOST_TOKENS])
{
    const int n = in->n;
    int m = n < LONGEST_LINE ? n : LONGEST_LINE;
    while (n % m)
        m--;
    const char *word[MOST_TOKENS];
    for (int i = 0; i < n; i++)
        word[i] = in->name[i];
    char title[80];
    snprintf(title, sizeof title,
             "What the last token looks at in head %d.%d", in->block,
             in->head);
    figure_word_maps(p->name, title, p->panels, p->panel, n / m, m,
                     (const void *)word, (const void *)weights);
}

/* Shares of what may come next: of the tokens with the largest ones in
 * either panel. */
static void draw_next(const Inside *in, const Picture *p,
                      const int best[2 * LIKELY], const float *share[2])
{
    const char *word[2 * LIKELY];
    int shown[2 * LIKELY], count = 0;
    float x[4 * LIKELY];
    for (int k = 0; k < p->panels * LIKELY; k++) {
        int known = 0;
        while (known < count && shown[known] != best[k])
            known++;
        if (known == count)
            shown[count++] = best[k];
    }
    for (int k = 0; k < count; k++)
        word[k] = in->vocabulary[shown[k]];
    for (int k = 0; k < p->panels * count; k++)
        x[k] = share[k / count][shown[k % count]];
    figure_bars(p->name, "What may come next", p->panels, p->panel, count,
                word, (const void *)x);
}

void inside_draw(Inside *in, const char *stage, const char *off)
{
    const int n = in->n, size = in->g.vocabulary;
    char name[40], without[160];
    snprintf(name, sizeof name, "%s-%s", stage, in->draw);
    snprintf(without, sizeof without, "without head%s %s",
             strchr(off, ',') ? "s" : "", off);
    const Picture p = {name, *off ? 2 : 1, {"with all heads", without}};
    float weights[2 * MOST_TOKENS], shares[2][MOST_KNOWN];
    int best[2 * LIKELY];
    for (int k = 0; k < p.panels; k++) {
        inside_switch(in); /* on, and off again */
        inside_compute(in);
        memcpy(
            weights + k * n,
            inside_row(&in->step[in->weights[in->block]], in->head, n - 1),
            (size_t)n * sizeof(float));
        memcpy(shares[k],
               inside_row(&in->step[in->step[in->next].from[0]], 0, n - 1),
               (size_t)size * sizeof(float));
        memcpy(best + k * LIKELY, in->best, LIKELY * sizeof(int));
    }
    if (!strcmp(in->draw, "next"))
        draw_next(in, &p, best, (const float *[]){shares[0], shares[1]});
    else
        draw_looks(in, &p, weights);
}
