/* The program that lets GPT-2 continue a text, with a small model in a
 * folder as GPT-2's own. */
#include "gpts.h"
#include "support/file.h"
#define main gpt2_main
#include "../tools/gpt2.c"
#undef main

static char folder[] = "/tmp/gpt2-XXXXXX";
static const char *const file[3] = {"vocab.json", "merges.txt",
                                    "model.safetensors"};

static const char *path_of(int k)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, file[k]);
    return path;
}

static void copy_file(int k)
{
    size_t size;
    char *text =
        file_text(tap_words("golden/gpt2_tokens/%s", file[k]), &size);
    FILE *f = fopen(path_of(k), "wb");
    if (!f || fwrite(text, 1, size, f) != size || fclose(f))
        REFUSE("%s cannot be written", path_of(k));
    free(text);
}

/* A model of random numbers that knows so many tokens. */
static void save_model(int vocabulary)
{
    Gpt g = {.vocabulary = vocabulary,
             .context_length = 100,
             .width = 8,
             .n_heads = 2,
             .layers = 2};
    Random r = random_seeded(7);
    gpt_init(&g, &g);
    gpt_fill(&r, &g);
    gpt_save(&g, path_of(2));
    gpt_free(&g);
}

/* The token with the largest logit after a text, by the plain functions. */
static int largest_after(const Gpt *g, int n, const int ids[n])
{
    int best = 0;
    GptPass p;
    gpt_pass_init_plain(&p, g, n);
    gpt_forward_plain(g, n, ids, &p);
    const float *logits = p.logits + (n - 1) * g->vocabulary;
    for (int i = 1; i < g->vocabulary; i++)
        best = logits[i] > logits[best] ? i : best;
    gpt_pass_free(&p);
    return best;
}

/* More tokens than are read at once. */
static void continue_test(void)
{
    enum { MORE = 6 };
    const char *const text = "A word attends to itself and to what comes "
                             "before it, so what is added later cannot "
                             "change what was read.";
    Gpt2 g;
    int n, best[LIKELIEST];
    gpt2_open(&g, folder);
    int *ids = begin_text(&g, text, MORE, &n);
    expect_true("as many tokens as are read in two parts",
                n > READ_AT_ONCE && n + MORE <= 100);
    gpt2_read(&g, n, ids);
    softmax(g.model.vocabulary, g.logits, g.shares);
    likeliest(g.model.vocabulary, g.shares, best);
    for (int k = 1; k < LIKELIEST; k++)
        expect_true("the larger first",
                    g.shares[best[k - 1]] > g.shares[best[k]]);
    expect_integer("the likeliest", best[0],
                   largest_after(&g.model, n, ids));
    expect_integer("tokens", gpt2_write(&g, 1, 1, n, MORE, ids), n + MORE);
    for (int i = n; i < n + MORE; i++)
        expect_integer(tap_words("token %d", i), ids[i],
                       largest_after(&g.model, i, ids));
    free(ids);
    gpt2_close(&g);
}

/* An empty text begins after the end of another one. */
static void empty_test(void)
{
    Gpt2 g;
    int n;
    gpt2_open(&g, folder);
    int *ids = begin_text(&g, "", 0, &n);
    expect_integer("tokens", n, 1);
    expect_integer("the first", ids[0], gpt2_tokens_end_of_text(&g.tokens));
    free(ids);
    gpt2_close(&g);
}

static void run(const char *text, const char *tokens)
{
    char *words[7] = {"gpt2", folder, (char *)text, (char *)tokens,
                      "0.8",  "40",   NULL};
    continue_text(6, words);
}

static const char listed[] =
    "6 tokens\n    32 'A'\n    83 't'\n    83 't'\n   425 'ent'\n"
    "    72 'i'\n   322 'on'\n";

/* What it prints of a text that it does not go on with. */
static void run_test(void)
{
    char got[2000];
    FILE *caught = tmpfile();
    fflush(stdout);
    dup2(fileno(caught), STDOUT_FILENO);
    run("Attention", "0");
    fflush(stdout);
    rewind(caught);
    got[fread(got, 1, sizeof got - 1, caught)] = '\0';
    fclose(caught);
    expect_true("the tokens of the text",
                !strncmp(got, listed, strlen(listed)));
    expect_true("five shares", strstr(got, "likeliest next\n0.00"));
    expect_true("the text", strstr(got, "it writes\nAttention\n"));
}

int main(void)
{
    if (!mkdtemp(folder))
        REFUSE("no folder %s can be made", folder);
    copy_file(0);
    copy_file(1);
    save_model(557);
    TAP("gpt2: what it writes is what plain functions find",
        continue_test());
    TAP("gpt2: an empty text", empty_test());
    TAP("gpt2: a whole run", run_test());
    REFUSES("gpt2.c: begin_text: 6 tokens, and 95 more to write: the model "
            "has room for 100",
            run("Attention", "95"));
    REFUSES("gpt2.c: continue_text: 1 arguments: DIR, TEXT, TOKENS, "
            "TEMPERATURE and TOP_K are needed",
            continue_text(2, (char *[]){"gpt2", folder, NULL}));
    save_model(99);
    REFUSES(tap_words("gpt2.c: gpt2_open: %s: the vocabulary has 557 "
                      "tokens, and the model knows 99: as many are needed",
                      folder),
            run("Attention", "3"));
    for (int k = 0; k < 3; k++)
        remove(path_of(k));
    if (rmdir(folder))
        REFUSE("%s is not empty: a file has been left behind", folder);
    return tap_done();
}
