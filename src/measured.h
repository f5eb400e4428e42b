#define MEASURED_ON "nothing"
#define MEASURED_AT "never"
static const Measured rows[] = {
    {"peak", "AVX-512", 1, NAN, 100.f, NAN, NAN, NAN, NAN},
    {"read", "memory", 1, NAN, NAN, 20.f, NAN, NAN, NAN},
    {"read", "memory", 2, NAN, NAN, 20.f, NAN, NAN, NAN},
};
#define MEASURED_WITH "none"
