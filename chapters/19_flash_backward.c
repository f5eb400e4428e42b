/*
# The way back, in tiles {#flash-backward}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
*/

void weights_again(int n, int m, const float log_sum[n], float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] =
                log_sum[i] == -INFINITY ? 0 : expf(x[i][j] - log_sum[i]);
}

/*
*/

void mean_slopes(int n, int d_v, const float log_sum[n],
                 const float context[n][d_v], const float g_context[n][d_v],
                 float mean[n])
{
    for (int i = 0; i < n; i++)
        mean[i] = log_sum[i] == -INFINITY
                      ? 0
                      : dot(d_v, g_context[i], context[i]);
}

/*
*/

/* From the slopes of weights to those of their scores, in place. */
static void slopes_of_scores(int n, int m, const float weights[n][m],
                             const float mean[n], float g[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            g[i][j] = weights[i][j] * (g[i][j] - mean[i]);
}

/*
*/

enum { SIDE = 32 }; /* queries and keys of a piece, at most */

void flash_backward(int n, int m, int d_k, int d_v, Mask see,
                    const float query[n][d_k], const float key[m][d_k],
                    const float value[m][d_v], const float context[n][d_v],
                    const float log_sum[n], const float g_context[n][d_v],
                    float g_query[n][d_k], float g_key[m][d_k],
                    float g_value[m][d_v])
{
    mask_must_fit(n, m, see);
    for (int i = 0; i < n; i += SIDE) {
        const int rows = least(SIDE, n - i);
        float mean[SIDE], memory[2][SIDE * SIDE];
        mean_slopes(rows, d_v, log_sum + i, context + i, g_context + i,
                    mean);
        for (int j = 0; j < m && is_seen(see, i + rows - 1, j); j += SIDE) {
            const int cols = least(SIDE, m - j);
            float(*weights)[cols] = (void *)memory[0];
            float(*g)[cols] = (void *)memory[1];
            memset(g, 0, sizeof memory[1]);
            dot_scores(rows, cols, d_k, query + i, key + j, weights);
            scale_scores(rows, cols, d_k, weights);
            mask_piece(see, i, j, rows, cols, weights);
            weights_again(rows, cols, log_sum + i, weights);
            matmul_backward(rows, d_v, cols, weights, value + j,
                            g_context + i, g, g_value + j);
            slopes_of_scores(rows, cols, weights, mean, g);
            scale_scores(rows, cols, d_k, g);
            dot_scores_backward(rows, cols, d_k, query + i, key + j, g,
                                g_query + i, g_key + j);
        }
    }
}

/*
*/

enum {
    BLOCK = 64,           /* queries that meet a tile of keys at a time */
    TILES = 144 / COLUMNS /* tiles that a block meets in a row */
};
typedef float Columns[COLUMNS];

typedef struct {
    int first, count;         /* which keys of their head */
    Columns *key, *value;     /* [d_k], [d_v] */
    Columns *g_key, *g_value; /* [d_k], [d_v] */
} Tile;

typedef struct {
    int text, head, first, count; /* whose queries, and which */
    View query, g_context;        /* [count][d_k], [count][d_v] */
    const float *log_sum, *mean;  /* [count], the first in base 2 */
    Columns *weights, *g;         /* [count], with a tile */
} Queries;

/* Scores that a query may not see become minus infinity. */
static void hide(const Job *job, const Queries *q, int i, const Tile *t);

/* slopes_of_scores, which are also put aside, for g_query. */
static void through_softmax(const Job *job, const Queries *q, int i,
                            const Tile *t, Columns (*aside)[TILES]);

static View turned(View a)
{
    return (View){a.at, a.column, a.row};
}

/* The queries from number i of a block on meet a tile. */
static void meet(const Job *job, const Queries *q, int i, const Tile *t,
                 Columns (*aside)[TILES])
{
    const int d_k = job->d_k, d_v = job->d_v;
    const int rows = q->count - i, keys = t->count;
    const View query = from_row(q->query, i);
    const View g_context = from_row(q->g_context, i);
    multiply_columns(rows, keys, d_k, query, t->key, 0, q->weights);
    hide(job, q, i, t);
    exp2_columns(rows, keys, q->log_sum + i, q->weights);
    multiply_columns(rows, keys, d_v, g_context, t->value, 0, q->g);
    through_softmax(job, q, i, t, aside);
    multiply_columns(d_v, keys, rows, turned(g_context), q->weights, 1,
                     t->g_value);
    multiply_columns(d_k, keys, rows, turned(query), q->g, 1, t->g_key);
}

/*
*/

int partner(int parts, int keys, int round)
{
    const int next = keys + round;
    return next < parts ? next : next - parts;
}

/*
*/

typedef struct Way Way;
typedef struct Desk Desk;

static Desk *desk_for(const Job *job);

/* In a head of keys, a part of the keys meets a part of the queries. */
static void meet_part(const Way *way, Desk *desk, int64_t head, int keys,
                      int queries);

static void meet_all(const Way *way, const Job *job, int64_t heads,
                     int parts, int threads)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        Desk *desk = desk_for(job);
        for (int round = 0; round < parts; round++) {
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < heads * parts; i++)
                meet_part(way, desk, i / parts, (int)(i % parts),
                          partner(parts, (int)(i % parts), round));
        }
        free(desk);
    }
}

/*
*/

static void show_flash_backward(void)
{
    printf("flash_backward\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
flash_backward
```

## In PyTorch {#flash-backward-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("flash_backward")
```

## Everything together
*/

int main(void)
{
    show_flash_backward();
    return 0;
}

/*
## Solutions
*/

void log_sum_backward(int n, int m, const float scores[n][m],
                      const float log_sum[n], const float g_log_sum[n],
                      float g_scores[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (log_sum[i] != -INFINITY)
                g_scores[i][j] +=
                    g_log_sum[i] * expf(scores[i][j] - log_sum[i]);
}

/*
## The rest of the program {#flash-backward-rest}
*/

struct Way {
    const Job *job;
    Rows g_context, g_query, g_key, g_value;
    float scale;
    int key_heads, size;   /* heads of keys in a text; tokens in a part */
    float *log_sum, *mean; /* [texts][n_heads][n], the first in base 2 */
};

struct Desk {
    int text, key_head, first, count; /* whose keys, and which */
    Tile tile[TILES];
    Columns *entries;        /* [rows of d_k][count]: a key in each */
    Columns *weights, *g;    /* [BLOCK] */
    Columns (*aside)[TILES]; /* [BLOCK] */
    Columns *g_query;        /* [rows of d_k][BLOCK] */
    float *copies;
};

enum { GAP = 16 }; /* between the rows of copies */

static const float log2_e = 1.44269504f;

/* In how many rows of columns d entries lie. */
static int rows_of(int d)
{
    return (d + COLUMNS - 1) / COLUMNS;
}

static Desk *desk_for(const Job *job)
{
    const int d_k = job->d_k, d_v = job->d_v, deep = 2 * (d_k + d_v);
    const int copied = BLOCK * (d_k + d_v + 2 * GAP);
    const int own = rows_of(sizeof(Desk) / sizeof(float));
    Columns *at =
        new_aligned((size_t)(own + TILES * deep + (2 + TILES) * BLOCK +
                             rows_of(d_k) * (TILES * COLUMNS + BLOCK) +
                             rows_of(copied)),
                    sizeof *at);
    Desk *desk = (void *)at;
    at += own;
    for (int i = 0; i < TILES; i++, at += deep)
        desk->tile[i] = (Tile){.key = at,
                               .value = at + d_k,
                               .g_key = at + d_k + d_v,
                               .g_value = at + 2 * d_k + d_v};
    desk->weights = at;
    desk->g = desk->weights + BLOCK;
    desk->aside = (void *)(desk->g + BLOCK);
    desk->g_query = (void *)(desk->aside + BLOCK);
    desk->entries = desk->g_query + rows_of(d_k) * BLOCK;
    desk->copies = (void *)(desk->entries + rows_of(d_k) * TILES * COLUMNS);
    return desk;
}

/*
What hides scores, or multiplies weights, are tables with a row for each
query.
*/

static void use_table(char how, const Rows *table, const Queries *q, int i,
                      const Tile *t, Columns *x)
{
    for (int k = 0; i + k < q->count; k++) {
        const float *y =
            row_at(table, q->text, q->head, q->first + i + k) + t->first;
        for (int l = 0; l < t->count; l++)
            x[k][l] = how == '*'   ? x[k][l] * y[l]
                      : how == '+' ? x[k][l] + log2_e * y[l]
                      : y[l] != 0  ? x[k][l]
                                   : -INFINITY;
    }
}

static void hide(const Job *job, const Queries *q, int i, const Tile *t)
{
    const Rows table = {(float *)job->see.table, 0, 0, job->see.m};
    const int64_t place = (int64_t)job->see.first + q->first + i - t->first;
    if (job->bias.at)
        use_table('+', &job->bias, q, i, t, q->weights);
    if (job->see.kind == MASK_TABLE)
        use_table('0', &table, q, i, t, q->weights);
    if (job->see.kind == MASK_CAUSAL)
        for (int k = 0; i + k < q->count && place + k < t->count - 1; k++)
            for (int l = 0; l < COLUMNS; l++)
                q->weights[k][l] =
                    l > place + k ? -INFINITY : q->weights[k][l];
}

static void through_softmax(const Job *job, const Queries *q, int i,
                            const Tile *t, Columns (*aside)[TILES])
{
    if (job->kept.at)
        use_table('*', &job->kept, q, i, t, q->g);
    for (int k = 0; i + k < q->count; k++) {
        const float mean = q->mean[i + k];
        for (int l = 0; l < COLUMNS; l++)
            aside[k][0][l] = q->g[k][l] =
                q->weights[k][l] * (q->g[k][l] - mean);
    }
    if (job->kept.at)
        use_table('*', &job->kept, q, i, t, q->weights);
}

/*
A block
*/

/* Copies of n rows from number i on. */
static View copied(const Rows *rows, int text, int head, int i, int n,
                   int d, float *to)
{
    for (int k = 0; k < n; k++)
        memcpy(to + k * (d + GAP), row_at(rows, text, head, i + k),
               (size_t)d * sizeof *to);
    return (View){to, d + GAP, 1};
}

static Queries ask(const Way *way, const Desk *desk, int head, int first,
                   int count)
{
    const Job *job = way->job;
    const ptrdiff_t number = (ptrdiff_t)desk->text * job->n_heads + head;
    const ptrdiff_t at = number * job->n + first;
    return (Queries){.text = desk->text,
                     .head = head,
                     .first = first,
                     .count = count,
                     .query = copied(&job->query, desk->text, head, first,
                                     count, job->d_k, desk->copies),
                     .g_context = copied(
                         &way->g_context, desk->text, head, first, count,
                         job->d_v, desk->copies + BLOCK * (job->d_k + GAP)),
                     .log_sum = way->log_sum + at,
                     .mean = way->mean + at,
                     .weights = desk->weights,
                     .g = desk->g};
}

/* How many of the queries from number i on come before all that see a key
 * from number j on. */
static int blind(Mask see, int i, int n, int j)
{
    const int64_t before = (int64_t)j - see.first - i;
    return see.kind != MASK_CAUSAL || before < 0 ? 0
           : before < n                          ? (int)before
                                                 : n;
}

/* Adds g_query, of which k / COLUMNS rows of columns hold the entries. */
static void answer(const Way *way, const Desk *desk, const Queries *q)
{
    const int d_k = way->job->d_k;
    for (int i = 0; i < q->count; i++) {
        float *to = row_at(&way->g_query, q->text, q->head, q->first + i);
        const Columns *g = desk->g_query + i;
        for (int k = 0; k < d_k; k += COLUMNS, g += BLOCK)
            for (int l = 0; l < least(COLUMNS, d_k - k); l++)
                to[k + l] += (*g)[l];
    }
}

static void meet_tiles(const Way *way, const Desk *desk, const Queries *q)
{
    const int d_k = way->job->d_k;
    int keys = 0;
    for (int i = 0; keys < desk->count; i++) {
        const Tile *t = &desk->tile[i];
        const int before =
            blind(way->job->see, q->first, q->count, t->first);
        if (before == q->count)
            break;
        for (int k = 0; k < before; k++)
            memset(desk->aside[k][i], 0, sizeof(Columns));
        meet(way->job, q, before, t, (void *)&desk->aside[before][i]);
        keys += t->count;
    }
    const View g = {desk->aside[0][0], TILES * COLUMNS, 1};
    for (int k = 0; k < rows_of(d_k); k++)
        multiply_columns(q->count, least(COLUMNS, d_k - k * COLUMNS), keys,
                         g, desk->entries + k * desk->count, 0,
                         desk->g_query + k * BLOCK);
    answer(way, desk, q);
}

/*
Keys
*/

static void begin(const Way *way, Desk *desk, int first, int count)
{
    const Job *job = way->job;
    const int d_k = job->d_k, d_v = job->d_v;
    const float *key = row_at(&job->key, desk->text, desk->key_head, first);
    const float *value =
        row_at(&job->value, desk->text, desk->key_head, first);
    desk->first = first;
    desk->count = count;
    for (int j = 0; j < count; j += COLUMNS) {
        Tile *t = &desk->tile[j / COLUMNS];
        t->first = first + j;
        t->count = least(COLUMNS, count - j);
        memset(t->key, 0, (size_t)(2 * (d_k + d_v)) * sizeof *t->key);
        turn(t->count, d_k, log2_e * way->scale, key + j * job->key.token,
             job->key.token, t->key[0], COLUMNS);
        turn(t->count, d_v, 1, value + j * job->value.token,
             job->value.token, t->value[0], COLUMNS);
    }
    for (int k = 0; k < rows_of(d_k); k++)
        for (int j = 0; j < count; j++) {
            const float *from = key + j * job->key.token + k * COLUMNS;
            Columns *to = desk->entries + k * count + j;
            for (int l = 0; l < least(COLUMNS, d_k - k * COLUMNS); l++)
                (*to)[l] = way->scale * from[l];
        }
}

/* Adds to the rows of a tile's keys what stands in its columns. */
static void add_turned(const Desk *desk, const Tile *t, int d, float factor,
                       const Columns g[d], const Rows *rows)
{
    turn(d, t->count, factor, g[0], COLUMNS, desk->copies, d);
    for (int j = 0; j < t->count; j++) {
        const float *from = desk->copies + j * d;
        float *to = row_at(rows, desk->text, desk->key_head, t->first + j);
        for (int k = 0; k < d; k++)
            to[k] += from[k];
    }
}

static void end(const Way *way, const Desk *desk)
{
    const Job *job = way->job;
    for (int i = 0; i < rows_of(desk->count); i++) {
        const Tile *t = &desk->tile[i];
        add_turned(desk, t, job->d_k, way->scale, t->g_key, &way->g_key);
        add_turned(desk, t, job->d_v, 1, t->g_value, &way->g_value);
    }
}

static void meet_part(const Way *way, Desk *desk, int64_t head, int keys,
                      int queries)
{
    const Job *job = way->job;
    const int sharing = job->n_heads / way->key_heads;
    const int i = queries * way->size, n = least(way->size, job->n - i);
    const int m = least(way->size, job->m - keys * way->size);
    desk->text = (int)(head / way->key_heads);
    desk->key_head = (int)(head % way->key_heads);
    for (int j = 0; j < m; j += TILES * COLUMNS) {
        const int first = keys * way->size + j;
        const int before = n > 0 ? blind(job->see, i, n, first) : n;
        if (before >= n)
            break;
        begin(way, desk, first, least(TILES * COLUMNS, m - j));
        for (int h = 0; h < sharing; h++)
            for (int k = before; k < n; k += BLOCK) {
                const Queries q =
                    ask(way, desk, desk->key_head * sharing + h, i + k,
                        least(BLOCK, n - k));
                meet_tiles(way, desk, &q);
            }
        end(way, desk);
    }
}

/*
*/

/* The sum of products, in lanes. */
static float dot_in_lanes(int d, const float a[d], const float b[d])
{
    float sum[16] = {0};
    int k = 0;
    for (; k + 16 <= d; k += 16)
        for (int l = 0; l < 16; l++)
            sum[l] += a[k + l] * b[k + l];
    for (; k < d; k++)
        sum[0] += a[k] * b[k];
    for (int l = 1; l < 16; l++)
        sum[0] += sum[l];
    return sum[0];
}

/* What each query needs once: weights_again and mean_slopes for all. */
static void prepare(Way *way)
{
    const Job *job = way->job;
    const int heads = job->texts * job->n_heads;
    const float *log_sum = job->log_sum;
    float *at = new_aligned((size_t)heads * (size_t)job->n, 2 * sizeof *at);
    way->log_sum = at;
    way->mean = at + (ptrdiff_t)heads * job->n;
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < job->n; i++, at++, log_sum++) {
            const int text = h / job->n_heads, head = h % job->n_heads;
            const int is_blind = *log_sum == -INFINITY;
            *at = is_blind ? INFINITY : log2_e * *log_sum;
            at[heads * job->n] =
                is_blind
                    ? 0
                    : dot_in_lanes(job->d_v,
                                   row_at(&way->g_context, text, head, i),
                                   row_at(&job->context, text, head, i));
        }
}

/* The tokens of a part: by the shape alone, and not by the threads, so that
 * what is added comes in the same order with any number of them. */
static int size_of_part(int64_t heads, int tokens)
{
    int size = 2048;
    while (size > 512 && heads * ((tokens - 1) / size + 1) < 8)
        size /= 2;
    return size;
}

void attend_fast_backward(const Job *job, Rows g_context, Rows g_query,
                          Rows g_key, Rows g_value)
{
    const int tokens = job->n > job->m ? job->n : job->m;
    job_gradients_must_fit(job, g_context, g_query, g_key, g_value);
    Way way = {.job = job,
               .g_context = g_context,
               .g_query = g_query,
               .g_key = g_key,
               .g_value = g_value};
    way.scale = job->scale ? job->scale : 1 / sqrtf((float)job->d_k);
    way.key_heads = job->n_key_heads ? job->n_key_heads : job->n_heads;
    const int64_t heads = (int64_t)job->texts * way.key_heads;
    way.size = size_of_part(heads, tokens);
    prepare(&way);
    meet_all(&way, job, heads, (tokens - 1) / way.size + 1,
             threads_for((double)job->texts * job->n_heads * job->n *
                             job->m * (job->d_k + job->d_v),
                         job->threads));
    free(way.log_sum);
}

/*
## A whole attention, fast {#flash-backward-attention}
*/

void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float g_out[n][l->d_out], Linear *g_l,
                          float g_x[n][l->d_in])
{
    const int d_in = l->d_in, d_out = l->d_out;
    layer_gradient_must_fit(l, g_l);
    best_kernel()->multiply(n, d_in, d_out, (View){g_out[0], d_out, 1},
                            (View){l->weight, d_in, 1},
                            (View){g_x[0], d_in, 1}, g_x);
    best_kernel()->multiply(
        d_out, d_in, n, (View){g_out[0], 1, d_out}, (View){x[0], d_in, 1},
        (View){g_l->weight, d_in, 1}, (void *)g_l->weight);
    for (int i = 0; l->bias && i < n; i++)
        for (int j = 0; j < d_out; j++)
            g_l->bias[j] += g_out[i][j];
}

/* The heads lie side by side. */
static Rows heads_of(const Attention *a, int n, int d, const float *at)
{
    return rows_by_token(a->n_heads, n, d, at);
}

static Job job_of(const Attention *a, Mask see, int texts, int n,
                  const Trace *t)
{
    return (Job){.texts = texts,
                 .n_heads = a->n_heads,
                 .n = n,
                 .m = n,
                 .d_k = a->d_k,
                 .d_v = a->d_v,
                 .see = see,
                 .query = heads_of(a, n, a->d_k, t->query),
                 .key = heads_of(a, n, a->d_k, t->key),
                 .value = heads_of(a, n, a->d_v, t->value),
                 .context = heads_of(a, n, a->d_v, t->joined),
                 .log_sum = t->log_sum};
}

void attention_forward_fast(const Attention *a, Mask see, int texts, int n,
                            const float x[texts * n][a->d_x], Trace *t)
{
    const int rows = texts * n;
    texts_must_fit(a, texts, n, t);
    const Job job = job_of(a, see, texts, n, t);
    job_must_fit(&job);
    linear_forward_fast(&a->query, rows, x, (void *)t->query);
    linear_forward_fast(&a->key, rows, x, (void *)t->key);
    linear_forward_fast(&a->value, rows, x, (void *)t->value);
    best_kernel()->attend(&job);
    if (a->d_out)
        linear_forward_fast(&a->out, rows, (void *)t->joined,
                            (void *)t->out);
}

void attention_backward_fast(const Attention *a, Mask see, int texts, int n,
                             const float x[texts * n][a->d_x],
                             const Trace *t, Trace *g, Attention *g_a,
                             float g_x[texts * n][a->d_x])
{
    const int rows = texts * n;
    const size_t keys = sizeof(float[a->n_heads * a->d_k]);
    const size_t values = sizeof(float[a->n_heads * a->d_v]);
    texts_must_fit(a, texts, n, t);
    texts_must_fit(a, texts, n, g);
    gradient_must_fit(a, g_a);
    const Job job = job_of(a, see, texts, n, t);
    job_must_fit(&job);
    if (a->d_out) {
        memset(g->joined, 0, (size_t)rows * values);
        linear_backward_fast(&a->out, rows, (void *)t->joined,
                             (void *)g->out, &g_a->out, (void *)g->joined);
    }
    memset(g->query, 0, (size_t)rows * keys);
    memset(g->key, 0, (size_t)rows * keys);
    memset(g->value, 0, (size_t)rows * values);
    attend_backward_of(best_kernel())(
        &job, heads_of(a, n, a->d_v, g->joined),
        heads_of(a, n, a->d_k, g->query), heads_of(a, n, a->d_k, g->key),
        heads_of(a, n, a->d_v, g->value));
    linear_backward_fast(&a->query, rows, x, (void *)g->query, &g_a->query,
                         g_x);
    linear_backward_fast(&a->key, rows, x, (void *)g->key, &g_a->key, g_x);
    linear_backward_fast(&a->value, rows, x, (void *)g->value, &g_a->value,
                         g_x);
}
