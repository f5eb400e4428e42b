/* Chapter 24 against PyTorch: golden/24_inside. */
#define CHAPTER "24_inside"
#include "gpts.h"
#include "attention/24_inside.h"
#include "attention/prose.h"

/* The first two of a head's scores. */
static void weights_test(const char *set)
{
    Gpt g = golden_gpt(set);
    const int heads = dim(set, "weights", 0);
    float(*weights)[2] = due(set, "weights", 1e-5, 1e-6);
    float score[heads][HEAD_SCORES];
    head_weights(&g, SHAPE(set, "ids"), (void *)golden_ints(set, "ids"),
                 score, due(set, "loss", 1e-5, 0));
    for (int i = 0; i < heads; i++)
        memcpy(weights[i], score[i], sizeof weights[i]);
    gpt_free(&g);
}

static void backs_test(const char *set)
{
    Gpt g = golden_gpt(set);
    GptPass p = golden_pass(set, &g);
    const int n = dim(set, "ids", 1), heads = dim(set, "backs", 0);
    float(*backs)[n] = due(set, "backs", 1e-5, 1e-6), mean[heads];
    gpt_forward(&g, NULL, golden_ints(set, "ids"), &p);
    for (int back = 0; back < n; back++) {
        heads_back(&p, back, back, mean);
        for (int i = 0; i < heads; i++)
            backs[i][back] = mean[i];
    }
    gpt_pass_free(&p);
    gpt_free(&g);
}

static void scores_test(const char *set)
{
    Gpt g = golden_gpt(set);
    head_scores(&g, SHAPE(set, "ids"), (void *)golden_ints(set, "ids"),
                due(set, "scores", 1e-5, 1e-6), due(set, "loss", 1e-5, 0));
    expect_close("parameters", g.memory, golden(set, "parameters"),
                 EXACTLY);
    gpt_free(&g);
}

/* Of an output layer of 2 rows for 3 heads of 2 entries: its columns are
 * exchanged, and again. */
static void swap_test(void)
{
    static const float once[3][12] = {
        {20, 21, 2, 3, 4, 5, 22, 23, 8, 9, 10, 11},
        {0, 1, 20, 21, 4, 5, 6, 7, 22, 23, 10, 11},
        {0, 1, 2, 3, 20, 21, 6, 7, 8, 9, 22, 23}};
    float weight[12], before[12];
    Attention a = {.n_heads = 3, .d_k = 1, .d_v = 2, .d_out = 2};
    a.out = (Linear){.d_in = 6, .d_out = 2, .weight = weight};
    for (int k = 0; k < 12; k++)
        weight[k] = before[k] = (float)k;
    for (int head = 0; head < 3; head++) {
        float columns[2][2] = {{20, 21}, {22, 23}};
        head_swap(&a, head, columns);
        expect_list("weight", 12, weight, once[head], EXACTLY);
        head_swap(&a, head, columns);
        expect_list("weight again", 12, weight, before, EXACTLY);
    }
}

static void random_test(const char *set)
{
    Random r = input_random(set);
    draw_twice(&r, (int)golden_number(set, "vocabulary"), NULL,
               SHAPE(set, "ids"), due(set, "ids", EXACTLY));
    expect_next_draw(set, &r);
}

/* The longest passage of the text held out is all of it, twice. Shorter
 * ones are part of the scores that tests/train.c compares. */
static void passage_test(void)
{
    const int length = held_out()->length;
    const char *source = held_out()->bytes;
    int all[1][2 * length], others = 0;
    draw_twice(some_draws(), 128, held_out(), 1, 2 * length, all);
    for (int i = 0; i < 2 * length; i++)
        others += all[0][i] != source[i % length];
    expect_equal("other ids", others, 0);
}

/* For texts of one token, again and again, and a small model of which one
 * parameter is this number, and all others 0. */
static void heads_for(int texts, int n, int id, float number)
{
    int ids[20];
    float score[4][HEAD_SCORES], loss[2];
    Gpt g = small_sizes;
    gpt_init(&g, &g);
    g.tokens[0] = number;
    for (int i = 0; i < 20; i++)
        ids[i] = id;
    head_scores(&g, texts, n, (const int(*)[n])ids, score, loss);
    gpt_free(&g);
}

static void refusals(void)
{
    static volatile int none = 0;
    static float weights[3][3], columns[8][4], score[4][HEAD_SCORES];
    static float loss[2], mean[4];
    static const int other[2][6] = {{1, 2, 3, 1, 2, 3}, {1, 2, 3, 1, 2, 4}};
    static const int first[1][6] = {{1, 2, 3, 2, 2, 3}};
    static int ids[1][5]; /* more is refused before it is written */
    Random r = random_seeded(1);
    Gpt g = small_sizes;
    GptPass p;
    gpt_init(&g, &g);
    gpt_pass_init(&p, &g, 1, 4);
    Attention bare = g.block->attention;
    bare.d_out = 0;
    REFUSES(NULL, weight_back(3, weights, 1, 2));
    REFUSES_SUCH("a from of n", weight_back(3, weights, 3, 1));
    REFUSES_SUCH("a back below 0", weight_back(3, weights, 1, none - 1));
    REFUSES_SUCH("a from of n", heads_back(&p, 4, 1, mean));
    REFUSES(NULL, head_swap(&g.block->attention, 2, columns));
    REFUSES_SUCH("head -1", head_swap(&g.block->attention, -1, columns));
    REFUSES_SUCH("no output layer", head_swap(&bare, 0, columns));
    REFUSES("24_inside.c: twice_check: texts of 4 tokens: an even number "
            "from 6 on is needed",
            head_weights(&g, 1, 4, other, score, loss));
    REFUSES("24_inside.c: twice_check: text 1 has 3 at token 2 and 4 at "
            "token 5: the same is needed",
            head_weights(&g, 2, 6, other, score, loss));
    REFUSES_SUCH("two first tokens",
                 head_scores(&g, 1, 6, first, score, loss));
    TAP_REFUSES("head_scores", "more tokens than the context", NULL,
                heads_for(1, 10, 1, 1));
    TAP_REFUSES("head_scores", "no texts", NULL, heads_for(none, 6, 1, 1));
    TAP_REFUSES("head_scores", "ids that are no row", NULL,
                heads_for(1, 6, 128, 1));
    TAP_REFUSES("head_scores", "a model with nan",
                "24_inside.c: head_weights: losses of nan and nan: a model "
                "with finite ones is needed",
                heads_for(1, 6, 0, NAN));
    REFUSES("prose.c: draw_twice: 1 texts of 5 tokens: at least 1, and "
            "an even number from 6 on, are needed",
            draw_twice(&r, 128, NULL, 1, 5, ids));
    REFUSES_SUCH("texts of 4",
                 draw_twice(&r, 128, NULL, 1, 4, (int(*)[4])ids));
    REFUSES_SUCH("no texts",
                 draw_twice(&r, 128, NULL, none, 6, (int(*)[6])ids));
    REFUSES("prose.c: draw_twice: texts of 47158 tokens: at most 47156, "
            "twice the source, are needed",
            draw_twice(&r, 128, held_out(), 1, 47158, (int(*)[47158])ids));
    gpt_pass_free(&p);
    gpt_free(&g);
}

int main(void)
{
    EACH_SET("weight_back", "back_*-mean",
             expect_near("mean",
                         weight_back(dim(set, "weights", 0),
                                     input(set, "weights"),
                                     (int)golden_number(set, "start"),
                                     (int)golden_number(set, "back")),
                         golden_number(set, "mean"), 1e-6, 0));
    TAP("head_swap: the columns of a head, and back", swap_test());
    EACH_SET("head_weights", "heads_*-weights", weights_test(set));
    EACH_SET("heads_back", "heads_*-backs", backs_test(set));
    EACH_SET("head_scores", "heads_*-scores", scores_test(set));
    EACH_SET("draw_twice", "twice_*-ids", random_test(set));
    TAP("draw_twice: all of the text held out", passage_test());
    refusals();
    return tap_done();
}
