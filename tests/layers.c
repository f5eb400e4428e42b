/* src/kernel/layers.c against PyTorch's autograd, golden/layers, and against
 * chapters 7, 13 and 18. */
#define CHAPTER "layers"
#include "calls.h"
#include "attention/13_multi_head.h"
#include "attention/18_backward.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

/* ---- Linear layers, and whole attentions. */

/* Sums over up to 331 rows, in another order: 8.7e-6 was measured. */
static void linear_back_test(void)
{
    for (int k = 0; k < 30; k++) {
        next_case();
        Random r = seeded(19500 + k);
        const int n = k % 3 ? any_size(&r, 60) : 250 + 3 * k;
        const int has_bias = k % 2;
        const Linear l = {any_size(&r, 50), any_size(&r, 70), NULL, NULL};
        const size_t weights = (size_t)(l.d_in * l.d_out);
        const size_t columns = (size_t)l.d_out;
        float *x = room_for("x", (size_t)(n * l.d_in));
        float *grad_out = room_for("g_out", (size_t)n * columns);
        Linear given = l, got = l, due = l;
        given.weight = room_for("weight", weights);
        uniform_fill(&r, n, l.d_in, -1, 1, (void *)x);
        uniform_fill(&r, n, l.d_out, -1, 1, (void *)grad_out);
        uniform_fill(&r, l.d_out, l.d_in, -1, 1, (void *)given.weight);
        got.weight = begun("g_weight", weights, 2);
        due.weight = begun("due", weights, 2);
        if (has_bias) {
            given.bias = begun("bias", columns, 1);
            got.bias = begun("g_bias", columns, 3);
            due.bias = begun("due", columns, 3);
        }
        float *grad_x = begun("g_x", (size_t)(n * l.d_in), 1);
        float *due_x = begun("due", (size_t)(n * l.d_in), 1);
        give("n = %d, l->d_in = %d, l->d_out = %d, %s bias", n, l.d_in,
             l.d_out, has_bias ? "a" : "no");
        linear_backward(&given, n, (void *)x, (void *)grad_out, &due,
                        (void *)due_x);
        linear_backward_fast(&given, n, (void *)x, (void *)grad_out, &got,
                             (void *)grad_x);
        similar("g_x", (size_t)(n * l.d_in), grad_x, due_x, 1e-6, ATOL);
        similar("g_weight", weights, got.weight, due.weight, 1e-6, 2e-5);
        if (has_bias)
            similar("g_bias", columns, got.bias, due.bias, 1e-6, ATOL);
        close_rooms();
    }
}

/* The attention of a set, and a gradient for it that begins with `with`. */
static Attention given_texts(Mask *mask, Attention *grad_a)
{
    const int64_t *size = integers("sizes");
    Attention a;
    attention_init(&a, &(Attention){.d_x = (int)size[0],
                                    .d_y = (int)size[0],
                                    .n_heads = (int)size[1],
                                    .d_k = (int)size[2],
                                    .d_v = (int)size[3],
                                    .d_out = (int)size[4],
                                    .has_bias = (int)size[5],
                                    .has_out_bias = (int)size[6]});
    memcpy(a.memory, input("parameters"), a.count * sizeof(float));
    attention_init(grad_a, &a);
    *mask = strcmp(sets_now, "texts_table")
                ? mask_causal((int)number("first", "first"))
                : mask_table(dim("mask", 0), dim("mask", 1), input("mask"));
    return a;
}

static void texts_there(void)
{
    Mask mask;
    Attention grad_a, a = given_texts(&mask, &grad_a);
    const int texts = dim("x", 0), n = dim("x", 1);
    Trace t;
    trace_init_texts(&t, &a, texts, n);
    tell_attention(&a, mask);
    attention_forward_fast(&a, mask, texts, n, input("x"), &t);
    tap_close(a.d_out ? "out" : "joined", part("out"),
              a.d_out ? t.out : t.joined, 1e-5, 2e-6);
    agrees("log_sum", t.log_sum_exp, 1e-6, 2e-6);
    trace_free(&t);
    attention_free(&a);
    attention_free(&grad_a);
}

static void texts_and_back(void)
{
    Mask mask;
    Attention grad_a, a = given_texts(&mask, &grad_a);
    const int texts = dim("x", 0), n = dim("x", 1);
    Trace t;
    trace_init_texts(&t, &a, texts, n);
    Trace g;
    trace_init_texts(&g, &a, texts, n);
    float *grad_x = zeros("g_x", part("x")->count);
    tell_attention(&a, mask);
    attention_forward_fast(&a, mask, texts, n, input("x"), &t);
    for (int twice = 0; twice < 2; twice++) { /* what is written, is not
                                                 added to */
        memset(grad_x, 0, part("x")->count * sizeof *grad_x);
        memset(grad_a.memory, 0, grad_a.count * sizeof(float));
        memcpy(a.d_out ? g.out : g.joined, input("g"),
               part("g")->count * sizeof(float));
        attention_backward_fast(&a, mask, texts, n, input("x"), &t, &g,
                                &grad_a, (void *)grad_x);
    }
    agrees("g_x", grad_x, 1e-5, 5e-6);
    agrees("g_parameters", grad_a.memory, 1e-5, 1e-5);
    trace_free(&t);
    trace_free(&g);
    attention_free(&a);
    attention_free(&grad_a);
}

/* The same text by text, with the functions of chapters 13 and 18, for
 * widths that need several tiles. Everything is added to. */
static void texts_as_before(void)
{
    enum { TEXTS = 3, N = 37, D = 20, HEADS = 4, D_K = 9, D_V = 6 };
    Attention a;
    attention_init(&a, &(Attention){.d_x = D,
                                    .d_y = D,
                                    .n_heads = HEADS,
                                    .d_k = D_K,
                                    .d_v = D_V,
                                    .d_out = D,
                                    .has_bias = 1,
                                    .has_out_bias = 1});
    Attention got, due;
    attention_init(&got, &a);
    attention_init(&due, &a);
    tap_fill((int)a.count, a.memory, -0.5, 0.5);
    for (size_t i = 0; i < a.count; i++)
        got.memory[i] = due.memory[i] = 1;
    float *x = any_text(TEXTS * N, D);
    float *grad_x = begun("g_x", TEXTS * N * D, 1);
    float *due_x = begun("due", TEXTS * N * D, 1);
    Trace t;
    trace_init_texts(&t, &a, TEXTS, N);
    Trace g;
    trace_init_texts(&g, &a, TEXTS, N);
    tap_fill(TEXTS * N * D, g.out, -1, 1);
    attention_forward_fast(&a, mask_causal(0), TEXTS, N, (void *)x, &t);
    attention_backward_fast(&a, mask_causal(0), TEXTS, N, (void *)x, &t, &g,
                            &got, (void *)grad_x);
    Trace one, grad_one;
    trace_init_for(&one, &a, N, N);
    trace_init_for(&grad_one, &a, N, N);
    for (int k = 0; k < TEXTS; k++) {
        float *own = x + k * N * D, *own_g = due_x + k * N * D;
        attention_forward(&a, mask_causal(0), NULL, N, N, (void *)own,
                          (void *)own, &one);
        similar("out", N * D, t.out + k * N * D, one.out, 1e-5, ATOL);
        memcpy(grad_one.out, g.out + k * N * D, N * D * sizeof(float));
        attention_backward(&a, N, N, (void *)own, (void *)own, &one,
                           &grad_one, &due, (void *)own_g, (void *)own_g);
    }
    similar("g_x", TEXTS * N * D, grad_x, due_x, 1e-5, 1e-5);
    similar("g_a", a.count, got.memory, due.memory, 1e-5, 5e-5);
    trace_free(&t);
    trace_free(&g);
    trace_free(&one);
    trace_free(&grad_one);
    attention_free(&a);
    attention_free(&got);
    attention_free(&due);
}

/* One block for its six tables, each entry of which is 0 and belongs to
 * one. */
static void trace_test(void)
{
    for (int round = 0; round < 30; round++) {
        const int texts = tap_int(1, 4), n = tap_int(1, 6);
        Attention a = any_attention(tap_int(1, 4), tap_int(0, 6));
        Trace t;
        trace_init_texts(&t, &a, texts, n);
        const int rows = texts * n, heads = a.n_heads;
        const struct {
            float *at;
            int count;
        } table[6] = {
            {t.query, rows * heads * a.d_k},  {t.key, rows * heads * a.d_k},
            {t.value, rows * heads * a.d_v},  {t.log_sum_exp, rows * heads},
            {t.joined, rows * heads * a.d_v}, {t.out, rows * a.d_out}};
        size_t sum = 0;
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < table[i].count; k++)
                table[i].at[k]++;
            sum += (size_t)table[i].count;
        }
        tap_near("count", (double)t.count, (double)sum, 0, 0);
        for (size_t k = 0; k < sum; k++)
            tap_near("tables with this entry", t.memory[k], 1, 0, 0);
        tap_true("no table of scores", !t.scores && !t.weights &&
                                           !t.keep_mask && !t.dropped &&
                                           !t.context && !t.head_query &&
                                           !t.head_key && !t.head_value);
        tap_true("sizes", t.texts == texts && t.n == n && t.m == n);
        trace_free(&t);
        attention_free(&a);
    }
}

static void texts_fit(void)
{
    Attention a = any_attention(2, 3);
    a.d_y = a.d_x;
    attention_free(&a);
    a = (Attention){.d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 2};
    a.context_length = 4;
    attention_init(&a, &a);
    Trace t;
    trace_init_texts(&t, &a, 5, 4);
    attention_texts_check(&a, 5, 4, &t);
    a.context_length = 0;
    attention_texts_check(&a, 5, 4, &t);
    tap_true("they fit", true);
    trace_free(&t);
    attention_free(&a);
}

/* ---- linear_forward_fast */

static void linear_forward_test(void)
{
    for (int s = 0; s < 20; s++) {
        next_case();
        Random r = seeded(1800 + s);
        const int n = any_size(&r, 60);
        Linear l = {.d_in = any_size(&r, 60), .d_out = any_size(&r, 130)};
        const size_t count = (size_t)(n * l.d_out);
        l.weight = room_for("weight", (size_t)(l.d_in * l.d_out));
        l.bias = s % 2 ? room_for("bias", (size_t)l.d_out) : NULL;
        float *x = room_for("x", (size_t)(n * l.d_in));
        float *y = room_for("y", count), *due = room(count);
        uniform_fill(&r, n, l.d_in, -1, 1, (void *)x);
        uniform_fill(&r, l.d_out, l.d_in, -1, 1, (void *)l.weight);
        if (l.bias)
            uniform_fill(&r, 1, l.d_out, -1, 1, (void *)l.bias);
        give("n = %d, l->d_in = %d, l->d_out = %d, %s bias", n, l.d_in,
             l.d_out, l.bias ? "a" : "no");
        linear_forward(&l, n, (void *)x, (void *)due);
        linear_forward_fast(&l, n, (void *)x, (void *)y);
        similar("y", count, y, due, 0, 2e-6);
        close_rooms();
    }
}

/* ---- What is refused. */

/* An attention for texts that fits, its gradient, and their traces. */
static Attention self = {
    .d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 1, .d_out = 4};
static Attention grad_self;
static Trace of_texts, grad_texts;
static void *const some_x = (float[5 * 4 * 3]){0};

static const Attention *self_but(int *size, int value)
{
    attention_init(&self, &self);
    attention_init(&grad_self, &self);
    trace_init_texts(&of_texts, &self, 5, 4);
    trace_init_texts(&grad_texts, &self, 5, 4);
    if (size)
        *size = value;
    return &self;
}

#define THERE mask_none(), 5, 4, some_x, &of_texts
#define BACK                                                               \
    mask_none(), 5, 4, some_x, &of_texts, &grad_texts, &grad_self, some_x

static void refused_texts(void)
{
    const float table[2][3] = {{0}};
    REFUSES(
        "layers.c: attention_texts_check: 5 texts, and a trace of 0: at "
        "least 1, and the same, are needed",
        attention_texts_check(self_but(&of_texts.texts, 0), 5, 4,
                              &of_texts));
    REFUSES_SUCH("no texts",
                 attention_texts_check(self_but(&of_texts.texts, 0), 0, 4,
                                       &of_texts));
    REFUSES_SUCH("a layer of another size",
                 attention_texts_check(self_but(&self.key.d_in, 9), 5, 4,
                                       &of_texts));
    REFUSES_SUCH("two widths", attention_texts_check(self_but(&self.d_y, 4),
                                                     5, 4, &of_texts));
    REFUSES_SUCH("4 tokens for a context length of 3",
                 attention_texts_check(self_but(&self.context_length, 3), 5,
                                       4, &of_texts));
    REFUSES_SUCH(
        "a trace for 3 tokens",
        attention_texts_check(self_but(&of_texts.n, 3), 5, 4, &of_texts));
    REFUSES("layers.c: trace_init_texts: 0 texts: at least 1 is needed",
            trace_init_texts(&(Trace){0}, self_but(NULL, 0), 0, 4));
    REFUSES("objects.c: trace_init: texts = -1: at least 0 is needed",
            trace_init(&(Trace){0},
                       (self_but(&of_texts.texts, -1), &of_texts)));
    REFUSES("objects.c: trace_init: 65536 texts of 32768 tokens that ask "
            "and 1 that are asked: at most 2147483647 of all texts are "
            "needed",
            trace_init(&(Trace){0}, &(Trace){.texts = 1 << 16,
                                             .n = 1 << 15,
                                             .m = 1,
                                             .n_heads = 1,
                                             .d_k = 1,
                                             .d_v = 1}));
    REFUSES_SUCH("more tokens than an int can count",
                 attention_forward_fast(self_but(NULL, 0), mask_none(),
                                        1 << 16, 1 << 16, some_x,
                                        &of_texts));
    REFUSES_SUCH("more tokens than an int can count",
                 attention_backward_fast(
                     self_but(NULL, 0), mask_none(), 1 << 16, 1 << 16,
                     some_x, &of_texts, &grad_texts, &grad_self, some_x));
    REFUSES("objects.c: trace_check: a trace of 5 texts, without tables "
            "of scores: one whose texts is 0 is needed",
            trace_check((self_but(NULL, 0), &of_texts), 4, 4, 2, 2, 1, 4));
    REFUSES_SUCH(
        "a trace of 4 texts",
        attention_forward_fast(self_but(&of_texts.texts, 4), THERE));
    REFUSES_SUCH("a mask of another size",
                 attention_forward_fast(self_but(NULL, 0),
                                        mask_table(2, 3, table), 5, 4,
                                        some_x, &of_texts));
    REFUSES_SUCH(
        "a trace of 4 texts",
        attention_backward_fast(self_but(&of_texts.texts, 4), BACK));
    REFUSES_SUCH(
        "a gradient's trace of 4 texts",
        attention_backward_fast(self_but(&grad_texts.texts, 4), BACK));
    REFUSES_SUCH(
        "a gradient of other heads",
        attention_backward_fast(self_but(&grad_self.n_heads, 1), BACK));
    REFUSES_SUCH("a mask of another size",
                 attention_backward_fast(
                     self_but(NULL, 0), mask_table(2, 3, table), 5, 4,
                     some_x, &of_texts, &grad_texts, &grad_self, some_x));
    REFUSES_SUCH(
        "a gradient of another size",
        linear_backward_fast((self_but(&grad_self.key.d_out, 1), &self.key),
                             5, some_x, some_x, &grad_self.key, some_x));
}

int main(void)
{
    TAP(linear_forward_test, "linear_forward_fast: as linear_forward");
    TAP(linear_back_test, "linear_backward_fast: as linear_backward");
    EACH("attention_forward_fast", texts_there, "texts_*-x");
    EACH("attention_backward_fast", texts_and_back, "texts_*-x");
    TAP(texts_as_before, "attention_backward_fast: as text by text");
    TAP(trace_test, "trace_init_texts: six tables in one block");
    TAP(texts_fit, "attention_texts_check: what fits");
    refused_texts();
    return tap_done();
}
