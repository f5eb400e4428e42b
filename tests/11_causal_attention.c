/* Chapter 11 against PyTorch: golden/11_causal_attention. The two sentences
 * of every batch differ. */
#define CHAPTER "11_causal_attention"
#include "traces.h"
#include "attention/11_causal_attention.h"

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
    for (int trains = 0; trains < 2; trains++) {
        Trace t = head_trace(
            trains
                ? tap_words("see = mask_causal(0), p = %g, r: "
                            "random_seeded(%d)",
                            p, seed)
                : tap_words("see = mask_causal(0), p = %g, r = NULL", p));
        attend_tables(mask_causal(0), p, trains ? &r : NULL, &t);
        agrees("weights", t.weights, SUMS);
        for (int k = 0; k < t.n * t.m && !trains; k++)
            tap_near(tap_words("kept[%d][%d]", k / t.m, k % t.m),
                     t.keep_mask[k], 1, EXACTLY);
        tap_close("dropped", part(trains ? "dropped" : "weights"),
                  t.dropped, SUMS);
        tap_close("context", part(trains ? "trained" : "evaluated"),
                  t.context, SUMS);
    }
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
    agrees("drawn", a.memory, EXACTLY);
    tap_near("context length", a.context_length,
             (double)integers("sizes")[2], EXACTLY);
    tap_near("rate", a.dropout_rate, doubles("rate")[0], EXACTLY);
    attention_free(&a);
}

/* In evaluation, and then in training, where the generator goes on. */
static void batch_test(void)
{
    const int n = dim("x", 1);
    Random r;
    Attention a = drawn(&r);
    for (int trains = 0; trains < 2; trains++) {
        Trace t[2] = {guarded_trace(&a, n, n), guarded_trace(&a, n, n)};
        causal_attention_batch(&a, trains ? &r : NULL, 2, n, input("x"), t);
        for (int b = 0; b < 2; b++) {
            close_entry("query", "query", b, t[b].query, SUMS);
            close_entry("key", "key", b, t[b].key, SUMS);
            close_entry("value", "value", b, t[b].value, SUMS);
            close_entry("weights", "weights", b, t[b].weights, SUMS);
            close_entry("dropped", trains ? "dropped" : "weights", b,
                        t[b].dropped, SUMS);
            close_entry("context", trains ? "trained" : "evaluated", b,
                        t[b].context, SUMS);
        }
    }
    draws_next(&r);
    attention_free(&a);
}

/* What words get where the padding is hidden. Without a generator p does
 * not count. */
static void attend_padding(void)
{
    Trace t =
        head_trace("see = mask_table(n, n, table), p = nan, r = NULL");
    const float *mask = input_as("table", "mask");
    attend_tables(mask_table(t.n, t.n, (void *)mask), NAN, NULL, &t);
    for (int k = 0; k < t.n * t.d_v; k++)
        if (integers("word")[k / t.d_v])
            tap_near(tap_words("context[%d][%d]", k / t.d_v, k % t.d_v),
                     t.context[k], doubles("context")[k], SUMS);
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
    TAP_OF("causal_attention_init: 0, which limits no text",
           causal_attention_init(&a, some_draws(), 3, 2, 0, 0, 0),
           tap_near("context length", a.context_length, 0, EXACTLY));
    REFUSES(NULL,
            causal_attention_init(&a, some_draws(), 3, 2, 5, 1.01, 0));
    REFUSES(NULL, causal_attention_init(&a, some_draws(), 3, 0, 5, 0, 0));
    REFUSES_WHAT_DOES_NOT_FIT(head_forward, WHERE_IT_FITS);
    for (int i = 0; i < 2; i++)
        REFUSES_SUCH(misfit[i], head_forward(misfitting(i), mask_none(),
                                             WHERE_IT_FITS));
    REFUSES_SUCH("keys from tokens of another width",
                 causal_attention_batch(fitting(1, 0), NULL, 1, 5, x,
                                        sized(5, 5, 1, 4, 2, 0)));
}

int main(void)
{
    EACH("attend", attend_test, "head_*-query");
    EACH_SET("attend", "two_texts*-x", two_texts(false));
    EACH("attend", attend_padding, "*padding*-word");
    EACH("causal_attention_init", init_test, "*-drawn");
    EACH_SET("head_forward", "two_texts*-x", two_texts(true));
    EACH("causal_attention_batch", batch_test, "*-drawn");
    EACH_SET("mask_padding", "*padding*-word",
             mask_padding(dim("mask", 0), dim("mask", 0),
                          input_ints_as("is_word", "word"),
                          changed_as("mask", "before", "mask", EXACTLY)));
    TAP(padding_words, "mask_padding: words are what is not 0");
    TAP(fit_test, "head_forward: accepts what fits");
    refusals();
    return tap_done();
}
