/* Chapter 1 against PyTorch: golden/01_dot_product. */
#define CHAPTER "01_dot_product"
#include "sets.h"
#include "attention/01_dot_product.h"

static void length_test(void)
{
    float got[2] = {length(dim("a", 0), input("a")),
                    length(dim("b", 0), input("b"))};
    agrees("lengths", got, 1e-5, 0);
}

/* The products of long lists are large and may cancel each other. */
static double dot_atol(void)
{
    return 1e-6 * doubles("lengths")[0] * doubles("lengths")[1];
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
                 SUMS);
        tap_near("a list with itself", cosine(n, longer, longer), 1, 0,
                 1e-6);
    }
}

static void tests_of_lists(void)
{
    const float zero[2] = {0, -0.0f}, some[2] = {1, 2};
    EACH_SET("multiply_entries", "*-dot",
             multiply_entries(dim("a", 0), input("a"), input("b"),
                              due("product", EXACTLY)));
    EACH_SET("dot", "*-dot",
             returns(dot(dim("a", 0), input("a"), input("b")), "dot", 1e-5,
                     dot_atol()));
    TAP_OF("dot: no entries",
           tap_near("dot", dot(0, room(0), room(0)), 0, EXACTLY));
    EACH("length", length_test, "*-dot");
    TAP_OF("length: zeros",
           tap_near("length", length(2, zero), 0, EXACTLY));
    EACH_SET("cosine", "*-dot",
             returns(cosine(dim("a", 0), input("a"), input("b")), "cosine",
                     SUMS));
    TAP(cosine_of_any_length, "cosine: length does not count");
    REFUSES("01_dot_product.c: cosine: the first vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, zero, some));
    REFUSES("01_dot_product.c: cosine: the second vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, some, zero));
}

/* In float a sum depends on the order in which its terms are added, the
 * more so the more there are. */
static double sum_atol(void)
{
    return dim("query", 1) <= 64 ? 1e-6 : 1e-5;
}

static void multiply_shiny(void)
{
    const float(*hello)[3] = floats(golden("01_dot_product/hello-query"));
    float got[3][3];
    for (int j = 0; j < 3; j++)
        multiply_entries(3, hello[1], hello[j], got[j]);
    tap_close("product", golden("01_dot_product/shiny-product"), got,
              EXACTLY);
}

static void tests_of_tables(void)
{
    const float some[1][2] = {{1, 2}}, with_zero[2][2] = {{1, 2}, {0, 0}};
    float scores[2][1], turned_scores[1][2];
    TAP(multiply_shiny, "multiply_entries: all nine products of shiny");
    EACH_SET("dot_scores", "*-turned",
             dot_scores(dim("query", 0), dim("key", 0), dim("key", 1),
                        input("query"), input("key"),
                        due("scores", 1e-5, sum_atol())));
    EACH_SET("transpose", "*-turned",
             transpose(dim("key", 0), dim("key", 1), input("key"),
                       due("turned", EXACTLY)));
    EACH_SET("matmul", "*-turned",
             matmul(dim("query", 0), dim("key", 0), dim("key", 1),
                    input("query"), input("turned"),
                    due("scores", 1e-5, sum_atol())));
    EACH_SET(
        "matmul", "square-product",
        matmul(2, 2, 2, input("a"), input("b"), due("product", EXACTLY)));
    EACH_SET("cosine_scores", "*-turned",
             cosine_scores(dim("query", 0), dim("key", 0), dim("key", 1),
                           input("query"), input("key"),
                           due("cosines", SUMS)));
    REFUSES_SUCH("a query of length 0",
                 cosine_scores(2, 1, 2, with_zero, some, scores));
    REFUSES_SUCH("a key of length 0",
                 cosine_scores(1, 2, 2, some, with_zero, turned_scores));
}

int main(void)
{
    tests_of_lists();
    tests_of_tables();
    return tap_done();
}
