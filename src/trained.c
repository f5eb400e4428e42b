#include "attention/trained.h"
#include "support.h"
#include "support/tsv.h"

static void read_sizes(Tsv *file, Trained *t)
{
    GptTraining *run = &t->run;
    Gpt *g = &run->model;
    const struct {
        const char *name;
        int *size, least, most;
    } size[10] = {{"steps", &run->steps, 1, INT_MAX},
                  {"texts", &run->texts, 1, INT_MAX},
                  {"repeats", &run->repeats, 0, INT_MAX},
                  {"vocabulary", &g->vocabulary, 1, INT_MAX},
                  {"context_length", &g->context_length, 1, INT_MAX},
                  {"width", &g->width, 1, INT_MAX},
                  {"n_heads", &g->n_heads, 1, 100},
                  {"layers", &g->layers, 1, 100},
                  {"bytes", &run->bytes, 1, INT_MAX},
                  {"bytes_held_out", &t->held_out, 1, INT_MAX}};
    for (int i = 0; i < 10; i++)
        *size[i].size = tsv_value_integer(file, size[i].name, size[i].least,
                                          size[i].most);
    run->dropout = tsv_value_number(file, "dropout");
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

static void read_copies(Tsv *file, Trained *t)
{
    static const char *const column[4] = {"copied_by", "mean", "most",
                                          "longest"};
    tsv_columns(file, 4, column);
    for (int k = 0; k < 2; k++) {
        tsv_row(file, 4);
        t->copied[k] =
            (Copies){(float)tsv_number(file, 1, column[1]),
                     (float)tsv_number(file, 2, column[2]), file->field[3]};
    }
}

static void read_heads(Tsv *file, Trained *t)
{
    enum { BLOCK, HEAD, SCORES, BACK = 6, COLUMNS = BACK + TRAINED_BACK };
    static const char *const column[COLUMNS] = {
        "block",  "head",   "before", "after",  "loss_off", "after_off",
        "back_1", "back_2", "back_3", "back_4", "back_5"};
    const int heads = t->run.model.n_heads;
    const int all = heads * t->run.model.layers;
    t->loss[0] = (float)tsv_value_number(file, "loss_of_first_half");
    t->loss[1] = (float)tsv_value_number(file, "loss_of_second_half");
    t->heads = new_list((size_t)all, sizeof *t->heads);
    t->back = new_list((size_t)all, sizeof *t->back);
    tsv_columns(file, COLUMNS, column);
    for (int i = 0; i < all; i++) {
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
    read_sizes(&file, &t);
    t.on = tsv_value(&file, "machine");
    t.at = tsv_value(&file, "date");
    t.seconds = tsv_value_integer(&file, "seconds", 0, INT_MAX);
    t.tokens_per_second =
        tsv_value_integer(&file, "tokens_per_second", 0, INT_MAX);
    t.tables[0] = (float)tsv_value_number(&file, "loss_of_bytes");
    t.tables[1] = (float)tsv_value_number(&file, "loss_of_pairs");
    read_rows(&file, &t);
    read_copies(&file, &t);
    read_heads(&file, &t);
    tsv_end_check(&file);
    return t;
}

void trained_free(Trained *t)
{
    free(t->text);
    free(t->heads);
    free(t->back);
    *t = (Trained){0};
}
