#include "attention/model.h"
#include "attention/attention_object.h"
#include "support.h"

/* The memory of chapter 21's model, of what it computes for a batch, and of
 * its training; and what does not fit these. The header says what the
 * tables are for, and what the functions refuse. */

static void model_layout(Model *m)
{
    Attention *a = &m->attention;
    m->count = 0;
    m->tokens = next_table(m->memory, &m->count, 1, m->vocabulary, a->d_x);
    m->positions =
        next_table(m->memory, &m->count, 1, m->context_length, a->d_y);
    attention_layout(a, a, m->memory, &m->count);
}

void model_init(Model *m, const Model *sizes)
{
    const Attention *a = &sizes->attention;
    if (sizes->vocabulary < 1 || sizes->context_length < 1 || a->d_x < 1 ||
        a->d_y < a->d_x || a->d_y % a->d_x)
        REFUSE("vocabulary, context_length, d_x, d_y = %d, %d, %d, %d: at "
               "least 1 of each, and a d_y that is d_x or a multiple, are "
               "needed",
               sizes->vocabulary, sizes->context_length, a->d_x, a->d_y);
    *m = *sizes;
    m->memory = NULL;
    m->attention.d_out = m->vocabulary;
    model_layout(m);
    m->memory = new_block(m->count);
    model_layout(m);
}

void model_clear(Model *m)
{
    memset(m->memory, 0, m->count * sizeof *m->memory);
}

void model_free(Model *m)
{
    free(m->memory);
    *m = (Model){0};
}

static void pass_layout(Pass *p)
{
    const int texts = p->texts, n = p->n;
    p->count = 0;
    p->x = next_table(p->memory, &p->count, texts, n, p->d_x);
    p->y = next_table(p->memory, &p->count, texts, n, p->d_y);
    p->logits = next_table(p->memory, &p->count, texts, n, p->vocabulary);
    p->shares = next_table(p->memory, &p->count, texts, n, p->vocabulary);
}

void pass_init(Pass *p, const Model *m, int texts, int n)
{
    const Attention *a = &m->attention;
    if (texts < 1 || n < 1)
        REFUSE("texts, n = %d, %d: at least 1 of each is needed", texts, n);
    *p = (Pass){.texts = texts, .n = n, .vocabulary = m->vocabulary};
    p->d_x = a->d_x;
    p->d_y = a->d_y;
    pass_layout(p);
    p->memory = new_block(p->count);
    pass_layout(p);
    const size_t rows = (size_t)texts * (size_t)n;
    p->ids =
        new_list((2 + (size_t)(a->d_y / a->d_x)) * rows, sizeof *p->ids);
    p->targets = p->ids + rows;
    p->key_ids = p->targets + rows;
    p->trace = new_list((size_t)texts, sizeof *p->trace);
    Attention without_out = *a; /* whose place is in the logits */
    without_out.d_out = 0;
    for (int b = 0; b < texts; b++) {
        trace_init_for(&p->trace[b], &without_out, n, n);
        p->trace[b].d_out = m->vocabulary;
        p->trace[b].out =
            p->logits + (size_t)b * (size_t)n * (size_t)m->vocabulary;
    }
}

void pass_free(Pass *p)
{
    for (int b = 0; b < p->texts; b++)
        trace_free(&p->trace[b]);
    free(p->trace);
    free(p->ids);
    free(p->memory);
    *p = (Pass){0};
}

void pass_check(const Model *m, const Pass *p)
{
    const Attention *a = &m->attention;
    SIZES_CHECK("a pass of d_x, d_y, vocabulary", {p->d_x, a->d_x},
                {p->d_y, a->d_y}, {p->vocabulary, m->vocabulary});
    if (!m->memory || !p->memory)
        REFUSE("a model or a pass without tables: model_init and pass_init "
               "make room for them");
}

void model_gradient_check(const Model *m, const Pass *p,
                          const Model *grad_m, const Pass *grad_p)
{
    pass_check(m, grad_p);
    SIZES_CHECK("gradients of texts, n", {grad_p->texts, p->texts},
                {grad_p->n, p->n});
    SIZES_CHECK("a gradient of vocabulary, context_length",
                {grad_m->vocabulary, m->vocabulary},
                {grad_m->context_length, m->context_length});
    attention_gradient_check(&m->attention, &grad_m->attention);
}

void training_init(Training *t, const Model *sizes, int texts, int n)
{
    model_init(&t->model, sizes);
    model_init(&t->gradient, sizes);
    model_init(&t->mean, sizes);
    model_init(&t->square, sizes);
    pass_init(&t->pass, &t->model, texts, n);
    pass_init(&t->grad_pass, &t->model, texts, n);
    t->step = 0;
}

void training_free(Training *t)
{
    model_free(&t->model);
    model_free(&t->gradient);
    model_free(&t->mean);
    model_free(&t->square);
    pass_free(&t->pass);
    pass_free(&t->grad_pass);
    t->step = 0;
}
