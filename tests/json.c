/* A number from a file in JSON, whole files and damaged ones. */
#include "damaged.h"
#include "support/json.h"

static int whole_number(const char *from, const char *name)
{
    const char *value;
    char *text = json_values(from, 1, &name, &value);
    const int number = json_whole_number(from, name, value);
    free(text);
    return number;
}

/* Every kind of value around, the name as a string, and in inner braces. */
static void begin_whole(void)
{
    write_text(
        " {\"deep\": {\"n_head\": 99, \"n\": [1, {\"n\": {}}, []]},\n"
        "\t\"n_layer\":12 , \"\":\"n_head\", \"n_he\\u0061d\": "
        "-1.5e+3,\"a\": [true, [false], null, \"\\\"]\"], \"b\":NaN,\r\n"
        "\"c\":-Infinity,\"d\":[{\"n_head\":7}],\"e\":0.25E-2,\"f\":[0,-0],"
        "\"n_head\" : 3, \"most\": 2147483647, \"none\":0}\n ");
}

static void read_whole(void)
{
    begin_whole();
    expect_equal("n_head", whole_number(path, "n_head"), 3);
    expect_equal("n_layer", whole_number(path, "n_layer"), 12);
    expect_equal("most", whole_number(path, "most"), INT_MAX);
    expect_equal("none", whole_number(path, "none"), 0);
}

#define ODD(words) "file: its JSON has " words " is needed"
#define NONE "file: has no 'n': a whole number is needed"
#define OTHER(value)                                                       \
    "file: n is " value "; it must be a whole number from 0 to 2147483647"
#define FIFTY(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x)
#define TEN(x) x x x x x x x x x x
static const struct {
    const char *text, *words;
} wrong[] = {
    {"", ODD("nothing at byte 0 where '{'")},
    {"7", ODD("'7' at byte 0 where '{'")},
    {"{}", NONE},
    {"{\"N\":7, \"a\":\"n\"}", NONE},
    {"{\"a\":{\"n\":7}, \"b\":[{\"n\":7}]}", NONE},
    {"{\"n\":7,\"n\":7}", "file: has 'n' twice"},
    {"{\"n\":", ODD("nothing at byte 5 where a value")},
    {"{\"n\":7}}", ODD("'}' at byte 7 where its end")},
    {"{\"n\":7,}", ODD("'}' at byte 7 where '\"'")},
    {"{\"n\":7", ODD("nothing at byte 6 where ',' or '}'")},
    {"{\"a\":\"\\\"n\":7\"}", ODD("':' at byte 10 where ',' or '}'")},
    {"{\"n\":07}", ODD("'7' at byte 6 where ',' or '}'")},
    {"{\"n\":\x1f", ODD("0x1f at byte 5 where a value")},
    {"{\"n\":7.}", ODD("'}' at byte 7 where a digit")},
    {"{\"n\":7e+}", ODD("'}' at byte 8 where a digit")},
    {"{\"a\":-.5}", ODD("'.' at byte 6 where a digit")},
    {"{\"a\":[1 2]}", ODD("'2' at byte 8 where ',' or ']'")},
    {"{\"a\":[1,]}", ODD("']' at byte 8 where a value")},
    {"{\"a\":nul}", ODD("'n' at byte 5 where a value")},
    {"{\"a\tb\"", ODD("0x09 at byte 3 where '\"'")},
    {"{\"a\\x\"", ODD("'x' at byte 4 where an escape")},
    {"{\"a\\u123\"", ODD("'u' at byte 4 where an escape")},
    {"{\"\\u00", ODD("'u' at byte 3 where an escape")},
    {"{\"\xe0\x9f\xbf\"", ODD("0xe0 at byte 2 where UTF-8")},
    {"{\"\xf0\x8f\xbf\xbf\"", ODD("0xf0 at byte 2 where UTF-8")},
    {"{\"\xf4\x90\x80\x80\"", ODD("0xf4 at byte 2 where UTF-8")},
    {"{\"\xe2\x82\"", ODD("0xe2 at byte 2 where UTF-8")},
    {"{\"n\":-7}", OTHER("-7")},
    {"{\"n\":7.5}", OTHER("7.5")},
    {"{\"n\" : \"7\" }", OTHER("\"7\"")},
    {"{\"n\":null,\"a\":1}", OTHER("null")},
    {"{\"n\":[7]}", OTHER("[...]")},
    {"{\"n\":{\"n\":7}}", OTHER("{...}")},
    {"{\"n\":2147483648}", OTHER("2147483648")},
    {"{\"n\":99999999999999999999}", OTHER("99999999999999999999")},
    {"{\"n\":" FIFTY("[{\"a\":") "7" FIFTY("}]") "}", OTHER("[...]")},
    {"{\"n\":" FIFTY("[{\"a\":") "[7]" FIFTY("}]") "}",
     "file: its JSON is nested 101 deep at byte 305; at most 100 are read"},
};

static void refuse_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_text(wrong[i].text);
        REFUSES(wrong[i].words, whole_number(path, "n"));
    }
    REFUSES("gone: cannot be read: No such file or directory",
            whole_number("gone", "n"));
    REFUSES(".: cannot be read: Is a directory", whole_number(".", "n"));
}

/* ---- Strings with escapes. */

/* The file's one string, until the next one is read. */
static char *unescaped(void)
{
    static char *text;
    Json j = json_read(path);
    free(text);
    text = j.text;
    char *string = json_unescape(&j, json_string(&j));
    json_end(&j);
    return string;
}

#define LINES "\"\\\"\\\\\\/\\b\\f\\n\\r\\t"
static const struct {
    const char *text, *due;
} escape[] = {
    {"\"\"", ""},
    {"\"a\303\251\"", "a\303\251"},
    {LINES "\"", "\"\\/\b\f\n\r\t"},
    {"\"\\u0041\\u007f\\u0080\"", "A\177\302\200"},
    {"\"x\\u07ff\\u0800y\\uFFFF\"", "x\337\277\340\240\200y\357\277\277"},
    {"\"\\ud800\\udc00\\uDBFF\\uDFFF\"",
     "\360\220\200\200\364\217\277\277"},
    {"\"\\ud83d\\ude00\\ud7ff\\ue000\"",
     "\360\237\230\200\355\237\277\356\200\200"},
};

static const struct {
    const char *text, *words;
} no_escape[] = {
    {"\"\\u0000\"", "\\u0000"},         {"\"\\ud83d\"", "\\ud83d"},
    {"\"\\ud83dx\\ude00\"", "\\ud83d"}, {"\"\\udbff\\ud800\"", "\\udbff"},
    {"\"\\ud800\\ue000\"", "\\ud800"},  {"\"\\ude00\\ud83d\"", "\\ude00"},
    {"\"\\udfff\"", "\\udfff"},
};

static void read_escapes(void)
{
    for (size_t i = 0; i < sizeof escape / sizeof *escape; i++) {
        write_text(escape[i].text);
        const char *got = unescaped();
        expect(!strcmp(got, escape[i].due), escape[i].text, "is '%s'", got);
    }
}

static void refuse_escapes(void)
{
    for (size_t i = 0; i < sizeof no_escape / sizeof *no_escape; i++) {
        write_text(no_escape[i].text);
        TAP_REFUSES("json_unescape", no_escape[i].text,
                    tap_words("file: its JSON has %s where a character is "
                              "needed",
                              no_escape[i].words),
                    unescaped());
    }
}

/* ---- Lists of values. */

static void read_list(void)
{
    char *end;
    write_text("[ 1 ,{\"a\":[]} , [2,[]],\"b\" ,-3.5e2]");
    static const char *const due[] = {"1", "{...}", "[...]", "\"b\"",
                                      "-3.5e2"};
    Json j = json_read(path);
    int n = 0;
    for (; json_item(&j, n); n++) {
        const char *value = json_value(&j, &end);
        const size_t length = strlen(due[n]);
        expect(!strncmp(value, due[n], length) &&
                   (strchr("{[", *value) || end == value + length),
               due[n], "is '%s'", value);
    }
    expect_integer("items", n, 5);
    json_end(&j);
    free(j.text);
    write_text("[]");
    j = json_read(path);
    expect_true("no items", !json_item(&j, 0));
    free(j.text);
}

static void read_n_head(void)
{
    whole_number(path, "n_head");
}

int main(void)
{
    enter_folder();
    TAP("among all that JSON has", read_whole());
    refuse_files();
    TAP("json_unescape: characters for escapes", read_escapes());
    refuse_escapes();
    TAP("json_item: values of each kind", read_list());
    DAMAGES("json_whole_number", begin_whole(), read_n_head);
    leave_folder();
    return tap_done();
}
