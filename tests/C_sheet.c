/* Appendix C against PyTorch: golden/C_sheet. */
#define CHAPTER "C_sheet"
#include "sets.h"

/* Every variant of attention, and the same word. */
static void journeys_test(void)
{
    Journey table[JOURNEYS];
    const int64_t *size = integers("sizes");
    const double *x = doubles("x");
    const int width = dim("x", 1);
    tap_near("as many as PyTorch's", dim("x", 0), JOURNEYS, 0, 0);
    journeys(table);
    for (int i = 0; i < JOURNEYS; i++) {
        tap_near("entries", table[i].size, (double)size[i], 0, 0);
        for (int k = 0; k < size[i]; k++)
            tap_near(table[i].name, table[i].x[k], x[i * width + k], 1e-5,
                     1e-6);
    }
}

int main(void)
{
    SETS("journeys", journeys_test, "journeys");
    return tap_done();
}
