/* src/gpt_training.c: a training and its parts, and what is refused. */
#include "gpts.h"
#include "attention/20_optimizers.h"

/* A step with the next batch. */
static void learn(GptTraining *t, int ids[24], int targets[24])
{
    gpt_training_batch(t, ids, targets);
    gpt_training_step(t, ids, targets);
}

/* Dropout changes what is learned, and not what is read. */
static void same_passages_test(void)
{
    GptTraining t[2] = {small(3), small(3)};
    const size_t size = t->model.count * sizeof(float);
    int ids[2][24], targets[2][24];
    t[1].dropout = 0.2;
    for (int i = 0; i < 4; i++)
        learn(&t[i % 2], ids[i % 2], targets[i % 2]);
    expect_true("the same passages", !memcmp(ids[0], ids[1], sizeof *ids));
    expect_true("other steps",
                memcmp(t[0].model.memory, t[1].model.memory, size));
    gpt_training_free(&t[0]);
    gpt_training_free(&t[1]);
}

/* Each part gives what its own texts give, and all of them what one part of
 * the whole batch gives; a second time, nothing is left of the first. */
static void expect_parts(int texts)
{
    GptTraining t = small(texts);
    int ids[48], targets[48];
    const Gpt *g = &t.model;
    const size_t shares = (size_t)(texts * 8 * g->vocabulary);
    GptTraining all = {.model = *g, .shares = {guarded("shares", shares)}};
    gpt_pass_init(all.pass, g, texts, 8);
    gpt_pass_init(all.grad_pass, g, texts, 8);
    gpt_init(all.gradient, g);
    gpt_training_batch(&t, ids, targets);
    next_case();
    given("%d texts in %d parts", texts, t.parts);
    expect_equal("parts", t.parts, texts == 6 ? 3 : texts);
    const float loss = gpt_training_gradient(&t, ids, targets);
    for (int twice = 0; twice < 2; twice++) {
        expect_near("loss", loss, gpt_part_gradient(&all, 0, ids, targets),
                    1e-6, 0);
        expect_list("gradient", (int)g->count, t.gradient->memory,
                    all.gradient->memory, 1e-5, 1e-6);
    }
    gpt_pass_free(all.pass);
    gpt_pass_free(all.grad_pass);
    gpt_free(all.gradient);
    gpt_training_free(&t);
}

/* Two texts at a time, against one. */
static void loss_test(void)
{
    GptTraining t = small(3);
    const Gpt *g = &t.model;
    GptPass one, two;
    gpt_pass_init(&one, g, 1, 8);
    gpt_pass_init(&two, g, 2, 8);
    float shares[16 * 128];
    int ids[24], targets[24];
    learn(&t, ids, targets);
    const float by_one = gpt_loss(g, reading, 33, &one, shares);
    expect_near("loss", gpt_loss(g, reading, 33, &two, shares), by_one,
                1e-6, 0);
    expect_true("of some knowledge", fabs(by_one - log(128)) > 1e-4);
    expect_equal("of what is whole", gpt_loss(g, reading, 24, &one, shares),
                 gpt_loss(g, reading, 17, &one, shares));
    gpt_pass_free(&one);
    gpt_pass_free(&two);
    gpt_training_free(&t);
}

/* A batch of a training on such a text. */
static void batch_of(int texts, int bytes, const char *text, double dropout)
{
    GptTraining t = {.model = small_sizes,
                     .texts = texts,
                     .bytes = bytes,
                     .text = text,
                     .dropout = dropout};
    gpt_training_init(&t, &t);
    int ids[8], targets[8];
    gpt_training_batch(&t, ids, targets);
    for (int i = 0; i < 8; i++) {
        expect_equal("id", ids[i], text[i]);
        expect_equal("target", targets[i], text[i + 1]);
    }
    gpt_training_free(&t);
}

/* ---- What is refused */

static void gradient_with(double dropout, int step)
{
    static const int ids[24];
    GptTraining t = small(3);
    t.dropout = dropout;
    t.step = step;
    gpt_training_gradient(&t, ids, ids);
}

static void loss_with(int bytes, int n, double dropout)
{
    GptTraining t = small(3);
    GptPass p;
    gpt_pass_init(&p, &t.model, 2, n);
    gpt_pass_drop(&p, &t.random, dropout);
    gpt_loss(&t.model, reading, bytes, &p, t.shares[0]);
}

static void refusals(void)
{
    TAP_REFUSES("gpt_training_init", "no texts",
                "gpt_training_init: 0 texts of 8 bytes and the one after, "
                "from 68 bytes: at least 1 text, and more bytes than it "
                "has, are needed",
                batch_of(0, 68, reading, 0));
    TAP_REFUSES("gpt_training_init", "8 bytes for texts of 8 and one after",
                NULL, batch_of(4, 8, reading, 0));
    TAP_REFUSES("gpt_training_init", "a rate of dropout above 1", NULL,
                batch_of(1, 9, reading, 1.5));
    TAP_REFUSES("gpt_training_batch", "a first byte above the vocabulary",
                NULL, batch_of(1, 9, "\200ight...", 0));
    TAP_REFUSES("gpt_training_batch", "a last byte above the vocabulary",
                NULL, batch_of(1, 9, "Eight...\200", 0));
    TAP_REFUSES("gpt_loss", "as many bytes as a batch has", NULL,
                loss_with(16, 8, 0));
    TAP_REFUSES("gpt_loss", "a pass of shorter texts", NULL,
                loss_with(33, 4, 0));
    TAP_REFUSES("gpt_loss", "a pass with dropout",
                "gpt_training.c: gpt_loss: a pass with dropout of 0.25: "
                "one without is needed",
                loss_with(33, 8, 0.25));
    TAP_REFUSES("gpt_training_gradient", "a rate of dropout below 0", NULL,
                gradient_with(-0.5, 0));
    TAP_REFUSES("gpt_training_gradient", "a step that no int counts",
                "the training has done 2147483647 steps, the most that an "
                "int can count",
                gradient_with(0, INT_MAX));
}

int main(void)
{
    TAP("gpt_training_init: one passage", batch_of(1, 9, reading, 0));
    TAP("gpt_training_step: with dropout or without", same_passages_test());
    TAP("gpt_training_gradient: the mean of its parts", expect_parts(3),
        expect_parts(4), expect_parts(6));
    TAP("gpt_loss: of some passages at a time, and of all", loss_test());
    refusals();
    return tap_done();
}
