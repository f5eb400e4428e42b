/* Chapter 21's two models, of repeated texts and of sentences, trained as
 * the chapter trains them and written in numbers of 16 bits. */
#define main chapter_main
#include "../../chapters/21_training.c"
#undef main
#include "attention/gpt_file.h"

static int train_words(int argc, char *argv[])
{
    const int way[2] = {0, VERBS};
    if (argc != 3)
        REFUSE("%d arguments: REPEATED and VERBS are needed", argc - 1);
    for (int k = 0; k < 2; k++) {
        Random r;
        Training t;
        float losses[POINTS];
        begin_training(way[k], &r, &t);
        run_steps(way[k], &r, &t, "losses of step 1, 20, 40, 60, 80, 100",
                  losses);
        model_save_half(&t.model, argv[1 + k]);
        training_free(&t);
    }
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(train_words, argc, argv);
}
