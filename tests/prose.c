/* The book's own words, and other texts. */
#include "damaged.h"
#include "attention/prose.h"

#include <sys/stat.h>

static void test_prose(void)
{
    expect_equal("the prose", prose()->length,
                 (double)strlen(prose()->bytes));
    expect_equal("held out", held_out()->length,
                 (double)strlen(held_out()->bytes));
    expect_true("read once",
                prose() == prose() && held_out() == held_out());
    expect_true("a tenth is held out",
                prose()->length > 5 * held_out()->length);
    expect_true("another text", !strstr(prose()->bytes, held_out()->bytes));
}

static void begin(const char *text)
{
    file_size = 0;
    add(text, strlen(text));
    write_file();
}

static void test_read(void)
{
    begin("two\nlines\x7f");
    PlainText t = plain_text_read(path, 10);
    expect_equal("bytes", t.length, 10);
    expect_true("the text", !strcmp(t.bytes, "two\nlines\x7f"));
    plain_text_free(&t);
    plain_text_free(&t);
    expect_true("nothing is left", !t.bytes && !t.length);
}

/* Folders below the one that is left at the end, with a file of so many
 * bytes each. */
static void write_data(int prose_bytes, int held_out_bytes)
{
    const char *const name[2] = {"src/data/prose.txt",
                                 "src/data/held_out.txt"};
    for (int k = 0; k < 2; k++) {
        FILE *to = fopen(name[k], "wb");
        if (!to)
            REFUSE("%s: cannot be written", name[k]);
        fprintf(to, "%*s", k ? held_out_bytes : prose_bytes, "");
        fclose(to);
    }
}

static void refuse_short(void)
{
    if (mkdir("src", 0700) || mkdir("src/data", 0700))
        REFUSE("%s: no folder can be made there", folder);
    REFUSES("file.c: file_open: src/data/held_out.txt: cannot be read: No "
            "such file or directory",
            held_out());
    write_data(30000, 19999);
    REFUSES("prose.c: plain_text_read: src/data/held_out.txt: has 19999 "
            "bytes; it must have from 20000 to 2147483647",
            held_out());
    write_data(30000, 30001);
    REFUSES(
        "prose.c: plain_text_read: src/data/prose.txt: has 30000 bytes; "
        "it must have from 30001 to 2147483647",
        prose());
    if (remove("src/data/prose.txt") || remove("src/data/held_out.txt") ||
        rmdir("src/data") || rmdir("src"))
        REFUSE("%s: cannot be emptied", folder);
}

int main(void)
{
    TAP("prose: two texts", test_prose());
    TAP("held_out: is not in the prose", test_prose());
    enter_folder();
    TAP("plain_text_read: a file", test_read());
    TAP("plain_text_free: twice", test_read());
    begin("a\nb\xc3\xa4");
    REFUSES("prose.c: plain_text_read: file:2: here is the byte 0xc3; the "
            "text must be ASCII",
            plain_text_read(path, 0));
    begin("\xff"
          "a");
    REFUSES("prose.c: plain_text_read: file:1: here is the byte 0xff; the "
            "text must be ASCII",
            plain_text_read(path, 0));
    begin("a\x80");
    REFUSES("prose.c: plain_text_read: file:1: here is the byte 0x80; the "
            "text must be ASCII",
            plain_text_read(path, 0));
    begin("a");
    REFUSES(
        "prose.c: plain_text_read: file: has 1 bytes; it must have from "
        "2 to 2147483647",
        plain_text_read(path, 2));
    refuse_short();
    leave_folder();
    return tap_done();
}
