/* src/kernel/attend.c against PyTorch, golden/attend, and against float64;
 * for each instruction set that this processor has. */
#define CHAPTER "attend"
#include "calls.h"

/* How far floats may be from float64, in parts of what is due, or of 1 if
 * that is more: no more than 4e-7 was measured. */
#define ATOL 1e-6

/* Each kernel's answer to a call, and what is due. */
static void expect_due(const AttentionCall *call, const Due *due,
                       double tolerance, double of_sums)
{
    const Table contexts = table_of(call, CONTEXT);
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        tell_call(k, call);
        k->attend(call);
        expect_rows(&contexts, due->context, 0, tolerance);
        for (int i = 0; call->log_sum_exp && i < rows_of(&contexts); i++) {
            const double sum = due->log_sum_exp[i];
            expect_near("log_sum_exp", (double)call->log_sum_exp[i], sum, 0,
                        of_sums * fmax(1, fabs(sum)));
        }
    }
}

static void expect_exact(const AttentionCall *call, double tolerance,
                         double of_sums)
{
    const Due due = due_of(call, NULL);
    expect_due(call, &due, tolerance, of_sums);
}

static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 300;
    for (int k = 0; k < calls; k++) {
        Random r = random_seeded((uint64_t)k);
        AttentionCall call = any_call(&r, 0, 1 << 19);
        if (k % 3 == 0)
            call.log_sum_exp = NULL;
        expect_exact(&call, ATOL, ATOL);
        guarded_free();
    }
}

/* A call of the set against PyTorch. */
static void golden_test(const char *set)
{
    AttentionCall call = call_of_set(set);
    call.context =
        rows_by_head(call.n_heads, call.n, call.d_v,
                     guarded("context", golden_count(set, "context")));
    call.log_sum_exp = guarded("log_sum", golden_count(set, "log_sum"));
    const Due due = {.context = (double *)golden_doubles(set, "context"),
                     .log_sum_exp =
                         (double *)golden_doubles(set, "log_sum")};
    expect_due(&call, &due, ATOL, 4e-7);
}

/* To the bit. */
static void threads_agree(void)
{
    for (int k = 0; k < 3; k++) {
        Random r = random_seeded(1500 + (uint64_t)k);
        AttentionCall call = any_call(&r, 1 << 20, 1 << 21);
        const Table context = table_of(&call, CONTEXT);
        for (const Kernel *kernel = NULL; (kernel = next_kernel(kernel));) {
            call.threads = 1;
            kernel->attend(&call);
            double *first = numbers_of(&context);
            for (int i = 0; i < 3; i++) {
                call.threads = (int[]){2, 3, 7}[i];
                tell_call(kernel, &call);
                kernel->attend(&call);
                expect_rows(&context, first, 0, 0);
            }
        }
        guarded_free();
    }
}

/* ---- Calls at the ends of what there is */

/* A text of one head, and keys and values of one entry. */
static AttentionCall call_of_one(Random *r, int n, int m)
{
    AttentionCall call = {
        .texts = 1, .n_heads = 1, .n = n, .m = m, .d_k = 1, .d_v = 1};
    give_rows(r, &call);
    call.query = rows_by_head(1, n, 1, guarded("query", (size_t)n));
    for (int i = 0; i < n; i++)
        call.query.at[i] = 1;
    return call;
}

/* Only the first keys of very many are there. */
static void blocks_are_skipped(void)
{
    enum { SEEN = 130 };
    Random r = random_seeded(1);
    AttentionCall call = call_of_one(&r, SEEN, SEEN);
    call.mask = mask_causal(0);
    const Due due = due_of(&call, NULL);
    call.m = INT_MAX / 2;
    expect_due(&call, &due, ATOL, ATOL);
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { M = 140 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    Random r = random_seeded(2);
    AttentionCall call = call_of_one(&r, 64, M);
    for (int k = 0; k < 4; k++) {
        call.mask = mask_causal(first[k]);
        expect_exact(&call, ATOL, ATOL);
    }
}

/* A hidden key may be anything. */
static void hidden_keys(void)
{
    enum { N = 40, M = 170 };
    const float odd[3] = {NAN, INFINITY, -INFINITY};
    static float table[N][M];
    Random r = random_seeded(3);
    AttentionCall call = call_of_one(&r, N, M);
    call.mask = mask_table(N, M, table);
    for (int j = 20; j <= 150; j++)
        for (int i = 0; i < N; i++)
            table[i][j] = 1;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < M; j += j == 19 ? 132 : 1)
            *row_at(&call.key, 0, 0, j) = odd[k];
        expect_exact(&call, ATOL, ATOL);
    }
}

/* A bias of the lowest floats hides a key beside others, but where a row
 * has no others, it is the same for all: the values' mean. */
static void lowest_bias(void)
{
    enum { N = 70, M = 150 };
    static float bias[N][M];
    Random r = random_seeded(4);
    AttentionCall call = call_of_one(&r, N, M);
    call.bias = rows_by_head(1, N, M, bias[0]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            const float low = (i / 7 + j / 5) % 2 ? -3e38f : -FLT_MAX;
            const float row[7] = {-FLT_MAX,
                                  -3e38f,
                                  -FLT_MAX / 2,
                                  j % 3 ? low : 0.5f,
                                  j < 130 ? low : 0.5f,
                                  j % 3 ? -INFINITY : -FLT_MAX,
                                  -INFINITY};
            bias[i][j] = row[i % 7];
        }
    expect_exact(&call, ATOL, ATOL);
}

/* Products of some two million: their weights are as exact as those of
 * small ones, with any scale. */
static void high_scores(void)
{
    const float scale[3] = {1, 0.3f, -0.3f};
    Random r = random_seeded(5);
    AttentionCall call = call_of_one(&r, 1, 300);
    for (int j = 0; j < 300; j++)
        *row_at(&call.key, 0, 0, j) = 0x1p21f - 0.25f * (float)(j % 40);
    for (int k = 0; k < 3; k++) {
        call.scale = scale[k];
        expect_exact(&call, 5e-7, 2e-7);
    }
}

/* Products that no float holds, but a small scale makes scores of 3. */
static void small_scale(void)
{
    Random r = random_seeded(6);
    AttentionCall call = call_of_one(&r, 1, 3);
    const float key[3] = {3e38f, -3e38f, 1e38f};
    call.scale = 1e-40f;
    *call.query.at = 100;
    for (int j = 0; j < 3; j++)
        *row_at(&call.key, 0, 0, j) = key[j];
    expect_exact(&call, 2e-5, 2e-5);
}

/* Queries in a tile with others that see a value of NaN may get it, too.
 * But no others. */
static void odd_value(void)
{
    enum { N = 200, PLACE = 150, WIDEST = 48 };
    Random r = random_seeded(7);
    AttentionCall call = {
        .texts = 1, .n_heads = 2, .n = N, .m = N, .d_k = 1, .d_v = 1};
    give_rows(&r, &call);
    call.mask = mask_causal(0);
    const double *due = due_of(&call, NULL).context;
    *row_at(&call.value, 0, 0, PLACE) = NAN;
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        k->attend(&call);
        for (int i = 0; i < 2 * N; i++)
            if (i < PLACE - WIDEST || i >= PLACE)
                expect_near(tap_words("%s: head %d, query %d", k->name,
                                      i / N, i % N),
                            *row_at(&call.context, 0, i / N, i % N),
                            i >= PLACE && i < N ? (double)NAN : due[i], 0,
                            ATOL);
    }
}

/* ---- What is refused */

static AttentionCall call_of(int texts, int heads, int kv_heads, int n,
                             int m, int d)
{
    static float x[1000];
    const StridedRows rows = {x, 0, 0, 3};
    return (AttentionCall){.texts = texts,
                           .n_heads = heads,
                           .n_kv_heads = kv_heads,
                           .n = n,
                           .m = m,
                           .d_k = d,
                           .d_v = d,
                           .query = rows,
                           .key = rows,
                           .value = rows,
                           .context = rows};
}

static void call_fits(void)
{
    const int many = INT_MAX, keys = INT_MAX - 1024, entries = 1 << 20;
    AttentionCall fits[] = {
        call_of(2, 6, 3, 4, 5, 2),    call_of(2, 6, 0, 4, 5, 2),
        call_of(2, 6, 1, 4, 5, 2),    call_of(2, 6, 1, many / 12, 5, 2),
        call_of(1, 1, 1, many, 5, 2), call_of(1, many, 1, 1, 5, 2),
        call_of(many, 1, 1, 1, 5, 2), call_of(1, 1, 1, 1, keys, entries),
    };
    fits[0].mask = mask_causal(INT_MIN);
    fits[1].threads = INT_MAX;
    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++)
        attention_call_check(&fits[k]);
    expect_true("they fit", true);
}

static void refusals(void)
{
    static const float table[4][6];
    AttentionCall call = call_of(2, 6, 3, 4, 5, 2);
    call.d_v = 3;
    const Wrong wrong[] = {
        WRONG(call.texts, 0,
              "attention_call_check: 0 texts, 6 heads, 4 queries, 5 keys "
              "of 2 entries and values of 3: at least 1 of each is needed"),
        WRONG(call.n_heads, -1, NULL),
        WRONG(call.n, 0, NULL),
        WRONG(call.m, 0, NULL),
        WRONG(call.d_k, 0, NULL),
        WRONG(call.d_v, 0, NULL),
        WRONG(call.n, 178956971,
              "attention_call_check: 2 texts of 6 heads with 178956971 "
              "queries: an int cannot count more than 2147483647 in all"),
        WRONG(call.texts, 1 << 30, NULL),
        WRONG(
            call.m, INT_MAX - 1023,
            "attention_call_check: 2147482624 keys of 2 entries and values "
            "of 3: at most 2147482623 keys, and 1048576 entries, are "
            "needed"),
        WRONG(call.d_k, (1 << 20) + 1, NULL),
        WRONG(call.d_v, (1 << 20) + 1, NULL),
        WRONG(call.n_kv_heads, 4,
              "attention_call_check: 6 heads share 4 of keys: a divisor of "
              "6 is needed"),
        WRONG(call.n_kv_heads, -3, NULL),
        WRONG(call.threads, -1,
              "attention_call_check: -1 threads: at least 1, or 0 for all, "
              "are needed")};
    StridedRows *const rows[4] = {&call.query, &call.key, &call.value,
                                  &call.context};
    const char *const role[4] = {"queries", "keys", "values", "contexts"};
    REFUSES_WRONG("attend_fast", wrong, attend_fast(&call));
    for (int k = 0; k < 4; k++)
        TAP_REFUSES("attend_fast", tap_words("a call without %s", role[k]),
                    "query.at, key.at, value.at or context.at is NULL: "
                    "rows are needed for each",
                    rows[k]->at = NULL;
                    attend_fast(&call));
    TAP_REFUSES("attend_fast", "a mask of another size", NULL,
                call.mask = mask_table(4, 6, table);
                attend_fast(&call));
}

int main(void)
{
    EACH_SET("attend_fast", "*-query", golden_test(set));
    TAP("attend_fast: any call, as float64", any_calls());
    TAP("attend_fast: alike for any number of threads", threads_agree());
    TAP("attend_fast: what nobody sees is not read", blocks_are_skipped());
    TAP("attend_fast: the first and the last of ints", first_far_away());
    TAP("attend_fast: hidden keys are of no matter", hidden_keys());
    TAP("attend_fast: a bias of the lowest floats", lowest_bias());
    TAP("attend_fast: scores of millions", high_scores());
    TAP("attend_fast: large products, a small scale", small_scale());
    TAP("attend_fast: a value that is NaN", odd_value());
    TAP("attention_call_check: what fits", call_fits());
    refusals();
    return tap_done();
}
