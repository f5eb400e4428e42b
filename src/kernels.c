#include "attention.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int threads_for(int64_t products, int asked)
{
#ifdef _OPENMP
    if (products >= 1 << 20)
        return asked ? asked : omp_get_max_threads();
#endif
    (void)products;
    (void)asked;
    return 1;
}

void job_must_fit(const Job *job)
{
    const int key_heads =
        job->n_key_heads ? job->n_key_heads : job->n_heads;
    if (job->texts < 1 || job->n_heads < 1 || job->n < 1 || job->m < 1 ||
        job->d_k < 1 || job->d_v < 1)
        REFUSE("%d texts, %d heads, %d queries, %d keys of %d entries and "
               "values of %d: at least 1 of each is needed",
               job->texts, job->n_heads, job->n, job->m, job->d_k,
               job->d_v);
    if (key_heads < 1 || job->n_heads % key_heads)
        REFUSE("%d heads share %d of keys: a divisor is needed",
               job->n_heads, key_heads);
    if (job->threads < 0)
        REFUSE("%d threads: at least 1, or 0 for all, are needed",
               job->threads);
    if (!job->query.at || !job->key.at || !job->value.at ||
        !job->context.at)
        REFUSE(
            "rows that are not there: queries, keys, values and room for "
            "contexts are needed");
    mask_must_fit(job->n, job->m, job->see);
}
