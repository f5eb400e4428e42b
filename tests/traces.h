/* An attention's trace against PyTorch, for chapters 7 to 13. Define CHAPTER
 * before including this. */
#ifndef TRACES_H
#define TRACES_H

#include "sets.h"

/* A trace for n and m tokens of which every table is a room of its own, with
 * a guard behind it, instead of a part of one block. Freed with the test. */
static inline Trace roomy(const Attention *a, int n, int m)
{
    Trace t = trace_for(a, n, m);
    const size_t rows = (size_t)n, keys = (size_t)m;
    const size_t heads = (size_t)a->n_heads, map = heads * rows * keys;
    const size_t d_k = heads * (size_t)a->d_k, d_v = heads * (size_t)a->d_v;
    free(t.memory);
    t.memory = NULL;
    t.query = room(rows * d_k);
    t.key = room(keys * d_k);
    t.value = room(keys * d_v);
    t.head_query = room(rows * d_k);
    t.head_key = room(keys * d_k);
    t.head_value = room(keys * d_v);
    t.scores = room(map);
    t.weights = room(map);
    t.kept = room(map);
    t.dropped = room(map);
    t.context = room(rows * d_v);
    t.joined = room(rows * d_v);
    t.out = a->d_out ? room(rows * (size_t)a->d_out) : NULL;
    return t;
}

/* A trace of these sizes that has no tables: who writes to it crashes. */
static inline Trace *sized(int n, int m, int n_heads, int d_k, int d_v,
                           int d_out)
{
    static Trace t;
    t = (Trace){.n = n,
                .m = m,
                .n_heads = n_heads,
                .d_k = d_k,
                .d_v = d_v,
                .d_out = d_out};
    return &t;
}

/* The trace, of which one of the six sizes, in that order, is one more. */
static inline Trace *grown(int size, Trace *t)
{
    int *const of[6] = {&t->n,   &t->m,   &t->n_heads,
                        &t->d_k, &t->d_v, &t->d_out};
    ++*of[size];
    return t;
}

/* Entry b of a batch, whose first dimension is the batch. */
static inline void *entry(const Tensor *batch, int b)
{
    const size_t count = batch->count / (size_t)batch->shape[0];
    return (float *)floats(batch) + (size_t)b * count;
}

/* A table of a trace against entry b of the running set's array of that
 * name, of which the first dimension is the batch. */
static inline void close_entry(const char *what, int b, const float *got,
                               double rtol, double atol)
{
    const Tensor *all = part(what);
    const size_t count = all->count / (size_t)all->shape[0];
    const size_t from = (size_t)b * count;
    for (size_t k = 0; k < count; k++)
        tap_near(what, got[k],
                 all->type == 'f' ? tensor_floats(all)[from + k]
                                  : tensor_doubles(all)[from + k],
                 rtol, atol);
}

/* Equal to the last bit. */
static inline void same(const char *what, size_t count,
                        const float got[count], const float expect[count])
{
    for (size_t i = 0; i < count; i++)
        tap_near(what, got[i], expect[i], 0, 0);
}

#endif
