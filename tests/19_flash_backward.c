/* Chapter 19 against PyTorch: golden/19_flash_backward. */
#define CHAPTER "19_flash_backward"
#include "sets.h"

/* TO WRITE: tests of each function. */

int main(void)
{
    return tap_done();
}
