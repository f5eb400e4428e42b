/* src/kv_cache.c and src/strided_rows.c: the memory of a cache, what does
 * not fit it, and where rows begin. */
#include "wrong.h"
#include "attention/kv_cache.h"
#include "attention/strided_rows.h"

/* Rows are filled up to 16 entries. */
static void bytes(void)
{
    KVCache c = {.n_kv_heads = 3, .d_k = 16, .d_v = 33, .capacity = 5};
    const double halves = 3 * 5 * (16 + 48) * 2;
    tap_near("as floats", (double)kv_cache_bytes(&c), 2 * halves, 0, 0);
    c.format = FORMAT_FLOAT16;
    tap_near("as halves", (double)kv_cache_bytes(&c), halves, 0, 0);
    c.d_k = 1;
    tap_near("of one entry", (double)kv_cache_bytes(&c), halves, 0, 0);
}

static void given_back(void)
{
    KVCache c;
    kv_cache_init(&c, &(KVCache){.n_kv_heads = 1,
                                 .d_k = 1,
                                 .d_v = 1,
                                 .capacity = 1,
                                 .count = 3,
                                 .first = 2});
    tap_true("begins without tokens", !c.count && !c.first);
    kv_cache_free(&c);
    tap_true("nothing is left", !c.key && !c.value && !c.capacity);
}

/* Rows so far apart that no int counts the floats between them. */
static void far_rows(void)
{
    const StridedRows rows = rows_by_head(1 << 10, 1 << 21, 1 << 10, NULL);
    const StridedRows tokens =
        rows_by_token(1 << 10, 1 << 21, 1 << 10, NULL);
    tap_near("text", (double)rows.text_stride, 0x1p41, 0, 0);
    tap_near("head", (double)rows.head_stride, 0x1p31, 0, 0);
    tap_near("text of tokens", (double)tokens.text_stride, 0x1p41, 0, 0);
}

/* n tokens of zeros have come. */
static KVCache blank(int capacity, int window, int n)
{
    KVCache c;
    kv_cache_init(&c, &(KVCache){.n_kv_heads = 2,
                                 .d_k = 1,
                                 .d_v = 1,
                                 .capacity = capacity,
                                 .window = window});
    c.count = n;
    c.first = n > capacity ? n - capacity : 0;
    return c;
}

/* Sizes, and a call for a cache of four tokens, or with a window of six. */
static KVCache sizes;
static struct {
    int window, n_heads, n, has_query, has_context, has_memory;
} asked;

static void init_with(int *size, int value)
{
    sizes = (KVCache){.n_kv_heads = 1, .d_k = 1, .d_v = 1, .capacity = 3};
    *size = value;
    kv_cache_init(&(KVCache){0}, &sizes);
}

static const Wrong wrong_sizes[] = {
    {"no heads", NULL, &sizes.n_kv_heads, 0},
    {"no keys", NULL, &sizes.d_k, 0},
    {"no values", NULL, &sizes.d_v, 0},
    {"no capacity", NULL, &sizes.capacity, 0},
    {"too long keys", NULL, &sizes.d_k, (1 << 20) + 1},
    {"too long values", NULL, &sizes.d_v, (1 << 20) + 1},
    {"a negative window", NULL, &sizes.window, -1},
    {"a window of 4",
     "kv_cache_bytes: a window of 4 tokens: one from 0 to 3, the capacity, "
     "is needed",
     &sizes.window, 4},
    {"a format 3", NULL, (int *)&sizes.format, 3},
};

static void attend_with(int *size, int value)
{
    static float x[64], out[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x), none = {0};
    const StridedRows results = rows_by_head(2, 4, 1, out);
    asked.window = 0;
    asked.n_heads = 2;
    asked.n = 4;
    asked.has_query = asked.has_context = asked.has_memory = 1;
    *size = value;
    KVCache c = blank(4, asked.window, asked.window ? 6 : 4);
    if (!asked.has_memory)
        c.key = NULL;
    kv_cache_attend_check(&c, asked.n_heads, asked.n,
                          asked.has_query ? rows : none,
                          asked.has_context ? results : none);
}

static const Wrong wrong_calls[] = {
    {"no heads", NULL, &asked.n_heads, 0},
    {"3 heads that share 2 of keys",
     "kv_cache_attend_check: 3 heads share 2 of keys: a multiple of 2 is "
     "needed",
     &asked.n_heads, 3},
    {"more queries than an int counts", NULL, &asked.n_heads, INT_MAX - 1},
    {"no queries", NULL, &asked.n, 0},
    {"5 queries", NULL, &asked.n, 5},
    {"4 queries where there is room for 2", NULL, &asked.window, 3},
    {"rows of none", NULL, &asked.has_query, 0},
    {"nowhere to go", NULL, &asked.has_context, 0},
    {"no memory", NULL, &asked.has_memory, 0},
};

static void refusals(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    const KVCache full = blank(4, 0, 4), ring = blank(4, 3, 6);
    REFUSES_EACH("kv_cache_init", init_with, wrong_sizes);
    REFUSES_EACH("kv_cache_attend_check", attend_with, wrong_calls);
    REFUSES_SUCH("too many bytes",
                 kv_cache_bytes(&(KVCache){.n_kv_heads = INT_MAX,
                                           .d_k = 1 << 20,
                                           .d_v = 1,
                                           .capacity = INT_MAX}));
    REFUSES("kv_cache.c: kv_cache_append_check: 1 tokens after 4, where "
            "there is room for 4: at least 1, and without a window no more "
            "than fit, are needed",
            kv_cache_append_check(&full, 1, rows, rows));
    REFUSES_SUCH("no tokens", kv_cache_append_check(&ring, 0, rows, rows));
}

int main(void)
{
    TAP(bytes, "kv_cache_bytes: rows are filled up to 16");
    TAP(given_back, "kv_cache_free: nothing is left");
    if (sizeof(ptrdiff_t) > sizeof(int))
        TAP(far_rows, "rows_by_head: very many");
    else
        tap_skip("rows_by_head: very many", "ptrdiff_t is too small");
    refusals();
    return tap_done();
}
