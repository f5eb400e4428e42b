/* The memory of an attention and its trace, and whether they fit. */
#define CHAPTER "07_self_attention"
#include "traces.h"
#include "attention/07_self_attention.h"
#include "attention/kernel.h"

/* One block for all tables: each of its entries is 0, and belongs to
 * one. */
static void trace_test(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 9), m = tap_int(1, 9);
        Attention a = any_attention(tap_int(1, 4), tap_int(0, 6));
        Trace t;
        trace_init_for(&t, &a, n, m);
        trace_check(&t, n, m, a.n_heads, a.d_k, a.d_v, a.d_out);
        float *table[13];
        size_t count[13], sum = 0;
        tables(&t, table, count);
        for (int j = 0; j < 13; j++) {
            for (size_t k = 0; k < count[j]; k++)
                table[j][k]++;
            sum += count[j];
        }
        tap_near("count", (double)t.count, (double)sum, 0, 0);
        for (size_t k = 0; k < sum; k++)
            tap_near("tables with this entry", t.memory[k], 1, 0, 0);
        tap_true("an output or none", (t.out != NULL) == (a.d_out > 0));
        trace_free(&t);
        attention_free(&a);
    }
}

/* What is freed can be asked for again: a hundred times a megabyte does
 * not fit otherwise. What is freed twice is freed once. */
static const Attention large = {
    .d_x = 300, .d_y = 300, .n_heads = 1, .d_k = 300, .d_v = 300};
static void trace_free_test(void)
{
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        Trace t;
        trace_init_for(&t, &large, 200, 200);
        trace_free(&t);
        trace_free(&t);
        tap_true("nothing is left", !t.memory && !t.query && !t.count);
    }
}

static void attention_free_test(void)
{
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        Attention a;
        attention_init(&a, &large);
        attention_free(&a);
        attention_free(&a);
        tap_true("nothing is left",
                 !a.memory && !a.query.weight && !a.count);
    }
}

/* A layer of these sizes whose numbers begin here; returns their end. */
static const float *in_order(const Linear *l, int d_in, int d_out,
                             bool has_bias, const float *here)
{
    const float *behind = here + d_in * d_out;
    has_bias &= d_out > 0;
    tap_true("sizes", l->d_in == d_in && l->d_out == d_out);
    tap_true("weight", l->weight == (d_out ? here : NULL));
    tap_true("bias", l->bias == (has_bias ? behind : NULL));
    return has_bias ? behind + d_out : behind;
}

static void linear_layout_test(void)
{
    float block[20];
    size_t count = 5;
    const Linear l = linear_layout(3, 2, 1, block, &count);
    const Linear bare = linear_layout(3, 2, 0, block, &count);
    tap_true("its end", in_order(&l, 3, 2, true, block + 5) == block + 13);
    tap_true("the end",
             in_order(&bare, 3, 2, false, block + 13) == block + count);
}

static const float *layers_in_order(const Attention *a, const float *here)
{
    const int keys = a->n_heads * a->d_k, values = a->n_heads * a->d_v;
    here = in_order(&a->query, a->d_x, keys, a->has_bias, here);
    here = in_order(&a->key, a->d_y, keys, a->has_bias, here);
    here = in_order(&a->value, a->d_y, values, a->has_bias, here);
    return in_order(&a->out, values, a->d_out, a->has_out_bias, here);
}

/* Parameters lie in one block, in order; and two attentions in the block
 * of a model, around a table of its own: each as it is alone, and with
 * nothing of its own to free. */
static void attention_layout_test(void)
{
    for (int round = 0; round < 50; round++) {
        Attention a[2];
        float *table, *block = NULL;
        size_t due = 6, count = 0;
        for (int i = 0; i < 2; i++) {
            a[i] = any_attention(tap_int(1, 4), tap_int(0, 6));
            due += a[i].count;
            tap_true("alone", layers_in_order(&a[i], a[i].memory) ==
                                  a[i].memory + a[i].count);
            free(a[i].memory); /* the layout does not look at it */
        }
        for (int is_made = 0; is_made < 2; is_made++) {
            count = 0;
            attention_layout(&a[0], &a[0], block, &count);
            table = next_table(block, &count, 1, 2, 3);
            attention_layout(&a[1], &a[1], block, &count);
            tap_near("count", (double)count, (double)due, 0, 0);
            if (!is_made)
                block = new_block(count);
        }
        tap_true("its end", layers_in_order(&a[0], block) == table);
        tap_true("the end",
                 layers_in_order(&a[1], table + 6) == block + count);
        for (int i = 0; i < 2; i++) {
            attention_layers_check(&a[i]);
            tap_true("no memory", !a[i].memory && !a[i].count);
            attention_free(&a[i]);
        }
        free(block);
    }
}

/* At the limits: the context length, and as many columns as an int says. */
static void attention_fits(void)
{
    Attention a = {.d_x = 1,
                   .d_y = 1,
                   .n_heads = 1,
                   .d_k = INT_MAX,
                   .d_v = INT_MAX,
                   .context_length = 5,
                   .query = {1, INT_MAX, NOWHERE, NULL},
                   .key = {1, INT_MAX, NOWHERE, NULL},
                   .value = {1, INT_MAX, NOWHERE, NULL}};
    attention_check(&a, 5, 4, sized(5, 4, 1, INT_MAX, INT_MAX, 0));
    attention_check(&a, 4, 5, sized(4, 5, 1, INT_MAX, INT_MAX, 0));
    a.context_length = 0;
    attention_check(&a, 6, 9, sized(6, 9, 1, INT_MAX, INT_MAX, 0));
    tap_true("they fit", true);
}

/* ---- What is refused. Each call has a child of its own, which may change
 * what it likes: the head, or one with an output layer and biases. */

static Attention head = {
    .d_x = 2, .d_y = 2, .n_heads = 1, .d_k = 3, .d_v = 4};
static Attention mixing = {.d_x = 2,
                           .d_y = 2,
                           .n_heads = 1,
                           .d_k = 3,
                           .d_v = 4,
                           .has_bias = 1,
                           .d_out = 6,
                           .has_out_bias = 1};

/* An attention, of which one size is another. */
static Attention *with(Attention *a, int *size, int other)
{
    *size = other;
    return a;
}

/* The one with an output layer, without these numbers. */
static Attention *without(float **numbers)
{
    *numbers = NULL;
    return &mixing;
}

#define AT "objects.c: "
#define COLUMNS                                                            \
    ": at least 1 of each, and at most 2147483647 columns of all heads "   \
    "are needed"

static void traces_refused(void)
{
    REFUSES(AT "sizes_check: n_heads, d_k, d_v = 65536, 65536, 1" COLUMNS,
            trace_init(&(Trace){0}, sized(2, 3, 65536, 65536, 1, 0)));
    REFUSES(AT "trace_init: n, m, d_out = 2, 3, -1: at least 1, 1 and 0 "
               "are needed",
            trace_init(&(Trace){0}, sized(2, 3, 1, 4, 5, -1)));
    REFUSES(NULL, trace_init(&(Trace){0}, sized(2, 0, 1, 4, 5, 0)));
    REFUSES(NULL, trace_init(&(Trace){0}, sized(0, 3, 1, 4, 5, 0)));

    REFUSES(AT "trace_check: a trace of n, m, n_heads, d_k, d_v, d_out "
               "= 1, 2, 3, 4, 5, 6: 2, 3, 4, 5, 6, 7 are needed",
            trace_check(sized(1, 2, 3, 4, 5, 6), 2, 3, 4, 5, 6, 7));
    REFUSES(AT "trace_check: a trace without tables: trace_init makes "
               "room for them",
            trace_check(&(Trace){.n = 1}, 1, 0, 0, 0, 0, 0));
    REFUSES(NULL, trace_check(&(Trace){.d_out = 2, .query = NOWHERE}, 0, 0,
                              0, 0, 0, 2));
    for (int i = 0; i < 6; i++)
        REFUSES_SUCH(one_more(i),
                     trace_check(wrong_trace(i, 2, 3, 4, 5, 6, 7), 2, 3, 4,
                                 5, 6, 7));
}

static void attentions_refused(void)
{
    int *const size[] = {&head.d_y, &head.d_x, &head.n_heads,
                         &head.d_k, &head.d_v, &head.context_length};
    const char *const name[] = {"d_y", "d_x", "n_heads",
                                "d_k", "d_v", "context_length"};
    REFUSES(AT
            "attention_layout: d_x, d_y, d_out, context_length = 2, 2, -1, "
            "0: at least 1, 1, 0 and 0 are needed",
            attention_init(&(Attention){0}, with(&head, &head.d_out, -1)));
    for (int i = 0; i < 6; i++)
        REFUSES_SUCH(tap_words("%s = %d", name[i], -(i == 5)),
                     attention_init(&(Attention){0},
                                    with(&head, size[i], -(i == 5))));
    REFUSES(AT "sizes_check: n_heads, d_k, d_v = 536870912, 3, 4" COLUMNS,
            attention_init(&(Attention){0},
                           with(&head, &head.n_heads, 1 << 29)));
}

/* Whatever was changed after the layers got their numbers. */
static void layers_refused(void)
{
    Attention *const a = &head, *const b = &mixing;
    int *const of_head[] = {
        &a->query.d_in, &a->query.d_out, &a->key.d_in, &a->key.d_out,
        &a->value.d_in, &a->value.d_out, &a->d_x,      &a->d_y,
        &a->n_heads,    &a->d_k,         &a->d_v,      &a->d_out};
    int *const of_mixing[] = {&b->d_out, &b->out.d_in, &b->out.d_out,
                              &b->has_bias, &b->has_out_bias};
    Linear *const layer[] = {&b->query, &b->key, &b->value, &b->out};
    REFUSES(AT "layer_check: the layer for the key is from 2 to 50 "
               "numbers: from 2 to 3 is needed",
            attention_layers_check(with(a, &a->key.d_out, 50)));
    for (int i = 0; i < 12; i++)
        REFUSES(NULL, attention_layers_check(with(a, of_head[i], 7)));
    for (int i = 0; i < 5; i++)
        REFUSES(NULL,
                attention_layers_check(with(b, of_mixing[i], 7 * !i)));
    for (int i = 0; i < 4; i++) {
        REFUSES(NULL, attention_layers_check(without(&layer[i]->weight)));
        REFUSES(NULL, attention_layers_check(without(&layer[i]->bias)));
    }
    REFUSES(AT "layer_check: the layer for the query has a weight and no "
               "bias: a weight and a bias are needed",
            attention_layers_check(with(a, &a->has_bias, 1)));
    REFUSES(AT "sizes_check: n_heads, d_k, d_v = 0, 3, 4" COLUMNS,
            attention_layers_check(with(a, &a->n_heads, 0)));
}

static void misfits_refused(void)
{
    const Trace *const t = sized(5, 5, 4, 3, 4, 0);
    REFUSES(AT "attention_widths_check: d_x, d_y = 3, 2: equal ones are "
               "needed, where one text asks itself",
            attention_widths_check(with(&head, &head.d_x, 3)));
    REFUSES(NULL, attention_widths_check(with(&head, &head.d_y, 3)));
    REFUSES(NULL, attention_check(with(&head, &head.n_heads, 4), 5, 5, t));
    REFUSES(NULL, attention_check(&head, 5, 5, t));
    REFUSES(AT "attention_check: a text of 5 tokens: at most 4, the "
               "context length, fit",
            attention_check(with(&head, &head.context_length, 4), 5, 1,
                            sized(5, 1, 1, 3, 4, 0)));
    REFUSES(NULL, attention_check(with(&head, &head.context_length, 4), 1,
                                  5, sized(1, 5, 1, 3, 4, 0)));
}

int main(void)
{
    TAP(trace_test, "trace_init_for: a block of zeros, a part a table");
    TAP_LARGE(trace_free_test, "trace_free: the memory can be used again");
    TAP_LARGE(attention_free_test,
              "attention_free: the memory can be used again");
    TAP(linear_layout_test, "linear_layout: a weight, and a bias or none");
    TAP(attention_layout_test,
        "attention_layout: alone, and in the block of a model");
    TAP(attention_fits, "attention_check: at the limits");
    attention_init(&head, &head);
    attention_init(&mixing, &mixing);
    traces_refused();
    attentions_refused();
    layers_refused();
    misfits_refused();
    attention_free(&head);
    attention_free(&mixing);
    return tap_done();
}
