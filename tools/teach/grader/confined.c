/* Runs a command, such as the compiler, that works on a submission:
 *
 *   confined SECONDS FOLDER HIDDEN... -- COMMAND...
 *
 * It may write into the folder, which is the one it works in; read that and
 * what the system has for all, where compilers and C's own headers are; and
 * nothing else, least of all what is hidden, wherever that lies. It has no
 * network, so many seconds, some memory, and is nobody's. Without a command
 * this says whether it can be done. What fails here, not in the command, has
 * status 125, and 124 where the kernel has no Landlock; then UNCONFINED=1
 * lets the command run without it. */
#define _GNU_SOURCE
#include "jail.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FAULT = 125, NO_RULES = 124, MOST_HIDDEN = 8 };

/* Where the compiler is, if it is elsewhere. */
#ifndef COMPILER
#define COMPILER ""
#endif
static const char *const system_has[] = {
    "/usr",   "/bin",       "/sbin",      "/lib",
    "/lib32", "/lib64",     "/libx32",    "/etc/ld.so.cache",
    COMPILER, "/nix/store", "/gnu/store", "/etc/ld.so.preload"};

static char hidden[MOST_HIDDEN][PATH_MAX];
static int hides;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(FAULT);
}

/* Is this path the other, or above it? */
static int is_above(const char *path, const char *other)
{
    const size_t n = strlen(path);
    return strncmp(path, other, n) == 0 &&
           (other[n] == '/' || other[n] == '\0');
}

/* All below a place may be read; where something there is hidden, its
 * entries one by one. */
static void may_read(int rules, const char *path)
{
    int above = 0;
    for (int i = 0; i < hides; i++) {
        if (is_above(hidden[i], path))
            return;
        above |= is_above(path, hidden[i]);
    }
    if (!above) {
        if (files_read(rules, path))
            fail(path);
        return;
    }
    DIR *all = opendir(path);
    if (!all)
        fail(path);
    for (struct dirent *entry; (entry = readdir(all));) {
        char below[PATH_MAX];
        const int n =
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 && n < (int)sizeof below)
            may_read(rules, below);
    }
    closedir(all);
}

static void shut_files(const char *folder)
{
    const int rules = files_begin();
    char path[PATH_MAX];
    if (rules < 0 && getenv("UNCONFINED"))
        return;
    if (rules < 0)
        exit(NO_RULES);
    for (size_t i = 0; i < sizeof system_has / sizeof system_has[0]; i++)
        if (realpath(system_has[i], path))
            may_read(rules, path);
    if (files_write(rules, folder) || files_write(rules, "/dev/null") ||
        files_end(rules))
        fail(folder);
}

int main(int count, char *word[])
{
    int k = 3;
    for (; k < count && strcmp(word[k], "--") != 0; k++)
        if (hides == MOST_HIDDEN || !realpath(word[k], hidden[hides++]))
            fail(word[k]);
    if (k >= count || atoi(word[1]) < 1) {
        errno = EINVAL;
        fail("confined SECONDS FOLDER HIDDEN... -- COMMAND...");
    }
    struct statvfs about;
    const char *folder = word[2];
    char **command = word + k + 1;
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)atoi(word[1]));
    limit(RLIMIT_AS, 1 << 30);
    limit(RLIMIT_FSIZE, 100 << 20);
    umask(022); /* another user runs what is made here */
    shut_files(folder);
    if (become_nobody() || chdir(folder) || access(".", W_OK | X_OK))
        fail(folder);
    if (statvfs(".", &about) == 0 && about.f_flag & ST_NOEXEC) {
        errno = ENOEXEC;
        fail(folder);
    }
    if (leave_network())
        fail("the network");
    if (!*command)
        return 0;
    execvp(*command, command);
    fail(*command);
}
