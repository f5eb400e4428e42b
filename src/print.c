#include "attention.h"

/* The number of decimals to print. The tests ask for more than the page
 * shows, so as to see whether what the page shows was rounded correctly. */
static int decimals(void)
{
    const char *text = getenv("DIGITS");
    if (!text || !*text)
        return 4;
    char *end;
    long digits = strtol(text, &end, 10);
    if (*end || digits < 0 || digits > 17)
        REFUSE("DIGITS is '%s': a number from 0 to 17 is needed", text);
    return (int)digits;
}

/* Prints x, right-aligned in a column. Some C libraries give NaN a sign; the
 * page gives it none. */
static void print_entry(float x, int column)
{
    if (isnan(x))
        printf("%*s", column, "nan");
    else
        printf("%*.*f", column, decimals(), (double)x);
}

static int width(float x)
{
    return isnan(x) ? 3 : snprintf(NULL, 0, "%.*f", decimals(), (double)x);
}

static int widest(int n, const float x[n])
{
    int most = 0;
    for (int i = 0; i < n; i++)
        if (width(x[i]) > most)
            most = width(x[i]);
    return most;
}

static void print_row(int n, const float x[n], int column)
{
    putchar('[');
    for (int i = 0; i < n; i++) {
        printf("%s", i ? ", " : "");
        print_entry(x[i], column);
    }
    putchar(']');
}

void print_vector(const char *label, int n, const float x[n])
{
    printf("%s (%d)\n", label, n);
    print_row(n, x, widest(n, x));
    putchar('\n');
}

void print_matrix(const char *label, int n, int m, const float x[n][m])
{
    int column = 0;
    for (int i = 0; i < n; i++)
        if (widest(m, x[i]) > column)
            column = widest(m, x[i]);
    printf("%s (%d, %d)\n", label, n, m);
    for (int i = 0; i < n; i++) {
        printf("%s", i ? " " : "[");
        print_row(m, x[i], column);
        printf("%s\n", i + 1 < n ? "," : "]");
    }
}

void print_value(const char *name, float x)
{
    printf("%s: ", name);
    print_entry(x, 0);
    putchar('\n');
}
