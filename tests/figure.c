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
}

static void test_stacks(void)
{
    const float part[2][2] = {{0.25f, 0.5f}, {0.125f, 1}};
    stacks("stacks", "Title", 2, names, 2, part);
    const char *text = picture("stacks");
    has(text, "Entry 0 is the sum of 0.2500 from a&lt;b, 0.1250 from");
    has(text, ">0.3750</text>");
    has(text, ">1.5000</text>");
}

static void test_arrows(void)
{
    const float x[3][2] = {{4, 1}, {3, 2}, {-2, 1}};
    arrows("arrows", "Title", 3, names, x);
    const char *text = picture("arrows");
    has(text, "b&amp;c (3.0000, 2.0000), dot product with a&lt;b 14.0000.");
    has(text, ">longer: -7.0000</text>");
    tap_near("heads", count(text, "<polygon"), 3, 0, 0);
    tap_near("shadows", count(text, "class=\"dash\""), 2, 0, 0);
}

static void test_pipeline(void)
{
    pipeline("way", "scores  weights");
    const char *text = picture("way");
    has(text, "then scores (this chapter), then scaled,");
    tap_near("lit", count(text, "class=\"c0\""), 2, 0, 0);
    tap_near("stages", count(text, "class=\"rule\""), 10, 0, 0);
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
