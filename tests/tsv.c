/* Tables in text files, whole and damaged. */
#include "damaged.h"
#include "support/tsv.h"

static void begin(const char *text)
{
    file_size = 0;
    add(text, strlen(text));
    write_file();
}

static void begin_whole(void)
{
    begin("# for people\nsteps\t40\nrate\t0.25\non\ta machine\n\n"
          "# two columns\nname\tx\nfirst\t-1e-3\n# a row between\n\tnan\n\n"
          "n\n7\n");
}

static const char *const two[2] = {"name", "x"}, *const one[1] = {"n"};

/* The file of begin_whole. */
static void read_whole(void)
{
    Tsv t = tsv_read(path);
    expect_equal("steps", tsv_value_integer(&t, "steps", 40, 40), 40);
    expect_equal("rate", tsv_value_number(&t, "rate"), 0.25);
    expect_true("on", !strcmp(tsv_value(&t, "on"), "a machine"));
    tsv_columns(&t, 2, two);
    tsv_row(&t, 2);
    expect_equal("the line", t.line, 8);
    expect_true("a name", !strcmp(t.field[0], "first"));
    expect_equal("x", tsv_number(&t, 1, "x"), -1e-3);
    expect_true("another row", tsv_has_row(&t));
    tsv_row(&t, 2);
    expect_equal("the line", t.line, 10);
    expect_true("no name", !*t.field[0]);
    expect_equal("x", tsv_number(&t, 1, "x"), (double)NAN);
    expect_true("no other row", !tsv_has_row(&t));
    tsv_columns(&t, 1, one);
    tsv_row(&t, 1);
    expect_equal("n", tsv_integer(&t, 0, "n", 0, 7), 7);
    expect_true("no other row", !tsv_has_row(&t));
    tsv_end_check(&t);
    tsv_free(&t);
    tsv_free(&t);
}

/* What can be read without its last newline can be read with one. */
static void read_endings(void)
{
    for (int k = 0; k < 2; k++) {
        begin(k ? "n\n1\n# the end" : "n\n1");
        Tsv t = tsv_read(path);
        expect_equal("newlines", t.lines, 1 + k);
        tsv_columns(&t, 1, one);
        tsv_row(&t, 1);
        expect_equal("n", tsv_integer(&t, 0, "n", 1, 1), 1);
        tsv_end_check(&t);
        tsv_free(&t);
    }
}

/* A value, and a table of two columns with a row. */
static void read_file(void)
{
    Tsv t = tsv_read(path);
    tsv_value_integer(&t, "steps", 1, 50);
    tsv_value_number(&t, "rate");
    tsv_columns(&t, 2, two);
    tsv_row(&t, 2);
    tsv_number(&t, 1, "x");
    tsv_end_check(&t);
    tsv_free(&t);
}

#define SIZES "steps\t40\nrate\t0.25\n"
static const struct {
    const char *text, *words;
} wrong[] = {
    {"", "tsv.c: tsv_value: file:1: here is the end of the file; it must "
         "be 'steps', a tab and a value"},
    {"# a\n\n\n", "tsv.c: tsv_value: file:3: here is a blank line; it must "
                  "be 'steps', a tab and a value"},
    {"step\t40\n", "tsv.c: tsv_value: file:1: here is 'step\\x0940'; it "
                   "must be 'steps', a tab and a value"},
    {"steps 40\n", "tsv.c: tsv_value: file:1: here is 'steps 40'; it must "
                   "be 'steps', a tab and a value"},
    {"stepss\t40\n", "tsv.c: tsv_value: file:1: here is 'stepss\\x0940'; "
                     "it must be 'steps', a tab and a value"},
    {"steps\t4\t0\n",
     "tsv.c: tsv_row: file:1: there are 3 fields; there must be 2"},
    {"steps\t51\n", "argument.c: parse_integer: file:1: steps is '51': a "
                    "whole number from 1 to 50 is needed"},
    {"steps\t40\nrate\t\n",
     "tsv.c: tsv_number: file:2: rate is ''; it must be a number"},
    {"steps\t40\nrate\t1,5\n",
     "tsv.c: tsv_number: file:2: rate is '1,5'; it must be a number"},
    {SIZES, "tsv.c: tsv_row: file:3: here is the end of the file; it must "
            "be a row of 2 fields"},
    {SIZES "\nname\ty\n",
     "tsv.c: tsv_columns: file:4: column 2 is 'y'; it must be 'x'"},
    {SIZES "\nnames\tx\n",
     "tsv.c: tsv_columns: file:4: column 1 is 'names'; it must be 'name'"},
    {SIZES "\nname\tx\t\n",
     "tsv.c: tsv_row: file:4: there are 3 fields; there must be 2"},
    {SIZES "\nname\tx\n\n", "tsv.c: tsv_row: file:5: here is a blank line; "
                            "it must be a row of 2 fields"},
    {SIZES "\nname\tx\na\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n",
     "tsv.c: tsv_row: file:5: there are 17 fields; there must be 2"},
    {SIZES "\nname\tx\n# b\na\t2 \n",
     "tsv.c: tsv_number: file:6: x is '2 '; it must be a number"},
    {SIZES "\nname\tx\na\t2\nb\t3\n",
     "tsv.c: tsv_end_check: file:6: here is 'b\\x093'; it must be the end "
     "of the file"},
    {SIZES "\nname\tx\na\t2\n\n", "tsv.c: tsv_end_check: file:6: here is a "
                                  "blank line; it must be the end of the "
                                  "file"},
};

static void refuse_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(wrong[i].text);
        REFUSES(wrong[i].words, read_file());
    }
    file_size = 0;
    add("steps\0", 6);
    write_file();
    REFUSES("tsv.c: tsv_read: file: has a byte 0; it must be a text",
            read_file());
    REFUSES("file.c: file_open: gone: cannot be read: No such file or "
            "directory",
            tsv_read("gone"));
}

static void begin_small(void)
{
    begin(SIZES "\nname\tx\na\t2\n");
}

int main(void)
{
    enter_folder();
    begin_whole();
    TAP("tsv_read: values and tables", read_whole());
    TAP("tsv_read: a last line without its end", read_endings());
    refuse_files();
    each_damage("tsv_read", begin_small, read_file);
    leave_folder();
    return tap_done();
}
