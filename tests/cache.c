/* src/kernel/cache.c against chapter 14, for each instruction set that this
 * processor has. */
#include "kernels.h"
#include "caches.h"
#include "attention/float16.h"

/* By one of the instruction sets that are here. */
static int with_set(int k)
{
    const Kernel *kernel = kernel_named(kernel_name[k]);
    if (kernel)
        attend_cache = kernel->kv_cache_attend;
    return kernel != NULL;
}

/* Texts that come in these pieces, in each format, without and with a
 * window. */
static void come_in(int n, int heads, int sharing, int d_k, int d_v,
                    int window, int spare, const int piece[])
{
    for (int k = 0; k < 6; k++) {
        Text t = any_text(n, heads, sharing, d_k, d_v, k % 2 * window);
        make_short(&t);
        KVCache c =
            cache_for(&t, (t.window ? window : n) + spare, (Format)(k / 2));
        given("format = %d", k / 2);
        for (int i = 0; c.count < n; i++)
            come(&c, &t, piece[i]);
        compare(&t);
        kv_cache_free(&c);
    }
}

static void any_set(void)
{
    for (int k = 0; k < 3; k++)
        if (with_set(k)) {
            cut_any_texts(60);
            /* More queries than one group has, of as many tokens as do not
             * yet go the kernel's way. */
            come_in(40, 2, 3, 20, 33, 29, 51, (int[]){9, 31});
            /* Many tokens, which do; with a window, the second piece goes
             * over the ring's end, and 256 of it ask at a time. */
            come_in(420, 2, 2, 9, 17, 50, 300, (int[]){32, 257, 131});
            odd_numbers();
        }
}

/* What the last 3 tokens of the text get from all others, by the kernel. */
static float *by_kernel(const Text *t)
{
    const int n = t->n;
    float *right = new_table(t->n_heads * 3, t->d_v);
    float(*seen)[n] = (void *)new_table(3, n);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++)
            seen[i][j] = (float)sees(t, n - 3 + i, j);
    attend_fast(&(AttentionCall){
        .texts = 1,
        .n_heads = t->n_heads,
        .n_kv_heads = t->n_kv_heads,
        .n = 3,
        .m = n,
        .d_k = t->d_k,
        .d_v = t->d_v,
        .mask = mask_table(3, n, seen),
        .query = rows_from(t->query, n - 3),
        .key = t->key,
        .value = t->value,
        .context = rows_by_head(t->n_heads, 3, t->d_v, right)});
    free(seen);
    return right;
}

/* More keys than one split has, in each format and by each instruction set,
 * and so many that there are several threads if that is asked for. The last
 * split has one token, which only the last query sees; with a window, the
 * ring's end lies amid a split. */
static void many_keys(void)
{
    enum { N = 3 * 1024 + 1, W = 2900, ALL = 4 * 3 * 12 };
    for (int k = 0; k < 18; k++) {
        const Format format = (Format)(k / 2 % 3);
        if (!with_set(k / 6))
            continue;
        Text t = any_text(N, 2, 2, 20, 12, k % 2 * W);
        make_short(&t);
        given("format = %d", (int)format);
        KVCache c = cache_for(&t, t.window ? W + 5 : N, format);
        kv_cache_append(&c, N, t.key, t.value);
        const StridedRows query = rows_from(t.query, N - 3);
        float *few = guarded("an array", ALL),
              *same_few = guarded("an array", ALL);
        attend_cache(&c, 4, 3, query, 1, rows_by_head(4, 3, 12, few));
        attend_cache(&c, 4, 3, query, 2, rows_by_head(4, 3, 12, same_few));
        expect_list("context by two threads", ALL, same_few, few, EXACTLY);
        float *right = by_kernel(&t);
        expect_list("context", ALL, few, right, 0, ATOL);
        free(right);
        kv_cache_free(&c);
    }
}

/* What one query gets of n keys and as many values of one entry. */
static float asked(int n, int d_k, const float *query, const float *key,
                   const float *value)
{
    float context = NAN;
    KVCache c = {.n_kv_heads = 1, .d_k = d_k, .d_v = 1, .capacity = n};
    kv_cache_init(&c, &c);
    kv_cache_append(&c, n, rows_by_head(1, n, d_k, key),
                    rows_by_head(1, n, 1, value));
    kv_cache_attend_fast(&c, 1, 1, rows_by_head(1, 1, d_k, query), 0,
                         rows_by_head(1, 1, 1, &context));
    kv_cache_free(&c);
    return context;
}

/* Products of some two million in several splits: their weights are as
 * exact as those of small ones. */
static void high_scores(void)
{
    enum { N = 1100 };
    static float key[N][3], value[N];
    double sum = 0, due = 0;
    tap_fill(N, value, -1, 1);
    for (int i = 0; i < N; i++) {
        key[i][1] = 0x1p21f - 0.25f * (float)(i % 40);
        const double weight = exp((key[i][1] - 0x1p21) / sqrt(3));
        sum += weight;
        due += weight * value[i];
    }
    expect_near("context", asked(N, 3, (float[3]){1, 1, 1}, key[0], value),
                due / sum, 0, 5e-7);
}

/* A single key: the context is its value, also where 16 bits are at their
 * ends. */
static void all_kept(void)
{
    enum { D = 1024 };
    static float value[D], context[D];
    const float zero = 0;
    for (int k = 0; k < 6; k++) {
        const Format format = (Format)(1 + k % 2);
        if (!with_set(k / 2))
            continue;
        for (int i = 0; i < D; i++) {
            const uint16_t bits = (uint16_t)(64 * i + i % 7);
            value[i] = format == FORMAT_BFLOAT16 ? from_bfloat16(bits)
                                                 : from_float16(bits);
        }
        KVCache c = {.n_kv_heads = 1, .d_k = 1, .d_v = D, .capacity = 1};
        c.format = format;
        kv_cache_init(&c, &c);
        kv_cache_append(&c, 1, rows_by_head(1, 1, 1, &zero),
                        rows_by_head(1, 1, D, value));
        attend_cache(&c, 1, 1, rows_by_head(1, 1, 1, &zero), 1,
                     rows_by_head(1, 1, D, context));
        next_case();
        given("format = %d", (int)format);
        expect_list("context", D, context, value, EXACTLY);
        kv_cache_free(&c);
    }
}

static void refusals(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    KVCache c;
    kv_cache_init(
        &c, &(KVCache){.n_kv_heads = 2, .d_k = 1, .d_v = 1, .capacity = 4});
    c.count = 4;
    REFUSES("cache.c: kv_cache_attend_fast: -1 threads: at least 1, or 0 "
            "for all, are needed",
            kv_cache_attend_fast(&c, 2, 1, rows, -1, rows));
    REFUSES_SUCH("5 queries of 4 tokens",
                 kv_cache_attend_fast(&c, 2, 5, rows, 1, rows));
    kv_cache_free(&c);
}

int main(void)
{
    TAP("kv_cache_attend_fast: any text, in any pieces", any_set());
    TAP("kv_cache_attend_fast: more keys than a split has", many_keys());
    TAP("kv_cache_attend_fast: all that 16 bits can hold", all_kept());
    TAP("kv_cache_attend_fast: scores of millions", high_scores());
    refusals();
    return tap_done();
}
