#include "attention/19_flash_backward.h"
#include "support.h"

/* What chapter 19's kernel refuses, and that kernel for an instruction
 * set. */

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

AttendFastBackward attend_fast_backward_avx512, attend_fast_backward_avx2;

AttendFastBackward *attend_fast_backward_of(const Kernel *kernel)
{
#ifdef HAS_avx512
    if (!strcmp(kernel->name, "AVX-512"))
        return attend_fast_backward_avx512;
#endif
#ifdef HAS_avx2
    if (!strcmp(kernel->name, "AVX2"))
        return attend_fast_backward_avx2;
#endif
    (void)kernel;
    return attend_fast_backward;
}
