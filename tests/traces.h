/* Attentions of a set, or of any sizes, and traces against PyTorch. Define
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

/* A trace for n and m tokens of which every table is an array of its own,
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

/* A case in which an attention is given that may see this. */
static inline void given_attention(const Attention *a, Mask mask)
{
    next_case();
    given("a: d_x = %d, d_y = %d, n_heads = %d, d_k = %d, d_v = %d, "
          "d_out = %d, p = %g",
          a->d_x, a->d_y, a->n_heads, a->d_k, a->d_v, a->d_out,
          a->dropout_rate);
    given("see.kind = %d, see.first = %d", mask.kind, mask.first);
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

/* What save_given of golden/generate.py has saved: an attention of which
 * all numbers are given, its mask, and the generator of its dropout. */
static inline Attention golden_attention(const char *set, Mask *mask,
                                         Random *r)
{
    const int *size = golden_ints(set, "sizes");
    Attention a = {.d_x = size[0],
                   .d_y = size[1],
                   .n_heads = size[2],
                   .d_k = size[3],
                   .d_v = size[4],
                   .d_out = size[5],
                   .has_bias = size[6],
                   .has_out_bias = size[7],
                   .dropout_rate = golden_number(set, "rate")};
    const Mask masks[3] = {
        mask_none(), mask_causal(size[9]),
        mask_table(SHAPE(set, "mask"), golden(set, "mask")->data)};
    *mask = masks[size[8]];
    *r = random_seeded((uint64_t)size[10]);
    attention_init(&a, &a);
    golden_parameters(set, a.count, a.memory);
    return a;
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
        const double rtol = is_draw ? 0 : 1e-5,
                     atol = is_share ? 1e-6 : 2e-6;
        const char *name = i == 10 ? "context" : table[i].name;
        if (*table[i].at)
            expect_entry(tap_words("%s%s", of, name), *table[i].at, set,
                         table[i].name, b, rtol, is_draw ? 0 : atol);
    }
}

/* ---- What is refused. */

/* A trace of these sizes whose tables are nowhere: who uses them crashes. */
#define NOWHERE ((float *)64)
#define sized(n_, m_, heads, d_k_, d_v_, d_out_)                           \
    (&(Trace){.n = n_,                                                     \
              .m = m_,                                                     \
              .n_heads = heads,                                            \
              .d_k = d_k_,                                                 \
              .d_v = d_v_,                                                 \
              .d_out = d_out_,                                             \
              .query = NOWHERE,                                            \
              .out = NOWHERE})

/* An attention that fits, and a trace for it: 5 tokens of 3 numbers ask 6
 * of 2. A call that is refused has a child of its own, which may change
 * them. */
static Attention fit = {
    .d_x = 3, .d_y = 2, .n_heads = 1, .d_k = 4, .d_v = 2};
static Trace fit_trace __attribute__((used)); /* or its memory is lost */
static void *const fit_x = (float[5 * 3]){0};
static void *const fit_y = (float[6 * 2]){0};
static int fit_keys = 6, fit_mask_rows = 5;

static inline const Attention *fitting(int n_heads, int d_out)
{
    fit.n_heads = n_heads;
    fit.d_out = d_out;
    fit.context_length = 6;
    free(fit.memory);
    free(fit_trace.memory);
    attention_init(&fit, &fit);
    trace_init_for(&fit_trace, &fit, 5, fit_keys);
    return &fit;
}

/* The same with one number changed, and a mask. The number is a size, or
 * is made from the sizes: so it is set before and after that. */
static inline Mask fit_but(const Wrong *w)
{
    static const float table[5 * 6];
    *w->number = w->value;
    fitting(fit.n_heads, fit.d_out);
    *w->number = w->value;
    return (Mask){MASK_TABLE, 0, fit_mask_rows, 6, table};
}

/* What does not fit: the attention, or the trace's columns; lengths; the
 * mask; a function of one head. The rest is tried by
 * attention_object.c. */
static const Wrong misfit[] = {
    {"a layer for keys of 9 columns, not 4", NULL, &fit.key.d_out, 9},
    {"6 keys, where the context length is 5", NULL, &fit.context_length, 5},
    {"a trace for values of 3 columns, not 2", NULL, &fit_trace.d_v, 3},
};
static const Wrong misfit_lengths[] = {
    {"a trace for 5 keys, not 6", NULL, &fit_trace.m, 5},
    {"a trace for 6 queries, not 5", NULL, &fit_trace.n, 6},
};
static const Wrong misfit_mask[] = {
    {"a mask for 2 queries, not 5", NULL, &fit_mask_rows, 2},
};
static const Wrong misfit_head[] = {
    {"two heads", NULL, &fit.n_heads, 2},
    {"an output layer", NULL, &fit.d_out, 3},
};
