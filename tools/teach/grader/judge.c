/* The judge's side of a call: see remote.h. Each test is a process
 * (tests/tap.h); its first call connects it with the runner, and with the
 * test the connection ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "remote.h"

enum {
    SMALL = 1024, /* bytes, which are sent with others */
    PIECE = 4096,
    MOST_AROUND = 16384 /* bytes on each side that are sent with an array
                         * that the test guards */
};

static FILE *to, *from; /* the runner */
static pid_t owner;     /* whose connection that is */

static _Noreturn void end_because(const char *words)
{
    fprintf(stderr, "%s\n", words);
    _exit(1);
}

/* What the runner has answered. If it has ended instead, the test ends so, too,
 * and fails: by the same signal, which tests/tap.h puts into words. */
static Answer answer_of_runner(void)
{
    Answer answer;
    if (fread(&answer, sizeof answer, 1, from) != 1)
        end_because("the program has ended");
    if (answer.kind == ANSWERED)
        return answer;
    const int status = answer.status;
    const int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const int signal_of = by == SIGXCPU ? SIGPROF : by; /* too much time */
    if (answer.kind != ENDED)
        end_because("something else than the function has answered");
    if (signal_of == SIGPROF || (signal_of > 0 && signal_of < SIGCHLD)) {
        signal(signal_of, SIG_DFL);
        raise(signal_of);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* The runner takes no more. */
static _Noreturn void end_as_runner(void)
{
    answer_of_runner();
    end_because("the program has answered before it was called");
}

static void connect_runner(void)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    struct rlimit own;
    const char *path = getenv("GRADED");
    const int runner = socket(AF_UNIX, SOCK_STREAM, 0);
    owner = getpid();
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_AS, &own); /* a test may have set itself one */
    snprintf(place.sun_path, sizeof place.sun_path, "%s", path ? path : "");
    if (connect(runner, (struct sockaddr *)&place, sizeof place) ||
        greet(runner, 1, &(int){STDOUT_FILENO}, &own.rlim_cur) ||
        !(to = fdopen(runner, "w")) || !(from = fdopen(dup(runner), "r")))
        end_because("the program has ended before it was called");
}

/* ---- What is sent. */

/* Where the running test has guards around an array, what lies around the array
 * goes to the runner and comes back: so the function reads the same as where the
 * tests are run without a judge, and the test finds what was written there. */
char *tap_block_of(const void *at, size_t *size); /* tests/arrays.h */
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

static int by_place(const void *a, const void *b)
{
    const Range *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
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

/* Who is called with a wrong size gets what can be read, and zeros for the
 * rest. */
static void send_bytes(const char *at, size_t size)
{
    static const char zeros[PIECE];
    const int runner = fileno(to);
    if (size <= SMALL) {
        if (fwrite(at, 1, size, to) < size)
            end_as_runner();
        return;
    }
    if (fflush(to))
        end_as_runner();
    for (size_t most = size; size > 0;) {
        const int is_readable = most > 0;
        const size_t usual = is_readable ? most : PIECE;
        const size_t piece = size < usual ? size : usual;
        const ssize_t n = write(runner, is_readable ? at : zeros, piece);
        if (n < 0 && errno == EFAULT)
            most = piece > PIECE ? PIECE : 0;
        else if (n < 0)
            end_as_runner();
        else
            at += n, size -= (size_t)n;
    }
}

/* ---- What comes back. */

static void receive(void *at, size_t size)
{
    if (fread(at, 1, size, from) < size)
        end_because("the program has ended while it answered");
}

/* Bytes that have changed are written, as others may not be writable. */
static void write_changed(char *at, const char *now, size_t size)
{
    if (memcmp(at, now, size) != 0)
        memcpy(at, now, size);
}

/* A piece of a struct. */
static void change_struct(const Visit *v, uint64_t at, const char *piece,
                          uint64_t size)
{
    for (const Range *r = v->change; r < v->change + v->changes; r++) {
        const uint64_t first = r->at > at ? r->at : at;
        const uint64_t end =
            r->at + r->size < at + size ? r->at + r->size : at + size;
        if (first < end)
            write_changed((char *)(uintptr_t)first, piece + (first - at),
                          end - first);
    }
}

static void receive_range(const Visit *v, const Range *r)
{
    static char piece[PIECE];
    char *at = (char *)(uintptr_t)r->at;
    for (uint64_t i = 0; i < r->size; i += sizeof piece) {
        const size_t n =
            r->size - i < sizeof piece ? r->size - i : sizeof piece;
        receive(piece, n);
        if (r->is_struct)
            change_struct(v, r->at + i, piece, n);
        else if (!r->is_given ||
                 r->is_guarded) /* there the test compares */
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
    if (owner != getpid())
        connect_runner();
    v.ranges = v.changes = v.is_wrong = 0;
    v.purpose = FIND;
    r->visit(&v, args);
    merge(&v);
    const Call call = {(int32_t)(r - remote), v.ranges};
    send_bytes((const char *)&call, sizeof call);
    send_bytes(args, r->args);
    for (const Range *x = v.range; x < v.range + v.ranges; x++) {
        send_bytes((const char *)x, sizeof *x);
        send_bytes((const char *)(uintptr_t)x->at, x->size);
    }
    if (fflush(to))
        end_as_runner();
    const Answer answer = answer_of_runner();
    for (const Range *x = v.range; x < v.range + v.ranges; x++)
        receive_range(&v, x);
    v.purpose = CHECK;
    r->visit(&v, args);
    if (v.is_wrong)
        end_because("the function has left a count that cannot be");
    if (result_size)
        memcpy(result, answer.result, result_size);
}
