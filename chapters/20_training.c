/*
# A head that learns {#training}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_training(void)
{
    printf("training\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
training
```

## In PyTorch {#training-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("training")
```

## Everything together
*/

int main(void)
{
    show_training();
    return 0;
}

/*
TO WRITE: what comes next.
*/
