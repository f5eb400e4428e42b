/*
## The memory of a cache: `kv_cache.c` {#header-kv-cache-memory}
*/

#pragma once

#include "attention/strided_rows.h"

/* The bytes of keys and values of a cache with these sizes. Refuses sizes
 * below 1, d_k or d_v above 1,048,576, a window that is below 0 or larger
 * than the capacity, a format that there is not, and more bytes than a
 * size_t can count. */
size_t kv_cache_bytes(const KVCache *sizes);

/* Makes an empty cache with the sizes of another; frees it. Refuses what
 * kv_cache_bytes refuses, and what does not fit into memory. */
void kv_cache_init(KVCache *c, const KVCache *sizes);
void kv_cache_free(KVCache *c);

/* Refuses what kv_cache_append refuses. */
void kv_cache_append_check(const KVCache *c, int n, StridedRows key,
                           StridedRows value);

/* Refuses what kv_cache_attend refuses of these. */
void kv_cache_attend_check(const KVCache *c, int n_heads, int n,
                           StridedRows query, StridedRows context);
