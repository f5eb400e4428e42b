/* What a test compares, and what it tells of it: what was given, what the
 * function gave, and what was due. Part of tap.h. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "support.h"
#include "support/safetensors.h"

enum { TAP_SHOWN = 24 };     /* entries of an array that is shown */
enum { TAP_GIVENS = 24 };    /* things that are given */
enum { TAP_PRINTED = 4096 }; /* bytes that are shown of what is printed */

/* An entry of a result that is not written, or added to instead of written,
 * is far from any answer; and one that was read around an array has bits
 * here (rooms.h). */
static const float unset = 1.23e30f;
enum { TAP_BEYOND = 0x3fffff };

/* What the running test tells. Its child shares this memory with the
 * parent, who can read it when the child has crashed. */
enum { WRONG, GIVEN, GAVE, DUE, PRINTED, TAP_KEYS };
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
