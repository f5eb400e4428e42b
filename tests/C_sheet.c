/* Appendix C against PyTorch: golden/C_sheet. */
#define CHAPTER "C_sheet"
#include "sets.h"
#include "attention/C_sheet.h"

/* Every variant of attention, and the same word. */
static void journeys_test(void)
{
    int size[SHEET_ROWS];
    float got[SHEET_ROWS][SHEET_WIDE];
    const Tensor *x = golden("C_sheet/journeys-x");
    const Tensor *sizes = golden("C_sheet/journeys-sizes");
    tap_true("as many as PyTorch's", x->shape[0] == SHEET_ROWS);
    sheet_rows(size, got);
    for (int i = 0; i < SHEET_ROWS; i++) {
        const int due = (int)tensor_integers(sizes)[i];
        tap_near("entries", size[i], due, 0, 0);
        for (int k = 0; k < due; k++)
            tap_near(tap_words("row %d", i), got[i][k],
                     tensor_doubles(x)[i * x->shape[1] + k], 1e-5, 1e-6);
    }
}

int main(void)
{
    TAP(journeys_test, "sheet_rows: every attention of the book");
    return tap_done();
}
