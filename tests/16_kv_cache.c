/* Chapter 16 against PyTorch: golden/16_kv_cache. */
#define CHAPTER "16_kv_cache"
#include "caches.h"
#include "attention/float16.h"

static void attend_here(const KVCache *c, int n_heads, int n,
                        StridedRows query, int threads, StridedRows context)
{
    (void)threads;
    kv_cache_attend(c, n_heads, n, query, context);
}

/* That of the set, against PyTorch, in pieces of up to 1, 3, and all. */
static void text_of_set(const char *set)
{
    const int heads = dim(set, "query", 0), n = dim(set, "query", 1);
    const int key_heads = dim(set, "key", 0);
    const int d_k = dim(set, "key", 2), d_v = dim(set, "value", 2);
    const int most[3] = {1, 3, n};
    const Format format = (Format)*golden_integers(set, "format");
    for (int k = 0; k < 3; k++) {
        float *context = guarded("context", golden_count(set, "context"));
        next_case();
        const Text t = {
            heads,
            key_heads,
            n,
            d_k,
            d_v,
            (int)input_number(set, "window", "window"),
            rows_by_head(heads, n, d_k, input(set, "query")),
            rows_by_head(key_heads, n, d_k, input(set, "key")),
            rows_by_head(key_heads, n, d_v, input(set, "value")),
            rows_by_head(heads, n, d_v, context)};
        given("format = %d, up to %d tokens at a time", (int)format,
              most[k]);
        KVCache c = cache_for(&t, t.window ? t.window + k : n, format);
        come_in_pieces(&c, &t, most[k]);
        expect_close("context", context, golden(set, "context"), 0, ATOL);
        kv_cache_free(&c);
    }
}

static void any_cuts(void)
{
    cut_any_texts(200);
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
static void rows_of_cache(const KVCache *c, const char *what, void *table,
                          int d, int wide, StridedRows rows)
{
    const int size = c->format == FORMAT_FLOAT32 ? 4 : 2;
    for (int i = 0; i < c->n_kv_heads * c->capacity; i++) {
        const int h = i / c->capacity, row = i % c->capacity;
        const int rounds = ((int)c->count - 1 - row) / c->capacity;
        const int token = row < c->count ? row + rounds * c->capacity : -1;
        const char *at = (char *)table + i * wide * size;
        expect_true("kv_cache_row",
                    kv_cache_row(c, table, wide, h, row) == at);
        for (int k = 0; k < wide; k++)
            expect_equal(
                tap_words("%s of head %d, row %d, entry %d", what, h, row,
                          k),
                entry(c, at, (size_t)k),
                token < 0 || k >= d ? 0 : row_at(&rows, 0, h, token)[k]);
    }
}

static void rows_stand(void)
{
    for (int k = 0; k < 24; k++) {
        const int window = k % 2 ? tap_int(1, 5) : 0;
        Text t = any_text(12, tap_int(1, 3), 1, tap_int(1, 18),
                          tap_int(1, 18), window);
        make_short(&t);
        KVCache c =
            cache_for(&t, window ? window + 2 : 12, (Format)(k / 2 % 3));
        for (int i = 0, n = 0; i < 12; i += n) {
            n = tap_int(1, 4);
            n = n < 12 - i ? n : 12 - i;
            kv_cache_append(&c, n, rows_from(t.key, i),
                            rows_from(t.value, i));
            expect_equal("count", (double)c.count, i + n);
            expect_equal("first", (double)c.first,
                         i + n > c.capacity ? i + n - c.capacity : 0);
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
        float row[8] = {7, 7, 7, 7, 7, 7, 7, 7}, got[5];
        store_row((Format)format, 5, x, row);
        load_row((Format)format, 5, row, got);
        expect_list("x", 5, got, x, EXACTLY);
        expect_list("what is behind it", 3, row + 5, ((float[]){7, 7, 7}),
                    EXACTLY);
    }
}

/* More at once than a ring has rows. */
static void more_than_the_ring(void)
{
    const Text t = any_text(40, 2, 2, 3, 4, 5);
    KVCache c = cache_for(&t, 6, FORMAT_FLOAT32);
    kv_cache_append(&c, 33, t.key, t.value);
    expect_equal("first", (double)c.first, 27);
    kv_cache_attend(&c, 4, 2, rows_from(t.query, 31),
                    rows_from(t.context, 31));
    float *right = without_cache(&t), *got = contexts(&t);
    for (int h = 0; h < 4; h++)
        expect_list("context", 2 * 4, got + (h * 40 + 31) * 4,
                    right + (h * 40 + 31) * 4, 0, ATOL);
    free(right);
    kv_cache_free(&c);
}

/* Rows are filled up to 16 entries. */
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
    kv_cache_init(&c, &(KVCache){.n_kv_heads = 1,
                                 .d_k = 1,
                                 .d_v = 1,
                                 .capacity = 1,
                                 .count = 3,
                                 .first = 2});
    expect_true("begins without tokens", !c.count && !c.first);
    kv_cache_free(&c);
    expect_true("nothing is left", !c.key && !c.value && !c.capacity);
}

/* ---- 16 bits. */

static const struct {
    const char *name, *to_name, *from_name;
    uint16_t (*to)(float);
    float (*from)(uint16_t);
    int fraction, bias;
} half[2] = {{"bfloat16", "to_bfloat16", "from_bfloat16", to_bfloat16,
              from_bfloat16, 7, 127},
             {"float16", "to_float16", "from_float16", to_float16,
              from_float16, 10, 15}};
static int now; /* which of them */

static void numbers_to(const char *set)
{
    const float *x = golden_floats(set, "x");
    for (int i = 0; i < dim(set, "x", 0); i++) {
        const unsigned got = half[now].to(x[i]);
        const unsigned due =
            (unsigned)golden_integers(set, half[now].name)[i];
        expect(got == due,
               tap_words("%s(%.9g)", half[now].to_name, (double)x[i]),
               "0x%04x where 0x%04x is due", got, due);
    }
}

static void patterns_from(const char *set)
{
    const int64_t *bits = golden_integers(set, "bits");
    const float *due = golden_floats(set, half[now].name);
    for (int i = 0; i < dim(set, "bits", 0); i++)
        expect_equal(tap_words("of 0x%04x", (unsigned)bits[i]),
                     half[now].from((uint16_t)bits[i]), due[i]);
}

/* What a pattern is by definition: so many bits of fraction, and those of
 * the exponent before them. */
static double defined(unsigned bits)
{
    const int fraction = half[now].fraction, bias = half[now].bias;
    const int exponent = (int)(bits & 0x7fff) >> fraction;
    const double part = bits & ((1u << fraction) - 1);
    const double one = 1 << fraction, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1)
        return part ? (double)NAN : sign * INFINITY;
    return exponent ? sign * ldexp(1 + part / one, exponent - bias)
                    : sign * ldexp(part / one, 1 - bias);
}

/* All patterns, there and back. A NaN remains one, with its sign. */
static void all_patterns(void)
{
    for (unsigned bits = 0; bits < 1 << 16; bits++) {
        const float x = half[now].from((uint16_t)bits);
        const unsigned back = half[now].to(x);
        const double due = defined(bits);
        const bool is_back = isnan(x) ? isnan(defined(back)) : back == bits;
        expect(tap_is_near(x, due, 0), tap_words("0x%04x", bits),
               "%g where %g is due", (double)x, due);
        expect(!signbit(x) == !(bits & 0x8000) && is_back &&
                   (back & 0x8000) == (bits & 0x8000),
               tap_words("0x%04x", bits), "0x%04x on its way back", back);
    }
}

/* NaN with each single bit of its fraction, and with all of them. */
static void no_number(void)
{
    for (unsigned bit = 0; bit <= 23; bit++)
        for (unsigned sign = 0; sign < 2; sign++) {
            const uint32_t bits =
                sign << 31 | 0x7f800000 | (bit < 23 ? 1u << bit : 0x7fffff);
            float x;
            memcpy(&x, &bits, sizeof x);
            expect_equal(tap_words("of NaN, 0x%08x", (unsigned)bits),
                         half[now].from(half[now].to(x)), NAN);
        }
}

static void each_half(void)
{
    for (now = 0; now < 2; now++) {
        const char *to = half[now].to_name, *from = half[now].from_name;
        TAP(tap_words("%s: numbers", to), numbers_to("numbers"));
        TAP(tap_words("%s: patterns", from), patterns_from("patterns"));
        TAP(tap_words("%s: all that has been one", to), all_patterns());
        TAP(tap_words("%s: all of them", from), all_patterns());
        TAP(tap_words("%s: NaN remains NaN", to), no_number());
    }
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
            expect_equal("count", (double)c.count, right);
            come(&c, &t, 1);
        }
        compare(&t);
        kv_cache_free(&c);
    }
}

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

/* None, all of a ring, which then begins anew, and as many as a ring can,
 * after which the next sees what there is. */
static void what_is_left(void)
{
    static const struct {
        int capacity, window, come, back, count, first;
    } ring[] = {{4, 4, 9, 0, 9, 5},
                {5, 4, 20, 20, 0, 0},
                {4, 3, 6, 2, 4, 2},
                {4, 0, 4, 4, 0, 0}};
    for (int k = 0; k < 4; k++) {
        KVCache c = filled(ring[k].capacity, ring[k].window, ring[k].come);
        next_case();
        given("%d tokens, capacity = %d, window = %d, n = %d", ring[k].come,
              ring[k].capacity, ring[k].window, ring[k].back);
        kv_cache_truncate(&c, ring[k].back);
        expect_equal("count", (double)c.count, ring[k].count);
        expect_equal("first", (double)c.first, ring[k].first);
        kv_cache_free(&c);
    }
}

/* ---- What is refused. */

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
    KVCache c = filled(4, asked.window, asked.window ? 6 : 4);
    if (!asked.has_memory)
        c.key = NULL;
    kv_cache_attend(&c, asked.n_heads, asked.n,
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
    const StridedRows rows = rows_by_head(2, 4, 1, x), none = {0};
    KVCache full = filled(4, 0, 4), ring = filled(4, 3, 6), empty = {0};
    REFUSES_EACH("kv_cache_init", init_with, wrong_sizes);
    REFUSES_EACH("kv_cache_attend", attend_with, wrong_calls);
    REFUSES_SUCH("too many bytes",
                 kv_cache_bytes(&(KVCache){.n_kv_heads = INT_MAX,
                                           .d_k = 1 << 20,
                                           .d_v = 1,
                                           .capacity = INT_MAX}));
    REFUSES_SUCH("3 queries where there is room for 2",
                 kv_cache_attend(&ring, 2, 3, rows, rows));
    REFUSES("kv_cache.c: kv_cache_append_check: 1 tokens after 4, where "
            "there is room for 4: at least 1, and without a window no more "
            "than fit, are needed",
            kv_cache_append_check(&full, 1, rows, rows));
    REFUSES_SUCH("no room", kv_cache_append(&full, 1, rows, rows));
    REFUSES_SUCH("no tokens", kv_cache_append(&ring, 0, rows, rows));
    REFUSES_SUCH("no tokens", kv_cache_append_check(&ring, 0, rows, rows));
    REFUSES_SUCH("no keys", kv_cache_append(&ring, 1, none, rows));
    REFUSES_SUCH("no values", kv_cache_append(&ring, 1, rows, none));
    REFUSES_SUCH("no memory", kv_cache_append(&empty, 1, rows, rows));
    REFUSES_SUCH("-1 tokens", kv_cache_truncate(&full, -1));
    REFUSES_SUCH("5 of 4 tokens", kv_cache_truncate(&full, 5));
    REFUSES_SUCH("more than a ring has", kv_cache_truncate(&ring, 3));
    REFUSES_SUCH("as many as make the ring short",
                 kv_cache_truncate(&ring, 4));
    kv_cache_free(&full);
    kv_cache_free(&ring);
}

static void rows_test(void)
{
    static float x[2 * 3 * 5 * 7];
    const StridedRows by_head = rows_by_head(3, 5, 7, x);
    const StridedRows by_token = rows_by_token(3, 5, 7, x);
    const StridedRows shared = {x, 0, 0, 7};
    for (int b = 0; b < 2; b++)
        for (int h = 0; h < 3; h++)
            for (int i = 0; i < 5; i++) {
                given("text %d, head %d, token %d", b, h, i);
                expect_true("rows_by_head",
                            row_at(&by_head, b, h, i) ==
                                x + ((b * 3 + h) * 5 + i) * 7);
                expect_true("rows_by_token",
                            row_at(&by_token, b, h, i) ==
                                x + ((b * 5 + i) * 3 + h) * 7);
                expect_true("steps of 0",
                            row_at(&shared, b, h, i) == x + i * 7);
            }
}

/* Rows so far apart that no int counts the floats between them. */
static void far_rows(void)
{
    const StridedRows rows = rows_by_head(1 << 10, 1 << 21, 1 << 10, NULL);
    const StridedRows tokens =
        rows_by_token(1 << 10, 1 << 21, 1 << 10, NULL);
    expect_equal("text", (double)rows.text_stride, 0x1p41);
    expect_equal("head", (double)rows.head_stride, 0x1p31);
    expect_equal("text of tokens", (double)tokens.text_stride, 0x1p41);
}

int main(void)
{
    attend_cache = attend_here;
    EACH_SET("kv_cache_attend", "*-context", text_of_set(set));
    TAP("kv_cache_attend: NaN and infinities", odd_numbers());
    TAP("kv_cache_append: which row has which token", rows_stand());
    TAP("kv_cache_append: any text, in any pieces", any_cuts());
    TAP("kv_cache_append: more than the ring has rows",
        more_than_the_ring());
    TAP("store_row: three formats", row_is_put());
    TAP("load_row: three formats", row_is_put());
    TAP("kv_cache_bytes: rows are filled up to 16", bytes());
    TAP("kv_cache_free: nothing is left", given_back());
    TAP("row_at: any row", rows_test());
    if (sizeof(ptrdiff_t) > sizeof(int))
        TAP("rows_by_head: very many", far_rows());
    else
        tap_skip("rows_by_head: very many", "ptrdiff_t is too small");
    each_half();
    TAP("kv_cache_truncate: as if they had not come", take_back());
    TAP("kv_cache_truncate: none, all, and what a ring can",
        what_is_left());
    refusals();
    return tap_done();
}
