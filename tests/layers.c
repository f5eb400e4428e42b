/* src/layers.c against PyTorch's autograd, golden/layers, and against
 * chapters 7 and 18. */
#define CHAPTER "layers"
#include "calls.h"
#include "traces.h"
#include "attention/18_backward.h"
#include "attention/layers.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

/* ---- Linear layers, and whole attentions. */

static void *uniform(Random *r, const char *name, int count)
{
    float *x = guarded(name, (size_t)count);
    uniform_fill(r, 1, count, -1, 1, (void *)x);
    return x;
}

/* A gradient to which something was added before. */
static Linear gradient_of(const Linear *l)
{
    const size_t rows = (size_t)l->d_out, columns = (size_t)l->d_in;
    return (Linear){l->d_in, l->d_out,
                    guarded_filled("g_weight", rows * columns, 2),
                    l->bias ? guarded_filled("g_bias", rows, 3) : NULL};
}

/* There and back, as chapters 7 and 18; gradients are added to. Sums over
 * up to 331 rows, in another order: 8.7e-6 was measured. */
static void linear_case(int k)
{
    next_case();
    Random r = random_seeded((uint64_t)(19500 + k));
    const int n = k % 3 ? any_size(&r, 60) : 250 + 3 * k;
    const int d_in = any_size(&r, 60), d_out = any_size(&r, 130);
    const size_t of_x = (size_t)(n * d_in), of_y = (size_t)(n * d_out);
    void *const x = uniform(&r, "x", n * d_in);
    void *const grad_y = uniform(&r, "g_y", n * d_out);
    void *const y = guarded("y", of_y), *const due_y = guarded("y", of_y);
    void *const grad_x = guarded_filled("g_x", of_x, 1);
    void *const due_x = guarded_filled("g_x", of_x, 1);
    const Linear l = {d_in, d_out, uniform(&r, "weight", d_out * d_in),
                      k % 2 ? uniform(&r, "bias", d_out) : NULL};
    Linear got = gradient_of(&l), due = gradient_of(&l);
    given("n = %d, l->d_in = %d, l->d_out = %d, %s bias", n, d_in, d_out,
          l.bias ? "a" : "no");
    linear_forward(&l, n, x, due_y);
    linear_forward_fast(&l, n, x, y);
    expect_table("y", n, d_out, y, due_y, 0, 2e-6);
    linear_backward(&l, n, x, grad_y, &due, due_x);
    linear_backward_fast(&l, n, x, grad_y, &got, grad_x);
    expect_table("g_x", n, d_in, grad_x, due_x, 1e-6, ATOL);
    expect_table("g_weight", d_out, d_in, got.weight, due.weight, 1e-6,
                 2e-5);
    if (l.bias)
        expect_list("g_bias", d_out, got.bias, due.bias, 1e-6, ATOL);
    guarded_free();
}

/* The attention of a set, and what it may see. */
static Attention attention_of_set(const char *set, Mask *mask)
{
    const int *size = golden_ints(set, "sizes");
    Attention a = {.d_x = size[0],
                   .d_y = size[0],
                   .n_heads = size[1],
                   .d_k = size[2],
                   .d_v = size[3],
                   .d_out = size[4],
                   .has_bias = size[5],
                   .has_out_bias = size[6]};
    attention_init(&a, &a);
    memcpy(a.memory, input(set, "parameters"), a.count * sizeof(float));
    *mask = strcmp(set, "texts_table")
                ? mask_causal((int)input_number(set, "first", "first"))
                : mask_table(SHAPE(set, "mask"), input(set, "mask"));
    return a;
}

/* There and back, twice: tables are written, gradients added to. */
static void texts_test(const char *set)
{
    Mask mask;
    Attention a = attention_of_set(set, &mask), grad_a;
    const int texts = dim(set, "x", 0), n = dim(set, "x", 1);
    const size_t of_x = golden_count(set, "x");
    Trace t, g;
    attention_init(&grad_a, &a);
    trace_init_texts(&t, &a, texts, n);
    trace_init_texts(&g, &a, texts, n);
    given_attention(&a, mask);
    for (int twice = 0; twice < 2; twice++) {
        float *grad_x = guarded_filled("g_x", of_x, 1);
        memcpy(grad_a.memory, guarded_filled("g_parameters", a.count, 1),
               a.count * sizeof(float));
        attention_forward_fast(&a, mask, texts, n, input(set, "x"), &t);
        expect_close(a.d_out ? "out" : "joined", a.d_out ? t.out : t.joined,
                     golden(set, "out"), 1e-5, 2e-6);
        expect_close("log_sum", t.log_sum_exp, golden(set, "log_sum"), 1e-6,
                     2e-6);
        memcpy(a.d_out ? g.out : g.joined, input(set, "g"),
               golden_count(set, "g") * sizeof(float));
        attention_backward_fast(&a, mask, texts, n, input(set, "x"), &t, &g,
                                &grad_a, (void *)grad_x);
        expect_close("g_x", subtract(of_x, grad_x, 1), golden(set, "g_x"),
                     1e-5, 5e-6);
        expect_close("g_parameters", subtract(a.count, grad_a.memory, 1),
                     golden(set, "g_parameters"), 1e-5, 1e-5);
    }
    trace_free(&t);
    trace_free(&g);
    attention_free(&a);
    attention_free(&grad_a);
}

/* ---- What is refused. */

static void check_traces(int texts, int n)
{
    Trace *t = sized(n, 1, 1, 1, 1, 0);
    t->texts = texts;
    trace_init(t, t);
}

/* An attention for texts, its gradient, and their traces, of which one size
 * is changed by hand; or how many texts of n tokens it is given, and with
 * what mask. */
static void refused_texts(void)
{
    static const float table[4][5];
    static float x[5 * 4 * 3];
    static Attention grad_self;
    static Attention self = {
        .d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 1, .d_out = 4};
    static Trace of_texts, grad_texts;
    void *const some_x = x;
    int texts = 5, n = 4, columns = 4;
    attention_init(&self, &self);
    attention_init(&grad_self, &self);
    trace_init_texts(&of_texts, &self, 5, 4);
    trace_init_texts(&grad_texts, &self, 5, 4);
    const char *none =
        "attention_object.c: attention_texts_check: 5 texts, and a trace "
        "of 0: at least 1, and the same, are needed";
    const Wrong wrong[] = {
        WRONG(self.d_y, 4),      WRONG(self.context_length, 3),
        WRONG(n, 1 << 30),       WRONG(self.key.d_in, 9),
        WRONG(of_texts.n, 3),    WRONG(texts, 0),
        WRONG(columns, 5),       SAYS(of_texts.texts, 0, none),
        WRONG(of_texts.texts, 4)};
    const Wrong wrong_gradient[] = {WRONG(grad_texts.texts, 4),
                                    WRONG(grad_self.n_heads, 1)};
#define MASK mask_table(4, columns, (const void *)table)
#define BACKWARD                                                           \
    attention_backward_fast(&self, MASK, texts, n, some_x, &of_texts,      \
                            &grad_texts, &grad_self, some_x)
    REFUSES_WRONG(
        "attention_forward_fast", wrong,
        attention_forward_fast(&self, MASK, texts, n, some_x, &of_texts));
    REFUSES_WRONG("attention_backward_fast", wrong, BACKWARD);
    REFUSES_WRONG("attention_backward_fast", wrong_gradient, BACKWARD);
    REFUSES("trace.c: trace_check: a trace of 5 texts, without tables "
            "of scores: one whose texts is 0 is needed",
            trace_check(&of_texts, 4, 4, 2, 2, 1, 4));
    REFUSES("trace.c: trace_init_texts: 0 texts: at least 1 is needed",
            trace_init_texts(&(Trace){0}, &self, 0, 4));
    REFUSES("trace.c: trace_init: texts = -1: at least 0 is needed",
            check_traces(-1, 1));
    REFUSES("trace.c: trace_init: 65536 texts of 32768 tokens that ask "
            "and 1 that are asked: at most 2147483647 of all texts are "
            "needed",
            check_traces(1 << 16, 1 << 15));
    Attention wide = self;
    wide.d_y = 4;
    attention_init(&wide, &wide);
    REFUSES_SUCH("two widths",
                 attention_texts_check(&wide, 5, 4, &of_texts));
    attention_free(&wide);
    grad_self.key.weight = NULL;
    REFUSES_SUCH("a gradient without a weight",
                 linear_backward_fast(&self.key, 5, some_x, some_x,
                                      &grad_self.key, some_x));
}

int main(void)
{
    TAP("linear_backward_fast: there and back, any sizes",
        for (int k = 0; k < 30; k++) linear_case(k));
    EACH_SET("attention_backward_fast: there and back", "texts_*-x",
             texts_test(set));
    refused_texts();
    return tap_done();
}
