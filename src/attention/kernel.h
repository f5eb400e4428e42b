/*
## The kernel: `kernel/` {#header-fast}

What chapters 15, 16 and 19 teach, for every shape, format and number of
threads, compiled once for each instruction set. What a program is to use is
looked up when it runs: `best_kernel`.
*/

#pragma once

#include "attention/09_causal_mask.h"
#include "attention/15_kernel.h"
#include "attention/16_kv_cache.h"

/* Attention for all heads of all texts: n queries with m keys of d_k
 * entries and m values of d_v, in each. Zeros where nothing is said:
 * n_kv_heads 0 is n_heads; else so many neighbours share a head of keys
 * and values as n_heads is a multiple of it. scale 0 is 1 / sqrt(d_k). bias
 * holds rows of m numbers that are added to the scaled scores.
 * log_sum_exp is [texts][n_heads][n], or NULL. threads 0 is as many as
 * there are processors. */
typedef struct {
    int texts, n_heads, n_kv_heads, n, m, d_k, d_v;
    Mask mask;
    float scale;
    StridedRows query, key, value, bias, context;
    float *log_sum_exp;
    int threads;
} AttentionCall;

/* Computes the call, as flash_forward does one head's, up to rounding. But
 * a hidden key's value that isn't finite may make NaN here.
 * Scores must lie within FLT_MAX / 4 of 0, or NaN may come out. The same
 * holds for a score plus a bias; but a bias of minus infinity hides its
 * key, as one of -FLT_MAX does beside keys with a larger one. A query that
 * sees nothing gets NaN, and minus infinity for its log-sum-exp. What comes
 * out does not depend on the number of threads.
 * Refuses what attention_call_check refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=..., scale=..., enable_gqa=True). Dao 2023, algorithm 1. */
void attend_fast(const AttentionCall *call);

/* A call that attend_fast has computed, backwards, as flash_backward does
 * one head's: from grad_context it adds to grad_query, grad_key and
 * grad_value, of which the heads that share keys add to the same rows. The
 * call has its context and its log_sum_exp as attend_fast has left them.
 * Rows of gradients must not overlap. A bias is taken into account, and
 * gets no gradient. What is added does not depend on the number of threads.
 * Weights are recomputed from the log-sum-exps;
 * if one of these is 256 or more in size, it has too few digits, and the
 * sums are computed again from all keys, which takes about a fifth longer.
 * Refuses what attention_call_check refuses, a log_sum_exp that is NULL,
 * and rows whose at is NULL.
 * PyTorch: the backward of F.scaled_dot_product_attention(query, key,
 * value, attn_mask=..., is_causal=..., scale=..., enable_gqa=True). Dao
 * 2023, algorithm 2. */
void attend_fast_backward(const AttentionCall *call,
                          StridedRows grad_context, StridedRows grad_query,
                          StridedRows grad_key, StridedRows grad_value);

/* kv_cache_attend, but for rounding, and but that a hidden value, if it is
 * not finite, may make NaN; so may scores that do not lie within FLT_MAX /
 * 4 of 0. threads 0 is as many as there are processors; what comes out does
 * not depend on it.
 * Refuses what kv_cache_attend refuses, threads below 0, and what does not
 * fit into memory: 64 tokens or more have what is in 16 bits or in a ring
 * laid out as floats. PyTorch, Elsewhere: as kv_cache_attend. */
void kv_cache_attend_fast(const KVCache *c, int n_heads, int n,
                          StridedRows query, int threads,
                          StridedRows context);

/* These functions, and three of chapter 15, where they were compiled for
 * one instruction set. Those above by themselves are compiled for what
 * every processor of its kind has. */
typedef struct {
    const char *name; /* "AVX-512", "AVX2", "plain" */
    int lanes;        /* floats in a vector */
    void (*attend)(const AttentionCall *call);
    void (*attend_backward)(const AttentionCall *call,
                            StridedRows grad_context,
                            StridedRows grad_query, StridedRows grad_key,
                            StridedRows grad_value);
    void (*kv_cache_attend)(const KVCache *c, int n_heads, int n,
                            StridedRows query, int threads,
                            StridedRows context);
    void (*matmul)(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                   StridedMatrix start, float c[n][m]);
    float (*exp2)(float x);
    void (*exp2_all)(int n, float x[n]);
} Kernel;

/* The one with the most lanes that this processor can run. */
const Kernel *best_kernel(void);

/* The one with that name; NULL if this processor can't run it, or this
 * library doesn't have it. */
const Kernel *kernel_named(const char *name);

/* Refuses sizes below 1 or so large that an int cannot count all queries,
 * more than INT_MAX - 1024 keys, or 1,048,576 entries, heads that the key
 * heads do not divide, threads below 0, rows whose at is NULL, and a mask
 * that does not fit n and m. */
void attention_call_check(const AttentionCall *call);

/* Refuses what attention_call_check refuses, a log_sum_exp that is NULL,
 * and rows whose at is NULL. */
void attention_call_gradients_check(const AttentionCall *call,
                                    StridedRows grad_context,
                                    StridedRows grad_query,
                                    StridedRows grad_key,
                                    StridedRows grad_value);
