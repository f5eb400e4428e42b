/* src/gpt.c: models, passes and caches, what they begin with and have to
 * themselves, and what is refused. */
#include "gpts.h"
#include "attention/13_multi_head.h"
#include "attention/22_gpt.h"
#include "attention/kv_cache.h"

/* How many of a pass's entries dropout leaves out, of four masks in two
 * blocks; what it keeps is divided by 1 - rate. */
static int dropped_by(const GptPass *p, double rate)
{
    enum { N = 5 * 6 };
    int dropped = 0;
    for (int k = 0; k < 4; k++) {
        const GptBlockPass *b = &p->block[k / 2];
        float x[N];
        tap_fill(N, x, 1, 1);
        gpt_drop(b, k % 2 ? b->keep_2 : b->keep_1, N, x, x);
        for (int i = 0; i < N; i++) {
            dropped += x[i] == 0;
            if (x[i] != 0)
                expect_near("kept", x[i], 1 / (1 - rate), 1e-6, 0);
        }
    }
    return dropped;
}

/* Each rate above 0 and below 1 draws new masks; 0 and 1 draw nothing. A
 * pass that is cleared keeps its masks; its attention's tables become 0. */
static void drop_test(void)
{
    static const double rate[4] = {0.25, 0.75, 1, 0};
    Gpt g = any_gpt(2);
    GptPass p;
    Random r = random_seeded(5), before;
    gpt_pass_init(&p, &g, 1, 5);
    expect_equal("none without dropout", dropped_by(&p, 0), 0);
    for (int k = 0; k < 4; k++) {
        before = r;
        gpt_pass_drop(&p, &r, rate[k]);
        const int dropped = dropped_by(&p, rate[k]);
        expect_near("dropped", dropped, 120 * rate[k], 0, k < 2 ? 14 : 0);
        Trace *t = &p.block[k % 2].attention;
        tap_fill((int)t->count, t->memory, 1, 2);
        gpt_pass_clear(&p);
        for (size_t i = 0; i < t->count; i++)
            expect_equal("the attention, cleared", t->memory[i], 0);
        expect_equal("the same masks", dropped_by(&p, rate[k]), dropped);
        expect_equal("draws", memcmp(&r, &before, sizeof r) != 0, k < 2);
    }
    expect_true("no mask is left", !p.keep && !p.block->keep_1);
    for (int twice = 0; twice < 2; twice++) {
        gpt_pass_free(&p);
        gpt_free(&g);
        expect_true("nothing is left",
                    !p.memory && !p.block && !g.memory && !g.block);
    }
}

static void refused_sizes(void)
{
    Gpt g = any_gpt(2);
    int texts = 2, n = 3;
    const char *over = "gpt.c: sizes_check: a width of 6 for 4 heads "
                       "leaves 2 over: a multiple is needed";
    const Wrong wrong[] = {
        WRONG(g.vocabulary, 0),  WRONG(g.context_length, 0),
        WRONG(g.width, 0),       WRONG(g.width, 1 << 29),
        WRONG(g.n_heads, 0),     WRONG(g.layers, 0),
        SAYS(g.n_heads, 4, over)};
    const char *many =
        "gpt.c: gpt_pass_init: 33554432 texts of 3 tokens, with 4 times 6 "
        "numbers each: at most 2147483647 numbers are needed";
    const Wrong wrong_pass[] = {WRONG(texts, 0), WRONG(n, 0), WRONG(n, 6),
                                SAYS(texts, 1 << 25, many)};
    REFUSES_WRONG("gpt_init", wrong, gpt_init(&(Gpt){0}, &g));
    REFUSES_WRONG("gpt_pass_init", wrong_pass,
                  gpt_pass_init(&(GptPass){0}, &g, texts, n));
    gpt_free(&g);
}

/* A model and its gradient, with a pass for each, of which one number is
 * changed by hand. */
static void refused_passes(void)
{
    static const int ids[6];
    Gpt g = any_gpt(2), grad_g = any_gpt(2);
    GptPass p, grad_p;
    gpt_pass_init(&p, &g, 2, 3);
    gpt_pass_init(&grad_p, &g, 2, 3);
    const Wrong wrong_pass[] = {WRONG(p.layers, 1), WRONG(p.width, 8),
                                WRONG(p.vocabulary, 8)};
    const Wrong wrong[] = {
        WRONG(p.width, 8),           WRONG(grad_p.layers, 1),
        WRONG(grad_p.texts, 1),      WRONG(grad_p.n, 2),
        WRONG(grad_g.vocabulary, 8), WRONG(grad_g.context_length, 6),
        WRONG(grad_g.width, 8),      WRONG(grad_g.n_heads, 3),
        WRONG(grad_g.layers, 1),     WRONG(grad_g.has_own_output, 1)};
    REFUSES_WRONG("gpt_forward", wrong_pass,
                  gpt_forward(&g, NULL, ids, &p));
    REFUSES_WRONG("gpt_backward", wrong,
                  gpt_backward(&g, ids, &p, &grad_p, &grad_g));
    gpt_pass_free(&p);
    gpt_pass_free(&grad_p);
    gpt_free(&g);
    gpt_free(&grad_g);
}

static void tests_of_caches(void)
{
    static const int ids[6];
    Attention a = {.d_x = 6, .d_y = 6, .n_heads = 2, .d_k = 2, .d_v = 4};
    KVCache c = {.n_kv_heads = 2, .d_k = 2, .d_v = 4, .capacity = 5};
    Trace one;
    const Wrong wrong[] = {SAYS(c.n_kv_heads, 1,
                                "gpt_fast.c: attend_cached: a cache of "
                                "n_kv_heads, d_k, d_v = 1, "
                                "2, 4: 2, 2, 4 are needed"),
                           WRONG(c.d_k, 3), WRONG(c.d_v, 5),
                           WRONG(one.m, 2)};
    Gpt g = any_gpt(2);
    GptPass p;
    KVCache cache[2];
    Random r = random_seeded(1);
    attention_init(&a, &a);
    kv_cache_init(&c, &c);
    trace_init_texts(&one, &a, 1, 1);
    gpt_pass_init(&p, &g, 2, 3);
    gpt_caches_init(cache, &g);
    TAP_REFUSES("gpt_pass_check", "two texts and a cache", NULL,
                gpt_forward(&g, cache, ids, &p));
    TAP_REFUSES("gpt_pass_check", "a cache and a pass with dropout",
                "gpt.c: gpt_pass_check: a cache, and a pass with dropout "
                "of 0.25: one without is needed",
                gpt_pass_drop(&p, &r, 0.25);
                p.texts = 1; gpt_forward(&g, cache, ids, &p));
    REFUSES("dropout_rate_check: a dropout rate of -0.1: from 0 to 1 is "
            "needed",
            gpt_pass_drop(&p, &r, -0.1));
    REFUSES("gpt.c: gpt_pass_drop: a pass without tables: gpt_pass_init "
            "makes room for them",
            gpt_pass_drop(&(GptPass){0}, NULL, 0.5));
    REFUSES_WRONG("attend_cached", wrong,
                  attend_cached(&a, &c, 1, (float[1][6]){{0}}, &one));
    TAP("attend_cached: alone, without a layer of output",
        tap_fill((int)a.count, a.memory, -1, 1),
        attend_cached(&a, &c, 1, (float[1][6]){{1, 2, 3, 4, 5, 6}}, &one),
        expect_list("its own value", 8, one.joined, one.value, 1e-6, 0));
    trace_free(&one);
    kv_cache_free(&c);
    attention_free(&a);
    gpt_caches_free(cache, &g);
    gpt_pass_free(&p);
    gpt_free(&g);
}

int main(void)
{
    TAP("gpt_drop: each mask, at each rate", drop_test());
    refused_sizes();
    refused_passes();
    tests_of_caches();
    return tap_done();
}
