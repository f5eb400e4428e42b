/* What new_aligned asks of the system, where that is as strict as macOS. */
#include "tap.h"

/* Stands for the system's: a power of 2 that is the size of a pointer or
 * more, and a size that is a multiple of it. It has room for one block at a
 * time, which is not freed. */
void *aligned_alloc(size_t alignment, size_t size)
{
    static _Alignas(64) char block[9600];
    return alignment < sizeof(void *) || size % alignment ||
                   size > sizeof block
               ? NULL
               : block;
}

static void asks_test(void)
{
    const size_t size[8] = {1, 2, 4, 6, 12, 16, 64, 96};
    for (int k = 0; k < 8; k++) {
        given("pieces of %zu bytes", size[k]);
        void *at = new_aligned(100, size[k]);
        memset(at, 1, 100 * size[k]);
        if (size[k] % 16)
            free(at);
    }
    expect_true("all were given", true);
}

int main(void)
{
    TAP("new_aligned: as macOS wants to be asked", asks_test());
    return tap_done();
}
