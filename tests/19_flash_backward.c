/* Chapter 19 against PyTorch's autograd, golden/19_flash_backward, and
 * against the chapters before it. */
#define CHAPTER "19_flash_backward"
#include "golden.h"
#include "attention/19_flash_backward.h"
#include "attention/14_flash.h"

/* The digits of a log-sum-exp are those of e to its power: how near weights
 * come. */
static double near(const char *set)
{
    return strcmp(set, "again_loud") ? 2e-6 : 1e-4;
}

static void log_sum_test(const char *set, float start)
{
    log_sum_exp_backward(SHAPE(set, "scores"), input(set, "scores"),
                         input(set, "log_sum"), input(set, "g_log_sum"),
                         added(set, "g_scores", start, 0, near(set)));
}

/* ---- Rounds. */

static void partners_test(void)
{
    for (int parts = 1; parts <= 12; parts++) {
        bool met[12][12] = {{0}};
        for (int round = 0; round < parts; round++) {
            bool busy[12] = {0};
            for (int keys = 0; keys < parts; keys++) {
                next_case();
                given("parts = %d, keys = %d, round = %d", parts, keys,
                      round);
                const int queries = query_part(parts, keys, round);
                const bool is_part = queries >= 0 && queries < parts;
                expect(is_part, "partner", "%d is no part", queries);
                if (!is_part)
                    return;
                expect(!busy[queries], "partner",
                       "part %d of the queries is met twice in a round",
                       queries);
                expect(!met[keys][queries], "partner",
                       "part %d of the queries was met before", queries);
                busy[queries] = met[keys][queries] = true;
            }
        }
    }
}

/* ---- flash_backward. */

/* What a query of the set may see. */
static Mask mask_of_set(const char *set)
{
    if (!strncmp(set, "past", 4))
        return mask_causal((int)input_number(set, "first", "first"));
    if (!strncmp(set, "table", 5))
        return mask_table(SHAPE(set, "mask"), input(set, "mask"));
    return mask_none();
}

/* After flash_forward. */
static void flash_test(const char *set, float start)
{
    const int n = dim(set, "query", 0), m = dim(set, "key", 0);
    const int d_k = dim(set, "key", 1), d_v = dim(set, "value", 1);
    const double atol = strcmp(set, "all_loud") ? 5e-6 : 1e-4;
    const Mask mask = mask_of_set(set);
    float *context = guarded("context", (size_t)(n * d_v));
    float *log_sum_exp = guarded("log_sum_exp", (size_t)n);
    flash_forward(n, m, d_k, d_v, mask, input(set, "query"),
                  input(set, "key"), input(set, "value"), (void *)context,
                  log_sum_exp);
    flash_backward(n, m, d_k, d_v, mask, input(set, "query"),
                   input(set, "key"), input(set, "value"), (void *)context,
                   log_sum_exp, input(set, "g_context"),
                   added(set, "g_query", start, 1e-5, atol),
                   added(set, "g_key", start, 1e-5, atol),
                   added(set, "g_value", start, 1e-5, atol));
}

int main(void)
{
    const float table[2][3] = {{0}}, x[3][2] = {{0}}, log_sum_exp[3] = {0};
    float g[3][2];
    EACH_SET("recompute_weights", "again_*-scores",
             recompute_weights(SHAPE(set, "scores"), input(set, "log_sum"),
                               changed_as(set, "scores", "weights",
                                          "weights", 0, near(set))));
    EACH_SET("context_dot_grad", "means_*-mean",
             context_dot_grad(SHAPE(set, "context"), input(set, "log_sum"),
                              input(set, "context"),
                              input(set, "g_context"),
                              due(set, "mean", 1e-5, 2e-6)));
    TAP("query_part: each meets each, and no two the same",
        partners_test());
    ADDS("flash_backward", "*-query", "past_6x6x2x4_0", flash_test);
    ADDS("log_sum_exp_backward", "again_*-scores", "again_2x3",
         log_sum_test);
    /* A mask with rows and columns exchanged, or of other queries. */
    for (int n = 2; n <= 3; n++)
        REFUSES_SUCH(tap_words("a mask of 2 times 3 for %d queries and "
                               "2 keys",
                               n),
                     flash_backward(n, 2, 2, 2, mask_table(2, 3, table), x,
                                    x, x, x, log_sum_exp, x, g, g, g));
    return tap_done();
}
