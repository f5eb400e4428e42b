/* What reads and prints text shares, and no chapter uses. */
#pragma once

/* How many bytes the character that begins there has in UTF-8; 0 if none
 * does. It looks at no byte after a 0. */
static inline int utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const int length = c[0] < 0x80   ? 1
                       : c[0] < 0xc2 ? 0
                       : c[0] < 0xe0 ? 2
                       : c[0] < 0xf0 ? 3
                       : c[0] < 0xf5 ? 4
                                     : 0;
    for (int k = 1; k < length; k++)
        if ((c[k] & 0xc0) != 0x80)
            return 0;
    /* Neither more bytes than needed, nor half of a surrogate pair, nor
     * beyond the last character. */
    const int is_wrong =
        (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f);
    return is_wrong ? 0 : length;
}

/* The character of so many bytes in UTF-8 that begins there. */
static inline unsigned utf8_character(const char *text, int length)
{
    unsigned c =
        (unsigned char)*text & (length > 1 ? 0x7f >> length : 0x7f);
    for (int k = 1; k < length; k++)
        c = c << 6 | ((unsigned char)text[k] & 0x3f);
    return c;
}

/* Writes a character in UTF-8, and returns of how many bytes. */
static inline int utf8_write(unsigned c, char to[4])
{
    const int length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int k = length - 1; k > 0; k--, c >>= 6)
        to[k] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[length] | c);
    return length;
}
