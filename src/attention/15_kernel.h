/*
## Chapter 15, the kernel {#header-kernel}
*/

#pragma once

#include <stddef.h>

#include "attention/07_self_attention.h"
#include "attention/09_causal_mask.h"

/* Rows of floats somewhere in memory: that of token i in head h of text t
 * begins at at[t * text_stride + h * head_stride + i * token_stride]. A
 * stride of 0 makes all texts, or all heads, share theirs. */
typedef struct {
    float *at;
    ptrdiff_t text_stride, head_stride, token_stride;
} StridedRows;

/* The rows of a table [texts][n_heads][n][d], and of one where the heads of
 * a token lie side by side, [texts][n][n_heads][d]. What a call only reads
 * may be constant. */
StridedRows rows_by_head(int n_heads, int n, int d, const float *at);
StridedRows rows_by_token(int n_heads, int n, int d, const float *at);

/* Where the row of token i in a head of a text begins. */
float *row_at(const StridedRows *rows, int text, int head, int i);

/* Attention for all heads of all texts: n queries with m keys of d_k
 * entries and m values of d_v, in each. Zeros where nothing is said:
 * n_kv_heads 0 is n_heads; else so many neighbours share a head of keys
 * and values as n_heads is a multiple of it. scale 0 is 1 / sqrt(d_k). bias
 * holds rows of m numbers that are added to the scaled scores. keep_factor
 * holds rows of m factors for the weights, as dropout_mask makes them.
 * log_sum_exp is [texts][n_heads][n], or NULL. threads 0 is as many as
 * there are processors. */
typedef struct {
    int texts, n_heads, n_kv_heads, n, m, d_k, d_v;
    Mask mask;
    float scale;
    StridedRows query, key, value, bias, keep_factor;
    StridedRows context;
    float *log_sum_exp;
    int threads;
} AttentionCall;

/* Computes the call, as flash_forward does one head's, but for rounding,
 * and but that a hidden key's value, if it is not finite, may make NaN.
 * Scores must lie within FLT_MAX / 4 of 0, or NaN may come out. The same
 * holds for a score plus a bias; but a bias of minus infinity hides its
 * key, as one of -FLT_MAX does beside keys with a larger one. A query that
 * sees nothing gets NaN, and minus infinity for its log-sum-exp. What comes
 * out does not depend on the number of threads. This one is compiled for
 * what every processor of its kind has; best_kernel()->attend is faster.
 * Refuses what attention_call_check refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=..., scale=..., enable_gqa=True). Dao 2023, algorithm 1. */
void attend_fast(const AttentionCall *call);

/* 2 to the power of x: for x from -126 to 127, off by 2 of ten million
 * parts at most, and exact for whole numbers; 0 from -127 down and for
 * minus infinity, and between one or the other; NaN for NaN. Above 127 it
 * is not to be used. C: exp2f(x). */
float exp2_fast(float x);

/* The product of a and b, [n][d] and [d][m], as matmul's, in the order in
 * which all that is read lies in memory. PyTorch: a @ b. */
void matmul_ordered(int n, int m, int d, const float a[n][d],
                    const float b[d][m], float c[n][m]);

/* A table somewhere in memory: entry [i][k] is
 * at[i * row_stride + k * column_stride]. */
typedef struct {
    const float *at;
    ptrdiff_t row_stride, column_stride;
} StridedMatrix;

/* The rows from i on. */
static inline StridedMatrix from_row(StridedMatrix a, int i)
{
    return (StridedMatrix){a.at + i * a.row_stride, a.row_stride,
                           a.column_stride};
}

/* c = start + a times b, where a is [n][d], b is [d][m], and start, which
 * may be c itself, is [n][m]; with at NULL it is all zeros.
 * PyTorch: torch.addmm(start, a, b). */
void matmul_strided(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                    StridedMatrix start, float c[n][m]);

/* As matmul and linear_forward, but for rounding, and by the best kernel's
 * matmul. */
void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m]);
void linear_forward_fast(const Linear *l, int n, const float x[n][l->d_in],
                         float y[n][l->d_out]);

/*
Chapter 15 is compiled once for each instruction set that its machine may
have. What a program is to use is looked up when it runs:
*/

/* What chapter 15 is where it was compiled for one instruction set. */
typedef struct {
    const char *name; /* "AVX-512", "AVX2", "plain" */
    int lanes;        /* floats in a vector */
    void (*attend)(const AttentionCall *call);
    void (*matmul)(int n, int m, int d, StridedMatrix a, StridedMatrix b,
                   StridedMatrix start, float c[n][m]);
    float (*exp2)(float x);
    void (*exp2_all)(int n, float x[n]);
} Kernel;

/* The one with the most lanes that this processor can run. */
const Kernel *best_kernel(void);

/* The one with that name; NULL where this processor or this library has it
 * not. */
const Kernel *kernel_named(const char *name);

/* to[j][i] = factor * from[i][j] for n rows of m floats, where the rows of
 * both are so many floats apart. */
void transpose_scaled(int n, int m, float factor, const float *from,
                      ptrdiff_t row, float *to, ptrdiff_t to_row);

/* The floats in the widest register, and how many such registers there are,
 * for the instruction set that is compiled for. */
#if defined __AVX512F__
#define LANES 16
#elif defined __AVX__
#define LANES 8
#else
#define LANES 4
#endif
#if defined __AVX512F__ || defined __aarch64__
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

/* A function that is put where it is used, so that what is known there is
 * known to it; and one that is not. */
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))

/* The smaller one. */
static INLINE int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* How many threads are worth their while for so many products: as many as
 * are asked for, or with 0 as there are processors; and 1 for less than a
 * million products, where the caller is one of several threads itself, or
 * where the library was compiled without OpenMP. */
int threads_for(double products, int wanted);

/* Refuses sizes below 1 or so large that an int cannot count all queries,
 * more than INT_MAX - 1024 keys, or 1,048,576 entries, heads that the key
 * heads do not divide, threads below 0, rows whose at is NULL, and a mask
 * that does not fit n and m. */
void attention_call_check(const AttentionCall *call);

/* How many floats lie side by side in a row that fills the lanes of a
 * register tile: two or three vectors. */
enum { COLUMNS = (LANES == 16 ? 2 : 3) * LANES };

/* c = a times b, or with `adds` c + a times b, for a of [n][d]. Of each row
 * only the first `cols` count; the others may be anything. Rows lie as
 * new_aligned(n, sizeof(float[COLUMNS])) has them. */
void matmul_columns(int n, int cols, int d, StridedMatrix a,
                    const float b[d][COLUMNS], int adds,
                    float c[n][COLUMNS]);

/* x[i] = 2 to the power of x[i], by exp2_fast. */
void exp2_all(int n, float x[n]);

/* x[i][k] = 2 to the power of x[i][k] - less[i], by exp2_fast, for the
 * first `cols` of each row; the others may be anything. */
void exp2_columns(int n, int cols, const float less[n],
                  float x[n][COLUMNS]);
