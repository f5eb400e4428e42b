/* src/kv_cache.c and src/strided_rows.c: the memory of a cache, what does
 * not fit it, and where rows begin. */
#include "tap.h"
#include "attention/kv_cache.h"
#include "attention/strided_rows.h"

static void bytes(void)
{
    KVCache c = {.n_kv_heads = 3, .d_k = 16, .d_v = 33, .capacity = 5};
    const double halves = 3 * 5 * (16 + 48) * 2;
    expect_equal("as floats", (double)kv_cache_bytes(&c), 2 * halves);
    c.format = FORMAT_FLOAT16;
    expect_equal("as halves", (double)kv_cache_bytes(&c), halves);
    c.d_k = 1;
    expect_equal("of one entry", (double)kv_cache_bytes(&c), halves);
}

static void given_back(void)
{
    KVCache c;
    KVCache sizes = {.n_kv_heads = 1, .d_k = 1, .d_v = 1, .capacity = 1};
    sizes.count = 3;
    sizes.first = 2;
    kv_cache_init(&c, &sizes);
    expect_true("begins without tokens", !c.count && !c.first);
    kv_cache_free(&c);
    expect_true("nothing is left", !c.key && !c.value && !c.capacity);
}

/* Rows so far apart that no int counts the floats between them. */
static void far_rows(void)
{
    const StridedRows rows = rows_by_head(1024, 1 << 21, 1024, NULL);
    const StridedRows tokens = rows_by_token(1024, 1 << 21, 1024, NULL);
    expect_equal("text", (double)rows.text_stride, 0x1p41);
    expect_equal("head", (double)rows.head_stride, 0x1p31);
    expect_equal("text of tokens", (double)tokens.text_stride, 0x1p41);
}

static void refused_sizes(void)
{
    KVCache sizes = {.n_kv_heads = 1, .d_k = 1, .d_v = 1, .capacity = 3};
    const int many = (1 << 20) + 1;
    int *const format = (int *)&sizes.format;
    const char *wide =
        "kv_cache_bytes: a window of 4 tokens: one from 0 to 3, the "
        "capacity, is needed";
    const Wrong wrong[] = {
        WRONG(sizes.n_kv_heads, 0), WRONG(sizes.d_k, 0),
        WRONG(sizes.d_v, 0),        WRONG(sizes.capacity, 0),
        WRONG(sizes.d_k, many),     WRONG(sizes.d_v, many),
        WRONG(sizes.window, -1),    SAYS(sizes.window, 4, wide),
        WRONG(*format, 3)};
    REFUSES_WRONG("kv_cache_init", wrong,
                  kv_cache_init(&(KVCache){0}, &sizes));
    TAP_REFUSES("kv_cache_bytes", "too many bytes", NULL,
                sizes.n_kv_heads = sizes.capacity = INT_MAX;
                sizes.d_k = 1 << 20; kv_cache_bytes(&sizes));
}

/* Four tokens that ask a cache of four. */
static void refused_calls(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x), none = {0};
    KVCache c = {.n_kv_heads = 2, .d_k = 1, .d_v = 1, .capacity = 4};
    kv_cache_init(&c, &c);
    c.count = 4;
    int heads = 2, n = 4;
    const Wrong wrong[] = {
        WRONG(heads, 0),
        SAYS(heads, 3,
             "kv_cache_attend_check: 3 heads share 2 of keys: a multiple "
             "of 2 is needed"),
        WRONG(heads, INT_MAX - 1), WRONG(n, 0), WRONG(n, 5)};
    REFUSES_WRONG("kv_cache_attend_check", wrong,
                  kv_cache_attend_check(&c, heads, n, rows, rows));
    REFUSES_SUCH("no queries' rows",
                 kv_cache_attend_check(&c, 2, 4, none, rows));
    REFUSES_SUCH("no contexts' rows",
                 kv_cache_attend_check(&c, 2, 4, rows, none));
    TAP_REFUSES("kv_cache_attend_check", "no memory", NULL, c.key = NULL,
                kv_cache_attend_check(&c, 2, 4, rows, rows));
    TAP_REFUSES("kv_cache_attend_check", "3 queries with room for 2", NULL,
                c.window = 3;
                c.count = 6; c.first = 2;
                kv_cache_attend_check(&c, 2, 3, rows, rows));
    REFUSES("kv_cache.c: kv_cache_append_check: 1 tokens after 4, where "
            "there is room for 4: at least 1, and without a window no more "
            "than fit, are needed",
            kv_cache_append_check(&c, 1, rows, rows));
    c.count = 2;
    REFUSES_SUCH("no tokens", kv_cache_append_check(&c, 0, rows, rows));
    REFUSES_SUCH("no keys", kv_cache_append_check(&c, 1, none, rows));
    REFUSES_SUCH("no values", kv_cache_append_check(&c, 1, rows, none));
    TAP_REFUSES("kv_cache_append_check", "no memory", NULL, c.key = NULL,
                kv_cache_append_check(&c, 1, rows, rows));
    kv_cache_free(&c);
}

int main(void)
{
    TAP("kv_cache_bytes: rows are filled up to 16", bytes());
    TAP("kv_cache_free: nothing is left", given_back());
    if (sizeof(ptrdiff_t) > sizeof(int)) /* or else there are none */
        TAP("rows_by_head: very many", far_rows());
    refused_sizes();
    refused_calls();
    return tap_done();
}
