#include "workbench.h"

/* What each chapter begins with. The chapters keep such numbers to
 * themselves, so they stand here again; a test holds what comes of them
 * against the chapters' pages. */

static const char *const shiny_words[3] = {"Hello", "shiny", "sun"};
static const float shiny[3][3] = {
    {0.34f, 0.22f, 0.54f}, {0.53f, 0.34f, 0.98f}, {0.29f, 0.54f, 0.93f}};

/* The entries are animal, deed, food. */
static const char *const cat_words[3] = {"cat", "likes", "fish"};
static const float cat[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 1}};
static const float cat_looks_for[3][3] = {
    {0, 4, 0}, {0, 0, 4}, {4, -4, -4}};
static const float cat_found_by[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
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
     .by_hand = {cat_looks_for[0], cat_found_by[0], cat_gives[0]},
     .number = {[KEY_D_K] = 3, [KEY_D_V] = 2, [KEY_SCALE] = 1},
     .names = {[PER_X] = "animal deed food",
               [PER_K] = "animal deed food",
               [PER_V] = "animal food"}},
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
     .names = {[PER_X] = "can you help me",
               [PER_Y] = "able you me helps pronoun",
               [PER_K] = "able you me helps",
               [PER_V] = "verb pronoun"}},
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
};

enum { STAGES = sizeof stages / sizeof *stages };

const char *bench_stage_name(int i)
{
    return i < STAGES ? stages[i].name : NULL;
}

const Stage *bench_stage(const char *name)
{
    char all[200] = "";
    for (int i = 0; i < STAGES; i++) {
        if (strcmp(stages[i].name, name) == 0)
            return &stages[i];
        strcat(strcat(all, i ? ", " : ""), stages[i].name);
    }
    REFUSE("stage is '%s': one of %s is needed", name, all);
}

/* ---- Words, and their rows */

static int place_in(const Text *text, const char *word)
{
    int i = 0;
    while (i < text->known && strcmp(text->word[i], word) != 0)
        i++;
    return i;
}

/* The size in bytes of the character that stands here, and its number; 0 if
 * it is not in UTF-8. */
static int character(const unsigned char *byte, unsigned *number)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int size = byte[0] < 0x80             ? 1
                     : (byte[0] & 0xe0) == 0xc0 ? 2
                     : (byte[0] & 0xf0) == 0xe0 ? 3
                     : (byte[0] & 0xf8) == 0xf0 ? 4
                                                : 0;
    unsigned x = size > 1 ? byte[0] & (0x7fu >> size) : byte[0];
    for (int k = 1; k < size; k++) {
        if ((byte[k] & 0xc0) != 0x80)
            return 0;
        x = x << 6 | (byte[k] & 0x3fu);
    }
    *number = x;
    const int is_half = x >= 0xd800 && x <= 0xdfff; /* of a UTF-16 pair */
    return is_half || x < least[size] || x > 0x10ffff ? 0 : size;
}

/* A figure is XML, which cannot hold all characters, even as &#1; */
static void check_word(int number, const char *word)
{
    const unsigned char *at = (const unsigned char *)word;
    while (*at) {
        unsigned x;
        const int size = character(at, &x);
        if (size == 0)
            REFUSE("word %d has byte 0x%02X where no character begins: "
                   "UTF-8 is needed",
                   number, *at);
        if (x < ' ' || (x >= 0x7f && x <= 0x9f) || x == 0xfffe ||
            x == 0xffff)
            REFUSE("word %d has U+%04X: characters that can be printed "
                   "are needed",
                   number, x);
        at += size;
    }
}

/* Refuses a text that split_words would refuse, or that has no room on the
 * page, and says so in characters. */
static void check_text(const char *text)
{
    const int most = sizeof(Word) - 1;
    int words = 0;
    for (const char *c = text + strspn(text, ", \t\n"); *c; words++) {
        int bytes = 0, letters = 0;
        for (; !strchr(" \t\n", *c); c++) {
            bytes += *c != ',';
            letters += *c != ',' && ((unsigned char)*c & 0xc0) != 0x80;
        }
        if (bytes > most)
            REFUSE("word %d has %d characters: at most %d fit, so put "
                   "blanks between words",
                   words + 1, letters, most * letters / bytes);
        c += strspn(c, ", \t\n");
    }
    if (words == 0 || words > MOST_WORDS)
        REFUSE("the text has %d words: 1 to %d are needed", words,
               MOST_WORDS);
}

/* Takes the texts apart. A word has the same id in both, unless the second
 * is of strangers. */
void bench_words(Bench *b)
{
    Word all[2 * WORDS_MAX], entry[2 * WORDS_MAX];
    int count[2] = {0};
    b->texts = b->words[1] && *b->words[1] ? 2 : 1;
    for (int k = 0; k < b->texts; k++) {
        check_text(b->words[k]);
        count[k] = split_words(b->words[k], b->text[k]);
        for (int i = 0; i < count[k]; i++) {
            check_word(i + 1, b->text[k][i]);
            const Text *text = &b->stage->text[k];
            b->name[k][i] = b->text[k][i];
            b->is_known[k][i] = place_in(text, b->text[k][i]) < text->known;
        }
    }
    b->n = count[0];
    b->m = b->texts == 2 ? count[1] : count[0];
    const int is_strange = b->stage->text[1].is_strange;
    memcpy(all, b->text[0], sizeof all / 2);
    memcpy(all + b->n, b->text[1], sizeof(Word[MOST_WORDS]));
    const int both = b->n + (is_strange ? 0 : count[1]);
    const int size = build_vocabulary(both, all, entry);
    word_ids(b->n, b->text[0], size, entry, b->id[0]);
    if (!is_strange) {
        word_ids(count[1], b->text[1], size, entry, b->id[1]);
        return;
    }
    const int strangers = build_vocabulary(count[1], b->text[1], entry);
    word_ids(count[1], b->text[1], strangers, entry, b->id[1]);
}

void bench_embed(Bench *b, int k, Random *r)
{
    const Text *text = &b->stage->text[k];
    const int d = text->d, n = k ? b->m : b->n;
    float(*table)[d] = (void *)new_table(TABLE_ROWS, d);
    float(*x)[d] = (void *)b->x[k ? OTHERS : EMBEDDINGS];
    if (text->is_strange) {
        random_fill(r, TABLE_ROWS, d, table);
    } else {
        Random own = random_seeded((uint64_t)b->number[KEY_SEED]);
        embedding_fill(&own, TABLE_ROWS, d, table);
    }
    embed(n, d, TABLE_ROWS, b->id[k], table, x);
    for (int i = 0; i < n; i++)
        if (b->is_known[k][i])
            memcpy(x[i], text->row + place_in(text, b->name[k][i]) * d,
                   sizeof x[i]);
    free(table);
}
