#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "support/safetensors.h"
#include "support/file.h"
#include "support/json_reader.h"
#include "support.h"

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

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "as in a file, a number's lowest byte must come first");

/* The types of entries and their sizes, in the order in which their tensors
 * are written; found by type, or by dtype. Of any other type the bytes are counted. */
enum { KINDS = 4 };
static const struct {
    char type;
    const char *dtype;
    size_t size;
} kinds[KINDS + 1] = {{'i', "I64", 8},
                      {'d', "F64", 8},
                      {'f', "F32", 4},
                      {'h', "F16", 2},
                      {'?', NULL, 1}};

static int kind_of(char type, const char *dtype)
{
    int k = 0;
    while (k < KINDS && kinds[k].type != type &&
           (!dtype || strcmp(kinds[k].dtype, dtype) != 0))
        k++;
    return k;
}

static size_t entry_size(const Tensor *t)
{
    return kinds[kind_of(t->type, NULL)].size;
}

/* ---- Tensors of the header. */

/* Numbers in brackets; returns how many. */
static int read_list(Json *j, size_t most, int room, size_t number[room])
{
    int count = 0;
    json_expect(j, '[');
    while (!json_accept(j, ']')) {
        if (count > 0)
            json_expect(j, ',');
        if (count == room)
            REFUSE("%s: its JSON has more than %d numbers at byte %td",
                   j->path, room, j->at - j->text);
        number[count++] = json_integer(j, most);
    }
    return count;
}

/* The place of a tensor, of which type and shape are known: as large as
 * these need, in bytes. More of them than an integer holds are still a
 * number, and one far above the size of any file. */
static void check_place(const Tensor *t, size_t from, size_t to)
{
    const size_t size = entry_size(t);
    double needed = (double)size;
    for (int k = 0; k < t->rank; k++)
        needed *= t->shape[k];
    if (from > to)
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: the second "
               "must not be less",
               t->path, t->name, from, to);
    if (t->type != '?' && (double)(to - from) != needed)
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: %.0f bytes "
               "are needed",
               t->path, t->name, from, to, needed);
    if (from % size)
        REFUSE("%s: tensor '%s' begins at byte %zu of the data: a multiple "
               "of %zu is needed",
               t->path, t->name, from, size);
}

/* Of a file with so many bytes of data. */
static Tensor read_tensor(Json *j, const char *name, char *data,
                          size_t size)
{
    Tensor t = {j->path, name, 0, NULL, -1, {1, 1, 1, 1}, 0, NULL};
    size_t shape[4], offset[2];
    int offsets = -1; /* so many are said; -1 is not yet */
    const char *key;
    for (int n = 0; (key = json_name(j, n)); n++)
        if (!strcmp(key, "dtype") && !t.dtype_name)
            t.dtype_name = json_string(j);
        else if (!strcmp(key, "shape") && t.rank < 0)
            t.rank = read_list(j, INT_MAX, 4, shape);
        else if (!strcmp(key, "data_offsets") && offsets < 0)
            offsets = read_list(j, size, 2, offset);
        else
            REFUSE("%s: tensor '%s' has the key '%s': dtype, shape and "
                   "data_offsets are needed, each once",
                   j->path, name, key);
    if (!t.dtype_name || t.rank < 0 || offsets != 2)
        REFUSE("%s: tensor '%s' has not all of dtype, shape and two "
               "data_offsets",
               j->path, name);
    t.type = kinds[kind_of(0, t.dtype_name)].type;
    for (int k = 0; k < t.rank; k++)
        t.shape[k] = (int)shape[k];
    check_place(&t, offset[0], offset[1]);
    t.count = (offset[1] - offset[0]) / entry_size(&t);
    t.data = data + offset[0];
    return t;
}

static void read_header(Json *j, size_t size, Tensors *file)
{
    const char *name;
    if (*j->at != '{')
        json_unexpected(j, "'{'");
    for (int n = 0; (name = json_name(j, n)); n++)
        if (!strcmp(name, "__metadata__"))
            for (int k = 0; json_name(j, k); k++)
                json_string(j);
        else if (strchr(name, '\\'))
            REFUSE("%s: has the name '%s': one without escapes is needed",
                   j->path, name);
        else
            file->tensor[file->count++] =
                read_tensor(j, name, file->data, size);
    json_end(j);
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
static void check_places(Tensors *file, size_t size)
{
    const char *data = file->data, *end = data;
    qsort(file->tensor, file->count, sizeof *file->tensor, by_place);
    for (size_t i = 0; i < file->count; i++) {
        const Tensor *t = &file->tensor[i];
        if (t->data != end)
            REFUSE("%s: tensor '%s' begins at byte %td of the data where "
                   "byte %td comes next",
                   t->path, t->name, (char *)t->data - data, end - data);
        end += t->count * entry_size(t);
    }
    if (end != data + size)
        REFUSE("%s: has %zu bytes of data where its tensors have %td",
               file->path, size, end - data);
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
    FILE *from = file_open(path);
    uint64_t *start = file_read(path, from, START);
    const uint64_t length = *start;
    free(start);
    const size_t rest = file_remaining(path, from);
    if (length > rest)
        REFUSE("%s: says its header has %" PRIu64 " bytes: %zu are left",
               path, length, rest);

    Tensors file = {.path = path};
    file.text = file_read(path, from, length);
    file.data = file_read(path, from, rest - length);
    fclose(from);
    file.tensor = new_list(length / SHORTEST + 1, sizeof *file.tensor);
    Json header = {path, file.text, file.text + length, file.text};
    read_header(&header, rest - length, &file);
    check_places(&file, rest - length);
    check_names(&file);
    return file;
}

static const Tensor *tensor_named(const Tensors *file, const char *name)
{
    const Tensor wanted = {.name = name};
    return bsearch(&wanted, file->tensor, file->count, sizeof wanted,
                   by_name);
}

int tensors_have(const Tensors *file, const char *name)
{
    return tensor_named(file, name) != NULL;
}

const Tensor *tensors_find(const Tensors *file, const char *name)
{
    const Tensor *found = tensor_named(file, name);
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
    const char *dtype = kinds[kind_of(t->type, NULL)].dtype;
    if (t->type != type)
        REFUSE("%s: tensor '%s' has dtype %s: %s is needed", t->path,
               t->name, dtype ? dtype : t->dtype_name,
               kinds[kind_of(type, NULL)].dtype);
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

const uint16_t *tensor_halves(const Tensor *t)
{
    return entries(t, 'h');
}

/* ---- Writing. */

static void check_name(const char *path, const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            REFUSE("%s: has the name '%s': one of printable ASCII without "
                   "quotes and backslashes is needed",
                   path, name);
    if (!strcmp(name, "__metadata__"))
        REFUSE("%s: has the name '%s', which is no tensor's", path, name);
}

/* Refuses what cannot be written; counts the entries. */
static void check_given(const char *path, Tensor *t)
{
    if (kind_of(t->type, NULL) == KINDS || t->rank < 0 || t->rank > 4)
        REFUSE("%s: tensor '%s' has type '%c' and rank %d: 'f', 'd', "
               "'i' or 'h', and 0 to 4, are needed",
               path, t->name, t->type ? t->type : ' ', t->rank);
    t->count = 1;
    for (int k = 0; k < t->rank; k++) {
        const size_t size = (size_t)t->shape[k];
        if (t->shape[k] < 0 || (size && t->count > SIZE_MAX / 8 / size))
            REFUSE("%s: tensor '%s' has the size %d: sizes from 0 on that "
                   "fit into memory are needed",
                   path, t->name, t->shape[k]);
        t->count *= size;
    }
    if (t->count && !t->data)
        REFUSE("%s: tensor '%s' has no data", path, t->name);
    check_name(path, t->name);
}

/* As Python's package does: the larger entries first, so that all begin at
 * multiples of their size; then by name. */
static int by_kind(const void *a, const void *b)
{
    const Tensor *x = a, *y = b;
    const int kind = kind_of(x->type, NULL) - kind_of(y->type, NULL);
    return kind ? kind : by_name(a, b);
}

/* The tensors in the order of a file. */
static Tensors in_order(const char *path, int count,
                        const Tensor tensor[count])
{
    if (count < 0)
        REFUSE("%s: %d tensors: 0 or more are needed", path, count);
    Tensors all = {.path = path, .count = (size_t)count};
    all.tensor = new_list(all.count + 1, sizeof *all.tensor);
    for (size_t i = 0; i < all.count; i++) {
        all.tensor[i] = tensor[i];
        check_given(path, &all.tensor[i]);
    }
    check_names(&all);
    qsort(all.tensor, all.count, sizeof *all.tensor, by_kind);
    return all;
}

/* With blanks at its end, so that the data begin at a multiple of 8. */
static void print_header(FILE *to, const Tensors *all)
{
    size_t end = 0;
    fprintf(to, "{");
    for (size_t i = 0; i < all->count; i++) {
        const Tensor *t = &all->tensor[i];
        const size_t from = end;
        end += t->count * entry_size(t);
        fprintf(to, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "",
                t->name, kinds[kind_of(t->type, NULL)].dtype);
        for (int k = 0; k < t->rank; k++)
            fprintf(to, k ? ",%d" : "%d", t->shape[k]);
        fprintf(to, "],\"data_offsets\":[%zu,%zu]}", from, end);
    }
    fprintf(to, "}");
    fprintf(to, "%*s", (int)(7 - (ftell(to) + 7) % 8), "");
}

/* The header's text, to be freed, and its length. */
static char *header_text(const Tensors *all, size_t *length)
{
    char *text = NULL;
    FILE *header = open_memstream(&text, length);
    if (header)
        print_header(header, all);
    if (!header || ferror(header) || fclose(header))
        REFUSE("%s: there is no memory for its header: fewer tensors are "
               "needed",
               all->path);
    return text;
}

void tensors_write(const char *path, int count, const Tensor tensor[count])
{
    Tensors all = in_order(path, count, tensor);
    size_t size;
    char *const text = header_text(&all, &size);
    const uint64_t length = size;
    NewFile new = file_begin(path);
    fwrite(&length, START, 1, new.file);
    fwrite(text, 1, size, new.file);
    for (size_t i = 0; i < all.count; i++)
        if (all.tensor[i].count)
            fwrite(all.tensor[i].data, entry_size(&all.tensor[i]),
                   all.tensor[i].count, new.file);
    file_finish(&new);
    free(text);
    free(all.tensor);
}
