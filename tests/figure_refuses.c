/* What the drawing functions refuse; and that without FIGURES they neither
 * draw nor refuse. */
#include "figures.h"

static bool is_drawn;
#define REFUSED(line, ...)                                                 \
    do {                                                                   \
        if (is_drawn)                                                      \
            REFUSES(line, __VA_ARGS__);                                    \
        else                                                               \
            __VA_ARGS__;                                                   \
    } while (0)
#define ENTRY "pen.c: pen_accepts: figure 'x' has an entry "

static const float one_two[2] = {1, 2}, with_nan[2] = {1, NAN};

/* The last entry is wrong; or of bits the first. */
static void refuse_entries(void)
{
    const float wrong[2][3] = {{1, 2, 3}, {4, 5, NAN}};
    const float minus[2][3] = {{1, 2, 3}, {4, 5, -INFINITY}};
    const float part[2][3] = {{1, 2, 3}, {4, 5, -0.5f}};
    const float bit[2][2][2] = {{{1, 0}}, {{0, 0}, {0, 0.5f}}};
    const float first_bit[3][1][2] = {{{0.5f, 0}}, {{0, 1}}, {{0, 1}}};
    const float map[2][2][2] = {{{1, 1}}, {{1, 1}, {1, INFINITY}}};
    const int ids[3] = {0, 2, 1};
    REFUSED(ENTRY "inf: only finite numbers, -inf and nan can be drawn",
            figure_heatmap("x", "", 2, names, 2, names, map[1]));
    REFUSED(ENTRY "-inf: only finite numbers can be drawn",
            figure_bars("x", "", 2, names, 3, names, minus));
    REFUSED(NULL, figure_maps("x", "", 2, names, 2, names, 2, names, map));
    REFUSED(NULL, figure_word_maps("x", "", 2, names, 2, 2,
                                   (const void *)letters, map));
    REFUSED(ENTRY "0.5: only 0 and 1 can be drawn",
            figure_grid("x", "", 2, names, 2, 2, bit));
    REFUSED(NULL, figure_grid("x", "", 2, names, 1, 2, first_bit));
    const FigureLayout layout = {
        "a", 1, 2, NULL, NULL, letters, (int[]){-1, -2}};
    REFUSED("figure_cells.c: figure_layout: figure 'x' has the colour -2: "
            "-1 for pale, or one from 0 on, can be drawn",
            figure_layout("x", "", 1, &layout));
    REFUSED(
        "figure_cells.c: check_lanes: figure 'x' has 27 queries: from 1 "
        "to 26 have a letter",
        figure_lanes("x", "", 27, 1, 1, 1, (float[]){0}));
    REFUSED(NULL, figure_lanes("x", "", 0, 1, 1, 1, (float[]){0}));
    REFUSED(
        "figure_cells.c: check_lanes: figure 'x' has 1 lines of 1 lanes "
        "for 2 entries: 1 of each, and a multiple of the entries as "
        "lines, are needed",
        figure_lanes("x", "", 1, 2, 1, 1, (float[]){1}));
    REFUSED(NULL, figure_lanes("x", "", 1, 2, 1, 3, (float[3]){1}));
    REFUSED(NULL, figure_lanes("x", "", 1, 0, 1, 1, (float[]){0}));
    REFUSED(NULL, figure_lanes("x", "", 1, 1, 0, 1, (float[]){0}));
    REFUSED(
        "figure_cells.c: check_lanes: figure 'x' has 3 in a lane: 0, or "
        "an entry from 1 to 2, can be drawn",
        figure_lanes("x", "", 1, 2, 1, 2, (float[]){1, 3}));
    REFUSED(NULL, figure_lanes("x", "", 1, 2, 1, 2, (float[]){1, 1.5f}));
    REFUSED(NULL, figure_lanes("x", "", 1, 2, 1, 2, (float[]){-1, 0}));
    REFUSED(NULL, figure_lanes("x", "", 1, 1, 2, 3,
                               (float[]){1, 0, 0, 0, 0, NAN}));
    REFUSED(NULL, figure_histograms("x", "", 2, names, 3, wrong));
    REFUSED(NULL, figure_arrows("x", "", 3, names, (const void *)minus));
    REFUSED(NULL, figure_lookup("x", "", 3, names, ids, 3, 2,
                                (const void *)wrong));
    REFUSED(ENTRY
            "-0.5: only finite numbers from 0 on and nan can be drawn",
            figure_curves("x", "", names, 3, names, part));
    REFUSED(ENTRY "-0.5: only finite numbers from 0 on can be drawn",
            figure_stacks("x", "", 2, names, 3, part));
}

static void follow(int i, const float *const x[7])
{
    figure_follow("x", "", 2, names, i, 1, 1, 1, x[0], x[1], ROWS(1, x[2]),
                  ROWS(1, x[3]), x[4], x[5], x[6]);
}

static void refuse_to_follow(void)
{
    const float nan_first[2] = {NAN, 1};
    const float *x[7];
    for (int k = 0; k < 7; k++)
        x[k] = one_two;
    REFUSED("figure_follow.c: figure_follow: figure 'x' follows word 2: 0 "
            "to 1 can be drawn",
            follow(2, x));
    REFUSED(NULL, follow(-1, x));
    for (int k = 0; k < 7; k++) {
        x[k] = nan_first;
        REFUSED(ENTRY "nan: only finite numbers can be drawn",
                follow(0, x));
        x[k] = one_two;
    }
    x[2] = with_nan; /* the second key */
    REFUSED(NULL, follow(0, x));
}

static void refuse_others(void)
{
    const float still[2][2] = {{1, 1}}, x[3][2] = {{0}};
    const int row[3][2] = {{3}, {-1}, {1, 1}};
    const FigureBlock none[1] = {{"X", 2, 2, 0, NULL}};
    const FigureBlock odd[1] = {{"X", 2, 8, 3, NULL}};
    REFUSED("figure_lines.c: figure_arrows: figure 'x' has an arrow of "
            "length 0: each needs a direction",
            figure_arrows("x", "", 2, names, still));
    REFUSED("figure_boxes.c: figure_lookup: figure 'x' looks up row 3: "
            "each once, rows 0 to 2 can be drawn",
            figure_lookup("x", "", 1, names, row[0], 3, 2, x));
    REFUSED(NULL, figure_lookup("x", "", 1, names, row[1], 3, 2, x));
    REFUSED(NULL, figure_lookup("x", "", 2, names, row[2], 3, 2, x));
    REFUSED("figure_boxes.c: check_stages: stages 'scores wieghts': each "
            "once, one or more of words vectors roles scores scale mask "
            "weights dropout context heads are needed",
            figure_pipeline("x", "scores wieghts"));
    REFUSED(NULL, figure_pipeline("x", "mask mask"));
    REFUSED(NULL, figure_pipeline("x", ""));
    REFUSED("figure_boxes.c: figure_blocks: figure 'x' has a block 'X' "
            "with 8 columns in 3 parts: parts of equal width are needed",
            figure_blocks("x", "", 1, odd));
    REFUSED(NULL, figure_blocks("x", "", 1, none));
}

static void refuse_to_plot(void)
{
    static const char *const nine[9] = {"a", "a", "a", "a", "a",
                                        "a", "a", "a", "a"};
    const float zero[2] = {1, 0};
    float y[9][2];
#define PLOT(lines, x) figure_log_log("x", "", "", "", lines, nine, 2, x, y)
    for (int k = 0; k < 18; k++)
        y[k / 2][k % 2] = 2;
    REFUSED("figure_log.c: figure_log_log: figure 'x' has 0 lines: 1 to 8 "
            "can be drawn",
            PLOT(0, one_two));
    REFUSED(NULL, PLOT(9, one_two));
    REFUSED(ENTRY "0: only finite numbers above 0 can be drawn",
            PLOT(1, zero));
    y[0][1] = 0;
    REFUSED(ENTRY "0: only finite numbers above 0 and nan can be drawn",
            PLOT(1, one_two));
    y[0][0] = y[0][1] = NAN;
    REFUSED("figure_log.c: figure_log_log: figure 'x' has a line 'a' "
            "without points: each needs at least 1",
            PLOT(1, one_two));
}

static void refusals(void)
{
    refuse_entries();
    refuse_to_follow();
    refuse_others();
    refuse_to_plot();
}

/* Where FIGURES is empty, or not there, nothing is drawn. */
static void test_nothing(void)
{
    for (int is_there = 1; is_there >= 0; is_there--) {
        setenv("FIGURES", "", 1);
        if (!is_there)
            unsetenv("FIGURES");
        DRAW(figure_pipeline("x", "scores"));
        expect_true("no picture", !*text);
        refusals();
    }
}

/* In the child that draws this, a file cannot be longer than 64 bytes. */
static void limited(void)
{
    signal(SIGXFSZ, SIG_IGN); /* as run_program does */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    figure_bits("x", "", 0);
}

static const char *cannot(const char *path, int reason)
{
    static char line[2000];
    snprintf(line, sizeof line,
             "pen.c: check_written: figure %.599s cannot be written: %s",
             path, strerror(reason));
    return line;
}

/* Of a picture that cannot be written, nothing stays. */
static void refuses_to_write(void)
{
    static char path[100], longest[1001];
    memset(longest, '/', sizeof longest - 1);
    setenv("FIGURES", longest, 1);
    REFUSES(cannot(longest, ENAMETOOLONG), figure_pipeline("x", "scores"));
    setenv("FIGURES", "/no/such/folder", 1);
    REFUSES(cannot("/no/such/folder/x.svg", ENOENT),
            figure_pipeline("x", "scores"));
    setenv("FIGURES", folder, 1);
    snprintf(path, sizeof path, "%s/x.svg", folder);
    for (int is_long = 0; is_long < 2; is_long++) {
        if (access("/dev/full", W_OK) || symlink("/dev/full", path))
            tap_skip("FIGURES: a full disk", "no /dev/full");
        else
            REFUSES(cannot(path, is_long ? EMSGSIZE : ENOSPC),
                    figure_bits("x", is_long ? longest : "", 0));
    }
    REFUSES(cannot(path, EFBIG), limited());
}

int main(void)
{
    begin_drawing();
    TAP("FIGURES: nothing is drawn or refused without it", test_nothing());
    is_drawn = true;
    refusals();
    refuses_to_write();
    end_drawing();
    return tap_done();
}
