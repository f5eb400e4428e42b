/* Tests that print TAP 13, for prove.
 *
 * A test is a function that makes comparisons. TAP(test, "function: name")
 * runs it in a child process and prints one line, "ok" or "not ok": a crash,
 * an endless loop, a refusal or an empty exercise fails that test alone. So
 * does a test that compares nothing. What the tested code prints goes to
 * standard error and cannot be taken for a result.
 *
 * A test may take ten seconds, or as many as the environment's TAP_SECONDS
 * says. When one has taken more, the other tests of its function are not
 * run, and those of other functions get a tenth: endless loops shall not
 * keep anyone waiting once for each test.
 *
 * The first comparison that fails prints what went wrong as YAML.
 *
 * A program with golden data defines CHAPTER before it includes this, such
 * as "02_softmax": golden/02_softmax.safetensors is read before the first
 * test, and each test gets copies of what it asks for. */
#ifndef TAP_H
#define TAP_H

#define _POSIX_C_SOURCE 200809L /* fork, pipe, alarm, dprintf */
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attention.h"

#ifndef CHAPTER
#define CHAPTER "" /* no golden data */
#endif

#define TAP(test, name) tap_run(test, name)

/* As TAP, but left out where the environment's TAP_SMALL says so: valgrind
 * is some thirty times slower than the machine. */
#define TAP_LARGE(test, name)                                              \
    (getenv("TAP_SMALL") ? tap_skip(name, "large") : tap_run(test, name))

enum { TAP_SECONDS = 10, TAP_ROOMS = 4096 };
/* How a test that has run to its end exits: not as tested code might. */
enum { TAP_GOOD = 40, TAP_WRONG = 41 };
enum { TAP_GUARD = 1024 }; /* floats behind each array */

static int tap_count, tap_failed;   /* test points so far */
static int tap_compared, tap_wrong; /* comparisons of the running test */
static int tap_pipe[2];      /* from the running test to the parent */
static pid_t tap_child;      /* in it 0, and -1 where there is none */
static unsigned tap_seconds; /* what the running test may take */
static char tap_endless[64]; /* the last function that took more */
static char tap_name[300];   /* of the running test point */
static char tap_text[4096];  /* what its child has written to the pipe */
static char tap_end[100];    /* and how it has ended, in words */
static Tensors tap_golden;   /* the chapter's golden data */

/* The arrays that the running test has asked for. */
static struct {
    Tensor tensor;
    size_t size;          /* of its entries, in bytes */
    const void *original; /* of which they are a copy, or NULL */
} tap_room[TAP_ROOMS];
static int tap_rooms;

/* Behind each array that a function under test sees lie entries that are no
 * number, and whose bits differ from place to place. A function that
 * reads on gets a wrong result, not a lucky one. One that writes on is found
 * out when the test ends, instead of destroying the heap, even where it
 * writes what it has read: arithmetic changes a signaling NaN's bits. */
static inline uint32_t tap_guard(const float *place)
{
    return 0x7f800001 + (uint32_t)((uintptr_t)place / 4 % 0x3fffff);
}
static inline void guard(float *behind)
{
    for (float *x = behind; x < behind + TAP_GUARD; x++)
        memcpy(x, &(uint32_t){tap_guard(x)}, sizeof *x);
}

/* Room for so many bytes, as long as the test runs; returns its number. */
static inline int tap_reserve(size_t size)
{
    char *x = malloc(size + TAP_GUARD * sizeof(float));
    if (!x || tap_rooms == TAP_ROOMS)
        REFUSE("a test asks for more than %d arrays, or for too large ones",
               TAP_ROOMS);
    guard((float *)(x + size));
    tap_room[tap_rooms].tensor.data = x;
    tap_room[tap_rooms].size = size;
    return tap_rooms++;
}

/* Room for count entries. One that is not written, or added to instead of
 * written, is far from any answer. */
static inline void *room(size_t count)
{
    float *x = tap_room[tap_reserve(count * sizeof *x)].tensor.data;
    for (size_t i = 0; i < count; i++)
        x[i] = 1e30f;
    return x;
}

/* Reads the chapter's golden data, once for all tests. */
static inline void tap_read_golden(void)
{
    const char *path = "golden/" CHAPTER ".safetensors";
    if (!*CHAPTER || tap_golden.path)
        return;
    if (access(path, R_OK))
        REFUSE("%s: is missing: golden/generate.py says what is in it, and "
               "`make golden` makes it with PyTorch",
               path);
    tap_golden = tensors_read(path);
}

/* Adds a name to the file that GOLDEN_READ names, if it names one. */
static inline void tap_log(const char *name)
{
    const char *path = getenv("GOLDEN_READ");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%s\n", name);
        fclose(log);
    }
}

/* A copy of a golden tensor, by the names of the chapter and its own, such
 * as "02_softmax/hello-query". */
static inline const Tensor *golden(const char *name)
{
    const size_t chapter = strlen(CHAPTER "/");
    tap_log(name);
    if (strncmp(name, CHAPTER "/", chapter) != 0)
        REFUSE("golden data %s: only %s is read here", name, CHAPTER);
    const Tensor *original = tensors_find(&tap_golden, name + chapter);
    const size_t size = original->count * (original->type == 'f' ? 4 : 8);
    const int k = tap_reserve(size);
    Tensor *copy = &tap_room[k].tensor;
    void *data = copy->data;
    tap_room[k].original = original->data;
    *copy = *original;
    copy->data = memcpy(data, original->data, size);
    return copy;
}

/* Reports a comparison; the first that fails says why, in lines of the form
 * "  key: value", where a value may be any text. */
static inline void tap_report(bool good, const char *what,
                              const char *format, ...)
{
    tap_compared++;
    if (good || tap_wrong++)
        return;
    dprintf(tap_pipe[1], "  what: %s\n", what);
    va_list values;
    va_start(values, format);
    vdprintf(tap_pipe[1], format, values);
    va_end(values);
}

static inline void tap_true(const char *what, bool condition)
{
    tap_report(condition, what, "  got: false\n  expect: true\n");
}

/* Is got within atol + rtol * |expect| of expect? NaN is near NaN alone, and
 * an infinity near itself alone. */
static inline bool tap_is_near(double got, double expect, double rtol,
                               double atol)
{
    if (isnan(expect))
        return isnan(got);
    if (isinf(expect))
        return got == expect;
    return fabs(got - expect) <= atol + rtol * fabs(expect);
}

static inline void tap_near(const char *what, double got, double expect,
                            double rtol, double atol)
{
    tap_report(
        tap_is_near(got, expect, rtol, atol), what,
        "  got: %.9g\n  expect: %.9g\n  abs_err: %.3g\n  tol: %.3g\n", got,
        expect, fabs(got - expect), atol + rtol * fabs(expect));
}

/* Compares float entries with a golden array of float32 or float64, whose
 * shape and count hold. Names the first entry that differs by its indices. */
static inline void tap_close(const char *what, const Tensor *expect,
                             const void *got, double rtol, double atol)
{
    const float *values = got;
    for (size_t i = 0; i < expect->count; i++) {
        double right = expect->type == 'f' ? tensor_floats(expect)[i]
                                           : tensor_doubles(expect)[i];
        if (tap_is_near(values[i], right, rtol, atol))
            continue;
        char index[64] = "";
        size_t rest = i, entries = expect->count;
        for (int k = 0, end = 0; k < expect->rank; k++) {
            entries /= (size_t)expect->shape[k];
            end += snprintf(index + end, sizeof index - (size_t)end,
                            "%s%zu", k ? ", " : "", rest / entries);
            rest %= entries;
        }
        tap_report(false, what,
                   "  golden: %s: %s\n  index: [%s]\n  got: %.9g\n"
                   "  expect: %.9g\n  abs_err: %.3g\n  tol: %.3g\n",
                   expect->path, expect->name, index, values[i], right,
                   fabs(values[i] - right), atol + rtol * fabs(right));
        return;
    }
    tap_report(expect->count > 0, what, "  golden: %s: %s is empty\n",
               expect->path, expect->name);
}

/* Random numbers for properties: the same on every machine and every run. */
static uint64_t tap_state = 88172645463325252u;
static inline uint64_t tap_bits(void)
{
    tap_state ^= tap_state << 13;
    tap_state ^= tap_state >> 7;
    return tap_state ^= tap_state << 17;
}
static inline int tap_int(int low, int high) /* both included */
{
    return low + (int)(tap_bits() % (uint64_t)(high - low + 1));
}
static inline void tap_fill(int n, float x[n], float low, float high)
{
    for (int i = 0; i < n; i++)
        x[i] = low + (high - low) * (float)(tap_bits() >> 40) * 0x1p-24f;
}

/* When the test ends: is what lies behind its arrays as it was, and so are
 * golden ones? */
static inline void tap_check_rooms(void)
{
    for (int k = 0; k < tap_rooms; k++) {
        const char *data = tap_room[k].tensor.data;
        const size_t size = tap_room[k].size;
        const float *behind = (const float *)(data + size);
        bool whole = true;
        for (int i = 0; i < TAP_GUARD; i++)
            whole &= !memcmp(behind + i, &(uint32_t){tap_guard(behind + i)},
                             sizeof *behind);
        if (!whole)
            tap_report(false, "room for the result",
                       "  error: written to beyond its end\n");
        if (tap_room[k].original &&
            memcmp(data, tap_room[k].original, size) != 0)
            tap_report(false, tap_room[k].tensor.name,
                       "  error: the function has changed its input\n");
    }
}

/* From here on the test may have so many megabytes, so that what is not
 * freed runs out. A sanitizer needs more than that for itself, and finds
 * what is not freed in its own way. */
static inline void tap_limit_memory(rlim_t megabytes)
{
#ifndef __SANITIZE_ADDRESS__
    const struct rlimit limit = {megabytes << 20, megabytes << 20};
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)megabytes;
#endif
}

/* Before the first line comes the version. */
static inline int tap_next(void)
{
    if (tap_count == 0)
        printf("TAP version 13\n");
    return ++tap_count;
}

/* The bytes of the "  key: " with which a line begins, 0 if it does not. */
static inline size_t tap_key(const char *line)
{
    if (strncmp(line, "  ", 2) != 0)
        return 0;
    const size_t end = 2 + strspn(line + 2, "abcdefghijklmnopqrstuvwxyz_");
    return end > 2 && !strncmp(line + end, ": ", 2) ? end + 2 : 0;
}

static inline void tap_char(int c)
{
    if (c == '"' || c == '\\')
        putchar('\\');
    printf(c > 0 && c < ' ' ? "\\x%02x" : "%c", c);
}

/* YAML that prove can read, whatever is in the values: each stands in
 * quotes on one line. On anything else prove stumbles and drops all further
 * tests, or never ends. A line that does not begin with a key belongs to
 * the value before. */
static inline void tap_yaml(const char *text)
{
    printf("  ---\n");
    while (*text) {
        const int key = (int)tap_key(text);
        printf("%.*s\"", key ? key : 8, key ? text : "  text: ");
        for (text += key; *text && strcmp(text, "\n") != 0; text++) {
            if (*text == '\n' && tap_key(text + 1))
                break;
            tap_char(*text);
        }
        text += *text == '\n';
        printf("\"\n");
    }
    printf("  ...\n");
}

/* Reports the test point; a YAML block says why it fails. */
static inline void tap_line(bool good, const char *format, ...)
{
    char yaml[8192];
    va_list values;
    va_start(values, format);
    vsnprintf(yaml, sizeof yaml, format, values);
    va_end(values);
    tap_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tap_next(), tap_name);
    if (!good)
        tap_yaml(yaml);
    fflush(stdout);
}

static inline void tap_skip(const char *name, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", tap_next(), name, why);
}

static inline unsigned tap_limit(void)
{
    const char *text = getenv("TAP_SECONDS");
    const unsigned most =
        text ? (unsigned)whole_number("TAP_SECONDS", text, 1, 86400)
             : TAP_SECONDS;
    return *tap_endless ? (most + 9) / 10 : most;
}

/* Begins a test point; true in its child. A call that shall refuse gives
 * the name, as "softmax: refuses (0, x, y)", and what its child writes goes
 * into the pipe; else only what comparisons report does. */
static inline bool tap_begin(const char *name, bool refuses)
{
    const int function = (int)strcspn(name, refuses ? "(" : ":");
    snprintf(tap_name, sizeof tap_name, "%.*s%s%s", function, name,
             refuses ? ": refuses " : "", name + function);
    tap_child = -1;
    if (*tap_endless &&
        !strncmp(tap_name, tap_endless, strlen(tap_endless))) {
        tap_line(false, "  error: not run: a test before it has no end\n");
        return false;
    }
    tap_seconds = tap_limit();
    tap_read_golden();
    fflush(NULL);
    if (pipe(tap_pipe) || (tap_child = fork()) < 0)
        REFUSE("no process can be started");
    if (tap_child > 0)
        return false;
    close(tap_pipe[0]);
    if (refuses)
        dup2(tap_pipe[1], STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    alarm(tap_seconds);
    return true;
}

/* Waits for the child, and returns its exit status, or -1. */
static inline int tap_wait(void)
{
    int status;
    FILE *report = fdopen(tap_pipe[0], "r");
    close(tap_pipe[1]);
    tap_text[fread(tap_text, 1, sizeof tap_text - 1, report)] = '\0';
    fclose(report);
    waitpid(tap_child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const int killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    snprintf(tap_end, sizeof tap_end, "ends with status %d", code);
    if (killer)
        snprintf(tap_end, sizeof tap_end, "ends with signal %d, %s", killer,
                 strsignal(killer));
    if (killer == SIGALRM) {
        snprintf(tap_endless, sizeof tap_endless,
                 "%.*s:", (int)strcspn(tap_name, ":"), tap_name);
        snprintf(tap_end, sizeof tap_end,
                 "no end in %u s: is there an endless loop?", tap_seconds);
    }
    return code;
}

static inline void tap_run(void (*test)(void), const char *name)
{
    if (tap_begin(name, false)) {
        test();
        tap_check_rooms();
        if (!tap_compared)
            tap_report(false, "the test", "  error: compares nothing\n");
        exit(tap_wrong ? TAP_WRONG : TAP_GOOD);
    }
    if (tap_child < 0)
        return;
    const int code = tap_wait();
    tap_line(code == TAP_GOOD, code == TAP_WRONG ? "%s" : "%s  error: %s\n",
             tap_text, tap_end);
}

/* Is the text one line, "file.c: function: what is wrong"; and this one, if
 * one is given? That an exercise is empty is no answer to a wrong call. */
static inline bool tap_is_message(const char *text, const char *line)
{
    int end = 0;
    sscanf(text, "%*[^: \n]:%*1[ ]%*[^: \n]:%*1[ ]%*[^\n]%n", &end);
    if (!end || strcmp(text + end, "\n") != 0)
        return false;
    if (!line)
        return !strstr(text, " is still empty: ");
    return (int)strlen(line) == end && !strncmp(text, line, (size_t)end);
}

static inline void tap_refuses_end(int code, const char *line)
{
    if (getenv("TAP_ANY_WORDS"))
        line = NULL;
    tap_line(code == 2 && tap_is_message(tap_text, line),
             "  expect: ends with status 2, %s\n  got: %s, %s\n",
             line ? line : "one line, file.c: function: what is wrong",
             tap_end, tap_text);
}

/* A test point: the call must refuse, that is end with status 2 and write
 * one line to standard error, "file.c: function: what is wrong". Where the
 * refusal lives, `line` is that line; elsewhere it is NULL, and any will
 * do. So it will everywhere where the environment has TAP_ANY_WORDS, as for
 * `make test-02`: a student's words may be others. */
#define REFUSES(line, ...)                                                 \
    do {                                                                   \
        if (tap_begin(#__VA_ARGS__, true)) {                               \
            __VA_ARGS__;                                                   \
            exit(0);                                                       \
        }                                                                  \
        if (tap_child > 0)                                                 \
            tap_refuses_end(tap_wait(), line);                             \
    } while (0)

/* Prints the plan; main returns what this returns. */
static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}

#endif
