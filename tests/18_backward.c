/* Chapter 18 against PyTorch's autograd, golden/18_backward. */
#define CHAPTER "18_backward"
#include "traces.h"
#include "gradients.h"
#include "attention/18_backward.h"
#include "attention/13_multi_head.h"

/* A gradient that begins with 0, of the size of the set's answer. */
static void *begins(const char *what)
{
    return zeros(what, part(what)->count);
}

/* What is made of sums of products of a set's numbers. */
static void close_to(const char *what, const float *got)
{
    agrees(what, got, 1e-5, 2e-6);
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
    agrees("g_table", grad_table, 1e-6, 1e-6);
}

static void cosine_test(void)
{
    float *grad_a = begins("g_a"), *grad_b = begins("g_b");
    cosine_backward(dim("a", 0), input("a"), input("b"),
                    (float)number("g_cosine", "g"), grad_a, grad_b);
    close_to("g_a", grad_a);
    close_to("g_b", grad_b);
}

/* ---- What is there is added to. */

static void linear_adds(void)
{
    const float weight[2][3] = {{1, 2, 3}, {4, 5, 6}},
                x[1][3] = {{1, 0, 2}};
    const float grad_out[1][2] = {{1, 10}};
    const Linear l = {3, 2, (void *)weight, (float[2]){7, 8}};
    Linear grad_l = {3, 2, begun("g_weight", 6, 100),
                     begun("g_bias", 2, 100)};
    float *grad_x = begun("g_x", 3, 100);
    give("g_l and g_x hold 100 everywhere");
    give_table("l->weight", 2, 3, weight);
    give_table("x", 1, 3, x);
    give_table("g_out", 1, 2, grad_out);
    linear_backward(&l, 1, x, grad_out, &grad_l, (void *)grad_x);
    same_table("g_x", 1, 3, grad_x, (float[3]){141, 152, 163});
    same_table("g_l->weight", 2, 3, grad_l.weight,
               (float[6]){101, 100, 102, 110, 100, 120});
    same_table("g_l->bias", 1, 2, grad_l.bias, (float[2]){101, 110});
}

static void softmax_adds(void)
{
    const float weights[3] = {0.5f, 0.25f, 0.25f},
                grad_weights[3] = {4, 0, -4};
    float *grad_scores = begun("g_scores", 3, 100);
    give("g_scores holds 100 everywhere");
    give_list("weights", 3, weights);
    give_list("g_weights", 3, grad_weights);
    softmax_backward(3, weights, grad_weights, grad_scores);
    same_table("g_scores", 1, 3, grad_scores,
               (float[3]){101.5f, 99.75f, 98.75f});
}

static void embed_adds(void)
{
    const int ids[3] = {2, 0, 2};
    const float grad_x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    float *grad_table = begun("g_table", 6, 100);
    give("g_table holds 100 everywhere");
    give_ints("ids", 3, ids);
    give_table("g_x", 3, 2, grad_x);
    embed_backward(3, 2, 3, ids, grad_x, (void *)grad_table);
    same_table("g_table", 3, 2, grad_table,
               (float[6]){103, 104, 100, 100, 106, 108});
}

static void cosine_adds(void)
{
    const float a[2] = {3, 4}, b[2] = {0, 2};
    float *grad_a = begun("g_a", 2, 100), *grad_b = begun("g_b", 2, 100);
    give("g_a and g_b hold 100 everywhere");
    give_list("a", 2, a);
    give_list("b", 2, b);
    give("g_cosine = 25");
    cosine_backward(2, a, b, 25, grad_a, grad_b);
    similar("g_a", 2, grad_a, (float[2]){97.6f, 101.8f}, 1e-6, 0);
    similar("g_b", 2, grad_b, (float[2]){107.5f, 100}, 1e-6, 0);
}

static void products_add(void)
{
    const float one[1][2] = {{1, 2}}, other[1][2] = {{3, 4}},
                g[1][1] = {{5}};
    float *grad_one = begun("g_query", 2, 100),
          *grad_other = begun("g", 2, 100);
    dot_scores_backward(1, 1, 2, one, other, g, (void *)grad_one,
                        (void *)grad_other);
    matmul_backward(1, 1, 2, one, (void *)other, g, (void *)grad_one,
                    (void *)grad_other);
    same_table("g_query, then g_a", 1, 2, grad_one, (float[2]){130, 140});
    same_table("g_key, then g_b", 1, 2, grad_other, (float[2]){110, 120});
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

/* The gradient of an attention, all 0, as rooms of their own: whatever
 * a->memory is. */
static Attention no_gradient(const Attention *a)
{
    Attention g = *a;
    Linear *const layer[4] = {&g.query, &g.key, &g.value, &g.out};
    g.memory = NULL;
    for (int i = 0; i < 4; i++) {
        const size_t columns = (size_t)layer[i]->d_out;
        if (layer[i]->weight)
            layer[i]->weight =
                begun("a gradient", columns * (size_t)layer[i]->d_in, 0);
        if (layer[i]->bias)
            layer[i]->bias = begun("a gradient", columns, 0);
    }
    return g;
}

/* All its numbers in the order of the parameters. */
static float *in_a_row(const Attention *a)
{
    const Linear *const layer[4] = {&a->query, &a->key, &a->value, &a->out};
    float *all = room_for("g_parameters", a->count), *end = all;
    for (int i = 0; i < 4; i++) {
        const int columns = layer[i]->d_out;
        for (int k = 0; layer[i]->weight && k < columns * layer[i]->d_in;
             k++)
            *end++ = layer[i]->weight[k];
        for (int k = 0; layer[i]->bias && k < columns; k++)
            *end++ = layer[i]->bias[k];
    }
    return all;
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
    Attention a = given(&mask, &r), grad_a = no_gradient(&a);
    const bool is_same = !strcmp(sets_now, "given_itself");
    const Tensor *x = part("x"), *y = is_same ? x : part("y");
    const int n = x->shape[1], m = y->shape[1];
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
    agrees("g_parameters", in_a_row(&grad_a), 1e-5, 1e-5);
    attention_free(&a);
}

/* ---- What is refused. */

static void linear_refused(void)
{
    static float many[9], few[3], grad_x[1][3];
    static const struct {
        const char *words;
        Linear layer, gradient;
    } wrong[] = {
        {"a gradient with one column more",
         {3, 2, many, few},
         {4, 2, many, few}},
        {"a gradient with one row more",
         {3, 2, many, few},
         {3, 3, many, few}},
        {"a gradient without the bias",
         {3, 2, many, few},
         {3, 2, many, NULL}},
        {"a gradient with a bias, where the layer has none",
         {3, 2, many, NULL},
         {3, 2, many, few}},
        {"a gradient without a weight",
         {3, 2, many, few},
         {3, 2, NULL, few}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Linear gradient = wrong[i].gradient;
        TAP_REFUSES("linear_backward", wrong[i].words, NULL,
                    linear_backward(&wrong[i].layer, 1, grad_x, (void *)few,
                                    &gradient, grad_x));
    }
    REFUSES("objects.c: linear_gradient_check: a gradient from 4 to 2 "
            "numbers, of a layer from 3 to 2: the same are needed",
            linear_gradient_check(&wrong[0].layer, &wrong[0].gradient));
    REFUSES("objects.c: linear_gradient_check: a gradient with a weight "
            "and no bias, of a layer with a bias: a weight, and the same "
            "of the bias, are needed",
            linear_gradient_check(&wrong[2].layer, &wrong[2].gradient));
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
 * which one size is changed by hand. For the child of REFUSES. */
static Attention grad_fit;
static Trace grad_trace __attribute__((used)); /* or its memory is lost */

static const Attention *but_gradient(int *size, int value)
{
    fit.has_bias = fit.has_out_bias = 1;
    fitting(2, 3);
    attention_init(&grad_fit, &fit);
    trace_init_for(&grad_trace, &fit, 5, 6);
    *size = value;
    return &fit;
}

/* The same with a gradient that lacks this bias. */
static const Attention *but_bias(float **bias)
{
    but_gradient(&grad_fit.d_x, 3);
    *bias = NULL;
    return &fit;
}

static void attention_refused(void)
{
    static const struct {
        const char *words;
        int *size, value;
    } wrong[] = {
        {"a trace for 5 keys, where there are 6", &fit_trace.m, 5},
        {"a gradient's trace for 5 keys, where there are 6", &grad_trace.m,
         5},
        {"a gradient's trace with another output", &grad_trace.d_out, 4},
        {"a layer that is too narrow", &fit.key.d_out, 9},
        {"a gradient's layer that is too narrow", &grad_fit.key.d_out, 9},
        {"a gradient for wider texts", &grad_fit.d_x, 4},
        {"a gradient for wider texts that are asked", &grad_fit.d_y, 3},
        {"a gradient of more heads", &grad_fit.n_heads, 3},
        {"a gradient of other keys", &grad_fit.d_k, 3},
        {"a gradient of other values", &grad_fit.d_v, 3},
        {"a gradient of another output", &grad_fit.d_out, 4},
        {"more tokens than the context length", &fit.context_length, 5},
    };
    float **const bias[4] = {&grad_fit.query.bias, &grad_fit.key.bias,
                             &grad_fit.value.bias, &grad_fit.out.bias};
#define GRADIENTS                                                          \
    5, 6, fit_x, fit_y, &fit_trace, &grad_trace, &grad_fit, fit_x, fit_y
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        TAP_REFUSES(
            "attention_backward", wrong[i].words, NULL,
            attention_backward(but_gradient(wrong[i].size, wrong[i].value),
                               GRADIENTS));
    for (int i = 0; i < 4; i++)
        TAP_REFUSES("attention_backward",
                    tap_words("a gradient without a bias of layer %d", i),
                    NULL, attention_backward(but_bias(bias[i]), GRADIENTS));
    REFUSES("objects.c: attention_gradient_check: a gradient of d_x, d_y, "
            "n_heads, d_k, d_v, d_out = 3, 2, 3, 4, 2, 3: 3, 2, 2, 4, 2, 3 "
            "are needed",
            attention_gradient_check(but_gradient(&grad_fit.n_heads, 3),
                                     &grad_fit));
}

int main(void)
{
    EACH("dot_scores_backward", dot_scores_test, "scores_*-query");
    EACH("matmul_backward", matmul_test, "product_*-a");
    TAP(products_add, "matmul_backward: adds to what is there");
    EACH("linear_backward", linear_test, "linear_*-bias");
    EACH("linear_backward", linear_test, "bare_*-weight");
    TAP(linear_adds, "linear_backward: adds to what is there");
    EACH("softmax_backward", softmax_test, "softmax_*-weights");
    TAP(softmax_adds, "softmax_backward: adds to what is there");
    EACH("mask_backward", mask_test, "mask_*-g");
    EACH("attend_backward", attend_test, "attend_*-query");
    EACH("attention_backward", attention_test, "given_*-sizes");
    EACH("embed_backward", embed_test, "embed_*-ids");
    TAP(embed_adds, "embed_backward: adds to what is there");
    EACH("cosine_backward", cosine_test, "cosine_*-a");
    TAP(cosine_adds, "cosine_backward: adds to what is there");
    linear_refused();
    lists_refused();
    attention_refused();
    return tap_done();
}
