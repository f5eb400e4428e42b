/* Chapter 16 against PyTorch: golden/16_kv_cache. */
#define CHAPTER "16_kv_cache"
#include "sets.h"
#include "attention/16_kv_cache.h"
#include "attention/14_flash.h"

#define ATOL 3e-6

/* A text: its queries, keys and values, and where its contexts go. */
typedef struct {
    int n_heads, n_kv_heads, n, d_k, d_v, window;
    StridedRows query, key, value, context;
} Text;

static StridedRows rows_from(StridedRows rows, int token)
{
    rows.at += token * rows.token_stride;
    return rows;
}

static KVCache cache_for(const Text *t, int capacity, Format format)
{
    KVCache c;
    kv_cache_init(&c, &(KVCache){.n_kv_heads = t->n_kv_heads,
                                 .d_k = t->d_k,
                                 .d_v = t->d_v,
                                 .capacity = capacity,
                                 .window = t->window,
                                 .format = format});
    return c;
}

/* That of the chapter, or of one of the instruction sets that are here. */
static KVCacheAttend *attend_cache = kv_cache_attend;

static int with_set(int k)
{
    static const char *const name[3] = {"plain", "AVX2", "AVX-512"};
    const Kernel *kernel = kernel_named(name[k]);
    if (kernel)
        attend_cache = kv_cache_attend_of(kernel);
    return kernel != NULL;
}

/* The next n tokens of a text come, and ask. */
static void come(KVCache *c, const Text *t, int n)
{
    const int from = (int)c->count;
    kv_cache_append(c, n, rows_from(t->key, from),
                    rows_from(t->value, from));
    attend_cache(c, t->n_heads, n, rows_from(t->query, from), 0,
                 rows_from(t->context, from));
}

/* The whole text in pieces of up to so many tokens. */
static void come_in_pieces(KVCache *c, const Text *t, int most)
{
    if (c->window && most > c->capacity - c->window + 1)
        most = c->capacity - c->window + 1;
    while (c->count < t->n) {
        int n = tap_int(1, most);
        if (n > t->n - c->count)
            n = t->n - (int)c->count;
        come(c, t, n);
    }
}

/* That of the set, against PyTorch, in pieces of up to 1, 3, and all. */
static void text_of_set(void)
{
    const int heads = dim("query", 0), n = dim("query", 1);
    const int key_heads = dim("key", 0);
    const int d_k = dim("key", 2), d_v = dim("value", 2);
    const int most[3] = {1, 3, n};
    const Format format = (Format)*integers("format");
    for (int k = 0; k < 9; k++) {
        if (!with_set(k / 3))
            continue;
        float *context = result("context");
        next_case();
        const Text t = {heads,
                        key_heads,
                        n,
                        d_k,
                        d_v,
                        (int)number("window", "window"),
                        rows_by_head(heads, n, d_k, input("query")),
                        rows_by_head(key_heads, n, d_k, input("key")),
                        rows_by_head(key_heads, n, d_v, input("value")),
                        rows_by_head(heads, n, d_v, context)};
        give("format = %d, up to %d tokens at a time", (int)format,
             most[k % 3]);
        KVCache c = cache_for(&t, t.window ? t.window + k : n, format);
        come_in_pieces(&c, &t, most[k % 3]);
        agrees("context", context, 0, ATOL);
        kv_cache_free(&c);
    }
}

/* ---- Without a cache: chapter 14's attention, head by head. */

static void copy_rows(StridedRows rows, int head, int n, int d,
                      float x[n][d])
{
    for (int i = 0; i < n; i++)
        memcpy(x[i],
               rows.at + head * rows.head_stride + i * rows.token_stride,
               sizeof x[i]);
}

/* Whether token i sees token j. */
static int sees(const Text *t, int i, int j)
{
    return j <= i && (!t->window || i - j < t->window);
}

/* The text's contexts, [n_heads][n][d_v]. */
static float *without_cache(const Text *t)
{
    const int n = t->n, d_k = t->d_k, d_v = t->d_v;
    float *all = new_table(t->n_heads * n, d_v);
    float(*query)[d_k] = (void *)new_table(n, d_k);
    float(*key)[d_k] = (void *)new_table(n, d_k);
    float(*value)[d_v] = (void *)new_table(n, d_v);
    float(*seen)[n] = (void *)new_table(n, n);
    float *log_sum_exp = new_table(n, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            seen[i][j] = (float)sees(t, i, j);
    for (int h = 0; h < t->n_heads; h++) {
        const int key_head = h / (t->n_heads / t->n_kv_heads);
        copy_rows(t->query, h, n, d_k, query);
        copy_rows(t->key, key_head, n, d_k, key);
        copy_rows(t->value, key_head, n, d_v, value);
        flash_forward(n, n, d_k, d_v, mask_table(n, n, seen), query, key,
                      value, (void *)(all + h * n * d_v), log_sum_exp);
    }
    free(query);
    free(key);
    free(value);
    free(seen);
    free(log_sum_exp);
    return all;
}

/* A random text, of which tokens or heads lie side by side. */
static StridedRows any_rows(int by_token, int heads, int n, int d)
{
    float *x = room_for("rows", (size_t)(heads * n * d));
    tap_fill(heads * n * d, x, -2, 2);
    return by_token ? rows_by_token(heads, n, d, x)
                    : rows_by_head(heads, n, d, x);
}

static Text any_text(int n, int n_kv_heads, int sharing, int d_k, int d_v,
                     int window)
{
    const int by_token = tap_int(0, 1), heads = n_kv_heads * sharing;
    next_case();
    give("%d tokens, %d heads, %d of keys, d_k = %d, d_v = %d, a window of "
         "%d",
         n, heads, n_kv_heads, d_k, d_v, window);
    return (Text){heads,
                  n_kv_heads,
                  n,
                  d_k,
                  d_v,
                  window,
                  any_rows(by_token, heads, n, d_k),
                  any_rows(by_token, n_kv_heads, n, d_k),
                  any_rows(by_token, n_kv_heads, n, d_v),
                  any_rows(by_token, heads, n, d_v)};
}

static void compare(const Text *t)
{
    float *right = without_cache(t);
    float *got = room((size_t)(t->n_heads * t->n * t->d_v));
    for (int h = 0; h < t->n_heads; h++)
        copy_rows(t->context, h, t->n, t->d_v,
                  (void *)(got + h * t->n * t->d_v));
    similar("context", (size_t)(t->n_heads * t->n * t->d_v), got, right, 0,
            ATOL);
    free(right);
}

static void cut_any_texts(int texts)
{
    enum { MOST = 60 };
    for (int k = 0; k < texts; k++) {
        const int n = tap_int(1, MOST);
        const int window = k % 2 ? tap_int(1, MOST / 2) : 0;
        const Text t = any_text(n, tap_int(1, 3), tap_int(1, 5),
                                tap_int(1, 40), tap_int(1, 40), window);
        const int capacity =
            window ? window + tap_int(0, k % 4 == 1 ? 9 : MOST) : n + 9;
        KVCache c = cache_for(&t, capacity, FORMAT_FLOAT32);
        come_in_pieces(&c, &t, k % 3 ? 5 : MOST);
        compare(&t);
        kv_cache_free(&c);
    }
}

static void any_cuts(void)
{
    cut_any_texts(200);
}

/* Numbers that lose nothing in any format. */
static void make_short(Text *t)
{
    const int keys = t->n * t->n_kv_heads;
    for (int i = 0; i < keys * t->d_k; i++)
        t->key.at[i] = (float)tap_int(-8, 8) / 4;
    for (int i = 0; i < keys * t->d_v; i++)
        t->value.at[i] = (float)tap_int(-8, 8) / 8;
}

/* More queries than one group has, of as many tokens as do not yet go the
 * kernel's way. */
static void many_queries(void)
{
    for (int k = 0; k < 6; k++) {
        Text t = any_text(40, 2, 3, 20, 33, k % 2 * 29);
        make_short(&t);
        KVCache c = cache_for(&t, 80, (Format)(k / 2));
        come(&c, &t, 9);
        come(&c, &t, 31);
        compare(&t);
        kv_cache_free(&c);
    }
}

/* Questions of many tokens, which go the kernel's way; with a window, the
 * second goes over the ring's end, and 256 of it ask at a time. */
static void long_questions(void)
{
    for (int k = 0; k < 6; k++) {
        const int window = k % 2 * 50;
        Text t = any_text(420, 2, 2, 9, 17, window);
        make_short(&t);
        KVCache c =
            cache_for(&t, window ? window + 300 : 500, (Format)(k / 2));
        give("format = %d", k / 2);
        come(&c, &t, 32);
        come(&c, &t, 300);
        come(&c, &t, 88);
        compare(&t);
        kv_cache_free(&c);
    }
}

static void any_set(void)
{
    for (int k = 0; k < 3; k++)
        if (with_set(k)) {
            cut_any_texts(60);
            many_queries();
            long_questions();
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

/* More keys than one piece has, in each format and by each instruction set,
 * and so many that there are several threads if that is asked for. The last
 * piece has one token, which only the last query sees; with a window, the
 * ring's end lies amid a piece. */
static void many_keys(void)
{
    enum { N = 3 * 1024 + 1, W = 2900, ALL = 4 * 3 * 12 };
#ifdef _OPENMP
    tap_near("threads", threads_for(4 * 3 * (double)W * 32, 2), 2, 0, 0);
#endif
    for (int k = 0; k < 18; k++) {
        const Format format = (Format)(k / 2 % 3);
        if (!with_set(k / 6))
            continue;
        Text t = any_text(N, 2, 2, 20, 12, k % 2 * W);
        make_short(&t);
        give("format = %d", (int)format);
        KVCache c = cache_for(&t, t.window ? W + 5 : N, format);
        kv_cache_append(&c, N, t.key, t.value);
        const StridedRows query = rows_from(t.query, N - 3);
        float *few = room(ALL), *same_few = room(ALL);
        attend_cache(&c, 4, 3, query, 1, rows_by_head(4, 3, 12, few));
        attend_cache(&c, 4, 3, query, 2, rows_by_head(4, 3, 12, same_few));
        same("context by two threads", ALL, same_few, few);
        float *right = by_kernel(&t);
        similar("context", ALL, few, right, 0, ATOL);
        free(right);
        kv_cache_free(&c);
    }
}

/* NaN and infinities, in a query, a key or a value, as flash_forward has
 * them. What a hidden value does that is not finite is left open. */
static void odd_numbers(void)
{
    enum { N = 70, D = 5, KINDS = 3 * 3 * 3 * 2 };
    static const float odd[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3 * KINDS; k++) {
        if (!with_set(k / KINDS))
            continue;
        Text t = any_text(N, 1, 2, D, D, k % 2 * 9);
        make_short(&t);
        const int where = k / 2 % 3, token = tap_int(0, N - 1);
        const StridedRows rows = where == 0   ? t.query
                                 : where == 1 ? t.key
                                              : t.value;
        rows.at[token * rows.token_stride + tap_int(0, D - 1)] =
            odd[k / 6 % 3];
        const Format format = (Format)(k / 18 % 3);
        give("%g in %s of token %d, format = %d", (double)odd[k / 6 % 3],
             where == 0   ? "the query"
             : where == 1 ? "the key"
                          : "the value",
             token, (int)format);
        KVCache c = cache_for(&t, N, format);
        come_in_pieces(&c, &t, k % 5 ? 3 : 40);
        float *right = without_cache(&t), *got = room(2 * N * D);
        for (int h = 0; h < 2; h++) {
            copy_rows(t.context, h, N, D, (void *)(got + h * N * D));
            for (int i = 0; i < N; i++)
                if (where < 2 || sees(&t, i, token))
                    similar(tap_words("context of token %d", i), D,
                            got + (h * N + i) * D, right + (h * N + i) * D,
                            0, ATOL);
        }
        free(right);
        kv_cache_free(&c);
    }
}

/* Large scores, whose order decides how often sums are mended. */
static void loud_scores(void)
{
    const Text t = any_text(60, 1, 2, 7, 5, 0);
    for (int i = 0; i < 60 * 2 * 7; i++)
        t.query.at[i] *= 12;
    KVCache c = cache_for(&t, 60, FORMAT_FLOAT32);
    come_in_pieces(&c, &t, 4);
    float *right = without_cache(&t), *got = room(2 * 60 * 5);
    for (int h = 0; h < 2; h++)
        copy_rows(t.context, h, 60, 5, (void *)(got + h * 60 * 5));
    similar("context", 2 * 60 * 5, got, right, 0, 2e-5);
    free(right);
    kv_cache_free(&c);
}

/* ---- What stands where. */

static float entry(const KVCache *c, const void *x, size_t i)
{
    const uint16_t *halves = x;
    return c->format == FORMAT_FLOAT32    ? ((const float *)x)[i]
           : c->format == FORMAT_BFLOAT16 ? from_bfloat16(halves[i])
                                          : from_float16(halves[i]);
}

/* Row by row: the last token whose number leaves this row; zeros where none
 * has been, and behind each row. */
static void rows_of_cache(const KVCache *c, const char *what,
                          const void *keep_mask, int d, int wide,
                          StridedRows rows)
{
    for (int h = 0; h < c->n_kv_heads; h++)
        for (int row = 0; row < c->capacity; row++) {
            int token = -1;
            for (int i = row; i < c->count; i += c->capacity)
                token = i;
            for (int k = 0; k < wide; k++)
                tap_near(
                    tap_words("%s of head %d, row %d, entry %d", what, h,
                              row, k),
                    entry(c, keep_mask,
                          ((size_t)h * (size_t)c->capacity + (size_t)row) *
                                  (size_t)wide +
                              (size_t)k),
                    token < 0 || k >= d
                        ? 0
                        : rows.at[h * rows.head_stride +
                                  token * rows.token_stride + k],
                    0, 0);
        }
}

static void rows_stand(void)
{
    for (int k = 0; k < 24; k++) {
        const int window = k % 2 ? tap_int(1, 5) : 0;
        const Text t = any_text(12, tap_int(1, 3), 1, tap_int(1, 18),
                                tap_int(1, 18), window);
        for (int i = 0; i < 12 * t.n_kv_heads * t.d_k; i++)
            t.key.at[i] = (float)tap_int(-8, 8) / 8;
        for (int i = 0; i < 12 * t.n_kv_heads * t.d_v; i++)
            t.value.at[i] = (float)tap_int(-8, 8) / 8;
        KVCache c =
            cache_for(&t, window ? window + 2 : 12, (Format)(k / 2 % 3));
        for (int i = 0, n = 0; i < 12; i += n) {
            n = tap_int(1, 4);
            n = n < 12 - i ? n : 12 - i;
            kv_cache_append(&c, n, rows_from(t.key, i),
                            rows_from(t.value, i));
            tap_near("count", (double)c.count, i + n, 0, 0);
            tap_near("first", (double)c.first,
                     i + n > c.capacity ? i + n - c.capacity : 0, 0, 0);
            rows_of_cache(&c, "key", c.key, t.d_k, c.padded_d_k, t.key);
            rows_of_cache(&c, "value", c.value, t.d_v, c.padded_d_v,
                          t.value);
        }
        kv_cache_free(&c);
    }
}

/* Numbers that are the same in each format, and what is behind them. */
static void row_is_put(void)
{
    const float x[5] = {1, -2.5f, 0, 65280, -0x1p-14f};
    for (int format = 0; format < 3; format++) {
        const size_t bytes = format ? 2 : 4;
        float row[8] = {7, 7, 7, 7, 7, 7, 7, 7}, got[5], before[8];
        memcpy(before, row, sizeof row);
        store_row((Format)format, 5, x, row);
        const KVCache c = {.format = (Format)format};
        for (int k = 0; k < 5; k++)
            got[k] = entry(&c, row, (size_t)k);
        same("x", 5, got, x);
        tap_true("nothing is written behind it",
                 !memcmp((char *)row + 5 * bytes,
                         (char *)before + 5 * bytes,
                         sizeof row - 5 * bytes));
    }
}

/* More at once than a ring has rows. */
static void more_than_the_ring(void)
{
    const Text t = any_text(40, 2, 2, 3, 4, 5);
    KVCache c = cache_for(&t, 6, FORMAT_FLOAT32);
    kv_cache_append(&c, 33, t.key, t.value);
    tap_near("first", (double)c.first, 27, 0, 0);
    kv_cache_attend(&c, 4, 2, rows_from(t.query, 31), 0,
                    rows_from(t.context, 31));
    float *right = without_cache(&t), *got = room(4 * 40 * 4);
    for (int h = 0; h < 4; h++) {
        copy_rows(t.context, h, 40, 4, (void *)(got + h * 40 * 4));
        similar("context", 2 * 4, got + (h * 40 + 31) * 4,
                right + (h * 40 + 31) * 4, 0, ATOL);
    }
    free(right);
    kv_cache_free(&c);
}

static void bytes(void)
{
    KVCache c = {.n_kv_heads = 3, .d_k = 16, .d_v = 33, .capacity = 5};
    tap_near("as floats", (double)kv_cache_bytes(&c), 3 * 5 * (16 + 48) * 4,
             0, 0);
    c.format = FORMAT_FLOAT16;
    tap_near("as halves", (double)kv_cache_bytes(&c), 3 * 5 * (16 + 48) * 2,
             0, 0);
    c.d_k = 1;
    tap_near("of one entry", (double)kv_cache_bytes(&c),
             3 * 5 * (16 + 48) * 2, 0, 0);
}

static void given_back(void)
{
    tap_limit_memory(64);
    for (int i = 0; i < 100; i++) {
        KVCache c;
        kv_cache_init(&c, &(KVCache){.n_kv_heads = 1,
                                     .d_k = 16,
                                     .d_v = 16,
                                     .capacity = 1 << 16});
        const float *numbers = c.key;
        tap_near("a number", numbers[(1 << 20) - 1], 0, 0, 0);
        kv_cache_free(&c);
        tap_true("nothing is left", !c.key && !c.value && !c.capacity);
    }
}

/* ---- 16 bits. */

static void hex(const char *what, float x, unsigned got, unsigned due)
{
    tap_report(got == due, tap_words("%s(%.9g)", what, (double)x),
               "0x%04x where 0x%04x is due", got, due);
}

static void numbers_to_bfloat16(void)
{
    const float *x = floats(part("x"));
    for (int i = 0; i < dim("x", 0); i++)
        hex("to_bfloat16", x[i], to_bfloat16(x[i]),
            (unsigned)integers("bfloat16")[i]);
}

static void numbers_to_float16(void)
{
    const float *x = floats(part("x"));
    for (int i = 0; i < dim("x", 0); i++)
        hex("to_float16", x[i], to_float16(x[i]),
            (unsigned)integers("float16")[i]);
}

static void numbers_from(const char *what, float (*from)(uint16_t))
{
    const int64_t *bits = integers("bits");
    const float *expect = floats(part(what));
    for (int i = 0; i < dim("bits", 0); i++)
        tap_near(tap_words("of 0x%04x", (unsigned)bits[i]),
                 from((uint16_t)bits[i]), expect[i], 0, 0);
}

static void numbers_from_bfloat16(void)
{
    numbers_from("bfloat16", from_bfloat16);
}

static void numbers_from_float16(void)
{
    numbers_from("float16", from_float16);
}

/* What a pattern is by definition: so many bits of fraction, and those of
 * the exponent before them. */
static double defined(unsigned bits, int fraction, int bias)
{
    const int most = 2 * bias + 1;
    const int exponent = (int)(bits & 0x7fff) >> fraction;
    const double part = bits & ((1u << fraction) - 1);
    const double one = 1 << fraction, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == most)
        return part ? (double)NAN : sign * INFINITY;
    return exponent ? sign * ldexp(1 + part / one, exponent - bias)
                    : sign * ldexp(part / one, 1 - bias);
}

/* All patterns, there and back. A NaN remains one, with its sign. */
static void all_patterns(float (*from)(uint16_t), uint16_t (*to)(float),
                         int fraction, int bias)
{
    for (unsigned bits = 0; bits < 1 << 16; bits++) {
        const float x = from((uint16_t)bits);
        const unsigned back = to(x);
        const double due = defined(bits, fraction, bias);
        tap_report(tap_is_near(x, due, 0), tap_words("0x%04x", bits),
                   "%g where %g is due", (double)x, due);
        tap_report(!signbit(x) == !(bits & 0x8000) &&
                       (isnan(x) ? isnan(defined(back, fraction, bias)) &&
                                       (back & 0x8000) == (bits & 0x8000)
                                 : back == bits),
                   tap_words("0x%04x", bits), "0x%04x on its way back",
                   back);
    }
}

static void all_bfloat16(void)
{
    all_patterns(from_bfloat16, to_bfloat16, 7, 127);
}

static void all_float16(void)
{
    all_patterns(from_float16, to_float16, 10, 15);
}

/* NaN with each single bit of its fraction, and with all of them. */
static void no_number(uint16_t (*to)(float), float (*from)(uint16_t))
{
    for (unsigned bit = 0; bit <= 23; bit++)
        for (unsigned sign = 0; sign < 2; sign++) {
            const uint32_t bits =
                sign << 31 | 0x7f800000 | (bit < 23 ? 1u << bit : 0x7fffff);
            float x;
            memcpy(&x, &bits, sizeof x);
            tap_near(tap_words("of NaN, 0x%08x", (unsigned)bits),
                     from(to(x)), NAN, 0, 0);
        }
}

static void no_bfloat16(void)
{
    no_number(to_bfloat16, from_bfloat16);
}

static void no_float16(void)
{
    no_number(to_float16, from_float16);
}

/* ---- What is taken back. */

static void take_back(void)
{
    for (int k = 0; k < 60; k++) {
        const int window = k % 2 ? tap_int(1, 6) : 0;
        const Text t = any_text(20, 2, 2, 3, 4, window);
        Text other = t;
        other.key = any_rows(0, 2, 20, 3);
        other.value = any_rows(0, 2, 20, 4);
        other.context = any_rows(0, 4, 20, 4);
        const int spare = tap_int(0, 4);
        KVCache c =
            cache_for(&t, window ? window + spare : 20, FORMAT_FLOAT32);
        while (c.count < 20) {
            const int right = (int)c.count;
            int wrong = tap_int(0, window ? spare : 5);
            wrong = wrong < 20 - right ? wrong : 20 - right;
            for (int i = 0; i < wrong; i++)
                come(&c, &other, 1);
            kv_cache_truncate(&c, wrong);
            tap_near("count", (double)c.count, right, 0, 0);
            come(&c, &t, 1);
        }
        compare(&t);
        kv_cache_free(&c);
    }
}

/* All of a ring, which then begins anew. */
static void take_all_back(void)
{
    const Text t = any_text(20, 1, 1, 3, 4, 4);
    KVCache c = cache_for(&t, 5, FORMAT_FLOAT32);
    come_in_pieces(&c, &t, 1);
    kv_cache_truncate(&c, 20);
    tap_near("count", (double)c.count, 0, 0, 0);
    tap_near("first", (double)c.first, 0, 0, 0);
    come_in_pieces(&c, &t, 2);
    compare(&t);
    kv_cache_free(&c);
}

static void none_back(void)
{
    const Text t = any_text(9, 1, 1, 3, 4, 4);
    KVCache c = cache_for(&t, 4, FORMAT_FLOAT32);
    come_in_pieces(&c, &t, 1);
    kv_cache_truncate(&c, 0);
    tap_near("count", (double)c.count, 9, 0, 0);
    tap_near("first", (double)c.first, 5, 0, 0);
    kv_cache_free(&c);
}

/* ---- What is refused. */

/* n tokens of zeros have come. */
static KVCache filled(int capacity, int window, int n)
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

static void refusals_of_sizes(void)
{
    const KVCache good = {
        .n_kv_heads = 1, .d_k = 1, .d_v = 1, .capacity = 3};
    KVCache c[8] = {good, good, good, good, good, good, good, good};
    const char *const what[8] = {"no heads",          "no keys",
                                 "no values",         "no capacity",
                                 "a negative window", "a window of 4",
                                 "a format 3",        "too many bytes"};
    c[0].n_kv_heads = c[1].d_k = c[2].d_v = c[3].capacity = 0;
    c[4].window = -1;
    c[5].window = 4;
    c[6].format = (Format)3;
    c[7].n_kv_heads = c[7].capacity = c[7].d_k = INT_MAX;
    for (int i = 0; i < 8; i++) {
        REFUSES_SUCH(what[i], kv_cache_bytes(&c[i]));
        REFUSES_SUCH(what[i], kv_cache_init(&(KVCache){0}, &c[i]));
    }
    REFUSES(
        "cache.c: kv_cache_bytes: a window of 4 tokens: one from 0 to 3, "
        "the capacity, is needed",
        kv_cache_init(&(KVCache){0}, &c[5]));
}

static void refusals(void)
{
    static float x[64], out[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x), none = {0};
    const StridedRows results = rows_by_head(2, 4, 1, out);
    KVCache full = filled(4, 0, 4), ring = filled(4, 3, 6), empty = {0};
    REFUSES(
        "cache.c: kv_cache_append_check: 1 tokens after 4, where there is "
        "room for 4: at least 1, and without a window no more than fit, "
        "are needed",
        kv_cache_append_check(&full, 1, rows, rows));
    REFUSES_SUCH("no room", kv_cache_append(&full, 1, rows, rows));
    REFUSES_SUCH("no tokens", kv_cache_append(&ring, 0, rows, rows));
    REFUSES_SUCH("no keys", kv_cache_append(&ring, 1, none, rows));
    REFUSES_SUCH("no values", kv_cache_append(&ring, 1, rows, none));
    REFUSES_SUCH("no memory", kv_cache_append(&empty, 1, rows, rows));
    REFUSES_SUCH("no memory", kv_cache_append_check(&empty, 1, rows, rows));
    REFUSES("cache.c: kv_cache_attend_check: 3 heads share 2 of keys: a "
            "multiple of 2 is needed",
            kv_cache_attend(&full, 3, 1, rows, 0, results));
    REFUSES_SUCH("no heads",
                 kv_cache_attend(&full, 0, 1, rows, 0, results));
    REFUSES_SUCH("no queries",
                 kv_cache_attend(&full, 2, 0, rows, 0, results));
    REFUSES_SUCH("5 queries",
                 kv_cache_attend(&full, 2, 5, rows, 0, results));
    REFUSES_SUCH("more queries than an int counts",
                 kv_cache_attend(&full, INT_MAX - 1, 4, rows, 0, results));
    REFUSES_SUCH("-1 threads",
                 kv_cache_attend(&full, 2, 1, rows, -1, results));
    REFUSES_SUCH("rows of none",
                 kv_cache_attend(&full, 2, 1, none, 0, results));
    REFUSES_SUCH("nowhere to go",
                 kv_cache_attend(&full, 2, 1, rows, 0, none));
    REFUSES_SUCH("no memory",
                 kv_cache_attend(&empty, 2, 1, rows, 0, results));
    REFUSES_SUCH("3 queries where there is room for 2",
                 kv_cache_attend(&ring, 2, 3, rows, 0, results));
    REFUSES_SUCH("3 queries where there is room for 2",
                 kv_cache_attend_check(&ring, 2, 3, 0));
    REFUSES_SUCH("-1 tokens", kv_cache_truncate(&full, -1));
    REFUSES_SUCH("5 of 4 tokens", kv_cache_truncate(&full, 5));
    REFUSES_SUCH("more than a ring has", kv_cache_truncate(&ring, 3));
    REFUSES_SUCH("as many as make the ring short",
                 kv_cache_truncate(&ring, 4));
    kv_cache_free(&full);
    kv_cache_free(&ring);
}

/* What is just not refused: the most queries of a ring, and the most tokens
 * that may be taken back, after which the next sees what there is. */
static void just_enough(void)
{
    static float x[64], out[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    KVCache ring = filled(4, 3, 6);
    kv_cache_attend(&ring, 2, 2, rows, 0, rows_by_head(2, 4, 1, out));
    kv_cache_truncate(&ring, 2);
    tap_near("count", (double)ring.count, 4, 0, 0);
    tap_near("first", (double)ring.first, 2, 0, 0);
    kv_cache_free(&ring);
}

/* However large the scores, equal ones are equal in all pieces. */
static void loud_pieces(void)
{
    enum { N = 1025 };
    static float x[N][1], ones[N][1];
    float context = NAN;
    KVCache c;
    for (int i = 0; i < N; i++) {
        x[i][0] = 316.25f;
        ones[i][0] = 1;
    }
    kv_cache_init(
        &c, &(KVCache){.n_kv_heads = 1, .d_k = 1, .d_v = 1, .capacity = N});
    kv_cache_append(&c, N, rows_by_head(1, N, 1, x[0]),
                    rows_by_head(1, N, 1, ones[0]));
    kv_cache_attend(&c, 1, 1, rows_by_head(1, 1, 1, x[0]), 0,
                    rows_by_head(1, 1, 1, &context));
    tap_near("context", context, 1, 1e-6, 0);
    kv_cache_free(&c);
}

/* Products of some two million in several pieces: their weights are as
 * exact as those of small ones. */
static void high_scores(void)
{
    enum { N = 1100 };
    static float key[N][3], value[N];
    float query[3] = {1, 1, 1}, context = NAN;
    double sum = 0, due = 0;
    KVCache c = {.n_kv_heads = 1, .d_k = 3, .d_v = 1, .capacity = N};
    tap_fill(N, value, -1, 1);
    for (int i = 0; i < N; i++) {
        key[i][1] = 0x1p21f - 0.25f * (float)(i % 40);
        const double weight = exp((key[i][1] - 0x1p21) / sqrt(3));
        sum += weight;
        due += weight * value[i];
    }
    kv_cache_init(&c, &c);
    kv_cache_append(&c, N, rows_by_head(1, N, 3, key[0]),
                    rows_by_head(1, N, 1, value));
    kv_cache_attend(&c, 1, 1, rows_by_head(1, 1, 3, query), 0,
                    rows_by_head(1, 1, 1, &context));
    tap_near("context", context, due / sum, 0, 5e-7);
    kv_cache_free(&c);
}

/* Products that no float holds, though their scores are floats. */
static void large_products(void)
{
    static float query[128] = {2}, key[2][128] = {{3e38f}, {3e38f}};
    const float value[2] = {1, 3};
    float context = NAN;
    KVCache c;
    kv_cache_init(
        &c,
        &(KVCache){.n_kv_heads = 1, .d_k = 128, .d_v = 1, .capacity = 2});
    kv_cache_append(&c, 2, rows_by_head(1, 2, 128, key[0]),
                    rows_by_head(1, 2, 1, value));
    kv_cache_attend(&c, 1, 1, rows_by_head(1, 1, 128, query), 0,
                    rows_by_head(1, 1, 1, &context));
    tap_near("context", context, 2, 1e-6, 0);
    kv_cache_free(&c);
}

int main(void)
{
    EACH("kv_cache_attend", text_of_set, "*-context");
    TAP(any_cuts, "kv_cache_attend: any text, in any pieces");
    TAP(any_set, "kv_cache_attend_of: for each instruction set");
    TAP(many_queries, "kv_cache_attend: more queries than a group has");
    TAP(long_questions, "kv_cache_attend: many tokens at once");
    TAP(odd_numbers, "kv_cache_attend: NaN and infinities");
    TAP(many_keys, "kv_cache_attend: more keys than a piece has");
    TAP(loud_pieces, "kv_cache_attend: large scores in several pieces");
    TAP(loud_scores, "kv_cache_attend: large scores");
    TAP(high_scores, "kv_cache_attend: scores of millions");
    TAP(large_products, "kv_cache_attend: products that are no floats");
    TAP(rows_stand, "kv_cache_append: which row has which token");
    TAP(any_cuts, "kv_cache_append: any text, in any pieces");
    TAP(more_than_the_ring, "kv_cache_append: more than the ring has rows");
    TAP(row_is_put, "store_row: three formats");
    TAP(bytes, "kv_cache_bytes: rows are filled up to 16");
    TAP_LARGE(given_back, "kv_cache_init: zeros");
    TAP_LARGE(given_back, "kv_cache_free: all is given back");
    SETS("to_bfloat16", numbers_to_bfloat16, "numbers");
    SETS("to_float16", numbers_to_float16, "numbers");
    SETS("from_bfloat16", numbers_from_bfloat16, "patterns");
    SETS("from_float16", numbers_from_float16, "patterns");
    TAP(all_bfloat16, "to_bfloat16: all that has been one");
    TAP(all_float16, "to_float16: all that has been one");
    TAP(all_bfloat16, "from_bfloat16: all of them");
    TAP(all_float16, "from_float16: all of them");
    TAP(no_bfloat16, "to_bfloat16: NaN remains NaN");
    TAP(no_float16, "to_float16: NaN remains NaN");
    TAP(take_back, "kv_cache_truncate: as if they had not come");
    TAP(take_all_back, "kv_cache_truncate: all of a ring");
    TAP(none_back, "kv_cache_truncate: none");
    TAP(just_enough, "kv_cache_truncate: as many as a ring can");
    refusals_of_sizes();
    refusals();
    return tap_done();
}
