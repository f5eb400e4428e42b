/* Texts whose tokens come into a cache in pieces and ask, held against chapter
 * 14's attention without a cache. Who includes this says by attend_cache how
 * they ask. Define CHAPTER before including it. */
#pragma once

#include "golden.h"
#include "attention/14_flash.h"
#include "attention/16_kv_cache.h"
#include "attention/kv_cache.h"

#define ATOL 3e-6

/* kv_cache_attend, or the kernel's. */
static void (*attend_cache)(const KVCache *c, int n_heads, int n,
                            StridedRows query, int threads,
                            StridedRows context);

/* A text: its queries, keys and values, and where its contexts go. */
typedef struct {
    int n_heads, n_kv_heads, n, d_k, d_v, window;
    StridedRows query, key, value, context;
} Text;

static inline StridedRows rows_from(StridedRows rows, int token)
{
    rows.at += token * rows.token_stride;
    return rows;
}

static inline KVCache cache_for(const Text *t, int capacity, Format format)
{
    KVCache c;
    kv_cache_init(&c, &(KVCache){.n_kv_heads = t->n_kv_heads,
                                 .d_k = t->d_k,
                                 .d_v = t->d_v,
                                 .capacity = capacity,
                                 .window = t->window,
                                 .format = format});
    return c;
}

/* The next n tokens of a text come, and ask. */
static inline void come(KVCache *c, const Text *t, int n)
{
    const int from = (int)c->count;
    kv_cache_append(c, n, rows_from(t->key, from),
                    rows_from(t->value, from));
    attend_cache(c, t->n_heads, n, rows_from(t->query, from), 0,
                 rows_from(t->context, from));
}

/* The whole text in pieces of up to so many tokens. */
static inline void come_in_pieces(KVCache *c, const Text *t, int most)
{
    if (c->window && most > c->capacity - c->window + 1)
        most = c->capacity - c->window + 1;
    while (c->count < t->n) {
        int n = tap_int(1, most);
        if (n > t->n - c->count)
            n = t->n - (int)c->count;
        come(c, t, n);
    }
}

/* ---- Without a cache: chapter 14's attention, head by head. */

static inline void copy_rows(StridedRows rows, int head, int n, int d,
                             float x[n][d])
{
    for (int i = 0; i < n; i++)
        memcpy(x[i],
               rows.at + head * rows.head_stride + i * rows.token_stride,
               sizeof x[i]);
}

/* Whether token i sees token j. */
static inline int sees(const Text *t, int i, int j)
{
    return j <= i && (!t->window || i - j < t->window);
}

/* The text's contexts, [n_heads][n][d_v]. */
static inline float *without_cache(const Text *t)
{
    const int n = t->n, d_k = t->d_k, d_v = t->d_v;
    float *all = new_table(t->n_heads * n, d_v);
    float(*query)[d_k] = (void *)new_table(n, d_k);
    float(*key)[d_k] = (void *)new_table(n, d_k);
    float(*value)[d_v] = (void *)new_table(n, d_v);
    float(*seen)[n] = (void *)new_table(n, n);
    float *log_sum_exp = new_table(n, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            seen[i][j] = (float)sees(t, i, j);
    for (int h = 0; h < t->n_heads; h++) {
        const int key_head = h / (t->n_heads / t->n_kv_heads);
        copy_rows(t->query, h, n, d_k, query);
        copy_rows(t->key, key_head, n, d_k, key);
        copy_rows(t->value, key_head, n, d_v, value);
        flash_forward(n, n, d_k, d_v, mask_table(n, n, seen), query, key,
                      value, (void *)(all + h * n * d_v), log_sum_exp);
    }
    free(query);
    free(key);
    free(value);
    free(seen);
    free(log_sum_exp);
    return all;
}

/* A random text, of which tokens or heads lie side by side. */
static inline StridedRows any_rows(int by_token, int heads, int n, int d)
{
    float *x = guarded("rows", (size_t)(heads * n * d));
    tap_fill(heads * n * d, x, -2, 2);
    return by_token ? rows_by_token(heads, n, d, x)
                    : rows_by_head(heads, n, d, x);
}

static inline Text any_text(int n, int n_kv_heads, int sharing, int d_k,
                            int d_v, int window)
{
    const int by_token = tap_int(0, 1), heads = n_kv_heads * sharing;
    next_case();
    given(
        "%d tokens, %d heads, %d of keys, d_k = %d, d_v = %d, a window of "
        "%d",
        n, heads, n_kv_heads, d_k, d_v, window);
    return (Text){heads,
                  n_kv_heads,
                  n,
                  d_k,
                  d_v,
                  window,
                  any_rows(by_token, heads, n, d_k),
                  any_rows(by_token, n_kv_heads, n, d_k),
                  any_rows(by_token, n_kv_heads, n, d_v),
                  any_rows(by_token, heads, n, d_v)};
}

/* What has been written for it, [n_heads][n][d_v]. */
static inline float *contexts(const Text *t)
{
    float *got = guarded("an array", (size_t)(t->n_heads * t->n * t->d_v));
    for (int h = 0; h < t->n_heads; h++)
        copy_rows(t->context, h, t->n, t->d_v,
                  (void *)(got + h * t->n * t->d_v));
    return got;
}

static inline void compare(const Text *t)
{
    float *right = without_cache(t);
    expect_list("context", (t->n_heads * t->n * t->d_v), contexts(t), right,
                0, ATOL);
    free(right);
}

static inline void cut_any_texts(int texts)
{
    enum { MOST = 60 };
    for (int k = 0; k < texts; k++) {
        const int n = tap_int(1, MOST);
        const int window = k % 2 ? tap_int(1, MOST / 2) : 0;
        const Text t = any_text(n, tap_int(1, 3), tap_int(1, 5),
                                tap_int(1, 40), tap_int(1, 40), window);
        const int capacity =
            window ? window + tap_int(0, k % 4 == 1 ? 9 : MOST) : n + 9;
        KVCache c = cache_for(&t, capacity, FORMAT_FLOAT32);
        come_in_pieces(&c, &t, k % 3 ? 5 : MOST);
        compare(&t);
        kv_cache_free(&c);
    }
}

/* Numbers that lose nothing in any format. */
static inline void make_short(Text *t)
{
    const int keys = t->n * t->n_kv_heads;
    for (int i = 0; i < keys * t->d_k; i++)
        t->key.at[i] = (float)tap_int(-8, 8) / 4;
    for (int i = 0; i < keys * t->d_v; i++)
        t->value.at[i] = (float)tap_int(-8, 8) / 8;
}

/* NaN and infinities, in a query, a key or a value, as flash_forward has
 * them. What a hidden value does that is not finite is left open. */
static inline void odd_numbers(void)
{
    enum { N = 70, D = 5, KINDS = 3 * 3 * 3 * 2 };
    static const float odd[3] = {NAN, INFINITY, -INFINITY};
    static const char *const role[3] = {"query", "key", "value"};
    for (int k = 0; k < KINDS; k++) {
        Text t = any_text(N, 1, 2, D, D, k % 2 * 9);
        make_short(&t);
        const int where = k / 2 % 3, token = tap_int(0, N - 1);
        const StridedRows rows =
            (StridedRows[3]){t.query, t.key, t.value}[where];
        const float x = odd[k / 6 % 3];
        const Format format = (Format)(k / 18 % 3);
        rows.at[token * rows.token_stride + tap_int(0, D - 1)] = x;
        given("%g in the %s of token %d, format = %d", (double)x,
              role[where], token, (int)format);
        KVCache c = cache_for(&t, N, format);
        come_in_pieces(&c, &t, k % 5 ? 3 : 40);
        float *right = without_cache(&t), *got = contexts(&t);
        for (int i = 0; i < 2 * N; i++)
            if (where < 2 || sees(&t, i % N, token))
                expect_list(tap_words("context of token %d", i % N), D,
                            got + i * D, right + i * D, 0, ATOL);
        free(right);
        kv_cache_free(&c);
    }
}
