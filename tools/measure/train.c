#define _POSIX_C_SOURCE 200809L /* clock_gettime, open_memstream */
#include <signal.h>
#include <unistd.h>

#include "attention.h"
#include "support/file.h"

/* A long run, which `make train` begins or resumes: its steps, what it
 * records on the way, and its log. The step itself is chapter 23's. */

/* What is saved of a run beside its tables and rows: how it stands; the
 * loss of the model that was best on the text held out; and how many
 * seconds it has taken, in all and for the steps alone. */
typedef struct {
    Random random;
    int step;
    double least, seconds, step_seconds;
    size_t bytes; /* of rows */
} Progress;

enum { SETTINGS = 300, SAVED_TABLES = 4 };
typedef struct {
    GptTraining t;
    PlainText read, held_out;
    Gpt best;
    Progress now;
    char settings[SETTINGS]; /* in words */
    char *text;              /* the rows of its log */
    FILE *rows;              /* writes them */
} Run;

static void run_init(Run *run, const GptTraining *sizes,
                     char *const path[2])
{
    const Gpt *g = &run->t.model;
    uint32_t sum = 0; /* two texts have two sums, most probably */
    *run = (Run){.now.least = INFINITY};
    run->held_out = plain_text(path[1], 20 * sizes->model.context_length);
    run->read = plain_text(path[0], run->held_out.length + 1);
    gpt_run_init(&run->t, sizes, &run->read);
    gpt_init(&run->best, g);
    run->rows = open_memstream(&run->text, &run->now.bytes);
    for (int i = 0; i < run->t.bytes; i++)
        sum = sum * 31 + (unsigned char)run->t.text[i];
    snprintf(run->settings, SETTINGS,
             "steps %d, texts %d, context %d, width %d, heads %d, blocks "
             "%d, repeats %d, dropout %g, and a text with sum %" PRIu32,
             sizes->steps, sizes->texts, g->context_length, g->width,
             g->n_heads, g->layers, sizes->repeats, sizes->dropout, sum);
}

static void run_free(Run *run)
{
    fclose(run->rows);
    free(run->text);
    gpt_free(&run->best);
    gpt_training_free(&run->t);
    free(run->read.bytes);
    free(run->held_out.bytes);
}

/* ---- A run in a file, from which it goes on to the same bits. It is read
 * where it was written, so numbers are as in memory. */

static void run_save(Run *run, const char *path)
{
    const GptTraining *t = &run->t;
    const float *table[SAVED_TABLES] = {t->model.memory, t->mean.memory,
                                        t->square.memory, run->best.memory};
    NewFile new = file_begin(path);
    fflush(run->rows);
    run->now.random = t->random;
    run->now.step = t->step;
    fwrite(run->settings, 1, SETTINGS, new.file);
    fwrite(&run->now, sizeof run->now, 1, new.file);
    for (int k = 0; k < SAVED_TABLES; k++)
        fwrite(table[k], sizeof(float), t->model.count, new.file);
    fwrite(run->text, 1, run->now.bytes, new.file);
    file_finish(&new);
}

static void run_load(Run *run, const char *path)
{
    GptTraining *t = &run->t;
    float *const table[SAVED_TABLES] = {t->model.memory, t->mean.memory,
                                        t->square.memory, run->best.memory};
    char saved[SETTINGS];
    FILE *file = file_open(path);
    file_fill(path, file, SETTINGS, saved);
    if (memcmp(saved, "steps ", 6) || saved[SETTINGS - 1])
        REFUSE("%s: is not what a long run has saved", path);
    if (strcmp(saved, run->settings))
        REFUSE("%s: is a run with %s; this run has %s", path, saved,
               run->settings);
    file_fill(path, file, sizeof run->now, &run->now);
    for (int k = 0; k < SAVED_TABLES; k++)
        file_fill(path, file, t->model.count * sizeof(float), table[k]);
    char *text = file_read(path, file, run->now.bytes);
    fputs(text, run->rows);
    free(text);
    fclose(file);
    t->random = run->now.random;
    t->step = run->now.step;
}

/* ---- Its steps. */

/* On a clock that never goes back. */
static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sixteen repeated texts, for the scores of heads: of 128 tokens, or as many
 * as the context has. Returns how many those are. */
enum { HEAD_TEXTS = 16, HEAD_TOKENS = 128 };
static int head_texts(const Run *run, int ids[HEAD_TEXTS * HEAD_TOKENS])
{
    const Gpt *g = &run->best;
    const int n = g->context_length < HEAD_TOKENS
                      ? g->context_length / 2 * 2
                      : HEAD_TOKENS;
    Random r = random_seeded(123);
    draw_twice(&r, g->vocabulary, &run->held_out, HEAD_TEXTS, n,
               (void *)ids);
    return n;
}

/* Adds a row to the log, and keeps the model if none before it was as
 * good. */
static void record_row(Run *run)
{
    const GptTraining *t = &run->t;
    const Gpt *g = &t->model;
    const int length = run->held_out.length;
    const double loss =
        (double)gpt_training_loss(g, length, run->read.bytes);
    const double held =
        (double)gpt_training_loss(g, length, run->held_out.bytes);
    const int heads = g->layers * g->n_heads;
    int ids[HEAD_TEXTS * HEAD_TOKENS];
    const int n = head_texts(run, ids);
    float score[heads][HEAD_SCORES], unused[2], largest[2] = {0};
    char sample[g->context_length + 1];
    if (!isfinite(loss) || !isfinite(held))
        REFUSE(
            "losses of %g and %g after step %d; they must be finite: try "
            "a lower learning rate",
            loss, held, t->step);
    head_weights(g, HEAD_TEXTS, n, (void *)ids, score, unused);
    for (int i = 0; i < heads; i++)
        for (int k = 0; k < 2; k++)
            largest[k] = fmaxf(largest[k], score[i][k]);
    gpt_sample(g, "The ", g->context_length, sample);
    fprintf(run->rows, "%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.*s\n", t->step, loss,
            held, (double)largest[0], (double)largest[1], g->context_length,
            sample);
    if (held < run->now.least) {
        run->now.least = held;
        memcpy(run->best.memory, g->memory, g->count * sizeof *g->memory);
    }
}

static double tokens_per_second(const Run *run)
{
    return (double)run->t.step * run->t.texts *
           run->t.model.context_length / run->now.step_seconds;
}

/* In a terminal each step takes the place of the one before; elsewhere, the
 * steps of the log have a line each. */
static void show_progress(const Run *run, float loss, int is_row)
{
    const int is_terminal = isatty(STDERR_FILENO);
    if (is_row || is_terminal)
        fprintf(stderr,
                "%sstep %d of %d, loss %.3f, %.0f tokens a second, %.0f s "
                "left%s",
                is_terminal ? "\r" : "", run->t.step, run->t.steps,
                (double)loss, tokens_per_second(run),
                (run->t.steps - run->t.step) * run->now.seconds /
                    run->t.step,
                is_terminal ? "   " : "\n");
}

static volatile sig_atomic_t is_interrupted;
static void note(int signal_number)
{
    is_interrupted = signal_number;
}

/* The first Ctrl-C is noted, and a second one ends the program. Where SIGINT was ignored, as a shell does for what runs in the
 * background, it stays ignored. */
static void stop_when_interrupted(void)
{
    struct sigaction was, noted = {.sa_handler = note};
    noted.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &noted, &was);
    if (was.sa_handler == SIG_IGN)
        signal(SIGINT, SIG_IGN);
}

/* Until all steps are done, or the run is interrupted. */
static void take_steps(Run *run, const char *path)
{
    GptTraining *t = &run->t;
    const int every = (t->steps + 39) / 40;
    const size_t rows = (size_t)t->texts * (size_t)t->model.context_length;
    int *ids = new_list(2 * rows, sizeof *ids), *targets = ids + rows;
    while (t->step < t->steps && !is_interrupted) {
        const double from = seconds_now();
        gpt_run_batch(t, ids, targets);
        const float loss = gpt_training_step(t, ids, targets);
        run->now.step_seconds += seconds_now() - from;
        const int is_row =
            t->step == 1 || t->step % every == 0 || t->step == t->steps;
        if (is_row)
            record_row(run);
        run->now.seconds += seconds_now() - from;
        if (is_row)
            run_save(run, path);
        show_progress(run, loss, is_row);
    }
    run_save(run, path);
    free(ids);
}

/* ---- Its log. */

static void write_sizes(const Run *run, FILE *log)
{
    const GptTraining *t = &run->t;
    const Gpt *g = &t->model;
    char machine[200], day[20];
    const time_t time_now = time(NULL);
    processor_name(sizeof machine, machine);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&time_now));
    fprintf(log,
            "# A long run, as tools/measure/train.c has written it.\n"
            "steps\t%d\ntexts\t%d\nrepeats\t%d\n"
            "vocabulary\t%d\ncontext_length\t%d\nwidth\t%d\n"
            "n_heads\t%d\nlayers\t%d\nbytes\t%d\n"
            "bytes_held_out\t%d\ndropout\t%g\n"
            "machine\t%s, %d threads\ndate\t%s\n"
            "seconds\t%.0f\ntokens_per_second\t%.0f\n",
            t->steps, t->texts, t->repeats, g->vocabulary,
            g->context_length, g->width, g->n_heads, g->layers, t->bytes,
            run->held_out.length, t->dropout, machine,
            threads_for(1 << 20, 0), day, run->now.seconds,
            tokens_per_second(run));
}

/* The losses of the repeated texts, and the scores of all heads. */
static void write_heads(Run *run, FILE *log)
{
    Gpt *g = &run->best;
    const int heads = g->layers * g->n_heads;
    int ids[HEAD_TEXTS * HEAD_TOKENS];
    const int n = head_texts(run, ids);
    float score[heads][HEAD_SCORES], loss[2];
    float back[TRAINED_BACK][heads];
    head_scores(g, HEAD_TEXTS, n, (void *)ids, score, loss);
    GptPass p;
    gpt_pass_init(&p, g, HEAD_TEXTS, n);
    gpt_forward(g, NULL, ids, &p);
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

/* Of two tables, which the model is compared with. */
static void write_tables(const Run *run, FILE *log)
{
    float loss[2];
    table_losses(&run->read, run->held_out.length, loss);
    fprintf(log, "loss_of_bytes\t%.9g\nloss_of_pairs\t%.9g\n",
            (double)loss[0], (double)loss[1]);
}

/* What some passages have copied, word for word, from the text read. */
static void write_copies(const Run *run, const char *by, int count, int n,
                         char passage[count][n + 1], FILE *log)
{
    int most = 0, of = 0, first = 0, at;
    double sum = 0;
    for (int k = 0; k < count; k++) {
        for (char *c = passage[k]; (c = strchr(c, '|'));)
            *c = '\n';
        const int copied = longest_copy(n, passage[k], run->read.length,
                                        run->read.bytes, &at);
        sum += copied;
        if (copied > most) {
            most = copied;
            of = k;
            first = at;
        }
    }
    for (char *c = passage[of]; (c = strchr(c, '\n'));)
        *c = '|';
    fprintf(log, "%s\t%g\t%d\t%.*s\n", by, sum / count, most, most,
            passage[of] + first);
}

/* By passages of the text held out, and by the last samples of the run. */
static void write_all_copies(const Run *run, FILE *log)
{
    const int n = run->t.model.context_length;
    const int length = run->held_out.length;
    char(*passage)[n + 1] = new_list(10, sizeof *passage);
    const char *end = run->text + run->now.bytes;
    fprintf(log, "\ncopied_by\tmean\tmost\tlongest\n");
    for (int k = 0; k < 10; k++)
        memcpy(passage[k], run->held_out.bytes + (length - n) / 10 * k,
               (size_t)n);
    write_copies(run, "held_out", 10, n, passage, log);
    int count = 0;
    for (; count < 10 && end > run->text; count++) {
        memcpy(passage[count], end - n - 1, (size_t)n);
        do
            end--;
        while (end > run->text && end[-1] != '\n');
    }
    write_copies(run, "samples", count, n, passage, log);
    free(passage);
}

/* With the scores of its best model's heads. */
static void write_log(Run *run, const char *path)
{
    NewFile new = file_begin(path);
    write_sizes(run, new.file);
    write_tables(run, new.file);
    fflush(run->rows);
    fprintf(new.file, "\nstep\tloss\theld_out\tbefore\tafter\tsample\n%s",
            run->text);
    write_all_copies(run, new.file);
    write_heads(run, new.file);
    file_finish(&new);
}

/* Takes all steps, or what is left of them where the first file has some.
 * When all are done, the second file gets the model that was best on the
 * text held out, the third the log, and the first is removed. The last two
 * are the text to learn from and the one held out. Files that cannot be
 * written are refused before the first step. */
static void run_train(const GptTraining *sizes, char *const path[5])
{
    Run run;
    run_init(&run, sizes, path + 3);
    if (!access(path[0], F_OK))
        run_load(&run, path[0]);
    for (int i = 0; i < 3; i++) {
        NewFile new = file_begin(path[i]);
        file_drop(&new);
    }
    stop_when_interrupted();
    take_steps(&run, path[0]);
    if (run.t.step == run.t.steps) {
        gpt_save(&run.best, path[1]);
        write_log(&run, path[2]);
        remove(path[0]);
        fprintf(stderr, "%sall %d steps are done\n",
                isatty(STDERR_FILENO) ? "\n" : "", run.t.steps);
    } else
        fprintf(stderr,
                "%s%s has step %d of %d: the same command goes on from "
                "there\n",
                isatty(STDERR_FILENO) ? "\n" : "", path[0], run.t.step,
                run.t.steps);
    run_free(&run);
}

/* A model written again, in numbers of 16 bits. */
static void halve(const char *from, const char *to)
{
    Gpt g;
    gpt_load(&g, from);
    gpt_save_half(&g, to);
    gpt_free(&g);
}

/* Files for the training, its model and its log, the text to learn from and
 * the one held out, and then maybe the sizes of a run of one's own; or two
 * files for a model and its half. */
static int train_gpt(int argc, char *argv[])
{
    GptTraining sizes = gpt_long_run;
    Gpt *g = &sizes.model;
    enum { SIZES = 8 };
    static const char *const name[SIZES] = {
        "steps", "texts",  "the context", "the width",
        "heads", "blocks", "repeats",     "dropout, in percent,"};
    const uint64_t least[SIZES] = {1, 1, TRAINED_BACK + 1, 1, 1, 1, 0, 0};
    int percent = 0;
    int *const size[SIZES] = {
        &sizes.steps, &sizes.texts, &g->context_length, &g->width,
        &g->n_heads,  &g->layers,   &sizes.repeats,     &percent};
    if (argc == 3) {
        halve(argv[1], argv[2]);
        return 0;
    }
    if (argc != 6 && argc != 6 + SIZES)
        REFUSE("%d arguments; there must be TRAINING MODEL LOG TEXT "
               "HELD_OUT, and then nothing or STEPS TEXTS CONTEXT WIDTH "
               "HEADS BLOCKS REPEATS DROPOUT; or MODEL HALVED",
               argc - 1);
    for (int i = 0; i + 6 < argc; i++)
        *size[i] = (int)parse_integer(name[i], argv[i + 6], least[i],
                                      i == 7 ? 99 : 1 << 20);
    sizes.dropout = percent / 100.0;
    run_train(&sizes, argv + 1);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(train_gpt, argc, argv);
}
