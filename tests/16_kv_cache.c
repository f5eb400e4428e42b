/* Chapter 16 against PyTorch, golden/16_kv_cache, and against float64. */
#define CHAPTER "16_kv_cache"
#include "calls.h"
#include "attention/float16.h"

#define ATOL 3e-6

/* ---- Texts whose tokens come into a cache in pieces, and ask. What is due
 * of a text as a whole is that of a call. */

static StridedRows rows_from(StridedRows rows, int token)
{
    rows.at += token * rows.token_stride;
    return rows;
}

/* The next n tokens of a text come, and ask. */
static void come(KVCache *c, const AttentionCall *text, int n)
{
    const int from = (int)c->count;
    kv_cache_append(c, n, rows_from(text->key, from),
                    rows_from(text->value, from));
    kv_cache_attend(c, text->n_heads, n, rows_from(text->query, from),
                    rows_from(text->context, from));
}

/* The whole text in pieces of up to so many tokens. */
static void come_in_pieces(Random *r, KVCache *c, const AttentionCall *text,
                           int most)
{
    if (c->window && most > c->capacity - c->window + 1)
        most = c->capacity - c->window + 1;
    while (c->count < text->n) {
        const int n = 1 + below(r, most), left = text->n - (int)c->count;
        come(c, text, n < left ? n : left);
    }
}

/* A text of n tokens, of which each sees as many of the last as the window
 * has, or all before it. Its numbers are eighths: no format rounds them. */
static AttentionCall any_text(Random *r, int n, int kv_heads, int sharing,
                              int d_k, int d_v, int window)
{
    AttentionCall text =
        call_sized(1, kv_heads * sharing, kv_heads, n, n, d_k, d_v);
    text.mask = mask_causal(0);
    give_rows(r, &text);
    for (int role = KEY; role <= VALUE; role++) {
        const Table t = table_of(&text, role);
        for (size_t i = 0; i < span_of(&t); i++)
            t.rows.at[i] = rintf(8 * t.rows.at[i]) / 8;
    }
    if (window) {
        float(*seen)[n] = guarded("seen", (size_t)(n * n));
        for (int i = 0; i < n * n; i++)
            seen[i / n][i % n] = i % n <= i / n && i / n - i % n < window;
        text.mask = mask_table(n, n, (const void *)seen);
    }
    next_case();
    given("%d tokens, %d heads, %d of keys, d_k, d_v = %d, %d, window %d",
          n, text.n_heads, kv_heads, d_k, d_v, window);
    return text;
}

/* Where it is odd, one entry of a query, a key or a value is NaN or
 * infinite: what a hidden value does that is not finite is left open. */
static void any_pieces(bool is_odd)
{
    static const float odd[3] = {NAN, INFINITY, -INFINITY};
    enum { MOST = 60 };
    for (uint64_t k = 0; k < 200; k++) {
        Random r = random_seeded(k);
        const int n = 1 + below(&r, MOST);
        const int window = k % 2 ? 1 + below(&r, MOST / 2) : 0;
        const AttentionCall text =
            any_text(&r, n, 1 + below(&r, 3), 1 + below(&r, 5),
                     1 + below(&r, 40), 1 + below(&r, 40), window);
        const int spare = below(&r, k % 4 == 1 ? 10 : MOST), d = text.d_v;
        const int room = window ? window + spare : n + 9;
        const int place = below(&r, 3), token = below(&r, n);
        const Table context = table_of(&text, CONTEXT);
        const Table table = table_of(&text, place);
        if (is_odd) {
            const float number = odd[k / 2 % 3];
            row_of(&table, token)[below(&r, table.d)] = number;
            given("%g in %s %d", (double)number, table.name, token);
        }
        KVCache c = cache_for(&text, window, room, (Format)(k % 3));
        come_in_pieces(&r, &c, &text, k % 5 ? 5 : MOST);
        double *due = due_of(&text, NULL).out[OF_CONTEXT];
        for (int i = 0; is_odd && i < rows_of(&context) * d; i++)
            if (place == 2 && !sees(text.mask, i / d % n, token))
                due[i] = (double)row_of(&context, i / d)[i % d];
        expect_rows(&context, due, 0, ATOL);
        kv_cache_free(&c);
        guarded_free();
    }
}

/* That of the set, against PyTorch, in pieces of up to 1, 3, and all. */
static void text_of_set(const char *set)
{
    const int heads = dim(set, "query", 0), n = dim(set, "query", 1);
    const int kv_heads = dim(set, "key", 0), d_k = dim(set, "key", 2);
    const int d_v = dim(set, "value", 2), most[3] = {1, 3, n};
    const int window = (int)input_number(set, "window", "window");
    const Format format = (Format)*golden_integers(set, "format");
    AttentionCall text = call_sized(1, heads, kv_heads, n, n, d_k, d_v);
    text.query = rows_by_head(heads, n, d_k, input(set, "query"));
    text.key = rows_by_head(kv_heads, n, d_k, input(set, "key"));
    text.value = rows_by_head(kv_heads, n, d_v, input(set, "value"));
    for (int k = 0; k < 3; k++) {
        Random r = random_seeded((uint64_t)k);
        float *context = guarded("context", golden_count(set, "context"));
        text.context = rows_by_head(heads, n, d_v, context);
        next_case();
        given("format = %d, window = %d, up to %d tokens at a time",
              (int)format, window, most[k]);
        KVCache c =
            cache_for(&text, window, window ? window + k : n, format);
        come_in_pieces(&r, &c, &text, most[k]);
        expect_close("context", context, golden(set, "context"), 0, ATOL);
        kv_cache_free(&c);
    }
}

static void expect_left(KVCache *c, int n, int count)
{
    const int64_t first = c->first;
    kv_cache_truncate(c, n);
    expect_equal("count", (double)c->count, count);
    expect_equal("first", (double)c->first,
                 first < count ? (double)first : count);
}

/* What has come and is taken back leaves no trace: none, as many as a ring
 * can do without, and in the end all, with which it begins anew. */
static void take_back(void)
{
    for (uint64_t k = 0; k < 60; k++) {
        Random r = random_seeded(k);
        const int window = k % 2 ? 1 + below(&r, 6) : 0;
        const AttentionCall other = any_text(&r, 20, 2, 2, 3, 4, window);
        const AttentionCall text = any_text(&r, 20, 2, 2, 3, 4, window);
        const int spare = below(&r, 5);
        KVCache c = cache_for(&text, window, window ? window + spare : 20,
                              FORMAT_FLOAT32);
        while (c.count < 20) {
            const int right = (int)c.count;
            int wrong = below(&r, window ? spare + 2 : 6);
            wrong = wrong < 20 - right ? wrong : 20 - right;
            for (int i = 0; i < wrong; i++)
                come(&c, &other, 1);
            expect_left(&c, wrong, right);
            come(&c, &text, 1);
        }
        const Table context = table_of(&text, CONTEXT);
        expect_rows(&context, due_of(&text, NULL).out[OF_CONTEXT], 0, ATOL);
        expect_left(&c, 20, 0);
        kv_cache_free(&c);
        guarded_free();
    }
}

/* The last token whose number leaves this row; zeros where none has been,
 * and behind each row. */
static void expect_stored(const KVCache *c, const char *name, void *table,
                          int d, int padded, StridedRows rows)
{
    for (int i = 0; i < c->n_kv_heads * c->capacity; i++) {
        const int h = i / c->capacity, row = i % c->capacity;
        const int rounds = ((int)c->count - 1 - row) / c->capacity;
        const int token = row + rounds * c->capacity;
        float got[32], due[32] = {0};
        load_row(c->format, padded, kv_cache_row(c, table, padded, h, row),
                 got);
        if (row < c->count)
            memcpy(due, row_at(&rows, 0, h, token),
                   (size_t)d * sizeof *due);
        expect_list(tap_words("%s of head %d, row %d", name, h, row),
                    padded, got, due, EXACTLY);
    }
}

static void rows_stand(void)
{
    for (uint64_t k = 0; k < 24; k++) {
        Random r = random_seeded(k);
        const int window = k % 2 ? 1 + below(&r, 5) : 0;
        const AttentionCall text =
            any_text(&r, 12, 1 + below(&r, 3), 1, 1 + below(&r, 18),
                     1 + below(&r, 18), window);
        KVCache c = cache_for(&text, window, window ? window + 2 : 12,
                              (Format)(k / 2 % 3));
        for (int i = 0, n = 0; i < 12; i += n) {
            n = 1 + below(&r, k % 3 ? 4 : 12); /* or more than fit */
            n = n < 12 - i ? n : 12 - i;
            kv_cache_append(&c, n, rows_from(text.key, i),
                            rows_from(text.value, i));
            expect_equal("count", (double)c.count, i + n);
            expect_equal("first", (double)c.first,
                         i + n > c.capacity ? i + n - c.capacity : 0);
            expect_stored(&c, "key", c.key, c.d_k, c.padded_d_k, text.key);
            expect_stored(&c, "value", c.value, c.d_v, c.padded_d_v,
                          text.value);
        }
        kv_cache_free(&c);
    }
}

/* ---- 16 bits. */

static const struct {
    const char *name;
    uint16_t (*to)(float);
    float (*from)(uint16_t);
} half[2] = {{"bfloat16", to_bfloat16, from_bfloat16},
             {"float16", to_float16, from_float16}};

static void numbers_to(int k)
{
    const float *x = golden_floats("numbers", "x");
    int *got = due("numbers", half[k].name, EXACTLY);
    for (int i = 0; i < dim("numbers", "x", 0); i++)
        got[i] = half[k].to(x[i]);
}

static void patterns_from(int k)
{
    const int *bits = golden_ints("patterns", "bits");
    float *got = due("patterns", half[k].name, EXACTLY);
    for (int i = 0; i < dim("patterns", "bits", 0); i++)
        got[i] = half[k].from((uint16_t)bits[i]);
}

/* All patterns, there and back; and NaN with each single bit of its
 * fraction, and with all of them. A NaN remains one, with its sign. */
static void all_patterns(int k)
{
    for (unsigned bits = 0; bits < (1 << 16) + 48; bits++) {
        const unsigned bit = bits / 2 % 24;
        const uint32_t nan =
            bits % 2 << 31 | 0x7f800000 | (bit < 23 ? 1u << bit : 0x7fffff);
        float x = half[k].from((uint16_t)bits);
        if (bits >> 16)
            memcpy(&x, &nan, sizeof x);
        const unsigned back = half[k].to(x);
        expect((isnan(x) ? isnan(half[k].from((uint16_t)back))
                         : back == bits) &&
                   !(back & 0x8000) == !signbit(x),
               tap_words("%g, from 0x%04x", (double)x, bits),
               "0x%04x on its way back", back);
    }
}

static void each_half(void)
{
    for (int k = 0; k < 2; k++) {
        const char *name = half[k].name;
        TAP(tap_words("to_%s: numbers", name), numbers_to(k));
        TAP(tap_words("to_%s: all there is", name), all_patterns(k));
        TAP(tap_words("from_%s: patterns", name), patterns_from(k));
    }
}

static void refusals(void)
{
    static float x[64];
    const StridedRows rows = rows_by_head(2, 4, 1, x);
    const AttentionCall text = {.n_kv_heads = 2, .d_k = 1, .d_v = 1};
    KVCache full = cache_for(&text, 0, 4, FORMAT_FLOAT32);
    KVCache ring = cache_for(&text, 3, 4, FORMAT_FLOAT32);
    full.count = 4;
    ring.count = 6;
    ring.first = 2;
    REFUSES_SUCH("3 queries where there is room for 2",
                 kv_cache_attend(&ring, 2, 3, rows, rows));
    REFUSES_SUCH("no room", kv_cache_append(&full, 1, rows, rows));
    REFUSES_SUCH("-1 tokens", kv_cache_truncate(&full, -1));
    REFUSES_SUCH("5 of 4 tokens", kv_cache_truncate(&full, 5));
    REFUSES_SUCH("more than a ring has", kv_cache_truncate(&ring, 3));
    REFUSES_SUCH("as many as make the ring short",
                 kv_cache_truncate(&ring, 4));
    kv_cache_free(&full);
    kv_cache_free(&ring);
}

int main(void)
{
    EACH_SET("kv_cache_attend", "*-context", text_of_set(set));
    TAP("kv_cache_attend: NaN and infinities", any_pieces(true));
    TAP("kv_cache_append: which row has which token", rows_stand());
    TAP("kv_cache_append: any text, in any pieces", any_pieces(false));
    each_half();
    TAP("kv_cache_truncate: as if they had not come", take_back());
    refusals();
    return tap_done();
}
