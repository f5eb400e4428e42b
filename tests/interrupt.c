/* Ctrl-C, which is a signal. */
#include "tap.h"
#include "support/interrupt.h"

static void noted(void)
{
    expect_equal("before", is_interrupted(), 0);
    stop_when_interrupted();
    expect_equal("none yet", is_interrupted(), 0);
    raise(SIGINT);
    expect_equal("one", is_interrupted(), 1);
    expect_equal("and still", is_interrupted(), 1);
    stop_when_interrupted();
    expect_equal("a run begins", is_interrupted(), 0);
    raise(SIGINT);
    expect_equal("and is stopped", is_interrupted(), 1);
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

/* Reading goes on: it is interrupted while it waits for what comes then. */
static void goes_on(void)
{
    const pid_t us = getpid();
    int from_child[2];
    char got = 0;
    if (pipe(from_child))
        REFUSE("no pipe can be made");
    stop_when_interrupted();
    if (fork() == 0) {
        usleep(20000);
        kill(us, SIGINT);
        usleep(20000);
        _exit(write(from_child[1], "\7", 1) != 1);
    }
    expect_equal("read", (double)read(from_child[0], &got, 1), 1);
    expect_equal("what was written", got, 7);
    expect_true("interrupted", is_interrupted());
    wait(NULL);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* what a shell starts behind it ignores it */
    TAP("is_interrupted: from the first Ctrl-C on", noted());
    TAP("stop_when_interrupted: the second Ctrl-C ends", second());
    TAP("stop_when_interrupted: reading is not broken off", goes_on());
    return tap_done();
}
