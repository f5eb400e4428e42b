/* What the drawing functions write, and what they refuse. That pictures
 * look as they should is for eyes; here they must hold the right numbers
 * and words, and leave nothing half-written behind. */
#include "tap.h"

static const char *const names[3] = {"a<b", "b&c", "longer"};
static const char *const seven[7] = {"a", "b", "c", "d", "e", "f", "g"};
static const char *const long_words[8] = {"translation", "b", "c", "d",
                                          "e",           "f", "g", "h"};
static char folder[] = "/tmp/figure-test-XXXXXX";
static char text[60000]; /* the picture under test, "" if there is none */

/* Every picture has the name x, and is removed when it has been read. */
#define DRAW(...) (__VA_ARGS__, look())
static void look(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/x.svg", folder);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    remove(path);
}

static void has(const char *part)
{
    tap_report(strstr(text, part) != NULL, "the picture", "lacks '%s'",
               part);
}

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

#define box(k, name) of("<rect", k, name)
#define line(k, name) of("<line", k, name)
static double middle(int k)
{
    return box(k, "x") + box(k, "width") / 2;
}

/* The i-th point of the k-th line that has points. */
static void point_of(int k, int i, double point[2])
{
    const char *c = behind(" points=\"", k);
    while (i-- > 0 && *c)
        c += strcspn(c, " ") + 1;
    sscanf(*c ? c : "nan,nan", "%lf,%lf", &point[0], &point[1]);
}

/* Where the k-th point of curves or of their legend is. */
static void mark(int k, double point[2])
{
    point[0] = point[1] = NAN;
    sscanf(behind("<path d=\"M", k), "%lf,%lf", &point[0], &point[1]);
}

/* Pictures have one decimal. */
#define SAME(got, expect) tap_near(#got, got, expect, 0, 0.15)
#define CLOSE(got, expect, within) tap_near(#got, got, expect, 0, within)
#define HOLDS(condition) tap_true(#condition, condition)

/* A size of the picture on a phone; and panels, so many a row on the page
 * and on a phone, lie beside and below each other, and within it. */
static double narrow(const char *name)
{
    return strtod(behind(name, 0), NULL);
}
static void panels(int n, int a_row, int a_narrow_row)
{
    static const char *const format[2] = {
        " transform=\"translate(%lf %lf)\"",
        " transform=\"translate(%*f %*f)\" "
        "style=\"--narrow:translate(%lfpx,%lfpx)\""};
    const double size[2][2] = {
        {of("<svg", 0, "width"), of("<svg", 0, "height")},
        {narrow("--narrow-w:"), narrow("--narrow-h:")}};
    const int row[2] = {a_row, a_narrow_row};
    tap_near("panels", count("<g class=\"panel\""), n, 0, 0);
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < n; k++) {
            const int rows = (n + row[s] - 1) / row[s];
            const double step_x = (size[s][0] + 14) / row[s];
            const double step_y = (size[s][1] + 14) / rows;
            double x = NAN, y = NAN;
            sscanf(behind("<g class=\"panel\"", k), format[s], &x, &y);
            CLOSE(x, k % row[s] * step_x, 1);
            CLOSE(y, k / row[s] * step_y, 1);
        }
    tap_true("a phone has room", size[1][0] <= 328);
    tap_true("a page has room", size[0][0] <= 700);
}

static bool is_said(int k, const char *words)
{
    const char *start = strchr(behind("<text", k), '>');
    const size_t size = strlen(words);
    return start && !strncmp(start + 1, words, size) &&
           start[1 + size] == '<';
}

/* The first text with these words. */
static int word(const char *words)
{
    int k = 0;
    while (k < count("<text") && !is_said(k, words))
        k++;
    return k;
}

#define word_x(words) of("<text", word(words), "x")
#define word_y(words) of("<text", word(words), "y")

/* Do the texts from the k-th on say this, one after the other? */
#define SAYS(k, ...) say(k, (const char *[]){__VA_ARGS__, NULL})
static void say(int k, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        tap_report(is_said(k + i, words[i]), "a text of the picture",
                   "'%.40s' where '%s' is due", behind("<text", k + i),
                   words[i]);
}

/* Cells from the k-th box on: their columns' words are the texts from t
 * on, then follows for each row its word and its values. */
static void cells(int k, int t, int n, int m)
{
    for (int b = 0; b < n * m; b++) {
        const int i = b / m, j = b % m, row = t + m + i * (m + 1);
        CLOSE(of("<text", t + j, "x"), middle(k + b), 1.5);
        SAME(of("<text", row + 1 + j, "x"), middle(k + b));
        SAME(of("<text", row + 1 + j, "y"), of("<text", row, "y"));
        CLOSE(of("<text", row, "y"),
              box(k + b, "y") + box(k + b, "height") / 2, 6);
        CLOSE(middle(k + b), middle(k) + j * (box(k, "width") + 2), 1);
        CLOSE(box(k + b, "y"), box(k, "y") + i * (box(k, "height") + 2), 1);
    }
}

static void test_heatmap(void)
{
    const float x[2][3] = {{0.5f, -1, 0}, {0.22910725f, 0.25f, -0.00001f}};
    DRAW(figure_heatmap("x", "A <title>", 2, names, 3, names, x));
    has("<title id=\"x-title\">A &lt;title></title>");
    has(">a&lt;b: a&lt;b 0.5000, b&amp;c -1.0000, longer 0.0000. b&amp;c: "
        "a&lt;b 0.2291, b&amp;c 0.2500, longer 0.0000. </desc>");
    SAYS(0, "a&lt;b", "b&amp;c", "longer", "a&lt;b", "0.5000", "-1.0000",
         "0.0000", "b&amp;c", "0.2291", "0.2500", "0.0000");
    SAME(count("<rect"), 6);
    cells(0, 0, 2, 3);
    for (int k = 0; k < 6; k++)
        CLOSE(box(k, "fill-opacity"), 0.04 + 0.51 * fabsf(x[k / 3][k % 3]),
              0.006);
    has("class=\"c1\" fill-opacity=\"0.55\""); /* -1, the largest */
    SAME(count("class=\"c0\""), 4);
    has("--ink:#1b1f24;");
    has("--ink:light-dark(#1b1f24,#e8eaed);");
    has(".figure:root{color-scheme:light dark}");
    has("@media print{.figure{color-scheme:light}}");
    has("role=\"img\"");
    SAME(count("</svg>\n"), 1);
    /* What is hidden has a frame and no shade; 2 is still the largest. */
    const float hidden[2][2] = {{2, -INFINITY}, {copysignf(NAN, -1), -1}};
    DRAW(figure_heatmap("x", "Title", 2, names, 2, names, hidden));
    has("a&lt;b: a&lt;b 2.0000, b&amp;c -inf. b&amp;c: a&lt;b nan, b&amp;c "
        "-1.0000. ");
    SAYS(2, "a&lt;b", "2.0000", "-∞", "b&amp;c", "nan", "-1.0000");
    SAME(middle(1), middle(3));
    SAME(word_x("-∞"), middle(1));
    SAME(word_x("nan"), middle(0));
    CLOSE(box(0, "fill-opacity"), 0.55, 0.006);
    SAME(count("class=\"rule\""), 2);
    SAME(count("fill-opacity"), 2);
    CLOSE(box(3, "fill-opacity"), 0.295, 0.006);
    const float eight[1][8] = {{0}};
    DRAW(figure_heatmap("x", "Title", 1, names, 8, long_words, eight));
    HOLDS(of("<svg", 0, "width") <= 500);
    const char *const wide[2] = {long_words[0], long_words[0]};
    DRAW(figure_heatmap("x", "Title", 1, names, 2, wide, eight));
    HOLDS(middle(1) - middle(0) >= 11 * 8);
    /* A digit is 0.64 of a letter's size wide, and a sign half of that. */
    const float loud[1][7] = {{0, -100.5f}};
    DRAW(figure_heatmap("x", "Title", 1, names, 7, seven, loud));
    HOLDS(box(1, "width") >= (7 * 0.64 + 2 * 0.32) * 12);
}

static void test_maps(void)
{
    const float x[3][2][6] = {{{1, -0.5f}}, {{5, 0, 1}, {0, 10}}};
    DRAW(figure_maps("x", "Title", 3, seven, 2, names, 6, seven, x));
    has("b. a&lt;b: a 5.0000, b 0.0000, c 1.0000, d 0.0000, ");
    SAME(count("<rect"), 36);
    SAME(count("\"0.55\""), 2);  /* a scale for each panel */
    SAME(count("\"0.04\""), 31); /* zeros */
    SAME(count("class=\"c1\" fill-opacity=\"0.29"), 1);
    CLOSE(box(12, "fill-opacity"), 0.295, 0.006); /* 5 of 10 */
    panels(3, 2, 1);
    HOLDS(of("<g", 1, "font-size") >= 11);
    for (int k = 0; k < 3; k++) {
        SAYS(21 * k, seven[k], "a", "b", "c", "d", "e", "f", "a&lt;b");
        cells(12 * k, 21 * k + 1, 2, 6);
    }
    SAYS(29, "5.0000", "0.0000", "1.0000");
    HOLDS(box(5, "x") + box(5, "width") <= narrow("--narrow-w:"));
    HOLDS(3 * (box(6, "y") + box(6, "height")) <= narrow("--narrow-h:"));
    static const float small[5][2][2];
    DRAW(figure_maps("x", "Title", 5, seven, 2, names, 2, names, small));
    panels(5, 3, 1);
}

static void test_word_maps(void)
{
    const char *const word[2][3] = {{"a", "b&c", "d"},
                                    {"e", "f", "longer"}};
    const float x[2][2][3] = {{{0.5f, 0.25f, 0}, {1, 0, 0}},
                              {{0, 0, 2}, {1, 0, 0}}};
    DRAW(figure_word_maps("x", "Title", 2, names, 2, 3, word, x));
    has("a&lt;b. a 0.5000, b&amp;c 0.2500, d 0.0000. e 1.0000, f 0.0000, "
        "longer 0.0000. b&amp;c. a 0.0000, ");
    SAME(count("<rect"), 12);
    SAME(count("\"0.55\""), 1); /* one scale for all panels */
    CLOSE(box(0, "fill-opacity"), 0.04 + 0.51 / 4, 0.006);
    SAYS(0, "a&lt;b", "a", "0.5000", "b&amp;c", "0.2500", "d", "0.0000",
         "e");
    SAYS(13, "b&amp;c", "a", "0.0000");
    for (int k = 0; k < 12; k++) {
        SAME(box(k, "x"), box(k % 3, "x"));
        SAME(box(k, "y"), box(k / 3 * 3, "y"));
        HOLDS(k % 3 == 2 ||
              box(k + 1, "x") > box(k, "x") + box(k, "width"));
        HOLDS(k < 3 ||
              box(k, "y") > box(k - 3, "y") + box(k - 3, "height"));
    }
    HOLDS(box(11, "y") + box(11, "height") <= of("<svg", 0, "height"));
    const char *const wide[1][3] = {{"a", "internationalization", "b"}};
    DRAW(figure_word_maps("x", "Title", 1, names, 1, 3, wide, x));
    HOLDS(box(0, "width") >= 20 * 0.55 * 14);
}

static void test_grid(void)
{
    const float x[2][2][3] = {{{1, 0, 0}, {1, 1, 0}},
                              {{0, 0, 0}, {0, 0, 1}}};
    DRAW(figure_grid("x", "Title", 2, names, 2, 3, x));
    has("a&lt;b: 100, 110. b&amp;c: 000, 001. ");
    SAYS(0, "a&lt;b", "b&amp;c");
    SAME(count("class=\"c0\""), 4);
    SAME(count("class=\"rule\""), 12);
    /* What fills a frame comes behind it. */
    const double side = box(0, "width");
    for (int f = 0, k = 0; f < 12; f++, k++) {
        SAME(box(k, "x"), f % 3 * side + 0.5);
        SAME(box(k, "y"), box(0, "y") + f / 3 % 2 * side);
        SAME(box(k, "height"), side);
        if (x[f / 6][f / 3 % 2][f % 3] == 1) {
            k++;
            SAME(middle(k), middle(k - 1));
            SAME(box(k, "y"), box(k - 1, "y") + 0.5);
            SAME(box(k, "width"), side - 1);
            SAME(box(k, "height"), side - 1);
        }
    }
    SAME(of("<text", 1, "x"), 0);
    panels(2, 2, 2);
    HOLDS(of("<svg", 0, "width") >= 6 * side + 14);
    static const float wide[2][1][7];
    DRAW(figure_grid("x", "Title", 2, names, 1, 7, wide));
    panels(2, 2, 1);
    static const float wider[3][1][10];
    DRAW(figure_grid("x", "Title", 3, names, 1, 10, wider));
    panels(3, 2, 1);
}

static void test_bars(void)
{
    const float x[2][3] = {{1, -2, 4}, {0, 0, 0}};
    DRAW(figure_bars("x", "Title", 2, names, 3, names, x));
    has("a&lt;b: a&lt;b 1.0000, b&amp;c -2.0000, longer 4.0000. b&amp;c: ");
    SAYS(0, "a&lt;b", "1.0000", "a&lt;b", "-2.0000", "b&amp;c", "4.0000",
         "longer", "b&amp;c", "0.0000");
    SAME(count("<rect"), 6);
    SAME(count("class=\"c1\""), 1);
    panels(2, 2, 1);
    const double unit = box(0, "height"), zero = box(0, "y") + unit;
    for (int i = 0; i < 6; i++) {
        SAME(box(i, "height"), fabsf(x[i / 3][i % 3]) * unit);
        SAME(middle(i), of("<text", 1 + 2 * i + i / 3, "x"));
        SAME(middle(i), of("<text", 2 + 2 * i + i / 3, "x"));
    }
    SAME(box(1, "y"), zero);
    SAME(box(2, "y"), zero - 4 * unit);
    SAME(line(0, "y1"), zero);
    /* The value below a bar leaves room for the word below it. */
    HOLDS(word_y("b&amp;c") > word_y("-2.0000") + 14);
    const float one[1][1] = {{1}};
    DRAW(figure_bars("x", "Title", 1, &seven[0], 1, &long_words[0], one));
    HOLDS(of("<svg", 0, "width") >= 8 * strlen(long_words[0]));
}

/* Bins are 2 wide in the first panel, and 61 / 0.6 times as narrow in the
 * second, which has numbers in the same bins of its own. */
static void test_histograms(void)
{
    const float x[2][5] = {{-61, 0, 0, 20, 61}, {-0.6f, 0, 0, 0.2f, 0.6f}};
    DRAW(figure_histograms("x", "Title", 2, names, 5, x));
    has("a&lt;b: 5 numbers, half of them within 33 percent of the axis on "
        "either side of 0, all within 100 percent. ");
    has("b&amp;c: 5 numbers, half of them within 1 percent of the axis on "
        "either side of 0, all within 1 percent. ");
    SAME(count("<rect"), 8);
    SAYS(0, "-50", "0", "50", "a&lt;b", "b&amp;c");
    /* The axis has a line for each mark. */
    const double zero = line(1, "x1"), unit = (line(2, "x1") - zero) / 50;
    SAME(line(0, "x1"), zero - 50 * unit);
    const double at[4] = {-60, 0, 20, 60}, high[4] = {0.5, 1, 0.5, 0.5};
    for (int b = 0; b < 8; b++) {
        SAME(middle(b), zero + at[b % 4] * (b < 4 ? 1 : 0.6 / 61) * unit);
        SAME(box(b, "height"), high[b % 4] * box(1, "height"));
        CLOSE(box(b, "width"), b < 4 ? 2 * unit : 1, 0.2);
        SAME(box(b, "y") + box(b, "height"), line(b < 4 ? 3 : 4, "y1"));
    }
    static float few[2][500];
    few[0][7] = 3;
    DRAW(figure_histograms("x", "Title", 2, names, 500, few));
    SAME(count("<rect"), 3);
    SAME(box(1, "height"), 1);
    SAME(box(2, "height"), box(0, "height"));
    CLOSE(middle(2), middle(0), 2);
    HOLDS(middle(1) > middle(0) + 200); /* 3, at the end of the axis */
    few[0][7] = 0;                      /* nothing but zeros */
    DRAW(figure_histograms("x", "Title", 1, names, 500, few));
    SAME(count("<rect"), 1);
    has("all within 0 percent");
    /* Bins begin at 0 where nothing is below. */
    const float above[1][3] = {{0, 1, 61}};
    DRAW(figure_histograms("x", "Title", 1, names, 3, above));
    SAME(count("<rect"), 3);
    SAME(box(0, "x"), line(1, "x1"));
    CLOSE(box(1, "x"), line(1, "x1") + box(0, "width"), 0.3);
}

static void test_stacks(void)
{
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    DRAW(figure_stacks("x", "Title", 2, names, 2, part));
    has("Entry 0 is the sum of 0.2500 from a&lt;b, 0.1250 from b&amp;c. "
        "Entry 1 is the sum of 0.5000 from");
    SAYS(0, "a&lt;b", "b&amp;c", "entry 1", "0.2500", "0.1250", "0.3750",
         "entry 2", "0.5000", "1.0000", "1.5000");
    /* After the legend's two: the parts, each where the one before ends. */
    const double unit = box(2, "width") / 0.25;
    for (int i = 0; i < 4; i++) {
        SAME(box(2 + i, "width"), part[i % 2][i / 2] * unit);
        SAME(box(2 + i, "x"),
             i % 2 ? box(1 + i, "x") + box(1 + i, "width") : box(2, "x"));
        SAME(middle(2 + i), of("<text", 3 + i + 2 * (i / 2), "x"));
    }
    HOLDS(of("<svg", 0, "width") <= 500);
}

static void test_arrows(void)
{
    const float x[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    DRAW(figure_arrows("x", "Title", 3, names, x));
    has(">a&lt;b (4.0000, 1.0000). b&amp;c (3.0000, 2.0000), with the "
        "first 14.0000. longer (");
    SAYS(0, "a&lt;b", "b&amp;c: 14.0000", "longer: -7.0000");
    SAME(count("<polygon"), 3);
    SAME(count("class=\"dash\""), 2);
    /* After the two axes: a dashed line and a shadow for each but the
     * first, then the arrows. Dashed lines begin at the tips, and end with
     * the shadows at a right angle on the first arrow's line. */
    const double x0 = line(1, "x1"), y0 = line(0, "y1");
    double tip[2];
    point_of(0, 0, tip);
    const double unit = (tip[0] - x0) / 4;
    for (int i = 0; i < 3; i++) {
        point_of(i, 0, tip);
        CLOSE(tip[0], x0 + x[i][0] * unit, 0.3);
        CLOSE(tip[1], y0 - x[i][1] * unit, 0.3);
        CLOSE(of("<text", i, "x"), tip[0], 0.3);
        if (i == 0)
            continue;
        const double share = (x[i][0] * 4 + x[i][1]) / 17;
        SAME(line(2 * i, "x1"), tip[0]);
        SAME(line(2 * i, "y1"), tip[1]);
        for (int k = 2 * i; k < 2 * i + 2; k++) {
            CLOSE(line(k, "x2"), x0 + share * 4 * unit, 0.3);
            CLOSE(line(k, "y2"), y0 - share * unit, 0.3);
        }
    }
}

static void test_curves(void)
{
    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, 0.25f}};
    DRAW(figure_curves("x", "Title", seven, 3, names, y));
    has(">a: a&lt;b 1.0000, b&amp;c 2.0000, longer 4.0000. b: a&lt;b 0.5");
    SAYS(0, "a", "b");
    SAME(count("<path"), 8); /* the points, and two in the legend */
    double first[2], last[2], at[2];
    mark(2, first);
    mark(4, last);
    const double zero = line(0, "y1"), unit = zero - first[1];
    HOLDS(unit > 0 && last[0] > first[0]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            char value[20];
            snprintf(value, sizeof value, "%.4f", y[k][i]);
            mark(2 + 3 * k + i, at);
            CLOSE(at[1], zero - y[k][i] * unit, 0.3);
            SAME(at[0], first[0] + i * (last[0] - first[0]) / 2);
            SAME(word_x(value), at[0]);
            /* The higher's value above, the lower's below. */
            HOLDS((word_y(value) < at[1]) == (k == 0));
            /* Behind the axis' five lines, one from the point before. */
            if (i == 0)
                continue;
            const int from = 4 + 2 * k + i;
            SAME(line(from, "x2"), at[0]);
            SAME(line(from, "y2"), at[1]);
            mark(1 + 3 * k + i, at);
            SAME(line(from, "x1"), at[0]);
            SAME(line(from, "y1"), at[1]);
        }
    SAME(count("<line"), 9);
    SAME(word_x("longer"), last[0]);
    SAME(word_y("0"), zero + 4);
    SAME(word_y("4"), last[1] + 4); /* the highest mark */
}

/* What is not there has no point and no line, and is said once in a row; a
 * value that is the one before is not said again. */
static void test_gaps(void)
{
    const float y[2][6] = {{0.5f, 0.5f, NAN, NAN, 0.5f, 0.75f},
                           {1, 1, 1, 1, 1, 1}};
    DRAW(figure_curves("x", "Title", names, 6, seven, y));
    has("a&lt;b: a 0.5000, b 0.5000, c nan, d nan, e 0.5000, f 0.7500. ");
    SAME(count("<path"), 2 + 4 + 6);
    SAME(count("class=\"s0\""), 2);
    SAME(count("class=\"s1\""), 5);
    SAME(count(">nan<"), 1);
    SAME(count(">0.5000<"), 2);
    SAME(count(">0.7500<"), 1);
    SAME(count(">1.0000<"), 1);
    SAME(word_x("nan"), word_x("c"));
    CLOSE(word_y("nan"), line(0, "y1"), 10);
    const float none[2][1] = {{NAN}, {NAN}};
    DRAW(figure_curves("x", "Title", names, 1, seven, none));
    SAME(count(">nan<"), 2);
    HOLDS(of("<text", count("<text") - 1, "y") < word_y("nan") - 11);
}

/* All values are there, within the picture, and none covers another. */
static void values(int n, const float y[2][n])
{
    const char *at[20];
    for (int i = 0; i < n; i++)
        at[i] = "a";
    DRAW(figure_curves("x", "Title", seven, n, at, y));
    const int t = count("<text") - 2 * n;
    SAME(count("class=\"middle small rim c0\""), n);
    SAME(count("class=\"middle small rim c1\""), n);
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
    float swing[2][20] = {{0}}; /* wider than the page */
    for (int i = 0; i < 40; i++)
        swing[i / 20][i % 20] = (float)(i % 2);
    values(20, swing);
    values(1, (float[2][1]){{0}}); /* nothing but zeros */
    has(">0.0000</text>");
}

/* Where the k-th point of all lines is. */
#define circle(k, name) of("<circle", k, name)

static void test_log_log(void)
{
    const char *const called[2] = {"a<b", "dot"};
    const float x[4] = {0.1f, 4, 1000, 0.5f};
    const float y[2][4] = {{3.9f, 156, 156, NAN}, {NAN, NAN, NAN, 12.48f}};
    DRAW(figure_log_log("x", "Title", "per byte", "GFLOP/s", 2, called, 4,
                        x, y));
    has(">GFLOP/s for per byte; on both axes, equal factors are equally "
        "far "
        "apart. "
        "a&lt;b: 3.9 for 0.1, 156 for 4, 156 for 1000. "
        "dot: 12.48 for 0.5. </desc>");
    SAYS(0, "0.1", "1", "10", "100", "1000", "2", "5", "10", "20", "50",
         "100", "200", "GFLOP/s", "per byte", "a&lt;b", "dot");
    SAME(count("<text"), 16);
    /* Ten times as much is as far everywhere. */
    const double left = word_x("0.1"), low = word_y("2") - 4;
    const double unit_x = (word_x("1000") - left) / 4;
    const double unit_y = (low - (word_y("200") - 4)) / 2;
    HOLDS(unit_x > 80 && unit_y > 80);
    for (int k = 0; k < 4; k++) {
        const double to_x = (double)x[k], to_y = (double)y[k == 3][k];
        CLOSE(circle(k, "cx"), left + unit_x * log10(to_x / 0.1), 0.2);
        CLOSE(circle(k, "cy"), low - unit_y * log10(to_y / 2), 0.2);
        SAME(circle(k, "r"), k < 3 ? 3 : 5);
    }
    for (int i = 0; i < 5; i++)
        SAME(line(i, "x1"), of("<text", i, "x"));
    for (int i = 5; i < 12; i++)
        SAME(line(i, "y1"), of("<text", i, "y") - 4);
    /* Behind these and the axes: from point to point, and to the label. */
    SAME(count("<line"), 12 + 2 + 4);
    SAME(count("class=\"s0\""), 3);
    for (int k = 14; k < 17; k++) {
        SAME(line(k, "x1"), circle(k - 14, "cx"));
        SAME(line(k, "y1"), circle(k - 14, "cy"));
        if (k == 16)
            continue;
        SAME(line(k, "x2"), circle(k - 13, "cx"));
        SAME(line(k, "y2"), circle(k - 13, "cy"));
    }
    SAME(line(16, "x2"), word_x("a&lt;b") - 4);
    SAME(line(16, "y2"), circle(2, "cy"));
    SAME(word_y("a&lt;b"), circle(2, "cy") + 5);
    HOLDS(word_x("a&lt;b") > word_x("1000") + 8);
    SAME(word_x("dot"), word_x("a&lt;b"));
    SAME(line(17, "x1"), circle(3, "cx"));
    SAME(line(17, "y2"), circle(3, "cy"));
    SAME(word_y("dot"), circle(3, "cy") + 5);
    HOLDS(of("<svg", 0, "width") <= 500);
}

/* The marks of the axis below are those of x, n of them, as far apart as
 * they are wide. */
static void marks(int n, int points, const float x[points])
{
    static const float one[20] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
                                  3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    DRAW(figure_log_log("x", "", "x", "y", 1, (const char *[]){"a"}, points,
                        x, ROWS(points, one)));
    SAME(count("class=\"middle small muted\""), n);
    for (int i = 1; i < n; i++) {
        const char *word = strchr(behind("<text", i), '>') + 1;
        const double apart = of("<text", i, "x") - of("<text", i - 1, "x");
        HOLDS(apart > 9.0 * strcspn(word, "<"));
    }
}

static void test_marks(void)
{
    const float tokens[7] = {128, 256, 512, 1024, 2048, 4096, 8192};
    marks(7, 7, tokens);
    SAYS(0, "128", "256", "512", "1024", "2048", "4096", "8192", "2", "5");
    CLOSE(circle(3, "cx"), word_x("1024"), 0.1);
    CLOSE(circle(5, "cx") - circle(4, "cx"),
          circle(1, "cx") - circle(0, "cx"), 0.2);
    const float far[2] = {1, 1 << 20}; /* too many for all */
    marks(6, 2, far);
    SAYS(0, "1", "16", "256", "4096", "65536", "1048576");
    const float mixed[2] = {128, 3000};
    marks(6, 2, mixed);
    SAYS(0, "100", "200", "500", "1000", "2000", "5000");
    const float tens[2] = {0.2f, 1500};
    marks(4, 2, tens);
    SAYS(0, "1", "10", "100", "1000");
    const float below[2] = {0.5f, 4}; /* not 1, 2, 4, but 0.5, 1, 2, 5 */
    marks(4, 2, below);
    SAYS(0, "0.5", "1", "2", "5");
    const float tenth[2] = {0.001f, 0.1f}; /* a little above 0.1 */
    marks(7, 2, tenth);
    SAYS(0, "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1");
    const float wide[2] = {1e-6f, 1e6f};
    marks(5, 2, wide);
    SAYS(0, "0.000001", "0.001", "1", "1000", "1000000");
    marks(3, 1, &tokens[0]);
    SAYS(0, "64", "128", "256");
    const float same[2] = {30, 30};
    marks(2, 2, same);
    SAYS(0, "20", "50");
    const float small[1] = {0.0000312f};
    DRAW(figure_log_log("x", "", "x", "y", 1, (const char *[]){"a"}, 1,
                        small, ROWS(1, tokens)));
    has("a: 128 for 0.000031. ");
}

/* Labels stand behind all points, within the picture, and cover none of
 * the others. Where the k-th text is a label, says how high it is. */
static void labels(int lines, const char *const called[lines], int n,
                   const float x[n], const float y[lines][n])
{
    DRAW(figure_log_log("x", "Title", "x", "y", lines, called, n, x, y));
    const int t = count("<text") - lines;
    for (int k = 0; k < lines; k++) {
        const double left = of("<text", t + k, "x");
        const double high = of("<text", t + k, "y") - 5;
        HOLDS(is_said(t + k, called[k]));
        HOLDS(left + 8.0 * strlen(called[k]) < of("<svg", 0, "width"));
        HOLDS(high > 33 && high < 299);
        for (int i = 0; i < count("<circle"); i++)
            HOLDS(circle(i, "cx") < left - 3);
        for (int i = 0; i < k; i++)
            HOLDS(fabs(of("<text", t + i, "y") - 5 - high) > 17.7);
    }
}

static void test_labels(void)
{
    static const char *const called[8] = {
        "T = 256", "T = 1024", "decoding", "chapter 6",
        "roof",    "a",        "library",  "b c d"};
    for (int trial = 0; trial < 20; trial++) {
        float x[12], y[8][12]; /* four lines of two points, and four dots */
        tap_fill(12, x, 0, 3);
        for (int k = 0; k < 8; k++)
            tap_fill(12, y[k], 0, (float)(trial % 5 + 1));
        for (int i = 0; i < 12; i++) {
            x[i] = powf(10, x[i]);
            for (int k = 0; k < 8; k++)
                y[k][i] =
                    (i < 8 ? i / 2 : i - 4) == k ? powf(10, y[k][i]) : NAN;
        }
        labels(8, called, 12, x, y);
    }
    /* Eight that end together, in their order, around the end. */
    const float x[2] = {1, 2000};
    float y[8][2];
    for (int k = 0; k < 8; k++)
        memcpy(y[k], (float[2]){1, 30}, sizeof y[k]);
    labels(8, called, 2, x, y);
    for (int k = 0; k < 8; k++)
        CLOSE(word_y(called[k]), word_y(called[0]) + 18 * k, 0.3);
    SAME(count("class=\"s7\""), 2);
    SAME(count("class=\"c7\""), 2);
    for (int k = 0; k < 8; k++)
        memcpy(y[k], (float[2]){30, 1}, sizeof y[k]);
    labels(8, called, 2, x, y); /* at the bottom */
    for (int k = 0; k < 8; k++)
        memcpy(y[k], (float[2]){1, 30}, sizeof y[k]);
    y[0][1] = 1000;
    y[2][1] = 31;
    labels(4, called, 2, x, y); /* 2, 1, 3, and these around 1 */
    SAME(word_y(called[0]), circle(1, "cy") + 5);
    CLOSE(word_y(called[1]) - 18, word_y(called[2]), 0.3);
    CLOSE(word_y(called[1]) + 18, word_y(called[3]), 0.3);
}

static void test_blocks(void)
{
    const FigureBlock b[4] = {{"X", 6, 3, 1, "·"},
                              {"a<b", 3, 8, 4, "="},
                              {"heads", 6, 8, 8, NULL},
                              {"next", 7, 2, 1, NULL}};
    DRAW(figure_blocks("x", "Title", 4, b));
    has(">X, 6 by 3 · a&lt;b, 3 by 8 in 4 parts = heads, 6 by 8 in 8 "
        "parts. next, 7 by 2. </desc>");
    SAYS(0, "X", "6 × 3", "·", "a&lt;b", "3 × 8", "=", "heads", "6 × 8",
         "next", "7 × 2");
    /* Of each block its parts and its frame; one axis for a line. */
    const int frame[4] = {1, 6, 15, 17};
    const double unit = box(17, "height") / 7;
    for (int k = 0; k < 4; k++) {
        SAME(box(frame[k], "height"), b[k].n * unit);
        SAME(box(frame[k], "width"), b[k].m * unit);
        SAME(box(frame[k], "y") + b[k].n * unit / 2,
             k < 3 ? box(1, "y") + 3 * unit : box(17, "y") + 3.5 * unit);
        for (int i = 0; i < b[k].parts; i++) {
            const int part = frame[k] - b[k].parts + i;
            const double wide = b[k].m * unit / b[k].parts;
            SAME(box(part, "x"), box(frame[k], "x") + i * wide);
            SAME(box(part, "width"), wide);
            SAME(box(part, "y"), box(frame[k], "y"));
        }
    }
    SAME(count("fill-opacity=\"0.06\""), 2); /* those without parts */
    has("class=\"c7\"");
    SAME(count("class=\"c0\""), 4); /* eight colours for eight heads */
    /* The sign lies between its neighbours, a new line below. */
    HOLDS(word_x("·") > box(1, "x") + 3 * unit);
    HOLDS(word_x("·") < box(6, "x"));
    HOLDS(box(17, "y") > box(15, "y") + 6 * unit);
    HOLDS(box(17, "x") < box(1, "x") + 3 * unit);
    /* Those of parts and those of cells, and where the first of each is. */
    SAME(count("<line"), 3 + 7 + 5 + 2 + 2 + 7 + 5 + 7 + 6 + 1);
    SAME(line(0, "y1"), box(1, "y") + unit);
    SAME(line(7, "x1"), box(3, "x"));
    const FigureBlock large[3] = {{"X", 20, 512, 1, "·"},
                                  {"W", 512, 512, 8, "="},
                                  {"XW", 20, 512, 1, NULL}};
    DRAW(figure_blocks("x", "Title", 3, large));
    has("Sides are as the square roots of the numbers.");
    HOLDS(of("<svg", 0, "width") <= 500);
    SAME(box(1, "height"), box(1, "width") * sqrt(20 / 512.));
    SAME(box(10, "width"), box(1, "width"));
    SAME(box(10, "height"), box(1, "width"));
    SAME(count("<line"), 7);
}

static void test_pipeline(void)
{
    DRAW(figure_pipeline("x", "scores weights"));
    has("then scores (this chapter), then scaled, then masked, then "
        "weights (this chapter), then dropped");
    SAME(count("class=\"c0\""), 2);
    SAME(count("class=\"rule\""), 8);
    panels(10, 5, 3);
    /* A shaded box comes just before the frame of its stage. */
    for (int k = 3; k < 8; k += 4) {
        SAME(box(k, "x") + 0.5, box(k + 1, "x"));
        CLOSE(box(k, "height"), box(k + 1, "height"), 1);
        SAME(middle(k), word_x(k == 3 ? "scores" : "weights"));
    }
    SAME(count("›"), 9); /* nothing comes after the last */
}

static void test_index(void)
{
    const char *const label[6] = {"W_Q", "K_hᵀ",   "Q = X W_Q X_1",
                                  "a_",  "to_day", "2_a W_<"};
    const int one[6] = {1, 1, 1, 1, 1, 1};
    const float *const none[6] = {NULL};
    DRAW(figure_worksheet("x", "d_k", 6, label, one, one, none, 0));
#define LOW(index) "<tspan class=\"index\" dy=\"4\">" index "</tspan>"
#define BACK(words) "<tspan dy=\"-4\">" words "</tspan>"
    has(">d_k</title>");
    has(">W_Q, 1 rows of 1, empty. K_hᵀ, 1 rows");
    has(">W" LOW("Q") BACK("") "</text>");
    has(">K" LOW("h") BACK("ᵀ") "</text>");
    has(">Q = X W" LOW("Q") BACK(" X" LOW("1") BACK("")) "</text>");
    /* These are no names with an index. */
    has(">a_</text>");
    has(">to_day</text>");
    has(">2_a W_&lt;</text>");
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
    has(">b&amp;c: 0.5. query: 1 0 2. keys: 1 0 0.25 0 3 -1. values: 4 5 6 "
        "7. scores: 1.5 -2. shares: 0.75 0.25. context: 4.0625 0. </desc>");
    SAYS(0, "0.5", "b&amp;c", "query", "1", "0", "2", "key", "0", "3", "-1",
         "value", "6", "7", "keys", "query · key", "share", "values");
    SAYS(17, "a&lt;b", "1", "0", "0.25", "1.5000", "0.7500", "4", "5");
    SAYS(25, "b&amp;c", "0", "3", "-1", "-2.0000", "0.2500", "6", "7");
    SAYS(33, "context", "4.0625", "0");
    /* The word, its query, key and value; then a row for each key, with
     * the share, and values as strong as the share; last the context. */
    SAME(count("<rect"), 1 + 3 + 3 + 2 + 2 * 6 + 2);
    for (int j = 0; j < 2; j++) {
        const int b = 9 + 6 * j, t = 17 + 8 * j;
        for (int k = b; k < b + 6; k++) {
            SAME(middle(k), k < b + 3 ? middle(4 + k - b)
                                      : of("<text", t + 2 + k - b, "x"));
            SAME(box(k, "y"), of("<text", t, "y") - 19);
            CLOSE(box(k, "fill-opacity"),
                  k >= b + 3 ? 0.1 + 0.45 * (double)weights[j]
                             : (j == 1 ? 0.45 : 0.15),
                  0.006);
        }
        SAME(middle(b + 4), middle(7));
        SAME(of("<text", t + 4, "y"), of("<text", t, "y"));
        SAME(of("<text", t, "x"), box(3, "x") + box(3, "width") + 2);
    }
    HOLDS(box(15, "y") > box(9, "y") + box(9, "height"));
    HOLDS(box(21, "y") > box(15, "y") + box(15, "height"));
    /* From the word a line to each role. */
    const double role[3] = {middle(2), middle(5),
                            (middle(7) + middle(8)) / 2};
    for (int k = 0; k < 3; k++) {
        CLOSE(line(k, "x1"), middle(0), 1.2);
        CLOSE(line(k, "x2"), role[k], 1.2);
    }
    /* Cells have room for their longest number, all within the picture. */
    SAME(box(0, "width"), 10 + 4 * 8 - 2);
    SAME(box(21, "width"), 10 + 6 * 8 - 2);
    HOLDS(box(1, "x") >= 0);
    SAME(box(22, "x") + box(22, "width") + 2, of("<svg", 0, "width"));
}

static void test_worksheet(void)
{
    const float x[2][2] = {{1, 2}, {3, 4.5f}}, y[1][3] = {{7, 8, 9}};
    const char *const label[3] = {"X", "Y", "Z"};
    const int n[3] = {2, 1, 1}, m[3] = {2, 3, 12};
    const float *const all[3] = {x[0], y[0], NULL};
    DRAW(figure_worksheet("x", "Title", 3, label, n, m, all, 1));
    has(">X, 2 rows of 2, given. Y, 1 rows of 3, empty. Z, 1 rows of 12, "
        "empty. </desc>");
    SAYS(0, "X", "1", "2", "3", "4.5", "Y", "Z");
    SAME(count("<text"), 7); /* what is to be written is not there */
    SAME(count("<rect"), 19);
    for (int k = 0; k < 4; k++) {
        SAME(middle(k), of("<text", 1 + k, "x") + 0.5);
        SAME(box(k, "x"), box(0, "x") + k % 2 * box(0, "width"));
        SAME(box(k, "y"), box(0, "y") + k / 2 * box(0, "height"));
    }
    HOLDS(box(4, "x") > box(1, "x") + box(1, "width"));
    HOLDS(box(7, "y") > box(2, "y") + box(2, "height"));
    DRAW(figure_worksheet("x", "Title", 3, label, n, m, all, 2));
    SAYS(5, "Y", "7", "8", "9");
}

static void test_bits(void)
{
    DRAW(figure_bits("x", "Title", 0x83000001u));
    has("The number 2197815297 in binary: "
        "10000011000000000000000000000001. The lower 24 bits are kept: 1 "
        "of 16777216: 0.0000.");
    SAYS(0, "1", "0", "0", "0", "0", "0", "1", "1", "0");
    SAYS(31, "1", "1 of 16777216: 0.0000");
    SAME(count(">0</text>"), 28);
    SAME(count("<rect"), 24);
    for (int k = 0; k < 24; k++)
        SAME(middle(k), of("<text", 8 + k, "x"));
    HOLDS(of("<svg", 0, "width") <= 500);
    DRAW(figure_bits("x", "Title",
                     16776377)); /* of 2^24 - 1 it were 1.0000 */
    has(">16776377 of 16777216: 0.9999<");
    DRAW(figure_bits("x", "Title", UINT32_MAX));
    has(">16777215 of 16777216: 1.0000<");
}

static void test_lookup(void)
{
    const int ids[3] = {7, 2, 4}, place[3] = {2, 0, 1};
    const float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    DRAW(figure_lookup("x", "Title", 3, names, ids, 10, 2, x));
    has(">a&lt;b picks row 7: 1.0000, 2.0000. b&amp;c picks row 2: 3.0000, "
        "4.0000. longer");
    SAYS(0, "a&lt;b", "row 7", "1.0000", "2.0000", "b&amp;c", "row 2",
         "3.0000", "4.0000", "longer", "row 4", "5.0000", "6.0000",
         "and 7 other rows");
    SAME(count("<rect"), 6);
    for (int i = 0; i < 3; i++) {
        SAME(line(i, "y1"), 15 + 36 * i);
        SAME(line(i, "y2"), 15 + 36 * place[i]);
        for (int k = 1; k < 3; k++)
            SAME(of("<text", 4 * i + k, "y"), line(i, "y2") + 5);
        SAME(of("<text", 4 * i + 2, "x"), middle(2 * i));
        SAME(box(2 * i, "y") + 15, line(i, "y2"));
    }
    SAME(word_y("and 7 other rows"), 128);
}

/* A call that is refused; or, where nothing is drawn, that is not. */
#define REFUSED(line, ...)                                                 \
    do {                                                                   \
        if (is_drawn)                                                      \
            REFUSES(line, __VA_ARGS__);                                    \
        else                                                               \
            __VA_ARGS__;                                                   \
    } while (0)
#define FOLLOW(i, x, query, key, value, ...)                               \
    figure_follow("x", "", 2, names, i, 1, 1, 1, x, query, (void *)key,    \
                  (void *)value, __VA_ARGS__)
#define ENTRY "figure.c: pen_accepts: figure 'x' has an entry "

static void refusals(bool is_drawn)
{
    const float wrong[2][2] = {{1, 2}, {3, NAN}}, still[2][2] = {{1, 1}};
    const float minus[2][2] = {{1, 2}, {3, -INFINITY}};
    const float part[2][2] = {{1, 2}, {3, -0.5f}};
    const float bit[2][1][2] = {{{1, 0}}, {{0, 0.5f}}};
    const float map[2][1][2] = {{{1, 1}}, {{1, INFINITY}}};
    const float infinite[2][2] = {{1, 2}, {3, INFINITY}};
    const int below[1] = {-1}, above[1] = {3}, good[2] = {0, 2};
    const int twice[2] = {1, 1};
    const FigureBlock none[1] = {{"X", 2, 2, 0, NULL}};
    const FigureBlock odd[1] = {{"X", 2, 8, 3, NULL}};
    const float two[2] = {1, 2}, gone[2] = {NAN, 1}, last[2] = {1, NAN};
    REFUSED(ENTRY "inf: only finite numbers, -inf and nan can be drawn",
            figure_heatmap("x", "", 1, names, 2, names, map[1]));
    REFUSED(ENTRY "-inf: only finite numbers can be drawn",
            figure_bars("x", "", 2, names, 2, names, minus));
    REFUSED(NULL, figure_maps("x", "", 2, names, 1, names, 2, names, map));
    REFUSED(NULL, figure_word_maps("x", "", 2, names, 1, 2,
                                   (const void *)seven, map));
    REFUSED(ENTRY "0.5: only 0 and 1 can be drawn",
            figure_grid("x", "", 2, names, 1, 2, bit));
    REFUSED(NULL, figure_histograms("x", "", 2, names, 2, wrong));
    REFUSED(NULL, figure_bars("x", "", 2, names, 2, names, wrong));
    REFUSED(NULL, figure_arrows("x", "", 2, names, minus));
    REFUSED(NULL, figure_lookup("x", "", 2, names, good, 3, 2, wrong));
    REFUSED(ENTRY
            "-0.5: only finite numbers from 0 on and nan can be drawn",
            figure_curves("x", "", names, 2, names, part));
    REFUSED(NULL, figure_curves("x", "", names, 2, names, minus));
    REFUSED(NULL, figure_curves("x", "", names, 2, names, infinite));
    REFUSED(ENTRY "-0.5: only finite numbers from 0 on can be drawn",
            figure_stacks("x", "", 2, names, 2, part));
    REFUSED(NULL, figure_stacks("x", "", 2, names, 2, wrong));
    REFUSED(
        "figure_follow.c: figure_follow: figure 'x' follows word 2: 0 to 1 "
        "can be drawn",
        FOLLOW(2, two, two, two, two, two, two, two));
    REFUSED(NULL, FOLLOW(0, two, two, last, two, two, two, two));
    REFUSED(NULL, FOLLOW(-1, two, two, two, two, two, two, two));
    for (int k = 0; k < 7; k++) {
        const float *x[7] = {two, two, two, two, two, two, two};
        x[k] = gone;
        REFUSED(NULL, FOLLOW(0, x[0], x[1], x[2], x[3], x[4], x[5], x[6]));
    }
    REFUSED("figure_lines.c: figure_arrows: figure 'x' has an arrow of "
            "length 0: "
            "each needs a direction",
            figure_arrows("x", "", 2, names, still));
    REFUSED("figure_boxes.c: figure_lookup: figure 'x' looks up row 3: "
            "each once, "
            "rows 0 to 2 can be drawn",
            figure_lookup("x", "", 1, names, above, 3, 2, part));
    REFUSED(NULL, figure_lookup("x", "", 1, names, below, 3, 2, part));
    REFUSED(NULL, figure_lookup("x", "", 2, names, twice, 3, 2, part));
    REFUSED("figure_boxes.c: stages_must_be: stages 'scores wieghts': each "
            "once, one or more of words vectors roles scores scale mask "
            "weights "
            "dropout context heads are needed",
            figure_pipeline("x", "scores wieghts"));
    REFUSED(NULL, figure_pipeline("x", "mask mask"));
    REFUSED(NULL, figure_pipeline("x", ""));
    REFUSED(
        "figure_boxes.c: figure_blocks: figure 'x' has a block 'X' with 8 "
        "columns in 3 parts: parts of equal width are needed",
        figure_blocks("x", "", 1, odd));
    REFUSED(NULL, figure_blocks("x", "", 1, none));
    static const char *const nine[9] = {"a", "a", "a", "a", "a",
                                        "a", "a", "a", "a"};
    static float y[9][2];
#define PLOT(lines, x) figure_log_log("x", "", "", "", lines, nine, 2, x, y)
    for (int k = 0; k < 18; k++)
        y[k / 2][k % 2] = 2;
    REFUSED("figure_log.c: figure_log_log: figure 'x' has 0 lines: 1 to 8 "
            "can be drawn",
            PLOT(0, two));
    REFUSED(NULL, PLOT(9, two));
    REFUSED(ENTRY "0: only finite numbers above 0 can be drawn",
            PLOT(1, bit[0][0]));
    REFUSED(ENTRY "inf: only finite numbers above 0 can be drawn",
            PLOT(1, map[1][0]));
    REFUSED(NULL, PLOT(1, last));
    y[0][1] = 0;
    REFUSED(ENTRY "0: only finite numbers above 0 and nan can be drawn",
            PLOT(1, two));
    y[0][0] = y[0][1] = NAN;
    REFUSED(
        "figure_log.c: figure_log_log: figure 'x' has a line 'a' without "
        "points: each needs at least 1",
        PLOT(1, two));
}

static void test_nothing(void)
{
    for (int i = 0; i < 3; i++) {
        DRAW(figure_pipeline("x", "scores"));
        HOLDS((text[0] == '<') == (i == 0));
        if (i > 0)
            refusals(false);
        setenv("FIGURES", "", 1);
        if (i > 0)
            unsetenv("FIGURES");
    }
}

/* In the child that draws this, a file cannot be longer than 64 bytes. */
static void limited(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    figure_bits("x", "", 0);
}

/* Of a picture that cannot be written, nothing stays. */
static void refuses_to_write(void)
{
    static char line[2000], path[100], longest[1001];
    memset(longest, '/', sizeof longest - 1);
    setenv("FIGURES", longest, 1);
    snprintf(line, sizeof line,
             "figure.c: check_written: figure %.599s cannot be written: %s",
             longest, strerror(ENAMETOOLONG));
    REFUSES(line, figure_pipeline("x", "scores"));
    setenv("FIGURES", "/no/such/folder", 1);
    REFUSES("figure.c: check_written: figure /no/such/folder/x.svg cannot "
            "be written: No such file or directory",
            figure_pipeline("x", "scores"));
    setenv("FIGURES", folder, 1);
    snprintf(path, sizeof path, "%s/x.svg", folder);
    for (int is_long = 0; is_long < 2; is_long++) {
        snprintf(line, sizeof line,
                 "figure.c: check_written: figure %s cannot be written: %s",
                 path, strerror(is_long ? EMSGSIZE : ENOSPC));
        if (access("/dev/full", W_OK) || symlink("/dev/full", path))
            tap_skip("FIGURES: a full disk", "no /dev/full");
        else
            REFUSES(line, figure_bits("x", is_long ? longest : "", 0));
    }
    snprintf(line, sizeof line,
             "figure.c: check_written: figure %s cannot be written: %s",
             path, strerror(EFBIG));
    REFUSES(line, limited());
}

int main(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    setenv("FIGURES", folder, 1);
    TAP(test_heatmap, "figure_heatmap: words, values, shades");
    TAP(test_maps, "figure_maps: places, scales");
    TAP(test_word_maps, "figure_word_maps: words, values, one scale");
    TAP(test_grid, "figure_grid: squares and their places");
    TAP(test_bars, "figure_bars: words, values, signs");
    TAP(test_histograms, "figure_histograms: places, heights, one axis");
    TAP(test_stacks, "figure_stacks: words, parts, sums");
    TAP(test_arrows, "figure_arrows: words, products, shadows");
    TAP(test_curves, "figure_curves: places, heights, words");
    TAP(test_gaps,
        "figure_curves: what is not there, what is said already");
    TAP(test_values, "figure_curves: axis from 0, values side by side");
    TAP(test_log_log, "figure_log_log: words, places, lines, labels");
    TAP(test_marks, "figure_log_log: which numbers stand at the axes");
    TAP(test_labels, "figure_log_log: labels side by side");
    TAP(test_blocks, "figure_blocks: shapes, parts, signs, lines");
    TAP(test_pipeline, "figure_pipeline: lit stages");
    TAP(test_index, "figure_worksheet: letters below the line");
    TAP(test_follow, "figure_follow: roles, keys, shares, context");
    TAP(test_worksheet, "figure_worksheet: what is given and what is not");
    TAP(test_lookup, "figure_lookup: words, rows, lines between them");
    TAP(test_bits, "figure_bits: binary digits, shades, fraction");
    TAP(test_nothing, "FIGURES: nothing is drawn or refused without it");
    refusals(true);
    refuses_to_write();
    /* Every picture was removed after it was read. */
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
    return tap_done();
}
