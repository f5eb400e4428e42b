#include "support/machine.h"
#include "support.h"

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
