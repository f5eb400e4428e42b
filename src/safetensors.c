#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "attention.h"

/* A safetensors file is the length of its header in eight bytes, the header
 * in JSON, and the numbers of all tensors, one behind the other:
 *
 *   {"__metadata__": {"made": "by PyTorch"},
 *    "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
 *
 * where offsets count from the end of the header.
 *
 * All of it comes from outside, so nothing that the file says about itself
 * is believed before it has been compared with what the file holds. */
enum { START = 8, SHORTEST = 40 }; /* no entry of a header has less bytes */

/* A header that is being read. A 0 stands behind its text. */
typedef struct {
    const char *path;
    char *text, *end;
    char *at;    /* what comes next */
    size_t size; /* bytes of numbers in the file */
} Header;

/* What it says of a tensor. */
typedef struct {
    char type;         /* as in Tensor; 0 is not yet said */
    int rank, offsets; /* how many numbers these have; -1 is not yet said */
    size_t shape[4], offset[2];
} Entry;

/* ---- Bytes of the file. */

static size_t entry_size(char type)
{
    return type == 'f' ? 4 : 8;
}

/* A number in the file has its lowest byte first. Put together like this it
 * comes out right on a machine of either byte order. */
static uint64_t little_endian(size_t size, const unsigned char *byte)
{
    uint64_t bits = 0;
    for (size_t k = size; k > 0; k--)
        bits = bits << 8 | byte[k - 1];
    return bits;
}

static void read_bytes(const char *path, FILE *file, size_t size, void *to)
{
    size_t got = fread(to, 1, size, file);
    if (ferror(file))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    if (got < size)
        REFUSE("%s: ends after %zu bytes where %zu are needed", path, got,
               size);
}

/* How many bytes there are after the first eight. */
static size_t size_of_rest(const char *path, FILE *file)
{
    long end = -1;
    if (!fseek(file, 0, SEEK_END))
        end = ftell(file);
    if (end < START || fseek(file, START, SEEK_SET))
        REFUSE("%s: has no size: an ordinary file is needed", path);
    return (size_t)end - START;
}

static void *new_bytes(const char *path, size_t size)
{
    void *block = malloc(size);
    if (!block)
        REFUSE("%s: there is no memory for %zu bytes", path, size);
    return block;
}

/* The next bytes of the file, and a 0. */
static void *read_block(const char *path, FILE *file, size_t size)
{
    char *block = new_bytes(path, size + 1);
    read_bytes(path, file, size, block);
    block[size] = '\0';
    return block;
}

/* ---- Words and numbers of the header. */

static _Noreturn void unexpected(const Header *h, const char *needed)
{
    const unsigned char c = (unsigned char)*h->at;
    char found[8] = "nothing";
    if (h->at < h->end)
        snprintf(found, sizeof found,
                 c < ' ' || c > '~' ? "0x%02x" : "'%c'", c);
    REFUSE("%s: its header has %s at byte %td where %s is needed", h->path,
           found, h->at - h->text, needed);
}

static void skip_blanks(Header *h)
{
    h->at += strspn(h->at, " \t\r\n");
}

/* Steps over the character if it comes next. */
static bool accept(Header *h, char c)
{
    skip_blanks(h);
    if (*h->at != c)
        return false;
    h->at++;
    return true;
}

static void expect(Header *h, char c)
{
    if (!accept(h, c))
        unexpected(h, (char[]){'\'', c, '\'', '\0'});
}

/* Steps over a character of a string, or an escape. */
static void step(Header *h)
{
    if ((unsigned char)*h->at < ' ')
        unexpected(h, "'\"'");
    if (*h->at++ != '\\')
        return;
    if (*h->at == 'u' && strspn(h->at + 1, "0123456789abcdefABCDEF") >= 4)
        h->at += 5;
    else if (*h->at && strchr("\"\\/bfnrt", *h->at))
        h->at++;
    else
        unexpected(h, "an escape");
}

/* A string as it is written, escapes and all. */
static char *read_string(Header *h)
{
    expect(h, '"');
    char *string = h->at;
    while (*h->at != '"')
        step(h);
    *h->at++ = '\0';
    return string;
}

/* The next name in braces and its colon, after so many others; NULL where
 * there is none. */
static char *next_name(Header *h, int others)
{
    if (others == 0)
        expect(h, '{');
    if (accept(h, '}'))
        return NULL;
    if (others > 0)
        expect(h, ',');
    char *name = read_string(h);
    if (strchr(name, '\\'))
        REFUSE("%s: has the name '%s': one without escapes is needed",
               h->path, name);
    expect(h, ':');
    return name;
}

static size_t read_number(Header *h, size_t most)
{
    skip_blanks(h);
    const size_t digits = strspn(h->at, "0123456789");
    if (digits == 0 || (digits > 1 && *h->at == '0'))
        unexpected(h, "a whole number");
    char *end; /* what no integer can hold becomes the largest one */
    const unsigned long long value = strtoull(h->at, &end, 10);
    if (value > most)
        REFUSE("%s: its header has a number above %zu at byte %td", h->path,
               most, h->at - h->text);
    h->at = end;
    return (size_t)value;
}

/* Numbers in brackets; returns how many. */
static int read_list(Header *h, size_t most, int room, size_t number[room])
{
    int count = 0;
    expect(h, '[');
    while (!accept(h, ']')) {
        if (count > 0)
            expect(h, ',');
        if (count == room)
            REFUSE("%s: its header has more than %d numbers at byte %td",
                   h->path, room, h->at - h->text);
        number[count++] = read_number(h, most);
    }
    return count;
}

/* ---- Tensors of the header. */

static char read_type(Header *h)
{
    const char *dtype = read_string(h);
    if (!strcmp(dtype, "F32"))
        return 'f';
    if (!strcmp(dtype, "F64"))
        return 'd';
    if (!strcmp(dtype, "I64"))
        return 'i';
    REFUSE("%s: has the dtype '%s': F32, F64 or I64 is needed", h->path,
           dtype);
}

static Entry read_entry(Header *h, const char *name)
{
    Entry e = {.rank = -1, .offsets = -1};
    const char *key;
    for (int n = 0; (key = next_name(h, n)); n++)
        if (!strcmp(key, "dtype") && !e.type)
            e.type = read_type(h);
        else if (!strcmp(key, "shape") && e.rank < 0)
            e.rank = read_list(h, INT_MAX, 4, e.shape);
        else if (!strcmp(key, "data_offsets") && e.offsets < 0)
            e.offsets = read_list(h, h->size, 2, e.offset);
        else
            REFUSE("%s: tensor '%s' has the key '%s': dtype, shape and "
                   "data_offsets are needed, each once",
                   h->path, name, key);
    if (!e.type || e.rank < 0 || e.offsets != 2)
        REFUSE("%s: tensor '%s' has not all of dtype, shape and two "
               "data_offsets",
               h->path, name);
    return e;
}

/* The bytes that the shape needs. More of them than an integer holds are
 * still a number, and one far above the size of any file. */
static double needed_bytes(const Entry *e)
{
    double bytes = (double)entry_size(e->type);
    for (int k = 0; k < e->rank; k++)
        bytes *= (double)e->shape[k];
    return bytes;
}

/* The tensor at its place in the data, if that is as large as its shape. */
static Tensor tensor_at(const Header *h, const char *name, const Entry *e,
                        char *data)
{
    const size_t from = e->offset[0], to = e->offset[1];
    const size_t size = entry_size(e->type);
    if (from > to || (double)(to - from) != needed_bytes(e))
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: %.0f bytes "
               "are needed",
               h->path, name, from, to, needed_bytes(e));
    if (from % size)
        REFUSE("%s: tensor '%s' begins at byte %zu of the data: a multiple "
               "of %zu is needed",
               h->path, name, from, size);
    Tensor t = {h->path, name, e->type, e->rank, {0}, 0, data + from};
    for (int k = 0; k < 4; k++)
        t.shape[k] = k < e->rank ? (int)e->shape[k] : 1;
    t.count = (to - from) / size;
    return t;
}

/* Names and strings, which are of no use here. */
static void skip_metadata(Header *h)
{
    for (int n = 0; next_name(h, n); n++)
        read_string(h);
}

static void read_header(Header *h, Tensors *file)
{
    const char *name;
    if (*h->at != '{')
        unexpected(h, "'{'");
    for (int n = 0; (name = next_name(h, n)); n++)
        if (!strcmp(name, "__metadata__")) {
            skip_metadata(h);
        } else {
            const Entry e = read_entry(h, name);
            file->tensor[file->count++] =
                tensor_at(h, name, &e, file->data);
        }
    skip_blanks(h);
    if (h->at != h->end)
        unexpected(h, "its end");
}

/* ---- All of them together. */

/* In the order of their places; of two at one place, the smaller first. */
static int by_place(const void *a, const void *b)
{
    const Tensor *x = a, *y = b;
    const char *here = x->data, *there = y->data;
    if (here != there)
        return here < there ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

static int by_name(const void *a, const void *b)
{
    const Tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* They must fill the data without a hole and without an overlap. */
static void check_places(const Header *h, Tensors *file)
{
    const char *data = file->data, *end = data;
    qsort(file->tensor, file->count, sizeof *file->tensor, by_place);
    for (size_t i = 0; i < file->count; i++) {
        const Tensor *t = &file->tensor[i];
        if (t->data != end)
            REFUSE("%s: tensor '%s' begins at byte %td of the data where "
                   "byte %td comes next",
                   h->path, t->name, (char *)t->data - data, end - data);
        end += t->count * entry_size(t->type);
    }
    if (end != data + h->size)
        REFUSE("%s: has %zu bytes of data where its tensors have %td",
               h->path, h->size, end - data);
}

static void check_names(Tensors *file)
{
    qsort(file->tensor, file->count, sizeof *file->tensor, by_name);
    for (size_t i = 1; i < file->count; i++)
        if (!by_name(&file->tensor[i - 1], &file->tensor[i]))
            REFUSE("%s: has the tensor '%s' twice", file->path,
                   file->tensor[i].name);
}

/* Turns the bytes of the file into numbers of this machine. */
static void to_numbers(const Tensor *t)
{
    const size_t size = entry_size(t->type);
    unsigned char *byte = t->data;
    for (size_t i = 0; i < t->count; i++, byte += size) {
        const uint64_t bits = little_endian(size, byte);
        const uint32_t low = (uint32_t)bits;
        if (size == 4)
            memcpy(byte, &low, 4);
        else
            memcpy(byte, &bits, 8);
    }
}

Tensors tensors_read(const char *path)
{
    unsigned char start[START];
    FILE *from = fopen(path, "rb");
    if (!from)
        REFUSE("%s: cannot be opened: %s", path, strerror(errno));
    read_bytes(path, from, START, start);
    const uint64_t length = little_endian(START, start);
    const size_t rest = size_of_rest(path, from);
    if (length > rest)
        REFUSE("%s: says its header has %" PRIu64 " bytes: %zu are left",
               path, length, rest);

    Tensors file = {.path = path};
    file.text = read_block(path, from, length);
    file.data = read_block(path, from, rest - length);
    fclose(from);
    file.tensor =
        new_bytes(path, (length / SHORTEST + 1) * sizeof *file.tensor);
    Header h = {path, file.text, file.text + length, file.text,
                rest - length};
    read_header(&h, &file);
    check_places(&h, &file);
    check_names(&file);
    for (size_t i = 0; i < file.count; i++)
        to_numbers(&file.tensor[i]);
    return file;
}

const Tensor *tensors_find(const Tensors *file, const char *name)
{
    const Tensor wanted = {.name = name};
    const Tensor *found =
        bsearch(&wanted, file->tensor, file->count, sizeof wanted, by_name);
    if (!found)
        REFUSE("%s: has no tensor '%s'", file->path, name);
    return found;
}

void tensors_free(Tensors *file)
{
    free(file->tensor);
    free(file->text);
    free(file->data);
    *file = (Tensors){0};
}

static const void *entries(const Tensor *t, char type)
{
    if (t->type != type)
        REFUSE("%s: tensor '%s' has type '%c': '%c' is needed", t->path,
               t->name, t->type, type);
    return t->data;
}

const float *tensor_floats(const Tensor *t)
{
    return entries(t, 'f');
}

const double *tensor_doubles(const Tensor *t)
{
    return entries(t, 'd');
}

const int64_t *tensor_integers(const Tensor *t)
{
    return entries(t, 'i');
}
