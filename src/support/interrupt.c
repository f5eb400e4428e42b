#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "support/interrupt.h"
#include "support.h"

#ifdef __wasi__ /* a page, which ends its programs by itself */

void stop_when_interrupted(void)
{
}

int is_interrupted(void)
{
    return 0;
}

#else

#include <signal.h>

static volatile sig_atomic_t has_come;

static void note(int signal_number)
{
    (void)signal_number;
    has_come = 1;
}

/* The first Ctrl-C is noted, and a second one ends the program as ever.
 * Reading and writing go on. Where SIGINT was ignored, as a shell does for
 * what runs in the background, it stays ignored. */
void stop_when_interrupted(void)
{
    struct sigaction was;
    if (!sigaction(SIGINT, NULL, &was) && was.sa_handler == SIG_IGN)
        return;
    struct sigaction action = {.sa_handler = note,
                               .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    has_come = 0;
    sigaction(SIGINT, &action, NULL);
}

int is_interrupted(void)
{
    return has_come;
}

#endif
