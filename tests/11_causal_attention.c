/* Chapter 11 against PyTorch: golden/11_causal_attention. The two sentences
 * of every batch differ. */
#define CHAPTER "11_causal_attention"
#include "traces.h"

#define BATCHES                                                            \
    "plain", "biased", "long", "half", "one_token", "one_number", "loud",  \
        "all_dropped", "program"
#define HEADS                                                              \
    "head_1x1x1", "head_6x2x5", "head_9x7x3", "head_4x3x2", "head_loud"
#define PADDINGS                                                           \
    "padding_behind", "padding_in_front", "padding_between", "no_padding"

#define RTOL 1e-5
#define ATOL 1e-6

/* A trace of one head, for what attend works on. */
static Trace head_trace(int n, int m, int d_k, int d_v)
{
    return roomy(&(Attention){.n_heads = 1, .d_k = d_k, .d_v = d_v}, n, m);
}

static void attend_trace(Mask see, double p, Random *r, Trace *t)
{
    attend(t->n, t->m, t->d_k, t->d_v, see, p, r, (void *)t->query,
           (void *)t->key, (void *)t->value, (void *)t->scores,
           (void *)t->weights, (void *)t->kept, (void *)t->dropped,
           (void *)t->context);
}

static void attend_test(void)
{
    const Tensor *query = part("query"), *value = part("value");
    const int n = query->shape[0];
    const double rate = tensor_doubles(part("rate"))[0];
    Random r;
    Trace t = head_trace(n, n, query->shape[1], value->shape[1]);
    t.query = floats(query);
    t.key = floats(part("key"));
    t.value = floats(value);
    random_seed(&r, !strcmp(sets_now, "head_loud") ? 3 : (uint64_t)n);
    for (int is_training = 0; is_training < 2; is_training++) {
        attend_trace(see_past(0), rate, is_training ? &r : NULL, &t);
        for (int k = 0; !is_training && k < n * n; k++)
            tap_near("kept", t.kept[k], 1, 0, 0);
        tap_close("weights", part("weights"), t.weights, RTOL, ATOL);
        tap_close("dropped", part(is_training ? "dropped" : "weights"),
                  t.dropped, RTOL, ATOL);
        tap_close("context", part(is_training ? "trained" : "evaluated"),
                  t.context, RTOL, ATOL);
    }
}

/* Scores are those of chapter 6, to the last bit, or hidden, and the lots
 * those of dropout_mask. With nothing hidden and nothing dropped it is all
 * chapter 6's formula, whatever the rate. */
static void attend_formula(void)
{
    for (int round = 0; round < 60; round++) {
        const int n = tap_int(1, 6), m = tap_int(1, 6);
        const int d_k = tap_int(1, 5), d_v = tap_int(1, 5);
        const size_t map = (size_t)(n * m);
        const Mask see = any_mask(round % 3, n, m);
        const float *seen = as_table(see, n, m).table;
        Trace t = head_trace(n, m, d_k, d_v);
        const Trace six = head_trace(n, m, d_k, d_v);
        t.query = any_text(n, d_k);
        t.key = any_text(m, d_k);
        t.value = any_text(m, d_v);
        attention(n, m, d_k, d_v, (void *)t.query, (void *)t.key,
                  (void *)t.value, (void *)six.scores, (void *)six.weights,
                  (void *)six.context);
        attend_trace(see, 0.4, lots(), &t);
        dropout_mask(lots(), 0.4, n, m, (void *)six.kept);
        same("kept", map, t.kept, six.kept);
        for (size_t k = 0; k < map; k++)
            tap_near("scores", t.scores[k],
                     seen[k] == 0 ? -INFINITY : six.scores[k], 0, 0);
        attend_trace(see_all(), 0.9, NULL, &t);
        same("scores", map, t.scores, six.scores);
        same("weights", map, t.weights, six.weights);
        same("dropped", map, t.dropped, six.weights);
        same("context", (size_t)(n * d_v), t.context, six.context);
    }
}

/* The object of a set, and the generator after its layers are drawn. */
static Attention drawn(Random *r)
{
    Attention a;
    const int64_t *size = tensor_integers(part("sizes"));
    random_seed(r, (uint64_t)size[0]);
    causal_attention_init(&a, r, part("x")->shape[2], (int)size[1],
                          (int)size[2], tensor_doubles(part("rate"))[0],
                          size[3] != 0);
    return a;
}

static void init_test(void)
{
    Random r;
    Attention a = drawn(&r);
    tap_true("number of parameters", a.count == part("drawn")->count);
    tap_close("drawn", part("drawn"), a.memory, 0, 0);
    tap_near("context length", a.context_length,
             (double)tensor_integers(part("sizes"))[2], 0, 0);
    tap_near("rate", a.p, tensor_doubles(part("rate"))[0], 0, 0);
    attention_free(&a);
}

/* What was made of entry b. */
static void close_head(const Trace *t, int b, bool in_training)
{
    const char *dropped = in_training ? "dropped" : "weights";
    const char *context = in_training ? "trained" : "evaluated";
    close_entry("query", b, t->query, RTOL, ATOL);
    close_entry("key", b, t->key, RTOL, ATOL);
    close_entry("value", b, t->value, RTOL, ATOL);
    close_entry("weights", b, t->weights, RTOL, ATOL);
    close_entry(dropped, b, t->dropped, RTOL, ATOL);
    close_entry(context, b, t->context, RTOL, ATOL);
}

static void drawn_next(Random *r)
{
    tap_near("drawn next", random_float(r),
             tensor_floats(part("following"))[0], 0, 0);
}

/* Sentence by sentence, or as a batch; in evaluation, and then in training,
 * where the generator goes on. */
static void forward_within(bool is_batch)
{
    const Tensor *x = part("x");
    const int batch = x->shape[0], n = x->shape[1];
    Random r;
    Attention a = drawn(&r);
    for (int is_training = 0; is_training < 2; is_training++) {
        Random *const lot = is_training ? &r : NULL;
        Trace t[2] = {roomy(&a, n, n), roomy(&a, n, n)};
        for (int b = 0; b < batch && !is_batch; b++)
            head_forward(&a, see_past(0), lot, n, n, entry(x, b),
                         entry(x, b), &t[b]);
        if (is_batch)
            causal_attention_batch(&a, lot, batch, n, floats(x), t);
        for (int b = 0; b < batch; b++)
            close_head(&t[b], b, is_training);
    }
    drawn_next(&r);
    attention_free(&a);
}

static void forward_test(void)
{
    forward_within(false);
}

static void batch_test(void)
{
    forward_within(true);
}

/* From one text to another, with weights that are dropped. For one head, its
 * own tables are those of all heads. */
static void two_texts(void)
{
    const Tensor *x = part("x"), *y = part("y");
    const int n = x->shape[1], m = y->shape[1];
    Random r = given_lots();
    Attention a = given();
    for (int b = 0; b < 2; b++) {
        Trace t = roomy(&a, n, m);
        head_forward(&a, given_mask(), &r, n, m, entry(x, b), entry(y, b),
                     &t);
        t.head_query = t.query;
        t.head_key = t.key;
        t.head_value = t.value;
        t.joined = t.context;
        close_tables(&t, b);
    }
    drawn_next(&r);
    attention_free(&a);
}

/* What comes later changes no bit of what came before; and neither does the
 * context length. */
static void past_test(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(2, 9), few = tap_int(1, n - 1);
        Attention a = any_attention(1, 0);
        Trace t = roomy(&a, n, n), before = roomy(&a, few, few);
        float *x = any_text(n, a.d_x), *y = any_text(n, a.d_y);
        a.context_length = 99;
        head_forward(&a, see_past(0), NULL, few, few, (void *)x, (void *)y,
                     &before);
        tap_fill((n - few) * a.d_x, x + few * a.d_x, -9, 9);
        tap_fill((n - few) * a.d_y, y + few * a.d_y, -9, 9);
        a.context_length = n;
        head_forward(&a, see_past(0), NULL, n, n, (void *)x, (void *)y, &t);
        same("context", (size_t)(few * a.d_v), t.context, before.context);
        attention_free(&a);
    }
}

/* The same as sentence by sentence, to the last bit, for any number. */
static void batch_is_a_loop(void)
{
    enum { MOST = 5 };
    for (int round = 0; round < 50; round++) {
        const int batch = tap_int(1, MOST), n = tap_int(1, 6);
        const int d_in = tap_int(1, 4), d = tap_int(1, 4);
        Random r, again;
        Attention a;
        Trace t[MOST], one;
        random_seed(&r, (uint64_t)round);
        causal_attention_init(&a, &r, d_in, d, n, 0.3, round % 2);
        again = r;
        float *x = any_text(batch * n, d_in);
        for (int b = 0; b < batch; b++)
            t[b] = trace_for(&a, n, n);
        causal_attention_batch(&a, &r, batch, n, (void *)x, t);
        for (int b = 0; b < batch; b++) {
            one = trace_for(&a, n, n);
            void *sentence = x + b * n * d_in;
            head_forward(&a, see_past(0), &again, n, n, sentence, sentence,
                         &one);
            same("trace", one.count, t[b].memory, one.memory);
            trace_free(&t[b]);
            trace_free(&one);
        }
        attention_free(&a);
    }
}

static void padding_test(void)
{
    const Tensor *word = part("word"), *before = part("before");
    const Tensor *context = part("context");
    const int n = word->shape[0], d_v = context->shape[1];
    int is_word[16];
    float *mask = room(before->count), *scores = room(before->count);
    float *got = room(context->count), *weights = room(before->count);
    for (int j = 0; j < n; j++)
        is_word[j] = (int)tensor_integers(word)[j];
    memcpy(mask, floats(before), before->count * sizeof *mask);
    mask_padding(n, n, is_word, (void *)mask);
    tap_close("mask", part("mask"), mask, 0, 0);
    masked_weights(n, n, 3, see_where(n, n, (void *)mask),
                   floats(part("query")), floats(part("key")),
                   (void *)scores, (void *)weights);
    matmul(n, d_v, n, (void *)weights, floats(part("value")), (void *)got);
    for (int k = 0; k < n * d_v; k++)
        if (is_word[k / d_v])
            tap_near("context of a word", got[k],
                     tensor_doubles(context)[k], RTOL, ATOL);
}

/* Whatever is not 0 is a word; fewer queries than keys. */
static void padding_words(void)
{
    const int is_word[5] = {2, 0, -1, INT_MIN, 1};
    float mask[2][5] = {{1, 1, 0, 0, 1}, {1, 1, 1, 1, 1}};
    const float expect[2][5] = {{1, 0, 0, 0, 1}, {1, 0, 1, 1, 1}};
    mask_padding(2, 5, is_word, mask);
    same("mask", 10, (void *)mask, (const void *)expect);
}

static void fit_test(void)
{
    head_forward(fitting(1, 0), WHERE_IT_FITS);
    tap_true("accepted", true);
}

/* Three traces, the second for other sizes. */
static Attention one;
static Trace three[3];
static const Attention *for_three(int d_y)
{
    one =
        (Attention){.d_x = 3, .d_y = d_y, .n_heads = 1, .d_k = 2, .d_v = 2};
    attention_init(&one);
    for (int b = 0; b < 3; b++)
        three[b] = trace_for(&one, 2, 2);
    return &one;
}

static const Attention *one_wrong(void)
{
    for_three(3);
    three[1].d_v = 3;
    return &one;
}

static void refusals(void)
{
    void *const x = fit_text();
    REFUSES(NULL, attend(2, 3, 4, 1, see_where(3, 2, x), 0, NULL, x, x, x,
                         x, x, x, x, x));
    REFUSES(NULL, attend(1, 1, 1, 1, see_all(), 1.5, lots(), x, x, x, x, x,
                         x, x, x));
    REFUSES("11_causal_attention.c: causal_attention_init: a context "
            "length of -1: at least 1 is needed",
            causal_attention_init(&one, lots(), 3, 2, -1, 0, 0));
    REFUSES("11_causal_attention.c: causal_attention_init: a context "
            "length of 0: at least 1 is needed",
            causal_attention_init(&one, lots(), 3, 2, 0, 0, 0));
    REFUSES(NULL, causal_attention_init(&one, lots(), 3, 2, 5, 1.01, 0));
    REFUSES(NULL, causal_attention_init(&one, lots(), 3, 2, 5, NAN, 0));
    REFUSES(NULL, causal_attention_init(&one, lots(), 3, 0, 5, 0, 0));
    TAP(fit_test, "head_forward: accepts what fits");
    REFUSES_WHAT_DOES_NOT_FIT(head_forward);
    REFUSES(NULL, head_forward(fitting(2, 0), WHERE_IT_FITS));
    REFUSES(NULL, head_forward(fitting(1, 3), WHERE_IT_FITS));
    REFUSES(NULL,
            causal_attention_batch(one_wrong(), NULL, 3, 2, x, three));
    REFUSES(NULL,
            causal_attention_batch(for_three(2), NULL, 3, 2, x, three));
}

int main(void)
{
    SETS("attend", attend_test, HEADS);
    TAP(attend_formula, "attend: masks, lots and chapter 6's formula");
    SETS("causal_attention_init", init_test, BATCHES);
    SETS("head_forward", forward_test, BATCHES);
    SETS("head_forward", two_texts, "two_texts", "two_texts_bare");
    TAP(past_test, "head_forward: the past alone counts");
    SETS("causal_attention_batch", batch_test, BATCHES);
    TAP(batch_is_a_loop, "causal_attention_batch: as one by one");
    SETS("mask_padding", padding_test, PADDINGS);
    TAP(padding_words, "mask_padding: words are what is not 0");
    refusals();
    return tap_done();
}
