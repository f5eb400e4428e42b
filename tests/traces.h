/* An attention's trace against PyTorch, for chapters 7 to 13. Define
 * CHAPTER before including this. */
#pragma once

#include "golden.h"
#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"
#include "attention/attention_object.h"

/* The tables of a trace, by their golden names. */
typedef struct {
    const char *name;
    float **at;
    size_t count;
} TraceTable;
enum { TRACE_TABLES = 13 };
static inline void trace_tables(Trace *t, TraceTable table[TRACE_TABLES])
{
    const size_t n = (size_t)t->n, m = (size_t)t->m;
    const size_t heads = (size_t)t->n_heads, map = heads * n * m;
    const size_t d_k = heads * (size_t)t->d_k, d_v = heads * (size_t)t->d_v;
    const TraceTable all[TRACE_TABLES] = {
        {"query", &t->query, n * d_k},
        {"key", &t->key, m * d_k},
        {"value", &t->value, m * d_v},
        {"head_query", &t->head_query, n * d_k},
        {"head_key", &t->head_key, m * d_k},
        {"head_value", &t->head_value, m * d_v},
        {"scores", &t->scores, map},
        {"weights", &t->weights, map},
        {"kept", &t->keep_mask, map},
        {"dropped", &t->dropped, map},
        {"head_context", &t->context, n * d_v},
        {"joined", &t->joined, n * d_v},
        {"out", &t->out, n * (size_t)t->d_out}};
    memcpy(table, all, sizeof all);
}

/* A trace for n and m tokens of which every table is a room of its own,
 * with guards around it, instead of a part of one block. Freed with the
 * test. */
static inline Trace guarded_trace(const Attention *a, int n, int m)
{
    Trace t;
    TraceTable table[TRACE_TABLES];
    trace_init_for(&t, a, n, m);
    trace_tables(&t, table);
    for (int i = 0; i < TRACE_TABLES; i++)
        if (table[i].count)
            *table[i].at = guarded(table[i].name, table[i].count);
    free(t.memory);
    t.memory = NULL;
    return t;
}

/* Tables of a trace against those of another, from one to before another,
 * in the order above. */
static inline void expect_same_tables(Trace *got, Trace *due, int from,
                                      int till, double rtol, double atol)
{
    TraceTable mine[TRACE_TABLES], right[TRACE_TABLES];
    trace_tables(got, mine);
    trace_tables(due, right);
    for (int i = from; i < till; i++)
        expect_list(mine[i].name, (int)mine[i].count, *mine[i].at,
                    *right[i].at, rtol, atol);
}

/* A guarded trace for n queries that ask m keys, one head. */
static inline Trace one_head(int n, int m, int d_k, int d_v)
{
    return guarded_trace(&(Attention){.n_heads = 1, .d_k = d_k, .d_v = d_v},
                         n, m);
}

/* An address at which nobody may read or write. */
#define NOWHERE ((float *)64)

/* A trace of these sizes whose tables are nowhere: who uses them crashes.
 * Of grown, one of the six sizes is one more; one_more says so in words. */
static const char *const size_name[6] = {"n",   "m",   "n_heads",
                                         "d_k", "d_v", "d_out"};
static inline Trace *wrong_trace(int size, int n, int m, int n_heads,
                                 int d_k, int d_v, int d_out)
{
    static Trace t;
    t = (Trace){.n = n + (size == 0),
                .m = m + (size == 1),
                .n_heads = n_heads + (size == 2),
                .d_k = d_k + (size == 3),
                .d_v = d_v + (size == 4),
                .d_out = d_out + (size == 5),
                .query = NOWHERE,
                .out = NOWHERE};
    given("t: n = %d, m = %d, n_heads = %d, d_k = %d, d_v = %d, d_out = %d",
          t.n, t.m, t.n_heads, t.d_k, t.d_v, t.d_out);
    return &t;
}
#define sized(...) wrong_trace(-1, __VA_ARGS__)

static inline const char *one_more(int size)
{
    return tap_words("a trace whose %s is one more", size_name[size]);
}

/* In a loop over the batch: what is given for its entry b, an attention
 * that may see this, and an entry of the running set's x, or y. */
static inline void given_attention(const Attention *a, Mask mask)
{
    next_case();
    given("a: d_x = %d, d_y = %d, n_heads = %d, d_k = %d, d_v = %d, "
          "d_out = %d, p = %g",
          a->d_x, a->d_y, a->n_heads, a->d_k, a->d_v, a->d_out,
          a->dropout_rate);
    if (mask.kind == MASK_CAUSAL)
        given("see = mask_causal(%d)", mask.first);
    else
        given("see = %s",
              mask.kind ? "mask_table(n, m, table)" : "mask_none()");
}
/* Any attention of so many heads, of sizes of its own. */
static inline Attention any_attention(int n_heads, int d_out)
{
    Attention a;
    attention_init(&a, &(Attention){.d_x = tap_int(1, 5),
                                    .d_y = tap_int(1, 5),
                                    .n_heads = n_heads,
                                    .d_k = tap_int(1, 4),
                                    .d_v = tap_int(1, 4),
                                    .d_out = d_out,
                                    .has_bias = tap_int(0, 2),
                                    .has_out_bias = tap_int(0, 2),
                                    .dropout_rate = 0.3});
    tap_fill((int)a.count, a.memory, -1, 1);
    return a;
}

/* Any text of n tokens. */
static inline void *any_text(int n, int d)
{
    float *x = guarded("text", (size_t)n * (size_t)d);
    tap_fill(n * d, x, -2, 2);
    return x;
}

/* What save_given of golden/generate.py has saved: an attention of which
 * all numbers are given, its mask, and the generator of its dropout. */
static inline Attention golden_attention(const char *set, Mask *mask,
                                         Random *r)
{
    const int64_t *size = golden_integers(set, "sizes");
    const Tensor *table = golden(set, "mask");
    Attention a = {.d_x = (int)size[0],
                   .d_y = (int)size[1],
                   .n_heads = (int)size[2],
                   .d_k = (int)size[3],
                   .d_v = (int)size[4],
                   .d_out = (int)size[5],
                   .has_bias = (int)size[6],
                   .has_out_bias = (int)size[7],
                   .dropout_rate = golden_doubles(set, "rate")[0]};
    *mask = size[8] == 0 ? mask_none()
            : size[8] == 1
                ? mask_causal((int)size[9])
                : mask_table(table->shape[0], table->shape[1], table->data);
    *r = random_seeded((uint64_t)size[10]);
    attention_init(&a, &a);
    if (a.count != golden_count(set, "parameters"))
        REFUSE("%s has not %zu parameters", set, a.count);
    memcpy(a.memory, golden_floats(set, "parameters"),
           a.count * sizeof(float));
    return a;
}

/* The generator stands where PyTorch's does. */
static inline void expect_next_draw(const char *set, Random *r)
{
    const float next = random_float(r);
    expect_close("following", &next, golden(set, "following"), EXACTLY);
}

/* Every table against entry b of a batch, by its name after another, such
 * as "t->". Dropout's draws are exact. */
static inline void expect_golden_tables(const char *of, Trace *t,
                                        const char *set, int b)
{
    TraceTable table[TRACE_TABLES];
    trace_tables(t, table);
    for (int i = 0; i < TRACE_TABLES; i++) {
        const bool is_draw = i == 8, is_share = i == 7 || i == 9;
        const char *name = i == 10 ? "context" : table[i].name;
        if (*table[i].at)
            expect_entry(tap_words("%s%s", of, name), *table[i].at, set,
                         table[i].name, b, is_draw ? 0 : 1e-5,
                         is_draw    ? 0
                         : is_share ? 1e-6
                                    : 2e-6);
    }
}

/* An attention that fits, and a trace for it: 5 tokens of 3 numbers ask 6
 * of 2. WHERE_IT_FITS are the arguments of a forward behind its mask. */
static Attention fit = {
    .d_x = 3, .d_y = 2, .d_k = 4, .d_v = 2, .context_length = 6};
static Trace fit_trace __attribute__((used)); /* or its memory is lost */
static void *const fit_x = (float[5 * 3]){0};
static void *const fit_y = (float[6 * 2]){0};

#define WHERE_IT_FITS NULL, 5, 6, fit_x, fit_y, &fit_trace

static inline const Attention *tell_fit(void)
{
    const char *sizes = tap_words(
        "a: d_x = %d, d_y = %d, n_heads = %d, d_k = %d, d_v = %d, "
        "d_out = %d, context_length = %d",
        fit.d_x, fit.d_y, fit.n_heads, fit.d_k, fit.d_v, fit.d_out,
        fit.context_length);
    tap_give(-1, sizes, NULL); /* before its trace */
    return &fit;
}

static inline const Attention *fitting(int n_heads, int d_out)
{
    fit.n_heads = n_heads;
    fit.d_out = d_out;
    attention_init(&fit, &fit);
    trace_init_for(&fit_trace, &fit, 5, 6);
    return tell_fit();
}

/* The same with one size changed by hand, of the attention or the trace.
 * For the child of REFUSES. */
static inline const Attention *but(int *size, int value)
{
    fitting(1, 0);
    next_case();
    *size = value;
    return tell_fit();
}

static inline Random *some_draws(void)
{
    static Random r;
    r = random_seeded(1);
    return &r;
}

/* What many functions refuse. */
#define NARROW "a layer for keys of 9 columns, where 4 are needed"
static const char *const misfit[5] = {
    "two heads", "an output layer", NARROW,
    "6 keys, where the context length is 5",
    "a trace for 5 keys, where there are 6"};
static inline const Attention *misfitting(int i)
{
    return i == 2   ? but(&fit.key.d_out, 9)
           : i == 3 ? but(&fit.context_length, 5)
           : i == 4 ? but(&fit_trace.m, 5)
                    : fitting(i == 0 ? 2 : 1, i == 1 ? 3 : 0);
}

/* What every forward refuses, before it writes beyond a table: trace.c and
 * attention_object.c try the rest of it. */
#define REFUSES_WHAT_DOES_NOT_FIT(forward, ...)                            \
    do {                                                                   \
        for (int i = 2; i < 5; i++)                                        \
            REFUSES_SUCH(misfit[i], forward(misfitting(i), mask_none(),    \
                                            __VA_ARGS__));                 \
        REFUSES_SUCH(                                                      \
            "a mask of 2 times 3, for 5 queries and 6 keys",               \
            forward(fitting(1, 0), mask_table(2, 3, fit_x), __VA_ARGS__)); \
    } while (0)
