/*
## The machine: `machine.c` {#header-machine}
*/

#pragma once

/* The name of this machine's processor, where Linux tells it. */
void processor_name(int size, char name[size]);
