/* What is taken from a process before it works on a submission, or is one. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

/* Of itself and of what it executes: no more than this, ever again. */
void limit(int what, rlim_t most);

/* Who is root becomes the user nobody, and ends with its parent. Answers 0,
 * or -1 where the system cannot do so; so do the next two. */
int become_nobody(void);

/* No sockets, of any kind. */
int leave_network(void);

/* Files, by Landlock (Linux 5.13): rules, of which -1 says that the kernel
 * has none; what may be read and executed at a place and below, and what
 * written as well; and from then on nothing else. */
int files_begin(void);
int files_read(int rules, const char *path);
int files_write(int rules, const char *path);
int files_end(int rules);

/* Takes from this process, and from what it executes, what a solution does
 * not need: files, processes, networks, memory beyond so many bytes. All it
 * can still execute is what the name at this place says. */
int confine(uint64_t bytes, const char *program);
