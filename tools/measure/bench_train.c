/* Chapter 23's long run for tools/measure/bench-train, which has its own beside it:
 * writes the model that it begins with, says how many texts of how many
 * tokens a batch has, and how many threads work on it; then it takes a
 * batch for each b on standard input, and for each s a step with it. */
#include "attention.h"

/* To b the batch, ids and targets as int32; to s the loss, and the rate of
 * the step. */
static void answer(GptTraining *t)
{
    const size_t rows = (size_t)t->texts * (size_t)t->model.context_length;
    int *ids = new_aligned(2 * rows, sizeof *ids);
    for (int what; (what = getchar()) != EOF;) {
        if (what == 'b') {
            gpt_training_batch(t, ids, ids + rows);
            fwrite(ids, sizeof *ids, 2 * rows, stdout);
        } else if (what == 's') {
            t->adam.learning_rate =
                rate_at(t->step, t->steps / 10, t->steps, 4e-3, 4e-4);
            const float loss = gpt_training_step(t, ids, ids + rows);
            printf("%.9g %.17g\n", (double)loss, t->adam.learning_rate);
        }
        fflush(stdout);
    }
    free(ids);
}

static int bench_train(int argc, char *argv[])
{
    if (argc != 2)
        REFUSE("%d arguments: 1, the model's file, is needed", argc - 1);
    GptTraining t;
    gpt_training_init_prose(&t, &gpt_long_run);
    gpt_save(&t.model, argv[1]);
    printf("%d %d %d\n", t.texts, t.model.context_length,
           threads_for(1 << 20, 0));
    fflush(stdout);
    answer(&t);
    gpt_training_free(&t);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(bench_train, argc, argv);
}
