/* What the drawing functions write: the words and numbers of each picture,
 * and that what stands for a number is as large as the number. That pictures
 * look as they should is for eyes. */
#include "figures.h"
#include "support/pen.h"

#include <pthread.h>

#define HOLDS(condition) expect_true(#condition, condition)

static int count(const char *part)
{
    int n = 0;
    for (const char *c = text; (c = strstr(c, part)); c++)
        n++;
    return n;
}

static void has(int n, const char *part)
{
    expect_equal(part, count(part), n);
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

/* The k-th text of the picture, without the marks in it. */
static const char *said(int k)
{
    static char words[200];
    size_t n = 0;
    const char *c = strchr(behind("<text", k), '>');
    bool is_mark = false;
    for (c += c != NULL; c && strncmp(c, "</text>", 7) && n < 199; c++) {
        is_mark |= *c == '<';
        if (!is_mark)
            words[n++] = *c;
        is_mark &= *c != '>';
    }
    words[n] = '\0';
    return words;
}

/* Are these the picture's texts, one after the other, all within it? */
static void says(const char *words)
{
    char all[2000] = "";
    for (int k = 0; k < count("<text"); k++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 k ? "|" : "", said(k));
    expect(!strcmp(all, words), "the texts", "'%s' where '%s' is due", all,
           words);
    HOLDS(count("<title id=\"x-title\">") == 1);
    HOLDS(count("role=\"img\"") == 1);
    HOLDS(count("</svg>\n") == 1);
}

/* An attribute of n elements, from the k-th on, is as many times as large
 * as its value: a height, a shade. Where it falls from element to element
 * as the value rises, as on an axis that points up, least is its end. */
static void grows(const char *start, int k, const char *name, int n,
                  const double value[n], double of_0)
{
    int large = 0;
    for (int i = 0; i < n; i++)
        large = value[i] > value[large] ? i : large;
    const double size = of(start, k + large, name) - of_0;
    HOLDS(fabs(size) > 0.2);
    for (int i = 0; i < n; i++)
        expect_near(name, of(start, k + i, name),
                    of_0 + size * value[i] / value[large], 0,
                    fabs(size) > 5 ? 0.6 + 0.01 * fabs(size) : 0.006);
}

/* One frame begins where another ends. */
static void follows(const char *at, const char *size, int first, int second)
{
    HOLDS(of("<rect", first, size) > 20);
    expect_equal(at, of("<rect", second, at),
                 of("<rect", first, at) + of("<rect", first, size));
}

/* ---- A test point for each picture. */

static void pictures_of_tables(void)
{
    const float x[2][3] = {{0.5f, -1, 0}, {0.22910725f, 0.25f, -0.00001f}};
    const float hidden[2][2] = {{2, -INFINITY}, {copysignf(NAN, -1), -1}};
    TAP("figure_heatmap: with its style sheet",
        DRAW(figure_heatmap("x", "A <title>", 2, names, 3, names, x)),
        says("a&lt;b|b&amp;c|longer|a&lt;b|0.5000|-1.0000|0.0000|"
             "b&amp;c|0.2291|0.2500|0.0000"),
        grows("<rect", 0, "fill-opacity", 6,
              ((double[]){0.5, 1, 0, 0.229, 0.25, 0}), 0.04));
    TAP("figure_heatmap: hidden cells",
        DRAW(figure_heatmap("x", "Title", 2, names, 2, names, hidden)),
        says("a&lt;b|b&amp;c|a&lt;b|2.0000|-∞|b&amp;c|nan|-1.0000"),
        has(2, "class=\"rule\""), has(2, "fill-opacity"));
}

static void pictures_of_maps(void)
{
    const float map[3][2][6] = {{{1, -0.5f}}, {{5, 0, 1}, {0, 10}}};
    TAP("figure_maps: a scale for each",
        DRAW(figure_maps("x", "Title", 3, letters, 2, names, 6, letters,
                         map)),
        says("a|a|b|c|d|e|f|a&lt;b|1.0000|-0.5000|0.0000|0.0000|0.0000|"
             "0.0000|b&amp;c|0.0000|0.0000|0.0000|0.0000|0.0000|0.0000|"
             "b|a|b|c|d|e|f|a&lt;b|5.0000|0.0000|1.0000|0.0000|0.0000|"
             "0.0000|b&amp;c|0.0000|10.0000|0.0000|0.0000|0.0000|0.0000|"
             "c|a|b|c|d|e|f|a&lt;b|0.0000|0.0000|0.0000|0.0000|0.0000|"
             "0.0000|b&amp;c|0.0000|0.0000|0.0000|0.0000|0.0000|0.0000"));
    const float bits[2][2][3] = {{{1, 0, 0}, {1, 1, 0}},
                                 {{0, 0, 0}, {0, 0, 1}}};
    TAP("figure_grid: squares",
        DRAW(figure_grid("x", "Title", 2, names, 2, 3, bits)),
        says("a&lt;b|b&amp;c"));
    const FigureLayout layout[2] = {
        {"one", 1, 2, NULL, names, letters, (int[]){0, 1}},
        {"two", 2, 1, names, NULL, letters + 2, (int[]){-1, 1}}};
    TAP("figure_layout: words in cells, by part",
        DRAW(figure_layout("x", "Title", 2, layout)),
        says("one|a&lt;b|b&amp;c|a|b|two|a&lt;b|c|b&amp;c|d"),
        has(1, "one. Columns: a&lt;b, b&amp;c. (colour 1) a, (colour 2) "
               "b. two. a&lt;b: (pale) c. b&amp;c: (colour 2) d. "),
        has(1, "class=\"c0\""), has(2, "class=\"c1\""),
        has(4, "class=\"rule\""), follows("x", "width", 0, 2),
        follows("y", "height", 4, 5),
        expect_equal("a column's name, above its cells",
                     of("<text", 2, "x"), of("<text", 4, "x")));
    TAP("figure_lanes: a query to a row, and to a lane",
        DRAW(figure_lanes("x", "Title", 3, 2, 4, 4,
                          (float[16]){1, 3, 5, 0, 0, 0, 0, 0, 2, 4, 6, 0})),
        has(1, "as they lie. (colour 1) a0, a1. (colour 2) b0, b1. "
               "(colour 3) c0, c1. a query to a lane. Columns: lane 0, "
               "1, 2, 3. entry 0: (colour 1) a0, (colour 2) b0, (colour "
               "3) c0, (pale) 0. (pale) 0, 0, 0, 0. entry 1: (colour 1) "
               "a1, (colour 2) b1, (colour 3) c1, (pale) 0. (pale) 0, "
               "0, 0, 0. "),
        has(4, "class=\"c0\""), has(4, "class=\"c2\""));
    float x[26];
    for (int i = 0; i < 26; i++)
        x[i] = (float)(i + 1);
    TAP("figure_lanes: as many as there are letters",
        DRAW(figure_lanes("x", "Title", 26, 1, 26, 1, x)), has(2, ">z0<"));
}

static void pictures_of_words(void)
{
    const char *const word[2][3] = {{"a", "b&c", "d"},
                                    {"e", "f", "longer"}};
    const float x[2][2][3] = {{{0.5f, 0.25f, 0}, {1, 0, 0}},
                              {{0, 0, 2}, {1, 0, 0}}};
    TAP("figure_word_maps: one scale",
        DRAW(figure_word_maps("x", "Title", 2, names, 2, 3, word, x)),
        says("a&lt;b|a|0.5000|b&amp;c|0.2500|d|0.0000|e|1.0000|f|0.0000|"
             "longer|0.0000|b&amp;c|a|0.0000|b&amp;c|0.0000|d|2.0000|e|"
             "1.0000|f|0.0000|longer|0.0000"));
    const int ids[3] = {7, 0, 4};
    const float table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    TAP("figure_lookup: rows",
        DRAW(figure_lookup("x", "Title", 3, names, ids, 10, 2, table)),
        says("a&lt;b|row 7|1.0000|2.0000|b&amp;c|row 0|3.0000|4.0000|"
             "longer|row 4|5.0000|6.0000|and 7 other rows"));
    TAP("figure_pipeline: two stages",
        DRAW(figure_pipeline("x", "scores weights")),
        says("words|n|›|vectors|n × d|›|query, key, value|"
             "n × dk, dv|›|scores|n × m|›|scaled|n × m|›|"
             "masked|n × m|›|weights|n × m|›|dropped out|n × m|"
             "›|context|n × dv|›|heads joined|n × H dv"));
    TAP("figure_bits: few", DRAW(figure_bits("x", "Title", 0x83000001u)),
        says("1|0|0|0|0|0|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|"
             "0|0|1|1 of 16777216: 0.0000"));
    /* Of 2^24 - 1 it were 1.0000. */
    TAP("figure_bits: nearly 1", DRAW(figure_bits("x", "Title", 16776377)),
        says("0|0|0|0|0|0|0|0|1|1|1|1|1|1|1|1|1|1|1|1|1|1|0|0|1|0|1|1|1|"
             "0|0|1|16776377 of 16777216: 0.9999"));
}

/* In the second panel of the histograms bins are 61 / 0.6 times as narrow
 * as in the first, where they are 2 wide. */
static void pictures_of_bars(void)
{
    const float x[2][3] = {{1, -2, 4}, {0, 0, 0}};
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    TAP("figure_bars: signs",
        DRAW(figure_bars("x", "Title", 2, names, 3, names, x)),
        says("a&lt;b|1|a&lt;b|-2|b&amp;c|4|longer|"
             "b&amp;c|0|a&lt;b|0|b&amp;c|0|longer"));
    const float fine[1][2] = {{0.22910725f, 0.5f}};
    TAP("figure_bars: four decimals, or as few as say the same",
        DRAW(figure_bars("x", "Title", 1, names, 2, names, fine)),
        says("a&lt;b|0.2291|a&lt;b|0.5|b&amp;c"));
    TAP("figure_stacks: parts and sums",
        DRAW(figure_stacks("x", "Title", 2, names, 2, part)),
        says("a&lt;b|b&amp;c|entry 1|0.2500|0.1250|0.3750|entry 2|"
             "0.5000|1.0000|1.5000"));

    const float y[2][5] = {{-61, 0, 0, 20, 61}, {-0.6f, 0, 0, 0.2f, 0.6f}};
    TAP("figure_histograms: one axis",
        DRAW(figure_histograms("x", "Title", 2, names, 5, y)),
        says("-50|0|50|a&lt;b|b&amp;c"));
}

/* What is not there has no point and no line, and is said once in a row; a
 * value that is the one before is not said again. */
static void pictures_of_lines(void)
{
    const float arrow[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    TAP("figure_arrows: products and shadows",
        DRAW(figure_arrows("x", "Title", 3, names, arrow)),
        says("a&lt;b|b&amp;c: 14.0000|longer: -7.0000"));

    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, 0.25f}};
    const float gaps[2][6] = {{0.5f, 0.5f, NAN, NAN, 0.5f, 0.75f},
                              {1, 1, 1, 1, 1, 1}};
    TAP("figure_curves: values",
        DRAW(figure_curves("x", "Title", letters, 3, names, y)),
        says("a|b|0|1|2|3|4|a&lt;b|b&amp;c|longer|1.0000|2.0000|4.0000|"
             "0.5000|0.7500|0.2500"));
    TAP("figure_curves: gaps",
        DRAW(figure_curves("x", "Title", names, 6, letters, gaps)),
        says("a&lt;b|b&amp;c|0.0|0.2|0.4|0.6|0.8|1.0|a|b|c|d|e|f|0.5000|"
             "nan|0.5000|0.7500|1.0000"));
    const char *const kinds[2] = {"a<b", "dot"};
    const float at[4] = {0.1f, 4, 1000, 0.5f};
    const float of[2][4] = {{3.9f, 156, 156, NAN}, {NAN, NAN, NAN, 12.48f}};
    TAP("figure_log_log: a line and a dot",
        DRAW(figure_log_log("x", "Title", "per byte", "GFLOP/s", 2, kinds,
                            4, at, of)),
        says("0.1|1|10|100|1000|2|5|10|20|50|100|200|GFLOP/s|per byte|"
             "a&lt;b|dot"));
}

static void pictures_of_blocks(void)
{
    const FigureBlock b[4] = {{"X", 6, 3, 1, "·"},
                              {"a<b", 3, 8, 4, "="},
                              {"heads", 6, 8, 8, NULL},
                              {"next", 7, 2, 1, NULL}};
    TAP("figure_blocks: shapes and parts",
        DRAW(figure_blocks("x", "Title", 4, b)),
        says("X|6 × 3|·|a&lt;b|3 × 8|=|heads|6 × 8|next|7 × 2"));
    const float x[2][2] = {{1, 2}, {3, 4.5f}}, y[1][3] = {{7, 8, 9}};
    const char *const label[3] = {"X", "Y", "Z"};
    const int n[3] = {2, 1, 1}, m[3] = {2, 3, 12};
    const float *const all[3] = {x[0], y[0], NULL};
    TAP("figure_worksheet: one is given",
        DRAW(figure_worksheet("x", "Title", 3, label, n, m, all, 1)),
        says("X|1|2|3|4.5|Y|Z"));
    /* The last three are no names with an index. */
    const char *const index[6] = {"W_Q", "K_hᵀ",   "Q = X W_Q X_1",
                                  "a_",  "to_day", "2_a W_<"};
    const int one[6] = {1, 1, 1, 1, 1, 1};
    const float *const none[6] = {NULL};
    TAP("figure_worksheet: letters below the line",
        DRAW(figure_worksheet("x", "d_k", 6, index, one, one, none, 0)),
        says("WQ|Khᵀ|Q = X WQ X1|a_|to_day|2_a W_&lt;"));
}

static void picture_of_follow(void)
{
    const float x[1] = {0.5f}, query[3] = {1, 0, 2};
    const float key[2][3] = {{1, 0, 0.25f}, {0, 3, -1}};
    const float value[2][2] = {{4, 5}, {6, 7}};
    const float scores[2] = {1.5f, -2}, weights[2] = {0.75f, 0.25f};
    const float context[2] = {4.0625f, -0.00001f};
    TAP("figure_follow: roles, keys, shares, context",
        DRAW(figure_follow("x", "Title", 2, names, 1, 1, 3, 2, x, query,
                           key, value, scores, weights, context)),
        says("0.5|b&amp;c|query|1|0|2|key|0|3|-1|value|6|7|keys|"
             "query · key|share|values|a&lt;b|1|0|0.25|1.5000|0.7500|4|"
             "5|b&amp;c|0|3|-1|-2.0000|0.2500|6|7|context|4.0625|0"));
}

/* ---- What stands for a number is as large as it is. */

static void test_shades(void)
{
    const float map[2][1][3] = {{{1, -0.5f, 0}}, {{5, 0, 10}}};
    const float shares[2][1][3] = {{{1, 0.5f, 0}}, {{5, 0, 10}}};
    const char *const word[1][3] = {{"a", "b", "c"}};
    const float bits[1][2][2] = {{{1, 0}, {1, 1}}};
    DRAW(figure_maps("x", "Title", 2, names, 1, names, 3, names, map));
    grows("<rect", 0, "fill-opacity", 3, (double[]){1, 0.5, 0}, 0.04);
    grows("<rect", 3, "fill-opacity", 3, (double[]){0.5, 0, 1}, 0.04);
    HOLDS(count("class=\"c1\"") == 1); /* what is below 0 */
    DRAW(figure_word_maps("x", "Title", 2, names, 1, 3, word, shares));
    grows("<rect", 0, "fill-opacity", 6, (double[]){1, 0.5, 0, 5, 0, 10},
          0.04);
    DRAW(figure_grid("x", "Title", 1, names, 2, 2, bits));
    HOLDS(count("class=\"c0\"") == 3);
}

/* Bars begin at the line of 0, and parts side by side. */
static void test_bars(void)
{
    const float x[1][3] = {{1, -2, 4}};
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    const float y[1][5] = {{-61, 0, 0, 20, 61}};
    DRAW(figure_bars("x", "Title", 1, names, 3, names, x));
    grows("<rect", 0, "height", 3, (double[]){1, 2, 4}, 0);
    const double zero = of("<line", 0, "y1");
    expect_near("up", of("<rect", 0, "y") + of("<rect", 0, "height"), zero,
                0, 0.15);
    expect_near("down", of("<rect", 1, "y"), zero, 0, 0.15);
    DRAW(figure_stacks("x", "Title", 2, names, 2, part));
    grows("<rect", 2, "width", 4, (double[]){0.25, 0.125, 0.5, 1}, 0);
    expect_near("beside", of("<rect", 3, "x"),
                of("<rect", 2, "x") + of("<rect", 2, "width"), 0, 0.15);
    DRAW(figure_histograms("x", "Title", 1, names, 5, y));
    grows("<rect", 0, "height", 4, (double[]){1, 2, 1, 1}, 0);
}

static void test_points(void)
{
    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, 0.25f}};
    const float at[3] = {0.1f, 4, 1000}, flops[1][3] = {{3.9f, 156, 20}};
    const float arrow[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    DRAW(figure_curves("x", "Title", letters, 3, names, y));
    const double zero = of("<line", 0, "y1");
    grows("<line", 5, "y1", 2, (double[]){1, 2}, zero);
    grows("<line", 5, "y2", 2, (double[]){2, 4}, zero);
    grows("<line", 7, "y1", 2, (double[]){0.5, 0.75}, zero);
    DRAW(figure_log_log("x", "", "x", "y", 1, letters, 3, at, flops));
    grows("<circle", 0, "cx", 3, (double[]){0, log10(40), 4},
          of("<circle", 0, "cx"));
    grows("<circle", 0, "cy", 3,
          (double[]){0, log10(156 / 3.9), log10(20 / 3.9)},
          of("<circle", 0, "cy"));
    DRAW(figure_arrows("x", "Title", 3, names, arrow));
    for (int i = 0; i < 3; i++) {
        const double x = of("<line", 6 + i, "x2") - of("<line", 1, "x1");
        const double up = of("<line", 0, "y1") - of("<line", 6 + i, "y2");
        expect_near("direction", up / x, arrow[i][1] / arrow[i][0], 0,
                    0.01);
        expect_true("to its side", (x > 0) == (arrow[i][0] > 0));
    }
}

/* Another thread draws while one is in the middle of a picture. */
static void *draw_other(void *unused)
{
    figure_arrows("y", "Other", 1, names, (const float[1][2]){{1, 2}});
    return unused;
}
static void draw_in_threads(void)
{
    pthread_t other;
    char path[100];
    pen_begin("x", "Title", 10, 10);
    const char *number = pen_number(1, 0.5);
    if (pthread_create(&other, NULL, draw_other, NULL) ||
        pthread_join(other, NULL))
        REFUSE("no thread can be begun");
    expect_true("the number is as it was", !strcmp(number, "0.5"));
    pen_draw();
    pen_end();
    look();
    has(1, ">Title</title>");
    has(0, "Other");
    has(1, "</svg>");
    snprintf(path, sizeof path, "%s/y.svg", folder);
    read_all(path, sizeof text, text);
    remove(path);
    has(1, ">Other</title>");
    has(1, "</svg>");
}

int main(void)
{
    begin_drawing();
    pictures_of_tables();
    pictures_of_maps();
    pictures_of_words();
    pictures_of_bars();
    pictures_of_lines();
    pictures_of_blocks();
    picture_of_follow();
    TAP("figure_maps: shades", test_shades());
    TAP("figure_bars: heights and widths", test_bars());
    TAP("figure_curves: where points lie", test_points());
    TAP("pen_begin: a pen for each thread", draw_in_threads());
    end_drawing();
    return tap_done();
}
