/* Chapter 20 against PyTorch: golden/20_training. */
#define CHAPTER "20_training"
#include "sets.h"

/* TO WRITE: tests of each function. */

int main(void)
{
    return tap_done();
}
