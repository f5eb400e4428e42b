/* A number from a file in JSON, whole files and damaged ones. */
#include "damaged.h"
#include "support/json.h"

static void begin(const char *text)
{
    file_size = 0;
    add(text, strlen(text));
    write_file();
}

/* Every kind of value around, and the same name further inside. */
static void begin_whole(void)
{
    begin(" {\"deep\": {\"n_head\": [1, {\"n_head\": {}}, []]},\n"
          "\t\"n_layer\":12 , \"\":\"n_head\", \"n_he\\u0061d\": -1.5e+3,"
          "\"a\": [true, [false], null, \"\\\"]\"], \"b\":NaN,\r\n"
          "\"n_head\" : 3, \"most\": 2147483647, \"none\":0}\n ");
}

static void read_whole(void)
{
    begin_whole();
    tap_near("n_head", json_whole_number(path, "n_head"), 3, 0, 0);
    tap_near("n_layer", json_whole_number(path, "n_layer"), 12, 0, 0);
    tap_near("most", json_whole_number(path, "most"), INT_MAX, 0, 0);
    tap_near("none", json_whole_number(path, "none"), 0, 0, 0);
}

/* A hundred brackets are read, and what a page of settings has. */
static void read_deep(void)
{
    static char text[300], open[101], closed[101];
    memset(open, '[', 100);
    memset(closed, ']', 100);
    snprintf(text, sizeof text, "{\"a\":%s%s,\"n\":7}", open, closed);
    begin(text);
    tap_near("n", json_whole_number(path, "n"), 7, 0, 0);
}

#define ODD(words) "json_unexpected: file: its JSON has " words " is needed"
static const struct {
    const char *text, *words;
} wrong[] = {
    {"", ODD("nothing at byte 0 where '{'")},
    {"[\"n\", 7]", ODD("'[' at byte 0 where '{'")},
    {"{\"n\":7", ODD("nothing at byte 6 where ','")},
    {"{\"n\":7}}", ODD("'}' at byte 7 where its end")},
    {"{\"n\":7,}", ODD("'}' at byte 7 where '\"'")},
    {"{n:7}", ODD("'n' at byte 1 where '\"'")},
    {"{\"n\" 7}", ODD("'7' at byte 5 where ':'")},
    {"{\"a\":,\"n\":7}", ODD("',' at byte 5 where a value")},
    {"{\"a\":[,],\"n\":7}", ODD("',' at byte 6 where a value")},
    {"{\"a\":[1 2],\"n\":7}", ODD("'2' at byte 8 where ','")},
    {"{\"a\":[{]}],\"n\":7}", ODD("']' at byte 7 where '\"'")},
    {"{\"a\":\"\n\",\"n\":7}", ODD("0x0a at byte 6 where '\"'")},
    {"{\"n\":-7}", ODD("'-' at byte 5 where a whole number")},
    {"{\"n\":\"7\"}", ODD("'\"' at byte 5 where a whole number")},
    {"{\"n\":null}", ODD("'n' at byte 5 where a whole number")},
    {"{\"n\":7.0}", ODD("'.' at byte 6 where ','")},
    {"{\"n\":07}", ODD("'0' at byte 5 where a whole number")},
    {"{\"n\":2147483648}",
     "json_size: file: its JSON has a number above 2147483647 at byte 5"},
    {"{\"n\":7,\"n\":7}", "json_whole_number: file: has 'n' twice"},
    {"{}", "json_whole_number: file: has no 'n'"},
    {"{\"N\":7,\"a\":{\"n\":7}}", "json_whole_number: file: has no 'n'"},
};

static void refuse_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(wrong[i].text);
        REFUSES(tap_words("json.c: %s", wrong[i].words),
                json_whole_number(path, "n"));
    }
    begin("{\"a\0\":1}");
    file_size = sizeof "{\"a\0\":1}" - 1; /* all of it */
    memcpy(file, "{\"a\0\":1}", file_size);
    write_file();
    REFUSES("json.c: " ODD("0x00 at byte 3 where '\"'"),
            json_whole_number(path, "n"));
    static char text[200] = "{\"a\":";
    memset(text + 5, '[', 150);
    begin(text);
    REFUSES("json.c: skip: file: its JSON has more than 100 brackets in "
            "each other at byte 106",
            json_whole_number(path, "n"));
    REFUSES("file.c: file_open: gone: cannot be read: No such file or "
            "directory",
            json_whole_number("gone", "n"));
    REFUSES("file.c: file_open: .: cannot be read: Is a directory",
            json_whole_number(".", "n"));
}

static void read_n_head(void)
{
    json_whole_number(path, "n_head");
}

int main(void)
{
    enter_folder();
    TAP(read_whole, "json_whole_number: among all that JSON has");
    TAP(read_deep, "json_whole_number: brackets in each other");
    refuse_files();
    each_damage("json_whole_number", begin_whole, read_n_head);
    leave_folder();
    return tap_done();
}
