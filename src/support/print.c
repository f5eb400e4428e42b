#include "support/print.h"
#include "support.h"

/* The tests ask for more decimals than the page shows, so as to see whether
 * what the page shows was rounded correctly. Every function asks before it
 * prints anything, since this may refuse. */
int decimals(int usual)
{
    const char *text = getenv("DIGITS");
    return text && *text ? (int)parse_integer("DIGITS", text, 0, 17)
                         : usual;
}

static int width(float x, int digits)
{
    return isnan(x) ? 3 : snprintf(NULL, 0, "%.*f", digits, (double)x);
}

static int widest(int n, const float x[n], int digits)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        if (width(x[i], digits) > most)
            most = width(x[i], digits);
    return most;
}

/* Prints x, right-aligned in a column. Some C libraries give NaN a sign;
 * the page gives it none. */
static void print_entry(float x, int column, int digits)
{
    if (isnan(x))
        printf("%*s", column, "nan");
    else
        printf("%*.*f", column, digits, (double)x);
}

static void print_row(int n, const float x[n], int column, int digits)
{
    putchar('[');
    for (int i = 0; i < n; i++) {
        printf("%s", i ? ", " : "");
        print_entry(x[i], column, digits);
    }
    putchar(']');
}

void print_rounded(const char *label, int digits, int n, const float x[n])
{
    const int count = decimals(digits);
    printf("%s (%d)\n", label, n);
    print_row(n, x, widest(n, x, count), count);
    putchar('\n');
}

void print_vector(const char *label, int n, const float x[n])
{
    print_rounded(label, 4, n, x);
}

static void print_table(const char *label, int n, int m,
                        const float x[n][m], int digits)
{
    const int column = widest(n * m, x[0], digits);
    printf("%s (%d, %d)\n", label, n, m);
    for (int i = 0; i < n; i++) {
        printf("%s", i ? " " : "[");
        print_row(m, x[i], column, digits);
        printf("%s\n", i + 1 < n ? "," : "]");
    }
}

void print_matrix(const char *label, int n, int m, const float x[n][m])
{
    print_table(label, n, m, x, decimals(4));
}

void print_whole(const char *label, int n, int m, const float x[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i][j] != truncf(x[i][j]))
                REFUSE(
                    "entry %d, %d of %s is %g; it must be a whole number",
                    i, j, label, (double)x[i][j]);
    print_table(label, n, m, x, 0);
}

void print_integers(const char *label, int n, const int x[n])
{
    int column = 0;
    for (int i = 0; i < n; i++) {
        const int wide = snprintf(NULL, 0, "%d", x[i]);
        column = wide > column ? wide : column;
    }
    printf("%s (%d)\n[", label, n);
    for (int i = 0; i < n; i++)
        printf("%s%*d", i ? ", " : "", column, x[i]);
    printf("]\n");
}

/* Three significant digits: the value rounded, and how many of them stand
 * behind the point. */
static double significant(float x, int *behind)
{
    char text[20];
    snprintf(text, sizeof text, "%.2e", (double)x);
    const char *power = strchr(text, 'e');
    const int most = power ? (int)strtod(power + 1, NULL) : 0;
    *behind = most < 2 ? 2 - most : 0;
    return isnan(x) ? NAN : strtod(text, NULL); /* without nan's sign */
}

float three_digits(float x)
{
    return (float)significant(x, &(int){0});
}

/* How many characters of a column stand before its points, and how many
 * from the points on: at least a point and two digits. */
typedef struct {
    int before, after;
} Column;

/* The column of n numbers, of which two lie `stride` apart. */
static Column column_of(int n, int stride, const float *x)
{
    Column c = {0, 3};
    for (int i = 0; i < n; i++) {
        int behind;
        const double value = significant(x[i * stride], &behind);
        const int before = snprintf(NULL, 0, "%.0f", trunc(value));
        c.before = before > c.before ? before : c.before;
        c.after = behind + 1 > c.after ? behind + 1 : c.after;
    }
    return c;
}

static int longest(int n, const char *const name[n])
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = (int)strlen(name[i]) > most ? (int)strlen(name[i]) : most;
    return most;
}

static void measured_row(int names, const char *name, int m,
                         const Column column[m], const float x[m])
{
    printf("  %-*s", names, name);
    for (int j = 0, gap = 2; j < m; j++) {
        int behind;
        const double value = significant(x[j], &behind);
        const int after = behind ? behind + 1 : 0;
        printf("%*s%*.*f", gap, "", column[j].before + after, behind,
               value);
        gap = 2 + column[j].after - after;
    }
    printf("\n");
}

void print_measures(const char *label, const char *unit, int n,
                    const char *const name[n], const float x[n])
{
    const int names = longest(n, name);
    const Column column = column_of(n, 1, x);
    printf("%s, in %s\n", label, unit);
    for (int i = 0; i < n; i++)
        measured_row(names, name[i], 1, &column, &x[i]);
}

void print_measure_table(const char *label, const char *unit, int n,
                         const char *const row[n], int m,
                         const char *const column[m], const float x[n][m])
{
    const int names = longest(n, row);
    Column c[m];
    printf("%s, in %s\n  %*s", label, unit, names, "");
    for (int j = 0; j < m; j++) {
        c[j] = column_of(n, m, &x[0][j]);
        const int named = (int)strlen(column[j]) - c[j].after;
        c[j].before = c[j].before > named ? c[j].before : named;
        printf("  %*s", c[j].before + c[j].after, column[j]);
    }
    printf("\n");
    for (int i = 0; i < n; i++)
        measured_row(names, row[i], m, c, x[i]);
}

void print_value(const char *name, float x)
{
    const int digits = decimals(4);
    printf("%s: ", name);
    print_entry(x, 0, digits);
    putchar('\n');
}

void print_answer(const char *what, int is_yes)
{
    printf("%s: %s\n", what, is_yes ? "yes" : "no");
}

float largest_difference(int n, const float *a, const float *b)
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        if (isnan(a[i]) || isnan(b[i]))
            largest = INFINITY;
        else
            largest = fmaxf(largest, fabsf(a[i] - b[i]));
    return largest;
}
