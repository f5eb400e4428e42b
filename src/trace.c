#include "attention/trace.h"
#include "support.h"

/* The memory of a trace, and whether it fits a call. Chapter 7 says what the
 * tables are for; the header, in this order, what the functions refuse. */

/* C would count columns with an int. */
void heads_check(int n_heads, int d_k, int d_v)
{
    if (n_heads < 1 || d_k < 1 || d_v < 1 || d_k > INT_MAX / n_heads ||
        d_v > INT_MAX / n_heads)
        REFUSE("n_heads, d_k, d_v = %d, %d, %d: at least 1 of each, and at "
               "most %d columns of all heads are needed",
               n_heads, d_k, d_v, INT_MAX);
}

/* Says where the tables of a trace are in its block, and counts their
 * numbers. */
static void trace_layout(Trace *t)
{
    const int n = t->n, m = t->m, heads = t->n_heads, d_k = t->d_k;
    const int d_v = t->d_v, texts = t->texts ? t->texts : 1;
    float *const at = t->memory;
    size_t *count = &t->count;
    *count = 0;
    t->query = next_table(at, count, texts, n, heads * d_k);
    t->key = next_table(at, count, texts, m, heads * d_k);
    t->value = next_table(at, count, texts, m, heads * d_v);
    t->joined = next_table(at, count, texts, n, heads * d_v);
    t->out = next_table(at, count, texts, n, t->d_out);
    t->log_sum_exp = next_table(at, count, t->texts, heads, n);
    const int tables = t->texts ? 0 : heads;
    t->head_query = next_table(at, count, tables, n, d_k);
    t->head_key = next_table(at, count, tables, m, d_k);
    t->head_value = next_table(at, count, tables, m, d_v);
    t->scores = next_table(at, count, tables, n, m);
    t->weights = next_table(at, count, tables, n, m);
    t->keep_mask = next_table(at, count, tables, n, m);
    t->dropped = next_table(at, count, tables, n, m);
    t->context = next_table(at, count, tables, n, d_v);
}

void trace_init(Trace *t, const Trace *sizes)
{
    const int n = sizes->n, m = sizes->m, texts = sizes->texts;
    *t = *sizes;
    t->dropout_rate = 0;
    heads_check(t->n_heads, t->d_k, t->d_v);
    if (n < 1 || m < 1 || t->d_out < 0)
        REFUSE("n, m, d_out = %d, %d, %d: at least 1, 1 and 0 are needed",
               n, m, t->d_out);
    if (texts < 0)
        REFUSE("texts = %d: at least 0 is needed", texts);
    if (texts > INT_MAX / (n > m ? n : m))
        REFUSE("%d texts of %d tokens that ask and %d that are asked: at "
               "most %d of all texts are needed",
               texts, n, m, INT_MAX);
    trace_layout(t);
    t->memory = new_block(t->count);
    trace_layout(t);
}

static void init_for(Trace *t, const Attention *a, int texts, int n, int m)
{
    Trace sizes = {.n = n, .m = m, .d_out = a->d_out, .texts = texts};
    sizes.n_heads = a->n_heads;
    sizes.d_k = a->d_k;
    sizes.d_v = a->d_v;
    trace_init(t, &sizes);
}

void trace_init_for(Trace *t, const Attention *a, int n, int m)
{
    init_for(t, a, 0, n, m);
}

void trace_init_texts(Trace *t, const Attention *a, int texts, int n)
{
    if (texts < 1)
        REFUSE("%d texts: at least 1 is needed", texts);
    init_for(t, a, texts, n, n);
}

void trace_free(Trace *t)
{
    free(t->memory);
    *t = (Trace){0};
}

void trace_check(const Trace *t, int n, int m, int n_heads, int d_k,
                 int d_v, int d_out)
{
    SIZES_CHECK("a trace of n, m, n_heads, d_k, d_v, d_out", {t->n, n},
                {t->m, m}, {t->n_heads, n_heads}, {t->d_k, d_k},
                {t->d_v, d_v}, {t->d_out, d_out});
    if (!t->query || (d_out && !t->out))
        REFUSE("a trace without tables: trace_init makes room for them");
    if (t->texts)
        REFUSE("a trace of %d texts, without tables of scores: one whose "
               "texts is 0 is needed",
               t->texts);
}
