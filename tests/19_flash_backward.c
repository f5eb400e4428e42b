/* Chapter 19 against PyTorch's autograd, golden/19_flash_backward, and
 * against the chapters before it. */
#define CHAPTER "19_flash_backward"
#include "sets.h"
#include "gradients.h"
#include "attention/19_flash_backward.h"
#include "attention/14_flash.h"

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

/* The slopes of the log-sum-exps are given. */
static void log_sum_test(void)
{
    const int n = dim("scores", 0), m = dim("scores", 1);
    float *g = begins("g_scores");
    log_sum_exp_backward(n, m, input("scores"), input("log_sum"),
                         input("g_log_sum"), (void *)g);
    adds_up("g_scores", g, 0, strcmp(sets_now, "again_loud") ? 2e-6 : 1e-4);
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

/* What a query of the set may see. */
static Mask mask_of_set(void)
{
    if (!strncmp(sets_now, "past", 4))
        return mask_causal((int)number("first", "first"));
    if (!strncmp(sets_now, "table", 5))
        return mask_table(dim("mask", 0), dim("mask", 1), input("mask"));
    return mask_none();
}

/* After flash_forward. */
static void flash_test(void)
{
    const int n = dim("query", 0), m = dim("key", 0);
    const int d_k = dim("key", 1), d_v = dim("value", 1);
    const double near = strcmp(sets_now, "all_loud") ? 5e-6 : 1e-4;
    const Mask mask = mask_of_set();
    const char *const name[3] = {"g_query", "g_key", "g_value"};
    float *context = room((size_t)(n * d_v)), *sum = room((size_t)n);
    float *g[3];
    for (int i = 0; i < 3; i++)
        g[i] = begins(name[i]);
    flash_forward(n, m, d_k, d_v, mask, input("query"), input("key"),
                  input("value"), (void *)context, sum);
    flash_backward(n, m, d_k, d_v, mask, input("query"), input("key"),
                   input("value"), (void *)context, sum, input("g_context"),
                   (void *)g[0], (void *)g[1], (void *)g[2]);
    for (int i = 0; i < 3; i++)
        adds_up(name[i], g[i], 1e-5, near);
}

/* ---- What is refused. */

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
    EACH("flash_backward", flash_test, "*-query");
    adds("flash_backward", flash_test, "past_6x6x2x4_0");
    EACH("log_sum_exp_backward", log_sum_test, "again_*-scores");
    adds("log_sum_exp_backward", log_sum_test, "again_2x3");
    refused_masks();
    return tap_done();
}
