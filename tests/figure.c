/* What the drawing functions write, and what they refuse. That pictures
 * look as they should is for eyes; here they must hold the right numbers
 * and words, and leave nothing half-written behind. */
#include "tap.h"

#include <sys/stat.h>

static const char *const names[3] = {"a<b", "b&c", "longer"};
static char folder[] = "/tmp/figure-test-XXXXXX";

/* The text of a picture, or "" where there is none. */
static const char *picture(const char *name)
{
    static char text[60000];
    char path[100];
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        remove(path);
    }
    return text;
}

static void has(const char *text, const char *part)
{
    tap_report(strstr(text, part) != NULL, "the picture", "  lacks: '%s'\n",
               part);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    while ((text = strstr(text, part)) != NULL)
        n++, text++;
    return n;
}

/* The number that an attribute has in the k-th element whose start is like
 * this: where things lie, and how large they are. */
static double attribute(const char *text, const char *start, int k,
                        const char *name)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    for (; (text = strstr(text, start)) && k > 0; k--)
        text++;
    const char *found = text ? strstr(text, wanted) : NULL;
    return found ? strtod(found + strlen(wanted), NULL) : NAN;
}

/* Does the k-th text of the picture say this? */
static void says(const char *text, int k, const char *expect)
{
    for (; (text = strstr(text, "<text")) && k > 0; k--)
        text++;
    const char *start = text ? strchr(text, '>') + 1 : "";
    const size_t size = strlen(expect);
    tap_report(!strncmp(start, expect, size) && start[size] == '<',
               "a text of the picture", "  got: '%.20s'\n  expect: '%s'\n",
               start, expect);
}

static void same(const char *what, double got, double expect)
{
    tap_near(what, got, expect, 0, 0.15); /* pictures have one decimal */
}

static void test_heatmap(void)
{
    const float x[2][3] = {{0.5f, -1, 0}, {0.22910725f, 0.25f, -0.00001f}};
    heatmap("map", "A <title>", 2, names, 3, names, x);
    const char *text = picture("map");
    has(text, "<title id=\"map-title\">A &lt;title></title>");
    has(text, "a&lt;b: a&lt;b 0.5000, b&amp;c -1.0000, longer 0.0000.");
    has(text, "class=\"c1\" fill-opacity=\"0.55\""); /* -1, the largest */
    has(text, "class=\"c0\" fill-opacity=\"0.29\""); /* half as large */
    has(text, ">0.2291</text>");
    has(text, ">0.0000</text>");
    tap_near("cells", count(text, "<rect"), 6, 0, 0);
    /* The three column words, then for each row its word and its values. */
    for (int j = 0; j < 3; j++) {
        double middle = attribute(text, "<rect", j, "x") +
                        attribute(text, "<rect", j, "width") / 2;
        tap_near("a column's word is above its cells",
                 attribute(text, "<text", j, "x"), middle, 0, 1.5);
        tap_near("a value is in its cell",
                 attribute(text, "<text", 4 + j, "x"), middle, 0, 1.5);
        same("cells below each other", attribute(text, "<rect", 3 + j, "x"),
             attribute(text, "<rect", j, "x"));
    }
    const char *const labels[3] = {"a&lt;b", "b&amp;c", "longer"};
    for (int j = 0; j < 3; j++)
        says(text, j, labels[j]);
    for (int i = 0; i < 2; i++)
        says(text, 3 + 4 * i, labels[i]);
    says(text, 5, "-1.0000");
    tap_true("the rows' words stand beside their rows",
             attribute(text, "<text", 3, "y") <
                 attribute(text, "<text", 7, "y"));
    has(text, "prefers-color-scheme:dark");
    has(text, "role=\"img\"");
    tap_true("ends", count(text, "</svg>\n") == 1);
}

static void test_no_numbers(void)
{
    const float x[2][2] = {{2, -INFINITY}, {NAN, -1}};
    heatmap("map", "Title", 2, names, 2, names, x);
    const char *text = picture("map");
    has(text, "a&lt;b: a&lt;b 2.0000, b&amp;c -inf. ");
    has(text, "b&amp;c: a&lt;b nan, b&amp;c -1.0000. ");
    has(text, "class=\"middle muted\">-inf<");
    has(text, "class=\"middle strong c1\">nan<");
    tap_near("filled cells", count(text, "fill-opacity"), 2, 0, 0);
    has(text, "class=\"c0\" fill-opacity=\"0.55\""); /* 2 is largest */
    same("an empty cell has its place", attribute(text, "<rect", 1, "x"),
         attribute(text, "<rect", 0, "x") + 76 + 0.5);
}

static void test_maps(void)
{
    const char *const panels[3] = {"one", "two", "odd"};
    const float x[3][2][3] = {{{1, -0.5f, 0}, {0, 0, 0}},
                              {{50, -INFINITY, 100}, {0, NAN, 0}},
                              {{0, 0, 0}, {0, 0, 0}}};
    maps("maps", "Title", 3, panels, 2, names, 3, names, x);
    const char *text = picture("maps");
    has(text,
        "two. a&lt;b: a&lt;b 50.0000, b&amp;c -inf, longer 100.0000.");
    tap_near("cells", count(text, "<rect"), 18, 0, 0);
    tap_near("a scale for each panel", count(text, "\"0.55\""), 2, 0, 0);
    tap_near("half of it", count(text, "class=\"c1\" fill-opacity=\"0.29"),
             1, 0, 0);
    has(text, ">-inf<");
    has(text, ">nan<");
    const double wide = attribute(text, "<svg", 0, "width");
    tap_true("fits the page", wide <= 640);
    tap_true("can be read", attribute(text, "<g", 0, "font-size") >= 10);
    /* Two a row, the third below the first. */
    same("side by side", attribute(text, "<rect", 6, "y"),
         attribute(text, "<rect", 0, "y"));
    tap_true("the second to the right",
             attribute(text, "<rect", 6, "x") >
                 attribute(text, "<rect", 2, "x"));
    same("the third below", attribute(text, "<rect", 12, "x"),
         attribute(text, "<rect", 0, "x"));
    tap_true("the first's last row", attribute(text, "<rect", 12, "y") >
                                         attribute(text, "<rect", 3, "y"));
    /* Of each map its label, three columns, two rows with their words. */
    for (int k = 0; k < 3; k++)
        says(text, 12 * k, panels[k]);
    for (int j = 0; j < 3; j++)
        tap_near("a value is in its cell",
                 attribute(text, "<text", 12 + 5 + j, "x"),
                 attribute(text, "<rect", 6 + j, "x") +
                     attribute(text, "<rect", 6 + j, "width") / 2,
                 0, 0.2);
}

/* Letters of less than 10 pixels are none: rather one map a row. */
static void test_wide_maps(void)
{
    const char *const panels[2] = {"one", "two"};
    const char *const word[6] = {"Your", "journey", "starts",
                                 "with", "one",     "step"};
    float x[2][6][6];
    for (int i = 0; i < 12; i++)
        tap_fill(6, x[i / 6][i % 6], -1, 1);
    x[0][0][0] = -0.5f;
    maps("maps", "Title", 2, panels, 6, word, 6, word, x);
    const char *text = picture("maps");
    tap_true("six columns fit twice",
             attribute(text, "<svg", 0, "width") <= 640);
    tap_true("in letters to be read",
             attribute(text, "<g", 0, "font-size") >= 10);
    same("two a row", attribute(text, "<rect", 36, "y"),
         attribute(text, "<rect", 0, "y"));
    x[1][2][3] = -12.3456f; /* 9 pixels would do */
    maps("maps", "Title", 2, panels, 6, word, 6, word, x);
    text = picture("maps");
    tap_true("wider ones fit once",
             attribute(text, "<svg", 0, "width") <= 640);
    same("one a row", attribute(text, "<rect", 36, "x"),
         attribute(text, "<rect", 0, "x"));
}

static void test_grid(void)
{
    const char *const panels[2] = {"causal", "dropped"};
    const float x[2][2][3] = {{{1, 0, 0}, {1, 1, 0}},
                              {{0, 0, 0}, {0, 0, 1}}};
    grid("grid", "Title", 2, panels, 2, 3, x);
    const char *text = picture("grid");
    has(text, "causal: 100, 110. dropped: 000, 001. ");
    tap_near("filled squares", count(text, "<rect"), 4, 0, 0);
    tap_near("lines around them", count(text, "<line"), 2 * (3 + 4), 0, 0);
    const double x0 = attribute(text, "<rect", 0, "x");
    const double y0 = attribute(text, "<rect", 0, "y");
    const double step = attribute(text, "<rect", 2, "x") - x0;
    same("below the first", attribute(text, "<rect", 1, "x"), x0);
    same("as far down as to the right", attribute(text, "<rect", 1, "y"),
         y0 + step);
    same("a square", attribute(text, "<rect", 0, "width"),
         attribute(text, "<rect", 0, "height"));
    same("its neighbour touches the line between them",
         attribute(text, "<rect", 0, "width"), step - 1);
    same("the other panel: last row", attribute(text, "<rect", 3, "y"),
         y0 + step);
    same("and last column", attribute(text, "<rect", 3, "x"),
         attribute(text, "<line", 7, "x1") + 2 * step + 1);
    says(text, 1, "dropped");
}

/* Seven panels of 48 columns cannot stand side by side. */
static void test_large_grid(void)
{
    static float x[7][1][48];
    const char *const panels[7] = {"", "", "", "", "", "", ""};
    for (int k = 0; k < 7; k++)
        x[k][0][0] = 1;
    grid("grid", "Title", 7, panels, 1, 48, x);
    const char *text = picture("grid");
    tap_true("fits the page", attribute(text, "<svg", 0, "width") <= 640);
    same("in several rows", attribute(text, "<rect", 6, "x"),
         attribute(text, "<rect", 0, "x"));
    tap_true("one below the other", attribute(text, "<rect", 6, "y") >
                                        attribute(text, "<rect", 0, "y"));
}

static void test_bars(void)
{
    const char *const panels[2] = {"one", "two"};
    const float x[2][3] = {{1, -2, 4}, {0, 0, 0}};
    bars("bars", "Title", 2, panels, 3, names, x);
    const char *text = picture("bars");
    has(text, "one: a&lt;b 1.0000, b&amp;c -2.0000, longer 4.0000.");
    has(text, ">-2.0000</text>");
    tap_near("bars", count(text, "<rect"), 6, 0, 0);
    tap_near("negative bars", count(text, "class=\"c1\""), 1, 0, 0);
    double unit = attribute(text, "<rect", 0, "height");
    double zero = attribute(text, "<rect", 0, "y") + unit;
    same("twice as long", attribute(text, "<rect", 1, "height"), 2 * unit);
    same("and below", attribute(text, "<rect", 1, "y"), zero);
    same("four times", attribute(text, "<rect", 2, "height"), 4 * unit);
    same("and above", attribute(text, "<rect", 2, "y"), zero - 4 * unit);
    same("nothing", attribute(text, "<rect", 3, "height"), 0);
}

/* The middle of the k-th box. */
static double middle(const char *text, int k)
{
    return attribute(text, "<rect", k, "x") +
           attribute(text, "<rect", k, "width") / 2;
}

/* Bins are 2 wide in the first panel, and 61 / 0.6 times as narrow in the
 * second, which has numbers in the same bins of its own. */
static void test_histograms(void)
{
    const char *const panels[2] = {"wide", "narrow"};
    const float x[2][5] = {{-61, 0, 0, 20, 61}, {-0.6f, 0, 0, 0.2f, 0.6f}};
    histograms("bins", "Title", 2, panels, 5, x);
    const char *text = picture("bins");
    has(text, "wide: 5 numbers, half of them within 33 percent of the axis "
              "on either side of 0, all within 100 percent. ");
    has(text, "narrow: 5 numbers, half of them within 1 percent of the "
              "axis on either side of 0, all within 1 percent. ");
    tap_near("bins with numbers", count(text, "<rect"), 8, 0, 0);
    /* The axis: a line for each mark, the outer ones at -50 and 50. */
    const double zero = attribute(text, "<line", 1, "x1");
    const double unit = (attribute(text, "<line", 2, "x1") - zero) / 50;
    same("marks on both sides", attribute(text, "<line", 0, "x1"),
         zero - 50 * unit);
    says(text, 0, "-50");
    says(text, 1, "0");
    says(text, 2, "50");
    const double at[4] = {-60, 0, 20, 60}, high[4] = {0.5, 1, 0.5, 0.5};
    const double tall = attribute(text, "<rect", 1, "height");
    for (int b = 0; b < 8; b++) {
        const double scale = b < 4 ? 1 : 0.6 / 61;
        same("a bin's place", middle(text, b),
             zero + at[b % 4] * scale * unit);
        same("a bin's height", attribute(text, "<rect", b, "height"),
             high[b % 4] * tall);
        same("stands on its line",
             attribute(text, "<rect", b, "y") +
                 attribute(text, "<rect", b, "height"),
             attribute(text, "<line", b < 4 ? 3 : 4, "y1"));
        same("a bin's width", attribute(text, "<rect", b, "width"),
             b < 4 ? 2 * unit - 0.5 : 1);
    }
}

static void test_small_bins(void)
{
    static float x[2][500];
    x[0][7] = 3;
    histograms("bins", "Title", 2, names, 500, x);
    const char *text = picture("bins");
    tap_near("bins", count(text, "<rect"), 3, 0, 0);
    same("one of many", attribute(text, "<rect", 1, "height"), 1);
    same("nothing but zeros", attribute(text, "<rect", 2, "height"),
         attribute(text, "<rect", 0, "height"));
    same("in the middle", middle(text, 2), middle(text, 0));
    histograms("bins", "Title", 1, names, 500, (const float(*)[500])x[1]);
    text = picture("bins");
    tap_near("zeros alone", count(text, "<rect"), 1, 0, 0);
    has(text, "all within 0 percent");
}

static void test_stacks(void)
{
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    stacks("stacks", "Title", 2, names, 2, part);
    const char *text = picture("stacks");
    /* After the legend's two: the parts, each where the one before ends. */
    double unit = attribute(text, "<rect", 2, "width") / 0.25;
    const double parts[4] = {0.25, 0.125, 0.5, 1};
    for (int i = 0; i < 4; i++)
        same("as wide as its part",
             attribute(text, "<rect", 2 + i, "width"), parts[i] * unit);
    for (int i = 2; i < 6; i += 2)
        same("one behind the other", attribute(text, "<rect", i + 1, "x"),
             attribute(text, "<rect", i, "x") +
                 attribute(text, "<rect", i, "width"));
    has(text, "Entry 0 is the sum of 0.2500 from a&lt;b, 0.1250 from");
    has(text, ">0.3750</text>");
    has(text, ">1.5000</text>");
}

static void test_arrows(void)
{
    const float x[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    arrows("arrows", "Title", 3, names, x);
    const char *text = picture("arrows");
    has(text, "b&amp;c (3.0000, 2.0000), with the first 14.0000.");
    has(text, ">longer: -7.0000</text>");
    tap_near("heads", count(text, "<polygon"), 3, 0, 0);
    /* After the two axes: a dashed line and a shadow for each but the
     * first, then the arrows. Shadow and dashed line meet at a right
     * angle. */
    double x0 = attribute(text, "<line", 1, "x1");
    double y0 = attribute(text, "<line", 0, "y1");
    double unit = (attribute(text, "<polygon", 0, "points") - x0) / 4;
    for (int i = 1; i < 3; i++) {
        double dash_x = attribute(text, "<line", 2 * i, "x2");
        double dash_y = attribute(text, "<line", 2 * i, "y2");
        same("the dashed line begins at the tip",
             attribute(text, "<line", 2 * i, "x1"), x0 + x[i][0] * unit);
        same("at its height", attribute(text, "<line", 2 * i, "y1"),
             y0 - x[i][1] * unit);
        double share = (x[i][0] * 4 + x[i][1]) / 17;
        tap_near("and ends on the first arrow's line", dash_x,
                 x0 + share * 4 * unit, 0, 0.3);
        tap_near("at that height", dash_y, y0 - share * unit, 0, 0.3);
        same("where the shadow ends",
             attribute(text, "<line", 2 * i + 1, "x2"), dash_x);
    }
    for (int i = 0; i < 3; i++)
        tap_near("an arrow ends at its point",
                 attribute(text, "<polygon", i, "points"),
                 x0 + x[i][0] * unit, 0, 0.3);
    tap_near("shadows", count(text, "class=\"dash\""), 2, 0, 0);
}

/* The i-th point of the k-th curve. */
static void point_of(const char *text, int k, int i, double point[2])
{
    for (; (text = strstr(text, "points=\"")) && k > 0; k--)
        text++;
    text += strlen("points=\"");
    for (; i > 0; i--)
        text = strchr(text, ' ') + 1;
    point[0] = strtod(text, NULL);
    point[1] = strtod(strchr(text, ',') + 1, NULL);
}

/* Where a text with these words is: the start of its element. */
static const char *element(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    while (found && found > text && strncmp(found, "<text", 5))
        found--;
    return found ? found : "";
}

static void test_curves(void)
{
    const float y[2][3] = {{1, 2, 4}, {0.5f, 0.75f, -2}};
    const char *const two[2] = {"up", "down"};
    curves("curves", "Title", 2, two, 3, names, y);
    const char *text = picture("curves");
    has(text, "up: a&lt;b 1.0000, b&amp;c 2.0000, longer 4.0000. down: ");
    says(text, 0, "up");
    says(text, 1, "down");
    tap_near("points, and two in the legend", count(text, "<path"), 8, 0,
             0);
    tap_near("curves", count(text, "<polyline"), 2, 0, 0);
    double first[2], low[2], at[2];
    point_of(text, 0, 0, first);
    point_of(text, 1, 2, low);
    const double unit = (low[1] - first[1]) / 3, step = low[0] - first[0];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            char value[20];
            point_of(text, k, i, at);
            same("as high as its value", at[1],
                 first[1] - (y[k][i] - 1) * unit);
            same("at its place", at[0], first[0] + i * step / 2);
            snprintf(value, sizeof value, ">%.4f<", y[k][i]);
            const char *label = element(text, value);
            tap_true("the higher's value above, the lower's below",
                     i == 2 || (attribute(label, "<text", 0, "y") <
                                at[1]) == (k == 0));
            tap_true("near its point",
                     fabs(attribute(label, "<text", 0, "x") - at[0]) < 30);
        }
    /* The axis has a line for each mark. */
    same("the lowest value is the lowest mark",
         attribute(text, "<line", 0, "y1"), low[1]);
    has(element(text, ">-2<"), "end small muted");
    same("a place's word",
         attribute(element(text, ">longer<"), "<text", 0, "x"), low[0]);
}

static void test_values(void)
{
    const char *const six[6] = {"a", "b", "c", "d", "e", "f"};
    float y[3][6];
    for (int trial = 0; trial < 20; trial++) {
        double x[18], at[18];
        int n = 0;
        for (int k = 0; k < 3; k++)
            tap_fill(6, y[k], 0, 1);
        curves("curves", "Title", 3, six, 6, six, y);
        for (const char *text = picture("curves");
             (text = strstr(text, "class=\"middle small c")); text++, n++) {
            const char *start = text;
            while (strncmp(start, "<text", 5))
                start--;
            x[n] = attribute(start, "<text", 0, "x");
            at[n] = attribute(start, "<text", 0, "y");
        }
        tap_near("values", n, 18, 0, 0);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++)
                tap_true("no value covers another",
                         fabs(x[i] - x[k]) > 40 ||
                             fabs(at[i] - at[k]) > 11);
    }
    /* From 0, even if no value is: half of the largest is half as high. */
    curves("curves", "Title", 1, six, 2, six, (float[1][2]){{4, 2}});
    const char *text = picture("curves");
    double high[2], half[2];
    point_of(text, 0, 0, high);
    point_of(text, 0, 1, half);
    same("from 0 on", attribute(text, "<line", 0, "y1") - high[1],
         2 * (half[1] - high[1]));
    has(element(text, ">0<"), "end small muted");
    curves("curves", "Title", 2, six, 2, six,
           (float[2][2]){{-0.25f, 1}, {4, 2}});
    text = picture("curves");
    point_of(text, 1, 0, high);
    tap_true("the largest of all stays below the legend", high[1] > 26);
    has(text, ">0<"); /* and not -0 */
    curves("curves", "Title", 1, six, 1, six, (float[1][1]){{0}});
    has(picture("curves"), ">0.0000</text>");
}

static void refused_curves(void)
{
    const float y[7][1] = {{1}};
    const char *const seven[7] = {"", "", "", "", "", "", ""};
    curves("curves", "Title", 7, seven, 1, names, y);
}

static void refused_point(void)
{
    curves("curves", "Title", 1, names, 1, names, (float[1][1]){{NAN}});
}

static void refused_bin(void)
{
    histograms("bins", "Title", 1, names, 1, (float[1][1]){{-INFINITY}});
}

static void refused_map(void)
{
    maps("maps", "Title", 1, names, 1, names, 1, names,
         (float[1][1][1]){{{INFINITY}}});
}

static void refused_square(void)
{
    grid("grid", "Title", 1, names, 1, 2, (float[1][1][2]){{{1, 0.5f}}});
}

static void test_blocks(void)
{
    const Block b[4] = {{"X", 6, 3, 1, "·"},
                        {"a<b", 3, 8, 4, "="},
                        {"heads", 6, 8, 8, NULL},
                        {"next", 13, 2, 1, NULL}};
    blocks("blocks", "Title", 4, b);
    const char *text = picture("blocks");
    has(text, "X, 6 by 3 · a&lt;b, 3 by 8 in 4 parts = heads, 6 by 8 in 8 "
              "parts. next, 13 by 2. ");
    /* Of each block its parts and its frame. */
    const int frame[4] = {1, 6, 15, 17};
    const double unit = attribute(text, "<rect", 17, "height") / 13;
    for (int k = 0; k < 4; k++) {
        same("as high as it has rows",
             attribute(text, "<rect", frame[k], "height"), b[k].n * unit);
        same("as wide as it has columns",
             attribute(text, "<rect", frame[k], "width"), b[k].m * unit);
    }
    for (int i = 2; i < 6; i++)
        same("a part of the columns", attribute(text, "<rect", i, "x"),
             attribute(text, "<rect", 6, "x") + (i - 2) * 2 * unit);
    has(text, "class=\"c5\"");
    tap_near("six colours, then the first again",
             count(text, "class=\"c0\""), 5, 0, 0);
    /* The sign lies between its neighbours. */
    const char *sign = element(text, ">·<");
    tap_true("behind the first",
             attribute(sign, "<text", 0, "x") >
                 attribute(text, "<rect", 1, "x") + 3 * unit);
    tap_true("before the second", attribute(sign, "<text", 0, "x") <
                                      attribute(text, "<rect", 6, "x"));
    for (int k = 0; k < 3; k++)
        same("one axis for a line",
             attribute(text, "<rect", frame[k], "y") + b[k].n * unit / 2,
             attribute(text, "<rect", 1, "y") + 3 * unit);
    tap_true("a new line",
             attribute(text, "<rect", 17, "y") >
                 attribute(text, "<rect", 15, "y") + 6 * unit);
    tap_near("lines between cells up to 12", count(text, "<line"),
             5 + 2 + 2 + 7 + 5 + 7, 0, 0);
    has(element(text, ">6 × 3<"), "middle small muted");
}

static void test_large_blocks(void)
{
    const Block b[3] = {{"X", 20, 512, 1, "·"},
                        {"W", 512, 512, 8, "="},
                        {"XW", 20, 512, 1, NULL}};
    blocks("blocks", "Title", 3, b);
    const char *text = picture("blocks");
    has(text, "Sides are as the square roots of the numbers.");
    tap_true("fits the page", attribute(text, "<svg", 0, "width") <= 640);
    const double unit = attribute(text, "<rect", 1, "width") / sqrt(512);
    same("root of the rows", attribute(text, "<rect", 1, "height"),
         sqrt(20) * unit);
    same("root of the columns", attribute(text, "<rect", 10, "width"),
         sqrt(512) * unit);
    same("a square", attribute(text, "<rect", 10, "height"),
         sqrt(512) * unit);
    tap_near("no cells", count(text, "<line"), 0, 0, 0);
}

static void refused_block(void)
{
    blocks("blocks", "Title", 1, (Block[1]){{"X", 0, 2, 1, NULL}});
}

static void refused_no_part(void)
{
    blocks("blocks", "Title", 1, (Block[1]){{"X", 2, 2, 0, NULL}});
}

static void refused_parts(void)
{
    blocks("blocks", "Title", 1, (Block[1]){{"X", 2, 8, 3, NULL}});
}

static void test_pipeline(void)
{
    pipeline("way", "scores  weights");
    const char *text = picture("way");
    has(text, "then scores (this chapter), then scaled,");
    tap_near("lit", count(text, "class=\"c0\""), 2, 0, 0);
    /* A shaded box comes just before the frame of its stage. */
    for (int i = 3; i < 8; i += 4) {
        same("shaded", attribute(text, "<rect", i, "x") + 0.5,
             attribute(text, "<rect", i + 1, "x"));
        tap_near("of full height", attribute(text, "<rect", i, "height"),
                 attribute(text, "<rect", i + 1, "height"), 0, 1);
    }
    tap_near("stages", count(text, "class=\"rule\""), 10, 0, 0);
}

static void test_worksheet(void)
{
    const float x[2][2] = {{1, 2}, {3, 4.5f}}, y[1][3] = {{7, 8, 9}};
    const Table sheet[2] = {{"X", 2, 2, x[0]}, {"Y", 1, 3, y[0]}};
    worksheet("sheet", "Title", 2, sheet, 1);
    const char *text = picture("sheet");
    has(text, "X, 2 rows of 2, given. Y, 1 rows of 3, empty.");
    has(text, ">4.5</text>");
    tap_near("cells", count(text, "<rect"), 7, 0, 0);
    tap_true("what is to be written is not there",
             !strstr(text, ">8</text>"));
    worksheet("sheet", "Title", 2, sheet, 2);
    has(picture("sheet"), ">8</text>");
}

static void test_bits(void)
{
    bits("bits", "Title", 0x80000003u, 2);
    const char *text = picture("bits");
    has(text, "The number 2147483651 in binary: "
              "10000000000000000000000000000011. The lower 2 bits");
    has(text, "3 of 4: 0.7500");
    tap_near("shaded", count(text, "<rect"), 2, 0, 0);
    tap_near("bits", count(text, ">0</text>"), 29, 0, 0);
    bits("bits", "Title", 0xc0000000u, 1);
    text = picture("bits");
    says(text, 0, "1");
    says(text, 1, "1");
    says(text, 31, "0");
    same("the last bit is shaded", attribute(text, "<rect", 0, "x") + 8,
         attribute(text, "<text", 31, "x"));
    bits("bits", "Title", UINT32_MAX, 32);
    has(picture("bits"), "4294967295 of 4294967296: 1.0000");
}

static void refused_bits(void)
{
    bits("bits", "Title", 1, 33);
}

static void test_lookup(void)
{
    const int ids[3] = {7, 2, 7};
    const float x[3][2] = {{1, 2}, {3, 4}, {1, 2}};
    lookup("look", "Title", 3, names, ids, 10, 2, x);
    const char *text = picture("look");
    has(text, "a&lt;b picks row 7: 1.0000, 2.0000. b&amp;c picks row 2:");
    has(text, ">and 8 other rows<");
    same("row 2 comes first", attribute(text, "<line", 1, "y2"), 15);
    same("row 7 second", attribute(text, "<line", 0, "y2"), 51);
    same("for the same word again", attribute(text, "<line", 2, "y2"), 51);
    tap_near("a row that two words pick is drawn once",
             count(text, "<rect"), 4, 0, 0);
    tap_near("with its number", count(text, ">row 7<"), 1, 0, 0);
    same("the rest is under them",
         attribute(text, "<text", count(text, "<text") - 1, "y"), 92);
    lookup("look", "Title", 3, names, ids, 8, 2, x);
    has(picture("look"), ">and 6 other rows<");
    lookup("look", "Title", 2, names, (int[2]){0, 1}, 3, 2, x);
    has(picture("look"), ">and 1 other row<");
    lookup("look", "Title", 2, names, (int[2]){0, 1}, 2, 2, x);
    tap_true("no rows are left", !strstr(picture("look"), "other row"));
}

static void refused_row(void)
{
    lookup("look", "Title", 1, names, (int[1]){3}, 3, 1,
           (float[1][1]){{1}});
}

static void test_nothing(void)
{
    unsetenv("FIGURES");
    pipeline("none", "scores");
    setenv("FIGURES", "", 1);
    pipeline("none", "scores");
    tap_true("nothing is drawn", !*picture("none"));
    pipeline("none", "no such stage");
    heatmap("none", "Title", 1, names, 1, names, (float[1][1]){{INFINITY}});
    bars("none", "Title", 1, names, 1, names, (float[1][1]){{NAN}});
    stacks("none", "Title", 1, names, 1, (float[1][1]){{-1}});
    arrows("none", "Title", 1, names, (float[1][2]){{0, 0}});
    bits("none", "Title", 0, 0);
    lookup("none", "Title", 1, names, (int[1]){0}, 1, 1,
           (float[1][1]){{NAN}});
    maps("none", "Title", 1, names, 1, names, 1, names,
         (float[1][1][1]){{{INFINITY}}});
    grid("none", "Title", 1, names, 1, 1, (float[1][1][1]){{{2}}});
    histograms("none", "Title", 1, names, 1, (float[1][1]){{NAN}});
    curves("none", "Title", 1, names, 1, names, (float[1][1]){{NAN}});
    blocks("none", "Title", 1, (Block[1]){{"", 0, 0, 0, NULL}});
    tap_true("nor refused", !*picture("none"));
}

static void refused_folder(void)
{
    setenv("FIGURES", "/tmp/no/such/folder", 1);
    pipeline("way", "scores");
}

/* A disk that is full, and a picture's name that is taken by a folder. */
static void refused_full(void)
{
    static const float x[40][3] = {{0}};
    const char *row[40];
    for (int i = 0; i < 40; i++)
        row[i] = "some more bytes than a file keeps to itself";
    heatmap("full", "Title", 40, row, 3, names, x);
}

static void refused_taken(void)
{
    pipeline("taken", "scores");
}

/* The reason that is told must be that of the write which failed first. */
static void refuses_to_write(void)
{
    char path[100], message[300];
    snprintf(path, sizeof path, "%s/taken.svg", folder);
    snprintf(message, sizeof message, "figure %s cannot be written: %s",
             path, strerror(EISDIR));
    if (mkdir(path, 0700))
        REFUSE("no folder %s can be made", path);
    tap_refuses(refused_taken, "FIGURES: a name that a folder has",
                "figure.c", message);
    rmdir(path);
    snprintf(message, sizeof message,
             "figure %s/full.svg cannot be written: %s", folder,
             strerror(ENOSPC));
    snprintf(path, sizeof path, "%s/full.svg.part", folder);
    if (access("/dev/full", W_OK) || symlink("/dev/full", path))
        tap_skip("FIGURES: a full disk", "no /dev/full");
    else
        tap_refuses(refused_full, "FIGURES: a full disk", "figure.c",
                    message);
}

static void refused_stage(void)
{
    pipeline("way", "scores wieghts");
}
static void refused_no_stage(void)
{
    pipeline("way", " ");
}

static void refused_infinity(void)
{
    heatmap("map", "Title", 1, names, 2, names,
            (float[1][2]){{1, INFINITY}});
}

static void refused_bar(void)
{
    bars("bars", "Title", 1, names, 2, names, (float[1][2]){{1, INFINITY}});
}

static void refused_part(void)
{
    stacks("stacks", "Title", 1, names, 2, (float[1][2]){{1, -0.5f}});
}

static void refused_words(void)
{
    const float part[7][1] = {{1}};
    const char *const seven[7] = {"", "", "", "", "", "", ""};
    stacks("stacks", "Title", 7, seven, 1, part);
}

static void refused_arrow(void)
{
    arrows("arrows", "Title", 2, names, (float[2][2]){{0, 0}, {1, 1}});
}

int main(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    setenv("FIGURES", folder, 1);
    TAP(test_heatmap, "heatmap: words, values, shades");
    TAP(test_no_numbers, "heatmap: -inf and nan");
    TAP(test_maps, "maps: places, scales, -inf and nan");
    TAP(test_wide_maps, "maps: one a row where two cannot be read");
    TAP(test_grid, "grid: squares and their places");
    TAP(test_large_grid, "grid: several rows");
    TAP(test_bars, "bars: words, values, signs");
    TAP(test_histograms, "histograms: places, heights, one axis");
    TAP(test_small_bins, "histograms: small bins are seen, zeros as well");
    TAP(test_stacks, "stacks: words, parts, sums");
    TAP(test_arrows, "arrows: words, products, shadows");
    TAP(test_curves, "curves: places, heights, words");
    TAP(test_values, "curves: axis from 0, values side by side");
    TAP(test_blocks, "blocks: shapes, parts, signs, lines");
    TAP(test_large_blocks, "blocks: large shapes");
    TAP(test_pipeline, "pipeline: lit stages");
    TAP(test_worksheet, "worksheet: what is given and what is not");
    TAP(test_lookup, "lookup: words, rows, lines between them");
    TAP(test_bits, "bits: binary digits, shades, fraction");
    tap_refuses(refused_bits, "bits: refuses 33", "figure_boxes.c",
                "figure 'bits' keeps 33 bits: from 1 to 32 can be kept");
    TAP(test_nothing, "FIGURES: nothing is drawn without it");
    tap_refuses(
        refused_folder, "FIGURES: a folder that is not there", "figure.c",
        "figure /tmp/no/such/folder/way.svg.part cannot be written: "
        "No such file or directory");
    refuses_to_write();
    tap_refuses(refused_row, "lookup: refuses an id that is no row",
                "figure_boxes.c",
                "figure 'look' looks up row 3: the table has rows 0 to 2");
    tap_refuses(refused_stage, "pipeline: refuses an unknown stage",
                "figure_boxes.c",
                "stages 'scores wieghts': each once, one or more of words "
                "vectors roles scores scale mask weights dropout context "
                "heads are needed");
    tap_refuses(
        refused_no_stage, "pipeline: refuses no stage", "figure_boxes.c",
        "stages ' ': each once, one or more of words vectors roles "
        "scores scale mask weights dropout context heads are needed");
    tap_refuses(refused_infinity, "heatmap: refuses infinity",
                "figure_cells.c",
                "figure 'map' has an entry inf: finite numbers, -inf and "
                "nan can be drawn");
    tap_refuses(refused_map, "maps: refuses infinity", "figure_cells.c",
                "figure 'maps' has an entry inf: finite numbers, -inf and "
                "nan can be drawn");
    tap_refuses(refused_square, "grid: refuses what is not 0 or 1",
                "figure_cells.c",
                "figure 'grid' has an entry 0.5: 0 and 1 can be drawn");
    tap_refuses(refused_bin, "histograms: refuses inf", "figure.c",
                "figure 'bins' has an entry -inf: only finite numbers can "
                "be drawn");
    tap_refuses(refused_point, "curves: refuses nan", "figure.c",
                "figure 'curves' has an entry nan: only finite numbers can "
                "be drawn");
    tap_refuses(refused_curves, "curves: refuses more curves than colours",
                "figure.c",
                "figure 'curves' has 7 curves: colours for 6 exist");
    tap_refuses(refused_block, "blocks: refuses no rows", "figure_boxes.c",
                "figure 'blocks' has a block 'X' of 0 × 2 in 1 parts: at "
                "least 1 of each and parts of equal width are needed");
    tap_refuses(refused_no_part, "blocks: refuses no parts",
                "figure_boxes.c",
                "figure 'blocks' has a block 'X' of 2 × 2 in 0 parts: at "
                "least 1 of each and parts of equal width are needed");
    tap_refuses(refused_parts, "blocks: refuses parts that do not divide",
                "figure_boxes.c",
                "figure 'blocks' has a block 'X' of 2 × 8 in 3 parts: at "
                "least 1 of each and parts of equal width are needed");
    tap_refuses(
        refused_bar, "bars: refuses inf", "figure.c",
        "figure 'bars' has an entry inf: only finite numbers can be "
        "drawn");
    tap_refuses(
        refused_part, "stacks: refuses a negative part", "figure_bars.c",
        "figure 'stacks' has a part -0.5: only finite parts from 0 on "
        "can be stacked");
    tap_refuses(refused_words, "stacks: refuses more words than colours",
                "figure.c",
                "figure 'stacks' has 7 words: colours for 6 exist");
    tap_refuses(refused_arrow, "arrows: refuses a first arrow of length 0",
                "figure_lines.c",
                "figure 'arrows' begins with an arrow of length 0: shadows "
                "need a direction to fall on");
    /* Every picture was removed after it was read. */
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
    return tap_done();
}
