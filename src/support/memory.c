#define _DEFAULT_SOURCE /* madvise */
#include "support/memory.h"
#include "support.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

void *new_list(size_t count, size_t size)
{
    void *list = calloc(count, size);
    if (!list)
        REFUSE("%zu pieces of %zu bytes do not fit into memory: fewer are "
               "needed",
               count, size);
    return list;
}

float *new_block(size_t count)
{
    return new_list(count, sizeof(float));
}

float *next_table(float *block, size_t *count, int layers, int rows,
                  int columns)
{
    const size_t first = *count, most = SIZE_MAX / sizeof(float) - first;
    const int size[3] = {layers, rows, columns};
    const int is_empty = !layers || !rows || !columns;
    size_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (size[i] < 0 || (!is_empty && product > most / (size_t)size[i]))
            REFUSE("%zu numbers and a table of %d times %d times %d more: "
                   "sizes from 0 on that fit into memory are needed",
                   first, layers, rows, columns);
        product *= (size_t)size[i];
    }
    *count += product;
    return block && product ? block + first : NULL;
}

void *new_table(int n, int m)
{
    size_t count = 0;
    if (n < 1 || m < 1)
        REFUSE("a table of %d times %d numbers: at least 1 of each is "
               "needed",
               n, m);
    next_table(NULL, &count, 1, n, m);
    return new_block(count);
}

/* And NaN last, of which every comparison is false. */
static int larger_first(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x != x) - (y != y) + (x < y) - (x > y);
}

float *new_sorted(int n, const float x[n])
{
    float *sorted = new_list((size_t)n, sizeof *sorted);
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, larger_first);
    return sorted;
}

/* What malloc returns is aligned for a pointer; macOS's aligned_alloc
 * refuses to align for anything less. */
void *new_aligned(size_t count, size_t size)
{
    const size_t alignment = size & (~size + 1);
    void *at = !size || count > SIZE_MAX / size ? NULL
               : alignment <= sizeof(void *)
                   ? malloc(count * size)
                   : aligned_alloc(alignment, count * size);
    if (!at)
        REFUSE("%zu pieces of %zu bytes do not fit into memory: fewer are "
               "needed",
               count, size);
    return at;
}

void *new_zeroed_pages(size_t bytes)
{
    const size_t huge = (size_t)2 << 20, page = bytes < huge ? 64 : huge;
    const size_t size = (bytes + page - 1) / page * page;
    void *at = size < bytes ? NULL : aligned_alloc(page, size);
    if (!at)
        REFUSE("%zu bytes do not fit into memory: fewer are needed", bytes);
#ifdef MADV_HUGEPAGE
    if (page == huge)
        madvise(at, size, MADV_HUGEPAGE);
#endif
    return memset(at, 0, size);
}
