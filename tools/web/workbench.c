#include "stages.h"
#include "support/utf8.h"

/* The chapters' attentions, of which every number can be changed. */

/* A table of TABLE_ROWS times 3 normal numbers is filled in whole blocks, so
 * it begins as that of 50,000 rows in chapter 5 does. */
enum { TABLE_ROWS = 32 };

/* What each chapter begins with. The chapters keep such numbers to
 * themselves, so they stand here again; a test holds what comes of them
 * against the chapters' pages. */

static const char *const shiny_words[3] = {"Hello", "shiny", "sun"};
static const float shiny[3][3] = {
    {0.34f, 0.22f, 0.54f}, {0.53f, 0.34f, 0.98f}, {0.29f, 0.54f, 0.93f}};

/* The entries are animal, action, food; a key's are acts, action, eaten. */
static const char *const cat_words[3] = {"cat", "likes", "fish"};
static const float cat[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 1}};
static const float cat_looks_for[3][3] = {{0, 4, 0}, {0, 0, 4}, {4, -4, 0}};
static const float cat_found_as[3][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 1}};
static const float cat_gives[3][2] = {{1, 0}, {0, 0}, {0, 1}};

/* The entries are able, you, me, helps, and a pronoun is two of these. */
static const char *const english_words[4] = {"can", "you", "help", "me"};
static const char *const german_words[5] = {"kannst", "du", "mir", "bitte",
                                            "helfen"};
static const float english[4][4] = {
    {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
static const float german[5][5] = {{1, 1, 0, 0, 0},
                                   {0, 1, 0, 0, 1},
                                   {0, 0, 1, 0, 1},
                                   {0, 0, 0, 0, 0},
                                   {0, 0, 0, 1, 0}};
static const float help_looks_for[4][4] = {
    {8, 0, 0, 0}, {0, 8, 0, 0}, {0, 0, 0, 8}, {0, 0, 8, 0}};
static const float help_found_by[5][4] = {{1, 0, 0, 0},
                                          {0, 1, 0, 0},
                                          {0, 0, 1, 0},
                                          {0, 0, 0, 1},
                                          {0, 0.5f, 0.5f, 0}};
static const float help_gives[5][2] = {
    {1, 0}, {0, 0}, {0, 0}, {1, 0}, {0, 1}};

static const char *const journey_words[6] = {"Your", "journey", "starts",
                                             "with", "one",     "step"};

#define LIFE                                                               \
    {                                                                      \
        .words = "Life is short, eat dessert first", .d = 3                \
    }
#define JOURNEY                                                            \
    {                                                                      \
        .words = "Your journey starts with one step", .d = 3,              \
        .chapter = 2, .known = 6, .word = journey_words, .row = journey[0] \
    }

static const Stage stages[] = {
    {.name = "all",
     .settings = " words others seed heads d_k d_v d_out scale mask window "
                 "hide p dropout_seed ",
     .text = {LIFE, {.words = "", .d = 3}},
     .draw = BY_RAND,
     .number = {[KEY_HEADS] = 2,
                [KEY_D_K] = 2,
                [KEY_D_V] = 2,
                [KEY_D_OUT] = 3,
                [KEY_MASK] = SEE_CAUSAL}},
    {.name = "shares",
     .settings = " words word score seed ",
     .text = {{.words = "Hello shiny sun",
               .d = 3,
               .chapter = 2,
               .known = 3,
               .word = shiny_words,
               .row = shiny[0]}},
     .word = "shiny",
     .draw = BY_NONE,
     .number = {[KEY_D_V] = 3, [KEY_SCALE] = 1}},
    {.name = "roles",
     .settings = " words word seed scale ",
     .text = {{.words = "cat likes fish",
               .d = 3,
               .chapter = 3,
               .known = 3,
               .word = cat_words,
               .row = cat[0]}},
     .word = "likes",
     .draw = BY_HAND,
     .by_hand = {cat_looks_for[0], cat_found_as[0], cat_gives[0]},
     .number = {[KEY_D_K] = 3, [KEY_D_V] = 2, [KEY_SCALE] = 1},
     .names = {[OF_X] = &(List){3, {"animal", "action", "food"}},
               [OF_K] = &(List){3, {"acts", "action", "eaten"}},
               [OF_V] = &(List){2, {"animal", "food"}}}},
    {.name = "scale",
     .settings = " words seed d_k d_v scale ",
     .text = {LIFE},
     .draw = BY_RAND,
     .number = {[KEY_D_K] = 2, [KEY_D_V] = 4}},
    {.name = "texts",
     .settings = " words others seed d_k d_v scale ",
     .text = {LIFE, {.words = "1 2 3 4 5 6 7 8", .d = 3, .is_strange = 1}},
     .draw = BY_RAND,
     .number = {[KEY_D_K] = 2, [KEY_D_V] = 4}},
    {.name = "translation",
     .settings = " words others seed scale ",
     .text = {{.words = "can you help me",
               .d = 4,
               .chapter = 8,
               .known = 4,
               .word = english_words,
               .row = english[0]},
              {.words = "kannst du mir bitte helfen",
               .d = 5,
               .chapter = 8,
               .known = 5,
               .word = german_words,
               .row = german[0]}},
     .draw = BY_HAND,
     .by_hand = {help_looks_for[0], help_found_by[0], help_gives[0]},
     .number = {[KEY_D_K] = 4, [KEY_D_V] = 2},
     .names = {[OF_X] = &(List){4, {"can", "you", "help", "me"}},
               [OF_Y] =
                   &(List){5, {"able", "you", "me", "helps", "pronoun"}},
               [OF_K] = &(List){4, {"able", "you", "me", "helps"}},
               [OF_V] = &(List){2, {"verb", "pronoun"}}}},
    {.name = "mask",
     .settings = " words seed d_k d_v scale mask window hide ",
     .text = {LIFE},
     .draw = BY_RAND,
     .number = {[KEY_D_K] = 2, [KEY_D_V] = 4, [KEY_MASK] = SEE_CAUSAL}},
    {.name = "dropout",
     .settings = " words seed d_k d_v scale mask window p dropout_seed ",
     .text = {JOURNEY},
     .draw = BY_LINEAR,
     .number = {[KEY_SEED] = 789,
                [KEY_D_K] = 2,
                [KEY_D_V] = 2,
                [KEY_MASK] = SEE_CAUSAL,
                [KEY_P] = 0.5}},
    {.name = "heads",
     .settings = " words seed heads d_k d_v scale mask window ",
     .text = {LIFE},
     .draw = BY_RAND,
     .number = {[KEY_HEADS] = 4, [KEY_D_K] = 2, [KEY_D_V] = 1}},
    {.name = "output",
     .settings =
         " words seed heads d_out scale mask window p dropout_seed ",
     .text = {JOURNEY},
     .draw = BY_LINEAR,
     .number = {[KEY_HEADS] = 2, [KEY_D_OUT] = 8, [KEY_MASK] = SEE_CAUSAL}},
};

/* ---- Words, and their rows */

static int place_in(const Text *text, const char *word)
{
    int i = 0;
    while (i < text->known && strcmp(text->word[i], word) != 0)
        i++;
    return i;
}

/* A figure is XML, which cannot hold all characters, even as &#1; */
static void check_word(int number, const char *word)
{
    for (const char *c = word; *c; c += utf8_length(c)) {
        const unsigned char *byte = (const unsigned char *)c;
        const int is_control = *byte < ' ' || *byte == 0x7f ||
                               (*byte == 0xc2 && byte[1] < 0xa0);
        if (!utf8_length(c) || is_control ||
            !strncmp(c, "\xef\xbf\xbe", 3) ||
            !strncmp(c, "\xef\xbf\xbf", 3))
            REFUSE("word %d has byte 0x%02X: characters in UTF-8 that can "
                   "be printed are needed",
                   number, *byte);
    }
}

/* Takes text k apart. */
static int read_text(Bench *b, int k)
{
    const Text *text = &b->stage->text[k];
    const char *given = b->given[k ? KEY_OTHERS : KEY_WORDS];
    List *list = &b->list[k ? OTHERS : WORDS];
    list->n = split_words(given, b->word[k]);
    if (list->n > MOST_WORDS)
        REFUSE("the text has %d words: 1 to %d are needed", list->n,
               MOST_WORDS);
    for (int i = 0; i < list->n; i++) {
        check_word(i + 1, b->word[k][i]);
        list->name[i] = b->word[k][i];
        b->is_known[k][i] = place_in(text, b->word[k][i]) < text->known;
    }
    return list->n;
}

/* A word has the same id in both texts, unless the second is of
 * strangers. */
static void number_words(Bench *b)
{
    Word all[2 * WORDS_MAX], entry[2 * WORDS_MAX];
    const int is_strange = b->stage->text[1].is_strange;
    const int others = b->texts == 2 ? b->m : 0;
    memcpy(all, b->word[0], sizeof all / 2);
    memcpy(all + b->n, b->word[1], (size_t)others * sizeof(Word));
    int size =
        build_vocabulary(b->n + (is_strange ? 0 : others), all, entry);
    word_ids(b->n, b->word[0], size, entry, b->id[0]);
    if (is_strange && others)
        size = build_vocabulary(others, b->word[1], entry);
    word_ids(others, b->word[1], size, entry, b->id[1]);
}

static void read_words(Bench *b)
{
    b->texts = b->given[KEY_OTHERS] && *b->given[KEY_OTHERS] ? 2 : 1;
    b->n = b->m = read_text(b, 0);
    if (b->texts == 2)
        b->m = read_text(b, 1);
    number_words(b);
    const char *const word =
        b->given[KEY_WORD] ? b->given[KEY_WORD] : b->stage->word;
    for (int i = b->n - 1; word && i >= 0; i--)
        if (strcmp(b->word[0][i], word) == 0)
            b->asking = i;
    if (b->given[KEY_WORD] && strcmp(b->word[0][b->asking], word) != 0)
        REFUSE("word is '%s', which is not in the text: one of its words "
               "is needed",
               word);
    if (b->stage->draw == BY_NONE)
        b->list[ASKING] = (List){1, {b->word[0][b->asking]}};
}

static void explain_embedding(const Bench *b, const Step *s, Place p)
{
    const int k = strcmp(s->id, "others") == 0;
    const Text *text = &b->stage->text[k];
    const char *word = b->word[k][p.i];
    const double seed = b->number[KEY_SEED];
    const int id = b->id[k][p.i];
    if (b->is_known[k][p.i])
        printf("The embedding of '%s' stands in chapter %d, written by "
               "hand.\n",
               word, text->chapter);
    else if (text->is_strange)
        printf("These are strangers: after the matrices, seed %.0f draws a "
               "row of numbers from 0 to below 1 for each.\n"
               "Row %d is that of '%s'.\n",
               seed, id + 1, word);
    else
        printf("In the vocabulary, all words in alphabetical order, '%s' "
               "has the number %d (the first has 0).\n"
               "Seed %.0f fills a table with normal numbers, a row for "
               "each word. Row %d is the embedding of '%s'.\n",
               word, id, seed, id, word);
    printf("This is its %s: %s\n", entry_name(b, s->columns, p.j),
           say((double)step_row(s, 0, p.i)[p.j]));
}

/* Fills the rows of text k; strangers go on with r. */
static void fill_embeddings(Bench *b, int k, const Step *s, Random *r)
{
    const Text *text = &b->stage->text[k];
    const int d = text->d;
    float(*table)[d] = (void *)new_table(TABLE_ROWS, d);
    Random own = random_seeded((uint64_t)b->number[KEY_SEED]);
    if (text->is_strange)
        random_fill(r, TABLE_ROWS, d, table);
    else
        embedding_fill(&own, TABLE_ROWS, d, table);
    embed(s->n, d, TABLE_ROWS, b->id[k], table, ROWS(d, s->x));
    for (int i = 0; i < s->n; i++)
        if (b->is_known[k][i])
            memcpy(step_row(s, 0, i),
                   text->row + place_in(text, b->word[k][i]) * d,
                   (size_t)d * sizeof(float));
    free(table);
}

/* ---- The attention of the chapter that the stage belongs to */

/* Matrices that are written x W, into layers, which hold them transposed. */
static void write_by_hand(Bench *b)
{
    Attention *a = &b->a;
    const float *const *w = b->stage->by_hand;
    attention_init(a, a);
    transpose(a->d_x, a->d_k, (const void *)w[0], (void *)a->query.weight);
    transpose(a->d_y, a->d_k, (const void *)w[1], (void *)a->key.weight);
    transpose(a->d_y, a->d_v, (const void *)w[2], (void *)a->value.weight);
}

static void draw_attention(Bench *b, Random *r)
{
    const int heads = whole_setting(b, KEY_HEADS);
    const int d_k = whole_setting(b, KEY_D_K),
              d_v = whole_setting(b, KEY_D_V);
    const int d_out = whole_setting(b, KEY_D_OUT), d = b->stage->text[0].d;
    const int d_y = b->texts == 2 ? b->stage->text[1].d : d;
    b->a = (Attention){
        .d_x = d, .d_y = d_y, .n_heads = heads, .d_k = d_k, .d_v = d_v};
    if (b->stage->draw == BY_HAND)
        write_by_hand(b);
    else if (b->stage->draw == BY_RAND)
        heads_init(&b->a, r, heads, d, d_k, d_v);
    else if (!b->stage->number[KEY_D_OUT])
        self_attention_init(&b->a, r, d, d_k, d_v, 0);
    else
        multi_head_init(&b->a, r, d, d_out, 0, 0, heads, 0);
}

/* The output layer: the attention's own, or one drawn after it. */
static void add_output(Bench *b, int joined, Random *r)
{
    const int d_in = b->step[joined].m, d_out = whole_setting(b, KEY_D_OUT);
    Linear out = b->a.out;
    if (!b->a.d_out) {
        b->output = new_block((size_t)(d_out * (d_in + 1)));
        out = (Linear){d_in, d_out, b->output, b->output + d_out * d_in};
        linear_fill(r, d_in, d_out, ROWS(d_in, out.weight), out.bias);
    }
    step_add_linear(b, -1, "out", "output", joined, &out, (Step){0});
}

/* One word asks all, by their embeddings alone: chapter 2. */
static void add_shares(Bench *b, int x, int d)
{
    Step s = {.made = SCORES, .heads = 1, .n = 1, .m = b->n};
    s.rows = ASKING;
    s.columns = WORDS;
    s.first = b->asking;
    s.from[0] = s.from[1] = x;
    const int scores = step_add(b, -1, "scores", "scores", s);
    const int weights = step_add_weights(b, -1, scores);
    s = (Step){.made = PARTS, .heads = 1, .n = b->n, .m = d};
    s.rows = WORDS;
    s.from[0] = weights;
    s.from[1] = x;
    step_add(b, -1, "parts", "what each word contributes", s);
    s.made = CONTEXT;
    s.n = 1;
    s.rows = ASKING;
    step_add(b, -1, "context", "context vectors", s);
}

static void begin(Bench *b)
{
    const int d = b->stage->text[0].d, d_out = whole_setting(b, KEY_D_OUT);
    read_words(b);
    for (int k = OF_X; k <= OF_V; k++)
        if (b->stage->names[k])
            b->list[k] = *b->stage->names[k];
    Random r = random_seeded((uint64_t)b->number[KEY_SEED]);
    Step s = {.n = b->n, .m = d, .rows = WORDS, .columns = OF_X};
    s.explain = explain_embedding;
    const int x = step_add(b, -1, "embeddings", "embeddings", s);
    if (b->stage->draw == BY_NONE) {
        fill_embeddings(b, 0, &b->step[x], &r);
        add_shares(b, x, d);
        return;
    }
    draw_attention(b, &r);
    int y = x;
    if (b->texts == 2) {
        s = (Step){.n = b->m, .m = b->a.d_y, .rows = OTHERS};
        s.columns = b->list[OF_Y].n ? OF_Y : OF_X;
        s.explain = explain_embedding;
        y = step_add(b, -1, "others",
                     "embeddings of the text that is asked", s);
    } else if (b->stage->draw == BY_HAND) {
        s = (Step){.made = ALIKE, .n = b->n, .m = b->n, .rows = WORDS};
        s.columns = WORDS;
        step_add(b, -1, "alike", "embeddings with each other", s);
    }
    const int heads = b->a.n_heads, is_joined = heads > 1 || d_out;
    const int last = step_add_heads(b, -1, x, y, &b->a, is_joined);
    if (d_out)
        add_output(b, last, &r);
    fill_embeddings(b, 0, &b->step[x], &r);
    if (b->texts == 2)
        fill_embeddings(b, 1, &b->step[y], &r);
}

static void end(Bench *b)
{
    if (b->stage->draw != BY_NONE)
        attention_free(&b->a);
    free(b->output);
}

/* ---- Notes */

/* That the chapter does not give each word its row. */
static void note_drawn(const Bench *b, int k)
{
    const Text *text = &b->stage->text[k];
    const int n = b->list[k ? OTHERS : WORDS].n;
    int known = 0;
    for (int i = 0; i < n; i++)
        known += b->is_known[k][i];
    if (text->known && known < n)
        printf(
            "@note Chapter %d does not have each of these words: the "
            "rows of others are drawn as in chapter 5, from seed %.0f.\n",
            text->chapter, b->number[KEY_SEED]);
}

/* Chinese without blanks is a single word. */
static void note(const Bench *b)
{
    for (int k = 0; k < b->texts; k++) {
        const char *word = b->word[k][0];
        if (b->list[k ? OTHERS : WORDS].n == 1 &&
            (unsigned char)*word >= 0xe3 && word[3])
            printf("@note '%s' is taken for one word: put blanks between "
                   "the words of a text.\n",
                   word);
    }
    if (!b->stage->text[0].known)
        printf("@note Seed %.0f draws the embedding of every word, and the "
               "matrices. Without training, they mean nothing.\n",
               b->number[KEY_SEED]);
    for (int k = 0; k < b->texts; k++)
        note_drawn(b, k);
}

/* ---- The program */

const Program program = {.stages = sizeof stages / sizeof *stages,
                         .stage = stages,
                         .begin = begin,
                         .note = note,
                         .draw = workbench_draw,
                         .end = end};
