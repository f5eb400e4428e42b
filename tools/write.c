#include "attention.h"

/* A model of bytes, as `make train` leaves it, continues a text. */

static int continue_text(int argc, char *argv[])
{
    Gpt g;
    if (argc != 4)
        REFUSE("%d arguments: MODEL, TEXT and BYTES are needed", argc - 1);
    gpt_load(&g, argv[1]);
    if (g.vocabulary != 128)
        REFUSE("%s: a vocabulary of %d: one of 128 bytes is needed",
               argv[1], g.vocabulary);
    const int n = (int)strlen(argv[2]) +
                  (int)parse_integer("BYTES", argv[3], 1, 1 << 20);
    char *text = new_list((size_t)n + 1, 1);
    gpt_sample(&g, argv[2], n, text);
    for (char *c = text; *c; c++)
        putchar(*c == '|' ? '\n' : *c);
    puts("");
    free(text);
    gpt_free(&g);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(continue_text, argc, argv);
}
