/* The long run: what it has written down in src/trained.h, of which the
 * page of chapter 23 tells, is what the program and its prose make. */
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

/* A log's rows are every fortieth step's, and the first one's. */
static void rows_test(const Trained *t)
{
    const int every = t->run.steps / 40;
    for (int i = 0; i < TRAINED_ROWS; i++) {
        const TrainedRow *row = &t->row[i];
        tap_near("step", row->step, i ? i * every : 1, 0, 0);
        tap_near("bytes of a sample", (double)strlen(row->sample),
                 t->run.model.context_length, 0, 0);
        tap_true("the best has the least loss",
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
    tap_near("before", before, t->row[t->best].before, 1e-5, 0);
    tap_near("after", after, t->row[t->best].after, 1e-5, 0);
    for (int i = 0; i < TRAINED_HEADS; i++)
        tap_near("one back", t->back[i][0], t->heads[i][HEAD_BEFORE], 0, 0);
}

static void log_test(void)
{
    tap_true("the sizes are the program's",
             !memcmp(&trained.run, &gpt_long_run, sizeof gpt_long_run));
    rows_test(&trained);
    best_row_test(&trained);
    for (int i = 1; i < TRAINED_ROWS; i++)
        tap_true("the loss falls",
                 trained.row[i].loss < trained.row[i - 1].loss);
}

/* The long run's sizes, but for these. */
static void sizes_test(const GptTraining *run, int steps, int repeats,
                       double dropout)
{
    const Gpt *g = &run->model, *due = &gpt_long_run.model;
    tap_near("steps", run->steps, steps, 0, 0);
    tap_near("texts", run->texts, gpt_long_run.texts, 0, 0);
    tap_near("repeats", run->repeats, repeats, 0, 0);
    tap_near("dropout", run->dropout, dropout, 0, 0);
    tap_near("vocabulary", g->vocabulary, due->vocabulary, 0, 0);
    tap_near("context", g->context_length, due->context_length, 0, 0);
    tap_near("width", g->width, due->width, 0, 0);
    tap_near("heads", g->n_heads, due->n_heads, 0, 0);
    tap_near("blocks", g->layers, due->layers, 0, 0);
}

static void dropout_test(void)
{
    sizes_test(&trained_dropout.run, gpt_long_run.steps, 0, 0.2);
    rows_test(&trained_dropout);
    best_row_test(&trained_dropout);
}

static void repeats_test(void)
{
    sizes_test(&trained_repeats.run, 1600, 1, 0);
    for (int i = 0; i <= 8; i++) /* which chapter 24 shows side by side */
        tap_near("the same step", trained_repeats.row[5 * i].step,
                 trained.row[2 * i].step, 0, 0);
    rows_test(&trained_repeats);
    best_row_test(&trained_repeats);
}

/* A run as it is, with the prose as it is, for one step. */
static void first_step(const Trained *run)
{
    GptTraining t;
    double scores[2] = {0};
    gpt_training_init_prose(&t, &run->run);
    tap_near("parameters", (double)t.model.count,
             (double)gpt_count_parameters(&t.model), 0, 0);
    run_step(&t);
    tap_near("the loss after its first step", gpt_run_loss(&t, prose),
             run->row->loss, 1e-5, 0);
    tap_near("on the text held out", gpt_run_loss(&t, held_out),
             run->row->held_out, 1e-5, 0);
    note_heads(&t.model, scores);
    tap_near("the token before", scores[HEAD_BEFORE], run->row->before,
             1e-4, 0);
    tap_near("what followed", scores[HEAD_AFTER], run->row->after, 1e-4, 0);
    gpt_training_free(&t);
}

static void first_step_test(void)
{
    first_step(&trained);
}

static void first_dropout_test(void)
{
    first_step(&trained_dropout);
}

static void first_repeats_test(void)
{
    first_step(&trained_repeats);
}

static void step_test(void)
{
    const double rate[3] = {4e-3 / 3, 8e-3 / 3, 4e-3};
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    tap_true("on the prose", t.text == prose && t.bytes == prose_length);
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
    for (int i = 0; i < rows_of(t); i++)
        least = fminf(least, (float)row_of(t, i)[HELD_OUT]);
    gpt_load(&g, path);
    gpt_pass_init(&p, &g, 1, g.context_length);
    tap_near("the least loss held out",
             gpt_loss(&g, held_out, held_out_length, &p, t->shares[0]),
             least, 0, 0);
    gpt_pass_free(&p);
    gpt_free(&g);
}

/* Of two that are equal, the first is the best. */
static void row_test(void)
{
    const double losses[5] = {3, 2, 2.5, 2, 1};
    GptTraining t;
    gpt_training_init_prose(&t, &small_run);
    gpt_training_add_notes(&t, BEGINNING);
    for (int i = 0; i < 5; i++) {
        gpt_training_add_notes(&t, entries_of_row(&t))[HELD_OUT] =
            losses[i];
        tap_near("is the best", is_best(&t, i), i < 2 || i == 4, 0, 0);
    }
    gpt_training_free(&t);
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
    TAP(log_test, "train: what it has written down");
    TAP(dropout_test, "train: and of the same with dropout");
    TAP(repeats_test, "train: and of texts that repeat themselves");
    TAP_LARGE(first_step_test,
              "gpt_run_loss: after the first step, as in the log");
    TAP_LARGE(first_dropout_test, "gpt_run_loss: and with dropout");
    TAP_LARGE(first_repeats_test,
              "gpt_run_loss: and with texts that repeat themselves");
    TAP(step_test, "gpt_training_init_prose: on the book's prose");
    TAP(step_test, "train: a rate that rises and falls");
    TAP(row_test, "train: which model is the best");
    TAP(seconds_test, "train: its seconds, where a clock is set back");
    TAP(note_test, "gpt_training_add_notes: one behind the other");
    TAP(count_test, "gpt_count_parameters: of GPT-2");
    TAP(machine_test, "processor_name: one line");
    REFUSES("train.c: run: 0 steps: at least 1 is needed",
            run(&(GptTraining){.steps = 0}, (char *[]){"t", "m", "log"}));
    for (int i = 0; i < 3; i++) {
        char *path[3] = {"a", "a", "a"};
        path[i] = "b";
        REFUSES("train.c: run: a: is to be two of the training, its model "
                "and its log: three names are needed",
                run(&small_run, path));
    }
    return tap_done();
}
