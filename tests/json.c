/* A number from a file in JSON, whole files and damaged ones. */
#include "damaged.h"
#include "support/json.h"

static void begin(const char *text)
{
    file_size = 0;
    add(text, strlen(text));
    write_file();
}

/* Every kind of value around, and the name as a string. */
static void begin_whole(void)
{
    begin(" {\"deep\": {\"n\": [1, {\"n\": {}}, []]},\n"
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

#define ODD(words) "json_unexpected: file: its JSON has " words " is needed"
static const struct {
    const char *text, *words;
} wrong[] = {
    {"", "json_whole_number: file: has no 'n': a whole number is needed"},
    {"{}", "json_whole_number: file: has no 'n': a whole number is needed"},
    {"{\"N\":7, \"a\":\"n\"}",
     "json_whole_number: file: has no 'n': a whole number is needed"},
    {"{\"n\":7,\"n\":7}",
     "json_whole_number: file: has 'n' twice: once is needed"},
    {"{\"n\":", ODD("nothing at byte 5 where a whole number")},
    {"{\"n\":-7}", ODD("'-' at byte 5 where a whole number")},
    {"{\"n\":7.5}", ODD("'.' at byte 6 where ',' or '}'")},
    {"{\"n\":7", ODD("nothing at byte 6 where ',' or '}'")},
    {"{\"a\":\"\\\"n\":7\"}",
     "json_whole_number: file: has no 'n': a whole number is needed"},
    {"{\"n\":07}", ODD("'0' at byte 5 where a whole number")},
    {"{\"n\":\x1f", ODD("0x1f at byte 5 where a whole number")},
    {"{\"n\":2147483648}", "json_integer: file: its JSON has a number "
                           "above 2147483647 at byte 5"},
};

static void refuse_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(wrong[i].text);
        REFUSES(tap_words("json.c: %s", wrong[i].words),
                json_whole_number(path, "n"));
    }
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
    refuse_files();
    each_damage("json_whole_number", begin_whole, read_n_head);
    leave_folder();
    return tap_done();
}
