/* Chapter 5 against PyTorch: golden/05_tokens. Words have no golden files:
 * what Python makes of a sentence stands here. */
#define CHAPTER "05_tokens"
#include "sets.h"

#define TABLES "table_1x1x1", "table_5x3x4", "table_3x7x11", "table_9x2x3"

static void is_word(const char *what, const char *got, const char *expect)
{
    tap_report(!strcmp(got, expect), what, "  got: %s\n  expect: %s\n", got,
               expect);
}

static void splits(const char *sentence, int n, const char *const expect[n])
{
    Word word[WORDS_MAX];
    int got = split_words(sentence, word);
    tap_near("words", got, n, 0, 0);
    for (int i = 0; i < n && i < got; i++)
        is_word("word", word[i], expect[i]);
}

static void split_test(void)
{
    splits(
        "Life is short, eat dessert first", 6,
        (const char *[]){"Life", "is", "short", "eat", "dessert", "first"});
    splits("one", 1, (const char *[]){"one"});
}

static void split_odd(void)
{
    splits("  a,  b\t,c\nd ,", 4, (const char *[]){"a", "b", "c", "d"});
    splits("a,b 1,000", 2, (const char *[]){"ab", "1000"});
    splits("Schöne Grüße, 你好", 3,
           (const char *[]){"Schöne", "Grüße", "你好"});
    splits("1234567890123456789012345678901", 1,
           (const char *[]){"1234567890123456789012345678901"});
}

static void split_most(void)
{
    char sentence[2 * WORDS_MAX + 1] = "";
    Word word[WORDS_MAX];
    for (int i = 0; i < WORDS_MAX; i++)
        strcat(sentence, "w ");
    tap_near("words", split_words(sentence, word), WORDS_MAX, 0, 0);
}

/* Words, and the vocabulary that Python's sorted(set(words)) makes of them. */
static void has_vocabulary(int n, const char *const text[n], int size,
                           const char *const expect[size])
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    for (int i = 0; i < n; i++)
        strcpy(word[i], text[i]);
    int got = vocabulary(n, word, entry);
    tap_near("size", got, size, 0, 0);
    for (int i = 0; i < size && i < got; i++)
        is_word("entry", entry[i], expect[i]);
}

static void vocabulary_test(void)
{
    has_vocabulary(
        6,
        (const char *[]){"Life", "is", "short", "eat", "dessert", "first"},
        6,
        (const char *[]){"Life", "dessert", "eat", "first", "is", "short"});
    has_vocabulary(1, (const char *[]){"one"}, 1, (const char *[]){"one"});
}

static void vocabulary_twice(void)
{
    has_vocabulary(5, (const char *[]){"the", "cat", "and", "the", "dog"},
                   4, (const char *[]){"and", "cat", "dog", "the"});
    has_vocabulary(4, (const char *[]){"b", "b", "b", "a"}, 2,
                   (const char *[]){"a", "b"});
}

static void vocabulary_order(void)
{
    has_vocabulary(6, (const char *[]){"é", "z", "Z", "ab", "a", "你"}, 6,
                   (const char *[]){"Z", "a", "ab", "z", "é", "你"});
    has_vocabulary(5, (const char *[]){"ab", "abc", "a", "aa", "abb"}, 5,
                   (const char *[]){"a", "aa", "ab", "abb", "abc"});
}

static void ids_test(void)
{
    const Word entry[3] = {"a", "ab", "b"}, word[4] = {"b", "a", "b", "ab"};
    const int expect[4] = {2, 0, 2, 1};
    int ids[4];
    word_ids(4, word, 3, entry, ids);
    for (int i = 0; i < 4; i++)
        tap_near("id", ids[i], expect[i], 0, 0);
}

static void numbers_to_ids(const Tensor *numbers, int ids[])
{
    for (size_t i = 0; i < numbers->count; i++)
        ids[i] = (int)tensor_integers(numbers)[i];
}

static void embed_test(void)
{
    const Tensor *numbers = part("ids"), *table = part("table");
    const Tensor *embedded = part("embedded");
    int ids[16], n = numbers->shape[0];
    int rows = table->shape[0], d = table->shape[1];
    float *got = room(embedded->count);
    numbers_to_ids(numbers, ids);
    embed(n, d, rows, ids, floats(table), (void *)got);
    tap_close("rows", embedded, got, 0, 0);
}

static void one_hot_test(void)
{
    const Tensor *numbers = part("ids"), *table = part("table");
    const Tensor *embedded = part("embedded"), *one_hot = part("one_hot");
    int ids[16], n = numbers->shape[0];
    int rows = table->shape[0], d = table->shape[1];
    float *got = room(embedded->count), *got_hot = room(one_hot->count);
    numbers_to_ids(numbers, ids);
    embed_one_hot(n, d, rows, ids, floats(table), (void *)got_hot,
                  (void *)got);
    tap_close("one-hot rows", one_hot, got_hot, 0, 0);
    tap_close("rows", embedded, got, 0, 0);
}

/* From the sentence and the seed to its vectors, to the last bit. */
static void sentence_test(void)
{
    const Tensor *numbers = golden("05_tokens/sentence-ids");
    const Tensor *embedded = golden("05_tokens/sentence-embedded");
    Word word[WORDS_MAX], entry[WORDS_MAX];
    int ids[WORDS_MAX];
    int n = split_words("Life is short, eat dessert first", word);
    int size = vocabulary(n, word, entry);
    word_ids(n, word, size, entry, ids);
    tap_near("words", n, numbers->shape[0], 0, 0);
    for (int i = 0; i < n; i++)
        tap_near("id", ids[i], (double)tensor_integers(numbers)[i], 0, 0);
    float *table = room(150000), *got = room(18);
    Random r;
    random_seed(&r, 123);
    embedding_fill(&r, 50000, 3, (void *)table);
    embed(6, 3, 50000, ids, (void *)table, (void *)got);
    tap_close("vectors", embedded, got, 0, 0);
}

static void box_muller_test(void)
{
    const Tensor *values = golden("05_tokens/plain-values");
    const Tensor *seeds = golden("05_tokens/plain-seeds");
    float *got = room(values->count);
    for (int i = 0; i < seeds->shape[0]; i++) {
        Random r;
        random_seed(&r, (uint64_t)tensor_integers(seeds)[i]);
        box_muller(&r, 64, got + 64 * i);
    }
    tap_close("values", values, got, 0, 5e-6);
}

static Word list[WORDS_MAX];
static void no_words(void)
{
    split_words(" , ,", list);
}
static void many_words(void)
{
    char sentence[2 * WORDS_MAX + 3] = "";
    for (int i = 0; i <= WORDS_MAX; i++)
        strcat(sentence, "w ");
    split_words(sentence, list);
}
static void long_word(void)
{
    split_words("a 12345678901234567890123456789012", list);
}
static void unknown_word(void)
{
    int ids[1];
    word_ids(1, (const Word[]){"c"}, 2, (const Word[]){"a", "b"}, ids);
}

static void box_muller_of(int n)
{
    float x[32];
    Random r;
    random_seed(&r, 1);
    box_muller(&r, n, x);
}
static void odd_count(void)
{
    box_muller_of(17);
}
static void half_a_block(void)
{
    box_muller_of(8);
}

static void embed_one(int id)
{
    float table[2][1] = {{0}}, x[1][1];
    embed(1, 1, 2, &id, table, x);
}
static void id_above(void)
{
    embed_one(2);
}
static void id_below(void)
{
    embed_one(-1);
}
static void one_hot(int id)
{
    float table[2][1] = {{0}}, hot[1][2], x[1][1];
    embed_one_hot(1, 1, 2, &id, table, hot, x);
}
static void hot_above(void)
{
    one_hot(2);
}
static void hot_below(void)
{
    one_hot(-1);
}

static void life_test(void)
{
    float *x = room(18);
    life_is_short((void *)x);
    tap_close("embedded", golden("05_tokens/sentence-embedded"), x, 0, 0);
}

int main(void)
{
    const char *file = "05_tokens.c";
    TAP(split_test, "split_words: commas and blanks");
    TAP(split_odd, "split_words: odd blanks, other alphabets");
    TAP(split_most, "split_words: as many as fit");
    TAP(vocabulary_test, "vocabulary: in order");
    TAP(vocabulary_twice, "vocabulary: each word once");
    TAP(vocabulary_order, "vocabulary: the order of the bytes");
    TAP(ids_test, "word_ids: places in the vocabulary");
    SETS("embed", embed_test, TABLES);
    SETS("embed_one_hot", one_hot_test, TABLES);
    TAP_LARGE(sentence_test, "embed: from a sentence to its vectors");
    TAP(box_muller_test, "box_muller: PyTorch's numbers but for last bits");
    tap_refuses(no_words, "split_words: refuses no words", file,
                "the sentence ' , ,' has no words: at least one is needed");
    tap_refuses(many_words, "split_words: refuses too many words", file,
                "the sentence has more than 64 words: at most 64 fit");
    tap_refuses(long_word, "split_words: refuses too long a word", file,
                "word 2 has more than 31 bytes: fewer are needed");
    tap_refuses(
        unknown_word, "word_ids: refuses an unknown word", file,
        "'c' is not in the vocabulary: one of its 2 words is needed");
    tap_refuses(odd_count, "box_muller: refuses 17", file,
                "17 normal numbers: a multiple of 16 is needed");
    tap_refuses(half_a_block, "box_muller: refuses 8", file,
                "8 normal numbers: a multiple of 16 is needed");
    tap_refuses(id_above, "embed: refuses an id beyond the table", file,
                "id 2 is no row of a table of 2: from 0 to 1 is needed");
    tap_refuses(id_below, "embed: refuses a negative id", file,
                "id -1 is no row of a table of 2: from 0 to 1 is needed");
    tap_refuses(hot_above, "embed_one_hot: refuses an id beyond the table",
                file,
                "id 2 is no row of a table of 2: from 0 to 1 is needed");
    tap_refuses(hot_below, "embed_one_hot: refuses a negative id", file,
                "id -1 is no row of a table of 2: from 0 to 1 is needed");
    TAP(life_test, "life_is_short: its six rows");
    return tap_done();
}
