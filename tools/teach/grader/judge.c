/* The judge's side of a call: see remote.h. The runner is a process of its
 * own for each test, begun by its first call; it ends with the test. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail.h"
#include "remote.h"

static pid_t runner, owner; /* the runner's, and that of its judge */
static int to_runner, from_runner;

/* What is sent waits until there is much of it, or all. */
static struct {
    char bytes[1 << 16];
    size_t count;
} waiting;

static Come come;

static int by_place(const void *a, const void *b)
{
    const Range *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* Where the running test has guards around an array, what lies around the array
 * goes to the runner and comes back: so the function reads the same as where the
 * tests are run without a judge, and the test finds what was written there. */
char *tap_block_of(const void *at, size_t *size); /* tests/tap.h */
static void add_guards(Range *r)
{
    size_t size;
    const uint64_t block =
        (uintptr_t)tap_block_of((void *)(uintptr_t)r->at, &size);
    const uint64_t end = r->at + r->size + MOST_AROUND;
    if (!block || r->is_struct)
        return;
    r->at = r->at - MOST_AROUND > block ? r->at - MOST_AROUND : block;
    r->size = (end < block + size ? end : block + size) - r->at;
    r->is_guarded = 1;
}

/* Ranges that overlap become one, so that what is one place here is one
 * there. */
static void merge(Visit *v)
{
    int n = 0;
    for (int i = 0; i < v->ranges; i++)
        add_guards(&v->range[i]);
    qsort(v->range, (size_t)v->ranges, sizeof v->range[0], by_place);
    for (int i = 0; i < v->ranges; i++) {
        Range *last = n ? &v->range[n - 1] : NULL, *next = &v->range[i];
        if (!last || next->at >= last->at + last->size) {
            v->range[n++] = *next;
            continue;
        }
        if (next->at + next->size > last->at + last->size)
            last->size = next->at + next->size - last->at;
        last->is_given &= next->is_given;
        last->is_struct |= next->is_struct;
        last->is_guarded |= next->is_guarded;
    }
    v->ranges = n;
}

/* What a test may take of the processor (tests/tap.h), the runner may. */
static rlim_t most_seconds;

/* The text at a place that nobody can guess. */
static const char *hidden(const char *text)
{
    uint64_t at = 0;
    if (getrandom(&at, sizeof at, 0) != sizeof at)
        return text;
    char *x = mmap((void *)(uintptr_t)((at & 0x3fffffff0000) | 1 << 20),
                   strlen(text) + 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return x == MAP_FAILED ? text : strcpy(x, text);
}

/* That others can be begun where it lies has been seen (confined.c). */
static _Noreturn void begin_program(const char *program)
{
    execle(program, program, (char *)NULL,
           (char *[]){"OMP_NUM_THREADS=4", NULL});
    fprintf(stderr, "the program cannot be begun: %s\n", strerror(errno));
    _exit(127);
}

/* In the child that becomes the runner. A test may have set itself a limit
 * for memory; then that holds there. Threads have stacks: as many as a large
 * machine has cores are not to be had with the usual memory. */
static void become_runner(int in, int out, int fails)
{
    const char *program = hidden(getenv("GRADED"));
    struct rlimit own;
    const int high_in = fcntl(in, F_DUPFD, 10);
    const int high_out = fcntl(out, F_DUPFD, 10);
    const int high_fails = fcntl(fails, F_DUPFD_CLOEXEC, 10);
    dup2(high_in, REMOTE_IN);
    dup2(high_out, REMOTE_OUT);
    for (int i = REMOTE_OUT + 1; i < 256; i++)
        if (i != high_fails)
            close(i);
    close(STDIN_FILENO);
    getrlimit(RLIMIT_AS, &own);
    if (most_seconds > 0)
        setrlimit(RLIMIT_CPU, &(struct rlimit){most_seconds, most_seconds});
    if (confine(own.rlim_cur < USUAL_BYTES ? own.rlim_cur : USUAL_BYTES,
                program) == 0)
        begin_program(program);
    if (write(high_fails, "", 1) == 1)
        _exit(127);
    _exit(127);
}

/* The judge ends, too, whose test this is: it cannot judge here. */
static _Noreturn void cannot_judge(void)
{
    kill(getppid(), SIGUSR1);
    _exit(1);
}

static void start(void)
{
    struct itimerval left;
    int in[2], out[2], fails[2];
    char failed;
    getitimer(ITIMER_PROF, &left);
    most_seconds =
        (rlim_t)left.it_value.tv_sec + (left.it_value.tv_usec > 0);
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
        pipe2(fails, O_CLOEXEC) || (runner = fork()) < 0)
        cannot_judge();
    owner = getpid();
    if (runner == 0)
        become_runner(in[0], out[1], fails[1]);
    close(in[0]);
    close(out[1]);
    close(fails[1]);
    if (read(fails[0], &failed, 1) == 1)
        cannot_judge();
    close(fails[0]);
    waiting.count = come.at = come.count = 0;
    to_runner = in[1];
    from_runner = out[0];
    signal(SIGPIPE, SIG_IGN);
}

/* Ends as the runner has ended. */
static _Noreturn void end_as_runner(void)
{
    int status = 0;
    struct rusage used;
    kill(runner, SIGKILL); /* if it lives, and has closed its end */
    wait4(runner, &status, 0, &used);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        fputs("asked for what a solution does not need: files, processes, "
              "a network, ...\n",
              stderr);
    if (WIFSIGNALED(status) && most_seconds > 0 &&
        used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 >=
            (time_t)most_seconds &&
        (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU)) {
        signal(SIGPROF, SIG_DFL);
        raise(SIGPROF);
    }
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* What can be read is sent, and zeros for the rest. */
static void send_now(const char *at, size_t size)
{
    static const char zeros[1 << 16];
    int readable = 1;
    while (size > 0) {
        const size_t most =
            readable || size < sizeof zeros ? size : sizeof zeros;
        const ssize_t n = write(to_runner, readable ? at : zeros, most);
        if (n < 0 && errno == EFAULT) {
            readable = 0;
            continue;
        }
        if (n < 0)
            end_as_runner();
        at += n;
        size -= (size_t)n;
    }
}

static void send_waiting(void)
{
    send_now(waiting.bytes, waiting.count);
    waiting.count = 0;
}

static void send_bytes(const void *at, size_t size)
{
    if (size > 1024 || waiting.count + size > sizeof waiting.bytes)
        send_waiting();
    if (size > 1024) {
        send_now(at, size);
        return;
    }
    memcpy(waiting.bytes + waiting.count, at, size);
    waiting.count += size;
}

static void receive(void *at, size_t size)
{
    if (!take(&come, from_runner, at, size))
        end_as_runner();
}

static _Noreturn void end_because(const char *words)
{
    fprintf(stderr, "%s\n", words);
    kill(runner, SIGKILL);
    _exit(1);
}

/* Bytes that have changed are written, as others may not be writable. */
static void write_changed(char *at, const char *to, size_t size)
{
    if (memcmp(at, to, size) != 0)
        memcpy(at, to, size);
}

/* A piece of a struct. */
static void change_struct(const Visit *v, uint64_t at, const char *piece,
                          uint64_t size)
{
    for (int i = 0; i < v->changes; i++) {
        const uint64_t first = v->change[i].at;
        const uint64_t end = first + v->change[i].size;
        const uint64_t from = first > at ? first : at;
        const uint64_t to = end < at + size ? end : at + size;
        if (from < to)
            write_changed((char *)(uintptr_t)from, piece + (from - at),
                          to - from);
    }
}

static void receive_range(const Visit *v, const Range *r)
{
    static char piece[1 << 16];
    char *at = (char *)(uintptr_t)r->at;
    for (uint64_t i = 0; i < r->size; i += sizeof piece) {
        const size_t n =
            r->size - i < sizeof piece ? r->size - i : sizeof piece;
        receive(piece, n);
        if (r->is_struct)
            change_struct(v, r->at + i, piece, n);
        else if (!r->is_given ||
                 r->is_guarded) /* the test itself compares the guards */
            write_changed(at + i, piece, n);
        else if (memcmp(at + i, piece, n) != 0)
            end_because(
                "the function has changed what it is given to read");
    }
}

void remote_call(const Remote *r, void *args, void *result,
                 size_t result_size)
{
    static Visit v;
    if (!runner || owner != getpid())
        start();
    v.ranges = v.changes = v.is_back = v.is_wrong = 0;
    r->visit(&v, args);
    merge(&v);
    const Call call = {(int32_t)(r - remote), v.ranges};
    send_bytes(&call, sizeof call);
    send_bytes(args, r->args);
    for (int i = 0; i < v.ranges; i++) {
        send_bytes(&v.range[i], sizeof v.range[i]);
        send_bytes((void *)(uintptr_t)v.range[i].at, v.range[i].size);
    }
    send_waiting();
    Answer answer;
    receive(&answer, sizeof answer);
    if (answer.mark != ANSWER_MARK)
        end_because("something else than the function has answered");
    for (int i = 0; i < v.ranges; i++)
        receive_range(&v, &v.range[i]);
    v.is_back = 1;
    r->visit(&v, args);
    if (v.is_wrong)
        end_because("the function has left a count that cannot be");
    if (result_size)
        memcpy(result, answer.result, result_size);
}
