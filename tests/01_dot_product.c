/* Chapter 1 against PyTorch: golden/01_dot_product. */
#define CHAPTER "01_dot_product"
#include "sets.h"

#define PAIRS                                                              \
    "numpy", "single", "equal", "opposite", "orthogonal", "seventeen",     \
        "mixed", "thousand"
#define TABLES                                                             \
    "hello", "journey", "1x1x1", "1x5x3", "5x1x2", "2x3x5", "7x5x3",       \
        "5x7x64", "65x33x127"

/* How far a sum of products may be off. In float it depends on the order in
 * which they are added, the more so the more there are. */
#define RTOL 1e-5
static double sum_atol(int terms)
{
    return terms <= 64 ? 1e-6 : 1e-5;
}

static void multiply_test(void)
{
    const Tensor *a = part("a"), *b = part("b"), *product = part("product");
    float *got = room(product->count);
    multiply(a->shape[0], floats(a), floats(b), got);
    tap_close("product", product, got, 0, 0);
}

static void multiply_shiny(void)
{
    const Tensor *words = golden("01_dot_product/hello-query");
    const Tensor *product = golden("01_dot_product/shiny-product");
    const float *hello = floats(words), *shiny = hello + 3;
    float got[3][3];
    for (int j = 0; j < 3; j++)
        multiply(3, shiny, hello + 3 * j, got[j]);
    tap_close("product", product, got, 0, 0);
}

static void dot_test(void)
{
    const Tensor *a = part("a"), *b = part("b"), *expect = part("dot");
    const double *lengths = tensor_doubles(part("lengths"));
    float got = dot(a->shape[0], floats(a), floats(b));
    /* The products of long lists are large and may cancel each other. */
    tap_close("dot", expect, &got, RTOL, 1e-6 * lengths[0] * lengths[1]);
}

static void dot_of_nothing(void)
{
    const float a[1] = {2}, b[1] = {3};
    tap_near("dot of 0 entries", dot(0, a, b), 0, 0, 0);
}

static void dot_both_ways(void)
{
    float a[99], b[99];
    for (int round = 0; round < 100; round++) {
        int n = tap_int(1, 99);
        tap_fill(n, a, -3, 3);
        tap_fill(n, b, -3, 3);
        tap_near("b . a", dot(n, b, a), dot(n, a, b), 0, 0);
    }
}

static void length_test(void)
{
    const Tensor *lengths = part("lengths"), *a = part("a"), *b = part("b");
    float got[2] = {length(a->shape[0], floats(a)),
                    length(b->shape[0], floats(b))};
    tap_close("length", lengths, got, RTOL, 0);
}

static void length_of_zeros(void)
{
    const float zeros[3] = {0, -0.0f, 0}, sides[2] = {-3, 4};
    tap_near("length of zeros", length(3, zeros), 0, 0, 0);
    tap_near("length of -3, 4", length(2, sides), 5, 1e-7, 0);
}

static void cosine_test(void)
{
    const Tensor *a = part("a"), *b = part("b"), *expect = part("cosine");
    float got = cosine(a->shape[0], floats(a), floats(b));
    tap_close("cosine", expect, &got, RTOL, 1e-6);
}

static void cosine_of_longer(void)
{
    float a[40], b[40], longer[40];
    for (int round = 0; round < 100; round++) {
        int n = tap_int(1, 40);
        tap_fill(n, a, 0.5f, 3);
        tap_fill(n, b, -3, 3);
        for (int k = 0; k < n; k++)
            longer[k] = 8 * a[k];
        tap_near("8 a and b", cosine(n, longer, b), cosine(n, a, b), RTOL,
                 1e-6);
        tap_near("8 a and a", cosine(n, longer, a), 1, 0, 1e-6);
    }
}

static void cosine_first_zero(void)
{
    const float zeros[2] = {0, 0}, b[2] = {1, 2};
    cosine(2, zeros, b);
}

static void cosine_second_zero(void)
{
    const float zeros[2] = {0, 0}, a[2] = {1, 2};
    cosine(2, a, zeros);
}

static void transpose_test(void)
{
    const Tensor *key = part("key"), *turned = part("turned");
    float *got = room(turned->count);
    transpose(key->shape[0], key->shape[1], floats(key), (void *)got);
    tap_close("turned", turned, got, 0, 0);
}

static void transpose_twice(void)
{
    for (int round = 0; round < 50; round++) {
        int n = tap_int(1, 20), m = tap_int(1, 20);
        size_t count = (size_t)(n * m);
        float *a = room(count), *turned = room(count), *back = room(count);
        tap_fill(n * m, a, -1, 1);
        transpose(n, m, (const void *)a, (void *)turned);
        transpose(m, n, (const void *)turned, (void *)back);
        tap_true("transposed twice, it is the same",
                 !memcmp(a, back, count * sizeof *a));
    }
}

static void matmul_test(void)
{
    const Tensor *query = part("query"), *turned = part("turned");
    const Tensor *scores = part("scores");
    int n = query->shape[0], d = query->shape[1], m = turned->shape[1];
    float *got = room(scores->count);
    matmul(n, m, d, floats(query), floats(turned), (void *)got);
    tap_close("product", scores, got, RTOL, sum_atol(d));
}

static void matmul_square(void)
{
    const Tensor *a = part("a"), *b = part("b"), *product = part("product");
    float got[2][2];
    matmul(2, 2, 2, floats(a), floats(b), got);
    tap_close("product", product, got, 0, 0);
}

static void matmul_with_one(void)
{
    for (int round = 0; round < 50; round++) {
        int n = tap_int(1, 12), m = tap_int(1, 12);
        size_t count = (size_t)(n * m);
        float *a = room(count), *got = room(count), one[12 * 12] = {0};
        tap_fill(n * m, a, -1, 1);
        for (int k = 0; k < m; k++)
            one[k * m + k] = 1;
        matmul(n, m, m, (const void *)a, (const void *)one, (void *)got);
        for (int i = 0; i < n * m; i++)
            tap_near("a times the unit matrix", got[i], a[i], 0, 0);
    }
}

static void dot_scores_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *scores = part("scores");
    int n = query->shape[0], d = query->shape[1], m = key->shape[0];
    float *got = room(scores->count);
    dot_scores(n, m, d, floats(query), floats(key), (void *)got);
    tap_close("scores", scores, got, RTOL, sum_atol(d));
}

static void dot_scores_by_matmul(void)
{
    float query[12 * 40], key[12 * 40], turned[12 * 40];
    float got[12 * 12], expect[12 * 12];
    for (int round = 0; round < 50; round++) {
        int n = tap_int(1, 12), m = tap_int(1, 12), d = tap_int(1, 40);
        tap_fill(n * d, query, -1, 1);
        tap_fill(m * d, key, -1, 1);
        transpose(m, d, (const void *)key, (void *)turned);
        matmul(n, m, d, (const void *)query, (const void *)turned,
               (void *)expect);
        dot_scores(n, m, d, (const void *)query, (const void *)key,
                   (void *)got);
        for (int i = 0; i < n * m; i++)
            tap_near("score", got[i], expect[i], RTOL, sum_atol(d));
    }
}

static void cosine_scores_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *cosines = part("cosines");
    int n = query->shape[0], d = query->shape[1], m = key->shape[0];
    float *got = room(cosines->count);
    cosine_scores(n, m, d, floats(query), floats(key), (void *)got);
    tap_close("scores", cosines, got, RTOL, 1e-6);
}

static void cosine_scores_zero_query(void)
{
    const float query[2][2] = {{1, 2}, {0, 0}}, key[1][2] = {{3, 4}};
    float scores[2][1];
    cosine_scores(2, 1, 2, query, key, scores);
}

static void cosine_scores_zero_key(void)
{
    const float query[1][2] = {{1, 2}}, key[2][2] = {{3, 4}, {0, 0}};
    float scores[1][2];
    cosine_scores(1, 2, 2, query, key, scores);
}

int main(void)
{
    const char *const file = "01_dot_product.c";
    const char *const first = "the first vector has length 0 and so no "
                              "direction: both need a length above 0";
    const char *const second = "the second vector has length 0 and so no "
                               "direction: both need a length above 0";

    SETS("multiply", multiply_test, PAIRS);
    TAP(multiply_shiny, "multiply: all nine products of shiny");

    SETS("dot", dot_test, PAIRS);
    TAP(dot_of_nothing, "dot: no entries");
    TAP(dot_both_ways, "dot: the same both ways");

    SETS("length", length_test, PAIRS);
    TAP(length_of_zeros, "length: zeros, and a triangle");

    SETS("cosine", cosine_test, PAIRS);
    TAP(cosine_of_longer, "cosine: length does not count");
    tap_refuses(cosine_first_zero, "cosine: refuses a first vector of 0",
                file, first);
    tap_refuses(cosine_second_zero, "cosine: refuses a second vector of 0",
                file, second);

    SETS("dot_scores", dot_scores_test, TABLES);
    TAP(dot_scores_by_matmul, "dot_scores: as matmul with transposed keys");

    SETS("transpose", transpose_test, TABLES);
    TAP(transpose_twice, "transpose: twice changes nothing");

    SETS("matmul", matmul_test, TABLES);
    SETS("matmul", matmul_square, "square");
    TAP(matmul_with_one, "matmul: the unit matrix changes nothing");

    SETS("cosine_scores", cosine_scores_test, TABLES);
    tap_refuses(cosine_scores_zero_query,
                "cosine_scores: refuses a query of 0", file, first);
    tap_refuses(cosine_scores_zero_key, "cosine_scores: refuses a key of 0",
                file, second);
    return tap_done();
}
