/* Chapter 21 against PyTorch: golden/21_gpt. */
#define CHAPTER "21_gpt"
#include "sets.h"

/* TO WRITE: tests of each function. */

int main(void)
{
    return tap_done();
}
