/* Chapter 18 against PyTorch: golden/18_backward. */
#define CHAPTER "18_backward"
#include "sets.h"

/* TO WRITE: tests of each function. */

int main(void)
{
    return tap_done();
}
