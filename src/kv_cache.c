/* The memory of a cache, its sizes in bytes, and what its functions refuse.
 * Rows are as long as the longest vectors need: zeros fill them up to a
 * multiple of 16, so that cache.c reads whole vectors. Chapter 16's page
 * shows what is kept, and can be read without this file: nothing here
 * depends on a key or a value. */
#include "attention/kv_cache.h"
#include "support.h"

/* The next multiple of 16. */
static size_t padded(int d)
{
    return ((size_t)d + 15) / 16 * 16;
}

size_t kv_cache_bytes(const KVCache *sizes)
{
    const KVCache *c = sizes;
    const size_t each = c->format == FORMAT_FLOAT32 ? 4 : 2;
    if (c->n_kv_heads < 1 || c->d_k < 1 || c->d_v < 1 || c->capacity < 1)
        REFUSE("n_kv_heads, d_k, d_v, capacity = %d, %d, %d, %d: at least "
               "1 of each is needed",
               c->n_kv_heads, c->d_k, c->d_v, c->capacity);
    if (c->d_k > 1 << 20 || c->d_v > 1 << 20)
        REFUSE("d_k, d_v = %d, %d: at most %d of each are needed", c->d_k,
               c->d_v, 1 << 20);
    if (c->window < 0 || c->window > c->capacity)
        REFUSE("a window of %d tokens: one from 0 to %d, the capacity, is "
               "needed",
               c->window, c->capacity);
    if (c->format != FORMAT_FLOAT32 && c->format != FORMAT_BFLOAT16 &&
        c->format != FORMAT_FLOAT16)
        REFUSE("a format %d: 0, 1 or 2 is needed", (int)c->format);
    const size_t rows = (size_t)c->capacity, heads = (size_t)c->n_kv_heads;
    const size_t row = padded(c->d_k) + padded(c->d_v);
    if (rows > SIZE_MAX / each / row / heads)
        REFUSE("%zu times %zu rows of %zu numbers: fewer, that fit into "
               "memory, are needed",
               heads, rows, row);
    return heads * rows * row * each;
}

void kv_cache_init(KVCache *c, const KVCache *sizes)
{
    const size_t bytes = kv_cache_bytes(sizes);
    *c = *sizes;
    c->padded_d_k = (int)padded(c->d_k);
    c->padded_d_v = (int)padded(c->d_v);
    c->key = new_zeroed_pages(bytes);
    c->value =
        (char *)c->key + bytes / (size_t)(c->padded_d_k + c->padded_d_v) *
                             (size_t)c->padded_d_k;
    c->count = c->first = 0;
}

void kv_cache_free(KVCache *c)
{
    free(c->key);
    *c = (KVCache){0};
}

void kv_cache_append_check(const KVCache *c, int n, StridedRows key,
                           StridedRows value)
{
    if (!c->key)
        REFUSE("a cache without memory: kv_cache_init makes room for it");
    if (!key.at || !value.at)
        REFUSE("key.at or value.at is NULL: rows are needed for both");
    if (n < 1 || (!c->window && n > c->capacity - c->count))
        REFUSE("%d tokens after %" PRId64 ", where there is room for %d: "
               "at least 1, and without a window no more than fit, are "
               "needed",
               n, c->count, c->capacity);
}

void kv_cache_attend_check(const KVCache *c, int n_heads, int n,
                           StridedRows query, StridedRows context)
{
    const int64_t from = c->window ? c->count - n - c->window + 1 : 0;
    if (!c->key)
        REFUSE("a cache without memory: kv_cache_init makes room for it");
    if (n_heads < 1 || n_heads % c->n_kv_heads)
        REFUSE("%d heads share %d of keys: a multiple of %d is needed",
               n_heads, c->n_kv_heads, c->n_kv_heads);
    if (n < 1 || n > c->count)
        REFUSE("%d queries, where %" PRId64
               " tokens have come: at least 1, "
               "and at most so many, are needed",
               n, c->count);
    if ((double)n_heads * n > INT_MAX)
        REFUSE("%d heads with %d queries: an int cannot count more than %d "
               "in all",
               n_heads, n, INT_MAX);
    if (!query.at || !context.at)
        REFUSE("query.at or context.at is NULL: rows are needed for both");
    if (c->first > (from > 0 ? from : 0))
        REFUSE("%d queries with a window of %d, where the first token that "
               "is there is number %" PRId64 ": room for %" PRId64
               " tokens, and not %d, is needed",
               n, c->window, c->first, (int64_t)c->window + n - 1,
               c->capacity);
}
