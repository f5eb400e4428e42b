/* What a submission may not do, taken away before it begins. */
#define _GNU_SOURCE
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* What a program needs that computes: to begin, memory, threads, to print
 * and to answer, the time, an end. No files, no other processes, no network.
 * Of what is not in all systems, those that are. */
static const int allowed[] = {
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_uname,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_rt_sigreturn,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getrusage,
    SYS_sysinfo, /* by which qsort decides */
    SYS_getpid,
    SYS_gettid,
    SYS_getrandom,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_exit,
    SYS_exit_group,
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_fstat
    SYS_fstat,
#endif
};
enum { ALLOWED = sizeof allowed / sizeof allowed[0] };

/* What C's library and OpenMP ask for, and do without: to open files, and to
 * learn of them, as what others have and how large it is; and, as perror
 * does, another number for an open one. */
static const int refused[] = {
    SYS_dup,        SYS_openat, SYS_readlinkat,
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/* Numbers of calls are those of one instruction set: another one's, such as
 * those behind `int $0x80` on x86-64, mean something else by them. */
#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#define ARCH 0
#endif

/* x86-64 counts its calls in two ways; the second begins here. */
#define OTHER_NUMBERS 0x40000000

#define LOAD_AT(place)                                                     \
    (struct sock_filter)                                                   \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(place))
#define LOAD(field) LOAD_AT(offsetof(struct seccomp_data, field))
#define UNLESS(test, value, skip)                                          \
    (struct sock_filter)                                                   \
        BPF_JUMP(BPF_JMP | test | BPF_K, (unsigned)(value), 0, skip)
#define ANSWER(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)

/* A call that is allowed with this value of one of its arguments alone. */
enum { ONLY = 7 };
static int allow_only(struct sock_filter f[ONLY], int call, int k,
                      uint64_t value)
{
    const size_t low = offsetof(struct seccomp_data, args) + 8 * (size_t)k;
    int n = 0;
    f[n++] = UNLESS(BPF_JEQ, call, 6);
    f[n++] = LOAD_AT(low);
    f[n++] = UNLESS(BPF_JEQ, value, 3);
    f[n++] = LOAD_AT(low + 4);
    f[n++] = UNLESS(BPF_JEQ, value >> 32, 1);
    f[n++] = ANSWER(SECCOMP_RET_ALLOW);
    f[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
    return n;
}

static int install_filter(int n, struct sock_filter *f)
{
    struct sock_fprog all = {(unsigned short)n, f};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all)
               ? -1
               : 0;
}

/* Besides: to become the program whose name lies there, which nobody can
 * guess who is that program, and so no other, such as a fellow student's;
 * to ask for limits, but not to set them, which could be other processes';
 * a signal to itself, as abort sends it; a thread, but no process; clone3,
 * whose flags cannot be looked at, is said not to exist, no terminal to be
 * there, and files not to be allowed. All else ends the program by SIGSYS. */
static int filter_system_calls(const char *program)
{
    struct sock_filter f[2 * ALLOWED + 2 * REFUSED + 3 * ONLY + 16];
    int n = 0;
    errno = ENOSYS;
    if (!ARCH)
        return -1;
    f[n++] = LOAD(arch);
    f[n++] = UNLESS(BPF_JEQ, ARCH, 1);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1);
    f[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
    f[n++] = LOAD(nr);
    for (int i = 0; i < ALLOWED; i++) {
        f[n++] = UNLESS(BPF_JEQ, allowed[i], 1);
        f[n++] = ANSWER(SECCOMP_RET_ALLOW);
    }
    f[n++] = UNLESS(BPF_JEQ, SYS_clone3, 1);
    f[n++] = ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
    for (int i = 0; i < REFUSED; i++) {
        f[n++] = UNLESS(BPF_JEQ, refused[i], 1);
        f[n++] = ANSWER(SECCOMP_RET_ERRNO | EACCES);
    }
    f[n++] = UNLESS(BPF_JEQ, SYS_ioctl, 1);
    f[n++] = ANSWER(SECCOMP_RET_ERRNO | ENOTTY);
    n += allow_only(f + n, SYS_execve, 0, (uintptr_t)program);
    n += allow_only(f + n, SYS_prlimit64, 2, 0);
    n += allow_only(f + n, SYS_tgkill, 0, (uint64_t)getpid());
    f[n++] = UNLESS(BPF_JEQ, SYS_clone, 3);
    f[n++] = LOAD(args[0]);
    f[n++] = UNLESS(BPF_JSET, CLONE_THREAD, 1);
    f[n++] = ANSWER(SECCOMP_RET_ALLOW);
    f[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
    return install_filter(n, f);
}

/* A call of another instruction set, or of another numbering of these, ends
 * the process. */
int leave_network(void)
{
    struct sock_filter f[16];
    int n = 0;
    errno = ENOSYS;
    if (!ARCH)
        return -1;
    f[n++] = LOAD(arch);
    f[n++] = UNLESS(BPF_JEQ, ARCH, 3);
    f[n++] = LOAD(nr);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
                                          OTHER_NUMBERS, 1, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1);
    f[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
    f[n++] = UNLESS(BPF_JEQ, SYS_socket, 1);
    f[n++] = ANSWER(SECCOMP_RET_ERRNO | EACCES);
#ifdef SYS_io_uring_setup
    f[n++] = UNLESS(BPF_JEQ, SYS_io_uring_setup, 1);
    f[n++] = ANSWER(SECCOMP_RET_ERRNO | EACCES);
#endif
    f[n++] = ANSWER(SECCOMP_RET_ALLOW);
    return install_filter(n, f);
}

/* What linux/landlock.h says, which older systems lack. */
enum {
    LANDLOCK_CREATE = 444,
    LANDLOCK_ADD,
    LANDLOCK_RESTRICT,
    CAN_EXECUTE = 1 << 0,
    CAN_WRITE = 1 << 1,
    CAN_READ = 1 << 2,
    CAN_LIST = 1 << 3,
    CAN_REMOVE = 1 << 5,
    CAN_MAKE = 1 << 8,
    CAN_CUT = 1 << 14
};

/* What this kernel can forbid: each version knows more. */
static uint64_t forbidden(void)
{
    const long version = syscall(LANDLOCK_CREATE, NULL, 0, 1);
    return version < 1    ? 0
           : version == 1 ? (1 << 13) - 1
           : version == 2 ? (1 << 14) - 1
           : version < 5  ? (1 << 15) - 1
                          : (1 << 16) - 1;
}

int files_begin(void)
{
    const uint64_t all = forbidden();
    return all ? (int)syscall(LANDLOCK_CREATE, &all, sizeof all, 0) : -1;
}

/* What is not there needs no rule; nor does a link lead anywhere. */
static int allow(int rules, const char *path, uint64_t what)
{
    struct stat about;
    const int at = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return errno == ENOENT ? 0 : -1;
    what &= forbidden();
    if (fstat(at, &about) == 0 && !S_ISDIR(about.st_mode))
        what &= CAN_EXECUTE | CAN_READ | CAN_WRITE | CAN_CUT;
    struct {
        uint64_t what;
        int32_t at;
    } __attribute__((packed)) rule = {what, at};
    const int status = (int)syscall(LANDLOCK_ADD, rules, 1, &rule, 0);
    close(at);
    return status;
}

int files_read(int rules, const char *path)
{
    return allow(rules, path, CAN_EXECUTE | CAN_READ | CAN_LIST);
}

int files_write(int rules, const char *path)
{
    return allow(rules, path,
                 CAN_READ | CAN_LIST | CAN_WRITE | CAN_CUT | CAN_MAKE |
                     CAN_REMOVE);
}

int files_end(int rules)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   syscall(LANDLOCK_RESTRICT, rules, 0)
               ? -1
               : close(rules);
}

/* Who becomes another user has forgotten it, so it comes after that. */
static void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
#else
static void end_with_parent(void)
{
}

static int not_supported(void)
{
    errno = ENOSYS;
    return -1;
}

static int filter_system_calls(const char *program)
{
    (void)program;
    return not_supported();
}

int leave_network(void)
{
    return not_supported();
}

int files_begin(void)
{
    return not_supported();
}

int files_read(int rules, const char *path)
{
    (void)rules, (void)path;
    return not_supported();
}

int files_write(int rules, const char *path)
{
    return files_read(rules, path);
}

int files_end(int rules)
{
    (void)rules;
    return not_supported();
}
#endif

void limit(int what, rlim_t most)
{
    setrlimit(what, &(struct rlimit){most, most});
}

enum { NOBODY = 65534 };

static int become_user(uid_t user)
{
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) ||
                           (setuid(user) && setuid(NOBODY))))
        return -1;
    end_with_parent();
    return 0;
}

int become_nobody(void)
{
    return become_user(NOBODY);
}

/* How many threads there are, of all users. */
static int threads_now(void)
{
    int all = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%*s %*s %*s %*d/%d", &all) != 1)
        all = 0;
    if (file)
        fclose(file);
    return all;
}

/* The kernel counts threads by user, so each program that root begins is a
 * user of its own, of numbers that no person has: none can take all threads
 * from others, nor all that the machine has. Who is not root has other
 * programs, too, that are counted. */
static int become_own_user(void)
{
    enum { FIRST = 61184, MANY = 4096, THREADS = 500 };
    const int others = geteuid() == 0 ? 0 : threads_now();
    if (become_user((uid_t)(FIRST + getpid() % MANY)))
        return -1;
    limit(RLIMIT_NPROC, (rlim_t)(THREADS + others));
    return 0;
}

/* What the kernel opens to begin the program, as an interpreter that the
 * program names, is a file like others: only the program's own is there.
 * Where the kernel has no such rules, what tools/teach/Grader.pm says of it has
 * been said. */
int confine(uint64_t bytes, const char *program)
{
    const int rules = files_begin();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_AS, bytes);
    if (become_own_user() ||
        (rules >= 0 && (files_read(rules, program) || files_end(rules))))
        return -1;
    return filter_system_calls(program) ? -1 : 0;
}
