#include "inside.h"

/* ---- The text */

/* What cannot be seen has a sign of its own: U+2400 and so on. */
static void name_byte(int id, char name[NAME])
{
    if (id == ' ' || id == '\n')
        strcpy(name, id == ' ' ? "␣" : "↵");
    else if (id < ' ' || id == 127)
        snprintf(name, NAME, "\xe2\x90%c", id == 127 ? 0xa1 : 0x80 + id);
    else
        snprintf(name, NAME, "%c", id);
}

/* Chapter 21's letters, with - for the word before the first. */
static void name_letter(int id, char name[NAME])
{
    snprintf(name, NAME, "%c", id < REPEATED_WORDS - 1 ? 'a' + id : '-');
}

static void name_word(int id, char name[NAME])
{
    snprintf(name, NAME, "%s", agreement_word[id]);
}

static void name_vocabulary(Inside *in)
{
    static void (*const name[STAGES])(int id, char name[NAME]) = {
        name_byte, name_letter, name_word};
    for (int id = 0; id < in->g.vocabulary; id++)
        name[in->stage](id, in->vocabulary[id]);
}

/* Token by token. */
static void take_token(Inside *in, int id)
{
    if (in->n < MOST_TOKENS)
        in->ids[in->n] = id;
    in->n++;
}

static void read_characters(Inside *in)
{
    const int is_byte = in->stage == LANGUAGE;
    for (const char *c = in->words; *c; c++) {
        const int at = (int)(c - in->words) + 1;
        const int is_seen = *c >= ' ' && *c <= '~';
        if (!is_seen)
            REFUSE(
                "character %d has byte 0x%02X: letters, digits and signs "
                "of ASCII are needed, which the model has read",
                at, (unsigned char)*c);
        if (!is_byte && (*c < 'a' || *c > 'p'))
            REFUSE("character %d is '%c': letters from a to p are needed, "
                   "which the model has read",
                   at, *c);
        take_token(in, is_byte ? *c : *c - 'a');
    }
}

/* A sentence with the blank at its end. The two verbs are no words of one:
 * the model has only answered with them. */
static void read_words(Inside *in)
{
    enum { READ = AGREEMENT_WORDS - 2 };
    const char *c = in->words + strspn(in->words, " ");
    int id = 0, blanks = 0;
    for (; *c; c += strspn(c, " ")) {
        const size_t size = strcspn(c, " ");
        for (id = 0; id < READ; id++)
            if (!strncmp(agreement_word[id], c, size) &&
                !agreement_word[id][size])
                break;
        if (id == READ)
            REFUSE("there is no word '%.*s': words of chapter 21's "
                   "sentences are needed, such as the, dog, mice, near or "
                   "old",
                   (int)size, c);
        blanks += !strcmp(agreement_word[id], "_");
        take_token(in, id);
        c += size;
    }
    if (in->n && (blanks != 1 || strcmp(agreement_word[id], "_")))
        REFUSE("the sentence has %d blanks and ends in '%s': a single _ at "
               "its end, for the verb, is needed",
               blanks, agreement_word[id]);
}

static void read_text(Inside *in)
{
    const int most = in->g.context_length < MOST_TOKENS
                         ? in->g.context_length
                         : MOST_TOKENS;
    if (in->stage == VERBS)
        read_words(in);
    else
        read_characters(in);
    in->given = in->n;
    in->n += in->write;
    if (in->given < 1 || in->n > most) {
        if (in->stage != LANGUAGE)
            REFUSE("the text has %d %s: from 1 to %d are needed", in->given,
                   in->stage == VERBS ? "words" : "characters", most);
        REFUSE("the text has %d characters, and %d more are to be written: "
               "from 1 to %d in all are needed",
               in->given, in->write, most);
    }
    for (int i = 0; i < MOST_TOKENS; i++) {
        in->places[i] = i;
        in->before[i] = i ? in->ids[i - 1] : REPEATED_WORDS - 1;
    }
}

/* With a temperature of 0, always the token with the largest share. */
static void write_on(Inside *in)
{
    Random r = random_seeded(in->seed);
    const int is_cold = !(in->temperature > 0);
    gpt_generate(&in->g, &r, is_cold ? 1 : (float)in->temperature,
                 is_cold ? 1 : in->top_k, in->given, in->n, in->ids);
}

/* ---- The list of steps. Names, shapes and parameters of a step follow from
 * how it is made, and of what. */

/* A parameter that a layer has, named after it. */
static int stored(Inside *in, const char *layer, const char *what, int n,
                  int m, float *x)
{
    Step s = {.made = PARAMETER, .n = n, .m = m, .x = x};
    s.rows = s.columns = "numbers";
    snprintf(s.id, sizeof s.id, "%.14s%s%s", layer, *layer ? "." : "",
             what);
    snprintf(s.label, sizeof s.label, "%s%s%.14s", what,
             *layer ? " of " : "", layer);
    in->step[in->steps] = s;
    return in->steps++;
}

/* How many columns a step has. */
static int columns_of(const Inside *in, const Step *s)
{
    const Step *a = &in->step[s->from[0]], *b = &in->step[s->from[1]];
    return s->made == NORM      ? ((const Norm *)s->layer)->d
           : s->made == LINEAR  ? ((const Linear *)s->layer)->d_out
           : s->made == SCORES  ? in->n
           : s->made == CONTEXT ? b->m
           : s->made == BESIDE  ? a->m + b->m
           : s->made == BEST    ? BEST_COUNT
                                : a->m;
}

static void add_parameters(Inside *in, Step *s)
{
    const Norm *norm = s->layer;
    const Linear *linear = s->layer;
    if (s->made == NORM) {
        s->from[1] = stored(in, s->id, "weight", 1, norm->d, norm->weight);
        s->from[2] = stored(in, s->id, "bias", 1, norm->d, norm->bias);
    } else {
        s->from[1] = stored(in, s->id, "weight", linear->d_out,
                            linear->d_in, linear->weight);
        if (linear->bias)
            s->from[2] =
                stored(in, s->id, "bias", 1, linear->d_out, linear->bias);
    }
}

/* A step of a block, or with a block of -1 of the whole model, that is made
 * of steps a and b, or of a and what a layer holds. */
static int add(Inside *in, int block, Made made, const char *name,
               const char *label, int a, int b, const void *layer)
{
    Step s = {.made = made, .from = {a, b, -1}, .layer = layer};
    char of_block[20] = "", before[20] = "";
    if (block >= 0) {
        snprintf(before, sizeof before, "%d.", block);
        if (in->stage == LANGUAGE)
            snprintf(of_block, sizeof of_block, "block %d: ", block);
    }
    snprintf(s.id, sizeof s.id, "%.6s%.16s", before, name);
    snprintf(s.label, sizeof s.label, "%s%.38s", of_block, label);
    if (layer)
        add_parameters(in, &s);
    const int is_vocabulary = made == SHARES || layer == &in->g.output ||
                              layer == &in->only.attention.out;
    s.heads = made == SCORES || made == WEIGHTS ? in->g.n_heads : 0;
    s.n = made == BEST ? 1 : in->n;
    s.m = columns_of(in, &s);
    s.rows = made == BEST ? "last" : "words";
    s.columns = made == BEST    ? "best"
                : s.heads       ? "words"
                : is_vocabulary ? "tokens"
                                : "numbers";
    s.x = new_table((s.heads ? s.heads : 1) * s.n, s.m);
    in->step[in->steps] = s;
    return in->steps++;
}

/* Returns the step with the results of all heads side by side, of steps x,
 * who asks, and y, who is asked. */
static int add_heads(Inside *in, int l, int x, int y)
{
    const Attention *a = &in->g.block[l].attention;
    const int query =
        add(in, l, LINEAR, "query", "queries", x, 0, &a->query);
    const int key = add(in, l, LINEAR, "key", "keys", y, 0, &a->key);
    const int value =
        add(in, l, LINEAR, "value", "values", y, 0, &a->value);
    const int scores =
        add(in, l, SCORES, "scores", "scores", query, key, NULL);
    in->weights[l] = add(in, l, WEIGHTS, "weights", "attention weights",
                         scores, 0, NULL);
    return add(in, l, CONTEXT, "context",
               a->n_heads > 1 ? "heads side by side" : "context vectors",
               in->weights[l], value, NULL);
}

/* Returns the step whose table is the sum that leaves the block. */
static int add_block(Inside *in, int l, int x)
{
    const GptBlock *b = &in->g.block[l];
    const int norm_1 =
        add(in, l, NORM, "norm_1", "what attention gets", x, 0, &b->norm_1);
    const int context = add_heads(in, l, norm_1, norm_1);
    const int out = add(in, l, LINEAR, "out", "what attention adds",
                        context, 0, &b->attention.out);
    const int between =
        add(in, l, SUM, "between", "sum after attention", x, out, NULL);
    const int norm_2 = add(in, l, NORM, "norm_2", "what the network gets",
                           between, 0, &b->norm_2);
    const int up = add(in, l, LINEAR, "up", "the network's wide layer",
                       norm_2, 0, &b->up);
    const int active =
        add(in, l, GELU, "gelu", "what GELU leaves of it", up, 0, NULL);
    const int down = add(in, l, LINEAR, "down", "what the network adds",
                         active, 0, &b->down);
    return add(in, l, SUM, "after", "sum after the network", between, down,
               NULL);
}

/* From embeddings to logits: blocks, and a last norm. */
static int add_gpt(Inside *in, int words, int places)
{
    int x = add(in, -1, SUM, "sum", "sum of embedding and position", words,
                places, NULL);
    for (int l = 0; l < in->g.layers; l++)
        x = add_block(in, l, x);
    x = add(in, -1, NORM, "norm", "what the output gets", x, 0,
            &in->g.last);
    return add(in, -1, LINEAR, "output", "logits", x, 0, &in->g.output);
}

/* The same in a model of chapter 21: a key has a position, and in texts that
 * come again the word before it as well. */
static int add_model(Inside *in, int tokens, int words, int places)
{
    int asked = words;
    if (in->stage == REPEATED) {
        const int before =
            add(in, -1, ROW_OF, "before", "embeddings of letters before",
                tokens, 0, NULL);
        in->step[before].ids = in->before;
        asked = add(in, -1, BESIDE, "both", "letters and those before",
                    words, before, NULL);
    }
    asked = add(in, -1, SUM, "sum", "what is asked, with its position",
                asked, places, NULL);
    const int context = add_heads(in, 0, words, asked);
    return add(in, -1, LINEAR, "output", "logits", context, 0,
               &in->only.attention.out);
}

static void add_steps(Inside *in)
{
    const Gpt *g = &in->g;
    const int tokens = stored(in, "", "table of embeddings", g->vocabulary,
                              g->width, g->tokens);
    const int positions =
        stored(in, "", "table of positions", g->context_length,
               in->stage != LANGUAGE ? in->m.attention.d_y : g->width,
               g->positions);
    strcpy(in->step[tokens].id, "tokens");
    strcpy(in->step[positions].id, "positions");
    in->step[tokens].rows = "tokens";
    const int words =
        add(in, -1, ROW_OF, "embeddings", "embeddings", tokens, 0, NULL);
    const int places =
        add(in, -1, ROW_OF, "places", "positions", positions, 0, NULL);
    in->step[words].ids = in->ids;
    in->step[places].ids = in->places;
    in->logits = in->stage != LANGUAGE
                     ? add_model(in, tokens, words, places)
                     : add_gpt(in, words, places);
    const int is_next = in->stage != VERBS;
    const int shares =
        add(in, -1, SHARES, "shares",
            is_next ? "shares of the next token" : "shares of the answer",
            in->logits, 0, NULL);
    in->next =
        add(in, -1, BEST, "next",
            is_next ? "most likely next tokens" : "most likely answers",
            shares, 0, NULL);
    in->step[in->next].ids = in->best;
}

/* ---- From settings to steps */

void inside_switch(Inside *in)
{
    for (int l = 0; l < in->g.layers; l++)
        for (int h = 0; h < in->g.n_heads; h++)
            if (in->is_off[l][h])
                head_swap(&in->g.block[l].attention, h,
                          (void *)in->columns[l][h]);
}

/* Room for the columns of the heads that are switched off, filled with 0. */
static void make_columns(Inside *in)
{
    const Attention *a = &in->g.block->attention;
    for (int l = 0; l < in->g.layers; l++)
        for (int h = 0; h < in->g.n_heads; h++)
            if (in->is_off[l][h])
                in->columns[l][h] = new_block((size_t)(a->d_out * a->d_v));
}

/* What a model of chapter 21 has of a GPT. */
static void wrap_model(Inside *in)
{
    const Model *m = &in->m;
    in->only.attention = m->attention;
    in->g = (Gpt){.vocabulary = m->vocabulary,
                  .context_length = m->context_length,
                  .width = m->attention.d_x,
                  .n_heads = m->attention.n_heads,
                  .layers = 1,
                  .tokens = m->tokens,
                  .positions = m->positions,
                  .block = &in->only};
}

void inside_load(Inside *in, const char *path)
{
    static const int words[STAGES] = {MOST_KNOWN, REPEATED_WORDS,
                                      AGREEMENT_WORDS};
    if (in->stage == LANGUAGE)
        gpt_load(&in->g, path);
    else {
        model_load(&in->m, path);
        wrap_model(in);
    }
    const Gpt *g = &in->g;
    const int wide = in->stage == REPEATED ? 2 * g->width : g->width;
    if (in->stage != LANGUAGE && in->m.attention.d_y != wide)
        REFUSE("%s: a model with d_x, d_y = %d, %d: a d_y of %d is needed",
               path, g->width, in->m.attention.d_y, wide);
    if (g->vocabulary != words[in->stage] || g->layers > MOST_LAYERS ||
        g->n_heads > MOST_HEADS)
        REFUSE("%s: a model of %d tokens, %d blocks and %d heads: %d, at "
               "most %d and at most %d are needed",
               path, g->vocabulary, g->layers, g->n_heads, words[in->stage],
               MOST_LAYERS, MOST_HEADS);
}

void inside_begin(Inside *in)
{
    read_text(in);
    make_columns(in);
    inside_switch(in);
    if (in->write)
        write_on(in);
    name_vocabulary(in);
    for (int i = 0; i < in->n; i++)
        strcpy(in->name[i], in->vocabulary[in->ids[i]]);
    add_steps(in);
}

void inside_free(Inside *in)
{
    for (int k = 0; k < in->steps; k++)
        if (in->step[k].made != PARAMETER)
            free(in->step[k].x);
    for (int i = 0; i < MOST_LAYERS * MOST_HEADS; i++)
        free(in->columns[i / MOST_HEADS][i % MOST_HEADS]);
    if (in->stage == LANGUAGE)
        gpt_free(&in->g);
    else
        model_free(&in->m);
}

/* ---- The steps themselves */

const float *inside_row(const Step *s, int h, int i)
{
    return s->x + ((ptrdiff_t)h * s->n + i) * s->m;
}

static void compute_scores(const Inside *in, const Step *s)
{
    const int n = s->n, heads = s->heads;
    const int d = in->step[s->from[0]].m / heads;
    float *query = new_table(heads * n, d), *key = new_table(heads * n, d);
    split_heads(n, heads, d, (void *)in->step[s->from[0]].x, (void *)query);
    split_heads(n, heads, d, (void *)in->step[s->from[1]].x, (void *)key);
    for (int h = 0; h < heads; h++) {
        void *scores = TABLES(n, n, s->x)[h];
        dot_scores(n, n, d, TABLES(n, d, query)[h], TABLES(n, d, key)[h],
                   scores);
        scale_scores(n, n, d, scores);
        apply_mask(n, n, in->mask, scores);
    }
    free(query);
    free(key);
}

static void compute_context(const Inside *in, const Step *s)
{
    const Step *weights = &in->step[s->from[0]];
    const int n = s->n, heads = weights->heads, d = s->m / heads;
    float *value = new_table(heads * n, d), *out = new_table(heads * n, d);
    split_heads(n, heads, d, (void *)in->step[s->from[1]].x, (void *)value);
    for (int h = 0; h < heads; h++)
        matmul(n, d, n, TABLES(n, n, weights->x)[h], TABLES(n, d, value)[h],
               TABLES(n, d, out)[h]);
    merge_heads(n, heads, d, (void *)out, (void *)s->x);
    free(value);
    free(out);
}

/* Logits, divided by the temperature, of which the k largest are kept; with
 * a temperature of 0 the largest alone. */
static void compute_shares(const Inside *in, const Step *s)
{
    const int is_cold = !(in->temperature > 0);
    const float t = is_cold ? 1 : (float)in->temperature;
    const int k = is_cold ? 1 : in->top_k;
    float *logits = new_table(1, s->m);
    for (int i = 0; i < s->n; i++) {
        const float *given = inside_row(&in->step[s->from[0]], 0, i);
        for (int j = 0; j < s->m; j++)
            logits[j] = given[j] / t;
        if (k)
            top_k(s->m, k, logits);
        softmax(s->m, logits, (float *)inside_row(s, 0, i));
    }
    free(logits);
}

/* By their logits, so that there is an order where shares are 0, too. */
static void find_best(Inside *in, const Step *s)
{
    const float *shares = inside_row(&in->step[s->from[0]], 0, in->n - 1);
    const float *logits = inside_row(&in->step[in->logits], 0, in->n - 1);
    int is_taken[MOST_KNOWN] = {0};
    for (int k = 0; k < s->m; k++) {
        int best = -1;
        for (int j = 0; j < in->g.vocabulary; j++)
            if (!is_taken[j] && (best < 0 || logits[j] > logits[best]))
                best = j;
        is_taken[best] = 1;
        in->best[k] = best;
        s->x[k] = shares[best];
    }
}

static void take(Inside *in, const Step *s)
{
    const Step *a = &in->step[s->from[0]], *b = &in->step[s->from[1]];
    const int n = s->n, m = s->m;
    float *share;
    switch (s->made) {
    case PARAMETER:
        break;
    case ROW_OF:
        embed(n, m, a->n, s->ids, ROWS(m, a->x), ROWS(m, s->x));
        break;
    case BESIDE:
        for (int i = 0; i < n; i++) {
            memcpy(s->x + i * m, a->x + i * a->m,
                   (size_t)a->m * sizeof *s->x);
            memcpy(s->x + i * m + a->m, b->x + i * b->m,
                   (size_t)b->m * sizeof *s->x);
        }
        break;
    case SUM:
        for (int k = 0; k < n * m; k++)
            s->x[k] = a->x[k] + b->x[k];
        break;
    case NORM:
        norm_forward(s->layer, n, (void *)a->x, (void *)s->x);
        break;
    case LINEAR:
        linear_forward_fast(s->layer, n, (void *)a->x, (void *)s->x);
        break;
    case SCORES:
        compute_scores(in, s);
        break;
    case WEIGHTS:
        softmax_rows(s->heads * n, m, (void *)a->x, (void *)s->x);
        break;
    case CONTEXT:
        compute_context(in, s);
        break;
    case GELU:
        share = new_table(n, m);
        gelu(n * m, a->x, share, s->x);
        free(share);
        break;
    case SHARES:
        compute_shares(in, s);
        break;
    case BEST:
        find_best(in, s);
    }
}

void inside_compute(Inside *in)
{
    for (int k = 0; k < in->steps; k++)
        take(in, &in->step[k]);
}

float inside_loss(const Inside *in)
{
    const int size = in->g.vocabulary, n = in->given;
    if (n < 2 || in->stage != LANGUAGE)
        return NAN;
    float *shares = new_table(n, size);
    const float loss =
        cross_entropy(n - 1, size, ROWS(size, in->step[in->logits].x),
                      in->ids + 1, ROWS(size, shares));
    free(shares);
    return loss;
}
