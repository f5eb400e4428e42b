#define _DEFAULT_SOURCE /* madvise */
#include "support/memory.h"
#include "support.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

/* The entries of a part: the product of its sizes, if a block can hold
 * it. */
static size_t entries(const BlockPart *p)
{
    const int size[3] = {p->layers, p->rows, p->columns};
    const int is_empty = !p->layers || !p->rows || !p->columns;
    size_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (size[i] < 0 ||
            (!is_empty &&
             product > SIZE_MAX / sizeof(float) / (size_t)size[i]))
            REFUSE("a table of %d times %d times %d numbers: sizes from 0 "
                   "on that fit into memory are needed",
                   p->layers, p->rows, p->columns);
        product *= (size_t)size[i];
    }
    return product;
}

size_t block_count(int parts, const BlockPart part[parts])
{
    size_t count = 0;
    for (int i = 0; i < parts; i++) {
        const size_t more = entries(&part[i]);
        if (more > SIZE_MAX / sizeof(float) - count)
            REFUSE("%zu numbers and %zu more: fewer, that fit into memory, "
                   "are needed",
                   count, more);
        count += more;
    }
    return count;
}

float *new_block(int parts, const BlockPart part[parts], size_t *count)
{
    *count = block_count(parts, part);
    float *block = calloc(*count, sizeof *block), *at = block;
    if (!block)
        REFUSE("%zu numbers do not fit into memory: fewer are needed",
               *count);
    for (int i = 0; i < parts; i++) {
        const size_t more = entries(&part[i]);
        *part[i].table = more ? at : NULL;
        at += more;
    }
    return block;
}

void *new_table(int n, int m)
{
    float *x;
    size_t count;
    if (n < 1 || m < 1)
        REFUSE("a table of %d times %d numbers: at least 1 of each is "
               "needed",
               n, m);
    return new_block(1, &(BlockPart){&x, 1, n, m}, &count);
}

void *new_aligned(size_t count, size_t size)
{
    const size_t alignment = size & (~size + 1);
    void *at = count > SIZE_MAX / size
                   ? NULL
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
