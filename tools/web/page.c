/* Begins what a page runs: its program, or the workbench, where it has one.
 * Which of them is what it is called by. */

#include <string.h>

#include "support/program.h"

int PROGRAM(int argc, char *argv[]);
int BENCH(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    const int is_bench = argc && !strcmp(argv[0], "workbench");
    return run_program(is_bench ? BENCH : PROGRAM, argc, argv);
}
