/* What a call of the kernel refuses, before anything is computed or written:
 * sizes, rows, threads and masks. It stands by itself, since attend.c and
 * backward.c, which ask for it, are compiled several times, and it is the
 * same for all. It serves no page: whoever calls best_kernel()->attend or
 * attend_backward meets its messages. */
#include "attention/kernel.h"
#include "support.h"

void attention_call_check(const AttentionCall *call)
{
    const int key_heads =
        call->n_kv_heads ? call->n_kv_heads : call->n_heads;
    if (call->texts < 1 || call->n_heads < 1 || call->n < 1 ||
        call->m < 1 || call->d_k < 1 || call->d_v < 1)
        REFUSE("%d texts, %d heads, %d queries, %d keys of %d entries and "
               "values of %d: at least 1 of each is needed",
               call->texts, call->n_heads, call->n, call->m, call->d_k,
               call->d_v);
    if ((double)call->texts * call->n_heads * call->n > INT_MAX)
        REFUSE("%d texts of %d heads with %d queries: an int cannot count "
               "more than %d in all",
               call->texts, call->n_heads, call->n, INT_MAX);
    if (call->m > INT_MAX - 1024 || call->d_k > 1 << 20 ||
        call->d_v > 1 << 20)
        REFUSE(
            "%d keys of %d entries and values of %d: at most %d keys, and "
            "%d entries, are needed",
            call->m, call->d_k, call->d_v, INT_MAX - 1024, 1 << 20);
    if (key_heads < 1 || call->n_heads % key_heads)
        REFUSE("%d heads share %d of keys: a divisor of %d is needed",
               call->n_heads, key_heads, call->n_heads);
    if (call->threads < 0)
        REFUSE("%d threads: at least 1, or 0 for all, are needed",
               call->threads);
    if (!call->query.at || !call->key.at || !call->value.at ||
        !call->context.at)
        REFUSE("query.at, key.at, value.at or context.at is NULL: rows are "
               "needed for each");
    mask_check(call->n, call->m, call->mask);
}

void attention_call_gradients_check(const AttentionCall *call,
                                    StridedRows grad_context,
                                    StridedRows grad_query,
                                    StridedRows grad_key,
                                    StridedRows grad_value)
{
    attention_call_check(call);
    if (!call->log_sum_exp)
        REFUSE(
            "log_sum_exp is NULL: the one that attend_fast has filled is "
            "needed");
    if (!grad_context.at || !grad_query.at || !grad_key.at ||
        !grad_value.at)
        REFUSE("grad_context.at, grad_query.at, grad_key.at or "
               "grad_value.at is NULL: rows are needed for each");
}
