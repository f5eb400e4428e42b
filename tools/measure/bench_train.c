/* Chapter 23's long run for tools/measure/bench-train, which has the same
 * model in PyTorch beside it. */
#include "attention.h"

static GptTraining t;

/* Begins the run, and writes its model; size is how many texts of how many
 * tokens a batch has, and how many threads work on it. */
void bench_train_begin(const char *path, int size[3])
{
    gpt_training_init_prose(&t, &gpt_long_run);
    gpt_save(&t.model, path);
    size[0] = t.texts;
    size[1] = t.model.context_length;
    size[2] = threads_for(1 << 20, 0);
}

void bench_train_batch(int *ids, int *targets)
{
    gpt_training_batch(&t, ids, targets);
}

/* The loss of the batch, and the rate of the step. */
float bench_train_step(const int *ids, const int *targets, double *rate)
{
    *rate = rate_at(t.step, t.steps / 10, t.steps, 4e-3, 4e-4);
    t.adam.learning_rate = *rate;
    return gpt_training_step(&t, ids, targets);
}
