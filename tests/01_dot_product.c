/* Chapter 1 against PyTorch: golden/01_dot_product. */
#define CHAPTER "01_dot_product"
#include "golden.h"
#include "attention/01_dot_product.h"

/* The lists of a set, with their length; and the sizes of its tables. */
#define LISTS(set) dim(set, "a", 0), input(set, "a"), input(set, "b")
#define SIZES(set) dim(set, "query", 0), SHAPE(set, "key")

static void length_test(const char *set)
{
    const int n = dim(set, "a", 0);
    const float got[2] = {length(n, input(set, "a")),
                          length(n, input(set, "b"))};
    expect_close("lengths", got, golden(set, "lengths"), 1e-5, 0);
}

/* The products of long lists are large and may cancel each other. */
static void dot_test(const char *set)
{
    const double *lengths = golden_doubles(set, "lengths");
    expect_near("dot", dot(LISTS(set)), golden_number(set, "dot"), 1e-5,
                1e-6 * lengths[0] * lengths[1]);
}

/* From lengths near 2^-126 to such near 2^127. */
static void cosine_of_any_length(void)
{
    float a[20], b[20], longer[20];
    for (int power = -126; power <= 126; power++) {
        int n = tap_int(1, 20);
        tap_fill(n, a, 0.5f, 3);
        tap_fill(n, b, -3, 3);
        for (int k = 0; k < n; k++)
            longer[k] = ldexpf(a[k], power);
        expect_near("of other lengths", cosine(n, longer, b),
                    cosine(n, a, b), SUMS);
        expect_near("a list with itself", cosine(n, longer, longer), 1, 0,
                    1e-6);
    }
}

static void tests_of_lists(void)
{
    const float zero[2] = {0, -0.0f}, some[2] = {1, 2};
    EACH_SET("multiply_entries", "*-dot",
             multiply_entries(LISTS(set), due(set, "product", EXACTLY)));
    EACH_SET("dot", "*-dot", dot_test(set));
    TAP("dot: no entries", expect_equal("dot", dot(0, some, some), 0));
    EACH_SET("length", "*-dot", length_test(set));
    TAP("length: zeros", expect_equal("length", length(2, zero), 0));
    EACH_SET("cosine", "*-dot",
             expect_near("cosine", cosine(LISTS(set)),
                         golden_number(set, "cosine"), SUMS));
    TAP("cosine: length does not count", cosine_of_any_length());
    REFUSES("01_dot_product.c: cosine: the first vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, zero, some));
    REFUSES("01_dot_product.c: cosine: the second vector has length 0 and "
            "so no direction: both need a length above 0",
            cosine(2, some, zero));
}

/* In float a sum depends on the order in which its terms are added, the
 * more so the more there are. */
static double sum_atol(const char *set)
{
    return dim(set, "query", 1) <= 64 ? 1e-6 : 1e-5;
}

static void multiply_shiny(void)
{
    const float(*hello)[3] = golden_floats("hello", "query");
    float(*product)[3] = due("shiny", "product", EXACTLY);
    for (int j = 0; j < 3; j++)
        multiply_entries(3, hello[1], hello[j], product[j]);
}

static void tests_of_tables(void)
{
    const float some[1][2] = {{1, 2}}, with_zero[2][2] = {{1, 2}, {0, 0}};
    float scores[2][1], turned_scores[1][2];
    TAP("multiply_entries: all nine products of shiny", multiply_shiny());
    EACH_SET("dot_scores", "*-turned",
             dot_scores(SIZES(set), input(set, "query"), input(set, "key"),
                        due(set, "scores", 1e-5, sum_atol(set))));
    EACH_SET("transpose", "*-turned",
             transpose(SHAPE(set, "key"), input(set, "key"),
                       due(set, "turned", EXACTLY)));
    EACH_SET("matmul", "*-turned",
             matmul(SIZES(set), input(set, "query"), input(set, "turned"),
                    due(set, "scores", 1e-5, sum_atol(set))));
    TAP("matmul: square",
        matmul(2, 2, 2, input("square", "a"), input("square", "b"),
               due("square", "product", EXACTLY)));
    EACH_SET("cosine_scores", "*-turned",
             cosine_scores(SIZES(set), input(set, "query"),
                           input(set, "key"), due(set, "cosines", SUMS)));
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
