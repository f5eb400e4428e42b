/*
## Chapter 16, the cache {#header-kv-cache}
*/

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Rows of floats somewhere in memory: that of token i in head h of text t
 * begins at at[t * text_stride + h * head_stride + i * token_stride]. A
 * stride of 0 makes all texts, or all heads, share theirs. */
typedef struct {
    float *at;
    ptrdiff_t text_stride, head_stride, token_stride;
} StridedRows;

/* How the numbers of a cache are kept: as floats, or in 16 bits, as the
 * upper half of a float, or by IEEE 754, with 5 bits for the exponent.
 * PyTorch: torch.float32, torch.bfloat16, torch.float16. */
typedef enum { FORMAT_FLOAT32, FORMAT_BFLOAT16, FORMAT_FLOAT16 } Format;

/* The keys and values of the tokens of one text, for each head of keys.
 * Token t of the text stands in row t % capacity. */
typedef struct {
    int n_kv_heads, d_k, d_v;
    int capacity;  /* rows of each head */
    int window;    /* how many tokens a query sees; 0: all there are */
    Format format; /* of what is kept */

    /* What kv_cache_init sets: */
    int padded_d_k; /* d_k, up to a multiple of 16, with zeros */
    int padded_d_v; /* d_v, the same */
    void *key;      /* [n_kv_heads][capacity][padded_d_k], of that format */
    void *value;    /* [n_kv_heads][capacity][padded_d_v] */
    int64_t count;  /* tokens that have come */
    int64_t first;  /* the first that is still there */
} KVCache;

/* Where row number `row` of a head begins, among the keys or the values of
 * a cache, whose rows have so many numbers. */
void *kv_cache_row(const KVCache *c, void *rows, int padded_d, int head,
                   int row);

/* Writes d numbers in this format, of which there are the three, and reads
 * them. PyTorch: x, x.bfloat16() or x.half(), and row.float(). */
void store_row(Format format, int d, const float x[d], void *row);
void load_row(Format format, int d, const void *row, float x[d]);

/* The keys and values of the next n tokens, for each head of keys. With a
 * window, they take the rows of the oldest ones. What cannot be kept in 16
 * bits becomes infinite, NaN stays NaN. On one thread. Refuses n below 1,
 * rows whose at is NULL, a cache without memory, and, where there is no
 * window, tokens for which there is no room.
 * PyTorch: torch.cat([keys, key], dim=-2).
 * Elsewhere: a rolling buffer, Jiang et al. 2023, section 2. */
void kv_cache_append(KVCache *c, int n, StridedRows key, StridedRows value);

/* What the last n tokens that have come get, in each of n_heads heads, of
 * which neighbours share a head of keys: attention to the tokens up to
 * their own position, or with a window to the last so many of these, as
 * from flash_forward with mask_causal(count - n).
 * Refuses n below 1 or above the number of tokens, heads that the key heads
 * do not divide, more queries of all heads than an int can count, rows
 * whose at is NULL, a cache without memory, and queries that see a token
 * that is no longer there (with a window, room for window + n - 1 tokens is
 * needed).
 * PyTorch: F.scaled_dot_product_attention(query, keys, values,
 * attn_mask=..., enable_gqa=True). Shazeer 2019; Ainslie et al. 2023. */
void kv_cache_attend(const KVCache *c, int n_heads, int n,
                     StridedRows query, StridedRows context);

/* Takes the last n tokens back, as if they had not come. Refuses n below 0
 * or above the number of tokens, and where the next token would see one
 * that is no longer there.
 * Elsewhere: what speculative decoding does with tokens that are rejected,
 * Leviathan et al. 2023. */
void kv_cache_truncate(KVCache *c, int n);

/* The nearest number in 16 bits, of two that are equally near the one whose
 * last bit is 0. What is beyond the largest becomes infinite, from halfway
 * to the next power of two's place on; NaN remains NaN.
 * PyTorch: x.bfloat16(), to the last bit, but for the bits of a NaN, which
 * are not always the same there. */
uint16_t to_bfloat16(float x);

/* The number that these 16 bits are.
 * PyTorch: bits.view(torch.bfloat16).float(). */
float from_bfloat16(uint16_t bits);
