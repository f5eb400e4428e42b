/* src/kernel/backward.c against PyTorch's autograd, golden/backward, and
 * against chapters 18 and 19; for each instruction set that this processor
 * has. */
#define CHAPTER "backward"
#include "kernels.h"
#include "calls.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/18_backward.h"
#include "attention/19_flash_backward.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

/* ---- Any call: by the tables of chapter 18. */

typedef struct {
    float scores[MOST * MOST], weights[MOST * MOST], keep_mask[MOST * MOST];
    float grad_weights[MOST * MOST], grad_scores[MOST * MOST];
    float query[MOST * WIDE], key[MOST * WIDE], value[MOST * WIDE];
    float grad_context[MOST * WIDE];
    float grad_query[MOST * WIDE], grad_key[MOST * WIDE],
        grad_value[MOST * WIDE];
} Tables;

/* The gradients of a call, and what they begin with. */
typedef struct {
    StridedRows grad_context, grad_query, grad_key, grad_value;
} Slopes;

static float scale_of(const AttentionCall *call)
{
    return call->scale != 0 ? call->scale : 1 / sqrtf((float)call->d_k);
}

/* Scores and weights of a head; a query that sees nothing has weights of
 * 0. */
static void weigh_head(const AttentionCall *call, int text, int head,
                       Tables *t)
{
    const int n = call->n, m = call->m;
    dot_scores(n, m, call->d_k, (void *)t->query, (void *)t->key,
               (void *)t->scores);
    for (int k = 0; k < n * m; k++) {
        t->scores[k] *= scale_of(call);
        if (call->bias.at)
            t->scores[k] += row_at(&call->bias, text, head, k / m)[k % m];
        t->keep_mask[k] =
            call->keep_factor.at
                ? row_at(&call->keep_factor, text, head, k / m)[k % m]
                : 1;
    }
    apply_mask(n, m, call->mask, (void *)t->scores);
    softmax_rows(n, m, (void *)t->scores, (void *)t->weights);
    for (int k = 0; k < n * m; k++)
        if (isnan(t->weights[k]))
            t->weights[k] = 0;
}

/* Adds the gradients of a head to those that t holds. */
static void undo_head(const AttentionCall *call, Tables *t)
{
    const int n = call->n, m = call->m, d_k = call->d_k, d_v = call->d_v;
    float *dropped = t->scores; /* which are needed no more */
    for (int k = 0; k < n * m; k++)
        dropped[k] = t->weights[k] * t->keep_mask[k];
    memset(t->grad_weights, 0, (size_t)(n * m) * sizeof(float));
    memset(t->grad_scores, 0, (size_t)(n * m) * sizeof(float));
    matmul_backward(n, d_v, m, (void *)dropped, (void *)t->value,
                    (void *)t->grad_context, (void *)t->grad_weights,
                    (void *)t->grad_value);
    for (int k = 0; k < n * m; k++)
        t->grad_weights[k] *= t->keep_mask[k];
    for (int i = 0; i < n; i++)
        softmax_backward(m, t->weights + i * m, t->grad_weights + i * m,
                         t->grad_scores + i * m);
    for (int k = 0; k < n * m; k++)
        t->grad_scores[k] *= scale_of(call);
    dot_scores_backward(n, m, d_k, (void *)t->query, (void *)t->key,
                        (void *)t->grad_scores, (void *)t->grad_query,
                        (void *)t->grad_key);
}

/* What is due: all heads' grad_query, and those of the heads of keys. */
typedef struct {
    float *g[3];
} Due;

static void answer_head(const AttentionCall *call, const Slopes *s,
                        int text, int head, int key_head, Tables *t)
{
    const int n = call->n, m = call->m;
    gather(&call->query, text, head, n, call->d_k, t->query);
    gather(&call->key, text, key_head, m, call->d_k, t->key);
    gather(&call->value, text, key_head, m, call->d_v, t->value);
    gather(&s->grad_context, text, head, n, call->d_v, t->grad_context);
    memset(t->grad_query, 0, (size_t)(n * call->d_k) * sizeof(float));
    weigh_head(call, text, head, t);
    undo_head(call, t);
}

static int key_heads_of(const AttentionCall *call)
{
    return call->n_kv_heads ? call->n_kv_heads : call->n_heads;
}

static Due answer(const AttentionCall *call, const Slopes *s)
{
    static Tables t;
    const int key_heads = key_heads_of(call), texts = call->texts;
    const int sharing = call->n_heads / key_heads;
    const int q = call->n * call->d_k, k = call->m * call->d_k;
    const int v = call->m * call->d_v;
    Due due = {{new_table(texts * call->n_heads, q),
                new_table(texts * key_heads, k),
                new_table(texts * key_heads, v)}};
    for (int h = 0; h < texts * key_heads; h++) {
        memset(t.grad_key, 0, (size_t)k * sizeof(float));
        memset(t.grad_value, 0, (size_t)v * sizeof(float));
        for (int i = h * sharing; i < (h + 1) * sharing; i++) {
            answer_head(call, s, h / key_heads, i % call->n_heads,
                        h % key_heads, &t);
            memcpy(due.g[0] + i * q, t.grad_query,
                   (size_t)q * sizeof(float));
        }
        memcpy(due.g[1] + h * k, t.grad_key, (size_t)k * sizeof(float));
        memcpy(due.g[2] + h * v, t.grad_value, (size_t)v * sizeof(float));
    }
    return due;
}

static void free_due(Due due)
{
    for (int i = 0; i < 3; i++)
        free(due.g[i]);
}

/* Room for gradients, filled with a number, or unset between the rows. */
static void fill_rows(const StridedRows *rows, int texts, int heads, int n,
                      int d, float with)
{
    float *end = row_at(rows, texts - 1, heads - 1, n - 1) + d;
    for (float *x = rows->at; x < end; x++)
        *x = unset;
    for (int h = 0; h < texts * heads; h++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < d; k++)
                row_at(rows, h / heads, h % heads, i)[k] = with;
}

/* What was added to rows that began with a number, against what is due, and
 * nothing between them. */
static void compare_rows(const char *what, const StridedRows *rows,
                         int texts, int heads, int n, int d, float with,
                         const float *due, const char *where, Worst *worst)
{
    const float *end = row_at(rows, texts - 1, heads - 1, n - 1) + d;
    ptrdiff_t between = end - rows->at - (ptrdiff_t)texts * heads * n * d;
    for (int h = 0; h < texts * heads; h++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < d; k++)
                worse(worst, row_at(rows, h / heads, h % heads, i)[k],
                      (double)with + *due++, where);
    for (const float *x = rows->at; x < end; x++)
        between -= *x == unset;
    tap_report(between == 0, what, "written between rows: %s", where);
}

static const char *const slope_name[3] = {"g_query", "g_key", "g_value"};

/* Runs a call there and back, held against what is due. */
static void run_back(const Kernel *kernel, AttentionCall call,
                     const Slopes *s, Due due, float with, Worst worst[3])
{
    const StridedRows rows[3] = {s->grad_query, s->grad_key, s->grad_value};
    const int heads[3] = {call.n_heads, key_heads_of(&call),
                          key_heads_of(&call)};
    const int n[3] = {call.n, call.m, call.m};
    const int d[3] = {call.d_k, call.d_k, call.d_v};
    for (int i = 0; i < 3; i++)
        fill_rows(&rows[i], call.texts, heads[i], n[i], d[i], with);
    kernel->attend(&call);
    kernel->attend_backward(&call, s->grad_context, s->grad_query,
                            s->grad_key, s->grad_value);
    for (int i = 0; i < 3; i++)
        compare_rows(slope_name[i], &rows[i], call.texts, heads[i], n[i],
                     d[i], with, due.g[i], words_for(kernel, &call),
                     &worst[i]);
}

/* Their sums are of up to 300 numbers, in float: 9.1e-6 was measured. */
static void any_calls(void)
{
    const int calls = getenv("TAP_SMALL") ? 20 : 200;
    static Worst worst[3];
    for (int k = 0; k < calls; k++) {
        Random r = seeded(19000 + k);
        AttentionCall call = any_call(&r, any_sizes(&r, 1 << 19));
        const int texts = call.texts, heads = call.n_heads;
        const int key_heads = key_heads_of(&call);
        call.log_sum_exp =
            room_for("log_sum", (size_t)(texts * heads * call.n));
        const Slopes s = {
            filled(&r, "g_context", texts, heads, call.n, call.d_v, 0,
                   numbers),
            any_rows(&r, "g_query",
                     (const int[]){texts, heads, call.n, call.d_k}, 0),
            any_rows(&r, "g_key",
                     (const int[]){texts, key_heads, call.m, call.d_k}, 0),
            any_rows(&r, "g_value",
                     (const int[]){texts, key_heads, call.m, call.d_v}, 0)};
        const Due due = answer(&call, &s);
        for (const Kernel *kernel = NULL; (kernel = after(kernel));)
            run_back(kernel, call, &s, due, (float)(k % 3), worst);
        free_due(due);
        close_rooms();
    }
    for (int i = 0; i < 3; i++)
        report(slope_name[i], &worst[i], 2e-5);
}

/* A call of the set, of heads [texts][n_heads][n][d], against PyTorch. */
static void golden_call(AttentionCall call)
{
    static Worst worst[3];
    call = of_set(call);
    const int heads = call.n_heads, shared = call.n_kv_heads;
    call.context = rows_by_head(heads, call.n, call.d_v,
                                room(part("g_context")->count));
    call.log_sum_exp = room((size_t)(call.texts * heads * call.n));
    const Slopes s = {
        rows_by_head(heads, call.n, call.d_v, input("g_context")),
        rows_by_head(heads, call.n, call.d_k, result("g_query")),
        rows_by_head(shared, call.m, call.d_k, result("g_key")),
        rows_by_head(shared, call.m, call.d_v, result("g_value"))};
    const Due due = {{rounded(part("g_query")), rounded(part("g_key")),
                      rounded(part("g_value"))}};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));)
        run_back(kernel, call, &s, due, 0, worst);
    for (int i = 0; i < 3; i++)
        report(slope_name[i], &worst[i], ATOL);
}

static void call_all(void)
{
    golden_call((AttentionCall){.threads = 0});
}

static void call_scaled(void)
{
    golden_call((AttentionCall){.scale = (float)number("scale", "scale")});
}

static void call_past(void)
{
    golden_call((AttentionCall){
        .mask = mask_causal((int)number("first", "first"))});
}

static void call_table(void)
{
    golden_call((AttentionCall){
        .mask = mask_table(dim("mask", 0), dim("mask", 1), input("mask"))});
}

static void call_bias(void)
{
    const ptrdiff_t m = dim("bias", 1);
    golden_call((AttentionCall){.bias = {input("bias"), 0, 0, m}});
}

/* A call of one text whose heads lie side by side, with its own numbers. */
typedef struct {
    AttentionCall call;
    Slopes s;
    size_t count[3];
} There;

static There there(int n_heads, int n_kv_heads, int n, int m, int d_k,
                   int d_v, Mask mask)
{
    const size_t query = (size_t)(n_heads * n * d_k);
    const size_t key = (size_t)(n_kv_heads * m * d_k);
    const size_t value = (size_t)(n_kv_heads * m * d_v);
    const size_t context = (size_t)(n_heads * n * d_v);
    float *x[4] = {room_for("query", query), room_for("key", key),
                   room_for("value", value),
                   room_for("g_context", context)};
    tap_fill((int)query, x[0], -1, 1);
    tap_fill((int)key, x[1], -1, 1);
    tap_fill((int)value, x[2], -1, 1);
    tap_fill((int)context, x[3], -1, 1);
    return (There){
        {.texts = 1,
         .n_heads = n_heads,
         .n_kv_heads = n_kv_heads,
         .n = n,
         .m = m,
         .d_k = d_k,
         .d_v = d_v,
         .mask = mask,
         .query = rows_by_token(n_heads, n, d_k, x[0]),
         .key = rows_by_token(n_kv_heads, m, d_k, x[1]),
         .value = rows_by_token(n_kv_heads, m, d_v, x[2]),
         .context = rows_by_token(n_heads, n, d_v, room(context)),
         .log_sum_exp = room((size_t)(n_heads * n))},
        {rows_by_token(n_heads, n, d_v, x[3]),
         rows_by_token(n_heads, n, d_k, room_for("g_query", query)),
         rows_by_token(n_kv_heads, m, d_k, room_for("g_key", key)),
         rows_by_token(n_kv_heads, m, d_v, room_for("g_value", value))},
        {query, key, value}};
}

/* There and back; the gradients begin with 0. */
static void go(const Kernel *kernel, There *t)
{
    memset(t->s.grad_query.at, 0, t->count[0] * sizeof(float));
    memset(t->s.grad_key.at, 0, t->count[1] * sizeof(float));
    memset(t->s.grad_value.at, 0, t->count[2] * sizeof(float));
    kernel->attend(&t->call);
    kernel->attend_backward(&t->call, t->s.grad_context, t->s.grad_query,
                            t->s.grad_key, t->s.grad_value);
}

/* Texts of several parts, for any number of threads the same; and as the
 * plain function has it. */
static void threads_agree(void)
{
    const int threads[4] = {1, 2, 3, 5};
    const int n[3] = {1100, 90, 700}, m[3] = {1700, 1300, 700};
    for (int k = 0; k < 3; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            There t = there(2, 1, n[k], m[k], 5, 3,
                            k ? mask_causal(m[k] - n[k]) : mask_none());
            float *was[3];
            for (int run = 0; run < 4; run++) {
                const float *now[3] = {t.s.grad_query.at, t.s.grad_key.at,
                                       t.s.grad_value.at};
                t.call.threads = threads[run];
                go(kernel, &t);
                for (int i = 0; i < 3; i++) {
                    const size_t size = t.count[i] * sizeof(float);
                    if (run == 0)
                        was[i] = memcpy(room(t.count[i]), now[i], size);
                    tap_report(!memcmp(was[i], now[i], size), slope_name[i],
                               "not as with one thread: %s",
                               words_for(kernel, &t.call));
                }
            }
            close_rooms();
        }
}

/* One head of some parts, against the plain function. */
static void parts_of(const Kernel *kernel, int n, int m, Mask mask)
{
    enum { D_K = 3, D_V = 2 };
    There t = there(1, 1, n, m, D_K, D_V, mask);
    float *grad_query = zeros("due", t.count[0]);
    float *grad_key = zeros("due", t.count[1]);
    float *grad_value = zeros("due", t.count[2]);
    next_case();
    give("%s", words_for(kernel, &t.call));
    go(kernel, &t);
    flash_backward(n, m, D_K, D_V, mask, (void *)t.call.query.at,
                   (void *)t.call.key.at, (void *)t.call.value.at,
                   (void *)t.call.context.at, t.call.log_sum_exp,
                   (void *)t.s.grad_context.at, (void *)grad_query,
                   (void *)grad_key, (void *)grad_value);
    similar("g_query", t.count[0], t.s.grad_query.at, grad_query, 0, ATOL);
    similar("g_key", t.count[1], t.s.grad_key.at, grad_key, 0, ATOL);
    similar("g_value", t.count[2], t.s.grad_value.at, grad_value, 0, ATOL);
    close_rooms();
}

/* With as many parts of both, and with more of the one or the other. */
static void parts_agree(void)
{
    const int n[3] = {1200, 90, 1300}, m[3] = {1500, 1300, 90};
    for (int k = 0; k < 3; k++)
        for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
            parts_of(kernel, n[k], m[k], mask_none());
            parts_of(kernel, n[k], m[k], mask_causal(m[k] - n[k]));
        }
}

/* Heads side by side, so that from token to token it is 4 KiB, against the
 * same heads one after the other. */
static void side_by_side(void)
{
    enum { HEADS = 16, N = 80, M = 150, D = 64 };
    There t = there(HEADS, HEADS, N, M, D, D, mask_causal(M - N));
    StridedRows *const of_t[8] = {
        &t.call.query,   &t.call.key,   &t.call.value,   &t.s.grad_context,
        &t.s.grad_query, &t.s.grad_key, &t.s.grad_value, &t.call.context};
    const int n[8] = {N, M, M, N, N, M, M, N};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        There by_head = t;
        StridedRows *const rows[8] = {
            &by_head.call.query,   &by_head.call.key,
            &by_head.call.value,   &by_head.s.grad_context,
            &by_head.s.grad_query, &by_head.s.grad_key,
            &by_head.s.grad_value, &by_head.call.context};
        for (int k = 0; k < 8; k++) {
            *rows[k] = rows_by_head(HEADS, n[k], D,
                                    room((size_t)(HEADS * n[k] * D)));
            for (int i = 0; i < HEADS * n[k] && k < 4; i++)
                memcpy(rows[k]->at + i * D,
                       row_at(of_t[k], 0, i / n[k], i % n[k]),
                       D * sizeof(float));
        }
        go(kernel, &t);
        go(kernel, &by_head);
        for (int k = 4; k < 7; k++)
            for (int i = 0; i < HEADS * n[k]; i++)
                same(slope_name[k - 4], D,
                     row_at(of_t[k], 0, i / n[k], i % n[k]),
                     rows[k]->at + i * D);
    }
}

/* A place before or behind every text. */
static void first_far_away(void)
{
    enum { N = 70, M = 160, D = 3 };
    const int first[4] = {INT_MAX, INT_MAX - M, INT_MIN, INT_MIN + M};
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        There t = there(1, 1, N, M, D, D, mask_none());
        float *all[3];
        for (int k = -1; k < 4; k++) {
            t.call.mask = k < 0 ? mask_none() : mask_causal(first[k]);
            go(kernel, &t);
            float *now[3] = {t.s.grad_query.at, t.s.grad_key.at,
                             t.s.grad_value.at};
            next_case();
            give("%s: first = %d", kernel->name, k < 0 ? 0 : first[k]);
            for (int i = 0; i < 3; i++) {
                float *none = zeros("nothing", t.count[i]);
                if (k < 0)
                    all[i] = memcpy(room(t.count[i]), now[i],
                                    t.count[i] * sizeof(float));
                similar(slope_name[i], t.count[i], now[i],
                        k < 2 ? all[i] : none, 0, 0);
            }
        }
    }
}

/* A hidden key and its value may be anything that is a number; and who sees
 * nothing changes no one else's. */
static void hidden_ones(void)
{
    enum { N = 90, M = 170, D = 4 };
    float *seen = room_for("table", N * M);
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        There t =
            there(1, 1, N, M, D, D, mask_table(N, M, (const void *)seen));
        float *was[3];
        const float *now[3] = {t.s.grad_query.at, t.s.grad_key.at,
                               t.s.grad_value.at};
        for (int k = 0; k < N * M; k++)
            seen[k] = k % M >= 20 && k % M <= 150 && k / M != 40;
        for (int run = 0; run < 2; run++) {
            go(kernel, &t);
            for (int i = 0; i < 3; i++)
                if (run == 0)
                    was[i] = memcpy(room(t.count[i]), now[i],
                                    t.count[i] * sizeof(float));
                else
                    same(slope_name[i], t.count[i], now[i], was[i]);
            for (int j = 0; j < M; j++)
                for (int k = 0; k < D && (j < 20 || j > 150); k++)
                    t.call.key.at[j * D + k] = t.call.value.at[j * D + k] =
                        1e4f;
            for (int k = 0; k < D; k++) {
                tap_near("g_query", now[0][40 * D + k], 0, 0, 0);
                tap_near("g_key", now[1][k], 0, 0, 0);
                tap_near("g_value", now[2][(M - 1) * D + k], 0, 0, 0);
                t.call.query.at[40 * D + k] = 1e4f;
                t.s.grad_context.at[40 * D + k] = 1e4f;
            }
        }
    }
}

/* ---- What trying finds, with grad_context times context for a loss. */

static double loss(const There *t)
{
    const int count = t->call.n_heads * t->call.n * t->call.d_v;
    double sum = 0;
    attend_fast(&t->call);
    for (int i = 0; i < count; i++)
        sum +=
            (double)t->s.grad_context.at[i] * (double)t->call.context.at[i];
    return sum;
}

static void tried(void)
{
    There t = there(2, 1, 3, 5, 3, 2, mask_causal(2));
    go(kernel_named("plain"), &t);
    float *in[3] = {t.call.query.at, t.call.key.at, t.call.value.at};
    const float *slope[3] = {t.s.grad_query.at, t.s.grad_key.at,
                             t.s.grad_value.at};
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < t.count[i]; k++) {
            const float was = in[i][k];
            in[i][k] = was + 0x1p-6f;
            const double above = loss(&t);
            in[i][k] = was - 0x1p-6f;
            const double below = loss(&t);
            in[i][k] = was;
            tap_near(slope_name[i], slope[i][k], (above - below) * 0x1p5, 0,
                     5e-5);
        }
}

/* ---- What is refused. */

static float numbers_of_call[100];
static AttentionCall small = {.texts = 1,
                              .n_heads = 2,
                              .n = 3,
                              .m = 4,
                              .d_k = 2,
                              .d_v = 2,
                              .log_sum_exp = numbers_of_call};
static StridedRows some_rows = {numbers_of_call, 0, 0, 2}, no_rows;

static const AttentionCall *call_with(int *size, int value)
{
    small.query = small.key = small.value = small.context = some_rows;
    *size = value;
    return &small;
}

static const AttentionCall *call_without_sums(void)
{
    small.log_sum_exp = NULL;
    return call_with(&small.n, 3);
}

#define FITS call_with(&small.n, 3)
#define NO_SUM                                                             \
    "call.c: attention_call_gradients_check: log_sum_exp is NULL: "        \
    "the "                                                                 \
    "one that attend_fast has filled is needed"
#define NO_ROWS                                                            \
    "call.c: attention_call_gradients_check: grad_context.at, "            \
    "grad_query.at, grad_key.at or grad_value.at is NULL: rows are "       \
    "needed for each"
#define R some_rows

static void refused_calls(void)
{
    REFUSES(NO_SUM, attend_fast_backward(call_without_sums(), R, R, R, R));
    REFUSES(NO_SUM, attention_call_gradients_check(call_without_sums(), R,
                                                   R, R, R));
    REFUSES(NO_ROWS, attend_fast_backward(FITS, no_rows, R, R, R));
    REFUSES(NO_ROWS,
            attention_call_gradients_check(FITS, no_rows, R, R, R));
    REFUSES(NO_ROWS,
            attention_call_gradients_check(FITS, R, no_rows, R, R));
    REFUSES(NO_ROWS,
            attention_call_gradients_check(FITS, R, R, no_rows, R));
    REFUSES(NO_ROWS,
            attention_call_gradients_check(FITS, R, R, R, no_rows));
    REFUSES_SUCH(
        "a call of no heads",
        attend_fast_backward(call_with(&small.n_heads, 0), R, R, R, R));
    REFUSES_SUCH("a call of no heads",
                 attention_call_gradients_check(
                     call_with(&small.n_heads, 0), R, R, R, R));
}

static void call_fits(void)
{
    attention_call_gradients_check(FITS, R, R, R, R);
    tap_true("it fits", true);
}

int main(void)
{
    SETS("attend_fast_backward", call_all, "job_one", "job_groups",
         "job_wide");
    SETS("attend_fast_backward", call_scaled, "job_scaled");
    EACH("attend_fast_backward", call_past, "job_past_*-query");
    SETS("attend_fast_backward", call_table, "job_table");
    SETS("attend_fast_backward", call_bias, "job_bias");
    TAP(any_calls, "attend_fast_backward: as chapter 18's tables");
    TAP(threads_agree,
        "attend_fast_backward: alike for any number of threads");
    TAP(parts_agree, "attend_fast_backward: parts, as flash_backward");
    TAP(side_by_side, "attend_fast_backward: heads side by side");
    TAP(first_far_away,
        "attend_fast_backward: the first and the last of ints");
    TAP(hidden_ones,
        "attend_fast_backward: hidden keys, and blind queries");
    TAP(tried, "attend_fast_backward: what trying finds");
    TAP(call_fits, "attention_call_gradients_check: what fits");
    refused_calls();
    return tap_done();
}
