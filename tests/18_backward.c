/* Chapter 18 against PyTorch's autograd, golden/18_backward, and against
 * what trying finds. */
#define CHAPTER "18_backward"
#include "traces.h"
#include "attention/18_backward.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/05_tokens.h"
#include "attention/11_causal_attention.h"
#include "attention/13_multi_head.h"

/* Where gradients begin. */
static float *zeros(const char *name, size_t count)
{
    float *x = room_for(name, count);
    memset(x, 0, count * sizeof *x);
    return x;
}

/* A gradient that begins with 0, of the size of the set's answer. */
static void *begun(const char *what)
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
    float *grad_query = begun("g_query"), *grad_key = begun("g_key");
    dot_scores_backward(dim("query", 0), dim("key", 0), dim("query", 1),
                        input("query"), input("key"),
                        input_as("g_scores", "g"), (void *)grad_query,
                        (void *)grad_key);
    close_to("g_query", grad_query);
    close_to("g_key", grad_key);
}

static void matmul_test(void)
{
    float *grad_a = begun("g_a"), *grad_b = begun("g_b");
    matmul_backward(dim("a", 0), dim("b", 1), dim("a", 1), input("a"),
                    input("b"), input_as("g_product", "g"), (void *)grad_a,
                    (void *)grad_b);
    close_to("g_a", grad_a);
    close_to("g_b", grad_b);
}

/* The layer of a set, and a gradient for it. */
static Linear layer_of_set(bool has_bias)
{
    return (Linear){.d_in = dim("weight", 1),
                    .d_out = dim("weight", 0),
                    .weight = input_as("l->weight", "weight"),
                    .bias = has_bias ? input_as("l->bias", "bias") : NULL};
}

static Linear gradient_of(const Linear *l, float *weight, float *bias)
{
    return (Linear){l->d_in, l->d_out, weight, bias};
}

static void linear_test_of(bool has_bias)
{
    const Linear l = layer_of_set(has_bias);
    float *weight = begun("g_weight");
    float *bias = has_bias ? begun("g_bias") : NULL;
    Linear grad_l = gradient_of(&l, weight, bias);
    float *grad_x = begun("g_x");
    if (!has_bias)
        give("l->bias = NULL");
    give("n = %d, d_in = %d, d_out = %d", dim("x", 0), l.d_in, l.d_out);
    linear_backward(&l, dim("x", 0), input("x"), input_as("g_out", "g"),
                    &grad_l, (void *)grad_x);
    agrees("g_x", grad_x, 1e-5, 2e-6);
    agrees("g_weight", weight, 1e-5, 2e-6);
    if (has_bias)
        agrees("g_bias", bias, 1e-5, 2e-6);
    tap_true("no table is exchanged",
             grad_l.weight == weight && grad_l.bias == bias);
}

static void linear_test(void)
{
    linear_test_of(true);
}

static void bare_test(void)
{
    linear_test_of(false);
}

static void softmax_test(void)
{
    float *grad_scores = begun("g_scores");
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

static void ids_of_set(int ids[])
{
    for (int i = 0; i < dim("ids", 0); i++)
        ids[i] = (int)integers("ids")[i];
}

static void embed_test(void)
{
    int ids[9];
    ids_of_set(ids);
    give_ints("ids", dim("ids", 0), ids);
    give("rows = %d", dim("g_table", 0));
    float *grad_table = begun("g_table");
    embed_backward(dim("g_x", 0), dim("g_x", 1), dim("g_table", 0), ids,
                   input("g_x"), (void *)grad_table);
    agrees("g_table", grad_table, 1e-6, 1e-6);
}

static void cosine_test(void)
{
    float *grad_a = begun("g_a"), *grad_b = begun("g_b");
    cosine_backward(dim("a", 0), input("a"), input("b"),
                    (float)number("g_cosine", "g"), grad_a, grad_b);
    close_to("g_a", grad_a);
    close_to("g_b", grad_b);
}

/* ---- What is there is added to. */

/* Ones, or any number, to be added to. */
static float *filled(const char *name, size_t count, float with)
{
    float *x = room_for(name, count);
    for (size_t i = 0; i < count; i++)
        x[i] = with;
    return x;
}

static void linear_adds(void)
{
    const float weight[2][3] = {{1, 2, 3}, {4, 5, 6}},
                x[1][3] = {{1, 0, 2}};
    const float grad_out[1][2] = {{1, 10}};
    const Linear l = {3, 2, (void *)weight, (float[2]){7, 8}};
    Linear grad_l = {3, 2, filled("g_weight", 6, 100),
                     filled("g_bias", 2, 100)};
    float *grad_x = filled("g_x", 3, 100);
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
    float *grad_scores = filled("g_scores", 3, 100);
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
    float *grad_table = filled("g_table", 6, 100);
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
    float *grad_a = filled("g_a", 2, 100), *grad_b = filled("g_b", 2, 100);
    give("g_a and g_b hold 100 everywhere");
    give_list("a", 2, a);
    give_list("b", 2, b);
    give("g_cosine = 25");
    cosine_backward(2, a, b, 25, grad_a, grad_b);
    similar("g_a", 2, grad_a, (float[2]){97.6f, 101.8f}, 1e-6, 0);
    similar("g_b", 2, grad_b, (float[2]){107.5f, 100}, 1e-6, 0);
}

/* It stays as it is when a list becomes longer. */
static void cosine_lengths(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 9);
        float a[9], b[9], grad_a[9] = {0}, grad_b[9] = {0};
        double along[2] = {0};
        tap_fill(n, a, 1, 3);
        tap_fill(n, b, -3, -1);
        cosine_backward(n, a, b, 2, grad_a, grad_b);
        for (int k = 0; k < n; k++) {
            along[0] += (double)grad_a[k] * (double)a[k];
            along[1] += (double)grad_b[k] * (double)b[k];
        }
        next_case();
        give_list("a", n, a);
        give_list("b", n, b);
        give("g_cosine = 2");
        tap_near("dot product of a and g_a", along[0], 0, 0, 3e-6);
        tap_near("dot product of b and g_b", along[1], 0, 0, 3e-6);
    }
}

static void products_add(void)
{
    const float one[1][2] = {{1, 2}}, other[1][2] = {{3, 4}},
                g[1][1] = {{5}};
    float *grad_one = filled("g_query", 2, 100),
          *grad_other = filled("g", 2, 100);
    dot_scores_backward(1, 1, 2, one, other, g, (void *)grad_one,
                        (void *)grad_other);
    matmul_backward(1, 1, 2, one, (void *)other, g, (void *)grad_one,
                    (void *)grad_other);
    same_table("g_query, then g_a", 1, 2, grad_one, (float[2]){130, 140});
    same_table("g_key, then g_b", 1, 2, grad_other, (float[2]){110, 120});
}

/* To raise all scores of a row changes nothing. */
static void softmax_rows_cancel(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 40);
        float scores[40], weights[40], g[40], grad_scores[40] = {0};
        tap_fill(n, scores, -5, 5);
        tap_fill(n, g, -3, 3);
        softmax(n, scores, weights);
        softmax_backward(n, weights, g, grad_scores);
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += grad_scores[j];
        next_case();
        give_list("weights", n, weights);
        give_list("g_weights", n, g);
        tap_near("sum of g_scores", sum, 0, 0, 3e-6);
    }
}

/* ---- A head, and an attention. */

static void attend_test(void)
{
    const char *const name[6] = {"g_dropped", "g_weights", "g_scores",
                                 "g_query",   "g_key",     "g_value"};
    float *g[6];
    for (int i = 0; i < 6; i++) /* three are written, three added to */
        g[i] = i < 3 ? result(name[i]) : begun(name[i]);
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
                zeros("a gradient", columns * (size_t)layer[i]->d_in);
        if (layer[i]->bias)
            layer[i]->bias = zeros("a gradient", columns);
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
        float *grad_x = zeros("g_x", (size_t)(n * a.d_x));
        float *grad_y =
            is_same ? grad_x : zeros("g_y", (size_t)(m * a.d_y));
        attention_forward(&a, mask, &r, n, m, x_b, y_b, &t);
        set_entry(a.d_out ? g.out : g.joined, part("g"), b);
        attention_backward(&a, n, m, x_b, y_b, &t, &g, &grad_a,
                           (void *)grad_x, (void *)grad_y);
        close_gradients(&g, a.d_out, b);
        close_entry("g_x", "g_x", b, grad_x, 1e-5, 5e-6);
        if (!is_same)
            close_entry("g_y", "g_y", b, grad_y, 1e-5, 5e-6);
    }
    agrees("g_parameters", in_a_row(&grad_a), 1e-5, 1e-5);
    attention_free(&a);
}

/* ---- What trying finds: the loss is the sum of grad_out times what comes
 * out, added up in double. */

static struct {
    void (*forward)(void);
    int n, m, d;
    size_t count[3]; /* of what goes in */
    float *in[3], *grad_in[3];
    size_t out_count;
    float *out, *grad_out;
} tried;

static double loss(void)
{
    double sum = 0;
    tried.forward();
    for (size_t i = 0; i < tried.out_count; i++)
        sum += (double)tried.grad_out[i] * (double)tried.out[i];
    return sum;
}

static void agrees_with_trying(float step, double tolerance)
{
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < tried.count[i]; k++) {
            float *number = tried.in[i] + k;
            const float was = *number;
            *number = was + step;
            const double above = loss(), from = *number;
            *number = was - step;
            const double below = loss(), to = *number;
            *number = was;
            tap_near("slope", tried.grad_in[i][k],
                     (above - below) / (from - to), 0, tolerance);
        }
}

/* Any numbers of these sizes go in; what comes out has any gradient. */
static void try_with(void (*forward)(void), size_t first, size_t second,
                     size_t third, size_t out)
{
    const size_t count[3] = {first, second, third};
    tried.forward = forward;
    for (int i = 0; i < 3; i++) {
        tried.count[i] = count[i];
        tried.in[i] = room(count[i]);
        tried.grad_in[i] = zeros("a gradient", count[i]);
        if (count[i])
            tap_fill((int)count[i], tried.in[i], -1, 1);
    }
    tried.out_count = out;
    tried.out = room(out);
    tried.grad_out = room(out);
    tap_fill((int)out, tried.grad_out, -1, 1);
}

static void sizes_to_try(void)
{
    tried.n = tap_int(1, 5);
    tried.m = tap_int(1, 5);
    tried.d = tap_int(1, 5);
}

#define N ((size_t)tried.n)
#define M ((size_t)tried.m)
#define D ((size_t)tried.d)
#define IN(i) ((void *)tried.in[i])
#define G_IN(i) ((void *)tried.grad_in[i])
#define OUT ((void *)tried.out)
#define G_OUT ((void *)tried.grad_out)

/* The loss rises with each number of a product along a straight line, so
 * that a large step is as right as a small one, and its rounding matters
 * less: some 1e-7 of sums up to 5, over a step of 1. */
#define STRAIGHT 0.5f, 3e-6

static void forward_scores(void)
{
    dot_scores(tried.n, tried.m, tried.d, IN(0), IN(1), OUT);
}

static void dot_scores_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_scores, N * D, M * D, 0, N * M);
        dot_scores_backward(tried.n, tried.m, tried.d, IN(0), IN(1), G_OUT,
                            G_IN(0), G_IN(1));
        agrees_with_trying(STRAIGHT);
    }
}

static void forward_product(void)
{
    matmul(tried.n, tried.m, tried.d, IN(0), IN(1), OUT);
}

static void matmul_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_product, N * D, D * M, 0, N * M);
        matmul_backward(tried.n, tried.m, tried.d, IN(0), IN(1), G_OUT,
                        G_IN(0), G_IN(1));
        agrees_with_trying(STRAIGHT);
    }
}

static void forward_linear(void)
{
    const Linear l = {tried.d, tried.m, tried.in[1], tried.in[2]};
    linear_forward(&l, tried.n, IN(0), OUT);
}

static void linear_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_linear, N * D, M * D, M, N * M);
        const Linear l = {tried.d, tried.m, tried.in[1], tried.in[2]};
        Linear grad_l = {tried.d, tried.m, tried.grad_in[1],
                         tried.grad_in[2]};
        linear_backward(&l, tried.n, IN(0), G_OUT, &grad_l, G_IN(0));
        agrees_with_trying(STRAIGHT);
    }
}

/* Elsewhere it bends. Over a step of 1/64 that changes a slope by some
 * 1/64 squared, times a third slope of these functions, which is well below
 * 1; and rounding by 1e-7 over 1/32. */
#define BENT 0x1p-6f, 5e-5

static void forward_softmax(void)
{
    softmax(tried.n, tried.in[0], tried.out);
}

static void softmax_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_softmax, N, 0, 0, N);
        forward_softmax();
        softmax_backward(tried.n, tried.out, tried.grad_out,
                         tried.grad_in[0]);
        agrees_with_trying(BENT);
    }
}

static void forward_masked(void)
{
    memcpy(tried.out, tried.in[0], tried.out_count * sizeof *tried.out);
    mask_scores(tried.n, tried.m, 0, OUT);
    for (size_t i = 0; i < tried.out_count; i++)
        if (tried.out[i] == -INFINITY)
            tried.out[i] = -1e6f; /* something that can be added up */
}

static void mask_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_masked, N * M, 0, 0, N * M);
        float *scores = room(N * M);
        memcpy(scores, tried.in[0], N * M * sizeof *scores);
        mask_scores(tried.n, tried.m, 0, (void *)scores);
        memcpy(tried.grad_in[0], tried.grad_out, N * M * sizeof *scores);
        mask_backward(tried.n, tried.m, (void *)scores, G_IN(0));
        agrees_with_trying(STRAIGHT);
    }
}

static const int some_ids[6] = {3, 0, 3, 1, 0, 3};

static void forward_embed(void)
{
    embed(6, tried.d, 4, some_ids, IN(0), OUT);
}

static void embed_tried(void)
{
    sizes_to_try();
    try_with(forward_embed, 4 * D, 0, 0, 6 * D);
    embed_backward(6, tried.d, 4, some_ids, G_OUT, G_IN(0));
    agrees_with_trying(STRAIGHT);
}

static void forward_cosine(void)
{
    *tried.out = cosine(tried.n, tried.in[0], tried.in[1]);
}

static void cosine_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_cosine, N, N, 0, 1);
        for (int k = 0; k < tried.n; k++) /* none is short */
            for (int i = 0; i < 2; i++)
                tried.in[i][k] += tried.in[i][k] < 0 ? -1 : 1;
        cosine_backward(tried.n, tried.in[0], tried.in[1], *tried.grad_out,
                        tried.grad_in[0], tried.grad_in[1]);
        agrees_with_trying(BENT);
    }
}

enum { D_V = 3 };
static Trace of_try; /* for one head, or for an attention */

static void forward_attend(void)
{
    Random r = random_seeded(7);
    attend(tried.n, tried.m, tried.d, D_V, mask_causal(1), 0.4, &r, IN(0),
           IN(1), IN(2), (void *)of_try.scores, (void *)of_try.weights,
           (void *)of_try.keep_mask, (void *)of_try.dropped, OUT);
}

static void attend_tried(void)
{
    for (int round = 0; round < 20; round++) {
        sizes_to_try();
        try_with(forward_attend, N * D, M * D, M * D_V, N * D_V);
        of_try = one_head(tried.n, tried.m, tried.d, D_V);
        const Trace g = one_head(tried.n, tried.m, tried.d, D_V);
        forward_attend();
        attend_backward(tried.n, tried.m, tried.d, D_V, 0.4, IN(0), IN(1),
                        IN(2), (void *)of_try.scores,
                        (void *)of_try.weights, (void *)of_try.keep_mask,
                        (void *)of_try.dropped, G_OUT, (void *)g.dropped,
                        (void *)g.weights, (void *)g.scores, G_IN(0),
                        G_IN(1), G_IN(2));
        agrees_with_trying(BENT);
    }
}

static Attention any;

static void forward_attention(void)
{
    Random r = random_seeded(7);
    memcpy(any.memory, tried.in[2], any.count * sizeof(float));
    attention_forward(&any, mask_causal(1), &r, tried.n, tried.m, IN(0),
                      IN(1), &of_try);
    memcpy(tried.out, of_try.out ? of_try.out : of_try.joined,
           tried.out_count * sizeof *tried.out);
}

/* Several of these put together have slopes above 1, and bend as much
 * more. */
static void attention_tried(void)
{
    for (int round = 0; round < 20; round++) {
        const int d_out = tap_int(0, 4);
        sizes_to_try();
        any = any_attention(tap_int(1, 3), d_out);
        const size_t columns =
            d_out ? (size_t)d_out : (size_t)(any.n_heads * any.d_v);
        try_with(forward_attention, N * (size_t)any.d_x,
                 M * (size_t)any.d_y, any.count, N * columns);
        of_try = guarded_trace(&any, tried.n, tried.m);
        Trace g = guarded_trace(&any, tried.n, tried.m);
        Attention grad_any = no_gradient(&any);
        forward_attention();
        memcpy(d_out ? g.out : g.joined, tried.grad_out,
               tried.out_count * sizeof(float));
        attention_backward(&any, tried.n, tried.m, IN(0), IN(1), &of_try,
                           &g, &grad_any, G_IN(0), G_IN(1));
        tried.grad_in[2] = in_a_row(&grad_any);
        agrees_with_trying(0x1p-6f, 2e-4);
        attention_free(&any);
    }
}

/* A copy of these numbers, twice as large. */
static float *doubled(size_t count, const float *x)
{
    float *twice = room(count);
    for (size_t k = 0; k < count; k++)
        twice[k] = 2 * x[k];
    return twice;
}

/* Called twice, it adds twice; and a key's bias changes nothing. */
static void attention_twice(void)
{
    for (int round = 0; round < 20; round++) {
        const int n = tap_int(1, 6), m = tap_int(1, 6), d = tap_int(1, 4);
        Attention a = any_attention(tap_int(1, 3), d);
        Attention grad_a = no_gradient(&a);
        Trace t = guarded_trace(&a, n, m), g = guarded_trace(&a, n, m);
        void *x = any_text(n, a.d_x), *y = any_text(m, a.d_y);
        const size_t of_x = (size_t)(n * a.d_x), of_y = (size_t)(m * a.d_y);
        float *grad_x = zeros("g_x", of_x), *grad_y = zeros("g_y", of_y);
        attention_forward(&a, mask_none(), NULL, n, m, x, y, &t);
        tap_fill(n * d, g.out, -1, 1);
        attention_backward(&a, n, m, x, y, &t, &g, &grad_a, (void *)grad_x,
                           (void *)grad_y);
        const float *twice = doubled(a.count, in_a_row(&grad_a));
        const float *twice_x = doubled(of_x, grad_x);
        const float *twice_y = doubled(of_y, grad_y);
        attention_backward(&a, n, m, x, y, &t, &g, &grad_a, (void *)grad_x,
                           (void *)grad_y);
        similar("twice the parameters' gradient", a.count,
                in_a_row(&grad_a), twice, 1e-5, 1e-5);
        similar("twice g_x", of_x, grad_x, twice_x, 1e-5, 1e-5);
        similar("twice g_y", of_y, grad_y, twice_y, 1e-5, 1e-5);
        for (int k = 0; grad_a.key.bias && k < a.key.d_out; k++)
            tap_near("that of a key's bias", grad_a.key.bias[k], 0, 0,
                     1e-5);
        attention_free(&a);
    }
}

/* ---- What is refused. */

static void linear_refused(void)
{
    static float many[6], few[3], grad_x[1][3];
    const Linear l = {3, 2, many, few}, bare = {3, 2, many, NULL};
    Linear wide = {4, 2, many, few}, tall = {3, 3, many, few};
    Linear without = {3, 2, many, NULL}, with = {3, 2, many, few};
    Linear empty = {3, 2, NULL, few};
    REFUSES_SUCH(
        "a gradient with one column more",
        linear_backward(&l, 1, grad_x, (void *)few, &wide, grad_x));
    REFUSES_SUCH(
        "a gradient with one row more",
        linear_backward(&l, 1, grad_x, (void *)few, &tall, grad_x));
    REFUSES_SUCH(
        "a gradient without the bias",
        linear_backward(&l, 1, grad_x, (void *)few, &without, grad_x));
    REFUSES_SUCH(
        "a gradient with a bias, where the layer has none",
        linear_backward(&bare, 1, grad_x, (void *)few, &with, grad_x));
    REFUSES_SUCH(
        "a gradient without a weight",
        linear_backward(&l, 1, grad_x, (void *)few, &empty, grad_x));
    REFUSES("objects.c: linear_gradient_check: a gradient from 4 to 2 "
            "numbers, of a layer from 3 to 2: the same are needed",
            linear_gradient_check(&l, &wide));
    REFUSES("objects.c: linear_gradient_check: a gradient with a weight "
            "and no bias, of a layer with a bias: a weight, and the same "
            "of the bias, are needed",
            linear_gradient_check(&l, &without));
}

static void embed_refused(void)
{
    static float grad_x[2][3], grad_table[4][3];
    REFUSES_SUCH("an id of -1", embed_backward(2, 3, 4, (int[]){0, -1},
                                               grad_x, grad_table));
    REFUSES_SUCH(
        "an id of 4, of 4 rows",
        embed_backward(2, 3, 4, (int[]){4, 0}, grad_x, grad_table));
}

static void cosine_refused(void)
{
    static const float zeros_of_two[2] = {0, -0.0f}, some[2] = {1, 2};
    static float grad_a[2], grad_b[2];
    REFUSES_SUCH("a list of zeros for a",
                 cosine_backward(2, zeros_of_two, some, 1, grad_a, grad_b));
    REFUSES_SUCH("a list of zeros for b",
                 cosine_backward(2, some, zeros_of_two, 1, grad_a, grad_b));
}

/* An attention with all there is, its trace, and gradients for both, of
 * which one size is changed by hand; or of which the biases are others. For
 * the child of REFUSES. */
static Attention grad_fit;
static Trace grad_trace __attribute__((used));

static const Attention *but_gradient(int *size, int value)
{
    fit.has_bias = fit.has_out_bias = 1;
    fitting(2, 3);
    attention_init(&grad_fit, &fit);
    trace_init_for(&grad_trace, &fit, 5, 6);
    *size = value;
    return &fit;
}

static const Attention *but_biases(int has_bias, int has_out_bias)
{
    but_gradient(&grad_fit.has_bias, has_bias);
    free(grad_fit.memory);
    grad_fit.has_out_bias = has_out_bias;
    attention_init(&grad_fit, &grad_fit);
    return &fit;
}

static void attention_refused(void)
{
#define WITH_GRADIENTS                                                     \
    5, 6, fit_x, fit_y, &fit_trace, &grad_trace, &grad_fit, fit_x, fit_y
#define REFUSES_BUT(words, ...)                                            \
    REFUSES_SUCH(words, attention_backward(__VA_ARGS__, WITH_GRADIENTS))
    REFUSES_BUT("a trace for 5 keys, where there are 6",
                but_gradient(&fit_trace.m, 5));
    REFUSES_BUT("a gradient's trace for 5 keys, where there are 6",
                but_gradient(&grad_trace.m, 5));
    REFUSES_BUT("a gradient's trace with another output",
                but_gradient(&grad_trace.d_out, 4));
    REFUSES_BUT("a layer that is too narrow",
                but_gradient(&fit.key.d_out, 9));
    REFUSES_BUT("a gradient's layer that is too narrow",
                but_gradient(&grad_fit.key.d_out, 9));
    REFUSES_BUT("a gradient for wider texts",
                but_gradient(&grad_fit.d_x, 4));
    REFUSES_BUT("a gradient for wider texts that are asked",
                but_gradient(&grad_fit.d_y, 3));
    REFUSES_BUT("a gradient of more heads",
                but_gradient(&grad_fit.n_heads, 3));
    REFUSES_BUT("a gradient of other keys", but_gradient(&grad_fit.d_k, 3));
    REFUSES_BUT("a gradient of other values",
                but_gradient(&grad_fit.d_v, 3));
    REFUSES_BUT("a gradient of another output",
                but_gradient(&grad_fit.d_out, 4));
    REFUSES_BUT("a gradient without biases", but_biases(0, 1));
    REFUSES_BUT("a gradient without the output's bias", but_biases(1, 0));
    REFUSES_BUT("more tokens than the context length",
                but_gradient(&fit.context_length, 5));
    REFUSES("objects.c: attention_gradient_check: a gradient of d_x, d_y, "
            "n_heads, d_k, d_v, d_out = 3, 2, 3, 4, 2, 3: 3, 2, 2, 4, 2, 3 "
            "are needed",
            attention_gradient_check(but_gradient(&grad_fit.n_heads, 3),
                                     &grad_fit));
}

static void attend_refused(void)
{
    static float one[1][1];
#define ONES                                                               \
    one, one, one, one, one, one, one, one, one, one, one, one, one, one
    REFUSES_SUCH("a rate of 1.5", attend_backward(1, 1, 1, 1, 1.5, ONES));
    REFUSES_SUCH("a rate that is no number",
                 attend_backward(1, 1, 1, 1, (double)NAN, ONES));
}

int main(void)
{
    EACH("dot_scores_backward", dot_scores_test, "scores_*-query");
    TAP(dot_scores_tried, "dot_scores_backward: as trying finds");
    EACH("matmul_backward", matmul_test, "product_*-a");
    TAP(matmul_tried, "matmul_backward: as trying finds");
    TAP(products_add, "matmul_backward: adds to what is there");
    EACH("linear_backward", linear_test, "linear_*-bias");
    EACH("linear_backward", bare_test, "bare_*-weight");
    TAP(linear_adds, "linear_backward: adds to what is there");
    TAP(linear_tried, "linear_backward: as trying finds");
    EACH("softmax_backward", softmax_test, "softmax_*-weights");
    TAP(softmax_adds, "softmax_backward: adds to what is there");
    TAP(softmax_rows_cancel, "softmax_backward: a row adds up to 0");
    TAP(softmax_tried, "softmax_backward: as trying finds");
    EACH("mask_backward", mask_test, "mask_*-g");
    TAP(mask_tried, "mask_backward: as trying finds");
    EACH("attend_backward", attend_test, "attend_*-query");
    TAP(attend_tried, "attend_backward: as trying finds");
    EACH("attention_backward", attention_test, "given_*-sizes");
    TAP(attention_tried, "attention_backward: as trying finds");
    TAP(attention_twice, "attention_backward: twice is twice as much");
    EACH("embed_backward", embed_test, "embed_*-ids");
    TAP(embed_adds, "embed_backward: adds to what is there");
    TAP(embed_tried, "embed_backward: as trying finds");
    EACH("cosine_backward", cosine_test, "cosine_*-a");
    TAP(cosine_adds, "cosine_backward: adds to what is there");
    TAP(cosine_lengths, "cosine_backward: lengths do not matter");
    TAP(cosine_tried, "cosine_backward: as trying finds");
    linear_refused();
    embed_refused();
    cosine_refused();
    attend_refused();
    attention_refused();
    return tap_done();
}
