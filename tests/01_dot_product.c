/* Chapter 1 against PyTorch: golden/01_dot_product. */
#define CHAPTER "01_dot_product"
#include "sets.h"
#include "attention/01_dot_product.h"

/* How far a sum of products may be off. In float it depends on the order in
 * which they are added, the more so the more there are. */
#define RTOL 1e-5
static double sum_atol(int terms)
{
    return terms <= 64 ? 1e-6 : 1e-5;
}

static void multiply_test(void)
{
    float *got = result("product");
    multiply_entries(dim("a", 0), input("a"), input("b"), got);
    agrees("product", got, 0, 0);
}

static void multiply_shiny(void)
{
    const float(*hello)[3] = floats(golden("01_dot_product/hello-query"));
    float got[3][3];
    for (int j = 0; j < 3; j++)
        multiply_entries(3, hello[1], hello[j], got[j]);
    tap_close("product", golden("01_dot_product/shiny-product"), got, 0, 0);
}

static void dot_test(void)
{
    const double *lengths = tensor_doubles(part("lengths"));
    float got = dot(dim("a", 0), input("a"), input("b"));
    /* The products of long lists are large and may cancel each other. */
    agrees("dot", &got, RTOL, 1e-6 * lengths[0] * lengths[1]);
}

static void dot_of_nothing(void)
{
    tap_near("dot of 0 entries", dot(0, room(0), room(0)), 0, 0, 0);
}

static void length_test(void)
{
    float got[2] = {length(dim("a", 0), input("a")),
                    length(dim("b", 0), input("b"))};
    agrees("lengths", got, RTOL, 0);
}

static void length_of_zeros(void)
{
    tap_near("length of zeros", length(3, (float[]){0, -0.0f, 0}), 0, 0, 0);
}

static void cosine_test(void)
{
    float got = cosine(dim("a", 0), input("a"), input("b"));
    agrees("cosine", &got, RTOL, 1e-6);
}

/* From the smallest to the largest lengths that floats have. */
static void cosine_of_any_length(void)
{
    float a[20], b[20], longer[20];
    for (int power = -126; power <= 126; power++) {
        int n = tap_int(1, 20);
        tap_fill(n, a, 0.5f, 3);
        tap_fill(n, b, -3, 3);
        for (int k = 0; k < n; k++)
            longer[k] = ldexpf(a[k], power);
        tap_near("of other lengths", cosine(n, longer, b), cosine(n, a, b),
                 RTOL, 1e-6);
        tap_near("a list with itself", cosine(n, longer, longer), 1, 0,
                 1e-6);
    }
}

static void transpose_test(void)
{
    float *got = result("turned");
    transpose(dim("key", 0), dim("key", 1), input("key"), (void *)got);
    agrees("turned", got, 0, 0);
}

static void matmul_test(void)
{
    int d = dim("query", 1);
    float *got = result("scores");
    matmul(dim("query", 0), dim("key", 0), d, input("query"),
           input("turned"), (void *)got);
    agrees("scores", got, RTOL, sum_atol(d));
}

static void matmul_square(void)
{
    float got[2][2];
    matmul(2, 2, 2, input("a"), input("b"), got);
    agrees("product", got, 0, 0);
}

static void dot_scores_test(void)
{
    int d = dim("query", 1);
    float *got = result("scores");
    dot_scores(dim("query", 0), dim("key", 0), d, input("query"),
               input("key"), (void *)got);
    agrees("scores", got, RTOL, sum_atol(d));
}

static void cosine_scores_test(void)
{
    float *got = result("cosines");
    cosine_scores(dim("query", 0), dim("key", 0), dim("query", 1),
                  input("query"), input("key"), (void *)got);
    agrees("cosines", got, RTOL, 1e-6);
}

static const float zero[2], some[2] = {1, 2};
static const float with_zero[2][2] = {{1, 2}, {0, 0}};
static float scores[2][1], turned_scores[1][2];

int main(void)
{
    EACH("multiply_entries", multiply_test, "*-dot");
    TAP(multiply_shiny, "multiply_entries: all nine products of shiny");

    EACH("dot", dot_test, "*-dot");
    TAP(dot_of_nothing, "dot: no entries");

    EACH("length", length_test, "*-dot");
    TAP(length_of_zeros, "length: zeros");

    EACH("cosine", cosine_test, "*-dot");
    TAP(cosine_of_any_length, "cosine: length does not count");
    REFUSES("01_dot_product.c: cosine: the first vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, zero, some));
    REFUSES("01_dot_product.c: cosine: the second vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, some, zero));

    EACH("dot_scores", dot_scores_test, "*-turned");
    EACH("transpose", transpose_test, "*-turned");
    EACH("matmul", matmul_test, "*-turned");
    SETS("matmul", matmul_square, "square");

    EACH("cosine_scores", cosine_scores_test, "*-turned");
    REFUSES_SUCH("a query of length 0",
                 cosine_scores(2, 1, 2, with_zero, &some, scores));
    REFUSES_SUCH("a key of length 0",
                 cosine_scores(1, 2, 2, &some, with_zero, turned_scores));
    return tap_done();
}
