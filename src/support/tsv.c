#include "support/tsv.h"
#include "support.h"
#include "support/file.h"

Tsv tsv_read(const char *path)
{
    size_t size;
    char *text = file_text(path, &size);
    Tsv t = {.path = path, .text = text, .next = text};
    if (strlen(text) < size)
        REFUSE("%s: has a byte 0; it must be a text", path);
    return t;
}

void tsv_free(Tsv *t)
{
    free(t->text);
    *t = (Tsv){0};
}

/* Passes over lines for people. */
int tsv_has_row(Tsv *t)
{
    while (!strncmp(t->next, "# ", 2)) {
        t->next += strcspn(t->next, "\n");
        t->next += *t->next == '\n';
        t->line++;
    }
    return *t->next && *t->next != '\n';
}

/* Passes over a blank line. */
static void skip_blank(Tsv *t)
{
    if (!tsv_has_row(t) && *t->next) {
        t->next++;
        t->line++;
    }
}

/* The next line, or what there is instead. */
static const char *next_line(Tsv *t)
{
    if (!tsv_has_row(t))
        return *t->next ? "a blank line" : "the end of the file";
    static char line[200];
    snprintf(line, sizeof line, "'%.*s'", (int)strcspn(t->next, "\n"),
             t->next);
    return line;
}

/* Takes the next line, and returns how many fields it has; those beyond the
 * last column are only counted. */
static int split_line(Tsv *t)
{
    char *c = t->next;
    int count = 0;
    t->next += strcspn(c, "\n");
    if (*t->next)
        *t->next++ = '\0';
    t->line++;
    for (; c; count++) {
        if (count < TSV_COLUMNS)
            t->field[count] = c;
        c = strchr(c, '\t');
        if (c)
            *c++ = '\0';
    }
    return count;
}

void tsv_row(Tsv *t, int n)
{
    if (!tsv_has_row(t))
        REFUSE("%s:%d: here is %s; it must be a row of %d fields", t->path,
               t->line + 1, next_line(t), n);
    const int count = split_line(t);
    if (count != n)
        REFUSE("%s:%d: there are %d fields; there must be %d", t->path,
               t->line, count, n);
}

const char *tsv_value(Tsv *t, const char *name)
{
    const size_t length = strlen(name);
    skip_blank(t);
    if (!tsv_has_row(t) || strncmp(t->next, name, length) ||
        t->next[length] != '\t')
        REFUSE("%s:%d: here is %s; it must be '%s', a tab and a value",
               t->path, t->line + 1, next_line(t), name);
    tsv_row(t, 2);
    return t->field[1];
}

int tsv_value_integer(Tsv *t, const char *name, int least, int most)
{
    tsv_value(t, name);
    return tsv_integer(t, 1, name, least, most);
}

double tsv_value_number(Tsv *t, const char *name)
{
    tsv_value(t, name);
    return tsv_number(t, 1, name);
}

void tsv_columns(Tsv *t, int n, const char *const name[n])
{
    skip_blank(t);
    tsv_row(t, n);
    for (int k = 0; k < n; k++)
        if (strcmp(t->field[k], name[k]))
            REFUSE("%s:%d: column %d is '%s'; it must be '%s'", t->path,
                   t->line, k + 1, t->field[k], name[k]);
}

int tsv_integer(const Tsv *t, int k, const char *name, int least, int most)
{
    char what[200];
    snprintf(what, sizeof what, "%s:%d: %s", t->path, t->line, name);
    return (int)parse_integer(what, t->field[k], (uint64_t)least,
                              (uint64_t)most);
}

double tsv_number(const Tsv *t, int k, const char *name)
{
    char *end;
    const double x = strtod(t->field[k], &end);
    if (end == t->field[k] || *end)
        REFUSE("%s:%d: %s is '%s'; it must be a number", t->path, t->line,
               name, t->field[k]);
    return x;
}

void tsv_end_check(Tsv *t)
{
    if (tsv_has_row(t) || *t->next)
        REFUSE("%s:%d: here is %s; it must be the end of the file", t->path,
               t->line + 1, next_line(t));
}
