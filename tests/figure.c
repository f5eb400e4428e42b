/* What the drawing functions write, and what they refuse. That pictures look
 * as they should is for eyes; here they must hold the right numbers and
 * words, and leave nothing half-written behind. */
#include "tap.h"

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
    /* After the two axes: a dashed line and a shadow for each but the first,
     * then the arrows. Shadow and dashed line meet at a right angle. */
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
}

/* Cells without a number, and cells that have none. */
static void test_heatmap_cells(void)
{
    const float x[1][3] = {{2, -INFINITY, NAN}};
    heatmap("map", "Title", 1, names, 3, names, x);
    const char *text = picture("map");
    has(text, "a&lt;b 2.0000, b&amp;c -inf, longer nan.");
    has(text, "class=\"c0\" fill-opacity=\"0.55\""); /* 2, the largest */
    has(text, "class=\"c1\" fill-opacity=\"0.55\""); /* NaN */
    tap_near("an empty cell", count(text, "class=\"rule\""), 1, 0, 0);
    has(text, "class=\"middle small muted\">-inf<");
}

static void test_maps(void)
{
    const float x[3][2][2] = {
        {{1, 2}, {3, 4}}, {{-1, 0}, {0, 0}}, {{10, 20}, {30, -INFINITY}}};
    maps("maps", "Title", 3, names, 2, names, 2, names, x);
    const char *text = picture("maps");
    has(text, "a&lt;b. a&lt;b: a&lt;b 1.0000, b&amp;c 2.0000. b&amp;c: ");
    has(text, "longer. a&lt;b: a&lt;b 10.0000, b&amp;c 20.0000. ");
    tap_near("cells", count(text, "<rect"), 12, 0, 0);
    tap_near("-inf", count(text, ">-inf<"), 1, 0, 0);
    /* 4, -1 and 30 are the largest of their tables. */
    tap_near("strongest", count(text, "fill-opacity=\"0.55\""), 3, 0, 0);
    const double right = attribute(text, "<rect", 4, "x");
    tap_true("the second beside the first",
             right > attribute(text, "<rect", 1, "x") &&
                 attribute(text, "<rect", 4, "y") ==
                     attribute(text, "<rect", 0, "y"));
    tap_true("the third below", attribute(text, "<rect", 8, "x") ==
                                        attribute(text, "<rect", 0, "x") &&
                                    attribute(text, "<rect", 8, "y") >
                                        attribute(text, "<rect", 2, "y"));
    /* The panel's label, two columns, then a row's word and its values. */
    says(text, 0, "a&lt;b");
    says(text, 4, "1.0000");
    says(text, 9, "b&amp;c");
    same("a value is in its cell", attribute(text, "<text", 13, "x"),
         right + attribute(text, "<rect", 4, "width") / 2);
    const float wide[2][1][7] = {{{1}}, {{1}}};
    const char *const seven[7] = {"a", "b", "c", "d", "e", "f", "g"};
    maps("maps", "Title", 2, names, 1, names, 7, seven, wide);
    text = picture("maps");
    same("wide tables stand below each other",
         attribute(text, "<rect", 7, "x"),
         attribute(text, "<rect", 0, "x"));
}

static void test_grid(void)
{
    const float x[2][2][2] = {{{1, 0}, {0, 1}}, {{0, 0}, {1, 0}}};
    grid("grid", "Title", 2, names, 2, 2, x);
    const char *text = picture("grid");
    has(text, "a&lt;b: 10, 01. b&amp;c: 00, 10. ");
    tap_near("ones", count(text, "class=\"c0\""), 3, 0, 0);
    tap_near("zeros", count(text, "class=\"rule\""), 5, 0, 0);
    same("beside each other", attribute(text, "<rect", 5, "y"),
         attribute(text, "<rect", 1, "y"));
    tap_true("and in rows", attribute(text, "<rect", 2, "y") >
                                attribute(text, "<rect", 1, "y"));
}

static void test_histograms(void)
{
    float x[2][8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {-10, 0, 0, 0, 0, 5, 5, 10}};
    histograms("counts", "Title", 2, names, 8, x);
    const char *text = picture("counts");
    has(text, "a&lt;b: 8 numbers from 0 to 0. ");
    has(text, "b&amp;c: 8 numbers from -10 to 10. ");
    tap_near("bars", count(text, "<rect"), 1 + 4, 0, 0);
    double high[5], left[5];
    for (int k = 0; k < 5; k++) {
        high[k] = attribute(text, "<rect", k, "height");
        left[k] = attribute(text, "<rect", k, "x");
    }
    same("the tallest of each panel are equal", high[0], high[2]);
    same("a quarter", high[1], high[2] / 4);
    same("a half", high[3], high[2] / 2);
    same("one scale for both panels", left[0], left[2]);
    same("as far to the left as to the right", left[2] - left[1],
         left[4] - left[2]);
    same("half as far", left[3] - left[2], (left[4] - left[2]) / 2);
    says(text, 0, "a&lt;b");
    says(text, 2, "-10");
    says(text, 4, "0");
    same("zero is below the middle bar", attribute(text, "<text", 4, "x"),
         left[2] + attribute(text, "<rect", 2, "width") / 2);
}

static void test_curves(void)
{
    const float y[2][3] = {{1, 2, 4}, {3, 1, 0}};
    curves("curves", "Title", 2, names, 3, names, y);
    const char *text = picture("curves");
    has(text, "a&lt;b: a&lt;b 1.0000, b&amp;c 2.0000, longer 4.0000. ");
    tap_near("points", count(text, "<circle"), 6, 0, 0);
    tap_near("lines between them",
             count(text, "class=\"s0\"") + count(text, "class=\"s1\""), 4,
             0, 0);
    double at[6];
    for (int k = 0; k < 6; k++)
        at[k] = attribute(text, "<circle", k, "cy");
    same("twice as high", at[5] - at[1], 2 * (at[5] - at[0]));
    same("four times", at[5] - at[2], 4 * (at[5] - at[0]));
    same("three times", at[5] - at[3], 3 * (at[5] - at[0]));
    same("above each other", attribute(text, "<circle", 4, "cx"),
         attribute(text, "<circle", 1, "cx"));
    has(text, ">4.0000</text>");
    has(text, ">longer</text>");
}

static void test_blocks(void)
{
    const Block all[] = {{"a<b", 2, 6, 3, "·"},
                         {"c", 6, 1, 1, "="},
                         {"d", 2, 1, 1, NULL},
                         {"e", 4, 4, 1, NULL}};
    blocks("blocks", "Title", 4, all);
    const char *text = picture("blocks");
    has(text, "a&lt;b, 2 rows of 6 in 3 parts, c, 6 rows of 1, d, ");
    has(text, "e, 4 rows of 4. ");
    has(text, ">6 × 1<");
    has(text, ">·<");
    has(text, ">=<");
    /* Three parts and a frame, then a part and a frame each. */
    tap_near("boxes", count(text, "<rect"), 4 + 2 + 2 + 2, 0, 0);
    const double cell = attribute(text, "<rect", 3, "height") / 2;
    same("six columns", attribute(text, "<rect", 3, "width"), 6 * cell);
    same("a third of them", attribute(text, "<rect", 0, "width"), 2 * cell);
    same("the second part beside the first",
         attribute(text, "<rect", 1, "x"),
         attribute(text, "<rect", 0, "x") + 2 * cell);
    has(text, "class=\"c2\"");
    same("six rows", attribute(text, "<rect", 5, "height"), 6 * cell);
    same("in the middle of its line",
         attribute(text, "<rect", 3, "y") + cell,
         attribute(text, "<rect", 5, "y") + 3 * cell);
    tap_true("the next line is below",
             attribute(text, "<rect", 9, "y") >
                 attribute(text, "<rect", 5, "y") + 6 * cell);
    const Block large[] = {{"a", 16, 100, 1, NULL}, {"b", 4, 25, 1, NULL}};
    blocks("blocks", "Title", 2, large);
    text = picture("blocks");
    same("a large one by the roots", attribute(text, "<rect", 1, "width"),
         2 * attribute(text, "<rect", 3, "width"));
    same("of both its sizes", attribute(text, "<rect", 1, "width"),
         2.5 * attribute(text, "<rect", 1, "height"));
    tap_near("and without cells", count(text, "<line"), 0, 0, 0);
}

static void refused_folder(void)
{
    setenv("FIGURES", "/tmp/no/such/folder", 1);
    pipeline("way", "scores");
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

static void refused_map(void)
{
    maps("maps", "Title", 2, names, 1, names, 2, names,
         (float[2][1][2]){{{1, 2}}, {{3, INFINITY}}});
}

static void refused_half(void)
{
    grid("grid", "Title", 1, names, 1, 2, (float[1][1][2]){{{1, 0.5f}}});
}

static void refused_count(void)
{
    histograms("counts", "Title", 1, names, 2, (float[1][2]){{1, NAN}});
}

static void refused_id(void)
{
    lookup("look", "Title", 1, names, (int[1]){5}, 5, 1,
           (float[1][1]){{1}});
}

static void refused_curve(void)
{
    const float y[7][1] = {{1}};
    const char *const seven[7] = {"", "", "", "", "", "", ""};
    curves("curves", "Title", 7, seven, 1, names, y);
}

static void refused_parts(void)
{
    blocks("blocks", "Title", 1, &(Block){"a", 2, 5, 2, NULL});
}

static void refused_size(void)
{
    blocks("blocks", "Title", 1, &(Block){"a", 0, 5, 1, NULL});
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

static void test_nothing(void)
{
    unsetenv("FIGURES");
    pipeline("none", "scores");
    refused_infinity(); /* what is not drawn is not looked at */
    refused_map();
    refused_half();
    refused_count();
    refused_curve();
    refused_parts();
    refused_bits();
    refused_stage();
    refused_bar();
    refused_words();
    refused_arrow();
    setenv("FIGURES", "", 1);
    pipeline("none", "scores");
    tap_true("nothing is drawn", !*picture("none"));
}

int main(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    setenv("FIGURES", folder, 1);
    TAP(test_heatmap, "heatmap: words, values, shades");
    TAP(test_heatmap_cells, "heatmap: -inf and nan");
    TAP(test_maps, "maps: side by side, each to its own scale");
    TAP(test_grid, "grid: ones and zeros");
    TAP(test_histograms, "histograms: heights, one scale");
    TAP(test_curves, "curves: points, lines, values");
    TAP(test_blocks, "blocks: proportions, parts, signs");
    TAP(test_bars, "bars: words, values, signs");
    TAP(test_stacks, "stacks: words, parts, sums");
    TAP(test_arrows, "arrows: words, products, shadows");
    TAP(test_pipeline, "pipeline: lit stages");
    TAP(test_worksheet, "worksheet: what is given and what is not");
    TAP(test_lookup, "lookup: words, rows, lines between them");
    TAP(test_bits, "bits: binary digits, shades, fraction");
    tap_refuses(refused_bits, "bits: refuses 33", "diagram.c",
                "figure 'bits' keeps 33 bits: from 1 to 32 can be kept");
    TAP(test_nothing, "FIGURES: nothing is drawn without it");
    tap_refuses(
        refused_folder, "FIGURES: a folder that is not there", "pen.c",
        "figure /tmp/no/such/folder/way.svg.part cannot be written: "
        "No such file or directory");
    tap_refuses(refused_stage, "pipeline: refuses an unknown stage",
                "diagram.c",
                "stages 'scores wieghts': each once, one or more of words "
                "vectors roles scores scale mask weights dropout context "
                "heads are needed");
    tap_refuses(
        refused_no_stage, "pipeline: refuses no stage", "diagram.c",
        "stages ' ': each once, one or more of words vectors roles "
        "scores scale mask weights dropout context heads are needed");
    tap_refuses(
        refused_infinity, "heatmap: refuses inf", "figure.c",
        "figure 'map' has an entry inf: finite numbers, -inf and nan "
        "can be drawn");
    tap_refuses(refused_map, "maps: refuses inf in the last table",
                "figure.c",
                "figure 'maps' has an entry inf: finite numbers, -inf and "
                "nan can be drawn");
    tap_refuses(refused_half, "grid: refuses 0.5", "figure.c",
                "figure 'grid' has an entry 0.5: 0 or 1 is needed");
    tap_refuses(refused_count, "histograms: refuses nan", "pen.c",
                "figure 'counts' has an entry nan: only finite numbers can "
                "be drawn");
    tap_refuses(refused_id, "lookup: refuses an id that is no row",
                "diagram.c",
                "figure 'look' has the id 5: from 0 to 4 is needed");
    tap_refuses(refused_curve, "curves: refuses more than colours", "pen.c",
                "figure 'curves' has 7 curves: colours for 6 exist");
    tap_refuses(
        refused_parts, "blocks: refuses unequal parts", "diagram.c",
        "figure 'blocks' has a block of 2 times 5 in 2 parts: sizes "
        "from 1 on, and parts of equal width are needed");
    tap_refuses(
        refused_size, "blocks: refuses no rows", "diagram.c",
        "figure 'blocks' has a block of 0 times 5 in 1 parts: sizes "
        "from 1 on, and parts of equal width are needed");
    tap_refuses(
        refused_bar, "bars: refuses inf", "pen.c",
        "figure 'bars' has an entry inf: only finite numbers can be "
        "drawn");
    tap_refuses(
        refused_part, "stacks: refuses a negative part", "figure.c",
        "figure 'stacks' has a part -0.5: only finite parts from 0 on "
        "can be stacked");
    tap_refuses(refused_words, "stacks: refuses more words than colours",
                "pen.c",
                "figure 'stacks' has 7 words: colours for 6 exist");
    tap_refuses(refused_arrow, "arrows: refuses a first arrow of length 0",
                "diagram.c",
                "figure 'arrows' begins with an arrow of length 0: shadows "
                "need a direction to fall on");
    /* Every picture was removed after it was read. */
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
    return tap_done();
}
