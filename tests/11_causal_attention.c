/* Chapter 11 against PyTorch: golden/11_causal_attention. The two sentences
 * of every batch differ. */
#define CHAPTER "11_causal_attention"
#include "traces.h"
#include "attention/11_causal_attention.h"

/* A trace of one head, with the queries, keys and values of the set. */
static Trace head_trace(const char *set)
{
    const int d_k = dim(set, "query", 1), d_v = dim(set, "value", 1);
    const Attention a = {.n_heads = 1, .d_k = d_k, .d_v = d_v};
    Trace t = guarded_trace(&a, dim(set, "query", 0), dim(set, "key", 0));
    next_case();
    t.query = input(set, "query");
    t.key = input(set, "key");
    t.value = input(set, "value");
    return t;
}

/* In evaluation, which drops nothing whatever the rate, or in training. */
static void attend_test(const char *set, bool trains)
{
    const int seed = strcmp(set, "head_loud") ? dim(set, "query", 0) : 3;
    const double p = golden_number(set, "rate");
    Random r = random_seeded((uint64_t)seed);
    Trace t = head_trace(set);
    given("see = mask_causal(0), p = %g", p);
    given(trains ? "r: random_seeded(%d)" : "r = NULL", seed);
    attend(mask_causal(0), p, trains ? &r : NULL, &t);
    expect_close("weights", t.weights, golden(set, "weights"), SUMS);
    for (int k = 0; k < t.n * t.m && !trains; k++)
        expect_equal(tap_words("kept[%d][%d]", k / t.m, k % t.m),
                     t.keep_mask[k], 1);
    expect_close("dropped", t.dropped,
                 golden(set, trains ? "dropped" : "weights"), SUMS);
    expect_close("context", t.context,
                 golden(set, trains ? "trained" : "evaluated"), SUMS);
}

/* From one text to another, with weights that are dropped: the whole, or
 * attend alone, which is given PyTorch's queries, keys and values. For one
 * head, its own tables are those of all heads. */
static void two_texts(const char *set, bool is_whole)
{
    const int n = dim(set, "x", 1), m = dim(set, "y", 1);
    Random r;
    Mask mask;
    Attention a = golden_attention(set, &mask, &r);
    for (int b = 0; b < 2; b++) {
        given_attention(&a, mask);
        given("r: random_seeded(%d)%s",
              (int)golden_integers(set, "sizes")[10],
              b ? " and a first call" : "");
        Trace t = guarded_trace(&a, n, m);
        if (is_whole) {
            head_forward(&a, mask, &r, n, m, input_entry(set, "x", b),
                         input_entry(set, "y", b), &t);
            expect_equal("t->dropout_rate", t.dropout_rate, a.dropout_rate);
        } else {
            t.query = input_entry(set, "query", b);
            t.key = input_entry(set, "key", b);
            t.value = input_entry(set, "value", b);
            attend(mask, a.dropout_rate, &r, &t);
        }
        t.head_query = t.query;
        t.head_key = t.key;
        t.head_value = t.value;
        t.joined = t.context;
        expect_golden_tables(is_whole ? "t->" : "", &t, set, b);
    }
    expect_next_draw(set, &r);
    attention_free(&a);
}

/* The object of a set, and the generator after its layers are drawn. */
static Attention drawn(const char *set, Random *r)
{
    Attention a;
    const int64_t *size = golden_integers(set, "sizes");
    *r = random_seeded((uint64_t)size[0]);
    causal_attention_init(&a, r, dim(set, "x", 2), (int)size[1],
                          (int)size[2], golden_number(set, "rate"),
                          size[3] != 0);
    return a;
}

static void init_test(const char *set)
{
    Random r;
    Attention a = drawn(set, &r);
    expect_true("parameters", a.count == golden_count(set, "drawn"));
    expect_close("drawn", a.memory, golden(set, "drawn"), EXACTLY);
    expect_equal("context length", a.context_length,
                 (double)golden_integers(set, "sizes")[2]);
    expect_equal("rate", a.dropout_rate, golden_number(set, "rate"));
    attention_free(&a);
}

/* In evaluation, and then in training, where the generator goes on. */
static void batch_test(const char *set)
{
    const int n = dim(set, "x", 1);
    Random r;
    Attention a = drawn(set, &r);
    for (int trains = 0; trains < 2; trains++) {
        Trace t[2] = {guarded_trace(&a, n, n), guarded_trace(&a, n, n)};
        causal_attention_batch(&a, trains ? &r : NULL, 2, n,
                               input(set, "x"), t);
        for (int b = 0; b < 2; b++) {
            expect_entry("query", t[b].query, set, "query", b, SUMS);
            expect_entry("key", t[b].key, set, "key", b, SUMS);
            expect_entry("value", t[b].value, set, "value", b, SUMS);
            expect_entry("weights", t[b].weights, set, "weights", b, SUMS);
            expect_entry("dropped", t[b].dropped, set,
                         trains ? "dropped" : "weights", b, SUMS);
            expect_entry("context", t[b].context, set,
                         trains ? "trained" : "evaluated", b, SUMS);
        }
    }
    expect_next_draw(set, &r);
    attention_free(&a);
}

/* What words get where the padding is hidden. Without a generator p does
 * not count. */
static void attend_padding(const char *set)
{
    Trace t = head_trace(set);
    const Mask mask = mask_table(t.n, t.n, input_as(set, "mask", "table"));
    given("see = mask_table(n, n, table), p = nan, r = NULL");
    attend(mask, NAN, NULL, &t);
    for (int k = 0; k < t.n * t.d_v; k++)
        if (golden_integers(set, "word")[k / t.d_v])
            expect_near(tap_words("context[%d][%d]", k / t.d_v, k % t.d_v),
                        t.context[k], golden_doubles(set, "context")[k],
                        SUMS);
}

/* Whatever is not 0 is a word; fewer queries than keys. */
static void padding_words(void)
{
    const int is_word[5] = {2, 0, -1, INT_MIN, 1};
    float mask[2][5] = {{1, 1, 0, 0, 1}, {1, 1, 1, 1, 1}};
    const float expect[2][5] = {{1, 0, 0, 0, 1}, {1, 0, 1, 1, 1}};
    given_array("is_word", is_word, 5);
    given_array("mask", mask, 2, 5);
    mask_padding(2, 5, is_word, mask);
    expect_table("mask", 2, 5, mask, expect, EXACTLY);
}

static void forward(Mask see)
{
    head_forward(&fit, see, NULL, 5, 6, fit_x, fit_y, &fit_trace);
}

static void fit_test(void)
{
    fit.dropout_rate = 0.5;
    fitting(1, 0);
    fit_trace.dropout_rate = 0.5; /* of a training before */
    given("t->dropout_rate = 0.5 of a training before, r = NULL");
    forward(mask_none());
    expect_equal("t->dropout_rate", fit_trace.dropout_rate, 0);
}

static void refusals(void)
{
    Attention a;
    void *const x = fit_x;
    fitting(1, 0);
    REFUSES_SUCH("a mask of 3 times 2, for 5 queries and 6 keys",
                 attend(mask_table(3, 2, x), 0, NULL, &fit_trace));
    REFUSES_SUCH("a rate of 1.5, with a generator",
                 attend(mask_none(), 1.5, some_draws(), &fit_trace));
    REFUSES_WRONG("attend", misfit_head,
                  attend(fit_but(w), 0, NULL, &fit_trace));
    REFUSES("11_causal_attention.c: causal_attention_init: a context "
            "length of -1: 0, for any, or more is needed",
            causal_attention_init(&a, some_draws(), 3, 2, -1, 0, 0));
    TAP("causal_attention_init: 0, which limits no text",
        causal_attention_init(&a, some_draws(), 3, 2, 0, 0, 0),
        expect_equal("context length", a.context_length, 0));
    REFUSES(NULL,
            causal_attention_init(&a, some_draws(), 3, 2, 5, 1.01, 0));
    REFUSES_WRONG("head_forward", misfit, forward(fit_but(w)));
    REFUSES_WRONG("head_forward", misfit_lengths, forward(fit_but(w)));
    REFUSES_WRONG("head_forward", misfit_mask, forward(fit_but(w)));
    REFUSES_WRONG("head_forward", misfit_head, forward(fit_but(w)));
    fitting(1, 0);
    REFUSES_SUCH("keys from tokens of another width",
                 causal_attention_batch(&fit, NULL, 1, 5, x, &fit_trace));
}

int main(void)
{
    EACH_SET("attend", "head_*-query", attend_test(set, false),
             attend_test(set, true));
    EACH_SET("attend", "two_texts*-x", two_texts(set, false));
    EACH_SET("attend", "*padding*-word", attend_padding(set));
    EACH_SET("causal_attention_init", "*-drawn", init_test(set));
    EACH_SET("head_forward", "two_texts*-x", two_texts(set, true));
    EACH_SET("causal_attention_batch", "*-drawn", batch_test(set));
    EACH_SET(
        "mask_padding", "*padding*-word",
        mask_padding(dim(set, "mask", 0), dim(set, "mask", 0),
                     input_ints(set, "word", "is_word"),
                     changed_as(set, "before", "mask", "mask", EXACTLY)));
    TAP("mask_padding: words are what is not 0", padding_words());
    TAP("head_forward: accepts what fits", fit_test());
    refusals();
    return tap_done();
}
