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

/* ---- Numbers */

const char *bench_say(double x)
{
    enum { BUFFERS = 4 * MOST_WORDS };
    static char buffer[BUFFERS][64];
    static int next;
    const int digits = decimals(4);
    char *out = buffer[next++ % BUFFERS];
    snprintf(out, sizeof *buffer, "%.*f", digits, x);
    if (isnan(x))
        strcpy(out, "nan");
    return out + (*out == '-' && !(fabs(strtod(out, NULL)) > 0));
}

/* The value of a number as shown. */
static double shown_value(double x)
{
    return strtod(bench_say(x), NULL);
}

const char *bench_add(double x)
{
    static char buffer[4][70];
    static int next;
    const char *number = bench_say(x);
    char *out = buffer[next++ % 4];
    const int is_less = *number == '-';
    snprintf(out, sizeof *buffer, "%s %s", is_less ? "-" : "+",
             number + is_less);
    return out;
}

/* ---- Where an entry came from, kept until the text is complete */

static Cell source[4];
static int sources, is_rounded;

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
    sources = is_rounded = 0;
    print_cell("explain", c);
    explain(b, c);
    if (is_rounded)
        puts("(All digits are used, also those that are not shown.)");
    for (int k = 0; k < sources; k++)
        print_cell("source", source[k]);
}

/* ---- Sums, products, quotients: each prints lines, and returns nothing, so
 * that what is said can only be what was computed */

/* Notes where what is shown gives another result: in the end it is said that
 * more is used. */
static void remark(double shown, double result)
{
    is_rounded |= strcmp(bench_say(shown), bench_say(result)) != 0;
}

void bench_sum(int n, const float x[n], double sum)
{
    double shown = 0;
    for (int k = 0; k < n; k++)
        shown += shown_value((double)x[k]);
    remark(shown, sum);
    printf("%s", bench_say((double)x[0]));
    for (int k = 1; k < n; k++)
        printf(" %s", bench_add((double)x[k]));
    if (n > 1)
        printf(" = %s", bench_say(sum));
    putchar('\n');
}

static void print_product(float a, float c, const char *mark,
                          const char *name)
{
    remark(shown_value((double)a) * shown_value((double)c),
           (double)(a * c));
    printf("%s × %s = %s%s%s%s\n", bench_say((double)a),
           bench_say((double)c), bench_say((double)(a * c)),
           name ? ", " : "", name ? mark : "", name ? name : "");
}

void bench_product(float a, float c)
{
    print_product(a, c, "", NULL);
}

void bench_quotient(double a, double c, float result)
{
    remark(shown_value(a) / shown_value(c), (double)result);
    printf("%s / %s = %s\n", bench_say(a), bench_say(c),
           bench_say((double)result));
}

void bench_products(int n, List x, List y, const char *mark,
                    const char *const name[n], const float *last)
{
    float sum = 0, term[MOST_HEADS * MOST_SIZE + 1];
    const int alone = n == 1 && !last;
    for (int k = 0; k < n; k++) {
        const float a = x.first[k * x.step], c = y.first[k * y.step];
        term[k] = a * c;
        sum += term[k];
        print_product(a, c, mark, name && !alone ? name[k] : NULL);
    }
    if (last) {
        term[n] = *last;
        sum += *last;
        printf("%s, the bias\n", bench_say((double)*last));
    }
    if (!alone)
        bench_sum(n + (last != NULL), term, (double)sum);
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
        printf("%s\n", bench_say(u));
        return;
    }
    const float far = (float)limit;
    uniform_fill(&r, 1, 1, -far, far, x);
    printf("A linear layer with %.0f inputs begins with numbers from %s to "
           "%s, so it is stretched and moved.\n",
           1 / (limit * limit), bench_say(-limit), bench_say(limit));
    remark(shown_value(u) * shown_value(2 * limit) - shown_value(limit),
           (double)x[0][0]);
    printf("%s × %s - %s = %s\n", bench_say(u), bench_say(2 * limit),
           bench_say(limit), bench_say((double)x[0][0]));
}
