#include "support/machine.h"
#include "support.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void processor_name(int size, char name[size])
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, (size_t)size, "a processor without a name");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, (size_t)size, "%s", value + 2);
        break;
    }
    if (file)
        fclose(file);
}

int threads_for(double products, int wanted)
{
#ifdef _OPENMP
    if (products >= 1 << 20 && !omp_in_parallel())
        return wanted ? wanted : omp_get_max_threads();
#endif
    (void)products;
    (void)wanted;
    return 1;
}
