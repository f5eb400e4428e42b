#include "stages.h"

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

void say_sum(int n, const float x[n], double sum)
{
    printf("%s", say((double)x[0]));
    for (int k = 1; k < n; k++)
        printf(" %s", say_added((double)x[k]));
    if (n > 1)
        printf(" = %s", say(sum));
    putchar('\n');
}

void say_product(float a, float c, const char *name)
{
    printf("%s × %s = %s%s%s\n", say((double)a), say((double)c),
           say((double)(a * c)), name ? ", " : "", name ? name : "");
}

void say_quotient(double a, double c, float result)
{
    printf("%s / %s = %s\n", say(a), say(c), say((double)result));
}
