#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "attention.h"
#include "support/file.h"

/* A long run, which `make train` begins or goes on with: its steps, where
 * it stands, and what it writes down. The step itself is chapter 23's, and
 * the files are gpt_file.c's. */

/* The notes of a run: seconds in all, and of the steps alone. Behind them
 * are its rows: the step, both losses, the largest two scores of heads, and
 * the bytes of what it writes. */
enum { SECONDS, LEARNING, BEGINNING };
enum { STEP, LOSS, HELD_OUT, HEADS, SAMPLE = HEADS + 2 };

static int entries_of_row(const GptTraining *t)
{
    return SAMPLE + t->model.context_length;
}

static int rows_of(const GptTraining *t)
{
    return (t->noted - BEGINNING) / entries_of_row(t);
}

static double *row_of(const GptTraining *t, int i)
{
    return t->notes + BEGINNING + i * entries_of_row(t);
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

/* Is no loss on text held out as small as that of row i? */
static int is_best(const GptTraining *t, int i)
{
    for (int k = 0; k < i; k++)
        if (row_of(t, k)[HELD_OUT] <= row_of(t, i)[HELD_OUT])
            return 0;
    return 1;
}

/* Sixteen texts that stand twice, for the scores of heads: of 128 tokens,
 * or as many as the context has. */
enum { TEXTS = 16 };
static int text_length(const Gpt *g)
{
    return (g->context_length < 128 ? g->context_length : 128) / 2 * 2;
}

static void draw_texts(const Gpt *g, int n, int ids[TEXTS][n])
{
    Random r = random_seeded(123);
    draw_twice(&r, g->vocabulary, TEXTS, n, ids);
}

/* The largest of each score of all heads. */
static void note_heads(const Gpt *g, double largest[2])
{
    const int heads = g->layers * g->n_heads;
    const int n = text_length(g);
    int ids[TEXTS][n];
    float score[heads][HEAD_SCORES], loss[2];
    draw_texts(g, n, ids);
    head_weights(g, TEXTS, n, ids, score, loss);
    largest[0] = largest[1] = 0;
    for (int i = 0; i < heads; i++)
        for (int k = 0; k < 2; k++)
            largest[k] = fmax(largest[k], (double)score[i][k]);
}

/* Another row of the notes, and the model in a file of its own where none
 * before it was as good. */
static void note_row(GptTraining *t, const char *model_path)
{
    const int n = t->model.context_length;
    double *row = gpt_training_add_notes(t, entries_of_row(t));
    char *text = new_list((size_t)n + 1, 1);
    row[STEP] = t->step;
    row[LOSS] = (double)gpt_run_loss(t, prose);
    row[HELD_OUT] = (double)gpt_run_loss(t, held_out);
    if (!isfinite(row[LOSS]) || !isfinite(row[HELD_OUT]))
        REFUSE("losses of %g and %g after step %d: finite ones are needed, "
               "by a lower learning rate",
               row[LOSS], row[HELD_OUT], t->step);
    note_heads(&t->model, row + HEADS);
    gpt_sample(&t->model, n, text);
    for (int i = 0; i < n; i++)
        row[SAMPLE + i] = text[i];
    free(text);
    if (is_best(t, rows_of(t) - 1))
        gpt_save(&t->model, model_path);
}

static double tokens_a_second(const GptTraining *t)
{
    return (double)t->step * t->texts * t->model.context_length /
           t->notes[LEARNING];
}

static void show_progress(const GptTraining *t, float loss)
{
    fprintf(stderr,
            "\rstep %d of %d, loss %.3f, %.0f tokens a second, %.0f s "
            "left   ",
            t->step, t->steps, (double)loss, tokens_a_second(t),
            (t->steps - t->step) * t->notes[SECONDS] / t->step);
}

/* A string as C has it; no two question marks stand side by
 * side. */
static void print_string(FILE *file, int n, const double byte[n])
{
    fputc('"', file);
    for (int i = 0; i < n; i++)
        fprintf(file, strchr("\"\\?", (int)byte[i]) ? "\\%c" : "%c",
                (int)byte[i]);
    fputc('"', file);
}

static void write_sizes(const GptTraining *t, FILE *log)
{
    const Gpt *g = &t->model;
    char machine[200], day[20];
    const time_t time_now = time(NULL);
    processor_name(sizeof machine, machine);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&time_now));
    fprintf(log,
            "/* What tools/measure/train.c has written, a Trained. */\n"
            "/* clang-format off */\n"
            ".run = {.steps = %d, .texts = %d, .repeats = %d, .dropout = "
            "%g, .model = {"
            ".vocabulary = %d, .context_length = %d, .width = %d, "
            ".n_heads = %d, .layers = %d}},\n"
            ".on = \"%s, %d threads\",\n"
            ".at = \"%s\",\n"
            ".seconds = %.0f,\n"
            ".tokens_per_second = %.0f,\n",
            t->steps, t->texts, t->repeats, t->dropout, g->vocabulary,
            g->context_length, g->width, g->n_heads, g->layers, machine,
            threads_for(1 << 20, 0), day, t->notes[SECONDS],
            tokens_a_second(t));
}

/* Returns which row has the model that was best. */
static int write_rows(const GptTraining *t, FILE *log)
{
    int best = 0;
    fprintf(log, ".row = {\n");
    for (int i = 0; i < rows_of(t); i++) {
        const double *row = row_of(t, i);
        fprintf(log, "    {%.0f, %#.9gf, %#.9gf, %#.9gf, %#.9gf, ",
                row[STEP], row[LOSS], row[HELD_OUT], row[HEADS],
                row[HEADS + 1]);
        print_string(log, t->model.context_length, row + SAMPLE);
        fprintf(log, "},\n");
        best = is_best(t, i) ? i : best;
    }
    fprintf(log, "},\n");
    return best;
}

static void write_table(FILE *log, const char *name, int n, int m,
                        const float x[n][m])
{
    fprintf(log, ".%s = {\n", name);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            fprintf(log, "%s%#.9gf%s", k ? "" : "    {", (double)x[i][k],
                    k + 1 < m ? ", " : "},\n");
    fprintf(log, "},\n");
}

static void write_heads(Gpt *g, FILE *log)
{
    const int heads = g->layers * g->n_heads;
    const int n = text_length(g);
    int ids[TEXTS][n];
    float score[heads][HEAD_SCORES], loss[2], mean[heads];
    float back[heads][TRAINED_BACK];
    draw_texts(g, n, ids);
    head_scores(g, TEXTS, n, ids, score, loss);
    GptPass p;
    gpt_pass_init(&p, g, TEXTS, n);
    gpt_forward(g, NULL, *ids, &p);
    for (int k = 0; k < TRAINED_BACK; k++) {
        heads_back(&p, k + 1, k + 1, mean);
        for (int i = 0; i < heads; i++)
            back[i][k] = mean[i];
    }
    gpt_pass_free(&p);
    fprintf(log, ".loss = {%#.9gf, %#.9gf},\n", (double)loss[0],
            (double)loss[1]);
    write_table(log, "heads", heads, HEAD_SCORES, score);
    write_table(log, "back", heads, TRAINED_BACK, back);
}

/* The log of a run, with the scores of its best model's heads. */
static void write_log(const GptTraining *t, const char *model_path,
                      const char *path)
{
    Gpt best;
    gpt_load(&best, model_path);
    NewFile new = file_begin(path);
    write_sizes(t, new.file);
    const int best_row = write_rows(t, new.file);
    fprintf(new.file, ".best = %d,\n", best_row);
    write_heads(&best, new.file);
    file_finish(&new);
    gpt_free(&best);
}

/* Until all steps are done, or it is interrupted. */
static void take_steps(GptTraining *t, const char *path,
                       const char *model_path)
{
    const int every = (t->steps + 39) / 40;
    while (t->step < t->steps && !is_interrupted()) {
        const double from = now();
        const float loss = run_step(t);
        t->notes[LEARNING] += now() - from;
        const int is_row =
            t->step == 1 || t->step % every == 0 || t->step == t->steps;
        if (is_row)
            note_row(t, model_path);
        t->notes[SECONDS] += now() - from;
        if (is_row)
            gpt_training_save(t, path);
        show_progress(t, loss);
    }
}

/* The model in the file must be the one that was best so far, of which the
 * log will tell. */
static void check_best(const GptTraining *t, const char *path)
{
    GptTraining saved = *t;
    double least = INFINITY;
    gpt_load(&saved.model, path);
    const Gpt *g = &saved.model;
    for (int i = 0; i < rows_of(t); i++)
        least = fmin(least, row_of(t, i)[HELD_OUT]);
    const int is_alike = g->vocabulary == t->model.vocabulary &&
                         g->context_length == t->model.context_length &&
                         g->n_heads == t->model.n_heads &&
                         g->count == t->model.count;
    const double loss =
        is_alike ? (double)gpt_run_loss(&saved, held_out) : NAN;
    if (!(fabs(loss - least) < 1e-3))
        REFUSE("%s: a model with a loss of %g on the text held out: the "
               "best one of this run, with %g, is needed",
               path, loss, least);
    gpt_free(&saved.model);
}

/* The run goes on with the training that was saved. */
static void load_run(GptTraining *t, const char *path,
                     const char *model_path)
{
    gpt_training_load(t, path);
    const int row = entries_of_row(t);
    if (t->noted < BEGINNING || (t->noted - BEGINNING) % row)
        REFUSE("%s: has %d notes: %d and a multiple of %d, as a run has "
               "them, are needed",
               path, t->noted, BEGINNING, row);
    if (t->step > t->steps)
        REFUSE("%s: has step %d, and all %d that are asked for are done: "
               "to go on, ask for more than %d",
               path, t->step, t->steps, t->step);
    check_best(t, model_path);
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
            REFUSE("%s: is to be two of the training, its model and its "
                   "log: three names are needed",
                   path[i]);
    if (sizes->steps < 1)
        REFUSE("%d steps: at least 1 is needed", sizes->steps);
    GptTraining t;
    gpt_training_init_prose(&t, sizes);
    gpt_training_add_notes(&t, BEGINNING);
    FILE *old = fopen(path[0], "rb");
    if (!old && errno != ENOENT)
        REFUSE("%s: %s: a file that can be read, or none yet, is needed",
               path[0], strerror(errno));
    if (old) {
        fclose(old);
        load_run(&t, path[0], path[1]);
    }
    for (int i = 0; i < 3; i++) { /* refused before the steps, not after */
        NewFile new = file_begin(path[i]);
        file_drop(&new);
    }
    stop_when_interrupted();
    take_steps(&t, path[0], path[1]);
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
int main(int argc, char *argv[])
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
        REFUSE(
            "%d arguments: TRAINING MODEL LOG, and then nothing or STEPS "
            "TEXTS CONTEXT WIDTH HEADS BLOCKS REPEATS DROPOUT, are needed",
            argc - 1);
    for (int i = 0; i + 4 < argc; i++)
        *of[i] = (int)parse_integer(size[i].name, argv[i + 4],
                                    size[i].least, size[i].most);
    sizes.dropout = percent / 100.0;
    run(&sizes, argv + 1);
    return 0;
}
