#include "stages.h"

/* Inside models that have learned: each of their tables, for a text that is
 * typed, back to the characters. */

enum { LANGUAGE, REPEATED, VERBS, STAGES };
static const Stage stages[STAGES] = {
    {.name = "language",
     .settings =
         " words write temperature top_k seed head mask window off ",
     .text = {{.words = "Good Rosencrantz, and you, sweet Ros"}},
     .draw = BY_TRAINING,
     .number = {[KEY_MASK] = SEE_CAUSAL}},
    {.name = "repeated",
     .settings = " words temperature top_k head mask window off ",
     .text = {{.words = "fihapfih"}},
     .draw = BY_TRAINING,
     .number = {[KEY_MASK] = SEE_CAUSAL}},
    {.name = "verbs",
     .settings = " words temperature top_k head mask window off ",
     .text = {{.words = "the dogs near the old child _"}},
     .draw = BY_TRAINING,
     .number = {[KEY_MASK] = SEE_CAUSAL}},
};

static int stage_of(const Bench *b)
{
    return (int)(b->stage - stages);
}

/* ---- The model */

/* Chapter 23's kind of model, or what one of chapter 21's has of these. */
static void read_model(Bench *b)
{
    static const int words[STAGES] = {128, REPEATED_WORDS, AGREEMENT_WORDS};
    const int stage = stage_of(b);
    const char *folder = getenv("MODELS");
    const Model *m = &b->model;
    Gpt *g = &b->g;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.safetensors",
             folder && *folder ? folder : "src/models", b->stage->name);
    if (stage == LANGUAGE)
        gpt_load(g, path);
    else {
        model_load(&b->model, path);
        b->only.attention = m->attention;
        *g = (Gpt){.vocabulary = m->vocabulary,
                   .context_length = m->context_length,
                   .width = m->attention.d_x,
                   .n_heads = m->attention.n_heads,
                   .layers = 1,
                   .tokens = m->tokens,
                   .positions = m->positions,
                   .block = &b->only};
    }
    const int wide = stage == REPEATED ? 2 * g->width : g->width;
    if (stage != LANGUAGE && m->attention.d_y != wide)
        REFUSE("%s: a model with d_x, d_y = %d, %d: a d_y of %d is needed",
               path, g->width, m->attention.d_y, wide);
    if (g->vocabulary != words[stage] || g->layers > MOST_LAYERS ||
        g->n_heads > MOST_HEADS)
        REFUSE("%s: a model of %d tokens, %d blocks and %d heads: %d, at "
               "most %d and at most %d are needed",
               path, g->vocabulary, g->layers, g->n_heads, words[stage],
               MOST_LAYERS, MOST_HEADS);
}

/* What cannot be seen has a sign of its own: U+2400 and so on; and - is the
 * word before the first of chapter 21's letters. */
static void name_tokens(Bench *b)
{
    List *tokens = &b->list[TOKENS];
    tokens->n = b->g.vocabulary;
    for (int id = 0; id < tokens->n; id++) {
        char *name = b->token[id];
        if (stage_of(b) == VERBS)
            snprintf(name, sizeof *b->token, "%s", agreement_word[id]);
        else if (stage_of(b) == REPEATED)
            snprintf(name, sizeof *b->token, "%c",
                     id < REPEATED_WORDS - 1 ? 'a' + id : '-');
        else if (id == ' ' || id == '\n')
            strcpy(name, id == ' ' ? "␣" : "↵");
        else if (id < ' ' || id == 127)
            snprintf(name, sizeof *b->token, "\xe2\x90%c",
                     id == 127 ? 0xa1 : 0x80 + id);
        else
            snprintf(name, sizeof *b->token, "%c", id);
        tokens->name[id] = name;
    }
}

/* ---- The text, token by token */

static void take_token(Bench *b, int id)
{
    if (b->typed < MOST_TOKENS)
        b->ids[b->typed] = id;
    b->typed++;
}

static void read_characters(Bench *b, const char *text)
{
    const int is_byte = stage_of(b) == LANGUAGE;
    const char least = is_byte ? ' ' : 'a', most = is_byte ? '~' : 'p';
    for (const char *c = text; *c; c++) {
        if (*c < least || *c > most)
            REFUSE("character %d has byte 0x%02X: ASCII from '%c' to '%c', "
                   "which the model has read, is needed",
                   (int)(c - text) + 1, (unsigned char)*c, least, most);
        take_token(b, is_byte ? *c : *c - 'a');
    }
}

/* A sentence with the blank at its end. The two verbs are no words of one:
 * the model has only answered with them. */
static void read_words(Bench *b, const char *text)
{
    enum { READ = AGREEMENT_WORDS - 2 };
    const char *c = text + strspn(text, " ");
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
        take_token(b, id);
        c += size;
    }
    if (b->typed && (blanks != 1 || strcmp(agreement_word[id], "_")))
        REFUSE("the sentence has %d blanks and ends in '%s': a single _ at "
               "its end, for the verb, is needed",
               blanks, agreement_word[id]);
}

static void read_text(Bench *b)
{
    const int write = whole_setting(b, KEY_WRITE);
    const char *text = b->given[KEY_WORDS];
    b->most = b->g.context_length < MOST_TOKENS ? b->g.context_length
                                                : MOST_TOKENS;
    if (stage_of(b) == VERBS)
        read_words(b, text);
    else {
        b->unit = "characters";
        read_characters(b, text);
    }
    b->n = b->m = b->typed + write;
    if (b->typed < 1 || b->n > b->most)
        REFUSE("the text has %d %s, and %d more are to be written: from 1 "
               "to %d in all are needed",
               b->typed, b->unit, write, b->most);
}

/* With a temperature of 0, always the token with the largest share. */
static void write_on(Bench *b)
{
    const int is_cold = b->number[KEY_TEMPERATURE] == 0;
    Random r = random_seeded((uint64_t)b->number[KEY_SEED]);
    gpt_generate(&b->g, &r, is_cold ? 1 : (float)b->number[KEY_TEMPERATURE],
                 is_cold ? 1 : whole_setting(b, KEY_TOP_K), b->typed, b->n,
                 b->ids);
}

static void name_text(Bench *b)
{
    for (int i = 0; i < b->n; i++) {
        b->places[i] = i;
        b->before[i] = i ? b->ids[i - 1] : REPEATED_WORDS - 1;
        b->list[WORDS].name[i] = b->token[b->ids[i]];
    }
    b->list[WORDS].n = b->n;
    b->list[LAST] = (List){1, {b->token[b->ids[b->n - 1]]}};
    b->list[BEST].n = BEST_COUNT;
}

/* ---- Heads */

static void name_heads(Bench *b)
{
    List *heads = &b->list[HEADS];
    const int per_block = b->g.n_heads;
    for (; heads->n < b->g.layers * per_block; heads->n++) {
        char *name = b->head_name[heads->n];
        snprintf(name, sizeof(Word), "%d.%d", heads->n / per_block,
                 heads->n % per_block);
        heads->name[heads->n] = name;
    }
}

/* The number of a head by its name, of `size` characters: its block and its
 * number in that, 1.0. */
static int head_of(const Bench *b, const char *name, size_t size)
{
    const List *heads = &b->list[HEADS];
    for (int k = 0; k < heads->n; k++)
        if (strlen(heads->name[k]) == size &&
            !strncmp(heads->name[k], name, size))
            return k;
    REFUSE("a head is '%.*s': one from 0.0 to %s is needed", (int)size,
           name, heads->name[heads->n - 1]);
}

/* The one that is shown, and those that are off, with commas between
 * them. */
static void read_heads(Bench *b)
{
    const Attention *a = &b->g.block->attention;
    const char *off = b->given[KEY_OFF] ? b->given[KEY_OFF] : "";
    const int per_block = b->g.n_heads;
    if (!b->given[KEY_HEAD])
        b->given[KEY_HEAD] = stage_of(b) == LANGUAGE ? "1.0" : "0.0";
    const char *shown = b->given[KEY_HEAD];
    b->block = head_of(b, shown, strlen(shown)) / per_block;
    b->head = head_of(b, shown, strlen(shown)) % per_block;
    for (int is_more = *off; is_more; is_more = *off++ == ',') {
        const size_t size = strcspn(off, ",");
        const int k = head_of(b, off, size);
        int *is_off = &b->is_off[k / per_block][k % per_block];
        if (!*is_off)
            b->columns[k / per_block][k % per_block] =
                new_block((size_t)(a->d_out * a->d_v));
        *is_off = 1;
        off += size;
    }
}

/* Switches off the heads that are to be off. */
static void switch_heads(Bench *b)
{
    for (int l = 0; l < b->g.layers; l++)
        for (int h = 0; h < b->g.n_heads; h++)
            if (b->is_off[l][h])
                head_swap(&b->g.block[l].attention, h,
                          (void *)b->columns[l][h]);
}

/* ---- The model's steps */

/* Logits, divided by the temperature, of which the k largest are kept; with
 * a temperature of 0 the largest alone. */
static void take_shares(Bench *b, const Step *s)
{
    const int is_cold = b->number[KEY_TEMPERATURE] == 0;
    const float t = is_cold ? 1 : (float)b->number[KEY_TEMPERATURE];
    const int k = is_cold ? 1 : whole_setting(b, KEY_TOP_K);
    float logits[MOST_TOKENS];
    for (int i = 0; i < s->n; i++) {
        const float *given = step_row(&b->step[s->from[0]], 0, i);
        for (int j = 0; j < s->m; j++)
            logits[j] = given[j] / t;
        if (k)
            top_k(s->m, k, logits);
        softmax(s->m, logits, step_row(s, 0, i));
    }
}

/* By their logits, so that there is an order where shares are 0, too. */
static void take_likely(Bench *b, const Step *s)
{
    const float *shares = step_row(&b->step[s->from[0]], 0, s->first);
    const float *logits = step_row(&b->step[s->from[1]], 0, s->first);
    int is_taken[MOST_TOKENS] = {0};
    for (int k = 0; k < s->m; k++) {
        int best = -1;
        for (int j = 0; j < b->list[TOKENS].n; j++)
            if (!is_taken[j] && (best < 0 || logits[j] > logits[best]))
                best = j;
        is_taken[best] = 1;
        s->ids[k] = best;
        s->x[k] = shares[best];
        b->list[BEST].name[k] = b->list[TOKENS].name[best];
    }
}

/* Returns what a block's attention adds, of steps x, who asks, and y, who
 * is asked. */
static int add_attention(Bench *b, int l, int x, int y, ListId columns)
{
    const Attention *a = &b->g.block[l].attention;
    const int is_gpt = stage_of(b) == LANGUAGE;
    const int joined = step_add_heads(b, l, x, y, a, 1);
    const int out =
        step_add_linear(b, is_gpt ? l : -1, is_gpt ? "out" : "output",
                        is_gpt ? "what attention adds" : "logits", joined,
                        &a->out, (Step){.columns = columns});
    b->step[b->step[out].from[1]].is_off = b->is_off[l];
    return out;
}

/* Returns the step whose table is the sum that leaves the block. */
static int add_block(Bench *b, int l, int x)
{
    const GptBlock *block = &b->g.block[l];
    const Step plain = {0};
    const int norm_1 = step_add_norm(b, l, "norm_1", "what attention gets",
                                     x, &block->norm_1);
    const int out = add_attention(b, l, norm_1, norm_1, NUMBERS);
    const int between =
        step_add_like(b, l, "between", "sum after attention", SUM, x, out);
    const int norm_2 = step_add_norm(
        b, l, "norm_2", "what the network gets", between, &block->norm_2);
    const int up = step_add_linear(b, l, "up", "the network's wide layer",
                                   norm_2, &block->up, plain);
    const int active =
        step_add_like(b, l, "gelu", "what GELU leaves of it", GELU, up, 0);
    const int down = step_add_linear(b, l, "down", "what the network adds",
                                     active, &block->down, plain);
    return step_add_like(b, l, "after", "sum after the network", SUM,
                         between, down);
}

/* From embeddings to logits: blocks, and a last norm. */
static int add_gpt(Bench *b, int words, int places)
{
    const Gpt *g = &b->g;
    int x = step_add_like(b, -1, "sum", "sum of embedding and position",
                          SUM, words, places);
    for (int l = 0; l < g->layers; l++)
        x = add_block(b, l, x);
    x = step_add_norm(b, -1, "norm", "what the output gets", x, &g->last);
    return step_add_linear(b, -1, "output", "logits", x, &g->output,
                           (Step){.columns = TOKENS});
}

/* The rows of a table that a list of ids picks. */
static int add_rows(Bench *b, const char *id, const char *label, int table,
                    int *ids)
{
    return step_add(b, -1, id, label,
                    (Step){.made = ROW_OF,
                           .n = b->n,
                           .m = b->step[table].m,
                           .rows = WORDS,
                           .from = {table},
                           .ids = ids});
}

/* The same in a model of chapter 21: a key has a position, and in texts that
 * come again the word before it as well. */
static int add_model(Bench *b, int tokens, int words, int places)
{
    int asked = words;
    if (stage_of(b) == REPEATED) {
        const int before = add_rows(
            b, "before", "embeddings of letters before", tokens, b->before);
        const Step s = {.made = BESIDE,
                        .n = b->n,
                        .m = 2 * b->g.width,
                        .rows = WORDS,
                        .from = {words, before}};
        asked = step_add(b, -1, "both", "letters and those before", s);
    }
    asked = step_add_like(b, -1, "sum", "what is asked, with its position",
                          SUM, asked, places);
    return add_attention(b, 0, words, asked, TOKENS);
}

static void add_steps(Bench *b)
{
    const Gpt *g = &b->g;
    const int is_gpt = stage_of(b) == LANGUAGE;
    const int is_next = stage_of(b) != VERBS;
    Step s = {.n = g->vocabulary, .m = g->width, .rows = TOKENS};
    s.x = g->tokens;
    const int tokens = step_add(b, -1, "tokens", "table of embeddings", s);
    s = (Step){.n = g->context_length, .x = g->positions};
    s.m = is_gpt ? g->width : b->model.attention.d_y;
    const int positions =
        step_add(b, -1, "positions", "table of positions", s);
    const int words =
        add_rows(b, "embeddings", "embeddings", tokens, b->ids);
    const int places =
        add_rows(b, "places", "positions", positions, b->places);
    b->logits = is_gpt ? add_gpt(b, words, places)
                       : add_model(b, tokens, words, places);
    const int shares = step_add_like(b, -1, "shares",
                                     is_next ? "shares of the next token"
                                             : "shares of the answer",
                                     SHARES, b->logits, 0);
    b->step[shares].take = take_shares;
    s = (Step){.made = LIKELY, .n = 1, .m = BEST_COUNT, .rows = LAST};
    s.columns = BEST;
    s.from[0] = shares;
    s.from[1] = b->logits;
    s.first = b->n - 1;
    s.ids = b->best;
    s.take = take_likely;
    b->next = step_add(
        b, -1, "next",
        is_next ? "most likely next tokens" : "most likely answers", s);
}

/* The mean loss of the tokens that were typed, each from those before. */
static float loss_of(const Bench *b)
{
    const int size = b->g.vocabulary;
    if (b->typed < 2 || stage_of(b) != LANGUAGE)
        return NAN;
    float *shares = new_table(b->typed, size);
    const float loss =
        cross_entropy(b->typed - 1, size, ROWS(size, b->step[b->logits].x),
                      b->ids + 1, ROWS(size, shares));
    free(shares);
    return loss;
}

/* What needs the mask that the model has learned with. */
static void check_settings(const Bench *b)
{
    const int is_causal = b->number[KEY_MASK] == SEE_CAUSAL;
    const double coldest = 0.01, t = b->number[KEY_TEMPERATURE];
    if (whole_setting(b, KEY_TOP_K) > b->g.vocabulary)
        REFUSE("top_k is %d: from 0 to %d is needed",
               whole_setting(b, KEY_TOP_K), b->g.vocabulary);
    if (t > 0 && t < coldest)
        REFUSE("temperature is %g: 0, or from %g on, is needed", t,
               coldest);
    if (b->number[KEY_WRITE] > 0 && !is_causal)
        REFUSE("write is %d: mask=causal is needed, as what is not written "
               "yet cannot be seen",
               whole_setting(b, KEY_WRITE));
}

static void begin(Bench *b)
{
    read_model(b);
    check_settings(b);
    name_tokens(b);
    name_heads(b);
    read_heads(b);
    read_text(b);
    switch_heads(b);
    if (b->number[KEY_WRITE] > 0)
        write_on(b);
    name_text(b);
    add_steps(b);
}

static void end(Bench *b)
{
    for (int i = 0; i < MOST_LAYERS * MOST_HEADS; i++)
        free(b->columns[i / MOST_HEADS][i % MOST_HEADS]);
    if (stage_of(b) == LANGUAGE)
        gpt_free(&b->g);
    else
        model_free(&b->model);
}

/* ---- Notes */

static void note(const Bench *b)
{
    const float *share = b->step[b->next].x, loss = loss_of(b);
    if (b->number[KEY_WRITE] > 0) {
        printf("@note The model has written: ");
        for (int i = b->typed; i < b->n; i++)
            printf("%s", b->list[WORDS].name[i]);
        putchar('\n');
    }
    printf("@note Most likely %s:",
           stage_of(b) == VERBS ? "fits here" : "comes next");
    for (int k = 0; k < 3 && share[k] >= 0.00005f; k++)
        printf("%s '%s' with %.4f", k ? "," : "", b->list[BEST].name[k],
               (double)share[k]);
    puts(".");
    if (!isnan(loss))
        printf("@note The loss of this text is %.4f.\n", (double)loss);
    if (b->number[KEY_MASK] != SEE_CAUSAL)
        puts("@note The model has not learned to see so: in training, each "
             "token has seen itself and those before.");
}

/* ---- Maps: the weights of every head, and what it does in this text */

/* How many tokens up to token j are those up to token i. */
static int agreeing(const Bench *b, int i, int j)
{
    int count = 0;
    while (count <= j && b->ids[i - count] == b->ids[j - count])
        count++;
    return count;
}

/* For each token of which at least the last two have stood before, what
 * followed there: behind the longest part that has, and the last time that
 * it has. -1 for the others. */
static void find_followed(const Bench *b, int followed[b->n])
{
    for (int i = 0; i < b->n; i++) {
        int longest = 1;
        followed[i] = -1;
        for (int j = i - 1; j >= 0; j--) {
            const int count = agreeing(b, i, j);
            if (count > longest) {
                followed[i] = j + 1;
                longest = count;
            }
        }
    }
}

/* The mean weight on these, or -1 if there are none. */
static double mean_followed(int n, const float weights[n][n],
                            const int followed[n])
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (followed[i] >= 0) {
            sum += (double)weights[i][followed[i]];
            count++;
        }
    return count ? sum / count : -1;
}

/* A head's line: whether it is off, its mean weight on the token before and
 * on what followed; and its weights, each as two digits of 16. */
static void draw_map(const Bench *b, int l, int h, const int followed[b->n])
{
    const int n = b->n;
    const float *weights = step_row(&b->step[b->weights[l]], h, 0);
    printf("@map %d.%d %s %.3f %.3f\n", l, h,
           b->is_off[l][h] ? "off" : "on",
           n > 1 ? (double)weight_back(n, ROWS(n, weights), 1, 1) : -1,
           mean_followed(n, ROWS(n, weights), followed));
    for (int k = 0; k < n * n; k++)
        printf("%02x%s", (unsigned)(weights[k] * 255 + 0.5f),
               (k + 1) % n ? "" : "\n");
}

static void draw(const Bench *b)
{
    int followed[MOST_TOKENS];
    find_followed(b, followed);
    for (int l = 0; l < b->g.layers; l++)
        for (int h = 0; h < b->g.n_heads; h++)
            draw_map(b, l, h, followed);
}

/* ---- The program */

const Program program = {.stages = STAGES,
                         .stage = stages,
                         .begin = begin,
                         .note = note,
                         .draw = draw,
                         .end = end};
