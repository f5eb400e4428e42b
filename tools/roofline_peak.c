/* What roofline.c measures: compiled once for each instruction set, with
 * LANES floats in a vector, and its functions renamed. */
#include <stddef.h>

#if defined __AVX512F__
enum { LANES = 16 };
#elif defined __AVX__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float Vector __attribute__((vector_size(LANES * sizeof(float))));

/* So many sums that no product waits for the one before it, and so few that
 * all of them, and two factors, stay in registers: AVX-512 and arm64 have
 * 32, others 16. */
#if defined __AVX512F__ || defined __aarch64__
enum { SUMS = 16 };
#else
enum { SUMS = 12 };
#endif

static float total(const Vector sum[SUMS])
{
    float all = 0;
    for (int i = 0; i < SUMS; i++)
        for (int j = 0; j < LANES; j++)
            all += sum[i][j];
    return all;
}

/* Multiplies and adds in registers; returns how many products and sums. */
long multiply_and_add(long steps, float factor, float more, float *result)
{
    Vector sum[SUMS], x = {0}, y = {0};
    x += factor;
    y += more;
    for (int i = 0; i < SUMS; i++)
        sum[i] = (float)i - y; /* of equal ones one would be computed */
    for (long k = 0; k < steps; k++)
        for (int i = 0; i < SUMS; i++)
            sum[i] = sum[i] * x + y;
    *result = total(sum);
    return 2 * steps * SUMS * LANES;
}

/* Reads x, which begins at a multiple of 64 bytes; what does not fill all
 * sums is left out. */
float add_up(size_t count, const float x[count])
{
    const Vector *at = (const void *)x;
    Vector sum[SUMS] = {{0}};
    const size_t steps = count / (SUMS * LANES);
    for (size_t k = 0; k < steps; k++, at += SUMS)
        for (int i = 0; i < SUMS; i++)
            sum[i] += at[i];
    return total(sum);
}
