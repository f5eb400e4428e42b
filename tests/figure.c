/* What the drawing functions write. A picture must be the one that is kept
 * in tests/pictures.txt. Who changes a figure looks at it, and when it is as
 * it should be keeps all pictures anew:
 *     rm tests/pictures.txt; PICTURES=tests/pictures.txt build/tests/figure
 * What must hold of any picture, such as that no label covers another, is
 * tested with many. */
#include "figures.h"

static const char *const long_words[8] = {"translation", "b", "c", "d",
                                          "e",           "f", "g", "h"};
static char kept[300000];

/* The size of the number here, 0 if there is none, and its decimals. */
static size_t number_here(const char *c, int *decimals)
{
    const size_t sign = *c == '-', whole = strspn(c + sign, "0123456789");
    const char *point = c + sign + whole;
    *decimals =
        whole && *point == '.' ? (int)strspn(point + 1, "0123456789") : 0;
    return whole ? sign + whole + (*decimals ? 1 + (size_t)*decimals : 0)
                 : 0;
}

/* Equal, but for the last decimal of a number, which machines may round
 * otherwise. */
static bool is_like(const char *got, const char *due, size_t size)
{
    const char *end = due + size;
    while (due < end) {
        int decimals, as_many;
        const size_t digits = number_here(due, &decimals);
        const size_t others = number_here(got, &as_many);
        const double apart = strtod(got, NULL) - strtod(due, NULL);
        if (digits ? !others || decimals != as_many ||
                         fabs(apart) >
                             (decimals ? 1.1 * pow(10, -decimals) : 0)
                   : *got != *due)
            return false;
        due += digits ? digits : 1;
        got += digits ? others : 1;
    }
    return *got == '\n' || !*got;
}

/* The style sheet, which all pictures have, is kept with the first. */
static void without_style(void)
{
    char *from = strstr(text, "<style>");
    char *behind = strstr(text, "</style>\n");
    if (from && behind)
        memmove(from, behind + 9, strlen(behind + 9) + 1);
}

static void keep(const char *name)
{
    const char *path = getenv("PICTURES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "\n== %s\n%s", name, text);
        fclose(file);
    }
}

/* Is the picture, line by line, the one of this name? */
static void is_kept(const char *name)
{
    keep(name);
    const char *due = strstr(kept, tap_words("\n== %s\n", name));
    const char *got = text;
    tap_report(due != NULL, name, "this picture is not kept");
    due += due ? strlen(name) + 5 : 0;
    while (due && *got && strncmp(due, "\n== ", 4) != 0) {
        const int size = (int)strcspn(due, "\n");
        tap_report(is_like(got, due, (size_t)size), name,
                   "'%.*s' where '%.*s' is due", (int)strcspn(got, "\n"),
                   got, size, due);
        got += strcspn(got, "\n") + 1;
        due += size + 1;
    }
    tap_report(due && !*got && (!*due || !strncmp(due, "\n== ", 4)), name,
               "it has not as many lines as the one that is kept");
}

#define KEPT(name, ...)                                                    \
    TAP_OF(name, DRAW(__VA_ARGS__), without_style(), is_kept(name))

/* ---- A test point for each picture. */

static void pictures_of_tables(void)
{
    const float x[2][3] = {{0.5f, -1, 0}, {0.22910725f, 0.25f, -0.00001f}};
    const float hidden[2][2] = {{2, -INFINITY}, {copysignf(NAN, -1), -1}};
    const float zeros[1][8] = {{0}}, loud[1][7] = {{0, -100.5f}};
    const char *const wide[2] = {long_words[0], long_words[0]};
    TAP_OF("figure_heatmap: with its style sheet",
           DRAW(figure_heatmap("x", "A <title>", 2, names, 3, names, x)),
           is_kept("figure_heatmap: with its style sheet"));
    KEPT("figure_heatmap: hidden cells",
         figure_heatmap("x", "Title", 2, names, 2, names, hidden));
    KEPT("figure_heatmap: eight columns",
         figure_heatmap("x", "Title", 1, names, 8, long_words, zeros));
    KEPT("figure_heatmap: long words",
         figure_heatmap("x", "Title", 1, names, 2, wide, zeros));
    KEPT("figure_heatmap: large numbers",
         figure_heatmap("x", "Title", 1, names, 7, letters, loud));

    const float map[3][2][6] = {{{1, -0.5f}}, {{5, 0, 1}, {0, 10}}};
    const float small[5][1][2] = {{{0}}};
    KEPT("figure_maps: a scale for each",
         figure_maps("x", "Title", 3, letters, 2, names, 6, letters, map));
    KEPT("figure_maps: three a row",
         figure_maps("x", "Title", 5, letters, 1, names, 2, names, small));

    const float bits[2][2][3] = {{{1, 0, 0}, {1, 1, 0}},
                                 {{0, 0, 0}, {0, 0, 1}}};
    const float row[3][1][10] = {{{0}}};
    KEPT("figure_grid: squares",
         figure_grid("x", "Title", 2, names, 2, 3, bits));
    KEPT("figure_grid: wide ones",
         figure_grid("x", "Title", 3, names, 1, 10, row));
}

static void pictures_of_words(void)
{
    const char *const word[2][3] = {{"a", "b&c", "d"},
                                    {"e", "f", "longer"}};
    const char *const wide[1][3] = {{"a", "internationalization", "b"}};
    const float x[2][2][3] = {{{0.5f, 0.25f, 0}, {1, 0, 0}},
                              {{0, 0, 2}, {1, 0, 0}}};
    KEPT("figure_word_maps: one scale",
         figure_word_maps("x", "Title", 2, names, 2, 3, word, x));
    KEPT("figure_word_maps: long words",
         figure_word_maps("x", "Title", 1, names, 1, 3, wide, x));

    const int ids[3] = {7, 0, 4};
    const float table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    KEPT("figure_lookup: rows",
         figure_lookup("x", "Title", 3, names, ids, 10, 2, table));
    KEPT("figure_pipeline: two stages",
         figure_pipeline("x", "scores weights"));
    KEPT("figure_bits: few", figure_bits("x", "Title", 0x83000001u));
    /* Of 2^24 - 1 it were 1.0000. */
    KEPT("figure_bits: nearly 1", figure_bits("x", "Title", 16776377));
    KEPT("figure_bits: the most", figure_bits("x", "Title", UINT32_MAX));
}

/* In the second panel of the histograms bins are 61 / 0.6 times as narrow
 * as in the first, where they are 2 wide. */
static void pictures_of_bars(void)
{
    const float x[2][3] = {{1, -2, 4}, {0, 0, 0}}, one[1][1] = {{1}};
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    KEPT("figure_bars: signs",
         figure_bars("x", "Title", 2, names, 3, names, x));
    KEPT("figure_bars: long words",
         figure_bars("x", "Title", 1, letters, 1, long_words, one));
    KEPT("figure_stacks: parts and sums",
         figure_stacks("x", "Title", 2, names, 2, part));

    const float y[2][5] = {{-61, 0, 0, 20, 61}, {-0.6f, 0, 0, 0.2f, 0.6f}};
    static float few[2][500] = {{0, 0, 3}};
    const float above[1][3] = {{0, 1, 61}};
    KEPT("figure_histograms: one axis",
         figure_histograms("x", "Title", 2, names, 5, y));
    KEPT("figure_histograms: at the end of the axis",
         figure_histograms("x", "Title", 2, names, 500, few));
    KEPT("figure_histograms: zeros",
         figure_histograms("x", "Title", 1, names, 500, few + 1));
    KEPT("figure_histograms: nothing below 0",
         figure_histograms("x", "Title", 1, names, 3, above));
}

/* What is not there has no point and no line, and is said once in a row; a
 * value that is the one before is not said again. */
static void pictures_of_lines(void)
{
    const float arrow[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    KEPT("figure_arrows: products and shadows",
         figure_arrows("x", "Title", 3, names, arrow));

    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, 0.25f}};
    const float gaps[2][6] = {{0.5f, 0.5f, NAN, NAN, 0.5f, 0.75f},
                              {1, 1, 1, 1, 1, 1}};
    const float none[2][1] = {{NAN}, {NAN}};
    KEPT("figure_curves: values",
         figure_curves("x", "Title", letters, 3, names, y));
    KEPT("figure_curves: gaps",
         figure_curves("x", "Title", names, 6, letters, gaps));
    KEPT("figure_curves: nothing",
         figure_curves("x", "Title", names, 1, letters, none));

    const char *const kinds[2] = {"a<b", "dot"};
    const float at[4] = {0.1f, 4, 1000, 0.5f}, tiny[1] = {0.0000312f};
    const float of[2][4] = {{3.9f, 156, 156, NAN}, {NAN, NAN, NAN, 12.48f}};
    KEPT("figure_log_log: a line and a dot",
         figure_log_log("x", "Title", "per byte", "GFLOP/s", 2, kinds, 4,
                        at, of));
    KEPT("figure_log_log: a small number",
         figure_log_log("x", "Title", "x", "y", 1, letters, 1, tiny,
                        ROWS(1, y[0])));
}

static void pictures_of_blocks(void)
{
    const FigureBlock b[4] = {{"X", 6, 3, 1, "·"},
                              {"a<b", 3, 8, 4, "="},
                              {"heads", 6, 8, 8, NULL},
                              {"next", 7, 2, 1, NULL}};
    const FigureBlock large[3] = {{"X", 20, 512, 1, "·"},
                                  {"W", 512, 512, 8, "="},
                                  {"XW", 20, 512, 1, NULL}};
    KEPT("figure_blocks: shapes and parts",
         figure_blocks("x", "Title", 4, b));
    KEPT("figure_blocks: large ones",
         figure_blocks("x", "Title", 3, large));

    const float x[2][2] = {{1, 2}, {3, 4.5f}}, y[1][3] = {{7, 8, 9}};
    const char *const label[3] = {"X", "Y", "Z"};
    const int n[3] = {2, 1, 1}, m[3] = {2, 3, 12};
    const float *const all[3] = {x[0], y[0], NULL};
    for (int given = 1; given <= 2; given++)
        KEPT(given == 1 ? "figure_worksheet: one is given"
                        : "figure_worksheet: two are given",
             figure_worksheet("x", "Title", 3, label, n, m, all, given));

    /* The last three are no names with an index. */
    const char *const index[6] = {"W_Q", "K_hᵀ",   "Q = X W_Q X_1",
                                  "a_",  "to_day", "2_a W_<"};
    const int one[6] = {1, 1, 1, 1, 1, 1};
    const float *const none[6] = {NULL};
    KEPT("figure_worksheet: letters below the line",
         figure_worksheet("x", "d_k", 6, index, one, one, none, 0));
}

static void picture_of_follow(void)
{
    const float x[1] = {0.5f}, query[3] = {1, 0, 2};
    const float key[2][3] = {{1, 0, 0.25f}, {0, 3, -1}};
    const float value[2][2] = {{4, 5}, {6, 7}};
    const float scores[2] = {1.5f, -2}, weights[2] = {0.75f, 0.25f};
    const float context[2] = {4.0625f, -0.00001f};
    KEPT("figure_follow: roles, keys, shares, context",
         figure_follow("x", "Title", 2, names, 1, 1, 3, 2, x, query, key,
                       value, scores, weights, context));
}

/* ---- What holds for any picture. */

#define HOLDS(condition) tap_true(#condition, condition)

static int count(const char *part)
{
    int n = 0;
    for (const char *c = text; (c = strstr(c, part)); c++)
        n++;
    return n;
}

/* What is behind the start of the k-th element that begins like this. */
static const char *behind(const char *start, int k)
{
    const char *c = strstr(text, start);
    while (c && k-- > 0)
        c = strstr(c + 1, start);
    return c ? c + strlen(start) : "";
}

/* The number that an attribute of the k-th such element has: where things
 * lie, and how large they are. */
static double of(const char *start, int k, const char *name)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *found = strstr(behind(start, k), wanted);
    return found ? strtod(found + strlen(wanted), NULL) : NAN;
}

static void is_said(int k, const char *words)
{
    const char *said = strchr(behind("<text", k), '>');
    const int size = said ? (int)strcspn(said, "<") - 1 : 0;
    tap_report(said && size == (int)strlen(words) &&
                   !strncmp(said + 1, words, strlen(words)),
               "a text of the picture", "'%.*s' where '%s' is due", size,
               said ? said + 1 : "", words);
}

/* Curves of n places: all values are there, within the picture, and none
 * covers another. */
static void values(int n, const float y[2][n])
{
    const char *at[20];
    for (int i = 0; i < n; i++)
        at[i] = "a";
    DRAW(figure_curves("x", "Title", letters, n, at, y));
    const int t = count("<text") - 2 * n;
    HOLDS(count("class=\"middle small rim c0\"") == n);
    HOLDS(count("class=\"middle small rim c1\"") == n);
    for (int i = t; i < t + 2 * n; i++) {
        HOLDS(of("<text", i, "y") > of("<text", 0, "y") + 13);
        HOLDS(of("<text", i, "y") < of("<text", t - 1, "y") - 13);
        for (int k = t; k < i; k++)
            HOLDS(fabs(of("<text", i, "x") - of("<text", k, "x")) > 40 ||
                  fabs(of("<text", i, "y") - of("<text", k, "y")) > 11);
    }
}

static void test_values(void)
{
    float y[2][6];
    for (int trial = 0; trial < 20; trial++) {
        tap_fill(6, y[0], 0, 1);
        tap_fill(6, y[1], 0, 1);
        values(6, y);
    }
    float swing[2][20]; /* wider than the page */
    for (int i = 0; i < 40; i++)
        swing[i / 20][i % 20] = (float)(i % 2);
    values(20, swing);
    values(1, (float[2][1]){{0}}); /* nothing but zeros */
    is_said(count("<text") - 1, "0.0000");
}

/* The marks of the axis below, for points from one number to another. They
 * are as far apart as they are wide. */
static void test_marks(void)
{
    static const struct {
        float x[2];
        const char *marks[8];
    } axis[] = {
        {{128, 8192},
         {"128", "256", "512", "1024", "2048", "4096", "8192"}},
        {{1, 1 << 20}, {"1", "16", "256", "4096", "65536", "1048576"}},
        {{128, 3000}, {"100", "200", "500", "1000", "2000", "5000"}},
        {{0.2f, 1500}, {"1", "10", "100", "1000"}},
        {{0.5f, 4}, {"0.5", "1", "2", "5"}}, /* not 1, 2, 4 */
        {{0.001f, 0.1f},                     /* a little above 0.1 */
         {"0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"}},
        {{1e-6f, 1e6f}, {"0.000001", "0.001", "1", "1000", "1000000"}},
        {{128, 128}, {"64", "128", "256"}},
        {{30, 30}, {"20", "50"}},
    };
    const float y[1][2] = {{3, 3}};
    for (size_t k = 0; k < sizeof axis / sizeof *axis; k++) {
        int n = 0;
        DRAW(
            figure_log_log("x", "", "x", "y", 1, letters, 2, axis[k].x, y));
        for (; axis[k].marks[n]; n++) {
            const double x = of("<text", n, "x");
            is_said(n, axis[k].marks[n]);
            HOLDS(n == 0 || x - of("<text", n - 1, "x") >
                                9.0 * strlen(axis[k].marks[n]));
        }
        HOLDS(count("class=\"middle small muted\"") == n);
    }
}

/* Labels stand behind all points, within the picture, and cover none of
 * the others. */
static const char *const called[8] = {"T = 256",   "T = 1024", "decoding",
                                      "chapter 6", "roof",     "a",
                                      "library",   "b c d"};
static void labels(int lines, int n, const float x[n],
                   const float y[lines][n])
{
    DRAW(figure_log_log("x", "Title", "x", "y", lines, called, n, x, y));
    const int t = count("<text") - lines;
    for (int k = 0; k < lines; k++) {
        const double left = of("<text", t + k, "x");
        const double high = of("<text", t + k, "y") - 5;
        is_said(t + k, called[k]);
        HOLDS(left + 8.0 * strlen(called[k]) < of("<svg", 0, "width"));
        HOLDS(high > 33 && high < 299);
        for (int i = 0; i < count("<circle"); i++)
            HOLDS(of("<circle", i, "cx") < left - 3);
        for (int i = 0; i < k; i++)
            HOLDS(fabs(of("<text", t + i, "y") - 5 - high) > 17.7);
    }
}

/* Eight that end together: in the middle, at the bottom, and in another
 * order. */
static void test_labels(void)
{
    const float x[2] = {1, 2000};
    const float end[3][8] = {{30, 30, 30, 30, 30, 30, 30, 30},
                             {1, 1, 1, 1, 1, 1, 1, 1},
                             {1000, 30, 31, 30}};
    for (int trial = 0; trial < 3; trial++) {
        float y[8][2];
        for (int k = 0; k < 8; k++) {
            y[k][0] = trial == 1 ? 30 : 1;
            y[k][1] = end[trial][k];
        }
        labels(trial == 2 ? 4 : 8, 2, x, y);
        without_style();
        is_kept(tap_words("labels that end together, %d", trial));
    }
}

int main(void)
{
    begin_drawing();
    read_all("tests/pictures.txt", sizeof kept, kept);
    pictures_of_tables();
    pictures_of_words();
    pictures_of_bars();
    pictures_of_lines();
    pictures_of_blocks();
    picture_of_follow();
    TAP(test_values, "figure_curves: axis from 0, values side by side");
    TAP(test_marks, "figure_log_log: which numbers stand at the axes");
    TAP(test_labels, "figure_log_log: labels of lines that end "
                     "together");
    end_drawing();
    return tap_done();
}
