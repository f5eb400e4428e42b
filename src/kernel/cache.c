/* What chapter 16's kv_cache_attend does, at the speed of the memory. Few
 * tokens ask: each split of 1,024 keys is read once, in the order in which it
 * lies, for up to 32 queries that share a head of keys, and threads share
 * the splits. Where many ask, attend.c is faster, and what is kept is laid out
 * for it. Compiled once for each set; 16 shows its speed, 23 writes by it. */
#include "attention/kernel.h"
#include "attention/kv_cache.h"
#include "kernel/lanes.h"
#include "support/machine.h"
#include "support.h"

enum {
    SPLIT = 1024,       /* keys */
    GROUP_QUERIES = 32, /* queries of a group */
    FEW_TOKENS = 32, /* tokens; if more ask at once, the kernel is faster */
    VECTORS_AT_ONCE = 8 /* vectors of a mixture at a time */
};

typedef uint32_t Bits __attribute__((vector_size(LANES * 4)));
typedef int16_t Halves __attribute__((vector_size(LANES * 2)));

/* Sixteen bits as floats. First each gets 32 bits of its own, and its sign is
 * repeated in all that are added in front; where vectors are long, gcc 12
 * makes fewer instructions of the loop than of __builtin_convertvector. Of
 * bfloat16 only the empty lower half was missing. For float16, see
 * from_float16; is_huge is all ones in lanes where the comparison holds. */
static INLINE Vector widen(Format format, Halves halves)
{
    Bits bits = {0};
    if (LANES == 4)
        bits = __builtin_convertvector(halves, Bits);
    for (int i = 0; LANES > 4 && i < LANES; i++)
        bits[i] = (uint32_t)halves[i];
    if (format == FORMAT_BFLOAT16)
        return (Vector)(bits << 16);
    const Vector x = (Vector)(bits << 13 & 0x8fffe000) * 0x1p112f;
    const Bits is_huge = (Bits)((bits & 0x7c00) == 0x7c00);
    return (Vector)((Bits)x | (is_huge & 0x7f800000));
}

/* Vector k of a row. */
static INLINE Vector load_vector(Format format, const char *row, int k)
{
    Vector x;
    Halves halves;
    if (format == FORMAT_FLOAT32) {
        memcpy(&x, row + k * (int)sizeof x, sizeof x);
        return x;
    }
    memcpy(&halves, row + k * (int)sizeof halves, sizeof halves);
    return widen(format, halves);
}

/* Adds a vector up across. */
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

/* The scores of some queries with n keys in a row: those of query i from
 * scores[i * SPLIT] on. */
static INLINE void dots(Format format, int queries, int wide, int n,
                        const Vector *query, const char *key, float *scores)
{
    const int bytes = LANES * (format ? 2 : 4);
    for (int j = 0; j < n; j++, key += wide * bytes) {
        Vector sum[4] = {{0}};
        for (int k = 0; k < wide; k++) {
            const Vector entries = load_vector(format, key, k);
            for (int i = 0; i < queries; i++)
                sum[i] += query[i * wide + k] * entries;
        }
        for (int i = 0; i < queries; i++)
            scores[i * SPLIT + j] = sum_lanes(sum[i]);
    }
}

/* Adds n values in a row to some mixtures: to their vectors from k on. */
static INLINE void mix_vectors(Format format, int queries, int vectors,
                               int wide, int n, const float *weights,
                               const char *value, int k, Vector *mixture)
{
    const int bytes = LANES * (format ? 2 : 4);
    const int ahead = k == 0 && wide > vectors ? wide * bytes : 0;
    Vector sum[2][VECTORS_AT_ONCE];
    mixture += k;
    value += k * bytes;
    for (int i = 0; i < queries; i++)
        for (int p = 0; p < vectors; p++)
            sum[i][p] = mixture[i * wide + p];
    for (int j = 0; j < n; j++, value += wide * bytes) {
        for (int b = 0; b < ahead; b += 64)
            __builtin_prefetch(value + b);
        for (int p = 0; p < vectors; p++) {
            const Vector entries = load_vector(format, value, p);
            for (int i = 0; i < queries; i++)
                sum[i][p] += weights[i * SPLIT + j] * entries;
        }
    }
    for (int i = 0; i < queries; i++)
        for (int p = 0; p < vectors; p++)
            mixture[i * wide + p] = sum[i][p];
}

/* Queries that share their keys. */
typedef struct {
    int count, vectors_k, vectors_v; /* how many, and vectors of a row */
    /* The tokens that each may see. */
    int64_t from[GROUP_QUERIES], till[GROUP_QUERIES];
    Vector *query, *mixture; /* [count][vectors_k], [count][vectors_v] */
    float (*scores)[SPLIT];  /* [count], then weights */
    float factor, largest[GROUP_QUERIES], sum[GROUP_QUERIES];
} QueryGroup;

/* The products of query q with the n tokens from number `first` on become
 * exponentials of what their scores are above the largest. */
static void group_softmax(int64_t first, int n, int q, QueryGroup *g)
{
    const int64_t from = g->from[q] - first, till = g->till[q] - first;
    const int end = (n + LANES - 1) / LANES * LANES;
    float *scores = g->scores[q], largest = -FLT_MAX, most[LANES];
    Vector sum = {0};
    for (int j = 0; j < end && j < from; j++)
        scores[j] = -INFINITY;
    for (int64_t j = till > 0 ? till : 0; j < end; j++)
        scores[j] = -INFINITY;
    for (int i = 0; i < LANES; i++)
        most[i] = largest;
    for (int j = 0; j < end; j += LANES)
        for (int i = 0; i < LANES; i++)
            most[i] = scores[j + i] > most[i] ? scores[j + i] : most[i];
    for (int i = 0; i < LANES; i++)
        largest = most[i] > largest ? most[i] : largest;
    for (int j = 0; j < end; j++)
        scores[j] = g->factor * (scores[j] - largest);
    exp2_all(end, scores);
    for (int j = 0; j < end / LANES; j++)
        sum += load_vector(FORMAT_FLOAT32, (char *)scores, j);
    g->largest[q] = largest;
    g->sum[q] = sum_lanes(sum);
}

/* All scores of a run of rows, four queries at a time. */
static INLINE void score_run(Format format, int n, const char *key, int at,
                             QueryGroup *g)
{
    const int wide = g->vectors_k;
    int q = 0;
    for (; q + 4 <= g->count; q += 4)
        dots(format, 4, wide, n, g->query + q * wide, key,
             (float *)g->scores + q * SPLIT + at);
    for (; q < g->count; q++)
        dots(format, 1, wide, n, g->query + q * wide, key,
             (float *)g->scores + q * SPLIT + at);
}

/* The mixtures, two queries at a time, eight vectors of each. */
static INLINE void mix_run(Format format, int queries, int n,
                           const char *value, int at, int q, QueryGroup *g)
{
    const float *weights = (float *)g->scores + q * SPLIT + at;
    const int wide = g->vectors_v;
    Vector *mixture = g->mixture + q * wide;
    int k = 0;
    for (; k + VECTORS_AT_ONCE <= wide; k += VECTORS_AT_ONCE)
        mix_vectors(format, queries, VECTORS_AT_ONCE, wide, n, weights,
                    value, k, mixture);
    for (; k + 4 <= wide; k += 4)
        mix_vectors(format, queries, 4, wide, n, weights, value, k,
                    mixture);
    for (; k < wide; k++)
        mix_vectors(format, queries, 1, wide, n, weights, value, k,
                    mixture);
}

/* How many rows lie in a row from token j on, up to token till. */
static int run_length(const KVCache *c, int64_t j, int64_t till)
{
    const int64_t behind = c->capacity - j % c->capacity;
    return (int)(till - j < behind ? till - j : behind);
}

/* A group meets a split: its scores, softmax of each query, its mixtures.
 * Where the ring ends, one run of rows ends and the next one begins, at row
 * 0. For each format the compiler makes a function of its own. */
static INLINE void group_add_split(Format format, const KVCache *c,
                                   int head, int64_t from, int64_t till,
                                   QueryGroup *g)
{
    for (int64_t j = from, n; j < till; j += n) {
        const int row = (int)(j % c->capacity);
        n = run_length(c, j, till);
        score_run(format, (int)n,
                  kv_cache_row(c, c->key, c->padded_d_k, head, row),
                  (int)(j - from), g);
    }
    for (int q = 0; q < g->count; q++)
        group_softmax(from, (int)(till - from), q, g);
    for (int64_t j = from, n; j < till; j += n) {
        const int row = (int)(j % c->capacity), at = (int)(j - from);
        const char *value =
            kv_cache_row(c, c->value, c->padded_d_v, head, row);
        int q = 0;
        n = run_length(c, j, till);
        for (; q + 2 <= g->count; q += 2)
            mix_run(format, 2, (int)n, value, at, q, g);
        for (; q < g->count; q++)
            mix_run(format, 1, (int)n, value, at, q, g);
    }
}

/* Who asks: the last n tokens, in heads of which so many share their keys;
 * what they see, in splits, from token `first` on; and what each gets from
 * each split, [heads][n][splits][d_v + 2]: a mixture, and in the last
 * columns the largest product and the sum. */
typedef struct {
    const KVCache *cache;
    int n, sharing, splits;
    int64_t first;
    float scale, factor; /* of queries, and of their products */
    StridedRows query;
    float *partial;
} CacheCall;

/* The group of queries from number q on, of those that share a head. */
static void group_init(const CacheCall *a, int head, int q, QueryGroup *g)
{
    const KVCache *c = a->cache;
    g->factor = a->factor;
    memset(g->query, 0,
           (size_t)(g->count * (g->vectors_k + g->vectors_v)) *
               sizeof(Vector));
    for (int i = 0; i < g->count; i++, q++) {
        const int h = head * a->sharing + q / a->n;
        const float *query = row_at(&a->query, 0, h, q % a->n);
        float *to = (float *)(g->query + i * g->vectors_k);
        for (int k = 0; k < c->d_k; k++)
            to[k] = a->scale * query[k];
        g->till[i] = c->count - a->n + q % a->n + 1;
        g->from[i] = c->window ? g->till[i] - c->window : 0;
    }
}

/* Writes down what each query has got from a split, with its largest product
 * and its sum, by which merge_split weighs it. (A log-sum-exp would do, but
 * of large scores a float keeps few digits.) */
static void group_store(const CacheCall *a, int head, int q, int split,
                        const QueryGroup *g)
{
    const int d_v = a->cache->d_v;
    for (int i = 0; i < g->count; i++, q++) {
        const ptrdiff_t at =
            ((ptrdiff_t)head * a->sharing * a->n + q) * a->splits + split;
        float *partial = a->partial + at * (d_v + 2);
        memcpy(partial, g->mixture + i * g->vectors_v,
               (size_t)d_v * sizeof *partial);
        partial[d_v] = g->largest[i];
        partial[d_v + 1] = g->sum[i];
    }
}

/* What the queries from number q on get from a split of a head's tokens. */
static void attend_split(const CacheCall *a, int head, int q, int split)
{
    const KVCache *c = a->cache;
    const int left = a->sharing * a->n - q;
    const int64_t from = a->first + (int64_t)split * SPLIT;
    const int64_t till = c->count - from < SPLIT ? c->count : from + SPLIT;
    QueryGroup g = {.count = left < GROUP_QUERIES ? left : GROUP_QUERIES,
                    .vectors_k = c->padded_d_k / LANES,
                    .vectors_v = c->padded_d_v / LANES};
    const int wide = g.vectors_k + g.vectors_v + SPLIT / LANES;
    g.query = new_aligned((size_t)(g.count * wide), sizeof(Vector));
    g.mixture = g.query + g.count * g.vectors_k;
    g.scores = (float(*)[SPLIT])(g.mixture + g.count * g.vectors_v);
    group_init(a, head, q, &g);
    if (c->format == FORMAT_FLOAT32)
        group_add_split(FORMAT_FLOAT32, c, head, from, till, &g);
    else if (c->format == FORMAT_BFLOAT16)
        group_add_split(FORMAT_BFLOAT16, c, head, from, till, &g);
    else
        group_add_split(FORMAT_FLOAT16, c, head, from, till, &g);
    group_store(a, head, q, split, &g);
    free(g.query);
}

/* Adds what a query has got from another split, as merge_contexts does. */
static void merge_split(float factor, int d_v, float got[d_v + 2],
                        const float other[d_v + 2])
{
    const float largest = got[d_v] > other[d_v] ? got[d_v] : other[d_v];
    const float mine = exp2_fast(factor * (got[d_v] - largest));
    const float its = exp2_fast(factor * (other[d_v] - largest));
    for (int k = 0; k < d_v + 2; k++)
        got[k] = mine * got[k] + its * other[k];
    got[d_v] = largest;
}

static void merge_splits(const CacheCall *a, StridedRows context)
{
    const int d_v = a->cache->d_v,
              heads = a->cache->n_kv_heads * a->sharing;
    float *next = a->partial;
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < a->n; i++) {
            float *got = next, *to = row_at(&context, 0, h, i);
            next += d_v + 2;
            for (int split = 1; split < a->splits; split++, next += d_v + 2)
                merge_split(a->factor, d_v, got, next);
            for (int k = 0; k < d_v; k++)
                to[k] = got[k] / got[d_v + 1];
        }
}

/* All groups meet all splits; collapse(3) makes one list of the three loops.
 * The scale is taken apart as in attend.c. */
static void attend_few(const KVCache *c, int n_heads, int n,
                       StridedRows query, int threads, StridedRows context)
{
    CacheCall a = {.cache = c, .n = n, .query = query};
    int power;
    a.factor = log2_e * frexpf(1 / sqrtf((float)c->d_k), &power);
    a.scale = ldexpf(1, power);
    a.sharing = n_heads / c->n_kv_heads;
    const int queries = a.sharing * n;
    if (c->window && c->count - n >= c->window)
        a.first = c->count - n - c->window + 1;
    const int64_t seen = c->count - a.first;
    a.splits = (int)((seen + SPLIT - 1) / SPLIT);
    size_t count = 0;
    next_table(NULL, &count, n_heads * n, a.splits, c->d_v + 2);
    a.partial = new_block(count);
    threads = threads_for(
        (double)n_heads * n * (double)seen * (c->d_k + c->d_v), threads);
#pragma omp parallel for collapse(3) schedule(dynamic)                     \
    num_threads(threads) if (threads > 1)
    for (int h = 0; h < c->n_kv_heads; h++)
        for (int split = 0; split < a.splits; split++)
            for (int q = 0; q < queries; q += GROUP_QUERIES)
                attend_split(&a, h, q, split);
    merge_splits(&a, context);
    free(a.partial);
}

/* The rows of all heads, for m tokens from number `from` on. The kernel wants
 * floats, in the order of their tokens; so what is kept in 16 bits or in a
 * ring is copied for as long as it works. */
static StridedRows copy_as_floats(const KVCache *c, void *rows, int wide,
                                  int64_t from, int m)
{
    const size_t size = (size_t)(wide / LANES) * (size_t)m;
    if (c->format == FORMAT_FLOAT32 && !c->window)
        return (StridedRows){rows, 0, (ptrdiff_t)c->capacity * wide, wide};
    Vector *all = new_aligned((size_t)c->n_kv_heads * size, sizeof *all);
    Vector *to = all;
    for (int h = 0; h < c->n_kv_heads; h++)
        for (int j = 0; j < m; j++) {
            const char *row = kv_cache_row(c, rows, wide, h,
                                           (int)((from + j) % c->capacity));
            for (int k = 0; k < wide / LANES; k++)
                *to++ = load_vector(c->format, row, k);
        }
    return (StridedRows){(float *)all, 0, (ptrdiff_t)m * wide, wide};
}

/* The call's n tokens ask, of which the first has number `at`. A window is a
 * table of what is seen. */
static void attend_many(const KVCache *c, int64_t at, AttentionCall call)
{
    const int64_t first = c->window ? at - c->window + 1 : 0;
    const int64_t from = first > 0 ? first : 0;
    const int own = (int)(at - from), m = own + call.n;
    float *seen = c->window ? new_table(call.n, m) : NULL;
    for (int i = 0; seen && i < call.n; i++)
        for (int j = 0; j < m; j++)
            seen[(ptrdiff_t)i * m + j] =
                j <= own + i && own + i - j < c->window;
    call.m = m;
    call.mask =
        seen ? mask_table(call.n, m, ROWS(m, seen)) : mask_causal(own);
    call.key = copy_as_floats(c, c->key, c->padded_d_k, from, m);
    call.value = copy_as_floats(c, c->value, c->padded_d_v, from, m);
    attend_fast(&call);
    if (call.key.at != c->key) {
        free(call.key.at);
        free(call.value.at);
    }
    free(seen);
}

void kv_cache_attend_fast(const KVCache *c, int n_heads, int n,
                          StridedRows query, int threads,
                          StridedRows context)
{
    kv_cache_attend_check(c, n_heads, n, query, context);
    if (threads < 0)
        REFUSE("%d threads: at least 1, or 0 for all, are needed", threads);
    const int few = c->format || c->window ? 2 * FEW_TOKENS : FEW_TOKENS;
    if (n < few)
        attend_few(c, n_heads, n, query, threads, context);
    const int most = c->window ? 256 : n;
    for (int i = 0; n >= few && i < n; i += most) {
        AttentionCall call = {.texts = 1, .query = query};
        call.n_heads = n_heads;
        call.n_kv_heads = c->n_kv_heads;
        call.n = min_int(most, n - i);
        call.d_k = c->d_k;
        call.d_v = c->d_v;
        call.context = context;
        call.threads = threads;
        call.query.at += i * query.token_stride;
        call.context.at += i * context.token_stride;
        attend_many(c, c->count - n + i, call);
    }
}
