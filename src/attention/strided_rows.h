/*
## Rows anywhere in memory: `strided_rows.c` {#header-strided-rows}
*/

#pragma once

#include "attention/16_kv_cache.h"

/* The rows of a table [texts][n_heads][n][d], and of one where the heads of
 * a token lie side by side, [texts][n][n_heads][d]. What is only read may
 * be constant. */
StridedRows rows_by_head(int n_heads, int n, int d, const float *at);
StridedRows rows_by_token(int n_heads, int n, int d, const float *at);

/* Where the row of token i in a head of a text begins. */
float *row_at(const StridedRows *rows, int text, int head, int i);
