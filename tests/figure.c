/* What the drawing functions write, and what they refuse. That pictures look
 * as they should is for eyes; here they must hold the right numbers and
 * words, and leave nothing half-written behind. */
#include "tap.h"

static const char *const names[3] = {"a<b", "b&c", "longer"};
static char folder[] = "/tmp/figure-test-XXXXXX";

/* The text of a picture, or "" where there is none. */
static const char *picture(const char *name)
{
    static char text[20000];
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

static void test_nothing(void)
{
    unsetenv("FIGURES");
    pipeline("none", "scores");
    setenv("FIGURES", "", 1);
    pipeline("none", "scores");
    tap_true("nothing is drawn", !*picture("none"));
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

static void refused_nan(void)
{
    heatmap("map", "Title", 1, names, 2, names, (float[1][2]){{1, NAN}});
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
    TAP(test_bars, "bars: words, values, signs");
    TAP(test_stacks, "stacks: words, parts, sums");
    TAP(test_arrows, "arrows: words, products, shadows");
    TAP(test_pipeline, "pipeline: lit stages");
    TAP(test_worksheet, "worksheet: what is given and what is not");
    TAP(test_lookup, "lookup: words, rows, lines between them");
    TAP(test_bits, "bits: binary digits, shades, fraction");
    tap_refuses(refused_bits, "bits: refuses 33", "figure.c",
                "figure 'bits' keeps 33 bits: from 1 to 32 can be kept");
    TAP(test_nothing, "FIGURES: nothing is drawn without it");
    tap_refuses(
        refused_folder, "FIGURES: a folder that is not there", "figure.c",
        "figure /tmp/no/such/folder/way.svg.part cannot be written: "
        "No such file or directory");
    tap_refuses(refused_stage, "pipeline: refuses an unknown stage",
                "figure.c",
                "stages 'scores wieghts': each once, one or more of words "
                "vectors roles scores scale mask weights dropout context "
                "heads are needed");
    tap_refuses(
        refused_no_stage, "pipeline: refuses no stage", "figure.c",
        "stages ' ': each once, one or more of words vectors roles "
        "scores scale mask weights dropout context heads are needed");
    tap_refuses(refused_nan, "heatmap: refuses nan", "figure.c",
                "figure 'map' has an entry nan: only finite numbers can be "
                "drawn");
    tap_refuses(
        refused_bar, "bars: refuses inf", "figure.c",
        "figure 'bars' has an entry inf: only finite numbers can be "
        "drawn");
    tap_refuses(
        refused_part, "stacks: refuses a negative part", "figure.c",
        "figure 'stacks' has a part -0.5: only finite parts from 0 on "
        "can be stacked");
    tap_refuses(refused_words, "stacks: refuses more words than colours",
                "figure.c",
                "figure 'stacks' has 7 words: colours for 6 exist");
    tap_refuses(refused_arrow, "arrows: refuses a first arrow of length 0",
                "figure.c",
                "figure 'arrows' begins with an arrow of length 0: shadows "
                "need a direction to fall on");
    /* Every picture was removed after it was read. */
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
    return tap_done();
}
