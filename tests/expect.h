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

/* Fills arrays before a call: it is far from any answer, and so an entry is
 * noticed that is never written, or only added to. */
static const float unset = 1.23e30f;

/* What is read around an array has bits here (arrays.h). */
enum { TAP_BEYOND = 0x3fffff };

/* What the running test tells. Its child shares this memory with the
 * parent, who can read it when the child has crashed. What is given stands
 * in the order of the test's own text: C computes arguments in any order. */
typedef char TapText[2 * TAP_PRINTED + 1];
static struct {
    TapText wrong, gave, due, printed; /* each line begins with \n */
    struct {
        int place; /* in the test's text */
        TapText text;
    } given[TAP_GIVENS];
    int givens, compared, failed; /* how many, and how many comparisons */
    bool is_done;                 /* it has run to its end */
} * tap_told;

static inline __attribute__((format(printf, 2, 3))) void
tap_tell(TapText text, const char *format, ...)
{
    const size_t end = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + end, sizeof(TapText) - end, format, values);
    va_end(values);
}

/* Tells what is wrong, on a line of its own. */
#define tap_wrong(...) tap_tell(tap_told->wrong, "\n" __VA_ARGS__)

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

static inline size_t tap_entry_size(char type)
{
    static const unsigned char size[128] = {
        ['d'] = 8, ['i'] = 8, ['f'] = 4, ['n'] = 4,
        ['h'] = 2, ['b'] = 2, ['?'] = 1};
    return size[(int)type];
}

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
    const size_t row = t->rank ? (size_t)t->shape[t->rank - 1] : 1;
    tap_tell(text, "\n%s (", t->name);
    for (int k = 0; k < t->rank; k++)
        tap_tell(text, k ? ", %d" : "%d", t->shape[k]);
    tap_tell(text, is_small ? ") =" : ")");
    for (size_t i = 0; is_small && i < t->count; i++) {
        tap_tell(text, i % row ? ", " : t->rank > 1 ? "\n [" : " [");
        tap_number(text, strchr("in", t->type) ? 17 : 6, tap_entry(t, i));
        tap_tell(text, (i + 1) % row ? "" : "]");
    }
}

/* An array in C as a tensor, of as many dimensions as sizes are given. */
#define TAP_ARRAY(name, type, data, ...)                                   \
    tap_array_of(name, type, data,                                         \
                 sizeof((int[]){__VA_ARGS__}) / sizeof(int),               \
                 (int[]){__VA_ARGS__})
static inline Tensor tap_array_of(const char *name, char type,
                                  const void *data, size_t rank,
                                  const int *shape)
{
    Tensor t = {.name = name,
                .type = type,
                .rank = (int)rank,
                .count = 1,
                .data = (void *)data};
    for (size_t k = 0; k < rank; k++)
        t.count *= (size_t)(t.shape[k] = shape[k]);
    return t;
}

/* ---- What is given. */

/* Tells, once, what is given. When something is wrong, it stays. */
static inline void tap_give(int place, const char *text)
{
    int k = tap_told->givens;
    for (int i = 0; i < k; i++)
        if (!strcmp(text, tap_told->given[i].text))
            return;
    if (tap_told->failed || k == TAP_GIVENS)
        return;
    for (; k > 0 && tap_told->given[k - 1].place > place; k--)
        tap_told->given[k] = tap_told->given[k - 1];
    tap_told->given[k].place = place;
    snprintf(tap_told->given[k].text, sizeof(TapText), "%s", text);
    tap_told->givens++;
}

static inline void tap_give_array(int place, Tensor array)
{
    TapText text = "";
    tap_show(text, &array);
    tap_give(place, text + 1);
}

/* What a test gives to a function: in words, as "r = NULL"; or an array of
 * floats or ints, of these sizes. */
#define given(...) tap_give(__COUNTER__, tap_words(__VA_ARGS__))
#define given_array(name, x, ...)                                          \
    tap_give_array(__COUNTER__,                                            \
                   TAP_ARRAY(name,                                         \
                             _Generic((x), int *: 'n', const int *: 'n',   \
                                      default: 'f'), x, __VA_ARGS__))

/* In a test that calls several times: what follows is given anew. */
static inline void next_case(void)
{
    tap_told->givens *= tap_told->failed > 0;
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
            tap_wrong("%s: ", what);                                       \
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

/* What may have made this number where another is due, in words. */
static inline const char *tap_why(float got, float due)
{
    uint32_t bits;
    memcpy(&bits, &got, sizeof bits);
    if (got == unset)
        return ": nothing was written there, or only added to what was "
               "there";
    if (due == unset)
        return ": nothing is to be written there";
    if (fabsf(got) > 1.69e38f && fabsf(got) < 1.7e38f) /* 0xfefefefe */
        return ": perhaps a variable was used before it had a value";
    if (isnan(got) && (bits & TAP_BEYOND))
        return ": not a number, read beyond the ends of an array";
    return isnan(got) ? ": not a number, as comes of 0/0, of inf - inf, of "
                        "inf * 0, or of reading beyond an array's ends"
                      : "";
}

/* Tells entry i, as "x[1][2]: 3 where 4 is due". */
static inline void tap_differs(const Tensor *got, const Tensor *due,
                               size_t i, double tolerance)
{
    const double x = tap_entry(got, i), right = tap_entry(due, i);
    size_t rest = i, entries = due->count;
    tap_wrong("%s", got->name);
    for (int k = 0; k < due->rank; k++, rest %= entries) {
        entries /= (size_t)due->shape[k];
        tap_tell(tap_told->wrong, "[%zu]", rest / entries);
    }
    tap_tell(tap_told->wrong, ": ");
    tap_number(tap_told->wrong, 9, x);
    tap_tell(tap_told->wrong, " where ");
    tap_number(tap_told->wrong, 9, right);
    tap_tell(tap_told->wrong, " is due%s", tap_why((float)x, (float)right));
    if (fabs(x - right) < 0.01 * fabs(right))
        tap_tell(tap_told->wrong, ": %.2g apart, at most %.2g is allowed",
                 fabs(x - right), tolerance);
}

/* Compares two arrays of one shape. Tells the first entry that differs. */
static inline void tap_compare(Tensor got, Tensor due, double rtol,
                               double atol)
{
    for (size_t i = 0; i < due.count; i++) {
        const double right = tap_entry(&due, i);
        const double tolerance = atol + rtol * fabs(right);
        if (!tap_fails(tap_is_near(tap_entry(&got, i), right, tolerance)))
            continue;
        due.name = got.name;
        if (due.count > 1 && due.count <= TAP_SHOWN) {
            tap_show(tap_told->gave, &got);
            tap_show(tap_told->due, &due);
        }
        tap_differs(&got, &due, i, tolerance);
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
    tap_compare(mine, *due, rtol, atol);
}

/* Floats against others, with rtol and atol: a list of n, or a table of n
 * rows. */
#define expect_list(what, n, got, due, ...)                                \
    tap_compare(TAP_ARRAY(what, 'f', got, n),                              \
                TAP_ARRAY(what, 'f', due, n), __VA_ARGS__)
#define expect_table(what, n, m, got, due, ...)                            \
    tap_compare(TAP_ARRAY(what, 'f', got, n, m),                           \
                TAP_ARRAY(what, 'f', due, n, m), __VA_ARGS__)

static inline void expect_near(const char *what, double got, double due,
                               double rtol, double atol)
{
    tap_compare(tap_array_of(what, 'd', &got, 0, NULL),
                tap_array_of(what, 'd', &due, 0, NULL), rtol, atol);
}

/* Equal, where NaN equals NaN. */
#define expect_equal(what, got, due) expect_near(what, got, due, 0, 0)

/* Of whole numbers that a double may not hold. */
static inline void expect_integer(const char *what, int64_t got,
                                  int64_t due)
{
    expect(got == due, what, "%" PRId64 " where %" PRId64 " is due", got,
           due);
}
