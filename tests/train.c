/* The program of the long run: the logs in src/data, of which the pages of
 * chapters 23 and 24 tell, are what it and its prose make. */
#include "tap.h"
#define main train_main
#include "../tools/measure/train.c"
#undef main

static const GptTraining small_run = {.steps = 20,
                                      .texts = 2,
                                      .model = {.vocabulary = 128,
                                                .context_length = 16,
                                                .width = 8,
                                                .n_heads = 2,
                                                .layers = 1}};

/* A run as it is, with the prose as it is, for one step. */
static void first_step(const char *log)
{
    GptTraining t;
    Trained run = trained_read(log);
    double scores[2] = {0};
    gpt_training_init_prose(&t, &run.run);
    expect_equal("parameters", (double)t.model.count,
                 (double)gpt_count_parameters(&t.model));
    run_step(&t);
    expect_near("the loss after its first step", gpt_run_loss(&t, prose()),
                run.row->loss, 1e-5, 0);
    expect_near("on the text held out", gpt_run_loss(&t, held_out()),
                run.row->held_out, 1e-5, 0);
    largest_scores(&t.model, scores);
    expect_near("the token before", scores[HEAD_BEFORE], run.row->before,
                1e-4, 0);
    expect_near("what followed", scores[HEAD_AFTER], run.row->after, 1e-4,
                0);
    gpt_training_free(&t);
    trained_free(&run);
}

static void first_step_test(void)
{
    first_step("src/data/trained.tsv");
}

static void first_dropout_test(void)
{
    first_step("src/data/trained-dropout.tsv");
}

static void first_repeats_test(void)
{
    first_step("src/data/trained-repeats.tsv");
}

static void step_test(void)
{
    const double rate[3] = {4e-3 / 3, 8e-3 / 3, 4e-3};
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    expect_true("on the prose",
                t.text == prose()->bytes && t.bytes == prose()->length);
    float loss = 0;
    for (int i = 0; i < 20; i++) {
        loss = run_step(&t);
        if (i < 3)
            expect_near("the rate", t.adam.learning_rate, rate[i], 1e-6, 0);
        expect_equal("steps done", t.step, i + 1);
    }
    expect_true("the rate falls", t.adam.learning_rate < 5e-4 &&
                                      t.adam.learning_rate >= 4e-4);
    expect_true("it learns", loss < 4.7f);
    gpt_training_free(&t);
}

/* In place of the C library's: a second has gone by each time on the clock
 * that never goes back; any other is set back by an hour each time. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int looks;
    looks++;
    time->tv_sec = clock == CLOCK_MONOTONIC ? looks : -3600 * looks;
    time->tv_nsec = 0;
    return 0;
}

int timespec_get(struct timespec *time, int base)
{
    clock_gettime(CLOCK_REALTIME, time);
    return base;
}

/* What was saved is the model that had the least loss on text held out. */
static void best_test(const GptTraining *t, const char *path)
{
    float least = INFINITY;
    Gpt g;
    GptPass p;
    for (int i = 0; i < row_count(t); i++)
        least = fminf(least, (float)row_of(t, i)[HELD_OUT]);
    gpt_load(&g, path);
    gpt_pass_init(&p, &g, 1, g.context_length);
    expect_equal("the least loss held out",
                 gpt_loss(&g, held_out()->bytes, held_out()->length, &p,
                          t->shares[0]),
                 least);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* The scores of the heads are those of this model. */
static void best_heads_test(const Gpt *g, const Trained *t)
{
    const int n = head_text_length(g);
    int ids[HEAD_TEXTS][n];
    float score[TRAINED_HEADS][HEAD_SCORES], loss[2];
    draw_head_texts(g, n, ids);
    head_weights(g, HEAD_TEXTS, n, ids, score, loss);
    for (int k = 0; k < 2; k++)
        expect_equal("a loss", t->loss[k], loss[k]);
    for (int i = 0; i < TRAINED_HEADS; i++) {
        for (int k = 0; k < 2; k++)
            expect_equal("a score", t->heads[i][k], score[i][k]);
        expect_equal("one back", t->back[i][0], score[i][HEAD_BEFORE]);
        expect_true("two back", t->back[i][1] > 0 && t->back[i][4] > 0);
    }
}

/* Of two that are equal, the first is the best. */
static void row_test(void)
{
    const double losses[5] = {3, 2, 2.5, 2, 1};
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    gpt_training_add_notes(&t, FIRST_ROW);
    for (int i = 0; i < 5; i++) {
        gpt_training_add_notes(&t, row_length(&t))[HELD_OUT] = losses[i];
        expect_equal("the best row", best_row(&t),
                     (int[]){0, 1, 1, 1, 4}[i]);
    }
    gpt_training_free(&t);
}

/* A run that has as many rows as the long run, without its steps, and whose
 * best model is a small one: all that is written down comes back with the
 * same bits. */
static void round_trip_test(void)
{
    GptTraining t;
    Gpt best;
    char folder[] = "/tmp/trained-XXXXXX", model[50], log[50];
    if (!mkdtemp(folder))
        REFUSE("%s: no folder can be made", folder);
    snprintf(model, sizeof model, "%s/m", folder);
    snprintf(log, sizeof log, "%s/l", folder);
    gpt_training_init_prose(&t, &gpt_long_run);
    gpt_training_add_notes(&t, FIRST_ROW)[SECONDS] = 7;
    t.notes[STEP_SECONDS] = t.step = 5;
    t.dropout = 0.15;
    for (int i = 0; i < TRAINED_ROWS; i++) {
        double *row = gpt_training_add_notes(&t, row_length(&t));
        float x[SAMPLE];
        tap_fill(SAMPLE, x, 0, 1);
        for (int k = 0; k < SAMPLE; k++)
            row[k] = (double)x[k];
        for (int k = SAMPLE; k < row_length(&t); k++)
            row[k] = tap_int(' ', '~');
    }
    Gpt small = {.vocabulary = 128, .context_length = 16, .width = 5};
    small.n_heads = gpt_long_run.model.n_heads;
    small.layers = gpt_long_run.model.layers;
    Random r = random_seeded(1);
    gpt_init(&best, &small);
    gpt_fill(&r, &best);
    gpt_save(&best, model);
    write_log(&t, model, log);
    Trained back = trained_read(log);
    expect_equal("steps", back.run.steps, t.steps);
    expect_equal("dropout", back.run.dropout, 0.15);
    expect_equal("seconds", back.seconds, 7);
    expect_equal("tokens a second", back.tokens_per_second, 16 * 128);
    expect_equal("the best row", back.best, best_row(&t));
    for (int i = 0; i < TRAINED_ROWS; i++) {
        const TrainedRow *row = &back.row[i];
        const float x[SAMPLE] = {row->step, row->loss, row->held_out,
                                 row->before, row->after};
        for (int k = 0; k < SAMPLE; k++)
            expect_equal("a number", (double)x[k], row_of(&t, i)[k]);
        for (int k = 0; k < t.model.context_length; k++)
            if (row->sample[k] != row_of(&t, i)[SAMPLE + k])
                expect_true("a byte of a sample", 0);
    }
    expect_true("losses", back.loss[0] > 4 && back.loss[1] > 4);
    best_heads_test(&best, &back);
    gpt_free(&best);
    trained_free(&back);
    gpt_training_free(&t);
    if (remove(model) || remove(log) || rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
}

static void seconds_test(void)
{
    char folder[] = "/tmp/trained-XXXXXX", path[3][50];
    if (!mkdtemp(folder))
        REFUSE("%s: no folder can be made", folder);
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%c", folder, "tml"[i]);
    run(&small_run, (char *[]){path[0], path[1], path[2]});
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    gpt_training_load(&t, path[0]);
    best_test(&t, path[1]);
    expect_true("seconds of the steps", t.notes[1] > 0);
    expect_true("seconds in all", t.notes[0] > t.notes[1]);
    expect_equal("step", t.step, small_run.steps);
    gpt_training_free(&t);
    if (remove(path[0]) || remove(path[1]) || remove(path[2]) ||
        rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
}

static void note_test(void)
{
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    const int begun = t.noted;
    gpt_training_add_notes(&t, 2)[0] = 7;
    gpt_training_add_notes(&t, 1)[0] = 9;
    expect_equal("notes", t.noted, begun + 3);
    for (int i = 0; i < 3; i++)
        expect_equal("note", t.notes[begun + i], (double[]){7, 0, 9}[i]);
    gpt_training_free(&t);
}

/* GPT-2's, without its memory. */
static void count_test(void)
{
    Gpt g = {.vocabulary = 50257,
             .context_length = 1024,
             .width = 768,
             .n_heads = 12,
             .layers = 12};
    expect_equal("parameters", (double)gpt_count_parameters(&g), 124439808);
    g.has_own_output = 1;
    expect_equal("an output apart", (double)gpt_count_parameters(&g),
                 124439808 + 50257.0 * 768);
    expect_true("nothing is made", !g.memory && !g.block);
}

static void machine_test(void)
{
    char name[200], cut[2];
    processor_name(sizeof name, name);
    processor_name(sizeof cut, cut);
    expect_true("has a name", strlen(name) > 1 && !strchr(name, '\n'));
    expect_true("cut where there is no room", cut[0] == name[0] && !cut[1]);
}

int main(void)
{
    TAP_LARGE("gpt_run_loss: after the first step, as in the log",
              first_step_test());
    TAP_LARGE("gpt_run_loss: and with dropout", first_dropout_test());
    TAP_LARGE("gpt_run_loss: and with texts that repeat themselves",
              first_repeats_test());
    TAP("gpt_training_init_prose: on the book's prose", step_test());
    TAP("train: a rate that rises and falls", step_test());
    TAP("train: which model is the best", row_test());
    TAP("trained_read: what train.c has written down comes back",
        round_trip_test());
    TAP("train: its seconds, where a clock is set back", seconds_test());
    TAP("gpt_training_add_notes: one behind the other", note_test());
    TAP("gpt_count_parameters: of GPT-2", count_test());
    TAP("processor_name: one line", machine_test());
    REFUSES("train.c: run: 0 steps; there must be at least 1",
            run(&(GptTraining){.steps = 0}, (char *[]){"t", "m", "log"}));
    for (int i = 0; i < 3; i++) {
        char *path[3] = {"a", "a", "a"};
        path[i] = "b";
        REFUSES("train.c: run: a: is given for two of the training, its "
                "model and its log; they must be three files",
                run(&small_run, path));
    }
    return tap_done();
}
