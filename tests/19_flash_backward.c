/* Chapter 19 against PyTorch's autograd, golden/19_flash_backward; against
 * the chapters before it; and what is fast for each instruction set that
 * this processor has. */
#define CHAPTER "19_flash_backward"
#include "calls.h"
#include "attention/19_flash_backward.h"
#include "attention/01_dot_product.h"
#include "attention/02_softmax.h"
#include "attention/13_multi_head.h"
#include "attention/14_flash.h"
#include "attention/18_backward.h"

/* How far floats may be from float64, or from other floats, in parts of
 * what is due or of 1, if that is more. */
#define ATOL 5e-6

/* Where gradients begin: with these numbers, or with 0. */
static float *begun(const char *name, size_t count, float with)
{
    float *x = room_for(name, count);
    for (size_t i = 0; i < count; i++)
        x[i] = with;
    return x;
}
static float *zeros(const char *name, size_t count)
{
    return begun(name, count, 0);
}

/* ---- Weights and means. */

static void again_test(void)
{
    const int n = dim("scores", 0), m = dim("scores", 1);
    float *x = input("scores");
    float *weights = result("weights");
    memcpy(weights, x, part("scores")->count * sizeof *x);
    recompute_weights(n, m, input("log_sum"), (void *)weights);
    /* The digits of a log-sum-exp are those of e to its power. */
    agrees("weights", weights, 0,
           strcmp(sets_now, "again_loud") ? 2e-6 : 1e-4);
}

static void means_test(void)
{
    float *mean = result("mean");
    context_dot_grad(dim("context", 0), dim("context", 1), input("log_sum"),
                     input("context"), input("g_context"), mean);
    agrees("mean", mean, 1e-5, 2e-6);
}

/* The slopes of the log-sum-exps are given; to what is there is added. */
static void log_sum_test(void)
{
    const int n = dim("scores", 0), m = dim("scores", 1);
    const size_t count = part("scores")->count;
    float *g = zeros("g_scores", count);
    log_sum_exp_backward(n, m, input("scores"), input("log_sum"),
                         input("g_log_sum"), (void *)g);
    agrees("g_scores", g, 0, strcmp(sets_now, "again_loud") ? 2e-6 : 1e-4);
}

static void log_sum_adds(void)
{
    const float scores[2][2] = {{0, 0}, {1, -INFINITY}};
    const float log_sum_exp[2] = {0.693147181f, 1}, g[2] = {4, -3};
    float *grad_scores = begun("g_scores", 4, 100);
    give("g_scores holds 100 everywhere");
    give_table("scores", 2, 2, scores);
    give_list("g_log_sum", 2, g);
    log_sum_exp_backward(2, 2, scores, log_sum_exp, g, (void *)grad_scores);
    similar("g_scores", 4, grad_scores, (float[4]){102, 102, 97, 100}, 1e-6,
            0);
}

/* ---- Rounds. */

static void partners_test(void)
{
    for (int parts = 1; parts <= 12; parts++) {
        int met[12][12] = {{0}}; /* in which round, from 1 on */
        for (int round = 0; round < parts; round++) {
            int busy[12] = {0};
            for (int keys = 0; keys < parts; keys++) {
                next_case();
                give("parts = %d, keys = %d, round = %d", parts, keys,
                     round);
                const int queries = query_part(parts, keys, round);
                tap_report(queries >= 0 && queries < parts, "partner",
                           "%d is no part", queries);
                if (queries < 0 || queries >= parts)
                    return;
                tap_report(!busy[queries], "partner",
                           "part %d of the queries is met twice in a round",
                           queries);
                tap_report(
                    !met[keys][queries], "partner",
                    "part %d of the queries was met before, in round "
                    "%d",
                    queries, met[keys][queries] - 1);
                busy[queries] = 1;
                met[keys][queries] = round + 1;
            }
        }
    }
}

/* ---- flash_backward. */

/* That of the set, after flash_forward. */
static void flash_as(Mask mask)
{
    const int n = dim("query", 0), m = dim("key", 0);
    const int d_k = dim("key", 1), d_v = dim("value", 1);
    const double near = strcmp(sets_now, "all_loud") ? 5e-6 : 1e-4;
    float *context = room((size_t)(n * d_v)),
          *log_sum_exp = room((size_t)n);
    float *grad_query = zeros("g_query", part("g_query")->count);
    float *grad_key = zeros("g_key", part("g_key")->count);
    float *grad_value = zeros("g_value", part("g_value")->count);
    flash_forward(n, m, d_k, d_v, mask, input("query"), input("key"),
                  input("value"), (void *)context, log_sum_exp);
    flash_backward(n, m, d_k, d_v, mask, input("query"), input("key"),
                   input("value"), (void *)context, log_sum_exp,
                   input("g_context"), (void *)grad_query, (void *)grad_key,
                   (void *)grad_value);
    agrees("g_query", grad_query, 1e-5, near);
    agrees("g_key", grad_key, 1e-5, near);
    agrees("g_value", grad_value, 1e-5, near);
}

static void past_test(void)
{
    flash_as(mask_causal((int)number("first", "first")));
}

static void all_test(void)
{
    flash_as(mask_none());
}

static void table_test(void)
{
    flash_as(mask_table(dim("mask", 0), dim("mask", 1), input("mask")));
}

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
    attend_fast_backward_of(kernel)(&call, s->grad_context, s->grad_query,
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
    call.texts = dim("query", 0);
    call.n_heads = dim("query", 1);
    call.n_kv_heads = dim("key", 1);
    call.n = dim("query", 2);
    call.m = dim("key", 2);
    call.d_k = dim("key", 3);
    call.d_v = dim("value", 3);
    const int heads = call.n_heads, shared = call.n_kv_heads;
    call.query = rows_by_head(heads, call.n, call.d_k, input("query"));
    call.key = rows_by_head(shared, call.m, call.d_k, input("key"));
    call.value = rows_by_head(shared, call.m, call.d_v, input("value"));
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
    attend_fast_backward_of(kernel)(&t->call, t->s.grad_context,
                                    t->s.grad_query, t->s.grad_key,
                                    t->s.grad_value);
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

/* ---- Linear layers, and whole attentions. */

/* Sums over up to 331 rows, in another order: 8.7e-6 was measured. */
static void linear_test(void)
{
    for (int k = 0; k < 30; k++) {
        next_case();
        Random r = seeded(19500 + k);
        const int n = k % 3 ? any_size(&r, 60) : 250 + 3 * k;
        const int has_bias = k % 2;
        const Linear l = {any_size(&r, 50), any_size(&r, 70), NULL, NULL};
        const size_t weights = (size_t)(l.d_in * l.d_out);
        const size_t columns = (size_t)l.d_out;
        float *x = room_for("x", (size_t)(n * l.d_in));
        float *grad_out = room_for("g_out", (size_t)n * columns);
        Linear given = l, got = l, due = l;
        given.weight = room_for("weight", weights);
        uniform_fill(&r, n, l.d_in, -1, 1, (void *)x);
        uniform_fill(&r, n, l.d_out, -1, 1, (void *)grad_out);
        uniform_fill(&r, l.d_out, l.d_in, -1, 1, (void *)given.weight);
        got.weight = begun("g_weight", weights, 2);
        due.weight = begun("due", weights, 2);
        if (has_bias) {
            given.bias = begun("bias", columns, 1);
            got.bias = begun("g_bias", columns, 3);
            due.bias = begun("due", columns, 3);
        }
        float *grad_x = begun("g_x", (size_t)(n * l.d_in), 1);
        float *due_x = begun("due", (size_t)(n * l.d_in), 1);
        give("n = %d, l->d_in = %d, l->d_out = %d, %s bias", n, l.d_in,
             l.d_out, has_bias ? "a" : "no");
        linear_backward(&given, n, (void *)x, (void *)grad_out, &due,
                        (void *)due_x);
        linear_backward_fast(&given, n, (void *)x, (void *)grad_out, &got,
                             (void *)grad_x);
        similar("g_x", (size_t)(n * l.d_in), grad_x, due_x, 1e-6, ATOL);
        similar("g_weight", weights, got.weight, due.weight, 1e-6, 2e-5);
        if (has_bias)
            similar("g_bias", columns, got.bias, due.bias, 1e-6, ATOL);
        close_rooms();
    }
}

/* The attention of a set, and a gradient for it that begins with `with`. */
static Attention given_texts(Mask *mask, Attention *grad_a)
{
    const int64_t *size = integers("sizes");
    Attention a;
    attention_init(&a, &(Attention){.d_x = (int)size[0],
                                    .d_y = (int)size[0],
                                    .n_heads = (int)size[1],
                                    .d_k = (int)size[2],
                                    .d_v = (int)size[3],
                                    .d_out = (int)size[4],
                                    .has_bias = (int)size[5],
                                    .has_out_bias = (int)size[6]});
    memcpy(a.memory, input("parameters"), a.count * sizeof(float));
    attention_init(grad_a, &a);
    *mask = strcmp(sets_now, "texts_table")
                ? mask_causal((int)number("first", "first"))
                : mask_table(dim("mask", 0), dim("mask", 1), input("mask"));
    return a;
}

static void texts_there(void)
{
    Mask mask;
    Attention grad_a, a = given_texts(&mask, &grad_a);
    const int texts = dim("x", 0), n = dim("x", 1);
    Trace t;
    trace_init_texts(&t, &a, texts, n);
    tell_attention(&a, mask);
    attention_forward_fast(&a, mask, texts, n, input("x"), &t);
    tap_close(a.d_out ? "out" : "joined", part("out"),
              a.d_out ? t.out : t.joined, 1e-5, 2e-6);
    agrees("log_sum", t.log_sum_exp, 1e-6, 2e-6);
    trace_free(&t);
    attention_free(&a);
    attention_free(&grad_a);
}

static void texts_and_back(void)
{
    Mask mask;
    Attention grad_a, a = given_texts(&mask, &grad_a);
    const int texts = dim("x", 0), n = dim("x", 1);
    Trace t;
    trace_init_texts(&t, &a, texts, n);
    Trace g;
    trace_init_texts(&g, &a, texts, n);
    float *grad_x = zeros("g_x", part("x")->count);
    tell_attention(&a, mask);
    attention_forward_fast(&a, mask, texts, n, input("x"), &t);
    for (int twice = 0; twice < 2; twice++) { /* what is written, is not
                                                 added to */
        memset(grad_x, 0, part("x")->count * sizeof *grad_x);
        memset(grad_a.memory, 0, grad_a.count * sizeof(float));
        memcpy(a.d_out ? g.out : g.joined, input("g"),
               part("g")->count * sizeof(float));
        attention_backward_fast(&a, mask, texts, n, input("x"), &t, &g,
                                &grad_a, (void *)grad_x);
    }
    agrees("g_x", grad_x, 1e-5, 5e-6);
    agrees("g_parameters", grad_a.memory, 1e-5, 1e-5);
    trace_free(&t);
    trace_free(&g);
    attention_free(&a);
    attention_free(&grad_a);
}

/* The same text by text, with the functions of chapters 13 and 18, for
 * widths that need several tiles. Everything is added to. */
static void texts_as_before(void)
{
    enum { TEXTS = 3, N = 37, D = 20, HEADS = 4, D_K = 9, D_V = 6 };
    Attention a;
    attention_init(&a, &(Attention){.d_x = D,
                                    .d_y = D,
                                    .n_heads = HEADS,
                                    .d_k = D_K,
                                    .d_v = D_V,
                                    .d_out = D,
                                    .has_bias = 1,
                                    .has_out_bias = 1});
    Attention got, due;
    attention_init(&got, &a);
    attention_init(&due, &a);
    tap_fill((int)a.count, a.memory, -0.5, 0.5);
    for (size_t i = 0; i < a.count; i++)
        got.memory[i] = due.memory[i] = 1;
    float *x = any_text(TEXTS * N, D);
    float *grad_x = begun("g_x", TEXTS * N * D, 1);
    float *due_x = begun("due", TEXTS * N * D, 1);
    Trace t;
    trace_init_texts(&t, &a, TEXTS, N);
    Trace g;
    trace_init_texts(&g, &a, TEXTS, N);
    tap_fill(TEXTS * N * D, g.out, -1, 1);
    attention_forward_fast(&a, mask_causal(0), TEXTS, N, (void *)x, &t);
    attention_backward_fast(&a, mask_causal(0), TEXTS, N, (void *)x, &t, &g,
                            &got, (void *)grad_x);
    Trace one, grad_one;
    trace_init_for(&one, &a, N, N);
    trace_init_for(&grad_one, &a, N, N);
    for (int k = 0; k < TEXTS; k++) {
        float *own = x + k * N * D, *own_g = due_x + k * N * D;
        attention_forward(&a, mask_causal(0), NULL, N, N, (void *)own,
                          (void *)own, &one);
        similar("out", N * D, t.out + k * N * D, one.out, 1e-5, ATOL);
        memcpy(grad_one.out, g.out + k * N * D, N * D * sizeof(float));
        attention_backward(&a, N, N, (void *)own, (void *)own, &one,
                           &grad_one, &due, (void *)own_g, (void *)own_g);
    }
    similar("g_x", TEXTS * N * D, grad_x, due_x, 1e-5, 1e-5);
    similar("g_a", a.count, got.memory, due.memory, 1e-5, 5e-5);
    trace_free(&t);
    trace_free(&g);
    trace_free(&one);
    trace_free(&grad_one);
    attention_free(&a);
    attention_free(&got);
    attention_free(&due);
}

/* One block for its six tables, each entry of which is 0 and belongs to
 * one. */
static void trace_test(void)
{
    for (int round = 0; round < 30; round++) {
        const int texts = tap_int(1, 4), n = tap_int(1, 6);
        Attention a = any_attention(tap_int(1, 4), tap_int(0, 6));
        Trace t;
        trace_init_texts(&t, &a, texts, n);
        const int rows = texts * n, heads = a.n_heads;
        const struct {
            float *at;
            int count;
        } table[6] = {
            {t.query, rows * heads * a.d_k},  {t.key, rows * heads * a.d_k},
            {t.value, rows * heads * a.d_v},  {t.log_sum_exp, rows * heads},
            {t.joined, rows * heads * a.d_v}, {t.out, rows * a.d_out}};
        size_t sum = 0;
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < table[i].count; k++)
                table[i].at[k]++;
            sum += (size_t)table[i].count;
        }
        tap_near("count", (double)t.count, (double)sum, 0, 0);
        for (size_t k = 0; k < sum; k++)
            tap_near("tables with this entry", t.memory[k], 1, 0, 0);
        tap_true("no table of scores", !t.scores && !t.weights &&
                                           !t.keep_mask && !t.dropped &&
                                           !t.context && !t.head_query &&
                                           !t.head_key && !t.head_value);
        tap_true("sizes", t.texts == texts && t.n == n && t.m == n);
        trace_free(&t);
        attention_free(&a);
    }
}

static void texts_fit(void)
{
    Attention a = any_attention(2, 3);
    a.d_y = a.d_x;
    attention_free(&a);
    a = (Attention){.d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 2};
    a.context_length = 4;
    attention_init(&a, &a);
    Trace t;
    trace_init_texts(&t, &a, 5, 4);
    attention_texts_check(&a, 5, 4, &t);
    a.context_length = 0;
    attention_texts_check(&a, 5, 4, &t);
    tap_true("they fit", true);
    trace_free(&t);
    attention_free(&a);
}

/* ---- Instruction sets. */

static void sets_test(void)
{
    for (const Kernel *kernel = NULL; (kernel = after(kernel));) {
        AttendFastBackward *own = attend_fast_backward_of(kernel);
        tap_true(kernel->name, own != NULL);
        tap_true(kernel->name, !strcmp(kernel->name, "plain") ==
                                   (own == attend_fast_backward));
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
    "backward.c: attention_call_gradients_check: log_sum_exp is NULL: "    \
    "the "                                                                 \
    "one that attend_fast has filled is needed"
#define NO_ROWS                                                            \
    "backward.c: attention_call_gradients_check: grad_context.at, "        \
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

/* An attention for texts that fits, its gradient, and their traces. */
static Attention self = {
    .d_x = 3, .d_y = 3, .n_heads = 2, .d_k = 2, .d_v = 1, .d_out = 4};
static Attention grad_self;
static Trace of_texts, grad_texts;
static void *const some_x = (float[5 * 4 * 3]){0};

static const Attention *self_but(int *size, int value)
{
    attention_init(&self, &self);
    attention_init(&grad_self, &self);
    trace_init_texts(&of_texts, &self, 5, 4);
    trace_init_texts(&grad_texts, &self, 5, 4);
    if (size)
        *size = value;
    return &self;
}

#define THERE mask_none(), 5, 4, some_x, &of_texts
#define BACK                                                               \
    mask_none(), 5, 4, some_x, &of_texts, &grad_texts, &grad_self, some_x

static void refused_texts(void)
{
    const float table[2][3] = {{0}};
    REFUSES(
        "objects.c: attention_texts_check: 5 texts, and a trace of 0: at "
        "least 1, and the same, are needed",
        attention_texts_check(self_but(&of_texts.texts, 0), 5, 4,
                              &of_texts));
    REFUSES_SUCH("no texts",
                 attention_texts_check(self_but(&of_texts.texts, 0), 0, 4,
                                       &of_texts));
    REFUSES_SUCH("a layer of another size",
                 attention_texts_check(self_but(&self.key.d_in, 9), 5, 4,
                                       &of_texts));
    REFUSES_SUCH("two widths", attention_texts_check(self_but(&self.d_y, 4),
                                                     5, 4, &of_texts));
    REFUSES_SUCH("4 tokens for a context length of 3",
                 attention_texts_check(self_but(&self.context_length, 3), 5,
                                       4, &of_texts));
    REFUSES_SUCH(
        "a trace for 3 tokens",
        attention_texts_check(self_but(&of_texts.n, 3), 5, 4, &of_texts));
    REFUSES("objects.c: trace_init_texts: 0 texts: at least 1 is needed",
            trace_init_texts(&(Trace){0}, self_but(NULL, 0), 0, 4));
    REFUSES("objects.c: trace_init: texts = -1: at least 0 is needed",
            trace_init(&(Trace){0},
                       (self_but(&of_texts.texts, -1), &of_texts)));
    REFUSES("objects.c: trace_init: 65536 texts of 32768 tokens that ask "
            "and 1 that are asked: at most 2147483647 of all texts are "
            "needed",
            trace_init(&(Trace){0}, &(Trace){.texts = 1 << 16,
                                             .n = 1 << 15,
                                             .m = 1,
                                             .n_heads = 1,
                                             .d_k = 1,
                                             .d_v = 1}));
    REFUSES_SUCH("more tokens than an int can count",
                 attention_forward_fast(self_but(NULL, 0), mask_none(),
                                        1 << 16, 1 << 16, some_x,
                                        &of_texts));
    REFUSES_SUCH("more tokens than an int can count",
                 attention_backward_fast(
                     self_but(NULL, 0), mask_none(), 1 << 16, 1 << 16,
                     some_x, &of_texts, &grad_texts, &grad_self, some_x));
    REFUSES("objects.c: trace_check: a trace of 5 texts, without tables "
            "of scores: one whose texts is 0 is needed",
            trace_check((self_but(NULL, 0), &of_texts), 4, 4, 2, 2, 1, 4));
    REFUSES_SUCH(
        "a trace of 4 texts",
        attention_forward_fast(self_but(&of_texts.texts, 4), THERE));
    REFUSES_SUCH("a mask of another size",
                 attention_forward_fast(self_but(NULL, 0),
                                        mask_table(2, 3, table), 5, 4,
                                        some_x, &of_texts));
    REFUSES_SUCH(
        "a trace of 4 texts",
        attention_backward_fast(self_but(&of_texts.texts, 4), BACK));
    REFUSES_SUCH(
        "a gradient's trace of 4 texts",
        attention_backward_fast(self_but(&grad_texts.texts, 4), BACK));
    REFUSES_SUCH(
        "a gradient of other heads",
        attention_backward_fast(self_but(&grad_self.n_heads, 1), BACK));
    REFUSES_SUCH("a mask of another size",
                 attention_backward_fast(
                     self_but(NULL, 0), mask_table(2, 3, table), 5, 4,
                     some_x, &of_texts, &grad_texts, &grad_self, some_x));
    REFUSES_SUCH(
        "a gradient of another size",
        linear_backward_fast((self_but(&grad_self.key.d_out, 1), &self.key),
                             5, some_x, some_x, &grad_self.key, some_x));
}

static void refused_masks(void)
{
    const float table[2][3] = {{0}}, x[6][2] = {{0}}, log_sum_exp[6] = {0};
    float g[6][2];
    const int n[] = {3, 2, 3, 6, 1}, m[] = {3, 2, 2, 1, 6};
    for (int k = 0; k < 5; k++)
        REFUSES_SUCH(tap_words("a mask of 2 times 3 for %d queries and %d "
                               "keys",
                               n[k], m[k]),
                     flash_backward(n[k], m[k], 2, 2,
                                    mask_table(2, 3, table), x, x, x, x,
                                    log_sum_exp, x, g, g, g));
}

int main(void)
{
    EACH("recompute_weights", again_test, "again_*-scores");
    EACH("context_dot_grad", means_test, "means_*-mean");
    TAP(partners_test, "query_part: each meets each, and no two the same");
    EACH("flash_backward", past_test, "past_*-query");
    EACH("flash_backward", all_test, "all_*-query");
    EACH("flash_backward", table_test, "table_*-query");
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
    TAP(sets_test, "attend_fast_backward_of: one for each instruction set");
    TAP(call_fits, "attention_call_gradients_check: what fits");
    TAP(linear_test, "linear_backward_fast: as linear_backward");
    EACH("attention_forward_fast", texts_there, "texts_*-x");
    EACH("attention_backward_fast", texts_and_back, "texts_*-x");
    TAP(texts_as_before, "attention_backward_fast: as text by text");
    TAP(trace_test, "trace_init_texts: six tables in one block");
    TAP(texts_fit, "attention_texts_check: what fits");
    EACH("log_sum_exp_backward", log_sum_test, "again_*-scores");
    TAP(log_sum_adds, "log_sum_exp_backward: adds");
    refused_masks();
    refused_calls();
    refused_texts();
    return tap_done();
}
