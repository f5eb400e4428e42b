/* The memory of a trace, and what does not fit it. How its tables lie, the
 * chapters see that use them. */
#define CHAPTER "07_self_attention"
#include "traces.h"

static void memory_test(void)
{
    Attention a = any_attention(2, 6);
    Trace t;
    t = *sized(1, 1, 1, 1, 1, 0);
    t.dropout_rate = 0.5;
    trace_init(&t, &t);
    expect_equal("a rate", t.dropout_rate, 0);
    trace_free(&t);
    trace_init_for(&t, &a, 3, 4);
    for (size_t k = 0; k < t.count; k++)
        expect_equal("an entry", t.memory[k], 0);
    for (int twice = 0; twice < 2; twice++) {
        trace_free(&t);
        expect_true("nothing is left", !t.memory && !t.query && !t.count);
    }
    attention_free(&a);
}

/* ---- What is refused. */

#define AT "trace.c: "
#define COLUMNS                                                            \
    "trace.c: heads_check: n_heads, d_k, d_v = 65536, 65536, 1: at least " \
    "1 of each, and at most 2147483647 columns of all heads are needed"

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
    REFUSES(COLUMNS, heads_check(65536, 65536, 1));
    REFUSES(COLUMNS,
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
        REFUSES_SUCH(tap_words("size %d that is one more", i),
                     check_with_more(i));
}

int main(void)
{
    TAP("trace_init_for: zeros", memory_test());
    TAP("trace_free: nothing is left", memory_test());
    traces_refused();
    return tap_done();
}
