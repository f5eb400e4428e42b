/* Chapter 17 against PyTorch: golden/17_positions. */
#define CHAPTER "17_positions"
#include "sets.h"

/* TO WRITE: tests of each function. */

int main(void)
{
    return tap_done();
}
