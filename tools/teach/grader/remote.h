/* Calls of functions that live in another process.
 *
 * A graded function is called by the chapter's tests as ever, in the judge.
 * There it is a stub: what its arguments point to goes, with them, to the
 * runner, which has the submission and nothing else; the runner calls the
 * submission's function, and what it has made of all that comes back. What
 * is due, the tests and the comparison never leave the judge.
 *
 * calls.c, which tools/teach/grader/calls makes of the declarations, has for each
 * function a struct of its arguments and a visit: it shows each pointer, and
 * how many bytes are there. The judge visits to find what is to be sent, the
 * runner to let the pointers point to what it has got. */
#pragma once

#include <unistd.h>

#include "attention.h"

enum {
    REMOTE_IN = 3, /* file descriptors of the runner */
    REMOTE_OUT = 4,
    MOST_RANGES = 400,
    MOST_ARGS = 400,       /* bytes of arguments */
    MOST_BYTES = 1 << 28,  /* of one array */
    USUAL_BYTES = 1 << 29, /* of memory */
    GUARD_BYTES =
        4096, /* on each side of an array that tests/tap.h does not guard */
    MOST_AROUND =
        16384, /* bytes on each side that are sent with an array that it guards */
    NO_ADDRESS_BELOW = 4096 /* what tests give for nowhere */
};

/* Bytes in the judge's memory, and where the runner has them. An array that
 * is given (const) must come back as it was. Of a struct nothing comes back,
 * neither its pointers, which are others there, nor its sizes, but what its
 * visit says that functions change. */
typedef struct {
    uint64_t at, size;
    char *here;
    int is_given, is_struct;
    int is_guarded; /* it has its guards with it (tests/tap.h) */
} Range;

typedef struct {
    Range range[MOST_RANGES];
    int ranges;
    int is_here;  /* pointers are set to what has come */
    int is_back;  /* what has come back is looked at */
    int is_wrong; /* it cannot be */
    int is_given; /* what is visited now is const */
    struct {
        uint64_t at, size;
    } change[MOST_RANGES];
    int changes;
} Visit;

/* What goes before a call's arguments and ranges, and before what comes
 * back. */
typedef struct {
    int32_t function, ranges;
} Call;
typedef struct {
    uint64_t mark;
    char result[8];
} Answer;
#define ANSWER_MARK 0x61747465u

/* A function that can be called from elsewhere. */
typedef struct {
    const char *name;
    size_t args;
    void (*visit)(Visit *v, void *args);
    void (*call)(void *args, void *result);
} Remote;
extern const Remote remote[];
extern const int remotes;

/* What has come through a pipe, and has not been read yet. */
typedef struct {
    char bytes[1 << 16];
    size_t at, count;
} Come;

/* Reads so many bytes; answers 0 if the other side has gone. */
static inline int take(Come *come, int from, void *at, size_t size)
{
    for (char *to = at; size > 0;) {
        if (come->at == come->count) {
            const ssize_t n = read(from, come->bytes, sizeof come->bytes);
            if (n <= 0)
                return 0;
            come->count = (size_t)n;
            come->at = 0;
        }
        const size_t left = come->count - come->at;
        const size_t n = size < left ? size : left;
        memcpy(to, come->bytes + come->at, n);
        come->at += n;
        to += n;
        size -= n;
    }
    return 1;
}

/* The judge's side: answers, or ends as the runner has ended. */
void remote_call(const Remote *r, void *args, void *result,
                 size_t result_size);

/* ---- What a visit shows. */

static inline size_t times(long long n, size_t size)
{
    const size_t most = (size_t)MOST_BYTES + 1;
    return n <= 0 ? 0 : size > most / (size_t)n ? most : (size_t)n * size;
}

/* From `before` bytes in front of where a pointer points, `size` bytes.
 * Answers whether they can be looked at. */
static inline int visit_part(Visit *v, void *place, size_t before,
                             size_t size)
{
    void **pointer = place;
    const uint64_t at = (uint64_t)(uintptr_t)*pointer - before;
    if (at < NO_ADDRESS_BELOW || size > MOST_BYTES)
        return 0;
    if (v->is_back)
        return 1;
    for (int i = 0; v->is_here && i < v->ranges; i++) {
        const Range *r = v->range + i;
        if (at >= r->at && at + size <= r->at + r->size) {
            *pointer = r->here + (at - r->at) + before;
            return 1;
        }
    }
    if (v->is_here)
        return 0;
    if (v->ranges == MOST_RANGES)
        REFUSE("a call with more than %d arrays", MOST_RANGES);
    v->range[v->ranges++] =
        (Range){.at = at, .size = size, .is_given = v->is_given};
    return 1;
}

static inline int visit_array(Visit *v, void *place, size_t size)
{
    return visit_part(v, place, 0, size);
}

static inline int visit_struct(Visit *v, void *place, size_t size)
{
    const int is_there = visit_part(v, place, 0, size);
    if (is_there && !v->is_here && !v->is_back)
        v->range[v->ranges - 1].is_struct = 1;
    return is_there;
}

/* What functions change of a struct that is not const, and whether that can
 * be: nobody looks beyond the ends of an array since a number says so. */
static inline void visit_change(Visit *v, const void *at, size_t size,
                                int can_be)
{
    if (v->is_back && !v->is_given && !can_be)
        v->is_wrong = 1;
    if (v->is_here || v->is_back || v->is_given)
        return;
    if (v->changes == MOST_RANGES)
        REFUSE("a call that changes more than %d structs", MOST_RANGES);
    v->change[v->changes].at = (uintptr_t)at;
    v->change[v->changes++].size = size;
}

/* ---- What the book's types point to. Each type is the name of its visit's
 * end; what is NULL is not visited. */

static inline void visit_Random(Visit *v, Random *r)
{
    visit_change(v, r, sizeof *r, r->next >= 0 && r->next <= RANDOM_STATE);
}
static inline void visit_OnlineSoftmax(Visit *v, OnlineSoftmax *r)
{
    visit_change(v, r, sizeof *r, 1);
}

static inline void visit_Linear(Visit *v, Linear *l)
{
    visit_array(v, &l->weight,
                times(l->d_out, times(l->d_in, sizeof(float))));
    visit_array(v, &l->bias, times(l->d_out, sizeof(float)));
}

static inline void visit_Norm(Visit *v, Norm *l)
{
    visit_array(v, &l->weight, times(l->d, sizeof(float)));
    visit_array(v, &l->bias, times(l->d, sizeof(float)));
}

static inline void visit_Attention(Visit *v, Attention *a)
{
    visit_array(v, &a->memory, times((long long)a->count, sizeof(float)));
    visit_Linear(v, &a->query);
    visit_Linear(v, &a->key);
    visit_Linear(v, &a->value);
    visit_Linear(v, &a->out);
}

static inline void visit_Trace(Visit *v, Trace *t)
{
    visit_change(v, &t->dropout_rate, sizeof t->dropout_rate, 1);
    const size_t head = times(t->n_heads, sizeof(float));
    const size_t map = times(t->n, times(t->m, head));
    const size_t q = times(t->n, times(t->d_k, head));
    const size_t k = times(t->m, times(t->d_k, head));
    const size_t x = times(t->m, times(t->d_v, head));
    const size_t c = times(t->n, times(t->d_v, head));
    const struct {
        float **table;
        size_t size;
    } all[] = {
        {&t->memory, times((long long)t->count, sizeof(float))},
        {&t->query, q},
        {&t->key, k},
        {&t->value, x},
        {&t->head_query, q},
        {&t->head_key, k},
        {&t->head_value, x},
        {&t->scores, map},
        {&t->weights, map},
        {&t->keep_mask, map},
        {&t->dropped, map},
        {&t->context, c},
        {&t->joined, c},
        {&t->out, times(t->n, times(t->d_out, sizeof(float)))},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        visit_array(v, all[i].table, all[i].size);
}

static inline void visit_KVCache(Visit *v, KVCache *c)
{
    const size_t row =
        times(c->n_kv_heads,
              times(c->capacity, c->format == FORMAT_FLOAT32 ? 4 : 2));
    visit_change(v, &c->count, sizeof c->count, c->count >= c->first);
    visit_change(v, &c->first, sizeof c->first, c->first >= 0);
    visit_array(v, &c->key, times(c->padded_d_k, row));
    visit_array(v, &c->value, times(c->padded_d_v, row));
}

static inline void visit_Mask(Visit *v, Mask *mask)
{
    if (mask->kind == MASK_TABLE)
        visit_array(v, &mask->table,
                    times(mask->n, times(mask->m, sizeof(float))));
}

/* Rows that lie apart: all from the first number to the last. */
static inline void visit_rows(Visit *v, void *place, int dims,
                              const long long count[],
                              const ptrdiff_t stride[])
{
    long long low = 0, high = 1;
    for (int k = 0; k < dims; k++) {
        if (count[k] <= 0)
            return;
        *(stride[k] < 0 ? &low : &high) += (count[k] - 1) * stride[k];
    }
    visit_part(v, place, times(-low, sizeof(float)),
               times(high - low, sizeof(float)));
}

static inline void visit_StridedRows(Visit *v, StridedRows *rows, int heads,
                                     int n, int d)
{
    visit_rows(v, &rows->at, 3, (long long[]){heads, n, d},
               (ptrdiff_t[]){rows->head_stride, rows->token_stride, 1});
}
