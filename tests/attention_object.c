/* The memory of an attention and of a trace, and what does not fit them. How
 * their tables lie, the chapters see that use them. */
#define CHAPTER "07_self_attention"
#include "traces.h"

static Attention head = {
    .d_x = 2, .d_y = 2, .n_heads = 1, .d_k = 3, .d_v = 4};

/* At the limits: the context length, and as many columns as an int says. */
static void attention_fits(void)
{
    Attention a = {.d_x = 1,
                   .d_y = 1,
                   .n_heads = 1,
                   .d_k = INT_MAX,
                   .d_v = INT_MAX,
                   .context_length = 5};
    a.query = a.key = a.value = (Linear){1, INT_MAX, NOWHERE, NULL};
    attention_check(&a, 5, 4, sized(5, 4, 1, INT_MAX, INT_MAX, 0));
    attention_check(&a, 4, 5, sized(4, 5, 1, INT_MAX, INT_MAX, 0));
    a.context_length = 0;
    attention_check(&a, 6, 9, sized(6, 9, 1, INT_MAX, INT_MAX, 0));
    expect_true("they fit", true);
}

static void memory_test(void)
{
    Attention a = any_attention(2, 6);
    Trace t = *sized(1, 1, 1, 1, 1, 0);
    t.dropout_rate = 0.5;
    trace_init(&t, &t);
    expect_equal("a rate", t.dropout_rate, 0);
    trace_free(&t);
    trace_init_for(&t, &a, 3, 4);
    expect_true("its tokens", t.n == 3 && t.m == 4);
    for (size_t k = 0; k < t.count; k++)
        expect_equal("an entry", t.memory[k], 0);
    for (int twice = 0; twice < 2; twice++) {
        trace_free(&t);
        attention_free(&a);
        expect_true("nothing is left of the trace",
                    !t.memory && !t.query && !t.count);
        expect_true("nothing is left",
                    !a.memory && !a.query.weight && !a.count);
    }
}

static void layout_test(void)
{
    Attention a;
    float block[50];
    size_t count = 5, all = 0;
    const Linear l = linear_layout(3, 2, 1, block, &count);
    expect_true("where they are", l.weight == block + 5 && count == 13 &&
                                      l.bias == block + 11);
    attention_layout(&a, &head, block, &all);
    expect_true("of an attention", a.query.weight == block && all == 20 &&
                                       a.value.weight == block + 12);
}

/* ---- What is refused. Each call has a child of its own, which may change
 * what it likes. */

static Attention *with(Attention *a, int *size, int other)
{
    *size = other;
    return a;
}

#define AT "attention_object.c: "
#define COLUMNS                                                            \
    ": at least 1 of each, and at most 2147483647 columns of all heads "   \
    "are needed"

static void attentions_refused(void)
{
    int *const size[] = {&head.d_y,  &head.d_x, &head.n_heads,
                         &head.d_k,  &head.d_v, &head.context_length,
                         &head.d_out};
    for (int i = 0; i < 7; i++)
        REFUSES_SUCH(tap_words("size %d = %d", i, -(i > 4)),
                     attention_init(&(Attention){0},
                                    with(&head, size[i], -(i > 4))));
    REFUSES(
        "trace.c: heads_check: n_heads, d_k, d_v = 536870912, 3, 4" COLUMNS,
        attention_init(&(Attention){0},
                       with(&head, &head.n_heads, 1 << 29)));
}

/* Whatever was changed after the layers got their numbers. */
static void layers_refused(void)
{
    int *const size[] = {&head.query.d_in, &head.query.d_out,
                         &head.key.d_in,   &head.key.d_out,
                         &head.value.d_in, &head.value.d_out,
                         &head.d_out,      &head.has_bias};
    REFUSES(AT "layer_check: the layer for the key is from 2 to 50 "
               "numbers: from 2 to 3 is needed",
            attention_layers_check(with(&head, &head.key.d_out, 50)));
    for (int i = 0; i < 8; i++)
        REFUSES(NULL, attention_layers_check(with(&head, size[i], 7)));
    REFUSES("trace.c: heads_check: n_heads, d_k, d_v = 0, 3, 4" COLUMNS,
            attention_layers_check(with(&head, &head.n_heads, 0)));
    Attention bare = head;
    bare.value.weight = NULL;
    REFUSES(NULL, attention_layers_check(&bare));
}

static void misfits_refused(void)
{
    REFUSES(AT "attention_widths_check: d_x, d_y = 3, 2: equal ones are "
               "needed, where one text asks itself",
            attention_widths_check(with(&head, &head.d_x, 3)));
    REFUSES(NULL, attention_check(&head, 5, 5, sized(5, 5, 4, 3, 4, 0)));
    head.context_length = 4;
    REFUSES(AT "attention_check: a text of 5 tokens: at most 4, the "
               "context length, fit",
            attention_check(&head, 5, 1, sized(5, 1, 1, 3, 4, 0)));
    REFUSES(NULL, attention_check(&head, 1, 5, sized(1, 5, 1, 3, 4, 0)));
}

static void check_with_more(int i)
{
    Trace *t = sized(2, 3, 4, 5, 6, 7);
    int *const size[] = {&t->n,   &t->m,   &t->n_heads,
                         &t->d_k, &t->d_v, &t->d_out};
    ++*size[i];
    trace_check(t, 2, 3, 4, 5, 6, 7);
}

static void traces_refused(void)
{
    REFUSES(
        "trace.c: heads_check: n_heads, d_k, d_v = 65536, 65536, 1" COLUMNS,
        heads_check(65536, 65536, 1));
    REFUSES(NULL, trace_init(&(Trace){0}, sized(2, 3, 65536, 65536, 1, 0)));
    REFUSES(
        "trace.c: trace_init: n, m, d_out = 2, 3, -1: at least 1, 1 and 0 "
        "are needed",
        trace_init(&(Trace){0}, sized(2, 3, 1, 4, 5, -1)));
    REFUSES(NULL, trace_init(&(Trace){0}, sized(2, 0, 1, 4, 5, 0)));
    REFUSES(NULL, trace_init(&(Trace){0}, sized(0, 3, 1, 4, 5, 0)));

    REFUSES(
        "trace.c: trace_check: a trace of n, m, n_heads, d_k, d_v, d_out "
        "= 1, 2, 3, 4, 5, 6: 2, 3, 4, 5, 6, 7 are needed",
        trace_check(sized(1, 2, 3, 4, 5, 6), 2, 3, 4, 5, 6, 7));
    REFUSES(
        "trace.c: trace_check: a trace without tables: trace_init makes "
        "room for them",
        trace_check(&(Trace){.n = 1}, 1, 0, 0, 0, 0, 0));
    REFUSES(NULL, trace_check(&(Trace){.d_out = 2, .query = NOWHERE}, 0, 0,
                              0, 0, 0, 2));
    for (int i = 0; i < 6; i++)
        REFUSES_SUCH(tap_words("size %d that is one more", i),
                     check_with_more(i));
}

int main(void)
{
    TAP("attention_free, trace_free: nothing is left", memory_test());
    TAP("attention_layout: one behind the other", layout_test());
    TAP("attention_check: at the limits", attention_fits());
    attention_init(&head, &head);
    attentions_refused();
    layers_refused();
    misfits_refused();
    traces_refused();
    attention_free(&head);
    return tap_done();
}
