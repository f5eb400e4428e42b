/* Chapter 23 against PyTorch: golden/23_language_model. */
#define CHAPTER "23_language_model"
#include "gpts.h"
#include "attention/23_language_model.h"
#include "attention/20_optimizers.h"
#include "attention/long_run.h"

/* ---- What is drawn */

static void draw_test(const char *set)
{
    const int times = dim(set, "drawn", 0), rows = dim(set, "drawn", 1);
    const int n = dim(set, "shares", 1);
    const float(*shares)[n] = input(set, "shares");
    Random r = input_random(set);
    int *drawn = due(set, "drawn", EXACTLY);
    for (int i = 0; i < times * rows; i++)
        drawn[i] = draw_token(&r, n, shares[i % rows]);
    expect_next_draw(set, &r);
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
            expect_equal("drawn", draw_token(&r, 4, scaled),
                         draw_token(&same_r, 4, shares));
    }
}

/* Which of some logits stay. */
static void keep_test(void)
{
    const float no = -INFINITY, all = INFINITY;
    const struct {
        int n, k;
        float logits[5], due[5];
    } kept[] = {
        {5, 5, {0.5f, 2, -1, 2, 1}, {0.5f, 2, -1, 2, 1}},
        {5, 4, {0.5f, 2, -1, 2, 1}, {0.5f, 2, no, 2, 1}},
        {5, 3, {0.5f, 2, -1, 2, 1}, {no, 2, no, 2, 1}},
        {5, 2, {0.5f, 2, -1, 2, 1}, {no, 2, no, 2, no}},
        {5, 1, {0.5f, 2, -1, 2, 1}, {no, 2, no, 2, no}},
        {3, 2, {-5, -3, -4}, {no, -3, -4}},
        {3, 2, {no, -3, no}, {no, -3, no}},
        {1, 1, {7}, {7}},
        {4, 1, {1, all, 3, 2}, {no, all, no, no}},
        {4, 2, {1, all, 3, 2}, {no, all, 3, no}},
        {3, 1, {all, 1, all}, {all, no, all}},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const int n = kept[i].n;
        float *got = guarded_copy("logits", (size_t)n, kept[i].logits);
        next_case();
        given_array("logits, before", kept[i].logits, n);
        given("k = %d", kept[i].k);
        top_k(n, kept[i].k, got);
        expect_list("logits", n, got, kept[i].due, EXACTLY);
    }
}

/* Hugging Face's takes one of the two that are second; here both stay. */
static void ties_test(void)
{
    const float all[5] = {0.1875f, 0.125f, 0.375f, 0.125f, 0.1875f};
    const float due[5] = {0.1875f, 0, 0.375f, 0, 0.1875f};
    float *shares = guarded_copy("shares", 5, all);
    top_p(5, 0.5f, shares);
    expect_list("shares", 5, shares, due, EXACTLY);
}

/* The tokens themselves, number for number. */
static void write_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const int n = dim(set, "ids", 0), begun = dim(set, "begin", 0);
    int *ids = due(set, "ids", EXACTLY);
    Random r = input_random(set);
    memcpy(ids, golden_ints(set, "begin"), (size_t)begun * sizeof *ids);
    gpt_generate(&g, &r,
                 (float)input_number(set, "temperature", "temperature"),
                 (int)golden_number(set, "top_k"), begun, n, ids);
    gpt_free(&g);
}

static void sample_test(void)
{
    GptTraining t = small(3);
    char text[41], few[3], line[3];
    gpt_sample(&t.model, "The ", 40, text);
    gpt_sample(&t.model, "The ", 2, few);
    gpt_sample(&t.model, "\n\n\n", 2, line);
    expect_equal("bytes", strlen(text), 40);
    expect_true("how it begins", !strncmp(text, "The ", 4));
    expect_true("no more than asked for", !strcmp(few, "Th"));
    expect_true("newlines are bars", !strcmp(line, "||"));
    for (const char *c = text; *c; c++)
        expect_true("can be printed", *c >= ' ' && *c <= '~');
    gpt_training_free(&t);
}

/* Beyond the context of 8, each piece of a text is what gpt_generate writes
 * after the last half of the one before. */
static void beyond_test(void)
{
    enum { LONG = 20 };
    GptTraining t = small(3);
    char text[LONG + 1];
    int ids[LONG] = {'T', 'h', 'e'}, till[4] = {9, 14, 19, 20};
    Random r = random_seeded(123);
    for (int i = 0, begun = 3; i < 4; begun = till[i++]) {
        const int from = i ? begun - 4 : 0;
        gpt_generate(&t.model, &r, 0.8f, 0, begun - from, till[i] - from,
                     ids + from);
    }
    gpt_sample(&t.model, "The", LONG, text);
    for (int i = 0; i < LONG; i++)
        if (text[i] != '?' && text[i] != '|')
            expect_equal("byte", text[i], ids[i]);
    gpt_training_free(&t);
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

static void copy_test(const char *set)
{
    char *text = bytes_of(set, "text"), *source = bytes_of(set, "source");
    int *copied = due(set, "copied", EXACTLY);
    copied[0] = longest_copy(dim(set, "text", 0), text,
                             dim(set, "source", 0), source, &copied[1]);
    free(text);
    free(source);
}

/* ---- Training */

/* Where the passages of batches begin, in a text of pairs that count up, so
 * that a passage stands in one place alone. */
static void starts_test(const char *set)
{
    enum { CONTEXT = 8 };
    const int texts = dim(set, "starts", 1);
    const int bytes = (int)golden_number(set, "range") + CONTEXT;
    char text[bytes];
    for (int i = 0; i < bytes; i++)
        text[i] = (char)(i % 2 ? i / 254 : i / 2 % 127);
    GptTraining t = {
        .model = small_sizes, .texts = texts, .bytes = bytes, .text = text};
    gpt_training_init(&t, &t);
    t.random = input_random(set);
    int ids[texts * CONTEXT], targets[texts * CONTEXT];
    int *starts = due(set, "starts", EXACTLY);
    for (int k = 0; k < dim(set, "starts", 0); k++) {
        gpt_training_batch(&t, ids, targets);
        for (int i = 0; i < texts; i++, starts++)
            for (int at = 0; at + CONTEXT < bytes; at++) {
                bool is_here = true;
                for (int j = 0; j < CONTEXT && is_here; j++)
                    is_here = ids[i * CONTEXT + j] == text[at + j] &&
                              targets[i * CONTEXT + j] == text[at + j + 1];
                *starts = is_here ? at : *starts;
            }
    }
    expect_next_draw(set, &t.random);
    gpt_training_free(&t);
}

/* A batch of which every second text repeats itself. */
static void repeats_test(const char *set)
{
    char *text = bytes_of(set, "text");
    GptTraining t = {.model = small_sizes,
                     .texts = dim(set, "ids", 0),
                     .bytes = dim(set, "text", 0),
                     .text = text,
                     .repeats = 2};
    t.model.context_length = dim(set, "ids", 1);
    gpt_training_init(&t, &t);
    t.random = input_random(set);
    gpt_training_batch(&t, due(set, "ids", EXACTLY),
                       due(set, "targets", EXACTLY));
    expect_next_draw(set, &t.random);
    gpt_training_free(&t);
    free(text);
}

static void passage_test(void)
{
    static const int due_ids[4] = {'a', 'b', 127, 1};
    int ids[4] = {0}, targets[4] = {0};
    read_passage(128, 4, "ab\177\1\2", ids, targets);
    for (int i = 0; i < 4; i++) {
        expect_equal("id", ids[i], due_ids[i]);
        expect_equal("target", targets[i], i < 3 ? due_ids[i + 1] : 2);
    }
}

/* What gradients and their pass held before does not count. */
static void gradient_test(const char *set)
{
    Gpt g = golden_gpt(set), grad_g;
    GptPass p = golden_pass(set, &g), grad_p = golden_pass(set, &g);
    const int n = dim(set, "ids", 1);
    const int(*ids)[n] = (void *)golden_ints(set, "ids");
    const int(*targets)[n] = (void *)golden_ints(set, "targets");
    gpt_init(&grad_g, &g);
    for (int twice = 0; twice < 2; twice++) {
        const float loss = gpt_gradient(&g, dim(set, "ids", 0), n, ids,
                                        targets, &p, &grad_p, &grad_g);
        expect_close("loss", &loss, golden(set, "loss"), 1e-5, 0);
        expect_close("gradient", grad_g.memory, golden(set, "gradient"),
                     2e-5, 1e-6);
    }
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&grad_g);
    gpt_free(&g);
}

/* Ten steps: the losses. */
static void learner_test(const char *set)
{
    const int texts = dim(set, "ids", 1), n = dim(set, "ids", 2);
    const int(*ids)[texts][n] = (void *)golden_ints(set, "ids");
    const int(*targets)[texts][n] = (void *)golden_ints(set, "targets");
    Gpt g = golden_gpt(set);
    Learner l;
    learner_init(&l, &g, texts, some_draws());
    memcpy(l.model.memory, g.memory, g.count * sizeof(float));
    l.adam = (Adam){1e-2, 0.9, 0.95, 1e-8, 0.1, 0};
    float *losses = due(set, "losses", 1e-5, 0);
    for (int i = 0; i < dim(set, "ids", 0); i++)
        losses[i] = learner_step(&l, texts, n, ids[i], targets[i]);
    expect_equal("steps", l.step, dim(set, "ids", 0));
    learner_free(&l);
    gpt_free(&g);
}

/* Without Adam's first numbers: what learner_init leaves. */
static void learner_init_test(void)
{
    Random r = random_seeded(7), same_r = random_seeded(7);
    Gpt g;
    Learner l;
    learner_init(&l, &small_sizes, 3, &r);
    gpt_init(&g, &small_sizes);
    gpt_fill(&same_r, &g);
    expect_list("parameters", (int)g.count, l.model.memory, g.memory,
                EXACTLY);
    expect_equal("texts", l.pass.texts, 3);
    expect_equal("tokens", l.grad_pass.n, small_sizes.context_length);
    expect_equal("steps", l.step, 0);
    learner_free(&l);
    gpt_free(&g);
}

/* The mean of what gpt_gradient finds of each passage. */
static void loss_test(void)
{
    enum { N = 8, PASSAGES = 4 };
    GptTraining t = small(3);
    const Gpt *g = &t.model;
    GptPass p, grad_p;
    Gpt grad_g;
    int ids[1][N], targets[1][N];
    double sum = 0;
    gpt_pass_init(&p, g, 1, N);
    gpt_pass_init(&grad_p, g, 1, N);
    gpt_init(&grad_g, g);
    for (int i = 0; i < PASSAGES; i++) {
        read_passage(128, N, reading + N * i, *ids, *targets);
        sum += (double)gpt_gradient(g, 1, N, ids, targets, &p, &grad_p,
                                    &grad_g);
    }
    for (int more = 1; more <= N; more++)
        expect_near("loss", gpt_loss(g, N * PASSAGES + more, reading),
                    sum / PASSAGES, 1e-6, 0);
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&grad_g);
    gpt_training_free(&t);
}

/* After a comes b, twice; after b come c and d. */
static void tables_test(void)
{
    char text[] = "abcabd";
    float loss[2];
    const PlainText plain = {6, text};
    table_losses(&plain, 4, loss);
    /* Of b, c, a: of the first five, a and b twice, c once, of six bytes. */
    expect_near("bytes", loss[0],
                -(log(2. / 6) + log(1. / 6) + log(2. / 6)) / 3, 1e-6, 0);
    expect_near("pairs", loss[1], -log(1. / 2) / 3, 1e-6, 0);
}

/* Of nine texts, the third, the sixth and the last repeat themselves. */
static void every_third_test(void)
{
    char text[250];
    int ids[9][80], targets[9][80];
    for (int i = 0; i < 250; i++)
        text[i] = (char)(i / 2);
    GptTraining t = {.model = small_sizes,
                     .texts = 9,
                     .bytes = 250,
                     .text = text,
                     .random = random_seeded(1),
                     .repeats = 3};
    t.model.context_length = 80;
    gpt_training_init(&t, &t);
    gpt_training_batch(&t, *ids, *targets);
    for (int i = 0; i < 9; i++)
        expect_equal("repeats", ids[i][79] < ids[i][0] + 36, i % 3 == 2);
    gpt_training_free(&t);
}

/* Parts of a single token, of a model that sees no more. */
static void parts_test(void)
{
    char text[GPT_PARTS + 1] = "abc";
    Gpt g, sizes = small_sizes;
    Random r = random_seeded(1);
    sizes.context_length = 1;
    gpt_init(&g, &sizes);
    gpt_fill(&r, &g);
    expect_near("loss", gpt_training_loss(&g, GPT_PARTS + 1, text),
                (double)gpt_loss(&g, GPT_PARTS + 1, text), 1e-6, 0);
    gpt_free(&g);
}

/* A generator that gives 0, and a share as large as a float can be. */
static void edges_test(void)
{
    Random zero = {.next = 0};
    expect_equal("drawn", draw_token(&zero, 3, (float[]){0, 0, 1}), 2);
    expect_equal("drawn", draw_token(&zero, 1, (float[]){FLT_MAX}), 0);
}

/* Ten steps: the losses. */
static void step_test(const char *set)
{
    const int texts = dim(set, "ids", 1), rows = texts * dim(set, "ids", 2);
    const int *ids = golden_ints(set, "ids");
    const int *targets = golden_ints(set, "targets");
    const char blank[1000] = "";
    Gpt g = golden_gpt(set);
    GptTraining t = {.model = g,
                     .texts = texts,
                     .adam = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0},
                     .random = random_seeded(1),
                     .bytes = sizeof blank,
                     .text = blank,
                     .dropout = golden_number(set, "rate")};
    gpt_training_init(&t, &t);
    memcpy(t.model.memory, g.memory, g.count * sizeof(float));
    float *losses = due(set, "losses", 1e-5, 0);
    for (int i = 0; i < dim(set, "ids", 0); i++)
        losses[i] =
            gpt_training_step(&t, ids + i * rows, targets + i * rows);
    gpt_training_free(&t);
    gpt_free(&g);
}

/* For a model of a context of 5, and a pass of one text of 5. */
static void gradient_of(const Gpt *g, int texts, int n)
{
    static const int ids[10];
    GptPass p;
    Gpt grad_g;
    gpt_pass_init(&p, g, 1, 5);
    gpt_init(&grad_g, g);
    gpt_gradient(g, texts, n, (const void *)ids, (const void *)ids, &p, &p,
                 &grad_g);
}

static void refusals(void)
{
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0;
    static float x[3] = {0.5f, -1, 2}, shares[3];
    static char text[20];
    Random r = random_seeded(1);
    Gpt g = any_gpt(1);
    REFUSES(NULL, draw_token(&r, 3, x));
    REFUSES(NULL, draw_token(&r, 3, (float[3]){0, none, 0}));
    REFUSES(NULL, draw_token(&r, 3, (float[3]){0, 1, NAN}));
    REFUSES("long_run.c: table_losses: the first 1 bytes, of a text of 20: "
            "from 2 to 19 are needed",
            table_losses(&(PlainText){20, text}, 1, shares));
    REFUSES(NULL, table_losses(&(PlainText){20, text}, 20, shares));
    REFUSES("the byte 200, of a vocabulary of 128: one below 128 is needed",
            read_passage(128, 1, "a\310", (int[1]){0}, (int[1]){0}));
    REFUSES(NULL, read_passage(98, 1, "ba", (int[1]){0}, (int[1]){0}));
    REFUSES("gpt_loss: 5 bytes: more than the context of 5 are needed",
            gpt_loss(&g, 5, text));
    REFUSES(NULL, gradient_of(&g, 2, 5));
    REFUSES(NULL, gradient_of(&g, 1, 4));
    REFUSES_SUCH("the 0 largest", top_k(3, none, x));
    REFUSES_SUCH("the 4 largest of 3", top_k(3, 4 + none, x));
    REFUSES_SUCH("p = 0", top_p(3, (float)none, x));
    REFUSES_SUCH("p = 1.5", top_p(3, 1.5f, x));
    REFUSES_SUCH("p that is NaN", top_p(3, NAN, x));
    REFUSES(
        "23_language_model.c: next_token: a temperature of 0: one above "
        "0 is needed",
        next_token(&r, 0, 0, 3, x, shares));
    REFUSES(NULL, next_token(&r, NAN, 0, 3, x, shares));
    REFUSES("23_language_model.c: next_token: the temperature 1e-38 is too "
            "low: logit 1, 100, divided by it overflows a float",
            next_token(&r, 1e-38f, 0, 2, (float[2]){0, 100}, shares));
    REFUSES(NULL, next_token(&r, 1, 4, 3, x, shares));
    REFUSES(NULL, gpt_generate(&g, &r, 1, 0, 1, 7, (int[7]){0}));
    REFUSES(NULL, gpt_generate(&g, &r, 1, 0, 0, 4, (int[4]){0}));
    REFUSES_SUCH("a vocabulary without \"The \"",
                 gpt_sample(&g, "The ", 5, text));
    REFUSES_SUCH("no beginning", gpt_sample(&g, "", 5, text));
    gpt_free(&g);
}

int main(void)
{
    TAP("read_passage: and what comes next", passage_test());
    EACH_SET("gpt_gradient", "gradient_*-gradient", gradient_test(set));
    EACH_SET("learner_step", "steps_plain-losses", learner_test(set));
    TAP("learner_init: a model and memory for a batch",
        learner_init_test());
    TAP("gpt_loss: the mean over passages", loss_test());
    EACH_SET("draw_token", "draws_*-drawn", draw_test(set));
    EACH_SET("gpt_training_batch", "starts_*-starts", starts_test(set));
    EACH_SET("gpt_training_batch", "repeats_*-ids", repeats_test(set));
    EACH_SET("top_p", "mass_*-massed",
             top_p((int)golden_count(set, "shares"),
                   (float)input_number(set, "p", "p"),
                   changed(set, "shares", "massed", EXACTLY)));
    EACH_SET("longest_copy", "copy_*-copied", copy_test(set));
    TAP("top_p: those that are equal stay together", ties_test());
    TAP("draw_token: shares of any size", draw_scaled_test());
    TAP("draw_token: a point of 0, and the largest share", edges_test());
    TAP("gpt_training_loss: parts of one token", parts_test());
    TAP("gpt_training_batch: every third text", every_third_test());
    TAP("top_k: which stay", keep_test());
    EACH_SET("gpt_generate", "written_*-ids", write_test(set));
    TAP("gpt_sample: what can be printed", sample_test());
    TAP("gpt_sample: beyond the context", beyond_test());
    TAP("table_losses: of bytes and of pairs", tables_test());
    EACH_SET("gpt_training_step", "steps_*-losses", step_test(set));
    refusals();
    return tap_done();
}
