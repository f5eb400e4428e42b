/*
## The machine: `machine.c` {#header-machine}
*/

#pragma once

/* The name of this machine's processor, where Linux tells it. */
void processor_name(int size, char name[size]);

/* How many threads are worth their while for so many products: as many as
 * are asked for, or with 0 as there are processors; and 1 for less than a
 * million products, where the caller is one of several threads itself, or
 * where the library was compiled without OpenMP. */
int threads_for(double products, int wanted);
