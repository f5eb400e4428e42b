/* Tables in text files, which spreadsheets open, too: tabs separate the
 * fields of a line. A file has lines of a name and its value, such as
 * "steps" and 4000, and tables: a line that names the columns, and rows. A
 * blank line ends a table, and may come before a value. Lines that begin
 * with "# " are comments. Anything else is refused, with the file's name,
 * the line, and what must be there. */
#pragma once

enum { TSV_COLUMNS = 16 };

typedef struct {
    const char *path;
    char *text;               /* all of it; the fields are parts of it */
    char *field[TSV_COLUMNS]; /* of the line that was read last */
    int line;                 /* its number, from 1 */
    char *next;               /* where the next line begins */
} Tsv;

/* Reads a file, which tsv_free frees, with its fields. */
Tsv tsv_read(const char *path);
void tsv_free(Tsv *t);

/* The value in the next line, which must have this name: a text, or a whole
 * number from the least to the most, or any number. */
const char *tsv_value(Tsv *t, const char *name);
int tsv_value_integer(Tsv *t, const char *name, int least, int most);
double tsv_value_number(Tsv *t, const char *name);

/* Reads the line that names a table's n columns, and a blank line before
 * it. */
void tsv_columns(Tsv *t, int n, const char *const name[n]);

/* Is there another row, before a blank line or the file's end? */
int tsv_has_row(Tsv *t);

/* Reads the next row, of n fields. */
void tsv_row(Tsv *t, int n);

/* Field k of the row as a number; `name` is its column. */
int tsv_integer(const Tsv *t, int k, const char *name, int least, int most);
double tsv_number(const Tsv *t, int k, const char *name);

/* Refuses what comes after the last table. */
void tsv_end_check(Tsv *t);
