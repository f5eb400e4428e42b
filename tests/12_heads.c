/* Chapter 12 against PyTorch: golden/12_heads. */
#define CHAPTER "12_heads"
#include "sets.h"

#define HEADS                                                              \
    "life_1", "life_4", "heads_1x1x1x1x1", "heads_2x3x4x2x3",              \
        "heads_3x5x4x3x2", "heads_5x7x6x2x1", "heads_2x4x3x5x4",           \
        "heads_2x9x3x4x2"

/* As in tests/03_qkv.c, and a little more, since the scores are sums of
 * products of rounded sums; loud ones are some hundred. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 1e-5
#define WEIGHT_ATOL 1e-6
#define LOUD_RTOL 5e-5

/* The heads that the running set's seed gives; `before` numbers are drawn
 * first. */
static Heads drawn(int before)
{
    const Tensor *w_query = part("w_query"), *w_value = part("w_value");
    const int n_heads = w_query->shape[0], d_in = w_query->shape[1];
    Random r;
    Heads h;
    random_seed(&r, (uint64_t)tensor_integers(part("seed"))[0]);
    for (int i = 0; i < before; i++)
        random_float(&r);
    heads_init(&h, &r, n_heads, d_in, w_query->shape[2], w_value->shape[2]);
    return h;
}

static void same(const char *what, size_t count, const float got[count],
                 const float expect[count])
{
    for (size_t i = 0; i < count; i++)
        tap_near(what, got[i], expect[i], 0, 0);
}

/* Each head's three matrices, to the last bit. */
static void init_test_after(int before)
{
    const float *expect[3] = {floats(part("w_query")),
                              floats(part("w_key")),
                              floats(part("w_value"))};
    Heads h = drawn(before);
    tap_near("heads", h.n_heads, part("w_query")->shape[0], 0, 0);
    for (int k = 0; k < h.n_heads; k++) {
        const SelfAttentionV1 *a = &h.head[k];
        const size_t keys = (size_t)(a->d_in * a->d_k);
        const size_t values = (size_t)(a->d_in * a->d_v);
        same("w_query", keys, a->w_query, expect[0] + (size_t)k * keys);
        same("w_key", keys, a->w_key, expect[1] + (size_t)k * keys);
        same("w_value", values, a->w_value, expect[2] + (size_t)k * values);
    }
    heads_free(&h);
}

static void init_test(void)
{
    init_test_after(0);
}

static void concat_init_test(void)
{
    sets_now = "concat";
    init_test_after(24);
}

static Trace *traces(const Heads *h, int n)
{
    Trace *trace = malloc((size_t)h->n_heads * sizeof *trace);
    for (int k = 0; k < h->n_heads; k++)
        trace_init(&trace[k], n, n, h->head[k].d_k, h->head[k].d_v);
    return trace;
}

static void free_traces(const Heads *h, Trace *trace)
{
    for (int k = 0; k < h->n_heads; k++)
        trace_free(&trace[k]);
    free(trace);
}

/* A batch, sentence after sentence, in the same traces: the table of all
 * heads, and the scores and weights of each. */
static void forward_within(int before, double rtol)
{
    const Tensor *x = part("x"), *scores = part("scores");
    const Tensor *weights = part("weights"), *joined = part("joined");
    const int batch = x->shape[0], n = x->shape[1];
    Heads h = drawn(before);
    Trace *trace = traces(&h, n);
    float *got[3] = {room(scores->count), room(weights->count),
                     room(joined->count)};
    for (int b = 0; b < batch; b++) {
        heads_forward(&h, n,
                      (void *)((float *)floats(x) + b * n * x->shape[2]),
                      trace, (void *)(got[2] + b * n * joined->shape[2]));
        for (int k = 0; k < h.n_heads; k++) {
            const int at = (b * h.n_heads + k) * n * n;
            memcpy(got[0] + at, trace[k].scores, sizeof(float[n][n]));
            memcpy(got[1] + at, trace[k].weights, sizeof(float[n][n]));
        }
    }
    tap_close("scores", scores, got[0], SUM_RTOL, 10 * SUM_ATOL);
    tap_close("weights", weights, got[1], rtol, WEIGHT_ATOL);
    tap_close("joined", joined, got[2], rtol, SUM_ATOL);
    free_traces(&h, trace);
    heads_free(&h);
}

static void forward_test(void)
{
    forward_within(0, WEIGHT_RTOL);
}

static void concat_test(void)
{
    sets_now = "concat";
    forward_within(24, WEIGHT_RTOL);
}

static void loud_test(void)
{
    sets_now = "heads_loud";
    forward_within(0, LOUD_RTOL);
}

/* Columns k * d_v to (k + 1) * d_v are what head k computes alone, whatever
 * stands beside it. */
static void alone_test(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 6), d = tap_int(1, 5);
        const int d_k = tap_int(1, 4), d_v = tap_int(1, 4);
        const int n_heads = tap_int(1, 5), wide = n_heads * d_v;
        Random r;
        Heads h;
        random_seed(&r, (uint64_t)round);
        heads_init(&h, &r, n_heads, d, d_k, d_v);
        Trace *trace = traces(&h, n), one;
        trace_init(&one, n, n, d_k, d_v);
        float *x = room((size_t)(n * d)),
              *joined = room((size_t)(n * wide));
        tap_fill(n * d, x, -2, 2);
        heads_forward(&h, n, (void *)x, trace, (void *)joined);
        for (int k = 0; k < n_heads; k++) {
            self_v1_forward(&h.head[k], n, (void *)x, &one);
            for (int i = 0; i < n; i++)
                same("a head's columns", (size_t)d_v,
                     joined + i * wide + k * d_v,
                     (float *)one.context + i * d_v);
        }
        trace_free(&one);
        free_traces(&h, trace);
        heads_free(&h);
    }
}

/* The heads in the opposite order: their columns in the opposite order. */
static void order_test(void)
{
    sets_now = "heads_3x5x4x3x2";
    enum { H = 3, N = 5, D_V = 2 };
    Heads h = drawn(0);
    Trace *trace = traces(&h, N);
    float(*joined)[H][D_V] = room(N * H * D_V);
    float(*turned)[H][D_V] = room(N * H * D_V);
    heads_forward(&h, N, floats(part("x")), trace, (void *)joined);
    SelfAttentionV1 first = h.head[0];
    h.head[0] = h.head[H - 1];
    h.head[H - 1] = first;
    heads_forward(&h, N, floats(part("x")), trace, (void *)turned);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < H; k++)
            same("columns", D_V, turned[i][k], joined[i][H - 1 - k]);
    free_traces(&h, trace);
    heads_free(&h);
}

/* The shares of each word add up to one, in every head. */
static void sums_test(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 9), d = tap_int(1, 5);
        const int n_heads = tap_int(1, 5);
        Random r;
        Heads h;
        random_seed(&r, (uint64_t)round);
        heads_init(&h, &r, n_heads, d, tap_int(1, 4), 1);
        Trace *trace = traces(&h, n);
        float *x = room((size_t)(n * d));
        tap_fill(n * d, x, -3, 3);
        heads_forward(&h, n, (void *)x, trace, room((size_t)(n * n_heads)));
        for (int k = 0; k < n_heads; k++)
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += (double)((float *)trace[k].weights)[i * n + j];
                tap_near("row sum", sum, 1, 1e-6, 0);
            }
        free_traces(&h, trace);
        heads_free(&h);
    }
}

/* What is freed can be asked for again: 100 times some of it does not fit
 * otherwise. */
static void free_heads(int n_heads, int d)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        Heads h;
        heads_init(&h, &r, n_heads, d, d, d);
        heads_free(&h);
        tap_true("freed", 1);
    }
}

static void free_matrices(void)
{
    free_heads(3, 200);
}

static void free_list(void)
{
    free_heads(10000, 1);
}

/* Made, used and freed again and again, as valgrind and sanitizers watch. */
static void free_test(void)
{
    float first[20], x[4][3], joined[4][20];
    tap_fill(12, (void *)x, -2, 2);
    for (int n_heads = 20; n_heads > 0; n_heads--) {
        Random r;
        Heads h;
        random_seed(&r, 5);
        heads_init(&h, &r, n_heads, 3, 2, 1);
        Trace *trace = traces(&h, 4);
        heads_forward(&h, 4, x, trace, (void *)joined);
        if (n_heads == 20)
            memcpy(first, joined, sizeof first);
        same("first row", (size_t)n_heads, joined[0], first);
        free_traces(&h, trace);
        heads_free(&h);
    }
}

static void init_with(int n_heads)
{
    Random r;
    Heads h;
    random_seed(&r, 1);
    heads_init(&h, &r, n_heads, 3, 2, 1);
}

static void no_heads(void)
{
    init_with(0);
}

static void negative_heads(void)
{
    init_with(-1);
}

static void wrong_trace(void)
{
    Random r;
    Heads h;
    float x[2][3] = {{0}}, joined[2][2];
    Trace trace[2];
    random_seed(&r, 1);
    heads_init(&h, &r, 2, 3, 2, 1);
    trace_init(&trace[0], 2, 2, 2, 1);
    trace_init(&trace[1], 2, 2, 2, 2);
    heads_forward(&h, 2, x, trace, joined);
}

static void count_test(void)
{
    const Tensor *sizes = golden("12_heads/parameters-sizes");
    const Tensor *counts = golden("12_heads/parameters-counts");
    const int64_t *size = tensor_integers(sizes);
    for (int i = 0; i < sizes->shape[0]; i++, size += 4) {
        int64_t got = count_parameters((int)size[0], (int)size[1],
                                       (int)size[2], (int)size[3]);
        int64_t expect = tensor_integers(counts)[i];
        tap_report(got == expect, "parameters",
                   "  got: %" PRId64 "\n  expect: %" PRId64 "\n", got,
                   expect);
    }
}

/* 2^63 - 1 parameters fit, the product of these three; one more does not. */
enum { MANY_HEADS = 11777599, MANY_ROWS = 218934409, MANY_COLUMNS = 3577 };
static void count_most(void)
{
    tap_true("2^63 - 1",
             count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 1) ==
                 INT64_MAX);
}

static void count_too_many(void)
{
    count_parameters(MANY_HEADS, MANY_ROWS, MANY_COLUMNS / 2, 2);
}

static void count_largest(void)
{
    count_parameters(INT_MAX, INT_MAX, 1, 1);
}

static void count_no_heads(void)
{
    count_parameters(-1, 3, 2, 1);
}

static void count_no_rows(void)
{
    count_parameters(2, 0, 2, 1);
}

static void count_no_keys(void)
{
    count_parameters(2, 3, 0, 1);
}

static void count_no_values(void)
{
    count_parameters(2, 3, 2, 0);
}

int main(void)
{
    const char *file = "12_heads.c";
    SETS("heads_init", init_test, HEADS, "heads_loud");
    TAP(concat_init_test, "heads_init: concat");
    SETS("heads_forward", forward_test, HEADS);
    TAP(concat_test, "heads_forward: concat");
    TAP(loud_test, "heads_forward: heads_loud");
    TAP(alone_test, "heads_forward: each head as if it were alone");
    TAP(sums_test, "heads_forward: rows of shares add up to one");
    TAP(order_test, "heads_forward: heads in the opposite order");
    TAP(free_test, "heads_free: twenty heads, nineteen, and so on");
    TAP_LARGE(free_matrices, "heads_free: the matrices can be used again");
    TAP_LARGE(free_list, "heads_free: the list can be used again");
    TAP(count_test, "count_parameters: eight sizes");
    TAP(count_most, "count_parameters: 2^63 - 1 parameters");
    tap_refuses(no_heads, "heads_init: refuses no heads", file,
                "0 heads: at least 1 is needed");
    tap_refuses(negative_heads, "heads_init: refuses -1 heads", file,
                "-1 heads: at least 1 is needed");
    tap_refuses(
        wrong_trace,
        "heads_forward: refuses a trace that does not "
        "fit",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 2, 2, 2, 2: 2, 2, 2, 1 are needed");
    tap_refuses(
        count_no_heads, "count_parameters: refuses -1 heads", file,
        "-1 heads of sizes 3, 2, 1: sizes of at least 1 are needed");
    tap_refuses(count_no_rows, "count_parameters: refuses a d_in of 0",
                file,
                "2 heads of sizes 0, 2, 1: sizes of at least 1 are needed");
    tap_refuses(count_no_keys, "count_parameters: refuses a d_k of 0", file,
                "2 heads of sizes 3, 0, 1: sizes of at least 1 are needed");
    tap_refuses(count_no_values, "count_parameters: refuses a d_v of 0",
                file,
                "2 heads of sizes 3, 2, 0: sizes of at least 1 are needed");
    tap_refuses(count_too_many, "count_parameters: refuses one too many",
                file,
                "11777599 heads of sizes 218934409, 1788, 2: their "
                "parameters are more than an int64_t can count");
    tap_refuses(count_largest, "count_parameters: refuses what overflows",
                file,
                "2147483647 heads of sizes 2147483647, 1, 1: their "
                "parameters are more than an int64_t can count");
    return tap_done();
}
