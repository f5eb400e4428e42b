/* The runner: has a submission and nothing else, calls its functions with
 * what the judge sends, and sends back what has come of it. See remote.h.
 *
 * For each test the judge connects. A child of the runner's serves it, which
 * is as fresh as the program was when it began, and ends with the test.
 *
 * In front of each array, and behind it, lie guards: entries that are no
 * number, and must stay as they are. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "remote.h"

enum { JUDGE = 3, ALIGNMENT = 64 }; /* where the judge connects */

static FILE *in, *out;

static void get(void *at, size_t size)
{
    if (fread(at, 1, size, in) < size)
        _exit(0); /* the test has ended */
}

/* A guard from one place to another: written, or looked at. */
static int guard(char *from, char *to, int is_new)
{
    static const unsigned char none[] = {0xa5, 0xa5, 0xa5, 0x7f};
    int is_whole = 1;
    for (char *c = from; c < to; c++) {
        const char due = (char)none[(uintptr_t)c % sizeof none];
        if (is_new)
            *c = due;
        else
            is_whole &= *c == due;
    }
    return is_whole;
}

static int guards(const Range *r, int is_new)
{
    char *end = r->here + r->size;
    return guard(r->here - GUARD_BYTES, r->here, is_new) &
           guard(end, end + GUARD_BYTES, is_new);
}

/* Bytes between a block's begin and its front guard, by which the array is
 * aligned as it is in the judge. */
static size_t spare(const Range *r)
{
    return r->at % ALIGNMENT;
}

static void get_range(Range *r)
{
    get(r, sizeof *r);
    const size_t size = spare(r) + r->size + 2 * GUARD_BYTES;
    char *block = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) /
                                               ALIGNMENT * ALIGNMENT);
    if (!block)
        REFUSE("no memory for %zu bytes", size);
    r->here = block + spare(r) + GUARD_BYTES;
    guards(r, 1);
    get(r->here, r->size);
}

static void one_call(void)
{
    static Visit v;
    _Alignas(16) char args[MOST_ARGS];
    Call call;
    Answer answer = {.kind = ANSWERED};
    get(&call, sizeof call);
    const Remote *r = remote + call.function;
    get(args, r->args);
    v.purpose = POINT;
    v.ranges = call.ranges;
    for (int i = 0; i < v.ranges; i++)
        get_range(&v.range[i]);
    r->visit(&v, args);
    r->call(args, answer.result);
    fflush(NULL);
    for (int i = 0; i < v.ranges; i++)
        if (!guards(&v.range[i], 0)) {
            fputs("something was written beyond the ends of an array\n",
                  stderr);
            abort();
        }
    fwrite(&answer, sizeof answer, 1, out);
    for (const Range *x = v.range; x < v.range + v.ranges; x++) {
        fwrite(x->here, 1, x->size, out);
        free(x->here - GUARD_BYTES - spare(x));
    }
    fflush(out);
}

static _Noreturn void serve(int judge)
{
    int output;
    rlim_t memory;
    close(JUDGE);
    if (greet(judge, 0, &output, &memory))
        _exit(0);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
    setvbuf(stdout, NULL, _IONBF, 0);
    in = fdopen(dup(judge), "r");
    out = fdopen(judge, "w");
    if (!in || !out)
        REFUSE("no memory");
    /* The jail's own limit, where that is less, stays. */
    setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
    for (;;)
        one_call();
}

/* Waits for the child. It ends when the test has ended, or else by force, and
 * so does what it may have begun. */
static void await(pid_t child, int judge, int is_alone)
{
    Answer end = {.kind = ENDED};
    struct pollfd hangs_up = {.fd = judge};
    while (waitpid(child, &end.status, WNOHANG) == 0)
        if (poll(&hangs_up, 1, 1) > 0)
            kill(child, SIGKILL);
    if (is_alone)
        kill(-1, SIGKILL); /* all but this one */
    send(judge, &end, sizeof end, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* An argument says that all processes that it may end are its own. */
int main(int count, char *word[])
{
    (void)word;
    for (int judge; (judge = accept(JUDGE, NULL, NULL)) >= 0;) {
        const pid_t child = fork();
        if (child == 0)
            serve(judge);
        if (child > 0)
            await(child, judge, count > 1);
        close(judge);
    }
    return 0;
}
