/* Ctrl-C, which is a signal. */
#include "tap.h"
#include "support/interrupt.h"

static void noted(void)
{
    tap_near("before", is_interrupted(), 0, 0, 0);
    stop_when_interrupted();
    tap_near("none yet", is_interrupted(), 0, 0, 0);
    raise(SIGINT);
    tap_near("one", is_interrupted(), 1, 0, 0);
    tap_near("and still", is_interrupted(), 1, 0, 0);
    stop_when_interrupted();
    tap_near("a run begins", is_interrupted(), 0, 0, 0);
    raise(SIGINT);
    tap_near("and is stopped", is_interrupted(), 1, 0, 0);
}

/* The signal that ends a program which is sent so many, or 0. */
static int ended_by(int times, bool has_asked)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (has_asked)
            stop_when_interrupted();
        for (int i = 0; i < times; i++)
            raise(SIGINT);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void second(void)
{
    tap_near("one, not asked for", ended_by(1, false), SIGINT, 0, 0);
    tap_near("one", ended_by(1, true), 0, 0, 0);
    tap_near("two", ended_by(2, true), SIGINT, 0, 0);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* what a shell starts behind it ignores it */
    TAP(noted, "is_interrupted: from the first Ctrl-C on");
    TAP(second, "stop_when_interrupted: the second Ctrl-C ends");
    return tap_done();
}
