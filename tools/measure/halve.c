#include "attention.h"

/* Writes a model of GPT-2's layout again, in numbers of 16 bits. */
static int halve(int argc, char *argv[])
{
    if (argc != 3)
        REFUSE("%d arguments: MODEL and HALVED are needed", argc - 1);
    Gpt g;
    gpt_load(&g, argv[1]);
    gpt_save_half(&g, argv[2]);
    gpt_free(&g);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(halve, argc, argv);
}
