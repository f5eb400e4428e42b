#include "worksheet.h"

int whole(Random *r, int low, int high)
{
    return low + (int)(random_float(r) * (float)(high - low + 1));
}

int place_below(Random *r, int n)
{
    return whole(r, 0, n - 1);
}

void whole_fill(Random *r, int n, int m, int low, int high, float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = (float)whole(r, low, high);
}

void tenths_fill(Random *r, int n, float shares[n])
{
    int left = 10;
    for (int k = 0; k < n - 1; k++) {
        const int tenths = whole(r, 1, left - (n - 1 - k));
        shares[k] = (float)tenths / 10;
        left -= tenths;
    }
    shares[n - 1] = (float)left / 10;
}

bool is_clear(int digits, int n, const float x[n])
{
    for (int k = 0; k < n; k++) {
        const double last = fabs((double)x[k]) * pow(10, digits);
        if (fabs(last - floor(last) - 0.5) < 0.1)
            return false;
    }
    return true;
}

int clear_largest(int n, const float x[n], float gap)
{
    int largest = 0;
    for (int k = 1; k < n; k++)
        if (x[k] > x[largest])
            largest = k;
    for (int k = 0; k < n; k++)
        if (k != largest && x[k] > x[largest] - gap)
            return -1;
    return largest;
}

float range(int n, const float x[n])
{
    float most = x[0], least = x[0];
    for (int k = 1; k < n; k++) {
        most = fmaxf(most, x[k]);
        least = fminf(least, x[k]);
    }
    return most - least;
}

bool has_dull_rows(int n, int m, const float x[n][m])
{
    for (int i = 0; i < n; i++) {
        if (dot(m, x[i], x[i]) == 0)
            return true;
        for (int j = 0; j < i; j++)
            if (!memcmp(x[i], x[j], sizeof x[i]))
                return true;
    }
    return false;
}

/* ---- Lines */

/* With so many digits after the point, or with -1 as many as it takes; and
 * never as -0. */
static void put_number(int digits, float x)
{
    const double shown = (double)x;
    if (digits < 0)
        printf("%g", fabs(shown) < 1e-6 ? 0 : shown);
    else
        printf("%.*f", digits,
               fabs(shown) < 0.5 * pow(10, -digits) ? 0 : shown);
}

static void put_rows(int digits, int n, int m, const float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            put_number(digits, x[i][j]);
            putchar(j < m - 1 ? ' ' : i < n - 1 ? ';' : '\n');
        }
}

#define PUT_WORDS(format)                                                  \
    do {                                                                   \
        va_list values;                                                    \
        va_start(values, format);                                          \
        vprintf(format, values);                                           \
        va_end(values);                                                    \
        putchar('\n');                                                     \
    } while (0)

void task(const char *title, const char *format, ...)
{
    printf("task\t%s\t", title);
    PUT_WORDS(format);
}

void given(const char *name, int n, int m, const float x[n][m])
{
    printf("given\t%s\t", name);
    put_rows(-1, n, m, x);
}

void ask(const char *format, ...)
{
    printf("ask\t");
    PUT_WORDS(format);
}

/* What is only on the way has four digits, or none if it needs none. */
void step(const char *name, int n, const float x[n])
{
    bool is_whole = true;
    for (int k = 0; k < n; k++)
        is_whole = is_whole && x[k] == floorf(x[k]);
    printf("step\t%s\t", name);
    put_rows(is_whole ? 0 : 4, 1, n, (const void *)x);
}

void step_words(const char *name, const char *format, ...)
{
    printf("step\t%s\t", name);
    PUT_WORDS(format);
}

void answer(int digits, int n, const float x[n])
{
    answer_rows(digits, 1, n, (const void *)x);
}

void answer_rows(int digits, int n, int m, const float x[n][m])
{
    printf("answer\t");
    put_rows(digits, n, m, x);
}

void answer_words(const char *format, ...)
{
    printf("answer\t");
    PUT_WORDS(format);
}

void softmax_steps(int n, const float scores[n])
{
    float power[8] = {0}, weights[8], sum = 0, most = scores[0];
    for (int k = 1; k < n; k++)
        most = fmaxf(most, scores[k]);
    for (int k = 0; k < n; k++)
        sum += power[k] = expf(scores[k] - most);
    softmax(n, scores, weights);
    step("exponentials", n, power);
    step("sum", 1, &sum);
    step("weights", n, weights);
}
