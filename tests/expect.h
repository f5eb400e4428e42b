/* What a test expects of a result, and what a test that fails tells of it:
 * what was given, what the function gave, and what was due. Part of tap.h.
 *
 *     given("p = %g", p);                    what a function is given, in
 *     given_array("mask", mask, 2, 5);       words, or as an array
 *     expect_true("no bias", !layer.bias);
 *     expect_equal("rate", t.rate, 0.5);
 *     expect_near("mean", mean, 0.25, rtol, atol);
 *     expect_table("mask", 2, 5, mask, due, rtol, atol);
 *     expect_close("weights", weights, golden(set, "weights"), rtol, atol);
 *
 * A number is near another if they differ by at most atol + rtol * |due|. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "support.h"
#include "support/safetensors.h"

enum {
    TAP_SHOWN = 24,    /* entries of an array that is shown */
    TAP_GIVENS = 24,   /* things that are given */
    TAP_PRINTED = 4096 /* bytes that are shown of what is printed */
};

/* An entry of a result that is not written, or added to instead of written,
 * is far from any answer; and one that was read around an array has bits
 * here (arrays.h). */
static const float unset = 1.23e30f;
enum { TAP_BEYOND = 0x3fffff };

/* What the running test tells. Its child shares this memory with the
 * parent, who can read it when the child has crashed. */
typedef char TapText[2 * TAP_PRINTED + 1];
static struct {
    TapText wrong, given, gave, due, printed; /* each line begins with \n */
    int compared, failed;                     /* comparisons */
    bool is_done;                             /* it has run to its end */
    bool is_limited; /* tap_limit_memory has been called */
} * tap_told;

/* What the running test gives to a function, in the order of the test's own
 * text: C computes arguments in any order. */
static struct {
    int place;    /* in the test's text */
    Tensor array; /* its count is 0 where words alone are given */
    TapText text;
} tap_given[TAP_GIVENS];
static int tap_givens;

static inline __attribute__((format(printf, 2, 3))) void
tap_tell(TapText text, const char *format, ...)
{
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

/* ---- Arrays as text. A type 'n', of an array in C, is int. */

static inline double tap_entry(const Tensor *t, size_t i)
{
    const int *whole = t->data;
    if (t->type == 'n') /* between guards it may be unset as well */
        return memcmp(whole + i, &unset, sizeof unset) ? whole[i]
                                                       : (double)unset;
    return t->type == 'f'   ? (double)((const float *)t->data)[i]
           : t->type == 'd' ? ((const double *)t->data)[i]
                            : (double)((const int64_t *)t->data)[i];
}

static inline void tap_number(TapText text, int digits, double x)
{
    if ((float)x == unset)
        tap_tell(text, "unset");
    else /* NaN without a sign */
        tap_tell(text, "%.*g", digits, isnan(x) ? (double)NAN : x);
}

/* Tells "weights (2, 3) =" and, if they are few, the entries in rows. */
static inline void tap_show(TapText text, const Tensor *t)
{
    const bool is_small = t->count <= TAP_SHOWN;
    tap_tell(text, "\n%s (", t->name);
    for (int k = 0; k < t->rank; k++)
        tap_tell(text, k ? ", %d" : "%d", t->shape[k]);
    tap_tell(text, is_small ? ") =" : ")");
    for (size_t i = 0; is_small && i < t->count; i++) {
        int opens = 0, closes = 0;
        size_t size = 1;
        for (int k = t->rank - 1; k >= 0; k--) {
            size *= (size_t)t->shape[k];
            opens += i % size == 0;
            closes += (i + 1) % size == 0;
        }
        if (opens && t->rank > 1) /* a row */
            tap_tell(text, "\n%*s", t->rank - opens, "");
        tap_tell(text, i && opens < 1 ? ", %.*s" : " %.*s", opens, "[[[[");
        tap_number(text, strchr("in", t->type) ? 17 : 6, tap_entry(t, i));
        tap_tell(text, "%.*s", closes, "]]]]");
    }
}

/* Tells an entry's place, as "[1][2]". */
static inline void tap_index(TapText text, const Tensor *t, size_t i)
{
    size_t rest = i, entries = t->count;
    for (int k = 0; k < t->rank; k++, rest %= entries) {
        entries /= (size_t)t->shape[k];
        tap_tell(text, "[%zu]", rest / entries);
    }
}

/* An array in C as a tensor, of as many dimensions as sizes are given. */
static inline Tensor tap_array_of(const char *name, char type,
                                  const void *data, int rank,
                                  const int *shape)
{
    Tensor t = {.name = name,
                .type = type,
                .rank = rank,
                .count = 1,
                .data = (void *)data};
    for (int k = 0; k < 4; k++)
        t.shape[k] = k < rank ? shape[k] : 1;
    for (int k = 0; k < rank; k++)
        t.count *= (size_t)shape[k];
    return t;
}

/* ---- What is given. */

static inline void tap_tell_given(void)
{
    *tap_told->given = '\0';
    for (int k = 0; k < tap_givens; k++)
        tap_tell(tap_told->given, "%s", tap_given[k].text);
}

/* Entry i of an answer is wrong: of what is given in the same shape, and is
 * too large to be shown, tells that entry. */
static inline void tap_give_entry(const Tensor *answer, size_t i)
{
    for (int k = 0; k < tap_givens; k++) {
        const Tensor *t = &tap_given[k].array;
        if (t->count <= TAP_SHOWN || t->rank != answer->rank ||
            memcmp(t->shape, answer->shape, sizeof t->shape) != 0)
            continue;
        tap_tell(tap_given[k].text, ", where ");
        tap_index(tap_given[k].text, t, i);
        tap_tell(tap_given[k].text, " is ");
        tap_number(tap_given[k].text, 9, tap_entry(t, i));
    }
    tap_tell_given();
}

/* Tells, once, that words or this array are given. Once something is wrong,
 * what was given then stays. */
static inline void tap_give(int place, const char *words,
                            const Tensor *array)
{
    int k = tap_givens;
    TapText text = "";
    if (tap_told->failed || k == TAP_GIVENS)
        return;
    if (array)
        tap_show(text, array);
    else
        tap_tell(text, "\n%s", words);
    for (int i = 0; i < k; i++)
        if (!strcmp(text, tap_given[i].text))
            return;
    for (; k > 0 && tap_given[k - 1].place > place; k--)
        tap_given[k] = tap_given[k - 1];
    tap_given[k].place = place;
    tap_given[k].array = array ? *array : (Tensor){.count = 0};
    strcpy(tap_given[k].text, text);
    tap_givens++;
    tap_tell_given();
}

static inline void tap_give_array(int place, const char *name, char type,
                                  const void *x, int rank, const int *shape)
{
    const Tensor array = tap_array_of(name, type, x, rank, shape);
    tap_give(place, NULL, &array);
}

/* What a test gives to a function: in words, as "r = NULL"; or an array of
 * floats or ints, of these sizes. */
#define given(...) tap_give(__COUNTER__, tap_words(__VA_ARGS__), NULL)
#define given_array(name, x, ...)                                          \
    tap_give_array(__COUNTER__, name,                                      \
                   _Generic((x), int *: 'n', const int *: 'n',             \
                            default: 'f'), x,                              \
                   sizeof((int[]){__VA_ARGS__}) / sizeof(int),             \
                   (int[]){__VA_ARGS__})

/* In a test that calls several times: what follows is given anew. */
static inline void next_case(void)
{
    if (tap_told->failed)
        return;
    tap_givens = 0;
    tap_tell_given();
}

/* ---- Comparisons. */

/* Counts a comparison. Is it the first that fails? */
static inline bool tap_fails(bool good)
{
    tap_told->compared++;
    return !good && !tap_told->failed++;
}

/* Something is true; else it is told why not. */
#define expect(good, what, ...)                                            \
    do {                                                                   \
        if (tap_fails(good)) {                                             \
            tap_tell(tap_told->wrong, "\n%s: ", what);                     \
            tap_tell(tap_told->wrong, __VA_ARGS__);                        \
        }                                                                  \
    } while (0)
#define expect_true(what, condition)                                       \
    expect(condition, what, "this is not so")

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

/* Tells how a number differs from what is due. */
static inline void tap_differs(double got, double due, double tolerance)
{
    const float number = (float)got;
    const double off = fabs(got - due);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    tap_number(tap_told->wrong, 9, got);
    tap_tell(tap_told->wrong, " where ");
    tap_number(tap_told->wrong, 9, due);
    tap_tell(tap_told->wrong, " is due%s",
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
        tap_tell(tap_told->wrong, ": %.2g apart, at most %.2g is allowed",
                 off, tolerance);
}

/* Compares two arrays of one shape. Tells the first entry that differs. */
static inline void tap_compare(const Tensor *got, const Tensor *due,
                               double rtol, double atol)
{
    Tensor shown = *due;
    shown.name = got->name;
    for (size_t i = 0; i < due->count; i++) {
        const double entry = tap_entry(got, i), right = tap_entry(due, i);
        const double tolerance = atol + rtol * fabs(right);
        if (!tap_fails(tap_is_near(entry, right, tolerance)))
            continue;
        if (due->count > 1 && due->count <= TAP_SHOWN) {
            tap_show(tap_told->gave, got);
            tap_show(tap_told->due, &shown);
        }
        tap_give_entry(due, i);
        tap_tell(tap_told->wrong, "\n%s", got->name);
        tap_index(tap_told->wrong, due, i);
        tap_tell(tap_told->wrong, ": ");
        tap_differs(entry, right, tolerance);
    }
}

/* Floats against a golden array of float32 or float64, or ints against one
 * of int64. */
static inline void expect_close(const char *what, const void *got,
                                const Tensor *due, double rtol, double atol)
{
    Tensor mine = *due;
    mine.name = what;
    mine.type = due->type == 'i' ? 'n' : 'f';
    mine.data = (void *)got;
    expect(due->count > 0, what, "the golden array is empty");
    tap_compare(&mine, due, rtol, atol);
}

static inline void tap_compare_floats(const char *what, const void *got,
                                      const void *due, int rank,
                                      const int *shape, double rtol,
                                      double atol)
{
    const Tensor mine = tap_array_of(what, 'f', got, rank, shape);
    const Tensor right = tap_array_of(what, 'f', due, rank, shape);
    tap_compare(&mine, &right, rtol, atol);
}

/* Floats against others: a list of n, or a table of n rows. */
static inline void expect_list(const char *what, int n, const void *got,
                               const void *due, double rtol, double atol)
{
    tap_compare_floats(what, got, due, 1, &n, rtol, atol);
}

static inline void expect_table(const char *what, int n, int m,
                                const void *got, const void *due,
                                double rtol, double atol)
{
    tap_compare_floats(what, got, due, 2, (int[]){n, m}, rtol, atol);
}

static inline void expect_near(const char *what, double got, double due,
                               double rtol, double atol)
{
    const Tensor mine = {
        .name = what, .type = 'd', .count = 1, .data = &got};
    const Tensor right = {.type = 'd', .count = 1, .data = &due};
    tap_compare(&mine, &right, rtol, atol);
}

/* Equal, where NaN equals NaN. */
static inline void expect_equal(const char *what, double got, double due)
{
    expect_near(what, got, due, 0, 0);
}

/* Of whole numbers that a double may not hold. */
static inline void expect_integer(const char *what, int64_t got,
                                  int64_t due)
{
    expect(got == due, what, "%" PRId64 " where %" PRId64 " is due", got,
           due);
}
