/* Ctrl-C, which is a signal. */
#include "tap.h"
#include "support/interrupt.h"

/* Twice: each run begins anew. */
static void noted(void)
{
    expect_equal("before", is_interrupted(), 0);
    for (int run = 0; run < 2; run++) {
        stop_when_interrupted();
        expect_equal("none yet", is_interrupted(), 0);
        raise(SIGINT);
        expect_equal("one", is_interrupted(), 1);
        expect_equal("and still", is_interrupted(), 1);
    }
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
    expect_equal("one, not asked for", ended_by(1, false), SIGINT);
    expect_equal("one", ended_by(1, true), 0);
    expect_equal("two", ended_by(2, true), SIGINT);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* what a shell starts behind it ignores it */
    TAP("is_interrupted: from the first Ctrl-C on", noted());
    TAP("stop_when_interrupted: the second Ctrl-C ends", second());
    return tap_done();
}
