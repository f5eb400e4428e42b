/*
# A model that has read this book {#gpt}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
TO WRITE: the functions, each behind the prose that leads to it; exercises
among them; figures.
*/

static void show_gpt(void)
{
    printf("gpt\n");
}

/*
TO WRITE: what the program prints, and what is to be seen in it.

``` output
gpt
```

## In PyTorch {#gpt-pytorch}

TO WRITE: the same in PyTorch.

``` python
print("gpt")
```

## Everything together
*/

int main(void)
{
    show_gpt();
    return 0;
}

/*
TO WRITE: what comes next.
*/
