/*
## How a program begins and ends: `program.c` {#header-program}
*/

#pragma once

/* Runs a program, given as a function such as main, and returns its exit
 * status. What it prints may reach the disk only at its end: then standard
 * output that could not be written is refused. A file that grows beyond
 * what `ulimit -f` allows is refused like a full disk, too; without this
 * call, the signal SIGXFSZ would end the program without a word. Programs
 * that this one starts ignore the signal as well. */
int run_program(int (*program)(int argc, char *argv[]), int argc,
                char *argv[]);

/* Refuses standard output that could not be written. */
void output_check(void);
