#include "attention/long_run.h"
#include "attention/trained.h"
#include "support.h"
#include "support/tsv.h"

/* A size that must be that of the long run. */
static int read_size(Tsv *file, const char *name, int due)
{
    return tsv_value_integer(file, name, due, due);
}

static void read_sizes(Tsv *file, GptTraining *run)
{
    const Gpt *due = &gpt_long_run.model;
    Gpt *g = &run->model;
    run->steps = tsv_value_integer(file, "steps", 1, INT_MAX);
    run->texts = tsv_value_integer(file, "texts", 1, INT_MAX);
    run->repeats = tsv_value_integer(file, "repeats", 0, 1);
    run->dropout = tsv_value_number(file, "dropout");
    g->vocabulary = read_size(file, "vocabulary", due->vocabulary);
    g->context_length =
        read_size(file, "context_length", due->context_length);
    g->width = read_size(file, "width", due->width);
    g->n_heads = read_size(file, "n_heads", due->n_heads);
    g->layers = read_size(file, "layers", due->layers);
}

/* The first of the rows with the least loss is the best. */
static void read_rows(Tsv *file, Trained *t)
{
    enum { STEP, LOSS, HELD_OUT, BEFORE, AFTER, SAMPLE, COLUMNS };
    static const char *const column[COLUMNS] = {
        "step", "loss", "held_out", "before", "after", "sample"};
    const int n = t->run.model.context_length;
    tsv_columns(file, COLUMNS, column);
    for (int i = 0; i < TRAINED_ROWS; i++) {
        TrainedRow *row = &t->row[i];
        float *const x[SAMPLE] = {&row->step, &row->loss, &row->held_out,
                                  &row->before, &row->after};
        tsv_row(file, COLUMNS);
        for (int k = 0; k < SAMPLE; k++)
            *x[k] = (float)tsv_number(file, k, column[k]);
        row->sample = file->field[SAMPLE];
        if (strlen(row->sample) != (size_t)n)
            REFUSE("%s:%d: the sample has %zu bytes; it must have %d",
                   file->path, file->line, strlen(row->sample), n);
        if (row->held_out < t->row[t->best].held_out)
            t->best = i;
    }
}

static void read_heads(Tsv *file, Trained *t)
{
    enum { BLOCK, HEAD, SCORES, BACK = 6, COLUMNS = BACK + TRAINED_BACK };
    static const char *const column[COLUMNS] = {
        "block",  "head",   "before", "after",  "loss_off", "after_off",
        "back_1", "back_2", "back_3", "back_4", "back_5"};
    const int heads = t->run.model.n_heads;
    t->loss[0] = (float)tsv_value_number(file, "loss_of_first_half");
    t->loss[1] = (float)tsv_value_number(file, "loss_of_second_half");
    tsv_columns(file, COLUMNS, column);
    for (int i = 0; i < TRAINED_HEADS; i++) {
        tsv_row(file, COLUMNS);
        tsv_integer(file, BLOCK, column[BLOCK], i / heads, i / heads);
        tsv_integer(file, HEAD, column[HEAD], i % heads, i % heads);
        for (int k = SCORES; k < COLUMNS; k++)
            *(k < BACK ? &t->heads[i][k - SCORES] : &t->back[i][k - BACK]) =
                (float)tsv_number(file, k, column[k]);
    }
}

Trained trained_read(const char *path)
{
    Tsv file = tsv_read(path);
    Trained t = {.text = file.text};
    read_sizes(&file, &t.run);
    t.on = tsv_value(&file, "machine");
    t.at = tsv_value(&file, "date");
    t.seconds = tsv_value_integer(&file, "seconds", 0, INT_MAX);
    t.tokens_per_second =
        tsv_value_integer(&file, "tokens_per_second", 0, INT_MAX);
    read_rows(&file, &t);
    read_heads(&file, &t);
    tsv_end_check(&file);
    return t;
}

void trained_free(Trained *t)
{
    free(t->text);
    *t = (Trained){0};
}
