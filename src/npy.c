#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "attention.h"

/* A .npy file is ten bytes (the magic, the version, the header's length),
 * the header, which is a Python dictionary written as text and blanks up to
 * a newline, and the entries. NumPy documents it as numpy.lib.format.
 *
 * All of it comes from outside, so nothing that the file says about itself
 * is believed before it has been compared with what the file holds. */
enum { START = 10, LONGEST = 65535 };
static const char magic[] = "\x93NUMPY";

static const struct {
    const char *descr; /* as the header spells it */
    const char *name;
    char type;
    int size; /* bytes of an entry */
} types[] = {
    {"'<f4'", "float32", 'f', 4},
    {"'<f8'", "float64", 'd', 8},
    {"'<i8'", "int64", 'i', 8},
};
enum { TYPES = sizeof types / sizeof types[0] };

static const char *const keys[] = {"'descr'", "'fortran_order'", "'shape'"};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* A header that is being read. */
typedef struct {
    const char *path;
    const char *at;  /* what is left of its text */
    bool seen[KEYS]; /* keys met so far */
    int type;        /* place in `types` */
    int rank, shape[4];
} Header;

/* A number in the file has its lowest byte first. Put together like this it
 * comes out right on a machine of either byte order. */
static uint64_t little_endian(int size, const unsigned char *byte)
{
    uint64_t bits = 0;
    for (int k = size - 1; k >= 0; k--)
        bits = bits << 8 | byte[k];
    return bits;
}

/* Reads at most so many bytes and returns how many there were. */
static size_t read_some(const char *path, FILE *file, size_t size, void *to)
{
    size_t got = fread(to, 1, size, file);
    if (ferror(file))
        REFUSE("%s: cannot be read: %s", path, strerror(errno));
    return got;
}

static void read_all(const char *path, FILE *file, size_t size, void *to)
{
    size_t got = read_some(path, file, size, to);
    if (got < size)
        REFUSE("%s: became %zu bytes shorter while it was read", path,
               size - got);
}

/* Reads the first ten bytes and returns the length of the header. */
static size_t read_start(const char *path, FILE *file)
{
    unsigned char start[START];
    size_t got = read_some(path, file, START, start);
    if (got < START)
        REFUSE("%s: has only %zu bytes: a .npy file begins with %d", path,
               got, START);
    if (memcmp(start, magic, strlen(magic)))
        REFUSE("%s: is no .npy file: it does not begin with \\x93NUMPY",
               path);
    if (start[6] != 1 || start[7] != 0)
        REFUSE("%s: has version %d.%d of the format: 1.0 is needed", path,
               start[6], start[7]);
    return (size_t)little_endian(2, start + 8);
}

/* How many bytes there are after the first ten. */
static size_t size_of_rest(const char *path, FILE *file)
{
    long end = -1;
    if (!fseek(file, 0, SEEK_END))
        end = ftell(file);
    if (end < START || fseek(file, START, SEEK_SET))
        REFUSE("%s: has no size: an ordinary file is needed", path);
    return (size_t)end - START;
}

/* Reads the header as a C string. Only printable characters pass, so that
 * any part of it can be quoted in a message. */
static void read_text(const char *path, FILE *file, size_t length,
                      size_t rest, char text[LONGEST])
{
    if (length > rest)
        REFUSE("%s: says its header has %zu bytes: only %zu are there",
               path, length, rest);
    if (length == 0)
        REFUSE("%s: its header has 0 bytes: a dictionary is needed", path);
    read_all(path, file, length, text);
    if (text[length - 1] != '\n')
        REFUSE("%s: its header does not end in a newline", path);
    text[length - 1] = '\0';
    for (size_t i = 0; i < length - 1; i++)
        if (text[i] < ' ' || text[i] > '~')
            REFUSE("%s: byte %zu of its header is 0x%02x: printable ASCII "
                   "is needed",
                   path, i, (unsigned char)text[i]);
}

static void skip_blanks(Header *header)
{
    header->at += strspn(header->at, " ");
}

/* Steps over the word if it comes next. */
static bool accept(Header *header, const char *word)
{
    skip_blanks(header);
    size_t length = strlen(word);
    if (strncmp(header->at, word, length))
        return false;
    header->at += length;
    return true;
}

/* How much of the header to quote: up to one of these characters, or 24. */
static int quote(const Header *header, const char *end)
{
    size_t length = strcspn(header->at, end);
    return length < 24 ? (int)length : 24;
}

static _Noreturn void refuse_text(const Header *header, const char *needed)
{
    if (!*header->at)
        REFUSE("%s: its header ends where %s is needed", header->path,
               needed);
    REFUSE("%s: its header has \"%.*s\" where %s is needed", header->path,
           quote(header, ""), header->at, needed);
}

static void expect(Header *header, const char *word)
{
    if (!accept(header, word))
        refuse_text(header, word);
}

/* Returns the key's place in `keys`. */
static int read_key(Header *header)
{
    for (int k = 0; k < KEYS; k++)
        if (accept(header, keys[k]))
            return k;
    if (*header->at != '\'')
        refuse_text(header, "a key");
    REFUSE("%s: its header has the key %.*s: only %s, %s, %s belong there",
           header->path, quote(header, " :,}"), header->at, keys[0],
           keys[1], keys[2]);
}

/* Returns the type's place in `types`. */
static int read_type(Header *header)
{
    for (int t = 0; t < TYPES; t++)
        if (accept(header, types[t].descr))
            return t;
    if (*header->at != '\'')
        refuse_text(header, "a dtype");
    REFUSE("%s: its dtype is %.*s%s: %s, %s or %s is needed", header->path,
           quote(header, " ,}"), header->at,
           header->at[1] == '>' ? ", big-endian" : "", types[0].descr,
           types[1].descr, types[2].descr);
}

static void read_order(Header *header)
{
    if (accept(header, "True"))
        REFUSE("%s: its entries are in Fortran order: C order is needed",
               header->path);
    if (!accept(header, "False"))
        refuse_text(header, "True or False");
}

static int read_dimension(Header *header)
{
    skip_blanks(header);
    if (!strspn(header->at, "-0123456789"))
        refuse_text(header, "a dimension");
    char *end;
    long long dimension = strtoll(header->at, &end, 10);
    if (*header->at < '1' || dimension > INT_MAX)
        REFUSE("%s: its shape has the dimension %.*s: 1 to %d is needed",
               header->path, quote(header, " ,)"), header->at, INT_MAX);
    header->at = end;
    return (int)dimension;
}

/* A shape is a Python tuple: (), (3,), (2, 3). But (3) is a number. */
static void read_shape(Header *header)
{
    expect(header, "(");
    while (!accept(header, ")")) {
        if (header->rank == 4)
            REFUSE("%s: has more than 4 dimensions", header->path);
        header->shape[header->rank++] = read_dimension(header);
        if (accept(header, ","))
            continue;
        expect(header, header->rank == 1 ? "," : ")");
        break;
    }
}

/* A key, a colon and its value. */
static void read_pair(Header *header)
{
    int key = read_key(header);
    if (header->seen[key])
        REFUSE("%s: its header has %s twice", header->path, keys[key]);
    header->seen[key] = true;
    expect(header, ":");
    if (key == 0)
        header->type = read_type(header);
    else if (key == 1)
        read_order(header);
    else
        read_shape(header);
}

/* The whole dictionary: each key once, in any order. */
static void read_header(Header *header)
{
    expect(header, "{");
    while (!accept(header, "}")) {
        read_pair(header);
        if (accept(header, ","))
            continue;
        expect(header, "}");
        break;
    }
    for (int k = 0; k < KEYS; k++)
        if (!header->seen[k])
            REFUSE("%s: its header has no %s", header->path, keys[k]);
    skip_blanks(header);
    if (*header->at)
        refuse_text(header, "its end");
}

/* The product of the dimensions, where so many bytes can be counted. */
static size_t count_entries(const Header *header)
{
    size_t count = 1, most = SIZE_MAX / (size_t)types[header->type].size;
    for (int k = 0; k < header->rank; k++) {
        if (count > most / (size_t)header->shape[k])
            REFUSE("%s: its shape has more entries than can be counted",
                   header->path);
        count *= (size_t)header->shape[k];
    }
    return count;
}

/* Turns the bytes of the file into numbers of this machine. */
static void to_numbers(size_t count, int size, unsigned char *byte)
{
    for (size_t i = 0; i < count; i++, byte += size) {
        uint64_t bits = little_endian(size, byte);
        uint32_t low = (uint32_t)bits;
        if (size == 4)
            memcpy(byte, &low, 4);
        else
            memcpy(byte, &bits, 8);
    }
}

/* Reads the bytes left after the header, which must be just its entries. */
static Npy read_entries(const Header *header, FILE *file, size_t left)
{
    size_t count = count_entries(header);
    int size = types[header->type].size;
    if (count * (size_t)size != left)
        REFUSE("%s: has %zu bytes of data: "
               "%zu entries of %d bytes need %zu",
               header->path, left, count, size, count * (size_t)size);
    Npy array = {.path = header->path,
                 .type = types[header->type].type,
                 .rank = header->rank,
                 .count = count};
    memcpy(array.shape, header->shape, sizeof array.shape);
    array.data = malloc(left);
    if (!array.data)
        REFUSE("%s: there is no memory for %zu bytes", header->path, left);
    read_all(header->path, file, left, array.data);
    to_numbers(count, size, array.data);
    return array;
}

Npy npy_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        REFUSE("%s: cannot be opened: %s", path, strerror(errno));
    size_t length = read_start(path, file);
    size_t rest = size_of_rest(path, file);
    char text[LONGEST];
    read_text(path, file, length, rest, text);
    Header header = {.path = path, .at = text, .shape = {1, 1, 1, 1}};
    read_header(&header);
    Npy array = read_entries(&header, file, rest - length);
    fclose(file);
    return array;
}

static const void *entries(const Npy *array, char type)
{
    const char *is = "", *needed = "";
    for (int t = 0; t < TYPES; t++) {
        if (types[t].type == array->type)
            is = types[t].name;
        if (types[t].type == type)
            needed = types[t].name;
    }
    if (array->type != type)
        REFUSE("%s: its entries are %s: %s is needed", array->path, is,
               needed);
    return array->data;
}

const float *npy_floats(const Npy *array)
{
    return entries(array, 'f');
}

const double *npy_doubles(const Npy *array)
{
    return entries(array, 'd');
}

const int64_t *npy_integers(const Npy *array)
{
    return entries(array, 'i');
}

void npy_free(Npy *array)
{
    free(array->data);
    array->data = NULL;
    array->count = 0;
}
