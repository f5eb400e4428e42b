#define _POSIX_C_SOURCE 200809L /* SIGXFSZ */
#include "support/program.h"
#include "support.h"

#ifndef __wasi__ /* a page, which has no signals */
#include <signal.h>
#endif

/* The C library may hold back what a program prints until the program ends.
 * That a disk is full may be known only then. */
void output_check(void)
{
    errno = 0;
    if (ferror(stdout) | fflush(stdout))
        REFUSE("standard output cannot be written: %s",
               errno ? strerror(errno) : "some of it is lost");
}

int run_program(int (*program)(int argc, char *argv[]), int argc,
                char *argv[])
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
    const int status = program(argc, argv);
    output_check();
    return status;
}
