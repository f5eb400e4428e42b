/* Appendix C against PyTorch: golden/C_sheet. */
#define CHAPTER "C_sheet"
#include "sets.h"
#include "attention/C_sheet.h"

/* Every variant of attention, and the same word. */
static void journeys_test(void)
{
    SheetRow table[SHEET_ROWS];
    const Tensor *x = golden("C_sheet/journeys-x");
    const Tensor *sizes = golden("C_sheet/journeys-sizes");
    tap_true("as many as PyTorch's", x->shape[0] == SHEET_ROWS);
    sheet_rows(table);
    for (int i = 0; i < SHEET_ROWS; i++) {
        const int size = (int)tensor_integers(sizes)[i];
        tap_near("entries", table[i].size, size, 0, 0);
        for (int k = 0; k < size; k++)
            tap_near(table[i].name, table[i].x[k],
                     tensor_doubles(x)[i * x->shape[1] + k], 1e-5, 1e-6);
    }
}

int main(void)
{
    TAP(journeys_test, "sheet_rows: every attention of the book");
    return tap_done();
}
