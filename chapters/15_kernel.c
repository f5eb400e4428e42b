/*
# The kernel {#kernel}

TO WRITE: all of it.
*/

#include "attention.h"

void multiply_ordered(int n, int m, int d, const float a[n][d],
                      const float b[d][m], float c[n][m])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            c[i][j] = 0;
        for (int k = 0; k < d; k++)
            for (int j = 0; j < m; j++)
                c[i][j] += a[i][k] * b[k][j];
    }
}

enum {
    LANES = __BIGGEST_ALIGNMENT__ / (int)sizeof(float),
    VECTORS = LANES == 16 ? 2 : 3,
    QUERIES = VECTORS * LANES,
    ROWS = LANES == 16 ? 12 : 4
};

typedef float Vector __attribute__((vector_size(LANES * sizeof(float))));

typedef union {
    float at[QUERIES];
    Vector part[VECTORS];
} Lanes;

#define INLINE inline __attribute__((always_inline))

/* c[i] = factor * c[i] + the sum of a[i][k] * b[k], for up to ROWS rows. */
static INLINE void register_tile(int rows, int d, View a, const Lanes b[d],
                                 const Lanes *factor, Lanes c[rows])
{
    Vector sum[ROWS][VECTORS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < VECTORS; j++)
            sum[i][j] =
                factor ? factor->part[j] * c[i].part[j] : (Vector){0};
    for (int k = 0; k < d; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < VECTORS; j++)
                sum[i][j] += a.at[i * a.row + k * a.column] * b[k].part[j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < VECTORS; j++)
            c[i].part[j] = sum[i][j];
}

static INLINE void tiles(int n, int d, View a, const Lanes b[d],
                         const Lanes *factor, Lanes c[n])
{
    int i = 0;
    for (; i + ROWS <= n; i += ROWS, a.at += ROWS * a.row)
        register_tile(ROWS, d, a, b, factor, c + i);
    for (; i + 4 <= n; i += 4, a.at += 4 * a.row)
        register_tile(4, d, a, b, factor, c + i);
    for (; i < n; i++, a.at += a.row)
        register_tile(1, d, a, b, factor, c + i);
}

/* Kept apart, or the registers do not suffice for it and what is around
 * it. A step that is known to be 1 costs nothing. */
static __attribute__((noinline)) void product(int n, int d, View a,
                                              const Lanes b[d],
                                              const Lanes *factor,
                                              Lanes c[n])
{
    if (a.column == 1)
        tiles(n, d, (View){a.at, a.row, 1}, b, factor, c);
    else
        tiles(n, d, (View){a.at, 1, a.column}, b, factor, c);
}

inline float exp2_fast(float x)
{
    const float far = 0x1.8p23f + 127, held = x < -127 ? -127 : x;
    const float whole = held + far, f = held - (whole - far);
    float y = 1.32764719e-3f, power;
    y = y * f + 9.67554133e-3f;
    y = y * f + 5.55071327e-2f;
    y = y * f + 2.40221197e-1f;
    y = y * f + 6.93146967e-1f;
    y = y * f + 1.00000007f;
    uint32_t bits;
    memcpy(&bits, &whole, sizeof bits);
    bits <<= 23;
    memcpy(&power, &bits, sizeof power);
    return y * power;
}

static Lanes *new_lanes(size_t count)
{
    Lanes *lanes =
        count > PTRDIFF_MAX / sizeof(Lanes)
            ? NULL
            : aligned_alloc(sizeof(Vector), count * sizeof(Lanes));
    if (!lanes)
        REFUSE("%zu numbers do not fit into memory: fewer are needed",
               count * QUERIES);
    return lanes;
}

static const float log2_e = 1.44269504f, ln_2 = 0.693147181f;

enum { BLOCK = 128, TILES = 6, NEAR = 64 };

typedef struct {
    int i, rows, end;
    Lanes *query, *context;
    Lanes largest, sum;
} Tile;

static void add_bias(const Job *job, const Tile *t, int j, int cols,
                     Lanes scores[cols])
{
    for (int i = 0; i < t->rows; i++) {
        const float *bias = job->bias.at + (t->i + i) * job->bias.token + j;
        for (int k = 0; k < cols; k++)
            scores[k].at[i] += log2_e * bias[k];
    }
}

static void hide(Mask see, const Tile *t, int j, int cols,
                 Lanes scores[cols])
{
    const int64_t place = (int64_t)see.first + t->i - j;
    if (see.kind == MASK_CAUSAL && place < cols - 1)
        for (int k = 0; k < cols; k++)
            for (int i = 0; i < QUERIES; i++)
                scores[k].at[i] =
                    k <= place + i ? scores[k].at[i] : -INFINITY;
    if (see.kind == MASK_TABLE)
        for (int i = 0; i < t->rows; i++)
            for (int k = 0; k < cols; k++)
                if (see.table[(t->i + i) * (ptrdiff_t)see.m + j + k] == 0)
                    scores[k].at[i] = -INFINITY;
}

/* Scores become the exponentials of what they are above the largest. */
static void soften(Tile *t, int cols, Lanes scores[cols], Lanes *shrink)
{
    Lanes largest = t->largest, sum = {{0}};
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < QUERIES; i++)
            largest.at[i] = scores[k].at[i] > largest.at[i]
                                ? scores[k].at[i]
                                : largest.at[i];
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < QUERIES; i++) {
            scores[k].at[i] = exp2_fast(scores[k].at[i] - largest.at[i]);
            sum.at[i] += scores[k].at[i];
        }
    for (int i = 0; i < QUERIES; i++) {
        shrink->at[i] = exp2_fast(t->largest.at[i] - largest.at[i]);
        t->sum.at[i] = t->sum.at[i] * shrink->at[i] + sum.at[i];
    }
    t->largest = largest;
}

static void keep(const Job *job, const Tile *t, int j, int cols,
                 Lanes weights[cols])
{
    for (int i = 0; i < t->rows; i++) {
        const float *kept = job->kept.at + (t->i + i) * job->kept.token + j;
        for (int k = 0; k < cols; k++)
            weights[k].at[i] *= kept[k];
    }
}

static void meet(const Job *job, Tile *t, int j, int cols,
                 Lanes scores[cols])
{
    const View key = {job->key.at + j * job->key.token, job->key.token, 1};
    const View value = {job->value.at + j * job->value.token, 1,
                        job->value.token};
    Lanes shrink;
    product(cols, job->d_k, key, t->query, NULL, scores);
    if (job->bias.at)
        add_bias(job, t, j, cols, scores);
    hide(job->see, t, j, cols, scores);
    soften(t, cols, scores, &shrink);
    if (job->kept.at)
        keep(job, t, j, cols, scores);
    product(job->d_v, cols, value, scores, &shrink, t->context);
}

/* to[j][i] = from[i][j] */
static void turn(int n, int m, const float *from, ptrdiff_t row, float *to,
                 ptrdiff_t to_row)
{
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int j = 0; j < m; j++) {
            const float *f = from + i * row + j;
            float *t = to + j * to_row + i;
            const float four[4] = {f[0], f[row], f[2 * row], f[3 * row]};
            memcpy(t, four, sizeof four);
        }
    for (; i < n; i++)
        for (int j = 0; j < m; j++)
            to[j * to_row + i] = from[i * row + j];
}

static void begin(const Job *job, int i, int rows, Tile *t)
{
    const float scale =
        log2_e * (job->scale ? job->scale : 1 / sqrtf((float)job->d_k));
    const int64_t seen = (int64_t)job->see.first + i + rows;
    t->i = i;
    t->rows = rows;
    t->end = job->m;
    if (job->see.kind == MASK_CAUSAL && seen < job->m)
        t->end = seen < 0 ? 0 : (int)seen;
    for (int q = 0; q < QUERIES; q++) {
        t->largest.at[q] = -FLT_MAX;
        t->sum.at[q] = 0;
    }
    memset(t->query, 0, (size_t)job->d_k * sizeof(Lanes));
    memset(t->context, 0, (size_t)job->d_v * sizeof(Lanes));
    turn(rows, job->d_k, job->query.at + i * job->query.token,
         job->query.token, t->query->at, QUERIES);
    for (int k = 0; k < job->d_k; k++)
        for (int q = 0; q < QUERIES; q++)
            t->query[k].at[q] *= scale;
}

static void end(const Job *job, const Tile *t)
{
    for (int k = 0; k < job->d_v; k++)
        for (int q = 0; q < QUERIES; q++)
            t->context[k].at[q] /= t->sum.at[q];
    turn(job->d_v, t->rows, t->context->at, QUERIES,
         job->context.at + t->i * job->context.token, job->context.token);
    for (int q = 0; job->log_sum && q < t->rows; q++)
        job->log_sum[t->i + q] =
            ln_2 * (t->largest.at[q] + log2f(t->sum.at[q]));
}

/* One head: what the queries from `from` on get. */
static void attend_rows(const Job *job, int from, int rows)
{
    Tile tile[TILES];
    Lanes near[NEAR];
    const int count = (rows + QUERIES - 1) / QUERIES;
    const int block = job->m < BLOCK ? job->m : BLOCK;
    const int need = block + count * (job->d_k + job->d_v);
    Lanes *memory = need <= NEAR ? near : new_lanes((size_t)need),
          *at = memory + block;
    int last = 0;
    for (int k = 0; k < count; k++) {
        tile[k].query = at;
        tile[k].context = at + job->d_k;
        at += job->d_k + job->d_v;
        const int i = k * QUERIES;
        begin(job, from + i, rows - i < QUERIES ? rows - i : QUERIES,
              &tile[k]);
        last = tile[k].end; /* the last sees most */
    }
    for (int j = 0; j < last; j += BLOCK)
        for (int k = 0; k < count; k++)
            if (j < tile[k].end)
                meet(job, &tile[k], j,
                     tile[k].end - j < BLOCK ? tile[k].end - j : BLOCK,
                     memory);
    for (int k = 0; k < count; k++)
        end(job, &tile[k]);
    if (memory != near)
        free(memory);
}

static void move(Rows *rows, int text, int head)
{
    if (rows->at)
        rows->at += text * rows->text + head * rows->head;
}

static Job head_of_job(const Job *job, int text, int head)
{
    const int sharing =
        job->n_key_heads ? job->n_heads / job->n_key_heads : 1;
    Job one = *job;
    move(&one.query, text, head);
    move(&one.key, text, head / sharing);
    move(&one.value, text, head / sharing);
    move(&one.bias, text, head);
    move(&one.kept, text, head);
    move(&one.context, text, head);
    if (job->log_sum)
        one.log_sum += ((ptrdiff_t)text * job->n_heads + head) * job->n;
    return one;
}

static void attend_piece(const Job *job, int rows, int piece, int head)
{
    const Job one =
        head_of_job(job, head / job->n_heads, head % job->n_heads);
    const int left = job->n - piece * rows;
    attend_rows(&one, piece * rows, left < rows ? left : rows);
}

void attend_fast(const Job *job)
{
    job_must_fit(job);
    const int heads = job->texts * job->n_heads;
    const int threads = threads_for((int64_t)heads * job->n * job->m *
                                        (job->d_k + job->d_v),
                                    job->threads);
    int rows = TILES * QUERIES;
    while (threads > 1 && rows > QUERIES &&
           (int64_t)heads * job->n < (int64_t)rows * 8 * threads)
        rows -= QUERIES;
    const int pieces = (job->n + rows - 1) / rows;
    if (threads == 1)
        for (int h = 0; h < heads; h++)
            for (int piece = 0; piece < pieces; piece++)
                attend_piece(job, rows, piece, h);
    else
#pragma omp parallel for schedule(dynamic) collapse(2) num_threads(threads)
        for (int piece = pieces - 1; piece >= 0; piece--)
            for (int h = 0; h < heads; h++)
                attend_piece(job, rows, piece, h);
}

enum { DEEP = 256, CHUNK = 8 * ROWS };

static void multiply_piece(int n, int m, int d, View a,
                           const Lanes columns[d], View start, float *c,
                           int row)
{
    Lanes sum[CHUNK], ones;
    for (int j = 0; j < QUERIES; j++)
        ones.at[j] = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < QUERIES; j++)
            sum[i].at[j] = start.at && j < m
                               ? start.at[i * start.row + j * start.column]
                               : 0;
    for (int k = 0; k < d; k += DEEP, a.at += DEEP * a.column)
        product(n, d - k < DEEP ? d - k : DEEP, a, columns + k, &ones, sum);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[(ptrdiff_t)i * row + j] = sum[i].at[j];
}

void multiply_fast(int n, int m, int d, View a, View b, View start,
                   float c[n][m])
{
    const int strips = (m + QUERIES - 1) / QUERIES;
    Lanes *columns = new_lanes((size_t)strips * (size_t)d);
    const int threads = threads_for((int64_t)n * m * d, 0);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for
        for (int s = 0; s < strips; s++)
            for (int k = 0; k < d; k++)
                for (int j = 0; j < QUERIES; j++)
                    columns[(ptrdiff_t)s * d + k].at[j] =
                        s * QUERIES + j < m
                            ? b.at[k * b.row + (s * QUERIES + j) * b.column]
                            : 0;
#pragma omp for schedule(dynamic) collapse(2)
        for (int i = 0; i < n; i += CHUNK)
            for (int s = 0; s < strips; s++) {
                const int j = s * QUERIES;
                multiply_piece(n - i < CHUNK ? n - i : CHUNK,
                               m - j < QUERIES ? m - j : QUERIES, d,
                               (View){a.at + i * a.row, a.row, a.column},
                               columns + (ptrdiff_t)s * d,
                               (View){start.at ? start.at + i * start.row +
                                                     j * start.column
                                               : NULL,
                                      start.row, start.column},
                               &c[i][j], m);
            }
    }
    free(columns);
}

void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m])
{
    multiply_fast(n, m, d, (View){a[0], d, 1}, (View){b[0], m, 1},
                  (View){NULL, 0, 0}, c);
}

void linear_forward_fast(const Linear *l, int n, const float x[n][l->d_in],
                         float y[n][l->d_out])
{
    multiply_fast(n, l->d_out, l->d_in, (View){x[0], l->d_in, 1},
                  (View){l->weight, 1, l->d_in}, (View){l->bias, 0, 1}, y);
}

Rows rows_by_head(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t head = (ptrdiff_t)n * d;
    return (Rows){(float *)at, n_heads * head, head, d};
}

Rows rows_by_token(int n_heads, int n, int d, const float *at)
{
    const ptrdiff_t token = (ptrdiff_t)n_heads * d;
    return (Rows){(float *)at, n * token, d, token};
}

int main(void)
{
    return 0;
}
