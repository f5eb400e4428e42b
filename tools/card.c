/* The picture that other sites show beside a link to the book:
 *
 *     build/tools/card build/card.png
 *
 * The shares that each word of "Your journey starts with one step" gives to
 * itself and to those before it, as a triangle of squares. It is a PNG, as
 * such sites show no SVG, and in the size that they ask for; so its colours
 * are those of the book's light pages. */
#include "attention.h"

enum { WIDTH = 1200, HEIGHT = 630, WORDS = 6, SIDE = 80, GAP = 10 };

/* ---- A PNG: chunks of a length, a name, data, and a sum for checking */

typedef struct {
    FILE *file;
    uint32_t sum; /* of the chunk so far */
} Png;

static void put_byte(Png *p, unsigned byte)
{
    fputc((int)(byte & 255), p->file);
    p->sum ^= byte & 255;
    for (int k = 0; k < 8; k++)
        p->sum = p->sum >> 1 ^ (p->sum & 1 ? 0xedb88320 : 0);
}

static void put_number(Png *p, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        put_byte(p, number >> shift);
}

static void open_chunk(Png *p, const char *name, uint32_t size)
{
    put_number(p, size);
    p->sum = 0xffffffff;
    for (; *name; name++)
        put_byte(p, (unsigned char)*name);
}

static void close_chunk(Png *p)
{
    put_number(p, ~p->sum);
}

/* ---- Its data, as "deflate" has them: with the codes that are fixed, and
 * of repetitions only those of the byte before, which the rows of a picture
 * of squares mostly are. */

typedef struct {
    unsigned char *byte;
    uint32_t count, bits;
    int n_bits; /* that wait for a whole byte */
} Deflate;

static void put_bits(Deflate *d, uint32_t value, int n)
{
    d->bits |= value << d->n_bits;
    for (d->n_bits += n; d->n_bits >= 8; d->n_bits -= 8, d->bits >>= 8)
        d->byte[d->count++] = (unsigned char)(d->bits & 255);
}

/* Codes begin with their highest bit, and bytes with their lowest. */
static void put_code(Deflate *d, uint32_t code, int n)
{
    while (n-- > 0)
        put_bits(d, code >> n & 1, 1);
}

static void put_symbol(Deflate *d, uint32_t s)
{
    if (s < 144)
        put_code(d, 0x30 + s, 8);
    else if (s < 256)
        put_code(d, 0x190 + s - 144, 9);
    else if (s < 280)
        put_code(d, s - 256, 7);
    else
        put_code(d, 0xc0 + s - 280, 8);
}

static void put_run(Deflate *d, unsigned byte, int times)
{
    /* The symbols of some lengths, and the bits of 0 that belong to each. */
    static const struct {
        int length;
        uint32_t symbol;
        int zeros;
    } again[] = {{258, 285, 0}, {131, 281, 5}, {67, 277, 4}, {35, 273, 3},
                 {19, 269, 2},  {11, 265, 1},  {3, 257, 0}};
    put_symbol(d, byte);
    times--;
    for (size_t k = 0; k < sizeof again / sizeof *again; k++)
        for (; times >= again[k].length; times -= again[k].length) {
            put_symbol(d, again[k].symbol);
            put_bits(d, 0, again[k].zeros);
            put_code(d, 0, 5); /* from one byte before */
        }
    while (times-- > 0)
        put_symbol(d, byte);
}

static void deflate(Deflate *d, int n, const unsigned char byte[n])
{
    uint32_t a = 1, b = 0;
    put_bits(d, 0x0178, 16); /* "deflate" follows, */
    put_bits(d, 1, 1);       /* one block, the last, */
    put_bits(d, 1, 2);       /* with the fixed codes */
    for (int i = 0, j; i < n; i = j) {
        for (j = i; j < n && byte[j] == byte[i]; j++) {
            a = (a + byte[j]) % 65521;
            b = (b + a) % 65521;
        }
        put_run(d, byte[i], j - i);
    }
    put_symbol(d, 256);
    put_bits(d, 0, 7); /* to the end of a byte */
    d->n_bits = 0;
    d->bits = 0;
    for (int shift = 24; shift >= 0; shift -= 8)
        put_bits(d, (b << 16 | a) >> shift & 255, 8);
}

/* ---- The picture: a palette from paper to ink, a byte a pixel */

/* What leads a row says how its bytes are to be read. */
typedef unsigned char Picture[HEIGHT][1 + WIDTH];

static void square(Picture pixel, int left, int top, float shade)
{
    enum { ROUND = 10 };
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int in_x = x < ROUND ? ROUND - x : x - SIDE + 1 + ROUND;
            const int in_y = y < ROUND ? ROUND - y : y - SIDE + 1 + ROUND;
            const double far = hypot(fmax(0, in_x), fmax(0, in_y));
            const double covered = fmin(1, fmax(0, ROUND + 0.5 - far));
            pixel[top + y][1 + left + x] =
                (unsigned char)lround(255 * (double)shade * covered);
        }
}

static void draw(Picture pixel)
{
    enum { ALL = WORDS * SIDE + (WORDS - 1) * GAP };
    float scores[WORDS][WORDS], weights[WORDS][WORDS];
    dot_scores(WORDS, WORDS, 3, journey, journey, scores);
    mask_scores(WORDS, WORDS, 0, scores);
    softmax_rows(WORDS, WORDS, scores, weights);
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j <= i; j++)
            square(pixel, (WIDTH - ALL) / 2 + j * (SIDE + GAP),
                   (HEIGHT - ALL) / 2 + i * (SIDE + GAP),
                   0.1f + 0.9f * weights[i][j]);
}

/* In the place of each byte its difference to the one above, mostly 0. */
static void take_differences(Picture pixel)
{
    for (int y = HEIGHT - 1; y >= 0; y--) {
        for (int x = 1; x <= WIDTH && y > 0; x++)
            pixel[y][x] = (unsigned char)(pixel[y][x] - pixel[y - 1][x]);
        pixel[y][0] = 2;
    }
}

static void put_palette(Png *p)
{
    static const double paper[3] = {255, 253, 249}, ink[3] = {29, 90, 156};
    open_chunk(p, "PLTE", 3 * 256);
    for (int k = 0; k < 256; k++)
        for (int c = 0; c < 3; c++)
            put_byte(p, (unsigned)lround(paper[c] +
                                         k / 255. * (ink[c] - paper[c])));
    close_chunk(p);
}

static void put_picture(Png *p, Picture pixel)
{
    /* No byte takes more than nine bits. */
    Deflate d = {malloc(sizeof(Picture) / 8 * 9 + 100), 0, 0, 0};
    if (!d.byte)
        REFUSE("no memory for a picture of %zu bytes", sizeof(Picture));
    deflate(&d, (int)sizeof(Picture), pixel[0]);
    open_chunk(p, "IDAT", d.count);
    for (uint32_t i = 0; i < d.count; i++)
        put_byte(p, d.byte[i]);
    close_chunk(p);
    free(d.byte);
}

int main(int argc, char **argv)
{
    static const unsigned char first[] = "\x89PNG\r\n\x1a\n";
    static const unsigned char form[] = {8, 3, 0, 0, 0}; /* bits, palette */
    static Picture pixel;
    Png p = {0};
    if (argc != 2)
        REFUSE("%d arguments: one is needed, the file to be written",
               argc - 1);
    p.file = fopen(argv[1], "wb");
    if (!p.file)
        REFUSE("%s cannot be written: %s", argv[1], strerror(errno));
    for (int i = 0; i < 8; i++)
        put_byte(&p, first[i]);
    open_chunk(&p, "IHDR", 13);
    put_number(&p, WIDTH);
    put_number(&p, HEIGHT);
    for (int i = 0; i < 5; i++)
        put_byte(&p, form[i]);
    close_chunk(&p);
    put_palette(&p);
    draw(pixel);
    take_differences(pixel);
    put_picture(&p, pixel);
    open_chunk(&p, "IEND", 0);
    close_chunk(&p);
    if (ferror(p.file) | fclose(p.file))
        REFUSE("%s cannot be written whole", argv[1]);
    return 0;
}
