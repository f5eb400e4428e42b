/* src/layers.c against PyTorch's autograd, golden/layers, and against
 * chapters 7 and 18. */
#define CHAPTER "layers"
#include "calls.h"
#include "traces.h"
#include "gradients.h"
#include "wrong.h"
#include "attention/18_backward.h"
#include "attention/layers.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

/* ---- Linear layers, and whole attentions. */

/* There and back, as chapters 7 and 18; gradients are added to. Sums over
 * up to 331 rows, in another order: 8.7e-6 was measured. */
/* A layer of any size, with a bias each second time, and what is added to. */
typedef struct {
    Linear layer, got, due;
    int n;
    size_t weights, of_x, of_y;
    float *x, *grad_y, *grad_x, *due_x;
} AnyLayer;

static AnyLayer any_layer(int k)
{
    Random r = seeded(19500 + k);
    AnyLayer a = {.n = k % 3 ? any_size(&r, 60) : 250 + 3 * k};
    Linear *l = &a.layer;
    l->d_in = any_size(&r, 60), l->d_out = any_size(&r, 130);
    a.weights = (size_t)(l->d_in * l->d_out);
    a.of_x = (size_t)(a.n * l->d_in), a.of_y = (size_t)(a.n * l->d_out);
    a.x = room_for("x", a.of_x), a.grad_y = room_for("g_y", a.of_y);
    a.got = a.due = *l;
    l->weight = room_for("weight", a.weights);
    uniform_fill(&r, a.n, l->d_in, -1, 1, (void *)a.x);
    uniform_fill(&r, a.n, l->d_out, -1, 1, (void *)a.grad_y);
    uniform_fill(&r, l->d_out, l->d_in, -1, 1, (void *)l->weight);
    a.got.weight = begun("g_weight", a.weights, 2);
    a.due.weight = begun("due", a.weights, 2);
    if (k % 2) {
        l->bias = room_for("bias", (size_t)l->d_out);
        uniform_fill(&r, 1, l->d_out, -1, 1, (void *)l->bias);
        a.got.bias = begun("g_bias", (size_t)l->d_out, 3);
        a.due.bias = begun("due", (size_t)l->d_out, 3);
    }
    a.grad_x = begun("g_x", a.of_x, 1), a.due_x = begun("due", a.of_x, 1);
    give("n = %d, l->d_in = %d, l->d_out = %d, %s bias", a.n, l->d_in,
         l->d_out, l->bias ? "a" : "no");
    return a;
}

static void linear_test(void)
{
    for (int k = 0; k < 30; k++) {
        next_case();
        AnyLayer a = any_layer(k);
        const Linear *l = &a.layer;
        float *y = room_for("y", a.of_y), *due_y = room(a.of_y);
        linear_forward(l, a.n, (void *)a.x, (void *)due_y);
        linear_forward_fast(l, a.n, (void *)a.x, (void *)y);
        similar("y", a.of_y, y, due_y, 0, 2e-6);
        linear_backward(l, a.n, (void *)a.x, (void *)a.grad_y, &a.due,
                        (void *)a.due_x);
        linear_backward_fast(l, a.n, (void *)a.x, (void *)a.grad_y, &a.got,
                             (void *)a.grad_x);
        similar("g_x", a.of_x, a.grad_x, a.due_x, 1e-6, ATOL);
        similar("g_weight", a.weights, a.got.weight, a.due.weight, 1e-6,
                2e-5);
        if (l->bias)
            similar("g_bias", (size_t)l->d_out, a.got.bias, a.due.bias,
                    1e-6, ATOL);
        close_rooms();
    }
}

/* The attention of a set, and what it may see. */
static Attention attention_of_set(Mask *mask)
{
    const int64_t *size = integers("sizes");
    Attention a = {.d_x = (int)size[0],
                   .d_y = (int)size[0],
                   .n_heads = (int)size[1],
                   .d_k = (int)size[2],
                   .d_v = (int)size[3],
                   .d_out = (int)size[4],
                   .has_bias = (int)size[5],
                   .has_out_bias = (int)size[6]};
    attention_init(&a, &a);
    memcpy(a.memory, input("parameters"), a.count * sizeof(float));
    *mask = strcmp(sets_now, "texts_table")
                ? mask_causal((int)number("first", "first"))
                : mask_table(dim("mask", 0), dim("mask", 1), input("mask"));
    return a;
}

/* There and back, twice: tables are written, gradients added to. */
static void texts_test(void)
{
    Mask mask;
    Attention a = attention_of_set(&mask), grad_a;
    const int texts = dim("x", 0), n = dim("x", 1);
    const size_t of_x = part("x")->count;
    Trace t, g;
    attention_init(&grad_a, &a);
    trace_init_texts(&t, &a, texts, n);
    trace_init_texts(&g, &a, texts, n);
    tell_attention(&a, mask);
    for (int twice = 0; twice < 2; twice++) {
        float *grad_x = begun("g_x", of_x, 1);
        memcpy(grad_a.memory, begun("g_parameters", a.count, 1),
               a.count * sizeof(float));
        attention_forward_fast(&a, mask, texts, n, input("x"), &t);
        tap_close(a.d_out ? "out" : "joined", part("out"),
                  a.d_out ? t.out : t.joined, 1e-5, 2e-6);
        agrees("log_sum", t.log_sum_exp, 1e-6, 2e-6);
        memcpy(a.d_out ? g.out : g.joined, input("g"),
               part("g")->count * sizeof(float));
        attention_backward_fast(&a, mask, texts, n, input("x"), &t, &g,
                                &grad_a, (void *)grad_x);
        agrees("g_x", less(of_x, grad_x, 1), 1e-5, 5e-6);
        agrees("g_parameters", less(a.count, grad_a.memory, 1), 1e-5, 1e-5);
    }
    trace_free(&t);
    trace_free(&g);
    attention_free(&a);
    attention_free(&grad_a);
}

/* ---- What is refused. */

/* An attention for texts, its gradient, and their traces, of which one size
 * is changed by hand; or how many texts of n tokens it is given, and with
 * what mask. */
static Attention self, grad_self;
static Trace of_texts, grad_texts;
static int all_texts, all_n, mask_columns;
static void *const some_x = (float[5 * 4 * 3]){0};

static Mask change(int *size, int value)
{
    static const float table[4][5];
    self = (Attention){
        .d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 1, .d_out = 4};
    all_texts = 5;
    all_n = mask_columns = 4;
    attention_init(&self, &self);
    attention_init(&grad_self, &self);
    trace_init_texts(&of_texts, &self, 5, 4);
    trace_init_texts(&grad_texts, &self, 5, 4);
    *size = value;
    return mask_table(4, mask_columns, (const void *)table);
}

static void forward_with(int *size, int value)
{
    const Mask mask = change(size, value);
    attention_forward_fast(&self, mask, all_texts, all_n, some_x,
                           &of_texts);
}

static void backward_with(int *size, int value)
{
    const Mask mask = change(size, value);
    attention_backward_fast(&self, mask, all_texts, all_n, some_x,
                            &of_texts, &grad_texts, &grad_self, some_x);
}

static const Wrong wrong[] = {
    {"no texts", NULL, &all_texts, 0},
    {"a trace of no texts",
     "attention_object.c: attention_texts_check: 5 texts, and a trace of "
     "0: at least 1, and the same, are needed",
     &of_texts.texts, 0},
    {"a trace of 4 texts", NULL, &of_texts.texts, 4},
    {"a trace for 3 tokens", NULL, &of_texts.n, 3},
    {"a layer of another size", NULL, &self.key.d_in, 9},
    {"two widths", NULL, &self.d_y, 4},
    {"4 tokens for a context length of 3", NULL, &self.context_length, 3},
    {"more tokens than an int can count", NULL, &all_n, 1 << 30},
    {"a mask of another size", NULL, &mask_columns, 5},
};
static const Wrong wrong_gradient[] = {
    {"a gradient's trace of 4 texts", NULL, &grad_texts.texts, 4},
    {"a gradient of other heads", NULL, &grad_self.n_heads, 1},
};

static void check_traces(int texts, int n)
{
    trace_init(&(Trace){0}, &(Trace){.texts = texts,
                                     .n = n,
                                     .m = 1,
                                     .n_heads = 1,
                                     .d_k = 1,
                                     .d_v = 1});
}

static void refused_texts(void)
{
    REFUSES_EACH("attention_forward_fast", forward_with, wrong);
    REFUSES_EACH("attention_backward_fast", backward_with, wrong);
    REFUSES_EACH("attention_backward_fast", backward_with, wrong_gradient);
    change(&all_n, 4);
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
    Attention wide = {
        .d_x = 3, .d_y = 4, .n_heads = 2, .d_k = 2, .d_v = 1, .d_out = 4};
    attention_init(&wide, &wide);
    REFUSES_SUCH("two widths",
                 attention_texts_check(&wide, 5, 4, &of_texts));
    attention_free(&wide);
    REFUSES_SUCH("a gradient of another size",
                 linear_backward_fast(&self.key, 5, some_x, some_x,
                                      &grad_self.value, some_x));
    grad_self.key.weight = NULL;
    REFUSES_SUCH("a gradient without a weight",
                 linear_backward_fast(&self.key, 5, some_x, some_x,
                                      &grad_self.key, some_x));
}

int main(void)
{
    TAP(linear_test, "linear_forward_fast: there and back, any sizes");
    TAP(linear_test, "linear_backward_fast: there and back, any sizes");
    EACH("attention_backward_fast: there and back", texts_test,
         "texts_*-x");
    refused_texts();
    return tap_done();
}
