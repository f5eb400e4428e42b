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

/* Until a process waits, and no signal is on its way to it, or has
 * ended. */
static void until_it_waits(pid_t pid)
{
    const char *path = tap_words("/proc/%d/status", (int)pid);
    char text[4096] = "";
    while (!strstr(text, "State:\tZ") &&
           (!strstr(text, "State:\tS") ||
            !strstr(text, "ShdPnd:\t0000000000000000\n"))) {
        FILE *status = fopen(path, "r");
        if (!status)
            REFUSE("%s: /proc is needed", path);
        text[fread(text, 1, sizeof text - 1, status)] = '\0';
        fclose(status);
        usleep(1000);
    }
}

/* Reading and writing go on: the child is interrupted while it waits for
 * what comes then. */
static void goes_on(void)
{
    int from_us[2], status;
    char got = 0;
    if (pipe(from_us))
        REFUSE("no pipe can be made");
    stop_when_interrupted();
    const pid_t child = fork();
    if (child == 0) {
        close(from_us[1]); /* so that it ends when its test is ended */
        _exit(read(from_us[0], &got, 1) == 1 && is_interrupted() ? got : 0);
    }
    until_it_waits(child);
    kill(child, SIGINT);
    until_it_waits(child);
    tap_near("written", (double)write(from_us[1], "\7", 1), 1, 0, 0);
    waitpid(child, &status, 0);
    tap_true("ends by itself", WIFEXITED(status));
    tap_near("interrupted, and has read", WEXITSTATUS(status), 7, 0, 0);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* what a shell starts behind it ignores it */
    TAP(noted, "is_interrupted: from the first Ctrl-C on");
    TAP(second, "stop_when_interrupted: the second Ctrl-C ends");
    TAP(goes_on, "stop_when_interrupted: reading is not broken off");
    return tap_done();
}
