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

static size_t entry_size(char type)
{
    return type == 'f' ? 4 : 8;
}

static void *new_bytes(const char *path, size_t size)
{
    void *block = malloc(size);
    if (!block)
        REFUSE("%s: there is no memory for %zu bytes", path, size);
    return block;
}

/* The next bytes of the file, and a 0. */
static void *read_bytes(const char *path, FILE *file, size_t size)
{
    char *block = new_bytes(path, size + 1);
    const size_t got = fread(block, 1, size, file);
    if (ferror(file))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    if (got < size)
        REFUSE("%s: ends after %zu bytes where %zu are needed", path, got,
               size);
    block[size] = '\0';
    return block;
}

/* A number in the file has its lowest byte first. Put together like this it
 * comes out right on a machine of either byte order. */
static void to_number(size_t size, void *at)
{
    const unsigned char *byte = at;
    uint64_t bits = 0;
    for (size_t k = size; k > 0; k--)
        bits = bits << 8 | byte[k - 1];
    const uint32_t low = (uint32_t)bits;
    memcpy(at, size == 4 ? (const void *)&low : &bits, size);
}

/* How many bytes there are after the first eight. */
static size_t size_of_rest(const char *path, FILE *file)
{
    const long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    if (end < START || fseek(file, START, SEEK_SET))
        REFUSE("%s: has no size: an ordinary file is needed", path);
    return (size_t)end - START;
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

/* The place of a tensor, of which dtype and shape are known: as large as
 * these need, in bytes. More of them than an integer holds are still a
 * number, and one far above the size of any file. */
static void check_place(const Header *h, const Tensor *t, size_t from,
                        size_t to)
{
    const size_t size = entry_size(t->type);
    double needed = (double)size;
    for (int k = 0; k < t->rank; k++)
        needed *= t->shape[k];
    if (from > to || (double)(to - from) != needed)
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: %.0f bytes "
               "are needed",
               h->path, t->name, from, to, needed);
    if (from % size)
        REFUSE("%s: tensor '%s' begins at byte %zu of the data: a multiple "
               "of %zu is needed",
               h->path, t->name, from, size);
}

static Tensor read_tensor(Header *h, const char *name, char *data)
{
    Tensor t = {h->path, name, 0, -1, {1, 1, 1, 1}, 0, NULL};
    size_t shape[4], offset[2];
    int offsets = -1; /* so many are said; -1 is not yet */
    const char *key;
    for (int n = 0; (key = next_name(h, n)); n++)
        if (!strcmp(key, "dtype") && !t.type)
            t.type = read_type(h);
        else if (!strcmp(key, "shape") && t.rank < 0)
            t.rank = read_list(h, INT_MAX, 4, shape);
        else if (!strcmp(key, "data_offsets") && offsets < 0)
            offsets = read_list(h, h->size, 2, offset);
        else
            REFUSE("%s: tensor '%s' has the key '%s': dtype, shape and "
                   "data_offsets are needed, each once",
                   h->path, name, key);
    if (!t.type || t.rank < 0 || offsets != 2)
        REFUSE("%s: tensor '%s' has not all of dtype, shape and two "
               "data_offsets",
               h->path, name);
    for (int k = 0; k < t.rank; k++)
        t.shape[k] = (int)shape[k];
    check_place(h, &t, offset[0], offset[1]);
    t.count = (offset[1] - offset[0]) / entry_size(t.type);
    t.data = data + offset[0];
    return t;
}

static void read_header(Header *h, Tensors *file)
{
    const char *name;
    if (*h->at != '{')
        unexpected(h, "'{'");
    for (int n = 0; (name = next_name(h, n)); n++)
        if (strcmp(name, "__metadata__"))
            file->tensor[file->count++] = read_tensor(h, name, file->data);
        else
            for (int k = 0; next_name(h, k); k++)
                read_string(h);
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

Tensors tensors_read(const char *path)
{
    FILE *from = fopen(path, "rb");
    if (!from)
        REFUSE("%s: cannot be opened: %s", path, strerror(errno));
    uint64_t *start = read_bytes(path, from, START);
    to_number(START, start);
    const uint64_t length = *start;
    free(start);
    const size_t rest = size_of_rest(path, from);
    if (length > rest)
        REFUSE("%s: says its header has %" PRIu64 " bytes: %zu are left",
               path, length, rest);

    Tensors file = {.path = path};
    file.text = read_bytes(path, from, length);
    file.data = read_bytes(path, from, rest - length);
    fclose(from);
    file.tensor =
        new_bytes(path, (length / SHORTEST + 1) * sizeof *file.tensor);
    Header h = {path, file.text, file.text + length, file.text,
                rest - length};
    read_header(&h, &file);
    check_places(&h, &file);
    check_names(&file);
    for (size_t i = 0; i < file.count; i++) {
        const Tensor *t = &file.tensor[i];
        const size_t size = entry_size(t->type);
        for (size_t k = 0; k < t->count; k++)
            to_number(size, (char *)t->data + k * size);
    }
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
