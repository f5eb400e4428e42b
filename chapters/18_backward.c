/*
# What every number did {#backward}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_backward(void)
{
    printf("backward\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
backward
```

## In PyTorch {#backward-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("backward")
```

## Everything together
*/

int main(void)
{
    show_backward();
    return 0;
}

/*
TO WRITE: what comes next.
*/
