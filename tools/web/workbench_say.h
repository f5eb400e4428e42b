/* What the workbench says of its tables. */

#pragma once

#include "page_say.h"
#include "workbench.h"

/* An entry; or, where one of the numbers is -1, all of them. */
typedef struct {
    TableId id;
    int h, i, j;
} Cell;

/* Prints how an entry was made; draws the figures of the stage, and prints
 * @figure for each. */
void bench_explain(const Bench *b, Cell c);
void bench_draw(const Bench *b);

/* What an explanation is made of. The word that asks in row i, and that which
 * is asked in column j; entry [h][i][j] of a table. */
const char *bench_asks(const Bench *b, int i);
const char *bench_asked(const Bench *b, int j);
float bench_entry(const Bench *b, TableId id, int h, int i, int j);

/* " in head 2", where there are several; "entry 2", or "entry 2 (deed)"
 * where entries have names, and these names, or NULL. */
const char *bench_in_head(const Bench *b, int h);
const char *bench_entry_name(const Bench *b, Per per, int k);
const char *const *bench_meanings(const Bench *b, Per per);

/* A list of numbers that lie so far apart; a row and a column of a table. */
typedef struct {
    const float *first;
    int step;
} List;
List bench_row_of(const Bench *b, TableId id, int h, int i);
List bench_column_of(const Bench *b, TableId id, int h, int j);

/* Prints how an entry was made, as explain says it; notes cells as a source. */
void bench_tell(const Bench *b, Cell c,
                void (*explain)(const Bench *b, Cell c));
void bench_from(TableId id, int h, int i, int j);

/* Prints the products of two lists, one a line, each with its mark and name
 * unless the names are NULL, and the bias unless that is NULL; then the sum
 * of all. */
void bench_products(int n, List x, List y, const char *mark,
                    const char *const name[n], const float *bias);

/* Says that number `before` + 1 was drawn from the seed, between -limit and
 * limit, or between 0 and 1 if the limit is 0. */
void bench_drawn(const Bench *b, int before, double limit);
