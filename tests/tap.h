/* Tests that print TAP 13, for prove.
 *
 *     TAP("softmax: adds up to one", sum_test());
 *
 * runs what follows the name in a child process and prints one line, "ok"
 * or "not ok": a crash, an endless loop, a refusal or an empty exercise
 * fails that test alone. So does a test that compares nothing.
 *
 * A test is stopped when it has used ten seconds of the processor's time,
 * or as many as the environment's TAP_SECONDS says: how busy the machine is
 * does not matter. A test that only waits uses no such time, and is stopped
 * after six times as many seconds of the clock. When a test was stopped,
 * the other tests of its function are not run, and fail: an endless loop
 * costs its time once, not once for each test.
 *
 * Where the environment's TAP_ONLY names functions, as "dot mix", theirs
 * are the only tests. Where it has TAP_SMALL, those of TAP_LARGE are left
 * out: valgrind is some thirty times slower than the machine.
 *
 * A test that fails tells in YAML what is wrong, in words; what was given,
 * what the function gave and what was due, where these are small; what the
 * tested code has printed, so that it cannot be taken for a result; and how
 * many of its comparisons fail. */
#pragma once

#define _DEFAULT_SOURCE /* fork, pipe, setitimer, mmap */
#include <regex.h>
#include <signal.h>
#ifdef __linux__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "arrays.h"

#define TAP(name, ...) TAP_TEST(name, false, NULL, NULL, __VA_ARGS__)

#define TAP_LARGE(name, ...)                                               \
    if (!getenv("TAP_SMALL"))                                              \
    TAP(name, __VA_ARGS__)

enum { TAP_SECONDS = 10, TAP_PATIENCE = 6 };

static int tap_count, tap_failed; /* test points so far */
static int tap_pipe[2];           /* takes what the running test prints */
static pid_t tap_child;           /* in it 0, and -1 where there is none */
static unsigned tap_seconds;      /* what the running test may take */
static char tap_endless[64];      /* the last function without an end */
static char tap_name[300];        /* of the running test point */

/* Prints a text for YAML on one line in quotes: on anything else prove
 * stumbles and drops all further tests, or never ends. */
static inline void tap_yaml(const char *key, const char *text)
{
    if (!*text)
        return;
    printf("  %s: \"", key);
    for (const char *c = text + (*text == '\n'); *c; c++) {
        if (*c == '"' || *c == '\\')
            putchar('\\');
        printf(*c > 0 && *c < ' ' ? "\\x%02x" : "%c", *c);
    }
    printf("\"\n");
}

/* Reports the test point; if it fails, or the environment has TAP_TELL,
 * with all that is told. Before the first comes the version. */
static inline void tap_line(bool good)
{
    TapText given = "", fail = "";
    printf("%s%sok %d - %s\n", tap_count ? "" : "TAP version 13\n",
           good ? "" : "not ", tap_count + 1, tap_name);
    tap_count++;
    tap_failed += !good;
    for (int k = 0; k < tap_told->givens; k++)
        tap_tell(given, "\n%s", tap_told->given[k].text);
    if (tap_told->failed > 0 && tap_told->compared > 1)
        tap_tell(fail, "%d of %d", tap_told->failed, tap_told->compared);
    if (!good || getenv("TAP_TELL")) {
        printf("  ---\n");
        tap_yaml("wrong", tap_told->wrong);
        tap_yaml("given", given);
        tap_yaml("gave", tap_told->gave);
        tap_yaml("due", tap_told->due);
        tap_yaml("printed", tap_told->printed);
        tap_yaml("fail", fail);
        printf("  ...\n");
    }
    fflush(stdout);
}

/* Is the running test point one that is asked for? */
static inline bool tap_is_asked(void)
{
    const char *only = getenv("TAP_ONLY");
    char functions[2000], own[sizeof tap_name];
    snprintf(functions, sizeof functions, " %s ", only ? only : "");
    snprintf(own, sizeof own, " %.*s ", (int)strcspn(tap_name, ":"),
             tap_name);
    return !only || strstr(functions, own);
}

/* True in a child process, whose text goes into the pipe, and whose time is
 * limited. */
static inline bool tap_fork(void)
{
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

/* Begins a test point; true in its child. A call that shall refuse gives
 * the name, as "softmax: refuses (0, x, y)", or with what is wrong in
 * words. */
static inline bool tap_begin(const char *name, bool refuses,
                             const char *words)
{
    const int function = (int)strcspn(name, refuses ? "(" : ":");
    const char *seconds = getenv("TAP_SECONDS");
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
        tap_wrong("not run: a test before it has no end");
        tap_line(false);
        return false;
    }
    tap_seconds =
        seconds ? (unsigned)parse_integer("TAP_SECONDS", seconds, 1, 86400)
                : TAP_SECONDS;
    tap_read_golden();
    return tap_fork();
}

/* In words, what a signal means that has ended a test. */
static inline const char *tap_signal(int killer, bool refuses)
{
    if (refuses)
        return ": it should have been refused; it went on and crashed";
    if (killer == SIGSEGV || killer == SIGBUS)
        return ": memory was used that is not the program's, often by an "
               "index out of range or a NULL pointer";
    if (killer == SIGABRT)
        return ": by assert or abort, or because memory was written out of "
               "range or freed twice";
    return killer == SIGFPE ? ": a whole number was divided by 0" : "";
}

/* Waits for the child's end, and returns its status. Of what it prints, the
 * last is kept. */
static inline int tap_wait(void)
{
    char *text = tap_told->printed, *end = text;
    int status;
    close(tap_pipe[1]);
    for (ssize_t n; (n = read(tap_pipe[0], end, TAP_PRINTED)) > 0;) {
        end += n;
        if (end > text + TAP_PRINTED) {
            memmove(text, end - TAP_PRINTED, TAP_PRINTED);
            end = text + TAP_PRINTED;
        }
    }
    *end = '\0';
    close(tap_pipe[0]);
    waitpid(tap_child, &status, 0);
    return status;
}

/* The end of a test, in its child; a call that shall refuse does not come
 * here. */
static inline void tap_end(bool refuses)
{
    if (!refuses) {
        tap_check_due();
        tap_check_guards();
        expect(tap_told->compared > 0, "the test", "compares nothing");
    }
    tap_told->is_done = true;
    exit(0);
}

/* ---- Calls that must be refused. */

/* Is the text's last line a refusal, "file.c: function: what is wrong"; and
 * does it end with this line, if one is given? Other words may have been
 * printed before, on the same line, too. That an exercise is empty is no
 * answer to a wrong call. */
static inline bool tap_is_message(const char *text, const char *line)
{
    const size_t length = strlen(text), of_line = line ? strlen(line) : 0;
    regex_t refusal;
    regmatch_t at;
    if (line)
        return length > of_line && text[length - 1] == '\n' &&
               !strncmp(text + length - 1 - of_line, line, of_line);
    if (regcomp(&refusal, "\\.c: [^: \n]+: [^ \n][^\n]*\n$", REG_EXTENDED))
        REFUSE("a refusal has no pattern");
    const bool is_one = !regexec(&refusal, text, 1, &at, 0);
    regfree(&refusal);
    return is_one && !strstr(text + at.rm_so, " is still empty: ");
}

/* Tells, in words, what is wrong with a child's end. */
static inline void tap_tell_end(int status, bool refuses)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const int killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killer == SIGPROF || killer == SIGALRM) {
        const bool waits = killer == SIGALRM;
        snprintf(tap_endless, sizeof tap_endless,
                 "%.*s:", (int)strcspn(tap_name, ":"), tap_name);
        tap_wrong("no end in %u s: %s",
                  waits ? TAP_PATIENCE * tap_seconds : tap_seconds,
                  waits ? "does it wait, or is there an endless loop?"
                        : "is there an endless loop?");
    } else if (killer)
        tap_wrong("%s%s", strsignal(killer), tap_signal(killer, refuses));
    else if (code != (tap_told->is_done ? 0 : 2))
        tap_wrong("the program ended by itself, with status %d", code);
    else if (refuses)
        tap_wrong("%s", code ? "status 2, but the line is not that of a "
                               "refusal"
                             : "the call was not refused");
    else if (code)
        tap_wrong("refused, with status 2, where an answer is due");
}

/* After the child's end, whether it should have refused, and this line. */
static inline void tap_judge(bool refuses, const char *line)
{
    if (tap_child < 0)
        return;
    const int status = tap_wait();
    const bool is_refusal = WIFEXITED(status) && WEXITSTATUS(status) == 2 &&
                            tap_is_message(tap_told->printed, line);
    if (refuses)
        tap_tell(tap_told->due,
                 "\na refusal, with status 2 and the line %s",
                 line ? line : "file.c: function: what is wrong");
    if (!refuses || !is_refusal)
        tap_tell_end(status, refuses);
    tap_line(refuses
                 ? is_refusal
                 : status == 0 && tap_told->is_done && !tap_told->failed);
}

#define TAP_TEST(name, refuses, words, line, ...)                          \
    do {                                                                   \
        if (tap_begin(name, refuses, words)) {                             \
            __VA_ARGS__;                                                   \
            tap_end(refuses);                                              \
        }                                                                  \
        tap_judge(refuses, line);                                          \
    } while (0)
#define TAP_REFUSES(name, words, line, ...)                                \
    TAP_TEST(name, true, words, line, __VA_ARGS__)

/* A test point: the call must refuse, that is end with status 2, and the
 * last line that it prints must be "file.c: function: what is wrong". Where
 * the refusal lives, `line` is how that line ends; of an exercise it is
 * NULL, and any words will do. */
#define REFUSES(line, ...)                                                 \
    TAP_REFUSES(#__VA_ARGS__, NULL, line, __VA_ARGS__)

/* As REFUSES, any line; what is wrong with the call is said in words: of
 * REFUSES_SUCH("no scores", softmax(0, x, y)) the name becomes "softmax:
 * refuses no scores". */
#define REFUSES_SUCH(words, ...)                                           \
    TAP_REFUSES(#__VA_ARGS__, words, NULL, __VA_ARGS__)

/* A call that is refused because one number in it is wrong: what is wrong,
 * in words; the refusal's line, or its end, or NULL for any line; and which
 * number has which value instead. WRONG has any line, SAYS has one; the
 * words are as "p.n = 2". */
typedef struct {
    const char *words, *line;
    int *number, value;
} Wrong;
#define SAYS(of, to, line_of)                                              \
    {                                                                      \
        .words = #of " = " #to, .line = line_of, .number = &of,            \
        .value = to                                                        \
    }
#define WRONG(of, to) SAYS(of, to, NULL)

/* A test point for each of an array of them: the number gets its value, and
 * the calls must refuse. Calls that make their objects anew can set it again,
 * through w. */
#define REFUSES_WRONG(function, wrong, ...)                                \
    for (const Wrong *w = wrong;                                           \
         w < (wrong) + sizeof(wrong) / sizeof *(wrong); w++)               \
    TAP_REFUSES(function, w->words, w->line, *w->number = w->value;        \
                __VA_ARGS__)

/* ---- The end. */

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
        if (!tap_is_read[i] && !tap_told->failed++)
            tap_wrong("%s is not", tap_golden.tensor[i].name);
    tap_line(!tap_told->failed);
}

/* Prints the plan; main returns what this returns. */
static inline int tap_done(void)
{
    tap_golden_done();
    printf("1..%d\n", tap_count);
    output_check();
    return tap_failed ? 1 : 0;
}
