/*
# The way back, in tiles {#flash-backward}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_flash_backward(void)
{
    printf("flash_backward\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
flash_backward
```

## In PyTorch {#flash-backward-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("flash_backward")
```

## Everything together
*/

int main(void)
{
    show_flash_backward();
    return 0;
}

/*
TO WRITE: what comes next.
*/
