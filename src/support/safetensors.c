#include "support/safetensors.h"
#include "support/file.h"
#include "support/json.h"
#include "support.h"

/* A safetensors file is the length of its header in eight bytes, the header
 * in JSON, and the numbers of all tensors, without a gap:
 *
 *   {"__metadata__": {"made": "by PyTorch"},
 *    "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
 *
 * where offsets count from the end of the header.
 *
 * All of it comes from outside, so nothing that the file says about itself
 * is believed before it has been compared with what the file holds. */
enum { START = 8, SHORTEST = 40 }; /* no entry of a header is shorter */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "as in a file, a number's lowest byte must come first");

/* The types of entries by their letters, and their names. Those that have
 * numbers here come first, in the order in which their tensors are written.
 * Of the others the bytes are counted. */
static const char types[] = "idfbh";
enum { KINDS = sizeof types - 1 };
static const char *const dtypes[] = {
    "I64",         "F64",     "F32", "BF16",    "F16",
    "BOOL",        "U8",      "I8",  "F8_E5M2", "F8_E4M3",
    "F8_E4M3FNUZ", "F8_E8M0", "I16", "U16",     "F8_E5M2FNUZ",
    "I32",         "U32",     "U64", "C64"};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* The index of a type; KINDS of one that has no numbers here. */
static size_t kind_of(char type)
{
    return strcspn(types, (char[]){type, '\0'});
}

/* Its bits are the number in a dtype's name; a BOOL is a byte. */
static size_t dtype_size(const char *dtype)
{
    const int bits = atoi(dtype + strcspn(dtype, "123456789"));
    return bits ? (size_t)bits / 8 : 1;
}

static size_t entry_size(const Tensor *t)
{
    const size_t kind = kind_of(t->type);
    return kind < KINDS ? dtype_size(dtypes[kind]) : 1;
}

/* A tensor of the header, and where its bytes are in the file's data. */
typedef struct {
    Tensor tensor;
    size_t from, to;
} Place;

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

/* A tensor's bytes must be as many as its shape and the size of an entry
 * say. Even where that is more than an integer holds it is a number here,
 * and one far above the size of any file. */
static void check_place(const Place *p)
{
    const Tensor *t = &p->tensor;
    double needed = (double)dtype_size(t->dtype_name);
    for (int k = 0; k < t->rank; k++)
        needed *= t->shape[k];
    if (p->from > p->to)
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: the second "
               "must not be less",
               t->path, t->name, p->from, p->to);
    if ((double)(p->to - p->from) != needed)
        REFUSE("%s: tensor '%s' has data_offsets [%zu, %zu]: %.0f bytes "
               "are needed",
               t->path, t->name, p->from, p->to, needed);
}

static Place read_tensor(Json *j, const char *name)
{
    Tensor t = {.path = j->path, .name = name, .rank = -1};
    size_t shape[4], offset[2];
    int offsets = -1; /* so many are said; -1 is not yet */
    const char *key;
    for (int n = 0; (key = json_name(j, n)); n++)
        if (!strcmp(key, "dtype") && !t.dtype_name)
            t.dtype_name = json_string(j);
        else if (!strcmp(key, "shape") && t.rank < 0)
            t.rank = read_list(j, INT_MAX, 4, shape);
        else if (!strcmp(key, "data_offsets") && offsets < 0)
            offsets = read_list(j, PTRDIFF_MAX, 2, offset);
        else
            REFUSE("%s: tensor '%s' has the key '%s': dtype, shape and "
                   "data_offsets are needed, each once",
                   j->path, name, key);
    if (!t.dtype_name || t.rank < 0 || offsets != 2)
        REFUSE("%s: tensor '%s' has not all of dtype, shape and two "
               "data_offsets",
               j->path, name);
    size_t kind = 0;
    while (kind < DTYPES && strcmp(dtypes[kind], t.dtype_name) != 0)
        kind++;
    if (kind == DTYPES)
        REFUSE("%s: tensor '%s' has dtype '%s'; it must be one of "
               "safetensors' of whole bytes, such as F32",
               j->path, name, t.dtype_name);
    t.type = kind < KINDS ? types[kind] : '?';
    for (int k = 0; k < 4; k++)
        t.shape[k] = k < t.rank ? (int)shape[k] : 1;
    const Place place = {t, offset[0], offset[1]};
    check_place(&place);
    return place;
}

/* What a file says about itself: only strings. */
static void skip_metadata(Json *j)
{
    if (!json_null(j))
        for (int k = 0; json_name(j, k); k++)
            json_string(j);
}

/* Returns how many tensors there are. */
static size_t read_header(Json *j, Place *place)
{
    size_t count = 0;
    bool has_metadata = false;
    char *name;
    if (*j->at != '{')
        json_unexpected(j, "'{'");
    for (int n = 0; (name = json_name(j, n)); n++)
        if (strcmp(name, "__metadata__") != 0)
            place[count++] = read_tensor(j, name);
        else if (has_metadata)
            REFUSE("%s: has __metadata__ twice", j->path);
        else {
            has_metadata = true;
            skip_metadata(j);
        }
    json_end(j);
    return count;
}

/* ---- All of them together. */

/* In the order of their places; of two at one place, the smaller first. */
static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_name(const void *a, const void *b)
{
    const Tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* They must fill the data, `size` bytes, without a hole and without an
 * overlap. */
static void check_places(const char *path, size_t count, Place place[count],
                         size_t size)
{
    const char *last = NULL;
    size_t end = 0;
    qsort(place, count, sizeof *place, by_place);
    for (size_t i = 0; i < count; i++) {
        last = place[i].tensor.name;
        if (place[i].from != end)
            REFUSE("%s: tensor '%s' begins at byte %zu of the data where "
                   "byte %zu comes next",
                   path, last, place[i].from, end);
        end = place[i].to;
    }
    if (end > size)
        REFUSE("%s: is cut short: its header says %zu bytes of data, up to "
               "the end of tensor '%s', and %zu are there",
               path, end, last, size);
    if (end < size)
        REFUSE("%s: has %zu bytes of data where its tensors have %zu", path,
               size, end);
}

/* A file may pack its tensors so that numbers begin at any byte. In memory
 * each tensor begins at a multiple of 8, which costs fewer bytes than its
 * entry in the header has. */
static void read_data(Tensors *file)
{
    size_t size = 1;
    for (size_t i = 0; i < file->count; i++)
        size += file->tensor[i].count * entry_size(&file->tensor[i]) + 7;
    char *to = file->data = new_list(size, 1);
    for (size_t i = 0; i < file->count; i++) {
        Tensor *t = &file->tensor[i];
        t->data = to;
        tensor_entries(t, 0, t->count, to);
        to += (t->count * entry_size(t) + 7) / 8 * 8;
    }
}

void tensor_entries(const Tensor *t, size_t first, size_t count,
                    void *entries)
{
    const size_t size = entry_size(t);
    if (fseek(t->from, (long)(t->at + first * size), SEEK_SET))
        REFUSE("%s: cannot be read: %s", t->path, strerror(errno));
    file_fill(t->path, t->from, count * size, entries);
}

static void check_names(Tensors *file)
{
    qsort(file->tensor, file->count, sizeof *file->tensor, by_name);
    for (size_t i = 1; i < file->count; i++)
        if (!by_name(&file->tensor[i - 1], &file->tensor[i]))
            REFUSE("%s: has the tensor '%s' twice", file->path,
                   file->tensor[i].name);
}

static Tensors open_file(const char *path)
{
    FILE *from = file_open(path);
    uint64_t *start = file_read(path, from, START);
    const uint64_t length = *start;
    free(start);
    const size_t rest = file_remaining(path, from);
    if (length > rest)
        REFUSE("%s: says its header has %" PRIu64 " bytes: %zu are left",
               path, length, rest);

    Tensors file = {
        .path = path, .text = file_read(path, from, length), .from = from};
    Place *place = new_list(length / SHORTEST + 1, sizeof *place);
    Json header = {path, file.text, file.text + length, file.text};
    const size_t size = rest - length;
    file.count = read_header(&header, place);
    check_places(path, file.count, place, size);
    file.tensor = new_list(file.count + 1, sizeof *file.tensor);
    for (size_t i = 0; i < file.count; i++) {
        Tensor *t = &file.tensor[i];
        *t = place[i].tensor;
        t->count = (place[i].to - place[i].from) / entry_size(t);
        t->from = from;
        t->at = START + length + place[i].from;
    }
    free(place);
    check_names(&file);
    return file;
}

Tensors tensors_read(const char *path)
{
    Tensors file = open_file(path);
    read_data(&file);
    fclose(file.from);
    file.from = NULL;
    return file;
}

/* ---- Several files, by an index:
 *
 *   {"metadata": {"total_size": 24},
 *    "weight_map": {"weight": "model-00001-of-00002.safetensors"}}
 */

/* One more file, unless it is there already. */
static void add_part(Tensors *all, const Json *j, const char *name)
{
    const char *slash = strrchr(j->path, '/');
    const int folder = slash ? (int)(slash + 1 - j->path) : 0;
    char *path = new_list((size_t)folder + strlen(name) + 1, 1);
    sprintf(path, "%.*s%s", folder, j->path, name);
    if (strchr(name, '/'))
        REFUSE("%s: '%s': a file in the same folder is needed", j->path,
               name);
    for (int k = 0; k < all->parts; k++)
        if (!strcmp(all->part[k].path, path)) {
            free(path);
            return;
        }
    Tensors *part = new_list((size_t)all->parts + 1, sizeof *part);
    for (int k = 0; k < all->parts; k++)
        part[k] = all->part[k];
    free(all->part);
    all->part = part;
    part[all->parts++] = open_file(path);
    all->count += part[all->parts - 1].count;
}

/* The tensors of all parts, in one list. */
static void gather_parts(Tensors *all)
{
    Tensor *to = all->tensor =
        new_list(all->count + 1, sizeof *all->tensor);
    for (int k = 0; k < all->parts; k++)
        for (size_t i = 0; i < all->part[k].count; i++)
            *to++ = all->part[k].tensor[i];
    check_names(all);
}

static Tensors open_parts(const char *path, const char *index)
{
    Tensors all = {.path = path};
    Json j = json_read(index);
    size_t names = 0, room = 0;
    const char *name, **named = NULL;
    char *end;
    for (int n = 0; (name = json_name(&j, n)); n++)
        if (strcmp(name, "weight_map"))
            json_value(&j, &end);
        else if (named)
            REFUSE("%s: has \"weight_map\" twice", index);
        else
            for (room = (size_t)(j.end - j.at) / 4 + 1,
                named = new_list(room, sizeof *named);
                 (name = json_name(&j, (int)names)); names++) {
                named[names] = name;
                add_part(&all, &j, json_string(&j));
            }
    json_end(&j);
    if (!all.parts)
        REFUSE("%s: a \"weight_map\" of names and files is needed", index);
    gather_parts(&all);
    for (size_t i = 0; i < names; i++)
        tensors_find(&all, named[i]);
    if (names != all.count)
        REFUSE("%s: names %zu tensors where its files have %zu", index,
               names, all.count);
    free(named);
    all.text = j.text;
    return all;
}

Tensors tensors_open(const char *path)
{
    char *index = new_list(strlen(path) + sizeof ".index.json", 1);
    FILE *whole = fopen(path, "rb"), *parts = NULL;
    sprintf(index, "%s.index.json", path);
    if (whole)
        fclose(whole);
    else if ((parts = fopen(index, "rb")))
        fclose(parts);
    Tensors file = parts ? open_parts(path, index) : open_file(path);
    free(index);
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
    for (int k = 0; k < file->parts; k++) {
        free((char *)(uintptr_t)file->part[k].path);
        tensors_free(&file->part[k]);
    }
    if (file->from)
        fclose(file->from);
    free(file->part);
    free(file->tensor);
    free(file->text);
    free(file->data);
    *file = (Tensors){0};
}

static const void *entries(const Tensor *t, char type)
{
    const size_t kind = kind_of(t->type);
    if (t->type != type)
        REFUSE("%s: tensor '%s' has dtype %s: %s is needed", t->path,
               t->name, kind < KINDS ? dtypes[kind] : t->dtype_name,
               dtypes[kind_of(type)]);
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
    if (kind_of(t->type) == KINDS || t->rank < 0 || t->rank > 4)
        REFUSE("%s: tensor '%s' has type '%c' and rank %d: 'f', 'd', 'i', "
               "'b' or 'h', and 0 to 4, are needed",
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
    const int kind = (int)kind_of(x->type) - (int)kind_of(y->type);
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
                t->name, dtypes[kind_of(t->type)]);
        for (int k = 0; k < t->rank; k++)
            fprintf(to, k ? ",%d" : "%d", t->shape[k]);
        fprintf(to, "],\"data_offsets\":[%zu,%zu]}", from, end);
    }
    fprintf(to, "}");
    fprintf(to, "%*s", (int)(7 - (ftell(to) + 7) % 8), "");
}

void tensors_write(const char *path, int count, const Tensor tensor[count])
{
    Tensors all = in_order(path, count, tensor);
    NewFile new = file_begin(path);
    uint64_t length = 0; /* until the header is written */
    fwrite(&length, START, 1, new.file);
    print_header(new.file, &all);
    length = (uint64_t)ftell(new.file) - START;
    for (size_t i = 0; i < all.count; i++)
        if (all.tensor[i].count)
            fwrite(all.tensor[i].data, entry_size(&all.tensor[i]),
                   all.tensor[i].count, new.file);
    fseek(new.file, 0, SEEK_SET); /* what it cannot write, ferror keeps */
    fwrite(&length, START, 1, new.file);
    file_finish(&new);
    free(all.tensor);
}
