/* Chapter 18 against PyTorch's autograd, golden/18_backward. */
#define CHAPTER "18_backward"
#include "traces.h"
#include "gradients.h"
#include "wrong.h"
#include "attention/18_backward.h"
#include "attention/13_multi_head.h"

/* What was added, which is made of sums of products of a set's numbers. */
static void close_to(const char *what, float *got)
{
    adds_up(what, got, 1e-5, 2e-6);
}

/* ---- Each operation against autograd. */

static void dot_scores_test(void)
{
    float *grad_query = begins("g_query"), *grad_key = begins("g_key");
    dot_scores_backward(dim("query", 0), dim("key", 0), dim("query", 1),
                        input("query"), input("key"),
                        input_as("g_scores", "g"), (void *)grad_query,
                        (void *)grad_key);
    close_to("g_query", grad_query);
    close_to("g_key", grad_key);
}

static void matmul_test(void)
{
    float *grad_a = begins("g_a"), *grad_b = begins("g_b");
    matmul_backward(dim("a", 0), dim("b", 1), dim("a", 1), input("a"),
                    input("b"), input_as("g_product", "g"), (void *)grad_a,
                    (void *)grad_b);
    close_to("g_a", grad_a);
    close_to("g_b", grad_b);
}

/* Of a set named bare the layer has no bias. */
static void linear_test(void)
{
    const bool has_bias = strncmp(sets_now, "bare", 4) != 0;
    const Linear l = {dim("weight", 1), dim("weight", 0),
                      input_as("l->weight", "weight"),
                      has_bias ? input_as("l->bias", "bias") : NULL};
    float *weight = begins("g_weight"), *grad_x = begins("g_x");
    float *bias = has_bias ? begins("g_bias") : NULL;
    Linear grad_l = {l.d_in, l.d_out, weight, bias};
    if (!has_bias)
        give("l->bias = NULL");
    give("n = %d, d_in = %d, d_out = %d", dim("x", 0), l.d_in, l.d_out);
    linear_backward(&l, dim("x", 0), input("x"), input_as("g_out", "g"),
                    &grad_l, (void *)grad_x);
    close_to("g_x", grad_x);
    close_to("g_weight", weight);
    if (has_bias)
        close_to("g_bias", bias);
    tap_true("no table is exchanged",
             grad_l.weight == weight && grad_l.bias == bias);
}

static void softmax_test(void)
{
    float *grad_scores = begins("g_scores");
    softmax_backward(dim("weights", 0), input("weights"),
                     input("g_weights"), grad_scores);
    close_to("g_scores", grad_scores);
}

static void mask_test(void)
{
    float *grad_scores = input_as("g_scores", "g");
    float *got = result("g");
    memcpy(got, grad_scores, part("g")->count * sizeof *got);
    mask_backward(dim("g", 0), dim("g", 1), input("scores"), (void *)got);
    agrees("g_scores", got, 0, 0);
}

static void embed_test(void)
{
    const int *ids = ints_of("ids");
    give_ints("ids", dim("ids", 0), ids);
    give("rows = %d", dim("g_table", 0));
    float *grad_table = begins("g_table");
    embed_backward(dim("g_x", 0), dim("g_x", 1), dim("g_table", 0), ids,
                   input("g_x"), (void *)grad_table);
    close_to("g_table", grad_table);
}

static void cosine_test(void)
{
    float *grad_a = begins("g_a"), *grad_b = begins("g_b");
    cosine_backward(dim("a", 0), input("a"), input("b"),
                    (float)number("g_cosine", "g"), grad_a, grad_b);
    close_to("g_a", grad_a);
    close_to("g_b", grad_b);
}

/* ---- A head, and an attention. */

static void attend_test(void)
{
    const char *const name[6] = {"g_dropped", "g_weights", "g_scores",
                                 "g_query",   "g_key",     "g_value"};
    float *g[6];
    for (int i = 0; i < 6; i++) /* three are written, three added to */
        g[i] = i < 3 ? result(name[i]) : begins(name[i]);
    attend_backward(dim("query", 0), dim("key", 0), dim("query", 1),
                    dim("value", 1), number("rate", "rate"), input("query"),
                    input("key"), input("value"), input("scores"),
                    input("weights"), input("kept"), input("dropped"),
                    input("g_context"), (void *)g[0], (void *)g[1],
                    (void *)g[2], (void *)g[3], (void *)g[4], (void *)g[5]);
    for (int i = 0; i < 6; i++)
        agrees(name[i], g[i], 1e-5, 5e-6);
}

/* Entry b of a table that is given to a trace. */
static void set_entry(float *table, const Tensor *batch, int b)
{
    const Tensor one = entry_of(batch, b);
    memcpy(table, one.data, one.count * sizeof *table);
}

/* The tables of a gradient's trace that are answers. */
static void close_gradients(const Trace *g, int d_out, int b)
{
    float *table[13];
    size_t count[13];
    tables(g, table, count);
    for (int i = 0; i < 13; i++) {
        const char *name = i == 10 ? "head_context" : table_name[i];
        const bool is_kept = i == 8, is_given = i == (d_out ? 12 : 11);
        for (size_t k = 0; is_kept && k < count[i]; k++)
            tap_near("kept, which is left", table[i][k], unset, 0, 0);
        if (table[i] && !is_kept && !is_given)
            close_entry(tap_words("g->%s", table_name[i]),
                        tap_words("g_%s", name), b, table[i], 1e-5, 5e-6);
    }
}

/* A batch of two, one after the other: what they do to the parameters adds
 * up. */
static void attention_test(void)
{
    Random r;
    Mask mask;
    Attention a = given(&mask, &r), grad_a;
    const bool is_same = !strcmp(sets_now, "given_itself");
    const Tensor *x = part("x"), *y = is_same ? x : part("y");
    const int n = x->shape[1], m = y->shape[1];
    attention_init(&grad_a, &a);
    for (int b = 0; b < 2; b++) {
        Trace t = guarded_trace(&a, n, m), g = guarded_trace(&a, n, m);
        void *x_b = told_entry("x", x, b);
        void *y_b = is_same ? x_b : told_entry("y", y, b);
        const size_t of_x = (size_t)(n * a.d_x), of_y = (size_t)(m * a.d_y);
        float *grad_x = begun("g_x", of_x, 1);
        float *grad_y = is_same ? grad_x : begun("g_y", of_y, 1);
        attention_forward(&a, mask, &r, n, m, x_b, y_b, &t);
        set_entry(a.d_out ? g.out : g.joined, part("g"), b);
        attention_backward(&a, n, m, x_b, y_b, &t, &g, &grad_a,
                           (void *)grad_x, (void *)grad_y);
        close_gradients(&g, a.d_out, b);
        close_entry("g_x", "g_x", b, less(of_x, grad_x, 1), 1e-5, 5e-6);
        if (!is_same)
            close_entry("g_y", "g_y", b, less(of_y, grad_y, 1), 1e-5, 5e-6);
    }
    agrees("g_parameters", grad_a.memory, 1e-5, 1e-5);
    attention_free(&a);
    attention_free(&grad_a);
}

/* ---- What is refused. */

static void linear_refused(void)
{
    static float many[9], few[3], grad_x[1][3];
    const Linear layer = {3, 2, many, few}, bare = {3, 2, many, NULL};
    const struct {
        const char *words, *line;
        Linear layer, gradient;
    } wrong[] = {
        {"a gradient with one column more",
         "attention_object.c: linear_gradient_check: a gradient from 4 to "
         "2 numbers, of a layer from 3 to 2: the same are needed",
         layer,
         {4, 2, many, few}},
        {"a gradient with one row more", NULL, layer, {3, 3, many, few}},
        {"a gradient without the bias",
         "attention_object.c: linear_gradient_check: a gradient with a "
         "weight and no bias, of a layer with a bias: a weight, and the "
         "same of the bias, are needed",
         layer, bare},
        {"a gradient with a bias, where the layer has none", NULL, bare,
         layer},
        {"a gradient without a weight", NULL, layer, {3, 2, NULL, few}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Linear gradient = wrong[i].gradient;
        TAP_REFUSES("linear_backward", wrong[i].words, NULL,
                    linear_backward(&wrong[i].layer, 1, grad_x, (void *)few,
                                    &gradient, grad_x));
        if (wrong[i].line)
            TAP_REFUSES("linear_gradient_check", wrong[i].words,
                        wrong[i].line,
                        linear_gradient_check(&wrong[i].layer, &gradient));
    }
}

static void lists_refused(void)
{
    static const float none[2] = {0, -0.0f}, some[2] = {1, 2};
    static float g[2], h[2], x[2][3], table[4][3], one[1][1];
    REFUSES_SUCH("an id of -1",
                 embed_backward(2, 3, 4, (int[]){0, -1}, x, table));
    REFUSES_SUCH("an id of 4, of 4 rows",
                 embed_backward(2, 3, 4, (int[]){4, 0}, x, table));
    REFUSES_SUCH("a list of zeros for a",
                 cosine_backward(2, none, some, 1, g, h));
    REFUSES_SUCH("a list of zeros for b",
                 cosine_backward(2, some, none, 1, g, h));
#define ONES                                                               \
    one, one, one, one, one, one, one, one, one, one, one, one, one, one
    REFUSES_SUCH("a rate of 1.5", attend_backward(1, 1, 1, 1, 1.5, ONES));
    REFUSES_SUCH("a rate that is no number",
                 attend_backward(1, 1, 1, 1, (double)NAN, ONES));
}

/* An attention with all there is, its trace, and gradients for both, of
 * which one size is changed by hand; or of which a layer has no bias. */
static Attention grad_fit;
static Trace grad_trace;

static void attention_with(int *size, int value)
{
    fit.has_bias = fit.has_out_bias = 1;
    fitting(2, 3);
    attention_init(&grad_fit, &fit);
    trace_init_for(&grad_trace, &fit, 5, 6);
    *size = value;
    attention_backward(&fit, 5, 6, fit_x, fit_y, &fit_trace, &grad_trace,
                       &grad_fit, fit_x, fit_y);
}

static const Wrong wrong_sizes[] = {
    {"a trace for 5 keys, where there are 6", NULL, &fit_trace.m, 5},
    {"a gradient's trace for 5 keys", NULL, &grad_trace.m, 5},
    {"a gradient's trace with another output", NULL, &grad_trace.d_out, 4},
    {"a layer that is too narrow", NULL, &fit.key.d_out, 9},
    {"more tokens than the context length", NULL, &fit.context_length, 5},
};
static const Wrong wrong_gradient[] = {
    {"a gradient's layer that is too narrow", NULL, &grad_fit.key.d_out, 9},
    {"a gradient's query that is too narrow", NULL, &grad_fit.query.d_out,
     9},
    {"a gradient's value that is too narrow", NULL, &grad_fit.value.d_out,
     9},
    {"a gradient's output that is too narrow", NULL, &grad_fit.out.d_out,
     9},
    {"a gradient for wider texts", NULL, &grad_fit.d_x, 4},
    {"a gradient for wider texts that are asked", NULL, &grad_fit.d_y, 3},
    {"a gradient of more heads",
     "attention_object.c: attention_gradient_check: a gradient of d_x, "
     "d_y, n_heads, d_k, d_v, d_out = 3, 2, 3, 4, 2, 3: 3, 2, 2, 4, 2, 3 "
     "are needed",
     &grad_fit.n_heads, 3},
    {"a gradient of other keys", NULL, &grad_fit.d_k, 3},
    {"a gradient of other values", NULL, &grad_fit.d_v, 3},
    {"a gradient of another output", NULL, &grad_fit.d_out, 4},
};

int main(void)
{
    EACH("dot_scores_backward", dot_scores_test, "scores_*-query");
    EACH("matmul_backward", matmul_test, "product_*-a");
    adds("dot_scores_backward", dot_scores_test, "scores_2x3x4");
    adds("matmul_backward", matmul_test, "product_2x3x4");
    EACH("linear_backward", linear_test, "linear_*-bias");
    EACH("linear_backward", linear_test, "bare_*-weight");
    adds("linear_backward", linear_test, "linear_2x3x4");
    EACH("softmax_backward", softmax_test, "softmax_*-weights");
    adds("softmax_backward", softmax_test, "softmax_3");
    EACH("mask_backward", mask_test, "mask_*-g");
    EACH("attend_backward", attend_test, "attend_*-query");
    EACH("attention_backward", attention_test, "given_*-sizes");
    EACH("embed_backward", embed_test, "embed_*-ids");
    adds("embed_backward", embed_test, "embed_twice");
    EACH("cosine_backward", cosine_test, "cosine_*-a");
    adds("cosine_backward", cosine_test, "cosine_2_3");
    linear_refused();
    lists_refused();
    REFUSES_EACH("attention_backward", attention_with, wrong_sizes);
    REFUSES_EACH("attention_gradient_check", attention_with,
                 wrong_gradient);
    return tap_done();
}
