/*
# Where a word stands {#positions}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_positions(void)
{
    printf("positions\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
positions
```

## In PyTorch {#positions-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("positions")
```

## Everything together
*/

int main(void)
{
    show_positions();
    return 0;
}

/*
TO WRITE: what comes next.
*/
