#include "attention/pytorch.h"
#include "support.h"
#include "support/tsv.h"

void pytorch_losses(float losses[6])
{
    static const char *const column[2] = {"step", "loss"};
    Tsv file = tsv_read("golden/21_training.tsv");
    tsv_columns(&file, 2, column);
    for (int k = 0; k < 6; k++) {
        const int step = k ? 20 * k : 1;
        tsv_row(&file, 2);
        tsv_integer(&file, 0, column[0], step, step);
        losses[k] = (float)tsv_number(&file, 1, column[1]);
    }
    tsv_end_check(&file);
    tsv_free(&file);
}
