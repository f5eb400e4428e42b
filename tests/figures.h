/* A folder in which figures are drawn, and the picture under test. */
#pragma once

#include "tap.h"

static const char *const names[3] = {"a<b", "b&c", "longer"};
static const char *const letters[8] = {"a", "b", "c", "d",
                                       "e", "f", "g", "h"};
static char folder[] = "/tmp/figure-test-XXXXXX";
static char text[60000]; /* the picture, "" if there is none */

static inline void read_all(const char *path, size_t size, char all[size])
{
    FILE *file = fopen(path, "r");
    all[file ? fread(all, 1, size - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
}

/* Every picture has the name x, and is removed when it has been read. */
#define DRAW(...) (__VA_ARGS__, look())
static inline void look(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/x.svg", folder);
    read_all(path, sizeof text, text);
    remove(path);
}

static inline void begin_drawing(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    setenv("FIGURES", folder, 1);
}

/* Every picture was removed after it was read. */
static inline void end_drawing(void)
{
    if (rmdir(folder))
        REFUSE("%s is not empty: a figure has left something behind",
               folder);
}
