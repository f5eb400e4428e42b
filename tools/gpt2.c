#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdbool.h>
#include <time.h>

#include "attention.h"

/* GPT-2 continues a text: `make gpt2 DIR=folder TEXT="..."`. Its tokens are
 * those of gpt2_tokens.c, its model is chapter 22's by the kernel, and what
 * it writes is drawn as in chapter 23. */

enum { READ_AT_ONCE = 64, LIKELIEST = 5 };

typedef struct {
    Gpt2Tokens tokens;
    Gpt model;
    KVCache *cache; /* [layers] */
    float *logits;  /* [vocabulary], of the token after those read */
    float *shares;  /* [vocabulary] */
} Gpt2;

static void gpt2_open(Gpt2 *g, const char *folder)
{
    char path[strlen(folder) + sizeof "/model.safetensors"];
    sprintf(path, "%s/model.safetensors", folder);
    gpt2_tokens_read(&g->tokens, folder);
    gpt_load(&g->model, path);
    if (g->tokens.vocabulary != g->model.vocabulary)
        REFUSE("%s: the vocabulary has %d tokens, and the model knows %d: "
               "as many are needed",
               folder, g->tokens.vocabulary, g->model.vocabulary);
    g->cache = new_aligned((size_t)g->model.layers, sizeof *g->cache);
    gpt_caches_init(g->cache, &g->model);
    g->logits = new_table(1, g->model.vocabulary);
    g->shares = new_table(1, g->model.vocabulary);
}

static void gpt2_close(Gpt2 *g)
{
    gpt_caches_free(g->cache, &g->model);
    gpt2_tokens_free(&g->tokens);
    gpt_free(&g->model);
    free(g->cache);
    free(g->logits);
    free(g->shares);
}

/* A few tokens at a time, so that a long text needs no more memory. */
static void gpt2_read(Gpt2 *g, int n, const int ids[n])
{
    const size_t size = (size_t)g->model.vocabulary;
    for (int i = 0, some; i < n; i += some) {
        GptPass p;
        some = n - i < READ_AT_ONCE ? n - i : READ_AT_ONCE;
        gpt_pass_init(&p, &g->model, 1, some);
        gpt_forward(&g->model, g->cache, ids + i, &p);
        memcpy(g->logits, p.logits + (size_t)(some - 1) * size,
               size * sizeof *g->logits);
        gpt_pass_free(&p);
    }
}

/* The ids of a text, to be freed, with room for those to come. A text
 * without tokens begins as texts do that GPT-2 learned from, after the end
 * of another. */
static int *begin_text(const Gpt2 *g, const char *text, int more, int *n)
{
    const size_t bytes = strlen(text);
    const int most = g->model.context_length;
    const int found = gpt2_tokens_encode(&g->tokens, bytes, text, 0, NULL);
    *n = found ? found : 1;
    if (*n > most - more)
        REFUSE("%d tokens, and %d more to write: the model has room for %d",
               *n, more, most);
    int *ids = new_list((size_t)(*n + more), sizeof *ids);
    gpt2_tokens_encode(&g->tokens, bytes, text, found, ids);
    if (!found)
        ids[0] = gpt2_tokens_end_of_text(&g->tokens);
    return ids;
}

/* The ids of the largest shares, the largest first. */
static void likeliest(int n, const float shares[n], int ids[LIKELIEST])
{
    for (int k = 0; k < LIKELIEST; k++) {
        ids[k] = -1;
        for (int i = 0; i < n; i++) {
            bool is_new = true;
            for (int j = 0; j < k; j++)
                is_new &= ids[j] != i;
            if (is_new && (ids[k] < 0 || shares[i] > shares[ids[k]]))
                ids[k] = i;
        }
    }
}

/* A token's bytes, as they are or so that they stay in their line. */
static void print_token(const Gpt2 *g, int id, bool is_in_line)
{
    char text[4096];
    const size_t most = sizeof text;
    size_t n = gpt2_tokens_decode(&g->tokens, 1, &id, most, text);
    for (size_t i = 0; i < n && i < most; i++)
        if (is_in_line && text[i] == '\n')
            printf("\\n");
        else
            putchar(text[i]);
}

static void print_tokens(const Gpt2 *g, int n, const int ids[n])
{
    printf("%d tokens\n", n);
    for (int i = 0; i < n; i++) {
        printf("%6d '", ids[i]);
        print_token(g, ids[i], true);
        printf("'\n");
    }
}

static void print_likeliest(Gpt2 *g)
{
    int ids[LIKELIEST];
    const int most = g->model.vocabulary;
    softmax(most, g->logits, g->shares);
    likeliest(most, g->shares, ids);
    puts("likeliest next");
    for (int k = 0; k < LIKELIEST && k < most; k++) {
        printf("%.4f '", (double)g->shares[ids[k]]);
        print_token(g, ids[k], true);
        printf("'\n");
    }
}

/* Draws up to `more` tokens after the n that have been read, and prints each
 * at once. The token that ends a text ends this, too. Returns how many
 * tokens there are then. */
static int gpt2_write(Gpt2 *g, float temperature, int k, int n, int more,
                      int ids[n + more])
{
    Random r = random_seeded(123);
    for (int end = n + more; n < end; n++) {
        ids[n] = next_token(&r, temperature, k, g->model.vocabulary,
                            g->logits, g->shares);
        if (ids[n] == g->tokens.end_of_text)
            break;
        print_token(g, ids[n], false);
        fflush(stdout);
        if (n + 1 < end)
            gpt2_read(g, 1, &ids[n]);
    }
    return n;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int continue_text(int argc, char *argv[])
{
    if (argc != 6)
        REFUSE("%d arguments: DIR, TEXT, TOKENS, TEMPERATURE and TOP_K are "
               "needed",
               argc - 1);
    Gpt2 g;
    gpt2_open(&g, argv[1]);
    const int most = g.model.context_length, size = g.model.vocabulary;
    const int more =
        (int)parse_integer("TOKENS", argv[3], 0, (uint64_t)most);
    const float temperature = parse_float("TEMPERATURE", argv[4]);
    const int k = (int)parse_integer("TOP_K", argv[5], 0, (uint64_t)size);
    int n, *ids = begin_text(&g, argv[2], more, &n);
    print_tokens(&g, n, ids);
    const double begun = seconds();
    gpt2_read(&g, n, ids);
    const double read = seconds();
    print_likeliest(&g);
    puts("it writes");
    printf("%s", argv[2]);
    const int written = gpt2_write(&g, temperature, k, n, more, ids) - n;
    const double end = seconds();
    printf("\n%d tokens read, %.0f a second; %d written, %.0f a second\n",
           n, n / (read - begun), written, written / (end - read));
    free(ids);
    gpt2_close(&g);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(continue_text, argc, argv);
}
