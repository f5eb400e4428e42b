/* Tests that print TAP 13, for prove.
 *
 * A test is a function that makes comparisons. TAP(test, "function: name")
 * runs it in a child process and prints one line, "ok" or "not ok": a
 * crash, an endless loop, a refusal or an empty exercise fails that test
 * alone. So does a test that compares nothing.
 *
 * A test is stopped when it has used ten seconds of the processor's time,
 * or as many as the environment's TAP_SECONDS says: how busy the machine is
 * does not matter. A test that only waits uses no such time, and is stopped
 * after six times as many seconds of the clock. When a test was stopped,
 * the other tests of its function are not run, and fail: an endless loop
 * shall not keep anyone waiting once for each test.
 *
 * Where the environment's TAP_ONLY names functions, as "dot mix", theirs
 * are the only tests.
 *
 * A test that fails tells in YAML what was given, what the function gave
 * and what was due, where these are small; what is wrong, in words; what
 * the tested code has printed, which so cannot be taken for a result; and
 * how many of its comparisons fail.
 *
 * A program with golden data defines CHAPTER before it includes this, such
 * as "02_softmax": golden/02_softmax.safetensors is read before the first
 * test, and each test gets copies of what it asks for. What none asks for
 * fails a last test of the chapter's own program. */
#pragma once

#define _DEFAULT_SOURCE /* fork, pipe, setitimer, mmap */
#include <signal.h>
#ifdef __linux__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "support/safetensors.h"

#ifndef CHAPTER
#define CHAPTER "" /* no golden data */
#endif

#define TAP(test, name) tap_run(test, name)

/* As TAP, but left out where the environment's TAP_SMALL says so: valgrind
 * is some thirty times slower than the machine. */
#define TAP_LARGE(test, name)                                              \
    (getenv("TAP_SMALL") ? tap_skip(name, "large") : tap_run(test, name))

enum { TAP_SECONDS = 10, TAP_PATIENCE = 6, TAP_ROOMS = 4096 };
enum { TAP_GUARD = 4096 };   /* floats before and behind each array */
enum { TAP_SHOWN = 24 };     /* entries of an array that is shown */
enum { TAP_GIVENS = 24 };    /* things that are given */
enum { TAP_PRINTED = 4096 }; /* bytes that are shown of what is printed */

static int tap_count, tap_failed; /* test points so far */
static int tap_pipe[2];           /* takes what the running test prints */
static pid_t tap_child;           /* in it 0, and -1 where there is none */
static unsigned tap_seconds;      /* what the running test may take */
static char tap_endless[64];      /* the last function without an end */
static char tap_name[300];        /* of the running test point */
static Tensors tap_golden;        /* the chapter's golden data */
static bool *tap_is_read;         /* shared: whether a test has read each */

/* What the running test tells. Its child shares this memory with the
 * parent, who can read it when the child has crashed. */
enum { GIVEN, GAVE, DUE, WRONG, PRINTED, TAP_KEYS };
typedef char TapText[2 * TAP_PRINTED + 1];
static struct {
    TapText text[TAP_KEYS]; /* each thing told begins with a newline */
    int compared, wrong;    /* comparisons */
    bool is_done;           /* the test has run to its end */
    bool is_limited;        /* tap_limit_memory has been called */
} * tap_told;

/* What the running test gives to a function, in the order of the test's own
 * text: C computes arguments in any order. */
static struct {
    int place;    /* in the text */
    Tensor array; /* its data is NULL where words alone are given */
    char text[1000];
} tap_given[TAP_GIVENS];
static int tap_givens;

/* The arrays that the running test has asked for. */
static struct {
    Tensor tensor;
    void *block;          /* with the guards */
    size_t size;          /* of its entries, in bytes */
    const void *original; /* of which they are a copy, or NULL */
} tap_room[TAP_ROOMS];
static int tap_rooms;

static inline __attribute__((format(printf, 2, 3))) void
tap_tell(int key, const char *format, ...)
{
    char *text = tap_told->text[key];
    const size_t end = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + end, sizeof(TapText) - end, format, values);
    va_end(values);
}

/* Words for a comparison, until eight others are made. */
static inline __attribute__((format(printf, 1, 2))) const char *
tap_words(const char *format, ...)
{
    static char texts[8][200];
    static int next;
    char *text = texts[next++ % 8];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof *texts, format, values);
    va_end(values);
    return text;
}

/* Before and behind each array that a function under test sees lie entries
 * that are no number, and whose bits differ from place to place. A function
 * that reads on gets a wrong result, not a lucky one. One that writes on is
 * found out when the test ends, instead of destroying the heap, even where
 * it writes what it has read: arithmetic changes a signaling NaN's bits,
 * but leaves those of TAP_BEYOND. */
enum { TAP_BEYOND = 0x3fffff };

/* Writes the guard that begins here; or says whether it is still whole. */
static inline bool guard(float *place, bool is_new)
{
    bool is_whole = true;
    for (float *x = place; x < place + TAP_GUARD; x++) {
        const uint32_t bits =
            0x7f800001 + (uint32_t)((uintptr_t)x / 4 % TAP_BEYOND);
        if (is_new)
            memcpy(x, &bits, sizeof bits);
        else
            is_whole &= !memcmp(x, &bits, sizeof bits);
    }
    return is_whole;
}

/* Room for so many bytes, as long as the test runs; returns its number. */
static inline int tap_reserve(size_t size)
{
    float *x = malloc(size + 2 * TAP_GUARD * sizeof *x);
    if (!x || tap_rooms == TAP_ROOMS)
        REFUSE("a test asks for more than %d arrays, or for too large ones",
               TAP_ROOMS);
    guard(x, true);
    tap_room[tap_rooms].block = x;
    x += TAP_GUARD;
    guard(x + size / sizeof *x, true);
    tap_room[tap_rooms].tensor.data = x;
    tap_room[tap_rooms].size = size;
    return tap_rooms++;
}

/* For who grades (tools/teach/grader/judge.c): the room in which this lies, with
 * its guards, and its bytes; NULL where it lies in none. */
extern char *tap_block_of(const void *at, size_t *size);
char *tap_block_of(const void *at, size_t *size)
{
    for (int k = tap_rooms - 1; k >= 0; k--) {
        char *block = tap_room[k].block;
        *size = tap_room[k].size + 2 * TAP_GUARD * sizeof(float);
        if ((uintptr_t)at - (uintptr_t)block < *size)
            return block;
    }
    return NULL;
}

/* Room for count entries of a result. One that is not written, or added to
 * instead of written, is far from any answer. */
static const float unset = 1.23e30f;
static inline void *room_for(const char *name, size_t count)
{
    Tensor *new = &tap_room[tap_reserve(count * sizeof(float))].tensor;
    float *x = new->data;
    new->name = name;
    new->count = count;
    for (size_t i = 0; i < count; i++)
        x[i] = unset;
    return x;
}
#define room(count) room_for("an array", count)

/* Zeros that a test's child shares with its parent. */
static inline void *tap_shared(size_t size)
{
    void *x = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED)
        REFUSE("no memory can be shared with the tests");
    return x;
}

/* Reads the chapter's golden data, once for all tests. */
static inline void tap_read_golden(void)
{
    const char *path = "golden/" CHAPTER ".safetensors";
    if (!*CHAPTER || tap_golden.path)
        return;
    if (access(path, R_OK))
        REFUSE(
            "%s: is missing: copy it from the book, or let `make golden` "
            "make it with PyTorch",
            path);
    tap_golden = tensors_read(path);
    tap_is_read = tap_shared(tap_golden.count * sizeof *tap_is_read);
}

/* A copy of a golden tensor, by the names of the chapter and its own, such
 * as "02_softmax/hello-query". */
static inline const Tensor *golden(const char *name)
{
    const size_t chapter = strlen(CHAPTER "/");
    if (strncmp(name, CHAPTER "/", chapter) != 0)
        REFUSE("golden data %s: only %s is read here", name, CHAPTER);
    const Tensor *original = tensors_find(&tap_golden, name + chapter);
    tap_is_read[original - tap_golden.tensor] = true;
    const size_t size = original->count * (original->type == 'f' ? 4 : 8);
    const int k = tap_reserve(size);
    Tensor *copy = &tap_room[k].tensor;
    void *data = copy->data;
    tap_room[k].original = original->data;
    *copy = *original;
    copy->data = memcpy(data, original->data, size);
    return copy;
}

/* Counts a comparison. Is it the first that fails? */
static inline bool tap_fails(bool good)
{
    tap_told->compared++;
    return !good && !tap_told->wrong++;
}

/* Reports a comparison, and where it fails, why. */
#define tap_report(good, what, ...)                                        \
    do {                                                                   \
        if (tap_fails(good)) {                                             \
            tap_tell(WRONG, "\n%s: ", what);                               \
            tap_tell(WRONG, __VA_ARGS__);                                  \
        }                                                                  \
    } while (0)
#define tap_true(what, condition)                                          \
    tap_report(condition, what, "this is not so")

/* Is got within a tolerance of due? NaN is near NaN alone, and an infinity
 * near itself alone. */
static inline bool tap_is_near(double got, double due, double tolerance)
{
    if (isnan(due))
        return isnan(got);
    if (isinf(due))
        return got == due;
    return fabs(got - due) <= tolerance;
}

/* An entry of an array of a tensor's type, or of 'n', int. */
static inline double tap_entry(char type, const void *data, size_t i)
{
    if (type == 'n') /* in a room, it may be unset as well */
        return memcmp((const int *)data + i, &unset, sizeof unset)
                   ? ((const int *)data)[i]
                   : (double)unset;
    return type == 'f'   ? (double)((const float *)data)[i]
           : type == 'd' ? ((const double *)data)[i]
                         : (double)((const int64_t *)data)[i];
}

static inline void tap_number(int key, int digits, double x)
{
    if ((float)x == unset)
        tap_tell(key, "unset");
    else /* NaN without a sign */
        tap_tell(key, "%.*g", digits, isnan(x) ? (double)NAN : x);
}

/* Tells an array of a tensor's shape: "weights (2, 3) =", and its rows. */
static inline void tap_show(int key, const char *name, const Tensor *shape,
                            char type, const void *data)
{
    const bool is_small = shape->count <= TAP_SHOWN;
    tap_tell(key, "\n%s (", name);
    for (int k = 0; k < shape->rank; k++)
        tap_tell(key, k ? ", %d" : "%d", shape->shape[k]);
    tap_tell(key, is_small ? ") =" : ")");
    for (size_t i = 0; is_small && i < shape->count; i++) {
        int opens = 0, closes = 0;
        size_t size = 1;
        for (int k = shape->rank - 1; k >= 0; k--) {
            size *= (size_t)shape->shape[k];
            opens += i % size == 0;
            closes += (i + 1) % size == 0;
        }
        if (opens && shape->rank > 1) /* a row */
            tap_tell(key, "\n%*s", shape->rank - opens, "");
        tap_tell(key, i && opens < 1 ? ", %.*s" : " %.*s", opens, "[[[[");
        tap_number(key, strchr("in", type) ? 17 : 6,
                   tap_entry(type, data, i));
        tap_tell(key, "%.*s", closes, "]]]]");
    }
}

/* Tells an entry's place, as "[1][2]". */
static inline void tap_index(int key, const Tensor *shape, size_t i)
{
    size_t rest = i, entries = shape->count;
    for (int k = 0; k < shape->rank; k++, rest %= entries) {
        entries /= (size_t)shape->shape[k];
        tap_tell(key, "[%zu]", rest / entries);
    }
}

/* Keeps what is told of the given thing k, and tells all of them. */
static inline void tap_retell(int k)
{
    char *text = tap_told->text[GIVEN];
    snprintf(tap_given[k].text, sizeof tap_given[k].text, "%.999s", text);
    *text = '\0';
    for (int i = 0; i < tap_givens; i++)
        tap_tell(GIVEN, "%s", tap_given[i].text);
}

/* Tells, once, that words or an array of this shape are given. Once
 * something is wrong, what was given then stays. */
static inline void tap_give(int place, const char *words,
                            const Tensor *array)
{
    int k = tap_givens;
    if (tap_told->wrong || k == TAP_GIVENS)
        return;
    for (int i = 0; i < k; i++) {
        const Tensor *t = &tap_given[i].array;
        if (array ? t->data && !strcmp(array->name, t->name)
                  : !strcmp(words, tap_given[i].text + 1))
            return;
    }
    for (; k > 0 && tap_given[k - 1].place > place; k--)
        tap_given[k] = tap_given[k - 1];
    tap_given[k].place = place;
    tap_given[k].array = array ? *array : (Tensor){0};
    tap_givens++;
    *tap_told->text[GIVEN] = '\0';
    if (array)
        tap_show(GIVEN, array->name, array, array->type, array->data);
    else
        tap_tell(GIVEN, "\n%s", words);
    tap_retell(k);
}

/* A list or a table that is given as an array in C, of type 'f' or 'n'. */
static inline void tap_give_array(int place, const char *name, char type,
                                  int rank, int n, int m, const void *x)
{
    const Tensor array = {.name = name,
                          .type = type,
                          .rank = rank,
                          .shape = {n, m, 1, 1},
                          .count = (size_t)n * (size_t)m,
                          .data = (void *)x};
    tap_give(place, NULL, &array);
}

/* What a test gives to a function: in words, as "r = NULL"; a list of
 * floats or of ints; a table. */
#define give(...) tap_give(__COUNTER__, tap_words(__VA_ARGS__), NULL)
#define give_list(name, n, x)                                              \
    tap_give_array(__COUNTER__, name, 'f', 1, n, 1, x)
#define give_ints(name, n, x)                                              \
    tap_give_array(__COUNTER__, name, 'n', 1, n, 1, x)
#define give_table(name, n, m, x)                                          \
    tap_give_array(__COUNTER__, name, 'f', 2, n, m, x)

/* In a test that calls several times: what follows is given anew. */
static inline void next_case(void)
{
    if (tap_told->wrong)
        return;
    tap_givens = 0;
    *tap_told->text[GIVEN] = '\0';
}

/* Entry i of an answer is wrong: of what is given in the same shape, and is
 * too large to be shown, tells that entry. */
static inline void tap_give_entry(const Tensor *answer, size_t i)
{
    for (int k = 0; k < tap_givens; k++) {
        const Tensor *t = &tap_given[k].array;
        if (!t->data || t->count <= TAP_SHOWN || t->rank != answer->rank ||
            memcmp(t->shape, answer->shape,
                   (size_t)t->rank * sizeof *t->shape) != 0)
            continue;
        snprintf(tap_told->text[GIVEN], sizeof(TapText), "%s, where ",
                 tap_given[k].text);
        tap_index(GIVEN, t, i);
        tap_tell(GIVEN, " is ");
        tap_number(GIVEN, 9, tap_entry(t->type, t->data, i));
        tap_retell(k);
    }
}

/* Tells how a number differs from what is due. */
static inline void tap_differs(double got, double due, double tolerance)
{
    const float number = (float)got;
    const double off = fabs(got - due);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    tap_number(WRONG, 9, got);
    tap_tell(WRONG, " where ");
    tap_number(WRONG, 9, due);
    tap_tell(WRONG, " is due%s",
             number == unset ? ": nothing was written there, or only added "
                               "to what was there"
             : (float)due == unset ? ": nothing is to be written there"
             : fabs(got) > 1.69e38 && fabs(got) < 1.7e38
                 ? ": perhaps a variable was used before it had a value"
             : !isnan(got) ? ""
             : bits & TAP_BEYOND
                 ? ": not a number, read beyond the ends of an array"
                 : ": not a number, as comes of 0/0, of inf - inf, of "
                   "inf * 0, or of reading beyond an array's ends");
    if (off < 0.01 * fabs(due))
        tap_tell(WRONG, ": %.2g apart, at most %.2g is allowed", off,
                 tolerance);
}

/* Compares an array with a tensor, whose shape and count hold. Tells the
 * first entry that differs. */
static inline void tap_compare(const char *what, const Tensor *expect,
                               char type, const void *got, double rtol,
                               double atol)
{
    for (size_t i = 0; i < expect->count; i++) {
        const double entry = tap_entry(type, got, i);
        const double due = tap_entry(expect->type, expect->data, i);
        const double tolerance = atol + rtol * fabs(due);
        if (!tap_fails(tap_is_near(entry, due, tolerance)))
            continue;
        if (expect->count > 1 && expect->count <= TAP_SHOWN) {
            tap_show(GAVE, what, expect, type, got);
            tap_show(DUE, what, expect, expect->type, expect->data);
        }
        tap_give_entry(expect, i);
        tap_tell(WRONG, "\n%s", what);
        tap_index(WRONG, expect, i);
        tap_tell(WRONG, ": ");
        tap_differs(entry, due, tolerance);
    }
}

/* Floats with a golden array of float32 or float64, or ints with one of
 * int64. */
static inline void tap_close(const char *what, const Tensor *expect,
                             const void *got, double rtol, double atol)
{
    tap_report(expect->count > 0, what, "the golden array is empty");
    tap_compare(what, expect, expect->type == 'i' ? 'n' : 'f', got, rtol,
                atol);
}

static inline void tap_near(const char *what, double got, double expect,
                            double rtol, double atol)
{
    const Tensor one = {.type = 'd', .count = 1, .data = &expect};
    tap_compare(what, &one, 'd', &got, rtol, atol);
}

/* Random numbers for properties: the same on every machine and every
 * run. */
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

/* When the test ends: is what lies around its arrays as it was, and so are
 * golden ones? Tells the first that is not. */
static inline void tap_check_rooms(void)
{
    for (int k = 0; k < tap_rooms; k++) {
        const Tensor *t = &tap_room[k].tensor;
        const void *original = tap_room[k].original;
        const char *name = original ? strrchr(t->name, '-') : NULL;
        const char *wrong = NULL;
        const size_t size = tap_room[k].size;
        float *data = t->data;
        if (original && memcmp(data, original, size) != 0)
            wrong = "the function has changed its input";
        if (!guard(data + size / sizeof *data, false))
            wrong = "something was written beyond its end";
        if (!guard(data - TAP_GUARD, false))
            wrong = "something was written in front of it";
        if (!wrong)
            continue;
        tap_told->wrong++;
        tap_tell(WRONG, "\n%s (size %zu): %s", name ? name + 1 : t->name,
                 t->count, wrong);
        return;
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
    tap_told->is_limited = true;
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

static inline void tap_char(int c)
{
    if (c == '"' || c == '\\')
        putchar('\\');
    printf(c > 0 && c < ' ' ? "\\x%02x" : "%c", c);
}

/* Reports the test point; if it fails, or the environment has TAP_TELL,
 * with all that is told, in YAML that prove can read: each value stands in
 * quotes on one line. On anything else prove stumbles and drops all further
 * tests, or never ends. */
static inline void tap_line(bool good)
{
    const char *const key[] = {"given", "gave", "due", "wrong", "printed"};
    const bool tells = !good || getenv("TAP_TELL");
    printf("%sok %d - %s\n", good ? "" : "not ", tap_next(), tap_name);
    tap_failed += !good;
    printf("%s", tells ? "  ---\n" : "");
    for (int k = 0; k < TAP_KEYS && tells; k++) {
        const char *c = tap_told->text[k];
        if (!*c)
            continue;
        printf("  %s: \"", key[k]);
        for (c += *c == '\n'; *c; c++)
            tap_char(*c);
        printf("\"\n");
    }
    if (tap_told->wrong > 0 && tap_told->compared > 1)
        printf("  fail: \"%d of %d\"\n", tap_told->wrong,
               tap_told->compared);
    printf("%s", tells ? "  ...\n" : "");
    fflush(stdout);
}

static inline void tap_skip(const char *name, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", tap_next(), name, why);
}

static inline unsigned tap_limit(void)
{
    const char *text = getenv("TAP_SECONDS");
    return text ? (unsigned)parse_integer("TAP_SECONDS", text, 1, 86400)
                : TAP_SECONDS;
}

/* Is the running test point one that is asked for? */
static inline bool tap_is_asked(void)
{
    const char *at = getenv("TAP_ONLY");
    const size_t n = strcspn(tap_name, ":");
    for (; at && *at; at += *at == ' ') {
        if (strcspn(at, " ") == n && !strncmp(at, tap_name, n))
            return true;
        at += strcspn(at, " ");
    }
    return !at;
}

/* Begins a test point; true in its child. A call that shall refuse gives
 * the name, as "softmax: refuses (0, x, y)", or with what is wrong in
 * words. What the child prints goes into the pipe. */
static inline bool tap_begin(const char *name, bool refuses,
                             const char *words)
{
    const int function = (int)strcspn(name, refuses ? "(" : ":");
    snprintf(tap_name, sizeof tap_name, "%.*s%s%s", function, name,
             refuses ? ": refuses " : "", words ? words : name + function);
    if (!tap_told)
        tap_told = tap_shared(sizeof *tap_told);
    memset(tap_told, 0, sizeof *tap_told);
    tap_child = -1;
    if (!tap_is_asked())
        return false;
    if (*tap_endless &&
        !strncmp(tap_name, tap_endless, strlen(tap_endless))) {
        tap_tell(WRONG, "\nnot run: a test before it has no end");
        tap_line(false);
        return false;
    }
    tap_seconds = tap_limit();
    tap_read_golden();
    fflush(NULL);
    if (pipe(tap_pipe) || (tap_child = fork()) < 0)
        REFUSE("no process can be started");
    if (tap_child > 0)
        return false;
    dup2(tap_pipe[1], STDOUT_FILENO);
    dup2(tap_pipe[1], STDERR_FILENO);
    close(tap_pipe[0]);
    close(tap_pipe[1]);
#ifdef M_PERTURB /* what malloc gives holds no lucky zeros, as when graded */
    mallopt(M_PERTURB, 0xa5);
#endif
    setvbuf(stdout, NULL, _IONBF, 0); /* or a crash would lose it */
    setitimer(ITIMER_PROF,
              &(struct itimerval){.it_value.tv_sec = tap_seconds}, NULL);
    alarm(TAP_PATIENCE * tap_seconds);
    return true;
}

/* In words, what a signal means that has ended a test. */
static inline const char *tap_signal(int killer, bool refuses)
{
    return refuses ? ": it should have been refused; it went on and crashed"
           : tap_told->is_limited
               ? ": memory ran out, or was used that is not the program's: "
                 "is all of it given back?"
           : killer == SIGSEGV || killer == SIGBUS
               ? ": memory was used that is not the program's, often by an "
                 "index out of range or a NULL pointer"
           : killer == SIGABRT
               ? ": by assert or abort, or because memory was written "
                 "out of range or freed twice"
           : killer == SIGFPE ? ": a whole number was divided by 0"
                              : "";
}

/* Waits for the child, and returns its exit status, or -1. Tells, in words,
 * of any end but a test's own and a refusal's. */
static inline int tap_wait(bool refuses)
{
    int status;
    char *text = tap_told->text[PRINTED], *end = text;
    close(tap_pipe[1]);
    for (ssize_t n; (n = read(tap_pipe[0], end, TAP_PRINTED)) > 0;) {
        end += n;
        if (end > text + TAP_PRINTED) { /* the last is kept */
            memmove(text, end - TAP_PRINTED, TAP_PRINTED);
            end = text + TAP_PRINTED;
        }
    }
    *end = '\0';
    close(tap_pipe[0]);
    waitpid(tap_child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const int killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killer == SIGPROF || killer == SIGALRM) {
        const bool waits = killer == SIGALRM;
        snprintf(tap_endless, sizeof tap_endless,
                 "%.*s:", (int)strcspn(tap_name, ":"), tap_name);
        tap_tell(WRONG, "\nno end in %u s: %s",
                 waits ? TAP_PATIENCE * tap_seconds : tap_seconds,
                 waits ? "does it wait, or is there an endless loop?"
                       : "is there an endless loop?");
    } else if (killer)
        tap_tell(WRONG, "\n%s%s", strsignal(killer),
                 tap_signal(killer, refuses));
    else if (code != (tap_told->is_done ? 0 : 2))
        tap_tell(WRONG, "\nthe program ended by itself, with status %d",
                 code);
    return code;
}

static inline void tap_run(void (*test)(void), const char *name)
{
    if (tap_begin(name, false, NULL)) {
        test();
        tap_check_rooms();
        tap_report(tap_told->compared > 0, "the test", "compares nothing");
        tap_told->is_done = true;
        exit(0);
    }
    if (tap_child < 0)
        return;
    const int code = tap_wait(false);
    if (code == 2 && !tap_told->is_done)
        tap_tell(WRONG, "\n%s",
                 tap_told->is_limited
                     ? "memory ran out: what calls before this one had "
                       "asked for was not given back"
                     : "refused, with status 2, where an answer is due");
    tap_line(code == 0 && tap_told->is_done && !tap_told->wrong);
}

/* Is the text's last line a refusal, "file.c: function: what is wrong"; and
 * this one, if one is given? Other words may have been printed before, on
 * the same line, too. That an exercise is empty is no answer to a wrong
 * call. */
static inline bool tap_is_message(const char *text, const char *line)
{
    const char *last = strchr(text, '\0');
    if (last == text || *--last != '\n')
        return false;
    if (line)
        return (size_t)(last - text) >= strlen(line) &&
               !strncmp(last - strlen(line), line, strlen(line));
    while (last > text && last[-1] != '\n')
        last--;
    const char *place = strstr(last, ".c: ");
    int end = 0;
    if (place)
        sscanf(place, ".c: %*[^: \n]:%*1[ ]%*1[^ \n]%n", &end);
    return end && !strstr(place, " is still empty: ");
}

static inline void tap_refuses_end(int code, const char *line)
{
    tap_tell(DUE, "\na refusal, with status 2 and the line %s",
             line ? line : "file.c: function: what is wrong");
    if (tap_told->is_done)
        tap_tell(WRONG, "\nthe call was not refused");
    else if (code == 2)
        tap_tell(WRONG,
                 "\nstatus 2, but the line is not that of a refusal");
    tap_line(code == 2 && tap_is_message(tap_told->text[PRINTED], line));
}

/* A test point: the call must refuse, that is end with status 2 and write
 * one line to standard error, "file.c: function: what is wrong". Where the
 * refusal lives, `line` may be that line; of an exercise it is NULL, and
 * any words will do. */
#define REFUSES(line, ...)                                                 \
    TAP_REFUSES(#__VA_ARGS__, NULL, line, __VA_ARGS__)

/* As REFUSES, any line; what is wrong with the call is said in words: of
 * REFUSES_SUCH("no scores", softmax(0, x, y)) the name becomes "softmax:
 * refuses no scores". */
#define REFUSES_SUCH(words, ...)                                           \
    TAP_REFUSES(#__VA_ARGS__, words, NULL, __VA_ARGS__)

#define TAP_REFUSES(name, words, line, ...)                                \
    do {                                                                   \
        if (tap_begin(name, true, words)) {                                \
            __VA_ARGS__;                                                   \
            tap_told->is_done = true;                                      \
            exit(0);                                                       \
        }                                                                  \
        if (tap_child > 0)                                                 \
            tap_refuses_end(tap_wait(true), line);                         \
    } while (0)

/* The last test point of a chapter, where all others pass and none is left
 * out: its tests read all of its golden tensors. */
static inline void tap_golden_done(void)
{
    if (!tap_golden.count || !strstr(__BASE_FILE__, CHAPTER ".c") ||
        tap_failed || getenv("TAP_SMALL") || getenv("TAP_ONLY"))
        return;
    snprintf(tap_name, sizeof tap_name, "golden: every tensor is read");
    memset(tap_told, 0, sizeof *tap_told);
    for (size_t i = 0; i < tap_golden.count; i++)
        if (!tap_is_read[i] && !tap_told->wrong++)
            tap_tell(WRONG, "\n%s is not", tap_golden.tensor[i].name);
    tap_line(!tap_told->wrong);
}

/* Prints the plan; main returns what this returns. */
static inline int tap_done(void)
{
    tap_golden_done();
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}
