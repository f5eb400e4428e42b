/* Reading .npy files, whole ones and damaged ones, which are made here in a
 * temporary folder. */
#include "tap.h"

static const char *const path = "array.npy";

/* A file as it is to be: what comes before the header, the header, data. */
static unsigned char file[70000];
static size_t file_size;

static void write_file(void)
{
    FILE *to = fopen(path, "wb");
    if (!to || fwrite(file, 1, file_size, to) != file_size || fclose(to))
        REFUSE("%s: cannot be written", path);
}

static void add(size_t size, const void *bytes)
{
    memcpy(file + file_size, bytes, size);
    file_size += size;
}

static void add_number(int size, uint64_t bits) /* lowest byte first */
{
    for (int k = 0; k < size; k++, bits >>= 8)
        file[file_size++] = bits & 255;
}

/* The file up to its data: magic, version, the header's length and text. */
static void begin(const char *header)
{
    size_t length = strlen(header);
    file_size = 0;
    add(8, "\x93NUMPY\x01");
    add_number(2, length);
    add(length, header);
}

/* ---- Whole files. */

enum { RANKS = 5, MOST = 12 };
static const struct {
    const char *text;
    int shape[4], count;
} ranks[RANKS] = {{"()", {1, 1, 1, 1}, 1},
                  {"(3,)", {3, 1, 1, 1}, 3},
                  {"(2, 3)", {2, 3, 1, 1}, 6},
                  {"(3, 1, 2)", {3, 1, 2, 1}, 6},
                  {"(1, 2, 3, 2)", {1, 2, 3, 2}, 12}};
static int rank;

static const float some_floats[MOST] = {
    1.5f, -2.25f, 0, -0.0f, 1e-40f, INFINITY, -INFINITY, 3e38f, 1, 2, 3, 4};
static const double some_doubles[MOST] = {
    1.5, -2.25, 0, -0.0, 5e-324, INFINITY, -INFINITY, 1e308, 1, 2, 3, 0.1};
static const int64_t some_integers[MOST] = {
    1, -1, 0, INT64_MAX, INT64_MIN, 255, 256, -256, 1 << 24, 4, 5, 6};

/* A header as NumPy pads it. */
static void begin_as_numpy(const char *type)
{
    char header[119] = "";
    int size = snprintf(header, sizeof header,
                        "{'descr': '%s', "
                        "'fortran_order': False, 'shape': %s, }",
                        type, ranks[rank].text);
    memset(header + size, ' ', (size_t)(117 - size));
    header[117] = '\n';
    begin(header);
}

static void check_shape(const Npy *array, char type)
{
    tap_true("path", array->path == path);
    tap_true("type", array->type == type);
    tap_near("rank", array->rank, rank, 0, 0);
    tap_near("count", (double)array->count, ranks[rank].count, 0, 0);
    for (int k = 0; k < 4; k++)
        tap_near("shape", array->shape[k], ranks[rank].shape[k], 0, 0);
}

static void read_floats(void)
{
    begin_as_numpy("<f4");
    for (int i = 0; i < ranks[rank].count; i++) {
        uint32_t bits;
        memcpy(&bits, &some_floats[i], 4);
        add_number(4, bits);
    }
    write_file();
    Npy array = npy_read(path);
    check_shape(&array, 'f');
    tap_true("entries", !memcmp(npy_floats(&array), some_floats,
                                array.count * sizeof *some_floats));
    npy_free(&array);
    tap_true("nothing is left", !array.data && !array.count);
}

static void read_doubles(void)
{
    begin_as_numpy("<f8");
    for (int i = 0; i < ranks[rank].count; i++) {
        uint64_t bits;
        memcpy(&bits, &some_doubles[i], 8);
        add_number(8, bits);
    }
    write_file();
    Npy array = npy_read(path);
    check_shape(&array, 'd');
    tap_true("entries", !memcmp(npy_doubles(&array), some_doubles,
                                array.count * sizeof *some_doubles));
    npy_free(&array);
}

static void read_integers(void)
{
    begin_as_numpy("<i8");
    for (int i = 0; i < ranks[rank].count; i++)
        add_number(8, (uint64_t)some_integers[i]);
    write_file();
    Npy array = npy_read(path);
    check_shape(&array, 'i');
    tap_true("entries", !memcmp(npy_integers(&array), some_integers,
                                array.count * sizeof *some_integers));
    npy_free(&array);
}

static void read_each_rank(const char *type, void (*test)(void))
{
    for (rank = 0; rank < RANKS; rank++) {
        char name[64];
        snprintf(name, sizeof name, "npy_read: %s %s", type,
                 ranks[rank].text);
        TAP(test, name);
    }
}

/* What else a header may look like. */
static void read_other_headers(void)
{
    static const char *const headers[] = {
        "{'descr':'<f4','fortran_order':False,'shape':(1,2)}\n",
        "{'fortran_order': False, 'descr': '<f4', 'shape': (1, 2), }\n",
        " { 'shape':( 1,2 , ) ,'descr' : '<f4','fortran_order':False } \n"};
    for (int i = 0; i < 3; i++) {
        begin(headers[i]);
        add(8, "\0\0\x80?\0\0\0@");
        write_file();
        Npy array = npy_read(path);
        tap_near("rank", array.rank, 2, 0, 0);
        tap_near("columns", array.shape[1], 2, 0, 0);
        tap_near("first entry", npy_floats(&array)[0], 1, 0, 0);
        tap_near("second entry", npy_floats(&array)[1], 2, 0, 0);
        npy_free(&array);
    }
}

/* As long as version 1.0 allows. */
static void read_longest_header(void)
{
    static char header[65536];
    memset(header, ' ', 65534);
    const char text[] = "{'descr': '<i8', 'fortran_order': False, "
                        "'shape': (), }";
    memcpy(header + 65534 - (sizeof text - 1), text, sizeof text - 1);
    header[65534] = '\n';
    begin(header);
    add_number(8, 42);
    write_file();
    Npy array = npy_read(path);
    tap_near("entry", (double)npy_integers(&array)[0], 42, 0, 0);
    npy_free(&array);
}

/* ---- Damaged files. */

static void read_it(void)
{
    Npy array = npy_read(path);
    npy_free(&array);
}

static void refused(const char *message)
{
    char whole[300], point[330];
    snprintf(whole, sizeof whole, "%s: %s", path, message);
    snprintf(point, sizeof point, "npy_read: refuses: %s", message);
    write_file();
    tap_refuses(read_it, point, "npy.c", whole);
}

/* A file with this header and 24 bytes of data. */
static void header_refused(const char *header, const char *message)
{
    begin(header);
    for (int i = 0; i < 6; i++)
        add_number(4, 0);
    refused(message);
}

/* A header with this dtype, order or shape and others that are right. */
static void part_refused(const char *key, const char *value,
                         const char *message)
{
    char header[200];
    snprintf(header, sizeof header,
             "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n",
             *key == 'd' ? value : "'<f4'", *key == 'f' ? value : "False",
             *key == 's' ? value : "(2, 3)");
    header_refused(header, message);
}

static void refuse_starts(void)
{
    const char *const good =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n";
    begin(good);
    file_size = 0;
    refused("has only 0 bytes: a .npy file begins with 10");
    file_size = 9;
    refused("has only 9 bytes: a .npy file begins with 10");
    begin(good);
    file[0] = 'N';
    refused("is no .npy file: it does not begin with \\x93NUMPY");
    begin(good);
    file[6] = 2;
    refused("has version 2.0 of the format: 1.0 is needed");
    begin(good);
    file[7] = 1;
    refused("has version 1.1 of the format: 1.0 is needed");
    begin(good);
    refused("has 0 bytes of data: 1 entries of 4 bytes need 4");
    file_size = 40;
    refused("says its header has 56 bytes: only 30 are there");
    begin(good);
    file[9] = 255;
    refused("says its header has 65336 bytes: only 56 are there");
    begin("");
    refused("its header has 0 bytes: a dictionary is needed");
}

static void refuse_headers(void)
{
#define TYPE "'descr': '<f4'"
#define ORDER "'fortran_order': False"
#define SHAPE "'shape': (2, 3)"
#define ALL TYPE ", " ORDER ", " SHAPE
#define ASCII ": printable ASCII is needed"
#define KEYS "only 'descr', 'fortran_order', 'shape' belong there"
    header_refused("{" ALL ", }", "its header does not end in a newline");
    header_refused("{" TYPE ", \n" ORDER ", " SHAPE ", }\n",
                   "byte 17 of its header is 0x0a" ASCII);
    header_refused("{" TYPE ", \xc3\xa9}\n",
                   "byte 17 of its header is 0xc3" ASCII);
    header_refused("\n", "its header ends where { is needed");
    header_refused(TYPE "\n",
                   "its header has \"'descr': '<f4'\" where { is needed");
    header_refused("{" ALL ", \n", "its header ends where a key is needed");
    header_refused("{" ALL "\n", "its header ends where } is needed");
    header_refused("{" TYPE " " ORDER "}\n",
                   "its header has \"" ORDER "}\" where } is needed");
    header_refused("{'descr' '<f4', }\n",
                   "its header has \"'<f4', }\" where : is needed");
    header_refused("{descr: 1}\n",
                   "its header has \"descr: 1}\" where a key is needed");
    header_refused("{" ALL ", } {}\n",
                   "its header has \"{}\" where its end is needed");
    header_refused("{" ORDER ", " SHAPE ", }\n",
                   "its header has no 'descr'");
    header_refused("{" TYPE ", " SHAPE ", }\n",
                   "its header has no 'fortran_order'");
    header_refused("{" TYPE ", " ORDER ", }\n",
                   "its header has no 'shape'");
    header_refused("{}\n", "its header has no 'descr'");
    header_refused("{" TYPE ", " ALL "}\n", "its header has 'descr' twice");
    header_refused("{" ALL ", 'shape': ()}\n",
                   "its header has 'shape' twice");
    header_refused("{" ALL ", " ORDER "}\n",
                   "its header has 'fortran_order' twice");
    header_refused("{" ALL ", 'name': 'x'}\n",
                   "its header has the key 'name': " KEYS);
    header_refused("{" ALL ", 'descr ': '<f4'}\n",
                   "its header has the key 'descr: " KEYS);
}

static void refuse_dtypes(void)
{
#define TYPES ": '<f4', '<f8' or '<i8' is needed"
    part_refused("descr", "'<f2'", "its dtype is '<f2'" TYPES);
    part_refused("descr", "'<i4'", "its dtype is '<i4'" TYPES);
    part_refused("descr", "'|O'", "its dtype is '|O'" TYPES);
    part_refused("descr", "'<f4", "its dtype is '<f4" TYPES);
    part_refused("descr", "'", "its dtype is '" TYPES);
    part_refused("descr", "'>f4'", "its dtype is '>f4', big-endian" TYPES);
    part_refused("descr", "'>f8'", "its dtype is '>f8', big-endian" TYPES);
    part_refused("descr", "[('x', '<f4'), ('y', '<f4')]",
                 "its header has "
                 "\"[('x', '<f4'), ('y', '<f\" where a dtype is needed");
}

static void refuse_orders(void)
{
    part_refused("fortran_order", "True",
                 "its entries are in Fortran order: C order is needed");
    part_refused("fortran_order", "0",
                 "its header has "
                 "\"0, 'shape': (2, 3), }\" where True or False is needed");
}

static void refuse_shapes(void)
{
#define HAS "its shape has the dimension "
#define RANGE ": 1 to 2147483647 is needed"
    part_refused("shape", "3", "its header has \"3, }\" where ( is needed");
    part_refused("shape", "(3)",
                 "its header has \"), }\" where , is needed");
    part_refused("shape", "(,)",
                 "its header has \",), }\" where a dimension is needed");
    part_refused("shape", "(2 3)",
                 "its header has \"3), }\" where , is needed");
    part_refused("shape", "(2, 3L)",
                 "its header has \"L), }\" where ) is needed");
    part_refused("shape", "(2, 3",
                 "its header has \"}\" where a dimension is needed");
    part_refused("shape", "(2, -3)", HAS "-3" RANGE);
    part_refused("shape", "(-, )", HAS "-" RANGE);
    part_refused("shape", "(0,)", HAS "0" RANGE);
    part_refused("shape", "(2, 03)", HAS "03" RANGE);
    part_refused("shape", "(2147483648,)", HAS "2147483648" RANGE);
    part_refused("shape", "(99999999999999999999999999999999,)",
                 HAS "999999999999999999999999" RANGE);
    part_refused("shape", "(1, 1, 1, 2, 3)", "has more than 4 dimensions");
    part_refused("shape", "(2147483647, 2147483647, 2147483647)",
                 "its shape has more entries than can be counted");
    part_refused("shape", "(2, 4)",
                 "has 24 bytes of data: 8 entries of 4 bytes need 32");
    part_refused("shape", "(5,)",
                 "has 24 bytes of data: 5 entries of 4 bytes need 20");
    part_refused("shape", "()",
                 "has 24 bytes of data: 1 entries of 4 bytes need 4");
    part_refused("shape", "(500000000,)",
                 "has 24 bytes of data: 500000000 "
                 "entries of 4 bytes need 2000000000");
}

static void read_missing(void)
{
    npy_read("missing.npy");
}

static void read_folder(void)
{
    npy_read(".");
}

/* ---- Entries asked for as what they are not. */

static void read_type(const char *type)
{
    rank = 0;
    begin_as_numpy(type);
    add_number(type[2] - '0', 0);
    write_file();
}

static void doubles_as_floats(void)
{
    Npy array = npy_read(path);
    npy_floats(&array);
}

static void integers_as_doubles(void)
{
    Npy array = npy_read(path);
    npy_doubles(&array);
}

static void floats_as_integers(void)
{
    Npy array = npy_read(path);
    npy_integers(&array);
}

/* ---- Every damage of one kind. */

static void leave(void)
{
    _exit(2);
}

/* Reads the file in another process, whose standard error is `error`. */
static int read_apart(FILE *error)
{
    pid_t child = fork();
    if (child < 0)
        REFUSE("no process can be started");
    if (child == 0) {
        dup2(fileno(error), STDERR_FILENO);
        /* Leave before a sanitizer looks for leaks: a refusal frees
         * nothing, and there are many thousands. */
        atexit(leave);
        read_it();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Either it is read and nothing said, or it is refused in one line. */
static void read_or_refused(const char *damage, size_t at, FILE *error)
{
    char what[64], said[1024] = "";
    int status = read_apart(error);
    rewind(error);
    said[fread(said, 1, sizeof said - 1, error)] = '\0';
    rewind(error);
    if (ftruncate(fileno(error), 0))
        REFUSE("a temporary file cannot be emptied");

    char *colon = strstr(said, "npy.c:"), *end = strchr(said, '\n');
    int after = 0;
    if (colon)
        sscanf(colon, "npy.c:%*d: array.npy: %n", &after);
    bool refusal = after > 0 && end > colon + after && !end[1];
    snprintf(what, sizeof what, "%s %zu", damage, at);
    tap_report(status == 0 ? !*said : status == 2 && refusal, what,
               "  status: %d\n  said: %s\n", status, said);
}

static void begin_small(void)
{
    begin("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n");
    add(8, "\0\0\x80?\0\0\0@");
    write_file();
}

static void each_truncation(void)
{
    FILE *error = tmpfile();
    begin_small();
    while (file_size-- > 0) {
        write_file();
        read_or_refused("first bytes alone:", file_size, error);
    }
    fclose(error);
}

enum { BYTES = 4 }; /* changed in one test, which has not forever */
static size_t first;

static void each_byte_changed(void)
{
    FILE *error = tmpfile(), *to;
    begin_small();
    to = fopen(path, "rb+");
    setbuf(to, NULL);
    for (size_t i = first; i < first + BYTES && i < file_size; i++)
        for (int change = 255; change >= 0; change--) {
            fseek(to, (long)i, SEEK_SET);
            fputc(file[i] ^ change, to);
            if (change)
                read_or_refused("byte", i, error);
        }
    fclose(to);
    fclose(error);
}

static void change_each_byte(void)
{
    begin_small();
    for (first = 0; first < file_size; first += BYTES) {
        char name[64];
        snprintf(name, sizeof name,
                 "npy_read: every change of a byte, %zu on", first);
        TAP_LARGE(each_byte_changed, name);
    }
}

static void make_folder(char name[4096])
{
    const char *where = getenv("TMPDIR");
    snprintf(name, 4096, "%s/npy-XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(name) || chdir(name))
        REFUSE("%s: no temporary folder can be made", name);
}

int main(void)
{
    char folder[4096];
    make_folder(folder);

    read_each_rank("float32", read_floats);
    read_each_rank("float64", read_doubles);
    read_each_rank("int64", read_integers);
    TAP(read_other_headers, "npy_read: other orders and blanks");
    TAP(read_longest_header, "npy_read: the longest header");

    tap_refuses(read_missing, "npy_read: refuses a missing file", "npy.c",
                "missing.npy: cannot be opened: No "
                "such file or directory");
    tap_refuses(read_folder, "npy_read: refuses a folder", "npy.c",
                ".: cannot be read: Is a directory");
    refuse_starts();
    refuse_headers();
    refuse_dtypes();
    refuse_orders();
    refuse_shapes();

    read_type("<f8");
    tap_refuses(doubles_as_floats, "npy_floats: refuses doubles", "npy.c",
                "array.npy: its entries are "
                "float64: float32 is needed");
    read_type("<i8");
    tap_refuses(integers_as_doubles, "npy_doubles: refuses integers",
                "npy.c",
                "array.npy: its entries are "
                "int64: float64 is needed");
    read_type("<f4");
    tap_refuses(floats_as_integers, "npy_integers: refuses floats", "npy.c",
                "array.npy: its entries are "
                "float32: int64 is needed");

    TAP(each_truncation, "npy_read: every truncation of a file");
    change_each_byte();

    if (remove(path) || chdir("/") || rmdir(folder))
        REFUSE("%s: cannot be removed", folder);
    return tap_done();
}
