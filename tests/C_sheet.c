/* Appendix C against PyTorch: golden/C_sheet. */
#define CHAPTER "C_sheet"
#include "golden.h"
#include "attention/C_sheet.h"

/* Every variant of attention, and the same word. */
static void journeys_test(void)
{
    int size[SHEET_ROWS];
    float got[SHEET_ROWS][SHEET_WIDE];
    const Tensor *x = golden("journeys", "x");
    const Tensor *sizes = golden("journeys", "sizes");
    expect_true("as many as PyTorch's", x->shape[0] == SHEET_ROWS);
    sheet_rows(size, got);
    for (int i = 0; i < SHEET_ROWS; i++) {
        const int due = (int)tensor_integers(sizes)[i];
        expect_equal("entries", size[i], due);
        for (int k = 0; k < due; k++)
            expect_near(tap_words("row %d", i), got[i][k],
                        tensor_doubles(x)[i * x->shape[1] + k], 1e-5, 1e-6);
    }
}

int main(void)
{
    TAP("sheet_rows: every attention of the book", journeys_test());
    return tap_done();
}
