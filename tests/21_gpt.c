/* Chapter 21 against PyTorch: golden/21_gpt. */
#define CHAPTER "21_gpt"
#include "streams.h"

static Norm norm_of_set(void)
{
    return (Norm){dim("weight", 0), input("weight"), input("bias")};
}

static void norm_forward_test(void)
{
    const Norm l = norm_of_set();
    float *out = result("out");
    norm_forward(&l, dim("x", 0), input("x"), (void *)out);
    agrees("out", out, 1e-5, 2e-5);
}

/* What is there already stays, and the gradient is added to it. */
static float *begun(const char *what, float begin)
{
    float *x = result(what);
    for (size_t i = 0; i < part(what)->count; i++)
        x[i] = begin;
    return x;
}

static void less(size_t count, float *x, float begin)
{
    for (size_t i = 0; i < count; i++)
        x[i] -= begin;
}

static void norm_backward_test(void)
{
    const Norm l = norm_of_set();
    Norm g = {l.d, begun("g_weight", 2), begun("g_bias", -3)};
    float *g_x = begun("g_x", 4);
    norm_backward(&l, dim("x", 0), input("x"), input("g_out"), &g,
                  (void *)g_x);
    less((size_t)l.d, g.weight, 2);
    less((size_t)l.d, g.bias, -3);
    less(part("x")->count, g_x, 4);
    agrees("g_weight", g.weight, 1e-5, 2e-5);
    agrees("g_bias", g.bias, 1e-5, 2e-6);
    agrees("g_x", g_x, 1e-5, 2e-5);
}

static void gelu_test(void)
{
    const int n = (int)part("x")->count;
    float *out = result("gelu"), *share = room((size_t)n);
    gelu(n, input("x"), share, out);
    agrees("gelu", out, 1e-5, 5e-7);
}

static void gelu_backward_test(void)
{
    const int n = (int)part("x")->count;
    float *out = room((size_t)n), *share = room((size_t)n);
    float *g_x = begun("g_x", 2), *x = input("x");
    gelu(n, x, share, out);
    gelu_backward(n, x, share, input("g_out"), g_x);
    less((size_t)n, g_x, 2);
    agrees("g_x", g_x, 1e-5, 1e-6);
}

static void draw_test(void)
{
    const int times = dim("drawn", 0), rows = dim("drawn", 1);
    const int n = dim("shares", 1);
    const float(*shares)[n] = input("shares");
    Random r = random_of_set();
    int *drawn = room_for("drawn", part("drawn")->count);
    for (int i = 0; i < times * rows; i++)
        drawn[i] = draw_one(&r, n, shares[i % rows]);
    agrees("drawn", drawn, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
}

static void order_test(void)
{
    const int epochs = dim("orders", 0), n = dim("orders", 1);
    Random r = random_of_set();
    int *orders = room_for("orders", part("orders")->count);
    for (int i = 0; i < epochs; i++)
        epoch_order(&r, n, orders + i * n);
    agrees("orders", orders, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
}

/* Which of some logits stay. */
static void stay(int n, int k, const float logits[n], const float right[n])
{
    float got[8];
    next_case();
    memcpy(got, logits, (size_t)n * sizeof *got);
    give_list("logits, before", n, logits);
    give("k = %d", k);
    keep_largest(n, k, got);
    same("logits", (size_t)n, got, right);
}

static void keep_test(void)
{
    const float no = -INFINITY;
    const float x[5] = {0.5f, 2, -1, 2, 1};
    stay(5, 5, x, x);
    stay(5, 4, x, (const float[]){0.5f, 2, no, 2, 1});
    stay(5, 3, x, (const float[]){no, 2, no, 2, 1});
    stay(5, 2, x, (const float[]){no, 2, no, 2, no});
    stay(5, 1, x, (const float[]){no, 2, no, 2, no});
    stay(3, 2, (const float[]){-5, -3, -4},
         (const float[]){no, -3, -4});
    stay(3, 2, (const float[]){no, -3, no}, (const float[]){no, -3, no});
    stay(1, 1, (const float[]){7}, (const float[]){7});
}

/* The model of a set: its sizes, and room for its numbers. */
static Gpt sized(void)
{
    const int64_t *size = integers("sizes");
    Gpt g = {.vocabulary = (int)size[0],
             .context = (int)size[1],
             .width = (int)size[2],
             .n_heads = (int)size[3],
             .layers = (int)size[4],
             .is_apart = !size[5]};
    gpt_init(&g);
    if (g.count != part("parameters")->count)
        REFUSE("%s has not %zu parameters", sets_now, g.count);
    return g;
}

static Gpt given(void)
{
    Gpt g = sized();
    memcpy(g.memory, floats(part("parameters")), g.count * sizeof(float));
    return g;
}

static void fill_test(void)
{
    Random r = random_of_set();
    Gpt g = sized();
    gpt_fill(&r, &g);
    agrees("parameters", g.memory, 0, 0);
    const float next = random_float(&r);
    agrees("following", &next, 0, 0);
    gpt_free(&g);
}

static const int *ids_of(const char *what)
{
    const Tensor *t = part(what);
    int *ids = room_for(what, t->count);
    for (size_t i = 0; i < t->count; i++)
        ids[i] = (int)tensor_integers(t)[i];
    return ids;
}

/* A table of each layer, one layer after the other, against the set's. */
static void layers_agree(const char *what, int layers, size_t count,
                         float *const table[layers])
{
    float *all = result(what);
    for (int l = 0; l < layers; l++)
        memcpy(all + (size_t)l * count, table[l], count * sizeof *all);
    agrees(what, all, 1e-5, 1e-5);
}

/* So many rows of each layer's traces. */
static void traces_agree(const Gpt *g, const Pass *p)
{
    float *query[9], *key[9], *value[9], *joined[9], *out[9];
    const size_t count =
        (size_t)(p->texts * p->n) * (size_t)g->width;
    for (int l = 0; l < g->layers; l++) {
        query[l] = p->attention[l].query;
        key[l] = p->attention[l].key;
        value[l] = p->attention[l].value;
        joined[l] = p->attention[l].joined;
        out[l] = p->attention[l].out;
    }
    layers_agree("query", g->layers, count, query);
    layers_agree("key", g->layers, count, key);
    layers_agree("value", g->layers, count, value);
    layers_agree("joined", g->layers, count, joined);
    layers_agree("attended", g->layers, count, out);
}

/* Every other table. */
static void tables_agree(const Gpt *g, const Pass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    float(*sum)[rows * d] = (void *)p->sum;
    float(*normed)[rows * d] = (void *)p->normed;
    float *between[9], *after[9], *normed_1[9], *normed_2[9];
    const size_t count = (size_t)(rows * d);
    for (int l = 0; l < g->layers; l++) {
        between[l] = sum[2 * l + 1];
        after[l] = sum[2 * l + 2];
        normed_1[l] = normed[2 * l];
        normed_2[l] = normed[2 * l + 1];
    }
    agrees("begin", sum[0], 1e-6, 1e-6);
    layers_agree("between", g->layers, count, between);
    layers_agree("after", g->layers, count, after);
    layers_agree("normed_1", g->layers, count, normed_1);
    layers_agree("normed_2", g->layers, count, normed_2);
    agrees("up", p->wide, 1e-5, 1e-5);
    agrees("active", p->active, 1e-5, 1e-5);
    agrees("last", normed[2 * g->layers], 1e-5, 1e-5);
    agrees("logits", p->logits, 1e-5, 2e-5);
}

static void forward_test(void)
{
    Gpt g = given();
    Pass p = pass_for(&g, dim("ids", 0), dim("ids", 1));
    gpt_forward(&g, NULL, ids_of("ids"), &p);
    tables_agree(&g, &p);
    traces_agree(&g, &p);
    pass_free(&p);
    gpt_free(&g);
}

/* In any two pieces, through caches. */
static void cached_test(void)
{
    Gpt g = given();
    const int n = dim("ids", 1), size = g.vocabulary;
    const int *ids = ids_of("ids");
    float(*logits)[n][size] = result("logits");
    for (int cut = 1; cut < n; cut++) {
        for (int text = 0; text < 2; text++) {
            Cache cache[9];
            for (int from = 0, till; from < n; from = till) {
                till = from ? n : cut;
                Pass p = pass_for(&g, 1, till - from);
                if (!from)
                    caches_init(&g, cache);
                gpt_forward(&g, cache, ids + text * n + from, &p);
                memcpy(logits[text][from], p.logits,
                       (size_t)((till - from) * size) * sizeof(float));
                pass_free(&p);
            }
            caches_free(&g, cache);
        }
        agrees("logits", logits, 1e-5, 2e-5);
    }
    gpt_free(&g);
}

int main(void)
{
    EACH("norm_forward", norm_forward_test, "norm_*-out");
    EACH("norm_backward", norm_backward_test, "norm_*-out");
    EACH("gelu", gelu_test, "gelu_*-gelu");
    EACH("gelu_backward", gelu_backward_test, "gelu_*-gelu");
    EACH("draw_one", draw_test, "draws_*-drawn");
    EACH("epoch_order", order_test, "orders_*-orders");
    TAP(keep_test, "keep_largest: which stay");
    EACH("gpt_fill", fill_test, "drawn*-parameters");
    EACH("gpt_forward", forward_test, "gpt_*-ids");
    EACH("gpt_forward: in pieces", cached_test, "gpt_*-ids");
    return tap_done();
}
