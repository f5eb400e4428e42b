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

/* In parts, what the whole batch gives; a second time, nothing is left of
 * the first. */
static void expect_parts(int texts)
{
    GptTraining t = small(texts);
    int ids[texts][8], targets[texts][8];
    const Gpt *g = &t.model;
    GptPass p, grad_p;
    Gpt grad_g;
    gpt_pass_init(&p, g, texts, 8);
    gpt_pass_init(&grad_p, g, texts, 8);
    gpt_init(&grad_g, g);
    gpt_training_batch(&t, *ids, *targets);
    next_case();
    given("%d texts in %d parts", texts, t.parts);
    expect_equal("parts", t.parts, texts == 6 ? 3 : texts);
    const float loss =
        gpt_gradient(g, texts, 8, (const int(*)[8])ids,
                     (const int(*)[8])targets, &p, &grad_p, &grad_g);
    for (int twice = 0; twice < 2; twice++) {
        expect_near("loss", gpt_training_gradient(&t, *ids, *targets), loss,
                    1e-6, 0);
        expect_list("gradient", (int)g->count, t.gradient->memory,
                    grad_g.memory, 1e-5, 1e-6);
    }
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&grad_g);
    gpt_training_free(&t);
}

/* Four parts of two passages each, and some bytes more. */
static void loss_test(void)
{
    GptTraining t = small(3);
    int ids[24], targets[24];
    learn(&t, ids, targets);
    const float whole = gpt_loss(&t.model, 65, reading);
    for (int more = 1; more < 4; more++)
        expect_near("loss", gpt_training_loss(&t.model, 64 + more, reading),
                    whole, 1e-6, 0);
    expect_true("of some knowledge", fabs((double)whole - log(128)) > 1e-4);
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

static void loss_with(int bytes)
{
    GptTraining t = small(3);
    gpt_training_loss(&t.model, bytes, reading);
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
    TAP_REFUSES("gpt_training_loss", "parts shorter than the context",
                "32 bytes: more than 32, parts as long as the context, are "
                "needed",
                loss_with(32));
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
    TAP("gpt_training_loss: in parts", loss_test());
    refusals();
    return tap_done();
}
