/* Appendix C against PyTorch: golden/C_sheet. */
#define CHAPTER "C_sheet"
#include "golden.h"
#include "attention/C_sheet.h"

static void journeys_test(void)
{
    int size[SHEET_ROWS];
    float got[SHEET_ROWS][SHEET_WIDE];
    const double *x = golden_doubles("journeys", "x");
    const int64_t *sizes = golden_integers("journeys", "sizes");
    const int wide = dim("journeys", "x", 1);
    expect_equal("rows", SHEET_ROWS, dim("journeys", "x", 0));
    sheet_rows(size, got);
    for (int i = 0; i < SHEET_ROWS; i++) {
        expect_equal("entries", size[i], (double)sizes[i]);
        for (int k = 0; k < sizes[i]; k++)
            expect_near(tap_words("row %d", i), got[i][k], x[i * wide + k],
                        SUMS);
    }
}

int main(void)
{
    TAP("sheet_rows: every attention of the book", journeys_test());
    return tap_done();
}
