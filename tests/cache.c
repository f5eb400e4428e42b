/* src/kernel/cache.c against chapter 16's own kv_cache_attend, for each
 * instruction set that this processor has. */
#include "calls.h"
#include "attention/float16.h"

#define ATOL 3e-6

/* How many tokens come, how many of the last ask, with how many heads, of
 * which some share keys; and a cache for them, with a window or without. */
typedef struct {
    int tokens, n, kv_heads, sharing, d_k, d_v, window, spare;
} Sizes;

static AttentionCall call_of(int seed, Sizes s)
{
    Random r = random_seeded((uint64_t)seed);
    const int heads = s.kv_heads * s.sharing;
    AttentionCall call =
        call_sized(1, heads, s.kv_heads, s.n, s.tokens, s.d_k, s.d_v);
    give_rows(&r, &call);
    return call;
}

/* Each kernel's contexts, with one thread and with three, which change
 * nothing. */
static void expect_contexts(const KVCache *c, const AttentionCall *call,
                            const double *due, double tolerance)
{
    const Table context = table_of(call, CONTEXT);
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        tell_call(k, call);
        given("%" PRId64 " tokens, capacity = %d, window = %d, format = %d",
              c->count, c->capacity, c->window, (int)c->format);
        k->kv_cache_attend(c, call->n_heads, call->n, call->query, 1,
                           call->context);
        const double *first = numbers_of(&context);
        expect_rows(&context, due, 0, tolerance);
        k->kv_cache_attend(c, call->n_heads, call->n, call->query, 3,
                           call->context);
        expect_rows(&context, first, 0, 0);
    }
}

/* The last n tokens ask a cache in each format, which the chapter's function
 * answers. The query, key or value of one token may be another number. */
static void ask_any(int seed, Sizes s, int role, int token, float number)
{
    const AttentionCall call = call_of(seed, s);
    const Table odd = table_of(&call, role);
    const Table context = table_of(&call, CONTEXT);
    if (token >= 0)
        *row_at(&odd.rows, 0, 0, token) = number;
    for (int format = 0; format < 3; format++) {
        const int room = (s.window ? s.window : s.tokens) + s.spare;
        KVCache c = cache_for(&call, s.window, room, (Format)format);
        given("in table %d, token %d has %g", role, token, (double)number);
        kv_cache_append(&c, s.tokens, call.key, call.value);
        kv_cache_attend(&c, call.n_heads, s.n, call.query, call.context);
        expect_contexts(&c, &call, numbers_of(&context), ATOL);
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
        ask_any(k,
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
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        ask_any((int)k, sizes[k], 0, -1, 0);
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
        if (token[k / 12] >= 0)
            ask_any(k, (Sizes){70, n, 1, 2, 5, 5, window, n + 7},
                    place[k / 12], token[k / 12], odd[k % 3]);
    }
}

/* Products of some two million in several splits: their weights are as
 * exact as those of small ones. */
static void high_scores(void)
{
    enum { N = 1100 };
    AttentionCall call = call_of(1, (Sizes){N, 1, 1, 1, 3, 1, 0, 0});
    for (int k = 0; k < 3; k++)
        call.query.at[k] = 1;
    for (int i = 0; i < N; i++) {
        float *key = row_at(&call.key, 0, 0, i);
        key[0] = key[2] = 0;
        key[1] = 0x1p21f - 0.25f * (float)(i % 40);
    }
    KVCache c = cache_for(&call, 0, N, FORMAT_FLOAT32);
    kv_cache_append(&c, N, call.key, call.value);
    expect_contexts(&c, &call, due_of(&call, NULL).out[OF_CONTEXT], 5e-7);
    kv_cache_free(&c);
}

/* A single key: the context is its value, also where 16 bits are at their
 * ends. */
static void all_kept(void)
{
    enum { D = 1024 };
    for (int k = 0; k < 2; k++) {
        AttentionCall call = call_of(2, (Sizes){1, 1, 1, 1, 1, D, 0, 0});
        const Table value = table_of(&call, VALUE);
        for (int i = 0; i < D; i++) {
            const uint16_t bits = (uint16_t)(64 * i + i % 7);
            call.value.at[i] = k ? from_float16(bits) : from_bfloat16(bits);
        }
        KVCache c =
            cache_for(&call, 0, 1, k ? FORMAT_FLOAT16 : FORMAT_BFLOAT16);
        kv_cache_append(&c, 1, call.key, call.value);
        expect_contexts(&c, &call, numbers_of(&value), 0);
        kv_cache_free(&c);
    }
}

static void refusals(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    const AttentionCall call = {.n_kv_heads = 2, .d_k = 1, .d_v = 1};
    KVCache c = cache_for(&call, 0, 4, FORMAT_FLOAT32);
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
