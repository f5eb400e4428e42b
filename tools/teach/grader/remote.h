/* Calls of functions that live in another process.
 *
 * A chapter's tests call a graded function as ever. But what is linked with
 * them is a stub of its name, and the function itself, the submission's, is
 * in another process. The judge has the tests and the right values; the
 * runner has the submission, and is in a jail (tools/teach/Jail.pm). How
 * softmax(n, scores, weights) travels:
 *
 *   judge.c                               run.c
 *   1. The stub puts the arguments
 *      into a struct, Args_softmax.
 *   2. A visit of it FINDS what they
 *      point to: n floats of scores,
 *      n floats of weights.
 *   3. All that is sent:              ->  It is read, each array to a place
 *      Call, Args, arrays.                of its own, with guards around.
 *                                      4. The same visit lets the pointers
 *                                         in Args POINT there.
 *                                      5. softmax is called. The guards
 *                                         must be as they were.
 *   7. Arrays are copied to where     <-  6. What has come of it is sent:
 *      the test has them; what is         Answer, arrays.
 *      const must be as it was. A
 *      third visit CHECKS what
 *      has changed in structs.
 *
 * The structs, visits and stubs are what tools/teach/grader/calls makes of
 * the functions' declarations. Whatever the runner sends, the tests then
 * judge: it can gain nothing but by right values. */
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attention.h"

enum {
    MOST_RANGES = 400,      /* arrays and structs of a call */
    MOST_ARGS = 400,        /* bytes of arguments */
    MOST_BYTES = 1 << 28,   /* of one array */
    GUARD_BYTES = 4096,     /* on each side of an array in the runner */
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
    int is_guarded; /* the test's own guards are in it (tests/arrays.h) */
} Range;

typedef struct {
    enum { FIND, POINT, CHECK } purpose;
    Range range[MOST_RANGES], change[MOST_RANGES];
    int ranges, changes;
    int is_given; /* what is visited now is const */
    int is_wrong; /* what has come back cannot be */
} Visit;

typedef struct {
    int32_t function, ranges;
} Call;

/* The second kind says how the runner has ended instead. */
typedef struct {
    enum { ANSWERED = 0x61747465, ENDED } kind;
    int status; /* as waitpid has it */
    char result[8];
} Answer;

/* A function that can be called from elsewhere. */
typedef struct {
    const char *name;
    size_t args;
    void (*visit)(Visit *v, void *args);
    void (*call)(void *args, void *result);
} Remote;
extern const Remote remote[];

/* The judge's side: answers, or ends as the runner has ended. */
void remote_call(const Remote *r, void *args, void *result,
                 size_t result_size);

/* What the judge sends first, and the runner takes: a test's standard output,
 * so that what is printed is told with the test, and how much memory it may
 * use. Returns 0, or -1. */
static inline int greet(int judge, int is_sent, int *output, rlim_t *memory)
{
    struct iovec data = {memory, sizeof *memory};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof *output)];
    } file = {{.cmsg_len = CMSG_LEN(sizeof *output),
               .cmsg_level = SOL_SOCKET,
               .cmsg_type = SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &file,
                             .msg_controllen = sizeof file};
    if (is_sent)
        memcpy(CMSG_DATA(&file.head), output, sizeof *output);
    const ssize_t n = is_sent ? sendmsg(judge, &message, MSG_NOSIGNAL)
                              : recvmsg(judge, &message, 0);
    if (n != sizeof *memory || message.msg_controllen == 0)
        return -1;
    memcpy(output, CMSG_DATA(&file.head), sizeof *output);
    return 0;
}

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
    if (v->purpose == CHECK)
        return 1;
    if (v->purpose == POINT) {
        for (const Range *r = v->range; r < v->range + v->ranges; r++)
            if (at >= r->at && at + size <= r->at + r->size) {
                *pointer = r->here + (at - r->at) + before;
                return 1;
            }
        return 0;
    }
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
    if (is_there && v->purpose == FIND)
        v->range[v->ranges - 1].is_struct = 1;
    return is_there;
}

/* What functions change of a struct that is not const, and whether that can
 * be: nobody looks beyond the ends of an array since a number says so. */
static inline void visit_change(Visit *v, const void *at, size_t size,
                                int can_be)
{
    if (v->is_given)
        return;
    if (v->purpose == CHECK && !can_be)
        v->is_wrong = 1;
    if (v->purpose != FIND)
        return;
    if (v->changes == MOST_RANGES)
        REFUSE("a call that changes more than %d structs", MOST_RANGES);
    v->change[v->changes++] = (Range){.at = (uintptr_t)at, .size = size};
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
    visit_array(v, &t->memory, times((long long)t->count, sizeof(float)));
    float **const in_memory[] = {
        &t->query,     &t->key,        &t->value,   &t->head_query,
        &t->head_key,  &t->head_value, &t->scores,  &t->weights,
        &t->keep_mask, &t->dropped,    &t->context, &t->joined,
        &t->out};
    for (size_t i = 0; i < sizeof in_memory / sizeof in_memory[0]; i++)
        visit_array(v, in_memory[i], sizeof(float));
}

static inline void visit_GptBlock(Visit *v, GptBlock *b)
{
    visit_Norm(v, &b->norm_1);
    visit_Attention(v, &b->attention);
    visit_Norm(v, &b->norm_2);
    visit_Linear(v, &b->up);
    visit_Linear(v, &b->down);
}

/* Of one text: its attention says how many tokens, and how wide. */
static inline void visit_GptBlockPass(Visit *v, GptBlockPass *p)
{
    const size_t size =
        times(p->attention.n, times(p->attention.d_out, sizeof(float)));
    float **const table[] = {&p->in, &p->normed_1, &p->between,
                             &p->normed_2, &p->after};
    float **const wide[] = {&p->wide, &p->share, &p->active};
    visit_Trace(v, &p->attention);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        visit_array(v, table[i], size);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        visit_array(v, wide[i], times(4, size));
}

/* Of a whole model, tables are in its memory. */
static inline void visit_Gpt(Visit *v, Gpt *g)
{
    visit_array(v, &g->memory, times((long long)g->count, sizeof(float)));
    visit_array(v, &g->tokens, sizeof(float));
    visit_array(v, &g->positions, sizeof(float));
    if (visit_struct(v, &g->block, times(g->layers, sizeof *g->block)))
        for (int l = 0; l < g->layers; l++)
            visit_GptBlock(v, &g->block[l]);
    visit_Norm(v, &g->last);
    visit_Linear(v, &g->output);
}

static inline void visit_GptPass(Visit *v, GptPass *p)
{
    visit_array(v, &p->memory, times((long long)p->count, sizeof(float)));
    visit_array(v, &p->normed, sizeof(float));
    visit_array(v, &p->logits, sizeof(float));
    if (!visit_struct(v, &p->block, times(p->layers, sizeof *p->block)))
        return;
    for (int l = 0; l < p->layers; l++) {
        GptBlockPass *b = &p->block[l];
        float **const table[] = {&b->in,       &b->normed_1, &b->between,
                                 &b->normed_2, &b->wide,     &b->share,
                                 &b->active,   &b->after};
        visit_Trace(v, &b->attention);
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
            visit_array(v, table[i], sizeof(float));
    }
}

static inline void visit_Learner(Visit *v, Learner *l)
{
    visit_change(v, &l->step, sizeof l->step, l->step >= 0);
    visit_Gpt(v, &l->model);
    visit_Gpt(v, &l->gradient);
    visit_Gpt(v, &l->mean);
    visit_Gpt(v, &l->square);
    visit_GptPass(v, &l->pass);
    visit_GptPass(v, &l->grad_pass);
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
static inline void visit_StridedRows(Visit *v, StridedRows *rows, int heads,
                                     int n, int d)
{
    const ptrdiff_t stride[] = {rows->head_stride, rows->token_stride, 1};
    const int count[] = {heads, n, d};
    long long low = 0, high = 1;
    for (int k = 0; k < 3; k++) {
        if (count[k] <= 0)
            return;
        *(stride[k] < 0 ? &low : &high) += (count[k] - 1) * stride[k];
    }
    visit_part(v, &rows->at, times(-low, sizeof(float)),
               times(high - low, sizeof(float)));
}
