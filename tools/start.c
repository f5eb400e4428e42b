/* The beginning of a chapter's program, PROGRAM, which the Makefile names. */
#include "support/program.h"

int PROGRAM(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return run_program(PROGRAM, argc, argv);
}
