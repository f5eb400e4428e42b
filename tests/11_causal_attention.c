/* Chapter 11 against PyTorch: golden/11_causal_attention. The two sentences
 * of every batch differ. */
#define CHAPTER "11_causal_attention"
#include "sets.h"

#define BATCHES                                                            \
    "plain", "biased", "long", "half", "one_token", "one_number", "loud",  \
        "all_dropped", "program"
#define HEADS                                                              \
    "head_1x1x1", "head_6x2x5", "head_9x7x3", "head_4x3x2", "head_loud"
#define PADDINGS                                                           \
    "padding_behind", "padding_in_front", "padding_between", "no_padding"

#define RTOL 1e-5
#define ATOL 1e-6

/* Entry b of a golden array of several entries, and what we have. */
static void close_entry(const char *what, const Tensor *expect, int b,
                        const float *got)
{
    const size_t count = expect->count / (size_t)expect->shape[0];
    for (size_t k = 0; k < count; k++)
        tap_near(what, got[k],
                 tensor_doubles(expect)[(size_t)b * count + k], RTOL, ATOL);
}

/* The object of a set, and the generator after its layers are drawn. */
static void make(CausalAttention *c, Random *r)
{
    const int64_t *size = tensor_integers(part("sizes"));
    random_seed(r, (uint64_t)size[0]);
    causal_attention_init(c, r, part("x")->shape[2], (int)size[1],
                          (int)size[2], tensor_doubles(part("rate"))[0],
                          size[3] != 0);
}

static int same_layer(const Linear *l, const float *expect)
{
    const int size = l->d_in * l->d_out;
    const float *weight = l->weight;
    for (int k = 0; k < size; k++)
        tap_near("weight", weight[k], expect[k], 0, 0);
    for (int k = 0; l->bias && k < l->d_out; k++)
        tap_near("bias", l->bias[k], expect[size + k], 0, 0);
    return size + (l->bias ? l->d_out : 0);
}

static void init_test(void)
{
    Random r;
    CausalAttention c;
    const Tensor *drawn = part("drawn");
    const float *expect = tensor_floats(drawn);
    const int64_t *size = tensor_integers(part("sizes"));
    make(&c, &r);
    expect += same_layer(&c.query, expect);
    expect += same_layer(&c.key, expect);
    expect += same_layer(&c.value, expect);
    tap_near("number of entries", (double)(expect - tensor_floats(drawn)),
             (double)drawn->count, 0, 0);
    tap_near("context length", c.context_length, (double)size[2], 0, 0);
    tap_near("rate", c.p, tensor_doubles(part("rate"))[0], 0, 0);
    causal_attention_free(&c);
}

/* Sentence by sentence; in training if r is the generator. */
static void run(const CausalAttention *c, Random *r, const char *context,
                const char *dropped)
{
    const Tensor *x = part("x");
    const int n = x->shape[1], d_in = x->shape[2], d_out = c->value.d_out;
    CausalTrace t;
    causal_trace_init(&t, n, d_out, d_out);
    for (int b = 0; b < x->shape[0]; b++) {
        const float *entry = tensor_floats(x) + b * n * d_in;
        float *own = room((size_t)(n * d_in));
        memcpy(own, entry, (size_t)(n * d_in) * sizeof *own);
        causal_attention_forward(c, r, n, (void *)own, &t);
        close_entry("query", part("query"), b, t.head.query);
        close_entry("key", part("key"), b, t.head.key);
        close_entry("value", part("value"), b, t.head.value);
        close_entry("weights", part("weights"), b, t.head.weights);
        close_entry("dropped", part(dropped), b, t.dropped);
        close_entry("context", part(context), b, t.head.context);
    }
    causal_trace_free(&t);
}

static void evaluation_test(void)
{
    Random r;
    CausalAttention c;
    make(&c, &r);
    run(&c, NULL, "evaluated", "weights");
    causal_attention_free(&c);
}

static void training_test(void)
{
    Random r;
    CausalAttention c;
    make(&c, &r);
    run(&c, &r, "trained", "dropped");
    tap_near("drawn next", random_float(&r),
             tensor_floats(part("following"))[0], 0, 0);
    causal_attention_free(&c);
}

static void batch_within(bool in_training, const char *context,
                         const char *dropped)
{
    Random r;
    CausalAttention c;
    make(&c, &r);
    const Tensor *x = part("x");
    const int batch = x->shape[0], n = x->shape[1], d = c.query.d_out;
    CausalTrace *t = room((size_t)batch * sizeof *t / sizeof(float));
    for (int b = 0; b < batch; b++)
        causal_trace_init(&t[b], n, d, d);
    causal_attention_batch(&c, in_training ? &r : NULL, batch, n, floats(x),
                           t);
    for (int b = 0; b < batch; b++) {
        close_entry("weights", part("weights"), b, t[b].head.weights);
        close_entry("dropped", part(dropped), b, t[b].dropped);
        close_entry("context", part(context), b, t[b].head.context);
        causal_trace_free(&t[b]);
    }
    if (in_training)
        tap_near("drawn next", random_float(&r),
                 tensor_floats(part("following"))[0], 0, 0);
    causal_attention_free(&c);
}

static void batch_evaluation(void)
{
    batch_within(false, "evaluated", "weights");
}

static void batch_training(void)
{
    batch_within(true, "trained", "dropped");
}

/* The same as sentence by sentence, to the last bit, for any number. */
static void batch_is_a_loop(void)
{
    enum { MOST = 5 };
    for (int round = 0; round < 50; round++) {
        const int batch = tap_int(1, MOST), n = tap_int(1, 6);
        const int d_in = tap_int(1, 4), d = tap_int(1, 4);
        const size_t size = (size_t)(n * d_in);
        Random r, again;
        CausalAttention c;
        CausalTrace t[MOST], one;
        random_seed(&r, (uint64_t)round);
        causal_attention_init(&c, &r, d_in, d, n, 0.3, round % 2);
        again = r;
        float *x = room((size_t)batch * size);
        tap_fill(batch * n * d_in, x, -2, 2);
        causal_trace_init(&one, n, d, d);
        for (int b = 0; b < batch; b++)
            causal_trace_init(&t[b], n, d, d);
        causal_attention_batch(&c, &r, batch, n, (void *)x, t);
        for (int b = 0; b < batch; b++) {
            causal_attention_forward(&c, &again, n,
                                     (void *)(x + (size_t)b * size), &one);
            const float *got = t[b].head.context;
            const float *expect = one.head.context;
            for (int k = 0; k < n * d; k++)
                tap_near("context", got[k], expect[k], 0, 0);
            causal_trace_free(&t[b]);
        }
        causal_trace_free(&one);
        causal_attention_free(&c);
    }
}

static void head_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value");
    const int n = query->shape[0], d_k = query->shape[1];
    const int d_v = value->shape[1];
    const double rate = tensor_doubles(part("rate"))[0];
    Random r;
    CausalTrace t;
    causal_trace_init(&t, n, d_k, d_v);
    memcpy(t.head.query, query->data, query->count * sizeof(float));
    memcpy(t.head.key, key->data, key->count * sizeof(float));
    memcpy(t.head.value, value->data, value->count * sizeof(float));
    random_seed(&r, !strcmp(sets_now, "head_loud") ? 3 : (uint64_t)n);
    for (int is_training = 0; is_training < 2; is_training++) {
        causal_trace_attention(&t, rate, is_training ? &r : NULL);
        for (int k = 0; !is_training && k < n * n; k++)
            tap_near("kept", ((float *)t.kept)[k], 1, 0, 0);
        tap_close("weights", part("weights"), t.head.weights, RTOL, ATOL);
        tap_close("dropped", part(is_training ? "dropped" : "weights"),
                  t.dropped, RTOL, ATOL);
        tap_close("context", part(is_training ? "trained" : "evaluated"),
                  t.head.context, RTOL, ATOL);
    }
    causal_trace_free(&t);
}

/* The mask says which weights are kept; scores are scaled and masked. */
static void head_tables(void)
{
    enum { SIZE = 5, D_K = 3, D_V = 2 };
    Random r, again;
    CausalTrace t;
    float kept[SIZE][SIZE];
    causal_trace_init(&t, SIZE, D_K, D_V);
    tap_fill(SIZE * D_K, t.head.query, -2, 2);
    tap_fill(SIZE * D_K, t.head.key, -2, 2);
    tap_fill(SIZE * D_V, t.head.value, -2, 2);
    random_seed(&r, 77);
    again = r;
    causal_trace_attention(&t, 0.4, &r);
    dropout_mask(&again, 0.4, SIZE, SIZE, kept);
    const float(*mask)[SIZE] = t.kept, (*scores)[SIZE] = t.head.scores;
    const float(*query)[D_K] = t.head.query, (*key)[D_K] = t.head.key;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            tap_near("mask", mask[i][j], kept[i][j], 0, 0);
            tap_near("scores", scores[i][j],
                     j > i ? -INFINITY
                           : (double)dot(D_K, query[i], key[j]) / sqrt(D_K),
                     RTOL, ATOL);
        }
    causal_trace_free(&t);
}

/* What comes later changes no bit of what came before; and neither does the
 * context length, nor the sentence that was computed before. */
static void past_test(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(2, 9), few = tap_int(1, n - 1);
        const int d_in = tap_int(1, 5), d_out = tap_int(1, 5);
        Random r;
        CausalAttention c, roomy;
        CausalTrace t, part_of;
        float *x = room((size_t)(n * d_in));
        random_seed(&r, (uint64_t)round);
        causal_attention_init(&c, &r, d_in, d_out, n, 0.5, round % 2);
        random_seed(&r, (uint64_t)round);
        causal_attention_init(&roomy, &r, d_in, d_out, 99, 0.5, round % 2);
        causal_trace_init(&t, n, d_out, d_out);
        causal_trace_init(&part_of, few, d_out, d_out);
        tap_fill(n * d_in, x, -2, 2);
        causal_attention_forward(&roomy, NULL, few, (void *)x, &part_of);
        tap_fill((n - few) * d_in, x + few * d_in, -9, 9);
        causal_attention_forward(&c, NULL, n, (void *)x, &t);
        const float *got = t.head.context, *alone = part_of.head.context;
        for (int k = 0; k < few * d_out; k++)
            tap_near("context", got[k], alone[k], 0, 0);
        causal_trace_free(&t);
        causal_trace_free(&part_of);
        causal_attention_free(&c);
        causal_attention_free(&roomy);
    }
}

/* Every table has room for all its entries, and none lies in another. */
static void trace_test(void)
{
    enum { N = 37, D_K = 29, D_V = 61, TABLES = 8 };
    const int sizes[TABLES] = {N * D_K, N * D_K, N * D_V, N * N,
                               N * N,   N * D_V, N * N,   N * N};
    CausalTrace t;
    causal_trace_init(&t, N, D_K, D_V);
    trace_must_fit(&t.head, N, N, D_K, D_V);
    float *const table[TABLES] = {
        t.head.query,   t.head.key,     t.head.value, t.head.scores,
        t.head.weights, t.head.context, t.kept,       t.dropped};
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < sizes[i]; k++)
            table[i][k] = (float)(i * 10000 + k);
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < sizes[i]; k++)
            tap_near("entry", table[i][k], i * 10000 + k, 0, 0);
    causal_trace_free(&t);
}

/* What is freed can be asked for again: 100 times some of it does not fit
 * otherwise. */
static void trace_free_test(void)
{
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        CausalTrace t;
        causal_trace_init(&t, 300, 300, 300);
        causal_trace_free(&t);
        tap_true("freed", 1);
    }
}

static void free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        CausalAttention c;
        causal_attention_init(&c, &r, 1, 75000, 4, 0, 1);
        causal_attention_free(&c);
        tap_true("freed", 1);
    }
}

static void bias_test(void)
{
    Random r;
    random_seed(&r, 1);
    for (int has_bias = 0; has_bias < 2; has_bias++) {
        CausalAttention c;
        causal_attention_init(&c, &r, 3, 2, 4, 0, has_bias);
        tap_true("bias where asked for", !c.query.bias == !has_bias &&
                                             !c.key.bias == !has_bias &&
                                             !c.value.bias == !has_bias);
        causal_attention_free(&c);
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
    memcpy(mask, tensor_floats(before), before->count * sizeof *mask);
    mask_padding(n, n, is_word, (void *)mask);
    tap_close("mask", part("mask"), mask, 0, 0);
    dot_scores(n, n, 3, floats(part("query")), floats(part("key")),
               (void *)scores);
    scale_scores(n, n, 3, (void *)scores);
    mask_where(n, n, (void *)mask, (void *)scores);
    softmax_rows(n, n, (void *)scores, (void *)weights);
    matmul(n, d_v, n, (void *)weights, floats(part("value")), (void *)got);
    for (int k = 0; k < n * d_v; k++)
        if (is_word[k / d_v])
            tap_near("context of a word", got[k],
                     tensor_doubles(context)[k], RTOL, ATOL);
}

/* Fewer queries than keys. */
static void padding_lopsided(void)
{
    const int is_word[4] = {1, 0, 1, 0};
    float mask[2][4] = {{1, 1, 0, 0}, {1, 1, 1, 1}};
    const float expect[2][4] = {{1, 0, 0, 0}, {1, 0, 1, 0}};
    mask_padding(2, 4, is_word, mask);
    for (int k = 0; k < 8; k++)
        tap_near("mask", mask[k / 4][k % 4], expect[k / 4][k % 4], 0, 0);
}

/* Whatever is not 0 is a word. */
static void padding_words(void)
{
    const int is_word[5] = {2, 0, -1, INT_MIN, 1};
    float mask[1][5] = {{1, 1, 1, 0, 1}};
    const float expect[5] = {1, 0, 1, 0, 1};
    mask_padding(1, 5, is_word, mask);
    for (int k = 0; k < 5; k++)
        tap_near("mask", mask[0][k], expect[k], 0, 0);
}

static void refused(int context_length, double p, int n, int d_k, int d_v)
{
    Random r;
    CausalAttention c;
    CausalTrace t;
    float *x = room(100);
    random_seed(&r, 1);
    causal_attention_init(&c, &r, 3, 2, context_length, p, 0);
    causal_trace_init(&t, n, d_k, d_v);
    causal_attention_forward(&c, NULL, 5, (void *)x, &t);
}

static void no_length(void)
{
    refused(0, 0, 5, 2, 2);
}
static void negative_length(void)
{
    refused(-1, 0, 5, 2, 2);
}
static void wrong_rate(void)
{
    refused(5, 1.01, 5, 2, 2);
}
static void no_rate(void)
{
    refused(5, NAN, 5, 2, 2);
}
static void too_long(void)
{
    refused(4, 0, 5, 2, 2);
}
static void other_n(void)
{
    refused(6, 0, 6, 2, 2);
}
static void other_d_k(void)
{
    refused(6, 0, 5, 3, 2);
}
static void other_d_v(void)
{
    refused(6, 0, 5, 2, 3);
}

static void trace_of_nothing(void)
{
    CausalTrace t;
    causal_trace_init(&t, 0, 2, 2);
}
/* The keys are wider than the queries, for which the trace is made. */
static void wide_keys(void)
{
    Random r;
    CausalAttention c;
    CausalTrace t;
    float *x = room(100);
    random_seed(&r, 1);
    causal_attention_init(&c, &r, 3, 2, 5, 0, 0);
    linear_free(&c.key);
    linear_init(&c.key, &r, 3, 4, 0);
    causal_trace_init(&t, 5, 2, 2);
    causal_attention_forward(&c, NULL, 5, (void *)x, &t);
}
/* The second of three traces is for other sizes. */
static void batch_trace(void)
{
    Random r;
    CausalAttention c;
    CausalTrace t[3];
    float *x = room(100);
    memset(x, 0, 100 * sizeof *x);
    random_seed(&r, 1);
    causal_attention_init(&c, &r, 3, 2, 5, 0, 0);
    for (int b = 0; b < 3; b++)
        causal_trace_init(&t[b], 5, 2, b == 1 ? 3 : 2);
    causal_attention_batch(&c, NULL, 3, 5, (void *)x, t);
}

int main(void)
{
    const char *file = "11_causal_attention.c", *before = "10_dropout.c";
    const char *trace = "07_self_attention.c";
    TAP(trace_test, "causal_trace_init: room for a trace and two tables");
    tap_refuses(
        trace_of_nothing, "causal_trace_init: refuses no tokens",
        "argument.c",
        "a table of 0 times 2 numbers: at least 1 of each is needed");
    TAP_LARGE(trace_free_test,
              "causal_trace_free: the memory can be used again");
    SETS("causal_trace_attention", head_test, HEADS);
    TAP(head_tables, "causal_trace_attention: the mask and the scores");
    SETS("causal_attention_init", init_test, BATCHES);
    TAP(bias_test, "causal_attention_init: with and without a bias");
    TAP_LARGE(free_test,
              "causal_attention_free: the memory can be used again");
    tap_refuses(negative_length,
                "causal_attention_init: refuses a length of -1", file,
                "a context length of -1: at least 1 is needed");
    tap_refuses(no_length, "causal_attention_init: refuses a length of 0",
                file, "a context length of 0: at least 1 is needed");
    tap_refuses(wrong_rate, "causal_attention_init: refuses a rate above 1",
                before, "a dropout rate of 1.01: from 0 to 1 is needed");
    tap_refuses(no_rate, "causal_attention_init: refuses NaN", before,
                "a dropout rate of nan: from 0 to 1 is needed");
    SETS("causal_attention_forward: evaluation", evaluation_test, BATCHES);
    SETS("causal_attention_forward: training", training_test, BATCHES);
    TAP(past_test, "causal_attention_forward: the past alone counts");
    tap_refuses(
        too_long, "causal_attention_forward: refuses a long sentence", file,
        "a sentence of 5 tokens: at most 4, the context length, are "
        "possible");
    tap_refuses(
        other_n, "causal_attention_forward: refuses a trace for more",
        trace,
        "a trace of n, m, d_k, d_v = 6, 6, 2, 2: 5, 5, 2, 2 are needed");
    tap_refuses(
        other_d_k, "causal_attention_forward: refuses another d_k", trace,
        "a trace of n, m, d_k, d_v = 5, 5, 3, 2: 5, 5, 2, 2 are needed");
    tap_refuses(
        other_d_v, "causal_attention_forward: refuses another d_v", trace,
        "a trace of n, m, d_k, d_v = 5, 5, 2, 3: 5, 5, 2, 2 are needed");
    tap_refuses(
        wide_keys,
        "causal_attention_forward: refuses layers that do not fit", trace,
        "layers from 3, 3, 3 to 2, 4, 2 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    SETS("causal_attention_batch: evaluation", batch_evaluation, BATCHES);
    SETS("causal_attention_batch: training", batch_training, BATCHES);
    TAP(batch_is_a_loop, "causal_attention_batch: as one by one");
    tap_refuses(
        batch_trace, "causal_attention_batch: refuses a trace of them",
        trace,
        "a trace of n, m, d_k, d_v = 5, 5, 2, 3: 5, 5, 2, 2 are needed");
    SETS("mask_padding", padding_test, PADDINGS);
    TAP(padding_words, "mask_padding: words are what is not 0");
    TAP(padding_lopsided, "mask_padding: fewer queries than keys");
    return tap_done();
}
