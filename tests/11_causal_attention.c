/* Chapter 11 against PyTorch: golden/11_causal_attention. The two sentences
 * of every batch differ. */
#define CHAPTER "11_causal_attention"
#include "traces.h"
#include "attention/11_causal_attention.h"
#include "attention/06_scaling.h"

#define BATCHES                                                            \
    "one_token", "one_number", "plain", "biased", "half", "loud",          \
        "all_dropped", "program", "long"
#define HEADS                                                              \
    "head_1x1x1", "head_4x3x2", "head_6x2x5", "head_9x7x3", "head_loud"
#define TEXTS "two_texts", "two_texts_bare"
#define PADDINGS                                                           \
    "no_padding", "padding_in_front", "padding_behind", "padding_between"

#define RTOL 1e-5
#define ATOL 1e-6

static void attend_tables(Mask mask, double p, Random *r, Trace *t)
{
    attend(t->n, t->m, t->d_k, t->d_v, mask, p, r, (void *)t->query,
           (void *)t->key, (void *)t->value, (void *)t->scores,
           (void *)t->weights, (void *)t->keep_mask, (void *)t->dropped,
           (void *)t->context);
}

/* A trace of one head, with the queries, keys and values of the set. */
static Trace head_trace(const char *before)
{
    next_case();
    give("%s", before);
    const Attention a = {
        .n_heads = 1, .d_k = dim("query", 1), .d_v = dim("value", 1)};
    Trace t = guarded_trace(&a, dim("query", 0), dim("key", 0));
    t.query = input("query");
    t.key = input("key");
    t.value = input("value");
    return t;
}

/* In evaluation, which drops nothing whatever the rate, and in training. */
static void attend_test(void)
{
    const int seed = strcmp(sets_now, "head_loud") ? dim("query", 0) : 3;
    const double p = doubles("rate")[0];
    Random r = seeded(seed);
    Trace t =
        head_trace(tap_words("see = mask_causal(0), p = %g, r = NULL", p));
    attend_tables(mask_causal(0), p, NULL, &t);
    agrees("weights", t.weights, RTOL, ATOL);
    for (int k = 0; k < t.n * t.m; k++)
        tap_near(tap_words("kept[%d][%d]", k / t.m, k % t.m),
                 t.keep_mask[k], 1, 0, 0);
    tap_close("dropped", part("weights"), t.dropped, RTOL, ATOL);
    tap_close("context", part("evaluated"), t.context, RTOL, ATOL);

    t = head_trace(tap_words(
        "see = mask_causal(0), p = %g, r: random_seeded(%d)", p, seed));
    attend_tables(mask_causal(0), p, &r, &t);
    agrees("weights", t.weights, RTOL, ATOL);
    agrees("dropped", t.dropped, RTOL, ATOL);
    tap_close("context", part("trained"), t.context, RTOL, ATOL);
}

/* From one text to another, with weights that are dropped: the whole, or
 * attend alone, which is given PyTorch's queries, keys and values. For one
 * head, its own tables are those of all heads. */
static void two_texts(bool is_whole)
{
    const Tensor *x = part("x"), *y = part("y");
    const int n = x->shape[1], m = y->shape[1];
    Random r;
    Mask mask;
    Attention a = given(&mask, &r);
    float *query = rounded(part("query")), *key = rounded(part("key"));
    float *value = rounded(part("value"));
    for (int b = 0; b < 2; b++) {
        tell_attention(&a, mask);
        give("r: random_seeded(%d)%s", (int)integers("sizes")[10],
             b ? " and a first call" : "");
        Trace t = guarded_trace(&a, n, m);
        if (is_whole) {
            head_forward(&a, mask, &r, n, m, told_entry("x", x, b),
                         told_entry("y", y, b), &t);
            tap_near("t->dropout_rate", t.dropout_rate, a.dropout_rate, 0,
                     0);
        } else {
            t.query = query + b * n * a.d_k;
            t.key = key + b * m * a.d_k;
            t.value = value + b * m * a.d_v;
            attend_tables(mask, a.dropout_rate, &r, &t);
        }
        t.head_query = t.query;
        t.head_key = t.key;
        t.head_value = t.value;
        t.joined = t.context;
        close_tables(is_whole ? "t->" : "", &t, b);
    }
    draws_next(&r);
    attention_free(&a);
}

static void attend_texts(void)
{
    two_texts(false);
}

static void forward_texts(void)
{
    two_texts(true);
}

/* The object of a set, and the generator after its layers are drawn. */
static Attention drawn(Random *r)
{
    Attention a;
    const int64_t *size = integers("sizes");
    *r = random_seeded((uint64_t)size[0]);
    causal_attention_init(&a, r, dim("x", 2), (int)size[1], (int)size[2],
                          doubles("rate")[0], size[3] != 0);
    return a;
}

static void init_test(void)
{
    Random r;
    Attention a = drawn(&r);
    tap_true("number of parameters", a.count == part("drawn")->count);
    agrees("drawn", a.memory, 0, 0);
    tap_near("context length", a.context_length,
             (double)integers("sizes")[2], 0, 0);
    tap_near("rate", a.dropout_rate, doubles("rate")[0], 0, 0);
    attention_free(&a);
}

/* In evaluation, and then in training, where the generator goes on. */
static void batch_test(void)
{
    const int n = dim("x", 1);
    Random r;
    Attention a = drawn(&r);
    for (int is_training = 0; is_training < 2; is_training++) {
        Trace t[2] = {guarded_trace(&a, n, n), guarded_trace(&a, n, n)};
        causal_attention_batch(&a, is_training ? &r : NULL, 2, n,
                               input("x"), t);
        for (int b = 0; b < 2; b++) {
            close_entry("query", "query", b, t[b].query, RTOL, ATOL);
            close_entry("key", "key", b, t[b].key, RTOL, ATOL);
            close_entry("value", "value", b, t[b].value, RTOL, ATOL);
            close_entry("weights", "weights", b, t[b].weights, RTOL, ATOL);
            close_entry("dropped", is_training ? "dropped" : "weights", b,
                        t[b].dropped, RTOL, ATOL);
            close_entry("context", is_training ? "trained" : "evaluated", b,
                        t[b].context, RTOL, ATOL);
        }
    }
    draws_next(&r);
    attention_free(&a);
}

static void padding_test(void)
{
    const int n = dim("mask", 0);
    const int64_t *word = tensor_integers(told_as("is_word", "word"));
    const float *before = input_as("mask", "before");
    float *mask = result("mask");
    int is_word[16];
    memcpy(mask, before, (size_t)(n * n) * sizeof *mask);
    for (int j = 0; j < n; j++)
        is_word[j] = (int)word[j];
    mask_padding(n, n, is_word, (void *)mask);
    agrees("mask", mask, 0, 0);
}

/* What words get where the padding is hidden. */
static void attend_padding(void)
{
    Trace t = head_trace("see = mask_table(n, n, table), p = 0, r = NULL");
    const float *mask = input_as("table", "mask");
    attend_tables(mask_table(t.n, t.n, (void *)mask), 0, NULL, &t);
    for (int k = 0; k < t.n * t.d_v; k++)
        if (integers("word")[k / t.d_v])
            tap_near(tap_words("context[%d][%d]", k / t.d_v, k % t.d_v),
                     t.context[k], doubles("context")[k], RTOL, ATOL);
}

/* Whatever is not 0 is a word; fewer queries than keys. */
static void padding_words(void)
{
    const int is_word[5] = {2, 0, -1, INT_MIN, 1};
    float mask[2][5] = {{1, 1, 0, 0, 1}, {1, 1, 1, 1, 1}};
    const float expect[2][5] = {{1, 0, 0, 0, 1}, {1, 0, 1, 1, 1}};
    float before[2][5];
    memcpy(before, mask, sizeof mask);
    give_ints("is_word", 5, is_word);
    give_table("mask", 2, 5, before);
    mask_padding(2, 5, is_word, mask);
    same_table("mask", 2, 5, mask, expect);
}

/* Where all is seen and nothing dropped, chapter 6's formula. */
static void formula_test(void)
{
    enum { N = 5, M = 7, D_K = 3, D_V = 4 };
    float x[N][D_K], y[M][D_K], z[M][D_V], got[5][N * M], right[3][N * M];
    tap_fill(N * D_K, (void *)x, -2, 2);
    tap_fill(M * D_K, (void *)y, -2, 2);
    tap_fill(M * D_V, (void *)z, -2, 2);
    attention(N, M, D_K, D_V, x, y, z, (void *)right[0], (void *)right[1],
              (void *)right[2]);
    give("see = mask_none(), p = nan, r = NULL");
    attend(N, M, D_K, D_V, mask_none(), NAN, NULL, x, y, z, (void *)got[0],
           (void *)got[1], (void *)got[2], (void *)got[3], (void *)got[4]);
    similar("scores", N * M, got[0], right[0], RTOL, ATOL);
    similar("weights", N * M, got[1], right[1], RTOL, ATOL);
    similar("context", N * D_V, got[4], right[2], RTOL, ATOL);
}

static void fit_test(void)
{
    fit.dropout_rate = 0.5;
    fitting(1, 0);
    fit_trace.dropout_rate = 0.5; /* of a training before */
    give("t->dropout_rate = 0.5 of a training before, r = NULL");
    head_forward(&fit, mask_none(), WHERE_IT_FITS);
    tap_near("t->dropout_rate", fit_trace.dropout_rate, 0, 0, 0);
}

static void refusals(void)
{
    Attention a;
    void *const x = fit_x;
    REFUSES_SUCH("a mask of 3 times 2, for 2 queries and 3 keys",
                 attend(2, 3, 4, 1, mask_table(3, 2, x), 0, NULL, x, x, x,
                        x, x, x, x, x));
    REFUSES_SUCH("a rate of 1.5, with a generator",
                 attend(1, 1, 1, 1, mask_none(), 1.5, some_draws(), x, x, x,
                        x, x, x, x, x));
    REFUSES("11_causal_attention.c: causal_attention_init: a context "
            "length of -1: 0, for any, or more is needed",
            causal_attention_init(&a, some_draws(), 3, 2, -1, 0, 0));
    REFUSES(NULL,
            causal_attention_init(&a, some_draws(), 3, 2, 5, 1.01, 0));
    REFUSES(NULL, causal_attention_init(&a, some_draws(), 3, 0, 5, 0, 0));
    TAP(formula_test, "attend: chapter 6's formula, whatever p is");
    TAP(fit_test, "head_forward: accepts what fits");
    REFUSES_WHAT_DOES_NOT_FIT(head_forward, WHERE_IT_FITS);
    REFUSES_SUCH("two heads",
                 head_forward(fitting(2, 0), mask_none(), WHERE_IT_FITS));
    REFUSES_SUCH("an output layer",
                 head_forward(fitting(1, 3), mask_none(), WHERE_IT_FITS));
    REFUSES_SUCH("keys from tokens of another width",
                 causal_attention_batch(fitting(1, 0), NULL, 1, 5, x,
                                        sized(5, 5, 1, 4, 2, 0)));
}

int main(void)
{
    SETS("attend", attend_test, HEADS);
    SETS("attend", attend_texts, TEXTS);
    SETS("attend", attend_padding, PADDINGS);
    SETS("causal_attention_init", init_test, BATCHES);
    SETS("head_forward", forward_texts, TEXTS);
    SETS("causal_attention_batch", batch_test, BATCHES);
    SETS("mask_padding", padding_test, PADDINGS);
    TAP(padding_words, "mask_padding: words are what is not 0");
    refusals();
    return tap_done();
}
