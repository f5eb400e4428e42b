#include "bench.h"

/* ---- Numbers */

const char *say(double x)
{
    enum { BUFFERS = 64 };
    static char buffer[BUFFERS][64];
    static int next;
    const int digits = decimals(4);
    char *out = buffer[next++ % BUFFERS];
    snprintf(out, sizeof *buffer, "%.*f", digits, x);
    if (isnan(x))
        strcpy(out, "nan");
    return out + (*out == '-' && !(fabs(strtod(out, NULL)) > 0));
}

/* The value of a number as shown. */
double say_shown(double x)
{
    return strtod(say(x), NULL);
}

const char *say_added(double x)
{
    static char buffer[4][70];
    static int next;
    const char *number = say(x);
    char *out = buffer[next++ % 4];
    const int is_less = *number == '-';
    snprintf(out, sizeof *buffer, "%s %s", is_less ? "-" : "+",
             number + is_less);
    return out;
}

/* ---- Sums, products, quotients: each prints lines, and returns nothing, so
 * that what is said can only be what was computed */

/* Notes where what is shown gives another result: in the end it is said that
 * more is used. */
static int is_rounded;

void say_remark(double shown, double result)
{
    is_rounded |= strcmp(say(shown), say(result)) != 0;
}

void say_sum(int n, const float x[n], double sum)
{
    double shown = 0;
    for (int k = 0; k < n; k++)
        shown += say_shown((double)x[k]);
    say_remark(shown, sum);
    printf("%s", say((double)x[0]));
    for (int k = 1; k < n; k++)
        printf(" %s", say_added((double)x[k]));
    if (n > 1)
        printf(" = %s", say(sum));
    putchar('\n');
}

void say_product(float a, float c, const char *name)
{
    say_remark(say_shown((double)a) * say_shown((double)c),
               (double)(a * c));
    printf("%s × %s = %s%s%s\n", say((double)a), say((double)c),
           say((double)(a * c)), name ? ", " : "", name ? name : "");
}

void say_quotient(double a, double c, float result)
{
    say_remark(say_shown(a) / say_shown(c), (double)result);
    printf("%s / %s = %s\n", say(a), say(c), say((double)result));
}

void say_digits(void)
{
    if (is_rounded)
        puts("(All digits are used, also those that are not shown.)");
    is_rounded = 0;
}
