/* Chapter 14 against PyTorch: golden/14_flash. */
#define CHAPTER "14_flash"
#include "traces.h"
#include "attention/14_flash.h"

#define ATOL 2e-6

/* What has been met so far, against PyTorch's answer after j keys. */
static void so_far(const OnlineSoftmax *r, int j, int d_v,
                   const float mixture[d_v])
{
    float context[d_v];
    memcpy(context, mixture, sizeof context);
    const float log_sum_exp = online_softmax_finish(d_v, r, context);
    tap_near(tap_words("log-sum-exp after %d keys", j), log_sum_exp,
             doubles("log_sums")[j], 2e-7, ATOL);
    for (int k = 0; k < d_v; k++)
        tap_near(tap_words("context[%d] after %d keys", k, j), context[k],
                 doubles("contexts")[j * d_v + k], 0, ATOL);
}

static void nothing_met(void)
{
    float mixture[3] = {5, NAN, -7};
    const float zeros[3] = {0};
    OnlineSoftmax r = {7, 8};
    online_softmax_init(3, &r, mixture);
    same("mixture", 3, mixture, zeros);
    tap_near("log-sum-exp", online_softmax_finish(3, &r, mixture),
             -INFINITY, 0, 0);
    for (int k = 0; k < 3; k++)
        tap_near(tap_words("mixture[%d]", k), mixture[k], NAN, 0, 0);
}

static void mixture_is_divided(void)
{
    const OnlineSoftmax r = {2, 4};
    const float expect[2] = {2, -0.5f};
    float mixture[2] = {8, -2};
    tap_near("log-sum-exp", online_softmax_finish(2, &r, mixture),
             2 + log(4), 3e-7, 0);
    same("mixture", 2, mixture, expect);
}

/* By the logarithm of 2, so that halves are left. */
static void what_was_summed_is_halved(void)
{
    const float expect[2] = {1, -2};
    float mixture[2] = {2, -4};
    OnlineSoftmax r = {3, 5};
    online_softmax_rescale(3.69314718f, 2, &r, mixture);
    tap_near("largest", r.largest, 3.69314718, 1e-7, 0);
    tap_near("sum", r.sum, 2.5, 3e-7, 0);
    for (int k = 0; k < 2; k++)
        tap_near(tap_words("mixture[%d]", k), mixture[k], expect[k], 3e-7,
                 0);
}

/* The row of scores key by key, or in the blocks of the set. */
static void row_test(bool is_cut)
{
    const int d_v = dim("value", 1), n = dim(is_cut ? "cuts" : "scores", 0);
    const float *scores = input("scores");
    const float(*value)[d_v] = input("value");
    float *mixture = room_for("mixture", (size_t)d_v);
    OnlineSoftmax r;
    online_softmax_init(d_v, &r, mixture);
    for (int k = 0, from = 0; k < n; k++) {
        const int till = is_cut ? (int)integers("cuts")[k] : k + 1;
        if (is_cut)
            online_softmax_add_block(till - from, d_v, scores + from,
                                     value + from, &r, mixture);
        else
            online_softmax_add(d_v, scores[k], value[k], &r, mixture);
        if (till > 0)
            so_far(&r, till - 1, d_v, mixture);
        from = till;
    }
}

static void flash(Mask mask)
{
    const bool is_loud = !strncmp(sets_now, "loud", 4);
    flash_forward(dim("query", 0), dim("key", 0), dim("key", 1),
                  dim("value", 1), mask, input("query"), input("key"),
                  input("value"), due("context", 0, is_loud ? 1e-5 : ATOL),
                  due("log_sum", 3e-7, ATOL));
}

/* Any piece of a table, as the whole table is masked. */
static void mask_piece_test(void)
{
    enum { N = 7, M = 9 };
    float table[N][M], whole[N][M], piece[N * M];
    for (int round = 0; round < 300; round++) {
        const int i = tap_int(0, N - 1), j = tap_int(0, M - 1);
        const int rows = tap_int(1, N - i), cols = tap_int(1, M - j);
        const int first = tap_int(-2 * M, 2 * M);
        for (int k = 0; k < N * M; k++) {
            table[k / M][k % M] = (float)tap_int(-1, 1);
            whole[k / M][k % M] = (float)k;
        }
        const Mask mask = round % 3 == 0   ? mask_none()
                          : round % 3 == 1 ? mask_causal(first)
                                           : mask_table(N, M, table);
        for (int k = 0; k < rows * cols; k++)
            piece[k] = whole[i + k / cols][j + k % cols];
        apply_mask(N, M, mask, whole);
        mask_square(mask, i, j, rows, cols, (void *)piece);
        next_case();
        give("a mask of kind %d, first = %d, i = %d, j = %d, rows = %d, "
             "cols = %d",
             mask.kind, mask.first, i, j, rows, cols);
        for (int k = 0; k < rows * cols; k++)
            tap_near("score", piece[k], whole[i + k / cols][j + k % cols],
                     0, 0);
    }
}

/* The last of the queries sees most. */
static void sees_any_test(void)
{
    const float table[1][1] = {{0}};
    for (int first = -3; first <= 3; first++)
        for (int last = 0; last < 5; last++)
            for (int j = 0; j < 9; j++) {
                next_case();
                give("first = %d, last = %d, j = %d", first, last, j);
                tap_near("of the past",
                         mask_shows_block(mask_causal(first), last, j),
                         first + last >= j, 0, 0);
                tap_true("of all", mask_shows_block(mask_none(), last, j));
                tap_true(
                    "of a table",
                    mask_shows_block(mask_table(1, 1, table), last, j));
            }
    tap_true("far away",
             mask_shows_block(mask_causal(INT_MAX), INT_MAX, INT_MAX));
    tap_true("far back",
             !mask_shows_block(mask_causal(INT_MIN), INT_MAX, 0));
}

/* Only the first block of three is there; queries that see no other do not
 * read on. */
static void blocks_are_skipped(void)
{
    enum { SEEN = 32 };
    float *key = room_for("key", SEEN), *value = room_for("value", SEEN);
    float *context = room_for("context", SEEN);
    float *log_sum_exp = room_for("log_sum", SEEN);
    tap_fill(SEEN, key, -1, 1);
    for (int j = 0; j < SEEN; j++)
        value[j] = 3;
    tap_limit_memory(0);
    flash_forward(SEEN, INT_MAX / 2, 1, 1, mask_causal(0), (void *)key,
                  (void *)key, (void *)value, (void *)context, log_sum_exp);
    for (int i = 0; i < SEEN; i++)
        tap_near(tap_words("context[%d]", i), context[i], 3, 0, ATOL);
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { N = 64, M = 40 };
    const int first[4] = {INT_MAX, INT_MAX - 40, INT_MIN, INT_MIN + 40};
    static float x[N][1], value[M][1], context[N][1];
    float log_sum_exp[N];
    for (int j = 0; j < M; j++)
        value[j][0] = (float)j;
    for (int k = 0; k < 4; k++) {
        next_case();
        give("n = %d, m = %d, first = %d", N, M, first[k]);
        flash_forward(N, M, 1, 1, mask_causal(first[k]), x, x, value,
                      context, log_sum_exp);
        for (int i = 0; i < N; i++)
            tap_near(tap_words("context[%d]", i), context[i][0],
                     k < 2 ? 19.5 : NAN, 1e-6, 0);
    }
}

static void join_test(void)
{
    const float joined =
        merge_contexts(4, changed("context", "joined", 0, ATOL),
                       (float)number("log_sum", "log_sum"), input("other"),
                       (float)number("other_log_sum", "other_log_sum"));
    tap_near("the log-sum-exp", joined, *doubles("joined_log_sum"), 3e-7,
             ATOL);
}

static void refusals(void)
{
    const float table[2][3] = {{0}};
    float x[6][2] = {{0}}, out[6][2], log_sum_exp[6];
    const int n[] = {3, 2, 3, 6, 1}, m[] = {3, 2, 2, 1, 6};
    const Mask odd = mask_table(2, 3, table);
    for (int k = 0; k < 5; k++)
        REFUSES_SUCH(tap_words("a mask of 2 times 3 for %d queries and %d "
                               "keys",
                               n[k], m[k]),
                     flash_forward(n[k], m[k], 2, 2, odd, x, x, x, out,
                                   log_sum_exp));
}

static void tests_of_steps(void)
{
    TAP(nothing_met, "online_softmax_init: nothing has been met");
    TAP(mixture_is_divided,
        "online_softmax_finish: by the sum, whose logarithm counts");
    TAP(what_was_summed_is_halved, "online_softmax_rescale: halves");
    EACH_SET("online_softmax_add", "row_*-scores", row_test(false));
    EACH_SET("online_softmax_add_block", "row_*-scores", row_test(true));
    TAP(mask_piece_test, "mask_square: as the whole table is masked");
    TAP(sees_any_test, "mask_shows_block: the last query sees most");
}

int main(void)
{
    tests_of_steps();
    EACH_SET("flash_forward", "*past*-query",
             flash(mask_causal((int)number("first", "first"))));
    EACH_SET("flash_forward", "*all*-query", flash(mask_none()));
    EACH_SET(
        "flash_forward", "table_*-query",
        flash(mask_table(dim("mask", 0), dim("mask", 1), input("mask"))));
    TAP_LARGE(blocks_are_skipped,
              "flash_forward: what nobody sees is not read");
    TAP(first_far_away, "flash_forward: the first and the last of ints");
    EACH("merge_contexts", join_test, "parts_*-other");
    refusals();
    return tap_done();
}
