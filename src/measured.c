#include "attention/measured.h"
#include "support.h"
#include "support/tsv.h"

enum { WHAT, LIBRARY, THREADS, FIRST, COLUMNS = FIRST + 6 };
static const char *const column[COLUMNS] = {"case", "library",  "threads",
                                            "ms",   "GFLOP/s",  "GB/s",
                                            "MB",   "fraction", "error"};

typedef struct {
    const char *what, *library;
    int threads;
    float x[COLUMNS - FIRST];
} Row;

/* What was measured: `text` is the file's, or NULL until it has been read.
 * It stays in memory until another file is asked for. */
static struct Measured {
    const char *path;
    char *text;
    const char *on;
    int count;
    Row *row;
} all = {.path = "src/data/measured.tsv"};

void measured_in(const char *path)
{
    free(all.row);
    free(all.text);
    all = (struct Measured){.path = path};
}

static void read_once(void)
{
    if (all.text)
        return;
    Tsv file = tsv_read(all.path);
    all.text = file.text;
    all.on = tsv_value(&file, "machine");
    tsv_value(&file, "date");
    tsv_value(&file, "versions");
    /* A row has a byte at least. */
    all.row = new_list(strlen(file.next), sizeof *all.row);
    tsv_columns(&file, COLUMNS, column);
    while (tsv_has_row(&file)) {
        Row *row = &all.row[all.count++];
        tsv_row(&file, COLUMNS);
        row->what = file.field[WHAT];
        row->library = file.field[LIBRARY];
        row->threads =
            tsv_integer(&file, THREADS, column[THREADS], 1, INT_MAX);
        for (int k = FIRST; k < COLUMNS; k++)
            row->x[k - FIRST] = (float)tsv_number(&file, k, column[k]);
    }
    tsv_end_check(&file);
}

const char *measured_on(void)
{
    read_once();
    return all.on;
}

float measured(const char *quantity, const char *what, const char *library,
               int threads)
{
    const Row *found = NULL;
    int k = FIRST;
    read_once();
    while (k < COLUMNS && strcmp(column[k], quantity))
        k++;
    for (const Row *row = all.row; row < all.row + all.count; row++)
        if (!strcmp(row->what, what) && !strcmp(row->library, library) &&
            (threads ? row->threads == threads
                     : !found || row->threads > found->threads))
            found = row;
    if (!found || k == COLUMNS)
        REFUSE("'%s' of '%s' by '%s' on %d threads: what `make bench` has "
               "measured is needed",
               quantity, what, library, threads);
    return found->x[k - FIRST];
}
