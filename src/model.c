#include "attention.h"

/* The memory of chapter 20's model, of what it computes for a batch, and of
 * its training. The header says what the tables are for, and what the
 * functions refuse. */

void model_init(Model *m)
{
    Attention *a = &m->attention;
    if (m->words < 1 || m->length < 1 || a->d_x < 1 || a->d_y % a->d_x)
        REFUSE("words, length, d_x, d_y = %d, %d, %d, %d: at least 1 of "
               "each, and a d_y that is d_x or a multiple, are needed",
               m->words, m->length, a->d_x, a->d_y);
    a->d_out = m->words;
    Part part[2 + ATTENTION_PARTS] = {{&m->token, 1, m->words, a->d_x},
                                      {&m->place, 1, m->length, a->d_y}};
    const int parts = 2 + attention_parts(a, part + 2);
    m->memory = new_block(parts, part, &m->count);
}

void model_free(Model *m)
{
    free(m->memory);
    *m = (Model){0};
}

void pass_init(Pass *p, const Model *m, int texts, int n)
{
    const Attention *a = &m->attention;
    if (texts < 1 || n < 1)
        REFUSE("texts, n = %d, %d: at least 1 of each is needed", texts, n);
    *p = (Pass){.texts = texts, .n = n};
    const Part part[] = {{&p->x, texts, n, a->d_x},
                         {&p->y, texts, n, a->d_y},
                         {&p->logits, texts, n, m->words},
                         {&p->shares, texts, n, m->words}};
    p->memory = new_block(4, part, &p->count);
    p->trace = new_aligned((size_t)texts, sizeof *p->trace);
    for (int b = 0; b < texts; b++) {
        p->trace[b] = trace_for(a, n, n);
        p->trace[b].out =
            p->logits + (size_t)b * (size_t)n * (size_t)m->words;
    }
}

void pass_free(Pass *p)
{
    for (int b = 0; b < p->texts; b++)
        trace_free(&p->trace[b]);
    free(p->trace);
    free(p->memory);
    *p = (Pass){0};
}

void batch_must_fit(const Batch *b, const Pass *p)
{
    if (b->texts != p->texts || b->n != p->n)
        REFUSE("a batch of %d texts of %d tokens: %d of %d are needed",
               b->texts, b->n, p->texts, p->n);
}

void training_init(Training *t, int texts, int n)
{
    t->gradient = t->mean = t->square = t->model; /* the sizes */
    model_init(&t->model);
    model_init(&t->gradient);
    model_init(&t->mean);
    model_init(&t->square);
    pass_init(&t->pass, &t->model, texts, n);
    pass_init(&t->g, &t->model, texts, n);
    t->steps = 0;
}

void training_free(Training *t)
{
    model_free(&t->model);
    model_free(&t->gradient);
    model_free(&t->mean);
    model_free(&t->square);
    pass_free(&t->pass);
    pass_free(&t->g);
}
