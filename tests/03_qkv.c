/* Chapter 3 against PyTorch: golden/03_qkv. */
#define CHAPTER "03_qkv"
#include "sets.h"

#define HEADS                                                              \
    "paper", "cat", "head_1x1x1x1", "head_2x3x4x5", "head_5x4x3x2",        \
        "head_7x6x2x9"
#define ONES                                                               \
    "one_1x1x1", "one_1x2x3", "one_4x3x2", "one_3x5x7", "one_9x2x4",       \
        "one_loud"

/* How far a sum of products may be off; and a softmax of such sums, whose
 * shares are off by as much of themselves as the scores are off. */
#define SUM_RTOL 1e-5
#define SUM_ATOL 1e-6
#define WEIGHT_RTOL 3e-6
#define WEIGHT_ATOL 1e-7
#define LOUD_RTOL 3e-4 /* scores of some thousand */

static void project_test(void)
{
    const Tensor *x = part("x"), *w_query = part("w_query");
    const Tensor *w_key = part("w_key"), *w_value = part("w_value");
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value");
    float *got[3] = {room(query->count), room(key->count),
                     room(value->count)};
    project(x->shape[0], x->shape[1], query->shape[1], value->shape[1],
            floats(x), floats(w_query), floats(w_key), floats(w_value),
            (void *)got[0], (void *)got[1], (void *)got[2]);
    tap_close("query", query, got[0], SUM_RTOL, SUM_ATOL);
    tap_close("key", key, got[1], SUM_RTOL, SUM_ATOL);
    tap_close("value", value, got[2], SUM_RTOL, SUM_ATOL);
}

/* Are the scores so large that float32 knows only some digits of a share? */
static bool is_loud(const Tensor *scores)
{
    for (size_t j = 0; j < scores->count; j++)
        if (fabs(tensor_doubles(scores)[j]) > 20)
            return true;
    return false;
}

static void one_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value"), *scores = part("scores");
    const Tensor *weights = part("weights"), *context = part("context");
    int m = key->shape[0], d_k = key->shape[1], d_v = value->shape[1];
    float *got[3] = {room(scores->count), room(weights->count),
                     room(context->count)};
    attend_one(m, d_k, d_v, floats(query), floats(key), floats(value),
               got[0], got[1], got[2]);
    double rtol = is_loud(scores) ? LOUD_RTOL : WEIGHT_RTOL;
    tap_close("scores", scores, got[0], SUM_RTOL, SUM_ATOL);
    tap_close("weights", weights, got[1], rtol, WEIGHT_ATOL);
    tap_close("context", context, got[2], rtol, SUM_ATOL);
}

/* The rows of a whole head, a query at a time, from PyTorch's queries. */
static void head_test(void)
{
    const Tensor *query = part("query"), *key = part("key");
    const Tensor *value = part("value"), *scores = part("scores");
    const Tensor *weights = part("weights"), *context = part("context");
    int n = query->shape[0], d_k = query->shape[1], d_v = value->shape[1];
    float *q = rounded(query), *k = rounded(key), *v = rounded(value);
    float *got[3] = {room(scores->count), room(weights->count),
                     room(context->count)};
    for (int i = 0; i < n; i++)
        attend_one(n, d_k, d_v, q + i * d_k, (void *)k, (void *)v,
                   got[0] + i * n, got[1] + i * n, got[2] + i * d_v);
    tap_close("scores", scores, got[0], SUM_RTOL, SUM_ATOL);
    tap_close("weights", weights, got[1], WEIGHT_RTOL, WEIGHT_ATOL);
    tap_close("context", context, got[2], SUM_RTOL, SUM_ATOL);
}

/* Keys and values in another order: the same context. */
static void one_in_any_order(void)
{
    enum { M = 9, D_K = 3, D_V = 4 };
    float query[D_K], key[M][D_K], value[M][D_V], scores[M], weights[M];
    float turned_key[M][D_K], turned_value[M][D_V];
    float context[D_V], turned_context[D_V];
    for (int round = 0; round < 50; round++) {
        int shift = tap_int(1, M - 1);
        tap_fill(D_K, query, -2, 2);
        tap_fill(M * D_K, (void *)key, -2, 2);
        tap_fill(M * D_V, (void *)value, -2, 2);
        for (int j = 0; j < M; j++) {
            memcpy(turned_key[(j + shift) % M], key[j], sizeof key[j]);
            memcpy(turned_value[(j + shift) % M], value[j],
                   sizeof value[j]);
        }
        attend_one(M, D_K, D_V, query, key, value, scores, weights,
                   context);
        attend_one(M, D_K, D_V, query, turned_key, turned_value, scores,
                   weights, turned_context);
        for (int k = 0; k < D_V; k++)
            tap_near("context", turned_context[k], context[k], SUM_RTOL,
                     SUM_ATOL);
    }
}

/* The verb shares its attention between the two animals, the others ask as
 * with the matrix of the chapter, which is the golden one. */
static void hand_test(void)
{
    sets_now = "cat";
    const Tensor *x = part("x"), *weights = part("weights");
    const float(*words)[3] = floats(x);
    float w_query[3][3], query[3][3], scores[3][3], got[3][3];
    hand_weights(w_query);
    matmul(3, 3, 3, words, w_query, query);
    dot_scores(3, 3, 3, query, words, scores);
    softmax_rows(3, 3, scores, got);
    for (int j = 0; j < 3; j++) {
        tap_near("cat", got[0][j], tensor_doubles(weights)[j], 1e-5, 1e-6);
        tap_near("fish", got[2][j], tensor_doubles(weights)[6 + j], 1e-5,
                 1e-6);
    }
    tap_near("likes: cat and fish", got[1][0], got[1][2], 1e-5, 1e-6);
    tap_true("likes: hardly anything to itself", got[1][1] < 0.05f);
}

int main(void)
{
    SETS("project", project_test, HEADS);
    SETS("attend_one", one_test, ONES);
    SETS("attend_one", head_test, HEADS);
    TAP(one_in_any_order, "attend_one: keys and values in any order");
    TAP(hand_test, "hand_weights: likes asks for both animals");
    return tap_done();
}
