/* One block for several tables, and a table of its own. */
#include "tap.h"

/* Stands for the system's, as strict as macOS: a power of 2 that is the size
 * of a pointer or more, and a size that is a multiple of it. */
void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    return size % alignment || posix_memalign(&block, alignment, size)
               ? NULL
               : block;
}

/* Each table is where the one before it ends, and has its entries; one of
 * none is NULL. */
static void block_test(void)
{
    static const int size[5][3] = {
        {1, 7, 11}, {5, 0, 3}, {3, 5, 2}, {0, 9, 9}, {2, 1, 1}};
    float *table[5], *block = NULL;
    size_t count = 0;
    for (int round = 0; round < 2; round++) {
        count = 0;
        for (int k = 0; k < 5; k++) {
            table[k] = next_table(block, &count, size[k][0], size[k][1],
                                  size[k][2]);
            expect_true("no table without a block", block || !table[k]);
        }
        free(new_table(1, 1));
        float(*x)[1000] = new_table(1000, 1000);
        x[999][999] = 7;
        expect_equal("the last entry", x[999][999], 7);
        free(x);
        expect_equal("count", count, 77 + 30 + 2);
        block = block ? block : new_block(count);
    }
    for (size_t k = 0; k < count; k++) {
        expect_equal("entry", block[k], 0);
        block[k] = 1; /* a sanitizer sees whether there is room */
    }
    expect_true("tables", table[0] == block && table[2] == block + 77 &&
                              table[4] == block + 107);
    expect_true("no tables", !table[1] && !table[3]);
    free(block);
}

/* Each size asks for the largest power of two that divides it. */
static void aligned_test(void)
{
    const size_t size[9] = {16, 48, 64, 96, 1, 2, 4, 6, 12};
    const size_t begins[9] = {16, 16, 64, 32, 1, 2, 4, 2, 4};
    for (int k = 0; k < 9; k++) {
        void *at = new_aligned(100, size[k]);
        expect_true(tap_words("of %zu bytes", size[k]),
                    (uintptr_t)at % begins[k] == 0);
        memset(at, 1, 100 * size[k]); /* a sanitizer sees its room */
        free(at);
    }
}

static void sorted_test(void)
{
    const float x[8] = {NAN, 2, -INFINITY, 3.5f, NAN, -1, INFINITY, 2};
    const float due[8] = {INFINITY, 3.5f, 2, 2, -1, -INFINITY, NAN, NAN};
    float *sorted = new_sorted(8, x);
    expect_list("sorted", 8, sorted, due, 0, 0);
    free(sorted);
}

/* Few bytes, and more than a page of 2 MiB, which is begun anew each time:
 * what another has left there is gone. */
static void pages_test(void)
{
    for (int k = 0; k < 4; k++) {
        const size_t size = k % 2 ? ((size_t)2 << 20) + 1 : 100;
        unsigned char *at = new_zeroed_pages(size);
        expect_true(tap_words("of %zu bytes", size),
                    (uintptr_t)at % 64 == 0);
        size_t others = 0;
        for (size_t i = 0; i < size; i++)
            others += at[i] != 0;
        expect_equal("other bytes than 0", others, 0);
        memset(at, 7, size); /* a sanitizer sees its room */
        free(at);
    }
}

/* Of that many layers, rows and columns, behind 2^60 numbers. */
static void table_behind(int layers, int rows, int columns)
{
    size_t count = (size_t)1 << 60;
    next_table(NULL, &count, layers, rows, columns);
}

int main(void)
{
    TAP("next_table: one behind the other, in new_block", block_test());
    TAP("new_aligned: where a vector can be", aligned_test());
    TAP("new_sorted: the largest first, NaN last", sorted_test());
    TAP("new_zeroed_pages: zeros where a vector can be", pages_test());
    REFUSES("18446744073709551615 bytes do not fit into memory: fewer are "
            "needed",
            new_zeroed_pages(SIZE_MAX));
    REFUSES("288230376151711744 pieces of 64 bytes do not fit into memory: "
            "fewer are needed",
            new_aligned((size_t)1 << 58, 64));
    REFUSES(NULL, new_aligned(3, 0));
    REFUSES("1152921504606846976 numbers and a table of -1 times 2 times 3 "
            "more: sizes from 0 on that fit into memory are needed",
            table_behind(-1, 2, 3));
    REFUSES(NULL, table_behind(2, -1, 0));
    REFUSES(NULL, table_behind(0, 2, INT_MIN));
    REFUSES(NULL, table_behind(16, 1 << 30, 1 << 30));
    REFUSES(NULL, table_behind(3, 1 << 30, 1 << 30));
    REFUSES("a table of 0 times 3 numbers: at least 1 of each is needed",
            new_table(0, 3));
    REFUSES(NULL, new_table(2, 0));
#ifndef __SANITIZE_ADDRESS__ /* which stops at calls for so much */
    REFUSES("1152921504606846976 pieces of 4 bytes do not fit into memory: "
            "fewer are needed",
            new_list((size_t)1 << 60, 4));
    REFUSES(NULL, new_block((size_t)1 << 60));
#endif
    return tap_done();
}
