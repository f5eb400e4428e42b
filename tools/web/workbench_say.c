#include "workbench_say.h"

/* The lines of an explanation. Each sum is made again as the book's functions
 * make it, in the same order and with the same roundings. */

/* ---- Words in a line */

const char *bench_asks(const Bench *b, int i)
{
    return b->name[0][b->stage->draw == BY_NONE ? b->asking : i];
}

const char *bench_asked(const Bench *b, int j)
{
    return bench_others(b)[j];
}

float bench_entry(const Bench *b, TableId id, int h, int i, int j)
{
    return bench_row(b, id, h, i)[j];
}

const char *bench_in_head(const Bench *b, int h)
{
    static char text[24];
    snprintf(text, sizeof text, " in head %d", h + 1);
    return b->a.n_heads > 1 ? text : "";
}

List bench_row_of(const Bench *b, TableId id, int h, int i)
{
    return (List){bench_row(b, id, h, i), 1};
}

List bench_column_of(const Bench *b, TableId id, int h, int j)
{
    return (List){bench_row(b, id, h, 0) + j, bench_shape(b, id).m};
}

/* What the entries mean, each cut from the stage's line of names; NULL where
 * they mean nothing. */
const char *const *bench_meanings(const Bench *b, Per per)
{
    static char names[100];
    static const char *each[MOST_SIZE];
    if (!b->stage->names[per])
        return NULL;
    snprintf(names, sizeof names, "%s", b->stage->names[per]);
    char *word = strtok(names, " ");
    for (int k = 0; word; k++) {
        each[k] = word;
        word = strtok(NULL, " ");
    }
    return each;
}

const char *bench_entry_name(const Bench *b, Per per, int k)
{
    static char text[4][60];
    static int next;
    char *out = text[next++ % 4];
    const char *const *each = bench_meanings(b, per);
    snprintf(out, sizeof *text, each ? "entry %d (%s)" : "entry %d", k + 1,
             each ? each[k] : "");
    return out;
}

/* ---- Where an entry came from, kept until the text is complete */

static Cell source[4];
static int sources;

void bench_from(TableId id, int h, int i, int j)
{
    source[sources++] = (Cell){id, h, i, j};
}

static void print_place(int place, const char *none)
{
    if (place < 0)
        printf(" %s", none);
    else
        printf(" %d", place);
}

static void print_cell(const char *mark, Cell c)
{
    const Kind *kind = &bench_kind[c.id];
    printf("@%s %s", mark, kind->id);
    print_place(kind->heads == PER_HEAD ? c.h : -1, "-");
    print_place(c.i, "*");
    print_place(c.j, "*");
    putchar('\n');
}

void bench_tell(const Bench *b, Cell c,
                void (*explain)(const Bench *b, Cell c))
{
    sources = 0;
    print_cell("explain", c);
    explain(b, c);
    say_digits();
    for (int k = 0; k < sources; k++)
        print_cell("source", source[k]);
}

/* ---- Products */

void bench_products(int n, List x, List y, const char *mark,
                    const char *const name[n], const float *last)
{
    float sum = 0, term[MOST_HEADS * MOST_SIZE + 1];
    const int alone = n == 1 && !last;
    for (int k = 0; k < n; k++) {
        const float a = x.first[k * x.step], c = y.first[k * y.step];
        term[k] = a * c;
        sum += term[k];
        say_product(a, c, mark, name && !alone ? name[k] : NULL);
    }
    if (last) {
        term[n] = *last;
        sum += *last;
        printf("%s, the bias\n", say((double)*last));
    }
    if (!alone)
        say_sum(n + (last != NULL), term, (double)sum);
}

/* ---- Drawn numbers */

void bench_drawn(const Bench *b, int before, double limit)
{
    float x[1][1];
    Random r = random_seeded((uint64_t)b->number[KEY_SEED]);
    for (int k = 0; k < before; k++)
        random_u32(&r);
    Random again = r;
    const double u = (double)random_float(&again);
    printf("It was drawn: seed %.0f begins a stream of numbers from 0 to "
           "below 1. This is number %d of it.\n",
           b->number[KEY_SEED], before + 1);
    if (limit == 0) {
        printf("%s\n", say(u));
        return;
    }
    const float far = (float)limit;
    uniform_fill(&r, 1, 1, -far, far, x);
    printf("A linear layer with %.0f inputs begins with numbers from %s to "
           "%s, so it is stretched and moved.\n",
           1 / (limit * limit), say(-limit), say(limit));
    say_remark(say_shown(u) * say_shown(2 * limit) - say_shown(limit),
               (double)x[0][0]);
    printf("%s × %s - %s = %s\n", say(u), say(2 * limit), say(limit),
           say((double)x[0][0]));
}
