/* What `make bench` has measured. */
#include "damaged.h"
#include "attention/measured.h"

#include <sys/stat.h>

/* Every number of the file is found by its row and column. A row that
 * came twice would be found once. */
static void finds_test(void)
{
    FILE *from = fopen("src/data/measured.tsv", "r");
    char line[500], *column[9], *field[9], names[500];
    int rows = 0;
    while (from && fgets(line, sizeof line, from)) {
        const int is_header = !strncmp(line, "case\t", 5);
        char *at = is_header ? strcpy(names, line) : line;
        if (!is_header && (!rows || *line == '\n'))
            continue;
        at[strcspn(at, "\n")] = '\0';
        for (int k = 0; k < 9; k++) {
            (is_header ? column : field)[k] = at;
            at += strcspn(at, "\t");
            if (*at)
                *at++ = '\0';
        }
        rows++;
        for (int k = 3; k < 9 && !is_header; k++) {
            const float x = strtof(field[k], NULL),
                        y = measured(column[k], field[0], field[1],
                                     atoi(field[2]));
            expect_true(field[0], isnan(x) ? isnan(y) : x == y);
        }
    }
    expect_true("more than a hundred rows", rows > 100);
    fclose(from);
}

/* What the file says, and a measurement of it. */
static float measured_in(const char *text)
{
    FILE *to = fopen("src/data/measured.tsv", "wb");
    if (!to)
        REFUSE("%s: cannot be written", folder);
    fputs(text, to);
    fclose(to);
    return measured("MB", "it", "us", 0);
}

#define ABOUT "machine\tM\ndate\tD\nversions\tV\n\n"
#define COLUMNS                                                            \
    "case\tlibrary\tthreads\tms\tGFLOP/s\tGB/s\tMB\tfraction\terror\n"
#define WRONG(words) words "src/data/measured.tsv:"
static void small_test(void)
{
    expect_equal("the first with the most threads",
                 (double)measured_in(ABOUT COLUMNS
                                     "it\tus\t2\t1\t1\t1\t7\t1\t1\n"
                                     "it\tus\t1\t1\t1\t1\t8\t1\t1\n"
                                     "it\tus\t2\t1\t1\t1\t9\t1\t1\n"),
                 7);
    expect_true("the machine", !strcmp(measured_on(), "M"));
    expect_equal("another", (double)measured("ms", "it", "us", 2), 1);
}

static void refuse_files(void)
{
    REFUSES("file.c: file_open: src/data/measured.tsv: cannot be read: No "
            "such file or directory",
            measured_on());
    REFUSES(
        WRONG("tsv.c: tsv_value: ") "1: here is the end of the file; it "
                                    "must be 'machine', a tab and a value",
        measured_in(""));
    REFUSES(WRONG("tsv.c: tsv_row: ") "6: there are 8 fields; there must "
                                      "be 9",
            measured_in(ABOUT COLUMNS "it\tus\t1\t1\t1\t1\t1\t1\n"));
    REFUSES(WRONG("argument.c: parse_integer: ") "6: threads is '0': a "
                                                 "whole number from 1 to "
                                                 "2147483647 is needed",
            measured_in(ABOUT COLUMNS "it\tus\t0\t1\t1\t1\t1\t1\t1\n"));
    REFUSES(WRONG("tsv.c: tsv_number: ") "6: GB/s is '1.0f'; it must be a "
                                         "number",
            measured_in(ABOUT COLUMNS "it\tus\t1\t1\t1\t1.0f\t1\t1\t1\n"));
    REFUSES(WRONG("tsv.c: tsv_end_check: ") "6: here is a blank line; it "
                                            "must be the end of the file",
            measured_in(ABOUT COLUMNS "\n"));
}

int main(void)
{
    TAP("measured: every row", finds_test());
    TAP("measured: with 0, the most threads",
        expect_true("all", measured("GB/s", "read", "memory", 0) >
                               measured("GB/s", "read", "memory", 1)));
    REFUSES("measured.c: measured: 'ms' of 'peak' by 'nobody' on 1 "
            "threads: what `make bench` has measured is needed",
            measured("ms", "peak", "nobody", 1));
    REFUSES("measured.c: measured: 'MS' of 'peak' by 'any' on 1 threads: "
            "what `make bench` has measured is needed",
            measured("MS", "peak", "any", 1));
    TAP("measured_on: the machine",
        expect_true("a name", strlen(measured_on()) > 5));
    enter_folder();
    if (mkdir("src", 0700) || mkdir("src/data", 0700))
        REFUSE("%s: no folder can be made there", folder);
    refuse_files();
    TAP("measured: a small file", small_test());
    if (remove("src/data/measured.tsv") || rmdir("src/data") ||
        rmdir("src") || chdir("/") || rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
    return tap_done();
}
