/*
## How a program begins and ends: `program.c` {#header-program}
*/

#pragma once

/* Runs a program, given as a function such as main, and returns its exit
 * status. What it prints may reach the disk only at its end: standard output
 * that could not be written is refused then. A file that grows beyond what
 * `ulimit -f` allows can't be written either, as if the disk were full;
 * without this call, the system's signal SIGXFSZ would end the program
 * without a message. Programs that this one starts ignore it, too. */
int run_program(int (*program)(int argc, char *argv[]), int argc,
                char *argv[]);

/* Refuses standard output that could not be written: on a full disk, say. */
void output_check(void);
