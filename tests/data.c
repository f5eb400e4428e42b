/* What is read from text files: tables, the logs of the long runs, what was
 * measured, and the book's own words; whole and damaged. */
#include "damaged.h"
#include "attention.h"
#include "attention/long_run.h"
#include "support/file.h"
#include "support/tsv.h"

#include <sys/stat.h>

/* A file in which another text takes the place of one, and what is said of
 * it. */
typedef struct {
    const char *text, *other, *words;
} WrongText;

static void write_with(const char *whole, const char *text,
                       const char *other)
{
    const char *at = strstr(whole, text);
    if (!at)
        REFUSE("'%s' is not in the file", text);
    file_size = 0;
    add(whole, (size_t)(at - whole));
    add(other, strlen(other));
    add(at + strlen(text), strlen(at + strlen(text)));
    write_file();
}

static void refuse_each(const char *name, const char *whole, int n,
                        const WrongText wrong[n], void (*reads)(void))
{
    for (int i = 0; i < n; i++) {
        write_with(whole, wrong[i].text, wrong[i].other);
        TAP_REFUSES(name, wrong[i].words, wrong[i].words, reads());
    }
}
#define REFUSE_EACH(name, whole, wrong, reads)                             \
    refuse_each(name, whole, sizeof wrong / sizeof *wrong, wrong, reads)

/* ---- Tables */

static const char *const two[2] = {"name", "x"}, *const one[1] = {"n"};

/* The last line needs no newline. */
static void test_tables(void)
{
    write_text("# for people\nsteps\t40\nrate\t0.25\non\ta machine\n\n"
               "# two columns\nname\tx\nfirst\t-1e-3\n# a row between\n"
               "\tnan\n\nn\n7");
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
    expect_equal("x", tsv_number(&t, 1, "x"), NAN);
    expect_true("no other row", !tsv_has_row(&t));
    tsv_columns(&t, 1, one);
    tsv_row(&t, 1);
    expect_equal("n", tsv_integer(&t, 0, "n", 0, 7), 7);
    expect_true("no other row", !tsv_has_row(&t));
    tsv_end_check(&t);
    tsv_free(&t);
    tsv_free(&t);
}

/* A value, and a table of two columns with a row. */
static const char table[] = "steps\t40\nrate\t0.25\n\nname\tx\na\t2\n";
static void read_table(void)
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

#define VALUE(here) "file:" here "; it must be 'steps', a tab and a value"
static const WrongText no_table[] = {
    {table, "", VALUE("1: here is the end of the file")},
    {table, "# a\n\n\n", VALUE("3: here is a blank line")},
    {"steps\t", "stops\t", VALUE("1: here is 'stops\\x0940'")},
    {"steps\t", "steps ", VALUE("1: here is 'steps 40'")},
    {"40", "4\t0", "file:1: there are 3 fields; there must be 2"},
    {"40", "51",
     "file:1: steps is '51': a whole number from 1 to 50 is needed"},
    {"0.25", "", "file:2: rate is ''; it must be a number"},
    {"\nname\tx\na\t2\n", "",
     "file:3: here is the end of the file; it must be a row of 2 fields"},
    {"\nname", "\nnames", "file:4: column 1 is 'names'; it must be 'name'"},
    {"\tx", "\ty", "file:4: column 2 is 'y'; it must be 'x'"},
    {"a\t2", "",
     "file:5: here is a blank line; it must be a row of 2 fields"},
    {"a\t2", "a\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
     "file:5: there are 17 fields; there must be 2"},
    {"a\t2", "# b\na\t2 ", "file:6: x is '2 '; it must be a number"},
    {"a\t2", "a\t2\nb\t3",
     "file:6: here is 'b\\x093'; it must be the end of the file"},
    {"a\t2", "a\t2\n",
     "file:6: here is a blank line; it must be the end of the file"},
};

/* ---- What was measured. The pages hold the book's own files. */

static const char few[] =
    "machine\tM\ndate\tD\nversions\tV\n\n"
    "case\tlibrary\tthreads\tms\tGFLOP/s\tGB/s\tMB\tfraction\terror\n"
    "it\tus\t2\t1\t2\t3\t4\t5\t6\nit\tus\t1\t1\t1\t1\t8\t1\t1\n"
    "it\tus\t2\t9\t9\t9\t9\t9\t9\n";
static void test_few(void)
{
    static const char *const quantity[6] = {"ms", "GFLOP/s",  "GB/s",
                                            "MB", "fraction", "error"};
    write_text(few);
    expect_true("the machine", !strcmp(measured_on(), "M"));
    for (int k = 0; k < 6; k++)
        expect_equal("the first with the most threads",
                     measured(quantity[k], "it", "us", 0), k + 1);
    expect_equal("with one", measured("MB", "it", "us", 1), 8);
    write_with(few, "\t8\t", "\t7\t");
    expect_equal("what was read", measured("MB", "it", "us", 1), 8);
    measured_in(path);
    expect_equal("what is there now", measured("MB", "it", "us", 1), 7);
}

static void read_measured(void)
{
    measured("ms", "it", "us", 0);
}

static const WrongText not_measured[] = {
    {"us\t2", "us\t0",
     "file:6: threads is '0': a whole number from 1 to "
     "2147483647 is needed"},
};

/* ---- The logs of the long runs */

static const char *const logs[5] = {
    "src/data/trained.tsv", "src/data/trained-repeats.tsv",
    "src/data/trained-book.tsv", "src/data/trained-dropout.tsv",
    "src/data/trained-short.tsv"};

/* The first has the long run's sizes; all have rows for every fortieth of
 * their steps, and for the first one. (tests/gpt.t holds what the heads'
 * scores have to do with the rows.) */
static void test_logs(void)
{
    for (int log = 0; log < 5; log++) {
        Trained t = trained_read(logs[log]);
        GptTraining due = gpt_long_run;
        due.bytes = t.run.bytes;
        expect_equal("repeats", t.run.repeats, log == 1 ? 2 : 0);
        expect_equal("dropout", t.run.dropout, log == 3 ? 0.2 : 0);
        if (log == 0)
            expect_true("sizes", !memcmp(&t.run, &due, sizeof due));
        for (int i = 0; i < TRAINED_ROWS; i++) {
            const TrainedRow *row = &t.row[i];
            expect_equal("step", row->step, i ? i * t.run.steps / 40 : 1);
            expect_true("the best has the least loss",
                        row->held_out >= t.row[t.best].held_out);
        }
        trained_free(&t);
        trained_free(&t);
    }
}

static void read_log(void)
{
    Trained t = trained_read(path);
    trained_free(&t);
}

static const WrongText no_log[] = {
    {"repeats\t0", "repeats\t-1",
     "file:4: repeats is '-1': a whole number from 0 to 2147483647 is "
     "needed"},
    {"width\t160", "width\t0",
     "file:7: width is '0': a whole number from 1 to 2147483647 is needed"},
    {"\tThe lar", "\tThe la",
     "file:22: the sample has 127 bytes; it must have 128"},
    {"held_out\t15.8", "held_out\tx",
     "file:64: mean is 'x'; it must be a number"},
    {"\n1\t3\t", "\n1\t4\t",
     "file:79: head is '4': a whole number from 3 to 3 is needed"},
};

/* ---- The book's own words */

/* Both texts, with so many bytes, of which the first and last are these. */
static const PlainText *texts_of(int prose_bytes, int held_out_bytes,
                                 int first, int last)
{
    for (int k = 0; k < 2; k++) {
        FILE *to =
            fopen(k ? "src/data/held_out.txt" : "src/data/prose.txt", "wb");
        if (!to)
            REFUSE("%s: cannot be written", folder);
        fprintf(to, "%c%*s%c", first,
                (k ? held_out_bytes : prose_bytes) - 2, "\n", last);
        fclose(to);
    }
    return prose();
}

int main(void)
{
    size_t size;
    char *const log = file_text(*logs, &size);
    REFUSES("'ms' of 'peak' by 'nobody' on 1 threads: what `make bench` "
            "has measured is needed",
            measured("ms", "peak", "nobody", 1));
    REFUSES(NULL, measured("MS", "peak", "any", 1));
    TAP("trained_read: the logs of the long runs", test_logs());
    TAP("plain_text: the same file",
        const PlainText again = plain_text("src/data/prose.txt", 1);
        expect_equal("bytes", again.length, prose()->length);
        free(again.bytes));
    TAP("prose: two texts",
        expect_true("a tenth is held out",
                    prose()->length > 5 * held_out()->length);
        expect_true("another text",
                    !strstr(prose()->bytes, held_out()->bytes)));
    enter_folder();
    REFUSES("gone: cannot be read: No such file or directory",
            tsv_read("gone"));
    REFUSES(".: cannot be read: Is a directory", tsv_read("."));
    TAP("tsv_read: values and tables", test_tables());
    REFUSE_EACH("tsv_read", table, no_table, read_table);
    file_size = 0;
    add("steps\0", 6);
    write_file();
    REFUSES("file: has a byte 0; it must be a text", read_table());
    DAMAGES("tsv_read", write_text(table), read_table);
    REFUSE_EACH("trained_read", log, no_log, read_log);
    write_with(log, "", "");
    add("\n", 1);
    write_file();
    REFUSES("file:86: here is a blank line; it must be the end of the file",
            read_log());
    if (mkdir("src", 0700) || mkdir("src/data", 0700))
        REFUSE("%s: no folder can be made there", folder);
    measured_in(path);
    TAP("measured: a small file", test_few());
    REFUSE_EACH("measured", few, not_measured, read_measured);
    REFUSES("src/data/held_out.txt: has 19999 bytes; it must have from "
            "20000 to 2147483647",
            texts_of(30000, 19999, ' ', ' '));
    REFUSES("src/data/prose.txt: has 30000 bytes; it must have from 30001 "
            "to 2147483647",
            texts_of(30000, 30001, ' ', ' '));
    REFUSES("src/data/held_out.txt:2: here is the byte 0x80; the text must "
            "be ASCII",
            texts_of(30000, 20000, ' ', 0x80));
    REFUSES(NULL, texts_of(30000, 20000, 0, ' '));
    TAP("prose: as long as what is held out, with all of ASCII",
        expect_equal("bytes", texts_of(20000, 20000, 1, 0x7f)->length,
                     20000));
    if (remove("src/data/prose.txt") || remove("src/data/held_out.txt") ||
        rmdir("src/data") || rmdir("src"))
        REFUSE("%s: cannot be emptied", folder);
    leave_folder();
    free(log);
    return tap_done();
}
