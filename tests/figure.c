/* What the drawing functions write: the words and numbers of each picture,
 * and that what stands for a number is as large as the number; and what they
 * refuse. That pictures look as they should is for eyes. */
#include "tap.h"

static const char *const names[3] = {"a<b", "b&c", "longer"};
static const char *const letters[9] = {"a", "b", "c", "d", "e",
                                       "f", "g", "h", "i"};
static char folder[] = "/tmp/figure-test-XXXXXX";
static char text[60000]; /* the picture, "" if there is none */

/* Every picture has the name x, and is removed when it has been read. */
#define DRAW(...) (__VA_ARGS__, look())
static void look(void)
{
    const char *path = tap_words("%s/x.svg", folder);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    remove(path);
}

static void has(int due, const char *part)
{
    int n = 0;
    for (const char *c = text; (c = strstr(c, part)); c++)
        n++;
    expect_equal(part, n, due);
}

/* The number that an attribute of the k-th element that begins like this
 * has: where things lie, and how large they are. */
static double of(const char *start, int k, const char *name)
{
    const char *wanted = tap_words(" %s=\"", name);
    const char *c = strstr(text, start);
    while (c && k-- > 0)
        c = strstr(c + 1, start);
    c = c ? strstr(c, wanted) : NULL;
    return c ? strtod(c + strlen(wanted), NULL) : NAN;
}

/* Are these the picture's texts, one after the other? */
static void says(const char *words)
{
    char all[2000] = "";
    size_t n = 0;
    bool is_mark = false;
    for (const char *c = strstr(text, "</style>"); c && *c; c++) {
        if (!strncmp(c, "<text", 5) && n > 0)
            all[n++] = '|';
        is_mark |= *c == '<';
        if (!is_mark && *c != '\n')
            all[n++] = *c;
        is_mark &= *c != '>';
    }
    expect(!strcmp(all, words), "the texts", "'%s' where '%s' is due", all,
           words);
    has(1, "<title id=\"x-title\">");
    has(1, "role=\"img\"");
    has(1, "</svg>\n");
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
    expect_true("it is large enough to be seen", fabs(size) > 0.2);
    for (int i = 0; i < n; i++)
        expect_near(name, of(start, k + i, name),
                    of_0 + size * value[i] / value[large], 0,
                    fabs(size) > 5 ? 0.6 + 0.01 * fabs(size) : 0.006);
}

/* ---- What pictures say, and that what stands for a number is as large as
 * it is. */

static void test_heatmap(void)
{
    const float x[2][3] = {{0.5f, -1, 0}, {0.22910725f, 0.25f, -0.00001f}};
    const float hidden[2][2] = {{2, -INFINITY}, {copysignf(NAN, -1), -1}};
    DRAW(figure_heatmap("x", "A <title>", 2, names, 3, names, x));
    has(1, ">A &lt;title></title>");
    says("a&lt;b|b&amp;c|longer|a&lt;b|0.5000|-1.0000|0.0000|"
         "b&amp;c|0.2291|0.2500|0.0000");
    grows("<rect", 0, "fill-opacity", 6,
          (double[]){0.5, 1, 0, 0.229, 0.25, 0}, 0.04);
    has(2, "class=\"c1\""); /* what is below 0 */
    DRAW(figure_heatmap("x", "Title", 2, names, 2, names, hidden));
    says("a&lt;b|b&amp;c|a&lt;b|2.0000|-∞|b&amp;c|nan|-1.0000");
    has(2, "class=\"rule\"");
}

/* A scale for each, and one for all. */
static void test_maps(void)
{
    float x[2][1][3] = {{{1, -0.5f, 0}}, {{5, 0, 10}}};
    DRAW(figure_maps("x", "Title", 2, letters, 1, names, 3, letters, x));
    says("a|a|b|c|a&lt;b|1.0000|-0.5000|0.0000|"
         "b|a|b|c|a&lt;b|5.0000|0.0000|10.0000");
    grows("<rect", 0, "fill-opacity", 3, (double[]){1, 0.5, 0}, 0.04);
    grows("<rect", 3, "fill-opacity", 3, (double[]){0.5, 0, 1}, 0.04);
}

/* Squares, and blocks of n times m. */
static void test_shapes(void)
{
    const FigureBlock b[4] = {{"X", 6, 3, 1, "·"},
                              {"a<b", 3, 8, 4, "="},
                              {"heads", 6, 8, 8, NULL},
                              {"next", 7, 2, 1, NULL}};
    const float bits[2][2][3] = {{{1, 0, 0}, {1, 1, 0}},
                                 {{0, 0, 0}, {0, 0, 1}}};
    DRAW(figure_grid("x", "Title", 2, names, 2, 3, bits));
    says("a&lt;b|b&amp;c");
    has(4, "class=\"c0\"");
    DRAW(figure_blocks("x", "Title", 4, b));
    says("X|6 × 3|·|a&lt;b|3 × 8|=|heads|6 × 8|next|7 × 2");
}

static void test_layout(void)
{
    const FigureLayout layout[2] = {
        {"one", 1, 2, NULL, names, letters, (int[]){0, 1}},
        {"two", 2, 1, names, NULL, letters + 2, (int[]){-1, 1}}};
    DRAW(figure_layout("x", "Title", 2, layout));
    says("one|a&lt;b|b&amp;c|a|b|two|a&lt;b|c|b&amp;c|d");
    has(1, "one. Columns: a&lt;b, b&amp;c. (colour 1) a, (colour 2) b. "
           "two. a&lt;b: (pale) c. b&amp;c: (colour 2) d. ");
    has(1, "class=\"c0\"");
    has(2, "class=\"c1\"");
    has(4, "class=\"rule\"");
    expect_equal("a column's name, above its cells", of("<text", 2, "x"),
                 of("<text", 4, "x"));
}

static void test_pipeline(void)
{
    DRAW(figure_pipeline("x", "scores weights"));
    says("words|n|›|vectors|n × d|›|query, key, value|n × dk, dv|›|scores|"
         "n × m|›|scaled|n × m|›|masked|n × m|›|weights|n × m|›|"
         "dropped out|n × m|›|context|n × dv|›|heads joined|n × H dv");
    has(2, "(this chapter)");
    has(2, "class=\"c0\"");
}

static void test_stream(void)
{
    DRAW(figure_stream("x", "Title", 2));
    says("token + position|norm|attention|+|block|norm|network|+|"
         "norm|attention|+|block|norm|network|+|norm|logits");
    has(1, "Then, 2 times: ");
}

/* Bars begin at the line of 0. The last of these are no names with an
 * index. */
static void test_bars(void)
{
    const char *const index[6] = {"W_Q", "K_hᵀ",   "Q = X W_Q X_1",
                                  "a_",  "to_day", "2_a W_<"};
    const float x[2][3] = {{1, -2, 4}, {0, 0, 0.22910725f}},
                y[1][6] = {{1}};
    DRAW(figure_bars("x", "Title", 2, names, 3, names, x));
    says("a&lt;b|1|a&lt;b|-2|b&amp;c|4|longer|"
         "b&amp;c|0|a&lt;b|0|b&amp;c|0.2291|longer");
    grows("<rect", 0, "height", 3, (double[]){1, 2, 4}, 0);
    const double zero = of("<line", 0, "y1");
    expect_near("up", of("<rect", 0, "y") + of("<rect", 0, "height"), zero,
                0, 0.15);
    expect_near("down", of("<rect", 1, "y"), zero, 0, 0.15);
    DRAW(figure_bars("x", "Title", 1, names, 6, index, y));
    says("a&lt;b|1|WQ|0|Khᵀ|0|Q = X WQ X1|0|a_|0|to_day|0|2_a W_&lt;");
}

static void test_stacks(void)
{
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    DRAW(figure_stacks("x", "Title", 2, names, 2, part));
    says("a&lt;b|b&amp;c|entry 1|0.2500|0.1250|0.3750|entry 2|0.5000|"
         "1.0000|1.5000");
    grows("<rect", 2, "width", 4, (double[]){0.25, 0.125, 0.5, 1}, 0);
    expect_near("beside", of("<rect", 3, "x"),
                of("<rect", 2, "x") + of("<rect", 2, "width"), 0, 0.15);
}

static void test_histograms(void)
{
    const float x[2][5] = {{-61, 0, 0, 20, 61}, {-0.6f, 0, 0, 0.2f, 0.6f}};
    DRAW(figure_histograms("x", "Title", 2, names, 5, x));
    says("-50|0|50|a&lt;b|b&amp;c");
    grows("<rect", 0, "height", 4, (double[]){1, 2, 1, 1}, 0);
}

/* What is not there has no point and no line, and is said once in a row; a
 * value that is the one before is not said again. */
static void test_curves(void)
{
    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, 0.25f}};
    const float gaps[2][6] = {{0.5f, 0.5f, NAN, NAN, 0.5f, 0.75f},
                              {1, 1, 1, 1, 1, 1}};
    DRAW(figure_curves("x", "Title", letters, 3, names, y));
    says("a|b|0|1|2|3|4|a&lt;b|b&amp;c|longer|1.0000|2.0000|4.0000|"
         "0.5000|0.7500|0.2500");
    const double zero = of("<line", 0, "y1");
    grows("<line", 5, "y1", 2, (double[]){1, 2}, zero);
    grows("<line", 7, "y1", 2, (double[]){0.5, 0.75}, zero);
    DRAW(figure_curves("x", "Title", names, 6, letters, gaps));
    says("a&lt;b|b&amp;c|0.0|0.2|0.4|0.6|0.8|1.0|a|b|c|d|e|f|0.5000|nan|"
         "0.5000|0.7500|1.0000");
}

/* A line, and a dot. */
static void test_log_log(void)
{
    const char *const kinds[2] = {"a<b", "dot"};
    const float x[4] = {0.1f, 4, 1000, 0.5f};
    const float y[2][4] = {{3.9f, 156, 20, NAN}, {NAN, NAN, NAN, 12.48f}};
    DRAW(figure_log_log("x", "Title", "per byte", "GFLOP/s", 2, kinds, 4, x,
                        y));
    says("0.1|1|10|100|1000|2|5|10|20|50|100|200|GFLOP/s|per byte|a&lt;b|"
         "dot");
    grows("<circle", 0, "cx", 3, (double[]){0, log10(40), 4},
          of("<circle", 0, "cx"));
    grows("<circle", 0, "cy", 3,
          (double[]){0, log10(156 / 3.9), log10(20 / 3.9)},
          of("<circle", 0, "cy"));
}

static void test_follow(void)
{
    const float x[1] = {0.5f}, query[3] = {1, 0, 2};
    const float key[2][3] = {{1, 0, 0.25f}, {0, 3, -1}};
    const float value[2][2] = {{4, 5}, {6, 7}};
    const float scores[2] = {1.5f, -2}, weights[2] = {0.75f, 0.25f};
    const float context[2] = {4.0625f, -0.00001f};
    DRAW(figure_follow("x", "Title", 2, names, 1, 1, 3, 2, x, query, key,
                       value, scores, weights, context));
    says("0.5|b&amp;c|query|1|0|2|key|0|3|-1|value|6|7|keys|query · key|"
         "share|values|a&lt;b|1|0|0.25|1.5000|0.7500|4|5|b&amp;c|0|3|-1|"
         "-2.0000|0.2500|6|7|context|4.0625|0");
}

/* ---- What they refuse. */

#define ENTRY "figure 'x' has an entry "

/* The last entry is wrong. */
static void refuse_entries(void)
{
    const float minus[2][3] = {{1, 2, 3}, {4, 5, -INFINITY}};
    const float part[2][3] = {{1, 2, 3}, {4, 5, -0.5f}};
    const float bit[1][2][2] = {{{1, 0}, {0, 0.5f}}};
    const float map[1][2][2] = {{{1, 1}, {1, INFINITY}}};
    REFUSES(ENTRY "inf: only finite numbers, -inf and nan can be drawn",
            figure_heatmap("x", "", 2, names, 2, names, map[0]));
    REFUSES(NULL, figure_maps("x", "", 1, names, 2, names, 2, names, map));
    REFUSES(ENTRY "0.5: only 0 and 1 can be drawn",
            figure_grid("x", "", 1, names, 2, 2, bit));
    REFUSES(ENTRY "-inf: only finite numbers can be drawn",
            figure_bars("x", "", 2, names, 3, names, minus));
    REFUSES(NULL, figure_histograms("x", "", 2, names, 3, minus));
    REFUSES(ENTRY
            "-0.5: only finite numbers from 0 on and nan can be drawn",
            figure_curves("x", "", names, 3, names, part));
    REFUSES(ENTRY "-0.5: only finite numbers from 0 on can be drawn",
            figure_stacks("x", "", 2, names, 3, part));
}

/* Follows word i, where the last number of array k is missing. */
static void follow(int i, int k)
{
    const float good[2] = {1, 2}, bad[2][2] = {{NAN, 2}, {1, NAN}};
    const float *x[7] = {good, good, good, good, good, good, good};
    if (k < 7)
        x[k] = bad[k > 1 && k < 6]; /* where each word has a number */
    figure_follow("x", "", 2, names, i, 1, 1, 1, x[0], x[1], ROWS(1, x[2]),
                  ROWS(1, x[3]), x[4], x[5], x[6]);
}

static void plot(int lines, float x, float first, float second)
{
    const float across[2] = {1, x};
    float up[9][2];
    for (int k = 0; k < 9; k++)
        memcpy(up[k], (float[2]){first, second}, sizeof up[k]);
    figure_log_log("x", "", "", "", lines, letters, 2, across, up);
}

static void block_of(int parts)
{
    const FigureBlock block[1] = {{"X", 2, 8, parts, NULL}};
    figure_blocks("x", "", 1, block);
}

static void refuse_others(void)
{
    REFUSES(
        "stages 'scores wieghts': each once, one or more of words vectors "
        "roles scores scale mask weights dropout context heads are needed",
        figure_pipeline("x", "scores wieghts"));
    REFUSES(NULL, figure_pipeline("x", "mask mask"));
    REFUSES("figure 'x' has 0 blocks: at least 1 is needed",
            figure_stream("x", "", 0));
    REFUSES("figure 'x' has a block 'X' with 8 columns in 3 parts: parts "
            "of equal width are needed",
            block_of(3));
    REFUSES(NULL, block_of(0));
    REFUSES("figure 'x' follows word 2: 0 to 1 can be drawn", follow(2, 7));
    REFUSES(NULL, follow(-1, 7));
    for (int k = 0; k < 7; k++)
        REFUSES(ENTRY "nan: only finite numbers can be drawn",
                follow(0, k));
    REFUSES("figure 'x' has 0 lines: 1 to 8 can be drawn",
            plot(0, 2, 2, 2));
    REFUSES(NULL, plot(9, 2, 2, 2));
    REFUSES(ENTRY "0: only finite numbers above 0 can be drawn",
            plot(1, 0, 2, 2));
    REFUSES(ENTRY "0: only finite numbers above 0 and nan can be drawn",
            plot(1, 2, 2, 0));
    REFUSES(
        "figure 'x' has a line 'a' without points: each needs at least 1",
        plot(1, 2, NAN, NAN));
}

/* Where FIGURES is empty, or not there, nothing is drawn or refused. */
static void test_nothing(void)
{
    for (int is_there = 1; is_there >= 0; is_there--) {
        is_there ? setenv("FIGURES", "", 1) : unsetenv("FIGURES");
        DRAW(
            figure_pipeline("x", "scores"), figure_pipeline("x", ""),
            block_of(3), follow(2, 7), plot(0, 2, 2, 2),
            figure_bars("x", "", 1, names, 1, names, (float[1][1]){{NAN}}));
        expect_true("no picture", !*text);
    }
}

/* Of a picture that cannot be written, nothing stays. */
static void refuse_to_write(void)
{
#define CANNOT(path, reason)                                               \
    tap_words("figure %s/x.svg cannot be written: %s", path,               \
              strerror(reason))
    static char longest[1001];
    memset(longest, '/', sizeof longest - 1);
    setenv("FIGURES", "/no/such/folder", 1);
    REFUSES(CANNOT("/no/such/folder", ENOENT),
            figure_pipeline("x", "scores"));
    setenv("FIGURES", folder, 1);
    REFUSES(CANNOT(folder, EMSGSIZE), figure_blocks("x", longest, 0, NULL));
    TAP_REFUSES("figure_pipeline", "a file of at most 64 bytes",
                CANNOT(folder, EFBIG), signal(SIGXFSZ, SIG_IGN),
                setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64}),
                figure_pipeline("x", "scores"));
}

int main(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    TAP("FIGURES: nothing is drawn or refused without it", test_nothing());
    setenv("FIGURES", folder, 1);
    TAP("figure_heatmap: shades and hidden cells", test_heatmap());
    TAP("figure_maps: a scale for each", test_maps());
    TAP("figure_grid: squares, and blocks", test_shapes());
    TAP("figure_layout: words in cells", test_layout());
    TAP("figure_pipeline: two stages", test_pipeline());
    TAP("figure_stream: two blocks", test_stream());
    TAP("figure_bars: heights, signs and an index", test_bars());
    TAP("figure_stacks: parts and sums", test_stacks());
    TAP("figure_histograms: one axis", test_histograms());
    TAP("figure_curves: where points lie, and gaps", test_curves());
    TAP("figure_log_log: where points lie", test_log_log());
    TAP("figure_follow: roles, keys, shares, context", test_follow());
    refuse_entries();
    refuse_others();
    refuse_to_write();
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
    return tap_done();
}
