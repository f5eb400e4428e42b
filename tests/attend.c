/* src/kernel/attend.c against PyTorch, golden/attend; and, with backward.c,
 * against float64; for each instruction set that this processor has. */
#define CHAPTER "attend"
#include "calls.h"

/* Of contexts no more than 4e-7 was measured. */
#define ATOL 1e-6
static const double close_by[OUTPUTS] = {ATOL, ATOL, 5e-6, 5e-6, 5e-6};

static void expect_exact(const Job *job, bool is_back,
                         const double tolerance[OUTPUTS])
{
    const Due due = due_of(&job->call, is_back ? &job->grad_context : NULL);
    expect_due(job, &due, 0, tolerance);
}

static void golden_test(const char *set)
{
    Random r = random_seeded(1);
    AttentionCall call = call_of_set(set);
    give_room(&r, &call);
    const Job job = job_of(&r, &call);
    const Due due = {{(double *)golden_doubles(set, "context"),
                      (double *)golden_doubles(set, "log_sum")}};
    expect_due(&job, &due, 0, (double[OUTPUTS]){ATOL, 4e-7});
}

/* Texts of several parts, and of more of queries or of keys, where the last
 * part is one token: the same for any number of threads. */
static void threads_agree(void)
{
    static const double exactly[OUTPUTS];
    const int n[4] = {1100, 90, 1537, 700}, m[4] = {1700, 1537, 90, 700};
    for (int k = 0; k < 4; k++) {
        Random r = random_seeded((uint64_t)k);
        Job job = one_text(&r, 2, n[k], m[k], 5, 3);
        if (k % 2)
            job.call.mask = mask_causal(m[k] - n[k]);
        const Due due = due_of(&job.call, &job.grad_context);
        for (const Kernel *kernel = NULL; (kernel = next_kernel(kernel));) {
            Due first;
            for (int run = 0; run < 4; run++) {
                job.call.threads = (int[]){1, 2, 3, 7}[run];
                run_job(kernel, &job, true, 0);
                for (int i = 0; i < OUTPUTS && !run; i++)
                    first.out[i] = numbers_of(&job.out[i]);
                expect_outputs(&job, run ? &first : &due, 0,
                               run ? exactly : close_by);
            }
        }
        guarded_free();
    }
}

/* ---- Calls at the ends of what there is */

/* One head, and keys and values of one entry. */
static Job job_of_one(uint64_t seed, int n, int m)
{
    Random r = random_seeded(seed);
    const Job job = one_text(&r, 1, n, m, 1, 1);
    const Table query = table_of(&job.call, QUERY);
    fill_rows(&query, 1);
    return job;
}

/* Only the first keys of very many are there. */
static void blocks_are_skipped(void)
{
    enum { SEEN = 130 };
    Job job = job_of_one(1, SEEN, SEEN);
    job.call.mask = mask_causal(0);
    const Due due = due_of(&job.call, NULL);
    job.call.m = INT_MAX / 2;
    expect_due(&job, &due, 0, close_by);
}

static void first_far_away(void)
{
    enum { M = 160 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    Random r = random_seeded(2);
    Job job = one_text(&r, 1, 70, M, 3, 3);
    for (int k = 0; k < 4; k++) {
        job.call.mask = mask_causal(first[k]);
        expect_exact(&job, true, close_by);
    }
}

static void hidden_keys(void)
{
    enum { N = 40, M = 170 };
    const float odd[3] = {NAN, INFINITY, -INFINITY};
    static float table[N][M];
    Job job = job_of_one(3, N, M);
    job.call.mask = mask_table(N, M, table);
    for (int j = 20; j <= 150; j++)
        for (int i = 0; i < N; i++)
            table[i][j] = 1;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < M; j += j == 19 ? 132 : 1)
            *row_at(&job.call.key, 0, 0, j) = odd[k];
        expect_exact(&job, false, close_by);
    }
}

/* A bias of the lowest floats hides a key beside others, but where a row
 * has no others, it is the same for all: the values' mean. */
static void low_bias(void)
{
    enum { N = 70, M = 150 };
    static float bias[N][M];
    Random r = random_seeded(4);
    Job job = one_text(&r, 2, N, M, 16, 5);
    job.call.bias = (StridedRows){bias[0], 0, 0, M};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            const float low = (i / 7 + j / 5) % 2 ? -3e38f : -FLT_MAX;
            const float third = j % 3 ? low : 0.5f;
            const float last = j < 130 ? low : 0.5f;
            const float lowest = j % 3 ? -INFINITY : -FLT_MAX;
            const float row[7] = {-FLT_MAX, -3e38f, -FLT_MAX / 2, third,
                                  last,     lowest, -INFINITY};
            bias[i][j] = row[i % 7];
        }
    expect_exact(&job, true, close_by);
}

/* Products of some two million: their weights are as exact as those of
 * small ones, with any scale. */
static void high_scores(void)
{
    const float scale[3] = {1, 0.3f, -0.3f};
    Job job = job_of_one(5, 1, 300);
    for (int j = 0; j < 300; j++)
        *row_at(&job.call.key, 0, 0, j) = 0x1p21f - 0.25f * (float)(j % 40);
    for (int k = 0; k < 3; k++) {
        job.call.scale = scale[k];
        expect_exact(&job, false, (double[OUTPUTS]){5e-7, 2e-7});
    }
}

/* Products that no float holds, but a small scale makes scores of 3. */
static void small_scale(void)
{
    Job job = job_of_one(6, 1, 3);
    const float key[3] = {3e38f, -3e38f, 1e38f};
    job.call.scale = 1e-40f;
    *job.call.query.at = 100;
    for (int j = 0; j < 3; j++)
        *row_at(&job.call.key, 0, 0, j) = key[j];
    expect_exact(&job, false, (double[OUTPUTS]){2e-5, 2e-5});
}

/* A query in one tile with another that sees a value of NaN may get NaN,
 * too; no other may. */
static void odd_value(void)
{
    enum { N = 200, PLACE = 150, WIDEST = 48 };
    Random r = random_seeded(7);
    Job job = one_text(&r, 2, N, N, 1, 1);
    job.call.mask = mask_causal(0);
    const Due due = due_of(&job.call, NULL);
    *row_at(&job.call.value, 0, 0, PLACE) = NAN;
    for (const Kernel *k = NULL; (k = next_kernel(k));) {
        run_job(k, &job, false, 0);
        for (int i = 0; i < 2 * N; i++)
            if (i % N < PLACE - WIDEST || i % N >= PLACE)
                expect_near(tap_words("query %d", i),
                            *row_at(&job.call.context, 0, i / N, i % N),
                            i % N < PLACE ? due.out[OF_CONTEXT][i] : NAN, 0,
                            ATOL);
        fill_rows(&job.out[OF_CONTEXT], unset); /* for the next kernel */
    }
}

static AttentionCall call_of(int texts, int heads, int kv_heads, int n,
                             int m, int d)
{
    static float x[1000];
    const StridedRows rows = {x, 0, 0, 3};
    AttentionCall call = call_sized(texts, heads, kv_heads, n, m, d, d);
    call.query = call.key = call.value = call.context = rows;
    return call;
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
        WRONG(call.n_heads, -1),
        WRONG(call.n, 0),
        WRONG(call.m, 0),
        WRONG(call.d_k, 0),
        WRONG(call.d_v, 0),
        WRONG(call.texts, 1 << 30),
        WRONG(call.d_k, (1 << 20) + 1),
        WRONG(call.d_v, (1 << 20) + 1),
        WRONG(call.n_kv_heads, -3),
        SAYS(call.texts, 0,
             "attention_call_check: 0 texts, 6 heads, 4 queries, 5 keys "
             "of 2 entries and values of 3: at least 1 of each is needed"),
        SAYS(call.n, 178956971,
             "attention_call_check: 2 texts of 6 heads with 178956971 "
             "queries: an int cannot count more than 2147483647 in all"),
        SAYS(
            call.m, INT_MAX - 1023,
            "attention_call_check: 2147482624 keys of 2 entries and values "
            "of 3: at most 2147482623 keys, and 1048576 entries, are "
            "needed"),
        SAYS(call.n_kv_heads, 4,
             "attention_call_check: 6 heads share 4 of keys: a divisor of "
             "6 is needed"),
        SAYS(call.threads, -1,
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
    TAP("attend_fast: any call, as float64", any_calls(false));
    TAP("attend_fast, and back: by any threads", threads_agree());
    TAP("attend_fast: what nobody sees is not read", blocks_are_skipped());
    TAP("attend_fast, and back: the first and the last of ints",
        first_far_away());
    TAP("attend_fast: hidden keys are of no matter", hidden_keys());
    TAP("attend_fast, and back: a bias of the lowest floats", low_bias());
    TAP("attend_fast: scores of millions", high_scores());
    TAP("attend_fast: large products, a small scale", small_scale());
    TAP("attend_fast: a value that is NaN", odd_value());
    TAP("attention_call_check: what fits", call_fits());
    refusals();
    return tap_done();
}
