/* Chapter 13 against PyTorch: golden/13_multi_head. */
#define CHAPTER "13_multi_head"
#include "streams.h"

#define SPLITS "split_1x1x1", "split_3x2x4", "split_5x3x2", "split_2x4x3"
#define CLASSES                                                            \
    "tutorial", "sentences", "class_1x1x1x1", "class_4x6x3x5",             \
        "class_5x6x2x7", "class_3x12x4x3", "class_8x8x1x4", "class_loud"
#define DROPPED "dropped_half", "dropped_tenth"
#define MODULES                                                            \
    "module_all", "module_causal", "module_opposite", "module_1x1x1",      \
        "module_6x3x5", "module_12x2x7", "module_12x4x3"

/* As in tests/03_qkv.c, and a little more, since scores are here sums of
 * products of rounded sums. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 2e-6
#define WEIGHT_RTOL 1e-5
#define WEIGHT_ATOL 1e-6

static void same(const char *what, size_t count, const float got[count],
                 const float expect[count])
{
    for (size_t i = 0; i < count; i++)
        tap_near(what, got[i], expect[i], 0, 0);
}

static void split_test(void)
{
    const Tensor *x = part("x"), *split = part("split");
    float *got = room(split->count);
    split_heads(x->shape[0], split->shape[0], split->shape[2], floats(x),
                (void *)got);
    tap_close("split", split, got, 0, 0);
}

static void merge_test(void)
{
    const Tensor *x = part("x"), *split = part("split");
    float *got = room(x->count);
    merge_heads(x->shape[0], split->shape[0], split->shape[2],
                floats(split), (void *)got);
    tap_close("merged", x, got, 0, 0);
}

/* There and back, and back and there, over random shapes. */
static void round_trip(void)
{
    for (int round = 0; round < 100; round++) {
        const int n = tap_int(1, 7), n_heads = tap_int(1, 5);
        const int size = tap_int(1, 5), all = n * n_heads * size;
        float *x = room((size_t)all), *y = room((size_t)all);
        float *z = room((size_t)all);
        tap_fill(all, x, -1, 1);
        split_heads(n, n_heads, size, (void *)x, (void *)y);
        merge_heads(n, n_heads, size, (void *)y, (void *)z);
        same("split, merged", (size_t)all, z, x);
        merge_heads(n, n_heads, size, (void *)x, (void *)y);
        split_heads(n, n_heads, size, (void *)y, (void *)z);
        same("merged, split", (size_t)all, z, x);
    }
}

/* What save_multi_head saved about a set. */
typedef struct {
    const Tensor *x;
    int batch, n, d_in, d_out, n_heads;
    Random r; /* where the seed's stream is after the layers */
    MultiHead h;
} Set;

static Set drawn(void)
{
    Set s = {.x = part("x")};
    const int64_t *setting = tensor_integers(part("settings"));
    s.batch = s.x->shape[0];
    s.n = s.x->shape[1];
    s.d_in = s.x->shape[2];
    s.d_out = (int)setting[1];
    s.n_heads = (int)setting[2];
    random_seed(&s.r, (uint64_t)setting[0]);
    multi_head_init(&s.h, &s.r, s.d_in, s.d_out, (int)setting[3],
                    (double)setting[5] / 1000, s.n_heads, (int)setting[4]);
    return s;
}

static void same_layer(const Linear *l, const char *weight,
                       const char *bias, bool has_bias)
{
    tap_close(weight, part(weight), l->weight, 0, 0);
    tap_true("has a bias or has none", !l->bias == !has_bias);
    if (has_bias)
        tap_close(bias, part(bias), l->bias, 0, 0);
}

static void init_test(void)
{
    Set s = drawn();
    const int64_t *setting = tensor_integers(part("settings"));
    same_layer(&s.h.query, "query_weight", "query_bias", setting[4]);
    same_layer(&s.h.key, "key_weight", "key_bias", setting[4]);
    same_layer(&s.h.value, "value_weight", "value_bias", setting[4]);
    same_layer(&s.h.out, "out_weight", "out_bias", true);
    same_bits("context length", s.h.context_length, setting[3]);
    same_bits("heads", s.h.n_heads, setting[2]);
    multi_head_free(&s.h);
}

/* Every table of the trace against entry b of the running set's batch. */
static void close_tables(const MultiTrace *t, int b)
{
    const Trace *a = &t->stack.head;
    const struct {
        const char *what;
        const float *got;
        double rtol, atol;
    } table[] = {{"query", t->query, SUM_RTOL, SUM_ATOL},
                 {"key", t->key, SUM_RTOL, SUM_ATOL},
                 {"value", t->value, SUM_RTOL, SUM_ATOL},
                 {"head_query", a->query, SUM_RTOL, SUM_ATOL},
                 {"head_key", a->key, SUM_RTOL, SUM_ATOL},
                 {"head_value", a->value, SUM_RTOL, SUM_ATOL},
                 {"scores", a->scores, SUM_RTOL, SUM_ATOL},
                 {"weights", a->weights, WEIGHT_RTOL, WEIGHT_ATOL},
                 {"kept", t->stack.kept, 0, 0},
                 {"dropped", t->stack.dropped, WEIGHT_RTOL, WEIGHT_ATOL},
                 {"head_context", a->context, SUM_RTOL, SUM_ATOL},
                 {"joined", t->joined, SUM_RTOL, SUM_ATOL},
                 {"out", t->out, SUM_RTOL, SUM_ATOL}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const Tensor *all = part(table[i].what);
        const size_t count = all->count / (size_t)all->shape[0];
        const size_t from = (size_t)b * count;
        for (size_t k = 0; k < count; k++)
            tap_near(table[i].what, table[i].got[k],
                     all->type == 'f' ? tensor_floats(all)[from + k]
                                      : tensor_doubles(all)[from + k],
                     table[i].rtol, table[i].atol);
    }
}

/* The batch, sentence after sentence in the same trace. */
static void forward_within(bool in_training)
{
    Set s = drawn();
    MultiTrace t;
    multi_trace_init(&t, s.n, s.n_heads, s.d_out / s.n_heads);
    for (int b = 0; b < s.batch; b++) {
        const float *x = tensor_floats(s.x) + b * s.n * s.d_in;
        multi_head_forward(&s.h, in_training ? &s.r : NULL, s.n,
                           (const void *)x, &t);
        close_tables(&t, b);
    }
    multi_trace_free(&t);
    multi_head_free(&s.h);
}

static void forward_test(void)
{
    forward_within(false);
}

/* A rate of 0 draws nothing and drops nothing, in training as well. */
static void training_test(void)
{
    forward_within(true);
}

/* Evaluation drops nothing, whatever the rate. */
static void evaluation_test(void)
{
    Set s = drawn();
    MultiTrace t, again;
    multi_trace_init(&t, s.n, s.n_heads, s.d_out / s.n_heads);
    multi_trace_init(&again, s.n, s.n_heads, s.d_out / s.n_heads);
    multi_head_forward(&s.h, NULL, s.n, floats(s.x), &t);
    tap_true("a rate above 0", s.h.p > 0);
    s.h.p = 0;
    multi_head_forward(&s.h, NULL, s.n, floats(s.x), &again);
    same("out", (size_t)(s.n * s.d_out), t.out, again.out);
    for (int i = 0; i < s.n_heads * s.n * s.n; i++)
        tap_near("kept", ((float *)t.stack.kept)[i], 1, 0, 0);
    multi_trace_free(&t);
    multi_trace_free(&again);
    multi_head_free(&s.h);
}

/* Draws like nn.MultiheadAttention, to the last bit. */
static MultiHead drawn_module(void)
{
    const int64_t *seed = tensor_integers(part("seed"));
    Random r;
    MultiHead h;
    random_seed(&r, (uint64_t)seed[0]);
    multi_head_init_packed(&h, &r, part("x")->shape[2], part("x")->shape[1],
                           0, (int)seed[1]);
    return h;
}

static void packed_test(void)
{
    MultiHead h = drawn_module();
    const Tensor *packed = part("in_proj_weight");
    const size_t third = packed->count / 3;
    float *got = room(packed->count);
    memcpy(got, h.query.weight, third * sizeof(float));
    memcpy(got + third, h.key.weight, third * sizeof(float));
    memcpy(got + 2 * third, h.value.weight, third * sizeof(float));
    tap_close("in_proj_weight", packed, got, 0, 0);
    tap_close("out_proj_weight", part("out_proj_weight"), h.out.weight, 0,
              0);
    const Linear *all[4] = {&h.query, &h.key, &h.value, &h.out};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < h.out.d_out; j++)
            tap_near("bias", all[k]->bias[j], 0, 0, 0);
    multi_head_free(&h);
}

/* With the biases of the set and its mask, for each entry of the batch. */
static void masked_test(void)
{
    MultiHead h = drawn_module();
    const Tensor *x = part("x");
    const int batch = x->shape[0], n = x->shape[1], d = x->shape[2];
    const float *bias = tensor_floats(part("bias"));
    const Linear *all[4] = {&h.query, &h.key, &h.value, &h.out};
    for (int k = 0; k < 4; k++)
        memcpy(all[k]->bias, bias + k * d, (size_t)d * sizeof(float));
    MultiTrace t;
    multi_trace_init(&t, n, h.n_heads, d / h.n_heads);
    for (int b = 0; b < batch; b++) {
        const float *sentence = tensor_floats(x) + b * n * d;
        multi_head_masked(&h, n, (const void *)sentence,
                          floats(part("seen")), &t);
        close_tables(&t, b);
    }
    multi_trace_free(&t);
    multi_head_free(&h);
}

/* The rate and the context length are those asked for. */
static void packed_settings(void)
{
    Random r;
    MultiHead h;
    random_seed(&r, 1);
    multi_head_init_packed(&h, &r, 8, 6, 0.25, 2);
    same_bits("context length", h.context_length, 6);
    same_bits("heads", h.n_heads, 2);
    tap_near("rate", h.p, 0.25, 0, 0);
    multi_head_free(&h);
}

static void average_test(void)
{
    const Tensor *average = part("average"), *weights = part("weights");
    const int batch = average->shape[0], n = average->shape[1];
    const int n_heads = weights->shape[1];
    float *x = rounded(weights), *got = room(average->count);
    for (int b = 0; b < batch; b++)
        average_weights(n, n, n_heads,
                        (const void *)(x + b * n_heads * n * n),
                        (void *)(got + b * n * n));
    tap_close("average", average, got, WEIGHT_RTOL, WEIGHT_ATOL);
}

/* Tables that are not square: 2 rows, 3 columns, 2 heads. */
static void average_wide(void)
{
    const float weights[2][2][3] = {{{0.5f, 0.25f, 0.25f}, {1, 0, 0}},
                                    {{0, 0.75f, 0.25f}, {0, 0.5f, 0.5f}}};
    const float right[6] = {0.25f, 0.5f, 0.25f, 0.5f, 0.25f, 0.25f};
    float got[2][3];
    average_weights(2, 3, 2, weights, got);
    same("mean", 6, (void *)got, right);
}

/* The module of the first Transformer's size. */
static void walk_test(void)
{
    enum { D_MODEL = 512, HEADS = 8, TOKENS = 20 };
    sets_now = "walk";
    const Tensor *out = part("out"), *weights = part("weights");
    Random r;
    MultiHead h;
    MultiTrace t;
    float(*x)[D_MODEL] = room(TOKENS * D_MODEL);
    float(*all)[TOKENS] = room(TOKENS * TOKENS);
    random_seed(&r, 123);
    multi_head_init_packed(&h, &r, D_MODEL, TOKENS, 0, HEADS);
    rand_fill(&r, TOKENS, D_MODEL, x);
    multi_trace_init(&t, TOKENS, HEADS, D_MODEL / HEADS);
    for (int i = 0; i < TOKENS * TOKENS; i++)
        all[i / TOKENS][i % TOKENS] = 1;
    multi_head_masked(&h, TOKENS, x, all, &t);

    const size_t third = D_MODEL * D_MODEL;
    float *packed = room(3 * third);
    memcpy(packed, h.query.weight, third * sizeof(float));
    memcpy(packed + third, h.key.weight, third * sizeof(float));
    memcpy(packed + 2 * third, h.value.weight, third * sizeof(float));
    same_bits("in_proj_weight", checksum(3 * third, packed),
              tensor_integers(part("packed"))[0]);
    const float(*map)[TOKENS][TOKENS] = t.stack.head.weights;
    const float(*y)[D_MODEL] = t.out;
    float got_maps[HEADS][TOKENS], got[TOKENS][D_MODEL / 32];
    for (int k = 0; k < HEADS; k++)
        memcpy(got_maps[k], map[k][3], sizeof got_maps[k]);
    for (int i = 0; i < TOKENS; i++)
        for (int k = 0; k < D_MODEL / 32; k++)
            got[i][k] = y[i][32 * k];
    tap_close("fourth rows of the weights", weights, got_maps, 1e-5, 1e-6);
    tap_close("every 32nd column", out, got, 1e-5, 1e-5);
    multi_trace_free(&t);
    multi_head_free(&h);
}

/* Random sizes and a random module of them. */
static Set random_set(int round)
{
    Set s = {.n = tap_int(1, 6), .d_in = tap_int(1, 5)};
    s.n_heads = tap_int(1, 4);
    s.d_out = s.n_heads * tap_int(1, 4);
    random_seed(&s.r, (uint64_t)round);
    multi_head_init(&s.h, &s.r, s.d_in, s.d_out, s.n, 0, s.n_heads,
                    round % 2);
    return s;
}

/* The columns of each head are masked attention with its rows of the
 * layers, whatever the other heads are. */
static void alone_test(void)
{
    for (int round = 0; round < 50; round++) {
        Set s = random_set(round);
        const int n = s.n, size = s.d_out / s.n_heads;
        float *x = room((size_t)(n * s.d_in));
        tap_fill(n * s.d_in, x, -2, 2);
        MultiTrace t;
        multi_trace_init(&t, n, s.n_heads, size);
        multi_head_forward(&s.h, NULL, n, (const void *)x, &t);
        for (int k = 0; k < s.n_heads; k++) {
            const Linear *from[3] = {&s.h.query, &s.h.key, &s.h.value};
            float *qkv[3], *scores = room((size_t)(n * n));
            float *weights = room((size_t)(n * n));
            float *context = room((size_t)(n * size));
            for (int i = 0; i < 3; i++) {
                const Linear of_head = {
                    s.d_in, size,
                    (float *)from[i]->weight + k * size * s.d_in,
                    from[i]->bias ? from[i]->bias + k * size : NULL};
                qkv[i] = room((size_t)(n * size));
                linear_forward(&of_head, n, (const void *)x,
                               (void *)qkv[i]);
            }
            masked_attention(n, n, size, size, 0, (void *)qkv[0],
                             (void *)qkv[1], (void *)qkv[2], (void *)scores,
                             (void *)weights, (void *)context);
            for (int i = 0; i < n; i++)
                for (int e = 0; e < size; e++)
                    tap_near(
                        "a head's columns",
                        ((float *)t.joined)[i * s.d_out + k * size + e],
                        context[i * size + e], SUM_RTOL, SUM_ATOL);
        }
        multi_trace_free(&t);
        multi_head_free(&s.h);
    }
}

/* One head, and an output projection that changes nothing: attention, with
 * and without a bias. */
static void identity_test(void)
{
    for (int round = 0; round < 50; round++) {
        const int n = tap_int(1, 9), d_in = tap_int(1, 5);
        const int d = tap_int(1, 5);
        Random r;
        MultiHead h;
        MultiTrace t;
        random_seed(&r, (uint64_t)round);
        multi_head_init(&h, &r, d_in, d, n, 0, 1, round % 2);
        multi_trace_init(&t, n, 1, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++)
                ((float *)h.out.weight)[i * d + j] = i == j;
            h.out.bias[i] = 0;
        }
        float *x = room((size_t)(n * d_in));
        tap_fill(n * d_in, x, -2, 2);
        multi_head_forward(&h, NULL, n, (void *)x, &t);
        float *qkv[3], *context = room((size_t)(n * d));
        const Linear *role[3] = {&h.query, &h.key, &h.value};
        for (int i = 0; i < 3; i++) {
            qkv[i] = room((size_t)(n * d));
            linear_forward(role[i], n, (void *)x, (void *)qkv[i]);
        }
        masked_attention(n, n, d, d, 0, (void *)qkv[0], (void *)qkv[1],
                         (void *)qkv[2], room((size_t)(n * n)),
                         room((size_t)(n * n)), (void *)context);
        same("out", (size_t)(n * d), t.out, context);
        multi_trace_free(&t);
        multi_head_free(&h);
    }
}

/* The shares of each token add up to one in every head, under any mask that
 * leaves it something. */
static void sums_within(bool is_masked)
{
    for (int round = 0; round < 50; round++) {
        Set s = random_set(round);
        const int n = s.n;
        float *x = room((size_t)(n * s.d_in));
        float *mask = room((size_t)(n * n));
        MultiTrace t;
        tap_fill(n * s.d_in, x, -3, 3);
        for (int k = 0; k < n * n; k++)
            mask[k] = k % (n + 1) == 0 || tap_int(0, 1);
        multi_trace_init(&t, n, s.n_heads, s.d_out / s.n_heads);
        if (is_masked)
            multi_head_masked(&s.h, n, (void *)x, (void *)mask, &t);
        else
            multi_head_forward(&s.h, NULL, n, (void *)x, &t);
        const float *weights = t.stack.head.weights;
        for (int i = 0; i < s.n_heads * n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += (double)weights[i * n + j];
            tap_near("row sum", sum, 1, 1e-6, 0);
        }
        multi_trace_free(&t);
        multi_head_free(&s.h);
    }
}

static void sums_test(void)
{
    sums_within(false);
}

static void masked_sums_test(void)
{
    sums_within(true);
}

/* A token changes; the rows of those before it do not, to the last bit,
 * and its own does. */
static void future_test(void)
{
    for (int round = 0; round < 50; round++) {
        Set s = random_set(round);
        const int changed = tap_int(0, s.n - 1);
        float *x = room((size_t)(s.n * s.d_in));
        MultiTrace t, after;
        tap_fill(s.n * s.d_in, x, -2, 2);
        multi_trace_init(&t, s.n, s.n_heads, s.d_out / s.n_heads);
        multi_trace_init(&after, s.n, s.n_heads, s.d_out / s.n_heads);
        multi_head_forward(&s.h, NULL, s.n, (const void *)x, &t);
        for (int k = 0; k < s.d_in; k++)
            x[changed * s.d_in + k] += 1;
        multi_head_forward(&s.h, NULL, s.n, (const void *)x, &after);
        same("rows before", (size_t)(changed * s.d_out), after.out, t.out);
        tap_true("its own row",
                 memcmp((float *)after.out + changed * s.d_out,
                        (float *)t.out + changed * s.d_out,
                        (size_t)s.d_out * sizeof(float)) != 0);
        multi_trace_free(&t);
        multi_trace_free(&after);
        multi_head_free(&s.h);
    }
}

/* The heads of chapter 12 with their matrices side by side in one. */
static void loop_test(void)
{
    for (int round = 0; round < 50; round++) {
        Set s = random_set(round);
        const int n = s.n, size = s.d_out / s.n_heads;
        Heads loop;
        heads_init(&loop, &s.r, s.n_heads, s.d_in, size, size);
        Trace *trace = malloc((size_t)s.n_heads * sizeof *trace);
        for (int k = 0; k < s.n_heads; k++) {
            trace_init(&trace[k], n, n, size, size);
            const float *from[3] = {loop.head[k].w_query,
                                    loop.head[k].w_key,
                                    loop.head[k].w_value};
            float *to[3] = {s.h.query.weight, s.h.key.weight,
                            s.h.value.weight};
            for (int i = 0; i < 3; i++)
                for (int e = 0; e < size; e++)
                    for (int j = 0; j < s.d_in; j++)
                        to[i][(k * size + e) * s.d_in + j] =
                            from[i][j * size + e];
        }
        if (s.h.query.bias)
            for (int e = 0; e < s.d_out; e++)
                s.h.query.bias[e] = s.h.key.bias[e] = s.h.value.bias[e] = 0;
        float *x = room((size_t)(n * s.d_in));
        float *all = room((size_t)(n * n));
        float *joined = room((size_t)(n * s.d_out));
        MultiTrace t;
        multi_trace_init(&t, n, s.n_heads, size);
        tap_fill(n * s.d_in, x, -2, 2);
        for (int i = 0; i < n * n; i++)
            all[i] = 1;
        heads_forward(&loop, n, (void *)x, trace, (void *)joined);
        multi_head_masked(&s.h, n, (void *)x, (void *)all, &t);
        for (int i = 0; i < n * s.d_out; i++)
            tap_near("joined", ((float *)t.joined)[i], joined[i], SUM_RTOL,
                     SUM_ATOL);
        multi_trace_free(&t);
        for (int k = 0; k < s.n_heads; k++)
            trace_free(&trace[k]);
        free(trace);
        heads_free(&loop);
        multi_head_free(&s.h);
    }
}

/* The views of the heads together are the stacks, in order. */
static void view_test(void)
{
    sets_now = "class_4x6x3x5";
    Set s = drawn();
    MultiTrace t;
    const int size = s.d_out / s.n_heads;
    const size_t table = (size_t)(s.n * size), map = (size_t)(s.n * s.n);
    multi_trace_init(&t, s.n, s.n_heads, size);
    multi_head_forward(&s.h, NULL, s.n, floats(s.x), &t);
    const CausalTrace all = t.stack;
    for (int k = 0; k < s.n_heads; k++) {
        const CausalTrace one = multi_trace_head(&t, k);
        const size_t from = (size_t)k * table, pairs = (size_t)k * map;
        same("query", table, one.head.query,
             (float *)all.head.query + from);
        same("key", table, one.head.key, (float *)all.head.key + from);
        same("value", table, one.head.value,
             (float *)all.head.value + from);
        same("context", table, one.head.context,
             (float *)all.head.context + from);
        same("scores", map, one.head.scores,
             (float *)all.head.scores + pairs);
        same("weights", map, one.head.weights,
             (float *)all.head.weights + pairs);
        same("mask", map, one.kept, (float *)all.kept + pairs);
        same("dropped", map, one.dropped, (float *)all.dropped + pairs);
    }
    multi_trace_free(&t);
    multi_head_free(&s.h);
}

/* Every table has room for all its entries, and none lies in another. */
static void trace_test(void)
{
    enum { N = 37, HEADS = 3, SIZE = 29, TABLES = 13 };
    enum { ROWS = N * HEADS * SIZE, MAPS = N * N * HEADS };
    MultiTrace t;
    multi_trace_init(&t, N, HEADS, SIZE);
    same_bits("heads", t.n_heads, HEADS);
    trace_must_fit(&t.stack.head, N, N, SIZE, SIZE);
    const Trace *a = &t.stack.head;
    float *const table[TABLES] = {
        t.query,    t.key,        t.value,        t.joined,   t.out,
        a->query,   a->key,       a->value,       a->context, a->scores,
        a->weights, t.stack.kept, t.stack.dropped};
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < (i < 9 ? ROWS : MAPS); k++)
            table[i][k] = (float)(i * 10000 + k);
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < (i < 9 ? ROWS : MAPS); k++)
            tap_near("entry", table[i][k], i * 10000 + k, 0, 0);
    multi_trace_free(&t);
}

/* What is freed can be asked for again: 100 times some of it does not fit
 * otherwise. */
static void trace_free_test(void)
{
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        MultiTrace t;
        multi_trace_init(&t, 300, 2, 150);
        multi_trace_free(&t);
        tap_true("freed", 1);
    }
}

static void free_test(void)
{
    Random r;
    random_seed(&r, 1);
    tap_limit_memory(24);
    for (int i = 0; i < 100; i++) {
        MultiHead h;
        multi_head_init(&h, &r, 300, 300, 6, 0, 3, 1);
        multi_head_free(&h);
        tap_true("freed", 1);
    }
}

static void init_with(int d_in, int d_out, int length, double p,
                      int n_heads)
{
    Random r;
    MultiHead h;
    random_seed(&r, 1);
    multi_head_init(&h, &r, d_in, d_out, length, p, n_heads, 0);
}

static void three_heads(void)
{
    init_with(3, 8, 6, 0, 3);
}

static void no_heads(void)
{
    init_with(3, 8, 6, 0, 0);
}

static void no_columns(void)
{
    init_with(3, 0, 6, 0, 2);
}

static void no_length(void)
{
    init_with(3, 8, 0, 0, 2);
}

static void rate_above_one(void)
{
    init_with(3, 8, 6, 1.5, 2);
}

static void rate_below_zero(void)
{
    init_with(3, 8, 6, -0.5, 2);
}

static void rate_no_number(void)
{
    init_with(3, 8, 6, NAN, 2);
}

static void packed_three(void)
{
    Random r;
    MultiHead h;
    random_seed(&r, 1);
    multi_head_init_packed(&h, &r, 8, 6, 0, 3);
}

/* A module for 3 columns in, 8 out, 2 heads, at most 6 tokens; and a trace
 * of other sizes. */
static void forward_with(int n, int n_heads, int head_dim, bool is_masked)
{
    Random r;
    MultiHead h;
    MultiTrace t;
    float x[7][3] = {{0}}, mask[7][7] = {{0}};
    random_seed(&r, 1);
    multi_head_init(&h, &r, 3, 8, 6, 0, 2, 0);
    multi_trace_init(&t, 5, n_heads, head_dim);
    if (is_masked)
        multi_head_masked(&h, n, x, (void *)mask, &t);
    else
        multi_head_forward(&h, NULL, n, x, &t);
}

static void long_text(void)
{
    forward_with(7, 2, 4, false);
}

static void long_masked(void)
{
    forward_with(7, 2, 4, true);
}

static void trace_of_other_heads(void)
{
    forward_with(5, 4, 2, false);
}

static void trace_of_fewer_heads(void)
{
    forward_with(5, 1, 4, false);
}

static void masked_trace_of_more_heads(void)
{
    forward_with(5, 3, 4, true);
}

static void trace_of_other_length(void)
{
    forward_with(4, 2, 4, false);
}

static void masked_trace(void)
{
    forward_with(5, 2, 3, true);
}

/* The keys are narrower than the queries, for which the trace is made. */
static void narrow_keys(void)
{
    Random r;
    MultiHead h;
    MultiTrace t;
    float x[5][3] = {{0}};
    random_seed(&r, 1);
    multi_head_init(&h, &r, 3, 8, 6, 0, 2, 0);
    linear_free(&h.key);
    linear_init(&h.key, &r, 3, 4, 0);
    multi_trace_init(&t, 5, 2, 4);
    multi_head_forward(&h, NULL, 5, x, &t);
}

/* Two heads of four columns, but for the values and the output layer. */
static void layers_with(int value_out, int out_in, int out_out)
{
    Random r;
    MultiHead h;
    MultiTrace t;
    float x[5][3] = {{0}};
    random_seed(&r, 1);
    multi_head_init(&h, &r, 3, 8, 6, 0, 2, 0);
    linear_free(&h.value);
    linear_free(&h.out);
    linear_init(&h.value, &r, 3, value_out, 0);
    linear_init(&h.out, &r, out_in, out_out, 1);
    multi_trace_init(&t, 5, 2, 4);
    multi_head_forward(&h, NULL, 5, x, &t);
}

static void wide_values(void)
{
    layers_with(9, 8, 8);
}

static void wide_input_of_output(void)
{
    layers_with(8, 9, 8);
}

static void wide_output(void)
{
    layers_with(8, 8, 9);
}

static void trace_with(int n, int n_heads, int head_dim)
{
    MultiTrace t;
    multi_trace_init(&t, n, n_heads, head_dim);
}

static void trace_of_nothing(void)
{
    trace_with(0, 2, 4);
}

static void trace_of_no_heads(void)
{
    trace_with(5, -2, 4);
}

static void trace_of_no_width(void)
{
    trace_with(5, 2, 0);
}

static void trace_too_wide(void)
{
    trace_with(1, 65536, 65536);
}

static void trace_too_long(void)
{
    trace_with(65536, 65536, 1);
}

static void head_of_two(int h)
{
    MultiTrace t;
    multi_trace_init(&t, 5, 2, 4);
    multi_trace_head(&t, h);
}

static void third_head(void)
{
    head_of_two(2);
}

static void head_before_first(void)
{
    head_of_two(-1);
}

/* volatile, or else the compiler sees what is wrong and warns. */
static void mean_of(volatile int n_heads)
{
    float weights[1][1][1] = {{{1}}}, average[1][1];
    average_weights(1, 1, n_heads, (const void *)weights, average);
}

static void mean_of_nothing(void)
{
    mean_of(0);
}

static void mean_of_less(void)
{
    mean_of(-1);
}

static void refusals(const char *file)
{
    tap_refuses(
        three_heads, "multi_head_init: refuses 3 heads of 8", file,
        "8 columns for 3 heads leave 2 over: a divisor of 8 is needed");
    tap_refuses(no_heads, "multi_head_init: refuses no heads", file,
                "from 3 columns to 8, 6 tokens, 0 heads: at least 1 of "
                "each is needed");
    tap_refuses(no_columns, "multi_head_init: refuses no columns", file,
                "from 3 columns to 0, 6 tokens, 2 heads: at least 1 of "
                "each is needed");
    tap_refuses(no_length, "multi_head_init: refuses no tokens", file,
                "from 3 columns to 8, 0 tokens, 2 heads: at least 1 of "
                "each is needed");
    tap_refuses(rate_above_one, "multi_head_init: refuses a rate above 1",
                "10_dropout.c",
                "a dropout rate of 1.5: from 0 to 1 is needed");
    tap_refuses(rate_below_zero, "multi_head_init: refuses a rate below 0",
                "10_dropout.c",
                "a dropout rate of -0.5: from 0 to 1 is needed");
    tap_refuses(rate_no_number, "multi_head_init: refuses a rate of NaN",
                "10_dropout.c",
                "a dropout rate of nan: from 0 to 1 is needed");
    tap_refuses(
        packed_three, "multi_head_init_packed: refuses 3 heads", file,
        "8 columns for 3 heads leave 2 over: a divisor of 8 is needed");
    tap_refuses(
        trace_of_nothing, "multi_trace_init: refuses no tokens", file,
        "a trace for 0 tokens, 2 heads of width 4: at least 1 of each is "
        "needed");
    tap_refuses(
        trace_of_no_heads, "multi_trace_init: refuses -2 heads", file,
        "a trace for 5 tokens, -2 heads of width 4: at least 1 of each is "
        "needed");
    tap_refuses(
        trace_of_no_width, "multi_trace_init: refuses no width", file,
        "a trace for 5 tokens, 2 heads of width 0: at least 1 of each is "
        "needed");
    tap_refuses(
        trace_too_wide, "multi_trace_init: refuses too many columns", file,
        "a trace for 1 tokens, 65536 heads of width 65536: n_heads times "
        "the others may be at most 2147483647");
    tap_refuses(
        trace_too_long, "multi_trace_init: refuses too many rows", file,
        "a trace for 65536 tokens, 65536 heads of width 1: n_heads times "
        "the others may be at most 2147483647");
    tap_refuses(third_head, "multi_trace_head: refuses the third of two",
                file, "head 2 of 2: one from 0 to 1 is needed");
    tap_refuses(head_before_first, "multi_trace_head: refuses -1", file,
                "head -1 of 2: one from 0 to 1 is needed");
    tap_refuses(
        narrow_keys, "multi_head_forward: refuses layers that do not fit",
        "07_self_attention.c",
        "layers from 3, 3, 3 to 8, 4, 8 numbers for query, key, value: "
        "equal inputs, and queries as wide as keys are needed");
    tap_refuses(
        wide_values, "multi_head_forward: refuses wider values", file,
        "9 columns of values, and an output layer from 8 to 8: 8 as "
        "for the queries are needed");
    tap_refuses(
        wide_input_of_output,
        "multi_head_forward: refuses an output layer from more", file,
        "8 columns of values, and an output layer from 9 to 8: 8 as "
        "for the queries are needed");
    tap_refuses(
        wide_output, "multi_head_forward: refuses an output layer to more",
        file,
        "8 columns of values, and an output layer from 8 to 9: 8 as "
        "for the queries are needed");
    tap_refuses(long_masked, "multi_head_masked: refuses too long a text",
                file,
                "a text of 7 tokens: at most 6, the context length, fit");
    tap_refuses(trace_of_fewer_heads,
                "multi_head_forward: refuses a trace for fewer heads", file,
                "a trace for 1 heads: one for 2 is needed");
    tap_refuses(masked_trace_of_more_heads,
                "multi_head_masked: refuses a trace for more heads", file,
                "a trace for 3 heads: one for 2 is needed");
    tap_refuses(long_text, "multi_head_forward: refuses too long a text",
                file,
                "a text of 7 tokens: at most 6, the context length, fit");
    tap_refuses(trace_of_other_heads,
                "multi_head_forward: refuses a trace for other heads", file,
                "a trace for 4 heads: one for 2 is needed");
    tap_refuses(
        trace_of_other_length,
        "multi_head_forward: refuses a trace of another length",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 4, 4: 4, 4, 4, 4 are needed");
    tap_refuses(
        masked_trace, "multi_head_masked: refuses a trace of another width",
        "07_self_attention.c",
        "a trace of n, m, d_k, d_v = 5, 5, 3, 3: 5, 5, 4, 4 are needed");
    tap_refuses(mean_of_nothing, "average_weights: refuses no heads", file,
                "the mean of 0 heads: at least 1 is needed");
    tap_refuses(mean_of_less, "average_weights: refuses -1 heads", file,
                "the mean of -1 heads: at least 1 is needed");
}

int main(void)
{
    SETS("split_heads", split_test, SPLITS);
    SETS("merge_heads", merge_test, SPLITS);
    TAP(round_trip, "split_heads: and merge_heads, there and back");
    SETS("multi_head_init", init_test, CLASSES, DROPPED);
    SETS("multi_head_forward", forward_test, CLASSES);
    SETS("multi_head_forward: in training", training_test, CLASSES);
    SETS("multi_head_forward: in training", training_test, DROPPED);
    SETS("multi_head_forward: in evaluation", evaluation_test, DROPPED);
    TAP(alone_test, "multi_head_forward: each head as if it were alone");
    TAP(identity_test, "multi_head_forward: one head, nothing mixed");
    TAP(future_test, "multi_head_forward: no row depends on the future");
    TAP(view_test, "multi_trace_head: the layers of the stacks");
    TAP(sums_test, "multi_head_forward: rows of shares add up to one");
    TAP(trace_test, "multi_trace_init: sizes and room");
    TAP_LARGE(free_test, "multi_head_free: the memory can be used again");
    TAP_LARGE(trace_free_test,
              "multi_trace_free: the memory can be used again");
    SETS("multi_head_init_packed", packed_test, MODULES);
    TAP(packed_settings, "multi_head_init_packed: rate and length");
    SETS("multi_head_masked", masked_test, MODULES);
    TAP(walk_test, "multi_head_masked: 20 tokens, 8 heads, 512 columns");
    TAP(loop_test, "multi_head_masked: the heads of chapter 12");
    TAP(masked_sums_test,
        "multi_head_masked: rows of shares add up to one");
    SETS("average_weights", average_test, MODULES);
    TAP(average_wide, "average_weights: tables that are not square");
    refusals("13_multi_head.c");
    return tap_done();
}
