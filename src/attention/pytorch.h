/*
## What PyTorch found: `pytorch.c` {#header-pytorch}
*/

#pragma once

/* The losses before step 1, 20, 40, ..., 100 of a training by PyTorch, in
 * float64: the one that chapter 21 shows first. Refuses a file
 * golden/21_training.tsv that lacks these steps or their losses. */
void pytorch_losses(float losses[6]);
