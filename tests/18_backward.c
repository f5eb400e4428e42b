/* Chapter 18 against PyTorch's autograd, golden/18_backward. */
#define CHAPTER "18_backward"
#include "traces.h"
#include "attention/18_backward.h"
#include "attention/13_multi_head.h"

/* How near sums of products of a set's numbers come; and sums of these. */
#define NEAR 1e-5, 2e-6
#define LESS_NEAR 1e-5, 5e-6

/* ---- Each operation against autograd. */

static void dot_scores_test(const char *set, float start)
{
    dot_scores_backward(dim(set, "query", 0), dim(set, "key", 0),
                        dim(set, "query", 1), input(set, "query"),
                        input(set, "key"), input_as(set, "g", "g_scores"),
                        added(set, "g_query", start, NEAR),
                        added(set, "g_key", start, NEAR));
}

static void matmul_test(const char *set, float start)
{
    matmul_backward(
        dim(set, "a", 0), dim(set, "b", 1), dim(set, "a", 1),
        input(set, "a"), input(set, "b"), input_as(set, "g", "g_product"),
        added(set, "g_a", start, NEAR), added(set, "g_b", start, NEAR));
}

/* Of a set named bare the layer has no bias. */
static void linear_test(const char *set, float start)
{
    const bool has_bias = strncmp(set, "bare", 4) != 0;
    const Linear l = {dim(set, "weight", 1), dim(set, "weight", 0),
                      input_as(set, "weight", "l->weight"),
                      has_bias ? input_as(set, "bias", "l->bias") : NULL};
    float *grad_x = added(set, "g_x", start, NEAR);
    float *weight = added(set, "g_weight", start, NEAR);
    float *bias = has_bias ? added(set, "g_bias", start, NEAR) : NULL;
    Linear grad_l = {l.d_in, l.d_out, weight, bias};
    const int n = dim(set, "x", 0);
    if (!has_bias)
        given("l->bias = NULL");
    given("n = %d, d_in = %d, d_out = %d", n, l.d_in, l.d_out);
    linear_backward(&l, n, input(set, "x"), input_as(set, "g", "g_out"),
                    &grad_l, (void *)grad_x);
    expect_true("no table is exchanged",
                grad_l.weight == weight && grad_l.bias == bias);
}

static void softmax_test(const char *set, float start)
{
    softmax_backward(dim(set, "weights", 0), input(set, "weights"),
                     input(set, "g_weights"),
                     added(set, "g_scores", start, NEAR));
}

static void embed_test(const char *set, float start)
{
    const int rows = dim(set, "g_table", 0);
    given("rows = %d", rows);
    embed_backward(SHAPE(set, "g_x"), rows, input_ints(set, "ids", "ids"),
                   input(set, "g_x"), added(set, "g_table", start, NEAR));
}

static void cosine_test(const char *set, float start)
{
    cosine_backward(dim(set, "a", 0), input(set, "a"), input(set, "b"),
                    (float)input_number(set, "g", "g_cosine"),
                    added(set, "g_a", start, NEAR),
                    added(set, "g_b", start, NEAR));
}

/* ---- A head, and an attention. */

/* Three tables are written, and three added to. */
static void attend_test(const char *set)
{
    attend_backward(
        dim(set, "query", 0), dim(set, "key", 0), dim(set, "query", 1),
        dim(set, "value", 1), input_number(set, "rate", "rate"),
        input(set, "query"), input(set, "key"), input(set, "value"),
        input(set, "scores"), input(set, "weights"), input(set, "kept"),
        input(set, "dropped"), input(set, "g_context"),
        due(set, "g_dropped", LESS_NEAR), due(set, "g_weights", LESS_NEAR),
        due(set, "g_scores", LESS_NEAR),
        added(set, "g_query", 0, LESS_NEAR),
        added(set, "g_key", 0, LESS_NEAR),
        added(set, "g_value", 0, LESS_NEAR));
}

/* The tables of a gradient's trace that are answers. */
static void expect_gradients(const char *set, Trace *g, int b)
{
    const float *given = g->d_out ? g->out : g->joined;
    TraceTable table[TRACE_TABLES];
    trace_tables(g, table);
    for (int i = 0; i < TRACE_TABLES; i++) {
        const TraceTable t = table[i];
        const float *at = *t.at;
        for (size_t k = 0; at == g->keep_mask && k < t.count; k++)
            expect_equal("kept, which is left", at[k], unset);
        if (at && at != g->keep_mask && at != given)
            expect_entry(tap_words("g->%s", t.name), at, set,
                         tap_words("g_%s", t.name), b, LESS_NEAR);
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
        const Tensor grad_out = tensor_entry(golden(set, "g"), b);
        memcpy(a.d_out ? g.out : g.joined, grad_out.data,
               grad_out.count * sizeof(float));
        attention_backward(&a, n, m, x_b, y_b, &t, &g, &grad_a,
                           (void *)grad_x, (void *)grad_y);
        expect_gradients(set, &g, b);
        expect_entry("g_x", subtract(of_x, grad_x, 1), set, "g_x", b,
                     LESS_NEAR);
        if (!is_same)
            expect_entry("g_y", subtract(of_y, grad_y, 1), set, "g_y", b,
                         LESS_NEAR);
    }
    expect_close("g_parameters", grad_a.memory, golden(set, "g_parameters"),
                 1e-5, 1e-5);
    attention_free(&a);
    attention_free(&grad_a);
}

static void linear_refused(void)
{
    static float many[9], few[3], x[1][3];
    const char *bias = "attention_object.c: linear_gradient_check: a "
                       "gradient with a weight and no bias, of a layer "
                       "with a bias: a weight, and the same of the bias, "
                       "are needed";
    const Linear layer = {3, 2, many, few}, bare = {3, 2, many, NULL};
    Linear grad = layer, no_bias = bare, no_weight = {3, 2, NULL, few};
    const Wrong wrong[] = {
        SAYS(grad.d_in, 4,
             "attention_object.c: linear_gradient_check: a gradient of "
             "d_in, d_out = 4, 2: 3, 2 are needed"),
        WRONG(grad.d_out, 3)};
    REFUSES_WRONG("linear_gradient_check", wrong,
                  linear_gradient_check(&layer, &grad));
    REFUSES(bias, linear_backward(&layer, 1, x, (void *)few, &no_bias, x));
    REFUSES_SUCH("a gradient with a bias, where the layer has none",
                 linear_gradient_check(&bare, &grad));
    REFUSES_SUCH("a gradient without a weight",
                 linear_gradient_check(&layer, &no_weight));
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
 * which one number is changed by hand. */
static void attention_refused(void)
{
    static Attention grad_fit;
    static Trace grad_trace;
    fit.has_bias = fit.has_out_bias = 1;
    fitting(2, 3);
    attention_init(&grad_fit, &fit);
    trace_init_for(&grad_trace, &fit, 5, 6);
    const char *of_others =
        "attention_object.c: attention_gradient_check: a gradient of d_x, "
        "d_y, n_heads, d_k, d_v, d_out = 4, 2, 2, 4, 2, 3: 3, 2, 2, 4, 2, "
        "3 are needed";
    const Wrong wrong[] = {
        WRONG(fit_trace.m, 5),        WRONG(grad_trace.m, 5),
        WRONG(grad_trace.d_out, 4),   WRONG(fit.key.d_out, 9),
        WRONG(fit.context_length, 5), WRONG(grad_fit.d_k, 3)};
    const Wrong wrong_gradient[] = {
        WRONG(grad_fit.key.d_out, 9),   WRONG(grad_fit.query.d_out, 9),
        WRONG(grad_fit.value.d_out, 9), WRONG(grad_fit.out.d_out, 9),
        WRONG(grad_fit.d_y, 3),         SAYS(grad_fit.d_x, 4, of_others),
        WRONG(grad_fit.n_heads, 3),     WRONG(grad_fit.d_k, 3),
        WRONG(grad_fit.d_v, 3),         WRONG(grad_fit.d_out, 4)};
    REFUSES_WRONG("attention_gradient_check", wrong_gradient,
                  attention_gradient_check(&fit, &grad_fit));
    REFUSES_WRONG("attention_backward", wrong,
                  attention_backward(&fit, 5, 6, fit_x, fit_y, &fit_trace,
                                     &grad_trace, &grad_fit, fit_x, fit_y));
}

int main(void)
{
    ADDS("dot_scores_backward", "scores_*-query", "scores_2x3x4",
         dot_scores_test);
    ADDS("matmul_backward", "product_*-a", "product_2x3x4", matmul_test);
    ADDS("linear_backward", "linear_*-bias", "linear_2x3x4", linear_test);
    EACH_SET("linear_backward", "bare_*-weight", linear_test(set, 0));
    ADDS("softmax_backward", "softmax_*-weights", "softmax_3",
         softmax_test);
    EACH_SET("mask_backward", "mask_*-g",
             mask_backward(
                 SHAPE(set, "g"), input(set, "scores"),
                 changed_as(set, "g", "g_scores", "g_scores", EXACTLY)));
    EACH_SET("attend_backward", "attend_*-query", attend_test(set));
    EACH_SET("attention_backward", "given_*-sizes", attention_test(set));
    ADDS("embed_backward", "embed_*-ids", "embed_twice", embed_test);
    ADDS("cosine_backward", "cosine_*-a", "cosine_2_3", cosine_test);
    linear_refused();
    lists_refused();
    attention_refused();
    return tap_done();
}
