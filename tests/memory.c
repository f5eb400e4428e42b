/* One block for several tables, and a table of its own. */
#include "tap.h"

/* Each table is where the one before it ends, and has its entries; one of
 * none is NULL. */
static void block_test(void)
{
    float *table[5];
    const BlockPart part[5] = {{&table[0], 1, 7, 11},
                               {&table[1], 5, 0, 3},
                               {&table[2], 3, 5, 2},
                               {&table[3], 0, 9, 9},
                               {&table[4], 2, 1, 1}};
    size_t count = 1;
    tap_near("counted", (double)block_count(5, part), 77 + 30 + 2, 0, 0);
    float *block = new_block(5, part, &count);
    tap_near("count", (double)count, 77 + 30 + 2, 0, 0);
    for (size_t k = 0; k < count; k++) {
        tap_near("entry", block[k], 0, 0, 0);
        block[k] = 1; /* a sanitizer sees whether there is room */
    }
    tap_true("tables", table[0] == block && table[2] == block + 77 &&
                           table[4] == block + 107);
    tap_true("no tables", !table[1] && !table[3]);
    free(block);
}

static void table_test(void)
{
    float(*x)[1000] = (void *)new_table(1000, 1000);
    x[999][999] = 7;
    tap_near("the last entry", x[999][999], 7, 0, 0);
    free(x);
}

/* Each size asks for the largest power of two that divides it. */
static void aligned_test(void)
{
    const size_t size[4] = {16, 48, 64, 96}, begins[4] = {16, 16, 64, 32};
    for (int k = 0; k < 4; k++) {
        void *at = new_aligned(100, size[k]);
        tap_near(tap_words("of %zu bytes", size[k]),
                 (double)((uintptr_t)at % begins[k]), 0, 0, 0);
        memset(at, 1, 100 * size[k]); /* a sanitizer sees its room */
        free(at);
    }
}

/* Few bytes, and more than a page of 2 MiB, which is begun anew each time:
 * what another has left there is gone. */
static void pages_test(void)
{
    const size_t many = ((size_t)2 << 20) + 1, bytes[3] = {1, 100, many};
    for (int k = 0; k < 6; k++) {
        const size_t size = bytes[k % 3];
        unsigned char *at = new_zeroed_pages(size);
        tap_near(tap_words("of %zu bytes", size),
                 (double)((uintptr_t)at % 64), 0, 0, 0);
        size_t others = 0;
        for (size_t i = 0; i < size; i++)
            others += at[i] != 0;
        tap_near("other bytes than 0", (double)others, 0, 0, 0);
        memset(at, 7, size); /* a sanitizer sees its room */
        free(at);
    }
}

static float *table, *other;
static size_t count;

/* Two tables, of which the first has these sizes, and the second 2^60
 * entries. */
static const BlockPart *parts(int layers, int rows, int columns)
{
    static BlockPart part[2];
    part[0] = (BlockPart){&table, layers, rows, columns};
    part[1] = (BlockPart){&other, 1, 1 << 30, 1 << 30};
    return part;
}

int main(void)
{
    TAP(block_test, "new_block: one table behind the other");
    TAP(block_test, "block_count: the same before it is made");
    TAP(table_test, "new_table: room for every entry");
    TAP(aligned_test, "new_aligned: where a vector can be");
    TAP(pages_test, "new_zeroed_pages: zeros where a vector can be");
    REFUSES(
        "memory.c: new_zeroed_pages: 18446744073709551615 bytes do not fit "
        "into memory: fewer are needed",
        new_zeroed_pages(SIZE_MAX));
    REFUSES("memory.c: new_aligned: 288230376151711744 pieces of 64 bytes "
            "do not fit into memory: fewer are needed",
            new_aligned((size_t)1 << 58, 64));
    REFUSES("memory.c: entries: a table of -1 times 2 times 3 numbers: "
            "sizes from 0 on that fit into memory are needed",
            new_block(1, parts(-1, 2, 3), &count));
    REFUSES(NULL, new_block(1, parts(2, -1, 0), &count));
    REFUSES(NULL, new_block(1, parts(0, 2, INT_MIN), &count));
    REFUSES(NULL, new_block(1, parts(16, 1 << 30, 1 << 30), &count));
    REFUSES("memory.c: block_count: 3458764513820540928 numbers and "
            "1152921504606846976 more: fewer, that fit into memory, are "
            "needed",
            new_block(2, parts(3, 1 << 30, 1 << 30), &count));
    REFUSES("memory.c: new_table: a table of 0 times 3 numbers: at least "
            "1 of each is needed",
            new_table(0, 3));
    REFUSES(NULL, new_table(2, 0));
#ifndef __SANITIZE_ADDRESS__ /* which stops at calls for so much */
    REFUSES(NULL, new_table(INT_MAX, INT_MAX));
    REFUSES("memory.c: new_block: 1152921504606846976 numbers do not fit "
            "into memory: fewer are needed",
            new_block(1, parts(1, 1 << 30, 1 << 30), &count));
#endif
    return tap_done();
}
