/* The logs of the long runs, whole and damaged. */
#include "damaged.h"
#include "attention.h"
#include "support/file.h"

enum { PLAIN, DROPOUT, REPEATS };
static const char *const logs[3] = {"src/data/trained.tsv",
                                    "src/data/trained-dropout.tsv",
                                    "src/data/trained-repeats.tsv"};

/* A log's rows are every fortieth step's, and the first one's. */
static void rows_test(const Trained *t)
{
    const int every = t->run.steps / 40;
    for (int i = 0; i < TRAINED_ROWS; i++) {
        const TrainedRow *row = &t->row[i];
        expect_equal("step", row->step, i ? i * every : 1);
        expect_equal("bytes of a sample", (double)strlen(row->sample),
                     t->run.model.context_length);
        expect_true("the best has the least loss",
                    row->held_out >= t->row[t->best].held_out);
    }
}

/* The largest scores of the table are those of its row. */
static void best_row_test(const Trained *t)
{
    float before = 0, after = 0;
    for (int i = 0; i < TRAINED_HEADS; i++) {
        before = fmaxf(before, t->heads[i][HEAD_BEFORE]);
        after = fmaxf(after, t->heads[i][HEAD_AFTER]);
    }
    expect_near("before", before, t->row[t->best].before, 1e-5, 0);
    expect_near("after", after, t->row[t->best].after, 1e-5, 0);
    for (int i = 0; i < TRAINED_HEADS; i++)
        expect_equal("one back", t->back[i][0], t->heads[i][HEAD_BEFORE]);
}

static void log_test(void)
{
    Trained t = trained_read(logs[PLAIN]);
    expect_true("the sizes are the program's",
                !memcmp(&t.run, &gpt_long_run, sizeof gpt_long_run));
    rows_test(&t);
    best_row_test(&t);
    for (int i = 1; i < TRAINED_ROWS; i++)
        expect_true("the loss falls", t.row[i].loss < t.row[i - 1].loss);
    trained_free(&t);
    trained_free(&t);
}

/* The long run's sizes, but for these. */
static void sizes_test(const GptTraining *run, int steps, int repeats,
                       double dropout)
{
    const Gpt *g = &run->model, *due = &gpt_long_run.model;
    expect_equal("steps", run->steps, steps);
    expect_equal("texts", run->texts, gpt_long_run.texts);
    expect_equal("repeats", run->repeats, repeats);
    expect_equal("dropout", run->dropout, dropout);
    expect_equal("vocabulary", g->vocabulary, due->vocabulary);
    expect_equal("context", g->context_length, due->context_length);
    expect_equal("width", g->width, due->width);
    expect_equal("heads", g->n_heads, due->n_heads);
    expect_equal("blocks", g->layers, due->layers);
}

static void dropout_test(void)
{
    Trained t = trained_read(logs[DROPOUT]);
    sizes_test(&t.run, gpt_long_run.steps, 0, 0.2);
    rows_test(&t);
    best_row_test(&t);
    trained_free(&t);
}

static void repeats_test(void)
{
    Trained t = trained_read(logs[REPEATS]),
            plain = trained_read(logs[PLAIN]);
    sizes_test(&t.run, 1600, 1, 0);
    for (int i = 0; i <= 8; i++) /* which chapter 24 shows side by side */
        expect_equal("the same step", t.row[5 * i].step,
                     plain.row[2 * i].step);
    rows_test(&t);
    best_row_test(&t);
    trained_free(&t);
    trained_free(&plain);
}

static char *whole_log;

/* The log of the long run, in which another text takes the place of one. */
static void begin_log(const char *text, const char *other)
{
    char *at = strstr(whole_log, text);
    if (!at)
        REFUSE("'%s' is not in the log", text);
    file_size = 0;
    add(whole_log, (size_t)(at - whole_log));
    add(other, strlen(other));
    add(at + strlen(text), strlen(at + strlen(text)));
    write_file();
}

static void begin_whole_log(void)
{
    begin_log("", "");
}

static const struct {
    const char *text, *other, *words;
} wrong[] = {
    {"texts\t", "text\t",
     "tsv.c: tsv_value: file:3: here is 'text\\x0916'; "
     "it must be 'texts', a tab and a value"},
    {"repeats\t0", "repeats\t2",
     "argument.c: parse_integer: file:4: repeats is '2': a whole number "
     "from 0 to 1 is needed"},
    {"width\t160", "width\t159",
     "argument.c: parse_integer: file:8: width is '159': a whole number "
     "from 160 to 160 is needed"},
    {"\theld_out\t", "\tbefore\t",
     "tsv.c: tsv_columns: file:16: column 3 is "
     "'before'; it must be 'held_out'"},
    {"\nstep\t", "\n\nstep\t",
     "tsv.c: tsv_row: file:16: here is a blank line; "
     "it must be a row of 6 fields"},
    {"\n4000\t", "\n\n4000\t",
     "tsv.c: tsv_row: file:57: here is a blank "
     "line; it must be a row of 6 fields"},
    {"\tThe s", "\tThe ",
     "trained.c: read_rows: file:19: the sample has "
     "127 bytes; it must have 128"},
    {"\n1\t3\t", "\n1\t4\t",
     "argument.c: parse_integer: file:71: head is "
     "'4': a whole number from 3 to 3 is needed"},
    {"\n2\t4\t", "\n2\t4",
     "tsv.c: tsv_row: file:77: there are 10 fields; "
     "there must be 11"},
};

static void refuse_logs(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin_log(wrong[i].text, wrong[i].other);
        REFUSES(wrong[i].words, trained_read(path));
    }
    begin_whole_log();
    add("\n", 1);
    write_file();
    REFUSES("tsv.c: tsv_end_check: file:78: here is a blank line; it must "
            "be the end of the file",
            trained_read(path));
    REFUSES("file.c: file_open: gone: cannot be read: No such file or "
            "directory",
            trained_read("gone"));
}

int main(void)
{
    TAP("trained_read: the log of the long run", log_test());
    TAP("trained_free: twice", log_test());
    TAP("trained_read: and of the same with dropout", dropout_test());
    TAP("trained_read: and of texts that repeat themselves",
        repeats_test());
    size_t size;
    whole_log = file_text(logs[PLAIN], &size);
    enter_folder();
    begin_whole_log();
    refuse_logs();
    leave_folder();
    free(whole_log);
    return tap_done();
}
