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

int main(void)
{
    EACH("norm_forward", norm_forward_test, "norm_*-out");
    EACH("norm_backward", norm_backward_test, "norm_*-out");
    EACH("gelu", gelu_test, "gelu_*-gelu");
    EACH("gelu_backward", gelu_backward_test, "gelu_*-gelu");
    EACH("draw_one", draw_test, "draws_*-drawn");
    EACH("epoch_order", order_test, "orders_*-orders");
    TAP(keep_test, "keep_largest: which stay");
    return tap_done();
}
