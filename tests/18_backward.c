/* Chapter 18 against PyTorch's autograd, golden/18_backward. */
#define CHAPTER "18_backward"
#include "traces.h"
#include "attention/18_backward.h"
#include "attention/13_multi_head.h"

/* What was added, which is made of sums of products of a set's numbers. */
static void close_to(const char *set, float start, const char *what,
                     float *got)
{
    expect_added(what, got, set, start, 1e-5, 2e-6);
}

/* ---- Each operation against autograd. */

static void dot_scores_test(const char *set, float start)
{
    float *grad_query = gradient_for(set, "g_query", start),
          *grad_key = gradient_for(set, "g_key", start);
    dot_scores_backward(dim(set, "query", 0), dim(set, "key", 0),
                        dim(set, "query", 1), input(set, "query"),
                        input(set, "key"), input_as(set, "g", "g_scores"),
                        (void *)grad_query, (void *)grad_key);
    close_to(set, start, "g_query", grad_query);
    close_to(set, start, "g_key", grad_key);
}

static void matmul_test(const char *set, float start)
{
    float *grad_a = gradient_for(set, "g_a", start),
          *grad_b = gradient_for(set, "g_b", start);
    matmul_backward(dim(set, "a", 0), dim(set, "b", 1), dim(set, "a", 1),
                    input(set, "a"), input(set, "b"),
                    input_as(set, "g", "g_product"), (void *)grad_a,
                    (void *)grad_b);
    close_to(set, start, "g_a", grad_a);
    close_to(set, start, "g_b", grad_b);
}

/* Of a set named bare the layer has no bias. */
static void linear_test(const char *set, float start)
{
    const bool has_bias = strncmp(set, "bare", 4) != 0;
    const Linear l = {dim(set, "weight", 1), dim(set, "weight", 0),
                      input_as(set, "weight", "l->weight"),
                      has_bias ? input_as(set, "bias", "l->bias") : NULL};
    float *weight = gradient_for(set, "g_weight", start),
          *grad_x = gradient_for(set, "g_x", start);
    float *bias = has_bias ? gradient_for(set, "g_bias", start) : NULL;
    Linear grad_l = {l.d_in, l.d_out, weight, bias};
    if (!has_bias)
        given("l->bias = NULL");
    given("n = %d, d_in = %d, d_out = %d", dim(set, "x", 0), l.d_in,
          l.d_out);
    linear_backward(&l, dim(set, "x", 0), input(set, "x"),
                    input_as(set, "g", "g_out"), &grad_l, (void *)grad_x);
    close_to(set, start, "g_x", grad_x);
    close_to(set, start, "g_weight", weight);
    if (has_bias)
        close_to(set, start, "g_bias", bias);
    expect_true("no table is exchanged",
                grad_l.weight == weight && grad_l.bias == bias);
}

static void softmax_test(const char *set, float start)
{
    float *grad_scores = gradient_for(set, "g_scores", start);
    softmax_backward(dim(set, "weights", 0), input(set, "weights"),
                     input(set, "g_weights"), grad_scores);
    close_to(set, start, "g_scores", grad_scores);
}

static void mask_test(const char *set)
{
    float *grad_scores = input_as(set, "g", "g_scores");
    float *got = guarded("g", golden_count(set, "g"));
    memcpy(got, grad_scores, golden(set, "g")->count * sizeof *got);
    mask_backward(dim(set, "g", 0), dim(set, "g", 1), input(set, "scores"),
                  (void *)got);
    expect_close("g_scores", got, golden(set, "g_scores"), 0, 0);
}

static void embed_test(const char *set, float start)
{
    const int *ids = golden_ints(set, "ids");
    given_array("ids", ids, dim(set, "ids", 0));
    given("rows = %d", dim(set, "g_table", 0));
    float *grad_table = gradient_for(set, "g_table", start);
    embed_backward(dim(set, "g_x", 0), dim(set, "g_x", 1),
                   dim(set, "g_table", 0), ids, input(set, "g_x"),
                   (void *)grad_table);
    close_to(set, start, "g_table", grad_table);
}

static void cosine_test(const char *set, float start)
{
    float *grad_a = gradient_for(set, "g_a", start),
          *grad_b = gradient_for(set, "g_b", start);
    cosine_backward(dim(set, "a", 0), input(set, "a"), input(set, "b"),
                    (float)input_number(set, "g", "g_cosine"), grad_a,
                    grad_b);
    close_to(set, start, "g_a", grad_a);
    close_to(set, start, "g_b", grad_b);
}

/* ---- A head, and an attention. */

static void attend_test(const char *set, float start)
{
    const char *const name[6] = {"g_dropped", "g_weights", "g_scores",
                                 "g_query",   "g_key",     "g_value"};
    float *g[6];
    for (int i = 0; i < 6; i++) /* three are written, three added to */
        g[i] = i < 3 ? guarded(name[i], golden_count(set, name[i]))
                     : gradient_for(set, name[i], start);
    attend_backward(dim(set, "query", 0), dim(set, "key", 0),
                    dim(set, "query", 1), dim(set, "value", 1),
                    input_number(set, "rate", "rate"), input(set, "query"),
                    input(set, "key"), input(set, "value"),
                    input(set, "scores"), input(set, "weights"),
                    input(set, "kept"), input(set, "dropped"),
                    input(set, "g_context"), (void *)g[0], (void *)g[1],
                    (void *)g[2], (void *)g[3], (void *)g[4], (void *)g[5]);
    for (int i = 0; i < 6; i++)
        expect_close(name[i], g[i], golden(set, name[i]), 1e-5, 5e-6);
}

/* Entry b of a table that is given to a trace. */
static void set_entry(float *table, const Tensor *batch, int b)
{
    const Tensor one = tensor_entry(batch, b);
    memcpy(table, one.data, one.count * sizeof *table);
}

/* The tables of a gradient's trace that are answers. */
static void close_gradients(const char *set, Trace *g, int d_out, int b)
{
    TraceTable table[TRACE_TABLES];
    trace_tables(g, table);
    for (int i = 0; i < TRACE_TABLES; i++) {
        const float *x = *table[i].at;
        const char *name = i == 10 ? "context" : table[i].name;
        const bool is_kept = i == 8, is_given = i == (d_out ? 12 : 11);
        for (size_t k = 0; is_kept && k < table[i].count; k++)
            expect_equal("kept, which is left", x[k], unset);
        if (x && !is_kept && !is_given)
            expect_entry(tap_words("g->%s", name), x, set,
                         tap_words("g_%s", table[i].name), b, 1e-5, 5e-6);
    }
}

/* A batch of two, one after the other: what they do to the parameters adds
 * up. */
static void attention_test(const char *set)
{
    Random r;
    Mask mask;
    Attention a = golden_attention(set, &mask, &r), grad_a;
    const bool is_same = !strcmp(set, "given_itself");
    const Tensor *x = golden(set, "x"), *y = is_same ? x : golden(set, "y");
    const int n = x->shape[1], m = y->shape[1];
    attention_init(&grad_a, &a);
    for (int b = 0; b < 2; b++) {
        Trace t = guarded_trace(&a, n, m), g = guarded_trace(&a, n, m);
        void *x_b = input_entry(set, "x", b);
        void *y_b = is_same ? x_b : input_entry(set, "y", b);
        const size_t of_x = (size_t)(n * a.d_x), of_y = (size_t)(m * a.d_y);
        float *grad_x = guarded_filled("g_x", of_x, 1);
        float *grad_y = is_same ? grad_x : guarded_filled("g_y", of_y, 1);
        attention_forward(&a, mask, &r, n, m, x_b, y_b, &t);
        set_entry(a.d_out ? g.out : g.joined, golden(set, "g"), b);
        attention_backward(&a, n, m, x_b, y_b, &t, &g, &grad_a,
                           (void *)grad_x, (void *)grad_y);
        close_gradients(set, &g, a.d_out, b);
        expect_entry("g_x", subtract(of_x, grad_x, 1), set, "g_x", b, 1e-5,
                     5e-6);
        if (!is_same)
            expect_entry("g_y", subtract(of_y, grad_y, 1), set, "g_y", b,
                         1e-5, 5e-6);
    }
    expect_close("g_parameters", grad_a.memory, golden(set, "g_parameters"),
                 1e-5, 1e-5);
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
    EACH_SET("dot_scores_backward", "scores_*-query",
             dot_scores_test(set, 0));
    EACH_SET("matmul_backward", "product_*-a", matmul_test(set, 0));
    TAP("dot_scores_backward: adds to what is there",
        dot_scores_test("scores_2x3x4", 1));
    TAP("matmul_backward: adds to what is there",
        matmul_test("product_2x3x4", 1));
    EACH_SET("linear_backward", "linear_*-bias", linear_test(set, 0));
    EACH_SET("linear_backward", "bare_*-weight", linear_test(set, 0));
    TAP("linear_backward: adds to what is there",
        linear_test("linear_2x3x4", 1));
    EACH_SET("softmax_backward", "softmax_*-weights", softmax_test(set, 0));
    TAP("softmax_backward: adds to what is there",
        softmax_test("softmax_3", 1));
    EACH_SET("mask_backward", "mask_*-g", mask_test(set));
    EACH_SET("attend_backward", "attend_*-query", attend_test(set, 0));
    EACH_SET("attention_backward", "given_*-sizes", attention_test(set));
    EACH_SET("embed_backward", "embed_*-ids", embed_test(set, 0));
    TAP("embed_backward: adds to what is there",
        embed_test("embed_twice", 1));
    EACH_SET("cosine_backward", "cosine_*-a", cosine_test(set, 0));
    TAP("cosine_backward: adds to what is there",
        cosine_test("cosine_2_3", 1));
    linear_refused();
    lists_refused();
    REFUSES_EACH("attention_backward", attention_with, wrong_sizes);
    REFUSES_EACH("attention_gradient_check", attention_with,
                 wrong_gradient);
    return tap_done();
}
