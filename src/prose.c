#include "attention/prose.h"
#include "attention/21_training.h"
#include "support.h"
#include "support/file.h"

PlainText plain_text(const char *path, int least)
{
    size_t size;
    char *text = file_text(path, &size);
    int line = 1;
    for (size_t i = 0; i < size; i++) {
        const int byte = (unsigned char)text[i];
        if (byte == 0 || byte > 127)
            REFUSE("%s:%d: here is the byte 0x%02x; the text must be ASCII",
                   path, line, (unsigned)byte);
        line += byte == '\n';
    }
    if (size < (size_t)least || size > INT_MAX)
        REFUSE("%s: has %zu bytes; it must have from %d to %d", path, size,
               least, INT_MAX);
    return (PlainText){(int)size, text};
}

const PlainText *held_out(void)
{
    static PlainText text;
    if (!text.bytes)
        text = plain_text("src/data/held_out.txt", 20000);
    return &text;
}

const PlainText *prose(void)
{
    static PlainText text;
    if (!text.bytes)
        text = plain_text("src/data/prose.txt", held_out()->length);
    return &text;
}

void draw_twice(Random *r, int vocabulary, const PlainText *source,
                int texts, int n, int ids[texts][n])
{
    const int half = n / 2;
    if (texts < 1 || n < 6 || n % 2)
        REFUSE("%d texts of %d tokens: at least 1, and an even number from "
               "6 on, are needed",
               texts, n);
    if (source && half > source->length)
        REFUSE("texts of %d tokens: at most %d, twice the source, are "
               "needed",
               n, 2 * source->length);
    for (int t = 0; t < texts; t++) {
        const int from =
            source ? random_below(r, source->length - half + 1) : 0;
        for (int i = 0; i < half; i++)
            ids[t][i] = ids[t][i + half] =
                source ? source->bytes[from + i]
                       : random_below(r, vocabulary);
    }
}
