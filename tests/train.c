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
    tap_near("parameters", (double)t.model.count,
             (double)gpt_count_parameters(&t.model), 0, 0);
    run_step(&t);
    tap_near("the loss after its first step", gpt_run_loss(&t, prose()),
             run.row->loss, 1e-5, 0);
    tap_near("on the text held out", gpt_run_loss(&t, held_out()),
             run.row->held_out, 1e-5, 0);
    largest_scores(&t.model, scores);
    tap_near("the token before", scores[HEAD_BEFORE], run.row->before, 1e-4,
             0);
    tap_near("what followed", scores[HEAD_AFTER], run.row->after, 1e-4, 0);
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
    tap_true("on the prose",
             t.text == prose()->bytes && t.bytes == prose()->length);
    float loss = 0;
    for (int i = 0; i < 20; i++) {
        loss = run_step(&t);
        if (i < 3)
            tap_near("the rate", t.adam.learning_rate, rate[i], 1e-6, 0);
        tap_near("steps done", t.step, i + 1, 0, 0);
    }
    tap_true("the rate falls",
             t.adam.learning_rate < 5e-4 && t.adam.learning_rate >= 4e-4);
    tap_true("it learns", loss < 4.7f);
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
    tap_near("the least loss held out",
             gpt_loss(&g, held_out()->bytes, held_out()->length, &p,
                      t->shares[0]),
             least, 0, 0);
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
        tap_near("a loss", t->loss[k], loss[k], 0, 0);
    for (int i = 0; i < TRAINED_HEADS; i++) {
        for (int k = 0; k < 2; k++)
            tap_near("a score", t->heads[i][k], score[i][k], 0, 0);
        tap_near("one back", t->back[i][0], score[i][HEAD_BEFORE], 0, 0);
        tap_true("two back", t->back[i][1] > 0 && t->back[i][4] > 0);
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
        tap_near("the best row", best_row(&t), (int[]){0, 1, 1, 1, 4}[i], 0,
                 0);
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
    tap_near("steps", back.run.steps, t.steps, 0, 0);
    tap_near("dropout", back.run.dropout, 0.15, 0, 0);
    tap_near("seconds", back.seconds, 7, 0, 0);
    tap_near("tokens a second", back.tokens_per_second, 16 * 128, 0, 0);
    tap_near("the best row", back.best, best_row(&t), 0, 0);
    for (int i = 0; i < TRAINED_ROWS; i++) {
        const TrainedRow *row = &back.row[i];
        const float x[SAMPLE] = {row->step, row->loss, row->held_out,
                                 row->before, row->after};
        for (int k = 0; k < SAMPLE; k++)
            tap_near("a number", (double)x[k], row_of(&t, i)[k], 0, 0);
        for (int k = 0; k < t.model.context_length; k++)
            if (row->sample[k] != row_of(&t, i)[SAMPLE + k])
                tap_true("a byte of a sample", 0);
    }
    tap_true("losses", back.loss[0] > 4 && back.loss[1] > 4);
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
    tap_true("seconds of the steps", t.notes[1] > 0);
    tap_true("seconds in all", t.notes[0] > t.notes[1]);
    tap_near("step", t.step, small_run.steps, 0, 0);
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
    tap_near("notes", t.noted, begun + 3, 0, 0);
    for (int i = 0; i < 3; i++)
        tap_near("note", t.notes[begun + i], (double[]){7, 0, 9}[i], 0, 0);
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
    tap_near("parameters", (double)gpt_count_parameters(&g), 124439808, 0,
             0);
    g.has_own_output = 1;
    tap_near("an output apart", (double)gpt_count_parameters(&g),
             124439808 + 50257.0 * 768, 0, 0);
    tap_true("nothing is made", !g.memory && !g.block);
}

static void machine_test(void)
{
    char name[200], cut[2];
    processor_name(sizeof name, name);
    processor_name(sizeof cut, cut);
    tap_true("has a name", strlen(name) > 1 && !strchr(name, '\n'));
    tap_true("cut where there is no room", cut[0] == name[0] && !cut[1]);
}

int main(void)
{
    TAP_LARGE(first_step_test,
              "gpt_run_loss: after the first step, as in the log");
    TAP_LARGE(first_dropout_test, "gpt_run_loss: and with dropout");
    TAP_LARGE(first_repeats_test,
              "gpt_run_loss: and with texts that repeat themselves");
    TAP(step_test, "gpt_training_init_prose: on the book's prose");
    TAP(step_test, "train: a rate that rises and falls");
    TAP(row_test, "train: which model is the best");
    TAP(round_trip_test,
        "trained_read: what train.c has written down comes back");
    TAP(seconds_test, "train: its seconds, where a clock is set back");
    TAP(note_test, "gpt_training_add_notes: one behind the other");
    TAP(count_test, "gpt_count_parameters: of GPT-2");
    TAP(machine_test, "processor_name: one line");
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
