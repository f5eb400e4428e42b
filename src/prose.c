#include "attention/prose.h"
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
