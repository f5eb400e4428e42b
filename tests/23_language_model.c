/* Chapter 23 against PyTorch: golden/23_language_model. */
#define CHAPTER "23_language_model"
#include "streams.h"
#include "gpts.h"
#include "attention/23_language_model.h"
#include "attention/gpt_file.h"

static void draw_test(const char *set)
{
    const int times = dim(set, "drawn", 0), rows = dim(set, "drawn", 1);
    const int n = dim(set, "shares", 1);
    const float(*shares)[n] = input(set, "shares");
    Random r = input_random(set);
    int *drawn = guarded("drawn", golden(set, "drawn")->count);
    for (int i = 0; i < times * rows; i++)
        drawn[i] = sample_token(&r, n, shares[i % rows]);
    expect_close("drawn", drawn, golden(set, "drawn"), 0, 0);
    const float next = random_float(&r);
    expect_close("following", &next, golden(set, "following"), 0, 0);
}

/* The only index of the text at which a passage and its targets stand. */
static int start_of(int bytes, const char *text, const int *ids,
                    const int *targets)
{
    int found = -1;
    for (int i = 0; i + 8 < bytes; i++) {
        int is_here = 1;
        for (int k = 0; k < 8; k++)
            is_here &=
                ids[k] == text[i + k] && targets[k] == text[i + k + 1];
        found = !is_here ? found : found < 0 ? i : bytes;
    }
    return found;
}

/* Where the passages of batches begin, in a text of pairs that count up. */
static void starts_test(const char *set)
{
    enum { CONTEXT = 8 };
    const int batches = dim(set, "starts", 0),
              texts = dim(set, "starts", 1);
    const int bytes = (int)golden_integers(set, "range")[0] + CONTEXT;
    char *text = new_list((size_t)bytes, 1);
    for (int i = 0; i < bytes; i++)
        text[i] = (char)(i % 2 ? i / 254 : i / 2 % 127);
    GptTraining t = {.model = sizes_of_small(0),
                     .texts = texts,
                     .bytes = bytes,
                     .text = text};
    gpt_training_init(&t, &t);
    t.random = input_random(set);
    int ids[texts * CONTEXT], targets[texts * CONTEXT];
    int *starts = guarded("starts", golden(set, "starts")->count);
    for (int k = 0; k < batches; k++) {
        gpt_training_batch(&t, ids, targets);
        for (int i = 0; i < texts; i++)
            starts[k * texts + i] = start_of(bytes, text, ids + i * CONTEXT,
                                             targets + i * CONTEXT);
    }
    expect_close("starts", starts, golden(set, "starts"), 0, 0);
    const float next = random_float(&t.random);
    expect_close("following", &next, golden(set, "following"), 0, 0);
    gpt_training_free(&t);
    free(text);
}

/* The bytes that a set holds as whole numbers, and no more. */
static char *bytes_of(const char *set, const char *what)
{
    const int n = dim(set, what, 0);
    char *bytes = new_list((size_t)n, 1);
    for (int i = 0; i < n; i++)
        bytes[i] = (char)golden_integers(set, what)[i];
    return bytes;
}

/* A batch of which every second text repeats itself. */
static void repeats_test(const char *set)
{
    Gpt sizes = sizes_of_small(0);
    sizes.context_length = dim(set, "ids", 1);
    char *text = bytes_of(set, "text");
    GptTraining t = {.model = sizes,
                     .texts = dim(set, "ids", 0),
                     .bytes = dim(set, "text", 0),
                     .text = text,
                     .repeats = 1};
    gpt_training_init(&t, &t);
    t.random = input_random(set);
    int *ids = guarded("ids", golden(set, "ids")->count);
    int *targets = guarded("targets", golden(set, "targets")->count);
    gpt_training_batch(&t, ids, targets);
    expect_close("ids", ids, golden(set, "ids"), 0, 0);
    expect_close("targets", targets, golden(set, "targets"), 0, 0);
    const float next = random_float(&t.random);
    expect_close("following", &next, golden(set, "following"), 0, 0);
    gpt_training_free(&t);
    free(text);
}

static void copy_test(const char *set)
{
    char *text = bytes_of(set, "text"), *source = bytes_of(set, "source");
    int *copied = guarded("copied", 2);
    copied[0] = longest_copy(dim(set, "text", 0), text,
                             dim(set, "source", 0), source, &copied[1]);
    expect_close("copied", copied, golden(set, "copied"), 0, 0);
    free(text);
    free(source);
}

static void mass_test(const char *set)
{
    const int n = (int)golden(set, "shares")->count;
    float *shares = guarded("massed", golden_count(set, "massed"));
    memcpy(shares, input(set, "shares"), (size_t)n * sizeof *shares);
    top_p(n, (float)input_number(set, "p", "p"), shares);
    expect_close("massed", shares, golden(set, "massed"), 0, 0);
}

/* What all shares are multiplied by changes no draw, up to the ends of the
 * floats. */
static void draw_scaled_test(void)
{
    static const float shares[4] = {0.5f, 0.25f, 0.125f, 0.5f};
    const int power[5] = {-146, -126, -60, 60, 128};
    for (int k = 0; k < 5; k++) {
        Random r = random_seeded(7), same_r = random_seeded(7);
        float scaled[4];
        next_case();
        for (int i = 0; i < 4; i++)
            scaled[i] = ldexpf(shares[i], power[k]);
        given_array("shares", scaled, 4);
        for (int i = 0; i < 100; i++)
            expect_integer("drawn", sample_token(&r, 4, scaled),
                           sample_token(&same_r, 4, shares));
    }
    expect_integer("one smallest share",
                   sample_token((Random[]){random_seeded(2)}, 2,
                                (const float[]){0, 1e-45f}),
                   1);
}

/* As many as a large vocabulary has, all different: each is looked at a few
 * times, and not once for every other one. */
enum { MANY = 300000 };

static void many_logits(void)
{
    float *x = guarded("an array", MANY), *was = guarded("an array", MANY);
    for (int i = 0; i < MANY; i++)
        x[i] = was[i] = (float)((int64_t)i * 7919 % MANY);
    given("n = k = %d", MANY);
    top_k(MANY, MANY, x);
    expect_list("logits", MANY, x, was, EXACTLY);
}

static void many_shares(void)
{
    float *x = guarded("an array", MANY), *was = guarded("an array", MANY);
    for (int i = 0; i < MANY; i++)
        x[i] = was[i] = (float)((int64_t)i * 7919 % MANY + 1) /
                        ((float)MANY * (MANY + 1) / 2);
    given("n = %d, p = 0.99", MANY);
    top_p(MANY, 0.99f, x);
    for (int i = 0; i < MANY; i++)
        expect_true("shares",
                    x[i] == was[i] || (x[i] == 0 && was[i] < 7e-7));
}

/* Which of some logits stay. */
static void stay(int n, int k, const float logits[n], const float right[n])
{
    float got[8];
    next_case();
    memcpy(got, logits, (size_t)n * sizeof *got);
    given_array("logits, before", logits, n);
    given("k = %d", k);
    top_k(n, k, got);
    expect_list("logits", n, got, right, EXACTLY);
}

static void keep_test(void)
{
    const float no = -INFINITY, all = INFINITY;
    const float x[5] = {0.5f, 2, -1, 2, 1};
    stay(5, 5, x, x);
    stay(5, 4, x, (const float[]){0.5f, 2, no, 2, 1});
    stay(5, 3, x, (const float[]){no, 2, no, 2, 1});
    stay(5, 2, x, (const float[]){no, 2, no, 2, no});
    stay(5, 1, x, (const float[]){no, 2, no, 2, no});
    stay(3, 2, (const float[]){-5, -3, -4}, (const float[]){no, -3, -4});
    stay(3, 2, (const float[]){no, -3, no}, (const float[]){no, -3, no});
    stay(1, 1, (const float[]){7}, (const float[]){7});
    stay(4, 1, (const float[]){1, all, 3, 2},
         (const float[]){no, all, no, no});
    stay(4, 2, (const float[]){1, all, 3, 2},
         (const float[]){no, all, 3, no});
    stay(3, 1, (const float[]){all, 1, all}, (const float[]){all, no, all});
}

/* The tokens themselves, number for number. */
static void write_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const int n = dim(set, "ids", 0), begun = dim(set, "begin", 0);
    int *ids = guarded("ids", (size_t)n);
    Random r = input_random(set);
    memcpy(ids, golden_ints(set, "begin"), (size_t)begun * sizeof *ids);
    gpt_generate(&g, &r,
                 (float)input_number(set, "temperature", "temperature"),
                 (int)golden_integers(set, "top_k")[0], begun, n, ids);
    expect_close("ids", ids, golden(set, "ids"), 0, 0);
    gpt_free(&g);
}

/* Ten steps: the losses. */
static void step_test(const char *set)
{
    const int batches = dim(set, "ids", 0), texts = dim(set, "ids", 1);
    const int rows = texts * dim(set, "ids", 2);
    const int *ids = golden_ints(set, "ids"),
              *targets = golden_ints(set, "targets");
    float losses[10];
    static const char blank[1000];
    GptTraining t = {.texts = texts,
                     .adam = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0},
                     .random = random_seeded(1),
                     .bytes = sizeof blank,
                     .text = blank,
                     .dropout = *golden_doubles(set, "rate")};
    const int64_t *size = golden_integers(set, "sizes");
    t.model = (Gpt){.vocabulary = (int)size[0],
                    .context_length = (int)size[1],
                    .width = (int)size[2],
                    .n_heads = (int)size[3],
                    .layers = (int)size[4]};
    gpt_training_init(&t, &t);
    memcpy(t.model.memory, golden_floats(set, "parameters"),
           t.model.count * sizeof(float));
    for (int i = 0; i < batches; i++)
        losses[i] =
            gpt_training_step(&t, ids + i * rows, targets + i * rows);
    expect_close("losses", losses, golden(set, "losses"), 1e-5, 0);
    gpt_training_free(&t);
}

/* Dropout changes what is learned, and not what is read. */
static void same_passages_test(void)
{
    GptTraining t[2] = {small(), small()};
    int ids[2][24], targets[2][24];
    t[1].dropout = 0.2;
    for (int step = 0; step < 2; step++)
        for (int k = 0; k < 2; k++) {
            gpt_training_batch(&t[k], ids[k], targets[k]);
            gpt_training_step(&t[k], ids[k], targets[k]);
        }
    expect_true("the same passages", !memcmp(ids[0], ids[1], sizeof *ids));
    expect_true("other steps", memcmp(t[0].model.memory, t[1].model.memory,
                                      t->model.count * sizeof(float)));
    /* And without dropout again. */
    memcpy(t[1].model.memory, t[0].model.memory,
           t->model.count * sizeof(float));
    t[1].dropout = 0;
    expect_equal("the loss of all",
                 gpt_training_gradient(&t[1], *ids, *targets),
                 gpt_training_gradient(&t[0], *ids, *targets));
    gpt_training_free(&t[0]);
    gpt_training_free(&t[1]);
}

/* Each part gives what its own texts give, and all of them what one part of
 * the whole batch gives. The first `ignored` targets are IGNORED. */
static void parts_of(int texts, int ignored)
{
    GptTraining t = small_of(texts, 0);
    int ids[48], targets[48];
    const Gpt *g = &t.model;
    GptTraining all = {.model = *g, .shares = {new_table(texts * 8, 128)}};
    gpt_pass_init(&all.pass[0], g, texts, 8);
    gpt_pass_init(&all.grad_pass[0], g, texts, 8);
    gpt_init(&all.gradient[0], g);
    gpt_training_batch(&t, ids, targets);
    for (int i = 0; i < ignored; i++)
        targets[i] = IGNORED;
    next_case();
    given("%d texts in %d parts, %d ignored", texts, t.parts, ignored);
    expect_integer("parts", t.parts, texts == 6 ? 3 : texts);
    const float due = gpt_part_gradient(&all, 0, ids, targets);
    const float loss = gpt_training_gradient(&t, ids, targets);
    expect_near("loss", loss, due, 1e-6, 0);
    expect_list("gradient", (int)g->count, t.gradient->memory,
                all.gradient->memory, 1e-5, 1e-6);
    /* And again: nothing is left of the first. */
    gpt_part_gradient(&all, 0, ids, targets);
    expect_list("gradient", (int)g->count, t.gradient->memory,
                all.gradient->memory, 1e-5, 1e-6);
    gpt_pass_free(&all.pass[0]);
    gpt_pass_free(&all.grad_pass[0]);
    gpt_free(&all.gradient[0]);
    free(all.shares[0]);
    gpt_training_free(&t);
}

/* Of the first text three targets or all are ignored; and all of all. */
static void parts_test(void)
{
    for (int texts = 3; texts <= 6; texts += texts == 4 ? 2 : 1) {
        const int ignored[] = {0, 3, 8, 17, texts * 8 - 1, texts * 8};
        for (int k = 0; k < 6; k++)
            parts_of(texts, ignored[k]);
    }
}

/* Behind it an int counts no other. */
static void last_step_test(void)
{
    GptTraining t = small();
    t.step = INT_MAX - 1;
    t.dropout = 0.25;
    go_on(&t, 1);
    expect_integer("step", t.step, INT_MAX);
    gpt_training_free(&t);
}

/* Hugging Face's takes one of the two that are second; here both stay. */
static void ties_test(void)
{
    const float all[5] = {0.1875f, 0.125f, 0.375f, 0.125f, 0.1875f};
    const float due[5] = {0.1875f, 0, 0.375f, 0, 0.1875f};
    float *shares = guarded("shares", 5);
    memcpy(shares, all, sizeof all);
    top_p(5, 0.5f, shares);
    expect_list("shares", 5, shares, due, EXACTLY);
}

/* What is drawn, and by which shares: of logits 0 and ln 4, with a
 * temperature of 2 the second has 2 of 3 shares. */
static void next_test(void)
{
    float logits[3] = {0, 2 * 0.69314718f, -5}, shares[3];
    Random r = random_seeded(1), same_r = random_seeded(1);
    const int got = next_token(&r, 2, 2, 3, logits, shares);
    const float right[3] = {1 / 3.0f, 2 / 3.0f, 0};
    expect_list("shares", 3, shares, right, 1e-6, 0);
    expect_integer("token", got, sample_token(&same_r, 3, shares));
    expect_integer("of one alone", sample_token(&r, 1, (float[1]){FLT_MAX}),
                   0);
    logits[2] = 3;
    next_token(&r, 1, 0, 3, logits, shares);
    expect_true("with 0, all are kept",
                shares[0] > 0 && shares[1] > 0 && shares[2] > shares[1]);
}

static void training_init_test(void)
{
    GptTraining t = small();
    Random r = random_seeded(5);
    Gpt g;
    gpt_init(&g, &t.model);
    gpt_fill(&r, &g);
    expect_list("parameters", g.count, t.model.memory, g.memory, EXACTLY);
    expect_integer("stream", random_u32(&t.random), random_u32(&r));
    expect_integer("step", t.step, 0);
    gpt_free(&g);
    gpt_training_free(&t);
    expect_true("is empty", !t.model.memory && !t.shares[0]);
}

static void sample_test(void)
{
    GptTraining t = small();
    char text[9], again[9], few[3];
    gpt_sample(&t.model, 8, text);
    gpt_sample(&t.model, 8, again);
    gpt_sample(&t.model, 2, few);
    expect_true("the same again", !strcmp(text, again));
    expect_equal("bytes", (double)strlen(text), 8);
    expect_true("how it begins", !strncmp(text, "The ", 4));
    expect_true("no more than asked for", !strcmp(few, "Th"));
    for (const char *c = text; *c; c++)
        expect_true("can be printed", *c >= ' ' && *c <= '~');
    gpt_training_free(&t);
}

/* Two texts at a time, against one. */
static void loss_test(void)
{
    GptTraining t = small();
    const Gpt *g = &t.model;
    GptPass one, two;
    gpt_pass_init(&one, g, 1, 8);
    gpt_pass_init(&two, g, 2, 8);
    float shares[16 * 128];
    go_on(&t, 1);
    const float by_one = gpt_loss(g, reading, 33, &one, shares);
    const float by_two = gpt_loss(g, reading, 33, &two, shares);
    expect_near("loss", by_two, by_one, 1e-6, 0);
    expect_true("of some knowledge", fabs(by_one - log(128)) > 1e-4);
    expect_equal("of what is whole", gpt_loss(g, reading, 24, &one, shares),
                 gpt_loss(g, reading, 17, &one, shares));
    memset(t.model.memory, 0, g->count * sizeof(float));
    expect_near("of no knowledge", gpt_loss(g, reading, 33, &one, shares),
                log(128), 1e-6, 0);
    gpt_pass_free(&one);
    gpt_pass_free(&two);
    gpt_training_free(&t);
}

static void gradient_with(double dropout, int step)
{
    GptTraining t = small();
    int ids[24] = {0}, targets[24] = {0};
    t.dropout = dropout;
    t.step = step;
    gpt_training_gradient(&t, ids, targets);
}

static void loss_with(int bytes, int texts, int n, int drops)
{
    GptTraining t = small();
    GptPass p;
    gpt_pass_init(&p, &t.model, texts, n);
    if (drops)
        gpt_pass_drop(&p, &t.random, 0.25);
    gpt_loss(&t.model, reading, bytes, &p, t.shares[0]);
}

/* One byte is above the vocabulary, at this index of a passage. */
static void batch_beyond(int place)
{
    char text[9] = "Eight...";
    text[place] = (char)128;
    GptTraining t = {
        .model = sizes_of_small(0), .texts = 1, .bytes = 9, .text = text};
    int ids[8], targets[8];
    gpt_training_init(&t, &t);
    gpt_training_batch(&t, ids, targets);
}

static void init_with(int texts, int bytes)
{
    GptTraining t = {.model = sizes_of_small(0),
                     .texts = texts,
                     .bytes = bytes,
                     .text = reading};
    gpt_training_init(&t, &t);
    int ids[8], targets[8];
    gpt_training_batch(&t, ids, targets);
    for (int i = 0; i < 8; i++) {
        expect_integer("id", ids[i], reading[i]);
        expect_integer("target", targets[i], reading[i + 1]);
    }
    gpt_training_free(&t);
}

/* The whole text is one passage, and the byte after. */
static void smallest_test(void)
{
    init_with(1, 9);
}

static void refusals(void)
{
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0;
    static float x[3] = {0.5f, -1, 2}, shares[3];
    static char text[20];
    Random r = random_seeded(1);
    Gpt g = any_gpt(1, 0);
    REFUSES(NULL, sample_token(&r, 3, x));
    REFUSES(NULL, sample_token(&r, 3, (float[3]){0, none, 0}));
    REFUSES(NULL, sample_token(&r, 3, (float[3]){0, 1, NAN}));
    REFUSES_SUCH("the 0 largest", top_k(3, none, x));
    REFUSES_SUCH("the 4 largest of 3", top_k(3, 4 + none, x));
    REFUSES_SUCH("p = 0", top_p(3, (float)none, x));
    REFUSES_SUCH("p = 1.5", top_p(3, 1.5f, x));
    REFUSES_SUCH("p that is NaN", top_p(3, NAN, x));
    REFUSES(NULL, next_token(&r, 0, 0, 3, x, shares));
    REFUSES(NULL, next_token(&r, NAN, 0, 3, x, shares));
    REFUSES("23_language_model.c: next_token: the temperature 1e-38 is "
            "too low: logit 1, 100, divided by it overflows a float",
            next_token(&r, 1e-38f, 0, 2, (float[2]){0, 100}, shares));
    REFUSES(NULL, next_token(&r, 1, 4, 3, x, shares));
    REFUSES(NULL, gpt_generate(&g, &r, 1, 0, 1, 7, (int[7]){0}));
    REFUSES(NULL, gpt_generate(&g, &r, 1, 0, 0, 4, (int[4]){0}));
    REFUSES_SUCH("a vocabulary without \"The \"", gpt_sample(&g, 5, text));
    gpt_free(&g);
    TAP_REFUSES(
        "gpt_training_init", "no texts",
        "gpt_training_init: 0 texts of 8 bytes and the one after, from "
        "68 bytes: at least 1 text, and more bytes than it has, are "
        "needed",
        init_with(0, 68));
    TAP_REFUSES(
        "gpt_training_init", "8 bytes for texts of 8 and one after",
        "gpt_training_init: 4 texts of 8 bytes and the one after, from "
        "8 bytes: at least 1 text, and more bytes than it has, are "
        "needed",
        init_with(4, 8));
    TAP_REFUSES("gpt_loss", "as many bytes as a batch has", NULL,
                loss_with(16, 2, 8, 0));
    TAP_REFUSES("gpt_loss", "a pass of shorter texts", NULL,
                loss_with(33, 2, 4, 0));
    TAP_REFUSES(
        "gpt_loss", "a pass with dropout",
        "gpt_training.c: gpt_loss: a pass with dropout of 0.25: one "
        "without is needed",
        loss_with(33, 2, 8, 1));
    TAP_REFUSES("gpt_training_init", "a rate of dropout above 1", NULL,
                gpt_training_init(&(GptTraining){0},
                                  &(GptTraining){.model = sizes_of_small(0),
                                                 .texts = 1,
                                                 .bytes = 9,
                                                 .text = reading,
                                                 .dropout = 1.5}));
    TAP_REFUSES("gpt_training_gradient", "a rate of dropout below 0", NULL,
                gradient_with(-0.5, 0));
    TAP_REFUSES("gpt_training_gradient", "a step that no int counts",
                "the training has done 2147483647 steps, the most that an "
                "int can count",
                gradient_with(0, INT_MAX));
    for (int place = 0; place <= 8; place += 8)
        TAP_REFUSES("gpt_training_batch", "a byte above the vocabulary",
                    NULL, batch_beyond(place));
}

int main(void)
{
    EACH_SET("sample_token", "draws_*-drawn", draw_test(set));
    EACH_SET("gpt_training_batch", "starts_*-starts", starts_test(set));
    EACH_SET("gpt_training_batch", "repeats_*-ids", repeats_test(set));
    EACH_SET("top_p", "mass_*-massed", mass_test(set));
    EACH_SET("longest_copy", "copy_*-copied", copy_test(set));
    TAP("top_p: those that are equal stay together", ties_test());
    TAP("sample_token: shares of any size", draw_scaled_test());
    TAP("top_k: which stay", keep_test());
    TAP_LARGE("top_k: of many", many_logits());
    TAP_LARGE("top_p: of many", many_shares());
    TAP("next_token: temperature, the largest, and a draw", next_test());
    EACH_SET("gpt_generate", "written_*-ids", write_test(set));
    TAP("gpt_sample: the same each time", sample_test());
    EACH_SET("gpt_training_step", "steps_*-losses", step_test(set));
    TAP("gpt_training_step: with dropout or without", same_passages_test());
    TAP("gpt_part_gradient: of a batch, and of its parts", parts_test());
    TAP("gpt_training_gradient: the mean of its parts", parts_test());
    TAP("gpt_training_gradient: of the last step", last_step_test());
    TAP("gpt_training_init: draws as gpt_fill", training_init_test());
    TAP("gpt_training_free: nothing is left", training_init_test());
    TAP("gpt_training_init: one passage", smallest_test());
    TAP("gpt_loss: of some passages at a time, and of all", loss_test());
    refusals();
    return tap_done();
}
