/* src/kernel/cache.c against chapter 16's own kv_cache_attend, for each
 * instruction set that this processor has. */
#include "calls.h"
#include "attention/float16.h"
#include "attention/kv_cache.h"

#define ATOL 3e-6

/* How many tokens come, how many of the last ask, with how many heads, of
 * which some share keys; and a cache for them, with a window or without. */
typedef struct {
    int tokens, n, kv_heads, sharing, d_k, d_v, window, spare;
} Sizes;

static KVCache cache_of(Sizes s, Format format)
{
    KVCache c = {.n_kv_heads = s.kv_heads,
                 .d_k = s.d_k,
                 .d_v = s.d_v,
                 .capacity = (s.window ? s.window : s.tokens) + s.spare,
                 .window = s.window,
                 .format = format};
    kv_cache_init(&c, &c);
    return c;
}

/* Each kernel's contexts, with one thread and with three, which change
 * nothing. */
static void expect_contexts(const KVCache *c, const Table *query,
                            const Table *context, const double *due,
                            double tolerance)
{
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        next_case();
        given("%s: %" PRId64 " tokens, %d queries in %d heads, %d of keys, "
              "d_k = %d, d_v = %d, capacity = %d, window = %d, format = %d",
              k->name, c->count, query->n, query->heads, c->n_kv_heads,
              c->d_k, c->d_v, c->capacity, c->window, (int)c->format);
        k->kv_cache_attend(c, query->heads, query->n, query->rows, 1,
                           context->rows);
        double *first = numbers_of(context);
        expect_rows(context, due, 0, tolerance);
        k->kv_cache_attend(c, query->heads, query->n, query->rows, 3,
                           context->rows);
        expect_rows(context, first, 0, 0);
        free(first);
    }
}

/* The last n tokens ask a cache, which the chapter's function answers. */
static void ask(const KVCache *c, const Table *query, const Table *context,
                double tolerance)
{
    kv_cache_attend(c, query->heads, query->n, query->rows, context->rows);
    double *due = numbers_of(context);
    expect_contexts(c, query, context, due, tolerance);
    free(due);
}

/* In each format. The query, key or value (0, 1 or 2) of one token may be
 * another number. */
static void ask_any(Random *r, Sizes s, int place, int token, float number)
{
    const int heads = s.kv_heads * s.sharing;
    const Table query = any_numbers(r, "query", 1, heads, s.n, s.d_k, 0);
    const Table context = any_rows(r, "context", 1, heads, s.n, s.d_v, 0);
    const Table key =
        any_numbers(r, "key", 1, s.kv_heads, s.tokens, s.d_k, 0);
    const Table value =
        any_numbers(r, "value", 1, s.kv_heads, s.tokens, s.d_v, 0);
    const Table *const table[3] = {&query, &key, &value};
    if (token >= 0)
        *row_at(&table[place]->rows, 0, 0, token) = number;
    for (int format = 0; format < 3; format++) {
        KVCache c = cache_of(s, (Format)format);
        given("in table %d, token %d has %g", place, token, (double)number);
        kv_cache_append(&c, s.tokens, key.rows, value.rows);
        ask(&c, &query, &context, ATOL);
        kv_cache_free(&c);
    }
    guarded_free();
}

static void any_sizes(void)
{
    const int calls = getenv("TAP_SMALL") ? 10 : 100;
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded((uint64_t)k);
        const int n = 1 + below(&r, k % 4 ? 8 : 90);
        const int tokens = n + below(&r, 60);
        const int window = k % 2 ? 1 + below(&r, 30) : 0;
        ask_any(&r,
                (Sizes){tokens, n, 1 + below(&r, 3), 1 + below(&r, 5),
                        1 + below(&r, 40), 1 + below(&r, 40), window,
                        n + below(&r, 9)},
                0, -1, 0);
    }
}

/* More queries in a group than there is room for; more keys than a split
 * has, of which the last has one token, or where the ring's end lies amid a
 * split; and as many tokens as go attend.c's way, 256 at a time if there is
 * a window. */
static void ends_of_parts(void)
{
    static const Sizes sizes[] = {
        {40, 31, 2, 3, 20, 33, 0, 0},      {40, 31, 2, 3, 20, 33, 29, 30},
        {3073, 3, 2, 2, 20, 12, 0, 0},     {3073, 3, 2, 2, 20, 12, 2900, 2},
        {1024, 1, 1, 1, 8, 8, 0, 0},       {1026, 3, 1, 1, 8, 8, 1024, 2},
        {420, 131, 2, 2, 9, 17, 0, 0},     {420, 300, 2, 2, 9, 17, 50, 299},
        {700, 257, 1, 1, 16, 16, 50, 400},
    };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        Random r = random_seeded(k);
        ask_any(&r, sizes[k], 0, -1, 0);
    }
}

/* NaN and infinities in a query; in a key, hidden from some or from all; in
 * a value that all queries see, or none; where few ask, and where many
 * do. */
static void odd_numbers(void)
{
    const float odd[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3 * 2 * 2 * 5; k++) {
        const int n = k / 3 % 2 ? 40 : 3, window = k / 6 % 2 * 50;
        /* The first token that any query sees, and others. */
        const int first = window ? 70 - n - window + 1 : 0;
        const int token[5] = {n / 2, 50, first + 1, 28, first - 1};
        const int place[5] = {0, 1, 1, 2, 2};
        Random r = random_seeded((uint64_t)k);
        if (token[k / 12] >= 0)
            ask_any(&r, (Sizes){70, n, 1, 2, 5, 5, window, n + 7},
                    place[k / 12], token[k / 12], odd[k % 3]);
    }
}

/* Products of some two million in several splits: their weights are as
 * exact as those of small ones. */
static void high_scores(void)
{
    enum { N = 1100 };
    Random r = random_seeded(1);
    AttentionCall call = {
        .texts = 1, .n_heads = 1, .n = 1, .m = N, .d_k = 3, .d_v = 1};
    give_rows(&r, &call);
    for (int k = 0; k < 3; k++)
        call.query.at[k] = 1;
    for (int i = 0; i < N; i++) {
        float *key = row_at(&call.key, 0, 0, i);
        key[0] = key[2] = 0;
        key[1] = 0x1p21f - 0.25f * (float)(i % 40);
    }
    double *due = due_contexts(&call, NULL);
    KVCache c = cache_of((Sizes){N, 1, 1, 1, 3, 1, 0, 0}, FORMAT_FLOAT32);
    const Table query = {"query", 1, 1, 1, 3, call.query};
    const Table context = contexts_of(&call);
    kv_cache_append(&c, N, call.key, call.value);
    expect_contexts(&c, &query, &context, due, 5e-7);
    free(due);
    kv_cache_free(&c);
}

/* A single key: the context is its value, also where 16 bits are at their
 * ends. */
static void all_kept(void)
{
    enum { D = 1024 };
    for (int k = 0; k < 2; k++) {
        const Format format = k ? FORMAT_FLOAT16 : FORMAT_BFLOAT16;
        Random r = random_seeded(2);
        const Table one = any_numbers(&r, "key", 1, 1, 1, 1, 0);
        const Table value = any_rows(&r, "value", 1, 1, 1, D, 0);
        const Table context = any_rows(&r, "context", 1, 1, 1, D, 0);
        for (int i = 0; i < D; i++) {
            const uint16_t bits = (uint16_t)(64 * i + i % 7);
            value.rows.at[i] = k ? from_float16(bits) : from_bfloat16(bits);
        }
        KVCache c = cache_of((Sizes){1, 1, 1, 1, 1, D, 0, 0}, format);
        kv_cache_append(&c, 1, one.rows, value.rows);
        double *due = numbers_of(&value);
        expect_contexts(&c, &one, &context, due, 0);
        free(due);
        kv_cache_free(&c);
    }
}

static void refusals(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    KVCache c = cache_of((Sizes){4, 4, 2, 1, 1, 1, 0, 0}, FORMAT_FLOAT32);
    c.count = 4;
    REFUSES("cache.c: kv_cache_attend_fast: -1 threads: at least 1, or 0 "
            "for all, are needed",
            kv_cache_attend_fast(&c, 2, 1, rows, -1, rows));
    REFUSES_SUCH("5 queries of 4 tokens",
                 kv_cache_attend_fast(&c, 2, 5, rows, 1, rows));
    kv_cache_free(&c);
}

int main(void)
{
    TAP("kv_cache_attend_fast: any sizes", any_sizes());
    TAP("kv_cache_attend_fast: where groups and splits end",
        ends_of_parts());
    TAP("kv_cache_attend_fast: NaN and infinities", odd_numbers());
    TAP("kv_cache_attend_fast: all that 16 bits can hold", all_kept());
    TAP("kv_cache_attend_fast: scores of millions", high_scores());
    refusals();
    return tap_done();
}
