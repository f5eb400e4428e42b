/* The program of the long run: the logs in src/data, of which the pages of
 * chapters 23 and 24 tell, are what it and its texts make. */
#include "gpts.h"
#define main train_main
#include "../tools/measure/train.c"
#undef main
#include "attention/20_optimizers.h"

/* The first step of a run whose log is kept, on the texts that it read. */
static void first_step_test(const char *path, const char *const text[2])
{
    Trained due = trained_read(path);
    Run run;
    float row[5];
    run_init(&run, &due.run, (char **)(uintptr_t)text);
    const int rows = run.t.texts * run.t.model.context_length;
    int ids[rows], targets[rows];
    gpt_run_batch(&run.t, ids, targets);
    gpt_training_step(&run.t, ids, targets);
    record_row(&run);
    fflush(run.rows);
    expect_equal("numbers of a row",
                 sscanf(run.text, "%f\t%f\t%f\t%f\t%f\t", row, row + 1,
                        row + 2, row + 3, row + 4),
                 5);
    expect_equal("parameters", run.t.model.count,
                 gpt_count_parameters(&run.t.model));
    expect_equal("step", row[0], 1);
    expect_near("loss", row[1], due.row->loss, 1e-5, 0);
    expect_near("on the text held out", row[2], due.row->held_out, 1e-5, 0);
    expect_near("the token before", row[3], due.row->before, 1e-4, 0);
    expect_near("what followed", row[4], due.row->after, 1e-4, 0);
    expect_true("the first model is kept",
                !memcmp(run.best.memory, run.t.model.memory,
                        run.best.count * sizeof(float)));
    run_free(&run);
    trained_free(&due);
}

static void rate_test(void)
{
    static char letters[100] = "abc";
    const PlainText text = {sizeof letters, letters};
    const double rate[3] = {4e-3 / 3, 8e-3 / 3, 4e-3};
    GptTraining t = {.model = small_sizes, .steps = 20, .texts = 2};
    int ids[2][2 * 16];
    t.model.context_length = 16;
    t.model.layers = 1;
    memset(letters, 'a', sizeof letters);
    gpt_run_init(&t, &t, &text);
    expect_true("Adam and the text",
                t.adam.beta_1 == 0.9 && t.adam.beta_2 == 0.99 &&
                    t.adam.decay == 0.1 && t.bytes == text.length);
    float loss = 0;
    for (int i = 0; i < 20; i++) {
        gpt_run_batch(&t, ids[0], ids[1]);
        loss = gpt_training_step(&t, ids[0], ids[1]);
        if (i < 3)
            expect_near("the rate", t.adam.learning_rate, rate[i], 1e-6, 0);
    }
    expect_true("the rate falls", t.adam.learning_rate < 3e-4 &&
                                      t.adam.learning_rate >= 1e-4);
    expect_true("it learns", loss < 4.7f);
    gpt_training_free(&t);
}

static void machine_test(void)
{
    char name[200], cut[2];
    processor_name(sizeof name, name);
    processor_name(sizeof cut, cut);
    expect_true("has a name", strlen(name) > 1 && !strchr(name, '\n'));
    expect_true("cut where there is no room", cut[0] == name[0] && !cut[1]);
}

/* The plays are there after `make shakespeare` and a run alone. */
int main(void)
{
    static const char *const log[5] = {
        "src/data/trained-dropout.tsv", "src/data/trained-book.tsv",
        "src/data/trained.tsv", "src/data/trained-repeats.tsv",
        "src/data/trained-short.tsv"};
    static const char *const text[2][2] = {
        {"src/data/prose.txt", "src/data/held_out.txt"},
        {"build/gpt.read.txt", "build/gpt.held-out.txt"}};
#ifdef __SANITIZE_ADDRESS__ /* a minute each; dropout's has the other's code */
    const int logs = 1;
#else
    const int logs = 5;
#endif
    for (int i = 0; i < logs && !getenv("TAP_SMALL"); i++)
        if (i < 2 || !access(text[1][0], R_OK))
            TAP(tap_words("record_row: the first step of %s", log[i]),
                first_step_test(log[i], text[i > 1]));
    TAP("gpt_run_init: a rate that rises and falls", rate_test());
    TAP("processor_name: one line", machine_test());
    return tap_done();
}
