/* The runner: has a submission and nothing else, calls its functions with
 * what the judge sends, and sends back what has come of it. See remote.h.
 *
 * Before and behind each array lie guards, entries that are no number: those of
 * tests/tap.h where the test has put them, and the runner's elsewhere. They must
 * stay as they are.
 * The pages around them may not be touched. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "remote.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static Come in, out; /* what goes out waits likewise */

static void get(void *at, size_t size)
{
    if (!take(&in, REMOTE_IN, at, size))
        _exit(0); /* the judge has gone */
}

static void put_out(void)
{
    for (out.at = 0; out.at < out.count;) {
        const ssize_t n =
            write(REMOTE_OUT, out.bytes + out.at, out.count - out.at);
        if (n <= 0)
            _exit(0);
        out.at += (size_t)n;
    }
    out.count = 0;
}

static void put(const void *at, size_t size)
{
    for (const char *from = at; size > 0;) {
        const size_t left = sizeof out.bytes - out.count;
        const size_t n = size < left ? size : left;
        memcpy(out.bytes + out.count, from, n);
        out.count += n;
        from += n;
        size -= n;
        if (size > 0)
            put_out();
    }
}

/* Room for so many bytes, up to the end of a page; NULL where there is
 * none. In front of it, and behind, a page that nobody may touch. */
static void *fenced(size_t size)
{
    const size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    char *x = mmap(NULL, pages + 2 * PAGE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED ||
        mprotect(x + PAGE, pages, PROT_READ | PROT_WRITE))
        return NULL;
    return x + PAGE + pages - size;
}

/* A guard from one place to another: written, or looked at. */
static int guard(char *from, char *to, int is_new)
{
    static const unsigned char none[] = {0xa5, 0xa5, 0xa5, 0x7f};
    int is_whole = 1;
    for (char *c = from; c < to; c++) {
        const char due = (char)none[(uintptr_t)c % sizeof none];
        if (is_new)
            *c = due;
        else
            is_whole &= *c == due;
    }
    return is_whole;
}

/* The bytes of each guard that an array gets here. */
static size_t own_guard(const Range *r)
{
    return r->is_guarded ? 0 : GUARD_BYTES;
}

static int guards(const Range *r, int is_new)
{
    const size_t own = own_guard(r);
    char *end = r->here + r->size, *front = r->here - own;
    return guard(front - (uintptr_t)front % PAGE, r->here, is_new) &
           guard(end, end + own, is_new);
}

static void unfence(void *x, size_t size)
{
    const uintptr_t first = (uintptr_t)x / PAGE * PAGE - PAGE;
    const size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    munmap((void *)first, pages + 2 * PAGE);
}

/* ---- The same for what the submission asks for itself. In front of each
 * block stands its size; sizes are multiples of 16, and the bytes that this
 * adds must stay as they are. */

enum { HEAD = 16, SPARE = 0x5a };

static size_t whole(size_t size)
{
    return (size + 15) / 16 * 16;
}

static void *block_of(size_t size)
{
    char *x = size < (size_t)1 << 40 ? fenced(HEAD + whole(size)) : NULL;
    if (!x)
        return NULL;
    memcpy(x, &size, sizeof size);
    memset(x + HEAD + size, SPARE, whole(size) - size);
    return x + HEAD;
}

void *malloc(size_t size)
{
    char *x = block_of(size); /* nothing promises zeros */
    return x ? memset(x, SPARE, size) : NULL;
}

void free(void *block)
{
    size_t size;
    if (!block)
        return;
    char *x = (char *)block - HEAD;
    memcpy(&size, x, sizeof size);
    for (size_t i = size; i < whole(size); i++)
        if (x[HEAD + i] != SPARE)
            abort();
    unfence(x, HEAD + whole(size));
}

void *calloc(size_t n, size_t size) /* pages come with zeros in them */
{
    return size && n > SIZE_MAX / size ? NULL : block_of(n * size);
}

void *realloc(void *block, size_t size)
{
    void *new = malloc(size);
    size_t was = 0;
    if (!new || !block)
        return new;
    memcpy(&was, (char *)block - HEAD, sizeof was);
    memcpy(new, block, was < size ? was : size);
    free(block);
    return new;
}

/* Ends of blocks lie at ends of pages: sizes decide what they begin at. */
void *aligned_alloc(size_t alignment, size_t size)
{
    return malloc((size + alignment - 1) / alignment * alignment);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned_alloc(alignment, size);
    return *block ? 0 : ENOMEM;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

static void one_call(void)
{
    static Visit v;
    _Alignas(16) char args[MOST_ARGS];
    Call call;
    Answer answer = {.mark = ANSWER_MARK};
    get(&call, sizeof call);
    const Remote *r = remote + call.function;
    get(args, r->args);
    v.ranges = call.ranges;
    v.is_here = 1;
    for (int i = 0; i < v.ranges; i++) {
        Range *range = &v.range[i];
        get(range, sizeof *range);
        const size_t own = own_guard(range);
        range->here = fenced(range->size + 2 * own);
        if (!range->here)
            REFUSE("no memory for %zu bytes", (size_t)range->size);
        range->here += own;
        guards(range, 1);
        get(range->here, range->size);
    }
    r->visit(&v, args);
    r->call(args, answer.result);
    fflush(NULL);
    for (int i = 0; i < v.ranges; i++)
        if (!guards(&v.range[i], 0)) {
            fputs("something was written beyond the ends of an array\n",
                  stderr);
            abort();
        }
    put(&answer, sizeof answer);
    for (int i = 0; i < v.ranges; i++) {
        const size_t own = own_guard(&v.range[i]);
        put(v.range[i].here, v.range[i].size);
        unfence(v.range[i].here - own, v.range[i].size + 2 * own);
    }
    put_out();
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (;;)
        one_call();
}
