#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "attention.h"
#include "support/file.h"

/* A long run, which `make train` begins or resumes: its steps, what it
 * records on the way, and its log. The step itself is chapter 23's, and the
 * files are gpt_file.c's. */

/* The notes of a run: seconds in all, and of the steps alone. The rows of
 * the log follow them: the step, both losses, the largest two scores of
 * heads, and the bytes of what the model writes. */
enum { SECONDS, STEP_SECONDS, FIRST_ROW };
enum { STEP, LOSS, HELD_OUT, HEADS, SAMPLE = HEADS + 2 };

static int row_length(const GptTraining *t)
{
    return SAMPLE + t->model.context_length;
}

static int row_count(const GptTraining *t)
{
    return (t->noted - FIRST_ROW) / row_length(t);
}

static double *row_of(const GptTraining *t, int i)
{
    return t->notes + FIRST_ROW + i * row_length(t);
}

/* The first of the rows with the least loss on text held out. */
static int best_row(const GptTraining *t)
{
    int best = 0;
    for (int i = 1; i < row_count(t); i++)
        if (row_of(t, i)[HELD_OUT] < row_of(t, best)[HELD_OUT])
            best = i;
    return best;
}

/* The seconds on a clock that never goes back, whatever it counts from. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The next batch and step, at a rate that rises to 0.004 in the first tenth
 * of all steps and falls to a tenth of that. Returns the loss. */
static float run_step(GptTraining *t)
{
    const size_t rows = (size_t)t->texts * (size_t)t->model.context_length;
    int *ids = new_aligned(2 * rows, sizeof *ids);
    t->adam.learning_rate =
        rate_at(t->step, t->steps / 10, t->steps, 4e-3, 4e-4);
    gpt_training_batch(t, ids, ids + rows);
    const float loss = gpt_training_step(t, ids, ids + rows);
    free(ids);
    return loss;
}

/* Sixteen repeated texts, for the scores of heads: of 128 tokens, or as many
 * as the context has. */
enum { HEAD_TEXTS = 16 };
static int head_text_length(const Gpt *g)
{
    return (g->context_length < 128 ? g->context_length : 128) / 2 * 2;
}

static void draw_head_texts(const Gpt *g, int n, int ids[HEAD_TEXTS][n])
{
    Random r = random_seeded(123);
    draw_twice(&r, g->vocabulary, HEAD_TEXTS, n, ids);
}

/* The largest of each score of all heads. */
static void largest_scores(const Gpt *g, double largest[2])
{
    const int heads = g->layers * g->n_heads;
    const int n = head_text_length(g);
    int ids[HEAD_TEXTS][n];
    float score[heads][HEAD_SCORES], loss[2];
    draw_head_texts(g, n, ids);
    head_weights(g, HEAD_TEXTS, n, ids, score, loss);
    largest[0] = largest[1] = 0;
    for (int i = 0; i < heads; i++)
        for (int k = 0; k < 2; k++)
            largest[k] = fmax(largest[k], (double)score[i][k]);
}

/* Adds a row to the notes, and saves the model in a file of its own if none
 * before it was as good. */
static void record_row(GptTraining *t, const char *model_path)
{
    const int n = t->model.context_length;
    double *row = gpt_training_add_notes(t, row_length(t));
    char *text = new_list((size_t)n + 1, 1);
    row[STEP] = t->step;
    row[LOSS] = (double)gpt_run_loss(t, prose());
    row[HELD_OUT] = (double)gpt_run_loss(t, held_out());
    if (!isfinite(row[LOSS]) || !isfinite(row[HELD_OUT]))
        REFUSE(
            "losses of %g and %g after step %d; they must be finite: try "
            "a lower learning rate",
            row[LOSS], row[HELD_OUT], t->step);
    largest_scores(&t->model, row + HEADS);
    gpt_sample(&t->model, n, text);
    for (int i = 0; i < n; i++)
        row[SAMPLE + i] = text[i];
    free(text);
    if (best_row(t) == row_count(t) - 1)
        gpt_save(&t->model, model_path);
}

static double tokens_per_second(const GptTraining *t)
{
    return (double)t->step * t->texts * t->model.context_length /
           t->notes[STEP_SECONDS];
}

static void show_progress(const GptTraining *t, float loss)
{
    fprintf(stderr,
            "\rstep %d of %d, loss %.3f, %.0f tokens a second, %.0f s "
            "left   ",
            t->step, t->steps, (double)loss, tokens_per_second(t),
            (t->steps - t->step) * t->notes[SECONDS] / t->step);
}

static void write_sizes(const GptTraining *t, FILE *log)
{
    const Gpt *g = &t->model;
    char machine[200], day[20];
    const time_t time_now = time(NULL);
    processor_name(sizeof machine, machine);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&time_now));
    fprintf(log,
            "# A long run, as tools/measure/train.c has written it.\n"
            "steps\t%d\ntexts\t%d\nrepeats\t%d\ndropout\t%g\n"
            "vocabulary\t%d\ncontext_length\t%d\nwidth\t%d\n"
            "n_heads\t%d\nlayers\t%d\n"
            "machine\t%s, %d threads\ndate\t%s\n"
            "seconds\t%.0f\ntokens_per_second\t%.0f\n",
            t->steps, t->texts, t->repeats, t->dropout, g->vocabulary,
            g->context_length, g->width, g->n_heads, g->layers, machine,
            threads_for(1 << 20, 0), day, t->notes[SECONDS],
            tokens_per_second(t));
}

static void write_rows(const GptTraining *t, FILE *log)
{
    fprintf(log, "\nstep\tloss\theld_out\tbefore\tafter\tsample\n");
    for (int i = 0; i < row_count(t); i++) {
        const double *row = row_of(t, i);
        for (int k = 0; k < SAMPLE; k++)
            fprintf(log, "%.9g\t", row[k]);
        for (int k = 0; k < t->model.context_length; k++)
            putc((int)row[SAMPLE + k], log);
        putc('\n', log);
    }
}

/* The losses of the repeated texts, and the scores of all heads. */
static void write_heads(Gpt *g, FILE *log)
{
    const int heads = g->layers * g->n_heads;
    const int n = head_text_length(g);
    int ids[HEAD_TEXTS][n];
    float score[heads][HEAD_SCORES], loss[2];
    float back[TRAINED_BACK][heads];
    draw_head_texts(g, n, ids);
    head_scores(g, HEAD_TEXTS, n, ids, score, loss);
    GptPass p;
    gpt_pass_init(&p, g, HEAD_TEXTS, n);
    gpt_forward(g, NULL, *ids, &p);
    for (int k = 0; k < TRAINED_BACK; k++)
        heads_back(&p, k + 1, k + 1, back[k]);
    gpt_pass_free(&p);
    fprintf(log, "\nloss_of_first_half\t%.9g\nloss_of_second_half\t%.9g\n",
            (double)loss[0], (double)loss[1]);
    fprintf(log, "\nblock\thead\tbefore\tafter\tloss_off\tafter_off");
    for (int k = 0; k < TRAINED_BACK; k++)
        fprintf(log, "\tback_%d", k + 1);
    for (int i = 0; i < heads; i++) {
        fprintf(log, "\n%d\t%d", i / g->n_heads, i % g->n_heads);
        for (int k = 0; k < HEAD_SCORES; k++)
            fprintf(log, "\t%.9g", (double)score[i][k]);
        for (int k = 0; k < TRAINED_BACK; k++)
            fprintf(log, "\t%.9g", (double)back[k][i]);
    }
    putc('\n', log);
}

/* The log of a run, with the scores of its best model's heads. */
static void write_log(const GptTraining *t, const char *model_path,
                      const char *path)
{
    Gpt best;
    gpt_load(&best, model_path);
    NewFile new = file_begin(path);
    write_sizes(t, new.file);
    write_rows(t, new.file);
    write_heads(&best, new.file);
    file_finish(&new);
    gpt_free(&best);
}

/* Until all steps are done, or the run is interrupted. */
static void train(GptTraining *t, const char *path, const char *model_path)
{
    const int every = (t->steps + 39) / 40;
    while (t->step < t->steps && !is_interrupted()) {
        const double from = now();
        const float loss = run_step(t);
        t->notes[STEP_SECONDS] += now() - from;
        const int is_row =
            t->step == 1 || t->step % every == 0 || t->step == t->steps;
        if (is_row)
            record_row(t, model_path);
        t->notes[SECONDS] += now() - from;
        if (is_row)
            gpt_training_save(t, path);
        show_progress(t, loss);
    }
}

/* Refuses a file whose model isn't the one that was best so far, of which
 * the log will tell. */
static void best_model_check(const GptTraining *t, const char *path)
{
    GptTraining saved = *t;
    gpt_load(&saved.model, path);
    const Gpt *g = &saved.model;
    const double least =
        row_count(t) ? row_of(t, best_row(t))[HELD_OUT] : INFINITY;
    const int is_alike = g->vocabulary == t->model.vocabulary &&
                         g->context_length == t->model.context_length &&
                         g->n_heads == t->model.n_heads &&
                         g->count == t->model.count;
    const double loss =
        is_alike ? (double)gpt_run_loss(&saved, held_out()) : NAN;
    if (!(fabs(loss - least) < 1e-3))
        REFUSE("%s: its model has a loss of %g on the text held out; it "
               "must be the best one of this run, which has %g",
               path, loss, least);
    gpt_free(&saved.model);
}

/* Goes on with the training that was saved. */
static void resume_run(GptTraining *t, const char *path,
                       const char *model_path)
{
    gpt_training_load(t, path);
    const int row = row_length(t);
    if (t->noted < FIRST_ROW || (t->noted - FIRST_ROW) % row)
        REFUSE("%s: has %d notes; a run has %d and a multiple of %d", path,
               t->noted, FIRST_ROW, row);
    if (t->step > t->steps)
        REFUSE("%s: has step %d, and all %d that are asked for are done: "
               "to go on, ask for more than %d",
               path, t->step, t->steps, t->step);
    best_model_check(t, model_path);
}

/* Takes all steps, or what is left of them where the first file has some.
 * It says on standard error how far it is, and saves itself there after the
 * first step, each fortieth of the way, when Ctrl-C ends it, and at the end.
 * The second file gets the model that was best on the text held out. When
 * all steps are done, the third gets the log. Refuses, before the first
 * step, steps below 1, one path twice, files that it cannot read or write, a
 * training that was not saved by a run or that is of other sizes, and one
 * that has done more steps; and losses that are not finite, when they
 * come. */
static void run(const GptTraining *sizes, char *const path[3])
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(path[i], path[(i + 1) % 3]))
            REFUSE(
                "%s: is given for two of the training, its model and its "
                "log; they must be three files",
                path[i]);
    if (sizes->steps < 1)
        REFUSE("%d steps; there must be at least 1", sizes->steps);
    GptTraining t;
    gpt_training_init_prose(&t, sizes);
    gpt_training_add_notes(&t, FIRST_ROW);
    FILE *old = fopen(path[0], "rb");
    if (!old && errno != ENOENT)
        REFUSE("%s: cannot be read: %s", path[0], strerror(errno));
    if (old) {
        fclose(old);
        resume_run(&t, path[0], path[1]);
    }
    for (int i = 0; i < 3; i++) { /* refused before the steps, not after */
        NewFile new = file_begin(path[i]);
        file_drop(&new);
    }
    stop_when_interrupted();
    train(&t, path[0], path[1]);
    gpt_training_save(&t, path[0]);
    const int is_done = t.step == t.steps;
    if (is_done)
        write_log(&t, path[1], path[2]);
    fprintf(
        stderr, "\n%s has step %d of %d: %s\n", path[0], t.step, t.steps,
        is_done ? "all are done" : "the same command goes on from there");
    gpt_training_free(&t);
}

/* Files for the training, its model and its log, and then maybe the sizes of
 * a run of one's own. */
static int train_gpt(int argc, char *argv[])
{
    GptTraining sizes = gpt_long_run;
    Gpt *g = &sizes.model;
    static const struct {
        const char *name;
        uint64_t least, most;
    } size[8] = {{"steps", 1, 1 << 20},
                 {"texts", 1, 1 << 20},
                 {"the context", TRAINED_BACK + 1, 1 << 20},
                 {"the width", 1, 1 << 20},
                 {"heads", 1, 1 << 20},
                 {"blocks", 1, 1 << 20},
                 {"repeats", 0, 1},
                 {"dropout, in percent,", 0, 99}};
    int percent = 0;
    int *const of[8] = {&sizes.steps,   &sizes.texts, &g->context_length,
                        &g->width,      &g->n_heads,  &g->layers,
                        &sizes.repeats, &percent};
    if (argc != 4 && argc != 12)
        REFUSE("%d arguments; there must be TRAINING MODEL LOG, and then "
               "nothing or STEPS TEXTS CONTEXT WIDTH HEADS BLOCKS REPEATS "
               "DROPOUT",
               argc - 1);
    for (int i = 0; i + 4 < argc; i++)
        *of[i] = (int)parse_integer(size[i].name, argv[i + 4],
                                    size[i].least, size[i].most);
    sizes.dropout = percent / 100.0;
    run(&sizes, argv + 1);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(train_gpt, argc, argv);
}
