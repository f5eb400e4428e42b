/*
# One token at a time {#kv-cache}

TO COME
*/

#include "attention.h"

/*
*/

uint16_t to_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t to_float16(float x)
{
    const float small = fabsf(x) + 0.5f, half = 0.5f;
    uint32_t bits, units, zero;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&units, &small, sizeof units);
    memcpy(&zero, &half, sizeof zero);
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (isnan(x))
        return (uint16_t)(sign | 0x7e00);
    if (fabsf(x) < 0x1p-14f)
        return (uint16_t)(sign | (units - zero));
    if (fabsf(x) >= 65520)
        return (uint16_t)(sign | 0x7c00);
    bits -= 112u << 23;
    return (uint16_t)(sign | (bits + 0xfff + (bits >> 13 & 1)) >> 13);
}

/* Number k of a row of this format becomes x. */
static void put(Format format, void *row, int k, float x)
{
    if (format == FLOAT32)
        ((float *)row)[k] = x;
    else
        ((uint16_t *)row)[k] =
            format == BFLOAT16 ? to_bfloat16(x) : to_float16(x);
}

/* Where a row of a head begins, of `wide` numbers. */
static char *row_at(const Cache *c, void *rows, int wide, int head, int row)
{
    const ptrdiff_t bytes = c->format == FLOAT32 ? 4 : 2;
    return (char *)rows + ((ptrdiff_t)head * c->room + row) * wide * bytes;
}

static void append_token(Cache *c, int head, int row, const float *key,
                         const float *value)
{
    for (int k = 0; k < c->d_k; k++)
        put(c->format, row_at(c, c->key, c->wide_k, head, row), k, key[k]);
    for (int k = 0; k < c->d_v; k++)
        put(c->format, row_at(c, c->value, c->wide_v, head, row), k,
            value[k]);
}

void cache_append(Cache *c, int n, Rows key, Rows value)
{
    if (!c->key || !key.at || !value.at || n < 1 ||
        (!c->window && n > c->room - c->count))
        REFUSE("%d tokens after %" PRId64 ", where there is room for %d: "
               "at least 1, and where there is no window, no more than fit "
               "are needed, with their rows",
               n, c->count, c->room);
    for (int h = 0; h < c->n_key_heads; h++)
        for (int i = 0; i < n; i++)
            append_token(c, h, (int)((c->count + i) % c->room),
                         key.at + h * key.head + i * key.token,
                         value.at + h * value.head + i * value.token);
    c->count += n;
    if (c->first < c->count - c->room)
        c->first = c->count - c->room;
}

enum {
    LANES = __BIGGEST_ALIGNMENT__ / (int)sizeof(float),
    BLOCK = 64,   /* keys */
    MANY = 32,    /* queries that share them */
    PIECE = 1024, /* keys that one thread takes at a time */
    FEW = 16      /* tokens; more are asked by chapter 15's way */
};

typedef float Vector __attribute__((vector_size(LANES * 4)));
typedef uint32_t Bits __attribute__((vector_size(LANES * 4)));
typedef uint16_t Halves __attribute__((vector_size(LANES * 2)));

#define INLINE inline __attribute__((always_inline))

static INLINE Vector widen(Format format, Halves halves)
{
    const Bits bits = __builtin_convertvector(halves, Bits);
    if (format == BFLOAT16)
        return (Vector)(bits << 16);
    const Vector x = (Vector)((bits & 0x7fff) << 13) * 0x1p112f;
    const Bits is_huge = (Bits)((bits & 0x7c00) == 0x7c00);
    return (Vector)((Bits)x | (bits & 0x8000) << 16 |
                    (is_huge & 0x7f800000));
}

float from_bfloat16(uint16_t bits)
{
    const Vector x = widen(BFLOAT16, (Halves){bits});
    return x[0];
}

float from_float16(uint16_t bits)
{
    const Vector x = widen(FLOAT16, (Halves){bits});
    return x[0];
}

/* Vector k of a row. */
static INLINE Vector load(Format format, const char *row, int k)
{
    Vector x;
    Halves halves;
    if (format == FLOAT32) {
        memcpy(&x, row + k * (int)sizeof x, sizeof x);
        return x;
    }
    memcpy(&halves, row + k * (int)sizeof halves, sizeof halves);
    return widen(format, halves);
}

static INLINE float sum_lanes(Vector x)
{
    typedef float Four __attribute__((vector_size(16)));
    union {
        Vector all;
        Four part[LANES / 4];
    } u = {x};
    Four sum = u.part[0];
    for (int i = 1; i < LANES / 4; i++)
        sum += u.part[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Queries that share their keys, and a block of these. */
typedef struct {
    int count, wide_k, wide_v;      /* how many, and vectors of a row */
    int64_t from[MANY], till[MANY]; /* the tokens that each may see */
    Vector *query, *mixture;        /* [count][wide_k], [count][wide_v] */
    float largest[MANY], sum[MANY];
    float scores[MANY][BLOCK];
} Group;

/* The scores of some queries, from number q on, with n keys in a row. */
static INLINE void dots(Format format, int queries, int n, const char *key,
                        int q, Group *g)
{
    const int wide = g->wide_k, bytes = LANES * (format ? 2 : 4);
    const Vector *query = g->query + q * wide;
    for (int j = 0; j < n; j++, key += wide * bytes) {
        Vector sum[4] = {{0}};
        for (int k = 0; k < wide; k++) {
            const Vector part = load(format, key, k);
            for (int i = 0; i < queries; i++)
                sum[i] += query[i * wide + k] * part;
        }
        for (int i = 0; i < queries; i++)
            g->scores[q + i][j] = sum_lanes(sum[i]);
    }
}

/* Adds the values to the mixtures: to so many parts, from part k on. */
static INLINE void mix_parts(Format format, int queries, int parts, int n,
                             const char *value, int q, int k, Group *g)
{
    const int wide = g->wide_v, bytes = LANES * (format ? 2 : 4);
    Vector *mixture = g->mixture + q * wide + k, sum[2][8];
    for (int i = 0; i < queries; i++)
        for (int p = 0; p < parts; p++)
            sum[i][p] = mixture[i * wide + p];
    for (int j = 0; j < n; j++, value += wide * bytes) {
        for (int b = 0; k == 0 && b < wide * bytes; b += 64)
            __builtin_prefetch(value + b); /* the row, in its order */
        for (int p = 0; p < parts; p++) {
            const Vector part = load(format, value, k + p);
            for (int i = 0; i < queries; i++)
                sum[i][p] += g->scores[q + i][j] * part;
        }
    }
    for (int i = 0; i < queries; i++)
        for (int p = 0; p < parts; p++)
            mixture[i * wide + p] = sum[i][p];
}

static INLINE void mixes(Format format, int queries, int n,
                         const char *value, int q, Group *g)
{
    int k = 0;
    for (; k + 8 <= g->wide_v; k += 8)
        mix_parts(format, queries, 8, n, value, q, k, g);
    for (; k + 4 <= g->wide_v; k += 4)
        mix_parts(format, queries, 4, n, value, q, k, g);
    for (; k < g->wide_v; k++)
        mix_parts(format, queries, 1, n, value, q, k, g);
}

/* Scores of query q with the n tokens from number j on become exponentials
 * of what they are above the largest. */
static void soften(int64_t j, int n, int q, Group *g)
{
    float *scores = g->scores[q], largest = g->largest[q];
    float most[LANES], sum[LANES] = {0};
    for (int k = 0; k < BLOCK; k++)
        if (k >= n || j + k < g->from[q] || j + k >= g->till[q])
            scores[k] = -INFINITY;
    for (int i = 0; i < LANES; i++)
        most[i] = largest;
    for (int k = 0; k < BLOCK; k += LANES)
        for (int i = 0; i < LANES; i++)
            most[i] = scores[k + i] > most[i] ? scores[k + i] : most[i];
    for (int i = 0; i < LANES; i++)
        largest = most[i] > largest ? most[i] : largest;
    for (int k = 0; k < BLOCK; k++)
        scores[k] = exp2_fast(scores[k] - largest);
    for (int k = 0; k < BLOCK; k += LANES)
        for (int i = 0; i < LANES; i++)
            sum[i] += scores[k + i];
    const float shrink = exp2_fast(g->largest[q] - largest);
    g->largest[q] = largest;
    g->sum[q] *= shrink;
    for (int i = 0; i < LANES; i++)
        g->sum[q] += sum[i];
    for (int k = 0; shrink != 1 && k < g->wide_v; k++)
        g->mixture[q * g->wide_v + k] *= shrink;
}

/* The group meets the n tokens from number j on. */
static INLINE void meet_as(Format format, int64_t j, int n, const char *key,
                           const char *value, Group *g)
{
    int q = 0;
    for (; q + 4 <= g->count; q += 4)
        dots(format, 4, n, key, q, g);
    for (; q < g->count; q++)
        dots(format, 1, n, key, q, g);
    for (q = 0; q < g->count; q++)
        soften(j, n, q, g);
    for (q = 0; q + 2 <= g->count; q += 2)
        mixes(format, 2, n, value, q, g);
    for (; q < g->count; q++)
        mixes(format, 1, n, value, q, g);
}

static void meet_tokens(const Cache *c, int head, int64_t j, int n,
                        Group *g)
{
    const int row = (int)(j % c->room);
    const char *key = row_at(c, c->key, c->wide_k, head, row);
    const char *value = row_at(c, c->value, c->wide_v, head, row);
    if (c->format == FLOAT32)
        meet_as(FLOAT32, j, n, key, value, g);
    else if (c->format == BFLOAT16)
        meet_as(BFLOAT16, j, n, key, value, g);
    else
        meet_as(FLOAT16, j, n, key, value, g);
}

/* Who asks: the last n tokens, in heads of which so many share their keys;
 * what they see, in pieces; and what each gets from each piece, [heads][n]
 * [pieces][d_v + 1], with the log-sum-exp in the last column. */
typedef struct {
    const Cache *cache;
    int n, sharing, pieces;
    int64_t first;
    Rows query;
    float *parts;
} Asked;

/* The group of queries from number q on, of those that share a head. */
static void begin(const Asked *a, int head, int q, Group *g)
{
    const Cache *c = a->cache;
    const float scale = 1.44269504f / sqrtf((float)c->d_k);
    memset(g->query, 0,
           (size_t)(g->count * (g->wide_k + g->wide_v)) * sizeof(Vector));
    for (int i = 0; i < g->count; i++, q++) {
        const int h = head * a->sharing + q / a->n;
        const float *query =
            a->query.at + h * a->query.head + q % a->n * a->query.token;
        float *to = (float *)(g->query + i * g->wide_k);
        for (int k = 0; k < c->d_k; k++)
            to[k] = scale * query[k];
        g->largest[i] = -FLT_MAX;
        g->sum[i] = 0;
        g->till[i] = c->count - a->n + q % a->n + 1;
        g->from[i] = c->window ? g->till[i] - c->window : 0;
    }
}

static void end(const Asked *a, int head, int q, int piece, const Group *g)
{
    const int d_v = a->cache->d_v;
    for (int i = 0; i < g->count; i++, q++) {
        const ptrdiff_t at =
            ((ptrdiff_t)head * a->sharing * a->n + q) * a->pieces + piece;
        float *part = a->parts + at * (d_v + 1);
        const float *mixture = (float *)(g->mixture + i * g->wide_v);
        for (int k = 0; k < d_v; k++)
            part[k] = mixture[k] / g->sum[i];
        part[d_v] = 0.693147181f * (g->largest[i] + log2f(g->sum[i]));
    }
}

/* What the queries from number q on get from a piece of a head's tokens. */
static void attend_piece(const Asked *a, int head, int q, int piece)
{
    const Cache *c = a->cache;
    const int left = a->sharing * a->n - q;
    Group g = {.count = left < MANY ? left : MANY,
               .wide_k = c->wide_k / LANES,
               .wide_v = c->wide_v / LANES};
    const int wide = g.wide_k + g.wide_v;
    g.query = aligned_alloc(sizeof(Vector),
                            (size_t)(g.count * wide) * sizeof(Vector));
    if (!g.query)
        REFUSE("%d queries do not fit into memory: fewer are needed",
               g.count);
    g.mixture = g.query + g.count * g.wide_k;
    begin(a, head, q, &g);
    const int64_t from = a->first + (int64_t)piece * PIECE;
    int64_t till = a->pieces > 1 ? from + PIECE : c->count;
    if (till > c->count)
        till = c->count;
    for (int64_t j = from, n; j < till; j += n) {
        const int64_t behind = c->room - j % c->room; /* rows to the end */
        n = till - j < BLOCK ? till - j : BLOCK;
        n = n < behind ? n : behind;
        meet_tokens(c, head, j, (int)n, &g);
    }
    end(a, head, q, piece, &g);
    free(g.query);
}

/* Joins what the queries have got from the pieces. */
static void join_pieces(const Asked *a, Rows context)
{
    const int d_v = a->cache->d_v,
              heads = a->cache->n_key_heads * a->sharing;
    float *part = a->parts;
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < a->n; i++) {
            float *got = part, log_sum = part[d_v];
            part += d_v + 1;
            for (int piece = 1; piece < a->pieces; piece++, part += d_v + 1)
                log_sum = join_parts(d_v, got, log_sum, part, part[d_v]);
            memcpy(context.at + h * context.head + i * context.token, got,
                   (size_t)d_v * sizeof *got);
        }
}

/* Chapter 15's way, for which a cache is keys and values as any others. */
static void attend_all(const Cache *c, int n_heads, int n, Rows query,
                       int threads, Rows context)
{
    attend_fast(&(Job){
        .texts = 1,
        .n_heads = n_heads,
        .n_key_heads = c->n_key_heads,
        .n = n,
        .m = (int)c->count,
        .d_k = c->d_k,
        .d_v = c->d_v,
        .see = see_past((int)c->count - n),
        .query = query,
        .key = {c->key, 0, (ptrdiff_t)c->room * c->wide_k, c->wide_k},
        .value = {c->value, 0, (ptrdiff_t)c->room * c->wide_v, c->wide_v},
        .context = context,
        .threads = threads});
}

void cache_attend(const Cache *c, int n_heads, int n, Rows query,
                  int threads, Rows context)
{
    cache_must_hold(c, n_heads, n, threads);
    if (!query.at || !context.at)
        REFUSE("rows that are not there: queries, and room for contexts, "
               "are needed");
    if (c->format == FLOAT32 && !c->window && n >= FEW) {
        attend_all(c, n_heads, n, query, threads, context);
        return;
    }
    Asked a = {c, n, n_heads / c->n_key_heads, 1, c->first, query, NULL};
    const int queries = a.sharing * n;
    if (c->window && a.first < c->count - n - c->window + 1)
        a.first = c->count - n - c->window + 1;
    const int64_t seen = c->count - a.first;
    if (queries <= MANY)
        a.pieces = (int)((seen + PIECE - 1) / PIECE);
    a.parts = new_table(n_heads * n * a.pieces, c->d_v + 1);
    threads = threads_for(n_heads * n * seen * (c->d_k + c->d_v), threads);
#pragma omp parallel for collapse(3) schedule(dynamic)                     \
    num_threads(threads) if (threads > 1)
    for (int h = 0; h < c->n_key_heads; h++)
        for (int q = 0; q < queries; q += MANY)
            for (int piece = 0; piece < a.pieces; piece++)
                attend_piece(&a, h, q, piece);
    join_pieces(&a, context);
    free(a.parts);
}

void cache_forget(Cache *c, int n)
{
    const int64_t left = c->count - n;
    const int64_t from = c->window ? left - c->window + 1 : 0;
    if (n < 0 || left < 0 || (left > from && from > 0 && from < c->first))
        REFUSE("to take %d of %" PRId64 " tokens back, the first of which "
               "that is there is number %" PRId64 ": fewer are needed",
               n, c->count, c->first);
    c->count = left;
    if (c->first > left)
        c->first = left;
}

int main(void)
{
    return 0;
}
